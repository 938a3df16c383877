//! A two-up table with its devices, driven by a script. It stands where the gateway stands: it numbers and encodes facts, decodes and
//! applies them, keeps what was seen, and carries the indicators to pretend devices.

use prost::Message;
use std::collections::BTreeSet;
use std::time::Duration;
use tablegate::rules::tai_sai::{Layout, Style};
use tablegate::rules::triple_penny::Display;
use tablegate::rules::two_up_dice::machine::FirstThree;
use tablegate::table::event::{
    ActorKind, Body, CheckpointRecorded, DeviceOfflineReason, Event, Fact, GatewayStarted, TableCheckpoint, TableState,
};
use tablegate::table::indicators::Indicators;
use tablegate::table::input::{
    Contact, ContactReport, DeviceIdentity, DeviceKind, DeviceStatus, Input, Key, LampReport, OperatorAct, Person,
    Role, TerminalReport, TestStep, TwoUpKey,
};
use tablegate::table::{
    Approval, GameConfig, MisKeyed, Table, TableConfig, TaiSaiConfig, TriplePennyConfig, TwoUpDiceConfig,
};
use tablegate::time::Uptime;

pub const HEADS: Key = Key::TwoUp(TwoUpKey::Heads);
pub const TAILS: Key = Key::TwoUp(TwoUpKey::Tails);
pub const ODDS: Key = Key::TwoUp(TwoUpKey::Odds);
pub const TRIPLE_HEADS: Key = Key::TwoUp(TwoUpKey::TripleHeads);
pub const TRIPLE_TAILS: Key = Key::TwoUp(TwoUpKey::TripleTails);
pub const NO_SPIN: Key = Key::NoSpin;
pub const NEW_SPINNER: Key = Key::TwoUp(TwoUpKey::NewSpinner);
pub const STOPS: Key = Key::TwoUp(TwoUpKey::SpinnerStops);
pub const RELIEVE: Key = Key::TwoUp(TwoUpKey::Relieve);
pub const OFF_TABLE: Key = Key::TwoUp(TwoUpKey::OffTable);
pub const NEW_SET: Key = Key::TwoUp(TwoUpKey::NewSet);
pub const OVERRULE: Key = Key::TwoUp(TwoUpKey::Overrule);

/// Facts in one decision, at most.
const MOST_FACTS: usize = 16;

/// No event is longer: the floor's limit.
const LONGEST_EVENT: usize = 8 * 1024;

/// A deadline that is still due after this many firings at one moment will never move.
const STUCK_AFTER: u32 = 20;

/// How the lights answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lights {
    /// They measure what is lit.
    Measure,
    /// They repeat the command.
    Repeat,
    /// They acknowledge nothing.
    Mute,
}

#[derive(Clone)]
pub struct Scene {
    pub config: TableConfig,
    pub table: Table,
    pub now: u64,
    run_began: u64,
    pub events: Vec<Event>,
    mark: usize,
    up: BTreeSet<DeviceKind>,
    contacts: Vec<ContactReport>,
    boot_id: u32,
    pub lights: Lights,
    /// Bits of lights that don't burn, and of lights that always do.
    pub dark: BTreeSet<u16>,
    pub stuck: BTreeSet<u16>,
    commanded: Vec<u8>,
    sent: Indicators,
    /// Lamp reports under way: when, and which picture was acknowledged.
    later: Vec<u64>,
    last_entry: u32,
}

pub fn dice() -> TableConfig {
    config(GameConfig::TwoUpDice(TwoUpDiceConfig {
        first_three: FirstThree::ComesBack,
        mis_keyed: MisKeyed::Correct,
        lamp_wait: Duration::from_millis(800),
    }))
}

pub fn coins() -> TableConfig {
    coins_by(Display::Lights)
}

pub fn coins_by(display: Display) -> TableConfig {
    config(GameConfig::TriplePenny(TriplePennyConfig {
        display,
        mis_keyed: MisKeyed::Correct,
        lamp_wait: Duration::from_millis(800),
    }))
}

pub fn tai_sai() -> GameConfig {
    GameConfig::TaiSai(TaiSaiConfig {
        style: Style::A,
        layout: Layout::Appendix1,
        lamp_map: (0..50).map(|bit| vec![bit]).collect(),
        rest: Duration::from_secs(3),
        settle_after: Duration::from_secs(3),
        cover_settles_after: Duration::from_secs(5),
        hold_no_spin_after_uncover: true,
        display_fault_locks: false,
        lamp_wait: Duration::from_millis(800),
    })
}

pub fn config(game: GameConfig) -> TableConfig {
    TableConfig {
        game,
        approval: Approval::NotEnforced,
    }
}

pub fn supervisor() -> Person {
    Person {
        name: "maria".into(),
        login: None,
        role: Role::Supervisor,
        connection: 1,
    }
}

