//! Two-up dice: the acts of the game, by keys.

use crate::scene::*;
use tablegate::table::event::{Body, SpinInvalidatedReason, SpinOutcome, SpinnerChangedReason};
use tablegate::table::input::{Contact, DiceOff, OperatorAct, Outcome, Replacement, Side};

/// A player has the dice and wagered on heads.
fn spinner(script: impl FnOnce(&mut Scene)) {
    play(dice(), |scene| {
        scene.keys(&[NEW_SPINNER, HEADS]);
        scene.expect(&["SpinnerSelected", "SpinnerWagerPlaced"]);
        assert_eq!(scene.phase(), "betting");
        script(scene);
    });
}

fn reason(scene: &Scene) -> (SpinnerChangedReason, bool) {
    scene.last(|body| match body {
        Body::SpinnerChanged(changed) => Some((changed.reason(), changed.dealer)),
        _ => None,
    })
}

#[test]
fn a_spinner_wins_with_the_third_heads_and_odds_between() {
    spinner(|scene| {
        let round = scene.state().round_id;
        assert_eq!(round, 1);
        for (result, lit) in [
            (ODDS, vec!["odds_1"]),
            (HEADS, vec!["heads_1"]),
            (ODDS, vec!["heads_1", "odds_1"]),
            (HEADS, vec!["heads_1", "heads_2"]),
        ] {
            scene.spin(result);
            assert_eq!(scene.lit(), lit);
            assert_eq!(scene.phase(), "betting");
        }
        scene.expect(&[
            "BetsClosed",
            "SpinResulted",
            "BetsClosed",
            "SpinResulted",
            "PlayersWagersDecided",
            "BetsClosed",
            "SpinResulted",
            "BetsClosed",
            "SpinResulted",
            "PlayersWagersDecided",
        ]);
        scene.spin(HEADS);
        scene.expect(&[
            "BetsClosed",
            "SpinResulted",
            "PlayersWagersDecided",
            "SpinnerWagerDecided",
        ]);
        assert_eq!(scene.phase(), "decide");
        assert_eq!(scene.round_of("SpinnerWagerDecided"), round);
        assert_eq!(scene.state().round_id, 0, "the round ends with the spinner's wager");
        let decided = scene.last(|body| match body {
            Body::SpinnerWagerDecided(decided) => Some(decided.clone()),
            _ => None,
        });
        let odds = decided.odds.unwrap();
        assert_eq!((decided.won, odds.pays, odds.per, odds.id.as_str()), (true, 15, 2, ""));
        // The lights stay until the next game begins.
        assert_eq!(scene.lit(), ["heads_1", "heads_2", "heads_3"]);
        scene.keys(&[TAILS]);
        scene.expect(&["SpinnerWagerPlaced"]);
        assert_eq!(scene.state().round_id, 2);
        assert!(scene.lit().is_empty());
    });
}

#[test]
fn the_other_side_loses_is_shown_and_the_dice_are_offered_on() {
    spinner(|scene| {
        scene.spin(TAILS);
        scene.expect(&[
            "BetsClosed",
            "SpinResulted",
            "PlayersWagersDecided",
            "SpinnerWagerDecided",
            "SpinnerChanged",
        ]);
        assert_eq!(reason(scene), (SpinnerChangedReason::Lost, false));
        assert_eq!(scene.lit(), ["tails_1"]);
        assert_eq!(scene.phase(), "select");
        // Who lost may not go on.
        scene.keys(&[HEADS]);
        assert_eq!(scene.refused(), (31, 1));
        scene.keys(&[NEW_SPINNER, TAILS]);
        assert_eq!(scene.phase(), "betting");
    });
}

#[test]
fn five_odds_in_a_row_lose_and_there_is_no_sixth() {
    spinner(|scene| {
        for run in 1..=5 {
            scene.spin(ODDS);
            assert_eq!(scene.lit().len(), run);
        }
        let news = scene.news();
        assert_eq!(
            news[news.len() - 4..],
            [
                "SpinResulted",
                "PlayersWagersDecided",
                "SpinnerWagerDecided",
                "SpinnerChanged"
            ]
        );
        let outcome = scene.last(|body| match body {
            Body::PlayersWagersDecided(decided) => Some(decided.outcome()),
            _ => None,
        });
        assert_eq!(outcome, SpinOutcome::Odds);
        scene.bell();
        scene.keys(&[ODDS]);
        scene.expect(&["EntryRejected"]);
        assert_eq!(scene.refused(), (31, 1));
        assert_eq!(scene.lit().len(), 5);
    });
}

