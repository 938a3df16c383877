//! Too many bytes for any device: noise, or something else that was plugged in.

use std::time::Duration;

use crate::time::Uptime;

/// More bytes than this within [`FLOOD_WINDOW`] are no device: the protocol's own limit of messages comes to a fifth of it. A line
/// of more than a million baud may carry twice what it can.
const FLOOD_BYTES: u64 = 128 * 1024;
const FLOOD_WINDOW: Duration = Duration::from_secs(2);

/// Bytes within the running window.
#[derive(Debug)]
pub(super) struct Flood {
    window: Uptime,
    bytes: u64,
    most: u64,
}

impl Flood {
    pub(super) fn new(now: Uptime, baud: u32) -> Flood {
        // Twice what a line of this speed carries at 10 bits a byte.
        let carried = u64::from(baud) / 10 * FLOOD_WINDOW.as_secs() * 2;
        Flood {
            window: now,
            bytes: 0,
            most: carried.max(FLOOD_BYTES),
        }
    }

    /// Counts bytes; true when they are too many.
    pub(super) fn rises(&mut self, now: Uptime, read: usize) -> bool {
        if now.since(self.window) >= FLOOD_WINDOW {
            self.window = now;
            self.bytes = 0;
        }
        self.bytes += u64::try_from(read).unwrap_or(u64::MAX);
        self.bytes > self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_carry_what_it_can_and_no_more_than_twice_that() {
        for (baud, most) in [(9600, 128 * 1024), (115_200, 128 * 1024), (1_000_000, 400_000)] {
            let mut flood = Flood::new(Uptime::ZERO, baud);
            assert!(!flood.rises(Uptime::from_millis(1999), most), "{baud}");
            assert!(flood.rises(Uptime::from_millis(1999), 1), "{baud}");
            assert!(!flood.rises(Uptime::from_millis(2000), most), "{baud}");
        }
    }
}
