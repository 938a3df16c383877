//! A cover off before the bell.

use super::*;

#[test]
fn with_unbroken_links_and_no_bell_for_two_seconds_it_voids_by_itself() {
    play(|s| {
        s.reach_betting();
        s.forget();
        s.cover_off();
        s.wait(1999);
        s.expect_phase("betting");
        s.wait(1);
        s.expect_events(&["RoundVoided A_EXPOSED_EARLY automatic by:gateway round:1"]);
        s.expect_phase("ready");
        s.expect_dark();
    });
}

#[test]
fn a_cover_that_was_only_touched_is_nothing() {
    play(|s| {
        s.reach_betting();
        s.forget();
        s.cover_off();
        s.wait(250);
        s.cover();
        s.wait(10_000);
        s.expect_no_events();
        s.expect_phase("betting");
    });
}

#[test]
fn a_cover_off_for_longer_and_on_again_voids_all_the_same() {
    play(|s| {
        s.reach_betting();
        s.forget();
        s.cover_off();
        s.wait(900);
        s.cover();
        s.wait(5000);
        s.expect_events(&["RoundVoided A_EXPOSED_EARLY automatic"]);
    });
}

#[test]
fn before_bets_are_open_a_supervisor_judges() {
    play(|s| {
        s.spin(3);
        s.forget();
        s.cover_off();
        s.wait(10_000);
        s.expect_events(&["RoundHeld EXPOSED_EARLY"]);
        s.cover();
        s.wait(10_000);
        s.expect_phase("tumbling");
    });
}

#[test]
fn dice_seen_before_a_further_spin_are_not_the_rounds() {
    play(|s| {
        s.spin(3);
        s.cover_off();
        s.wait(500);
        s.cover();
        s.spin(1);
        s.wait(3500);
        s.expect_phase("betting");
        s.expect_not_held();
        s.bell();
        s.expect_phase("closed");
    });
}

#[test]
fn a_tumblers_link_that_broke_since_bets_opened_holds_instead() {
    play(|s| {
        s.reach_betting();
        s.blink(DeviceKind::Tumbler);
        s.wait(1000);
        s.forget();
        s.cover_off();
        s.wait(3000);
        s.expect_alert();
        s.expect_events(&["RoundHeld EXPOSED_EARLY"]);
        s.expect_held(RoundHeldCause::ExposedEarly);
        s.expect_phase("betting");
        assert_ne!(s.terminal.reads(s.now), "", "a readout says so");
    });
}

#[test]
fn a_terminals_link_that_broke_since_bets_opened_holds_instead() {
    play(|s| {
        s.reach_betting();
        s.blink(DeviceKind::Terminal);
        s.wait(1000);
        s.forget();
        s.cover_off();
        s.wait(3000);
        s.expect_events(&["RoundHeld EXPOSED_EARLY"]);
    });
}

#[test]
fn a_terminal_that_is_away_holds_instead() {
    play(|s| {
        s.reach_betting();
        s.offline(DeviceKind::Terminal);
        s.forget();
        s.cover_off();
        s.wait(3000);
        s.expect_events(&["RoundHeld EXPOSED_EARLY"]);
    });
}

#[test]
fn a_terminal_that_leaves_within_the_two_seconds_holds_instead() {
    play(|s| {
        s.reach_betting();
        s.forget();
        s.cover_off();
        s.wait(1000);
        s.offline(DeviceKind::Terminal);
        s.wait(3000);
        s.expect_events(&["DeviceOffline", "RoundHeld EXPOSED_EARLY"]);
        assert_eq!(voids(s), 0);
    });
}

#[test]
fn a_link_that_broke_before_bets_opened_does_not_matter() {
    play(|s| {
        s.blink(DeviceKind::Terminal);
        s.blink(DeviceKind::Tumbler);
        s.reach_betting();
        s.forget();
        s.cover_off();
        s.wait(3000);
        s.expect_events(&["RoundVoided A_EXPOSED_EARLY automatic"]);
    });
}

