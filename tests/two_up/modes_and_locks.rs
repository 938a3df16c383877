//! Opening, Test, closing and locks at a two-up table.

use crate::scene::*;
use tablegate::table::event::{Body, OpeningCheck};
use tablegate::table::input::{Contact, DeviceKind, OperatorAct, Outcome};

fn checks(scene: &Scene) -> Vec<(OpeningCheck, bool, bool)> {
    let recorded = scene.events.iter().filter_map(|event| match &event.body {
        Some(Body::OpeningCheckRecorded(check)) => Some((check.check(), check.passed, check.vouched)),
        _ => None,
    });
    recorded.collect()
}

#[test]
fn the_checks_of_two_up_are_recorded_as_what_they_were() {
    let mut scene = Scene::new(dice());
    scene.act(OperatorAct::BeginOpening).unwrap();
    scene.act(OperatorAct::WalkLamps).unwrap();
    scene.wait(10_000);
    assert_eq!(
        checks(&scene),
        [(OpeningCheck::LampWalk, true, false)],
        "eleven lights read back"
    );
    scene.keys(&[TAILS]);
    assert_eq!(scene.readout(), "T");
    assert_eq!(scene.table.indicators().lamps.lit, [0b1000]);
    scene
        .act(OperatorAct::LightTestOutcome { outcome: Outcome::Odds })
        .unwrap();
    assert_eq!(scene.table.indicators().lamps.lit, [0b100_0000]);
    assert!(
        scene
            .act(OperatorAct::LightTestOutcome {
                outcome: Outcome::TripleHeads
            })
            .is_err()
    );
    assert!(scene.act(OperatorAct::CompleteOpening).is_err());
    for check in [OpeningCheck::Devices, OpeningCheck::TestEntries, OpeningCheck::Dice] {
        let text = "five dice, three sides each".into();
        scene
            .act(OperatorAct::RecordCheck {
                check,
                passed: true,
                text,
            })
            .unwrap();
    }
    scene.act(OperatorAct::CompleteOpening).unwrap();
    assert_eq!(scene.phase(), "select");
    scene.recover();
}

#[test]
fn a_dark_light_fails_the_walk() {
    let mut scene = Scene::new(dice());
    scene.dark.insert(8);
    scene.act(OperatorAct::BeginOpening).unwrap();
    scene.act(OperatorAct::WalkLamps).unwrap();
    scene.wait(20_000);
    assert_eq!(checks(&scene), [(OpeningCheck::LampWalk, false, false)]);
}

#[test]
fn without_lights_the_table_opens_on_a_persons_word() {
    let mut scene = Scene::new(dice());
    scene.lose(DeviceKind::ResultLights);
    scene.open();
    let devices = checks(&scene)[0];
    assert_eq!(devices, (OpeningCheck::Devices, true, false));
    scene.recover();
}

#[test]
fn without_the_terminal_it_does_not_open() {
    let mut scene = Scene::new(dice());
    scene.lose(DeviceKind::Terminal);
    assert!(scene.act(OperatorAct::OpenVouched).is_err());
}

#[test]
fn test_mode_is_entered_between_games_and_nothing_counts() {
    play(dice(), |scene| {
        scene.keys(&[NEW_SPINNER, HEADS]);
        assert!(scene.act(OperatorAct::EnterTest).is_err());
        scene.spin(TAILS);
        scene.act(OperatorAct::EnterTest).unwrap();
        assert!(scene.table.indicators().lamps.lit.is_empty());
        scene.forget();
        scene.keys(&[NEW_SPINNER, HEADS]);
        scene.bell();
        scene.expect(&[]);
        assert_eq!(scene.readout(), "TST");
        scene.act(OperatorAct::LeaveTest).unwrap();
        assert_eq!(
            (scene.phase().as_str(), scene.lit()),
            ("select", vec!["tails_1".to_string()])
        );
    });
}

#[test]
fn it_closes_between_games_and_before_the_first_bell() {
    play(dice(), |scene| {
        scene.keys(&[NEW_SPINNER, HEADS]);
        scene.forget();
        scene.act(OperatorAct::Close).unwrap();
        scene.expect(&["RoundAbandoned", "TableClosed"]);
    });
    play(dice(), |scene| {
        scene.keys(&[NEW_SPINNER, HEADS]);
        scene.spin(ODDS);
        assert!(scene.act(OperatorAct::Close).is_err());
        scene.spin(TAILS);
        scene.act(OperatorAct::Close).unwrap();
        assert!(scene.table.indicators().lamps.lit.is_empty());
        scene.wait(5000);
        assert_eq!(scene.readout(), "CLO");
    });
}

