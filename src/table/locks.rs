//! Locks: what raises them, and what ends them. PURE.

use crate::table::draft::{Draft, Source};
use crate::table::event::{
    Body, DeviceAccepted, DeviceFaulted, TableLocked, TableLockedKind, TableLockedReason, TableUnlocked,
};
use crate::table::game::{Answer, Family};
use crate::table::input::{Condition, Contact, DeviceIdentity, DeviceKind, Person, Seal};
use crate::table::mode::Mode;
use crate::table::readout::Standing;
use crate::table::rejection::{self, Rejection};
use crate::table::state::{Lock, is_kept_of};
use crate::table::{Approval, alert, opening};

/// Longest text that a person gives, in characters.
const MOST_TEXT: usize = 200;

const RULE: &str = "NZ Div 9 r7.4";

/// A person's text has 1 to 200 characters.
pub(crate) fn checked_text(what: &str, text: &str) -> Result<String, Rejection> {
    let text = text.trim();
    let length = text.chars().count();
    if (1..=MOST_TEXT).contains(&length) {
        return Ok(text.to_string());
    }
    Err(Rejection::command(
        format!("The {what} has {length} characters: give 1 to {MOST_TEXT}."),
        RULE,
    ))
}

/// What the readout says of locks that hold the next round back: without room to record it, that is no supervisor's to end.
pub(crate) fn standing(locks: &[Lock]) -> Standing {
    if locks.is_empty() {
        Standing::Nothing
    } else if locks.iter().all(|lock| lock.reason == TableLockedReason::Disk) {
        Standing::Code(rejection::JOURNAL)
    } else {
        Standing::Code(rejection::LOCKED)
    }
}

/// Sets a lock, unless it stands.
pub(crate) fn lock<F: Family>(
    draft: &mut Draft<'_, F>,
    source: Source,
    reason: TableLockedReason,
    kind: TableLockedKind,
    text: impl Into<String>,
) {
    if draft.state.is_locked(reason, kind) {
        return;
    }
    let locked = TableLocked {
        reason: reason as i32,
        kind: kind as i32,
        text: text.into(),
        by_policy: false,
    };
    draft.record(source, Body::TableLocked(locked));
}

/// Ends a lock; `procedure` is empty when it ended by itself.
pub(crate) fn unlock<F: Family>(draft: &mut Draft<'_, F>, source: Source, lock: &Lock, procedure: &str) {
    let counters = match lock.reason {
        TableLockedReason::OutOfTurn => draft.counters(),
        TableLockedReason::Unspecified
        | TableLockedReason::Lamp
        | TableLockedReason::LampBoard
        | TableLockedReason::Tumbler
        | TableLockedReason::Display
        | TableLockedReason::DeviceNotApproved
        | TableLockedReason::ReadsUnderCover
        | TableLockedReason::Seal
        | TableLockedReason::Door
        | TableLockedReason::Digest
        | TableLockedReason::Configuration
        | TableLockedReason::Journal
        | TableLockedReason::Disk
        | TableLockedReason::Supervisor => None,
    };
    if lock.reason == TableLockedReason::OutOfTurn {
        draft.seen.tumbler.tolerated_spin = draft.seen.tumbler.is_spinning();
    }
    let unlocked = TableUnlocked {
        procedure: procedure.into(),
        reason: lock.reason as i32,
        kind: lock.kind as i32,
        counters,
    };
    draft.record(source, Body::TableUnlocked(unlocked));
}

