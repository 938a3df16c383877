//! Who spins at a two-up table: selection, wagers, stopping, taking over. PURE.

use crate::rules;
use crate::rules::two_up::Side;
use crate::table::draft::Source;
use crate::table::due::{is_next_round_held_back, round_ends};
use crate::table::event::{self, Body, SpinnerChanged, SpinnerChangedReason, SpinnerSelected, SpinnerWagerPlaced};
use crate::table::input::Contact;
use crate::table::two_up::Draft;
use crate::table::two_up::law::Law;
use crate::table::two_up::phase::{Behind, Course, Ended, Phase, Spinner};
use crate::table::two_up::play::{Authority, By};
use crate::table::two_up::refusal::Cause;
use crate::table::two_up::set::is_depleted;

/// The next game may begin.
fn may_begin(draft: &Draft<'_>) -> Result<(), Cause> {
    if is_next_round_held_back(&draft.look()) {
        return Err(Cause::HeldBack);
    }
    Ok(())
}

/// Who is selected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Selected {
    Player,
    Dealer,
}

/// Whose the dice are when somebody is to be selected; `None`: the game isn't over.
///
/// Until a run-out has its result, a selection says that nothing lies in the bonus area: also after its bell, which may have been
/// rung in error.
fn behind(phase: &Phase) -> Option<Behind> {
    match phase {
        Phase::Select { .. } => Some(Behind::Offered),
        Phase::Decide { ended, .. } => match ended {
            Ended::OfDealer => Some(Behind::Dealer),
            Ended::Won | Ended::Lost => None,
        },
        Phase::Closed { game, .. } => match game.spinner {
            Spinner::RunOut(behind) => Some(behind),
            Spinner::Player | Spinner::Dealer | Spinner::TakenOver(_) => None,
        },
        Phase::Betting(_) | Phase::Choice(_) => None,
    }
}

pub(crate) fn select(draft: &mut Draft<'_>, by: &By, course: &Course, selected: Selected) -> Result<(), Cause> {
    let behind = behind(&course.phase).ok_or(Cause::SpinnerAlreadySet)?;
    // A dealer who goes on is no new spinner.
    let goes_on = (behind, selected) == (Behind::Dealer, Selected::Dealer);
    if !goes_on && is_depleted(&draft.game.law, course) {
        return Err(Cause::NewSetRequired);
    }
    may_begin(draft)?;
    if (behind, selected) == (Behind::Dealer, Selected::Player) {
        // The dealer stops spinning: the dice were offered on.
        let (round, reason) = (draft.state.round_id(), SpinnerChangedReason::Stopped);
        changed(draft, by.source.clone(), round, reason, Next::Offered);
    }
    let selected = SpinnerSelected {
        dealer: selected == Selected::Dealer,
        game: draft.game.law.name().into(),
        rules_version: rules::RULES_VERSION.into(),
        bell: Some(draft.bell().named(Contact::Bell)),
        source: by.how as i32,
    };
    draft.record(by.source.clone(), Body::SpinnerSelected(selected));
    Ok(())
}

fn side_out(side: Side) -> i32 {
    match side {
        Side::Heads => event::Side::Heads as i32,
        Side::Tails => event::Side::Tails as i32,
    }
}

pub(crate) fn place(draft: &mut Draft<'_>, by: &By, side: Side) {
    // Of a winner who goes on it begins a round, and says what a selection would say.
    let begins = draft.state.course().is_some_and(|course| match course.phase {
        Phase::Decide { .. } => true,
        Phase::Select { .. } | Phase::Betting(_) | Phase::Closed { .. } | Phase::Choice(_) => false,
    });
    let said = |text: &str| if begins { text.to_owned() } else { String::new() };
    let placed = SpinnerWagerPlaced {
        side: side_out(side),
        game: said(draft.game.law.name()),
        rules_version: said(rules::RULES_VERSION),
        bell: Some(draft.bell().named(Contact::Bell)),
        source: by.how as i32,
    };
    draft.record(by.source.clone(), Body::SpinnerWagerPlaced(placed));
}

/// The wager is placed anew while it is free.
pub(crate) fn rewager(draft: &mut Draft<'_>, by: &By, course: &Course, side: Side) -> Result<(), Cause> {
    match &course.phase {
        Phase::Betting(game) => match game.spinner {
            Spinner::Player if draft.game.law.wager_is_free(game) => {
                place(draft, by, side);
                Ok(())
            }
            Spinner::Player | Spinner::TakenOver(_) => Err(Cause::WagerLocked),
            Spinner::Dealer | Spinner::RunOut(_) => Err(Cause::DealerMayNotWager),
        },
        Phase::Select { .. } => Err(Cause::NoSpinner),
        Phase::Closed { .. } => Err(Cause::BetsClosed),
        Phase::Choice(_) => Err(Cause::ChoicePending),
        Phase::Decide { .. } => Err(Cause::NoGame),
    }
}

