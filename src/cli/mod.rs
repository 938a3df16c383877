//! The command line: one file per command. May import anything; the only room that prints.

pub mod approve;
pub mod bundle;
pub mod capture;
pub mod config;
pub mod daemon;
#[cfg(feature = "demo")]
pub mod demo;
pub mod describe;
pub mod devices;
pub mod ending;
pub(crate) mod event_json;
pub mod events;
pub mod floor;
pub mod journal;
pub(crate) mod line_advice;
pub mod live;
mod lock;
pub mod log;
pub mod new_file;
pub mod open;
pub mod pages;
pub mod picture;
pub mod ports;
pub mod progress;
pub mod reading;
pub mod recall;
pub mod replay;
pub mod report;
pub mod round;
pub mod rules;
pub mod run;
pub mod signatures;
#[cfg(feature = "sim")]
pub mod sim;
pub mod status;
pub mod test;
pub mod verify;

use clap::{Parser, Subcommand};

/// Gateway daemon and tools of a casino table.
#[derive(Parser, Debug)]
#[command(name = "tablegate", version, about)]
#[command(after_help = daemon::finds_its_daemon!(
    "Examples:\n",
    "  tablegate demo                                     a whole table on this PC\n",
    "  tablegate run --config /etc/tablegate/TS-07.toml   the daemon of a table\n",
    "  tablegate status --instance TS-07                  what that table does now\n\n",
    "Exit status: 0 done, 1 failed, 2 wrong usage, 3 configuration refused, 4 journal of a newer version. Output is coloured on a terminal \
     only, and never with NO_COLOR in the environment.",
))]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// One variant per command; each command's arguments and code live in its own file.
#[derive(Subcommand, Debug)]
enum Command {
    /// The daemon of one table.
    #[command(after_help = "Example:\n  tablegate run --config /etc/tablegate/TS-07.toml")]
    Run(run::RunArgs),
    /// Table, round, devices, link quality, backlog, alerts and locks.
    #[command(
        after_help = "Examples:\n  tablegate status --instance TS-07\n  tablegate status --watch\n  tablegate status --watch --by ana    root acknowledges alerts in ana's name\n\n\
        --watch fills the terminal (80x24 or more) until q, Esc or Ctrl-C. Keys: a acknowledges the chosen alert, which a supervisor may; up and down choose; e shows the latest events."
    )]
    Status(status::StatusArgs),
    Supervise(live::supervise::Supervise),
    /// How well each device's line works: identity, link, frames, errors, repeats, round-trip times.
    #[command(
        after_help = "Examples:\n  tablegate devices --instance TS-07\n  tablegate devices --watch    move the cable: what is added while you look has a ! before it and (+) behind it\n\n\
        Counters run since the daemon's start, round trips over the last two minutes and over all, a clock's drift over the session."
    )]
    Devices(devices::Devices),
    Ports(ports::Ports),
    Capture(capture::Capture),
    Replay(replay::Replay),
    /// Try a device in test mode, guided: every lamp, every key, a spin. What was found is recorded and never becomes a result; lamps,
    /// readout and table are afterwards as before.
    #[command(
        after_help = "Examples:\n  tablegate test lamps\n  tablegate test terminal --by ana\n  tablegate test all --yes\n\nIt needs the socket for looking and testing, and a table that is closed or between rounds. Exit status 0 when everything was tried and nothing was found, 1 otherwise."
    )]
    Test(test::Test),
    SupportBundle(bundle::SupportBundle),
    /// The opening checks of the game's rules, one after another, each recorded; then the table opens.
    #[command(
        after_help = "Examples:\n  tablegate open\n  tablegate open --commissioning\n  tablegate open --yes --by ana"
    )]
    Open(open::Open),
    /// Close the table: between rounds, or before "no more bets" (the round is abandoned, bets go back). In two-up: between games, or
    /// before the game's first "no more bets"; later the spinner's wager has to be decided first.
    #[command(after_help = "Example:\n  tablegate close")]
    Close(daemon::Acting),
    Round(round::Round),
    /// Hold the next round until a supervisor ends it.
    #[command(after_help = "Example:\n  tablegate lock --reason \"layout torn\"")]
    Lock(lock::Lock),
    /// End the locks that a supervisor may end.
    #[command(after_help = "Example:\n  tablegate unlock --procedure \"lamp replaced, checked\"")]
    Unlock(lock::Unlock),
    /// Accept a device whose serial number is not approved.
    #[command(after_help = "Example:\n  tablegate accept-device DT3-0042")]
    AcceptDevice(lock::AcceptDevice),
    /// Say that an alert was seen. One that tells of what is over already ends by that; the others stand until their cause is gone.
    #[command(after_help = "Example:\n  tablegate acknowledge event_set_aside")]
    Acknowledge(lock::Acknowledge),
    Journal(journal::JournalCommand),
    Events(events::EventsCommand),
    /// The last rounds: presses, result, call, amendments, void reason, lamps, times.
    #[command(after_help = "Example:\n  tablegate recall 5")]
    Recall(recall::Recall),
    /// Rounds in an hour, times of the phases, refused entries, voids and amendments in a hundred rounds: by shift and by device.
    #[command(
        after_help = "Examples:\n  tablegate report --instance TS-07\n  tablegate report --from 2026-02-14 --to 2026-02-21 --by-shift\n  tablegate report --shifts 07:00,19:00 --zone Pacific/Auckland --format csv --journal TS-07.sqlite3\n\nWith --journal PATH (a file, its directory, or a copy) no daemon is asked. A round counts, with all that belongs to it, in the shift in which it began. Hours are those in which the table was open. Exit status 1 when an event can't be read: the figures are those of the others."
    )]
    Report(report::Report),
    /// A whole table on this PC: simulated devices, the real gateway and journal, a broker, and the floor following along.
    #[cfg(feature = "demo")]
    #[command(after_help = "Example:\n  tablegate demo --rounds 6 --speed 2")]
    Demo(demo::Demo),
    Floor(floor::FloorCommand),
    Rules(rules::Rules),
    Config(config::Config),
    /// Approve what a table runs now: program, configuration, rules and devices; or check that it is what was approved.
    #[command(
        after_help = "Examples:\n  tablegate approve --config /etc/tablegate/TS-07.toml\n  tablegate approve --config /etc/tablegate/TS-07.toml --check\n\nIt asks the daemon that runs with this configuration, and writes TS-07.approved beside the file. The daemon reads that at its next start."
    )]
    Approve(approve::Approve),
    /// Have everything that a table runs digested with a seed, devices included, and compare it with what you have. It is recorded.
    #[command(
        after_help = "Examples:\n  tablegate verify-software --instance TS-07\n  tablegate verify-software --expect-program /usr/bin/tablegate --expect-config /etc/tablegate/TS-07.toml\n\nIt takes up to a minute, and is done once a minute at most. Exit status 1 when something isn't what was expected."
    )]
    VerifySoftware(verify::VerifySoftware),
    #[cfg(feature = "sim")]
    Sim(sim::Sim),
    /// What a shell needs to complete commands and options.
    #[command(after_help = "Example:\n  tablegate completions bash > /etc/bash_completion.d/tablegate")]
    Completions(pages::Completions),
    /// The manual page of a command, or all of them as files.
    #[command(
        after_help = "Examples:\n  tablegate man round void | man -l -\n  tablegate man --directory /usr/local/share/man/man1"
    )]
    Man(pages::Man),
}

