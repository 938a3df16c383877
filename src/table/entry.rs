//! The entry terminal's keys: mirrored in every phase, judged at ENTER. PURE. What an entry means is the game's.

use crate::rules::citation::Citation;
use crate::table::draft::Draft;
use crate::table::due::Look;
use crate::table::event::{Body, EntryRejected, StaleKeysIgnored};
use crate::table::game::Family;
use crate::table::input::{Key, TerminalReport};
use crate::table::mode::Mode;
use crate::table::rejection::{self, Code};
use crate::table::seen::{Authority, Burst, EntrySeen, Pressed, Repeated};
use crate::time::Uptime;
use std::time::Duration;

/// Equal refusals after the first are counted this long.
const REPEATS: Duration = Duration::from_secs(10);

/// Different refusals that are counted at a time; the oldest is written early to make room.
const MOST_REPEATED: usize = 4;

/// Stale keys are one burst until none has come for this long.
const BURST_ENDS: Duration = Duration::from_secs(1);

/// A key was pressed.
pub(crate) fn key<F: Family>(draft: &mut Draft<'_, F>, key: Key, entry: u32, at: Uptime) {
    if entry != draft.seen.entry.number {
        draft.seen.entry.dropped = draft.seen.entry.dropped.saturating_add(1);
        return;
    }
    let known = draft.game.knows(key);
    let running = &mut draft.seen.entry;
    if F::clears(&running.keys, key) {
        running.keys.clear();
        running.unknown_key = false;
    }
    if running.keys.len() >= F::KEYS {
        running.keys.remove(0);
    }
    running.keys.push(Pressed { key, at });
    running.unknown_key |= !known;
    running.last_key_at = Some(draft.now);
    draft.seen.readout.notice = None;
    draft.seen.readout.in_force = false;
    draft.seen.readout.numbers_hidden = true;
}

/// Keys or an ENTER that are too old to count; `enter` also ends the entry.
pub(crate) fn stale<F: Family>(draft: &mut Draft<'_, F>) {
    match &mut draft.seen.stale {
        Some(burst) => {
            burst.count = burst.count.saturating_add(1);
            burst.newest = draft.now;
        }
        None => {
            draft.seen.stale = Some(Burst {
                count: 1,
                newest: draft.now,
            });
            draft.notice(rejection::STALE);
            new_number(draft);
        }
    }
}

/// ENTER was pressed.
pub(crate) fn enter<F: Family>(draft: &mut Draft<'_, F>, shown: &[Key], entry: u32) {
    if entry != draft.seen.entry.number {
        draft.seen.entry.dropped = draft.seen.entry.dropped.saturating_add(1);
        return;
    }
    match draft.state.mode {
        Mode::Closed => draft.notice(rejection::CLOSED),
        Mode::Test(_) => draft.notice(rejection::TEST),
        Mode::Opening(_) => F::test_entry(draft, shown),
        Mode::Open(_) if draft.state.is_frozen() => draft.notice(rejection::LOCKED),
        Mode::Open(_) => match F::enter(draft, shown) {
            Ok(()) => {}
            // Text only, or a code without an event.
            Err(Refused::Shown(code)) => draft.notice(code),
            Err(Refused::Recorded(code)) => reject_because(draft, code, shown, code.text, code.rule),
            Err(Refused::Because { code, text, rule }) => reject_because(draft, code, shown, text, rule),
        },
    }
    new_number(draft);
}

/// A refusal, and whether it is an event.
pub(crate) enum Refused {
    /// It is none.
    Shown(Code),
    /// It is one.
    Recorded(Code),
    /// It is one, and the game says more than its code.
    Because {
        /// What the readout shows.
        code: Code,
        /// One sentence for a person.
        text: &'static str,
        /// The rule.
        rule: Citation,
    },
}

/// The gateway's own copy of the keys is what ENTER committed.
pub(crate) fn is_own_copy<F: Family>(draft: &Draft<'_, F>, shown: &[Key]) -> bool {
    shown
        .iter()
        .eq(draft.seen.entry.keys.iter().map(|pressed| &pressed.key))
}

/// The key's one act is done.
pub(crate) fn spend_authority<F: Family>(draft: &mut Draft<'_, F>) {
    if let Authority::Running { since } = draft.seen.key {
        draft.seen.key = Authority::Spent { since };
    }
}

