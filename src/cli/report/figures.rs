//! The figures of a time: counts, and how long the phases of play took. They add up: the whole is the sum of its shifts.

use crate::table::durations::Phase;
use std::collections::BTreeMap;

/// How often, by a name.
pub type Counted = BTreeMap<String, u64>;

/// What happened in a time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Figures {
    /// How long the table was open, microseconds.
    pub open_us: u64,
    /// Rounds by their end: "settled", "void", "abandoned", ... "running" for those that have none yet.
    pub ends: Counted,
    /// Rounds that had a result or were void.
    pub played: u64,
    /// Void rounds by reason; a void that was withdrawn is none.
    pub voids: Counted,
    /// Voids that were withdrawn.
    pub voids_withdrawn: u64,
    /// Settlements and results that were taken back: rounds that were reopened, spins that were overruled or corrected.
    pub taken_back: u64,
    /// Amendments and corrections, by where they came from: "terminal", "command".
    pub amendments: Counted,
    /// Holds of rounds, by cause.
    pub holds: Counted,
    /// Two-up: invalid spins by reason; one that was overruled is none.
    pub invalid_spins: Counted,
    /// Results that were entered.
    pub entries: u64,
    /// Entries that were refused, by code.
    pub refused: BTreeMap<u32, u64>,
    /// Keys that came too late to count.
    pub stale_keys: u64,
    /// Acts of people that were refused.
    pub acts_refused: u64,
    /// Lamps and lights that were found dark, or lit wrongly.
    pub lamps_failed: u64,
    /// Every measured length of each phase, milliseconds.
    pub phases: BTreeMap<Phase, Vec<u32>>,
    /// Starts of the daemon.
    pub starts: u64,
    /// Steps of the wall clock.
    pub clock_steps: u64,
    /// Events that were recorded by a clock that followed no time server.
    pub unsynchronised: u64,
    /// Events.
    pub events: u64,
}

/// One more of `name`.
pub fn count(counted: &mut Counted, name: &str) {
    count_times(counted, name, 1);
}

fn count_times(counted: &mut Counted, name: &str, times: u64) {
    // The name is copied once, not at every count.
    match counted.get_mut(name) {
        Some(count) => *count += times,
        None => {
            counted.insert(name.to_owned(), times);
        }
    }
}

impl Figures {
    /// Adds another time's figures.
    pub fn add(&mut self, other: &Figures) {
        self.open_us += other.open_us;
        self.played += other.played;
        self.voids_withdrawn += other.voids_withdrawn;
        self.taken_back += other.taken_back;
        self.entries += other.entries;
        self.stale_keys += other.stale_keys;
        self.acts_refused += other.acts_refused;
        self.lamps_failed += other.lamps_failed;
        self.starts += other.starts;
        self.clock_steps += other.clock_steps;
        self.unsynchronised += other.unsynchronised;
        self.events += other.events;
        for (into, from) in [
            (&mut self.ends, &other.ends),
            (&mut self.voids, &other.voids),
            (&mut self.amendments, &other.amendments),
            (&mut self.holds, &other.holds),
            (&mut self.invalid_spins, &other.invalid_spins),
        ] {
            for (name, times) in from {
                count_times(into, name, *times);
            }
        }
        for (code, times) in &other.refused {
            *self.refused.entry(*code).or_default() += times;
        }
        for (phase, lengths) in &other.phases {
            self.phases.entry(*phase).or_default().extend(lengths);
        }
    }

    /// Hours in which the table was open.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "for people: a microsecond in a century")]
    pub fn open_hours(&self) -> f64 {
        self.open_us as f64 / 3.6e9
    }

    /// Rounds in an hour in which the table was open; `None`: it was not open.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "nobody plays 2^52 rounds")]
    pub fn rounds_per_open_hour(&self) -> Option<f64> {
        (self.open_us > 0).then(|| self.played as f64 / self.open_hours())
    }

    /// Of this in a hundred rounds; `None` without any round.
    #[must_use]
    pub fn per_hundred_rounds(&self, count: u64) -> Option<f64> {
        per_hundred(count, self.played)
    }

    /// Entries that were refused.
    #[must_use]
    pub fn all_refused(&self) -> u64 {
        self.refused.values().sum()
    }

    /// Of a hundred entries, those that were refused; `None` without any entry.
    #[must_use]
    pub fn refused_per_hundred_entries(&self) -> Option<f64> {
        per_hundred(self.all_refused(), self.entries + self.all_refused())
    }

    /// How long a phase took; `None`: it was never measured.
    #[must_use]
    pub fn spread(&self, phase: Phase) -> Option<Spread> {
        Spread::of(self.phases.get(&phase)?)
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody plays 2^52 rounds")]
fn per_hundred(count: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| count as f64 * 100.0 / of as f64)
}

/// How lengths spread, milliseconds. Percentiles are lengths that were measured: the nearest rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spread {
    /// How many were measured.
    pub measured: u64,
    /// Half took no longer.
    pub p50: u32,
    /// Nine of ten took no longer.
    pub p90: u32,
    /// 99 of a hundred took no longer.
    pub p99: u32,
    /// The longest.
    pub most: u32,
}

impl Spread {
    fn of(lengths: &[u32]) -> Option<Spread> {
        let mut sorted = lengths.to_vec();
        sorted.sort_unstable();
        let at = |percent: usize| {
            let rank = (sorted.len() * percent).div_ceil(100);
            sorted.get(rank.checked_sub(1)?).copied()
        };
        Some(Spread {
            measured: u64::try_from(sorted.len()).ok()?,
            p50: at(50)?,
            p90: at(90)?,
            p99: at(99)?,
            most: at(100)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_lengths_that_were_measured() {
        let spread = |lengths: &[u32]| Spread::of(lengths).map(|s| (s.measured, s.p50, s.p90, s.p99, s.most));
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[7]), Some((1, 7, 7, 7, 7)));
        assert_eq!(spread(&[30, 10]), Some((2, 10, 30, 30, 30)));
        assert_eq!(spread(&[50, 10, 40, 20, 30]), Some((5, 30, 50, 50, 50)));
        let hundred: Vec<u32> = (1..=100).rev().collect();
        assert_eq!(spread(&hundred), Some((100, 50, 90, 99, 100)));
        let more: Vec<u32> = (1..=101).collect();
        assert_eq!(spread(&more), Some((101, 51, 91, 100, 101)));
    }
}
