//! A journal that went back in time is not gone on with once the floor knows better: as long as the broker keeps a state of an event that the
//! journal doesn't have, nothing is published over it before a new journal has begun, with the alert that says so.

use std::collections::{BTreeMap, BTreeSet};

use prost::Message;
use sha2::{Digest, Sha256};

use super::dead::OfTheDead;
use crate::sim::faults::trace::{AfterRollback, Invariant, Judge, Seen, Sight, is_state};
use crate::table::event::event::Body;
use crate::table::event::{Event, Head, JournalStartedReason, TableState};

/// The alert of a new journal in the place of one that went back.
const ALERT: &str = "journal_rolled_back";

#[derive(Default)]
pub(super) struct RollbackTold {
    /// SHA-256 of every event that a journal has, or had before it was deleted by retention.
    journals: BTreeMap<String, BTreeMap<u64, Vec<u8>>>,
    /// The head of the state that the broker keeps.
    kept: Option<Head>,
    /// A new journal has begun since that state was kept.
    has_begun_anew: bool,
    /// Journals whose states made a new one begin: the same is not believed twice.
    outbid: BTreeSet<String>,
    of_the_dead: OfTheDead,
}

impl Judge for RollbackTold {
    fn invariant(&self) -> Invariant {
        Invariant::RollbackTold
    }

    fn after_rollback(&self) -> AfterRollback {
        AfterRollback::GoesOn
    }

    fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        self.of_the_dead.look(sight.seen);
        match sight.seen {
            Seen::Appended { journal, records } => {
                let known = self.journals.entry((*journal).to_owned()).or_default();
                for record in *records {
                    known.insert(record.seqno, Sha256::digest(record.bytes).to_vec());
                }
                if sight.events.iter().any(begins_anew) {
                    self.has_begun_anew = true;
                    self.outbid.extend(self.kept.iter().map(|kept| kept.journal_id.clone()));
                    return is_told(sight.events);
                }
            }
            Seen::WentBack { journal, to } => {
                if let Some(known) = self.journals.get_mut(*journal) {
                    known.retain(|seqno, _| seqno <= to);
                }
            }
            Seen::Published {
                connection,
                topic,
                payload,
                ..
            } if is_state(topic) && self.of_the_dead.has(*connection) => {
                // Sent before the disk went back, and kept from now on: whoever connects next finds it.
                self.keep(payload);
            }
            Seen::Published { topic, payload, .. } if is_state(topic) => {
                let head = TableState::decode(*payload).ok().and_then(|state| state.head);
                let before = std::mem::replace(&mut self.kept, head);
                let has_begun_anew = std::mem::take(&mut self.has_begun_anew);
                if let Some(before) = before.filter(|before| !has_begun_anew && !self.has(before)) {
                    return Err(format!(
                        "a state is published, and the floor had been told of event {} of journal {}, which is not there",
                        before.seqno, before.journal_id
                    ));
                }
            }
            Seen::Intruded { topic, payload } if is_state(topic) => {
                self.keep(payload);
            }
            Seen::BrokerForgot => self.kept = None,
            _ => {}
        }
        Ok(())
    }
}

impl RollbackTold {
    /// The broker keeps this state, which the run that goes on has not published.
    fn keep(&mut self, payload: &[u8]) {
        self.kept = TableState::decode(payload).ok().and_then(|state| state.head);
        self.has_begun_anew = false;
    }

    fn has(&self, head: &Head) -> bool {
        if self.outbid.contains(&head.journal_id) {
            return true;
        }
        let known = self.journals.get(&head.journal_id);
        known.and_then(|known| known.get(&head.seqno)) == Some(&head.sha256)
    }
}

fn begins_anew(event: &Event) -> bool {
    matches!(&event.body, Some(Body::JournalStarted(started)) if started.reason() == JournalStartedReason::RolledBack)
}