#[test]
fn a_lock_holds_the_next_game_and_lets_this_one_finish() {
    play(dice(), |scene| {
        scene.keys(&[NEW_SPINNER, HEADS]);
        scene.act(OperatorAct::Lock { reason: "pause".into() }).unwrap();
        scene.spin(ODDS);
        scene.spin(TAILS);
        scene.forget();
        scene.keys(&[NEW_SPINNER, HEADS]);
        scene.expect(&[]);
        assert_eq!(scene.readout(), "LOC");
        scene
            .act(OperatorAct::Unlock {
                procedure: "done".into(),
            })
            .unwrap();
        scene.keys(&[NEW_SPINNER, HEADS]);
        assert_eq!(scene.phase(), "betting");
    });
}

#[test]
fn a_freeze_takes_no_bell_and_no_entry_and_leaves_the_lights() {
    play(dice(), |scene| {
        scene.keys(&[NEW_SPINNER, HEADS]);
        scene.spin(ODDS);
        scene.contact(Contact::CabinetDoor, false);
        scene.forget();
        scene.bell();
        assert_eq!(scene.readout(), "LOC");
        scene.keys(&[HEADS]);
        scene.expect(&[]);
        assert_eq!(scene.lit(), ["odds_1"]);
        assert!(scene.act(OperatorAct::NoMoreBets).is_err());
        scene.contact(Contact::CabinetDoor, true);
        // The bell that was rung meanwhile is taken at "go on".
        scene.act(OperatorAct::Resume).unwrap();
        scene.expect(&["TableUnlocked", "BetsClosed"]);
        scene.keys(&[HEADS]);
        assert_eq!(scene.lit(), ["heads_1"]);
    });
}

#[test]
fn two_up_knows_no_void_and_no_tai_sai() {
    play(dice(), |scene| {
        scene.keys(&[NEW_SPINNER, HEADS]);
        for act in [
            OperatorAct::Void { reason: None },
            OperatorAct::Settle,
            OperatorAct::Amend { faces: [1, 2, 3] },
            OperatorAct::SpinTumbler,
        ] {
            assert!(scene.act(act).is_err());
        }
    });
}

#[test]
fn nothing_is_accepted_while_the_table_is_closed() {
    let mut scene = Scene::new(dice());
    scene.forget();
    scene.keys(&[NEW_SPINNER, HEADS]);
    scene.bell();
    scene.contact(Contact::NoSpinButton, true);
    assert!(scene.act(OperatorAct::Spinner { side: None }).is_err());
    scene.expect(&[]);
}

/// Everything that is said to be possible now.
fn possible(scene: &Scene) -> Vec<(String, String)> {
    let possible = scene.table.situation().possible;
    possible.into_iter().map(|act| (act.command, act.text)).collect()
}

fn offers(scene: &Scene, command: &str) -> bool {
    possible(scene).iter().any(|(offered, _)| offered == command)
}

fn says(scene: &Scene, words: &str) -> bool {
    possible(scene).iter().any(|(_, text)| text.contains(words))
}

fn lock(scene: &mut Scene) {
    let reason = "ring torn".to_owned();
    scene.act(OperatorAct::Lock { reason }).unwrap();
}

#[test]
fn a_lock_or_a_missing_terminal_offers_no_spinner() {
    play(dice(), |scene| {
        assert!(offers(scene, "round spinner"));
        lock(scene);
        assert!(!offers(scene, "round spinner") && offers(scene, "unlock") && offers(scene, "close"));
        assert!(says(scene, "until the locks have ended"), "{:?}", possible(scene));
    });
    play(dice(), |scene| {
        scene.lose(DeviceKind::Terminal);
        assert!(!offers(scene, "round spinner"));
        assert!(says(scene, "until the terminal answers"), "{:?}", possible(scene));
    });
}

