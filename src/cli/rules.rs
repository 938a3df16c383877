//! `tablegate rules`: what the law as we read it says of a result. Needs no table and no daemon.

mod cite;
mod incidents;
mod odds;

use super::ending::{Failure, in_colour, print, print_json};
use super::picture::{self, Board, Paint};
use crate::rules::RULES_VERSION;
use crate::rules::sic_bo;
use crate::rules::tai_sai::{self, Layout, wager};
use crate::table::rejection::{CODES, Code};
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;

/// What the law says of a result, and what a code means.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tablegate rules outcome 1 3 6
  tablegate rules why E07

These commands know the law by heart: they need no daemon.")]
pub struct Rules {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Areas, odds, call and rules for three dice.
    #[command(
        after_help = "Examples:\n  tablegate rules outcome 1 3 6 --layout appendix-2\n  tablegate rules outcome 3 3 6 --game sic-bo"
    )]
    Outcome(Outcome),
    /// What a code on the readout means, and what to do.
    #[command(after_help = "Example:\n  tablegate rules why E07")]
    Why(Why),
    /// What each wager is worth: chances, return and house edge as exact fractions, computed from the rules.
    #[command(after_help = "Example:\n  tablegate rules odds two-up-dice")]
    Odds(odds::Odds),
    /// What a citation names: heading, part, old and new number, and how certain that is.
    #[command(
        after_help = "Examples:\n  tablegate rules cite \"1995 r21.2\"\n  tablegate rules cite \"Qld 2004 sch 13 s20(1)(a)\""
    )]
    Cite(cite::Cite),
    /// The incidents that the law lists, and what they allow.
    #[command(after_help = "Example:\n  tablegate rules incidents two-up-dice")]
    Incidents(incidents::Incidents),
}

