//! How the supervisors' menu is laid out, on small screens too: the table's moment at the top, lists and what the chosen act does
//! below it, the keys in the last row.

use super::asking::{Asking, Place};
use super::words::words;
use super::{Choice, Confirm, Menu, Page, Said, Which};
use crate::cli::describe::describe;
use crate::cli::live::daemon::line;
use crate::cli::live::look::{CUT, Look, clock, held, marked, row, rows, wrapped};
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

/// Draws it.
pub(super) fn page(frame: &mut Frame<'_>, menu: &Menu, view: &View, age: Duration) {
    let area = frame.area();
    let head = head(frame, area, menu, view, age);
    let body = Rect {
        y: area.y + head,
        height: area.height.saturating_sub(head + 1),
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

/// Title and moment; how many rows they take.
fn head(frame: &mut Frame<'_>, area: Rect, menu: &Menu, view: &View, age: Duration) -> u16 {
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
    let moment = rows(
        &look.text(&moment),
        since.as_deref().unwrap_or(""),
        usize::from(area.width),
    );
    let head = 1 + u16::try_from(moment.len()).unwrap_or(u16::MAX);
    let below = Rect {
        y: area.y + 1,
        height: (head - 1).min(area.height.saturating_sub(1)),
        ..area
    };
    let moment: Vec<Line<'_>> = moment
        .into_iter()
        .map(|said| Line::styled(said, look.heading()))
        .collect();
    frame.render_widget(Paragraph::new(moment), below);
    head
}

/// The acts, and what the chosen one does or why it can't be.
fn list(frame: &mut Frame<'_>, area: Rect, menu: &Menu) {
    let look = menu.look;
    let groups = menu.groups();
    let width = usize::from(area.width);
    let most = usize::from(area.height / 2);
    let chosen = groups.get(menu.at());
    let below = match (chosen, menu.which, &menu.trouble) {
        (_, _, Some(trouble)) => held(&look.text(trouble), width, most),
        (None, Which::Possible, None) => vec!["Nothing is possible now.".to_owned()],
        (None, Which::Impossible, None) => vec!["Everything is possible now.".to_owned()],
        (Some(group), Which::Possible, None) => held(words(&group.first.act).does, width, most),
        (Some(group), Which::Impossible, None) => {
            let why = group.first.refused.as_ref().map_or(String::new(), |refused| {
                let rule = match refused.rule.as_str() {
                    "" => String::new(),
                    rule => format!(" ({rule})"),
                };
                format!("Not now: {}{rule}", refused.text)
            });
            held(&look.text(&why), width, most)
        }
    };
    let heading = match menu.which {
        Which::Possible => "What can be done now",
        Which::Impossible => "What can't be done now, and why",
    };
    row(frame, line(area, 0), heading, "", look.heading());
    let below_rows = u16::try_from(below.len()).unwrap_or(u16::MAX);
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
            let most = usize::from(area.height / 2);
            let whole = held(all.get(*at).map_or("", String::as_str), usize::from(area.width), most);
            let rows = u16::try_from(whole.len()).unwrap_or(u16::MAX);
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
            let mut typed = wrapped(&look.text(&format!("{text}_")), usize::from(area.width));
            // Where it goes on is what is looked at.
            let above = typed.len().saturating_sub(usize::from(body.height));
            if above > 0 {
                typed.drain(..=above);
                typed.insert(0, CUT.to_owned());
            }
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
    let body = Rect {
        height: area.height.saturating_sub(2),
        ..area
    };
    let told: Vec<String> = effects(confirm, view).iter().map(|text| look.text(text)).collect();
    let mut said: Vec<Line<'_>> = Vec::new();
    for (at, text) in all_in_sight(&heading, &told, width, usize::from(body.height))
        .into_iter()
        .enumerate()
    {
        let style = if at == 0 { look.heading() } else { Style::new() };
        said.extend(text.into_iter().map(|text| Line::styled(text, style)));
    }
    frame.render_widget(Paragraph::new(said), body);
    let answers = match confirm.choice {
        Choice::No => "> [ No, go back ]     Yes, do it",
        Choice::Yes => "    No, go back    > [ Yes, do it ]",
    };
    row(frame, line(area, area.height - 1), answers, "", look.heading());
}

/// The heading and each effect in their lines. Where there is no room for all of them the longest is cut, with a mark: that nothing
/// takes an act back must not be what is out of sight.
fn all_in_sight(heading: &str, told: &[String], width: usize, room: usize) -> Vec<Vec<String>> {
    let texts: Vec<&str> = std::iter::once(heading)
        .chain(told.iter().map(String::as_str))
        .collect();
    let mut lines: Vec<Vec<String>> = texts.iter().map(|text| wrapped(text, width)).collect();
    while lines.iter().map(Vec::len).sum::<usize>() > room {
        let longest = lines.iter().enumerate().max_by_key(|(_, lines)| lines.len());
        let Some((at, rows)) = longest
            .map(|(at, lines)| (at, lines.len()))
            .filter(|(_, rows)| *rows > 1)
        else {
            break;
        };
        if let (Some(lines), Some(text)) = (lines.get_mut(at), texts.get(at)) {
            *lines = held(text, width, rows - 1);
        }
    }
    lines
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
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let text: Vec<String> = said
        .text
        .lines()
        .flat_map(|text| wrapped(&look.text(text), width))
        .collect();
    let room = height.saturating_sub(lines.len());
    let cut = text.len() > room;
    let mut text: Vec<String> = text.into_iter().take(room).collect();
    if let Some(last) = text.last_mut().filter(|_| cut) {
        *last = marked(last, width);
    }
    lines.extend(text.into_iter().map(Line::raw));
    frame.render_widget(Paragraph::new(lines), area);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::live::testing::{self, GAMES, words as in_one_line};

    fn effects_of_a_long_act() -> Vec<String> {
        [
            "Records: result amended from 1, 3, 6, Total 10 to 2, 3, 6, Total 11: big, total_11, pair_2_3, pair_2_6, pair_3_6, face_2, \
             face_3, face_6 (supervisor ana by root, with a reason that goes on, and on, and on)",
            "Lamps: 8 areas: big, total_11, pair_2_3, pair_2_6, pair_3_6, face_2, face_3, face_6",
            "Bets: are settled by these dice",
            "Afterwards: the result is entered; wagers are being settled",
            "NOTHING TAKES IT BACK",
        ]
        .map(str::to_owned)
        .into()
    }

    #[test]
    fn whether_an_act_can_be_taken_back_is_in_sight_on_the_smallest_screen() {
        let told = effects_of_a_long_act();
        for width in 40..=200 {
            for room in 6..=22 {
                let lines = all_in_sight("Amend the result: 2 3 6?", &told, width, room);
                let shown: Vec<String> = lines.iter().flatten().cloned().collect();
                assert!(
                    shown.len() <= room && shown.iter().all(|line| line.chars().count() <= width),
                    "{shown:#?}"
                );
                assert_eq!(shown.last().map(String::as_str), Some("NOTHING TAKES IT BACK"));
                for (text, lines) in told.iter().zip(&lines[1..]) {
                    let whole = lines.join(" ") == *text;
                    assert!(
                        whole || lines.last().is_some_and(|line| line.ends_with(CUT)),
                        "{width}, {room}: {lines:?}"
                    );
                }
            }
        }
    }

    fn menu(page: Page, offers: Vec<crate::control::Offer>) -> Menu {
        let acting = crate::cli::daemon::Acting {
            reach: crate::cli::daemon::Reach::default(),
            by: None,
            json: false,
        };
        let mut menu = Menu::new(std::path::PathBuf::new(), acting);
        menu.page = page;
        menu.offers = offers;
        menu
    }

    #[test]
    fn every_page_is_whole_or_says_that_it_is_not() {
        let long =
            "The daemon refuses, and says why in so many words that a small screen has no room for them. ".repeat(9);
        for game in GAMES {
            let view = testing::view(game);
            for width in testing::WIDTHS.chain(40..60) {
                let said = menu(
                    Page::Said(Said {
                        heading: "Not done.",
                        text: long.clone(),
                    }),
                    Vec::new(),
                );
                let trouble = Menu {
                    trouble: Some(long.clone()),
                    ..menu(Page::Menu, Vec::new())
                };
                for (menu, end) in [(said, "any key"), (trouble, "Tab")] {
                    let rows = testing::shown(width, 15, |frame| page(frame, &menu, &view, Duration::ZERO));
                    let shown = in_one_line(&rows.join("\n"));
                    assert!(shown.contains(table_words::play(&view)), "{}", rows.join("\n"));
                    assert!(
                        shown.contains(long.trim()) || shown.contains(CUT),
                        "{}",
                        rows.join("\n")
                    );
                    assert!(shown.contains(end), "{}", rows.join("\n"));
                }
            }
        }
    }
}
