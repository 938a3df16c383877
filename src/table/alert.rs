//! Alerts: their stable names, when they stand, and when they are forgotten. PURE.
//!
//! An alert is raised once and stands until what it tells of is over; what is over at once stands until somebody acknowledges it.
//! One that is over before a named person has acknowledged it doesn't vanish: people go on seeing it as over, until one of them
//! acknowledges it. Only what nobody need know afterwards goes without a word. Whoever ends a lock by a procedure has seen its alert.

use crate::table::draft::{Draft, Source};
use crate::table::event::{AlertCleared, AlertRaised, Body, TableLockedReason};
use crate::table::game::Family;
use crate::table::input::{Condition, DeviceKind};
use crate::table::state::{Lock, State, is_kept_of};

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

/// What remains of an alert that is over and that nobody has acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Then {
    /// It is shown as over until somebody acknowledges it.
    Shown,
    /// Nothing: who was there knows, and nobody else need.
    Gone,
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $until:expr, $then:expr;)*) => {
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

            fn then(self) -> Then {
                match self { $(Name::$name => $then),* }
            }
        }
    };
}

names! {
    /// A lamp failed: the next round is held back.
    LampFailed = "lamp_failed", Until::Unlocked(TableLockedReason::Lamp), Then::Shown;
    /// More areas failed than are named.
    LampBoard = "lamp_board_failed", Until::Unlocked(TableLockedReason::LampBoard), Then::Shown;
    /// The tumbler has a fault.
    TumblerFault = "tumbler_fault", Until::Unlocked(TableLockedReason::Tumbler), Then::Shown;
    /// The results display has a fault.
    DisplayFault = "display_fault", Until::Unlocked(TableLockedReason::Display), Then::Shown;
    /// A device whose serial number is not approved.
    DeviceNotApproved = "device_not_approved", Until::Unlocked(TableLockedReason::DeviceNotApproved), Then::Shown;
    /// A reader that reads under the cover.
    ReadsUnderCover = "reads_under_cover", Until::Unlocked(TableLockedReason::ReadsUnderCover), Then::Shown;
    /// The seal of the dice is broken.
    SealBroken = "seal_broken", Until::Unlocked(TableLockedReason::Seal), Then::Shown;
    /// The cabinet's door is open.
    DoorOpen = "door_open", Until::Unlocked(TableLockedReason::Door), Then::Shown;
    /// The tumbler was started out of turn.
    OutOfTurn = "tumbler_out_of_turn", Until::Unlocked(TableLockedReason::OutOfTurn), Then::Shown;
    /// An approved digest differs.
    DigestDiffers = "digest_differs", Until::Unlocked(TableLockedReason::Digest), Then::Shown;
    /// The configuration is not that of the open round.
    ConfigurationDiffers = "configuration_differs", Until::Unlocked(TableLockedReason::Configuration), Then::Shown;
    /// A round waits for a supervisor.
    RoundHeld = "round_held", Until::Resumed, Then::Gone;
    /// A bell for a void round arrived when the cover was on again: the round stays as it is.
    LateBell = "late_bell", Until::Acknowledged, Then::Shown;
    /// A result light has failed: cards stand in for it.
    LightFailed = "result_light_failed", Until::Over, Then::Shown;
    /// The supervisor's key has been on for a minute.
    KeyLeftOn = "supervisor_key_left_on", Until::Over, Then::Gone;
    /// Room for the journal runs out.
    DiskLow = "disk_low", Until::Over, Then::Shown;
    /// The journal could not be written.
    JournalFailed = "journal_failed", Until::Unlocked(TableLockedReason::Journal), Then::Shown;
    /// A journal was moved aside.
    JournalMovedAside = "journal_moved_aside", Until::Unlocked(TableLockedReason::Journal), Then::Shown;
    /// The background check of the journal failed.
    JournalDamaged = "journal_damaged", Until::Unlocked(TableLockedReason::Journal), Then::Shown;
    /// The disk went back in time.
    JournalRolledBack = "journal_rolled_back", Until::Unlocked(TableLockedReason::Journal), Then::Shown;
    /// An append was slow.
    JournalSlow = "journal_slow", Until::Over, Then::Shown;
    /// Events can't be read from the disk, and wait for the floor.
    JournalUnreadable = "journal_unreadable", Until::Over, Then::Shown;
    /// The disk fills, and nothing is deleted because the clock isn't synchronised.
    DiskFilling = "disk_filling", Until::Over, Then::Shown;
    /// The broker refuses what the table publishes.
    BrokerRefuses = "broker_refuses", Until::Over, Then::Shown;
    /// No broker can be reached.
    BrokerUnreachable = "broker_unreachable", Until::Over, Then::Shown;
    /// Nobody subscribes to the events.
    NobodyListening = "nobody_listening", Until::Over, Then::Shown;
    /// Another gateway uses this table's identity.
    TakenOver = "taken_over", Until::Over, Then::Shown;
    /// An event was set aside, and a person should know.
    EventSetAside = "event_set_aside", Until::Acknowledged, Then::Shown;
    /// A link is odd.
    LinkOdd = "link_odd", Until::Over, Then::Shown;
    /// The wall clock is not synchronised.
    ClockUnsynchronised = "clock_unsynchronised", Until::Over, Then::Shown;
    /// The table's own certificate, or one of those it trusts, expires soon or has expired.
    CertificateExpires = "certificate_expires", Until::Over, Then::Shown;
    /// A certificate is not taken, the broker's or the table's own.
    CertificateRefused = "certificate_refused", Until::Over, Then::Shown;
    /// A device that the game needs has been away for a minute while the table was open, or being opened.
    DeviceOffline = "device_offline", Until::Over, Then::Shown;
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
    #[must_use]
    pub fn of_condition(condition: Condition) -> Name {
        match condition {
            Condition::DiskLow => Name::DiskLow,
            Condition::DiskFilling => Name::DiskFilling,
            Condition::JournalFailed => Name::JournalFailed,
            Condition::JournalMovedAside => Name::JournalMovedAside,
            Condition::JournalDamaged => Name::JournalDamaged,
            Condition::JournalRolledBack => Name::JournalRolledBack,
            Condition::JournalSlow => Name::JournalSlow,
            Condition::JournalUnreadable => Name::JournalUnreadable,
            Condition::BrokerRefuses => Name::BrokerRefuses,
            Condition::BrokerUnreachable => Name::BrokerUnreachable,
            Condition::NobodyListening => Name::NobodyListening,
            Condition::TakenOver => Name::TakenOver,
            Condition::EventSetAside => Name::EventSetAside,
            Condition::LinkOdd(_) => Name::LinkOdd,
            Condition::ClockUnsynchronised => Name::ClockUnsynchronised,
            Condition::CertificateExpires => Name::CertificateExpires,
            Condition::CertificateRefused => Name::CertificateRefused,
            Condition::DeviceOffline => Name::DeviceOffline,
        }
    }

    /// What it tells of is over.
    fn is_over(self, state: &State) -> bool {
        match self.until() {
            Until::Unlocked(reason) => !state.locks.iter().any(|lock| lock.reason == reason),
            Until::Resumed => !state.is_held(),
            Until::Over => false,
            Until::Acknowledged => state.standing(self).is_some_and(|alert| alert.acknowledged),
        }
    }
}

