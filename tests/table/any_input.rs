//! Whatever arrives, in whatever order and with whatever numbers: nothing panics, no decision outgrows its append, and the
//! journal still gives the table back.

use crate::any_order::others;
use crate::numbers::{Numbers, seeds};
use crate::recovery;
use crate::scene::{Scene, config, supervisor, technician};
use tablegate::rules::chip_and_throw::Incident;
use tablegate::table::TableConfig;
use tablegate::table::event::{DeviceOfflineReason, OpeningCheck, RoundVoidedReason};
use tablegate::table::incident::IncidentCause;
use tablegate::table::input::*;
use tablegate::time::Uptime;

/// Enough to meet pairs of unlikely inputs; a second.
const SEEDS: u64 = 40;
/// Inputs of one run.
const INPUTS: u32 = 400;

const KINDS: [DeviceKind; 4] = [
    DeviceKind::Tumbler,
    DeviceKind::Terminal,
    DeviceKind::LayoutLamps,
    DeviceKind::ResultLights,
];

fn wild(n: &mut Numbers) -> u32 {
    n.of(&[0, 1, 2, 3, 4, 7, 1000, u32::MAX - 1, u32::MAX])
}

fn moment(s: &Scene, n: &mut Numbers) -> Option<Uptime> {
    let now = s.uptime().as_micros();
    let back = n.of(&[0, 0, 0, 100_000, 400_000, 2_500_000, u64::MAX]);
    n.of(&[
        None,
        Some(Uptime::from_micros(now.saturating_sub(back))),
        Some(Uptime::from_micros(now + back / 2)),
    ])
}

fn bytes(n: &mut Numbers) -> Vec<u8> {
    (0..n.below(20)).map(|_| n.of(&[0, 0, 1, 0x80, 0xFF])).collect()
}

fn keys(n: &mut Numbers) -> Vec<Key> {
    (0..n.below(5)).map(|_| key(n)).collect()
}

fn key(n: &mut Numbers) -> Key {
    n.of(&[
        Key::Number(1),
        Key::Number(3),
        Key::Number(6),
        Key::Number(0),
        Key::Number(9),
        Key::NoSpin,
        Key::Other(99),
    ])
}

fn text(n: &mut Numbers) -> String {
    let length = n.of(&[0, 1, 20, 200, 201, 1000]);
    n.of(&["x", "é", "\u{1F3B2}"]).repeat(length)
}

fn faces(n: &mut Numbers) -> [u8; 3] {
    [0; 3].map(|_| n.of(&[0, 1, 3, 6, 7, 255]))
}

fn tumbler(n: &mut Numbers) -> TumblerReport {
    let dice = DiceReading {
        flatness: n.of(&[Flatness::Unknown, Flatness::Flat, Flatness::NotFlat]),
        faces: n.of(&[None, Some([1, 3, 6]), Some([0, 9, 255])]),
    };
    TumblerReport {
        motion: n.of(&[
            Motion::Unknown,
            Motion::AtRest,
            Motion::AtRest,
            Motion::Spinning,
            Motion::Fault,
        ]),
        activations: wild(n),
        spins: wild(n),
        cover: n.of(&[Cover::Unknown, Cover::On, Cover::On, Cover::Off]),
        seal: n.of(&[Seal::Unknown, Seal::Intact, Seal::Intact, Seal::Broken]),
        dice: Some(dice).filter(|_| n.below(2) == 0),
        fault_code: n.of(&[0, 0, 0, 5]),
        counters_kept: n.below(2) == 0,
    }
}

fn contact(s: &Scene, n: &mut Numbers) -> ContactReport {
    ContactReport {
        contact: n.of(&[
            Contact::Bell,
            Contact::SupervisorKey,
            Contact::NoSpinButton,
            Contact::CabinetDoor,
        ]),
        closed: n.below(2) == 0,
        closings: wild(n),
        last_closed: moment(s, n),
    }
}

fn terminal(s: &Scene, n: &mut Numbers) -> TerminalReport {
    let contacts = (0..n.below(5)).map(|_| contact(s, n)).collect();
    TerminalReport {
        shown: keys(n),
        entry: wild(n),
        contacts,
    }
}

fn lamps(n: &mut Numbers) -> LampReport {
    LampReport {
        lit: bytes(n),
        failed: bytes(n),
        measured: n.below(2) == 0,
    }
}

fn status(s: &Scene, n: &mut Numbers, kind: DeviceKind) -> DeviceStatus {
    match (n.below(12), kind) {
        (0, _) => DeviceStatus::Lamps(lamps(n)),
        (_, DeviceKind::Tumbler) => DeviceStatus::Tumbler(tumbler(n)),
        (_, DeviceKind::Terminal) => DeviceStatus::Terminal(terminal(s, n)),
        (_, DeviceKind::LayoutLamps | DeviceKind::ResultLights) => DeviceStatus::Lamps(lamps(n)),
    }
}

fn identity(n: &mut Numbers, kind: DeviceKind) -> DeviceIdentity {
    DeviceIdentity {
        kind,
        serial_number: n
            .of(&["T-0042", "E-0007", "", "an-unusually-long-serial-number!"])
            .into(),
        firmware: "1.4".into(),
        boot_id: wild(n),
        lamp_count: wild(n),
        firmware_digest: bytes(n),
    }
}

