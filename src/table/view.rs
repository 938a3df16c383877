//! What can be looked at: the retained state, and what the table waits for. PURE. Readers decide nothing.

use crate::table::device_test;
use crate::table::due::{self, Look};
use crate::table::event::{self, Area, DeviceRef, DeviceState, Lock, OpeningCheck, TableLockedKind, TableState};
use crate::table::game::Family;
use crate::table::input::{Cover, DeviceKind};
use crate::table::lamps::Mismatch;
use crate::table::mode::{Below, Mode};
use crate::table::seen::Authority;
use crate::table::state::{self, State, is_kept_of};
use crate::table::{opening, operator};
use crate::time::Uptime;
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
    /// Lamps that don't show what they should, as last seen: of areas of a layout, or result lights.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_lamps: Vec<FailedLampLine>,
    /// While the table is opened: the dice of the newest test entry, in order, whose areas are lit.
    #[serde(default)]
    pub test_entry: Option<[u8; 3]>,
    /// The same at a two-up table: the outcome of the newest test entry ("triple_heads").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_outcome: Option<String>,
    /// The areas or lights that don't show what the newest test entry lights, as measured; until it is shown, those that are to change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub test_differs: Vec<FailedLampLine>,
    /// While the table is opened: the checks of its game, in order ("lamp_walk").
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    /// Locks that stand, each with what to do.
    pub locks: Vec<LockLine>,
    /// Alerts that stand, and those that are over and nobody has acknowledged.
    pub alerts: Vec<AlertLine>,
    /// What can be done now.
    pub possible: Vec<Possible>,
    /// What happens by itself, and when.
    pub deadlines: Vec<DeadlineLine>,
    /// In Test: the test of a device that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_test: Option<DeviceTestView>,
    /// Two-up: who spins, and what was spun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub two_up: Option<TwoUpView>,
}

/// A device's test in test mode, while it runs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DeviceTestView {
    /// "lamps", "lights", "terminal", "tumbler".
    pub of: String,
    /// Of lamps or lights: each, in the order of the walk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lamps: Vec<TestedLamp>,
    /// Bits of lamps that were measured lit when they were to be dark.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrongly_lit: Vec<u16>,
    /// Pictures that were commanded, all dark ones among them.
    #[serde(default)]
    pub pictures: u32,
    /// The newest was compared with what is lit, or given up.
    #[serde(default)]
    pub judged: bool,
    /// Of a terminal: its keys and contacts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<TestedPart>,
    /// The part that is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// Presses and closings since the test began, bounces left out.
    #[serde(default)]
    pub pressed: u32,
    /// The newest of them, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub presses: Vec<String>,
    /// Of a tumbler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tumbler: Option<TestedTumbler>,
}

/// A lamp that is tested.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TestedLamp {
    /// Its area, or the light it is: "total_5", "heads_2".
    pub area: String,
    /// Its bit.
    pub bit: u16,
    /// "untried", "waiting", "lit", "dark", "unproven" (the device repeats the command), "not_followed" (it did not take it).
    pub found: String,
    /// A person saw it dark.
    pub said_dark: bool,
}

/// A part of a terminal that is tested.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TestedPart {
    /// "key_3", "enter", "bell", "readout_full".
    pub part: String,
    /// How often it answered while it was asked for.
    pub answered: u32,
    /// How often one press came as several.
    pub bounced: u32,
}

/// A tumbler that is tested.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TestedTumbler {
    /// It was started by command.
    pub started: bool,
    /// Spins since then.
    pub spins: u32,
    /// "at_rest", "spinning", "fault", "unknown".
    pub motion: String,
    /// "not_fitted", "unlifted", "lifted", "on_again".
    pub cover: String,
    /// "no_sensor", "intact", "broken".
    pub seal: String,
}

/// A two-up game as a person sees it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TwoUpView {
    /// "player", "dealer", "dealer_for_player", "run_out"; `None` while the dice or coins are offered.
    pub spinner: Option<String>,
    /// The side of the spinner's wager: "heads", "tails".
    pub wager: Option<String>,
    /// The last valid result: "heads", "triple_tails".
    pub outcome: Option<String>,
    /// Heads in this game, or after it in the last.
    pub heads: u32,
    /// Tails likewise.
    pub tails: u32,
    /// Odds in a row.
    pub odds_run: u32,
    /// Invalid spins of the spinner in a row.
    pub invalid_run: u32,
    /// Dice or coins of the set that are lost.
    pub missing: u32,
    /// Lights in whose place a card is shown: "heads_2".
    pub cards: Vec<String>,
}

