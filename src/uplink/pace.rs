//! How long to wait before the next connection. PURE: how long connections lasted and the jitter come in as arguments.

use std::time::Duration;

/// The first pause: a broker that restarts is back within a second.
pub const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause while a broker can't be reached: a floor network that is back is used within half a minute.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The longest pause after a refusal: somebody has to change the broker's settings first.
pub const LONGEST_REFUSED_PAUSE: Duration = Duration::from_secs(300);
/// A connection that lasted this many times the pause before it was a good one: the pauses begin anew.
const GOOD_FACTOR: u32 = 4;
/// A connection that took over, or was taken over, was a good one after this long.
pub const GOOD_AFTER_TAKE_OVER: Duration = Duration::from_secs(60);

/// Why the last connection ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// It could not be made, or broke.
    Lost,
    /// The broker refuses what the table publishes, or the table.
    Refused,
    /// Another client has this table's identity.
    TakenOver,
}

/// The pauses of one uplink.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    last: Option<(Cause, Duration)>,
}

impl Pace {
    /// The pause before the next connection: 0.25 s, doubling up to 30 s (5 min after refusals and take-overs). `lasted` is
    /// how long the last one worked, `jitter` from 0.0 to 1.0 takes up to a quarter off, so that the tables of a floor don't
    /// come back as one.
    pub fn next(&mut self, cause: Cause, lasted: Duration, jitter: f64) -> Duration {
        let longest = match cause {
            Cause::Lost => LONGEST_PAUSE,
            Cause::Refused | Cause::TakenOver => LONGEST_REFUSED_PAUSE,
        };
        let full = match self.last {
            Some((before, pause)) if !is_good(before, cause, pause, lasted) => pause.saturating_mul(2).min(longest),
            Some(_) | None => FIRST_PAUSE,
        };
        self.last = Some((cause, full));
        full.saturating_sub(full.mul_f64(0.25 * jitter.clamp(0.0, 1.0)))
    }

    /// The broker took what it refused: the pauses begin anew.
    pub fn taken(&mut self) {
        if matches!(self.last, Some((Cause::Refused, _))) {
            self.last = None;
        }
    }
}

fn is_good(before: Cause, now: Cause, pause: Duration, lasted: Duration) -> bool {
    match (before, now) {
        // What the broker refuses it refuses however long the connection stands.
        (_, Cause::Refused) => false,
        (Cause::TakenOver, _) | (_, Cause::TakenOver) => lasted >= GOOD_AFTER_TAKE_OVER,
        (Cause::Lost | Cause::Refused, Cause::Lost) => lasted >= pause.saturating_mul(GOOD_FACTOR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(pace: &mut Pace, cause: Cause, lasted: Duration, count: usize) -> Vec<f64> {
        (0..count)
            .map(|_| pace.next(cause, lasted, 0.0).as_secs_f64())
            .collect()
    }

    #[test]
    fn pauses_double_up_to_half_a_minute() {
        let pauses = seconds(&mut Pace::default(), Cause::Lost, Duration::ZERO, 10);
        assert_eq!(pauses, [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]);
    }

    #[test]
    fn a_flapping_broker_is_met_with_growing_pauses() {
        let pauses = seconds(&mut Pace::default(), Cause::Lost, Duration::from_millis(20), 1000);
        assert_eq!(pauses[7..], vec![30.0; 993]);
    }

    #[test]
    fn after_a_good_connection_the_pauses_begin_anew() {
        let mut pace = Pace::default();
        seconds(&mut pace, Cause::Lost, Duration::ZERO, 4);
        assert_eq!(pace.next(Cause::Lost, Duration::from_secs(9), 0.0), FIRST_PAUSE);
        assert_eq!(pace.next(Cause::Lost, Duration::from_secs(2), 0.0), FIRST_PAUSE);
        assert_eq!(pace.next(Cause::Lost, Duration::from_millis(900), 0.0), FIRST_PAUSE * 2);
    }

    #[test]
    fn refusals_and_take_overs_go_up_to_five_minutes() {
        for cause in [Cause::Refused, Cause::TakenOver] {
            let pauses = seconds(&mut Pace::default(), cause, Duration::from_secs(20), 13);
            assert_eq!(pauses[10..], [256.0, 300.0, 300.0], "{cause:?}");
        }
    }

    #[test]
    fn what_the_broker_takes_again_ends_the_pauses_of_a_refusal() {
        let mut pace = Pace::default();
        seconds(&mut pace, Cause::Refused, Duration::ZERO, 8);
        pace.taken();
        assert_eq!(pace.next(Cause::Lost, Duration::ZERO, 0.0), FIRST_PAUSE);
    }

    #[test]
    fn jitter_takes_off_at_most_a_quarter() {
        for (jitter, expected) in [(0.0, 250.0), (0.5, 218.75), (1.0, 187.5), (7.0, 187.5)] {
            let pause = Pace::default().next(Cause::Lost, Duration::ZERO, jitter);
            assert!(
                (pause.as_secs_f64() * 1000.0 - expected).abs() < 0.001,
                "{jitter}: {pause:?}"
            );
        }
    }
}
