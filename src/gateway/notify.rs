//! What the service manager is told. The watchdog is pinged by the loop that owns the table, after it made progress.

use crate::time::Uptime;
use sd_notify::NotifyState;
use std::time::Duration;

/// Pings the service manager's watchdog, when there is one.
pub(super) struct Watchdog {
    /// Half of what the service manager allows, so that one missed ping costs nothing; `None`: nobody watches.
    every: Option<Duration>,
    last: Uptime,
}

impl Watchdog {
    pub(super) fn from_environment() -> Self {
        Watchdog {
            every: sd_notify::watchdog_enabled().map(|limit| limit / 2),
            last: Uptime::ZERO,
        }
    }

    /// How long the loop may sleep: it must wake in time for a ping.
    pub(super) fn longest_sleep(&self) -> Option<Duration> {
        self.every.map(|every| every / 2)
    }

    /// The loop has made progress at `now`.
    pub(super) fn progress(&mut self, now: Uptime) {
        let Some(every) = self.every else { return };
        if self.last == Uptime::ZERO || now.since(self.last) >= every / 2 {
            self.last = now;
            tell(&[NotifyState::Watchdog]);
        }
    }
}

/// The daemon is up; `status` is one line for `systemctl status`.
pub(super) fn ready(status: &str) {
    tell(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// What it does now.
pub(super) fn status(status: &str) {
    tell(&[NotifyState::Status(status)]);
}

/// A clean stop has begun.
pub(super) fn stopping() {
    tell(&[
        NotifyState::Stopping,
        NotifyState::Status("stopping: delivering what is left to the floor"),
    ]);
}

/// Without a service manager this does nothing; one that doesn't listen is its own fault, and no reason to stop a table.
fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(%error, "the service manager could not be told");
    }
}
