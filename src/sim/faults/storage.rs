//! Simulated durable storage. A transaction is there whole or not at all; writes fail, stall, hang, and may be there though nobody was
//! told. It survives the gateway, with its cursor, its counter of connections and the journals that were moved aside.

use super::eyes::{Eyes, hold};
use super::life::{Life, Pulse};
use super::trace::{Seen, Stored};
use crate::gateway::{Answer, Found, Fresh, Pending, Room, Shelf, Store, Verified};
use crate::journal::{Begin, Newest, Record, Seqno};
use crate::sim::Chance;
use crate::table::event::{Body, Event, Head, JournalStartedReason, Predecessor};
use crate::time::Timestamp;
use crate::uplink::{Ancestry, EventSource, Extent, Ledger, Page, SourceError, SourceOpener, Undelivered};
use prost::Message;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The gateway gives an append up after this long.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(5);
/// The cursor is written at most this often.
const CURSOR_EVERY: Duration = Duration::from_secs(1);
/// A sound disk takes up to this long for one append in [`SLOWER_ONCE_IN`]; the others are done at once.
const SOUND_MS: usize = 12;
const SLOWER_ONCE_IN: usize = 6;

/// How the disk behaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Manners {
    /// As it should.
    Sound,
    /// Every write fails.
    Fails,
    /// Every write takes this much longer.
    Slow(Duration),
    /// Writes are not answered, and may be done all the same.
    Hangs,
}

/// What is left on the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Left {
    /// Enough.
    Room,
    /// Less than the configuration wants.
    Little,
}

/// A journal.
#[derive(Clone, Debug, Default)]
struct Kept {
    journal_id: String,
    records: Vec<Record>,
    cursor: Seqno,
}

impl Kept {
    fn head(&self) -> Head {
        let last = self.records.last();
        Head {
            journal_id: self.journal_id.clone(),
            seqno: last.map_or(0, |last| last.seqno),
            sha256: last.map_or(vec![0; 32], |last| last.sha256.to_vec()),
        }
    }

    /// Events from `from` to `to`. A journal here begins with event 1 and has no gaps.
    fn between(&self, from: Seqno, to: Seqno, max: usize) -> Vec<Record> {
        let skipped = usize::try_from(from.saturating_sub(1)).unwrap_or(usize::MAX);
        let wanted = usize::try_from(to.saturating_add(1).saturating_sub(from)).unwrap_or(usize::MAX);
        let records = self.records.iter().skip(skipped).take(wanted.min(max));
        records.cloned().collect()
    }

    /// The newest checkpoint and the events after it.
    fn source(&self) -> (Option<Event>, Vec<Event>) {
        let mut tail = Vec::new();
        for record in self.records.iter().rev() {
            let Ok(event) = Event::decode(&*record.bytes) else {
                break;
            };
            if matches!(event.body, Some(Body::CheckpointRecorded(_))) {
                tail.reverse();
                return (Some(event), tail);
            }
            tail.push(event);
        }
        tail.reverse();
        (None, tail)
    }
}

struct Inner {
    chance: Chance,
    manners: Manners,
    left: Left,
    /// The one in use; without an id before the first opening.
    kept: Kept,
    older: Vec<Kept>,
    journals: u64,
    connection: u64,
    /// Written though the gateway gave it up: removed before the next write, found by the next opening.
    late: Option<Vec<Record>>,
    wanted: Seqno,
    cursor_due: Option<Instant>,
}

/// The disk.
pub(super) struct Disk {
    inner: Mutex<Inner>,
    eyes: Eyes,
    /// Told at each durable transaction.
    pub(super) written: Notify,
}

impl Disk {
    /// An empty disk.
    pub(super) fn new(eyes: Eyes, seed: u64) -> Self {
        Disk {
            inner: Mutex::new(Inner {
                chance: Chance::new(seed),
                manners: Manners::Sound,
                left: Left::Room,
                kept: Kept::default(),
                older: Vec::new(),
                journals: 0,
                connection: 0,
                late: None,
                wanted: 0,
                cursor_due: None,
            }),
            eyes,
            written: Notify::new(),
        }
    }

    /// How it behaves from now on.
    pub(super) fn behaves(&self, manners: Manners) {
        hold(&self.inner).manners = manners;
    }

    /// How much is left from now on.
    pub(super) fn left(&self, left: Left) {
        hold(&self.inner).left = left;
    }

    /// The newest durable event's number.
    pub(super) fn newest(&self) -> Seqno {
        hold(&self.inner).kept.head().seqno
    }

