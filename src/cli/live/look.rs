//! How a view looks: what stands out and how, on terminals with colours and without, and letters that every terminal has.

use crate::cli::ending::in_colour;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

/// Colours or none, and which letters the terminal can show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look {
    paint: Paint,
    letters: Letters,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Paint {
    Colours,
    Plain,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Letters {
    /// Texts of people and devices as they are.
    Utf8,
    /// Only what every terminal has.
    Ascii,
}

impl Look {
    /// As the environment asks: `NO_COLOR`, and the locale's character set.
    #[must_use]
    pub fn of_environment() -> Look {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .filter_map(std::env::var_os)
            .find(|value| !value.is_empty())
            .map(|value| value.to_string_lossy().to_ascii_lowercase())
            .unwrap_or_default();
        let utf8 = locale.contains("utf-8") || locale.contains("utf8");
        Look {
            paint: if in_colour() { Paint::Colours } else { Paint::Plain },
            letters: if utf8 { Letters::Utf8 } else { Letters::Ascii },
        }
    }

    /// A text as this terminal can show it. What people and devices wrote can't move the cursor.
    #[must_use]
    pub fn text(self, text: &str) -> String {
        let shown = |letter: char| match self.letters {
            _ if letter.is_control() => '?',
            Letters::Utf8 => letter,
            Letters::Ascii if letter.is_ascii() => letter,
            Letters::Ascii => '?',
        };
        text.chars().map(shown).collect()
    }

    /// The first and the last row.
    #[must_use]
    pub fn bar(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// What a person must see.
    #[must_use]
    pub fn alarm(self) -> Style {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        match self.paint {
            Paint::Colours => bold.fg(Color::Red),
            Paint::Plain => bold,
        }
    }

    /// Headings.
    #[must_use]
    pub fn heading(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// What is there and matters less.
    #[must_use]
    pub fn dim(self) -> Style {
        match self.paint {
            Paint::Colours => Style::new().fg(Color::DarkGray),
            Paint::Plain => Style::new(),
        }
    }

    /// A lit area or light; it stands in brackets too.
    #[must_use]
    pub fn lit(self) -> Style {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        match self.paint {
            Paint::Colours => bold.fg(Color::Black).bg(Color::Yellow),
            Paint::Plain => bold.add_modifier(Modifier::REVERSED),
        }
    }

    /// What the arrow keys stand on; it has a `>` before it too.
    #[must_use]
    pub fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}

/// One row, its text to the left and another to the right; what doesn't fit of the left one is cut.
pub fn row(frame: &mut Frame<'_>, area: Rect, left: &str, right: &str, style: Style) {
    let width = usize::from(area.width);
    let room = width.saturating_sub(right.chars().count() + usize::from(!right.is_empty()));
    let left: String = left.chars().take(room).collect();
    let between = width.saturating_sub(left.chars().count() + right.chars().count());
    let line = format!("{left}{}{right}", " ".repeat(between));
    frame.render_widget(Paragraph::new(Line::styled(line, style)), area);
}

/// Broken at spaces into lines of at most `width` letters; what has no spaces is cut there.
#[must_use]
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut length = 0;
    for word in text.split(' ') {
        let mut rest: Vec<char> = word.chars().collect();
        if length > 0 && length + 1 + rest.len() > width {
            lines.push(std::mem::take(&mut line));
            length = 0;
        } else if length > 0 {
            line.push(' ');
            length += 1;
        }
        while rest.len() > width {
            let tail = rest.split_off(width);
            lines.push(rest.into_iter().collect());
            rest = tail;
        }
        length += rest.len();
        line.extend(rest);
    }
    lines.push(line);
    lines
}

/// A running clock: "0:07", "12:30", "1:02:03".
#[must_use]
pub fn clock(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        hours => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_long_words_anywhere() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("/dev/serial/by-id/x y", 8), ["/dev/ser", "ial/by-i", "d/x y"]);
        assert_eq!(wrapped("", 8), [""]);
    }

    #[test]
    fn a_clock_has_hours_when_it_needs_them() {
        let told = [0, 7_400, 754_000, 3_723_000].map(clock);
        assert_eq!(told, ["0:00", "0:07", "12:34", "1:02:03"]);
    }

    #[test]
    fn what_was_written_can_not_move_the_cursor() {
        let ascii = Look {
            paint: Paint::Plain,
            letters: Letters::Ascii,
        };
        assert_eq!(ascii.text("caf\u{e9}\u{1b}[2J"), "caf??[2J");
        let utf8 = Look {
            letters: Letters::Utf8,
            ..ascii
        };
        assert_eq!(utf8.text("caf\u{e9}\n"), "caf\u{e9}?");
    }
}
