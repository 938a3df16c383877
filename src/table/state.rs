//! What is true at this table, as folded from its events: live, and after a restart. PURE. Knows no clock and no configuration.
//!
//! What was only seen and is not a fact is in [`crate::table::seen`].

use crate::table::event::{
    Actor, BetsClosed, Body, Closings, Counters, DeviceAccepted, DeviceRef, Event, OpeningCheckRecorded,
    RoundVoidedReason, TableLockedKind, TableLockedReason, TestKind, TestRecorded, TestStarted,
};
use crate::table::game::{self, Play};
use crate::table::input::{Contact, DeviceKind};
use crate::table::mode::{Below, Checked, Mode, Opening};
use crate::table::{alert, checkpoint};
use crate::time::{Timestamp, Uptime};
use std::collections::BTreeMap;
use std::time::Duration;

/// Bytes of a text that the state keeps, of an alert, a lock or a check. The event has it whole.
const MOST_KEPT: usize = 120;

/// Bytes that the state keeps of the texts of all alerts together, and of all locks: those that come when so much stands already are
/// cut shorter. With everything standing at once a checkpoint still fits an event (8 KiB).
const MOST_KEPT_TOGETHER: usize = 600;

/// Devices that are remembered as accepted, of each kind of acceptance; the oldest is forgotten first, and must be accepted again.
/// A table has three devices; more than as many spares again are approved, not accepted, and a checkpoint has to hold them all.
const MOST_ACCEPTED: usize = 5;

/// The table's durable state.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct State {
    /// Closed, opening, open (with the phase of play), Test.
    pub(crate) mode: Mode,
    /// Locks that stand, oldest first; one of each kind and reason.
    pub(crate) locks: Vec<Lock>,
    /// Alerts that stand, and those that are over and nobody has acknowledged, by name.
    pub(crate) alerts: BTreeMap<String, Alert>,
    /// Devices that were ever up.
    pub(crate) devices: BTreeMap<DeviceKind, Known>,
    /// Devices that a supervisor accepted though they are not approved, oldest first.
    pub(crate) accepted: Vec<Accepted>,
    /// Serial numbers that a supervisor accepted though their reader reads under the cover.
    pub(crate) accepted_readers: Vec<String>,
    /// Areas whose lamps failed and were not seen working since.
    pub(crate) failed_lamps: BTreeMap<String, FailedLamp>,
    /// More areas failed than were named; until a picture is confirmed.
    pub(crate) board_failed: bool,
    /// The NO_SPIN contact as last recorded.
    pub(crate) no_spin: ContactCount,
    /// Highest number a round has had.
    pub(crate) last_round: u64,
    /// The newest void, whose reason may be stated afterwards.
    pub(crate) last_void: Option<LastVoid>,
    /// The test of a device that runs in Test.
    pub(crate) testing: Option<Testing>,
}

/// A device's test that was begun and of which nothing is recorded yet.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Testing {
    pub(crate) started: TestStarted,
    /// Who began it.
    pub(crate) actor: Option<Actor>,
    /// What is tried.
    pub(crate) device: Option<DeviceRef>,
}

/// A lock that stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Lock {
    pub(crate) reason: TableLockedReason,
    pub(crate) kind: TableLockedKind,
    pub(crate) text: String,
}

/// An alert that stands, or is over and was acknowledged by nobody.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Alert {
    pub(crate) text: String,
    /// A named person has seen it.
    pub(crate) acknowledged: bool,
    /// What it tells of is over.
    pub(crate) over: bool,
    /// When it was raised, or, once it is over, since when it is: by the wall clock, in milliseconds since 1970, for people only.
    pub(crate) since_ms: i64,
    /// How often it was raised since somebody acknowledged it.
    pub(crate) times: u32,
}

/// A device that a supervisor accepted, with its firmware: with another it is another device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Accepted {
    pub(crate) serial_number: String,
    pub(crate) firmware: String,
    pub(crate) firmware_digest: Vec<u8>,
}

/// A device that was up at least once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Known {
    pub(crate) serial_number: String,
    pub(crate) boot_id: u32,
    pub(crate) online: bool,
    /// It has been up in this run.
    pub(crate) seen_since_start: bool,
}

