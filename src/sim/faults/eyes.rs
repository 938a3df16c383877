//! What everybody in the simulated world shares: the virtual clock of the whole simulation, and the trace that is told what is seen.

use super::trace::{Outcome, Seen, Trace};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Locks what one thread shares with itself; a panic of the gateway leaves nothing half done here.
pub(super) fn hold<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells the trace what is seen, and when.
#[derive(Clone, Debug)]
pub(super) struct Eyes {
    trace: Arc<Mutex<Trace>>,
    began: Instant,
}

impl Eyes {
    /// The simulation begins now.
    pub(super) fn new(trace: Trace) -> Self {
        Eyes {
            trace: Arc::new(Mutex::new(trace)),
            began: Instant::now(),
        }
    }

    /// Something is seen now.
    pub(super) fn see(&self, seen: &Seen<'_>) {
        hold(&self.trace).see(self.now(), seen);
    }

    /// Virtual time since the simulation began.
    pub(super) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// What the judges found.
    pub(super) fn outcome(&self) -> Outcome {
        hold(&self.trace).outcome()
    }
}