/// Plays a script at an open table, and recovers it from its events.
pub fn play(config: TableConfig, script: impl FnOnce(&mut Scene)) {
    let mut scene = Scene::new(config);
    scene.open();
    scene.forget();
    script(&mut scene);
    scene.recover();
}

impl Scene {
    /// A closed table, its devices greeted.
    pub fn new(config: TableConfig) -> Self {
        let contact = |contact| ContactReport {
            contact,
            closed: contact == Contact::CabinetDoor,
            closings: 0,
            last_closed: None,
        };
        let mut scene = Scene {
            table: Table::new(config.clone()),
            config,
            now: 1_000_000,
            run_began: 1_000_000,
            events: Vec::new(),
            mark: 0,
            up: BTreeSet::new(),
            contacts: [
                Contact::Bell,
                Contact::SupervisorKey,
                Contact::NoSpinButton,
                Contact::CabinetDoor,
            ]
            .map(contact)
            .to_vec(),
            boot_id: 1,
            lights: Lights::Measure,
            dark: BTreeSet::new(),
            stuck: BTreeSet::new(),
            commanded: Vec::new(),
            sent: Indicators::default(),
            later: Vec::new(),
            last_entry: 0,
        };
        scene.start();
        scene.greet(DeviceKind::Terminal);
        if scene.has_lights() {
            scene.greet(DeviceKind::ResultLights);
        }
        scene.wait(2000);
        scene
    }

    pub fn has_lights(&self) -> bool {
        match &self.config.game {
            GameConfig::TwoUpDice(_) => true,
            GameConfig::TriplePenny(config) => config.display == Display::Lights,
            _ => false,
        }
    }

    fn start(&mut self) {
        self.write(Body::GatewayStarted(GatewayStarted::default()), 0);
        self.feed(Input::Started);
    }

    pub fn open(&mut self) {
        self.act(OperatorAct::OpenVouched).unwrap();
    }

    pub fn uptime(&self) -> Uptime {
        Uptime::from_micros(self.now - self.run_began)
    }

    fn write(&mut self, body: Body, round_id: u64) {
        let event = Event {
            seqno: self.events.len() as u64 + 1,
            uptime_us: self.uptime().as_micros(),
            round_id,
            body: Some(body),
            ..Event::default()
        };
        self.keep(event);
    }

    fn keep(&mut self, event: Event) {
        let bytes = event.encode_to_vec();
        assert!(bytes.len() <= LONGEST_EVENT, "an event of {} bytes", bytes.len());
        let event = Event::decode(&*bytes).unwrap();
        self.table.apply(&event);
        self.events.push(event);
    }

    pub fn feed(&mut self, input: Input) -> Option<Result<String, String>> {
        let decision = self.table.decide(self.uptime(), &input);
        assert!(decision.facts.len() <= MOST_FACTS, "{:?}", decision.facts);
        if let Input::Operator { person, act } = &input {
            let named = decision.facts.iter().filter_map(|fact| fact.actor.as_ref());
            let named = named.filter(|actor| actor.kind() == ActorKind::Supervisor && actor.name == person.name);
            // A refusal like the one before is only counted; something else may have become due in the same moment.
            let is_refusal = |fact: &Fact| matches!(fact.body, Body::ActRefused(_));
            let is_counted = matches!(decision.answer, Some(Err(_))) && !decision.facts.iter().any(is_refusal);
            let changes_nothing = matches!(
                act,
                OperatorAct::WalkLamps
                    | OperatorAct::LightTestEntry { .. }
                    | OperatorAct::LightTestOutcome { .. }
                    | OperatorAct::DeviceTest(TestStep::Light { .. } | TestStep::Ask { .. } | TestStep::Say { .. })
            );
            assert!(
                named.count() > 0 || is_counted || changes_nothing,
                "{act:?} leaves no event with a name"
            );
        }
        for fact in decision.facts {
            let event = Event {
                seqno: self.events.len() as u64 + 1,
                uptime_us: self.uptime().as_micros(),
                round_id: fact.round_id,
                actor: fact.actor,
                device: fact.device,
                rules: fact.rules,
                body: Some(fact.body),
                ..Event::default()
            };
            self.keep(event);
        }
        self.table.note(decision.seen);
        self.carry();
        let view = self.table.situation();
        assert!(!view.possible.is_empty(), "nobody is left without a lawful next act");
        decision.answer.map(|answer| answer.map_err(|rejection| rejection.text))
    }

    /// Carries indicators that changed to the devices that are up.
    fn carry(&mut self) {
        let wanted = self.table.indicators();
        assert!(wanted.readout.text.len() <= 3, "{:?}", wanted.readout);
        let changed = wanted.lamps != self.sent.lamps;
        self.sent = wanted;
        if changed && self.up.contains(&DeviceKind::ResultLights) {
            self.tell_lights();
        }
    }

