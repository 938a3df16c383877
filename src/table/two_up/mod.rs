//! Two-up at a table with devices, with dice or coins: which signal stands for which act. PURE.
//!
//! [`phase`] is where play stands, [`fold`] how events change it, [`law`] what is different with dice and with coins. [`play`] has the
//! acts, [`spinner`] those about who spins, [`set`] those about the dice; they come from [`entry`] (keys), [`bell`] (contacts) and [`acts`] (commands), and are refused by [`refusal`]. [`lights`] show
//! results, [`view`] says what the table waits for. [`family`] answers what the table asks.

mod acts;
mod bell;
pub(crate) mod checkpoint;
mod citation;
mod entry;
mod family;
pub(crate) mod fold;
mod law;
mod lights;
mod opening;
pub(crate) mod phase;
mod play;
mod reason;
mod refusal;
mod set;
mod spinner;
mod view;

use crate::table::lamps::Board;
use crate::table::{TriplePennyConfig, TwoUpDiceConfig, draft, due};
use law::Law;

/// As events and the configuration name the game with dice.
pub(crate) const DICE: &str = "two-up-dice";

/// As events and the configuration name the game with coins.
pub(crate) const COINS: &str = "triple-penny-two-up";

/// A two-up game at this table.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TwoUp {
    pub(crate) law: Law,
    pub(crate) board: Board,
}

impl TwoUp {
    pub(crate) fn dice(config: TwoUpDiceConfig) -> Self {
        TwoUp::new(Law::Dice(config))
    }

    pub(crate) fn coins(config: TriplePennyConfig) -> Self {
        TwoUp::new(Law::Coins(config))
    }

    fn new(law: Law) -> Self {
        TwoUp {
            board: law.board(),
            law,
        }
    }
}

/// A decision in the making at a two-up table.
pub(crate) type Draft<'a> = draft::Draft<'a, TwoUp>;

/// What waits of a two-up table are worked out from.
pub(crate) type Look<'a> = due::Look<'a, TwoUp>;
