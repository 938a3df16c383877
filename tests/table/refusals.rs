//! "Refusals": what is refused, how that shows, and how often it is recorded.

use crate::oracle;
use crate::scene::{MS, Scene, play};
use tablegate::table::event::{Body, RoundHeldCause};
use tablegate::table::input::{Contact, DeviceKind, Flatness, Input, Key, OperatorAct};

mod acts;
mod codes;
mod contacts;
mod counting;
mod entry_numbers;
mod stale;

/// The entry that may be typed now.
fn number(s: &Scene) -> u32 {
    s.table.indicators().readout.entry
}

#[test]
fn fewer_than_three_keys() {
    for keys in [&[1][..], &[1, 3][..]] {
        play(|s| {
            s.reach_landed();
            let before = number(s);
            s.forget();
            s.key_in(keys);
            s.expect_readout("E02");
            assert!(s.terminal.readout.blink);
            assert_ne!(number(s), before, "a new entry number");
            s.expect_events(&["EntryRejected E02 x1 TERMINAL"]);
            s.expect_dark();
            s.expect_phase("landed");
        });
    }
}

#[test]
fn enter_without_keys_before_a_result_is_fewer_than_three() {
    play(|s| {
        s.reach_landed();
        s.forget();
        s.enter();
        s.expect_events(&["EntryRejected E02 x1"]);
    });
}

#[test]
fn a_code_is_gone_after_three_seconds() {
    play(|s| {
        s.reach_landed();
        s.key_in(&[1]);
        s.wait(2900);
        s.expect_readout("E02");
        s.wait(200);
        s.expect_readout("");
    });
}

#[test]
fn a_code_is_gone_with_a_key() {
    play(|s| {
        s.reach_landed();
        s.key_in(&[1]);
        s.expect_readout("E02");
        s.press(&[2]);
        s.expect_readout("");
    });
}

#[test]
fn a_lost_key() {
    play(|s| {
        s.reach_landed();
        s.press(&[1, 3]);
        let now = s.now;
        assert!(s.terminal.key(Key::Number(6), now), "pressed, and lost on the line");
        s.forget();
        s.enter();
        s.expect_readout("E01");
        s.expect_events(&["EntryRejected E01 1,3,6"]);
        s.expect_dark();
        s.key_in(&[1, 3, 6]);
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn an_unknown_key() {
    for key in [7, 99] {
        play(|s| {
            s.reach_landed();
            s.press(&[1, 3]);
            s.press_key(Key::Other(key));
            s.forget();
            s.enter();
            s.expect_readout("E06");
            s.expect_events(&["EntryRejected E06"]);
            s.expect_dark();
        });
    }
}

#[test]
fn an_unknown_key_that_was_pushed_out_too() {
    play(|s| {
        s.reach_landed();
        s.press_key(Key::Other(9));
        s.press(&[1, 3, 6]);
        s.forget();
        s.enter();
        s.expect_events(&["EntryRejected E06"]);
        s.key_in(&[1, 3, 6]);
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn a_numbered_key_after_no_spin_begins_afresh() {
    play(|s| {
        s.reach_landed();
        s.press(&[5, 5]);
        s.press_key(Key::NoSpin);
        s.press(&[1, 3, 6]);
        s.forget();
        s.enter();
        s.expect_events(&["ResultEntered 1,3,6"]);
    });
}

#[test]
fn a_reading_that_is_sure_and_different() {
    play(|s| {
        s.tumbler.reading = Some((Flatness::Flat, Some([1, 3, 5])));
        s.reach_landed();
        s.forget();
        s.key_in(&[1, 3, 6]);
        s.expect_readout("E04");
        s.expect_dark();
        s.expect_events(&["EntryRejected E04 1,3,6 x1", "RoundHeld DICE_DIFFER"]);
    });
}

#[test]
fn an_entry_as_the_reader_has_it_is_taken_after_that() {
    play(|s| {
        s.tumbler.reading = Some((Flatness::Flat, Some([1, 3, 5])));
        s.reach_landed();
        s.key_in(&[1, 3, 6]);
        if s.state().held() == RoundHeldCause::Unspecified {
            s.key_in(&[1, 3, 5]);
            s.expect_lit([1, 3, 5]);
        }
    });
}

#[test]
fn a_supervisor_may_confirm_the_entry_against_the_reader() {
    play(|s| {
        s.tumbler.reading = Some((Flatness::Flat, Some([1, 3, 5])));
        s.reach_landed();
        s.key_in(&[1, 3, 6]);
        s.forget();
        s.operator(OperatorAct::Resume);
        s.expect_done();
        let confirmed = s.newest(|body| match body {
            Body::ResultEntered(b) => Some((b.confirmed, b.faces.clone(), b.read_faces.clone())),
            _ => None,
        });
        assert_eq!(confirmed, (true, vec![1, 3, 6], vec![1, 3, 5]));
        s.expect_lit([1, 3, 6]);
        s.wait(500);
        s.settle();
    });
}

#[test]
fn an_entry_as_the_reader_had_it_is_taken_with_the_cover_on_again_and_after_a_restart() {
    for restarts in [false, true] {
        play(|s| {
            s.tumbler.reading = Some((Flatness::Flat, Some([1, 2, 6])));
            s.reach_landed();
            s.key_in(&[1, 1, 2]);
            s.cover();
            s.wait(1000);
            if restarts {
                s.restart();
                s.wait(1000);
            }
            s.forget();
            s.key_in(&[1, 2, 6]);
            s.expect_lit([1, 2, 6]);
            assert_eq!(s.state().held(), RoundHeldCause::Unspecified);
            let entered = s.newest(|body| match body {
                Body::ResultEntered(b) => Some((b.confirmed, b.faces.clone(), b.read_faces.clone())),
                _ => None,
            });
            assert_eq!(entered, (false, vec![1, 2, 6], vec![1, 2, 6]));
        });
    }
}

#[test]
fn the_newest_entry_that_the_reader_contradicts_is_confirmed_and_said_before() {
    play(|s| {
        s.tumbler.reading = Some((Flatness::Flat, Some([1, 2, 6])));
        s.reach_landed();
        s.key_in(&[1, 1, 2]);
        s.cover();
        s.wait(1000);
        s.forget();
        s.key_in(&[1, 1, 3]);
        s.expect_readout("E04");
        s.expect_events(&["EntryRejected E04 1,1,3 x1", "RoundHeld DICE_DIFFER"]);
        let offered = s.table.situation().possible;
        assert!(
            offered
                .iter()
                .any(|act| act.text == "Confirm the entry 1 1 3 that the dice reader contradicts."),
            "{offered:?}"
        );
        // It is held with the first again, though the refusal is only counted.
        s.forget();
        s.key_in(&[1, 1, 2]);
        s.expect_events(&["RoundHeld DICE_DIFFER"]);
        s.operator(OperatorAct::Resume);
        s.expect_done();
        let entered = s.newest(|body| match body {
            Body::ResultEntered(b) => Some((b.confirmed, b.faces.clone(), b.read_faces.clone())),
            _ => None,
        });
        assert_eq!(entered, (true, vec![1, 1, 2], vec![1, 2, 6]));
    });
}

#[test]
fn an_empty_or_unsure_reading_is_no_reading() {
    for reading in [(Flatness::Flat, None), (Flatness::Unknown, None)] {
        play(|s| {
            s.tumbler.reading = Some(reading);
            s.reach_landed();
            s.key_in(&[1, 3, 6]);
            s.expect_lit([1, 3, 6]);
        });
    }
}
