//! The tumbler: spins that count, a start out of turn, the cover, faults, and what changed while it was away. PURE.

use crate::rules;
use crate::table::dice::game::Course;
use crate::table::dice::phase::{BetsShut, InSight, Phase};
use crate::table::dice::terminal::TWO_CLOCKS;
use crate::table::dice::{Draft, held, opening, play};
use crate::table::draft::Source;
use crate::table::event::{
    Body, Counters, DeviceOnline, RoundHeldCause, RoundStarted, TableLocked, TableLockedKind, TableLockedReason,
    TumblerSpun,
};
use crate::table::input::{Cover, DeviceIdentity, DeviceKind, Flatness, Motion, TumblerReport};
use crate::table::mode::Mode;
use crate::table::state::Count;
use crate::table::terminal::Missed;
use crate::time::Uptime;
use std::time::Duration;

/// A cover that is off this long is off: shorter is a knock.
pub(crate) const COVER_OFF: Duration = Duration::from_millis(300);

/// More spins than this between two reports are no spins but counters that can't be compared.
const PLAUSIBLE_SPINS: u32 = 1_000_000;

/// A tumbler's status, live.
pub(crate) fn report(draft: &mut Draft<'_>, report: &TumblerReport, happened: Option<Uptime>) {
    let at = happened.map_or(draft.now, |at| at.min(draft.now));
    let old = draft.seen.tumbler.report.replace(report.clone());
    cover(draft, report.cover, at);
    motion(draft, old.as_ref(), report, at);
    fault(
        draft,
        report.motion == Motion::Fault || report.fault_code != 0,
        report.fault_code,
    );
    dice(draft);
}

/// The tumbler was greeted. What changed meanwhile counts as happening now.
pub(crate) fn greeted(draft: &mut Draft<'_>, identity: &DeviceIdentity, report: &TumblerReport) {
    let known = draft.state.devices.get(&DeviceKind::Tumbler).cloned();
    let first = known.as_ref().is_none_or(|known| !known.seen_since_start);
    let same = known.is_some_and(|known| {
        known.serial_number == identity.serial_number && (known.boot_id == identity.boot_id || report.counters_kept)
    });
    let expected = draft
        .phase()
        .and_then(|phase| phase.round().and_then(|round| round.counters));
    let was_off = draft.seen.tumbler.off_at.is_some();
    let base = base_of(draft);
    let spins_count = in_sight(draft).is_some();
    draft.seen.tumbler.report = Some(report.clone());
    draft.seen.tumbler.rest_at = draft.now;
    draft.seen.tumbler.tolerated_spin = false;
    cover(draft, report.cover, draft.now);
    if report.cover == Cover::Off && !was_off {
        draft.seen.tumbler.off_while_away = true;
    }
    let online = DeviceOnline {
        firmware: identity.firmware.clone(),
        boot_id: identity.boot_id,
        lamp_count: identity.lamp_count,
        firmware_digest: identity.firmware_digest.clone(),
        counters: Some(Count::from(report).into()),
        closings: Vec::new(),
        counters_kept: same,
    };
    let source = draft.device_itself(DeviceKind::Tumbler);
    draft.record(source, Body::DeviceOnline(online));
    if !spins_count && (base_of(draft) != base || !same || first) {
        draft.base_taken();
    }
    fault(
        draft,
        report.motion == Motion::Fault || report.fault_code != 0,
        report.fault_code,
    );
    match draft.phase() {
        // What it counted while nobody watched proves no activation.
        None => draft.seen.opening.count = draft.seen.tumbler.count(),
        Some(Phase::Ready(_) | Phase::Tumbling(_)) => count(draft, Reported::WhileAway),
        Some(Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_) | Phase::Entered(_)) => {
            // Counters that nobody had at the bell have nothing to be compared with.
            let counts = in_sight(draft);
            let comparable = counts.is_none_or(|open| open.base.is_some());
            if !same && comparable {
                held::hold(draft, RoundHeldCause::CountersLost);
            } else if !draft.state.is_frozen() {
                match counts {
                    Some(_) => count(draft, Reported::WhileAway),
                    None => held::hold_if_moved(draft, expected),
                }
            }
            play::compare(draft, Missed::WhileAway);
        }
    }
    dice(draft);
}

