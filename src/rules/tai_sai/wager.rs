//! Tai-sai's wagers: what wins (r4.1), what it pays (r4.10), and the areas of the layout that stand for them. PURE.
//!
//! Whether a wager wins is decided by the uppermost faces, one of each die (r4.2). Totals 3 and 18 are not wagers.

use super::{Layout, are_faces, sorted, total};
use crate::rules::citation::{Citation, nz_div_9};
pub use crate::rules::wager::Odds;
use std::fmt::Write as _;

/// A wager that r4.1 permits. Numbers inside are faces, low to high, but for a total.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Wager {
    /// Total 4 to 10, but not triple 2 or 3.
    Small,
    /// Total 11 to 17, but not triple 4 or 5.
    Big,
    /// Three of this face.
    Triple(u8),
    /// At least two of this face; a triple wins once (TS-15).
    Double(u8),
    /// Three of any face.
    AnyTriple,
    /// This total in any combination, triples included (TS-1).
    Total(u8),
    /// Both faces among the three dice; a face shown twice does not pay twice (TS-15).
    Pair(u8, u8),
    /// At least one of this face; pays by how many, once (TS-15).
    Face(u8),
    /// Exactly these three.
    Trio([u8; 3]),
    /// Three different numbers of these four: a double shows only two numbers (TS-2).
    Four([u8; 4]),
    /// An odd total of 5 to 17, but not triple 3 or 5.
    Odd,
    /// An even total of 4 to 16, but not triple 2 or 4.
    Even,
}

/// An area that wins, and what it pays for these dice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Winner {
    /// Its id, as in [`areas`].
    pub id: &'static str,
    /// What it pays.
    pub odds: Odds,
}

/// Areas of Appendix 1; they come first in [`TABLE`].
const STANDARD: usize = 50;

/// Areas of Appendix 2, which adds to Appendix 1 and takes nothing away (TS-4).
const ALTERNATIVE: usize = 106;

