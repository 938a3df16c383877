//! Why a spin or throw is void (r7.1). PURE.

use super::Style;
use crate::rules::citation::{Citation, nz_div_9};

/// A reason of r7.1. The spin is void whether or not somebody calls it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum VoidReason {
    /// Style A: some die does not lie flat in the bottom section of the tumbler after spinning.
    ANotFlat,
    /// Style A: the tumbler was activated and did not work properly.
    ATumblerFault,
    /// Style A: dice were seen before "No more bets".
    AExposedEarly,
    /// Style A: the tumbler was not activated for this game.
    ANotActivated,
    /// Style B: a die did not reach the throw line.
    BShortOfLine,
    /// Style B: a die left the throwing area.
    BLeftArea,
    /// Style B: the dice hit something before they entered the area.
    BHitObject,
    /// Style B: some die does not lie flat in the area.
    BNotFlat,
    /// Style B: dealer or supervisor believe that someone other than the thrower interfered.
    BInterference,
    /// Style B: dealer or supervisor have any reason to think that the throw was not random.
    BNotRandom,
}

impl VoidReason {
    /// Every reason, in the order of the rule.
    pub const ALL: [VoidReason; 10] = [
        VoidReason::ANotFlat,
        VoidReason::ATumblerFault,
        VoidReason::AExposedEarly,
        VoidReason::ANotActivated,
        VoidReason::BShortOfLine,
        VoidReason::BLeftArea,
        VoidReason::BHitObject,
        VoidReason::BNotFlat,
        VoidReason::BInterference,
        VoidReason::BNotRandom,
    ];

    /// As commands and events write it: "a_not_flat".
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            VoidReason::ANotFlat => "a_not_flat",
            VoidReason::ATumblerFault => "a_tumbler_fault",
            VoidReason::AExposedEarly => "a_exposed_early",
            VoidReason::ANotActivated => "a_not_activated",
            VoidReason::BShortOfLine => "b_short_of_line",
            VoidReason::BLeftArea => "b_left_area",
            VoidReason::BHitObject => "b_hit_object",
            VoidReason::BNotFlat => "b_not_flat",
            VoidReason::BInterference => "b_interference",
            VoidReason::BNotRandom => "b_not_random",
        }
    }

    /// The reason with this code.
    #[must_use]
    pub fn from_code(code: &str) -> Option<VoidReason> {
        VoidReason::ALL.into_iter().find(|reason| reason.code() == code)
    }

    /// The style that it belongs to.
    #[must_use]
    pub fn style(self) -> Style {
        match self {
            VoidReason::ANotFlat
            | VoidReason::ATumblerFault
            | VoidReason::AExposedEarly
            | VoidReason::ANotActivated => Style::A,
            VoidReason::BShortOfLine
            | VoidReason::BLeftArea
            | VoidReason::BHitObject
            | VoidReason::BNotFlat
            | VoidReason::BInterference
            | VoidReason::BNotRandom => Style::B,
        }
    }

    /// The rule.
    #[must_use]
    pub fn rule(self) -> Citation {
        match self {
            VoidReason::ANotFlat => nz_div_9!("r7.1(a)"),
            VoidReason::ATumblerFault => nz_div_9!("r7.1(b)"),
            VoidReason::AExposedEarly => nz_div_9!("r7.1(c)"),
            VoidReason::ANotActivated => nz_div_9!("r7.1(d)"),
            VoidReason::BShortOfLine => nz_div_9!("r7.1(e)"),
            VoidReason::BLeftArea => nz_div_9!("r7.1(f)"),
            VoidReason::BHitObject => nz_div_9!("r7.1(g)"),
            VoidReason::BNotFlat => nz_div_9!("r7.1(h)"),
            VoidReason::BInterference => nz_div_9!("r7.1(i)"),
            VoidReason::BNotRandom => nz_div_9!("r7.1(j)"),
        }
    }

    /// One sentence for a person.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            VoidReason::ANotFlat => "a die does not lie flat in the tumbler",
            VoidReason::ATumblerFault => "the tumbler did not work properly",
            VoidReason::AExposedEarly => "dice were seen before \"No more bets\"",
            VoidReason::ANotActivated => "the tumbler was not activated for this game",
            VoidReason::BShortOfLine => "a die did not reach the throw line",
            VoidReason::BLeftArea => "a die left the throwing area",
            VoidReason::BHitObject => "the dice hit something before they entered the throwing area",
            VoidReason::BNotFlat => "a die does not lie flat in the throwing area",
            VoidReason::BInterference => "someone other than the thrower is believed to have interfered",
            VoidReason::BNotRandom => "there is reason to think that the throw was not random",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_lead_back_to_their_reasons_and_begin_with_their_style() {
        for reason in VoidReason::ALL {
            assert_eq!(VoidReason::from_code(reason.code()), Some(reason));
            let prefix = reason.style().name().to_lowercase() + "_";
            assert!(reason.code().starts_with(&prefix), "{}", reason.code());
        }
        assert_eq!(VoidReason::from_code("a_bad_mood"), None);
    }

    #[test]
    fn rules_run_from_a_to_j() {
        let letters: Vec<_> = VoidReason::ALL.iter().map(|r| r.rule()).collect();
        let expected: Vec<_> = ('a'..='j').map(|l| format!("NZ Div 9 r7.1({l})")).collect();
        assert_eq!(letters, expected);
    }
}
