//! Who spins: selection, stopping, going on, taking over. PURE.

use super::operation::{Cause, Effect, GameEnd, Role, TakeOver};
use super::{
    Answered, Done, FirstThree, Game, INVALID_IN_A_ROW, Machine, NextOffer, Settings, Spinner, State, done, refuse,
};
use crate::rules::citation::{Citation, qld_sch_13};

/// A player's time as spinner, over all the games of it. Its dealer's spins are not the player's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Tenure {
    pub(super) seat: u8,
    first: FirstSpins,
    /// Invalid spins since the last valid one.
    run: u8,
    invalid: InvalidSpins,
}

/// Whether the spinner has spun an invalid spin in this tenure. How many are too many is the dealer's judgement (s21(1)(b)).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum InvalidSpins {
    None,
    Some,
}

/// How the tenure began (s21(3)): "the spinner's first 3 spins" are those of the tenure (TD-8).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum FirstSpins {
    /// Nothing but invalid spins so far.
    AllInvalid,
    /// A valid spin was among them, or they have had their effect.
    Past,
}

impl Tenure {
    fn of(seat: u8) -> Tenure {
        Tenure {
            seat,
            first: FirstSpins::AllInvalid,
            run: 0,
            invalid: InvalidSpins::None,
        }
    }

    pub(super) fn spun_valid(&mut self) {
        self.first = FirstSpins::Past;
        self.run = 0;
    }

    /// Counts it; why the spinner must stop, if that was the third in a row.
    pub(super) fn spun_invalid(&mut self) -> Option<TakeOver> {
        self.run = self.run.saturating_add(1);
        self.invalid = InvalidSpins::Some;
        if self.run < INVALID_IN_A_ROW {
            return None;
        }
        let why = match self.first {
            FirstSpins::AllInvalid => TakeOver::FirstThreeInvalid,
            FirstSpins::Past => TakeOver::ThreeInvalid,
        };
        self.first = FirstSpins::Past;
        self.run = 0;
        Some(why)
    }
}

impl Spinner {
    /// What becomes of the spinner when the wager is decided: `Some` may go on.
    pub(super) fn after(self, ended: GameEnd, settings: Settings) -> Option<Spinner> {
        match (self, ended) {
            (Spinner::Dealer, _) => Some(Spinner::Dealer),
            (Spinner::Player(tenure), GameEnd::SpinnerWon) => Some(Spinner::Player(tenure)),
            (Spinner::Player(_), GameEnd::SpinnerLost(_) | GameEnd::Dealer(_)) => None,
            (Spinner::TakenOver { tenure, why }, ended) => why
                .comes_back(ended, settings.first_three)
                .then_some(Spinner::Player(tenure)),
        }
    }
}

impl TakeOver {
    /// The spinner may go on when the game that the dealer finished ended so: only who lost the turn by the first three spins
    /// (s10(4)(b), s21(2)(b), s21(3), TD-8, TD-18).
    #[must_use]
    pub fn comes_back(self, ended: GameEnd, first_three: FirstThree) -> bool {
        match (self, first_three) {
            (TakeOver::Stopped | TakeOver::ThreeInvalid | TakeOver::HighInvalidShare, _) => false,
            (TakeOver::FirstThreeInvalid, FirstThree::ComesBack) => true,
            (TakeOver::FirstThreeInvalid, FirstThree::ComesBackAfterAWin) => ended == GameEnd::SpinnerWon,
        }
    }
}

impl Machine {
    pub(super) fn accept_spin(&mut self, seat: u8) -> Answered {
        self.may_select(qld_sch_13!("s5(3)"))?;
        self.next_offer = NextOffer::ClockwiseOf(seat);
        Ok(self.begin_game(Spinner::Player(Tenure::of(seat))))
    }

    pub(super) fn all_decline(&mut self) -> Answered {
        self.may_select(qld_sch_13!("s5(6)"))?;
        Ok(self.begin_game(Spinner::Dealer))
    }

    /// A new spinner takes a set of four dice or five (s22(1)(d), TD-14).
    fn may_select(&self, rule: Citation) -> Answered {
        match self.state {
            State::Select if self.set_is_depleted() => refuse(Cause::NewSetRequired, qld_sch_13!("s22(1)(d), s22(3)")),
            State::Select => Ok(Done::default()),
            State::Betting(_) | State::Closed(_) | State::Decide { .. } => refuse(Cause::SpinnerAlreadySet, rule),
        }
    }

    pub(super) fn spinner_stops(&mut self) -> Answered {
        match self.state.clone() {
            State::Select => refuse(Cause::NoSpinner, qld_sch_13!("s5")),
            State::Decide { .. } => {
                self.state = State::Select;
                Ok(done(&[Effect::SelectSpinner]))
            }
            State::Betting(game) | State::Closed(game) => match game.spinner {
                Spinner::Dealer => refuse(Cause::DealerMustSpin, qld_sch_13!("s5(8)")),
                Spinner::TakenOver { .. } => refuse(Cause::DealerMustSpin, qld_sch_13!("s10(4)(a), s21(2)(a)")),
                Spinner::Player(_) => Ok(self.take_over(game, TakeOver::Stopped)),
            },
        }
    }

    /// A dealer who spun for everyone may always go on: that is no new spinner. The old set of a spinner who comes back after a
    /// loss is due to go (s22(3)(a)).
    pub(super) fn spinner_continues(&mut self) -> Answered {
        match self.state.clone() {
            State::Select => refuse(Cause::SpinnerMustStop, qld_sch_13!("s10(2)-(3)")),
            State::Betting(_) | State::Closed(_) => refuse(Cause::GameNotDecided, qld_sch_13!("s10(1)")),
            State::Decide {
                ended: GameEnd::SpinnerLost(_),
                ..
            } if self.set_is_depleted() => refuse(Cause::NewSetRequired, qld_sch_13!("s22(1)(d), s22(3)(a)")),
            State::Decide { spinner, .. } => Ok(self.begin_game(spinner)),
        }
    }

    /// The dealer's judgement (s21(1)(b)); it needs at least one invalid spin of the tenure.
    pub(super) fn relieve(&mut self, by: Role) -> Answered {
        let game = match self.state {
            State::Betting(game) | State::Closed(game) => game,
            State::Select | State::Decide { .. } => return refuse(Cause::NobodyToRelieve, qld_sch_13!("s21(1)")),
        };
        let Spinner::Player(tenure) = game.spinner else {
            return refuse(Cause::NobodyToRelieve, qld_sch_13!("s21(1)"));
        };
        if by != Role::Dealer {
            return refuse(Cause::NotAuthorised, qld_sch_13!("s21(1)(b)"));
        }
        if tenure.invalid == InvalidSpins::None {
            return refuse(Cause::NoInvalidSpins, qld_sch_13!("s21(1)(b)"));
        }
        Ok(self.take_over(game, TakeOver::HighInvalidShare))
    }

    /// The dealer spins until the wager is decided; where none was placed nothing is left to decide, and the dice are offered on.
    pub(super) fn take_over(&mut self, game: Game, why: TakeOver) -> Done {
        let Spinner::Player(tenure) = game.spinner else {
            return Done::default();
        };
        if game.wager.is_none() {
            self.state = State::Select;
            return done(&[Effect::SelectSpinner]);
        }
        let game = Game {
            spinner: Spinner::TakenOver { tenure, why },
            ..game
        };
        self.state = match self.state {
            State::Closed(_) => State::Closed(game),
            State::Select | State::Betting(_) | State::Decide { .. } => State::Betting(game),
        };
        done(&[Effect::DealerTakesOver(why)])
    }
}
