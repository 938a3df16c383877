//! What the law says of each game. PURE, and imports nothing else of the house.
//!
//! A game is one file (or one folder) here, one file in `table/`, and one line in each `mod.rs`.

pub mod chip_and_throw;
pub mod citation;
pub mod concordance;
pub mod machine;
pub mod odds;
pub mod sic_bo;
pub mod tai_sai;
pub mod triple_penny;
pub mod two_up;
pub mod two_up_dice;
pub mod wager;

/// Version of everything in this room. It changes with any outcome, odds, area, guard or reading, and with nothing else, so
/// that an event says under which law as we read it a result was decided.
pub const RULES_VERSION: &str = "1";
