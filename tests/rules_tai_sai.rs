//! Tai-sai against vectors made by an independent program: all 216 outcomes, every wager's edge, and traces of whole games.
//!
//! The vectors are read from `tests/data/`. With `TABLEGATE_VECTORS=DIR` they are read from every matching file of that folder
//! instead; a kind of vector of which the folder has none is still read from `tests/data/`, so that no test passes on nothing.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test may panic"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tablegate::rules::tai_sai::machine::{
    Answer, Bell, Clearance, Dice, DisplayFaults, Done, LayoutWagers, Machine, OpeningTests, Operation, Outcome, Phase,
    Role, Settings, Throw, Tumbler,
};
use tablegate::rules::tai_sai::{Layout, Style, VoidReason, areas, call, outcomes, total, wager, wagers, winners};

/// Files of the folder in use whose names begin and end so.
fn vector_files(prefix: &str, extension: &str) -> Vec<PathBuf> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let Some(theirs) = std::env::var_os("TABLEGATE_VECTORS").map(PathBuf::from) else {
        return matching(&ours, prefix, extension);
    };
    let names = names_in(&theirs).unwrap_or_else(|e| panic!("TABLEGATE_VECTORS={}: {e}", theirs.display()));
    let are_vectors = |name: &String| {
        let (jsonl, csv) = (name.ends_with(".jsonl"), name.ends_with(".csv"));
        jsonl && name.contains("_traces") || csv && (name.contains("_outcomes") || name.contains("_edges"))
    };
    assert!(
        names.iter().any(are_vectors),
        "TABLEGATE_VECTORS={}: no *_traces*.jsonl, *_outcomes*.csv or *_edges*.csv there",
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
fn lines(path: &Path) -> Vec<(String, String)> {
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
fn csv(path: &Path) -> Vec<(String, BTreeMap<String, String>)> {
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

#[test]
fn trace_outcomes_have_their_call_total_and_winners() {
    for path in vector_files("tai_sai_outcomes", "csv") {
        let mut seen = 0;
        for (place, row) in csv(&path) {
            let die = |name: &str| {
                row[name]
                    .parse::<u8>()
                    .unwrap_or_else(|e| panic!("{place}: {name}: {e}"))
            };
            let faces = [die("d1"), die("d2"), die("d3")];
            assert_eq!(call(faces), row["call"], "{place}");
            assert_eq!(total(faces).to_string(), row["total"], "{place}");
            for (column, layout) in [("standard", Layout::Appendix1), ("alternative", Layout::Appendix2)] {
                let ours: Vec<String> = winners(faces, layout)
                    .iter()
                    .map(|w| {
                        assert_eq!(w.odds.per, 1);
                        format!("{}:{}", w.id, w.odds.pays)
                    })
                    .collect();
                assert_eq!(ours.join(" "), row[column], "{place}, {column}");
            }
            seen += 1;
        }
        eprintln!("{}: {seen} outcomes", path.display());
    }
}

/// An exact fraction in lowest terms.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Ratio {
    over: i64,
    under: i64,
}

impl Ratio {
    fn new(over: i64, under: i64) -> Ratio {
        let (mut a, mut b) = (over.abs(), under.abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Ratio {
            over: over / a.max(1),
            under: under / a.max(1),
        }
    }
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.over, self.under)
    }
}

#[test]
fn trace_edges_are_exact_over_all_outcomes() {
    for path in vector_files("tai_sai_edges", "csv") {
        let rows = csv(&path);
        for (place, row) in &rows {
            let layouts = row["layouts"].as_str();
            let on_standard = areas(Layout::Appendix1).contains(&row["wager"].as_str());
            assert_eq!(on_standard, layouts == "both", "{place}: {layouts}");
            let wager = wager::wager(&row["wager"], Layout::Appendix2)
                .unwrap_or_else(|| panic!("{place}: no area {}", row["wager"]));
            let paid: Vec<_> = outcomes().filter_map(|faces| wager.pays(faces)).collect();
            assert_eq!(paid.len().to_string(), row["winning_of_216"], "{place}");
            // A winner's unit comes back with what it earned.
            let back: i64 = paid.iter().map(|odds| i64::from(odds.pays / odds.per) + 1).sum();
            assert_eq!(Ratio::new(back, 216).to_string(), row["return_per_unit"], "{place}");
            let edge = Ratio::new(216 - back, 216);
            assert_eq!(edge.to_string(), row["house_edge"], "{place}");
            let decimal = edge.over as f64 / edge.under as f64;
            assert_eq!(format!("{decimal:.6}"), row["house_edge_decimal"], "{place}");
        }
        eprintln!("{}: {} wagers", path.display(), rows.len());
    }
}

#[test]
fn areas_are_those_of_the_edges_in_the_same_order() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tai_sai_edges.csv");
    let theirs: Vec<_> = csv(&path).into_iter().map(|(_, row)| row["wager"].clone()).collect();
    assert_eq!(areas(Layout::Appendix2), theirs);
    assert_eq!(areas(Layout::Appendix1), &theirs[..50]);
    assert_eq!(wagers(Layout::Appendix1).len(), 50);
}