/// The counters from which spins of the running or the next round count.
fn counting_base(draft: &Draft<'_>) -> Option<Count> {
    match draft.state.phase() {
        Some(Phase::Closed(shut)) => shut.open.and_then(|open| open.base),
        Some(Phase::Ready(_) | Phase::Tumbling(_) | Phase::Betting(_) | Phase::Landed(_) | Phase::Entered(_))
        | None => base_of(draft),
    }
}

fn base_of(draft: &Draft<'_>) -> Option<Count> {
    match draft.state.phase() {
        Some(Phase::Ready(ready)) => ready.base,
        Some(Phase::Tumbling(tumbling)) => tumbling.base,
        Some(Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_) | Phase::Entered(_)) | None => None,
    }
}

/// Dice that an open tumbler is to spin now.
fn in_sight(draft: &Draft<'_>) -> Option<InSight> {
    match draft.state.phase() {
        Some(Phase::Closed(shut)) => shut.open,
        Some(Phase::Ready(_) | Phase::Tumbling(_) | Phase::Betting(_) | Phase::Landed(_) | Phase::Entered(_))
        | None => None,
    }
}

fn cover(draft: &mut Draft<'_>, cover: Cover, at: Uptime) {
    if !draft.game.course().has_cover() {
        return;
    }
    let seen = &mut draft.seen.tumbler;
    match cover {
        Cover::Off => {
            if seen.off_at.is_none() {
                seen.off_at = Some(at);
                seen.off_while_away = false;
                seen.on_at = None;
            }
        }
        Cover::On | Cover::Unknown => {
            if let Some(off_at) = seen.off_at.take()
                && at.since(off_at) >= COVER_OFF
            {
                seen.exposed_at = Some(off_at);
            }
            if cover == Cover::On {
                seen.on_at.get_or_insert(at);
            } else {
                seen.on_at = None;
            }
        }
    }
}

fn motion(draft: &mut Draft<'_>, old: Option<&TumblerReport>, report: &TumblerReport, at: Uptime) {
    let spinning = report.motion == Motion::Spinning;
    let was_spinning = old.is_some_and(|old| old.motion == Motion::Spinning);
    let began = (spinning && !was_spinning) || old.is_some_and(|old| old.activations != report.activations);
    let moved = began || old.is_some_and(|old| old.spins != report.spins);
    if !spinning && (was_spinning || moved) {
        draft.seen.tumbler.rest_at = at;
    }
    match draft.state.mode {
        Mode::Closed | Mode::Test(_) => return,
        Mode::Opening(_) => return opening::tumbler(draft),
        Mode::Open(_) => {}
    }
    let began_early = |closed_at: Uptime| began && at + TWO_CLOCKS < closed_at;
    match draft.phase() {
        None => {}
        Some(Phase::Closed(BetsShut {
            open: Some(_),
            closed_at,
            ..
        })) if !began_early(closed_at) => count(draft, Reported::Live),
        Some(Phase::Ready(_) | Phase::Tumbling(_)) if draft.game.course() == Course::CoveredTumbler => {
            let uncovered = report.cover == Cover::Off || old.is_some_and(|old| old.cover == Cover::Off);
            let spun = old.map_or(0, |old| report.spins.wrapping_sub(old.spins));
            if uncovered && draft.seen.tumbler.spinning_at_base.is_none() {
                // A spin that everybody can see is no tumble (r6.1).
                draft.seen.tumbler.discount = draft.seen.tumbler.discount.wrapping_add(spun);
            }
            count(draft, Reported::Live);
        }
        Some(Phase::Betting(betting))
            if began && at < betting.opened_at && draft.game.course() == Course::CoveredTumbler =>
        {
            // "At least three" is never punished: it began in the tumble and became known too late.
            draft.seen.tumbler.tolerated_spin = true;
        }
        Some(
            Phase::Ready(_)
            | Phase::Tumbling(_)
            | Phase::Betting(_)
            | Phase::Closed(_)
            | Phase::Landed(_)
            | Phase::Entered(_),
        ) => {
            if !draft.seen.tumbler.tolerated_spin {
                out_of_turn(draft, moved);
            } else if !spinning {
                draft.seen.tumbler.tolerated_spin = false;
                tolerated(draft);
            }
        }
    }
}