#[test]
fn a_bell_comes_before_every_spin() {
    spinner(|scene| {
        scene.keys(&[HEADS]);
        scene.expect(&["EntryRejected"]);
        assert_eq!(scene.refused(), (35, 1));
        scene.spin(HEADS);
        scene.keys(&[HEADS]);
        assert_eq!(scene.refused(), (35, 1));
    });
}

#[test]
fn a_bell_without_the_spinners_wager_shows_a_code_and_records_nothing() {
    play(dice(), |scene| {
        scene.act(OperatorAct::Spinner { side: None }).unwrap();
        scene.expect(&["SpinnerSelected"]);
        scene.bell();
        scene.expect(&[]);
        assert_eq!(scene.readout(), "E34");
        scene.keys(&[TAILS]);
        scene.expect(&["SpinnerWagerPlaced"]);
        scene.spin(TAILS);
        scene.expect(&["BetsClosed", "SpinResulted", "PlayersWagersDecided"]);
    });
}

#[test]
fn a_bell_again_within_a_second_bounced() {
    spinner(|scene| {
        scene.bell();
        scene.wait(200);
        scene.ring();
        assert_eq!(scene.phase(), "closed");
        scene.keys(&[TAILS]);
        scene.ring();
        assert_eq!((scene.phase().as_str(), scene.readout().as_str()), ("select", ""));
        scene.bell();
        assert_eq!(scene.readout(), "E31");
    });
    // Bets have been opened since: it is a new one, however soon it comes.
    spinner(|scene| {
        scene.bell();
        scene.keys(&[ODDS]);
        scene.wait(200);
        scene.ring();
        assert_eq!(scene.phase(), "closed");
    });
}

#[test]
fn keys_from_before_the_bell_are_gone() {
    spinner(|scene| {
        scene.wait(1500);
        scene.press(HEADS);
        scene.ring();
        scene.enter_shown(vec![]);
        assert_eq!(scene.refused(), (8, 1));
        assert_eq!(scene.phase(), "closed");
    });
}

#[test]
fn the_wager_is_free_until_the_first_call() {
    spinner(|scene| {
        let tails = OperatorAct::Spinner {
            side: Some(Side::Tails),
        };
        scene.act(tails.clone()).unwrap();
        scene.expect(&["SpinnerWagerPlaced"]);
        scene.spin(ODDS);
        assert!(scene.act(tails).is_err());
        scene.spin(TAILS);
        assert_eq!(scene.phase(), "betting", "the wager is on tails");
    });
}

#[test]
fn everyone_declines_and_the_dealer_spins_until_a_decision() {
    play(dice(), |scene| {
        scene.keys(&[NEW_SPINNER]);
        scene.expect(&["SpinnerSelected"]);
        let round = scene.state().round_id;
        scene.keys(&[STOPS]);
        assert_eq!(scene.refused(), (37, 1));
        scene.spin(ODDS);
        scene.spin(TAILS);
        assert_eq!(scene.phase(), "decide");
        assert_eq!(scene.state().round_id, 0, "the round ends with the decision");
        assert_eq!(scene.round_of("PlayersWagersDecided"), round);
        // The dealer goes on.
        scene.keys(&[NEW_SPINNER]);
        assert_eq!((scene.phase().as_str(), scene.state().round_id), ("betting", round + 1));
        scene.spin(HEADS);
        // Or stops, and a player accepts.
        scene.forget();
        scene.keys(&[NEW_SPINNER, HEADS]);
        scene.expect(&["SpinnerChanged", "SpinnerSelected", "SpinnerWagerPlaced"]);
    });
}

#[test]
fn after_a_win_a_new_spinner_is_refused_until_the_spinner_has_stopped() {
    spinner(|scene| {
        (0..3).for_each(|_| scene.spin(HEADS));
        scene.keys(&[NEW_SPINNER, TAILS]);
        assert_eq!(scene.refused(), (31, 1));
        scene.keys(&[NEW_SPINNER]);
        assert_eq!(scene.refused(), (31, 1));
        scene.forget();
        scene.keys(&[STOPS]);
        scene.expect(&["SpinnerChanged"]);
        scene.keys(&[NEW_SPINNER, TAILS]);
        assert_eq!(scene.phase(), "betting");
    });
}

#[test]
fn a_fourth_heads_can_not_be_entered() {
    spinner(|scene| {
        (0..3).for_each(|_| scene.spin(HEADS));
        scene.bell();
        assert_eq!(scene.readout(), "E31");
        assert_eq!(scene.phase(), "decide");
    });
}

