//! The law's machine of sic-bo: the betting window, with a covered and an open tumbler. PURE.
//!
//! It knows the rules' people and equipment, and wagers in cents. It knows no devices, logins, time or journal: `table/`
//! joins those to the law. A refused operation changes nothing.

mod operation;
#[cfg(test)]
mod tests;

pub use operation::{Cause, Dice, Done, Effect, GameEnd, Operation, Outcome, Refusal, Resolved, Tumbler, VoidPolicy};

use super::{Paytable, wager};
use crate::rules::citation::qld_1995;
use crate::rules::machine::refuse;
use crate::rules::tai_sai::{are_faces, sorted};
pub use crate::rules::wager::PlacedWager;
use crate::rules::wager::{self as chips, MAX_STAKE};

/// What a machine is told once.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Settings {
    /// The tumbler that is fitted.
    pub tumbler: Tumbler,
    /// What wagers pay, from an approved table; without one winners are known, and not what they win.
    pub paytable: Option<Paytable>,
    /// Whether a spin can be void.
    pub void: VoidPolicy,
}

/// Where the game is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// Bets are open.
    Betting,
    /// "No more bets."
    Locked,
    /// Covered tumbler: the cover is coming off or off.
    Showing,
}

/// Whether the tumbler was activated in this game.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Tumbled {
    /// Not yet.
    No,
    /// Once: that is all (s79).
    Yes,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum State {
    Betting(Tumbled),
    Locked(Tumbled),
    Showing,
}

/// One table's game under the law.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Machine {
    settings: Settings,
    state: State,
    placed: Vec<PlacedWager>,
}

type Answered = Result<Done, Refusal>;

