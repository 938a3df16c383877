//! All journals of one table, as a consumer has them, and what it asks the gateway.

use super::envelope::Envelope;
use super::track::Track;
use super::{ASK_AGAIN_AFTER, Finding, Known, MAX_JOURNALS, QUIET, Seqno, Stored, TRIES};
use crate::table::event::{ErrorCode, Head, Predecessor, Response, response};
use crate::time::Uptime;
use std::collections::BTreeMap;

/// Where a consumer without a memory begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begin {
    /// At the first event of each journal: what it missed it asks for.
    AtFirst,
    /// At the first event that it sees.
    AtNext,
}

/// A replay to ask for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ask {
    /// For `Request.request_id`.
    pub request_id: String,
    /// Which journal.
    pub journal_id: String,
    /// From this event.
    pub from_seqno: Seqno,
    /// To this one; 0: the newest.
    pub to_seqno: Seqno,
}

#[derive(Clone, Debug)]
struct Asked {
    ask: Ask,
    at: Uptime,
}

/// A consumer of one table's events.
#[derive(Clone, Debug)]
pub struct Consumer {
    begin: Begin,
    journals: BTreeMap<String, Track>,
    asked: Option<Asked>,
    asks: u64,
}

impl Consumer {
    /// A consumer that has stored nothing.
    #[must_use]
    pub fn new(begin: Begin) -> Self {
        Consumer {
            begin,
            journals: BTreeMap::new(),
            asked: None,
            asks: 0,
        }
    }

    /// A consumer that goes on from what it has stored.
    #[must_use]
    pub fn resume(known: impl IntoIterator<Item = Known>, now: Uptime) -> Self {
        let mut consumer = Consumer::new(Begin::AtFirst);
        for known in known {
            consumer
                .journals
                .insert(known.journal_id.clone(), Track::new(known, now));
        }
        consumer
    }

    /// What is stored of each journal: to be kept for [`Consumer::resume`].
    pub fn known(&self) -> impl Iterator<Item = &Known> {
        self.journals.values().map(|track| &track.known)
    }

    /// Events held for want of those before them.
    #[must_use]
    pub fn held(&self) -> usize {
        self.journals.values().map(Track::held).sum()
    }

    /// Some event is missing at the moment.
    #[must_use]
    pub fn is_missing_any(&self) -> bool {
        self.journals.values().any(Track::is_missing_any)
    }

    /// An event, from the events topic or out of a replay.
    pub fn take(&mut self, now: Uptime, bytes: &[u8], stored: &dyn Stored) -> Vec<Finding> {
        let Some(envelope) = Envelope::read(bytes) else {
            return vec![Finding::Malformed];
        };
        let (journal_id, seqno) = (envelope.journal_id.clone(), envelope.seqno);
        if !self.journals.contains_key(&journal_id) {
            if self.journals.len() >= MAX_JOURNALS {
                return vec![Finding::Unannounced { journal_id }];
            }
            let begins_at = match self.begin {
                Begin::AtNext if self.journals.is_empty() => seqno.saturating_sub(1),
                Begin::AtFirst | Begin::AtNext => 0,
            };
            self.begin_journal(&journal_id, begins_at, now);
        }
        let mut announced = Vec::new();
        let Some(track) = self.journals.get_mut(&journal_id) else {
            return Vec::new();
        };
        track.last_event_at = now;
        let mut findings = track.take(envelope, stored, &mut announced);
        self.heed(now, &journal_id, announced, &mut findings);
        findings
    }

    fn begin_journal(&mut self, journal_id: &str, seqno: Seqno, now: Uptime) {
        let known = Known {
            journal_id: journal_id.to_owned(),
            seqno,
            sha256: None,
        };
        self.journals.insert(journal_id.to_owned(), Track::new(known, now));
    }

    /// The first event of a journal names its predecessor: one that is known, and that then has so many events.
    fn heed(
        &mut self,
        now: Uptime,
        journal_id: &str,
        announced: Vec<Option<Predecessor>>,
        findings: &mut Vec<Finding>,
    ) {
        for predecessor in announced {
            let has_others = self.journals.len() > 1;
            match predecessor {
                Some(predecessor) if self.journals.contains_key(&predecessor.journal_id) => {
                    if let Some(track) = self.journals.get_mut(&predecessor.journal_id) {
                        track.said = track.said.max(predecessor.last_seqno);
                        track.last_event_at = now;
                    }
                }
                Some(_) | None if has_others => findings.push(Finding::Unannounced {
                    journal_id: journal_id.to_owned(),
                }),
                Some(_) | None => {}
            }
        }
    }

