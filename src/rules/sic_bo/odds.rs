//! What sic-bo's wagers are worth: how they win over all 216 outcomes, and with a table of odds what comes back. PURE.

use super::{ODDS_RULE, Paytable, WAGERS_RULE, wagers};
use crate::rules::odds::{Unsolved, Worth, worth_of_outcomes, worth_without_odds};
use crate::rules::tai_sai::odds::OUTCOMES;
use crate::rules::tai_sai::outcomes;

/// Every wager in its order. Without a table nothing is said of what comes back: the instruments publish no odds.
///
/// # Errors
///
/// [`Unsolved::TooLarge`] for a table with absurd odds.
pub fn worths(paytable: Option<&Paytable>) -> Result<Vec<Worth>, Unsolved> {
    wagers()
        .iter()
        .map(|(id, wager)| {
            let id = *id;
            match paytable {
                Some(table) => {
                    let won: Vec<_> = outcomes().filter_map(|faces| table.pays(id, faces)).collect();
                    worth_of_outcomes(id.to_owned(), ODDS_RULE, &won, OUTCOMES)
                }
                None => {
                    let winning = outcomes().filter(|faces| wager.pays(*faces).is_some()).count();
                    worth_without_odds(id.to_owned(), WAGERS_RULE, winning, OUTCOMES)
                }
            }
            .ok_or(Unsolved::TooLarge)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::paytable::tests::like_new_zealand;
    use super::*;
    use crate::rules::tai_sai::{Layout, odds};

    #[test]
    fn the_same_odds_are_worth_the_same() {
        let table = Paytable::new(like_new_zealand()).unwrap();
        let ours = worths(Some(&table)).unwrap();
        let theirs = odds::worths(Layout::Appendix1).unwrap();
        assert_eq!(ours.len(), theirs.len());
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(
                (&ours.ends, ours.returned),
                (&theirs.ends, theirs.returned),
                "{}",
                ours.wager
            );
        }
    }

    #[test]
    fn without_odds_only_chances_are_told() {
        for (ours, theirs) in worths(None)
            .unwrap()
            .iter()
            .zip(&odds::worths(Layout::Appendix1).unwrap())
        {
            assert_eq!((ours.ways, ours.wins()), (theirs.ways, theirs.wins()), "{}", ours.wager);
            assert_eq!((ours.returned, ours.house_edge(), ours.pays.len()), (None, None, 0));
        }
    }
}
