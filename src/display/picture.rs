//! What the display shows, as plain values. No dice, entry or lamp that the state doesn't tell can be expressed here by mistake:
//! a result exists only once it was entered.

/// Everything on the display.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    /// The table: "TS-07".
    pub table: String,
    /// The game's name for players: "Tai-sai".
    pub game: String,
    /// What happens now.
    pub moment: Moment,
    /// Ended rounds, newest first.
    pub rounds: Vec<Round>,
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
        }
    }

    /// The class that colours it.
    #[must_use]
    pub const fn class(&self) -> &'static str {
        match self {
            Moment::OutOfOrder | Moment::Closed | Moment::Opening | Moment::Test => "off",
            Moment::Waiting | Moment::Tumbling => "quiet",
            Moment::BetsOpen => "bets",
            Moment::NoMoreBets => "shut",
            Moment::Result { .. } | Moment::LastResult { .. } => "result",
            Moment::Void | Moment::Held | Moment::Stopped => "void",
        }
    }
}
