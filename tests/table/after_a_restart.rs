//! "After a restart": the table is exactly where the journal left it, and what changed meanwhile counts as happening now.

use crate::scene::{Scene, config, config_with, play, play_with, technician};
use tablegate::rules::tai_sai::Layout;
use tablegate::table::event::{Body, Mode, RoundHeldCause, TableLockedKind, TableLockedReason};
use tablegate::table::input::{Contact, Cover, DeviceKind, Motion, OperatorAct};

mod rows;

fn ring(s: &mut Scene) {
    let now = s.now;
    let bell = s.terminal.wire(Contact::Bell);
    bell.closings += 1;
    bell.last_closed = now;
}

fn off(s: &mut Scene) {
    s.tumbler.cover = Cover::Off;
}

fn moved(s: &mut Scene) {
    s.tumbler.activations += 1;
    s.tumbler.spins += 2;
}

fn nothing(_: &mut Scene) {}

fn enter_and_settle(s: &mut Scene) {
    s.wait(1000);
    s.key_in(&[2, 4, 5]);
    s.expect_lit([2, 4, 5]);
    s.wait(500);
    s.settle();
}

fn rest_of_the_round(s: &mut Scene) {
    s.bell();
    s.expect_phase("closed");
    s.uncover();
    enter_and_settle(s);
}

fn resume(s: &mut Scene) {
    s.operator(OperatorAct::Resume);
    s.expect_done();
}

#[test]
fn tumbling_becomes_ready_and_spins_done_while_away_do_not_count() {
    for spins in [2, 3] {
        play(|s| {
            s.spin(spins);
            s.forget();
            s.restart_while(|s| s.tumbler.spins += 2);
            s.expect_phase("ready");
            s.wait(10_000);
            s.expect_phase("ready");
            assert_eq!(
                s.fresh_without(&["DeviceOnline", "GatewayStarted"]).len(),
                1,
                "{}",
                s.story()
            );
            s.spin(2);
            s.wait(10_000);
            s.expect_phase("tumbling");
            s.spin(1);
            s.wait(3500);
            s.expect_phase("betting");
            assert_eq!(s.state().round_id, 2);
        });
    }
}

#[test]
fn landed_has_a_new_entry_number() {
    play(|s| {
        s.reach_landed();
        s.press(&[1, 3]);
        let before = s.terminal.entry;
        s.restart();
        assert_ne!(s.terminal.entry, before);
        assert_eq!(s.terminal.shown, []);
        s.key_in(&[1, 3, 6]);
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn entered_commands_the_lamps_again_with_a_new_deadline() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.lamps.dead = vec![crate::oracle::bit("small")];
        s.restart();
        s.wait(2000);
        assert_eq!(
            s.locks(),
            [(TableLockedReason::Lamp, TableLockedKind::HoldNext)],
            "{}",
            s.story()
        );
    });
}

#[test]
fn entered_before_the_lamps_were_lit_lights_them() {
    play(|s| {
        s.reach_landed();
        s.key_in(&[1, 3, 6]);
        s.restart_while(|s| s.lamps.lit.clear());
        s.wait(1000);
        s.expect_lit([1, 3, 6]);
        assert_eq!(s.lamps.lit, s.table.indicators().lamps.lit, "the lamps show it");
    });
}

#[test]
fn lamps_that_a_run_before_had_lit_make_no_measured_time_to_the_settlement() {
    for restarts in [false, true] {
        play(|s| {
            s.reach_entered(&[1, 3, 6]);
            s.wait(2200);
            if restarts {
                s.restart_while(|s| s.lamps.lit.clear());
                s.wait(1000);
                s.expect_lit([1, 3, 6]);
            }
            s.wait(4000);
            s.enter();
            let measured = s.newest(|body| match body {
                Body::RoundSettled(b) => Some(b.lamps_to_settled_ms),
                _ => None,
            });
            assert_eq!(measured == 0, restarts, "{measured} ms\n{}", s.story());
        });
    }
}

#[test]
fn a_provisional_settlement_stays_so_until_the_next_spin() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.cover();
        s.wait(5000);
        assert!(s.state().settled_provisionally);
        s.restart();
        assert!(s.state().settled_provisionally);
        let mut spun = s.clone();
        s.operator(OperatorAct::Reopen);
        s.expect_done();
        s.expect_lit([1, 3, 6]);
        spun.spin(1);
        spun.operator(OperatorAct::Reopen);
        spun.expect_refused();
        crate::recovery::check(&spun);
    });
}

