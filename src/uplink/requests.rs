//! What the floor may ask, and in which turn it is answered. PURE.
//!
//! No request changes play. What is malformed, too large, unknown or too much is answered with an `Error` where the asker
//! left a topic that answers may go to, and counted either way; it never costs the connection.

use super::topic::{ResponseTopicError, Topics};
use crate::journal::Seqno;
use crate::table::event::{
    Error, ErrorCode, ReplayDone, Request, Response, SoftwareVerified, TableState, request, response,
};
use prost::Message;
use prost::bytes::Bytes;
use std::collections::VecDeque;

/// A request is an id, a UUID and two numbers; ten times that leaves room for fields of later versions.
pub const MAX_REQUEST: usize = 1024;
/// An event (8 KiB), its topic and this stay below 16 KiB, which every broker here must take.
pub const MAX_CORRELATION: usize = 4096;
/// Replays that wait behind the one that runs. More are `busy`: an asker asks again.
pub const MAX_WAITING_REPLAYS: usize = 4;
/// Events of one replay. An asker asks again from the next one.
pub const MAX_REPLAY: u64 = 1000;
/// Short answers (snapshots, errors) that wait for a place in the window: every table of a large floor's dashboards asking at once.
/// More are dropped and counted; they can't be refused, for an error is a short answer as well.
pub const MAX_WAITING_ANSWERS: usize = 1024;
/// Bytes of topics, correlation data and ids that those may keep, so that askers with long ones can't fill the memory either.
pub const MAX_WAITING_ANSWER_BYTES: usize = 256 * 1024;
/// Longest `request_id`, in characters.
pub const MAX_REQUEST_ID: usize = 36;

/// A message on the requests topic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// It was retained at the broker: nobody asks this now.
    pub retained: bool,
    /// Where the answer should go.
    pub response_topic: Option<String>,
    /// Copied into the answer.
    pub correlation: Option<Bytes>,
    /// An encoded `Request`.
    pub payload: Bytes,
}

/// Where an answer goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplyTo {
    /// Checked: under an allowed prefix.
    pub topic: String,
    /// As the asker gave it.
    pub correlation: Option<Bytes>,
    /// As the asker gave it; empty when it could not be read.
    pub request_id: String,
}

/// A request that will be answered with what it asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ask {
    /// Events as they were journalled.
    Replay {
        /// UUID of the journal.
        journal_id: String,
        /// From this one.
        from: Seqno,
        /// To this one; 0: the newest.
        to: Seqno,
    },
    /// The table's state.
    Snapshot,
    /// Digests of everything that runs.
    Verify {
        /// What goes before each thing that is digested.
        seed: Vec<u8>,
    },
}

