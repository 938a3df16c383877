//! Keys and entry: which keys count.

use super::*;

#[test]
fn the_last_three_keys_count() {
    play(|s| {
        s.reach_landed();
        s.key_in(&[5, 5, 1, 3, 6]);
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn keys_pressed_before_the_uncover_are_refused() {
    play(|s| {
        s.reach_closed();
        s.wait(1000);
        s.press(&[1, 3, 6]);
        s.wait(1000);
        s.uncover();
        s.forget();
        s.enter();
        s.expect_events(&["EntryRejected E03 1,3,6 x1"]);
        s.expect_readout("E03");
        s.expect_dark();
        s.key_in(&[1, 3, 6]);
        s.expect_events(&["ResultEntered 1,3,6"]);
    });
}

#[test]
fn one_key_too_early_is_enough() {
    play(|s| {
        s.reach_closed();
        s.wait(1000);
        s.press(&[1]);
        s.wait(1000);
        s.uncover();
        s.press(&[3, 6]);
        s.forget();
        s.enter();
        s.expect_events(&["EntryRejected E03 1,3,6"]);
    });
}

#[test]
fn keys_within_three_hundred_milliseconds_before_the_uncover_count() {
    play(|s| {
        s.reach_closed();
        s.wait(1000);
        s.press(&[1]);
        s.wait(250);
        s.uncover();
        s.press(&[3, 6]);
        s.forget();
        s.enter();
        s.expect_events(&["ResultEntered 1,3,6"]);
    });
}

#[test]
fn a_key_a_little_earlier_than_that_does_not() {
    play(|s| {
        s.reach_closed();
        s.wait(1000);
        s.press(&[1]);
        s.wait(320);
        s.uncover();
        s.press(&[3, 6]);
        s.forget();
        s.enter();
        s.expect_events(&["EntryRejected E03 1,3,6"]);
    });
}
