//! People and devices in any order: from wherever that leads, somebody has a lawful next act, the round comes to its settlement
//! whichever device is dead, and no void is the gateway's own unless it saw everything.

use crate::numbers::{Numbers, seeds};
use crate::recovery;
use crate::scene::{Course, Recorded, Scene, config, config_with, sic_bo, technician};
use tablegate::rules::sic_bo::machine::Tumbler as SicBoTumbler;
use tablegate::rules::tai_sai::Style;
use tablegate::table::event::{Body, Mode, RoundHeldCause, RoundVoidedReason, TableLockedKind, TableLockedReason};
use tablegate::table::input::{Condition, Contact, Cover, DeviceKind, Flatness, Input, Key, Motion, OperatorAct, Seal};
use tablegate::table::{GameConfig, HousePolicy, TableConfig};

/// Enough to meet every act in every phase; a few seconds.
const SEEDS: u64 = 100;
/// For each of five tables.
const SEEDS_OF_OTHERS: u64 = 30;
/// Acts in one walk.
const STEPS: u32 = 60;
/// Turns that people get to end a round; a round needs about six.
const TURNS: u32 = 14;

type Act = fn(&mut Scene, &mut Numbers);

fn toggle(s: &mut Scene, kind: DeviceKind) {
    if s.link(kind).up {
        s.offline(kind)
    } else {
        s.online(kind)
    }
}

fn faces(n: &mut Numbers) -> [u8; 3] {
    [0; 3].map(|_| n.of(&[1, 2, 3, 4, 5, 6]))
}

/// The dice tables that are not of style A.
pub fn others() -> Vec<TableConfig> {
    let with_policy = |tumbler| {
        let mut table = sic_bo(tumbler);
        if let GameConfig::SicBo(config) = &mut table.game {
            config.policy = HousePolicy {
                void: true,
                lamps: true,
                amend: true,
            };
        }
        table
    };
    vec![
        config_with(|tai_sai| tai_sai.style = Style::B),
        sic_bo(SicBoTumbler::Covered),
        sic_bo(SicBoTumbler::Open),
        with_policy(SicBoTumbler::Covered),
        with_policy(SicBoTumbler::Open),
    ]
}

/// What the table's people do when all is well, and a little else.
const ORDINARY: &[(&str, Act)] = &[
    ("spin three times", |s, _| s.spin(3)),
    ("spin three times and rest", |s, _| {
        s.spin(3);
        s.wait(3500);
    }),
    ("spin once", |s, _| s.spin(1)),
    ("ring", |s, _| s.bell()),
    ("uncover", |s, _| s.uncover()),
    ("cover off", |s, _| s.cover_off()),
    ("cover on", |s, _| s.cover()),
    ("key in", |s, n| {
        let keys = faces(n);
        s.key_in(&keys);
    }),
    ("a key", |s, n| s.press(&[n.of(&[1, 2, 3, 4, 5, 6])])),
    ("enter", |s, _| s.enter()),
    ("wait and enter", |s, _| {
        s.wait(4000);
        s.enter();
    }),
    ("wait a little", |s, n| s.wait(n.of(&[50, 250, 350, 900]))),
    ("wait", |s, n| s.wait(n.of(&[1500, 2100, 3100, 5200]))),
    ("wait long", |s, n| s.wait(n.of(&[11_000, 31_000, 61_000]))),
];