impl Machine {
    /// A table with bets open.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Machine {
            settings,
            state: State::Betting(Tumbled::No),
            placed: Vec::new(),
        }
    }

    /// Where the game is.
    #[must_use]
    pub fn phase(&self) -> Phase {
        match self.state {
            State::Betting(_) => Phase::Betting,
            State::Locked(_) => Phase::Locked,
            State::Showing => Phase::Showing,
        }
    }

    /// Whether the tumbler was activated in this game.
    #[must_use]
    pub fn tumbled(&self) -> Tumbled {
        match self.state {
            State::Betting(tumbled) | State::Locked(tumbled) => tumbled,
            State::Showing => Tumbled::Yes,
        }
    }

    /// Chips on the layout.
    #[must_use]
    pub fn wagers(&self) -> &[PlacedWager] {
        &self.placed
    }

    /// Does `operation`, or says why it can't be done; then nothing has changed.
    ///
    /// # Errors
    ///
    /// What is wrong, and the rule.
    pub fn perform(&mut self, operation: &Operation) -> Answered {
        match operation {
            Operation::PlaceWager { seat, area, stake } => self.place(*seat, area, *stake),
            Operation::WithdrawWager { seat, area } => self.withdraw(*seat, area),
            Operation::Activate => self.activate(),
            Operation::NoMoreBets => self.no_more_bets(),
            Operation::StartUncover => self.start_uncover(),
            Operation::Announce { faces, dice } => self.announce(*faces, *dice),
            Operation::Void => self.void(),
        }
    }

    /// The law's last moment with a covered tumbler is the lifting of the cover (r19.4(4)); they are closed at the call (SB-3).
    fn bets_are_open(&self) -> Result<(), Refusal> {
        let rule = match (self.state, self.settings.tumbler) {
            (State::Betting(_), _) => return Ok(()),
            (State::Locked(_) | State::Showing, Tumbler::Covered) => qld_1995!("r19.4(4), s72(4)"),
            (State::Locked(_) | State::Showing, Tumbler::Open) => qld_1995!("r19.4(1)-(2), s72(1)-(2)"),
        };
        Err(Refusal {
            cause: Cause::BetsClosed,
            rule,
        })
    }

    /// Adds to what the seat has there.
    fn place(&mut self, seat: u8, area: &str, stake: u64) -> Answered {
        self.bets_are_open()?;
        let Some((area, _)) = wager(area) else {
            return refuse(Cause::NoSuchArea, qld_1995!("r19.1, s70"));
        };
        let there = self.placed.iter_mut().find(|w| w.seat == seat && w.area == area);
        let before = there.as_ref().map_or(0, |w| w.stake);
        let after = before.checked_add(stake).filter(|sum| stake > 0 && *sum <= MAX_STAKE);
        match (after, there) {
            (None, _) => return refuse(Cause::StakeOutOfRange, qld_1995!("r19.2, s71")),
            (Some(after), Some(wager)) => wager.stake = after,
            (Some(stake), None) => self.placed.push(PlacedWager { seat, area, stake }),
        }
        Ok(Done::default())
    }

    fn withdraw(&mut self, seat: u8, area: &str) -> Answered {
        self.bets_are_open()?;
        let before = self.placed.len();
        self.placed.retain(|w| !(w.seat == seat && w.area == area));
        if self.placed.len() == before {
            return refuse(Cause::NoSuchWager, qld_1995!("r19.4, s72"));
        }
        Ok(Done::default())
    }

    /// With a covered tumbler bets may still go on after it (r19.4(3)): "alternatively", so the call may come first as well. With
    /// an open one it does (SB-2).
    fn activate(&mut self) -> Answered {
        let tumbled = match (self.state, self.settings.tumbler) {
            (State::Betting(Tumbled::Yes) | State::Locked(Tumbled::Yes) | State::Showing, _) => {
                return refuse(Cause::AlreadyActivated, qld_1995!("r21.8, s79"));
            }
            (State::Betting(Tumbled::No), Tumbler::Open) => {
                return refuse(Cause::NoMoreBetsNotCalled, qld_1995!("r19.4(1)-(2), s72(1)-(2)"));
            }
            (State::Betting(Tumbled::No), Tumbler::Covered) => State::Betting(Tumbled::Yes),
            (State::Locked(Tumbled::No), Tumbler::Covered | Tumbler::Open) => State::Locked(Tumbled::Yes),
        };
        self.state = tumbled;
        Ok(Done::default())
    }

    fn no_more_bets(&mut self) -> Answered {
        let State::Betting(tumbled) = self.state else {
            return refuse(Cause::OutOfOrder, qld_1995!("r19.4, s72"));
        };
        self.state = State::Locked(tumbled);
        Ok(Done::default())
    }

    /// Before the call it is refused and referred to people, never void by itself (SB-4).
    fn start_uncover(&mut self) -> Answered {
        if self.settings.tumbler == Tumbler::Open {
            return refuse(Cause::NoCover, qld_1995!("r21.2(1)(b), s77(1)(b)"));
        }
        match self.state {
            State::Betting(_) => refuse(Cause::NoMoreBetsNotCalled, qld_1995!("r19.4(3), s72(3)")),
            State::Locked(Tumbled::No) => refuse(Cause::TumblerNotActivated, qld_1995!("r21.2(1)(a), s77(1)(a)")),
            State::Locked(Tumbled::Yes) => {
                self.state = State::Showing;
                Ok(Done::default())
            }
            State::Showing => refuse(Cause::OutOfOrder, qld_1995!("r21.2(1)(a), s77(1)(a)")),
        }
    }

    /// With all dice flat only; what follows else stands in r22.1, which is not among the instruments.
    fn announce(&mut self, faces: [u8; 3], dice: Dice) -> Answered {
        let may = match (self.state, self.settings.tumbler) {
            (State::Showing, Tumbler::Covered) | (State::Locked(Tumbled::Yes), Tumbler::Open) => true,
            (State::Betting(_) | State::Locked(_) | State::Showing, _) => false,
        };
        if !may {
            return refuse(Cause::OutOfOrder, qld_1995!("r21.2(1), s77(1)"));
        }
        if dice == Dice::NotFlat {
            return refuse(Cause::NotFlat, qld_1995!("r21.2(2), r22.1, s77(2), s80(1)"));
        }
        if !are_faces(faces) {
            return refuse(Cause::BadDice, qld_1995!("r21.2(2), s77(2)"));
        }
        self.state = State::Betting(Tumbled::No);
        let faces = sorted(faces);
        Ok(Done {
            resolved: self.settle(faces),
            effects: vec![Effect::Call(faces)],
            game_end: Some(GameEnd::Settled(faces)),
        })
    }

    fn settle(&mut self, faces: [u8; 3]) -> Vec<Resolved> {
        std::mem::take(&mut self.placed)
            .into_iter()
            .map(|placed| Resolved {
                wager: placed,
                outcome: self.outcome(placed, faces),
            })
            .collect()
    }

    fn outcome(&self, placed: PlacedWager, faces: [u8; 3]) -> Outcome {
        let wins = wager(placed.area).is_some_and(|(_, wager)| wager.pays(faces).is_some());
        match &self.settings.paytable {
            _ if !wins => Outcome::Decided(chips::Outcome::Lost),
            None => Outcome::WonUnpriced,
            Some(table) => Outcome::Decided(
                table
                    .pays(placed.area, faces)
                    .map_or(chips::Outcome::Lost, |odds| odds.won(placed.stake)),
            ),
        }
    }

    /// Not in the instruments: the house's own, where it has one. Wagers stay, free to change.
    fn void(&mut self) -> Answered {
        match (self.settings.void, self.state) {
            (VoidPolicy::None, _) => refuse(Cause::NoVoidInTheRules, qld_1995!("r22.1, s80")),
            (VoidPolicy::OfTheHouse, State::Betting(Tumbled::No)) => refuse(Cause::OutOfOrder, qld_1995!("r22.1, s80")),
            (VoidPolicy::OfTheHouse, State::Betting(Tumbled::Yes) | State::Locked(_) | State::Showing) => {
                self.state = State::Betting(Tumbled::No);
                Ok(Done {
                    game_end: Some(GameEnd::VoidByPolicy),
                    ..Done::default()
                })
            }
        }
    }
}