/// Every area with its wager. The order is that of the default lamp map and is frozen: bit n is the n-th area.
///
/// The combination that r4.1(i) prints as "2,5 or 6" is `trio_2_5_6`, as r4.10 has it (TS-14).
static TABLE: [(&str, Wager); ALTERNATIVE] = [
    ("small", Wager::Small),
    ("big", Wager::Big),
    ("triple_1", Wager::Triple(1)),
    ("triple_2", Wager::Triple(2)),
    ("triple_3", Wager::Triple(3)),
    ("triple_4", Wager::Triple(4)),
    ("triple_5", Wager::Triple(5)),
    ("triple_6", Wager::Triple(6)),
    ("double_1", Wager::Double(1)),
    ("double_2", Wager::Double(2)),
    ("double_3", Wager::Double(3)),
    ("double_4", Wager::Double(4)),
    ("double_5", Wager::Double(5)),
    ("double_6", Wager::Double(6)),
    ("any_triple", Wager::AnyTriple),
    ("total_4", Wager::Total(4)),
    ("total_5", Wager::Total(5)),
    ("total_6", Wager::Total(6)),
    ("total_7", Wager::Total(7)),
    ("total_8", Wager::Total(8)),
    ("total_9", Wager::Total(9)),
    ("total_10", Wager::Total(10)),
    ("total_11", Wager::Total(11)),
    ("total_12", Wager::Total(12)),
    ("total_13", Wager::Total(13)),
    ("total_14", Wager::Total(14)),
    ("total_15", Wager::Total(15)),
    ("total_16", Wager::Total(16)),
    ("total_17", Wager::Total(17)),
    ("pair_1_2", Wager::Pair(1, 2)),
    ("pair_1_3", Wager::Pair(1, 3)),
    ("pair_1_4", Wager::Pair(1, 4)),
    ("pair_1_5", Wager::Pair(1, 5)),
    ("pair_1_6", Wager::Pair(1, 6)),
    ("pair_2_3", Wager::Pair(2, 3)),
    ("pair_2_4", Wager::Pair(2, 4)),
    ("pair_2_5", Wager::Pair(2, 5)),
    ("pair_2_6", Wager::Pair(2, 6)),
    ("pair_3_4", Wager::Pair(3, 4)),
    ("pair_3_5", Wager::Pair(3, 5)),
    ("pair_3_6", Wager::Pair(3, 6)),
    ("pair_4_5", Wager::Pair(4, 5)),
    ("pair_4_6", Wager::Pair(4, 6)),
    ("pair_5_6", Wager::Pair(5, 6)),
    ("face_1", Wager::Face(1)),
    ("face_2", Wager::Face(2)),
    ("face_3", Wager::Face(3)),
    ("face_4", Wager::Face(4)),
    ("face_5", Wager::Face(5)),
    ("face_6", Wager::Face(6)),
    ("trio_1_1_2", Wager::Trio([1, 1, 2])),
    ("trio_1_1_3", Wager::Trio([1, 1, 3])),
    ("trio_1_1_4", Wager::Trio([1, 1, 4])),
    ("trio_1_1_5", Wager::Trio([1, 1, 5])),
    ("trio_1_1_6", Wager::Trio([1, 1, 6])),
    ("trio_1_2_2", Wager::Trio([1, 2, 2])),
    ("trio_1_2_3", Wager::Trio([1, 2, 3])),
    ("trio_1_2_4", Wager::Trio([1, 2, 4])),
    ("trio_1_2_5", Wager::Trio([1, 2, 5])),
    ("trio_1_2_6", Wager::Trio([1, 2, 6])),
    ("trio_1_3_3", Wager::Trio([1, 3, 3])),
    ("trio_1_3_4", Wager::Trio([1, 3, 4])),
    ("trio_1_3_5", Wager::Trio([1, 3, 5])),
    ("trio_1_3_6", Wager::Trio([1, 3, 6])),
    ("trio_1_4_4", Wager::Trio([1, 4, 4])),
    ("trio_1_4_5", Wager::Trio([1, 4, 5])),
    ("trio_1_4_6", Wager::Trio([1, 4, 6])),
    ("trio_1_5_5", Wager::Trio([1, 5, 5])),
    ("trio_1_5_6", Wager::Trio([1, 5, 6])),
    ("trio_1_6_6", Wager::Trio([1, 6, 6])),
    ("trio_2_2_3", Wager::Trio([2, 2, 3])),
    ("trio_2_2_4", Wager::Trio([2, 2, 4])),
    ("trio_2_2_5", Wager::Trio([2, 2, 5])),
    ("trio_2_2_6", Wager::Trio([2, 2, 6])),
    ("trio_2_3_3", Wager::Trio([2, 3, 3])),
    ("trio_2_3_4", Wager::Trio([2, 3, 4])),
    ("trio_2_3_5", Wager::Trio([2, 3, 5])),
    ("trio_2_3_6", Wager::Trio([2, 3, 6])),
    ("trio_2_4_4", Wager::Trio([2, 4, 4])),
    ("trio_2_4_5", Wager::Trio([2, 4, 5])),
    ("trio_2_4_6", Wager::Trio([2, 4, 6])),
    ("trio_2_5_5", Wager::Trio([2, 5, 5])),
    ("trio_2_5_6", Wager::Trio([2, 5, 6])),
    ("trio_2_6_6", Wager::Trio([2, 6, 6])),
    ("trio_3_3_4", Wager::Trio([3, 3, 4])),
    ("trio_3_3_5", Wager::Trio([3, 3, 5])),
    ("trio_3_3_6", Wager::Trio([3, 3, 6])),
    ("trio_3_4_4", Wager::Trio([3, 4, 4])),
    ("trio_3_4_5", Wager::Trio([3, 4, 5])),
    ("trio_3_4_6", Wager::Trio([3, 4, 6])),
    ("trio_3_5_5", Wager::Trio([3, 5, 5])),
    ("trio_3_5_6", Wager::Trio([3, 5, 6])),
    ("trio_3_6_6", Wager::Trio([3, 6, 6])),
    ("trio_4_4_5", Wager::Trio([4, 4, 5])),
    ("trio_4_4_6", Wager::Trio([4, 4, 6])),
    ("trio_4_5_5", Wager::Trio([4, 5, 5])),
    ("trio_4_5_6", Wager::Trio([4, 5, 6])),
    ("trio_4_6_6", Wager::Trio([4, 6, 6])),
    ("trio_5_5_6", Wager::Trio([5, 5, 6])),
    ("trio_5_6_6", Wager::Trio([5, 6, 6])),
    ("four_6543", Wager::Four([3, 4, 5, 6])),
    ("four_6532", Wager::Four([2, 3, 5, 6])),
    ("four_5432", Wager::Four([2, 3, 4, 5])),
    ("four_4321", Wager::Four([1, 2, 3, 4])),
    ("odd", Wager::Odd),
    ("even", Wager::Even),
];