#[test]
fn a_spinner_who_stops_leaves_the_wager_to_the_dealer() {
    spinner(|scene| {
        scene.spin(HEADS);
        scene.keys(&[STOPS]);
        assert_eq!(reason(scene), (SpinnerChangedReason::Stopped, true));
        scene.spin(HEADS);
        scene.forget();
        scene.spin(HEADS);
        // The wager wins, and who stopped may not go on.
        scene.expect(&[
            "BetsClosed",
            "SpinResulted",
            "PlayersWagersDecided",
            "SpinnerWagerDecided",
        ]);
        assert_eq!(scene.phase(), "select");
    });
}

#[test]
fn without_a_wager_a_spinner_who_stops_is_simply_gone() {
    play(dice(), |scene| {
        scene.act(OperatorAct::Spinner { side: None }).unwrap();
        scene.keys(&[STOPS]);
        assert_eq!(reason(scene), (SpinnerChangedReason::Stopped, false));
        assert_eq!(scene.phase(), "select");
    });
}

#[test]
fn an_invalid_spin_counts_nothing_and_lights_nothing() {
    spinner(|scene| {
        scene.spin(ODDS);
        scene.bell();
        scene.forget();
        scene.keys(&[NO_SPIN]);
        scene.expect(&["SpinInvalidated"]);
        let stated = scene.last(|body| match body {
            Body::SpinInvalidated(invalid) => Some(invalid.reason()),
            _ => None,
        });
        assert_eq!(stated, SpinInvalidatedReason::NotStated);
        assert_eq!(scene.lit(), ["odds_1"]);
        // The run of odds goes on (TD-4).
        scene.spin(ODDS);
        assert_eq!(scene.lit(), ["odds_1", "odds_2"]);
    });
}

#[test]
fn the_no_spin_contact_is_the_key_and_enter() {
    spinner(|scene| {
        scene.bell();
        scene.forget();
        scene.contact(Contact::NoSpinButton, true);
        scene.expect(&["SpinInvalidated"]);
        assert_eq!(scene.phase(), "betting");
    });
}

#[test]
fn no_spin_said_twice_for_a_spin_is_one_invalid_spin() {
    spinner(|scene| {
        scene.bell();
        scene.forget();
        // The contact bounces, and the key says it once more.
        for closed in [true, false, true, false, true, false] {
            scene.contact(Contact::NoSpinButton, closed);
        }
        scene.wait(300);
        scene.keys(&[NO_SPIN]);
        scene.expect(&["SpinInvalidated"]);
        // The next spin's is another, however soon.
        scene.bell();
        scene.forget();
        scene.contact(Contact::NoSpinButton, true);
        scene.expect(&["SpinInvalidated"]);
        // A second later it is said anew.
        scene.wait(1_100);
        scene.forget();
        scene.keys(&[NO_SPIN]);
        scene.expect(&["SpinInvalidated", "SpinnerChanged"]);
    });
}

#[test]
fn a_throw_before_the_call_is_barred_by_discretion_and_can_not_stand() {
    spinner(|scene| {
        scene.keys(&[NO_SPIN]);
        let invalid = scene.last(|body| match body {
            Body::SpinInvalidated(invalid) => Some(invalid.clone()),
            _ => None,
        });
        assert_eq!(invalid.reason(), SpinInvalidatedReason::DealerDiscretion);
        assert!(invalid.before_call);
        scene.under_authority(|scene| scene.keys(&[OVERRULE, HEADS]));
        assert_eq!(scene.refused(), (31, 1));
    });
}

#[test]
fn a_reason_can_be_stated_by_command_and_must_be_of_the_game() {
    spinner(|scene| {
        scene.bell();
        let floater = Some(SpinInvalidatedReason::Floater);
        assert!(scene.act(OperatorAct::Invalid { reason: floater }).is_err());
        let stacked = Some(SpinInvalidatedReason::Stacked);
        scene.act(OperatorAct::Invalid { reason: stacked }).unwrap();
        let event = scene.events.last().unwrap().clone();
        assert_eq!(event.rules, ["Qld 2004 sch 13 s20(1)(a)(v)"]);
    });
}

#[test]
fn three_invalid_spins_in_a_row_bring_the_dealer_in() {
    spinner(|scene| {
        scene.spin(HEADS);
        scene.forget();
        for _ in 0..3 {
            scene.bell();
            scene.keys(&[NO_SPIN]);
        }
        scene.expect(&[
            "BetsClosed",
            "SpinInvalidated",
            "BetsClosed",
            "SpinInvalidated",
            "BetsClosed",
            "SpinInvalidated",
            "SpinnerChanged",
        ]);
        assert_eq!(reason(scene), (SpinnerChangedReason::InvalidSpins, true));
        // The counts carry (TD-7).
        assert_eq!(scene.lit(), ["heads_1"]);
        scene.spin(HEADS);
        scene.spin(HEADS);
        assert_eq!(scene.phase(), "select", "a win, and still a new spinner (TD-18)");
    });
}

