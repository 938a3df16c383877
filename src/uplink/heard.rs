//! What the broker says to a session, and what it means: acknowledgements, the own status, requests of the floor.

use super::NotVerified;
use super::alarms::Subject;
use super::delivery::{Entry, width};
use super::desk::Counted;
use super::exchange::{Loss, Message, Signal, Verdict};
use super::farewell::Farewell;
use super::requests::{self, Asked, ReplyTo};
use super::retained::{StatusVerdict, judge_status};
use super::session::{CORRECT_EVERY, Ended, Session};
use crate::failpoint::{Point, pass};
use crate::table::event::{ErrorCode, EventSetAsideReason, SoftwareVerified};
use crate::table::input::Condition;
use tokio::time::Instant;

impl Session<'_> {
    pub(super) fn take_signal(&mut self, signal: Signal) -> Result<(), Ended> {
        let broken = |text: &str| Err(Ended::Lost(Loss::Broken(text.to_owned())));
        match signal {
            Signal::Sent(pkid) => match self.window.sent(pkid) {
                Ok(_) => Ok(()),
                Err(error) => broken(&error.to_string()),
            },
            Signal::Acknowledged(pkid, verdict) => self.acknowledged(pkid, verdict),
            Signal::Message(message) => self.take_message(message),
            Signal::Subscribed(refused) => {
                self.subscribed(&refused);
                Ok(())
            }
            Signal::Disconnected => match self.farewell {
                Farewell::Leaving(_) => Err(Ended::Stopped),
                Farewell::NotYet | Farewell::Draining(_) | Farewell::SayingOffline(_) => broken("disconnected"),
            },
            Signal::Connected(_) => broken("connected twice"),
            Signal::Lost(loss) => match self.farewell {
                // DISCONNECT was handed over: whether it or the end of the connection came first is all the same.
                Farewell::Leaving(_) => Err(Ended::Stopped),
                Farewell::NotYet | Farewell::Draining(_) | Farewell::SayingOffline(_) => Err(Ended::Lost(loss)),
            },
        }
    }

    fn take_message(&mut self, message: Message) -> Result<(), Ended> {
        if message.topic == self.keeper.topics.requests {
            self.take_request(message);
        } else if message.topic == self.keeper.topics.status && self.farewell == Farewell::NotYet {
            self.watch_status(&message)?;
        }
        // States are only looked at before anything is published; what comes here is an echo.
        Ok(())
    }

    /// The own status topic: a foreign status or the own last will ends this connection, a stale one is corrected.
    fn watch_status(&mut self, message: &Message) -> Result<(), Ended> {
        match judge_status(self.number, &message.payload) {
            StatusVerdict::Own => {}
            StatusVerdict::Stale => {
                let now = Instant::now();
                let due = self.corrected_at.map_or(now, |at| now.max(at + CORRECT_EVERY));
                self.status_at = self.status_at.min(due);
                self.corrected_at = Some(due);
            }
            StatusVerdict::GivenUp => {
                let text = "the broker has sent this connection's last will".to_owned();
                return Err(Ended::Lost(Loss::Broken(text)));
            }
            StatusVerdict::Foreign { connection } => {
                self.keeper.foreign_status(connection);
                return Err(Ended::Foreign { connection });
            }
        }
        Ok(())
    }

    pub(super) fn take_request(&mut self, message: Message) {
        let asked = Asked {
            retained: message.retained,
            response_topic: message.response_topic,
            correlation: message.correlation,
            payload: message.payload,
        };
        let outcome = requests::read(&self.keeper.topics, &asked);
        tracing::debug!(?outcome, "request");
        let report = &mut self.keeper.report;
        match self.desk.take(outcome) {
            Counted::Answered => report.requests = report.requests.saturating_add(1),
            Counted::Refused => report.refused_requests = report.refused_requests.saturating_add(1),
            Counted::Neither => {}
        }
        self.keeper.say_soon();
        self.begin_to_verify();
    }

    /// Digests are made beside everything else; they are lost with the connection, though the journal has them.
    fn begin_to_verify(&mut self) {
        let Some((to, seed)) = self.desk.take_to_verify() else {
            return;
        };
        if self.verifying.is_some() {
            self.refuse_to_verify(to, ErrorCode::Busy, "digests are being made: ask again in a minute");
            return;
        }
        self.verifying = Some((to, self.keeper.verifier.verify(seed)));
    }

    pub(super) fn take_verified(&mut self, to: ReplyTo, verified: Result<SoftwareVerified, NotVerified>) {
        match verified {
            Ok(verified) => self.desk.add_verified(to, verified),
            Err(NotVerified { code, text }) => self.refuse_to_verify(to, code, &text),
        }
    }

    fn refuse_to_verify(&mut self, to: ReplyTo, code: ErrorCode, text: &str) {
        self.desk.add_error(to, code, text);
        let report = &mut self.keeper.report;
        report.refused_requests = report.refused_requests.saturating_add(1);
    }

    fn acknowledged(&mut self, pkid: u16, verdict: Verdict) -> Result<(), Ended> {
        let Some(entry) = self.window.in_flight_as(pkid) else {
            let text = format!("acknowledgement of packet {pkid}, which is not in flight");
            return Err(Ended::Lost(Loss::Broken(text)));
        };
        let broker = &self.keeper.report.broker;
        match (entry, verdict) {
            (_, Verdict::Confused) => {
                return Err(Ended::Lost(Loss::Broken("packet identifier in use".to_owned())));
            }
            (Entry::Event(_), Verdict::Refused(name)) => {
                let text = format!("{broker} refuses {}: {name}", self.keeper.topics.events);
                self.keeper.alarms.refused(Subject::Events, broker, text);
                return Err(Ended::EventRefused(name));
            }
            (Entry::Event(seqno), Verdict::PayloadRefused) => {
                self.keeper.report.rejected = self.keeper.report.rejected.saturating_add(1);
                self.set_aside(seqno, EventSetAsideReason::PayloadFormat);
            }
            (Entry::Event(_), Verdict::Taken | Verdict::Unheard) => self.event_taken(verdict),
            (Entry::State, _) => self.retained_answered(Subject::State, verdict),
            (Entry::Status, _) => self.retained_answered(Subject::Status, verdict),
            (Entry::Response, Verdict::Refused(_) | Verdict::PayloadRefused) => {
                let report = &mut self.keeper.report;
                report.refused_requests = report.refused_requests.saturating_add(1);
            }
            (Entry::Response, Verdict::Taken | Verdict::Unheard) => {}
        }
        let lowest = self.window.lowest();
        // It was looked up above.
        let _ = self.window.acknowledged(pkid);
        // A broker that forgets one publish and takes the others is as stuck as one that takes none.
        if self.window.lowest() > lowest {
            self.progress_at = Instant::now();
        }
        self.advance();
        Ok(())
    }

    fn event_taken(&mut self, verdict: Verdict) {
        pass(Point::Acknowledged);
        let report = &mut self.keeper.report;
        report.acknowledged = report.acknowledged.saturating_add(1);
        self.keeper.pace.taken();
        self.keeper.alarms.taken(Subject::Events);
        self.keeper.alarms.taken(Subject::Connection);
        if verdict == Verdict::Unheard {
            let report = &mut self.keeper.report;
            report.unheard = report.unheard.saturating_add(1);
            let text = format!("nobody subscribes to {}", self.keeper.topics.events);
            self.keeper.alarms.raise(Condition::NobodyListening, text);
        } else {
            self.keeper.alarms.clear(Condition::NobodyListening);
        }
        if self.narrow_left > 0 {
            self.narrow_left -= 1;
            if self.narrow_left == 0 {
                self.keeper.one_at_a_time = false;
                self.window.widen(width(self.terms.receive_maximum));
            }
        }
    }

    fn retained_answered(&mut self, subject: Subject, verdict: Verdict) {
        let topic = match subject {
            Subject::State => &self.keeper.topics.state,
            Subject::Status | Subject::Connection | Subject::Subscription | Subject::Events => {
                &self.keeper.topics.status
            }
        };
        let name = match verdict {
            Verdict::Refused(name) => name,
            Verdict::PayloadRefused => "payload format invalid",
            Verdict::Taken | Verdict::Unheard | Verdict::Confused => {
                self.keeper.alarms.taken(subject);
                return;
            }
        };
        let text = format!("{} refuses {topic}: {name}", self.keeper.report.broker);
        let broker = &self.keeper.report.broker;
        self.keeper.alarms.refused(subject, broker, text);
    }
}