/// The ids of [`TABLE`], for callers that need nothing else.
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which refuses an index out of range"
)]
static IDS: [&str; ALTERNATIVE] = {
    let mut ids = [""; ALTERNATIVE];
    let mut at = 0;
    while at < ALTERNATIVE {
        ids[at] = TABLE[at].0;
        at += 1;
    }
    ids
};

/// Ids of the layout's areas, in the order of the default lamp map.
#[must_use]
pub fn areas(layout: Layout) -> &'static [&'static str] {
    IDS.split_at(size(layout)).0
}

/// The layout's areas with their wagers, in the order of [`areas`].
#[must_use]
pub fn wagers(layout: Layout) -> &'static [(&'static str, Wager)] {
    TABLE.split_at(size(layout)).0
}

fn size(layout: Layout) -> usize {
    match layout {
        Layout::Appendix1 => STANDARD,
        Layout::Appendix2 => ALTERNATIVE,
    }
}

/// The wager that this area of the layout stands for.
#[must_use]
pub fn wager(id: &str, layout: Layout) -> Option<Wager> {
    wagers(layout)
        .iter()
        .find(|(known, _)| *known == id)
        .map(|(_, wager)| *wager)
}

/// The areas that win for these faces, in the order of [`areas`]: 4 to 8 on the standard layout, 4 to 12 on the alternative.
///
/// # Panics
///
/// When a face is not 1 to 6: callers check with [`are_faces`] what comes from outside.
#[must_use]
pub fn winners(faces: [u8; 3], layout: Layout) -> Vec<Winner> {
    assert!(are_faces(faces), "no die shows {faces:?}");
    wagers(layout)
        .iter()
        .filter_map(|(id, wager)| wager.pays(faces).map(|odds| Winner { id, odds }))
        .collect()
}

impl Wager {
    /// What it pays for these faces (1 to 6, any order); `None` when it loses.
    #[must_use]
    pub fn pays(self, faces: [u8; 3]) -> Option<Odds> {
        let shows = |face: u8| faces.iter().filter(|shown| **shown == face).count();
        let is_triple = |face: u8| shows(face) == 3;
        let total = total(faces);
        let wins = match self {
            Wager::Small => (4..=10).contains(&total) && !is_triple(2) && !is_triple(3),
            Wager::Big => (11..=17).contains(&total) && !is_triple(4) && !is_triple(5),
            Wager::Triple(face) => is_triple(face),
            Wager::Double(face) => shows(face) >= 2,
            Wager::AnyTriple => (1..=6).any(is_triple),
            Wager::Total(wanted) => total == wanted,
            Wager::Pair(low, high) => shows(low) >= 1 && shows(high) >= 1,
            Wager::Face(face) => return face_odds(shows(face)),
            Wager::Trio(trio) => sorted(faces) == trio,
            Wager::Four(four) => four.iter().filter(|face| shows(**face) >= 1).count() == 3,
            Wager::Odd => (5..=17).contains(&total) && total % 2 == 1 && !is_triple(3) && !is_triple(5),
            Wager::Even => (4..=16).contains(&total) && total.is_multiple_of(2) && !is_triple(2) && !is_triple(4),
        };
        wins.then(|| self.best_odds())
    }

    /// The most that its area pays (r4.10). Only a face wager pays by the dice.
    ///
    /// A face wager's area counts as one that pays more than evens for who may throw (TS-9).
    #[must_use]
    pub fn best_odds(self) -> Odds {
        Odds::to_one(match self {
            Wager::Small | Wager::Big | Wager::Odd | Wager::Even => 1,
            Wager::Triple(_) => 180,
            Wager::Double(_) => 11,
            Wager::AnyTriple => 31,
            Wager::Total(total) => total_odds(total),
            Wager::Pair(..) => 6,
            Wager::Face(_) => 12,
            Wager::Trio([low, middle, high]) if low == middle || middle == high => 60,
            Wager::Trio(_) => 30,
            Wager::Four(_) => 7,
        })
    }

