//! Triple penny two-up: Queensland 1998, part 21. PURE.
//!
//! [`invalid`] says why a spin is invalid; [`machine`] in which order things may happen and what wagers win; [`odds`] what each
//! wager is worth. This file has the results and their odds. `TP-n` marks a place where the law can be read in more than one
//! way; the reading taken is said there.

pub mod invalid;
pub mod machine;
pub mod odds;

pub use invalid::InvalidReason;

use super::citation::{Citation, qld_1998};
use super::two_up::Side;
use super::wager::Odds;

/// Spins of the spinner's side that win the spinner's wager, triples among them (s472(5), s472(6)).
pub const HITS_TO_WIN: u8 = 3;

/// What a winning spinner's wager pays (s480(2)(a)).
pub const SPINNER_ODDS: Odds = Odds { pays: 13, per: 2 };

/// What a winning spinner's bonus wager pays (s480(2)(b)).
pub const BONUS_ODDS: Odds = Odds::to_one(495);

/// The spinner's bonus wager in cents: one dollar, neither more nor less (s472(2)(b)).
pub const BONUS_STAKE: u64 = 100;

/// The rule of [`SPINNER_ODDS`].
pub const SPINNER_ODDS_RULE: Citation = qld_1998!("s480(2)(a)");

/// The rule of [`BONUS_ODDS`].
pub const BONUS_ODDS_RULE: Citation = qld_1998!("s480(2)(b)");

/// The rule of [`Area::odds`].
pub const PLAYER_ODDS_RULE: Citation = qld_1998!("s480(1)");

/// Coins of a set (s470(1)).
pub const COINS_OF_A_SET: u8 = 5;

/// Coins that are spun (s470(3)).
pub const COINS_SPUN: u8 = 3;

/// The result of a valid spin (s468). Every one is for one side, there are no odds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Spun {
    /// Exactly two heads.
    Heads,
    /// Exactly two tails.
    Tails,
    /// Three heads.
    TripleHeads,
    /// Three tails.
    TripleTails,
}

/// How many coins agree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Agree {
    /// Two of the three.
    Two,
    /// All.
    Three,
}

impl Spun {
    /// Every result.
    pub const ALL: [Spun; 4] = [Spun::Heads, Spun::Tails, Spun::TripleHeads, Spun::TripleTails];

    /// As events write it: "triple_heads".
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Spun::Heads => "heads",
            Spun::Tails => "tails",
            Spun::TripleHeads => "triple_heads",
            Spun::TripleTails => "triple_tails",
        }
    }

    /// The result with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Spun> {
        Spun::ALL.into_iter().find(|spun| spun.name() == name)
    }

    /// The result that three coins show.
    #[must_use]
    pub fn of(coins: [Side; 3]) -> Spun {
        match coins.iter().filter(|side| **side == Side::Heads).count() {
            0 => Spun::TripleTails,
            1 => Spun::Tails,
            2 => Spun::Heads,
            _ => Spun::TripleHeads,
        }
    }

    /// The side that it is for.
    #[must_use]
    pub fn side(self) -> Side {
        match self {
            Spun::Heads | Spun::TripleHeads => Side::Heads,
            Spun::Tails | Spun::TripleTails => Side::Tails,
        }
    }

    /// Two coins, or all three.
    #[must_use]
    pub fn agree(self) -> Agree {
        match self {
            Spun::Heads | Spun::Tails => Agree::Two,
            Spun::TripleHeads | Spun::TripleTails => Agree::Three,
        }
    }
}

/// The eight ordered ways in which three coins can lie, each equally likely.
#[must_use]
pub fn outcomes() -> Vec<[Side; 3]> {
    let mut outcomes = Vec::new();
    for first in Side::ALL {
        for second in Side::ALL {
            outcomes.extend(Side::ALL.map(|third| [first, second, third]));
        }
    }
    outcomes
}

/// Where a player's wager lies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Area {
    /// Where players place it (s473(2)).
    Main,
    /// Where a dealer moves it after a triple of its side (s473(4), s473(7)). It is neither changed nor withdrawn (s475(3)).
    Bonus,
}

impl Area {
    /// What a wager here pays for a result of its own side; `None` when it is moved to the bonus area instead.
    ///
    /// A second triple pays, on the stake as it was placed; it does not move the wager again (TP-19).
    #[must_use]
    pub fn odds(self, agree: Agree) -> Option<Odds> {
        match (self, agree) {
            (Area::Main, Agree::Two) => Some(Odds::to_one(1)),
            (Area::Main, Agree::Three) => None,
            (Area::Bonus, Agree::Two) => Some(Odds::to_one(2)),
            (Area::Bonus, Agree::Three) => Some(Odds::to_one(4)),
        }
    }
}

/// How results are shown (s479). Lamps that fail are answered by another of these; play need not stop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Display {
    /// A set of lights.
    Lights,
    /// An electronic display.
    Electronic,
    /// Cards.
    Cards,
}

impl Display {
    /// Every one that the law permits.
    pub const ALL: [Display; 3] = [Display::Lights, Display::Electronic, Display::Cards];

    /// As configuration and events write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Display::Lights => "lights",
            Display::Electronic => "electronic",
            Display::Cards => "cards",
        }
    }

    /// The display with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Display> {
        Display::ALL.into_iter().find(|display| display.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_results_are_three_times_as_likely_as_triples() {
        let ways = |wanted| {
            outcomes()
                .into_iter()
                .filter(|coins| Spun::of(*coins) == wanted)
                .count()
        };
        assert_eq!(Spun::ALL.map(ways), [3, 3, 1, 1]);
    }

    #[test]
    fn names_lead_back() {
        for spun in Spun::ALL {
            assert_eq!(Spun::from_name(spun.name()), Some(spun));
        }
        for display in Display::ALL {
            assert_eq!(Display::from_name(display.name()), Some(display));
        }
        assert_eq!((Spun::from_name("odds"), Display::from_name("smoke")), (None, None));
    }
}
