//! What is explored: a table as the gateway uses it, or one with an error planted in it.

use crate::table::event::{Event, TableCheckpoint, TableState};
use crate::table::indicators::Indicators;
use crate::table::input::Input;
use crate::table::{Decision, Seen, Table};
use crate::time::Uptime;

/// What the gateway does with a table.
pub trait Machine: Clone {
    fn decide(&self, now: Uptime, input: &Input) -> Decision;
    fn apply(&mut self, event: &Event);
    fn note(&mut self, seen: Seen);
    fn deadline(&self) -> Option<Uptime>;
    fn indicators(&self) -> Indicators;
    fn state(&self) -> TableState;
    fn checkpoint(&self) -> TableCheckpoint;
    /// The same table before it had a history: what a start of the daemon folds the journal into.
    fn without_history(&self) -> Self;
    fn table(&self) -> &Table;
}

impl Machine for Table {
    fn decide(&self, now: Uptime, input: &Input) -> Decision {
        Table::decide(self, now, input)
    }

    fn apply(&mut self, event: &Event) {
        Table::apply(self, event);
    }

    fn note(&mut self, seen: Seen) {
        Table::note(self, seen);
    }

    fn deadline(&self) -> Option<Uptime> {
        Table::deadline(self)
    }

    fn indicators(&self) -> Indicators {
        Table::indicators(self)
    }

    fn state(&self) -> TableState {
        Table::state(self)
    }

    fn checkpoint(&self) -> TableCheckpoint {
        Table::checkpoint(self)
    }

    fn without_history(&self) -> Self {
        Table::new(self.config.clone())
    }

    fn table(&self) -> &Table {
        self
    }
}
