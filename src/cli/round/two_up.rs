//! A supervisor's acts on a game of two-up; the dealer has keys for them. Whether an act is possible now, and at this table at all,
//! is the daemon's to say.

use super::super::daemon::{Acting, act};
use super::super::ending::Failure;
use crate::control::{Act, DiceGone, INVALID_REASONS, LightWord, OutcomeName, SetFrom, SideName};
use crate::rules::{triple_penny, two_up_dice};
use clap::{Args, Subcommand, ValueEnum};

/// Acts of two-up.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Two-up: a player accepts to spin, and wagers on this side; or everyone declined, and the dealer (boxer) spins.
    #[command(
        after_help = "Examples:\n  tablegate round spinner heads\n  tablegate round spinner             the wager follows: round continues SIDE\n  tablegate round spinner --dealer    everyone declined"
    )]
    Spinner(Spinner),
    /// Two-up: the spinner who won goes on and wagers on this side, or places the wager that is missing.
    #[command(after_help = "Example:\n  tablegate round continues tails")]
    Continues(Continues),
    /// Two-up: "no more bets", when the bell can't be heard.
    #[command(after_help = "Example:\n  tablegate round no-more-bets")]
    NoMoreBets(Acting),
    /// Two-up: the result of a valid spin.
    #[command(
        after_help = "Examples:\n  tablegate round spin heads\n  tablegate round spin odds            with dice\n  tablegate round spin triple-tails    with coins"
    )]
    Spin(Outcome),
    /// Two-up: the last result was keyed wrongly; this is what was spun. The house's policy, until the next wager, call or act of the
    /// spinner.
    #[command(after_help = "Example:\n  tablegate round correct tails")]
    Correct(Outcome),
    /// Two-up: "no spin": nothing of the spin counts (Qld 2004 sch 13 s20, Qld 1998 s477).
    #[command(after_help = invalid_help())]
    Invalid(Invalid),
    /// Two-up with dice: the "no spin" directly before was an error, the spin stands with this result (sch 13 s20(4)).
    #[command(after_help = "Example:\n  tablegate round overrule odds")]
    Overrule(Outcome),
    /// Two-up: the spinner stops, or retires.
    #[command(after_help = "Example:\n  tablegate round spinner-stops")]
    SpinnerStops(Acting),
    /// Two-up: the dealer (boxer) takes over from the spinner.
    #[command(after_help = "Example:\n  tablegate round relieve")]
    Relieve(Acting),
    /// Two-up: dice or coins left the table and were not found at once; the spin is invalid.
    #[command(after_help = "Examples:\n  tablegate round off-table\n  tablegate round off-table 2")]
    OffTable(OffTable),
    /// Two-up: a new set is placed, or the one that was lost is found.
    #[command(
        after_help = "Examples:\n  tablegate round new-set            what is due: the lost one found, or with two lost a new set\n  tablegate round new-set --found    all that were lost are found, and good"
    )]
    NewSet(NewSet),
    /// Two-up: a person sees that a result light has failed, or works again. A card stands in for it; play goes on.
    #[command(after_help = "Examples:\n  tablegate round light heads_2 failed\n  tablegate round light heads_2 works")]
    Light(Light),
}

#[derive(Args, Debug)]
pub struct Spinner {
    /// The side of the spinner's wager; without it the wager isn't placed yet.
    #[arg(value_enum, value_name = "SIDE", conflicts_with = "dealer")]
    side: Option<Side>,
    /// Everyone declined: the dealer (boxer) spins; also: the dealer who does so goes on.
    #[arg(long)]
    dealer: bool,
    #[command(flatten)]
    acting: Acting,
}