#[test]
fn whose_first_three_spins_were_invalid_comes_back() {
    spinner(|scene| {
        for _ in 0..3 {
            scene.bell();
            scene.keys(&[NO_SPIN]);
        }
        scene.spin(TAILS);
        assert_eq!(scene.phase(), "decide", "whatever the result (TD-8)");
        scene.keys(&[HEADS]);
        assert_eq!(scene.phase(), "betting");
    });
}

#[test]
fn a_valid_spin_between_begins_the_count_anew() {
    spinner(|scene| {
        for result in [NO_SPIN, NO_SPIN, ODDS, NO_SPIN, NO_SPIN] {
            scene.spin(result);
        }
        assert_eq!(scene.phase(), "betting");
        assert_eq!(
            scene.table.situation().two_up.unwrap().spinner.as_deref(),
            Some("player")
        );
    });
}

#[test]
fn the_dealer_relieves_who_has_spun_an_invalid_spin() {
    spinner(|scene| {
        scene.keys(&[RELIEVE]);
        assert_eq!(scene.refused(), (31, 1));
        scene.spin(NO_SPIN);
        scene.spin(ODDS);
        scene.keys(&[RELIEVE]);
        assert_eq!(reason(scene), (SpinnerChangedReason::Relieved, true));
        scene.keys(&[STOPS]);
        assert_eq!(scene.refused(), (37, 1));
    });
}

#[test]
fn an_invalid_spin_is_overruled_under_authority_directly_after_it() {
    spinner(|scene| {
        scene.spin(NO_SPIN);
        scene.keys(&[OVERRULE, HEADS]);
        assert_eq!(scene.refused(), (5, 1));
        scene.forget();
        scene.under_authority(|scene| scene.keys(&[OVERRULE, HEADS]));
        scene.expect(&["InvalidSpinOverruled", "SpinResulted", "PlayersWagersDecided"]);
        assert!(
            scene
                .events
                .iter()
                .rev()
                .any(|event| event.actor.as_ref().is_some_and(|actor| actor.by_key))
        );
        assert_eq!(scene.lit(), ["heads_1"]);
        scene.under_authority(|scene| scene.keys(&[OVERRULE, HEADS]));
        assert_eq!(scene.refused(), (31, 1));
    });
}

#[test]
fn after_the_next_call_nothing_is_overruled() {
    spinner(|scene| {
        scene.spin(NO_SPIN);
        scene.bell();
        scene.under_authority(|scene| scene.keys(&[OVERRULE, HEADS]));
        assert_eq!(scene.refused(), (31, 1));
        assert_eq!(scene.phase(), "closed");
    });
}

#[test]
fn an_overruling_undoes_the_take_over() {
    spinner(|scene| {
        (0..3).for_each(|_| scene.spin(NO_SPIN));
        assert_eq!(
            scene.table.situation().two_up.unwrap().spinner.as_deref(),
            Some("dealer_for_player")
        );
        scene.act(OperatorAct::Overrule { outcome: Outcome::Odds }).unwrap();
        assert_eq!(
            scene.table.situation().two_up.unwrap().spinner.as_deref(),
            Some("player")
        );
        assert_eq!(scene.lit(), ["odds_1"]);
    });
}

#[test]
fn dice_off_the_table_are_the_invalid_spin() {
    spinner(|scene| {
        scene.bell();
        scene.forget();
        scene.keys(&[OFF_TABLE]);
        scene.expect(&["SpinInvalidated", "DieOffTable"]);
        // With one die gone play goes on; it is found.
        scene.keys(&[NEW_SET]);
        scene.expect(&["DiceReplaced"]);
        let found = scene.last(|body| match body {
            Body::DiceReplaced(replaced) => Some(replaced.found),
            _ => None,
        });
        assert!(found);
        scene.keys(&[NEW_SET]);
        assert_eq!(scene.refused(), (31, 1));
    });
}

#[test]
fn after_a_no_spin_off_table_adds_only_the_dice() {
    spinner(|scene| {
        scene.spin(NO_SPIN);
        scene.forget();
        scene.keys(&[OFF_TABLE]);
        scene.keys(&[OFF_TABLE]);
        scene.expect(&["DieOffTable", "DieOffTable"]);
        scene.keys(&[OFF_TABLE]);
        assert_eq!(scene.refused(), (31, 1), "two dice were spun");
        // It doesn't matter for an overruling (TD-12).
        scene.act(OperatorAct::Overrule { outcome: Outcome::Odds }).unwrap();
    });
}

