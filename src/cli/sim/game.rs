//! What is played at a simulated table, as arguments: `--game` and what belongs to each.

use crate::cli::ending::Failure;
use crate::rules::tai_sai::Layout;
use crate::sim::TwoUp;
use clap::{Args, ValueEnum};

/// The games by their configuration names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum GameName {
    /// New Zealand Division 9.
    TaiSai,
    /// Queensland.
    SicBo,
    /// Queensland 2004, schedule 13.
    TwoUpDice,
    /// Queensland 1998, part 21.
    TriplePennyTwoUp,
}

/// The layouts by their configuration names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum LayoutName {
    /// 50 areas.
    #[value(name = "appendix-1")]
    Appendix1,
    /// 106 areas.
    #[value(name = "appendix-2")]
    Appendix2,
}

impl From<LayoutName> for Layout {
    fn from(name: LayoutName) -> Layout {
        match name {
            LayoutName::Appendix1 => Layout::Appendix1,
            LayoutName::Appendix2 => Layout::Appendix2,
        }
    }
}

/// Which game, and which way of it.
#[derive(Args, Clone, Debug)]
pub struct GameArgs {
    /// The game.
    #[arg(long, value_enum, default_value_t = GameName::TaiSai)]
    game: GameName,
    /// Of tai-sai: which layout lies on the table [default: appendix-1].
    #[arg(long, value_enum)]
    layout: Option<LayoutName>,
}

/// What is played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Game {
    /// Tai-sai, style A.
    TaiSai {
        /// The layout.
        layout: Layout,
    },
    /// Two-up, with dice or with coins.
    TwoUp(TwoUp),
}

impl Game {
    /// As `[table] game` names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Game::TaiSai { .. } => "tai-sai",
            Game::TwoUp(TwoUp::Dice) => "two-up-dice",
            Game::TwoUp(TwoUp::TriplePenny) => "triple-penny-two-up",
        }
    }

    /// For a person.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Game::TaiSai { .. } => "tai-sai",
            Game::TwoUp(TwoUp::Dice) => "two-up with dice",
            Game::TwoUp(TwoUp::TriplePenny) => "triple penny two-up",
        }
    }
}

impl GameArgs {
    /// What was asked for.
    ///
    /// # Errors
    /// An argument of another game.
    pub fn game(&self) -> Result<Game, Failure> {
        let game = match self.game {
            GameName::TaiSai => {
                let layout = self.layout.unwrap_or(LayoutName::Appendix1).into();
                return Ok(Game::TaiSai { layout });
            }
            GameName::SicBo => return Err(Failure::usage("sic-bo is not played by this version")),
            GameName::TwoUpDice => Game::TwoUp(TwoUp::Dice),
            GameName::TriplePennyTwoUp => Game::TwoUp(TwoUp::TriplePenny),
        };
        if self.layout.is_some() {
            return Err(Failure::usage("--layout is of tai-sai alone"));
        }
        Ok(game)
    }
}
