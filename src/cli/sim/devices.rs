//! A dealer at the simulated devices of any game, as `sim table` and the demo have them.

use super::game::Game;
use crate::rules::tai_sai::{self, Layout};
use crate::sim::{
    Dealer, Lamps, LampsSetup, Pace, Reader, Setup, Terminal, TerminalSetup, Tumbler, TumblerSetup, TwoUp, TwoUpDealer,
};
use crate::wire::message::DeviceKind;
use std::io;
use std::path::Path;

/// The result lights of two-up: three heads, three tails, five odds.
pub const RESULT_LIGHTS: u32 = 11;

/// A dealer, and what stands in front of him.
#[derive(Debug)]
pub enum AnyDealer {
    /// Of tai-sai, style A.
    TaiSai(Dealer),
    /// Of two-up.
    TwoUp(TwoUpDealer),
}

impl AnyDealer {
    /// Starts the devices of a game in `folder`, healthy; must be called within a runtime.
    ///
    /// # Errors
    /// When a pty or its link can't be made.
    pub fn start(folder: &Path, game: Game, seed: u64, pace: Pace) -> io::Result<AnyDealer> {
        Ok(match game {
            Game::TaiSai { layout } => AnyDealer::TaiSai(tai_sai(folder, layout, seed, pace)?),
            Game::TwoUp(game) => AnyDealer::TwoUp(two_up(folder, game, seed, pace)?),
        })
    }

    /// Keys and readout.
    pub fn terminal(&self) -> &Terminal {
        match self {
            AnyDealer::TaiSai(dealer) => &dealer.terminal,
            AnyDealer::TwoUp(dealer) => &dealer.terminal,
        }
    }

    /// The layout's lamps, or the result lights.
    pub fn lamps(&self) -> &Lamps {
        match self {
            AnyDealer::TaiSai(dealer) => &dealer.lamps,
            AnyDealer::TwoUp(dealer) => &dealer.lights,
        }
    }

    /// The tumbler, where there is one.
    pub fn tumbler(&self) -> Option<&Tumbler> {
        match self {
            AnyDealer::TaiSai(dealer) => Some(&dealer.tumbler),
            AnyDealer::TwoUp(_) => None,
        }
    }

    /// How he goes about it.
    pub fn pace(&self) -> Pace {
        match self {
            AnyDealer::TaiSai(dealer) => dealer.pace,
            AnyDealer::TwoUp(dealer) => dealer.pace,
        }
    }

    /// The devices by their sections, which are their links' names too.
    pub fn names(&self) -> &'static [&'static str] {
        match self {
            AnyDealer::TaiSai(_) => &["tumbler", "terminal", "lamps"],
            AnyDealer::TwoUp(_) => &["terminal", "lights"],
        }
    }

    /// The `[devices.*]` sections of a configuration that finds them in `folder`.
    pub fn sections(&self, folder: &Path) -> String {
        let section = |device: &&str| format!("[devices.{device}]\nport = \"{}\"\n", folder.join(device).display());
        self.names().iter().map(section).collect()
    }
}

fn tai_sai(folder: &Path, layout: Layout, seed: u64, pace: Pace) -> io::Result<Dealer> {
    let setup = |name: &str, serial: &str| Setup::new(folder.join(name), serial, seed);
    let count = u32::try_from(tai_sai::areas(layout).len()).unwrap_or(u32::MAX);
    // Most tumblers have no reader; the numbers are what the dealer keys.
    let tumbler = TumblerSetup {
        reader: Reader::None,
        ..TumblerSetup::default()
    };
    Ok(Dealer {
        tumbler: Tumbler::start(setup("tumbler", "DT3-0042"), tumbler)?,
        terminal: Terminal::start(setup("terminal", "ET-0107"), TerminalSetup::default())?,
        lamps: Lamps::start(
            setup("lamps", "LL-0310"),
            LampsSetup {
                count,
                ..LampsSetup::default()
            },
        )?,
        pace,
    })
}

fn two_up(folder: &Path, game: TwoUp, seed: u64, pace: Pace) -> io::Result<TwoUpDealer> {
    let setup = |name: &str, serial: &str| Setup::new(folder.join(name), serial, seed);
    let terminal = Terminal::start(setup("terminal", "ET-0214"), TerminalSetup::two_up())?;
    let lights = Lamps::start(
        setup("lights", "RL-0031"),
        LampsSetup {
            kind: DeviceKind::ResultLights,
            count: RESULT_LIGHTS,
            ..LampsSetup::default()
        },
    )?;
    Ok(TwoUpDealer::new(game, terminal, lights, pace))
}
