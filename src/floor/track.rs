//! One journal, as a consumer has it.

use super::envelope::Envelope;
use super::{Beginning, Context, Finding, Known, LONGEST_UNSIGNED, NEAR, Seqno};
use crate::signing::{Judged, Verdict};
use crate::table::event::JournalStarted;
use crate::time::Uptime;
use std::collections::{BTreeMap, VecDeque};

/// One journal: what is stored, what is held, what is missing.
#[derive(Clone, Debug)]
pub(super) struct Track {
    pub(super) known: Known,
    held: BTreeMap<Seqno, Envelope>,
    /// The table itself didn't have events up to here that a head had promised: such a head is not believed again.
    disowned: Seqno,
    pub(super) last_event_at: Uptime,
    /// The last replay brought some of what is missing: the next is asked for without waiting.
    pub(super) is_catching_up: bool,
    /// Whole replays that did not bring the next event.
    pub(super) fruitless: u32,
    /// Numbers and hashes of the newest events stored, for checkpoints.
    near: VecDeque<(Seqno, [u8; 32])>,
    /// Where looking for signed checkpoints began.
    unsigned_since: Seqno,
    /// The journal's first event was stored just now, or given up.
    pub(super) began: Option<Began>,
}

/// How the first event of a journal was settled.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Began {
    /// It came.
    With(JournalStarted),
    /// It is another event than a journal begins with, or it is gone.
    Unknown,
}

impl Track {
    pub(super) fn new(known: Known, now: Uptime) -> Self {
        Track {
            unsigned_since: known.seqno.max(known.proven_through),
            known,
            held: BTreeMap::new(),
            disowned: 0,
            last_event_at: now,
            is_catching_up: false,
            fruitless: 0,
            near: VecDeque::new(),
            began: None,
        }
    }

    pub(super) fn next(&self) -> Seqno {
        self.known.seqno.saturating_add(1)
    }

    /// An event of this journal.
    pub(super) fn take(&mut self, envelope: Envelope, context: &Context<'_>) -> Vec<Finding> {
        self.expect(envelope.seqno, None);
        if envelope.seqno <= self.known.seqno {
            return vec![self.compare(envelope, context)];
        }
        if envelope.seqno > self.next() {
            return vec![self.hold(envelope)];
        }
        let mut findings = Vec::new();
        self.store(envelope, context, &mut findings);
        self.drain(context, &mut findings);
        findings
    }

    /// The SHA-256 of a stored event.
    pub(super) fn sha256(&self, seqno: Seqno, context: &Context<'_>) -> Option<[u8; 32]> {
        let own = (seqno == self.known.seqno).then_some(self.known.sha256).flatten();
        let near = || {
            self.near
                .iter()
                .find(|(near, _)| *near == seqno)
                .map(|(_, sha256)| *sha256)
        };
        let kept = || context.stored.sha256(&self.known.journal_id, seqno);
        own.or_else(near).or_else(kept)
    }

    fn compare(&self, envelope: Envelope, context: &Context<'_>) -> Finding {
        match self.sha256(envelope.seqno, context) {
            Some(sha256) if sha256 == envelope.sha256 => Finding::Repeat,
            Some(_) => Finding::Fork(envelope.into_stores()),
            None => Finding::Unverifiable(envelope.into_stores()),
        }
    }

    fn hold(&mut self, envelope: Envelope) -> Finding {
        let seqno = envelope.seqno;
        match self.held.get(&seqno) {
            Some(held) if held.sha256 == envelope.sha256 => Finding::Repeat,
            Some(_) => Finding::Fork(envelope.into_stores()),
            None => {
                self.held.insert(seqno, envelope);
                let journal_id = self.known.journal_id.clone();
                Finding::Held { journal_id, seqno }
            }
        }
    }

    /// Forgets the youngest event that is held: the oldest are needed first, and it is asked for when it is its turn.
    pub(super) fn drop_youngest(&mut self) -> Option<Finding> {
        let (seqno, _) = self.held.pop_last()?;
        let journal_id = self.known.journal_id.clone();
        Some(Finding::Dropped { journal_id, seqno })
    }

    fn store(&mut self, envelope: Envelope, context: &Context<'_>, findings: &mut Vec<Finding>) {
        let is_chained = match (self.known.seqno, self.known.sha256) {
            (0, _) => envelope.previous == Some([0; 32]),
            (_, Some(sha256)) => envelope.previous == Some(sha256),
            // Behind a permanent gap there is nothing to compare with.
            (_, None) => true,
        };
        if envelope.seqno == 1 {
            self.began = Some(envelope.started.clone().map_or(Began::Unknown, Began::With));
        }
        let judged = context.keys.judge(&envelope.bytes).filter(|_| !context.keys.is_empty());
        let signature = judged.and_then(|judged| self.signature(&judged, &envelope, context));
        self.known.seqno = envelope.seqno;
        self.known.sha256 = Some(envelope.sha256);
        self.fruitless = 0;
        if self.near.len() == NEAR {
            self.near.pop_front();
        }
        self.near.push_back((envelope.seqno, envelope.sha256));
        let stores = envelope.into_stores();
        findings.push(if is_chained {
            Finding::Store(stores)
        } else {
            Finding::ChainBroken(stores)
        });
        findings.extend(signature);
        let promised = self
            .known
            .promised_sha256
            .filter(|_| self.known.promised == self.known.seqno);
        if let Some(promised) = promised {
            self.known.promised_sha256 = None;
            if self.known.sha256 != Some(promised) {
                let (journal_id, seqno) = (self.known.journal_id.clone(), self.known.seqno);
                findings.push(Finding::HeadDiffers { journal_id, seqno });
            }
        }
        findings.extend(self.unsigned_for_long(context));
    }

