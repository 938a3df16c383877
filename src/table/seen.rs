//! What has been seen and is not a fact: last statuses, the keys of the running entry, counts that become facts later. PURE.
//!
//! Gone at a restart: devices are greeted anew, and what they say then counts as happening then.

use crate::rules::citation::Citation;
use crate::table::alert;
use crate::table::device_test::DeviceTest;
use crate::table::draft::Source;
use crate::table::event::{ActRefused, Actor, OpeningCheck};
use crate::table::indicators::Readout;
use crate::table::input::{
    Contact, ContactReport, Cover, DeviceIdentity, DeviceKind, Key, LampReport, Motion, Outcome, TumblerReport,
};
use crate::table::mode::Mode;
use crate::table::state::{ContactCount, Count};
use crate::time::Uptime;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::Discriminant;
use std::time::Duration;

/// What was seen and is not a fact. Gone at a restart.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Seen {
    pub(crate) links: BTreeMap<DeviceKind, Link>,
    pub(crate) tumbler: TumblerSeen,
    pub(crate) terminal: TerminalSeen,
    pub(crate) lamps: LampsSeen,
    pub(crate) entry: EntrySeen,
    pub(crate) key: Authority,
    pub(crate) readout: ReadoutSeen,
    pub(crate) refusals: Vec<Repeated>,
    pub(crate) refused_acts: RefusedActs,
    pub(crate) stale: Option<Burst>,
    pub(crate) opening: OpeningSeen,
    /// A device's test that runs in Test.
    pub(crate) device_test: Option<Box<DeviceTest>>,
    /// Places of the board that a test found to work again and of which no fact is recorded yet, and whose test it was.
    pub(crate) mended: Vec<(usize, Source)>,
    /// The connection that Test or the opening belongs to.
    pub(crate) owner: Option<u64>,
    /// When this run of the table began: what lies before belongs to an earlier one.
    pub(crate) run_began: Uptime,
    /// One decision had no room for everything that is due: the next one goes on at once.
    pub(crate) unfinished: bool,
    /// When the last input came: nothing is due earlier.
    pub(crate) latest: Uptime,
    /// Freezes that were raised for what still stands, so that a supervisor's word isn't undone at once.
    pub(crate) door_reported: bool,
    pub(crate) seal_reported: bool,
    /// Devices whose link is odd, and how.
    pub(crate) odd_links: BTreeMap<DeviceKind, String>,
    /// What alerts told last in this run, whole.
    pub(crate) alerts: BTreeMap<alert::Name, String>,
    /// Faults that devices reported and have not cleared.
    pub(crate) faults: BTreeSet<(DeviceKind, u32)>,
}

/// A link, as far as its device is concerned.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Link {
    /// Who was greeted last.
    pub(crate) identity: Option<DeviceIdentity>,
    /// Why it is down, as last recorded.
    pub(crate) down: Option<i32>,
    /// Since when it is down, or up.
    pub(crate) since: Uptime,
}

/// The tumbler.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct TumblerSeen {
    /// Its last status; kept while the link is down.
    pub(crate) report: Option<TumblerReport>,
    /// When the cover went off; `None` while it is on (or was never seen off).
    pub(crate) off_at: Option<Uptime>,
    /// It was found off, not seen going off.
    pub(crate) off_while_away: bool,
    /// An exposure before the bell that lasted long enough to count, though the cover may lie on again.
    pub(crate) exposed_at: Option<Uptime>,
    /// When the cover came on.
    pub(crate) on_at: Option<Uptime>,
    /// When it came to rest.
    pub(crate) rest_at: Uptime,
    /// Spins since the base that don't count: made with the cover off, or begun before the base was taken.
    pub(crate) discount: u32,
    /// It was spinning when the base was taken, at this count: what it counts until it rests doesn't count.
    pub(crate) spinning_at_base: Option<u32>,
    /// When the cover went off for a round that was held, or voided, for want of a bell.
    pub(crate) early_off: Option<Uptime>,
    /// When the cover went off for a round that was void for want of a bell, while the next one is spun: a bell that became known only now may
    /// have rung in time for it.
    pub(crate) void_off: Option<Uptime>,
    /// A spin that began before bets opened and became known afterwards, or that a supervisor accepted while it lasted.
    pub(crate) tolerated_spin: bool,
    /// When a bell last rang in `ready` without a tumble.
    pub(crate) bell_without_tumble: Option<Uptime>,
    /// A fault that stands, so that it is declared once.
    pub(crate) faulty: bool,
}

