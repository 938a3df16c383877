//! The entry terminal's keys: mirrored in every phase, judged at ENTER. PURE.

use crate::rules::tai_sai;
use crate::table::draft::{Draft, Source, millis};
use crate::table::event::{
    Body, EntryRejected, ResultAmended, ResultEntered, ResultSource, RoundHeldCause, StaleKeysIgnored,
};
use crate::table::input::{Cover, DeviceKind, Key, TerminalReport};
use crate::table::mode::Mode;
use crate::table::rejection::{self, Code};
use crate::table::seen::{Authority, Burst, Pressed, Repeated};
use crate::table::tai_sai::due::Look;
use crate::table::tai_sai::held::{Missed, Uncovered};
use crate::table::tai_sai::phase::{BetsShut, Entered, Landed, Phase};
use crate::table::tai_sai::{held, opening, settle, terminal, tumbler};
use crate::time::Uptime;
use std::time::Duration;

/// An entry is three numbers (r3.3).
const KEYS: usize = 3;

/// A key pressed earlier than this before the uncover was pressed before it (two clocks).
const BEFORE_UNCOVER: Duration = Duration::from_millis(300);

/// A NO_SPIN key waits this long for its ENTER.
const NO_SPIN_WAITS: Duration = Duration::from_secs(5);

/// Equal refusals after the first are counted this long.
const REPEATS: Duration = Duration::from_secs(10);

/// Different refusals that are counted at a time; the oldest is written early to make room.
const MOST_REPEATED: usize = 4;

/// Stale keys are one burst until none has come for this long.
const BURST_ENDS: Duration = Duration::from_secs(1);

/// A key was pressed.
pub(crate) fn key(draft: &mut Draft<'_>, key: Key, entry: u32, at: Uptime) {
    if entry != draft.seen.entry.number {
        draft.seen.entry.dropped = draft.seen.entry.dropped.saturating_add(1);
        return;
    }
    let keys = &mut draft.seen.entry.keys;
    if key == Key::NoSpin || keys.iter().any(|pressed| pressed.key == Key::NoSpin) {
        keys.clear();
        draft.seen.entry.unknown_key = false;
    }
    let keys = &mut draft.seen.entry.keys;
    if keys.len() >= KEYS {
        keys.remove(0);
    }
    keys.push(Pressed { key, at });
    draft.seen.entry.unknown_key |= !is_known(key);
    draft.seen.entry.last_key_at = Some(draft.now);
    draft.seen.readout.notice = None;
    draft.seen.readout.in_force = false;
    draft.seen.readout.numbers_hidden = true;
}

fn is_known(key: Key) -> bool {
    match key {
        Key::Number(number) => (1..=6).contains(&number),
        Key::NoSpin => true,
        Key::Other(_) => false,
    }
}

