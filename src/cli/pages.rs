//! What is generated from the command line's own definitions: completions of shells, and manual pages.

use super::ending::{self, Failure};
use super::new_file::{Existing, NewFile, Readers};
use clap::{Args, CommandFactory, ValueEnum};
use std::path::{Path, PathBuf};

/// `tablegate completions`.
#[derive(Args, Debug)]
pub struct Completions {
    /// For which shell.
    shell: Shell,
}

/// Shells that completions are made for.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
enum Shell {
    /// The usual one.
    Bash,
    /// The friendly one.
    Fish,
    /// The other usual one.
    Zsh,
}

/// `tablegate man`.
#[derive(Args, Debug)]
pub struct Man {
    /// The page of this command, as `round void`; without it, that of tablegate.
    #[arg(conflicts_with = "directory")]
    command: Vec<String>,
    /// Write the page of every command here, as `tablegate-round-void.1`.
    #[arg(long, value_name = "DIRECTORY")]
    directory: Option<PathBuf>,
}

/// Prints what the shell has to read.
///
/// # Errors
/// When it can't be printed.
pub fn completions(args: &Completions) -> Result<(), Failure> {
    let mut command = super::Cli::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    let shell = match args.shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Fish => clap_complete::Shell::Fish,
        Shell::Zsh => clap_complete::Shell::Zsh,
    };
    clap_complete::generate(shell, &mut command, name, &mut script);
    ending::print(&String::from_utf8_lossy(&script))
}

/// Prints a manual page, or writes all of them.
///
/// # Errors
/// No such command, or a page can't be written.
pub fn man(args: &Man) -> Result<(), Failure> {
    let mut whole = super::Cli::command();
    whole.build();
    if let Some(directory) = &args.directory {
        return write_all(&whole, directory);
    }
    let mut command = &whole;
    for word in &args.command {
        command = command.find_subcommand(word).ok_or_else(|| {
            let known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
            Failure::usage(format!(
                "{} has no command \"{word}\"; there are: {}",
                command.get_bin_name().unwrap_or("tablegate"),
                known.join(", ")
            ))
        })?;
    }
    let page = page(command)?;
    ending::print(&page)
}

fn write_all(command: &clap::Command, directory: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(directory)
        .map_err(|error| Failure::failed(format!("{} can't be made: {error}", directory.display())))?;
    let path = directory.join(format!("{}.1", title(command)));
    NewFile::written(&path, Existing::Replaced, Readers::Everybody, page(command)?.as_bytes())?;
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        write_all(inner, directory)?;
    }
    Ok(())
}

/// `tablegate-round-void`, as pages are named.
fn title(command: &clap::Command) -> String {
    command.get_bin_name().unwrap_or("tablegate").replace(' ', "-")
}

fn page(command: &clap::Command) -> Result<String, Failure> {
    let mut roff = Vec::new();
    let man = clap_mangen::Man::new(command.clone().display_name(title(command)))
        .title(title(command))
        .manual("Gateway of a casino table")
        .source(format!("tablegate {}", env!("CARGO_PKG_VERSION")));
    man.render(&mut roff)?;
    Ok(String::from_utf8_lossy(&roff).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_command_has_a_page_with_its_name_what_it_does_and_an_example() {
        let directory = tempfile::tempdir().unwrap();
        man(&Man {
            command: Vec::new(),
            directory: Some(directory.path().to_owned()),
        })
        .unwrap();
        let pages: BTreeSet<String> = std::fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert!(pages.len() > 30, "{pages:?}");
        for name in [
            "tablegate.1",
            "tablegate-run.1",
            "tablegate-round-void.1",
            "tablegate-journal-verify.1",
        ] {
            assert!(pages.contains(name), "{name} of {pages:?}");
        }
        for name in pages {
            let text = std::fs::read_to_string(directory.path().join(&name)).unwrap();
            let stem = name.trim_end_matches(".1");
            assert!(text.contains(&format!(".TH {stem} 1")), "{name}:\n{text}");
            assert!(
                text.contains(".SH NAME\n") && text.contains(".SH SYNOPSIS\n"),
                "{name}:\n{text}"
            );
            assert!(text.contains("Example"), "{name} has no example:\n{text}");
        }
    }

    #[test]
    fn a_command_that_does_not_exist_has_no_page() {
        let asked = |words: &[&str]| Man {
            command: words.iter().map(|word| (*word).to_owned()).collect(),
            directory: None,
        };
        let refused = man(&asked(&["round", "viod"])).unwrap_err();
        assert!(
            refused.text.contains("tablegate round has no command \"viod\"") && refused.text.contains("void"),
            "{refused:?}"
        );
    }
}
