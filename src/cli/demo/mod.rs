//! `tablegate demo`: a whole table on any PC. An embedded broker, simulated tumbler, terminal and lamps on ptys, the gateway with
//! a real journal in a temporary folder, a dealer who makes mistakes, and the floor's side following along.

mod crew;
mod dice;
mod floor;
mod screen;
mod script;
mod table;
mod tally;
mod two_up;

use super::ending::Failure;
use super::sim::devices::AnyDealer;
use super::sim::game::{Game, GameArgs};
use crate::counted::counted;
use crate::sim::{Chance, broker};
use clap::Args;
use crew::Crew;
use floor::{Follower, Heard};
use screen::{Beside, Screen};
use script::Script;
use std::collections::BTreeSet;
use std::pin::Pin;
use std::time::Duration;
use table::DemoTable;
use tally::Tally;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// Words of the dealer that wait to be shown.
const MAX_WAITING: usize = 64;

/// How long the dealer's next words wait for what the floor hears of the act before.
const FLOOR_HEARS_WITHIN: Duration = Duration::from_millis(300);

/// How long the floor may take for the last events after the table has stopped.
const LAST_EVENTS_WITHIN: Duration = Duration::from_secs(10);

/// Arguments of `demo`.
#[derive(Args, Debug)]
pub struct Demo {
    /// Stop after this many rounds; without it, play until Ctrl-C. 0: nobody plays; the table stands open until Ctrl-C.
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    /// Play this many times as fast (0.1 to 20). The law's three seconds at rest shrink to half a second at most.
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = speed)]
    speed: f64,
    /// Print the summary alone.
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    game: GameArgs,
    /// Where the dice come from: the same number, the same rounds.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

fn speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if (0.1..=20.0).contains(&speed) => Ok(speed),
        _ => Err("a number from 0.1 to 20".to_owned()),
    }
}

/// Runs it.
///
/// # Errors
/// When the table can't be set up, the dealer gets stuck, or the floor's copy of the events doesn't hold.
pub fn run(args: &Demo) -> Result<(), Failure> {
    let game = args.game.game()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(play(args, game));
    // The broker's and the follower's tasks have nothing left to finish.
    runtime.shutdown_timeout(Duration::from_millis(100));
    outcome
}

async fn play(args: &Demo, game: Game) -> Result<(), Failure> {
    // Listening from the start: a signal that comes while something else is looked at must not be missed.
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    // The terminal's window is closed, or the line to it is gone: everything is still put away.
    let mut hang_up = signal(SignalKind::hangup())?;
    let mut resize = signal(SignalKind::window_change())?;
    let broker =
        broker::start().map_err(|error| Failure::failed(format!("the demo's broker didn't start: {error}")))?;
    let mut table = DemoTable::set_up(game, broker.port(), args.speed, args.seed)?;
    let mut follower = Follower::start(broker.port(), &table.prefix()).await?;
    let mut screen = (!args.quiet).then(|| Screen::new(game));
    if let Some(screen) = &mut screen {
        screen.begin();
        for line in welcome(&table, broker.port()) {
            screen.line(&line);
        }
    }
    if let Err(failure) = table.start().await {
        return Err(table.explained(failure).await);
    }

    let (say, mut said) = mpsc::channel(MAX_WAITING);
    let dealer = table.dealer();
    let crew = Crew {
        supervisor: table.supervisor(),
        speed: args.speed,
        chance: Chance::new(args.seed),
        say,
    };
    let mut tally = Tally::default();
    let mut playing: Pin<Box<dyn Future<Output = Result<(), Failure>>>> = match (&*dealer, game) {
        (AnyDealer::TaiSai(dealer), Game::TaiSai { .. }) => {
            let script = Script::new(dealer, crew);
            Box::pin(script.play(args.rounds))
        }
        (AnyDealer::TaiSai(_) | AnyDealer::Cup(_), _) => {
            let script = dice::Script::new(&dealer, game, crew);
            let script = script.ok_or_else(|| Failure::failed("this game has another dealer"))?;
            Box::pin(script.play(args.rounds))
        }
        (AnyDealer::TwoUp(dealer), _) => Box::pin(two_up::play(dealer, args.rounds, args.seed, crew)),
    };
    let mut changed = table.changes();
    let mut phase = String::new();
    let outcome = loop {
        tokio::select! {
            biased;
            _ = interrupt.recv() => break Ok(()),
            _ = terminate.recv() => break Ok(()),
            _ = hang_up.recv() => break Ok(()),
            Some(()) = resize.recv() => if let Some(screen) = &mut screen {
                screen.resized();
            },
            Some(heard) = follower.next() => hear(&heard, &mut tally, &mut phase, screen.as_mut())?,
            Some(words) = said.recv() => {
                for heard in follower.what_came(FLOOR_HEARS_WITHIN).await {
                    hear(&heard, &mut tally, &mut phase, screen.as_mut())?;
                }
                if let Some(screen) = &mut screen {
                    screen.line(&format!("       {words}"));
                }
            },
            () = changed.next() => {}
            ended = &mut playing => break match ended {
                Ok(()) => Ok(()),
                Err(failure) => Err(table.explained(failure).await),
            },
        }
        if let Some(screen) = &mut screen {
            screen.show(beside(&table, &follower, &phase));
        }
    };
    drop(playing);
    // A table that stops before it has reached its broker keeps its events for the next start; the demo has none.
    if follower.received() == 0
        && let Ok(Some(heard)) = tokio::time::timeout(LAST_EVENTS_WITHIN, follower.next()).await
    {
        hear(&heard, &mut tally, &mut phase, screen.as_mut())?;
    }
    // The summary counts what the floor has, so the table stops first and the floor hears everything.
    let journal = table.stop().await?;
    while let Some(heard) = follower.next_until(journal.head, LAST_EVENTS_WITHIN).await {
        hear(&heard, &mut tally, &mut phase, screen.as_mut())?;
    }
    if let Some(mut screen) = screen.take() {
        screen.end();
    }
    outcome?;
    summary(game, &tally, &journal, &follower)
}

