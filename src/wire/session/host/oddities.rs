//! What is lastingly odd about a line, and what of it was told. PURE.

use super::events::{HostEvent, Oddity};
use crate::time::Uptime;
use crate::wire::session::clock;
use std::time::Duration;

/// An echo or a foreign version is reported until it wasn't seen for this long.
const LASTS: Duration = Duration::from_secs(10);
/// After this long without an echo a line is looped no more: a PING goes out every second, and would have come back.
const ECHO_OVER: Duration = Duration::from_millis(2500);
/// Bytes without a valid frame before "baud or noise?" is asked: more than two longest frames.
const MAX_BYTES_WITHOUT_FRAME: u64 = 512;

/// Oddities that stand, and what of it was told.
#[derive(Debug, Default)]
pub(super) struct Oddities {
    echo: Option<Uptime>,
    version: Option<(u8, Uptime)>,
    told: Vec<Oddity>,
    standing: Vec<Oddity>,
}

impl Oddities {
    pub(super) fn saw_echo(&mut self, now: Uptime) {
        self.echo = Some(now);
    }

    /// An echo was heard at or after `since`, and none for a while.
    pub(super) fn has_echoed_since(&self, since: Uptime, now: Uptime) -> bool {
        self.echo.is_some_and(|seen| seen >= since && seen + ECHO_OVER <= now)
    }

    pub(super) fn saw_version(&mut self, now: Uptime, version: u8) {
        self.version = Some((version, now));
    }

    /// The port is gone, and with it what was odd about the line.
    pub(super) fn forget(&mut self) {
        self.echo = None;
        self.version = None;
        self.standing.clear();
    }

    /// What stands at `now`.
    pub(super) fn weigh(&mut self, now: Uptime, bytes_since_frame: u64, clocks_unrelated_since: Option<Uptime>) {
        let lasts = |since: Uptime| now.since(since) < LASTS;
        self.echo = self.echo.filter(|seen| lasts(*seen));
        self.version = self.version.filter(|(_, seen)| lasts(*seen));
        self.standing.clear();
        if self.echo.is_some() {
            self.standing.push(Oddity::Echo);
        }
        if let Some((version, _)) = self.version {
            self.standing.push(Oddity::OtherVersion(version));
        }
        // An echo and a foreign version are no valid frames either, and say more.
        if self.standing.is_empty() && bytes_since_frame >= MAX_BYTES_WITHOUT_FRAME {
            self.standing.push(Oddity::NoValidFrame);
        }
        if clocks_unrelated_since.is_some_and(|since| now.since(since) >= clock::MAX_AGE) {
            self.standing.push(Oddity::ClocksUnrelated);
        }
    }

    pub(super) fn standing(&self) -> &[Oddity] {
        &self.standing
    }

    /// The next change that wasn't told.
    pub(super) fn poll(&mut self) -> Option<HostEvent> {
        if let Some(ended) = self.told.iter().position(|known| !self.standing.contains(known)) {
            return Some(HostEvent::OddityEnded(self.told.swap_remove(ended)));
        }
        let begun = self.standing.iter().find(|new| !self.told.contains(new))?.clone();
        self.told.push(begun.clone());
        Some(HostEvent::OddityBegan(begun))
    }
}
