//! What comes and goes again and again must not fill the journal. Decides nothing but when an end is believed; knows no clock.
//!
//! A condition that begins is told at once. That it is over is told at once the first time; when it comes back soon after that, it
//! must be over for 10 s before the next end is told, and for twice as long each time, up to ten minutes. So a flapping condition
//! costs at most some dozen alerts in its first hour and six in each later one, and stands meanwhile: which is what it is. A full disk
//! holds the next round back: its end is believed after two minutes at most.
//!
//! One that stands and is found to tell something else is told anew: at once the first time, then a minute after the last telling at the
//! earliest, then two, up to an hour; what it tells by then is what is told. So a person who looks reads what is the matter now, and a
//! cause that flutters costs a dozen alerts a day and a few more.
//!
//! What a broker refuses is found out one by one when a connection begins (status, state, events): the first is told with those that
//! follow within 2 s, not each anew.

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

/// The pause between the first and the second time that a condition which stands tells something else.
const RETOLD_AFTER: Duration = Duration::from_secs(60);

/// The longest such pause.
const RETOLD_AT_LEAST: Duration = Duration::from_secs(3600);

/// For so long causes that are found one after another are gathered: a broker refuses all that it refuses within milliseconds of a
/// connection's beginning, and nobody acts on an alert within two seconds.
const GATHERED: Duration = Duration::from_secs(2);

/// How long the first causes of a condition are gathered before they are told.
fn gathered(condition: Condition) -> Duration {
    if condition == Condition::BrokerRefuses {
        GATHERED
    } else {
        Duration::ZERO
    }
}

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
    text: Text,
}

/// What a condition tells while it stands.
#[derive(Debug)]
struct Text {
    /// What the table was told last.
    told: String,
    /// What it was found to tell since, and the table doesn't know yet.
    untold: Option<String>,
    /// When it was last found to tell something else than before.
    changed: Uptime,
    /// How long after the last telling it may tell something else.
    pause: Duration,
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

impl Text {
    fn told(text: &str, now: Uptime) -> Text {
        Text {
            told: text.to_owned(),
            untold: None,
            changed: now,
            pause: Duration::ZERO,
        }
    }

    /// A condition that begins, whose causes are gathered for a while before the first telling.
    fn gathering(text: &str, now: Uptime, pause: Duration) -> Text {
        Text {
            told: String::new(),
            untold: Some(text.to_owned()),
            changed: now,
            pause,
        }
    }

    /// A condition that begins anew tells this.
    fn is_told(&mut self, text: &str) {
        text.clone_into(&mut self.told);
        self.untold = None;
    }

    /// One that stands tells something else, for which the pause is over; the next is longer.
    fn tells_anew(&mut self, text: &str) {
        let is_first = self.told.is_empty();
        self.is_told(text);
        self.pause = match is_first {
            true => Duration::ZERO,
            false => (self.pause * 2).clamp(RETOLD_AFTER, RETOLD_AT_LEAST),
        };
    }

    /// Whether a condition that stands, and was last told then, tells now what it was found to tell; else it is kept for later.
    fn is_news(&mut self, text: &str, told: Uptime, now: Uptime) -> bool {
        if text == self.told {
            self.untold = None;
            return false;
        }
        if now.since(self.changed) >= FORGOTTEN_AFTER {
            self.pause = Duration::ZERO;
        }
        if self.untold.as_deref() != Some(text) {
            self.changed = now;
        }
        if now.since(told) < self.pause {
            self.untold = Some(text.to_owned());
            return false;
        }
        self.tells_anew(text);
        true
    }
}

impl Calm {
    /// It was found to stand, and this is what it tells.
    pub(super) fn stands(&mut self, condition: Condition, text: &str, now: Uptime) -> Tell {
        let pause = gathered(condition);
        let Some(known) = self.known.get_mut(&condition) else {
            let (text, tell) = match pause.is_zero() {
                true => (Text::told(text, now), Tell::Now),
                false => (Text::gathering(text, now, pause), Tell::NotNow),
            };
            let known = Known {
                stands: Stands::Yes { told: now },
                hold: Duration::ZERO,
                text,
            };
            self.known.insert(condition, known);
            return tell;
        };
        match known.stands {
            Stands::Yes { told } | Stands::Ending { told, .. } => {
                let tell = known.text.is_news(text, told, now) || matches!(condition, Condition::EventSetAside);
                let told = if tell { now } else { told };
                known.stands = Stands::Yes { told };
                if tell { Tell::Now } else { Tell::NotNow }
            }
            Stands::No { over } => {
                known.hold = match now.since(over) < FORGOTTEN_AFTER {
                    true => (known.hold * 2).clamp(FIRST, longest(condition)),
                    false => Duration::ZERO,
                };
                known.stands = Stands::Yes { told: now };
                if !pause.is_zero() {
                    known.text = Text::gathering(text, now, pause);
                    return Tell::NotNow;
                }
                known.text.is_told(text);
                Tell::Now
            }
        }
    }

    /// The next condition that stands and may tell now what it was found to tell.
    pub(super) fn changed(&mut self, now: Uptime) -> Option<(Condition, String)> {
        self.known.iter_mut().find_map(|(condition, known)| {
            let Stands::Yes { told } = &mut known.stands else {
                return None;
            };
            if now.since(*told) < known.text.pause {
                return None;
            }
            let text = known.text.untold.take()?;
            known.text.tells_anew(&text);
            *told = now;
            Some((*condition, text))
        })
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
        assert_eq!(calm.stands(WHICH, "text", at(1)), Tell::Now);
        assert_eq!(calm.stands(WHICH, "text", at(2)), Tell::NotNow);
        assert_eq!(calm.is_over(WHICH, "", at(3)), Tell::Now);
        assert_eq!(calm.is_over(WHICH, "", at(4)), Tell::NotNow);
        assert_eq!(calm.ended(at(5)), None);
        // Two hours later it is as new.
        assert_eq!(calm.stands(WHICH, "text", at(7200)), Tell::Now);
        assert_eq!(calm.is_over(WHICH, "", at(7201)), Tell::Now);
    }

