//! `tablegate devices --watch`: each line's numbers as they change, and what was added since a person began to look: a cable that is
//! moved and is loose shows at once.

use super::WHOLE;
use super::daemon::{gone, line};
use super::feed::{Feed, Seen};
use super::input::{Input, Key, Woken};
use super::look::{Look, clock, items, packed, row, wrapped};
use super::screen::Screen;
use crate::cli::daemon::{Reach, block_on};
use crate::cli::devices::{heard, milliseconds, tenths};
use crate::cli::ending::Failure;
use crate::cli::line_advice::{self, spoken};
use crate::counted::counted;
use crate::device::{Counts, LinkReport, LinkState};
use crate::gateway::View;
use ratatui::Frame;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A fault that is newer than this stands out.
const FRESH: Duration = Duration::from_secs(60);

/// Spaces before what is said of a device below its first line.
const INDENT: usize = 2;

const HELP: &str = " 0: count (+) anew from now   up/down: scroll   q: quit";

/// What was counted when a person began to look.
struct Base {
    /// By the word of the device's kind.
    counts: BTreeMap<&'static str, Counts>,
    since: Instant,
    /// The daemon's run: another one counts from zero.
    run_id: String,
}

impl Base {
    fn of(view: &View) -> Base {
        Base {
            counts: view.links.iter().map(|link| (link.kind.word(), link.counts)).collect(),
            since: Instant::now(),
            run_id: view.table.run_id.clone(),
        }
    }
}

/// Fills the terminal until a person has seen enough.
///
/// # Errors
/// There is no terminal, or no daemon to begin with.
pub fn run(reach: &Reach) -> Result<(), Failure> {
    let socket = reach.look_socket()?;
    block_on(async {
        let mut feed = Feed::follow(socket).await?;
        let mut screen = Screen::take("devices --watch")?;
        let mut input = Input::new()?;
        let look = Look::of_environment();
        let mut base: Option<Base> = None;
        let mut top = 0;
        let mut said: Option<String> = None;
        loop {
            let seen = feed.seen();
            said = feed.returned().or(said);
            if let Seen::Now(view, _) = &seen {
                base = base
                    .filter(|base| base.run_id == view.table.run_id)
                    .or_else(|| Some(Base::of(view)));
            }
            screen.draw(look, WHOLE, |frame| match (&seen, &base) {
                (Seen::Now(view, at), Some(base)) => {
                    let shown = Shown {
                        view,
                        age: at.elapsed(),
                        look,
                        base,
                        said: said.as_deref(),
                    };
                    draw(frame, &shown, &mut top);
                }
                (Seen::Now(..), None) => {}
                (Seen::Gone(why), _) => gone(frame, look, why, " q: quit"),
            })?;
            match input.next(&mut feed).await {
                Woken::Key(key) => {
                    said = None;
                    match key {
                        Key::Letter('q') | Key::Escape => return Ok(()),
                        Key::Letter('0') => base = None,
                        Key::Up => top = top.saturating_sub(1),
                        Key::Down => top += 1,
                        Key::PageUp => top = top.saturating_sub(usize::from(screen.rows())),
                        Key::PageDown => top += usize::from(screen.rows()),
                        Key::Left | Key::Right | Key::Enter | Key::Backspace | Key::Tab | Key::Letter(_) => {}
                    }
                }
                Woken::Suspend => screen.suspend()?,
                Woken::End => return feed.end(),
                Woken::News | Woken::Draw => {}
            }
        }
    })
}

/// What the page is drawn from.
struct Shown<'a> {
    view: &'a View,
    /// How long ago it came.
    age: Duration,
    look: Look,
    base: &'a Base,
    said: Option<&'a str>,
}

