//! What people do at a two-up table, by keys, contacts or commands: each act in every phase. PURE.
//!
//! What follows from an act by law (wagers decided, a take-over) is recorded with it, so that folding decides nothing.

use crate::rules::two_up::Side;
use crate::table::MisKeyed;
use crate::table::draft::Source;
use crate::table::due::round_ends;
use crate::table::entry::new_number;
use crate::table::event::{
    Area, BetsClosed, Body, InvalidSpinOverruled, PlayersWagersDecided, ResultSource, SpinCorrected, SpinInvalidated,
    SpinInvalidatedReason, SpinOutcome, SpinResulted, SpinnerChangedReason, SpinnerWagerDecided,
};
use crate::table::game::Play;
use crate::table::input::{Contact, Outcome, Replacement};
use crate::table::mode::Mode;
use crate::table::seen::Signal;
use crate::table::state::State;
use crate::table::terminal::Missed;
use crate::table::two_up::law::{Invalid, Law, Spun, Verdict};
use crate::table::two_up::phase::{Course, Ended, Game, Phase, Spinner, Undo};
use crate::table::two_up::reason::{self, Reason};
use crate::table::two_up::refusal::Cause;
use crate::table::two_up::spinner::{Next, changed};
use crate::table::two_up::{Draft, set, spinner};
use crate::time::Uptime;

/// What somebody does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Act {
    /// A player accepts the dice and wagers.
    Spinner(Side),
    /// A player accepts the dice; the wager follows.
    SpinnerAlone,
    /// The spinner's wager is placed anew before the first call.
    Rewager(Side),
    /// Everyone declined, or the dealer who spins for that goes on.
    DealerSpins,
    /// A spinner goes on with a wager, or places the one that is missing.
    Wager(Side),
    /// A valid spin.
    Result(Outcome),
    /// "No spin".
    Invalid(SpinInvalidatedReason),
    /// The invalid spin stands after all.
    Overrule(Outcome),
    /// The result was keyed wrongly.
    Correct(Outcome),
    /// The spinner stops or retires.
    Stops,
    /// The dealer takes over.
    Relieve,
    /// Dice went off the table.
    OffTable(u8),
    /// The set is completed.
    NewSet(Replacement),
}

/// Who does it, and how.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct By {
    pub(crate) source: Source,
    pub(crate) how: ResultSource,
    /// As pressed; empty for a command.
    pub(crate) pressed: Vec<u32>,
    pub(crate) authority: Authority,
}

/// Whose word it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Authority {
    /// The dealer's.
    Dealer,
    /// A supervisor's, by key or command.
    Supervisor,
}

impl State {
    /// Where play of a two-up game stands; `None` outside it.
    pub(crate) fn course(&self) -> Option<&Course> {
        match &self.mode {
            Mode::Open(Play::TwoUp(course)) => Some(course),
            Mode::Open(Play::Dice(_)) | Mode::Closed | Mode::Opening(_) | Mode::Test(_) => None,
        }
    }
}

impl Draft<'_> {
    /// Where play stands, to match on while facts are recorded.
    pub(crate) fn course(&self) -> Option<Course> {
        self.state.course().cloned()
    }
}

/// Does the act.
///
/// # Errors
///
/// Why it is refused; then nothing is recorded.
pub(crate) fn perform(draft: &mut Draft<'_>, by: &By, act: Act) -> Result<(), Cause> {
    let Some(course) = draft.course() else {
        return Err(Cause::NoSpinner);
    };
    match act {
        Act::Spinner(side) => {
            spinner::select(draft, by, &course, spinner::Selected::Player)?;
            spinner::place(draft, by, side);
            Ok(())
        }
        Act::SpinnerAlone => spinner::select(draft, by, &course, spinner::Selected::Player),
        Act::DealerSpins => spinner::select(draft, by, &course, spinner::Selected::Dealer),
        Act::Rewager(side) => spinner::rewager(draft, by, &course, side),
        Act::Wager(side) => spinner::wager(draft, by, &course, side),
        Act::Result(outcome) => result(draft, by, &course, outcome),
        Act::Invalid(reason) => invalid(draft, by, &course, reason),
        Act::Overrule(outcome) => overrule(draft, by, &course, outcome),
        Act::Correct(outcome) => correct(draft, by, &course, outcome),
        Act::Stops => spinner::stops(draft, by, &course),
        Act::Relieve => spinner::relieve(draft, by, &course),
        Act::OffTable(dice) => set::off_table(draft, by, &course, dice),
        Act::NewSet(from) => set::new_set(draft, by, &course, from),
    }
}

