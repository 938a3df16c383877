//! "Stand-ins": while a device is away the next act stands for its missing signal, and the event says so.

use crate::scene::{Scene, play};
use tablegate::table::event::{Body, ResultSource, TableLockedKind, TableLockedReason};
use tablegate::table::input::{Cover, DeviceKind, OperatorAct};

fn by_command(s: &mut Scene, faces: [u8; 3]) {
    s.operator(OperatorAct::EnterResult {
        faces,
        reason: "terminal is dead".into(),
    });
}

mod tumbler {
    use super::*;

    #[test]
    fn three_keys_and_enter_in_closed_imply_the_uncover() {
        play(|s| {
            s.reach_closed();
            s.offline(DeviceKind::Tumbler);
            s.wait(2000);
            s.forget();
            s.key_in(&[1, 3, 6]);
            s.expect_events(&["DiceUncovered implied by:dealer", "ResultEntered 1,3,6 TERMINAL"]);
            s.expect_one_append(2);
            s.expect_lit([1, 3, 6]);
            s.wait(500);
            s.settle();
        });
    }

    #[test]
    fn all_keys_since_the_bell_count() {
        play(|s| {
            s.reach_closed();
            s.press(&[1, 3]);
            s.offline(DeviceKind::Tumbler);
            s.wait(20_000);
            s.press(&[6]);
            s.forget();
            s.enter();
            s.expect_events(&["DiceUncovered implied", "ResultEntered 1,3,6"]);
        });
    }

    #[test]
    fn keys_from_before_the_bell_do_not() {
        play(|s| {
            s.reach_betting();
            s.offline(DeviceKind::Tumbler);
            s.press(&[1, 3]);
            s.bell();
            s.press(&[6]);
            s.forget();
            s.enter();
            s.expect_events(&["EntryRejected E02 6"]);
            s.expect_phase("closed");
        });
    }

    #[test]
    fn while_the_tumbler_is_there_an_entry_in_closed_is_refused() {
        play(|s| {
            s.reach_closed();
            s.forget();
            s.key_in(&[1, 3, 6]);
            s.expect_events(&["EntryRejected 1,3,6"]);
            s.expect_dark();
            s.expect_phase("closed");
        });
    }

    #[test]
    fn a_tumbler_without_a_cover_switch_is_stood_in_for_always() {
        play(|s| {
            s.tumbler_changes(|t| t.cover = Cover::Unknown);
            s.reach_closed();
            s.forget();
            s.key_in(&[1, 3, 6]);
            s.expect_events(&["DiceUncovered implied", "ResultEntered 1,3,6"]);
        });
    }

    #[test]
    fn it_comes_back_uncovered_after_the_entry_and_nothing_happens_twice() {
        play(|s| {
            s.reach_closed();
            s.offline(DeviceKind::Tumbler);
            s.tumbler.cover = Cover::Off;
            s.key_in(&[1, 3, 6]);
            s.wait(2000);
            s.forget();
            s.online(DeviceKind::Tumbler);
            s.wait(1000);
            s.expect_events(&["DeviceOnline TUMBLER"]);
            s.expect_phase("entered");
            s.expect_not_held();
        });
    }
}

mod lamps {
    use super::*;

    #[test]
    fn away_at_entry_they_are_waited_for_five_seconds_then_one_malfunction() {
        play(|s| {
            s.reach_landed();
            s.offline(DeviceKind::LayoutLamps);
            s.forget();
            s.key_in(&[1, 3, 6]);
            s.wait(4990);
            s.expect_events(&["ResultEntered"]);
            s.wait(20);
            s.expect_events(&["TableLocked HOLD_NEXT"]);
            let reason = s.locks()[0].0;
            assert!(
                matches!(reason, TableLockedReason::Lamp | TableLockedReason::LampBoard),
                "{reason:?}"
            );
            s.enter();
            s.expect_events(&["RoundSettled stated"]);
        });
    }

    #[test]
    fn the_settlement_waits_for_that() {
        play(|s| {
            s.reach_landed();
            s.offline(DeviceKind::LayoutLamps);
            s.key_in(&[1, 3, 6]);
            s.wait(3500);
            s.forget();
            s.enter();
            s.expect_readout("E33");
            s.expect_no_events();
        });
    }

    #[test]
    fn back_in_time_they_are_lit_and_confirmed() {
        play(|s| {
            s.reach_landed();
            s.offline(DeviceKind::LayoutLamps);
            s.key_in(&[1, 3, 6]);
            s.wait(2000);
            s.forget();
            s.online(DeviceKind::LayoutLamps);
            s.wait(1500);
            s.expect_events(&["DeviceOnline LAYOUT_LAMPS", "LayoutLit"]);
            s.expect_locks(&[]);
            s.wait(5000);
            s.expect_locks(&[]);
        });
    }