/// A new journal names the one before, and the alert stands from its first transaction on.
fn is_told(events: &[Event]) -> Result<(), String> {
    let bodies = || events.iter().filter_map(|event| event.body.as_ref());
    let names = |body: &Body| matches!(body, Body::JournalStarted(started) if started.predecessor.is_some());
    if !bodies().any(names) {
        return Err("a journal begins anew and doesn't name the one that went back".to_owned());
    }
    let raises = |body: &Body| match body {
        Body::AlertRaised(raised) => raised.alert == ALERT,
        Body::CheckpointRecorded(recorded) => {
            let alerts = recorded.state.iter().flat_map(|state| &state.alerts);
            alerts.into_iter().any(|alert| alert.alert == ALERT)
        }
        _ => false,
    };
    if bodies().any(raises) {
        return Ok(());
    }
    Err("a journal begins anew, and no alert says that the one before went back".to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, Record, dice, fact};
    use super::*;
    use crate::table::event::{AlertRaised, JournalStarted, Predecessor};

    fn state(bench: &Bench, record: &Record) -> Vec<u8> {
        TableState {
            head: Some(Head {
                journal_id: bench.journal().to_owned(),
                seqno: record.0,
                sha256: Sha256::digest(&record.1).to_vec(),
            }),
            ..TableState::default()
        }
        .encode_to_vec()
    }

    /// The floor is told of the newest event, and the journal goes back by two.
    fn gone_back() -> (Bench, Vec<Record>) {
        let mut bench = Bench::bare(RollbackTold::default());
        let records = bench.append(dice::to_landed(1));
        let newest = state(&bench, &records[4]);
        bench.publish_on(1, "p/state", &newest);
        let journal = bench.journal().to_owned();
        bench.see(&Seen::WentBack {
            journal: &journal,
            to: 3,
        });
        bench.expect_nothing();
        (bench, records)
    }

    fn begins(alert: &str) -> Vec<super::super::testing::Fact> {
        let mut started = JournalStarted {
            predecessor: Some(Predecessor::default()),
            ..JournalStarted::default()
        };
        started.set_reason(JournalStartedReason::RolledBack);
        let raised = AlertRaised {
            alert: alert.to_owned(),
            ..AlertRaised::default()
        };
        vec![
            fact(0, Body::JournalStarted(started)),
            fact(0, Body::AlertRaised(raised)),
        ]
    }

    #[test]
    fn a_new_journal_may_be_told() {
        let (mut bench, _) = gone_back();
        let records = bench.append(begins(ALERT));
        let newest = state(&bench, &records[1]);
        bench.publish_on(2, "p/state", &newest);
        bench.expect_nothing();
    }

    #[test]
    fn going_on_as_if_nothing_had_happened_is_found() {
        let (mut bench, records) = gone_back();
        let newest = state(&bench, &records[2]);
        bench.publish_on(2, "p/state", &newest);
        bench.expect("told of event 5");
    }

    #[test]
    fn a_state_of_before_may_arrive_late_and_is_heeded_by_whoever_comes_next() {
        for (begun_anew, finding) in [(true, None), (false, Some("told of event 5"))] {
            let mut bench = Bench::bare(RollbackTold::default());
            let records = bench.append(dice::to_landed(1));
            bench.see(&Seen::Connected { connection: 1 });
            let (older, newest) = (state(&bench, &records[3]), state(&bench, &records[4]));
            bench.publish_on(1, "p/state", &older);
            let journal = bench.journal().to_owned();
            bench.see(&Seen::WentBack {
                journal: &journal,
                to: 3,
            });
            bench.publish_on(1, "p/state", &newest);
            bench.expect_nothing();
            bench.see(&Seen::Connected { connection: 2 });
            let mut told = state(&bench, &records[2]);
            if begun_anew {
                let records = bench.append(begins(ALERT));
                told = state(&bench, &records[1]);
            }
            bench.publish_on(2, "p/state", &told);
            match finding {
                Some(finding) => bench.expect(finding),
                None => bench.expect_nothing(),
            }
        }
    }

    #[test]
    fn what_the_broker_has_forgotten_nobody_can_know() {
        let (mut bench, records) = gone_back();
        bench.see(&Seen::BrokerForgot);
        let newest = state(&bench, &records[2]);
        bench.publish_on(2, "p/state", &newest);
        bench.expect_nothing();
    }

    #[test]
    fn a_new_journal_without_an_alert_is_found() {
        let (mut bench, _) = gone_back();
        bench.append(begins("lamp_failed"));
        bench.expect("no alert says");
    }
}
