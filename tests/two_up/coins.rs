//! Triple penny two-up: what is different with coins.

use crate::scene::*;
use tablegate::rules::triple_penny::Display;
use tablegate::table::event::{Body, ResultDisplay, SpinInvalidatedReason, SpinnerChangedReason};
use tablegate::table::input::{DeviceKind, DiceOff, OperatorAct, Outcome, Side};

/// A player has the coins and wagered on heads.
fn spinner(script: impl FnOnce(&mut Scene)) {
    play(coins(), |scene| {
        scene.keys(&[NEW_SPINNER, HEADS]);
        scene.expect(&["SpinnerSelected", "SpinnerWagerPlaced"]);
        script(scene);
    });
}

fn changed(scene: &Scene) -> (SpinnerChangedReason, bool, bool) {
    scene.last(|body| match body {
        Body::SpinnerChanged(changed) => Some((changed.reason(), changed.dealer, changed.wager_returned)),
        _ => None,
    })
}

fn spinner_now(scene: &Scene) -> Option<String> {
    scene.table.situation().two_up.unwrap().spinner
}

#[test]
fn triples_count_as_hits_and_move_players_wagers() {
    spinner(|scene| {
        scene.spin(TRIPLE_HEADS);
        let moved = scene.last(|body| match body {
            Body::PlayersWagersDecided(decided) => Some(decided.to_bonus_area),
            _ => None,
        });
        assert!(moved);
        assert_eq!(scene.lit(), ["heads_1", "heads_2", "heads_3"]);
        scene.spin(HEADS);
        assert_eq!(scene.lit(), ["heads_1", "heads_2"]);
        scene.forget();
        scene.spin(HEADS);
        scene.expect(&[
            "BetsClosed",
            "SpinResulted",
            "PlayersWagersDecided",
            "SpinnerWagerDecided",
        ]);
        let odds = scene.last(|body| match body {
            Body::SpinnerWagerDecided(decided) => decided.odds.clone(),
            _ => None,
        });
        assert_eq!((odds.pays, odds.per), (13, 2));
        assert_eq!(scene.phase(), "decide");
        // The last valid result stays shown when the next game begins (TP-13).
        scene.keys(&[TAILS]);
        assert_eq!(scene.lit(), ["heads_1", "heads_2"]);
    });
}

#[test]
fn keys_of_the_dice_are_unknown_here_and_the_other_way_round() {
    spinner(|scene| {
        scene.bell();
        for keys in [vec![ODDS], vec![OVERRULE, HEADS]] {
            scene.keys(&keys);
            assert_eq!(scene.refused().0, 6);
        }
    });
    play(dice(), |scene| {
        scene.keys(&[TRIPLE_HEADS]);
        assert_eq!(scene.refused(), (6, 1));
    });
}

#[test]
fn a_losing_triple_may_leave_wagers_for_a_run_out() {
    spinner(|scene| {
        scene.spin(TRIPLE_TAILS);
        assert_eq!(scene.phase(), "select");
        scene.forget();
        scene.bell();
        assert_eq!(
            (scene.phase().as_str(), spinner_now(scene).as_deref()),
            ("closed", Some("run_out"))
        );
        assert_eq!(scene.state().round_id, 1, "of the round before");
        scene.keys(&[HEADS]);
        scene.expect(&["BetsClosed", "SpinResulted", "PlayersWagersDecided"]);
        assert_eq!(scene.round_of("PlayersWagersDecided"), 1);
        assert_eq!(scene.phase(), "select");
        // One valid spin decides it.
        scene.bell();
        assert_eq!(scene.readout(), "E31");
    });
}

#[test]
fn an_invalid_spin_leaves_the_run_out_where_it_was() {
    spinner(|scene| {
        scene.spin(TRIPLE_TAILS);
        scene.spin(NO_SPIN);
        assert_eq!(scene.phase(), "select");
        // A new spinner says that nothing lies there.
        scene.keys(&[NEW_SPINNER, HEADS]);
        assert_eq!((scene.phase().as_str(), scene.state().round_id), ("betting", 2));
    });
}

#[test]
fn until_its_result_a_new_spinner_says_that_there_is_none() {
    spinner(|scene| {
        scene.spin(TRIPLE_TAILS);
        // The bell was rung in error.
        scene.bell();
        scene.forget();
        scene.keys(&[NEW_SPINNER, HEADS]);
        scene.expect(&["SpinnerSelected", "SpinnerWagerPlaced"]);
        assert_eq!((scene.phase().as_str(), scene.state().round_id), ("betting", 2));
        scene.bell();
        scene.keys(&[NEW_SPINNER, HEADS]);
        assert_eq!(scene.refused(), (31, 1), "in a game there is a spinner");
    });
    play(coins(), |scene| {
        scene.keys(&[NEW_SPINNER]);
        scene.spin(TRIPLE_HEADS);
        scene.bell();
        scene.forget();
        scene.keys(&[NEW_SPINNER]);
        scene.expect(&["SpinnerSelected"]);
        assert_eq!(
            (scene.phase().as_str(), spinner_now(scene).as_deref()),
            ("betting", Some("dealer"))
        );
    });
}

