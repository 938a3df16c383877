//! A two-up table as `CheckpointRecorded` carries it, and back. PURE. It only ever grows.

use crate::rules::two_up::Side;
use crate::table::event::{
    self, SpinOutcome, TwoUpCheckpoint, TwoUpGame, TwoUpKeeper, TwoUpPhase, TwoUpShown, TwoUpSpinner, TwoUpUndo,
};
use crate::table::input::{Contact, Outcome};
use crate::table::two_up::phase::{
    Behind, Course, Ended, Game, Keeper, Lock, Phase, Results, Spinner, TakeOver, Tally, Undo,
};
use crate::time::Uptime;

/// Play as a message.
pub(crate) fn course_out(course: &Course) -> TwoUpCheckpoint {
    let (phase, game) = match &course.phase {
        Phase::Select { .. } => (TwoUpPhase::Select, None),
        Phase::Betting(game) => (TwoUpPhase::Betting, Some(game)),
        Phase::Closed { game, .. } => (TwoUpPhase::Closed, Some(game)),
        Phase::Choice(game) => (TwoUpPhase::Choice, Some(game)),
        Phase::Decide { game, .. } => (TwoUpPhase::Decide, Some(game)),
    };
    let (won, run_out) = match &course.phase {
        Phase::Select { run_out } => (false, *run_out),
        Phase::Decide { ended, run_out, .. } => (*ended == Ended::Won, *run_out),
        Phase::Betting(_) | Phase::Closed { .. } | Phase::Choice(_) => (false, None),
    };
    let by_dealer = match &course.phase {
        Phase::Decide { ended, .. } => *ended == Ended::OfDealer,
        Phase::Select { .. } | Phase::Betting(_) | Phase::Closed { .. } | Phase::Choice(_) => false,
    };
    let (undo, undo_game, undo_shown, undo_closed_at, off) = match &course.undo {
        Undo::Nothing => (TwoUpUndo::Unspecified, None, None, None, 0),
        Undo::Early { off } => (TwoUpUndo::Early, None, None, None, *off),
        Undo::Invalid { game, closed_at, off } => (TwoUpUndo::Invalid, Some(game), None, Some(closed_at), *off),
        Undo::Result { game, shown, closed_at } => (TwoUpUndo::Result, Some(game), Some(shown), Some(closed_at), 0),
    };
    TwoUpCheckpoint {
        game_name: course.game.clone(),
        phase: phase as i32,
        game: game.map(game_out),
        won,
        by_dealer,
        run_out: run_out.is_some(),
        run_out_round_id: run_out.unwrap_or_default(),
        shown: Some(shown_out(&course.shown)),
        missing: u32::from(course.missing),
        keeps_old_set: match course.keeps_old_set {
            None => TwoUpKeeper::Unspecified,
            Some(Keeper::Dealer) => TwoUpKeeper::Dealer,
            Some(Keeper::Player) => TwoUpKeeper::Player,
        } as i32,
        bell: Some(course.bell.named(Contact::Bell)),
        closed_at_us: match &course.phase {
            Phase::Closed { closed_at, .. } => closed_at.as_micros(),
            Phase::Select { .. } | Phase::Betting(_) | Phase::Choice(_) | Phase::Decide { .. } => 0,
        },
        undo: undo as i32,
        undo_game: undo_game.map(|game| game_out(game)),
        undo_shown: undo_shown.map(|shown| shown_out(shown)),
        undo_closed_at_us: undo_closed_at.map_or(0, |at| at.as_micros()),
        undo_off: u32::from(off),
        opened_at_us: course.opened_at.as_micros(),
        bell_unheard: course.bell_unheard,
    }
}

/// Play, from a message.
pub(crate) fn course_in(checkpoint: &TwoUpCheckpoint) -> Course {
    let game = || checkpoint.game.as_ref().map(game_in).unwrap_or_default();
    let run_out = checkpoint.run_out.then_some(checkpoint.run_out_round_id);
    let phase = match checkpoint.phase() {
        TwoUpPhase::Unspecified | TwoUpPhase::Select => Phase::Select { run_out },
        TwoUpPhase::Betting => Phase::Betting(game()),
        TwoUpPhase::Closed => Phase::Closed {
            game: game(),
            closed_at: Uptime::from_micros(checkpoint.closed_at_us),
        },
        TwoUpPhase::Choice => Phase::Choice(game()),
        TwoUpPhase::Decide => Phase::Decide {
            game: game(),
            ended: match (checkpoint.by_dealer, checkpoint.won) {
                (true, _) => Ended::OfDealer,
                (false, true) => Ended::Won,
                (false, false) => Ended::Lost,
            },
            run_out,
        },
    };
    let undone = || Box::new(checkpoint.undo_game.as_ref().map(game_in).unwrap_or_default());
    let closed_at = Uptime::from_micros(checkpoint.undo_closed_at_us);
    Course {
        game: checkpoint.game_name.clone(),
        phase,
        shown: checkpoint.shown.as_ref().map(shown_in).unwrap_or_default(),
        missing: small(checkpoint.missing),
        keeps_old_set: match checkpoint.keeps_old_set() {
            TwoUpKeeper::Unspecified => None,
            TwoUpKeeper::Dealer => Some(Keeper::Dealer),
            TwoUpKeeper::Player => Some(Keeper::Player),
        },
        bell: checkpoint.bell.as_ref().map(Into::into).unwrap_or_default(),
        opened_at: Uptime::from_micros(checkpoint.opened_at_us),
        bell_unheard: checkpoint.bell_unheard,
        undo: match checkpoint.undo() {
            TwoUpUndo::Unspecified => Undo::Nothing,
            TwoUpUndo::Early => Undo::Early {
                off: small(checkpoint.undo_off),
            },
            TwoUpUndo::Invalid => Undo::Invalid {
                game: undone(),
                closed_at,
                off: small(checkpoint.undo_off),
            },
            TwoUpUndo::Result => Undo::Result {
                game: undone(),
                shown: Box::new(checkpoint.undo_shown.as_ref().map(shown_in).unwrap_or_default()),
                closed_at,
            },
        },
    }
}

