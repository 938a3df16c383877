//! `tablegate sim table`: a table's three simulated devices on ptys, and a dealer who plays on them, for a gateway that runs elsewhere.

use crate::cli::ending::{Failure, print};
use crate::rules::tai_sai::{self, Layout};
use crate::sim::{
    Chance, Dealer, Lamps, LampsSetup, Pace, Reader, Setup, Terminal, TerminalSetup, TerminalView, Tumbler,
    TumblerSetup,
};
use crate::wire::message::Cover;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// How long the dealer waits for something that should happen in a round, before he gives the round up.
const PATIENCE: Duration = Duration::from_secs(8);

/// Tumbler, terminal and lamps of a tai-sai table on ptys; with a dealer who plays rounds on them.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  mkdir /tmp/TS-07 && tablegate sim table --links /tmp/TS-07 --rounds 10

Run a gateway with the ports that it prints, open the table, and the dealer plays. --rounds 0 gives the devices alone.")]
pub struct Table {
    /// The folder in which `tumbler`, `terminal` and `lamps` appear, symlinks to ptys.
    #[arg(long, value_name = "DIR")]
    links: PathBuf,
    /// End after so many rounds; 0: the devices alone, until Ctrl-C. Without it the dealer plays until Ctrl-C.
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    /// Which layout the lamps are of.
    #[arg(long, value_enum, default_value_t = LayoutName::Appendix1)]
    layout: LayoutName,
    /// For dice: the same seed, the same rounds.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The dealer's pause before each act, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 500)]
    pause: u64,
    /// From the accepted entry to the settlement press, in milliseconds: the table's settle_after_ms and a little more.
    #[arg(long, value_name = "MS", default_value_t = 3_200)]
    settle: u64,
    /// One JSON object a round.
    #[arg(long)]
    json: bool,
}

/// The layouts by their configuration names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum LayoutName {
    /// 50 areas.
    #[value(name = "appendix-1")]
    Appendix1,
    /// 106 areas.
    #[value(name = "appendix-2")]
    Appendix2,
}

impl From<LayoutName> for Layout {
    fn from(name: LayoutName) -> Layout {
        match name {
            LayoutName::Appendix1 => Layout::Appendix1,
            LayoutName::Appendix2 => Layout::Appendix2,
        }
    }
}

/// Starts a tai-sai table's devices in `folder`, healthy, with lamps for `layout`; must be called within a runtime.
///
/// # Errors
/// When a pty or its link can't be made.
pub fn devices(folder: &Path, layout: Layout, seed: u64, pace: Pace) -> std::io::Result<Dealer> {
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

/// Runs it until the rounds are played, or a signal.
///
/// # Errors
/// When a device can't be started, or the dealer gets stuck in a round.
pub fn run(args: &Table) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let pace = Pace {
            before_act: Duration::from_millis(args.pause),
            patience: PATIENCE,
            settle_after: Duration::from_millis(args.settle),
        };
        // From the root: a configuration takes no other names.
        let started = args.links.canonicalize().and_then(|links| {
            let dealer = devices(&links, args.layout.into(), args.seed, pace)?;
            Ok((links, dealer))
        });
        let (links, dealer) = started.map_err(|error| {
            Failure::failed(format!(
                "{}: {error}: --links must name a folder that exists",
                args.links.display()
            ))
        })?;
        if !args.json {
            print(&configuration(&links))?;
        }
        let mut interrupted = signal(SignalKind::interrupt())?;
        let mut terminated = signal(SignalKind::terminate())?;
        tokio::select! {
            played = play(args, &dealer) => played,
            _ = interrupted.recv() => Ok(()),
            _ = terminated.recv() => Ok(()),
        }
    })
}

fn configuration(links: &Path) -> String {
    let section = |device: &str| format!("[devices.{device}]\nport = \"{}\"\n", links.join(device).display());
    format!("{}{}{}", section("tumbler"), section("terminal"), section("lamps"))
}

async fn play(args: &Table, dealer: &Dealer) -> Result<(), Failure> {
    if args.rounds == Some(0) {
        return std::future::pending().await;
    }
    let mut chance = Chance::new(args.seed);
    let mut round = 0u32;
    while args.rounds.is_none_or(|rounds| round < rounds) {
        wait_until_open(args, dealer).await?;
        let faces = [(); 3].map(|()| chance.face());
        // A round that a supervisor ends, a lock or a closed table is no reason to go home: the next one is played when it can be.
        let played = match dealer.play(faces).await {
            Ok(played) => played,
            Err(stuck) => {
                tell(args, &format!("the dealer gives this round up: {stuck}"))?;
                dealer.tumbler.cover(Cover::On).await;
                continue;
            }
        };
        round = round.saturating_add(1);
        let ms = played.entry_to_lamps.as_millis();
        print(&if args.json {
            let lit: Vec<u32> = played.lit.iter().copied().collect();
            format!(
                "{}\n",
                serde_json::json!({ "round": round, "faces": faces, "lit": lit, "entry_to_lamps_ms": ms })
            )
        } else {
            format!(
                "round {round}: {}, {} lamps lit {ms} ms after ENTER\n",
                tai_sai::call(faces),
                played.lit.len()
            )
        })?;
    }
    Ok(())
}

/// The readout of a table that takes no round says so (CLO, TST, LOC, a device away); one that does shows the keys.
async fn wait_until_open(args: &Table, dealer: &Dealer) -> Result<(), Failure> {
    let mut terminal = dealer.terminal.watch();
    let is_open = |view: &TerminalView| view.entry != 0 && view.readout.is_empty();
    if is_open(&terminal.borrow_and_update()) {
        return Ok(());
    }
    tell(args, "the dealer waits for the table to be open")?;
    let opened = terminal.wait_for(is_open).await.map(|_view| ());
    opened.map_err(|_gone| Failure::failed("the simulated terminal has ended"))
}

fn tell(args: &Table, text: &str) -> Result<(), Failure> {
    print(&if args.json {
        format!("{}\n", serde_json::json!({ "note": text }))
    } else {
        format!("{text}\n")
    })
}
