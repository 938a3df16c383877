//! What happened to the gateway itself, its journal and its devices, in words.

use super::words::{also, moment, word};
use crate::cli::event_json::hex;
use crate::counted::counted;
use crate::table::event::{
    CheckpointRecorded, DeviceOnline, GatewayStarted, JournalFailed, JournalStarted, SoftwareVerified,
};

pub(super) fn gateway_started(started: &GatewayStarted) -> String {
    let before = if started.clean_stop {
        ""
    } else {
        ", the run before had no clean stop"
    };
    let differs: Vec<String> = started
        .differs()
        .map(|part| word(part.as_str_name(), "SOFTWARE_PART_"))
        .collect();
    let approval = match (started.approval_enforced, differs.as_slice()) {
        (false, _) => ", approval not enforced".to_owned(),
        (true, []) => format!(", as approved by {}", started.approved_by),
        (true, differs) => format!(", NOT as approved: {}", differs.join(", ")),
    };
    let game: Vec<&str> = [&started.game, &started.style, &started.layout]
        .into_iter()
        .map(String::as_str)
        .filter(|word| !word.is_empty())
        .collect();
    format!(
        "gateway {} started ({}){before}{approval}",
        started.version,
        game.join(" ")
    )
}

/// Digests with a seed: who knows the seed and has the same things can compute them.
pub(super) fn software_verified(verified: &SoftwareVerified) -> String {
    let devices: Vec<String> = verified
        .devices
        .iter()
        .map(|device| {
            let named = device.device.clone().unwrap_or_default();
            let kind = word(named.kind().as_str_name(), "DEVICE_KIND_");
            let outcome = word(device.outcome().as_str_name(), "DEVICE_VERIFIED_OUTCOME_");
            format!("{kind} {} {outcome}", named.serial_number)
        })
        .collect();
    format!(
        "software digested with the seed {}: program {}, configuration {}; {}",
        hex(&verified.seed),
        hex(&verified.program_sha256),
        hex(&verified.config_sha256),
        devices.join(", ")
    )
}

pub(super) fn journal_started(started: &JournalStarted) -> String {
    let reason = word(started.reason().as_str_name(), "JOURNAL_STARTED_REASON_");
    match &started.predecessor {
        Some(before) if !before.moved_to.is_empty() => format!(
            "journal begun ({reason}); the one before, up to event {}, is kept as {}",
            before.last_seqno, before.moved_to
        ),
        Some(before) => format!(
            "journal begun ({reason}); the one before went up to event {}",
            before.last_seqno
        ),
        None => format!("journal begun ({reason})"),
    }
}

pub(super) fn checkpoint_recorded(checkpoint: &CheckpointRecorded) -> String {
    format!("checkpoint of everything through event {}", checkpoint.through_seqno)
}

pub(super) fn journal_failed(failed: &JournalFailed) -> String {
    format!(
        "JOURNAL FAILED from {} to {}, {} not recorded{}",
        moment(failed.from.as_ref()),
        moment(failed.to.as_ref()),
        counted(failed.dropped_inputs, "input"),
        also(&failed.error)
    )
}

pub(super) fn device_online(online: &DeviceOnline) -> String {
    let firmware = if online.firmware.is_empty() {
        String::new()
    } else {
        format!(", firmware {}", online.firmware)
    };
    format!("device online{firmware}")
}
