//! Every command, as it stands in the command line's own definition: its help, its exit status, and what it prints on a played table.
//! Nothing that a person or a script reads shows the program's insides, and nothing is coloured where nobody sees colours.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod daemon_support;

use clap::CommandFactory;
use daemon_support::{SUPERVISOR, Scene};
use nix::pty::openpty;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tablegate::cli::Cli;
use tablegate::sim::Answer;
use tokio::process::Command;

/// A command that goes on by itself is ended after this: what it has printed by then is looked at.
const LONG_ENOUGH: Duration = Duration::from_secs(4);

/// Ends of a name that lead to a command: what is asked of it, beside the daemon it asks. `{journal}` and `{config}` are the
/// scene's. A command that isn't here is run as it is.
const ASKED: &[(&str, &[&[&str]])] = &[
    ("config check", &[&["{config}"], &["/nowhere.toml"]]),
    (
        "config show",
        &[&["{config}"], &["{config}", "--canonical"], &["{config}", "--rules"]],
    ),
    (
        "config template",
        &[&["tai-sai"], &["sic-bo"], &["two-up-dice"], &["chess"]],
    ),
    ("journal verify", &[&["{journal}"], &["/nowhere"]]),
    ("journal info", &[&["{journal}"], &["/nowhere"]]),
    (
        "events list",
        &[&[], &["--round", "1"], &["--round", "4711"], &["--kind", "nothing"]],
    ),
    ("events show", &[&["1"], &["12"], &["30"], &["4711"]]),
    ("events export", &[&[], &["--format", "csv"]]),
    ("events tail", &[&[], &["-n", "3"]]),
    ("recall", &[&[], &["1"]]),
    (
        "report",
        &[&[], &["--by-shift"], &["--format", "csv"], &["--from", "yesterday"]],
    ),
    ("rules outcome", &[&["1", "3", "6"], &["5", "5", "5"], &["7", "7", "7"]]),
    ("rules why", &[&["E02"], &["LOC"], &["E77"]]),
    ("rules cite", &[&["r7.2"], &["nonsense"]]),
    ("round amend", &[&["1", "3", "6"]]),
    ("round result", &[&["1", "3", "6", "--reason", "no terminal"]]),
    ("round reason", &[&["a_not_flat"], &["because"]]),
    (
        "round incident",
        &[&["other", "--note", "a chip fell"], &["no_such_cause"]],
    ),
    ("round void", &[&["--reason", "a_not_flat"], &["--reason", "whatever"]]),
    ("round spin", &[&["heads"]]),
    ("round correct", &[&["heads"]]),
    ("round overrule", &[&["heads"]]),
    ("round continues", &[&["heads"]]),
    ("round light", &[&["heads_1", "dark"]]),
    ("round offer", &[&["4"]]),
    ("lock", &[&["--reason", "layout torn"]]),
    ("unlock", &[&["--procedure", "mended"]]),
    ("accept-device", &[&["DT-1"], &["XX-9"]]),
    ("acknowledge", &[&["disk_low"], &["no_such_alert"]]),
    ("approve", &[&["--check"]]),
    ("support-bundle", &[&[], &["--yes", "--output", "bundle"]]),
    ("capture", &[&[], &["--recent", "--output", "capture"]]),
    ("replay", &[&["/nowhere"]]),
    ("completions", &[&["bash"]]),
    ("man", &[&["round", "void"], &["nothing"]]),
    ("open", &[&["--yes"]]),
    (
        "floor watch",
        &[&[
            "--broker",
            "mqtt://127.0.0.1:9",
            "--site",
            "harbour",
            "--table",
            "TS-07",
        ]],
    ),
    (
        "floor replay",
        &[&[
            "--broker",
            "mqtt://127.0.0.1:9",
            "--site",
            "harbour",
            "--table",
            "TS-07",
            "--from",
            "1",
        ]],
    ),
    (
        "floor verify",
        &[&[
            "--broker",
            "mqtt://127.0.0.1:9",
            "--site",
            "harbour",
            "--table",
            "TS-07",
        ]],
    ),
    ("run", &[&["--config", "/nowhere.toml"]]),
];