/// What doesn't show what it should.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FailedLampLine {
    /// The area or light: "total_9", "heads_2".
    pub area: String,
    /// The numbers of its lamps, from 0, as in the lamp map.
    pub lamps: Vec<u16>,
    /// It is lit and must not be; else it is dark and must be lit.
    pub wrongly_lit: bool,
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
    /// What it tells of is over; it is shown until somebody acknowledges it.
    #[serde(default)]
    pub over: bool,
    /// When it was raised, or, once it is over, since when it is: milliseconds since 1970 by the wall clock.
    #[serde(default)]
    pub since_unix_ms: i64,
    /// How often it was raised since somebody acknowledged it.
    #[serde(default)]
    pub times: u32,
}

impl AlertLine {
    /// Whether this event raised it: of a long text the table keeps the beginning.
    #[must_use]
    pub fn is_told_by(&self, raised: &event::AlertRaised) -> bool {
        self.alert == raised.alert && is_kept_of(&self.text, &raised.text)
    }
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

/// What a game shows in the retained state.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Shown {
    pub(crate) phase: &'static str,
    pub(crate) lit: Vec<Area>,
    pub(crate) held: i32,
    pub(crate) call: String,
    pub(crate) settled_provisionally: bool,
}

/// What a game waits for in play.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct InPlay {
    pub(crate) held_text: Option<String>,
    pub(crate) bets_closed: bool,
    pub(crate) lamps: Option<&'static str>,
    /// What can be done; frozen and held rounds included.
    pub(crate) possible: Vec<Act>,
    /// What one of them says in this round.
    pub(crate) exactly: Option<(Act, String)>,
    /// What happens by itself, and when.
    pub(crate) deadlines: Vec<(&'static str, Option<Uptime>)>,
    pub(crate) two_up: Option<TwoUpView>,
}

