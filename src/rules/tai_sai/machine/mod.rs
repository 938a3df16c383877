//! The law's machine of tai-sai: in which order things may happen, and what follows. PURE.
//!
//! It knows the rules' people and equipment, and wagers in cents. It knows no devices, logins, time or journal: `table/`
//! joins those to the law. A refused operation changes nothing.

mod betting;
mod operation;
mod result;
#[cfg(test)]
mod tests;
mod wagers;

pub use operation::{
    Answer, Bell, Cause, Clearance, Dice, Done, Effect, GameEnd, LayoutWagers, OpeningTests, Operation, Refusal, Role,
    Throw, Tumbler,
};
pub use wagers::{MAX_STAKE, Outcome, PlacedWager, Resolved};

use super::{Layout, Style, VoidReason, winners};
use crate::rules::citation::Citation;
use crate::rules::machine::refuse;
use std::collections::BTreeSet;
use wagers::Chips;

/// How often the dice must be spun before bets are invited: the sum over all activations (r6.1, TS-6).
pub const SPINS_NEEDED: u32 = 3;

/// What a machine is told once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// How the dice are thrown.
    pub style: Style,
    /// What can be wagered.
    pub layout: Layout,
    /// What a fault of the results display does.
    pub display_faults: DisplayFaults,
}

/// What a fault of the results display does (r7.5, TS-8).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DisplayFaults {
    /// It is a malfunction of r7.4: the reading taken.
    HoldNextGame,
    /// It is noted; for a house whose regulator reads r7.5 otherwise.
    Noted,
}

/// Where the game is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// Not opened.
    Shut,
    /// Between games.
    Ready,
    /// Dice spun, or in the cup.
    Primed,
    /// Bets are open.
    Betting,
    /// "No more bets."
    Closed,
    /// Style B: somebody has the dice.
    Throwing,
    /// The result can be seen.
    Landed,
    /// The result is entered, areas are lit.
    Entered,
    /// Losing wagers are collected.
    Collecting,
    /// A malfunction holds the next game.
    Halted,
}

/// What is broken (r7.4).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Malfunction {
    /// Areas don't light, or light wrongly (r7.3).
    Lamps,
    /// The tumbler (r7.1(b)).
    Tumbler,
    /// The results display (r7.5, TS-8).
    Display,
}

/// Whose turn at the dice it is (style B).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextOffer {
    /// The player at the dealer's left (r6A.3).
    DealersLeft,
    /// This seat keeps the dice (r6A.4).
    Keeps(u8),
    /// The next player clockwise of this seat with a wager on an area over 1 to 1 (r6A.4, r6A.5, TS-13).
    ClockwiseOf(u8),
}

/// Whether settlement may start (r6.5, r6A.11, r7.3). Hardware or the dealer's eye confirms, either is enough (TS-17).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lamps {
    Awaited,
    Confirmed,
    FaultDeclared,
}

/// The last three keys since the dice landed, oldest first; more scroll (r3.3(a), TS-5).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Keys(Vec<u8>);

impl Keys {
    fn press(&mut self, key: u8) {
        if self.0.len() == 3 {
            self.0.remove(0);
        }
        self.0.push(key);
    }

    fn faces(&self) -> Option<[u8; 3]> {
        <[u8; 3]>::try_from(self.0.as_slice()).ok()
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum State {
    Shut,
    /// `spins` made for the coming game; always fewer than needed.
    Ready {
        spins: u32,
    },
    Primed,
    Betting,
    Closed,
    Throwing,
    Landed {
        keys: Keys,
    },
    Entered {
        keys: Keys,
        faces: [u8; 3],
        lamps: Lamps,
    },
    Collecting {
        keys: Keys,
        faces: [u8; 3],
    },
    /// `spins` as in `Ready`: a malfunction between games doesn't undo them.
    Halted {
        spins: u32,
    },
}

/// Who throws in this game (style B).
#[derive(Clone, PartialEq, Eq, Debug)]
enum Thrower {
    Dealer,
    Seat { seat: u8, areas: Vec<&'static str> },
}

/// One table's game under the law.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    settings: Settings,
    state: State,
    malfunctions: BTreeSet<Malfunction>,
    chips: Chips,
    thrower: Option<Thrower>,
    next_offer: NextOffer,
}

type Answered = Result<Done, Refusal>;

impl Machine {
    /// A table that is not open.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Machine {
            settings,
            state: State::Shut,
            malfunctions: BTreeSet::new(),
            chips: Chips::default(),
            thrower: None,
            next_offer: NextOffer::DealersLeft,
        }
    }

