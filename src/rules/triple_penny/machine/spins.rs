//! What a spin does: results and invalid spins. PURE.

use super::operation::{Called, Cause, Done, Effect, GameEnd, Role};
use super::{Answered, Game, Lying, Machine, Spinner, State, done, refuse};
use crate::rules::citation::qld_1998;
use crate::rules::triple_penny::{Agree, Area, BONUS_ODDS, HITS_TO_WIN, InvalidReason, SPINNER_ODDS, Spun};
use crate::rules::two_up::{Resolved, Side, Wager, WagerName};
use crate::rules::wager::Outcome;

/// How a spin ends the game of a spinner whose wager is on `side`; `None` while undecided (s472(5)(a), s472(6)(a)). `hits` with this
/// spin.
#[must_use]
pub fn spinner_ends(side: Side, spun: Spun, hits: u8) -> Option<GameEnd> {
    if spun.side() != side {
        return Some(GameEnd::SpinnerLost);
    }
    (hits >= HITS_TO_WIN).then_some(GameEnd::SpinnerWon)
}

/// `None` while every spin of the game was a triple of its side; a plain one loses it at once (TP-2).
fn bonus_outcome(wager: Wager, spun: Spun, hits: u8) -> Option<Outcome> {
    if spun.side() != wager.side || spun.agree() == Agree::Two {
        return Some(Outcome::Lost);
    }
    (hits >= HITS_TO_WIN).then(|| BONUS_ODDS.won(wager.stake))
}

/// `None` when a dealer moves it to the bonus area (s473).
fn player_outcome(lying: Lying, spun: Spun) -> Option<Outcome> {
    if spun.side() != lying.wager.side {
        return Some(Outcome::Lost);
    }
    lying.area.odds(spun.agree()).map(|odds| odds.won(lying.wager.stake))
}

impl Machine {
    pub(super) fn spin(&mut self, spun: Spun) -> Answered {
        match self.state {
            State::Closed(game) => Ok(self.valid(game, spun)),
            State::Select => refuse(Cause::NoSpinner, qld_1998!("s471")),
            State::Betting(_) => refuse(Cause::NoMoreBetsNotCalled, qld_1998!("s475(4)")),
            State::Choice(_) => refuse(Cause::ChoicePending, qld_1998!("s478(1)")),
            State::Decide(_) => refuse(Cause::NoGame, qld_1998!("s472(7)")),
        }
    }

    fn valid(&mut self, mut game: Game, spun: Spun) -> Done {
        self.shown = Some(spun);
        let (mut resolved, ended) = self.settle_spinner(&mut game, spun);
        let mut effects = self.settle_players(spun, &mut resolved);
        let bonus_area_is_open = self.bonus_area().next().is_some();
        self.state = State::Betting(game);
        let game_end = match game.spinner {
            Spinner::RunOut => {
                if !bonus_area_is_open {
                    effects.extend([Effect::RunOutEnds, self.offer_on()]);
                }
                None
            }
            // Until a valid spin leaves nothing in the bonus area (TP-11).
            Spinner::Boxer if bonus_area_is_open => None,
            Spinner::Boxer => {
                self.state = State::Decide(Spinner::Boxer);
                effects.push(Effect::BoxerMayStopOrContinue);
                Some(GameEnd::BoxerDecision)
            }
            Spinner::Player { .. } | Spinner::TakenOver { .. } => {
                effects.extend(ended.map(|ended| self.after(game.spinner, ended)));
                ended
            }
        };
        Done {
            resolved,
            effects,
            game_end,
        }
    }

    /// Decides the spinner's wagers, as far as this spin does.
    fn settle_spinner(&mut self, game: &mut Game, spun: Spun) -> (Vec<Resolved>, Option<GameEnd>) {
        let mut resolved = Vec::new();
        let Some(wager) = game.wager else {
            return (resolved, None);
        };
        if let Spinner::Player { .. } = game.spinner {
            game.tally.count_valid();
        }
        if spun.side() == wager.side {
            self.hits = self.hits.saturating_add(1);
        }
        let ended = spinner_ends(wager.side, spun, self.hits);
        resolved.extend(ended.map(|ended| Resolved {
            name: WagerName::Spinner,
            wager,
            outcome: match ended {
                GameEnd::SpinnerWon => SPINNER_ODDS.won(wager.stake),
                GameEnd::SpinnerLost | GameEnd::SpinnerRetired | GameEnd::BoxerDecision => Outcome::Lost,
            },
        }));
        if let Some(bonus) = game.bonus
            && let Some(outcome) = bonus_outcome(bonus, spun, self.hits)
        {
            game.bonus = None;
            resolved.push(Resolved {
                name: WagerName::SpinnerBonus,
                wager: bonus,
                outcome,
            });
        }
        (resolved, ended)
    }

    /// Decides players' wagers or has them moved; each in the bonus area is decided by its first valid spin there.
    fn settle_players(&mut self, spun: Spun, resolved: &mut Vec<Resolved>) -> Vec<Effect> {
        let mut effects = Vec::new();
        for (name, lying) in std::mem::take(&mut self.players) {
            match player_outcome(lying, spun) {
                Some(outcome) => resolved.push(Resolved {
                    name: WagerName::Player(name),
                    wager: lying.wager,
                    outcome,
                }),
                None => {
                    effects.push(Effect::MoveToBonus(name.clone()));
                    let area = Area::Bonus;
                    self.players.insert(name, Lying { area, ..lying });
                }
            }
        }
        effects
    }

    fn after(&mut self, spinner: Spinner, ended: GameEnd) -> Effect {
        let goes_on = match ended {
            GameEnd::SpinnerWon => spinner.after_a_win(),
            GameEnd::SpinnerLost | GameEnd::SpinnerRetired | GameEnd::BoxerDecision => None,
        };
        match goes_on {
            Some(spinner) => {
                self.state = State::Decide(spinner);
                Effect::SpinnerMayContinue
            }
            None => self.offer_on(),
        }
    }

    /// Nothing is decided, what lies in the bonus area waits (TP-1), what is shown stays (TP-13).
    pub(super) fn invalid(&mut self, reason: InvalidReason, by: Role, called: Called) -> Answered {
        let mut game = match self.state {
            State::Closed(game) => game,
            State::Select => return refuse(Cause::NoSpinner, qld_1998!("s471")),
            State::Betting(_) => return refuse(Cause::NoMoreBetsNotCalled, qld_1998!("s475(4)")),
            State::Choice(_) => return refuse(Cause::ChoicePending, qld_1998!("s478(1)")),
            State::Decide(_) => return refuse(Cause::NoGame, qld_1998!("s472(7)")),
        };
        match by {
            Role::Boxer | Role::FloorManager => {}
            Role::Player => return refuse(Cause::PlayerMayNotCall, qld_1998!("s477(5)")),
            Role::Dealer => return refuse(Cause::NotAuthorised, qld_1998!("s477(1)-(2)")),
        }
        if (reason, called) == (InvalidReason::Floater, Called::AtRest) {
            return refuse(Cause::FloaterCalledLate, qld_1998!("s477(4)"));
        }
        if let Spinner::Player { .. } = game.spinner {
            game.tally.count_invalid();
            if game.tally.began_with_three_invalid() {
                self.state = State::Choice(game);
                return Ok(done(Effect::SpinnerMustChoose));
            }
        }
        self.state = State::Betting(game);
        Ok(Done::default())
    }
}
