//! All journals of one table, as a consumer has them, and what it asks the gateway.

use super::envelope::Envelope;
use super::track::{Began, Track};
use super::{
    ASK_AGAIN_AFTER, Beginning, Context, Finding, Known, MAX_HELD, MAX_JOURNAL_ID_BYTES, MAX_JOURNALS, QUIET, Seqno,
    Stored, Succession, TRIES, lineage,
};
use crate::signing::Keys;
use crate::table::event::{ErrorCode, Head, JournalStarted, JournalStartedReason, Predecessor, Response, response};
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
    /// The newest event that the journal was said to have when this was asked.
    said: Seqno,
    /// The last event held then.
    held: Option<Seqno>,
}

/// A consumer of one table's events.
#[derive(Clone, Debug)]
pub struct Consumer {
    begin: Begin,
    journals: BTreeMap<String, Track>,
    keys: Keys,
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
            keys: Keys::new(),
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

    /// Checkpoints must be signed by one of these keys. Without any, signatures are not looked at.
    #[must_use]
    pub fn with_keys(mut self, keys: Keys) -> Self {
        self.keys = keys;
        self
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
            let begins_at = match self.begin {
                Begin::AtNext if self.journals.is_empty() => seqno.saturating_sub(1),
                Begin::AtFirst | Begin::AtNext => 0,
            };
            if !self.begin_journal(&journal_id, begins_at, now) {
                return vec![Finding::TooManyJournals { journal_id }];
            }
        }
        let Some(track) = self.journals.get_mut(&journal_id) else {
            return Vec::new();
        };
        track.last_event_at = now;
        let context = Context {
            keys: &self.keys,
            stored,
        };
        let mut findings = track.take(envelope, &context);
        if self.held() > MAX_HELD {
            let fullest = self.journals.values_mut().max_by_key(|track| track.held());
            findings.extend(fullest.and_then(Track::drop_youngest));
        }
        self.heed(now, &journal_id, stored, &mut findings);
        findings
    }

    /// `false`: there are too many.
    fn begin_journal(&mut self, journal_id: &str, seqno: Seqno, now: Uptime) -> bool {
        if self.journals.len() >= MAX_JOURNALS {
            return false;
        }
        let known = Known {
            seqno,
            promised: seqno,
            beginning: match seqno {
                0 => Beginning::Unread,
                _ => Beginning::Unknown,
            },
            is_announced: self.journals.is_empty(),
            ..Known::nothing_of(journal_id)
        };
        let mut track = Track::new(known, now);
        // A journal that follows it may have come before it.
        for later in self.known() {
            if let Beginning::After {
                journal_id: before,
                last_seqno,
                last_sha256,
            } = &later.beginning
                && before == journal_id
            {
                track.promise(*last_seqno, *last_sha256);
            }
        }
        self.journals.insert(journal_id.to_owned(), track);
        true
    }

    /// The first event of a journal may just have come, and name the journal before it.
    fn heed(&mut self, now: Uptime, journal_id: &str, stored: &dyn Stored, findings: &mut Vec<Finding>) {
        let Some(began) = self.journals.get_mut(journal_id).and_then(|track| track.began.take()) else {
            return;
        };
        let started = match began {
            Began::Unknown => None,
            Began::With(started) => Some(started),
        };
        let before = started
            .as_ref()
            .and_then(named)
            .filter(|before| before.journal_id != journal_id);
        if let Some(track) = self.journals.get_mut(journal_id) {
            track.known.beginning = match (&started, before) {
                (None, _) => Beginning::Unknown,
                (Some(_), None) => Beginning::First,
                (Some(_), Some(before)) => Beginning::After {
                    journal_id: before.journal_id.clone(),
                    last_seqno: before.last_seqno,
                    last_sha256: before.last_sha256.as_slice().try_into().ok(),
                },
            };
        }
        for missing in lineage::missing_links(&self.journals) {
            self.begin_journal(&missing, 0, now);
        }
        if let (Some(started), Some(before)) = (&started, before) {
            self.succeed(now, journal_id, started, before, stored, findings);
        }
        findings.extend(lineage::judge(&mut self.journals));
    }

    /// A journal follows another: that one then has so many events, and this is the last of them.
    fn succeed(
        &mut self,
        now: Uptime,
        journal_id: &str,
        started: &JournalStarted,
        before: &Predecessor,
        stored: &dyn Stored,
        findings: &mut Vec<Finding>,
    ) {
        let mut stored_through = None;
        if let Some(track) = self.journals.get_mut(&before.journal_id) {
            stored_through = Some(track.known.seqno);
            track.last_event_at = now;
            findings.extend(said_to_have(
                track,
                before.last_seqno,
                &before.last_sha256,
                &Context {
                    keys: &self.keys,
                    stored,
                },
            ));
        }
        let succession = match started.reason() {
            JournalStartedReason::RolledBack => Succession::RolledBack,
            JournalStartedReason::MovedAside => Succession::MovedAside,
            JournalStartedReason::First | JournalStartedReason::Unspecified => return,
        };
        findings.push(Finding::Succeeded {
            journal_id: journal_id.to_owned(),
            predecessor: before.journal_id.clone(),
            succession,
            last_seqno: before.last_seqno,
            stored_through,
        });
    }

    /// A head, from a retained state or status: look at it after every connect.
    pub fn take_head(&mut self, now: Uptime, head: &Head, stored: &dyn Stored) -> Vec<Finding> {
        if head.journal_id.is_empty() || head.journal_id.len() > MAX_JOURNAL_ID_BYTES || head.seqno == 0 {
            return Vec::new();
        }
        if !self.journals.contains_key(&head.journal_id) {
            // Whoever begins at the next event has missed nothing yet.
            if self.begin == Begin::AtNext && self.journals.is_empty() {
                return Vec::new();
            }
            let journal_id = head.journal_id.clone();
            if !self.begin_journal(&journal_id, 0, now) {
                return vec![Finding::TooManyJournals { journal_id }];
            }
        }
        let context = Context {
            keys: &self.keys,
            stored,
        };
        let track = self.journals.get_mut(&head.journal_id);
        track.map_or_else(Vec::new, |track| {
            said_to_have(track, head.seqno, &head.sha256, &context)
                .into_iter()
                .collect()
        })
    }

    /// An answer. An end to another request is nothing.
    pub fn take_answer(&mut self, now: Uptime, answer: &Response, stored: &dyn Stored) -> Vec<Finding> {
        let mut asked = self
            .asked
            .as_mut()
            .filter(|asked| asked.ask.request_id == answer.request_id);
        if let Some(asked) = &mut asked {
            // An answer that comes piece by piece is not given up.
            asked.at = now;
        }
        let is_awaited = asked.is_some();
        match &answer.response {
            // An event is one, whatever it answers: a part of an answer that is late is no less true.
            Some(response::Response::Event(bytes)) => self.take(now, bytes, stored),
            _ if !is_awaited => Vec::new(),
            Some(response::Response::ReplayDone(done)) => match self.asked.take() {
                Some(asked) => self.replayed(now, &asked, (done.oldest, done.newest), stored),
                None => Vec::new(),
            },
            Some(response::Response::Error(error)) if error.code() == ErrorCode::UnknownJournal => {
                match self.asked.take() {
                    Some(asked) => self.journal_is_gone(now, &asked.ask.journal_id, stored),
                    None => Vec::new(),
                }
            }
            // Busy, or not ready: asked again later.
            Some(
                response::Response::Error(_)
                | response::Response::Snapshot(_)
                | response::Response::SoftwareVerified(_),
            )
            | None => Vec::new(),
        }
    }

    fn replayed(
        &mut self,
        now: Uptime,
        asked: &Asked,
        (oldest, newest): (Seqno, Seqno),
        stored: &dyn Stored,
    ) -> Vec<Finding> {
        let journal_id = &asked.ask.journal_id;
        let context = Context {
            keys: &self.keys,
            stored,
        };
        let Some(track) = self.journals.get_mut(journal_id) else {
            return Vec::new();
        };
        let mut findings = Vec::new();
        if oldest > track.next() {
            findings = track.give_up_before(oldest, &context);
        } else if track.next() == asked.ask.from_seqno {
            track.fruitless = track.fruitless.saturating_add(1);
            if track.fruitless >= TRIES {
                findings = if newest >= track.next() {
                    let end = newest.saturating_add(1);
                    track.give_up_before(track.first_held().map_or(end, |held| held.min(end)), &context)
                } else {
                    track.disown(asked.said, asked.held)
                };
            }
        }
        // A replay brings a thousand events at most: the rest is asked for at once.
        track.is_catching_up = track.next() > asked.ask.from_seqno && track.next() <= newest;
        self.heed(now, journal_id, stored, &mut findings);
        findings
    }

    /// The gateway no longer has the journal: what is held of it goes on behind a permanent gap.
    fn journal_is_gone(&mut self, now: Uptime, journal_id: &str, stored: &dyn Stored) -> Vec<Finding> {
        let context = Context {
            keys: &self.keys,
            stored,
        };
        let Some(track) = self.journals.get_mut(journal_id) else {
            return Vec::new();
        };
        let end = track.known.promised.saturating_add(1);
        let mut findings = track.give_up_before(end, &context);
        self.heed(now, journal_id, stored, &mut findings);
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
            said: track.known.promised,
            held: track.last_held(),
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

/// The journal before this one, if its first event names one.
fn named(started: &JournalStarted) -> Option<&Predecessor> {
    let before = started.predecessor.as_ref()?;
    let fits = !before.journal_id.is_empty() && before.journal_id.len() <= MAX_JOURNAL_ID_BYTES;
    fits.then_some(before)
}

/// Somebody says that the journal has an event of this number and hash.
fn said_to_have(track: &mut Track, seqno: Seqno, sha256: &[u8], context: &Context<'_>) -> Option<Finding> {
    let claimed: Option<[u8; 32]> = sha256.try_into().ok();
    if seqno > track.known.seqno {
        track.promise(seqno, claimed);
    }
    if seqno == 0 || seqno > track.known.seqno || sha256.is_empty() {
        return None;
    }
    let stored = track.sha256(seqno, context)?;
    (stored[..] != *sha256).then(|| Finding::HeadDiffers {
        journal_id: track.known.journal_id.clone(),
        seqno,
    })
}

/// What is held shows a gap; what only a head says may still be on its way.
fn asks_at(track: &Track) -> Uptime {
    if track.is_catching_up || track.first_held().is_some() {
        Uptime::ZERO
    } else {
        track.last_event_at + QUIET
    }
}
