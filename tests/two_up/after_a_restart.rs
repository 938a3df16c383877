//! The table is exactly where the journal left it.

use crate::scene::*;
use tablegate::table::event::{Body, TableLockedReason};
use tablegate::table::input::{Contact, DeviceKind, Input, OperatorAct, Outcome};
use tablegate::table::{Approval, Table};

fn spinner(script: impl FnOnce(&mut Scene)) {
    play(dice(), |scene| {
        scene.keys(&[NEW_SPINNER, HEADS]);
        scene.forget();
        script(scene);
    });
}

#[test]
fn every_phase_stays_what_it_was() {
    spinner(|scene| {
        scene.spin(ODDS);
        for phase in ["betting", "closed"] {
            scene.restart();
            assert_eq!(
                (scene.phase().as_str(), scene.lit()),
                (phase, vec!["odds_1".to_string()])
            );
            if phase == "betting" {
                scene.bell();
            }
        }
        scene.keys(&[HEADS]);
        scene.restart();
        scene.spin(TAILS);
        scene.restart();
        assert_eq!((scene.phase().as_str(), scene.lit().len()), ("select", 2));
        scene.keys(&[NEW_SPINNER]);
        scene.spin(HEADS);
        scene.restart();
        assert_eq!(scene.phase(), "decide");
        scene.keys(&[NEW_SPINNER]);
        assert_eq!(scene.phase(), "betting");
    });
    play(coins(), |scene| {
        scene.keys(&[NEW_SPINNER, HEADS]);
        (0..3).for_each(|_| scene.spin(NO_SPIN));
        scene.restart();
        assert_eq!(scene.phase(), "choice");
        scene.keys(&[RELIEVE]);
        scene.spin(TRIPLE_TAILS);
        scene.restart();
        scene.bell();
        assert_eq!(scene.phase(), "closed");
        scene.restart();
        scene.keys(&[HEADS]);
        assert_eq!(scene.phase(), "select");
    });
}

#[test]
fn a_bell_that_was_rung_while_away_counts() {
    spinner(|scene| {
        scene.restart_while(|scene| {
            scene.contact(Contact::Bell, true);
            scene.contact(Contact::Bell, false);
        });
        scene.expect(&["BetsClosed"]);
        let away = scene.last(|body| match body {
            Body::BetsClosed(closed) => Some(closed.while_away),
            _ => None,
        });
        assert!(away);
        assert_eq!(scene.phase(), "closed");
    });
}

/// Bets were open, rung before, how long before the event; then from the call to the result.
fn times(scene: &Scene) -> (u32, u64, u32) {
    let (open, rung) = scene.last(|body| match body {
        Body::BetsClosed(closed) => Some((closed.bets_open_ms, closed.rung_us_before)),
        _ => None,
    });
    let result = scene.last(|body| match body {
        Body::SpinResulted(resulted) => Some(resulted.call_to_result_ms),
        _ => None,
    });
    (open, rung, result)
}

#[test]
fn times_that_began_before_it_are_not_measured() {
    spinner(|scene| {
        scene.restart_while(|scene| {
            scene.contact(Contact::Bell, true);
            scene.contact(Contact::Bell, false);
        });
        scene.wait(600);
        scene.keys(&[ODDS]);
        assert_eq!(times(scene), (0, 0, 0));
        // The call was in the run before.
        scene.bell();
        scene.restart();
        scene.wait(600);
        scene.keys(&[ODDS]);
        assert_eq!(times(scene).2, 0);
        // And in one run they are.
        scene.bell();
        scene.wait(600);
        scene.keys(&[ODDS]);
        let (open, _, result) = times(scene);
        assert!(open > 0 && result >= 600, "{open} {result}");
    });
}