/// Keys or an ENTER that are too old to count; `enter` also ends the entry.
pub(crate) fn stale(draft: &mut Draft<'_>) {
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
pub(crate) fn enter(draft: &mut Draft<'_>, shown: &[Key], entry: u32) {
    if entry != draft.seen.entry.number {
        draft.seen.entry.dropped = draft.seen.entry.dropped.saturating_add(1);
        return;
    }
    match draft.state.mode {
        Mode::Closed => draft.notice(rejection::CLOSED),
        Mode::Test(_) => draft.notice(rejection::TEST),
        Mode::Opening(_) => opening::test_entry(draft, shown),
        Mode::Open(_) => match judge(draft, shown) {
            Ok(()) => {}
            // Text only, or a code without an event.
            Err(Refused::Shown(code)) => draft.notice(code),
            Err(Refused::Recorded(code)) => reject(draft, code, shown),
        },
    }
    new_number(draft);
}

/// A refusal, and whether it is an event.
enum Refused {
    Shown(Code),
    Recorded(Code),
}

fn judge(draft: &mut Draft<'_>, shown: &[Key]) -> Result<(), Refused> {
    if draft.state.is_frozen() {
        return Err(Refused::Shown(rejection::LOCKED));
    }
    if shown == [Key::NoSpin] {
        return no_spin(draft);
    }
    let Some(phase) = draft.phase() else { return Ok(()) };
    match phase {
        Phase::Landed(landed) => in_landed(draft, &landed, shown),
        Phase::Entered(entered) if entered.round.held.is_some() => Err(Refused::Shown(rejection::LOCKED)),
        Phase::Entered(entered) if shown.is_empty() && draft.seen.entry.keys.is_empty() => {
            settle::press(draft, &entered).map_err(Refused::Shown)
        }
        Phase::Entered(entered) => amend_by_key(draft, &entered, shown),
        Phase::Closed(shut) => in_closed(draft, &shut, shown),
        Phase::Ready(_) | Phase::Tumbling(_) | Phase::Betting(_) => Err(Refused::Recorded(rejection::OUT_OF_ORDER)),
    }
}

/// The NO_SPIN key and ENTER.
fn no_spin(draft: &mut Draft<'_>) -> Result<(), Refused> {
    let pressed = draft.seen.entry.keys.first().copied();
    match pressed {
        Some(pressed) if pressed.key == Key::NoSpin => {
            if draft.now.since(pressed.at) > NO_SPIN_WAITS {
                return Err(Refused::Recorded(rejection::FEWER_THAN_THREE));
            }
            terminal::no_spin(draft, pressed.at);
            Ok(())
        }
        Some(_) | None => Err(Refused::Recorded(rejection::KEYS_DIFFER)),
    }
}

/// Three numbers that the gateway's own copy has as well.
fn numbers(draft: &Draft<'_>, shown: &[Key]) -> Result<[u8; 3], Code> {
    if draft.seen.entry.unknown_key {
        // It makes the entry refused, even when later keys have pushed it out.
        return Err(rejection::UNKNOWN_KEY);
    }
    let mut numbers = Vec::with_capacity(KEYS);
    for key in shown {
        match key {
            Key::Number(number) if (1..=6).contains(number) => numbers.push(*number),
            Key::Number(_) | Key::NoSpin | Key::Other(_) => return Err(rejection::UNKNOWN_KEY),
        }
    }
    if !shown
        .iter()
        .eq(draft.seen.entry.keys.iter().map(|pressed| &pressed.key))
    {
        return Err(rejection::KEYS_DIFFER);
    }
    <[u8; 3]>::try_from(numbers).map_err(|_| rejection::FEWER_THAN_THREE)
}

fn in_landed(draft: &mut Draft<'_>, landed: &Landed, shown: &[Key]) -> Result<(), Refused> {
    let differs_held = match &landed.round.held {
        Some(held) if held.cause == RoundHeldCause::DiceDiffer => true,
        Some(_) => return Err(Refused::Shown(rejection::LOCKED)),
        None => false,
    };
    let faces = numbers(draft, shown).map_err(Refused::Recorded)?;
    let earliest = landed.uncovered_at - BEFORE_UNCOVER;
    if draft.seen.entry.keys.iter().any(|pressed| pressed.at <= earliest) {
        return Err(Refused::Recorded(rejection::PRESSED_BEFORE_UNCOVER));
    }
    let read = tumbler::reading(draft);
    let agrees = read == Some(tai_sai::sorted(faces));
    let contradicted = !agrees && (read.is_some() || differs_held);
    if contradicted && !draft.seen.has_authority() {
        reject(draft, rejection::DICE_DIFFER, shown);
        differ(draft, landed, shown);
        return Ok(());
    }
    let source = if contradicted {
        draft.supervisor_by_key()
    } else {
        draft.dealer_at_terminal()
    };
    if contradicted {
        spend_authority(draft);
    }
    if differs_held {
        held::resumed(draft, RoundHeldCause::DiceDiffer, source.clone());
    }
    let entry = Accepted {
        pressed: shown.iter().map(|key| key.number()).collect(),
        faces,
        source: ResultSource::Terminal,
        reason: String::new(),
        confirmed: contradicted,
    };
    accept(draft, source, entry);
    Ok(())
}

/// The round waits for a supervisor to confirm this entry, or for one that agrees.
fn differ(draft: &mut Draft<'_>, landed: &Landed, shown: &[Key]) {
    let pressed: Vec<u32> = shown.iter().map(|key| key.number()).collect();
    let stands = landed.round.held.as_ref().is_some_and(|held| held.pressed == pressed);
    if !stands {
        held::hold_with_entry(draft, RoundHeldCause::DiceDiffer, pressed);
    }
}

/// With the tumbler away, or without a cover contact, the entry stands for the uncover; then all keys since the bell count.
fn in_closed(draft: &mut Draft<'_>, shut: &BetsShut, shown: &[Key]) -> Result<(), Refused> {
    let blind = !draft.state.is_online(DeviceKind::Tumbler) || draft.seen.tumbler.cover() == Cover::Unknown;
    if shut.round.held.is_some() {
        return Err(Refused::Shown(rejection::LOCKED));
    }
    if !blind {
        return Err(Refused::Recorded(rejection::OUT_OF_ORDER));
    }
    let faces = numbers(draft, shown).map_err(Refused::Recorded)?;
    let source = draft.dealer_at_terminal();
    held::uncover(draft, source.clone(), Uncovered::Implied);
    let entry = Accepted {
        pressed: shown.iter().map(|key| key.number()).collect(),
        faces,
        source: ResultSource::Terminal,
        reason: String::new(),
        confirmed: false,
    };
    accept(draft, source, entry);
    Ok(())
}

fn amend_by_key(draft: &mut Draft<'_>, entered: &Entered, shown: &[Key]) -> Result<(), Refused> {
    if !draft.seen.has_authority() {
        return Err(Refused::Recorded(rejection::NEEDS_SUPERVISOR));
    }
    let faces = numbers(draft, shown).map_err(Refused::Recorded)?;
    let pressed = shown.iter().map(|key| key.number()).collect();
    let source = draft.supervisor_by_key();
    spend_authority(draft);
    amend(draft, source, entered, pressed, faces, ResultSource::Terminal);
    Ok(())
}

/// The key's one act is done.
fn spend_authority(draft: &mut Draft<'_>) {
    if let Authority::Running { since } = draft.seen.key {
        draft.seen.key = Authority::Spent { since };
    }
}

/// An entry that is accepted.
pub(crate) struct Accepted {
    pub(crate) pressed: Vec<u32>,
    pub(crate) faces: [u8; 3],
    pub(crate) source: ResultSource,
    pub(crate) reason: String,
    pub(crate) confirmed: bool,
}

/// The result is entered.
pub(crate) fn accept(draft: &mut Draft<'_>, source: Source, entry: Accepted) {
    let Some(Phase::Landed(landed)) = draft.phase() else {
        return;
    };
    let areas = draft.layout.winners(entry.faces);
    let entered = ResultEntered {
        pressed: entry.pressed,
        faces: tai_sai::sorted(entry.faces).map(u32::from).to_vec(),
        total: u32::from(tai_sai::total(entry.faces)),
        call: tai_sai::call(entry.faces),
        lit: draft.layout.picture(&areas),
        areas,
        source: entry.source as i32,
        reason: entry.reason,
        confirmed: entry.confirmed,
        read_faces: tumbler::reading(draft)
            .map(|faces| faces.map(u32::from).to_vec())
            .unwrap_or_default(),
        uncover_to_entry_ms: millis(landed.uncovered_at, draft.now),
    };
    draft.record(source, Body::ResultEntered(entered));
    draft.seen.readout.numbers_hidden = false;
    draft.seen.readout.notice = None;
}

/// The result is amended; both stay recorded.
pub(crate) fn amend(
    draft: &mut Draft<'_>,
    source: Source,
    entered: &Entered,
    pressed: Vec<u32>,
    faces: [u8; 3],
    how: ResultSource,
) {
    let areas = draft.layout.winners(faces);
    let amended = ResultAmended {
        from_faces: entered.faces.clone(),
        faces: tai_sai::sorted(faces).map(u32::from).to_vec(),
        total: u32::from(tai_sai::total(faces)),
        call: tai_sai::call(faces),
        lit: draft.layout.picture(&areas),
        areas,
        pressed,
        source: how as i32,
    };
    draft.record(source, Body::ResultAmended(amended));
    draft.seen.readout.numbers_hidden = false;
    draft.seen.readout.notice = None;
}

/// Refuses an entry: a code on the readout, and an event for the first of equal ones.
fn reject(draft: &mut Draft<'_>, code: Code, shown: &[Key]) {
    draft.notice(code);
    draft.seen.entry.refused_at = Some(draft.now);
    let shown: Vec<u32> = shown.iter().map(|key| key.number()).collect();
    let round = draft.state.round_id();
    let equal =
        |repeated: &&mut Repeated| repeated.code == code.number && repeated.shown == shown && repeated.round == round;
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
        shown,
        since: draft.now,
        round,
        more: 1,
    };
    write_repeated(draft, &first);
    draft.seen.refusals.push(Repeated { more: 0, ..first });
}

