//! Alerts: their stable names, and when they stand. PURE.
//!
//! An alert is raised once and stands until what it tells of is over; what is over at once stands until somebody acknowledges it.

use crate::table::draft::{Draft, Source};
use crate::table::event::{AlertCleared, AlertRaised, Body, TableLockedReason};
use crate::table::game::Family;
use crate::table::input::{Condition, DeviceKind};
use crate::table::state::State;

/// When an alert is cleared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Until {
    /// No lock of this reason stands.
    Unlocked(TableLockedReason),
    /// No round is held.
    Resumed,
    /// The condition is over.
    Over,
    /// Somebody acknowledged it.
    Acknowledged,
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $until:expr;)*) => {
        /// An alert's stable name.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Name { $($(#[$doc])* $name),* }

        impl Name {
            /// Every alert.
            pub const ALL: &'static [Name] = &[$(Name::$name),*];

            /// As events and `TableState.alerts` write it.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Name::$name => $text),* }
            }

            fn until(self) -> Until {
                match self { $(Name::$name => $until),* }
            }
        }
    };
}

names! {
    /// A lamp failed: the next round is held back.
    LampFailed = "lamp_failed", Until::Unlocked(TableLockedReason::Lamp);
    /// More areas failed than are named.
    LampBoard = "lamp_board_failed", Until::Unlocked(TableLockedReason::LampBoard);
    /// The tumbler has a fault.
    TumblerFault = "tumbler_fault", Until::Unlocked(TableLockedReason::Tumbler);
    /// The results display has a fault.
    DisplayFault = "display_fault", Until::Unlocked(TableLockedReason::Display);
    /// A device whose serial number is not approved.
    DeviceNotApproved = "device_not_approved", Until::Unlocked(TableLockedReason::DeviceNotApproved);
    /// A reader that reads under the cover.
    ReadsUnderCover = "reads_under_cover", Until::Unlocked(TableLockedReason::ReadsUnderCover);
    /// The seal of the dice is broken.
    SealBroken = "seal_broken", Until::Unlocked(TableLockedReason::Seal);
    /// The cabinet's door is open.
    DoorOpen = "door_open", Until::Unlocked(TableLockedReason::Door);
    /// The tumbler was started out of turn.
    OutOfTurn = "tumbler_out_of_turn", Until::Unlocked(TableLockedReason::OutOfTurn);
    /// An approved digest differs.
    DigestDiffers = "digest_differs", Until::Unlocked(TableLockedReason::Digest);
    /// The configuration is not that of the open round.
    ConfigurationDiffers = "configuration_differs", Until::Unlocked(TableLockedReason::Configuration);
    /// A round waits for a supervisor.
    RoundHeld = "round_held", Until::Resumed;
    /// A bell for a void round arrived when the cover was on again: the round stays as it is.
    LateBell = "late_bell", Until::Acknowledged;
    /// A result light has failed: cards stand in for it.
    LightFailed = "result_light_failed", Until::Over;
    /// The supervisor's key has been on for a minute.
    KeyLeftOn = "supervisor_key_left_on", Until::Over;
    /// Room for the journal runs out.
    DiskLow = "disk_low", Until::Over;
    /// The journal could not be written.
    JournalFailed = "journal_failed", Until::Over;
    /// A journal was moved aside.
    JournalMovedAside = "journal_moved_aside", Until::Unlocked(TableLockedReason::Journal);
    /// The background check of the journal failed.
    JournalDamaged = "journal_damaged", Until::Unlocked(TableLockedReason::Journal);
    /// The disk went back in time.
    JournalRolledBack = "journal_rolled_back", Until::Unlocked(TableLockedReason::Journal);
    /// An append was slow.
    JournalSlow = "journal_slow", Until::Over;
    /// The disk fills, and nothing is deleted because the clock isn't synchronised.
    DiskFilling = "disk_filling", Until::Over;
    /// The broker refuses what the table publishes.
    BrokerRefuses = "broker_refuses", Until::Over;
    /// No broker can be reached.
    BrokerUnreachable = "broker_unreachable", Until::Over;
    /// Nobody subscribes to the events.
    NobodyListening = "nobody_listening", Until::Over;
    /// Another gateway uses this table's identity.
    TakenOver = "taken_over", Until::Over;
    /// An event was set aside, and a person should know.
    EventSetAside = "event_set_aside", Until::Acknowledged;
    /// A link is odd.
    LinkOdd = "link_odd", Until::Over;
    /// The wall clock is not synchronised.
    ClockUnsynchronised = "clock_unsynchronised", Until::Over;
    /// The table's own certificate, or one of those it trusts, expires soon or has expired.
    CertificateExpires = "certificate_expires", Until::Over;
    /// A certificate is not taken, the broker's or the table's own.
    CertificateRefused = "certificate_refused", Until::Over;
}

impl Name {
    /// The alert of a lock; conditions and supervisors' own locks have theirs, or none.
    fn of_lock(reason: TableLockedReason) -> Option<Name> {
        match reason {
            TableLockedReason::Lamp => Some(Name::LampFailed),
            TableLockedReason::LampBoard => Some(Name::LampBoard),
            TableLockedReason::Tumbler => Some(Name::TumblerFault),
            TableLockedReason::Display => Some(Name::DisplayFault),
            TableLockedReason::DeviceNotApproved => Some(Name::DeviceNotApproved),
            TableLockedReason::ReadsUnderCover => Some(Name::ReadsUnderCover),
            TableLockedReason::Seal => Some(Name::SealBroken),
            TableLockedReason::Door => Some(Name::DoorOpen),
            TableLockedReason::OutOfTurn => Some(Name::OutOfTurn),
            TableLockedReason::Digest => Some(Name::DigestDiffers),
            TableLockedReason::Configuration => Some(Name::ConfigurationDiffers),
            TableLockedReason::Unspecified
            | TableLockedReason::Journal
            | TableLockedReason::Disk
            | TableLockedReason::Supervisor => None,
        }
    }

