//! The state as `CheckpointRecorded` carries it, and back. PURE. It only ever grows: new fields are read as absent from old ones.

use crate::table::event::{
    AcceptedDevice, AlertCheckpoint, CheckpointMode, DeviceCheckpoint, DeviceRef, FailedLampCheckpoint,
    OpeningCheckRecorded, PhaseCheckpoint, TableCheckpoint, TableLocked, TestCheckpoint, phase_checkpoint,
};
use crate::table::game::Play;
use crate::table::input::{Contact, DeviceKind};
use crate::table::mode::{Below, Checked, Mode, Opening};
use crate::table::state::{Accepted, Alert, FailedLamp, Known, LastVoid, Lock, State, Testing};
use crate::table::{dice, two_up};

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
                over: alert.over,
                since_ms: alert.since_ms,
                times: alert.times,
            })
            .collect(),
        devices: state
            .devices
            .iter()
            .map(|(kind, known)| device_out(*kind, known))
            .collect(),
        accepted: state.accepted.iter().map(accepted_out).collect(),
        accepted_readers: state.accepted_readers.clone(),
        failed_lamps: state
            .failed_lamps
            .iter()
            .map(|(area, failed)| FailedLampCheckpoint {
                area: area.clone(),
                wrongly_lit: failed.wrongly_lit,
                round_id: failed.round,
                reported: failed.reported,
            })
            .collect(),
        board_failed: state.board_failed,
        no_spin: Some(state.no_spin.named(Contact::NoSpinButton)),
        voided_round_id: state.last_void.map_or(0, |void| void.round),
        voided_reason: state.last_void.map_or(0, |void| void.reason as i32),
        test: state.testing.as_ref().map(|testing| TestCheckpoint {
            started: Some(testing.started),
            actor: testing.actor.clone(),
            device: testing.device.clone(),
        }),
    }
}

fn accepted_out(accepted: &Accepted) -> AcceptedDevice {
    AcceptedDevice {
        serial_number: accepted.serial_number.clone(),
        firmware: accepted.firmware.clone(),
        firmware_digest: accepted.firmware_digest.clone(),
    }
}

