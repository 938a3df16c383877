//! The layout's lamps: what they should show, whether they do, and what follows when not. PURE.
//!
//! `lit` as measured is judged, a while after the picture was acknowledged; what merely repeats the command proves nothing.

use crate::table::alert;
use crate::table::dice::game::Ground;
use crate::table::dice::phase::{Entered, Phase, Proof};
use crate::table::dice::{Draft, Look};
use crate::table::draft::Source;
use crate::table::entry::Which;
use crate::table::event::{
    Area, Body, LampFailed, LampRestored, LayoutLit, TableLocked, TableLockedKind, TableLockedReason,
};
use crate::table::input::DeviceKind;
use crate::table::lamps::Mismatch;
use crate::table::seen::Flicker;
use crate::table::state::{Lock, is_kept_of};
use crate::time::Uptime;
use std::borrow::Cow;
use std::time::Duration;

/// Lamps that are away at the entry, or don't acknowledge it, are waited for this long.
const AWAY: Duration = Duration::from_secs(5);

/// More areas than this are not named: it is the board that failed.
const MOST_NAMED: usize = 12;

/// Of more areas than this the text of the lock says first how many they are: the state keeps its first 120 bytes, and one more has to be
/// seen in them.
const UNCOUNTED: usize = 2;

/// Failures of an area after its first are counted this long.
const FLICKERS: Duration = Duration::from_secs(10);

/// What is commanded: exactly the winning areas, from entry until settlement (r3.3, r6.5).
pub(crate) fn commanded<'a>(look: &Look<'a>) -> Cow<'a, [u8]> {
    match look.state.phase() {
        Some(Phase::Entered(entered)) => entered.lit.as_slice().into(),
        Some(Phase::Ready(_) | Phase::Tumbling(_) | Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_)) | None => {
            Vec::new().into()
        }
    }
}

/// When the picture that is acknowledged should show, or is given up.
pub(crate) fn judge_at(look: &Look<'_>) -> Option<Uptime> {
    let phase = look.state.phase()?;
    let waiting = match phase {
        Phase::Entered(entered) if !entered.fault_declared => match entered.proof {
            Proof::Waiting(since) => Some((since, entered.lit.as_slice())),
            Proof::Lit => None,
        },
        Phase::Entered(_)
        | Phase::Ready(_)
        | Phase::Tumbling(_)
        | Phase::Betting(_)
        | Phase::Closed(_)
        | Phase::Landed(_) => None,
    };
    let wanted: &[u8] = match phase {
        Phase::Entered(entered) => &entered.lit,
        Phase::Ready(_) | Phase::Tumbling(_) | Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_) => &[],
    };
    let online = look.state.is_online(DeviceKind::LayoutLamps);
    match &look.seen.lamps.acknowledged {
        Some((lit, at)) if online && lit == wanted => {
            (!look.seen.lamps.judged).then(|| *at + look.game.config.lamp_wait)
        }
        // Nothing waits for lamps that neither law nor house asks for.
        Some(_) | None if look.game.game.lamps() == Ground::None => None,
        Some(_) | None => {
            let (since, _) = waiting?;
            let away_since = look
                .seen
                .links
                .get(&DeviceKind::LayoutLamps)
                .map_or(since, |link| link.since);
            Some(since.max(away_since) + AWAY)
        }
    }
}

/// Lamps that repeat the command were told the picture: the dealer's press confirms (TS-17).
pub(crate) fn prove_nothing(look: &Look<'_>, entered: &Entered) -> bool {
    let lamps = &look.seen.lamps;
    let unproven = lamps.report.as_ref().is_some_and(|report| !report.measured);
    let told = lamps.acknowledged.as_ref().is_some_and(|(lit, _)| *lit == entered.lit);
    unproven && told && look.state.is_online(DeviceKind::LayoutLamps)
}

