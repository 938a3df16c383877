//! The simulated world as a run of the gateway meets it.

use crate::device::Ports;
use crate::gateway::{Answer, ClockSource, Found, Outside, Synchronisation};
use crate::journal::{Begin, JournalConfig, OpenError, Owner};
use crate::sim::faults::broker::Ways;
use crate::sim::faults::eyes::Eyes;
use crate::sim::faults::life::Life;
use crate::sim::faults::line::Harbour;
use crate::sim::faults::storage::Disk;
use crate::time::{Clock, Timestamp, Uptime};
use crate::uplink::Brokers;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// The wall clock when the simulation begins.
const BEGAN_US: i64 = 1_700_000_000_000_000;

/// The world as one run of the gateway meets it.
pub(super) struct Surroundings {
    pub(super) run: u32,
    pub(super) life: Arc<Life>,
    pub(super) disk: Arc<Disk>,
    pub(super) ports: Arc<Harbour>,
    pub(super) brokers: Arc<Ways>,
    pub(super) began: Instant,
    pub(super) eyes: Eyes,
    pub(super) set: Arc<AtomicI64>,
}

impl Outside for Surroundings {
    fn run_id(&self) -> String {
        format!("00000000-0000-4000-8000-{:012}", self.run)
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(VirtualClock {
            began: self.began,
            eyes: self.eyes.clone(),
            set: Arc::clone(&self.set),
        })
    }

    fn synchronisation(&self, _source: ClockSource) -> watch::Receiver<Synchronisation> {
        watch::channel(Synchronisation::Synchronised).1
    }

    fn machine(&self) -> String {
        "simulated".to_owned()
    }

    fn program_digest(&self, _seed: &[u8]) -> Answer<[u8; 32]> {
        Box::pin(async { [0; 32] })
    }

    fn open(
        &self,
        _journal: &JournalConfig,
        _owner: &Owner,
        _machine: &str,
        _now: Timestamp,
        begin: Begin,
    ) -> Result<Found, OpenError> {
        self.disk.open(Arc::clone(&self.life), begin)
    }

    fn count_connection(&self, _journal: &JournalConfig, _now: Timestamp) -> u64 {
        self.disk.count_next(0).0
    }

    fn ports(&self) -> Arc<dyn Ports> {
        Arc::<Harbour>::clone(&self.ports)
    }

    fn brokers(&self) -> Arc<dyn Brokers> {
        Arc::<Ways>::clone(&self.brokers)
    }

    fn run(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) -> JoinHandle<()> {
        self.life.run(task)
    }
}

/// Virtual time, and a wall clock that somebody may set.
#[derive(Debug)]
struct VirtualClock {
    began: Instant,
    eyes: Eyes,
    set: Arc<AtomicI64>,
}

impl Clock for VirtualClock {
    fn uptime(&self) -> Uptime {
        Uptime::ZERO + self.began.elapsed()
    }

    fn wall(&self) -> Timestamp {
        let since = i64::try_from(self.eyes.now().as_micros()).unwrap_or(i64::MAX);
        let set = self.set.load(Ordering::Relaxed);
        Timestamp::from_unix_micros(BEGAN_US.saturating_add(since).saturating_add(set))
    }
}