/// `top`: the line at the top, where there are more than there is room for.
fn draw(frame: &mut Frame<'_>, shown: &Shown<'_>, top: &mut usize) {
    let area = frame.area();
    let (view, look, base) = (shown.view, shown.look, shown.base);
    let (width, age) = (usize::from(area.width), shown.age);
    let now_us = view.table.uptime_ms.saturating_mul(1000) + u64::try_from(age.as_micros()).unwrap_or(0);
    let looked = u64::try_from(base.since.elapsed().as_millis()).unwrap_or(u64::MAX);
    let title = format!(
        " {} at {}: devices   counted for {}, (+) for {}",
        view.table.table,
        view.table.site,
        spoken(now_us),
        clock(looked)
    );
    row(frame, line(area, 0), &look.text(&title), "", look.bar());
    let body = ratatui::layout::Rect {
        y: area.y + 1,
        height: area.height.saturating_sub(2),
        ..area
    };
    let room = usize::from(body.height);
    let mut lines = lines(view, base, now_us, look, width);
    if lines.len() > room {
        // Free lines are the least.
        lines.retain(|line| line.width() > 0);
    }
    let total = lines.len();
    let room = if total > room { room.saturating_sub(1) } else { room };
    *top = (*top).min(total.saturating_sub(room));
    let mut seen: Vec<Line<'_>> = lines.into_iter().skip(*top).take(room).collect();
    let (above, below) = (*top, total - *top - seen.len());
    if above + below > 0 {
        let said = match (above, below) {
            (0, below) => format!("({} below: up/down)", counted(below, "more line")),
            (above, 0) => format!("({} above: up/down)", counted(above, "more line")),
            (above, below) => format!("({} above, {below} below: up/down)", counted(above, "more line")),
        };
        seen.push(Line::styled(said, look.heading()));
    }
    frame.render_widget(Paragraph::new(seen), body);
    let last = shown
        .said
        .map_or(HELP.to_owned(), |said| format!(" {}", look.text(said)));
    row(frame, line(area, area.height - 1), &last, "", look.bar());
}

/// Every device, and what they tell together.
fn lines(view: &View, base: &Base, now_us: u64, look: Look, width: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for link in &view.links {
        let before = base.counts.get(link.kind.word()).copied().unwrap_or_default();
        lines.extend(block(link, &before, now_us, look, width));
        lines.push(Line::raw(""));
    }
    for advice in line_advice::exchanged(&view.links) {
        let text = wrapped(&look.text(&advice), width);
        lines.extend(text.into_iter().map(|text| Line::styled(text, look.alarm())));
    }
    if lines.last().is_some_and(|line| line.width() == 0) {
        lines.pop();
    }
    lines
}

/// One device in a few lines.
fn block(link: &LinkReport, before: &Counts, now_us: u64, look: Look, width: usize) -> Vec<Line<'static>> {
    let up = link.state == LinkState::Up;
    let since = spoken(now_us.saturating_sub(link.since_us));
    let who = match &link.identity {
        Some(who) => format!("{} firmware {}", who.serial_number, who.firmware),
        None => "none has answered yet".to_owned(),
    };
    let port = link.resolved.as_ref().unwrap_or(&link.port);
    let state = format!(
        "{:8} {} for {since} ",
        link.kind.word(),
        link.state.word().to_uppercase()
    );
    let head = [state, look.text(&format!("{who} ")), look.text(port)];
    let style = if up { look.heading() } else { look.alarm() };
    let head = items(&head, width, INDENT).into_iter();
    let mut lines: Vec<Line<'static>> = head.map(|said| Line::styled(said, style)).collect();
    let below = |said: &str, style: Style| {
        let said = wrapped(&look.text(said), width.saturating_sub(INDENT)).into_iter();
        said.map(move |said| Line::styled(format!("{:INDENT$}{said}", ""), style))
    };
    if !link.text.is_empty() {
        lines.extend(below(&link.text, look.alarm()));
    }
    if let Some(poor) = line_advice::poor(link) {
        lines.extend(below(&poor, look.alarm()));
    }
    lines.extend(errors(&link.counts, before, look, width));
    lines.extend(below(&heard(link, now_us), Style::new()));
    lines.extend(below(
        &format!("trip {}; clock {}", trips(link), runs(link)),
        Style::new(),
    ));
    if let Some(fault) = &link.last_fault {
        let ago = now_us.saturating_sub(fault.at_us);
        let fresh = Duration::from_micros(ago) < FRESH;
        let style = if fresh { look.alarm() } else { Style::new() };
        lines.extend(below(&format!("last fault {} ago: {}", spoken(ago), fault.what), style));
    }
    lines
}