/// Compares the commanded picture with what is lit.
pub(crate) fn judge(draft: &mut Draft<'_>) {
    let Some(phase) = draft.phase() else { return };
    let entered = match phase {
        Phase::Entered(entered) => Some(entered),
        Phase::Ready(_) | Phase::Tumbling(_) | Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_) => None,
    };
    let online = draft.state.is_online(DeviceKind::LayoutLamps);
    let wanted = entered.as_ref().map(|entered| entered.lit.clone()).unwrap_or_default();
    let told = draft
        .seen
        .lamps
        .acknowledged
        .clone()
        .filter(|(lit, _)| online && *lit == wanted);
    let Some((_, told_at)) = told else {
        if judge_at(&draft.look()).is_some_and(|at| at <= draft.now) && draft.has_room(1) {
            lock(
                draft,
                TableLockedReason::Lamp,
                "The layout's lamps do not answer: settle by the dice.",
            );
        }
        return;
    };
    let Some(measured) = draft.seen.lamps.report.clone().filter(|report| report.measured) else {
        draft.seen.lamps.judged = true;
        return;
    };
    let mismatches = draft.game.layout.board.mismatches(&wanted, &measured.lit);
    restored(draft, &wanted, &mismatches);
    if let Some(entered) = &entered
        && entered.proof != Proof::Lit
        && mismatches.is_empty()
        && draft.has_room(1)
    {
        let lit = LayoutLit {
            areas: entered.areas.clone(),
            entry_to_lamps_ms: draft.measured(entered.entered_at, draft.now),
        };
        let source = draft.device_itself(DeviceKind::LayoutLamps);
        draft.record(source, Body::LayoutLit(lit));
        draft.seen.lamps.judged = true;
    }
    if draft.seen.lamps.judged || told_at + draft.game.config.lamp_wait <= draft.now {
        if !draft.has_room(MOST_NAMED + 1) {
            return;
        }
        draft.seen.lamps.judged = true;
        failures(draft, entered.as_ref(), &mismatches);
    }
}

/// Names what failed, and holds the next round back (r7.3, r7.4).
fn failures(draft: &mut Draft<'_>, entered: Option<&Entered>, mismatches: &[Mismatch]) {
    let round = draft.state.round_id();
    let named = |draft: &Draft<'_>, mismatch: &Mismatch| {
        let failed = draft.state.failed_lamps.get(draft.game.layout.board.id(mismatch.area));
        failed.is_some_and(|failed| {
            failed.wrongly_lit == mismatch.wrongly_lit && (entered.is_none() || failed.round == round)
        })
    };
    let mut new = Vec::new();
    for mismatch in mismatches {
        let flicker = draft
            .seen
            .lamps
            .flicker
            .iter_mut()
            .find(|flicker| flicker.is(*mismatch, round));
        if let Some(flicker) = flicker {
            if !flicker.failing {
                flicker.failing = true;
                flicker.more = flicker.more.saturating_add(1);
            }
        } else if !draft.state.board_failed && !named(draft, mismatch) {
            new.push(*mismatch);
        }
    }
    let board = new.len() > MOST_NAMED;
    for mismatch in new.iter().take(MOST_NAMED) {
        draft.seen.lamps.flicker.push(Flicker::new(*mismatch, draft.now, round));
        fail(draft, *mismatch, 1, round, entered);
    }
    let (reason, text) = if board {
        (
            TableLockedReason::LampBoard,
            "Many areas of the layout failed: settle by the dice; have the lamp board rectified.".to_owned(),
        )
    } else {
        (TableLockedReason::Lamp, in_words(draft, mismatches))
    };
    let undeclared = match draft.state.phase() {
        Some(Phase::Entered(entered)) => !entered.fault_declared && !mismatches.is_empty(),
        Some(Phase::Ready(_) | Phase::Tumbling(_) | Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_)) | None => {
            false
        }
    };
    let is_hold = |lock: &&Lock| (lock.reason, lock.kind) == (reason, TableLockedKind::HoldNext);
    let known = draft.state.locks.iter().find(is_hold);
    let tells = known.is_some_and(|lock| is_kept_of(&lock.text, &text));
    if undeclared || (!new.is_empty() && !tells) {
        lock(draft, reason, &text);
    }
}

/// Which areas failed, by which lamps: whoever is sent with a spare reads it in an alert, far from the table.
fn in_words(draft: &Draft<'_>, mismatches: &[Mismatch]) -> String {
    let board = &draft.game.layout.board;
    let named: Vec<String> = mismatches
        .iter()
        .take(MOST_NAMED)
        .map(|mismatch| {
            let id = board.id(mismatch.area);
            let lamp = |bit: &u16| format!("bit {bit}, output {}", u32::from(*bit) + 1);
            let lamps: Vec<String> = board.numbers(id).iter().map(lamp).collect();
            let shows = if mismatch.wrongly_lit {
                "stays lit"
            } else {
                "stays dark"
            };
            format!("area {id} ({}) {shows}", lamps.join(", "))
        })
        .collect();
    let count = match mismatches.len() {
        0..=UNCOUNTED => String::new(),
        count => format!("{count} areas: "),
    };
    let more = match mismatches.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "{count}{}{more}: settle by the dice; have the lamps rectified.",
        named.join(", ")
    )
}

