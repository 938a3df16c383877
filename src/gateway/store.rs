//! The journal as the loop sees it: four verbs. In tests it is a journal that fails when told to.

use crate::journal::{Record, Seqno};
use crate::time::Timestamp;
use std::future::Future;
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
