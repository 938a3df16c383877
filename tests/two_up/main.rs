//! Two-up tables under scripts of what people and devices do. Each scenario is recovered from its own events at its end.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::cast_possible_truncation,
    missing_docs,
    reason = "a test may panic"
)]

mod after_a_restart;
mod against_the_law;
mod any_input;
mod coins;
mod dice;
mod lights;
mod modes_and_locks;
mod refusals;
mod scene;
