//! The opening checks of style A (r5.1): devices, lamp walk, test entries, tumbler, seal. PURE.
//!
//! A check is recorded as what it was: seen by a link, or vouched for by a person. Nothing here becomes a result.

use crate::rules::tai_sai;
use crate::table::draft::{Draft, Source};
use crate::table::event::{
    Body, OpeningAbandoned, OpeningCheck, OpeningCheckRecorded, OpeningStarted, TableOpened, TumblerStarted,
};
use crate::table::indicators::DeviceCommand;
use crate::table::input::{Contact, DeviceKind, Key, Motion, Person, Seal};
use crate::table::mode::Mode;
use crate::table::rejection::{self, Rejection};
use crate::table::seen::{OpeningSeen, Seen, Walk};
use crate::table::tai_sai::due::{Look, NEEDED};
use crate::table::tai_sai::layout::LayoutLamps;
use crate::time::Uptime;
use std::time::Duration;

/// The checks that style A needs.
pub(crate) const CHECKS: [OpeningCheck; 5] = [
    OpeningCheck::Devices,
    OpeningCheck::LampWalk,
    OpeningCheck::TestEntries,
    OpeningCheck::Tumbler,
    OpeningCheck::Seal,
];

/// A lamp that isn't acknowledged within this time did not follow.
const STEP: Duration = Duration::from_secs(5);

/// Each lamp of the walk is lit at least this long: a board answers every picture, and more than 100 messages in 2 s are a noisy link.
const PACE: Duration = Duration::from_millis(25);

const RULE: &str = "NZ Div 9 r5.1";

type Answer = Result<String, Rejection>;

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
enum Evidence {
    Passed(String),
    Failed(String),
    /// Only a person can tell.
    None,
}

fn evidence(draft: &Draft<'_>, check: OpeningCheck) -> Evidence {
    match check {
        OpeningCheck::Devices => devices(draft),
        OpeningCheck::Seal => match draft.seen.tumbler.report.as_ref().map(|report| report.seal) {
            Some(Seal::Intact) => Evidence::Passed("the seal's sensor says it is whole".into()),
            Some(Seal::Broken) => Evidence::Failed("the seal's sensor says it is broken".into()),
            Some(Seal::Unknown) | None => Evidence::None,
        },
        OpeningCheck::Tumbler => match draft.seen.tumbler.report.as_ref().map(|report| report.motion) {
            Some(Motion::Fault) => Evidence::Failed("the tumbler reports a fault".into()),
            Some(Motion::Unknown | Motion::AtRest | Motion::Spinning) | None => Evidence::None,
        },
        OpeningCheck::LampWalk => lamps_at_rest(draft),
        OpeningCheck::Unspecified | OpeningCheck::TestEntries | OpeningCheck::Dice => Evidence::None,
    }
}

fn devices(draft: &Draft<'_>) -> Evidence {
    let away: Vec<_> = NEEDED
        .into_iter()
        .filter(|kind| !draft.state.is_online(*kind))
        .map(|kind| match kind {
            DeviceKind::Tumbler => "tumbler",
            DeviceKind::Terminal => "terminal",
            DeviceKind::LayoutLamps => "lamps",
            DeviceKind::ResultLights => "result lights",
        })
        .collect();
    let door = draft.seen.terminal.contacts.get(&Contact::CabinetDoor);
    if !away.is_empty() {
        Evidence::Failed(format!("no answer from: {}", away.join(", ")))
    } else if door.is_some_and(|door| !door.closed) {
        Evidence::Failed("the cabinet's door is open".into())
    } else {
        Evidence::Passed("tumbler, terminal and lamps answer".into())
    }
}

/// What the lamps' read-back tells without a walk.
fn lamps_at_rest(draft: &Draft<'_>) -> Evidence {
    let Some(report) = draft.seen.lamps.report.as_ref().filter(|report| report.measured) else {
        return Evidence::None;
    };
    // A device may still show what it was commanded before this run, until it has taken the dark picture.
    let told = draft.seen.lamps.acknowledged.as_ref();
    let settled = told.is_some_and(|(lit, at)| lit.is_empty() && *at + draft.config.lamp_wait <= draft.now);
    let wrong = draft.layout.mismatches(&[], &report.lit);
    if settled && !wrong.is_empty() {
        return Evidence::Failed("lamps are lit that must be dark".into());
    }
    if report.failed.iter().any(|byte| *byte != 0) {
        return Evidence::Failed("lamps report that they can't follow".into());
    }
    // Dark lamps prove nothing about lighting: without a walk it is a person's word.
    Evidence::None
}

