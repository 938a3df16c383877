//! How a device's clock relates to the host's, from PING and PONG. PURE.

use crate::time::Uptime;
use std::collections::VecDeque;
use std::time::Duration;

/// A PONG that took longer says too little about when the device's clock was read.
const MAX_ROUND_TRIP: Duration = Duration::from_millis(200);
/// An older relation has drifted: 1 % of this is 100 ms.
pub const MAX_AGE: Duration = Duration::from_secs(10);
/// Round trips kept for percentiles: two minutes of them.
const KEPT_TRIPS: usize = 120;
/// A clock watched for less says too little: a device tells it in milliseconds, and 1 ms of a minute is 17 ppm.
const DRIFT_AFTER: Duration = Duration::from_secs(60);
/// Steps of the histogram of all round trips to each doubling: a percentile is known to a quarter.
const STEPS: u32 = 4;
/// Quicker ones are counted together: 64 microseconds.
const FIRST_OCTAVE: u32 = 6;
/// Doublings: up to 16 s, longer than any session lasts without an answer.
const OCTAVES: u32 = 18;

/// The relation of one session's device clock to the host's.
#[derive(Clone, Debug)]
pub struct DeviceClock {
    since: Uptime,
    number: u8,
    asked: Option<Uptime>,
    relation: Option<Relation>,
    /// The first relation of the session, and how many milliseconds the device's clock has run since.
    first: Option<(Relation, u64)>,
}

/// How far a device's clock runs from the host's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Drift {
    /// Parts per million; above zero it runs fast.
    pub ppm: i64,
    /// Over how long that was measured.
    pub over: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Relation {
    device_ms: u32,
    host: Uptime,
    taken: Uptime,
}

impl DeviceClock {
    /// No relation yet.
    #[must_use]
    pub(super) fn new(now: Uptime) -> Self {
        DeviceClock {
            since: now,
            number: 0,
            asked: None,
            relation: None,
            first: None,
        }
    }

    /// A PING goes out now: its number. An answer to an earlier one counts no more.
    pub(super) fn ask(&mut self, now: Uptime) -> u8 {
        self.number = self.number.wrapping_add(1);
        self.asked = Some(now);
        self.number
    }

    /// A PONG came: its round trip, when it answers the newest PING.
    pub(super) fn answer(&mut self, now: Uptime, number: u8, device_ms: u32) -> Option<Duration> {
        if number != self.number {
            return None;
        }
        let sent = self.asked.take()?;
        let trip = now.since(sent);
        if trip < MAX_ROUND_TRIP {
            let newest = Relation {
                device_ms,
                host: sent + trip / 2,
                taken: now,
            };
            // Its milliseconds begin anew after 49 days.
            let ran = self.relation.map_or(0, |last| device_ms.wrapping_sub(last.device_ms));
            match &mut self.first {
                Some((_, ran_ms)) => *ran_ms += u64::from(ran),
                None => self.first = Some((newest, 0)),
            }
            self.relation = Some(newest);
        }
        Some(trip)
    }

    /// A device's time in the host's. `None` without a PONG that is good and new enough. Times before the run count as its start: take
    /// [`Self::age`] for how long ago a thing was.
    #[must_use]
    pub fn relate(&self, now: Uptime, device_ms: u32) -> Option<Uptime> {
        let age = self.age(now, device_ms)?;
        // Clocks drift apart; a thing can't have happened after it was heard of.
        Some(now - age)
    }

    /// How long ago, at `now`, a device's time was; zero for what seems to lie ahead. `None` without a PONG that is good and new enough.
    #[must_use]
    pub fn age(&self, now: Uptime, device_ms: u32) -> Option<Duration> {
        let relation = self.relation.filter(|known| now.since(known.taken) <= MAX_AGE)?;
        let elapsed = u32::try_from(now.since(relation.host).as_millis()).unwrap_or(u32::MAX);
        let age_ms = relation.device_ms.wrapping_add(elapsed).wrapping_sub(device_ms);
        // Half of the range lies before, half ahead: what looks like more than 24 days ago is ahead.
        let is_past = age_ms < 1 << 31;
        Some(Duration::from_millis(if is_past { u64::from(age_ms) } else { 0 }))
    }

    /// How far it runs from ours; `None` until it was watched for a minute.
    #[must_use]
    pub(super) fn drift(&self) -> Option<Drift> {
        let ((first, ran_ms), newest) = self.first.zip(self.relation)?;
        let over = newest.host.since(first.host);
        if over < DRIFT_AFTER {
            return None;
        }
        let ours = i64::try_from(over.as_micros()).ok()?;
        let its = i64::try_from(ran_ms.saturating_mul(1000)).ok()?;
        let ahead = i128::from(its) - i128::from(ours);
        let ppm = i64::try_from(ahead * 1_000_000 / i128::from(ours)).ok()?;
        Some(Drift { ppm, over })
    }

    /// Without a relation since.
    #[must_use]
    pub(super) fn unrelated_since(&self) -> Uptime {
        self.relation.map_or(self.since, |known| known.taken)
    }
}

/// Round trips: those of the last two minutes, and all of them in a histogram of fixed size.
#[derive(Clone, Debug)]
pub struct RoundTrips {
    newest: VecDeque<Duration>,
    all: [u32; (STEPS * OCTAVES) as usize],
    count: u64,
    longest: Duration,
}