/// An area whose lamps failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FailedLamp {
    /// Lit and must not be; else dark and must be lit.
    pub(crate) wrongly_lit: bool,
    /// The round in whose picture it was named; 0: outside one, or to be named again.
    pub(crate) round: u64,
    /// By a person: it stands until a person says otherwise.
    pub(crate) reported: bool,
}

/// A void.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LastVoid {
    pub(crate) round: u64,
    pub(crate) reason: RoundVoidedReason,
}

/// A tumbler's counters, since manufacture, wrapping.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Count {
    pub(crate) activations: u32,
    pub(crate) spins: u32,
}

/// How often a contact had closed since its device's start `boot_id`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ContactCount {
    pub(crate) closings: u32,
    pub(crate) boot_id: u32,
}

/// What an event's envelope tells the fold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope<'a> {
    pub(crate) at: Uptime,
    /// By the wall clock, for people; the start of 1970 while it is being decided.
    pub(crate) recorded: Timestamp,
    pub(crate) round_id: u64,
    pub(crate) actor: Option<&'a Actor>,
    pub(crate) device: Option<&'a DeviceRef>,
}

/// When the bell rang that closed bets; the start of time when that isn't known: it was rung before the table was back.
pub(crate) fn rung_at(envelope: Envelope<'_>, closed: &BetsClosed) -> Uptime {
    if closed.while_away && !closed.implied && closed.rung_us_before == 0 {
        return Uptime::ZERO;
    }
    envelope.at - Duration::from_micros(closed.rung_us_before)
}

/// Keeps one more of what was accepted.
fn remember<T>(accepted: &mut Vec<T>, one: T) {
    accepted.push(one);
    if accepted.len() > MOST_ACCEPTED {
        accepted.remove(0);
    }
}

impl State {
    /// Folds a recorded event.
    pub(crate) fn apply(&mut self, event: &Event) {
        let Some(body) = &event.body else {
            // A newer version's body: this version knows nothing of it, and a journal of a newer schema is refused elsewhere.
            return;
        };
        let envelope = Envelope {
            at: Uptime::from_micros(event.uptime_us),
            recorded: event.recorded_at.as_ref().map(Timestamp::from).unwrap_or_default(),
            round_id: event.round_id,
            actor: event.actor.as_ref(),
            device: event.device.as_ref(),
        };
        self.fold(envelope, body);
    }

