//! What the floor may ask. PURE.
//!
//! No request changes play. What is malformed, too large, unknown or too much is answered with an `Error` where the asker
//! left a topic that answers may go to, and counted either way; it never costs the connection.

use super::topic::{ResponseTopicError, Topics};
use crate::journal::Seqno;
use crate::table::event::{Error, ErrorCode, Request, Response, SoftwareVerified, TableState, request, response};
use prost::Message;
use prost::bytes::Bytes;

/// A request is an id, a UUID and two numbers; ten times that leaves room for fields of later versions.
pub const MAX_REQUEST: usize = 1024;
/// An event (8 KiB), its topic and this stay below 16 KiB, which every broker here must take.
pub const MAX_CORRELATION: usize = 4096;
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

pub(super) fn error(code: ErrorCode, text: String) -> Error {
    Error {
        code: code.into(),
        text,
    }
}

fn is_request_id(id: &str) -> bool {
    !id.is_empty() && id.chars().count() <= MAX_REQUEST_ID && !id.chars().any(char::is_control)
}

impl ReplyTo {
    /// What is kept of what the asker sent.
    pub(super) fn kept_bytes(&self) -> usize {
        self.topic.len() + self.request_id.len() + self.correlation.as_ref().map_or(0, Bytes::len)
    }

    pub(super) fn answer(&self, response: response::Response) -> Response {
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::table::event::{Replay, Snapshot};

    pub(in crate::uplink) fn topics() -> Topics {
        Topics::new("p", &[])
    }

    pub(in crate::uplink) fn asked(request: &Request) -> Asked {
        Asked {
            retained: false,
            response_topic: Some("p/responses/me".to_owned()),
            correlation: Some(Bytes::from_static(b"c")),
            payload: request.encode_to_vec().into(),
        }
    }

    pub(in crate::uplink) fn replay(from: u64, to: u64) -> Request {
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
}
