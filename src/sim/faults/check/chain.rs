//! Numbers, hashes and round ids run on, across restarts: no gap, no number used again.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use crate::sim::faults::trace::{AfterRollback, Ending, Invariant, Judge, Seen, Sight, Stored};
use crate::table::event::Event;
use crate::table::event::event::Body;

#[derive(Default)]
pub(super) struct Contiguous {
    journals: BTreeMap<String, Journal>,
    /// The runs of the gateway so far, as events name them.
    runs: BTreeSet<String>,
    /// The run of the newest event.
    run: Option<Run>,
    /// The journal has gone back: how the run before ended isn't known.
    has_gone_back: bool,
    /// The run that goes on has recorded that it started: its self-test has passed.
    has_begun: bool,
    /// An append of this run failed: it may not get its last one through either.
    is_failing: bool,
}

/// A run of the gateway, as its events tell of it. What a dead run wrote may become durable when the next one opens the journal.
struct Run {
    name: String,
    uptime_us: u64,
    /// It has said that it started.
    has_started: bool,
    /// It has said that it stopped.
    has_stopped: bool,
    /// The run before had said so.
    after_clean_stop: bool,
}

#[derive(Default)]
struct Journal {
    seqno: u64,
    sha256: Vec<u8>,
    last_round: u64,
    /// Hash and last round after each event, for a journal that goes back.
    before: BTreeMap<u64, (Vec<u8>, u64)>,
}

impl Judge for Contiguous {
    fn invariant(&self) -> Invariant {
        Invariant::Contiguous
    }

    fn after_rollback(&self) -> AfterRollback {
        AfterRollback::GoesOn
    }

    fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        match sight.seen {
            Seen::GatewayStarted { .. } => (self.is_failing, self.has_begun) = (false, false),
            Seen::WentBack { journal, to } => {
                let journal = self.journals.entry((*journal).to_owned()).or_default();
                journal.before.retain(|seqno, _| seqno <= to);
                journal.seqno = *to;
                (journal.sha256, journal.last_round) = journal.before.get(to).cloned().unwrap_or_default();
                self.run = None;
                self.has_gone_back = true;
            }
            // Whoever can't open a journal begins none in its place either, in the middle of a run too.
            Seen::AppendFailed { .. } | Seen::AppendGivenUp { .. } | Seen::OpenedUnread => self.is_failing = true,
            // Whoever can't write can't write that either.
            Seen::GatewayEnded { how: Ending::Stopped }
                if !self.is_failing && self.has_begun && self.run.as_ref().is_some_and(|run| !run.has_stopped) =>
            {
                return Err("the gateway stopped, and its journal doesn't say so".to_owned());
            }
            Seen::Appended { journal, records } => {
                let mut judged = Ok(());
                for (record, event) in records.iter().zip(sight.events) {
                    let told = self.record(journal, record, event);
                    judged = judged.and(told.map_err(|text| format!("event {}: {text}", record.seqno)));
                }
                return judged;
            }
            _ => {}
        }
        Ok(())
    }
}

impl Contiguous {
    fn record(&mut self, name: &str, record: &Stored<'_>, event: &Event) -> Result<(), String> {
        let journal = self.journals.entry(name.to_owned()).or_default();
        let (seqno, sha256) = (journal.seqno, std::mem::take(&mut journal.sha256));
        let previous = if sha256.is_empty() { vec![0; 32] } else { sha256 };
        journal.seqno = record.seqno;
        journal.sha256 = Sha256::digest(record.bytes).to_vec();
        let last_round = journal.last_round;
        journal.last_round = last_round.max(event.round_id);
        let after = (journal.sha256.clone(), journal.last_round);
        journal.before.insert(record.seqno, after);
        if record.seqno != seqno + 1 {
            return Err(format!("it follows event {seqno}"));
        }
        if (event.journal_id.as_str(), event.seqno) != (name, record.seqno) {
            return Err(format!(
                "it says that it is event {} of {}",
                event.seqno, event.journal_id
            ));
        }
        if event.previous_sha256 != previous {
            return Err("its hash is not of the event before".to_owned());
        }
        let is_first = matches!(event.body, Some(Body::JournalStarted(_)));
        if is_first != (record.seqno == 1) {
            return Err("a journal begins with JournalStarted and has no other".to_owned());
        }
        if starts_a_round(event, last_round) && event.round_id <= last_round {
            return Err(format!(
                "round {} is used again, the last one was {last_round}",
                event.round_id
            ));
        }
        if event.round_id > last_round + 1 && last_round > 0 {
            return Err(format!("round {} follows round {last_round}", event.round_id));
        }
        self.in_run(event)
    }

