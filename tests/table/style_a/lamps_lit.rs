//! Lamps lit: what confirms them, and what is a failure.

use super::*;

#[test]
fn a_dark_lamp_is_a_failure_and_a_lock_in_one_append() {
    play(|s| {
        s.lamps.dead = vec![oracle::bit("total_10")];
        s.reach_landed();
        s.forget();
        s.key_in(&[1, 3, 6]);
        s.wait(700);
        s.expect_events(&["ResultEntered"]);
        s.wait(200);
        s.expect_events(&["LampFailed total_10 dark x1 LAYOUT_LAMPS", "TableLocked LAMP HOLD_NEXT"]);
        s.expect_one_append(2);
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn a_lamp_that_is_lit_and_must_not_be_is_one_too() {
    play(|s| {
        s.reach_landed();
        s.lamps.stuck = vec![oracle::bit("big")];
        s.forget();
        s.key_in(&[1, 3, 6]);
        s.wait(1000);
        s.expect_events(&[
            "ResultEntered",
            "LampFailed big wrongly_lit",
            "TableLocked LAMP HOLD_NEXT",
        ]);
    });
}

#[test]
fn several_have_one_lock() {
    play(|s| {
        s.lamps.dead = vec![oracle::bit("small"), oracle::bit("face_1")];
        s.reach_landed();
        s.forget();
        s.key_in(&[1, 3, 6]);
        s.wait(1000);
        s.expect_events(&[
            "ResultEntered",
            "LampFailed small dark",
            "LampFailed face_1 dark",
            "TableLocked LAMP HOLD_NEXT",
        ]);
        s.expect_one_append(3);
    });
}

#[test]
fn more_than_twelve_are_the_board_and_only_those_named_are_restored() {
    play(|s| {
        s.reach_landed();
        s.lamps.stuck = (20..40).collect();
        s.forget();
        s.key_in(&[1, 1, 1]);
        s.wait(1000);
        let mut expected = vec!["ResultEntered"];
        expected.extend(["LampFailed wrongly_lit"; 12]);
        expected.push("TableLocked LAMP_BOARD HOLD_NEXT");
        s.expect_events(&expected);
        s.expect_one_append(13);
        s.lamps.stuck.clear();
        s.lamps.show();
        let report = s.lamps.report();
        s.feed(Input::Lamps(report));
        s.wait(11_000);
        let restored = s
            .events
            .iter()
            .filter(|r| matches!(r.event.body, Some(Body::LampRestored(_))))
            .count();
        assert_eq!(restored, 12);
    });
}

#[test]
fn a_lamp_that_works_again_is_restored_and_the_lock_stays() {
    play(|s| {
        s.lamps.dead = vec![oracle::bit("total_10")];
        s.reach_landed();
        s.key_in(&[1, 3, 6]);
        s.wait(1000);
        s.forget();
        s.lamps.dead.clear();
        s.lamps.show();
        let report = s.lamps.report();
        s.feed(Input::Lamps(report));
        s.wait(12_000);
        s.expect_events(&["LampRestored total_10", "LayoutLit"]);
        s.expect_locks(&[(TableLockedReason::Lamp, TableLockedKind::HoldNext)]);
    });
}

#[test]
fn every_confirmed_picture_is_recorded() {
    play(|s| {
        s.reach_landed();
        s.key_in(&[1, 3, 6]);
        s.wait(500);
        s.forget();
        s.operator(OperatorAct::Amend { faces: [1, 3, 5] });
        s.wait(500);
        s.expect_events(&["ResultAmended 1,3,6->1,3,5", "LayoutLit"]);
    });
}

#[test]
fn lamps_that_only_repeat_the_command_prove_nothing_and_the_settlement_press_confirms() {
    play(|s| {
        s.lamps.measured = false;
        s.reach_landed();
        s.forget();
        s.key_in(&[1, 3, 6]);
        s.wait(5000);
        s.expect_events(&["ResultEntered"]);
        s.enter();
        s.expect_events(&["RoundSettled stated"]);
    });
}

#[test]
fn a_board_that_acknowledges_and_never_reports_has_failed() {
    play(|s| {
        s.reach_landed();
        s.lamps.manners = Manners::Mute;
        s.forget();
        s.key_in(&[1, 3, 6]);
        s.wait(1000);
        assert!(
            s.locks()
                .contains(&(TableLockedReason::Lamp, TableLockedKind::HoldNext))
                || s.locks()
                    .contains(&(TableLockedReason::LampBoard, TableLockedKind::HoldNext)),
            "{}",
            s.story()
        );
        s.settle();
    });
}

#[test]
fn the_readout_keeps_the_three_numbers_until_a_key() {
    play(|s| {
        s.reach_landed();
        s.key_in(&[6, 1, 3]);
        let readout = s.terminal.readout.clone();
        assert_eq!(readout.for_ms, u32::MAX);
        let mut digits: Vec<char> = readout.text.chars().collect();
        digits.sort_unstable();
        assert_eq!(digits, ['1', '3', '6']);
        s.wait(60_000);
        assert_eq!(s.terminal.reads(s.now).len(), 3);
        s.press(&[2]);
        s.expect_readout("");
    });
}

#[test]
fn the_readout_keeps_the_three_numbers_until_the_round_ends() {
    play(|s| {
        s.reach_entered(&[6, 1, 3]);
        s.settle();
        s.expect_readout("");
    });
}

#[test]
fn mirrored_layouts_light_every_lamp_of_an_area() {
    let config = config_with(|c| c.lamp_map = (0..50).map(|bit| vec![bit, bit + 50]).collect());
    play_with(config, |s| {
        s.open();
        s.reach_landed();
        s.key_in(&[1, 3, 6]);
        let mut bits = oracle::lit_bits([1, 3, 6]);
        bits.extend(oracle::lit_bits([1, 3, 6]).iter().map(|bit| bit + 50));
        assert_eq!(s.lit(), bits);
        s.lamps.dead = vec![oracle::bit("small") + 50];
        s.lamps.show();
        let report = s.lamps.report();
        s.feed(Input::Lamps(report));
        s.forget();
        s.wait(2000);
        assert!(
            s.locks()
                .contains(&(TableLockedReason::Lamp, TableLockedKind::HoldNext)),
            "{}",
            s.story()
        );
    });
}

#[test]
fn a_lamp_that_fails_after_it_was_lit_is_reported() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.forget();
        s.lamps.dead = vec![oracle::bit("face_3")];
        s.lamps.show();
        let report = s.lamps.report();
        s.feed(Input::Lamps(report));
        s.wait(1500);
        s.expect_events(&["LampFailed face_3 dark", "TableLocked LAMP HOLD_NEXT"]);
    });
}

#[test]
fn lit_alone_is_judged() {
    play(|s| {
        s.lamps.failed = bytes_of(&[oracle::bit("small")]);
        s.reach_landed();
        s.forget();
        s.key_in(&[1, 3, 6]);
        s.wait(1500);
        let failed = s
            .events
            .iter()
            .any(|r| matches!(r.event.body, Some(Body::LampFailed(_))));
        assert!(!failed, "{}", s.story());
        s.expect_locks(&[]);
    });
}

#[test]
fn lamps_that_the_device_knows_can_not_follow_are_a_fault_of_the_device() {
    play(|s| {
        s.lamps.failed = bytes_of(&[oracle::bit("small")]);
        let report = s.lamps.report();
        s.feed(Input::Lamps(report.clone()));
        s.feed(Input::Lamps(report));
        s.expect_events(&["DeviceFaulted code:0 LAYOUT_LAMPS"]);
        s.lamps.failed = Vec::new();
        let report = s.lamps.report();
        s.feed(Input::Lamps(report.clone()));
        s.feed(Input::Lamps(report));
        s.expect_events(&["DeviceFaultCleared code:0 LAYOUT_LAMPS"]);
        s.expect_locks(&[]);
    });
}
