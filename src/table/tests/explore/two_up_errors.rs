//! Errors planted in two-up tables, by what they break.

use super::planted::{self, Error, NONE, as_if, with_bodies, without};
use super::two_up;
use crate::table::Table;
use crate::table::event::{Body, SpinResulted};
use crate::table::game::Play;
use crate::table::input::{Contact, Input, Key, OperatorAct, Outcome, TwoUpKey};
use crate::table::mode::{Below, Mode};
use crate::table::seen::Authority;
use crate::table::two_up::phase::{Course, Lock, Phase, Undo};

fn course(table: &Table) -> Option<&Course> {
    table.state.course()
}

fn course_mut(table: &mut Table) -> Option<&mut Course> {
    match &mut table.state.mode {
        Mode::Open(Play::TwoUp(course)) => Some(course),
        _ => None,
    }
}

fn is_bell(input: &Input) -> bool {
    matches!(input, Input::Contact(report) if report.contact == Contact::Bell)
}

fn is_entry(input: &Input) -> bool {
    matches!(input, Input::Entry { .. })
}

fn asks(input: &Input, act: &OperatorAct) -> bool {
    matches!(input, Input::Operator { act: asked, .. } if asked == act)
}

fn without_locks(table: &mut Table) {
    table.state.locks.clear();
}

/// A supervisor's key that nobody has turned.
fn with_authority(table: &mut Table, input: &Input) {
    if is_entry(input) {
        table.seen.key = Authority::Running {
            since: table.seen.latest,
        };
    }
}

const LIGHTS: &[Error] = &[
    Error {
        name: "a result that loses isn't shown",
        says: "other lights than the law's",
        decide: |table, now, input| {
            with_bodies(table.decide(now, input), |body| {
                if let Body::SpinResulted(resulted) = body
                    && resulted.tails > 0
                {
                    resulted.lights.clear();
                }
            })
        },
        ..NONE
    },
    Error {
        name: "a correction leaves a light that was wrong",
        says: "other lights than the law's",
        decide: |table, now, input| {
            with_bodies(table.decide(now, input), |body| {
                if let Body::SpinCorrected(corrected) = body {
                    corrected.lights[0] |= 1;
                }
            })
        },
        ..NONE
    },
    Error {
        name: "the lights go out when the game is decided",
        says: "lit are",
        indicators: |table| {
            let mut wished = table.indicators();
            if let Some(Phase::Select { .. } | Phase::Decide { .. }) = course(table).map(|course| &course.phase) {
                wished.lamps.lit.clear();
            }
            wished
        },
        ..NONE
    },
    Error {
        name: "a light stays on when the next game begins",
        says: "lit are",
        indicators: |table| {
            let mut wished = table.indicators();
            if course(table).is_some_and(|course| course.shown.outcome.is_none() && table.state.last_round > 1) {
                wished.lamps.lit = vec![1];
            }
            wished
        },
        ..NONE
    },
    Error {
        name: "the lights go out at a freeze",
        says: "lit are",
        indicators: |table| {
            let mut wished = table.indicators();
            if table.state.is_frozen() {
                wished.lamps.lit.clear();
            }
            wished
        },
        ..NONE
    },
    Error {
        name: "a light that fails has no card",
        says: "no card for",
        decide: |table, now, input| {
            without(table.decide(now, input), |body| {
                matches!(body, Body::ResultCardRequired(_))
            })
        },
        ..NONE
    },
    Error {
        name: "an invalid spin lights its result",
        says: "lit are",
        indicators: |table| {
            let mut wished = table.indicators();
            if course(table).is_some_and(|course| matches!(course.undo, Undo::Invalid { .. })) {
                wished.lamps.lit = vec![0x40];
            }
            wished
        },
        ..NONE
    },
];