pub(crate) fn wager(draft: &mut Draft<'_>, by: &By, course: &Course, side: Side) -> Result<(), Cause> {
    match &course.phase {
        Phase::Decide { ended, .. } => {
            match ended {
                Ended::OfDealer => return Err(Cause::DealerMayNotWager),
                // The old set goes with a wager that lost (Qld 2004 sch 13 s22(3)(a)).
                Ended::Lost if is_depleted(&draft.game.law, course) => return Err(Cause::NewSetRequired),
                Ended::Won | Ended::Lost => {}
            }
            may_begin(draft)?;
        }
        Phase::Betting(game) => match (game.spinner, game.wager) {
            (Spinner::Player, None) => {}
            (Spinner::Dealer | Spinner::RunOut(_), _) => return Err(Cause::DealerMayNotWager),
            (Spinner::Player | Spinner::TakenOver(_), _) => return Err(Cause::GameNotDecided),
        },
        Phase::Select { .. } => return Err(Cause::SpinnerMustStop),
        Phase::Closed { .. } => return Err(Cause::GameNotDecided),
        Phase::Choice(_) => return Err(Cause::ChoicePending),
    }
    place(draft, by, side);
    Ok(())
}

/// Who has the dice after a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// The dealer, until the wager is decided.
    Dealer,
    /// The dealer; the invalid spins were the spinner's first three.
    DealerAfterFirstThree,
    /// Nobody: they are offered on.
    Offered,
    /// Nobody; the wager went back.
    OfferedWagerBack,
}

pub(crate) fn changed(draft: &mut Draft<'_>, source: Source, round: u64, reason: SpinnerChangedReason, next: Next) {
    let changed = SpinnerChanged {
        reason: reason as i32,
        dealer: matches!(next, Next::Dealer | Next::DealerAfterFirstThree),
        first_three: next == Next::DealerAfterFirstThree,
        wager_returned: next == Next::OfferedWagerBack,
    };
    draft.record_of_round(round, source, Body::SpinnerChanged(changed));
}

pub(crate) fn stops(draft: &mut Draft<'_>, by: &By, course: &Course) -> Result<(), Cause> {
    let (game, next) = match &course.phase {
        Phase::Select { .. } => return Err(Cause::NoSpinner),
        Phase::Decide { .. } => {
            changed(
                draft,
                by.source.clone(),
                0,
                SpinnerChangedReason::Stopped,
                Next::Offered,
            );
            return Ok(());
        }
        // To retire is one of the two choices (Qld 1998 s478(1)(a)).
        Phase::Choice(game) => (game, Next::OfferedWagerBack),
        Phase::Betting(game) | Phase::Closed { game, .. } => {
            let next = match (game.spinner, &draft.game.law, game.wager) {
                (Spinner::Dealer | Spinner::TakenOver(_) | Spinner::RunOut(_), _, _) => {
                    return Err(Cause::DealerMustSpin);
                }
                (Spinner::Player, _, None) => Next::Offered,
                // Before any valid spin the wager goes back (TP-8).
                (Spinner::Player, Law::Coins(_), Some(_)) if game.tally.valid == 0 => Next::OfferedWagerBack,
                (Spinner::Player, Law::Dice(_) | Law::Coins(_), Some(_)) => Next::Dealer,
            };
            (game, next)
        }
    };
    if next != Next::Dealer {
        round_ends(draft);
    }
    changed(
        draft,
        by.source.clone(),
        game.round,
        SpinnerChangedReason::Stopped,
        next,
    );
    Ok(())
}

pub(crate) fn relieve(draft: &mut Draft<'_>, by: &By, course: &Course) -> Result<(), Cause> {
    let game = match &course.phase {
        Phase::Choice(game) => {
            // The spinner chose the boxer (Qld 1998 s478(1)(b)).
            let reason = SpinnerChangedReason::InvalidSpins;
            changed(
                draft,
                by.source.clone(),
                game.round,
                reason,
                Next::DealerAfterFirstThree,
            );
            return Ok(());
        }
        Phase::Betting(game) | Phase::Closed { game, .. } if game.spinner == Spinner::Player => game,
        Phase::Select { .. } | Phase::Betting(_) | Phase::Closed { .. } | Phase::Decide { .. } => {
            return Err(Cause::NobodyToRelieve);
        }
    };
    let (reason, next) = match (&draft.game.law, game.wager) {
        (Law::Dice(_), _) if game.tally.invalid == 0 => return Err(Cause::NoInvalidSpins),
        (Law::Dice(_), Some(_)) => (SpinnerChangedReason::Relieved, Next::Dealer),
        (Law::Dice(_), None) => (SpinnerChangedReason::Relieved, Next::Offered),
        (Law::Coins(_), None) => return Err(Cause::NobodyToRelieve),
        (Law::Coins(_), Some(_)) if Law::ground_is_seen(game) => (SpinnerChangedReason::InvalidSpins, Next::Dealer),
        // Whether the spinner is unable or unwilling only a supervisor can say (Qld 1998 s478(2)(c)).
        (Law::Coins(_), Some(_)) if by.authority == Authority::Supervisor => {
            (SpinnerChangedReason::Relieved, Next::Dealer)
        }
        (Law::Coins(_), Some(_)) => return Err(Cause::NotAuthorised),
    };
    if next == Next::Offered {
        round_ends(draft);
    }
    changed(draft, by.source.clone(), game.round, reason, next);
    Ok(())
}
