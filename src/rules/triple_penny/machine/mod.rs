//! The law's machine of triple penny two-up: in which order things may happen, and what follows. PURE.
//!
//! It knows the rules' people and equipment, and wagers in cents. It knows no devices, logins, time or journal: `table/`
//! joins those to the law. A refused operation changes nothing.

mod betting;
mod coins;
mod operation;
mod spinner;
mod spins;
#[cfg(test)]
mod tests;

pub use coins::COINS_LOST_FOR_A_NEW_SET;
pub use operation::{
    Called, Cause, Choice, Done, Effect, GameEnd, Ground, Kip, Operation, Placing, Refusal, Role, TakeOver,
};
pub use spins::spinner_ends;

use super::{Area, Display, Spun};
use crate::rules::citation::qld_1998;
use crate::rules::machine::refuse;
use crate::rules::two_up::Wager;
use coins::Person;
use std::collections::BTreeMap;
use std::num::NonZeroU64;

/// Invalid spins at the beginning of a game that make the spinner choose (s478(1)), and in a row that are a ground (s478(2)(a)).
pub const INVALID_IN_A_ROW: u8 = 3;

/// What a machine is told once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Settings {
    /// The smallest chip in cents: stakes are whole chips (s472(2), s473(2)).
    pub smallest_chip: NonZeroU64,
    /// Whether players wager while the boxer spins the last wagers out (TP-5).
    pub run_out: RunOutWagers,
    /// How results are shown at first.
    pub display: Display,
}

/// Whether players wager during a run-out (s472(8)(b), TP-5).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RunOutWagers {
    /// They don't: the boxer spins to decide what is open. The reading taken.
    Closed,
    /// They may.
    Open,
}

/// Where the game is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// The coins are offered.
    Select,
    /// Bets are open.
    Betting,
    /// "No more bets": the coins are spun.
    Closed,
    /// The spinner has to choose (s478(1)).
    Choice,
    /// The game is decided, the spinner may retire or go on.
    Decide,
}

/// Who spins.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Spins {
    /// The boxer, everyone declined.
    Boxer,
    /// The player of this seat.
    Player(u8),
    /// The boxer, until the wager of the player of this seat is decided.
    BoxerFor(u8),
    /// The boxer, until the wagers in the bonus area are decided.
    RunOut,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Spinner {
    /// Everyone declined (s471(5)).
    Boxer,
    Player {
        seat: u8,
    },
    /// What was spun before still counts.
    TakenOver {
        seat: u8,
        why: TakeOver,
    },
    /// After the game: what lies in the bonus area is spun out (s472(8)(b), TP-3, TP-4).
    RunOut,
}

/// The player's own spins in this game; the count begins anew with each game (TP-20).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Tally {
    /// Valid spins: at most two while the game is undecided.
    valid: u8,
    /// Invalid spins, counted up to three: more of them change neither who is in the majority nor how the game began.
    invalid: u8,
    /// Invalid spins since the last valid one, counted up to three.
    run: u8,
}

impl Tally {
    fn count_valid(&mut self) {
        self.valid = self.valid.saturating_add(1);
        self.run = 0;
    }

    fn count_invalid(&mut self) {
        self.invalid = INVALID_IN_A_ROW.min(self.invalid.saturating_add(1));
        self.run = INVALID_IN_A_ROW.min(self.run.saturating_add(1));
    }

    fn began_with_three_invalid(self) -> bool {
        self.valid == 0 && self.invalid >= INVALID_IN_A_ROW
    }
}

/// A game from the spinner's selection to its decision.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Game {
    spinner: Spinner,
    wager: Option<Wager>,
    bonus: Option<Wager>,
    tally: Tally,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum State {
    Select,
    Betting(Game),
    Closed(Game),
    Choice(Game),
    Decide(Spinner),
}

/// A player's wager and where it lies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Lying {
    wager: Wager,
    area: Area,
}

/// One table's game under the law.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Machine {
    settings: Settings,
    state: State,
    players: BTreeMap<String, Lying>,
    hits: u8,
    shown: Option<Spun>,
    shown_by: Display,
    missing: u8,
    /// Who may go on with a set of which two coins or more are lost (s474(5)).
    old_set: Option<Person>,
}

type Answered = Result<Done, Refusal>;

fn done(effect: Effect) -> Done {
    Done {
        effects: vec![effect],
        ..Done::default()
    }
}

