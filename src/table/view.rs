//! What can be looked at: the retained state, and the round as `round show` tells it. PURE. Readers decide nothing.

use crate::table::alert;
use crate::table::event::{self, DeviceRef, DeviceState, Lock, RoundHeldCause, TableLockedKind, TableState};
use crate::table::input::Cover;
use crate::table::locks;
use crate::table::mode::{Below, Mode};
use crate::table::seen::Authority;
use crate::table::state::State;
use crate::table::tai_sai::due::{self, Look, NEEDED};
use crate::table::tai_sai::phase::{After, Phase};
use crate::table::tai_sai::{held, lamps, play, settle};
use crate::time::Uptime;
use serde::Serialize;

/// The round as the table knows it, in words for people and scripts.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct RoundView {
    /// 0 outside a round.
    pub round_id: u64,
    /// "closed" (the table), "opening", "test"; in play "ready", "tumbling", "betting", "closed", "landed", "entered".
    pub phase: String,
    /// Why the round is held: "exposed_early"; `None`: it is not.
    pub held: Option<String>,
    /// What happened and what to do, for a held round.
    pub held_text: Option<String>,
    /// Spins counted in the tumble.
    pub spins: Option<u32>,
    /// The bell has rung: bets are closed.
    pub bets_closed: bool,
    /// "on", "off", "unknown".
    pub cover: &'static str,
    /// The entered faces, sorted.
    pub faces: Vec<u32>,
    /// The keys as pressed.
    pub pressed: Vec<u32>,
    /// The dealer's call.
    pub call: Option<String>,
    /// Ids of the areas that are commanded lit.
    pub lit: Vec<String>,
    /// "waiting", "lit", "fault_declared", "unproven"; `None` before the entry.
    pub lamps: Option<&'static str>,
    /// Settled by the cover: may be reopened until the next spin.
    pub settled_provisionally: bool,
    /// Locks that stand, each with what to do.
    pub locks: Vec<LockLine>,
    /// What can be done now.
    pub possible: Vec<Possible>,
    /// What happens by itself, and when.
    pub deadlines: Vec<DeadlineLine>,
}

/// A lock.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LockLine {
    /// "lamp", "seal" ...
    pub reason: String,
    /// "hold_next" or "freeze".
    pub kind: &'static str,
    /// What happened and what to do.
    pub text: String,
}

/// An act that is possible now.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Possible {
    /// "settle", "amend" ... as the command line names it; empty for what only the dealer's devices can do.
    pub act: &'static str,
    /// One sentence.
    pub text: &'static str,
}

/// Something that time brings.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DeadlineLine {
    /// What happens.
    pub what: &'static str,
    /// In how many milliseconds.
    pub in_ms: u64,
}

/// The retained state; the head is the gateway's to fill in.
pub(crate) fn table_state(state: &State) -> TableState {
    let phase = state.phase();
    let entered = match phase {
        Some(Phase::Entered(entered)) => Some(entered),
        Some(Phase::Ready(_) | Phase::Tumbling(_) | Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_)) | None => {
            None
        }
    };
    TableState {
        head: None,
        mode: mode(state) as i32,
        phase: phase.map(Phase::name).unwrap_or_default().into(),
        round_id: state.round_id(),
        locks: state
            .locks
            .iter()
            .map(|lock| Lock {
                kind: lock.kind as i32,
                reason: lock.reason as i32,
            })
            .collect(),
        lit: entered.map(|entered| entered.areas.clone()).unwrap_or_default(),
        alerts: state.alerts.keys().cloned().collect(),
        held: phase.and_then(Phase::held).map_or(0, |held| held.cause as i32),
        call: entered.map(|entered| entered.call.clone()).unwrap_or_default(),
        devices: devices(state),
        settled_provisionally: provisional(state),
    }
}

fn mode(state: &State) -> event::Mode {
    match state.mode {
        Mode::Closed => event::Mode::Closed,
        Mode::Opening(_) => event::Mode::Opening,
        Mode::Open(_) => event::Mode::Open,
        Mode::Test(_) => event::Mode::Test,
    }
}