    /// What is to be said of the signature of a checkpoint, which is about to be stored.
    fn signature(&mut self, judged: &Judged, envelope: &Envelope, context: &Context<'_>) -> Option<Finding> {
        let (journal_id, seqno) = (envelope.journal_id.clone(), envelope.seqno);
        let through = judged.through_seqno;
        let reached = if through.saturating_add(1) == seqno {
            envelope.previous
        } else {
            self.sha256(through, context)
        };
        // A copy of an older checkpoint proves nothing of what came after that.
        let is_near = through < seqno && seqno - through <= NEAR as u64;
        match &judged.verdict {
            Verdict::Good { .. } if !is_near || reached.is_some_and(|sha256| sha256[..] != judged.sha256[..]) => {
                Some(Finding::WrongSignature { journal_id, seqno })
            }
            Verdict::Good { .. } => {
                if reached.is_some() {
                    self.known.proven_through = through;
                    self.unsigned_since = seqno;
                }
                None
            }
            Verdict::Wrong { .. } => Some(Finding::WrongSignature { journal_id, seqno }),
            Verdict::Unsigned => Some(Finding::Unsigned {
                journal_id,
                seqno,
                key_id: None,
            }),
            Verdict::UnknownKey { key_id } => Some(Finding::Unsigned {
                journal_id,
                seqno,
                key_id: Some(key_id.clone()),
            }),
        }
    }

    /// A table that signs leaves no more events than this without a signature.
    fn unsigned_for_long(&mut self, context: &Context<'_>) -> Option<Finding> {
        let seqno = self.known.seqno;
        if context.keys.is_empty() || seqno.saturating_sub(self.unsigned_since) <= LONGEST_UNSIGNED {
            return None;
        }
        self.unsigned_since = seqno;
        Some(Finding::NoCheckpoint {
            journal_id: self.known.journal_id.clone(),
            seqno,
            proven_through: self.known.proven_through,
        })
    }

    fn drain(&mut self, context: &Context<'_>, findings: &mut Vec<Finding>) {
        while let Some(envelope) = self.held.remove(&self.next()) {
            self.store(envelope, context, findings);
        }
    }

    /// Everything before `seqno` that is neither stored nor held is gone for good.
    pub(super) fn give_up_before(&mut self, seqno: Seqno, context: &Context<'_>) -> Vec<Finding> {
        let mut findings = Vec::new();
        while self.next() < seqno {
            let from = self.next();
            let end = self.first_held().map_or(seqno, |held| held.min(seqno));
            if from == 1 {
                self.began = Some(Began::Unknown);
            }
            self.known.seqno = end.saturating_sub(1);
            self.known.sha256 = None;
            self.fruitless = 0;
            self.known.promised = self.known.promised.max(self.known.seqno);
            findings.push(Finding::Gap {
                journal_id: self.known.journal_id.clone(),
                from,
                to: self.known.seqno,
            });
            self.drain(context, &mut findings);
        }
        findings
    }

    /// The table doesn't have what it, or somebody in its name, said: events that were held then, and what heads promised.
    pub(super) fn disown(&mut self, said: Seqno, held: Option<Seqno>) -> Vec<Finding> {
        let journal_id = self.known.journal_id.clone();
        let from = self.next();
        let promised = held.is_none_or(|held| held < said);
        let mut findings = Vec::new();
        while let Some(first) = self.held.first_entry()
            && held.is_some_and(|held| *first.key() <= held)
        {
            findings.push(Finding::Beyond(first.remove().into_stores()));
        }
        if promised {
            let to = said;
            findings.push(Finding::NotThere { journal_id, from, to });
        }
        self.disowned = self.disowned.max(said);
        if self.known.promised <= said {
            let last = self.held.last_key_value().map_or(self.known.seqno, |(seqno, _)| *seqno);
            self.known.promised = last;
            self.known.promised_sha256 = None;
        }
        self.fruitless = 0;
        findings
    }

    /// A head says that the journal has this event.
    pub(super) fn promise(&mut self, seqno: Seqno, sha256: Option<[u8; 32]>) {
        if seqno > self.disowned {
            self.expect(seqno, sha256);
        }
    }

    fn expect(&mut self, seqno: Seqno, sha256: Option<[u8; 32]>) {
        if seqno > self.known.promised {
            self.known.promised = seqno;
            self.known.promised_sha256 = sha256;
        }
    }

    /// The first event that is held.
    pub(super) fn first_held(&self) -> Option<Seqno> {
        self.held.first_key_value().map(|(seqno, _)| *seqno)
    }

    /// The last event that is held.
    pub(super) fn last_held(&self) -> Option<Seqno> {
        self.held.last_key_value().map(|(seqno, _)| *seqno)
    }

    /// Events are missing: an event beyond them is held, or a head said that there are more.
    pub(super) fn is_missing_any(&self) -> bool {
        self.known.promised > self.known.seqno
    }

    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    /// The first event of the journal was neither stored nor given up.
    pub(super) fn is_unread(&self) -> bool {
        self.known.beginning == Beginning::Unread
    }
}
