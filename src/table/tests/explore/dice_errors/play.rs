//! Errors of play: what is lit, what is a result, what is accepted.

use super::{entered, entered_mut, is_bell, online, phase, phase_mut, without_locks};
use crate::table::dice::phase::{After, Phase, Proof, Ready};
use crate::table::event::{Body, ResultEntered};
use crate::table::game::Play;
use crate::table::input::{DeviceKind, Input, OperatorAct};
use crate::table::mode::{Below, Mode};
use crate::table::seen::Authority;
use crate::table::tests::explore::planted::{Error, NONE, as_if, with_bodies};

pub const LAMPS: &[Error] = &[
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

pub const RESULTS: &[Error] = &[
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
        name: "what the dice reader saw is forgotten under the cover",
        says: "refused, and the reader saw these numbers",
        decide: |table, now, input| {
            as_if(table, now, input, |table| {
                if let Mode::Open(Play::Dice(Phase::Landed(landed))) = &mut table.state.mode
                    && let Some(held) = &mut landed.round.held
                {
                    held.read_faces.clear();
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

pub const ACCEPTED: &[Error] = &[
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
