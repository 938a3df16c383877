//! Who spins: selection, stopping, going on, taking over, the run-out. PURE.

use super::betting::returned;
use super::operation::{Cause, Choice, Done, Effect, GameEnd, Ground, Role, TakeOver};
use super::{Answered, Game, INVALID_IN_A_ROW, Machine, Spinner, State, done, refuse};
use crate::rules::citation::{Citation, qld_1998};

impl Spinner {
    /// Who may go on after the spinner's wager won: not who stopped, couldn't or wouldn't (s472(7), TP-12).
    pub(super) fn after_a_win(self) -> Option<Spinner> {
        match self {
            Spinner::Player { seat } => Some(Spinner::Player { seat }),
            Spinner::TakenOver { seat, why } => why.comes_back().then_some(Spinner::Player { seat }),
            Spinner::Boxer | Spinner::RunOut => None,
        }
    }
}

impl TakeOver {
    /// The spinner may go on when the wager that the boxer finished won (TP-12).
    #[must_use]
    pub fn comes_back(self) -> bool {
        match self {
            TakeOver::FirstThreeInvalid
            | TakeOver::Directed(Ground::ThreeConsecutiveInvalid | Ground::MajorityInvalid) => true,
            TakeOver::Stopped | TakeOver::Directed(Ground::UnableOrUnwilling) => false,
        }
    }
}

impl Machine {
    pub(super) fn accept_spin(&mut self, seat: u8) -> Answered {
        self.may_select(qld_1998!("s471(1)-(2)"))?;
        Ok(self.begin_game(Spinner::Player { seat }))
    }

    pub(super) fn boxer_directed(&mut self, by: Role) -> Answered {
        self.may_select(qld_1998!("s471(5)"))?;
        if by != Role::FloorManager {
            return refuse(Cause::NotAuthorised, qld_1998!("s471(5)"));
        }
        Ok(self.begin_game(Spinner::Boxer))
    }

    fn may_select(&self, rule: Citation) -> Answered {
        match self.state {
            State::Select if self.set_is_depleted() => refuse(Cause::NewSetRequired, qld_1998!("s474(4)-(5)")),
            State::Select => Ok(Done::default()),
            State::Betting(_) | State::Closed(_) | State::Choice(_) | State::Decide(_) => {
                refuse(Cause::SpinnerAlreadySet, rule)
            }
        }
    }

    /// After a valid spin the boxer finishes (s472(9)); before it the wager goes back (s472(10), TP-8).
    pub(super) fn spinner_stops(&mut self) -> Answered {
        match self.state {
            State::Select => refuse(Cause::NoSpinner, qld_1998!("s471")),
            State::Choice(_) => refuse(Cause::ChoicePending, qld_1998!("s478(1)")),
            State::Decide(_) => Ok(done(self.offer_on())),
            State::Betting(game) | State::Closed(game) => match game.spinner {
                Spinner::Boxer | Spinner::TakenOver { .. } | Spinner::RunOut => {
                    refuse(Cause::BoxerMustSpin, qld_1998!("s472(8)(b), s472(9), s478"))
                }
                Spinner::Player { .. } if game.tally.valid == 0 => Ok(self.retire(game)),
                Spinner::Player { seat } => Ok(self.take_over(game, seat, TakeOver::Stopped)),
            },
        }
    }

    /// Wagers in the bonus area wait for the first spin of the new game: it is the spinner's next (TP-6).
    pub(super) fn spinner_continues(&mut self) -> Answered {
        match self.state {
            State::Decide(spinner) => Ok(self.begin_game(spinner)),
            State::Select => refuse(Cause::SpinnerMustStop, qld_1998!("s472(8)(a)")),
            State::Betting(game) | State::Closed(game) if game.spinner == Spinner::RunOut => {
                refuse(Cause::SpinnerMustStop, qld_1998!("s472(8)(a)"))
            }
            State::Betting(_) | State::Closed(_) | State::Choice(_) => {
                refuse(Cause::GameNotDecided, qld_1998!("s472(7)"))
            }
        }
    }

    pub(super) fn choose(&mut self, choice: Choice) -> Answered {
        let State::Choice(game) = self.state else {
            return refuse(Cause::NoChoicePending, qld_1998!("s478(1)"));
        };
        match (choice, game.spinner) {
            (Choice::Retire, _) => Ok(self.retire(game)),
            (Choice::Boxer, Spinner::Player { seat }) => Ok(self.take_over(game, seat, TakeOver::FirstThreeInvalid)),
            (Choice::Boxer, Spinner::Boxer | Spinner::TakenOver { .. } | Spinner::RunOut) => {
                refuse(Cause::NoChoicePending, qld_1998!("s478(1)"))
            }
        }
    }

    /// A floor manager may, and only with a ground (s478(2)).
    pub(super) fn direct_boxer(&mut self, ground: Ground, by: Role) -> Answered {
        let game = match self.state {
            State::Betting(game) | State::Closed(game) => game,
            State::Choice(_) => return refuse(Cause::ChoicePending, qld_1998!("s478(1)")),
            State::Select | State::Decide(_) => return refuse(Cause::NobodyToReplace, qld_1998!("s478(2)")),
        };
        let (Spinner::Player { seat }, Some(_)) = (game.spinner, game.wager) else {
            return refuse(Cause::NobodyToReplace, qld_1998!("s478(2)"));
        };
        if by != Role::FloorManager {
            return refuse(Cause::NotAuthorised, qld_1998!("s478(2)"));
        }
        match ground {
            Ground::ThreeConsecutiveInvalid if game.tally.run < INVALID_IN_A_ROW => {
                refuse(Cause::GroundNotMet, qld_1998!("s478(2)(a)"))
            }
            Ground::MajorityInvalid if game.tally.invalid <= game.tally.valid => {
                refuse(Cause::GroundNotMet, qld_1998!("s478(2)(b)"))
            }
            Ground::ThreeConsecutiveInvalid | Ground::MajorityInvalid | Ground::UnableOrUnwilling => {
                Ok(self.take_over(game, seat, TakeOver::Directed(ground)))
            }
        }
    }

    /// Players' wagers stay for the next spinner (TP-18).
    fn retire(&mut self, game: Game) -> Done {
        Done {
            resolved: returned(game),
            effects: vec![self.offer_on()],
            game_end: Some(GameEnd::SpinnerRetired),
        }
    }

    fn take_over(&mut self, game: Game, seat: u8, why: TakeOver) -> Done {
        let game = Game {
            spinner: Spinner::TakenOver { seat, why },
            ..game
        };
        self.state = match self.state {
            State::Closed(_) => State::Closed(game),
            State::Select | State::Betting(_) | State::Choice(_) | State::Decide(_) => State::Betting(game),
        };
        done(Effect::BoxerTakesOver(why))
    }
}
