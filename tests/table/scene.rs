//! A table with its devices and people, driven by a script. It stands where the gateway stands: it numbers and encodes facts,
//! decodes and applies them, keeps what was seen, and carries the indicators to pretend devices.

use crate::devices::{Lamps, Manners, Terminal, Tumbler, bits_of};
use crate::recovery;
use prost::Message;
use std::time::Duration;
use tablegate::rules::sic_bo::machine::Tumbler as SicBoTumbler;
use tablegate::rules::tai_sai::{Layout, Style};
use tablegate::table::event::{
    ActorKind, Body, Event, Fact, GatewayStarted, GatewayStopped, JournalStarted, JournalStartedReason,
    TableLockedKind, TableLockedReason, TableState,
};
use tablegate::table::indicators::{DeviceCommand, Indicators, Readout};
use tablegate::table::input::{DeviceKind, Input, Motion, OperatorAct, Person, Role, TestStep};
use tablegate::table::rejection::Rejection;
use tablegate::table::{Approval, Decision, GameConfig, HousePolicy, SicBoConfig, Table, TableConfig, TaiSaiConfig};
use tablegate::time::{Timestamp, Uptime};

pub const MS: u64 = 1000;

/// Facts in one decision, at most.
const MOST_FACTS: usize = 16;
/// A deadline that is still due after this many firings at one moment will never move.
const STUCK_AFTER: u32 = 20;

/// An event as it was journalled.
#[derive(Clone)]
pub struct Recorded {
    pub event: Event,
    /// Which append wrote it.
    pub append: u32,
}

/// A report under way.
#[derive(Clone)]
struct Later {
    due: u64,
    order: u64,
    kind: DeviceKind,
    session: u32,
    what: Report,
}

#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "a scene has a few of them")]
enum Report {
    Is(Input),
    /// The lamps as they show when it is sent.
    Lamps,
}

#[derive(Clone)]
pub struct Scene {
    pub config: TableConfig,
    pub table: Table,
    /// Microseconds of the scene.
    pub now: u64,
    run_began: u64,
    /// Inputs come from pretend devices; else from nowhere, and no void can be judged by what they show.
    pub is_physical: bool,
    /// The daemon runs; else time passes without it.
    is_running: bool,
    run: u32,
    pub events: Vec<Recorded>,
    appends: u32,
    pub mark: usize,
    later: Vec<Later>,
    order: u64,
    pub tumbler: Tumbler,
    pub terminal: Terminal,
    pub lamps: Lamps,
    sent: Indicators,
    pub answer: Option<Result<String, Rejection>>,
    pub commands: Vec<DeviceCommand>,
    /// Readouts that the terminal was sent.
    pub readouts: Vec<Readout>,
    /// Tumbler and terminal have been up since bets opened: nothing was missed.
    pub unbroken: bool,
    /// Since when the cover is off, and whether it was off for long enough in this round.
    pub off_since: Option<u64>,
    pub exposed: bool,
}

/// Configuration of most scenes.
pub fn config() -> TableConfig {
    TableConfig {
        game: GameConfig::TaiSai(TaiSaiConfig {
            style: Style::A,
            layout: Layout::Appendix1,
            lamp_map: (0..50).map(|bit| vec![bit]).collect(),
            rest: Duration::from_millis(3000),
            settle_after: Duration::from_millis(3000),
            cover_settles_after: Duration::from_millis(5000),
            hold_no_spin_after_uncover: true,
            display_fault_locks: false,
            lamp_wait: Duration::from_millis(800),
        }),
        approval: Approval::NotEnforced,
    }
}

/// Configuration of most scenes with something changed.
pub fn config_with(change: impl FnOnce(&mut TaiSaiConfig)) -> TableConfig {
    let mut config = config();
    let GameConfig::TaiSai(tai_sai) = &mut config.game else {
        panic!("another game than tai-sai")
    };
    change(tai_sai);
    config
}

