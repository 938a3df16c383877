//! Tai-sai of both styles, and sic-bo with both tumblers, explored.
//!
//! One layout is enough: the table asks it for the winners of three faces, and for nothing else. Three results are enough, one of
//! each shape (three numbers, a double, a triple): faces decide nothing but those winners, which are tried for all 56 elsewhere.

use super::dice_law::{Course, DiceLaw, Played, Rules, Stage};
use super::law::Law;
use super::search::{Crew, Game};
use super::world::{Act, CONNECTIONS, Shown, World};
use crate::rules::sic_bo::machine::Tumbler;
use crate::rules::tai_sai::{Layout, Style};
use crate::table::event::{Mode, OpeningCheck, RoundHeldCause, RoundVoidedReason, TableLockedReason};
use crate::table::incident::IncidentCause;
use crate::table::input::{
    Condition, Contact, Cover, DeviceKind, DiceReading, Flatness, Input, Key, OperatorAct, Role,
};
use crate::table::{Approval, ApprovedDevice, GameConfig, HousePolicy, SicBoConfig, TableConfig, TaiSaiConfig};
use std::time::Duration;

const WITH_TUMBLER: &[DeviceKind] = &[DeviceKind::LayoutLamps, DeviceKind::Terminal, DeviceKind::Tumbler];

const WITH_CUP: &[DeviceKind] = &[DeviceKind::LayoutLamps, DeviceKind::Terminal];

const DIFFERENT: &[Key] = &[Key::Number(6), Key::Number(1), Key::Number(3)];
const TRIPLE: &[Key] = &[Key::Number(4), Key::Number(4), Key::Number(4)];
const TWO_KEYS: &[Key] = &[Key::Number(1), Key::Number(2)];
const FOUR_KEYS: &[Key] = &[Key::Number(5), Key::Number(6), Key::Number(1), Key::Number(3)];
const UNKNOWN_KEY: &[Key] = &[Key::Other(99), Key::Number(1), Key::Number(3), Key::Number(6)];
const NO_SPIN: &[Key] = &[Key::NoSpin];
const DOUBLE: [u8; 3] = [5, 2, 2];
const OTHER: [u8; 3] = [1, 1, 1];

/// A dice game at its table.
#[derive(Clone, Copy)]
pub struct DiceTable {
    name: &'static str,
    rules: Rules,
    make: Make,
}

/// How a covered tumbler is made, and what follows a NO_SPIN after the uncover.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Make {
    /// Its cover has a contact; the round is held.
    Plain,
    /// Nothing tells of its cover; the round is void.
    Blind,
}

const LAW: Rules = Rules {
    game: Played::TaiSai(Layout::Appendix1),
    course: Course::Covered,
    void: true,
    lamps: true,
    amend: true,
    by_itself: true,
};

pub const STYLE_A: DiceTable = DiceTable {
    name: "tai-sai, style A",
    rules: LAW,
    make: Make::Plain,
};

/// Nothing tells of the cover: the entry stands for its going off; "no spin" voids at once.
pub const BLIND: DiceTable = DiceTable {
    name: "tai-sai, style A, no contact at the cover",
    rules: LAW,
    make: Make::Blind,
};

pub const STYLE_B: DiceTable = DiceTable {
    name: "tai-sai, style B",
    rules: Rules {
        course: Course::Cup,
        ..LAW
    },
    make: Make::Plain,
};

/// Where the law is silent, the house is as well.
pub const COVERED: DiceTable = DiceTable {
    name: "sic-bo, covered tumbler, no policy of the house",
    rules: Rules {
        game: Played::SicBo,
        course: Course::Covered,
        void: false,
        lamps: false,
        amend: false,
        by_itself: false,
    },
    make: Make::Plain,
};

/// The house does everything that the law is silent about.
pub const OPEN: DiceTable = DiceTable {
    name: "sic-bo, open tumbler, with the house's policy",
    rules: Rules {
        game: Played::SicBo,
        course: Course::Open,
        by_itself: false,
        ..LAW
    },
    make: Make::Plain,
};

pub fn supervisor(act: OperatorAct) -> Act {
    Act::Person(Role::Supervisor, act)
}

pub fn technician(act: OperatorAct) -> Act {
    Act::Person(Role::Technician, act)
}

pub fn unlock() -> Act {
    supervisor(OperatorAct::Unlock {
        procedure: "looked at".into(),
    })
}

