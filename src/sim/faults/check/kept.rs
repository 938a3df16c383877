//! Events are kept for as long as was promised: deleted is only what is older than the retention, before the last but one checkpoint, at most
//! a day's worth, and the event that says so is in the same transaction.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::sim::faults::trace::{Invariant, Judge, Seen, Sight};
use crate::table::event::event::Body;
use crate::table::event::{ClockQuality, Event};

/// Seconds of the ninety days that rule books ask for.
const RETENTION: i64 = 90 * 24 * 3600;
/// Seconds of a day.
const DAY: i64 = 24 * 3600;

#[derive(Default)]
pub(super) struct KeptLongEnough {
    journals: BTreeMap<String, Journal>,
}

#[derive(Default)]
struct Journal {
    events: BTreeMap<u64, Kept>,
    checkpoints: Vec<u64>,
    /// What the newest event says of what is deleted with it, and when.
    told: Option<(u64, Vec<u8>, i64)>,
}

struct Kept {
    /// Seconds since 1970, where the clock could be trusted.
    recorded_at: Option<i64>,
    sha256: Vec<u8>,
}

impl Judge for KeptLongEnough {
    fn invariant(&self) -> Invariant {
        Invariant::KeptLongEnough
    }

    fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        match sight.seen {
            Seen::Appended { journal, records } => {
                let journal = self.journals.entry((*journal).to_owned()).or_default();
                for (record, event) in records.iter().zip(sight.events) {
                    journal.append(event, Sha256::digest(record.bytes).to_vec());
                }
                Ok(())
            }
            Seen::Expired { journal, through } => {
                self.journals.entry((*journal).to_owned()).or_default().expire(*through)
            }
            _ => Ok(()),
        }
    }
}

impl Journal {
    fn append(&mut self, event: &Event, sha256: Vec<u8>) {
        let seconds = event.recorded_at.as_ref().map_or(0, |at| at.seconds);
        let recorded_at = (event.clock() == ClockQuality::Synchronised).then_some(seconds);
        self.told = match &event.body {
            Some(Body::EventsExpired(expired)) => Some((expired.through_seqno, expired.sha256.clone(), seconds)),
            Some(Body::CheckpointRecorded(_)) => {
                self.checkpoints.push(event.seqno);
                None
            }
            _ => None,
        };
        self.events.insert(event.seqno, Kept { recorded_at, sha256 });
    }

    fn expire(&mut self, through: u64) -> Result<(), String> {
        let Some((told, sha256, now)) = self.told.take() else {
            return Err(format!("events up to {through} were deleted, and no event says so"));
        };
        let gone: Vec<(u64, Kept)> = {
            let left = self.events.split_off(&(through + 1));
            std::mem::replace(&mut self.events, left).into_iter().collect()
        };
        let Some((last, newest)) = gone.last() else {
            return Err(format!("events up to {through} were deleted, and none were there"));
        };
        if (told, &sha256, *last) != (through, &newest.sha256, through) {
            return Err(format!("events up to {through} were deleted, and up to {told} it says"));
        }
        let after = self.checkpoints.iter().filter(|checkpoint| **checkpoint > through);
        if after.count() < 2 {
            return Err(format!(
                "events up to {through} were deleted, beyond the last but one checkpoint"
            ));
        }
        let recorded = || gone.iter().filter_map(|(_, event)| event.recorded_at);
        let (oldest, youngest) = (recorded().min().unwrap_or(now), recorded().max().unwrap_or(now));
        if now - youngest < RETENTION {
            let days = (now - youngest) / DAY;
            return Err(format!("events up to {through} were deleted after {days} days"));
        }
        if youngest - oldest > DAY {
            return Err(format!(
                "more than a day's events were deleted at once, up to {through}"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, Record, dice, fact};
    use super::*;
    use crate::table::event::{CheckpointRecorded, EventsExpired};
    use prost::Message;
    use prost_types::Timestamp;

    fn checkpoint() -> super::super::testing::Fact {
        fact(0, Body::CheckpointRecorded(CheckpointRecorded::default()))
    }

    /// As if these had been recorded so many days after 1970.
    fn on_day(records: &mut [Record], day: i64) {
        for (_, bytes) in records {
            let mut event = Event::decode(bytes.as_slice()).unwrap();
            event.set_clock(ClockQuality::Synchronised);
            event.recorded_at = Some(Timestamp {
                seconds: day * DAY,
                nanos: 0,
            });
            *bytes = event.encode_to_vec();
        }
    }

    /// A round and two checkpoints on the first day, and what is deleted on another; the number of the newest event that is.
    fn deleted(checkpoints: usize, day: i64, told: u64) -> Bench {
        let mut bench = Bench::bare(KeptLongEnough::default());
        let mut facts = dice::to_landed(1);
        facts.extend(std::iter::repeat_n(checkpoint(), checkpoints));
        let mut records = bench.record(facts);
        on_day(&mut records, 1);
        bench.store(&records);
        let sha256 = Sha256::digest(&records[3].1).to_vec();
        let expired = EventsExpired {
            through_seqno: told,
            sha256,
        };
        let mut records = bench.record(vec![fact(0, Body::EventsExpired(expired))]);
        on_day(&mut records, day);
        bench.store(&records);
        let journal = bench.journal().to_owned();
        bench.see(&Seen::Expired {
            journal: &journal,
            through: 4,
        });
        bench
    }

    #[test]
    fn old_events_before_the_last_but_one_checkpoint_may_go() {
        deleted(2, 92, 4).expect_nothing();
    }

    #[test]
    fn too_young_too_far_and_untold_are_found() {
        deleted(2, 80, 4).expect("were deleted after 79 days");
        deleted(1, 92, 4).expect("beyond the last but one checkpoint");
        deleted(2, 92, 3).expect("and up to 3 it says");
        let mut bench = Bench::bare(KeptLongEnough::default());
        bench.append(dice::to_landed(1));
        let journal = bench.journal().to_owned();
        bench.see(&Seen::Expired {
            journal: &journal,
            through: 2,
        });
        bench.expect("no event says so");
    }
}
