//! Which entry may be typed.

use super::*;

#[test]
fn a_new_one_at_the_bell() {
    play(|s| {
        s.reach_betting();
        let before = number(s);
        s.bell();
        assert_ne!(number(s), before);
    });
}

#[test]
fn keys_pressed_before_it_arrives_are_gone() {
    play(|s| {
        s.reach_betting();
        s.terminal.deaf = true;
        s.bell();
        s.wait(1000);
        s.uncover();
        s.press(&[1, 3]);
        let (readout, now) = (s.terminal.waiting.take().expect("sent at the bell"), s.now);
        s.terminal.deaf = false;
        s.terminal.take(&readout, now);
        s.press(&[6]);
        s.forget();
        s.enter();
        s.expect_events(&["EntryRejected E02 6"]);
    });
}

#[test]
fn an_entry_of_another_number_is_dropped() {
    play(|s| {
        s.reach_landed();
        let old = s.terminal.entry.wrapping_sub(1);
        s.forget();
        for key in [1, 3, 6] {
            s.feed(Input::Key {
                key: Key::Number(key),
                entry: old,
                pressed_at: Some(s.uptime()),
                stale: false,
            });
        }
        let shown = [1, 3, 6].map(Key::Number).to_vec();
        s.feed(Input::Entry {
            shown,
            entry: old,
            pressed_at: Some(s.uptime()),
            stale: false,
        });
        s.expect_dark();
        s.expect_phase("landed");
    });
}

#[test]
fn a_new_one_after_an_accepted_entry() {
    play(|s| {
        s.reach_landed();
        let before = number(s);
        s.key_in(&[1, 3, 6]);
        assert_ne!(number(s), before);
        assert_eq!(s.terminal.shown, []);
    });
}

#[test]
fn a_new_one_after_each_greeting() {
    play(|s| {
        for held in [7, u32::MAX, 0] {
            s.offline(DeviceKind::Terminal);
            s.terminal.entry = held;
            s.online(DeviceKind::Terminal);
            let given = number(s);
            assert_ne!(given, held);
            assert_eq!(given, held.checked_add(1).unwrap_or(1), "plus 1, wrapping past 0");
            assert_eq!(s.terminal.entry, given, "and it is sent");
        }
    });
}

#[test]
fn a_terminal_that_starts_anew_in_landed_can_enter() {
    play(|s| {
        s.reach_landed();
        s.press(&[1, 3]);
        s.offline(DeviceKind::Terminal);
        s.terminal.link.boot_id += 1;
        s.terminal.entry = 0;
        s.terminal.shown.clear();
        for wire in &mut s.terminal.wires {
            wire.closings = 0;
        }
        s.wait(1000);
        s.online(DeviceKind::Terminal);
        s.expect_phase("landed");
        s.forget();
        s.key_in(&[6]);
        s.expect_events(&["EntryRejected E02 6"]);
        s.key_in(&[1, 3, 6]);
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn every_readout_carries_it() {
    play(|s| {
        s.whole_round(&[1, 3, 6]);
        s.key_in(&[1]);
        assert!(s.readouts.iter().all(|readout| readout.entry != 0), "{:?}", s.readouts);
    });
}
