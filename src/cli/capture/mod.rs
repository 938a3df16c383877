//! `tablegate capture`: what goes over the devices' lines, to a file that Wireshark opens. Asks the daemon, which holds the ports, and
//! opens none.
//!
//! What the daemon may not show (dice under the cover) it doesn't give: the file says that something was withheld, how long it was and
//! when. What was lost because this command was too slow is said in the file and on the screen.

pub mod pcapng;
mod writing;

use super::daemon::{Reach, block_on, unexpected, unreachable};
use super::ending::{Failure, print_json};
use super::new_file::{Existing, NewFile, Readers, unwritten};
use crate::control::Request;
use crate::control::client::{Client, ClientError};
use crate::counted::counted;
use crate::device::{Kind, LinkReport};
use crate::gateway::{Captured, Since, View};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::Instant;
pub use writing::{NOTE, WITHHELD};
use writing::{Tally, Writing};

/// What goes over the devices' lines, both ways, to a file that Wireshark opens (pcapng). The daemon plays on.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tablegate capture terminal --output terminal.pcapng
  tablegate capture --recent --output what-happened.pcapng
  tablegate capture tumbler lamps --output spin.pcapng --for 30s
  wireshark -X lua_script:/usr/share/doc/tablegate/wireshark/tablegate.lua terminal.pcapng

The daemon keeps the last 256 KiB of each line in memory: --recent writes those, an hour or more of a quiet table, and ends. Without it, \
the file begins now, and ends with Ctrl-C, --for or --frames. No frame that came whole, and nothing of a tumbler's \
line, shows dice under the cover; a damaged frame of a connected terminal, lamps or lights is there as it came, whatever it holds. What is \
withheld is there with its time and length only. `tablegate replay FILE` tells a file in words.")]
pub struct Capture {
    /// Only these lines; without any, all.
    #[arg(value_name = "DEVICE", value_enum)]
    devices: Vec<Device>,
    /// The file to write, for its owner alone. It appears when the capture ends.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// What the daemon still has in memory, and nothing after.
    #[arg(long, conflicts_with_all = ["duration", "frames"])]
    recent: bool,
    /// End after this time: 10s, 5m, 1h.
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    duration: Option<Duration>,
    /// End after so many frames.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    frames: Option<u64>,
    /// Replace the file if there is one, once the new one is whole.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    reach: Reach,
    /// Print JSON: what was captured.
    #[arg(long)]
    json: bool,
}

/// The devices, by the words of the configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Device {
    Tumbler,
    Terminal,
    Lamps,
    Lights,
}

impl From<Device> for Kind {
    fn from(device: Device) -> Kind {
        match device {
            Device::Tumbler => Kind::Tumbler,
            Device::Terminal => Kind::Terminal,
            Device::Lamps => Kind::Lamps,
            Device::Lights => Kind::Lights,
        }
    }
}

/// A time as people write it.
fn duration(written: &str) -> Result<Duration, String> {
    let wrong = || "a time is a number and s, m or h: 10s, 5m, 1h".to_owned();
    let unit_at = written.find(|c: char| !c.is_ascii_digit()).unwrap_or(written.len());
    let (number, unit) = written.split_at(unit_at);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let seconds = match unit {
        "s" => number,
        "m" => number.saturating_mul(60),
        "h" => number.saturating_mul(3600),
        _ => return Err(wrong()),
    };
    // A month is more than any disk or fault wants.
    match seconds {
        1..=2_678_400 => Ok(Duration::from_secs(seconds)),
        _ => Err("a time is 1s to 744h".to_owned()),
    }
}

