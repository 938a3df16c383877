//! `tablegate sim table`: a table's simulated devices on ptys, and a dealer who plays on them, for a gateway that runs elsewhere.

use super::devices::AnyDealer;
use super::game::{Game, GameArgs};
use super::links::Links;
use crate::cli::ending::{Failure, print};
use crate::counted::counted;
use crate::rules::{sic_bo, tai_sai};
use crate::sim::{Chance, Incident, Pace, People, Played, Stuck, Terminal, TerminalView, TwoUpDealer};
use crate::wire::message::Cover;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// How long the dealer waits for something that should happen in a round, before he gives the round up.
const PATIENCE: Duration = Duration::from_secs(8);

/// Games of two-up in which nothing goes wrong, between two in which something does.
const QUIET_GAMES: u32 = 3;

/// A game's devices on ptys (of tai-sai and sic-bo tumbler, terminal and lamps, without a tumbler where there is a dice cup; of two-up
/// terminal and lights), and a dealer who plays on them.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  mkdir /tmp/TS-07 && tablegate sim table --links /tmp/TS-07 --rounds 10
  mkdir /tmp/TS-08 && tablegate sim table --links /tmp/TS-08 --style B
  mkdir /tmp/SB-02 && tablegate sim table --links /tmp/SB-02 --game sic-bo --tumbler open
  mkdir /tmp/TU-01 && tablegate sim table --links /tmp/TU-01 --game two-up-dice

