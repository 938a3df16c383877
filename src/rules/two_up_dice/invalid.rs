//! Why a spin is invalid (s20). PURE.

use crate::rules::citation::{Citation, qld_sch_13};

/// A reason for which the dealer declares a spin invalid by "no spin" or "barred" (s20(3)). Nobody else does.
///
/// That a die touched a chip is none (s20(2)).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum InvalidReason {
    /// Both hands handled or spun the dice.
    BothHands,
    /// The dice did not leave the hand together.
    NotSimultaneous,
    /// The dice did not strike the end of the table farthest from the spinner.
    MissedFarEnd,
    /// A die rests in the chip tray.
    InChipTray,
    /// One die rests on the other.
    Stacked,
    /// A die rests in the dice cup or on the rail.
    InCupOrOnRail,
    /// A die does not lie evenly: on a chip or object, or with a corner against the wall.
    Uneven,
    /// A die went off the table.
    OffTable,
    /// The dealer considers the spin invalid for another reason, such as a throw before "no more bets" (TD-10).
    DealerDiscretion,
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
    pub const ALL: [InvalidReason; 9] = [
        InvalidReason::BothHands,
        InvalidReason::NotSimultaneous,
        InvalidReason::MissedFarEnd,
        InvalidReason::InChipTray,
        InvalidReason::Stacked,
        InvalidReason::InCupOrOnRail,
        InvalidReason::Uneven,
        InvalidReason::OffTable,
        InvalidReason::DealerDiscretion,
    ];

    /// As commands and events write it: "both_hands".
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            InvalidReason::BothHands => "both_hands",
            InvalidReason::NotSimultaneous => "not_simultaneous",
            InvalidReason::MissedFarEnd => "missed_far_end",
            InvalidReason::InChipTray => "in_chip_tray",
            InvalidReason::Stacked => "stacked",
            InvalidReason::InCupOrOnRail => "in_cup_or_on_rail",
            InvalidReason::Uneven => "uneven",
            InvalidReason::OffTable => "off_table",
            InvalidReason::DealerDiscretion => "dealer_discretion",
        }
    }

    /// The reason with this code.
    #[must_use]
    pub fn from_code(code: &str) -> Option<InvalidReason> {
        InvalidReason::ALL.into_iter().find(|reason| reason.code() == code)
    }

    /// Whether the dealer must.
    #[must_use]
    pub fn force(self) -> Force {
        match self {
            InvalidReason::BothHands
            | InvalidReason::NotSimultaneous
            | InvalidReason::MissedFarEnd
            | InvalidReason::InChipTray
            | InvalidReason::Stacked
            | InvalidReason::InCupOrOnRail
            | InvalidReason::Uneven
            | InvalidReason::OffTable => Force::Must,
            InvalidReason::DealerDiscretion => Force::May,
        }
    }

    /// The rule.
    #[must_use]
    pub fn rule(self) -> Citation {
        match self {
            InvalidReason::BothHands => qld_sch_13!("s20(1)(a)(i)"),
            InvalidReason::NotSimultaneous => qld_sch_13!("s20(1)(a)(ii)"),
            InvalidReason::MissedFarEnd => qld_sch_13!("s20(1)(a)(iii)"),
            InvalidReason::InChipTray => qld_sch_13!("s20(1)(a)(iv)"),
            InvalidReason::Stacked => qld_sch_13!("s20(1)(a)(v)"),
            InvalidReason::InCupOrOnRail => qld_sch_13!("s20(1)(a)(vi)"),
            InvalidReason::Uneven => qld_sch_13!("s20(1)(a)(vii)"),
            InvalidReason::OffTable => qld_sch_13!("s20(1)(a)(viii)"),
            InvalidReason::DealerDiscretion => qld_sch_13!("s20(1)(b)"),
        }
    }

    /// One sentence for a person.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            InvalidReason::BothHands => "the spinner used both hands",
            InvalidReason::NotSimultaneous => "the dice did not leave the hand together",
            InvalidReason::MissedFarEnd => "the dice did not strike the far end of the table",
            InvalidReason::InChipTray => "a die rests in the chip tray",
            InvalidReason::Stacked => "one die rests on the other",
            InvalidReason::InCupOrOnRail => "a die rests in the dice cup or on the rail",
            InvalidReason::Uneven => "a die does not lie evenly on the table",
            InvalidReason::OffTable => "a die went off the table",
            InvalidReason::DealerDiscretion => "the dealer considers the spin invalid",
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
        assert_eq!(InvalidReason::from_code("chip_contact"), None);
    }

    #[test]
    fn only_discretion_is_left_to_the_dealer() {
        let may: Vec<_> = InvalidReason::ALL
            .into_iter()
            .filter(|r| r.force() == Force::May)
            .collect();
        assert_eq!(may, [InvalidReason::DealerDiscretion]);
        assert!(
            InvalidReason::ALL
                .iter()
                .all(|r| r.rule().starts_with("Qld 2004 sch 13 s20(1)"))
        );
    }
}
