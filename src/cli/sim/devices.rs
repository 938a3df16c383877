//! A dealer at the simulated devices of any game, as `sim table` and the demo have them.

use super::game::Game;
use crate::rules::sic_bo::{self, machine::Tumbler as SicBoTumbler};
use crate::rules::tai_sai::{self, Style};
use crate::sim::{
    CupDealer, Dealer, Lamps, LampsSetup, Order, Pace, Reader, Setup, Terminal, TerminalSetup, Tumbler, TumblerSetup,
    TwoUp, TwoUpDealer,
};
use crate::wire::message::DeviceKind;
use std::io;
use std::path::Path;

/// The result lights of two-up: three heads, three tails, five odds.
pub const RESULT_LIGHTS: u32 = 11;

/// A dealer, and what stands in front of him.
#[derive(Debug)]
pub enum AnyDealer {
    /// Of tai-sai style A, and of sic-bo.
    TaiSai(Dealer),
    /// Of tai-sai with a dice cup.
    Cup(CupDealer),
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
            Game::TaiSai {
                style: Style::A,
                layout,
            } => AnyDealer::TaiSai(with_tumbler(
                folder,
                tai_sai::areas(layout),
                Order::SpinsFirst,
                seed,
                pace,
            )?),
            Game::TaiSai {
                style: Style::B,
                layout,
            } => AnyDealer::Cup(with_cup(folder, tai_sai::areas(layout), seed, pace)?),
            Game::SicBo(tumbler) => {
                let order = match tumbler {
                    SicBoTumbler::Covered => Order::SpinsFirst,
                    SicBoTumbler::Open => Order::BetsFirst {
                        // A table's rest is as long as its wait for the settlement press, unless it is configured otherwise.
                        rest: pace.settle_after,
                    },
                };
                AnyDealer::TaiSai(with_tumbler(folder, sic_bo::areas(), order, seed, pace)?)
            }
            Game::TwoUp(game) => AnyDealer::TwoUp(two_up(folder, game, seed, pace)?),
        })
    }

    /// Keys and readout.
    pub fn terminal(&self) -> &Terminal {
        match self {
            AnyDealer::TaiSai(dealer) => &dealer.terminal,
            AnyDealer::Cup(dealer) => &dealer.terminal,
            AnyDealer::TwoUp(dealer) => &dealer.terminal,
        }
    }

    /// The layout's lamps, or the result lights.
    pub fn lamps(&self) -> &Lamps {
        match self {
            AnyDealer::TaiSai(dealer) => &dealer.lamps,
            AnyDealer::Cup(dealer) => &dealer.lamps,
            AnyDealer::TwoUp(dealer) => &dealer.lights,
        }
    }

    /// The tumbler, where there is one.
    pub fn tumbler(&self) -> Option<&Tumbler> {
        match self {
            AnyDealer::TaiSai(dealer) => Some(&dealer.tumbler),
            AnyDealer::Cup(_) | AnyDealer::TwoUp(_) => None,
        }
    }

    /// How he goes about it.
    pub fn pace(&self) -> Pace {
        match self {
            AnyDealer::TaiSai(dealer) => dealer.pace,
            AnyDealer::Cup(dealer) => dealer.pace,
            AnyDealer::TwoUp(dealer) => dealer.pace,
        }
    }

    /// The devices by their sections, which are their links' names too.
    pub fn names(&self) -> &'static [&'static str] {
        match self {
            AnyDealer::TaiSai(_) => &["tumbler", "terminal", "lamps"],
            AnyDealer::Cup(_) => &["terminal", "lamps"],
            AnyDealer::TwoUp(_) => &["terminal", "lights"],
        }
    }

    /// The `[devices.*]` sections of a configuration that finds them in `folder`.
    pub fn sections(&self, folder: &Path) -> String {
        let section = |device: &&str| format!("[devices.{device}]\nport = \"{}\"\n", folder.join(device).display());
        self.names().iter().map(section).collect()
    }
}

/// Entry terminal and lamps, as every dice game has them.
fn terminal_and_lamps(folder: &Path, areas: &[&str], seed: u64) -> io::Result<(Terminal, Lamps)> {
    let setup = |name: &str, serial: &str| Setup::new(folder.join(name), serial, seed);
    let count = u32::try_from(areas.len()).unwrap_or(u32::MAX);
    let lamps = LampsSetup {
        count,
        ..LampsSetup::default()
    };
    Ok((
        Terminal::start(setup("terminal", "ET-0107"), TerminalSetup::default())?,
        Lamps::start(setup("lamps", "LL-0310"), lamps)?,
    ))
}

fn with_cup(folder: &Path, areas: &[&str], seed: u64, pace: Pace) -> io::Result<CupDealer> {
    let (terminal, lamps) = terminal_and_lamps(folder, areas, seed)?;
    Ok(CupDealer { terminal, lamps, pace })
}

fn with_tumbler(folder: &Path, areas: &[&str], order: Order, seed: u64, pace: Pace) -> io::Result<Dealer> {
    // Most tumblers have no reader; the numbers are what the dealer keys.
    let tumbler = TumblerSetup {
        reader: Reader::None,
        ..TumblerSetup::default()
    };
    let tumbler = Tumbler::start(Setup::new(folder.join("tumbler"), "DT3-0042", seed), tumbler)?;
    let (terminal, lamps) = terminal_and_lamps(folder, areas, seed)?;
    Ok(Dealer {
        order,
        tumbler,
        terminal,
        lamps,
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
