//! Void, "no spin".

use super::*;
use crate::scene::sic_bo;
use tablegate::rules::sic_bo::machine::Tumbler;
use tablegate::rules::tai_sai::Style;
use tablegate::table::TableConfig;

#[test]
fn the_no_spin_contact_voids_before_the_uncover() {
    play(|s| {
        for to in [|s: &mut Scene| s.spin(2), Scene::reach_betting, Scene::reach_closed] {
            to(s);
            s.forget();
            s.no_spin();
            s.expect_events(&["RoundVoided NOT_STATED chosen by:dealer"]);
            s.expect_phase("ready");
            s.expect_dark();
        }
    });
}

#[test]
fn the_no_spin_key_and_enter_within_five_seconds_void() {
    play(|s| {
        s.reach_betting();
        s.forget();
        s.press_key(Key::NoSpin);
        s.wait(4000);
        s.enter();
        s.expect_events(&["RoundVoided NOT_STATED chosen by:dealer"]);
    });
}

#[test]
fn later_they_do_not() {
    play(|s| {
        s.reach_betting();
        s.forget();
        s.press_key(Key::NoSpin);
        s.wait(5000);
        s.enter();
        s.expect_phase("betting");
        assert!(
            s.events
                .iter()
                .all(|r| !matches!(r.event.body, Some(Body::RoundVoided(_))))
        );
    });
}

#[test]
fn a_command_voids_with_a_reason() {
    play(|s| {
        for to in [
            |s: &mut Scene| s.spin(2),
            Scene::reach_betting,
            Scene::reach_closed,
            Scene::reach_landed,
            |s: &mut Scene| {
                s.reach_entered(&[1, 3, 6]);
            },
        ] {
            to(s);
            s.forget();
            s.operator(OperatorAct::Void {
                reason: Some(RoundVoidedReason::ANotFlat),
            });
            s.expect_done();
            s.expect_events(&["RoundVoided A_NOT_FLAT chosen by:supervisor"]);
            s.expect_dark();
            s.expect_phase("ready");
            s.cover();
        }
    });
}

#[test]
fn a_reason_of_the_other_style_is_refused() {
    play(|s| {
        s.reach_betting();
        s.forget();
        s.operator(OperatorAct::Void {
            reason: Some(RoundVoidedReason::BLeftArea),
        });
        s.expect_refused();
        s.expect_no_events();
    });
}

#[test]
fn a_technician_does_not_void() {
    play(|s| {
        s.reach_betting();
        s.act_as(technician(), OperatorAct::Void { reason: None });
        s.expect_refused();
        s.expect_phase("betting");
    });
}

#[test]
fn a_reason_that_was_not_stated_is_added_later() {
    play(|s| {
        s.reach_betting();
        s.no_spin();
        s.forget();
        s.operator(OperatorAct::StateVoidReason {
            reason: RoundVoidedReason::ATumblerFault,
        });
        s.expect_done();
        s.expect_events(&["VoidReasonStated A_TUMBLER_FAULT by:supervisor round:1"]);
        s.operator(OperatorAct::StateVoidReason {
            reason: RoundVoidedReason::ANotFlat,
        });
        s.expect_refused();
    });
}

#[test]
fn after_the_uncover_the_dealers_no_spin_holds_the_round() {
    play(|s| {
        s.reach_landed();
        s.forget();
        s.no_spin();
        s.expect_alert();
        s.expect_events(&["RoundHeld NO_SPIN_AFTER_UNCOVER"]);
        s.expect_held(RoundHeldCause::NoSpinAfterUncover);
        s.operator(OperatorAct::Resume);
        s.expect_done();
        s.expect_phase("landed");
    });
}

#[test]
fn after_the_entry_too() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.forget();
        s.no_spin();
        s.expect_events(&["RoundHeld NO_SPIN_AFTER_UNCOVER"]);
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn unless_the_house_lets_it_void() {
    play_with(config_with(|c| c.hold_no_spin_after_uncover = false), |s| {
        s.open();
        s.reach_landed();
        s.forget();
        s.no_spin();
        s.expect_events(&["RoundVoided NOT_STATED chosen by:dealer"]);
    });
}