/// Sic-bo without a table of odds, and a house that decides nothing by itself.
pub fn sic_bo(tumbler: SicBoTumbler) -> TableConfig {
    TableConfig {
        game: GameConfig::SicBo(SicBoConfig {
            tumbler,
            paytable: None,
            policy: HousePolicy::default(),
            lamp_map: (0..50).map(|bit| vec![bit]).collect(),
            rest: Duration::from_millis(3000),
            settle_after: Duration::from_millis(3000),
            cover_settles_after: Duration::from_millis(5000),
            hold_no_spin_after_uncover: true,
            lamp_wait: Duration::from_millis(800),
        }),
        approval: Approval::NotEnforced,
    }
}

/// What starts a round, closes its bets and shows its dice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Course {
    /// A tumbler under a cover.
    Covered,
    /// A tumbler in sight.
    Open,
    /// A dice cup.
    Cup,
}

/// Plays a script at an open table and recovers it from its events.
pub fn play(script: impl FnOnce(&mut Scene)) {
    play_with(config(), |scene| {
        scene.open();
        scene.forget();
        script(scene);
    });
}

/// Plays a script at a closed table of another configuration and recovers it from its events.
pub fn play_with(config: TableConfig, script: impl FnOnce(&mut Scene)) {
    let mut scene = Scene::new(config);
    script(&mut scene);
    recovery::check(&scene);
}

pub fn supervisor() -> Person {
    Person {
        name: "maria".into(),
        login: None,
        role: Role::Supervisor,
        connection: 1,
    }
}

/// Every event of a person's act carries that person's name, unless the gateway draws the consequence by itself; and an act that
/// leaves no event is one that changes nothing.
#[track_caller]
pub fn names_the_person(person: &Person, act: &OperatorAct, decision: &Decision) {
    let kind = match person.role {
        Role::Technician => ActorKind::Technician,
        Role::Supervisor => ActorKind::Supervisor,
    };
    let mut by_person = 0;
    for fact in &decision.facts {
        let Some(actor) = &fact.actor else {
            // Rounds begin and lamps are lit because of what was done; nobody does that.
            continue;
        };
        match actor.kind() {
            ActorKind::Gateway | ActorKind::Dealer => {}
            _ => {
                assert_eq!((actor.kind(), &actor.name), (kind, &person.name), "{act:?}: {fact:?}");
                assert_eq!(
                    actor.login,
                    person.login.clone().unwrap_or_default(),
                    "{act:?}: {fact:?}"
                );
                by_person += 1;
            }
        }
    }
    let changes_nothing = matches!(
        act,
        OperatorAct::WalkLamps
            | OperatorAct::LightTestEntry { .. }
            | OperatorAct::LightTestOutcome { .. }
            | OperatorAct::DeviceTest(TestStep::Light { .. } | TestStep::Ask { .. } | TestStep::Say { .. })
    );
    // A refusal like the one before is only counted; something else may have become due in the same moment.
    let is_refusal = |fact: &Fact| matches!(fact.body, Body::ActRefused(_));
    let is_counted = matches!(decision.answer, Some(Err(_))) && !decision.facts.iter().any(is_refusal);
    assert!(
        by_person > 0 || changes_nothing || is_counted,
        "{act:?} leaves no event with a name: {decision:?}"
    );
}

pub fn technician() -> Person {
    Person {
        name: "tom".into(),
        login: None,
        role: Role::Technician,
        connection: 2,
    }
}

impl Scene {
    /// How this table's rounds go.
    pub fn course(&self) -> Course {
        match &self.config.game {
            GameConfig::TaiSai(tai_sai) if tai_sai.style == Style::B => Course::Cup,
            GameConfig::SicBo(sic_bo) if sic_bo.tumbler == SicBoTumbler::Open => Course::Open,
            GameConfig::TaiSai(_) | GameConfig::SicBo(_) => Course::Covered,
            GameConfig::TwoUpDice(_) | GameConfig::TriplePenny(_) => panic!("no game of these devices"),
        }
    }