/// What a message on the requests topic comes to.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// Retained: nobody asks.
    Ignored,
    /// There is nowhere to answer to; counted.
    Unanswerable(Unanswerable),
    /// Answered with an error; counted.
    Refused(ReplyTo, Error),
    /// To be answered.
    Accepted(ReplyTo, Ask),
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unanswerable {
    /// The request names no response topic.
    #[error("a request without a response topic")]
    NoResponseTopic,
    /// The response topic is not allowed.
    #[error(transparent)]
    ResponseTopic(#[from] ResponseTopicError),
}

/// Reads a request.
#[must_use]
pub fn read(topics: &Topics, asked: &Asked) -> Outcome {
    if asked.retained {
        return Outcome::Ignored;
    }
    let Some(topic) = &asked.response_topic else {
        return Outcome::Unanswerable(Unanswerable::NoResponseTopic);
    };
    if let Err(error) = topics.check_response(topic) {
        return Outcome::Unanswerable(error.into());
    }
    let mut reply = ReplyTo {
        topic: topic.clone(),
        correlation: asked.correlation.clone(),
        request_id: String::new(),
    };
    if reply
        .correlation
        .as_ref()
        .is_some_and(|data| data.len() > MAX_CORRELATION)
    {
        reply.correlation = None;
        let text = format!("correlation data has at most {MAX_CORRELATION} bytes");
        return refuse(reply, ErrorCode::TooLarge, text);
    }
    if asked.payload.len() > MAX_REQUEST {
        return refuse(
            reply,
            ErrorCode::TooLarge,
            format!("a request has at most {MAX_REQUEST} bytes"),
        );
    }
    let Ok(request) = Request::decode(asked.payload.as_ref()) else {
        return refuse(reply, ErrorCode::Malformed, "not a tablegate.v1.Request".to_owned());
    };
    if !is_request_id(&request.request_id) {
        let text = format!("request_id is 1 to {MAX_REQUEST_ID} printable characters");
        return refuse(reply, ErrorCode::Malformed, text);
    }
    reply.request_id = request.request_id;
    match request.request {
        Some(request::Request::Replay(replay)) => Outcome::Accepted(
            reply,
            Ask::Replay {
                journal_id: replay.journal_id,
                from: replay.from_seqno.max(1),
                to: replay.to_seqno,
            },
        ),
        Some(request::Request::Snapshot(_)) => Outcome::Accepted(reply, Ask::Snapshot),
        Some(request::Request::VerifySoftware(verify)) => Outcome::Accepted(reply, Ask::Verify { seed: verify.seed }),
        None => refuse(
            reply,
            ErrorCode::UnknownRequest,
            "a request this version doesn't know".to_owned(),
        ),
    }
}

fn refuse(reply: ReplyTo, code: ErrorCode, text: String) -> Outcome {
    Outcome::Refused(reply, error(code, text))
}

fn error(code: ErrorCode, text: String) -> Error {
    Error {
        code: code.into(),
        text,
    }
}

fn is_request_id(id: &str) -> bool {
    !id.is_empty() && id.chars().count() <= MAX_REQUEST_ID && !id.chars().any(char::is_control)
}

/// A replay that runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replaying {
    /// Where its events go.
    pub to: ReplyTo,
    /// Which journal.
    pub journal_id: String,
    /// The next event to read.
    next: Seqno,
    /// The last one to send, once what the journal holds is known.
    last: Seqno,
    /// What the journal holds; `None`: not asked yet.
    held: Option<(Seqno, Seqno)>,
    sent_through: Seqno,
}

impl Replaying {
    /// What the journal holds is known: the range is clipped to it and to [`MAX_REPLAY`] events.
    pub fn clip(&mut self, oldest: Seqno, newest: Seqno) {
        let wanted = if self.last == 0 { newest } else { self.last };
        self.next = self.next.max(oldest);
        self.last = wanted.min(newest).min(self.next.saturating_add(MAX_REPLAY - 1));
        self.held = Some((oldest, newest));
    }

    /// The events that are still to be read, first and last; `None` before [`Replaying::clip`] and when all are.
    #[must_use]
    pub fn remaining(&self) -> Option<(Seqno, Seqno)> {
        (self.held.is_some() && self.next <= self.last).then_some((self.next, self.last))
    }

    /// What the journal holds is not known yet.
    #[must_use]
    pub fn is_unclipped(&self) -> bool {
        self.held.is_none()
    }

    /// A page was read, and reading goes on at `next`; `false` when that is no progress.
    #[must_use]
    pub fn goes_on_at(&mut self, next: Seqno) -> bool {
        let is_progress = next > self.next;
        self.next = self.next.max(next);
        is_progress
    }

    /// The event's answer.
    #[must_use]
    pub fn event(&mut self, seqno: Seqno, bytes: Vec<u8>) -> Response {
        self.sent_through = seqno;
        self.to.answer(response::Response::Event(bytes))
    }

    /// The last answer.
    #[must_use]
    pub fn done(&self) -> Response {
        let (oldest, newest) = self.held.unwrap_or((0, 0));
        self.to.answer(response::Response::ReplayDone(ReplayDone {
            oldest,
            newest,
            through_seqno: self.sent_through,
        }))
    }
}

impl ReplyTo {
    /// What is kept of what the asker sent.
    fn kept_bytes(&self) -> usize {
        self.topic.len() + self.request_id.len() + self.correlation.as_ref().map_or(0, Bytes::len)
    }

    fn answer(&self, response: response::Response) -> Response {
        Response {
            request_id: self.request_id.clone(),
            response: Some(response),
        }
    }

    /// An error as the answer.
    #[must_use]
    pub fn error(&self, code: ErrorCode, text: &str) -> Response {
        self.answer(response::Response::Error(error(code, text.to_owned())))
    }

