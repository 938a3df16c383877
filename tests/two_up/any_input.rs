//! What holds of a two-up table whatever comes in, in whatever order: signals, garbage and acts are drawn at random.

use crate::scene::*;
use proptest::prelude::*;
use tablegate::table::event::{Body, Event, OpeningCheck, SpinInvalidatedReason};
use tablegate::table::input::{
    Condition, Contact, DeviceKind, DiceOff, Input, Key, LightSeen, OperatorAct, Outcome, Replacement, Side,
};

#[derive(Clone, Copy, Debug)]
struct Step {
    what: u8,
    n: u8,
    wait: u64,
}

const KEYS: &[Key] = &[
    HEADS,
    TAILS,
    ODDS,
    TRIPLE_HEADS,
    TRIPLE_TAILS,
    NO_SPIN,
    NEW_SPINNER,
    STOPS,
    RELIEVE,
    OFF_TABLE,
    NEW_SET,
    OVERRULE,
    Key::Number(4),
    Key::Other(77),
];

fn acts() -> Vec<OperatorAct> {
    vec![
        OperatorAct::Spinner { side: None },
        OperatorAct::Spinner {
            side: Some(Side::Tails),
        },
        OperatorAct::DealerSpins,
        OperatorAct::Continues { side: Side::Heads },
        OperatorAct::NoMoreBets,
        OperatorAct::Spin {
            outcome: Outcome::Heads,
        },
        OperatorAct::Spin {
            outcome: Outcome::TripleTails,
        },
        OperatorAct::Spin { outcome: Outcome::Odds },
        OperatorAct::CorrectOutcome {
            outcome: Outcome::Tails,
        },
        OperatorAct::CorrectOutcome { outcome: Outcome::Odds },
        OperatorAct::Invalid { reason: None },
        OperatorAct::Invalid {
            reason: Some(SpinInvalidatedReason::Stacked),
        },
        OperatorAct::Invalid {
            reason: Some(SpinInvalidatedReason::Floater),
        },
        OperatorAct::Overrule {
            outcome: Outcome::Heads,
        },
        OperatorAct::SpinnerStops,
        OperatorAct::Relieve,
        OperatorAct::OffTable { dice: DiceOff::One },
        OperatorAct::OffTable { dice: DiceOff::Three },
        OperatorAct::NewSet { from: Replacement::Due },
        OperatorAct::NewSet {
            from: Replacement::Found,
        },
        OperatorAct::ReportLight {
            light: "tails_1".into(),
            seen: LightSeen::Failed,
        },
        OperatorAct::ReportLight {
            light: "tails_1".into(),
            seen: LightSeen::Works,
        },
        OperatorAct::Resume,
        OperatorAct::Void { reason: None },
        OperatorAct::Lock { reason: "pause".into() },
        OperatorAct::Unlock {
            procedure: "done".into(),
        },
        OperatorAct::EnterTest,
        OperatorAct::LeaveTest,
        OperatorAct::Close,
        OperatorAct::BeginOpening,
        OperatorAct::WalkLamps,
        OperatorAct::LightTestOutcome { outcome: Outcome::Odds },
        OperatorAct::RecordCheck {
            check: OpeningCheck::Dice,
            passed: true,
            text: String::new(),
        },
        OperatorAct::CompleteOpening,
        OperatorAct::AbandonOpening,
        OperatorAct::OpenVouched,
        OperatorAct::Settle,
        OperatorAct::SpinTumbler,
    ]
}

fn pick<T: Clone>(of: &[T], n: u8) -> T {
    of[usize::from(n) % of.len()].clone()
}

