//! The durable store: hash chain, cursor, verification. Imports `table::event` and `time`.
//!
//! Only `store/` names rusqlite. One thread owns the writing connection ([`Journal`] is its handle); any number of
//! [`reader::Reader`]s read in pages. What the journal may not do: decide anything about play, look into an event for more than its
//! place in the chain, or make a broken file look like an empty one.

mod ballast;
mod beginning;
pub mod chain;
mod counter;
mod ending;
mod error;
mod fault;
mod files;
mod handle;
mod head_mark;
mod lineage;
mod lock;
mod open;
mod reader;
pub(crate) mod retention;
mod row;
mod salvage;
mod store;
mod tail;
mod thread;
mod verify;

pub use ballast::{BALLAST_BYTES, Ballast, Room};
pub use beginning::Beginning;
pub use chain::BadRecord;
pub(crate) use counter::count_connection;
pub use ending::End;
pub use error::StoreError;
pub use fault::{Fault, Faults};
pub use handle::{APPEND_FAILS_AFTER, AppendError, Newest};
pub use lineage::{Elder, Link, Origin};
pub use lock::LockError;
pub use reader::{Infos, ReadError, Readable, Reader};
pub use row::{Identity, MovedAside};
pub use tail::Tail;
pub use verify::{Bad, Progress, Report, verify, verify_and_show};

use crate::table::event::{Event, Head, JournalStartedReason, Predecessor};
use crate::time::Timestamp;
use handle::Shared;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A number in the journal: 1, 2, 3 ... without gaps.
pub type Seqno = u64;

/// An encoded `Event` is never larger: a floor's broker takes 16 KiB.
pub const EVENT_MAX_BYTES: usize = 8 * 1024;

/// Events of one decision at most.
pub const APPEND_MAX_EVENTS: usize = 64;

/// Retention is never shorter (rule books ask for 90 days of searchable log).
pub const RETENTION_MIN: Duration = Duration::from_secs(90 * 24 * 3600);

/// One event as it is stored and published.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// Its number.
    pub seqno: Seqno,
    /// SHA-256 of `bytes`.
    pub sha256: [u8; 32],
    /// The encoded `Event`.
    pub bytes: Vec<u8>,
}

/// Whose journal it is. A journal of another site or table is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Owner {
    /// `[table] site`.
    pub site: String,
    /// `[table] id`.
    pub table: String,
}

/// The `[journal]` section, ready to use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JournalConfig {
    /// Where the journal and what lies beside it are kept. Made when it is missing.
    pub directory: PathBuf,
    /// How long events are kept at least: [`RETENTION_MIN`] or longer.
    pub retention: Duration,
    /// Below this much room in bytes the next round is held.
    pub min_free_bytes: u64,
}

/// How to open.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long events are kept at least.
    pub retention: Duration,
    /// The wall clock: dates the file that is moved aside and a new journal.
    pub now: Timestamp,
    /// Go on, or begin anew.
    pub begin: Begin,
    /// Lets a test make appends fail.
    pub faults: Option<Arc<Faults>>,
}

impl Options {
    /// Goes on with the journal that is there, keeps events for [`RETENTION_MIN`].
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Options {
            retention: RETENTION_MIN,
            now,
            begin: Begin::Continue,
            faults: None,
        }
    }
}

/// Whether to go on with the journal that is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Begin {
    /// Go on with it.
    Continue,
    /// The floor has seen more of it than it holds, or another: move it aside, whole as it is, and begin a new one.
    RolledBack {
        /// For the alert: what the floor has.
        text: String,
    },
}

/// What opening found.
pub struct Opened {
    /// The handle to append with.
    pub journal: Journal,
    /// UUID of the journal.
    pub journal_id: String,
    /// `Some` when the journal is new and empty: the gateway appends `JournalStarted` with this first.
    pub fresh: Option<Fresh>,
    /// The newest event; seqno 0 and 32 zero bytes in an empty journal.
    pub head: Head,
    /// The newest `CheckpointRecorded`, whole; `None`: fold from 1.
    pub checkpoint: Option<Event>,
    /// The events after the checkpoint (from 1 without one), oldest first, their chain verified. Read in pages as it is iterated.
    pub tail: Tail,
    /// Highest seqno up to which a broker acknowledged everything.
    pub cursor: Seqno,
    /// Journals moved aside that hold unacknowledged, readable events, oldest first. Deliver them with [`Reader::readable`] and say so
    /// with [`Journal::acknowledge_moved_aside`].
    pub undelivered: Vec<MovedAside>,
    /// The counter kept beside the journal: `Status.connection` of the last connection (0: never).
    pub last_connection: u64,
}

/// Why the journal is new.
pub struct Fresh {
    /// FIRST, MOVED_ASIDE or ROLLED_BACK.
    pub reason: JournalStartedReason,
    /// Of the journal that was moved aside, as far as it could be read.
    pub predecessor: Option<Predecessor>,
    /// Its newest checkpoint and the events after it, when its state is known: the gateway folds them and appends a `CheckpointRecorded`.
    pub carried: Option<Carried>,
    /// For the alert: what was wrong and where the file went. Empty for the first.
    pub text: String,
}

/// The state of a predecessor.
pub struct Carried {
    /// Its newest `CheckpointRecorded`; `None`: fold from 1.
    pub checkpoint: Option<Event>,
    /// The events after it, their chain verified.
    pub tail: Tail,
}

