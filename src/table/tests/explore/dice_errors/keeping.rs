//! Errors of what lasts: what a journal gives back, how rounds end, what a decision may be.

use super::{asks, entered, is_bell, online, phase, phase_mut};
use crate::table::Table;
use crate::table::dice::phase::Phase;
use crate::table::event::{AlertRaised, Body, Event, Fact, TableLockedReason};
use crate::table::input::{DeviceKind, Input, OperatorAct};
use crate::table::tests::explore::planted::{Error, NONE, as_if, with_bodies, without};
use std::time::Duration;

fn forgets_a_hold(table: &mut Table, event: &Event) {
    table.apply(event);
    if let Some(Body::RoundHeld(_)) = event.body
        && let Some(round) = phase_mut(table).and_then(Phase::round_mut)
    {
        round.held = None;
    }
}

/// Folding the journal into a new table gives another count: there nothing was seen.
fn folds_what_was_seen(table: &mut Table, event: &Event) {
    table.apply(event);
    let seen = table.seen.tumbler.count();
    if let Some(Body::BetsOpened(_)) = event.body
        && let Some(round) = phase_mut(table).and_then(Phase::round_mut)
    {
        round.counters = seen;
    }
}

pub const RECOVERY: &[Error] = &[
    Error {
        name: "a checkpoint forgets the holds that were ended",
        says: "the checkpoint gives another state",
        checkpoint: |table| {
            let mut other = table.clone();
            if let Some(round) = phase_mut(&mut other).and_then(Phase::round_mut) {
                round.resumed.clear();
            }
            other.checkpoint()
        },
        ..NONE
    },
    Error {
        name: "a checkpoint forgets that a void may be withdrawn",
        says: "the checkpoint gives another state",
        checkpoint: |table| {
            let mut other = table.clone();
            if let Some(Phase::Ready(ready)) = phase_mut(&mut other) {
                ready.after = std::mem::take(&mut ready.after).final_form();
            }
            other.checkpoint()
        },
        ..NONE
    },
    Error {
        name: "a checkpoint forgets lamps that failed",
        says: "the checkpoint gives another state",
        checkpoint: |table| {
            let mut other = table.clone();
            other.state.failed_lamps.clear();
            other.checkpoint()
        },
        ..NONE
    },
    Error {
        name: "something is known that no event has told",
        says: "its tail give another state",
        note: |table, seen| {
            if !seen.entry.keys.is_empty() {
                table.state.board_failed = true;
            }
            table.note(seen);
        },
        ..NONE
    },
    Error {
        name: "the fold looks at what was only seen",
        says: "its tail give another state",
        apply: folds_what_was_seen,
        ..NONE
    },
    Error {
        name: "the fold forgets that a round is held",
        says: "a held round is held",
        apply: forgets_a_hold,
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

pub const ENDS: &[Error] = &[
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
        name: "a round held for an early uncover can only be voided",
        says: "no end of the round that the people reach",
        decide: |table, now, input| {
            let decision = table.decide(now, input);
            if asks(input, &OperatorAct::Resume) {
                without(decision, |_| true)
            } else {
                decision
            }
        },
        ..NONE
    },
    Error {
        name: "no entry stands in for a dead tumbler",
        says: "with Some(Tumbler) dead",
        decide: |table, now, input| match input {
            Input::Entry { .. } => as_if(table, now, input, |table| online(table, DeviceKind::Tumbler, true)),
            _ => table.decide(now, input),
        },
        ..NONE
    },
    Error {
        name: "lamps that are dead are waited for without end",
        says: "with Some(LayoutLamps) dead",
        decide: |table, now, input| {
            without(
                table.decide(now, input),
                |body| matches!(body, Body::TableLocked(locked) if locked.reason() == TableLockedReason::Lamp),
            )
        },
        deadline: |table| {
            let away = !table.state.is_online(DeviceKind::LayoutLamps);
            table.deadline().filter(|_| entered(table).is_none() || !away)
        },
        ..NONE
    },
    Error {
        name: "nobody can enter a result for a dead terminal",
        says: "with Some(Terminal) dead",
        decide: |table, now, input| {
            let decision = table.decide(now, input);
            match input {
                Input::Operator {
                    act: OperatorAct::EnterResult { .. },
                    ..
                } => without(decision, |_| true),
                _ => decision,
            }
        },
        ..NONE
    },
    Error {
        name: "the dealer's settlement is always too early",
        says: "the dealer alone",
        decide: |table, now, input| {
            let decision = table.decide(now, input);
            match input {
                Input::Entry { .. } => without(decision, |body| matches!(body, Body::RoundSettled(_))),
                _ => decision,
            }
        },
        ..NONE
    },
];

pub const LIMITS: &[Error] = &[
    Error {
        name: "stale keys after the entry are a panic",
        says: "panicked: no entry runs",
        decide: |table, now, input| {
            let stale = matches!(input, Input::Key { stale: true, .. });
            assert!(!stale || entered(table).is_none(), "no entry runs");
            table.decide(now, input)
        },
        ..NONE
    },
    Error {
        name: "the fold panics at a void",
        says: "panicked: void",
        apply: |table, event| {
            assert!(!matches!(event.body, Some(Body::RoundVoided(_))), "void");
            table.apply(event);
        },
        ..NONE
    },
    Error {
        name: "a void is told in too many facts",
        says: "facts in one decision",
        decide: |table, now, input| {
            let mut decision = table.decide(now, input);
            if decision
                .facts
                .iter()
                .any(|fact| matches!(fact.body, Body::RoundVoided(_)))
            {
                let alert = AlertRaised::default();
                let fact = Fact {
                    body: Body::AlertRaised(alert),
                    actor: None,
                    device: None,
                    rules: Vec::new(),
                    round_id: 0,
                };
                decision.facts.extend(vec![fact; 16]);
            }
            decision
        },
        ..NONE
    },
    Error {
        name: "a deadline is in the past",
        says: "a deadline in the past",
        deadline: |table| match phase(table) {
            Some(Phase::Landed(_)) => Some(table.seen.latest - Duration::from_millis(1)),
            _ => table.deadline(),
        },
        ..NONE
    },
    Error {
        name: "a deadline fires for ever",
        says: "fires for ever",
        deadline: |table| match phase(table) {
            Some(Phase::Closed(_)) => Some(table.seen.latest),
            _ => table.deadline(),
        },
        ..NONE
    },
    Error {
        name: "an event is too long for the floor",
        says: "an event of",
        decide: |table, now, input| {
            with_bodies(table.decide(now, input), |body| {
                if let Body::RoundHeld(held) = body {
                    held.text = "x".repeat(9_000);
                }
            })
        },
        ..NONE
    },
    Error {
        name: "a fact cites a rule that doesn't exist",
        says: "which the concordance doesn't know",
        decide: |table, now, input| {
            let mut decision = table.decide(now, input);
            for fact in &mut decision.facts {
                if let Body::RoundResumed(_) = fact.body {
                    fact.rules = vec!["r99.1".into()];
                }
            }
            decision
        },
        ..NONE
    },
    Error {
        name: "the tumbler is started and nothing is recorded of it",
        says: "what is recorded is another",
        decide: |table, now, input| without(table.decide(now, input), |body| matches!(body, Body::TumblerStarted(_))),
        ..NONE
    },
    Error {
        name: "a person is given no answer",
        says: "answered with None",
        decide: |table, now, input| {
            let mut decision = table.decide(now, input);
            if asks(input, &OperatorAct::Settle) {
                decision.answer = None;
            }
            decision
        },
        ..NONE
    },
];
