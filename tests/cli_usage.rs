//! Command lines as people mistype them: each is refused with the right exit status and one sentence that a person can act on.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::process::{Command, Stdio};

fn tablegate(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tablegate"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// What a program's insides look like, and no person should have to read.
const INSIDES: &[&str] = &["panicked", "RUST_BACKTRACE", "Error code", "Os {", "Some(", "src/"];

#[test]
fn every_wrong_command_line_gets_its_status_and_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    std::fs::write(&text, "no database\n".repeat(100)).unwrap();
    let text = text.to_str().unwrap();
    let directory = folder.path().to_str().unwrap();
    let broker = ["--broker", "mqtt://127.0.0.1:1"];
    let watch = |more: &[&'static str]| [&["floor", "watch"][..], &broker, more].concat();
    let cases: Vec<(Vec<&str>, i32, &str)> = vec![
        (vec!["rules", "why", ""], 2, "\"\" is no code of the readout"),
        (vec!["rules", "why", "E999"], 2, "\"E999\" is no code of the readout"),
        (vec!["rules", "outcome", "1", "3", "7"], 2, "7 is not in 1..=6"),
        (vec!["status", "--instance", ""], 2, "TS-07"),
        (vec!["status", "--instance", "../../etc/x"], 2, "TS-07"),
        (vec!["close", "--instance", "a/b"], 2, "TS-07"),
        (vec!["status", "--socket", text], 1, "is no socket"),
        (vec!["status", "--socket", directory], 1, "is no socket"),
        (
            vec!["journal", "verify", text],
            1,
            "damaged or not a journal: file is not a database",
        ),
        (
            vec!["journal", "info", text],
            1,
            "damaged or not a journal: file is not a database",
        ),
        (vec!["recall", "--journal", text], 1, "damaged or not a journal"),
        (
            vec!["events", "list", "--journal", "/dev/null"],
            1,
            "damaged or not a journal",
        ),
        (
            vec!["events", "list", "--from", "5", "--to", "3", "--journal", text],
            2,
            "--to comes before --from",
        ),
        (
            vec![
                "events",
                "export",
                "--from",
                "2026-02-02",
                "--to",
                "2026-02-01",
                "--journal",
                text,
            ],
            2,
            "--to comes before --from",
        ),
        (watch(&["--site", "#", "--table", "TS-07"]), 2, "--site names one table"),
        (
            watch(&["--site", "harbour", "--table", "+"]),
            2,
            "--table names one table",
        ),
        (watch(&["--site", "harbour", "--table", "a/b"]), 2, "--table is a name"),
        (watch(&["--site", "harbour", "--table", ""]), 2, "--table is empty"),
        (watch(&["--prefix", "/"]), 2, "--prefix is empty"),
        (watch(&["--prefix", "tablegate/#"]), 2, "--prefix names one table"),
    ];
    for (arguments, status, sentence) in cases {
        let (code, said) = tablegate(&arguments);
        assert_eq!(code, Some(status), "{arguments:?}: {said}");
        assert!(said.contains(sentence), "{arguments:?}: {said}");
        for inside in INSIDES {
            assert!(!said.contains(inside), "{arguments:?} shows {inside}: {said}");
        }
    }
}

#[test]
fn help_that_nobody_gets_is_a_failure() {
    for arguments in [&["--help"][..], &["--version"], &["round", "--help"], &["status", "-h"]] {
        let run = |out: Stdio| {
            Command::new(env!("CARGO_BIN_EXE_tablegate"))
                .args(arguments)
                .stdout(out)
                .output()
                .unwrap()
        };
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let nowhere = run(full.into());
        assert_eq!(nowhere.status.code(), Some(1), "{arguments:?}");
        assert!(!nowhere.stderr.is_empty(), "{arguments:?} says why");
        let given = run(Stdio::piped());
        assert_eq!(given.status.code(), Some(0), "{arguments:?}");
        assert!(!given.stdout.is_empty(), "{arguments:?}");
    }
}

#[cfg(feature = "sim")]
#[test]
fn a_simulated_device_is_none_that_could_not_be() {
    for (option, value) in [
        ("--baud", "0"),
        ("--baud", "4000001"),
        ("--lamps", "0"),
        ("--lamps", "100000"),
        ("--serial", ""),
        ("--serial", "tüm"),
        ("--serial", "123456789012345678901234567890123"),
    ] {
        let (code, said) = tablegate(&["sim", "device", "lamps", "--link", "/nowhere/port", option, value]);
        assert_eq!(code, Some(2), "{option} {value}: {said}");
        assert!(said.contains(option), "{option} {value}: {said}");
    }
}

#[test]
fn completions_are_read_by_the_shell_and_know_the_commands() {
    let output = Command::new(env!("CARGO_BIN_EXE_tablegate"))
        .args(["completions", "bash"])
        .output()
        .unwrap();
    assert!(output.status.success());
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("tablegate.bash");
    std::fs::write(&script, &output.stdout).unwrap();
    // As bash calls it when TAB is pressed after `tablegate round v`.
    let asked = format!(
        "source {}; COMP_WORDS=(tablegate round v); COMP_CWORD=2; _tablegate tablegate v round; echo \"${{COMPREPLY[@]}}\"",
        script.display()
    );
    let bash = Command::new("bash").args(["--norc", "-c", &asked]).output().unwrap();
    let offered = String::from_utf8_lossy(&bash.stdout).into_owned();
    assert!(
        offered.split_whitespace().any(|word| word == "void"),
        "{offered:?}: {bash:?}"
    );
}