fn provisional(state: &State) -> bool {
    let ready = match &state.mode {
        Mode::Open(Phase::Ready(ready)) | Mode::Test(Below::Ready(ready)) => ready,
        Mode::Open(_) | Mode::Closed | Mode::Opening(_) | Mode::Test(Below::Closed) => return false,
    };
    match ready.after {
        After::Provisional(_) => true,
        After::Nothing | After::Settled | After::Voided | After::Withdrawable { .. } | After::Abandoned => false,
    }
}

/// Every needed device, and others that were up.
fn devices(state: &State) -> Vec<DeviceState> {
    let known = |kind| state.devices.get(&kind);
    let needed = NEEDED.into_iter().map(|kind| (kind, known(kind), true));
    let others = state
        .devices
        .iter()
        .filter(|(kind, _)| !NEEDED.contains(kind))
        .map(|(kind, known)| (*kind, Some(known), false));
    needed
        .chain(others)
        .map(|(kind, known, needed)| DeviceState {
            device: Some(DeviceRef {
                kind: kind.to_event() as i32,
                serial_number: known.map(|known| known.serial_number.clone()).unwrap_or_default(),
            }),
            online: known.is_some_and(|known| known.online),
            needed,
        })
        .collect()
}

/// The round for a person.
pub(crate) fn round(look: &Look<'_>, now: Uptime) -> RoundView {
    let state = look.state;
    let phase = state.phase();
    let held = phase.and_then(Phase::held);
    let mut view = RoundView {
        round_id: state.round_id(),
        phase: match (&state.mode, phase) {
            (_, Some(phase)) => phase.name().into(),
            (Mode::Opening(_), None) => "opening".into(),
            (Mode::Test(_), None) => "test".into(),
            (Mode::Closed | Mode::Open(_), None) => "closed".into(),
        },
        held: held.map(|held| word(held.cause.as_str_name(), "ROUND_HELD_CAUSE_")),
        held_text: held.map(|held| held::text(held.cause).to_string()),
        cover: match look.seen.tumbler.cover() {
            Cover::On => "on",
            Cover::Off => "off",
            Cover::Unknown => "unknown",
        },
        settled_provisionally: provisional(state),
        locks: state
            .locks
            .iter()
            .map(|lock| LockLine {
                reason: word(lock.reason.as_str_name(), "TABLE_LOCKED_REASON_"),
                kind: if lock.kind == TableLockedKind::Freeze {
                    "freeze"
                } else {
                    "hold_next"
                },
                text: if lock.text.is_empty() {
                    locks::name(lock.reason).into()
                } else {
                    lock.text.clone()
                },
            })
            .collect(),
        possible: possible(look),
        deadlines: deadlines(look, now),
        ..RoundView::default()
    };
    match phase {
        Some(Phase::Ready(_)) | None => {}
        Some(Phase::Tumbling(_) | Phase::Betting(_)) => {
            view.spins = phase.and_then(Phase::round).map(|round| round.spins)
        }
        Some(Phase::Closed(_) | Phase::Landed(_)) => view.bets_closed = true,
        Some(Phase::Entered(entered)) => {
            view.bets_closed = true;
            view.faces = entered.faces.clone();
            view.pressed = entered.pressed.clone();
            view.call = Some(entered.call.clone());
            view.lit = entered.areas.iter().map(|area| area.id.clone()).collect();
            view.lamps = Some(if entered.fault_declared {
                "fault_declared"
            } else if lamps::prove_nothing(look, entered) {
                "unproven"
            } else if due::lamps_are_known(look) {
                "lit"
            } else {
                "waiting"
            });
        }
    }
    view
}

fn word(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_ascii_lowercase()
}

fn deadlines(look: &Look<'_>, now: Uptime) -> Vec<DeadlineLine> {
    let key = match look.seen.key {
        Authority::Running { since } => Some(since + due::AUTHORITY),
        Authority::Off | Authority::Spent { .. } => None,
    };
    let lines = [
        ("bets open", due::bets_open_at(look)),
        ("the uncovered dice are judged", due::cover_at(look)),
        ("the lamps are judged", lamps::judge_at(look)),
        ("the cover settles the round", settle::by_cover_at(look)),
        ("the supervisor key's authority ends", key),
    ];
    lines
        .into_iter()
        .filter_map(|(what, at)| {
            let in_ms = u64::try_from(at?.since(now).as_millis()).unwrap_or(u64::MAX);
            Some(DeadlineLine { what, in_ms })
        })
        .collect()
}

