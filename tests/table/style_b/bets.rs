//! When bets open and close, and what comes too early or twice.

use super::*;

#[test]
fn a_bell_that_bounces_is_one_bell() {
    play(|s| {
        to_the_bell(s);
        s.forget();
        s.wait(200);
        s.bell();
        s.wait(3000);
        s.bell();
        s.expect_no_events();
        s.expect_phase("closed");
    });
}

#[test]
fn a_bell_as_soon_as_bets_open_counts() {
    play(|s| {
        to_the_entry(s, &[1, 3, 6]);
        settle(s);
        s.expect_phase("betting");
        s.wait(100);
        s.bell();
        s.expect_phase("closed");
    });
}

#[test]
fn an_entry_before_the_bell_is_refused() {
    play(|s| {
        s.key_in(&[1, 3, 6]);
        s.expect_events(&["EntryRejected E31 1,3,6"]);
        s.expect_readout("E31");
        s.expect_dark();
    });
}

#[test]
fn keys_from_before_the_bell_do_not_count() {
    play(|s| {
        s.press(&[1, 3]);
        s.wait(1000);
        s.bell();
        s.forget();
        s.press(&[6]);
        s.enter();
        s.expect_events(&["EntryRejected E02 6"]);
        s.expect_phase("closed");
        s.key_in(&[1, 3, 6]);
        s.expect_events(&["ResultEntered"]);
    });
}

#[test]
fn a_second_press_of_enter_settles_nothing_more() {
    play(|s| {
        to_the_entry(s, &[1, 3, 6]);
        settle(s);
        s.forget();
        s.wait(1500);
        s.enter();
        s.expect_events(&["EntryRejected E31"]);
        s.expect_phase("betting");
    });
}

#[test]
fn a_lock_holds_the_next_bets_back_until_it_ends() {
    play(|s| {
        s.operator(OperatorAct::Lock {
            reason: "layout torn".into(),
        });
        s.expect_done();
        to_the_entry(s, &[1, 3, 6]);
        s.forget();
        settle(s);
        s.expect_events(&["RoundSettled"]);
        s.expect_phase("ready");
        s.wait(60_000);
        s.expect_no_events();
        s.bell();
        s.expect_readout("E31");
        s.expect_no_events();
        s.operator(OperatorAct::Unlock {
            procedure: "layout mended".into(),
        });
        s.expect_events(&["TableUnlocked SUPERVISOR", "RoundStarted round:2", "BetsOpened round:2"]);
        s.expect_phase("betting");
    });
}

#[test]
fn a_frozen_table_opens_no_bets_and_takes_no_bell() {
    play(|s| {
        s.contact(tablegate::table::input::Contact::CabinetDoor, false);
        s.expect_locks(&[(TableLockedReason::Door, TableLockedKind::Freeze)]);
        s.forget();
        s.bell();
        s.expect_readout("LOC");
        s.expect_no_events();
        s.contact(tablegate::table::input::Contact::CabinetDoor, true);
        s.operator(OperatorAct::Resume);
        s.expect_done();
        // What was rung meanwhile counts as happening now.
        s.expect_phase("closed");
    });
}
