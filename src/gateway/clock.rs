//! The real clock, and whether somebody keeps the wall clock right. Decides nothing: events carry it for people.

use crate::time::{Clock, Timestamp, Uptime};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;
use tokio::time::Instant;

/// Where "synchronised" comes from (`[clock] source`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockSource {
    /// systemd-timesyncd's mark in `/run`.
    #[default]
    Timesyncd,
    /// What `chronyc tracking` says.
    Chrony,
    /// Nobody tells: the clock counts as unsynchronised, and retention deletes nothing.
    None,
}

/// Whether the wall clock follows a time server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Synchronisation {
    /// It does.
    Synchronised,
    /// It does not, or nobody can tell.
    Unsynchronised,
}

/// Monotonic time since this run began, and the system's wall clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// The run begins now.
    #[must_use]
    pub fn start() -> Self {
        SystemClock { origin: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn uptime(&self) -> Uptime {
        Uptime::ZERO + self.origin.elapsed()
    }

    fn wall(&self) -> Timestamp {
        let now = SystemTime::now();
        let micros = match now.duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |micros| -micros),
        };
        Timestamp::from_unix_micros(micros)
    }
}

/// timesyncd touches this file at each synchronisation and removes it at boot (it lives on a tmpfs).
const TIMESYNCD_MARK: &str = "/run/systemd/timesync/synchronized";

/// How often the source is asked. A clock that loses its server drifts by milliseconds in this time, and an event's
/// quality needn't be fresher; asking chrony starts a process.
const ASK_EVERY: Duration = Duration::from_secs(64);

/// `chronyc` answers from a local socket at once or not at all.
const CHRONY_ANSWERS_WITHIN: Duration = Duration::from_secs(2);

/// Keeps asking `source`; ends when nobody looks any more.
pub(super) fn watch_synchronisation(source: ClockSource) -> watch::Receiver<Synchronisation> {
    let first = match source {
        ClockSource::Timesyncd => ask_timesyncd(),
        ClockSource::Chrony | ClockSource::None => Synchronisation::Unsynchronised,
    };
    let (sender, receiver) = watch::channel(first);
    if source != ClockSource::None {
        tokio::spawn(async move {
            while !sender.is_closed() {
                let found = match source {
                    ClockSource::Timesyncd => ask_timesyncd(),
                    ClockSource::Chrony => ask_chrony().await,
                    ClockSource::None => Synchronisation::Unsynchronised,
                };
                sender.send_if_modified(|known| std::mem::replace(known, found) != found);
                tokio::time::sleep(ASK_EVERY).await;
            }
        });
    }
    receiver
}

fn ask_timesyncd() -> Synchronisation {
    if Path::new(TIMESYNCD_MARK).exists() {
        Synchronisation::Synchronised
    } else {
        Synchronisation::Unsynchronised
    }
}

async fn ask_chrony() -> Synchronisation {
    let asked = tokio::process::Command::new("chronyc")
        .args(["-c", "tracking"])
        .stdin(std::process::Stdio::null())
        .kill_on_drop(true)
        .output();
    match tokio::time::timeout(CHRONY_ANSWERS_WITHIN, asked).await {
        Ok(Ok(answer)) if answer.status.success() => read_chrony(&String::from_utf8_lossy(&answer.stdout)),
        Ok(Ok(_) | Err(_)) | Err(_) => Synchronisation::Unsynchronised,
    }
}

/// `chronyc -c tracking` prints one line of comma-separated values; the last is the leap status.
fn read_chrony(line: &str) -> Synchronisation {
    match line.trim().rsplit(',').next() {
        Some("Normal" | "Insert second" | "Delete second") => Synchronisation::Synchronised,
        Some(_) | None => Synchronisation::Unsynchronised,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chrony_is_synchronised_when_its_leap_status_is_a_real_one() {
        let head = "A29FC87B,162.159.200.123,3,1719400000.1,0.00001,0.0,0.0,1.0,0.1,0.2,0.01,0.001,64.2,";
        for (status, expected) in [
            ("Normal", Synchronisation::Synchronised),
            ("Insert second", Synchronisation::Synchronised),
            ("Not synchronised", Synchronisation::Unsynchronised),
            ("", Synchronisation::Unsynchronised),
        ] {
            assert_eq!(read_chrony(&format!("{head}{status}\n")), expected, "{status:?}");
        }
        assert_eq!(read_chrony(""), Synchronisation::Unsynchronised);
    }

    #[tokio::test(start_paused = true)]
    async fn uptime_follows_the_monotonic_clock() {
        let clock = SystemClock::start();
        tokio::time::advance(Duration::from_millis(1500)).await;
        assert_eq!(clock.uptime(), Uptime::from_millis(1500));
    }
}
