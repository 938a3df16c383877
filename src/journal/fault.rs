//! Lets a test make appends fail or hang. Without [`super::Options::faults`] nothing here runs.

use std::sync::Mutex;
use std::time::Duration;

/// What happens to every append while it is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Fails as if the disk were full.
    Full,
    /// Fails as if the disk had failed.
    Io,
    /// Takes this much longer, then succeeds unless it has been given up.
    Slow(Duration),
}

/// A switch that a test holds beside the journal.
#[derive(Debug, Default)]
pub struct Faults {
    current: Mutex<Option<Fault>>,
}

impl Faults {
    /// From now on every append has this fault; `None`: none.
    pub fn set(&self, fault: Option<Fault>) {
        *self.current.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = fault;
    }

    pub(super) fn current(&self) -> Option<Fault> {
        *self.current.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
