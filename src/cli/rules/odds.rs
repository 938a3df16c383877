//! `tablegate rules odds`: what each wager is worth, computed from the rules.

use super::LayoutName;
use crate::cli::ending::{Failure, print, print_json};
use crate::rules::odds::{Ratio, Unsolved, Worth};
use crate::rules::tai_sai::Layout;
use crate::rules::{RULES_VERSION, sic_bo, tai_sai, triple_penny, two_up_dice};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::fmt::Write;

/// Digits after the point where an exact fraction is repeated as a decimal.
const DIGITS: u32 = 9;

/// Digits after the point of a percentage, for people.
const PERCENT_DIGITS: u32 = 4;

#[derive(Args, Debug)]
pub(super) struct Odds {
    /// The game. Without it all of them.
    #[arg(value_enum)]
    game: Option<Game>,
    /// The layout of a tai-sai table.
    #[arg(long, value_enum, default_value_t = LayoutName::Appendix1)]
    layout: LayoutName,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Games with wagers whose worth is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Game {
    /// Tai-sai, both styles.
    TaiSai,
    /// Sic-bo (Queensland): chances only, its instruments publish no odds.
    SicBo,
    /// Two-up dice.
    TwoUpDice,
    /// Triple penny two-up.
    TriplePennyTwoUp,
}

impl Game {
    const ALL: [Game; 4] = [Game::TaiSai, Game::SicBo, Game::TwoUpDice, Game::TriplePennyTwoUp];

    fn name(self) -> &'static str {
        match self {
            Game::TaiSai => "tai-sai",
            Game::SicBo => "sic-bo",
            Game::TwoUpDice => "two-up-dice",
            Game::TriplePennyTwoUp => "triple-penny-two-up",
        }
    }

    fn worths(self, layout: Layout) -> Result<Vec<Worth>, Unsolved> {
        match self {
            Game::TaiSai => tai_sai::odds::worths(layout),
            Game::SicBo => sic_bo::odds::worths(None),
            Game::TwoUpDice => two_up_dice::odds::worths(),
            Game::TriplePennyTwoUp => triple_penny::odds::worths(),
        }
    }
}

pub(super) fn run(odds: &Odds) -> Result<(), Failure> {
    let layout = Layout::from(odds.layout);
    let games = odds.game.map_or_else(|| Game::ALL.to_vec(), |game| vec![game]);
    let mut told = Vec::new();
    for game in games {
        let worths = game
            .worths(layout)
            .map_err(|why| Failure::failed(format!("{}: {why}", game.name())))?;
        told.push((game, worths));
    }
    if odds.json {
        let games: Vec<_> = told.iter().map(|(game, worths)| said(*game, layout, worths)).collect();
        return print_json(&games);
    }
    let texts: Vec<_> = told
        .iter()
        .map(|(game, worths)| listed(*game, layout, worths))
        .collect();
    print(&texts.join("\n"))
}

#[derive(Serialize, Debug)]
struct Said<'a> {
    game: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    layout: Option<&'static str>,
    rules_version: &'static str,
    wagers: Vec<SaidWager<'a>>,
}

#[derive(Serialize, Debug)]
struct SaidWager<'a> {
    wager: &'a str,
    rule: &'static str,
    pays: Vec<SaidOdds>,
    /// Equally likely outcomes, where one spin decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcomes: Option<SaidWays>,
    ends: Vec<SaidEnd<'a>>,
    wins: Option<SaidRatio>,
    return_per_unit: Option<SaidRatio>,
    house_edge: Option<SaidRatio>,
    expected_valid_spins: SaidRatio,
}

#[derive(Serialize, Debug)]
struct SaidOdds {
    pays: u32,
    per: u32,
}

#[derive(Serialize, Debug)]
struct SaidWays {
    winning: u32,
    of: u32,
}

#[derive(Serialize, Debug)]
struct SaidEnd<'a> {
    how: &'a str,
    probability: SaidRatio,
    back_per_unit: Option<SaidRatio>,
}

#[derive(Serialize, Debug)]
struct SaidRatio {
    exact: String,
    decimal: Option<String>,
}

impl From<Ratio> for SaidRatio {
    fn from(ratio: Ratio) -> SaidRatio {
        SaidRatio {
            exact: ratio.to_string(),
            decimal: ratio.decimal(DIGITS),
        }
    }
}

fn layout_of(game: Game, layout: Layout) -> Option<&'static str> {
    (game == Game::TaiSai).then(|| layout.name())
}

