//! Acts from within a view, and what is shown in place of a table whose daemon doesn't answer.

use super::feed::Gone;
use super::look::{Look, clock, row, wrapped};
use crate::cli::daemon::{Acting, done, unreachable};
use crate::cli::describe::moment;
use crate::cli::ending::Failure;
use crate::cli::status::words;
use crate::control::Act;
use crate::control::client::Client;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

/// Does an act; the sentence of what was done.
///
/// # Errors
/// The refusal, in words.
pub async fn act(acting: &Acting, act: Act) -> Result<String, Failure> {
    let socket = acting.reach.act_socket()?;
    let mut client = Client::connect(&socket).await.map_err(unreachable)?;
    done(client.act(act, acting.by.as_deref()).await.map_err(unreachable)?)
}

/// Says since when nothing is known, and nothing as if it were known.
pub fn gone(frame: &mut Frame<'_>, look: Look, gone: &Gone, help: &str) {
    let area = frame.area();
    let (table, width) = (&gone.last.table, usize::from(area.width));
    let since = moment(Some(&gone.at.into()));
    let for_ = clock(u64::try_from(gone.since.elapsed().as_millis()).unwrap_or(u64::MAX));
    let title = format!(" {} at {}", table.table, table.site);
    row(frame, line(area, 0), &look.text(&title), "NOT ANSWERING ", look.bar());
    let gone_for = format!("The daemon has not answered since {since} ({for_}).");
    let mut lines = vec![Line::raw("")];
    lines.extend(
        wrapped(&gone_for, width)
            .into_iter()
            .map(|said| Line::styled(said, look.alarm())),
    );
    lines.push(Line::raw(""));
    let why = gone.why.lines().flat_map(|said| wrapped(&look.text(said), width));
    lines.extend(why.map(Line::raw));
    let round = match table.state.round_id {
        0 => "no round".to_owned(),
        round => format!("round {round}"),
    };
    let last = format!(
        "What the table does now is not known. Last seen, at that time: mode {}, {round}, {}.",
        table.state.mode.replace('_', " "),
        words::play(&gone.last)
    );
    lines.push(Line::raw(""));
    lines.extend(wrapped(&look.text(&last), width).into_iter().map(Line::raw));
    lines.push(Line::raw(""));
    let next = "It is tried again every second, and this view goes on by itself.";
    lines.extend(wrapped(next, width).into_iter().map(Line::raw));
    let body = Rect {
        y: area.y + 1,
        height: area.height.saturating_sub(2),
        ..area
    };
    frame.render_widget(Paragraph::new(lines), body);
    row(frame, line(area, area.height.saturating_sub(1)), help, "", look.bar());
}

/// One row of an area, counted from its top.
#[must_use]
pub fn line(area: Rect, at: u16) -> Rect {
    Rect {
        y: area.y + at.min(area.height.saturating_sub(1)),
        height: 1,
        ..area
    }
}