#[test]
fn in_ready_it_is_ignored() {
    play(|s| {
        s.no_spin();
        s.press_key(Key::NoSpin);
        s.enter();
        s.wait(10_000);
        s.expect_no_events();
    });
}

#[test]
fn after_settlement_a_void_is_refused() {
    play(|s| {
        s.whole_round(&[1, 3, 6]);
        s.forget();
        s.operator(OperatorAct::Void { reason: None });
        s.expect_refused();
        s.expect_no_events();
    });
}

#[test]
fn the_key_without_enter_does_nothing() {
    play(|s| {
        s.reach_betting();
        s.forget();
        s.press_key(Key::NoSpin);
        s.wait(30_000);
        s.expect_no_events();
        s.bell();
        s.expect_phase("closed");
    });
}

#[test]
fn the_key_and_enter_after_the_uncover_hold_the_round() {
    play(|s| {
        s.reach_landed();
        s.forget();
        s.press_key(Key::NoSpin);
        s.enter();
        s.expect_events(&["RoundHeld NO_SPIN_AFTER_UNCOVER"]);
    });
}

#[test]
fn a_tumble_that_never_was_is_voided_in_ready() {
    play(|s| {
        for reason in [RoundVoidedReason::ANotActivated, RoundVoidedReason::ATumblerFault] {
            s.operator(OperatorAct::Void { reason: Some(reason) });
            s.expect_done();
            s.expect_phase("ready");
            let last = s.newest(|body| match body {
                Body::RoundVoided(b) => Some(b.reason()),
                _ => None,
            });
            assert_eq!(last, reason);
        }
        s.expect_events(&[
            "RoundStarted round:1 by:supervisor",
            "RoundVoided A_NOT_ACTIVATED chosen round:1 by:supervisor",
            "RoundStarted round:2 by:supervisor",
            "RoundVoided A_TUMBLER_FAULT chosen round:2",
        ]);
        s.reach_betting();
    });
}

/// What is said to be possible is what the table takes: at every phase, frozen or not, of every course of the dice.
#[test]
fn a_void_is_offered_where_it_is_taken_and_with_a_reason_where_it_needs_one() {
    type Reach = fn(&mut Scene);
    let covered: [Reach; 6] = [
        |_| (),
        |s| s.spin(1),
        Scene::reach_betting,
        Scene::reach_closed,
        Scene::reach_landed,
        |s| s.reach_entered(&[1, 2, 3]),
    ];
    let others: [Reach; 1] = [|_| ()];
    let tables: [(TableConfig, &[Reach]); 4] = [
        (config(), &covered),
        (config_with(|tai_sai| tai_sai.style = Style::B), &others),
        (sic_bo(Tumbler::Covered), &others),
        (sic_bo(Tumbler::Open), &others),
    ];
    for (config, phases) in tables {
        for reach in phases {
            for frozen in [false, true] {
                play_with(config.clone(), |s| {
                    s.open();
                    reach(s);
                    if frozen {
                        s.gateway_says(Body::TableLocked(TableLocked {
                            reason: TableLockedReason::Digest as i32,
                            kind: TableLockedKind::Freeze as i32,
                            ..TableLocked::default()
                        }));
                    }
                    agrees(s);
                });
            }
        }
    }
}

#[track_caller]
fn agrees(s: &Scene) {
    let takes = |reason| {
        s.table
            .attempt(s.uptime(), &supervisor(), &OperatorAct::Void { reason })
            .is_ok()
    };
    let situation = s.table.situation();
    let offered = situation.possible.iter().find(|act| act.command == "round void");
    let phase = s.phase();
    match offered {
        Some(act) if act.text.contains("--reason") => {
            assert!(!takes(None), "{phase}: {}", act.text);
            for reason in [RoundVoidedReason::ANotActivated, RoundVoidedReason::ATumblerFault] {
                assert!(takes(Some(reason)), "{phase}: {reason:?}");
            }
        }
        Some(act) => assert!(takes(None), "{phase}: {}", act.text),
        None => assert!(!takes(None), "{phase}: {:?}", situation.possible),
    }
}
