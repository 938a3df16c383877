//! Holds the house to its plan: who may name whom, what the pure rooms don't know, which library lives in which file.
//!
//! A failing line names the file, what it names, and where the code belongs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What each room may name of the others (itself always), and why not more.
const MAY_NAME: &[(&str, &[&str], &str)] = &[
    ("time", &[], "the words for time know nobody"),
    (
        "counted",
        &[],
        "a count with its noun knows nobody, so that whoever writes sentences may name it",
    ),
    (
        "failpoint",
        &[],
        "a step to crash at knows nobody, so that every room may name it",
    ),
    (
        "causes",
        &[],
        "an error is told with its causes in every room alike, so it knows none",
    ),
    (
        "rules",
        &[],
        "the law knows no devices, people or time: what joins them to the law belongs in table/",
    ),
    (
        "table",
        &["rules", "time", "counted"],
        "the table sees inputs and facts only: bytes belong in wire/, tasks in device/, storage in journal/",
    ),
    (
        "wire",
        &["time"],
        "the link knows no table: translating messages to inputs belongs in device/",
    ),
    (
        "device",
        &["wire", "table", "time", "counted"],
        "a port's task knows its link and the inputs: what they mean belongs in table/",
    ),
    (
        "signing",
        &["table"],
        "a signature knows checkpoints only: files and who reads them belong in config/ and cli/",
    ),
    (
        "journal",
        &["table", "time", "failpoint"],
        "the store knows events only: what publishes them belongs in uplink/",
    ),
    (
        "uplink",
        &["journal", "table", "time", "failpoint", "causes"],
        "delivery reads the journal: what decides belongs in table/, what starts it in gateway/",
    ),
    (
        "floor",
        &["table", "signing", "time"],
        "the floor's side knows events and what proves them: its connection belongs in cli/floor.rs",
    ),
    (
        "gateway",
        &[
            "rules",
            "table",
            "wire",
            "device",
            "journal",
            "uplink",
            "time",
            "failpoint",
            "causes",
            "signing",
        ],
        "the loop knows the rooms below it: sockets belong in control/, pages in display/, files in config/",
    ),
    (
        "control",
        &["gateway", "table", "time"],
        "the local API shows the gateway's view and passes acts on",
    ),
    (
        "display",
        &["gateway", "table", "time"],
        "the results display shows the gateway's view",
    ),
    (
        "metrics",
        &["gateway", "device", "uplink", "table", "time"],
        "the metrics show the gateway's view and the reports in it",
    ),
    (
        "config",
        &[
            "rules", "table", "device", "signing", "journal", "uplink", "gateway", "control", "display", "metrics",
            "time",
        ],
        "configuration makes values for the rooms: what reads files and runs is in cli/",
    ),
    (
        "sim",
        &["wire", "table", "rules", "time"],
        "a simulated device stands on the far side of the bytes",
    ),
    // It builds a whole world around the gateway, so it names what the gateway is made of: the outermost room, beside cli/. Nobody
    // but cli/ names it, and the devices in it stay on the far side of the bytes.
    (
        SIMULATION,
        &[
            "sim", "wire", "table", "rules", "device", "journal", "uplink", "floor", "gateway", "time",
        ],
        "the simulation stands where the machine stands: people and files belong in cli/",
    ),
];

/// The deterministic simulation: a room of its own within `sim`.
const SIMULATION: &str = "sim/faults";

/// Names that a pure room may not contain.
const IMPURE: &[(&str, &str)] = &[
    ("tokio", "tasks and channels belong in device/ or gateway/"),
    ("std::fs", "files belong in journal/, config/ or cli/"),
    ("std::net", "sockets belong in uplink/ or control/"),
    ("std::thread", "threads belong in journal/"),
    ("std::sync::mpsc", "channels belong in gateway/"),
    ("std::env", "the environment belongs in config/"),
    ("std::process", "processes belong in cli/"),
    ("SystemTime", "`now` comes in as an argument"),
    ("Instant", "`now` comes in as an argument"),
    ("rand::", "random numbers come in as arguments"),
    ("getrandom", "random numbers come in as arguments"),
    ("Uuid", "identities are made in gateway/"),
    ("println!", "only cli/ prints"),
    ("tracing::", "a pure room tells by what it returns"),
    ("static mut", "no globals"),
    ("thread_local!", "no globals"),
];

