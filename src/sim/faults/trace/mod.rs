//! What an onlooker outside the gateway sees, in order, with virtual time; and the trace that carries it to the judges.
//!
//! The world says [`Seen`] at the moment at which the thing became true outside the gateway: storage *when the bytes are durable*, a device
//! *when a person could see it*, the broker *when it took the publish over*. A judge must never have to know how the gateway works.
//! Nothing is kept: the judges are fed as it goes, a running hash stands for the whole (each seed twice, same hash), and a printer can write
//! one readable line each.
//! What can be seen is in `seen`, what a judge is in `judge`, the lines and the hash in `told`.

mod judge;
mod seen;
mod told;

pub use judge::{AfterRollback, Finding, Invariant, Judge, Sight};
pub use seen::{
    Answer, Connection, Ending, Happening, Picture, Publish, Seen, Stored, Wants, Who, bits, is_events, is_state,
    is_status,
};

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use prost::Message;

use crate::table::event::{Body, Event};
use told::{Clock, Line, hash_of};

/// How many findings are kept: a world gone wrong breaks the same rule without end.
const MOST_FINDINGS: usize = 16;

/// Gets one line for each thing seen.
pub type Printer = Box<dyn FnMut(&str) + Send>;

/// Carries what is seen to the judges.
pub struct Trace {
    hash: DefaultHasher,
    seen: u64,
    rounds: u64,
    judges: Vec<Box<dyn Judge>>,
    findings: Vec<Finding>,
    printer: Option<Printer>,
    /// Kept between uses, so that a sight costs no allocation.
    events: Vec<Event>,
    last: Duration,
}

impl fmt::Debug for Trace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Trace")
            .field("seen", &self.seen)
            .field("findings", &self.findings)
            .finish_non_exhaustive()
    }
}

impl Trace {
    /// A trace that these judges look at.
    #[must_use]
    pub fn new(judges: Vec<Box<dyn Judge>>) -> Self {
        Trace {
            hash: DefaultHasher::new(),
            seen: 0,
            rounds: 0,
            judges,
            findings: Vec::new(),
            printer: None,
            events: Vec::new(),
            last: Duration::ZERO,
        }
    }

    /// The same, and one line for each thing seen.
    #[must_use]
    pub fn printed(mut self, printer: Printer) -> Self {
        self.printer = Some(printer);
        self
    }

    /// Something was seen at this virtual time since the simulation began.
    pub fn see(&mut self, at: Duration, seen: &Seen<'_>) {
        self.seen += 1;
        at.hash(&mut self.hash);
        hash_of(seen, &mut self.hash);
        let mut events = std::mem::take(&mut self.events);
        if let Err(text) = decode(seen, &mut events) {
            self.find(at, Invariant::Sound, text);
        }
        if at < self.last {
            self.find(at, Invariant::Sound, "the virtual clock went back".to_owned());
        }
        self.last = at;
        if let Seen::Appended { .. } = seen {
            let ended = events.iter().filter(|event| ends_a_round(event)).count();
            self.rounds += u64::try_from(ended).unwrap_or(0);
        }
        if let Seen::GatewayEnded { how: Ending::Died } = seen {
            self.find(at, Invariant::Sound, "the gateway ended by itself".to_owned());
        }
        if let Some(printer) = &mut self.printer {
            printer(&format!("{} {}", Clock(at), Line { seen, events: &events }));
        }
        let sight = Sight {
            at,
            seen,
            events: &events,
        };
        let mut judges = std::mem::take(&mut self.judges);
        if let Seen::WentBack { .. } = seen {
            judges.retain(|judge| judge.after_rollback() == AfterRollback::GoesOn);
        }
        for judge in &mut judges {
            if let Err(text) = judge.look(&sight) {
                self.find(at, judge.invariant(), text);
            }
        }
        self.judges = judges;
        events.clear();
        self.events = events;
    }

    fn find(&mut self, at: Duration, invariant: Invariant, text: String) {
        let finding = Finding { invariant, at, text };
        if let Some(printer) = &mut self.printer {
            printer(&format!("{} BROKEN {finding}", Clock(at)));
        }
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(finding);
        }
    }

    /// What was found so far, oldest first; the first 16 at most.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// What came of it.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        Outcome {
            hash: self.hash.finish(),
            seen: self.seen,
            rounds: self.rounds,
            lasted: self.last,
            findings: self.findings.clone(),
        }
    }
}

/// What came of one simulation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Of everything seen, with its times. Equal seeds give equal hashes in one build of the program.
    pub hash: u64,
    /// How many things were seen.
    pub seen: u64,
    /// How many rounds ended, settled, void or otherwise.
    pub rounds: u64,
    /// Virtual time.
    pub lasted: Duration,
    /// What was broken; empty: nothing.
    pub findings: Vec<Finding>,
}

