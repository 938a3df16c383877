//! The set of dice or coins: what went off the table, what completes it, who may spin what is left. PURE.

use crate::table::event::{Body, DiceReplaced, DieOffTable, SpinInvalidatedReason};
use crate::table::input::Replacement;
use crate::table::two_up::Draft;
use crate::table::two_up::law::Law;
use crate::table::two_up::phase::{Course, Phase, Spinner, Undo};
use crate::table::two_up::play::{By, barred};
use crate::table::two_up::refusal::Cause;

/// So many are lost that a new set is due.
pub(crate) fn is_depleted(law: &Law, course: &Course) -> bool {
    course.missing >= law.set().depleted
}

/// There are enough dice, and this spinner may spin them.
pub(crate) fn may_be_spun(law: &Law, course: &Course, spinner: Spinner) -> Result<(), Cause> {
    let set = law.set();
    if set.size.saturating_sub(course.missing) < set.spun {
        return Err(Cause::NotEnoughDice);
    }
    match law {
        // The spinner may keep the old set until the wager loses, or wins and the spinner stops (s22(3)).
        Law::Dice(_) => Ok(()),
        Law::Coins(_) => {
            // In a run-out after a game the new set comes first (TP-16).
            let in_turn = course.phase.turn().is_some();
            let keeps = in_turn && course.keeps_old_set == Some(spinner.keeper());
            if is_depleted(law, course) && !keeps {
                return Err(Cause::NewSetRequired);
            }
            Ok(())
        }
    }
}

/// In `closed` it is itself the invalid spin; directly after an invalid spin it tells of dice that aren't found.
pub(crate) fn off_table(draft: &mut Draft<'_>, by: &By, course: &Course, dice: u8) -> Result<(), Cause> {
    let set = draft.game.law.set();
    let so_far = match (&course.phase, &course.undo) {
        (Phase::Closed { .. }, _) => 0,
        (_, Undo::Early { off } | Undo::Invalid { off, .. }) => *off,
        (_, Undo::Nothing | Undo::Result { .. }) => return Err(Cause::NotOffTable),
    };
    let missing = course.missing.saturating_add(dice);
    if so_far.saturating_add(dice) > set.spun || missing > set.size {
        return Err(Cause::NotOffTable);
    }
    let mut round = draft.state.round_id();
    if let Phase::Closed { game, .. } = &course.phase {
        round = game.round;
        let reason = match draft.game.law {
            Law::Dice(_) => SpinInvalidatedReason::OffTable,
            Law::Coins(_) => SpinInvalidatedReason::OutsideRing,
        };
        barred(draft, by, game, reason, false);
    }
    let off = DieOffTable {
        dice: u32::from(dice),
        missing: u32::from(missing),
    };
    draft.record_of_round(round, by.source.clone(), Body::DieOffTable(off));
    Ok(())
}

pub(crate) fn new_set(draft: &mut Draft<'_>, by: &By, course: &Course, from: Replacement) -> Result<(), Cause> {
    if course.missing == 0 {
        return Err(Cause::SetComplete);
    }
    let found = from == Replacement::Found || !is_depleted(&draft.game.law, course);
    let in_play = match &course.phase {
        Phase::Closed { .. } => true,
        Phase::Select { .. } | Phase::Betting(_) | Phase::Choice(_) | Phase::Decide { .. } => false,
    };
    if !found && in_play {
        return Err(Cause::DiceInPlay);
    }
    let replaced = DiceReplaced {
        found,
        dice: if found { u32::from(course.missing) } else { 0 },
    };
    draft.record(by.source.clone(), Body::DiceReplaced(replaced));
    Ok(())
}
