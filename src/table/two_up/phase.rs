//! A two-up table in play, with dice or coins: one enum, its data in the variants, and beside it what outlives a game. PURE.
//!
//! "Dealer" means the boxer where coins are spun. Players' wagers are unseen; what may lie in the bonus area of a coin table is
//! known only as "may".

use crate::rules::two_up::Side;
use crate::table::input::Outcome;
use crate::table::state::ContactCount;
use crate::time::Uptime;

/// Play at a two-up table.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Course {
    /// As `TableOpened` named it.
    pub(crate) game: String,
    /// Where the game is.
    pub(crate) phase: Phase,
    /// What is shown: of the running game, or after it of the last (TD-5).
    pub(crate) shown: Results,
    /// Dice (coins) of the set that are lost.
    pub(crate) missing: u8,
    /// Who may go on with a set of which too many coins are lost (Qld 1998 s474(5)).
    pub(crate) keeps_old_set: Option<Keeper>,
    /// The bell as recorded when bets opened: one that has closed more often since was rung.
    pub(crate) bell: ContactCount,
    /// The terminal was away when bets opened: how often its bell had closed by then isn't known.
    pub(crate) bell_unheard: bool,
    /// When bets opened: a bell before it doesn't count. After a restart: the start of the run.
    pub(crate) opened_at: Uptime,
    /// What can still be taken back.
    pub(crate) undo: Undo,
}

/// Where the game is.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Phase {
    /// The dice are offered.
    Select {
        /// The round whose wagers may lie in the bonus area: the boxer may have to spin them out.
        run_out: Option<u64>,
    },
    /// Bets are open.
    Betting(Game),
    /// "No more bets": the dice are spun.
    Closed {
        game: Game,
        /// When the bell rang.
        closed_at: Uptime,
    },
    /// The first three spins with coins were invalid: the spinner has to choose (Qld 1998 s478(1)).
    Choice(Game),
    /// The game is decided: who spun may stop or go on.
    Decide {
        game: Game,
        ended: Ended,
        /// As in [`Phase::Select`].
        run_out: Option<u64>,
    },
}

/// A game from the spinner's selection to its decision.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Game {
    /// The round's number; of a run-out: of the round before.
    pub(crate) round: u64,
    pub(crate) spinner: Spinner,
    /// The side of the spinner's wager.
    pub(crate) wager: Option<Side>,
    pub(crate) lock: Lock,
    pub(crate) tally: Tally,
    /// The round whose wagers may lie in the bonus area now; the next valid spin decides them.
    pub(crate) bonus: Option<u64>,
}

/// Who spins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Spinner {
    /// A player.
    Player,
    /// The dealer, because everyone declined.
    #[default]
    Dealer,
    /// The dealer, until the player's wager is decided.
    TakenOver(TakeOver),
    /// The boxer, until the wagers in the bonus area are decided.
    RunOut(Behind),
}

/// Why the dealer spins in a player's place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TakeOver {
    /// The spinner stopped.
    Stopped,
    /// The first three spins were invalid.
    FirstThree,
    /// Invalid spins: three in a row; with coins also the majority.
    InvalidSpins,
    /// The dealer's judgement; with coins: the spinner can't or won't go on.
    Relieved,
}

/// What a run-out returns to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Behind {
    /// The coins are offered.
    Offered,
    /// The boxer who spins for everyone may stop or go on.
    Dealer,
}

/// Whether wagers may still be changed (TD-9), and the game given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Lock {
    /// Until the game's first call.
    #[default]
    Free,
    /// From it until they are decided.
    Locked,
}

/// The player's own spins: with dice of the whole turn, with coins of this game (TP-20).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tally {
    /// A valid spin was among the first, or they have had their effect (TD-8).
    pub(crate) past_first: bool,
    /// Valid spins; as many as are told apart.
    pub(crate) valid: u8,
    /// Invalid spins; as many as are told apart.
    pub(crate) invalid: u8,
    /// Invalid spins since the last valid one; likewise.
    pub(crate) run: u8,
}

/// Spins beyond this many aren't told apart: a game has at most so few, and a third in a row has its effect.
const MOST_TOLD_APART: u8 = 3;