#[test]
fn a_bell_that_is_late_on_the_line_closes_bets_as_usual() {
    play(|s| {
        s.reach_betting();
        s.terminal.link.latency_us = 1_500_000;
        s.forget();
        s.bell();
        s.uncover();
        s.expect_no_events();
        s.wait(1500);
        s.expect_events(&["BetsClosed heard by:dealer", "DiceUncovered seen"]);
        s.expect_phase("landed");
    });
}

#[test]
fn a_bell_up_to_three_hundred_milliseconds_after_the_cover_counts_as_before() {
    play(|s| {
        s.reach_betting();
        s.forget();
        s.cover_off();
        s.wait(290);
        s.bell();
        s.wait(500);
        s.expect_events(&["BetsClosed heard", "DiceUncovered seen"]);
        s.expect_phase("landed");
        s.expect_not_held();
    });
}

#[test]
fn a_bell_clearly_after_the_cover_is_held() {
    play(|s| {
        s.reach_betting();
        s.forget();
        s.cover_off();
        s.wait(1000);
        s.bell();
        s.wait(3000);
        s.expect_held(RoundHeldCause::ExposedEarly);
        assert_eq!(voids(s), 0, "{}", s.story());
    });
}

#[test]
fn a_held_round_is_resumed_by_its_bell_however_late() {
    play(|s| {
        s.reach_betting();
        s.blink(DeviceKind::Tumbler);
        s.terminal.link.latency_us = 20_000_000;
        s.wait(1000);
        s.forget();
        s.bell();
        s.cover_off();
        s.wait(3000);
        s.expect_events(&["RoundHeld EXPOSED_EARLY"]);
        s.wait(20_000);
        s.expect_events(&[
            "RoundResumed EXPOSED_EARLY by:gateway",
            "BetsClosed heard",
            "DiceUncovered",
        ]);
        s.expect_one_append(3);
        s.expect_phase("landed");
        s.expect_not_held();
    });
}

#[test]
fn a_bell_that_rang_after_the_cover_does_not_resume_it() {
    play(|s| {
        s.reach_betting();
        s.blink(DeviceKind::Tumbler);
        s.cover_off();
        s.wait(3000);
        s.expect_held(RoundHeldCause::ExposedEarly);
        s.bell();
        s.wait(1000);
        s.expect_held(RoundHeldCause::ExposedEarly);
    });
}

