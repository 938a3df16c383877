//! Errors that only some dice tables can have.

use super::{asks, online, phase, phase_mut, without_locks};
use crate::rules::tai_sai;
use crate::table::dice::game::DiceGame;
use crate::table::dice::phase::Phase;
use crate::table::event::{Body, ResultEntered};
use crate::table::game::Kit;
use crate::table::input::{DeviceKind, Input, OperatorAct};
use crate::table::tests::explore::planted::{Error, NONE, as_if, with_bodies, without};
use crate::table::{Decision, HousePolicy, Table};
use crate::time::Uptime;

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
pub const SILENT: &[Error] = &[
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
pub const IN_SIGHT: &[Error] = &[
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
pub const THROWN: &[Error] = &[
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
