//! The journal's thread: it owns the writing connection, and everything that syncs happens here. The handle's side is [`Shared`].

use super::chain::Chain;
use super::counter::Counter;
use super::fault::{Fault, Faults};
use super::head_mark;
use super::lock::Lock;
use super::store::{Expired, Mark, MovedAside, Store, StoreError, Transaction};
use super::{APPEND_MAX_EVENTS, BadRecord, Record, Room, Seqno, ballast, retention};
use crate::table::event::Body;
use crate::time::Timestamp;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Commands that wait at most. The loop waits for each append, so more than a few means that the disk hangs: then asking fails at once.
const QUEUE: usize = 16;

/// An append that takes longer has failed. What it may have left is removed before anything else is written.
pub const APPEND_FAILS_AFTER: Duration = Duration::from_secs(5);

/// The cursor is written at most this often. It may lag: events are then delivered again, and the floor drops repeats.
const CURSOR_EVERY: Duration = Duration::from_secs(1);

/// So many acknowledgements write the cursor before its time: bounds what is delivered again after a crash in a busy backlog.
const CURSOR_EVERY_EVENTS: Seqno = 256;

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
enum Command {
    Append {
        records: Vec<Record>,
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
struct Ticket(AtomicU8);

impl Ticket {
    const OPEN: u8 = 0;
    const DONE: u8 = 1;
    const GIVEN_UP: u8 = 2;

    fn settle(&self, as_what: u8) -> bool {
        self.0
            .compare_exchange(Self::OPEN, as_what, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    fn is_given_up(&self) -> bool {
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
    /// Whether the journal is being closed: background work ends.
    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }
}

/// The handle's side of the thread.
pub(super) struct Shared {
    path: PathBuf,
    directory: PathBuf,
    retention: Duration,
    commands: SyncSender<Command>,
    wanted: Arc<Wanted>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
}

/// What the thread starts with.
pub(super) struct Start {
    pub(super) directory: PathBuf,
    pub(super) path: PathBuf,
    pub(super) retention: Duration,
    pub(super) store: Store,
    pub(super) lock: Lock,
    pub(super) counter: Counter,
    pub(super) chain: Chain,
    pub(super) head: Mark,
    pub(super) cursor: Mark,
    pub(super) moved_aside: Vec<MovedAside>,
    pub(super) faults: Option<Arc<Faults>>,
    pub(super) journal_id: String,
}

/// Starts the journal's thread.
pub(super) fn start(start: Start) -> std::io::Result<Shared> {
    let (commands, received) = sync_channel(QUEUE);
    let wanted = Arc::new(Wanted::default());
    let mut note = head_mark::Writer::open(&start.directory, &start.journal_id);
    note.note(start.head);
    ballast::lay(&start.directory);
    let shared_paths = (start.path, start.directory.clone());
    let writer = Writer {
        directory: start.directory,
        store: start.store,
        _lock: start.lock,
        counter: start.counter,
        chain: start.chain,
        head: start.head,
        cursor: start.cursor,
        moved_aside: start.moved_aside,
        faults: start.faults,
        note,
        leftover: false,
        cursor_due: None,
        wanted: Arc::clone(&wanted),
    };
    let thread = std::thread::Builder::new()
        .name("journal".to_owned())
        .spawn(move || writer.run(&received))?;
    Ok(Shared {
        path: shared_paths.0,
        directory: shared_paths.1,
        retention: start.retention,
        commands,
        wanted,
        thread: Mutex::new(Some(thread)),
    })
}

impl Shared {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn wanted(&self) -> Arc<Wanted> {
        Arc::clone(&self.wanted)
    }

    pub(super) async fn append(&self, records: Vec<Record>, expire: Option<Seqno>) -> Result<(), AppendError> {
        let ticket = Arc::new(Ticket(AtomicU8::new(Ticket::OPEN)));
        let (reply, answer) = oneshot::channel();
        let command = Command::Append {
            records,
            expire,
            ticket: Arc::clone(&ticket),
            reply,
        };
        self.commands.try_send(command).map_err(|error| match error {
            std::sync::mpsc::TrySendError::Full(_) => AppendError::Busy,
            std::sync::mpsc::TrySendError::Disconnected(_) => AppendError::Closed,
        })?;
        let give_up = GiveUp(ticket);
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

/// The thread's side.
struct Writer {
    directory: PathBuf,
    store: Store,
    _lock: Lock,
    counter: Counter,
    chain: Chain,
    head: Mark,
    cursor: Mark,
    moved_aside: Vec<MovedAside>,
    faults: Option<Arc<Faults>>,
    note: head_mark::Writer,
    /// An append that was given up may lie behind the head.
    leftover: bool,
    /// When the cursor is written; `None`: nothing to write.
    cursor_due: Option<Instant>,
    wanted: Arc<Wanted>,
}

impl Writer {
    fn run(mut self, commands: &Receiver<Command>) {
        loop {
            let command = match self.cursor_due {
                None => commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => commands.recv_timeout(due.saturating_duration_since(Instant::now())),
            };
            match command {
                Ok(Command::Append {
                    records,
                    expire,
                    ticket,
                    reply,
                }) => {
                    let result = self.append(&records, expire, &ticket);
                    let head = result.is_ok().then_some(self.head);
                    // The asker may have given up.
                    let _ = reply.send(result);
                    if let Some(head) = head {
                        self.note.note(head);
                    }
                }
                Ok(Command::NextConnection { at_least, reply }) => {
                    let _ = reply.send(self.counter.next(at_least));
                }
                Ok(Command::Tidy) => self.tidy(),
                Ok(Command::Wake) => self.wanted.woken.store(false, Ordering::Release),
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Command::Close) | Err(RecvTimeoutError::Disconnected) => break,
            }
            self.plan_cursor();
        }
        self.write_cursor();
        if let Err(error) = self.store.close() {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the journal could not be closed cleanly"
            );
        }
    }

    fn append(&mut self, records: &[Record], expire: Option<Seqno>, ticket: &Ticket) -> Result<(), AppendError> {
        if ticket.is_given_up() {
            return Err(AppendError::TimedOut);
        }
        let mut chain = self.chain.clone();
        let checkpoints = follow(&mut chain, records)?;
        let expire = expire.map(|through| self.check_expiry(records, through)).transpose()?;
        let after = self.leftover.then_some(self.head.seqno);
        let transaction = Transaction {
            records,
            checkpoints: &checkpoints,
            expire,
            after,
        };
        self.inject()?;
        let written = match self.store.append(&transaction) {
            Err(StoreError::Full { .. }) if ballast::give_up(&self.directory) => {
                tracing::warn!("the disk is full: the ballast was given up so that the round can end");
                self.store.append(&transaction)
            }
            written => written,
        };
        written?;
        self.leftover = false;
        if !ticket.settle(Ticket::DONE) {
            self.leftover = true;
            self.remove_leftover();
            return Err(AppendError::TimedOut);
        }
        if let Some(last) = records.last() {
            self.head = Mark {
                seqno: last.seqno,
                sha256: last.sha256,
            };
        }
        self.chain = chain;
        Ok(())
    }

    /// Removes at once what was written after its asker had gone; if that fails, the next append does it in its own transaction.
    fn remove_leftover(&mut self) {
        match self.store.remove_after(self.head.seqno) {
            Ok(()) => self.leftover = false,
            Err(error) => tracing::warn!(
                error = &error as &dyn std::error::Error,
                "an append that was given up is removed with the next one"
            ),
        }
    }

    fn inject(&self) -> Result<(), StoreError> {
        match self.faults.as_ref().and_then(|faults| faults.current()) {
            None => Ok(()),
            Some(Fault::Full) => Err(StoreError::injected_full()),
            Some(Fault::Io) => Err(StoreError::injected_io()),
            Some(Fault::Slow(pause)) => {
                std::thread::sleep(pause);
                Ok(())
            }
        }
    }

    /// Deletion must be on record, and must spare what isn't acknowledged and the last two checkpoints.
    fn check_expiry(&self, records: &[Record], through: Seqno) -> Result<Expired, AppendError> {
        let refused = |why: &str| AppendError::Refused {
            seqno: through,
            why: why.to_owned(),
        };
        if through > self.cursor.seqno {
            return Err(refused("it is not acknowledged"));
        }
        let newest = self.store.checkpoint_below(Seqno::MAX)?;
        let last_but_one = newest
            .map(|newest| self.store.checkpoint_below(newest))
            .transpose()?
            .flatten();
        if last_but_one.is_none_or(|last_but_one| through >= last_but_one) {
            return Err(refused("the last two checkpoints and what follows them stay"));
        }
        let through = self.store.mark(through)?.ok_or_else(|| refused("it is not there"))?;
        records
            .iter()
            .filter_map(|record| super::decode(record).ok())
            .find_map(|event| match event.body {
                Some(Body::EventsExpired(said))
                    if said.through_seqno == through.seqno && said.sha256 == through.sha256 =>
                {
                    let at_us = event
                        .recorded_at
                        .map_or(0, |time| Timestamp::from(&time).as_unix_micros());
                    Some(Expired { through, at_us })
                }
                _ => None,
            })
            .ok_or_else(|| refused("no EventsExpired in this append says so"))
    }

    fn tidy(&mut self) {
        match self.store.tidy() {
            Ok(tidied) => tracing::debug!(pages = tidied.pages, moved = tidied.moved, "WAL tidied"),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "the WAL could not be tidied");
            }
        }
        ballast::lay(&self.directory);
    }

    /// The cursor as it should be written: never beyond the head.
    fn wanted_cursor(&self) -> Seqno {
        self.wanted.cursor.load(Ordering::Acquire).min(self.head.seqno)
    }

    fn has_moved_aside_to_write(&self) -> bool {
        !self
            .wanted
            .moved_aside
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_empty()
    }

    fn plan_cursor(&mut self) {
        let ahead = self.wanted_cursor().saturating_sub(self.cursor.seqno);
        if ahead == 0 && !self.has_moved_aside_to_write() {
            self.cursor_due = None;
            return;
        }
        let due = *self.cursor_due.get_or_insert_with(|| Instant::now() + CURSOR_EVERY);
        if ahead >= CURSOR_EVERY_EVENTS || due <= Instant::now() {
            self.write_cursor();
        }
    }

    fn write_cursor(&mut self) {
        self.cursor_due = None;
        let written = self.try_write_cursor();
        if let Err(error) = written {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the cursor could not be written"
            );
            self.cursor_due = Some(Instant::now() + CURSOR_EVERY);
        }
    }

    fn try_write_cursor(&mut self) -> Result<(), StoreError> {
        let seqno = self.wanted_cursor();
        if seqno > self.cursor.seqno
            && let Some(mark) = self.store.mark(seqno)?
        {
            self.store.write_cursor(mark)?;
            self.cursor = mark;
        }
        let moved = std::mem::take(&mut *self.wanted.moved_aside.lock().unwrap_or_else(PoisonError::into_inner));
        for entry in &mut self.moved_aside {
            if let Some(cursor) = moved.get(&entry.journal_id) {
                entry.cursor = entry.cursor.max(*cursor);
                self.store.write_moved_aside(entry)?;
            }
        }
        Ok(())
    }
}

/// Checks that the records are the next ones of the chain; returns which are checkpoints.
fn follow(chain: &mut Chain, records: &[Record]) -> Result<Vec<Seqno>, AppendError> {
    let refused = |seqno, why: &dyn std::fmt::Display| AppendError::Refused {
        seqno,
        why: why.to_string(),
    };
    if records.is_empty() || records.len() > APPEND_MAX_EVENTS {
        return Err(refused(
            chain.next(),
            &format_args!("{} events in one append", records.len()),
        ));
    }
    let mut checkpoints = Vec::new();
    for record in records {
        let event = chain
            .take(record)
            .map_err(|bad: BadRecord| refused(record.seqno, &bad))?;
        if matches!(event.body, Some(Body::CheckpointRecorded(_))) {
            checkpoints.push(record.seqno);
        }
    }
    Ok(checkpoints)
}
