//! An open tumbler away, its reader, and a table that starts again.

use super::*;

fn to_the_bell(s: &mut Scene) {
    s.wait(5000);
    s.bell();
    s.expect_phase("closed");
}

#[test]
fn with_the_tumbler_away_the_entry_stands_for_the_dice() {
    play(Tumbler::Open, |s| {
        to_the_bell(s);
        s.offline(DeviceKind::Tumbler);
        s.wait(8000);
        s.forget();
        s.key_in(&[1, 3, 6]);
        s.expect_events(&["DiceUncovered implied by:dealer", "ResultEntered 1,3,6"]);
        s.expect_one_append(2);
        s.wait(4000);
        s.enter();
        // The next bets wait for it.
        s.expect_phase("ready");
        s.wait(4000);
        s.expect_readout("E20");
        s.online(DeviceKind::Tumbler);
        s.expect_phase("betting");
    });
}

#[test]
fn spins_made_while_it_was_away_after_the_bell_count() {
    play(Tumbler::Open, |s| {
        to_the_bell(s);
        s.offline(DeviceKind::Tumbler);
        s.tumbler.spins += 3;
        s.tumbler.activations += 3;
        s.wait(1000);
        s.forget();
        s.online(DeviceKind::Tumbler);
        s.expect_events(&["DeviceOnline", "TumblerSpun 3 away"]);
        s.wait(3500);
        s.expect_events(&["DiceUncovered at_rest"]);
        s.key_in(&[1, 3, 6]);
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn a_tumbler_that_was_away_at_the_bell_counts_from_its_return() {
    play(Tumbler::Open, |s| {
        s.wait(1000);
        s.offline(DeviceKind::Tumbler);
        s.wait(1000);
        s.bell();
        s.expect_phase("closed");
        s.online(DeviceKind::Tumbler);
        s.expect_not_held();
        s.forget();
        s.spin(3);
        s.wait(3500);
        s.expect_events(&[
            "TumblerSpun 1",
            "TumblerSpun 2",
            "TumblerSpun 3",
            "DiceUncovered at_rest",
        ]);
    });
}

#[test]
fn spins_made_while_it_was_away_before_the_bell_hold_the_round() {
    play(Tumbler::Open, |s| {
        s.wait(1000);
        s.offline(DeviceKind::Tumbler);
        s.tumbler.spins += 1;
        s.wait(1000);
        s.online(DeviceKind::Tumbler);
        s.expect_held(RoundHeldCause::ActivityWhileAway);
        supervisor_resumes(s);
        s.bell();
        s.spin(3);
        s.wait(3500);
        s.expect_phase("landed");
    });
}

#[test]
fn another_tumbler_after_the_bell_holds_the_round_and_counts_afresh() {
    play(Tumbler::Open, |s| {
        to_the_bell(s);
        s.spin(2);
        s.offline(DeviceKind::Tumbler);
        s.tumbler.link.serial_number = "T-0099";
        s.tumbler.spins = 7;
        s.tumbler.activations = 7;
        s.wait(1000);
        s.online(DeviceKind::Tumbler);
        s.expect_held(RoundHeldCause::CountersLost);
        supervisor_resumes(s);
        s.forget();
        s.spin(3);
        s.wait(3500);
        s.expect_events(&[
            "TumblerSpun 1",
            "TumblerSpun 2",
            "TumblerSpun 3",
            "DiceUncovered at_rest",
        ]);
    });
}

#[test]
fn a_fault_after_the_spins_holds_the_round_and_one_before_them_only_the_next() {
    let fault = |s: &mut Scene| {
        s.tumbler_changes(|t| t.fault_code = 7);
        s.wait(200);
    };
    play(Tumbler::Open, |s| {
        s.wait(1000);
        fault(s);
        s.expect_not_held();
        s.expect_locks(&[(TableLockedReason::Tumbler, TableLockedKind::HoldNext)]);
        s.bell();
        s.expect_phase("closed");
    });
    play(Tumbler::Open, |s| {
        to_the_bell(s);
        s.spin(3);
        fault(s);
        s.expect_held(RoundHeldCause::TumblerFault);
        supervisor_resumes(s);
        s.wait(3500);
        s.expect_phase("landed");
    });
}

#[test]
fn a_reader_is_believed_once_the_dice_have_landed() {
    play(Tumbler::Open, |s| {
        s.tumbler.cover = Cover::Off;
        s.tumbler.reading = Some((Flatness::Flat, Some([1, 3, 6])));
        to_the_bell(s);
        s.spin(3);
        s.wait(3500);
        s.expect_phase("landed");
        s.key_in(&[1, 3, 5]);
        s.expect_held(RoundHeldCause::DiceDiffer);
        s.expect_dark();
        s.key_in(&[1, 3, 6]);
        s.expect_lit([1, 3, 6]);
    });
}

#[test]
fn dice_that_do_not_lie_flat_hold_the_round() {
    play(Tumbler::Open, |s| {
        s.tumbler.cover = Cover::Off;
        s.tumbler.reading = Some((Flatness::NotFlat, None));
        to_the_bell(s);
        s.expect_not_held();
        s.spin(3);
        s.wait(3500);
        s.expect_held(RoundHeldCause::NotFlat);
    });
}

mod restart {
    use super::*;

    #[test]
    fn while_bets_are_open() {
        play(Tumbler::Open, |s| {
            s.wait(1000);
            s.restart();
            s.expect_phase("betting");
            s.expect_not_held();
            s.restart_while(|s| s.tumbler.spins += 1);
            s.expect_held(RoundHeldCause::ActivityWhileAway);
        });
    }

    #[test]
    fn after_the_bell_what_was_spun_meanwhile_counts() {
        play(Tumbler::Open, |s| {
            to_the_bell(s);
            s.spin(1);
            s.forget();
            s.restart_while(|s| s.tumbler.spins += 2);
            s.expect_not_held();
            let spun = s.newest(|body| match body {
                Body::TumblerSpun(spun) => Some((spun.spins, spun.while_away)),
                _ => None,
            });
            assert_eq!(spun, (3, true));
            s.wait(3500);
            s.expect_phase("landed");
            s.key_in(&[1, 3, 6]);
            s.restart();
            s.expect_lit([1, 3, 6]);
        });
    }

    #[test]
    fn while_the_dice_spin() {
        play(Tumbler::Open, |s| {
            to_the_bell(s);
            s.spin(2);
            s.spin_begins();
            s.restart();
            assert_eq!(s.tumbler.motion, Motion::Spinning);
            s.spin_ends(1);
            s.wait(3500);
            s.expect_phase("landed");
        });
    }

    #[test]
    fn after_the_dice_have_landed() {
        play(Tumbler::Open, |s| {
            to_the_bell(s);
            s.spin(3);
            s.wait(3500);
            s.expect_phase("landed");
            s.restart();
            s.expect_phase("landed");
            s.expect_not_held();
            s.restart_while(|s| s.tumbler.spins += 1);
            s.expect_held(RoundHeldCause::ActivityWhileAway);
        });
    }

    #[test]
    fn with_the_other_tumbler_the_round_is_frozen() {
        play(Tumbler::Open, |s| {
            to_the_bell(s);
            s.stop();
            s.config = sic_bo(Tumbler::Covered);
            s.start_again();
            s.expect_locks(&[(TableLockedReason::Configuration, TableLockedKind::Freeze)]);
            s.config = sic_bo(Tumbler::Open);
            s.stop();
            s.start_again();
            s.expect_locks(&[]);
        });
    }
}
