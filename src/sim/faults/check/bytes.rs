//! Nothing is published twice with different bytes, and what is published has the bytes that were journalled.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use prost::Message;

use super::dead::OfTheDead;
use crate::sim::faults::trace::{AfterRollback, Invariant, Judge, Seen, Sight};
use crate::table::event::response::Response as Answer;
use crate::table::event::{Event, Response};

#[derive(Default)]
pub(super) struct SameBytes {
    /// A hash of the bytes of each event, whether it was journalled or published first.
    known: BTreeMap<String, BTreeMap<u64, u64>>,
    of_the_dead: OfTheDead,
}

impl Judge for SameBytes {
    fn invariant(&self) -> Invariant {
        Invariant::SameBytes
    }

    fn after_rollback(&self) -> AfterRollback {
        AfterRollback::GoesOn
    }

    fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        self.of_the_dead.look(sight.seen);
        match sight.seen {
            // It was sent before the disk went back, of events that have not happened since.
            Seen::Published { connection, .. } if self.of_the_dead.has(*connection) => Ok(()),
            Seen::Appended { journal, records } => {
                for record in *records {
                    self.same(journal, record.seqno, record.bytes, "journalled")?;
                }
                Ok(())
            }
            Seen::Published { topic, payload, .. } => match sight.events.first() {
                Some(event) => self.same(&event.journal_id, event.seqno, payload, "published"),
                None if topic.contains("/responses/") => self.answered(payload),
                None => Ok(()),
            },
            Seen::WentBack { journal, to } => {
                // What comes after it may be another event of that number; the floor keeps both.
                if let Some(known) = self.known.get_mut(*journal) {
                    known.retain(|seqno, _| seqno <= to);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl SameBytes {
    fn answered(&mut self, payload: &[u8]) -> Result<(), String> {
        let response = Response::decode(payload).map_err(|error| format!("a response can't be read: {error}"))?;
        let Some(Answer::Event(bytes)) = response.response else {
            return Ok(());
        };
        let event =
            Event::decode(bytes.as_slice()).map_err(|error| format!("a replayed event can't be read: {error}"))?;
        self.same(&event.journal_id, event.seqno, &bytes, "replayed")
    }

    fn same(&mut self, journal: &str, seqno: u64, bytes: &[u8], what: &str) -> Result<(), String> {
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let hash = hasher.finish();
        if !self.known.contains_key(journal) {
            self.known.insert(journal.to_owned(), BTreeMap::new());
        }
        let known = self
            .known
            .get_mut(journal)
            .map(|journal| *journal.entry(seqno).or_insert(hash));
        if known == Some(hash) {
            return Ok(());
        }
        Err(format!("event {seqno} is {what} with other bytes than before"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, dice};
    use super::*;

    #[test]
    fn repeats_are_equal() {
        let mut bench = Bench::dice(SameBytes::default());
        let records = bench.append(dice::to_landed(1));
        bench.publish(1, &records[1]);
        bench.publish(2, &records[1]);
        let response = Response {
            response: Some(Answer::Event(records[1].1.clone())),
            ..Response::default()
        };
        bench.publish_on(2, "p/responses/floor", &response.encode_to_vec());
        bench.expect_nothing();
    }

    #[test]
    fn what_comes_late_from_before_a_rollback_may_differ_and_nothing_else() {
        let mut bench = Bench::dice(SameBytes::default());
        let before = bench.append(dice::to_landed(1));
        bench.see(&Seen::Connected { connection: 1 });
        let (seqno, journal) = (before[3].0, bench.journal().to_owned());
        bench.see(&Seen::WentBack {
            journal: &journal,
            to: seqno - 1,
        });
        let mut event = Event::decode(before[3].1.as_slice()).unwrap();
        event.uptime_us += 1;
        let after = (seqno, event.encode_to_vec());
        bench.publish(1, &before[3]);
        bench.store(std::slice::from_ref(&after));
        bench.publish(1, &before[3]);
        bench.see(&Seen::Connected { connection: 2 });
        bench.publish(2, &after);
        bench.expect_nothing();
        bench.publish(2, &before[3]);
        bench.expect("published with other bytes");
    }

    #[test]
    fn other_bytes_are_found_wherever_they_come() {
        let mut bench = Bench::dice(SameBytes::default());
        let records = bench.append(dice::to_landed(1));
        let mut event = Event::decode(records[1].1.as_slice()).unwrap();
        event.uptime_us += 1;
        let other = (records[1].0, event.encode_to_vec());
        bench.publish(1, &other);
        bench.expect("published with other bytes");
        let response = Response {
            response: Some(Answer::Event(other.1.clone())),
            ..Response::default()
        };
        bench.publish_on(1, "p/responses/floor", &response.encode_to_vec());
        bench.expect("replayed with other bytes");
        bench.store(&[other]);
        bench.expect("journalled with other bytes");
    }
}
