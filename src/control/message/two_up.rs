//! The words of two-up on a control socket: closed sets, and what the table calls them.

use crate::table::input::{DiceOff, LightSeen, Outcome, Replacement, Side};
use serde::{Deserialize, Serialize};

/// The sides of two-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is the Side of the same name")]
pub enum SideName {
    Heads,
    Tails,
}

/// What can be spun at two-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is the Outcome of the same name")]
pub enum OutcomeName {
    Heads,
    Tails,
    Odds,
    TripleHeads,
    TripleTails,
}

/// How many dice or coins left the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is the DiceOff of the same name")]
pub enum DiceGone {
    One,
    Two,
    Three,
}

/// Where the dice or coins come from that complete the set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is the Replacement of the same name")]
pub enum SetFrom {
    Due,
    Found,
}

/// Whether a result light works, as a person sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is the LightSeen of the same name")]
pub enum LightWord {
    Failed,
    Works,
}

/// Codes of the reasons for which a spin is invalid: those of two-up dice (Qld 2004 sch 13 s20), then those of triple penny
/// two-up (Qld 1998 s477).
pub const INVALID_REASONS: [&str; 15] = [
    "both_hands",
    "not_simultaneous",
    "missed_far_end",
    "in_chip_tray",
    "stacked",
    "in_cup_or_on_rail",
    "uneven",
    "off_table",
    "dealer_discretion",
    "floater",
    "too_low",
    "hit_something",
    "outside_ring",
    "on_another_coin",
    "spinner_outside_ring",
];

/// Names of the result lights, as their device numbers them.
pub const LIGHTS: [&str; 11] = [
    "heads_1", "heads_2", "heads_3", "tails_1", "tails_2", "tails_3", "odds_1", "odds_2", "odds_3", "odds_4", "odds_5",
];

impl From<SideName> for Side {
    fn from(side: SideName) -> Side {
        match side {
            SideName::Heads => Side::Heads,
            SideName::Tails => Side::Tails,
        }
    }
}

impl From<OutcomeName> for Outcome {
    fn from(outcome: OutcomeName) -> Outcome {
        match outcome {
            OutcomeName::Heads => Outcome::Heads,
            OutcomeName::Tails => Outcome::Tails,
            OutcomeName::Odds => Outcome::Odds,
            OutcomeName::TripleHeads => Outcome::TripleHeads,
            OutcomeName::TripleTails => Outcome::TripleTails,
        }
    }
}

impl From<DiceGone> for DiceOff {
    fn from(dice: DiceGone) -> DiceOff {
        match dice {
            DiceGone::One => DiceOff::One,
            DiceGone::Two => DiceOff::Two,
            DiceGone::Three => DiceOff::Three,
        }
    }
}

impl From<SetFrom> for Replacement {
    fn from(from: SetFrom) -> Replacement {
        match from {
            SetFrom::Due => Replacement::Due,
            SetFrom::Found => Replacement::Found,
        }
    }
}

impl From<LightWord> for LightSeen {
    fn from(seen: LightWord) -> LightSeen {
        match seen {
            LightWord::Failed => LightSeen::Failed,
            LightWord::Works => LightSeen::Works,
        }
    }
}
