//! Makes events and journals for the journal's tests.

#![allow(dead_code, reason = "each test file uses its part")]

pub mod original;

use prost::Message;
use std::path::Path;
use tablegate::journal::{Fresh, Journal, Opened, Options, Owner, Reader, Record, Seqno, chain};
use tablegate::table::event::{self, Body, ClockQuality, Event};
use tablegate::time::Timestamp;

/// 2026-02-14T10:15:30Z.
pub const NOW: Timestamp = Timestamp::from_unix_micros(1_771_064_130_000_000);
pub const DAY_US: i64 = 24 * 3600 * 1_000_000;

pub fn owner() -> Owner {
    Owner {
        site: "harbour".to_owned(),
        table: "TS-07".to_owned(),
    }
}

pub fn open(directory: &Path) -> Opened {
    open_with(directory, Options::new(NOW)).unwrap_or_else(|error| panic!("{error}: {error:?}"))
}

pub fn open_with(directory: &Path, options: Options) -> Result<Opened, tablegate::journal::OpenError> {
    Journal::open(directory, &owner(), "machine", options)
}

/// Makes the next events of a chain, as the gateway does.
pub struct Scribe {
    pub journal_id: String,
    pub seqno: Seqno,
    pub sha256: Vec<u8>,
    pub at: Timestamp,
    pub clock: ClockQuality,
}

impl Scribe {
    pub fn after(opened: &Opened) -> Self {
        Scribe {
            journal_id: opened.journal_id.clone(),
            seqno: opened.head.seqno,
            sha256: opened.head.sha256.clone(),
            at: NOW,
            clock: ClockQuality::Synchronised,
        }
    }

    pub fn record(&mut self, body: Body) -> Record {
        self.record_in(self.seqno / 10, body)
    }

    pub fn record_in(&mut self, round_id: u64, body: Body) -> Record {
        let event = Event {
            site: "harbour".to_owned(),
            table: "TS-07".to_owned(),
            journal_id: self.journal_id.clone(),
            seqno: self.seqno + 1,
            previous_sha256: self.sha256.clone(),
            recorded_at: Some(self.at.into()),
            clock: self.clock.into(),
            run_id: "0d3b9f6e-5f1c-4b38-8f7e-2f6f3c1a9b10".to_owned(),
            uptime_us: self.seqno * 1000,
            round_id,
            body: Some(body),
            ..Event::default()
        };
        let bytes = event.encode_to_vec();
        let sha256 = chain::sha256(&bytes);
        self.seqno += 1;
        self.sha256 = sha256.to_vec();
        Record {
            seqno: self.seqno,
            sha256,
            bytes,
        }
    }

    /// A new journal says where it comes from, as a gateway writes it.
    pub fn journal_started(&mut self, fresh: Fresh) -> Record {
        self.record(Body::JournalStarted(event::JournalStarted {
            reason: fresh.reason.into(),
            predecessor: fresh.predecessor,
            site: "harbour".to_owned(),
            table: "TS-07".to_owned(),
            machine: "machine".to_owned(),
        }))
    }

    /// `JournalStarted` first, then facts of play.
    pub fn next(&mut self) -> Record {
        let body = if self.seqno == 0 {
            Body::JournalStarted(event::JournalStarted {
                site: "harbour".to_owned(),
                table: "TS-07".to_owned(),
                ..Default::default()
            })
        } else {
            Body::LayoutLit(event::LayoutLit {
                entry_to_lamps_ms: u32::try_from(self.seqno % 1000).unwrap(),
                areas: areas(),
            })
        };
        self.record(body)
    }

    pub fn some(&mut self, count: usize) -> Vec<Record> {
        (0..count).map(|_| self.next()).collect()
    }

    /// A checkpoint of everything so far.
    pub fn checkpoint(&mut self) -> Record {
        let body = Body::CheckpointRecorded(event::CheckpointRecorded {
            through_seqno: self.seqno,
            sha256: self.sha256.clone(),
            ..Default::default()
        });
        self.record(body)
    }

    pub fn expired(&mut self, through: Seqno, sha256: [u8; 32]) -> Record {
        self.record(Body::EventsExpired(event::EventsExpired {
            through_seqno: through,
            sha256: sha256.to_vec(),
        }))
    }
}

fn areas() -> Vec<event::Area> {
    ["small", "total_9", "pair_1_4", "single_1"]
        .into_iter()
        .map(|id| event::Area {
            id: id.to_owned(),
            pays: 6,
            per: 1,
        })
        .collect()
}

/// Appends `count` events, 10 at a time.
pub async fn fill(journal: &Journal, scribe: &mut Scribe, count: usize) {
    let mut left = count;
    while left > 0 {
        let records = scribe.some(left.min(10));
        left -= records.len();
        journal.append(records).await.unwrap();
    }
}

/// Everything in the file.
pub fn read_all(path: &Path) -> Vec<Record> {
    let mut reader = Reader::open(path).unwrap();
    let mut records = Vec::new();
    let mut from = 1;
    loop {
        let page = reader.page(from, Seqno::MAX, 100).unwrap();
        let Some(last) = page.last() else { return records };
        from = last.seqno + 1;
        records.extend(page);
    }
}

/// One thread, as in the daemon.
pub fn run<T>(work: impl std::future::Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

/// Waits for a condition; fails after ten seconds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while !holds() {
        assert!(std::time::Instant::now() < deadline, "{what}: not within 10 s");
        std::thread::yield_now();
    }
}

/// A directory in memory where there is one: for tests that open hundreds of journals and don't need a disk.
pub fn scratch() -> tempfile::TempDir {
    match tempfile::tempdir_in("/dev/shm") {
        Ok(directory) => directory,
        Err(_) => tempfile::tempdir().unwrap(),
    }
}
