//! The law's machine of two-up dice: in which order things may happen, and what follows. PURE.
//!
//! It knows the rules' people and equipment, and wagers in cents. It knows no devices, logins, time or journal: `table/`
//! joins those to the law. A refused operation changes nothing.

mod betting;
mod operation;
mod spinner;
mod spins;
#[cfg(test)]
mod tests;

pub use operation::{Cause, Decision, Done, Effect, GameEnd, Operation, Refusal, Role, TakeOver};
pub use spins::{decision, spinner_ends};

use super::{Counts, DICE_OF_A_SET, Light};
use crate::rules::citation::qld_sch_13;
use crate::rules::machine::refuse;
use crate::rules::two_up::Wager;
use spinner::Tenure;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;

/// Lost dice that call for a new set (s22(1)(d)); with one gone play goes on (TD-14).
pub const DICE_LOST_FOR_A_NEW_SET: u8 = 2;

/// Invalid spins in a row that end a spinner's turn (s21(1)(a)), and first spins that let the spinner come back (s21(3)).
pub const INVALID_IN_A_ROW: u8 = 3;

/// What a machine is told once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Settings {
    /// The smallest chip in cents: stakes are whole chips (s6(3), s11(2)).
    pub smallest_chip: NonZeroU64,
    /// How s21(3) is read (TD-8).
    pub first_three: FirstThree,
}

/// Who may go on as spinner after a turn that began with three invalid spins (s21(3), TD-8).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FirstThree {
    /// The spinner, however the wager was decided: the reading taken.
    ComesBack,
    /// The spinner, but only when the wager won.
    ComesBackAfterAWin,
}

/// Where the game is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// The dice are offered.
    Select,
    /// Bets are open.
    Betting,
    /// "No more bets": the dice are spun.
    Closed,
    /// The game is decided, the spinner may stop or go on.
    Decide,
}

/// Whom the dice are offered first (s5(2), s5(3)). A dealer who spun in between changes nothing (TD-19).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NextOffer {
    /// The first player at the dealer's left.
    DealersLeft,
    /// The next player clockwise of this seat.
    ClockwiseOf(u8),
}

/// Who spins.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Spins {
    /// The dealer, everyone declined.
    Dealer,
    /// The player of this seat.
    Player(u8),
    /// The dealer, until the wager of the player of this seat is decided.
    DealerFor(u8),
}

/// Whether a wager may still be changed (TD-9).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Lock {
    /// Until the first call after it was placed.
    Free,
    /// Until it is decided (s6(4), s11(3)).
    Locked,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Placed {
    wager: Wager,
    lock: Lock,
}

/// Who has the dice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Spinner {
    /// Everyone declined. His invalid spins relieve nobody (TD-11).
    Dealer,
    Player(Tenure),
    /// The dealer took over; what was spun before still counts (TD-7).
    TakenOver {
        tenure: Tenure,
        why: TakeOver,
    },
}

/// A game from the spinner's selection to its decision.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Game {
    spinner: Spinner,
    wager: Option<Placed>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum State {
    Select,
    Betting(Game),
    Closed(Game),
    Decide { spinner: Spinner, ended: GameEnd },
}

/// An invalid spin that can still be overruled (s20(4), TD-12).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Declared {
    /// After the call; the game as it stood then.
    AfterCall(Game),
    /// Before the call, by the dealer's discretion (TD-10): it can't stand as a result.
    BeforeCall,
}

/// One table's game under the law.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Machine {
    settings: Settings,
    state: State,
    counts: Counts,
    players: BTreeMap<String, Placed>,
    declared: Option<Declared>,
    failed: BTreeSet<Light>,
    missing: u8,
    next_offer: NextOffer,
}

type Answered = Result<Done, Refusal>;

fn done(effects: &[Effect]) -> Done {
    Done {
        effects: effects.to_vec(),
        ..Done::default()
    }
}

