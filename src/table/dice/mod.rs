//! Tai-sai and sic-bo, three dice whose total is bet on, at a table with devices: which signal stands for which act. PURE.
//! (Two-up with dice is two-up: it stands in [`two_up`](crate::table::two_up).)
//!
//! [`game`] says what differs between them; [`phase`] is where play stands, [`fold`] how events change it, [`due`] what time brings. The rest is sorted by what the
//! signals come from: [`tumbler`], [`terminal`] (contacts), [`entry`] (keys), [`lamps`]; and by what becomes of a round:
//! [`play`], [`held`], [`settle`], and [`acts`] that people do by commands. [`opening`] has the checks before play, [`view`] what
//! people see. [`family`] answers what the table asks; [`queensland`] has the rules behind sic-bo's facts.

pub(crate) mod acts;
pub(crate) mod checkpoint;
pub(crate) mod due;
pub(crate) mod entry;
mod family;
pub(crate) mod fold;
pub(crate) mod game;
pub(crate) mod held;
pub(crate) mod lamps;
pub(crate) mod layout;
pub(crate) mod opening;
pub(crate) mod phase;
pub(crate) mod play;
mod queensland;
pub(crate) mod settle;
pub(crate) mod terminal;
pub(crate) mod tumbler;
pub(crate) mod view;

use crate::table::{SicBoConfig, TaiSaiConfig};
use crate::table::{draft, due as waits};
use game::{Course, DiceGame};
use layout::LayoutLamps;
use std::time::Duration;

/// A dice game at this table.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Dice {
    pub(crate) game: DiceGame,
    pub(crate) config: Settings,
    pub(crate) layout: LayoutLamps,
}

/// What the configuration says of a dice table, whatever its game.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Settings {
    /// The tumbler at rest before bets open; an open one before its dice have landed.
    pub(crate) rest: Duration,
    /// Earliest settlement press after an accepted entry.
    pub(crate) settle_after: Duration,
    /// The cover lying on this long after the entry settles provisionally.
    pub(crate) cover_settles_after: Duration,
    /// A NO_SPIN after the uncover holds the round; else it voids.
    pub(crate) hold_no_spin_after_uncover: bool,
    /// How long after its acknowledgement a picture may take to show.
    pub(crate) lamp_wait: Duration,
}

impl Dice {
    pub(crate) fn tai_sai(config: TaiSaiConfig) -> Self {
        let TaiSaiConfig { style, layout, .. } = config;
        let settings = Settings {
            rest: config.rest,
            settle_after: config.settle_after,
            cover_settles_after: config.cover_settles_after,
            hold_no_spin_after_uncover: config.hold_no_spin_after_uncover,
            lamp_wait: config.lamp_wait,
        };
        Dice::new(DiceGame::TaiSai { style, layout }, settings, config.lamp_map)
    }

    pub(crate) fn sic_bo(config: SicBoConfig) -> Self {
        let game = DiceGame::SicBo {
            tumbler: config.tumbler,
            paytable: config.paytable,
            policy: config.policy,
        };
        let settings = Settings {
            rest: config.rest,
            settle_after: config.settle_after,
            cover_settles_after: config.cover_settles_after,
            hold_no_spin_after_uncover: config.hold_no_spin_after_uncover,
            lamp_wait: config.lamp_wait,
        };
        Dice::new(game, settings, config.lamp_map)
    }

    fn new(game: DiceGame, config: Settings, lamp_map: Vec<Vec<u16>>) -> Self {
        Dice {
            layout: LayoutLamps::new(&game, lamp_map),
            game,
            config,
        }
    }

    /// What starts a round, closes its bets and shows its dice.
    pub(crate) fn course(&self) -> Course {
        self.game.course()
    }
}

/// A decision in the making at a table of dice.
pub(crate) type Draft<'a> = draft::Draft<'a, Dice>;

/// What waits of a round of dice are worked out from.
pub(crate) type Look<'a> = waits::Look<'a, Dice>;