    /// The run of the gateway is over: what it gave up, and would have removed before its next write, stays there.
    pub(super) fn rests(&self) {
        let inner = &mut *hold(&self.inner);
        if let Some(late) = inner.late.take()
            && follows(&inner.kept, &late)
        {
            self.commit(inner, &late);
        }
    }

    /// Opens the journal for a run of the gateway.
    pub(super) fn open(self: &Arc<Self>, life: Arc<Life>, begin: Begin) -> Found {
        let mut inner = hold(&self.inner);
        let mut fresh = None;
        let mut source = None;
        let is_first = inner.kept.journal_id.is_empty();
        if let Begin::RolledBack { text } = begin {
            let old = std::mem::take(&mut inner.kept);
            let head = old.head();
            source = Some(old.source());
            fresh = Some(Fresh {
                reason: JournalStartedReason::RolledBack,
                predecessor: Some(Predecessor {
                    journal_id: old.journal_id.clone(),
                    last_seqno: head.seqno,
                    last_sha256: head.sha256,
                    last_acknowledged: old.cursor,
                    moved_to: "moved-aside".to_owned(),
                }),
                text,
            });
            inner.older.push(old);
        } else if is_first {
            fresh = Some(Fresh {
                reason: JournalStartedReason::First,
                predecessor: None,
                text: String::new(),
            });
        }
        if fresh.is_some() {
            inner.journals += 1;
            inner.kept.journal_id = format!("{0:08}-5eed-4000-8000-{0:012}", inner.journals);
        }
        inner.wanted = inner.kept.cursor;
        inner.cursor_due = None;
        let (checkpoint, tail) = source.unwrap_or_else(|| inner.kept.source());
        let undelivered = inner.older.iter().filter(|old| old.cursor < old.head().seqno);
        let undelivered = undelivered.map(|old| Undelivered {
            source: opener(self, &old.journal_id),
            journal_id: old.journal_id.clone(),
            cursor: old.cursor,
            through: old.head().seqno,
        });
        Found {
            shelf: Arc::new(Drive {
                disk: Arc::clone(self),
                life,
                newest: Newest::default(),
                path: PathBuf::from("/simulated/journal"),
            }),
            fresh,
            head: inner.kept.head(),
            checkpoint,
            tail: Box::new(tail.into_iter().map(Ok)),
            cursor: inner.kept.cursor,
            undelivered: undelivered.collect(),
        }
    }

    /// These are durable from here on.
    fn commit(&self, inner: &mut Inner, records: &[Record]) {
        inner.kept.records.extend_from_slice(records);
        let stored: Vec<Stored<'_>> = records.iter().map(stored).collect();
        let journal = &inner.kept.journal_id;
        self.eyes.see(&Seen::Appended {
            journal,
            records: &stored,
        });
        self.written.notify_one();
    }

    /// What comes of an append that begins now.
    fn manner(&self) -> (Manners, Duration) {
        let inner = &mut *hold(&self.inner);
        let took = if inner.chance.below(SLOWER_ONCE_IN) == 0 {
            inner.chance.below(SOUND_MS)
        } else {
            0
        };
        (inner.manners, Duration::from_millis(u64::try_from(took).unwrap_or(0)))
    }

    /// Whether the number of a connection became durable.
    fn count(&self, connection: u64) -> bool {
        let inner = &mut *hold(&self.inner);
        match inner.manners {
            Manners::Fails | Manners::Hangs => return false,
            Manners::Sound | Manners::Slow(_) => {}
        }
        inner.connection = inner.connection.max(connection);
        true
    }

    /// The number of the next connection, and whether it became durable.
    pub(super) fn count_next(&self, at_least: u64) -> (u64, bool) {
        let next = (hold(&self.inner).connection + 1).max(at_least);
        let is_durable = self.count(next);
        if !is_durable {
            self.eyes.see(&Seen::CountLost { number: next });
        }
        (next, is_durable)
    }

    fn write_cursor(&self) -> Result<(), ()> {
        let inner = &mut *hold(&self.inner);
        match inner.manners {
            Manners::Fails | Manners::Hangs => return Err(()),
            Manners::Sound | Manners::Slow(_) => {}
        }
        if inner.wanted > inner.kept.cursor {
            inner.kept.cursor = inner.wanted;
            self.eyes.see(&Seen::CursorWritten {
                journal: &inner.kept.journal_id,
                cursor: inner.kept.cursor,
            });
        }
        Ok(())
    }
}

fn stored(record: &Record) -> Stored<'_> {
    Stored {
        seqno: record.seqno,
        bytes: &record.bytes,
    }
}

