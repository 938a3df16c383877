//! "Held rounds": what the gateway may decide alone, what it leaves to a supervisor, and how the round goes on.

use crate::scene::{Scene, config, play, play_with};
use tablegate::table::event::{Body, RoundHeldCause, RoundVoidedReason};
use tablegate::table::input::{Contact, Cover, DeviceKind, Flatness, Motion, OperatorAct};

mod counters;
mod exposed_early;
mod forgotten_tumble;
mod not_flat;
mod tumbler_faults;
mod tumbler_short;
mod void_withdrawn;

fn resume(s: &mut Scene) {
    s.operator(OperatorAct::Resume);
    s.expect_done();
}

fn voids(s: &Scene) -> usize {
    s.events
        .iter()
        .filter(|r| matches!(r.event.body, Some(Body::RoundVoided(_))))
        .count()
}

#[test]
fn a_cover_off_at_restart_with_no_bell_known_is_held() {
    play(|s| {
        s.reach_betting();
        s.restart_while(|s| s.tumbler.cover = Cover::Off);
        s.expect_held(RoundHeldCause::ExposedEarly);
        assert_eq!(voids(s), 0);
    });
}

#[test]
fn a_held_round_survives_a_power_cut() {
    play(|s| {
        s.reach_closed();
        s.tumbler.reading = Some((Flatness::NotFlat, None));
        s.uncover();
        s.wait(500);
        s.restart();
        s.expect_held(RoundHeldCause::NotFlat);
        resume(s);
        s.expect_phase("landed");
    });
}

#[test]
fn resume_without_a_held_round_is_refused() {
    play(|s| {
        s.reach_betting();
        s.forget();
        s.operator(OperatorAct::Resume);
        s.expect_refused();
        s.expect_no_events();
    });
}

#[test]
fn a_technician_decides_nothing() {
    play(|s| {
        s.reach_betting();
        s.blink(DeviceKind::Tumbler);
        s.cover_off();
        s.wait(3000);
        s.act_as(crate::scene::technician(), OperatorAct::Resume);
        s.expect_refused();
        s.expect_held(RoundHeldCause::ExposedEarly);
    });
}

#[test]
fn nothing_is_held_for_a_cover_that_does_not_say() {
    play_with(config(), |s| {
        s.tumbler.cover = Cover::Unknown;
        s.blink(DeviceKind::Tumbler);
        s.open();
        s.reach_betting();
        s.wait(10_000);
        s.expect_not_held();
        s.restart();
        s.expect_not_held();
        s.expect_phase("betting");
    });
}
