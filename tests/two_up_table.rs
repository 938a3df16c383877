//! Two-up tables end to end: the real binary as the daemon, simulated devices on ptys, people who play by the law. What the lights
//! show is read at the lights, and compared with what the law says of the events in the journal; the product's own table has no part
//! in that.

#![cfg(feature = "sim")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test may panic, and looks for few events among many"
)]

mod daemon_support;
#[path = "daemon_support/two_up.rs"]
mod two_up_scene;

use daemon_support::PATIENCE;
use std::collections::BTreeSet;
use tablegate::rules::{triple_penny, two_up_dice};
use tablegate::sim::{Incident, Lamps, People, StuckAt, TwoUp};
use tablegate::table::event::{Body, Event, SpinOutcome};
use two_up_scene::Scene;

fn bodies(events: &[Event]) -> impl Iterator<Item = &Body> {
    events.iter().filter_map(|event| event.body.as_ref())
}

type Picture = BTreeSet<u32>;

/// Every picture that the lights have shown, one after another.
fn read_lights(lights: &Lamps) -> tokio::task::JoinHandle<Vec<Picture>> {
    let mut view = lights.watch();
    tokio::spawn(async move {
        let mut shown: Vec<Picture> = vec![view.borrow_and_update().lit.clone()];
        while view.changed().await.is_ok() {
            let lit = view.borrow_and_update().lit.clone();
            if shown.last() != Some(&lit) {
                shown.push(lit);
            }
        }
        shown
    })
}

fn with_dice(outcome: SpinOutcome) -> two_up_dice::Spun {
    match outcome {
        SpinOutcome::Heads => two_up_dice::Spun::Heads,
        SpinOutcome::Tails => two_up_dice::Spun::Tails,
        SpinOutcome::Odds => two_up_dice::Spun::Odds,
        other => panic!("{other:?} with dice"),
    }
}

/// What the law says that the lights show, after each event (s19(1), TD-1 to TD-5).
fn law_with_dice(events: &[Event]) -> Vec<Picture> {
    let mut before = two_up_dice::Counts::default();
    let mut counts = two_up_dice::Counts::default();
    let mut shown = vec![Picture::new()];
    for body in bodies(events) {
        match body {
            Body::SpinnerSelected(_) => counts = two_up_dice::Counts::default(),
            Body::SpinnerWagerPlaced(placed) if !placed.game.is_empty() => counts = two_up_dice::Counts::default(),
            Body::SpinResulted(spun) => {
                before = counts;
                counts = counts.and(with_dice(spun.outcome()));
            }
            Body::SpinCorrected(corrected) => counts = before.and(with_dice(corrected.outcome())),
            _ => {}
        }
        let lit: Picture = counts.lit().into_iter().map(|light| u32::from(light.bit())).collect();
        if shown.last() != Some(&lit) {
            shown.push(lit);
        }
    }
    shown
}

/// With coins the last valid result stands (s479, TP-13): as many lights of its side as coins show it.
fn law_with_coins(events: &[Event]) -> Vec<Picture> {
    let mut shown = vec![Picture::new()];
    for body in bodies(events) {
        let outcome = match body {
            Body::SpinResulted(spun) => spun.outcome(),
            Body::SpinCorrected(corrected) => corrected.outcome(),
            _ => continue,
        };
        let spun = match outcome {
            SpinOutcome::Heads => triple_penny::Spun::Heads,
            SpinOutcome::Tails => triple_penny::Spun::Tails,
            SpinOutcome::TripleHeads => triple_penny::Spun::TripleHeads,
            SpinOutcome::TripleTails => triple_penny::Spun::TripleTails,
            other => panic!("{other:?} with coins"),
        };
        let first = match spun.side() {
            tablegate::rules::two_up::Side::Heads => 0,
            tablegate::rules::two_up::Side::Tails => 3,
        };
        let coins = match spun.agree() {
            triple_penny::Agree::Two => 2,
            triple_penny::Agree::Three => 3,
        };
        let lit: Picture = (first..first + coins).collect();
        if shown.last() != Some(&lit) {
            shown.push(lit);
        }
    }
    shown
}

