//! What may be looked at from outside: plain values for `status`, the results display and a watcher. Nobody who looks can
//! hold anybody up: the loop overwrites one slot, readers take it when they like.

use super::approval::SoftwareView;
use super::clock::ClockSource;
use super::rounds::Rounds;
use crate::table::event::{self, Body, ClockQuality, Event, TableState};
use crate::table::view::Situation;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::path::PathBuf;

/// The table as the loop knows it, after its newest event.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TableView {
    /// `[table] site`.
    pub site: String,
    /// `[table] id`.
    pub table: String,
    /// Version of the program.
    pub version: String,
    /// Changes at each start of the daemon.
    pub run_id: String,
    /// When the run began, milliseconds since 1970 by the wall clock.
    pub started_unix_ms: i64,
    /// The game: "tai-sai".
    pub game: String,
    /// "A" or "B"; `None` where the game has none.
    pub style: Option<String>,
    /// "appendix-1" or "appendix-2".
    pub layout: String,
    /// Milliseconds of this run when it was looked at: what deadlines and [`TableView::phase_since_ms`] are compared with.
    #[serde(default)]
    pub uptime_ms: u64,
    /// Since when mode, phase and round are what they are, in milliseconds of this run; `None`: since before this run.
    #[serde(default)]
    pub phase_since_ms: Option<u64>,
    /// Mode, phase, round, locks, alerts.
    pub state: StateView,
    /// What it waits for, and what can be done about it.
    #[serde(default)]
    pub situation: Situation,
    /// The running round, and those that ended last.
    pub rounds: Rounds,
    /// What the newest opening has recorded, the newest record of each check.
    pub checks: Vec<CheckView>,
    /// The newest test of each kind of device in this run, oldest first.
    #[serde(default)]
    pub tests: Vec<TestView>,
    /// Why the table can't play at all: the self-test failed, or nothing can be recorded.
    pub fault: Option<String>,
    /// A file of approved digests exists; without one nothing is held back.
    pub approval_enforced: bool,
    /// What runs, and whether it is what was approved.
    #[serde(default)]
    pub software: SoftwareView,
    /// The journal.
    pub journal: JournalView,
    /// Whether the wall clock follows a time server.
    #[serde(serialize_with = "clock_word", deserialize_with = "clock_of")]
    pub clock: ClockQuality,
    /// Who is asked whether it does: `[clock] source`.
    #[serde(default)]
    pub clock_source: ClockSource,
}

/// The journal, as far as the loop knows it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct JournalView {
    /// Its UUID.
    pub journal_id: String,
    /// The newest event's number.
    pub seqno: u64,
    /// Its file.
    pub path: PathBuf,
    /// Megabytes free on its disk; `None` until the disk was asked.
    pub free_mb: Option<u64>,
    /// Megabytes that must be free for the next round: `[journal] min_free_mb`.
    #[serde(default)]
    pub needed_mb: u64,
    /// Fingerprint of the key that signs its checkpoints; `None`: they are unsigned.
    #[serde(default)]
    pub signed_by: Option<String>,
}

/// `TableState` in words for people and scripts: closed sets in lower case ("hold_next"), nothing numeric to look up.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct StateView {
    /// "self_test", "closed", "opening", "open", "test", "journal_failed".
    pub mode: String,
    /// "ready", "tumbling", "betting", "closed", "landed", "entered"; empty outside play.
    pub phase: String,
    /// 0 outside a round.
    pub round_id: u64,
    /// Why the round is held: "exposed_early"; `None`: it is not.
    pub held: Option<String>,
    /// The call of the entered result.
    pub call: Option<String>,
    /// Settled by the cover, and a supervisor may reopen until the next spin.
    pub settled_provisionally: bool,
    /// Locks that stand.
    pub locks: Vec<LockView>,
    /// Ids of the lit areas.
    pub lit: Vec<String>,
    /// Names of the alerts that stand.
    pub alerts: Vec<String>,
    /// The devices of this table.
    pub devices: Vec<DeviceView>,
}

/// One opening check, as recorded.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CheckView {
    /// "devices", "lamp_walk", "test_entries", "tumbler", "seal", "dice".
    pub check: String,
    /// It passed.
    pub passed: bool,
    /// A person's word; else seen by a link.
    pub vouched: bool,
    /// What was seen.
    pub text: String,
}

/// What a test of a device in test mode has recorded.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TestView {
    /// The event's number.
    pub seqno: u64,
    /// "lamps", "lights", "terminal", "tumbler".
    pub of: String,
    /// The device's serial number.
    pub device: String,
    /// Who tried it.
    pub by: String,
    /// Everything was tried, and nothing was found.
    pub passed: bool,
    /// It was broken off: the device went away, or who tried it.
    pub interrupted: bool,
    /// So many lamps, keys or parts were tried,
    pub tried: u32,
    /// of so many.
    pub parts: u32,
    /// A person has said what was seen.
    pub watched: bool,
    /// What was found.
    pub findings: Vec<FindingView>,
    /// Findings beyond those.
    pub more_findings: u32,
    /// Parts that were not tested.
    pub not_tested: Vec<String>,
}

/// What was found at a part of a device.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FindingView {
    /// "dark", "lit", "said_dark", "not_followed", "no_answer", "bounced", "said_wrong", "did_not_spin", "did_not_rest", "fault",
    /// "seal_broken".
    pub fault: String,
    /// "total_5", "key_3", "cover"; empty: a lamp that stands for nothing.
    pub part: String,
    /// A lamp's bit, a key's number, a fault's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// What was lit with it, or answered instead.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub other: String,
    /// How often it bounced.
    #[serde(default)]
    pub times: u32,
}

