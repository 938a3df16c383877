//! Bugs between the loop and its journal.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use prost::Message;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use super::Bug;
use crate::gateway::{Answer, Found, Outside, Pending, Room, Shelf, Store, Verified};
use crate::journal::{Newest, Record, Seqno};
use crate::table::event::Event;
use crate::table::event::event::Body;
use crate::time::Timestamp;
use crate::uplink::{Ancestry, EventSource, Extent, Ledger, Page, SourceError, SourceOpener};

/// Whoever retries too early takes an append for lost after this long.
const TAKEN_FOR_LOST: Duration = Duration::from_millis(200);

/// What was found, with a bug.
pub(super) fn plant(bug: Bug, found: Found, outside: &Arc<dyn Outside>) -> Found {
    let mut tail: Vec<_> = found.tail.collect();
    match bug {
        Bug::NewestEventForgotten => {
            tail.pop();
        }
        Bug::AlertsForgotten => {
            tail.retain(|event| !matches!(event.as_ref().map(|event| &event.body), Ok(Some(Body::AlertRaised(_)))));
        }
        Bug::CountersForgotten => tail.iter_mut().flatten().for_each(forget_counters),
        _ => {}
    }
    Found {
        shelf: Arc::new(Bugged {
            bug,
            shelf: found.shelf,
            outside: Arc::clone(outside),
        }),
        tail: Box::new(tail.into_iter()),
        ..found
    }
}

fn forget_counters(event: &mut Event) {
    let counters = match &mut event.body {
        Some(Body::RoundStarted(started)) => &mut started.counters,
        Some(Body::TumblerSpun(spun)) => &mut spun.counters,
        Some(Body::BetsOpened(opened)) => &mut opened.counters,
        _ => return,
    };
    if let Some(counters) = counters {
        counters.spins = 0;
        counters.activations = 0;
    }
}

struct Bugged {
    bug: Bug,
    shelf: Arc<dyn Shelf>,
    outside: Arc<dyn Outside>,
}

impl Store for Bugged {
    fn append(&self, records: Vec<Record>) -> Pending {
        match self.bug {
            Bug::DoneBeforeDurable => {
                let append = self.shelf.append(records);
                self.outside.run(Box::pin(async move {
                    let _ = append.await;
                }));
                Box::pin(async { Ok(()) })
            }
            Bug::FailureSwallowed => {
                let append = self.shelf.append(records);
                Box::pin(async move {
                    let _ = append.await;
                    Ok(())
                })
            }
            Bug::RetryWritesTwice => {
                let shelf = Arc::clone(&self.shelf);
                Box::pin(async move {
                    let began = Instant::now();
                    shelf.append(records.clone()).await?;
                    if began.elapsed() >= TAKEN_FOR_LOST {
                        shelf.append(once_more(&records)).await?;
                    }
                    Ok(())
                })
            }
            _ => self.shelf.append(records),
        }
    }

    fn append_and_expire(&self, records: Vec<Record>, through: Seqno) -> Pending {
        self.shelf.append_and_expire(records, through)
    }

    fn expirable(&self, now: Timestamp) -> Answer<Option<(Seqno, [u8; 32])>> {
        if self.bug == Bug::DeletedTooSoon {
            let newest = self.shelf.read(1, Seqno::MAX).pop();
            return Box::pin(async move { newest.map(|newest| (newest.seqno, newest.sha256)) });
        }
        self.shelf.expirable(now)
    }

    fn tidy(&self) {
        self.shelf.tidy();
    }

    fn room(&self) -> Option<Room> {
        self.shelf.room()
    }
}

/// The same events with the next numbers.
fn once_more(records: &[Record]) -> Vec<Record> {
    let mut last = records.last().cloned();
    let mut again = Vec::new();
    for record in records {
        let (Some(before), Ok(mut event)) = (last.take(), Event::decode(record.bytes.as_slice())) else {
            return again;
        };
        event.seqno = before.seqno + 1;
        event.previous_sha256 = before.sha256.to_vec();
        let bytes = event.encode_to_vec();
        let record = Record {
            seqno: event.seqno,
            sha256: Sha256::digest(&bytes).into(),
            bytes,
        };
        last = Some(record.clone());
        again.push(record);
    }
    again
}

impl Shelf for Bugged {
    fn path(&self) -> &Path {
        self.shelf.path()
    }

    fn read(&self, from: Seqno, to: Seqno) -> Vec<Record> {
        self.shelf.read(from, to)
    }

    fn ancestry(&self) -> Ancestry {
        self.shelf.ancestry()
    }

    fn ledger(&self) -> Arc<dyn Ledger> {
        Arc::new(BuggedLedger {
            bug: self.bug,
            ledger: self.shelf.ledger(),
        })
    }

    fn source(&self) -> SourceOpener {
        let mut opener = self.shelf.source();
        if self.bug != Bug::UnreadablePassedOver {
            return opener;
        }
        Box::new(move || {
            let source = opener();
            Ok(Box::new(PassingOver(source?)))
        })
    }

    fn newest(&self) -> Newest {
        self.shelf.newest()
    }

    fn verify_rest(&self, found: Verified) {
        self.shelf.verify_rest(found);
    }

    fn close(&self) -> Answer<()> {
        self.shelf.close()
    }
}

/// A journal of which what can't be read is taken for read.
struct PassingOver(Box<dyn EventSource>);

impl EventSource for PassingOver {
    fn extent(&mut self) -> Result<Extent, SourceError> {
        self.0.extent()
    }

    fn page(&mut self, from: Seqno, to: Seqno, max: usize) -> Result<Page, SourceError> {
        let passed_over = Page {
            records: Vec::new(),
            next: to + 1,
        };
        Ok(self.0.page(from, to, max).unwrap_or(passed_over))
    }

    fn elder(&mut self, journal_id: &str) -> Result<Option<Box<dyn EventSource>>, SourceError> {
        self.0.elder(journal_id)
    }
}

struct BuggedLedger {
    bug: Bug,
    ledger: Arc<dyn Ledger>,
}

impl Ledger for BuggedLedger {
    fn acknowledge(&self, cursor: Seqno) {
        let ahead = u64::from(self.bug == Bug::CursorOneAhead);
        self.ledger.acknowledge(cursor + ahead);
    }

    fn next_connection(&self, at_least: u64) -> Pin<Box<dyn Future<Output = u64> + Send + '_>> {
        if self.bug == Bug::ConnectionsCountedAnew {
            return Box::pin(async move { at_least.max(1) });
        }
        self.ledger.next_connection(at_least)
    }

    fn acknowledge_moved_aside(&self, journal_id: &str, cursor: Seqno) {
        self.ledger.acknowledge_moved_aside(journal_id, cursor);
    }
}