impl Machine {
    /// A table with a full set of dice and nobody at them.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Machine {
            settings,
            state: State::Select,
            counts: Counts::default(),
            players: BTreeMap::new(),
            declared: None,
            failed: BTreeSet::new(),
            missing: 0,
            next_offer: NextOffer::DealersLeft,
        }
    }

    /// Where the game is.
    #[must_use]
    pub fn phase(&self) -> Phase {
        match self.state {
            State::Select => Phase::Select,
            State::Betting(_) => Phase::Betting,
            State::Closed(_) => Phase::Closed,
            State::Decide { .. } => Phase::Decide,
        }
    }

    /// What was spun in this game, or after it in the last (TD-5).
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Lights that must be on, by bit (s19(1)).
    #[must_use]
    pub fn lights(&self) -> Vec<Light> {
        self.counts.lit()
    }

    /// Lights in whose place a card is shown (s19(2), TD-15), by bit. Play never stops for it.
    #[must_use]
    pub fn cards(&self) -> Vec<Light> {
        let mut cards = self.counts.lit();
        cards.retain(|light| self.failed.contains(light));
        cards
    }

    /// Who spins; nobody while the dice are offered.
    #[must_use]
    pub fn spins(&self) -> Option<Spins> {
        let spinner = match &self.state {
            State::Select => return None,
            State::Betting(game) | State::Closed(game) => game.spinner,
            State::Decide { spinner, .. } => *spinner,
        };
        Some(match spinner {
            Spinner::Dealer => Spins::Dealer,
            Spinner::Player(tenure) => Spins::Player(tenure.seat),
            Spinner::TakenOver { tenure, .. } => Spins::DealerFor(tenure.seat),
        })
    }

    /// The spinner's wager.
    #[must_use]
    pub fn spinner_wager(&self) -> Option<Wager> {
        match &self.state {
            State::Betting(game) | State::Closed(game) => game.wager.map(|placed| placed.wager),
            State::Select | State::Decide { .. } => None,
        }
    }

    /// Players' wagers by name.
    pub fn player_wagers(&self) -> impl Iterator<Item = (&str, Wager)> {
        self.players.iter().map(|(name, placed)| (name.as_str(), placed.wager))
    }

    /// Dice of the set that are lost, 0 to 5.
    #[must_use]
    pub fn dice_missing(&self) -> u8 {
        self.missing
    }

    /// Whom the dice are offered first.
    #[must_use]
    pub fn next_offer(&self) -> NextOffer {
        self.next_offer
    }

    /// Does `operation`, or says why it can't be done; then nothing has changed.
    ///
    /// # Errors
    ///
    /// What is wrong, and the rule.
    pub fn perform(&mut self, operation: &Operation) -> Answered {
        let answer = match operation {
            Operation::AcceptSpin { seat } => self.accept_spin(*seat),
            Operation::AllDecline => self.all_decline(),
            Operation::SpinnerWager { side, stake } => self.place_spinner_wager(*side, *stake),
            Operation::PlayerWager { name, side, stake } => self.place(name, *side, *stake),
            Operation::ChangeWager { name, side, stake } => self.change(name, *side, *stake),
            Operation::WithdrawWager { name } => self.withdraw(name),
            Operation::NoMoreBets => self.no_more_bets(),
            Operation::Spin(spun) => self.spin(*spun),
            Operation::Invalid { reason, by, lost } => return self.invalid(*reason, *by, *lost),
            Operation::Overrule { spun, by } => self.overrule(*spun, *by),
            Operation::SpinnerStops => self.spinner_stops(),
            Operation::SpinnerContinues => self.spinner_continues(),
            Operation::Relieve { by } => self.relieve(*by),
            // Dice and lights don't matter for an overruling (TD-12).
            Operation::DiceFound { dice } => return self.dice_found(*dice),
            Operation::NewSet => return self.new_set(),
            Operation::LightFails(light) => {
                self.failed.insert(*light);
                return Ok(Done::default());
            }
            Operation::LightRestored(light) => {
                self.failed.remove(light);
                return Ok(Done::default());
            }
        };
        if answer.is_ok() {
            self.declared = None;
        }
        answer
    }

    fn begin_game(&mut self, spinner: Spinner) -> Done {
        self.counts = Counts::default();
        self.state = State::Betting(Game { spinner, wager: None });
        done(&[Effect::GameStarts])
    }

    fn set_is_depleted(&self) -> bool {
        self.missing >= DICE_LOST_FOR_A_NEW_SET
    }

    fn dice_found(&mut self, dice: u8) -> Answered {
        let Some(missing) = self.missing.checked_sub(dice).filter(|_| dice > 0) else {
            return refuse(Cause::SetComplete, qld_sch_13!("s22(1)(c)"));
        };
        self.missing = missing;
        Ok(Done::default())
    }

    /// Nobody may ask for one (s4(5)); it comes when two dice or more are lost.
    fn new_set(&mut self) -> Answered {
        if self.missing == 0 {
            return refuse(Cause::SetComplete, qld_sch_13!("s4(5), s22"));
        }
        if !self.set_is_depleted() {
            return refuse(Cause::NewSetNotDue, qld_sch_13!("s4(5), s22(1)(d)"));
        }
        if let State::Closed(_) = self.state {
            return refuse(Cause::DiceInPlay, qld_sch_13!("s22(1)(d)"));
        }
        self.missing = 0;
        Ok(Done::default())
    }

    /// Dice that are at the table.
    fn dice(&self) -> u8 {
        DICE_OF_A_SET.saturating_sub(self.missing)
    }
}
