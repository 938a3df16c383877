//! The checks before play: which there are is the game's; devices and the lamp walk are judged here. PURE.
//!
//! A check is recorded as what it was: seen by a link, or vouched for by a person. Nothing here becomes a result.

use crate::rules::citation::Citation;
use crate::table::draft::{Draft, Source};
use crate::table::due::Look;
use crate::table::event::{Body, OpeningAbandoned, OpeningCheck, OpeningCheckRecorded, OpeningStarted, TableOpened};
use crate::table::game::{Answer, Family};
use crate::table::input::{Contact, DeviceKind, Person};
use crate::table::lamps::Mismatch;
use crate::table::mode::{Mode, Opening};
use crate::table::rejection::{self, Rejection};
use crate::table::seen::{OpeningSeen, Walk};
use crate::table::{entry, locks};
use crate::time::Uptime;
use std::time::Duration;

/// A lamp that isn't acknowledged within this time did not follow.
const STEP: Duration = Duration::from_secs(5);

/// Each lamp of the walk is lit at least this long: a board answers every picture, and more than 100 messages in 2 s are a noisy link.
const PACE: Duration = Duration::from_millis(25);

/// Opening by checks is the rule of the one instrument that has it (NZ Div 9 r5.1); at other tables it is the house's.
pub(crate) const RULE: Citation = "NZ Div 9 r5.1";

/// For a person.
pub(crate) fn name(check: OpeningCheck) -> &'static str {
    match check {
        OpeningCheck::Unspecified => "an unknown check",
        OpeningCheck::Devices => "devices",
        OpeningCheck::LampWalk => "lamp walk",
        OpeningCheck::TestEntries => "test entries",
        OpeningCheck::Tumbler => "tumbler",
        OpeningCheck::Seal => "seal",
        OpeningCheck::Dice => "dice",
    }
}

/// What a link says of a check.
pub(crate) enum Evidence {
    Passed(String),
    Failed(String),
    /// Only a person can tell.
    None,
}

/// For a person.
pub(crate) fn device_name(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Tumbler => "tumbler",
        DeviceKind::Terminal => "terminal",
        DeviceKind::LayoutLamps => "lamps",
        DeviceKind::ResultLights => "result lights",
    }
}

/// Every needed device answers, and the cabinet is shut.
pub(crate) fn devices<F: Family>(draft: &Draft<'_, F>) -> Evidence {
    let names = |kinds: &[DeviceKind], online: bool| -> Vec<_> {
        let kinds = kinds.iter().filter(|kind| draft.state.is_online(**kind) == online);
        kinds.map(|kind| device_name(*kind)).collect()
    };
    let away = names(draft.game.needed(), false);
    let door = draft.seen.terminal.contacts.get(&Contact::CabinetDoor);
    if !away.is_empty() {
        return Evidence::Failed(format!("no answer from: {}", away.join(", ")));
    }
    if door.is_some_and(|door| !door.closed) {
        return Evidence::Failed("the cabinet's door is open".into());
    }
    let mut text = match draft.game.needed() {
        [one] => format!("{} answers", device_name(*one)),
        [rest @ .., last] => format!("{} and {} answer", names(rest, true).join(", "), device_name(*last)),
        [] => "no device is needed".into(),
    };
    let without = names(draft.game.wanted(), false);
    if !without.is_empty() {
        text.push_str("; without: ");
        text.push_str(&without.join(", "));
    }
    Evidence::Passed(text)
}

/// What the lamps' read-back tells without a walk.
pub(crate) fn lamps_at_rest<F: Family>(draft: &Draft<'_, F>) -> Evidence {
    let Some(report) = draft.seen.lamps.report.as_ref().filter(|report| report.measured) else {
        return Evidence::None;
    };
    // A device may still show what it was commanded before this run, until it has taken the dark picture.
    let told = draft.seen.lamps.acknowledged.as_ref();
    let settled = told.is_some_and(|(lit, at)| lit.is_empty() && *at + draft.game.lamp_wait() <= draft.now);
    let wrong = draft.game.board().mismatches(&[], &report.lit);
    if settled && !wrong.is_empty() {
        return Evidence::Failed("lamps are lit that must be dark".into());
    }
    if report.failed.iter().any(|byte| *byte != 0) {
        return Evidence::Failed("lamps report that they can't follow".into());
    }
    // Dark lamps prove nothing about lighting: without a walk it is a person's word.
    Evidence::None
}

