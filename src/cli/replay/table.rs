//! A fresh table that hears what was captured. It is a machine without hands: nothing that it decides goes anywhere.

use crate::device::Follower;
use crate::table::event::{Body, Event, GatewayStarted};
use crate::table::input::{Input, OperatorAct, Person, Role};
use crate::table::{Table, TableConfig};
use crate::time::{Timestamp, Uptime};

/// A deadline that comes again and again would be a defect; after so many at one moment the replay goes on.
const DEADLINES_AT_ONCE: usize = 64;

/// The table.
pub struct Replayed {
    table: Table,
    seqno: u64,
    /// The wall clock at the table's beginning.
    began: Timestamp,
    now: Uptime,
    opened: Opened,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Opened {
    No,
    Yes,
}

impl Replayed {
    /// A table that begins `at` this time of the capture.
    pub fn new(config: TableConfig, began: Timestamp) -> Replayed {
        let mut replayed = Replayed {
            table: Table::new(config),
            seqno: 0,
            began,
            now: Uptime::ZERO,
            opened: Opened::No,
        };
        // What the daemon records before the table hears of anything.
        let started = replayed.event(Body::GatewayStarted(GatewayStarted::default()), 0);
        replayed.table.apply(&started);
        let _first = replayed.feed(&Input::Started);
        replayed
    }

    /// Time passes; what it brings.
    pub fn pass(&mut self, until: Uptime) -> Vec<Event> {
        let mut events = Vec::new();
        for _ in 0..DEADLINES_AT_ONCE {
            match self.table.deadline() {
                Some(at) if at <= until => {
                    self.now = self.now.max(at);
                    events.extend(self.decide(&Input::Deadline));
                }
                Some(_) | None => break,
            }
        }
        self.now = self.now.max(until);
        events
    }

    /// What the table makes of an input.
    pub fn feed(&mut self, input: &Input) -> Vec<Event> {
        let mut events = self.decide(input);
        events.extend(self.pass(self.now));
        events
    }

    /// An input of a device, with the entry that the table of then allowed in the words of this one.
    pub fn hear(&mut self, input: Input, of: &Follower) -> Vec<Event> {
        let ours = self.table.indicators().readout.entry;
        // What was typed for another entry than the one then allowed stays another one.
        let translated = |entry: u32| match of.entry() {
            Some(theirs) if theirs != entry => 0,
            Some(_) | None => ours,
        };
        let input = match input {
            Input::Key {
                key,
                entry,
                pressed_at,
                stale,
            } => Input::Key {
                key,
                entry: translated(entry),
                pressed_at,
                stale,
            },
            Input::Entry {
                shown,
                entry,
                pressed_at,
                stale,
            } => Input::Entry {
                shown,
                entry: translated(entry),
                pressed_at,
                stale,
            },
            other @ (Input::Started
            | Input::DeviceUp { .. }
            | Input::DeviceDown { .. }
            | Input::Tumbler { .. }
            | Input::Terminal(_)
            | Input::Contact(_)
            | Input::Lamps(_)
            | Input::LampsAcknowledged { .. }
            | Input::DeviceFault { .. }
            | Input::ReadUnderCover
            | Input::Condition { .. }
            | Input::Operator { .. }
            | Input::ActForbidden { .. }
            | Input::OperatorGone { .. }
            | Input::SoftwareVerified { .. }
            | Input::Stopping
            | Input::Deadline) => other,
        };
        self.feed(&input)
    }

    /// Opens the table, once: acts of people are in no capture.
    pub fn open(&mut self) -> Vec<Event> {
        if self.opened == Opened::Yes {
            return Vec::new();
        }
        self.opened = Opened::Yes;
        self.feed(&Input::Operator {
            person: Person {
                name: "replay".to_owned(),
                login: None,
                role: Role::Supervisor,
                connection: 1,
            },
            act: OperatorAct::OpenVouched,
        })
    }

    fn decide(&mut self, input: &Input) -> Vec<Event> {
        let decision = self.table.decide(self.now, input);
        let mut events = Vec::new();
        for fact in decision.facts {
            let mut event = self.event(fact.body, fact.round_id);
            (event.actor, event.device, event.rules) = (fact.actor, fact.device, fact.rules);
            self.table.apply(&event);
            events.push(event);
        }
        self.table.note(decision.seen);
        events
    }

    fn event(&mut self, body: Body, round_id: u64) -> Event {
        self.seqno += 1;
        let uptime_us = self.now.as_micros();
        let wall = self.began.as_unix_micros().saturating_add_unsigned(uptime_us);
        Event {
            seqno: self.seqno,
            uptime_us,
            round_id,
            recorded_at: Some(Timestamp::from_unix_micros(wall).into()),
            body: Some(body),
            ..Event::default()
        }
    }
}
