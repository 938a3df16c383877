//! Faults of the table's PC that no simulated device or broker can make, on the real binary: serial lines as they are opened, disks that
//! answer with errors or not at all, clocks that jump, a loop that hangs, a stop with a long backlog.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "a test may panic"
)]
#![cfg(feature = "sim")]

#[path = "../daemon_support/mod.rs"]
mod daemon_support;
#[path = "../../benches/table/fill.rs"]
#[allow(dead_code, reason = "benches use more of it")]
mod fill;
#[path = "../uplink_support/mod.rs"]
mod uplink_support;

mod clock;
mod journal;
mod kernel;
mod serial;
mod service;
