//! `tablegate events tail|list|show|export`: what the journal holds, in lines for a person or in JSON, CSV and protobuf for programs.
//! Reads in pages and keeps nothing open between them, so it may take hours beside a running daemon.

use super::daemon::finds_its_daemon;
use super::describe::{self, describe, line};
use super::ending::{Failure, print, print_json};
use super::event_json;
use super::journal::{Source, open, unreadable};
use super::new_file::{Existing, NewFile, Readers, unwritten};
use super::progress::Progress;
use super::reading::{Gaps, PAGE, before, step_over};
use crate::counted::counted;
use crate::journal::{Beginning, Reader, Record, Seqno, decode};
use crate::table::event::{ClockQuality, Event};
use crate::time::Timestamp;
use clap::{Args, Subcommand, ValueEnum};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
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

/// Which events.
#[derive(Args, Clone, Debug, Default)]
struct Filter {
    /// The first: a number, or a time like 2026-02-14T10:15:00Z.
    #[arg(long, value_name = "SEQNO|TIME")]
    from: Option<Edge>,
    /// The last: a number, or a time.
    #[arg(long, value_name = "SEQNO|TIME")]
    to: Option<Edge>,
    /// Only of this round, with the incidents recorded of it afterwards.
    #[arg(long, value_name = "N")]
    round: Option<u64>,
    /// Only of this kind, as `result_entered`; may be given again.
    #[arg(long, value_name = "KIND")]
    kind: Vec<String>,
}

/// A number or a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Edge {
    Number(Seqno),
    Time(Timestamp),
}

impl FromStr for Edge {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(number) = text.parse() {
            return Ok(Edge::Number(number));
        }
        text.parse()
            .map(Edge::Time)
            .map_err(|error: crate::time::NotATime| format!("neither a number nor a time: {error}"))
    }
}

impl Filter {
    /// Nothing can lie between bounds that are the wrong way round.
    fn check_bounds(&self) -> Result<(), Failure> {
        let reversed = match (self.from, self.to) {
            (Some(Edge::Number(from)), Some(Edge::Number(to))) => from > to,
            (Some(Edge::Time(from)), Some(Edge::Time(to))) => from > to,
            (Some(Edge::Number(_)), Some(Edge::Time(_)))
            | (Some(Edge::Time(_)), Some(Edge::Number(_)))
            | (None, _)
            | (_, None) => false,
        };
        if reversed {
            return Err(Failure::usage("--to comes before --from"));
        }
        Ok(())
    }

    fn numbers(&self) -> (Seqno, Seqno) {
        let from = match self.from {
            Some(Edge::Number(number)) => number,
            Some(Edge::Time(_)) | None => 1,
        };
        let to = match self.to {
            Some(Edge::Number(number)) => number,
            Some(Edge::Time(_)) | None => Seqno::MAX,
        };
        (from, to)
    }

    fn takes(&self, event: &Event) -> bool {
        let recorded_at = event.recorded_at.as_ref().map(Timestamp::from);
        let late_enough = match self.from {
            Some(Edge::Time(from)) => recorded_at.is_some_and(|at| at >= from),
            Some(Edge::Number(_)) | None => true,
        };
        let early_enough = match self.to {
            Some(Edge::Time(to)) => recorded_at.is_some_and(|at| at <= to),
            Some(Edge::Number(_)) | None => true,
        };
        let of_kind = self.kind.is_empty()
            || event
                .body
                .as_ref()
                .is_some_and(|body| self.kind.iter().any(|kind| kind == describe::kind(body)));
        late_enough && early_enough && of_kind && self.round.is_none_or(|round| describe::round(event) == round)
    }

    /// A kind that no event can have is a mistake, not an empty answer.
    fn check(&self) -> Result<(), Failure> {
        self.check_bounds()?;
        let known = event_json::kinds();
        match self.kind.iter().find(|kind| !known.contains(kind)) {
            None => Ok(()),
            Some(unknown) => {
                let nearest = known
                    .iter()
                    .max_by(|one, other| strsim::jaro(one, unknown).total_cmp(&strsim::jaro(other, unknown)));
                let hint = nearest.map(|nearest| format!(", is it {nearest}?")).unwrap_or_default();
                let all = known.join(", ");
                Err(Failure::usage(format!(
                    "there is no kind of event \"{unknown}\"{hint}; there are: {all}"
                )))
            }
        }
    }
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

/// Where output goes, and whether anybody still listens.
enum Out {
    Standard(BufWriter<io::Stdout>),
    File(BufWriter<NewFile>, PathBuf),
}

/// Whether to go on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Listener {
    Here,
    Gone,
}

