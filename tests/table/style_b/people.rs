//! Thrower offers, closing, Test.

use super::*;

#[test]
fn the_dice_are_offered_after_the_bell_and_before_the_entry() {
    play(|s| {
        s.operator(OperatorAct::Offer { seat: 3 });
        s.expect_refused();
        to_the_bell(s);
        s.forget();
        s.operator(OperatorAct::Offer { seat: 3 });
        s.expect_done();
        // Declined: the next one clockwise.
        s.operator(OperatorAct::Offer { seat: 4 });
        s.expect_events(&[
            "ThrowerOffered seat:3 by:supervisor round:1",
            "ThrowerOffered seat:4 round:1",
        ]);
        s.operator(OperatorAct::Offer { seat: 0 });
        s.expect_refused();
        s.key_in(&[1, 3, 6]);
        s.operator(OperatorAct::Offer { seat: 5 });
        s.expect_refused();
        s.act_as(technician(), OperatorAct::Offer { seat: 5 });
        s.expect_refused();
    });
}

#[test]
fn a_tumbler_is_offered_to_nobody() {
    crate::scene::play(|s| {
        s.reach_closed();
        s.operator(OperatorAct::Offer { seat: 3 });
        s.expect_refused();
    });
}

#[test]
fn a_round_goes_on_without_offers_being_recorded() {
    play(|s| {
        to_the_entry(s, &[1, 3, 6]);
        settle(s);
        s.expect_phase("betting");
    });
}

#[test]
fn the_table_closes_while_bets_are_open_and_opens_none() {
    play(|s| {
        s.operator(OperatorAct::Close);
        s.expect_events(&["RoundAbandoned round:1", "TableClosed"]);
        s.expect_one_append(2);
        s.wait(60_000);
        s.expect_no_events();
        s.open();
        s.expect_phase("betting");
        to_the_bell(s);
        s.operator(OperatorAct::Close);
        s.expect_refused();
    });
}

#[test]
fn test_mode_is_entered_between_rounds_and_bets_open_after_it() {
    play(|s| {
        s.act_as(technician(), OperatorAct::EnterTest);
        s.expect_refused();
        s.operator(OperatorAct::Lock {
            reason: "lamps to be tried".into(),
        });
        to_the_entry(s, &[1, 3, 6]);
        settle(s);
        s.expect_phase("ready");
        s.act_as(technician(), OperatorAct::EnterTest);
        s.expect_done();
        s.bell();
        s.forget();
        s.act_as(technician(), OperatorAct::LeaveTest);
        s.expect_events(&["TestModeLeft"]);
        s.act_as(
            supervisor(),
            OperatorAct::Unlock {
                procedure: "lamps tried".into(),
            },
        );
        s.expect_events(&["TableUnlocked", "RoundStarted", "BetsOpened"]);
        // The bell of the test is none of this round's.
        s.wait(2000);
        s.expect_phase("betting");
    });
}
