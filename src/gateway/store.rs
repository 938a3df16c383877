//! The journal as the loop sees it: four verbs. In tests it is a journal that fails when told to.

use super::restore::told;
use crate::journal::{Ballast, Journal, Record, Seqno};
use crate::time::Timestamp;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;

/// An append on its way. It ends within five seconds; giving it up earlier gives up the append.
pub(super) type Pending = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// An answer on its way.
pub(super) type Answer<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Room on the journal's disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Room {
    /// Megabytes free for the journal.
    pub(super) free_mb: u64,
    /// Percent of the disk in use.
    pub(super) used_percent: u64,
    /// Below `min_free_mb`, or the ballast is used up.
    pub(super) low: bool,
}

/// Where the loop appends.
pub(super) trait Store: Send {
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

/// The journal, and when its disk is low.
pub(super) struct JournalStore {
    journal: Journal,
    min_free_bytes: u64,
}

impl JournalStore {
    pub(super) fn new(journal: Journal, min_free_bytes: u64) -> Self {
        JournalStore {
            journal,
            min_free_bytes,
        }
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
        Some(Room {
            free_mb: room.free_bytes / BYTES_IN_MB,
            used_percent: used_percent(self.journal.path()),
            low: room.free_bytes < self.min_free_bytes || room.ballast == Ballast::GivenUp,
        })
    }
}

/// As the configuration counts them.
const BYTES_IN_MB: u64 = 1024 * 1024;

/// Percent in use of the disk that `path` is on; 0 when the system doesn't say.
fn used_percent(path: &Path) -> u64 {
    match nix::sys::statvfs::statvfs(path) {
        Ok(disk) if disk.blocks() > 0 => {
            let used = disk.blocks().saturating_sub(disk.blocks_available());
            used.saturating_mul(100) / disk.blocks()
        }
        Ok(_) | Err(_) => 0,
    }
}
