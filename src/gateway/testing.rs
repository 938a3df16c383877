//! What the gateway's own tests share: a clock whose wall jumps when told to.

use super::inputs::Asked;
use super::rounds::Rounds;
use super::view::{JournalView, StateView, TableView};
use super::{ClockSource, Handle, Reports};
use crate::table::event::{ClockQuality, TableState};
use crate::time::{Clock, Timestamp, Uptime};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// Both clocks stand still until a test moves them.
#[derive(Debug)]
pub(super) struct SteppingClock {
    uptime: AtomicU64,
    offset: AtomicI64,
}

impl SteppingClock {
    pub(super) fn shared() -> Arc<Self> {
        Arc::new(SteppingClock {
            uptime: AtomicU64::new(0),
            offset: AtomicI64::new(1_700_000_000_000_000),
        })
    }

    /// Time passes on both clocks.
    pub(super) fn advance(&self, by: Duration) {
        let micros = u64::try_from(by.as_micros()).unwrap();
        self.uptime.fetch_add(micros, Ordering::Relaxed);
    }

    /// Somebody sets the wall clock.
    pub(super) fn step(&self, micros: i64) {
        self.offset.fetch_add(micros, Ordering::Relaxed);
    }
}

impl Clock for SteppingClock {
    fn uptime(&self) -> Uptime {
        Uptime::from_micros(self.uptime.load(Ordering::Relaxed))
    }

    fn wall(&self) -> Timestamp {
        let uptime = i64::try_from(self.uptime.load(Ordering::Relaxed)).unwrap();
        Timestamp::from_unix_micros(self.offset.load(Ordering::Relaxed) + uptime)
    }
}

/// The runtime's clock, which tests pause, and a wall clock that keeps step with it until somebody sets it.
#[derive(Debug)]
pub(crate) struct PausedClock(tokio::time::Instant, AtomicI64);

impl PausedClock {
    pub(crate) fn shared() -> Arc<Self> {
        let wall = AtomicI64::new(1_700_000_000_000_000);
        Arc::new(PausedClock(tokio::time::Instant::now(), wall))
    }

    /// Somebody sets the wall clock.
    pub(crate) fn step(&self, micros: i64) {
        self.1.fetch_add(micros, Ordering::Relaxed);
    }
}

impl Clock for PausedClock {
    fn uptime(&self) -> Uptime {
        Uptime::ZERO + self.0.elapsed()
    }

    fn wall(&self) -> Timestamp {
        let uptime = i64::try_from(self.uptime().as_micros()).unwrap();
        Timestamp::from_unix_micros(self.1.load(Ordering::Relaxed) + uptime)
    }
}

/// A handle without a table behind it: what it is asked comes out of the receiver.
pub(crate) fn handle() -> (Handle, mpsc::Receiver<Asked>, watch::Sender<Arc<TableView>>) {
    let (people, asked) = mpsc::channel(4);
    let (view, table) = watch::channel(Arc::new(view()));
    let (_, reports) = watch::channel(Reports::default());
    let handle = Handle {
        clock: SteppingClock::shared(),
        people,
        peeks: mpsc::channel(1).0,
        table,
        state: watch::channel(TableState::default()).1,
        reports,
        counts: watch::channel(super::Counts::default()).1,
        stop: Arc::new(watch::channel(false).0),
        verifier: super::verify::Desk::new().0,
    };
    (handle, asked, view)
}

/// What is seen of a table that does nothing.
pub(crate) fn view() -> TableView {
    TableView {
        site: "harbour".into(),
        table: "TS-07".into(),
        version: "0".into(),
        run_id: "run".into(),
        started_unix_ms: 0,
        game: "tai-sai".into(),
        style: Some("A".into()),
        layout: "appendix-1".into(),
        uptime_ms: 0,
        phase_since_ms: None,
        state: StateView::default(),
        situation: Default::default(),
        rounds: Rounds::default(),
        checks: Vec::new(),
        tests: Vec::new(),
        fault: None,
        approval_enforced: false,
        software: Default::default(),
        journal: JournalView::default(),
        clock: ClockQuality::Unsynchronised,
        clock_source: ClockSource::default(),
    }
}
