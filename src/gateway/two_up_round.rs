//! A game of two-up as its events tell it, for people who look.

use super::view::word;
use crate::table::event::{Body, SpinOutcome};
use serde::{Deserialize, Serialize};

/// Valid spins that are kept of one game: far more than the law lets a game have.
const SPINS_KEPT: usize = 64;

/// A game of two-up.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TwoUpRound {
    /// The dealer (boxer) spins, because everyone declined or in the spinner's place.
    pub dealer_spins: bool,
    /// The side of the spinner's wager: "heads", "tails"; `None`: there is none.
    pub wager: Option<String>,
    /// Results of valid spins in order: "heads", "triple_tails"; corrected ones as corrected.
    pub spins: Vec<String>,
    /// Invalid spins.
    pub invalid: u32,
}

impl TwoUpRound {
    /// Takes in one event of the game.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "shows a game; every other event is none of its business"
    )]
    pub(super) fn note(&mut self, body: &Body) {
        match body {
            Body::SpinnerSelected(selected) => self.dealer_spins = selected.dealer,
            Body::SpinnerWagerPlaced(placed) => self.wager = Some(word(placed.side().as_str_name(), "SIDE_")),
            Body::SpinnerChanged(changed) => self.dealer_spins |= changed.dealer,
            Body::SpinResulted(resulted) => self.spun(resulted.outcome()),
            Body::SpinInvalidated(_) => self.invalid += 1,
            Body::InvalidSpinOverruled(_) => {
                self.invalid = self.invalid.saturating_sub(1);
            }
            Body::SpinCorrected(corrected) => {
                self.spins.pop();
                self.spun(corrected.outcome());
            }
            _ => {}
        }
    }

    fn spun(&mut self, outcome: SpinOutcome) {
        if self.spins.len() < SPINS_KEPT {
            self.spins.push(word(outcome.as_str_name(), "SPIN_OUTCOME_"));
        }
    }
}
