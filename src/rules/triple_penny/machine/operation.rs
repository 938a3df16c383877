//! The words of the law's machine: what people do, what follows, why it is refused. PURE.

use crate::rules::machine;
use crate::rules::triple_penny::{Display, InvalidReason, Spun};
use crate::rules::two_up::{Resolved, Side};

/// Who does it, as far as the rules tell people apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The dealer who controls the spinner and conducts the game (s468).
    Boxer,
    /// Another dealer.
    Dealer,
    /// Puts the boxer in (s471(5), s478), declares spins invalid (s477).
    FloorManager,
    /// Plays.
    Player,
}

/// Whether a wager is made with chips.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placing {
    /// It is.
    Chips,
    /// It is only said, which makes no wager (s475(1)).
    Orally,
}

/// How the coins lie in the kip before the spin (s472(3)(b)).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kip {
    /// At least one head and one tail are uppermost.
    Mixed,
    /// All show the same.
    NotMixed,
}

/// When "no spin" was called (s477(4)).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Called {
    /// While the coins were in the air.
    InFlight,
    /// After they came to rest: too late for a floater.
    AtRest,
}

/// What the spinner chooses whose first three spins of a game were invalid (s478(1)).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// To retire: the wager goes back.
    Retire,
    /// To have the boxer spin until the wager is decided.
    Boxer,
}

/// Why a floor manager directs the boxer to take over (s478(2)).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Ground {
    /// Three invalid spins in a row.
    ThreeConsecutiveInvalid,
    /// More invalid spins than valid ones in this game (TP-7).
    MajorityInvalid,
    /// The spinner can't or won't go on.
    UnableOrUnwilling,
}

impl Ground {
    /// Every ground, in the order of the rule.
    pub const ALL: [Ground; 3] = [
        Ground::ThreeConsecutiveInvalid,
        Ground::MajorityInvalid,
        Ground::UnableOrUnwilling,
    ];

    /// As commands and events write it.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Ground::ThreeConsecutiveInvalid => "three_consecutive_invalid",
            Ground::MajorityInvalid => "majority_invalid",
            Ground::UnableOrUnwilling => "unable_or_unwilling",
        }
    }

    /// The ground with this code.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Ground> {
        Ground::ALL.into_iter().find(|ground| ground.code() == code)
    }
}

/// Something that a person or the equipment does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operation {
    /// A player accepts the coins and is the spinner.
    AcceptSpin {
        /// Where.
        seat: u8,
    },
    /// All players decline; the boxer spins.
    BoxerDirected {
        /// Who directs it.
        by: Role,
    },
    /// The spinner's wager is placed.
    SpinnerWager {
        /// On.
        side: Side,
        /// Cents.
        stake: u64,
    },
    /// The spinner's bonus wager is placed.
    SpinnerBonus {
        /// On: the side of the spinner's wager.
        side: Side,
        /// Cents.
        stake: u64,
    },
    /// The spinner takes the wager back, the bonus wager with it.
    WithdrawSpinnerWager,
    /// A player's wager is placed. Whether it is the spinner's own isn't asked (TP-17).
    PlayerWager {
        /// The name that the table gives this wager.
        name: String,
        /// On.
        side: Side,
        /// Cents.
        stake: u64,
        /// With chips or not.
        placing: Placing,
    },
    /// A player's wager in the main area is changed.
    ChangeWager {
        /// Which.
        name: String,
        /// On.
        side: Side,
        /// Cents.
        stake: u64,
    },
    /// A player's wager in the main area is taken back.
    WithdrawWager {
        /// Which.
        name: String,
    },
    /// Somebody moves a wager to the bonus area by hand.
    MoveToBonus {
        /// Which.
        name: String,
        /// Who.
        by: Role,
    },
    /// "No more bets."
    NoMoreBets {
        /// How the coins lie in the kip.
        kip: Kip,
    },
    /// A valid spin.
    Spin(Spun),
    /// "No spin", "barred".
    Invalid {
        /// Why.
        reason: InvalidReason,
        /// Who calls it.
        by: Role,
        /// When.
        called: Called,
    },
    /// The spinner's choice after three invalid spins at the beginning.
    Choose(Choice),
    /// The boxer has to take over.
    DirectBoxer {
        /// Why.
        ground: Ground,
        /// Who directs it.
        by: Role,
    },
    /// The spinner stops.
    SpinnerStops,
    /// The spinner goes on with a new game.
    SpinnerContinues,
    /// Coins are lost.
    CoinsLost {
        /// How many.
        coins: u8,
    },
    /// Lost coins are found and are of the set.
    CoinsFound {
        /// How many.
        coins: u8,
    },
    /// A coin is found that is not of the set (s474(2)).
    ForeignCoin,
    /// A new set of five replaces the old one.
    NewSet,
    /// Results are shown by this from now on.
    ShowBy(Display),
}

