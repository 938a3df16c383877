//! The renumbering of 1995: old rules, sections, headings, parts (SL 1995 No. 84 s28, schedules 1 and 2). PURE.

use super::parse::bare;
use super::{Certainty, Heading};

/// Schedule 1: a row for each pair of numbers.
static SCHEDULE_1: &str = include_str!("schedule_1.csv");

/// Schedule 2: part and division headings.
static SCHEDULE_2: &str = include_str!("schedule_2.csv");

/// An old rule and the section that it became.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// Without prefix: "21.2(1)", "19.1, 4th sentence, (e)".
    pub old_rule: &'static str,
    /// Without prefix: "77(1)", "70, def “any triple”".
    pub section: &'static str,
    /// That they belong together.
    pub certainty: Certainty,
    /// How the printed page hampers reading; may be empty.
    pub note: &'static str,
}

impl Pair {
    /// The section's own number.
    pub(super) fn section_number(&self) -> u16 {
        number(self.section)
    }
}

/// The digits that a number begins with; 0 when there are none.
fn number(text: &str) -> u16 {
    let digits = text.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    digits.parse().unwrap_or_default()
}

/// Schedule 1 as read.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    pair: Pair,
    heading: String,
    heading_status: String,
}

impl Table {
    /// Reads it.
    #[must_use]
    pub fn read() -> Table {
        let rows = SCHEDULE_1
            .lines()
            .skip(1)
            .filter_map(|line| {
                let [_, _, old_rule, section, heading, row_status, heading_status, note] =
                    <[Field; 8]>::try_from(fields(line)).ok()?;
                let certainty = match row_status.text {
                    "certain" => Certainty::Certain,
                    "likely" => Certainty::Likely,
                    _ => Certainty::Uncertain,
                };
                Some(Row {
                    pair: Pair {
                        old_rule: old_rule.text,
                        section: section.text,
                        certainty,
                        note: note.text,
                    },
                    heading: heading.unquoted(),
                    heading_status: heading_status.unquoted(),
                })
            })
            .collect();
        Table { rows }
    }

    /// Every pair, in the table's order.
    pub fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.rows.iter().map(|row| row.pair)
    }

    /// The pairs of this old rule and of what it contains; `asked` without prefix.
    #[must_use]
    pub fn of_old_rule(&self, asked: &str) -> Vec<Pair> {
        self.pairs()
            .filter(|pair| is_or_contains(asked, pair.old_rule))
            .collect()
    }

    /// The pairs of this section and of what it contains; `asked` without prefix.
    #[must_use]
    pub fn of_section(&self, asked: &str) -> Vec<Pair> {
        self.pairs()
            .filter(|pair| is_or_contains(asked, pair.section))
            .collect()
    }

    /// The section's heading; `None` where none is printed.
    #[must_use]
    pub fn heading(&self, section: u16) -> Option<Heading> {
        let row = self.rows.iter().find(|row| row.pair.section_number() == section)?;
        if let Some(own) = row.heading_status.strip_prefix("own heading in instrument: ") {
            return Some(Heading {
                text: own.to_owned(),
                certainty: Certainty::Certain,
                note: "printed with the provision itself".to_owned(),
            });
        }
        let (kind, note) = row
            .heading_status
            .split_once([':', ';'])
            .unwrap_or((&row.heading_status, ""));
        let certainty = match kind {
            "certain" => Certainty::Certain,
            "inferred" => Certainty::Inferred,
            "uncertain" => Certainty::Uncertain,
            _ => return None,
        };
        let note = note.trim();
        // One heading is printed for two sections that need one; both carry it.
        let text = match row.heading.is_empty() {
            false => row.heading.clone(),
            true => self
                .rows
                .iter()
                .find(|other| other.heading_status == row.heading_status && !other.heading.is_empty())
                .map(|other| other.heading.clone())?,
        };
        Some(Heading {
            text,
            certainty,
            note: match certainty {
                Certainty::Uncertain => format!("it stands over section {note}"),
                Certainty::Certain | Certainty::Likely | Certainty::Inferred => note.to_owned(),
            },
        })
    }
}

/// "21.2" is or contains "21.2(1)" and "21.2, proviso", and not "21.20".
fn is_or_contains(asked: &str, number: &str) -> bool {
    let (asked, number) = (bare(asked), bare(number));
    let Some(rest) = number.strip_prefix(&asked) else {
        return false;
    };
    !asked.is_empty() && (rest.is_empty() || rest.starts_with(['(', ',', ' ']))
}

/// The part that a section stands in, and its division.
#[must_use]
pub fn parts(section: u16) -> Vec<String> {
    SCHEDULE_2
        .lines()
        .skip(1)
        .filter_map(|line| {
            let fields = fields(line);
            let [_, _, _, _, heading, first, last, _, _] = <[Field; 9]>::try_from(fields).ok()?;
            let within = (number(first.text)..=number(last.text)).contains(&section);
            within.then(|| heading.unquoted())
        })
        .collect()
}