fn record(draft: &mut Draft<'_>, source: Source, check: OpeningCheck, passed: bool, vouched: bool, text: String) {
    let recorded = OpeningCheckRecorded {
        check: check as i32,
        passed,
        vouched,
        text,
    };
    draft.record(source, Body::OpeningCheckRecorded(recorded));
}

fn opening<'a>(draft: &'a Draft<'_>) -> Result<&'a crate::table::mode::Opening, Rejection> {
    match &draft.state.mode {
        Mode::Opening(opening) => Ok(opening),
        Mode::Closed | Mode::Open(_) | Mode::Test(_) => Err(Rejection::command(
            "The table is not being opened: begin with `tablegate open`.",
            RULE,
        )),
    }
}

/// Begins the checks.
pub(crate) fn begin(draft: &mut Draft<'_>, person: &Person) -> Answer {
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
    Ok("The opening checks have begun.".into())
}

/// Lights every area in turn and reads it back.
pub(crate) fn walk_lamps(draft: &mut Draft<'_>) -> Answer {
    opening(draft)?;
    if !draft.state.is_online(DeviceKind::LayoutLamps) {
        return Err(rejection::LAMPS_AWAY.into());
    }
    draft.seen.opening.test_faces = None;
    draft.seen.opening.walk = Some(Walk {
        area: 0,
        since: draft.now,
        failed: Vec::new(),
        unproven: false,
        check: OpeningCheck::LampWalk,
    });
    Ok("The lamps are walked one area after the other.".into())
}

/// Lights what these faces light.
pub(crate) fn light(draft: &mut Draft<'_>, faces: [u8; 3]) -> Answer {
    opening(draft)?;
    draft.seen.opening.walk = None;
    draft.seen.opening.test_faces = Some(faces);
    Ok(format!("The areas of {} are lit.", tai_sai::call(faces)))
}

/// A test entry on the terminal: it lights its areas for a person to see.
pub(crate) fn test_entry(draft: &mut Draft<'_>, shown: &[Key]) {
    let mut faces = Vec::new();
    for key in shown {
        match key {
            Key::Number(number) if (1..=6).contains(number) => faces.push(*number),
            Key::Number(_) | Key::NoSpin | Key::Other(_) => return draft.notice(rejection::UNKNOWN_KEY),
        }
    }
    if !shown
        .iter()
        .eq(draft.seen.entry.keys.iter().map(|pressed| &pressed.key))
    {
        return draft.notice(rejection::KEYS_DIFFER);
    }
    match <[u8; 3]>::try_from(faces) {
        Ok(faces) => {
            draft.seen.opening.walk = None;
            draft.seen.opening.test_faces = Some(faces);
            draft.seen.readout.numbers_hidden = false;
        }
        Err(_) => draft.notice(rejection::FEWER_THAN_THREE),
    }
}

/// Starts the tumbler once.
pub(crate) fn spin(draft: &mut Draft<'_>, person: &Person) -> Answer {
    match draft.state.mode {
        Mode::Opening(_) | Mode::Test(_) => {}
        Mode::Closed | Mode::Open(_) => {
            return Err(Rejection::command(
                "The tumbler is started by command only while the table is opened, or in test mode.",
                RULE,
            ));
        }
    }
    if !draft.state.is_online(DeviceKind::Tumbler) {
        return Err(rejection::TUMBLER_AWAY.into());
    }
    draft.seen.opening.count = draft.seen.tumbler.count();
    let source = Source::person(person).with_device(draft.device(DeviceKind::Tumbler));
    draft.record(source, Body::TumblerStarted(TumblerStarted { times: 1 }));
    draft.commands.push(DeviceCommand::Spin { times: 1 });
    Ok("The tumbler was started.".into())
}

/// The tumbler was seen spinning and coming to rest.
pub(crate) fn tumbler(draft: &mut Draft<'_>) {
    let Mode::Opening(opening) = &draft.state.mode else {
        return;
    };
    let recorded = opening
        .checks
        .get(&OpeningCheck::Tumbler)
        .is_some_and(|checked| checked.passed && !checked.vouched);
    let (Some(before), Some(count)) = (draft.seen.opening.count, draft.seen.tumbler.count()) else {
        draft.seen.opening.count = draft.seen.tumbler.count();
        return;
    };
    let spun = count.spins.wrapping_sub(before.spins);
    let motion = draft.seen.tumbler.report.as_ref().map(|report| report.motion);
    if spun == 0 || recorded || matches!(motion, Some(Motion::Spinning | Motion::Fault)) {
        return;
    }
    let source = Source::gateway().with_device(draft.device(DeviceKind::Tumbler));
    let text = format!("the tumbler was activated and spun {spun} times");
    record(draft, source, OpeningCheck::Tumbler, true, false, text);
}

