//! Connections of runs of before the disk went back: what they sent may arrive later, while a broker stalls, and tells of what did not happen any more.

use crate::sim::faults::trace::{Connection, Seen};

#[derive(Default)]
pub(super) struct OfTheDead {
    /// The newest connection that a broker has accepted.
    newest: Connection,
    /// The newest one of before the disk went back.
    last: Connection,
}

impl OfTheDead {
    pub(super) fn look(&mut self, seen: &Seen<'_>) {
        match seen {
            Seen::Connected { connection } => self.newest = self.newest.max(*connection),
            Seen::WentBack { .. } => self.last = self.newest,
            _ => {}
        }
    }

    /// The run that made this connection ended before the disk went back.
    pub(super) fn has(&self, connection: Connection) -> bool {
        connection <= self.last
    }
}
