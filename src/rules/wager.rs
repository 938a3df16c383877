//! What the wagers of every game have in common: odds, how large a stake may be, what becomes of it. PURE.

/// What a wager pays beside its stake: `pays` to `per`. Mostly to 1; "7.5 to 1" is 15 to 2.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Odds {
    /// Paid.
    pub pays: u32,
    /// For this much staked.
    pub per: u32,
}

/// The largest stake of a wager in cents. It only keeps the arithmetic inside 64 bits: a hundred thousand million dollars.
pub const MAX_STAKE: u64 = 10_000_000_000_000;

impl Odds {
    /// `pays` to 1.
    #[must_use]
    pub const fn to_one(pays: u32) -> Odds {
        Odds { pays, per: 1 }
    }

    /// More than evens, what throwing the dice asks for at tai-sai (NZ Div 9 r6A.3, r6A.4).
    #[must_use]
    pub fn exceeds_evens(self) -> bool {
        self.pays > self.per
    }

    /// What a winning stake earns beside itself, in the stake's unit; parts of a unit are not paid.
    ///
    /// `None` when it doesn't fit.
    #[must_use]
    pub fn profit(self, stake: u64) -> Option<u64> {
        stake
            .checked_mul(u64::from(self.pays))?
            .checked_div(u64::from(self.per))
    }

    /// What becomes of a winning stake of at most [`MAX_STAKE`].
    #[must_use]
    pub fn won(self, stake: u64) -> Outcome {
        Outcome::Won {
            odds: self,
            // No odds of any game make a stake within the limit overflow.
            profit: self.profit(stake).unwrap_or(u64::MAX),
        }
    }
}

impl std::fmt::Display for Odds {
    /// As the law prints odds: "180 to 1", "7.5 to 1".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.per {
            2 if self.pays % 2 == 1 => write!(f, "{}.5 to 1", self.pays / 2),
            per => write!(f, "{} to {per}", self.pays),
        }
    }
}

/// What a seat has on an area of a layout.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PlacedWager {
    /// Whose.
    pub seat: u8,
    /// The area's id.
    pub area: &'static str,
    /// Cents, 1 to [`MAX_STAKE`].
    pub stake: u64,
}

/// What became of a wager.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// The stake is taken.
    Lost,
    /// The stake stays with the player, and the casino adds to it.
    Won {
        /// At these odds.
        odds: Odds,
        /// Cents beside the stake.
        profit: u64,
    },
    /// The stake goes back undecided.
    Returned,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odds_pay_whole_units_only_and_never_overflow() {
        let odds = Odds { pays: 15, per: 2 };
        assert_eq!(odds.profit(3), Some(22));
        assert_eq!(odds.profit(u64::MAX), None);
        assert_eq!(Odds { pays: 1, per: 0 }.profit(1), None);
        assert!(Odds::to_one(495).profit(MAX_STAKE).is_some());
    }

    #[test]
    fn odds_read_as_the_law_prints_them() {
        assert_eq!(Odds { pays: 15, per: 2 }.to_string(), "7.5 to 1");
        assert_eq!(Odds::to_one(180).to_string(), "180 to 1");
        assert_eq!(Odds { pays: 2, per: 3 }.to_string(), "2 to 3");
    }
}