/// A bell, or a "no spin", again within this time is a bounce.
const BOUNCE: Duration = Duration::from_secs(1);

/// The terminal's contacts.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct TerminalSeen {
    pub(crate) contacts: BTreeMap<Contact, ContactReport>,
    pub(crate) boot_id: u32,
    /// The last bell that counted.
    pub(crate) bell: Option<Signal>,
    /// The last "no spin" that counted, by contact or key.
    pub(crate) no_spin: Option<Signal>,
}

/// A signal that counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Signal {
    /// When it was given, by the device's clock.
    pub(crate) at: Uptime,
    /// When it became known.
    pub(crate) heard: Uptime,
}

/// The lamps.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct LampsSeen {
    pub(crate) report: Option<LampReport>,
    /// The picture acknowledged last, and when.
    pub(crate) acknowledged: Option<(Vec<u8>, Uptime)>,
    /// That picture was compared with what is lit.
    pub(crate) judged: bool,
    /// Lamps that were named: flicker is counted until this is over.
    pub(crate) flicker: Vec<Flicker>,
}

/// An area's lamps after their failure was recorded.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Flicker {
    pub(crate) area: usize,
    pub(crate) wrongly_lit: bool,
    pub(crate) since: Uptime,
    pub(crate) round: u64,
    /// Failures after the recorded one.
    pub(crate) more: u32,
    /// It fails now.
    pub(crate) failing: bool,
}

/// The running entry.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct EntrySeen {
    /// Its number; 0 until the terminal was greeted.
    pub(crate) number: u32,
    /// The host's own copy of the last keys.
    pub(crate) keys: Vec<Pressed>,
    /// A key that this game doesn't have was pressed in this entry.
    pub(crate) unknown_key: bool,
    /// When a key of any entry was last taken.
    pub(crate) last_key_at: Option<Uptime>,
    /// When an entry was last refused.
    pub(crate) refused_at: Option<Uptime>,
    /// Presses of another entry number, dropped.
    pub(crate) dropped: u32,
}

/// A key of the running entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pressed {
    pub(crate) key: Key,
    pub(crate) at: Uptime,
}

/// What the supervisor's key gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Authority {
    /// The key is off.
    #[default]
    Off,
    /// Turned on: authority for one act.
    Running {
        /// Since.
        since: Uptime,
    },
    /// On, and counts as off: used, too long, or found so.
    Spent {
        /// Turned on, or found on.
        since: Uptime,
    },
}

/// The readout.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct ReadoutSeen {
    /// As last wanted.
    pub(crate) wanted: Readout,
    /// The wanted text is on the readout as far as we know.
    pub(crate) in_force: bool,
    /// A code, shown until then or until a key.
    pub(crate) notice: Option<Notice>,
    /// Keys hid the three numbers of the entered result.
    pub(crate) numbers_hidden: bool,
}

/// A code on the readout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Notice {
    pub(crate) text: &'static str,
    pub(crate) until: Uptime,
    /// It is new: it is sent even when the same one stands.
    pub(crate) fresh: bool,
    /// What the table was then: it tells nothing of what the table is afterwards.
    pub(crate) during: Discriminant<Mode>,
}

/// Equal refusals.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Repeated {
    pub(crate) code: u32,
    pub(crate) text: &'static str,
    pub(crate) rule: Citation,
    pub(crate) shown: Vec<u32>,
    pub(crate) since: Uptime,
    pub(crate) round: u64,
    /// After the recorded first.
    pub(crate) more: u32,
}

/// Acts of people that were refused.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct RefusedActs {
    /// Recorded once, and counted since.
    pub(crate) repeated: Vec<RefusedAct>,
    /// Beyond what may be recorded at a time: counted only.
    pub(crate) others: Option<OtherActs>,
    /// What was recorded is worked off by then.
    pub(crate) worked_off: Uptime,
}

/// Equal refusals of an act.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RefusedAct {
    /// What the first of them was recorded as.
    pub(crate) first: ActRefused,
    pub(crate) by: Actor,
    pub(crate) rule: Citation,
    pub(crate) since: Uptime,
    pub(crate) round: u64,
    /// After the recorded first.
    pub(crate) more: u32,
}

