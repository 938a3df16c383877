//! Tests of devices in test mode: what each finds, what is recorded of it, and that everything is afterwards as before.

use crate::devices::bits_of;
use crate::scene::{Scene, config, config_with, play, play_with, supervisor, technician};
use tablegate::table::event::{Body, Mode, TableLockedKind, TableLockedReason, TestRecorded};
use tablegate::table::input::{
    Contact, Cover, DeviceKind, Input, Key, LightSeen, Motion, OperatorAct, Part, Pattern, Seal, Shown, TestStep,
};

const LAMPS: DeviceKind = DeviceKind::LayoutLamps;

fn take(s: &mut Scene, step: TestStep) {
    s.act_as(technician(), OperatorAct::DeviceTest(step));
    s.expect_done();
}

fn begin(s: &mut Scene, device: DeviceKind) {
    s.act_as(technician(), OperatorAct::EnterTest);
    s.expect_done();
    take(s, TestStep::Begin { device });
    s.forget();
}

/// Every lamp alone, each until it is judged.
fn walk(s: &mut Scene) {
    for bit in [None].into_iter().chain((0..50).map(Some)) {
        take(s, TestStep::Light { bit });
        assert!(
            bits_of(&s.lamps.commanded.lit).into_iter().eq(bit),
            "{bit:?} alone is commanded"
        );
        s.wait(6000);
        let test = s.table.situation().device_test.expect("it runs");
        assert!(test.judged, "{bit:?} is judged");
    }
}

/// The lamps' device sees what they show, and says so.
fn look(s: &mut Scene) {
    s.lamps.show();
    let report = s.lamps.report();
    s.feed(Input::Lamps(report));
}

fn say(s: &mut Scene, what: Shown, seen: LightSeen) {
    take(s, TestStep::Say { what, seen });
}

fn recorded(s: &Scene) -> TestRecorded {
    let mut tests = s.events.iter().filter_map(|r| match &r.event.body {
        Some(Body::TestRecorded(test)) => Some(test.clone()),
        _ => None,
    });
    tests.next_back().expect("a test was recorded")
}

fn records(s: &Scene) -> usize {
    let is_record = |body: &&Body| matches!(body, Body::TestRecorded(_));
    s.events
        .iter()
        .filter_map(|r| r.event.body.as_ref())
        .filter(is_record)
        .count()
}

#[test]
fn lamps_that_follow_pass_and_the_layout_is_dark_again() {
    play(|s| {
        begin(s, LAMPS);
        walk(s);
        take(s, TestStep::End);
        s.expect_events(&["TestRecorded LAMPS passed tried:50/50 LAYOUT_LAMPS by:technician round:0"]);
        s.expect_dark();
        s.act_as(technician(), OperatorAct::LeaveTest);
        assert_eq!(s.state().mode(), Mode::Open);
        s.wait(10_000);
        s.expect_events(&["TestModeLeft"]);
        s.expect_phase("ready");
    });
}

#[test]
fn a_dead_lamp_and_one_that_always_burns_are_measured() {
    play_with(config(), |s| {
        s.lamps.dead = vec![16];
        s.lamps.stuck = vec![30];
        look(s);
        begin(s, LAMPS);
        walk(s);
        take(s, TestStep::End);
        s.expect_events(&["TestRecorded LAMPS not_passed tried:50/50 DARK:total_5/16 LIT:pair_1_3/30"]);
        assert_eq!(recorded(s).findings[1].other, "", "it burns when nothing is lit");
    });
}

