//! Why a spin is invalid (s477). PURE.

use crate::rules::citation::{Citation, qld_1998};

/// A reason for which the boxer or a floor manager declares a spin invalid by "no spin" or "barred" (s477(3)). A player never
/// does (s477(5)). There is no general discretion, and nobody overrules.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum InvalidReason {
    /// A coin does not turn over in the air. It must be called before the coins rest; later the spin stands (s477(4), TP-14).
    Floater,
    /// Not 1 m above the spinner's head, in the caller's opinion.
    TooLow,
    /// A coin hits something else than another coin or the ring's side below the layout.
    HitSomething,
    /// A coin rests outside the ring.
    OutsideRing,
    /// A coin rests on another.
    OnAnotherCoin,
    /// The spinner is not wholly inside the ring.
    SpinnerOutsideRing,
}

/// Whether the law leaves the declaration to the person.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Force {
    /// The spin must be declared invalid.
    Must,
    /// It may be.
    May,
}

impl InvalidReason {
    /// Every reason, in the order of the rule.
    pub const ALL: [InvalidReason; 6] = [
        InvalidReason::Floater,
        InvalidReason::TooLow,
        InvalidReason::HitSomething,
        InvalidReason::OutsideRing,
        InvalidReason::OnAnotherCoin,
        InvalidReason::SpinnerOutsideRing,
    ];

    /// As commands and events write it: "too_low".
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            InvalidReason::Floater => "floater",
            InvalidReason::TooLow => "too_low",
            InvalidReason::HitSomething => "hit_something",
            InvalidReason::OutsideRing => "outside_ring",
            InvalidReason::OnAnotherCoin => "on_another_coin",
            InvalidReason::SpinnerOutsideRing => "spinner_outside_ring",
        }
    }

    /// The reason with this code.
    #[must_use]
    pub fn from_code(code: &str) -> Option<InvalidReason> {
        InvalidReason::ALL.into_iter().find(|reason| reason.code() == code)
    }

    /// Whether the caller must.
    #[must_use]
    pub fn force(self) -> Force {
        match self {
            InvalidReason::Floater => Force::May,
            InvalidReason::TooLow
            | InvalidReason::HitSomething
            | InvalidReason::OutsideRing
            | InvalidReason::OnAnotherCoin
            | InvalidReason::SpinnerOutsideRing => Force::Must,
        }
    }

    /// The rule.
    #[must_use]
    pub fn rule(self) -> Citation {
        match self {
            InvalidReason::Floater => qld_1998!("s477(1)"),
            InvalidReason::TooLow => qld_1998!("s477(2)(a)"),
            InvalidReason::HitSomething => qld_1998!("s477(2)(b)"),
            InvalidReason::OutsideRing => qld_1998!("s477(2)(c)"),
            InvalidReason::OnAnotherCoin => qld_1998!("s477(2)(d)"),
            InvalidReason::SpinnerOutsideRing => qld_1998!("s477(2)(e)"),
        }
    }

    /// One sentence for a person.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            InvalidReason::Floater => "a coin did not turn over in the air",
            InvalidReason::TooLow => "the coins did not go 1 m above the spinner's head",
            InvalidReason::HitSomething => "a coin hit something",
            InvalidReason::OutsideRing => "a coin rests outside the ring",
            InvalidReason::OnAnotherCoin => "a coin rests on another",
            InvalidReason::SpinnerOutsideRing => "the spinner was not wholly inside the ring",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_lead_back_to_their_reasons() {
        for reason in InvalidReason::ALL {
            assert_eq!(InvalidReason::from_code(reason.code()), Some(reason));
        }
        assert_eq!(InvalidReason::from_code("dealer_discretion"), None);
    }

    #[test]
    fn only_a_floater_is_left_to_the_caller() {
        let may: Vec<_> = InvalidReason::ALL
            .into_iter()
            .filter(|reason| reason.force() == Force::May)
            .collect();
        assert_eq!(may, [InvalidReason::Floater]);
    }
}
