//! Counters that were lost, moved or are another tumbler's.

use super::*;

fn away(s: &mut Scene, change: impl FnOnce(&mut Scene)) {
    s.offline(DeviceKind::Tumbler);
    s.wait(1000);
    change(s);
    s.online(DeviceKind::Tumbler);
    s.wait(100);
}

#[test]
fn lost_counters_hold_the_round() {
    for to in [Scene::reach_betting, Scene::reach_closed, Scene::reach_landed] {
        play(|s| {
            to(s);
            away(s, |s| {
                s.tumbler.link.boot_id += 1;
                s.tumbler.kept = false;
                s.tumbler.activations = 0;
                s.tumbler.spins = 0;
            });
            s.expect_held(RoundHeldCause::CountersLost);
            assert_eq!(voids(s), 0);
        });
    }
}

#[test]
fn counters_that_moved_while_away_hold_the_round() {
    for to in [Scene::reach_betting, Scene::reach_closed, Scene::reach_landed] {
        play(|s| {
            to(s);
            away(s, |s| {
                s.tumbler.activations += 1;
                s.tumbler.spins += 3;
            });
            s.expect_held(RoundHeldCause::ActivityWhileAway);
        });
    }
}

#[test]
fn another_tumblers_counters_hold_the_round() {
    play(|s| {
        s.reach_betting();
        away(s, |s| {
            s.tumbler.link.serial_number = "T-0099";
            s.tumbler.link.boot_id = 5;
        });
        let held = s.state().held();
        assert!(
            matches!(held, RoundHeldCause::CountersLost | RoundHeldCause::ActivityWhileAway),
            "{held:?}"
        );
    });
}

#[test]
fn counters_that_stand_hold_nothing() {
    play(|s| {
        s.reach_betting();
        away(s, |_| ());
        s.expect_not_held();
        s.bell();
        s.expect_phase("closed");
    });
}

#[test]
fn counters_kept_through_a_power_loss_of_the_tumbler_hold_nothing() {
    play(|s| {
        s.reach_betting();
        away(s, |s| s.tumbler.link.boot_id += 1);
        s.expect_not_held();
    });
}

#[test]
fn before_bets_are_open_nothing_is_held() {
    play(|s| {
        s.spin(2);
        away(s, |s| {
            s.tumbler.link.boot_id += 1;
            s.tumbler.kept = false;
            s.tumbler.activations = 0;
            s.tumbler.spins = 0;
        });
        s.expect_not_held();
        assert_eq!(voids(s), 0);
    });
}

#[test]
fn resumed_after_activity_it_goes_on_where_it_was() {
    play(|s| {
        s.reach_closed();
        away(s, |s| s.tumbler.spins += 1);
        s.forget();
        resume(s);
        s.expect_events(&["RoundResumed ACTIVITY_WHILE_AWAY by:supervisor"]);
        s.expect_phase("closed");
        s.blink(DeviceKind::Tumbler);
        s.expect_not_held();
        s.uncover();
        s.expect_phase("landed");
    });
}
