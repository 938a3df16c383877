//! How the supervisors' menu is laid out, on small screens too: the table's moment at the top, lists and what the chosen act does
//! below it, the keys in the last row.

use super::asking::{Asking, Place};
use super::words::words;
use super::{Choice, Confirm, Menu, Page, Said, Which};
use crate::cli::describe::describe;
use crate::cli::live::daemon::line;
use crate::cli::live::look::{Look, clock, row, wrapped};
use crate::cli::status::words as table_words;
use crate::control::Preview;
use crate::control::hex;
use crate::gateway::View;
use crate::table::event::Event;
use prost::Message;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use std::time::Duration;

/// Rows above the page: title and moment.
const HEAD: u16 = 2;

/// Draws it.
pub(super) fn page(frame: &mut Frame<'_>, menu: &Menu, view: &View, age: Duration) {
    let area = frame.area();
    head(frame, area, menu, view, age);
    let body = Rect {
        y: area.y + HEAD,
        height: area.height.saturating_sub(HEAD + 1),
        ..area
    };
    let help = match &menu.page {
        Page::Menu => {
            list(frame, body, menu);
            match menu.which {
                Which::Possible => " up/down, Enter: choose  Tab: what not  Esc: quit",
                Which::Impossible => " up/down: choose  Tab or Esc: what is possible",
            }
        }
        Page::Asking(asking) => {
            question(frame, body, asking, menu.look);
            match asking.place {
                Place::Line(_) => " up/down, Enter: choose  Esc: back",
                Place::Die { .. } => " up/down: turn  left/right: which  Enter: on",
                Place::Seat(_) => " up/down: number  Enter: on  Esc: back",
                Place::Typing(_) => " type it, Enter: on  Esc: back",
            }
        }
        Page::Confirm(confirm) => {
            confirmation(frame, body, confirm, view, menu.look);
            " left/right, Enter: choose  Esc: back"
        }
        Page::Said(said) => {
            told(frame, body, said, menu.look);
            " any key: back to the menu"
        }
    };
    row(frame, line(area, area.height - 1), help, "", menu.look.bar());
}

fn head(frame: &mut Frame<'_>, area: Rect, menu: &Menu, view: &View, age: Duration) {
    let (table, look) = (&view.table, menu.look);
    let mode = table.state.mode.replace('_', " ").to_uppercase();
    let wrong = match (table.situation.locks.len(), table.state.alerts.len()) {
        (0, 0) => String::new(),
        (0, alerts) => format!("alerts: {alerts} "),
        (locks, alerts) => format!("locks: {locks}, alerts: {alerts} "),
    };
    let title = format!(" {} {mode}", table.table);
    row(frame, line(area, 0), &look.text(&title), &wrong, look.bar());
    let round = match table.state.round_id {
        0 => String::new(),
        round => format!("round {round}: "),
    };
    let age = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
    let since = table
        .phase_since_ms
        .map(|since| clock((table.uptime_ms + age).saturating_sub(since)));
    let moment = format!("{round}{}", table_words::play(view));
    row(
        frame,
        line(area, 1),
        &look.text(&moment),
        since.as_deref().unwrap_or(""),
        look.heading(),
    );
}

/// The acts, and what the chosen one does or why it can't be.
fn list(frame: &mut Frame<'_>, area: Rect, menu: &Menu) {
    let look = menu.look;
    let groups = menu.groups();
    let width = usize::from(area.width);
    let chosen = groups.get(menu.at());
    let below = match (chosen, menu.which, &menu.trouble) {
        (_, _, Some(trouble)) => wrapped(&look.text(trouble), width),
        (None, Which::Possible, None) => vec!["Nothing is possible now.".to_owned()],
        (None, Which::Impossible, None) => vec!["Everything is possible now.".to_owned()],
        (Some(group), Which::Possible, None) => wrapped(words(&group.first.act).does, width),
        (Some(group), Which::Impossible, None) => {
            let why = group.first.refused.as_ref().map_or(String::new(), |refused| {
                let rule = match refused.rule.as_str() {
                    "" => String::new(),
                    rule => format!(" ({rule})"),
                };
                format!("Not now: {}{rule}", refused.text)
            });
            wrapped(&look.text(&why), width)
        }
    };
    let heading = match menu.which {
        Which::Possible => "What can be done now",
        Which::Impossible => "What can't be done now, and why",
    };
    row(frame, line(area, 0), heading, "", look.heading());
    let below_rows = u16::try_from(below.len()).unwrap_or(u16::MAX).min(area.height / 2);
    let rows = area.height.saturating_sub(2 + below_rows);
    let titles: Vec<String> = groups
        .iter()
        .map(|group| words(&group.first.act).title.to_owned())
        .collect();
    let listed = Rect {
        y: area.y + 1,
        height: rows,
        ..area
    };
    lines(frame, listed, &titles, menu.at(), look);
    let said = Rect {
        y: area.y + area.height - below_rows,
        height: below_rows,
        ..area
    };
    frame.render_widget(
        Paragraph::new(below.into_iter().map(Line::raw).collect::<Vec<_>>()),
        said,
    );
}

