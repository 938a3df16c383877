//! The handle's side of the journal's thread: what is asked, by whom it is given up, and what is wanted some time.

use super::error::StoreError;
use super::{Record, Room, Seqno, ballast, retention};
use crate::time::Timestamp;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

/// Commands that wait at most. The loop waits for each append, so more than a few means that the disk hangs: then asking fails at once.
pub(super) const QUEUE: usize = 16;

/// An append that takes longer has failed. What it may have left is removed before anything else is written.
pub const APPEND_FAILS_AFTER: Duration = Duration::from_secs(5);

/// How long the asker looks for the end of an append before it sleeps. A good disk is done within this, and being woken costs a dealer more
/// time than looking; a slow disk costs this much processor time once per append.
const LOOK_FOR: Duration = Duration::from_micros(500);

/// Why an append did not happen. Nothing of it is in the journal.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// No room, and no ballast left to give up.
    #[error("the journal can't be written: the disk is full")]
    Full {
        /// The database's words.
        #[source]
        source: StoreError,
    },
    /// The disk, or the database.
    #[error("the journal can't be written")]
    Store {
        /// The database's words.
        #[source]
        source: StoreError,
    },
    /// It took longer than [`APPEND_FAILS_AFTER`].
    #[error("the journal can't be written: the disk has not answered within {APPEND_FAILS_AFTER:?}")]
    TimedOut,
    /// Earlier calls hang; nothing was even tried.
    #[error("the journal can't be written: it is still busy with earlier calls")]
    Busy,
    /// The journal was closed.
    #[error("the journal is closed")]
    Closed,
    /// The asker broke the chain, or asked to delete what must stay.
    #[error("not for this journal: event {seqno}: {why}")]
    Refused {
        /// The first event that does not fit.
        seqno: Seqno,
        /// Why.
        why: String,
    },
}

impl From<StoreError> for AppendError {
    fn from(source: StoreError) -> Self {
        match source {
            StoreError::Full { .. } => AppendError::Full { source },
            StoreError::Damaged { .. } | StoreError::Newer { .. } | StoreError::Io { .. } => {
                AppendError::Store { source }
            }
        }
    }
}

/// What the thread is asked.
pub(super) enum Command {
    Append {
        records: Arc<Vec<Record>>,
        expire: Option<Seqno>,
        ticket: Arc<Ticket>,
        reply: oneshot::Sender<Result<(), AppendError>>,
    },
    NextConnection {
        at_least: u64,
        reply: oneshot::Sender<u64>,
    },
    Tidy,
    /// Look at what was acknowledged.
    Wake,
    Close,
}

/// Settles who is first when an append takes too long: the thread that finished it, or the asker who gave it up.
pub(super) struct Ticket(AtomicU8);

impl Ticket {
    const OPEN: u8 = 0;
    pub(super) const DONE: u8 = 1;
    const GIVEN_UP: u8 = 2;

