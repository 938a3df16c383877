//! From the opening of the table to the dice on the table. PURE.

use super::operation::{
    Answer, Bell, Cause, Dice, Done, Effect, LayoutWagers, OpeningTests, Refusal, Role, Throw, Tumbler,
};
use super::{Answered, Keys, Machine, Malfunction, NextOffer, SPINS_NEEDED, State, Thrower, refuse, wagers};
use crate::rules::citation::nz_div_9;
use crate::rules::tai_sai::{Style, VoidReason, wager};

impl Machine {
    pub(super) fn open_table(&mut self, by: Role, tests: OpeningTests) -> Answered {
        if self.state != State::Shut {
            return refuse(Cause::AlreadyOpen, nz_div_9!("r5.1"));
        }
        if by != Role::CasinoSupervisor {
            return refuse(Cause::NotAuthorised, nz_div_9!("r5.1"));
        }
        match tests {
            OpeningTests::Failed => refuse(Cause::OpeningTestsFailed, nz_div_9!("r5.1(a)-(e)")),
            OpeningTests::Passed => {
                self.state = State::Ready { spins: 0 };
                Ok(Done::default())
            }
        }
    }

    /// Spins add up, before bets are invited also beyond three. Out of turn it is refused and nothing else: r6.6 forbids it,
    /// r7.1 doesn't list it, a supervisor decides (TS-12).
    pub(super) fn tumble(&mut self, spins: u32, tumbler: Tumbler) -> Answered {
        self.of_style(Style::A, nz_div_9!("r6.1"))?;
        let before = match self.state {
            State::Ready { spins } => spins,
            State::Primed => SPINS_NEEDED,
            State::Halted { .. } => return refuse(Cause::Halted, nz_div_9!("r7.4")),
            State::Shut
            | State::Betting
            | State::Closed
            | State::Throwing
            | State::Landed { .. }
            | State::Entered { .. }
            | State::Collecting { .. } => return refuse(Cause::UnauthorisedActivation, nz_div_9!("r6.6")),
        };
        match tumbler {
            Tumbler::Failed => {
                self.malfunctions.insert(Malfunction::Tumbler);
                Ok(self.end_void(VoidReason::ATumblerFault))
            }
            Tumbler::Worked if spins == 0 => refuse(Cause::NoSpin, nz_div_9!("r6.1")),
            Tumbler::Worked => {
                let spins = before.saturating_add(spins);
                self.state = if spins >= SPINS_NEEDED {
                    State::Primed
                } else {
                    State::Ready { spins }
                };
                Ok(Done::default())
            }
        }
    }

    pub(super) fn retrieve_dice(&mut self) -> Answered {
        let rule = nz_div_9!("r6A.1");
        self.of_style(Style::B, rule)?;
        match self.state {
            State::Ready { .. } => {
                self.state = State::Primed;
                Ok(Done::default())
            }
            State::Halted { .. } => refuse(Cause::Halted, nz_div_9!("r7.4")),
            State::Shut
            | State::Primed
            | State::Betting
            | State::Closed
            | State::Throwing
            | State::Landed { .. }
            | State::Entered { .. }
            | State::Collecting { .. } => refuse(Cause::OutOfOrder, rule),
        }
    }

    pub(super) fn place_bets(&mut self) -> Answered {
        let rule = self.rule(nz_div_9!("r6.1"), nz_div_9!("r6A.1"));
        match self.state {
            State::Primed => {
                self.state = State::Betting;
                Ok(Done::default())
            }
            State::Ready { spins } => match self.settings.style {
                Style::B => refuse(Cause::OutOfOrder, rule),
                Style::A if spins == 0 => refuse(Cause::TumblerNotActivated, nz_div_9!("r6.1, r7.1(d)")),
                Style::A => refuse(Cause::TumblerShort, nz_div_9!("r6.1, r7.1(d)")),
            },
            State::Entered { .. } | State::Collecting { .. } => refuse(Cause::PreviousNotPaid, nz_div_9!("r4.4")),
            State::Halted { .. } => refuse(Cause::Halted, nz_div_9!("r7.4")),
            State::Shut | State::Betting | State::Closed | State::Throwing | State::Landed { .. } => {
                refuse(Cause::OutOfOrder, rule)
            }
        }
    }

    /// Wagers change only between "Place your bets" and "No more bets" (r4.4, r4.7); those of a void game as well (TS-10).
    pub(super) fn bets_are_open(&self) -> Result<(), Refusal> {
        if self.state == State::Betting {
            return Ok(());
        }
        Err(Refusal {
            cause: Cause::BetsNotOpen,
            rule: nz_div_9!("r4.4, r4.7"),
        })
    }