/// Whether a round ends with this event.
fn ends_a_round(event: &Event) -> bool {
    matches!(
        event.body,
        Some(Body::RoundSettled(_) | Body::RoundVoided(_) | Body::RoundAbandoned(_) | Body::SpinnerWagerDecided(_))
    )
}

/// Decodes the events that this carries.
fn decode(seen: &Seen<'_>, events: &mut Vec<Event>) -> Result<(), String> {
    match seen {
        Seen::Appended { records, .. } => {
            for record in *records {
                let event = Event::decode(record.bytes)
                    .map_err(|error| format!("event {} can't be read: {error}", record.seqno))?;
                events.push(event);
            }
            Ok(())
        }
        Seen::Published { topic, payload, .. } if is_events(topic) => {
            let event = Event::decode(*payload).map_err(|error| format!("a published event can't be read: {error}"))?;
            events.push(event);
            Ok(())
        }
        Seen::Published { .. }
        | Seen::Began { .. }
        | Seen::GatewayStarted { .. }
        | Seen::GatewayEnded { .. }
        | Seen::Stated { .. }
        | Seen::AppendFailed { .. }
        | Seen::AppendGivenUp { .. }
        | Seen::Expired { .. }
        | Seen::OpenedUnread
        | Seen::CursorWritten { .. }
        | Seen::CountLost { .. }
        | Seen::WentBack { .. }
        | Seen::Intruded { .. }
        | Seen::FloorAsked { .. }
        | Seen::Shows { .. }
        | Seen::Happened { .. }
        | Seen::LinkBroken { .. }
        | Seen::LinkMended { .. }
        | Seen::Connected { .. }
        | Seen::Disconnected { .. }
        | Seen::ThrownAway { .. }
        | Seen::Acknowledged { .. }
        | Seen::BrokerForgot
        | Seen::Asked { .. }
        | Seen::Told { .. }
        | Seen::FaultBegan { .. }
        | Seen::FaultOver { .. }
        | Seen::Quiet
        | Seen::LastRound
        | Seen::End => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::input::DeviceKind;
    use std::sync::{Arc, Mutex};

    struct NoBells;

    impl Judge for NoBells {
        fn invariant(&self) -> Invariant {
            Invariant::OneResult
        }

        fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
            if *sight.seen == BELL {
                return Err("a bell".to_owned());
            }
            Ok(())
        }
    }

    const BELL: Seen<'static> = Seen::Happened {
        device: DeviceKind::Terminal,
        what: Happening::Bell,
    };

    #[test]
    fn the_hash_tells_what_was_seen_and_when() {
        let hash = |sights: &[(u64, Seen<'_>)]| {
            let mut trace = Trace::new(Vec::new());
            for (at, seen) in sights {
                trace.see(Duration::from_millis(*at), seen);
            }
            trace.outcome().hash
        };
        let one = hash(&[(1, BELL), (2, Seen::Quiet)]);
        assert_eq!(one, hash(&[(1, BELL), (2, Seen::Quiet)]));
        assert_ne!(one, hash(&[(1, BELL), (3, Seen::Quiet)]));
        assert_ne!(one, hash(&[(1, BELL), (2, Seen::End)]));
        assert_ne!(one, hash(&[(2, Seen::Quiet)]));
    }

    #[test]
    fn what_a_judge_finds_is_kept_and_printed_and_bounded() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let mut trace = Trace::new(vec![Box::new(NoBells)])
            .printed(Box::new(move |line| kept.lock().unwrap().push(line.to_owned())));
        for at in 0..40 {
            trace.see(Duration::from_secs(at), &BELL);
        }
        let outcome = trace.outcome();
        assert_eq!(outcome.findings.len(), MOST_FINDINGS);
        assert_eq!(outcome.seen, 40);
        assert_eq!(outcome.findings[1].to_string(), "one-result at     1.000000: a bell");
        let lines = lines.lock().unwrap();
        assert_eq!(lines[0], "    0.000000 happens  Terminal Bell");
        assert_eq!(lines[1], "    0.000000 BROKEN one-result at     0.000000: a bell");
    }

    #[test]
    fn what_cannot_be_read_and_a_gateway_that_dies_are_found() {
        let mut trace = Trace::new(Vec::new());
        let records = [Stored {
            seqno: 1,
            bytes: &[0xff, 0xff],
        }];
        let journal = "11111111-2222";
        trace.see(
            Duration::ZERO,
            &Seen::Appended {
                journal,
                records: &records,
            },
        );
        trace.see(Duration::ZERO, &Seen::GatewayEnded { how: Ending::Died });
        let findings = trace.outcome().findings;
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert!(findings.iter().all(|finding| finding.invariant == Invariant::Sound));
    }
}