/// The disk, as one run of the gateway uses it.
#[derive(Clone)]
struct Drive {
    disk: Arc<Disk>,
    life: Arc<Life>,
    newest: Newest,
    path: PathBuf,
}

/// An append under way; dropped, it was given up.
struct UnderWay {
    drive: Drive,
    records: Vec<Record>,
}

impl UnderWay {
    fn settle(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.records)
    }
}

impl Drop for UnderWay {
    /// A process that died left the disk to finish the write, or not. One that lives on removes what it gave up.
    fn drop(&mut self) {
        if self.records.is_empty() {
            return;
        }
        let disk = &self.drive.disk;
        given_up(disk, &self.records);
        let inner = &mut *hold(&disk.inner);
        if self.drive.life.pulse() == Pulse::Dead && inner.chance.hits(50) && follows(&inner.kept, &self.records) {
            let records = std::mem::take(&mut self.records);
            disk.commit(inner, &records);
        }
    }
}

fn given_up(disk: &Disk, records: &[Record]) {
    let journal = hold(&disk.inner).kept.journal_id.clone();
    let (first, count) = extent(records);
    disk.eyes.see(&Seen::AppendGivenUp {
        journal: &journal,
        first,
        count,
    });
}

fn extent(records: &[Record]) -> (Seqno, u64) {
    let first = records.first().map_or(0, |record| record.seqno);
    (first, u64::try_from(records.len()).unwrap_or(u64::MAX))
}

fn follows(kept: &Kept, records: &[Record]) -> bool {
    records.first().map(|record| record.seqno) == Some(kept.head().seqno + 1)
}

/// Never returns when the run is dead.
async fn alive(pulse: Pulse) {
    if pulse == Pulse::Dead {
        std::future::pending().await
    }
}

impl Drive {
    async fn write(self, records: Vec<Record>) -> Result<(), String> {
        alive(self.life.step()).await;
        let disk = Arc::clone(&self.disk);
        let (manners, took) = disk.manner();
        let mut under_way = UnderWay {
            drive: self.clone(),
            records,
        };
        let took = match manners {
            Manners::Sound | Manners::Fails => took,
            Manners::Slow(longer) => took + longer,
            Manners::Hangs => GIVEN_UP_AFTER,
        };
        if !took.is_zero() {
            tokio::time::sleep(took.min(GIVEN_UP_AFTER)).await;
        }
        alive(self.life.pulse()).await;
        let records = under_way.settle();
        match manners {
            Manners::Fails => {
                let (first, count) = extent(&records);
                let journal = hold(&disk.inner).kept.journal_id.clone();
                disk.eyes.see(&Seen::AppendFailed {
                    journal: &journal,
                    first,
                    count,
                });
                return Err("the journal can't be written: simulated".to_owned());
            }
            Manners::Hangs => {
                given_up(&disk, &records);
                let inner = &mut *hold(&disk.inner);
                if inner.chance.hits(50) && follows(&inner.kept, &records) {
                    inner.late = Some(records);
                }
                return Err("the disk has not answered within 5 s: simulated".to_owned());
            }
            Manners::Sound | Manners::Slow(_) => {}
        }
        {
            let inner = &mut *hold(&disk.inner);
            inner.late = None;
            if !follows(&inner.kept, &records) {
                return Err("not for this journal: simulated".to_owned());
            }
            disk.commit(inner, &records);
        }
        self.newest.set(Arc::new(records));
        alive(self.life.step()).await;
        Ok(())
    }
}

impl Store for Drive {
    fn append(&self, records: Vec<Record>) -> Pending {
        Box::pin(self.clone().write(records))
    }

    fn append_and_expire(&self, records: Vec<Record>, _through: Seqno) -> Pending {
        self.append(records)
    }

    fn expirable(&self, _now: Timestamp) -> Answer<Option<(Seqno, [u8; 32])>> {
        Box::pin(async { None })
    }

    fn tidy(&self) {}

    fn room(&self) -> Option<Room> {
        let low = hold(&self.disk.inner).left == Left::Little;
        Some(Room {
            free_mb: if low { 40 } else { 40_000 },
            used_percent: if low { 99 } else { 20 },
            low,
        })
    }
}

impl Shelf for Drive {
    fn path(&self) -> &Path {
        &self.path
    }

    fn read(&self, from: Seqno, to: Seqno) -> Vec<Record> {
        hold(&self.disk.inner).kept.between(from, to, usize::MAX)
    }

    fn ancestry(&self) -> Ancestry {
        let inner = hold(&self.disk.inner);
        Ancestry::Known(inner.older.iter().map(|old| old.journal_id.clone()).collect())
    }

