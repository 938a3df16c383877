//! With a covered tumbler.

use super::*;

#[test]
fn from_spin_to_settlement() {
    play(Tumbler::Covered, |s| {
        s.spin(3);
        s.wait(3000);
        s.expect_events(&[
            "RoundStarted sic-bo covered by:dealer round:1",
            "TumblerSpun 1 TUMBLER",
            "TumblerSpun 2",
            "TumblerSpun 3",
            "BetsOpened round:1",
        ]);
        s.wait(20_000);
        s.bell();
        s.expect_events(&["BetsClosed heard TERMINAL by:dealer"]);
        s.wait(2000);
        s.uncover();
        s.expect_events(&["DiceUncovered seen TUMBLER"]);
        s.wait(1000);
        s.key_in(&[6, 1, 3]);
        s.expect_events(&["ResultEntered pressed:6,1,3 1,3,6 total:10 call:1,_3,_6,_total_10 TERMINAL"]);
        s.expect_lit([1, 3, 6]);
        s.wait(500);
        s.expect_events(&["LayoutLit"]);
        s.settle();
        s.expect_events(&["RoundSettled stated final by:dealer"]);
    });
}

#[test]
fn no_odds_are_shown_without_a_table_of_them() {
    play(Tumbler::Covered, |s| {
        s.reach_entered(&[2, 2, 5]);
        let (started, entered) = (
            s.newest(|body| match body {
                Body::RoundStarted(started) => Some(started.clone()),
                _ => None,
            }),
            s.newest(|body| match body {
                Body::ResultEntered(entered) => Some(entered.clone()),
                _ => None,
            }),
        );
        assert!(started.paytable_sha256.is_empty() && started.areas_sha256.len() == 32);
        assert_eq!(
            started.policy.map(|p| (p.void, p.lamps, p.amend)),
            Some((false, false, false))
        );
        assert!(!entered.areas.is_empty());
        for area in &entered.areas {
            assert_eq!((area.pays, area.per), (0, 0), "{area:?}");
        }
    });
}

#[test]
fn a_table_of_odds_says_what_each_area_pays() {
    let table = wagers().iter().map(|(id, wager)| {
        let odds = |pays| Odds { pays, per: 2 };
        let pays = match wager {
            Wager::Face(_) => Pays::ByDice([odds(3), odds(5), odds(7)]),
            _ => Pays::Always(odds(9)),
        };
        (*id, pays)
    });
    let paytable = Paytable::new(table).unwrap();
    let config = with(Tumbler::Covered, |c| c.paytable = Some(paytable));
    play_at(config, |s| {
        s.reach_entered(&[2, 2, 5]);
        let entered = s.newest(|body| match body {
            Body::ResultEntered(entered) => Some(entered.clone()),
            _ => None,
        });
        let pays = |id: &str| {
            entered
                .areas
                .iter()
                .find(|area| area.id == id)
                .map(|area| (area.pays, area.per))
        };
        assert_eq!(pays("face_2"), Some((5, 2)));
        assert_eq!(pays("face_5"), Some((3, 2)));
        assert_eq!(pays("small"), Some((9, 2)));
        let started = s.newest(|body| match body {
            Body::RoundStarted(started) => Some(started.clone()),
            _ => None,
        });
        assert_eq!(started.paytable_sha256.len(), 32);
    });
}

#[test]
fn every_outcome_lights_the_areas_of_the_standard_layout() {
    let mut landed = Scene::new(sic_bo(Tumbler::Covered));
    landed.open();
    landed.reach_landed();
    for n in 0..216u8 {
        let faces = [n / 36 + 1, n / 6 % 6 + 1, n % 6 + 1];
        let mut s = landed.clone();
        s.key_in(&faces);
        s.expect_lit(faces);
    }
}

#[test]
fn a_cover_that_goes_off_early_holds_the_round_and_never_voids_it() {
    for void in [false, true] {
        let config = with(Tumbler::Covered, |c| c.policy.void = void);
        play_at(config, |s| {
            s.reach_betting();
            s.wait(2000);
            s.forget();
            s.uncover();
            s.wait(10_000);
            s.expect_events(&["RoundHeld EXPOSED_EARLY"]);
            s.expect_held(RoundHeldCause::ExposedEarly);
            supervisor_resumes(s);
            s.expect_events(&[
                "RoundResumed EXPOSED_EARLY by:supervisor",
                "BetsClosed implied by:supervisor",
                "DiceUncovered by:supervisor",
            ]);
            s.key_in(&[1, 3, 6]);
            s.expect_lit([1, 3, 6]);
        });
    }
}

#[test]
fn a_bell_that_rang_in_time_lets_the_held_round_go_on() {
    play(Tumbler::Covered, |s| {
        s.reach_betting();
        s.wait(2000);
        s.terminal.link.latency_us = 3_000_000;
        s.bell();
        s.cover_off();
        s.wait(2400);
        s.expect_held(RoundHeldCause::ExposedEarly);
        s.forget();
        s.wait(2000);
        s.expect_events(&["RoundResumed EXPOSED_EARLY", "BetsClosed heard", "DiceUncovered seen"]);
        s.expect_phase("landed");
    });
}

#[test]
fn a_forgotten_tumble_is_held() {
    play(Tumbler::Covered, |s| {
        s.bell();
        s.expect_readout("E30");
        s.uncover();
        s.wait(1000);
        s.expect_events(&["RoundStarted", "RoundHeld NOT_ACTIVATED"]);
        supervisor_resumes(s);
        s.expect_phase("landed");
    });
}

#[test]
fn the_cover_settles_provisionally_as_in_style_a() {
    play(Tumbler::Covered, |s| {
        s.reach_entered(&[1, 3, 6]);
        s.forget();
        s.cover();
        s.wait(6000);
        s.expect_events(&["RoundSettled implied provisional"]);
        s.operator(OperatorAct::Reopen);
        s.expect_done();
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn it_opens_by_the_checks_of_a_tumbler() {
    play_with(sic_bo(Tumbler::Covered), |s| {
        s.operator(OperatorAct::OpenVouched);
        s.expect_events(&[
            "OpeningStarted",
            "OpeningCheckRecorded DEVICES passed seen",
            "OpeningCheckRecorded LAMP_WALK passed vouched",
            "OpeningCheckRecorded TEST_ENTRIES passed vouched",
            "OpeningCheckRecorded TUMBLER passed vouched",
            "OpeningCheckRecorded SEAL passed seen",
            "TableOpened",
        ]);
        no_rule_of_another_land(s);
    });
}
