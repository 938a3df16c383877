//! The latest events of the journal in a view: a list to walk through, and one of them whole.

use super::input::Key;
use super::look::{Look, hanging, row};
use crate::cli::describe;
use crate::cli::ending::Failure;
use crate::cli::events::{decoded, shown};
use crate::cli::journal::{open, unreadable};
use crate::journal::{Reader, Seqno};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use std::path::{Path, PathBuf};

/// Events that the list holds: some rounds, read in a few milliseconds.
const LISTED: u64 = 200;

/// The latest events.
pub struct Events {
    path: PathBuf,
    reader: Reader,
    /// Newest first: number, and its line.
    lines: Vec<(Seqno, String)>,
    /// The event that the arrow keys stand on.
    chosen: Seqno,
    /// One of them whole, and the line that is at the top.
    whole: Option<Whole>,
}

struct Whole {
    text: Vec<String>,
    top: usize,
}

/// What a key led to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Then {
    /// Still here.
    Stay,
    /// Back to the table.
    Leave,
}

impl Events {
    /// Reads the newest ones.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn read(path: &Path) -> Result<Events, Failure> {
        let mut events = Events {
            path: path.to_owned(),
            reader: open(path)?,
            lines: Vec::new(),
            chosen: 0,
            whole: None,
        };
        events.refresh()?;
        events.chosen = events.lines.first().map_or(0, |(newest, _)| *newest);
        Ok(events)
    }

    /// Takes in those that have come.
    ///
    /// # Errors
    /// As [`Events::read`].
    pub fn refresh(&mut self) -> Result<(), Failure> {
        if self.reader.is_replaced() && self.path.exists() {
            self.reader = open(&self.path)?;
            self.lines.clear();
        }
        let newest = self.reader.head().map_err(unreadable)?.seqno;
        let known = self.lines.first().map_or(0, |(seqno, _)| *seqno);
        if newest == known {
            return Ok(());
        }
        let from = newest.saturating_sub(LISTED - 1).max(known + 1);
        let mut next = from;
        while next <= newest {
            let page = self.reader.page(next, newest, usize::MAX).map_err(unreadable)?;
            let Some(last) = page.last() else { break };
            next = last.seqno + 1;
            for record in &page {
                self.lines.insert(0, (record.seqno, describe::line(&decoded(record)?)));
            }
        }
        self.lines.truncate(usize::try_from(LISTED).unwrap_or(usize::MAX));
        Ok(())
    }

    /// Walks, shows, and goes back.
    ///
    /// # Errors
    /// An event that can't be read.
    pub fn press(&mut self, key: Key, rows: usize) -> Result<Then, Failure> {
        if let Some(whole) = &mut self.whole {
            match key {
                Key::Up => whole.top = whole.top.saturating_sub(1),
                Key::Down => whole.top += 1,
                Key::PageUp => whole.top = whole.top.saturating_sub(rows),
                Key::PageDown => whole.top += rows,
                Key::Escape | Key::Backspace | Key::Left => self.whole = None,
                Key::Enter | Key::Right | Key::Tab | Key::Letter(_) => {}
            }
            return Ok(Then::Stay);
        }
        let at = self.at();
        match key {
            Key::Up => self.choose(at.saturating_sub(1)),
            Key::Down => self.choose(at + 1),
            Key::PageUp => self.choose(at.saturating_sub(rows)),
            Key::PageDown => self.choose(at + rows),
            Key::Enter | Key::Right => self.show()?,
            Key::Escape | Key::Backspace | Key::Left => return Ok(Then::Leave),
            Key::Tab | Key::Letter(_) => {}
        }
        Ok(Then::Stay)
    }

    fn at(&self) -> usize {
        let found = self.lines.iter().position(|(seqno, _)| *seqno == self.chosen);
        found.unwrap_or(0)
    }

    fn choose(&mut self, at: usize) {
        let at = at.min(self.lines.len().saturating_sub(1));
        if let Some((seqno, _)) = self.lines.get(at) {
            self.chosen = *seqno;
        }
    }

    fn show(&mut self) -> Result<(), Failure> {
        let page = self.reader.page(self.chosen, self.chosen, 1).map_err(unreadable)?;
        if let Some(record) = page.first() {
            let text = shown(record)?;
            self.whole = Some(Whole {
                text: text.lines().map(ToOwned::to_owned).collect(),
                top: 0,
            });
        }
        Ok(())
    }

    /// Draws the list, or the event that is looked at.
    pub fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, look: Look) {
        let width = usize::from(area.width);
        let height = usize::from(area.height);
        if let Some(whole) = &mut self.whole {
            let lines = whole.text.iter().flat_map(|line| hanging(&look.text(line), width));
            let lines: Vec<String> = lines.collect();
            whole.top = whole.top.min(lines.len().saturating_sub(height));
            let seen = lines.into_iter().skip(whole.top).take(height).map(Line::raw);
            frame.render_widget(Paragraph::new(seen.collect::<Vec<_>>()), area);
            return;
        }
        let at = self.at();
        let top = (at + 1).saturating_sub(height);
        for (below, (seqno, line)) in self.lines.iter().skip(top).take(height).enumerate() {
            let here = Rect {
                y: area.y + u16::try_from(below).unwrap_or(u16::MAX),
                height: 1,
                ..area
            };
            let (mark, style) = if *seqno == self.chosen {
                ("> ", look.chosen())
            } else {
                ("  ", ratatui::style::Style::new())
            };
            row(frame, here, &look.text(&format!("{mark}{line}")), "", style);
        }
    }

    /// What the keys do here.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self.whole {
            Some(_) => " up/down: scroll   Esc or left: back to the list   q: quit",
            None => " up/down: choose   Enter: the whole event   Esc or left: back to the table   q: quit",
        }
    }
}
