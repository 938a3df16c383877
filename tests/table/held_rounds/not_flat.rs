//! Dice that do not lie flat.

use super::*;

#[test]
fn dice_that_do_not_lie_flat_hold_the_round() {
    play(|s| {
        s.reach_closed();
        s.tumbler.reading = Some((Flatness::NotFlat, None));
        s.wait(1000);
        s.forget();
        s.uncover();
        s.wait(500);
        s.expect_alert();
        s.expect_events(&["DiceUncovered seen", "RoundHeld NOT_FLAT"]);
        s.expect_held(RoundHeldCause::NotFlat);
        assert_ne!(s.terminal.reads(s.now), "");
    });
}

#[test]
fn resumed_it_goes_on_where_it_was() {
    play(|s| {
        s.reach_closed();
        s.tumbler.reading = Some((Flatness::NotFlat, None));
        s.uncover();
        s.wait(500);
        s.forget();
        resume(s);
        s.expect_events(&["RoundResumed NOT_FLAT by:supervisor"]);
        s.expect_phase("landed");
        s.wait(5000);
        s.expect_not_held();
        s.key_in(&[1, 3, 6]);
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn a_held_round_takes_no_entry() {
    play(|s| {
        s.reach_closed();
        s.tumbler.reading = Some((Flatness::NotFlat, None));
        s.uncover();
        s.wait(500);
        s.key_in(&[1, 3, 6]);
        s.expect_phase("landed");
        s.expect_dark();
    });
}