    /// Folds the body of an event.
    pub(crate) fn fold(&mut self, envelope: Envelope<'_>, body: &Body) {
        match body {
            Body::GatewayStarted(_) => self.gateway_started(envelope),
            Body::DeviceOnline(online) => {
                let before = self.device_online(envelope, online.boot_id);
                game::device_online(self, envelope, before.as_ref(), online);
            }
            Body::DeviceOffline(_) => self.device_offline(envelope),
            Body::DeviceAccepted(accepted) => self.device_accepted(envelope, accepted),
            Body::OpeningStarted(_) => self.mode = Mode::Opening(Opening::default()),
            Body::OpeningAbandoned(_) | Body::TableClosed(_) => self.mode = Mode::Closed,
            Body::OpeningCheckRecorded(recorded) => self.check_recorded(recorded),
            Body::TableOpened(opened) => {
                self.mode = Mode::Open(Play::opened(opened));
                self.failed_lamps.clear();
                self.board_failed = false;
            }
            Body::TestModeEntered(_) => self.test_entered(),
            Body::TestStarted(started) => {
                self.testing = Some(Testing {
                    started: *started,
                    actor: envelope.actor.cloned(),
                    device: envelope.device.cloned(),
                });
            }
            Body::TestRecorded(recorded) => self.test_recorded(recorded),
            Body::TestModeLeft(left) => self.test_left(left.base.map(Count::from)),
            Body::TableLocked(locked) => {
                self.locked(locked.reason(), locked.kind(), &locked.text);
                game::locked(self, envelope, locked);
            }
            Body::TableUnlocked(unlocked) => {
                let (reason, kind) = (unlocked.reason(), unlocked.kind());
                self.locks.retain(|lock| (lock.reason, lock.kind) != (reason, kind));
                if !unlocked.procedure.is_empty() {
                    self.seen_by_whoever_unlocked(reason);
                }
                game::unlocked(self, envelope, unlocked);
            }
            Body::AlertRaised(raised) => self.alert_raised(envelope, &raised.alert, &raised.text),
            Body::AlertAcknowledged(acknowledged) => self.alert_acknowledged(&acknowledged.alert),
            Body::AlertCleared(cleared) => self.alert_cleared(envelope, &cleared.alert),
            Body::RoundStarted(_)
            | Body::TumblerSpun(_)
            | Body::BetsOpened(_)
            | Body::BetsClosed(_)
            | Body::DiceUncovered(_)
            | Body::ResultEntered(_)
            | Body::ResultAmended(_)
            | Body::LayoutLit(_)
            | Body::LampFailed(_)
            | Body::LampRestored(_)
            | Body::RoundHeld(_)
            | Body::RoundResumed(_)
            | Body::RoundVoided(_)
            | Body::VoidReasonStated(_)
            | Body::VoidWithdrawn(_)
            | Body::RoundAbandoned(_)
            | Body::RoundSettled(_)
            | Body::RoundReopened(_)
            | Body::SpinnerSelected(_)
            | Body::SpinnerWagerPlaced(_)
            | Body::SpinResulted(_)
            | Body::SpinInvalidated(_)
            | Body::InvalidSpinOverruled(_)
            | Body::SpinCorrected(_)
            | Body::PlayersWagersDecided(_)
            | Body::SpinnerWagerDecided(_)
            | Body::SpinnerChanged(_)
            | Body::ResultCardRequired(_)
            | Body::DieOffTable(_)
            | Body::DiceReplaced(_) => game::fold(self, envelope, body),
            Body::CheckpointRecorded(recorded) => {
                // The state as it is already, or, first in a recovery or in a new journal, as it was left.
                if let Some(state) = &recorded.state {
                    *self = checkpoint::state(state);
                }
            }
            Body::GatewayStopped(_)
            | Body::JournalStarted(_)
            | Body::EventsExpired(_)
            | Body::JournalFailed(_)
            | Body::EventSetAside(_)
            | Body::ClockStepped(_)
            | Body::SelfTestFailed(_)
            | Body::SoftwareVerified(_)
            | Body::DeviceFaulted(_)
            | Body::DeviceFaultCleared(_)
            | Body::StaleKeysIgnored(_)
            | Body::TumblerStarted(_)
            | Body::IncidentRecorded(_)
            | Body::ThrowerOffered(_)
            | Body::ActRefused(_)
            | Body::EntryRejected(_) => {}
        }
    }

    fn device_accepted(&mut self, envelope: Envelope<'_>, accepted: &DeviceAccepted) {
        let Some(device) = envelope.device else { return };
        let serial_number = &device.serial_number;
        for reason in accepted.of() {
            if reason == TableLockedReason::ReadsUnderCover {
                self.accepted_readers.retain(|other| other != serial_number);
                remember(&mut self.accepted_readers, serial_number.clone());
            } else {
                self.accepted.retain(|other| other.serial_number != *serial_number);
                let accepted = Accepted {
                    serial_number: serial_number.clone(),
                    firmware: accepted.firmware.clone(),
                    firmware_digest: accepted.firmware_digest.clone(),
                };
                remember(&mut self.accepted, accepted);
            }
        }
    }

    /// The alert of this name, when what it tells of lasts.
    pub(crate) fn standing(&self, alert: alert::Name) -> Option<&Alert> {
        self.alerts.get(alert.as_str()).filter(|alert| !alert.over)
    }

    fn alert_raised(&mut self, envelope: Envelope<'_>, name: &str, text: &str) {
        let others = self.alerts.iter().filter(|(other, _)| *other != name);
        let text = kept_beside(text, others.map(|(_, alert)| alert.text.len()).sum());
        let unseen = self.alerts.get(name).filter(|before| !before.acknowledged);
        let alert = Alert {
            text,
            acknowledged: false,
            over: false,
            since_ms: envelope.recorded.as_unix_micros() / 1000,
            times: unseen.map_or(0, |before| before.times).saturating_add(1),
        };
        self.alerts.insert(name.to_string(), alert);
    }

    /// One that is over goes with it.
    fn alert_acknowledged(&mut self, name: &str) {
        match self.alerts.get_mut(name) {
            Some(alert) if alert.over => {
                self.alerts.remove(name);
            }
            Some(alert) => alert.acknowledged = true,
            None => {}
        }
    }

