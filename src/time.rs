//! The words for time. PURE: nothing here reads a clock; whoever owns an outside thing does, through [`Clock`].

use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;
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

/// RFC 3339 in UTC with microseconds: `2026-02-14T10:15:30.000000Z`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.div_euclid(1_000_000);
        let (year, month, day) = civil(seconds.div_euclid(86_400));
        let second = seconds.rem_euclid(86_400);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:06}Z",
            second / 3600,
            second / 60 % 60,
            second % 60,
            self.0.rem_euclid(1_000_000)
        )
    }
}

/// Year, month and day of the proleptic Gregorian calendar, from days since 1970-01-01.
/// Counts from 0000-03-01 in eras of 400 years, which puts the leap day last (Howard Hinnant, "chrono-compatible low-level date algorithms").
const fn civil(days: i64) -> (i64, i64, i64) {
    let since_march_0000 = days + 719_468;
    let era = since_march_0000.div_euclid(146_097);
    let day_of_era = since_march_0000.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

/// Days since 1970-01-01, the inverse of [`civil`].
const fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// A text that is no time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotATime;

impl fmt::Display for NotATime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a time: write 2026-02-14, or 2026-02-14T10:15:30Z, with an offset like +13:00 for another zone than UTC")
    }
}

impl std::error::Error for NotATime {}

/// RFC 3339; a date alone is its first moment in UTC.
impl FromStr for Timestamp {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, NotATime> {
        parse(text).ok_or(NotATime)
    }
}

fn parse(text: &str) -> Option<Timestamp> {
    let number = |text: &str| -> Option<i64> {
        text.bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| text.parse().ok())
            .flatten()
    };
    let (date, clock) = match text.split_once(['T', 't', ' ']) {
        Some((date, clock)) => (date, clock),
        None => (text, "00:00:00Z"),
    };
    let mut parts = date.split('-');
    let (year, month, day) = (number(parts.next()?)?, number(parts.next()?)?, number(parts.next()?)?);
    if parts.next().is_some() || !(1..=9999).contains(&year) || civil(days(year, month, day)) != (year, month, day) {
        return None;
    }
    let zone_at = clock.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = clock.split_at(zone_at);
    let offset = match zone {
        "Z" | "z" => 0,
        _ => {
            let (hours, minutes) = zone.get(1..)?.split_once(':')?;
            let minutes = number(hours)? * 60 + number(minutes)?;
            if zone.starts_with('-') { -minutes } else { minutes }
        }
    };
    let (clock, fraction) = match clock.split_once('.') {
        Some((clock, digits)) if !digits.is_empty() => (clock, number(format!("{digits:0<6}").get(..6)?)?),
        Some(_) => return None,
        None => (clock, 0),
    };
    let mut parts = clock.split(':');
    let (hour, minute, second) = (number(parts.next()?)?, number(parts.next()?)?, number(parts.next()?)?);
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + (minute - offset) * 60 + second;
    Some(Timestamp(seconds * 1_000_000 + fraction))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_and_read_as_rfc_3339() {
        for (micros, text) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
            (1_771_064_130_123_456, "2026-02-14T10:15:30.123456Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
            (4_102_444_799_000_000, "2099-12-31T23:59:59.000000Z"),
        ] {
            let time = Timestamp::from_unix_micros(micros);
            assert_eq!(time.to_string(), text);
            assert_eq!(text.parse(), Ok(time));
        }
    }

    #[test]
    fn every_day_of_four_centuries_comes_back() {
        for day in -10_000..150_000 {
            let (year, month, date) = civil(day);
            assert_eq!(days(year, month, date), day);
        }
    }

    #[test]
    fn shorter_forms_and_zones_are_read_and_nonsense_is_not() {
        let at = |text: &str| text.parse::<Timestamp>().ok().map(|time| time.to_string());
        assert_eq!(at("2026-02-14").as_deref(), Some("2026-02-14T00:00:00.000000Z"));
        assert_eq!(
            at("2026-02-14T10:15:30.5+13:00").as_deref(),
            Some("2026-02-13T21:15:30.500000Z")
        );
        assert_eq!(
            at("2026-02-14 10:15:30-03:30").as_deref(),
            Some("2026-02-14T13:45:30.000000Z")
        );
        for text in [
            "",
            "today",
            "2026-02-30",
            "2026-2-14T1",
            "2026-02-14T10:15Z",
            "2026-02-14T10:15:30",
            "2026-02-14T25:00:00Z",
        ] {
            assert_eq!(at(text), None, "{text}");
        }
    }
}