fn void(reason: Option<RoundVoidedReason>) -> Act {
    supervisor(OperatorAct::Void { reason })
}

pub fn enter_result() -> Act {
    supervisor(OperatorAct::EnterResult {
        faces: OTHER,
        reason: "can't be typed".into(),
    })
}

pub fn condition(condition: Condition, standing: bool) -> Act {
    Act::Comes(Input::Condition {
        condition,
        text: "condition".into(),
        standing,
    })
}

fn reading(flatness: Flatness, faces: Option<[u8; 3]>) -> Act {
    Act::Reader(Some(DiceReading { flatness, faces }))
}

fn ordinary() -> Vec<Act> {
    vec![
        Act::NextDeadline,
        Act::Wait(350),
        Act::Wait(3_200),
        Act::SpinBegins,
        Act::SpinEnds(3),
        Act::Cover(Cover::Off),
        Act::Cover(Cover::On),
        Act::Bell,
        Act::KeysIn(DIFFERENT),
        Act::Enter,
        Act::LampsFollow,
        Act::Up(DeviceKind::Tumbler),
        Act::Up(DeviceKind::Terminal),
        Act::Up(DeviceKind::LayoutLamps),
        supervisor(OperatorAct::OpenVouched),
        supervisor(OperatorAct::Close),
        supervisor(OperatorAct::Resume),
        supervisor(OperatorAct::Settle),
        unlock(),
    ]
}

fn deviations() -> Vec<Act> {
    let mut acts = vec![
        Act::Wait(31_000),
        Act::SpinEnds(1),
        Act::SpinDespite,
        Act::CoverLate(Cover::Off, 400),
        Act::CoverLate(Cover::On, 400),
        Act::TumblerFault,
        Act::Seal,
        reading(Flatness::Flat, Some([1, 3, 6])),
        reading(Flatness::Flat, Some(OTHER)),
        reading(Flatness::NotFlat, None),
        Act::Key(Key::Number(2)),
        Act::KeysIn(TRIPLE),
        Act::KeysIn(TWO_KEYS),
        Act::KeysIn(FOUR_KEYS),
        Act::KeysIn(UNKNOWN_KEY),
        Act::KeysIn(NO_SPIN),
        Act::Key(Key::NoSpin),
        Act::EnterMore(Key::Number(2)),
        Act::StaleKey(Key::Number(2)),
        Act::OldKey(Key::Number(2)),
        Act::BellLate(400),
        Act::BellLate(1_500),
        Act::Press(Contact::NoSpinButton),
        Act::Turn(Contact::SupervisorKey),
        Act::Turn(Contact::CabinetDoor),
        Act::LampsAcknowledge,
        Act::LampsShow(Shown::Right),
        Act::LampsShow(Shown::OneMissing),
        Act::LampsShow(Shown::OneMore(49)),
        Act::LampsShow(Shown::All),
        Act::LampsMeasure,
        Act::UpOther,
        Act::TerminalTells,
        Act::Clocks,
        Act::Restart,
        Act::StopAndStart,
        Act::Comes(Input::ReadUnderCover),
        Act::Comes(Input::DeviceFault {
            kind: DeviceKind::Tumbler,
            code: 9,
            text: "warm".into(),
            raised: true,
        }),
        Act::Comes(Input::OperatorGone {
            connection: CONNECTIONS[0],
        }),
        Act::Comes(Input::OperatorGone {
            connection: CONNECTIONS[1],
        }),
        condition(Condition::DiskLow, true),
        condition(Condition::DiskLow, false),
        condition(Condition::JournalFailed, true),
        condition(Condition::JournalFailed, false),
        condition(Condition::JournalMovedAside, true),
        condition(Condition::BrokerUnreachable, true),
    ];
    for kind in WITH_TUMBLER {
        acts.extend([Act::Down(*kind), Act::UpAnew(*kind)]);
    }
    acts.extend(commands());
    acts
}

