//! The terminal's contacts: the supervisor's key, and which of the others closed. PURE. Its keys are in [`super::entry`]; what bell
//! and "no spin" mean is the game's.
//!
//! Bell and "no spin" are judged by how often they closed, never by their level: a press may become known late, but not be lost.

use crate::table::draft::Draft;
use crate::table::entry;
use crate::table::event::{Body, DeviceOnline};
use crate::table::game::Family;
use crate::table::input::{Contact, ContactReport, DeviceIdentity, DeviceKind, TerminalReport};
use crate::table::seen::Authority;

/// When a signal became known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Missed {
    /// As it happened.
    Live,
    /// When the device, or the table, came back.
    WhileAway,
}

/// The terminal was greeted.
pub(crate) fn greeted<F: Family>(draft: &mut Draft<'_, F>, identity: &DeviceIdentity, report: &TerminalReport) {
    let before = if draft.seen.terminal.boot_id == identity.boot_id {
        closings(draft, Contact::Bell)
    } else {
        0
    };
    draft.seen.terminal.boot_id = identity.boot_id;
    draft.seen.terminal.contacts = report.contacts.iter().map(|c| (c.contact, c.clone())).collect();
    let found = F::find(draft, Missed::WhileAway);
    draft.seen.key = match draft.seen.terminal.contacts.get(&Contact::SupervisorKey) {
        Some(key) if key.closed => Authority::Spent { since: draft.now },
        Some(_) | None => Authority::Off,
    };
    entry::greeted(draft, report);
    let online = DeviceOnline {
        firmware: identity.firmware.clone(),
        boot_id: identity.boot_id,
        lamp_count: identity.lamp_count,
        firmware_digest: identity.firmware_digest.clone(),
        counters: None,
        closings: draft.closings(),
        counters_kept: false,
    };
    let source = draft.device_itself(DeviceKind::Terminal);
    draft.record(source, Body::DeviceOnline(online));
    let facts = draft.fact_count();
    F::found(draft, found, Missed::WhileAway);
    if draft.fact_count() == facts {
        count_rings(draft, before);
    }
}

/// Rings of which nothing came; of several that became known at once only the last one's time did.
fn count_rings<F: Family>(draft: &mut Draft<'_, F>, before: u32) {
    let times = closings(draft, Contact::Bell).saturating_sub(before);
    let bell = draft.seen.terminal.contacts.get(&Contact::Bell);
    let last = bell.and_then(|bell| bell.last_closed);
    if times > 0 {
        F::rang_unheard(draft, times, last);
    }
}

/// A status that was asked for in mid session: what it says happens now.
pub(crate) fn status<F: Family>(draft: &mut Draft<'_, F>, report: &TerminalReport) {
    let key = report.contacts.iter().find(|c| c.contact == Contact::SupervisorKey);
    if let Some(key) = key {
        supervisor_key(draft, key);
    }
    let before = closings(draft, Contact::Bell);
    draft.seen.terminal.contacts = report.contacts.iter().map(|c| (c.contact, c.clone())).collect();
    let found = F::find(draft, Missed::Live);
    let facts = draft.fact_count();
    F::found(draft, found, Missed::Live);
    let bell = report.contacts.iter().find(|c| c.contact == Contact::Bell);
    if let Some(bell) = bell.filter(|bell| bell.closings > before)
        && draft.fact_count() == facts
    {
        // No event counts from before this ring, as in the rest before bets open: it was rung now.
        F::bell(
            draft,
            bell.last_closed.map_or(draft.now, |at| at.min(draft.now)),
            bell.last_closed,
        );
        if draft.fact_count() == facts {
            count_rings(draft, before);
        }
    }
}

/// How often a contact has closed, as far as is known.
pub(crate) fn closings<F: Family>(draft: &Draft<'_, F>, contact: Contact) -> u32 {
    let known = draft.seen.terminal.contacts.get(&contact);
    known.map_or(0, |known| known.closings)
}

/// One contact changed, live.
pub(crate) fn contact<F: Family>(draft: &mut Draft<'_, F>, report: &ContactReport) {
    let before = closings(draft, report.contact);
    if report.contact == Contact::SupervisorKey {
        supervisor_key(draft, report);
    }
    draft.seen.terminal.contacts.insert(report.contact, report.clone());
    let closed = report.closings > before;
    let at = report.last_closed.map_or(draft.now, |at| at.min(draft.now));
    match report.contact {
        Contact::Bell if closed => {
            let facts = draft.fact_count();
            F::bell(draft, at, report.last_closed);
            if draft.fact_count() == facts {
                count_rings(draft, before);
            }
        }
        Contact::NoSpinButton if closed => F::no_spin(draft, at),
        // The door is judged by its level, where locks are.
        Contact::Bell | Contact::NoSpinButton | Contact::CabinetDoor | Contact::SupervisorKey => {}
    }
}

/// Turned on it gives authority for one act.
fn supervisor_key<F: Family>(draft: &mut Draft<'_, F>, report: &ContactReport) {
    let known = draft.seen.terminal.contacts.get(&Contact::SupervisorKey);
    let turned_on = known.map_or(0, |known| known.closings) != report.closings;
    draft.seen.key = match (report.closed, draft.seen.key) {
        (false, _) => Authority::Off,
        (true, _) if turned_on => Authority::Running { since: draft.now },
        (true, Authority::Off) => Authority::Spent { since: draft.now },
        (true, key @ (Authority::Running { .. } | Authority::Spent { .. })) => key,
    };
}
