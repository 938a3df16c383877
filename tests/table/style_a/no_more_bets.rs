//! "No more bets" and bell.

use super::*;

#[test]
fn a_second_bell_within_a_second_is_a_bounce() {
    play(|s| {
        s.reach_betting();
        s.forget();
        s.bell();
        s.bell();
        s.bell();
        s.expect_events(&["BetsClosed heard"]);
        s.expect_phase("closed");
        s.expect_readout("");
    });
}

#[test]
fn the_layout_is_dark_and_the_tumbler_inhibited_until_the_round_ends() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        assert!(s.table.indicators().tumbler.inhibit);
        s.settle();
        assert!(!s.table.indicators().tumbler.inhibit, "settled");
        s.reach_betting();
        assert!(s.table.indicators().tumbler.inhibit);
        s.operator(OperatorAct::Void { reason: None });
        assert!(!s.table.indicators().tumbler.inhibit, "voided");
        s.reach_betting();
        s.operator(OperatorAct::Close);
        s.open();
        assert!(!s.table.indicators().tumbler.inhibit, "abandoned");
    });
}