    fn in_run(&mut self, event: &Event) -> Result<(), String> {
        match &mut self.run {
            Some(run) if run.name == event.run_id => {
                let before = std::mem::replace(&mut run.uptime_us, event.uptime_us);
                if run.has_stopped {
                    return Err("it comes after GatewayStopped".to_owned());
                }
                run.has_stopped = matches!(event.body, Some(Body::GatewayStopped(_)));
                if event.uptime_us < before {
                    return Err("the run's clock went back".to_owned());
                }
            }
            before => {
                // Nothing came before the first run: nothing was cut short.
                // A run that could not begin changes nothing of that.
                let after_clean_stop = before
                    .as_ref()
                    .is_none_or(|run| run.has_stopped || (!run.has_started && run.after_clean_stop));
                *before = Some(Run {
                    name: event.run_id.clone(),
                    uptime_us: event.uptime_us,
                    has_started: false,
                    has_stopped: false,
                    after_clean_stop,
                });
                let begins = matches!(
                    event.body,
                    Some(Body::GatewayStarted(_) | Body::JournalStarted(_) | Body::SelfTestFailed(_))
                );
                if !begins {
                    return Err("a run doesn't begin with GatewayStarted".to_owned());
                }
                if !self.runs.insert(event.run_id.clone()) {
                    return Err("a run has the name of an earlier one".to_owned());
                }
            }
        }
        let Some(Body::GatewayStarted(started)) = &event.body else {
            return Ok(());
        };
        self.has_begun = true;
        // A journal that begins anew in the middle of a run follows no clean stop.
        let was_clean = self
            .run
            .as_mut()
            .is_some_and(|run| !std::mem::replace(&mut run.has_started, true) && run.after_clean_stop);
        let is_known = !std::mem::take(&mut self.has_gone_back);
        if is_known && started.clean_stop != was_clean {
            return Err(format!(
                "it says clean_stop {}, and the run before ended so: {was_clean}",
                started.clean_stop
            ));
        }
        Ok(())
    }
}

/// A number that must be new.
fn starts_a_round(event: &Event, last: u64) -> bool {
    match &event.body {
        Some(Body::RoundStarted(_) | Body::SpinnerSelected(_)) => true,
        // Of a winner who goes on; before a call it may be placed anew in its round.
        Some(Body::SpinnerWagerPlaced(_)) => event.round_id != last,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, dice, fact};
    use super::*;
    use crate::table::event::{GatewayStarted, GatewayStopped};
    use prost::Message;

    /// A started table without anything wrong.
    fn bench() -> Bench {
        let mut bench = Bench::dice(Contiguous::default());
        bench.append(dice::to_landed(1));
        bench.expect_nothing();
        bench
    }

    fn stopped() -> super::super::testing::Fact {
        fact(0, Body::GatewayStopped(GatewayStopped::default()))
    }

    #[test]
    fn crashes_and_clean_stops_run_on() {
        let mut bench = bench();
        bench.see(&Seen::GatewayEnded { how: Ending::Crashed });
        bench.start();
        bench.append(vec![stopped()]);
        bench.see(&Seen::GatewayEnded { how: Ending::Stopped });
        bench.expect_nothing();
        let started = GatewayStarted {
            clean_stop: true,
            ..GatewayStarted::default()
        };
        let mut records = bench.record(vec![fact(0, Body::GatewayStarted(started)), dice::started(2)]);
        rename(&mut records, "run-3");
        bench.store(&records);
        bench.expect_nothing();
    }

    /// As if another run had made them; their chain is made anew.
    fn rename(records: &mut [(u64, Vec<u8>)], run: &str) {
        let mut previous = None;
        for (_, bytes) in records {
            let mut event = Event::decode(bytes.as_slice()).unwrap();
            event.run_id = run.to_owned();
            if let Some(previous) = previous {
                event.previous_sha256 = previous;
            }
            *bytes = event.encode_to_vec();
            previous = Some(Sha256::digest(&bytes).to_vec());
        }
    }

    #[test]
    fn each_break_is_found() {
        let mut bench = bench();
        let records = bench.record(dice::to_landed(2));
        bench.store(&records[1..2]);
        bench.expect("it follows event 8");

        let mut bench = self::bench();
        let mut records = bench.record(vec![dice::started(2)]);
        rename(&mut records, "run-2");
        bench.store(&records);
        bench.expect("a run doesn't begin with GatewayStarted");

        let mut bench = self::bench();
        let mut records = bench.record(vec![dice::started(2)]);
        let mut event = Event::decode(records[0].1.as_slice()).unwrap();
        event.previous_sha256 = vec![7; 32];
        records[0].1 = event.encode_to_vec();
        bench.store(&records);
        bench.expect("not of the event before");

        let mut bench = self::bench();
        bench.append(vec![dice::started(1)]);
        bench.expect("round 1 is used again");
        bench.append(vec![stopped(), dice::started(2)]);
        bench.expect("after GatewayStopped");
    }

    #[test]
    fn a_run_without_a_journal_can_not_say_that_it_stops() {
        let mut bench = bench();
        bench.see(&Seen::OpenedUnread);
        bench.see(&Seen::GatewayEnded { how: Ending::Stopped });
        bench.expect_nothing();
    }

    #[test]
    fn a_run_that_lies_about_the_one_before_is_found() {
        let mut bench = bench();
        bench.append(vec![stopped()]);
        bench.see(&Seen::GatewayEnded { how: Ending::Stopped });
        bench.start();
        bench.expect("it says clean_stop false");
        bench.see(&Seen::GatewayEnded { how: Ending::Stopped });
        bench.expect("its journal doesn't say so");
    }
}
