//! How far a journal is known to have reached: its cursor, and the note beside it, name events that had been written. Everybody who tells a
//! person about a journal's newest events asks here, as for its beginning.

use super::Seqno;
use super::head_mark;
use super::reader::{ReadError, Reader};
use std::path::Path;

/// Whether the newest events are there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Nothing beside them knows of newer ones.
    There,
    /// Events behind the newest one had been written and are gone.
    Gone {
        /// The first of them.
        first: Seqno,
        /// The last one that is known of.
        through: Seqno,
    },
}

impl End {
    /// What the newest event that is there and the newest that is known of say.
    pub(super) fn judge(newest: Seqno, known: Seqno) -> End {
        match newest.checked_add(1) {
            Some(first) if known >= first => End::Gone { first, through: known },
            Some(_) | None => End::There,
        }
    }

    /// What is gone, as a part of a sentence; `None`: nothing.
    #[must_use]
    pub fn gone(self) -> Option<String> {
        match self {
            End::There => None,
            End::Gone { first, through } if first == through => {
                Some(format!("event {first} had been written and is gone"))
            }
            End::Gone { first, through } => Some(format!("events {first} to {through} had been written and are gone")),
        }
    }
}

/// The note of the journal that `reader` reads: a moved-aside one has its own beside it.
pub(super) fn note_of(reader: &Reader) -> Option<head_mark::Noted> {
    let path = reader.path();
    let noted = head_mark::read_kept(path).or_else(|| head_mark::read(path.parent().unwrap_or(Path::new("."))));
    noted.filter(|noted| noted.journal_id == reader.journal_id())
}

impl Reader {
    /// Whether the newest events are there.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn ending(&mut self) -> Result<End, ReadError> {
        // What is known first, and then the newest: a daemon writes the event before it writes of it.
        let noted = note_of(self).map_or(0, |noted| noted.head.seqno);
        let known = noted.max(self.cursor()?);
        Ok(End::judge(self.head()?.seqno, known))
    }
}
