//! `tablegate recall`: the last rounds of the table as the journal has them, to settle a question at the table.

mod two_up;

use super::describe::{self, actor, areas, code, moment, word};
use super::ending::{Failure, print, print_json};
use super::journal::{Source, open, unreadable};
use super::progress::Progress;
use super::reading::{Gaps, before, every_event};
use crate::counted::often;
use crate::journal::{Beginning, Reader, Seqno};
use crate::table::event::{Body, Event, ResultAmended, ResultEntered, ResultSource};
use crate::time::Timestamp;
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use two_up::{Ending, TwoUpGame};

/// Rounds at once at most: each is held in memory.
const ROUNDS_MAX: u16 = 1000;

/// Events read at once, going back from the newest.
const PAGE: u64 = 256;

/// The last rounds.
#[derive(Args, Debug)]
pub struct Recall {
    /// How many rounds.
    #[arg(value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=i64::from(ROUNDS_MAX)))]
    rounds: u16,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: Source,
}

/// One round, as it went.
#[derive(Serialize, PartialEq, Eq, Debug, Default)]
struct Round {
    round_id: u64,
    first_seqno: u64,
    last_seqno: u64,
    began_at: String,
    /// "running", "settled", "settled provisionally", "void", "abandoned"; of two-up "spinner won", "spinner lost", "decided" (the
    /// dealer's), "wager returned".
    outcome: String,
    void_reason: Option<String>,
    /// In the order of their entry; the last one stands.
    results: Vec<Entered>,
    /// The areas that win in the end: those of the result that stands; none of a void or abandoned round.
    pays: Vec<String>,
    refused: Vec<Refused>,
    lamps: Lamps,
    times: Times,
    /// What belongs to a game of two-up.
    #[serde(skip_serializing_if = "Option::is_none")]
    two_up: Option<TwoUpGame>,
    /// Everything, in words, with its time.
    course: Vec<Step>,
}

/// A result or an amendment.
#[derive(Serialize, PartialEq, Eq, Debug, Default)]
struct Entered {
    at: String,
    amended: bool,
    from_faces: Vec<u32>,
    pressed: Vec<u32>,
    faces: Vec<u32>,
    call: String,
    areas: Vec<String>,
    source: String,
    by: Option<String>,
}

#[derive(Serialize, PartialEq, Eq, Debug)]
struct Refused {
    at: String,
    shown: Vec<u32>,
    code: String,
    text: String,
    count: u32,
}

/// What the layout showed.
#[derive(Serialize, PartialEq, Eq, Debug, Default)]
struct Lamps {
    /// As confirmed last.
    lit: Vec<String>,
    failed: Vec<String>,
}

/// How long the phases took, milliseconds; absent: not measured.
#[derive(Serialize, PartialEq, Eq, Debug, Default)]
struct Times {
    bets_open_ms: Option<u32>,
    bell_to_uncover_ms: Option<u32>,
    uncover_to_entry_ms: Option<u32>,
    bell_to_entry_ms: Option<u32>,
    entry_to_lamps_ms: Option<u32>,
    lamps_to_settled_ms: Option<u32>,
}

#[derive(Serialize, PartialEq, Eq, Debug)]
struct Step {
    seqno: u64,
    at: String,
    kind: String,
    text: String,
}

/// Runs it.
///
/// # Errors
/// The journal can't be read; or one of its events can't, after the others were printed.
pub fn run(recall: &Recall) -> Result<(), Failure> {
    let mut reader = open(&recall.source.file()?)?;
    let beginning = reader.beginning().map_err(unreadable)?;
    let ending = reader.ending().map_err(unreadable)?;
    let (rounds, mut gaps) = last_rounds(&mut reader, &beginning, usize::from(recall.rounds))?;
    if recall.json {
        print_json(&rounds)?;
    } else if rounds.is_empty() {
        print(&no_round(&beginning))?;
    } else {
        print(&rounds.iter().map(text).collect::<Vec<_>>().join("\n"))?;
    }
    gaps.add_ending(ending, Seqno::MAX);
    gaps.none()
}

fn no_round(beginning: &Beginning) -> String {
    match beginning {
        Beginning::Empty | Beginning::First => "no round has been played in this journal\n".to_owned(),
        known @ (Beginning::Expired { .. } | Beginning::Gone { .. }) => {
            format!("no round is in what this journal still holds: {}\n", before(known))
        }
    }
}