/// What became of old numbers that schedule 1 doesn't have.
#[must_use]
pub fn omitted(old_rule: &str) -> Option<&'static str> {
    let part = old_rule.split('.').next().unwrap_or_default();
    match (part, old_rule) {
        (_, "6.2") => Some("omitted by SL 1995 No. 84 s5"),
        ("85A" | "85a" | "85B" | "85b", _) => Some("omitted by SL 1995 No. 84 s25"),
        ("86", _) => Some("omitted by SL 1995 No. 84 s26"),
        (_, "2.5" | "9.3") | ("18", _) => Some("schedule 1 has no such number"),
        _ => None,
    }
}

/// A field of a line, with what was inside its quotation marks as written.
#[derive(Clone, Copy, Debug)]
struct Field {
    text: &'static str,
}

impl Field {
    fn unquoted(self) -> String {
        self.text.replace("\"\"", "\"")
    }
}

/// A line's fields: separated by commas, which a field in quotation marks may hold; a mark inside is doubled.
fn fields(line: &'static str) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut rest = Some(line);
    while let Some(text) = rest {
        let (field, after) = match text.strip_prefix('"') {
            None => text
                .split_once(',')
                .map_or((text, None), |(field, after)| (field, Some(after))),
            Some(inside) => {
                let end = closing_mark(inside);
                let (field, after) = inside.split_at_checked(end).unwrap_or((inside, ""));
                (field, after.strip_prefix("\",").or_else(|| after.strip_prefix(',')))
            }
        };
        fields.push(Field { text: field });
        rest = after;
    }
    fields
}

/// Where the mark stands that isn't doubled.
fn closing_mark(inside: &str) -> usize {
    let mut chars = inside.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '"' && chars.next_if(|(_, next)| *next == '"').is_none() {
            return at;
        }
    }
    inside.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_row_is_lost_and_no_section_is_missing() {
        let table = Table::read();
        assert_eq!(table.pairs().count(), 736);
        assert_eq!(SCHEDULE_1.lines().count(), 737);
        let sections: BTreeSet<_> = table.pairs().map(|pair| pair.section_number()).collect();
        assert_eq!(sections, (1..=223).collect());
        let likely = table.pairs().filter(|pair| pair.certainty == Certainty::Likely).count();
        assert_eq!(likely, 6);
        assert!(table.pairs().all(|pair| pair.certainty != Certainty::Uncertain));
        assert!(
            table
                .pairs()
                .all(|pair| !pair.old_rule.contains('"') && !pair.section.contains('"'))
        );
    }

    #[test]
    fn headings_are_as_certain_as_the_table_says() {
        let table = Table::read();
        let mut counts = [0; 5];
        for section in 1..=223 {
            let at = table.heading(section).map_or(4, |heading| heading.certainty as usize);
            counts[at] += 1;
        }
        // Certain: 182 of the table, and 11 that are printed with their provisions. 160 and 161 share one heading.
        assert_eq!(counts, [182 + 11, 0, 23, 2, 5]);
        let told = |section| {
            let heading = table.heading(section).unwrap();
            format!("{} ({}) {}", heading.text, heading.certainty.name(), heading.note)
        };
        assert_eq!(told(72), "Dealer to call no more bets at proper time (certain) ");
        assert_eq!(
            told(77),
            "Announcing result of spin (certain) printed with the provision itself"
        );
        assert_eq!(told(161), told(160));
        assert!(told(11).contains("scrambled by OCR, probably \"Review of applications and"));
    }

    #[test]
    fn parts_and_divisions_are_those_of_schedule_2() {
        assert_eq!(parts(77), ["PART 5—SIC-BO"]);
        assert_eq!(parts(47), ["PART 4—BLACKJACK", "Division 4—Super sevens wagers"]);
        assert_eq!(
            parts(40)[1],
            "Division 3—Different types of wagers, extra players and other matters"
        );
        assert!(parts(224).is_empty());
        assert!((1..=223).all(|section| !parts(section).is_empty()));
    }

    #[test]
    fn numbers_contain_what_is_below_them_only() {
        let table = Table::read();
        let sections = |asked: &str| -> Vec<_> { table.of_old_rule(asked).iter().map(|p| p.section).collect() };
        assert_eq!(sections("21.2"), ["77(1)", "77(2)", "77(3)"]);
        assert_eq!(sections("2.1"), ["2"]);
        assert_eq!(sections("19.1, 4th sentence, (e)"), ["70, def “any triple”"]);
        assert!(sections("").is_empty() && sections("21").is_empty());
        let old: Vec<_> = table.of_section("80").iter().map(|p| p.old_rule).collect();
        assert_eq!(old, ["22.1", "22.2"]);
    }
}
