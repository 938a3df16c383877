//! Tai-sai at a table with devices: which signal stands for which act. PURE.
//!
//! [`phase`] is where play stands, [`fold`] how events change it, [`due`] what time brings. The rest is sorted by what the
//! signals come from: [`tumbler`], [`terminal`] (contacts), [`entry`] (keys), [`lamps`]; and by what becomes of a round:
//! [`play`], [`held`], [`settle`], and [`acts`] that people do by commands. [`opening`] has the checks before play, [`view`] what
//! people see. [`family`] answers what the table asks.

pub(crate) mod acts;
pub(crate) mod checkpoint;
pub(crate) mod due;
pub(crate) mod entry;
mod family;
pub(crate) mod fold;
pub(crate) mod held;
pub(crate) mod lamps;
pub(crate) mod layout;
pub(crate) mod opening;
pub(crate) mod phase;
pub(crate) mod play;
pub(crate) mod settle;
pub(crate) mod terminal;
pub(crate) mod tumbler;
pub(crate) mod view;

use crate::table::TaiSaiConfig;
use crate::table::{draft, due as waits};
use layout::LayoutLamps;

/// A dice game at this table.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Dice {
    pub(crate) config: TaiSaiConfig,
    pub(crate) layout: LayoutLamps,
}

impl Dice {
    pub(crate) fn new(config: TaiSaiConfig) -> Self {
        Dice {
            layout: LayoutLamps::new(&config),
            config,
        }
    }
}

/// A decision in the making at a table of dice.
pub(crate) type Draft<'a> = draft::Draft<'a, Dice>;

/// What waits of a round of dice are worked out from.
pub(crate) type Look<'a> = waits::Look<'a, Dice>;