Run a gateway with the ports that it prints, open the table, and the dealer plays. --rounds 0 gives the devices alone.")]
pub struct Table {
    /// The folder in which the devices appear, symlinks to ptys named as their sections: `terminal`, `lights` ...
    #[arg(long, value_name = "DIR")]
    links: PathBuf,
    /// Stop after this many rounds; without it, play until Ctrl-C. 0: nobody plays; the devices stand there until Ctrl-C.
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    #[command(flatten)]
    game: GameArgs,
    /// For dice and coins: the same seed, the same rounds.
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

/// Runs it until the rounds are played, or a signal.
///
/// # Errors
/// When the folder is another table's, a device can't be started, or the dealer gets stuck in a round.
pub fn run(args: &Table) -> Result<(), Failure> {
    let game = args.game.game()?;
    let links = Links::take(&args.links)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let pace = Pace {
            before_act: Duration::from_millis(args.pause),
            patience: PATIENCE,
            settle_after: Duration::from_millis(args.settle),
        };
        let dealer = AnyDealer::start(&links.folder, game, args.seed, pace)
            .map_err(|error| Failure::failed(format!("{}: {error}", args.links.display())))?;
        if !args.json {
            print(&dealer.sections(&links.folder))?;
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

async fn play(args: &Table, dealer: &AnyDealer) -> Result<(), Failure> {
    if args.rounds == Some(0) {
        return std::future::pending().await;
    }
    match dealer {
        AnyDealer::TaiSai(_) | AnyDealer::Cup(_) => play_dice(args, dealer).await,
        AnyDealer::TwoUp(dealer) => play_two_up(args, dealer).await,
    }
}

/// A round of whatever dice game.
async fn round_of_dice(dealer: &AnyDealer, faces: [u8; 3]) -> Result<Played, Stuck> {
    match dealer {
        AnyDealer::TaiSai(dealer) => {
            let played = dealer.play(faces).await;
            if played.is_err() {
                dealer.tumbler.cover(Cover::On).await;
            }
            played
        }
        AnyDealer::Cup(dealer) => dealer.play(faces).await,
        AnyDealer::TwoUp(_) => Err(Stuck::Unlawful {
            text: "two-up is played by another dealer".to_owned(),
        }),
    }
}

async fn play_dice(args: &Table, dealer: &AnyDealer) -> Result<(), Failure> {
    let call = match args.game.game()? {
        Game::SicBo(_) => sic_bo::call,
        Game::TaiSai { .. } | Game::TwoUp(_) => tai_sai::call,
    };
    let mut chance = Chance::new(args.seed);
    let mut round = 0u32;
    while args.rounds.is_none_or(|rounds| round < rounds) {
        wait_until_open(args, dealer.terminal()).await?;
        let faces = [(); 3].map(|()| chance.face());
        // A round that a supervisor ends, a lock or a closed table is no reason to go home: the next one is played when it can be.
        let played = match round_of_dice(dealer, faces).await {
            Ok(played) => played,
            Err(stuck) => {
                tell(args, &format!("the dealer gives this round up: {stuck}"))?;
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
                "round {round}: {}, {} lit {ms} ms after ENTER\n",
                call(faces),
                counted(played.lit.len(), "lamp")
            )
        })?;
    }
    Ok(())
}

async fn play_two_up(args: &Table, dealer: &TwoUpDealer) -> Result<(), Failure> {
    let incidents = Incident::of(dealer.game());
    let mut people = People::new(dealer, args.seed, None);
    let mut round = 0u32;
    while args.rounds.is_none_or(|rounds| round < rounds) {
        wait_until_it_plays(args, &dealer.terminal).await?;
        let turn = usize::try_from(round / (QUIET_GAMES + 1)).unwrap_or(0);
        let incident = match round % (QUIET_GAMES + 1) {
            QUIET_GAMES => incidents.get(turn % incidents.len()).copied().unwrap_or(Incident::None),
            _ => Incident::None,
        };
        let played = match people.game(incident).await {
            Ok(played) => played,
            Err(stuck) => {
                tell(args, &format!("the dealer gives this game up: {stuck}"))?;
                wait_until_it_plays(args, &dealer.terminal).await?;
                if let Err(stuck) = people.find_the_beginning().await {
                    tell(args, &format!("the dealer looks on: {stuck}"))?;
                }
                continue;
            }
        };
        round = round.saturating_add(1);
        let spun: Vec<&str> = played.spun.iter().map(|outcome| outcome.words()).collect();
        print(&if args.json {
            let lit: Vec<u32> = played.lit.iter().copied().collect();
            let (invalid, refused) = (played.invalid, &played.refused);
            format!(
                "{}\n",
                serde_json::json!({ "round": round, "spun": spun, "invalid": invalid, "refused": refused, "lit": lit })
            )
        } else {
            let invalid = match played.invalid {
                0 => String::new(),
                invalid => format!(", {invalid} invalid"),
            };
            format!(
                "game {round}: {}{invalid}, {} lit\n",
                spun.join(", "),
                counted(played.lit.len(), "light")
            )
        })?;
    }
    Ok(())
}

/// The readout of a table that takes no round says so (CLO, TST, LOC, a device away); one that does shows the keys.
async fn wait_until_open(args: &Table, terminal: &Terminal) -> Result<(), Failure> {
    wait_until(args, terminal, |view| view.entry != 0 && view.readout.is_empty()).await
}

/// The same at a two-up table, which plays on when its lights are away: its readout tells of them by a code.
async fn wait_until_it_plays(args: &Table, terminal: &Terminal) -> Result<(), Failure> {
    let plays = |readout: &str| readout.is_empty() || readout.starts_with('E');
    wait_until(args, terminal, |view| view.entry != 0 && plays(&view.readout)).await
}

async fn wait_until(args: &Table, terminal: &Terminal, is_open: impl Fn(&TerminalView) -> bool) -> Result<(), Failure> {
    let mut terminal = terminal.watch();
    if is_open(&terminal.borrow_and_update()) {
        return Ok(());
    }
    tell(args, "the dealer waits for the table to be open")?;
    let opened = terminal.wait_for(|view| is_open(view)).await.map(|_view| ());
    opened.map_err(|_gone| Failure::failed("the simulated terminal has ended"))
}

fn tell(args: &Table, text: &str) -> Result<(), Failure> {
    print(&if args.json {
        format!("{}\n", serde_json::json!({ "note": text }))
    } else {
        format!("{text}\n")
    })
}
