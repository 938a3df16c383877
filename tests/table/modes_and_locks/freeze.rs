//! Locks that take no entry, bell or settlement.

use super::*;

type Cause = (&'static str, fn(&mut Scene), TableLockedReason);

fn causes() -> [Cause; 3] {
    [
        (
            "seal",
            |s| s.tumbler_changes(|t| t.seal = Seal::Broken),
            TableLockedReason::Seal,
        ),
        (
            "door",
            |s| s.contact(Contact::CabinetDoor, false),
            TableLockedReason::Door,
        ),
        ("out of turn", |s| s.spin_despite(1), TableLockedReason::OutOfTurn),
    ]
}

#[test]
fn each_cause_freezes_with_an_alert_and_survives_a_power_cut() {
    for (_, cause, reason) in causes() {
        for to in [Scene::reach_betting, Scene::reach_closed] {
            play(|s| {
                to(s);
                let phase = s.phase();
                s.forget();
                cause(s);
                s.expect_alert();
                s.expect_locks(&[(reason, FREEZE)]);
                s.restart();
                assert!(s.locks().contains(&(reason, FREEZE)), "{}", s.story());
                s.expect_phase(&phase);
            });
        }
    }
}

#[test]
fn it_takes_no_bell() {
    for (_, cause, _) in causes() {
        play(|s| {
            s.reach_betting();
            cause(s);
            s.forget();
            s.bell();
            s.expect_no_events();
            s.expect_phase("betting");
        });
    }
}

#[test]
fn it_takes_no_entry() {
    play(|s| {
        s.reach_landed();
        s.contact(Contact::CabinetDoor, false);
        s.forget();
        s.key_in(&[1, 3, 6]);
        s.expect_no_events();
        s.expect_dark();
    });
}

#[test]
fn no_settlement_is_taken_back_while_it_stands() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.cover();
        s.wait(10_000);
        s.expect_phase("ready");
        s.contact(Contact::CabinetDoor, false);
        s.forget();
        s.operator(OperatorAct::Reopen);
        s.expect_refused();
        s.expect_no_events();
        s.expect_dark();
        s.operator(OperatorAct::Resume);
        s.operator(OperatorAct::Reopen);
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn it_takes_no_settlement_and_leaves_the_lamps() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.contact(Contact::CabinetDoor, false);
        s.forget();
        s.wait(5000);
        s.enter();
        s.operator(OperatorAct::Settle);
        s.expect_refused();
        s.cover();
        s.wait(10_000);
        s.expect_no_events();
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn a_bell_rung_meanwhile_is_taken_at_go_on() {
    play(|s| {
        s.reach_betting();
        s.contact(Contact::CabinetDoor, false);
        s.wait(1000);
        s.bell();
        s.contact(Contact::CabinetDoor, true);
        s.forget();
        unlock(s);
        s.expect_events(&["TableUnlocked DOOR FREEZE by:supervisor", "BetsClosed heard away"]);
        s.expect_phase("closed");
    });
}

#[test]
fn a_cover_taken_off_meanwhile_is_taken_at_go_on() {
    play(|s| {
        s.reach_closed();
        s.contact(Contact::CabinetDoor, false);
        s.uncover();
        s.contact(Contact::CabinetDoor, true);
        s.expect_phase("closed");
        s.forget();
        unlock(s);
        s.wait(400);
        s.expect_events(&["TableUnlocked", "DiceUncovered seen away"]);
        s.key_in(&[1, 3, 6]);
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn a_cover_taken_off_meanwhile_without_a_bell_is_held_at_go_on_never_voided() {
    for reach in [|s: &mut Scene| s.spin(3), Scene::reach_betting] {
        for on_again in [false, true] {
            play(|s| {
                reach(s);
                s.contact(Contact::CabinetDoor, false);
                s.uncover();
                s.wait(5000);
                if on_again {
                    s.cover();
                }
                s.contact(Contact::CabinetDoor, true);
                s.forget();
                unlock(s);
                s.wait(3000);
                s.expect_events(&["TableUnlocked DOOR", "RoundHeld EXPOSED_EARLY"]);
            });
        }
    }
}

#[test]
fn a_round_entered_goes_on_to_its_settlement() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.contact(Contact::CabinetDoor, false);
        s.wait(5000);
        s.contact(Contact::CabinetDoor, true);
        unlock(s);
        s.wait(1000);
        s.settle();
    });
}

#[test]
fn a_void_ends_it_too() {
    for (_, cause, _) in causes() {
        play(|s| {
            s.reach_betting();
            cause(s);
            s.operator(OperatorAct::Void { reason: None });
            s.expect_done();
            s.expect_locks(&[]);
            s.expect_phase("ready");
            s.contact(Contact::CabinetDoor, true);
            s.tumbler_changes(|t| t.seal = Seal::Intact);
            s.wait(1000);
            s.reach_betting();
        });
    }
}

#[test]
fn a_door_opened_between_rounds_freezes_too() {
    play(|s| {
        s.contact(Contact::CabinetDoor, false);
        s.expect_locks(&[(TableLockedReason::Door, FREEZE)]);
        s.contact(Contact::CabinetDoor, true);
        s.wait(1000);
        s.expect_locks(&[(TableLockedReason::Door, FREEZE)]);
        unlock(s);
        s.reach_betting();
    });
}

#[test]
fn a_journal_that_could_not_be_written_freezes_until_a_supervisors_word() {
    play(|s| {
        s.reach_betting();
        condition(s, Condition::JournalFailed, true);
        s.expect_locks(&[(TableLockedReason::Journal, FREEZE)]);
        s.bell();
        s.expect_phase("betting");
        condition(s, Condition::JournalFailed, false);
        s.expect_locks(&[(TableLockedReason::Journal, FREEZE)]);
        unlock(s);
        s.expect_locks(&[]);
        s.expect_phase("closed");
    });
}

#[test]
fn resume_lets_a_frozen_table_go_on_too() {
    play(|s| {
        s.reach_betting();
        s.contact(Contact::CabinetDoor, false);
        s.contact(Contact::CabinetDoor, true);
        s.operator(OperatorAct::Resume);
        s.expect_done();
        s.expect_locks(&[]);
        s.bell();
        s.expect_phase("closed");
    });
}
