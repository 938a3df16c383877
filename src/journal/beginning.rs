//! How far back a journal reaches, and what it can prove of the events before: retention leaves a record of its own, whoever else deletes
//! rows doesn't. Everybody who tells a person about a journal's beginning asks here.

use super::reader::{ReadError, Reader};
use super::tail::PAGE;
use super::{Record, Seqno};
use crate::table::event::{Body, Event, EventsExpired};
use prost::Message;

/// How often the search starts again because retention deleted events meanwhile; it does so once a day.
const AGAIN: usize = 3;

/// How far back a journal reaches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Beginning {
    /// It has no events.
    Empty,
    /// Its first event is there.
    First,
    /// Retention deleted the events before the oldest, and an event that is there says so and names the hash that the oldest one follows from.
    Expired {
        /// The last one that was deleted.
        through: Seqno,
    },
    /// The events before the oldest are gone, and no event that can be read says that retention deleted them.
    Gone {
        /// The oldest that is there.
        oldest: Seqno,
    },
}

impl Beginning {
    /// What the oldest event and the newest record of a deletion prove.
    pub(super) fn judge(oldest: &Event, newest: Option<&EventsExpired>) -> Beginning {
        let is_said = newest.filter(|said| {
            said.through_seqno.checked_add(1) == Some(oldest.seqno) && said.sha256 == oldest.previous_sha256
        });
        match (oldest.seqno, is_said) {
            (0 | 1, _) => Beginning::First,
            (_, Some(said)) => Beginning::Expired {
                through: said.through_seqno,
            },
            (seqno, None) => Beginning::Gone { oldest: seqno },
        }
    }

    /// The first event that can be asked for: what lies before it is gone.
    #[must_use]
    pub fn oldest(&self) -> Seqno {
        match self {
            Beginning::Empty | Beginning::First => 1,
            Beginning::Expired { through } => through.saturating_add(1),
            Beginning::Gone { oldest } => *oldest,
        }
    }
}

impl Reader {
    /// How far back the journal reaches. Looks for the newest record of a deletion from the end backwards: retention leaves one a day, so it
    /// is found at once where all is well; where it isn't, every event is read.
    ///
    /// # Errors
    /// [`ReadError`]; a single event that is damaged proves nothing and is no error.
    pub fn beginning(&mut self) -> Result<Beginning, ReadError> {
        let mut again = AGAIN;
        loop {
            let found = self.judged()?;
            let is_settled = match &found {
                Beginning::Gone { oldest } => self.oldest()? == *oldest,
                Beginning::Empty | Beginning::First | Beginning::Expired { .. } => true,
            };
            if is_settled || again == 0 {
                return Ok(found);
            }
            again -= 1;
        }
    }

    fn judged(&mut self) -> Result<Beginning, ReadError> {
        let (oldest, newest) = (self.oldest()?, self.head()?.seqno);
        match oldest {
            0 => return Ok(Beginning::Empty),
            1 => return Ok(Beginning::First),
            _ => {}
        }
        let first = self.readable(oldest, oldest, 1)?.records;
        let Some(first) = first.first().and_then(|record| Event::decode(&*record.bytes).ok()) else {
            return Ok(Beginning::Gone { oldest });
        };
        let span = Seqno::try_from(PAGE).unwrap_or(Seqno::MAX);
        let mut to = newest;
        while to >= oldest {
            let from = to.saturating_sub(span - 1).max(oldest);
            let page = self.readable(from, to, PAGE)?;
            if let Some(said) = page.records.iter().rev().find_map(deletion) {
                return Ok(Beginning::judge(&first, Some(&said)));
            }
            to = from - 1;
        }
        Ok(Beginning::judge(&first, None))
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "one kind of event is looked for")]
fn deletion(record: &Record) -> Option<EventsExpired> {
    match Event::decode(&*record.bytes).ok()?.body? {
        Body::EventsExpired(said) => Some(said),
        _ => None,
    }
}
