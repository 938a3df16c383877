//! One journal, as a consumer has it.

use super::envelope::Envelope;
use super::{Finding, Known, MAX_HELD, Seqno, Stored, Stores};
use crate::table::event::Predecessor;
use crate::time::Uptime;
use std::collections::BTreeMap;

/// One journal: what is stored, what is held, what is missing.
#[derive(Clone, Debug)]
pub(super) struct Track {
    pub(super) known: Known,
    held: BTreeMap<Seqno, Envelope>,
    /// The newest event that the journal is said to have.
    pub(super) said: Seqno,
    pub(super) last_event_at: Uptime,
    /// The last replay brought some of what is missing: the next is asked for without waiting.
    pub(super) is_catching_up: bool,
    /// Whole replays that did not bring the next event.
    pub(super) fruitless: u32,
}

impl Track {
    pub(super) fn new(known: Known, now: Uptime) -> Self {
        Track {
            said: known.seqno,
            known,
            held: BTreeMap::new(),
            last_event_at: now,
            is_catching_up: false,
            fruitless: 0,
        }
    }

    pub(super) fn next(&self) -> Seqno {
        self.known.seqno.saturating_add(1)
    }

    /// An event of this journal. Predecessors named by what is stored are added to `announced`.
    pub(super) fn take(
        &mut self,
        envelope: Envelope,
        stored: &dyn Stored,
        announced: &mut Vec<Option<Predecessor>>,
    ) -> Vec<Finding> {
        self.said = self.said.max(envelope.seqno);
        if envelope.seqno <= self.known.seqno {
            return vec![self.compare(envelope, stored)];
        }
        if envelope.seqno > self.next() {
            return self.hold(envelope);
        }
        let mut findings = Vec::new();
        // A copy that was held under this number before a gap closed was compared when it came.
        self.held.remove(&envelope.seqno);
        findings.push(self.store(envelope, announced));
        self.drain(&mut findings, announced);
        findings
    }

    fn compare(&self, envelope: Envelope, stored: &dyn Stored) -> Finding {
        let own = (envelope.seqno == self.known.seqno)
            .then_some(self.known.sha256)
            .flatten();
        match own.or_else(|| stored.sha256(&envelope.journal_id, envelope.seqno)) {
            Some(sha256) if sha256 == envelope.sha256 => Finding::Repeat,
            Some(_) => fork(envelope),
            None => Finding::Unverifiable {
                journal_id: envelope.journal_id,
                seqno: envelope.seqno,
            },
        }
    }

    fn hold(&mut self, envelope: Envelope) -> Vec<Finding> {
        let (journal_id, seqno) = (envelope.journal_id.clone(), envelope.seqno);
        if let Some(held) = self.held.get(&seqno) {
            let is_repeat = held.sha256 == envelope.sha256;
            return vec![if is_repeat { Finding::Repeat } else { fork(envelope) }];
        }
        self.held.insert(seqno, envelope);
        if self.held.len() <= MAX_HELD {
            return vec![Finding::Held { journal_id, seqno }];
        }
        // The oldest are needed first.
        match self.held.pop_last() {
            Some((dropped, _)) if dropped == seqno => vec![Finding::Dropped { journal_id, seqno }],
            Some((dropped, _)) => vec![
                Finding::Held {
                    journal_id: journal_id.clone(),
                    seqno,
                },
                Finding::Dropped {
                    journal_id,
                    seqno: dropped,
                },
            ],
            None => Vec::new(),
        }
    }

    fn store(&mut self, envelope: Envelope, announced: &mut Vec<Option<Predecessor>>) -> Finding {
        let is_chained = match (self.known.seqno, self.known.sha256) {
            (0, _) => envelope.previous == Some([0; 32]),
            (_, Some(sha256)) => envelope.previous == Some(sha256),
            // Behind a permanent gap there is nothing to compare with.
            (_, None) => true,
        };
        if envelope.seqno == 1 {
            announced.push(envelope.predecessor);
        }
        self.known.seqno = envelope.seqno;
        self.known.sha256 = Some(envelope.sha256);
        self.fruitless = 0;
        let stores = Stores {
            journal_id: envelope.journal_id,
            seqno: envelope.seqno,
            sha256: envelope.sha256,
            bytes: envelope.bytes,
        };
        if is_chained {
            Finding::Store(stores)
        } else {
            Finding::ChainBroken(stores)
        }
    }

    fn drain(&mut self, findings: &mut Vec<Finding>, announced: &mut Vec<Option<Predecessor>>) {
        while let Some(envelope) = self.held.remove(&self.next()) {
            findings.push(self.store(envelope, announced));
        }
    }

    /// Everything before `seqno` that is not stored is gone for good.
    pub(super) fn give_up_before(&mut self, seqno: Seqno, announced: &mut Vec<Option<Predecessor>>) -> Vec<Finding> {
        let from = self.next();
        if seqno <= from {
            return Vec::new();
        }
        self.known.seqno = seqno.saturating_sub(1);
        self.known.sha256 = None;
        self.fruitless = 0;
        // What is held of the range was not missing after all.
        let rest = self.held.split_off(&seqno);
        let within = std::mem::replace(&mut self.held, rest);
        let mut findings = Vec::new();
        let mut missing_from = from;
        for (held, envelope) in within {
            if held > missing_from {
                findings.push(self.gap(missing_from, held.saturating_sub(1)));
            }
            missing_from = held.saturating_add(1);
            findings.push(Finding::Store(Stores {
                journal_id: envelope.journal_id,
                seqno: held,
                sha256: envelope.sha256,
                bytes: envelope.bytes,
            }));
            if missing_from == seqno {
                self.known.sha256 = Some(envelope.sha256);
            }
        }
        if missing_from < seqno {
            findings.push(self.gap(missing_from, seqno.saturating_sub(1)));
        }
        self.drain(&mut findings, announced);
        findings
    }

    fn gap(&self, from: Seqno, to: Seqno) -> Finding {
        Finding::Gap {
            journal_id: self.known.journal_id.clone(),
            from,
            to,
        }
    }

    /// The first event that is held.
    pub(super) fn first_held(&self) -> Option<Seqno> {
        self.held.first_key_value().map(|(seqno, _)| *seqno)
    }

    /// Events are missing: an event beyond them is held, or a head said that there are more.
    pub(super) fn is_missing_any(&self) -> bool {
        self.said > self.known.seqno
    }

    pub(super) fn held(&self) -> usize {
        self.held.len()
    }
}

fn fork(envelope: Envelope) -> Finding {
    Finding::Fork {
        journal_id: envelope.journal_id,
        seqno: envelope.seqno,
        bytes: envelope.bytes,
    }
}