    fn ledger(&self) -> Arc<dyn Ledger> {
        Arc::new(self.clone())
    }

    fn source(&self) -> SourceOpener {
        let journal_id = hold(&self.disk.inner).kept.journal_id.clone();
        opener(&self.disk, &journal_id)
    }

    fn newest(&self) -> Newest {
        self.newest.clone()
    }

    fn verify_rest(&self, _found: Verified) {}

    fn close(&self) -> Answer<()> {
        let drive = self.clone();
        Box::pin(async move {
            alive(drive.life.step()).await;
            // A cursor that can't be written is written by the next run.
            let _ = drive.disk.write_cursor();
        })
    }
}

impl Ledger for Drive {
    fn acknowledge(&self, cursor: Seqno) {
        if self.life.pulse() == Pulse::Dead {
            return;
        }
        let mut inner = hold(&self.disk.inner);
        inner.wanted = inner.wanted.max(cursor);
        let now = Instant::now();
        if inner.wanted <= inner.kept.cursor || inner.cursor_due.is_some_and(|due| due > now) {
            return;
        }
        let due = inner.cursor_due.map_or(now, |due| due.max(now)) + CURSOR_EVERY;
        inner.cursor_due = Some(due);
        drop(inner);
        let drive = self.clone();
        self.life.run(Box::pin(async move {
            let mut due = due;
            loop {
                tokio::time::sleep_until(due).await;
                if drive.life.step() == Pulse::Dead || drive.disk.write_cursor().is_ok() {
                    return;
                }
                due += CURSOR_EVERY;
            }
        }));
    }

    fn next_connection(&self, at_least: u64) -> Pin<Box<dyn Future<Output = u64> + Send + '_>> {
        Box::pin(async move {
            alive(self.life.step()).await;
            let (next, is_durable) = self.disk.count_next(at_least);
            if !is_durable {
                // Not durable, and written as soon as the disk takes it.
                let drive = self.clone();
                self.life.run(Box::pin(async move {
                    loop {
                        tokio::time::sleep(CURSOR_EVERY).await;
                        if drive.life.step() == Pulse::Dead || drive.disk.count(next) {
                            return;
                        }
                    }
                }));
            }
            next
        })
    }

    fn acknowledge_moved_aside(&self, journal_id: &str, cursor: Seqno) {
        if self.life.pulse() == Pulse::Dead {
            return;
        }
        let inner = &mut *hold(&self.disk.inner);
        if let Some(old) = inner.older.iter_mut().find(|old| old.journal_id == journal_id) {
            old.cursor = old.cursor.max(cursor);
        }
    }
}

fn opener(disk: &Arc<Disk>, journal_id: &str) -> SourceOpener {
    let (disk, journal_id) = (Arc::clone(disk), journal_id.to_owned());
    Box::new(move || {
        Ok(Box::new(Pages {
            disk: Arc::clone(&disk),
            journal_id: journal_id.clone(),
        }))
    })
}

/// A journal, as the uplink reads it.
struct Pages {
    disk: Arc<Disk>,
    journal_id: String,
}

impl Pages {
    fn with<T>(&self, look: impl FnOnce(&Kept) -> T) -> Result<T, SourceError> {
        let inner = hold(&self.disk.inner);
        let all = std::iter::once(&inner.kept).chain(&inner.older);
        let kept = all.into_iter().find(|kept| kept.journal_id == self.journal_id);
        kept.map(look).ok_or_else(|| SourceError {
            text: "no such journal".to_owned(),
        })
    }
}

impl EventSource for Pages {
    fn extent(&mut self) -> Result<Extent, SourceError> {
        self.with(|kept| Extent {
            journal_id: kept.journal_id.clone(),
            oldest: u64::from(!kept.records.is_empty()),
            newest: kept.head().seqno,
        })
    }

    fn page(&mut self, from: Seqno, to: Seqno, max: usize) -> Result<Page, SourceError> {
        let records = self.with(|kept| kept.between(from, to, max))?;
        let next = records.last().map_or(from, |last| last.seqno.saturating_add(1));
        Ok(Page { records, next })
    }

    fn elder(&mut self, journal_id: &str) -> Option<Box<dyn EventSource>> {
        let known = hold(&self.disk.inner)
            .older
            .iter()
            .any(|old| old.journal_id == journal_id);
        known.then(|| {
            Box::new(Pages {
                disk: Arc::clone(&self.disk),
                journal_id: journal_id.to_owned(),
            }) as Box<dyn EventSource>
        })
    }
}
