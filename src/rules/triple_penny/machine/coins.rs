//! Lost coins and new sets (s474). PURE.

use super::operation::{Cause, Done, Effect};
use super::{Answered, Game, Machine, Spinner, State, done, refuse};
use crate::rules::citation::qld_1998;
use crate::rules::triple_penny::{COINS_OF_A_SET, COINS_SPUN};

/// Lost coins that call for a new set: more than one (s474(4)).
pub const COINS_LOST_FOR_A_NEW_SET: u8 = 2;

/// Who handles the coins. "The person who was the spinner when the coins were lost" may go on with the old ones (s474(5)): not
/// the boxer who takes over from a player.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Person {
    Boxer,
    Seat(u8),
}

impl Spinner {
    fn person(self) -> Person {
        match self {
            Spinner::Boxer | Spinner::TakenOver { .. } | Spinner::RunOut => Person::Boxer,
            Spinner::Player { seat } => Person::Seat(seat),
        }
    }
}

impl Machine {
    pub(super) fn set_is_depleted(&self) -> bool {
        self.missing >= COINS_LOST_FOR_A_NEW_SET
    }

    /// Whether these coins may be spun by whoever spins now. In a run-out the wager has lost, or the winner declined: the new set
    /// comes first (TP-16).
    pub(super) fn coins_allow(&self, game: Game) -> Answered {
        if COINS_OF_A_SET.saturating_sub(self.missing) < COINS_SPUN {
            return refuse(Cause::NotEnoughCoins, qld_1998!("s470(3), s474(4)"));
        }
        let may_keep = game.spinner != Spinner::RunOut && self.old_set == Some(game.spinner.person());
        if self.set_is_depleted() && !may_keep {
            return refuse(Cause::NewSetRequired, qld_1998!("s474(4)-(5)"));
        }
        Ok(Done::default())
    }

    pub(super) fn coins_lost(&mut self, coins: u8) -> Answered {
        let missing = self.missing.saturating_add(coins);
        if coins == 0 || missing > COINS_OF_A_SET {
            return refuse(Cause::NoSuchCoins, qld_1998!("s470(1)"));
        }
        let was_depleted = self.set_is_depleted();
        self.missing = missing;
        if was_depleted || !self.set_is_depleted() {
            return Ok(Done::default());
        }
        self.old_set = self.spinner().map(Spinner::person);
        Ok(done(Effect::NewSetDue))
    }

    pub(super) fn coins_found(&mut self, coins: u8) -> Answered {
        let Some(missing) = self.missing.checked_sub(coins).filter(|_| coins > 0) else {
            return refuse(Cause::NoSuchCoins, qld_1998!("s474(2)"));
        };
        self.missing = missing;
        if !self.set_is_depleted() {
            self.old_set = None;
        }
        Ok(Done::default())
    }

    /// Nobody may require one (s470(4)); with one coin lost play goes on with four (s474(3)).
    pub(super) fn new_set(&mut self) -> Answered {
        if !self.set_is_depleted() {
            return refuse(Cause::NewSetNotDue, qld_1998!("s470(4), s474(3)-(4)"));
        }
        if let State::Closed(_) = self.state {
            return refuse(Cause::CoinsInPlay, qld_1998!("s474(4)"));
        }
        self.missing = 0;
        self.old_set = None;
        Ok(Done::default())
    }
}
