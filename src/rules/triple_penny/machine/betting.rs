//! Wagers until the call. PURE.

use super::operation::{Cause, Done, Kip, Placing, Refusal, Role};
use super::{Answered, Game, Lying, Machine, RunOutWagers, Spinner, State, refuse};
use crate::rules::citation::{Citation, qld_1998};
use crate::rules::triple_penny::{Area, BONUS_STAKE};
use crate::rules::two_up::{Resolved, Side, Wager, WagerName, is_stake};
use crate::rules::wager::Outcome;
use std::collections::btree_map::Entry;

impl Machine {
    pub(super) fn place_spinner_wager(&mut self, side: Side, stake: u64) -> Answered {
        let game = self.open_game(qld_1998!("s472(2)(a)"))?;
        if matches!(game.spinner, Spinner::Boxer | Spinner::RunOut) {
            return refuse(Cause::BoxerMayNotWager, qld_1998!("s471(6)"));
        }
        if game.wager.is_some() {
            return if game.tally.valid > 0 {
                refuse(Cause::WagerLocked, qld_1998!("s472(10)"))
            } else {
                refuse(Cause::DuplicateWager, qld_1998!("s472(2)(a)"))
            };
        }
        let wager = self.chips(side, stake, qld_1998!("s472(2)(a)"))?;
        self.state = State::Betting(Game {
            wager: Some(wager),
            ..game
        });
        Ok(Done::default())
    }

    /// Beside the spinner's wager, before the first valid spin: "three times without" is measured over the game (TP-9).
    pub(super) fn place_bonus(&mut self, side: Side, stake: u64) -> Answered {
        let rule = qld_1998!("s472(2)(b)");
        let game = self.open_game(rule)?;
        match game.spinner {
            Spinner::Boxer | Spinner::RunOut => return refuse(Cause::BoxerMayNotWager, qld_1998!("s471(6)")),
            Spinner::TakenOver { .. } => return refuse(Cause::BonusTooLate, qld_1998!("s472(5)(b), s472(6)(b)")),
            Spinner::Player { .. } => {}
        }
        let Some(main) = game.wager else {
            return refuse(Cause::SpinnerWagerRequired, qld_1998!("s472(2)(a)-(b)"));
        };
        if game.tally.valid > 0 {
            return refuse(Cause::BonusTooLate, qld_1998!("s472(5)(b), s472(6)(b)"));
        }
        if game.bonus.is_some() {
            return refuse(Cause::DuplicateWager, rule);
        }
        if stake != BONUS_STAKE {
            return refuse(Cause::BonusMustBeOneDollar, rule);
        }
        if side != main.side {
            return refuse(Cause::BonusSideDiffers, rule);
        }
        self.state = State::Betting(Game {
            bonus: Some(Wager { side, stake }),
            ..game
        });
        Ok(Done::default())
    }

    /// Before the first valid spin (s472(10)), unless the boxer spins to decide it.
    pub(super) fn withdraw_spinner_wager(&mut self) -> Answered {
        let game = self.open_game(qld_1998!("s472"))?;
        if game.wager.is_none() {
            return refuse(Cause::NoSuchWager, qld_1998!("s472"));
        }
        if game.tally.valid > 0 {
            return refuse(Cause::WagerLocked, qld_1998!("s472(10)"));
        }
        if let Spinner::TakenOver { .. } = game.spinner {
            return refuse(Cause::WagerLocked, qld_1998!("s478"));
        }
        self.state = State::Betting(Game {
            wager: None,
            bonus: None,
            ..game
        });
        Ok(Done {
            resolved: returned(game),
            ..Done::default()
        })
    }

    pub(super) fn place(&mut self, name: &str, side: Side, stake: u64, placing: Placing) -> Answered {
        self.bets_are_open()?;
        if placing == Placing::Orally {
            return refuse(Cause::OralWager, qld_1998!("s475(1)"));
        }
        if self.spinner() == Some(Spinner::RunOut) && self.settings.run_out == RunOutWagers::Closed {
            return refuse(Cause::RunOutClosed, qld_1998!("s472(8)(b)"));
        }
        let wager = self.chips(side, stake, qld_1998!("s473(2)"))?;
        match self.players.entry(name.to_owned()) {
            Entry::Occupied(_) => refuse(Cause::DuplicateWager, qld_1998!("s473(2)")),
            Entry::Vacant(free) => {
                free.insert(Lying {
                    wager,
                    area: Area::Main,
                });
                Ok(Done::default())
            }
        }
    }

