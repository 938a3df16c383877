//! What two-up with dice and two-up with coins have in common: two sides, and wagers on them. PURE.

use super::wager::{MAX_STAKE, Outcome};
use std::num::NonZeroU64;

/// What a wager can be on. There is none on odds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Side {
    /// Heads.
    Heads,
    /// Tails.
    Tails,
}

impl Side {
    /// Both.
    pub const ALL: [Side; 2] = [Side::Heads, Side::Tails];

    /// As events write it: "heads".
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Side::Heads => "heads",
            Side::Tails => "tails",
        }
    }

    /// The side with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Side> {
        Side::ALL.into_iter().find(|side| side.name() == name)
    }

    /// The other one.
    #[must_use]
    pub fn other(self) -> Side {
        match self {
            Side::Heads => Side::Tails,
            Side::Tails => Side::Heads,
        }
    }
}

/// Chips on a side.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Wager {
    /// The side.
    pub side: Side,
    /// Cents, 1 to [`MAX_STAKE`].
    pub stake: u64,
}

/// Which wager it is. The order is that of [`Resolved`]: the spinner's own first, players' by their names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WagerName {
    /// The spinner's wager.
    Spinner,
    /// The spinner's bonus wager, with coins only.
    SpinnerBonus,
    /// A player's wager, by the name that the table gave it.
    Player(String),
}

/// A wager that was decided or given back.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Resolved {
    /// Which.
    pub name: WagerName,
    /// What lay there.
    pub wager: Wager,
    /// What became of it.
    pub outcome: Outcome,
}

/// The smallest chip where nothing else is configured: a dollar, the unit in which the instruments name money.
pub const ONE_DOLLAR: NonZeroU64 = match NonZeroU64::new(100) {
    Some(cents) => cents,
    None => NonZeroU64::MIN,
};

/// A stake that chips can make: cents, at least one chip, whole chips, at most [`MAX_STAKE`].
#[must_use]
pub fn is_stake(stake: u64, smallest_chip: NonZeroU64) -> bool {
    stake > 0 && stake <= MAX_STAKE && stake.is_multiple_of(smallest_chip.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stakes_are_whole_chips() {
        for (stake, is) in [(0, false), (50, false), (100, true), (1_050, false), (MAX_STAKE, true)] {
            assert_eq!(is_stake(stake, ONE_DOLLAR), is, "{stake}");
        }
        assert!(!is_stake(MAX_STAKE + 100, ONE_DOLLAR));
        assert!(is_stake(1, NonZeroU64::MIN));
    }

    #[test]
    fn sides_lead_back_from_their_names() {
        for side in Side::ALL {
            assert_eq!(Side::from_name(side.name()), Some(side));
            assert_eq!(side.other().other(), side);
        }
        assert_eq!(Side::from_name("odds"), None);
    }
}
