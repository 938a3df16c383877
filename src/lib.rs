//! `tablegate`: the gateway daemon on a casino table's PC.

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        reason = "a test may panic"
    )
)]

pub mod cli;
pub mod journal;
pub mod rules;
pub mod table;
pub mod time;
pub mod wire;