pub(crate) fn record<F: Family>(
    draft: &mut Draft<'_, F>,
    source: Source,
    check: OpeningCheck,
    passed: bool,
    vouched: bool,
    text: String,
) {
    let recorded = OpeningCheckRecorded {
        check: check as i32,
        passed,
        vouched,
        text,
        shown: Vec::new(),
    };
    draft.record(source, Body::OpeningCheckRecorded(recorded));
}

pub(crate) fn opening<'a, F>(draft: &'a Draft<'_, F>) -> Result<&'a Opening, Rejection> {
    match &draft.state.mode {
        Mode::Opening(opening) => Ok(opening),
        Mode::Closed | Mode::Open(_) | Mode::Test(_) => Err(Rejection::command(
            "The table is not being opened: begin with `tablegate open`.",
            RULE,
        )),
    }
}

/// Begins the checks.
pub(crate) fn begin<F: Family>(draft: &mut Draft<'_, F>, person: &Person) -> Answer {
    match draft.state.mode {
        Mode::Closed => {}
        Mode::Opening(_) => {
            return Err(Rejection::command(
                "The table is being opened already: end those checks first.",
                RULE,
            ));
        }
        Mode::Open(_) => return Err(Rejection::command("The table is open.", RULE)),
        Mode::Test(_) => return Err(Rejection::command("The table is in test mode: leave it first.", RULE)),
    }
    draft.record(Source::person(person), Body::OpeningStarted(OpeningStarted {}));
    draft.seen.owner = Some(person.connection);
    draft.seen.opening = OpeningSeen {
        count: draft.seen.tumbler.count(),
        ..OpeningSeen::default()
    };
    draft.seen.readout.numbers_hidden = false;
    Ok("The opening checks have begun.".into())
}

/// Lights every area in turn and reads it back.
pub(crate) fn walk_lamps<F: Family>(draft: &mut Draft<'_, F>) -> Answer {
    opening(draft)?;
    if !draft.state.is_online(F::LAMPS) {
        let away = match F::LAMPS {
            DeviceKind::ResultLights => rejection::LIGHTS_AWAY,
            DeviceKind::LayoutLamps | DeviceKind::Tumbler | DeviceKind::Terminal => rejection::LAMPS_AWAY,
        };
        return Err(away.into());
    }
    draft.seen.opening.test_faces = None;
    draft.seen.opening.test_outcome = None;
    draft.seen.opening.walk = Some(Walk {
        area: 0,
        since: draft.now,
        failed: Vec::new(),
        unproven: false,
        check: OpeningCheck::LampWalk,
    });
    Ok("The lamps are walked one area after the other.".into())
}

/// A person's word for a check.
pub(crate) fn record_check<F: Family>(
    draft: &mut Draft<'_, F>,
    person: &Person,
    check: OpeningCheck,
    passed: bool,
    text: &str,
) -> Answer {
    opening(draft)?;
    if check == OpeningCheck::Unspecified {
        return Err(Rejection::command("There is no such check.", RULE));
    }
    let source = Source::person(person);
    if !passed {
        record(draft, source, check, false, true, text.into());
        return Ok(format!("Recorded: {} has not passed.", name(check)));
    }
    let walked = check == OpeningCheck::LampWalk || check == OpeningCheck::Tumbler;
    let seen_already = opening(draft)?
        .checks
        .get(&check)
        .is_some_and(|checked| checked.passed && !checked.vouched);
    let vouched = match F::evidence(draft, check) {
        Evidence::Failed(what) => {
            return Err(Rejection::command(
                format!("{}: {what}; put it right first.", name(check)),
                RULE,
            ));
        }
        Evidence::Passed(_) if !walked => false,
        Evidence::Passed(_) | Evidence::None => !seen_already,
    };
    record(draft, source, check, true, vouched, text.into());
    Ok(format!("Recorded: {} has passed.", name(check)))
}

/// A person's word for the test entry that is shown.
pub(crate) fn record_entry<F: Family>(draft: &mut Draft<'_, F>, person: &Person, passed: bool, text: &str) -> Answer {
    opening(draft)?;
    let seen = &draft.seen.opening;
    let faces = seen.test_faces.map(|faces| faces.map(u32::from).to_vec());
    let outcome = seen.test_outcome.map(|outcome| vec![outcome.key().number()]);
    let Some(shown) = faces.or(outcome) else {
        return Err(Rejection::command(
            "No test entry is shown: make it on the terminal first, or have it lit.",
            RULE,
        ));
    };
    // What nobody can see, or key, no word confirms.
    if let Evidence::Failed(what) = devices(draft)
        && passed
    {
        return Err(Rejection::command(
            format!("{}: {what}; put it right first.", name(OpeningCheck::TestEntries)),
            RULE,
        ));
    }
    let recorded = OpeningCheckRecorded {
        check: OpeningCheck::TestEntries as i32,
        passed,
        vouched: true,
        text: text.into(),
        shown,
    };
    draft.record(Source::person(person), Body::OpeningCheckRecorded(recorded));
    Ok("Recorded.".into())
}

