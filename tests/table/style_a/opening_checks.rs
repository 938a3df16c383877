//! Opening checks: what must be seen or vouched for before a table opens.

use super::*;

fn vouch(s: &mut Scene, check: OpeningCheck) {
    s.operator(OperatorAct::RecordCheck {
        check,
        passed: true,
        text: "seen".into(),
    });
    s.expect_done();
}

#[test]
fn a_table_opens_only_when_every_check_has_passed() {
    play_with(config(), |s| {
        s.operator(OperatorAct::BeginOpening);
        s.expect_done();
        s.operator(OperatorAct::CompleteOpening);
        s.expect_refused();
        for check in [
            OpeningCheck::Devices,
            OpeningCheck::LampWalk,
            OpeningCheck::TestEntries,
            OpeningCheck::Tumbler,
        ] {
            vouch(s, check);
        }
        s.operator(OperatorAct::CompleteOpening);
        s.expect_refused();
        vouch(s, OpeningCheck::Seal);
        s.operator(OperatorAct::CompleteOpening);
        s.expect_done();
        assert_eq!(s.state().mode(), tablegate::table::event::Mode::Open);
    });
}

#[test]
fn a_check_that_failed_keeps_it_closed() {
    play_with(config(), |s| {
        s.operator(OperatorAct::BeginOpening);
        for check in [
            OpeningCheck::Devices,
            OpeningCheck::LampWalk,
            OpeningCheck::TestEntries,
            OpeningCheck::Tumbler,
        ] {
            vouch(s, check);
        }
        s.operator(OperatorAct::RecordCheck {
            check: OpeningCheck::Seal,
            passed: false,
            text: "torn".into(),
        });
        s.operator(OperatorAct::CompleteOpening);
        s.expect_refused();
    });
}

#[test]
fn test_entries_are_recorded_one_by_one_and_only_all_of_them_are_the_check() {
    play_with(config(), |s| {
        s.operator(OperatorAct::BeginOpening);
        let record = |s: &mut Scene, passed| {
            let text = "looked at".into();
            s.operator(OperatorAct::RecordTestEntry { passed, text });
        };
        record(s, true);
        s.expect_refused();
        s.forget();
        s.key_in(&[1, 3, 6]);
        record(s, true);
        s.key_in(&[2, 2, 5]);
        record(s, false);
        s.expect_events(&[
            "OpeningCheckRecorded TEST_ENTRIES entry:1,3,6 passed vouched by:supervisor",
            "OpeningCheckRecorded TEST_ENTRIES entry:2,2,5 failed vouched by:supervisor",
        ]);
        for check in [
            OpeningCheck::Devices,
            OpeningCheck::LampWalk,
            OpeningCheck::Tumbler,
            OpeningCheck::Seal,
        ] {
            vouch(s, check);
        }
        s.operator(OperatorAct::CompleteOpening);
        s.expect_refused();
        vouch(s, OpeningCheck::TestEntries);
        s.operator(OperatorAct::CompleteOpening);
        s.expect_done();
        record(s, true);
        s.expect_refused();
    });
}

#[test]
fn devices_are_seen_by_their_links() {
    play_with(config(), |s| {
        s.offline(DeviceKind::LayoutLamps);
        s.operator(OperatorAct::OpenVouched);
        s.wait(60_000);
        assert_ne!(s.state().mode(), tablegate::table::event::Mode::Open, "{}", s.story());
    });
}

#[test]
fn the_lamp_walk_lights_every_lamp_and_reads_it_back() {
    play_with(config(), |s| {
        s.operator(OperatorAct::BeginOpening);
        s.operator(OperatorAct::WalkLamps);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..3000 {
            s.wait(50);
            seen.extend(s.lit());
        }
        assert_eq!(seen, (0..50).collect(), "every lamp was lit");
        s.expect_dark();
        s.expect_events(&["OpeningStarted", "OpeningCheckRecorded LAMP_WALK passed seen"]);
    });
}

/// A board answers each picture, and more than 100 messages in 2 s are a noisy link.
#[test]
fn the_lamp_walk_asks_a_quick_board_for_no_more_answers_than_its_link_may_carry() {
    let alternative = config_with(|config| {
        config.layout = Layout::Appendix2;
        config.lamp_map = (0..106).map(|bit| vec![bit]).collect();
    });
    play_with(alternative, |s| {
        s.lamps.manners = Manners::FollowsAtOnce;
        s.operator(OperatorAct::BeginOpening);
        s.operator(OperatorAct::WalkLamps);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..2000 {
            s.wait(1);
            seen.extend(s.lit());
        }
        assert!((20..=90).contains(&seen.len()), "{} pictures in 2 s", seen.len());
        s.wait(10_000);
        s.expect_events(&["OpeningStarted", "OpeningCheckRecorded LAMP_WALK passed seen"]);
    });
}

