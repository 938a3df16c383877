//! Tai-sai: New Zealand Division 9, styles A and B, both layouts. PURE.
//!
//! [`wager`] says what may be wagered, what wins and what it pays; [`void`] why a spin or throw is void; [`machine`] in which
//! order things may happen; [`odds`] what each wager is worth. This file has the dice and their call. `TS-n` marks a place
//! where the law can be read in more than one way; the reading taken is said there.

pub mod machine;
pub mod odds;
pub mod void;
pub mod wager;

pub use void::VoidReason;
pub use wager::{Odds, Wager, Winner, areas, areas_text, paytable_text, wagers, winners};

/// How the dice are thrown. Per table and game, never mixed in one round.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Style {
    /// A powered tumbler under a cover (section 6): the result exists before bets are placed.
    A,
    /// A dice cup (section 6A): the dice are thrown after bets are closed.
    B,
}

impl Style {
    /// As configuration and events write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Style::A => "A",
            Style::B => "B",
        }
    }
}

/// Which areas the layout shows (r3.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Layout {
    /// The standard layout: 50 areas.
    Appendix1,
    /// The alternative layout: 106 areas.
    Appendix2,
}

impl Layout {
    /// As configuration and events write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Layout::Appendix1 => "appendix-1",
            Layout::Appendix2 => "appendix-2",
        }
    }
}

/// Three numbers that dice can show: each 1 to 6.
#[must_use]
pub fn are_faces(faces: [u8; 3]) -> bool {
    faces.iter().all(|face| (1..=6).contains(face))
}

/// Low to high, the order of the call (r6.3, r6A.9).
#[must_use]
pub fn sorted(faces: [u8; 3]) -> [u8; 3] {
    let mut sorted = faces;
    sorted.sort_unstable();
    sorted
}

/// The sum of the uppermost faces (r1.0). It is defined for a spin of the tumbler; it applies to a throw as well (TS-16).
#[must_use]
pub fn total(faces: [u8; 3]) -> u8 {
    faces.iter().sum()
}

/// The dealer's call: "1, 3, 6, Total 10", "double 3, 4, Total 10", "triple 5, Total 15" (r6.3, r6A.9).
///
/// A double that is not the lowest keeps its place: "1, double 3, Total 7" (TS-3).
#[must_use]
pub fn call(faces: [u8; 3]) -> String {
    let [low, middle, high] = sorted(faces);
    let total = total(faces);
    if low == high {
        format!("triple {low}, Total {total}")
    } else if low == middle {
        format!("double {low}, {high}, Total {total}")
    } else if middle == high {
        format!("{low}, double {high}, Total {total}")
    } else {
        format!("{low}, {middle}, {high}, Total {total}")
    }
}

/// The 216 ordered outcomes of three dice, each equally likely.
pub fn outcomes() -> impl Iterator<Item = [u8; 3]> {
    (1..=6).flat_map(|a| (1..=6).flat_map(move |b| (1..=6).map(move |c| [a, b, c])))
}
