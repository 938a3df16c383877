//! Void, lamps and amendment: off unless the house has decided otherwise, and then events say so.

use super::*;

fn void(s: &mut Scene, reason: Option<RoundVoidedReason>) {
    s.operator(OperatorAct::Void { reason });
}

mod void_off {
    use super::*;

    #[test]
    fn no_spin_holds_the_round_in_every_phase_and_nothing_voids_it() {
        type Reach = fn(&mut Scene);
        let phases: [(Reach, RoundHeldCause); 5] = [
            (|s| s.spin(1), RoundHeldCause::NoSpin),
            (|s| s.reach_betting(), RoundHeldCause::NoSpin),
            (|s| s.reach_closed(), RoundHeldCause::NoSpin),
            (|s| s.reach_landed(), RoundHeldCause::NoSpinAfterUncover),
            (|s| s.reach_entered(&[1, 3, 6]), RoundHeldCause::NoSpinAfterUncover),
        ];
        for (reach, cause) in phases {
            play(Tumbler::Covered, |s| {
                reach(s);
                let phase = s.phase();
                s.no_spin();
                s.expect_held(cause);
                void(s, None);
                s.expect_refused();
                assert!(
                    !s.table
                        .situation()
                        .possible
                        .iter()
                        .any(|act| act.command == "round void")
                );
                void(s, Some(RoundVoidedReason::ANotFlat));
                s.expect_refused();
                supervisor_resumes(s);
                s.expect_not_held();
                s.expect_phase(&phase);
            });
        }
    }

    #[test]
    fn dice_that_do_not_lie_flat_are_referred_to_people() {
        play(Tumbler::Covered, |s| {
            s.tumbler.reading = Some((Flatness::NotFlat, None));
            s.reach_landed();
            s.expect_held(RoundHeldCause::NotFlat);
            s.forget();
            // The reader errs, or the die is put right by the house's own procedure.
            supervisor_resumes(s);
            s.key_in(&[1, 3, 6]);
            s.expect_lit([1, 3, 6]);
        });
    }

    #[test]
    fn a_short_tumble_is_spun_further_or_given_up_with_the_table() {
        play(Tumbler::Covered, |s| {
            s.spin(2);
            s.uncover();
            s.expect_held(RoundHeldCause::TumblerShort);
            void(s, None);
            s.expect_refused();
            let can_close = s.table.situation().possible.iter().any(|act| act.command == "close");
            assert!(can_close, "{:?}", s.table.situation().possible);
            s.operator(OperatorAct::Close);
            s.expect_done();
        });
    }
}

mod void_on {
    use super::*;

    fn play(script: impl FnOnce(&mut Scene)) {
        play_at(with(Tumbler::Covered, |c| c.policy.void = true), script);
    }

    #[test]
    fn the_dealer_voids_before_the_uncover_and_the_event_says_whose_rule_it_is() {
        play(|s| {
            s.reach_closed();
            s.forget();
            s.no_spin();
            s.expect_events(&["RoundVoided NOT_STATED chosen by_policy by:dealer"]);
            s.operator(OperatorAct::StateVoidReason {
                reason: RoundVoidedReason::ATumblerFault,
            });
            s.expect_done();
        });
    }

    #[test]
    fn after_the_uncover_a_supervisor_does() {
        play(|s| {
            s.reach_landed();
            s.no_spin();
            s.expect_held(RoundHeldCause::NoSpinAfterUncover);
            s.forget();
            void(s, Some(RoundVoidedReason::ANotFlat));
            s.expect_events(&["RoundVoided A_NOT_FLAT by_policy by:supervisor"]);
        });
    }

    #[test]
    fn reasons_are_those_of_a_tumbler() {
        play(|s| {
            s.reach_closed();
            void(s, Some(RoundVoidedReason::BNotRandom));
            s.expect_refused();
            let told = format!("{:?}", s.answer);
            assert!(told.contains("a_exposed_early") && !told.contains("b_"), "{told}");
            void(s, Some(RoundVoidedReason::AExposedEarly));
            s.expect_done();
        });
        play_at(with(Tumbler::Open, |c| c.policy.void = true), |s| {
            void(s, Some(RoundVoidedReason::AExposedEarly));
            s.expect_refused();
            void(s, Some(RoundVoidedReason::ANotActivated));
            s.expect_done();
        });
    }