    /// One that nobody has seen and that somebody should know of stays, as over.
    fn alert_cleared(&mut self, envelope: Envelope<'_>, name: &str) {
        let Some(alert) = self.alerts.get_mut(name) else { return };
        if alert.acknowledged || alert::goes_unseen(name) {
            self.alerts.remove(name);
        } else {
            alert.over = true;
            alert.since_ms = envelope.recorded.as_unix_micros() / 1000;
        }
    }

    /// Whoever ends a lock by a procedure has seen what it tells of.
    fn seen_by_whoever_unlocked(&mut self, reason: TableLockedReason) {
        for name in alert::of_locks(reason) {
            if let Some(alert) = self.alerts.get_mut(name.as_str()) {
                alert.acknowledged = true;
            }
        }
    }

    fn gateway_started(&mut self, envelope: Envelope<'_>) {
        for known in self.devices.values_mut() {
            known.online = false;
            known.seen_since_start = false;
        }
        if let Mode::Open(play) = &mut self.mode {
            play.rearm(envelope.at);
        }
    }

    /// What was known of the device before.
    fn device_online(&mut self, envelope: Envelope<'_>, boot_id: u32) -> Option<Known> {
        let (kind, serial_number) = device_of(envelope)?;
        let known = Known {
            serial_number,
            boot_id,
            online: true,
            seen_since_start: true,
        };
        self.devices.insert(kind, known)
    }

    fn device_offline(&mut self, envelope: Envelope<'_>) {
        let Some((kind, _)) = device_of(envelope) else { return };
        if let Some(known) = self.devices.get_mut(&kind) {
            known.online = false;
        }
        if let Mode::Open(play) = &mut self.mode {
            play.link_broke(kind);
        }
    }

    fn check_recorded(&mut self, recorded: &OpeningCheckRecorded) {
        // One test entry of several: the check is recorded when they are through.
        if !recorded.shown.is_empty() {
            return;
        }
        if let Mode::Opening(opening) = &mut self.mode {
            let checked = Checked {
                passed: recorded.passed,
                vouched: recorded.vouched,
                text: kept(&recorded.text),
            };
            opening.checks.insert(recorded.check(), checked);
        }
    }

    fn test_recorded(&mut self, recorded: &TestRecorded) {
        self.testing = None;
        if recorded.passed && recorded.kind() == TestKind::Lamps {
            // Every picture of the walk was confirmed.
            self.board_failed = false;
        }
    }

    fn test_entered(&mut self) {
        self.testing = None;
        self.mode = match std::mem::take(&mut self.mode) {
            Mode::Open(play) if play.is_between_rounds() => Mode::Test(Below::Open(play)),
            Mode::Test(below) => Mode::Test(below),
            Mode::Closed | Mode::Opening(_) | Mode::Open(_) => Mode::Test(Below::Closed),
        };
    }

    fn test_left(&mut self, base: Option<Count>) {
        self.testing = None;
        self.mode = match std::mem::take(&mut self.mode) {
            Mode::Test(Below::Open(play)) => Mode::Open(play.after_test(base)),
            Mode::Test(Below::Closed) => Mode::Closed,
            other @ (Mode::Closed | Mode::Opening(_) | Mode::Open(_)) => other,
        };
    }

    fn locked(&mut self, reason: TableLockedReason, kind: TableLockedKind, text: &str) {
        let is_same = |lock: &Lock| lock.reason == reason && lock.kind == kind;
        let others = self.locks.iter().filter(|lock| !is_same(lock));
        let text = kept_beside(text, others.map(|lock| lock.text.len()).sum());
        match self.locks.iter_mut().find(|lock| is_same(lock)) {
            Some(lock) => lock.text = text,
            None => self.locks.push(Lock { reason, kind, text }),
        }
    }

    /// Where play stands; `None` outside play.
    pub(crate) fn play(&self) -> Option<&Play> {
        match &self.mode {
            Mode::Open(play) => Some(play),
            Mode::Closed | Mode::Opening(_) | Mode::Test(_) => None,
        }
    }

    /// The running round's number; 0 outside a round.
    pub(crate) fn round_id(&self) -> u64 {
        self.play().map_or(0, Play::round_id)
    }