/// What people do by command beside what ends an ordinary round.
fn commands() -> Vec<Act> {
    let check = |check, passed| OperatorAct::RecordCheck {
        check,
        passed,
        text: "seen".into(),
    };
    vec![
        void(None),
        void(Some(RoundVoidedReason::ANotFlat)),
        void(Some(RoundVoidedReason::ANotActivated)),
        void(Some(RoundVoidedReason::BLeftArea)),
        supervisor(OperatorAct::Offer { seat: 3 }),
        supervisor(OperatorAct::StateVoidReason {
            reason: RoundVoidedReason::ANotFlat,
        }),
        supervisor(OperatorAct::WithdrawVoid),
        supervisor(OperatorAct::Reopen),
        enter_result(),
        supervisor(OperatorAct::Amend { faces: DOUBLE }),
        supervisor(OperatorAct::RecordIncident {
            cause: IncidentCause::Other,
            note: Some("chip".into()),
        }),
        supervisor(OperatorAct::Lock { reason: "audit".into() }),
        supervisor(OperatorAct::AcceptDevice {
            serial_number: "T-0042".into(),
        }),
        supervisor(OperatorAct::AcceptDevice {
            serial_number: "T-0043".into(),
        }),
        supervisor(OperatorAct::AcknowledgeAlert {
            alert: "round_held".into(),
        }),
        supervisor(OperatorAct::BeginOpening),
        supervisor(OperatorAct::WalkLamps),
        supervisor(OperatorAct::LightTestEntry { faces: DOUBLE }),
        supervisor(OperatorAct::SpinTumbler),
        supervisor(check(OpeningCheck::LampWalk, true)),
        supervisor(check(OpeningCheck::Tumbler, false)),
        supervisor(OperatorAct::CompleteOpening),
        supervisor(OperatorAct::AbandonOpening),
        technician(OperatorAct::EnterTest),
        technician(OperatorAct::LeaveTest),
        technician(OperatorAct::Resume),
    ]
}

/// From a start to a round whose result is entered and lit, by where it has come to.
struct Way {
    shut: Vec<Act>,
    open: Vec<Act>,
    tumbled: Vec<Act>,
    betting: Vec<Act>,
    closed: Vec<Act>,
    landed: Vec<Act>,
    lit: Vec<Act>,
}

fn and(way: &[Act], more: &[Act]) -> Vec<Act> {
    [way, more].concat()
}

fn way(course: Course) -> Way {
    let tumble = [Act::SpinBegins, Act::SpinEnds(3)];
    let (before, after): (&[Act], &[Act]) = match course {
        Course::Covered => (&tumble, &[Act::Cover(Cover::Off), Act::Wait(350)]),
        Course::Open => (&[], &[Act::SpinBegins, Act::SpinEnds(3), Act::Wait(3_200)]),
        Course::Cup => (&[], &[]),
    };
    let shut = vec![
        Act::Up(DeviceKind::LayoutLamps),
        Act::Up(DeviceKind::Terminal),
        Act::Up(DeviceKind::Tumbler),
        Act::Wait(3_200),
    ];
    let open = and(&shut, &[supervisor(OperatorAct::OpenVouched)]);
    let tumbled = and(&open, before);
    let betting = and(&tumbled, &[Act::NextDeadline, Act::Wait(1_200)]);
    let closed = and(&betting, &[Act::Bell, Act::Wait(1_200)]);
    let landed = and(&closed, after);
    let lit = and(&landed, &[Act::KeysIn(DIFFERENT), Act::LampsFollow]);
    Way {
        shut,
        open,
        tumbled,
        betting,
        closed,
        landed,
        lit,
    }
}

/// The round is settled, the PC loses its power, and everything is there again.
fn again() -> Vec<Act> {
    let ups = WITH_TUMBLER.iter().map(|kind| Act::Up(*kind));
    let settled = [Act::Wait(3_200), Act::Enter, Act::Cover(Cover::On), Act::Restart];
    settled.into_iter().chain(ups).collect()
}