async fn lights_follow_the_law(game: TwoUp, seed: u64) {
    let mut scene = Scene::open(game).await;
    let walked = scene.events().len();
    scene.dealer.see_lights(&Picture::new()).await.unwrap();
    let shown = read_lights(&scene.dealer.lights);
    let incidents: Vec<Incident> = Incident::of(game)
        .iter()
        .copied()
        .filter(|incident| *incident != Incident::DarkLight)
        .collect();
    let mut people = People::new(&scene.dealer, seed, None);
    for (n, incident) in incidents.iter().enumerate() {
        let played = people.game(*incident).await;
        assert!(played.is_ok(), "seed {seed}, game {n}, {incident:?}: {played:?}");
    }
    drop(people);
    // Lights go on showing the decided game, also after the daemon was killed.
    let lit = scene.dealer.lights.view().lit;
    let pictures = scene.dealer.lights.view().pictures;
    scene.kill().await;
    scene.start().await;
    let again = |view: &tablegate::sim::LampsView| view.pictures > pictures && view.lit == lit;
    scene
        .dealer
        .lights
        .wait("the same lights again", again, PATIENCE)
        .await
        .unwrap();
    let events = scene.events();
    let by_law = match game {
        TwoUp::Dice => law_with_dice(&events[walked..]),
        TwoUp::TriplePenny => law_with_coins(&events[walked..]),
    };
    drop(scene);
    let shown = shown.await.unwrap();
    // The lights' device ends dark.
    let shown: Vec<_> = shown.into_iter().take(by_law.len()).collect();
    assert_eq!(shown, by_law, "seed {seed}");
    assert!(by_law.len() > incidents.len(), "seed {seed}: {} pictures", by_law.len());
    let spins = bodies(&events)
        .filter(|body| matches!(body, Body::SpinResulted(_)))
        .count();
    let corrected = bodies(&events).any(|body| matches!(body, Body::SpinCorrected(_)));
    assert!(spins >= incidents.len() / 2 && corrected, "seed {seed}");
}

#[tokio::test]
async fn lights_of_two_up_dice_follow_the_law_through_every_incident() {
    lights_follow_the_law(TwoUp::Dice, 3).await;
}

#[tokio::test]
async fn lights_of_triple_penny_follow_the_law_through_every_incident() {
    lights_follow_the_law(TwoUp::TriplePenny, 4).await;
}

#[tokio::test]
async fn a_light_that_fails_calls_for_a_card_and_play_goes_on() {
    let scene = Scene::open(TwoUp::Dice).await;
    let mut people = People::new(&scene.dealer, 5, None);
    people.game(Incident::DarkLight).await.unwrap();
    drop(people);
    let events = scene.events();
    let failed = bodies(&events)
        .position(|body| matches!(body, Body::LampFailed(_)))
        .unwrap();
    let card = bodies(&events)
        .position(|body| matches!(body, Body::ResultCardRequired(_)))
        .unwrap();
    assert!(failed < card);
    assert!(
        !bodies(&events).any(|body| matches!(body, Body::TableLocked(_))),
        "play goes on"
    );
    // A light that only a person sees is a person's to report, and to take back.
    scene.act(&["round", "light", "odds-5", "failed"]).await.ok();
    scene
        .act(&["round", "light", "odds_5", "failed"])
        .await
        .refused(1, "already");
    scene.act(&["round", "light", "odds_5", "works"]).await.ok();
    scene
        .act(&["round", "light", "heads_9", "works"])
        .await
        .refused(2, "odds_5");
}

#[tokio::test]
async fn a_supervisor_plays_a_game_by_commands_and_reads_it_back() {
    let scene = Scene::open(TwoUp::Dice).await;
    scene.act(&["round", "no-more-bets"]).await.refused(1, "refused");
    scene.act(&["round", "spinner", "heads"]).await.ok();
    scene.act(&["round", "no-more-bets"]).await.ok();
    scene.act(&["round", "invalid", "--reason", "uneven"]).await.ok();
    scene.act(&["round", "overrule", "odds"]).await.ok();
    let shown = scene.command(&["round", "show"]).await.ok();
    for words in ["a player spins, wager on heads", "last result: odds", "odds 1 in a row"] {
        assert!(shown.contains(words), "{words:?} is not in\n{shown}");
    }
    scene.act(&["round", "no-more-bets"]).await.ok();
    scene.act(&["round", "spin", "tails"]).await.ok();
    // It was heads: what the wrong key decided is taken back.
    scene.act(&["round", "correct", "heads"]).await.ok();
    scene.dealer.see_lights(&[0].into()).await.unwrap();
    for outcome in ["heads", "heads"] {
        scene.act(&["round", "no-more-bets"]).await.ok();
        scene.act(&["round", "spin", outcome]).await.ok();
    }
    scene.act(&["round", "continues", "tails"]).await.ok();
    let recalled = scene.command(&["recall", "1", "--json"]).await;
    let recalled: serde_json::Value = serde_json::from_str(&recalled.ok()).unwrap();
    assert_eq!(recalled[0]["outcome"], "running");
    let told = scene.command(&["recall", "2"]).await.ok();
    for words in [
        "SPINNER WON",
        "spins    odds, heads, heads, heads",
        "invalid  uneven",
        "overruled: it stands",
        "correct  heads, keyed as tails",
        "pays     15 to 2",
    ] {
        assert!(told.contains(words), "{words:?} is not in\n{told}");
    }
    let listed = scene
        .command(&["events", "list", "--kind", "spin_corrected"])
        .await
        .ok();
    assert!(listed.contains("RESULT CORRECTED from tails to heads"), "{listed}");
    assert_eq!(listed.lines().count(), 1);
    is_reported(&scene).await;
}

