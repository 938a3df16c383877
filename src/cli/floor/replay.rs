//! `tablegate floor replay`: asks a table for events that it has recorded, and prints them.

use super::at::Where;
use super::follow::{Follower, Heard};
use super::{answer, in_line, in_own_words, note};
use crate::cli::ending::{Failure, print};
use crate::table::event::{Event, Replay, request, response};
use clap::Args;
use prost::Message;

#[derive(Args, Debug)]
pub(super) struct Again {
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

pub(super) async fn run(again: &Again) -> Result<(), Failure> {
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
                            "events {next} to {} are gone: the table does not have them",
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
