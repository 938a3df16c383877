//! A simulated broker: it keeps what is to be retained, answers in its own time, and does whatever a broker on a floor can do wrong.
//!
//! Everything that it does is a deed at a time: a publish that arrives, an acknowledgement that leaves, a last will. One task does
//! them in order; a broker that stalls does them later. The gateway reaches it by its [`ways`]; who else does is in [`others`].

mod others;
mod ways;

pub(super) use ways::Ways;

use others::Intruder;

use super::eyes::{Eyes, hold};
use super::trace::{Answer, Connection, Publish, Seen, Wants, is_events};
use crate::sim::Chance;
use crate::uplink::exchange::{Loss, Message, Publication, Retention, Signal, Terms, Verdict};
use prost::bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

/// Of every topic of the table.
pub(super) const PREFIX: &str = "tablegate/harbour/SIM-01";
/// A packet takes up to this long each way.
const NETWORK_MS: usize = 3;
/// An acknowledgement out of its order is up to this late.
const REORDERED_MS: usize = 300;
/// A client notices within this that a broker says nothing any more.
const SILENCE_NOTICED_AFTER: Duration = Duration::from_secs(15);
/// As many publishes as the broker takes before the first is acknowledged.
const RECEIVE_MAXIMUM: u16 = 100;

/// How the broker behaves.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Manners {
    /// It answers no connection with anything but this.
    pub(super) refuses: Option<Refusal>,
    /// It does nothing until then.
    pub(super) stalls: bool,
    /// Acknowledgements come late and in any order.
    pub(super) reorders: bool,
    /// Percent of acknowledgements that come twice.
    pub(super) repeats: u8,
    /// Percent of acknowledgements that never come, and none after them on the same connection.
    pub(super) swallows: u8,
    /// Percent of events that it refuses, with this answer.
    pub(super) denies: Option<(u8, Denial)>,
    /// Percent of publishes after which it cuts the connection, the acknowledgement not sent.
    pub(super) cuts: u8,
    /// Last wills leave this much later, whatever has happened since.
    pub(super) late_wills: Duration,
}

/// How a connection is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refusal {
    /// Nobody is there.
    Unreachable,
    /// It doesn't let this client in.
    NotAuthorized,
}

/// How an event is denied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Denial {
    /// Its quota, for instance.
    Quota,
    /// It doesn't take the payload, now or ever.
    Payload,
}

/// Something that the broker does at a time.
#[derive(Clone, Debug)]
enum Deed {
    Accept(Connection),
    Take(Connection, u16, Publication),
    Subscribe(Connection, Vec<String>),
    Bye(Connection),
    Say(Connection, Signal, Option<Answered>),
    Lose(Connection, Loss),
    /// The client has waited long enough for a broker that stalls.
    Despair(Connection),
    Will(Connection, String, Bytes),
    /// A request of the floor's reaches a client.
    Ask(Connection, Message, Wants),
    /// The second gateway connects.
    Intrude,
}

/// An acknowledgement, for the trace.
#[derive(Clone, Copy, Debug)]
struct Answered {
    publish: Publish,
    answer: Answer,
}

struct Client {
    say: mpsc::UnboundedSender<Signal>,
    will: Option<(String, Bytes)>,
    topics: BTreeSet<String>,
    standing: Standing,
    /// When the newest acknowledgement leaves.
    acknowledged: Instant,
    /// It gets no acknowledgement any more.
    mute: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Standing {
    /// Not accepted yet.
    Knocking,
    In,
}

struct Inner {
    chance: Chance,
    manners: Manners,
    retained: BTreeMap<String, Bytes>,
    clients: BTreeMap<Connection, Client>,
    connections: Connection,
    publishes: Publish,
    deeds: BTreeMap<(Instant, u64), Deed>,
    deed: u64,
    /// An event of each number gets the same answer each time: a payload that is no good stays so.
    unfit: BTreeSet<Vec<u8>>,
    /// A second gateway of the same name.
    second: Option<Intruder>,
    /// What the floor has asked so far.
    asked: u64,
}

/// The broker.
pub(super) struct Broker {
    inner: Mutex<Inner>,
    eyes: Eyes,
    stir: Notify,
}

impl Broker {
    pub(super) fn new(eyes: Eyes, seed: u64) -> Self {
        Broker {
            inner: Mutex::new(Inner {
                chance: Chance::new(seed),
                manners: Manners::default(),
                retained: BTreeMap::new(),
                clients: BTreeMap::new(),
                connections: 0,
                publishes: 0,
                deeds: BTreeMap::new(),
                deed: 0,
                unfit: BTreeSet::new(),
                second: None,
                asked: 0,
            }),
            eyes,
            stir: Notify::new(),
        }
    }