/// Runs the command line; the exit status is 0 done, 1 failed, 2 wrong usage, 3 configuration refused, 4 journal of a newer version.
#[must_use]
pub fn main() -> std::process::ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(said) => return ending::end_at_once(&said),
    };
    ending::end(match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Supervise(args) => live::supervise::run(&args),
        Command::Devices(args) => devices::run(&args),
        Command::Ports(args) => ports::run(&args),
        Command::Capture(args) => capture::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Test(args) => test::run(&args),
        Command::SupportBundle(args) => bundle::run(&args),
        Command::Open(args) => open::run(&args),
        Command::Close(acting) => lock::close(&acting),
        Command::Round(round) => round::run(round),
        Command::Lock(args) => lock::lock(args),
        Command::Unlock(args) => lock::unlock(args),
        Command::AcceptDevice(args) => lock::accept_device(args),
        Command::Acknowledge(args) => lock::acknowledge(args),
        Command::Journal(command) => journal::run(&command),
        Command::Events(command) => events::run(&command),
        Command::Recall(args) => recall::run(&args),
        Command::Report(args) => report::run(&args),
        #[cfg(feature = "demo")]
        Command::Demo(demo) => demo::run(&demo),
        Command::Floor(command) => floor::run(&command),
        Command::Rules(rules) => rules::run(rules),
        Command::Config(config) => config::run(&config),
        Command::Approve(approve) => approve::run(&approve),
        Command::VerifySoftware(verify) => verify::run(&verify),
        #[cfg(feature = "sim")]
        Command::Sim(sim) => sim::run(sim),
        Command::Completions(args) => pages::completions(&args),
        Command::Man(args) => pages::man(&args),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// Every command, with those that lead to it.
    fn everything(command: &clap::Command, path: &str, seen: &mut Vec<(String, clap::Command)>) {
        seen.push((path.to_owned(), command.clone()));
        for inner in command.get_subcommands() {
            everything(inner, &format!("{path} {}", inner.get_name()), seen);
        }
    }

    #[test]
    fn every_help_has_an_example_and_says_how_the_daemon_is_found() {
        let mut all = Vec::new();
        everything(&Cli::command(), "tablegate", &mut all);
        assert!(all.len() > 20, "{}", all.len());
        for (path, mut command) in all {
            let help = command.render_long_help().to_string();
            let example = help.split("Example").nth(1).unwrap_or_default();
            assert!(
                example
                    .lines()
                    .any(|line| line.contains(&format!("{path} ")) || line.ends_with(&path)),
                "{path} --help has no example of it:\n{help}"
            );
            let asks_a_daemon = command.get_arguments().any(|argument| argument.get_id() == "instance");
            assert_eq!(asks_a_daemon, help.contains(daemon::WHICH_DAEMON), "{path}:\n{help}");
            for argument in command.get_arguments() {
                let says_which = ["config", "socket", "instance"].contains(&argument.get_id().as_str());
                let heading = argument.get_help_heading() == Some(daemon::WHICH_DAEMON);
                assert_eq!(heading, asks_a_daemon && says_which, "{path}: --{}", argument.get_id());
            }
            if command.has_subcommands() {
                assert!(
                    help.contains("daemon"),
                    "{path} --help says nothing of the daemon:\n{help}"
                );
            }
        }
    }
}
