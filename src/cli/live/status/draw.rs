//! How the live view of a table is laid out: its moment at the top, the layout with what is lit to the left, devices, floor and last
//! results to the right of it, what is not in order below.

use super::chosen_of;
use super::worries::{Worry, worries};
use crate::cli::line_advice::spoken;
use crate::cli::live::daemon::line;
use crate::cli::live::events::Events;
use crate::cli::live::feed::wall;
use crate::cli::live::look::{CUT, Look, clock, hanging, held, items, marked, row, rows, wrapped};
use crate::cli::picture::{self, LABEL};
use crate::cli::status::{told, words};
use crate::counted::counted;
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

/// Rows below the picture that are kept for what is not in order, and for the keys.
const BELOW_ROWS: u16 = 3;

/// Spins of a two-up game that are told beside its end: the newest.
const SPINS_TOLD: usize = 6;

/// Leads to what there is no room for.
const ALL: &str = "Enter: all of it";

const HELP: &str = " a: acknowledge   up/down: choose   Enter: all of it   e: events   q: quit";
const HELP_ALL: &str = " up/down: scroll   Esc or left: back to the table   q: quit";

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

/// The table's page. Which worry is chosen on it.
pub(super) fn table(frame: &mut Frame<'_>, shown: &Shown<'_>) -> Option<String> {
    let area = frame.area();
    let (view, look) = (shown.view, shown.look);
    let width = usize::from(area.width);
    title(frame, line(area, 0), view, look);
    let moment = moment(shown, width);
    let call_at = 1 + u16::try_from(moment.len()).unwrap_or(u16::MAX);
    let moment: Vec<Line<'_>> = moment
        .into_iter()
        .map(|said| Line::styled(said, look.heading()))
        .collect();
    let below_title = Rect {
        y: area.y + 1,
        height: call_at - 1,
        ..area
    };
    frame.render_widget(Paragraph::new(moment), below_title);
    call(frame, line(area, call_at), shown);

    let top = call_at + 1;
    let mut lines = picture(view, look);
    let entries = next(shown, usize::from(PICTURE_COLUMNS) - 1);
    let drawn = u16::try_from(lines.len() + usize::from(!entries.is_empty())).unwrap_or(u16::MAX);
    let body = Rect {
        y: area.y + top,
        height: drawn.max(SIDE_ROWS).min(area.height.saturating_sub(top + BELOW_ROWS)),
        ..area
    };
    let left = Rect {
        width: PICTURE_COLUMNS,
        ..body
    };
    let room = usize::from(body.height).saturating_sub(lines.len());
    lines.extend(as_many_as_fit(&entries, room).into_iter().map(Line::raw));
    frame.render_widget(Paragraph::new(lines), left);
    let right = Rect {
        x: body.x + PICTURE_COLUMNS,
        width: body.width - PICTURE_COLUMNS,
        ..body
    };
    frame.render_widget(Paragraph::new(side(view, look, right)), right);

    let top = top + body.height;
    let below = Rect {
        y: area.y + top,
        height: area.height.saturating_sub(top + 1),
        ..area
    };
    let said = shown
        .said
        .map(|said| look.text(said.trim_end()))
        .filter(|said| !said.is_empty());
    let in_last_row = shown.said.is_none_or(|said| !said.trim_end().contains('\n'))
        && said.as_ref().is_none_or(|said| said.len() < width);
    let (above, last) = match (&said, in_last_row) {
        (None, _) => (Vec::new(), HELP.to_owned()),
        (Some(said), true) => (Vec::new(), format!(" {said}")),
        (Some(_), false) => {
            let told = shown.said.unwrap_or_default().lines().collect::<Vec<_>>().join(" ");
            let most = usize::from(below.height.saturating_sub(1));
            (held(&look.text(&told), width, most), HELP.to_owned())
        }
    };
    let chosen = troubles(frame, below, shown, above);
    row(frame, line(area, area.height - 1), &last, "", look.bar());
    chosen
}