    pub(super) fn change(&mut self, name: &str, side: Side, stake: u64) -> Answered {
        self.bets_are_open()?;
        let to = self.chips(side, stake, qld_1998!("s473(2)"))?;
        self.in_main_area(name)?.wager = to;
        Ok(Done::default())
    }

    pub(super) fn withdraw(&mut self, name: &str) -> Answered {
        self.bets_are_open()?;
        let wager = self.in_main_area(name)?.wager;
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

    /// A triple moves wagers at once, by a dealer (s475(2)); whatever is moved otherwise is moved wrongly.
    pub(super) fn move_to_bonus(&mut self, name: &str, by: Role) -> Answered {
        match by {
            Role::Boxer | Role::Dealer => {}
            Role::FloorManager | Role::Player => return refuse(Cause::NotAuthorised, qld_1998!("s475(2)")),
        }
        if !self.players.contains_key(name) {
            return refuse(Cause::NoSuchWager, qld_1998!("s473"));
        }
        refuse(Cause::NoTripleSpun, qld_1998!("s473(4), s473(7)"))
    }

    /// Before every spin (s475(4)). It is the only moment that can be told from outside, so it closes bets (TP-10).
    pub(super) fn no_more_bets(&mut self, kip: Kip) -> Answered {
        let game = match self.state {
            State::Betting(game) => game,
            State::Closed(_) => return refuse(Cause::BetsClosed, qld_1998!("s475(4)")),
            State::Choice(_) => return refuse(Cause::ChoicePending, qld_1998!("s478(1)")),
            State::Select => return refuse(Cause::NoSpinner, qld_1998!("s475(4)")),
            State::Decide(_) => return refuse(Cause::NoGame, qld_1998!("s475(4)")),
        };
        self.coins_allow(game)?;
        match game.spinner {
            Spinner::Player { .. } | Spinner::TakenOver { .. } if game.wager.is_none() => {
                return refuse(Cause::SpinnerWagerRequired, qld_1998!("s472(2)(a)"));
            }
            Spinner::Player { .. } | Spinner::TakenOver { .. } | Spinner::Boxer | Spinner::RunOut => {}
        }
        if kip == Kip::NotMixed {
            return refuse(Cause::KipNotMixed, qld_1998!("s472(3)(b)"));
        }
        self.state = State::Closed(game);
        Ok(Done::default())
    }

    /// The game whose spinner may wager now.
    fn open_game(&self, rule: Citation) -> Result<Game, Refusal> {
        let (cause, rule) = match self.state {
            State::Betting(game) => return Ok(game),
            State::Closed(_) => (Cause::BetsClosed, qld_1998!("s475(4)-(5)")),
            State::Choice(_) => (Cause::ChoicePending, qld_1998!("s478(1)")),
            State::Select => (Cause::NoSpinner, rule),
            State::Decide(_) => (Cause::NoGame, rule),
        };
        Err(Refusal { cause, rule })
    }

    /// Players wager at any time but between the call and the spin and while the spinner has to choose; what the call closed is
    /// free again after an invalid spin (s475(5)).
    fn bets_are_open(&self) -> Result<(), Refusal> {
        let (cause, rule) = match self.state {
            State::Select | State::Betting(_) | State::Decide(_) => return Ok(()),
            State::Closed(_) => (Cause::BetsClosed, qld_1998!("s475(4)-(5)")),
            State::Choice(_) => (Cause::ChoicePending, qld_1998!("s478(1)")),
        };
        Err(Refusal { cause, rule })
    }

    fn chips(&self, side: Side, stake: u64, rule: Citation) -> Result<Wager, Refusal> {
        if is_stake(stake, self.settings.smallest_chip) {
            Ok(Wager { side, stake })
        } else {
            Err(Refusal {
                cause: Cause::StakeOutOfRange,
                rule,
            })
        }
    }

    fn in_main_area(&mut self, name: &str) -> Result<&mut Lying, Refusal> {
        let lying = self.players.get_mut(name).ok_or(Refusal {
            cause: Cause::NoSuchWager,
            rule: qld_1998!("s473"),
        })?;
        match lying.area {
            Area::Main => Ok(lying),
            Area::Bonus => Err(Refusal {
                cause: Cause::BonusAreaLocked,
                rule: qld_1998!("s475(3)"),
            }),
        }
    }
}

/// The spinner's wagers, given back.
pub(super) fn returned(game: Game) -> Vec<Resolved> {
    [(WagerName::Spinner, game.wager), (WagerName::SpinnerBonus, game.bonus)]
        .into_iter()
        .filter_map(|(name, wager)| {
            Some(Resolved {
                name,
                wager: wager?,
                outcome: Outcome::Returned,
            })
        })
        .collect()
}