    /// A forgotten bell is noted, bets are closed all the same (TS-19). Nothing asks for a wager on the layout (TS-20).
    pub(super) fn no_more_bets(&mut self, bell: Bell) -> Answered {
        if self.state != State::Betting {
            return refuse(Cause::OutOfOrder, self.rule(nz_div_9!("r6.2"), nz_div_9!("r6A.2")));
        }
        self.state = State::Closed;
        let effects = match bell {
            Bell::Rung => Vec::new(),
            Bell::NotRung => vec![Effect::BellNotRung],
        };
        Ok(Done {
            effects,
            ..Done::default()
        })
    }

    pub(super) fn uncover(&mut self, dice: Dice) -> Answered {
        self.of_style(Style::A, nz_div_9!("r6.3"))?;
        match self.state {
            State::Closed => match dice {
                Dice::Flat => {
                    self.state = State::Landed { keys: Keys::default() };
                    Ok(Done::default())
                }
                Dice::NotFlat => Ok(self.end_void(VoidReason::ANotFlat)),
            },
            State::Primed | State::Betting => Ok(self.end_void(VoidReason::AExposedEarly)),
            State::Shut
            | State::Ready { .. }
            | State::Throwing
            | State::Landed { .. }
            | State::Entered { .. }
            | State::Collecting { .. }
            | State::Halted { .. } => refuse(Cause::OutOfOrder, nz_div_9!("r6.3")),
        }
    }

    /// Anyone may decline; who accepts needs a wager on an area that can pay over 1 to 1 (r6A.3), whatever it will pay (TS-9).
    pub(super) fn offer(&mut self, seat: u8, areas: &[String], answer: Answer) -> Answered {
        let rule = nz_div_9!("r6A.3");
        self.of_style(Style::B, rule)?;
        if self.state != State::Closed {
            return refuse(Cause::OutOfOrder, rule);
        }
        let layout = self.settings.layout;
        let areas = areas
            .iter()
            .map(|area| wagers::area_id(area, layout))
            .collect::<Result<Vec<_>, _>>()?;
        match answer {
            Answer::Declines => {
                self.next_offer = NextOffer::ClockwiseOf(seat);
                Ok(Done {
                    effects: vec![Effect::OfferNextClockwise],
                    ..Done::default()
                })
            }
            Answer::Accepts => {
                let over_evens =
                    |area: &&str| wager::wager(area, layout).is_some_and(|w| w.best_odds().exceeds_evens());
                if !areas.iter().any(over_evens) {
                    return refuse(Cause::NotEligibleToThrow, rule);
                }
                self.thrower = Some(Thrower::Seat { seat, areas });
                self.next_offer = NextOffer::Keeps(seat);
                self.state = State::Throwing;
                Ok(Done::default())
            }
        }
    }

    /// Without a wager there is no throw (TS-20).
    pub(super) fn dealer_throws(&mut self, wagers: LayoutWagers) -> Answered {
        let rule = nz_div_9!("r6A.6");
        self.of_style(Style::B, rule)?;
        if self.state != State::Closed {
            return refuse(Cause::OutOfOrder, rule);
        }
        match wagers {
            LayoutWagers::None => refuse(Cause::NoWagersOnLayout, rule),
            LayoutWagers::Some => {
                self.thrower = Some(Thrower::Dealer);
                self.state = State::Throwing;
                Ok(Done::default())
            }
        }
    }

    pub(super) fn throw(&mut self, throw: Throw) -> Answered {
        let rule = nz_div_9!("r6A.7");
        self.of_style(Style::B, rule)?;
        if self.state != State::Throwing {
            return refuse(Cause::OutOfOrder, rule);
        }
        if let Some(reason) = throw.void() {
            return Ok(self.end_void(reason));
        }
        self.state = State::Landed { keys: Keys::default() };
        Ok(Done::default())
    }

    /// The dice go on to the next player: after a throw by the thrower's wish, at any time by the Game Supervisor's (r6A.5).
    pub(super) fn pass_dice(&mut self, by: Role) -> Answered {
        let rule = nz_div_9!("r6A.5");
        self.of_style(Style::B, rule)?;
        match by {
            Role::Player | Role::GameSupervisor => {}
            Role::Dealer | Role::CasinoSupervisor => return refuse(Cause::NotAuthorised, rule),
        }
        let NextOffer::Keeps(seat) = self.next_offer else {
            return refuse(Cause::OutOfOrder, rule);
        };
        if self.state == State::Throwing {
            if by == Role::Player {
                return refuse(Cause::OutOfOrder, rule);
            }
            self.thrower = None;
            self.state = State::Closed;
        }
        self.next_offer = NextOffer::ClockwiseOf(seat);
        Ok(Done {
            effects: vec![Effect::OfferNextClockwise],
            ..Done::default()
        })
    }
}
