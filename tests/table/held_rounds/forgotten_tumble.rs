//! A bell without a tumble.

use super::*;

#[test]
fn a_bell_in_ready_shows_a_code_and_nothing_is_recorded() {
    play(|s| {
        s.contact(Contact::Bell, true);
        s.expect_readout("E30");
        s.wait(10_000);
        s.expect_no_events();
        s.expect_phase("ready");
    });
}

#[test]
fn the_cover_off_after_it_is_a_round_that_is_void() {
    play(|s| {
        s.bell();
        s.wait(1000);
        s.cover_off();
        s.wait(400);
        s.expect_events(&[
            "RoundStarted round:1",
            "RoundVoided A_NOT_ACTIVATED automatic by:gateway round:1",
        ]);
        s.expect_phase("ready");
    });
}

#[test]
fn the_cover_off_without_a_bell_is_nothing() {
    play(|s| {
        s.cover_off();
        s.wait(10_000);
        s.cover();
        s.expect_no_events();
    });
}

#[test]
fn a_spin_after_the_bell_mends_it() {
    play(|s| {
        s.bell();
        s.wait(1000);
        s.reach_closed();
        s.uncover();
        s.expect_phase("landed");
        assert_eq!(voids(s), 0);
    });
}