fn roots(course: Course) -> Vec<Vec<Act>> {
    let Way {
        shut,
        open,
        tumbled,
        betting,
        closed,
        landed,
        lit,
    } = way(course);
    let door = Act::Turn(Contact::CabinetDoor);
    let mut roots = vec![
        // Amended; found again after a power cut.
        and(&lit, &[supervisor(OperatorAct::Amend { faces: DOUBLE })]),
        and(&lit, &[Act::Restart]),
        and(&lit, &again()),
        // Frozen with bets open, before the entry and after it; held back before bets open.
        and(&betting, std::slice::from_ref(&door)),
        and(&landed, std::slice::from_ref(&door)),
        and(&lit, std::slice::from_ref(&door)),
        and(&tumbled, &[supervisor(OperatorAct::Lock { reason: "audit".into() })]),
        and(&open, &[technician(OperatorAct::EnterTest), Act::SpinBegins]),
        and(&shut, &[supervisor(OperatorAct::BeginOpening)]),
        and(&shut, &[Act::SpinBegins]),
    ];
    let early = [Act::Cover(Cover::Off), Act::Wait(3_200)];
    match course {
        Course::Covered => roots.extend([
            // Settled by the cover; void, or held, for want of a bell; a seal that breaks.
            and(&lit, &[Act::Cover(Cover::On), Act::Wait(3_200), Act::Wait(3_200)]),
            and(&betting, &early),
            and(&betting, &[&[Act::Down(DeviceKind::Terminal)], &early[..]].concat()),
            and(&betting, &[Act::Seal]),
            // Held by the dice reader, and the cover is on again.
            and(
                &landed,
                &[
                    reading(Flatness::Flat, Some([1, 3, 6])),
                    Act::KeysIn(TRIPLE),
                    Act::Cover(Cover::On),
                ],
            ),
        ]),
        Course::Open => roots.extend([
            and(&betting, &[Act::SpinDespite]),
            and(&closed, &[Act::SpinBegins, Act::SpinEnds(3)]),
            and(&betting, &[Act::Seal]),
        ]),
        Course::Cup => {}
    }
    roots.extend([shut, open, tumbled, betting, closed, landed, lit]);
    roots
}

fn config(rules: Rules, make: Make) -> GameConfig {
    let lamp_map = (0..50).map(|bit| vec![bit]).collect();
    let (rest, settle_after) = (Duration::from_secs(3), Duration::from_secs(3));
    let cover_settles_after = Duration::from_secs(5);
    let lamp_wait = Duration::from_secs(1);
    match rules.game {
        Played::TaiSai(layout) => GameConfig::TaiSai(TaiSaiConfig {
            style: match rules.course {
                Course::Cup => Style::B,
                Course::Covered | Course::Open => Style::A,
            },
            layout,
            lamp_map,
            rest,
            settle_after,
            cover_settles_after,
            hold_no_spin_after_uncover: make == Make::Plain,
            display_fault_locks: false,
            lamp_wait,
        }),
        Played::SicBo => GameConfig::SicBo(SicBoConfig {
            tumbler: match rules.course {
                Course::Open => Tumbler::Open,
                Course::Covered | Course::Cup => Tumbler::Covered,
            },
            paytable: None,
            policy: HousePolicy {
                void: rules.void,
                lamps: rules.lamps,
                amend: rules.amend,
            },
            lamp_map,
            rest,
            settle_after,
            cover_settles_after,
            hold_no_spin_after_uncover: make == Make::Plain,
            lamp_wait,
        }),
    }
}

/// The tumbler, terminal and lamps that begin; another tumbler is none of them.
fn approval() -> Approval {
    let devices = [
        (DeviceKind::Tumbler, "T-0042"),
        (DeviceKind::Terminal, "E-0007"),
        (DeviceKind::LayoutLamps, "L-0003"),
    ];
    let approved = |(kind, serial_number): (DeviceKind, &str)| ApprovedDevice {
        kind,
        serial_number: serial_number.to_owned(),
        firmware: "1.4".to_owned(),
        firmware_sha256: None,
    };
    Approval::Enforced {
        devices: devices.map(approved).into(),
        differs: None,
    }
}

impl Game for DiceTable {
    type Law = DiceLaw;

