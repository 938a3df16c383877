//! What holds of the table whatever comes in, in whatever order: inputs are drawn at random around a small model of the
//! devices, so that rounds happen as well as nonsense.

#![allow(clippy::wildcard_enum_match_arm, reason = "a test names what it looks for")]

mod explore;

use super::dice::phase::Phase;
use super::event::DeviceOfflineReason;
use super::event::{
    Body, Event, GatewayStarted, OpeningCheck, RoundHeldCause, RoundVoidedReason, TableCheckpoint, TableLockedKind,
};
use super::incident::IncidentCause;
use super::input::{
    Condition, Contact, ContactReport, Cover, DeviceIdentity, DeviceKind, DeviceStatus, DiceReading, Flatness, Input,
    Key, LampReport, Motion, OperatorAct, Person, Role, Seal, TerminalReport, TestStep, TumblerReport,
};
use super::{Approval, GameConfig, Table, TableConfig, TaiSaiConfig, draft};
use crate::rules::tai_sai::{self, Layout, Style};
use crate::time::Uptime;
use proptest::prelude::*;
use prost::Message;
use std::time::Duration;

fn config(layout: Layout) -> TableConfig {
    let lamps = u16::try_from(tai_sai::areas(layout).len()).unwrap();
    TableConfig {
        game: GameConfig::TaiSai(TaiSaiConfig {
            style: Style::A,
            layout,
            lamp_map: (0..lamps).map(|bit| vec![bit]).collect(),
            rest: Duration::from_secs(3),
            settle_after: Duration::from_secs(3),
            cover_settles_after: Duration::from_secs(5),
            hold_no_spin_after_uncover: true,
            display_fault_locks: false,
            lamp_wait: Duration::from_millis(800),
        }),
        approval: Approval::NotEnforced,
    }
}

/// The devices as they are, and the table that hears of them.
struct World {
    config: TableConfig,
    table: Table,
    now: Uptime,
    seqno: u64,
    events: Vec<Event>,
    tumbler: TumblerReport,
    contacts: Vec<ContactReport>,
    lit: Vec<u8>,
    measured: bool,
    boots: [u32; 3],
}

impl World {
    fn new(config: TableConfig) -> Self {
        let contact = |contact| ContactReport {
            contact,
            closed: contact == Contact::CabinetDoor,
            closings: 0,
            last_closed: None,
        };
        let mut world = World {
            table: Table::new(config.clone()),
            config,
            now: Uptime::from_millis(1),
            seqno: 0,
            events: Vec::new(),
            tumbler: TumblerReport {
                motion: Motion::AtRest,
                activations: 7,
                spins: u32::MAX - 4,
                cover: Cover::On,
                seal: Seal::Intact,
                dice: None,
                fault_code: 0,
                counters_kept: true,
            },
            contacts: [
                Contact::Bell,
                Contact::SupervisorKey,
                Contact::NoSpinButton,
                Contact::CabinetDoor,
            ]
            .map(contact)
            .to_vec(),
            lit: Vec::new(),
            measured: true,
            boots: [1; 3],
        };
        world.start();
        for kind in [DeviceKind::Tumbler, DeviceKind::Terminal, DeviceKind::LayoutLamps] {
            world.greet(kind);
        }
        world.act(OperatorAct::OpenVouched);
        world
    }

    fn write(&mut self, body: Body, round_id: u64, fact: Option<&super::event::Fact>) {
        self.seqno += 1;
        let event = Event {
            seqno: self.seqno,
            uptime_us: self.now.as_micros(),
            round_id,
            actor: fact.and_then(|fact| fact.actor.clone()),
            device: fact.and_then(|fact| fact.device.clone()),
            body: Some(body),
            ..Event::default()
        };
        self.table.apply(&event);
        self.events.push(event);
    }

    fn start(&mut self) {
        self.write(Body::GatewayStarted(GatewayStarted::default()), 0, None);
        self.feed(&Input::Started);
    }

    /// The daemon stops without a word and starts again: only what was recorded is left.
    fn restart(&mut self) {
        let mut table = Table::new(self.config.clone());
        self.events.iter().for_each(|event| table.apply(event));
        self.table = table;
        self.now = Uptime::from_millis(3);
        self.start();
    }