#[test]
fn test_becomes_what_was_below() {
    play(|s| {
        s.act_as(technician(), OperatorAct::EnterTest);
        s.restart();
        assert_eq!(s.state().mode(), Mode::Open);
        s.reach_betting();
    });
    play_with(config(), |s| {
        s.act_as(technician(), OperatorAct::EnterTest);
        s.restart();
        assert_eq!(s.state().mode(), Mode::Closed);
    });
}

#[test]
fn opening_becomes_closed_and_checks_are_repeated() {
    play_with(config(), |s| {
        use tablegate::table::event::OpeningCheck::*;
        s.operator(OperatorAct::BeginOpening);
        for check in [Devices, LampWalk, TestEntries, Tumbler, Seal] {
            s.operator(OperatorAct::RecordCheck {
                check,
                passed: true,
                text: "seen".into(),
            });
        }
        s.restart();
        assert_eq!(s.state().mode(), Mode::Closed);
        s.operator(OperatorAct::CompleteOpening);
        s.expect_refused();
        s.operator(OperatorAct::BeginOpening);
        s.operator(OperatorAct::CompleteOpening);
        s.expect_refused();
    });
}

#[test]
fn another_layout_than_the_open_rounds_is_frozen_until_restored() {
    let freeze = (TableLockedReason::Configuration, TableLockedKind::Freeze);
    let mut s = Scene::new(config());
    s.open();
    s.reach_landed();
    let ours = s.config.clone();
    s.stop();
    s.config = config_with(|c| {
        c.layout = Layout::Appendix2;
        c.lamp_map = (0..106).map(|bit| vec![bit]).collect();
    });
    s.now += 5_000_000;
    s.start_again();
    s.greet_all();
    assert_eq!(s.locks(), [freeze], "{}", s.story());
    s.key_in(&[1, 3, 6]);
    s.expect_phase("landed");
    s.expect_dark();
    s.expect_alert();

    let mut voided = s.clone();
    voided.operator(OperatorAct::Void { reason: None });
    voided.expect_done();
    voided.expect_locks(&[]);
    voided.cover();
    voided.reach_betting();

    s.stop();
    s.config = ours;
    s.now += 5_000_000;
    s.start_again();
    s.greet_all();
    s.expect_locks(&[]);
    s.key_in(&[1, 3, 6]);
    s.expect_lit([1, 3, 6]);
}

#[test]
fn another_layout_between_rounds_is_taken() {
    let mut s = Scene::new(config());
    s.open();
    s.whole_round(&[1, 3, 6]);
    s.stop();
    s.config = config_with(|c| {
        c.layout = Layout::Appendix2;
        c.lamp_map = (0..106).map(|bit| vec![bit]).collect();
    });
    s.now += 5_000_000;
    s.start_again();
    s.greet_all();
    s.expect_locks(&[]);
    s.forget();
    s.spin(1);
    s.expect_events(&["RoundStarted appendix-2 round:2", "TumblerSpun 1"]);
}

#[test]
fn a_clean_stop_and_a_power_cut_lead_to_the_same_table() {
    for to in [
        Scene::reach_betting,
        Scene::reach_closed,
        Scene::reach_landed,
        |s: &mut Scene| s.reach_entered(&[1, 3, 6]),
    ] {
        play(|s| {
            to(s);
            let mut cut = s.clone();
            cut.restart();
            s.restart_cleanly();
            assert_eq!(s.phase(), cut.phase());
            assert_eq!(s.lit(), cut.lit());
            assert_eq!(s.state().held(), cut.state().held());
            crate::recovery::check(&cut);
        });
    }
}

#[test]
fn a_power_cut_of_the_whole_table_holds_nothing_when_counters_are_kept() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.restart_while(|s| {
            s.tumbler.link.boot_id += 1;
            s.terminal.link.boot_id += 1;
            s.terminal.entry = 0;
            s.terminal.shown.clear();
            for wire in &mut s.terminal.wires {
                wire.closings = 0;
            }
            s.lamps.link.boot_id += 1;
            s.lamps.lit.clear();
        });
        s.wait(500);
        s.expect_phase("entered");
        s.expect_not_held();
        s.expect_lit([1, 3, 6]);
        s.settle();
    });
}

