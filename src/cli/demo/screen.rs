//! What the demo shows: on a terminal, the layout (of two-up, the result lights) pinned at the top and the floor's events scrolling
//! below it; elsewhere, plain lines with the picture after each result.

use crate::cli::picture::{self, Paint};
use crate::cli::sim::game::Game;
use crate::sim::TwoUp;
use std::collections::{BTreeSet, VecDeque};
use std::io::{self, IsTerminal, Write};

/// Rows that the pinned part takes: the layout's eight, one line of words, one rule below it.
const PINNED_ROWS: u16 = 10;

/// A terminal with fewer rows or columns gets plain lines: the pinned part would leave no room for events.
const LEAST_ROWS: u16 = 20;
/// See [`LEAST_ROWS`].
const LEAST_COLUMNS: u16 = 80;

/// Lines that are kept to be written anew when the terminal's size changes: more than terminals have rows.
const KEPT_LINES: usize = 200;

/// Columns before the words beside the layout.
const PICTURE_COLUMNS: usize = 58;

/// What the pinned part says beside the layout.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Beside {
    /// Short lines, at most eight.
    pub words: Vec<String>,
    /// Areas that are lit on the table, or lights.
    pub lit: BTreeSet<String>,
}

/// Where the demo writes.
pub struct Screen {
    game: Game,
    paint: Paint,
    pinned: Option<Size>,
    shown: Beside,
    /// The newest lines, oldest first; none are kept where nothing can be pinned.
    lines: VecDeque<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Size {
    rows: u16,
    columns: u16,
}

/// The terminal's size, when it is one and large enough for the pinned part.
fn size_for_pinning() -> Option<Size> {
    let (columns, rows) = terminal_size::terminal_size().filter(|_| io::stdout().is_terminal())?;
    (rows.0 >= LEAST_ROWS && columns.0 >= LEAST_COLUMNS).then_some(Size {
        rows: rows.0,
        columns: columns.0,
    })
}

impl Screen {
    /// Pinned on a terminal that is large enough, plain lines elsewhere.
    #[must_use]
    pub fn new(game: Game) -> Self {
        let terminal = io::stdout().is_terminal();
        let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let paint = if colour { Paint::Colour } else { Paint::Plain };
        Screen {
            game,
            paint,
            pinned: size_for_pinning(),
            shown: Beside::default(),
            lines: VecDeque::new(),
        }
    }

    /// Clears the terminal and pins the layout.
    pub fn begin(&mut self) {
        if let Some(size) = self.pinned {
            self.write(&format!(
                "\x1b[2J\x1b[{};{}r\x1b[{};1H",
                PINNED_ROWS + 1,
                size.rows,
                PINNED_ROWS + 1
            ));
            self.draw();
        }
    }

    /// A line for a person to follow.
    pub fn line(&mut self, text: &str) {
        if io::stdout().is_terminal() {
            self.lines.push_back(text.to_owned());
            if self.lines.len() > KEPT_LINES {
                self.lines.pop_front();
            }
        }
        self.write(&format!("{}\n", self.fitted(text)));
    }

    fn fitted(&self, text: &str) -> String {
        match self.pinned {
            Some(size) => wrapped(text, usize::from(size.columns)),
            None => text.trim_end().to_owned(),
        }
    }

    /// The terminal has another size: everything is drawn anew for it. What the terminal made of the old picture is wiped away.
    pub fn resized(&mut self) {
        let size = size_for_pinning();
        if size == self.pinned {
            return;
        }
        self.pinned = size;
        self.write("\x1b[r\x1b[2J\x1b[H");
        self.begin();
        let fitted: Vec<String> = self.lines.iter().map(|line| self.fitted(line)).collect();
        let fitted: Vec<&str> = fitted.iter().flat_map(|text| text.split('\n')).collect();
        let room = size.map_or(usize::from(LEAST_ROWS), |size| {
            usize::from(size.rows.saturating_sub(PINNED_ROWS + 1))
        });
        let newest = fitted.get(fitted.len().saturating_sub(room)..).unwrap_or_default();
        self.write(&newest.iter().map(|line| format!("{line}\n")).collect::<String>());
    }

    /// What stands beside the layout, and what is lit on it. Without a pinned part, a newly lit layout is drawn in the text.
    pub fn show(&mut self, beside: Beside) {
        if beside == self.shown {
            return;
        }
        let newly_lit = beside.lit != self.shown.lit && !beside.lit.is_empty();
        self.shown = beside;
        if self.pinned.is_some() {
            self.draw();
        } else if newly_lit {
            let picture = self.picture().join("\n");
            self.write(&format!("{picture}\n"));
        }
    }

    /// Gives the terminal back, the cursor below everything.
    pub fn end(&mut self) {
        if let Some(size) = self.pinned.take() {
            self.write(&format!("\x1b[r\x1b[{};1H\n", size.rows));
        }
    }

    /// At most [`PINNED_ROWS`] less two lines.
    fn picture(&self) -> Vec<String> {
        match self.game {
            Game::TaiSai { layout, .. } => picture::lines(layout, &self.shown.lit, self.paint),
            Game::SicBo(_) => picture::lines(picture::Board::SicBo, &self.shown.lit, self.paint),
            Game::TwoUp(TwoUp::Dice) => picture::result_lights(&self.shown.lit, self.paint),
            // With coins there are no odds.
            Game::TwoUp(TwoUp::TriplePenny) => {
                let mut rows = picture::result_lights(&self.shown.lit, self.paint);
                rows.truncate(2);
                rows
            }
        }
    }

    fn draw(&self) {
        let Some(size) = self.pinned else { return };
        let picture = self.picture();
        let mut text = String::from("\x1b7");
        let rows = picture.len().max(self.shown.words.len());
        for row in 0..rows {
            let line = picture.get(row).map_or("", String::as_str);
            let words = self.shown.words.get(row).map_or("", String::as_str);
            let room = usize::from(size.columns).saturating_sub(PICTURE_COLUMNS + 1);
            text.push_str(&format!(
                "\x1b[{};1H\x1b[2K{line}\x1b[{};{}H\x1b[K{}",
                row + 1,
                row + 1,
                PICTURE_COLUMNS + 1,
                cut(words, room)
            ));
        }
        let rule = "-".repeat(usize::from(size.columns));
        text.push_str(&format!("\x1b[{};1H\x1b[2K{rule}\x1b8", PINNED_ROWS));
        self.write(&text);
    }

    /// A closed pipe ends what can be shown, not the demo's table.
    fn write(&self, text: &str) {
        let mut out = io::stdout().lock();
        let _gone = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.end();
    }
}

/// Lines of at most so many columns, broken between words where there are any; what goes on is indented like the demo's words.
fn wrapped(text: &str, columns: usize) -> String {
    const INDENT: &str = "       ";
    let mut lines = vec![String::new()];
    for word in text.split_inclusive(' ') {
        let used = lines.last().map_or(0, |line| line.chars().count());
        if used > INDENT.len() && used + word.trim_end().chars().count() > columns {
            lines.push(INDENT.to_owned());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(word);
        }
    }
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    lines.join("\n")
}

fn cut(text: &str, columns: usize) -> String {
    text.chars().take(columns).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_go_on_below_with_every_word() {
        for (text, columns, expected) in [
            ("short", 20, "short"),
            (
                "#12  round 3: result one two three",
                20,
                "#12  round 3: result\n       one two three",
            ),
            (
                "a-word-that-is-longer-than-the-line",
                10,
                "a-word-that-is-longer-than-the-line",
            ),
            ("", 10, ""),
        ] {
            assert_eq!(wrapped(text, columns), expected);
        }
    }
}