/// What follows from an operation that was accepted.
pub type Done = machine::Done<Resolved, Effect, GameEnd>;

/// Something that people have to do or to know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// A game begins.
    GameStarts,
    /// The coins are offered (s471(1)-(2)).
    SelectSpinner,
    /// The spinner may retire or go on (s472(7)).
    SpinnerMayContinue,
    /// The boxer, spinning for everyone, may stop or go on (TP-11).
    BoxerMayStopOrContinue,
    /// A dealer moves this player's wager to the bonus area (s473(4), s473(7)).
    MoveToBonus(String),
    /// The spinner must choose (s478(1)).
    SpinnerMustChoose,
    /// The boxer spins until the spinner's wager is decided.
    BoxerTakesOver(TakeOver),
    /// The boxer spins until the players' wagers are decided (s472(8)(b)).
    BoxerRunsOut,
    /// They are.
    RunOutEnds,
    /// A new set must be placed (s474(4)).
    NewSetDue,
}

/// Why the boxer spins in a player's place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TakeOver {
    /// The spinner stopped after a valid spin (s472(9)).
    Stopped,
    /// The spinner chose it (s478(1)(b)).
    FirstThreeInvalid,
    /// A floor manager directed it (s478(2)).
    Directed(Ground),
}

impl TakeOver {
    /// As events write it.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            TakeOver::Stopped => "stopped",
            TakeOver::FirstThreeInvalid => "first_three_invalid",
            TakeOver::Directed(ground) => ground.code(),
        }
    }
}

/// How a game ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GameEnd {
    /// The spinner's wager won.
    SpinnerWon,
    /// The spinner's wager lost.
    SpinnerLost,
    /// The spinner retired before any valid spin; the wager went back (TP-8).
    SpinnerRetired,
    /// The boxer's spin for everyone left no wager in the bonus area (TP-11).
    BoxerDecision,
}

impl GameEnd {
    /// As events write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            GameEnd::SpinnerWon => "spinner_won",
            GameEnd::SpinnerLost => "spinner_lost",
            GameEnd::SpinnerRetired => "spinner_retired",
            GameEnd::BoxerDecision => "boxer_decision",
        }
    }
}

/// Why an operation is refused; nothing has changed.
pub type Refusal = machine::Refusal<Cause>;