    /// One decision and its effects, then every deadline that is due.
    fn feed(&mut self, input: &Input) {
        self.decide(input);
        for _ in 0..40 {
            match self.table.deadline() {
                Some(at) if at <= self.now => self.decide(&Input::Deadline),
                Some(_) | None => return,
            }
        }
        panic!("a deadline comes again and again: {:?}", self.table);
    }

    fn decide(&mut self, input: &Input) {
        let lit = self.table.indicators().lamps.lit;
        let before = self.table.state();
        let decision = self.table.decide(self.now, input);
        assert!(decision.facts.len() <= draft::MOST_FACTS, "{decision:?}");
        let locked_only = !decision.facts.is_empty()
            && decision
                .facts
                .iter()
                .all(|fact| matches!(fact.body, Body::TableLocked(_) | Body::AlertRaised(_)));
        for fact in &decision.facts {
            assert!(!fact.rules.iter().any(String::is_empty), "{fact:?}");
            self.write(fact.body.clone(), fact.round_id, Some(fact));
        }
        self.table.note(decision.seen);
        if locked_only && before.round_id != 0 {
            assert_eq!(lit, self.table.indicators().lamps.lit, "a lock changed lamps");
        }
        self.check();
    }

    fn dice(&self) -> &super::dice::Dice {
        match &self.table.kit {
            super::Kit::Dice(dice) => dice,
            super::Kit::TwoUp(_) => panic!("another game than tai-sai"),
        }
    }

