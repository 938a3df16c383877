//! A subscriber that keeps its copy whole: connection, consumer's rule and replays together. `floor watch`, `floor replay` and the demo use it.

use crate::floor::{Ask, Begin, Consumer, Finding, Hashes};
use crate::table::event::{Head, Replay, Request, Response, Status, TableState, request};
use crate::time::Uptime;
use crate::uplink::BrokerAddress;
use crate::uplink::Connected as _;
use crate::uplink::broker::Connection;
use crate::uplink::exchange::{
    ConnectOptions, KeptMessages, Loss, Message as Received, Publication, Quality, Retention, Signal, Subscription,
    TlsTexts,
};
use crate::uplink::topic::Topics;
use prost::Message;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

/// First pause before connecting again; doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// A person who watches sees the table again soon after its broker is back.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Retained messages come right after the subscription; a slow line may take this long.
const RETAINED_WITHIN: Duration = Duration::from_secs(5);

/// The request id of [`Follower::ask`]; the consumer's own have other names.
const ASKED: &str = "asked";

/// Where a table's events are.
#[derive(Clone, Debug)]
pub struct Floor {
    /// The broker.
    pub broker: BrokerAddress,
    /// What the table's topics begin with.
    pub prefix: String,
    /// PEM texts for an mqtts:// broker.
    pub tls: Option<TlsTexts>,
    /// Name and password.
    pub login: Option<(String, String)>,
    /// The name that the broker's access list has for this reader: answers come under `{prefix}/responses/` and it.
    pub reader: String,
}

/// What came.
#[derive(Debug)]
pub enum Heard {
    /// Of an event.
    Found(Finding),
    /// The table's retained state.
    State(Box<TableState>),
    /// The table's retained status.
    Status {
        /// It is there.
        online: bool,
        /// Why it can't play; empty: it can.
        fault: String,
        /// Its newest event.
        head: Option<Head>,
    },
    /// The broker took the connection, and the subscriptions.
    Connected,
    /// There is no connection; it is tried again.
    Lost(String),
    /// An answer to [`Follower::ask`].
    Answered(Box<Response>),
    /// Some seconds after the connection nothing has come of this table: nothing is retained under its topics.
    Nothing,
}

/// Follows one table.
pub struct Follower {
    floor: Floor,
    topics: Topics,
    follows: bool,
    client_id: String,
    responses: String,
    connection: Option<Connection>,
    is_connected: bool,
    consumer: Consumer,
    hashes: Hashes,
    began: Instant,
    pause: Duration,
    connect_at: Instant,
    status: (u64, bool, String),
    waiting: Option<request::Request>,
    heard: VecDeque<Heard>,
    /// Nothing has come since the connection; said so then.
    silent_until: Option<Instant>,
}

impl Follower {
    /// Follows the events as `consumer` does; without it, only [`Follower::ask`] brings any. Connects at the first [`Follower::next`].
    #[must_use]
    pub fn start(floor: Floor, consumer: Option<Consumer>) -> Follower {
        let now = Instant::now();
        let client_id = format!("floor-{:08x}", rand::random::<u32>());
        let responses = format!("{}/responses/{}/{client_id}", floor.prefix, floor.reader);
        Follower {
            topics: Topics::new(&floor.prefix, &[]),
            floor,
            follows: consumer.is_some(),
            client_id,
            responses,
            connection: None,
            is_connected: false,
            consumer: consumer.unwrap_or_else(|| Consumer::new(Begin::AtNext)),
            hashes: Hashes::default(),
            began: now,
            pause: FIRST_PAUSE,
            connect_at: now,
            status: (0, false, String::new()),
            waiting: None,
            heard: VecDeque::new(),
            silent_until: None,
        }
    }

    /// The copy.
    #[must_use]
    pub fn consumer(&self) -> &Consumer {
        &self.consumer
    }

    /// Asks the table for events, as soon as there is a connection.
    pub fn ask(&mut self, request: request::Request) {
        self.waiting = Some(request);
    }

    /// What comes next is about the event that came last.
    #[must_use]
    pub fn tells_more(&self) -> bool {
        match self.heard.front() {
            Some(Heard::Found(Finding::Store(_) | Finding::ChainBroken(_))) => false,
            Some(Heard::Found(_)) => true,
            Some(
                Heard::State(_)
                | Heard::Status { .. }
                | Heard::Connected
                | Heard::Lost(_)
                | Heard::Answered(_)
                | Heard::Nothing,
            )
            | None => false,
        }
    }

    /// What comes next. Nothing is lost when it is cancelled.
    pub async fn next(&mut self) -> Heard {
        loop {
            if let Some(heard) = self.heard.pop_front() {
                return heard;
            }
            self.send_requests();
            let wake = self.wake_at();
            match &mut self.connection {
                None => {
                    tokio::time::sleep_until(self.connect_at).await;
                    self.connect();
                }
                Some(connection) => {
                    tokio::select! {
                        signal = connection.next() => self.take(signal),
                        () = sleep_until(wake) => self.mind_the_silence(),
                    }
                }
            }
        }
    }

    fn now(&self) -> Uptime {
        Uptime::ZERO + self.began.elapsed()
    }

    fn wake_at(&self) -> Option<Instant> {
        let due = self.consumer.looks_at().filter(|_| self.is_connected);
        let due = due.map(|due| self.began + due.since(Uptime::ZERO));
        due.into_iter().chain(self.silent_until).min()
    }

    fn mind_the_silence(&mut self) {
        if self.silent_until.is_some_and(|until| until <= Instant::now()) {
            self.silent_until = None;
            self.heard.push_back(Heard::Nothing);
        }
    }

