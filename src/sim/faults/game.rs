//! The games that are played in the simulation, and how a table is configured and fitted for each.

use super::devices::Fitting;
use crate::rules::sic_bo::machine::Tumbler as SicBoTumbler;
use crate::rules::tai_sai::{Layout, Style};
use crate::rules::triple_penny::Display;
use crate::rules::two_up_dice::machine::FirstThree;
use crate::sim::{LampsSetup, Reader, TerminalSetup, TumblerSetup};
use crate::table::input::DeviceKind;
use crate::table::{GameConfig, HousePolicy, MisKeyed, SicBoConfig, TaiSaiConfig, TriplePennyConfig, TwoUpDiceConfig};
use std::time::Duration;
/// A game as a table is configured for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Game {
    /// Tai-sai with a covered tumbler.
    TaiSaiA,
    /// Tai-sai with a dice cup.
    TaiSaiB,
    /// Sic-bo with a covered tumbler.
    SicBoCovered,
    /// Sic-bo with an open tumbler.
    SicBoOpen,
    /// Two-up with dice.
    TwoUpDice,
    /// Two-up with three coins, results on lights.
    TriplePenny,
}

impl Game {
    /// The devices of its table.
    #[must_use]
    pub fn devices(self) -> &'static [DeviceKind] {
        match self {
            Game::TaiSaiA | Game::SicBoCovered | Game::SicBoOpen => {
                &[DeviceKind::Tumbler, DeviceKind::Terminal, DeviceKind::LayoutLamps]
            }
            Game::TaiSaiB => &[DeviceKind::Terminal, DeviceKind::LayoutLamps],
            Game::TwoUpDice | Game::TriplePenny => &[DeviceKind::Terminal, DeviceKind::ResultLights],
        }
    }

    /// Game, style and layout, as the journal names them.
    #[must_use]
    pub fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Game::TaiSaiA => ("tai-sai", "A", "appendix-1"),
            Game::TaiSaiB => ("tai-sai", "B", "appendix-1"),
            Game::SicBoCovered => ("sic-bo", "covered", ""),
            Game::SicBoOpen => ("sic-bo", "open", ""),
            Game::TwoUpDice => ("two-up-dice", "", ""),
            Game::TriplePenny => ("triple-penny-two-up", "", ""),
        }
    }

    /// Lamps, or lights.
    pub(super) fn lights(self) -> usize {
        match self {
            Game::TaiSaiA | Game::TaiSaiB | Game::SicBoCovered | Game::SicBoOpen => usize::from(LAMPS),
            Game::TwoUpDice | Game::TriplePenny => 11,
        }
    }

    pub(super) fn fitting(self, seed: u64) -> Fitting {
        let tumbler = |reader| TumblerSetup {
            reader,
            seed,
            ..TumblerSetup::default()
        };
        Fitting {
            tumbler: match self {
                Game::TaiSaiA | Game::SicBoCovered => Some(tumbler(Reader::Honest)),
                Game::SicBoOpen => Some(tumbler(Reader::Open)),
                Game::TaiSaiB | Game::TwoUpDice | Game::TriplePenny => None,
            },
            terminal: match self {
                Game::TaiSaiA | Game::TaiSaiB | Game::SicBoCovered | Game::SicBoOpen => TerminalSetup::default(),
                Game::TwoUpDice | Game::TriplePenny => TerminalSetup::two_up(),
            },
            lamps: match self {
                Game::TaiSaiA | Game::TaiSaiB | Game::SicBoCovered | Game::SicBoOpen => LampsSetup {
                    count: u32::from(LAMPS),
                    ..LampsSetup::default()
                },
                Game::TwoUpDice | Game::TriplePenny => LampsSetup {
                    kind: crate::wire::message::DeviceKind::ResultLights,
                    count: LIGHTS,
                    ..LampsSetup::default()
                },
            },
            lamps_are: match self {
                Game::TaiSaiA | Game::TaiSaiB | Game::SicBoCovered | Game::SicBoOpen => DeviceKind::LayoutLamps,
                Game::TwoUpDice | Game::TriplePenny => DeviceKind::ResultLights,
            },
        }
    }

    pub(super) fn config(self) -> GameConfig {
        let lamp_map = || (0..LAMPS).map(|bit| vec![bit]).collect();
        let tai_sai = |style| {
            GameConfig::TaiSai(TaiSaiConfig {
                style,
                layout: Layout::Appendix1,
                lamp_map: lamp_map(),
                rest: REST,
                settle_after: SETTLE_AFTER,
                cover_settles_after: COVER_SETTLES_AFTER,
                hold_no_spin_after_uncover: true,
                display_fault_locks: false,
                lamp_wait: LAMP_WAIT,
            })
        };
        let sic_bo = |tumbler| {
            GameConfig::SicBo(SicBoConfig {
                tumbler,
                paytable: None,
                policy: HousePolicy::default(),
                lamp_map: lamp_map(),
                rest: REST,
                settle_after: SETTLE_AFTER,
                cover_settles_after: COVER_SETTLES_AFTER,
                hold_no_spin_after_uncover: true,
                lamp_wait: LAMP_WAIT,
            })
        };
        match self {
            Game::TaiSaiA => tai_sai(Style::A),
            Game::TaiSaiB => tai_sai(Style::B),
            Game::SicBoCovered => sic_bo(SicBoTumbler::Covered),
            Game::SicBoOpen => sic_bo(SicBoTumbler::Open),
            Game::TwoUpDice => GameConfig::TwoUpDice(TwoUpDiceConfig {
                first_three: FirstThree::ComesBack,
                mis_keyed: MisKeyed::Correct,
                lamp_wait: LAMP_WAIT,
            }),
            Game::TriplePenny => GameConfig::TriplePenny(TriplePennyConfig {
                display: Display::Lights,
                mis_keyed: MisKeyed::Correct,
                lamp_wait: LAMP_WAIT,
            }),
        }
    }
}

/// Areas of the layout, each with a lamp of its own.
pub(super) const LAMPS: u16 = 50;
/// Lights of two-up.
pub(super) const LIGHTS: u32 = 11;
/// As the configuration has them by default.
const REST: Duration = Duration::from_secs(3);
const SETTLE_AFTER: Duration = Duration::from_secs(3);
const COVER_SETTLES_AFTER: Duration = Duration::from_secs(5);
const LAMP_WAIT: Duration = Duration::from_millis(800);
