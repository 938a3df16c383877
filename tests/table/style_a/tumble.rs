//! Tumble: what counts, and from which base.

use super::*;

#[test]
fn spins_are_counted_from_the_base_at_each_rest() {
    play(|s| {
        s.spin_once(2);
        s.expect_events(&["RoundStarted round:1", "TumblerSpun 2"]);
        s.spin_once(3);
        s.expect_events(&["TumblerSpun 5"]);
    });
}

#[test]
fn the_counter_may_wrap() {
    play_with(config(), |s| {
        s.tumbler.spins = u32::MAX - 1;
        s.tumbler.activations = u32::MAX;
        s.blink(DeviceKind::Tumbler);
        s.open();
        s.forget();
        s.tumbler_changes(|t| t.spins = u32::MAX - 1);
        s.spin(3);
        s.wait(3000);
        s.expect_phase("betting");
    });
}

#[test]
fn spins_without_the_cover_do_not_count() {
    play(|s| {
        s.tumbler_changes(|t| t.cover = Cover::Off);
        s.wait(1000);
        s.spin(3);
        s.cover();
        s.wait(5000);
        s.expect_no_events();
        s.expect_phase("ready");
    });
}

#[test]
fn the_base_is_new_after_settlement() {
    play(|s| {
        s.whole_round(&[1, 2, 3]);
        s.forget();
        s.spin(2);
        s.wait(10_000);
        s.expect_events(&["RoundStarted round:2", "TumblerSpun 1", "TumblerSpun 2"]);
    });
}

#[test]
fn the_base_is_new_after_a_void() {
    play(|s| {
        s.spin(3);
        s.operator(OperatorAct::Void { reason: None });
        s.forget();
        s.spin(2);
        s.wait(10_000);
        s.expect_events(&["RoundStarted round:2", "TumblerSpun 1", "TumblerSpun 2"]);
    });
}

#[test]
fn the_base_is_new_after_an_abandoned_round() {
    play(|s| {
        s.reach_betting();
        s.operator(OperatorAct::Close);
        s.expect_done();
        s.open();
        s.forget();
        s.spin(2);
        s.wait(10_000);
        s.expect_events(&["RoundStarted round:2", "TumblerSpun 1", "TumblerSpun 2"]);
    });
}

#[test]
fn the_base_is_new_when_test_ends() {
    play(|s| {
        s.act_as(technician(), OperatorAct::EnterTest);
        s.spin(3);
        s.act_as(technician(), OperatorAct::LeaveTest);
        s.forget();
        s.wait(10_000);
        s.expect_no_events();
        s.spin(1);
        s.expect_events(&["RoundStarted round:1", "TumblerSpun 1"]);
    });
}

#[test]
fn the_base_is_new_when_a_tumbler_without_a_usable_count_comes_up() {
    play(|s| {
        s.offline(DeviceKind::Tumbler);
        s.tumbler.link.boot_id += 1;
        s.tumbler.kept = false;
        s.tumbler.spins = 0;
        s.tumbler.activations = 0;
        s.wait(2000);
        s.online(DeviceKind::Tumbler);
        s.forget();
        s.wait(10_000);
        s.expect_no_events();
        s.spin(1);
        s.expect_events(&["RoundStarted round:1", "TumblerSpun 1"]);
    });
}

#[test]
fn spins_before_the_opening_do_not_count() {
    play_with(config(), |s| {
        s.tumbler_changes(|t| t.spins += 5);
        s.open();
        s.forget();
        s.wait(10_000);
        s.expect_no_events();
    });
}

#[test]
fn a_spin_begun_before_settlement_does_not_count_and_is_out_of_turn() {
    play(|s| {
        s.reach_entered(&[1, 2, 3]);
        s.wait(3000);
        s.forget();
        s.tumbler.wish.inhibit = false;
        s.spin_begins();
        s.expect_alert();
        assert!(
            s.locks().iter().any(|lock| lock.0 == TableLockedReason::OutOfTurn),
            "{}",
            s.story()
        );
        s.operator(OperatorAct::Unlock {
            procedure: "dealer told".into(),
        });
        s.wait(3500);
        s.operator(OperatorAct::Settle);
        s.expect_phase("ready");
        s.forget();
        s.spin_ends(1);
        s.wait(5000);
        s.expect_phase("ready");
    });
}