/// A list of which one line is chosen, and in sight.
fn lines(frame: &mut Frame<'_>, area: Rect, all: &[String], at: usize, look: Look) {
    let height = usize::from(area.height);
    let top = (at + 1).saturating_sub(height);
    for (below, text) in all.iter().skip(top).take(height).enumerate() {
        let here = line(area, u16::try_from(below).unwrap_or(u16::MAX));
        let (mark, style) = if top + below == at {
            ("> ", look.chosen())
        } else {
            ("  ", Style::new())
        };
        row(frame, here, &format!("{mark}{text}"), "", style);
    }
}

fn question(frame: &mut Frame<'_>, area: Rect, asking: &Asking, look: Look) {
    let title = words(&asking.act).title;
    row(frame, line(area, 0), title, "", look.heading());
    row(frame, line(area, 1), &asking.question(), "", Style::new());
    let body = Rect {
        y: area.y + 2,
        height: area.height.saturating_sub(2),
        ..area
    };
    match &asking.place {
        Place::Line(at) => {
            let all = asking.lines();
            // Long ones are cut in the list; the chosen one is whole below it.
            let whole = wrapped(all.get(*at).map_or("", String::as_str), usize::from(area.width));
            let rows = u16::try_from(whole.len()).unwrap_or(u16::MAX).min(area.height / 3);
            let listed = Rect {
                height: body.height.saturating_sub(rows + 1),
                ..body
            };
            lines(frame, listed, &all, *at, look);
            let below = Rect {
                y: body.y + body.height.saturating_sub(rows),
                height: rows,
                ..body
            };
            frame.render_widget(
                Paragraph::new(whole.into_iter().map(Line::raw).collect::<Vec<_>>()),
                below,
            );
        }
        Place::Die { faces, at } => {
            let dice: Vec<String> = faces
                .iter()
                .enumerate()
                .map(|(die, face)| {
                    if die == *at {
                        format!("[{face}]")
                    } else {
                        format!(" {face} ")
                    }
                })
                .collect();
            row(
                frame,
                line(body, 1),
                &format!("  {}", dice.join("  ")),
                "",
                look.heading(),
            );
        }
        Place::Seat(seat) => row(frame, line(body, 1), &format!("  [{seat}]"), "", look.heading()),
        Place::Typing(text) => {
            let typed = wrapped(&look.text(&format!("{text}_")), usize::from(area.width));
            frame.render_widget(
                Paragraph::new(typed.into_iter().map(Line::raw).collect::<Vec<_>>()),
                body,
            );
        }
    }
}

/// What it will do, in the table's own words, and the two answers.
fn confirmation(frame: &mut Frame<'_>, area: Rect, confirm: &Confirm, view: &View, look: Look) {
    let width = usize::from(area.width);
    let title = words(&confirm.act).title;
    let chosen = confirm.asking.chosen();
    let heading = match chosen.as_str() {
        "" => format!("{title}?"),
        chosen => format!("{title}: {chosen}?"),
    };
    let mut said: Vec<Line<'_>> = wrapped(&heading, width)
        .into_iter()
        .map(|text| Line::styled(text, look.heading()))
        .collect();
    let told = effects(confirm, view).into_iter();
    said.extend(told.flat_map(|text| wrapped(&look.text(&text), width)).map(Line::raw));
    let body = Rect {
        height: area.height.saturating_sub(2),
        ..area
    };
    frame.render_widget(Paragraph::new(said), body);
    let answers = match confirm.choice {
        Choice::No => "> [ No, go back ]     Yes, do it",
        Choice::Yes => "    No, go back    > [ Yes, do it ]",
    };
    row(frame, line(area, area.height - 1), answers, "", look.heading());
}

fn effects(confirm: &Confirm, view: &View) -> Vec<String> {
    let preview = &confirm.preview;
    let mut told = Vec::new();
    let events: Vec<Event> = preview
        .events
        .iter()
        .filter_map(|text| Event::decode(hex::read(text)?.as_slice()).ok())
        .collect();
    match events.as_slice() {
        [] => told.push("Records nothing.".to_owned()),
        events => told.extend(events.iter().map(|event| format!("Records: {}", describe(event)))),
    }
    told.push(format!("Lamps: {}", lamps(preview, view)));
    told.push(format!("Bets: {}", words(&confirm.act).bets));
    let mut after = view.clone();
    after.table.state = preview.after.clone();
    told.push(format!("Afterwards: {}", table_words::play(&after)));
    told.push(match &preview.taken_back_by {
        Some(back) => format!("It can be taken back: {}", words(back).title),
        None => "NOTHING TAKES IT BACK".to_owned(),
    });
    told
}

fn lamps(preview: &Preview, view: &View) -> String {
    let what = match view.table.situation.two_up {
        Some(_) => "lights",
        None => "areas",
    };
    match (preview.lit_before.as_slice(), preview.lit_after.as_slice()) {
        ([], []) => "stay dark".to_owned(),
        (before, after) if before == after => "stay as they are".to_owned(),
        (_, []) => "go dark".to_owned(),
        (_, after) => format!("{} {what}: {}", after.len(), after.join(", ")),
    }
}

fn told(frame: &mut Frame<'_>, area: Rect, said: &Said, look: Look) {
    let mut lines = vec![Line::styled(said.heading, look.heading()), Line::raw("")];
    let text = said
        .text
        .lines()
        .flat_map(|text| wrapped(&look.text(text), usize::from(area.width)));
    lines.extend(text.map(Line::raw));
    frame.render_widget(Paragraph::new(lines), area);
}
