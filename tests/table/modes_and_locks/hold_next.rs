//! Locks that let this round finish and hold the next.

use super::approval::{DEVICES, approved};
use super::*;

#[test]
fn a_lamp_malfunction_lets_the_round_finish_and_no_other_begin() {
    play(|s| {
        s.lamps.dead = vec![oracle::bit("face_1")];
        s.reach_landed();
        s.key_in(&[1, 3, 6]);
        s.wait(1000);
        s.expect_locks(&[(TableLockedReason::Lamp, HOLD)]);
        s.operator(OperatorAct::Amend { faces: [1, 3, 5] });
        s.expect_done();
        s.expect_lit([1, 3, 5]);
        s.wait(1000);
        s.settle();
        s.spin(3);
        s.wait(60_000);
        s.expect_phase("tumbling");
    });
}

/// Everything that is said to be possible now.
fn possible(s: &Scene) -> String {
    let possible = s.table.situation().possible;
    possible
        .iter()
        .map(|act| act.text.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn what_is_possible_under_a_lock_never_offers_to_open_bets() {
    play(|s| {
        assert!(possible(s).contains("spin the dice"), "{}", possible(s));
        s.operator(OperatorAct::Lock { reason: "audit".into() });
        assert!(possible(s).contains("bets don't open until"), "{}", possible(s));
        s.spin(1);
        assert!(possible(s).contains("at least three spins"), "{}", possible(s));
        assert!(possible(s).contains("bets don't open"), "{}", possible(s));
        s.spin(2);
        s.wait(10_000);
        s.expect_phase("tumbling");
        let told = possible(s);
        assert!(told.contains("bets don't open, and the bell doesn't count"), "{told}");
        assert!(!told.contains("ring the bell"), "{told}");
        unlock(s);
        assert!(possible(s).contains("ring the bell to open"), "{}", possible(s));
        // A device that is away holds it back as well.
        s.offline(DeviceKind::LayoutLamps);
        let told = possible(s);
        assert!(
            told.contains("bets don't open") && told.contains("doesn't answer"),
            "{told}"
        );
    });
}

#[test]
fn it_survives_a_power_cut() {
    play(|s| {
        s.lamps.dead = vec![oracle::bit("face_1")];
        s.whole_round(&[1, 3, 6]);
        s.lamps.dead.clear();
        s.restart();
        s.expect_locks(&[(TableLockedReason::Lamp, HOLD)]);
    });
}

#[test]
fn it_ends_by_a_supervisors_word_and_bets_open_three_seconds_later() {
    play(|s| {
        s.lamps.dead = vec![oracle::bit("face_1")];
        s.whole_round(&[1, 3, 6]);
        s.lamps.dead.clear();
        s.spin(3);
        s.wait(10_000);
        s.forget();
        s.act_as(
            technician(),
            OperatorAct::Unlock {
                procedure: "bulb changed".into(),
            },
        );
        s.expect_refused();
        s.operator(OperatorAct::Unlock {
            procedure: "bulb changed".into(),
        });
        s.expect_done();
        s.wait(2999);
        s.expect_events(&["TableUnlocked LAMP HOLD_NEXT procedure:bulb_changed by:supervisor"]);
        s.wait(1);
        s.expect_events(&["BetsOpened round:2"]);
    });
}

#[test]
fn a_procedure_is_one_to_two_hundred_characters() {
    play(|s| {
        s.operator(OperatorAct::Lock { reason: "audit".into() });
        s.operator(OperatorAct::Unlock {
            procedure: String::new(),
        });
        s.expect_refused();
        s.operator(OperatorAct::Unlock {
            procedure: "x".repeat(201),
        });
        s.expect_refused();
        s.expect_locks(&[(TableLockedReason::Supervisor, HOLD)]);
        s.operator(OperatorAct::Unlock {
            procedure: "é".repeat(200),
        });
        s.expect_done();
    });
}

#[test]
fn unlock_without_a_lock_is_refused() {
    play(|s| {
        s.operator(OperatorAct::Unlock {
            procedure: "nothing to do".into(),
        });
        s.expect_refused();
        s.expect_no_events();
    });
}

#[test]
fn three_seconds_after_the_later_of_spin_and_unlock() {
    play(|s| {
        s.operator(OperatorAct::Lock { reason: "audit".into() });
        s.spin(3);
        s.wait(10_000);
        unlock(s);
        s.wait(2000);
        s.spin_once(1);
        s.wait(2999);
        s.expect_phase("tumbling");
        s.wait(1);
        s.expect_phase("betting");
    });
}

#[test]
fn a_supervisors_lock_holds_the_next_round() {
    play(|s| {
        s.reach_betting();
        s.forget();
        s.operator(OperatorAct::Lock { reason: "audit".into() });
        s.expect_done();
        s.expect_events(&["TableLocked SUPERVISOR HOLD_NEXT by:supervisor"]);
        s.bell();
        s.uncover();
        s.key_in(&[1, 2, 3]);
        s.wait(500);
        s.settle();
        s.spin(3);
        s.wait(10_000);
        s.expect_phase("tumbling");
    });
}

#[test]
fn a_tumbler_malfunction_in_ready() {
    play(|s| {
        s.tumbler_changes(|t| {
            t.motion = Motion::Fault;
            t.fault_code = 3;
        });
        s.expect_locks(&[(TableLockedReason::Tumbler, HOLD)]);
        s.tumbler_changes(|t| {
            t.motion = Motion::AtRest;
            t.fault_code = 0;
        });
        s.wait(1000);
        s.expect_locks(&[(TableLockedReason::Tumbler, HOLD)]);
        unlock(s);
        s.reach_betting();
    });
}

#[test]
fn a_needed_device_that_is_away_holds_by_itself_without_a_lock() {
    play(|s| {
        for kind in [DeviceKind::Terminal, DeviceKind::LayoutLamps] {
            s.offline(kind);
            s.forget();
            s.spin(3);
            s.wait(10_000);
            s.expect_phase("tumbling");
            s.expect_locks(&[]);
            s.online(kind);
            s.wait(2900);
            s.expect_phase("tumbling");
            s.wait(200);
            s.expect_phase("betting");
            s.bell();
            s.uncover();
            s.key_in(&[1, 2, 3]);
            s.wait(500);
            s.settle();
        }
    });
}

#[test]
fn a_device_that_leaves_in_a_round_stops_only_the_next() {
    play(|s| {
        s.reach_betting();
        s.offline(DeviceKind::LayoutLamps);
        s.bell();
        s.uncover();
        s.key_in(&[1, 2, 3]);
        s.wait(6000);
        s.operator(OperatorAct::Settle);
        s.expect_phase("ready");
    });
}

#[test]
fn devices_away_are_evaluated_anew_after_a_restart() {
    play(|s| {
        s.offline(DeviceKind::LayoutLamps);
        s.restart();
        s.expect_locks(&[]);
        s.reach_betting();
    });
}

#[test]
fn a_device_that_is_not_approved_is_held_until_accepted() {
    let mut config = config();
    config.approval = approved(&[(DeviceKind::Terminal, "E-0007"), (DeviceKind::LayoutLamps, "L-0003")]);
    let mut s = Scene::new(config);
    s.expect_locks(&[(TableLockedReason::DeviceNotApproved, HOLD)]);
    s.restart();
    s.expect_locks(&[(TableLockedReason::DeviceNotApproved, HOLD)]);
    s.forget();
    s.act_as(
        technician(),
        OperatorAct::AcceptDevice {
            serial_number: "T-0042".into(),
        },
    );
    s.expect_refused();
    s.operator(OperatorAct::AcceptDevice {
        serial_number: "X-9999".into(),
    });
    s.expect_refused();
    s.operator(OperatorAct::AcceptDevice {
        serial_number: "T-0042".into(),
    });
    s.expect_done();
    s.expect_locks(&[]);
    s.restart();
    s.expect_locks(&[]);
    s.open();
    s.reach_betting();
    crate::recovery::check(&s);
}

#[test]
fn a_device_that_is_not_approved_lets_the_round_finish() {
    let mut config = config();
    config.approval = approved(&DEVICES);
    play_with(config, |s| {
        s.open();
        s.reach_betting();
        s.offline(DeviceKind::LayoutLamps);
        s.lamps.link.serial_number = "L-0999";
        s.online(DeviceKind::LayoutLamps);
        s.expect_locks(&[(TableLockedReason::DeviceNotApproved, HOLD)]);
        s.bell();
        s.uncover();
        s.key_in(&[1, 3, 6]);
        s.expect_lit([1, 3, 6]);
        s.wait(500);
        s.settle();
        s.spin(3);
        s.wait(5000);
        s.expect_phase("tumbling");
    });
}

#[test]
fn a_reader_that_reads_under_the_cover_is_held_until_accepted() {
    play(|s| {
        s.reach_betting();
        s.forget();
        s.feed(Input::ReadUnderCover);
        s.expect_locks(&[(TableLockedReason::ReadsUnderCover, HOLD)]);
        s.expect_alert();
        s.expect_phase("betting");
        s.feed(Input::ReadUnderCover);
        s.expect_locks(&[(TableLockedReason::ReadsUnderCover, HOLD)]);
        s.restart();
        s.expect_locks(&[(TableLockedReason::ReadsUnderCover, HOLD)]);
        s.operator(OperatorAct::AcceptDevice {
            serial_number: "T-0042".into(),
        });
        s.expect_done();
        s.expect_locks(&[]);
    });
}

#[test]
fn a_full_disk_holds_the_next_round_by_itself() {
    play(|s| {
        s.reach_betting();
        condition(s, Condition::DiskLow, true);
        s.expect_locks(&[(TableLockedReason::Disk, HOLD)]);
        s.bell();
        s.uncover();
        s.key_in(&[1, 2, 3]);
        s.wait(500);
        s.settle();
        s.spin(3);
        s.wait(10_000);
        s.expect_phase("tumbling");
        condition(s, Condition::DiskLow, false);
        s.expect_locks(&[]);
        s.wait(3000);
        s.expect_phase("betting");
    });
}

#[test]
fn a_full_disk_is_evaluated_anew_after_a_restart() {
    play(|s| {
        condition(s, Condition::DiskLow, true);
        s.restart();
        s.expect_locks(&[]);
    });
}

#[test]
fn a_journal_that_was_moved_aside_damaged_or_rolled_back_holds_the_next_round() {
    for journal in [
        Condition::JournalMovedAside,
        Condition::JournalDamaged,
        Condition::JournalRolledBack,
    ] {
        play(|s| {
            condition(s, journal, true);
            s.expect_locks(&[(TableLockedReason::Journal, HOLD)]);
            s.expect_alert();
            unlock(s);
            s.reach_betting();
        });
    }
}

#[test]
fn conditions_that_are_alerts_only_do_not_hold() {
    for alert in [
        Condition::BrokerUnreachable,
        Condition::BrokerRefuses,
        Condition::NobodyListening,
        Condition::JournalSlow,
        Condition::JournalUnreadable,
        Condition::LinkOdd(DeviceKind::Terminal),
        Condition::ClockUnsynchronised,
    ] {
        play(|s| {
            condition(s, alert, true);
            s.expect_alert();
            s.expect_locks(&[]);
            s.reach_betting();
            s.forget();
            condition(s, alert, false);
            s.expect_events(&["AlertCleared"]);
        });
    }
}

#[test]
fn more_reasons_than_one_each_end_by_themselves() {
    play(|s| {
        s.operator(OperatorAct::Lock { reason: "audit".into() });
        condition(s, Condition::DiskLow, true);
        s.spin(3);
        condition(s, Condition::DiskLow, false);
        s.wait(10_000);
        s.expect_phase("tumbling");
        s.expect_locks(&[(TableLockedReason::Supervisor, HOLD)]);
        unlock(s);
        s.wait(3000);
        s.expect_phase("betting");
    });
}
