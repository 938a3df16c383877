//! The thread that reads journals for the uplink: a slow disk never holds up the table, and the table's thread never reads.

use super::source::{EventSource, SourceError, SourceOpener};
use crate::journal::{Record, Seqno};
use std::sync::mpsc as std_mpsc;
use std::thread;
use tokio::sync::oneshot;

/// One page of events, one page of a replay and one look-up may be asked at a time; the rest is what a lost connection left behind.
const ASKS: usize = 8;
/// `SQLite` needs far less; the default of 2 MB would do no harm, but says nothing.
const STACK: usize = 512 * 1024;

/// One of the journals that the uplink reads: its place in the order of delivery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct JournalIndex(pub(super) usize);

/// What a journal holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Extent {
    pub(super) journal_id: String,
    /// 0 in an empty journal.
    pub(super) oldest: Seqno,
    /// 0 in an empty journal.
    pub(super) newest: Seqno,
    /// As it is stored.
    pub(super) cursor: Seqno,
}

/// An answer that will come, or an error when the thread has ended.
pub(super) type Coming<T> = oneshot::Receiver<Result<T, SourceError>>;
type Reply<T> = oneshot::Sender<Result<T, SourceError>>;

enum Ask {
    Page {
        journal: JournalIndex,
        from: Seqno,
        to: Seqno,
        max: usize,
        reply: Reply<Vec<Record>>,
    },
    Extent {
        journal: JournalIndex,
        reply: Reply<Extent>,
    },
    Find {
        journal_id: String,
        reply: Reply<Option<(JournalIndex, Extent)>>,
    },
}

/// The thread's handle; it ends when this is dropped.
pub(super) struct Reading {
    asks: std_mpsc::SyncSender<Ask>,
}

impl Reading {
    /// Starts the thread over these journals, in the order of delivery.
    pub(super) fn start(openers: Vec<SourceOpener>) -> Result<Self, std::io::Error> {
        let (asks, asked) = std_mpsc::sync_channel(ASKS);
        let journals = openers.into_iter().map(|opener| Shelf { opener, open: None });
        let mut library = Library {
            journals: journals.collect(),
        };
        thread::Builder::new()
            .name("uplink-reader".to_owned())
            .stack_size(STACK)
            .spawn(move || {
                while let Ok(ask) = asked.recv() {
                    library.answer(ask);
                }
            })?;
        Ok(Reading { asks })
    }

    /// Up to `max` events.
    pub(super) fn page(&self, journal: JournalIndex, from: Seqno, to: Seqno, max: usize) -> Coming<Vec<Record>> {
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

    /// What the journal holds.
    pub(super) fn extent(&self, journal: JournalIndex) -> Coming<Extent> {
        let (reply, coming) = oneshot::channel();
        self.ask(Ask::Extent { journal, reply });
        coming
    }

    /// The journal of this id, if it is one of these.
    pub(super) fn find(&self, journal_id: String) -> Coming<Option<(JournalIndex, Extent)>> {
        let (reply, coming) = oneshot::channel();
        self.ask(Ask::Find { journal_id, reply });
        coming
    }

    /// When there is no room the ask is dropped, and its asker finds the answer missing.
    fn ask(&self, ask: Ask) {
        let _ = self.asks.try_send(ask);
    }
}

/// The answer, once it is there; without a question it never comes. The question is answered when this returns.
pub(super) async fn answer<T>(coming: &mut Option<Coming<T>>) -> Result<T, SourceError> {
    let Some(receiver) = coming else {
        return std::future::pending().await;
    };
    let answered = receiver.await.unwrap_or_else(|_| {
        Err(SourceError {
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

struct Library {
    journals: Vec<Shelf>,
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
            Ask::Extent { journal, reply } => {
                let _ = reply.send(self.read(journal, extent_of));
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
        let missing = || SourceError {
            text: "no such journal".to_owned(),
        };
        let shelf = self.journals.get_mut(journal.0).ok_or_else(missing)?;
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

    /// An unreadable journal is not the one looked for, unless it is the newest, which must be readable.
    fn find(&mut self, journal_id: &str) -> Result<Option<(JournalIndex, Extent)>, SourceError> {
        let newest = self.journals.len().saturating_sub(1);
        for index in (0..self.journals.len()).rev() {
            let journal = JournalIndex(index);
            match self.read(journal, extent_of) {
                Ok(extent) if extent.journal_id == journal_id => return Ok(Some((journal, extent))),
                Ok(_) => {}
                Err(error) if index == newest => return Err(error),
                Err(_) => {}
            }
        }
        Ok(None)
    }
}

fn extent_of(source: &mut dyn EventSource) -> Result<Extent, SourceError> {
    let newest = source.head()?.seqno;
    Ok(Extent {
        journal_id: source.journal_id()?,
        oldest: source.oldest()?.unwrap_or(0),
        newest,
        cursor: source.cursor()?,
    })
}
