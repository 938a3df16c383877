//! `tablegate floor watch|replay`: the floor's side. Subscribes, decodes, follows the consumer's rule, and asks for what is missing.

pub mod follow;
mod verify;

use super::ending::{Failure, Status, print};
use super::signatures::keys_in;
use super::{describe, event_json};
use crate::floor::{Begin, Consumer, Finding, Seqno, Stores, Succession};
use crate::table::event::{Event, Replay, request, response};
use crate::uplink::exchange::{PemFile, TlsTexts};
use crate::uplink::{BrokerAddress, Transport};
use clap::{Args, Subcommand};
use follow::{Floor, Follower, Heard};
use prost::Message;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

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
    Watch(Watch),
    /// Ask a table for events that it has recorded.
    #[command(
        after_help = "Example:\n  tablegate floor replay --broker mqtt://127.0.0.1:1883 --site harbour --table TS-07 --from 4711 --to 4800"
    )]
    Replay(Again),
    /// Ask a table to digest what it runs with a new seed, and compare that with what is expected.
    #[command(
        after_help = "Example:\n  tablegate floor verify --broker mqtt://127.0.0.1:1883 --site harbour --table TS-07 --expect-program /usr/bin/tablegate\n\nIt takes up to a minute, since every device is asked. Exit status 1 when something isn't what was expected."
    )]
    Verify(verify::Verify),
}

/// Which table, through which broker.
#[derive(Args, Debug)]
struct Where {
    /// The broker: mqtt://host:port, or mqtts://host:port with --ca.
    #[arg(long, value_name = "ADDRESS")]
    broker: BrokerAddress,
    /// The table's site.
    #[arg(long, value_name = "SITE", required_unless_present = "prefix")]
    site: Option<String>,
    /// The table's id.
    #[arg(long, value_name = "TABLE", required_unless_present = "prefix")]
    table: Option<String>,
    /// What its topics begin with, when that isn't tablegate/v1/SITE/TABLE.
    #[arg(long, value_name = "PREFIX", conflicts_with_all = ["site", "table"])]
    prefix: Option<String>,
    /// Certificates that may have signed the broker's (PEM).
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Own certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "certificate_key")]
    certificate: Option<PathBuf>,
    /// Key of the certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "certificate")]
    certificate_key: Option<PathBuf>,
    /// Name to log in with.
    #[arg(long, value_name = "NAME")]
    username: Option<String>,
    /// File with its password.
    #[arg(long, value_name = "FILE", requires = "username")]
    password_file: Option<PathBuf>,
    /// The name that the broker's access list has for this reader: the table answers under PREFIX/responses/NAME/.
    #[arg(long, value_name = "NAME", default_value = "floor")]
    reader: String,
}

#[derive(Args, Debug)]
struct Watch {
    #[command(flatten)]
    at: Where,
    /// Ask for every event that the journal still holds first.
    #[arg(long)]
    all: bool,
    /// A public key (PEM) that signs the table's checkpoints; several after a change of keys. A checkpoint that none of them has
    /// signed is an alarm.
    #[arg(long = "key", value_name = "PUBLIC.pem")]
    keys: Vec<PathBuf>,
    /// End after this many events.
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// Print each event as a line of JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct Again {
    #[command(flatten)]
    at: Where,
    /// The journal's id; without it, the one that the table writes now.
    #[arg(long, value_name = "ID")]
    journal: Option<String>,
    /// The first event wanted.
    #[arg(long, value_name = "SEQNO", value_parser = clap::value_parser!(u64).range(1..))]
    from: u64,
    /// The last event wanted; without it, the newest.
    #[arg(long, value_name = "SEQNO", value_parser = clap::value_parser!(u64).range(1..))]
    to: Option<u64>,
    /// Print each event as a line of JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
///
/// # Errors
/// Exit status 2 for an unusable address or file; 1 when the chain doesn't hold, or what was asked for can't be had.
pub fn run(command: &FloorCommand) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match &command.command {
            Command::Watch(watch) => watch_table(watch).await,
            Command::Replay(again) => replay(again).await,
            Command::Verify(verify) => verify::run(verify).await,
        }
    })
}