    #[test]
    fn nothing_is_void_by_itself() {
        play(|s| {
            s.bell();
            s.uncover();
            s.wait(3000);
            s.expect_held(RoundHeldCause::NotActivated);
        });
    }
}

mod lamps_off {
    use super::*;

    #[test]
    fn a_dead_lamp_is_recorded_and_holds_nothing() {
        play(Tumbler::Covered, |s| {
            s.lamps.dead = vec![oracle::bit("small")];
            s.reach_entered(&[1, 3, 6]);
            s.wait(2000);
            s.expect_locks(&[]);
            let failed = s.newest(|body| match body {
                Body::LampFailed(failed) => failed.area.clone(),
                _ => None,
            });
            assert_eq!(failed.id, "small");
            s.settle();
            s.spin(3);
            s.wait(3500);
            s.expect_phase("betting");
        });
    }

    #[test]
    fn settlement_waits_for_no_lamp() {
        play(Tumbler::Covered, |s| {
            s.reach_landed();
            s.offline(DeviceKind::LayoutLamps);
            s.key_in(&[1, 3, 6]);
            s.wait(20_000);
            s.expect_locks(&[]);
            s.forget();
            s.enter();
            s.expect_events(&["RoundSettled stated"]);
        });
    }
}

mod lamps_on {
    use super::*;

    #[test]
    fn a_dead_lamp_holds_the_next_round_by_the_houses_policy() {
        let config = with(Tumbler::Covered, |c| c.policy.lamps = true);
        play_at(config, |s| {
            s.lamps.dead = vec![oracle::bit("small")];
            s.reach_entered(&[1, 3, 6]);
            s.wait(2000);
            s.expect_locks(&[(TableLockedReason::Lamp, TableLockedKind::HoldNext)]);
            let by_policy = s.newest(|body| match body {
                Body::TableLocked(locked) => Some(locked.by_policy),
                _ => None,
            });
            assert!(by_policy);
        });
    }

    #[test]
    fn settlement_waits_for_them() {
        let config = with(Tumbler::Covered, |c| {
            c.policy.lamps = true;
            c.settle_after = Duration::from_millis(500);
        });
        play_at(config, |s| {
            s.lamps.manners = crate::devices::Manners::Mute;
            s.reach_landed();
            s.offline(DeviceKind::LayoutLamps);
            s.key_in(&[1, 3, 6]);
            s.wait(1500);
            s.forget();
            s.enter();
            s.expect_readout("E33");
            s.expect_phase("entered");
        });
    }
}

mod amend {
    use super::*;

    #[test]
    fn off_nobody_amends() {
        play(Tumbler::Covered, |s| {
            s.reach_entered(&[1, 3, 6]);
            s.key_on();
            s.forget();
            s.key_in(&[2, 2, 5]);
            s.expect_events(&["EntryRejected E31"]);
            s.key_off();
            s.operator(OperatorAct::Amend { faces: [2, 2, 5] });
            s.expect_refused();
            s.expect_lit([1, 3, 6]);
            assert!(
                !s.table
                    .situation()
                    .possible
                    .iter()
                    .any(|act| act.command == "round amend")
            );
        });
    }

    #[test]
    fn on_the_event_says_whose_rule_it_is() {
        let config = with(Tumbler::Covered, |c| c.policy.amend = true);
        play_at(config, |s| {
            s.reach_entered(&[1, 3, 6]);
            s.key_on();
            s.key_in(&[2, 2, 5]);
            let amended = s.newest(|body| match body {
                Body::ResultAmended(amended) => Some(amended.clone()),
                _ => None,
            });
            assert!(amended.by_policy);
            assert_eq!(amended.call, "2, 2, 5, total 9");
            s.expect_lit([2, 2, 5]);
        });
    }
}

#[test]
fn the_round_says_what_the_house_has_decided() {
    let config = with(Tumbler::Covered, |c| {
        c.policy = HousePolicy {
            void: true,
            lamps: false,
            amend: true,
        };
    });
    play_at(config, |s| {
        s.spin(1);
        let policy = s.newest(|body| match body {
            Body::RoundStarted(started) => started.policy,
            _ => None,
        });
        assert_eq!((policy.void, policy.lamps, policy.amend), (true, false, true));
    });
}
