//! Files that commands write, on a disk that is full: none of them is ever there in part, and one that was there stays until the new one is
//! whole. The disk's end is a limit on the size of files, which needs nobody's rights.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod journal_support;

use journal_support::*;
use std::path::Path;
use std::process::{Command, Output};
use tablegate::journal::file_in;

/// Runs the binary where no file can become larger than so many KiB.
fn within(kib: u32, arguments: &[&str]) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {kib}; exec \"$0\" \"$@\"");
    Command::new("bash")
        .args(["-c", &script, env!("CARGO_BIN_EXE_tablegate")])
        .args(arguments)
        .output()
        .unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn on_a_full_disk_a_file_is_not_there_in_part_and_an_older_one_stays() {
    let journal = scratch();
    run(async {
        let opened = open(journal.path());
        let mut scribe = Scribe::after(&opened);
        fill(&opened.journal, &mut scribe, 300).await;
        opened.journal.close();
    });
    let journal = file_in(journal.path());
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let (to, journal) = (out.to_str().unwrap(), journal.to_str().unwrap());
    let no_config = folder.path().join("none.toml");
    let config = no_config.to_str().unwrap();
    let cases: [(&str, Vec<&str>); 4] = [
        ("export", vec!["events", "export", "--journal", journal, "--output", to]),
        (
            "csv",
            vec![
                "events",
                "export",
                "--format",
                "csv",
                "--journal",
                journal,
                "--output",
                to,
            ],
        ),
        (
            "raw",
            vec![
                "events",
                "export",
                "--format",
                "raw",
                "--journal",
                journal,
                "--output",
                to,
            ],
        ),
        (
            "bundle",
            vec!["support-bundle", "--yes", "--config", config, "--output", to],
        ),
    ];
    for (what, arguments) in cases {
        let forced = [&arguments[..], &["--force"]].concat();
        let full = |arguments: &[&str]| {
            let output = within(0, arguments);
            let err = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{what}: {err}");
            assert!(err.contains(&format!("{to} can't be written: ")), "{what}: {err}");
            assert!(
                err.contains(&format!("nothing was left in {}", folder.path().display())),
                "{what}: {err}"
            );
        };
        full(&arguments);
        assert_eq!(names(folder.path()), Vec::<String>::new(), "{what}");
        std::fs::write(&out, "old").unwrap();
        full(&forced);
        assert_eq!(std::fs::read_to_string(&out).unwrap(), "old", "{what}");
        assert_eq!(names(folder.path()), ["out"], "{what}");

        // Where there is room: the older one stays until somebody says that it may go.
        let refused = within(100_000, &arguments);
        let err = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(1), "{what}: {err}");
        assert!(
            err.contains("is there already") && err.contains("--force"),
            "{what}: {err}"
        );
        let done = within(100_000, &forced);
        assert!(
            done.status.success(),
            "{what}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        assert!(std::fs::metadata(&out).unwrap().len() > 500, "{what}");
        assert_eq!(names(folder.path()), ["out"], "{what}");
        std::fs::remove_file(&out).unwrap();
    }
}

#[test]
fn manual_pages_are_whole_or_the_older_ones() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().to_str().unwrap();
    let page = folder.path().join("tablegate.1");
    std::fs::write(&page, "old").unwrap();
    let output = within(0, &["man", "--directory", directory]);
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("tablegate.1 can't be written: "), "{err}");
    assert_eq!(std::fs::read_to_string(&page).unwrap(), "old");
    assert_eq!(names(folder.path()), ["tablegate.1"]);
}

#[test]
fn what_is_printed_to_a_full_disk_fails() {
    for arguments in [
        &["man"][..],
        &["completions", "bash"],
        &["config", "template", "tai-sai"],
        &["rules", "outcome", "1", "3", "6", "--json"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_tablegate"))
            .args(arguments)
            .stdout(full)
            .output()
            .unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {err}");
        assert!(err.contains("No space left"), "{arguments:?}: {err}");
    }
}
