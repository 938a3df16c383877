//! Losing wagers collected, winning paid.

use super::*;

#[test]
fn a_press_within_three_seconds_of_the_entry_is_too_early() {
    play(|s| {
        s.reach_landed();
        s.key_in(&[1, 3, 6]);
        s.wait(2700);
        s.forget();
        s.enter();
        s.expect_readout("E32");
        s.expect_no_events();
        s.expect_phase("entered");
        s.expect_lit([1, 3, 6]);
        s.wait(1500);
        s.enter();
        s.expect_events(&["RoundSettled stated"]);
        s.expect_readout("");
    });
}

#[test]
fn the_wait_is_configurable() {
    play_with(config_with(|c| c.settle_after = Duration::from_millis(10_000)), |s| {
        s.open();
        s.reach_landed();
        s.key_in(&[1, 3, 6]);
        s.wait(9000);
        s.enter();
        s.expect_readout("E32");
        s.wait(1500);
        s.enter();
        s.expect_phase("ready");
    });
}

#[test]
fn a_refusal_starts_the_three_seconds_anew() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.wait(4000);
        s.key_in(&[1, 3, 5]);
        s.expect_readout("E05");
        s.forget();
        s.wait(1500);
        s.enter();
        s.expect_no_events();
        s.expect_readout("E32");
        s.wait(3500);
        s.enter();
        s.expect_events(&["RoundSettled"]);
    });
}

#[test]
fn an_amendment_starts_the_three_seconds_anew() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.wait(4000);
        s.operator(OperatorAct::Amend { faces: [1, 3, 5] });
        s.wait(2500);
        s.enter();
        s.expect_readout("E32");
        s.wait(2000);
        s.enter();
        s.expect_phase("ready");
    });
}

#[test]
fn a_key_starts_the_three_seconds_anew() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.wait(4000);
        s.press(&[2]);
        s.forget();
        s.enter();
        s.expect_events(&["EntryRejected 2"]);
        s.expect_phase("entered");
    });
}

#[test]
fn without_confirmed_lamps_a_press_is_refused() {
    play_with(config_with(|c| c.lamp_wait = Duration::from_millis(20_000)), |s| {
        s.open();
        s.reach_landed();
        s.lamps.manners = Manners::Mute;
        s.key_in(&[1, 3, 6]);
        s.wait(4000);
        s.forget();
        s.enter();
        s.expect_readout("E33");
        s.expect_no_events();
        s.expect_phase("entered");
    });
}

#[test]
fn a_declared_lamp_fault_does_not_stop_it() {
    play(|s| {
        s.lamps.dead = vec![oracle::bit("total_10")];
        s.reach_entered(&[1, 3, 6]);
        s.wait(1000);
        s.forget();
        s.wait(3000);
        s.enter();
        s.expect_events(&["RoundSettled stated"]);
    });
}

#[test]
fn round_settle_needs_no_time_but_lamps() {
    play(|s| {
        s.reach_landed();
        s.key_in(&[1, 3, 6]);
        s.operator(OperatorAct::Settle);
        s.expect_refused();
        s.wait(400);
        s.forget();
        s.operator(OperatorAct::Settle);
        s.expect_done();
        s.expect_events(&["RoundSettled stated final by:supervisor"]);
        s.expect_dark();
    });
}

#[test]
fn the_cover_lying_on_settles_provisionally_five_seconds_after_the_entry() {
    play(|s| {
        s.reach_landed();
        s.key_in(&[1, 3, 6]);
        s.wait(1000);
        s.cover();
        s.forget();
        s.wait(3500);
        s.expect_no_events();
        s.expect_lit([1, 3, 6]);
        s.wait(200);
        s.expect_events(&["RoundSettled implied provisional round:1"]);
        s.expect_dark();
        assert!(s.state().settled_provisionally);
    });
}

#[test]
fn later_it_settles_when_it_is_put_on() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.wait(20_000);
        s.forget();
        s.cover();
        s.wait(400);
        s.expect_events(&["RoundSettled implied provisional"]);
    });
}

#[test]
fn the_covers_time_is_configurable() {
    play_with(
        config_with(|c| c.cover_settles_after = Duration::from_millis(9000)),
        |s| {
            s.open();
            s.reach_entered(&[1, 3, 6]);
            s.cover();
            s.wait(7500);
            s.expect_phase("entered");
            s.wait(1500);
            assert!(s.state().settled_provisionally);
        },
    );
}

#[test]
fn it_does_not_while_an_entry_runs() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.press(&[1]);
        s.cover();
        s.wait(4800);
        s.press(&[3]);
        s.wait(1500);
        s.expect_phase("entered");
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn it_does_not_while_an_authority_runs() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.key_on();
        s.cover();
        s.wait(10_000);
        s.expect_phase("entered");
    });
}

#[test]
fn an_amendment_begins_its_five_seconds_anew() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.cover();
        s.wait(2000);
        s.operator(OperatorAct::Amend { faces: [1, 3, 5] });
        s.wait(4900);
        s.expect_phase("entered");
        s.wait(200);
        assert!(s.state().settled_provisionally);
    });
}

#[test]
fn a_supervisor_reopens_a_provisional_one_and_the_lamps_come_back() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.cover();
        s.wait(5000);
        s.expect_dark();
        s.forget();
        s.operator(OperatorAct::Reopen);
        s.expect_done();
        s.wait(500);
        s.expect_events(&["RoundReopened by:supervisor round:1", "LayoutLit round:1"]);
        s.expect_lit([1, 3, 6]);
        s.expect_phase("entered");
        s.operator(OperatorAct::Amend { faces: [1, 3, 5] });
        s.expect_done();
        s.expect_lit([1, 3, 5]);
    });
}

#[test]
fn after_the_next_spin_it_can_not_be_reopened() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.cover();
        s.wait(5000);
        s.spin(1);
        s.forget();
        s.operator(OperatorAct::Reopen);
        s.expect_refused();
        s.expect_no_events();
    });
}

#[test]
fn one_that_was_stated_can_not_be_reopened() {
    play(|s| {
        s.whole_round(&[1, 3, 6]);
        s.operator(OperatorAct::Reopen);
        s.expect_refused();
    });
}

#[test]
fn a_cover_that_does_not_say_settles_nothing() {
    play(|s| {
        s.tumbler.cover = Cover::Unknown;
        s.reach_closed();
        s.key_in(&[1, 3, 6]);
        s.wait(60_000);
        s.expect_phase("entered");
    });
}

#[test]
fn lamps_that_are_away_and_declared_do_not_stop_it() {
    play(|s| {
        s.reach_landed();
        s.offline(DeviceKind::LayoutLamps);
        s.key_in(&[1, 3, 6]);
        s.operator(OperatorAct::Settle);
        s.expect_refused();
        s.wait(5500);
        s.operator(OperatorAct::Settle);
        s.expect_done();
    });
}

#[test]
fn a_reopened_round_is_not_settled_again_by_the_same_cover() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.cover();
        s.wait(5000);
        s.operator(OperatorAct::Reopen);
        s.expect_done();
        s.wait(60_000);
        s.expect_phase("entered");
        s.expect_lit([1, 3, 6]);
        s.enter();
        s.expect_phase("ready");
    });
}