    /// The devices that stand at this table.
    pub fn kinds(&self) -> &'static [DeviceKind] {
        match self.course() {
            Course::Covered | Course::Open => &[DeviceKind::LayoutLamps, DeviceKind::Terminal, DeviceKind::Tumbler],
            Course::Cup => &[DeviceKind::LayoutLamps, DeviceKind::Terminal],
        }
    }

    /// A closed table, its devices greeted.
    pub fn new(config: TableConfig) -> Self {
        let mut scene = Scene::unstarted(config);
        scene.start();
        scene.greet_all();
        scene.forget();
        scene
    }

    /// A table that was never started.
    pub fn unstarted(config: TableConfig) -> Self {
        let mut scene = Scene {
            table: Table::new(config.clone()),
            config,
            now: 3_600_000 * MS,
            run_began: 3_600_000 * MS,
            run: 1,
            is_physical: true,
            is_running: true,
            events: Vec::new(),
            appends: 0,
            mark: 0,
            later: Vec::new(),
            order: 0,
            tumbler: Tumbler::new(),
            terminal: Terminal::new(),
            lamps: Lamps::new(),
            sent: Indicators::default(),
            answer: None,
            commands: Vec::new(),
            readouts: Vec::new(),
            unbroken: false,
            off_since: None,
            exposed: false,
        };
        let reason = JournalStartedReason::First.into();
        scene.gateway_says(Body::JournalStarted(JournalStarted {
            reason,
            site: "harbour".into(),
            table: "TS-07".into(),
            machine: "pc".into(),
            ..Default::default()
        }));
        scene
    }

    pub fn gateway_says(&mut self, body: Body) {
        self.record(vec![Fact {
            body,
            actor: None,
            device: None,
            rules: Vec::new(),
            round_id: 0,
        }]);
    }

    /// The daemon is up: `GatewayStarted`, then the table's own start.
    pub fn start(&mut self) {
        // The journal is opened and verified before.
        self.now += 900 * MS;
        let clean_stop =
            matches!(self.events.last(), Some(last) if matches!(last.event.body, Some(Body::GatewayStopped(_))));
        let (game, style, layout) = match &self.config.game {
            GameConfig::TaiSai(tai_sai) => ("tai-sai", tai_sai.style.name(), tai_sai.layout.name()),
            GameConfig::SicBo(sic_bo) => ("sic-bo", sic_bo.tumbler.name(), ""),
            GameConfig::TwoUpDice(_) | GameConfig::TriplePenny(_) => panic!("no game of these devices"),
        };
        self.gateway_says(Body::GatewayStarted(GatewayStarted {
            version: "0.1.0".into(),
            clean_stop,
            game: game.into(),
            style: style.into(),
            layout: layout.into(),
            ..Default::default()
        }));
        self.now += 50 * MS;
        self.feed(Input::Started);
    }

    /// The run's time now.
    pub fn uptime(&self) -> Uptime {
        self.in_run(self.now)
    }

    /// A moment of the scene in the run's time; what was before the run began is its beginning.
    pub fn in_run(&self, at: u64) -> Uptime {
        Uptime::from_micros(at.saturating_sub(self.run_began))
    }

    pub fn envelope(&self, body: Body, round_id: u64) -> Event {
        let wall = Timestamp::from_unix_micros(1_760_000_000_000_000 + i64::try_from(self.now).unwrap());
        Event {
            site: "harbour".into(),
            table: "TS-07".into(),
            journal_id: "1b4e28ba-2fa1-11d2-883f-0016d3cca427".into(),
            seqno: self.events.len() as u64 + 1,
            previous_sha256: vec![7; 32],
            recorded_at: Some(wall.into()),
            clock: 1,
            run_id: format!("run-{}", self.run),
            uptime_us: self.uptime().as_micros(),
            round_id,
            actor: None,
            device: None,
            rules: Vec::new(),
            body: Some(body),
        }
    }

    fn record(&mut self, facts: Vec<Fact>) {
        assert!(
            facts.len() <= MOST_FACTS,
            "{} facts in one decision: {facts:?}",
            facts.len()
        );
        self.appends += u32::from(!facts.is_empty());
        for fact in facts {
            let mut event = self.envelope(fact.body, fact.round_id);
            event.actor = fact.actor;
            event.device = fact.device;
            event.rules = fact.rules;
            let bytes = event.encode_to_vec();
            recovery::check_bytes(&bytes);
            let event = Event::decode(&*bytes).unwrap();
            self.watch(&event);
            self.table.apply(&event);
            self.events.push(Recorded {
                event,
                append: self.appends,
            });
        }
    }

    /// An input arrives now.
    pub fn feed(&mut self, input: Input) {
        self.watch_cover();
        let decision = self.table.decide(self.uptime(), &input);
        if let Input::Operator { person, act } = &input {
            names_the_person(person, act, &decision);
        }
        self.record(decision.facts);
        self.table.note(decision.seen);
        if decision.answer.is_some() {
            self.answer = decision.answer;
        }
        for command in decision.commands {
            self.commands.push(command.clone());
            self.obey(&command);
        }
        self.carry(false);
        self.check_always();
    }

    /// Carries indicators that changed to the devices that are up.
    pub fn carry(&mut self, everything: bool) {
        let wanted = self.table.indicators();
        if self.tumbler.link.up {
            self.tumbler.wish = wanted.tumbler;
        }
        if self.terminal.link.up && wanted.readout.entry != 0 && (everything || wanted.readout != self.sent.readout) {
            let text = &wanted.readout.text;
            assert!(text.len() <= 3, "a readout of {text:?}");
            assert!(
                text.bytes()
                    .all(|b| b.is_ascii_digit() || b.is_ascii_uppercase() || b == b'-' || b == b' ')
            );
            self.readouts.push(wanted.readout.clone());
            if self.terminal.deaf {
                self.terminal.waiting = Some(wanted.readout.clone());
            } else {
                self.terminal.take(&wanted.readout, self.now);
            }
        }
        if self.lamps.link.up && (everything || wanted.lamps != self.sent.lamps) {
            self.lamps.commanded = wanted.lamps.clone();
            self.lamps.show();
            let lit = wanted.lamps.lit.clone();
            let (told, settled) = match self.lamps.manners {
                Manners::Follows => (5 * MS, Some(150 * MS)),
                Manners::FollowsAtOnce => (MS, Some(2 * MS)),
                Manners::Mute => (5 * MS, None),
            };
            self.send_later(
                DeviceKind::LayoutLamps,
                told,
                Report::Is(Input::LampsAcknowledged { lit }),
            );
            if let Some(settled) = settled {
                self.send_later(DeviceKind::LayoutLamps, settled, Report::Lamps);
            }
        }
        self.sent = wanted;
    }

    fn obey(&mut self, command: &DeviceCommand) {
        match command {
            DeviceCommand::Spin { times } => {
                let works = self.tumbler.motion != Motion::Fault;
                if works && self.tumbler.link.up && !self.tumbler.wish.inhibit {
                    self.tumbler.activations = self.tumbler.activations.wrapping_add(1);
                    self.tumbler.spins = self.tumbler.spins.wrapping_add(*times);
                    let (mut spinning, resting) = (self.tumbler.report(), self.tumbler.report());
                    spinning.motion = Motion::Spinning;
                    spinning.spins = spinning.spins.wrapping_sub(*times);
                    let (at, end) = (self.in_run(self.now + 20 * MS), self.in_run(self.now + 1500 * MS));
                    let started = Input::Tumbler {
                        report: spinning,
                        happened: Some(at),
                    };
                    let ended = Input::Tumbler {
                        report: resting,
                        happened: Some(end),
                    };
                    self.send_later(DeviceKind::Tumbler, 20 * MS, Report::Is(started));
                    self.send_later(DeviceKind::Tumbler, 1500 * MS, Report::Is(ended));
                }
            }
        }
    }

    fn send_later(&mut self, kind: DeviceKind, wait: u64, what: Report) {
        self.order += 1;
        let session = self.link(kind).session;
        self.later.push(Later {
            due: self.now + wait,
            order: self.order,
            kind,
            session,
            what,
        });
    }

    /// A device says something: it arrives after the link's latency and never before what was said earlier, if the link lasts.
    pub fn say(&mut self, kind: DeviceKind, input: Input) {
        let (up, latency, session) = (self.link(kind).up, self.link(kind).latency_us, self.link(kind).session);
        if !up {
            return;
        }
        let before = |later: &&Later| later.kind == kind && later.session == session;
        let last = self.later.iter().filter(before).map(|later| later.due).max();
        let due = last.unwrap_or_default().max(self.now + latency);
        if due <= self.now {
            self.feed(input);
        } else {
            self.send_later(kind, due - self.now, Report::Is(input));
        }
    }

    /// Time passes; deadlines fire and reports arrive on the way, in order.
    pub fn wait(&mut self, ms: u64) {
        self.wait_until(self.now + ms * MS);
    }

    pub fn wait_until(&mut self, end: u64) {
        let mut fired = 0;
        while self.is_running {
            let arrival = self.later.iter().map(|later| (later.due, later.order)).min();
            let deadline = self.table.deadline().map(|at| self.run_began + at.as_micros());
            let deadline = deadline.map(|at| at.max(self.now));
            match (arrival, deadline) {
                (Some((due, order)), at) if due <= end && at.is_none_or(|at| due <= at) => {
                    fired = 0;
                    self.arrive(due, order);
                }
                (_, Some(at)) if at <= end => {
                    fired = if at > self.now { 1 } else { fired + 1 };
                    assert!(
                        fired < STUCK_AFTER,
                        "the deadline at {:?} fires for ever",
                        self.in_run(at)
                    );
                    self.now = at;
                    self.feed(Input::Deadline);
                }
                _ => break,
            }
        }
        self.now = self.now.max(end);
    }

    /// Time passes until everything that was said has arrived.
    pub fn arrivals(&mut self) {
        if let Some(last) = self.later.iter().map(|later| later.due).max() {
            self.wait_until(last);
        }
    }

    fn arrive(&mut self, due: u64, order: u64) {
        let at = self.later.iter().position(|later| later.order == order).unwrap();
        let later = self.later.remove(at);
        self.now = self.now.max(due);
        if !self.link(later.kind).up || self.link(later.kind).session != later.session {
            return;
        }
        match later.what {
            Report::Is(input) => self.feed(input),
            Report::Lamps => {
                let report = self.lamps.report();
                self.feed(Input::Lamps(report));
            }
        }
    }

    /// The daemon stops in an orderly way and starts again.
    pub fn restart_cleanly(&mut self) {
        self.feed(Input::Stopping);
        self.gateway_says(Body::GatewayStopped(GatewayStopped {}));
        self.restart();
    }

    /// Power cut of the PC for 5 s, devices keep their power; they greet again.
    pub fn restart(&mut self) {
        self.restart_while(|_| ());
    }

    /// The same with something happening meanwhile.
    pub fn restart_while(&mut self, meanwhile: impl FnOnce(&mut Scene)) {
        self.stop();
        self.now += 2000 * MS;
        meanwhile(self);
        self.now += 3000 * MS;
        self.start_again();
        self.greet_all();
    }

    /// The gateway is gone; what devices do is seen by nobody.
    pub fn stop(&mut self) {
        for kind in [DeviceKind::Tumbler, DeviceKind::Terminal, DeviceKind::LayoutLamps] {
            let now = self.now;
            let link = self.link(kind);
            link.up = false;
            link.session += 1;
            link.down_since = now;
        }
        self.unbroken = false;
        self.later.clear();
        self.is_running = false;
        self.terminal.waiting = None;
    }

    /// A new run on the same journal.
    pub fn start_again(&mut self) {
        let events: Vec<Event> = self.events.iter().map(|recorded| recorded.event.clone()).collect();
        self.table = recovery::fold(self, &events);
        self.run += 1;
        self.is_running = true;
        self.run_began = self.now;
        self.sent = Indicators::default();
        self.start();
    }

    pub fn state(&self) -> TableState {
        self.table.state()
    }

    pub fn phase(&self) -> String {
        self.state().phase
    }

    pub fn lit(&self) -> Vec<u16> {
        bits_of(&self.table.indicators().lamps.lit)
    }

    pub fn locks(&self) -> Vec<(TableLockedReason, TableLockedKind)> {
        self.state()
            .locks
            .iter()
            .map(|lock| (lock.reason(), lock.kind()))
            .collect()
    }
}
