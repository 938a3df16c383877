//! `tablegate events tail|list|show|export`: what the journal holds, in lines for a person or in JSON, CSV and protobuf for programs.
//! Reads in pages and keeps nothing open between them, so it may take hours beside a running daemon.

mod filter;
mod form;
mod known;
mod out;

pub(super) use form::{decoded, quoted, shown};

use super::daemon::finds_its_daemon;
use super::ending::{Failure, print, print_json};
use super::journal::{Source, open, unreadable};
use super::new_file::Existing;
use super::progress::Progress;
use super::reading::{Gaps, PAGE, step_over};
use crate::counted::counted;
use crate::journal::{End, Reader, Record, Seqno, decode};
use crate::table::event::Event;
use clap::{Args, Subcommand, ValueEnum};
use filter::Filter;
use form::{CSV_HEADER, as_json, csv, printed, varint};
use known::{Known, Rounds};
use out::{Listener, Out};
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

/// How often `tail -f` looks for new events.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// What the journal holds.
#[derive(Args, Debug)]
#[command(after_help = finds_its_daemon!(
    "Examples:\n",
    "  tablegate events tail -f\n",
    "  tablegate events list --round 17 --journal /var/lib/tablegate/TS-07\n\n",
    "With --journal PATH (a file, its directory, or a copy) no daemon is asked.",
))]
pub struct EventsCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// The newest events; with -f also those that come.
    #[command(after_help = "Example:\n  tablegate events tail -f")]
    Tail(Tail),
    /// Events by number, time, round and kind.
    #[command(
        after_help = "Example:\n  tablegate events list --round 17\n  tablegate events list --from 2026-02-14 --kind round_voided"
    )]
    List(List),
    /// One event, whole.
    #[command(after_help = "Example:\n  tablegate events show 4711")]
    Show(Show),
    /// Events for other programs: JSON lines, CSV, or the exact bytes, each after its length as a varint.
    #[command(after_help = "Example:\n  tablegate events export --format csv --output TS-07.csv")]
    Export(Export),
}

#[derive(Args, Debug)]
struct Tail {
    /// Go on with the events that come.
    #[arg(short, long)]
    follow: bool,
    /// How many of the newest.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    lines: u64,
    /// Print each event as a line of JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: Source,
}

#[derive(Args, Debug)]
struct List {
    #[command(flatten)]
    filter: Filter,
    /// At most so many.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Print each event as a line of JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: Source,
}

#[derive(Args, Debug)]
struct Show {
    /// Its number.
    #[arg(value_name = "SEQNO")]
    seqno: Seqno,
    /// Print only JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: Source,
}

