//! A journal in memory, and an uplink that delivers it.

use prost::Message;
use sha2::{Digest, Sha256};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tablegate::journal::Record;
use tablegate::table::event::{AlertRaised, Body, ErrorCode, Event, Head, SoftwareVerified, TableState};
use tablegate::time::{Clock, Timestamp, Uptime};
use tablegate::uplink::{
    self, Ancestry, EventFeed, EventSource, Extent, Feed, Ledger, Notice, Page, SourceError, SourceOpener, TlsFiles,
    Undelivered, UplinkConfig, UplinkHandle,
};
use tokio::sync::{mpsc, watch};

/// Prefix of every topic in the tests.
pub const PREFIX: &str = "tablegate/v1/harbour/TS-07";

/// A journal that grows in memory.
#[derive(Clone)]
pub struct Memory {
    pub journal_id: String,
    records: Arc<Mutex<Vec<Record>>>,
    head: watch::Sender<Head>,
    pub ledger: Arc<MemoryLedger>,
    /// So many reads fail from now on.
    pub failing: Arc<AtomicU64>,
}

/// What the uplink keeps.
#[derive(Default)]
pub struct MemoryLedger {
    cursor: AtomicU64,
    connection: AtomicU64,
    moved_aside: Mutex<Vec<(String, u64)>>,
}

impl MemoryLedger {
    pub fn cursor(&self) -> u64 {
        self.cursor.load(Ordering::SeqCst)
    }

    pub fn moved_aside(&self) -> Vec<(String, u64)> {
        self.moved_aside.lock().unwrap().clone()
    }
}

impl Ledger for MemoryLedger {
    fn acknowledge(&self, cursor: u64) {
        let before = self.cursor.fetch_max(cursor, Ordering::SeqCst);
        assert!(before <= cursor, "the cursor never goes back");
    }

    fn next_connection(&self, at_least: u64) -> Pin<Box<dyn Future<Output = u64> + Send + '_>> {
        let number = (self.connection.load(Ordering::SeqCst) + 1).max(at_least);
        self.connection.store(number, Ordering::SeqCst);
        Box::pin(std::future::ready(number))
    }

    fn acknowledge_moved_aside(&self, journal_id: &str, cursor: u64) {
        self.moved_aside.lock().unwrap().push((journal_id.to_owned(), cursor));
    }
}

impl Memory {
    pub fn new(journal_id: &str) -> Self {
        Memory {
            journal_id: journal_id.to_owned(),
            records: Arc::default(),
            head: watch::channel(Head {
                journal_id: journal_id.to_owned(),
                seqno: 0,
                sha256: vec![0; 32],
            })
            .0,
            ledger: Arc::default(),
            failing: Arc::default(),
        }
    }

    /// With so many events.
    pub fn with_events(journal_id: &str, count: u64) -> Self {
        let memory = Memory::new(journal_id);
        for _ in 0..count {
            memory.append();
        }
        memory
    }

    /// Appends an ordinary event.
    pub fn append(&self) -> Record {
        self.append_body(Body::AlertRaised(AlertRaised {
            alert: "test".to_owned(),
            text: "an ordinary event of ordinary size, as most of a table's events are".to_owned(),
        }))
    }

    /// Appends an event whose encoding has about so many bytes.
    pub fn append_of_size(&self, bytes: usize) -> Record {
        self.append_body(Body::AlertRaised(AlertRaised {
            alert: "test".to_owned(),
            text: "x".repeat(bytes),
        }))
    }

    pub fn append_body(&self, body: Body) -> Record {
        let mut records = self.records.lock().unwrap();
        let head = self.head.borrow().clone();
        let event = Event {
            site: "harbour".to_owned(),
            table: "TS-07".to_owned(),
            journal_id: self.journal_id.clone(),
            seqno: head.seqno + 1,
            previous_sha256: head.sha256,
            run_id: "run".to_owned(),
            body: Some(body),
            ..Event::default()
        };
        let bytes = event.encode_to_vec();
        let record = Record {
            seqno: event.seqno,
            sha256: Sha256::digest(&bytes).into(),
            bytes,
        };
        records.push(record.clone());
        drop(records);
        self.head.send_replace(Head {
            journal_id: self.journal_id.clone(),
            seqno: record.seqno,
            sha256: record.sha256.to_vec(),
        });
        record
    }

    pub fn head(&self) -> Head {
        self.head.borrow().clone()
    }

    pub fn record(&self, seqno: u64) -> Record {
        let index = usize::try_from(seqno - 1).unwrap();
        self.records.lock().unwrap()[index].clone()
    }

    pub fn opener(&self) -> SourceOpener {
        let memory = self.clone();
        Box::new(move || Ok(Box::new(memory.clone())))
    }
}

impl EventSource for Memory {
    fn extent(&mut self) -> Result<Extent, SourceError> {
        Ok(Extent {
            journal_id: self.journal_id.clone(),
            oldest: self.records.lock().unwrap().first().map_or(0, |first| first.seqno),
            newest: self.head.borrow().seqno,
        })
    }

