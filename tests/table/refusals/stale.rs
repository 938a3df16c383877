//! Keys that are too old.

use super::*;

fn stale_key(s: &mut Scene, key: u8) {
    let pressed_at = Some(s.in_run(s.now - 5000 * MS));
    let entry = s.terminal.entry;
    s.feed(Input::Key {
        key: Key::Number(key),
        entry,
        pressed_at,
        stale: true,
    });
}

fn stale_enter(s: &mut Scene, shown: &[u8]) {
    let pressed_at = Some(s.in_run(s.now - 4000 * MS));
    let (entry, shown) = (s.terminal.entry, shown.iter().map(|&key| Key::Number(key)).collect());
    s.feed(Input::Entry {
        shown,
        entry,
        pressed_at,
        stale: true,
    });
}

#[test]
fn stale_keys_give_one_event_a_burst_and_decide_nothing() {
    play(|s| {
        s.reach_landed();
        s.wait(10_000);
        s.forget();
        for key in [1, 3, 6] {
            stale_key(s, key);
        }
        stale_enter(s, &[1, 3, 6]);
        s.expect_dark();
        s.expect_phase("landed");
        s.wait(100);
        s.expect_readout("E07");
        s.wait(12_000);
        s.expect_events(&["StaleKeysIgnored x4 TERMINAL"]);
    });
}

#[test]
fn fresh_keys_after_it_are_taken() {
    play(|s| {
        s.reach_landed();
        s.wait(10_000);
        stale_key(s, 1);
        stale_enter(s, &[1]);
        s.wait(3000);
        s.key_in(&[1, 3, 6]);
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn a_stale_press_does_not_settle() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.wait(10_000);
        stale_enter(s, &[]);
        s.expect_phase("entered");
    });
}