/// These would start a table of their own, or take what the scene has: their help is looked at, and they have tests of their own.
const ONLY_HELP: &[&str] = &["demo", "sim", "ports identify"];

/// Every command that does something, by the words that lead to it.
fn commands(of: &clap::Command, path: &[String], into: &mut Vec<(Vec<String>, clap::Command)>) {
    for inner in of.get_subcommands().filter(|inner| inner.get_name() != "help") {
        let path = [path, &[inner.get_name().to_owned()]].concat();
        if inner.has_subcommands() {
            commands(inner, &path, into);
        } else {
            into.push((path, inner.clone()));
        }
    }
}

fn everything() -> Vec<(Vec<String>, clap::Command)> {
    let mut all = Vec::new();
    commands(&Cli::command(), &[], &mut all);
    assert!(all.len() > 40, "{}", all.len());
    all
}

/// What no person should have to read, with the reason.
fn insides(text: &str) -> Option<String> {
    for part in [
        "panicked",
        "RUST_BACKTRACE",
        "Some(",
        "Ok(",
        "Err(",
        "Os {",
        "\\\"",
        "\\n",
        "\\u{",
        "src/",
        "PhantomData",
        "DecodeError",
    ] {
        if text.contains(part) {
            return Some(format!("{part:?}"));
        }
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    if words
        .iter()
        .any(|word| word.trim_matches([',', '.', ')', '(']) == "None")
    {
        return Some("None".to_owned());
    }
    // `Foo {`, as a struct is printed.
    let is_type = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_uppercase())
            && word.chars().any(|c| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_alphanumeric())
    };
    let printed = words.windows(2).find(|pair| is_type(pair[0]) && pair[1] == "{");
    if let Some(pair) = printed {
        return Some(pair.join(" "));
    }
    // Bytes as a list of numbers.
    let numbers = |word: &&str| word.trim_matches(['[', ']', ',']).parse::<u8>().is_ok() && word.ends_with(',');
    let bytes = words.windows(8).find(|run| run.iter().all(numbers));
    bytes.map(|run| run.join(" "))
}

/// How it ended (nothing: it went on and was ended), and what it had printed.
struct Told {
    code: Option<i32>,
    out: String,
    err: String,
}

async fn told(folder: &Path, arguments: &[String]) -> Told {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tablegate"));
    command
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env_remove("NO_COLOR")
        .env_remove("JOURNAL_STREAM")
        .env_remove("NOTIFY_SOCKET")
        .kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let out = tokio::spawn(daemon_support::read_all(child.stdout.take().unwrap()));
    let err = tokio::spawn(daemon_support::read_all(child.stderr.take().unwrap()));
    let code = match tokio::time::timeout(LONG_ENOUGH, child.wait()).await {
        Ok(status) => Some(status.unwrap().code().expect("no signal ended it")),
        Err(_) => {
            child.kill().await.unwrap();
            None
        }
    };
    Told {
        code,
        out: out.await.unwrap(),
        err: err.await.unwrap(),
    }
}

/// What is asked of this command, with the scene's paths and the daemon where it asks one.
fn asked(scene: &Scene, path: &[String], command: &clap::Command) -> Vec<Vec<String>> {
    let name = path.join(" ");
    let has = |id: &str| command.get_arguments().any(|argument| argument.get_id() == id);
    const AS_IT_IS: &[&[&str]] = &[&[]];
    let known = ASKED.iter().find(|(known, _)| *known == name);
    let variants = known.map_or(AS_IT_IS, |(_, asked)| *asked);
    let mut all = Vec::new();
    for variant in variants {
        let mut words = path.to_vec();
        let place = |word: &str| {
            let journal = scene.journal();
            word.replace("{journal}", journal.to_str().unwrap())
                .replace("{config}", scene.config().to_str().unwrap())
        };
        words.extend(variant.iter().map(|word| place(word)));
        let names_a_journal = ["journal verify", "journal info"].contains(&name.as_str());
        if has("socket") && !names_a_journal && name != "approve" {
            words.extend(["--socket".to_owned(), scene.path("t.sock").to_str().unwrap().to_owned()]);
        } else if has("config") && name == "approve" {
            words.extend(["--config".to_owned(), scene.config().to_str().unwrap().to_owned()]);
        }
        if has("by") && nix::unistd::Uid::current().is_root() {
            words.extend(["--by".to_owned(), SUPERVISOR.to_owned()]);
        }
        if has("json") && !variant.contains(&"--format") {
            all.push([words.clone(), vec!["--json".to_owned()]].concat());
        }
        all.push(words);
    }
    all
}