/// A person's word for a check.
pub(crate) fn record_check(
    draft: &mut Draft<'_>,
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
    let vouched = match evidence(draft, check) {
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

/// Opens, when every check has passed.
pub(crate) fn complete(draft: &mut Draft<'_>, person: &Person) -> Answer {
    let checks = &opening(draft)?.checks;
    let missing: Vec<_> = CHECKS
        .into_iter()
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
    opened(draft, Source::person(person));
    Ok("The table is open.".into())
}

fn opened(draft: &mut Draft<'_>, source: Source) {
    let opened = TableOpened { base: draft.counters() };
    draft.record(source, Body::TableOpened(opened));
    draft.base_taken();
    draft.seen.owner = None;
    draft.seen.opening = OpeningSeen::default();
    draft.seen.lamps.flicker.clear();
}

/// Ends the checks without opening.
pub(crate) fn abandon(draft: &mut Draft<'_>, source: Source, text: &str) -> Answer {
    opening(draft)?;
    draft.record(source, Body::OpeningAbandoned(OpeningAbandoned { text: text.into() }));
    draft.seen.owner = None;
    draft.seen.opening = OpeningSeen::default();
    Ok("The opening checks were ended; the table stays closed.".into())
}

/// Opens without questions: each check as what it was, seen by a link or vouched for by this person. Checks that this person's opening
/// has recorded already (a lamp walk) stand as they are.
pub(crate) fn open_vouched(draft: &mut Draft<'_>, person: &Person) -> Answer {
    let is_own = matches!(draft.state.mode, Mode::Opening(_)) && draft.seen.owner == Some(person.connection);
    if !is_own {
        begin(draft, person)?;
    }
    let read_back = draft.seen.lamps.report.as_ref().is_some_and(|report| report.measured);
    let mut failed = Vec::new();
    for check in CHECKS {
        let recorded = opening(draft)?.checks.get(&check).map(|checked| checked.passed);
        match recorded {
            Some(true) => continue,
            Some(false) if check == OpeningCheck::LampWalk && read_back => {
                failed.push(format!("{} (lamps did not follow)", name(check)));
                continue;
            }
            Some(false) | None => {}
        }
        let (source, passed, vouched, text) = match evidence(draft, check) {
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
        opened(draft, Source::person(person));
        return Ok("The table is open.".into());
    }
    let text = format!("Not passed: {}. The table stays closed.", failed.join(", "));
    abandon(draft, Source::gateway(), &text)?;
    Err(Rejection::command(text, RULE))
}

/// What the lamps show while the table is opened.
pub(crate) fn picture(seen: &Seen, layout: &LayoutLamps) -> Vec<u8> {
    match (&seen.opening.walk, seen.opening.test_faces) {
        (Some(walk), _) => layout.single(walk.area),
        (None, Some(faces)) => layout.picture(&layout.winners(faces)),
        (None, None) => Vec::new(),
    }
}

/// When the walk goes on: its lamp was lit long enough and read back, or is given up.
pub(crate) fn walk_at(look: &Look<'_>) -> Option<Uptime> {
    let walk = look.seen.opening.walk.as_ref()?;
    match walked(look, walk) {
        Walked::ReadBack => Some(walk.since + PACE),
        Walked::Told { at, .. } => Some(at + look.config.lamp_wait),
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

fn walked(look: &Look<'_>, walk: &Walk) -> Walked {
    let wanted = look.layout.single(walk.area);
    let acknowledged = look.seen.lamps.acknowledged.as_ref();
    let Some((_, at)) = acknowledged.filter(|(lit, at)| *lit == wanted && *at >= walk.since) else {
        return Walked::Waiting;
    };
    let report = look.seen.lamps.report.as_ref();
    let measured = report.is_some_and(|report| report.measured);
    match report {
        Some(report) if measured && look.layout.mismatches(&wanted, &report.lit).is_empty() => Walked::ReadBack,
        Some(_) | None => Walked::Told { at: *at, measured },
    }
}

/// Goes on with the walk when its lamp was read back, or given up.
pub(crate) fn walk(draft: &mut Draft<'_>) {
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
    if walk.area < draft.layout.len() {
        draft.seen.opening.walk = Some(walk);
        return;
    }
    if !draft.has_room(1) {
        return;
    }
    draft.seen.opening.walk = None;
    let failed: Vec<_> = walk.failed.iter().map(|area| draft.layout.id(*area)).collect();
    let text = if walk.unproven {
        "the lamps can't be read back: a person must say whether each was lit".to_string()
    } else if failed.is_empty() {
        format!("{} areas lit one by one and read back", draft.layout.len())
    } else {
        format!("not as commanded: {}", shortened(&failed))
    };
    let passed = failed.is_empty() && !walk.unproven;
    let source = Source::gateway().with_device(draft.device(DeviceKind::LayoutLamps));
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
