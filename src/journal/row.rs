//! What the store keeps besides events, as plain values.

use super::{Record, Seqno};
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// Who the file belongs to; written once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// UUID of the journal.
    pub journal_id: String,
    /// `[table] site` of its owner.
    pub site: String,
    /// `[table] id` of its owner.
    pub table: String,
    /// The PC's machine id when it was made.
    pub machine: String,
    /// When it was made, microseconds since 1970.
    pub created_us: i64,
}

impl Identity {
    /// Guards the row against damage: a changed site must not pass for another owner's journal.
    pub(super) fn sha256(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        for field in [&self.journal_id, &self.site, &self.table, &self.machine] {
            hash.update((field.len() as u64).to_le_bytes());
            hash.update(field.as_bytes());
        }
        hash.update(self.created_us.to_le_bytes());
        hash.finalize().into()
    }
}

/// An event's number with the SHA-256 of its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mark {
    pub(super) seqno: Seqno,
    pub(super) sha256: [u8; 32],
}

impl Mark {
    /// Before the first event.
    pub(super) const NONE: Mark = Mark {
        seqno: 0,
        sha256: [0; 32],
    };
}

/// What retention deleted last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Expired {
    pub(super) through: Mark,
    /// `recorded_at` of the `EventsExpired`, microseconds since 1970.
    pub(super) at_us: i64,
}

/// A journal that was moved aside, and how far it has been delivered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MovedAside {
    /// Where it is now.
    pub path: PathBuf,
    /// Its UUID.
    pub journal_id: String,
    /// Highest seqno of it up to which a broker acknowledged everything.
    pub cursor: Seqno,
    /// Highest seqno in it that can be read.
    pub through: Seqno,
}

/// What a `tidy` did to the WAL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tidied {
    /// Pages in the WAL.
    pub(super) pages: i64,
    /// How many of them are in the database now.
    pub(super) moved: i64,
}

/// One decision to be written.
pub(super) struct Transaction<'a> {
    pub(super) records: &'a [Record],
    /// Which of them are checkpoints.
    pub(super) checkpoints: &'a [Seqno],
    /// Events that go in the same transaction.
    pub(super) expire: Option<Expired>,
    /// Removes events above this number first: what an append left that had been given up.
    pub(super) after: Option<Seqno>,
}
