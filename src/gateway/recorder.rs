//! From facts to records: envelope, number, chain, bytes. Looks at the clocks once per append, and does no I/O.
//!
//! [`Recorder::seal`] changes nothing: what it returns becomes part of the chain by [`Recorder::committed`], after the journal
//! has synced it. A failed append therefore uses up no number.

use super::clock::Synchronisation;
use crate::journal::Record;
use crate::table::event::{Body, ClockQuality, ClockStepped, Event, Fact, Head};
use crate::time::{Clock, Timestamp, Uptime};
use prost::Message;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tokio::sync::watch;

/// An event's bytes at most. Brokers and microcontroller displays must be able to rely on it; facts are bounded so that
/// only a bug reaches it.
pub const MAX_EVENT_BYTES: usize = 8 * 1024;

/// The wall clock against the monotonic one may move this far between two looks before it counts as a step.
/// Slewing moves it by microseconds; a leap second stays below.
const STEP: i64 = 1_000_000;

/// A fact that does not fit an event. Its input did not happen.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of {bytes} bytes was to be recorded, and {MAX_EVENT_BYTES} is the most: nothing was recorded")]
pub struct TooLarge {
    /// How large it would have been.
    pub bytes: usize,
}

/// One append: events and their bytes, in order.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) events: Vec<Event>,
    pub(super) records: Vec<Record>,
    /// The head after it.
    head: Head,
    /// Wall minus monotonic clock when it was stamped.
    offset: i64,
}

impl Batch {
    /// The head after it.
    pub(super) fn head(&self) -> &Head {
        &self.head
    }
}

/// Who we are and how far the chain goes.
pub(super) struct Recorder {
    site: String,
    table: String,
    run_id: String,
    head: Head,
    clock: Arc<dyn Clock>,
    synchronisation: watch::Receiver<Synchronisation>,
    /// Wall minus monotonic clock at the last look, microseconds.
    offset: i64,
}

impl Recorder {
    pub(super) fn new(
        (site, table): (&str, &str),
        run_id: &str,
        head: Head,
        clock: Arc<dyn Clock>,
        synchronisation: watch::Receiver<Synchronisation>,
    ) -> Self {
        let offset = offset(clock.as_ref());
        Recorder {
            site: site.to_owned(),
            table: table.to_owned(),
            run_id: run_id.to_owned(),
            head,
            clock,
            synchronisation,
            offset,
        }
    }

    pub(super) fn head(&self) -> &Head {
        &self.head
    }

    pub(super) fn wall(&self) -> Timestamp {
        self.clock.wall()
    }

    /// The wall clock was set by more than [`STEP`] since the last look. Recorded with the next append, as its first event.
    pub(super) fn clock_has_stepped(&self) -> bool {
        offset(self.clock.as_ref()).abs_diff(self.offset) > STEP.unsigned_abs()
    }

    /// The wall clock of the run before went up to `last`. When ours is behind it, it went back while we were away: what is
    /// added to `batch` next begins with a step.
    pub(super) fn expect_no_earlier_than(&self, batch: &mut Batch, last: Timestamp) {
        let behind = last.as_unix_micros().saturating_sub(self.clock.wall().as_unix_micros());
        if behind > STEP {
            batch.offset = batch.offset.saturating_add(behind);
        }
    }

    /// Follows slow changes of the wall clock, so that slewing over days never looks like a step.
    pub(super) fn follow_slewing(&mut self) {
        if !self.clock_has_stepped() {
            self.offset = offset(self.clock.as_ref());
        }
    }

    /// Numbers, chains and encodes `facts`, which were decided at `now`. Changes nothing.
    pub(super) fn seal(&self, now: Uptime, facts: Vec<Fact>) -> Result<Batch, TooLarge> {
        let mut batch = self.begin();
        self.extend(&mut batch, now, facts)?;
        Ok(batch)
    }