#[test]
fn a_winner_by_a_triple_who_stops_leaves_a_run_out_and_one_who_goes_on_none() {
    spinner(|scene| {
        [HEADS, HEADS, TRIPLE_HEADS]
            .into_iter()
            .for_each(|result| scene.spin(result));
        assert_eq!(scene.phase(), "decide");
        scene.bell();
        assert_eq!(scene.readout(), "E31", "the winner spins next, or stops");
        scene.keys(&[STOPS]);
        scene.bell();
        assert_eq!(scene.phase(), "closed");
    });
    spinner(|scene| {
        [HEADS, HEADS, TRIPLE_HEADS]
            .into_iter()
            .for_each(|result| scene.spin(result));
        // The first spin of the new game decides them (TP-6).
        scene.keys(&[HEADS]);
        scene.spin(TAILS);
        assert_eq!(scene.phase(), "select");
        scene.bell();
        assert_eq!(scene.readout(), "E31");
    });
}

#[test]
fn the_boxer_who_spins_for_everyone_spins_on_after_a_triple() {
    play(coins(), |scene| {
        scene.keys(&[NEW_SPINNER]);
        scene.spin(TRIPLE_HEADS);
        assert_eq!(scene.phase(), "decide");
        scene.bell();
        assert_eq!(
            (scene.phase().as_str(), spinner_now(scene).as_deref()),
            ("closed", Some("dealer"))
        );
        scene.keys(&[TRIPLE_TAILS]);
        // Players wagered meanwhile.
        scene.bell();
        assert_eq!(scene.phase(), "closed");
        scene.keys(&[TAILS]);
        assert_eq!(scene.phase(), "decide");
        scene.bell();
        assert_eq!(scene.readout(), "E31");
        scene.keys(&[NEW_SPINNER]);
        assert_eq!((scene.phase().as_str(), scene.state().round_id), ("betting", 2));
    });
}

#[test]
fn three_invalid_spins_at_the_beginning_make_the_spinner_choose() {
    spinner(|scene| {
        (0..3).for_each(|_| scene.spin(NO_SPIN));
        assert_eq!(scene.phase(), "choice");
        scene.bell();
        assert_eq!(scene.readout(), "E39");
        scene.keys(&[NEW_SPINNER, HEADS]);
        scene.keys(&[HEADS]);
        assert_eq!(scene.refused(), (39, 1));
        scene.keys(&[RELIEVE]);
        assert_eq!(changed(scene), (SpinnerChangedReason::InvalidSpins, true, false));
        [HEADS, HEADS, HEADS].into_iter().for_each(|result| scene.spin(result));
        assert_eq!(scene.phase(), "decide", "the spinner may go on (TP-12)");
    });
}

#[test]
fn to_retire_gives_the_wager_back() {
    spinner(|scene| {
        (0..3).for_each(|_| scene.spin(NO_SPIN));
        scene.keys(&[STOPS]);
        assert_eq!(changed(scene), (SpinnerChangedReason::Stopped, false, true));
        assert_eq!((scene.phase().as_str(), scene.state().round_id), ("select", 0));
    });
    // And so does stopping before any valid spin (TP-8).
    spinner(|scene| {
        scene.spin(NO_SPIN);
        scene.keys(&[STOPS]);
        assert_eq!(changed(scene), (SpinnerChangedReason::Stopped, false, true));
    });
}

#[test]
fn after_a_valid_spin_the_boxer_finishes_for_who_stops() {
    spinner(|scene| {
        scene.spin(HEADS);
        scene.keys(&[STOPS]);
        assert_eq!(changed(scene), (SpinnerChangedReason::Stopped, true, false));
        [HEADS, HEADS].into_iter().for_each(|result| scene.spin(result));
        assert_eq!(scene.phase(), "select", "who stopped does not go on (TP-12)");
    });
}

#[test]
fn the_boxer_is_put_in_on_a_ground() {
    spinner(|scene| {
        scene.spin(HEADS);
        scene.spin(NO_SPIN);
        // One valid, one invalid: no majority. Unable or unwilling is a supervisor's word.
        scene.keys(&[RELIEVE]);
        assert_eq!(scene.refused(), (5, 1));
        scene.spin(NO_SPIN);
        scene.keys(&[RELIEVE]);
        assert_eq!(changed(scene), (SpinnerChangedReason::InvalidSpins, true, false));
    });
    spinner(|scene| {
        scene.under_authority(|scene| scene.keys(&[RELIEVE]));
        assert_eq!(changed(scene), (SpinnerChangedReason::Relieved, true, false));
    });
}

