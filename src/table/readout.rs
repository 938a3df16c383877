//! What the terminal's readout should show: a refusal, what stands, or the keys. PURE.

use crate::table::device_test;
use crate::table::draft::Draft;
use crate::table::due::Look;
use crate::table::game::Family;
use crate::table::indicators::Readout;
use crate::table::input::DeviceKind;
use crate::table::mode::Mode;
use crate::table::rejection::{self, Code};
use crate::time::Uptime;
use std::time::Duration;

/// What stands is hidden by a key, and shown again this long after the last one.
const SHOWN_AGAIN: Duration = Duration::from_secs(3);

/// How long a code blinks; the terminal counts it by itself.
const NOTICE_MS: u32 = 3000;

/// No limit, until a key is taken.
const UNTIL_A_KEY: u32 = u32::MAX;

/// Something that stands.
pub(crate) enum Standing {
    Nothing,
    /// Comes back after keys.
    Code(Code),
    /// Is gone with the first key.
    Numbers(String),
}

fn standing<F: Family>(look: &Look<'_, F>) -> Standing {
    match &look.state.mode {
        Mode::Closed => Standing::Code(rejection::CLOSED),
        Mode::Test(_) => match device_test::readout(look) {
            Some(text) => Standing::Numbers(text.into()),
            None => Standing::Code(rejection::TEST),
        },
        Mode::Opening(_) => {
            Standing::Numbers(F::tested_text(look).unwrap_or_else(|| rejection::OPENING.readout.into()))
        }
        Mode::Open(_) if look.state.is_frozen() || look.state.is_held() => Standing::Code(rejection::LOCKED),
        Mode::Open(_) => F::standing(look),
    }
}

/// Keys hide what stands until then.
fn shown_again_at<F>(look: &Look<'_, F>) -> Option<Uptime> {
    look.seen.entry.last_key_at.map(|at| at + SHOWN_AGAIN)
}

/// Text, blinking, for how long.
fn desired<F: Family>(look: &Look<'_, F>, now: Uptime) -> Readout {
    let entry = look.seen.entry.number;
    let readout = |text: &str, blink: bool, for_ms: u32| Readout {
        text: text.into(),
        blink,
        entry,
        for_ms,
        serial: 0,
    };
    if let Some(notice) = look.seen.readout.notice.filter(|notice| notice.until > now) {
        return readout(notice.text, true, NOTICE_MS);
    }
    match standing(look) {
        Standing::Code(code) if shown_again_at(look).is_none_or(|at| at <= now) => {
            let quiet = code == rejection::CLOSED || code == rejection::TEST;
            readout(code.readout, !quiet, UNTIL_A_KEY)
        }
        Standing::Numbers(numbers) if !look.seen.readout.numbers_hidden => readout(&numbers, false, UNTIL_A_KEY),
        Standing::Nothing | Standing::Code(_) | Standing::Numbers(_) => readout("", false, 0),
    }
}

/// Works the wanted readout out anew; sends it again only when the terminal would show something else.
pub(crate) fn refresh<F: Family>(draft: &mut Draft<'_, F>) {
    if draft.seen.entry.number == 0 {
        return;
    }
    let now = draft.now;
    if draft.seen.readout.notice.is_some_and(|notice| notice.until <= now) {
        // The terminal has counted the time as well, and shows the keys.
        draft.seen.readout.notice = None;
        draft.seen.readout.in_force = false;
    }
    let mode = std::mem::discriminant(&draft.state.mode);
    if draft.seen.readout.notice.is_some_and(|notice| notice.during != mode) {
        // The terminal shows it still: what is desired now is sent in its place.
        draft.seen.readout.notice = None;
    }
    let desired = desired(&draft.look(), now);
    let seen = &mut draft.seen.readout;
    let fresh = seen
        .notice
        .as_mut()
        .is_some_and(|notice| std::mem::take(&mut notice.fresh));
    let shown = if seen.in_force { seen.wanted.text.as_str() } else { "" };
    let same = shown == desired.text && seen.wanted.entry == desired.entry;
    if same && !fresh {
        return;
    }
    seen.in_force = !desired.text.is_empty();
    seen.wanted = Readout {
        serial: seen.wanted.serial.wrapping_add(1),
        ..desired
    };
}

/// When the readout changes by itself.
pub(crate) fn next<F: Family>(look: &Look<'_, F>) -> Option<Uptime> {
    if look.seen.entry.number == 0 || !look.state.is_online(DeviceKind::Terminal) {
        return None;
    }
    if let Some(notice) = look.seen.readout.notice {
        return Some(notice.until);
    }
    match standing(look) {
        Standing::Code(_) if !look.seen.readout.in_force => shown_again_at(look).filter(|at| *at > look.seen.latest),
        Standing::Nothing | Standing::Code(_) | Standing::Numbers(_) => None,
    }
}
