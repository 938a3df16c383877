//! What is played at a simulated table, as arguments: `--game` and what belongs to each.

use crate::cli::ending::Failure;
use crate::cli::rules::LayoutName;
use crate::rules::sic_bo::machine::Tumbler;
use crate::rules::tai_sai::{Layout, Style};
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

/// Which game, and which way of it.
#[derive(Args, Clone, Debug)]
pub struct GameArgs {
    /// The game.
    #[arg(long, value_enum, default_value_t = GameName::TaiSai)]
    game: GameName,
    /// Of tai-sai: which layout lies on the table [default: appendix-1].
    #[arg(long, value_enum)]
    layout: Option<LayoutName>,
    /// Of tai-sai: A, a tumbler under a cover, or B, a dice cup [default: A].
    #[arg(long, value_enum)]
    style: Option<StyleName>,
    /// Of sic-bo: the tumbler that is fitted [default: covered].
    #[arg(long, value_enum)]
    tumbler: Option<TumblerName>,
}

/// The styles of tai-sai by their configuration names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum StyleName {
    /// A tumbler under a cover.
    #[value(name = "A")]
    A,
    /// A dice cup.
    #[value(name = "B")]
    B,
}

/// The tumblers of sic-bo by their configuration names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum TumblerName {
    /// Under a cover.
    Covered,
    /// In sight.
    Open,
}

/// What is played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Game {
    /// Tai-sai.
    TaiSai {
        /// A or B.
        style: Style,
        /// The layout.
        layout: Layout,
    },
    /// Sic-bo, with this tumbler.
    SicBo(Tumbler),
    /// Two-up, with dice or with coins.
    TwoUp(TwoUp),
}

impl Game {
    /// As `[table] game` names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Game::TaiSai { .. } => "tai-sai",
            Game::SicBo(_) => "sic-bo",
            Game::TwoUp(TwoUp::Dice) => "two-up-dice",
            Game::TwoUp(TwoUp::TriplePenny) => "triple-penny-two-up",
        }
    }

    /// For a person.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Game::TaiSai { style: Style::A, .. } => "tai-sai",
            Game::TaiSai { style: Style::B, .. } => "tai-sai with a dice cup",
            Game::SicBo(Tumbler::Covered) => "sic-bo",
            Game::SicBo(Tumbler::Open) => "sic-bo with an open tumbler",
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
        let of_another = [
            ("--layout", self.layout.is_some(), GameName::TaiSai),
            ("--style", self.style.is_some(), GameName::TaiSai),
            ("--tumbler", self.tumbler.is_some(), GameName::SicBo),
        ];
        if let Some((argument, _, game)) = of_another.iter().find(|(_, given, game)| *given && *game != self.game) {
            let name = match game {
                GameName::SicBo => "sic-bo",
                GameName::TaiSai | GameName::TwoUpDice | GameName::TriplePennyTwoUp => "tai-sai",
            };
            return Err(Failure::usage(format!("{argument} is of {name} alone")));
        }
        Ok(match self.game {
            GameName::TaiSai => Game::TaiSai {
                style: match self.style {
                    None | Some(StyleName::A) => Style::A,
                    Some(StyleName::B) => Style::B,
                },
                layout: self.layout.unwrap_or(LayoutName::Appendix1).into(),
            },
            GameName::SicBo => Game::SicBo(match self.tumbler {
                None | Some(TumblerName::Covered) => Tumbler::Covered,
                Some(TumblerName::Open) => Tumbler::Open,
            }),
            GameName::TwoUpDice => Game::TwoUp(TwoUp::Dice),
            GameName::TriplePennyTwoUp => Game::TwoUp(TwoUp::TriplePenny),
        })
    }
}
