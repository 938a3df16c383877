//! One or two spins.

use super::*;

fn held(s: &mut Scene, spins: u32) {
    s.spin(spins);
    s.wait(4000);
    s.bell();
    s.wait(1000);
    s.cover_off();
    s.wait(3000);
    s.expect_held(RoundHeldCause::TumblerShort);
    assert_eq!(voids(s), 0);
}

#[test]
fn one_or_two_spins_hold_the_round() {
    for spins in [1, 2] {
        play(|s| {
            s.forget();
            held(s, spins);
            s.expect_alert();
        });
    }
}

#[test]
fn it_can_not_be_resumed() {
    play(|s| {
        held(s, 2);
        s.forget();
        s.operator(OperatorAct::Resume);
        s.expect_refused();
        s.expect_no_events();
    });
}

#[test]
fn it_can_be_voided() {
    play(|s| {
        held(s, 2);
        s.operator(OperatorAct::Void {
            reason: Some(RoundVoidedReason::ANotActivated),
        });
        s.expect_done();
        s.expect_not_held();
        s.cover();
        s.reach_betting();
    });
}

#[test]
fn or_with_the_cover_on_again_spun_further() {
    play(|s| {
        held(s, 2);
        s.cover();
        s.wait(1000);
        s.forget();
        s.spin(1);
        s.wait(3500);
        s.expect_not_held();
        s.expect_phase("betting");
        assert_eq!(voids(s), 0);
        s.bell();
        s.expect_phase("closed");
    });
}