/// A spin ended that began in the tumble, or that a supervisor has accepted: from here its counters are those of the round.
fn tolerated(draft: &mut Draft<'_>) {
    let Some(round) = draft.phase().and_then(|phase| phase.round().cloned()) else {
        return;
    };
    let before = round.counters.unwrap_or_default();
    let more = draft
        .seen
        .tumbler
        .count()
        .map_or(0, |count| count.spins.wrapping_sub(before.spins));
    let spun = TumblerSpun {
        spins: round.spins.saturating_add(more),
        counters: draft.counters(),
        while_away: false,
    };
    let source = draft.dealer_at_tumbler();
    draft.record(source, Body::TumblerSpun(spun));
}

/// TS-12: refused by the inhibit; when it happens all the same, the table waits for a supervisor.
fn out_of_turn(draft: &mut Draft<'_>, moved: bool) {
    if !moved || draft.state.is_frozen() {
        return;
    }
    let locked = TableLocked {
        reason: TableLockedReason::OutOfTurn as i32,
        kind: TableLockedKind::Freeze as i32,
        text: "The tumbler was started out of turn: a supervisor must let the round go on, or void it.".into(),
        by_policy: false,
    };
    let source = Source::gateway().with_device(draft.device(DeviceKind::Tumbler));
    draft.record(source, Body::TableLocked(locked));
}

/// How spins became known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reported {
    /// As they happened.
    Live,
    /// When the tumbler came back.
    WhileAway,
}

/// Counts spins since the base: the first begins the round, each rest is recorded.
pub(crate) fn count(draft: &mut Draft<'_>, reported: Reported) {
    let (Some(base), Some(count)) = (counting_base(draft), draft.seen.tumbler.count()) else {
        return;
    };
    let spinning = draft.seen.tumbler.is_spinning();
    let since = count.spins.wrapping_sub(base.spins);
    let seen = &mut draft.seen.tumbler;
    if let Some(spins) = seen.spinning_at_base {
        if spinning {
            return;
        }
        seen.discount = seen.discount.wrapping_add(count.spins.wrapping_sub(spins));
        seen.spinning_at_base = None;
    }
    if since.wrapping_sub(seen.discount) > PLAUSIBLE_SPINS {
        seen.discount = since;
    }
    let counted = since.wrapping_sub(seen.discount);
    let while_away = reported == Reported::WhileAway;
    if counted > 0 && draft.ready().is_some() {
        let source = draft.dealer_at_tumbler();
        start_round(draft, source, while_away);
    }
    let round = match draft.phase() {
        Some(Phase::Tumbling(tumbling)) => tumbling.round,
        Some(Phase::Closed(shut)) => shut.round,
        Some(Phase::Ready(_) | Phase::Betting(_) | Phase::Landed(_) | Phase::Entered(_)) | None => return,
    };
    if spinning || counted <= round.spins {
        return;
    }
    if let Some(held) = &round.held
        && held.cause == RoundHeldCause::TumblerShort
    {
        // "Spun further with the cover on": what the hold asked for.
        held::resumed(draft, RoundHeldCause::TumblerShort, Source::gateway());
    }
    // Dice that were seen are mixed again.
    draft.seen.tumbler.exposed_at = None;
    draft.seen.tumbler.early_off = None;
    let spun = TumblerSpun {
        spins: counted,
        counters: Some(count.into()),
        while_away,
    };
    let source = draft.dealer_at_tumbler();
    draft.record(source, Body::TumblerSpun(spun));
}

/// Begins a round.
pub(crate) fn start_round(draft: &mut Draft<'_>, source: Source, while_away: bool) {
    let started = RoundStarted {
        game: draft.game.game.name().into(),
        style: draft.game.game.style().into(),
        layout: draft.game.game.layout().into(),
        areas_sha256: draft.game.layout.areas_sha256.clone(),
        paytable_sha256: draft.game.layout.paytable_sha256.clone(),
        rules_version: rules::RULES_VERSION.into(),
        while_away,
        counters: draft.counters(),
        closings: draft.closings(),
        policy: draft.game.game.policy(),
    };
    let was_void = draft.ready().and_then(held::voided_for_want_of_a_bell).is_some();
    let seen = &mut draft.seen.tumbler;
    seen.void_off = seen.early_off.filter(|_| was_void);
    seen.bell_without_tumble = None;
    seen.exposed_at = None;
    seen.early_off = None;
    draft.record(source, Body::RoundStarted(started));
}