    #[test]
    fn what_an_earlier_run_left_standing_ends_at_once() {
        let mut calm = Calm::default();
        assert_eq!(calm.is_over(WHICH, "", at(1)), Tell::Now);
        assert_eq!(calm.stands(WHICH, "text", at(2)), Tell::Now);
        assert_eq!(calm.is_over(WHICH, "", at(3)), Tell::Now, "it came once in this run");
    }

    #[test]
    fn what_a_broker_refuses_one_by_one_is_told_as_one() {
        let which = Condition::BrokerRefuses;
        let told = |text: &str| Some((which, text.to_owned()));
        let mut calm = Calm::default();
        for (begins, over) in [(0, 100), (200, 300)] {
            for text in ["status", "state; status", "events; state; status"] {
                assert_eq!(calm.stands(which, text, at(begins)), Tell::NotNow, "{text}");
            }
            assert_eq!(calm.changed(at(begins + 1)), None);
            assert_eq!(calm.changed(at(begins + 2)), told("events; state; status"));
            assert_eq!(calm.changed(at(begins + 3)), None);
            assert_eq!(
                calm.stands(which, "events", at(begins + 4)),
                Tell::Now,
                "the first other cause is told at once"
            );
            assert_eq!(calm.stands(which, "state", at(begins + 5)), Tell::NotNow);
            calm.is_over(which, "", at(over));
            while calm.ended(at(over + 60)).is_some() {}
        }
        // What is over again before it was told is never told.
        let mut calm = Calm::default();
        calm.stands(which, "status", at(1));
        calm.is_over(which, "", at(2));
        assert_eq!(calm.changed(at(10)), None);
    }

    #[test]
    fn a_table_is_not_kept_waiting_for_a_disk_that_has_room() {
        for (condition, expected) in [(Condition::DiskLow, LONGEST_HELD), (WHICH, LONGEST)] {
            let mut calm = Calm::default();
            for minute in 0..12 {
                calm.stands(condition, "text", at(minute * 1300));
                calm.is_over(condition, "", at(minute * 1300 + 600));
                while calm.ended(at(minute * 1300 + 1299)).is_some() {}
            }
            calm.stands(condition, "text", at(15_700));
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
                    0 => u64::from(calm.stands(WHICH, "text", at(second)) == Tell::Now && !stood),
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
            assert_eq!(calm.stands(Condition::EventSetAside, "text", at(second)), Tell::Now);
        }
    }

    #[test]
    fn what_stands_tells_what_is_the_matter_now() {
        let mut calm = Calm::default();
        assert_eq!(calm.stands(WHICH, "expired", at(1)), Tell::Now);
        assert_eq!(calm.stands(WHICH, "expired", at(2)), Tell::NotNow);
        assert_eq!(
            calm.stands(WHICH, "no pair", at(3)),
            Tell::Now,
            "the first other cause is told at once"
        );
        assert_eq!(calm.stands(WHICH, "refused", at(4)), Tell::NotNow);
        assert_eq!(calm.stands(WHICH, "wrong name", at(5)), Tell::NotNow);
        assert_eq!(calm.changed(at(62)), None);
        assert_eq!(
            calm.changed(at(63)),
            Some((WHICH, "wrong name".to_owned())),
            "though nobody repeats it"
        );
        assert_eq!(calm.changed(at(64)), None);
        // One that is again what the table knows is no news, and one that is over tells nothing.
        assert_eq!(calm.stands(WHICH, "refused", at(65)), Tell::NotNow);
        assert_eq!(calm.stands(WHICH, "wrong name", at(66)), Tell::NotNow);
        assert_eq!(calm.changed(at(1000)), None);
        assert_eq!(calm.stands(WHICH, "refused", at(1001)), Tell::Now, "the pause is over");
        assert_eq!(calm.stands(WHICH, "expired", at(1002)), Tell::NotNow);
        assert_eq!(calm.is_over(WHICH, "", at(1003)), Tell::Now);
        assert_eq!(calm.changed(at(9000)), None);
    }

    #[test]
    fn a_day_of_a_cause_that_flutters_is_told_a_bounded_number_of_times_and_the_newest_last() {
        for period in [1, 7, 61, 600] {
            let mut calm = Calm::default();
            let mut told = Vec::new();
            for second in 0..86_400 {
                let text = format!("cause {}", (second / period) % 3);
                if calm.stands(WHICH, &text, at(second)) == Tell::Now {
                    told.push(text);
                }
                while let Some((_, text)) = calm.changed(at(second)) {
                    told.push(text);
                }
            }
            assert!(told.len() <= 24 + 8, "period {period} s: {}", told.len());
            calm.stands(WHICH, "the last", at(86_400));
            let last = (86_400..).find_map(|second| calm.changed(at(second)).map(|(_, text)| (second, text)));
            let (second, text) = last.unwrap();
            assert_eq!(text, "the last");
            assert!(second <= 86_400 + RETOLD_AT_LEAST.as_secs(), "{second}");
        }
    }
}
