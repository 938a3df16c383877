//! The link session of TLP/1, both sides, as machines without I/O. PURE.
//!
//! [`Host`] is the gateway's side, [`Device`] a device's (it serves the simulated devices). Whoever drives one owns the port and the
//! clock. Methods come in three sorts, as in quinn:
//!
//! - inputs: `handle_opened`, `handle_bytes`, `handle_deadline`, `handle_closed`, and what the caller wants (`set_wish`, `command`,
//!   `request_status`; on the device `report`, `answer_status`). Each takes `now`.
//! - outputs, after any input until they are empty: `poll_transmit(&mut out)` (bytes to write) and `poll_event()`.
//! - getters: `deadline()` (call `handle_deadline` then), `state()`, `counters()`, ...
//!
//! # Driving a [`Host`]
//!
//! ```text
//! let mut host = Host::new(HostConfig { .. }, seed);        // seed: random; session numbers are drawn from it
//! host.handle_opened(now);                                  // port is open, its buffers discarded
//! loop {
//!     while host.poll_transmit(&mut out) { }  write(out);   // everything due, as bytes
//!     while there is room && let Some(event) = host.poll_event() { .. }
//!     wait for: bytes -> handle_bytes | deadline() -> handle_deadline | a new wish -> set_wish | a command -> command
//! }
//! host.handle_closed();                                     // port is gone; greets afresh at the next handle_opened
//! ```
//!
//! Poll events only while their taker has room. Events wait here, and with [`host::MAX_WAITING`] of them the host stops
//! acknowledging: the device repeats, nothing is lost and nothing grows.
//!
//! The **wish** is the latest picture that the device should show. It is kept across sessions and sent whole after every greeting, but for a
//! terminal's `Readout`: set it after each [`HostEvent::Up`] (an earlier one is forgotten then), because the greeting calls for a new entry
//! number, which only the table can give. A readout whose entry is 0 or the number found at the greeting isn't sent.
//!
//! **Dice under the cover** are dropped while a payload is read ([`message::read_report`]), before any event exists; what comes out is
//! [`HostEvent::ReadUnderCover`] and the message without the reading. Say [`TumblerBuild::Open`] for an open tumbler: its readings pass while the
//! wish says `dice_allowed` (or the device hasn't yet acknowledged one that takes it back).
//!
//! **Time.** `happened` is the device's time of the thing in the host's time, where the clocks can be related; `None` means "when it
//! arrived". Keys and entries older than 2 s are marked [`Age::Stale`]. Any other state that comes late is dropped and asked for anew; the
//! answer counts as happening when it arrives. Faults and digests are never late.
//!
//! [`message::read_report`]: crate::wire::message::read_report

pub mod clock;
mod delivery;
pub mod device;
pub mod host;

pub use device::{Device, DeviceConfig, DeviceEvent};
pub use host::{
    Age, Disclosure, DownReason, Heard, Host, HostConfig, HostEvent, LinkState, Oddity, Status, TumblerBuild, Wish,
};

use crate::wire::frame::{self, Kind, MAX_ON_LINE};
use std::time::Duration;

/// DATA is repeated for this long; then the session is over.
pub const GIVE_UP: Duration = Duration::from_secs(3);
/// A RESET is sent, and answered, at most this often.
pub const RESET_PAUSE: Duration = Duration::from_millis(250);
/// What `hold_ms` 0 means, and what the gateway sends.
pub const DEFAULT_HOLD_MS: u32 = 10_000;
/// Least `hold_ms`: below it a device would blank between two PINGs that a line loses.
pub const MIN_HOLD_MS: u32 = 2_000;
/// Most `hold_ms`: a device that shows a result for longer without a host would be lying.
pub const MAX_HOLD_MS: u32 = 60_000;

/// T, the unit of retries: 50 ms and the line time of two longest frames at 10 bits a byte, rounded up to 50 ms. 100 ms at 115200 baud, 500 ms at 9600.
#[must_use]
pub fn retry_unit(baud: u32) -> Duration {
    let bits = 2 * 10 * u64::try_from(MAX_ON_LINE).unwrap_or(u64::MAX);
    let line_us = (bits * 1_000_000).div_ceil(u64::from(baud.max(1)));
    Duration::from_millis((50_000 + line_us).div_ceil(50_000) * 50)
}

/// Bytes that wait to be written.
#[derive(Clone, Debug, Default)]
struct Out {
    bytes: Vec<u8>,
    frames: u64,
    dropped: u64,
}

/// Most bytes that wait for a line that takes none. Frames beyond it are lost, as on a bad line; retries bring back what matters.
const MAX_OUT: usize = 4096;

impl Out {
    fn frame(&mut self, kind: Kind, sequence: u8, payload: &[u8]) {
        let mut bytes = Vec::new();
        let encoded = frame::encode(kind, sequence, payload, &mut bytes);
        assert!(
            encoded.is_ok(),
            "a message of our own doesn't fit into a frame: {encoded:?}"
        );
        self.raw(&bytes);
    }

    fn raw(&mut self, bytes: &[u8]) {
        if self.bytes.len() + bytes.len() > MAX_OUT {
            self.dropped += 1;
            return;
        }
        self.frames += 1;
        self.bytes.extend_from_slice(bytes);
    }

    /// Moves everything to `out`; false when there was nothing.
    fn poll(&mut self, out: &mut Vec<u8>) -> bool {
        let some = !self.bytes.is_empty();
        out.append(&mut self.bytes);
        some
    }
}