/// What leads to one table: a pattern of MQTT would follow several, whose numbers and chains have nothing to do with each other.
fn one_table<'a>(option: &str, written: &'a str) -> Result<&'a str, Failure> {
    if written.is_empty() {
        Err(Failure::usage(format!("{option} is empty")))
    } else if written.contains(|character: char| matches!(character, '#' | '+') || character.is_control()) {
        Err(Failure::usage(format!(
            "{option} names one table: \"#\", \"+\" and control characters can't be in it"
        )))
    } else {
        Ok(written)
    }
}

/// Certificate and key, PEM.
type Identity = (PemFile, PemFile);

impl Where {
    fn floor(&self) -> Result<Floor, Failure> {
        let prefix = match (&self.prefix, &self.site, &self.table) {
            (Some(prefix), ..) => one_table("--prefix", prefix.trim_end_matches('/'))?.to_owned(),
            (None, Some(site), Some(table)) => {
                for (option, name) in [("--site", site), ("--table", table)] {
                    if one_table(option, name)?.contains('/') {
                        return Err(Failure::usage(format!("{option} is a name, without \"/\"")));
                    }
                }
                format!("tablegate/v1/{site}/{table}")
            }
            (None, ..) => return Err(Failure::usage("--site and --table, or --prefix, say which table")),
        };
        let tls = match (self.broker.transport, &self.ca) {
            (Transport::Plain, _) => None,
            (Transport::Tls, Some(ca)) => Some(TlsTexts {
                ca: pem(ca)?,
                identity: self.identity()?,
            }),
            (Transport::Tls, None) => {
                return Err(Failure::usage(
                    "an mqtts:// broker needs --ca: the certificates that may have signed the broker's",
                ));
            }
        };
        let password = match &self.password_file {
            Some(file) => String::from_utf8_lossy(&read(file)?)
                .trim_end_matches(['\r', '\n'])
                .to_owned(),
            None => String::new(),
        };
        if one_table("--reader", &self.reader)?.contains('/') {
            return Err(Failure::usage("--reader is a name, without \"/\""));
        }
        let login = self.username.clone().map(|name| (name, password));
        Ok(Floor {
            broker: self.broker.clone(),
            prefix,
            tls,
            login,
            reader: self.reader.clone(),
        })
    }

    fn identity(&self) -> Result<Option<Identity>, Failure> {
        match (&self.certificate, &self.certificate_key) {
            (Some(certificate), Some(key)) => Ok(Some((pem(certificate)?, pem(key)?))),
            (None, _) | (_, None) => Ok(None),
        }
    }
}