fn act(n: &mut Numbers) -> OperatorAct {
    let check = n.of(&[
        OpeningCheck::Unspecified,
        OpeningCheck::Devices,
        OpeningCheck::Tumbler,
        OpeningCheck::Dice,
    ]);
    let reason = n.of(&[
        RoundVoidedReason::NotStated,
        RoundVoidedReason::ANotFlat,
        RoundVoidedReason::BLeftArea,
    ]);
    match n.below(26) {
        0 => OperatorAct::BeginOpening,
        1 => OperatorAct::WalkLamps,
        2 => OperatorAct::LightTestEntry { faces: faces(n) },
        3 => OperatorAct::SpinTumbler,
        4 => OperatorAct::RecordCheck {
            check,
            passed: n.below(2) == 0,
            text: text(n),
        },
        5 => OperatorAct::CompleteOpening,
        6 => OperatorAct::AbandonOpening,
        7 => OperatorAct::OpenVouched,
        8 => OperatorAct::Close,
        9 | 10 => OperatorAct::EnterResult {
            faces: faces(n),
            reason: text(n),
        },
        11 => OperatorAct::Amend { faces: faces(n) },
        12 => OperatorAct::Void {
            reason: Some(reason).filter(|_| n.below(2) == 0),
        },
        13 => OperatorAct::StateVoidReason { reason },
        14 => OperatorAct::Settle,
        15 => OperatorAct::Reopen,
        16 | 17 => OperatorAct::Resume,
        18 => OperatorAct::WithdrawVoid,
        19 => OperatorAct::RecordIncident {
            cause: [IncidentCause::Other, IncidentCause::Listed(Incident::ALL[6])][usize::from(n.of(&[true, false]))],
            note: Some(text(n)),
        },
        20 => OperatorAct::Lock { reason: text(n) },
        21 | 22 => OperatorAct::Unlock { procedure: text(n) },
        23 => OperatorAct::AcceptDevice {
            serial_number: n.of(&["T-0042", ""]).into(),
        },
        24 => OperatorAct::EnterTest,
        _ => OperatorAct::LeaveTest,
    }
}

fn condition(n: &mut Numbers) -> Condition {
    n.of(&[
        Condition::DiskLow,
        Condition::JournalFailed,
        Condition::JournalMovedAside,
        Condition::BrokerUnreachable,
        Condition::LinkOdd(DeviceKind::Terminal),
        Condition::ClockUnsynchronised,
    ])
}

fn input(s: &Scene, n: &mut Numbers) -> Input {
    let kind = n.of(&KINDS);
    let entry = n.of(&[
        s.table.indicators().readout.entry,
        s.table.indicators().readout.entry,
        0,
        u32::MAX,
    ]);
    match n.below(20) {
        0 | 1 => Input::DeviceUp {
            identity: identity(n, kind),
            status: status(s, n, kind),
        },
        2 => Input::DeviceDown {
            kind,
            reason: DeviceOfflineReason::Silent,
            text: text(n),
        },
        3..=5 => Input::Tumbler {
            report: tumbler(n),
            happened: moment(s, n),
        },
        6 => Input::Terminal(terminal(s, n)),
        7 | 8 => Input::Key {
            key: key(n),
            entry,
            pressed_at: moment(s, n),
            stale: n.below(9) == 0,
        },
        9 | 10 => Input::Entry {
            shown: keys(n),
            entry,
            pressed_at: moment(s, n),
            stale: n.below(9) == 0,
        },
        11 | 12 => Input::Contact(contact(s, n)),
        13 => Input::Lamps(lamps(n)),
        14 => Input::LampsAcknowledged {
            lit: if n.below(2) == 0 {
                s.table.indicators().lamps.lit
            } else {
                bytes(n)
            },
        },
        15 => Input::DeviceFault {
            kind,
            code: wild(n),
            text: text(n),
            raised: n.below(2) == 0,
        },
        16 => Input::Condition {
            condition: condition(n),
            text: text(n),
            standing: n.below(2) == 0,
        },
        17 if n.below(3) == 0 => Input::ReadUnderCover,
        17 => Input::OperatorGone { connection: 1 },
        18 => Input::Operator {
            person: technician(),
            act: act(n),
        },
        _ => Input::Operator {
            person: supervisor(),
            act: act(n),
        },
    }
}

fn run(seed: u64, table: TableConfig) {
    let mut n = Numbers::new(seed);
    let mut s = Scene::new(table);
    s.is_physical = false;
    s.open();
    for _ in 0..INPUTS {
        if n.below(4) == 0 {
            crate::any_order::next_act(&mut s, &mut n);
        }
        let input = input(&s, &mut n);
        s.feed(input);
        if n.below(3) == 0 {
            s.wait(n.of(&[1, 50, 400, 3100, 11_000]));
        }
        if n.below(60) == 0 {
            s.stop();
            s.now += 5_000_000;
            s.start_again();
        }
    }
    recovery::check(&s);
}

#[test]
fn nothing_panics_and_the_journal_gives_the_table_back() {
    seeds(SEEDS, |seed| run(seed, config()));
}

#[test]
fn nothing_panics_at_the_other_dice_tables_and_the_journal_gives_them_back() {
    for table in others() {
        seeds(SEEDS, |seed| run(seed, table.clone()));
    }
}
