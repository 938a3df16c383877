//! What an entry of two keys means at a two-up table: the keys of the entry alone say what is meant. PURE.

use crate::rules::two_up::Side;
use crate::table::entry::{Refused, is_own_copy, new_number, spend_authority};
use crate::table::event::{ResultSource, SpinInvalidatedReason};
use crate::table::input::{Key, Outcome, Replacement, TwoUpKey};
use crate::table::rejection::{self, HOUSE};
use crate::table::two_up::Draft;
use crate::table::two_up::bell;
use crate::table::two_up::law::Law;
use crate::table::two_up::phase::{Course, Phase, Spinner, Undo};
use crate::table::two_up::play::{self, Act, Authority, By};
use crate::table::two_up::refusal::Cause;

/// An entry has at most so many keys.
pub(crate) const KEYS: usize = 2;

const LOST: Refused = Refused::Because {
    code: rejection::KEYS_DIFFER,
    text: "A key was lost on the way: press the keys again, then ENTER.",
    rule: HOUSE,
};

const UNKNOWN: Refused = Refused::Because {
    code: rejection::UNKNOWN_KEY,
    text: "A key was pressed that this game does not have: press the keys again, then ENTER.",
    rule: HOUSE,
};

/// What keys of their own mean, before it is asked what can be done now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meant {
    /// A result, or a side.
    Outcome(Outcome),
    /// Anything else.
    Act(Act),
}

fn outcome(key: TwoUpKey) -> Option<Outcome> {
    match key {
        TwoUpKey::Heads => Some(Outcome::Heads),
        TwoUpKey::Tails => Some(Outcome::Tails),
        TwoUpKey::Odds => Some(Outcome::Odds),
        TwoUpKey::TripleHeads => Some(Outcome::TripleHeads),
        TwoUpKey::TripleTails => Some(Outcome::TripleTails),
        TwoUpKey::NewSpinner
        | TwoUpKey::SpinnerStops
        | TwoUpKey::Relieve
        | TwoUpKey::OffTable
        | TwoUpKey::NewSet
        | TwoUpKey::Overrule => None,
    }
}

fn side(outcome: Outcome) -> Option<Side> {
    match outcome {
        Outcome::Heads => Some(Side::Heads),
        Outcome::Tails => Some(Side::Tails),
        Outcome::Odds | Outcome::TripleHeads | Outcome::TripleTails => None,
    }
}

/// What the keys mean; `None`: they are no entry.
fn meant(shown: &[Key]) -> Option<Meant> {
    let act = match shown {
        [Key::NoSpin] => Act::Invalid(SpinInvalidatedReason::NotStated),
        [Key::TwoUp(TwoUpKey::NewSpinner)] => Act::DealerSpins,
        [Key::TwoUp(TwoUpKey::NewSpinner), Key::TwoUp(key)] => Act::Spinner(side(outcome(*key)?)?),
        [Key::TwoUp(TwoUpKey::SpinnerStops)] => Act::Stops,
        [Key::TwoUp(TwoUpKey::Relieve)] => Act::Relieve,
        [Key::TwoUp(TwoUpKey::OffTable)] => Act::OffTable(1),
        [Key::TwoUp(TwoUpKey::OffTable), Key::TwoUp(TwoUpKey::OffTable)] => Act::OffTable(2),
        [Key::TwoUp(TwoUpKey::NewSet)] => Act::NewSet(Replacement::Due),
        [Key::TwoUp(TwoUpKey::Overrule), Key::TwoUp(key)] => Act::Overrule(outcome(*key)?),
        [Key::TwoUp(key)] => return outcome(*key).map(Meant::Outcome),
        [] | [_] | [_, _] | [_, _, _, ..] => return None,
    };
    Some(Meant::Act(act))
}

/// What a result key alone means now: the result of a spin, the wager of who goes on, or, under authority, a correction.
fn by_outcome(course: &Course, authority: Authority, outcome: Outcome) -> Act {
    let correctable = matches!(course.undo, Undo::Result { .. });
    if correctable && authority == Authority::Supervisor {
        return Act::Correct(outcome);
    }
    let wants_wager = match &course.phase {
        Phase::Decide { .. } => true,
        Phase::Betting(game) => game.spinner == Spinner::Player && game.wager.is_none(),
        Phase::Select { .. } | Phase::Closed { .. } | Phase::Choice(_) => false,
    };
    match side(outcome).filter(|_| wants_wager) {
        Some(side) => Act::Wager(side),
        None => Act::Result(outcome),
    }
}

/// The act needs a supervisor's authority, which it uses up.
fn uses_authority(law: &Law, act: Act, course: &Course) -> bool {
    match (act, law) {
        (Act::Overrule(_) | Act::Correct(_), _) => true,
        // The floor manager's word for who is unable or unwilling; where it isn't needed the key stays unspent.
        (Act::Relieve, Law::Coins(_)) => course.phase.game().is_some_and(|game| !Law::ground_is_seen(game)),
        (
            Act::Spinner(_)
            | Act::SpinnerAlone
            | Act::Rewager(_)
            | Act::DealerSpins
            | Act::Wager(_)
            | Act::Result(_)
            | Act::Invalid(_)
            | Act::Stops
            | Act::Relieve
            | Act::OffTable(_)
            | Act::NewSet(_),
            _,
        ) => false,
    }
}

/// An entry at an open table.
pub(crate) fn enter(draft: &mut Draft<'_>, shown: &[Key]) -> Result<(), Refused> {
    let known = shown.iter().all(|key| draft.game.law.knows(*key));
    if draft.seen.entry.unknown_key || !known {
        // It makes the entry refused, even when later keys have pushed it out.
        return Err(UNKNOWN);
    }
    if !is_own_copy(draft, shown) {
        return Err(LOST);
    }
    let Some(course) = draft.course() else {
        return Err(Cause::NoSpinner.of_entry(&draft.game.law));
    };
    let authority = if draft.seen.has_authority() {
        Authority::Supervisor
    } else {
        Authority::Dealer
    };
    let act = match meant(shown) {
        Some(Meant::Act(act)) => act,
        Some(Meant::Outcome(outcome)) => by_outcome(&course, authority, outcome),
        None => return Err(Refused::Recorded(rejection::NO_SUCH_ENTRY)),
    };
    let spends = authority == Authority::Supervisor && uses_authority(&draft.game.law, act, &course);
    let by = By {
        source: if spends {
            draft.supervisor_by_key()
        } else {
            draft.dealer_at_terminal()
        },
        how: ResultSource::Terminal,
        pressed: shown.iter().map(|key| key.number()).collect(),
        authority,
    };
    if let (Act::Invalid(_), Some(said)) = (act, draft.seen.entry.running_key_at())
        && !bell::says_no_spin(draft, said)
    {
        new_number(draft);
        return Ok(());
    }
    play::perform(draft, &by, act).map_err(|cause| cause.of_entry(&draft.game.law))?;
    if spends {
        spend_authority(draft);
    }
    // A refusal that still blinks must not look like the answer to the entry that was taken.
    draft.seen.readout.notice = None;
    Ok(())
}
