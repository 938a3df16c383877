//! The disk, as one run of the gateway uses it: its appends, its cursor, its counter of connections.

use super::pages::opener;
use super::{Disk, Left, Manners, Reads, Transaction, follows};
use crate::gateway::{Answer, Pending, Room, Shelf, Store, Verified};
use crate::journal::{Newest, Record, Seqno};
use crate::sim::faults::eyes::hold;
use crate::sim::faults::life::{Life, Pulse};
use crate::sim::faults::trace::Seen;
use crate::time::Timestamp;
use crate::uplink::{Ancestry, Ledger, SourceOpener};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The gateway gives an append up after this long.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(5);
/// The cursor is written at most this often.
const CURSOR_EVERY: Duration = Duration::from_secs(1);

/// The disk, as one run of the gateway uses it.
#[derive(Clone)]
pub(super) struct Drive {
    pub(super) disk: Arc<Disk>,
    pub(super) life: Arc<Life>,
    pub(super) newest: Newest,
    pub(super) path: PathBuf,
}

/// An append under way; dropped, it was given up.
struct UnderWay {
    drive: Drive,
    transaction: Transaction,
}

impl UnderWay {
    fn settle(&mut self) -> Transaction {
        std::mem::take(&mut self.transaction)
    }
}

impl Drop for UnderWay {
    /// A process that died left the disk to finish the write, or not. One that lives on removes what it gave up.
    fn drop(&mut self) {
        let transaction = std::mem::take(&mut self.transaction);
        if transaction.records.is_empty() {
            return;
        }
        let disk = &self.drive.disk;
        given_up(disk, &transaction.records);
        let inner = &mut *hold(&disk.inner);
        let follows = |kept| follows(kept, &transaction.records);
        if self.drive.life.pulse() == Pulse::Dead && inner.chance.hits(50) && follows(&inner.kept) {
            disk.commit(inner, &transaction);
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

/// Never returns when the run is dead.
async fn alive(pulse: Pulse) {
    if pulse == Pulse::Dead {
        std::future::pending().await
    }
}

impl Drive {
    async fn write(self, transaction: Transaction) -> Result<(), String> {
        alive(self.life.step()).await;
        let disk = Arc::clone(&self.disk);
        let (manners, took) = disk.manner();
        let mut under_way = UnderWay {
            drive: self.clone(),
            transaction,
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
        let transaction = under_way.settle();
        match manners {
            Manners::Fails => {
                let (first, count) = extent(&transaction.records);
                let journal = hold(&disk.inner).kept.journal_id.clone();
                disk.eyes.see(&Seen::AppendFailed {
                    journal: &journal,
                    first,
                    count,
                });
                return Err("the journal can't be written: simulated".to_owned());
            }
            Manners::Hangs => {
                given_up(&disk, &transaction.records);
                let inner = &mut *hold(&disk.inner);
                if inner.chance.hits(50) && follows(&inner.kept, &transaction.records) {
                    inner.late = Some(transaction);
                }
                return Err("the disk has not answered within 5 s: simulated".to_owned());
            }
            Manners::Sound | Manners::Slow(_) => {}
        }
        {
            let inner = &mut *hold(&disk.inner);
            inner.late = None;
            if !follows(&inner.kept, &transaction.records) {
                return Err("not for this journal: simulated".to_owned());
            }
            disk.commit(inner, &transaction);
        }
        self.newest.set(Arc::new(transaction.records));
        alive(self.life.step()).await;
        Ok(())
    }
}

impl Store for Drive {
    fn append(&self, records: Vec<Record>) -> Pending {
        let expires = None;
        Box::pin(self.clone().write(Transaction { records, expires }))
    }

    fn append_and_expire(&self, records: Vec<Record>, through: Seqno) -> Pending {
        let expires = Some(through);
        Box::pin(self.clone().write(Transaction { records, expires }))
    }

    fn expirable(&self, now: Timestamp) -> Answer<Option<(Seqno, [u8; 32])>> {
        let found = {
            let inner = hold(&self.disk.inner);
            match inner.reads {
                Reads::Sound => inner.kept.expirable(now),
                Reads::Fail => None,
            }
        };
        Box::pin(async move { found })
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
        let inner = hold(&self.disk.inner);
        match inner.reads {
            Reads::Sound => inner.kept.between(from, to, usize::MAX),
            Reads::Fail => Vec::new(),
        }
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
