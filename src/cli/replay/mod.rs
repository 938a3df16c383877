//! `tablegate replay`: a capture in words, and what a fresh table makes of it. Reads the file and, where it is given, a configuration; no
//! daemon is asked, and nothing is decided, written or sent.

mod file;
mod table;
mod words;

use super::capture::pcapng::Direction;
use super::capture::{NOTE, WITHHELD};
use super::daemon::configuration;
use super::describe::{describe, moment};
use super::ending::{Failure, print};
use super::event_json;
use crate::counted::counted;
use crate::device::{Follower, Said};
use crate::table::event::Event;
use crate::table::input::{DeviceKind, Input};
use crate::time::{Timestamp, Uptime};
use crate::wire::frame::{Decoder, Frame, Kind, Noise, Received, Side};
use crate::wire::session::TumblerBuild;
use clap::Args;
use file::{Line, Recorded, Recording};
use prost::Message;
use serde::Serialize;
use serde_json::Value;
use std::error::Error;
use std::path::PathBuf;
use table::Replayed;

/// A capture in words, frame by frame, and what a fresh table makes of it. Decides nothing and writes nothing.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tablegate replay what-happened.pcapng
  tablegate replay what-happened.pcapng --config /etc/tablegate/TS-07.toml

With the table's configuration, a table that begins closed hears what the devices said, is opened as soon as they are there, and says what \
it decides, refusals with their codes. What people did at the control socket is in no capture, so it may decide otherwise than the table \
of then; the journal says what that one did (`tablegate events list`). No daemon is needed or asked.")]
pub struct Replay {
    /// A file of `tablegate capture`, or one that Wireshark saved of it.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The configuration of the table, for what it would decide.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Show signs of life too: ACK, PING and PONG.
    #[arg(long)]
    all: bool,
    /// Print JSON: one object a packet.
    #[arg(long)]
    json: bool,
}

/// A packet, as it is told.
#[derive(Serialize, Debug)]
struct Told {
    packet: u64,
    at: String,
    line: String,
    /// "device", "gateway", "none".
    from: &'static str,
    /// "data", "hello" ...; nothing for what is no frame.
    kind: Option<&'static str>,
    sequence: Option<u8>,
    length: u32,
    said: String,
    /// What the table decided after it, oldest first.
    events: Vec<Value>,
    #[serde(skip)]
    decided: Vec<String>,
    #[serde(skip)]
    weight: Weight,
}

/// Whether a person wants to see a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Weight {
    /// A sign of life.
    Quiet,
    /// Anything else.
    Shown,
}

/// What was counted.
#[derive(Default, Debug)]
struct Sum {
    packets: u64,
    quiet: u64,
    damaged: u64,
    withheld: u64,
    events: usize,
}

/// Runs it.
///
/// # Errors
/// The file can't be read to its end, is no capture of a table's lines, or the configuration is refused.
pub fn run(args: &Replay) -> Result<(), Failure> {
    let config = args.config.as_deref().map(configuration).transpose()?;
    let build = config.as_ref().and_then(|config| {
        let mut ports = config.ports.iter();
        ports
            .find(|port| port.kind == DeviceKind::Tumbler)
            .map(|port| port.tumbler)
    });
    let failed = |text: String| Failure::failed(format!("{}: {text}", args.file.display()));
    let mut recording = Recording::open(&args.file).map_err(|error| failed(told(&error)))?;
    let mut session = Session {
        build: build.unwrap_or_default(),
        config: config.map(|config| config.gateway.game),
        table: None,
        section: 0,
        lines: Vec::new(),
        began: None,
        now: Uptime::ZERO,
        sum: Sum::default(),
    };
    let mut is_first = true;
    loop {
        let packet = match recording.next() {
            Ok(Some(packet)) => packet,
            Ok(None) => break,
            Err(error) => {
                let before = counted(session.sum.packets, "packet");
                return Err(failed(format!(
                    "{}; what came before it was read ({before})",
                    told(&error)
                )));
            }
        };
        if is_first && !args.json {
            print(&format!("{}\n\n", recording.comment()))?;
        }
        is_first = false;
        session.know(recording.section(), recording.lines()).map_err(failed)?;
        let packet = session.take(&packet);
        if args.all || packet.weight == Weight::Shown || !packet.decided.is_empty() {
            show(args, &packet)?;
        }
    }
    if args.json { Ok(()) } else { print(&session.end(args)) }
}

