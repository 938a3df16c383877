//! `tablegate config`: what is wrong with a configuration, what holds in the end, and a file to begin with. Needs no daemon.

use super::ending::{Failure, Status, print, print_json};
use super::live::feed::wall;
use crate::config::keys::{GAMES, Play};
use crate::config::{self, Effective, Examined, Problem};
use crate::counted::counted;
use crate::rules::sic_bo::machine::Tumbler;
use crate::rules::tai_sai::areas;
use crate::rules::triple_penny::Display;
use crate::table::GameConfig;
use clap::{Args, Subcommand};
use serde::Serialize;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Check a configuration, show what holds, print a file to begin with.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tablegate config template tai-sai > TS-07.toml
  tablegate config check TS-07.toml

These commands read the file that they are given, and need no daemon.")]
pub struct Config {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Say everything that is wrong with a file. Exit status 3 when it is refused.
    #[command(after_help = "Example:\n  tablegate config check /etc/tablegate/TS-07.toml")]
    Check(File),
    /// Show every value that holds, and where it came from.
    #[command(after_help = "Example:\n  tablegate config show /etc/tablegate/TS-07.toml")]
    Show(Show),
    /// Print a commented file for a game, accepted as it is.
    #[command(
        after_help = "Examples:\n  tablegate config template tai-sai > TS-07.toml\n  tablegate config template tai-sai --style B > TS-08.toml\n  tablegate config template sic-bo > SB-01.toml\n  tablegate config template two-up-dice > TU-01.toml"
    )]
    Template(Template),
}