#[test]
fn a_lamp_that_burns_with_another_is_named_with_it_and_one_that_the_board_knows_of_is_dead() {
    play_with(config(), |s| {
        begin(s, LAMPS);
        s.lamps.stuck = vec![9];
        s.lamps.failed = vec![0b1_0000];
        take(s, TestStep::Light { bit: Some(3) });
        s.wait(6000);
        s.lamps.stuck.clear();
        take(s, TestStep::Light { bit: Some(4) });
        s.wait(6000);
        take(s, TestStep::End);
        let found: Vec<_> = recorded(s)
            .findings
            .iter()
            .map(|found| {
                (
                    found.fault().as_str_name().to_owned(),
                    found.number,
                    found.other.clone(),
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                ("TEST_FAULT_DARK".to_owned(), Some(4), String::new()),
                ("TEST_FAULT_LIT".to_owned(), Some(9), "triple_2".to_owned()),
            ]
        );
        assert!(
            recorded(s).tried == 2 && recorded(s).not_tested.len() == 20,
            "the rest was not tested"
        );
    });
}

#[test]
fn what_a_person_sees_counts_beside_what_is_measured() {
    play_with(config(), |s| {
        begin(s, LAMPS);
        walk(s);
        say(s, Shown::Lamp(7), LightSeen::Failed);
        say(s, Shown::OtherLamps, LightSeen::Works);
        take(s, TestStep::End);
        s.expect_events(&["TestRecorded LAMPS not_passed watched SAID_DARK:triple_6/7"]);
    });
}

#[test]
fn lamps_that_are_not_measured_are_tested_by_a_person_or_not_at_all() {
    for watched in [false, true] {
        play_with(config(), |s| {
            s.lamps.measured = false;
            look(s);
            begin(s, LAMPS);
            walk(s);
            if watched {
                say(s, Shown::OtherLamps, LightSeen::Works);
            }
            take(s, TestStep::End);
            s.expect_events(&[match watched {
                true => "TestRecorded LAMPS passed watched tried:50/50",
                false => "TestRecorded LAMPS not_passed tried:0/50",
            }]);
        });
    }
}

#[test]
fn a_lamp_is_found_among_several_of_its_area() {
    let config = config_with(|tai_sai| tai_sai.lamp_map[0] = vec![0, 60, 61]);
    play_with(config, |s| {
        s.lamps.dead = vec![61];
        begin(s, LAMPS);
        for bit in [None, Some(0), Some(60), Some(61)] {
            take(s, TestStep::Light { bit });
            s.wait(6000);
        }
        take(s, TestStep::End);
        s.expect_events(&["TestRecorded LAMPS not_passed tried:3/52 DARK:small/61"]);
    });
}

#[test]
fn a_test_ends_with_whoever_runs_it_with_its_device_and_with_the_daemon() {
    let gone = Input::OperatorGone {
        connection: technician().connection,
    };
    play(|s| {
        begin(s, LAMPS);
        take(s, TestStep::Light { bit: Some(5) });
        s.wait(2000);
        s.feed(gone);
        s.expect_events(&[
            "TestRecorded LAMPS not_passed interrupted tried:1/50 by:technician",
            "TestModeLeft",
        ]);
        s.expect_dark();
        assert_eq!(s.state().mode(), Mode::Open);
    });
    play(|s| {
        begin(s, LAMPS);
        take(s, TestStep::Light { bit: Some(5) });
        s.wait(2000);
        s.offline(LAMPS);
        s.expect_events(&[
            "DeviceOffline",
            "TestRecorded LAMPS not_passed interrupted tried:1/50 by:technician",
        ]);
        s.act_as(technician(), OperatorAct::DeviceTest(TestStep::Light { bit: Some(6) }));
        s.expect_refused();
        s.online(LAMPS);
        s.wait(2000);
        s.expect_dark();
    });
    play(|s| {
        begin(s, LAMPS);
        take(s, TestStep::Light { bit: Some(5) });
        s.wait(2000);
        s.restart();
        s.wait(2000);
        s.expect_dark();
        assert_eq!(s.state().mode(), Mode::Open);
    });
}

/// A test that was begun has a record, however the daemon ends; one that has its record gets no other.
#[test]
fn a_test_that_the_daemon_did_not_outlive_is_recorded_as_broken_off_once() {
    type End = fn(&mut Scene);
    let ends: [(&str, End, [u32; 3]); 3] = [
        ("it is killed", Scene::restart, [0, 0, 0]),
        // One lamp was lit, and the tumbler's seal is known without a hand.
        ("it is stopped", Scene::restart_cleanly, [1, 0, 1]),
        (
            "it is killed twice",
            |s| {
                s.restart();
                s.restart();
            },
            [0, 0, 0],
        ),
    ];
    let devices = [(LAMPS, 50), (DeviceKind::Terminal, 13), (DeviceKind::Tumbler, 3)];
    for (how, end, tried) in ends {
        for ((device, parts), tried) in devices.into_iter().zip(tried) {
            println!("the {device:?} is tried, and {how}");
            play(|s| {
                begin(s, device);
                if device == LAMPS {
                    take(s, TestStep::Light { bit: Some(5) });
                }
                s.wait(2000);
                end(s);
                assert_eq!(records(s), 1, "{how}");
                let test = recorded(s);
                assert!(test.interrupted && !test.passed, "{how}: {test:?}");
                assert_eq!((test.tried, test.parts), (tried, parts), "{how}");
                assert_eq!(s.state().mode(), Mode::Open);
            });
        }
    }
    // Nothing ran any more, or was never begun.
    for tried in [true, false] {
        play(|s| {
            s.act_as(technician(), OperatorAct::EnterTest);
            if tried {
                take(s, TestStep::Begin { device: LAMPS });
                take(s, TestStep::End);
            }
            s.restart();
            assert_eq!(records(s), usize::from(tried));
        });
    }
}

/// What a test shows to work ends a failure that was known, and nothing else does.
#[test]
fn a_lamp_that_a_test_finds_to_work_is_no_failed_lamp_any_longer() {
    /// What is done to the layout before the test, what is said in it, and the lamps that are known to fail after it.
    type Row = (&'static str, fn(&mut Scene), fn(&mut Scene), &'static [&'static str]);
    let rows: [Row; 6] = [
        (
            "both are mended",
            |s| {
                s.lamps.dead.clear();
                s.lamps.stuck.clear();
            },
            |_| (),
            &[],
        ),
        ("nothing is mended", |_| (), |_| (), &["pair_1_3", "small"]),
        ("one is mended", |s| s.lamps.dead.clear(), |_| (), &["pair_1_3"]),
        ("the other is mended", |s| s.lamps.stuck.clear(), |_| (), &["small"]),
        (
            "a person sees it dark",
            |s| {
                s.lamps.dead.clear();
                s.lamps.stuck.clear();
            },
            |s| say(s, Shown::Lamp(0), LightSeen::Failed),
            &["small"],
        ),
        (
            "nobody measures any more, and a person sees them lit: what burns is not proven to be dark",
            |s| {
                s.lamps.dead.clear();
                s.lamps.measured = false;
            },
            |s| say(s, Shown::OtherLamps, LightSeen::Works),
            &["pair_1_3"],
        ),
    ];
    for (what, mend, told, left) in rows {
        println!("{what}");
        play(|s| {
            // A round whose small stays dark; then pair_1_3 burns in the dark layout.
            s.lamps.dead = vec![0];
            s.whole_round(&[1, 1, 2]);
            s.lamps.stuck = vec![30];
            look(s);
            s.wait(2000);
            assert_eq!(failed(s), ["pair_1_3", "small"], "{}", s.story());
            begin(s, LAMPS);
            mend(s);
            look(s);
            walk(s);
            told(s);
            take(s, TestStep::End);
            assert_eq!(failed(s), left, "{what}");
            let restored = s
                .events
                .iter()
                .filter(|r| matches!(r.event.body, Some(Body::LampRestored(_))));
            for restored in restored.clone() {
                assert_eq!(
                    restored.event.actor.as_ref().map(|actor| actor.name.as_str()),
                    Some("tom")
                );
            }
            assert_eq!(restored.count(), 2 - left.len());
            // That the next round may start is a supervisor's word.
            s.act_as(technician(), OperatorAct::LeaveTest);
            s.expect_locks(&[(TableLockedReason::Lamp, TableLockedKind::HoldNext)]);
            assert!(s.state().alerts.contains(&"lamp_failed".to_owned()));
            s.operator(OperatorAct::Unlock {
                procedure: "lamp replaced".into(),
            });
            s.expect_done();
            s.expect_locks(&[]);
        });
    }
}

/// Only so many facts fit one decision: the others follow at once.
#[test]
fn a_whole_board_that_works_again_is_told_lamp_by_lamp() {
    play(|s| {
        // Each round names what fails in its own picture.
        for faces in [[1, 1, 2], [4, 5, 6], [1, 3, 6], [2, 2, 5]] {
            s.lamps.dead = (0..50).collect();
            s.whole_round(&faces);
            s.wait(2000);
            s.operator(OperatorAct::Unlock {
                procedure: "tried".into(),
            });
        }
        let known = failed(s).len();
        assert!(known > 16, "{known}");
        s.lamps.dead.clear();
        begin(s, LAMPS);
        walk(s);
        take(s, TestStep::End);
        s.act_as(technician(), OperatorAct::LeaveTest);
        s.wait(1);
        assert_eq!(failed(s), [""; 0]);
        let restored = s
            .events
            .iter()
            .filter(|r| matches!(r.event.body, Some(Body::LampRestored(_))));
        assert_eq!(restored.count(), known);
    });
}

fn failed(s: &Scene) -> Vec<String> {
    let failed = s.table.situation().failed_lamps;
    failed.into_iter().map(|failed| failed.area).collect()
}

/// A guided test's steps that come when it has ended already are refused, and are nobody's act.
#[test]
fn what_a_guided_test_asks_for_too_late_is_no_act_of_a_person() {
    let late = [
        TestStep::Light { bit: Some(6) },
        TestStep::Ask { part: Part::Cover },
        TestStep::Say {
            what: Shown::OtherLamps,
            seen: LightSeen::Works,
        },
        TestStep::End,
    ];
    type End = fn(&mut Scene);
    let ends: [End; 2] = [|s| s.offline(LAMPS), |s| s.act_as(technician(), OperatorAct::LeaveTest)];
    for end in ends {
        play(|s| {
            begin(s, LAMPS);
            take(s, TestStep::Light { bit: Some(5) });
            end(s);
            s.forget();
            for step in &late {
                s.act_as(technician(), OperatorAct::DeviceTest(step.clone()));
                s.expect_refused();
            }
            s.expect_no_events();
            // What a person asks for is theirs.
            s.act_as(technician(), OperatorAct::DeviceTest(TestStep::Begin { device: LAMPS }));
            s.expect_refused();
            s.expect_events(&["ActRefused by:technician"]);
        });
    }
}

/// A code tells of what the table is: it is gone with that, and isn't blinked into what the table is then.
#[test]
fn no_code_of_test_mode_outlives_it() {
    type Press = fn(&mut Scene);
    let presses: [(&str, Press); 3] = [
        ("ENTER", Scene::enter),
        ("the bell", Scene::bell),
        ("no spin", |s| s.contact(Contact::NoSpinButton, true)),
    ];
    for (what, press) in presses {
        for (open, shown) in [(true, ""), (false, "CLO")] {
            println!("{what}; the table is open: {open}");
            let script = |s: &mut Scene| {
                s.act_as(technician(), OperatorAct::EnterTest);
                press(s);
                let readout = s.table.indicators().readout;
                assert_eq!((readout.text.as_str(), readout.blink), ("TST", true), "{what}");
                s.wait(300);
                s.act_as(technician(), OperatorAct::LeaveTest);
                for _ in 0..8 {
                    let readout = s.table.indicators().readout;
                    assert_eq!((readout.text.as_str(), readout.blink), (shown, false), "{what}");
                    s.wait(500);
                }
            };
            match open {
                true => play(script),
                false => play_with(config(), script),
            }
        }
    }
}

#[test]
fn nobody_tests_outside_test_mode_nor_in_anothers() {
    play(|s| {
        s.act_as(technician(), OperatorAct::DeviceTest(TestStep::Begin { device: LAMPS }));
        s.expect_refused();
        s.act_as(technician(), OperatorAct::EnterTest);
        for device in [DeviceKind::LayoutLamps, DeviceKind::Terminal] {
            s.act_as(supervisor(), OperatorAct::DeviceTest(TestStep::Begin { device }));
            s.expect_refused();
        }
        let lights = TestStep::Begin {
            device: DeviceKind::ResultLights,
        };
        s.act_as(technician(), OperatorAct::DeviceTest(lights));
        s.expect_refused();
        take(s, TestStep::Begin { device: LAMPS });
        s.act_as(technician(), OperatorAct::DeviceTest(TestStep::Begin { device: LAMPS }));
        s.expect_refused();
        s.act_as(
            technician(),
            OperatorAct::DeviceTest(TestStep::Light { bit: Some(999) }),
        );
        s.expect_refused();
    });
}

fn key(s: &mut Scene, number: u8, after_ms: u64) {
    s.wait(after_ms);
    let pressed_at = Some(s.uptime());
    let entry = s.terminal.entry;
    s.feed(Input::Key {
        key: Key::Number(number),
        entry,
        pressed_at,
        stale: false,
    });
}

fn ask(s: &mut Scene, part: Part) {
    take(s, TestStep::Ask { part });
}

#[test]
fn every_key_and_contact_is_asked_for_and_one_that_bounces_or_never_answers_is_found() {
    play(|s| {
        begin(s, DeviceKind::Terminal);
        for number in 1..=6 {
            ask(s, Part::Key(Key::Number(number)));
            match number {
                // The wires of 2 and 3 are crossed, and whoever tests goes on.
                3 => key(s, 2, 300),
                // 20 ms apart: one press. 90 ms apart: two.
                5 => {
                    key(s, 5, 300);
                    key(s, 5, 20);
                }
                6 => {
                    key(s, 6, 300);
                    key(s, 6, 90);
                }
                number => key(s, number, 300),
            }
        }
        ask(s, Part::Enter);
        s.enter();
        ask(s, Part::Contact(Contact::Bell));
        s.bell();
        ask(s, Part::Contact(Contact::NoSpinButton));
        s.no_spin();
        ask(s, Part::Contact(Contact::SupervisorKey));
        s.key_on();
        s.key_off();
        ask(s, Part::Contact(Contact::CabinetDoor));
        ask(s, Part::Readout(Pattern::Full));
        s.wait(100);
        s.expect_readout("888");
        say(s, Shown::Readout(Pattern::Full), LightSeen::Works);
        ask(s, Part::Readout(Pattern::Blank));
        s.wait(100);
        s.expect_readout("   ");
        say(s, Shown::Readout(Pattern::Blank), LightSeen::Failed);
        take(s, TestStep::End);
        s.expect_events(&[
            "TestRecorded TERMINAL not_passed watched tried:13/13 NO_ANSWER:key_3/3 BOUNCED:key_5/5 \
                           NO_ANSWER:cabinet_door SAID_WRONG:readout_blank",
        ]);
        let test = recorded(s);
        assert_eq!((test.findings[0].other.as_str(), test.findings[1].times), ("key_2", 1));
        assert_eq!(test.findings.len(), 4, "{:?}", test.findings);
        s.wait(4000);
        s.expect_readout("TST");
        s.act_as(technician(), OperatorAct::LeaveTest);
        // What was rung and pushed in the test belongs to no round.
        s.reach_betting();
        s.restart();
        s.expect_phase("betting");
        s.expect_not_held();
    });
}

#[test]
fn nothing_is_asked_where_nobody_is_there() {
    play_with(config(), |s| {
        begin(s, DeviceKind::Terminal);
        take(s, TestStep::End);
        s.expect_events(&["TestRecorded TERMINAL not_passed tried:0/13"]);
        assert_eq!(recorded(s).not_tested.len(), 13);
    });
}

#[test]
fn a_tumbler_spins_rests_and_has_its_cover_lifted() {
    play(|s| {
        begin(s, DeviceKind::Tumbler);
        s.act_as(technician(), OperatorAct::SpinTumbler);
        s.expect_events(&["TumblerStarted by:technician"]);
        s.wait(2000);
        ask(s, Part::Cover);
        s.uncover();
        s.cover();
        take(s, TestStep::End);
        s.expect_events(&["TestRecorded TUMBLER passed tried:3/3"]);
        s.act_as(technician(), OperatorAct::LeaveTest);
        s.wait(10_000);
        s.expect_phase("ready");
    });
}

#[test]
fn a_tumbler_that_does_not_spin_rest_or_notice_its_cover_is_found() {
    type Course = fn(&mut Scene);
    let fault: Course = |s| {
        s.tumbler_changes(|tumbler| {
            tumbler.motion = Motion::Fault;
            tumbler.fault_code = 3;
        });
    };
    let rows: [(&str, Course, u64, &str); 5] = [
        (
            "it does not spin",
            |s| s.tumbler.wish.inhibit = true,
            2000,
            "DID_NOT_SPIN:spin",
        ),
        ("it does not rest", |_| {}, 100, "DID_NOT_REST:spin"),
        ("it reports a fault", fault, 2000, "FAULT:spin/3"),
        ("its cover is not noticed", |_| {}, 2000, "NO_ANSWER:cover"),
        (
            "its seal is broken",
            |s| s.tumbler_changes(|tumbler| tumbler.seal = Seal::Broken),
            2000,
            "SEAL_BROKEN:seal",
        ),
    ];
    for (name, broken, after_ms, finding) in rows {
        println!("{name}");
        play_with(config(), |s| {
            begin(s, DeviceKind::Tumbler);
            ask(s, Part::Cover);
            broken(s);
            s.act_as(technician(), OperatorAct::SpinTumbler);
            s.wait(after_ms);
            s.forget();
            take(s, TestStep::End);
            s.expect_events(&[&format!("TestRecorded TUMBLER not_passed {finding}")]);
        });
    }
}

#[test]
fn a_tumbler_without_a_contact_for_its_cover_is_not_asked_for_it() {
    play_with(config(), |s| {
        s.tumbler_changes(|tumbler| tumbler.cover = Cover::Unknown);
        begin(s, DeviceKind::Tumbler);
        let cover = TestStep::Ask { part: Part::Cover };
        s.act_as(technician(), OperatorAct::DeviceTest(cover));
        s.expect_refused();
        s.forget();
        take(s, TestStep::End);
        s.expect_events(&["TestRecorded TUMBLER not_passed tried:1/2"]);
        assert_eq!(recorded(s).not_tested, ["spin"]);
    });
}

/// Whoever goes, and whatever goes: what was still waited for is not tested, and no fault of the device.
#[test]
fn what_a_broken_off_test_waited_for_is_no_fault() {
    type End = fn(&mut Scene, DeviceKind);
    let ends: [(&str, End); 3] = [
        ("the session dies", |s, _| {
            let connection = technician().connection;
            s.feed(Input::OperatorGone { connection });
        }),
        ("the device goes away", |s, device| s.offline(device)),
        ("test mode is left", |s, _| {
            s.act_as(technician(), OperatorAct::LeaveTest);
        }),
    ];
    type Course = fn(&mut Scene);
    let courses: [(&str, DeviceKind, Course); 3] = [
        ("a key is asked for", DeviceKind::Terminal, |s| {
            ask(s, Part::Key(Key::Number(2)));
        }),
        ("it spins", DeviceKind::Tumbler, |s| {
            s.act_as(technician(), OperatorAct::SpinTumbler);
            s.wait(100);
        }),
        ("the cover is asked for", DeviceKind::Tumbler, |s| ask(s, Part::Cover)),
    ];
    for (how, end) in ends {
        for (what, device, course) in courses {
            println!("{what}, and {how}");
            play_with(config(), |s| {
                begin(s, device);
                course(s);
                end(s, device);
                let test = recorded(s);
                assert!(test.interrupted && !test.passed, "{test:?}");
                assert_eq!(test.findings, [], "{test:?}");
            });
        }
    }
}
