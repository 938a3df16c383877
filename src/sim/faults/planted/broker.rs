//! Bugs between the uplink and its brokers.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use prost::Message as _;
use prost::bytes::Bytes;
use tokio::task::JoinHandle;

use super::super::trace::{is_events, is_state, is_status};
use super::Bug;
use crate::table::event::{Event, Response};
use crate::uplink::exchange::{ConnectError, ConnectOptions, Publication, Signal, Stuck, Subscription, Verdict};
use crate::uplink::{Brokers, Connected, Reads};

/// What outlives a connection.
#[derive(Debug, Default)]
pub(super) struct Past {
    connections: u64,
    /// Packet ids of the last connection that nobody acknowledged.
    unacknowledged: Vec<u16>,
}

/// Brokers with a bug.
pub(super) fn plant(bug: Bug, brokers: Arc<dyn Brokers>, past: &Arc<Mutex<Past>>) -> Arc<dyn Brokers> {
    Arc::new(Bugged {
        bug,
        brokers,
        past: Arc::clone(past),
    })
}

fn hold<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Bugged {
    bug: Bug,
    brokers: Arc<dyn Brokers>,
    past: Arc<Mutex<Past>>,
}

impl Brokers for Bugged {
    fn connect(&self, options: &ConnectOptions) -> Result<Box<dyn Connected>, ConnectError> {
        let connection = self.brokers.connect(options)?;
        let mut past = hold(&self.past);
        past.connections += 1;
        Ok(Box::new(BuggedConnection {
            bug: self.bug,
            connection,
            is_first: past.connections == 1,
            old: std::mem::take(&mut past.unacknowledged),
            past: Arc::clone(&self.past),
            unacknowledged: Vec::new(),
            before: VecDeque::new(),
            held: Mutex::default(),
            answered: Mutex::default(),
        }))
    }

    fn chance(&self) -> f64 {
        self.brokers.chance()
    }

    fn reads(&self) -> Reads {
        self.brokers.reads()
    }

    fn run(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) -> JoinHandle<()> {
        self.brokers.run(task)
    }
}

struct BuggedConnection {
    bug: Bug,
    connection: Box<dyn Connected>,
    is_first: bool,
    /// Packet ids of the connection before that nobody acknowledged.
    old: Vec<u16>,
    past: Arc<Mutex<Past>>,
    unacknowledged: Vec<u16>,
    /// To be said before anything else.
    before: VecDeque<Signal>,
    held: Mutex<Held>,
    /// The id of the newest answer.
    answered: Mutex<Option<String>>,
}

/// The first event of a connection, and whether it has been sent after the second.
#[derive(Default)]
enum Held {
    #[default]
    Nothing,
    First(Publication),
    Swapped,
}

impl Connected for BuggedConnection {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Signal> {
        if let Some(signal) = self.before.pop_front() {
            return Poll::Ready(signal);
        }
        let signal = std::task::ready!(self.connection.poll_next(cx));
        match &signal {
            Signal::Sent(packet) => {
                self.unacknowledged.push(*packet);
                if self.bug == Bug::OldAcknowledgementsTaken && self.old.contains(packet) {
                    self.before.push_back(Signal::Acknowledged(*packet, Verdict::Taken));
                    self.unacknowledged.retain(|sent| sent != packet);
                }
            }
            Signal::Message(message) if self.overlooks(&message.topic) => return self.poll_next(cx),
            Signal::Acknowledged(packet, _) => self.unacknowledged.retain(|sent| sent != packet),
            Signal::Lost(_) if self.bug == Bug::UnacknowledgedForgotten => {
                let cleared = std::mem::take(&mut self.unacknowledged);
                let taken = cleared
                    .into_iter()
                    .map(|packet| Signal::Acknowledged(packet, Verdict::Taken));
                self.before.extend(taken.chain([signal]));
                return self.poll_next(cx);
            }
            _ => {}
        }
        Poll::Ready(signal)
    }

    fn publish(&self, publication: Publication) -> Result<(), Stuck> {
        if self.bug == Bug::AnswersUnderOldId && publication.topic.contains("/responses/") {
            let payload = self.under_old_id(&publication.payload);
            return self.connection.publish(Publication { payload, ..publication });
        }
        if self.is_first || !is_events(&publication.topic) {
            return self.connection.publish(publication);
        }
        match self.bug {
            Bug::SwappedAfterReconnect => {
                let mut held = hold(&self.held);
                match std::mem::replace(&mut *held, Held::Swapped) {
                    Held::Nothing => {
                        *held = Held::First(publication);
                        Ok(())
                    }
                    Held::First(first) => {
                        self.connection.publish(publication)?;
                        self.connection.publish(first)
                    }
                    Held::Swapped => self.connection.publish(publication),
                }
            }
            Bug::EncodedAnew => self.connection.publish(Publication {
                payload: anew(&publication.payload),
                ..publication
            }),
            _ => self.connection.publish(publication),
        }
    }

    fn subscribe(&self, subscriptions: &[Subscription]) -> Result<(), Stuck> {
        self.connection.subscribe(subscriptions)
    }

    fn disconnect(&self) -> Result<(), Stuck> {
        self.connection.disconnect()
    }
}

impl BuggedConnection {
    fn overlooks(&self, topic: &str) -> bool {
        match self.bug {
            Bug::KeptStateIgnored => is_state(topic),
            Bug::KeptStatusIgnored => is_status(topic),
            _ => false,
        }
    }

    fn under_old_id(&self, payload: &Bytes) -> Bytes {
        let Ok(mut answer) = Response::decode(payload.clone()) else {
            return payload.clone();
        };
        let before = hold(&self.answered).replace(answer.request_id.clone());
        answer.request_id = before.unwrap_or(answer.request_id);
        Bytes::from(answer.encode_to_vec())
    }
}

/// As if the event were made when it is published.
fn anew(payload: &Bytes) -> Bytes {
    match Event::decode(payload.clone()) {
        Ok(mut event) => {
            event.uptime_us += 1;
            Bytes::from(event.encode_to_vec())
        }
        Err(_) => payload.clone(),
    }
}

impl Drop for BuggedConnection {
    fn drop(&mut self) {
        hold(&self.past).unacknowledged = std::mem::take(&mut self.unacknowledged);
    }
}