    /// Changes how it behaves.
    pub(super) fn behave(&self, change: impl FnOnce(&mut Manners)) {
        let inner = &mut *hold(&self.inner);
        let stalled = inner.manners.stalls;
        change(&mut inner.manners);
        if inner.manners.stalls && !stalled {
            let at = Instant::now() + SILENCE_NOTICED_AFTER;
            for connection in inner.clients.keys().copied().collect::<Vec<_>>() {
                inner.put(at, Deed::Despair(connection));
            }
        }
        if !inner.manners.stalls && stalled {
            // Those that did not give up meanwhile are answered now.
            inner.deeds.retain(|_, deed| !matches!(deed, Deed::Despair(_)));
        }
        self.stir.notify_one();
    }

    /// Some client waits for what never comes, or a last will is under way.
    pub(super) fn owes(&self) -> bool {
        let inner = hold(&self.inner);
        let mut deeds = inner.deeds.values();
        inner.clients.values().any(|client| client.mute) || deeds.any(|deed| matches!(deed, Deed::Will(..)))
    }

    /// Cuts every connection.
    pub(super) fn cut(&self) {
        let inner = &mut *hold(&self.inner);
        let connections: Vec<Connection> = inner.clients.keys().copied().collect();
        for connection in connections {
            self.lose(inner, connection, Loss::Broken("cut: simulated".to_owned()));
        }
        self.stir.notify_one();
    }

    /// It restarts and knows nothing any more.
    pub(super) fn forget(&self) {
        {
            let inner = &mut *hold(&self.inner);
            let connections: Vec<Connection> = inner.clients.keys().copied().collect();
            for connection in connections {
                if let Some(client) = inner.clients.get_mut(&connection) {
                    client.will = None;
                }
                self.lose(inner, connection, Loss::Broken("restarted: simulated".to_owned()));
            }
            inner.deeds.retain(|_, deed| !matches!(deed, Deed::Will(..)));
            inner.retained.clear();
        }
        self.eyes.see(&Seen::BrokerForgot);
        self.stir.notify_one();
    }

    /// Does what is due, for ever.
    pub(super) async fn run(self: Arc<Self>) {
        loop {
            let due = self.work();
            match due {
                Some(at) => {
                    // In this order: what was put in just now may be due earlier.
                    tokio::select! {
                        biased;
                        () = self.stir.notified() => {}
                        () = tokio::time::sleep_until(at) => {}
                    }
                }
                None => self.stir.notified().await,
            }
        }
    }

    /// Does what is due; the answer says when more is.
    fn work(&self) -> Option<Instant> {
        let inner = &mut *hold(&self.inner);
        let now = Instant::now();
        loop {
            let (key, at) = if inner.manners.stalls {
                // Of a broker that stalls only its client's patience ends.
                let lost = inner.deeds.iter().find(|(_, deed)| matches!(deed, Deed::Despair(_)));
                lost.map(|(key, _)| (*key, key.0))?
            } else {
                inner.deeds.first_key_value().map(|(key, _)| (*key, key.0))?
            };
            if at > now {
                return Some(at);
            }
            if let Some(deed) = inner.deeds.remove(&key) {
                self.perform(inner, deed);
            }
        }
    }

    fn perform(&self, inner: &mut Inner, deed: Deed) {
        match deed {
            Deed::Accept(connection) => self.accept(inner, connection),
            Deed::Take(connection, pkid, publication) => self.take(inner, connection, pkid, publication),
            Deed::Subscribe(connection, filters) => inner.subscribe(connection, filters),
            Deed::Bye(connection) => {
                if let Some(client) = inner.clients.get_mut(&connection) {
                    client.will = None;
                    let _ = client.say.send(Signal::Disconnected);
                }
                self.lose(inner, connection, Loss::Broken("disconnected".to_owned()));
            }
            Deed::Say(connection, signal, answered) => {
                if let Some(client) = inner.clients.get(&connection) {
                    let _ = client.say.send(signal);
                    if let Some(Answered { publish, answer }) = answered {
                        self.eyes.see(&Seen::Acknowledged {
                            connection,
                            publish,
                            answer,
                        });
                    }
                }
            }
            Deed::Lose(connection, loss) => self.lose(inner, connection, loss),
            Deed::Despair(connection) => {
                let text = "the broker did not answer: simulated";
                self.lose(inner, connection, Loss::Broken(text.to_owned()));
            }
            Deed::Will(connection, topic, payload) => self.published(inner, connection, &topic, &payload, true),
            Deed::Ask(connection, message, wants) => self.asks(inner, connection, message, wants),
            Deed::Intrude => self.intrude(inner),
        }
    }