/// What goes wrong, and what supervisors do.
const SELDOM: &[(&str, Act)] = &[
    ("no spin", |s, _| s.no_spin()),
    ("no spin key and enter", |s, _| {
        s.press_key(Key::NoSpin);
        s.enter();
    }),
    ("supervisor key", |s, _| {
        let on = s.terminal.wire(Contact::SupervisorKey).closed;
        s.contact(Contact::SupervisorKey, !on);
    }),
    ("tumbler link", |s, _| toggle(s, DeviceKind::Tumbler)),
    ("terminal link", |s, _| toggle(s, DeviceKind::Terminal)),
    ("lamps link", |s, _| toggle(s, DeviceKind::LayoutLamps)),
    ("tumbler restarts without its counters", |s, _| {
        s.offline(DeviceKind::Tumbler);
        s.tumbler.link.boot_id += 1;
        s.tumbler.kept = false;
        s.tumbler.activations = 0;
        s.tumbler.spins = 0;
        s.tumbler.motion = Motion::AtRest;
        s.online(DeviceKind::Tumbler);
    }),
    ("terminal restarts", |s, _| {
        s.offline(DeviceKind::Terminal);
        s.terminal.link.boot_id += 1;
        s.terminal.entry = 0;
        s.terminal.shown.clear();
        for wire in &mut s.terminal.wires {
            wire.closings = 0;
        }
        s.online(DeviceKind::Terminal);
    }),
    ("slow terminal", |s, n| {
        s.terminal.link.latency_us = n.of(&[0, 0, 200_000, 1_500_000, 5_000_000])
    }),
    ("slow tumbler", |s, n| {
        s.tumbler.link.latency_us = n.of(&[0, 0, 200_000])
    }),
    ("clocks", |s, _| s.terminal.clocks_related = !s.terminal.clocks_related),
    ("spin despite the inhibit", |s, _| s.spin_despite(1)),
    ("tumbler fault", |s, _| {
        s.tumbler_changes(|t| {
            t.motion = if t.motion == Motion::Fault {
                Motion::AtRest
            } else {
                Motion::Fault
            }
        });
    }),
    ("reader", |s, n| {
        let faces = faces(n);
        s.tumbler.reading = n.of(&[
            None,
            Some((Flatness::Unknown, None)),
            Some((Flatness::NotFlat, None)),
            Some((Flatness::Flat, Some(faces))),
        ]);
    }),
    ("seal", |s, _| {
        s.tumbler_changes(|t| {
            t.seal = if t.seal == Seal::Broken {
                Seal::Intact
            } else {
                Seal::Broken
            }
        })
    }),
    ("door", |s, _| {
        let closed = s.terminal.wire(Contact::CabinetDoor).closed;
        s.contact(Contact::CabinetDoor, !closed);
    }),
    ("lamps die", |s, n| {
        s.lamps.dead = if s.lamps.dead.is_empty() {
            (0..n.of(&[1, 5, 20, 50])).collect()
        } else {
            vec![]
        }
    }),
    ("reads under the cover", |s, _| s.feed(Input::ReadUnderCover)),
    ("disk", |s, n| {
        let standing = n.of(&[true, false]);
        s.feed(Input::Condition {
            condition: Condition::DiskLow,
            text: "disk".into(),
            standing,
        });
    }),
    ("journal", |s, n| {
        let standing = n.of(&[true, false]);
        s.feed(Input::Condition {
            condition: Condition::JournalFailed,
            text: "journal".into(),
            standing,
        });
    }),
    ("restart", |s, _| s.restart()),
    ("restart and moved", |s, n| {
        let (cover, spins, rung) = (n.of(&[Cover::On, Cover::Off]), n.of(&[0, 0, 2]), n.of(&[true, false]));
        s.restart_while(|s| {
            s.tumbler.cover = cover;
            s.tumbler.spins = s.tumbler.spins.wrapping_add(spins);
            s.tumbler.motion = Motion::AtRest;
            if rung {
                s.bell();
            }
        });
    }),
    ("void", |s, _| s.operator(OperatorAct::Void { reason: None })),
    ("state a reason", |s, _| {
        s.operator(OperatorAct::StateVoidReason {
            reason: RoundVoidedReason::ANotFlat,
        })
    }),
    ("settle", |s, _| s.operator(OperatorAct::Settle)),
    ("reopen", |s, _| s.operator(OperatorAct::Reopen)),
    ("resume", |s, _| s.operator(OperatorAct::Resume)),
    ("withdraw", |s, _| s.operator(OperatorAct::WithdrawVoid)),
    ("result", |s, n| {
        s.operator(OperatorAct::EnterResult {
            faces: faces(n),
            reason: "dead".into(),
        })
    }),
    ("amend", |s, n| s.operator(OperatorAct::Amend { faces: faces(n) })),
    ("lock", |s, _| s.operator(OperatorAct::Lock { reason: "audit".into() })),
    ("unlock", |s, _| {
        s.operator(OperatorAct::Unlock {
            procedure: "looked at".into(),
        })
    }),
    ("close", |s, _| s.operator(OperatorAct::Close)),
    ("open", |s, _| {
        s.operator(OperatorAct::OpenVouched);
        s.wait(20_000);
    }),
    ("test", |s, _| s.act_as(technician(), OperatorAct::EnterTest)),
    ("test over", |s, _| s.act_as(technician(), OperatorAct::LeaveTest)),
    ("gone", |s, n| {
        s.feed(Input::OperatorGone {
            connection: n.of(&[1, 2]),
        })
    }),
];

