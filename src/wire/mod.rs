//! Bytes to frames to device messages, and the link session as a machine without I/O. PURE: imports `time`.

pub mod message;