/// Goes back from the newest event until enough rounds have been seen to begin. What can't be read is left out and told.
fn last_rounds(reader: &mut Reader, beginning: &Beginning, wanted: usize) -> Result<(Vec<Round>, Gaps), Failure> {
    let mut rounds: BTreeMap<u64, Vec<Event>> = BTreeMap::new();
    let mut begun = 0;
    let newest = reader.head().map_err(unreadable)?.seqno;
    let oldest = beginning.oldest();
    let mut gaps = Gaps::default();
    let mut progress = Progress::start();
    let mut to = newest;
    while to > 0 && to >= oldest && begun < wanted {
        let from = to.saturating_sub(PAGE - 1).max(oldest);
        let mut page = Vec::new();
        gaps.add_all(every_event(reader, (from, to), |_, event| {
            page.push(event.clone());
            Ok(())
        })?);
        for event in page.into_iter().rev() {
            let round = describe::round(&event);
            if round == 0 {
                continue;
            }
            if event.body.as_ref().is_some_and(begins) {
                begun += 1;
            }
            rounds.entry(round).or_default().push(event);
            if begun == wanted {
                break;
            }
        }
        to = from - 1;
        progress.events(newest - to, newest.saturating_sub(oldest) + 1);
    }
    drop(progress);
    if begun < wanted {
        // As many were asked for, and who knows whether there were more.
        gaps.add_beginning(beginning, 1);
    }
    let newest = rounds.into_iter().rev().take(wanted);
    let mut told: Vec<Round> = newest
        .map(|(round_id, mut events)| {
            events.reverse();
            tell(round_id, &events)
        })
        .collect();
    told.reverse();
    Ok((told, gaps))
}

/// The event begins a round.
fn begins(body: &Body) -> bool {
    matches!(body, Body::RoundStarted(_)) || two_up::begins(body)
}

fn tell(round_id: u64, events: &[Event]) -> Round {
    let mut round = Round {
        round_id,
        outcome: "running".to_owned(),
        ..Round::default()
    };
    for event in events {
        if round.first_seqno == 0 {
            round.first_seqno = event.seqno;
            round.began_at = at(event);
        }
        round.last_seqno = event.seqno;
        if let Some(body) = &event.body {
            round.take(event, body);
            round.course.push(Step {
                seqno: event.seqno,
                at: at(event),
                kind: describe::kind(body).to_owned(),
                text: describe::describe(event),
            });
        }
    }
    let bets_go_back = round.outcome == "void" || round.outcome == "abandoned";
    if let Some(stands) = round.results.last().filter(|_| !bets_go_back) {
        round.pays.clone_from(&stands.areas);
    }
    round
}

impl Round {
    /// What of an event belongs in the summary; the rest stands in the course alone.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the course tells every event, whatever its kind"
    )]
    fn take(&mut self, event: &Event, body: &Body) {
        if two_up::begins(body) {
            self.two_up.get_or_insert_default();
        }
        if let Some(game) = &mut self.two_up {
            match game.take(event, body) {
                Ending::Unchanged => {}
                Ending::Ended(how) => how.clone_into(&mut self.outcome),
                Ending::GoesOn => "running".clone_into(&mut self.outcome),
            }
        }
        match body {
            Body::BetsClosed(closed) => self.times.bets_open_ms = measured(closed.bets_open_ms),
            Body::DiceUncovered(uncovered) => self.times.bell_to_uncover_ms = measured(uncovered.bell_to_uncover_ms),
            Body::ResultEntered(result) => {
                self.times.uncover_to_entry_ms = measured(result.uncover_to_entry_ms);
                self.times.bell_to_entry_ms = measured(result.bell_to_entry_ms);
                self.results.push(entered(event, result));
            }
            Body::ResultAmended(amended) => self.results.push(amendment(event, amended)),
            Body::EntryRejected(rejected) => self.refused.push(Refused {
                at: at(event),
                shown: rejected.shown.clone(),
                code: format!("E{:02}", rejected.code),
                text: rejected.text.clone(),
                count: rejected.count,
            }),
            Body::LayoutLit(lit) => {
                self.times.entry_to_lamps_ms = measured(lit.entry_to_lamps_ms).or(self.times.entry_to_lamps_ms);
                self.lamps.lit = ids(&lit.areas);
            }
            Body::LampFailed(failed) => {
                let how = if failed.wrongly_lit {
                    "lit and must not be"
                } else {
                    "dark"
                };
                self.lamps
                    .failed
                    .push(format!("{} {how}", areas(failed.area.as_slice())));
            }
            Body::RoundVoided(voided) => {
                "void".clone_into(&mut self.outcome);
                self.void_reason = Some(code(voided.reason().as_str_name(), "ROUND_VOIDED_REASON_"));
            }
            Body::VoidReasonStated(stated) => {
                self.void_reason = Some(code(stated.reason().as_str_name(), "ROUND_VOIDED_REASON_"));
            }
            Body::VoidWithdrawn(_) => {
                "running".clone_into(&mut self.outcome);
                self.void_reason = None;
            }
            Body::RoundAbandoned(_) => "abandoned".clone_into(&mut self.outcome),
            Body::RoundReopened(_) => "running".clone_into(&mut self.outcome),
            Body::RoundSettled(settled) => {
                self.times.lamps_to_settled_ms = measured(settled.lamps_to_settled_ms);
                let how = if settled.provisional {
                    "settled provisionally"
                } else {
                    "settled"
                };
                how.clone_into(&mut self.outcome);
            }
            _ => {}
        }
    }
}

