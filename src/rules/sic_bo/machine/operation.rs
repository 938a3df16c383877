//! The words of the law's machine: what people do, what follows, why it is refused. PURE.

use crate::rules::machine;
use crate::rules::sic_bo::call;
use crate::rules::wager::{self, PlacedWager};

/// The tumbler that is fitted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Tumbler {
    /// Under a cover: bets may go on after it was activated, until the call (r19.4(3)).
    Covered,
    /// Without a cover: the call comes before it is activated (SB-2).
    Open,
}

impl Tumbler {
    /// As configuration and events write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Tumbler::Covered => "covered",
            Tumbler::Open => "open",
        }
    }

    /// The tumbler with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Tumbler> {
        [Tumbler::Covered, Tumbler::Open]
            .into_iter()
            .find(|tumbler| tumbler.name() == name)
    }
}

/// Whether a spin can be void. The instruments don't say.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VoidPolicy {
    /// No rule, no void.
    None,
    /// The house has a policy of its own.
    OfTheHouse,
}

/// How the dice lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dice {
    /// All three flat.
    Flat,
    /// Some die not.
    NotFlat,
}

/// Something that a person or the equipment does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Chips are placed on an area, or added to those that lie there.
    PlaceWager {
        /// Whose.
        seat: u8,
        /// The area's id.
        area: String,
        /// Cents.
        stake: u64,
    },
    /// Chips are taken back from an area.
    WithdrawWager {
        /// Whose.
        seat: u8,
        /// The area's id.
        area: String,
    },
    /// The tumbler is activated.
    Activate,
    /// "No more bets."
    NoMoreBets,
    /// Covered tumbler: the dealer begins to take the cover off.
    StartUncover,
    /// The result is announced.
    Announce {
        /// The uppermost faces, in any order.
        faces: [u8; 3],
        /// How the dice lie.
        dice: Dice,
    },
    /// The spin is void by the house's policy.
    Void,
}

/// A wager that was decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resolved {
    /// The wager.
    pub wager: PlacedWager,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of a wager.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It lost, or won what the table of odds says.
    Decided(wager::Outcome),
    /// It won; no table of odds says what.
    WonUnpriced,
}

/// What follows from an operation that was accepted.
pub type Done = machine::Done<Resolved, Effect, GameEnd>;

/// Something that people have to do or to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// The dealer calls this result.
    Call([u8; 3]),
}

/// How a game ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GameEnd {
    /// Wagers were settled by these faces.
    Settled([u8; 3]),
    /// Nobody won or lost; the house's policy, not a rule.
    VoidByPolicy,
}

impl std::fmt::Display for GameEnd {
    /// "3, 3, 6, total 12", "void".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            GameEnd::Settled(faces) => f.write_str(&call(*faces)),
            GameEnd::VoidByPolicy => f.write_str("void"),
        }
    }
}

/// Why an operation is refused; nothing has changed.
pub type Refusal = machine::Refusal<Cause>;

/// What is wrong with an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// It can't happen at this point of the game.
    OutOfOrder,
    /// Bets are closed.
    BetsClosed,
    /// The layout has no such area.
    NoSuchArea,
    /// A stake of nothing, or too large.
    StakeOutOfRange,
    /// The seat has no wager there.
    NoSuchWager,
    /// The call comes first.
    NoMoreBetsNotCalled,
    /// The tumbler was not activated in this game.
    TumblerNotActivated,
    /// The tumbler is activated once a game.
    AlreadyActivated,
    /// The tumbler has no cover.
    NoCover,
    /// A die does not lie flat.
    NotFlat,
    /// Not three faces of 1 to 6.
    BadDice,
    /// The instruments have no void, and the house has no policy.
    NoVoidInTheRules,
}

impl machine::Cause for Cause {
    fn text(self) -> &'static str {
        match self {
            Cause::OutOfOrder => "this can't happen at this point of the game",
            Cause::BetsClosed => "bets are closed",
            Cause::NoSuchArea => "the layout has no such area",
            Cause::StakeOutOfRange => "the stake is nothing or too large",
            Cause::NoSuchWager => "the seat has no wager there",
            Cause::NoMoreBetsNotCalled => "no more bets was not called",
            Cause::TumblerNotActivated => "the tumbler was not activated",
            Cause::AlreadyActivated => "the tumbler was activated in this game",
            Cause::NoCover => "the tumbler has no cover",
            Cause::NotFlat => "a die does not lie flat",
            Cause::BadDice => "dice show three faces of 1 to 6",
            Cause::NoVoidInTheRules => "the rules have no void here, and no policy of the house is set",
        }
    }
}