fn hear(heard: &Heard, tally: &mut Tally, phase: &mut String, screen: Option<&mut Screen>) -> Result<(), Failure> {
    match heard {
        Heard::Event { event, line } => {
            tally.count(event);
            if let Some(screen) = screen {
                screen.line(line);
            }
        }
        Heard::Phase(now) => phase.clone_from(now),
        Heard::Alarm(text) => {
            return Err(Failure::failed(format!(
                "the floor's copy of the events doesn't hold: {text}"
            )));
        }
    }
    Ok(())
}

fn welcome(table: &DemoTable, port: u16) -> Vec<String> {
    let socket = table.supervisor_socket();
    vec![
        format!(
            "A table of {}: the dealer's acts are indented, each numbered line is an event as the casino's floor system receives it.",
            table.game().words()
        ),
        format!(
            "Watch it with any MQTT 5 client:  mosquitto_sub -V 5 -p {port} -t '{}/#' -F '%t %l bytes'",
            table.prefix()
        ),
        format!(
            "or decoded:                       tablegate floor watch --broker mqtt://127.0.0.1:{port} --site demo --table {}",
            table.id()
        ),
        format!(
            "Look at the table:                tablegate status --socket {}",
            socket.display()
        ),
        "Ctrl-C ends it.".to_owned(),
        String::new(),
    ]
}

fn beside(table: &DemoTable, follower: &Follower, phase: &str) -> Beside {
    let seen = table.seen();
    let readout = if seen.readout.is_empty() {
        "---".to_owned()
    } else {
        seen.readout
    };
    let mut words = vec![
        format!("tablegate demo, {}", table.id()),
        phase.to_owned(),
        String::new(),
        format!("readout   [{readout:<3}]"),
    ];
    if let Some(tumbler) = seen.tumbler {
        let cover = if tumbler.covered { "on" } else { "off" };
        words.push(format!("cover     {cover}"));
        let tumbler = if tumbler.inhibited { "locked" } else { "free" };
        words.push(format!("tumbler   {tumbler}"));
    }
    words.push(String::new());
    words.push(follower.in_words());
    Beside {
        words,
        lit: seen.lit.into_iter().collect::<BTreeSet<_>>(),
    }
}

fn summary(game: Game, tally: &Tally, journal: &table::JournalEnd, follower: &Follower) -> Result<(), Failure> {
    let mut text = format!("{}\n", tally.in_words(game));
    text.push_str(&format!(
        "{} journalled, {} received by the floor in order; chain verified on both sides: {}.\n",
        counted(journal.head, "event"),
        follower.received(),
        if journal.verified && follower.is_whole(journal.head) {
            "yes"
        } else {
            "NO"
        },
    ));
    super::ending::print(&text)?;
    if journal.verified && follower.is_whole(journal.head) {
        Ok(())
    } else {
        Err(Failure::failed(format!(
            "the chain doesn't hold: {}; floor: {}",
            journal.text,
            follower.in_words()
        )))
    }
}
