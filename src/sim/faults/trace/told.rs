//! How a sight is told: one readable line each, and into the hash that stands for the whole.

use std::fmt;
use std::hash::{DefaultHasher, Hash};
use std::time::Duration;

use prost::Message;

use super::seen::{Picture, Seen, bits};
use crate::table::event::{Event, Request};

/// Folds this into the hash. The state is a message and has no hash of its own: its bytes stand for it.
pub(super) fn hash_of(seen: &Seen<'_>, hasher: &mut DefaultHasher) {
    std::mem::discriminant(seen).hash(hasher);
    match seen {
        Seen::Began { game, style, layout } => (game, style, layout).hash(hasher),
        Seen::GatewayStarted { run } => run.hash(hasher),
        Seen::GatewayEnded { how } => how.hash(hasher),
        Seen::Stated { state } => state.encode_to_vec().hash(hasher),
        Seen::Appended { journal, records } => (journal, records).hash(hasher),
        Seen::AppendFailed { journal, first, count } | Seen::AppendGivenUp { journal, first, count } => {
            (journal, first, count).hash(hasher);
        }
        Seen::Expired { journal, through } => (journal, through).hash(hasher),
        Seen::CursorWritten { journal, cursor } => (journal, cursor).hash(hasher),
        Seen::CountLost { number } => number.hash(hasher),
        Seen::WentBack { journal, to } => (journal, to).hash(hasher),
        Seen::Intruded { topic, payload } => (topic, payload).hash(hasher),
        Seen::FloorAsked {
            connection,
            payload,
            wants,
        } => (connection, payload, wants).hash(hasher),
        Seen::Shows { device, picture } => (device, picture).hash(hasher),
        Seen::Happened { device, what } => (device, what).hash(hasher),
        Seen::LinkBroken { device } | Seen::LinkMended { device } => device.hash(hasher),
        Seen::Connected { connection } | Seen::Disconnected { connection } => connection.hash(hasher),
        Seen::Published {
            connection,
            publish,
            topic,
            payload,
            retained,
        } => (connection, publish, topic, payload, retained).hash(hasher),
        Seen::ThrownAway {
            connection,
            publish,
            topic,
            payload,
        } => (connection, publish, topic, payload).hash(hasher),
        Seen::Acknowledged {
            connection,
            publish,
            answer,
        } => (connection, publish, answer).hash(hasher),
        Seen::Asked { who, act } => (who, act).hash(hasher),
        Seen::Told { who, done, text } => (who, done, text).hash(hasher),
        Seen::FaultBegan { fault, text } => (fault, text).hash(hasher),
        Seen::FaultOver { fault } => fault.hash(hasher),
        Seen::BrokerForgot | Seen::OpenedUnread | Seen::Quiet | Seen::LastRound | Seen::End => {}
    }
}

/// Virtual time in seconds, to the microsecond.
pub(super) struct Clock(pub(super) Duration);

impl fmt::Display for Clock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:>5}.{:06}", self.0.as_secs(), self.0.subsec_micros())
    }
}

