//! Two-up dice: Queensland 2004, schedule 13. PURE.
//!
//! [`invalid`] says why a spin is invalid; [`machine`] in which order things may happen and what wagers win; [`odds`] what each
//! wager is worth. This file has the results and their lights. `TD-n` marks a place where the law can be read in more than one
//! way; the reading taken is said there.

pub mod invalid;
pub mod machine;
pub mod odds;

pub use invalid::InvalidReason;

use super::citation::{Citation, qld_sch_13};
use super::two_up::Side;
use super::wager::Odds;

/// Heads (tails) that win the spinner's wager on them (s8). Odds may lie between (TD-16).
pub const HITS_TO_WIN: u8 = 3;

/// Consecutive odds that lose every wager (s8, s12). Heads and tails break the run (TD-1), an invalid spin doesn't (TD-4).
pub const ODDS_TO_LOSE: u8 = 5;

/// What a winning spinner's wager pays (s9).
pub const SPINNER_ODDS: Odds = Odds { pays: 15, per: 2 };

/// What a winning player's wager pays (s13).
pub const PLAYER_ODDS: Odds = Odds::to_one(1);

/// The rule of [`SPINNER_ODDS`].
pub const SPINNER_ODDS_RULE: Citation = qld_sch_13!("s9");

/// The rule of [`PLAYER_ODDS`].
pub const PLAYER_ODDS_RULE: Citation = qld_sch_13!("s13");

/// Dice of a set (s4(2)).
pub const DICE_OF_A_SET: u8 = 5;

/// Dice that are spun (s4(3)).
pub const DICE_SPUN: u8 = 2;

/// The result of a valid spin (s2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Spun {
    /// Both dice show H.
    Heads,
    /// Both dice show T.
    Tails,
    /// One of each.
    Odds,
}

impl Spun {
    /// Every result.
    pub const ALL: [Spun; 3] = [Spun::Heads, Spun::Tails, Spun::Odds];

    /// As events write it: "heads".
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Spun::Heads => "heads",
            Spun::Tails => "tails",
            Spun::Odds => "odds",
        }
    }

    /// The result with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Spun> {
        Spun::ALL.into_iter().find(|spun| spun.name() == name)
    }

    /// The result that two dice show.
    #[must_use]
    pub fn of(dice: [Side; 2]) -> Spun {
        match dice {
            [Side::Heads, Side::Heads] => Spun::Heads,
            [Side::Tails, Side::Tails] => Spun::Tails,
            [Side::Heads, Side::Tails] | [Side::Tails, Side::Heads] => Spun::Odds,
        }
    }

    /// The side that wins by it; none by odds.
    #[must_use]
    pub fn side(self) -> Option<Side> {
        match self {
            Spun::Heads => Some(Side::Heads),
            Spun::Tails => Some(Side::Tails),
            Spun::Odds => None,
        }
    }
}

/// The four ordered ways in which two dice can lie, each equally likely: every die has three sides H and three T (s4(1)).
#[must_use]
pub fn outcomes() -> [[Side; 2]; 4] {
    let [heads, tails] = Side::ALL;
    [[heads, heads], [heads, tails], [tails, heads], [tails, tails]]
}

/// What has been spun in this game, and with it how many lights of each colour are on (s19(1)).
///
/// Each row lights from its first light. A heads or tails puts the odds lights out (TD-2); a result that loses is shown as well
/// (TD-3); an invalid spin lights nothing (TD-4); all go out when the next game begins (TD-5).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Counts {
    /// Heads, 0 to 3.
    pub heads: u8,
    /// Tails, 0 to 3.
    pub tails: u8,
    /// Odds in a row, 0 to 5.
    pub odds: u8,
}

impl Counts {
    /// After one more valid spin.
    #[must_use]
    pub fn and(self, spun: Spun) -> Counts {
        match spun {
            Spun::Heads => Counts {
                heads: self.heads.saturating_add(1),
                odds: 0,
                ..self
            },
            Spun::Tails => Counts {
                tails: self.tails.saturating_add(1),
                odds: 0,
                ..self
            },
            Spun::Odds => Counts {
                odds: self.odds.saturating_add(1),
                ..self
            },
        }
    }

    /// How often this side was spun.
    #[must_use]
    pub fn of(self, side: Side) -> u8 {
        match side {
            Side::Heads => self.heads,
            Side::Tails => self.tails,
        }
    }

    /// The lights that must be on, no other may; by bit, lowest first.
    #[must_use]
    pub fn lit(self) -> Vec<Light> {
        Light::ALL
            .into_iter()
            .filter(|light| {
                let on = match light.row {
                    Spun::Heads => self.heads,
                    Spun::Tails => self.tails,
                    Spun::Odds => self.odds,
                };
                light.place <= on
            })
            .collect()
    }
}

/// One of the eleven result lights: three of one colour, three of a second, five of a third (s19(1)).
///
/// When it fails a card is shown in its place (s19(2)), also when another of its colour is dark (TD-15).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Light {
    row: Spun,
    place: u8,
}

impl Light {
    /// Every light in the order of its bit: heads, tails, odds.
    pub const ALL: [Light; 11] = [
        Light::at(Spun::Heads, 1),
        Light::at(Spun::Heads, 2),
        Light::at(Spun::Heads, 3),
        Light::at(Spun::Tails, 1),
        Light::at(Spun::Tails, 2),
        Light::at(Spun::Tails, 3),
        Light::at(Spun::Odds, 1),
        Light::at(Spun::Odds, 2),
        Light::at(Spun::Odds, 3),
        Light::at(Spun::Odds, 4),
        Light::at(Spun::Odds, 5),
    ];

    const fn at(row: Spun, place: u8) -> Light {
        Light { row, place }
    }

    /// The result that it shows.
    #[must_use]
    pub fn row(self) -> Spun {
        self.row
    }

    /// Its place in its row, from 1.
    #[must_use]
    pub fn place(self) -> u8 {
        self.place
    }

    /// Its bit on the board of result lights: 0 to 2 heads, 3 to 5 tails, 6 to 10 odds.
    #[must_use]
    pub fn bit(self) -> u8 {
        let first = match self.row {
            Spun::Heads => 0,
            Spun::Tails => 3,
            Spun::Odds => 6,
        };
        first + self.place - 1
    }

    /// "heads_2".
    #[must_use]
    pub fn name(self) -> String {
        format!("{}_{}", self.row.name(), self.place)
    }

    /// The light with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Light> {
        Light::ALL.into_iter().find(|light| light.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lights_lie_on_the_board_by_their_bits() {
        for (bit, light) in Light::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(light.bit()), bit, "{}", light.name());
            assert_eq!(Light::from_name(&light.name()), Some(light));
        }
        for nothing in ["heads_0", "heads_4", "odds_6", "odds", ""] {
            assert_eq!(Light::from_name(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn heads_and_tails_put_the_odds_lights_out_and_stay() {
        let spun = [Spun::Odds, Spun::Heads, Spun::Odds, Spun::Odds, Spun::Tails, Spun::Odds];
        let counts = spun.into_iter().fold(Counts::default(), Counts::and);
        let lit: Vec<_> = counts.lit().into_iter().map(Light::name).collect();
        assert_eq!(lit, ["heads_1", "tails_1", "odds_1"]);
    }

    #[test]
    fn half_of_all_spins_are_odds() {
        let ways = |wanted| outcomes().into_iter().filter(|dice| Spun::of(*dice) == wanted).count();
        assert_eq!(Spun::ALL.map(ways), [1, 1, 2]);
    }
}