    /// A lock of this reason and kind stands.
    pub(crate) fn is_locked(&self, reason: TableLockedReason, kind: TableLockedKind) -> bool {
        self.locks.iter().any(|lock| lock.reason == reason && lock.kind == kind)
    }

    /// No entry, bell or settlement is taken.
    pub(crate) fn is_frozen(&self) -> bool {
        self.locks.iter().any(|lock| lock.kind == TableLockedKind::Freeze)
    }

    /// The round waits for a supervisor.
    pub(crate) fn is_held(&self) -> bool {
        self.play().is_some_and(Play::is_held)
    }

    /// The device can be used.
    pub(crate) fn is_online(&self, kind: DeviceKind) -> bool {
        self.devices.get(&kind).is_some_and(|known| known.online)
    }
}

/// A text as the state keeps it.
fn kept(text: &str) -> String {
    cut(text, MOST_KEPT)
}

/// A text as the state keeps it beside so many bytes of others.
fn kept_beside(text: &str, others: usize) -> String {
    cut(text, MOST_KEPT.min(MOST_KEPT_TOGETHER.saturating_sub(others)))
}

fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_string();
    }
    let mut end = most.saturating_sub(CUT.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let whole = text.get(..end).unwrap_or_default();
    // A word cut in two reads as another one; a text without spaces has to be.
    let words = whole
        .rfind(' ')
        .map_or(whole, |space| whole.get(..space).unwrap_or(whole));
    if most < CUT.len() {
        return String::new();
    }
    format!("{words}{CUT}")
}

/// Whether `kept` is what the state keeps of `text`, cut or whole.
pub(crate) fn is_kept_of(kept: &str, text: &str) -> bool {
    match kept.strip_suffix(CUT) {
        Some(beginning) => text.starts_with(beginning),
        None => text.starts_with(kept),
    }
}

/// Where a text was cut.
const CUT: &str = " ...";

/// The device of an event.
pub(crate) fn device_of(envelope: Envelope<'_>) -> Option<(DeviceKind, String)> {
    let device = envelope.device?;
    let kind = DeviceKind::from_event(device.kind())?;
    Some((kind, device.serial_number.clone()))
}

/// How events name a contact.
pub(crate) fn contact_name(contact: Contact) -> &'static str {
    match contact {
        Contact::Bell => "bell",
        Contact::SupervisorKey => "supervisor_key",
        Contact::NoSpinButton => "no_spin_button",
        Contact::CabinetDoor => "cabinet_door",
    }
}

/// A contact among those that an event lists.
pub(crate) fn contact_in(closings: &[Closings], contact: Contact) -> Option<ContactCount> {
    closings
        .iter()
        .find(|listed| listed.contact == contact_name(contact))
        .map(ContactCount::from)
}

impl From<Counters> for Count {
    fn from(counters: Counters) -> Self {
        Count {
            activations: counters.activations,
            spins: counters.spins,
        }
    }
}

impl From<Count> for Counters {
    fn from(count: Count) -> Self {
        Counters {
            activations: count.activations,
            spins: count.spins,
        }
    }
}

impl From<&Closings> for ContactCount {
    fn from(closings: &Closings) -> Self {
        ContactCount {
            closings: closings.closings,
            boot_id: closings.boot_id,
        }
    }
}

impl ContactCount {
    /// As an event writes it.
    pub(crate) fn named(self, contact: Contact) -> Closings {
        Closings {
            contact: contact_name(contact).to_string(),
            closings: self.closings,
            boot_id: self.boot_id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_ends_with_a_whole_word_and_is_known_as_what_it_was_cut_of() {
        let text = "the lamps with serial number LL-0310 and firmware 2.0 wait to be accepted";
        for most in 0..=text.len() + 1 {
            let kept = cut(text, most);
            assert!(kept.len() <= most, "{kept:?}");
            assert!(is_kept_of(&kept, text), "{kept:?}");
            let words = kept.strip_suffix(CUT).unwrap_or(&kept);
            assert!(
                words.is_empty() || !words.contains(' ') || text.split(' ').any(|word| words.ends_with(word)),
                "{kept:?}"
            );
        }
        assert_eq!(cut(text, 36), "the lamps with serial number ...");
        assert_eq!(cut(text, text.len()), text);
        assert!(!is_kept_of("the tumbler ...", text) && !is_kept_of("the tumbler", text));
    }
}