/// Statuses that a script can rely on.
fn check(arguments: &[String], told: &Told) {
    let line = arguments.join(" ");
    let both = format!("{}{}", told.out, told.err);
    assert!(
        told.code.is_none_or(|code| (0..=4).contains(&code)),
        "{line} ended with {:?}: {both}",
        told.code
    );
    assert!(
        !both.contains('\u{1b}'),
        "{line} is coloured though nobody sees it: {both:?}"
    );
    // In JSON a quote within a text is escaped; in the text of a person it isn't.
    let json = arguments.iter().any(|argument| argument == "--json");
    let out = match (json, told.code) {
        (true, Some(_)) => texts(&line, &told.out),
        (_, _) => told.out.clone(),
    };
    let generated = ["completions", "man", "events export", "events show", "config template"];
    let is_generated = generated.iter().any(|name| line.starts_with(name));
    if let Some(what) = insides(&out).filter(|_| !is_generated) {
        panic!("{line} prints {what}: {out}");
    }
    if let Some(what) = insides(&told.err) {
        panic!("{line} says {what}: {}", told.err);
    }
    if matches!(told.code, Some(1..=4)) {
        assert!(!told.err.trim().is_empty(), "{line} fails without a word: {}", told.out);
    }
}

/// The texts of what has to be JSON, one value or one a line.
fn texts(line: &str, out: &str) -> String {
    let values: Vec<serde_json::Value> = serde_json::Deserializer::from_str(out)
        .into_iter()
        .map(|value| value.unwrap_or_else(|error| panic!("{line} prints no JSON ({error}): {out}")))
        .collect();
    let mut texts = String::new();
    let mut rest: Vec<&serde_json::Value> = values.iter().collect();
    while let Some(value) = rest.pop() {
        match value {
            serde_json::Value::String(text) => texts.extend([text, "\n"]),
            serde_json::Value::Array(values) => rest.extend(values),
            serde_json::Value::Object(fields) => rest.extend(fields.values()),
            serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
        }
    }
    // A page, or a text with quotes in it, is not what is looked for here.
    texts.replace("\\\"", "\"").replace("\\n", " ")
}

#[tokio::test]
async fn no_command_shows_its_insides_on_a_played_table() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    scene.start().await;
    scene.open().await;
    let dealer = scene.dealer.clone();
    dealer.play([1, 3, 6]).await.unwrap();
    dealer.to_the_dice([2, 2, 4]).await.unwrap();
    assert_ne!(dealer.enter(&[6, 6]).await.unwrap(), Answer::Accepted);
    assert_eq!(dealer.enter(&[2, 2, 4]).await.unwrap(), Answer::Accepted);
    scene.act(&["round", "amend", "2", "2", "5"]).await.ok();

    let mut tried = BTreeSet::new();
    for (path, command) in everything() {
        let name = path.join(" ");
        if ONLY_HELP.iter().any(|only| name.starts_with(only)) {
            continue;
        }
        for arguments in asked(&scene, &path, &command) {
            let told = told(scene.directory.path(), &arguments).await;
            check(&arguments, &told);
        }
        tried.insert(name);
    }
    for (name, _) in ASKED {
        assert!(tried.contains(*name), "{name} is no command");
    }
    on_a_terminal_nothing_is_coloured_that_asked_not_to_be(&scene);
    progress_is_shown_to_people_alone(&scene);
}

