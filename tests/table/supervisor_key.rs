//! "Supervisor key": what turning it on allows, for how long, and what it never does.

use crate::scene::{Scene, play};
use tablegate::table::event::Body;
use tablegate::table::input::{Contact, DeviceKind};

fn amendments(s: &Scene) -> usize {
    s.events
        .iter()
        .filter(|r| matches!(r.event.body, Some(Body::ResultAmended(_))))
        .count()
}

#[test]
fn it_gives_authority_for_one_act() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.key_on();
        s.key_in(&[1, 3, 5]);
        s.wait(500);
        s.forget();
        s.key_in(&[1, 3, 4]);
        s.expect_events(&["EntryRejected E05 1,3,4"]);
        s.expect_lit([1, 3, 5]);
    });
}

#[test]
fn off_and_on_again_it_gives_another() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.key_on();
        s.key_in(&[1, 3, 5]);
        s.key_off();
        s.key_on();
        s.key_in(&[1, 3, 4]);
        s.expect_lit([1, 3, 4]);
        assert_eq!(amendments(s), 2);
    });
}

#[test]
fn it_ends_when_it_is_turned_off() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.key_on();
        s.press(&[1, 3, 5]);
        s.key_off();
        s.forget();
        s.enter();
        s.expect_events(&["EntryRejected E05"]);
    });
}

#[test]
fn it_ends_after_thirty_seconds() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.key_on();
        s.wait(28_000);
        let mut in_time = s.clone();
        in_time.key_in(&[1, 3, 5]);
        assert_eq!(amendments(&in_time), 1);
        s.wait(2000);
        s.forget();
        s.key_in(&[1, 3, 5]);
        s.expect_events(&["EntryRejected E05"]);
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn found_on_at_start_it_counts_as_off() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.restart_while(|s| s.contact(Contact::SupervisorKey, true));
        s.wait(500);
        s.key_in(&[1, 3, 5]);
        assert_eq!(amendments(s), 0);
        s.key_off();
        s.key_on();
        s.wait(1000);
        s.key_in(&[1, 3, 5]);
        assert_eq!(amendments(s), 1);
    });
}

#[test]
fn found_on_at_reconnect_it_counts_as_off() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.offline(DeviceKind::Terminal);
        s.contact(Contact::SupervisorKey, true);
        s.wait(1000);
        s.online(DeviceKind::Terminal);
        s.forget();
        s.key_in(&[1, 3, 5]);
        s.expect_events(&["EntryRejected E05"]);
    });
}

#[test]
fn an_authority_that_ran_does_not_outlive_the_link() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.key_on();
        s.blink(DeviceKind::Terminal);
        s.forget();
        s.key_in(&[1, 3, 5]);
        s.expect_events(&["EntryRejected E05"]);
    });
}

#[test]
fn on_for_a_minute_it_raises_an_alert() {
    play(|s| {
        s.key_on();
        s.forget();
        s.wait(58_000);
        s.expect_no_events();
        assert!(
            s.events
                .iter()
                .all(|r| !matches!(&r.event.body, Some(Body::AlertRaised(_)))),
            "{}",
            s.story()
        );
        s.wait(3000);
        s.expect_alert();
        s.key_off();
        s.expect_events(&["AlertRaised", "AlertCleared"]);
    });
}

#[test]
fn enter_with_it_never_voids_nor_settles() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.wait(4000);
        s.key_on();
        s.enter();
        s.expect_phase("entered");
        s.expect_lit([1, 3, 6]);
    });
    play(|s| {
        for to in [Scene::reach_betting, Scene::reach_closed, Scene::reach_landed] {
            to(s);
            let phase = s.phase();
            s.key_on();
            s.enter();
            s.key_off();
            s.expect_phase(&phase);
            s.wait(1000);
            s.operator(tablegate::table::input::OperatorAct::Void { reason: None });
            s.cover();
        }
    });
}

#[test]
fn turned_on_alone_it_changes_nothing() {
    play(|s| {
        s.reach_betting();
        s.forget();
        s.key_on();
        s.key_off();
        s.expect_no_events();
        s.bell();
        s.expect_events(&["BetsClosed heard"]);
    });
}
