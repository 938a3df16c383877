//! With an open tumbler: bets first, then the spins, in sight of everybody.

use super::*;

fn to_the_bell(s: &mut Scene) {
    s.expect_phase("betting");
    s.wait(5000);
    s.bell();
    s.expect_phase("closed");
}

fn to_the_rest(s: &mut Scene) {
    to_the_bell(s);
    s.wait(1000);
    s.spin(3);
    s.wait(3500);
    s.expect_phase("landed");
}

#[test]
fn from_bets_to_settlement_and_bets_again() {
    play_with(sic_bo(Tumbler::Open), |s| {
        s.open();
        s.expect_phase("betting");
        s.forget();
        s.wait(20_000);
        s.bell();
        s.expect_events(&["BetsClosed heard TERMINAL by:dealer round:1"]);
        s.spin(3);
        s.expect_events(&["TumblerSpun 1 TUMBLER", "TumblerSpun 2", "TumblerSpun 3"]);
        s.wait(2500);
        s.expect_no_events();
        s.wait(500);
        s.expect_events(&["DiceUncovered seen at_rest TUMBLER by:dealer round:1"]);
        s.expect_phase("landed");
        s.wait(1000);
        s.key_in(&[6, 1, 3]);
        s.expect_events(&["ResultEntered 1,3,6 call:1,_3,_6,_total_10"]);
        s.expect_lit([1, 3, 6]);
        s.wait(500);
        s.expect_events(&["LayoutLit"]);
        s.wait(3500);
        s.enter();
        s.expect_events(&[
            "RoundSettled stated final by:dealer round:1",
            "RoundStarted sic-bo open by:gateway round:2",
            "BetsOpened by:gateway round:2",
        ]);
        s.expect_one_append(3);
        s.expect_dark();
        no_rule_of_another_land(s);
    });
}

#[test]
fn the_tumbler_refuses_until_the_bell_and_a_reader_may_report_from_then() {
    play(Tumbler::Open, |s| {
        let wish = |s: &Scene| {
            let wish = s.table.indicators().tumbler;
            (wish.inhibit, wish.dice_allowed)
        };
        assert_eq!(wish(s), (true, false));
        s.spin(3);
        s.expect_no_events();
        to_the_bell(s);
        assert_eq!(wish(s), (false, true));
        s.spin(3);
        s.wait(3500);
        assert_eq!(wish(s), (false, true));
        s.key_in(&[1, 3, 6]);
        assert_eq!(wish(s), (false, true));
        s.wait(4000);
        s.enter();
        assert_eq!(wish(s), (true, false));
        s.operator(OperatorAct::Close);
        assert_eq!(wish(s), (false, false));
    });
}

#[test]
fn a_spin_before_the_bell_freezes_the_table_and_is_alarmed() {
    play(Tumbler::Open, |s| {
        s.wait(1000);
        s.spin_despite(1);
        s.expect_locks(&[(TableLockedReason::OutOfTurn, TableLockedKind::Freeze)]);
        s.expect_alert();
        s.bell();
        s.expect_readout("LOC");
        supervisor_resumes(s);
        // The bell that rang meanwhile counts; the spin doesn't.
        s.expect_phase("closed");
        s.forget();
        s.spin(2);
        s.expect_events(&["TumblerSpun 1", "TumblerSpun 2"]);
        s.wait(10_000);
        s.expect_phase("closed");
        s.spin(1);
        s.wait(3000);
        s.expect_phase("landed");
    });
}

#[test]
fn a_spin_while_the_next_round_is_held_back_is_alarmed_too() {
    play(Tumbler::Open, |s| {
        s.operator(OperatorAct::Lock { reason: "x".into() });
        to_the_rest(s);
        s.key_in(&[1, 3, 6]);
        s.wait(4000);
        s.enter();
        s.expect_phase("ready");
        s.spin_despite(1);
        assert!(
            s.locks()
                .contains(&(TableLockedReason::OutOfTurn, TableLockedKind::Freeze))
        );
        supervisor_resumes(s);
        s.operator(OperatorAct::Unlock { procedure: "y".into() });
        s.expect_phase("betting");
    });
}

#[test]
fn a_spin_after_the_dice_have_landed_freezes_the_table() {
    play(Tumbler::Open, |s| {
        to_the_rest(s);
        s.spin(1);
        s.expect_locks(&[(TableLockedReason::OutOfTurn, TableLockedKind::Freeze)]);
        supervisor_resumes(s);
        s.key_in(&[1, 3, 6]);
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn more_spins_than_needed_are_never_punished() {
    play(Tumbler::Open, |s| {
        to_the_bell(s);
        s.forget();
        s.spin(3);
        s.wait(1500);
        s.spin(2);
        s.wait(2500);
        s.expect_phase("closed");
        s.wait(600);
        s.expect_phase("landed");
        s.expect_locks(&[]);
    });
}

#[test]
fn one_activation_may_spin_the_dice_three_times() {
    play(Tumbler::Open, |s| {
        to_the_bell(s);
        s.forget();
        s.spin_once(3);
        s.wait(3000);
        s.expect_events(&["TumblerSpun 3", "DiceUncovered at_rest"]);
    });
}

#[test]
fn an_entry_before_the_dice_have_landed_is_refused() {
    play(Tumbler::Open, |s| {
        to_the_bell(s);
        s.forget();
        s.key_in(&[1, 3, 6]);
        s.expect_events(&["EntryRejected E31 1,3,6"]);
        s.spin(2);
        s.wait(10_000);
        s.forget();
        s.key_in(&[1, 3, 6]);
        s.expect_events(&["EntryRejected E31"]);
        s.spin(1);
        s.wait(500);
        s.press(&[1, 3, 6]);
        s.wait(3000);
        s.forget();
        s.enter();
        // Pressed while the rest was waited for.
        s.expect_events(&["EntryRejected E03"]);
        s.key_in(&[1, 3, 6]);
        s.expect_events(&["ResultEntered"]);
    });
}

#[test]
fn its_cover_means_nothing() {
    play(Tumbler::Open, |s| {
        for cover in [Cover::On, Cover::Off, Cover::Unknown] {
            s.tumbler_changes(|t| t.cover = cover);
            s.wait(3000);
            s.expect_phase("betting");
        }
        s.tumbler_changes(|t| t.cover = Cover::On);
        to_the_rest(s);
        s.key_in(&[1, 3, 6]);
        s.wait(20_000);
        s.expect_phase("entered");
        s.expect_not_held();
    });
}

#[test]
fn a_lock_holds_the_next_bets_back_and_not_this_round() {
    play(Tumbler::Open, |s| {
        s.wait(1000);
        s.operator(OperatorAct::Lock { reason: "x".into() });
        to_the_rest(s);
        s.key_in(&[1, 3, 6]);
        s.wait(4000);
        s.enter();
        s.expect_phase("ready");
        s.bell();
        s.expect_readout("E31");
        s.operator(OperatorAct::Unlock { procedure: "y".into() });
        s.expect_phase("betting");
    });
}

#[test]
fn with_a_house_that_voids_the_next_bets_open_at_once() {
    let config = with(Tumbler::Open, |c| c.policy.void = true);
    play_at(config, |s| {
        to_the_bell(s);
        s.spin(2);
        s.forget();
        s.no_spin();
        s.expect_events(&[
            "RoundVoided NOT_STATED by_policy round:1",
            "RoundStarted round:2",
            "BetsOpened",
        ]);
        to_the_rest(s);
    });
}