/// "No more bets", before every spin (TD-10). After a game with coins it begins the run-out of what lies in the bonus area.
pub(crate) fn call(draft: &mut Draft<'_>, by: &By, rung: Option<Uptime>, missed: Missed) -> Result<(), Cause> {
    let Some(course) = draft.course() else {
        return Err(Cause::NoSpinner);
    };
    let run_out = match &course.phase {
        Phase::Betting(game) => {
            set::may_be_spun(&draft.game.law, &course, game.spinner)?;
            match game.spinner {
                Spinner::Player | Spinner::TakenOver(_) if game.wager.is_none() => return Err(Cause::WagerRequired),
                Spinner::Player | Spinner::TakenOver(_) | Spinner::Dealer | Spinner::RunOut(_) => {}
            }
            false
        }
        Phase::Select { run_out: Some(_) } => {
            set::may_be_spun(&draft.game.law, &course, Spinner::Dealer)?;
            true
        }
        Phase::Decide {
            ended: Ended::OfDealer,
            run_out: Some(_),
            ..
        } => {
            set::may_be_spun(&draft.game.law, &course, Spinner::Dealer)?;
            true
        }
        Phase::Select { run_out: None } => return Err(Cause::NoSpinner),
        Phase::Decide { .. } => return Err(Cause::NoGame),
        Phase::Closed { .. } => return Err(Cause::BetsClosed),
        Phase::Choice(_) => return Err(Cause::ChoicePending),
    };
    let rang = draft.rang(course.opened_at, rung, missed);
    let closed = BetsClosed {
        implied: false,
        while_away: rang.while_away,
        bell: Some(draft.bell().named(Contact::Bell)),
        bets_open_ms: rang.bets_open_ms,
        rung_us_before: rang.rung_us_before,
        run_out,
        counters: None,
    };
    let heard = draft.now;
    draft.seen.terminal.bell = rung.map(|at| Signal { at, heard }).or(draft.seen.terminal.bell);
    draft.record(by.source.clone(), Body::BetsClosed(closed));
    // Keys from before the bell can't count; the dealer begins with an empty readout.
    new_number(draft);
    Ok(())
}

/// Why there is no spin to enter.
fn no_spin_yet(phase: &Phase) -> Cause {
    match phase {
        Phase::Select { .. } => Cause::NoSpinner,
        Phase::Betting(_) | Phase::Closed { .. } => Cause::NoCall,
        Phase::Choice(_) => Cause::ChoicePending,
        Phase::Decide { .. } => Cause::NoGame,
    }
}

fn result(draft: &mut Draft<'_>, by: &By, course: &Course, outcome: Outcome) -> Result<(), Cause> {
    let Phase::Closed { game, closed_at } = &course.phase else {
        return Err(no_spin_yet(&course.phase));
    };
    let spun = spin(draft, course, game, outcome)?;
    resulted(draft, by, game, *closed_at, &spun);
    Ok(())
}

fn spin(draft: &Draft<'_>, course: &Course, game: &Game, outcome: Outcome) -> Result<Spun, Cause> {
    let (law, board) = (&draft.game.law, &draft.game.board);
    law.spin(board, game, &course.shown, outcome, draft.now)
        .ok_or(Cause::NotOfThisGame)
}

fn outcome_out(outcome: Option<Outcome>) -> i32 {
    outcome.map_or(SpinOutcome::Unspecified, Outcome::to_event) as i32
}

fn resulted(draft: &mut Draft<'_>, by: &By, game: &Game, closed_at: Uptime, spun: &Spun) {
    let shown = &spun.shown;
    let resulted = SpinResulted {
        outcome: outcome_out(shown.outcome),
        heads: u32::from(shown.heads),
        tails: u32::from(shown.tails),
        odds_run: u32::from(shown.odds),
        lights: shown.lights.clone(),
        shown_by: draft.game.law.shown_by() as i32,
        source: by.how as i32,
        pressed: by.pressed.clone(),
        bell: Some(draft.bell().named(Contact::Bell)),
        call_to_result_ms: draft.measured(closed_at, draft.now),
    };
    draft.record(by.source.clone(), Body::SpinResulted(resulted));
    follows(draft, game, spun);
}

/// What follows by law from a valid spin.
fn follows(draft: &mut Draft<'_>, game: &Game, spun: &Spun) {
    match spun.verdict {
        Verdict::Undecided => {}
        Verdict::Won { .. } | Verdict::Lost { .. } | Verdict::OfDealer | Verdict::OfRunOut => round_ends(draft),
    }
    let gateway = Source::gateway;
    if let Some(outcome) = spun.players {
        let decided = PlayersWagersDecided {
            outcome: outcome_out(Some(outcome)),
            to_bonus_area: spun.to_bonus_area,
            ends_game: spun.verdict == Verdict::OfDealer,
            run_out: spun.verdict == Verdict::OfRunOut,
        };
        draft.record(gateway(), Body::PlayersWagersDecided(decided));
    }
    let odds = draft.game.law.spinner_odds();
    let decided = |won: bool, may_continue: bool| {
        let odds = Area {
            pays: odds.pays,
            per: odds.per,
            ..Area::default()
        };
        Body::SpinnerWagerDecided(SpinnerWagerDecided {
            won,
            odds: Some(odds),
            may_continue,
        })
    };
    match spun.verdict {
        Verdict::Won { goes_on } => draft.record(gateway(), decided(true, goes_on)),
        Verdict::Lost { goes_on } => {
            draft.record(gateway(), decided(false, goes_on));
            if !goes_on {
                changed(draft, gateway(), game.round, SpinnerChangedReason::Lost, Next::Offered);
            }
        }
        Verdict::Undecided | Verdict::OfDealer | Verdict::OfRunOut => {}
    }
}

