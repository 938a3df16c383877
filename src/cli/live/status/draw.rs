//! How the live view of a table is laid out: its moment at the top, the layout with what is lit to the left, devices, floor and last
//! results to the right of it, what is not in order below.

use super::chosen_of;
use super::worries::{Worry, worries};
use crate::cli::line_advice::spoken;
use crate::cli::live::daemon::line;
use crate::cli::live::events::Events;
use crate::cli::live::feed::wall;
use crate::cli::live::look::{Look, clock, row, wrapped};
use crate::cli::picture::{self, LABEL};
use crate::cli::status::words;
use crate::device::{LinkReport, LinkState};
use crate::gateway::{RoundEnd, RoundView, View};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use std::collections::BTreeSet;
use std::time::Duration;

/// Columns of the picture with its odds, and one between.
const PICTURE_COLUMNS: u16 = 57;

/// Rows that the right side needs for three devices, the floor and some results.
const SIDE_ROWS: u16 = 13;

/// Rows above the picture: title, moment, call.
const HEAD_ROWS: u16 = 3;

const HELP: &str = " a: acknowledge   up/down: choose   e: events   q: quit";

/// What the table's page is drawn from.
pub(super) struct Shown<'a> {
    pub(super) view: &'a View,
    /// How long ago it came.
    pub(super) age: Duration,
    pub(super) look: Look,
    pub(super) chosen: Option<&'a str>,
    pub(super) said: Option<&'a str>,
}

impl Shown<'_> {
    /// The time of the run now, in milliseconds.
    fn uptime_ms(&self) -> u64 {
        let age = u64::try_from(self.age.as_millis()).unwrap_or(u64::MAX);
        self.view.table.uptime_ms.saturating_add(age)
    }
}

/// The table's page.
pub(super) fn table(frame: &mut Frame<'_>, shown: &Shown<'_>) {
    let area = frame.area();
    let (view, look) = (shown.view, shown.look);
    title(frame, line(area, 0), view, look);
    moment(frame, line(area, 1), shown);
    call(frame, line(area, 2), shown);
    let picture = picture(view, look);
    let rows = u16::try_from(picture.len()).unwrap_or(u16::MAX).max(SIDE_ROWS);
    let body = Rect {
        y: area.y + HEAD_ROWS,
        height: rows.min(area.height.saturating_sub(HEAD_ROWS + 2)),
        ..area
    };
    let left = Rect {
        width: PICTURE_COLUMNS,
        ..body
    };
    let mut lines = picture;
    lines.extend(next(shown, usize::from(PICTURE_COLUMNS) - 1));
    frame.render_widget(Paragraph::new(lines), left);
    let right = Rect {
        x: body.x + PICTURE_COLUMNS,
        width: body.width - PICTURE_COLUMNS,
        ..body
    };
    let side = side(view, look, usize::from(right.height));
    frame.render_widget(Paragraph::new(side), right);
    let top = HEAD_ROWS + body.height;
    let below = Rect {
        y: area.y + top,
        height: area.height.saturating_sub(top + 1),
        ..area
    };
    troubles(frame, below, shown);
    row(frame, line(area, area.height - 1), HELP, "", look.bar());
}

/// Events of the journal.
pub(super) fn events(frame: &mut Frame<'_>, look: Look, events: &mut Events, said: Option<&str>) {
    let area = frame.area();
    row(frame, line(area, 0), " The latest events, newest first", "", look.bar());
    let body = Rect {
        y: area.y + 1,
        height: area.height.saturating_sub(super::AROUND_EVENTS),
        ..area
    };
    events.draw(frame, body, look);
    let last = line(area, area.height.saturating_sub(1));
    row(frame, last, said.unwrap_or(events.help()), "", look.bar());
}

fn title(frame: &mut Frame<'_>, area: Rect, view: &View, look: Look) {
    let table = &view.table;
    let mode = table.state.mode.replace('_', " ").to_uppercase();
    let left = format!(" {} at {}   {mode}   {}", table.table, table.site, words::game(view));
    let now = wall().to_string();
    let now = now.get(11..19).unwrap_or_default();
    row(frame, area, &look.text(&left), &format!("{now} UTC "), look.bar());
}

/// Round and phase, with the phase's running clock.
fn moment(frame: &mut Frame<'_>, area: Rect, shown: &Shown<'_>) {
    let table = &shown.view.table;
    let round = match table.state.round_id {
        0 => "no round".to_owned(),
        round => format!("round {round}"),
    };
    let since = match table.phase_since_ms {
        Some(since) => clock(shown.uptime_ms().saturating_sub(since)),
        None => "since before the daemon's start".to_owned(),
    };
    let left = format!("{round}: {}", words::play(shown.view));
    row(frame, area, &shown.look.text(&left), &since, shown.look.heading());
}

