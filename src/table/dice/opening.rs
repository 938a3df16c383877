//! The opening checks of a dice table (r5.1): test entries, tumbler and seal, or dice and cup. PURE. Devices and the lamp walk are the
//! table's.

use crate::counted::often;
use crate::table::dice::{Draft, Look};
use crate::table::draft::Source;
use crate::table::entry::is_own_copy;
use crate::table::event::{Body, OpeningCheck, TumblerStarted};
use crate::table::game::Answer;
use crate::table::indicators::DeviceCommand;
use crate::table::input::{DeviceKind, Key, Motion, Person, Seal};
use crate::table::mode::Mode;
use crate::table::opening::{Evidence, RULE, devices, lamps_at_rest, opening, record};
use crate::table::operator::refused;
use crate::table::rejection::{self, Rejection};

/// What devices say of a check.
pub(crate) fn evidence(draft: &Draft<'_>, check: OpeningCheck) -> Evidence {
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

/// Lights what these faces light.
pub(crate) fn light(draft: &mut Draft<'_>, faces: [u8; 3]) -> Answer {
    opening(draft)?;
    draft.seen.opening.walk = None;
    draft.seen.opening.test_faces = Some(faces);
    Ok(format!("The areas of {} are lit.", draft.game.game.call(faces)))
}

/// A test entry on the terminal: it lights its areas for a person to see.
pub(crate) fn test_entry(draft: &mut Draft<'_>, shown: &[Key]) {
    let mut faces = Vec::new();
    for key in shown {
        match key {
            Key::Number(number) if (1..=6).contains(number) => faces.push(*number),
            Key::Number(_) | Key::NoSpin | Key::TwoUp(_) | Key::Other(_) => {
                return draft.notice(rejection::UNKNOWN_KEY);
            }
        }
    }
    if !is_own_copy(draft, shown) {
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
    if !draft.game.course().has_tumbler() {
        return Err(refused("This table has no tumbler: its dice are thrown from a cup."));
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
    let text = format!("the tumbler was activated and spun {}", often(spun.into()));
    record(draft, source, OpeningCheck::Tumbler, true, false, text);
}

/// What the lamps show for a test entry.
pub(crate) fn tested(look: &Look<'_>) -> Option<Vec<u8>> {
    let faces = look.seen.opening.test_faces?;
    Some(look.game.layout.picture(&look.game.game.winners(faces)))
}