fn write_repeated(draft: &mut Draft<'_>, repeated: &Repeated) {
    if repeated.more == 0 {
        return;
    }
    let text = rejection::CODES
        .iter()
        .find(|code| code.number == repeated.code)
        .map_or("", |code| code.text);
    let rejected = EntryRejected {
        shown: repeated.shown.clone(),
        code: repeated.code,
        text: text.into(),
        count: repeated.more,
    };
    let source = draft.dealer_at_terminal();
    draft.record_of_round(repeated.round, source, Body::EntryRejected(rejected));
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
pub(crate) fn write_counts(draft: &mut Draft<'_>, which: Which) {
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
pub(crate) fn counts_at(look: &Look<'_>) -> Option<Uptime> {
    let burst = look.seen.stale.map(|burst| burst.newest + BURST_ENDS);
    let repeated = look.seen.refusals.iter().map(|repeated| repeated.since + REPEATS).min();
    burst.into_iter().chain(repeated).min()
}

/// The keys pressed so far are gone; the next ones belong to a new entry.
pub(crate) fn new_number(draft: &mut Draft<'_>) {
    draft.seen.entry.keys.clear();
    draft.seen.entry.unknown_key = false;
    if draft.seen.entry.number != 0 {
        draft.seen.entry.number = after(draft.seen.entry.number);
    }
}

/// The terminal was greeted: whatever it holds is not taken.
pub(crate) fn greeted(draft: &mut Draft<'_>, report: &TerminalReport) {
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

/// A supervisor's entry by command: it implies the bell and the uncover that are missing.
pub(crate) fn by_command(draft: &mut Draft<'_>, source: Source, faces: [u8; 3], reason: &str) {
    held::close_bets(draft, source.clone(), None, Missed::Live);
    held::uncover(draft, source.clone(), Uncovered::Implied);
    let read = tumbler::reading(draft);
    let entry = Accepted {
        pressed: Vec::new(),
        faces,
        source: ResultSource::Command,
        reason: reason.into(),
        confirmed: read.is_some_and(|read| read != tai_sai::sorted(faces)),
    };
    accept(draft, source, entry);
    new_number(draft);
}
