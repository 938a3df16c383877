//! `tablegate floor watch|replay`: the floor's side. Subscribes, decodes, follows the consumer's rule, and asks for what is missing.

mod at;
pub mod follow;
mod replay;
mod verify;
mod watch;

#[cfg(feature = "demo")]
pub(super) use watch::told;

use super::ending::{Failure, Status};
use super::{describe, event_json};
use crate::table::event::Event;
use clap::{Args, Subcommand};
use follow::{Follower, Heard};
use prost::Message;
use std::time::Duration;

/// How long a broker and a gateway may take to answer before a replay gives up.
const ANSWER_WITHIN: Duration = Duration::from_secs(15);

/// The floor's side of a table.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  tablegate floor watch --broker mqtt://127.0.0.1:1883 --site harbour --table TS-07

These commands ask the broker, as the floor does, and no daemon of this PC: they need --broker, and --site with --table or --prefix.")]
pub struct FloorCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Subscribe to a table's events, check numbers and chain, ask for gaps, and print each event.
    #[command(
        after_help = "Example:\n  tablegate floor watch --broker mqtt://127.0.0.1:1883 --site harbour --table TS-07\n\nIt begins after the newest event; --all asks for everything that the journal holds. With --key PUBLIC.pem the signatures of checkpoints are verified as well."
    )]
    Watch(watch::Watch),
    /// Ask a table for events that it has recorded.
    #[command(
        after_help = "Example:\n  tablegate floor replay --broker mqtt://127.0.0.1:1883 --site harbour --table TS-07 --from 4711 --to 4800"
    )]
    Replay(replay::Again),
    /// Ask a table to digest what it runs with a new seed, and compare that with what is expected.
    #[command(
        after_help = "Example:\n  tablegate floor verify --broker mqtt://127.0.0.1:1883 --site harbour --table TS-07 --expect-program /usr/bin/tablegate\n\nIt takes up to a minute, since every device is asked. Exit status 1 when something isn't what was expected."
    )]
    Verify(verify::Verify),
}

/// Runs it.
///
/// # Errors
/// Exit status 2 for an unusable address or file; 1 when the chain doesn't hold, or what was asked for can't be had.
pub fn run(command: &FloorCommand) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match &command.command {
            Command::Watch(watch) => watch::run(watch).await,
            Command::Replay(again) => replay::run(again).await,
            Command::Verify(verify) => verify::run(verify).await,
        }
    })
}

/// The connection tells what is wrong in a gateway's words; here the same things are options of this command.
fn in_own_words(text: &str) -> String {
    [
        (
            "set mqtt.certificate and mqtt.key",
            "give --certificate and --certificate-key",
        ),
        ("mqtt.certificate and mqtt.key", "--certificate and --certificate-key"),
        ("the table's certificate", "the certificate of --certificate"),
        ("a certificate of the table", "a certificate of this reader"),
        ("the address in mqtt.brokers", "the address in --broker"),
        ("the host in mqtt.brokers", "the host in --broker"),
    ]
    .into_iter()
    .fold(text.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours))
}

/// What is not an event goes to standard error, so that standard output holds events alone.
#[expect(clippy::print_stderr, reason = "the command line prints")]
fn note(text: &str) {
    eprintln!("-- {text}");
}

fn in_line(bytes: &[u8], json: bool) -> Result<String, Failure> {
    let unreadable = |error: &dyn std::fmt::Display| Failure::failed(format!("an event can't be read: {error}"));
    if json {
        let json = event_json::event(bytes).map_err(|error| unreadable(&error))?;
        return serde_json::to_string(&json)
            .map(|text| text + "\n")
            .map_err(|error| unreadable(&error));
    }
    let event = Event::decode(bytes).map_err(|error| unreadable(&error))?;
    Ok(format!("{}\n", describe::line(&event)))
}

async fn answer(follower: &mut Follower) -> Result<Heard, Failure> {
    answer_within(follower, ANSWER_WITHIN).await
}

async fn answer_within(follower: &mut Follower, limit: Duration) -> Result<Heard, Failure> {
    tokio::time::timeout(limit, follower.next())
        .await
        .map_err(|_late| no_answer(limit))
}

/// What may be wrong when nobody answers.
fn no_answer(limit: Duration) -> Failure {
    Failure {
        status: Status::Failed,
        text: format!(
            "no answer within {} s: is the table online (`tablegate floor watch` shows its status), and does the broker let this reader have \
             answers (--reader is the name of its certificate)?",
            limit.as_secs()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_fails_is_told_with_the_options_of_this_command() {
        for (theirs, ours) in [
            (
                "the broker asks for a certificate of the table: set mqtt.certificate and mqtt.key",
                "the broker asks for a certificate of this reader: give --certificate and --certificate-key",
            ),
            (
                "the broker's certificate is not for 127.0.0.1, the host in mqtt.brokers, but for floor-a.example",
                "the broker's certificate is not for 127.0.0.1, the host in --broker, but for floor-a.example",
            ),
            ("connection refused", "connection refused"),
        ] {
            assert_eq!(in_own_words(theirs), ours);
        }
    }
}
