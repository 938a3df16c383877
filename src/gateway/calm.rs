//! What comes and goes again and again must not fill the journal. Decides nothing but when an end is believed; knows no clock.
//!
//! A condition that begins is told at once. That it is over is told at once the first time; when it comes back soon after that, it
//! must be over for 10 s before the next end is told, and for twice as long each time, up to ten minutes. So a flapping condition
//! costs at most some dozen alerts in its first hour and six in each later one, and stands meanwhile: which is what it is. A full disk
//! holds the next round back: its end is believed after two minutes at most.

use crate::table::input::Condition;
use crate::time::Uptime;
use std::collections::BTreeMap;
use std::time::Duration;

/// The first time that an end has to last, for a condition that came back.
const FIRST: Duration = Duration::from_secs(10);

/// The longest: a person who waits for the alert to go must not think that it never does.
const LONGEST: Duration = Duration::from_secs(600);

/// The longest for what holds the next round back: people wait for the table.
const LONGEST_HELD: Duration = Duration::from_secs(120);

/// How long the end of a condition has to last at most.
fn longest(condition: Condition) -> Duration {
    if condition == Condition::DiskLow {
        LONGEST_HELD
    } else {
        LONGEST
    }
}

/// A condition that has been over for so long comes back as a new one.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(3600);

/// A condition that stands already tells something else at most this often.
const RETOLD_AFTER: Duration = Duration::from_secs(60);

/// Every condition that was ever told. Bounded: there are some twenty.
#[derive(Debug, Default)]
pub(super) struct Calm {
    known: BTreeMap<Condition, Known>,
}

#[derive(Debug)]
struct Known {
    stands: Stands,
    /// How long the next end has to last.
    hold: Duration,
}

#[derive(Debug)]
enum Stands {
    /// The table was told so at that time.
    Yes { told: Uptime },
    /// It has been over since, and the table doesn't know yet.
    Ending { over: Uptime, told: Uptime, text: String },
    /// The table knows that it has been over since.
    No { over: Uptime },
}

/// Whether the table is to be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tell {
    /// Now.
    Now,
    /// Later, or never.
    NotNow,
}

impl Calm {
    /// It was found to stand.
    pub(super) fn stands(&mut self, condition: Condition, now: Uptime) -> Tell {
        let Some(known) = self.known.get_mut(&condition) else {
            let stands = Stands::Yes { told: now };
            let hold = Duration::ZERO;
            self.known.insert(condition, Known { stands, hold });
            return Tell::Now;
        };
        let (told, tell) = match known.stands {
            Stands::Yes { told } | Stands::Ending { told, .. } => {
                let tell = now.since(told) >= RETOLD_AFTER || matches!(condition, Condition::EventSetAside);
                (if tell { now } else { told }, tell)
            }
            Stands::No { over } => {
                known.hold = match now.since(over) < FORGOTTEN_AFTER {
                    true => (known.hold * 2).clamp(FIRST, longest(condition)),
                    false => Duration::ZERO,
                };
                (now, true)
            }
        };
        known.stands = Stands::Yes { told };
        if tell { Tell::Now } else { Tell::NotNow }
    }

    /// It was found to be over. One of which nothing is known here may stand since an earlier run, and that it ends is no flutter.
    pub(super) fn is_over(&mut self, condition: Condition, text: &str, now: Uptime) -> Tell {
        let Some(known) = self.known.get_mut(&condition) else {
            return Tell::Now;
        };
        match known.stands {
            Stands::Yes { .. } if known.hold.is_zero() => {
                known.stands = Stands::No { over: now };
                Tell::Now
            }
            Stands::Yes { told } => {
                let text = text.to_owned();
                known.stands = Stands::Ending { over: now, told, text };
                Tell::NotNow
            }
            Stands::Ending { .. } | Stands::No { .. } => Tell::NotNow,
        }
    }

