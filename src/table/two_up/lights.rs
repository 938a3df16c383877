//! The result lights: what they should show, whether they do, and the cards that stand in for those that fail. PURE.
//!
//! A light that fails never stops play: a card is shown in its place (Qld 2004 sch 13 s19(2), TD-15). `lit` as measured is judged, a
//! while after the picture was acknowledged; what merely repeats the command proves nothing, and a person's word stands until a person
//! says otherwise.

use crate::table::alert;
use crate::table::draft::Source;
use crate::table::entry::Which;
use crate::table::event::{Body, LampFailed, LampRestored, ResultCardRequired, SpinOutcome};
use crate::table::input::{DeviceKind, LightSeen};
use crate::table::lamps::{Board, Mismatch};
use crate::table::seen::Flicker;
use crate::table::state::is_kept_of;
use crate::table::two_up::phase::Course;
use crate::table::two_up::{Draft, Look};
use crate::time::Uptime;
use std::borrow::Cow;
use std::time::Duration;

/// Lights that are away, or don't acknowledge a picture, are waited for this long.
const AWAY: Duration = Duration::from_secs(5);

/// A light that was named as failed is judged anew this long after it: one that flickers makes two events in this time.
const FLICKERS: Duration = Duration::from_secs(10);

/// What is commanded: exactly what the spins of this game light, and after it of the last (TD-5).
pub(crate) fn commanded<'a>(look: &Look<'a>) -> Cow<'a, [u8]> {
    match look.state.course() {
        Some(course) => course.shown.lights.as_slice().into(),
        None => Vec::new().into(),
    }
}

/// The light's place on the board.
pub(crate) fn place(board: &Board, light: &str) -> Option<usize> {
    (0..board.len()).find(|place| board.id(*place) == light)
}

/// The result that a light shows.
fn row(light: &str) -> SpinOutcome {
    if light.starts_with("heads") {
        SpinOutcome::Heads
    } else if light.starts_with("tails") {
        SpinOutcome::Tails
    } else {
        SpinOutcome::Odds
    }
}

/// What can be said of the lights.
enum Seeing {
    /// Nothing yet.
    Waiting(Uptime),
    /// They don't answer: no light can be relied on.
    Away,
    /// They were told the picture, and don't measure.
    Unproven,
    /// They measure.
    Measured,
}

fn seeing(look: &Look<'_>, course: &Course) -> Seeing {
    let told = look
        .seen
        .lamps
        .acknowledged
        .as_ref()
        .filter(|(lit, _)| look.state.is_online(DeviceKind::ResultLights) && *lit == course.shown.lights);
    match told {
        Some((_, at)) if !look.seen.lamps.judged => Seeing::Waiting(*at + look.game.law.lamp_wait()),
        Some(_) => match &look.seen.lamps.report {
            Some(report) if report.measured => Seeing::Measured,
            Some(_) | None => Seeing::Unproven,
        },
        None => {
            let since = course.shown.since;
            let link = look.seen.links.get(&DeviceKind::ResultLights);
            let until = link.map_or(since, |link| link.since.max(since)) + AWAY;
            if until <= look.seen.latest {
                Seeing::Away
            } else {
                Seeing::Waiting(until)
            }
        }
    }
}

/// What is known of the lights, for a person; `None` where there are none.
pub(crate) fn word(look: &Look<'_>, course: &Course) -> Option<&'static str> {
    if look.game.board.len() == 0 {
        return None;
    }
    Some(match seeing(look, course) {
        Seeing::Waiting(_) => "waiting",
        Seeing::Away => "away",
        Seeing::Unproven => "unproven",
        Seeing::Measured if look.state.failed_lamps.is_empty() => "lit",
        Seeing::Measured => "fault_declared",
    })
}

/// When the lights are judged, or given up.
pub(crate) fn next(look: &Look<'_>) -> Option<Uptime> {
    let course = look.state.course()?;
    if look.game.board.len() == 0 {
        return None;
    }
    let waits = match seeing(look, course) {
        Seeing::Waiting(until) => Some(until).filter(|_| !course.shown.lights.is_empty() || !look.seen.lamps.judged),
        Seeing::Away | Seeing::Unproven | Seeing::Measured => None,
    };
    let flicker = look
        .seen
        .lamps
        .flicker
        .iter()
        .map(|flicker| flicker.since + FLICKERS)
        .min();
    waits.into_iter().chain(flicker).min()
}

/// Judges the lights, and asks for cards.
pub(crate) fn judge(draft: &mut Draft<'_>) {
    let Some(course) = draft.course() else { return };
    if draft.game.board.len() == 0 {
        return;
    }
    if let Seeing::Waiting(until) = seeing(&draft.look(), &course)
        && until <= draft.now
        && draft.seen.lamps.acknowledged.is_some()
    {
        draft.seen.lamps.judged = true;
    }
    match seeing(&draft.look(), &course) {
        // A person's word is waited for by nobody: the card is shown with the result.
        Seeing::Waiting(_) => {
            let reported = |draft: &Draft<'_>, light: &str| {
                let failed = draft.state.failed_lamps.get(light);
                failed.is_some_and(|failed| failed.reported)
            };
            return cards(draft, &course, reported);
        }
        Seeing::Away => cards(draft, &course, |_, _| true),
        Seeing::Unproven => cards(draft, &course, has_failed),
        Seeing::Measured => {
            measured(draft, &course);
            cards(draft, &course, has_failed);
        }
    }
    told(draft);
}

fn has_failed(draft: &Draft<'_>, light: &str) -> bool {
    draft.state.failed_lamps.contains_key(light)
}