const SETTLE: Possible = can(
    "settle",
    "Settle the round: losing wagers collected, winning ones paid.",
);
const AMEND: Possible = can("amend", "Amend the result: the wrong numbers were entered.");
const VOID: Possible = can("void", "Void the round: nobody wins or loses.");
const RESULT: Possible = can(
    "result",
    "Enter the result because the terminal can't; give the reason.",
);
const RESUME: Possible = can("resume", "Let the round go on.");
const CLOSE: Possible = can("close", "Close the table.");
const INCIDENT: Possible = can("incident", "Record an incident.");

const fn can(act: &'static str, text: &'static str) -> Possible {
    Possible { act, text }
}

/// What can be done now: nobody is ever left without a lawful next act.
fn possible(look: &Look<'_>) -> Vec<Possible> {
    let state = look.state;
    let mut acts = match &state.mode {
        Mode::Closed => vec![
            can("open", "Open the table: the opening checks."),
            can("test", "Try the devices in test mode."),
        ],
        Mode::Opening(_) => vec![can("open", "Go on with the opening checks.")],
        Mode::Test(_) => vec![can("test", "Leave test mode.")],
        Mode::Open(phase) => in_play(look, phase),
    };
    if !state.locks.is_empty() {
        acts.push(can("unlock", "End the locks: rectified, or what is done instead."));
    }
    if state
        .alerts
        .iter()
        .any(|(name, alert)| !alert.acknowledged && *name == alert::Name::LateBell.as_str())
    {
        acts.push(can("", "Acknowledge the alert of the late bell."));
    }
    acts.push(INCIDENT);
    acts
}

fn in_play(look: &Look<'_>, phase: &Phase) -> Vec<Possible> {
    if let Some(held) = phase.held() {
        let mut acts = vec![VOID];
        match held.cause {
            RoundHeldCause::TumblerShort => acts.push(can("", "Put the cover on and spin the dice further.")),
            RoundHeldCause::DiceDiffer => {
                acts.push(can("resume", "Confirm the entry that the dice reader contradicts."));
                acts.push(can("", "Press the numbers of the dice again, then ENTER."));
            }
            RoundHeldCause::Unspecified
            | RoundHeldCause::ExposedEarly
            | RoundHeldCause::NotFlat
            | RoundHeldCause::TumblerFault
            | RoundHeldCause::NotActivated
            | RoundHeldCause::ActivityWhileAway
            | RoundHeldCause::CountersLost
            | RoundHeldCause::NoSpinAfterUncover => acts.push(RESUME),
        }
        return acts;
    }
    if look.state.is_frozen() {
        return vec![can("resume", "Let the frozen table go on."), VOID];
    }
    match phase {
        Phase::Ready(ready) => {
            let mut acts = vec![can("", "Put the cover on and spin the dice."), CLOSE];
            match ready.after {
                After::Provisional(_) => acts.push(can("reopen", "Take the settlement by the cover back.")),
                After::Withdrawable { .. } => acts.push(can("withdraw-void", "Withdraw the void: the round goes on.")),
                After::Nothing | After::Settled | After::Voided | After::Abandoned => {}
            }
            acts
        }
        Phase::Tumbling(tumbling) if tumbling.round.spins < play::SPINS_NEEDED => {
            vec![can("", "Spin the dice further: at least three spins."), VOID, CLOSE]
        }
        Phase::Tumbling(_) => vec![
            can("", "Wait for the rest, or ring the bell to open and close bets."),
            VOID,
            CLOSE,
        ],
        Phase::Betting(_) => vec![can("", "Call \"no more bets\" and ring the bell."), VOID, CLOSE, RESULT],
        Phase::Closed(_) => vec![can("", "Take the cover off."), VOID, RESULT],
        Phase::Landed(_) => vec![
            can("", "Call the dice, press the three numbers, then ENTER."),
            VOID,
            RESULT,
        ],
        Phase::Entered(_) => vec![SETTLE, AMEND, VOID],
    }
}
