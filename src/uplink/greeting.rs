//! The beginning of a session: connect, check the broker's terms, subscribe, and look at what it has kept. Publishes nothing.

use super::UplinkState;
use super::alarms::Subject;
use super::broker::{CONNECT_WITHIN, POLL_GRACE};
use super::delivery::width;
use super::exchange::{KeptMessages, Loss, Message, Quality, Signal, Subscription, Terms};
use super::reading::answer;
use super::retained::{StateVerdict, StatusVerdict, judge_state, judge_status};
use super::session::{Ended, STALLED_AFTER, Session, stalled};
use super::waiting::{asked_to_stop, at, tell};
use crate::table::event::Head;
use prost::bytes::Bytes;
use std::future::poll_fn;
use std::time::Duration;
use tokio::time::Instant;

/// Every broker for this must take an event of 8 KiB as an answer to a request, with its topic and correlation data.
pub const MIN_MAX_PACKET: u32 = 16 * 1024;
/// A broker that has kept a state sends it right after the subscription; when none has come for so long there is none.
pub const RETAINED_WITHIN: Duration = Duration::from_millis(300);

impl Session<'_> {
    /// Connects, subscribes, and looks at what the broker has kept, before anything is published.
    pub(super) async fn greet(&mut self) -> Result<(), Ended> {
        self.terms = self.connected().await?;
        self.keeper.certificates_taken();
        self.check_terms()?;
        if self.narrow_left == 0 {
            self.window.widen(width(self.terms.receive_maximum));
        }
        self.keeper.set_state(UplinkState::Greeting);
        let topics = &self.keeper.topics;
        let kept = |filter: &String| Subscription {
            filter: filter.clone(),
            retained: KeptMessages::Wanted,
            quality: Quality::AtMostOnce,
        };
        self.connection
            .subscribe(&[kept(&topics.status), kept(&topics.state)])?;
        // Answered after the kept messages of the first: brokers work through one client's packets in their order.
        self.connection.subscribe(&[Subscription {
            filter: topics.requests.clone(),
            retained: KeptMessages::Never,
            quality: Quality::AtLeastOnce,
        }])?;
        if let Some(found) = self.retained_state().await? {
            self.judge(&found).await?;
        }
        Ok(())
    }

    async fn connected(&mut self) -> Result<Terms, Ended> {
        let until = Instant::now() + CONNECT_WITHIN + POLL_GRACE + POLL_GRACE;
        match self.greeting(Some(until)).await? {
            Some(Signal::Connected(terms)) => Ok(terms),
            Some(other) => Err(Ended::Lost(Loss::Broken(format!(
                "{other:?} before the connection was made"
            )))),
            None => Err(Ended::Lost(Loss::Broken("no connection in time".to_owned()))),
        }
    }

    fn check_terms(&mut self) -> Result<(), Ended> {
        let refused = |text: String| Err(Ended::Lost(Loss::Refused(text)));
        if let Some(max) = self.terms.max_packet.filter(|max| *max < MIN_MAX_PACKET) {
            return refused(format!(
                "the broker's Maximum Packet Size is {max}: at least {MIN_MAX_PACKET} is needed"
            ));
        }
        if !self.terms.retains {
            return refused("the broker keeps no retained messages".to_owned());
        }
        if !self.terms.takes_qos1 {
            return refused("the broker takes no QoS 1".to_owned());
        }
        Ok(())
    }

    /// The next signal of the greeting; `None` when the time is up.
    async fn greeting(&mut self, until: Option<Instant>) -> Result<Option<Signal>, Ended> {
        loop {
            let keeper = &mut *self.keeper;
            // A broker that sends without end must not hide that the time is up, or that the gateway stops.
            tokio::select! {
                biased;
                () = asked_to_stop(&mut keeper.stopping) => return Err(Ended::Stopped),
                permit = keeper.notices.reserve(), if keeper.alarms.has_news() => tell(permit, &mut keeper.alarms),
                () = at(until) => return Ok(None),
                signal = poll_fn(|cx| self.connection.poll_next(cx)) => return match signal {
                    Signal::Lost(loss) => Err(Ended::Lost(loss)),
                    signal @ (Signal::Connected(_)
                    | Signal::Subscribed(_)
                    | Signal::Sent(_)
                    | Signal::Acknowledged(..)
                    | Signal::Message(_)
                    | Signal::Disconnected) => Ok(Some(signal)),
                },
            }
        }
    }

    /// The retained state of the own topic, once the broker has sent all it kept.
    async fn retained_state(&mut self) -> Result<Option<Bytes>, Ended> {
        let mut answers: usize = 0;
        let mut until = Instant::now() + STALLED_AFTER;
        loop {
            let Some(signal) = self.greeting(Some(until)).await? else {
                let is_answered = answers == 2;
                return if is_answered { Ok(None) } else { Err(stalled()) };
            };
            match signal {
                Signal::Subscribed(refused) => {
                    answers = answers.saturating_add(1);
                    self.subscribed(&refused);
                    if answers == 2 {
                        until = Instant::now() + RETAINED_WITHIN;
                    }
                }
                Signal::Message(message) if message.topic == self.keeper.topics.state => {
                    if message.retained {
                        return Ok(Some(message.payload));
                    }
                }
                Signal::Message(message) if message.topic == self.keeper.topics.status => {
                    self.look_for_foreign(&message)?;
                }
                Signal::Message(message) => self.take_request(message),
                Signal::Connected(_) | Signal::Sent(_) | Signal::Acknowledged(..) | Signal::Disconnected => {
                    return Err(Ended::Lost(Loss::Broken("unexpected packet".to_owned())));
                }
                Signal::Lost(loss) => return Err(Ended::Lost(loss)),
            }
        }
    }

    /// A number that isn't lower is outbid before anything is published. At the start of the daemon that is a counter that was
    /// lost with a disk; later it is somebody else.
    fn look_for_foreign(&mut self, message: &Message) -> Result<(), Ended> {
        let connection = match judge_status(self.number, &message.payload) {
            StatusVerdict::Foreign { connection } => connection,
            // Nobody had this number yet: it is of a run whose counter was lost.
            StatusVerdict::GivenUp => self.number,
            StatusVerdict::Own | StatusVerdict::Stale => return Ok(()),
        };
        if self.keeper.was_online {
            self.keeper.foreign_status(connection);
        }
        Err(Ended::Foreign { connection })
    }

    pub(super) fn subscribed(&mut self, refused: &[&'static str]) {
        match refused.first() {
            Some(name) => {
                let text = format!("{} refuses a subscription: {name}", self.keeper.report.broker);
                let broker = &self.keeper.report.broker;
                self.keeper.alarms.refused(Subject::Subscription, broker, text);
            }
            // Of two answers the second must not end what the first has raised.
            None if !self.keeper.alarms.is_refused(Subject::Subscription) => {}
            None => self.keeper.subscriptions_taken(),
        }
    }

    /// Compares what the floor was told with the journal.
    async fn judge(&mut self, payload: &[u8]) -> Result<(), Ended> {
        let Some(journal) = &self.keeper.journal else {
            return Ok(());
        };
        let ours = self.keeper.head.borrow().clone();
        match judge_state(&ours, &journal.ancestry, payload) {
            StateVerdict::Consistent => Ok(()),
            StateVerdict::RolledBack(found) => Err(Ended::RolledBack(found)),
            StateVerdict::IfEventIs { seqno, sha256 } => {
                let mut coming = Some(journal.reading.page(journal.in_use, seqno, seqno, 1));
                let read = answer(&mut coming).await;
                let read = read.map_err(|error| Ended::Lost(Loss::Broken(error.to_string())))?;
                match read.records.first() {
                    Some(record) if record.seqno == seqno && record.sha256[..] != sha256[..] => {
                        Err(Ended::RolledBack(Head {
                            journal_id: ours.journal_id,
                            seqno,
                            sha256,
                        }))
                    }
                    Some(_) | None => Ok(()),
                }
            }
        }
    }
}
