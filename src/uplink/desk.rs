//! In which turn requests are answered: short answers first, then one replay after the other, all within bounds. PURE.

use super::requests::{Ask, Outcome, ReplyTo, error};
use crate::journal::Seqno;
use crate::table::event::{Error, ErrorCode, ReplayDone, Response, SoftwareVerified, response};
use std::collections::VecDeque;

/// Replays that wait behind the one that runs. More are `busy`: an asker asks again.
pub const MAX_WAITING_REPLAYS: usize = 4;
/// Events of one replay. An asker asks again from the next one.
pub const MAX_REPLAY: u64 = 1000;
/// Short answers (snapshots, errors) that wait for a place in the window: every table of a large floor's dashboards asking at once.
/// More are dropped and counted; they can't be refused, for an error is a short answer as well.
pub const MAX_WAITING_ANSWERS: usize = 1024;
/// Bytes of topics, correlation data and ids that those may keep, so that askers with long ones can't fill the memory either.
pub const MAX_WAITING_ANSWER_BYTES: usize = 256 * 1024;
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uplink::requests::tests::{asked, replay, topics};
    use crate::uplink::requests::{MAX_CORRELATION, read};
    use prost::bytes::Bytes;

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
        assert_eq!(desk.pop_short(), None);
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
