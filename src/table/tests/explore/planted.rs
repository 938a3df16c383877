//! Tables with one error each, which a search must find.

use super::machine::Machine;
use super::search::{Bounds, Game, search};
use crate::table::event::{Body, Event, TableCheckpoint, TableState};
use crate::table::indicators::Indicators;
use crate::table::input::Input;
use crate::table::{Decision, Seen, Table};
use crate::time::Uptime;
use std::time::Instant;

/// What a table does, one part of it wrongly.
#[derive(Clone, Copy)]
pub struct Error {
    pub name: &'static str,
    /// What the search must say of it.
    pub says: &'static str,
    pub decide: fn(&Table, Uptime, &Input) -> Decision,
    pub apply: fn(&mut Table, &Event),
    pub note: fn(&mut Table, Seen),
    pub deadline: fn(&Table) -> Option<Uptime>,
    pub indicators: fn(&Table) -> Indicators,
    pub checkpoint: fn(&Table) -> TableCheckpoint,
}

/// Nothing is wrong.
pub const NONE: Error = Error {
    name: "",
    says: "",
    decide: Table::decide,
    apply: Table::apply,
    note: Table::note,
    deadline: Table::deadline,
    indicators: Table::indicators,
    checkpoint: Table::checkpoint,
};

#[derive(Clone)]
struct Planted {
    table: Table,
    error: Error,
}

impl Machine for Planted {
    fn decide(&self, now: Uptime, input: &Input) -> Decision {
        (self.error.decide)(&self.table, now, input)
    }

    fn apply(&mut self, event: &Event) {
        (self.error.apply)(&mut self.table, event);
    }

    fn note(&mut self, seen: Seen) {
        (self.error.note)(&mut self.table, seen);
    }

    fn deadline(&self) -> Option<Uptime> {
        (self.error.deadline)(&self.table)
    }

    fn indicators(&self) -> Indicators {
        (self.error.indicators)(&self.table)
    }

    fn state(&self) -> TableState {
        self.table.state()
    }

    fn checkpoint(&self) -> TableCheckpoint {
        (self.error.checkpoint)(&self.table)
    }

    fn without_history(&self) -> Self {
        Planted {
            table: self.table.without_history(),
            error: self.error,
        }
    }

    fn table(&self) -> &Table {
        &self.table
    }
}

/// What an error is looked for within: as an everyday run's widest.
const BOUNDS: Bounds = Bounds {
    deviations: 2,
    depth: 2,
    states: usize::MAX,
};

/// The search finds each error, says what is wrong, and prints the way to it.
pub fn are_found<G: Game>(game: &G, errors: &[Error]) {
    for error in errors {
        let planted = Planted {
            table: Table::new(game.config()),
            error: *error,
        };
        let began = Instant::now();
        match search(game, &planted, BOUNDS) {
            Ok(counts) => panic!("{}: {:?} was not found: {counts}", game.name(), error.name),
            Err(found) => {
                let told = found.to_string();
                assert!(
                    found.what.contains(error.says) && !found.way.is_empty(),
                    "{}: {:?} should say {:?}, and says {told}",
                    game.name(),
                    error.name,
                    error.says
                );
                let seconds = began.elapsed().as_secs_f64();
                println!("{}: {:?} is found in {seconds:.1} s: {told}", game.name(), error.name);
            }
        }
    }
}

/// What the table would decide if it were another in one respect.
pub fn as_if(table: &Table, now: Uptime, input: &Input, change: impl FnOnce(&mut Table)) -> Decision {
    let mut other = table.clone();
    change(&mut other);
    other.decide(now, input)
}

/// The decision with its facts' bodies changed.
pub fn with_bodies(mut decision: Decision, mut change: impl FnMut(&mut Body)) -> Decision {
    decision.facts.iter_mut().for_each(|fact| change(&mut fact.body));
    decision
}

/// The decision without facts of a kind.
pub fn without(mut decision: Decision, dropped: impl Fn(&Body) -> bool) -> Decision {
    decision.facts.retain(|fact| !dropped(&fact.body));
    decision
}