/// What people do next in an ordinary round: without it a walk would seldom get past the bell.
pub fn next_act(s: &mut Scene, n: &mut Numbers) {
    match s.phase().as_str() {
        "ready" if s.course() != Course::Covered => s.operator(OperatorAct::Unlock {
            procedure: "go on".into(),
        }),
        "ready" if s.tumbler.cover == Cover::Off => s.cover(),
        "ready" | "tumbling" => {
            s.spin(3);
            s.wait(3500);
        }
        "betting" => s.bell(),
        "closed" if s.course() == Course::Covered => s.uncover(),
        "closed" if s.course() == Course::Open => spin_and_rest(s),
        "closed" | "landed" => {
            let keys = faces(n);
            s.key_in(&keys);
        }
        "entered" => {
            s.wait(4000);
            s.enter();
        }
        _ if s.state().mode() == Mode::Closed => s.operator(OperatorAct::OpenVouched),
        _ => s.operator(OperatorAct::Unlock {
            procedure: "go on".into(),
        }),
    }
}

fn held(s: &Scene) -> RoundHeldCause {
    s.state().held()
}

fn freezes(s: &Scene) -> bool {
    s.locks().iter().any(|lock| lock.1 == TableLockedKind::Freeze)
}

fn unlock(s: &mut Scene) {
    for _ in 0..4 {
        if s.locks().is_empty() {
            return;
        }
        for lock in s.locks() {
            match lock.0 {
                TableLockedReason::DeviceNotApproved | TableLockedReason::ReadsUnderCover => {
                    s.operator(OperatorAct::AcceptDevice {
                        serial_number: "T-0042".into(),
                    });
                }
                TableLockedReason::Disk => {
                    s.feed(Input::Condition {
                        condition: Condition::DiskLow,
                        text: "room".into(),
                        standing: false,
                    });
                }
                TableLockedReason::Journal => {
                    s.feed(Input::Condition {
                        condition: Condition::JournalFailed,
                        text: "works".into(),
                        standing: false,
                    });
                    s.operator(OperatorAct::Unlock {
                        procedure: "looked at".into(),
                    });
                }
                _ => s.operator(OperatorAct::Unlock {
                    procedure: "looked at".into(),
                }),
            }
        }
    }
    s.expect_locks(&[]);
}

/// Everybody and everything is at the table but the dead device.
fn gather(s: &mut Scene, dead: Option<DeviceKind>) {
    s.terminal.link.latency_us = 0;
    s.tumbler.link.latency_us = 0;
    for &kind in s.kinds() {
        if Some(kind) == dead {
            if s.link(kind).up {
                s.offline(kind);
            }
        } else if !s.link(kind).up {
            s.online(kind);
        }
    }
    s.wait(1500);
    s.spin_ends(1);
    s.contact(Contact::SupervisorKey, false);
    s.contact(Contact::CabinetDoor, true);
    s.wait(1500);
}

