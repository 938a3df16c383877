//! What the law says of each game. PURE, and imports nothing else of the house.
//!
//! A game is one file here, one file in `table/`, and one line in each `mod.rs`.

pub mod tai_sai;
