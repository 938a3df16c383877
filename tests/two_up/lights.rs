//! The result lights: cards stand in for those that fail, and play goes on.

use crate::scene::*;
use tablegate::table::event::{Body, SpinOutcome};
use tablegate::table::input::{DeviceKind, LightSeen, OperatorAct, Shown, TestStep};

fn spinner(script: impl FnOnce(&mut Scene)) {
    play(dice(), |scene| {
        scene.keys(&[NEW_SPINNER, HEADS]);
        scene.forget();
        script(scene);
    });
}

fn cards(scene: &Scene) -> Vec<String> {
    scene.table.situation().two_up.unwrap().cards
}

#[test]
fn a_light_that_stays_dark_calls_for_a_card_and_play_goes_on() {
    spinner(|scene| {
        scene.dark.insert(0);
        scene.spin(HEADS);
        scene.wait(2000);
        scene.expect(&[
            "BetsClosed",
            "SpinResulted",
            "PlayersWagersDecided",
            "LampFailed",
            "ResultCardRequired",
        ]);
        let card = scene.last(|body| match body {
            Body::ResultCardRequired(card) => Some((card.outcome(), card.light.clone().unwrap().id)),
            _ => None,
        });
        assert_eq!(card, (SpinOutcome::Heads, "heads_1".into()));
        assert_eq!(cards(scene), ["heads_1"]);
        assert!(scene.state().locks.is_empty());
        assert!(scene.state().alerts.iter().any(|alert| alert == "result_light_failed"));
        scene.spin(HEADS);
        scene.wait(2000);
        scene.expect(&["BetsClosed", "SpinResulted", "PlayersWagersDecided"]);
        assert_eq!(scene.lit(), ["heads_1", "heads_2"]);
    });
}

#[test]
fn in_the_next_game_it_calls_for_a_card_at_once() {
    spinner(|scene| {
        scene.dark.insert(0);
        scene.spin(HEADS);
        scene.wait(2000);
        scene.spin(TAILS);
        scene.keys(&[NEW_SPINNER, HEADS]);
        assert!(cards(scene).is_empty());
        scene.forget();
        scene.spin(HEADS);
        scene.wait(2000);
        scene.expect(&[
            "BetsClosed",
            "SpinResulted",
            "PlayersWagersDecided",
            "ResultCardRequired",
        ]);
    });
}

#[test]
fn a_light_that_works_again_is_told_when_flicker_is_over() {
    spinner(|scene| {
        scene.dark.insert(0);
        scene.spin(HEADS);
        scene.wait(2000);
        scene.forget();
        for _ in 0..20 {
            scene.dark.clear();
            scene.lights_change();
            scene.wait(100);
            scene.dark.insert(0);
            scene.lights_change();
            scene.wait(100);
        }
        scene.expect(&[]);
        scene.dark.clear();
        scene.lights_change();
        scene.wait(12_000);
        scene.expect(&["LampRestored"]);
        assert!(cards(scene).is_empty());
        assert!(scene.state().alerts.is_empty());
    });
}

#[test]
fn a_light_that_is_wrongly_lit_is_told_and_needs_no_card() {
    spinner(|scene| {
        scene.stuck.insert(5);
        scene.lights_change();
        scene.wait(2000);
        scene.expect(&["LampFailed"]);
        assert!(cards(scene).is_empty());
    });
}

#[test]
fn lights_that_are_away_call_for_cards_after_five_seconds() {
    spinner(|scene| {
        scene.lose(DeviceKind::ResultLights);
        scene.forget();
        scene.spin(ODDS);
        scene.wait(4000);
        scene.expect(&["BetsClosed", "SpinResulted"]);
        scene.wait(2000);
        scene.expect(&["ResultCardRequired"]);
        scene.spin(ODDS);
        scene.wait(6000);
        scene.expect(&["BetsClosed", "SpinResulted", "ResultCardRequired"]);
        assert_eq!(cards(scene), ["odds_1", "odds_2"]);
        // They are never needed: the next game begins all the same.
        scene.spin(TAILS);
        assert_eq!(scene.readout(), "");
        scene.wait(4000);
        assert_eq!(scene.readout(), "E23");
        scene.keys(&[NEW_SPINNER, HEADS]);
        assert_eq!(scene.phase(), "betting");
    });
}

#[test]
fn lights_that_answer_nothing_are_as_if_away() {
    spinner(|scene| {
        scene.lights = Lights::Mute;
        scene.spin(HEADS);
        scene.wait(8000);
        scene.expect(&[
            "BetsClosed",
            "SpinResulted",
            "PlayersWagersDecided",
            "ResultCardRequired",
        ]);
    });
}

#[test]
fn lights_that_repeat_the_command_prove_nothing() {
    spinner(|scene| {
        scene.lights = Lights::Repeat;
        scene.dark.insert(0);
        scene.spin(HEADS);
        scene.wait(8000);
        scene.expect(&["BetsClosed", "SpinResulted", "PlayersWagersDecided"]);
    });
}