    fn check(&self) {
        let indicators = self.table.indicators();
        let state = self.table.state();
        match self.table.state.phase() {
            Some(Phase::Entered(entered)) => {
                let result = self.events.iter().rev().find_map(|event| match event.body.as_ref()? {
                    Body::ResultEntered(result) => Some(result.areas.clone()),
                    Body::ResultAmended(result) => Some(result.areas.clone()),
                    _ => None,
                });
                assert_eq!(indicators.lamps.lit, self.dice().layout.picture(&result.unwrap()));
                let faces: Vec<u8> = entered.faces.iter().map(|face| u8::try_from(*face).unwrap()).collect();
                assert_eq!(entered.areas, self.dice().game.winners(faces.try_into().unwrap()));
                assert!(indicators.tumbler.inhibit);
            }
            Some(Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_)) => {
                assert!(indicators.lamps.lit.is_empty());
                assert!(indicators.tumbler.inhibit);
            }
            Some(Phase::Ready(_) | Phase::Tumbling(_)) | None => {
                assert!(state.lit.is_empty());
                assert!(!indicators.tumbler.inhibit);
            }
        }
        let view = self.table.situation();
        assert!(!view.possible.is_empty(), "nobody is left without a lawful next act");
        assert!(indicators.readout.text.len() <= 3);
    }

    fn person() -> Person {
        Person {
            name: "maria".into(),
            login: None,
            role: Role::Supervisor,
            connection: 4,
        }
    }

    fn act(&mut self, act: OperatorAct) {
        let input = Input::Operator {
            person: World::person(),
            act,
        };
        self.feed(&input);
    }

    fn greet(&mut self, kind: DeviceKind) {
        let (boot_id, status) = match kind {
            DeviceKind::Tumbler => (self.boots[0], DeviceStatus::Tumbler(self.tumbler.clone())),
            DeviceKind::Terminal => {
                let report = TerminalReport {
                    shown: Vec::new(),
                    entry: u32::MAX - 1,
                    contacts: self.contacts.clone(),
                };
                (self.boots[1], DeviceStatus::Terminal(report))
            }
            DeviceKind::LayoutLamps | DeviceKind::ResultLights => (self.boots[2], DeviceStatus::Lamps(self.lamps())),
        };
        let identity = DeviceIdentity {
            kind,
            serial_number: format!("{kind:?}-1"),
            firmware: "1".into(),
            boot_id,
            lamp_count: 106,
            firmware_digest: Vec::new(),
        };
        self.feed(&Input::DeviceUp { identity, status });
    }

    fn lamps(&self) -> LampReport {
        LampReport {
            lit: self.lit.clone(),
            failed: Vec::new(),
            measured: self.measured,
        }
    }

    fn tell_tumbler(&mut self) {
        let input = Input::Tumbler {
            report: self.tumbler.clone(),
            happened: Some(self.now),
        };
        self.feed(&input);
    }

    fn close_contact(&mut self, contact: Contact, late: Duration) {
        let at = self.now - late;
        let report = self
            .contacts
            .iter_mut()
            .find(|report| report.contact == contact)
            .unwrap();
        report.closings += 1;
        report.closed = true;
        report.last_closed = Some(at);
        let input = Input::Contact(report.clone());
        self.feed(&input);
    }

    fn key(&mut self, key: Key) {
        let input = Input::Key {
            key,
            entry: self.table.indicators().readout.entry,
            pressed_at: Some(self.now),
            stale: false,
        };
        self.feed(&input);
    }

    fn enter(&mut self, shown: Vec<Key>) {
        let input = Input::Entry {
            shown,
            entry: self.table.indicators().readout.entry,
            pressed_at: Some(self.now),
            stale: false,
        };
        self.feed(&input);
    }

    /// Lamps take what is commanded, and say so.
    fn obey(&mut self) {
        let lit = self.table.indicators().lamps.lit;
        self.lit.clone_from(&lit);
        self.feed(&Input::LampsAcknowledged { lit });
        let report = self.lamps();
        self.feed(&Input::Lamps(report));
    }

    /// Time passes; every deadline on the way fires at its time.
    fn wait(&mut self, millis: u64) {
        let until = self.now + Duration::from_millis(millis);
        while let Some(at) = self.table.deadline().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.feed(&Input::Deadline);
        }
        self.now = until;
    }

    fn step(&mut self, step: Step) {
        let Step { what, n, wait } = step;
        self.wait(wait);
        match what % 38 {
            0..=2 => {
                self.tumbler.motion = Motion::Spinning;
                self.tumbler.activations = self.tumbler.activations.wrapping_add(1);
                self.tell_tumbler();
                self.wait(700);
                self.tumbler.motion = Motion::AtRest;
                self.tumbler.spins = self.tumbler.spins.wrapping_add(u32::from(n % 4));
                self.tell_tumbler();
            }
            3..=5 => self.close_contact(Contact::Bell, Duration::from_millis(u64::from(n % 3) * 900)),
            6..=8 => {
                self.tumbler.cover = if self.tumbler.cover == Cover::On {
                    Cover::Off
                } else {
                    Cover::On
                };
                self.tumbler.dice = (self.tumbler.cover == Cover::Off && n.is_multiple_of(4)).then_some(DiceReading {
                    flatness: [Flatness::Flat, Flatness::NotFlat, Flatness::Unknown][usize::from(n / 4 % 3)],
                    faces: Some([1, 3, 6]),
                });
                self.tell_tumbler();
            }
            9..=12 => {
                let keys = [[1, 3, 6], [2, 2, 5], [6, 6, 6], [1, 2, 3]][usize::from(n % 4)].map(Key::Number);
                self.wait(400);
                keys.into_iter().for_each(|key| self.key(key));
                self.enter(keys.to_vec());
                if n.is_multiple_of(3) {
                    self.obey();
                }
            }
            13 => self.enter(Vec::new()),
            14 => {
                self.key(Key::from_number(u32::from(n % 24)));
                self.enter(vec![Key::from_number(u32::from(n % 7))]);
            }
            15 | 16 => self.obey(),
            17 => self.close_contact(Contact::NoSpinButton, Duration::ZERO),
            18 => self.close_contact(Contact::SupervisorKey, Duration::ZERO),
            19 => {
                let contact = if n.is_multiple_of(2) {
                    Contact::SupervisorKey
                } else {
                    Contact::CabinetDoor
                };
                let report = self
                    .contacts
                    .iter_mut()
                    .find(|report| report.contact == contact)
                    .unwrap();
                report.closed = !report.closed;
                let input = Input::Contact(report.clone());
                self.feed(&input);
            }
            20 | 21 => {
                let kind = [DeviceKind::Tumbler, DeviceKind::Terminal, DeviceKind::LayoutLamps][usize::from(n % 3)];
                if n.is_multiple_of(5) {
                    let reason = DeviceOfflineReason::Silent;
                    self.feed(&Input::DeviceDown {
                        kind,
                        reason,
                        text: String::new(),
                    });
                } else {
                    if n % 5 == 4 {
                        self.boots[usize::from(n % 3)] += 1;
                    }
                    self.greet(kind);
                }
            }
            22 => self.lie(n),
            23 => self.restart(),
            24 => {
                let condition = [
                    Condition::DiskLow,
                    Condition::JournalFailed,
                    Condition::JournalDamaged,
                    Condition::LinkOdd(DeviceKind::Terminal),
                ];
                let input = Input::Condition {
                    condition: condition[usize::from(n % 4)],
                    text: "text".into(),
                    standing: n.is_multiple_of(2),
                };
                self.feed(&input);
            }
            25 => {
                let input = Input::Key {
                    key: Key::Number(1),
                    entry: u32::from(n),
                    pressed_at: None,
                    stale: n.is_multiple_of(2),
                };
                self.feed(&input);
            }
            26 => self.feed(
                &[
                    Input::Stopping,
                    Input::ReadUnderCover,
                    Input::OperatorGone { connection: 4 },
                ][usize::from(n % 3)]
                .clone(),
            ),
            27 => self.open_again(),
            _ => {
                let act = acts()[usize::from(n) % acts().len()].clone();
                self.act(act);
            }
        }
    }

    /// A device reports what can hardly be.
    fn lie(&mut self, n: u8) {
        match n % 4 {
            0 => self.tumbler.spins = self.tumbler.spins.wrapping_sub(9),
            1 => {
                self.tumbler.seal = if self.tumbler.seal == Seal::Intact {
                    Seal::Broken
                } else {
                    Seal::Intact
                }
            }
            2 => {
                self.tumbler.motion = [Motion::Fault, Motion::Unknown, Motion::AtRest][usize::from(n / 4 % 3)];
            }
            _ => {
                self.lit = [vec![], vec![0xff; 14], vec![0, 4], vec![1]][usize::from(n / 4 % 4)].clone();
                self.measured = n.is_multiple_of(3);
                let report = self.lamps();
                return self.feed(&Input::Lamps(report));
            }
        }
        self.tell_tumbler();
    }

    /// People put everything right and open the table.
    fn open_again(&mut self) {
        self.tumbler.seal = Seal::Intact;
        self.tumbler.motion = Motion::AtRest;
        self.tumbler.cover = Cover::On;
        self.tumbler.dice = None;
        self.contacts
            .iter_mut()
            .for_each(|report| report.closed = report.contact == Contact::CabinetDoor);
        self.measured = true;
        self.lit.clear();
        for kind in [DeviceKind::Tumbler, DeviceKind::Terminal, DeviceKind::LayoutLamps] {
            self.greet(kind);
        }
        self.act(OperatorAct::LeaveTest);
        self.act(OperatorAct::AbandonOpening);
        self.act(OperatorAct::Unlock {
            procedure: "put right".into(),
        });
        self.act(OperatorAct::OpenVouched);
    }
}