    /// Where the game is.
    #[must_use]
    pub fn phase(&self) -> Phase {
        match self.state {
            State::Shut => Phase::Shut,
            State::Ready { .. } => Phase::Ready,
            State::Primed => Phase::Primed,
            State::Betting => Phase::Betting,
            State::Closed => Phase::Closed,
            State::Throwing => Phase::Throwing,
            State::Landed { .. } => Phase::Landed,
            State::Entered { .. } => Phase::Entered,
            State::Collecting { .. } => Phase::Collecting,
            State::Halted { .. } => Phase::Halted,
        }
    }

    /// What the terminal's LED shows: up to three keys, oldest first. Empty between games (TS-11).
    #[must_use]
    pub fn keys(&self) -> &[u8] {
        match &self.state {
            State::Landed { keys } | State::Entered { keys, .. } | State::Collecting { keys, .. } => &keys.0,
            State::Shut
            | State::Ready { .. }
            | State::Primed
            | State::Betting
            | State::Closed
            | State::Throwing
            | State::Halted { .. } => &[],
        }
    }

    /// Areas that must be lit, no other may: the winning ones from entry to the end of the game (r3.3(b), r6.5).
    #[must_use]
    pub fn lamps(&self) -> Vec<&'static str> {
        match self.state {
            State::Entered { faces, .. } | State::Collecting { faces, .. } => winners(faces, self.settings.layout)
                .into_iter()
                .map(|winner| winner.id)
                .collect(),
            State::Shut
            | State::Ready { .. }
            | State::Primed
            | State::Betting
            | State::Closed
            | State::Throwing
            | State::Landed { .. }
            | State::Halted { .. } => Vec::new(),
        }
    }

    /// What is broken; no further game begins until it is cleared.
    #[must_use]
    pub fn malfunctions(&self) -> &BTreeSet<Malfunction> {
        &self.malfunctions
    }

    /// Chips on the layout.
    #[must_use]
    pub fn wagers(&self) -> &[PlacedWager] {
        self.chips.placed()
    }

    /// Whose turn at the dice it is (style B).
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
        match operation {
            Operation::OpenTable { by, tests } => self.open_table(*by, *tests),
            Operation::Tumble { spins, tumbler } => self.tumble(*spins, *tumbler),
            Operation::RetrieveDice => self.retrieve_dice(),
            Operation::PlaceBets => self.place_bets(),
            Operation::PlaceWager { seat, area, stake } => {
                self.bets_are_open()?;
                self.chips.place(*seat, area, *stake, self.settings.layout)?;
                Ok(Done::default())
            }
            Operation::WithdrawWager { seat, area } => {
                self.bets_are_open()?;
                self.chips.withdraw(*seat, area, self.settings.layout)?;
                Ok(Done::default())
            }
            Operation::NoMoreBets { bell } => self.no_more_bets(*bell),
            Operation::Uncover { dice } => self.uncover(*dice),
            Operation::Offer { seat, areas, answer } => self.offer(*seat, areas, *answer),
            Operation::DealerThrows { wagers } => self.dealer_throws(*wagers),
            Operation::Throw(throw) => self.throw(*throw),
            Operation::PassDice { by } => self.pass_dice(*by),
            Operation::Key(key) => self.key(*key),
            Operation::Enter => self.enter(),
            Operation::Amend { faces, by } => self.amend(*faces, *by),
            Operation::LampsLit => self.lamps_lit(),
            Operation::LampFault => self.lamp_fault(),
            Operation::DisplayFault => self.display_fault(),
            Operation::CollectLosing => self.collect_losing(),
            Operation::PayWinning => self.pay_winning(),
            Operation::Void { reason, by } => self.void(*reason, *by),
            Operation::ClearMalfunction { how } => self.clear_malfunction(*how),
        }
    }

    fn of_style(&self, style: Style, rule: Citation) -> Result<(), Refusal> {
        if self.settings.style == style {
            Ok(())
        } else {
            Err(Refusal {
                cause: Cause::WrongStyle,
                rule,
            })
        }
    }

    /// The rule of the style in play, where both sections say the same.
    fn rule(&self, a: Citation, b: Citation) -> Citation {
        match self.settings.style {
            Style::A => a,
            Style::B => b,
        }
    }

    fn end_void(&mut self, reason: VoidReason) -> Done {
        let mut effects = Vec::new();
        if reason == VoidReason::ATumblerFault {
            effects.push(Effect::NoFurtherGames);
        }
        effects.push(Effect::Void(reason));
        self.end_game();
        Done {
            effects,
            game_end: Some(GameEnd::Void(reason)),
            ..Done::default()
        }
    }

    fn end_game(&mut self) {
        self.thrower = None;
        self.state = if self.malfunctions.is_empty() {
            State::Ready { spins: 0 }
        } else {
            State::Halted { spins: 0 }
        };
    }
}