#[derive(Args, Debug)]
struct Why {
    /// As the readout shows it, or its number: E07, 7, LOC. Without it every code.
    code: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct Outcome {
    /// What the three dice show, in any order.
    #[arg(value_name = "FACE", num_args = 3, required = true, value_parser = clap::value_parser!(u8).range(1..=6))]
    faces: Vec<u8>,
    /// The game. What sic-bo's areas pay stands in no instrument at hand, so it isn't told.
    #[arg(long, value_enum, default_value_t = DiceGameName::TaiSai)]
    game: DiceGameName,
    /// The layout of a tai-sai table.
    #[arg(long, value_enum, default_value_t = LayoutName::Appendix1)]
    layout: LayoutName,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Games whose results are three dice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum DiceGameName {
    /// New Zealand Division 9.
    TaiSai,
    /// Queensland.
    SicBo,
}

/// The layouts of tai-sai by their configuration names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum LayoutName {
    /// Standard: 50 areas.
    #[value(name = "appendix-1")]
    Appendix1,
    /// Alternative: 106 areas.
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

/// Runs it.
///
/// # Errors
/// What is wrong with the question.
pub fn run(rules: Rules) -> Result<(), Failure> {
    match rules.command {
        Command::Outcome(outcome) => run_outcome(&outcome),
        Command::Why(why) => run_why(&why),
        Command::Odds(odds) => odds::run(&odds),
        Command::Cite(cite) => cite::run(&cite),
        Command::Incidents(incidents) => incidents::run(&incidents),
    }
}

/// What is printed of a result.
#[derive(Serialize, Debug)]
struct Said {
    game: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    layout: Option<&'static str>,
    faces: [u8; 3],
    total: u8,
    call: String,
    areas: Vec<SaidArea>,
    rules: Vec<&'static str>,
    rules_version: &'static str,
}

#[derive(Serialize, Debug)]
struct SaidArea {
    id: &'static str,
    /// 0 per 0: not known.
    pays: u32,
    per: u32,
    rule: &'static str,
}

/// Beside the rule of each wager: the call, the lamps, the odds.
const RULES: [&str; 3] = ["NZ Div 9 r6.3", "NZ Div 9 r3.3(b)", wager::ODDS_RULE];

/// What of a table is asked about.
fn board(outcome: &Outcome) -> Board {
    match outcome.game {
        DiceGameName::TaiSai => Board::TaiSai(outcome.layout.into()),
        DiceGameName::SicBo => Board::SicBo,
    }
}

fn say(faces: [u8; 3], board: Board) -> Said {
    match board {
        Board::TaiSai(layout) => say_tai_sai(faces, layout),
        Board::SicBo => say_sic_bo(faces),
    }
}

fn say_tai_sai(faces: [u8; 3], layout: Layout) -> Said {
    let areas = wager::wagers(layout)
        .iter()
        .filter_map(|(id, wager)| {
            let odds = wager.pays(faces)?;
            Some(SaidArea {
                id,
                pays: odds.pays,
                per: odds.per,
                rule: wager.rule(),
            })
        })
        .collect();
    Said {
        game: "tai-sai",
        layout: Some(layout.name()),
        faces: tai_sai::sorted(faces),
        total: tai_sai::total(faces),
        call: tai_sai::call(faces),
        areas,
        rules: RULES.to_vec(),
        rules_version: RULES_VERSION,
    }
}

fn say_sic_bo(faces: [u8; 3]) -> Said {
    let area = |id| SaidArea {
        id,
        pays: 0,
        per: 0,
        rule: sic_bo::WAGERS_RULE,
    };
    Said {
        game: "sic-bo",
        layout: None,
        faces: tai_sai::sorted(faces),
        total: tai_sai::total(faces),
        call: sic_bo::call(faces),
        areas: sic_bo::winners(faces).into_iter().map(area).collect(),
        rules: vec![sic_bo::CALL_RULE, sic_bo::ODDS_RULE],
        rules_version: RULES_VERSION,
    }
}

fn run_outcome(outcome: &Outcome) -> Result<(), Failure> {
    let faces: [u8; 3] = outcome
        .faces
        .as_slice()
        .try_into()
        .map_err(|_| Failure::usage("a result is three faces of 1 to 6: tablegate rules outcome 1 3 6"))?;
    let board = board(outcome);
    let said = say(faces, board);
    if outcome.json {
        return print_json(&said);
    }
    let paint = if in_colour() { Paint::Colour } else { Paint::Plain };
    print(&drawn(&said, board, paint))
}

fn drawn(said: &Said, board: Board, paint: Paint) -> String {
    let mut text = format!("{}\n\n", said.call);
    let lit: BTreeSet<String> = said.areas.iter().map(|area| area.id.to_owned()).collect();
    for line in picture::lines(board, &lit, paint) {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push('\n');
    text.push_str(&listed(said));
    text
}

fn listed(said: &Said) -> String {
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = writeln!(text, "{:<14}{:<12}rule", "area", "pays");
    for area in &said.areas {
        let pays = match area.per {
            0 => "-".to_owned(),
            per => format!("{} to {per}", area.pays),
        };
        let _ = writeln!(text, "{:<14}{pays:<12}{}", area.id, area.rule);
    }
    let _ = match (said.rules.as_slice(), said.layout) {
        ([call, lamps, odds], Some(layout)) => writeln!(
            text,
            "\nCall: {call}. Lamps: {lamps}. Odds: {odds}. Layout: {layout}. Rules version {}.",
            said.rules_version
        ),
        (rules, _) => writeln!(
            text,
            "\nRules: {}. What an area pays stands in the table's own pay table. Rules version {}.",
            rules.join("; "),
            said.rules_version
        ),
    };
    text
}

/// What is printed of a code.
#[derive(Serialize, Debug)]
struct SaidCode {
    code: u32,
    readout: &'static str,
    text: &'static str,
    rule: &'static str,
}

impl From<&Code> for SaidCode {
    fn from(code: &Code) -> SaidCode {
        SaidCode {
            code: code.number,
            readout: code.readout,
            text: code.text,
            rule: code.rule,
        }
    }
}

/// The code that somebody read or wrote: the readout's text in any case, or the number alone.
fn meant(asked: &str) -> Option<&'static Code> {
    let asked = asked.trim();
    let digits = !asked.is_empty() && asked.bytes().all(|byte| byte.is_ascii_digit());
    let number = asked.parse::<u32>().ok().filter(|number| digits && *number > 0);
    CODES
        .iter()
        .find(|code| code.readout.eq_ignore_ascii_case(asked) || number == Some(code.number))
}

fn run_why(why: &Why) -> Result<(), Failure> {
    let Some(asked) = &why.code else {
        let all: Vec<_> = CODES.iter().map(SaidCode::from).collect();
        if why.json {
            return print_json(&all);
        }
        return print(&all.iter().map(|code| line(code) + "\n").collect::<String>());
    };
    let Some(code) = meant(asked) else {
        let known: Vec<_> = CODES.iter().map(|code| code.readout).collect();
        return Err(Failure::usage(format!(
            "\"{}\" is no code of the readout; the codes are {}",
            asked.escape_debug(),
            known.join(", ")
        )));
    };
    let said = SaidCode::from(code);
    if why.json {
        return print_json(&said);
    }
    print(&(line(&said) + "\n"))
}

fn line(code: &SaidCode) -> String {
    format!("{}  {} ({})", code.readout, code.text, code.rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_told_whole() {
        let board = Board::TaiSai(Layout::Appendix1);
        insta::assert_snapshot!(drawn(&say([6, 1, 1], board), board, Paint::Plain));
    }

    #[test]
    fn a_result_is_told_to_scripts() {
        let board = Board::TaiSai(Layout::Appendix2);
        insta::assert_snapshot!(serde_json::to_string_pretty(&say([3, 3, 3], board)).unwrap());
    }

    #[test]
    fn a_result_of_sic_bo_has_its_call_and_no_odds() {
        let text = drawn(&say([6, 3, 3], Board::SicBo), Board::SicBo, Paint::Plain);
        assert!(text.starts_with("3, 3, 6, total 12\n"), "{text}");
        assert!(text.contains("double_3      -           Qld 1995 r19.1, s70"), "{text}");
        assert!(!text.contains("NZ "), "{text}");
    }

    #[test]
    fn every_code_is_found_by_its_readout_and_by_its_number() {
        for code in CODES {
            assert_eq!(meant(code.readout), Some(code));
            assert_eq!(meant(&code.readout.to_lowercase()), Some(code));
            if code.number > 0 {
                assert_eq!(meant(&code.number.to_string()), Some(code));
                assert_eq!(meant(&format!("{:02}", code.number)), Some(code));
            }
        }
        for nothing in ["", "E", "0", "E00", "+7", "8888", "E007", "LOCK"] {
            assert_eq!(meant(nothing), None, "{nothing}");
        }
    }
}
