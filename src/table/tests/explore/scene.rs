//! One state of an exploration: a table, its devices and what the law has read of its events; and how an act leads to the next.
//!
//! It stands where the gateway stands: it makes events of facts, decodes and applies them, keeps what was seen, carries wishes to
//! the devices, and fires deadlines. The first thing that doesn't hold is kept as the scene's fault.

use super::form::{Form, Formed, Key16};
use super::law::{Law, Lights};
use super::machine::Machine;
use super::world::{Act, World, ms, person};
use crate::rules::concordance;
use crate::table::event::{Body, CheckpointRecorded, Event, Fact, GatewayStarted, GatewayStopped};
use crate::table::input::{Contact, Cover, DeviceKind, Input, Motion, Seal};
use crate::table::rejection;
use crate::table::seen::RefusedActs;
use crate::time::Uptime;
use prost::Message;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// Facts in one decision, at most.
const MOST_FACTS: usize = 16;
/// No event is longer: the floor's limit.
const LONGEST_EVENT: usize = 8 * 1024;
/// A deadline that is still due after this many firings at one moment will never move.
const STUCK_AFTER: u32 = 20;
/// A run's first moment: the journal was opened and verified before.
const RUN_BEGINS: Uptime = Uptime::from_millis(1_000);

#[derive(Clone)]
pub struct Scene<M, L> {
    pub machine: M,
    pub law: L,
    pub world: World,
    pub now: Uptime,
    /// The events of the newest act, as they come out of their bytes.
    pub events: Vec<Event>,
    seqno: u64,
    pub fault: Option<String>,
}

impl<M: Machine, L: Law> Scene<M, L> {
    /// A closed table that was started for the first time; no device was greeted.
    pub fn new(machine: M, law: L, world: World) -> Self {
        let mut scene = Scene {
            machine,
            law,
            world,
            now: RUN_BEGINS,
            events: Vec::new(),
            seqno: 0,
            fault: None,
        };
        scene.starts();
        scene
    }