fn show(args: &Replay, packet: &Told) -> Result<(), Failure> {
    if args.json {
        let line = serde_json::to_string(packet).map_err(|error| Failure::failed(error.to_string()))?;
        return print(&format!("{line}\n"));
    }
    let arrow = match packet.from {
        "gateway" => "<-",
        "device" => "->",
        _ => "--",
    };
    let frame = match (packet.kind, packet.sequence) {
        (Some(kind @ ("data" | "ack")), Some(number)) => format!("{} {number}: ", kind.to_uppercase()),
        (Some(kind), _) => format!("{}: ", kind.to_uppercase()),
        (None, _) => String::new(),
    };
    let mut text = format!(
        "#{} {} {} {arrow} {frame}{}\n",
        packet.packet, packet.at, packet.line, packet.said
    );
    for decided in &packet.decided {
        text.push_str(&format!("      table: {decided}\n"));
    }
    print(&text)
}

/// The capture's lines and the table that hears them.
struct Session {
    build: TumblerBuild,
    config: Option<crate::table::TableConfig>,
    table: Option<Replayed>,
    /// The section of the file that `lines` are of.
    section: u64,
    lines: Vec<(String, Follower)>,
    /// The time of the first packet.
    began: Option<Timestamp>,
    now: Uptime,
    sum: Sum,
}

/// The table begins this long before the first packet: nothing happens at time zero.
const BEFORE_US: i64 = 1_000_000;

impl Session {
    /// Lines that were described since the last packet.
    fn know(&mut self, section: u64, lines: &[Line]) -> Result<(), String> {
        if self.section != section {
            self.section = section;
            self.lines.clear();
        }
        for (number, line) in lines.iter().enumerate().skip(self.lines.len()) {
            let kind = match line.name.as_str() {
                "tumbler" => DeviceKind::Tumbler,
                "terminal" => DeviceKind::Terminal,
                "lamps" => DeviceKind::LayoutLamps,
                "lights" => DeviceKind::ResultLights,
                other => {
                    return Err(format!(
                        "its interface {number} ({other}) is no device of a table: those are tumbler, terminal, lamps and lights"
                    ));
                }
            };
            let serial = line.comment.strip_prefix("serial ").unwrap_or_default();
            let serial = serial.split(',').next().unwrap_or_default().to_owned();
            self.lines
                .push((line.name.clone(), Follower::new(kind, self.build, serial)));
        }
        Ok(())
    }

    fn take(&mut self, packet: &Recorded) -> Told {
        let began = *self.began.get_or_insert(Timestamp::from_unix_micros(
            packet.at.as_unix_micros().saturating_sub(BEFORE_US),
        ));
        let micros = packet.at.as_unix_micros().saturating_sub(began.as_unix_micros());
        self.now = self.now.max(Uptime::from_micros(u64::try_from(micros).unwrap_or(0)));
        self.sum.packets += 1;
        if let Some(config) = self.config.take() {
            self.table = Some(Replayed::new(config, began));
        }
        let mut events = self.pass();
        let (name, piece) = match self.lines.get_mut(packet.line) {
            Some((name, follower)) => (name.clone(), read(packet, follower, self.now)),
            None => (
                String::new(),
                Piece::no_frame("of a line that isn't described".to_owned()),
            ),
        };
        events.extend(self.hear(packet.line, piece.inputs));
        let is_withheld = packet.comment.starts_with(WITHHELD);
        let is_note = packet.comment.starts_with(NOTE);
        self.sum.withheld += u64::from(is_withheld);
        self.sum.damaged += u64::from(piece.kind.is_none() && !is_withheld && !is_note);
        self.sum.quiet += u64::from(piece.weight == Weight::Quiet);
        self.sum.events += events.len();
        Told {
            packet: packet.number,
            at: moment(Some(&packet.at.into())),
            line: name,
            from: match packet.direction {
                Direction::Inbound => "device",
                Direction::Outbound => "gateway",
                Direction::None => "none",
            },
            kind: piece.kind.map(kind_word),
            sequence: piece.sequence,
            length: packet.length,
            said: piece.said,
            decided: events.iter().map(decided).collect(),
            events: events
                .iter()
                .filter_map(|event| event_json::event(&event.encode_to_vec()).ok())
                .collect(),
            weight: piece.weight,
        }
    }

    /// Time has passed: deadlines of the table, devices that said nothing.
    fn pass(&mut self) -> Vec<Event> {
        let Some(table) = &mut self.table else {
            return Vec::new();
        };
        let mut events = Vec::new();
        let mut silent: Vec<_> = self
            .lines
            .iter_mut()
            .filter_map(|(_, follower)| follower.silent_at().map(|at| (at, follower)))
            .filter(|(at, _)| *at <= self.now)
            .collect();
        silent.sort_by_key(|(at, _)| *at);
        for (at, follower) in silent {
            events.extend(table.pass(at));
            events.extend(table.feed(&follower.fell_silent()));
        }
        events.extend(table.pass(self.now));
        events
    }