/// Opens, when every check has passed.
pub(crate) fn complete<F: Family>(draft: &mut Draft<'_, F>, person: &Person) -> Answer {
    let checks = &opening(draft)?.checks;
    let missing: Vec<_> = draft
        .game
        .checks()
        .iter()
        .copied()
        .filter(|check| !checks.get(check).is_some_and(|checked| checked.passed))
        .map(name)
        .collect();
    if !missing.is_empty() {
        return Err(Rejection::command(
            format!("Not passed yet: {}.", missing.join(", ")),
            RULE,
        ));
    }
    if let Evidence::Failed(what) = devices(draft) {
        return Err(Rejection::command(
            format!("The devices were checked, but now: {what}."),
            RULE,
        ));
    }
    Ok(opened(draft, Source::person(person)))
}

/// Opens; what is to be said of it.
fn opened<F: Family>(draft: &mut Draft<'_, F>, source: Source) -> String {
    let opened = TableOpened {
        locks: draft.state.locks.iter().map(|lock| lock.reason as i32).collect(),
        base: draft.counters(),
        game: draft.game.name().into(),
    };
    draft.record(source, Body::TableOpened(opened));
    draft.base_taken();
    // Keys pressed before it was open are of no entry in play.
    entry::new_number(draft);
    draft.seen.owner = None;
    draft.seen.opening = OpeningSeen::default();
    draft.seen.lamps.flicker.clear();
    let locks: Vec<_> = draft.state.locks.iter().map(|lock| locks::name(lock.reason)).collect();
    if locks.is_empty() {
        return "The table is open.".into();
    }
    let holds = match draft.state.is_frozen() {
        true => "it is frozen",
        false => "no round starts",
    };
    format!(
        "The table is open, but {holds} before this has ended: {}.",
        locks.join(", ")
    )
}

/// Ends the checks without opening.
pub(crate) fn abandon<F: Family>(draft: &mut Draft<'_, F>, source: Source, text: &str) -> Answer {
    opening(draft)?;
    draft.record(source, Body::OpeningAbandoned(OpeningAbandoned { text: text.into() }));
    draft.seen.owner = None;
    draft.seen.opening = OpeningSeen::default();
    Ok("The opening checks were ended; the table stays closed.".into())
}

/// Opens without questions: each check as what it was, seen by a link or vouched for by this person. Checks that this person's opening
/// has recorded already (a lamp walk) stand as they are.
pub(crate) fn open_vouched<F: Family>(draft: &mut Draft<'_, F>, person: &Person) -> Answer {
    let is_own = matches!(draft.state.mode, Mode::Opening(_)) && draft.seen.owner == Some(person.connection);
    if !is_own {
        begin(draft, person)?;
    }
    let read_back = draft.seen.lamps.report.as_ref().is_some_and(|report| report.measured);
    let mut failed = Vec::new();
    for check in draft.game.checks().iter().copied() {
        let recorded = opening(draft)?.checks.get(&check).map(|checked| checked.passed);
        match recorded {
            Some(true) => continue,
            Some(false) if check == OpeningCheck::LampWalk && read_back => {
                failed.push(format!("{} (lamps did not follow)", name(check)));
                continue;
            }
            Some(false) | None => {}
        }
        let (source, passed, vouched, text) = match F::evidence(draft, check) {
            Evidence::Passed(text) => (Source::gateway(), true, false, text),
            Evidence::Failed(text) => (Source::gateway(), false, false, text),
            Evidence::None => (
                Source::person(person),
                true,
                true,
                "opened without questions".to_string(),
            ),
        };
        if !passed {
            failed.push(format!("{} ({text})", name(check)));
        }
        record(draft, source, check, passed, vouched, text);
    }
    if failed.is_empty() {
        return Ok(opened(draft, Source::person(person)));
    }
    let text = format!("Not passed: {}. The table stays closed.", failed.join(", "));
    abandon(draft, Source::gateway(), &text)?;
    Err(Rejection::command(text, RULE))
}

