//! `tablegate devices --watch`: each line's numbers as they change, and what was added since a person began to look: a cable that is
//! moved and is loose shows at once.

use super::WHOLE;
use super::daemon::{gone, line};
use super::feed::{Feed, Seen};
use super::input::{Input, Key, Woken};
use super::look::{Look, clock, row, wrapped};
use super::screen::Screen;
use crate::cli::daemon::{Reach, block_on};
use crate::cli::devices::{heard, milliseconds, tenths};
use crate::cli::ending::Failure;
use crate::cli::line_advice::{self, spoken};
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

const HELP: &str = " 0: count (+) anew from now   q: quit";

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
        loop {
            let seen = feed.seen();
            if let Seen::Now(view, _) = &seen {
                base = base
                    .filter(|base| base.run_id == view.table.run_id)
                    .or_else(|| Some(Base::of(view)));
            }
            screen.draw(look, WHOLE, |frame| match (&seen, &base) {
                (Seen::Now(view, at), Some(base)) => draw(frame, look, view, at.elapsed(), base),
                (Seen::Now(..), None) => {}
                (Seen::Gone(why), _) => gone(frame, look, why, " q: quit"),
            })?;
            match input.next(&mut feed).await {
                Woken::Key(Key::Letter('q') | Key::Escape) | Woken::End => return Ok(()),
                Woken::Key(Key::Letter('0')) => base = None,
                Woken::Key(_) | Woken::News | Woken::Draw => {}
            }
        }
    })
}

fn draw(frame: &mut Frame<'_>, look: Look, view: &View, age: Duration, base: &Base) {
    let area = frame.area();
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
    let mut lines: Vec<Line<'_>> = Vec::new();
    for link in &view.links {
        let before = base.counts.get(link.kind.word()).copied().unwrap_or_default();
        lines.extend(block(link, &before, now_us, look, usize::from(area.width)));
        lines.push(Line::raw(""));
    }
    for advice in line_advice::exchanged(&view.links) {
        let text = wrapped(&look.text(&advice), usize::from(area.width));
        lines.extend(text.into_iter().map(|text| Line::styled(text, look.alarm())));
    }
    let body = ratatui::layout::Rect {
        y: area.y + 1,
        height: area.height.saturating_sub(2),
        ..area
    };
    frame.render_widget(Paragraph::new(lines), body);
    row(frame, line(area, area.height - 1), HELP, "", look.bar());
}

/// One device in six lines.
fn block(link: &LinkReport, before: &Counts, now_us: u64, look: Look, width: usize) -> Vec<Line<'static>> {
    let up = link.state == LinkState::Up;
    let since = spoken(now_us.saturating_sub(link.since_us));
    let who = match &link.identity {
        Some(who) => format!("{} firmware {}", who.serial_number, who.firmware),
        None => "none has answered yet".to_owned(),
    };
    let port = link.resolved.as_ref().unwrap_or(&link.port);
    let head = format!(
        "{:8} {} for {since}   {who}   {port}",
        link.kind.word(),
        link.state.word().to_uppercase()
    );
    let mut lines = vec![Line::styled(
        look.text(&head).chars().take(width).collect::<String>(),
        if up { look.heading() } else { look.alarm() },
    )];
    if !link.text.is_empty() {
        let text = wrapped(&look.text(&link.text), width - 2).into_iter().take(2);
        lines.extend(text.map(|text| Line::styled(format!("  {text}"), look.alarm())));
    }
    if let Some(poor) = line_advice::poor(link) {
        let text = wrapped(&look.text(&poor), width - 2).into_iter().take(2);
        lines.extend(text.map(|text| Line::styled(format!("  {text}"), look.alarm())));
    }
    lines.push(errors(&link.counts, before, look));
    lines.push(Line::raw(format!("  {}", heard(link, now_us))));
    lines.push(Line::raw(format!("  trip {}; clock {}", trips(link), runs(link))));
    if let Some(fault) = &link.last_fault {
        let ago = now_us.saturating_sub(fault.at_us);
        let fresh = Duration::from_micros(ago) < FRESH;
        let said = format!("  last fault {} ago: {}", spoken(ago), fault.what);
        lines.push(Line::styled(
            look.text(&said).chars().take(width).collect::<String>(),
            if fresh { look.alarm() } else { Style::new() },
        ));
    }
    lines
}

/// The counters that tell of a bad line; what was added stands out, with a `!` before it.
fn errors(counts: &Counts, before: &Counts, look: Look) -> Line<'static> {
    let numbers = [
        ("CRC", counts.crc_errors, before.crc_errors),
        ("noise", counts.noise, before.noise),
        ("resets", counts.resets, before.resets),
        ("repeats in", counts.repeats_in, before.repeats_in),
        ("out", counts.repeats_out, before.repeats_out),
        ("lost", counts.out_dropped, before.out_dropped),
        ("opened", counts.opened, before.opened),
    ];
    let mut spans = vec![Span::raw(" ")];
    for (name, count, before) in numbers {
        let added = count.saturating_sub(before);
        spans.push(Span::raw(" "));
        spans.push(match added {
            0 => Span::raw(format!("{name} {count}")),
            added => Span::styled(format!("!{name} {count} (+{added})"), look.alarm()),
        });
    }
    Line::from(spans)
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
