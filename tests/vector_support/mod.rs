//! Vectors made by an independent program: which files to read, and how.
//!
//! They are read from `tests/data/`. With `TABLEGATE_VECTORS=DIR` they are read from every matching file of that folder instead;
//! a kind of vector of which the folder has none is still read from `tests/data/`, so that no test passes on nothing.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    missing_docs,
    reason = "a test may panic, and none needs all of this"
)]

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tablegate::rules::two_up::{Resolved, WagerName};
use tablegate::rules::wager::Outcome;

/// Files of the folder in use whose names begin and end so.
pub fn vector_files(prefix: &str, extension: &str) -> Vec<PathBuf> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let Some(theirs) = std::env::var_os("TABLEGATE_VECTORS").map(PathBuf::from) else {
        return matching(&ours, prefix, extension);
    };
    let names = names_in(&theirs).unwrap_or_else(|e| panic!("TABLEGATE_VECTORS={}: {e}", theirs.display()));
    let are_vectors = |name: &String| {
        let (jsonl, csv) = (name.ends_with(".jsonl"), name.ends_with(".csv"));
        jsonl && name.contains("_traces")
            || csv && (name.contains("_outcomes") || name.contains("_edges"))
            || name.starts_with("probabilities")
    };
    assert!(
        names.iter().any(are_vectors),
        "TABLEGATE_VECTORS={}: no *_traces*.jsonl, *_outcomes*.csv, *_edges*.csv or probabilities*.json there",
        theirs.display()
    );
    let found = matching(&theirs, prefix, extension);
    if found.is_empty() {
        eprintln!("no {prefix}*.{extension} in {}: reading our own", theirs.display());
        return matching(&ours, prefix, extension);
    }
    found
}

fn names_in(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn matching(folder: &Path, prefix: &str, extension: &str) -> Vec<PathBuf> {
    names_in(folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .iter()
        .filter(|name| name.starts_with(prefix) && name.ends_with(&format!(".{extension}")))
        .map(|name| folder.join(name))
        .collect()
}

/// Non-empty lines with a place for messages: "file:7".
pub fn lines(path: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let lines: Vec<_> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(n, line)| (format!("{}:{}", path.display(), n + 1), line.to_owned()))
        .collect();
    assert!(!lines.is_empty(), "{}: empty", path.display());
    lines
}

/// A line of comma-separated fields by the names of the header; a field in quotes may hold commas.
pub fn csv(path: &Path) -> Vec<(String, BTreeMap<String, String>)> {
    let mut lines = lines(path).into_iter();
    let header = fields(&lines.next().unwrap().1);
    let mut rows = Vec::new();
    for (place, line) in lines {
        let values = fields(&line);
        assert_eq!(
            values.len(),
            header.len(),
            "{place}: not as many fields as the header: {line}"
        );
        rows.push((place, header.iter().cloned().zip(values).collect()));
    }
    assert!(!rows.is_empty(), "{}: no rows", path.display());
    rows
}

fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            other => fields.last_mut().unwrap().push(other),
        }
    }
    fields
}

pub fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

/// A flag that may be left out.
pub fn flag(value: &Value, name: &str, absent: bool) -> Option<bool> {
    value.get(name).map_or(Some(absent), Value::as_bool)
}

pub fn number<T: TryFrom<u64>>(value: &Value, name: &str) -> Option<T> {
    T::try_from(value.get(name)?.as_u64()?).ok()
}

/// An object with no other keys than these and "op": what has others is no operation.
pub fn has_only(value: &Value, names: &[&str]) -> Option<()> {
    let fields = value.as_object()?;
    fields
        .keys()
        .all(|key| key == "op" || names.contains(&key.as_str()))
        .then_some(())
}

/// Plays every trace of this kind, prints how many there were.
pub fn play_all(prefix: &str, play: impl Fn(&Value, &str) -> usize) {
    for path in vector_files(prefix, "jsonl") {
        let (mut traces, mut steps) = (0, 0);
        for (place, line) in lines(&path) {
            let trace = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{place}: not a trace: {e}"));
            steps += play(&trace, &place);
            traces += 1;
        }
        eprintln!("{}: {traces} traces, {steps} steps", path.display());
    }
}

/// What a machine says after one operation, in the words of the vectors.
pub struct Said {
    /// Nothing of the machine has changed.
    pub unchanged: bool,
    /// What of the view is compared, by its name in the vectors.
    pub view: Value,
    /// `None` when refused.
    pub done: Option<SaidDone>,
}

/// What followed.
pub struct SaidDone {
    /// Decided wagers, in any order.
    pub resolved: Vec<Value>,
    /// How the game ended.
    pub game_end: Option<String>,
}

/// Plays one trace: asserts acceptance, the view, decided wagers (in any order) and ends on every step.
pub fn play_trace(trace: &Value, place: &str, mut perform: impl FnMut(&Value) -> Said) -> usize {
    let id = text(trace, "id").unwrap_or_else(|| panic!("{place}: a trace without id"));
    let steps = trace["steps"]
        .as_array()
        .unwrap_or_else(|| panic!("{place}: {id} has no steps"));
    let mut ends = Vec::new();
    for (n, step) in steps.iter().enumerate() {
        let (op, out) = (&step["in"], &step["out"]);
        let at = format!("{place}: {id} step {n}: {op}");
        let said = perform(op);
        assert_eq!(said.done.is_some(), out["ok"].as_bool().expect(&at), "{at}: accepted?");
        assert!(
            said.done.is_some() || said.unchanged,
            "{at}: refused, and something changed"
        );
        for (name, value) in said.view.as_object().expect("a view") {
            assert_eq!(*value, out[name], "{at}: {name}");
        }
        let (ours, end) = said
            .done
            .map_or((Vec::new(), None), |done| (done.resolved, done.game_end));
        let theirs = out
            .get("resolved")
            .map_or_else(Vec::new, |r| r.as_array().expect(&at).clone());
        assert_eq!(sorted(ours), sorted(theirs), "{at}: resolved");
        assert_eq!(end.as_deref(), text(out, "game_end"), "{at}: game end");
        ends.extend(end);
    }
    assert_eq!(json!(ends), trace["ends"], "{place}: {id}: ends");
    steps.len()
}

fn sorted(mut resolved: Vec<Value>) -> Vec<Value> {
    resolved.sort_by_key(|r| r["wager"].as_str().map(str::to_owned));
    resolved
}

/// A decided wager of two-up, with dice or coins, as the vectors write it.
pub fn two_up_resolved(decided: &Resolved) -> Value {
    let (wager, kind) = match &decided.name {
        WagerName::Spinner => ("spinner", "spinner"),
        WagerName::SpinnerBonus => ("spinner_bonus", "spinner_bonus"),
        WagerName::Player(name) => (name.as_str(), "player"),
    };
    let (side, stake) = (decided.wager.side.name(), decided.wager.stake);
    let mut said = json!({"wager": wager, "kind": kind, "side": side, "stake": stake});
    let (outcome, profit) = match decided.outcome {
        Outcome::Lost => ("lose", -i64::try_from(stake).unwrap()),
        Outcome::Returned => ("returned", 0),
        Outcome::Won { odds, profit } => {
            said["odds"] = json!(format!("{}/{}", odds.pays, odds.per));
            ("win", i64::try_from(profit).unwrap())
        }
    };
    said["outcome"] = json!(outcome);
    said["profit"] = json!(profit);
    said
}
