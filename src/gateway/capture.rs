//! What went over the devices' lines, for a person who watches or looks back: reads the links' tapes, and holds nobody up.

use super::{Handle, Reports};
use crate::device::{Cursor, DeviceHandle, Kind, Piece, Tape};
use crate::table::input::DeviceKind;
use crate::time::Clock;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::sync::watch;

/// A link's tape.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) kind: Kind,
    pub(super) tape: Arc<Tape>,
}

impl Line {
    pub(super) fn of(kind: DeviceKind, device: &DeviceHandle) -> Line {
        Line {
            kind: kind.into(),
            tape: Arc::clone(&device.tape),
        }
    }
}

/// From when on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Since {
    /// What comes from now on.
    Now,
    /// What is still in memory, and then what comes.
    Kept,
}

/// What came over the lines since the last answer, oldest first.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Captured {
    /// The run's beginning by the wall clock as it stands now, in microseconds since 1970.
    pub began_unix_us: i64,
    /// What came.
    pub entries: Vec<Entry>,
    /// What was forgotten before it could be told, by device.
    pub missed: Vec<Missed>,
    /// There was more than one answer holds.
    pub more: bool,
}

impl Captured {
    /// What came in a later answer joins this, in order of time.
    pub fn append(&mut self, later: Captured) {
        self.began_unix_us = later.began_unix_us;
        self.missed.extend(later.missed);
        self.entries.extend(later.entries);
        self.entries.sort_by_key(|entry| entry.found.at_us);
    }
}

/// Something that went over a line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Whose line.
    pub device: Kind,
    /// What.
    #[serde(flatten)]
    pub found: Piece,
}

/// Entries that are gone: whoever watches was too slow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Missed {
    /// Whose line.
    pub device: Kind,
    /// How many.
    pub entries: u64,
}

/// Entries of one device in one answer at most: an entry is 600 characters at most, an answer of four devices stays below 200 KiB.
const AT_ONCE: usize = 80;

/// Somebody who watches the lines.
pub struct Watcher {
    reports: watch::Receiver<Reports>,
    clock: Arc<dyn Clock>,
    devices: Vec<Kind>,
    since: Since,
    places: Vec<(Line, Cursor)>,
}

impl Handle {
    /// Watches the lines of these devices; of all when none is named.
    #[must_use]
    pub fn watch_lines(&self, devices: Vec<Kind>, since: Since) -> Watcher {
        Watcher {
            reports: self.reports.clone(),
            clock: Arc::clone(&self.clock),
            devices,
            since,
            places: Vec::new(),
        }
    }
}

impl Watcher {
    /// What has come since it was asked last.
    pub fn more(&mut self) -> Captured {
        self.find_lines();
        let mut captured = Captured {
            began_unix_us: self.began_unix_us(),
            ..Captured::default()
        };
        for (line, cursor) in &mut self.places {
            let (missed, found) = line.tape.read(cursor, AT_ONCE);
            let device = line.kind;
            if missed > 0 {
                captured.missed.push(Missed {
                    device,
                    entries: missed,
                });
            }
            captured.more |= found.len() == AT_ONCE;
            captured
                .entries
                .extend(found.into_iter().map(|found| Entry { device, found }));
        }
        captured.entries.sort_by_key(|entry| entry.found.at_us);
        captured
    }

    fn began_unix_us(&self) -> i64 {
        let uptime = i64::try_from(self.clock.uptime().as_micros()).unwrap_or(i64::MAX);
        self.clock.wall().as_unix_micros().saturating_sub(uptime)
    }

    /// Links that were started anew (as with a new journal) have new tapes, which are read from their beginning.
    fn find_lines(&mut self) {
        let reports = self.reports.borrow();
        for line in &reports.lines {
            if !self.devices.is_empty() && !self.devices.contains(&line.kind) {
                continue;
            }
            let known = self.places.iter_mut().find(|(known, _)| known.kind == line.kind);
            match known {
                Some((known, _)) if Arc::ptr_eq(&known.tape, &line.tape) => {}
                Some(known) => *known = (line.clone(), line.tape.oldest()),
                None => {
                    let cursor = match self.since {
                        Since::Now => line.tape.newest(),
                        Since::Kept => line.tape.oldest(),
                    };
                    self.places.push((line.clone(), cursor));
                }
            }
        }
        // A line that appears later is read whole.
        self.since = Since::Kept;
    }
}