fn acts() -> Vec<OperatorAct> {
    let faces = [4, 1, 4];
    vec![
        OperatorAct::Resume,
        OperatorAct::Void { reason: None },
        OperatorAct::Void {
            reason: Some(RoundVoidedReason::ANotActivated),
        },
        OperatorAct::Void {
            reason: Some(RoundVoidedReason::BLeftArea),
        },
        OperatorAct::StateVoidReason {
            reason: RoundVoidedReason::ANotFlat,
        },
        OperatorAct::EnterResult {
            faces,
            reason: "terminal dead".into(),
        },
        OperatorAct::EnterResult {
            faces: [0, 7, 1],
            reason: "x".into(),
        },
        OperatorAct::Amend { faces },
        OperatorAct::Settle,
        OperatorAct::Reopen,
        OperatorAct::WithdrawVoid,
        OperatorAct::Lock { reason: "pause".into() },
        OperatorAct::Unlock {
            procedure: "done".into(),
        },
        OperatorAct::Unlock {
            procedure: String::new(),
        },
        OperatorAct::AcceptDevice {
            serial_number: "Tumbler-1".into(),
        },
        OperatorAct::EnterTest,
        OperatorAct::LeaveTest,
        OperatorAct::SpinTumbler,
        OperatorAct::DeviceTest(TestStep::Begin {
            device: DeviceKind::LayoutLamps,
        }),
        OperatorAct::DeviceTest(TestStep::Light { bit: Some(5) }),
        OperatorAct::DeviceTest(TestStep::End),
        OperatorAct::Close,
        OperatorAct::BeginOpening,
        OperatorAct::WalkLamps,
        OperatorAct::LightTestEntry { faces },
        OperatorAct::RecordCheck {
            check: OpeningCheck::Seal,
            passed: true,
            text: String::new(),
        },
        OperatorAct::CompleteOpening,
        OperatorAct::RecordIncident {
            cause: IncidentCause::Other,
            note: Some("chips fell".into()),
        },
        OperatorAct::AcknowledgeAlert {
            alert: "round_held".into(),
        },
    ]
}

