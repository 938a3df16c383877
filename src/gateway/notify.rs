//! What the service manager is told. The watchdog is pinged by the loop that owns the table, after it made progress.

use crate::time::Uptime;
use sd_notify::NotifyState;
use std::ffi::OsStr;
use std::fmt::Write;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::time::Duration;

/// Pings the service manager's watchdog, when there is one.
pub(super) struct Watchdog {
    /// Half of what the service manager allows, so that one missed ping costs nothing; `None`: nobody watches.
    every: Option<Duration>,
    last: Uptime,
    ping: fn(),
}

impl Watchdog {
    pub(super) fn from_environment() -> Self {
        Watchdog {
            every: sd_notify::watchdog_enabled().map(|limit| limit / 2),
            last: Uptime::ZERO,
            ping: || tell(&[NotifyState::Watchdog]),
        }
    }

    /// One that a test listens to.
    #[cfg(test)]
    pub(super) fn heard_by(limit: Duration, ping: fn()) -> Self {
        Watchdog {
            every: Some(limit / 2),
            last: Uptime::ZERO,
            ping,
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
            (self.ping)();
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

/// Without a service manager this does nothing; one that doesn't listen is its own fault, and no reason to stop a table: nobody waits
/// for room in its socket.
fn tell(states: &[NotifyState<'_>]) {
    let Some(name) = std::env::var_os("NOTIFY_SOCKET") else {
        return;
    };
    let mut words = String::new();
    for state in states {
        // Writing to a String can't fail.
        let _ = writeln!(words, "{state}");
    }
    if let Err(error) = send(&name, words.as_bytes()) {
        tracing::debug!(%error, "the service manager could not be told");
    }
}

/// `name` is a path, or after an `@` the name of an abstract socket.
fn send(name: &OsStr, words: &[u8]) -> io::Result<()> {
    let address = match name.as_encoded_bytes() {
        [b'@', abstract_name @ ..] => SocketAddr::from_abstract_name(abstract_name)?,
        _ => SocketAddr::from_pathname(Path::new(name))?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.set_nonblocking(true)?;
    socket.send_to_addr(words, &address).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manager_that_does_not_listen_keeps_nobody_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let manager = UnixDatagram::bind(&path).unwrap();
        send(path.as_os_str(), b"READY=1\n").unwrap();
        // However much room its socket has, it ends.
        let mut full = None;
        for _ in 0..100_000 {
            if let Err(error) = send(path.as_os_str(), b"WATCHDOG=1\n") {
                full = Some(error.kind());
                break;
            }
        }
        assert_eq!(full, Some(io::ErrorKind::WouldBlock));
        let mut words = [0; 64];
        let length = manager.recv(&mut words).unwrap();
        assert_eq!(&words[..length], b"READY=1\n");
        send(OsStr::new("/nowhere/notify"), b"READY=1\n").unwrap_err();
    }

    #[test]
    fn an_abstract_socket_is_found_by_its_name() {
        let name = format!("tablegate-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let manager = UnixDatagram::bind_addr(&address).unwrap();
        send(OsStr::new(&format!("@{name}")), b"READY=1\n").unwrap();
        let mut words = [0; 64];
        assert_eq!(manager.recv(&mut words).unwrap(), 8);
    }
}
