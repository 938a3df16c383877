//! Hand-made traces for the judges' own tests: a journal that chains by itself, and the events of a round.

use prost::Message;
use sha2::{Digest, Sha256};
use std::time::Duration;

use crate::sim::faults::trace::{Connection, Judge, Publish, Seen, Stored, Trace};
use crate::table::event::event::Body;
use crate::table::event::{Actor, ActorKind, Event, GatewayStarted, JournalStarted};

/// A fact: its round and its body, and who did it.
#[derive(Clone)]
pub(super) struct Fact {
    pub(super) round: u64,
    pub(super) body: Body,
    pub(super) by: ActorKind,
}

impl Fact {
    pub(super) fn by(self, by: ActorKind) -> Fact {
        Fact { by, ..self }
    }
}

/// An event's number and its bytes.
pub(super) type Record = (u64, Vec<u8>);

/// A judge and what it is shown.
pub(super) struct Bench {
    trace: Trace,
    at: Duration,
    journal: String,
    seqno: u64,
    sha256: Vec<u8>,
    run: u32,
    publish: Publish,
    found: usize,
}

const TOPIC: &str = "tablegate/v1/site/t-1/events";

impl Bench {
    /// Before anything: no journal, no run.
    pub(super) fn bare(judge: impl Judge + 'static) -> Bench {
        Bench {
            trace: Trace::new(vec![Box::new(judge)]),
            at: Duration::ZERO,
            journal: "00000000-0000-4000-8000-000000000001".to_owned(),
            seqno: 0,
            sha256: vec![0; 32],
            run: 0,
            publish: 0,
            found: 0,
        }
    }

    /// A table of this game that has just started for the first time, and is open.
    pub(super) fn of(game: &str, style: &str, layout: &str, judge: impl Judge + 'static) -> Bench {
        let mut bench = Bench::bare(judge);
        bench.see(&Seen::Began { game, style, layout });
        bench.start();
        bench.append(vec![fact(0, Body::TableOpened(Default::default()))]);
        bench
    }

    pub(super) fn dice(judge: impl Judge + 'static) -> Bench {
        Bench::of("tai-sai", "A", "appendix-1", judge)
    }

    /// The gateway starts, and says so in the journal.
    pub(super) fn start(&mut self) {
        self.run += 1;
        self.see(&Seen::GatewayStarted { run: self.run });
        let started = GatewayStarted {
            clean_stop: self.seqno == 0,
            ..GatewayStarted::default()
        };
        let mut facts = vec![fact(0, Body::GatewayStarted(started))];
        if self.seqno == 0 {
            facts.insert(0, fact(0, Body::JournalStarted(JournalStarted::default())));
        }
        self.append(facts);
    }

    pub(super) fn journal(&self) -> &str {
        &self.journal
    }

    pub(super) fn wait(&mut self, seconds: u64) {
        self.at += Duration::from_secs(seconds);
    }

    pub(super) fn see(&mut self, seen: &Seen<'_>) {
        self.at += Duration::from_millis(1);
        self.trace.see(self.at, seen);
    }

    /// Makes the next events without storing them.
    pub(super) fn record(&self, facts: Vec<Fact>) -> Vec<Record> {
        let mut previous = self.sha256.clone();
        let mut records = Vec::new();
        for (seqno, fact) in (self.seqno + 1..).zip(facts) {
            let event = Event {
                journal_id: self.journal.clone(),
                seqno,
                previous_sha256: previous,
                run_id: format!("run-{}", self.run),
                uptime_us: u64::try_from(self.at.as_micros()).unwrap(),
                round_id: fact.round,
                actor: Some(Actor {
                    kind: fact.by as i32,
                    ..Actor::default()
                }),
                body: Some(fact.body),
                ..Event::default()
            };
            let bytes = event.encode_to_vec();
            previous = Sha256::digest(&bytes).to_vec();
            records.push((seqno, bytes));
        }
        records
    }

    /// Stores the next events.
    pub(super) fn append(&mut self, facts: Vec<Fact>) -> Vec<Record> {
        let records = self.record(facts);
        self.store(&records);
        records
    }

