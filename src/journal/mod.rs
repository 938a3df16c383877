//! The durable store: hash chain, cursor, verification. Imports `table::event` and `time`.
//!
//! Only `store.rs` names rusqlite. One thread owns the writing connection ([`Journal`] is its handle); any number of
//! [`reader::Reader`]s read in pages.

use crate::table::event::{Event, Head, JournalStartedReason, Predecessor};
use std::path::{Path, PathBuf};

/// A number in the journal: 1, 2, 3 ... without gaps.
pub type Seqno = u64;

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
    /// The events after the checkpoint (from 1 without one), oldest first, their chain verified. At most about 10,000.
    pub tail: Vec<Event>,
    /// Highest seqno up to which a broker acknowledged everything.
    pub cursor: Seqno,
    /// Journals moved aside that hold unacknowledged, readable events, oldest first.
    pub undelivered: Vec<PathBuf>,
    /// The counter kept beside the journal: `Status.connection` of the last connection (0: never).
    pub last_connection: u64,
}

/// Why the journal is new.
#[derive(Clone, PartialEq, Debug)]
pub struct Fresh {
    /// FIRST or MOVED_ASIDE.
    pub reason: JournalStartedReason,
    /// Of the journal that was moved aside, as far as it could be read.
    pub predecessor: Option<Predecessor>,
    /// Its newest checkpoint and the events after it, when its state is known: the gateway folds them and appends a `CheckpointRecorded`.
    pub carried: Option<(Option<Event>, Vec<Event>)>,
    /// For the alert: what was wrong and where the file went.
    pub text: String,
}

/// The handle to the journal's thread.
#[derive(Clone)]
pub struct Journal {}

/// Where the journal's file is in its directory.
#[must_use]
pub fn file_in(directory: &Path) -> PathBuf {
    directory.join("journal.sqlite3")
}