const RESULTS: &[Error] = &[
    Error {
        name: "a spin has two results",
        says: "a result in Betting",
        decide: |table, now, input| {
            let betting = matches!(course(table).map(|course| &course.phase), Some(Phase::Betting(_)));
            with_bodies(table.decide(now, input), |body| {
                if let Body::EntryRejected(_) = body
                    && betting
                {
                    *body = Body::SpinResulted(SpinResulted::default());
                }
            })
        },
        ..NONE
    },
    Error {
        name: "a heads counts twice",
        says: "counted",
        decide: |table, now, input| {
            with_bodies(table.decide(now, input), |body| {
                if let Body::SpinResulted(resulted) = body
                    && resulted.heads > 1
                {
                    resulted.heads += 1;
                }
            })
        },
        ..NONE
    },
    Error {
        name: "a dealer corrects without the supervisor's key",
        says: "corrected without a supervisor",
        decide: |table, now, input| {
            as_if(table, now, input, |table| {
                if course(table).is_some_and(|course| matches!(course.undo, Undo::Result { .. })) {
                    with_authority(table, input);
                }
            })
        },
        ..NONE
    },
    Error {
        name: "the spinner's wager loses by its own third",
        says: "the spinner's wager decided by no result",
        decide: |table, now, input| {
            with_bodies(table.decide(now, input), |body| {
                if let Body::SpinnerWagerDecided(decided) = body {
                    decided.won = false;
                }
            })
        },
        ..NONE
    },
    Error {
        name: "a result decides nothing",
        says: "a result decides wagers, and no event says so",
        decide: |table, now, input| {
            without(table.decide(now, input), |body| {
                matches!(body, Body::PlayersWagersDecided(_) | Body::SpinnerWagerDecided(_))
            })
        },
        ..NONE
    },
    Error {
        name: "a wager is changed after the call",
        says: "a wager changed when it was locked",
        decide: |table, now, input| {
            as_if(table, now, input, |table| {
                if let Some(Phase::Betting(game)) = course_mut(table).map(|course| &mut course.phase) {
                    game.lock = Lock::Free;
                }
            })
        },
        ..NONE
    },
    Error {
        name: "another result is recorded than was keyed",
        says: "was given",
        decide: |table, now, input| match input {
            Input::Entry {
                entry,
                pressed_at,
                stale,
                ..
            } if matches!(course(table).map(|course| &course.phase), Some(Phase::Closed { .. })) => {
                let shown = vec![Key::TwoUp(TwoUpKey::Tails)];
                let keyed = Input::Entry {
                    shown: shown.clone(),
                    entry: *entry,
                    pressed_at: *pressed_at,
                    stale: *stale,
                };
                as_if(table, now, &keyed, |table| {
                    for (pressed, key) in table.seen.entry.keys.iter_mut().zip(shown) {
                        pressed.key = key;
                    }
                })
            }
            _ => table.decide(now, input),
        },
        ..NONE
    },
];

const OVERRULING: &[Error] = &[Error {
    name: "a dealer overrules without the supervisor's key",
    says: "overruled without a supervisor",
    decide: |table, now, input| {
        as_if(table, now, input, |table| {
            if course(table).is_some_and(|course| matches!(course.undo, Undo::Invalid { .. })) {
                with_authority(table, input);
            }
        })
    },
    ..NONE
}];

const ACCEPTED: &[Error] = &[
    Error {
        name: "a frozen table takes the bell",
        says: "bets closed at a frozen table",
        decide: |table, now, input| {
            if is_bell(input) {
                as_if(table, now, input, without_locks)
            } else {
                table.decide(now, input)
            }
        },
        ..NONE
    },
    Error {
        name: "a frozen table takes a result",
        says: "a result at a frozen table",
        decide: |table, now, input| {
            let closed = matches!(course(table).map(|course| &course.phase), Some(Phase::Closed { .. }));
            if is_entry(input) && closed {
                as_if(table, now, input, without_locks)
            } else {
                table.decide(now, input)
            }
        },
        ..NONE
    },
    Error {
        name: "a frozen table takes a wager by command",
        says: "a spinner's wager at a frozen table",
        decide: |table, now, input| match input {
            Input::Operator {
                act: OperatorAct::Spinner { .. },
                ..
            } => as_if(table, now, input, without_locks),
            _ => table.decide(now, input),
        },
        ..NONE
    },
    Error {
        name: "a game begins though it is held back",
        says: "a game began though a lock stands",
        decide: |table, now, input| {
            if is_entry(input) && !table.state.is_frozen() {
                as_if(table, now, input, without_locks)
            } else {
                table.decide(now, input)
            }
        },
        ..NONE
    },
    Error {
        name: "keys in Test begin a game",
        says: "a spinner outside play",
        decide: |table, now, input| {
            as_if(table, now, input, |table| {
                if let (Mode::Test(Below::Open(play)), true) = (&table.state.mode, is_entry(input)) {
                    table.state.mode = Mode::Open(play.clone());
                }
            })
        },
        ..NONE
    },
    Error {
        name: "keys at a closed table begin a game",
        says: "a spinner outside play",
        decide: |table, now, input| {
            as_if(table, now, input, |table| {
                if let (Mode::Closed, true) = (&table.state.mode, is_entry(input)) {
                    table.state.mode = Mode::Open(Play::TwoUp(Course::default()));
                }
            })
        },
        ..NONE
    },
];

/// The checkpoint of a table whose course is changed so.
macro_rules! checkpoint {
    ($name:literal, $change:expr) => {
        Error {
            name: $name,
            says: "the checkpoint gives another state",
            checkpoint: |table| {
                let mut other = table.clone();
                let change: fn(&mut Course) = $change;
                if let Some(course) = course_mut(&mut other) {
                    change(course);
                }
                other.checkpoint()
            },
            ..NONE
        }
    };
}

