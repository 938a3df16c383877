//! What tai-sai's wagers are worth: every area over all 216 outcomes. PURE.

use super::wager::{ODDS_RULE, Wager, wagers};
use super::{Layout, Odds, outcomes};
use crate::rules::odds::{Unsolved, Worth, worth_of_outcomes};

/// Ordered outcomes of three dice.
pub const OUTCOMES: u32 = 216;

/// Every area of the layout, in its order.
///
/// # Errors
///
/// [`Unsolved`]: never with the rules as they stand.
pub fn worths(layout: Layout) -> Result<Vec<Worth>, Unsolved> {
    wagers(layout)
        .iter()
        .map(|(id, wager)| {
            worth_of_outcomes((*id).to_owned(), ODDS_RULE, &won(*wager), OUTCOMES).ok_or(Unsolved::TooLarge)
        })
        .collect()
}

/// What the wager pays in each outcome that it wins.
pub(crate) fn won(wager: Wager) -> Vec<Odds> {
    outcomes().filter_map(|faces| wager.pays(faces)).collect()
}