/// Locks that what devices show asks for: an open door, a broken seal.
pub(crate) fn guard<F: Family>(draft: &mut Draft<'_, F>) {
    let Mode::Open(_) = draft.state.mode else { return };
    let door = draft.seen.terminal.contacts.get(&Contact::CabinetDoor);
    let shut = door.is_some_and(|door| door.closed);
    let open = door.is_some_and(|door| !door.closed) && draft.state.is_online(DeviceKind::Terminal);
    let broken = draft
        .seen
        .tumbler
        .report
        .as_ref()
        .is_some_and(|report| report.seal == Seal::Broken);
    if open && !draft.seen.door_reported && draft.has_room(1) {
        let source = draft.device_itself(DeviceKind::Terminal);
        let text = "The cabinet's door is open: close it; a supervisor must let the table go on.";
        lock(draft, source, TableLockedReason::Door, TableLockedKind::Freeze, text);
        draft.seen.door_reported = true;
    }
    if broken && !draft.seen.seal_reported && draft.has_room(1) {
        let source = draft.device_itself(DeviceKind::Tumbler);
        let text = "The seal of the dice is broken: a supervisor must let the table go on, or void the round.";
        lock(draft, source, TableLockedReason::Seal, TableLockedKind::Freeze, text);
        draft.seen.seal_reported = true;
    }
    if shut {
        draft.seen.door_reported = false;
    }
    if !broken {
        draft.seen.seal_reported = false;
    }
}

/// A condition outside the table began or ended.
pub(crate) fn condition<F: Family>(draft: &mut Draft<'_, F>, condition: Condition, text: &str, standing: bool) {
    let lock_of = match condition {
        Condition::DiskLow => Some((TableLockedReason::Disk, TableLockedKind::HoldNext)),
        Condition::JournalFailed => Some((TableLockedReason::Journal, TableLockedKind::Freeze)),
        Condition::JournalMovedAside | Condition::JournalDamaged | Condition::JournalRolledBack => {
            Some((TableLockedReason::Journal, TableLockedKind::HoldNext))
        }
        Condition::DiskFilling
        | Condition::JournalSlow
        | Condition::JournalUnreadable
        | Condition::BrokerRefuses
        | Condition::BrokerUnreachable
        | Condition::NobodyListening
        | Condition::TakenOver
        | Condition::EventSetAside
        | Condition::LinkOdd(_)
        | Condition::CertificateExpires
        | Condition::CertificateRefused
        | Condition::DeviceOffline
        | Condition::ClockUnsynchronised => None,
    };
    if let Condition::LinkOdd(kind) = condition {
        return alert::link_odd(draft, kind, text, standing);
    }
    let name = alert::Name::of_condition(condition);
    if standing {
        if let Some((reason, kind)) = lock_of {
            lock(draft, Source::gateway(), reason, kind, text);
        }
        if condition == Condition::EventSetAside {
            // Each has an event of its own, and what tells of one must not make another that may be set aside in its turn.
            draft.raise(name, text);
        } else {
            alert::raise_anew(draft, name, text);
        }
        return;
    }
    if condition == Condition::DiskLow {
        end_by_itself(draft, TableLockedReason::Disk, TableLockedKind::HoldNext);
    }
    alert::condition_over(draft, name);
}

/// A lock whose cause is gone.
pub(crate) fn end_by_itself<F: Family>(draft: &mut Draft<'_, F>, reason: TableLockedReason, kind: TableLockedKind) {
    let standing = draft
        .state
        .locks
        .iter()
        .find(|lock| lock.reason == reason && lock.kind == kind)
        .cloned();
    if let Some(lock) = standing {
        unlock(draft, Source::gateway(), &lock, "");
    }
}

/// A supervisor holds the next round back.
pub(crate) fn by_supervisor<F: Family>(draft: &mut Draft<'_, F>, person: &Person, reason: &str) -> Answer {
    let text = checked_text("reason", reason)?;
    if draft
        .state
        .is_locked(TableLockedReason::Supervisor, TableLockedKind::HoldNext)
    {
        return Err(Rejection::command("A supervisor's lock stands already.", RULE));
    }
    let source = Source::person(person);
    lock(
        draft,
        source,
        TableLockedReason::Supervisor,
        TableLockedKind::HoldNext,
        text,
    );
    Ok(match draft.state.round_id() {
        0 => "The next round is held back.".into(),
        _ => "The next round is held back; this one finishes.".into(),
    })
}