#[derive(Args, Debug)]
struct File {
    /// The file; variables TABLEGATE__SECTION__KEY of the environment overrule it.
    file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct Show {
    #[command(flatten)]
    file: File,
    /// Print the canonical form whose SHA-256 is in events and approvals.
    #[arg(long, conflicts_with = "json")]
    canonical: bool,
    /// Print the rules of its game in canonical form: version, areas, what they pay.
    #[arg(long, conflicts_with_all = ["json", "canonical"])]
    rules: bool,
}

#[derive(Args, Debug)]
struct Template {
    /// The game: tai-sai, sic-bo, two-up-dice, triple-penny-two-up.
    game: String,
    /// Of tai-sai: A, a tumbler under a cover (without this option), or B, a dice cup.
    #[arg(long, value_name = "A|B")]
    style: Option<String>,
    /// Of sic-bo: the tumbler that is fitted, covered (without this option) or open.
    #[arg(long, value_name = "covered|open")]
    tumbler: Option<String>,
    /// Of triple penny two-up: how results are shown, by lights (without this option), electronic (the results display) or cards.
    #[arg(long, value_name = "lights|electronic|cards")]
    display: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
///
/// # Errors
/// A configuration that is refused, with all that is wrong with it; a game that this version doesn't play.
pub fn run(config: &Config) -> Result<(), Failure> {
    let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    match &config.command {
        Command::Check(file) => check(&file.file, &environment, file.json),
        Command::Show(show) => self::show(show, &environment),
        Command::Template(template) => print_template(template),
    }
}

/// What scripts are told.
#[derive(Serialize)]
struct Said<'a> {
    file: &'a Path,
    instance: String,
    accepted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    config_sha256: Option<String>,
    problems: &'a [Problem],
    #[serde(skip_serializing_if = "Option::is_none")]
    effective: Option<&'a Effective>,
}

impl<'a> Said<'a> {
    fn of(file: &'a Path, examined: &'a Examined) -> Said<'a> {
        Said {
            file,
            instance: config::instance(file),
            accepted: examined.config.is_some(),
            config_sha256: examined.config.as_ref().map(|c| hex(&c.gateway.config_sha256)),
            problems: &examined.problems,
            effective: None,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The refusal of a configuration: exit status 3, a line a problem.
#[must_use]
pub fn refusal(file: &Path, problems: &[Problem]) -> Failure {
    let mut text = format!("{} is refused:", file.display());
    for problem in problems {
        let _ = write!(text, "\n  {}{problem}", severity(problem));
    }
    Failure {
        status: Status::Configuration,
        text,
    }
}

fn severity(problem: &Problem) -> &'static str {
    match problem.severity {
        config::Severity::Error => "",
        config::Severity::Warning => "(warning) ",
    }
}

/// A refusal whose problems were printed as JSON already.
fn refusal_in_short(file: &Path, examined: &Examined) -> Failure {
    let problems = examined.errors().count();
    Failure {
        status: Status::Configuration,
        text: format!("{} is refused: {}", file.display(), counted(problems, "problem")),
    }
}

/// As the daemon would examine it, and the places and certificates that only the daemon uses.
fn examined_with_places(file: &Path, environment: &config::Variables) -> Examined {
    let mut examined = config::examine(file, environment);
    if let Some(accepted) = &examined.config {
        let doubts = config::doubts_of_places(accepted, &examined.effective);
        let certificates = config::doubts_of_certificates(accepted, &examined.effective, wall());
        examined.problems.extend(certificates);
        let is_refused = doubts.iter().any(|doubt| doubt.severity == config::Severity::Error);
        examined.problems.extend(doubts);
        examined.problems.sort_by_key(|problem| problem.severity);
        examined.config = examined.config.filter(|_| !is_refused);
    }
    examined
}

fn check(file: &Path, environment: &config::Variables, json: bool) -> Result<(), Failure> {
    let examined = examined_with_places(file, environment);
    if json {
        print_json(&Said::of(file, &examined))?;
        return match examined.config {
            Some(_) => Ok(()),
            None => Err(refusal_in_short(file, &examined)),
        };
    }
    let Some(accepted) = &examined.config else {
        return Err(refusal(file, &examined.problems));
    };
    let mut text = format!(
        "{} is accepted: table {} of {}, {}.\n",
        file.display(),
        accepted.gateway.table,
        accepted.gateway.site,
        what(&accepted.gateway.game.game),
    );
    for warning in examined.warnings() {
        let _ = writeln!(text, "warning: {warning}");
    }
    let _ = writeln!(text, "config_sha256 {}", hex(&accepted.gateway.config_sha256));
    print(&text)
}

/// The game in words.
fn what(game: &GameConfig) -> String {
    match game {
        GameConfig::TaiSai(game) => format!(
            "tai-sai style {}, layout {} ({})",
            game.style.name(),
            game.layout.name(),
            counted(areas(game.layout).len(), "area")
        ),
        GameConfig::SicBo(game) => format!(
            "sic-bo with {} tumbler, {} table of odds",
            match game.tumbler {
                Tumbler::Covered => "a covered",
                Tumbler::Open => "an open",
            },
            if game.paytable.is_some() {
                "with its"
            } else {
                "without a"
            },
        ),
        GameConfig::TwoUpDice(_) => "two-up dice".to_owned(),
        GameConfig::TriplePenny(game) => {
            let shown = match game.display {
                Display::Lights => "by lights",
                Display::Electronic => "on the results display",
                Display::Cards => "by cards",
            };
            format!("triple penny two-up, results shown {shown}")
        }
    }
}

fn show(show: &Show, environment: &config::Variables) -> Result<(), Failure> {
    let (file, json) = (show.file.file.as_path(), show.file.json);
    let examined = config::examine(file, environment);
    if json {
        let effective = examined.config.is_some().then_some(&examined.effective);
        print_json(&Said {
            effective,
            ..Said::of(file, &examined)
        })?;
        return match examined.config {
            Some(_) => Ok(()),
            None => Err(refusal_in_short(file, &examined)),
        };
    }
    let Some(accepted) = &examined.config else {
        return Err(refusal(file, &examined.problems));
    };
    if show.canonical {
        return print(&accepted.gateway.config_text);
    }
    if show.rules {
        return print(&accepted.gateway.game.game.rules_text());
    }
    print(&shown(&examined.effective))
}

/// A line a value: `key = value   # from`.
fn shown(effective: &Effective) -> String {
    let lines: Vec<_> = effective
        .entries
        .iter()
        .map(|entry| (format!("{} = {}", entry.key, entry.value), entry.from.to_string()))
        .collect();
    // Long values don't push all others to the right.
    let width = lines.iter().map(|(value, _)| value.len()).filter(|w| *w <= 60).max();
    let width = width.unwrap_or(0);
    lines.iter().fold(String::new(), |mut text, (value, from)| {
        let _ = writeln!(text, "{value:<width$}  # {from}");
        text
    })
}

fn print_template(template: &Template) -> Result<(), Failure> {
    let game = template.game.as_str();
    let of_game: Vec<_> = Play::ALL.iter().copied().filter(|play| play.game() == game).collect();
    if of_game.is_empty() {
        return Err(Failure::usage(format!(
            "\"{game}\" is no game that is known; templates: {}",
            GAMES.join(", ")
        )));
    }
    let asked = [
        ("tai_sai.style", template.style.as_deref()),
        ("sic_bo.tumbler", template.tumbler.as_deref()),
        ("triple_penny.display", template.display.as_deref()),
    ];
    let fits = |play: &&Play| {
        asked
            .iter()
            .all(|(key, word)| word.is_none_or(|word| play.word(key) == Some(word)))
    };
    let Some(play) = of_game.iter().find(fits).copied() else {
        let words: Vec<_> = of_game.iter().map(|play| play.words()).collect();
        return Err(Failure::usage(format!(
            "there is no such table of {game}; templates: {}",
            words.join(", ")
        )));
    };
    let text = config::template(play);
    if template.json {
        return print_json(&serde_json::json!({"game": game, "plays": play.words(), "text": text}));
    }
    print(&text)
}