/// What that table's report says: a game won, an invalid spin that was overruled and so is none, a spin that was corrected, by command.
async fn is_reported(scene: &Scene) {
    let report = scene.command(&["report", "--zone", "UTC", "--json"]).await.ok();
    let told: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(told["game"], "two-up-dice", "{told:#}");
    let all = &told["all"];
    let events = scene.events();
    let spins = bodies(&events)
        .filter(|body| matches!(body, Body::SpinResulted(_)))
        .count();
    for (figure, expected) in [
        ("rounds", 1),
        ("voids", 0),
        ("invalid_spins", 0),
        ("amendments", 1),
        ("entries", spins as u64),
    ] {
        assert_eq!(all[figure], expected, "{figure}: {told:#}");
    }
    assert_eq!(all["rounds_by_end"]["spinner_won"], 1, "{told:#}");
    assert_eq!(all["amendments_by_source"]["command"], 1, "{told:#}");
    let page = scene.command(&["report", "--zone", "UTC"]).await.ok();
    let flat = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["two-up-dice", "spinner won 1 ", "amended 1 ", "call to result"] {
        assert!(flat.contains(words), "{words:?} is not in\n{page}");
    }
    // Nothing of tai-sai's play is told of a game that has none of it.
    for word in ["uncover", "dice", "tumble"] {
        let is_told = page.replace("two-up-dice", "").contains(word);
        assert!(!is_told, "{word:?} is in\n{page}");
    }
}

#[tokio::test]
async fn what_is_no_act_of_the_game_is_refused_in_a_sentence() {
    let scene = Scene::open(TwoUp::TriplePenny).await;
    for args in [
        &["round", "amend", "1", "3", "6"][..],
        &["round", "settle"],
        &["round", "offer", "3"],
        &["round", "overrule", "heads"],
    ] {
        let refused = scene.act(args).await;
        assert_eq!(refused.code, 1, "{args:?}: {}", refused.err);
        assert!(refused.err.starts_with("error: refused: "), "{args:?}: {}", refused.err);
    }
    scene.act(&["round", "spin", "edge"]).await.refused(2, "triple-tails");
    scene
        .act(&["round", "invalid", "--reason", "chip_contact"])
        .await
        .refused(2, "on_another_coin");
    scene.act(&["round", "spinner", "odds"]).await.refused(2, "heads");
}

#[tokio::test]
async fn the_lights_and_keys_of_a_two_up_table_are_tested() {
    let scene = Scene::open(TwoUp::Dice).await;
    scene.dealer.lights.stick(4, StuckAt::Dark).await;
    let all = scene.act(&["test", "all", "--yes"]).await;
    assert_eq!(
        (all.code, all.out.as_str()),
        (
            1,
            "Test mode: nothing counts until it is left.\n\
             lights RL-1: FAILED (11 of 11 tried)\n  \
             tails_2, bit 4 (output 5): stays dark (measured)\n\
             terminal ET-1: NOT ALL TESTED (0 of 16 tried)\n  \
             not tested: heads, tails, odds, no spin, new spinner, spinner stops, relieve, off table, new set, overrule, ENTER, \
             bell, supervisor key, cabinet door, readout (all lit), readout (all dark)\n\
             Test mode is left: the table is open, as before.\n"
        )
    );
    for (of, words) in [
        ("lamps", "This table has no lamps"),
        ("tumbler", "This table has no tumbler"),
    ] {
        let refused = scene.act(&["test", of, "--yes"]).await;
        assert!(refused.code == 1 && refused.out.contains(words), "{refused:?}");
    }
    scene.dealer.lights.stick(4, StuckAt::Healthy).await;
    scene.act(&["test", "lights", "--yes"]).await.ok();
    let dark = |view: &tablegate::sim::LampsView| view.commanded.is_empty();
    scene.dealer.lights.wait("dark", dark, PATIENCE).await.unwrap();
}