/// What else a lock needs before a supervisor's word ends it.
pub(crate) fn obstacle<F: Family>(draft: &Draft<'_, F>, lock: &Lock) -> Option<&'static str> {
    match lock.reason {
        TableLockedReason::Disk => Some("it ends by itself when there is room on the disk"),
        TableLockedReason::Configuration => {
            Some("it ends when the daemon starts with the round's configuration, or the round is voided")
        }
        TableLockedReason::DeviceNotApproved if !unapproved(draft).is_empty() => {
            Some("accept the device by its serial number (`tablegate accept-device`)")
        }
        TableLockedReason::ReadsUnderCover if reads_under_cover(draft) => {
            Some("accept the device by its serial number (`tablegate accept-device`), or replace it")
        }
        TableLockedReason::Unspecified
        | TableLockedReason::Lamp
        | TableLockedReason::LampBoard
        | TableLockedReason::Tumbler
        | TableLockedReason::Display
        | TableLockedReason::DeviceNotApproved
        | TableLockedReason::ReadsUnderCover
        | TableLockedReason::Seal
        | TableLockedReason::Door
        | TableLockedReason::OutOfTurn
        | TableLockedReason::Digest
        | TableLockedReason::Journal
        | TableLockedReason::Supervisor => None,
    }
}

/// Ends every lock that a supervisor's word can end.
pub(crate) fn by_word<F: Family>(draft: &mut Draft<'_, F>, person: &Person, procedure: &str) -> Answer {
    let procedure = checked_text("procedure", procedure)?;
    let locks = draft.state.locks.clone();
    if locks.is_empty() {
        return Err(Rejection::command("No lock stands.", RULE));
    }
    end(draft, person, &procedure, &locks)
}

/// Ends the freezes that a supervisor's word can end.
pub(crate) fn thaw<F: Family>(draft: &mut Draft<'_, F>, person: &Person) -> Answer {
    let frozen = |lock: &&Lock| lock.kind == TableLockedKind::Freeze;
    let locks: Vec<Lock> = draft.state.locks.iter().filter(frozen).cloned().collect();
    end(draft, person, "the supervisor lets the table go on", &locks)
}

fn end<F: Family>(draft: &mut Draft<'_, F>, person: &Person, procedure: &str, locks: &[Lock]) -> Answer {
    let was_frozen = draft.state.is_frozen();
    let mut left = Vec::new();
    let mut ended = 0_u32;
    for lock in locks {
        match obstacle(draft, lock) {
            Some(obstacle) => left.push(format!("{} stays: {obstacle}", name(lock.reason))),
            None if draft.has_room(5) => {
                unlock(draft, Source::person(person), lock, procedure);
                ended += 1;
            }
            None => left.push(format!("{} stays: say it once more", name(lock.reason))),
        }
    }
    if ended == 0 {
        return Err(Rejection::command(format!("{}.", left.join("; ")), RULE));
    }
    if was_frozen {
        F::go_on(draft);
    }
    if left.is_empty() {
        return Ok("Unlocked.".into());
    }
    Ok(format!("Unlocked; {}.", left.join("; ")))
}

/// A lock's reason for a person.
pub(crate) fn name(reason: TableLockedReason) -> &'static str {
    match reason {
        TableLockedReason::Unspecified => "an unknown lock",
        TableLockedReason::Lamp => "the lamp lock",
        TableLockedReason::LampBoard => "the lamp board's lock",
        TableLockedReason::Tumbler => "the tumbler's lock",
        TableLockedReason::Display => "the display's lock",
        TableLockedReason::DeviceNotApproved => "the lock for a device that is not approved",
        TableLockedReason::ReadsUnderCover => "the lock for a reader that reads under the cover",
        TableLockedReason::Seal => "the seal's lock",
        TableLockedReason::Door => "the door's lock",
        TableLockedReason::OutOfTurn => "the lock for a tumbler started out of turn",
        TableLockedReason::Digest => "the lock for a digest that differs",
        TableLockedReason::Configuration => "the lock for another configuration than the round's",
        TableLockedReason::Journal => "the journal's lock",
        TableLockedReason::Disk => "the disk's lock",
        TableLockedReason::Supervisor => "the supervisor's lock",
    }
}