fn fail(draft: &mut Draft<'_>, mismatch: Mismatch, count: u32, round: u64, entered: Option<&Entered>) {
    let failed = LampFailed {
        area: Some(area(draft, mismatch.area, entered)),
        wrongly_lit: mismatch.wrongly_lit,
        count,
        reported: false,
    };
    let source = draft.device_itself(DeviceKind::LayoutLamps);
    draft.record_of_round(round, source, Body::LampFailed(failed));
}

/// The area, with what it pays when it is among the winning ones.
fn area(draft: &Draft<'_>, place: usize, entered: Option<&Entered>) -> Area {
    let id = draft.game.layout.board.id(place);
    let winning = entered.and_then(|entered| entered.areas.iter().find(|area| area.id == id));
    winning.cloned().unwrap_or_else(|| draft.game.layout.board.area(place))
}

/// Holds the next round back; not where neither law nor house has it so: then what failed is recorded, and play goes on.
fn lock(draft: &mut Draft<'_>, reason: TableLockedReason, text: &str) {
    let ground = draft.game.game.lamps();
    if ground == Ground::None {
        return;
    }
    let locked = TableLocked {
        reason: reason as i32,
        kind: TableLockedKind::HoldNext as i32,
        text: text.into(),
        by_policy: ground.is_policy(),
    };
    let source = Source::nobody().with_device(draft.device(DeviceKind::LayoutLamps));
    draft.record(source, Body::TableLocked(locked));
    if reason == TableLockedReason::Lamp && draft.has_room(1) {
        // The lock keeps the beginning of it: the event of the alert has it whole.
        alert::raise_anew(draft, alert::Name::LampFailed, text);
    }
}

/// Areas that were named and are seen working again: lit when they must be, or dark when they must be.
fn restored(draft: &mut Draft<'_>, wanted: &[u8], mismatches: &[Mismatch]) {
    if draft.state.failed_lamps.is_empty() && draft.seen.lamps.flicker.is_empty() {
        return;
    }
    for place in 0..draft.game.layout.board.len() {
        let Some(failed) = draft.state.failed_lamps.get(draft.game.layout.board.id(place)) else {
            continue;
        };
        let wrongly_lit = failed.wrongly_lit;
        let failing = mismatches.iter().any(|mismatch| mismatch.area == place);
        let judged_alike = draft.game.layout.board.is_lit(place, wanted) != wrongly_lit;
        if failing || !judged_alike {
            continue;
        }
        let flicker = draft
            .seen
            .lamps
            .flicker
            .iter_mut()
            .find(|flicker| flicker.area == place);
        let counted = flicker.is_some_and(|flicker| {
            flicker.failing = false;
            flicker.more > 0
        });
        if !counted && draft.has_room(1) {
            restore(draft, place);
        }
    }
    for flicker in &mut draft.seen.lamps.flicker {
        let failing = mismatches.iter().any(|mismatch| mismatch.area == flicker.area);
        flicker.failing = flicker.failing && failing;
    }
}

fn restore(draft: &mut Draft<'_>, place: usize) {
    let restored = LampRestored {
        area: Some(draft.game.layout.board.area(place)),
    };
    let source = draft.device_itself(DeviceKind::LayoutLamps);
    draft.record(source, Body::LampRestored(restored));
}

/// When a count of flicker is written.
pub(crate) fn flicker_at(look: &Look<'_>) -> Option<Uptime> {
    look.seen
        .lamps
        .flicker
        .iter()
        .map(|flicker| flicker.since + FLICKERS)
        .min()
}

/// Writes counts of flicker whose time, or round, is over.
pub(crate) fn write_flicker(draft: &mut Draft<'_>, which: Which) {
    let round = draft.state.round_id();
    let mut kept = Vec::new();
    for flicker in std::mem::take(&mut draft.seen.lamps.flicker) {
        let due = which != Which::Due || flicker.since + FLICKERS <= draft.now || flicker.round != round;
        if !due || !draft.has_room(2) {
            kept.push(flicker);
            continue;
        }
        if flicker.more > 0 {
            let mismatch = Mismatch {
                area: flicker.area,
                wrongly_lit: flicker.wrongly_lit,
            };
            fail(draft, mismatch, flicker.more, flicker.round, None);
            if !flicker.failing && flicker.round == round {
                restore(draft, flicker.area);
            }
        }
    }
    draft.seen.lamps.flicker = kept;
}
