//! What the loop has done, in plain numbers that it owns: read when somebody looks, never awaited. They run since the table was
//! started on its journal, and are all changed together, so that they add up whenever they are read.

use crate::journal::Seqno;
use crate::table::event::{Body, Event};
use std::time::Duration;

/// Upper ends of the histogram of appends, in microseconds. A healthy disk is in the first five; 500 ms is an alert, and after 5 s an
/// append has failed.
pub const APPEND_BUCKETS_US: [u64; 12] = [
    500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 5_000_000,
];

/// What the loop has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Inputs that the table was asked to decide, and those that came while nothing could be recorded.
    pub inputs: u64,
    /// Inputs that led to events, all durable.
    pub recorded: u64,
    /// Inputs that meant nothing to record.
    pub unrecorded: u64,
    /// Inputs that did not happen, because nothing could be recorded.
    pub lost: u64,
    /// Acts of people that were done.
    pub acts_done: u64,
    /// Acts of people that were refused: by the rules, or because nothing could be recorded.
    pub acts_refused: u64,
    /// Results that were entered and taken.
    pub entries_accepted: u64,
    /// Entries that were refused. Equal ones within 10 s are counted when those are over.
    pub entries_refused: u64,
    /// Events that became durable.
    pub journalled: u64,
    /// The newest of them, or the newest there was.
    pub head: Seqno,
    /// Events that were deleted because of their age.
    pub expired_through: Seqno,
    /// Steps of the wall clock.
    pub clock_steps: u64,
    /// Appends that succeeded, by duration; the last is for those over the last end.
    pub appends: [u64; APPEND_BUCKETS_US.len() + 1],
    /// Microseconds that they took together.
    pub append_us: u64,
    /// Appends that failed.
    pub appends_failed: u64,
}

impl Counts {
    /// Inputs that are being recorded just now: at most one.
    #[must_use]
    pub fn in_progress(&self) -> u64 {
        let decided = self.recorded.saturating_add(self.unrecorded).saturating_add(self.lost);
        self.inputs.saturating_sub(decided)
    }

    /// An append succeeded.
    pub(super) fn appended(&mut self, took: Duration) {
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let at = APPEND_BUCKETS_US.iter().take_while(|end| **end < took).count();
        if let Some(bucket) = self.appends.get_mut(at) {
            *bucket += 1;
        }
        self.append_us = self.append_us.saturating_add(took);
    }

    /// An event is durable.
    pub(super) fn note(&mut self, event: &Event) {
        self.journalled += 1;
        self.head = event.seqno;
        match &event.body {
            Some(Body::ResultEntered(_) | Body::SpinResulted(_)) => self.entries_accepted += 1,
            Some(Body::EntryRejected(rejected)) => self.entries_refused += u64::from(rejected.count),
            Some(Body::ClockStepped(_)) => self.clock_steps += 1,
            Some(Body::EventsExpired(expired)) => self.expired_through = expired.through_seqno,
            Some(_) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_append_is_in_exactly_one_bucket() {
        let mut counts = Counts::default();
        for took in [
            0, 500, 501, 1_000, 499_999, 500_000, 500_001, 5_000_000, 5_000_001, 60_000_000,
        ] {
            counts.appended(Duration::from_micros(took));
        }
        assert_eq!(counts.appends.iter().sum::<u64>(), 10);
        assert_eq!(counts.appends[0], 2, "an end belongs to its bucket");
        assert_eq!(counts.appends[1], 2);
        assert_eq!(counts.appends[9], 2);
        assert_eq!(counts.appends[12], 2);
    }
}