/// Devices at the table that are neither approved nor accepted.
fn unapproved<'d, F: Family>(draft: &'d Draft<'_, F>) -> Vec<&'d DeviceIdentity> {
    if !draft.table.approval.is_enforced() {
        return Vec::new();
    }
    let seen = draft.state.devices.iter().filter(|(_, known)| known.seen_since_start);
    let greeted = seen.filter_map(|(kind, _)| draft.seen.links.get(kind)?.identity.as_ref());
    greeted
        .filter(|device| !draft.table.approval.approves(device) && !is_accepted(draft, device))
        .collect()
}

/// A supervisor accepted it, with this firmware.
fn is_accepted<F: Family>(draft: &Draft<'_, F>, device: &DeviceIdentity) -> bool {
    draft.state.accepted.iter().any(|accepted| {
        accepted.serial_number == device.serial_number
            && accepted.firmware == device.firmware
            && accepted.firmware_digest == device.firmware_digest
    })
}

/// What is wrong with devices that wait to be accepted, for a person.
fn unapproved_text(approval: &Approval, waiting: &[&DeviceIdentity]) -> String {
    match waiting {
        [device] if approval.knows_serial(device) => format!(
            "The {} {} has firmware {}, with which it is not approved: accept it (`tablegate accept-device {}`), or replace it.",
            opening::device_name(device.kind),
            device.serial_number,
            device.firmware,
            device.serial_number
        ),
        [device] => format!(
            "Device {} ({}) is not approved: accept it (`tablegate accept-device {}`), or replace it.",
            device.serial_number,
            opening::device_name(device.kind),
            device.serial_number
        ),
        several => {
            let serials: Vec<_> = several.iter().map(|device| device.serial_number.as_str()).collect();
            format!(
                "These devices are not approved: {}. Accept each (`tablegate accept-device SERIAL`), or replace it.",
                serials.join(", ")
            )
        }
    }
}

/// The text names this serial number, and not one that only contains it.
fn names(text: &str, serial_number: &str) -> bool {
    let goes_on = |of: Option<char>| of.is_some_and(|of| of.is_alphanumeric() || of == '-' || of == '_');
    text.match_indices(serial_number).any(|(at, found)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + found.len()..).and_then(|after| after.chars().next());
        !goes_on(before) && !goes_on(after)
    })
}

fn reads_under_cover<F: Family>(draft: &Draft<'_, F>) -> bool {
    let known = draft.state.devices.get(&DeviceKind::Tumbler);
    known.is_some_and(|known| !draft.state.accepted_readers.contains(&known.serial_number))
}

/// What of program, configuration and rules is not what was approved, judged at each start: it freezes the table until a supervisor's word.
pub(crate) fn judge_digests<F: Family>(draft: &mut Draft<'_, F>) {
    let (reason, kind) = (TableLockedReason::Digest, TableLockedKind::Freeze);
    let Some(text) = draft.table.approval.differs() else {
        return end_by_itself(draft, reason, kind);
    };
    let stands = |lock: &Lock| lock.reason == reason && lock.kind == kind && is_kept_of(&lock.text, text);
    if !draft.state.locks.iter().any(stands) {
        end_by_itself(draft, reason, kind);
        lock(draft, Source::gateway(), reason, kind, text);
        alert::raise_anew(draft, alert::Name::DigestDiffers, text);
    }
}

/// After a greeting: a device that isn't approved holds the next round back.
pub(crate) fn check_approval<F: Family>(draft: &mut Draft<'_, F>, kind: DeviceKind) {
    let waiting = unapproved(draft);
    if !waiting.iter().any(|device| device.kind == kind) {
        return;
    }
    // After a restart devices come back one after the other: what has been told of all of them isn't told anew of each.
    let standing = draft.state.standing(alert::Name::DeviceNotApproved);
    let is_told = standing.is_some_and(|alert| waiting.iter().all(|device| names(&alert.text, &device.serial_number)));
    let text = unapproved_text(&draft.table.approval, &waiting);
    let source = draft.device_itself(kind);
    let reason = TableLockedReason::DeviceNotApproved;
    // Others may wait later, and this one be accepted: the alert is told anew then, the lock isn't.
    let names_them = "the alert device_not_approved names each";
    lock(draft, source, reason, TableLockedKind::HoldNext, names_them);
    if !is_told {
        alert::raise_anew(draft, alert::Name::DeviceNotApproved, text);
    }
}

