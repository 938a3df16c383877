//! Reads citations. PURE.

use super::Instrument;

/// What a number counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum System {
    /// "r21.2".
    Rule,
    /// "s77".
    Section,
}

impl System {
    pub(super) fn prefix(self) -> char {
        match self {
            System::Rule => 'r',
            System::Section => 's',
        }
    }
}

/// One provision of a citation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Item {
    pub(super) system: System,
    /// Without the prefix: "21.2(1)", "19.1, 4th sentence".
    pub(super) text: String,
}

impl Item {
    /// With the prefix.
    pub(super) fn number(&self) -> String {
        format!("{}{}", self.system.prefix(), self.text)
    }

    /// The number before any bracket or comma: "21.2", "6A.11".
    pub(super) fn base(&self) -> &str {
        self.text.split(['(', ',']).next().unwrap_or_default().trim()
    }

    /// What stands in brackets, in order: "1", "a", "viii".
    pub(super) fn brackets(&self) -> Vec<&str> {
        self.text
            .split('(')
            .skip(1)
            .map(|part| part.split(')').next().unwrap_or_default())
            .collect()
    }
}

/// Why a text is no citation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotACitation {
    /// A number without its instrument means nothing: three systems are in use.
    NoInstrument(String),
    /// A number that doesn't begin with r or s.
    NoNumber(String),
    /// A range that isn't one.
    BadRange(String),
}

impl std::fmt::Display for NotACitation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotACitation::NoInstrument(text) => write!(
                f,
                "{} names no instrument; write for example \"1995 r21.2\", \"1995 s77\", \"1998 s472(7)\", \"2004 sch 13 s19(1)(a)\" or \"NZ Div 9 r7.2\"",
                text.escape_debug()
            ),
            NotACitation::NoNumber(text) => {
                write!(f, "{} is no rule (r21.2) or section (s77)", text.escape_debug())
            }
            NotACitation::BadRange(text) => write!(f, "{} is no range", text.escape_debug()),
        }
    }
}

impl std::error::Error for NotACitation {}

/// Most provisions of a citation; more are no citation but somebody's attempt at our memory.
const MAX_ITEMS: usize = 300;

/// Takes a citation apart.
pub(super) fn citation(text: &str) -> Result<(Instrument, Vec<Item>), NotACitation> {
    let text = text.trim();
    let (instrument, rest) = instrument(text).ok_or_else(|| NotACitation::NoInstrument(text.to_owned()))?;
    let mut items: Vec<Item> = Vec::new();
    for part in rest.split(',').map(str::trim) {
        match (item(part), items.last_mut()) {
            (Some(item), _) => {
                let last = items.len();
                range(&item, &mut items)?;
                if items.len() == last || items.len() > MAX_ITEMS {
                    return Err(NotACitation::BadRange(part.to_owned()));
                }
            }
            // "r19.1, 4th sentence": a comma that belongs to the number.
            (None, Some(before)) if !part.is_empty() => {
                before.text.push_str(", ");
                before.text.push_str(part);
            }
            (None, _) => return Err(NotACitation::NoNumber(part.to_owned())),
        }
    }
    Ok((instrument, items))
}

fn instrument(text: &str) -> Option<(Instrument, &str)> {
    let words = |text: &'static str| text.split(' ');
    let after = |name: &'static str| {
        let mut rest = text;
        for word in words(name) {
            let (first, more) = rest.trim_start().split_once(' ')?;
            if !first.eq_ignore_ascii_case(word) {
                return None;
            }
            rest = more;
        }
        Some(rest.trim_start())
    };
    if let Some(rest) = after("NZ Div 9") {
        return Some((Instrument::NzDiv9, rest));
    }
    let either = |full, short| after(full).or_else(|| after(short));
    if let Some(rest) = either("Qld 1995", "1995").or_else(|| either("Qld 1985", "1985")) {
        return Some((Instrument::Qld1995, rest));
    }
    if let Some(rest) = either("Qld 1998", "1998") {
        return Some((Instrument::Qld1998, rest));
    }
    let rest = either("Qld 2004 sch", "2004 sch").or_else(|| either("Qld 1999 sch", "1999 sch"))?;
    let (schedule, rest) = rest.split_once(' ')?;
    let schedule = schedule.parse().ok()?;
    Some((Instrument::Qld2004 { schedule }, rest.trim_start()))
}