    pub(super) fn settle(&self, as_what: u8) -> bool {
        self.0
            .compare_exchange(Self::OPEN, as_what, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    pub(super) fn is_given_up(&self) -> bool {
        self.0.load(Ordering::Acquire) == Self::GIVEN_UP
    }
}

/// Gives the append up when its asker goes away before the answer.
struct GiveUp(Arc<Ticket>);

impl Drop for GiveUp {
    fn drop(&mut self) {
        self.0.settle(Ticket::GIVEN_UP);
    }
}

/// What others want written some time: the latest value wins.
#[derive(Default)]
pub(super) struct Wanted {
    cursor: AtomicU64,
    woken: AtomicBool,
    moved_aside: Mutex<BTreeMap<String, Seqno>>,
    closing: AtomicBool,
}

impl Wanted {
    /// The thread looks now: another wake-up may be sent.
    pub(super) fn awake(&self) {
        self.woken.store(false, Ordering::Release);
    }

    /// Highest acknowledged number, as somebody said.
    pub(super) fn cursor(&self) -> Seqno {
        self.cursor.load(Ordering::Acquire)
    }

    /// Whether an older journal was delivered further.
    pub(super) fn has_moved_aside(&self) -> bool {
        !self
            .moved_aside
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_empty()
    }

    /// How far older journals were delivered, by their UUIDs, since the last time.
    pub(super) fn take_moved_aside(&self) -> BTreeMap<String, Seqno> {
        std::mem::take(&mut *self.moved_aside.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the journal is being closed: background work ends.
    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }
}

/// The handle's side of the thread.
pub(super) struct Shared {
    pub(super) path: PathBuf,
    pub(super) directory: PathBuf,
    pub(super) retention: Duration,
    pub(super) commands: SyncSender<Command>,
    pub(super) wanted: Arc<Wanted>,
    pub(super) thread: Mutex<Option<std::thread::JoinHandle<()>>>,
    pub(super) newest: Newest,
}

/// What the newest append has written, for a reader that is no further behind than that: it need not ask the disk. A latest-value slot of
/// at most one append's events.
#[derive(Clone, Default, Debug)]
pub struct Newest(Arc<Mutex<Arc<Vec<Record>>>>);

impl Newest {
    /// The durable events of the newest append, oldest first; none before the first.
    #[must_use]
    pub fn records(&self) -> Arc<Vec<Record>> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// These are durable now.
    pub fn set(&self, records: Arc<Vec<Record>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = records;
    }
}

impl Shared {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn wanted(&self) -> Arc<Wanted> {
        Arc::clone(&self.wanted)
    }

    pub(super) async fn append(&self, records: Vec<Record>, expire: Option<Seqno>) -> Result<(), AppendError> {
        let records = Arc::new(records);
        self.write(Arc::clone(&records), expire).await?;
        self.newest.set(records);
        Ok(())
    }

    async fn write(&self, records: Arc<Vec<Record>>, expire: Option<Seqno>) -> Result<(), AppendError> {
        let ticket = Arc::new(Ticket(AtomicU8::new(Ticket::OPEN)));
        let (reply, mut answer) = oneshot::channel();
        let command = Command::Append {
            records,
            expire,
            ticket: Arc::clone(&ticket),
            reply,
        };
        self.commands.try_send(command).map_err(|error| match error {
            TrySendError::Full(_) => AppendError::Busy,
            TrySendError::Disconnected(_) => AppendError::Closed,
        })?;
        let give_up = GiveUp(ticket);
        let began = Instant::now();
        while began.elapsed() < LOOK_FOR {
            match answer.try_recv() {
                Ok(result) => return result,
                Err(TryRecvError::Closed) => return Err(AppendError::Closed),
                Err(TryRecvError::Empty) => std::thread::yield_now(),
            }
        }
        match tokio::time::timeout(APPEND_FAILS_AFTER, answer).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(AppendError::Closed),
            Err(_) if give_up.0.settle(Ticket::GIVEN_UP) => Err(AppendError::TimedOut),
            // The thread was done in the moment that we gave up.
            Err(_) => Ok(()),
        }
    }

    pub(super) async fn expirable(&self, now: Timestamp) -> Option<(Seqno, [u8; 32])> {
        let (reply, answer) = oneshot::channel();
        let (path, retention) = (self.path.clone(), self.retention);
        let search = move || {
            // The asker may have gone.
            let _ = reply.send(retention::expirable(&path, retention, now));
        };
        if let Err(error) = std::thread::Builder::new().name("journal-age".to_owned()).spawn(search) {
            tracing::warn!(%error, "nobody could look for events that may be deleted");
            return None;
        }
        match answer.await {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "can't tell which events may be deleted"
                );
                None
            }
            Err(_) => None,
        }
    }

    pub(super) fn acknowledge(&self, cursor: Seqno) {
        self.wanted.cursor.fetch_max(cursor, Ordering::AcqRel);
        self.wake();
    }

    pub(super) fn acknowledge_moved_aside(&self, journal_id: &str, cursor: Seqno) {
        let mut wanted = self.wanted.moved_aside.lock().unwrap_or_else(PoisonError::into_inner);
        let highest = wanted.entry(journal_id.to_owned()).or_default();
        *highest = cursor.max(*highest);
        drop(wanted);
        self.wake();
    }

    /// One wake-up waits at most. When the queue is full the thread is awake, and looks after the next command.
    fn wake(&self) {
        if !self.wanted.woken.swap(true, Ordering::AcqRel) && self.commands.try_send(Command::Wake).is_err() {
            self.wanted.woken.store(false, Ordering::Release);
        }
    }

    pub(super) async fn next_connection(&self, at_least: u64) -> u64 {
        let (reply, answer) = oneshot::channel();
        // The journal hangs or is closed: what the asker knows has to do.
        let stand_in = at_least.max(1);
        if self
            .commands
            .try_send(Command::NextConnection { at_least, reply })
            .is_err()
        {
            return stand_in;
        }
        answer.await.unwrap_or(stand_in)
    }

    pub(super) fn tidy(&self) {
        // A full queue means that there is better to do now; the next round's end comes.
        let _ = self.commands.try_send(Command::Tidy);
    }

    pub(super) fn room(&self) -> Room {
        ballast::room(&self.directory)
    }

    pub(super) fn close(&self) {
        self.wanted.closing.store(true, Ordering::Release);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // Fails when the thread has ended already.
            let _ = self.commands.send(Command::Close);
            if thread.join().is_err() {
                tracing::error!("the journal's thread ended in a panic");
            }
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.close();
    }
}
