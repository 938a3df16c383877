//! Contacts that were missed.

use super::*;

#[test]
fn a_bell_is_judged_by_its_closings_never_by_its_level() {
    play(|s| {
        s.terminal.wire(Contact::Bell).closed = true;
        s.blink(DeviceKind::Terminal);
        s.reach_betting();
        s.wait(1000);
        s.expect_phase("betting");
        s.contact(Contact::Bell, false);
        s.expect_phase("betting");
        s.contact(Contact::Bell, true);
        s.expect_phase("closed");
    });
}

#[test]
fn a_bell_rung_while_the_link_was_down_closes_bets_when_it_is_back() {
    play(|s| {
        s.reach_betting();
        s.offline(DeviceKind::Terminal);
        s.bell();
        s.wait(1000);
        s.forget();
        s.online(DeviceKind::Terminal);
        s.expect_events(&["DeviceOnline", "BetsClosed heard"]);
        s.expect_phase("closed");
    });
}

#[test]
fn one_rung_before_bets_opened_does_not() {
    play(|s| {
        s.offline(DeviceKind::Terminal);
        s.bell();
        s.online(DeviceKind::Terminal);
        s.reach_betting();
        s.wait(1000);
        s.blink(DeviceKind::Terminal);
        s.expect_phase("betting");
    });
}

#[test]
fn a_restarted_terminals_bell_counts_from_zero() {
    play(|s| {
        s.reach_betting();
        s.offline(DeviceKind::Terminal);
        s.terminal.link.boot_id += 1;
        s.terminal.entry = 0;
        for wire in &mut s.terminal.wires {
            wire.closings = 0;
            wire.last_closed = 0;
        }
        s.wait(500);
        s.online(DeviceKind::Terminal);
        s.expect_phase("betting");
        s.offline(DeviceKind::Terminal);
        s.terminal.link.boot_id += 1;
        s.bell();
        s.wait(500);
        s.online(DeviceKind::Terminal);
        s.expect_phase("closed");
    });
}

#[test]
fn without_related_clocks_a_bell_of_the_same_start_counts() {
    play(|s| {
        s.terminal.clocks_related = false;
        s.reach_betting();
        s.bell();
        s.expect_phase("closed");
        s.uncover();
        s.key_in(&[1, 3, 6]);
        s.expect_lit([1, 3, 6]);
    });
    play(|s| {
        s.terminal.clocks_related = false;
        s.reach_betting();
        s.offline(DeviceKind::Terminal);
        s.bell();
        s.online(DeviceKind::Terminal);
        s.expect_phase("closed");
    });
}

#[test]
fn without_related_clocks_a_restarted_terminals_bell_is_heard_as_it_rings() {
    play(|s| {
        s.terminal.clocks_related = false;
        s.reach_betting();
        s.offline(DeviceKind::Terminal);
        s.terminal.link.boot_id += 1;
        s.terminal.entry = 0;
        for wire in &mut s.terminal.wires {
            wire.closings = 0;
        }
        s.wait(500);
        s.online(DeviceKind::Terminal);
        s.bell();
        s.expect_phase("closed");
    });
}

#[test]
fn a_no_spin_found_when_the_link_is_back_holds_the_round_and_never_voids() {
    for to in [Scene::reach_betting, Scene::reach_closed, Scene::reach_landed] {
        play(|s| {
            to(s);
            s.offline(DeviceKind::Terminal);
            s.no_spin();
            s.wait(500);
            s.online(DeviceKind::Terminal);
            assert_ne!(s.state().held(), RoundHeldCause::Unspecified, "{}", s.story());
            assert!(
                s.events
                    .iter()
                    .all(|r| !matches!(r.event.body, Some(Body::RoundVoided(_))))
            );
            s.operator(OperatorAct::Resume);
            s.expect_done();
        });
    }
}
