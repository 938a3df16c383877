//! The words of the law's machine: what people do, what follows, why it is refused. PURE.

use crate::rules::machine;
use crate::rules::two_up::{Resolved, Side};
use crate::rules::two_up_dice::{InvalidReason, Light, Spun};

/// Who does it, as far as the rules tell people apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Runs the game; declares spins invalid (s20(1)).
    Dealer,
    /// The casino key employee responsible for managing table games: overrules (s20(4)).
    KeyEmployee,
    /// Plays.
    Player,
}

/// Something that a person or the equipment does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operation {
    /// A player accepts the dice and is the spinner.
    AcceptSpin {
        /// Where.
        seat: u8,
    },
    /// All players decline, the dealer is the spinner.
    AllDecline,
    /// The spinner's wager is placed, or changed before its first call.
    SpinnerWager {
        /// On.
        side: Side,
        /// Cents.
        stake: u64,
    },
    /// A player's wager is placed; the spinner may be the player (s11(1)).
    PlayerWager {
        /// The name that the table gives this wager. Two wagers of one player are two wagers (TD-17).
        name: String,
        /// On.
        side: Side,
        /// Cents.
        stake: u64,
    },
    /// A player's wager is changed before its first call.
    ChangeWager {
        /// Which.
        name: String,
        /// On.
        side: Side,
        /// Cents.
        stake: u64,
    },
    /// A player's wager is taken back before its first call.
    WithdrawWager {
        /// Which.
        name: String,
    },
    /// "No more bets."
    NoMoreBets,
    /// A valid spin.
    Spin(Spun),
    /// "No spin", "barred".
    Invalid {
        /// Why.
        reason: InvalidReason,
        /// Who calls it.
        by: Role,
        /// Dice that went off the table and were not found at once: 0 to 2.
        lost: u8,
    },
    /// The dealer's "no spin" was an error; this is what the dice showed.
    Overrule {
        /// The result.
        spun: Spun,
        /// Who says so.
        by: Role,
    },
    /// The spinner gives up the dice.
    SpinnerStops,
    /// The spinner goes on with a new game.
    SpinnerContinues,
    /// The spinner has to stop: too many invalid spins for the valid ones.
    Relieve {
        /// Who considers it so.
        by: Role,
    },
    /// Lost dice turn up again and are good.
    DiceFound {
        /// How many.
        dice: u8,
    },
    /// A new set of five is placed, the old one leaves the table.
    NewSet,
    /// A result light fails.
    LightFails(Light),
    /// A result light works again.
    LightRestored(Light),
}

/// What follows from an operation that was accepted.
pub type Done = machine::Done<Resolved, Effect, GameEnd>;

/// Something that people have to do or to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// A game begins: the lights go out (TD-5).
    GameStarts,
    /// The dice are offered (s5(2)-(4), s10(3)).
    SelectSpinner,
    /// The spinner may stop or go on (s10(1), s21(3)).
    SpinnerMayContinue,
    /// The dealer-spinner may stop or go on (s5(8)).
    DealerMayStopOrContinue,
    /// The dealer spins until the spinner's wager is decided (s10(4), s21(2)).
    DealerTakesOver(TakeOver),
    /// A new set must be placed (s22(1)(d)).
    NewSetDue,
    /// The spin stands after all (s20(4)).
    Overruled,
}

/// Why the dealer spins in a player's place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TakeOver {
    /// The spinner stopped (s10(4)).
    Stopped,
    /// The first three spins were invalid: the spinner may come back (s21(3)).
    FirstThreeInvalid,
    /// Three invalid spins in a row (s21(1)(a)).
    ThreeInvalid,
    /// Too many invalid spins for the valid ones (s21(1)(b)).
    HighInvalidShare,
}

/// How a game ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GameEnd {
    /// The spinner's wager won.
    SpinnerWon,
    /// The spinner's wager lost.
    SpinnerLost(Decision),
    /// The dealer-spinner's game was decided (TD-6).
    Dealer(Decision),
}

/// What decided it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Decision {
    /// Heads or tails.
    Side(Side),
    /// Five odds in a row.
    OddsOut,
}

impl Decision {
    /// "heads", "tails", "odds_out".
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Decision::Side(side) => side.name(),
            Decision::OddsOut => "odds_out",
        }
    }
}

impl std::fmt::Display for GameEnd {
    /// "spinner_won", "spinner_lost_tails", "dealer_odds_out".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            GameEnd::SpinnerWon => f.write_str("spinner_won"),
            GameEnd::SpinnerLost(by) => write!(f, "spinner_lost_{}", by.name()),
            GameEnd::Dealer(by) => write!(f, "dealer_{}", by.name()),
        }
    }
}

/// Why an operation is refused; nothing has changed.
pub type Refusal = machine::Refusal<Cause>;

/// What is wrong with an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Nobody has the dice.
    NoSpinner,
    /// The last game is decided, the next has not begun.
    NoGame,
    /// Somebody has the dice.
    SpinnerAlreadySet,
    /// The spinner has no wager.
    SpinnerWagerRequired,
    /// A dealer who spins has no wager.
    DealerMayNotWager,
    /// No call since the last spin.
    NoMoreBetsNotCalled,
    /// Bets are closed.
    BetsClosed,
    /// A wager stays as it is until it is decided.
    WagerLocked,
    /// There is no such wager.
    NoSuchWager,
    /// A wager of this name lies there.
    DuplicateWager,
    /// Not a sum that chips make.
    StakeOutOfRange,
    /// Another role has to do this.
    NotAuthorised,
    /// Dice are lost only by a spin that went off the table, and only dice that were spun.
    LostDice,
    /// There is no invalid spin, or something has happened since (TD-12).
    NothingToOverrule,
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
    /// Two or more dice are lost: a new set comes first.
    NewSetRequired,
    /// Fewer dice than are spun.
    NotEnoughDice,
    /// No die is lost.
    SetComplete,
    /// One die is lost: play goes on with four.
    NewSetNotDue,
    /// The dice are in play.
    DiceInPlay,
}

impl machine::Cause for Cause {
    fn text(self) -> &'static str {
        match self {
            Cause::NoSpinner => "nobody has the dice",
            Cause::NoGame => "the game is decided and the next has not begun",
            Cause::SpinnerAlreadySet => "there is a spinner",
            Cause::SpinnerWagerRequired => "the spinner has no wager",
            Cause::DealerMayNotWager => "a dealer who spins may not wager",
            Cause::NoMoreBetsNotCalled => "no more bets was not called",
            Cause::BetsClosed => "bets are closed",
            Cause::WagerLocked => "a wager stays until it is decided",
            Cause::NoSuchWager => "there is no such wager",
            Cause::DuplicateWager => "there is such a wager",
            Cause::StakeOutOfRange => "chips can't make this stake, or it is too large",
            Cause::NotAuthorised => "another role has to do this",
            Cause::LostDice => "only dice that were spun off the table are lost",
            Cause::NothingToOverrule => "there is no invalid spin that could be overruled now",
            Cause::NoInvalidSpins => "the spinner has spun no invalid spin",
            Cause::NobodyToRelieve => "no player spins",
            Cause::GameNotDecided => "the game is not decided",
            Cause::SpinnerMustStop => "the spinner must stop",
            Cause::DealerMustSpin => "the dealer spins until there is a decision",
            Cause::NewSetRequired => "two or more dice are lost: a new set comes first",
            Cause::NotEnoughDice => "there are fewer than two dice",
            Cause::SetComplete => "the set is complete",
            Cause::NewSetNotDue => "one die is lost: play goes on with four",
            Cause::DiceInPlay => "the dice are in play",
        }
    }
}