/// One lock.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LockView {
    /// "hold_next" or "freeze".
    pub kind: String,
    /// "lamp", "tumbler", "journal" ...
    pub reason: String,
}

/// One device, as the table sees it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DeviceView {
    /// "tumbler", "terminal", "layout_lamps", "result_lights".
    pub kind: String,
    /// Empty until it was greeted.
    pub serial_number: String,
    /// It can be used.
    pub online: bool,
    /// The game can't start a round without it.
    pub needed: bool,
}

impl TableView {
    /// Takes in one event: rounds, and what openings and tests record.
    pub(super) fn note(&mut self, event: &Event) {
        self.rounds.note(event);
        match &event.body {
            Some(Body::OpeningStarted(_)) => self.checks.clear(),
            Some(Body::OpeningCheckRecorded(recorded)) => {
                let check = word(recorded.check().as_str_name(), "OPENING_CHECK_");
                // One test entry of several is no check yet.
                if !recorded.shown.is_empty() {
                    return;
                }
                self.checks.retain(|known| known.check != check);
                self.checks.push(CheckView {
                    check,
                    passed: recorded.passed,
                    vouched: recorded.vouched,
                    text: recorded.text.clone(),
                });
            }
            Some(Body::TestRecorded(recorded)) => {
                let test = TestView::of(event, recorded);
                self.tests.retain(|known| known.of != test.of);
                self.tests.push(test);
            }
            Some(_) | None => {}
        }
    }
}

impl TestView {
    fn of(event: &Event, recorded: &event::TestRecorded) -> Self {
        let device = event.device.clone().unwrap_or_default();
        let by = event.actor.clone().unwrap_or_default();
        TestView {
            seqno: event.seqno,
            of: word(recorded.kind().as_str_name(), "TEST_KIND_"),
            device: device.serial_number,
            by: by.name,
            passed: recorded.passed,
            interrupted: recorded.interrupted,
            tried: recorded.tried,
            parts: recorded.parts,
            watched: recorded.watched,
            findings: recorded.findings.iter().map(FindingView::of).collect(),
            more_findings: recorded.more_findings,
            not_tested: recorded.not_tested.clone(),
        }
    }
}

impl FindingView {
    /// In words.
    #[must_use]
    pub fn of(finding: &event::TestFinding) -> Self {
        FindingView {
            fault: word(finding.fault().as_str_name(), "TEST_FAULT_"),
            part: finding.part.clone(),
            number: finding.number,
            other: finding.other.clone(),
            times: finding.times,
        }
    }
}

impl StateView {
    /// Nothing has moved on between the two: the clock of the phase goes on.
    pub(super) fn is_same_moment(&self, other: &StateView) -> bool {
        (&self.mode, &self.phase, self.round_id) == (&other.mode, &other.phase, other.round_id)
    }

    /// In words.
    #[must_use]
    pub fn of(state: &TableState) -> Self {
        StateView {
            mode: word(state.mode().as_str_name(), "MODE_"),
            phase: state.phase.clone(),
            round_id: state.round_id,
            held: Some(state.held())
                .filter(|cause| *cause != event::RoundHeldCause::Unspecified)
                .map(|cause| word(cause.as_str_name(), "ROUND_HELD_CAUSE_")),
            call: Some(state.call.clone()).filter(|call| !call.is_empty()),
            settled_provisionally: state.settled_provisionally,
            locks: state
                .locks
                .iter()
                .map(|lock| LockView {
                    kind: word(lock.kind().as_str_name(), "TABLE_LOCKED_KIND_"),
                    reason: word(lock.reason().as_str_name(), "TABLE_LOCKED_REASON_"),
                })
                .collect(),
            lit: state.lit.iter().map(|area| area.id.clone()).collect(),
            alerts: state.alerts.clone(),
            devices: state.devices.iter().map(device).collect(),
        }
    }
}

fn device(device: &event::DeviceState) -> DeviceView {
    let named = device.device.clone().unwrap_or_default();
    DeviceView {
        kind: word(named.kind().as_str_name(), "DEVICE_KIND_"),
        serial_number: named.serial_number,
        online: device.online,
        needed: device.needed,
    }
}

pub(super) fn word(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_ascii_lowercase()
}

fn clock_word<S: Serializer>(clock: &ClockQuality, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&word(clock.as_str_name(), "CLOCK_QUALITY_"))
}

fn clock_of<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ClockQuality, D::Error> {
    let word = String::deserialize(deserializer)?;
    let name = format!("CLOCK_QUALITY_{}", word.to_ascii_uppercase());
    Ok(ClockQuality::from_str_name(&name).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::event::{Lock, Mode, RoundHeldCause, TableLockedKind, TableLockedReason};

    #[test]
    fn closed_sets_are_shown_as_lower_case_words() {
        let mut state = TableState {
            phase: "betting".into(),
            round_id: 4,
            ..TableState::default()
        };
        state.set_mode(Mode::Open);
        state.set_held(RoundHeldCause::ExposedEarly);
        let mut lock = Lock::default();
        lock.set_kind(TableLockedKind::HoldNext);
        lock.set_reason(TableLockedReason::LampBoard);
        state.locks.push(lock);
        let view = StateView::of(&state);
        assert_eq!(
            (view.mode.as_str(), view.held.as_deref()),
            ("open", Some("exposed_early"))
        );
        assert_eq!(
            (view.locks[0].kind.as_str(), view.locks[0].reason.as_str()),
            ("hold_next", "lamp_board")
        );
        assert_eq!(view.call, None);
    }
}