fn pem(path: &Path) -> Result<PemFile, Failure> {
    Ok(PemFile {
        path: path.to_owned(),
        text: read(path)?,
    })
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

async fn watch_table(watch: &Watch) -> Result<(), Failure> {
    let floor = watch.at.floor()?;
    let begin = if watch.all { Begin::AtFirst } else { Begin::AtNext };
    let (keys, _) = keys_in(&watch.keys)?;
    let nothing = format!(
        "nothing is retained under {}: a table of this name has never connected to this broker (another site, table or prefix?); waiting",
        floor.prefix
    );
    let mut follower = Follower::start(floor, Some(Consumer::new(begin).with_keys(keys)));
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut printed = 0;
    let mut alarms = 0u32;
    // With --all the table is asked for everything at once: when nothing comes, somebody should say why.
    let mut unanswered_at = None;
    while watch.count.is_none_or(|count| printed < count) || follower.tells_more() {
        let heard = tokio::select! {
            heard = follower.next() => heard,
            _ = interrupt.recv() => break,
            () = follow::sleep_until(unanswered_at) => {
                unanswered_at = None;
                note(&no_answer(ANSWER_WITHIN).text);
                continue;
            }
        };
        match heard {
            Heard::Found(finding) => {
                unanswered_at = None;
                if finding.is_alarm() {
                    alarms += 1;
                }
                if let Finding::Store(stores) | Finding::ChainBroken(stores) = &finding {
                    printed += 1;
                    print(&in_line(&stores.bytes, watch.json)?)?;
                }
                if let Some(text) = told(&finding) {
                    note(&text);
                }
            }
            Heard::Status { online, fault, .. } => {
                if watch.all && online && printed == 0 {
                    unanswered_at = Some(tokio::time::Instant::now() + ANSWER_WITHIN);
                }
                note(&presence(online, &fault));
            }
            Heard::State(_) => {}
            Heard::Connected => note("connected"),
            Heard::Nothing => note(&nothing),
            Heard::Lost(text) => note(&format!("no connection: {}; trying again", in_own_words(&text))),
            Heard::Answered(_) => {}
        }
    }
    match alarms {
        0 => Ok(()),
        _ => Err(Failure::failed(format!("{alarms} alarms: what came is not whole"))),
    }
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

fn presence(online: bool, fault: &str) -> String {
    match (online, fault) {
        (false, _) => "the table is offline".to_owned(),
        (true, "") => "the table is online".to_owned(),
        (true, fault) => format!("the table is online and can't play: {fault}"),
    }
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

/// What a person should know of a finding beside the event itself.
pub(super) fn told(finding: &Finding) -> Option<String> {
    Some(match finding {
        Finding::Store(_) | Finding::Repeat | Finding::Held { .. } | Finding::Dropped { .. } => return None,
        Finding::Unverifiable(Stores { journal_id, seqno, .. }) => {
            format!("event {seqno} of journal {journal_id} came again; it is too old to tell a repeat from a fork")
        }
        Finding::Fork(Stores { journal_id, seqno, .. }) => {
            format!("ALARM: event {seqno} of journal {journal_id} came with other bytes than before: keep both")
        }
        Finding::Beyond(Stores { journal_id, seqno, .. }) => format!(
            "ALARM: event {seqno} of journal {journal_id} came, and the table says that its journal doesn't reach that far"
        ),
        Finding::NotThere { journal_id, from, to } => format!(
            "ALARM: the table promised events {from} to {to} of journal {journal_id}, and its journal doesn't have them"
        ),
        Finding::TooManyJournals { journal_id } => {
            format!("ALARM: journal {journal_id} is one too many to be followed: nothing of it is looked at")
        }
        Finding::Succeeded {
            journal_id,
            predecessor,
            succession,
            last_seqno,
            stored_through,
        } => succeeded((journal_id, predecessor), *succession, *last_seqno, *stored_through),
        Finding::WrongSignature { journal_id, seqno } => {
            format!("ALARM: the signature of the checkpoint at event {seqno} of journal {journal_id} is wrong")
        }
        Finding::Unsigned {
            journal_id,
            seqno,
            key_id: None,
        } => format!("ALARM: the checkpoint at event {seqno} of journal {journal_id} isn't signed"),
        Finding::Unsigned {
            journal_id,
            seqno,
            key_id: Some(key_id),
        } => format!(
            "ALARM: the checkpoint at event {seqno} of journal {journal_id} is signed by key {key_id}, which was not given"
        ),
        Finding::NoCheckpoint {
            journal_id,
            seqno,
            proven_through,
        } => format!(
            "ALARM: journal {journal_id} has come to event {seqno}, and no signed checkpoint came after event {proven_through}"
        ),
        Finding::HeadDiffers { journal_id, seqno } => {
            format!(
                "ALARM: the table says that event {seqno} of journal {journal_id} is another than the one that came"
            )
        }
        Finding::ChainBroken(stores) => format!(
            "ALARM: event {} of journal {} doesn't follow the event before it: the chain is broken",
            stores.seqno, stores.journal_id
        ),
        Finding::Unannounced { journal_id } => {
            format!("ALARM: journal {journal_id} began, and it belongs to no journal that is known here")
        }
        Finding::Gap { journal_id, from, to } => {
            format!("ALARM: events {from} to {to} of journal {journal_id} are gone: the table no longer has them")
        }
        Finding::Malformed => "a message on the events topic is no event".to_owned(),
    })
}

fn succeeded(
    (journal_id, predecessor): (&str, &str),
    succession: Succession,
    last_seqno: Seqno,
    stored_through: Option<Seqno>,
) -> String {
    match (succession, stored_through) {
        (Succession::MovedAside, _) => format!(
            "journal {journal_id} began: journal {predecessor} was damaged and moved aside; its last event is {last_seqno}"
        ),
        (Succession::RolledBack, Some(stored)) if stored > last_seqno => format!(
            "ALARM: journal {journal_id} began: the table's disk went back in time. Of journal {predecessor} it has events to \
             {last_seqno}; those up to {stored} are here alone: keep them"
        ),
        (Succession::RolledBack, _) => format!(
            "ALARM: journal {journal_id} began: the table's disk went back in time. Of journal {predecessor} it has events to \
             {last_seqno}"
        ),
    }
}

async fn replay(again: &Again) -> Result<(), Failure> {
    if again.to.is_some_and(|to| to < again.from) {
        return Err(Failure::usage("--to comes before --from"));
    }
    let mut follower = Follower::start(again.at.floor()?, None);
    let journal_id = match &again.journal {
        Some(id) => id.clone(),
        None => journal_now(&mut follower).await?,
    };
    let mut next = again.from;
    loop {
        let to_seqno = again.to.unwrap_or(0);
        follower.ask(request::Request::Replay(Replay {
            journal_id: journal_id.clone(),
            from_seqno: next,
            to_seqno,
        }));
        let done = loop {
            match part(&mut follower).await? {
                response::Response::Event(bytes) => {
                    let seqno = Event::decode(bytes.as_slice()).map_or(next, |event| event.seqno);
                    if seqno > next {
                        note(&format!(
                            "events {next} to {} are gone: the table has deleted them",
                            seqno - 1
                        ));
                    }
                    next = seqno + 1;
                    print(&in_line(&bytes, again.json)?)?;
                }
                response::Response::ReplayDone(done) => break done,
                response::Response::Error(error) => {
                    return Err(Failure::failed(format!("the table refused the replay: {}", error.text)));
                }
                response::Response::Snapshot(_) | response::Response::SoftwareVerified(_) => {}
            }
        };
        if done.newest < again.from {
            return Err(Failure::failed(format!(
                "event {} isn't recorded yet: the newest is {}",
                again.from, done.newest
            )));
        }
        let last = again.to.map_or(done.newest, |to| to.min(done.newest));
        if last < done.oldest {
            return Err(Failure::failed(format!(
                "events {} to {last} are gone: the oldest that the table has is {}",
                again.from, done.oldest
            )));
        }
        if next > last {
            return match again.to {
                Some(to) if to > done.newest => Err(Failure::failed(format!(
                    "events {} to {to} aren't recorded yet: the newest is {}",
                    done.newest + 1,
                    done.newest
                ))),
                Some(_) | None => Ok(()),
            };
        }
        next = next.max(done.oldest);
    }
}

/// The next part of the answer.
async fn part(follower: &mut Follower) -> Result<response::Response, Failure> {
    loop {
        match answer(follower).await? {
            Heard::Answered(answer) => {
                if let Some(part) = answer.response {
                    return Ok(part);
                }
            }
            Heard::Lost(text) => {
                let text = in_own_words(&text);
                return Err(Failure::failed(format!("the connection was lost: {text}")));
            }
            Heard::Found(_) | Heard::State(_) | Heard::Status { .. } | Heard::Connected | Heard::Nothing => {}
        }
    }
}

/// The journal that the table writes now, from its retained status.
async fn journal_now(follower: &mut Follower) -> Result<String, Failure> {
    loop {
        match answer(follower).await? {
            Heard::Status { head: Some(head), .. } if !head.journal_id.is_empty() => return Ok(head.journal_id),
            Heard::Lost(text) => return Err(Failure::failed(format!("no connection: {}", in_own_words(&text)))),
            Heard::Status { .. }
            | Heard::State(_)
            | Heard::Connected
            | Heard::Nothing
            | Heard::Found(_)
            | Heard::Answered(_) => {}
        }
    }
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
