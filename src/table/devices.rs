//! Devices come and go. PURE.

use crate::table::draft::Draft;
use crate::table::event::{Body, DeviceFaultCleared, DeviceFaulted, DeviceOffline, DeviceOfflineReason, DeviceRef};
use crate::table::game::Family;
use crate::table::input::{DeviceIdentity, DeviceKind, DeviceStatus};
use crate::table::seen::{Authority, Link};
use crate::table::{lamps, locks, terminal};

/// Faults of devices that are remembered as standing; more are recorded each time they are told.
const MOST_FAULTS: usize = 64;

/// A device was greeted and gave its whole status.
pub(crate) fn up<F: Family>(draft: &mut Draft<'_, F>, identity: &DeviceIdentity, status: &DeviceStatus) {
    let link = Link {
        identity: Some(identity.clone()),
        down: None,
        since: draft.now,
    };
    draft.seen.links.insert(identity.kind, link);
    draft.seen.faults.retain(|(kind, _)| *kind != identity.kind);
    match (identity.kind, status) {
        (DeviceKind::Tumbler, DeviceStatus::Tumbler(report)) => F::tumbler_greeted(draft, identity, report),
        (DeviceKind::Terminal, DeviceStatus::Terminal(report)) => terminal::greeted(draft, identity, report),
        (kind @ (DeviceKind::LayoutLamps | DeviceKind::ResultLights), DeviceStatus::Lamps(report))
            if kind == F::LAMPS =>
        {
            lamps::greeted(draft, identity, report);
        }
        // Lamps of another game; a status of another kind is refused by the link.
        (DeviceKind::LayoutLamps | DeviceKind::ResultLights, _)
        | (DeviceKind::Tumbler, DeviceStatus::Terminal(_) | DeviceStatus::Lamps(_))
        | (DeviceKind::Terminal, DeviceStatus::Tumbler(_) | DeviceStatus::Lamps(_)) => return,
    }
    locks::check_approval(draft, identity.kind);
}

/// A device can't be used.
pub(crate) fn down<F: Family>(draft: &mut Draft<'_, F>, kind: DeviceKind, reason: DeviceOfflineReason, text: &str) {
    let was_online = draft.state.is_online(kind);
    let now = draft.now;
    let link = draft.seen.links.entry(kind).or_default();
    if !was_online && link.down == Some(reason as i32) {
        return;
    }
    if was_online || link.down.is_none() {
        link.since = now;
    }
    link.down = Some(reason as i32);
    let device = draft.device(kind).unwrap_or(DeviceRef {
        kind: kind.to_event() as i32,
        serial_number: String::new(),
    });
    let offline = DeviceOffline {
        reason: reason as i32,
        text: text.into(),
    };
    let source = draft.device_itself(kind).with_device(Some(device));
    draft.record(source, Body::DeviceOffline(offline));
    match kind {
        DeviceKind::Terminal => {
            // What it held is gone, and a key that is on must be turned off and on again.
            draft.seen.key = Authority::Off;
            draft.seen.entry.keys.clear();
        }
        DeviceKind::LayoutLamps | DeviceKind::ResultLights => {
            draft.seen.lamps.acknowledged = None;
            draft.seen.lamps.judged = false;
        }
        DeviceKind::Tumbler => {}
    }
}

/// A device reported a fault of its own, or that one is over: for the technician. What matters to play shows in its status.
pub(crate) fn fault<F: Family>(draft: &mut Draft<'_, F>, kind: DeviceKind, code: u32, text: &str, raised: bool) {
    let source = draft.device_itself(kind);
    let known = draft.seen.faults.contains(&(kind, code));
    if raised && !known {
        if draft.seen.faults.len() < MOST_FAULTS {
            draft.seen.faults.insert((kind, code));
        }
        let faulted = DeviceFaulted {
            code,
            text: text.into(),
        };
        draft.record(source, Body::DeviceFaulted(faulted));
    } else if !raised {
        draft.seen.faults.remove(&(kind, code));
        draft.record(source, Body::DeviceFaultCleared(DeviceFaultCleared { code }));
    }
}