/// "r21.2(1)": a prefix and a number.
fn item(part: &str) -> Option<Item> {
    let mut chars = part.chars();
    let system = match chars.next()?.to_ascii_lowercase() {
        'r' => System::Rule,
        's' => System::Section,
        _ => return None,
    };
    let text = chars.as_str().trim_start();
    text.starts_with(|c: char| c.is_ascii_digit()).then(|| Item {
        system,
        text: text.to_owned(),
    })
}

/// Adds the item, or every one of "s77(2)-(3)", "r5.1(a)-(e)", "s66-80".
fn range(item: &Item, items: &mut Vec<Item>) -> Result<(), NotACitation> {
    let Some((from, to)) = item.text.split_once(['-', '–']) else {
        items.push(item.clone());
        return Ok(());
    };
    let bad = || NotACitation::BadRange(item.number());
    let (head, first, last, tail) = if let Some(last) = to.strip_prefix('(') {
        let (head, first) = from.rsplit_once('(').ok_or_else(bad)?;
        let first = first.strip_suffix(')').ok_or_else(bad)?;
        let last = last.strip_suffix(')').ok_or_else(bad)?;
        (format!("{head}("), first, last, ")")
    } else {
        (String::new(), from, to.trim_start_matches(['r', 's']), "")
    };
    for step in steps(first, last).ok_or_else(bad)? {
        items.push(Item {
            system: item.system,
            text: format!("{head}{step}{tail}"),
        });
    }
    Ok(())
}

/// "2" to "4", "a" to "e".
fn steps(first: &str, last: &str) -> Option<Vec<String>> {
    if let (Ok(first), Ok(last)) = (first.parse::<u16>(), last.parse::<u16>()) {
        let many = usize::from(last.checked_sub(first)?);
        return (many < MAX_ITEMS).then(|| (first..=last).map(|number| number.to_string()).collect());
    }
    let letter = |text: &str| {
        let mut chars = text.chars();
        chars
            .next()
            .filter(|c| c.is_ascii_lowercase() && chars.as_str().is_empty())
    };
    let (first, last) = (letter(first)?, letter(last)?);
    (first <= last).then(|| (first..=last).map(String::from).collect())
}

/// How numbers are compared: without quotation marks, in lower case, without spaces at the ends.
pub(super) fn bare(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, '“' | '”' | '"' | '\''))
        .collect::<String>()
        .to_lowercase()
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match citation(text) {
            Ok((instrument, items)) => {
                let items: Vec<_> = items.iter().map(Item::number).collect();
                format!("{}: {}", instrument.short(), items.join(" | "))
            }
            Err(why) => why.to_string(),
        }
    }

    #[test]
    fn citations_are_taken_apart() {
        for (text, expected) in [
            ("1995 r21.2", "Qld 1995: r21.2"),
            (" qld 1995  R21.2(1) ", "Qld 1995: r21.2(1)"),
            (
                "Qld 1995 r19.4(1)-(2), s72(1)-(2)",
                "Qld 1995: r19.4(1) | r19.4(2) | s72(1) | s72(2)",
            ),
            ("1995 r19.1, 4th sentence, (e)", "Qld 1995: r19.1, 4th sentence, (e)"),
            ("1985 s66-68", "Qld 1995: s66 | s67 | s68"),
            ("Qld 2004 sch 13 s20(1)(a)(i)", "Qld 2004 sch 13: s20(1)(a)(i)"),
            ("2004 sch 10 s10(1)(a)(i)", "Qld 2004 sch 10: s10(1)(a)(i)"),
            ("NZ Div 9 r5.1(a)-(c)", "NZ Div 9: r5.1(a) | r5.1(b) | r5.1(c)"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_none_is_told() {
        for (text, part) in [
            ("r21.2", "names no instrument"),
            ("", "names no instrument"),
            ("1995", "names no instrument"),
            ("Qld 2004 s19", "names no instrument"),
            ("1995 21.2", "is no rule"),
            ("1995 r21.2,", "is no rule"),
            ("1995 s80-66", "is no range"),
            ("1995 s1-9999", "is no range"),
            ("1995 s77(1)-(a)", "is no range"),
        ] {
            assert!(read(text).contains(part), "{text}: {}", read(text));
        }
    }
}