/// The counters that tell of a bad line; what was added stands out, with a `!` before it.
fn errors(counts: &Counts, before: &Counts, look: Look, width: usize) -> Vec<Line<'static>> {
    let numbers = [
        ("CRC", counts.crc_errors, before.crc_errors),
        ("noise", counts.noise, before.noise),
        ("resets", counts.resets, before.resets),
        ("repeats in", counts.repeats_in, before.repeats_in),
        ("out", counts.repeats_out, before.repeats_out),
        ("lost", counts.out_dropped, before.out_dropped),
        ("opened", counts.opened, before.opened),
    ];
    let said = numbers.map(|(name, count, before)| match count.saturating_sub(before) {
        0 => (format!("{name} {count}"), Style::new()),
        added => (format!("!{name} {count} (+{added})"), look.alarm()),
    });
    let lengths: Vec<usize> = said.iter().map(|(text, _)| text.len()).collect();
    let lines = packed(&lengths, width.saturating_sub(INDENT), 0).into_iter();
    lines
        .map(|range| {
            let mut spans = vec![Span::raw(" ")];
            for (text, style) in said.get(range).unwrap_or_default() {
                spans.extend([Span::raw(" "), Span::styled(text.clone(), *style)]);
            }
            Line::from(spans)
        })
        .collect()
}

/// Round trips in milliseconds: of two minutes, and the longest ever.
fn trips(link: &LinkReport) -> String {
    let Some((newest, ever)) = link.round_trip.zip(link.round_trip_ever) else {
        return "none measured".to_owned();
    };
    format!(
        "half {}, 99% {}, longest {}, ever {}",
        tenths(newest.p50_us),
        tenths(newest.p99_us),
        tenths(newest.max_us),
        milliseconds(ever.max_us)
    )
}

/// How the device's clock runs against ours, briefly.
fn runs(link: &LinkReport) -> String {
    match link.drift {
        Some(drift) => format!(
            "{:+} ppm ({})",
            drift.ppm,
            spoken(drift.over_s.saturating_mul(1_000_000))
        ),
        None => "not yet measured".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::live::testing::{self, GAMES, WIDTHS, words};

    fn drawn(view: &View, (width, height): (u16, u16), top: &mut usize) -> String {
        let mut base = Base::of(view);
        base.counts.clear();
        let shown = Shown {
            view,
            age: Duration::ZERO,
            look: Look::of_environment(),
            base: &base,
            said: None,
        };
        testing::shown(width, height, |frame| draw(frame, &shown, top)).join("\n")
    }

    #[test]
    fn nothing_is_cut_at_any_width_and_what_has_no_room_is_told_and_scrolled_to() {
        for game in [GAMES[0], GAMES[2], GAMES[5]] {
            for (what, view) in testing::worries(&testing::view(game)) {
                if !what.starts_with("links") {
                    continue;
                }
                for width in WIDTHS.filter(|width| *width >= WHOLE.width).step_by(5) {
                    // On a terminal that is high enough, every word of every line.
                    let whole = drawn(&view, (width, 200), &mut 0);
                    let said = words(&whole);
                    for link in &view.links {
                        let counts = &link.counts;
                        let opened = format!("!opened {0} (+{0})", counts.opened);
                        let crc = format!("!CRC {0} (+{0})", counts.crc_errors);
                        let fault = words(&link.last_fault.as_ref().unwrap().what);
                        let trip =
                            "trip half 123.4, 99% 1599.9, longest 1700.0, ever 4500.0 ms; clock -1234 ppm (11 d 10 h)";
                        let who = format!(
                            "{} {} for 2 h 3 min",
                            link.kind.word(),
                            link.state.word().to_uppercase()
                        );
                        let poor = line_advice::poor(link).unwrap();
                        for part in [
                            &opened,
                            &crc,
                            &fault,
                            trip,
                            &who,
                            &poor,
                            "/dev/ttyUSB12",
                            "last heard 0 s ago",
                        ] {
                            assert!(said.contains(part), "{part:?} at {width}:\n{whole}");
                        }
                    }
                    assert!(!whole.contains("more line"), "{whole}");
                    // On a usual one the rest is a key away: every line is seen from somewhere.
                    let lines: Vec<&str> = whole.lines().skip(1).filter(|line| !line.trim().is_empty()).collect();
                    let first = drawn(&view, (width, 24), &mut 0);
                    assert!(
                        lines.iter().all(|line| first.contains(line)) || first.contains("below: up/down)"),
                        "{first}"
                    );
                    let last = drawn(&view, (width, 24), &mut usize::MAX.clone());
                    assert!(last.contains(lines[lines.len() - 2]), "{last}");
                }
            }
        }
    }
}