    fn page(&mut self, from: u64, to: u64, max: usize) -> Result<Page, SourceError> {
        let less = |failing: u64| failing.checked_sub(1);
        if self
            .failing
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, less)
            .is_ok()
        {
            return Err(SourceError::Failed {
                text: "the disk doesn't answer".to_owned(),
            });
        }
        let records = self.records.lock().unwrap();
        let begin = usize::try_from(from.saturating_sub(1)).unwrap().min(records.len());
        let page = records[begin..]
            .iter()
            .take_while(|record| record.seqno <= to)
            .take(max);
        let page: Vec<Record> = page.cloned().collect();
        let next = page.last().map_or(from, |last| last.seqno + 1);
        Ok(Page { records: page, next })
    }

    fn elder(&mut self, _journal_id: &str) -> Result<Option<Box<dyn EventSource>>, SourceError> {
        Ok(None)
    }
}

/// Counts from its making.
pub struct TestClock(Instant);

impl TestClock {
    pub fn new() -> Arc<Self> {
        Arc::new(TestClock(Instant::now()))
    }
}

impl Clock for TestClock {
    fn uptime(&self) -> Uptime {
        Uptime::from_micros(u64::try_from(self.0.elapsed().as_micros()).unwrap())
    }

    fn wall(&self) -> Timestamp {
        let since = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap();
        Timestamp::from_unix_micros(i64::try_from(since.as_micros()).unwrap())
    }
}

/// An uplink over a journal in memory, and its strings.
pub struct Rig {
    pub memory: Memory,
    pub uplink: UplinkHandle,
    pub state: watch::Sender<TableState>,
    pub fault: watch::Sender<String>,
    pub notices: mpsc::Receiver<Notice>,
}

/// How a rig is made.
pub struct Plan {
    pub memory: Memory,
    pub brokers: Vec<String>,
    pub ancestry: Ancestry,
    pub undelivered: Vec<Memory>,
    pub cursor: u64,
    pub client_id: String,
}

impl Plan {
    pub fn new(memory: Memory, broker: &str) -> Self {
        Plan {
            memory,
            brokers: vec![broker.to_owned()],
            ancestry: Ancestry::Known(Vec::new()),
            undelivered: Vec::new(),
            cursor: 0,
            client_id: "TS-07".to_owned(),
        }
    }

    pub fn config(&self) -> UplinkConfig {
        UplinkConfig {
            site: "harbour".to_owned(),
            table: "TS-07".to_owned(),
            prefix: PREFIX.to_owned(),
            response_prefixes: Vec::new(),
            brokers: self.brokers.iter().map(|broker| broker.parse().unwrap()).collect(),
            client_id: self.client_id.clone(),
            tls: None,
            login: None,
        }
    }

    pub fn start(self) -> Rig {
        self.start_with(None)
    }

    pub fn start_with(self, tls: Option<TlsFiles>) -> Rig {
        self.start_at(Arc::new(uplink::MqttBrokers), tls)
    }

    /// At these brokers.
    pub fn start_at(self, brokers: Arc<dyn uplink::Brokers>, tls: Option<TlsFiles>) -> Rig {
        let mut config = self.config();
        config.tls = tls;
        let undelivered = self.undelivered.iter().map(|moved| Undelivered {
            source: moved.opener(),
            journal_id: moved.journal_id.clone(),
            cursor: 0,
            through: moved.head().seqno,
        });
        let (state, states) = watch::channel(TableState {
            head: Some(self.memory.head()),
            ..TableState::default()
        });
        let (fault, faults) = watch::channel(String::new());
        let (notify, notices) = mpsc::channel(16);
        let feed = Feed {
            events: Some(EventFeed {
                ledger: self.memory.ledger.clone(),
                source: self.memory.opener(),
                undelivered: undelivered.collect(),
                journal_id: self.memory.journal_id.clone(),
                ancestry: self.ancestry,
                cursor: self.cursor,
                head: self.memory.head.subscribe(),
                newest: tablegate::journal::Newest::default(),
            }),
            state: states,
            fault: faults,
            notices: notify,
            clock: TestClock::new(),
            at_least: 0,
            version: "test".to_owned(),
            verifier: Arc::new(EchoingVerifier),
        };
        Rig {
            uplink: uplink::start_at(brokers, config, feed).unwrap(),
            memory: self.memory,
            state,
            fault,
            notices,
        }
    }
}

/// Says the seed as the program's digest; a seed of one byte is never answered, and one of two bytes is refused.
struct EchoingVerifier;

impl uplink::Verifier for EchoingVerifier {
    fn verify(&self, seed: Vec<u8>) -> uplink::Verifying {
        Box::pin(async move {
            match seed.len() {
                1 => std::future::pending().await,
                2 => Err(uplink::NotVerified {
                    code: ErrorCode::Busy,
                    text: "once a minute".to_owned(),
                }),
                _ => Ok(SoftwareVerified {
                    program_sha256: seed.clone(),
                    seed,
                    ..SoftwareVerified::default()
                }),
            }
        })
    }
}
