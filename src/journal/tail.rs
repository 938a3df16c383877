//! The events after a checkpoint, read in pages: ten thousand decoded events at once would be the daemon's largest piece of memory.

use super::reader::{ReadError, Reader};
use super::{Record, Seqno};
use crate::journal::chain::BadRecord;
use crate::table::event::Event;
use prost::Message;
use std::path::PathBuf;

/// Events in memory at once.
pub(super) const PAGE: usize = 128;

/// An iterator over events in order. The file is opened at the first, and closed after the last.
pub struct Tail {
    path: PathBuf,
    next: Seqno,
    to: Seqno,
    reader: Option<Reader>,
    page: std::vec::IntoIter<Record>,
}

impl Tail {
    /// From `next` to `to`, both included; empty when `next` is beyond `to`.
    pub(super) fn new(path: PathBuf, next: Seqno, to: Seqno) -> Self {
        Tail {
            path,
            next,
            to,
            reader: None,
            page: Vec::new().into_iter(),
        }
    }

    /// How many events are left.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.to.saturating_add(1).saturating_sub(self.next)
    }

    fn fetch(&mut self) -> Result<Option<Record>, ReadError> {
        if let Some(record) = self.page.next() {
            return Ok(Some(record));
        }
        let reader = match &mut self.reader {
            Some(reader) => reader,
            empty @ None => empty.insert(Reader::open(&self.path)?),
        };
        self.page = reader.page(self.next, self.to, PAGE)?.into_iter();
        Ok(self.page.next())
    }
}

impl Iterator for Tail {
    type Item = Result<Event, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.remaining() == 0 {
            self.reader = None;
            return None;
        }
        let seqno = self.next;
        let fetched = self.fetch();
        let bad = |source| ReadError::Event {
            path: self.path.clone(),
            seqno,
            source,
        };
        let event = match fetched {
            Ok(Some(record)) => {
                Event::decode(&*record.bytes).map_err(|error| bad(BadRecord::Undecodable(error.to_string())))
            }
            Ok(None) => Err(bad(BadRecord::Missing {
                expected: seqno,
                found: 0,
            })),
            Err(error) => Err(error),
        };
        // After an error nothing more comes: the caller must not fold over a hole.
        self.next = if event.is_ok() {
            seqno.saturating_add(1)
        } else {
            self.to.saturating_add(1)
        };
        Some(event)
    }
}