/// Whether a terminal that lives can be typed on; the people try it and else ask a supervisor.
fn enter_result(s: &mut Scene, dead: Option<DeviceKind>) {
    if dead != Some(DeviceKind::Terminal) {
        let keys = match s.tumbler.reading {
            Some((Flatness::Flat, Some(faces))) if s.tumbler.cover == Cover::Off => faces,
            _ => [1, 3, 6],
        };
        s.wait(1100);
        s.key_in(&keys);
        s.wait(1000);
    }
    let waits = freezes(s) || held(s) != RoundHeldCause::Unspecified;
    if matches!(s.phase().as_str(), "closed" | "landed") && !waits {
        s.operator(OperatorAct::EnterResult {
            faces: [1, 3, 6],
            reason: "can't be typed".into(),
        });
        s.expect_done();
    }
}

/// One thing that people do to bring the round further; `false`: it is over.
fn turn(s: &mut Scene, dead: Option<DeviceKind>) -> bool {
    let state = s.state();
    if state.round_id == 0 || state.mode() != Mode::Open {
        return false;
    }
    if freezes(s) {
        s.operator(OperatorAct::Unlock {
            procedure: "go on".into(),
        });
        if matches!(s.answer, Some(Err(_))) {
            unlock(s);
        }
        return true;
    }
    if held(s) == RoundHeldCause::TumblerShort {
        s.operator(OperatorAct::Void {
            reason: Some(RoundVoidedReason::ANotActivated),
        });
        // Where the game's law knows no void and the house has none, the table closes on the round.
        if matches!(s.answer, Some(Err(_))) {
            s.operator(OperatorAct::Close);
        }
        s.expect_done();
        return true;
    }
    if held(s) != RoundHeldCause::Unspecified {
        s.operator(OperatorAct::Resume);
        s.expect_done();
        s.wait(500);
        return true;
    }
    match s.phase().as_str() {
        "tumbling" => {
            s.operator(OperatorAct::Close);
            s.expect_done();
        }
        "betting" => {
            if dead == Some(DeviceKind::Terminal) {
                s.operator(OperatorAct::EnterResult {
                    faces: [1, 3, 6],
                    reason: "terminal is dead".into(),
                });
                s.expect_done();
            } else {
                s.wait(1100);
                s.bell();
            }
        }
        "closed" => match s.course() {
            Course::Covered if dead != Some(DeviceKind::Tumbler) && s.tumbler.cover == Cover::On => s.uncover(),
            Course::Open if dead != Some(DeviceKind::Tumbler) => {
                spin_and_rest(s);
                if s.phase() == "closed" {
                    enter_result(s, dead);
                }
            }
            Course::Covered | Course::Open | Course::Cup => enter_result(s, dead),
        },
        "landed" => enter_result(s, dead),
        "entered" => {
            s.wait(7000);
            if dead != Some(DeviceKind::Terminal) {
                s.enter();
            }
            if s.phase() == "entered" && held(s) == RoundHeldCause::Unspecified && !freezes(s) {
                s.wait(5000);
                s.operator(OperatorAct::Settle);
                s.expect_done();
            }
        }
        other => panic!("a round in {other:?}; {}", s.story()),
    }
    true
}

/// The newest event that ended this round.
fn end_of(s: &Scene, from: usize, round: u64) -> Option<&Recorded> {
    s.events[from..].iter().rev().find(|r| {
        let ended = matches!(
            r.event.body,
            Some(Body::RoundSettled(_) | Body::RoundVoided(_) | Body::RoundAbandoned(_))
        );
        ended && r.event.round_id == round
    })
}

