//! The journal as the gateway sees it: a few verbs for the loop, some more for whoever starts and stops it. In tests it is a
//! journal that fails when told to.

use crate::causes::told;
use crate::journal::{Ballast, Carried, Journal, Newest, Opened, ReadError, Reader, Record, Report, Seqno};
use crate::table::event::{Body, Event, Head, JournalStartedReason, Predecessor};
use crate::time::Timestamp;
use crate::uplink::{Ancestry, Ledger, SourceOpener, Undelivered};
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

/// An append on its way. It ends within five seconds; giving it up earlier gives up the append.
pub type Pending = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// An answer on its way.
pub type Answer<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Room on the journal's disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// Megabytes free for the journal.
    pub free_mb: u64,
    /// Percent of the disk in use.
    pub used_percent: u64,
    /// Below `min_free_mb`, or the ballast is used up.
    pub low: bool,
}

/// Where the loop appends.
pub trait Store: Send + Sync {
    /// One transaction; done when it is synced. An error means that nothing was written.
    fn append(&self, records: Vec<Record>) -> Pending;
    /// The same, and everything up to `through` is deleted in it.
    fn append_and_expire(&self, records: Vec<Record>, through: Seqno) -> Pending;
    /// Up to where events may be deleted, by a synchronised clock that shows `now`.
    fn expirable(&self, now: Timestamp) -> Answer<Option<(Seqno, [u8; 32])>>;
    /// No round is running: a good moment to move the write-ahead log into the file.
    fn tidy(&self);
    /// Asks the disk; `None` when it doesn't say.
    fn room(&self) -> Option<Room>;
}

/// What tells that older events were verified, or what was found.
pub type Verified = Box<dyn FnOnce(Result<Report, ReadError>) + Send>;

/// A journal, as whoever starts and stops the loop needs it.
pub trait Shelf: Store {
    /// Its file, for people.
    fn path(&self) -> &Path;

    /// The events from `from` to `to`, as far as they can be read.
    fn read(&self, from: Seqno, to: Seqno) -> Vec<Record>;

    /// Which journals came before it, as far as it knows.
    fn ancestry(&self) -> Ancestry;

    /// Where the uplink keeps its cursor and its connections' numbers.
    fn ledger(&self) -> Arc<dyn Ledger>;

    /// Opens it for the uplink.
    fn source(&self) -> SourceOpener;

    /// What the newest append has written.
    fn newest(&self) -> Newest;

    /// Verifies beside play what opening did not.
    fn verify_rest(&self, found: Verified);

    /// Writes what is left and gives it up, without blocking the runtime.
    fn close(&self) -> Answer<()>;
}

/// Events in order.
pub type Events = Box<dyn Iterator<Item = Result<Event, ReadError>> + Send>;

/// Why a journal is new.
pub struct Fresh {
    /// FIRST, MOVED_ASIDE or ROLLED_BACK.
    pub reason: JournalStartedReason,
    /// Of the journal that was moved aside, as far as it could be read.
    pub predecessor: Option<Predecessor>,
    /// For the alert; empty for the first.
    pub text: String,
}

/// What opening a journal found.
pub struct Found {
    /// The journal.
    pub shelf: Arc<dyn Shelf>,
    /// `Some` when it is new and empty.
    pub fresh: Option<Fresh>,
    /// The newest event; seqno 0 and 32 zero bytes in an empty journal.
    pub head: Head,
    /// The newest checkpoint of it, or of its predecessor when it is new; `None`: fold from 1.
    pub checkpoint: Option<Event>,
    /// The events after that, their chain verified.
    pub tail: Events,
    /// Up to where a broker has acknowledged everything.
    pub cursor: Seqno,
    /// Journals moved aside with unacknowledged events, oldest first.
    pub undelivered: Vec<Undelivered>,
}

/// The journal, and when its disk is low.
pub(super) struct JournalStore {
    journal: Journal,
    min_free_bytes: u64,
}

impl JournalStore {
    /// What opening the journal found, for a disk of which so much stays free.
    pub(super) fn found(opened: Opened, min_free_bytes: u64) -> Found {
        let Opened {
            journal,
            journal_id: _,
            fresh,
            head,
            checkpoint,
            tail,
            cursor,
            undelivered,
            last_connection: _,
        } = opened;
        let (fresh, carried) = match fresh {
            Some(fresh) => {
                let why = Fresh {
                    reason: fresh.reason,
                    predecessor: fresh.predecessor,
                    text: fresh.text,
                };
                (Some(why), fresh.carried)
            }
            None => (None, None),
        };
        let source = carried.unwrap_or(Carried { checkpoint, tail });
        Found {
            shelf: Arc::new(JournalStore {
                journal,
                min_free_bytes,
            }),
            fresh,
            head,
            checkpoint: source.checkpoint,
            tail: Box::new(source.tail),
            cursor,
            undelivered: undelivered.into_iter().map(Undelivered::from).collect(),
        }
    }
}

impl Shelf for JournalStore {
    fn path(&self) -> &Path {
        self.journal.path()
    }

    fn read(&self, from: Seqno, to: Seqno) -> Vec<Record> {
        let records = Reader::open(self.journal.path()).and_then(|mut reader| reader.page(from, to, usize::MAX));
        records.unwrap_or_default()
    }

    fn ancestry(&self) -> Ancestry {
        let Ok(mut reader) = Reader::open(self.journal.path()) else {
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

    fn ledger(&self) -> Arc<dyn Ledger> {
        Arc::new(self.journal.clone())
    }

    fn source(&self) -> SourceOpener {
        crate::uplink::source::journal_in_use(self.journal.path().to_owned())
    }

    fn newest(&self) -> Newest {
        self.journal.newest()
    }

    fn verify_rest(&self, found: Verified) {
        self.journal.verify_rest(found);
    }

    fn close(&self) -> Answer<()> {
        let journal = self.journal.clone();
        Box::pin(async move {
            if let Err(error) = tokio::task::spawn_blocking(move || journal.close()).await {
                tracing::error!(%error, "closing the journal ended by a defect");
            }
        })
    }
}

impl Store for JournalStore {
    fn append(&self, records: Vec<Record>) -> Pending {
        let journal = self.journal.clone();
        Box::pin(async move { journal.append(records).await.map_err(|error| told(&error)) })
    }

    fn append_and_expire(&self, records: Vec<Record>, through: Seqno) -> Pending {
        let journal = self.journal.clone();
        Box::pin(async move {
            let appended = journal.append_and_expire(records, through).await;
            appended.map_err(|error| told(&error))
        })
    }

    fn expirable(&self, now: Timestamp) -> Answer<Option<(Seqno, [u8; 32])>> {
        let journal = self.journal.clone();
        Box::pin(async move { journal.expirable(now).await })
    }

    fn tidy(&self) {
        self.journal.tidy();
    }

    fn room(&self) -> Option<Room> {
        let room = self.journal.room();
        if room.takes_ballast() {
            // The next round waits for it, so it doesn't wait for the end of a round.
            self.journal.tidy();
        }
        Some(Room {
            free_mb: room.free_bytes / BYTES_IN_MB,
            used_percent: u64::from(room.used_percent),
            low: room.free_bytes < self.min_free_bytes || room.ballast == Ballast::GivenUp,
        })
    }
}

/// As the configuration counts them.
pub(super) const BYTES_IN_MB: u64 = 1_000_000;
