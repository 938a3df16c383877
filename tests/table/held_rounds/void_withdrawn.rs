//! A void that the gateway declared, taken back.

use super::*;

fn voided(s: &mut Scene) {
    s.reach_betting();
    s.cover_off();
    s.wait(3000);
    s.expect_phase("ready");
    s.forget();
}

#[test]
fn by_a_supervisor() {
    play(|s| {
        voided(s);
        s.operator(OperatorAct::WithdrawVoid);
        s.expect_done();
        s.expect_events(&[
            "VoidWithdrawn chosen by:supervisor round:1",
            "BetsClosed implied by:supervisor",
            "DiceUncovered by:supervisor",
        ]);
        s.expect_one_append(3);
        s.expect_phase("landed");
    });
}

#[test]
fn not_after_the_next_spin() {
    play(|s| {
        voided(s);
        s.cover();
        s.spin(1);
        s.forget();
        s.operator(OperatorAct::WithdrawVoid);
        s.expect_refused();
        s.expect_no_events();
    });
}

#[test]
fn not_one_that_a_person_chose() {
    play(|s| {
        s.reach_betting();
        s.no_spin();
        s.operator(OperatorAct::WithdrawVoid);
        s.expect_refused();
        s.expect_phase("ready");
    });
}

#[test]
fn after_a_restart_too() {
    play(|s| {
        voided(s);
        s.restart();
        s.operator(OperatorAct::WithdrawVoid);
        s.expect_done();
        s.expect_phase("landed");
    });
}

#[test]
fn a_forgotten_tumble_too() {
    play(|s| {
        s.bell();
        s.wait(1000);
        s.cover_off();
        s.wait(400);
        s.expect_phase("ready");
        s.forget();
        s.operator(OperatorAct::WithdrawVoid);
        s.expect_done();
        s.expect_phase("landed");
        s.expect_events(&[
            "VoidWithdrawn chosen by:supervisor round:1",
            "BetsOpened by:supervisor",
            "BetsClosed implied by:supervisor",
            "DiceUncovered by:supervisor",
        ]);
        s.key_in(&[1, 3, 6]);
        s.expect_lit([1, 3, 6]);
        s.wait(500);
        s.settle();
    });
}

#[test]
fn not_twice() {
    play(|s| {
        voided(s);
        s.operator(OperatorAct::WithdrawVoid);
        s.expect_done();
        s.operator(OperatorAct::WithdrawVoid);
        s.expect_refused();
        s.operator(OperatorAct::Void { reason: None });
        s.expect_done();
        s.operator(OperatorAct::WithdrawVoid);
        s.expect_refused();
    });
}
