//! What wagers are worth: exact fractions, computed from the rules as the machines play them. PURE.
//!
//! Dice games count outcomes. Two-up games are solved as absorbing Markov chains whose states are those of the law's machine.

pub mod chain;
mod ratio;

pub use chain::Unsolved;
pub use ratio::Ratio;

use super::citation::Citation;
use super::wager::{Odds, Outcome};

/// What one wager is worth. Fractions are of one unit staked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Worth {
    /// The wager: an area's id, or "spinner", "player.placed_after_2_odds".
    pub wager: String,
    /// What it pays, by how it wins; none where no odds are published.
    pub pays: Vec<Odds>,
    /// The rule that says what it pays; where no odds are published, the rule of the wager.
    pub rule: Citation,
    /// In how many of the game's equally likely outcomes it wins, where one spin decides.
    pub ways: Option<Ways>,
    /// How it can end, each with its probability.
    pub ends: Vec<End>,
    /// What comes back on average, stake included; where odds are known.
    pub returned: Option<Ratio>,
    /// Valid spins until it is decided, on average.
    pub spins: Ratio,
}

impl Worth {
    /// What the house keeps on average: one less [`Worth::returned`]. Negative when the wager is worth more than its stake.
    #[must_use]
    pub fn house_edge(&self) -> Option<Ratio> {
        Ratio::ONE.minus(self.returned?)
    }

    /// The probability that it wins, in whatever way.
    #[must_use]
    pub fn wins(&self) -> Option<Ratio> {
        self.ends
            .iter()
            .filter(|end| end.how.starts_with("won"))
            .try_fold(Ratio::ZERO, |sum, end| sum.plus(end.probability))
    }
}

/// A count of equally likely outcomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ways {
    /// That win.
    pub winning: u32,
    /// In all.
    pub of: u32,
}

/// One way in which a wager ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct End {
    /// "won", "won_4", "lost_odds_out".
    pub how: String,
    /// What comes back of one unit staked, the unit included; zero when lost. Unknown where no odds are published.
    pub back: Option<Ratio>,
    /// How likely.
    pub probability: Ratio,
}

/// Several ends, what comes back on average, and the spins of a solved chain.
///
/// # Errors
///
/// [`Unsolved::TooLarge`] when a fraction outgrows 128 bits.
pub(crate) fn worth_of(
    wager: String,
    pays: Vec<Odds>,
    rule: Citation,
    solved: chain::Solved<Ending>,
) -> Result<Worth, Unsolved> {
    let mut returned = Ratio::ZERO;
    let mut ends = Vec::new();
    for (ending, probability) in solved.ends {
        let back = ending.back().ok_or(Unsolved::TooLarge)?;
        returned = back
            .times(probability)
            .and_then(|part| returned.plus(part))
            .ok_or(Unsolved::TooLarge)?;
        ends.push(End {
            how: ending.how,
            back: Some(back),
            probability,
        });
    }
    Ok(Worth {
        wager,
        pays,
        rule,
        ways: None,
        ends,
        returned: Some(returned),
        spins: solved.steps,
    })
}

/// An end of a chain: what it is called, and what became of which stake.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Ending {
    pub(crate) how: String,
    stake: u64,
    back: u64,
}

impl Ending {
    pub(crate) fn of(how: String, stake: u64, outcome: Outcome) -> Ending {
        let back = match outcome {
            Outcome::Lost => 0,
            Outcome::Returned => stake,
            Outcome::Won { profit, .. } => stake.saturating_add(profit),
        };
        Ending { how, stake, back }
    }

    fn back(&self) -> Option<Ratio> {
        Ratio::new(i128::from(self.back), i128::from(self.stake))
    }
}

/// What a wager is worth that one of `of` equally likely outcomes decides; `won` has the odds of each that wins.
pub(crate) fn worth_of_outcomes(wager: String, rule: Citation, won: &[Odds], of: u32) -> Option<Worth> {
    let mut pays = won.to_vec();
    pays.sort_unstable();
    pays.dedup();
    let mut ends = Vec::new();
    let mut returned = Ratio::ZERO;
    let several = pays.len() > 1;
    for odds in &pays {
        let count = won.iter().filter(|other| *other == odds).count();
        let probability = Ratio::new(i128::try_from(count).ok()?, i128::from(of))?;
        let back = Ratio::new(i128::from(odds.pays), i128::from(odds.per))?.plus(Ratio::ONE)?;
        returned = returned.plus(back.times(probability)?)?;
        let how = if several {
            format!("won_{}", odds.pays)
        } else {
            "won".to_owned()
        };
        ends.push(End {
            how,
            back: Some(back),
            probability,
        });
    }
    let winning = u32::try_from(won.len()).ok()?;
    ends.push(End {
        how: "lost".to_owned(),
        back: Some(Ratio::ZERO),
        probability: Ratio::new(i128::from(of.checked_sub(winning)?), i128::from(of))?,
    });
    Some(Worth {
        wager,
        pays,
        rule,
        ways: Some(Ways { winning, of }),
        ends,
        returned: Some(returned),
        spins: Ratio::ONE,
    })
}

/// The chances of a wager for which no odds are published; `winning` of `of` equally likely outcomes win it.
pub(crate) fn worth_without_odds(wager: String, rule: Citation, winning: usize, of: u32) -> Option<Worth> {
    let winning = u32::try_from(winning).ok()?;
    let share = |count: u32| Ratio::new(i128::from(count), i128::from(of));
    let ends = vec![
        End {
            how: "won".to_owned(),
            back: None,
            probability: share(winning)?,
        },
        End {
            how: "lost".to_owned(),
            back: Some(Ratio::ZERO),
            probability: share(of.checked_sub(winning)?)?,
        },
    ];
    Some(Worth {
        wager,
        pays: Vec::new(),
        rule,
        ways: Some(Ways { winning, of }),
        ends,
        returned: None,
        spins: Ratio::ONE,
    })
}