/// The frame layer dropped a dice reading made under the cover. At a table without a tumbler nothing can have read.
pub(crate) fn read_under_cover<F: Family>(draft: &mut Draft<'_, F>) {
    if !draft.game.needed().contains(&DeviceKind::Tumbler) {
        return;
    }
    let reason = TableLockedReason::ReadsUnderCover;
    let accepted = draft.state.devices.contains_key(&DeviceKind::Tumbler) && !reads_under_cover(draft);
    if accepted || draft.state.is_locked(reason, TableLockedKind::HoldNext) {
        return;
    }
    let source = draft.device_itself(DeviceKind::Tumbler);
    let faulted = DeviceFaulted {
        code: 0,
        text: "dice were read under the cover; the reading was dropped".into(),
    };
    draft.record(source.clone(), Body::DeviceFaulted(faulted));
    let text = "The tumbler's reader reads under the cover: accept the device, or replace it.";
    lock(draft, source, reason, TableLockedKind::HoldNext, text);
}

/// A supervisor accepts a device.
pub(crate) fn accept_device<F: Family>(draft: &mut Draft<'_, F>, person: &Person, serial_number: &str) -> Answer {
    let mut of = Vec::new();
    let mut device = None;
    let mut firmware = String::new();
    let mut firmware_digest = Vec::new();
    if let Some(found) = unapproved(draft)
        .into_iter()
        .find(|device| device.serial_number == serial_number)
    {
        of.push(TableLockedReason::DeviceNotApproved as i32);
        firmware.clone_from(&found.firmware);
        firmware_digest.clone_from(&found.firmware_digest);
        device = draft.device(found.kind);
    }
    let tumbler = draft
        .device(DeviceKind::Tumbler)
        .filter(|tumbler| tumbler.serial_number == serial_number);
    if draft
        .state
        .is_locked(TableLockedReason::ReadsUnderCover, TableLockedKind::HoldNext)
        && let Some(tumbler) = tumbler
    {
        of.push(TableLockedReason::ReadsUnderCover as i32);
        device = Some(tumbler);
    }
    if of.is_empty() {
        let text = format!("No device with serial number {serial_number} waits to be accepted.");
        return Err(Rejection::command(text, RULE));
    }
    let source = Source::person(person);
    let readers = of.contains(&(TableLockedReason::ReadsUnderCover as i32));
    draft.record(
        source.clone().with_device(device),
        Body::DeviceAccepted(DeviceAccepted {
            of,
            firmware,
            firmware_digest,
        }),
    );
    let procedure = format!("device {serial_number} accepted");
    for lock in draft.state.locks.clone() {
        let ends = match lock.reason {
            TableLockedReason::DeviceNotApproved => unapproved(draft).is_empty(),
            TableLockedReason::ReadsUnderCover => readers,
            TableLockedReason::Unspecified
            | TableLockedReason::Lamp
            | TableLockedReason::LampBoard
            | TableLockedReason::Tumbler
            | TableLockedReason::Display
            | TableLockedReason::Seal
            | TableLockedReason::Door
            | TableLockedReason::OutOfTurn
            | TableLockedReason::Digest
            | TableLockedReason::Configuration
            | TableLockedReason::Journal
            | TableLockedReason::Disk
            | TableLockedReason::Supervisor => false,
        };
        if ends {
            unlock(draft, source.clone(), &lock, &procedure);
        }
    }
    let waiting = unapproved(draft);
    if waiting.is_empty() {
        return Ok(format!("The device {serial_number} is accepted."));
    }
    let text = unapproved_text(&draft.table.approval, &waiting);
    let answer = format!("The device {serial_number} is accepted. {text}");
    alert::raise_anew(draft, alert::Name::DeviceNotApproved, text);
    Ok(answer)
}