    /// A head, from a retained state or status: look at it after every connect.
    pub fn take_head(&mut self, now: Uptime, head: &Head, stored: &dyn Stored) -> Vec<Finding> {
        if head.journal_id.is_empty() || head.seqno == 0 {
            return Vec::new();
        }
        if !self.journals.contains_key(&head.journal_id) {
            if self.begin == Begin::AtNext || self.journals.len() >= MAX_JOURNALS {
                return Vec::new();
            }
            self.begin_journal(&head.journal_id, 0, now);
        }
        let Some(track) = self.journals.get_mut(&head.journal_id) else {
            return Vec::new();
        };
        track.said = track.said.max(head.seqno);
        if head.seqno > track.known.seqno {
            return Vec::new();
        }
        let own = (head.seqno == track.known.seqno)
            .then_some(track.known.sha256)
            .flatten();
        match own.or_else(|| stored.sha256(&head.journal_id, head.seqno)) {
            Some(sha256) if sha256[..] != head.sha256[..] => vec![Finding::HeadDiffers {
                journal_id: head.journal_id.clone(),
                seqno: head.seqno,
            }],
            Some(_) | None => Vec::new(),
        }
    }

    /// An answer. One to another request is nothing.
    pub fn take_answer(&mut self, now: Uptime, answer: &Response, stored: &dyn Stored) -> Vec<Finding> {
        let Some(asked) = self
            .asked
            .as_mut()
            .filter(|asked| asked.ask.request_id == answer.request_id)
        else {
            return Vec::new();
        };
        // An answer that comes piece by piece is not given up.
        asked.at = now;
        let ask = asked.ask.clone();
        match &answer.response {
            Some(response::Response::Event(bytes)) => self.take(now, bytes, stored),
            Some(response::Response::ReplayDone(done)) => {
                self.asked = None;
                self.replayed(now, &ask, done.oldest, done.newest)
            }
            Some(response::Response::Error(error)) if error.code() == ErrorCode::UnknownJournal => {
                self.asked = None;
                self.journal_is_gone(now, &ask.journal_id)
            }
            // Busy, or not ready: asked again later.
            Some(response::Response::Error(_) | response::Response::Snapshot(_)) | None => Vec::new(),
        }
    }

    fn replayed(&mut self, now: Uptime, ask: &Ask, oldest: Seqno, newest: Seqno) -> Vec<Finding> {
        let Some(track) = self.journals.get_mut(&ask.journal_id) else {
            return Vec::new();
        };
        let mut announced = Vec::new();
        let mut findings = Vec::new();
        if oldest > track.next() {
            findings = track.give_up_before(oldest, &mut announced);
        } else if track.next() == ask.from_seqno {
            track.fruitless = track.fruitless.saturating_add(1);
            if track.fruitless >= TRIES {
                let end = track.first_held().unwrap_or_else(|| newest.saturating_add(1));
                findings = track.give_up_before(end, &mut announced);
                // A head that promised more than the journal has was looked at; it is not asked for for ever.
                track.said = track.first_held().map_or(track.known.seqno, |_| track.said);
            }
        }
        // A replay brings a thousand events at most: the rest is asked for at once.
        track.is_catching_up = track.next() > ask.from_seqno;
        self.heed(now, &ask.journal_id, announced, &mut findings);
        findings
    }

    /// The gateway no longer has the journal: what is held of it goes on behind a permanent gap.
    fn journal_is_gone(&mut self, now: Uptime, journal_id: &str) -> Vec<Finding> {
        let Some(track) = self.journals.get_mut(journal_id) else {
            return Vec::new();
        };
        let mut announced = Vec::new();
        let end = track.first_held().unwrap_or_else(|| track.said.saturating_add(1));
        let mut findings = track.give_up_before(end, &mut announced);
        self.heed(now, journal_id, announced, &mut findings);
        findings
    }

    /// The replay to ask for now, if any: one at a time.
    pub fn ask(&mut self, now: Uptime) -> Option<Ask> {
        if let Some(asked) = &self.asked {
            if now.since(asked.at) < ASK_AGAIN_AFTER {
                return None;
            }
            self.asked = None;
        }
        let due = |track: &&Track| track.is_missing_any() && asks_at(track) <= now;
        let track = self.journals.values().find(due)?;
        self.asks = self.asks.saturating_add(1);
        let ask = Ask {
            request_id: format!("replay-{}", self.asks),
            journal_id: track.known.journal_id.clone(),
            from_seqno: track.next(),
            to_seqno: track.first_held().map_or(0, |held| held.saturating_sub(1)),
        };
        self.asked = Some(Asked {
            ask: ask.clone(),
            at: now,
        });
        Some(ask)
    }

    /// When [`Consumer::ask`] should be called next; `None`: nothing is missing.
    #[must_use]
    pub fn looks_at(&self) -> Option<Uptime> {
        if let Some(asked) = &self.asked {
            return Some(asked.at + ASK_AGAIN_AFTER);
        }
        let missing = self.journals.values().filter(|track| track.is_missing_any());
        missing.map(asks_at).min()
    }

    /// The connection was lost: what was asked for will not be answered.
    pub fn disconnected(&mut self) {
        self.asked = None;
    }
}

/// What is held shows a gap; what only a head says may still be on its way.
fn asks_at(track: &Track) -> Uptime {
    if track.is_catching_up || track.first_held().is_some() {
        Uptime::ZERO
    } else {
        track.last_event_at + QUIET
    }
}