    /// The rule that permits it.
    #[must_use]
    pub fn rule(self) -> Citation {
        match self {
            Wager::Small => nz_div_9!("r4.1(a)"),
            Wager::Big => nz_div_9!("r4.1(b)"),
            Wager::Triple(_) => nz_div_9!("r4.1(c)"),
            Wager::Double(_) => nz_div_9!("r4.1(d)"),
            Wager::AnyTriple => nz_div_9!("r4.1(e)"),
            Wager::Total(_) => nz_div_9!("r4.1(f)"),
            Wager::Pair(..) => nz_div_9!("r4.1(g)"),
            Wager::Face(_) => nz_div_9!("r4.1(h)"),
            Wager::Trio(_) => nz_div_9!("r4.1(i)"),
            Wager::Four(_) => nz_div_9!("r4.1(j)"),
            Wager::Odd => nz_div_9!("r4.1(k)"),
            Wager::Even => nz_div_9!("r4.1(l)"),
        }
    }
}

/// The rule that says what every wager pays.
pub const ODDS_RULE: Citation = nz_div_9!("r4.10");

/// A total's odds, the same for a total and its mirror (4 and 17, 5 and 16 ...).
fn total_odds(total: u8) -> u32 {
    match total {
        4 | 17 => 62,
        5 | 16 => 31,
        6 | 15 => 18,
        7 | 14 => 12,
        8 | 13 => 8,
        9 | 12 => 7,
        10 | 11 => 6,
        other => unreachable!("{other} is not in the table of wagers"),
    }
}

/// A face wager's odds by the number of dice that show it: 12 to 1 stands in place of the smaller ones (TS-15).
fn face_odds(dice: usize) -> Option<Odds> {
    match dice {
        1 => Some(Odds::to_one(1)),
        2 => Some(Odds::to_one(2)),
        3 => Some(Odds::to_one(12)),
        _ => None,
    }
}

/// The layout's areas in canonical form, for a digest: one line an area, in the order of [`areas`].
#[must_use]
pub fn areas_text(layout: Layout) -> String {
    let mut text = format!("tai-sai areas {}\n", layout.name());
    for id in areas(layout) {
        text.push_str(id);
        text.push('\n');
    }
    text
}

/// What each area pays in canonical form, for a digest: one line an area, in the order of [`areas`].
///
/// A face wager's line has its odds for one, two and three dice.
#[must_use]
pub fn paytable_text(layout: Layout) -> String {
    let mut text = format!("tai-sai paytable {}\n", layout.name());
    for (id, wager) in wagers(layout) {
        let all = match wager {
            Wager::Face(_) => (1..=3).filter_map(face_odds).collect(),
            Wager::Small
            | Wager::Big
            | Wager::Triple(_)
            | Wager::Double(_)
            | Wager::AnyTriple
            | Wager::Total(_)
            | Wager::Pair(..)
            | Wager::Trio(_)
            | Wager::Four(_)
            | Wager::Odd
            | Wager::Even => vec![wager.best_odds()],
        };
        text.push_str(id);
        for odds in all {
            // Writing to a String can't fail.
            let _ = write!(text, " {}/{}", odds.pays, odds.per);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    /// If this fails, an area, its place or its odds changed: `RULES_VERSION` has to change with them.
    #[test]
    fn canonical_texts_are_frozen_for_this_version_of_the_rules() {
        assert_eq!(crate::rules::RULES_VERSION, "1");
        let digest = |text: String| -> String { Sha256::digest(text).iter().map(|b| format!("{b:02x}")).collect() };
        insta::assert_snapshot!(digest(areas_text(Layout::Appendix1)), @"db55bc4f5f8ff8e2bd380f2281e937a8d07be06798df5d061abe94f5a3bca7c0");
        insta::assert_snapshot!(digest(areas_text(Layout::Appendix2)), @"a1837d3fd3cfa864f05f7bf0acd123f8631c59fd3df8d027e2565bb2a07389a0");
        insta::assert_snapshot!(digest(paytable_text(Layout::Appendix1)), @"6d24a632d698343bba72d2eaab442461764adcbd8df76f2f3e0e6e90a26b0844");
        insta::assert_snapshot!(digest(paytable_text(Layout::Appendix2)), @"432602668821eb46f1779624b5eaf12ca334bee0c6a79f17948c057f921f3889");
    }

    #[test]
    fn face_lines_of_the_paytable_have_all_three_odds() {
        assert!(paytable_text(Layout::Appendix1).contains("\nface_3 1/1 2/1 12/1\n"));
        assert_eq!(paytable_text(Layout::Appendix2).lines().count(), 107);
    }
}
