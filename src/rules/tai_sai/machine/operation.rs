//! The words of the law's machine: what people do, what follows, why it is refused. PURE.

use super::wagers::Resolved;
use crate::rules::machine;
use crate::rules::tai_sai::{VoidReason, call};

/// Who does it, as far as the rules tell people apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Runs the game.
    Dealer,
    /// Supervises games: amends, voids (r7.1, r7.2).
    GameSupervisor,
    /// Opens tables (r5.1).
    CasinoSupervisor,
    /// Plays.
    Player,
}

/// How the checks before opening ended (r5.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpeningTests {
    /// Every one was good.
    Passed,
    /// Some were not.
    Failed,
}

/// How an activation of the tumbler ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tumbler {
    /// It did what it should.
    Worked,
    /// It did not work properly (r7.1(b)).
    Failed,
}

/// Whether the bell was rung with the call (r6.2, r6A.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bell {
    /// Rung.
    Rung,
    /// Forgotten: a formal slip, bets are closed all the same (TS-19).
    NotRung,
}

/// How the dice lie under the dome (r6.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dice {
    /// All three flat.
    Flat,
    /// Some die not (r7.1(a)).
    NotFlat,
}

/// What a player says when the dice are offered (r6A.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Throws.
    Accepts,
    /// Lets the next player, clockwise, be asked.
    Declines,
}

/// What lies on the layout when nobody else throws (r6A.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LayoutWagers {
    /// At least one wager.
    Some,
    /// No wager: there is no throw (TS-20).
    None,
}

/// How a throw went (r6A.7 to r6A.9).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Throw {
    /// Every die crossed the throw line.
    pub crossed_line: bool,
    /// Every die stayed in the throwing area.
    pub in_area: bool,
    /// The dice hit nothing before they entered the area.
    pub clear_path: bool,
    /// Every die lies flat.
    pub flat: bool,
}

impl Throw {
    /// Why it is void: the first cause in the order of r7.1; `None` for a good throw.
    #[must_use]
    pub fn void(self) -> Option<VoidReason> {
        if !self.crossed_line {
            Some(VoidReason::BShortOfLine)
        } else if !self.in_area {
            Some(VoidReason::BLeftArea)
        } else if !self.clear_path {
            Some(VoidReason::BHitObject)
        } else if !self.flat {
            Some(VoidReason::BNotFlat)
        } else {
            None
        }
    }
}

/// What lets games go on after a malfunction (r7.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clearance {
    /// The malfunction was rectified.
    Rectified,
    /// Procedures were introduced that keep the integrity of the game.
    AlternativeProcedure,
}

/// Something that a person or the equipment does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operation {
    /// The table is opened for gambling.
    OpenTable {
        /// By whom.
        by: Role,
        /// After which checks.
        tests: OpeningTests,
    },
    /// Style A: the tumbler is activated.
    Tumble {
        /// How many times the dice were spun.
        spins: u32,
        /// How it went.
        tumbler: Tumbler,
    },
    /// Style B: the dice are put back into the cup.
    RetrieveDice,
    /// "Place your bets."
    PlaceBets,
    /// Chips are placed on an area, or added to those that lie there.
    PlaceWager {
        /// Whose.
        seat: u8,
        /// The area's id.
        area: String,
        /// Cents, 1 to [`super::MAX_STAKE`].
        stake: u64,
    },
    /// Chips are taken back from an area.
    WithdrawWager {
        /// Whose.
        seat: u8,
        /// The area's id.
        area: String,
    },
    /// "No more bets."
    NoMoreBets {
        /// With the bell or without.
        bell: Bell,
    },
    /// Style A: the cover is lifted.
    Uncover {
        /// What is seen.
        dice: Dice,
    },
    /// Style B: the dice are offered to a seat.
    Offer {
        /// The seat.
        seat: u8,
        /// Ids of the areas on which the seat has wagers.
        areas: Vec<String>,
        /// What the player says.
        answer: Answer,
    },
    /// Style B: nobody else will or may, the dealer takes the dice.
    DealerThrows {
        /// What lies on the layout.
        wagers: LayoutWagers,
    },
    /// Style B: the throw.
    Throw(Throw),
    /// Style B: the dice are given up.
    PassDice {
        /// The thrower, or the Game Supervisor who requires it.
        by: Role,
    },
    /// A numbered key of the terminal.
    Key(u8),
    /// The entry key.
    Enter,
    /// A wrong entry is put right.
    Amend {
        /// What the dice show.
        faces: [u8; 3],
        /// Under whose supervision.
        by: Role,
    },
    /// All winning areas are seen or measured to be lit, and no other.
    LampsLit,
    /// Winning areas don't light, or others do.
    LampFault,
    /// The results display fails.
    DisplayFault,
    /// Losing wagers are collected.
    CollectLosing,
    /// Winning wagers are paid.
    PayWinning,
    /// "No spin", "no roll".
    Void {
        /// Why.
        reason: VoidReason,
        /// Who calls it.
        by: Role,
    },
    /// Play may go on after a malfunction.
    ClearMalfunction {
        /// Why.
        how: Clearance,
    },
}

/// What follows from an operation that was accepted.
pub type Done = machine::Done<Resolved, Effect, GameEnd>;

