//! After a restart the table is where the journal left it.

use super::*;

#[test]
fn bets_stay_open_without_a_bell() {
    play(|s| {
        s.wait(2000);
        s.restart();
        s.expect_phase("betting");
        s.bell();
        s.expect_phase("closed");
        s.key_in(&[1, 3, 6]);
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn a_bell_rung_meanwhile_closes_them() {
    play(|s| {
        s.wait(2000);
        s.forget();
        s.restart_while(Scene::bell);
        let words = s.fresh_without(&["GatewayStarted", "DeviceOnline", "DeviceOffline"]);
        assert_eq!(words.len(), 1, "{words:?}");
        assert!(words[0].iter().any(|w| w == "away"), "{words:?}");
        s.expect_phase("closed");
    });
}

#[test]
fn closed_stays_closed_and_keys_from_before_are_gone() {
    play(|s| {
        to_the_bell(s);
        s.press(&[1, 3]);
        s.restart();
        s.expect_phase("closed");
        s.forget();
        s.press(&[6]);
        s.enter();
        s.expect_events(&["EntryRejected E02 6"]);
        s.key_in(&[1, 3, 6]);
        s.expect_events(&["ResultEntered 1,3,6"]);
    });
}

#[test]
fn lamps_are_lit_again() {
    play(|s| {
        to_the_entry(s, &[1, 3, 6]);
        s.restart();
        s.expect_lit([1, 3, 6]);
        s.wait(2000);
        settle(s);
        s.expect_phase("betting");
    });
}

#[test]
fn bets_open_when_the_devices_are_back() {
    play(|s| {
        s.operator(OperatorAct::Lock { reason: "x".into() });
        to_the_entry(s, &[1, 3, 6]);
        settle(s);
        s.expect_phase("ready");
        s.restart();
        s.expect_phase("ready");
        s.forget();
        s.operator(OperatorAct::Unlock { procedure: "y".into() });
        s.expect_events(&["TableUnlocked", "RoundStarted round:2", "BetsOpened round:2"]);
    });
}

#[test]
fn a_round_of_the_other_style_is_frozen() {
    play(|s| {
        to_the_bell(s);
        s.stop();
        s.config = crate::scene::config();
        s.now += 3000 * MS;
        s.start_again();
        s.expect_locks(&[(TableLockedReason::Configuration, TableLockedKind::Freeze)]);
        s.greet_all();
        s.forget();
        s.key_in(&[1, 3, 6]);
        s.expect_no_events();
        s.operator(OperatorAct::Void { reason: None });
        s.expect_done();
        s.expect_locks(&[]);
    });
}
