//! What wagers are worth, against exact probabilities and edges made by an independent program. `vector_support` says where
//! they are read from.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test may panic"
)]

mod vector_support;

use serde_json::{Value, json};
use std::collections::BTreeMap;
use tablegate::rules::odds::chain::{Next, Solved, solve};
use tablegate::rules::odds::{Ratio, Worth};
use tablegate::rules::{triple_penny, two_up_dice};
use vector_support::vector_files;

fn ratio(over: i128, under: i128) -> Ratio {
    Ratio::new(over, under).unwrap()
}

fn told(ratio: Ratio) -> Value {
    json!({"exact": ratio.to_string(), "decimal": ratio.decimal(9).unwrap()})
}

fn as_vector(worth: &Worth) -> Value {
    let outcomes: BTreeMap<_, _> = worth.ends.iter().map(|end| (&end.how, told(end.probability))).collect();
    json!({
        "outcomes": outcomes,
        "expected_valid_spins": told(worth.spins),
        "house_edge": told(worth.house_edge().unwrap()),
    })
}

/// The reading that TD-1 rejects: heads and tails leave the run of odds alone, so that five in a game lose.
fn odds_never_reset() -> Value {
    let solved: Solved<&str> = solve((0, 0), |(hits, odds)| {
        let hit = if *hits == 2 {
            Next::Ends("won")
        } else {
            Next::Goes((hits + 1, *odds))
        };
        let odd = if *odds == 4 {
            Next::Ends("lost_odds_out")
        } else {
            Next::Goes((*hits, odds + 1))
        };
        vec![
            (ratio(1, 4), hit),
            (ratio(1, 4), Next::Ends("lost_opposite")),
            (ratio(1, 2), odd),
        ]
    })
    .unwrap();
    let outcomes: BTreeMap<_, _> = solved.ends.iter().copied().collect();
    let back = outcomes["won"].times(ratio(17, 2)).unwrap();
    json!({
        "outcomes": outcomes.iter().map(|(how, p)| ((*how).to_owned(), told(*p))).collect::<BTreeMap<_, _>>(),
        "expected_valid_spins": told(solved.steps),
        "house_edge": told(Ratio::ONE.minus(back).unwrap()),
    })
}

#[test]
fn trace_probabilities_are_those_of_the_machines() {
    let mut ours: BTreeMap<String, Value> = BTreeMap::new();
    for worth in two_up_dice::odds::worths().unwrap() {
        ours.insert(format!("two_up_dice.{}", worth.wager), as_vector(&worth));
    }
    for worth in triple_penny::odds::worths().unwrap() {
        ours.insert(format!("triple_penny.{}", worth.wager), as_vector(&worth));
    }
    ours.insert(
        "two_up_dice.spinner.ALT_odds_never_reset".to_owned(),
        odds_never_reset(),
    );
    for path in vector_files("probabilities", "json") {
        let text = std::fs::read_to_string(&path).unwrap();
        let theirs: BTreeMap<String, Value> = serde_json::from_str(&text).unwrap();
        assert!(!theirs.is_empty(), "{}: empty", path.display());
        for (name, mut expected) in theirs {
            expected.as_object_mut().unwrap().remove("note");
            let found = ours
                .get(&name)
                .unwrap_or_else(|| panic!("{}: no {name}", path.display()));
            assert_eq!(*found, expected, "{name}");
        }
    }
}

#[test]
fn odds_are_told_on_the_command_line() {
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_tablegate"))
        .args(["rules", "odds", "--json", "--layout", "appendix-2"])
        .output()
        .unwrap();
    assert!(out.status.success());
    let games: Value = serde_json::from_slice(&out.stdout).unwrap();
    let told: Vec<_> = games
        .as_array()
        .unwrap()
        .iter()
        .map(|game| (game["game"].as_str().unwrap(), game["wagers"].as_array().unwrap().len()))
        .collect();
    let expected = [
        ("tai-sai", 106),
        ("sic-bo", 50),
        ("two-up-dice", 6),
        ("triple-penny-two-up", 4),
    ];
    assert_eq!(told, expected);
    assert_eq!(games[0]["wagers"][0]["house_edge"]["exact"], "1/36");
}