/// A fault of the tumbler: the next round waits, and one whose dice lie under the cover or before the entry is held.
pub(crate) fn fault(draft: &mut Draft<'_>, faulty: bool, code: u32) {
    let was = std::mem::replace(&mut draft.seen.tumbler.faulty, faulty);
    if !faulty || was {
        return;
    }
    let locked = TableLocked {
        reason: TableLockedReason::Tumbler as i32,
        kind: TableLockedKind::HoldNext as i32,
        text: format!("The tumbler reports fault {code}: have it rectified before the next round."),
        by_policy: false,
    };
    if !draft
        .state
        .is_locked(TableLockedReason::Tumbler, TableLockedKind::HoldNext)
    {
        let source = Source::nobody().with_device(draft.device(DeviceKind::Tumbler));
        draft.record(source, Body::TableLocked(locked));
    }
    match draft.phase() {
        // Nothing was spun for these bets yet.
        Some(Phase::Betting(_)) if draft.game.course() == Course::OpenTumbler => {}
        Some(Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_)) => {
            held::hold(draft, RoundHeldCause::TumblerFault);
        }
        Some(Phase::Ready(_) | Phase::Tumbling(_) | Phase::Entered(_)) | None => {}
    }
}

/// Dice that a reader sees not lying flat after the uncover.
pub(crate) fn dice(draft: &mut Draft<'_>) {
    let Some(Phase::Landed(landed)) = draft.phase() else {
        return;
    };
    let reading = draft
        .seen
        .tumbler
        .report
        .as_ref()
        .and_then(|report| report.dice.as_ref());
    let not_flat = reading.is_some_and(|reading| reading.flatness == Flatness::NotFlat);
    if not_flat && can_be_seen(draft) && !landed.round.resumed.contains(&RoundHeldCause::NotFlat) {
        held::hold(draft, RoundHeldCause::NotFlat);
    }
}

/// The dice of this round lie in sight: the cover is off, or an open tumbler has spun them and is at rest.
fn can_be_seen(draft: &Draft<'_>) -> bool {
    match draft.game.course() {
        Course::CoveredTumbler => draft.seen.tumbler.off_at.is_some(),
        Course::OpenTumbler => {
            let round = draft.state.phase().and_then(Phase::round);
            round.is_some_and(|round| round.spins >= play::SPINS_NEEDED) && !draft.seen.tumbler.is_spinning()
        }
        Course::DiceCup => false,
    }
}

/// What a reader surely saw after the uncover, sorted.
pub(crate) fn reading(draft: &Draft<'_>) -> Option<[u8; 3]> {
    let seen = &draft.seen.tumbler;
    if !can_be_seen(draft) || !draft.state.is_online(DeviceKind::Tumbler) {
        return None;
    }
    let dice = seen.report.as_ref()?.dice.as_ref()?;
    match dice.flatness {
        // Unsure is no reading.
        Flatness::NotFlat | Flatness::Unknown => None,
        Flatness::Flat => dice.faces.map(rules::tai_sai::sorted),
    }
}

/// What a reader surely saw of this round's dice, sorted: now, or when it contradicted an entry. That reading was made in the open, and
/// stands when the cover lies on again or the tumbler is away; dice that don't lie flat now are read anew.
pub(crate) fn reading_of_round(draft: &Draft<'_>) -> Option<[u8; 3]> {
    let now = reading(draft);
    let report = draft.seen.tumbler.report.as_ref();
    let not_flat = report
        .and_then(|report| report.dice.as_ref())
        .is_some_and(|dice| dice.flatness == Flatness::NotFlat);
    if now.is_some() || (not_flat && can_be_seen(draft)) {
        return now;
    }
    draft
        .state
        .phase()
        .and_then(Phase::held)
        .and_then(|held| three(&held.read_faces))
}

/// Three numbers as events have them.
pub(crate) fn three(numbers: &[u32]) -> Option<[u8; 3]> {
    match *numbers {
        [a, b, c] => Some([u8::try_from(a).ok()?, u8::try_from(b).ok()?, u8::try_from(c).ok()?]),
        _ => None,
    }
}

/// The tumbler's counters as a base for the next round; none while it is away.
pub(crate) fn base(draft: &Draft<'_>) -> Option<Counters> {
    draft.counters()
}