#[test]
fn the_count_of_invalid_spins_begins_anew_with_each_game() {
    spinner(|scene| {
        [HEADS, HEADS].into_iter().for_each(|result| scene.spin(result));
        scene.spin(NO_SPIN);
        scene.spin(NO_SPIN);
        scene.spin(HEADS);
        scene.keys(&[HEADS]);
        scene.spin(NO_SPIN);
        scene.spin(NO_SPIN);
        assert_eq!(scene.phase(), "betting");
        scene.spin(NO_SPIN);
        assert_eq!(scene.phase(), "choice", "of this game (TP-20)");
    });
}

#[test]
fn nobody_overrules_an_invalid_spin_of_coins() {
    spinner(|scene| {
        scene.spin(NO_SPIN);
        assert!(
            scene
                .act(OperatorAct::Overrule {
                    outcome: Outcome::Heads
                })
                .is_err()
        );
    });
}

#[test]
fn a_coin_outside_the_ring_is_the_invalid_spin() {
    spinner(|scene| {
        scene.bell();
        scene.forget();
        scene.keys(&[OFF_TABLE]);
        scene.expect(&["SpinInvalidated", "DieOffTable"]);
        let reason = scene.last(|body| match body {
            Body::SpinInvalidated(invalid) => Some(invalid.reason()),
            _ => None,
        });
        assert_eq!(reason, SpinInvalidatedReason::OutsideRing);
        scene.act(OperatorAct::OffTable { dice: DiceOff::Two }).unwrap();
        // The player who was spinner keeps the old coins, as long as there are three: here two are left.
        scene.bell();
        assert_eq!(scene.readout(), "E36");
        scene.keys(&[NEW_SET]);
        scene.bell();
        assert_eq!(scene.phase(), "closed");
    });
}

#[test]
fn the_old_coins_are_the_spinners_alone() {
    spinner(|scene| {
        scene.spin(HEADS);
        scene.bell();
        scene.keys(&[OFF_TABLE, OFF_TABLE]);
        scene.bell();
        assert_eq!(
            scene.phase(),
            "closed",
            "who was spinner when they were lost may go on with three"
        );
        scene.keys(&[NO_SPIN]);
        scene.keys(&[STOPS]);
        scene.bell();
        assert_eq!(scene.readout(), "E36", "the boxer needs a new set");
        scene.keys(&[NEW_SET]);
        scene.bell();
        assert_eq!(scene.phase(), "closed");
    });
}

#[test]
fn a_run_out_needs_a_new_set_first() {
    spinner(|scene| {
        scene.spin(HEADS);
        scene.bell();
        scene.keys(&[OFF_TABLE, OFF_TABLE]);
        scene.spin(TRIPLE_TAILS);
        scene.bell();
        assert_eq!(scene.readout(), "E36");
    });
}

#[test]
fn results_can_be_shown_otherwise() {
    for (display, shown) in [
        (Display::Cards, ResultDisplay::Cards),
        (Display::Electronic, ResultDisplay::Electronic),
    ] {
        play(coins_by(display), |scene| {
            scene.keys(&[NEW_SPINNER, HEADS]);
            scene.spin(TAILS);
            let by = scene.last(|body| match body {
                Body::SpinResulted(spun) => Some((spun.shown_by(), spun.lights.clone())),
                _ => None,
            });
            assert_eq!(by, (shown, vec![]));
            assert_eq!(scene.state().call, "tails");
        });
    }
}

#[test]
fn a_mis_keyed_result_can_bring_a_run_out_or_take_it_back() {
    spinner(|scene| {
        scene.spin(TRIPLE_TAILS);
        scene
            .act(OperatorAct::CorrectOutcome {
                outcome: Outcome::Tails,
            })
            .unwrap();
        scene.bell();
        assert_eq!(scene.readout(), "E31");
        assert_eq!(scene.phase(), "select");
    });
    spinner(|scene| {
        scene.spin(TRIPLE_TAILS);
        scene.bell();
        scene.keys(&[HEADS]);
        assert_eq!(scene.phase(), "select");
        scene.forget();
        scene
            .act(OperatorAct::CorrectOutcome {
                outcome: Outcome::Tails,
            })
            .unwrap();
        scene.expect(&["SpinCorrected", "PlayersWagersDecided"]);
        assert_eq!(scene.round_of("SpinCorrected"), 1);
        assert_eq!(scene.phase(), "select");
    });
}

#[test]
fn with_the_terminal_dead_the_choice_is_made_by_command() {
    spinner(|scene| {
        (0..3).for_each(|_| scene.spin(NO_SPIN));
        scene.lose(DeviceKind::Terminal);
        scene.act(OperatorAct::Relieve).unwrap();
        scene.act(OperatorAct::NoMoreBets).unwrap();
        scene
            .act(OperatorAct::Spin {
                outcome: Outcome::TripleTails,
            })
            .unwrap();
        // The run-out belongs to the round before: a lock on the next one doesn't hold it.
        scene.act(OperatorAct::NoMoreBets).unwrap();
        scene
            .act(OperatorAct::Spin {
                outcome: Outcome::Heads,
            })
            .unwrap();
        assert!(
            scene
                .act(OperatorAct::Spinner {
                    side: Some(Side::Heads)
                })
                .is_err()
        );
    });
}
