//! Dice flat.

use super::*;

#[test]
fn dice_that_lie_flat_change_nothing() {
    play(|s| {
        s.tumbler.reading = Some((Flatness::Flat, Some([1, 3, 6])));
        s.reach_landed();
        s.forget();
        s.key_in(&[1, 3, 6]);
        s.expect_events(&["ResultEntered 1,3,6"]);
    });
}

#[test]
fn without_a_reader_the_dealer_judges() {
    play(|s| {
        s.tumbler.reading = Some((Flatness::Unknown, None));
        s.reach_landed();
        s.forget();
        s.key_in(&[1, 3, 6]);
        s.expect_events(&["ResultEntered 1,3,6"]);
    });
}
