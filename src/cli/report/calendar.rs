//! Which shift a moment belongs to: shifts begin at times of the clock on the wall, in a time zone with its changes of clock.
//! The only place that names `jiff`.

use crate::time::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use serde::Serialize;

/// Shifts when nobody names others.
pub const USUAL_SHIFTS: &str = "06:00,14:00,22:00";

/// More shifts a day than anybody has are a mistake.
const SHIFTS_MAX: usize = 24;

/// From a moment on, up to another one that isn't in it any longer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Period {
    /// Its first moment.
    pub from: Timestamp,
    /// The first moment after it.
    pub to: Timestamp,
}

/// Where a moment lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In this period.
    In(Period),
    /// Before the report begins, which is at this moment.
    Before(Timestamp),
    /// After its end.
    After,
}

/// A time zone, and what it is called.
#[derive(Clone, Debug)]
pub struct Zone {
    zone: TimeZone,
    /// "Pacific/Auckland", "UTC".
    pub name: String,
}

/// When shifts begin, each day.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shifts(Vec<Time>);

/// A moment as the clock on the wall shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// `2026-02-14 06:00`.
    pub minute: String,
    /// RFC 3339, with the zone's offset at that moment: what programs are told.
    pub exact: String,
}

impl Serialize for Shown {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.exact)
    }
}

impl Zone {
    /// The zone of this name, or without one this PC's.
    ///
    /// # Errors
    /// A sentence: there is no such zone.
    pub fn find(name: Option<&str>) -> Result<Zone, String> {
        match name {
            Some(name) if name.eq_ignore_ascii_case("utc") => Ok(Zone::utc()),
            Some(name) => TimeZone::get(name)
                .map(|zone| Zone {
                    name: zone.iana_name().unwrap_or(name).to_owned(),
                    zone,
                })
                .map_err(|_| {
                    format!(
                        "--zone {name}: this PC knows no such time zone; write UTC, or a name like Pacific/Auckland"
                    )
                }),
            None => Ok(match TimeZone::try_system() {
                Ok(zone) => match zone.iana_name().map(str::to_owned) {
                    Some(name) if name == "Etc/UTC" || name == "UTC" => Zone::utc(),
                    Some(name) => Zone { zone, name },
                    None => Zone {
                        zone,
                        name: "this PC's time".to_owned(),
                    },
                },
                Err(_) => Zone::utc(),
            }),
        }
    }

    /// Universal time.
    #[must_use]
    pub fn utc() -> Zone {
        Zone {
            zone: TimeZone::UTC,
            name: "UTC".to_owned(),
        }
    }

    /// A moment as it is written: with an offset or `Z` exactly so; without one, by this zone's clock. A date alone is its first moment.
    ///
    /// # Errors
    /// A sentence: that is no time, or this zone's clock never shows it.
    pub fn moment(&self, text: &str) -> Result<Timestamp, String> {
        if text.contains(['T', 't', ' '])
            && let Ok(exact) = text.parse::<Timestamp>()
        {
            return Ok(exact);
        }
        let not = || {
            format!(
                "{text} is no time: write 2026-02-14, 2026-02-14T06:00, or 2026-02-14T06:00:00Z for one that isn't in the report's zone"
            )
        };
        let (date, time) = match text.split_once(['T', 't', ' ']) {
            Some((date, time)) => (date, time_of_day(time).ok_or_else(not)?),
            None => (text, Time::midnight()),
        };
        let date: Date = date.parse().map_err(|_| not())?;
        self.at(date, time).ok_or_else(not)
    }

    /// The moment at which this zone's clock shows that; the earlier of two, and the one after a gap.
    fn at(&self, date: Date, time: Time) -> Option<Timestamp> {
        let zoned = date.to_datetime(time).to_zoned_datetime(self.zone.clone()).ok()?;
        Some(Timestamp::from_unix_micros(zoned.timestamp().as_microsecond()))
    }