#[test]
fn with_two_of_the_set_lost_a_new_set_is_offered_and_no_spinner() {
    play(dice(), |scene| {
        scene.keys(&[NEW_SPINNER, HEADS]);
        scene.bell();
        scene.keys(&[OFF_TABLE, OFF_TABLE]);
        assert!(offers(scene, "round no-more-bets"), "the spinner may keep the old set");
        assert!(says(scene, "Complete the set"), "{:?}", possible(scene));
        scene.spin(TAILS);
        assert_eq!(scene.phase(), "select");
        assert!(!offers(scene, "round spinner"));
        assert!(says(scene, "Place a new set first"), "{:?}", possible(scene));
        assert!(!says(scene, "Complete the set"), "{:?}", possible(scene));
        scene.keys(&[NEW_SET]);
        assert!(offers(scene, "round spinner"));
    });
}

#[test]
fn a_refusal_says_what_holds_the_next_game_back() {
    let refused = |scene: &mut Scene| scene.act(OperatorAct::DealerSpins).unwrap_err();
    play(dice(), |scene| {
        lock(scene);
        let text = refused(scene);
        assert!(
            text.contains("supervisor (ring torn)") && text.contains("`tablegate unlock`"),
            "{text}"
        );
        assert!(!text.contains("terminal"), "{text}");
    });
    play(dice(), |scene| {
        scene.lose(DeviceKind::Terminal);
        let text = refused(scene);
        assert!(
            text.contains("the terminal does not answer") && !text.contains("lock"),
            "{text}"
        );
    });
}

#[test]
fn an_act_of_another_game_is_refused_with_its_counterpart_or_with_its_games() {
    play(dice(), |scene| {
        for (act, words) in [
            (OperatorAct::Amend { faces: [1, 2, 3] }, "`tablegate round correct`"),
            (
                OperatorAct::EnterResult {
                    faces: [1, 2, 3],
                    reason: "terminal dead".into(),
                },
                "`tablegate round spin`",
            ),
            (OperatorAct::Void { reason: None }, "`tablegate round invalid`"),
            (OperatorAct::Settle, "it belongs to tai-sai and sic-bo"),
            (OperatorAct::Offer { seat: 3 }, "it belongs to tai-sai with a dice cup"),
        ] {
            let text = scene.act(act).unwrap_err();
            assert!(text.contains(words), "{text}");
        }
    });
}

#[test]
fn a_lock_between_games_does_not_speak_of_one_that_finishes() {
    let reason = || OperatorAct::Lock {
        reason: "ring torn".into(),
    };
    play(dice(), |scene| {
        assert_eq!(scene.act(reason()).unwrap(), "The next round is held back.");
    });
    play(dice(), |scene| {
        scene.keys(&[NEW_SPINNER, HEADS]);
        let text = scene.act(reason()).unwrap();
        assert_eq!(text, "The next round is held back; this one finishes.");
    });
}

/// A terminal drops its keys when the number changes; and should one not, the table has not heard them.
#[test]
fn keys_pressed_before_play_are_of_no_entry_in_it() {
    let entry = |scene: &Scene| scene.table.indicators().readout.entry;
    let selected = |scene: &Scene| {
        let of = |event: &&tablegate::table::event::Event| matches!(event.body, Some(Body::SpinnerSelected(_)));
        scene.events.iter().filter(of).count()
    };
    let mut scene = Scene::new(dice());
    scene.open();
    for way in ["test", "closed"] {
        match way {
            "test" => scene.act(OperatorAct::EnterTest).unwrap(),
            _ => scene.act(OperatorAct::Close).unwrap(),
        };
        let before = entry(&scene);
        scene.press(NEW_SPINNER);
        scene.press(HEADS);
        match way {
            "test" => drop(scene.act(OperatorAct::LeaveTest).unwrap()),
            _ => scene.open(),
        }
        assert_ne!(entry(&scene), before, "{way}");
        scene.enter_shown(vec![NEW_SPINNER, HEADS]);
        assert_eq!(selected(&scene), 0, "{way}");
    }
    scene.keys(&[NEW_SPINNER, HEADS]);
    assert_eq!(selected(&scene), 1);
}

#[test]
fn with_two_of_the_set_lost_and_bets_closed_only_what_is_found_completes_it() {
    play(dice(), |scene| {
        scene.keys(&[NEW_SPINNER, HEADS]);
        scene.bell();
        assert!(says(scene, "Dice went off the table"));
        scene.keys(&[OFF_TABLE, OFF_TABLE]);
        assert!(offers(scene, "round new-set"));
        scene.bell();
        assert!(offers(scene, "round new-set --found"), "{:?}", possible(scene));
        assert!(!offers(scene, "round new-set"), "{:?}", possible(scene));
    });
}
