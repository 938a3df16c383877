//! What the gateway's own tests share: a clock whose wall jumps when told to.

use crate::time::{Clock, Timestamp, Uptime};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

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