    fn tell_lights(&mut self) {
        self.commanded = self.sent.lamps.lit.clone();
        if self.lights == Lights::Mute {
            return;
        }
        let lit = self.commanded.clone();
        self.feed(Input::LampsAcknowledged { lit });
        self.later.push(self.now + 150_000);
    }

    fn lamp_report(&self) -> LampReport {
        let mut lit = self.commanded.clone();
        if self.lights == Lights::Measure {
            lit.resize(2, 0);
            for bit in &self.dark {
                lit[usize::from(bit / 8)] &= !(1 << (bit % 8));
            }
            for bit in &self.stuck {
                lit[usize::from(bit / 8)] |= 1 << (bit % 8);
            }
        }
        LampReport {
            lit,
            failed: Vec::new(),
            measured: self.lights == Lights::Measure,
        }
    }

    /// Lights change by themselves.
    pub fn lights_change(&mut self) {
        let report = self.lamp_report();
        self.feed(Input::Lamps(report));
    }

    pub fn greet(&mut self, kind: DeviceKind) {
        self.up.insert(kind);
        let status = match kind {
            DeviceKind::Terminal => DeviceStatus::Terminal(TerminalReport {
                shown: Vec::new(),
                entry: self.last_entry,
                contacts: self.contacts.clone(),
            }),
            DeviceKind::ResultLights => DeviceStatus::Lamps(self.lamp_report()),
            DeviceKind::Tumbler | DeviceKind::LayoutLamps => panic!("no device of two-up"),
        };
        let identity = DeviceIdentity {
            kind,
            serial_number: format!("{kind:?}-1"),
            firmware: "1".into(),
            boot_id: self.boot_id,
            lamp_count: if kind == DeviceKind::ResultLights { 11 } else { 0 },
            firmware_digest: Vec::new(),
        };
        self.feed(Input::DeviceUp { identity, status });
        if kind == DeviceKind::ResultLights {
            self.tell_lights();
        }
    }

    pub fn lose(&mut self, kind: DeviceKind) {
        self.up.remove(&kind);
        self.later.clear();
        self.feed(Input::DeviceDown {
            kind,
            reason: DeviceOfflineReason::Silent,
            text: "no answer".into(),
        });
    }

    /// Time passes; deadlines fire and lamp reports arrive on the way.
    pub fn wait(&mut self, ms: u64) {
        let end = self.now + ms * 1000;
        let mut fired = 0;
        loop {
            let report = self.later.iter().copied().min().filter(|at| *at <= end);
            let deadline = self
                .table
                .deadline()
                .map(|at| (self.run_began + at.as_micros()).max(self.now));
            match (report, deadline.filter(|at| *at <= end)) {
                (Some(at), due) if due.is_none_or(|due| at <= due) => {
                    fired = 0;
                    self.later.retain(|later| *later != at);
                    self.now = self.now.max(at);
                    self.lights_change();
                }
                (_, Some(at)) => {
                    fired = if at > self.now { 1 } else { fired + 1 };
                    assert!(fired < STUCK_AFTER, "a deadline fires for ever: {:?}", self.table);
                    self.now = at;
                    self.feed(Input::Deadline);
                }
                (_, None) => break,
            }
        }
        self.now = end;
    }

    pub fn press(&mut self, key: Key) {
        let entry = self.table.indicators().readout.entry;
        self.last_entry = entry;
        let pressed_at = Some(self.uptime());
        self.feed(Input::Key {
            key,
            entry,
            pressed_at,
            stale: false,
        });
    }

    /// ENTER with these keys, whatever was pressed.
    pub fn enter_shown(&mut self, shown: Vec<Key>) {
        let entry = self.table.indicators().readout.entry;
        let pressed_at = Some(self.uptime());
        self.feed(Input::Entry {
            shown,
            entry,
            pressed_at,
            stale: false,
        });
    }

    /// Keys and ENTER; the terminal keeps the last two.
    pub fn keys(&mut self, keys: &[Key]) {
        self.wait(100);
        for key in keys {
            self.press(*key);
        }
        let kept = keys[keys.len().saturating_sub(2)..].to_vec();
        self.enter_shown(kept);
    }

    pub fn contact(&mut self, contact: Contact, closed: bool) {
        let at = self.uptime();
        let report = self.contacts.iter_mut().find(|known| known.contact == contact).unwrap();
        if closed && !report.closed {
            report.closings += 1;
            report.last_closed = Some(at);
        }
        report.closed = closed;
        let report = report.clone();
        if self.up.contains(&DeviceKind::Terminal) {
            self.feed(Input::Contact(report));
        }
    }

    /// The bell, 1.5 s after the last thing.
    pub fn bell(&mut self) {
        self.wait(1500);
        self.ring();
    }