    fn connect(&mut self) {
        let options = ConnectOptions {
            address: self.floor.broker.clone(),
            client_id: self.client_id.clone(),
            login: self.floor.login.clone(),
            tls: self.floor.tls.clone(),
            will: None,
        };
        match Connection::open(&options) {
            Ok(connection) => self.connection = Some(connection),
            Err(error) => self.lose(error.to_string()),
        }
    }

    fn lose(&mut self, text: String) {
        self.connection = None;
        self.is_connected = false;
        self.silent_until = None;
        self.consumer.disconnected();
        self.connect_at = Instant::now() + self.pause;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        self.heard.push_back(Heard::Lost(text));
    }

    fn take(&mut self, signal: Signal) {
        match signal {
            Signal::Connected(_) => self.subscribe(),
            Signal::Subscribed(refused) => match refused.first() {
                Some(reason) => self.lose(format!("the broker refuses the subscription: {reason}")),
                None => {
                    self.is_connected = true;
                    self.pause = FIRST_PAUSE;
                    self.silent_until = Some(Instant::now() + RETAINED_WITHIN);
                    self.heard.push_back(Heard::Connected);
                }
            },
            Signal::Message(message) => self.message(&message),
            Signal::Sent(_) | Signal::Acknowledged(..) => {}
            Signal::Disconnected => self.lose("disconnected".to_owned()),
            Signal::Lost(
                Loss::Broken(text)
                | Loss::Refused(text)
                | Loss::Certificate(text)
                | Loss::HungUp(text)
                | Loss::TakenOver(text)
                | Loss::TooLarge(text),
            ) => self.lose(text),
        }
    }

    fn subscribe(&mut self) {
        let to = |filter: &str| Subscription {
            filter: filter.to_owned(),
            retained: KeptMessages::Wanted,
            quality: Quality::AtLeastOnce,
        };
        let own = format!("{}/#", self.responses);
        let mut subscriptions = vec![to(&self.topics.status), to(&self.topics.state), to(&own)];
        if self.follows {
            subscriptions.push(to(&self.topics.events));
        }
        if self
            .connection
            .as_ref()
            .is_some_and(|connection| connection.subscribe(&subscriptions).is_err())
        {
            self.lose("the MQTT client takes nothing more".to_owned());
        }
    }

    fn message(&mut self, message: &Received) {
        self.silent_until = None;
        if message.topic == self.topics.events {
            let now = self.now();
            let findings = self.consumer.take(now, &message.payload, &self.hashes);
            self.found(findings);
        } else if message.topic == self.topics.status {
            if let Ok(status) = Status::decode(message.payload.as_ref()) {
                self.status(status);
            }
        } else if message.topic == self.topics.state {
            if let Ok(state) = TableState::decode(message.payload.as_ref()) {
                self.head(state.head.as_ref());
                self.heard.push_back(Heard::State(Box::new(state)));
            }
        } else if message.topic.starts_with(&self.responses)
            && let Ok(response) = Response::decode(message.payload.as_ref())
        {
            self.answer(response);
        }
    }

    /// A status of an older connection (a late last will) says nothing about now.
    fn status(&mut self, status: Status) {
        let known = (status.connection, status.online, status.fault.clone());
        if status.connection < self.status.0 {
            return;
        }
        self.head(status.head.as_ref());
        let before = std::mem::replace(&mut self.status, known);
        let is_news = before.0 == 0 || (before.1, &before.2) != (status.online, &status.fault);
        if !is_news {
            return;
        }
        self.heard.push_back(Heard::Status {
            online: status.online,
            fault: status.fault,
            head: status.head,
        });
    }

    fn head(&mut self, head: Option<&Head>) {
        if let Some(head) = head.filter(|_| self.follows) {
            let now = self.now();
            let findings = self.consumer.take_head(now, head, &self.hashes);
            self.found(findings);
        }
    }

    fn answer(&mut self, response: Response) {
        if response.request_id == ASKED {
            self.heard.push_back(Heard::Answered(Box::new(response)));
            return;
        }
        let now = self.now();
        let findings = self.consumer.take_answer(now, &response, &self.hashes);
        self.found(findings);
    }

    fn found(&mut self, findings: Vec<Finding>) {
        for finding in findings {
            if let Finding::Store(stores) | Finding::ChainBroken(stores) = &finding {
                self.hashes.keep(stores);
            }
            self.heard.push_back(Heard::Found(finding));
        }
    }

    fn send_requests(&mut self) {
        let Some(connection) = self.connection.as_ref().filter(|_| self.is_connected) else {
            return;
        };
        let now = Uptime::ZERO + self.began.elapsed();
        let (request_id, request) = match self.waiting.take() {
            Some(request) => (ASKED.to_owned(), request),
            None => match self.consumer.ask(now) {
                Some(ask) => {
                    let Ask {
                        request_id,
                        journal_id,
                        from_seqno,
                        to_seqno,
                    } = ask;
                    (
                        request_id,
                        request::Request::Replay(Replay {
                            journal_id,
                            from_seqno,
                            to_seqno,
                        }),
                    )
                }
                None => return,
            },
        };
        let request = Request {
            request_id,
            request: Some(request),
        };
        let publication = Publication {
            topic: self.topics.requests.clone(),
            retained: Retention::Passing,
            payload: request.encode_to_vec().into(),
            response_topic: Some(format!("{}/replay", self.responses)),
            correlation: None,
        };
        if connection.publish(publication).is_err() {
            self.lose("the MQTT client takes nothing more".to_owned());
        }
    }
}

pub(super) async fn sleep_until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}
