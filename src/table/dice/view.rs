//! What a round of dice waits for, and what can be done about it, for people. PURE.

use crate::table::dice::game::{Course, Ground};
use crate::table::dice::phase::{After, Entered, Phase};
use crate::table::dice::{Look, due, held, lamps, play, settle};
use crate::table::due::is_next_round_held_back;
use crate::table::event::RoundHeldCause;
use crate::table::game::Family;
use crate::table::input::DeviceKind;
use crate::table::locks;
use crate::table::readout::Standing;
use crate::table::rejection;
use crate::table::view::{Act, CLOSE, InPlay, Shown};

impl Phase {
    /// As `TableState` shows it.
    pub(crate) fn shown(&self) -> Shown {
        let entered = match self {
            Phase::Entered(entered) => Some(entered),
            Phase::Ready(_) | Phase::Tumbling(_) | Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_) => None,
        };
        Shown {
            phase: self.name(),
            lit: entered.map(|entered| entered.areas.clone()).unwrap_or_default(),
            held: self.held().map_or(0, |held| held.cause as i32),
            call: entered.map(|entered| entered.call.clone()).unwrap_or_default(),
            settled_provisionally: match self {
                Phase::Ready(ready) => match ready.after {
                    After::Provisional(_) => true,
                    After::Nothing | After::Settled | After::Voided | After::Withdrawable { .. } | After::Abandoned => {
                        false
                    }
                },
                Phase::Tumbling(_) | Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_) | Phase::Entered(_) => {
                    false
                }
            },
        }
    }
}

/// What stands on the readout.
pub(crate) fn standing(look: &Look<'_>) -> Standing {
    match look.state.phase() {
        Some(Phase::Ready(_) | Phase::Tumbling(_)) => before_bets(look),
        Some(Phase::Entered(entered)) => Standing::Numbers(numbers(entered)),
        Some(Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_)) | None => Standing::Nothing,
    }
}

/// Why the next round doesn't start.
fn before_bets(look: &Look<'_>) -> Standing {
    let away = |kind: DeviceKind| look.game.needed().contains(&kind) && !look.state.is_online(kind);
    if away(DeviceKind::Tumbler) {
        Standing::Code(rejection::TUMBLER_AWAY)
    } else if away(DeviceKind::LayoutLamps) {
        Standing::Code(rejection::LAMPS_AWAY)
    } else {
        locks::standing(&look.state.locks)
    }
}

/// The three numbers that are lit.
fn numbers(entered: &Entered) -> String {
    let numbers = if entered.pressed.is_empty() {
        &entered.faces
    } else {
        &entered.pressed
    };
    numbers.iter().map(u32::to_string).collect()
}

/// What the round waits for.
pub(crate) fn in_play(look: &Look<'_>) -> InPlay {
    let Some(phase) = look.state.phase() else {
        return InPlay::default();
    };
    let (bets_closed, lamps) = match phase {
        Phase::Ready(_) | Phase::Tumbling(_) | Phase::Betting(_) => (false, None),
        Phase::Closed(_) | Phase::Landed(_) => (true, None),
        Phase::Entered(entered) => (true, Some(proof(look, entered))),
    };
    InPlay {
        held_text: phase.held().map(|held| held::text(held.cause).to_string()),
        bets_closed,
        lamps,
        possible: possible(look, phase),
        exactly: phase.held().filter(|held| !held.pressed.is_empty()).map(|held| {
            let numbers: Vec<String> = held.pressed.iter().map(u32::to_string).collect();
            let text = format!(
                "Confirm the entry {} that the dice reader contradicts.",
                numbers.join(" ")
            );
            (CONFIRM, text)
        }),
        deadlines: vec![
            ("bets open", due::bets_open_at(look)),
            ("the dice have landed", due::landed_at(look)),
            ("the uncovered dice are judged", due::cover_at(look)),
            ("the lamps are judged", lamps::judge_at(look)),
            ("the cover settles the round", settle::by_cover_at(look)),
        ],
        two_up: None,
    }
}