/// The alert stands while a light is known to fail, and names those that are: it is raised anew when they change.
pub(crate) fn told(draft: &mut Draft<'_>) {
    if !draft.has_room(2) {
        return;
    }
    let failed: Vec<&str> = draft.state.failed_lamps.keys().map(String::as_str).collect();
    let text = match failed.as_slice() {
        [] => return alert::clear(draft, alert::Name::LightFailed),
        [light] => format!("Result light {light} has failed: show a card in its place; have it rectified."),
        lights => format!(
            "Result lights {} have failed: show cards in their place; have them rectified.",
            lights.join(", ")
        ),
    };
    let standing = draft.state.standing(alert::Name::LightFailed);
    // The state keeps the beginning of a text.
    if standing.is_some_and(|standing| !is_kept_of(&standing.text, &text)) {
        alert::clear(draft, alert::Name::LightFailed);
    }
    draft.raise(alert::Name::LightFailed, text);
}

fn measured(draft: &mut Draft<'_>, course: &Course) {
    let Some(report) = draft.seen.lamps.report.clone() else {
        return;
    };
    let mismatches = draft.game.board.mismatches(&course.shown.lights, &report.lit);
    for mismatch in &mismatches {
        let light = draft.game.board.id(mismatch.area);
        let known = draft.state.failed_lamps.get(light);
        let named = known.is_some_and(|failed| failed.reported || failed.wrongly_lit == mismatch.wrongly_lit);
        if !named && draft.has_room(2) {
            failed(draft, Source::nobody(), *mismatch, false);
        }
    }
    restored(draft, course, &mismatches);
}

fn failed(draft: &mut Draft<'_>, source: Source, mismatch: Mismatch, reported: bool) {
    let failed = LampFailed {
        area: Some(draft.game.board.area(mismatch.area)),
        wrongly_lit: mismatch.wrongly_lit,
        count: 1,
        reported,
    };
    let device = draft.device(DeviceKind::ResultLights);
    draft.seen.lamps.flicker.retain(|flicker| flicker.area != mismatch.area);
    let round = draft.state.round_id();
    let flicker = Flicker::new(mismatch, draft.now, round);
    draft.seen.lamps.flicker.push(flicker);
    draft.record(source.with_device(device), Body::LampFailed(failed));
}

/// Lights that were measured as failed and are seen working again, when the time for flicker is over.
fn restored(draft: &mut Draft<'_>, course: &Course, mismatches: &[Mismatch]) {
    for place in 0..draft.game.board.len() {
        let light = draft.game.board.id(place);
        let Some(failed) = draft.state.failed_lamps.get(light) else {
            continue;
        };
        let must_be_lit = draft.game.board.is_lit(place, &course.shown.lights);
        let judged_alike = must_be_lit != failed.wrongly_lit;
        let failing = mismatches.iter().any(|mismatch| mismatch.area == place);
        let flickers = draft
            .seen
            .lamps
            .flicker
            .iter()
            .any(|flicker| flicker.area == place && flicker.since + FLICKERS > draft.now);
        if !failed.reported && judged_alike && !failing && !flickers && draft.has_room(1) {
            restore(draft, Source::nobody(), place);
        }
    }
}

fn restore(draft: &mut Draft<'_>, source: Source, place: usize) {
    let restored = LampRestored {
        area: Some(draft.game.board.area(place)),
    };
    let device = draft.device(DeviceKind::ResultLights);
    draft.record(source.with_device(device), Body::LampRestored(restored));
}

/// A card for every light that must be on and can't be relied on.
fn cards(draft: &mut Draft<'_>, course: &Course, fails: impl Fn(&Draft<'_>, &str) -> bool) {
    for place in 0..draft.game.board.len() {
        let light = draft.game.board.id(place);
        let shown = draft
            .state
            .course()
            .is_some_and(|now| now.shown.cards.iter().any(|card| card == light));
        let must_be_lit = draft.game.board.is_lit(place, &course.shown.lights);
        if must_be_lit && !shown && fails(draft, light) && draft.has_room(1) {
            let required = ResultCardRequired {
                outcome: row(light) as i32,
                light: Some(draft.game.board.area(place)),
            };
            let source = draft.device_itself(DeviceKind::ResultLights);
            draft.record(source, Body::ResultCardRequired(required));
        }
    }
}

/// A person says whether a light works.
pub(crate) fn reported(
    draft: &mut Draft<'_>,
    source: Source,
    place: usize,
    seen: LightSeen,
) -> Result<(), &'static str> {
    let known = draft.state.failed_lamps.contains_key(draft.game.board.id(place));
    match (seen, known) {
        (LightSeen::Failed, true) => Err("It is known to have failed already."),
        (LightSeen::Works, false) => Err("It isn't known to have failed."),
        (LightSeen::Failed, false) => {
            let mismatch = Mismatch {
                area: place,
                wrongly_lit: false,
            };
            failed(draft, source, mismatch, true);
            if let Some(course) = draft.course() {
                cards(draft, &course, has_failed);
            }
            told(draft);
            Ok(())
        }
        (LightSeen::Works, true) => {
            restore(draft, source, place);
            told(draft);
            Ok(())
        }
    }
}

/// Flicker whose time is over is forgotten: what was named stands as a fact.
pub(crate) fn forget_flicker(draft: &mut Draft<'_>, which: Which) {
    let now = draft.now;
    draft
        .seen
        .lamps
        .flicker
        .retain(|flicker| which == Which::Due && flicker.since + FLICKERS > now);
}
