//! Errors planted in dice tables, by what they break.

use super::planted::{Error, NONE, as_if, with_bodies, without};
use super::{dice, planted};
use crate::rules::tai_sai;
use crate::table::event::{AlertRaised, Body, Event, Fact, ResultEntered, TableLockedReason};
use crate::table::game::Kit;
use crate::table::game::Play;
use crate::table::input::{Contact, DeviceKind, Input, OperatorAct};
use crate::table::mode::{Below, Mode};
use crate::table::seen::Authority;
use crate::table::tai_sai::game::DiceGame;
use crate::table::tai_sai::phase::{After, Entered, Phase, Proof, Ready};
use crate::table::{Decision, HousePolicy, Table};
use crate::time::Uptime;
use std::time::Duration;

fn phase(table: &Table) -> Option<&Phase> {
    table.state.phase()
}

fn phase_mut(table: &mut Table) -> Option<&mut Phase> {
    match &mut table.state.mode {
        Mode::Open(Play::Dice(phase)) => Some(phase),
        _ => None,
    }
}

fn entered(table: &Table) -> Option<&Entered> {
    match phase(table) {
        Some(Phase::Entered(entered)) => Some(entered),
        _ => None,
    }
}

fn entered_mut(table: &mut Table) -> Option<&mut Entered> {
    match phase_mut(table) {
        Some(Phase::Entered(entered)) => Some(entered),
        _ => None,
    }
}

fn online(table: &mut Table, kind: DeviceKind, online: bool) {
    table
        .state
        .devices
        .entry(kind)
        .and_modify(|known| known.online = online);
}

fn is_bell(input: &Input) -> bool {
    matches!(input, Input::Contact(report) if report.contact == Contact::Bell)
}

fn asks(input: &Input, act: &OperatorAct) -> bool {
    matches!(input, Input::Operator { act: asked, .. } if asked == act)
}

const LAMPS: &[Error] = &[
    Error {
        name: "a lamp is wrong after an amendment",
        says: "lit are",
        indicators: |table| {
            let mut wished = table.indicators();
            if entered(table).is_some_and(|entered| entered.pressed.is_empty()) {
                wished.lamps.lit[0] ^= 1;
            }
            wished
        },
        ..NONE
    },
    Error {
        name: "the lamps stay lit after the cover has settled the round",
        says: "lit are",
        indicators: |table| {
            let mut wished = table.indicators();
            if let Some(Phase::Ready(Ready {
                after: After::Provisional(entered),
                ..
            })) = phase(table)
            {
                wished.lamps.lit.clone_from(&entered.lit);
            }
            wished
        },
        ..NONE
    },
    Error {
        name: "a triple lights no total",
        says: "other areas than win",
        decide: |table, now, input| {
            with_bodies(table.decide(now, input), |body| {
                if let Body::ResultEntered(entered) = body
                    && entered.faces == [4, 4, 4]
                {
                    entered.areas.retain(|area| !area.id.starts_with("total"));
                }
            })
        },
        ..NONE
    },
    Error {
        name: "a picture has a lamp too many",
        says: "other lamps than win",
        decide: |table, now, input| {
            with_bodies(table.decide(now, input), |body| {
                if let Body::ResultAmended(amended) = body {
                    amended.lit.push(0x80);
                }
            })
        },
        ..NONE
    },
    Error {
        name: "the lamps go out at a freeze",
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
        name: "the lamps come on before the entry",
        says: "lit are",
        indicators: |table| {
            let mut wished = table.indicators();
            if let Some(Phase::Landed(_)) = phase(table) {
                wished.lamps.lit = vec![1];
            }
            wished
        },
        ..NONE
    },
    Error {
        name: "a reopened round stays dark",
        says: "lit are",
        indicators: |table| {
            let mut wished = table.indicators();
            if entered(table).is_some_and(|entered| entered.reopened) {
                wished.lamps.lit.clear();
            }
            wished
        },
        ..NONE
    },
];