    /// Digests as the answer.
    #[must_use]
    pub fn verified(&self, verified: SoftwareVerified) -> Response {
        self.answer(response::Response::SoftwareVerified(verified))
    }

    /// The table's state as the answer.
    #[must_use]
    pub fn snapshot(&self, state: TableState) -> Response {
        self.answer(response::Response::Snapshot(state))
    }
}

/// A short answer that waits for a place in the window.
#[derive(Clone, PartialEq, Debug)]
pub enum Short {
    /// An error.
    Error(Error),
    /// The state, as it is when the answer goes out.
    Snapshot,
    /// Digests.
    Verified(Box<SoftwareVerified>),
}

/// Counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counted {
    /// It will be answered with what it asks for.
    Answered,
    /// It won't.
    Refused,
    /// It was none.
    Neither,
}

/// What waits to be answered on one connection.
#[derive(Clone, Default, Debug)]
pub struct Desk {
    short: VecDeque<(ReplyTo, Short)>,
    /// What `short` keeps of what askers sent.
    short_bytes: usize,
    /// The replay that runs.
    pub replay: Option<Replaying>,
    waiting: VecDeque<Replaying>,
    /// Digests that are asked for, and nobody makes yet.
    to_verify: Option<(ReplyTo, Vec<u8>)>,
}

impl Desk {
    /// Takes a request in, or refuses it for want of room.
    pub fn take(&mut self, outcome: Outcome) -> Counted {
        match outcome {
            Outcome::Ignored => Counted::Neither,
            Outcome::Unanswerable(_) => Counted::Refused,
            Outcome::Refused(reply, error) => {
                self.add_short(reply, Short::Error(error));
                Counted::Refused
            }
            Outcome::Accepted(reply, Ask::Snapshot) => self.add_short(reply, Short::Snapshot),
            Outcome::Accepted(reply, Ask::Verify { seed }) => {
                // Whoever makes digests says whether it is time for them.
                self.to_verify = Some((reply, seed));
                Counted::Answered
            }
            Outcome::Accepted(reply, Ask::Replay { journal_id, from, to }) => {
                if self.waiting.len() >= MAX_WAITING_REPLAYS {
                    let text = format!("{MAX_WAITING_REPLAYS} replays are waiting: ask again later");
                    self.add_short(reply, Short::Error(error(ErrorCode::Busy, text)));
                    return Counted::Refused;
                }
                self.waiting.push_back(Replaying {
                    to: reply,
                    journal_id,
                    next: from,
                    last: to,
                    held: None,
                    sent_through: 0,
                });
                self.begin_next();
                Counted::Answered
            }
        }
    }

    fn add_short(&mut self, reply: ReplyTo, short: Short) -> Counted {
        let bytes = reply.kept_bytes();
        if self.short.len() >= MAX_WAITING_ANSWERS || self.short_bytes + bytes > MAX_WAITING_ANSWER_BYTES {
            return Counted::Refused;
        }
        self.short_bytes += bytes;
        self.short.push_back((reply, short));
        Counted::Answered
    }

    /// An error as the answer, if there is room for one.
    pub fn add_error(&mut self, to: ReplyTo, code: ErrorCode, text: &str) {
        self.add_short(to, Short::Error(error(code, text.to_owned())));
    }

    /// Digests as the answer, if there is room for one.
    pub fn add_verified(&mut self, to: ReplyTo, verified: SoftwareVerified) {
        self.add_short(to, Short::Verified(Box::new(verified)));
    }

    /// The digests that somebody has to make now.
    pub fn take_to_verify(&mut self) -> Option<(ReplyTo, Vec<u8>)> {
        self.to_verify.take()
    }

    fn begin_next(&mut self) {
        if self.replay.is_none() {
            self.replay = self.waiting.pop_front();
        }
    }

    /// The replay that runs is over; the next one begins.
    pub fn end_replay(&mut self) {
        self.replay = None;
        self.begin_next();
    }

    /// The next short answer: they go before events of a replay.
    pub fn pop_short(&mut self) -> Option<(ReplyTo, Short)> {
        let (reply, short) = self.short.pop_front()?;
        self.short_bytes -= reply.kept_bytes();
        Some((reply, short))
    }

