//! `tablegate sim device`: one simulated device on a pty, driven by lines on standard input.

use super::game::GameName;
use super::script::{self, Line, Puppet};
use crate::cli::ending::{Failure, print};
use crate::sim::{Lamps, LampsSetup, Reader, Setup, Terminal, TerminalSetup, Tumbler, TumblerSetup};
use crate::wire::message::DeviceKind;
use clap::{Args, ValueEnum};
use std::io::BufRead;
use std::path::PathBuf;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// Lines that wait to be obeyed; a pipe waits until there is room again.
const MAX_LINES: usize = 16;

/// A simulated device on a pty; lines on standard input say what happens to it.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tablegate sim device terminal --link /tmp/terminal
  tablegate sim device terminal --link /tmp/terminal --game two-up-dice
  tablegate sim device lights --link /tmp/lights
  tablegate sim device tumbler --link /tmp/tumbler --fault \"lost 10\" --fault \"late 150\" --seed 7
  printf 'bell\\nwait 500\\npress 1 3 6\\nenter\\n' | tablegate sim device terminal --link /tmp/terminal

Point `port` of a [devices.*] section at the link. Type `help` for the lines that a device obeys. The device
runs until `quit`, Ctrl-C or a signal; the end of standard input doesn't end it.")]
pub struct Device {
    /// What it is.
    #[arg(value_enum)]
    kind: Kind,
    /// Where its port appears: a symlink to a pty, which moves when the device is unplugged and plugged in again.
    #[arg(long, value_name = "PATH")]
    link: PathBuf,
    /// Its serial number.
    #[arg(long, value_name = "TEXT", value_parser = serial_number)]
    serial: Option<String>,
    /// A line to obey before anything else, such as "lost 10" or "dark 13"; may be given more than once.
    #[arg(long, value_name = "LINE")]
    fault: Vec<String>,
    /// For faults and dice: the same seed, the same course.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The line's speed, by which the device times its retries.
    #[arg(long, default_value_t = 115_200, value_parser = clap::value_parser!(u32).range(300..=4_000_000))]
    baud: u32,
    /// Of a terminal: which game's keys it has. A two-up terminal keeps two keys of an entry, every other three.
    #[arg(long, value_enum, default_value_t = GameName::TaiSai)]
    game: GameName,
    /// How many lamps it drives.
    #[arg(long, default_value_t = 106, value_parser = clap::value_parser!(u32).range(1..=LAMPS_MAX))]
    lamps: u32,
    /// How long one spin takes, in milliseconds.
    #[arg(long, default_value_t = 300, value_name = "MS")]
    spin: u64,
    /// One JSON object a line for each change.
    #[arg(long)]
    json: bool,
}

/// What a lamp driver can have: its picture must fit in one frame.
const LAMPS_MAX: i64 = 1_024;

/// What a device's greeting can carry.
fn serial_number(written: &str) -> Result<String, String> {
    let printable = written.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    if printable && (1..=32).contains(&written.len()) {
        Ok(written.to_owned())
    } else {
        Err("a serial number has 1 to 32 printable ASCII characters".to_owned())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Kind {
    /// Spins dice under a cover.
    Tumbler,
    /// Keys, readout, bell, supervisor key, no-spin button, cabinet door.
    Terminal,
    /// Lamps of the layout.
    Lamps,
    /// The eleven result lights of two-up.
    Lights,
}

/// Runs it until it is told to quit, or a signal.
///
/// # Errors
/// When the pty can't be made, or a `--fault` isn't understood.
pub fn run(args: &Device) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(drive(args))
}

async fn drive(args: &Device) -> Result<(), Failure> {
    let puppet = start(args)?;
    for fault in &args.fault {
        // A fault is a line like any other.
        if let Line::Quit = obey(&puppet, fault).await? {
            return Ok(());
        }
    }
    let mut lines = read_lines();
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    let mut changes = puppet.changes();
    let mut shown = String::new();
    let mut input_open = true;
    if !args.json {
        print(&format!("{} ready\n", args.link.display()))?;
    }
    loop {
        let now = puppet.show(args.json);
        if now != shown {
            print(&format!("{now}\n"))?;
            shown = now;
        }
        tokio::select! {
            _ = interrupted.recv() => return Ok(()),
            _ = terminated.recv() => return Ok(()),
            changed = changes.changed() => {
                if !changed {
                    return Err(Failure::failed("the simulated device has ended"));
                }
            }
            line = lines.recv(), if input_open => match line {
                None => input_open = false,
                Some(line) => match obey(&puppet, &line).await {
                    Ok(Line::Quit) => return Ok(()),
                    Ok(Line::Done) => {}
                    Ok(Line::Help(text)) => print(&text)?,
                    // A person may mistype; a device goes on.
                    Err(failure) => complain(args.json, &failure)?,
                },
            },
        }
    }
}

async fn obey(puppet: &Puppet, line: &str) -> Result<Line, Failure> {
    script::obey(puppet, line)
        .await
        .map_err(|text| Failure::usage(format!("\"{line}\": {text}")))
}

fn complain(json: bool, failure: &Failure) -> Result<(), Failure> {
    if json {
        let error = serde_json::json!({ "error": failure.text });
        return print(&format!("{error}\n"));
    }
    print(&format!("? {}\n", failure.text))
}

fn start(args: &Device) -> Result<Puppet, Failure> {
    let serial = match &args.serial {
        Some(serial) => serial.clone(),
        None => {
            let letters = match args.kind {
                Kind::Tumbler => "TUM",
                Kind::Terminal => "TER",
                Kind::Lamps => "LMP",
                Kind::Lights => "LGT",
            };
            format!("SIM-{letters}-{}", args.seed)
        }
    };
    let setup = Setup {
        baud: args.baud,
        ..Setup::new(&args.link, &serial, args.seed)
    };
    let puppet = match args.kind {
        Kind::Tumbler => Tumbler::start(
            setup,
            TumblerSetup {
                reader: Reader::Honest,
                spin: Duration::from_millis(args.spin),
                seed: args.seed,
                ..TumblerSetup::default()
            },
        )
        .map(Puppet::Tumbler),
        Kind::Terminal => {
            let keys = match args.game {
                GameName::TaiSai | GameName::SicBo => TerminalSetup::default(),
                GameName::TwoUpDice | GameName::TriplePennyTwoUp => TerminalSetup::two_up(),
            };
            Terminal::start(setup, keys).map(Puppet::Terminal)
        }
        Kind::Lamps => Lamps::start(
            setup,
            LampsSetup {
                count: args.lamps,
                ..LampsSetup::default()
            },
        )
        .map(Puppet::Lamps),
        Kind::Lights => Lamps::start(
            setup,
            LampsSetup {
                kind: DeviceKind::ResultLights,
                count: 11,
                ..LampsSetup::default()
            },
        )
        .map(Puppet::Lamps),
    };
    puppet.map_err(|error| Failure::failed(format!("no pty under {}: {error}", args.link.display())))
}

/// Lines of standard input, read beside the runtime: a terminal can't be waited for otherwise.
fn read_lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(MAX_LINES);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