    #[test]
    fn leaving_before_they_confirm_they_are_waited_for_too() {
        play(|s| {
            s.reach_landed();
            s.key_in(&[1, 3, 6]);
            s.wait(50);
            s.offline(DeviceKind::LayoutLamps);
            s.forget();
            s.wait(6000);
            assert_eq!(s.locks().len(), 1, "{}", s.story());
            assert_eq!(s.locks()[0].1, TableLockedKind::HoldNext);
            s.enter();
            s.expect_phase("ready");
        });
    }

    #[test]
    fn coming_back_late_they_are_lit_and_the_lock_stays() {
        play(|s| {
            s.reach_landed();
            s.offline(DeviceKind::LayoutLamps);
            s.key_in(&[1, 3, 6]);
            s.wait(8000);
            s.online(DeviceKind::LayoutLamps);
            s.wait(1000);
            assert_eq!(s.locks().len(), 1);
            assert_eq!(s.lamps.lit, s.table.indicators().lamps.lit);
        });
    }
}

mod terminal {
    use super::*;

    #[test]
    fn from_betting_the_command_implies_bell_and_uncover() {
        play(|s| {
            s.reach_betting();
            s.offline(DeviceKind::Terminal);
            s.forget();
            by_command(s, [1, 3, 6]);
            s.expect_done();
            s.expect_events(&[
                "BetsClosed implied by:supervisor",
                "DiceUncovered implied by:supervisor",
                "ResultEntered 1,3,6 COMMAND by:supervisor",
            ]);
            s.expect_one_append(3);
            s.expect_lit([1, 3, 6]);
        });
    }

    #[test]
    fn from_closed_it_implies_the_uncover() {
        play(|s| {
            s.reach_closed();
            s.offline(DeviceKind::Terminal);
            s.forget();
            by_command(s, [6, 3, 1]);
            s.expect_events(&["DiceUncovered implied", "ResultEntered 1,3,6 COMMAND"]);
        });
    }

    #[test]
    fn from_landed_it_implies_nothing() {
        play(|s| {
            s.reach_landed();
            s.offline(DeviceKind::Terminal);
            s.forget();
            by_command(s, [1, 3, 6]);
            s.expect_events(&["ResultEntered 1,3,6 COMMAND"]);
            let reason = s.newest(|body| match body {
                Body::ResultEntered(b) => Some((b.reason.clone(), b.source())),
                _ => None,
            });
            assert_eq!(reason, ("terminal is dead".into(), ResultSource::Command));
        });
    }

    #[test]
    fn a_round_held_for_the_lost_bell_is_taken_on_by_resume_and_command() {
        play(|s| {
            s.reach_betting();
            s.offline(DeviceKind::Terminal);
            s.cover_off();
            s.wait(3000);
            s.operator(OperatorAct::Resume);
            s.expect_done();
            by_command(s, [1, 3, 6]);
            s.expect_done();
            s.wait(4000);
            s.operator(OperatorAct::Settle);
            s.expect_done();
        });
    }

    #[test]
    fn at_other_moments_it_is_refused() {
        play(|s| {
            by_command(s, [1, 3, 6]);
            s.expect_refused();
            s.spin(2);
            by_command(s, [1, 3, 6]);
            s.expect_refused();
            s.operator(OperatorAct::Void { reason: None });
            s.reach_entered(&[1, 3, 6]);
            s.forget();
            by_command(s, [1, 3, 5]);
            s.expect_refused();
            s.expect_no_events();
        });
    }

    #[test]
    fn it_needs_faces_and_a_reason_and_a_supervisor() {
        play(|s| {
            s.reach_landed();
            by_command(s, [1, 3, 7]);
            s.expect_refused();
            s.operator(OperatorAct::EnterResult {
                faces: [1, 3, 6],
                reason: String::new(),
            });
            s.expect_refused();
            s.operator(OperatorAct::EnterResult {
                faces: [1, 3, 6],
                reason: "x".repeat(201),
            });
            s.expect_refused();
            let act = OperatorAct::EnterResult {
                faces: [1, 3, 6],
                reason: "dead".into(),
            };
            s.act_as(crate::scene::technician(), act);
            s.expect_refused();
            s.expect_phase("landed");
        });
    }

    #[test]
    fn its_settlement_is_a_command_or_the_cover() {
        play(|s| {
            s.reach_landed();
            s.offline(DeviceKind::Terminal);
            by_command(s, [1, 3, 6]);
            s.wait(1000);
            s.cover();
            s.wait(5000);
            assert!(s.state().settled_provisionally, "{}", s.story());
        });
    }
}

#[test]
fn with_every_device_away_a_supervisor_still_finishes_the_round() {
    play(|s| {
        s.reach_betting();
        for kind in [DeviceKind::Tumbler, DeviceKind::Terminal, DeviceKind::LayoutLamps] {
            s.offline(kind);
        }
        by_command(s, [2, 2, 2]);
        s.expect_done();
        s.wait(6000);
        s.operator(OperatorAct::Settle);
        s.expect_done();
        s.expect_phase("ready");
    });
}
