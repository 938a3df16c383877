//! `tablegate floor watch`: prints each event of a table, and tells what a person should know of its numbers, chain and signatures.

use super::at::Where;
use super::follow::{self, Follower, Heard};
use super::{ANSWER_WITHIN, in_line, in_own_words, no_answer, note};
use crate::cli::ending::{Failure, print};
use crate::cli::signatures::keys_in;
use crate::counted::counted;
use crate::floor::{Begin, Consumer, Finding, Seqno, Stores, Succession};
use clap::Args;
use std::path::PathBuf;
use tokio::signal::unix::{SignalKind, signal};

#[derive(Args, Debug)]
pub(super) struct Watch {
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

pub(super) async fn run(watch: &Watch) -> Result<(), Failure> {
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
        _ => Err(Failure::failed(format!(
            "{}: what came is not whole",
            counted(alarms, "alarm")
        ))),
    }
}

fn presence(online: bool, fault: &str) -> String {
    match (online, fault) {
        (false, _) => "the table is offline".to_owned(),
        (true, "") => "the table is online".to_owned(),
        (true, fault) => format!("the table is online and can't play: {fault}"),
    }
}

/// What a person should know of a finding beside the event itself.
pub(in crate::cli) fn told(finding: &Finding) -> Option<String> {
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
