//! The command line: one file per command. May import anything; the only room that prints.

pub mod devices;
pub mod ending;
pub mod picture;
pub mod rules;

use clap::{Parser, Subcommand};

/// Gateway daemon and tools of a casino table.
#[derive(Parser, Debug)]
#[command(name = "tablegate", version, about)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// One variant per command; each command's arguments and code live in its own file.
#[derive(Subcommand, Debug)]
enum Command {
    Rules(rules::Rules),
}

/// Runs the command line; the exit status is 0 done, 1 failed, 2 wrong usage, 3 configuration refused, 4 journal of a newer version.
#[must_use]
pub fn main() -> std::process::ExitCode {
    let cli = Cli::parse();
    ending::end(match cli.command {
        Command::Rules(rules) => rules::run(rules),
    })
}
