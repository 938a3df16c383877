//! Numbers of a link that find a bad cable or a tired device: how long nothing came, how far its clock runs from ours. PURE.

use super::{Host, Phase};
use crate::time::Uptime;
use crate::wire::session::clock::Drift;
use std::time::Duration;

/// When valid frames came, and when none did. A closed port is no silence.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Silence {
    /// The newest valid frame; `None` before the first.
    pub heard: Option<Uptime>,
    /// The longest time between two valid frames while the port was open.
    pub longest: Duration,
    /// When it ended.
    pub longest_ended: Uptime,
    /// Since when the port is open and nothing came; `None` while it is closed.
    counted_from: Option<Uptime>,
}

impl Silence {
    pub(super) fn opened(&mut self, now: Uptime) {
        self.counted_from = Some(now);
    }

    pub(super) fn closed(&mut self) {
        self.counted_from = None;
    }

    pub(super) fn broken(&mut self, now: Uptime) {
        self.heard = Some(now);
        if let Some(from) = self.counted_from.replace(now) {
            let lasted = now.since(from);
            if lasted > self.longest {
                self.longest = lasted;
                self.longest_ended = now;
            }
        }
    }
}

impl Host {
    /// When something valid came.
    #[must_use]
    pub fn silence(&self) -> Silence {
        self.silence
    }

    /// How far the device's clock runs from ours, in this session; `None` until it was watched for long enough.
    #[must_use]
    pub fn drift(&self) -> Option<Drift> {
        match &self.phase {
            Phase::Session(session) => session.clock.drift(),
            Phase::Closed | Phase::Greeting(_) | Phase::Wrong { .. } | Phase::Noisy { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_silence_is_kept_and_a_closed_port_is_none() {
        let at = Uptime::from_millis;
        let mut silence = Silence::default();
        silence.opened(at(0));
        silence.broken(at(100));
        silence.broken(at(1300));
        silence.closed();
        silence.opened(at(90_000));
        silence.broken(at(90_500));
        assert_eq!(silence.heard, Some(at(90_500)));
        assert_eq!(
            (silence.longest, silence.longest_ended),
            (Duration::from_millis(1200), at(1300))
        );
    }
}