    /// The state after an act; its fault when something doesn't hold.
    pub fn after(&self, act: &Act) -> Self {
        let mut next = self.clone();
        next.events.clear();
        let done = catch_unwind(AssertUnwindSafe(|| next.perform(act)));
        if let Err(panic) = done {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_string()));
            next.fault = Some(format!("panicked: {}", text.unwrap_or_default()));
        }
        next
    }

    pub fn key(&self) -> Key16 {
        let table = self.machine.table();
        let mut form = Form::new(self.now, &self.world, &table.state, &table.seen);
        table.state.form(&mut form);
        table.seen.form(&mut form);
        self.world.form(&mut form);
        self.law.form(&mut form);
        form.digest()
    }

    /// What must hold of a state, beside what each step has shown: it is what its events say, and what it publishes is the law's.
    pub fn check(&self, before: &Self) -> Result<(), String> {
        self.law.compare(&self.machine.state())?;
        let live = &self.machine.table().state;
        let bytes = CheckpointRecorded {
            state: Some(self.machine.checkpoint()),
            ..CheckpointRecorded::default()
        };
        let bytes = event_of(self.now, self.seqno, bytes).encode_to_vec();
        if bytes.len() > LONGEST_EVENT {
            return Err(format!("a checkpoint of {} bytes", bytes.len()));
        }
        let mut restored = self.machine.without_history();
        restored.apply(&Event::decode(&*bytes).unwrap());
        if restored.table().state != *live {
            return Err(format!(
                "the checkpoint gives another state\nlive:     {live:?}\nrestored: {:?}",
                restored.table().state
            ));
        }
        // The state before is what its events say: so is this one, when this act's events lead from there to here.
        let mut folded = before.machine.without_history();
        let bytes = CheckpointRecorded {
            state: Some(before.machine.checkpoint()),
            ..CheckpointRecorded::default()
        };
        folded.apply(&event_of(before.now, before.seqno, bytes));
        self.events.iter().for_each(|event| folded.apply(event));
        if folded.table().state != *live {
            return Err(format!(
                "the checkpoint before and its tail give another state\nlive:   {live:?}\nfolded: {:?}",
                folded.table().state
            ));
        }
        Ok(())
    }

    fn perform(&mut self, act: &Act) {
        let now = self.now;
        match act {
            Act::NextDeadline => {
                if let Some(at) = self.machine.deadline() {
                    self.pass_until(at);
                }
            }
            Act::Wait(wait) => self.pass_until(now + ms(*wait)),
            Act::SpinBegins | Act::SpinDespite => {
                self.world.tumbler.motion = Motion::Spinning;
                self.world.tumbler.activations += 1;
                self.tumbler_tells(now);
            }
            Act::SpinEnds(spins) => {
                self.world.tumbler.motion = Motion::AtRest;
                self.world.tumbler.spins += spins;
                self.world.tumbler.exposed = self.world.tumbler.cover == Cover::Off;
                self.tumbler_tells(now);
            }
            Act::Cover(cover) => {
                self.world.tumbler.cover = *cover;
                self.world.tumbler.exposed |= *cover == Cover::Off;
                self.tumbler_tells(now);
            }
            Act::CoverLate(cover, late) => {
                self.world.tumbler.cover = *cover;
                self.world.tumbler.exposed |= *cover == Cover::Off;
                self.tumbler_tells(now - ms(*late));
            }
            Act::TumblerFault => {
                let tumbler = &mut self.world.tumbler;
                tumbler.motion = match tumbler.motion {
                    Motion::Fault => Motion::AtRest,
                    Motion::AtRest | Motion::Spinning | Motion::Unknown => Motion::Fault,
                };
                self.tumbler_tells(now);
            }
            Act::Seal => {
                let tumbler = &mut self.world.tumbler;
                tumbler.seal = match tumbler.seal {
                    Seal::Broken => Seal::Intact,
                    Seal::Intact | Seal::Unknown => Seal::Broken,
                };
                self.tumbler_tells(now);
            }
            Act::Reader(reading) => {
                self.world.tumbler.reading.clone_from(reading);
                self.tumbler_tells(now);
            }
            Act::Key(_) | Act::KeysIn(_) | Act::Enter | Act::EnterMore(_) | Act::StaleKey(_) | Act::OldKey(_) => {
                self.keys(act);
            }
            Act::Bell | Act::BellLate(_) | Act::Press(_) | Act::Turn(_) => self.contact(act),
            Act::LampsFollow | Act::LampsAcknowledge | Act::LampsShow(_) | Act::LampsMeasure => self.lamps(act),
            Act::Down(kind) => {
                let input = self.world.breaks(*kind);
                self.feed(&input);
            }
            Act::Up(kind) => self.greet(*kind),
            Act::UpAnew(kind) => {
                self.world.starts_again(*kind);
                self.greet(*kind);
            }
            Act::UpOther => {
                self.world.is_replaced();
                self.greet(DeviceKind::Tumbler);
            }
            Act::TerminalTells => {
                let report = self.world.terminal_report();
                self.feed(&Input::Terminal(report));
            }
            Act::Clocks => self.world.clocks_related = !self.world.clocks_related,
            Act::Restart => self.restarts(),
            Act::StopAndStart => {
                self.feed(&Input::Stopping);
                self.gateway_says(Body::GatewayStopped(GatewayStopped {}));
                self.restarts();
            }
            Act::Comes(input) => self.feed(input),
            Act::Person(role, act) => self.feed(&Input::Operator {
                person: person(*role),
                act: act.clone(),
            }),
        }
    }

    fn tumbler_tells(&mut self, happened: Uptime) {
        if self.world.tumbler.up {
            let report = self.world.tumbler_report();
            self.feed(&Input::Tumbler {
                report,
                happened: Some(happened).filter(|_| self.world.clocks_related),
            });
        }
    }

    fn greet(&mut self, kind: DeviceKind) {
        let input = self.world.greets(kind);
        self.feed(&input);
    }

    fn keys(&mut self, act: &Act) {
        let entry = self.world.terminal.entry;
        let pressed_at = Some(self.now).filter(|_| self.world.clocks_related);
        match act {
            Act::Key(key) => self.press(*key),
            Act::KeysIn(keys) => {
                keys.iter().for_each(|key| self.press(*key));
                self.enter(None);
            }
            Act::EnterMore(key) => self.enter(Some(*key)),
            Act::StaleKey(key) => self.feed(&Input::Key {
                key: *key,
                entry,
                pressed_at,
                stale: true,
            }),
            Act::OldKey(key) => self.feed(&Input::Key {
                key: *key,
                entry: entry.wrapping_sub(1),
                pressed_at,
                stale: false,
            }),
            _ => self.enter(None),
        }
    }

    fn press(&mut self, key: crate::table::input::Key) {
        self.world.terminal.key(key);
        self.feed(&Input::Key {
            key,
            entry: self.world.terminal.entry,
            pressed_at: Some(self.now).filter(|_| self.world.clocks_related),
            stale: false,
        });
    }

    /// ENTER, with what the terminal shows; `more` it shows though the gateway hasn't heard of it.
    fn enter(&mut self, more: Option<crate::table::input::Key>) {
        if let Some(key) = more {
            self.world.terminal.key(key);
        }
        let shown = self.world.terminal.keys.clone();
        self.feed(&Input::Entry {
            shown,
            entry: self.world.terminal.entry,
            pressed_at: Some(self.now).filter(|_| self.world.clocks_related),
            stale: false,
        });
    }

    fn contact(&mut self, act: &Act) {
        let (contact, at) = match act {
            Act::BellLate(late) => (Contact::Bell, self.now - ms(*late)),
            Act::Press(contact) | Act::Turn(contact) => (*contact, self.now),
            _ => (Contact::Bell, self.now),
        };
        match act {
            Act::Turn(_) if self.world.terminal.wire(contact).closed => self.world.terminal.opens(contact),
            Act::Turn(_) => self.world.terminal.closes(contact, at),
            _ => {
                self.world.terminal.closes(contact, at);
                self.contact_tells(contact);
                self.world.terminal.opens(contact);
            }
        }
        self.contact_tells(contact);
    }

    fn contact_tells(&mut self, contact: Contact) {
        if self.world.terminal.up {
            let report = self.world.contact_report(contact);
            self.feed(&Input::Contact(report));
        }
    }

    fn lamps(&mut self, act: &Act) {
        match act {
            Act::LampsMeasure => {
                self.world.lamps.measured = !self.world.lamps.measured;
                self.world.lamps.shown.clone_from(&self.world.lamps.told);
                self.lamps_tell();
            }
            Act::LampsShow(shown) => {
                self.world.lamps.shown = self.world.showing(*shown);
                self.lamps_tell();
            }
            _ => {
                self.world.lamps.told.clone_from(&self.world.lamps.wanted);
                if !self.world.lamps.measured {
                    self.world.lamps.shown.clone_from(&self.world.lamps.told);
                }
                let lit = self.world.lamps.told.clone();
                self.feed(&Input::LampsAcknowledged { lit });
                if *act == Act::LampsFollow {
                    self.world.lamps.shown.clone_from(&self.world.lamps.told);
                    self.lamps_tell();
                }
            }
        }
    }

    fn lamps_tell(&mut self) {
        let report = self.world.lamp_report();
        self.feed(&Input::Lamps(report));
    }

    /// Time passes; what is due on the way is fired when it is due.
    fn pass_until(&mut self, end: Uptime) {
        let mut fired = 0;
        while let Some(at) = self.machine.deadline().filter(|at| *at <= end) {
            if self.fault.is_some() {
                return;
            }
            fired = if at > self.now { 1 } else { fired + 1 };
            if fired > STUCK_AFTER {
                self.fault = Some(format!("the deadline at {at:?} fires for ever"));
                return;
            }
            self.now = self.now.max(at);
            self.feed(&Input::Deadline);
        }
        self.now = self.now.max(end);
    }

    fn starts(&mut self) {
        self.gateway_says(Body::GatewayStarted(GatewayStarted::default()));
        self.feed(&Input::Started);
    }

    /// The journal is all that is left; what it gives back was compared with the live table when this state was checked.
    fn restarts(&mut self) {
        self.world.loses_gateway();
        let mut machine = self.machine.without_history();
        let checkpoint = CheckpointRecorded {
            state: Some(self.machine.checkpoint()),
            ..CheckpointRecorded::default()
        };
        machine.apply(&event_of(self.now, self.seqno, checkpoint));
        self.machine = machine;
        self.now = RUN_BEGINS;
        self.starts();
    }

    /// A fact of the gateway's own.
    fn gateway_says(&mut self, body: Body) {
        self.record(Fact {
            body,
            actor: None,
            device: None,
            rules: Vec::new(),
            round_id: 0,
        });
    }

    fn record(&mut self, fact: Fact) {
        self.seqno += 1;
        if let Some(unknown) = fact.rules.iter().find(|rule| !is_known(rule)) {
            self.fault
                .get_or_insert(format!("a fact cites {unknown:?}, which the concordance doesn't know"));
        }
        let event = Event {
            seqno: self.seqno,
            uptime_us: self.now.as_micros(),
            round_id: fact.round_id,
            actor: fact.actor,
            device: fact.device,
            rules: fact.rules,
            body: Some(fact.body),
            ..Event::default()
        };
        let bytes = event.encode_to_vec();
        if bytes.len() > LONGEST_EVENT {
            self.fault = Some(format!("an event of {} bytes", bytes.len()));
        }
        let event = Event::decode(&*bytes).unwrap();
        if let Err(wrong) = self.law.read(&event, &self.world) {
            let body = event.body.as_ref();
            self.fault.get_or_insert(format!("{wrong}\nby the event {body:?}"));
        }
        if self.fault.is_some() {
            return;
        }
        self.machine.apply(&event);
        self.events.push(event);
    }

    fn feed(&mut self, input: &Input) {
        if self.fault.is_some() {
            return;
        }
        let decision = self.machine.decide(self.now, input);
        if decision.facts.len() > MOST_FACTS {
            self.fault = Some(format!("{} facts in one decision", decision.facts.len()));
        }
        let asked = matches!(input, Input::Operator { .. });
        if decision.answer.is_some() != asked {
            self.fault = Some(format!("answered with {:?}", decision.answer));
        }
        if let Some(Err(refused)) = &decision.answer
            && !is_known_or_house(refused.rule)
        {
            self.fault = Some(format!(
                "refused by {:?}, which the concordance doesn't know",
                refused.rule
            ));
        }
        let told = decision
            .facts
            .iter()
            .any(|fact| matches!(fact.body, Body::TumblerStarted(_)));
        if told == decision.commands.is_empty() {
            self.fault = Some(format!(
                "{:?} leave, and what is recorded is another",
                decision.commands
            ));
        }
        self.law.decides(input);
        for fact in decision.facts {
            self.record(fact);
        }
        if self.fault.is_some() {
            return;
        }
        // Refused acts are only counted: with their times there would be many states that differ in nothing else.
        let mut seen = decision.seen;
        seen.refused_acts = RefusedActs::default();
        self.machine.note(seen);
        let indicators = self.machine.indicators();
        let lit = &indicators.lamps.lit;
        match self.law.lights() {
            Lights::Are(pictures) if !pictures.contains(lit) => {
                self.fault
                    .get_or_insert(format!("lit are {lit:?}, and not one of {pictures:?}"));
            }
            Lights::Are(_) | Lights::Any => {}
        }
        self.world.hears(&indicators);
        if let Some(at) = self.machine.deadline()
            && at < self.now
        {
            self.fault
                .get_or_insert(format!("a deadline in the past: {at:?} at {:?}", self.now));
        }
    }
}

fn event_of(now: Uptime, seqno: u64, checkpoint: CheckpointRecorded) -> Event {
    Event {
        seqno,
        uptime_us: now.as_micros(),
        body: Some(Body::CheckpointRecorded(checkpoint)),
        ..Event::default()
    }
}

/// Citations that were asked for, and whether the concordance knows them: asking takes long.
static CITED: Mutex<BTreeMap<String, bool>> = Mutex::new(BTreeMap::new());

fn is_known(citation: &str) -> bool {
    let mut cited = CITED.lock().unwrap();
    match cited.get(citation) {
        Some(known) => *known,
        None => {
            let known = concordance::look_up(citation).is_ok();
            cited.insert(citation.to_string(), known);
            known
        }
    }
}

/// A refusal may also stand on no rule, or on the table's own.
fn is_known_or_house(citation: &str) -> bool {
    citation.is_empty() || citation == rejection::STALE.rule || is_known(citation)
}
