//! The thread that reads journals for the uplink: a slow disk never holds up the table, and the table's thread never reads one.

use super::source::{EventSource, Extent, Page, SourceError, SourceOpener};
use crate::journal::Seqno;
use std::sync::mpsc as std_mpsc;
use std::sync::{Mutex, PoisonError};
use std::thread;
use tokio::sync::oneshot;

/// One page of events, one page of a replay and one look-up may be asked at a time; the rest is what a lost connection left behind.
const ASKS: usize = 8;
/// `SQLite` needs far less; the default of 2 MB would do no harm, but says nothing.
const STACK: usize = 512 * 1024;

/// One of the journals that the uplink reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum JournalIndex {
    /// By its place in the order of delivery.
    Delivered(usize),
    /// One that was delivered long ago, looked up for a replay.
    Elder,
}

/// An answer that will come, or an error when the thread has ended.
pub(super) type Coming<T> = oneshot::Receiver<Result<T, SourceError>>;
type Reply<T> = oneshot::Sender<Result<T, SourceError>>;

pub(super) enum Ask {
    Page {
        journal: JournalIndex,
        from: Seqno,
        to: Seqno,
        max: usize,
        reply: Reply<Page>,
    },
    Find {
        journal_id: String,
        reply: Reply<Option<(JournalIndex, Extent)>>,
    },
}

/// Who reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reads {
    /// A thread: journals lie on disks.
    OnAThread,
    /// Whoever asks, at once: journals lie in memory.
    AtOnce,
}

/// The reader's handle; its thread ends when this is dropped.
pub(super) enum Reading {
    Thread(std_mpsc::SyncSender<Ask>),
    Here(Mutex<Library>),
}

impl Reading {
    /// Opens these journals, in the order of delivery.
    pub(super) fn start(openers: Vec<SourceOpener>, reads: Reads) -> Result<Self, std::io::Error> {
        let journals = openers.into_iter().map(|opener| Shelf { opener, open: None });
        let mut library = Library {
            journals: journals.collect(),
            elder: None,
        };
        match reads {
            Reads::OnAThread => {}
            Reads::AtOnce => return Ok(Reading::Here(Mutex::new(library))),
        }
        let (asks, asked) = std_mpsc::sync_channel(ASKS);
        thread::Builder::new()
            .name("uplink-reader".to_owned())
            .stack_size(STACK)
            .spawn(move || {
                while let Ok(ask) = asked.recv() {
                    library.answer(ask);
                }
            })?;
        Ok(Reading::Thread(asks))
    }

    /// Up to `max` events.
    pub(super) fn page(&self, journal: JournalIndex, from: Seqno, to: Seqno, max: usize) -> Coming<Page> {
        let (reply, coming) = oneshot::channel();
        self.ask(Ask::Page {
            journal,
            from,
            to,
            max,
            reply,
        });
        coming
    }

    /// The journal of this id and what it holds, if it is here.
    pub(super) fn find(&self, journal_id: String) -> Coming<Option<(JournalIndex, Extent)>> {
        let (reply, coming) = oneshot::channel();
        self.ask(Ask::Find { journal_id, reply });
        coming
    }

    /// When there is no room the ask is dropped, and its asker finds the answer missing.
    fn ask(&self, ask: Ask) {
        match self {
            Reading::Thread(asks) => {
                let _ = asks.try_send(ask);
            }
            Reading::Here(library) => library.lock().unwrap_or_else(PoisonError::into_inner).answer(ask),
        }
    }
}

/// The answer, once it is there; without a question it never comes. The question is answered when this returns.
pub(super) async fn answer<T>(coming: &mut Option<Coming<T>>) -> Result<T, SourceError> {
    let Some(receiver) = coming else {
        return std::future::pending().await;
    };
    let answered = receiver.await.unwrap_or_else(|_| {
        Err(SourceError::Failed {
            text: "the journal's reader did not answer".to_owned(),
        })
    });
    *coming = None;
    answered
}

struct Shelf {
    opener: SourceOpener,
    open: Option<Box<dyn EventSource>>,
}

pub(super) struct Library {
    journals: Vec<Shelf>,
    elder: Option<Box<dyn EventSource>>,
}

impl Library {
    /// An asker that has gone away doesn't matter.
    fn answer(&mut self, ask: Ask) {
        match ask {
            Ask::Page {
                journal,
                from,
                to,
                max,
                reply,
            } => {
                if !reply.is_closed() {
                    let _ = reply.send(self.read(journal, |source| source.page(from, to, max)));
                }
            }
            Ask::Find { journal_id, reply } => {
                let _ = reply.send(self.find(&journal_id));
            }
        }
    }

    /// Reads from a journal, opening it first; what failed is opened anew the next time.
    fn read<T>(
        &mut self,
        journal: JournalIndex,
        read: impl FnOnce(&mut dyn EventSource) -> Result<T, SourceError>,
    ) -> Result<T, SourceError> {
        let missing = || SourceError::Failed {
            text: "no such journal".to_owned(),
        };
        let shelf = match journal {
            JournalIndex::Delivered(index) => self.journals.get_mut(index).ok_or_else(missing)?,
            JournalIndex::Elder => return read(self.elder.as_mut().ok_or_else(missing)?.as_mut()),
        };
        let source = match &mut shelf.open {
            Some(source) => source,
            closed @ None => closed.insert((shelf.opener)()?),
        };
        let outcome = read(source.as_mut());
        if outcome.is_err() {
            shelf.open = None;
        }
        outcome
    }

    /// A damaged journal is not the one looked for, unless it is the one in use, which must be readable. While a read fails, none of the
    /// others is said not to be here.
    fn find(&mut self, journal_id: &str) -> Result<Option<(JournalIndex, Extent)>, SourceError> {
        let in_use = self.journals.len().saturating_sub(1);
        let mut failed = None;
        for index in (0..self.journals.len()).rev() {
            let journal = JournalIndex::Delivered(index);
            match self.read(journal, |source| source.extent()) {
                Ok(extent) if extent.journal_id == journal_id => return Ok(Some((journal, extent))),
                Err(error) if index == in_use => return Err(error),
                Err(error @ SourceError::Failed { .. }) => failed = Some(error),
                Ok(_) | Err(SourceError::Lost { .. }) => {}
            }
        }
        self.elder = self.read(JournalIndex::Delivered(in_use), |source| source.elder(journal_id))?;
        let Some(elder) = &mut self.elder else {
            return failed.map_or(Ok(None), Err);
        };
        let extent = elder.extent()?;
        Ok((extent.journal_id == journal_id).then_some((JournalIndex::Elder, extent)))
    }
}