/// Runs it with standard error, and if wanted standard output, on a terminal; what was seen there.
fn seen(arguments: &[&str], output: Option<&Path>, environment: &[(&str, &str)]) -> String {
    let pty = openpty(None, None).unwrap();
    let slave = || Stdio::from(pty.slave.try_clone().unwrap());
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_tablegate"));
    command.args(arguments).stdin(Stdio::null()).stderr(slave());
    command.env_remove("NO_COLOR").envs(environment.iter().copied());
    match output {
        Some(file) => command.stdout(File::create(file).unwrap()),
        None => command.stdout(slave()),
    };
    let mut child = command.spawn().unwrap();
    // Only the child holds the terminal now: its end is the end of what is seen.
    drop(command);
    drop(pty.slave);
    let master: OwnedFd = pty.master;
    let mut master = File::from(master);
    let mut seen = Vec::new();
    let mut bytes = [0; 4096];
    while let Ok(read @ 1..) = master.read(&mut bytes) {
        seen.extend_from_slice(&bytes[..read]);
    }
    child.wait().unwrap();
    String::from_utf8_lossy(&seen).into_owned()
}

fn on_a_terminal_nothing_is_coloured_that_asked_not_to_be(scene: &Scene) {
    let socket = scene.path("t.sock");
    let socket = socket.to_str().unwrap();
    for arguments in [
        &["status"][..],
        &["devices"],
        &["events", "list"],
        &["recall"],
        &["report"],
        &["round", "show"],
        &["journal", "info"],
        &["journal", "verify"],
    ] {
        let all = [arguments, &["--socket", socket]].concat();
        let seen = seen(&all, None, &[("NO_COLOR", "1")]);
        assert!(!seen.is_empty() && !seen.contains('\u{1b}'), "{arguments:?}: {seen:?}");
    }
}

fn progress_is_shown_to_people_alone(scene: &Scene) {
    let journal = scene.journal();
    let journal = journal.to_str().unwrap();
    let output = scene.path("output");
    let events = scene.path("events");
    for arguments in [
        &["journal", "verify", journal][..],
        &["events", "export", "--journal", journal],
        &["events", "list", "--journal", journal],
        &["recall", "--journal", journal],
        &["report", "--journal", journal],
        &[
            "events",
            "export",
            "--journal",
            journal,
            "--output",
            events.to_str().unwrap(),
        ],
    ] {
        let seen = seen(arguments, Some(&output), &[("NO_COLOR", "1")]);
        assert!(seen.contains("100 % of "), "{arguments:?}: {seen:?}");
        assert!(!seen.contains('\u{1b}'), "{arguments:?}: {seen:?}");
        let printed = std::fs::read_to_string(&output).unwrap();
        assert!(
            !printed.contains('\r'),
            "{arguments:?}: progress is no output: {printed}"
        );
    }
}

#[test]
fn every_command_has_help_with_an_example_and_ends_with_0() {
    for (path, _) in everything() {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_tablegate"))
            .args(&path)
            .arg("--help")
            .output()
            .unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{path:?}");
        assert!(
            help.contains("Example") && help.contains(&path.join(" ")),
            "{path:?}: {help}"
        );
        assert!(!help.contains('\u{1b}'), "{path:?}");
    }
}

#[test]
fn what_is_looked_for_is_found() {
    for text in [
        "Some(3)",
        "it is None",
        "Problem { key",
        "ends with \\\"x\\\"",
        "1, 2, 3, 4, 5, 6, 7, 8, 9",
    ] {
        assert!(insides(text).is_some(), "{text}");
    }
    for text in [
        "none is there",
        "faces 1, 3, 6",
        "{\"a\": 1}",
        "Table TS-07",
        "E02 Fewer than three",
    ] {
        assert_eq!(insides(text), None, "{text}");
    }
}