/// What the lamps show while the table is opened.
pub(crate) fn picture<F: Family>(look: &Look<'_, F>) -> Vec<u8> {
    match &look.seen.opening.walk {
        Some(walk) => look.game.board().single(walk.area),
        None => F::tested(look).unwrap_or_default(),
    }
}

/// Areas that don't show what a test entry lights, as far as the lamps are measured; all of them until the picture was taken.
pub(crate) fn entry_differs<F: Family>(look: &Look<'_, F>) -> Vec<Mismatch> {
    let measured = look.seen.lamps.report.as_ref().filter(|report| report.measured);
    match (F::tested(look), measured) {
        (Some(wanted), Some(report)) if look.seen.opening.walk.is_none() => {
            look.game.board().mismatches(&wanted, &report.lit)
        }
        (Some(_) | None, _) => Vec::new(),
    }
}

/// When the walk goes on: its lamp was lit long enough and read back, or is given up.
pub(crate) fn walk_at<F: Family>(look: &Look<'_, F>) -> Option<Uptime> {
    let walk = look.seen.opening.walk.as_ref()?;
    match walked(look, walk) {
        Walked::ReadBack => Some(walk.since + PACE),
        Walked::Told { at, .. } => Some(at + look.game.lamp_wait()),
        Walked::Waiting => Some(walk.since + STEP),
    }
}

/// What is known of the walk's lamp.
enum Walked {
    /// Its picture wasn't acknowledged.
    Waiting,
    /// It was, at this time; measured or not, what is lit isn't proven to be the picture.
    Told { at: Uptime, measured: bool },
    /// The picture was measured.
    ReadBack,
}

fn walked<F: Family>(look: &Look<'_, F>, walk: &Walk) -> Walked {
    let wanted = look.game.board().single(walk.area);
    let acknowledged = look.seen.lamps.acknowledged.as_ref();
    let Some((_, at)) = acknowledged.filter(|(lit, at)| *lit == wanted && *at >= walk.since) else {
        return Walked::Waiting;
    };
    let report = look.seen.lamps.report.as_ref();
    let measured = report.is_some_and(|report| report.measured);
    match report {
        Some(report) if measured && look.game.board().mismatches(&wanted, &report.lit).is_empty() => Walked::ReadBack,
        Some(_) | None => Walked::Told { at: *at, measured },
    }
}

/// Goes on with the walk when its lamp was read back, or given up.
pub(crate) fn walk<F: Family>(draft: &mut Draft<'_, F>) {
    let Mode::Opening(_) = draft.state.mode else { return };
    let Some(mut walk) = draft.seen.opening.walk.clone() else {
        return;
    };
    if walk_at(&draft.look()).is_none_or(|at| at > draft.now) {
        return;
    }
    match walked(&draft.look(), &walk) {
        Walked::ReadBack => {}
        Walked::Told { measured: false, .. } => walk.unproven = true,
        Walked::Told { measured: true, .. } | Walked::Waiting => walk.failed.push(walk.area),
    }
    walk.area += 1;
    walk.since = draft.now;
    if walk.area < draft.game.board().len() {
        draft.seen.opening.walk = Some(walk);
        return;
    }
    if !draft.has_room(1) {
        return;
    }
    draft.seen.opening.walk = None;
    let failed: Vec<_> = walk.failed.iter().map(|area| draft.game.board().id(*area)).collect();
    let text = if walk.unproven {
        "the lamps can't be read back: a person must say whether each was lit".to_string()
    } else if failed.is_empty() {
        let shown = match F::LAMPS {
            DeviceKind::ResultLights => "lights",
            DeviceKind::LayoutLamps | DeviceKind::Tumbler | DeviceKind::Terminal => "areas",
        };
        format!("{} {shown} lit one by one and read back", draft.game.board().len())
    } else {
        format!("not as commanded: {}", shortened(&failed))
    };
    let passed = failed.is_empty() && !walk.unproven;
    let source = Source::gateway().with_device(draft.device(F::LAMPS));
    record(draft, source, walk.check, passed, false, text);
}

/// An event has at most 8 KiB; a person reads at most this many names.
pub(crate) fn shortened(failed: &[&str]) -> String {
    const MOST: usize = 20;
    let named = failed.iter().take(MOST).copied().collect::<Vec<_>>().join(", ");
    match failed.len().checked_sub(MOST) {
        Some(more) if more > 0 => format!("{named} and {more} more"),
        Some(_) | None => named,
    }
}
