//! Journals with a right chain, a gateway that answers truthfully, and a floor's side that follows them.

#![allow(dead_code, reason = "each test file uses its part")]

use prost::Message;
use sha2::{Digest, Sha256};
use tablegate::floor::{Ask, Begin, Consumer, Finding, Hashes, Stores};
use tablegate::table::event::{
    AlertRaised, Body, Error, ErrorCode, Event, Head, JournalStarted, JournalStartedReason, Predecessor, ReplayDone,
    Response, response,
};
use tablegate::time::Uptime;

/// A journal with a right chain.
#[derive(Clone)]
pub struct Journal {
    pub id: &'static str,
    pub events: Vec<Vec<u8>>,
    pub oldest: u64,
}

pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

impl Journal {
    pub fn new(id: &'static str, count: u64, predecessor: Option<&Journal>) -> Self {
        let (reason, last_seqno) = (JournalStartedReason::First, predecessor.map_or(0, Journal::newest));
        Journal::after(id, count, predecessor, reason, last_seqno)
    }

    /// Its predecessor had so many events when it began.
    pub fn after(
        id: &'static str,
        count: u64,
        predecessor: Option<&Journal>,
        reason: JournalStartedReason,
        last_seqno: u64,
    ) -> Self {
        let mut events: Vec<Vec<u8>> = Vec::new();
        for seqno in 1..=count {
            let body = if seqno == 1 {
                Body::JournalStarted(JournalStarted {
                    predecessor: predecessor.map(|before| Predecessor {
                        journal_id: before.id.to_owned(),
                        last_seqno,
                        last_sha256: sha256(before.at(last_seqno)).to_vec(),
                        ..Predecessor::default()
                    }),
                    reason: reason.into(),
                    ..JournalStarted::default()
                })
            } else {
                Body::AlertRaised(AlertRaised {
                    text: format!("event {seqno}"),
                    ..AlertRaised::default()
                })
            };
            events.push(event(id, seqno, events.last(), body));
        }
        Journal { id, events, oldest: 1 }
    }

    /// Time passes, and it has some more.
    pub fn more(&mut self, count: u64) {
        for _ in 0..count {
            let body = Body::AlertRaised(AlertRaised::default());
            self.events
                .push(event(self.id, self.newest() + 1, self.events.last(), body));
        }
    }

    pub fn newest(&self) -> u64 {
        u64::try_from(self.events.len()).unwrap()
    }

    pub fn at(&self, seqno: u64) -> &Vec<u8> {
        &self.events[usize::try_from(seqno - 1).unwrap()]
    }

    pub fn head(&self) -> Head {
        Head {
            journal_id: self.id.to_owned(),
            seqno: self.newest(),
            sha256: sha256(self.at(self.newest())).to_vec(),
        }
    }

    /// What a gateway answers.
    pub fn answer(&self, ask: &Ask) -> Vec<Response> {
        let respond = |response| Response {
            request_id: ask.request_id.clone(),
            response: Some(response),
        };
        if ask.journal_id != self.id {
            let error = Error {
                code: ErrorCode::UnknownJournal.into(),
                text: String::new(),
            };
            return vec![respond(response::Response::Error(error))];
        }
        let to = if ask.to_seqno == 0 {
            self.newest()
        } else {
            ask.to_seqno.min(self.newest())
        };
        let from = ask.from_seqno.max(self.oldest);
        let events = (from..=to).take(1000);
        let mut answers: Vec<Response> = events
            .clone()
            .map(|seqno| respond(response::Response::Event(self.at(seqno).clone())))
            .collect();
        answers.push(respond(response::Response::ReplayDone(ReplayDone {
            oldest: self.oldest,
            newest: self.newest(),
            through_seqno: events.last().unwrap_or(0),
        })));
        answers
    }
}

pub fn event(id: &str, seqno: u64, before: Option<&Vec<u8>>, body: Body) -> Vec<u8> {
    Event {
        journal_id: id.to_owned(),
        seqno,
        previous_sha256: before.map_or([0; 32], |bytes| sha256(bytes)).to_vec(),
        body: Some(body),
        ..Event::default()
    }
    .encode_to_vec()
}

/// A floor's side: the consumer and what it stored.
#[derive(Clone)]
pub struct Floor {
    pub consumer: Consumer,
    pub hashes: Hashes,
    pub stored: Vec<Stores>,
    pub others: Vec<Finding>,
    pub now: Uptime,
}

impl Floor {
    pub fn new(begin: Begin) -> Self {
        Floor {
            consumer: Consumer::new(begin),
            hashes: Hashes::default(),
            stored: Vec::new(),
            others: Vec::new(),
            now: Uptime::ZERO,
        }
    }

    pub fn keep(&mut self, findings: Vec<Finding>) {
        for finding in findings {
            match finding {
                Finding::Store(stores) => {
                    self.hashes.keep(&stores);
                    self.stored.push(stores);
                }
                Finding::ChainBroken(ref stores) => {
                    self.hashes.keep(stores);
                    self.stored.push(stores.clone());
                    self.others.push(finding);
                }
                Finding::Repeat | Finding::Held { .. } | Finding::Dropped { .. } => {}
                other => self.others.push(other),
            }
        }
    }

    pub fn take(&mut self, bytes: &[u8]) {
        let findings = self.consumer.take(self.now, bytes, &self.hashes);
        self.keep(findings);
    }

    pub fn head(&mut self, head: &Head) {
        let findings = self.consumer.take_head(self.now, head, &self.hashes);
        self.keep(findings);
    }

    pub fn answer(&mut self, answers: &[Response]) {
        for answer in answers {
            let findings = self.consumer.take_answer(self.now, answer, &self.hashes);
            self.keep(findings);
        }
    }

    /// Time passes, and what is asked is answered, until nothing is missing.
    pub fn settle(&mut self, journals: &[&Journal]) {
        for _ in 0..100 {
            let Some(at) = self.consumer.looks_at() else { return };
            self.now = self.now.max(at);
            if let Some(ask) = self.consumer.ask(self.now) {
                let journal = journals
                    .iter()
                    .find(|journal| journal.id == ask.journal_id)
                    .unwrap_or(&journals[0]);
                self.answer(&journal.answer(&ask));
            }
        }
        panic!("something is missing for ever: {:?}", self.consumer);
    }

    pub fn numbers(&self, id: &str) -> Vec<u64> {
        let of_journal = self.stored.iter().filter(|stores| stores.journal_id == id);
        of_journal.map(|stores| stores.seqno).collect()
    }
}