#[test]
fn with_two_dice_lost_the_spinner_goes_on_and_a_new_one_needs_a_new_set() {
    spinner(|scene| {
        scene.bell();
        scene.keys(&[OFF_TABLE, OFF_TABLE]);
        scene.spin(TAILS);
        assert_eq!(scene.phase(), "select");
        scene.keys(&[NEW_SPINNER, HEADS]);
        assert_eq!(scene.refused(), (36, 1));
        scene.forget();
        scene.keys(&[NEW_SET]);
        scene.keys(&[NEW_SPINNER, HEADS]);
        scene.expect(&["DiceReplaced", "SpinnerSelected", "SpinnerWagerPlaced"]);
    });
}

#[test]
fn both_lost_dice_can_be_found() {
    spinner(|scene| {
        scene.bell();
        scene.act(OperatorAct::OffTable { dice: DiceOff::Two }).unwrap();
        scene
            .act(OperatorAct::NewSet {
                from: Replacement::Found,
            })
            .unwrap();
        let found = scene.last(|body| match body {
            Body::DiceReplaced(replaced) => Some((replaced.found, replaced.dice)),
            _ => None,
        });
        assert_eq!(found, (true, 2));
    });
}

#[test]
fn a_mis_keyed_result_is_corrected_under_authority_until_the_next_act() {
    spinner(|scene| {
        scene.spin(TAILS);
        assert_eq!(scene.phase(), "select");
        scene.forget();
        scene.under_authority(|scene| scene.keys(&[HEADS]));
        scene.expect(&["SpinCorrected", "PlayersWagersDecided"]);
        assert_eq!((scene.phase().as_str(), scene.state().round_id), ("betting", 1));
        assert_eq!(scene.lit(), ["heads_1"]);
        // Recorded as the house's policy: no rule stands behind it.
        let corrected = scene
            .events
            .iter()
            .rev()
            .find(|event| matches!(event.body, Some(Body::SpinCorrected(_))));
        assert!(corrected.unwrap().rules.is_empty());
        scene.bell();
        scene.keys(&[ODDS]);
        scene.under_authority(|scene| scene.keys(&[ODDS]));
        assert_eq!(scene.refused(), (31, 1), "it is that result already");
        scene.bell();
        assert!(
            scene
                .act(OperatorAct::CorrectOutcome {
                    outcome: Outcome::Heads
                })
                .is_err()
        );
    });
}

#[test]
fn a_correction_can_decide_the_game() {
    spinner(|scene| {
        scene.spin(HEADS);
        scene.spin(HEADS);
        scene.spin(ODDS);
        scene.forget();
        scene
            .act(OperatorAct::CorrectOutcome {
                outcome: Outcome::Heads,
            })
            .unwrap();
        scene.expect(&["SpinCorrected", "PlayersWagersDecided", "SpinnerWagerDecided"]);
        assert_eq!(scene.phase(), "decide");
        scene.keys(&[TAILS]);
        assert!(
            scene
                .act(OperatorAct::CorrectOutcome { outcome: Outcome::Odds })
                .is_err(),
            "a wager was placed"
        );
    });
}

#[test]
fn a_house_may_let_results_stand() {
    let mut config = dice();
    if let tablegate::table::GameConfig::TwoUpDice(dice) = &mut config.game {
        dice.mis_keyed = tablegate::table::MisKeyed::Stands;
    }
    play(config, |scene| {
        scene.keys(&[NEW_SPINNER, HEADS]);
        scene.spin(TAILS);
        assert!(
            scene
                .act(OperatorAct::CorrectOutcome {
                    outcome: Outcome::Heads
                })
                .is_err()
        );
    });
}

#[test]
fn with_the_terminal_dead_a_game_is_finished_by_commands() {
    use tablegate::table::input::DeviceKind;
    spinner(|scene| {
        scene.lose(DeviceKind::Terminal);
        for _ in 0..3 {
            scene.act(OperatorAct::NoMoreBets).unwrap();
            scene
                .act(OperatorAct::Spin {
                    outcome: Outcome::Heads,
                })
                .unwrap();
        }
        assert_eq!(scene.phase(), "decide");
        // The next game waits for the terminal.
        assert!(scene.act(OperatorAct::Continues { side: Side::Heads }).is_err());
        scene.greet(DeviceKind::Terminal);
        scene.act(OperatorAct::Continues { side: Side::Heads }).unwrap();
    });
}