    /// What the table was to be told could not be recorded: it is told again, whatever it is then.
    pub(super) fn untold(&mut self, condition: Condition) {
        self.known.remove(&condition);
    }

    /// The next condition that has been over for long enough.
    pub(super) fn ended(&mut self, now: Uptime) -> Option<(Condition, String)> {
        self.known.iter_mut().find_map(|(condition, known)| {
            let Stands::Ending { over, text, .. } = &mut known.stands else {
                return None;
            };
            if now.since(*over) < known.hold {
                return None;
            }
            let text = std::mem::take(text);
            known.stands = Stands::No { over: now };
            Some((*condition, text))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHICH: Condition = Condition::BrokerUnreachable;

    fn at(second: u64) -> Uptime {
        Uptime::from_millis(second * 1000)
    }

    #[test]
    fn what_comes_once_and_goes_is_told_at_once() {
        let mut calm = Calm::default();
        assert_eq!(calm.stands(WHICH, at(1)), Tell::Now);
        assert_eq!(calm.stands(WHICH, at(2)), Tell::NotNow);
        assert_eq!(calm.is_over(WHICH, "", at(3)), Tell::Now);
        assert_eq!(calm.is_over(WHICH, "", at(4)), Tell::NotNow);
        assert_eq!(calm.ended(at(5)), None);
        // Two hours later it is as new.
        assert_eq!(calm.stands(WHICH, at(7200)), Tell::Now);
        assert_eq!(calm.is_over(WHICH, "", at(7201)), Tell::Now);
    }

    #[test]
    fn what_an_earlier_run_left_standing_ends_at_once() {
        let mut calm = Calm::default();
        assert_eq!(calm.is_over(WHICH, "", at(1)), Tell::Now);
        assert_eq!(calm.stands(WHICH, at(2)), Tell::Now);
        assert_eq!(calm.is_over(WHICH, "", at(3)), Tell::Now, "it came once in this run");
    }

    #[test]
    fn a_table_is_not_kept_waiting_for_a_disk_that_has_room() {
        for (condition, expected) in [(Condition::DiskLow, LONGEST_HELD), (WHICH, LONGEST)] {
            let mut calm = Calm::default();
            for minute in 0..12 {
                calm.stands(condition, at(minute * 1300));
                calm.is_over(condition, "", at(minute * 1300 + 600));
                while calm.ended(at(minute * 1300 + 1299)).is_some() {}
            }
            calm.stands(condition, at(15_700));
            assert_eq!(calm.is_over(condition, "", at(15_701)), Tell::NotNow);
            let over = (15_701..).find(|second| calm.ended(at(*second)).is_some());
            assert_eq!(over, Some(15_701 + expected.as_secs()), "{condition:?}");
        }
    }

    #[test]
    fn a_day_of_flapping_is_told_a_bounded_number_of_times() {
        for period in [1, 7, 30, 120, 700, 1500] {
            let mut calm = Calm::default();
            let mut told = 0;
            for second in 0..86_400 {
                while calm.ended(at(second)).is_some() {
                    told += 1;
                }
                // What goes on standing may be told again with another text; the table drops what says the same.
                let stood = calm
                    .known
                    .get(&WHICH)
                    .is_some_and(|known| !matches!(known.stands, Stands::No { .. }));
                told += match (second / period) % 2 {
                    0 => u64::from(calm.stands(WHICH, at(second)) == Tell::Now && !stood),
                    _ => u64::from(calm.is_over(WHICH, "", at(second)) == Tell::Now),
                };
            }
            assert!(told <= 2 * 6 * 24 + 40, "period {period} s: {told}");
            assert!(told >= 1, "period {period} s: {told}");
        }
    }

    #[test]
    fn each_event_that_is_set_aside_is_told() {
        let mut calm = Calm::default();
        for second in 0..3 {
            assert_eq!(calm.stands(Condition::EventSetAside, at(second)), Tell::Now);
        }
    }
}