/// Refused acts that are only counted.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct OtherActs {
    /// Who asked for the last of them.
    pub(crate) by: Actor,
    pub(crate) since: Uptime,
    pub(crate) count: u32,
}

/// A burst of stale keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Burst {
    pub(crate) count: u32,
    pub(crate) newest: Uptime,
}

/// While the table is opened.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct OpeningSeen {
    pub(crate) walk: Option<Walk>,
    /// The areas of a test entry are lit.
    pub(crate) test_faces: Option<[u8; 3]>,
    /// Likewise at a two-up table.
    pub(crate) test_outcome: Option<Outcome>,
    /// The tumbler's counters when the checks began, or when it was started by command.
    pub(crate) count: Option<Count>,
}

/// The walk over every lamp.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Walk {
    /// The area that is lit.
    pub(crate) area: usize,
    /// Since when.
    pub(crate) since: Uptime,
    /// Areas that did not follow.
    pub(crate) failed: Vec<usize>,
    /// The lamps repeat the command: only a person can tell.
    pub(crate) unproven: bool,
    /// Check that the walk records.
    pub(crate) check: OpeningCheck,
}

impl TumblerSeen {
    pub(crate) fn count(&self) -> Option<Count> {
        self.report.as_ref().map(Count::from)
    }

    pub(crate) fn cover(&self) -> Cover {
        self.report.as_ref().map_or(Cover::Unknown, |report| report.cover)
    }

    pub(crate) fn is_spinning(&self) -> bool {
        self.report
            .as_ref()
            .is_some_and(|report| report.motion == Motion::Spinning)
    }
}

impl From<&TumblerReport> for Count {
    fn from(report: &TumblerReport) -> Self {
        Count {
            activations: report.activations,
            spins: report.spins,
        }
    }
}

impl Signal {
    /// The same signal so soon after this one that nobody gave it anew: a contact bounces, or a person says it twice. Both clocks
    /// must say so, for the relation of one to the other may move by a part of a second.
    pub(crate) fn bounces_to(self, next: Signal) -> bool {
        next.at >= self.at && next.at.since(self.at) < BOUNCE && next.heard.since(self.heard) < BOUNCE
    }
}

impl TerminalSeen {
    /// "No spin" was said a moment ago, and bets were not called since: it is not said anew.
    pub(crate) fn has_said(&self, no_spin: Signal) -> bool {
        let called_since = |last: Signal| self.bell.is_some_and(|bell| bell.heard > last.heard);
        self.no_spin
            .is_some_and(|last| last.bounces_to(no_spin) && !called_since(last))
    }

    /// A contact's count as events record it; a contact that isn't fitted never closed.
    pub(crate) fn count(&self, contact: Contact) -> ContactCount {
        ContactCount {
            closings: self.contacts.get(&contact).map_or(0, |report| report.closings),
            boot_id: self.boot_id,
        }
    }
}

impl EntrySeen {
    /// When a key of the running entry was last taken.
    pub(crate) fn running_key_at(&self) -> Option<Uptime> {
        self.keys.last().map(|pressed| pressed.at)
    }
}

impl Seen {
    /// The serial number of a device that was greeted in this run.
    pub(crate) fn serial_number(&self, kind: DeviceKind) -> Option<&str> {
        let identity = self.links.get(&kind)?.identity.as_ref()?;
        Some(&identity.serial_number)
    }

    /// Authority is there to be used, or to be turned off.
    pub(crate) fn has_authority(&self) -> bool {
        match self.key {
            Authority::Running { .. } => true,
            Authority::Off | Authority::Spent { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounce_is_one_by_both_clocks() {
        let ms = |ms: u64| Uptime::from_micros(ms * 1_000);
        let last = Signal {
            at: ms(5_000),
            heard: ms(5_040),
        };
        for (at, heard, bounces) in [
            (5_020, 5_060, true),
            (5_999, 6_039, true),
            (6_000, 6_040, false),
            // Rung 1.06 s later; the relation of the clocks has moved by 90 ms either way.
            (5_970, 6_100, false),
            (6_150, 6_100, false),
            // Rung long since, and known only now; or rung before.
            (6_500, 5_060, false),
            (4_990, 5_060, false),
        ] {
            let next = Signal {
                at: ms(at),
                heard: ms(heard),
            };
            assert_eq!(last.bounces_to(next), bounces, "{at} {heard}");
        }
    }
}
