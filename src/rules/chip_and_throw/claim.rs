//! A wager that shall be settled elsewhere than it lies: asked for, then decided. PURE.
//!
//! While a claim is open that wager alone is held. The stake never changes. Once the wager was dealt with there is no claim, only
//! a correction (C2).

use super::{Allows, ChipCause, Evidence, Game};
use crate::rules::citation::Citation;
use std::collections::BTreeMap;

/// What is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// At which game.
    pub game: Game,
    /// Why.
    pub cause: ChipCause,
    /// The chips in cents, at least 1. Moved chips of a stack are one wager at their old place (C4).
    pub stake: u64,
    /// Where they lie; none for chips that the dealer didn't place at all.
    pub lying: Option<String>,
    /// Where they were or should be.
    pub place: String,
    /// Whether dice were spun since they were placed, validly or not.
    pub dice: DiceSpun,
    /// Whether the wager was taken or paid.
    pub settlement: Settlement,
}

/// Whether dice were spun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiceSpun {
    /// They were.
    Yes,
    /// They weren't.
    No,
}

/// Whether the wager was dealt with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Settlement {
    /// It lies there.
    Open,
    /// It was taken or paid.
    Done,
}

/// Who decides. The law says "the casino operator"; a floor manager at least stands for it (C1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decider {
    /// Runs the game: never alone.
    Dealer,
    /// A floor manager or above.
    FloorManager,
}

/// What was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Who decides.
    pub by: Decider,
    /// The evidence that the cause asks for.
    pub evidence: Shown,
    /// Whether settling it as it lies would be unfair to the player.
    pub strict: Strictness,
    /// Whether the operator makes use of the power.
    pub power: Power,
}

/// Evidence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    /// It is there.
    Yes,
    /// It is missing.
    No,
}

/// How settling the wager as it lies would be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strictness {
    /// Unfair to the player.
    Unfair,
    /// Not unfair.
    Fair,
}

/// What the operator does: "may" is no "must".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Power {
    /// Settles in place.
    Used,
    /// Settles as it lies all the same.
    Declined,
}

/// An open claim: its wager is held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    request: Request,
    evidence: Evidence,
    rule: Citation,
}

/// A claim that was decided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decided {
    /// What was asked for.
    pub request: Request,
    /// Where the wager is settled.
    pub place: Place,
    /// The rule.
    pub rule: Citation,
}

/// Where a wager is settled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// Where it lies; nowhere, for chips that were never placed.
    AsItLies(Option<String>),
    /// Where it was or should be.
    InPlace(String),
}

/// Why there is no claim, or no decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The cause allows nothing but strict settlement, or no rule speaks of it.
    NotAllowed,
    /// The words at hand end before this cause.
    Unseen,
    /// No dice were spun, so none struck a chip.
    NoSpin,
    /// A wager that never lay on the layout; only one that the dealer didn't place as instructed may be (cause (ii)).
    NeverPlaced,
    /// A wager of nothing.
    NoStake,
    /// The wager was dealt with: a correction, no claim (C2).
    Settled,
    /// It lies where it should.
    NotMoved,
    /// The dealer doesn't decide alone.
    DealerAlone,
}

impl Refused {
    /// A few words for a person.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Refused::NotAllowed => "the wager is settled where it lies",
            Refused::Unseen => "the words of the rule that are at hand end before this cause",
            Refused::NoSpin => "no dice were spun that could have struck a chip",
            Refused::NeverPlaced => "the wager never lay on the layout",
            Refused::NoStake => "there is no stake",
            Refused::Settled => "the wager was dealt with: this is a correction",
            Refused::NotMoved => "the wager lies where it should",
            Refused::DealerAlone => "the dealer does not decide this alone",
        }
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text())
    }
}

impl std::error::Error for Refused {}

impl Claim {
    /// Opens a claim.
    ///
    /// # Errors
    ///
    /// Why there can't be one.
    pub fn open(request: Request) -> Result<Claim, Refused> {
        let (evidence, rule) = match request.cause.allows(request.game) {
            Allows::SettleInPlace { evidence, rule } => (evidence, rule),
            Allows::Unseen { .. } => return Err(Refused::Unseen),
            Allows::Strict { .. } | Allows::CallInvalid { .. } | Allows::Nothing => return Err(Refused::NotAllowed),
        };
        if request.settlement == Settlement::Done {
            return Err(Refused::Settled);
        }
        if request.stake == 0 {
            return Err(Refused::NoStake);
        }
        if request.lying.as_ref() == Some(&request.place) {
            return Err(Refused::NotMoved);
        }
        if request.lying.is_none() && request.cause != ChipCause::MisplacedByDealer {
            return Err(Refused::NeverPlaced);
        }
        if request.cause == ChipCause::StruckByDie && request.dice == DiceSpun::No {
            return Err(Refused::NoSpin);
        }
        Ok(Claim {
            request,
            evidence,
            rule,
        })
    }

    /// What has to be shown.
    #[must_use]
    pub fn evidence(&self) -> Evidence {
        self.evidence
    }