/// Libraries that only one file, or one room, may name.
const ONE_PLACE: &[(&str, &[&str])] = &[
    ("tokio_serial", &["src/device/port.rs"]),
    ("rumqttc", &["src/uplink/broker.rs"]),
    // A folder: its files are one connection's statements, sorted by what they are for, and share its private fields.
    ("rusqlite", &["src/journal/store/"]),
    ("ed25519_dalek", &["src/signing.rs"]),
    ("rumqttd", &["src/sim/broker.rs"]),
    ("jiff", &["src/cli/report/calendar.rs"]),
    ("config::Config::builder", &["src/config/"]),
    ("axum", &["src/display/"]),
    ("sd_notify", &["src/gateway/"]),
    ("pcap_parser", &["src/cli/replay/file.rs"]),
    ("flate2", &["src/cli/bundle/archive.rs"]),
];

const PURE: &[&str] = &["rules", "table", "wire", "signing", "time"];

fn sources(under: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(under).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            into.push(path);
        }
    }
}

/// The code of a file: without comments, and without what only tests compile.
fn code(text: &str) -> Vec<(usize, String)> {
    let mut kept = Vec::new();
    let mut skip_item = false;
    let mut depth = 0usize;
    for (number, line) in text.lines().enumerate() {
        let line = line.split("//").next().unwrap_or_default();
        let trimmed = line.trim();
        if depth == 0 && trimmed.starts_with("#[cfg(test)]") {
            skip_item = true;
            continue;
        }
        if skip_item {
            depth += line.matches('{').count();
            depth = depth.saturating_sub(line.matches('}').count());
            if depth == 0 && (trimmed.ends_with(';') || trimmed.ends_with('}')) {
                skip_item = false;
            }
            continue;
        }
        kept.push((number + 1, line.to_owned()));
    }
    kept
}

struct Source {
    /// Relative to the crate, with `/`.
    path: String,
    room: String,
    code: Vec<(usize, String)>,
}

fn house() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    sources(&root.join("src"), &mut paths);
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let relative = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
            let room = if relative.starts_with("src/sim/faults/") {
                SIMULATION.to_owned()
            } else {
                let rest = relative.trim_start_matches("src/");
                rest.split('/').next().unwrap().trim_end_matches(".rs").to_owned()
            };
            let is_test = relative.ends_with("/tests.rs") || relative.contains("/tests/");
            let code = if is_test {
                Vec::new()
            } else {
                code(&fs::read_to_string(&path).unwrap())
            };
            Source {
                path: relative,
                room,
                code,
            }
        })
        .collect()
}

/// The rooms that a line names as `crate::room` (also within `use crate::{a::b, c}` on one line).
fn named_rooms(line: &str, rooms: &BTreeSet<String>) -> Vec<String> {
    let mut named = Vec::new();
    for (at, _) in line.match_indices("crate::") {
        let rest = &line[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            named.extend(
                group
                    .split([',', '{', '}', ' '])
                    .map(|part| part.split("::").next().unwrap_or_default().to_owned()),
            );
        } else {
            named.push(
                rest.split(|c: char| !c.is_alphanumeric() && c != '_')
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
            );
        }
    }
    named.retain(|name| rooms.contains(name));
    named
}