    /// An append that follows the head, still empty.
    pub(super) fn begin(&self) -> Batch {
        Batch {
            events: Vec::new(),
            records: Vec::new(),
            head: self.head.clone(),
            offset: self.offset,
        }
    }

    /// Adds `facts` to an append; a step of the wall clock goes before them.
    pub(super) fn extend(&self, batch: &mut Batch, now: Uptime, facts: Vec<Fact>) -> Result<(), TooLarge> {
        let wall = self.clock.wall();
        let offset = offset(self.clock.as_ref());
        let stepped = offset.abs_diff(batch.offset) > STEP.unsigned_abs();
        batch.events.reserve(facts.len() + 1);
        batch.records.reserve(facts.len() + 1);
        if stepped {
            let step = ClockStepped {
                from: Some(expected(batch.offset, self.clock.uptime()).into()),
                to: Some(wall.into()),
            };
            let fact = gateway_fact(Body::ClockStepped(step));
            self.push(batch, now, wall, ClockQuality::Stepped, fact)?;
        }
        batch.offset = offset;
        let quality = match *self.synchronisation.borrow() {
            Synchronisation::Synchronised => ClockQuality::Synchronised,
            Synchronisation::Unsynchronised => ClockQuality::Unsynchronised,
        };
        for fact in facts {
            self.push(batch, now, wall, quality, fact)?;
        }
        Ok(())
    }

    fn push(
        &self,
        batch: &mut Batch,
        now: Uptime,
        wall: Timestamp,
        clock: ClockQuality,
        fact: Fact,
    ) -> Result<(), TooLarge> {
        let seqno = batch.head.seqno + 1;
        let event = Event {
            site: self.site.clone(),
            table: self.table.clone(),
            journal_id: self.head.journal_id.clone(),
            seqno,
            previous_sha256: std::mem::take(&mut batch.head.sha256),
            recorded_at: Some(wall.into()),
            clock: clock.into(),
            run_id: self.run_id.clone(),
            uptime_us: now.as_micros(),
            round_id: fact.round_id,
            actor: fact.actor,
            device: fact.device,
            rules: fact.rules,
            body: Some(fact.body),
        };
        let bytes = event.encode_to_vec();
        if bytes.len() > MAX_EVENT_BYTES {
            return Err(TooLarge { bytes: bytes.len() });
        }
        let sha256: [u8; 32] = Sha256::digest(&bytes).into();
        batch.head.seqno = seqno;
        batch.head.sha256 = sha256.to_vec();
        batch.records.push(Record { seqno, sha256, bytes });
        batch.events.push(event);
        Ok(())
    }

    /// The journal has synced `batch`: the next one follows it.
    pub(super) fn committed(&mut self, batch: &Batch) {
        assert_eq!(
            batch.events.first().map(|event| event.seqno),
            Some(self.head.seqno + 1),
            "what was synced follows the head"
        );
        self.head = batch.head.clone();
        self.offset = batch.offset;
    }
}

/// A fact of the gateway itself, outside any round.
pub(super) fn gateway_fact(body: Body) -> Fact {
    use crate::table::event::{Actor, ActorKind};
    Fact {
        body,
        actor: Some(Actor {
            kind: ActorKind::Gateway.into(),
            ..Actor::default()
        }),
        device: None,
        rules: Vec::new(),
        round_id: 0,
    }
}