/// Refuses an entry: a code on the readout, and an event for the first of equal ones.
pub(crate) fn reject_because<F: Family>(
    draft: &mut Draft<'_, F>,
    code: Code,
    shown: &[Key],
    text: &'static str,
    rule: Citation,
) {
    draft.notice(code);
    draft.seen.entry.refused_at = Some(draft.now);
    let shown: Vec<u32> = shown.iter().map(|key| key.number()).collect();
    let round = draft.state.round_id();
    let equal = |repeated: &&mut Repeated| {
        repeated.code == code.number && repeated.text == text && repeated.shown == shown && repeated.round == round
    };
    if let Some(repeated) = draft.seen.refusals.iter_mut().find(equal) {
        repeated.more = repeated.more.saturating_add(1);
        return;
    }
    if draft.seen.refusals.len() >= MOST_REPEATED {
        let oldest = draft.seen.refusals.remove(0);
        write_repeated(draft, &oldest);
    }
    let first = Repeated {
        code: code.number,
        text,
        rule,
        shown,
        since: draft.now,
        round,
        more: 1,
    };
    write_repeated(draft, &first);
    draft.seen.refusals.push(Repeated { more: 0, ..first });
}

fn write_repeated<F: Family>(draft: &mut Draft<'_, F>, repeated: &Repeated) {
    if repeated.more == 0 {
        return;
    }
    let rejected = EntryRejected {
        shown: repeated.shown.clone(),
        code: repeated.code,
        text: repeated.text.into(),
        count: repeated.more,
    };
    let source = draft.dealer_at_terminal();
    // An event names rules of an instrument; the table's own is none.
    let of_instrument = Some(repeated.rule).filter(|rule| *rule != rejection::HOUSE);
    draft.record_under(
        of_instrument.as_slice(),
        repeated.round,
        source,
        Body::EntryRejected(rejected),
    );
}

/// Which counts are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Which {
    /// Those whose time is over, or whose round is.
    Due,
    /// Those of the running round, which ends.
    OfRound,
    /// All: the daemon stops.
    All,
}

/// Writes counts of equal refusals and of stale keys.
pub(crate) fn write_counts<F: Family>(draft: &mut Draft<'_, F>, which: Which) {
    if let Some(burst) = draft.seen.stale
        && (which == Which::All || burst.newest + BURST_ENDS <= draft.now)
        && draft.has_room(1)
    {
        draft.seen.stale = None;
        let source = draft.dealer_at_terminal();
        let ignored = StaleKeysIgnored { count: burst.count };
        draft.record(source, Body::StaleKeysIgnored(ignored));
    }
    let round = draft.state.round_id();
    let mut kept = Vec::new();
    for repeated in std::mem::take(&mut draft.seen.refusals) {
        let due = which != Which::Due || repeated.since + REPEATS <= draft.now || repeated.round != round;
        if due && draft.has_room(1) {
            write_repeated(draft, &repeated);
        } else {
            kept.push(repeated);
        }
    }
    draft.seen.refusals = kept;
}

/// When a count is written.
pub(crate) fn counts_at<F>(look: &Look<'_, F>) -> Option<Uptime> {
    let burst = look.seen.stale.map(|burst| burst.newest + BURST_ENDS);
    let repeated = look.seen.refusals.iter().map(|repeated| repeated.since + REPEATS).min();
    burst.into_iter().chain(repeated).min()
}

/// The keys pressed so far are gone; the next ones belong to a new entry.
pub(crate) fn new_number<F: Family>(draft: &mut Draft<'_, F>) {
    draft.seen.entry.keys.clear();
    draft.seen.entry.unknown_key = false;
    if draft.seen.entry.number != 0 {
        draft.seen.entry.number = after(draft.seen.entry.number);
    }
}

/// Keys were dropped under this number and maybe some after it: what the terminal holds isn't taken, and the next keys belong to an entry whose
/// number none of them had.
pub(crate) fn dropped(seen: &mut EntrySeen, shown: u32) {
    /// More presses than can come while one append is tried: 5 s, and a key is debounced for 20 ms.
    const AHEAD: u32 = 256;
    seen.keys.clear();
    seen.unknown_key = false;
    if seen.number != 0 && seen.number <= shown {
        seen.number = shown.checked_add(AHEAD).unwrap_or(1);
    }
}

/// The terminal was greeted: whatever it holds is not taken.
pub(crate) fn greeted<F: Family>(draft: &mut Draft<'_, F>, report: &TerminalReport) {
    draft.seen.entry.keys.clear();
    draft.seen.entry.unknown_key = false;
    draft.seen.entry.number = after(report.entry);
    draft.seen.readout.in_force = false;
    draft.seen.readout.notice = None;
}

/// Entry numbers wrap past 0, which the link doesn't have.
fn after(number: u32) -> u32 {
    number.checked_add(1).unwrap_or(1)
}