/// One readable line.
pub(super) struct Line<'a> {
    pub(super) seen: &'a Seen<'a>,
    /// The events that it carries.
    pub(super) events: &'a [Event],
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seen {
            Seen::Appended { journal, records } => {
                write!(out, "journal  {} append of {}:", short(journal), records.len())?;
                for event in self.events {
                    write!(out, " {}={}", event.seqno, name_of(event))?;
                    if event.round_id != 0 {
                        write!(out, "(round {})", event.round_id)?;
                    }
                }
                Ok(())
            }
            Seen::AppendFailed { journal, first, count } => {
                write!(out, "journal  {} append of {count} from {first} failed", short(journal))
            }
            Seen::AppendGivenUp { journal, first, count } => {
                write!(
                    out,
                    "journal  {} append of {count} from {first} given up",
                    short(journal)
                )
            }
            Seen::Expired { journal, through } => write!(out, "journal  {} expired through {through}", short(journal)),
            Seen::CursorWritten { journal, cursor } => write!(out, "journal  {} cursor {cursor}", short(journal)),
            Seen::CountLost { number } => write!(out, "journal  connection number {number} not kept"),
            Seen::WentBack { journal, to } => write!(out, "journal  {} went back to {to}", short(journal)),
            Seen::Intruded { topic, payload } => write!(
                out,
                "broker   a second gateway publishes {} ({} bytes)",
                topic.rsplit('/').next().unwrap_or(topic),
                payload.len()
            ),
            Seen::FloorAsked {
                connection,
                payload,
                wants,
            } => match Request::decode(*payload) {
                Ok(request) => write!(
                    out,
                    "floor    #{connection} asks {:?} {:?}, wants {wants:?}",
                    request.request_id, request.request
                ),
                Err(_) => write!(out, "floor    #{connection} asks what can't be read, wants {wants:?}"),
            },
            Seen::Shows { device, picture } => write!(out, "shows    {device:?} {}", Shown(picture)),
            Seen::Happened { device, what } => write!(out, "happens  {device:?} {what:?}"),
            Seen::LinkBroken { device } => write!(out, "link     {device:?} broken"),
            Seen::LinkMended { device } => write!(out, "link     {device:?} mended"),
            Seen::Published {
                connection,
                publish,
                topic,
                payload,
                retained,
            } => {
                write!(out, "broker   #{connection} publish {publish} ")?;
                match self.events.first() {
                    Some(event) => write!(out, "{} {}={}", short(&event.journal_id), event.seqno, name_of(event)),
                    None => write!(
                        out,
                        "{} ({} bytes{})",
                        topic.rsplit('/').next().unwrap_or(topic),
                        payload.len(),
                        if *retained { ", retained" } else { "" }
                    ),
                }
            }
            Seen::ThrownAway {
                connection,
                publish,
                topic,
                ..
            } => write!(out, "broker   #{connection} publish {publish} on {topic} thrown away"),
            Seen::Acknowledged {
                connection,
                publish,
                answer,
            } => write!(out, "broker   #{connection} acknowledges {publish} {answer:?}"),
            Seen::Connected { connection } => write!(out, "broker   #{connection} connected"),
            Seen::Disconnected { connection } => write!(out, "broker   #{connection} disconnected"),
            Seen::OpenedUnread => write!(out, "journal  could not be opened"),
            Seen::BrokerForgot => write!(out, "broker   forgot everything"),
            Seen::Began { game, style, layout } => write!(out, "begins   {game} {style} {layout}"),
            Seen::GatewayStarted { run } => write!(out, "gateway  run {run} starts"),
            Seen::GatewayEnded { how } => write!(out, "gateway  {how:?}"),
            Seen::Stated { state } => write!(
                out,
                "state    {} mode {:?} phase {:?} round {} held {:?} locks {}",
                state.head.as_ref().map_or(0, |head| head.seqno),
                state.mode(),
                state.phase,
                state.round_id,
                state.held(),
                state.locks.len()
            ),
            Seen::Asked { who, act } => write!(out, "people   {who:?}: {act}"),
            Seen::Told { who, done, text } => {
                write!(
                    out,
                    "people   {who:?} is told {}: {text}",
                    if *done { "yes" } else { "no" }
                )
            }
            Seen::FaultBegan { fault, text } => write!(out, "FAULT    {fault} begins: {text}"),
            Seen::FaultOver { fault } => write!(out, "FAULT    {fault} over"),
            Seen::Quiet => write!(out, "world    quiet"),
            Seen::LastRound => write!(out, "world    last round"),
            Seen::End => write!(out, "world    end"),
        }
    }
}

/// What is shown, for a reader.
struct Shown<'a>(&'a Picture<'a>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Picture::Lamps { lit, blink } => {
                write!(out, "lit{}", if *blink { " (blinking)" } else { "" })?;
                for bit in bits(lit) {
                    write!(out, " {bit}")?;
                }
                Ok(())
            }
            Picture::Readout { text, by_host, entry } => {
                write!(out, "{text:?}{} entry {entry}", if *by_host { "" } else { " (keys)" })
            }
            Picture::Inhibit { on, dice_allowed } => write!(out, "inhibit {on}, dice allowed {dice_allowed}"),
        }
    }
}

/// A journal's name for a reader: the first characters of its UUID.
fn short(journal: &str) -> &str {
    journal.get(..8).unwrap_or(journal)
}

/// The name of an event's body.
fn name_of(event: &Event) -> String {
    let told = format!("{:?}", event.body);
    let inner = told.strip_prefix("Some(").unwrap_or(&told);
    inner.split(['(', ' ', ')']).next().unwrap_or_default().to_owned()
}
