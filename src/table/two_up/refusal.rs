//! Why an act is refused at a two-up table: its code, a sentence for a person, and the rule of each law. PURE.
//!
//! The texts say "dealer" for the boxer as well, and "dice" for coins only where the rule is the dice's.

use crate::rules::citation::Citation;
use crate::table::entry::Refused;
use crate::table::rejection::{self, Code, Rejection};
use crate::table::two_up::law::Law;

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cause {
    /// Nobody has the dice.
    NoSpinner,
    /// The last game is decided, the next has not begun.
    NoGame,
    /// Somebody has the dice.
    SpinnerAlreadySet,
    /// The spinner's wager is missing.
    WagerRequired,
    /// A dealer who spins has no wager.
    DealerMayNotWager,
    /// The wager stays until it is decided.
    WagerLocked,
    /// No call since the last spin.
    NoCall,
    /// Bets are closed.
    BetsClosed,
    /// There is no invalid spin, or something has happened since (TD-12).
    NothingToOverrule,
    /// The spin was barred before the call: it can't stand as a result.
    BarredEarly,
    /// There is no result that could still be corrected.
    NothingToCorrect,
    /// The house lets results stand as they were keyed (TD-20).
    ResultsStand,
    /// It is that result already.
    SameResult,
    /// A supervisor has to do this.
    NotAuthorised,
    /// The spinner has spun no invalid spin.
    NoInvalidSpins,
    /// Nobody spins who could be relieved.
    NobodyToRelieve,
    /// The spinner's game isn't decided.
    GameNotDecided,
    /// A loser, and who was relieved, gives up the dice.
    SpinnerMustStop,
    /// The dealer spins until there is a decision.
    DealerMustSpin,
    /// Two or more are lost: a new set comes first.
    NewSetRequired,
    /// Fewer than are spun.
    NotEnoughDice,
    /// None is lost.
    SetComplete,
    /// The dice are in play.
    DiceInPlay,
    /// No spin sent dice off the table, or not so many.
    NotOffTable,
    /// The spinner has to choose first.
    ChoicePending,
    /// The game has no such result, or no such reason.
    NotOfThisGame,
    /// The next round is held back.
    HeldBack,
    /// The game has no overruling.
    NoOverruling,
}

impl Cause {
    /// What the readout shows.
    pub(crate) fn code(self) -> Code {
        match self {
            Cause::WagerRequired => rejection::SPINNER_WAGER_REQUIRED,
            Cause::NoCall => rejection::NO_CALL,
            Cause::NotAuthorised => rejection::NEEDS_SUPERVISOR,
            Cause::SpinnerMustStop => rejection::SPINNER_MUST_STOP,
            Cause::DealerMustSpin => rejection::DEALER_MUST_SPIN,
            Cause::NewSetRequired | Cause::NotEnoughDice => rejection::NEW_SET_REQUIRED,
            Cause::ChoicePending => rejection::CHOICE_PENDING,
            Cause::HeldBack => rejection::LOCKED,
            Cause::NoSpinner
            | Cause::NoGame
            | Cause::SpinnerAlreadySet
            | Cause::DealerMayNotWager
            | Cause::WagerLocked
            | Cause::BetsClosed
            | Cause::NothingToOverrule
            | Cause::BarredEarly
            | Cause::NothingToCorrect
            | Cause::ResultsStand
            | Cause::SameResult
            | Cause::NoInvalidSpins
            | Cause::NobodyToRelieve
            | Cause::GameNotDecided
            | Cause::SetComplete
            | Cause::DiceInPlay
            | Cause::NotOffTable
            | Cause::NotOfThisGame
            | Cause::NoOverruling => rejection::OUT_OF_ORDER,
        }
    }