/// Everything that `status` says, to scroll through. `top`: the line at the top.
pub(super) fn all(frame: &mut Frame<'_>, view: &View, look: Look, top: &mut usize) {
    let area = frame.area();
    title(frame, line(area, 0), view, look);
    let body = Rect {
        y: area.y + 1,
        height: area.height.saturating_sub(2),
        ..area
    };
    let told = told(view);
    let lines = told
        .lines()
        .flat_map(|said| hanging(&look.text(said), usize::from(area.width)));
    let lines: Vec<Line<'_>> = lines.map(Line::raw).collect();
    *top = (*top).min(lines.len().saturating_sub(usize::from(body.height)));
    let seen: Vec<Line<'_>> = lines.into_iter().skip(*top).take(usize::from(body.height)).collect();
    frame.render_widget(Paragraph::new(seen), body);
    row(frame, line(area, area.height - 1), HELP_ALL, "", look.bar());
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
fn moment(shown: &Shown<'_>, width: usize) -> Vec<String> {
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
    rows(&shown.look.text(&left), &since, width)
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

/// Who spins and what was spun, what happens by itself, what can be done now: each in its lines.
fn next(shown: &Shown<'_>, width: usize) -> Vec<Vec<String>> {
    let situation = &shown.view.table.situation;
    let mut said = Vec::new();
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
    said.iter().map(|said| wrapped(&shown.look.text(said), width)).collect()
}

/// The first entries whole, and how many more there are; below a free row where there is room for one.
fn as_many_as_fit(entries: &[Vec<String>], room: usize) -> Vec<String> {
    let all: usize = entries.iter().map(Vec::len).sum();
    let mut lines = Vec::new();
    if all < room {
        lines.push(String::new());
    }
    if all <= room {
        lines.extend(entries.iter().flatten().cloned());
        return lines;
    }
    let mut left = entries.len();
    for entry in entries {
        if lines.len() + entry.len() + 1 > room {
            break;
        }
        lines.extend(entry.iter().cloned());
        left -= 1;
    }
    if room > 0 {
        lines.push(format!("({left} more: {ALL})"));
    }
    lines
}

/// Devices, floor, journal and as many results as there is room for.
fn side(view: &View, look: Look, area: Rect) -> Vec<Line<'static>> {
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let mut lines = vec![Line::styled("devices", look.heading())];
    lines.extend(view.links.iter().flat_map(|link| device(link, look, width)));
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
    let waiting = [format!("backlog {backlog},"), format!("{in_flight} in flight")];
    lines.extend(items(&waiting, width, 2).into_iter().map(Line::raw));
    let journal = &view.table.journal;
    lines.push(Line::from(vec![
        Span::styled("journal ", look.heading()),
        Span::raw(format!("event {}", journal.seqno)),
    ]));
    if let Some(free) = journal.free_mb {
        lines.push(Line::raw(format!("{free} MB free")));
    }
    if lines.len() > height {
        lines.truncate(height.saturating_sub(1));
        lines.push(Line::raw(format!("({ALL})")));
        return lines;
    }
    let ended = view.table.rounds.ended.iter();
    let results = ended
        .flat_map(|round| ended_in(round, width))
        .take(height.saturating_sub(lines.len() + 1));
    let results: Vec<Line<'_>> = results.map(Line::raw).collect();
    if !results.is_empty() {
        lines.push(Line::styled("last results", look.heading()));
        lines.extend(results);
    }
    lines
}

/// How a link stands.
fn device(link: &LinkReport, look: Look, width: usize) -> Vec<Line<'static>> {
    let (said, style) = match link.state {
        LinkState::Up => {
            let mut said = vec![format!("{:8} up", link.kind.word())];
            said.extend(
                link.round_trip
                    .map(|trip| format!("{}.{} ms", trip.p50_us / 1000, trip.p50_us % 1000 / 100)),
            );
            match link.counts.crc_errors + link.counts.noise {
                0 => {}
                damaged => said.push(format!("{damaged} bad")),
            }
            (said, Style::new())
        }
        LinkState::Greeting | LinkState::Silent | LinkState::Down => {
            let since = spoken(link.at_us.saturating_sub(link.since_us));
            let state = format!("{:8} {}", link.kind.word(), link.state.word().to_uppercase());
            (vec![state, since], look.alarm())
        }
    };
    let lines = items(&said, width, 2).into_iter();
    lines.map(|said| Line::styled(said, style)).collect()
}

/// A round that has ended.
fn ended_in(round: &RoundView, width: usize) -> Vec<String> {
    let id = format!("{:>4}", round.round_id);
    let how = how(round.end.as_ref()).to_owned();
    let mut said = match &round.two_up {
        Some(game) => {
            let spins: Vec<String> = game.spins.iter().map(|spin| letters(spin)).collect();
            let older = spins.len().saturating_sub(SPINS_TOLD);
            let mark = if older > 0 { CUT } else { "" };
            let spins = spins.get(older..).unwrap_or_default().join(" ");
            vec![id, format!("{mark}{spins}"), how]
        }
        None => {
            let faces: Vec<String> = round.faces.iter().map(u32::to_string).collect();
            let amended = if round.amended { "*" } else { "" };
            let result = match round.faces.iter().sum::<u32>() {
                0 => String::new(),
                total => format!("{} = {total}{amended}", faces.join(" ")),
            };
            vec![id, result, how]
        }
    };
    said.retain(|said| !said.is_empty());
    items(&said, width, 5)
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

/// What is not in order, the chosen one in sight, and `answer` below it. Which is chosen.
fn troubles(frame: &mut Frame<'_>, area: Rect, shown: &Shown<'_>, answer: Vec<String>) -> Option<String> {
    let look = shown.look;
    let width = usize::from(area.width);
    let all = worries(shown.view);
    let chosen = chosen_of(&all, shown.chosen);
    let (mut lines, (at, ends)) = listed(&all, chosen, width, look);
    if all.is_empty() {
        lines.push(Line::raw("In order: no locks, no alerts, every device answers."));
    }
    let room = usize::from(area.height).saturating_sub(answer.len());
    let total = lines.len();
    // One row says that there are more, where there is one to spare.
    let room = match total > room {
        true => room.saturating_sub(1).max(1),
        false => room,
    };
    // From the top as long as the chosen one is in sight there: what comes first matters most.
    let top = if ends <= room { 0 } else { at };
    let top = top.min(total.saturating_sub(room));
    let mut lines: Vec<Line<'_>> = lines.into_iter().skip(top).take(room).collect();
    let (above, below) = (top, total - top - lines.len());
    if lines.len() + answer.len() < usize::from(area.height) {
        let above = (above > 0).then(|| format!("{} above", counted(above, "more line")));
        let below = (below > 0).then(|| format!("{} below", counted(below, "more line")));
        if above.is_some() || below.is_some() {
            let more: Vec<String> = above.into_iter().chain(below).collect();
            let more = format!("  ({}: up/down, {ALL})", more.join(", "));
            lines.push(Line::styled(more, Style::new().add_modifier(Modifier::BOLD)));
        }
    } else if above + below > 0
        && let Some(last) = lines.last_mut()
    {
        let text: String = last.spans.iter().map(|span| span.content.as_ref()).collect();
        *last = Line::styled(marked(&text, width), last.style);
    }
    lines.extend(answer.into_iter().map(|said| Line::styled(said, look.heading())));
    frame.render_widget(Paragraph::new(lines), area);
    chosen.and_then(|at| all.get(at)).map(|worry| worry.key.clone())
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