    pub fn ring(&mut self) {
        self.contact(Contact::Bell, true);
        self.contact(Contact::Bell, false);
    }

    /// With the supervisor's key on.
    pub fn under_authority(&mut self, script: impl FnOnce(&mut Scene)) {
        self.contact(Contact::SupervisorKey, true);
        script(self);
        self.contact(Contact::SupervisorKey, false);
    }

    pub fn act(&mut self, act: OperatorAct) -> Result<String, String> {
        let input = Input::Operator {
            person: supervisor(),
            act,
        };
        self.feed(input).expect("every act is answered")
    }

    /// The bell, then a result.
    pub fn spin(&mut self, result: Key) {
        self.bell();
        self.keys(&[result]);
    }

    /// The daemon is gone for 5 s, and comes back with the journal alone.
    pub fn restart_while(&mut self, meanwhile: impl FnOnce(&mut Scene)) {
        let up = std::mem::take(&mut self.up);
        self.later.clear();
        self.now += 2_000_000;
        meanwhile(self);
        self.now += 3_000_000;
        let mut table = Table::new(self.config.clone());
        self.events.iter().for_each(|event| table.apply(event));
        self.table = table;
        self.run_began = self.now;
        self.sent = Indicators::default();
        for report in &mut self.contacts {
            // What happened before this run can't be told in its time.
            report.last_closed = report.last_closed.map(|_| Uptime::ZERO);
        }
        self.start();
        for kind in up {
            self.greet(kind);
        }
    }

    pub fn restart(&mut self) {
        self.restart_while(|_| ());
    }

    pub fn state(&self) -> TableState {
        self.table.state()
    }

    pub fn phase(&self) -> String {
        self.state().phase
    }

    /// The lights that are commanded, by name.
    pub fn lit(&self) -> Vec<String> {
        self.state().lit.iter().map(|light| light.id.clone()).collect()
    }

    /// What the readout shows.
    pub fn readout(&self) -> String {
        self.table.indicators().readout.text
    }

    pub fn forget(&mut self) {
        self.mark = self.events.len();
    }

    /// Names of the events since the last look, links and alerts left out.
    pub fn news(&mut self) -> Vec<String> {
        let names = self.events[self.mark..]
            .iter()
            .filter_map(|event| event.body.as_ref())
            .map(|body| format!("{body:?}").split('(').next().unwrap().to_string())
            .filter(|name| !name.starts_with("Device") && !name.starts_with("Alert"))
            .filter(|name| name != "GatewayStarted" && name != "ActRefused")
            .collect();
        self.forget();
        names
    }

    /// Expects exactly these events since the last look.
    #[track_caller]
    pub fn expect(&mut self, names: &[&str]) {
        assert_eq!(self.news(), names);
    }

    /// The newest event of a kind.
    pub fn last<T>(&self, pick: impl Fn(&Body) -> Option<T>) -> T {
        let found = self.events.iter().rev().find_map(|event| pick(event.body.as_ref()?));
        found.expect("there is such an event")
    }

    /// The newest refusal: code and how often.
    pub fn refused(&self) -> (u32, u32) {
        self.last(|body| match body {
            Body::EntryRejected(rejected) => Some((rejected.code, rejected.count)),
            _ => None,
        })
    }

    /// The newest event's round of that kind.
    pub fn round_of(&self, name: &str) -> u64 {
        let found = self.events.iter().rev().find(|event| {
            let body = event.body.as_ref().map(|body| format!("{body:?}"));
            body.is_some_and(|body| body.starts_with(name))
        });
        found.expect("there is such an event").round_id
    }

    /// Folding the journal gives this table, from the start and from every checkpoint.
    pub fn recover(&self) {
        let live = (self.table.checkpoint(), self.table.state());
        let mut prefix = Table::new(self.config.clone());
        for (n, event) in self.events.iter().enumerate() {
            prefix.apply(event);
            let mut restored = Table::new(self.config.clone());
            let bytes = prefix.checkpoint().encode_to_vec();
            restored.apply(&Event {
                body: Some(Body::CheckpointRecorded(CheckpointRecorded {
                    state: Some(TableCheckpoint::decode(&*bytes).unwrap()),
                    ..Default::default()
                })),
                ..Event::default()
            });
            assert_eq!(
                restored.checkpoint(),
                prefix.checkpoint(),
                "checkpoint after event {}",
                n + 1
            );
            self.events[n + 1..].iter().for_each(|later| restored.apply(later));
            assert_eq!(
                restored.checkpoint(),
                live.0,
                "checkpoint after event {} and the tail",
                n + 1
            );
            assert_eq!(
                restored.state(),
                live.1,
                "checkpoint after event {} and the tail",
                n + 1
            );
        }
        assert_eq!(prefix.checkpoint(), live.0, "folding all events");
        assert_eq!(prefix.state(), live.1, "folding all events");
    }
}