/// Why a journal could not be opened. Nothing was moved or changed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another daemon has this directory.
    #[error(transparent)]
    Locked(#[from] LockError),
    /// The directory can't be made.
    #[error("cannot make the journal's directory {}", directory.display())]
    Directory {
        /// Which.
        directory: PathBuf,
        /// The system's words.
        #[source]
        source: std::io::Error,
    },
    /// It belongs to another site or table. Exit status 3.
    #[error(
        "{} is the journal of site {:?}, table {:?}; the configuration says site {:?}, table {:?}",
        path.display(), found.site, found.table, configured.site, configured.table
    )]
    OtherOwner {
        /// The file.
        path: PathBuf,
        /// Whose it is.
        found: Owner,
        /// Who asked.
        configured: Owner,
    },
    /// A newer program made it. Exit status 4.
    #[error("{} has layout {found}; this program knows layouts up to {known}: run the program that made it, or a newer one", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its layout.
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
    /// The disk, its rights or a lock: says nothing about the file's contents.
    #[error("cannot open the journal {}", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// What could not be done.
        #[source]
        source: StoreError,
    },
}

/// The handle to the journal's thread. Clones are the same journal. The file is closed by [`Journal::close`], or when the last clone is dropped.
#[derive(Clone)]
pub struct Journal {
    shared: Arc<Shared>,
}

impl Journal {
    /// Takes the directory's lock, verifies the chain from the newest checkpoint, moves a broken file aside, and starts the journal's
    /// thread. Blocks: for an ordinary journal some ten milliseconds.
    ///
    /// # Errors
    /// [`OpenError`]; nothing was moved or changed then.
    pub fn open(directory: &Path, owner: &Owner, machine: &str, options: Options) -> Result<Opened, OpenError> {
        open::open(directory, owner, machine, &options)
    }

    /// Writes one decision, 1 to [`APPEND_MAX_EVENTS`] events, in one transaction; returns after the sync.
    ///
    /// # Errors
    /// Nothing of it is in the journal, and no number is used up.
    pub async fn append(&self, records: Vec<Record>) -> Result<(), AppendError> {
        self.shared.append(records, None).await
    }

    /// As [`Journal::append`]; in the same transaction the events up to `through` are deleted. The records hold the `EventsExpired` that says
    /// so. Ask [`Journal::expirable`] first.
    ///
    /// # Errors
    /// Nothing was written or deleted. [`AppendError::Refused`] when `through` may not be deleted.
    pub async fn append_and_expire(&self, records: Vec<Record>, through: Seqno) -> Result<(), AppendError> {
        self.shared.append(records, Some(through)).await
    }

    /// Up to which event (with its SHA-256) retention may delete now; `None`: nothing. `now` is from a clock that is synchronised: don't ask
    /// otherwise. Acknowledged, before the last but one checkpoint, older than the retention time, a day's worth once a day.
    pub async fn expirable(&self, now: Timestamp) -> Option<(Seqno, [u8; 32])> {
        self.shared.expirable(now).await
    }

    /// What the newest append has written.
    #[must_use]
    pub fn newest(&self) -> Newest {
        self.shared.newest.clone()
    }

    /// Everything up to `cursor` is acknowledged by a broker. Never blocks; the highest wins; written at most once a second or every
    /// 256 acknowledgements.
    pub fn acknowledge(&self, cursor: Seqno) {
        self.shared.acknowledge(cursor);
    }

    /// Everything up to `cursor` of a journal that was moved aside is acknowledged, or can't be read. Never blocks.
    pub fn acknowledge_moved_aside(&self, journal_id: &str, cursor: Seqno) {
        self.shared.acknowledge_moved_aside(journal_id, cursor);
    }

    /// The number of the next connection to a broker: higher than every one before and at least `at_least`, durable before it is returned
    /// (if the disk lets us; else it is only higher).
    pub async fn next_connection(&self, at_least: u64) -> u64 {
        self.shared.next_connection(at_least).await
    }

    /// Now is a good moment to tidy the WAL and to take the ballast in again. Call it between rounds. Never blocks.
    pub fn tidy(&self) {
        self.shared.tidy();
    }

    /// Room on the disk, and whether the ballast still lies there. Two system calls.
    #[must_use]
    pub fn room(&self) -> Room {
        self.shared.room()
    }

    /// Verifies what opening did not (everything before the newest checkpoint) in a thread of its own, which changes nothing and gives way
    /// to play; then calls back from that thread. Does not call when the journal is closed before.
    pub fn verify_rest(&self, found: impl FnOnce(Result<Report, ReadError>) + Send + 'static) {
        verify::in_background(&self.shared, found);
    }

    /// Writes the cursor, moves everything into the database file, and gives the directory up. Blocks until that is done. Clones that are left
    /// answer [`AppendError::Closed`].
    pub fn close(self) {
        self.shared.close();
    }

    /// The journal's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.shared.path()
    }
}

/// Where the journal's file is in its directory.
#[must_use]
pub fn file_in(directory: &Path) -> PathBuf {
    directory.join("journal.sqlite3")
}

/// The event in a record's bytes.
///
/// # Errors
/// The bytes are none.
pub fn decode(record: &Record) -> Result<Event, prost::DecodeError> {
    <Event as prost::Message>::decode(&*record.bytes)
}
