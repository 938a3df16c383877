//! "Place your bets": when they open.

use super::*;

#[test]
fn bets_open_three_seconds_after_the_last_rest() {
    play(|s| {
        s.spin(2);
        s.spin_once(1);
        s.wait(2999);
        s.expect_phase("tumbling");
        s.wait(1);
        s.expect_phase("betting");
    });
}

#[test]
fn the_rest_is_configurable() {
    play_with(config_with(|c| c.rest = Duration::from_millis(700)), |s| {
        s.open();
        s.spin(2);
        s.spin_once(1);
        s.wait(699);
        s.expect_phase("tumbling");
        s.wait(1);
        s.expect_phase("betting");
    });
}

#[test]
fn two_spins_do_not_open_bets() {
    play(|s| {
        s.spin(2);
        s.wait(60_000);
        s.expect_phase("tumbling");
    });
}

#[test]
fn a_bell_in_the_rest_opens_and_closes_at_once() {
    play(|s| {
        s.spin(3);
        s.wait(1000);
        s.forget();
        s.bell();
        s.expect_events(&["BetsOpened round:1", "BetsClosed heard by:dealer"]);
        s.expect_one_append(2);
        s.expect_phase("closed");
    });
}

/// However it becomes known, and whenever in the rest.
#[test]
fn a_bell_rung_before_the_rest_and_known_in_it_opens_nothing() {
    for (rung_after, known_after) in [(0, 500), (0, 2000), (1, 1000)] {
        play(|s| {
            let rung = s.now;
            s.spin(rung_after);
            let bell_at = if rung_after == 0 { rung } else { s.now };
            s.wait(1000);
            s.spin(3 - rung_after);
            s.wait(known_after);
            s.forget();
            let bell = s.terminal.wire(Contact::Bell);
            bell.closings += 1;
            bell.last_closed = bell_at;
            let input = Input::Terminal(s.terminal_report());
            s.say(DeviceKind::Terminal, input);
            s.wait(100);
            s.expect_no_events();
            s.expect_phase("tumbling");
            s.expect_readout("E31");
            s.wait(3000);
            s.expect_phase("betting");
        });
    }
}

#[test]
fn a_bell_in_the_rest_is_refused_while_the_next_round_is_held_back() {
    play(|s| {
        s.operator(OperatorAct::Lock { reason: "audit".into() });
        s.spin(3);
        s.wait(1000);
        s.forget();
        s.contact(Contact::Bell, true);
        s.expect_readout("E31");
        s.expect_no_events();
        s.wait(10_000);
        s.expect_phase("tumbling");
    });
}

#[test]
fn a_further_spin_in_the_rest_adds_to_the_count() {
    play(|s| {
        s.spin(3);
        s.wait(2000);
        s.spin_begins();
        s.wait(2000);
        s.expect_phase("tumbling");
        s.spin_ends(1);
        s.wait(2900);
        s.expect_phase("tumbling");
        s.wait(100);
        s.expect_phase("betting");
        let spins = s.newest(|body| match body {
            Body::TumblerSpun(b) => Some(b.spins),
            _ => None,
        });
        assert_eq!(spins, 4);
    });
}