#[test]
fn a_restart_at_every_step_of_a_round_leads_to_its_end() {
    play(|s| {
        s.restart();
        s.spin(3);
        s.restart();
        s.reach_betting();
        s.restart();
        s.bell();
        s.restart();
        s.uncover();
        s.restart();
        s.press(&[1, 3]);
        s.restart();
        s.wait(500);
        s.key_in(&[1, 3, 6]);
        s.restart();
        s.wait(500);
        s.expect_lit([1, 3, 6]);
        s.settle();
        s.restart();
        s.operator(OperatorAct::Close);
        s.expect_done();
    });
}

#[test]
fn a_lamp_fault_declared_before_the_power_cut_stays_declared_in_every_checkpoint() {
    play(|s| {
        s.lamps.dead = vec![crate::oracle::bit("small")];
        s.reach_entered(&[1, 3, 6]);
        s.wait(1000);
        s.restart();
        s.settle();
    });
}

#[test]
fn the_terminal_may_be_greeted_long_after_the_tumbler() {
    play(|s| {
        s.reach_betting();
        s.stop();
        s.now += 2_000_000;
        ring(s);
        off(s);
        s.start_again();
        s.wait(200);
        s.online(DeviceKind::Tumbler);
        s.online(DeviceKind::LayoutLamps);
        s.wait(7000);
        s.online(DeviceKind::Terminal);
        s.wait(500);
        s.expect_phase("landed");
        s.expect_not_held();
        enter_and_settle(s);
    });
}

#[test]
fn without_the_terminal_a_cover_found_off_is_held() {
    play(|s| {
        s.reach_betting();
        s.stop();
        s.now += 2_000_000;
        off(s);
        s.start_again();
        s.wait(200);
        s.online(DeviceKind::Tumbler);
        s.wait(7000);
        s.expect_held(RoundHeldCause::ExposedEarly);
        resume(s);
        let reason = "the terminal is dead".into();
        s.operator(OperatorAct::EnterResult {
            faces: [1, 3, 6],
            reason,
        });
        s.expect_done();
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn a_bell_rung_while_away_counts_without_related_clocks() {
    for cover in [Cover::On, Cover::Off] {
        play(|s| {
            s.terminal.clocks_related = false;
            s.reach_betting();
            s.restart_while(|s| {
                ring(s);
                s.tumbler.cover = cover;
            });
            s.wait(500);
            s.expect_phase(if cover == Cover::On { "closed" } else { "landed" });
            s.expect_not_held();
        });
    }
}

#[test]
fn a_spin_that_lasts_over_the_start_of_betting_holds_it() {
    play(|s| {
        s.reach_betting();
        s.restart_while(|s| {
            s.tumbler.motion = Motion::Spinning;
            s.tumbler.activations += 1;
        });
        s.expect_held(RoundHeldCause::ActivityWhileAway);
        s.spin_ends(1);
        s.wait(1000);
        resume(s);
        s.expect_phase("betting");
        rest_of_the_round(s);
    });
}

#[test]
fn times_that_began_before_it_are_not_measured() {
    play(|s| {
        s.reach_betting();
        s.wait(4000);
        s.restart_while(ring);
        let closed = s.newest(|body| match body {
            Body::BetsClosed(b) => Some((b.while_away, b.bets_open_ms, b.rung_us_before)),
            _ => None,
        });
        assert_eq!(closed, (true, 0, 0));
        s.wait(1000);
        s.uncover();
        let to_uncover = s.newest(|body| match body {
            Body::DiceUncovered(b) => Some(b.bell_to_uncover_ms),
            _ => None,
        });
        assert_eq!(to_uncover, 0, "the bell was rung before the run");
        s.restart();
        s.wait(1000);
        s.key_in(&[2, 4, 5]);
        let to_entry = s.newest(|body| match body {
            Body::ResultEntered(b) => Some(b.uncover_to_entry_ms),
            _ => None,
        });
        assert_eq!(to_entry, 0, "the cover went off before the run");
        s.restart();
        s.wait(1000);
        let to_lamps = s.newest(|body| match body {
            Body::LayoutLit(b) => Some(b.entry_to_lamps_ms),
            _ => None,
        });
        assert_eq!(to_lamps, 0, "it was entered before the run");
    });
}

#[test]
fn bets_wait_for_a_terminal_whose_bell_may_have_been_rung_before_them() {
    play(|s| {
        s.spin(3);
        s.offline(DeviceKind::Terminal);
        ring(s);
        s.wait(6000);
        s.expect_phase("tumbling");
        s.online(DeviceKind::Terminal);
        s.wait(6000);
        s.expect_phase("betting");
        s.restart();
        s.expect_phase("betting");
        rest_of_the_round(s);
    });
}