/// Something that people have to do or to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// The dealer calls this result.
    Call([u8; 3]),
    /// The bell was forgotten.
    BellNotRung,
    /// "No spin", "no roll".
    Void(VoidReason),
    /// The entry was put right.
    Amended {
        /// What was entered.
        from: [u8; 3],
        /// What the dice show.
        to: [u8; 3],
    },
    /// The dice decide, not the lamps (r7.3).
    SettleByDice,
    /// No further game until the malfunction is cleared (r7.4).
    NoFurtherGames,
    /// The dice go to the next player clockwise (r6A.3, r6A.4, r6A.5).
    OfferNextClockwise,
    /// The thrower keeps the dice (r6A.4).
    ThrowerKeeps,
}

/// How a game ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GameEnd {
    /// Wagers were taken and paid by these faces.
    Settled([u8; 3]),
    /// Nobody won or lost.
    Void(VoidReason),
}

impl std::fmt::Display for GameEnd {
    /// "settled 1, 3, 6, Total 10", "void a_not_flat".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            GameEnd::Settled(faces) => write!(f, "settled {}", call(*faces)),
            GameEnd::Void(reason) => write!(f, "void {}", reason.code()),
        }
    }
}

/// Why an operation is refused; nothing has changed.
pub type Refusal = machine::Refusal<Cause>;

/// What is wrong with an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The table is open.
    AlreadyOpen,
    /// Another role has to do this.
    NotAuthorised,
    /// The checks before opening were not all good.
    OpeningTestsFailed,
    /// It belongs to the other style.
    WrongStyle,
    /// It can't happen at this point of the game.
    OutOfOrder,
    /// The tumbler was started when nobody may start it (TS-12).
    UnauthorisedActivation,
    /// An activation without a spin.
    NoSpin,
    /// No tumble before "Place your bets".
    TumblerNotActivated,
    /// Fewer than three spins before "Place your bets".
    TumblerShort,
    /// Winners of the last game aren't paid.
    PreviousNotPaid,
    /// A malfunction holds the next game.
    Halted,
    /// No malfunction holds the game.
    NotHalted,
    /// No wager can be made, changed or taken back now.
    BetsNotOpen,
    /// The layout has no such area.
    NoSuchArea,
    /// A stake of nothing, or beyond [`super::MAX_STAKE`].
    StakeOutOfRange,
    /// The seat has no wager there.
    NoSuchWager,
    /// A key that isn't 1 to 6.
    UnknownKey,
    /// A key or an entry before the dice are seen or after settlement began (TS-18).
    EntryOutOfOrder,
    /// An entry of fewer than three keys.
    IncompleteEntry,
    /// Only a Game Supervisor changes an entry.
    AmendmentNeedsSupervisor,
    /// There is no entry to amend.
    NothingToAmend,
    /// The amendment is what was entered.
    NoChange,
    /// Not three faces of 1 to 6.
    BadDice,
    /// Wagers are being taken and paid: people have to unwind it (TS-7).
    SettlementStarted,
    /// Neither are the lamps confirmed nor is their fault declared.
    LampsNotConfirmed,
    /// The seat has no wager on an area that pays more than evens.
    NotEligibleToThrow,
    /// The dealer throws only when something is wagered.
    NoWagersOnLayout,
}

impl machine::Cause for Cause {
    fn text(self) -> &'static str {
        match self {
            Cause::AlreadyOpen => "the table is open already",
            Cause::NotAuthorised => "another role has to do this",
            Cause::OpeningTestsFailed => "the checks before opening were not all good",
            Cause::WrongStyle => "this belongs to the other style",
            Cause::OutOfOrder => "this can't happen at this point of the game",
            Cause::UnauthorisedActivation => "the tumbler may not be started now",
            Cause::NoSpin => "the tumbler was activated and did not spin the dice",
            Cause::TumblerNotActivated => "the tumbler was not activated",
            Cause::TumblerShort => "the dice were spun fewer than three times",
            Cause::PreviousNotPaid => "winning wagers of the last game are not paid",
            Cause::Halted => "a malfunction holds the next game",
            Cause::NotHalted => "no malfunction holds the game",
            Cause::BetsNotOpen => "bets are not open",
            Cause::NoSuchArea => "the layout has no such area",
            Cause::StakeOutOfRange => "the stake is nothing or too large",
            Cause::NoSuchWager => "the seat has no wager there",
            Cause::UnknownKey => "there is no such key",
            Cause::EntryOutOfOrder => "nothing can be entered now",
            Cause::IncompleteEntry => "an entry is three keys",
            Cause::AmendmentNeedsSupervisor => "an entry is changed under a Game Supervisor only",
            Cause::NothingToAmend => "there is no entry to amend",
            Cause::NoChange => "this is what was entered",
            Cause::BadDice => "dice show three faces of 1 to 6",
            Cause::SettlementStarted => "settlement has begun",
            Cause::LampsNotConfirmed => "the lamps are not confirmed",
            Cause::NotEligibleToThrow => "the seat has no wager on an area that pays more than 1 to 1",
            Cause::NoWagersOnLayout => "nothing is wagered",
        }
    }
}