fn proof(look: &Look<'_>, entered: &Entered) -> &'static str {
    if entered.fault_declared {
        "fault_declared"
    } else if lamps::prove_nothing(look, entered) {
        "unproven"
    } else if due::lamps_are_known(look) {
        "lit"
    } else {
        "waiting"
    }
}

const SETTLE: Act = (
    "round settle",
    "Settle the round: losing wagers collected, winning ones paid.",
);
const AMEND: Act = ("round amend", "Amend the result: the wrong numbers were entered.");
const VOID: Act = ("round void", "Void the round: nobody wins or loses.");
/// The one void while no round runs.
const VOID_UNCOUNTED: Act = (
    "round void",
    "Void a tumble that failed before a spin was counted, by its reason: --reason a_not_activated or a_tumbler_fault.",
);
const RESULT: Act = (
    "round result",
    "Enter the result because the terminal can't; give the reason.",
);
const CONFIRM: Act = ("round resume", "Confirm the entry that the dice reader contradicts.");
const RESUME: Act = ("round resume", "Let the round go on.");

/// What is said instead of offering bets while a lock or a missing device holds the next round back.
const HELD_BACK: Act = (
    "",
    "The next round is held back: bets don't open, and the bell doesn't count, until that has ended.",
);
const AWAY: Act = (
    "",
    "A device that a round needs doesn't answer: check its cable and power.",
);

fn possible(look: &Look<'_>, phase: &Phase) -> Vec<Act> {
    let mut acts = lawful(look, phase);
    acts.retain(|act| match *act {
        VOID | VOID_UNCOUNTED => look.game.game.void() != Ground::None,
        AMEND => look.game.game.amend() != Ground::None,
        _ => true,
    });
    acts
}

/// What can be done, wherever the game has it.
fn lawful(look: &Look<'_>, phase: &Phase) -> Vec<Act> {
    if let Some(held) = phase.held() {
        return in_hold(look.game.game.void(), held.cause);
    }
    if look.state.is_frozen() {
        let mut acts = vec![("round resume", "Let the frozen table go on.")];
        acts.extend(match (phase, look.game.course()) {
            (Phase::Ready(_), Course::CoveredTumbler) => Some(VOID_UNCOUNTED),
            (Phase::Ready(_), Course::OpenTumbler | Course::DiceCup) => None,
            (
                Phase::Tumbling(_) | Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_) | Phase::Entered(_),
                Course::CoveredTumbler | Course::OpenTumbler | Course::DiceCup,
            ) => Some(VOID),
        });
        return acts;
    }
    let mut acts = in_order(look, phase);
    if look.game.needed().iter().any(|kind| !look.state.is_online(*kind)) {
        acts.push(AWAY);
    }
    acts
}

/// What can be done while nothing stops the round.
fn in_order(look: &Look<'_>, phase: &Phase) -> Vec<Act> {
    let is_held_back = is_next_round_held_back(look);
    let course = look.game.course();
    match phase {
        // Bets would be open if nothing held them back.
        Phase::Ready(_) if course.opens_at_once() => vec![HELD_BACK, CLOSE],
        Phase::Ready(ready) => {
            let spin = if is_held_back {
                "The next round is held back: spins that are made count, but bets don't open until that has ended."
            } else {
                "Put the cover on and spin the dice."
            };
            let mut acts = vec![("", spin), CLOSE];
            match ready.after {
                After::Provisional(_) => acts.push(("round reopen", "Take the settlement by the cover back.")),
                After::Withdrawable { .. } => {
                    acts.push(("round withdraw-void", "Withdraw the void: the round goes on."))
                }
                After::Nothing | After::Settled | After::Voided | After::Abandoned => {}
            }
            acts
        }
        Phase::Tumbling(tumbling) if tumbling.round.spins < play::SPINS_NEEDED => {
            let mut acts = vec![("", "Spin the dice further: at least three spins."), VOID, CLOSE];
            if is_held_back {
                acts.push(HELD_BACK);
            }
            acts
        }
        Phase::Tumbling(_) if is_held_back => vec![HELD_BACK, VOID, CLOSE],
        Phase::Tumbling(_) => vec![
            ("", "Wait for the rest, or ring the bell to open and close bets."),
            VOID,
            CLOSE,
        ],
        Phase::Betting(_) => vec![("", "Call \"no more bets\" and ring the bell."), VOID, CLOSE, RESULT],
        Phase::Closed(shut) => match course {
            Course::CoveredTumbler => vec![("", "Take the cover off."), VOID, RESULT],
            Course::OpenTumbler if shut.round.spins < play::SPINS_NEEDED => {
                vec![("", "Spin the dice: at least three spins."), VOID, RESULT]
            }
            Course::OpenTumbler => vec![("", "Wait until the dice lie still."), VOID, RESULT],
            Course::DiceCup => vec![
                ("round offer", "Record to which seat the dice are offered."),
                (
                    "",
                    "Have the dice thrown, call them, press the three numbers, then ENTER.",
                ),
                VOID,
                RESULT,
            ],
        },
        Phase::Landed(_) => vec![
            ("", "Call the dice, press the three numbers, then ENTER."),
            VOID,
            RESULT,
        ],
        Phase::Entered(_) => vec![SETTLE, AMEND, VOID],
    }
}

/// What ends a hold.
fn in_hold(void: Ground, cause: RoundHeldCause) -> Vec<Act> {
    let mut acts = vec![VOID];
    match cause {
        RoundHeldCause::TumblerShort => {
            acts.push(("", "Put the cover on and spin the dice further."));
            if void == Ground::None {
                acts.push(CLOSE);
            }
        }
        RoundHeldCause::DiceDiffer => {
            acts.push(CONFIRM);
            acts.push(("", "Press the numbers of the dice again, then ENTER."));
        }
        RoundHeldCause::Unspecified
        | RoundHeldCause::ExposedEarly
        | RoundHeldCause::NotFlat
        | RoundHeldCause::TumblerFault
        | RoundHeldCause::NotActivated
        | RoundHeldCause::ActivityWhileAway
        | RoundHeldCause::CountersLost
        | RoundHeldCause::NoSpinAfterUncover
        | RoundHeldCause::NoSpin => acts.push(RESUME),
    }
    acts
}
