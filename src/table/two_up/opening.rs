//! Before play at a two-up table: test entries, lights for a person to see. PURE. Devices and the walk over the lights are the table's.

use crate::rules::triple_penny::Display;
use crate::table::entry::is_own_copy;
use crate::table::event::OpeningCheck;
use crate::table::game::Answer;
use crate::table::input::{Key, Outcome, TwoUpKey};
use crate::table::opening::{self, Evidence};
use crate::table::operator::refused;
use crate::table::rejection;
use crate::table::two_up::law::{Law, test_lights};
use crate::table::two_up::{Draft, Look};

/// The checks before play. The set is the dealer's to count: five with two sides each (Qld 2004 sch 13 s4, Qld 1998 s470).
pub(crate) fn checks(law: &Law) -> &'static [OpeningCheck] {
    match law.display() {
        Display::Lights => &[
            OpeningCheck::Devices,
            OpeningCheck::LampWalk,
            OpeningCheck::TestEntries,
            OpeningCheck::Dice,
        ],
        Display::Electronic | Display::Cards => &[OpeningCheck::Devices, OpeningCheck::TestEntries, OpeningCheck::Dice],
    }
}

/// What devices say of a check.
pub(crate) fn evidence(draft: &Draft<'_>, check: OpeningCheck) -> Evidence {
    match check {
        OpeningCheck::Devices => opening::devices(draft),
        OpeningCheck::LampWalk => opening::lamps_at_rest(draft),
        OpeningCheck::Unspecified
        | OpeningCheck::TestEntries
        | OpeningCheck::Tumbler
        | OpeningCheck::Seal
        | OpeningCheck::Dice => Evidence::None,
    }
}

/// Lights what this outcome lights.
pub(crate) fn light(draft: &mut Draft<'_>, outcome: Outcome) -> Answer {
    opening::opening(draft)?;
    let game = draft.game;
    if test_lights(&game.law, &game.board, outcome).is_none() {
        return Err(refused("This game has no such result."));
    }
    draft.seen.opening.walk = None;
    draft.seen.opening.test_outcome = Some(outcome);
    Ok(format!("The lights of {} are on.", outcome.name().replace('_', " ")))
}

/// A test entry on the terminal: one result key lights its lights.
pub(crate) fn test_entry(draft: &mut Draft<'_>, shown: &[Key]) {
    if !shown.iter().all(|key| draft.game.law.knows(*key)) {
        return draft.notice(rejection::UNKNOWN_KEY);
    }
    if !is_own_copy(draft, shown) {
        return draft.notice(rejection::KEYS_DIFFER);
    }
    let outcome = match shown {
        [Key::TwoUp(TwoUpKey::Heads)] => Some(Outcome::Heads),
        [Key::TwoUp(TwoUpKey::Tails)] => Some(Outcome::Tails),
        [Key::TwoUp(TwoUpKey::Odds)] => Some(Outcome::Odds),
        [Key::TwoUp(TwoUpKey::TripleHeads)] => Some(Outcome::TripleHeads),
        [Key::TwoUp(TwoUpKey::TripleTails)] => Some(Outcome::TripleTails),
        [] | [_] | [_, _, ..] => None,
    };
    match outcome {
        Some(outcome) => {
            draft.seen.opening.walk = None;
            draft.seen.opening.test_outcome = Some(outcome);
            draft.seen.readout.numbers_hidden = false;
        }
        None => draft.notice(rejection::NO_SUCH_ENTRY),
    }
}

/// What the lights show for a test entry.
pub(crate) fn tested(look: &Look<'_>) -> Option<Vec<u8>> {
    test_lights(&look.game.law, &look.game.board, look.seen.opening.test_outcome?)
}

/// What the readout shows for it.
pub(crate) fn tested_text(look: &Look<'_>) -> Option<String> {
    let letter = match look.seen.opening.test_outcome? {
        Outcome::Heads => "H",
        Outcome::Tails => "T",
        Outcome::Odds => "O",
        Outcome::TripleHeads => "A",
        Outcome::TripleTails => "B",
    };
    Some(letter.into())
}