#[test]
fn a_bell_that_may_be_older_than_the_bets_does_not_close_them() {
    spinner(|scene| {
        scene.bell();
        scene.lose(DeviceKind::Terminal);
        scene.wait(1000);
        scene.contact(Contact::Bell, true);
        scene.contact(Contact::Bell, false);
        scene.wait(3000);
        scene.act(OperatorAct::Spin { outcome: Outcome::Odds }).unwrap();
        assert_eq!(scene.phase(), "betting");
        scene.forget();
        scene.restart();
        scene.greet(DeviceKind::Terminal);
        scene.expect(&[]);
        assert_eq!(scene.phase(), "betting");
        // The dealer rings again.
        scene.bell();
        assert_eq!(scene.phase(), "closed");
    });
}

#[test]
fn without_one_bets_stay_open() {
    spinner(|scene| {
        scene.restart();
        scene.expect(&[]);
        assert_eq!(scene.phase(), "betting");
        scene.bell();
        assert_eq!(scene.phase(), "closed");
    });
}

#[test]
fn a_bell_of_the_last_spin_does_not_close_the_next() {
    spinner(|scene| {
        scene.spin(ODDS);
        scene.restart();
        assert_eq!(scene.phase(), "betting");
        scene.lose(DeviceKind::Terminal);
        scene.greet(DeviceKind::Terminal);
        assert_eq!(scene.phase(), "betting");
    });
}

#[test]
fn a_bell_that_arrives_late_over_a_broken_link_counts() {
    spinner(|scene| {
        scene.lose(DeviceKind::Terminal);
        scene.wait(500);
        scene.contact(Contact::Bell, true);
        scene.wait(500);
        scene.forget();
        scene.greet(DeviceKind::Terminal);
        scene.expect(&["BetsClosed"]);
    });
}

#[test]
fn what_can_be_taken_back_can_be_so_after_a_restart() {
    spinner(|scene| {
        scene.spin(NO_SPIN);
        scene.restart();
        scene
            .act(OperatorAct::Overrule {
                outcome: Outcome::Heads,
            })
            .unwrap();
        assert_eq!(scene.lit(), ["heads_1"]);
        scene.restart();
        scene
            .act(OperatorAct::CorrectOutcome { outcome: Outcome::Odds })
            .unwrap();
        assert_eq!(scene.lit(), ["odds_1"]);
    });
}

#[test]
fn another_games_configuration_freezes_the_open_game_until_it_is_voided() {
    let mut scene = Scene::new(dice());
    scene.open();
    scene.keys(&[NEW_SPINNER, HEADS]);
    scene.spin(ODDS);
    scene.config = coins();
    scene.restart();
    let lock = scene.state().locks[0];
    assert_eq!(lock.reason(), TableLockedReason::Configuration);
    assert!(scene.act(OperatorAct::Resume).is_err());
    // Restored, it goes on.
    scene.config = dice();
    scene.restart();
    assert!(scene.state().locks.is_empty());
    scene.spin(ODDS);
    assert_eq!(scene.lit(), ["odds_1", "odds_2"]);
    scene.config = coins();
    scene.restart();
    scene.forget();
    scene.act(OperatorAct::Void { reason: None }).unwrap();
    scene.expect(&["RoundVoided", "TableUnlocked", "TableClosed"]);
    scene.open();
    assert_eq!(scene.phase(), "select");
    scene.recover();
}

#[test]
fn between_games_another_games_configuration_closes_the_table() {
    let mut scene = Scene::new(dice());
    scene.open();
    scene.config = coins();
    scene.forget();
    scene.restart();
    scene.expect(&["TableClosed"]);
    scene.recover();
}

#[test]
fn a_tai_sai_journal_and_a_two_up_table_do_not_mix() {
    // A two-up journal folded by a tai-sai table keeps its play, frozen.
    let mut scene = Scene::new(dice());
    scene.open();
    scene.keys(&[NEW_SPINNER, HEADS]);
    let tai_sai = tablegate::table::TableConfig {
        game: crate::scene::tai_sai(),
        approval: Approval::NotEnforced,
    };
    let mut table = Table::new(tai_sai);
    scene.events.iter().for_each(|event| table.apply(event));
    let decision = table.decide(tablegate::time::Uptime::from_millis(5), &Input::Started);
    assert!(decision.facts.iter().any(
        |fact| matches!(&fact.body, Body::TableLocked(lock) if lock.reason() == TableLockedReason::Configuration)
    ));
}