    /// The alert of a condition.
    pub(crate) fn of_condition(condition: Condition) -> Name {
        match condition {
            Condition::DiskLow => Name::DiskLow,
            Condition::DiskFilling => Name::DiskFilling,
            Condition::JournalFailed => Name::JournalFailed,
            Condition::JournalMovedAside => Name::JournalMovedAside,
            Condition::JournalDamaged => Name::JournalDamaged,
            Condition::JournalRolledBack => Name::JournalRolledBack,
            Condition::JournalSlow => Name::JournalSlow,
            Condition::BrokerRefuses => Name::BrokerRefuses,
            Condition::BrokerUnreachable => Name::BrokerUnreachable,
            Condition::NobodyListening => Name::NobodyListening,
            Condition::TakenOver => Name::TakenOver,
            Condition::EventSetAside => Name::EventSetAside,
            Condition::LinkOdd(_) => Name::LinkOdd,
            Condition::ClockUnsynchronised => Name::ClockUnsynchronised,
            Condition::CertificateExpires => Name::CertificateExpires,
            Condition::CertificateRefused => Name::CertificateRefused,
        }
    }

    /// What it tells of is over.
    fn is_over(self, state: &State) -> bool {
        match self.until() {
            Until::Unlocked(reason) => !state.locks.iter().any(|lock| lock.reason == reason),
            Until::Resumed => !state.is_held(),
            Until::Over => false,
            Until::Acknowledged => state.alerts.get(self.as_str()).is_some_and(|alert| alert.acknowledged),
        }
    }
}

/// Raises the alerts of locks that stand, and clears those that are over.
pub(crate) fn follow<F: Family>(draft: &mut Draft<'_, F>) {
    if draft.state.alerts.is_empty() && draft.state.locks.is_empty() {
        return;
    }
    for lock in draft.state.locks.clone() {
        let Some(name) = Name::of_lock(lock.reason) else {
            continue;
        };
        if !draft.state.alerts.contains_key(name.as_str()) && draft.has_room(1) {
            draft.raise(name, lock.text);
        }
    }
    for name in Name::ALL.iter().copied() {
        if draft.state.alerts.contains_key(name.as_str()) && name.is_over(&draft.state) && draft.has_room(1) {
            clear(draft, name);
        }
    }
}

/// Raises an alert; one that stands and told something else is raised anew.
pub(crate) fn raise_anew<F: Family>(draft: &mut Draft<'_, F>, name: Name, text: impl Into<String>) {
    let text = text.into();
    let standing = draft.state.alerts.get(name.as_str());
    // The state keeps the beginning of a long text.
    if standing.is_some_and(|alert| text.starts_with(&alert.text)) {
        return;
    }
    let alert = name.as_str().to_string();
    draft.record(Source::gateway(), Body::AlertRaised(AlertRaised { alert, text }));
}

/// Clears an alert that stands.
pub(crate) fn clear<F: Family>(draft: &mut Draft<'_, F>, name: Name) {
    if draft.state.alerts.contains_key(name.as_str()) {
        let alert = name.as_str().to_string();
        draft.record(Source::gateway(), Body::AlertCleared(AlertCleared { alert }));
    }
}

/// An alert whose text says what is the matter now: raised anew when that is something else.
pub(crate) fn tell<F: Family>(draft: &mut Draft<'_, F>, name: Name, text: &str) {
    let standing = draft.state.alerts.get(name.as_str());
    if standing.is_none_or(|alert| alert.text != text) {
        let alert = name.as_str().to_string();
        let text = text.to_string();
        draft.record(Source::gateway(), Body::AlertRaised(AlertRaised { alert, text }));
    }
}

/// A device's link became odd, or is in order again. One alert tells of every link that is odd now, and is raised anew when
/// that changes.
pub(crate) fn link_odd<F: Family>(draft: &mut Draft<'_, F>, kind: DeviceKind, text: &str, standing: bool) {
    let odd = &mut draft.seen.odd_links;
    let before = if standing {
        odd.insert(kind, text.to_string())
    } else {
        odd.remove(&kind)
    };
    if odd.is_empty() {
        return clear(draft, Name::LinkOdd);
    }
    let is_known = before.as_deref() == standing.then_some(text);
    if is_known {
        return;
    }
    let texts: Vec<&str> = odd.values().map(String::as_str).collect();
    let raised = AlertRaised {
        alert: Name::LinkOdd.as_str().to_string(),
        text: texts.join("; "),
    };
    draft.record(Source::gateway(), Body::AlertRaised(raised));
}

/// A run begins: conditions are judged anew, and whoever finds that one lasts raises it again.
pub(crate) fn started<F: Family>(draft: &mut Draft<'_, F>) {
    for name in Name::ALL.iter().copied().filter(|name| name.until() == Until::Over) {
        if draft.has_room(1) {
            clear(draft, name);
        }
    }
}

/// A condition is over: its alert goes, unless it waits for a person or a lock.
pub(crate) fn condition_over<F: Family>(draft: &mut Draft<'_, F>, name: Name) {
    if name.until() == Until::Over {
        clear(draft, name);
    }
}