fn invalid(draft: &mut Draft<'_>, by: &By, course: &Course, reason: SpinInvalidatedReason) -> Result<(), Cause> {
    let law = &draft.game.law;
    if reason::of(reason).is_some_and(|reason| !reason.is_of(law)) {
        return Err(Cause::NotOfThisGame);
    }
    let discretion = SpinInvalidatedReason::DealerDiscretion;
    let discretionary = reason == discretion || reason::of(reason).is_none();
    match (law, &course.phase) {
        (_, Phase::Closed { game, .. }) => {
            barred(draft, by, game, reason, false);
            Ok(())
        }
        // Thrown before the call: with dice barred by the dealer's discretion, and by nothing else (TD-10).
        (Law::Dice(_), Phase::Betting(game)) if discretionary => {
            barred(draft, by, game, discretion, true);
            Ok(())
        }
        (_, phase @ (Phase::Select { .. } | Phase::Betting(_) | Phase::Choice(_) | Phase::Decide { .. })) => {
            Err(no_spin_yet(phase))
        }
    }
}

pub(crate) fn barred(draft: &mut Draft<'_>, by: &By, game: &Game, reason: SpinInvalidatedReason, before_call: bool) {
    let follows = draft.game.law.invalid(game);
    let invalidated = SpinInvalidated {
        reason: reason as i32,
        in_a_row: match game.spinner {
            Spinner::Player => u32::from(game.tally.run) + 1,
            Spinner::Dealer | Spinner::TakenOver(_) | Spinner::RunOut(_) => 0,
        },
        before_call,
        must_choose: follows == Invalid::MustChoose,
        source: by.how as i32,
        bell: Some(draft.bell().named(Contact::Bell)),
        text: reason::of(reason).map_or("no reason was stated", Reason::text).into(),
    };
    draft.record(by.source.clone(), Body::SpinInvalidated(invalidated));
    let next = match (follows, game.wager) {
        (Invalid::Nothing | Invalid::MustChoose, _) => return,
        // Nothing is left to decide: the dice are offered on.
        (Invalid::FirstThree | Invalid::ThreeInARow, None) => Next::Offered,
        (Invalid::FirstThree, Some(_)) => Next::DealerAfterFirstThree,
        (Invalid::ThreeInARow, Some(_)) => Next::Dealer,
    };
    let reason = SpinnerChangedReason::InvalidSpins;
    changed(draft, Source::gateway(), game.round, reason, next);
}

/// The responsible casino key employee overrules, directly after the declaration (Qld 2004 sch 13 s20(4), TD-12).
fn overrule(draft: &mut Draft<'_>, by: &By, course: &Course, outcome: Outcome) -> Result<(), Cause> {
    match draft.game.law {
        Law::Dice(_) => {}
        Law::Coins(_) => return Err(Cause::NoOverruling),
    }
    let (game, closed_at) = match &course.undo {
        Undo::Invalid { game, closed_at, .. } => (game, *closed_at),
        Undo::Early { .. } => return Err(Cause::BarredEarly),
        Undo::Nothing | Undo::Result { .. } => return Err(Cause::NothingToOverrule),
    };
    if by.authority != Authority::Supervisor {
        return Err(Cause::NotAuthorised);
    }
    let spun = spin(draft, course, game, outcome)?;
    draft.record(by.source.clone(), Body::InvalidSpinOverruled(InvalidSpinOverruled {}));
    resulted(draft, by, game, closed_at, &spun);
    Ok(())
}

/// A result that was keyed wrongly: the house's policy, with a supervisor (TD-20).
fn correct(draft: &mut Draft<'_>, by: &By, course: &Course, outcome: Outcome) -> Result<(), Cause> {
    let Undo::Result { game, shown, .. } = &course.undo else {
        return Err(Cause::NothingToCorrect);
    };
    if draft.game.law.mis_keyed() == MisKeyed::Stands {
        return Err(Cause::ResultsStand);
    }
    if by.authority != Authority::Supervisor {
        return Err(Cause::NotAuthorised);
    }
    if course.shown.outcome == Some(outcome) {
        return Err(Cause::SameResult);
    }
    let (law, board) = (&draft.game.law, &draft.game.board);
    let spun = law
        .spin(board, game, shown, outcome, draft.now)
        .ok_or(Cause::NotOfThisGame)?;
    let corrected = SpinCorrected {
        from_outcome: outcome_out(course.shown.outcome),
        outcome: outcome_out(Some(outcome)),
        heads: u32::from(spun.shown.heads),
        tails: u32::from(spun.shown.tails),
        odds_run: u32::from(spun.shown.odds),
        lights: spun.shown.lights.clone(),
        pressed: by.pressed.clone(),
        source: by.how as i32,
    };
    draft.record(by.source.clone(), Body::SpinCorrected(corrected));
    follows(draft, game, &spun);
    Ok(())
}
