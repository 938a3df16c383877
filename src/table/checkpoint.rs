//! The state as `CheckpointRecorded` carries it, and back. PURE. It only ever grows: new fields are read as absent from old ones.

use crate::table::event::{
    AlertCheckpoint, BettingCheckpoint, CheckpointMode, ClosedCheckpoint, DeviceCheckpoint, DeviceRef,
    EnteredCheckpoint, FailedLampCheckpoint, LandedCheckpoint, OpeningCheckRecorded, PhaseCheckpoint, ReadyAfter,
    ReadyCheckpoint, RoundCheckpoint, RoundHeldCause, TableCheckpoint, TableLocked, TumblingCheckpoint,
    phase_checkpoint,
};
use crate::table::input::{Contact, DeviceKind};
use crate::table::mode::{Below, Checked, Mode, Opening};
use crate::table::state::{Alert, FailedLamp, Known, LastVoid, Lock, State};
use crate::table::tai_sai::phase::{
    After, BetsShut, Betting, Count, Entered, Held, Landed, Phase, Proof, Ready, Round, Tumbling,
};
use crate::time::Uptime;

/// The state as a message.
pub(crate) fn record(state: &State) -> TableCheckpoint {
    let (mode, below, phase) = match &state.mode {
        Mode::Closed => (CheckpointMode::Closed, CheckpointMode::Unspecified, None),
        Mode::Opening(_) => (CheckpointMode::Opening, CheckpointMode::Unspecified, None),
        Mode::Open(phase) => (
            CheckpointMode::Open,
            CheckpointMode::Unspecified,
            Some(phase_out(phase)),
        ),
        Mode::Test(Below::Closed) => (CheckpointMode::Test, CheckpointMode::Closed, None),
        Mode::Test(Below::Ready(ready)) => {
            let phase = phase_out(&Phase::Ready(ready.clone()));
            (CheckpointMode::Test, CheckpointMode::Open, Some(phase))
        }
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
    let phase = checkpoint.phase.as_ref().map(phase_in).unwrap_or_default();
    let mode = match checkpoint.mode() {
        CheckpointMode::Unspecified | CheckpointMode::Closed => Mode::Closed,
        CheckpointMode::Opening => Mode::Opening(checks_in(&checkpoint.checks)),
        CheckpointMode::Open => Mode::Open(phase),
        CheckpointMode::Test => Mode::Test(match (checkpoint.below_test(), phase) {
            (CheckpointMode::Open, Phase::Ready(ready)) => Below::Ready(ready),
            (_, _) => Below::Closed,
        }),
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

fn phase_out(phase: &Phase) -> PhaseCheckpoint {
    let phase = match phase {
        Phase::Ready(ready) => phase_checkpoint::Phase::Ready(Box::new(ready_out(ready))),
        Phase::Tumbling(tumbling) => phase_checkpoint::Phase::Tumbling(TumblingCheckpoint {
            round: Some(round_out(&tumbling.round)),
            base: tumbling.base.map(Into::into),
            quiet_since_us: tumbling.quiet_since.as_micros(),
        }),
        Phase::Betting(betting) => phase_checkpoint::Phase::Betting(BettingCheckpoint {
            round: Some(round_out(&betting.round)),
            opened_at_us: betting.opened_at.as_micros(),
            bell: Some(betting.bell.named(Contact::Bell)),
            unbroken: betting.unbroken,
        }),
        Phase::Closed(shut) => phase_checkpoint::Phase::Closed(ClosedCheckpoint {
            round: Some(round_out(&shut.round)),
            closed_at_us: shut.closed_at.as_micros(),
        }),
        Phase::Landed(landed) => phase_checkpoint::Phase::Landed(LandedCheckpoint {
            round: Some(round_out(&landed.round)),
            uncovered_at_us: landed.uncovered_at.as_micros(),
        }),
        Phase::Entered(entered) => phase_checkpoint::Phase::Entered(entered_out(entered)),
    };
    PhaseCheckpoint { phase: Some(phase) }
}

fn phase_in(checkpoint: &PhaseCheckpoint) -> Phase {
    match &checkpoint.phase {
        None => Phase::default(),
        Some(phase_checkpoint::Phase::Ready(ready)) => Phase::Ready(ready_in(ready)),
        Some(phase_checkpoint::Phase::Tumbling(tumbling)) => Phase::Tumbling(Tumbling {
            round: round_in(tumbling.round.as_ref()),
            base: tumbling.base.map(Into::into),
            quiet_since: Uptime::from_micros(tumbling.quiet_since_us),
        }),
        Some(phase_checkpoint::Phase::Betting(betting)) => Phase::Betting(Betting {
            round: round_in(betting.round.as_ref()),
            opened_at: Uptime::from_micros(betting.opened_at_us),
            bell: betting.bell.as_ref().map(Into::into).unwrap_or_default(),
            unbroken: betting.unbroken,
        }),
        Some(phase_checkpoint::Phase::Closed(shut)) => Phase::Closed(BetsShut {
            round: round_in(shut.round.as_ref()),
            closed_at: Uptime::from_micros(shut.closed_at_us),
        }),
        Some(phase_checkpoint::Phase::Landed(landed)) => Phase::Landed(Landed {
            round: round_in(landed.round.as_ref()),
            uncovered_at: Uptime::from_micros(landed.uncovered_at_us),
        }),
        Some(phase_checkpoint::Phase::Entered(entered)) => Phase::Entered(entered_in(entered)),
    }
}

fn ready_out(ready: &Ready) -> ReadyCheckpoint {
    let (after, before, voided) = match &ready.after {
        After::Nothing => (ReadyAfter::Nothing, None, 0),
        After::Settled => (ReadyAfter::Settled, None, 0),
        After::Provisional(entered) => {
            let before = phase_out(&Phase::Entered((**entered).clone()));
            (ReadyAfter::Settled, Some(Box::new(before)), 0)
        }
        After::Voided => (ReadyAfter::Voided, None, 0),
        After::Withdrawable { reason, before } => {
            (ReadyAfter::Voided, Some(Box::new(phase_out(before))), *reason as i32)
        }
        After::Abandoned => (ReadyAfter::Abandoned, None, 0),
    };
    ReadyCheckpoint {
        base: ready.base.map(Into::into),
        watched: ready.watched,
        after: after as i32,
        before,
        voided,
    }
}

fn ready_in(ready: &ReadyCheckpoint) -> Ready {
    let before = ready.before.as_deref().map(phase_in);
    let after = match (ready.after(), before) {
        (ReadyAfter::Unspecified | ReadyAfter::Nothing, _) => After::Nothing,
        (ReadyAfter::Settled, Some(Phase::Entered(entered))) => After::Provisional(Box::new(entered)),
        (ReadyAfter::Settled, _) => After::Settled,
        (ReadyAfter::Voided, Some(before)) => After::Withdrawable {
            reason: ready.voided(),
            before: Box::new(before),
        },
        (ReadyAfter::Voided, None) => After::Voided,
        (ReadyAfter::Abandoned, _) => After::Abandoned,
    };
    Ready {
        base: ready.base.map(Count::from),
        watched: ready.watched,
        after,
    }
}

fn round_out(round: &Round) -> RoundCheckpoint {
    let held = round.held.as_ref();
    RoundCheckpoint {
        round_id: round.id,
        game: round.game.clone(),
        style: round.style.clone(),
        layout: round.layout.clone(),
        counters: round.counters.map(Into::into),
        spins: round.spins,
        held: held.map_or(0, |held| held.cause as i32),
        pressed: held.map(|held| held.pressed.clone()).unwrap_or_default(),
        resumed: round.resumed.iter().map(|cause| *cause as i32).collect(),
    }
}

fn round_in(round: Option<&RoundCheckpoint>) -> Round {
    let Some(round) = round else { return Round::default() };
    let held = (round.held() != RoundHeldCause::Unspecified).then(|| Held {
        cause: round.held(),
        pressed: round.pressed.clone(),
    });
    Round {
        id: round.round_id,
        game: round.game.clone(),
        style: round.style.clone(),
        layout: round.layout.clone(),
        counters: round.counters.map(Count::from),
        spins: round.spins,
        held,
        resumed: round.resumed().collect(),
    }
}

fn entered_out(entered: &Entered) -> EnteredCheckpoint {
    let waiting_since = match entered.proof {
        Proof::Waiting(since) => since,
        Proof::Lit => Uptime::ZERO,
    };
    EnteredCheckpoint {
        round: Some(round_out(&entered.round)),
        pressed: entered.pressed.clone(),
        faces: entered.faces.clone(),
        areas: entered.areas.clone(),
        lit: entered.lit.clone(),
        call: entered.call.clone(),
        entered_at_us: entered.entered_at.as_micros(),
        lamps_lit: entered.proof == Proof::Lit,
        waiting_since_us: waiting_since.as_micros(),
        fault_declared: entered.fault_declared,
        lamps_settled_at_us: entered.lamps_settled_at.map(Uptime::as_micros),
        reopened: entered.reopened,
    }
}

fn entered_in(entered: &EnteredCheckpoint) -> Entered {
    let proof = if entered.lamps_lit {
        Proof::Lit
    } else {
        Proof::Waiting(Uptime::from_micros(entered.waiting_since_us))
    };
    Entered {
        round: round_in(entered.round.as_ref()),
        pressed: entered.pressed.clone(),
        faces: entered.faces.clone(),
        areas: entered.areas.clone(),
        lit: entered.lit.clone(),
        call: entered.call.clone(),
        entered_at: Uptime::from_micros(entered.entered_at_us),
        proof,
        fault_declared: entered.fault_declared,
        lamps_settled_at: entered.lamps_settled_at_us.map(Uptime::from_micros),
        reopened: entered.reopened,
    }
}
