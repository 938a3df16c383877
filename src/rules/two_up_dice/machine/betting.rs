//! Wagers until the call. PURE.

use super::operation::{Cause, Done, Refusal};
use super::{Answered, Game, Lock, Machine, Placed, Spinner, State, refuse};
use crate::rules::citation::{Citation, qld_sch_13};
use crate::rules::two_up::{Resolved, Side, Wager, WagerName, is_stake};
use crate::rules::two_up_dice::DICE_SPUN;
use crate::rules::wager::Outcome;
use std::collections::btree_map::Entry;

impl Machine {
    /// Until its first call it may be placed anew; from then on it stays (s6(4), TD-9).
    pub(super) fn place_spinner_wager(&mut self, side: Side, stake: u64) -> Answered {
        let game = match self.state {
            State::Betting(game) => game,
            State::Closed(game) => {
                return match game.spinner {
                    Spinner::Dealer => refuse(Cause::DealerMayNotWager, qld_sch_13!("s6(2)")),
                    Spinner::Player(_) | Spinner::TakenOver { .. } => refuse(Cause::BetsClosed, qld_sch_13!("s16")),
                };
            }
            State::Select => return refuse(Cause::NoSpinner, qld_sch_13!("s6(1)")),
            State::Decide { .. } => return refuse(Cause::NoGame, qld_sch_13!("s6(1), s10(1)")),
        };
        if game.spinner == Spinner::Dealer {
            return refuse(Cause::DealerMayNotWager, qld_sch_13!("s6(2)"));
        }
        if game.wager.is_some_and(|placed| placed.lock == Lock::Locked) {
            return refuse(Cause::WagerLocked, qld_sch_13!("s6(4)"));
        }
        let placed = self.chips(side, stake, qld_sch_13!("s6(3)"))?;
        self.state = State::Betting(Game {
            wager: Some(placed),
            ..game
        });
        Ok(Done::default())
    }

    pub(super) fn place(&mut self, name: &str, side: Side, stake: u64) -> Answered {
        self.bets_are_open()?;
        let placed = self.chips(side, stake, qld_sch_13!("s11(2)"))?;
        match self.players.entry(name.to_owned()) {
            Entry::Occupied(_) => refuse(Cause::DuplicateWager, qld_sch_13!("s11(3)")),
            Entry::Vacant(free) => {
                free.insert(placed);
                Ok(Done::default())
            }
        }
    }

    pub(super) fn change(&mut self, name: &str, side: Side, stake: u64) -> Answered {
        self.bets_are_open()?;
        let to = self.chips(side, stake, qld_sch_13!("s11(2)"))?;
        *self.free(name)? = to;
        Ok(Done::default())
    }

    pub(super) fn withdraw(&mut self, name: &str) -> Answered {
        self.bets_are_open()?;
        let wager = self.free(name)?.wager;
        self.players.remove(name);
        Ok(Done {
            resolved: vec![Resolved {
                name: WagerName::Player(name.to_owned()),
                wager,
                outcome: Outcome::Returned,
            }],
            ..Done::default()
        })
    }

    /// Before every spin anew (TD-10). From here on nothing on the layout changes until it is decided (s16).
    pub(super) fn no_more_bets(&mut self) -> Answered {
        let mut game = match self.state {
            State::Betting(game) => game,
            State::Closed(_) => return refuse(Cause::BetsClosed, qld_sch_13!("s16")),
            State::Select => return refuse(Cause::NoSpinner, qld_sch_13!("s5, s7(1)")),
            State::Decide { .. } => return refuse(Cause::NoGame, qld_sch_13!("s5, s7(1)")),
        };
        if self.dice() < DICE_SPUN {
            return refuse(Cause::NotEnoughDice, qld_sch_13!("s4(3), s22(1)(d)"));
        }
        match (game.spinner, &mut game.wager) {
            (Spinner::Dealer, _) => {}
            (Spinner::Player(_) | Spinner::TakenOver { .. }, Some(placed)) => placed.lock = Lock::Locked,
            (Spinner::Player(_) | Spinner::TakenOver { .. }, None) => {
                return refuse(Cause::SpinnerWagerRequired, qld_sch_13!("s6(1)"));
            }
        }
        for placed in self.players.values_mut() {
            placed.lock = Lock::Locked;
        }
        self.state = State::Closed(game);
        Ok(Done::default())
    }

    /// Players wager at any time but between the call and the spin, between games for the next one.
    fn bets_are_open(&self) -> Result<(), Refusal> {
        match self.state {
            State::Closed(_) => Err(Refusal {
                cause: Cause::BetsClosed,
                rule: qld_sch_13!("s16"),
            }),
            State::Select | State::Betting(_) | State::Decide { .. } => Ok(()),
        }
    }

    fn chips(&self, side: Side, stake: u64, rule: Citation) -> Result<Placed, Refusal> {
        if !is_stake(stake, self.settings.smallest_chip) {
            return Err(Refusal {
                cause: Cause::StakeOutOfRange,
                rule,
            });
        }
        Ok(Placed {
            wager: Wager { side, stake },
            lock: Lock::Free,
        })
    }

    /// A player's wager that may still be changed or taken back (s11(3), TD-9).
    fn free(&mut self, name: &str) -> Result<&mut Placed, Refusal> {
        let placed = self.players.get_mut(name).ok_or(Refusal {
            cause: Cause::NoSuchWager,
            rule: qld_sch_13!("s11"),
        })?;
        match placed.lock {
            Lock::Free => Ok(placed),
            Lock::Locked => Err(Refusal {
                cause: Cause::WagerLocked,
                rule: qld_sch_13!("s11(3)"),
            }),
        }
    }
}