fn text<'a>(value: &'a serde_json::Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

fn role(value: &serde_json::Value) -> Option<Role> {
    match text(value, "by")? {
        "dealer" => Some(Role::Dealer),
        "game_supervisor" => Some(Role::GameSupervisor),
        "casino_supervisor" => Some(Role::CasinoSupervisor),
        "player" => Some(Role::Player),
        _ => None,
    }
}

/// A flag that may be left out.
fn flag(value: &serde_json::Value, name: &str, absent: bool) -> Option<bool> {
    value.get(name).map_or(Some(absent), serde_json::Value::as_bool)
}

fn number<T: TryFrom<u64>>(value: &serde_json::Value, name: &str) -> Option<T> {
    T::try_from(value.get(name)?.as_u64()?).ok()
}

/// The operation in the machine's words; `None` when it is none: then it counts as refused.
fn operation(op: &serde_json::Value) -> Option<Operation> {
    Some(match text(op, "op")? {
        "open_table" => Operation::OpenTable {
            by: role(op)?,
            tests: if flag(op, "tests_ok", true)? {
                OpeningTests::Passed
            } else {
                OpeningTests::Failed
            },
        },
        "tumble" => Operation::Tumble {
            spins: number(op, "spins")?,
            tumbler: if flag(op, "fault", false)? {
                Tumbler::Failed
            } else {
                Tumbler::Worked
            },
        },
        "retrieve_dice" => Operation::RetrieveDice,
        "place_bets" => Operation::PlaceBets,
        "no_more_bets" => Operation::NoMoreBets {
            bell: if flag(op, "bell", true)? {
                Bell::Rung
            } else {
                Bell::NotRung
            },
        },
        "uncover" => Operation::Uncover {
            dice: if flag(op, "flat", true)? {
                Dice::Flat
            } else {
                Dice::NotFlat
            },
        },
        "offer" => Operation::Offer {
            seat: number(op, "seat")?,
            areas: op
                .get("wagers")?
                .as_array()?
                .iter()
                .map(|area| area.as_str().map(str::to_owned))
                .collect::<Option<_>>()?,
            answer: if flag(op, "accept", true)? {
                Answer::Accepts
            } else {
                Answer::Declines
            },
        },
        "dealer_throws" => Operation::DealerThrows {
            wagers: if flag(op, "wagers_on_layout", true)? {
                LayoutWagers::Some
            } else {
                LayoutWagers::None
            },
        },
        "throw" => Operation::Throw(Throw {
            crossed_line: flag(op, "crossed_line", true)?,
            in_area: flag(op, "in_area", true)?,
            clear_path: flag(op, "clear_path", true)?,
            flat: flag(op, "flat", true)?,
        }),
        "key" => Operation::Key(number(op, "n")?),
        "enter" => Operation::Enter,
        "amend" => {
            let dice: Vec<u8> = serde_json::from_value(op.get("dice")?.clone()).ok()?;
            Operation::Amend {
                faces: dice.try_into().ok()?,
                by: role(op)?,
            }
        }
        "lamps_lit" => Operation::LampsLit,
        "lamp_fault" => Operation::LampFault,
        "display_fault" => Operation::DisplayFault,
        "collect_losing" => Operation::CollectLosing,
        "pay_winning" => Operation::PayWinning,
        "void" => Operation::Void {
            reason: VoidReason::from_code(text(op, "reason")?)?,
            by: role(op)?,
        },
        "clear_malfunction" => Operation::ClearMalfunction {
            how: match text(op, "how")? {
                "rectified" => Clearance::Rectified,
                "alternative_procedure" => Clearance::AlternativeProcedure,
                _ => return None,
            },
        },
        _ => return None,
    })
}

fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Shut => "shut",
        Phase::Ready => "ready",
        Phase::Primed => "primed",
        Phase::Betting => "betting",
        Phase::Closed => "closed",
        Phase::Throwing => "throwing",
        Phase::Landed => "landed",
        Phase::Entered => "entered",
        Phase::Collecting => "collecting",
        Phase::Halted => "halted",
    }
}

/// Decided wagers as the vectors write them.
fn resolved(done: &Done) -> serde_json::Value {
    done.resolved
        .iter()
        .map(|r| match r.outcome {
            Outcome::Won { odds, profit } => serde_json::json!({"wager": r.wager.area, "stake": r.wager.stake,
                "outcome": "win", "profit": profit, "odds": odds.pays.to_string()}),
            Outcome::Lost => {
                serde_json::json!({"wager": r.wager.area, "stake": r.wager.stake, "outcome": "lose", "profit": 0})
            }
        })
        .collect()
}

fn settings(trace: &serde_json::Value, place: &str) -> Settings {
    let config = &trace["config"];
    Settings {
        style: match text(config, "style") {
            Some("A") => Style::A,
            Some("B") => Style::B,
            other => panic!("{place}: style {other:?}"),
        },
        layout: match text(config, "layout") {
            Some("standard") => Layout::Appendix1,
            Some("alternative") => Layout::Appendix2,
            other => panic!("{place}: layout {other:?}"),
        },
        display_faults: DisplayFaults::HoldNextGame,
    }
}

/// Plays one trace and compares acceptance, the view, decided wagers and ends on every step.
fn play(trace: &serde_json::Value, place: &str) -> usize {
    let id = text(trace, "id").unwrap_or_else(|| panic!("{place}: a trace without id"));
    let steps = trace["steps"]
        .as_array()
        .unwrap_or_else(|| panic!("{place}: {id} has no steps"));
    let mut machine = Machine::new(settings(trace, place));
    let mut ends = Vec::new();
    for (n, step) in steps.iter().enumerate() {
        let (op, out) = (&step["in"], &step["out"]);
        let at = format!("{place}: {id} step {n}: {op}");
        let before = machine.clone();
        let answer = operation(op).map(|op| machine.perform(&op));
        let done = match answer {
            Some(Ok(done)) => Some(done),
            Some(Err(_)) | None => None,
        };
        assert_eq!(done.is_some(), out["ok"].as_bool().expect(&at), "{at}: accepted?");
        assert!(
            done.is_some() || machine == before,
            "{at}: refused, and something changed"
        );
        assert_eq!(
            phase_name(machine.phase()),
            text(out, "phase").expect(&at),
            "{at}: phase"
        );
        assert_eq!(serde_json::json!(machine.lamps()), out["lamps"], "{at}: lamps");
        assert_eq!(serde_json::json!(machine.keys()), out["led"], "{at}: keys");
        assert_eq!(
            !machine.malfunctions().is_empty(),
            out["malfunction"],
            "{at}: malfunction"
        );
        let done = done.unwrap_or_default();
        let nothing = serde_json::json!([]);
        assert_eq!(
            resolved(&done),
            *out.get("resolved").unwrap_or(&nothing),
            "{at}: resolved"
        );
        let end = done.game_end.map(|end| end.to_string());
        assert_eq!(end.as_deref(), text(out, "game_end"), "{at}: game end");
        ends.extend(end);
    }
    assert_eq!(serde_json::json!(ends), trace["ends"], "{place}: {id}: ends");
    steps.len()
}

#[test]
fn trace_rounds_are_accepted_lit_and_ended_as_the_law_says() {
    for path in vector_files("tai_sai_round_traces", "jsonl") {
        let (mut traces, mut steps) = (0, 0);
        for (place, line) in lines(&path) {
            let trace = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{place}: not a trace: {e}"));
            steps += play(&trace, &place);
            traces += 1;
        }
        eprintln!("{}: {traces} traces, {steps} steps", path.display());
    }
}