impl Machine {
    /// A table with a full set of coins and nobody at them.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Machine {
            settings,
            state: State::Select,
            players: BTreeMap::new(),
            hits: 0,
            shown: None,
            shown_by: settings.display,
            missing: 0,
            old_set: None,
        }
    }

    /// Where the game is.
    #[must_use]
    pub fn phase(&self) -> Phase {
        match self.state {
            State::Select => Phase::Select,
            State::Betting(_) => Phase::Betting,
            State::Closed(_) => Phase::Closed,
            State::Choice(_) => Phase::Choice,
            State::Decide(_) => Phase::Decide,
        }
    }

    /// The last valid result (s479). An invalid spin leaves it (TP-13).
    #[must_use]
    pub fn shown(&self) -> Option<Spun> {
        self.shown
    }

    /// How results are shown.
    #[must_use]
    pub fn shown_by(&self) -> Display {
        self.shown_by
    }

    /// Spins of the spinner's side in this game, or after it in the last: 0 to 3.
    #[must_use]
    pub fn hits(&self) -> u8 {
        self.hits
    }

    /// Who spins; nobody while the coins are offered.
    #[must_use]
    pub fn spins(&self) -> Option<Spins> {
        Some(match self.spinner()? {
            Spinner::Boxer => Spins::Boxer,
            Spinner::Player { seat } => Spins::Player(seat),
            Spinner::TakenOver { seat, .. } => Spins::BoxerFor(seat),
            Spinner::RunOut => Spins::RunOut,
        })
    }

    /// The spinner's wager.
    #[must_use]
    pub fn spinner_wager(&self) -> Option<Wager> {
        self.game()?.wager
    }

    /// The spinner's bonus wager, while it can still win.
    #[must_use]
    pub fn bonus_wager(&self) -> Option<Wager> {
        self.game()?.bonus
    }

    /// Players' wagers by name, and where they lie.
    pub fn player_wagers(&self) -> impl Iterator<Item = (&str, Wager, Area)> {
        self.players
            .iter()
            .map(|(name, lying)| (name.as_str(), lying.wager, lying.area))
    }

    /// Names of the wagers in the bonus area. They are all on one side.
    pub fn bonus_area(&self) -> impl Iterator<Item = &str> {
        self.player_wagers()
            .filter(|(_, _, area)| *area == Area::Bonus)
            .map(|(name, _, _)| name)
    }

    /// Coins of the set that are lost, 0 to 5.
    #[must_use]
    pub fn coins_missing(&self) -> u8 {
        self.missing
    }

    /// Does `operation`, or says why it can't be done; then nothing has changed.
    ///
    /// # Errors
    ///
    /// What is wrong, and the rule.
    pub fn perform(&mut self, operation: &Operation) -> Answered {
        match operation {
            Operation::AcceptSpin { seat } => self.accept_spin(*seat),
            Operation::BoxerDirected { by } => self.boxer_directed(*by),
            Operation::SpinnerWager { side, stake } => self.place_spinner_wager(*side, *stake),
            Operation::SpinnerBonus { side, stake } => self.place_bonus(*side, *stake),
            Operation::WithdrawSpinnerWager => self.withdraw_spinner_wager(),
            Operation::PlayerWager {
                name,
                side,
                stake,
                placing,
            } => self.place(name, *side, *stake, *placing),
            Operation::ChangeWager { name, side, stake } => self.change(name, *side, *stake),
            Operation::WithdrawWager { name } => self.withdraw(name),
            Operation::MoveToBonus { name, by } => self.move_to_bonus(name, *by),
            Operation::NoMoreBets { kip } => self.no_more_bets(*kip),
            Operation::Spin(spun) => self.spin(*spun),
            Operation::Invalid { reason, by, called } => self.invalid(*reason, *by, *called),
            Operation::Choose(choice) => self.choose(*choice),
            Operation::DirectBoxer { ground, by } => self.direct_boxer(*ground, *by),
            Operation::SpinnerStops => self.spinner_stops(),
            Operation::SpinnerContinues => self.spinner_continues(),
            Operation::CoinsLost { coins } => self.coins_lost(*coins),
            Operation::CoinsFound { coins } => self.coins_found(*coins),
            Operation::ForeignCoin => refuse(Cause::ForeignCoin, qld_1998!("s474(2)")),
            Operation::NewSet => self.new_set(),
            Operation::ShowBy(display) => {
                self.shown_by = *display;
                Ok(Done::default())
            }
        }
    }

    fn game(&self) -> Option<Game> {
        match self.state {
            State::Betting(game) | State::Closed(game) | State::Choice(game) => Some(game),
            State::Select | State::Decide(_) => None,
        }
    }

    fn spinner(&self) -> Option<Spinner> {
        match self.state {
            State::Decide(spinner) => Some(spinner),
            State::Select | State::Betting(_) | State::Closed(_) | State::Choice(_) => {
                self.game().map(|game| game.spinner)
            }
        }
    }

    fn begin_game(&mut self, spinner: Spinner) -> Done {
        self.hits = 0;
        self.state = State::Betting(Game {
            spinner,
            wager: None,
            bonus: None,
            tally: Tally::default(),
        });
        done(Effect::GameStarts)
    }

    /// After a game: the coins are offered, or first the boxer spins out what lies in the bonus area (TP-3, TP-4).
    fn offer_on(&mut self) -> Effect {
        if self.bonus_area().next().is_none() {
            self.state = State::Select;
            return Effect::SelectSpinner;
        }
        self.state = State::Betting(Game {
            spinner: Spinner::RunOut,
            wager: None,
            bonus: None,
            tally: Tally::default(),
        });
        Effect::BoxerRunsOut
    }
}
