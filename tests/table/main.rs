//! The table machine under scripts of what people and devices do: each paragraph of "from signals to the game" has a file, each
//! sentence a scenario. No scenario sleeps; each is recovered from its own events at its end.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::cast_possible_truncation,
    clippy::print_stdout,
    missing_docs,
    reason = "a test may panic, and prints its seed"
)]

mod checks;
mod devices;
mod links;
mod numbers;
mod oracle;
mod people;
mod recovery;
mod scene;
mod words;

mod after_a_restart;
mod any_input;
mod any_order;
mod device_tests;
mod held_rounds;
mod modes_and_locks;
mod refusals;
mod sic_bo;
mod stand_ins;
mod style_a;
mod style_b;
mod supervisor_key;
mod time;