    /// A short answer waits.
    #[must_use]
    pub fn has_short(&self) -> bool {
        !self.short.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::event::{Replay, Snapshot};

    fn topics() -> Topics {
        Topics::new("p", &[])
    }

    fn asked(request: &Request) -> Asked {
        Asked {
            retained: false,
            response_topic: Some("p/responses/me".to_owned()),
            correlation: Some(Bytes::from_static(b"c")),
            payload: request.encode_to_vec().into(),
        }
    }

    fn replay(from: u64, to: u64) -> Request {
        Request {
            request_id: "r1".to_owned(),
            request: Some(request::Request::Replay(Replay {
                journal_id: "j".to_owned(),
                from_seqno: from,
                to_seqno: to,
            })),
        }
    }

    fn reply(request_id: &str) -> ReplyTo {
        ReplyTo {
            topic: "p/responses/me".to_owned(),
            correlation: Some(Bytes::from_static(b"c")),
            request_id: request_id.to_owned(),
        }
    }

    fn code_of(outcome: &Outcome) -> Option<ErrorCode> {
        match outcome {
            Outcome::Refused(_, error) => Some(error.code()),
            Outcome::Ignored | Outcome::Unanswerable(_) | Outcome::Accepted(..) => None,
        }
    }

    #[test]
    fn what_may_be_asked_is_accepted() {
        assert_eq!(
            read(&topics(), &asked(&replay(0, 7))),
            Outcome::Accepted(
                reply("r1"),
                Ask::Replay {
                    journal_id: "j".to_owned(),
                    from: 1,
                    to: 7
                }
            )
        );
        let snapshot = Request {
            request_id: "x".repeat(36),
            request: Some(request::Request::Snapshot(Snapshot {})),
        };
        assert_eq!(
            read(&topics(), &asked(&snapshot)),
            Outcome::Accepted(reply(&"x".repeat(36)), Ask::Snapshot)
        );
    }

    #[test]
    fn a_retained_request_is_ignored_even_when_it_is_malformed() {
        let mut request = asked(&replay(1, 0));
        request.retained = true;
        request.payload = Bytes::from_static(&[0xff]);
        assert_eq!(read(&topics(), &request), Outcome::Ignored);
    }

    #[test]
    fn without_a_topic_that_answers_may_go_to_there_is_no_answer() {
        for (topic, expected) in [
            (None, Unanswerable::NoResponseTopic),
            (
                Some("p/status"),
                Unanswerable::ResponseTopic(ResponseTopicError::Elsewhere),
            ),
            (
                Some("p/responses/#"),
                Unanswerable::ResponseTopic(ResponseTopicError::Wildcard),
            ),
        ] {
            let mut request = asked(&replay(1, 0));
            request.response_topic = topic.map(str::to_owned);
            assert_eq!(read(&topics(), &request), Outcome::Unanswerable(expected));
        }
    }

    #[test]
    fn what_is_malformed_too_large_or_unknown_gets_an_error() {
        let with_id = |id: &str| Request {
            request_id: id.to_owned(),
            request: Some(request::Request::Snapshot(Snapshot {})),
        };
        let raw = |payload: Vec<u8>| Asked {
            payload: payload.into(),
            ..asked(&replay(1, 0))
        };
        let future_request = [vec![0x0a, 1, b'a'], vec![0x7a, 0]].concat();
        for (request, expected) in [
            (raw(vec![0xff, 0xff]), ErrorCode::Malformed),
            (raw(vec![]), ErrorCode::Malformed),
            (raw(vec![0; MAX_REQUEST + 1]), ErrorCode::TooLarge),
            (asked(&with_id("")), ErrorCode::Malformed),
            (asked(&with_id(&"x".repeat(37))), ErrorCode::Malformed),
            (asked(&with_id("a\nb")), ErrorCode::Malformed),
            (raw(future_request), ErrorCode::UnknownRequest),
        ] {
            let outcome = read(&topics(), &request);
            assert_eq!(code_of(&outcome), Some(expected), "{request:?} gave {outcome:?}");
        }
        let mut long = asked(&replay(1, 0));
        long.correlation = Some(vec![0; MAX_CORRELATION + 1].into());
        assert_eq!(code_of(&read(&topics(), &long)), Some(ErrorCode::TooLarge));
    }

    #[test]
    fn an_id_that_could_be_read_is_in_the_error() {
        let unknown = Request {
            request_id: "r9".to_owned(),
            request: None,
        };
        let outcome = read(&topics(), &asked(&unknown));
        let Outcome::Refused(to, _) = outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!(to, reply("r9"));
    }

    #[test]
    fn a_replay_is_clipped_to_what_is_there_and_to_a_thousand() {
        for ((from, to), (oldest, newest), expected) in [
            ((1, 0), (1, 10), Some((1, 10))),
            ((3, 5), (1, 10), Some((3, 5))),
            ((1, 99), (4, 10), Some((4, 10))),
            ((11, 0), (1, 10), None),
            ((5, 3), (1, 10), None),
            ((1, 0), (1, 5000), Some((1, 1000))),
            ((2000, 4000), (1, 5000), Some((2000, 2999))),
            ((u64::MAX, u64::MAX), (1, u64::MAX), Some((u64::MAX, u64::MAX))),
            ((1, 0), (0, 0), None),
        ] {
            let mut desk = Desk::default();
            desk.take(read(&topics(), &asked(&replay(from, to))));
            let replaying = desk.replay.as_mut().unwrap();
            assert_eq!(replaying.remaining(), None, "nothing before the journal was asked");
            replaying.clip(oldest, newest);
            assert_eq!(
                replaying.remaining(),
                expected,
                "{from} to {to} of {oldest} to {newest}"
            );
        }
    }

    #[test]
    fn a_replay_ends_with_what_the_journal_holds() {
        let mut desk = Desk::default();
        desk.take(read(&topics(), &asked(&replay(2, 3))));
        let replaying = desk.replay.as_mut().unwrap();
        replaying.clip(1, 9);
        let first = replaying.event(2, vec![7]);
        assert_eq!(first.request_id, "r1");
        assert_eq!(first.response, Some(response::Response::Event(vec![7])));
        let _ = replaying.event(3, vec![8]);
        assert!(replaying.goes_on_at(4));
        assert!(!replaying.goes_on_at(4));
        assert_eq!(replaying.remaining(), None);
        assert_eq!(
            replaying.done().response,
            Some(response::Response::ReplayDone(ReplayDone {
                oldest: 1,
                newest: 9,
                through_seqno: 3
            }))
        );
    }

    #[test]
    fn one_replay_runs_four_wait_and_the_next_is_busy() {
        let mut desk = Desk::default();
        for _ in 0..=MAX_WAITING_REPLAYS {
            assert_eq!(desk.take(read(&topics(), &asked(&replay(1, 0)))), Counted::Answered);
        }
        assert!(!desk.has_short());
        assert_eq!(desk.take(read(&topics(), &asked(&replay(1, 0)))), Counted::Refused);
        match desk.pop_short() {
            Some((to, Short::Error(error))) => {
                assert_eq!((to.request_id.as_str(), error.code()), ("r1", ErrorCode::Busy));
            }
            other => panic!("{other:?}"),
        }
        for _ in 0..MAX_WAITING_REPLAYS {
            desk.end_replay();
            assert!(desk.replay.is_some());
        }
        desk.end_replay();
        assert!(desk.replay.is_none());
    }

    #[test]
    fn a_flood_is_bounded() {
        let mut desk = Desk::default();
        let mut bad = asked(&replay(1, 0));
        bad.payload = Bytes::from_static(&[0xff]);
        for _ in 0..5000 {
            assert_eq!(desk.take(read(&topics(), &bad)), Counted::Refused);
        }
        let waiting = std::iter::from_fn(|| desk.pop_short()).count();
        assert_eq!(waiting, MAX_WAITING_ANSWERS);
        // Long correlation data fill the room sooner.
        bad.correlation = Some(vec![0; MAX_CORRELATION].into());
        for _ in 0..2 {
            for _ in 0..5000 {
                desk.take(read(&topics(), &bad));
            }
            let waiting = std::iter::from_fn(|| desk.pop_short()).count();
            assert_eq!(
                waiting,
                MAX_WAITING_ANSWER_BYTES / (MAX_CORRELATION + "p/responses/me".len())
            );
        }
    }
}