#[test]
fn rooms_name_only_the_rooms_below_them() {
    let house = house();
    let rooms: BTreeSet<String> = house.iter().map(|source| source.room.clone()).collect();
    let mut faults = Vec::new();
    for source in &house {
        let Some((_, may, why)) = MAY_NAME.iter().find(|(room, ..)| *room == source.room) else {
            continue;
        };
        for (number, line) in &source.code {
            for named in named_rooms(line, &rooms) {
                if named != source.room && !may.contains(&named.as_str()) {
                    faults.push(format!("{}:{number} names `{named}`: {why}", source.path));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_room_is_in_the_plan() {
    let known: BTreeSet<&str> = MAY_NAME
        .iter()
        .map(|(room, ..)| *room)
        .chain(["lib", "main", "cli"])
        .collect();
    let house = house();
    let strangers: Vec<&String> = house
        .iter()
        .filter(|source| !known.contains(source.room.as_str()))
        .map(|source| &source.path)
        .collect();
    assert!(
        strangers.is_empty(),
        "no room of the plan: {strangers:?}; add it to MAY_NAME and to the code map in lib.rs"
    );
}

#[test]
fn pure_rooms_know_no_outside() {
    let mut faults = Vec::new();
    for source in house().iter().filter(|source| PURE.contains(&source.room.as_str())) {
        for (number, line) in &source.code {
            for (name, belongs) in IMPURE {
                if line.contains(name) {
                    faults.push(format!(
                        "{}:{number} names `{name}` in a pure room: {belongs}",
                        source.path
                    ));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn each_library_lives_in_one_place() {
    let mut faults = Vec::new();
    for source in house() {
        for (number, line) in &source.code {
            for (library, places) in ONE_PLACE {
                if line.contains(library) && !places.iter().any(|place| source.path.starts_with(place)) {
                    faults.push(format!(
                        "{}:{number} names `{library}`: it belongs in {}",
                        source.path,
                        places.join(", ")
                    ));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn simulators_are_named_by_the_command_line_alone() {
    let mut faults = Vec::new();
    for source in house()
        .iter()
        .filter(|source| !matches!(source.room.as_str(), "sim" | SIMULATION | "cli" | "lib"))
    {
        for (number, line) in &source.code {
            if line.contains("crate::sim") {
                faults.push(format!(
                    "{}:{number} names `sim`: the daemon has no branch for simulated devices",
                    source.path
                ));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// What must stand in the comment above a sleep of a test.
const WHY_A_TEST_SLEEPS: [&str; 2] = ["// Real time: ", "// Look again: "];

/// Sleeps of a test file without a reason, by line.
fn sleeps_without_a_reason(text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let naps = |line: &&str| line.contains("sleep(") && !line.starts_with("//") && !line.contains('"');
    let has_reason = |at: usize| {
        let above = lines[..at].iter().rev();
        let mut comment = above.take_while(|line| line.starts_with("//"));
        comment.any(|line| WHY_A_TEST_SLEEPS.iter().any(|why| line.starts_with(why)))
    };
    let sleeps = lines.iter().enumerate().filter(|(_, line)| naps(line));
    sleeps
        .map(|(at, _)| at)
        .filter(|at| !has_reason(*at))
        .map(|at| at + 1)
        .collect()
}

#[test]
fn tests_wait_for_conditions_and_sleep_only_with_a_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    sources(&root.join("tests"), &mut paths);
    let faults: Vec<String> = paths
        .iter()
        .flat_map(|path| {
            let text = fs::read_to_string(path).unwrap();
            let place = path.strip_prefix(root).unwrap().display().to_string();
            sleeps_without_a_reason(&text)
                .into_iter()
                .map(move |line| format!("{place}:{line}"))
        })
        .collect();
    assert!(
        faults.is_empty(),
        "a test waits for a condition with a deadline; a sleep between two looks, or one where real time is what is measured, \
         has the comment `// Look again: ...` or `// Real time: ...` right above it:\n{}",
        faults.join("\n")
    );
}

#[test]
fn every_file_says_what_it_is_for() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mute: Vec<String> = house()
        .iter()
        .filter(|source| {
            !fs::read_to_string(root.join(&source.path))
                .unwrap()
                .trim_start()
                .starts_with("//!")
        })
        .map(|source| source.path.clone())
        .collect();
    assert!(
        mute.is_empty(),
        "files that don't open with what they are for (`//!`): {mute:?}"
    );
}

/// The files that may declare the module that `path` is: of `a/b.rs` and of `a/b/mod.rs`, those of `a`.
fn declared_in(path: &str) -> [String; 2] {
    let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
    let room = module.rsplit_once('/').unwrap().0;
    match room {
        "src" => ["src/lib.rs".to_owned(), "src/main.rs".to_owned()],
        room => [format!("{room}.rs"), format!("{room}/mod.rs")],
    }
}

/// A file that no module names is read by people and by no compiler.
#[test]
fn every_file_is_a_module() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = |path: &str| {
        let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
        let declaration = format!("mod {};", module.rsplit_once('/').unwrap().1);
        declared_in(path)
            .iter()
            .filter_map(|parent| fs::read_to_string(root.join(parent)).ok())
            .any(|text| text.lines().any(|line| line.trim_end().ends_with(&declaration)))
    };
    let stray: Vec<String> = house()
        .into_iter()
        .map(|source| source.path)
        .filter(|path| !matches!(path.as_str(), "src/lib.rs" | "src/main.rs") && !named(path))
        .collect();
    assert!(stray.is_empty(), "no `mod` declares these: {stray:?}");
    assert_eq!(declared_in("src/cli/round/mod.rs"), declared_in("src/cli/round.rs"));
}

/// What a Rust value looks like from inside is for those who write it: `:?` in what people read needs the word why.
const WHY_QUOTED: &str = "// Quoted: ";

/// Lines of `text` that print a value from inside, outside of its tests, and don't say why within the three lines above.
fn printed_from_inside(text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.split("#[cfg(test)]\nmod ").next().unwrap().lines().collect();
    let says_why = |at: usize| {
        lines[at.saturating_sub(3)..=at]
            .iter()
            .any(|line| line.contains(WHY_QUOTED))
    };
    let inside = |line: &str| line.contains(":?}") || line.contains(":#?}") || line.contains("dbg!(");
    let wrong = lines
        .iter()
        .enumerate()
        .filter(|(at, line)| !line.trim_start().starts_with("//") && inside(line) && !says_why(*at));
    wrong.map(|(at, _)| at + 1).collect()
}

#[test]
fn people_are_never_shown_a_value_from_inside() {
    let mut paths = Vec::new();
    sources(Path::new("src/cli"), &mut paths);
    let mut wrong = Vec::new();
    for path in paths.iter().filter(|path| !path.ends_with("tests.rs")) {
        for line in printed_from_inside(&fs::read_to_string(path).unwrap()) {
            wrong.push(format!(
                "{}:{line}: write it in words, or say above why it is quoted so: {WHY_QUOTED}...",
                path.display()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(printed_from_inside("a\nformat!(\"{x:?}\")\n"), [2]);
    assert!(
        printed_from_inside("// Quoted: as TOML.\nformat!(\"{x:?}\")\n#[cfg(test)]\nmod tests {\n{x:?}\n}").is_empty()
    );
}

#[test]
fn main_is_short() {
    let lines = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/main.rs"))
        .unwrap()
        .lines()
        .count();
    assert!(
        lines < 60,
        "main.rs has {lines} lines: it parses arguments and hands over, the rest belongs in cli/"
    );
}

#[test]
fn the_checks_see_what_they_forbid() {
    let rooms: BTreeSet<String> = ["rules", "journal", "wire"].map(str::to_owned).into();
    assert_eq!(named_rooms("use crate::journal::Record;", &rooms), ["journal"]);
    assert_eq!(
        named_rooms("use crate::{rules::tai_sai, wire};", &rooms),
        ["rules", "wire"]
    );
    assert!(named_rooms("use std::fmt;", &rooms).is_empty());
    let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n use tokio;\n}\nfn b() {} // tokio\n";
    let kept: Vec<usize> = code(text)
        .into_iter()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(n, _)| n)
        .collect();
    assert_eq!(kept, [1, 6]);
    assert!(code(text).iter().all(|(_, line)| !line.contains("tokio")));
    let text = "// Look again: soon.\nsleep(a);\nsleep(b);\n// It is late.\n    sleep(c);\n// sleep(d)\n";
    assert_eq!(sleeps_without_a_reason(text), [3, 5]);
}

/// Nouns of which people are told how many. A place for a number directly before one of them would say "1 frames".
const COUNTED: &[&str] = &[
    "alarms",
    "areas",
    "bytes",
    "characters",
    "checkpoints",
    "entries",
    "errors",
    "events",
    "frames",
    "games",
    "keys",
    "lamps",
    "lights",
    "lines",
    "packets",
    "pieces",
    "presses",
    "problems",
    "repeats",
    "requests",
    "resets",
    "rounds",
    "spins",
    "times",
];

#[test]
fn counts_are_said_by_one_function() {
    let mut faults = Vec::new();
    let told = ["cli", "device", "control", "uplink", "gateway"];
    let is_told = |source: &&Source| told.contains(&source.room.as_str()) && !source.path.contains("_tests/");
    for source in house().iter().filter(is_told) {
        for (number, line) in &source.code {
            // A constant's value is known, and none is 1; a mean is no count; a percentage is of all.
            let places = line.match_indices("} ").filter(|(at, _)| {
                let place = line[..*at].rsplit('{').next().unwrap_or_default();
                let is_constant = place.starts_with(char::is_uppercase);
                !is_constant && !place.contains('.')
            });
            for (at, _) in places {
                let noun: String = line[at + 2..].chars().take_while(char::is_ascii_alphabetic).collect();
                if COUNTED.contains(&noun.as_str()) && !EXCUSED.iter().any(|(path, ..)| source.path.ends_with(path)) {
                    faults.push(format!(
                        "{}:{number} says how many {noun}: crate::counted does",
                        source.path
                    ));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Files that say "1 frames" to nobody, and why.
const EXCUSED: &[(&str, &str)] = &[
    ("device/tape.rs", "a piece as tests print it"),
    (
        "gateway/recorder.rs",
        "an event that is too large has thousands of bytes",
    ),
    ("gateway/verify.rs", "a seed that is too long has more than one byte"),
    ("cli/bundle/archive.rs", "a column of figures"),
    (
        "cli/sim/faults.rs",
        "of thousands of seeds, for whoever works on the program",
    ),
];