/// How a game ended that may be followed by another of the same spinner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ended {
    /// The spinner's wager won.
    Won,
    /// It lost, and the spinner comes back all the same (Qld 2004 sch 13 s21(3)).
    Lost,
    /// The dealer's, who spins because everyone declined (TD-6).
    OfDealer,
}

/// What is shown of the spins.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Results {
    /// The last valid result (TP-13).
    pub(crate) outcome: Option<Outcome>,
    /// Heads in this game.
    pub(crate) heads: u8,
    /// Tails in this game.
    pub(crate) tails: u8,
    /// Odds in a row.
    pub(crate) odds: u8,
    /// The picture that the lights are commanded.
    pub(crate) lights: Vec<u8>,
    /// Lights in whose place a card is shown.
    pub(crate) cards: Vec<String>,
    /// When it came to be shown.
    pub(crate) since: Uptime,
}

/// Who may go on with the old set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Keeper {
    /// The dealer.
    Dealer,
    /// The player who spins.
    Player,
}

/// What can still be taken back: until the next wager, call or act of the spinner (TD-12, TD-20).
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) enum Undo {
    /// Nothing.
    #[default]
    Nothing,
    /// An invalid spin before the call: it can't stand as a result.
    Early {
        /// Dice that it sent off the table.
        off: u8,
    },
    /// An invalid spin after the call; the game as it stood then.
    Invalid {
        game: Box<Game>,
        closed_at: Uptime,
        /// Dice that it sent off the table.
        off: u8,
    },
    /// A valid result; the game as it stood at the call, and what was shown then.
    Result {
        game: Box<Game>,
        shown: Box<Results>,
        closed_at: Uptime,
    },
}

impl Default for Phase {
    fn default() -> Self {
        Phase::Select { run_out: None }
    }
}

impl Tally {
    /// A valid spin of the player.
    pub(crate) fn spun_valid(&mut self) {
        self.past_first = true;
        self.valid = MOST_TOLD_APART.min(self.valid.saturating_add(1));
        self.run = 0;
    }

    /// An invalid one.
    pub(crate) fn spun_invalid(&mut self) {
        self.invalid = MOST_TOLD_APART.min(self.invalid.saturating_add(1));
        self.run = MOST_TOLD_APART.min(self.run.saturating_add(1));
    }
}

impl Phase {
    /// As `TableState.phase` writes it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Phase::Select { .. } => "select",
            Phase::Betting(_) => "betting",
            Phase::Closed { .. } => "closed",
            Phase::Choice(_) => "choice",
            Phase::Decide { .. } => "decide",
        }
    }

    /// The running game.
    pub(crate) fn game(&self) -> Option<&Game> {
        match self {
            Phase::Betting(game) | Phase::Closed { game, .. } | Phase::Choice(game) => Some(game),
            Phase::Select { .. } | Phase::Decide { .. } => None,
        }
    }

    /// The running game, or the one that was decided and may be followed by another of the same spinner.
    pub(crate) fn turn(&self) -> Option<&Game> {
        match self {
            Phase::Betting(game) | Phase::Closed { game, .. } | Phase::Choice(game) | Phase::Decide { game, .. } => {
                Some(game)
            }
            Phase::Select { .. } => None,
        }
    }
}

impl Course {
    /// As a table of this game is when it opens.
    pub(crate) fn opened(game: &str) -> Course {
        Course {
            game: game.to_string(),
            ..Course::default()
        }
    }

    /// A new run: deadlines begin anew, and everything that happens in it is later than what the journal has.
    pub(crate) fn rearm(&mut self, at: Uptime) {
        self.opened_at = Uptime::ZERO;
        self.shown.since = at;
        if let Phase::Closed { closed_at, .. } = &mut self.phase {
            *closed_at = at;
        }
        match &mut self.undo {
            Undo::Nothing | Undo::Early { .. } => {}
            Undo::Invalid { closed_at, .. } | Undo::Result { closed_at, .. } => *closed_at = at,
        }
    }

    /// The running round's number; 0 between rounds.
    pub(crate) fn round_id(&self) -> u64 {
        self.phase.game().map_or(0, |game| game.round)
    }
}