/// The call, and whether the lamps show it.
fn call(frame: &mut Frame<'_>, area: Rect, shown: &Shown<'_>) {
    let (state, situation) = (&shown.view.table.state, &shown.view.table.situation);
    let lamps = match situation.lamps.as_deref() {
        Some("waiting") => "lamps: awaited",
        Some("lit") => "lamps: as they should be",
        Some("fault_declared") => "lamps: a fault is declared",
        Some("unproven") => "lamps: not measured",
        Some(_) | None => "",
    };
    let left = match &state.call {
        Some(call) => format!("call: {call}"),
        None if state.settled_provisionally => "settled by the cover; \"round reopen\" takes it back".to_owned(),
        None => String::new(),
    };
    row(frame, area, &shown.look.text(&left), lamps, Style::new());
}

/// The layout or the lights, with what is lit.
fn picture(view: &View, look: Look) -> Vec<Line<'static>> {
    let table = &view.table;
    let dark = table.state.lit.is_empty();
    if !dark && words::are_lamps_away(view) {
        let said = format!(
            "The lamps don't answer: what is lit is not known. It should be: {}",
            table.state.lit.join(", ")
        );
        let lines = wrapped(&look.text(&said), usize::from(PICTURE_COLUMNS) - 1);
        return lines.into_iter().map(|said| Line::styled(said, look.alarm())).collect();
    }
    let lit: BTreeSet<&str> = words::shining(view).into_iter().collect();
    let rows = picture::of_table(&table.game, &table.layout);
    rows.into_iter().map(|row| drawn(&row, &lit, look)).collect()
}

fn drawn(row: &picture::Row, lit: &BTreeSet<&str>, look: Look) -> Line<'static> {
    let mut spans = vec![Span::styled(format!("{:>LABEL$} ", row.label), look.dim())];
    for (id, written) in &row.areas {
        spans.push(if lit.contains(id.as_str()) {
            Span::styled(format!("[{written}]"), look.lit())
        } else {
            Span::raw(format!(" {written} "))
        });
    }
    spans.push(Span::styled(format!(" {}", row.odds), look.dim()));
    Line::from(spans)
}

/// Who spins and what was spun, what happens by itself, what can be done now.
fn next(shown: &Shown<'_>, width: usize) -> Vec<Line<'static>> {
    let situation = &shown.view.table.situation;
    let mut said = vec![String::new()];
    if let Some(game) = &situation.two_up {
        said.extend(words::describe_two_up(game));
    }
    let now = shown.uptime_ms();
    for deadline in &situation.deadlines {
        let left = clock(deadline.at_uptime_ms.saturating_sub(now));
        said.push(format!("in {left}: {}", deadline.what));
    }
    for possible in &situation.possible {
        said.push(format!("now: {}", possible.text));
    }
    let lines = said.iter().flat_map(|said| wrapped(&shown.look.text(said), width));
    lines.map(Line::raw).collect()
}

/// Devices, floor, journal and as many results as there is room for.
fn side(view: &View, look: Look, rows: usize) -> Vec<Line<'static>> {
    let mut lines = vec![Line::styled("devices", look.heading())];
    lines.extend(view.links.iter().map(|link| device(link, look)));
    let (floor, style) = match &view.uplink {
        None => ("not started".to_owned(), look.alarm()),
        Some(uplink) => {
            let style = match words::floor(view, uplink).1 {
                words::InOrder::Yes => Style::new(),
                words::InOrder::No => look.alarm(),
            };
            (words::floor_word(uplink).to_owned(), style)
        }
    };
    lines.push(Line::from(vec![
        Span::styled("floor ", look.heading()),
        Span::styled(floor, style),
    ]));
    let (backlog, in_flight) = view.uplink.as_ref().map_or((0, 0), |up| (up.backlog, up.in_flight));
    lines.push(Line::raw(format!("backlog {backlog}, {in_flight} in flight")));
    let journal = &view.table.journal;
    lines.push(Line::from(vec![
        Span::styled("journal ", look.heading()),
        Span::raw(format!("event {}", journal.seqno)),
    ]));
    if let Some(free) = journal.free_mb {
        lines.push(Line::raw(format!("{free} MB free")));
    }
    lines.push(Line::styled("last results", look.heading()));
    let room = rows.saturating_sub(lines.len());
    lines.extend(
        view.table
            .rounds
            .ended
            .iter()
            .take(room)
            .map(|round| Line::raw(ended(round))),
    );
    lines
}

