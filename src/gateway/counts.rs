//! What the loop has done, in plain numbers that it owns: read when somebody looks, never awaited. They run since the table was
//! started on its journal, and are all changed together, so that they add up whenever they are read.

use crate::journal::Seqno;
use crate::table::durations::{Phase, Stopwatch};
use crate::table::event::{Body, Event, ResultSource, SpinInvalidatedReason};
use crate::table::rejection::CODES;
use std::time::Duration;

/// Upper ends of the histogram of appends, in microseconds. A healthy disk is in the first five; 500 ms is an alert, and after 5 s an
/// append has failed.
pub const APPEND_BUCKETS_US: [u64; 12] = [
    500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 5_000_000,
];

/// Upper ends of the histograms of the phases of play, in milliseconds: lamps answer within the first, people take the rest.
pub const PHASE_BUCKETS_MS: [u32; 14] = [
    20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000,
];

/// Reasons of an invalid spin, by their number in the events.
pub const SPIN_REASONS: usize = SpinInvalidatedReason::SpinnerOutsideRing as usize + 1;

/// How long one phase took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PhaseCounts {
    /// How often, by length; the last is for those over the last end.
    pub lengths: [u64; PHASE_BUCKETS_MS.len() + 1],
    /// Milliseconds that they took together.
    pub together_ms: u64,
}

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
    /// The same by code, in the order of [`CODES`]; the last is for those that aren't there.
    pub refused_by_code: [u64; CODES.len() + 1],
    /// Results that were amended or corrected with the terminal.
    pub amended_by_terminal: u64,
    /// The same by command.
    pub amended_by_command: u64,
    /// Two-up: invalid spins by the number of their reason, overruled ones too.
    pub invalid_spins: [u64; SPIN_REASONS],
    /// How long the phases of play took, in the order of [`Phase::ALL`].
    pub phases: [PhaseCounts; Phase::ALL.len()],
    /// Measures them.
    pub(super) watch: Stopwatch,
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
            Some(Body::EntryRejected(rejected)) => self.refused(rejected.code, rejected.count),
            Some(Body::ResultAmended(amended)) => self.amended(amended.source()),
            Some(Body::SpinCorrected(corrected)) => self.amended(corrected.source()),
            Some(Body::SpinInvalidated(invalid)) => {
                let reason = usize::try_from(invalid.reason).unwrap_or_default();
                if let Some(count) = self.invalid_spins.get_mut(reason) {
                    *count += 1;
                }
            }
            Some(Body::ClockStepped(_)) => self.clock_steps += 1,
            Some(Body::EventsExpired(expired)) => self.expired_through = expired.through_seqno,
            Some(_) | None => {}
        }
        for (phase, ms) in self.watch.note(event).into_iter().flatten() {
            self.took(phase, ms);
        }
    }

    fn refused(&mut self, code: u32, times: u32) {
        self.entries_refused += u64::from(times);
        let at = CODES.iter().position(|known| known.number == code && code > 0);
        if let Some(count) = self.refused_by_code.get_mut(at.unwrap_or(CODES.len())) {
            *count += u64::from(times);
        }
    }

    fn amended(&mut self, source: ResultSource) {
        match source {
            ResultSource::Terminal | ResultSource::Unspecified => self.amended_by_terminal += 1,
            ResultSource::Command => self.amended_by_command += 1,
        }
    }

    fn took(&mut self, phase: Phase, ms: u32) {
        let Some(counts) = self.phases.get_mut(phase as usize) else {
            return;
        };
        let at = PHASE_BUCKETS_MS.iter().take_while(|end| **end < ms).count();
        if let Some(bucket) = counts.lengths.get_mut(at) {
            *bucket += 1;
        }
        counts.together_ms = counts.together_ms.saturating_add(ms.into());
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

    #[test]
    fn refusals_are_counted_by_their_code_and_add_up() {
        let mut counts = Counts::default();
        for (code, count) in [(1, 1), (2, 4), (39, 1), (0, 1), (77, 2)] {
            counts.note(&Event {
                body: Some(Body::EntryRejected(crate::table::event::EntryRejected {
                    code,
                    count,
                    ..Default::default()
                })),
                ..Event::default()
            });
        }
        let by_code: Vec<(&str, u64)> = CODES
            .iter()
            .map(|code| code.readout)
            .chain(["other"])
            .zip(counts.refused_by_code)
            .filter(|(_, count)| *count > 0)
            .collect();
        assert_eq!(by_code, [("E01", 1), ("E02", 4), ("E39", 1), ("other", 3)]);
        assert_eq!(counts.refused_by_code.iter().sum::<u64>(), counts.entries_refused);
    }

    #[test]
    fn a_phase_is_in_the_bucket_that_it_fits_in() {
        let mut counts = Counts::default();
        for ms in [1, 20, 21, 300_000, 300_001] {
            counts.took(Phase::Round, ms);
        }
        let round = counts.phases[Phase::ALL.iter().position(|phase| *phase == Phase::Round).unwrap()];
        assert_eq!(
            (round.lengths[0], round.lengths[1], round.lengths[13], round.lengths[14]),
            (2, 1, 1, 1)
        );
        assert_eq!(round.together_ms, 600_043);
    }
}
