//! What people do at a two-up table, by keys, contacts or commands: each act in every phase. PURE.
//!
//! What follows from an act by law (wagers decided, a take-over) is recorded with it, so that folding decides nothing.

use crate::rules;
use crate::rules::two_up::Side;
use crate::table::MisKeyed;
use crate::table::draft::{Source, micros, millis};
use crate::table::due::{is_next_round_held_back, round_ends};
use crate::table::entry::new_number;
use crate::table::event::{
    self, Area, BetsClosed, Body, DiceReplaced, DieOffTable, InvalidSpinOverruled, PlayersWagersDecided, ResultSource,
    SpinCorrected, SpinInvalidated, SpinInvalidatedReason, SpinOutcome, SpinResulted, SpinnerChanged,
    SpinnerChangedReason, SpinnerSelected, SpinnerWagerDecided, SpinnerWagerPlaced,
};
use crate::table::game::Play;
use crate::table::input::{Contact, Outcome, Replacement};
use crate::table::mode::Mode;
use crate::table::state::State;
use crate::table::terminal::Missed;
use crate::table::two_up::Draft;
use crate::table::two_up::law::{Invalid, Law, Spun, Verdict};
use crate::table::two_up::phase::{Course, Ended, Game, Phase, Spinner, Undo};
use crate::table::two_up::reason::{self, Reason};
use crate::table::two_up::refusal::Cause;
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
            select(draft, by, &course, Selected::Player)?;
            place(draft, by, side);
            Ok(())
        }
        Act::SpinnerAlone => select(draft, by, &course, Selected::Player),
        Act::DealerSpins => select(draft, by, &course, Selected::Dealer),
        Act::Rewager(side) => rewager(draft, by, &course, side),
        Act::Wager(side) => wager(draft, by, &course, side),
        Act::Result(outcome) => result(draft, by, &course, outcome),
        Act::Invalid(reason) => invalid(draft, by, &course, reason),
        Act::Overrule(outcome) => overrule(draft, by, &course, outcome),
        Act::Correct(outcome) => correct(draft, by, &course, outcome),
        Act::Stops => stops(draft, by, &course),
        Act::Relieve => relieve(draft, by, &course),
        Act::OffTable(dice) => off_table(draft, by, &course, dice),
        Act::NewSet(from) => new_set(draft, by, &course, from),
    }
}

/// The next game may begin.
fn may_begin(draft: &Draft<'_>) -> Result<(), Cause> {
    if is_next_round_held_back(&draft.look()) {
        return Err(Cause::HeldBack);
    }
    Ok(())
}

fn is_depleted(law: &Law, course: &Course) -> bool {
    course.missing >= law.set().depleted
}

/// Who is selected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Selected {
    Player,
    Dealer,
}

