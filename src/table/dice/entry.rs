//! What an entry of numbers means. PURE. How keys are mirrored and refusals counted is the table's.

use crate::rules::citation::{Citation, nz_div_9};
use crate::rules::tai_sai::{self, Style};
use crate::table::dice::game::{Course, DiceGame, Ground};
use crate::table::dice::held::Uncovered;
use crate::table::dice::phase::{BetsShut, Entered, Landed, Phase};
use crate::table::dice::{Dice, Draft, held, queensland, settle, terminal, tumbler};
use crate::table::draft::Source;
use crate::table::entry::{Refused, is_own_copy, new_number, reject_because, spend_authority};
use crate::table::event::{Body, ResultAmended, ResultEntered, ResultSource, RoundHeldCause};
use crate::table::input::{Cover, DeviceKind, Key};
use crate::table::rejection::{self, Code};
use crate::table::seen::Pressed;
use crate::table::terminal::Missed;
use std::time::Duration;

/// An entry is three numbers (r3.3).
pub(crate) const KEYS: usize = 3;

/// A key pressed earlier than this before the uncover was pressed before it (two clocks).
const BEFORE_UNCOVER: Duration = Duration::from_millis(300);

/// A NO_SPIN key waits this long for its ENTER.
const NO_SPIN_WAITS: Duration = Duration::from_secs(5);

/// A key that these games have.
pub(crate) fn knows(key: Key) -> bool {
    match key {
        Key::Number(number) => (1..=6).contains(&number),
        Key::NoSpin => true,
        Key::TwoUp(_) | Key::Other(_) => false,
    }
}

/// "No spin" stands alone, and a number after it begins afresh.
pub(crate) fn clears(keys: &[Pressed], key: Key) -> bool {
    key == Key::NoSpin || keys.iter().any(|pressed| pressed.key == Key::NoSpin)
}

/// An entry at an open table.
pub(crate) fn judge(draft: &mut Draft<'_>, shown: &[Key]) -> Result<(), Refused> {
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

/// A refusal with what this game has to say of it.
pub(crate) fn in_words_of(game: &Dice, refused: Refused) -> Refused {
    match refused {
        Refused::Recorded(code) => {
            let (text, rule) = words_of(game, code);
            Refused::Because { code, text, rule }
        }
        other @ (Refused::Shown(_) | Refused::Because { .. }) => other,
    }
}

/// What a code says at this table, and its rule.
fn words_of(game: &Dice, code: Code) -> (&'static str, Citation) {
    let text = match (game.course(), code) {
        (Course::DiceCup, rejection::OUT_OF_ORDER) => "Not now: the order is bets, bell, throw, entry, settlement.",
        (Course::OpenTumbler, rejection::OUT_OF_ORDER) => {
            "Not now: the order is bets, bell, three spins and a rest, entry, settlement."
        }
        (Course::OpenTumbler, rejection::PRESSED_BEFORE_UNCOVER) => {
            "A number was pressed before the dice had landed: press the three numbers again, then ENTER."
        }
        (_, code) => code.text,
    };
    let rule = match game.game {
        DiceGame::TaiSai { style: Style::A, .. } => code.rule,
        DiceGame::TaiSai { style: Style::B, .. } if code == rejection::OUT_OF_ORDER => nz_div_9!("r6A.10"),
        DiceGame::TaiSai { style: Style::B, .. } => code.rule,
        DiceGame::SicBo { .. } => queensland::rejection(code),
    };
    (text, rule)
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
            Key::Number(_) | Key::NoSpin | Key::TwoUp(_) | Key::Other(_) => return Err(rejection::UNKNOWN_KEY),
        }
    }
    if !is_own_copy(draft, shown) {
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
    let read = tumbler::reading_of_round(draft);
    let agrees = read == Some(tai_sai::sorted(faces));
    let contradicted = !agrees && (read.is_some() || differs_held);
    if contradicted && !draft.seen.has_authority() {
        let (text, rule) = words_of(draft.game, rejection::DICE_DIFFER);
        reject_because(draft, rejection::DICE_DIFFER, shown, text, rule);
        let pressed = shown.iter().map(|key| key.number()).collect();
        held::hold_with_entry(draft, pressed, read);
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
        read,
    };
    accept(draft, source, entry);
    Ok(())
}

/// With the tumbler away, or without a cover contact, the entry stands for the uncover; then all keys since the bell count. So it
/// does always with a dice cup.
fn in_closed(draft: &mut Draft<'_>, shut: &BetsShut, shown: &[Key]) -> Result<(), Refused> {
    let away = !draft.state.is_online(DeviceKind::Tumbler);
    let blind = match draft.game.course() {
        Course::CoveredTumbler => away || draft.seen.tumbler.cover() == Cover::Unknown,
        Course::OpenTumbler => away,
        Course::DiceCup => true,
    };
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
        read: tumbler::reading(draft),
    };
    accept(draft, source, entry);
    Ok(())
}

fn amend_by_key(draft: &mut Draft<'_>, entered: &Entered, shown: &[Key]) -> Result<(), Refused> {
    if draft.game.game.amend() == Ground::None {
        return Err(Refused::Recorded(rejection::OUT_OF_ORDER));
    }
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

/// An entry that is accepted.
pub(crate) struct Accepted {
    pub(crate) pressed: Vec<u32>,
    pub(crate) faces: [u8; 3],
    pub(crate) source: ResultSource,
    pub(crate) reason: String,
    pub(crate) confirmed: bool,
    /// What the dice reader saw of this round.
    pub(crate) read: Option<[u8; 3]>,
}

/// The result is entered.
pub(crate) fn accept(draft: &mut Draft<'_>, source: Source, entry: Accepted) {
    let (uncover_to_entry_ms, bell_to_entry_ms) = match draft.state.phase() {
        Some(Phase::Landed(landed)) => (draft.measured(landed.uncovered_at, draft.now), 0),
        Some(Phase::Closed(shut)) if draft.game.course() == Course::DiceCup => {
            (0, draft.measured(shut.closed_at, draft.now))
        }
        Some(Phase::Closed(_) | Phase::Ready(_) | Phase::Tumbling(_) | Phase::Betting(_) | Phase::Entered(_))
        | None => {
            return;
        }
    };
    let areas = draft.game.game.winners(entry.faces);
    let entered = ResultEntered {
        pressed: entry.pressed,
        faces: tai_sai::sorted(entry.faces).map(u32::from).to_vec(),
        total: u32::from(tai_sai::total(entry.faces)),
        call: draft.game.game.call(entry.faces),
        lit: draft.game.layout.picture(&areas),
        areas,
        source: entry.source as i32,
        reason: entry.reason,
        confirmed: entry.confirmed,
        read_faces: entry
            .read
            .map(|faces| faces.map(u32::from).to_vec())
            .unwrap_or_default(),
        uncover_to_entry_ms,
        bell_to_entry_ms,
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
    let areas = draft.game.game.winners(faces);
    let amended = ResultAmended {
        from_faces: entered.faces.clone(),
        faces: tai_sai::sorted(faces).map(u32::from).to_vec(),
        total: u32::from(tai_sai::total(faces)),
        call: draft.game.game.call(faces),
        lit: draft.game.layout.picture(&areas),
        areas,
        pressed,
        source: how as i32,
        by_policy: draft.game.game.amend().is_policy(),
    };
    draft.record(source, Body::ResultAmended(amended));
    draft.seen.readout.numbers_hidden = false;
    draft.seen.readout.notice = None;
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
        read,
    };
    accept(draft, source, entry);
    new_number(draft);
}
