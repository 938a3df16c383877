//! How long to wait before a port is tried again.

use std::time::Duration;

/// The first wait: a device that was replugged has its name again by then.
const FIRST: Duration = Duration::from_millis(250);

/// The longest wait for a name to appear: looking is one system call, and somebody stands there with the plug.
const LONGEST_MISSING: Duration = Duration::from_secs(1);

/// The longest wait for a port that is there and can't be used: finding out who holds it costs milliseconds.
const LONGEST_REFUSED: Duration = Duration::from_secs(5);

/// A noisy link is left alone for this long.
pub(super) const NOISY: Duration = Duration::from_secs(10);

/// Waits that double up to a limit.
#[derive(Debug, Default)]
pub(super) struct BackOff {
    last: Option<Duration>,
}

impl BackOff {
    /// The wait before a name is looked for again.
    pub(super) fn missing(&mut self) -> Duration {
        self.next(LONGEST_MISSING)
    }

    /// The wait before a port that could not be opened, or was lost, is tried again.
    pub(super) fn refused(&mut self) -> Duration {
        self.next(LONGEST_REFUSED)
    }

    /// A device answered: begin anew.
    pub(super) fn succeeded(&mut self) {
        self.last = None;
    }

    fn next(&mut self, longest: Duration) -> Duration {
        let wait = self.last.map_or(FIRST, |last| last * 2).min(longest);
        self.last = Some(wait);
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_their_limit_and_begin_anew() {
        let mut back_off = BackOff::default();
        let waits: Vec<u128> = (0..7).map(|_| back_off.refused().as_millis()).collect();
        assert_eq!(waits, [250, 500, 1000, 2000, 4000, 5000, 5000]);
        assert_eq!(back_off.missing().as_millis(), 1000);
        back_off.succeeded();
        assert_eq!(back_off.missing().as_millis(), 250);
    }
}
