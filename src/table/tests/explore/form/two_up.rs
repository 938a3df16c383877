//! The canonical form of two-up in play.

use super::{Form, Formed};
use crate::rules::two_up::Side;
use crate::table::input::{Contact, Outcome};
use crate::table::two_up::phase::{Course, Game, Phase, Results, Spinner, Tally, Undo};

impl Formed for Course {
    fn form(&self, f: &mut Form<'_>) {
        let Course {
            game,
            phase,
            shown,
            missing,
            keeps_old_set,
            bell,
            bell_unheard,
            opened_at,
            undo,
        } = self;
        f.text(game);
        phase.form(f);
        shown.form(f);
        missing.form(f);
        f.byte(keeps_old_set.map_or(9, |keeper| keeper as u8));
        f.contact(Contact::Bell, *bell);
        bell_unheard.form(f);
        f.age(*opened_at, if f.bell_matters() { 2_000 } else { 0 });
        match undo {
            Undo::Nothing => f.byte(0),
            Undo::Early { off } => {
                f.byte(1);
                off.form(f);
            }
            Undo::Invalid {
                game,
                closed_at: _,
                off,
            } => {
                f.byte(2);
                game.form(f);
                off.form(f);
            }
            Undo::Result {
                game,
                shown,
                closed_at: _,
            } => {
                f.byte(3);
                game.form(f);
                f.over(|f| shown.form(f));
            }
        }
    }
}

fn round(f: &mut Form<'_>, round: Option<u64>) {
    f.byte(u8::from(round.is_some()));
    round.iter().for_each(|round| f.round(*round));
}

impl Formed for Phase {
    fn form(&self, f: &mut Form<'_>) {
        match self {
            Phase::Select { run_out } => {
                f.byte(0);
                round(f, *run_out);
            }
            Phase::Betting(game) => {
                f.byte(1);
                game.form(f);
            }
            Phase::Closed { game, closed_at: _ } => {
                f.byte(2);
                game.form(f);
            }
            Phase::Choice(game) => {
                f.byte(3);
                game.form(f);
            }
            Phase::Decide { game, ended, run_out } => {
                f.byte(4);
                game.form(f);
                f.byte(*ended as u8);
                round(f, *run_out);
            }
        }
    }
}

impl Formed for Side {
    fn form(&self, f: &mut Form<'_>) {
        f.byte(*self as u8);
    }
}

impl Formed for Outcome {
    fn form(&self, f: &mut Form<'_>) {
        f.byte(*self as u8);
    }
}

impl Formed for Game {
    fn form(&self, f: &mut Form<'_>) {
        let Game {
            round: id,
            spinner,
            wager,
            lock,
            tally,
            bonus,
        } = self;
        f.round(*id);
        match spinner {
            Spinner::Player => f.byte(0),
            Spinner::Dealer => f.byte(1),
            Spinner::TakenOver(why) => {
                f.byte(2);
                f.byte(*why as u8);
            }
            Spinner::RunOut(behind) => {
                f.byte(3);
                f.byte(*behind as u8);
            }
        }
        wager.form(f);
        f.byte(*lock as u8);
        let Tally {
            past_first,
            valid,
            invalid,
            run,
        } = tally;
        past_first.form(f);
        [*valid, *invalid, *run].form(f);
        round(f, *bonus);
    }
}

impl Formed for Results {
    fn form(&self, f: &mut Form<'_>) {
        let Results {
            outcome,
            heads,
            tails,
            odds,
            lights,
            cards,
            since,
        } = self;
        outcome.form(f);
        [*heads, *tails, *odds].form(f);
        f.slice(lights);
        cards.form(f);
        f.age(*since, 5_000);
    }
}