#[test]
fn a_dark_lamp_fails_the_walk() {
    play_with(config(), |s| {
        s.lamps.dead = vec![17];
        s.operator(OperatorAct::BeginOpening);
        s.operator(OperatorAct::WalkLamps);
        s.wait(150_000);
        let passed = s.newest(|body| match body {
            Body::OpeningCheckRecorded(b) if b.check() == OpeningCheck::LampWalk => Some(b.passed),
            _ => None,
        });
        assert!(!passed, "{}", s.story());
    });
}

#[test]
fn a_lamp_that_is_always_lit_fails_the_walk() {
    play_with(config(), |s| {
        s.lamps.stuck = vec![3];
        s.lamps.show();
        s.operator(OperatorAct::BeginOpening);
        s.operator(OperatorAct::WalkLamps);
        s.wait(150_000);
        let passed = s.newest(|body| match body {
            Body::OpeningCheckRecorded(b) if b.check() == OpeningCheck::LampWalk => Some(b.passed),
            _ => None,
        });
        assert!(!passed, "{}", s.story());
    });
}

#[test]
fn a_test_entry_lights_its_areas() {
    play_with(config(), |s| {
        s.operator(OperatorAct::BeginOpening);
        s.forget();
        s.operator(OperatorAct::LightTestEntry { faces: [1, 1, 2] });
        s.expect_lit([1, 1, 2]);
        s.wait(1500);
        s.key_in(&[4, 6, 6]);
        s.expect_lit([4, 6, 6]);
        assert!(
            s.events
                .iter()
                .all(|r| !matches!(r.event.body, Some(Body::ResultEntered(_))))
        );
    });
}

#[test]
fn the_tumbler_is_tried_by_an_activation_journalled_before_the_command_leaves() {
    play_with(config(), |s| {
        s.operator(OperatorAct::BeginOpening);
        s.operator(OperatorAct::SpinTumbler);
        assert!(
            matches!(s.commands[..], [DeviceCommand::Spin { .. }]),
            "{:?}",
            s.commands
        );
        s.wait(5000);
        s.expect_events(&[
            "OpeningStarted",
            "TumblerStarted TUMBLER by:supervisor",
            "OpeningCheckRecorded TUMBLER passed seen",
        ]);
    });
}

#[test]
fn a_tumbler_that_does_not_spin_fails() {
    play_with(config(), |s| {
        s.operator(OperatorAct::BeginOpening);
        s.tumbler_changes(|t| t.motion = Motion::Fault);
        for check in [
            OpeningCheck::Devices,
            OpeningCheck::LampWalk,
            OpeningCheck::TestEntries,
            OpeningCheck::Seal,
        ] {
            vouch(s, check);
        }
        s.operator(OperatorAct::SpinTumbler);
        s.wait(60_000);
        s.operator(OperatorAct::CompleteOpening);
        s.expect_refused();
    });
}

#[test]
fn a_broken_seal_is_not_vouched_for_without_questions() {
    play_with(config(), |s| {
        s.tumbler_changes(|t| t.seal = Seal::Broken);
        s.operator(OperatorAct::OpenVouched);
        s.wait(60_000);
        assert_ne!(s.state().mode(), tablegate::table::event::Mode::Open, "{}", s.story());
    });
}

#[test]
fn without_questions_a_walk_that_was_read_back_is_seen_and_lamps_nobody_walked_are_vouched_for() {
    for (walked, record) in [
        (true, "OpeningCheckRecorded LAMP_WALK passed seen"),
        (false, "OpeningCheckRecorded LAMP_WALK passed vouched"),
    ] {
        play_with(config(), |s| {
            if walked {
                s.operator(OperatorAct::BeginOpening);
                s.operator(OperatorAct::WalkLamps);
                s.wait(150_000);
            }
            s.operator(OperatorAct::OpenVouched);
            assert_eq!(s.state().mode(), tablegate::table::event::Mode::Open, "{}", s.story());
            assert_eq!(s.story().matches(record).count(), 1, "{record}:\n{}", s.story());
        });
    }
}

#[test]
fn without_questions_a_lamp_that_failed_the_walk_keeps_the_table_closed() {
    play_with(config(), |s| {
        s.lamps.dead = vec![17];
        s.operator(OperatorAct::BeginOpening);
        s.operator(OperatorAct::WalkLamps);
        s.wait(150_000);
        s.operator(OperatorAct::OpenVouched);
        s.expect_refused();
        assert_eq!(s.state().mode(), tablegate::table::event::Mode::Closed, "{}", s.story());
    });
}

#[test]
fn what_a_tumbler_counted_while_away_is_no_activation() {
    for spins in [0, 3, 4711] {
        play_with(config(), |s| {
            s.spin_ends(3);
            s.operator(OperatorAct::BeginOpening);
            s.offline(DeviceKind::Tumbler);
            s.tumbler.spins = spins;
            s.online(DeviceKind::Tumbler);
            s.wait(2000);
            assert!(
                !s.story().contains("OpeningCheckRecorded TUMBLER"),
                "{spins} spins:\n{}",
                s.story()
            );
        });
    }
}

