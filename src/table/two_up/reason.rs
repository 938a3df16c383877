//! Why a spin is invalid: the reasons as events write them are those of the laws. PURE.

use crate::rules::citation::Citation;
use crate::rules::triple_penny::InvalidReason as CoinsReason;
use crate::rules::two_up_dice::InvalidReason as DiceReason;
use crate::table::event::SpinInvalidatedReason;
use crate::table::two_up::law::Law;

/// A reason of one of the laws.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    Dice(DiceReason),
    Coins(CoinsReason),
}

/// The law's own reason; `None` where none was stated.
pub(crate) fn of(reason: SpinInvalidatedReason) -> Option<Reason> {
    let reason = match reason {
        SpinInvalidatedReason::Unspecified | SpinInvalidatedReason::NotStated => return None,
        SpinInvalidatedReason::BothHands => Reason::Dice(DiceReason::BothHands),
        SpinInvalidatedReason::NotSimultaneous => Reason::Dice(DiceReason::NotSimultaneous),
        SpinInvalidatedReason::MissedFarEnd => Reason::Dice(DiceReason::MissedFarEnd),
        SpinInvalidatedReason::InChipTray => Reason::Dice(DiceReason::InChipTray),
        SpinInvalidatedReason::Stacked => Reason::Dice(DiceReason::Stacked),
        SpinInvalidatedReason::InCupOrOnRail => Reason::Dice(DiceReason::InCupOrOnRail),
        SpinInvalidatedReason::Uneven => Reason::Dice(DiceReason::Uneven),
        SpinInvalidatedReason::OffTable => Reason::Dice(DiceReason::OffTable),
        SpinInvalidatedReason::DealerDiscretion => Reason::Dice(DiceReason::DealerDiscretion),
        SpinInvalidatedReason::Floater => Reason::Coins(CoinsReason::Floater),
        SpinInvalidatedReason::TooLow => Reason::Coins(CoinsReason::TooLow),
        SpinInvalidatedReason::HitSomething => Reason::Coins(CoinsReason::HitSomething),
        SpinInvalidatedReason::OutsideRing => Reason::Coins(CoinsReason::OutsideRing),
        SpinInvalidatedReason::OnAnotherCoin => Reason::Coins(CoinsReason::OnAnotherCoin),
        SpinInvalidatedReason::SpinnerOutsideRing => Reason::Coins(CoinsReason::SpinnerOutsideRing),
    };
    Some(reason)
}

impl Reason {
    /// It is a reason of this law.
    pub(crate) fn is_of(self, law: &Law) -> bool {
        match (self, law) {
            (Reason::Dice(_), Law::Dice(_)) | (Reason::Coins(_), Law::Coins(_)) => true,
            (Reason::Dice(_), Law::Coins(_)) | (Reason::Coins(_), Law::Dice(_)) => false,
        }
    }

    /// The rule.
    pub(crate) fn rule(self) -> Citation {
        match self {
            Reason::Dice(reason) => reason.rule(),
            Reason::Coins(reason) => reason.rule(),
        }
    }

    /// A few words for a person.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Reason::Dice(reason) => reason.text(),
            Reason::Coins(reason) => reason.text(),
        }
    }
}
