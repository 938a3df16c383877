//! What the table is: closed, being opened, open for play, in Test. PURE.

use crate::table::event::OpeningCheck;
use crate::table::game::Play;
use std::collections::BTreeMap;

/// The table's mode, with what it knows in each.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) enum Mode {
    /// No play.
    #[default]
    Closed,
    /// Opening checks run.
    Opening(Opening),
    /// Play.
    Open(Play),
    /// Devices are tried; nothing becomes a result.
    Test(Below),
}

/// What Test was entered from, and ends in.
#[derive(Clone, PartialEq, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one per table, and rare: it is the play as it was"
)]
pub(crate) enum Below {
    /// A closed table.
    Closed,
    /// An open table between rounds.
    Open(Play),
}

/// The checks recorded so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Opening {
    /// The newest record of each.
    pub(crate) checks: BTreeMap<OpeningCheck, Checked>,
}

/// What was recorded of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Checked {
    /// It passed.
    pub(crate) passed: bool,
    /// A person's word; else seen by a link.
    pub(crate) vouched: bool,
    /// What was seen.
    pub(crate) text: String,
}