    /// The moment from which on this zone's clock shows at least that: when it leaps over it, the moment of the leap.
    fn reaches(&self, date: Date, time: Time) -> Option<Timestamp> {
        let wanted = date.to_datetime(time);
        let zoned = wanted.to_zoned_datetime(self.zone.clone()).ok()?;
        let at = zoned.timestamp();
        if zoned.datetime() == wanted {
            return Some(Timestamp::from_unix_micros(at.as_microsecond()));
        }
        let just_after = jiff::Timestamp::from_microsecond(at.as_microsecond().saturating_add(1)).ok()?;
        let leap = self.zone.preceding(just_after).next()?;
        Some(Timestamp::from_unix_micros(leap.timestamp().as_microsecond()))
    }

    /// What this zone's clock shows.
    #[must_use]
    pub fn show(&self, at: Timestamp) -> Shown {
        let Some(zoned) = self.zoned(at) else {
            return Shown {
                minute: at.to_string(),
                exact: at.to_string(),
            };
        };
        Shown {
            minute: zoned.strftime("%Y-%m-%d %H:%M").to_string(),
            exact: zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        }
    }

    fn zoned(&self, at: Timestamp) -> Option<jiff::ZonedDateTime> {
        let at = jiff::Timestamp::from_microsecond(at.as_unix_micros()).ok()?;
        Some(at.to_zoned_datetime(self.zone.clone()))
    }
}

impl Shifts {
    /// From `06:00,14:00,22:00`.
    ///
    /// # Errors
    /// A sentence: what of it is no time of day, or that two shifts begin at once.
    pub fn parse(text: &str) -> Result<Shifts, String> {
        let mut times = Vec::new();
        for written in text.split(',') {
            let written = written.trim();
            let not = || format!("{written} is no time of day: write when each shift begins, as {USUAL_SHIFTS}");
            // Seconds would be told nowhere.
            let minutes_only = written.matches(':').count() == 1;
            let time = time_of_day(written).filter(|_| minutes_only).ok_or_else(not)?;
            if times.contains(&time) {
                return Err(format!(
                    "{written} stands there twice: two shifts can't begin at once; write when each begins, as {USUAL_SHIFTS}"
                ));
            }
            times.push(time);
        }
        times.sort_unstable();
        if times.len() > SHIFTS_MAX {
            return Err(format!("{} shifts a day are more than {SHIFTS_MAX}", times.len()));
        }
        Ok(Shifts(times))
    }

    /// `06:00`, as it is written.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        self.0.iter().map(|time| time.strftime("%H:%M").to_string()).collect()
    }
}

fn time_of_day(text: &str) -> Option<Time> {
    let (hour, minute) = text.split_once(':')?;
    let number = |text: &str| -> Option<i8> {
        (1..=2).contains(&text.len()).then(|| {
            text.bytes()
                .all(|byte| byte.is_ascii_digit())
                .then(|| text.parse().ok())
        })??
    };
    let (minute, second) = minute.split_once(':').unwrap_or((minute, "0"));
    Time::new(number(hour)?, number(minute)?, number(second)?, 0).ok()
}

/// The report's time, cut into shifts where shifts are asked for.
#[derive(Clone, Debug)]
pub struct Calendar {
    zone: Zone,
    shifts: Shifts,
    within: Period,
    /// The shift that was asked for last: most moments lie in the same as the one before.
    latest: Option<Period>,
}

impl Calendar {
    /// `shifts` without any time: the whole is one period.
    #[must_use]
    pub fn new(zone: Zone, shifts: Shifts, from: Option<Timestamp>, to: Option<Timestamp>) -> Calendar {
        Calendar {
            zone,
            shifts,
            within: Period {
                from: from.unwrap_or(Timestamp::from_unix_micros(i64::MIN)),
                to: to.unwrap_or(Timestamp::from_unix_micros(i64::MAX)),
            },
            latest: None,
        }
    }

    /// Where this moment lies. A shift that the report's time cuts is as long as what is left of it.
    pub fn place(&mut self, at: Timestamp) -> Place {
        if at < self.within.from {
            return Place::Before(self.within.from);
        }
        if at >= self.within.to {
            return Place::After;
        }
        if let Some(latest) = self.latest.filter(|latest| latest.from <= at && at < latest.to) {
            return Place::In(latest);
        }
        let shift = self.shift(at).unwrap_or(self.within);
        let period = Period {
            from: shift.from.max(self.within.from),
            to: shift.to.min(self.within.to),
        };
        self.latest = Some(period);
        Place::In(period)
    }