fn entered(event: &Event, result: &ResultEntered) -> Entered {
    Entered {
        at: at(event),
        pressed: result.pressed.clone(),
        faces: result.faces.clone(),
        call: result.call.clone(),
        areas: ids(&result.areas),
        source: source(result.source()),
        by: event.actor.as_ref().map(actor),
        ..Entered::default()
    }
}

fn amendment(event: &Event, amended: &ResultAmended) -> Entered {
    Entered {
        at: at(event),
        amended: true,
        from_faces: amended.from_faces.clone(),
        pressed: amended.pressed.clone(),
        faces: amended.faces.clone(),
        call: amended.call.clone(),
        areas: ids(&amended.areas),
        source: source(amended.source()),
        by: event.actor.as_ref().map(actor),
    }
}

fn source(source: ResultSource) -> String {
    word(source.as_str_name(), "RESULT_SOURCE_")
}

fn ids(areas: &[crate::table::event::Area]) -> Vec<String> {
    areas.iter().map(|area| area.id.clone()).collect()
}

fn at(event: &Event) -> String {
    event
        .recorded_at
        .as_ref()
        .map(|time| Timestamp::from(time).to_string())
        .unwrap_or_default()
}

/// 0 is "not measured" in the events.
fn measured(ms: u32) -> Option<u32> {
    (ms > 0).then_some(ms)
}

fn text(round: &Round) -> String {
    let mut text = String::new();
    let reason = round
        .void_reason
        .as_ref()
        .map(|reason| format!(" ({reason})"))
        .unwrap_or_default();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "Round {}  {}  {}{reason}",
        round.round_id,
        people(&round.began_at),
        round.outcome.to_uppercase()
    );
    if let Some(game) = &round.two_up {
        text.push_str(&game.text());
    }
    for result in &round.results {
        let pressed = describe::keys(&result.pressed);
        let how = match (result.amended, pressed.is_empty()) {
            (false, _) => "result ",
            (true, _) => "amended",
        };
        let keys = if pressed.is_empty() {
            result.source.clone()
        } else {
            format!("keys {pressed}")
        };
        let by = result.by.as_ref().map(|by| format!(", {by}")).unwrap_or_default();
        let _ = writeln!(text, "  {how}  {}  ({keys}{by})", result.call);
    }
    if !round.pays.is_empty() {
        let _ = writeln!(text, "  pays     {}", round.pays.join(", "));
    } else if !round.results.is_empty() {
        let _ = writeln!(text, "  pays     nothing: all bets go back");
    }
    for refused in &round.refused {
        let shown = describe::keys(&refused.shown);
        let times = if refused.count > 1 {
            format!(", {}", often(refused.count.into()))
        } else {
            String::new()
        };
        let _ = writeln!(text, "  refused  {} {} {shown}{times}", refused.code, refused.text);
    }
    if !round.lamps.lit.is_empty() {
        let _ = writeln!(text, "  lit      {}", round.lamps.lit.join(", "));
    }
    for failed in &round.lamps.failed {
        let _ = writeln!(text, "  lamp     {failed}");
    }
    let _ = writeln!(text, "  times    {}", times(&round.times));
    for step in &round.course {
        let _ = writeln!(text, "    #{} {} {}", step.seqno, people(&step.at), step.text);
    }
    text
}

fn times(times: &Times) -> String {
    let named = [
        ("bets open", times.bets_open_ms),
        ("bell to uncover", times.bell_to_uncover_ms),
        ("uncover to entry", times.uncover_to_entry_ms),
        ("bell to entry", times.bell_to_entry_ms),
        ("entry to lamps", times.entry_to_lamps_ms),
        ("lamps to settled", times.lamps_to_settled_ms),
    ];
    let told: Vec<String> = named
        .iter()
        .filter_map(|(name, ms)| ms.map(|ms| format!("{name} {ms} ms")))
        .collect();
    if told.is_empty() {
        "not measured".to_owned()
    } else {
        told.join(", ")
    }
}

fn people(at: &str) -> String {
    match at.parse::<Timestamp>() {
        Ok(time) => moment(Some(&time.into())),
        Err(_) => "at an unknown time".to_owned(),
    }
}
