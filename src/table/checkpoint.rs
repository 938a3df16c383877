//! The state as `CheckpointRecorded` carries it, and back. PURE. It only ever grows: new fields are read as absent from old ones.

use crate::table::event::{
    AlertCheckpoint, CheckpointMode, DeviceCheckpoint, DeviceRef, FailedLampCheckpoint, OpeningCheckRecorded,
    PhaseCheckpoint, TableCheckpoint, TableLocked, phase_checkpoint,
};
use crate::table::game::Play;
use crate::table::input::{Contact, DeviceKind};
use crate::table::mode::{Below, Checked, Mode, Opening};
use crate::table::state::{Alert, FailedLamp, Known, LastVoid, Lock, State};
use crate::table::{tai_sai, two_up};

/// The state as a message.
pub(crate) fn record(state: &State) -> TableCheckpoint {
    let (mode, below, phase) = match &state.mode {
        Mode::Closed => (CheckpointMode::Closed, CheckpointMode::Unspecified, None),
        Mode::Opening(_) => (CheckpointMode::Opening, CheckpointMode::Unspecified, None),
        Mode::Open(play) => (CheckpointMode::Open, CheckpointMode::Unspecified, Some(play_out(play))),
        Mode::Test(Below::Closed) => (CheckpointMode::Test, CheckpointMode::Closed, None),
        Mode::Test(Below::Open(play)) => (CheckpointMode::Test, CheckpointMode::Open, Some(play_out(play))),
    };
    TableCheckpoint {
        last_round_id: state.last_round,
        mode: mode as i32,
        below_test: below as i32,
        phase,
        checks: checks_out(&state.mode),
        locks: state.locks.iter().map(lock_out).collect(),
        alerts: state
            .alerts
            .iter()
            .map(|(name, alert)| AlertCheckpoint {
                alert: name.clone(),
                text: alert.text.clone(),
                acknowledged: alert.acknowledged,
            })
            .collect(),
        devices: state
            .devices
            .iter()
            .map(|(kind, known)| device_out(*kind, known))
            .collect(),
        accepted: state.accepted.clone(),
        accepted_readers: state.accepted_readers.clone(),
        failed_lamps: state
            .failed_lamps
            .iter()
            .map(|(area, failed)| FailedLampCheckpoint {
                area: area.clone(),
                wrongly_lit: failed.wrongly_lit,
                round_id: failed.round,
            })
            .collect(),
        board_failed: state.board_failed,
        no_spin: Some(state.no_spin.named(Contact::NoSpinButton)),
        voided_round_id: state.last_void.map_or(0, |void| void.round),
        voided_reason: state.last_void.map_or(0, |void| void.reason as i32),
    }
}

/// The state of a message.
pub(crate) fn state(checkpoint: &TableCheckpoint) -> State {
    let play = checkpoint.phase.as_ref().map(play_in).unwrap_or_default();
    let mode = match checkpoint.mode() {
        CheckpointMode::Unspecified | CheckpointMode::Closed => Mode::Closed,
        CheckpointMode::Opening => Mode::Opening(checks_in(&checkpoint.checks)),
        CheckpointMode::Open => Mode::Open(play),
        CheckpointMode::Test if checkpoint.below_test() == CheckpointMode::Open => Mode::Test(Below::Open(play)),
        CheckpointMode::Test => Mode::Test(Below::Closed),
    };
    State {
        mode,
        locks: checkpoint.locks.iter().map(lock_in).collect(),
        alerts: checkpoint
            .alerts
            .iter()
            .map(|alert| {
                let standing = Alert {
                    text: alert.text.clone(),
                    acknowledged: alert.acknowledged,
                };
                (alert.alert.clone(), standing)
            })
            .collect(),
        devices: checkpoint.devices.iter().filter_map(device_in).collect(),
        accepted: checkpoint.accepted.clone(),
        accepted_readers: checkpoint.accepted_readers.clone(),
        failed_lamps: checkpoint
            .failed_lamps
            .iter()
            .map(|failed| {
                let lamp = FailedLamp {
                    wrongly_lit: failed.wrongly_lit,
                    round: failed.round_id,
                };
                (failed.area.clone(), lamp)
            })
            .collect(),
        board_failed: checkpoint.board_failed,
        no_spin: checkpoint.no_spin.as_ref().map(Into::into).unwrap_or_default(),
        last_round: checkpoint.last_round_id,
        last_void: (checkpoint.voided_round_id != 0).then(|| LastVoid {
            round: checkpoint.voided_round_id,
            reason: checkpoint.voided_reason(),
        }),
    }
}

fn play_out(play: &Play) -> PhaseCheckpoint {
    match play {
        Play::Dice(phase) => tai_sai::checkpoint::phase_out(phase),
        Play::TwoUp(course) => PhaseCheckpoint {
            phase: Some(phase_checkpoint::Phase::TwoUp(two_up::checkpoint::course_out(course))),
        },
    }
}

fn play_in(checkpoint: &PhaseCheckpoint) -> Play {
    match &checkpoint.phase {
        Some(phase_checkpoint::Phase::TwoUp(course)) => Play::TwoUp(two_up::checkpoint::course_in(course)),
        Some(
            phase_checkpoint::Phase::Ready(_)
            | phase_checkpoint::Phase::Tumbling(_)
            | phase_checkpoint::Phase::Betting(_)
            | phase_checkpoint::Phase::Closed(_)
            | phase_checkpoint::Phase::Landed(_)
            | phase_checkpoint::Phase::Entered(_),
        )
        | None => Play::Dice(tai_sai::checkpoint::phase_in(checkpoint)),
    }
}

fn checks_out(mode: &Mode) -> Vec<OpeningCheckRecorded> {
    let checks = match mode {
        Mode::Opening(opening) => &opening.checks,
        Mode::Closed | Mode::Open(_) | Mode::Test(_) => return Vec::new(),
    };
    checks
        .iter()
        .map(|(check, checked)| OpeningCheckRecorded {
            check: *check as i32,
            passed: checked.passed,
            vouched: checked.vouched,
            text: checked.text.clone(),
        })
        .collect()
}

fn checks_in(checks: &[OpeningCheckRecorded]) -> Opening {
    let checked = |recorded: &OpeningCheckRecorded| Checked {
        passed: recorded.passed,
        vouched: recorded.vouched,
        text: recorded.text.clone(),
    };
    Opening {
        checks: checks
            .iter()
            .map(|recorded| (recorded.check(), checked(recorded)))
            .collect(),
    }
}

fn lock_out(lock: &Lock) -> TableLocked {
    TableLocked {
        reason: lock.reason as i32,
        kind: lock.kind as i32,
        text: lock.text.clone(),
    }
}

fn lock_in(locked: &TableLocked) -> Lock {
    Lock {
        reason: locked.reason(),
        kind: locked.kind(),
        text: locked.text.clone(),
    }
}

fn device_out(kind: DeviceKind, known: &Known) -> DeviceCheckpoint {
    DeviceCheckpoint {
        device: Some(DeviceRef {
            kind: kind.to_event() as i32,
            serial_number: known.serial_number.clone(),
        }),
        online: known.online,
        boot_id: known.boot_id,
        seen_since_start: known.seen_since_start,
    }
}

fn device_in(device: &DeviceCheckpoint) -> Option<(DeviceKind, Known)> {
    let named = device.device.as_ref()?;
    let known = Known {
        serial_number: named.serial_number.clone(),
        boot_id: device.boot_id,
        online: device.online,
        seen_since_start: device.seen_since_start,
    };
    Some((DeviceKind::from_event(named.kind())?, known))
}
