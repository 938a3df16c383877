//! The journal as the uplink reads it: adapters between two rooms that don't know each other's types.

use super::restore::told;
use crate::journal::{Journal, MovedAside, Reader, Record, Seqno};
use crate::table::event::{Body, Head};
use crate::uplink::{Ancestry, EventSource, Ledger, SourceError, SourceOpener};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;

/// The journal's handle, and what was moved aside before it.
pub(super) struct JournalLedger {
    pub(super) journal: Journal,
    pub(super) undelivered: Vec<MovedAside>,
}

impl Ledger for JournalLedger {
    fn acknowledge(&self, cursor: Seqno) {
        self.journal.acknowledge(cursor);
    }

    fn next_connection(&self, at_least: u64) -> Pin<Box<dyn Future<Output = u64> + Send + '_>> {
        Box::pin(self.journal.next_connection(at_least))
    }

    fn delivered(&self, journal_id: &str) {
        for aside in self.undelivered.iter().filter(|aside| aside.journal_id == journal_id) {
            self.journal.acknowledge_moved_aside(journal_id, aside.through);
        }
    }
}

/// Opens the journal in use at `path`.
pub(super) fn current(path: &Path) -> SourceOpener {
    opener(path.to_owned(), Aside::No)
}

/// Opens a journal that was moved aside: what can't be read of it is stepped over.
pub(super) fn moved_aside(aside: &MovedAside) -> SourceOpener {
    opener(aside.path.clone(), Aside::Yes)
}

/// Which journals came before the one at `path`, as far as it knows.
pub(super) fn ancestry(path: &Path) -> Ancestry {
    let Ok(mut reader) = Reader::open(path) else {
        return Ancestry::Unreadable;
    };
    let mut known: Vec<String> = match reader.infos() {
        Ok(infos) => infos.moved_aside.into_iter().map(|aside| aside.journal_id).collect(),
        Err(_) => return Ancestry::Unreadable,
    };
    // The first event may have expired; then so has everything that a predecessor published.
    let first = reader.page(1, 1, 1).unwrap_or_default();
    let started = first.first().and_then(|record| crate::journal::decode(record).ok());
    if let Some(Body::JournalStarted(started)) = started.and_then(|event| event.body)
        && let Some(predecessor) = started.predecessor
    {
        known.push(predecessor.journal_id);
    }
    if known.iter().any(String::is_empty) {
        return Ancestry::Unreadable;
    }
    Ancestry::Known(known)
}

/// Whether gaps are expected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aside {
    No,
    Yes,
}

fn opener(path: PathBuf, aside: Aside) -> SourceOpener {
    Box::new(move || match Reader::open(&path) {
        Ok(reader) => Ok(Box::new(Source { reader, aside })),
        Err(error) => Err(failed(&error)),
    })
}

struct Source {
    reader: Reader,
    aside: Aside,
}

fn failed(error: &dyn std::error::Error) -> SourceError {
    SourceError { text: told(error) }
}

impl EventSource for Source {
    fn journal_id(&mut self) -> Result<String, SourceError> {
        Ok(self.reader.journal_id().to_owned())
    }

    fn head(&mut self) -> Result<Head, SourceError> {
        self.reader.head().map_err(|error| failed(&error))
    }

    fn oldest(&mut self) -> Result<Option<Seqno>, SourceError> {
        let oldest = self.reader.oldest().map_err(|error| failed(&error))?;
        Ok((oldest > 0).then_some(oldest))
    }

    fn cursor(&mut self) -> Result<Seqno, SourceError> {
        self.reader.cursor().map_err(|error| failed(&error))
    }

    fn page(&mut self, from: Seqno, to: Seqno, max: usize) -> Result<Vec<Record>, SourceError> {
        match self.aside {
            Aside::No => self.reader.page(from, to, max).map_err(|error| failed(&error)),
            Aside::Yes => {
                let mut next = from;
                while next <= to {
                    let readable = self.reader.readable(next, to, max);
                    if !readable.records.is_empty() {
                        return Ok(readable.records);
                    }
                    next = readable.next;
                }
                Ok(Vec::new())
            }
        }
    }
}
