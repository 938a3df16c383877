//! Who else is at the simulated broker: a second gateway of the table's name, and the floor, which asks.

use super::{Broker, Deed, Inner, NETWORK_MS, PREFIX};
use crate::sim::faults::eyes::hold;
use crate::sim::faults::plan::{Asking, Second};
use crate::sim::faults::trace::{Connection, Seen, Wants};
use crate::table::event::{Head, Replay, Request, Snapshot, Status, TableState, VerifySoftware, request};
use crate::uplink::exchange::{Loss, Message, Signal};
use prost::Message as _;
use prost::bytes::Bytes;
use std::time::Duration;
use tokio::time::Instant;

/// The second gateway is thrown out when the first connects, and comes back within this, and [`COMES_BACK_MS`].
const COMES_BACK_AFTER: Duration = Duration::from_secs(1);
const COMES_BACK_MS: usize = 3_000;
/// Its own journal.
const ITS_JOURNAL: &str = "5ec0d000-5eed-4000-8000-000000000002";
/// A journal that nobody has.
const NOBODYS_JOURNAL: &str = "0b0d1e50-5eed-4000-8000-000000000003";
/// A replay asks for up to so many events.
const ASKS_FOR: usize = 30;

/// The second gateway.
#[derive(Clone, Copy, Debug)]
pub(super) struct Intruder {
    who: Second,
    /// The number of its connection, while it has one.
    number: Option<u64>,
}

fn topic(of: &str) -> String {
    format!("{PREFIX}/{of}")
}

impl Broker {
    /// A second gateway connects, and comes back whenever it is thrown out.
    pub(in super::super) fn second_comes(&self, who: Second) {
        let inner = &mut *hold(&self.inner);
        inner.second = Some(Intruder { who, number: None });
        inner.put(Instant::now(), Deed::Intrude);
        self.stir.notify_one();
    }

    /// It is found, and switched off.
    pub(in super::super) fn second_leaves(&self) {
        let inner = &mut *hold(&self.inner);
        let number = inner.second.take().and_then(|second| second.number);
        if let Some(number) = number {
            self.second_says(inner, number, false);
        }
        self.stir.notify_one();
    }

    pub(super) fn intrude(&self, inner: &mut Inner) {
        let Some(Intruder { who, .. }) = inner.second else {
            return;
        };
        if inner.manners.refuses.is_some() {
            return inner.put(Instant::now() + COMES_BACK_AFTER, Deed::Intrude);
        }
        let connections: Vec<Connection> = inner.clients.keys().copied().collect();
        for connection in connections {
            let loss = Loss::TakenOver("session taken over: simulated".to_owned());
            self.lose(inner, connection, loss);
        }
        let kept = inner.retained.get(&topic("status"));
        let kept = kept.and_then(|kept| Status::decode(kept.clone()).ok());
        let number = match who {
            Second::Outbids | Second::Tells => kept.map_or(0, |kept| kept.connection) + 1,
            Second::IsOld => 1,
        };
        inner.second = Some(Intruder {
            who,
            number: Some(number),
        });
        self.second_says(inner, number, true);
        if who == Second::Tells {
            let state = TableState {
                head: Some(Head {
                    journal_id: ITS_JOURNAL.to_owned(),
                    seqno: 100,
                    sha256: vec![2; 32],
                }),
                ..TableState::default()
            };
            self.intruded(inner, &topic("state"), state.encode_to_vec());
        }
    }

    /// The table's own gateway connects: the second one's connection ends with its last will.
    pub(super) fn second_goes(&self, inner: &mut Inner) {
        let number = inner.second.as_mut().and_then(|second| second.number.take());
        if let Some(number) = number {
            self.second_says(inner, number, false);
            let back = inner.later(COMES_BACK_MS) + COMES_BACK_AFTER;
            inner.put(back, Deed::Intrude);
        }
    }

    fn second_says(&self, inner: &mut Inner, connection: u64, online: bool) {
        let status = Status {
            connection,
            online,
            ..Status::default()
        };
        self.intruded(inner, &topic("status"), status.encode_to_vec());
    }

    fn intruded(&self, inner: &mut Inner, topic: &str, payload: Vec<u8>) {
        let payload = Bytes::from(payload);
        self.eyes.see(&Seen::Intruded {
            topic,
            payload: &payload,
        });
        inner.retained.insert(topic.to_owned(), payload.clone());
        inner.pass_on(topic, &payload);
    }

    /// The floor asks so often. Without a connection that subscribes nobody hears it.
    pub(in super::super) fn floor_asks(&self, asking: Asking, times: u8) {
        let inner = &mut *hold(&self.inner);
        let requests = topic("requests");
        let mut listening = inner
            .clients
            .iter()
            .filter(|(_, client)| client.topics.contains(&requests));
        let Some(connection) = listening.next().map(|(connection, _)| *connection) else {
            return;
        };
        for _ in 0..times {
            let (message, wants) = inner.request(asking);
            let at = inner.later(NETWORK_MS);
            inner.put(at, Deed::Ask(connection, message, wants));
        }
        self.stir.notify_one();
    }

    pub(super) fn asks(&self, inner: &mut Inner, connection: Connection, message: Message, wants: Wants) {
        let Some(client) = inner.clients.get(&connection) else {
            return;
        };
        self.eyes.see(&Seen::FloorAsked {
            connection,
            payload: &message.payload,
            wants,
        });
        let _ = client.say.send(Signal::Message(message));
    }
}

impl Inner {
    fn request(&mut self, asking: Asking) -> (Message, Wants) {
        self.asked += 1;
        let request_id = format!("ask-{}", self.asked);
        let body = match asking {
            Asking::Replay | Asking::Kept | Asking::Nowhere => request::Request::Replay(self.replay()),
            Asking::ReplayOfAnother => request::Request::Replay(Replay {
                journal_id: NOBODYS_JOURNAL.to_owned(),
                ..Replay::default()
            }),
            Asking::Snapshot => request::Request::Snapshot(Snapshot {}),
            Asking::Verify => request::Request::VerifySoftware(VerifySoftware {
                seed: vec![self.chance.byte(); 8],
            }),
        };
        let payload = Request {
            request_id: request_id.clone(),
            request: Some(body),
        };
        let message = Message {
            topic: topic("requests"),
            retained: asking == Asking::Kept,
            payload: payload.encode_to_vec().into(),
            response_topic: (asking != Asking::Nowhere).then(|| topic("responses/floor")),
            correlation: Some(Bytes::from(request_id)),
        };
        let wants = match asking {
            Asking::Kept | Asking::Nowhere => Wants::Silence,
            Asking::Replay | Asking::ReplayOfAnother | Asking::Snapshot | Asking::Verify => Wants::Answer,
        };
        (message, wants)
    }

    /// Some events of the journal that the floor was told of last, and some beyond it.
    fn replay(&mut self) -> Replay {
        let state = self.retained.get(&topic("state")).cloned();
        let state = state.and_then(|state| TableState::decode(state).ok());
        let head = state.and_then(|state| state.head).unwrap_or_default();
        let some = |drawn: usize| u64::try_from(drawn).unwrap_or(0);
        let newest = usize::try_from(head.seqno).unwrap_or(0);
        let from_seqno = some(self.chance.below(newest + 3));
        let to_seqno = match self.chance.below(2) {
            0 => 0,
            _ => from_seqno + some(self.chance.below(ASKS_FOR)),
        };
        Replay {
            journal_id: head.journal_id,
            from_seqno,
            to_seqno,
        }
    }
}
