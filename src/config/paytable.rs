//! What sic-bo's areas pay: a file that somebody has approved, a line an area, `area = "62:1"`; of a face value
//! `face_1 = ["1:1", "2:1", "12:1"]`, for one, two and three dice that show it.

use super::names::nearest_of;
use super::problem::{Origin, Problem};
use super::side_file::SideFile;
use super::value::shown;
use crate::rules::sic_bo::paytable::{Pays, Paytable, PaytableError};
use crate::rules::sic_bo::{areas, wager};
use crate::rules::tai_sai::Wager;
use crate::rules::wager::Odds;
use std::path::Path;
use toml::de::DeValue;

/// The largest number on either side of the colon. No casino pays a hundredth of it, and stakes times it don't overflow.
const MOST: u32 = 100_000;

/// The table that the text of the file is. What is wrong goes to `problems`, then there is none.
pub fn read(text: &str, path: &Path, problems: &mut Vec<Problem>) -> Option<Paytable> {
    let before = problems.len();
    let file = SideFile { text, path };
    let table = file.table("area = \"pays:per\", a line each", problems)?;
    let mut entries: Vec<(&str, Pays)> = Vec::new();
    for (name, value) in table.get_ref() {
        let origin = file.origin(Some(name.span().start));
        let Some((id, kind)) = wager(name.get_ref()) else {
            problems.push(unknown_area(origin, name.get_ref()));
            continue;
        };
        match pays(kind, value.get_ref()) {
            Ok(pays) => entries.push((id, pays)),
            Err(wrong) => problems.push(Problem::error(origin, id, wrong, right(kind))),
        }
    }
    let written = |area: &&&str| table.get_ref().keys().any(|name| name.get_ref() == **area);
    for area in areas().iter().filter(|area| !written(area)) {
        problems.push(Problem::error(
            file.origin(None),
            area,
            "is missing: every area pays something",
            format!(
                "{area} = {}, as for every area",
                wager(area).map_or("\"1:1\"", |(_, kind)| example(kind))
            ),
        ));
    }
    if problems.len() > before {
        return None;
    }
    match Paytable::new(entries) {
        Ok(paytable) => Some(paytable),
        Err(wrong) => {
            problems.push(of_the_rules(file.origin(None), &wrong));
            None
        }
    }
}

/// What the rules say against a table whose lines are right by themselves.
fn of_the_rules(origin: Origin, wrong: &PaytableError) -> Problem {
    Problem {
        key: None,
        ..Problem::error(origin, "", wrong.to_string(), "a line for each of the 50 areas")
    }
}

fn unknown_area(origin: Origin, name: &str) -> Problem {
    let right = match nearest_of(name, areas().iter().copied()) {
        Some(near) => format!("{near}?"),
        None => "an area of sic-bo".to_owned(),
    };
    Problem::error(origin, name, "is no area of sic-bo", right)
}

/// How what an area pays is written: an example, and what it says.
fn form(kind: Wager) -> (&'static str, &'static str) {
    match kind {
        Wager::Face(_) => (
            "[\"1:1\", \"2:1\", \"3:1\"]",
            "three of these, for one, two and three dice that show it",
        ),
        Wager::Small
        | Wager::Big
        | Wager::Triple(_)
        | Wager::Double(_)
        | Wager::AnyTriple
        | Wager::Total(_)
        | Wager::Pair(..)
        | Wager::Trio(_)
        | Wager::Four(_)
        | Wager::Odd
        | Wager::Even => ("\"8:1\"", "what it pays, a colon, for how much"),
    }
}

fn example(kind: Wager) -> &'static str {
    form(kind).0
}

fn right(kind: Wager) -> String {
    let (example, what) = form(kind);
    format!("{example} ({what}; whole numbers from 1 to {MOST})")
}

fn pays(kind: Wager, value: &DeValue<'_>) -> Result<Pays, String> {
    match (kind, value) {
        (Wager::Face(_), DeValue::Array(items)) => {
            let odds: Vec<Odds> = items
                .iter()
                .map(|item| odds(item.get_ref()))
                .collect::<Result<_, _>>()?;
            let odds = <[Odds; 3]>::try_from(odds).map_err(|odds| format!("has {} odds", odds.len()))?;
            Ok(Pays::ByDice(odds))
        }
        (Wager::Face(_), _) => Err("is no list".to_owned()),
        (_, value) => odds(value).map(Pays::Always),
    }
}

fn odds(value: &DeValue<'_>) -> Result<Odds, String> {
    let DeValue::String(text) = value else {
        return Err("has odds that are no text in quotes".to_owned());
    };
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse::<u32>().ok().filter(|_| digits);
        number.filter(|number| (1..=MOST).contains(number))
    };
    text.split_once(':')
        .and_then(|(pays, per)| {
            Some(Odds {
                pays: number(pays)?,
                per: number(per)?,
            })
        })
        .ok_or_else(|| format!("has the odds {}", shown(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> String {
        let line = |id: &&str| {
            let (_, kind) = wager(id).unwrap();
            format!("{id} = {}\n", example(kind))
        };
        areas().iter().map(line).collect()
    }

    fn wrong(text: &str) -> Vec<String> {
        let mut problems = Vec::new();
        let table = read(text, Path::new("/p.toml"), &mut problems);
        assert_eq!(table.is_none(), !problems.is_empty());
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_whole_table_is_taken() {
        let mut problems = Vec::new();
        let text = text().replace("big = \"8:1\"", "big = \"15:2\"");
        let table = read(&text, Path::new("/p.toml"), &mut problems).unwrap();
        assert_eq!(problems, []);
        assert_eq!(table.pays("big", [4, 5, 6]), Some(Odds { pays: 15, per: 2 }));
        assert_eq!(table.pays("face_2", [2, 2, 6]), Some(Odds::to_one(2)));
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let text = text()
            .replace("small = \"8:1\"", "smal = \"8:1\"")
            .replace("big = \"8:1\"", "big = \"8 to 1\"")
            .replace("triple_1 = \"8:1\"", "triple_1 = \"0:1\"")
            .replace("triple_3 = \"8:1\"", "triple_3 = 8")
            .replace("triple_4 = \"8:1\"", "triple_4 = \"100001:1\"")
            .replace("face_1 = [\"1:1\", \"2:1\", \"3:1\"]", "face_1 = \"1:1\"")
            .replace("face_2 = [\"1:1\", \"2:1\", \"3:1\"]", "face_2 = [\"1:1\", \"2:1\"]");
        insta::assert_snapshot!(wrong(&text).join("\n"));
    }
}
