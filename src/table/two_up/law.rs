//! What is different with dice (Qld 2004 sch 13) and with coins (Qld 1998 part 21). PURE. Results, counts and thresholds are those of
//! `rules`.

use crate::rules::triple_penny::Display;
use crate::table::lamps::Board;
use crate::table::{TriplePennyConfig, TwoUpDiceConfig};
use std::time::Duration;

/// The lights of the board in the order of their bits; the same for both games.
const LIGHTS: [&str; 11] = [
    "heads_1", "heads_2", "heads_3", "tails_1", "tails_2", "tails_3", "odds_1", "odds_2", "odds_3", "odds_4", "odds_5",
];

/// The game's law.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Law {
    /// Two-up dice.
    Dice(TwoUpDiceConfig),
    /// Triple penny two-up.
    Coins(TriplePennyConfig),
}

impl Law {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Law::Dice(_) => super::DICE,
            Law::Coins(_) => super::COINS,
        }
    }

    /// How results are shown.
    pub(crate) fn display(&self) -> Display {
        match self {
            Law::Dice(_) => Display::Lights,
            Law::Coins(config) => config.display,
        }
    }

    pub(crate) fn board(&self) -> Board {
        match self.display() {
            Display::Lights => Board::new(&LIGHTS, (0..11).map(|bit| vec![bit]).collect()),
            Display::Electronic | Display::Cards => Board::new(&[], Vec::new()),
        }
    }

    pub(crate) fn lamp_wait(&self) -> Duration {
        match self {
            Law::Dice(config) => config.lamp_wait,
            Law::Coins(config) => config.lamp_wait,
        }
    }
}
