//! Goes through a journal's events in order and in pages. What can't be read is stepped over and told, so that one damaged event costs
//! that event and not the answer.

use super::ending::Failure;
use super::journal::unreadable;
use crate::journal::{BadRecord, Beginning, End, ReadError, Reader, Record, Seqno, decode};
use crate::table::event::Event;

/// Events read at once.
pub const PAGE: usize = 256;

/// Gaps that are told one by one: a journal with more is to be verified, not read.
const GAPS_TOLD: usize = 20;

/// What could not be read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Gaps {
    told: Vec<String>,
    untold: u64,
}

impl Gaps {
    /// An event is there, and means nothing to this program.
    pub fn add_unknown(&mut self, seqno: Seqno, error: &dyn std::fmt::Display) {
        self.add(format!("event {seqno} can't be understood ({error})"));
    }

    fn add(&mut self, text: String) {
        if self.told.len() < GAPS_TOLD {
            self.told.push(text);
        } else {
            self.untold += 1;
        }
    }

    /// What is gone before the oldest event without a record of its deletion, when somebody asks for events from `from` on.
    pub fn add_beginning(&mut self, beginning: &Beginning, from: Seqno) {
        match beginning {
            Beginning::Gone { oldest } if from < *oldest => {
                self.add(format!("{} (see tablegate journal verify)", before(beginning)));
            }
            Beginning::Empty | Beginning::First | Beginning::Expired { .. } | Beginning::Gone { .. } => {}
        }
    }

    /// What had been written behind the newest event and is gone, when somebody asks for events up to `to`.
    pub fn add_ending(&mut self, ending: End, to: Seqno) {
        match ending {
            End::Gone { first, .. } if to >= first => {
                let gone = ending.gone().unwrap_or_default();
                self.add(format!("{gone} (see tablegate journal verify)"));
            }
            End::There | End::Gone { .. } => {}
        }
    }

    /// Those of another part of the journal too.
    pub fn add_all(&mut self, others: Gaps) {
        others.told.into_iter().for_each(|text| self.add(text));
        self.untold += others.untold;
    }

    /// A sentence for each.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut told = self.told.clone();
        if self.untold > 0 {
            told.push(format!("and {} more: see tablegate journal verify", self.untold));
        }
        told
    }

    /// All events were read; else that it isn't everything, with what is missing. For the end of a command that has printed the rest.
    ///
    /// # Errors
    /// Something could not be read.
    pub fn none(&self) -> Result<(), Failure> {
        if self.told.is_empty() {
            return Ok(());
        }
        Err(Failure::failed(format!(
            "this is not everything: {}",
            self.sentences().join("; ")
        )))
    }
}

/// What is known of the events before the oldest one, as a part of a sentence; empty: there were none.
#[must_use]
pub fn before(beginning: &Beginning) -> String {
    let events = |through: Seqno| format!("events 1 to {through}");
    match beginning {
        Beginning::Empty | Beginning::First => String::new(),
        Beginning::Expired { through: 1 } => "event 1 was deleted when its time was over".to_owned(),
        Beginning::Expired { through } => {
            format!("{} were deleted when their time was over", events(*through))
        }
        Beginning::Gone { oldest: 2 } => {
            "event 1 is gone, and no event says that it was deleted when its time was over".to_owned()
        }
        Beginning::Gone { oldest } => format!(
            "{} are gone, and no event says that they were deleted when their time was over",
            events(oldest.saturating_sub(1))
        ),
    }
}

/// Reads the events from `from` to `to`, both included, and hands each to `each`.
///
/// # Errors
/// The journal can't be read at all, or `each` says so.
pub fn every_event(
    reader: &mut Reader,
    (from, to): (Seqno, Seqno),
    mut each: impl FnMut(&Record, &Event) -> Result<(), Failure>,
) -> Result<Gaps, Failure> {
    let mut gaps = Gaps::default();
    let mut next = from;
    while next <= to {
        let page = match reader.page(next, to, PAGE) {
            Ok(page) => page,
            Err(error) => {
                next = step_over(error, &mut gaps)?;
                continue;
            }
        };
        let Some(last) = page.last() else { break };
        next = last.seqno.saturating_add(1);
        for record in &page {
            match decode(record) {
                Ok(event) => each(record, &event)?,
                Err(error) => gaps.add_unknown(record.seqno, &error),
            }
        }
    }
    Ok(gaps)
}

/// Where to go on behind what can't be read, which joins the gaps.
///
/// # Errors
/// The journal can't be read at all.
pub fn step_over(error: ReadError, gaps: &mut Gaps) -> Result<Seqno, Failure> {
    match error {
        ReadError::Event {
            source: BadRecord::Missing { expected, found },
            ..
        } if found > expected => {
            gaps.add(match found - expected {
                1 => format!("event {expected} is missing"),
                _ => format!("events {expected} to {} are missing", found - 1),
            });
            Ok(found)
        }
        ReadError::Event { seqno, source, .. } => {
            gaps.add(format!("event {seqno} is damaged ({source})"));
            Ok(seqno.saturating_add(1))
        }
        error @ (ReadError::Missing { .. }
        | ReadError::Newer { .. }
        | ReadError::NotClosed { .. }
        | ReadError::Store { .. }) => Err(unreadable(error)),
    }
}
