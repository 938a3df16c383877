//! What can be looked at: the retained state, and what the table waits for. PURE. Readers decide nothing.

use crate::table::event::{self, DeviceRef, DeviceState, Lock, RoundHeldCause, TableLockedKind, TableState};
use crate::table::input::{Cover, DeviceKind};
use crate::table::mode::{Below, Mode};
use crate::table::seen::Authority;
use crate::table::state::{self, State};
use crate::table::tai_sai::due::{self, Look, NEEDED};
use crate::table::tai_sai::phase::{After, Entered, Phase};
use crate::table::tai_sai::{held, lamps, play, settle};
use serde::{Deserialize, Serialize};

/// What the table waits for, and what can be done about it, in words for people and scripts.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Situation {
    /// What happened and what to do, for a held round.
    pub held_text: Option<String>,
    /// Bets are closed.
    pub bets_closed: bool,
    /// "on", "off", "unknown".
    pub cover: String,
    /// "waiting", "lit", "fault_declared", "unproven"; `None` before the entry.
    pub lamps: Option<String>,
    /// The lamps' device measures them; `None` while it is away.
    #[serde(default)]
    pub lamps_read_back: Option<bool>,
    /// Locks that stand, each with what to do.
    pub locks: Vec<LockLine>,
    /// Alerts that stand.
    pub alerts: Vec<AlertLine>,
    /// What can be done now.
    pub possible: Vec<Possible>,
    /// What happens by itself, and when.
    pub deadlines: Vec<DeadlineLine>,
}

/// A lock.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LockLine {
    /// "lamp", "seal" ...
    pub reason: String,
    /// "hold_next" or "freeze".
    pub kind: String,
    /// What happened and what to do.
    pub text: String,
}

/// An alert.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AlertLine {
    /// Its name.
    pub alert: String,
    /// What it says.
    pub text: String,
    /// Somebody has seen it.
    pub acknowledged: bool,
}

/// An act that is possible now.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Possible {
    /// The command after `tablegate` ("round settle"); empty for what is done at the table.
    pub command: String,
    /// One sentence.
    pub text: String,
}

/// Something that time brings.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DeadlineLine {
    /// What happens.
    pub what: String,
    /// When, in milliseconds since this run began.
    pub at_uptime_ms: u64,
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

/// What the table waits for.
pub(crate) fn situation(look: &Look<'_>) -> Situation {
    let state = look.state;
    let phase = state.phase();
    let cover = match look.seen.tumbler.cover() {
        Cover::On => "on",
        Cover::Off => "off",
        Cover::Unknown => "unknown",
    };
    let (bets_closed, lamps) = match phase {
        Some(Phase::Ready(_) | Phase::Tumbling(_) | Phase::Betting(_)) | None => (false, None),
        Some(Phase::Closed(_) | Phase::Landed(_)) => (true, None),
        Some(Phase::Entered(entered)) => (true, Some(proof(look, entered).to_string())),
    };
    Situation {
        held_text: phase
            .and_then(Phase::held)
            .map(|held| held::text(held.cause).to_string()),
        bets_closed,
        cover: cover.to_string(),
        lamps,
        lamps_read_back: state
            .is_online(DeviceKind::LayoutLamps)
            .then(|| look.seen.lamps.report.as_ref().is_some_and(|report| report.measured)),
        locks: state.locks.iter().map(lock_line).collect(),
        alerts: state
            .alerts
            .iter()
            .map(|(name, alert)| AlertLine {
                alert: name.clone(),
                text: alert.text.clone(),
                acknowledged: alert.acknowledged,
            })
            .collect(),
        possible: possible(look)
            .into_iter()
            .map(|(command, text)| Possible {
                command: command.to_string(),
                text: text.to_string(),
            })
            .collect(),
        deadlines: deadlines(look),
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

fn lock_line(lock: &state::Lock) -> LockLine {
    let name = lock.reason.as_str_name();
    let kind = match lock.kind {
        TableLockedKind::Freeze => "freeze",
        TableLockedKind::HoldNext | TableLockedKind::Unspecified => "hold_next",
    };
    LockLine {
        reason: name
            .strip_prefix("TABLE_LOCKED_REASON_")
            .unwrap_or(name)
            .to_ascii_lowercase(),
        kind: kind.to_string(),
        text: lock.text.clone(),
    }
}

fn deadlines(look: &Look<'_>) -> Vec<DeadlineLine> {
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
            Some(DeadlineLine {
                what: what.to_string(),
                at_uptime_ms: at?.as_micros() / 1000,
            })
        })
        .collect()
}

/// A command, or none for what is done at the table, and one sentence.
type Act = (&'static str, &'static str);

const SETTLE: Act = (
    "round settle",
    "Settle the round: losing wagers collected, winning ones paid.",
);
const AMEND: Act = ("round amend", "Amend the result: the wrong numbers were entered.");
const VOID: Act = ("round void", "Void the round: nobody wins or loses.");
const RESULT: Act = (
    "round result",
    "Enter the result because the terminal can't; give the reason.",
);
const RESUME: Act = ("round resume", "Let the round go on.");
const CLOSE: Act = ("close", "Close the table.");
const INCIDENT: Act = ("round incident", "Record an incident.");

/// What can be done now: nobody is ever left without a lawful next act.
fn possible(look: &Look<'_>) -> Vec<Act> {
    let state = look.state;
    let mut acts = match &state.mode {
        Mode::Closed => vec![("open", "Open the table: the opening checks.")],
        Mode::Opening(_) => vec![("open", "Go on with the opening checks.")],
        Mode::Test(_) => vec![("", "Leave test mode: nothing counts until then.")],
        Mode::Open(phase) => in_play(look, phase),
    };
    if !state.locks.is_empty() {
        acts.push(("unlock", "End the locks: rectified, or what is done instead."));
    }
    acts.push(INCIDENT);
    acts
}

fn in_play(look: &Look<'_>, phase: &Phase) -> Vec<Act> {
    if let Some(held) = phase.held() {
        let mut acts = vec![VOID];
        match held.cause {
            RoundHeldCause::TumblerShort => acts.push(("", "Put the cover on and spin the dice further.")),
            RoundHeldCause::DiceDiffer => {
                acts.push(("round resume", "Confirm the entry that the dice reader contradicts."));
                acts.push(("", "Press the numbers of the dice again, then ENTER."));
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
        return vec![("round resume", "Let the frozen table go on."), VOID];
    }
    match phase {
        Phase::Ready(ready) => {
            let mut acts = vec![("", "Put the cover on and spin the dice."), CLOSE];
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
            vec![("", "Spin the dice further: at least three spins."), VOID, CLOSE]
        }
        Phase::Tumbling(_) => vec![
            ("", "Wait for the rest, or ring the bell to open and close bets."),
            VOID,
            CLOSE,
        ],
        Phase::Betting(_) => vec![("", "Call \"no more bets\" and ring the bell."), VOID, CLOSE, RESULT],
        Phase::Closed(_) => vec![("", "Take the cover off."), VOID, RESULT],
        Phase::Landed(_) => vec![
            ("", "Call the dice, press the three numbers, then ENTER."),
            VOID,
            RESULT,
        ],
        Phase::Entered(_) => vec![SETTLE, AMEND, VOID],
    }
}