#[test]
fn a_person_reports_a_light_and_only_a_person_takes_it_back() {
    spinner(|scene| {
        scene.spin(HEADS);
        scene.wait(2000);
        scene.forget();
        let report = |seen| OperatorAct::ReportLight {
            light: "heads_1".into(),
            seen,
        };
        scene.act(report(LightSeen::Failed)).unwrap();
        scene.expect(&["LampFailed", "ResultCardRequired"]);
        assert!(scene.act(report(LightSeen::Failed)).is_err());
        scene.lights_change();
        scene.wait(20_000);
        scene.expect(&[]);
        scene.act(report(LightSeen::Works)).unwrap();
        scene.expect(&["LampRestored"]);
        assert!(cards(scene).is_empty());
        let no_light = OperatorAct::ReportLight {
            light: "heads_4".into(),
            seen: LightSeen::Failed,
        };
        assert!(scene.act(no_light).is_err());
    });
}

#[test]
fn a_reported_light_calls_for_its_card_with_the_result() {
    spinner(|scene| {
        let report = OperatorAct::ReportLight {
            light: "heads_1".into(),
            seen: LightSeen::Failed,
        };
        scene.act(report).unwrap();
        scene.forget();
        scene.spin(HEADS);
        assert_eq!(cards(scene), ["heads_1"]);
        scene.wait(2000);
        scene.expect(&[
            "BetsClosed",
            "SpinResulted",
            "PlayersWagersDecided",
            "ResultCardRequired",
        ]);
    });
}

#[test]
fn lights_are_lit_again_after_a_restart_and_failures_stay_known() {
    spinner(|scene| {
        scene.dark.insert(0);
        scene.spin(HEADS);
        scene.wait(2000);
        scene.restart();
        scene.wait(2000);
        assert_eq!(scene.lit(), ["heads_1"]);
        assert_eq!(cards(scene), ["heads_1"]);
    });
}

#[test]
fn a_quiet_table_waits_for_nothing() {
    spinner(|scene| {
        scene.spin(HEADS);
        scene.wait(60_000);
        assert_eq!(scene.table.deadline(), None);
    });
}

#[test]
fn the_alert_names_the_lights_that_have_failed() {
    fn alert(scene: &Scene) -> Option<String> {
        let alerts = scene.table.situation().alerts;
        alerts
            .into_iter()
            .find(|alert| alert.alert == "result_light_failed" && !alert.over)
            .map(|alert| alert.text)
    }
    fn report(scene: &mut Scene, light: &str, seen: LightSeen) {
        let light = light.to_owned();
        scene.act(OperatorAct::ReportLight { light, seen }).unwrap();
    }
    spinner(|scene| {
        report(scene, "odds_1", LightSeen::Failed);
        assert!(alert(scene).unwrap().contains("light odds_1 has failed"));
        report(scene, "heads_2", LightSeen::Failed);
        let both = alert(scene).unwrap();
        assert!(both.contains("heads_2") && both.contains("odds_1"), "{both}");
        report(scene, "odds_1", LightSeen::Works);
        assert!(alert(scene).unwrap().contains("light heads_2 has failed"));
        report(scene, "heads_2", LightSeen::Works);
        assert_eq!(alert(scene), None);
        for light in [
            "heads_1", "heads_2", "heads_3", "tails_1", "tails_2", "tails_3", "odds_1", "odds_2", "odds_3", "odds_4",
            "odds_5",
        ] {
            report(scene, light, LightSeen::Failed);
        }
        let events = scene.events.len();
        scene.wait(20_000);
        scene.lights_change();
        scene.wait(20_000);
        assert_eq!(scene.events.len(), events, "nothing is told again and again");
    });
}

/// A light that a test finds to work is no failed light any longer; what a person has reported needs a person's word.
#[test]
fn a_test_ends_what_it_finds_to_work() {
    #[derive(Clone, Copy, PartialEq, Debug)]
    enum Known {
        Measured,
        Reported,
    }
    let rows = [
        (Known::Measured, None, true),
        (Known::Measured, Some(LightSeen::Failed), false),
        (Known::Reported, None, false),
        (Known::Reported, Some(LightSeen::Works), true),
    ];
    for (known, said, ends) in rows {
        for still_open in [true, false] {
            spinner(|scene| {
                if known == Known::Measured {
                    scene.dark.insert(0);
                }
                scene.spin(HEADS);
                scene.wait(2000);
                if known == Known::Reported {
                    let light = "heads_1".into();
                    let seen = LightSeen::Failed;
                    scene.act(OperatorAct::ReportLight { light, seen }).unwrap();
                }
                assert_eq!(cards(scene), ["heads_1"]);
                scene.spin(TAILS);
                if !still_open {
                    scene.act(OperatorAct::Close).unwrap();
                }
                scene.dark.clear();
                scene.act(OperatorAct::EnterTest).unwrap();
                let take = |scene: &mut Scene, step| scene.act(OperatorAct::DeviceTest(step)).unwrap();
                let device = DeviceKind::ResultLights;
                take(scene, TestStep::Begin { device });
                for bit in [None].into_iter().chain((0..11).map(Some)) {
                    take(scene, TestStep::Light { bit });
                    scene.wait(2000);
                }
                if let Some(seen) = said {
                    let what = Shown::Lamp(0);
                    take(scene, TestStep::Say { what, seen });
                }
                take(scene, TestStep::End);
                let failed = scene.table.situation().failed_lamps.len();
                assert_eq!(failed, usize::from(!ends), "{known:?}, {said:?}, open: {still_open}");
                let told = |scene: &Scene| scene.state().alerts.iter().any(|alert| alert == "result_light_failed");
                assert_eq!(told(scene), !ends, "at once, and not when it is played again");
                scene.act(OperatorAct::LeaveTest).unwrap();
                scene.wait(2000);
                assert!(!ends || !told(scene));
            });
        }
    }
}
