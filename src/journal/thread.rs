//! The journal's thread: it owns the writing connection, and everything that syncs happens here.

use super::chain::Chain;
use super::counter::Counter;
use super::error::StoreError;
use super::fault::{Fault, Faults};
use super::handle::{AppendError, Command, QUEUE, Shared, Ticket, Wanted};
use super::head_mark;
use super::lock::Lock;
use super::row::{Expired, Mark, MovedAside, Transaction};
use super::store::Store;
use super::{APPEND_MAX_EVENTS, BadRecord, Record, Seqno, ballast};
use crate::failpoint::{Point, pass};
use crate::table::event::Body;
use crate::time::Timestamp;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The cursor is written at most this often. It may lag: events are then delivered again, and the floor drops repeats.
const CURSOR_EVERY: Duration = Duration::from_secs(1);

/// So many acknowledgements write the cursor before its time: bounds what is delivered again after a crash in a busy backlog.
const CURSOR_EVERY_EVENTS: Seqno = 256;

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
    // Until a new journal has an event, the note beside it still tells of the one before: a start that fails here must find it again.
    if start.head != Mark::NONE {
        note.note(start.head);
    }
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
        newest: super::Newest::default(),
    })
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
                        pass(Point::AppendAnswered);
                        self.note.note(head);
                        pass(Point::HeadNoted);
                    }
                }
                Ok(Command::NextConnection { at_least, reply }) => {
                    let _ = reply.send(self.counter.next(at_least));
                }
                Ok(Command::Tidy) => self.tidy(),
                Ok(Command::Wake) => self.wanted.awake(),
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
        self.wanted.cursor().min(self.head.seqno)
    }

    fn plan_cursor(&mut self) {
        let ahead = self.wanted_cursor().saturating_sub(self.cursor.seqno);
        if ahead == 0 && !self.wanted.has_moved_aside() && !self.counter.is_unwritten() {
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
        // Said when it failed first.
        if self.counter.write_again().is_err() {
            self.cursor_due.get_or_insert_with(|| Instant::now() + CURSOR_EVERY);
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
        let moved = self.wanted.take_moved_aside();
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
