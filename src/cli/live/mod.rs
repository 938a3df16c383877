//! Full-screen views: `status --watch`, `devices --watch` and `supervise`. What they share stands here: the terminal and how it is
//! given back, keys, what the daemon says, and how things look on every terminal.
//!
//! Colour is never the only carrier, and nothing but ASCII is drawn: a view is the same over ssh, without UTF-8 and with `NO_COLOR`.
//! What is old is never shown as if it were now.

mod daemon;
pub mod devices;
mod events;
pub(super) mod feed;
mod input;
mod look;
mod screen;
pub mod status;
pub mod supervise;
#[cfg(test)]
mod testing;

pub use look::{Look, clock, hanging};

use ratatui::layout::Size;

/// What `status --watch` and `devices --watch` need: the terminal that everybody has.
const WHOLE: Size = Size { width: 80, height: 24 };
