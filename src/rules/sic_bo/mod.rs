//! Sic-bo as Queensland's instruments of 1995 and 2004 have it. PURE.
//!
//! They only amend: win conditions, odds and irregularities stand in a text that is not among them. [`paytable`] takes the odds
//! from whoever has an approved copy; [`machine`] is the betting window with a covered and an open tumbler; [`odds`] what each
//! wager is worth. This file has the wagers and the call. `SB-n` marks a place where the law can be read in more than one way;
//! the reading taken is said there.

pub mod machine;
pub mod odds;
pub mod paytable;

pub use paytable::Paytable;

use super::citation::{Citation, qld_1995};
use super::tai_sai::{self, Layout, Wager};

/// The rule that permits the wagers; their win conditions stand there, in a text that is not among the instruments.
pub const WAGERS_RULE: Citation = qld_1995!("r19.1, s70");

/// The rule that says what they pay: in a text that is not among the instruments.
pub const ODDS_RULE: Citation = qld_1995!("r20.1, s75");

/// The rule of the call.
pub const CALL_RULE: Citation = qld_1995!("r21.2(2)-(3), s77(2)-(3)");

/// The 50 wagers by id, in the order of the default lamp map: the eight families that s70 names.
///
/// They win as New Zealand's do, which have the same eight names (SB-1).
#[must_use]
pub fn wagers() -> &'static [(&'static str, Wager)] {
    tai_sai::wagers(Layout::Appendix1)
}

/// Ids of [`wagers`].
#[must_use]
pub fn areas() -> &'static [&'static str] {
    tai_sai::areas(Layout::Appendix1)
}

/// The areas in canonical form, for a digest: one id a line, in the order of [`areas`].
#[must_use]
pub fn areas_text() -> String {
    let mut text = "sic-bo areas\n".to_owned();
    for id in areas() {
        text.push_str(id);
        text.push('\n');
    }
    text
}

/// The wager with this id.
#[must_use]
pub fn wager(id: &str) -> Option<(&'static str, Wager)> {
    wagers().iter().find(|(known, _)| *known == id).copied()
}

/// Ids of the wagers that win for these faces, in the order of [`areas`] (SB-1).
#[must_use]
pub fn winners(faces: [u8; 3]) -> Vec<&'static str> {
    wagers()
        .iter()
        .filter(|(_, wager)| wager.pays(faces).is_some())
        .map(|(id, _)| *id)
        .collect()
}

/// The dealer's call: every die by its number, low to high, then the total: "3, 3, 6, total 12" (r21.2(2)-(3)).
///
/// There is no "double" or "triple". How the total is worded is free (SB-5).
#[must_use]
pub fn call(faces: [u8; 3]) -> String {
    let [low, middle, high] = tai_sai::sorted(faces);
    format!("{low}, {middle}, {high}, total {}", tai_sai::total(faces))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_die_is_named() {
        assert_eq!(call([6, 3, 3]), "3, 3, 6, total 12");
        assert_eq!(call([5, 5, 5]), "5, 5, 5, total 15");
    }

    #[test]
    fn wagers_are_of_the_eight_families() {
        assert_eq!(areas().len(), 50);
        assert!(wager("trio_1_1_2").is_none() && wager("odd").is_none() && wager("face_6").is_some());
    }

    #[test]
    fn winners_are_those_of_the_standard_layout() {
        for faces in tai_sai::outcomes() {
            let theirs: Vec<_> = tai_sai::winners(faces, Layout::Appendix1)
                .into_iter()
                .map(|w| w.id)
                .collect();
            assert_eq!(winners(faces), theirs);
        }
    }
}