fn small(count: u32) -> u8 {
    u8::try_from(count).unwrap_or(u8::MAX)
}

fn game_out(game: &Game) -> TwoUpGame {
    let spinner = match game.spinner {
        Spinner::Player => TwoUpSpinner::Player,
        Spinner::Dealer => TwoUpSpinner::Dealer,
        Spinner::RunOut(Behind::Offered) => TwoUpSpinner::RunOut,
        Spinner::RunOut(Behind::Dealer) => TwoUpSpinner::RunOutOfDealer,
        Spinner::TakenOver(TakeOver::Stopped) => TwoUpSpinner::ForStopped,
        Spinner::TakenOver(TakeOver::FirstThree) => TwoUpSpinner::ForFirstThree,
        Spinner::TakenOver(TakeOver::InvalidSpins) => TwoUpSpinner::ForInvalidSpins,
        Spinner::TakenOver(TakeOver::Relieved) => TwoUpSpinner::ForRelieved,
    };
    let side = match game.wager {
        None => event::Side::Unspecified,
        Some(Side::Heads) => event::Side::Heads,
        Some(Side::Tails) => event::Side::Tails,
    };
    TwoUpGame {
        round_id: game.round,
        spinner: spinner as i32,
        side: side as i32,
        called: game.lock == Lock::Locked,
        past_first: game.tally.past_first,
        valid: u32::from(game.tally.valid),
        invalid: u32::from(game.tally.invalid),
        invalid_run: u32::from(game.tally.run),
        bonus_round_id: game.bonus,
    }
}

fn game_in(game: &TwoUpGame) -> Game {
    let side = match game.side() {
        event::Side::Unspecified => None,
        event::Side::Heads => Some(Side::Heads),
        event::Side::Tails => Some(Side::Tails),
    };
    let lock = if game.called { Lock::Locked } else { Lock::Free };
    Game {
        round: game.round_id,
        spinner: match game.spinner() {
            TwoUpSpinner::Unspecified | TwoUpSpinner::Dealer => Spinner::Dealer,
            TwoUpSpinner::Player => Spinner::Player,
            TwoUpSpinner::RunOut => Spinner::RunOut(Behind::Offered),
            TwoUpSpinner::RunOutOfDealer => Spinner::RunOut(Behind::Dealer),
            TwoUpSpinner::ForStopped => Spinner::TakenOver(TakeOver::Stopped),
            TwoUpSpinner::ForFirstThree => Spinner::TakenOver(TakeOver::FirstThree),
            TwoUpSpinner::ForInvalidSpins => Spinner::TakenOver(TakeOver::InvalidSpins),
            TwoUpSpinner::ForRelieved => Spinner::TakenOver(TakeOver::Relieved),
        },
        wager: side,
        lock,
        tally: Tally {
            past_first: game.past_first,
            valid: small(game.valid),
            invalid: small(game.invalid),
            run: small(game.invalid_run),
        },
        bonus: game.bonus_round_id,
    }
}

fn shown_out(shown: &Results) -> TwoUpShown {
    TwoUpShown {
        outcome: shown.outcome.map_or(SpinOutcome::Unspecified, Outcome::to_event) as i32,
        heads: u32::from(shown.heads),
        tails: u32::from(shown.tails),
        odds_run: u32::from(shown.odds),
        lights: shown.lights.clone(),
        cards: shown.cards.clone(),
        since_us: shown.since.as_micros(),
    }
}

fn shown_in(shown: &TwoUpShown) -> Results {
    Results {
        outcome: Outcome::from_event(shown.outcome()),
        heads: small(shown.heads),
        tails: small(shown.tails),
        odds: small(shown.odds_run),
        lights: shown.lights.clone(),
        cards: shown.cards.clone(),
        since: Uptime::from_micros(shown.since_us),
    }
}