    /// Stores these records, whatever they are.
    pub(super) fn store(&mut self, records: &[Record]) {
        let stored: Vec<Stored<'_>> = records
            .iter()
            .map(|(seqno, bytes)| Stored { seqno: *seqno, bytes })
            .collect();
        let journal = self.journal.clone();
        self.see(&Seen::Appended {
            journal: &journal,
            records: &stored,
        });
        if let Some((seqno, bytes)) = records.last() {
            self.seqno = *seqno;
            self.sha256 = Sha256::digest(bytes).to_vec();
        }
    }

    /// A broker takes an event over.
    pub(super) fn publish(&mut self, connection: Connection, record: &Record) -> Publish {
        self.publish += 1;
        let publish = self.publish;
        self.see(&Seen::Published {
            connection,
            publish,
            topic: TOPIC,
            payload: &record.1,
            retained: false,
        });
        publish
    }

    /// A broker takes something else over.
    pub(super) fn publish_on(&mut self, connection: Connection, topic: &str, payload: &[u8]) -> Publish {
        self.publish += 1;
        let publish = self.publish;
        self.see(&Seen::Published {
            connection,
            publish,
            topic,
            payload,
            retained: true,
        });
        publish
    }

    /// Nothing was found since the last time.
    pub(super) fn expect_nothing(&mut self) {
        let findings = &self.trace.findings()[self.found..];
        assert!(findings.is_empty(), "{findings:?}");
    }

    /// Something was found since the last time, with these words.
    pub(super) fn expect(&mut self, words: &str) {
        let findings = &self.trace.findings()[self.found..];
        assert!(
            findings.iter().any(|finding| finding.text.contains(words)),
            "{words}: {findings:?}"
        );
        self.found = self.trace.findings().len();
    }
}

pub(super) fn fact(round: u64, body: Body) -> Fact {
    Fact {
        round,
        body,
        by: ActorKind::Dealer,
    }
}

/// Rounds of dice.
pub(super) mod dice {
    use super::*;
    use crate::table::event::{
        BetsClosed, BetsOpened, DiceUncovered, ResultEntered, ResultSource, RoundSettled, RoundStarted, RoundVoided,
        TumblerSpun,
    };

    pub(in super::super) fn started(round: u64) -> Fact {
        fact(round, Body::RoundStarted(RoundStarted::default()))
    }

    pub(in super::super) fn to_betting(round: u64) -> Vec<Fact> {
        vec![
            started(round),
            fact(
                round,
                Body::TumblerSpun(TumblerSpun {
                    spins: 3,
                    ..TumblerSpun::default()
                }),
            ),
            fact(round, Body::BetsOpened(BetsOpened::default())).by(ActorKind::Gateway),
        ]
    }

    pub(in super::super) fn to_closed(round: u64) -> Vec<Fact> {
        let mut facts = to_betting(round);
        facts.push(fact(round, Body::BetsClosed(BetsClosed::default())));
        facts
    }

    pub(in super::super) fn to_landed(round: u64) -> Vec<Fact> {
        let mut facts = to_closed(round);
        facts.push(fact(round, Body::DiceUncovered(DiceUncovered::default())));
        facts
    }

    pub(in super::super) fn entered(round: u64, pressed: [u32; 3]) -> Fact {
        let mut faces = pressed.to_vec();
        faces.sort_unstable();
        let entered = ResultEntered {
            pressed: pressed.to_vec(),
            total: faces.iter().sum(),
            faces,
            source: ResultSource::Terminal as i32,
            ..ResultEntered::default()
        };
        fact(round, Body::ResultEntered(entered))
    }

    pub(in super::super) fn settled(round: u64) -> Fact {
        fact(round, Body::RoundSettled(RoundSettled::default()))
    }

    pub(in super::super) fn voided_by_gateway(round: u64) -> Fact {
        let voided = RoundVoided {
            automatic: true,
            ..RoundVoided::default()
        };
        fact(round, Body::RoundVoided(voided)).by(ActorKind::Gateway)
    }
}