    /// The shift that `at` lies in: from the newest beginning up to `at`, to the next one.
    fn shift(&self, at: Timestamp) -> Option<Period> {
        let today = self.zone.zoned(at)?.date();
        let days = [today.yesterday().ok()?, today, today.tomorrow().ok()?];
        let beginnings = days
            .into_iter()
            .flat_map(|day| self.shifts.0.iter().map(move |time| (day, *time)))
            .filter_map(|(day, time)| self.zone.reaches(day, time));
        let (mut from, mut to) = (None, None);
        for beginning in beginnings {
            if beginning <= at {
                from = from.max(Some(beginning));
            } else if to.is_none_or(|to| beginning < to) {
                to = Some(beginning);
            }
        }
        Some(Period { from: from?, to: to? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    /// The shift in Auckland that a moment lies in, as its clock shows it.
    fn shift(shifts: &str, moment: &str) -> (String, String, i64) {
        let zone = Zone::find(Some("Pacific/Auckland")).unwrap();
        let mut calendar = Calendar::new(zone.clone(), Shifts::parse(shifts).unwrap(), None, None);
        let Place::In(period) = calendar.place(at(moment)) else {
            panic!("{moment} is in no shift");
        };
        let hours = (period.to.as_unix_micros() - period.from.as_unix_micros()) / 3_600_000_000;
        (zone.show(period.from).exact, zone.show(period.to).exact, hours)
    }

    #[test]
    fn a_shift_spans_midnight_and_the_change_of_clocks() {
        let told = |from: &str, to: &str, hours| (from.to_owned(), to.to_owned(), hours);
        for (shifts, moment, expected) in [
            (
                USUAL_SHIFTS,
                "2026-02-14T01:00:00Z",
                told("2026-02-14T14:00:00+13:00", "2026-02-14T22:00:00+13:00", 8),
            ),
            (
                USUAL_SHIFTS,
                "2026-02-14T12:30:00Z",
                told("2026-02-14T22:00:00+13:00", "2026-02-15T06:00:00+13:00", 8),
            ),
            // Summer time ends on 2026-04-05 at 03:00, and begins on 2026-09-27 at 02:00.
            (
                USUAL_SHIFTS,
                "2026-04-04T14:30:00Z",
                told("2026-04-04T22:00:00+13:00", "2026-04-05T06:00:00+12:00", 9),
            ),
            (
                USUAL_SHIFTS,
                "2026-09-26T13:00:00Z",
                told("2026-09-26T22:00:00+12:00", "2026-09-27T06:00:00+13:00", 7),
            ),
            // One of these beginnings is leapt over: its shift begins with the leap.
            (
                "01:00,02:30,10:00",
                "2026-09-26T14:10:00Z",
                told("2026-09-27T03:00:00+13:00", "2026-09-27T10:00:00+13:00", 7),
            ),
            (
                "12:00",
                "2026-04-05T01:00:00Z",
                told("2026-04-05T12:00:00+12:00", "2026-04-06T12:00:00+12:00", 24),
            ),
            (
                "12:00",
                "2026-04-04T20:00:00Z",
                told("2026-04-04T12:00:00+13:00", "2026-04-05T12:00:00+12:00", 25),
            ),
        ] {
            assert_eq!(shift(shifts, moment), expected, "{shifts} {moment}");
        }
    }

    #[test]
    fn a_report_cuts_the_shifts_at_its_ends() {
        let (from, to) = (at("2026-02-14T07:00:00Z"), at("2026-02-14T15:00:00Z"));
        let mut calendar = Calendar::new(Zone::utc(), Shifts::parse(USUAL_SHIFTS).unwrap(), Some(from), Some(to));
        assert_eq!(calendar.place(at("2026-02-14T06:59:59Z")), Place::Before(from));
        let first = Period {
            from,
            to: at("2026-02-14T14:00:00Z"),
        };
        assert_eq!(calendar.place(from), Place::In(first));
        assert_eq!(calendar.place(first.to), Place::In(Period { from: first.to, to }));
        assert_eq!(calendar.place(to), Place::After);
    }

    #[test]
    fn moments_are_read_by_the_zone_unless_they_say_otherwise() {
        let zone = Zone::find(Some("Pacific/Auckland")).unwrap();
        for (text, expected) in [
            ("2026-02-14", "2026-02-13T11:00:00Z"),
            ("2026-02-14T06:00", "2026-02-13T17:00:00Z"),
            ("2026-02-14 06:00:30", "2026-02-13T17:00:30Z"),
            ("2026-02-14T06:00:00Z", "2026-02-14T06:00:00Z"),
            ("2026-02-14T06:00:00-03:00", "2026-02-14T09:00:00Z"),
        ] {
            assert_eq!(zone.moment(text), Ok(at(expected)), "{text}");
        }
        for text in ["", "yesterday", "2026-02-30", "2026-02-14T25:00", "2026-02-14T6"] {
            assert!(zone.moment(text).is_err(), "{text}");
        }
        assert!(
            Zone::find(Some("Pacific/Nowhere"))
                .unwrap_err()
                .contains("no such time zone")
        );
    }

    #[test]
    fn shifts_are_times_of_day() {
        assert_eq!(
            Shifts::parse("22:00, 6:00,14:00").unwrap().words(),
            ["06:00", "14:00", "22:00"]
        );
        let every_minute: Vec<String> = (0..25).map(|minute| format!("00:{minute:02}")).collect();
        for (text, said) in [
            ("", " is no time of day"),
            ("6", "6 is no time of day"),
            ("24:00", "24:00 is no time of day"),
            ("25:00", "25:00 is no time of day"),
            ("06:60", "06:60 is no time of day"),
            ("06:00,,", " is no time of day"),
            ("06:00-14:00", "06:00-14:00 is no time of day"),
            ("-1:00", "-1:00 is no time of day"),
            ("06:00:30", "06:00:30 is no time of day"),
            ("06:00,06:00", "06:00 stands there twice"),
            ("22:00,6:00,14:00,06:00", "06:00 stands there twice"),
            (&every_minute.join(","), "25 shifts a day are more than 24"),
        ] {
            let refused = Shifts::parse(text).unwrap_err();
            assert!(refused.starts_with(said), "{text}: {refused}");
        }
    }

    /// Each moment of a day lies in one shift, which begins when its clock reaches a time that was named, and ends where the next begins.
    #[test]
    fn shifts_follow_each_other_on_every_day_even_where_clocks_leap() {
        let days = ["2026-04-04", "2026-04-05", "2026-09-26", "2026-09-27", "2026-02-14"];
        for shifts in [
            "02:00,02:30,03:00",
            "02:30,14:30",
            "00:00,12:00",
            "03:00,03:30,02:15",
            "2:59",
        ] {
            for zone in ["Pacific/Auckland", "Australia/Lord_Howe", "UTC"] {
                let zone = Zone::find(Some(zone)).unwrap();
                let parsed = Shifts::parse(shifts).unwrap();
                for day in days {
                    let mut calendar = Calendar::new(zone.clone(), parsed.clone(), None, None);
                    let begins = zone.moment(day).unwrap().as_unix_micros();
                    let mut last: Option<Period> = None;
                    for minute in 0..26 * 60 {
                        let at = Timestamp::from_unix_micros(begins + minute * 60_000_000);
                        let Place::In(period) = calendar.place(at) else {
                            panic!("{shifts} {day}: {minute} is in no shift");
                        };
                        assert!(period.from <= at && at < period.to, "{shifts} {day}: {minute}");
                        if let Some(last) = last {
                            let follows = last == period || last.to == period.from;
                            assert!(follows, "{shifts} {day}: {last:?}, then {period:?}");
                        }
                        last = Some(period);
                        // A leap is the only moment at which a shift begins that was named otherwise.
                        let shown = zone.show(period.from).minute;
                        let shown = shown.split(' ').next_back().unwrap();
                        let is_named = parsed.words().iter().any(|word| word == shown);
                        let just_before = Timestamp::from_unix_micros(period.from.as_unix_micros() - 1);
                        let before = zone.show(just_before).exact;
                        let leaps = before.get(19..) != zone.show(period.from).exact.get(19..);
                        assert!(is_named || leaps, "{shifts} {day}: begins at {shown}");
                    }
                }
            }
        }
    }
}
