//! What the display shows, as plain values. No dice, entry or lamp that the state doesn't tell can be expressed here by mistake:
//! a result exists only once it was entered.

use crate::table::input::Outcome;

/// Everything on the display.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    /// The table: "TS-07".
    pub table: String,
    /// The game's name for players: "Tai-sai".
    pub game: String,
    /// What happens now.
    pub moment: Moment,
    /// What a two-up table shows beside it; `None` elsewhere.
    pub spun: Option<Spun>,
    /// Ended rounds, newest first.
    pub rounds: Vec<Round>,
}

/// What was spun in the running game of two-up, or after it in the last.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spun {
    /// The last valid result.
    pub outcome: Option<Outcome>,
    /// The rows of lights that the game has, by their names, and how many of each are on.
    pub rows: Vec<Lights>,
    /// What a card shows in place of a light: "heads".
    pub cards: Vec<String>,
}

/// A row of result lights.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lights {
    /// "heads".
    pub name: &'static str,
    /// How many there are.
    pub of: u32,
    /// How many are on, from the first.
    pub on: u32,
}

/// What happens now, in the words of the table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Moment {
    /// The daemon has no state to show yet, or can't play at all.
    OutOfOrder,
    /// The table is closed.
    Closed,
    /// It is being opened; nothing counts yet.
    Opening,
    /// It is in Test; nothing counts.
    Test,
    /// The next round hasn't begun.
    Waiting,
    /// The dice are being tumbled.
    Tumbling,
    /// Bets are open.
    BetsOpen,
    /// No more bets; the dice may be covered or not, and their result is not entered.
    NoMoreBets,
    /// The result is entered.
    Result {
        /// Sorted.
        faces: [u8; 3],
    },
    /// The round has ended with this result, and the next hasn't begun.
    LastResult {
        /// Sorted.
        faces: [u8; 3],
    },
    /// The last round was void, and the next hasn't begun.
    Void,
    /// The round waits for a supervisor.
    Held,
    /// Play has stopped until a supervisor's word.
    Stopped,
    /// Two-up: dice or coins are offered to the players.
    Offered,
    /// Two-up: the spinner chooses whether to retire.
    SpinnerChooses,
    /// Two-up: the game is decided; who spun may go on.
    SpinnerDecides,
}

/// A round that has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Round {
    /// Its number.
    pub round_id: u64,
    /// How it ended.
    pub shown: Shown,
}

/// How a round ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    /// With this result; the amended one when it was amended.
    Result {
        /// Sorted.
        faces: [u8; 3],
        /// It was amended before settlement.
        amended: bool,
    },
    /// Void: "no spin".
    Void,
    /// A game of two-up.
    Game {
        /// How it ended.
        end: GameEnd,
        /// Its last valid result.
        last: Option<Outcome>,
    },
}

/// How a game of two-up ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GameEnd {
    /// The spinner won.
    Won,
    /// The spinner lost.
    Lost,
    /// The house spun; there is no spinner's wager.
    House,
}

/// A result of two-up for players: "Triple heads".
#[must_use]
pub const fn outcome_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Heads => "Heads",
        Outcome::Tails => "Tails",
        Outcome::Odds => "Odds",
        Outcome::TripleHeads => "Triple heads",
        Outcome::TripleTails => "Triple tails",
    }
}

impl Moment {
    /// The words for players.
    #[must_use]
    pub const fn words(&self) -> &'static str {
        match self {
            Moment::OutOfOrder => "Out of order",
            Moment::Closed => "Table closed",
            Moment::Opening => "Table opening",
            Moment::Test => "Test \u{2013} no play",
            Moment::Waiting => "Between rounds",
            Moment::Tumbling => "Tumbling",
            Moment::BetsOpen => "Place your bets",
            Moment::NoMoreBets => "No more bets",
            Moment::Result { .. } => "Result",
            Moment::LastResult { .. } => "Last result",
            Moment::Void => "No spin",
            Moment::Held => "Please wait \u{2013} supervisor",
            Moment::Stopped => "Play stopped \u{2013} supervisor",
            Moment::Offered => "Next spinner",
            Moment::SpinnerChooses => "The spinner chooses",
            Moment::SpinnerDecides => "Will the spinner go on?",
        }
    }

    /// The class that colours it.
    #[must_use]
    pub const fn class(&self) -> &'static str {
        match self {
            Moment::OutOfOrder | Moment::Closed | Moment::Opening | Moment::Test => "off",
            Moment::Waiting | Moment::Tumbling | Moment::Offered | Moment::SpinnerChooses | Moment::SpinnerDecides => {
                "quiet"
            }
            Moment::BetsOpen => "bets",
            Moment::NoMoreBets => "shut",
            Moment::Result { .. } | Moment::LastResult { .. } => "result",
            Moment::Void | Moment::Held | Moment::Stopped => "void",
        }
    }
}