/// How a link stands, in 23 columns.
fn device(link: &LinkReport, look: Look) -> Line<'static> {
    let trip = link
        .round_trip
        .map(|trip| format!(" {}.{} ms", trip.p50_us / 1000, trip.p50_us % 1000 / 100));
    let damaged = match link.counts.crc_errors + link.counts.noise {
        0 => String::new(),
        damaged => format!(" {damaged} bad"),
    };
    let kind = format!("{:8} ", link.kind.word());
    let (said, style) = match link.state {
        LinkState::Up => (format!("up{}{damaged}", trip.unwrap_or_default()), Style::new()),
        LinkState::Greeting | LinkState::Silent | LinkState::Down => {
            let since = spoken(link.at_us.saturating_sub(link.since_us));
            (format!("{} {since}", link.state.word().to_uppercase()), look.alarm())
        }
    };
    Line::from(vec![Span::raw(kind), Span::styled(said, style)])
}

/// A round that has ended, in 23 columns.
fn ended(round: &RoundView) -> String {
    let id = round.round_id;
    if let Some(game) = &round.two_up {
        let spins: Vec<String> = game.spins.iter().map(|spin| letters(spin)).collect();
        let shown = spins.len().saturating_sub(6);
        let spins = spins.get(shown..).unwrap_or_default().join(" ");
        return format!("{id:>4} {spins} {}", how(round.end.as_ref()))
            .trim_end()
            .to_owned();
    }
    let faces: Vec<String> = round.faces.iter().map(u32::to_string).collect();
    let result = match round.faces.iter().sum::<u32>() {
        0 => String::new(),
        total => format!("{} = {total}", faces.join(" ")),
    };
    let amended = if round.amended { "*" } else { "" };
    format!("{id:>4} {result}{amended} {}", how(round.end.as_ref()))
        .trim_end()
        .to_owned()
}

fn letters(spin: &str) -> String {
    match spin {
        "triple_heads" => "3H".to_owned(),
        "triple_tails" => "3T".to_owned(),
        other => other.chars().take(1).collect::<String>().to_uppercase(),
    }
}

fn how(end: Option<&RoundEnd>) -> &'static str {
    match end {
        Some(RoundEnd::Settled) | None => "",
        Some(RoundEnd::Void(_)) => "VOID",
        Some(RoundEnd::Abandoned) => "abandoned",
        Some(RoundEnd::SpinnerWon) => "won",
        Some(RoundEnd::SpinnerLost) => "lost",
        Some(RoundEnd::Decided) => "decided",
        Some(RoundEnd::Returned) => "returned",
    }
}

/// What is not in order, the chosen one in sight; what came of the last key in the last row.
fn troubles(frame: &mut Frame<'_>, area: Rect, shown: &Shown<'_>) {
    let look = shown.look;
    let width = usize::from(area.width);
    let answer: Vec<Line<'_>> = shown
        .said
        .iter()
        .flat_map(|said| said.lines())
        .flat_map(|said| wrapped(&look.text(said), width))
        .map(|said| Line::styled(said, look.heading()))
        .collect();
    let all = worries(shown.view);
    let chosen = chosen_of(&all, shown.chosen);
    let (mut lines, (at, ends)) = listed(&all, chosen, width, look);
    if all.is_empty() {
        lines.push(Line::raw("In order: no locks, no alerts, every device answers."));
    }
    let room = usize::from(area.height).saturating_sub(answer.len());
    let hidden = lines.len().saturating_sub(room);
    // The chosen one stays in sight; one row says that there are more.
    let (room, top) = match hidden {
        0 => (room, 0),
        _ => {
            let room = room.saturating_sub(1);
            // From the top as long as the chosen one is in sight there: what comes first matters most.
            let top = if ends <= room { 0 } else { at };
            (room, top.min(lines.len().saturating_sub(room)))
        }
    };
    let total = lines.len();
    let mut lines: Vec<Line<'_>> = lines.into_iter().skip(top).take(room).collect();
    if hidden > 0 {
        let more = match (top, total - top - lines.len()) {
            (0, below) => format!("  ({below} more lines below: up/down)"),
            (above, 0) => format!("  ({above} more lines above: up/down)"),
            (above, below) => format!("  ({above} more lines above, {below} below: up/down)"),
        };
        lines.push(Line::styled(more, Style::new().add_modifier(Modifier::BOLD)));
    }
    lines.extend(answer);
    frame.render_widget(Paragraph::new(lines), area);
}

/// Every worry in lines; and the lines at which the chosen one begins and ends.
fn listed(all: &[Worry], chosen: Option<usize>, width: usize, look: Look) -> (Vec<Line<'static>>, (usize, usize)) {
    let mut lines = Vec::new();
    let mut span = (0, 0);
    for (at, worry) in all.iter().enumerate() {
        let style = if worry.stands { look.alarm() } else { Style::new() };
        if chosen == Some(at) {
            span.0 = lines.len();
        }
        for (below, text) in wrapped(&look.text(&worry.text), width - 2).into_iter().enumerate() {
            let mark = if chosen == Some(at) && below == 0 { "> " } else { "  " };
            lines.push(Line::styled(format!("{mark}{text}"), style));
        }
        if chosen == Some(at) {
            span.1 = lines.len();
        }
    }
    (lines, span)
}