#[test]
fn a_void_for_want_of_the_bell_is_withdrawn_by_it() {
    play(|s| {
        s.reach_betting();
        s.terminal.link.latency_us = 4_000_000;
        s.forget();
        s.bell();
        s.cover_off();
        s.wait(2500);
        s.expect_events(&["RoundVoided A_EXPOSED_EARLY automatic"]);
        s.wait(2000);
        s.expect_events(&[
            "VoidWithdrawn automatic by:gateway round:1",
            "BetsClosed heard round:1",
            "DiceUncovered round:1",
        ]);
        s.expect_one_append(3);
        s.expect_phase("landed");
        s.terminal.link.latency_us = 0;
        s.key_in(&[1, 3, 6]);
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn with_the_cover_on_again_it_stays_void_and_an_alert_is_raised() {
    play(|s| {
        s.reach_betting();
        s.terminal.link.latency_us = 6_000_000;
        s.bell();
        s.cover_off();
        s.wait(2500);
        s.cover();
        s.forget();
        s.wait(4000);
        s.expect_alert();
        s.expect_no_events();
        s.expect_phase("ready");
    });
}

#[test]
fn a_supervisor_lets_it_go_on_with_what_it_stands_for() {
    play(|s| {
        s.reach_betting();
        s.blink(DeviceKind::Tumbler);
        s.cover_off();
        s.wait(3000);
        s.forget();
        resume(s);
        s.expect_events(&[
            "RoundResumed EXPOSED_EARLY by:supervisor",
            "BetsClosed implied by:supervisor",
            "DiceUncovered by:supervisor",
        ]);
        s.expect_one_append(3);
        s.expect_phase("landed");
        s.key_in(&[1, 3, 6]);
        s.expect_lit([1, 3, 6]);
        s.wait(500);
        s.settle();
    });
}

#[test]
fn or_voids_it() {
    play(|s| {
        s.reach_betting();
        s.blink(DeviceKind::Tumbler);
        s.cover_off();
        s.wait(3000);
        s.forget();
        s.operator(OperatorAct::Void {
            reason: Some(RoundVoidedReason::AExposedEarly),
        });
        s.expect_events(&["RoundVoided A_EXPOSED_EARLY chosen by:supervisor"]);
        s.expect_not_held();
        s.expect_phase("ready");
    });
}

#[test]
fn a_bell_that_only_the_terminals_next_greeting_tells_of_withdraws_the_void() {
    play(|s| {
        s.reach_betting();
        s.terminal.link.latency_us = 60_000_000;
        s.bell();
        s.cover_off();
        s.wait(3000);
        s.expect_phase("ready");
        s.terminal.link.latency_us = 0;
        s.offline(DeviceKind::Terminal);
        s.wait(1000);
        s.forget();
        s.online(DeviceKind::Terminal);
        s.expect_events(&[
            "DeviceOnline",
            "VoidWithdrawn automatic",
            "BetsClosed heard",
            "DiceUncovered",
        ]);
        s.expect_phase("landed");
    });
}

/// Only the last ring's time is told, and it says nothing of the ones before.
#[test]
fn of_rings_that_were_not_heard_the_last_one_alone_does_not_leave_it_void_in_silence() {
    for (in_time, late, alerts) in [(1, 1, true), (2, 1, true), (0, 2, true), (0, 1, false)] {
        play(|s| {
            s.reach_betting();
            s.terminal.link.latency_us = 60_000_000;
            for _ in 0..in_time {
                s.bell();
                s.wait(1100);
            }
            s.cover_off();
            s.wait(3000);
            s.expect_phase("ready");
            for _ in 0..late {
                s.bell();
                s.wait(1100);
            }
            s.terminal.link.latency_us = 0;
            s.offline(DeviceKind::Terminal);
            s.wait(1000);
            s.forget();
            s.online(DeviceKind::Terminal);
            s.expect_phase("ready");
            if alerts {
                s.expect_alert();
            } else {
                s.expect_events(&["DeviceOnline"]);
            }
        });
    }
}

#[test]
fn after_the_next_spin_a_late_bell_changes_nothing() {
    play(|s| {
        s.reach_betting();
        s.terminal.link.latency_us = 12_000_000;
        s.bell();
        s.cover_off();
        s.wait(2500);
        s.cover();
        s.spin(1);
        s.tumbler_changes(|t| t.cover = Cover::Off);
        s.forget();
        s.wait(12_000);
        assert_eq!(voids(s), 1);
        assert!(s.state().round_id != 1, "{}", s.story());
    });
}

/// What can't be undone is told: live, or at the next greeting; one bell in time, or several of which one may have been.
#[test]
fn a_late_bell_that_becomes_known_while_the_next_round_is_spun_is_told() {
    for (late, greeted) in [(0, false), (0, true), (1, true)] {
        play(|s| {
            s.reach_betting();
            s.terminal.link.latency_us = if greeted { 60_000_000 } else { 7_500_000 };
            s.bell();
            s.cover_off();
            s.wait(2500);
            s.expect_phase("ready");
            for _ in 0..late {
                s.bell();
                s.wait(1100);
            }
            s.cover();
            s.forget();
            s.spin(3);
            s.wait(1000);
            s.expect_phase("tumbling");
            if greeted {
                s.terminal.link.latency_us = 0;
                s.offline(DeviceKind::Terminal);
                s.wait(500);
                s.online(DeviceKind::Terminal);
            } else {
                s.wait(1500);
            }
            s.expect_alert();
            s.expect_phase("tumbling");
            assert_eq!(voids(s), 1);
            s.wait(3500);
            s.expect_phase("betting");
        });
    }
}

#[test]
fn a_bell_a_little_more_than_that_after_the_cover_is_held() {
    play(|s| {
        s.reach_betting();
        s.cover_off();
        s.wait(320);
        s.bell();
        s.wait(500);
        s.expect_held(RoundHeldCause::ExposedEarly);
        s.expect_phase("betting");
    });
}