fn accepted_in(accepted: &AcceptedDevice) -> Accepted {
    Accepted {
        serial_number: accepted.serial_number.clone(),
        firmware: accepted.firmware.clone(),
        firmware_digest: accepted.firmware_digest.clone(),
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
                    over: alert.over,
                    since_ms: alert.since_ms,
                    times: alert.times,
                };
                (alert.alert.clone(), standing)
            })
            .collect(),
        devices: checkpoint.devices.iter().filter_map(device_in).collect(),
        accepted: checkpoint.accepted.iter().map(accepted_in).collect(),
        accepted_readers: checkpoint.accepted_readers.clone(),
        failed_lamps: checkpoint
            .failed_lamps
            .iter()
            .map(|failed| {
                let lamp = FailedLamp {
                    wrongly_lit: failed.wrongly_lit,
                    round: failed.round_id,
                    reported: failed.reported,
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
        testing: checkpoint.test.as_ref().map(|test| Testing {
            started: test.started.unwrap_or_default(),
            actor: test.actor.clone(),
            device: test.device.clone(),
        }),
    }
}

fn play_out(play: &Play) -> PhaseCheckpoint {
    match play {
        Play::Dice(phase) => dice::checkpoint::phase_out(phase),
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
        | None => Play::Dice(dice::checkpoint::phase_in(checkpoint)),
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
            shown: Vec::new(),
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
        by_policy: false,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tai_sai::{self as law, Layout};
    use crate::table::alert::Name;
    use crate::table::dice::phase::{After, Entered, Held, Phase, Proof, Ready, Round};
    use crate::table::event::{
        AlertRaised, Area, Body, CheckpointRecorded, DeviceAccepted, DeviceOnline, Event, LampFailed, RoundHeldCause,
        RoundVoidedReason, TableLocked, TableLockedKind, TableLockedReason,
    };
    use crate::table::state::{ContactCount, Count, Envelope};
    use crate::time::{Timestamp, Uptime};
    use prost::Message;

    /// No event is longer: the floor's limit.
    const LONGEST_EVENT: usize = 8 * 1024;

    fn fold(state: &mut State, device: Option<&DeviceRef>, body: Body) {
        let envelope = Envelope {
            at: Uptime::from_micros(u64::MAX / 2),
            recorded: Timestamp::from_unix_micros(i64::MAX),
            round_id: u64::MAX,
            actor: None,
            device,
        };
        state.fold(envelope, &body);
    }

    /// The longest entry of the larger layout: void by the gateway, with everything that a withdrawal needs.
    fn longest_play() -> Phase {
        let faces = law::outcomes()
            .max_by_key(|faces| law::winners(*faces, Layout::Appendix2).len())
            .unwrap();
        let areas = law::winners(faces, Layout::Appendix2);
        let count = Count {
            activations: u32::MAX,
            spins: u32::MAX,
        };
        let pressed: Vec<u32> = faces.map(u32::from).to_vec();
        let round = Round {
            id: u64::MAX,
            game: "tai-sai".into(),
            style: "A".into(),
            layout: "appendix-2".into(),
            counters: Some(count),
            spins: u32::MAX,
            held: Some(Held {
                cause: RoundHeldCause::DiceDiffer,
                pressed: pressed.clone(),
                read_faces: pressed.clone(),
            }),
            resumed: (0..20)
                .filter_map(|cause| RoundHeldCause::try_from(cause).ok())
                .collect(),
        };
        let entered = Entered {
            round,
            pressed: pressed.clone(),
            faces: pressed,
            areas: areas
                .iter()
                .map(|area| Area {
                    id: area.id.into(),
                    pays: 180,
                    per: 1,
                })
                .collect(),
            lit: vec![0xff; 92],
            call: law::call(faces),
            entered_at: Uptime::from_micros(u64::MAX / 2),
            proof: Proof::Waiting(Uptime::from_micros(u64::MAX / 2)),
            fault_declared: true,
            lamps_settled_at: Some(Uptime::from_micros(u64::MAX / 2)),
            reopened: true,
        };
        Phase::Ready(Ready {
            base: Some(count),
            watched: true,
            after: After::Withdrawable {
                reason: RoundVoidedReason::AExposedEarly,
                before: Box::new(Phase::Entered(entered)),
            },
        })
    }

    /// Everything stands, with the longest texts, names and numbers.
    fn largest() -> State {
        let mut state = State {
            mode: Mode::Open(Play::Dice(longest_play())),
            board_failed: true,
            no_spin: ContactCount {
                closings: u32::MAX,
                boot_id: u32::MAX,
            },
            last_round: u64::MAX,
            last_void: Some(LastVoid {
                round: u64::MAX,
                reason: RoundVoidedReason::AExposedEarly,
            }),
            ..State::default()
        };
        let text = "\u{e9}".repeat(200);
        for name in Name::ALL {
            let alert = name.as_str().to_owned();
            let text = text.clone();
            fold(&mut state, None, Body::AlertRaised(AlertRaised { alert, text }));
        }
        let reasons = (1..100).filter_map(|reason| TableLockedReason::try_from(reason).ok());
        for reason in reasons {
            for kind in [TableLockedKind::HoldNext, TableLockedKind::Freeze] {
                let locked = TableLocked {
                    reason: reason as i32,
                    kind: kind as i32,
                    text: text.clone(),
                    by_policy: false,
                };
                fold(&mut state, None, Body::TableLocked(locked));
            }
        }
        for kind in [
            DeviceKind::Tumbler,
            DeviceKind::Terminal,
            DeviceKind::LayoutLamps,
            DeviceKind::ResultLights,
        ] {
            let device = DeviceRef {
                kind: kind.to_event() as i32,
                serial_number: "S".repeat(32),
            };
            let online = DeviceOnline {
                boot_id: u32::MAX,
                ..DeviceOnline::default()
            };
            fold(&mut state, Some(&device), Body::DeviceOnline(online));
        }
        for serial in 0..100 {
            let device = DeviceRef {
                kind: DeviceKind::Tumbler.to_event() as i32,
                serial_number: format!("{serial:032}"),
            };
            let of = vec![
                TableLockedReason::DeviceNotApproved as i32,
                TableLockedReason::ReadsUnderCover as i32,
            ];
            let accepted = DeviceAccepted {
                of,
                firmware: "f".repeat(32),
                firmware_digest: vec![0xff; 32],
            };
            fold(&mut state, Some(&device), Body::DeviceAccepted(accepted));
        }
        for id in law::areas(Layout::Appendix2) {
            let area = Area {
                id: (*id).to_owned(),
                ..Area::default()
            };
            let failed = LampFailed {
                area: Some(area),
                wrongly_lit: true,
                count: 1,
                reported: true,
            };
            fold(&mut state, None, Body::LampFailed(failed));
        }
        state.mode = Mode::Open(Play::Dice(longest_play()));
        state
    }

    #[test]
    fn the_largest_state_fits_an_event_and_comes_back() {
        let in_play = largest();
        assert_eq!(in_play.alerts.len(), Name::ALL.len());
        assert_eq!(in_play.failed_lamps.len(), 106);
        let bytes = bytes_of_event(&in_play);
        assert!(bytes <= LONGEST_EVENT, "{bytes} bytes");
        // Not for want of trying: most of the room is used.
        assert!(bytes > LONGEST_EVENT * 3 / 4, "{bytes} bytes");
        assert_eq!(state(&record(&in_play)), in_play);

        let mut opening = largest();
        opening.mode = Mode::Opening(Opening::default());
        for check in 1..20 {
            let recorded = OpeningCheckRecorded {
                check,
                passed: true,
                vouched: true,
                text: "\u{e9}".repeat(200),
                shown: Vec::new(),
            };
            fold(&mut opening, None, Body::OpeningCheckRecorded(recorded));
        }
        let bytes = bytes_of_event(&opening);
        assert!(bytes <= LONGEST_EVENT, "{bytes} bytes");
        assert_eq!(state(&record(&opening)), opening);
    }

    /// A checkpoint of this state in the longest envelope.
    fn bytes_of_event(state: &State) -> usize {
        let event = Event {
            site: "s".repeat(32),
            table: "t".repeat(32),
            journal_id: "j".repeat(36),
            seqno: u64::MAX,
            previous_sha256: vec![0xff; 32],
            recorded_at: Some(prost_types::Timestamp {
                seconds: i64::MAX,
                nanos: i32::MAX,
            }),
            clock: 1,
            run_id: "r".repeat(36),
            uptime_us: u64::MAX,
            body: Some(Body::CheckpointRecorded(CheckpointRecorded {
                through_seqno: u64::MAX,
                sha256: vec![0xff; 32],
                state: Some(record(state)),
                // Room for a signature by a key, in a later version.
                key_id: "k".repeat(64),
                signature: vec![0xff; 64],
            })),
            ..Event::default()
        };
        event.encoded_len()
    }
}
