//! "No roll": who may void, for which reasons, and what follows.

use super::*;

#[test]
fn the_dealer_voids_until_the_entry() {
    play(|s| {
        s.no_spin();
        s.expect_events(&[
            "RoundVoided NOT_STATED chosen by:dealer round:1",
            "RoundStarted round:2",
            "BetsOpened round:2",
        ]);
        s.expect_one_append(3);
        to_the_bell(s);
        s.wait(2000);
        s.forget();
        s.press_key(Key::NoSpin);
        s.enter();
        s.expect_events(&[
            "RoundVoided NOT_STATED chosen by:dealer round:2",
            "RoundStarted",
            "BetsOpened",
        ]);
    });
}

#[test]
fn a_contact_that_bounces_voids_one_round_alone() {
    play(|s| {
        to_the_bell(s);
        s.forget();
        for _ in 0..3 {
            s.no_spin();
        }
        s.expect_events(&[
            "RoundVoided NOT_STATED chosen by:dealer round:1",
            "RoundStarted round:2",
            "BetsOpened round:2",
        ]);
        // Nor does what only bounced count when the terminal comes back.
        s.offline(DeviceKind::Terminal);
        s.wait(3000);
        s.online(DeviceKind::Terminal);
        s.wait(500);
        s.expect_phase("betting");
    });
}

#[test]
fn after_the_entry_a_supervisor_decides() {
    play(|s| {
        to_the_entry(s, &[1, 3, 6]);
        s.forget();
        s.no_spin();
        s.expect_events(&["RoundHeld NO_SPIN_AFTER_UNCOVER"]);
        s.expect_lit([1, 3, 6]);
        s.operator(OperatorAct::Resume);
        s.expect_events(&["RoundResumed NO_SPIN_AFTER_UNCOVER"]);
        s.no_spin();
        s.forget();
        s.operator(OperatorAct::Void {
            reason: Some(RoundVoidedReason::BNotFlat),
        });
        s.expect_events(&[
            "RoundVoided B_NOT_FLAT chosen by:supervisor",
            "RoundStarted",
            "BetsOpened",
        ]);
        s.expect_dark();
    });
}

#[test]
fn or_the_dealer_where_the_house_has_it_so() {
    let quick = config_with(|c| {
        cup(c);
        c.hold_no_spin_after_uncover = false;
    });
    play_with(quick, |s| {
        s.open();
        to_the_entry(s, &[1, 3, 6]);
        s.forget();
        s.no_spin();
        s.expect_events(&["RoundVoided NOT_STATED", "RoundStarted", "BetsOpened"]);
    });
}

#[test]
fn reasons_are_those_of_the_dice_cup() {
    use RoundVoidedReason as Reason;
    play(|s| {
        for (reason, done) in [
            (Reason::ANotFlat, false),
            (Reason::ATumblerFault, false),
            (Reason::AExposedEarly, false),
            (Reason::ANotActivated, false),
            (Reason::BShortOfLine, true),
            (Reason::BLeftArea, true),
            (Reason::BHitObject, true),
            (Reason::BNotFlat, true),
            (Reason::BInterference, true),
            (Reason::BNotRandom, true),
        ] {
            to_the_bell(s);
            s.operator(OperatorAct::Void { reason: Some(reason) });
            if done {
                s.expect_done();
                continue;
            }
            s.expect_refused();
            let text = format!("{:?}", s.answer);
            assert!(
                text.contains("b_short_of_line") && text.contains("b_not_random"),
                "{text}"
            );
            assert!(!text.contains("a_not_flat"), "{text}");
            s.operator(OperatorAct::Void { reason: None });
        }
    });
}

#[test]
fn a_reason_is_stated_when_the_next_bets_are_open_long_since() {
    play(|s| {
        to_the_bell(s);
        s.no_spin();
        s.wait(10_000);
        s.forget();
        s.operator(OperatorAct::StateVoidReason {
            reason: RoundVoidedReason::ANotFlat,
        });
        s.expect_refused();
        s.operator(OperatorAct::StateVoidReason {
            reason: RoundVoidedReason::BLeftArea,
        });
        s.expect_events(&["VoidReasonStated B_LEFT_AREA by:supervisor round:1"]);
        s.expect_phase("betting");
    });
}

#[test]
fn the_gateway_never_voids() {
    play(|s| {
        s.wait(600_000);
        s.bell();
        s.wait(600_000);
        s.key_in(&[4, 4, 4]);
        s.wait(600_000);
        let voids = s
            .events
            .iter()
            .filter(|r| matches!(r.event.body, Some(Body::RoundVoided(_))));
        assert_eq!(voids.count(), 0);
        s.expect_phase("entered");
    });
}

#[test]
fn nothing_is_brought_back_once_bets_are_open() {
    play(|s| {
        to_the_entry(s, &[1, 3, 6]);
        settle(s);
        s.forget();
        for act in [OperatorAct::Reopen, OperatorAct::WithdrawVoid, OperatorAct::Resume] {
            s.operator(act);
            s.expect_refused();
        }
        s.expect_no_events();
    });
}