    fn accept(&self, inner: &mut Inner, connection: Connection) {
        match inner.manners.refuses {
            Some(Refusal::Unreachable) => {
                let loss = Loss::Broken("no connection: simulated".to_owned());
                return self.lose(inner, connection, loss);
            }
            Some(Refusal::NotAuthorized) => {
                let loss = Loss::Refused("connection refused: not authorized: simulated".to_owned());
                return self.lose(inner, connection, loss);
            }
            None => {}
        }
        self.second_goes(inner);
        // Who connects here has one name: an older connection of it is taken over.
        let older: Vec<Connection> = inner.clients.range(..connection).map(|(older, _)| *older).collect();
        for older in older {
            let loss = Loss::TakenOver("session taken over: simulated".to_owned());
            self.lose(inner, older, loss);
        }
        let Some(client) = inner.clients.get_mut(&connection) else {
            return;
        };
        client.standing = Standing::In;
        let _ = client.say.send(Signal::Connected(Terms {
            receive_maximum: RECEIVE_MAXIMUM,
            max_packet: None,
            retains: true,
            takes_qos1: true,
        }));
        self.eyes.see(&Seen::Connected { connection });
    }

    /// A publish has arrived.
    fn take(&self, inner: &mut Inner, connection: Connection, pkid: u16, publication: Publication) {
        if !inner.clients.contains_key(&connection) {
            return;
        }
        let Publication {
            topic,
            retained,
            payload,
            ..
        } = publication;
        let is_event = is_events(&topic);
        let denial = match inner.manners.denies {
            Some((percent, denial)) if is_event && inner.chance.hits(percent) => Some(denial),
            Some(_) | None => None,
        };
        let is_unfit = is_event && inner.unfit.contains(&*payload);
        let (verdict, answer) = match denial {
            _ if is_unfit => (Verdict::PayloadRefused, Answer::Unfit),
            Some(Denial::Payload) => {
                inner.unfit.insert(payload.to_vec());
                (Verdict::PayloadRefused, Answer::Unfit)
            }
            Some(Denial::Quota) => (Verdict::Refused("quota exceeded"), Answer::Refused),
            None => (Verdict::Taken, Answer::Success),
        };
        let publish = inner.publishes + 1;
        if verdict == Verdict::Taken {
            self.published(inner, connection, &topic, &payload, retained == Retention::Kept);
        } else {
            inner.publishes = publish;
            self.eyes.see(&Seen::ThrownAway {
                connection,
                publish,
                topic: &topic,
                payload: &payload,
            });
        }
        if inner.chance.hits(inner.manners.cuts) {
            let loss = Loss::Broken("cut after a publish: simulated".to_owned());
            return self.lose(inner, connection, loss);
        }
        let swallows = inner.chance.hits(inner.manners.swallows);
        let Some(client) = inner.clients.get_mut(&connection) else {
            return;
        };
        // A line keeps order: where one acknowledgement stays away, those after it do.
        client.mute |= swallows;
        if client.mute {
            return;
        }
        let copies = if inner.chance.hits(inner.manners.repeats) { 2 } else { 1 };
        for _ in 0..copies {
            let at = inner.acknowledges_at(connection);
            let answered = Answered { publish, answer };
            inner.put(
                at,
                Deed::Say(connection, Signal::Acknowledged(pkid, verdict), Some(answered)),
            );
        }
    }

    /// Everybody who subscribes gets it, the gateway's own connection too.
    fn published(&self, inner: &mut Inner, connection: Connection, topic: &str, payload: &Bytes, retained: bool) {
        inner.publishes += 1;
        self.eyes.see(&Seen::Published {
            connection,
            publish: inner.publishes,
            topic,
            payload,
            retained,
        });
        if retained {
            inner.retained.insert(topic.to_owned(), payload.clone());
        }
        inner.pass_on(topic, payload);
    }

