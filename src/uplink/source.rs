//! Where events are read: pages of the journal, on a thread of their own, so that a slow disk never holds up the table.
//!
//! The uplink keeps no queue: what it publishes it reads here, and what was not acknowledged it reads again.

use crate::causes::told;
use crate::journal::{ReadError, Reader, Record, Seqno};
use std::path::PathBuf;

/// A journal that could not be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SourceError {
    /// What was written is gone or is something else: another read finds nothing better.
    #[error("{text}")]
    Lost {
        /// For a person: which journal, and what was wrong.
        text: String,
    },
    /// The read failed, which says nothing of what is written there: another one may succeed.
    #[error("{text}")]
    Failed {
        /// For a person: which journal, and what was wrong.
        text: String,
    },
}

/// Some events, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Page {
    /// The events. A journal that was moved aside may have gaps; the one in use has none.
    pub records: Vec<Record>,
    /// Where to go on.
    pub next: Seqno,
}

impl Page {
    /// The events from `from` to `to` out of records without gaps that hold `from`; `None` when they don't.
    pub(super) fn of(records: &[Record], from: Seqno, to: Seqno) -> Option<Page> {
        let first = records.iter().position(|record| record.seqno == from)?;
        let wanted = records.iter().skip(first).take_while(|record| record.seqno <= to);
        let records: Vec<Record> = wanted.cloned().collect();
        let next = records.last()?.seqno.saturating_add(1);
        Some(Page { records, next })
    }
}

/// What a journal holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Extent {
    /// UUID of the journal.
    pub journal_id: String,
    /// Its oldest event; 0 in an empty journal.
    pub oldest: Seqno,
    /// Its newest event; 0 in an empty journal.
    pub newest: Seqno,
}

/// A journal, as the uplink reads it. Blocking; lives on the reading thread.
pub trait EventSource: Send {
    /// What it holds.
    ///
    /// # Errors
    ///
    /// When it can't be read.
    fn extent(&mut self) -> Result<Extent, SourceError>;

    /// Up to `max` events from `from` to `to` (both included).
    ///
    /// # Errors
    ///
    /// When they can't be read.
    fn page(&mut self, from: Seqno, to: Seqno, max: usize) -> Result<Page, SourceError>;

    /// The journal of this id that was moved aside in favour of this one, for a replay; `None`: there is none, or none that can be read.
    ///
    /// # Errors
    ///
    /// When a read failed that may succeed later.
    fn elder(&mut self, journal_id: &str) -> Result<Option<Box<dyn EventSource>>, SourceError>;
}

/// Opens a journal for reading; asked again after an error.
pub type SourceOpener = Box<dyn FnMut() -> Result<Box<dyn EventSource>, SourceError> + Send>;

/// Opens the journal in use, at `path`.
#[must_use]
pub fn journal_in_use(path: PathBuf) -> SourceOpener {
    Box::new(move || Ok(Box::new(JournalSource(Reader::open(&path)?))))
}

/// Opens a journal that was moved aside to `path`: what is damaged is stepped over.
#[must_use]
pub fn journal_moved_aside(path: PathBuf) -> SourceOpener {
    Box::new(move || Ok(Box::new(MovedAsideSource(Reader::open(&path)?))))
}

impl From<ReadError> for SourceError {
    fn from(error: ReadError) -> Self {
        let text = told(&error);
        if error.is_of_contents() {
            SourceError::Lost { text }
        } else {
            SourceError::Failed { text }
        }
    }
}

fn extent(reader: &mut Reader) -> Result<Extent, SourceError> {
    Ok(Extent {
        newest: reader.head()?.seqno,
        oldest: reader.oldest()?,
        journal_id: reader.journal_id().to_owned(),
    })
}

struct JournalSource(Reader);

impl EventSource for JournalSource {
    fn extent(&mut self) -> Result<Extent, SourceError> {
        extent(&mut self.0)
    }

    fn page(&mut self, from: Seqno, to: Seqno, max: usize) -> Result<Page, SourceError> {
        let records = self.0.page(from, to, max)?;
        let next = records.last().map_or(from, |last| last.seqno.saturating_add(1));
        Ok(Page { records, next })
    }

    fn elder(&mut self, journal_id: &str) -> Result<Option<Box<dyn EventSource>>, SourceError> {
        let elders = self.0.infos()?.moved_aside;
        let Some(elder) = elders.into_iter().find(|elder| elder.journal_id == journal_id) else {
            return Ok(None);
        };
        match Reader::open(&elder.path) {
            Ok(reader) => Ok(Some(Box::new(MovedAsideSource(reader)))),
            Err(error) if error.is_of_contents() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

struct MovedAsideSource(Reader);

impl EventSource for MovedAsideSource {
    fn extent(&mut self) -> Result<Extent, SourceError> {
        extent(&mut self.0)
    }

    fn page(&mut self, from: Seqno, to: Seqno, max: usize) -> Result<Page, SourceError> {
        let readable = self.0.readable(from, to, max)?;
        Ok(Page {
            records: readable.records,
            next: readable.next,
        })
    }

    fn elder(&mut self, _journal_id: &str) -> Result<Option<Box<dyn EventSource>>, SourceError> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_the_newest_append_begins_where_it_is_wanted_or_is_none() {
        let records: Vec<Record> = (7..=9)
            .map(|seqno| Record {
                seqno,
                sha256: [0; 32],
                bytes: vec![0],
            })
            .collect();
        for (from, to, expected) in [
            (7, 9, Some((vec![7, 8, 9], 10))),
            (8, 9, Some((vec![8, 9], 10))),
            (7, 8, Some((vec![7, 8], 9))),
            (9, 9, Some((vec![9], 10))),
            (6, 9, None),
            (10, 12, None),
            (8, 7, None),
        ] {
            let page = Page::of(&records, from, to);
            let found = page.map(|page| (page.records.iter().map(|record| record.seqno).collect(), page.next));
            assert_eq!(found, expected, "{from} to {to}");
        }
        assert_eq!(Page::of(&[], 1, 1), None);
    }

    /// What may be read later is told from what is gone: only the latter is passed over.
    #[test]
    fn a_journal_that_is_gone_is_told_from_one_that_can_not_be_read_now() {
        let directory = tempfile::tempdir().unwrap();
        let garbage = directory.path().join("garbage");
        std::fs::write(&garbage, vec![b'x'; 8192]).unwrap();
        for (path, is_lost) in [
            (directory.path().join("nowhere"), true),
            (garbage.clone(), true),
            (directory.path().to_owned(), false),
            (garbage.join("beneath a file"), false),
        ] {
            let error = journal_moved_aside(path.clone())().err().unwrap();
            assert_eq!(
                matches!(error, SourceError::Lost { .. }),
                is_lost,
                "{}: {error}",
                path.display()
            );
        }
    }
}
