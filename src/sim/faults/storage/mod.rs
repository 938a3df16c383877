//! Simulated durable storage. A transaction is there whole or not at all; writes fail, stall, hang, and may be there though nobody was
//! told; reads fail; an older copy of all of it takes its place. It survives the gateway, with its cursor, its counter of connections and the
//! journals that were moved aside. One run of the gateway writes through a [`drive`]; the uplink reads [`pages`].

mod drive;
mod pages;

use super::eyes::{Eyes, hold};
use super::life::Life;
use super::trace::{Seen, Stored};
use crate::gateway::{Found, Fresh};
use crate::journal::retention::{Age, is_too_early};
use crate::journal::{Begin, Newest, OpenError, RETENTION_MIN, ReadError, Record, Seqno, StoreError};
use crate::sim::Chance;
use crate::table::event::{Body, Event, Head, JournalStartedReason, Predecessor};
use crate::time::Timestamp;
use crate::uplink::Undelivered;
use drive::Drive;
use pages::opener;
use prost::Message;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

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

/// Whether it gives away what it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reads {
    /// It does.
    Sound,
    /// No read succeeds.
    Fail,
}

/// What one append writes.
#[derive(Clone, Debug, Default)]
struct Transaction {
    records: Vec<Record>,
    /// Everything up to this is deleted in it.
    expires: Option<Seqno>,
}

/// A journal.
#[derive(Clone, Debug, Default)]
struct Kept {
    journal_id: String,
    records: Vec<Record>,
    cursor: Seqno,
    /// When events were deleted last.
    expired_at: Option<Timestamp>,
}

/// The disk as it was once.
#[derive(Debug)]
struct Image {
    kept: Kept,
    older: Vec<Kept>,
    connection: u64,
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

    /// Events from `from` to `to`, as far as they were not deleted. A journal here has no gaps.
    fn between(&self, from: Seqno, to: Seqno, max: usize) -> Vec<Record> {
        let skipped = self.records.partition_point(|record| record.seqno < from);
        let records = self.records.iter().skip(skipped);
        let wanted = records.take_while(|record| record.seqno <= to).take(max);
        wanted.cloned().collect()
    }

    /// Up to where events may be deleted now.
    fn expirable(&self, now: Timestamp) -> Option<(Seqno, [u8; 32])> {
        if self.expired_at.is_some_and(|last| is_too_early(last, now)) {
            return None;
        }
        let mut checkpoints = self.records.iter().rev().filter(|record| is_checkpoint(record));
        let last_but_one = checkpoints.nth(1)?.seqno;
        let bound = self.cursor.min(last_but_one - 1);
        let mut age = Age::at(now, RETENTION_MIN);
        let old = |record: &&Record| record.seqno <= bound && age.take(record);
        let _as_old_as_can_be = self.records.iter().take_while(old).count();
        age.through()
    }

    fn expire(&mut self, through: Seqno, at: Option<Timestamp>) {
        self.records.retain(|record| record.seqno > through);
        self.expired_at = at;
    }

