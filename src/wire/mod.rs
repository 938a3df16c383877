//! Bytes to frames to device messages, and the link session as a machine without I/O. PURE: imports `time`.
//!
//! In reading order: [`frame`] (bytes and frames), [`message`] (payloads), [`session`] (both sides of the Table Link Protocol, TLP/1).
//! Nothing here opens a port, reads a clock or draws a random number: bytes, `now` and a seed come in as arguments.

pub mod frame;
pub mod message;
pub mod session;