#[derive(Args, Debug)]
struct Export {
    /// In which form.
    #[arg(long, value_enum, default_value_t = Format::Json)]
    format: Format,
    /// Into this file, which appears when it is whole; else to standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if there is one.
    #[arg(long, requires = "output")]
    force: bool,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    source: Source,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Format {
    /// A JSON object a line.
    Json,
    /// A row an event, with a header.
    Csv,
    /// The bytes as journalled and published, each event after its length as a varint.
    Raw,
}

/// Runs it.
///
/// # Errors
/// The journal can't be read, or the question makes no sense.
pub fn run(command: &EventsCommand) -> Result<(), Failure> {
    match &command.command {
        Command::Tail(tail) => run_tail(tail),
        Command::List(list) => run_list(list),
        Command::Show(show) => run_show(show),
        Command::Export(export) => run_export(export),
    }
}

/// Goes through events in order; `each` says whether to go on. What can't be read is stepped over, and joins the gaps.
fn walk(
    reader: &mut Reader,
    (from, to): (Seqno, Seqno),
    gaps: &mut Gaps,
    mut each: impl FnMut(&Record, &Event) -> Result<Listener, Failure>,
) -> Result<Seqno, Failure> {
    let mut next = from;
    while next <= to {
        let page = match reader.page(next, to, PAGE) {
            Ok(page) => page,
            Err(error) => {
                next = step_over(error, gaps)?;
                continue;
            }
        };
        let Some(last) = page.last() else { break };
        next = last.seqno.saturating_add(1);
        for record in &page {
            match decode(record) {
                Ok(event) if each(record, &event)? == Listener::Gone => return Ok(record.seqno),
                Ok(_) => {}
                Err(error) => gaps.add_unknown(record.seqno, &error),
            }
        }
    }
    Ok(next)
}

fn run_list(list: &List) -> Result<(), Failure> {
    list.filter.check()?;
    let mut reader = open(&list.source.file()?)?;
    let mut out = Out::standard();
    let mut left = list.limit.unwrap_or(u64::MAX);
    if left == 0 {
        return Ok(());
    }
    let mut progress = Progress::beside_output();
    let newest = reader.head().map_err(unreadable)?.seqno;
    let known = Known::of(&mut reader)?;
    let mut rounds = Rounds::asked(list.filter.round);
    let mut gaps = Gaps::default();
    walk(&mut reader, list.filter.numbers(), &mut gaps, |record, event| {
        progress.events(record.seqno, newest);
        rounds.note(event);
        if !list.filter.takes(event) {
            return Ok(Listener::Here);
        }
        left -= 1;
        let heard = out.write(&printed(record, event, list.json)?)?;
        Ok(if left == 0 { Listener::Gone } else { heard })
    })?;
    out.end()?;
    drop(progress);
    rounds.have_it(&known)?;
    known.reaches(&list.filter, gaps)
}

fn run_tail(tail: &Tail) -> Result<(), Failure> {
    let path = tail.source.file()?;
    let mut reader = open(&path)?;
    let mut out = Out::standard();
    let newest = reader.head().map_err(unreadable)?.seqno;
    let mut next = newest.saturating_sub(tail.lines).saturating_add(1).max(1);
    let (known, first) = (Known::of(&mut reader)?, next);
    loop {
        let mut gone = Listener::Here;
        let mut gaps = Gaps::default();
        next = walk(&mut reader, (next, Seqno::MAX), &mut gaps, |record, event| {
            gone = out.write(&printed(record, event, tail.json)?)?;
            Ok(gone)
        })?;
        if gone == Listener::Gone || out.flush()? == Listener::Gone {
            return Ok(());
        }
        if !tail.follow {
            return known.reaches_over((first, Seqno::MAX), None, gaps);
        }
        gaps.sentences()
            .iter()
            .for_each(|gap| eprintln!("not among these: {gap}"));
        std::thread::sleep(LOOK_EVERY);
        if reader.is_replaced() && path.exists() {
            eprintln!("the journal was moved aside and a new one begun: going on with that");
            reader = open(&path)?;
            next = 1;
        }
    }
}

fn run_show(show: &Show) -> Result<(), Failure> {
    let mut reader = open(&show.source.file()?)?;
    let page = reader.page(show.seqno, show.seqno, 1).map_err(unreadable)?;
    let Some(record) = page.first() else {
        return Err(absent(&mut reader, show.seqno)?);
    };
    if show.json {
        print_json(&as_json(record)?)
    } else {
        print(&shown(record)?)
    }
}

/// An event that was asked for isn't there: because it never was, was deleted in its time, or is gone.
fn absent(reader: &mut Reader, seqno: Seqno) -> Result<Failure, Failure> {
    let known = Known::of(reader)?;
    let held = match (
        reader.oldest().map_err(unreadable)?,
        reader.head().map_err(unreadable)?.seqno,
    ) {
        (0, _) => "it holds none".to_owned(),
        (oldest, newest) => format!("it holds {oldest} to {newest}"),
    };
    let why = match known.1 {
        _ if seqno > 0 && seqno < known.0.oldest() => known.beside(),
        End::Gone { first, through } if (first..=through).contains(&seqno) => {
            format!("; {}", known.1.gone().unwrap_or_default())
        }
        End::Gone { .. } | End::There => String::new(),
    };
    Ok(Failure::failed(format!(
        "event {seqno} is not in this journal: {held}{why}"
    )))
}

fn run_export(export: &Export) -> Result<(), Failure> {
    export.filter.check()?;
    let mut reader = open(&export.source.file()?)?;
    let mut out = match &export.output {
        None if export.format == Format::Raw && io::stdout().is_terminal() => {
            return Err(Failure::usage(
                "raw events are bytes, not for a terminal: name a file with --output, or pipe them",
            ));
        }
        None => Out::standard(),
        Some(path) if export.force => Out::file(path, Existing::Replaced)?,
        Some(path) => Out::file(path, Existing::Kept)?,
    };
    if export.format == Format::Csv {
        out.write(CSV_HEADER.as_bytes())?;
    }
    let mut progress = match export.output {
        Some(_) => Progress::start(),
        None => Progress::beside_output(),
    };
    let newest = reader.head().map_err(unreadable)?.seqno;
    let known = Known::of(&mut reader)?;
    let mut rounds = Rounds::asked(export.filter.round);
    let mut written = 0_u64;
    let mut gaps = Gaps::default();
    walk(&mut reader, export.filter.numbers(), &mut gaps, |record, event| {
        progress.events(record.seqno, newest);
        rounds.note(event);
        if !export.filter.takes(event) {
            return Ok(Listener::Here);
        }
        written += 1;
        match export.format {
            Format::Json => out.write(&printed(record, event, true)?),
            Format::Csv => out.write(csv(record, event)?.as_bytes()),
            Format::Raw => {
                out.write(&varint(record.bytes.len()))?;
                out.write(&record.bytes)
            }
        }
    })?;
    out.end()?;
    drop(progress);
    if let Some(path) = &export.output {
        eprintln!("{} in {}", counted(written, "event"), path.display());
    }
    rounds.have_it(&known)?;
    known.reaches(&export.filter, gaps)
}