impl Out {
    fn standard() -> Self {
        Out::Standard(BufWriter::new(io::stdout()))
    }

    fn file(path: &Path, existing: Existing) -> Result<Self, Failure> {
        let file = NewFile::begin(path, existing, Readers::Usual)?;
        Ok(Out::File(BufWriter::new(file), path.to_owned()))
    }

    /// Whoever closes the pipe (`| head`) has seen enough: that is no failure.
    fn write(&mut self, bytes: &[u8]) -> Result<Listener, Failure> {
        match self {
            Out::Standard(to) => heard(to.write_all(bytes)),
            Out::File(to, path) => to
                .write_all(bytes)
                .map(|()| Listener::Here)
                .map_err(|error| unwritten(path, &error)),
        }
    }

    /// What was written so far is there.
    fn flush(&mut self) -> Result<Listener, Failure> {
        match self {
            Out::Standard(to) => heard(to.flush()),
            Out::File(to, path) => to
                .flush()
                .map(|()| Listener::Here)
                .map_err(|error| unwritten(path, &error)),
        }
    }

    /// Everything was written.
    fn end(mut self) -> Result<(), Failure> {
        self.flush()?;
        match self {
            Out::Standard(_) => Ok(()),
            Out::File(to, path) => {
                let file = to.into_inner().map_err(|error| unwritten(&path, error.error()))?;
                file.keep().map(|_| ())
            }
        }
    }
}

fn heard(result: io::Result<()>) -> Result<Listener, Failure> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Listener::Gone),
        other => Ok(other.map(|()| Listener::Here)?),
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
            return known.reaches_back_to(first, None, gaps);
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
    let why = if seqno > 0 && seqno < known.0.oldest() {
        known.beside()
    } else {
        String::new()
    };
    Ok(Failure::failed(format!(
        "event {seqno} is not in this journal: {held}{why}"
    )))
}

/// An event, whole: its line, then everything in it.
///
/// # Errors
/// What it is no event for.
pub(super) fn shown(record: &Record) -> Result<String, Failure> {
    let json = serde_json::to_string_pretty(&as_json(record)?).map_err(|error| Failure::failed(error.to_string()))?;
    Ok(format!("{}\n{json}\n", line(&decoded(record)?)))
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

/// How far back the journal reaches that is read.
struct Known(Beginning);

impl Known {
    fn of(reader: &mut Reader) -> Result<Known, Failure> {
        Ok(Known(reader.beginning().map_err(unreadable)?))
    }

    /// Everything that was asked for is there, or was deleted in its time, which is said; for the end of a command that has printed the rest.
    fn reaches(&self, asked: &Filter, gaps: Gaps) -> Result<(), Failure> {
        self.reaches_back_to(asked.numbers().0, asked.from, gaps)
    }

    fn reaches_back_to(&self, from: Seqno, asked: Option<Edge>, others: Gaps) -> Result<(), Failure> {
        if let (Beginning::Expired { .. }, Some(Edge::Number(_))) = (&self.0, asked)
            && from < self.0.oldest()
        {
            eprintln!("{}", before(&self.0));
        }
        let mut gaps = Gaps::default();
        gaps.add_beginning(&self.0, from);
        gaps.add_all(others);
        gaps.none()
    }

    /// For the end of a sentence about something that isn't there.
    fn beside(&self) -> String {
        match before(&self.0) {
            known if known.is_empty() => known,
            known => format!("; {known}"),
        }
    }
}

/// Rounds among the events that were looked at.
struct Rounds {
    asked: Option<u64>,
    was_seen: bool,
    /// The lowest and the highest number.
    range: Option<(u64, u64)>,
}

impl Rounds {
    fn asked(asked: Option<u64>) -> Rounds {
        Rounds {
            asked,
            was_seen: false,
            range: None,
        }
    }

    fn note(&mut self, event: &Event) {
        let round = describe::round(event);
        self.was_seen |= self.asked == Some(round);
        if round > 0 {
            let (first, last) = self.range.unwrap_or((round, round));
            self.range = Some((first.min(round), last.max(round)));
        }
    }

    /// A round that was asked for and isn't there is no empty answer.
    fn have_it(&self, known: &Known) -> Result<(), Failure> {
        let Some(asked) = self.asked.filter(|_| !self.was_seen) else {
            return Ok(());
        };
        Err(Failure::failed(match self.range {
            Some((first, last)) => {
                format!(
                    "there is no round {asked} among these events: they are of rounds {first} to {last}{}",
                    known.beside()
                )
            }
            None => format!(
                "there is no round {asked} among these events: no round was played in them{}",
                known.beside()
            ),
        }))
    }
}

/// What a record says.
pub(super) fn decoded(record: &Record) -> Result<Event, Failure> {
    decode(record).map_err(|error| Failure::failed(format!("event {}: {error}", record.seqno)))
}

fn as_json(record: &Record) -> Result<serde_json::Value, Failure> {
    event_json::event(&record.bytes).map_err(|error| Failure::failed(format!("event {}: {error}", record.seqno)))
}

fn printed(record: &Record, event: &Event, json: bool) -> Result<Vec<u8>, Failure> {
    let mut text = if json {
        as_json(record)?.to_string()
    } else {
        line(event)
    };
    text.push('\n');
    Ok(text.into_bytes())
}

const CSV_HEADER: &str =
    "seqno,recorded_at,clock,run_id,uptime_us,round_id,kind,actor,device,rules,text,body,sha256\r\n";

/// A row as RFC 4180 has it. `body` is JSON.
fn csv(record: &Record, event: &Event) -> Result<String, Failure> {
    let json = as_json(record)?;
    let text = |key: &str| {
        json.get(key)
            .and_then(|value| value.as_str())
            .unwrap_or_default()
            .to_owned()
    };
    let clock = match event.clock() {
        ClockQuality::Unspecified => "",
        ClockQuality::Synchronised => "synchronised",
        ClockQuality::Unsynchronised => "unsynchronised",
        ClockQuality::Stepped => "stepped",
    };
    let fields = [
        event.seqno.to_string(),
        text("recorded_at"),
        clock.to_owned(),
        event.run_id.clone(),
        event.uptime_us.to_string(),
        event.round_id.to_string(),
        text("kind"),
        event.actor.as_ref().map(describe::actor).unwrap_or_default(),
        event.device.as_ref().map(describe::device).unwrap_or_default(),
        event.rules.join("; "),
        describe(event),
        json.get("body").map(ToString::to_string).unwrap_or_default(),
        text("sha256"),
    ];
    Ok(fields.map(|field| quoted(&field)).join(",") + "\r\n")
}

/// A field of CSV, in quotes where it needs them.
pub(super) fn quoted(field: &str) -> String {
    // A spreadsheet takes a text that begins so for a formula.
    let field = if field.starts_with(['=', '+', '-', '@']) {
        format!("'{field}")
    } else {
        field.to_owned()
    };
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field
    }
}

