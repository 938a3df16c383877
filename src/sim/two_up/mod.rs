//! A dealer (with coins: a boxer) who runs two-up on a simulated terminal and result lights, with the people around: spinner and
//! supervisor. What comes next he knows by the law; whether the table agrees he sees on readout and lights.

mod law;
mod people;

pub use law::{Act, Game, Law, Outcome, Turn, TwoUp};
pub use people::People;

use super::dealer::{self, Answer, Pace, Stuck};
use super::{Lamps, Terminal, TerminalView};
use crate::wire::message::Key;
use std::collections::BTreeSet;

/// What goes wrong in a game, as it does on a floor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Incident {
    /// Nothing.
    None,
    /// The result is entered before "no more bets".
    ResultBeforeTheCall,
    /// The bell is rung before the spinner has wagered.
    CallWithoutAWager,
    /// A "no spin".
    NoSpin,
    /// A "no spin" that a supervisor overrules; with coins nobody may.
    Overruled,
    /// The first three spins are invalid: somebody else spins.
    ThreeInvalid,
    /// A wrong result is entered, and corrected under the supervisor's key.
    MisKeyed,
    /// One die or coin leaves the table.
    OneGone,
    /// Two leave the table, and a new set is brought.
    TwoGone,
    /// The spinner stops in the middle of the game.
    SpinnerStops,
    /// The spinner is relieved after an invalid spin.
    Relieved,
    /// Everybody declines: the house spins.
    AllDecline,
    /// A light fails: a card is shown in its place.
    DarkLight,
}

impl Incident {
    /// Those of a game, a quiet game first, in the order in which a demonstration shows them.
    #[must_use]
    pub fn of(game: TwoUp) -> &'static [Incident] {
        match game {
            TwoUp::Dice => &[
                Incident::None,
                Incident::ResultBeforeTheCall,
                Incident::DarkLight,
                Incident::Overruled,
                Incident::MisKeyed,
                Incident::ThreeInvalid,
                Incident::TwoGone,
                Incident::SpinnerStops,
                Incident::AllDecline,
                Incident::NoSpin,
                Incident::OneGone,
                Incident::Relieved,
                Incident::CallWithoutAWager,
            ],
            TwoUp::TriplePenny => &[
                Incident::None,
                Incident::ResultBeforeTheCall,
                Incident::DarkLight,
                Incident::NoSpin,
                Incident::MisKeyed,
                Incident::ThreeInvalid,
                Incident::TwoGone,
                Incident::SpinnerStops,
                Incident::AllDecline,
                Incident::OneGone,
                Incident::CallWithoutAWager,
            ],
        }
    }
}

/// A game as the dealer saw it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Played {
    /// What was spun, valid spins only.
    pub spun: Vec<Outcome>,
    /// Invalid spins.
    pub invalid: u32,
    /// Refusals that the terminal showed.
    pub refused: Vec<String>,
    /// Lights that were lit at the end.
    pub lit: BTreeSet<u32>,
}

/// A dealer at a two-up table.
#[derive(Debug)]
pub struct TwoUpDealer {
    /// Keys, bell, supervisor's key.
    pub terminal: Terminal,
    /// The result lights.
    pub lights: Lamps,
    /// How to go about it.
    pub pace: Pace,
    game: TwoUp,
}

impl TwoUpDealer {
    /// A dealer at these devices.
    #[must_use]
    pub fn new(game: TwoUp, terminal: Terminal, lights: Lamps, pace: Pace) -> Self {
        TwoUpDealer {
            terminal,
            lights,
            pace,
            game,
        }
    }

    /// What is played.
    #[must_use]
    pub fn game(&self) -> TwoUp {
        self.game
    }

    /// Presses these keys and ENTER, and waits for the answer.
    ///
    /// # Errors
    /// When the terminal takes no keys, or gives no answer.
    pub async fn enter(&self, keys: &[Key]) -> Result<Answer, Stuck> {
        let numbers: Vec<u32> = keys
            .iter()
            .filter_map(|key| u32::try_from(i32::from(*key)).ok())
            .collect();
        dealer::enter(&self.terminal, self.pace, &numbers).await
    }

    /// Rings the bell and waits for what the terminal answers: a new entry number, or a code.
    ///
    /// # Errors
    /// When it gives no answer.
    pub async fn no_more_bets(&self) -> Result<Answer, Stuck> {
        tokio::time::sleep(self.pace.before_act).await;
        let before = self.terminal.view();
        self.terminal.ring().await;
        let answered = |view: &TerminalView| {
            view.entry != before.entry || (view.readouts > before.readouts && dealer::is_code(&view.readout))
        };
        let view = self
            .terminal
            .wait("an answer to the bell", answered, self.pace.patience)
            .await?;
        // A code of before may still stand there; bets that close bring a new entry number.
        Ok(if view.entry == before.entry {
            Answer::Refused(view.readout)
        } else {
            Answer::Accepted
        })
    }

    /// Waits until exactly these lights are lit.
    ///
    /// # Errors
    /// When they aren't, within the dealer's patience.
    pub async fn see_lights(&self, lit: &BTreeSet<u32>) -> Result<(), Stuck> {
        let what = format!("lights {lit:?}, and no others");
        self.lights
            .wait(&what, |view| view.lit == *lit, self.pace.patience)
            .await?;
        Ok(())
    }
}
