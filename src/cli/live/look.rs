//! How a view looks: what stands out and how, on terminals with colours and without, and letters that every terminal has.

use crate::cli::ending::in_colour;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use std::ops::Range;

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

/// Ends what was cut: nothing goes without a mark.
pub const CUT: &str = "...";

/// A text in at most `width` letters; what had to go is marked.
#[must_use]
pub fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(CUT.len())).collect();
    let mark: String = CUT.chars().take(width).collect();
    format!("{}{mark}", kept.trim_end())
}

/// One row, its text to the left and another to the right; what doesn't fit of the left one is cut, with a mark.
pub fn row(frame: &mut Frame<'_>, area: Rect, left: &str, right: &str, style: Style) {
    let line = with_right(left, right, usize::from(area.width));
    frame.render_widget(Paragraph::new(Line::styled(line, style)), area);
}

/// One text to the left and one to the right, in `width` letters.
fn with_right(left: &str, right: &str, width: usize) -> String {
    let right = cut(right, width);
    let room = width.saturating_sub(right.chars().count() + usize::from(!right.is_empty()));
    let left = cut(left, room);
    let between = width.saturating_sub(left.chars().count() + right.chars().count());
    format!("{left}{}{right}", " ".repeat(between))
}

/// As [`row`], on as many lines as the left text needs.
#[must_use]
pub fn rows(left: &str, right: &str, width: usize) -> Vec<String> {
    let mut lines = wrapped(left, width);
    let both = |left: &String| left.chars().count() + 1 + right.chars().count() <= width;
    let last = lines.pop_if(|left| right.is_empty() || both(left)).unwrap_or_default();
    lines.push(with_right(&last, right, width));
    lines
}

/// Broken into lines of at most `width` letters, and `rows` of them; a mark ends them when there were more.
#[must_use]
pub fn held(text: &str, width: usize, rows: usize) -> Vec<String> {
    let mut lines = wrapped(text, width);
    if lines.len() > rows {
        lines.truncate(rows);
        if let Some(last) = lines.last_mut() {
            *last = marked(last, width);
        }
    }
    lines
}

/// A line that says that there was more behind it.
#[must_use]
pub fn marked(line: &str, width: usize) -> String {
    cut(&format!("{line} {CUT}"), width)
}

/// Which items, of these lengths and with a space between, stand on which line of `width` letters. Every line but the first begins with
/// `indent` spaces.
#[must_use]
pub fn packed(lengths: &[usize], width: usize, indent: usize) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let (mut from, mut used) = (0, 0);
    for (at, length) in lengths.iter().enumerate() {
        if at > from && used + 1 + length > width {
            lines.push(from..at);
            (from, used) = (at, indent + length);
        } else {
            used += usize::from(at > from) + length;
        }
    }
    lines.push(from..lengths.len());
    lines
}

/// Items that aren't broken, on as many lines as they need.
#[must_use]
pub fn items(all: &[String], width: usize, indent: usize) -> Vec<String> {
    let lengths: Vec<usize> = all.iter().map(|item| item.chars().count()).collect();
    let lines = packed(&lengths, width, indent).into_iter().enumerate();
    lines
        .map(|(line, range)| {
            let before = if line == 0 { 0 } else { indent };
            let text = all.get(range).unwrap_or_default().join(" ");
            cut(&format!("{}{text}", " ".repeat(before)), width)
        })
        .collect()
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

/// Long lines go on under themselves.
#[must_use]
pub fn hanging(line: &str, width: usize) -> Vec<String> {
    let indent = line.chars().take_while(|letter| *letter == ' ').count();
    let inner = line.get(indent..).unwrap_or_default();
    let pad = " ".repeat(indent.min(width / 2));
    let lines = wrapped(inner, width.saturating_sub(pad.len()));
    lines.into_iter().map(|line| format!("{pad}{line}")).collect()
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
    fn what_is_cut_has_a_mark() {
        assert_eq!(cut("one two", 7), "one two");
        assert_eq!(cut("one two three", 10), "one two...");
        assert_eq!(cut("one two", 2), "..");
        assert_eq!(held("one two three", 7, 2), ["one two", "three"]);
        assert_eq!(held("one two three", 7, 1), ["one..."]);
        assert_eq!(held("one two", 3, 1), ["..."]);
        assert_eq!(held("one two three", 12, 1), ["one two ..."]);
    }

    #[test]
    fn what_stands_to_the_right_moves_below_where_there_is_no_room() {
        assert_eq!(rows("one two", "0:07", 12), ["one two 0:07"]);
        assert_eq!(rows("one two", "0:07", 11), ["one two", "       0:07"]);
        assert_eq!(rows("one two", "", 5), ["one", "two  "]);
    }

    #[test]
    fn items_are_not_broken() {
        let all = ["backlog 17,", "20 in flight"].map(str::to_owned);
        assert_eq!(items(&all, 24, 2), ["backlog 17, 20 in flight"]);
        assert_eq!(items(&all, 23, 2), ["backlog 17,", "  20 in flight"]);
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
