//! Devices away, and what stands in for them.

use super::*;

fn by_command(s: &mut Scene, faces: [u8; 3]) {
    s.operator(OperatorAct::EnterResult {
        faces,
        reason: "terminal is dead".into(),
    });
}

#[test]
fn lamps_away_hold_the_next_bets_back_until_they_are_back() {
    play(|s| {
        to_the_bell(s);
        s.offline(DeviceKind::LayoutLamps);
        s.key_in(&[1, 3, 6]);
        s.wait(6000);
        s.expect_locks(&[(TableLockedReason::Lamp, TableLockedKind::HoldNext)]);
        settle(s);
        s.expect_phase("ready");
        s.operator(OperatorAct::Unlock {
            procedure: "by the dice".into(),
        });
        s.wait(4000);
        s.expect_readout("E22");
        s.forget();
        s.online(DeviceKind::LayoutLamps);
        s.expect_events(&["DeviceOnline", "RoundStarted round:2", "BetsOpened round:2"]);
    });
}

#[test]
fn a_dead_terminal_is_stood_in_for_by_a_command() {
    play(|s| {
        s.offline(DeviceKind::Terminal);
        s.wait(5000);
        s.forget();
        by_command(s, [2, 2, 5]);
        s.expect_done();
        s.expect_events(&[
            "BetsClosed implied by:supervisor",
            "ResultEntered 2,2,5 COMMAND by:supervisor",
        ]);
        s.expect_one_append(2);
        s.wait(500);
        s.operator(OperatorAct::Settle);
        s.expect_done();
        // The next bets wait for the terminal.
        s.expect_phase("ready");
        s.online(DeviceKind::Terminal);
        s.expect_phase("betting");
    });
}

#[test]
fn a_bell_rung_while_the_terminal_was_away_counts() {
    play(|s| {
        s.wait(3000);
        s.offline(DeviceKind::Terminal);
        s.bell();
        s.wait(1000);
        s.forget();
        s.online(DeviceKind::Terminal);
        s.expect_events(&["DeviceOnline", "BetsClosed heard away"]);
        s.expect_phase("closed");
    });
}

#[test]
fn no_tumbler_is_waited_for() {
    play(|s| {
        s.offline(DeviceKind::Tumbler);
        s.forget();
        to_the_entry(s, &[1, 3, 6]);
        settle(s);
        s.expect_phase("betting");
        let inhibit = s.table.indicators().tumbler.inhibit;
        assert!(!inhibit, "there is nothing to inhibit");
    });
}