const RESULTS: &[Error] = &[
    Error {
        name: "a second entry is a second result",
        says: "a second result in a round",
        decide: |table, now, input| {
            with_bodies(table.decide(now, input), |body| {
                if let Body::EntryRejected(rejected) = body
                    && rejected.code == 5
                {
                    *body = Body::ResultEntered(ResultEntered::default());
                }
            })
        },
        ..NONE
    },
    Error {
        name: "a dealer amends without the supervisor's key",
        says: "amended without a supervisor",
        decide: |table, now, input| {
            as_if(table, now, input, |table| {
                if let Input::Entry { shown, .. } = input
                    && shown.len() == 3
                {
                    table.seen.key = Authority::Running { since: now };
                }
            })
        },
        ..NONE
    },
    Error {
        name: "other faces are recorded than were pressed",
        says: "were given",
        decide: |table, now, input| {
            with_bodies(table.decide(now, input), |body| {
                if let Body::ResultEntered(entered) = body {
                    entered.faces = vec![1, 2, 3];
                }
            })
        },
        ..NONE
    },
    Error {
        name: "an entry under the cover stands for the uncover",
        says: "an uncover that the tumbler would have told",
        decide: |table, now, input| {
            as_if(table, now, input, |table| {
                if let Input::Entry { .. } = input {
                    online(table, DeviceKind::Tumbler, false);
                }
            })
        },
        ..NONE
    },
    Error {
        name: "an amendment forgets what it amends",
        says: "amended from another result",
        decide: |table, now, input| {
            with_bodies(table.decide(now, input), |body| {
                if let Body::ResultAmended(amended) = body {
                    amended.from_faces.clear();
                }
            })
        },
        ..NONE
    },
    Error {
        name: "a round is settled before its lamps are known",
        says: "settled before the lamps are known",
        decide: |table, now, input| {
            as_if(table, now, input, |table| {
                if let Some(entered) = entered_mut(table) {
                    entered.proof = Proof::Lit;
                }
            })
        },
        ..NONE
    },
];

fn without_locks(table: &mut Table) {
    table.state.locks.clear();
}

const ACCEPTED: &[Error] = &[
    Error {
        name: "a frozen table takes an entry",
        says: "a result at a frozen table",
        decide: |table, now, input| match input {
            Input::Entry { .. } => as_if(table, now, input, without_locks),
            _ => table.decide(now, input),
        },
        ..NONE
    },
    Error {
        name: "a frozen table takes the bell",
        says: "bets closed at a frozen table",
        decide: |table, now, input| {
            let in_bets = matches!(phase(table), Some(Phase::Betting(_)));
            if in_bets && is_bell(input) {
                as_if(table, now, input, without_locks)
            } else {
                table.decide(now, input)
            }
        },
        ..NONE
    },
    Error {
        name: "a frozen table takes an amendment",
        says: "an amendment at a frozen table",
        decide: |table, now, input| match input {
            Input::Operator {
                act: OperatorAct::Amend { .. },
                ..
            } => as_if(table, now, input, without_locks),
            _ => table.decide(now, input),
        },
        ..NONE
    },
    Error {
        name: "bets open though the next round is held back",
        says: "bets opened though a lock stands",
        decide: |table, now, input| match (input, phase(table)) {
            (Input::Deadline, Some(Phase::Tumbling(_))) => as_if(table, now, input, without_locks),
            _ => table.decide(now, input),
        },
        deadline: |table| {
            let mut open = table.clone();
            without_locks(&mut open);
            open.deadline()
        },
        ..NONE
    },
    Error {
        name: "a spin in Test begins a round",
        says: "a round began outside play",
        decide: |table, now, input| {
            as_if(table, now, input, |table| {
                if let (Mode::Test(Below::Open(play)), Input::Tumbler { .. }) = (&table.state.mode, input) {
                    table.state.mode = Mode::Open(play.clone());
                }
            })
        },
        ..NONE
    },
    Error {
        name: "a spin at a closed table begins a round",
        says: "a round began outside play",
        decide: |table, now, input| {
            as_if(table, now, input, |table| {
                if let (Mode::Closed, Input::Tumbler { .. }) = (&table.state.mode, input) {
                    let ready = Ready {
                        base: table.seen.tumbler.count(),
                        ..Ready::default()
                    };
                    table.state.mode = Mode::Open(Play::Dice(Phase::Ready(ready)));
                }
            })
        },
        ..NONE
    },
    Error {
        name: "a held round goes on by the bell",
        says: "a held round is held",
        decide: |table, now, input| {
            as_if(table, now, input, |table| {
                if let Some(round) = phase_mut(table).and_then(Phase::round_mut).filter(|_| is_bell(input)) {
                    round.held = None;
                }
            })
        },
        ..NONE
    },
];

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