fn select(draft: &mut Draft<'_>, by: &By, course: &Course, selected: Selected) -> Result<(), Cause> {
    match (&course.phase, selected) {
        (Phase::Select { .. }, _) if is_depleted(&draft.game.law, course) => return Err(Cause::NewSetRequired),
        (Phase::Select { .. }, _) => {}
        (Phase::Decide { ended, .. }, Selected::Dealer) if *ended == Ended::OfDealer => {}
        (Phase::Decide { ended, .. }, Selected::Player) if *ended == Ended::OfDealer => {
            if is_depleted(&draft.game.law, course) {
                return Err(Cause::NewSetRequired);
            }
            may_begin(draft)?;
            // The dealer stops spinning: the dice were offered on.
            changed(
                draft,
                by.source.clone(),
                0,
                SpinnerChangedReason::Stopped,
                Next::Offered,
            );
        }
        (Phase::Decide { .. } | Phase::Betting(_) | Phase::Closed { .. } | Phase::Choice(_), _) => {
            return Err(Cause::SpinnerAlreadySet);
        }
    }
    may_begin(draft)?;
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

fn place(draft: &mut Draft<'_>, by: &By, side: Side) {
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
fn rewager(draft: &mut Draft<'_>, by: &By, course: &Course, side: Side) -> Result<(), Cause> {
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

fn wager(draft: &mut Draft<'_>, by: &By, course: &Course, side: Side) -> Result<(), Cause> {
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

/// "No more bets", before every spin (TD-10). After a game with coins it begins the run-out of what lies in the bonus area.
pub(crate) fn call(draft: &mut Draft<'_>, by: &By, rung: Option<Uptime>, missed: Missed) -> Result<(), Cause> {
    let Some(course) = draft.course() else {
        return Err(Cause::NoSpinner);
    };
    let run_out = match &course.phase {
        Phase::Betting(game) => {
            may_be_spun(&draft.game.law, &course, game.spinner)?;
            match game.spinner {
                Spinner::Player | Spinner::TakenOver(_) if game.wager.is_none() => return Err(Cause::WagerRequired),
                Spinner::Player | Spinner::TakenOver(_) | Spinner::Dealer | Spinner::RunOut(_) => {}
            }
            false
        }
        Phase::Select { run_out: Some(_) } => {
            may_be_spun(&draft.game.law, &course, Spinner::Dealer)?;
            true
        }
        Phase::Decide {
            ended: Ended::OfDealer,
            run_out: Some(_),
            ..
        } => {
            may_be_spun(&draft.game.law, &course, Spinner::Dealer)?;
            true
        }
        Phase::Select { run_out: None } => return Err(Cause::NoSpinner),
        Phase::Decide { .. } => return Err(Cause::NoGame),
        Phase::Closed { .. } => return Err(Cause::BetsClosed),
        Phase::Choice(_) => return Err(Cause::ChoicePending),
    };
    let at = rung.unwrap_or(draft.now);
    let closed = BetsClosed {
        implied: false,
        while_away: missed == Missed::WhileAway,
        bell: Some(draft.bell().named(Contact::Bell)),
        bets_open_ms: millis(course.opened_at, at),
        rung_us_before: micros(at, draft.now),
        run_out,
        counters: None,
    };
    draft.seen.terminal.bell_at = rung.or(draft.seen.terminal.bell_at);
    draft.record(by.source.clone(), Body::BetsClosed(closed));
    // Keys from before the bell can't count; the dealer begins with an empty readout.
    new_number(draft);
    Ok(())
}

/// There are enough dice, and this spinner may spin them.
fn may_be_spun(law: &Law, course: &Course, spinner: Spinner) -> Result<(), Cause> {
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
        call_to_result_ms: millis(closed_at, draft.now),
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

/// Who has the dice after a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Next {
    /// The dealer, until the wager is decided.
    Dealer,
    /// The dealer; the invalid spins were the spinner's first three.
    DealerAfterFirstThree,
    /// Nobody: they are offered on.
    Offered,
    /// Nobody; the wager went back.
    OfferedWagerBack,
}

fn changed(draft: &mut Draft<'_>, source: Source, round: u64, reason: SpinnerChangedReason, next: Next) {
    let changed = SpinnerChanged {
        reason: reason as i32,
        dealer: matches!(next, Next::Dealer | Next::DealerAfterFirstThree),
        first_three: next == Next::DealerAfterFirstThree,
        wager_returned: next == Next::OfferedWagerBack,
    };
    draft.record_of_round(round, source, Body::SpinnerChanged(changed));
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

fn barred(draft: &mut Draft<'_>, by: &By, game: &Game, reason: SpinInvalidatedReason, before_call: bool) {
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

fn stops(draft: &mut Draft<'_>, by: &By, course: &Course) -> Result<(), Cause> {
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

fn relieve(draft: &mut Draft<'_>, by: &By, course: &Course) -> Result<(), Cause> {
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

/// In `closed` it is itself the invalid spin; directly after an invalid spin it tells of dice that aren't found.
fn off_table(draft: &mut Draft<'_>, by: &By, course: &Course, dice: u8) -> Result<(), Cause> {
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

fn new_set(draft: &mut Draft<'_>, by: &By, course: &Course, from: Replacement) -> Result<(), Cause> {
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