const RECOVERY: &[Error] = &[
    checkpoint!("a checkpoint forgets lost dice", |course| course.missing = 0),
    checkpoint!("a checkpoint forgets what may be taken back", |course| course.undo =
        Undo::Nothing),
    checkpoint!("a checkpoint forgets cards", |course| course.shown.cards.clear()),
    checkpoint!("a checkpoint forgets invalid spins", |course| {
        if let Phase::Betting(game) = &mut course.phase {
            game.tally.run = 0;
        }
    }),
    Error {
        name: "the fold forgets who spins after a take-over",
        says: "another state",
        apply: |table, event| {
            table.apply(event);
            let seen = table.seen.entry.number != 0;
            if let (Some(Body::SpinnerChanged(_)), Some(course), true) = (&event.body, course_mut(table), seen) {
                course.keeps_old_set = None;
                course.missing = 3;
            }
        },
        ..NONE
    },
    Error {
        name: "the numbers of rounds begin anew at a start",
        says: "a round has not the next number",
        apply: |table, event| {
            table.apply(event);
            if let Some(Body::GatewayStarted(_)) = event.body {
                table.state.last_round = 0;
            }
        },
        ..NONE
    },
];

/// Refuses this act of a person.
macro_rules! refuses {
    ($name:literal, $says:literal, $act:pat) => {
        Error {
            name: $name,
            says: $says,
            decide: |table, now, input| {
                let decision = table.decide(now, input);
                match input {
                    Input::Operator { act: $act, .. } => without(decision, |_| true),
                    _ => decision,
                }
            },
            ..NONE
        }
    };
}

const ENDS: &[Error] = &[
    Error {
        name: "the bell is swallowed",
        says: "the dealer alone",
        decide: |table, now, input| {
            let decision = table.decide(now, input);
            if is_bell(input) {
                without(decision, |_| true)
            } else {
                decision
            }
        },
        ..NONE
    },
    Error {
        name: "a third of the spinner's side doesn't end the game",
        says: "",
        decide: |table, now, input| {
            let decision = table.decide(now, input);
            let third = decision
                .facts
                .iter()
                .any(|fact| matches!(&fact.body, Body::SpinResulted(resulted) if resulted.heads == 3));
            if third { without(decision, |_| true) } else { decision }
        },
        ..NONE
    },
    refuses!(
        "nobody can call for a dead terminal",
        "with Some(Terminal) dead",
        OperatorAct::NoMoreBets
    ),
    refuses!(
        "nobody can enter a result for a dead terminal",
        "with Some(Terminal) dead",
        OperatorAct::Spin { .. }
    ),
    refuses!(
        "a spinner by command can't wager without the terminal",
        "with Some(Terminal) dead",
        OperatorAct::Continues { .. }
    ),
    Error {
        name: "a frozen game is frozen for ever",
        says: "no end of the round that the people reach",
        decide: |table, now, input| {
            let decision = table.decide(now, input);
            let thaws = asks(input, &OperatorAct::Resume)
                || matches!(
                    input,
                    Input::Operator {
                        act: OperatorAct::Unlock { .. },
                        ..
                    }
                );
            if thaws { without(decision, |_| true) } else { decision }
        },
        ..NONE
    },
];

const BONUS: &[Error] = &[
    Error {
        name: "a run-out is nobody's",
        says: "players' wagers decided by no result",
        decide: |table, now, input| {
            with_bodies(table.decide(now, input), |body| {
                if let Body::PlayersWagersDecided(decided) = body
                    && decided.run_out
                {
                    decided.outcome = Outcome::Odds.to_event() as i32;
                }
            })
        },
        ..NONE
    },
    checkpoint!("a checkpoint forgets what lies in the bonus area", |course| {
        if let Phase::Select { run_out } = &mut course.phase {
            *run_out = None;
        }
    }),
];

#[test]
fn wrong_lights_are_found() {
    planted::are_found(&two_up::Dice, LIGHTS);
}

#[test]
fn wrong_results_are_found() {
    planted::are_found(&two_up::Dice, RESULTS);
    planted::are_found(&two_up::Dice, OVERRULING);
    planted::are_found(&two_up::Coins, &RESULTS[..3]);
    planted::are_found(&two_up::Coins, BONUS);
}

#[test]
fn what_must_not_be_accepted_is_found() {
    planted::are_found(&two_up::Dice, ACCEPTED);
}

#[test]
fn what_is_not_recovered_is_found() {
    planted::are_found(&two_up::Dice, RECOVERY);
}

#[test]
fn games_without_an_end_are_found() {
    planted::are_found(&two_up::Dice, ENDS);
}