/// The file is told how it goes on the screen this often.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// Runs it.
///
/// # Errors
/// When no daemon can be asked, the device isn't of this table, or the file is there already or can't be written.
pub fn run(args: &Capture) -> Result<(), Failure> {
    let socket = args.reach.look_socket()?;
    let ended = block_on(async {
        let mut client = Client::connect(&socket).await.map_err(unreachable)?;
        let view = client.ask(&Request::Look {}).await.map_err(unreachable)?;
        let view = view.view().map_err(|other| unexpected(&other))?;
        let links = chosen(args, &view)?;
        let file = NewFile::begin(&args.output, existing(args), Readers::Owner)?;
        let mut writing =
            Writing::begin(BufWriter::new(file), &view, &links).map_err(|error| unwritten(&args.output, &error))?;
        let end = watch(args, &mut client, &links, &mut writing).await?;
        let ended = writing.end().and_then(|(file, tally)| {
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            Ok((file, tally))
        });
        let (file, tally) = ended.map_err(|error| unwritten(&args.output, &error))?;
        file.keep()?;
        Ok((end, tally))
    });
    let (end, tally) = ended?;
    told(args, &end, &tally)
}

/// What the daemon has in memory of every line.
///
/// # Errors
/// When it can't be asked.
pub async fn kept(reach: &Reach, view: &View) -> Result<Captured, Failure> {
    let mut client = Client::connect(&reach.look_socket()?).await.map_err(unreachable)?;
    let request = Request::WatchLines {
        devices: view.links.iter().map(|link| link.kind).collect(),
        since: Since::Kept,
    };
    let mut kept = Captured::default();
    let mut answer = client.ask(&request).await;
    loop {
        let captured = answer.map_err(unreachable)?.lines();
        let captured = captured.map_err(|other| unexpected(&other))?;
        let more = captured.more;
        kept.append(captured);
        if !more {
            return Ok(kept);
        }
        answer = client.next().await;
    }
}

/// The same as a file.
///
/// # Errors
/// Memory has none.
pub fn written(view: &View, captured: &Captured) -> io::Result<Vec<u8>> {
    let mut writing = Writing::begin(Vec::new(), view, &view.links)?;
    writing.missed(captured)?;
    for entry in &captured.entries {
        writing.entry(captured.began_unix_us, entry)?;
    }
    writing.end().map(|(bytes, _)| bytes)
}

/// The links that are asked for.
fn chosen(args: &Capture, view: &View) -> Result<Vec<LinkReport>, Failure> {
    let wanted: Vec<Kind> = args.devices.iter().copied().map(Kind::from).collect();
    let has = |kind: &Kind| view.links.iter().any(|link| link.kind == *kind);
    if let Some(absent) = wanted.iter().find(|kind| !has(kind)) {
        let fitted: Vec<_> = view.links.iter().map(|link| link.kind.word()).collect();
        return Err(Failure::usage(format!(
            "this table has no {}: its devices are {}",
            absent.word(),
            fitted.join(", ")
        )));
    }
    let is_wanted = |link: &&LinkReport| wanted.is_empty() || wanted.contains(&link.kind);
    Ok(view.links.iter().filter(is_wanted).cloned().collect())
}

fn existing(args: &Capture) -> Existing {
    if args.force { Existing::Replaced } else { Existing::Kept }
}

/// Why a capture ended.
#[derive(Clone, PartialEq, Eq, Debug)]
enum End {
    /// As it was asked for.
    AsAsked,
    /// The daemon is gone: what it said until then is in the file.
    DaemonGone(String),
}