fn varint(length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to a Vec cannot fail.
    prost::encoding::encode_varint(length as u64, &mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::event::{Body, IncidentRecorded, VoidReasonStated};

    #[test]
    fn edges_are_numbers_or_times() {
        assert_eq!("17".parse(), Ok(Edge::Number(17)));
        assert_eq!(
            "1970-01-02".parse(),
            Ok(Edge::Time(Timestamp::from_unix_micros(86_400_000_000)))
        );
        assert!("yesterday".parse::<Edge>().is_err());
    }

    #[test]
    fn fields_are_quoted_as_csv_wants_it() {
        for (field, expected) in [
            ("a", "a"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=1+1", "'=1+1"),
        ] {
            assert_eq!(quoted(field), expected);
        }
    }

    #[test]
    fn a_kind_that_does_not_exist_is_a_mistake() {
        let filter = Filter {
            kind: vec!["result_enterd".to_owned()],
            ..Filter::default()
        };
        let text = filter.check().unwrap_err().text;
        assert!(text.contains("is it result_entered?"), "{text}");
        assert!(text.contains("there are: gateway_started, "), "{text}");
        assert!(
            Filter {
                kind: vec!["round_voided".to_owned()],
                ..Filter::default()
            }
            .check()
            .is_ok()
        );
    }

    #[test]
    fn a_round_has_the_incidents_that_are_recorded_of_it_afterwards() {
        let of_round_17 = Filter {
            round: Some(17),
            ..Filter::default()
        };
        let event = |round_id, body| Event {
            round_id,
            body: Some(body),
            ..Event::default()
        };
        let incident = |of_round| {
            Body::IncidentRecorded(IncidentRecorded {
                of_round,
                ..IncidentRecorded::default()
            })
        };
        let reason = || Body::VoidReasonStated(VoidReasonStated::default());
        assert!(of_round_17.takes(&event(0, incident(17))));
        assert!(of_round_17.takes(&event(17, incident(17))));
        assert!(of_round_17.takes(&event(17, reason())));
        assert!(!of_round_17.takes(&event(0, incident(16))));
        assert!(!of_round_17.takes(&event(0, incident(0))));
        assert!(!of_round_17.takes(&event(18, reason())));
    }
}
