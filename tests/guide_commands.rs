//! The commands that the guides show: each is one that the program has, and those that only look are run on a played journal.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test may panic"
)]

mod journal_support;

use clap::CommandFactory;
use journal_support::{Scribe, fill, open, run};
use std::path::Path;
use std::process::Command;
use tablegate::cli::Cli;

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The parts of a guide that are commands of ours: lines of its `sh` blocks, and what stands in backticks.
fn shown(guide: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_block = false;
    for line in guide.lines() {
        if line.starts_with("```") {
            in_block = line == "```sh";
            continue;
        }
        let parts: Vec<&str> = if in_block {
            line.split(" # ").take(1).flat_map(|line| line.split("&&")).collect()
        } else {
            line.split('`').skip(1).step_by(2).collect()
        };
        found.extend(
            parts
                .into_iter()
                .map(str::trim)
                .filter(|part| part.starts_with("tablegate "))
                .map(str::to_owned),
        );
    }
    found
}

/// A command's words as a shell makes them; nothing when a person has to fill something in, or a shell has more to do.
fn words(command: &str) -> Option<Vec<String>> {
    if command.contains(['[', '|', '<', '>', '$', '\\']) || command.contains("...") {
        return None;
    }
    let mut words = Vec::new();
    for (index, part) in command.split('"').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    Some(words)
}

#[test]
fn every_command_in_the_guides_is_one_that_the_program_has() {
    let mut tried = 0;
    for guide in [
        "README.md",
        "docs/operations.md",
        "docs/technician.md",
        "docs/configuration.md",
        "docs/floor-integration.md",
    ] {
        for command in shown(&read(guide)) {
            let Some(words) = words(&command) else { continue };
            tried += 1;
            if let Err(error) = Cli::command().try_get_matches_from(&words) {
                use clap::error::ErrorKind;
                // What a sentence leaves out, and help, are no mistakes.
                let left_out = [
                    ErrorKind::MissingRequiredArgument,
                    ErrorKind::MissingSubcommand,
                    ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
                    ErrorKind::DisplayVersion,
                    ErrorKind::DisplayHelp,
                ];
                // A placeholder in capitals stands for a value.
                let placeholder = words
                    .iter()
                    .any(|word| word.chars().all(|c| c.is_ascii_uppercase()) && word.len() > 1);
                assert!(
                    left_out.contains(&error.kind())
                        || error.to_string().contains("none was supplied")
                        || placeholder && [ErrorKind::ValueValidation, ErrorKind::InvalidValue].contains(&error.kind()),
                    "{guide}: {command}\n{error}"
                );
            }
        }
    }
    assert!(tried > 30, "{tried}");
}

/// Those that read a journal or a configuration do what the guide says, on a journal of our own.
#[test]
fn commands_that_only_look_are_run() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    run(async {
        let opened = open(&journal);
        let mut scribe = Scribe::after(&opened);
        fill(&opened.journal, &mut scribe, 30).await;
        opened.journal.close();
    });
    let mut done = Vec::new();
    for command in shown(&read("docs/operations.md")) {
        let looks = [
            "journal verify",
            "journal info",
            "events export",
            "report",
            "config check",
        ];
        let Some(name) = looks
            .iter()
            .find(|name| command.starts_with(&format!("tablegate {name}")))
        else {
            continue;
        };
        let (Some(words), false) = (words(&command), command.contains("--key")) else {
            continue;
        };
        let named = command.contains('/') || command.contains("--instance") || command.contains("--journal");
        if !named {
            continue;
        }
        let mut arguments: Vec<String> = Vec::new();
        let mut words = words.into_iter().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--instance" | "--journal" => {
                    words.next();
                    arguments.extend(["--journal".to_owned(), journal.display().to_string()]);
                }
                word if word.starts_with("/var/lib/") || word.starts_with("/media/") => {
                    arguments.push(journal.display().to_string());
                }
                "/etc/tablegate/TS-07.toml" => arguments.push("deploy/TS-07.toml".to_owned()),
                "--zone" => {
                    words.next();
                }
                word => arguments.push(word.to_owned()),
            }
        }
        if *name == "journal info" {
            arguments.retain(|word| word != "--journal");
        }
        let output = Command::new(env!("CARGO_BIN_EXE_tablegate"))
            .args(&arguments)
            .current_dir(if *name == "config check" {
                Path::new(env!("CARGO_MANIFEST_DIR"))
            } else {
                folder.path()
            })
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command} as {arguments:?}: {said}");
        done.push(*name);
        let _ = std::fs::remove_file(folder.path().join("TS-07.events"));
    }
    for name in [
        "journal verify",
        "journal info",
        "events export",
        "report",
        "config check",
    ] {
        assert!(done.contains(&name), "{name} is shown nowhere: {done:?}");
    }
}
