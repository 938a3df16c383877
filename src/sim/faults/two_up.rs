//! The people at a simulated two-up table: what a dealer (with coins: a boxer) presses next, by what the table waits for. Dice and coins
//! are seen by nobody but people, so what was spun is drawn here.

use super::people::Care;
use crate::sim::Chance;
use crate::table::input::{OperatorAct, Outcome, Replacement, Side, TwoUpKey};
use crate::table::view::TwoUpView;

/// NO_SPIN, which every terminal has.
const NO_SPIN: u32 = 21;
/// Something that does not fit so often, in percent.
const ERRS: u8 = 8;

/// Dice or coins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spun {
    /// Two dice.
    Dice,
    /// Three coins.
    Coins,
}

/// The dealer's next act.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// Presses these keys and ENTER.
    Press(&'static str, Vec<u32>),
    /// Rings the bell.
    Ring,
}

fn keys(what: &'static str, keys: &[TwoUpKey]) -> Next {
    Next::Press(what, keys.iter().map(|key| key.number()).collect())
}

/// What comes next in this phase; now and then something that does not fit. With great care every game is brought to its end: a spinner who
/// may retire for invalid spins would take the wager back, and nothing would be decided.
pub(super) fn next(phase: &str, seen: &TwoUpView, spun: Spun, care: Care, chance: &mut Chance) -> Next {
    if care == Care::Usual && chance.hits(ERRS) {
        return amiss(spun, chance);
    }
    if seen.missing > 0 && chance.hits(60) {
        return keys("brings what is missing", &[TwoUpKey::NewSet]);
    }
    let side = side(chance);
    match phase {
        "select" if chance.hits(15) => keys("spins because everyone declines", &[TwoUpKey::NewSpinner]),
        "select" => keys("offers to a spinner", &[TwoUpKey::NewSpinner, side]),
        "betting" if seen.spinner.as_deref() == Some("player") && seen.wager.is_none() => {
            keys("takes the spinner's wager", &[side])
        }
        "betting" => Next::Ring,
        "closed" => spin(spun, chance),
        "choice" if care == Care::Usual && chance.hits(50) => {
            keys("lets the spinner retire", &[TwoUpKey::SpinnerStops])
        }
        "choice" => keys("takes over", &[TwoUpKey::Relieve]),
        "decide" if chance.hits(50) => keys("lets the spinner stop", &[TwoUpKey::SpinnerStops]),
        "decide" if seen.spinner.as_deref() == Some("dealer") => keys("goes on", &[TwoUpKey::NewSpinner]),
        _ => keys("takes the next wager", &[side]),
    }
}

fn side(chance: &mut Chance) -> TwoUpKey {
    if chance.hits(50) {
        TwoUpKey::Heads
    } else {
        TwoUpKey::Tails
    }
}

fn spin(spun: Spun, chance: &mut Chance) -> Next {
    match chance.below(12) {
        0 => Next::Press("calls no spin", vec![NO_SPIN]),
        1 if chance.hits(50) => keys("sees one leave the table", &[TwoUpKey::OffTable]),
        _ => keys("enters the spin", &[outcome(spun, chance)]),
    }
}

fn outcome(spun: Spun, chance: &mut Chance) -> TwoUpKey {
    match (spun, chance.below(8)) {
        (Spun::Dice, 0..=3) => TwoUpKey::Odds,
        (Spun::Coins, 0) => TwoUpKey::TripleHeads,
        (Spun::Coins, 1) => TwoUpKey::TripleTails,
        _ => side(chance),
    }
}

/// An act at the wrong time, or one that nobody needs.
fn amiss(spun: Spun, chance: &mut Chance) -> Next {
    match chance.below(6) {
        0 => Next::Ring,
        1 => keys("enters what isn't due", &[outcome(spun, chance)]),
        2 => keys("brings a set", &[TwoUpKey::NewSet]),
        3 => keys("relieves", &[TwoUpKey::Relieve]),
        4 => Next::Press("calls no spin", vec![NO_SPIN]),
        _ => keys("overrules without the key", &[TwoUpKey::Overrule, TwoUpKey::Heads]),
    }
}

/// What a supervisor can try when nothing goes on.
pub(super) fn remedies() -> Vec<OperatorAct> {
    vec![
        OperatorAct::NewSet { from: Replacement::Due },
        OperatorAct::NoMoreBets,
        OperatorAct::Spin {
            outcome: Outcome::Heads,
        },
        OperatorAct::Spin {
            outcome: Outcome::Tails,
        },
        OperatorAct::SpinnerStops,
        OperatorAct::Relieve,
        OperatorAct::Spinner {
            side: Some(Side::Heads),
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_that_is_to_be_decided_is_not_left_by_its_spinner() {
        let seen = TwoUpView::default();
        let stops = keys("lets the spinner retire", &[TwoUpKey::SpinnerStops]);
        let ever_stops =
            |care| (0..100).any(|seed| next("choice", &seen, Spun::Coins, care, &mut Chance::new(seed)) == stops);
        assert!(ever_stops(Care::Usual));
        assert!(!ever_stops(Care::Great));
    }
}