    /// The connection is over, for the client too.
    fn lose(&self, inner: &mut Inner, connection: Connection, loss: Loss) {
        let Some(client) = inner.clients.remove(&connection) else {
            return;
        };
        let _ = client.say.send(Signal::Lost(loss));
        inner.ended(connection);
        if client.standing == Standing::In {
            self.eyes.see(&Seen::Disconnected { connection });
            self.will(inner, connection, client.will);
        }
    }

    fn will(&self, inner: &mut Inner, connection: Connection, will: Option<(String, Bytes)>) {
        let Some((topic, payload)) = will else { return };
        let late = inner.manners.late_wills;
        if late.is_zero() {
            self.published(inner, connection, &topic, &payload, true);
        } else {
            inner.put(Instant::now() + late, Deed::Will(connection, topic, payload));
        }
    }

    /// The client has dropped its end: what it sent last may still arrive.
    fn dropped(&self, connection: Connection) {
        let inner = &mut *hold(&self.inner);
        let Some(client) = inner.clients.get(&connection) else {
            return;
        };
        if client.standing == Standing::Knocking {
            inner.clients.remove(&connection);
            inner.ended(connection);
            return;
        }
        let under_way: Vec<(Instant, u64)> = inner
            .deeds
            .iter()
            .filter(|(_, deed)| matches!(deed, Deed::Take(of, ..) if *of == connection))
            .map(|(key, _)| *key)
            .collect();
        let arrive = inner.chance.below(under_way.len() + 1);
        for lost in under_way.iter().skip(arrive) {
            inner.deeds.remove(lost);
        }
        let last = arrive.checked_sub(1).and_then(|last| under_way.get(last));
        let at = last.map_or_else(Instant::now, |(at, _)| *at);
        inner.put(at, Deed::Lose(connection, Loss::Broken("closed".to_owned())));
        self.stir.notify_one();
    }
}

fn message(topic: &str, payload: &Bytes, retained: bool) -> Message {
    Message {
        topic: topic.to_owned(),
        retained,
        payload: payload.clone(),
        response_topic: None,
        correlation: None,
    }
}

impl Inner {
    /// Everybody who subscribes gets it.
    fn pass_on(&mut self, topic: &str, payload: &Bytes) {
        let listening = self.clients.iter().filter(|(_, client)| client.topics.contains(topic));
        let listening: Vec<Connection> = listening.map(|(listening, _)| *listening).collect();
        for listening in listening {
            let at = self.later(NETWORK_MS);
            let message = message(topic, payload, false);
            self.put(at, Deed::Say(listening, Signal::Message(message), None));
        }
    }

    fn put(&mut self, at: Instant, deed: Deed) {
        self.deed += 1;
        self.deeds.insert((at, self.deed), deed);
    }

    /// Some time from now, at most so many milliseconds.
    fn later(&mut self, within_ms: usize) -> Instant {
        let ms = u64::try_from(self.chance.below(within_ms)).unwrap_or(0);
        Instant::now() + Duration::from_millis(ms)
    }

    /// When the next acknowledgement leaves: in the order of the publishes, as the standard wants it, unless the broker has other manners.
    fn acknowledges_at(&mut self, connection: Connection) -> Instant {
        if self.manners.reorders {
            return self.later(REORDERED_MS);
        }
        let at = self.later(NETWORK_MS);
        match self.clients.get_mut(&connection) {
            Some(client) => {
                client.acknowledged = at.max(client.acknowledged);
                client.acknowledged
            }
            None => at,
        }
    }

    /// Nothing more comes of this connection.
    fn ended(&mut self, connection: Connection) {
        self.deeds.retain(|_, deed| match deed {
            Deed::Accept(of) | Deed::Take(of, ..) | Deed::Subscribe(of, _) | Deed::Bye(of) => *of != connection,
            Deed::Say(of, ..) | Deed::Lose(of, _) | Deed::Despair(of) | Deed::Ask(of, ..) => *of != connection,
            Deed::Will(..) | Deed::Intrude => true,
        });
    }

    fn subscribe(&mut self, connection: Connection, filters: Vec<String>) {
        let kept: Vec<(String, Bytes)> = filters
            .iter()
            .filter_map(|filter| self.retained.get(filter).map(|kept| (filter.clone(), kept.clone())))
            .collect();
        let Some(client) = self.clients.get_mut(&connection) else {
            return;
        };
        let _ = client.say.send(Signal::Subscribed(Vec::new()));
        for (topic, payload) in kept {
            let _ = client.say.send(Signal::Message(message(&topic, &payload, true)));
        }
        client.topics.extend(filters);
    }
}