    /// Decides it: in place only with the evidence, when strict settlement is unfair, and when the operator wants it.
    ///
    /// # Errors
    ///
    /// [`Refused::DealerAlone`]; the claim stays open.
    pub fn decide(&self, finding: Finding) -> Result<Decided, Refused> {
        let request = self.request.clone();
        let place = match (finding.by, finding.evidence, finding.strict, finding.power) {
            (Decider::Dealer, ..) => return Err(Refused::DealerAlone),
            (Decider::FloorManager, Shown::Yes, Strictness::Unfair, Power::Used) => {
                Place::InPlace(request.place.clone())
            }
            (Decider::FloorManager, ..) => Place::AsItLies(request.lying.clone()),
        };
        Ok(Decided {
            request,
            place,
            rule: self.rule,
        })
    }
}

impl Decided {
    /// What the decision changed in cents, given what the wager wins or loses at each place.
    #[must_use]
    pub fn difference(&self, nets: &BTreeMap<String, i64>) -> Option<i64> {
        let net = |place: Option<&String>| place.map_or(Some(0), |place| nets.get(place).copied());
        let settled = match &self.place {
            Place::AsItLies(lying) => net(lying.as_ref()),
            Place::InPlace(place) => net(Some(place)),
        };
        settled?.checked_sub(net(self.request.lying.as_ref())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(game: Game, cause: ChipCause) -> Request {
        Request {
            game,
            cause,
            stake: 500,
            lying: Some("tails".to_owned()),
            place: "heads".to_owned(),
            dice: DiceSpun::Yes,
            settlement: Settlement::Open,
        }
    }

    const GRANTED: Finding = Finding {
        by: Decider::FloorManager,
        evidence: Shown::Yes,
        strict: Strictness::Unfair,
        power: Power::Used,
    };

    #[test]
    fn a_claim_is_granted_only_when_all_is_there() {
        let claim = Claim::open(request(Game::TwoUpDice, ChipCause::StruckByDie)).unwrap();
        assert_eq!(claim.evidence(), Evidence::ChipAndOriginalPlace);
        let granted = claim.decide(GRANTED).unwrap();
        assert_eq!(granted.place, Place::InPlace("heads".to_owned()));
        assert_eq!(granted.request.stake, 500);
        for finding in [
            Finding {
                evidence: Shown::No,
                ..GRANTED
            },
            Finding {
                strict: Strictness::Fair,
                ..GRANTED
            },
            Finding {
                power: Power::Declined,
                ..GRANTED
            },
        ] {
            let decided = claim.decide(finding).unwrap();
            assert_eq!(decided.place, Place::AsItLies(Some("tails".to_owned())), "{finding:?}");
        }
        let dealer = Finding {
            by: Decider::Dealer,
            ..GRANTED
        };
        assert_eq!(claim.decide(dealer), Err(Refused::DealerAlone));
        let nets = BTreeMap::from([("heads".to_owned(), 500), ("tails".to_owned(), -500)]);
        assert_eq!(granted.difference(&nets), Some(1_000));
    }

    #[test]
    fn what_cannot_be_claimed_is_refused() {
        use ChipCause::{MisplacedByDealer, MovedByAnother, MovedByPlayer, StruckByDie};
        let refused = |change: &dyn Fn(&mut Request), game, cause| {
            let mut request = request(game, cause);
            change(&mut request);
            Claim::open(request).unwrap_err()
        };
        let as_is = |_: &mut Request| {};
        assert_eq!(refused(&as_is, Game::Roulette, StruckByDie), Refused::NotAllowed);
        assert_eq!(refused(&as_is, Game::TwoUpDice, MovedByPlayer), Refused::NotAllowed);
        assert_eq!(refused(&as_is, Game::TriplePenny, MovedByAnother), Refused::NotAllowed);
        assert_eq!(refused(&as_is, Game::SicBo, MisplacedByDealer), Refused::Unseen);
        let no_spin = |r: &mut Request| r.dice = DiceSpun::No;
        assert_eq!(refused(&no_spin, Game::TwoUpDice, StruckByDie), Refused::NoSpin);
        let done = |r: &mut Request| r.settlement = Settlement::Done;
        assert_eq!(refused(&done, Game::TwoUpDice, MovedByAnother), Refused::Settled);
        let nothing = |r: &mut Request| r.stake = 0;
        assert_eq!(refused(&nothing, Game::TwoUpDice, MovedByAnother), Refused::NoStake);
        let there = |r: &mut Request| r.lying = Some("heads".to_owned());
        assert_eq!(refused(&there, Game::TwoUpDice, MovedByAnother), Refused::NotMoved);
        let never = |r: &mut Request| r.lying = None;
        assert_eq!(refused(&never, Game::TwoUpDice, MovedByAnother), Refused::NeverPlaced);
    }

    #[test]
    fn chips_that_the_dealer_did_not_place_count_in_their_place() {
        let mut request = request(Game::TwoUpDice, ChipCause::MisplacedByDealer);
        request.lying = None;
        let claim = Claim::open(request).unwrap();
        let nets = BTreeMap::from([("heads".to_owned(), 500)]);
        assert_eq!(claim.decide(GRANTED).unwrap().difference(&nets), Some(500));
    }
}