/// The wall clock as it would show at `uptime`.
fn expected(offset: i64, uptime: Uptime) -> Timestamp {
    let uptime = i64::try_from(uptime.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_unix_micros(offset.saturating_add(uptime))
}

fn offset(clock: &dyn Clock) -> i64 {
    let uptime = i64::try_from(clock.uptime().as_micros()).unwrap_or(i64::MAX);
    clock.wall().as_unix_micros().saturating_sub(uptime)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::testing::SteppingClock;
    use crate::table::event::{AlertCleared, GatewayStopped};
    use std::time::Duration;

    fn empty_head(journal_id: String) -> Head {
        let sha256 = vec![0; 32];
        Head {
            journal_id,
            seqno: 0,
            sha256,
        }
    }

    fn recorder(clock: &Arc<SteppingClock>) -> Recorder {
        let (_, synchronisation) = watch::channel(Synchronisation::Synchronised);
        Recorder::new(
            ("harbour", "TS-07"),
            "run",
            empty_head("j".into()),
            clock.clone(),
            synchronisation,
        )
    }

    fn stopped() -> Fact {
        gateway_fact(Body::GatewayStopped(GatewayStopped {}))
    }

    #[test]
    fn numbers_and_chain_follow_the_head_and_a_failed_append_uses_up_none() {
        let clock = SteppingClock::shared();
        let mut recorder = recorder(&clock);
        let lost = recorder.seal(Uptime::ZERO, vec![stopped()]).unwrap();
        assert_eq!(lost.records[0].seqno, 1);
        let first = recorder.seal(Uptime::ZERO, vec![stopped(), stopped()]).unwrap();
        assert_eq!(first.records.iter().map(|r| r.seqno).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(first.events[0].previous_sha256, [0; 32]);
        assert_eq!(
            first.events[1].previous_sha256,
            Sha256::digest(&first.records[0].bytes).to_vec()
        );
        recorder.committed(&first);
        let second = recorder.seal(Uptime::ZERO, vec![stopped()]).unwrap();
        assert_eq!(second.events[0].seqno, 3);
        assert_eq!(second.events[0].previous_sha256, first.records[1].sha256);
        assert_eq!(
            Event::decode(second.records[0].bytes.as_slice()).unwrap(),
            second.events[0]
        );
    }

    #[test]
    fn a_step_of_the_wall_clock_is_the_first_event_after_it_and_only_once() {
        let clock = SteppingClock::shared();
        let mut recorder = recorder(&clock);
        clock.advance(Duration::from_secs(10));
        clock.step(-1_209_600_000_000);
        let batch = recorder.seal(clock.uptime(), vec![stopped()]).unwrap();
        assert_eq!(batch.events.len(), 2);
        assert_eq!(batch.events[0].clock(), ClockQuality::Stepped);
        let Some(Body::ClockStepped(step)) = &batch.events[0].body else {
            panic!("a step comes first");
        };
        let (from, to) = (step.from.as_ref().unwrap(), step.to.as_ref().unwrap());
        assert_eq!(from.seconds - to.seconds, 1_209_600);
        assert_eq!(batch.events[1].clock(), ClockQuality::Synchronised);
        recorder.committed(&batch);
        assert_eq!(recorder.seal(clock.uptime(), vec![stopped()]).unwrap().events.len(), 1);
    }

    #[test]
    fn slewing_is_no_step() {
        let clock = SteppingClock::shared();
        let mut recorder = recorder(&clock);
        for _ in 0..100 {
            clock.step(100_000);
            recorder.follow_slewing();
        }
        assert!(!recorder.clock_has_stepped());
    }

    #[test]
    fn a_clock_behind_the_last_event_of_the_run_before_has_stepped() {
        let clock = SteppingClock::shared();
        let recorder = recorder(&clock);
        let mut batch = recorder.begin();
        let last = Timestamp::from_unix_micros(clock.wall().as_unix_micros() + 5_000_000);
        recorder.expect_no_earlier_than(&mut batch, last);
        recorder.extend(&mut batch, Uptime::ZERO, Vec::new()).unwrap();
        assert!(matches!(&batch.events[0].body, Some(Body::ClockStepped(_))));
    }

    #[test]
    fn an_event_over_8_kib_is_refused() {
        let clock = SteppingClock::shared();
        let alert = "x".repeat(MAX_EVENT_BYTES);
        let fact = gateway_fact(Body::AlertCleared(AlertCleared { alert }));
        assert!(matches!(
            recorder(&clock).seal(Uptime::ZERO, vec![fact]),
            Err(TooLarge { .. })
        ));
    }
}