#[derive(Args, Debug)]
pub struct Continues {
    /// The side of the spinner's wager.
    #[arg(value_enum, value_name = "SIDE")]
    side: Side,
    #[command(flatten)]
    acting: Acting,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Side {
    Heads,
    Tails,
}

#[derive(Args, Debug)]
pub struct Outcome {
    /// What was spun: heads, tails; with dice odds; with coins triple-heads, triple-tails.
    #[arg(value_name = "OUTCOME", value_parser = outcome)]
    outcome: OutcomeName,
    #[command(flatten)]
    acting: Acting,
}

#[derive(Args, Debug)]
pub struct Invalid {
    /// Why, by its code; without one the reason is recorded as not stated.
    #[arg(long, value_name = "CODE", value_parser = reason)]
    reason: Option<&'static str>,
    #[command(flatten)]
    acting: Acting,
}

#[derive(Args, Debug)]
pub struct OffTable {
    /// How many: 1 to 3 (of three coins; dice are two).
    #[arg(value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=3))]
    dice: u8,
    #[command(flatten)]
    acting: Acting,
}

#[derive(Args, Debug)]
pub struct NewSet {
    /// All that were lost turned up, and are good.
    #[arg(long)]
    found: bool,
    #[command(flatten)]
    acting: Acting,
}

#[derive(Args, Debug)]
pub struct Light {
    /// Such as heads_2: a colour and the place in its row.
    #[arg(value_name = "LIGHT", value_parser = light)]
    light: String,
    /// What is seen.
    #[arg(value_enum)]
    seen: Seen,
    #[command(flatten)]
    acting: Acting,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Seen {
    /// It doesn't show what it must.
    Failed,
    /// It does again.
    Works,
}

/// An outcome by its name, with - or _; the error lists them.
fn outcome(name: &str) -> Result<OutcomeName, String> {
    match name.replace('_', "-").as_str() {
        "heads" => Ok(OutcomeName::Heads),
        "tails" => Ok(OutcomeName::Tails),
        "odds" => Ok(OutcomeName::Odds),
        "triple-heads" => Ok(OutcomeName::TripleHeads),
        "triple-tails" => Ok(OutcomeName::TripleTails),
        _ => Err("what can be spun: heads, tails; with dice odds; with coins triple-heads, triple-tails".to_owned()),
    }
}

/// A reason by its code; the error lists those of each game with their text.
fn reason(code: &str) -> Result<&'static str, String> {
    match INVALID_REASONS.into_iter().find(|known| *known == code) {
        Some(known) => Ok(known),
        None => Err(format!(
            "a spin can be invalid for these reasons:\n{}",
            invalid_reasons()
        )),
    }
}

fn invalid_help() -> String {
    let examples = "  tablegate round invalid\n  tablegate round invalid --reason off_table";
    format!("Reasons:\n{}\n\nExamples:\n{examples}", invalid_reasons())
}

/// The reasons of each game, a line each.
fn invalid_reasons() -> String {
    let of = |heading: &str, reasons: Vec<(&str, &str)>| {
        let lines: Vec<_> = reasons
            .into_iter()
            .map(|(code, text)| format!("    {code:20}  {text}"))
            .collect();
        format!("  {heading}:\n{}", lines.join("\n"))
    };
    let dice = two_up_dice::InvalidReason::ALL.map(|reason| (reason.code(), reason.text()));
    let coins = triple_penny::InvalidReason::ALL.map(|reason| (reason.code(), reason.text()));
    let dice = of("two-up with dice", dice.to_vec());
    let coins = of("triple penny two-up", coins.to_vec());
    format!("{dice}\n{coins}")
}

/// A light by its name; the error lists them.
fn light(name: &str) -> Result<String, String> {
    let name = name.replace('-', "_");
    if two_up_dice::Light::from_name(&name).is_some() {
        return Ok(name);
    }
    let known: Vec<_> = two_up_dice::Light::ALL
        .into_iter()
        .map(two_up_dice::Light::name)
        .collect();
    Err(format!("the result lights are {}", known.join(", ")))
}

/// Runs it.
///
/// # Errors
/// The refusal, in words.
pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Spinner(Spinner {
            dealer: true, acting, ..
        }) => act(&acting, Act::DealerSpins {}),
        Command::Spinner(Spinner { side, acting, .. }) => {
            let side = side.map(SideName::from);
            act(&acting, Act::Spinner { side })
        }
        Command::Continues(Continues { side, acting }) => act(&acting, Act::Continues { side: side.into() }),
        Command::NoMoreBets(acting) => act(&acting, Act::NoMoreBets {}),
        Command::Spin(Outcome { outcome, acting }) => act(&acting, Act::Spin { outcome }),
        Command::Correct(Outcome { outcome, acting }) => act(&acting, Act::CorrectOutcome { outcome }),
        Command::Invalid(Invalid { reason, acting }) => {
            let reason = reason.map(ToOwned::to_owned);
            act(&acting, Act::Invalid { reason })
        }
        Command::Overrule(Outcome { outcome, acting }) => act(&acting, Act::Overrule { outcome }),
        Command::SpinnerStops(acting) => act(&acting, Act::SpinnerStops {}),
        Command::Relieve(acting) => act(&acting, Act::Relieve {}),
        Command::OffTable(OffTable { dice, acting }) => {
            let dice = match dice {
                1 => DiceGone::One,
                2 => DiceGone::Two,
                _ => DiceGone::Three,
            };
            act(&acting, Act::OffTable { dice })
        }
        Command::NewSet(NewSet { found, acting }) => {
            let from = if found { SetFrom::Found } else { SetFrom::Due };
            act(&acting, Act::NewSet { from })
        }
        Command::Light(Light { light, seen, acting }) => {
            let seen = match seen {
                Seen::Failed => LightWord::Failed,
                Seen::Works => LightWord::Works,
            };
            act(&acting, Act::ReportLight { light, seen })
        }
    }
}

impl From<Side> for SideName {
    fn from(side: Side) -> SideName {
        match side {
            Side::Heads => SideName::Heads,
            Side::Tails => SideName::Tails,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_socket_knows_the_reasons_of_both_games_and_no_others() {
        let dice = two_up_dice::InvalidReason::ALL.map(two_up_dice::InvalidReason::code);
        let coins = triple_penny::InvalidReason::ALL.map(triple_penny::InvalidReason::code);
        let of_rules: Vec<_> = dice.into_iter().chain(coins).collect();
        assert_eq!(of_rules, INVALID_REASONS);
        let error = reason("chip_contact").unwrap_err();
        let help = invalid_help();
        for code in of_rules {
            assert!(error.contains(code), "{error}");
            assert!(help.contains(code), "{help}");
        }
    }

    #[test]
    fn outcomes_and_lights_are_named_or_listed() {
        assert_eq!(outcome("triple_heads"), outcome("triple-heads"));
        for name in two_up_dice::Spun::ALL.map(two_up_dice::Spun::name) {
            assert!(outcome(name).is_ok(), "{name}");
        }
        for name in triple_penny::Spun::ALL.map(triple_penny::Spun::name) {
            assert!(outcome(name).is_ok(), "{name}");
        }
        assert!(outcome("edge").unwrap_err().contains("triple-tails"));
        assert_eq!(light("odds-5").as_deref(), Ok("odds_5"));
        assert!(light("odds_6").unwrap_err().contains("odds_5"));
    }
}
