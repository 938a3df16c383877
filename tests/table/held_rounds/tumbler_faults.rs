//! A tumbler that fails.

use super::*;

#[test]
fn a_fault_after_rest_holds_the_round() {
    for to in [Scene::reach_betting, Scene::reach_closed, Scene::reach_landed] {
        play(|s| {
            to(s);
            let phase = s.phase();
            s.forget();
            s.tumbler_changes(|t| {
                t.motion = Motion::Fault;
                t.fault_code = 9;
            });
            s.expect_held(RoundHeldCause::TumblerFault);
            s.expect_alert();
            assert_eq!(voids(s), 0);
            s.tumbler_changes(|t| {
                t.motion = Motion::AtRest;
                t.fault_code = 0;
            });
            s.expect_held(RoundHeldCause::TumblerFault);
            resume(s);
            s.expect_phase(&phase);
        });
    }
}

#[test]
fn a_fault_in_the_rest_does_not_void() {
    play(|s| {
        s.spin(3);
        s.wait(1000);
        s.tumbler_changes(|t| t.motion = Motion::Fault);
        s.wait(10_000);
        assert_eq!(voids(s), 0);
        assert_ne!(s.phase(), "betting");
    });
}