fn step(scene: &mut Scene, step: Step) {
    scene.wait(step.wait);
    let n = step.n;
    match step.what % 24 {
        0..=3 => scene.ring(),
        4..=6 => scene.keys(&[pick(&[HEADS, TAILS, ODDS, TRIPLE_HEADS, NO_SPIN], n)]),
        7 => scene.keys(&[NEW_SPINNER, pick(&[HEADS, TAILS], n)]),
        8 => scene.keys(&[pick(KEYS, n)]),
        9 => scene.keys(&[pick(KEYS, n), pick(KEYS, n / 14)]),
        10 => scene.press(pick(KEYS, n)),
        11 => scene.enter_shown(vec![pick(KEYS, n)]),
        12 => scene.contact(Contact::SupervisorKey, n.is_multiple_of(2)),
        13 => scene.contact(Contact::CabinetDoor, !n.is_multiple_of(3)),
        14 => {
            scene.contact(Contact::NoSpinButton, true);
            scene.contact(Contact::NoSpinButton, false);
        }
        15 => {
            let kind = pick(&[DeviceKind::Terminal, DeviceKind::ResultLights], n);
            if n.is_multiple_of(3) {
                scene.lose(kind);
            } else {
                scene.greet(kind);
            }
        }
        16 => {
            scene.dark = (0..11)
                .filter(|bit| n & (1 << (bit % 8)) != 0 && n.is_multiple_of(3))
                .collect();
            scene.stuck = (0..11)
                .filter(|bit| n & (1 << (bit % 7)) != 0 && n.is_multiple_of(5))
                .collect();
            scene.lights_change();
        }
        17 => scene.lights = pick(&[Lights::Measure, Lights::Repeat, Lights::Mute, Lights::Measure], n),
        18 => scene.restart_while(|scene| {
            if n.is_multiple_of(2) {
                scene.ring();
            }
        }),
        19 => {
            let condition = pick(
                &[
                    Condition::DiskLow,
                    Condition::JournalFailed,
                    Condition::LinkOdd(DeviceKind::Terminal),
                ],
                n,
            );
            scene.feed(Input::Condition {
                condition,
                text: "text".into(),
                standing: n.is_multiple_of(2),
            });
        }
        20 => {
            scene.feed(pick(
                &[
                    Input::Stopping,
                    Input::ReadUnderCover,
                    Input::OperatorGone { connection: 1 },
                ],
                n,
            ));
        }
        21 => {
            // People put everything right.
            scene.contact(Contact::CabinetDoor, true);
            scene.greet(DeviceKind::Terminal);
            for act in [OperatorAct::LeaveTest, OperatorAct::AbandonOpening] {
                let _ = scene.act(act);
            }
            let _ = scene.act(OperatorAct::Unlock {
                procedure: "put right".into(),
            });
            let _ = scene.act(OperatorAct::OpenVouched);
        }
        _ => {
            let _ = scene.act(pick(&acts(), n));
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let wait = prop_oneof![Just(0), 1..400_u64, Just(1200), 3000..6500_u64, Just(31_000)];
    let step = (any::<u8>(), any::<u8>(), wait).prop_map(|(what, n, wait)| Step { what, n, wait });
    proptest::collection::vec(step, 1..60)
}

/// From the journal alone.
fn check_journal(events: &[Event]) {
    let mut newest = 0;
    let mut called = false;
    let mut open = false;
    for event in events {
        let body = event.body.as_ref().unwrap();
        match body {
            Body::TableOpened(_) | Body::TestModeLeft(_) => open = true,
            Body::TableClosed(_) | Body::TestModeEntered(_) => open = false,
            Body::SpinnerSelected(_) => {
                assert_eq!(event.round_id, newest + 1, "rounds are numbered without gaps");
                newest = event.round_id;
                called = false;
            }
            Body::SpinnerWagerPlaced(_) => {
                assert!(event.round_id == newest || event.round_id == newest + 1);
                newest = event.round_id;
            }
            Body::BetsClosed(_) => {
                assert!(!called, "a call after a call");
                called = true;
            }
            Body::SpinResulted(_) => {
                assert!(called, "a result without a call");
                called = false;
            }
            Body::SpinInvalidated(invalid) => {
                assert!(
                    called != invalid.before_call,
                    "a spin is barred after the call, or before it"
                );
                called = false;
            }
            Body::InvalidSpinOverruled(_) => called = true,
            Body::RoundAbandoned(_) => called = false,
            _ => {}
        }
        let of_play = matches!(
            body,
            Body::SpinnerSelected(_)
                | Body::SpinnerWagerPlaced(_)
                | Body::BetsClosed(_)
                | Body::SpinResulted(_)
                | Body::SpinInvalidated(_)
                | Body::SpinCorrected(_)
                | Body::SpinnerChanged(_)
        );
        assert!(open || !of_play, "play outside an open table: {body:?}");
    }
}

/// Nothing but what a supervisor does about it is accepted at a frozen table, and the lights stay.
fn freeze_holds(scene: &Scene, before: &(bool, Vec<u8>), events: &[Event]) {
    let (frozen, lit) = before;
    // Test has lights of its own; nothing of it counts.
    let over = events.iter().any(|event| {
        matches!(
            event.body,
            Some(Body::TableUnlocked(_) | Body::TableClosed(_) | Body::GatewayStarted(_) | Body::TestModeEntered(_))
        )
    });
    if *frozen && !over {
        assert_eq!(*lit, scene.table.indicators().lamps.lit);
        let played = events.iter().any(|event| {
            matches!(
                event.body,
                Some(Body::BetsClosed(_) | Body::SpinResulted(_) | Body::SpinnerSelected(_))
            )
        });
        assert!(!played, "{events:?}");
    }
}

fn whatever(config: tablegate::table::TableConfig, steps: &[Step]) {
    let mut scene = Scene::new(config);
    scene.open();
    for one in steps {
        let from = scene.events.len();
        let frozen = scene
            .state()
            .locks
            .iter()
            .any(|lock| lock.kind() == tablegate::table::event::TableLockedKind::Freeze);
        let before = (frozen && !scene.phase().is_empty(), scene.table.indicators().lamps.lit);
        step(&mut scene, *one);
        freeze_holds(&scene, &before, &scene.events[from..]);
    }
    check_journal(&scene.events);
    scene.recover();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn whatever_comes_in_at_dice(steps in steps()) {
        whatever(dice(), &steps);
    }

    #[test]
    fn whatever_comes_in_at_coins(steps in steps()) {
        whatever(coins(), &steps);
    }
}