    fn hear(&mut self, line: usize, inputs: Vec<Input>) -> Vec<Event> {
        let (Some(table), Some((_, follower))) = (&mut self.table, self.lines.get(line)) else {
            return Vec::new();
        };
        let all_up = self.lines.iter().all(|(_, follower)| follower.is_up());
        let mut events = Vec::new();
        for input in inputs {
            events.extend(table.hear(input, follower));
            if all_up {
                events.extend(table.open());
            }
        }
        events
    }

    fn end(&self, args: &Replay) -> String {
        let sum = &self.sum;
        let mut text = format!("\n{}", counted(sum.packets, "packet"));
        for (count, what) in [
            (sum.damaged, "damaged"),
            (sum.withheld, "withheld"),
            (
                sum.quiet,
                if args.all {
                    "signs of life"
                } else {
                    "signs of life, not shown (--all shows them)"
                },
            ),
        ] {
            if count > 0 {
                text.push_str(&format!(", {count} {what}"));
            }
        }
        text.push_str(match &self.table {
            Some(_) => {
                ".\nThe table is a fresh one that heard the devices: it decided nothing, and nothing was written, lit or sent.\n"
            }
            None => ".\nNothing was decided or written. With --config FILE a fresh table says what it makes of it.\n",
        });
        text
    }
}

/// What a packet holds.
struct Piece {
    kind: Option<Kind>,
    sequence: Option<u8>,
    said: String,
    inputs: Vec<Input>,
    weight: Weight,
}

impl Piece {
    fn no_frame(said: String) -> Piece {
        Piece {
            kind: None,
            sequence: None,
            said,
            inputs: Vec::new(),
            weight: Weight::Shown,
        }
    }
}

fn read(packet: &Recorded, follower: &mut Follower, now: Uptime) -> Piece {
    if packet.bytes.is_empty() {
        let mut piece = Piece::no_frame(packet.comment.clone());
        if packet.comment.starts_with(WITHHELD) && packet.comment.contains("a dice reading that nobody") {
            piece.inputs.push(Input::ReadUnderCover);
        }
        return piece;
    }
    let side = match packet.direction {
        Direction::Outbound => Side::Device,
        Direction::Inbound | Direction::None => Side::Host,
    };
    let mut decoder = Decoder::new(side);
    let mut bytes = packet.bytes.as_slice();
    match decoder.next(&mut bytes) {
        Some(Received::Frame(frame)) => frame_of(&frame, side, follower, now),
        Some(other) => Piece::no_frame(damage(&other, packet.length)),
        None => Piece::no_frame(format!("a frame without end, {}", counted(packet.length, "byte"))),
    }
}

fn frame_of(frame: &Frame, side: Side, follower: &mut Follower, now: Uptime) -> Piece {
    let (said, inputs) = match side {
        Side::Device => (follower.sent(frame), Vec::new()),
        Side::Host => follower.heard(now, frame),
    };
    Piece {
        kind: Some(frame.kind),
        sequence: Some(frame.sequence),
        weight: match said {
            Said::Sign => Weight::Quiet,
            Said::Hello(_)
            | Said::Welcome(_)
            | Said::Report(_)
            | Said::Command(_)
            | Said::Again
            | Said::OutOfTurn
            | Said::Reset => Weight::Shown,
        },
        said: words::said(&said),
        inputs,
    }
}

fn damage(received: &Received, length: u32) -> String {
    let what = match received {
        Received::Frame(_) => "a frame",
        Received::OtherVersion(version) => return format!("speaks TLP/{version}, {}", counted(length, "byte")),
        Received::Echo(_) => "a frame of the gateway, come back: the line is looped",
        Received::UnknownKind(_) => "a good frame of a kind that isn't known",
        Received::Noise(Noise::Checksum) => "DAMAGED: the check fails",
        Received::Noise(Noise::Stuffing) => "DAMAGED: no encoding makes these bytes",
        Received::Noise(Noise::TooShort) => "DAMAGED: too short for a frame",
        Received::Noise(Noise::TooLong) => "DAMAGED: more bytes than a frame has",
    };
    format!("{what}, {}", counted(length, "byte"))
}

fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Hello => "hello",
        Kind::Welcome => "welcome",
        Kind::Data => "data",
        Kind::Ack => "ack",
        Kind::Ping => "ping",
        Kind::Pong => "pong",
        Kind::Reset => "reset",
    }
}

fn decided(event: &Event) -> String {
    let round = match event.round_id {
        0 => String::new(),
        round => format!("round {round}: "),
    };
    format!("{round}{}", describe(event))
}

/// An error with its cause.
fn told(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
