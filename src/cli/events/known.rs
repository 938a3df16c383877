//! Whether what was asked for can be in this journal: how far back it reaches, and the rounds that its events are of.

use super::filter::{Edge, Filter};
use crate::cli::describe;
use crate::cli::ending::Failure;
use crate::cli::journal::unreadable;
use crate::cli::reading::{Gaps, before};
use crate::journal::{Beginning, End, Reader, Seqno};
use crate::table::event::Event;

/// How far back the journal reaches that is read, and whether its end is there.
pub(super) struct Known(pub(super) Beginning, pub(super) End);

impl Known {
    pub(super) fn of(reader: &mut Reader) -> Result<Known, Failure> {
        let beginning = reader.beginning().map_err(unreadable)?;
        Ok(Known(beginning, reader.ending().map_err(unreadable)?))
    }

    /// Everything that was asked for is there, or was deleted in its time, which is said; for the end of a command that has printed the rest.
    pub(super) fn reaches(&self, asked: &Filter, gaps: Gaps) -> Result<(), Failure> {
        self.reaches_over(asked.numbers(), asked.from, gaps)
    }

    pub(super) fn reaches_over(
        &self,
        (from, to): (Seqno, Seqno),
        asked: Option<Edge>,
        others: Gaps,
    ) -> Result<(), Failure> {
        if let (Beginning::Expired { .. }, Some(Edge::Number(_))) = (&self.0, asked)
            && from < self.0.oldest()
        {
            eprintln!("{}", before(&self.0));
        }
        let mut gaps = Gaps::default();
        gaps.add_beginning(&self.0, from);
        gaps.add_all(others);
        gaps.add_ending(self.1, to);
        gaps.none()
    }

    /// For the end of a sentence about something that isn't there.
    pub(super) fn beside(&self) -> String {
        match before(&self.0) {
            known if known.is_empty() => known,
            known => format!("; {known}"),
        }
    }
}

/// Rounds among the events that were looked at.
pub(super) struct Rounds {
    asked: Option<u64>,
    was_seen: bool,
    /// The lowest and the highest number.
    range: Option<(u64, u64)>,
}

impl Rounds {
    pub(super) fn asked(asked: Option<u64>) -> Rounds {
        Rounds {
            asked,
            was_seen: false,
            range: None,
        }
    }

    pub(super) fn note(&mut self, event: &Event) {
        let round = describe::round(event);
        self.was_seen |= self.asked == Some(round);
        if round > 0 {
            let (first, last) = self.range.unwrap_or((round, round));
            self.range = Some((first.min(round), last.max(round)));
        }
    }

    /// A round that was asked for and isn't there is no empty answer.
    pub(super) fn have_it(&self, known: &Known) -> Result<(), Failure> {
        let Some(asked) = self.asked.filter(|_| !self.was_seen) else {
            return Ok(());
        };
        Err(Failure::failed(match self.range {
            Some((first, last)) => {
                format!(
                    "there is no round {asked} among these events: they are of rounds {first} to {last}{}",
                    known.beside()
                )
            }
            None => format!(
                "there is no round {asked} among these events: no round was played in them{}",
                known.beside()
            ),
        }))
    }
}