fn said(game: Game, layout: Layout, worths: &[Worth]) -> Said<'_> {
    Said {
        game: game.name(),
        layout: layout_of(game, layout),
        rules_version: RULES_VERSION,
        wagers: worths
            .iter()
            .map(|worth| SaidWager {
                wager: &worth.wager,
                rule: worth.rule,
                pays: worth
                    .pays
                    .iter()
                    .map(|odds| SaidOdds {
                        pays: odds.pays,
                        per: odds.per,
                    })
                    .collect(),
                outcomes: worth.ways.map(|ways| SaidWays {
                    winning: ways.winning,
                    of: ways.of,
                }),
                ends: worth
                    .ends
                    .iter()
                    .map(|end| SaidEnd {
                        how: &end.how,
                        probability: end.probability.into(),
                        back_per_unit: end.back.map(SaidRatio::from),
                    })
                    .collect(),
                wins: worth.wins().map(SaidRatio::from),
                return_per_unit: worth.returned.map(SaidRatio::from),
                house_edge: worth.house_edge().map(SaidRatio::from),
                expected_valid_spins: worth.spins.into(),
            })
            .collect(),
    }
}

/// "3.4029%"; a dash where it is unknown.
fn percent(ratio: Option<Ratio>) -> String {
    ratio
        .and_then(|ratio| ratio.times(Ratio::new(100, 1)?)?.decimal(PERCENT_DIGITS))
        .map_or_else(|| "-".to_owned(), |text| format!("{text}%"))
}

fn exact(ratio: Option<Ratio>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |ratio| ratio.to_string())
}

fn listed(game: Game, layout: Layout, worths: &[Worth]) -> String {
    let mut text = game.name().to_owned();
    if let Some(layout) = layout_of(game, layout) {
        let _ = write!(text, ", {layout}");
    }
    text.push('\n');
    let mut rows = vec![["wager", "pays", "wins", "", "returns", "house edge", "", "rule"].map(str::to_owned)];
    for worth in worths {
        // "1, 2, 12 to 1": what all the odds are to is said once.
        let pays = match worth.pays.as_slice() {
            [] => "-".to_owned(),
            [before @ .., last] => {
                before.iter().map(|odds| format!("{}, ", odds.pays)).collect::<String>() + &last.to_string()
            }
        };
        let wins = worth
            .ways
            .map_or_else(|| exact(worth.wins()), |ways| format!("{}/{}", ways.winning, ways.of));
        rows.push([
            worth.wager.clone(),
            pays,
            wins,
            percent(worth.wins()),
            exact(worth.returned),
            exact(worth.house_edge()),
            percent(worth.house_edge()),
            worth.rule.to_owned(),
        ]);
    }
    columns(&mut text, &rows);
    // Where several spins decide, how wagers end says more than whether they win.
    for worth in worths.iter().filter(|worth| worth.ways.is_none()) {
        let ends: Vec<_> = worth
            .ends
            .iter()
            .map(|end| format!("{} {}", end.how, end.probability))
            .collect();
        let _ = writeln!(
            text,
            "{}: {}; {} valid spins on average",
            worth.wager,
            ends.join(", "),
            worth.spins
        );
    }
    if game == Game::SicBo {
        text.push_str("The instruments publish no odds: only the chances are computed.\n");
    }
    let _ = writeln!(text, "Rules version {RULES_VERSION}.");
    text
}

fn columns<const N: usize>(text: &mut String, rows: &[[String; N]]) {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for row in rows {
        let line: Vec<_> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        text.push_str(line.join("  ").trim_end());
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_with_several_spins_are_told_with_their_ends() {
        let mut text = String::new();
        for game in [Game::TwoUpDice, Game::TriplePennyTwoUp] {
            text.push_str(&listed(
                game,
                Layout::Appendix1,
                &game.worths(Layout::Appendix1).unwrap(),
            ));
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn games_of_one_spin_are_told_by_their_outcomes() {
        let worths = Game::TaiSai.worths(Layout::Appendix1).unwrap();
        let close_up = |text: &str| -> Vec<_> {
            text.lines()
                .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
                .collect()
        };
        let told = close_up(&listed(Game::TaiSai, Layout::Appendix1, &worths));
        for line in [
            "small 1 to 1 105/216 48.6111% 35/36 1/36 2.7778% NZ Div 9 r4.10",
            "face_6 1, 2, 12 to 1 91/216 42.1296% 26/27 1/27 3.7037% NZ Div 9 r4.10",
        ] {
            assert!(told.iter().any(|told| told == line), "{told:#?}");
        }
        let worths = Game::SicBo.worths(Layout::Appendix1).unwrap();
        let told = close_up(&listed(Game::SicBo, Layout::Appendix1, &worths));
        let line = "triple_3 - 1/216 0.4630% - - - Qld 1995 r19.1, s70";
        assert!(told.iter().any(|told| told == line), "{told:#?}");
    }

    #[test]
    fn scripts_are_told_fractions_and_decimals() {
        let worths = Game::TwoUpDice.worths(Layout::Appendix1).unwrap();
        let json = serde_json::to_value(said(Game::TwoUpDice, Layout::Appendix1, &worths)).unwrap();
        let spinner = &json["wagers"][0];
        assert_eq!(spinner["house_edge"]["exact"], "17841/524288");
        assert_eq!(spinner["house_edge"]["decimal"], "0.034029007");
        assert_eq!(spinner["pays"], serde_json::json!([{"pays": 15, "per": 2}]));
        assert_eq!(json.get("layout"), None);
    }
}