/// The retained state; the head is the gateway's to fill in.
pub(crate) fn table_state(state: &State, needed: &[DeviceKind]) -> TableState {
    let play = match &state.mode {
        Mode::Open(play) => play.shown(),
        Mode::Test(Below::Open(play)) => Shown {
            settled_provisionally: play.shown().settled_provisionally,
            ..Shown::default()
        },
        Mode::Closed | Mode::Opening(_) | Mode::Test(Below::Closed) => Shown::default(),
    };
    TableState {
        head: None,
        mode: mode(state) as i32,
        phase: play.phase.into(),
        round_id: state.round_id(),
        locks: state
            .locks
            .iter()
            .map(|lock| Lock {
                kind: lock.kind as i32,
                reason: lock.reason as i32,
            })
            .collect(),
        lit: play.lit,
        alerts: state
            .alerts
            .iter()
            .filter(|(_, alert)| !alert.over)
            .map(|(name, _)| name.clone())
            .collect(),
        held: play.held,
        call: play.call,
        devices: devices(state, needed),
        settled_provisionally: play.settled_provisionally,
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

/// Every needed device, and others that were up.
fn devices(state: &State, needed: &[DeviceKind]) -> Vec<DeviceState> {
    let known = |kind: &DeviceKind| state.devices.get(kind);
    let others = state
        .devices
        .iter()
        .filter(|(kind, _)| !needed.contains(kind))
        .map(|(kind, known)| (*kind, Some(known), false));
    let needed = needed.iter().map(|kind| (*kind, known(kind), true));
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
pub(crate) fn situation<F: Family>(look: &Look<'_, F>) -> Situation {
    let state = look.state;
    let play = match state.mode {
        Mode::Open(_) if operator::is_anothers(look.game, state) => InPlay {
            possible: vec![ANOTHERS],
            ..InPlay::default()
        },
        Mode::Open(_) => F::in_play(look),
        Mode::Closed | Mode::Opening(_) | Mode::Test(_) => InPlay::default(),
    };
    let cover = match look.seen.tumbler.cover() {
        Cover::On => "on",
        Cover::Off => "off",
        Cover::Unknown => "unknown",
    };
    Situation {
        cover: cover.to_string(),
        lamps_read_back: state
            .is_online(F::LAMPS)
            .then(|| look.seen.lamps.report.as_ref().is_some_and(|report| report.measured)),
        failed_lamps: state
            .failed_lamps
            .iter()
            .map(|(area, failed)| FailedLampLine {
                area: area.clone(),
                lamps: look.game.board().numbers(area),
                wrongly_lit: failed.wrongly_lit,
            })
            .collect(),
        test_entry: look.seen.opening.test_faces.map(|mut faces| {
            faces.sort_unstable();
            faces
        }),
        test_outcome: look.seen.opening.test_outcome.map(|outcome| outcome.name().to_owned()),
        test_differs: test_differs(look),
        checks: match state.mode {
            Mode::Opening(_) => look.game.checks().iter().map(check_name).collect(),
            Mode::Closed | Mode::Open(_) | Mode::Test(_) => Vec::new(),
        },
        device_test: device_test::view(look),
        locks: state.locks.iter().map(lock_line).collect(),
        alerts: state
            .alerts
            .iter()
            .map(|(name, alert)| AlertLine {
                alert: name.clone(),
                text: alert.text.clone(),
                acknowledged: alert.acknowledged,
                over: alert.over,
                since_unix_ms: alert.since_ms,
                times: alert.times,
            })
            .collect(),
        deadlines: deadlines(look, &play),
        possible: possible(state, play.possible, play.exactly),
        held_text: play.held_text,
        bets_closed: play.bets_closed,
        lamps: play.lamps.map(str::to_string),
        two_up: play.two_up,
    }
}

fn test_differs<F: Family>(look: &Look<'_, F>) -> Vec<FailedLampLine> {
    let Mode::Opening(_) = look.state.mode else {
        return Vec::new();
    };
    let board = look.game.board();
    let line = |differs: Mismatch| FailedLampLine {
        area: board.id(differs.area).to_owned(),
        lamps: board.numbers(board.id(differs.area)),
        wrongly_lit: differs.wrongly_lit,
    };
    opening::entry_differs(look).into_iter().map(line).collect()
}

/// As `OpeningCheckRecorded` names it, in small letters.
fn check_name(check: &OpeningCheck) -> String {
    let name = check.as_str_name();
    name.strip_prefix("OPENING_CHECK_").unwrap_or(name).to_ascii_lowercase()
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

fn deadlines<F>(look: &Look<'_, F>, play: &InPlay) -> Vec<DeadlineLine> {
    let key = match look.seen.key {
        Authority::Running { since } => Some(since + due::AUTHORITY),
        Authority::Off | Authority::Spent { .. } => None,
    };
    let lines = play.deadlines.iter().copied();
    lines
        .chain([("the supervisor key's authority ends", key)])
        .filter_map(|(what, at)| {
            Some(DeadlineLine {
                what: what.to_string(),
                at_uptime_ms: at?.as_micros() / 1000,
            })
        })
        .collect()
}

/// A command, or none for what is done at the table, and one sentence.
pub(crate) type Act = (&'static str, &'static str);

pub(crate) const CLOSE: Act = ("close", "Close the table.");
const ANOTHERS: Act = (
    "round void",
    "Void the round that was begun with another game, and close the table.",
);
const INCIDENT: Act = ("round incident", "Record an incident.");

/// What can be done now: nobody is ever left without a lawful next act.
fn possible(state: &State, in_play: Vec<Act>, exactly: Option<(Act, String)>) -> Vec<Possible> {
    let mut acts = match &state.mode {
        Mode::Closed => vec![("open", "Open the table: the opening checks.")],
        Mode::Opening(_) => vec![("open", "Go on with the opening checks.")],
        Mode::Test(_) => vec![("", "Leave test mode: nothing counts until then.")],
        Mode::Open(_) => in_play,
    };
    // A full disk's lock ends by itself, and no word ends it before.
    let waits_for_a_word = |lock: &state::Lock| lock.reason != event::TableLockedReason::Disk;
    if state.locks.iter().any(waits_for_a_word) {
        acts.push(("unlock", "End the locks: rectified, or what is done instead."));
    }
    acts.push(INCIDENT);
    acts.into_iter()
        .map(|act| Possible {
            command: act.0.to_string(),
            text: match &exactly {
                Some((general, text)) if *general == act => text.clone(),
                Some(_) | None => act.1.to_string(),
            },
        })
        .collect()
}