/// The round that runs comes to its end, and not by a void unless a person had no better choice.
fn ends(mut s: Scene, dead: Option<DeviceKind>) {
    s.arrivals();
    let from = s.events.len();
    let running = s.state().round_id;
    if running == 0 || s.state().mode() != Mode::Open {
        return;
    }
    gather(&mut s, dead);
    let mut turns = 0;
    while s.state().round_id == running && turn(&mut s, dead) {
        turns += 1;
        assert!(
            turns < TURNS,
            "with {dead:?} dead the round does not end; {}",
            s.story()
        );
        let end = end_of(&s, from, running).map(|r| r.event.body.clone().unwrap());
        if s.state().round_id == 0 && matches!(end, Some(Body::RoundVoided(voided)) if voided.automatic) {
            s.operator(OperatorAct::WithdrawVoid);
            s.expect_done();
        }
    }
    let end = end_of(&s, from, running);
    let end = end.unwrap_or_else(|| panic!("no end of round {running}; {}", s.story()));
    if let Some(Body::RoundVoided(voided)) = &end.event.body {
        let short = voided.reason() == RoundVoidedReason::ANotActivated;
        let exposed = voided.reason() == RoundVoidedReason::AExposedEarly && voided.automatic;
        assert!(short || exposed, "with {dead:?} dead the round is void; {}", s.story());
    }
}

/// With everything mended, another round can be played from here.
fn plays_on(mut s: Scene) {
    ends_here(&mut s);
    s.tumbler.reading = None;
    s.lamps.dead.clear();
    s.lamps.show();
    if s.tumbler.motion == Motion::Fault || s.tumbler.seal == Seal::Broken {
        s.tumbler_changes(|t| {
            t.motion = Motion::AtRest;
            t.seal = Seal::Intact;
        });
    }
    match s.state().mode() {
        Mode::Test => s.act_as(technician(), OperatorAct::LeaveTest),
        Mode::Opening => s.operator(OperatorAct::AbandonOpening),
        _ => {}
    }
    if s.tumbler.cover == Cover::Off {
        s.cover();
    }
    s.wait(15_000);
    unlock(&mut s);
    if s.state().mode() == Mode::Closed {
        s.open();
    }
    let (shows, next) = match s.course() {
        Course::Covered => {
            s.spin(3);
            s.wait(3500);
            (Scene::uncover as fn(&mut Scene), "ready")
        }
        Course::Open => (spin_and_rest as fn(&mut Scene), "betting"),
        Course::Cup => (throw as fn(&mut Scene), "betting"),
    };
    unlock(&mut s);
    s.wait(3500);
    s.expect_phase("betting");
    s.bell();
    s.expect_phase("closed");
    shows(&mut s);
    s.expect_phase(if s.course() == Course::Cup { "closed" } else { "landed" });
    s.wait(1100);
    s.key_in(&[1, 3, 6]);
    s.expect_lit([1, 3, 6]);
    s.wait(4000);
    s.enter();
    s.expect_phase(next);
}

fn spin_and_rest(s: &mut Scene) {
    s.spin(3);
    s.wait(3500);
}

/// The dice are thrown from the cup, which no device sees.
fn throw(s: &mut Scene) {
    s.wait(2000);
}

fn ends_here(s: &mut Scene) {
    gather(s, None);
    let running = s.state().round_id;
    let mut turns = 0;
    while s.state().round_id == running && turn(s, None) {
        turns += 1;
        assert!(turns < TURNS, "the round does not end; {}", s.story());
    }
}

fn walk(seed: u64, table: TableConfig) {
    let mut n = Numbers::new(seed);
    let mut s = Scene::new(table);
    s.open();
    for step in 0..STEPS {
        let (name, act) = match n.below(4) {
            0 | 1 => ("next", next_act as Act),
            2 => n.of(ORDINARY),
            _ => n.of(SELDOM),
        };
        println!("{step:>3} {name} (in {:?} {:?})", s.phase(), held(&s));
        act(&mut s, &mut n);
        if n.below(4) == 0 {
            for dead in [None].into_iter().chain(s.kinds().iter().copied().map(Some)) {
                ends(s.clone(), dead);
            }
            plays_on(s.clone());
        }
    }
    recovery::check(&s);
}

#[test]
fn nobody_is_left_without_a_lawful_next_act_and_no_device_forces_a_void() {
    seeds(SEEDS, |seed| walk(seed, config()));
}

#[test]
fn nobody_is_left_without_a_lawful_next_act_at_the_other_dice_tables() {
    for table in others() {
        seeds(SEEDS_OF_OTHERS, |seed| walk(seed, table.clone()));
    }
}
