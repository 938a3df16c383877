//! The words for time. PURE: nothing here reads a clock; whoever owns an outside thing does, through [`Clock`].

use std::ops::{Add, Sub};
use std::time::Duration;

/// Monotonic time since this run of the daemon began, in microseconds. The only time that decides anything.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Uptime(u64);

impl Uptime {
    /// The start of the run.
    pub const ZERO: Uptime = Uptime(0);

    /// From microseconds since the start of the run.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Uptime(micros)
    }

    /// From milliseconds since the start of the run.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Uptime(millis.saturating_mul(1000))
    }

    /// Microseconds since the start of the run.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this is; zero when it is before.
    #[must_use]
    pub const fn since(self, earlier: Uptime) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Uptime {
    type Output = Uptime;

    /// Saturates: a deadline that can't be expressed never comes.
    fn add(self, wait: Duration) -> Uptime {
        Uptime(
            self.0
                .saturating_add(u64::try_from(wait.as_micros()).unwrap_or(u64::MAX)),
        )
    }
}

impl Sub<Duration> for Uptime {
    type Output = Uptime;

    /// Saturates at the start of the run.
    fn sub(self, ago: Duration) -> Uptime {
        Uptime(
            self.0
                .saturating_sub(u64::try_from(ago.as_micros()).unwrap_or(u64::MAX)),
        )
    }
}

/// Wall-clock time, microseconds since 1970-01-01T00:00:00Z. It is recorded for people and orders nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From microseconds since 1970.
    #[must_use]
    pub const fn from_unix_micros(micros: i64) -> Self {
        Timestamp(micros)
    }

    /// Microseconds since 1970.
    #[must_use]
    pub const fn as_unix_micros(self) -> i64 {
        self.0
    }
}

impl From<Timestamp> for prost_types::Timestamp {
    fn from(time: Timestamp) -> Self {
        let nanos = time.0.rem_euclid(1_000_000) * 1000;
        prost_types::Timestamp {
            seconds: time.0.div_euclid(1_000_000),
            nanos: i32::try_from(nanos).unwrap_or(0),
        }
    }
}

impl From<&prost_types::Timestamp> for Timestamp {
    fn from(time: &prost_types::Timestamp) -> Self {
        Timestamp(
            time.seconds
                .saturating_mul(1_000_000)
                .saturating_add(i64::from(time.nanos) / 1000),
        )
    }
}

/// Where tasks read the time. One real implementation (`gateway::clock`), one for simulation.
pub trait Clock: Send + Sync {
    /// Monotonic, since the run began.
    fn uptime(&self) -> Uptime;
    /// The wall clock, as it stands.
    fn wall(&self) -> Timestamp;
}