impl Default for RoundTrips {
    fn default() -> Self {
        RoundTrips {
            newest: VecDeque::new(),
            all: [0; (STEPS * OCTAVES) as usize],
            count: 0,
            longest: Duration::ZERO,
        }
    }
}

impl RoundTrips {
    pub(super) fn record(&mut self, trip: Duration) {
        if self.newest.len() == KEPT_TRIPS {
            self.newest.pop_front();
        }
        self.newest.push_back(trip);
        self.longest = self.longest.max(trip);
        self.count += 1;
        if let Some(counted) = self.all.get_mut(bucket(trip)) {
            *counted = counted.saturating_add(1);
        }
    }

    /// The round trip that `percent` (0 to 100) of the newest don't exceed; `None` before the first.
    #[must_use]
    pub fn percentile(&self, percent: u8) -> Option<Duration> {
        let mut sorted: Vec<Duration> = self.newest.iter().copied().collect();
        sorted.sort_unstable();
        let rank = (sorted.len() * usize::from(percent.min(100))).div_ceil(100);
        sorted.get(rank.saturating_sub(1)).copied()
    }

    /// The same of all since the host was made, to a quarter; never more than [`Self::longest`].
    #[must_use]
    pub fn percentile_of_all(&self, percent: u8) -> Option<Duration> {
        let rank = (self.count * u64::from(percent.min(100))).div_ceil(100).max(1);
        let mut counted = 0;
        let at = self.all.iter().position(|count| {
            counted += u64::from(*count);
            counted >= rank
        })?;
        let without_limit = at + 1 == self.all.len();
        Some(if without_limit {
            self.longest
        } else {
            upper(at).min(self.longest)
        })
    }

    /// The longest of all; `None` before the first.
    #[must_use]
    pub fn longest(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.longest)
    }

    /// How many there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }
}

/// Where a round trip is counted.
fn bucket(trip: Duration) -> usize {
    let micros = u64::try_from(trip.as_micros()).unwrap_or(u64::MAX);
    let octave = micros.checked_ilog2().unwrap_or(0).max(FIRST_OCTAVE);
    // The two bits after the highest one.
    let step = (micros >> (octave - STEPS.ilog2())) % u64::from(STEPS);
    let step = if micros < 1 << FIRST_OCTAVE { 0 } else { step };
    let at = u64::from((octave - FIRST_OCTAVE) * STEPS) + step;
    usize::try_from(at.min(u64::from(STEPS * OCTAVES - 1))).unwrap_or(0)
}

/// What is counted at `at` doesn't exceed this.
fn upper(at: usize) -> Duration {
    let at = u64::try_from(at).unwrap_or(0);
    let (octave, step) = (at / u64::from(STEPS), at % u64::from(STEPS));
    let quarter = 1_u64 << (octave + u64::from(FIRST_OCTAVE - STEPS.ilog2()));
    Duration::from_micros((u64::from(STEPS) + step + 1) * quarter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_all_round_trips_are_known_to_a_quarter() {
        let mut trips = RoundTrips::default();
        assert_eq!(trips.percentile_of_all(50), None);
        for micros in [1, 63, 64, 100, 1000, 1234, 5000, 20_000, 1_000_000, 30_000_000] {
            let mut one = RoundTrips::default();
            one.record(Duration::from_micros(micros));
            let told = one.percentile_of_all(50).unwrap();
            assert_eq!(told, Duration::from_micros(micros), "one alone is the longest");
            let edge = upper(bucket(Duration::from_micros(micros)));
            let micros = Duration::from_micros(micros.clamp(64, 16_000_000));
            assert!(edge >= micros || bucket(micros) == 71, "{edge:?} {micros:?}");
            assert!(
                edge <= micros + micros / 4 + Duration::from_micros(16),
                "{edge:?} {micros:?}"
            );
        }
        for n in 0..1000_u64 {
            trips.record(Duration::from_micros(if n % 100 == 0 { 40_000 } else { 1000 }));
        }
        assert_eq!(trips.count(), 1000);
        assert!(trips.percentile_of_all(50).unwrap() <= Duration::from_micros(1280));
        assert!(trips.percentile_of_all(99).unwrap() <= Duration::from_micros(1280));
        assert_eq!(trips.percentile_of_all(100), Some(Duration::from_micros(40_000)));
        assert_eq!(trips.longest(), Some(Duration::from_micros(40_000)));
    }

    #[test]
    fn a_clock_that_runs_fast_is_measured_after_a_minute_and_over_the_turn_of_its_milliseconds() {
        let mut clock = DeviceClock::new(Uptime::ZERO);
        let begun = u32::MAX - 30_000;
        for second in 0..=100_u64 {
            let now = Uptime::from_millis(second * 1000);
            let number = clock.ask(now);
            // 500 ppm: half a millisecond a second.
            let device_ms = begun.wrapping_add(u32::try_from(second * 1000 + second / 2).unwrap());
            clock.answer(now, number, device_ms);
            assert_eq!(clock.drift().is_some(), second >= 60, "{second}");
        }
        let drift = clock.drift().unwrap();
        assert_eq!((drift.ppm, drift.over), (500, Duration::from_secs(100)));
    }
}
