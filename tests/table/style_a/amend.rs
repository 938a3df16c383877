//! Amend.

use super::*;

#[test]
fn authority_three_keys_and_enter_amend() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.key_on();
        s.forget();
        s.key_in(&[1, 3, 5]);
        s.wait(500);
        s.expect_events(&[
            "ResultAmended 1,3,6->1,3,5 pressed:1,3,5 TERMINAL by:supervisor by:key round:1",
            "LayoutLit",
        ]);
        s.expect_lit([1, 3, 5]);
    });
}

#[test]
fn a_command_amends() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.forget();
        s.operator(OperatorAct::Amend { faces: [5, 5, 5] });
        s.expect_done();
        s.expect_events(&["ResultAmended 1,3,6->5,5,5 COMMAND by:supervisor"]);
        s.expect_lit([5, 5, 5]);
        let named = s.events.last().and_then(|r| r.event.actor.clone()).unwrap();
        assert_eq!(named.name, supervisor().name);
    });
}

#[test]
fn without_authority_a_second_entry_is_refused() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.forget();
        s.key_in(&[1, 3, 5]);
        s.expect_events(&["EntryRejected E05 1,3,5"]);
        s.expect_readout("E05");
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn a_refused_amendment_does_not_use_the_authority_up() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.key_on();
        s.key_in(&[1, 3]);
        s.expect_readout("E02");
        s.forget();
        s.key_in(&[1, 3, 5]);
        s.expect_events(&["ResultAmended 1,3,6->1,3,5"]);
    });
}

#[test]
fn after_settlement_an_amendment_is_refused() {
    play(|s| {
        s.whole_round(&[1, 3, 6]);
        s.forget();
        s.operator(OperatorAct::Amend { faces: [1, 3, 5] });
        s.expect_refused();
        s.expect_no_events();
    });
}

#[test]
fn before_an_entry_there_is_nothing_to_amend() {
    play(|s| {
        s.reach_landed();
        s.operator(OperatorAct::Amend { faces: [1, 3, 5] });
        s.expect_refused();
    });
}

#[test]
fn faces_outside_one_to_six_are_refused() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.operator(OperatorAct::Amend { faces: [0, 3, 7] });
        s.expect_refused();
        s.expect_lit([1, 3, 6]);
    });
}
