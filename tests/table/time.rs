//! "Time": what waits, what it waits from, and what no order of arrival may change.

use crate::scene::{MS, Scene, play};
use tablegate::table::event::Body;
use tablegate::table::input::{Contact, Cover, DeviceKind, Input, OperatorAct};

#[test]
fn a_deadline_that_is_not_due_changes_nothing() {
    play(|s| {
        s.spin(3);
        s.wait(1000);
        let (before, at) = (s.table.clone(), s.table.deadline());
        s.forget();
        s.feed(Input::Deadline);
        s.expect_no_events();
        assert_eq!(s.table.deadline(), at);
        assert_eq!(s.table.checkpoint(), before.checkpoint());
        s.wait(2000);
        s.expect_phase("betting");
    });
}

#[test]
fn every_wait_is_a_deadline_that_can_be_jumped_to() {
    play(|s| {
        s.spin(3);
        let at = s.table.deadline().expect("bets open by themselves");
        assert_eq!(at.since(s.uptime()).as_millis(), 2600, "3 s from the rest, 400 ms ago");
        s.wait(2600);
        s.expect_phase("betting");
    });
}

#[test]
fn a_quiet_table_waits_for_nothing() {
    play(|s| {
        s.wait(120_000);
        assert_eq!(s.table.deadline(), None);
        s.reach_betting();
        s.wait(120_000);
        assert_eq!(s.table.deadline(), None);
    });
}

#[test]
fn the_wait_for_lamps_that_are_away_is_armed_anew_with_its_full_length_after_a_restart() {
    play(|s| {
        s.reach_landed();
        s.offline(DeviceKind::LayoutLamps);
        s.key_in(&[1, 3, 6]);
        s.wait(4000);
        s.stop();
        s.now += 5000 * MS;
        s.start_again();
        s.online(DeviceKind::Terminal);
        s.online(DeviceKind::Tumbler);
        s.wait(4800);
        s.expect_locks(&[]);
        s.wait(300);
        assert_eq!(s.locks().len(), 1, "{}", s.story());
    });
}

#[test]
fn the_earliest_settlement_is_armed_anew() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.wait(5000);
        s.restart();
        s.wait(500);
        s.forget();
        s.enter();
        s.expect_phase("entered");
        s.wait(4000);
        s.enter();
        s.expect_phase("ready");
    });
}

#[test]
fn the_covers_five_seconds_are_armed_anew() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.cover();
        s.wait(3000);
        s.restart();
        s.expect_phase("entered");
        s.wait(6000);
        assert!(s.state().settled_provisionally, "{}", s.story());
    });
}

/// The people's two acts within 300 ms, in either order of arrival: the same round.
#[test]
fn no_rule_depends_on_less_than_three_hundred_milliseconds_between_ports() {
    let ends: Vec<(String, Vec<String>)> = [true, false]
        .into_iter()
        .map(|bell_first| {
            let mut s = Scene::new(crate::scene::config());
            s.open();
            s.reach_betting();
            s.forget();
            let bell = |s: &mut Scene| s.contact(Contact::Bell, true);
            let off = |s: &mut Scene| s.tumbler_changes(|t| t.cover = Cover::Off);
            if bell_first {
                bell(&mut s);
                s.wait(290);
                off(&mut s);
            } else {
                off(&mut s);
                s.wait(290);
                bell(&mut s);
            }
            s.wait(1000);
            s.key_in(&[1, 3, 6]);
            crate::recovery::check(&s);
            let names = s
                .events
                .iter()
                .rev()
                .take(3)
                .map(|r| crate::words::words(&r.event)[0].clone())
                .collect();
            (s.phase(), names)
        })
        .collect();
    assert_eq!(ends[0], ends[1]);
    assert_eq!(ends[0].0, "entered");
}

#[test]
fn order_across_ports_is_order_of_arrival_for_entry_and_uncover() {
    play(|s| {
        s.reach_closed();
        s.wait(1000);
        s.tumbler.link.latency_us = 250 * MS;
        s.uncover();
        s.tumbler.link.latency_us = 0;
        s.forget();
        s.key_in(&[1, 3, 6]);
        s.wait(500);
        s.expect_phase("entered");
    });
}

#[test]
fn phase_times_are_recorded() {
    play(|s| {
        s.reach_betting();
        s.wait(7000);
        s.contact(Contact::Bell, true);
        let open = s.newest(|body| match body {
            Body::BetsClosed(b) => Some(b.bets_open_ms),
            _ => None,
        });
        assert!((7000..=8000).contains(&open), "{open}");
        s.contact(Contact::Bell, false);
        s.wait(4000);
        s.uncover();
        let bell_to_uncover = s.newest(|body| match body {
            Body::DiceUncovered(b) => Some(b.bell_to_uncover_ms),
            _ => None,
        });
        assert_eq!(bell_to_uncover, 4000, "to the device's time of OFF");
        s.wait(1000);
        s.key_in(&[1, 3, 6]);
        let uncover_to_entry = s.newest(|body| match body {
            Body::ResultEntered(b) => Some(b.uncover_to_entry_ms),
            _ => None,
        });
        assert_eq!(uncover_to_entry, 400 + 1000 + 600, "from the device's time of OFF");
        s.wait(500);
        let entry_to_lamps = s.newest(|body| match body {
            Body::LayoutLit(b) if !b.areas.is_empty() => Some(b.entry_to_lamps_ms),
            _ => None,
        });
        assert_eq!(entry_to_lamps, 150);
        s.wait(5000);
        s.enter();
        let lamps_to_settled = s.newest(|body| match body {
            Body::RoundSettled(b) => Some(b.lamps_to_settled_ms),
            _ => None,
        });
        assert_eq!(lamps_to_settled, 350 + 5000 + 150);
    });
}

#[test]
fn a_table_that_runs_for_a_month_waits_as_on_the_first_day() {
    play(|s| {
        s.wait(31 * 24 * 3_600_000);
        s.whole_round(&[1, 3, 6]);
        s.operator(OperatorAct::Close);
        s.expect_done();
    });
}

#[test]
fn a_link_that_breaks_in_the_rest_does_not_lose_it() {
    play(|s| {
        s.spin(3);
        s.blink(DeviceKind::Tumbler);
        s.wait(5000);
        s.expect_phase("betting");
    });
}
