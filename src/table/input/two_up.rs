//! The words of two-up that come in. PURE.

use crate::rules::two_up;
use crate::table::event;

/// A side of two-up, as commands name it.
pub type Side = two_up::Side;

/// The keys that only a two-up terminal has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TwoUpKey {
    /// A result, or a side.
    Heads,
    /// A result, or a side.
    Tails,
    /// A result, with dice.
    Odds,
    /// A result, with coins.
    TripleHeads,
    /// A result, with coins.
    TripleTails,
    /// The dice or coins were offered.
    NewSpinner,
    /// The spinner stops, or retires.
    SpinnerStops,
    /// The dealer takes over.
    Relieve,
    /// A die went off the table.
    OffTable,
    /// A new set, or lost dice found.
    NewSet,
    /// The invalid spin stands after all.
    Overrule,
}

impl TwoUpKey {
    /// The wire number.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            TwoUpKey::Heads => 16,
            TwoUpKey::Tails => 17,
            TwoUpKey::Odds => 18,
            TwoUpKey::TripleHeads => 19,
            TwoUpKey::TripleTails => 20,
            TwoUpKey::NewSpinner => 22,
            TwoUpKey::SpinnerStops => 23,
            TwoUpKey::Relieve => 24,
            TwoUpKey::OffTable => 25,
            TwoUpKey::NewSet => 26,
            TwoUpKey::Overrule => 27,
        }
    }
}

/// What was spun at two-up, with dice or coins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Outcome {
    /// Both dice, or exactly two coins.
    Heads,
    /// Both dice, or exactly two coins.
    Tails,
    /// One of each; dice only.
    Odds,
    /// All three coins.
    TripleHeads,
    /// All three coins.
    TripleTails,
}

impl Outcome {
    /// Every one.
    pub const ALL: [Outcome; 5] = [
        Outcome::Heads,
        Outcome::Tails,
        Outcome::Odds,
        Outcome::TripleHeads,
        Outcome::TripleTails,
    ];

    /// As commands write it: "triple_heads".
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Heads => "heads",
            Outcome::Tails => "tails",
            Outcome::Odds => "odds",
            Outcome::TripleHeads => "triple_heads",
            Outcome::TripleTails => "triple_tails",
        }
    }

    /// The outcome with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Outcome> {
        Outcome::ALL.into_iter().find(|outcome| outcome.name() == name)
    }

    /// Its key.
    #[must_use]
    pub fn key(self) -> TwoUpKey {
        match self {
            Outcome::Heads => TwoUpKey::Heads,
            Outcome::Tails => TwoUpKey::Tails,
            Outcome::Odds => TwoUpKey::Odds,
            Outcome::TripleHeads => TwoUpKey::TripleHeads,
            Outcome::TripleTails => TwoUpKey::TripleTails,
        }
    }

    /// As events write it.
    #[must_use]
    pub fn to_event(self) -> event::SpinOutcome {
        match self {
            Outcome::Heads => event::SpinOutcome::Heads,
            Outcome::Tails => event::SpinOutcome::Tails,
            Outcome::Odds => event::SpinOutcome::Odds,
            Outcome::TripleHeads => event::SpinOutcome::TripleHeads,
            Outcome::TripleTails => event::SpinOutcome::TripleTails,
        }
    }

    /// From an event; `None` for one that this version doesn't know.
    #[must_use]
    pub fn from_event(outcome: event::SpinOutcome) -> Option<Outcome> {
        match outcome {
            event::SpinOutcome::Unspecified => None,
            event::SpinOutcome::Heads => Some(Outcome::Heads),
            event::SpinOutcome::Tails => Some(Outcome::Tails),
            event::SpinOutcome::Odds => Some(Outcome::Odds),
            event::SpinOutcome::TripleHeads => Some(Outcome::TripleHeads),
            event::SpinOutcome::TripleTails => Some(Outcome::TripleTails),
        }
    }
}

/// How many dice (coins) a spin sent off the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiceOff {
    /// One.
    One,
    /// Two.
    Two,
    /// Three, with coins.
    Three,
}

/// Where the dice (coins) come from that complete the set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replacement {
    /// What is lawful now: the lost one when one is lost, a new set when more are.
    Due,
    /// All that were lost turned up and are good.
    Found,
}

/// Whether a light works, as a person sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LightSeen {
    /// It doesn't show what it must: a card is shown in its place.
    Failed,
    /// It does again.
    Works,
}
