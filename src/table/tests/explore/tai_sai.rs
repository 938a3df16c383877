//! Tai-sai of style A, explored.
//!
//! One layout is enough: the table asks it for the winners of three faces, and for nothing else. Three results are enough, one of
//! each shape (three numbers, a double, a triple): faces decide nothing but those winners, which are tried for all 56 elsewhere.

use super::dice_law::{DiceLaw, Stage};
use super::law::Law;
use super::search::{Crew, Game};
use super::world::{Act, CONNECTIONS, Shown, World};
use crate::rules::tai_sai::{Layout, Style};
use crate::table::event::{Mode, OpeningCheck, RoundHeldCause, RoundVoidedReason, TableLockedReason};
use crate::table::incident::IncidentCause;
use crate::table::input::{
    Condition, Contact, Cover, DeviceKind, DiceReading, Flatness, Input, Key, OperatorAct, Role,
};
use crate::table::{GameConfig, TableConfig, TaiSaiConfig};
use std::time::Duration;

pub const KINDS: &[DeviceKind] = &[DeviceKind::LayoutLamps, DeviceKind::Terminal, DeviceKind::Tumbler];

const DIFFERENT: &[Key] = &[Key::Number(6), Key::Number(1), Key::Number(3)];
const TRIPLE: &[Key] = &[Key::Number(4), Key::Number(4), Key::Number(4)];
const TWO_KEYS: &[Key] = &[Key::Number(1), Key::Number(2)];
const FOUR_KEYS: &[Key] = &[Key::Number(5), Key::Number(6), Key::Number(1), Key::Number(3)];
const UNKNOWN_KEY: &[Key] = &[Key::Other(99), Key::Number(1), Key::Number(3), Key::Number(6)];
const NO_SPIN: &[Key] = &[Key::NoSpin];
const DOUBLE: [u8; 3] = [5, 2, 2];
const OTHER: [u8; 3] = [1, 1, 1];

pub struct StyleA;

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
    for kind in KINDS {
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

/// From a start to a round whose result is entered; each state on the way is a root.
fn round() -> Vec<Act> {
    vec![
        Act::Up(DeviceKind::LayoutLamps),
        Act::Up(DeviceKind::Terminal),
        Act::Up(DeviceKind::Tumbler),
        Act::Wait(3_200),
        supervisor(OperatorAct::OpenVouched),
        Act::SpinBegins,
        Act::SpinEnds(3),
        Act::NextDeadline,
        Act::Wait(1_200),
        Act::Bell,
        Act::Wait(1_200),
        Act::Cover(Cover::Off),
        Act::Wait(350),
        Act::KeysIn(DIFFERENT),
        Act::LampsFollow,
    ]
}

impl Game for StyleA {
    type Law = DiceLaw;

    fn name(&self) -> &'static str {
        "tai-sai, style A"
    }

    fn config(&self) -> TableConfig {
        TableConfig {
            game: GameConfig::TaiSai(TaiSaiConfig {
                style: Style::A,
                layout: Layout::Appendix1,
                lamp_map: (0..50).map(|bit| vec![bit]).collect(),
                rest: Duration::from_secs(3),
                settle_after: Duration::from_secs(3),
                cover_settles_after: Duration::from_secs(5),
                hold_no_spin_after_uncover: true,
                display_fault_locks: false,
                lamp_wait: Duration::from_secs(1),
            }),
            approved_serials: Some(["T-0042", "E-0007", "L-0003"].map(String::from).into()),
        }
    }

    fn law(&self) -> DiceLaw {
        DiceLaw::new(Layout::Appendix1)
    }

    fn world(&self) -> World {
        World::new(KINDS, Cover::On, 50)
    }

    fn alphabet(&self) -> Vec<Act> {
        ordinary().into_iter().chain(deviations()).collect()
    }

    fn is_ordinary(&self, law: &DiceLaw, world: &World, act: &Act) -> bool {
        let open = law.ground.mode == Mode::Open;
        let next = |stages: &[Stage]| open && !law.waits() && stages.contains(&law.stage);
        match act {
            Act::NextDeadline | Act::Wait(350 | 3_200) | Act::SpinEnds(3) | Act::Up(_) => true,
            Act::SpinBegins => next(&[Stage::Ready, Stage::Tumbling]) && world.tumbler.cover == Cover::On,
            Act::Cover(Cover::Off) => next(&[Stage::Closed]),
            Act::Cover(Cover::On) => true,
            Act::Bell => next(&[Stage::Tumbling, Stage::Betting]),
            Act::KeysIn(keys) => *keys == DIFFERENT && next(&[Stage::Landed]),
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
        let round = round();
        let plain = [4, 5, 7, 8, 10, 12, 13, 15].map(|acts| round[..acts].to_vec());
        let beyond = |acts: usize, more: &[Act]| [&round[..acts], more].concat();
        let mut roots = plain.to_vec();
        roots.extend([
            // Settled by the cover; void for want of a bell; held for want of one; amended; found again after a power cut.
            beyond(15, &[Act::Cover(Cover::On), Act::Wait(3_200), Act::Wait(3_200)]),
            beyond(8, &[Act::Cover(Cover::Off), Act::Wait(3_200)]),
            beyond(
                8,
                &[
                    Act::Down(DeviceKind::Terminal),
                    Act::Cover(Cover::Off),
                    Act::Wait(3_200),
                ],
            ),
            beyond(15, &[supervisor(OperatorAct::Amend { faces: DOUBLE })]),
            beyond(15, &[Act::Restart]),
            // Frozen with bets open, before the entry and after it; held back before bets open.
            beyond(8, &[Act::Seal]),
            beyond(13, &[Act::Turn(Contact::CabinetDoor)]),
            beyond(15, &[Act::Seal]),
            beyond(7, &[supervisor(OperatorAct::Lock { reason: "audit".into() })]),
            beyond(5, &[technician(OperatorAct::EnterTest), Act::SpinBegins]),
            beyond(4, &[Act::SpinBegins]),
            beyond(4, &[supervisor(OperatorAct::BeginOpening)]),
        ]);
        roots
    }

    fn way_out(&self, law: &DiceLaw, world: &World, crew: Crew) -> Vec<Act> {
        dice_way_out(law, world, crew)
    }

    fn is_the_dealers(&self, law: &DiceLaw, world: &World, dead: Option<DeviceKind>) -> bool {
        let all_up = world.kinds.iter().all(|kind| world.is_up(*kind));
        let terminal_lives = dead != Some(DeviceKind::Terminal);
        let played = match law.stage {
            Stage::Ready | Stage::Tumbling => false,
            Stage::Betting => !world.tumbler.exposed,
            Stage::Closed => world.tumbler.cover == Cover::On,
            Stage::Landed | Stage::Entered => true,
        };
        all_up && terminal_lives && played && !law.waits() && world.is_plain()
    }
}

/// What the people at a dice table do next.
pub fn dice_way_out(law: &DiceLaw, world: &World, crew: Crew) -> Vec<Act> {
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
        Stage::Tumbling if crew.supervisor => acts.push(void(None)),
        Stage::Tumbling => {}
        Stage::Betting => {
            acts.extend([Act::Bell, Act::Wait(350)]);
            if crew.supervisor {
                acts.push(enter_result());
            }
        }
        Stage::Closed | Stage::Landed => {
            if law.stage == Stage::Closed {
                acts.extend([Act::Cover(Cover::Off), Act::NextDeadline]);
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
