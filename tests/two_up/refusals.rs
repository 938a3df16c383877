//! Entries that can't be taken.

use crate::scene::*;
use tablegate::table::event::Body;
use tablegate::table::input::{Input, Key};
use tablegate::table::rejection::CODES;

fn spinner(script: impl FnOnce(&mut Scene)) {
    play(dice(), |scene| {
        scene.keys(&[NEW_SPINNER, HEADS]);
        scene.forget();
        script(scene);
    });
}

#[test]
fn only_the_last_two_keys_count() {
    spinner(|scene| {
        scene.bell();
        scene.keys(&[NEW_SPINNER, TAILS, HEADS]);
        assert_eq!(scene.refused(), (8, 1), "two results are no entry");
        scene.keys(&[]);
        assert_eq!(scene.refused(), (8, 1));
        scene.keys(&[ODDS]);
        assert_eq!(scene.phase(), "betting");
    });
}

#[test]
fn a_lost_key_refuses_the_entry() {
    spinner(|scene| {
        scene.bell();
        scene.press(HEADS);
        scene.enter_shown(vec![TAILS]);
        assert_eq!(scene.refused(), (1, 1));
        assert_eq!(scene.phase(), "closed");
    });
}

#[test]
fn a_key_that_no_game_has_is_refused_even_when_pushed_out() {
    spinner(|scene| {
        scene.bell();
        scene.keys(&[Key::Number(3), NEW_SPINNER, HEADS]);
        assert_eq!(scene.refused(), (6, 1));
        scene.keys(&[Key::Other(99)]);
        assert_eq!(scene.refused(), (6, 1));
    });
}

#[test]
fn equal_refusals_are_counted() {
    spinner(|scene| {
        for _ in 0..5 {
            scene.keys(&[HEADS]);
        }
        scene.expect(&["EntryRejected"]);
        scene.wait(11_000);
        scene.expect(&["EntryRejected"]);
        assert_eq!(scene.refused(), (35, 4));
        let rules = scene.events.last().unwrap().rules.clone();
        assert_eq!(rules, ["Qld 2004 sch 13 s7(1)"]);
    });
}

#[test]
fn the_games_end_writes_the_count_early() {
    spinner(|scene| {
        scene.keys(&[HEADS]);
        scene.keys(&[HEADS]);
        scene.forget();
        scene.spin(TAILS);
        scene.expect(&[
            "BetsClosed",
            "SpinResulted",
            "EntryRejected",
            "PlayersWagersDecided",
            "SpinnerWagerDecided",
            "SpinnerChanged",
        ]);
    });
}

#[test]
fn stale_keys_decide_nothing() {
    spinner(|scene| {
        scene.bell();
        scene.forget();
        let entry = scene.table.indicators().readout.entry;
        for _ in 0..3 {
            scene.feed(Input::Entry {
                shown: vec![HEADS],
                entry,
                pressed_at: None,
                stale: true,
            });
        }
        assert_eq!(scene.readout(), "E07");
        scene.wait(2000);
        scene.expect(&["StaleKeysIgnored"]);
        assert_eq!(scene.phase(), "closed");
    });
}

#[test]
fn another_entrys_keys_are_dropped() {
    spinner(|scene| {
        scene.bell();
        scene.forget();
        scene.feed(Input::Entry {
            shown: vec![HEADS],
            entry: 4242,
            pressed_at: None,
            stale: false,
        });
        scene.expect(&[]);
    });
}

#[test]
fn each_refusal_has_a_text_that_says_what_to_do_and_a_code_of_the_list() {
    play(dice(), |scene| {
        scene.keys(&[HEADS]);
        scene.keys(&[STOPS]);
        scene.keys(&[RELIEVE]);
        scene.keys(&[OFF_TABLE]);
        scene.keys(&[NEW_SET]);
        let refusals: Vec<_> = scene
            .events
            .iter()
            .filter_map(|event| match &event.body {
                Some(Body::EntryRejected(rejected)) => Some((rejected.clone(), event.rules.clone())),
                _ => None,
            })
            .collect();
        assert_eq!(refusals.len(), 5);
        for (rejected, rules) in refusals {
            assert!(rejected.text.ends_with('.'), "{}", rejected.text);
            assert!(CODES.iter().any(|code| code.number == rejected.code));
            assert!(rules[0].starts_with("Qld 2004 sch 13 s"), "{rules:?}");
        }
    });
}