const RECOVERY: &[Error] = &[
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

const LIMITS: &[Error] = &[
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

/// The house does what it has not decided to do.
fn with_policy(table: &mut Table) {
    if let Kit::Dice(dice) = &mut table.kit
        && let DiceGame::SicBo { policy, .. } = &mut dice.game
    {
        *policy = HousePolicy {
            void: true,
            lamps: true,
            amend: true,
        };
    }
}

fn as_the_house_does(table: &Table, now: Uptime, input: &Input) -> Decision {
    as_if(table, now, input, with_policy)
}

/// What sic-bo's instruments are silent about.
const SILENT: &[Error] = &[
    Error {
        name: "a round is void though nobody has decided that it can be",
        says: "a void that neither law nor house has",
        decide: |table, now, input| match input {
            Input::Operator {
                act: OperatorAct::Void { .. },
                ..
            } => as_the_house_does(table, now, input),
            _ => table.decide(now, input),
        },
        ..NONE
    },
    Error {
        name: "a result is amended though nobody has decided that it can be",
        says: "an amendment that neither law nor house has",
        decide: |table, now, input| match input {
            Input::Operator {
                act: OperatorAct::Amend { .. },
                ..
            } => as_the_house_does(table, now, input),
            _ => table.decide(now, input),
        },
        ..NONE
    },
    Error {
        name: "a held round can neither go on nor be void",
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
        name: "a call says \"double\"",
        says: "another call",
        decide: |table, now, input| {
            with_bodies(table.decide(now, input), |body| {
                if let Body::ResultEntered(entered) = body {
                    entered.call = tai_sai::call([1, 1, 1]);
                }
            })
        },
        ..NONE
    },
    Error {
        name: "odds are shown that are in no approved table",
        says: "other areas than win",
        decide: |table, now, input| {
            with_bodies(table.decide(now, input), |body| {
                if let Body::ResultEntered(entered) = body {
                    entered.areas.iter_mut().for_each(|area| (area.pays, area.per) = (1, 1));
                }
            })
        },
        ..NONE
    },
];

/// An open tumbler, whose dice are spun in sight after the bell.
const IN_SIGHT: &[Error] = &[
    Error {
        name: "dice have landed that were not spun",
        says: "dice landed that were not spun",
        decide: |table, now, input| {
            as_if(table, now, input, |table| {
                if let Some(Phase::Closed(shut)) = phase_mut(table) {
                    shut.round.spins = 3;
                }
            })
        },
        deadline: |table| {
            let mut other = table.clone();
            if let Some(Phase::Closed(shut)) = phase_mut(&mut other) {
                shut.round.spins = 3;
            }
            other.deadline()
        },
        ..NONE
    },
    Error {
        name: "a checkpoint forgets from where spins in sight count",
        says: "the checkpoint gives another state",
        checkpoint: |table| {
            let mut other = table.clone();
            if let Some(Phase::Closed(shut)) = phase_mut(&mut other) {
                shut.open = None;
            }
            other.checkpoint()
        },
        ..NONE
    },
    Error {
        name: "no entry stands in for a dead open tumbler",
        says: "with Some(Tumbler) dead",
        decide: |table, now, input| match input {
            Input::Entry { .. } => as_if(table, now, input, |table| online(table, DeviceKind::Tumbler, true)),
            _ => table.decide(now, input),
        },
        ..NONE
    },
];

/// A dice cup: no device sees the throw.
const THROWN: &[Error] = &[
    Error {
        name: "an entry before the bell is a result",
        says: "a result in Betting",
        decide: |table, now, input| {
            let betting = matches!(phase(table), Some(Phase::Betting(_)));
            with_bodies(table.decide(now, input), |body| {
                if let Body::EntryRejected(_) = body
                    && betting
                {
                    *body = Body::ResultEntered(ResultEntered::default());
                }
            })
        },
        ..NONE
    },
    Error {
        name: "bets open though the next round is held back",
        says: "bets opened though a lock stands",
        decide: |table, now, input| match phase(table) {
            Some(Phase::Ready(_)) => as_if(table, now, input, without_locks),
            _ => table.decide(now, input),
        },
        ..NONE
    },
];

#[test]
fn errors_at_other_dice_tables_are_found() {
    planted::are_found(&dice::STYLE_B, THROWN);
    planted::are_found(&dice::COVERED, SILENT);
    planted::are_found(&dice::OPEN, IN_SIGHT);
}

#[test]
fn wrong_lamps_are_found() {
    planted::are_found(&dice::STYLE_A, LAMPS);
}

#[test]
fn wrong_results_are_found() {
    planted::are_found(&dice::STYLE_A, RESULTS);
}

#[test]
fn what_must_not_be_accepted_is_found() {
    planted::are_found(&dice::STYLE_A, ACCEPTED);
}

#[test]
fn what_is_not_recovered_is_found() {
    planted::are_found(&dice::STYLE_A, RECOVERY);
}

#[test]
fn rounds_without_an_end_are_found() {
    planted::are_found(&dice::STYLE_A, ENDS);
}

#[test]
fn broken_limits_are_found() {
    planted::are_found(&dice::STYLE_A, LIMITS);
}