/// What is wrong with an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Nobody has the coins.
    NoSpinner,
    /// The last game is decided, the next has not begun.
    NoGame,
    /// Somebody has the coins.
    SpinnerAlreadySet,
    /// The spinner has no wager.
    SpinnerWagerRequired,
    /// A boxer who spins has no spinner's wagers.
    BoxerMayNotWager,
    /// The bonus wager is one dollar.
    BonusMustBeOneDollar,
    /// The bonus wager is on the side of the spinner's wager.
    BonusSideDiffers,
    /// The bonus wager comes before the first valid spin (TP-9).
    BonusTooLate,
    /// A wager is made with chips.
    OralWager,
    /// No call since the last spin.
    NoMoreBetsNotCalled,
    /// Bets are closed (TP-10).
    BetsClosed,
    /// No new wager while the boxer spins the last ones out (TP-5).
    RunOutClosed,
    /// The wager stays as it is until it is decided.
    WagerLocked,
    /// A wager in the bonus area stays as it is.
    BonusAreaLocked,
    /// There is no such wager.
    NoSuchWager,
    /// There is such a wager.
    DuplicateWager,
    /// Not a sum that chips make.
    StakeOutOfRange,
    /// Wagers go to the bonus area by a triple of their side only.
    NoTripleSpun,
    /// The coins in the kip all show the same.
    KipNotMixed,
    /// Another role has to do this.
    NotAuthorised,
    /// A player never calls a spin invalid.
    PlayerMayNotCall,
    /// A floater is called before the coins rest.
    FloaterCalledLate,
    /// The spinner has to choose first.
    ChoicePending,
    /// There is nothing to choose.
    NoChoicePending,
    /// The ground isn't there.
    GroundNotMet,
    /// No player spins for a wager.
    NobodyToReplace,
    /// The spinner's game isn't decided.
    GameNotDecided,
    /// A loser retires.
    SpinnerMustStop,
    /// The boxer spins until all is decided.
    BoxerMustSpin,
    /// Two or more coins are lost: a new set comes first.
    NewSetRequired,
    /// Fewer coins than are spun.
    NotEnoughCoins,
    /// Not two coins are lost.
    NewSetNotDue,
    /// The coins are in play.
    CoinsInPlay,
    /// So many coins aren't there, or aren't lost.
    NoSuchCoins,
    /// The coin isn't of the set.
    ForeignCoin,
}

impl machine::Cause for Cause {
    fn text(self) -> &'static str {
        match self {
            Cause::NoSpinner => "nobody has the coins",
            Cause::NoGame => "the game is decided and the next has not begun",
            Cause::SpinnerAlreadySet => "there is a spinner",
            Cause::SpinnerWagerRequired => "the spinner has no wager",
            Cause::BoxerMayNotWager => "a boxer who spins may not wager",
            Cause::BonusMustBeOneDollar => "the bonus wager is one dollar",
            Cause::BonusSideDiffers => "the bonus wager is on the side of the spinner's wager",
            Cause::BonusTooLate => "the bonus wager comes before the first valid spin",
            Cause::OralWager => "a wager is made with chips",
            Cause::NoMoreBetsNotCalled => "no more bets was not called",
            Cause::BetsClosed => "bets are closed",
            Cause::RunOutClosed => "the boxer spins out what lies there, nothing is added",
            Cause::WagerLocked => "the wager stays until it is decided",
            Cause::BonusAreaLocked => "a wager in the bonus area stays as it is",
            Cause::NoSuchWager => "there is no such wager",
            Cause::DuplicateWager => "there is such a wager",
            Cause::StakeOutOfRange => "chips can't make this stake, or it is too large",
            Cause::NoTripleSpun => "wagers move to the bonus area by a triple of their side only",
            Cause::KipNotMixed => "the coins in the kip all show the same",
            Cause::NotAuthorised => "another role has to do this",
            Cause::PlayerMayNotCall => "a player does not call a spin invalid",
            Cause::FloaterCalledLate => "a floater is called before the coins rest",
            Cause::ChoicePending => "the spinner has to choose first",
            Cause::NoChoicePending => "there is nothing to choose",
            Cause::GroundNotMet => "the ground is not there",
            Cause::NobodyToReplace => "no player spins for a wager",
            Cause::GameNotDecided => "the game is not decided",
            Cause::SpinnerMustStop => "the spinner must retire",
            Cause::BoxerMustSpin => "the boxer spins until all is decided",
            Cause::NewSetRequired => "two or more coins are lost: a new set comes first",
            Cause::NotEnoughCoins => "there are fewer than three coins",
            Cause::NewSetNotDue => "fewer than two coins are lost",
            Cause::CoinsInPlay => "the coins are in play",
            Cause::NoSuchCoins => "so many coins are not there",
            Cause::ForeignCoin => "the coin is not of the set",
        }
    }
}
