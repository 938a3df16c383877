//! Simulated devices on the far side of the bytes: each stands behind a pty, speaks TLP/1 with the device's side of
//! [`wire::session`](crate::wire::session), obeys its chapter of the protocol, and can be told to misbehave.
//!
//! Nothing of the daemon knows them; only `cli/` and tests start them. All are tasks of the tokio runtime they are started in, and end when
//! their handle is dropped.
//!
//! - [`Tumbler`], [`Terminal`], [`Lamps`]: start one with `X::start(Setup, XSetup)`; script it with its methods (each returns when
//!   the device has done it); watch it with `view()`, `watch()` or `wait(what, |view| ..., within)`.
//! - [`Dealer`]: plays tai-sai rounds on the three, waiting for what it sees (readout, lamps, inhibit), not for time.
//! - [`Faults`]: what is wrong with a line, seeded.
//!
//! ```no_run
//! # async fn play() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use tablegate::sim::{Setup, Terminal, TerminalSetup};
//! let terminal = Terminal::start(Setup::new("/run/sim/terminal", "T-1", 7), TerminalSetup::default())?;
//! terminal.wait("an entry number", |view| view.entry != 0, Duration::from_secs(5)).await?;
//! terminal.press(3).await;
//! # Ok(()) }
//! ```

#[cfg(feature = "demo")]
pub mod broker;
mod cup;
mod dealer;
mod engine;
pub mod faults;
mod handle;
mod lamps;
mod line;
mod plug;
mod pty;
mod terminal;
mod tumbler;
mod two_up;

pub use cup::CupDealer;
pub use dealer::{Answer, Dealer, Order, Pace, Played, Stuck};
pub use handle::{Handle, Hearing, LineView, Setup, Traffic, Trouble};
pub use lamps::{Lamps, LampsSetup, LampsView, StuckAt};
pub use line::{Faults, Garble};
pub use terminal::{Terminal, TerminalSetup, TerminalView, Wear};
pub use tumbler::{CounterMemory, Reader, Spun, Tumbler, TumblerSetup, TumblerView};
pub use two_up::{Incident, Outcome, People, Played as PlayedTwoUp, TwoUp, TwoUpDealer};

/// Seeded chance (splitmix64): the same seed gives the same faults and dice.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Chance(seed)
    }

    /// Any number.
    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 up to but not including `limit` (0 for a limit of 0).
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit.max(1)).unwrap_or(u64::MAX);
        usize::try_from(self.draw() % limit).unwrap_or(0)
    }

    /// Whether something that happens so often (in percent) happens now.
    pub(crate) fn hits(&mut self, percent: u8) -> bool {
        self.below(100) < usize::from(percent)
    }

    /// A byte.
    pub(crate) fn byte(&mut self) -> u8 {
        let [byte, ..] = self.draw().to_le_bytes();
        byte
    }

    /// A face of a die, 1 to 6.
    pub(crate) fn face(&mut self) -> u8 {
        u8::try_from(self.below(6)).unwrap_or(0) + 1
    }
}
