//! The demo's floor system: what `tablegate floor watch` does, with a line for each event.

use super::super::describe;
use super::super::ending::Failure;
use super::super::floor::follow::{self, Floor, Heard as Received};
use super::super::floor::told;
use crate::counted::counted;
use crate::floor::{Begin, Consumer, Finding};
use crate::table::event::{Event, Mode};
use prost::Message;
use std::time::Duration;

/// How long the demo's own broker may take to answer.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// No event for so long: the floor has heard of everything that was done.
const QUIET: Duration = Duration::from_millis(60);

/// The table reaches its broker, and the broker the floor, within this time.
const FIRST_EVENT_WITHIN: Duration = Duration::from_secs(3);

/// What the demo shows of what the floor hears.
pub enum Heard {
    /// The next event, and a line for a person.
    Event {
        /// What it says.
        event: Box<Event>,
        /// In words.
        line: String,
    },
    /// Where the table is, in words.
    Phase(String),
    /// What must not be.
    Alarm(String),
}

/// Follows the demo's table.
pub struct Follower {
    follower: follow::Follower,
    journal_id: String,
    received: u64,
}

impl Follower {
    /// Connects, and waits until events can't be missed.
    pub async fn start(port: u16, prefix: &str) -> Result<Follower, Failure> {
        let broker = format!("mqtt://127.0.0.1:{port}")
            .parse()
            .map_err(|error| Failure::failed(format!("{error}")))?;
        let floor = Floor {
            broker,
            prefix: prefix.to_owned(),
            tls: None,
            login: None,
            reader: "floor".to_owned(),
        };
        let mut follower = follow::Follower::start(floor, Some(Consumer::new(Begin::AtFirst)));
        let connected = async { while !matches!(follower.next().await, Received::Connected) {} };
        tokio::time::timeout(CONNECT_WITHIN, connected)
            .await
            .map_err(|_| Failure::failed("the demo's broker doesn't answer"))?;
        Ok(Follower {
            follower,
            journal_id: String::new(),
            received: 0,
        })
    }

    /// What comes next; never `None` while the demo runs.
    pub async fn next(&mut self) -> Option<Heard> {
        loop {
            match self.follower.next().await {
                Received::Found(Finding::Store(stores)) => {
                    let Ok(event) = Event::decode(stores.bytes.as_slice()) else {
                        return Some(Heard::Alarm(format!("event {} can't be read", stores.seqno)));
                    };
                    self.received += 1;
                    self.journal_id = stores.journal_id;
                    let line = line(&event);
                    return Some(Heard::Event {
                        event: Box::new(event),
                        line,
                    });
                }
                Received::Found(finding) => {
                    if let Some(text) = told(&finding) {
                        return Some(Heard::Alarm(text));
                    }
                }
                Received::State(state) => {
                    let round = if state.round_id == 0 {
                        String::new()
                    } else {
                        format!("round {}: ", state.round_id)
                    };
                    let phase = if state.phase.is_empty() {
                        mode(state.mode())
                    } else {
                        &state.phase
                    };
                    return Some(Heard::Phase(format!("{round}{phase}")));
                }
                Received::Status { .. }
                | Received::Connected
                | Received::Nothing
                | Received::Lost(_)
                | Received::Answered(_) => {}
            }
        }
    }

    /// What an act has brought, so that it is told before the next act is: everything until a moment of quiet, at most `within`;
    /// while nothing has come at all, the first event is waited for.
    pub async fn what_came(&mut self, within: Duration) -> Vec<Heard> {
        let first = self.received == 0;
        let until = tokio::time::Instant::now() + if first { FIRST_EVENT_WITHIN } else { within };
        let mut came = Vec::new();
        loop {
            let quiet = if self.received == 0 { FIRST_EVENT_WITHIN } else { QUIET };
            let patience = quiet.min(until.saturating_duration_since(tokio::time::Instant::now()));
            match tokio::time::timeout(patience, self.next()).await {
                Ok(Some(heard)) => came.push(heard),
                Ok(None) | Err(_) => return came,
            }
        }
    }

    /// What still comes before everything up to `head` is stored; `None` then, or after `within`.
    pub async fn next_until(&mut self, head: u64, within: Duration) -> Option<Heard> {
        if self.is_whole(head) {
            return None;
        }
        tokio::time::timeout(within, self.next()).await.ok().flatten()
    }

    /// Everything up to `head` is stored.
    pub fn is_whole(&self, head: u64) -> bool {
        let mut journals = self.follower.consumer().known();
        journals.any(|known| known.journal_id == self.journal_id && known.seqno == head)
    }

    /// How many events came, each once.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// The copy in a few words.
    pub fn in_words(&self) -> String {
        format!("floor     {}", counted(self.received, "event"))
    }
}

/// Number, round and what happened; the time is now.
fn line(event: &Event) -> String {
    let round = if event.round_id == 0 {
        String::new()
    } else {
        format!("round {}: ", event.round_id)
    };
    format!("#{:<4} {round}{}", event.seqno, describe::describe(event))
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Unspecified => "",
        Mode::SelfTest => "self-test",
        Mode::Closed => "closed",
        Mode::Opening => "opening",
        Mode::Open => "open",
        Mode::Test => "test",
        Mode::JournalFailed => "journal failed",
    }
}