    fn name(&self) -> &'static str {
        self.name
    }

    fn config(&self) -> TableConfig {
        TableConfig {
            game: config(self.rules, self.make),
            approval: approval(),
        }
    }

    fn law(&self) -> DiceLaw {
        DiceLaw::new(self.rules)
    }

    fn world(&self) -> World {
        let (kinds, cover) = match self.rules.course {
            Course::Covered if self.make == Make::Plain => (WITH_TUMBLER, Cover::On),
            Course::Covered => (WITH_TUMBLER, Cover::Unknown),
            Course::Open => (WITH_TUMBLER, Cover::Unknown),
            Course::Cup => (WITH_CUP, Cover::Unknown),
        };
        World::new(kinds, cover, 50)
    }

    fn alphabet(&self) -> Vec<Act> {
        ordinary().into_iter().chain(deviations()).collect()
    }

    fn is_ordinary(&self, law: &DiceLaw, world: &World, act: &Act) -> bool {
        let open = law.ground.mode == Mode::Open;
        let next = |stages: &[Stage]| open && !law.waits() && stages.contains(&law.stage);
        match act {
            Act::NextDeadline | Act::Wait(350 | 3_200) | Act::SpinEnds(3) | Act::Up(_) => true,
            Act::SpinBegins => match self.rules.course {
                Course::Covered => next(&[Stage::Ready, Stage::Tumbling]) && world.tumbler.cover != Cover::Off,
                Course::Open => next(&[Stage::Closed]),
                Course::Cup => false,
            },
            Act::Cover(Cover::Off) => next(&[Stage::Closed]),
            Act::Cover(Cover::On) => true,
            Act::Bell => next(&[Stage::Tumbling, Stage::Betting]),
            Act::KeysIn(keys) => {
                let thrown = self.rules.course == Course::Cup && next(&[Stage::Closed]);
                *keys == DIFFERENT && (thrown || next(&[Stage::Landed]))
            }
            Act::LampsFollow => true,
            Act::Enter => next(&[Stage::Entered]),
            Act::Person(Role::Supervisor, act) => match act {
                OperatorAct::OpenVouched => law.ground.mode == Mode::Closed,
                OperatorAct::Resume | OperatorAct::Void { reason: None } => law.waits(),
                OperatorAct::Unlock { .. } => !law.ground.locks.is_empty(),
                _ => false,
            },
            _ => false,
        }
    }

    fn roots(&self) -> Vec<Vec<Act>> {
        roots(self.rules.course)
    }

    fn way_out(&self, law: &DiceLaw, world: &World, crew: Crew) -> Vec<Act> {
        way_out(law, world, crew)
    }

    fn is_the_dealers(&self, law: &DiceLaw, world: &World, dead: Option<DeviceKind>) -> bool {
        let all_up = world.kinds.iter().all(|kind| world.is_up(*kind));
        let terminal_lives = dead != Some(DeviceKind::Terminal);
        let covered = law.rules.course == Course::Covered;
        let played = match law.stage {
            Stage::Ready | Stage::Tumbling => false,
            Stage::Betting => !covered || !world.tumbler.exposed,
            Stage::Closed => !covered || world.tumbler.cover != Cover::Off,
            Stage::Landed | Stage::Entered => true,
        };
        all_up && terminal_lives && played && !law.waits() && world.is_plain()
    }
}

/// What the people at a dice table do next.
fn way_out(law: &DiceLaw, world: &World, crew: Crew) -> Vec<Act> {
    let mut acts = Vec::new();
    let ups = world.kinds.iter().filter(|kind| !world.is_up(**kind));
    if crew.supervisor {
        if law.ground.is_frozen() {
            acts.extend([unlock(), supervisor(OperatorAct::Resume)]);
        } else if law.ground.held != 0 && law.ground.held != RoundHeldCause::TumblerShort as i32 {
            acts.push(supervisor(OperatorAct::Resume));
        }
        let configured = TableLockedReason::Configuration as i32;
        if law.ground.locks.iter().any(|(reason, _)| *reason == configured) {
            acts.push(void(None));
        }
    }
    match law.stage {
        Stage::Ready => {}
        Stage::Tumbling if crew.supervisor && law.rules.void => acts.push(void(None)),
        // Nobody has bet: bets that nobody could place go back.
        Stage::Tumbling if crew.supervisor => acts.push(supervisor(OperatorAct::Close)),
        Stage::Tumbling => {}
        Stage::Betting => {
            acts.extend([Act::Bell, Act::Wait(350)]);
            if crew.supervisor {
                acts.push(enter_result());
            }
        }
        Stage::Closed | Stage::Landed => {
            if law.stage == Stage::Closed {
                acts.extend([
                    Act::Cover(Cover::Off),
                    Act::SpinBegins,
                    Act::SpinEnds(3),
                    Act::NextDeadline,
                ]);
            }
            acts.extend([Act::Wait(350), Act::KeysIn(DIFFERENT)]);
            if crew.supervisor {
                acts.push(enter_result());
            }
        }
        Stage::Entered => {
            let press = [Act::LampsFollow, Act::NextDeadline, Act::Wait(3_200), Act::Enter];
            acts.extend(press);
            // Keys that were pressed are refused, and gone.
            acts.push(Act::KeysIn(TWO_KEYS));
            if crew.supervisor {
                acts.push(supervisor(OperatorAct::Settle));
            }
        }
    }
    acts.extend(ups.map(|kind| Act::Up(*kind)));
    acts.push(Act::NextDeadline);
    acts
}