    /// One sentence for a person: what is wrong and what to do.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Cause::NoSpinner => {
                "Nobody spins: press NEW SPINNER and the side of the wager, then ENTER; alone when everyone declined."
            }
            Cause::NoGame => "The game is decided: the spinner goes on with a wager, or stops, first.",
            Cause::SpinnerAlreadySet => "There is a spinner: the spinner must stop before another is selected.",
            Cause::WagerRequired => "The spinner has no wager: press its side, then ENTER, before \"no more bets\".",
            Cause::DealerMayNotWager => "A dealer who spins may not wager.",
            Cause::WagerLocked => "The wager stays as it is until it is decided.",
            Cause::NoCall => "\"No more bets\" was not called for this spin: ring the bell first.",
            Cause::BetsClosed => "Bets are closed already.",
            Cause::NothingToOverrule => "Only an invalid spin is overruled, directly after it.",
            Cause::BarredEarly => "The spin was barred before \"no more bets\": it can't stand as a result.",
            Cause::NothingToCorrect => "A result is corrected only until the next wager, call or act of the spinner.",
            Cause::ResultsStand => {
                "At this table a result stands as it was entered: record an incident (`tablegate round incident`)."
            }
            Cause::SameResult => "That is the result already.",
            Cause::NotAuthorised => "Only a supervisor may do this: turn the supervisor key and enter it again.",
            Cause::NoInvalidSpins => "The spinner has spun no invalid spin: there is no reason to relieve.",
            Cause::NobodyToRelieve => "No player spins for a wager: there is nobody to relieve.",
            Cause::GameNotDecided => "The game is not decided yet.",
            Cause::SpinnerMustStop => "The spinner must stop: select a new one.",
            Cause::DealerMustSpin => "The dealer spins until there is a decision.",
            Cause::NewSetRequired => "Two or more of the set are lost: place a new set (NEW SET, ENTER) first.",
            Cause::NotEnoughDice => "There are fewer left than are spun: place a new set (NEW SET, ENTER) first.",
            Cause::SetComplete => "The set is complete.",
            Cause::DiceInPlay => "They are in play: enter the spin first.",
            Cause::NotOffTable => {
                "Only what the last spin sent off the table is lost: enter it with that spin, or directly after \"no spin\"."
            }
            Cause::ChoicePending => {
                "The spinner has to choose first: SPINNER STOPS to retire, RELIEVE to have the boxer spin."
            }
            Cause::NotOfThisGame => "This game has no such result or reason.",
            Cause::HeldBack => "The next game is held back: `tablegate status` says by what.",
            Cause::NoOverruling => "Nobody overrules an invalid spin in this game.",
        }
    }

    /// The rule behind it; empty where it is the house's.
    pub(crate) fn rule(self, law: &Law) -> Citation {
        match law {
            Law::Dice(_) => self.rule_with_dice(),
            Law::Coins(_) => self.rule_with_coins(),
        }
    }

    fn rule_with_dice(self) -> Citation {
        match self {
            Cause::NoSpinner => "Qld 2004 sch 13 s5",
            Cause::NoGame => "Qld 2004 sch 13 s10(1)",
            Cause::SpinnerAlreadySet => "Qld 2004 sch 13 s5(3)",
            Cause::WagerRequired => "Qld 2004 sch 13 s6(1)",
            Cause::DealerMayNotWager => "Qld 2004 sch 13 s6(2)",
            Cause::WagerLocked => "Qld 2004 sch 13 s6(4)",
            Cause::NoCall | Cause::BarredEarly => "Qld 2004 sch 13 s7(1)",
            Cause::BetsClosed => "Qld 2004 sch 13 s16",
            Cause::NothingToOverrule | Cause::NotAuthorised => "Qld 2004 sch 13 s20(4)",
            Cause::NoInvalidSpins | Cause::NobodyToRelieve => "Qld 2004 sch 13 s21(1)(b)",
            Cause::GameNotDecided => "Qld 2004 sch 13 s10(1)",
            Cause::SpinnerMustStop => "Qld 2004 sch 13 s10(2)",
            Cause::DealerMustSpin => "Qld 2004 sch 13 s5(8)",
            Cause::NewSetRequired | Cause::DiceInPlay => "Qld 2004 sch 13 s22(1)(d)",
            Cause::NotEnoughDice => "Qld 2004 sch 13 s4(3)",
            Cause::SetComplete => "Qld 2004 sch 13 s4(5)",
            Cause::NotOffTable => "Qld 2004 sch 13 s22(1)",
            Cause::NotOfThisGame => "Qld 2004 sch 13 s2",
            Cause::NothingToCorrect
            | Cause::ResultsStand
            | Cause::SameResult
            | Cause::HeldBack
            | Cause::ChoicePending
            | Cause::NoOverruling => rejection::HOUSE,
        }
    }

    fn rule_with_coins(self) -> Citation {
        match self {
            Cause::NoSpinner | Cause::SpinnerAlreadySet => "Qld 1998 s471",
            Cause::NoGame | Cause::GameNotDecided => "Qld 1998 s472(7)",
            Cause::WagerRequired => "Qld 1998 s472(2)(a)",
            Cause::DealerMayNotWager => "Qld 1998 s471(6)",
            Cause::WagerLocked => "Qld 1998 s472(10)",
            Cause::NoCall | Cause::BarredEarly | Cause::BetsClosed => "Qld 1998 s475(4)",
            Cause::NoInvalidSpins | Cause::NobodyToRelieve | Cause::NotAuthorised => "Qld 1998 s478(2)",
            Cause::SpinnerMustStop => "Qld 1998 s472(8)(a)",
            Cause::DealerMustSpin => "Qld 1998 s472(9)",
            Cause::NewSetRequired | Cause::DiceInPlay => "Qld 1998 s474(4)",
            Cause::NotEnoughDice => "Qld 1998 s470(3)",
            Cause::SetComplete => "Qld 1998 s470(4)",
            Cause::NotOffTable => "Qld 1998 s474(2)",
            Cause::NotOfThisGame => "Qld 1998 s468",
            Cause::ChoicePending => "Qld 1998 s478(1)",
            Cause::NothingToOverrule | Cause::NoOverruling => "Qld 1998 s477",
            Cause::NothingToCorrect | Cause::ResultsStand | Cause::SameResult | Cause::HeldBack => rejection::HOUSE,
        }
    }

    /// The refusal of an entry.
    pub(crate) fn of_entry(self, law: &Law) -> Refused {
        if self == Cause::HeldBack {
            // Text only.
            return Refused::Shown(self.code());
        }
        Refused::Because {
            code: self.code(),
            text: self.text(),
            rule: self.rule(law),
        }
    }

    /// The refusal of a command.
    pub(crate) fn of_command(self, law: &Law) -> Rejection {
        Rejection::command(self.text(), self.rule(law))
    }
}
