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