    fn as_predecessor(&self) -> Predecessor {
        let head = self.head();
        Predecessor {
            journal_id: head.journal_id,
            last_seqno: head.seqno,
            last_sha256: head.sha256,
            last_acknowledged: self.cursor,
            moved_to: "moved-aside".to_owned(),
        }
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

fn is_checkpoint(record: &Record) -> bool {
    let event = Event::decode(&*record.bytes);
    event.is_ok_and(|event| matches!(event.body, Some(Body::CheckpointRecorded(_))))
}

/// When its last event was recorded.
fn recorded_at(records: &[Record]) -> Option<Timestamp> {
    let event = Event::decode(&*records.last()?.bytes).ok()?;
    event.recorded_at.as_ref().map(Timestamp::from)
}

struct Inner {
    chance: Chance,
    manners: Manners,
    reads: Reads,
    left: Left,
    /// What somebody has put by.
    image: Option<Image>,
    /// It takes the disk's place when no gateway runs.
    is_to_be_set_back: bool,
    /// The one in use; without an id before the first opening.
    kept: Kept,
    older: Vec<Kept>,
    journals: u64,
    connection: u64,
    /// Written though the gateway gave it up: removed before the next write, found by the next opening.
    late: Option<Transaction>,
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
                reads: Reads::Sound,
                left: Left::Room,
                image: None,
                is_to_be_set_back: false,
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

    /// Whether it can be read from now on.
    pub(super) fn reads(&self, reads: Reads) {
        hold(&self.inner).reads = reads;
    }

    /// Somebody takes an image of it.
    pub(super) fn put_by(&self) {
        let inner = &mut *hold(&self.inner);
        inner.image = Some(Image {
            kept: inner.kept.clone(),
            older: inner.older.clone(),
            connection: inner.connection,
        });
    }

    /// That image is to take its place.
    pub(super) fn is_to_be_set_back(&self) {
        hold(&self.inner).is_to_be_set_back = true;
    }

    /// No gateway runs: an older image takes its place, if that is to be.
    pub(super) fn set_back(&self) {
        let inner = &mut *hold(&self.inner);
        if !std::mem::take(&mut inner.is_to_be_set_back) {
            return;
        }
        let Some(image) = inner.image.take() else { return };
        // An image of a journal that is no longer in use, or of the newest, would be another fault, or none.
        if image.kept.journal_id != inner.kept.journal_id || image.kept.head() == inner.kept.head() {
            return;
        }
        inner.kept = image.kept;
        inner.older = image.older;
        inner.connection = image.connection;
        self.eyes.see(&Seen::WentBack {
            journal: &inner.kept.journal_id,
            to: inner.kept.head().seqno,
        });
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
            && follows(&inner.kept, &late.records)
        {
            self.commit(inner, &late);
        }
    }

    /// Opens the journal for a run of the gateway.
    pub(super) fn open(self: &Arc<Self>, life: Arc<Life>, begin: Begin) -> Result<Found, OpenError> {
        let mut inner = hold(&self.inner);
        let path = PathBuf::from("/simulated/journal");
        let fails = inner.reads == Reads::Fail;
        if fails {
            self.eyes.see(&Seen::OpenedUnread);
        }
        if fails && inner.chance.hits(50) {
            return Err(OpenError::Store {
                path,
                source: unreadable(),
            });
        }
        let mut told = "the journal before this one is moved aside: simulated".to_owned();
        if let Begin::RolledBack { text } = begin {
            told = text;
            // One that is empty has just begun in the place of the one that is meant.
            if !inner.kept.records.is_empty() {
                let old = std::mem::take(&mut inner.kept);
                inner.older.push(old);
            }
        }
        if inner.kept.journal_id.is_empty() {
            inner.journals += 1;
            inner.kept.journal_id = format!("{0:08}-5eed-4000-8000-{0:012}", inner.journals);
        }
        let fresh = inner.kept.records.is_empty().then(|| match inner.older.last() {
            Some(old) => Fresh {
                reason: JournalStartedReason::RolledBack,
                predecessor: Some(old.as_predecessor()),
                text: told,
            },
            None => Fresh {
                reason: JournalStartedReason::First,
                predecessor: None,
                text: String::new(),
            },
        });
        let source = match (&fresh, inner.older.last()) {
            (Some(_), Some(old)) => Some(old.source()),
            (Some(_) | None, _) => None,
        };
        inner.wanted = inner.kept.cursor;
        inner.cursor_due = None;
        let (checkpoint, tail) = source.unwrap_or_else(|| inner.kept.source());
        let mut tail: Vec<Result<Event, ReadError>> = tail.into_iter().map(Ok).collect();
        if fails {
            // What is read last comes last.
            tail.push(Err(ReadError::Store {
                path: path.clone(),
                source: unreadable(),
            }));
        }
        let undelivered = inner.older.iter().filter(|old| old.cursor < old.head().seqno);
        let undelivered = undelivered.map(|old| Undelivered {
            source: opener(self, &old.journal_id),
            journal_id: old.journal_id.clone(),
            cursor: old.cursor,
            through: old.head().seqno,
        });
        Ok(Found {
            shelf: Arc::new(Drive {
                disk: Arc::clone(self),
                life,
                newest: Newest::default(),
                path,
            }),
            fresh,
            head: inner.kept.head(),
            checkpoint,
            tail: Box::new(tail.into_iter()),
            cursor: inner.kept.cursor,
            undelivered: undelivered.collect(),
        })
    }

    /// These are durable from here on.
    fn commit(&self, inner: &mut Inner, transaction: &Transaction) {
        let Transaction { records, expires } = transaction;
        inner.kept.records.extend_from_slice(records);
        let stored: Vec<Stored<'_>> = records.iter().map(stored).collect();
        let journal = &inner.kept.journal_id;
        self.eyes.see(&Seen::Appended {
            journal,
            records: &stored,
        });
        if let Some(through) = *expires {
            self.eyes.see(&Seen::Expired { journal, through });
            inner.kept.expire(through, recorded_at(records));
        }
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

fn unreadable() -> StoreError {
    StoreError::Io {
        doing: "read the journal",
        source: std::io::Error::other("simulated").into(),
    }
}

fn stored(record: &Record) -> Stored<'_> {
    Stored {
        seqno: record.seqno,
        bytes: &record.bytes,
    }
}

fn follows(kept: &Kept, records: &[Record]) -> bool {
    records.first().map(|record| record.seqno) == Some(kept.head().seqno + 1)
}