#[test]
fn only_a_supervisor_opens() {
    play_with(config(), |s| {
        s.act_as(technician(), OperatorAct::OpenVouched);
        s.expect_refused();
        s.expect_no_events();
    });
}

#[test]
fn opened_without_questions_records_what_was_seen_and_what_was_vouched() {
    play_with(config(), |s| {
        s.operator(OperatorAct::OpenVouched);
        s.wait(60_000);
        let recorded = |check| {
            s.events
                .iter()
                .any(|r| matches!(&r.event.body, Some(Body::OpeningCheckRecorded(b)) if b.check() == check && b.passed))
        };
        let every = [
            OpeningCheck::Devices,
            OpeningCheck::LampWalk,
            OpeningCheck::TestEntries,
            OpeningCheck::Tumbler,
            OpeningCheck::Seal,
        ];
        assert!(every.into_iter().all(recorded), "{}", s.story());
        s.forget();
        s.reach_betting();
    });
}

/// Nobody sees a test entry, or keys it, while a device that the game needs is away.
#[test]
fn no_word_confirms_a_test_entry_while_a_device_is_away() {
    for device in [DeviceKind::LayoutLamps, DeviceKind::Terminal, DeviceKind::Tumbler] {
        play_with(config(), |s| {
            s.operator(OperatorAct::BeginOpening);
            s.key_in(&[1, 3, 6]);
            s.offline(device);
            let record = |s: &mut Scene, passed| {
                let text = "looked at".into();
                s.operator(OperatorAct::RecordTestEntry { passed, text });
            };
            record(s, true);
            s.expect_refused();
            // That it was not as it must be can be said all the same.
            record(s, false);
            s.expect_done();
            s.online(device);
            record(s, true);
            s.expect_done();
        });
    }
}

/// What is measured of a test entry's picture is there to be told, in both directions, and only of lamps that measure.
#[test]
fn an_area_that_does_not_follow_a_test_entry_is_told() {
    /// Lamps that stay dark, and that burn; whether they are measured; what is told.
    type Row = (&'static [u16], &'static [u16], bool, &'static [(&'static str, bool)]);
    let rows: [Row; 4] = [
        (&[], &[], true, &[]),
        (&[0], &[], true, &[("small", false)]),
        (&[0], &[30], true, &[("small", false), ("pair_1_3", true)]),
        (&[0], &[30], false, &[]),
    ];
    for (dead, stuck, measured, told) in rows {
        play_with(config(), |s| {
            s.lamps.dead = dead.to_vec();
            s.lamps.stuck = stuck.to_vec();
            s.lamps.measured = measured;
            s.operator(OperatorAct::BeginOpening);
            s.key_in(&[1, 1, 2]);
            s.wait(1000);
            let differs = s.table.situation().test_differs;
            let differs: Vec<_> = differs.iter().map(|d| (d.area.as_str(), d.wrongly_lit)).collect();
            assert_eq!(differs, told);
        });
    }
}

/// Whatever lock stands: who opens is told of it, the event says so, and no round starts.
#[test]
fn a_table_that_is_opened_under_a_lock_says_so_and_starts_no_round() {
    type Open = fn(&mut Scene);
    let ways: [Open; 2] = [
        |s| s.operator(OperatorAct::OpenVouched),
        |s| {
            s.operator(OperatorAct::BeginOpening);
            for check in [
                OpeningCheck::Devices,
                OpeningCheck::LampWalk,
                OpeningCheck::TestEntries,
                OpeningCheck::Tumbler,
                OpeningCheck::Seal,
            ] {
                vouch(s, check);
            }
            s.operator(OperatorAct::CompleteOpening);
        },
    ];
    let reasons = (1..).map_while(|number| TableLockedReason::try_from(number).ok());
    for reason in reasons {
        for kind in [TableLockedKind::HoldNext, TableLockedKind::Freeze] {
            for open in ways {
                play_with(config(), |s| {
                    s.gateway_says(Body::TableLocked(TableLocked {
                        reason: reason as i32,
                        kind: kind as i32,
                        ..TableLocked::default()
                    }));
                    open(s);
                    let answer = s.answer.clone().unwrap().unwrap();
                    let says = match kind {
                        TableLockedKind::Freeze => "it is frozen before this has ended: ",
                        _ => "no round starts before this has ended: ",
                    };
                    assert!(answer.contains(says), "{reason:?}: {answer}");
                    let opened = s.newest(|body| match body {
                        Body::TableOpened(opened) => Some(opened.locks().collect::<Vec<_>>()),
                        _ => None,
                    });
                    assert_eq!(opened, [reason]);
                    s.spin(3);
                    s.wait(10_000);
                    s.bell();
                    let begun = |body: &Body| matches!(body, Body::BetsOpened(_));
                    assert!(
                        !s.events.iter().filter_map(|r| r.event.body.as_ref()).any(begun),
                        "{reason:?}"
                    );
                });
            }
        }
    }
    play(|s| assert_eq!(s.state().locks.len(), 0));
    play_with(config(), |s| {
        s.open();
        assert_eq!(s.answer, Some(Ok("The table is open.".into())));
    });
}