#[derive(Clone, Copy, Debug)]
struct Step {
    what: u8,
    n: u8,
    wait: u64,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let wait = prop_oneof![Just(0), 1..400_u64, Just(1100), 3000..6500_u64, Just(31_000)];
    let step = (any::<u8>(), any::<u8>(), wait).prop_map(|(what, n, wait)| Step { what, n, wait });
    // Whole rounds are drawn often, or hardly a result would ever be entered.
    let whole = Just(vec![
        Step { what: 0, n: 3, wait: 0 },
        Step {
            what: 3,
            n: 0,
            wait: 3500,
        },
        Step {
            what: 6,
            n: 1,
            wait: 1000,
        },
        Step {
            what: 9,
            n: 0,
            wait: 1000,
        },
    ]);
    let part = prop_oneof![3 => step.prop_map(|step| vec![step]), 1 => whole];
    proptest::collection::vec(part, 1..40).prop_map(|parts| parts.concat())
}

/// From the journal alone: at most one result a round, every round with one end at most, what was amended follows its result.
fn check_rounds(events: &[Event]) {
    let mut results = std::collections::BTreeMap::<u64, u32>::new();
    let mut ended = std::collections::BTreeSet::new();
    let mut newest = 0;
    for event in events {
        let id = event.round_id;
        match event.body.as_ref().unwrap() {
            Body::RoundStarted(_) => {
                assert_eq!(id, newest + 1, "rounds are numbered without gaps");
                newest = id;
            }
            Body::ResultEntered(_) => {
                let results = results.entry(id).or_default();
                *results += 1;
                assert_eq!(*results, 1, "round {id} has a second result");
                assert!(!ended.contains(&id));
            }
            Body::ResultAmended(_) => assert_eq!(results.get(&id), Some(&1), "amended without a result"),
            Body::RoundSettled(_) => {
                assert_eq!(results.get(&id), Some(&1), "settled without a result");
                assert!(ended.insert(id), "round {id} ends twice");
            }
            Body::RoundVoided(_) | Body::RoundAbandoned(_) => assert!(ended.insert(id), "round {id} ends twice"),
            Body::RoundReopened(_) | Body::VoidWithdrawn(_) => assert!(ended.remove(&id), "round {id} had not ended"),
            Body::RoundHeld(held) => assert_ne!(held.cause(), RoundHeldCause::Unspecified),
            Body::TableLocked(locked) => assert_ne!(locked.kind(), TableLockedKind::Unspecified),
            _ => {}
        }
    }
}

proptest! {


    #[test]
    fn whatever_comes_in_the_journal_gives_the_same_table(steps in steps(), alternative: bool, cut: prop::sample::Index) {
        let layout = if alternative { Layout::Appendix2 } else { Layout::Appendix1 };
        let mut world = World::new(config(layout));
        for step in steps {
            world.step(step);
        }
        check_rounds(&world.events);

        let mut folded = Table::new(world.config.clone());
        let cut = cut.index(world.events.len());
        let mut from_checkpoint = None;
        for (place, event) in world.events.iter().enumerate() {
            folded.apply(event);
            if place == cut {
                let bytes = folded.checkpoint().encode_to_vec();
                let mut restored = Table::new(world.config.clone());
                let state = TableCheckpoint::decode(bytes.as_slice()).unwrap();
                restored.apply(&Event {
                    body: Some(Body::CheckpointRecorded(super::event::CheckpointRecorded {
                        state: Some(state),
                        ..Default::default()
                    })),
                    ..Event::default()
                });
                from_checkpoint = Some(restored);
            } else if let Some(restored) = &mut from_checkpoint {
                restored.apply(event);
            }
        }
        prop_assert_eq!(&folded.state, &world.table.state);
        prop_assert_eq!(&from_checkpoint.unwrap().state, &world.table.state);
    }
}
