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

/// The relation of one session's device clock to the host's.
#[derive(Clone, Debug)]
pub struct DeviceClock {
    since: Uptime,
    number: u8,
    asked: Option<Uptime>,
    relation: Option<Relation>,
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
            self.relation = Some(Relation {
                device_ms,
                host: sent + trip / 2,
                taken: now,
            });
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

    /// Without a relation since.
    #[must_use]
    pub(super) fn unrelated_since(&self) -> Uptime {
        self.relation.map_or(self.since, |known| known.taken)
    }
}

/// Round trips of the last two minutes.
#[derive(Clone, Debug, Default)]
pub struct RoundTrips {
    newest: VecDeque<Duration>,
}

impl RoundTrips {
    pub(super) fn record(&mut self, trip: Duration) {
        if self.newest.len() == KEPT_TRIPS {
            self.newest.pop_front();
        }
        self.newest.push_back(trip);
    }

    /// The round trip that `percent` (0 to 100) of them don't exceed; `None` before the first.
    #[must_use]
    pub fn percentile(&self, percent: u8) -> Option<Duration> {
        let mut sorted: Vec<Duration> = self.newest.iter().copied().collect();
        sorted.sort_unstable();
        let rank = (sorted.len() * usize::from(percent.min(100))).div_ceil(100);
        sorted.get(rank.saturating_sub(1)).copied()
    }
}