async fn watch(
    args: &Capture,
    client: &mut Client,
    links: &[LinkReport],
    writing: &mut Writing<impl Write>,
) -> Result<End, Failure> {
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    let until = args.duration.map(|duration| Instant::now() + duration);
    let request = Request::WatchLines {
        devices: links.iter().map(|link| link.kind).collect(),
        since: if args.recent { Since::Kept } else { Since::Now },
    };
    let mut screen = Screen::new(args);
    let mut recent = Captured::default();
    let mut answer = client.ask(&request).await;
    loop {
        let captured = match answer {
            Ok(answer) => answer.lines().map_err(|other| unexpected(&other))?,
            Err(error) if writing.has_begun() => return Ok(End::DaemonGone(gone(&error))),
            Err(error) => return Err(unreachable(error)),
        };
        let unwritten = |error: io::Error| unwritten(&args.output, &error);
        if args.recent && captured.more {
            // Answers take as many of each line: they are in order when they are together.
            recent.append(captured);
            answer = client.next().await;
            continue;
        }
        recent.append(captured);
        take(args, writing, &std::mem::take(&mut recent)).map_err(unwritten)?;
        screen.show(writing.tally());
        let is_full = args.frames.is_some_and(|frames| writing.tally().frames() >= frames);
        if is_full || args.recent {
            return Ok(End::AsAsked);
        }
        writing.flush().map_err(unwritten)?;
        answer = tokio::select! {
            answer = client.next() => answer,
            _ = interrupted.recv() => return Ok(End::AsAsked),
            _ = terminated.recv() => return Ok(End::AsAsked),
            () = sleep_until(until) => return Ok(End::AsAsked),
        };
    }
}

fn take(args: &Capture, writing: &mut Writing<impl Write>, captured: &Captured) -> io::Result<()> {
    writing.missed(captured)?;
    for entry in &captured.entries {
        if args.frames.is_some_and(|frames| writing.tally().frames() >= frames) {
            break;
        }
        writing.entry(captured.began_unix_us, entry)?;
    }
    Ok(())
}

async fn sleep_until(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}

fn gone(error: &ClientError) -> String {
    format!("the capture ends here: {error}")
}

/// How it goes, on standard error: a line that is written anew on a terminal, one at the beginning elsewhere.
struct Screen {
    told: Instant,
    style: Style,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Terminal,
    Plain,
}

impl Screen {
    fn new(args: &Capture) -> Screen {
        let style = if io::stderr().is_terminal() {
            Style::Terminal
        } else {
            Style::Plain
        };
        if !args.recent {
            let until = match (args.duration, args.frames) {
                (None, None) => "until Ctrl-C".to_owned(),
                (Some(duration), None) => format!("for {} s", duration.as_secs()),
                (None, Some(frames)) => format!("until {}", counted(frames, "frame")),
                (Some(duration), Some(frames)) => {
                    format!("for {} s or until {}", duration.as_secs(), counted(frames, "frame"))
                }
            };
            eprintln!("capturing to {} {until}", args.output.display());
        }
        Screen {
            told: Instant::now(),
            style,
        }
    }

    fn show(&mut self, tally: &Tally) {
        if self.style == Style::Terminal && self.told.elapsed() >= TELL_EVERY {
            self.told = Instant::now();
            eprint!("\r\x1b[K{}", tally.sentence());
        }
    }
}

/// What was captured, for scripts.
#[derive(Serialize)]
struct Said<'a> {
    file: &'a Path,
    #[serde(flatten)]
    tally: &'a Tally,
    /// The daemon ended before the capture was to end.
    ended_early: Option<&'a str>,
}

fn told(args: &Capture, end: &End, tally: &Tally) -> Result<(), Failure> {
    let ended_early = match end {
        End::AsAsked => None,
        End::DaemonGone(text) => Some(text.as_str()),
    };
    let begin = if io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
    if args.json {
        eprint!("{begin}");
        print_json(&Said {
            file: &args.output,
            tally,
            ended_early,
        })?;
    } else {
        eprintln!("{begin}{}: {}", args.output.display(), tally.sentence());
    }
    match ended_early {
        None => Ok(()),
        Some(text) => Err(Failure::failed(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        for (written, seconds) in [("1s", 1), ("10s", 10), ("5m", 300), ("2h", 7200)] {
            assert_eq!(duration(written), Ok(Duration::from_secs(seconds)));
        }
        for written in [
            "",
            "10",
            "s",
            "0s",
            "-1s",
            "1d",
            "1.5s",
            "745h",
            "99999999999999999999s",
            "10 s",
        ] {
            assert!(duration(written).is_err(), "{written}");
        }
    }
}