/// Nothing remains of the alert of this name once it is over. One that this version doesn't know is shown.
pub(crate) fn goes_unseen(alert: &str) -> bool {
    let known = Name::ALL.iter().find(|name| name.as_str() == alert);
    known.is_some_and(|name| name.then() == Then::Gone)
}

/// The alerts that stand as long as a lock of this reason does.
pub(crate) fn of_locks(reason: TableLockedReason) -> impl Iterator<Item = Name> {
    let names = Name::ALL.iter().copied();
    names.filter(move |name| name.until() == Until::Unlocked(reason))
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
        let is_due = draft.state.standing(name).is_none() || tells_otherwise(draft, name, &lock);
        if is_due && draft.has_room(1) {
            raise_anew(draft, name, lock.text);
        }
    }
    for name in Name::ALL.iter().copied() {
        if draft.state.standing(name).is_some() && name.is_over(&draft.state) && draft.has_room(1) {
            clear(draft, name);
        }
    }
}

/// Raises an alert; one that stands and told something else is raised anew: whoever has acknowledged that has not seen this.
pub(crate) fn raise_anew<F: Family>(draft: &mut Draft<'_, F>, name: Name, text: impl Into<String>) {
    let text = text.into();
    let is_told = draft
        .state
        .standing(name)
        .is_some_and(|alert| match draft.seen.alerts.get(&name) {
            Some(whole) => *whole == text,
            // Of an earlier run the beginning of a long text is known.
            None => is_kept_of(&alert.text, &text),
        });
    if !is_told && is_part_of_an_earlier_run(draft, name, &text) {
        return;
    }
    draft.seen.alerts.insert(name, text.clone());
    if is_told {
        return;
    }
    let alert = name.as_str().to_string();
    draft.record(Source::gateway(), Body::AlertRaised(AlertRaised { alert, text }));
}

/// What separates the causes that one alert tells of.
const CAUSES: &str = "; ";

/// A run finds the causes of a condition one after another (two brokers that are tried in turn): as long as all that it found are among
/// those that the alert told of before the restart, nothing has changed.
fn is_part_of_an_earlier_run<F: Family>(draft: &Draft<'_, F>, name: Name, text: &str) -> bool {
    if name.until() != Until::Over || draft.seen.alerts.contains_key(&name) {
        return false;
    }
    draft.state.standing(name).is_some_and(|alert| {
        let told: Vec<&str> = alert.text.split(CAUSES).collect();
        text.split(CAUSES).all(|cause| told.contains(&cause))
    })
}

/// What a lock tells now is not what its alert told. An alert that names what its lock doesn't is its own.
fn tells_otherwise<F: Family>(draft: &Draft<'_, F>, name: Name, lock: &Lock) -> bool {
    if lock.reason == TableLockedReason::DeviceNotApproved {
        return false;
    }
    draft
        .state
        .standing(name)
        .is_some_and(|alert| !is_kept_of(&alert.text, &lock.text) && !is_kept_of(&lock.text, &alert.text))
}

/// Clears an alert that stands.
pub(crate) fn clear<F: Family>(draft: &mut Draft<'_, F>, name: Name) {
    if draft.state.standing(name).is_some() {
        let alert = name.as_str().to_string();
        draft.record(Source::gateway(), Body::AlertCleared(AlertCleared { alert }));
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

/// A run begins: what was known of links is known no longer. Every other condition goes on standing until whoever watches it finds
/// that it is over, so that what a person has acknowledged isn't raised anew by a restart.
pub(crate) fn started<F: Family>(draft: &mut Draft<'_, F>) {
    if draft.has_room(1) {
        clear(draft, Name::LinkOdd);
    }
}

/// A condition is over: its alert goes, unless it waits for a person or a lock.
pub(crate) fn condition_over<F: Family>(draft: &mut Draft<'_, F>, name: Name) {
    if name.until() == Until::Over {
        clear(draft, name);
    }
}
