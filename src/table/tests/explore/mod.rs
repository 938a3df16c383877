//! Tables explored: every state that they can come to within stated bounds, and what must hold of each.
//!
//! A search goes breadth first over `decide`, `apply`, `note` and `deadline`, with a small model of the devices and people around
//! the table ([`world`]). What must hold is worked out from the events alone ([`law`], [`dice_law`]): what is lit is what the law
//! says of the last valid result; a round has one result, and amendments; nothing is accepted by a closed, testing, frozen or held
//! table; a state is what its events say, from the first or from a checkpoint; from every state the people at the table bring the
//! round to its end whichever device is dead; no decision panics, outgrows its append or waits for the past.
//!
//! `TABLEGATE_EXPLORE=2` goes on to two deviations, and so on; see [`search::Bounds`].

#![allow(clippy::print_stdout, reason = "what was explored is told with `--nocapture`")]

mod dice;
mod dice_errors;
mod dice_law;
mod form;
mod law;
mod machine;
mod planted;
mod scene;
mod search;
mod two_up;
mod two_up_errors;
mod two_up_law;
mod world;

use crate::table::Table;
use search::{Bounds, Game, search};
use std::io::Write as _;

/// Every act in every state near a round's ordinary course, and what may follow: some ten seconds for a game in a debug build.
const NEAR: Bounds = Bounds {
    deviations: 1,
    depth: 3,
    states: usize::MAX,
};

/// Every pair of acts that are out of the ordinary: as long again.
const PAIRS: Bounds = Bounds {
    deviations: 2,
    depth: 2,
    states: usize::MAX,
};

/// Searches within these bounds, or within those that `TABLEGATE_EXPLORE=deviations[,depth[,states]]` has.
fn explore<G: Game>(game: &G, everyday: &[Bounds]) {
    let asked = std::env::var("TABLEGATE_EXPLORE").ok().map(|asked| {
        let mut numbers = asked
            .split(',')
            .map(|number| number.trim().parse::<usize>().expect("a number"));
        [Bounds {
            deviations: numbers.next().map_or(1, |n| u8::try_from(n).expect("few deviations")),
            depth: numbers.next().map_or(u16::MAX, |n| u16::try_from(n).expect("a depth")),
            states: numbers.next().unwrap_or(usize::MAX),
        }]
    });
    for bounds in asked.as_ref().map_or(everyday, |asked| asked.as_slice()) {
        match search(game, &Table::new(game.config()), *bounds) {
            // Past the harness, which keeps what a passing test prints: how much was seen belongs to the result.
            Ok(counts) => writeln!(std::io::stderr(), "{counts}").expect("standard error"),
            Err(found) => panic!("{}: {found}", game.name()),
        }
    }
}

#[test]
fn two_up_with_dice_holds() {
    explore(&two_up::Dice, &[NEAR]);
}

#[test]
fn triple_penny_holds() {
    explore(&two_up::Coins, &[NEAR]);
}

#[test]
fn tai_sai_style_a_holds() {
    explore(&dice::STYLE_A, &[NEAR, PAIRS]);
}

#[test]
fn tai_sai_without_a_contact_at_the_cover_holds() {
    explore(&dice::BLIND, &[Bounds { depth: 2, ..NEAR }]);
}

#[test]
fn tai_sai_style_b_holds() {
    explore(&dice::STYLE_B, &[NEAR, PAIRS]);
}

#[test]
fn sic_bo_covered_holds() {
    explore(&dice::COVERED, &[NEAR]);
}

#[test]
fn sic_bo_open_holds() {
    explore(&dice::OPEN, &[NEAR]);
}
