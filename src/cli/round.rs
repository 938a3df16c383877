//! `tablegate round`: the round as the table knows it, and a supervisor's acts on it.

mod two_up;

use super::daemon::{Acting, Reach, act, finds_its_daemon, look};
use super::ending::{Failure, print, print_json};
use super::status;
use crate::control::Act;
use crate::rules::tai_sai::{Style, VoidReason};
use crate::table::incident::IncidentCause;
use clap::{Args, Subcommand};

/// The round: show it, and a supervisor's acts on it.
#[derive(Args, Debug)]
#[command(after_help = finds_its_daemon!(
    "Examples:\n",
    "  tablegate round show\n",
    "  tablegate round amend 1 3 6 --instance TS-07",
))]
pub struct Round {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// The round as the table knows it.
    #[command(after_help = "Example:\n  tablegate round show")]
    Show(Show),
    /// Enter the result when the terminal can't (bets are closed by it, and the dice uncovered, if those are missing).
    #[command(after_help = "Example:\n  tablegate round result 1 3 6 --reason \"terminal dead\"")]
    Result(ResultArgs),
    /// Amend the result before settlement (NZ Div 9 r7.2).
    #[command(after_help = "Example:\n  tablegate round amend 1 3 6")]
    Amend(Amend),
    /// Declare the round void: all bets go back. Tai-sai's law says when (NZ Div 9 r7.1), sic-bo's not: there it is the house's policy.
    #[command(after_help = void_help("tablegate round void --reason a_not_flat"))]
    Void(Void),
    /// State the reason of a void that was recorded without one.
    #[command(after_help = void_help("tablegate round reason a_tumbler_fault"))]
    Reason(Reason),
    /// Losing wagers are collected and winning ones paid: settle.
    #[command(after_help = "Example:\n  tablegate round settle")]
    Settle(Acting),
    /// Take back a settlement that the cover alone implied, until the next spin.
    #[command(after_help = "Example:\n  tablegate round reopen")]
    Reopen(Acting),
    /// Let a held round, or a frozen table, go on.
    #[command(after_help = "Example:\n  tablegate round resume")]
    Resume(Acting),
    /// Take back a void that the gateway declared, until the next spin.
    #[command(after_help = "Example:\n  tablegate round withdraw-void")]
    WithdrawVoid(Acting),
    /// Record an incident by its code, with what the law allows for it; `rules incidents` lists them.
    #[command(
        after_help = "Examples:\n  tablegate round incident chip_moved_by_another --note \"seat 4, a coat sleeve\"\n  tablegate round incident other --note \"a wrong result was paid\""
    )]
    Incident(Incident),
    /// Tai-sai with a dice cup: the dice are offered to this seat.
    #[command(after_help = "Example:\n  tablegate round offer 3")]
    Offer(Offer),
    #[command(flatten)]
    TwoUp(two_up::Command),
}

#[derive(Args, Debug)]
struct Offer {
    /// As the house numbers its seats.
    #[arg(value_name = "SEAT", value_parser = clap::value_parser!(u32).range(1..=99))]
    seat: u32,
    #[command(flatten)]
    acting: Acting,
}

#[derive(Args, Debug)]
struct Show {
    #[command(flatten)]
    reach: Reach,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct Faces {
    /// What the three dice show, in any order: numbers from 1 to 6.
    #[arg(value_name = "FACE", num_args = 3, required = true, value_parser = clap::value_parser!(u8).range(1..=6))]
    faces: Vec<u8>,
}

impl Faces {
    fn three(&self) -> Result<[u8; 3], Failure> {
        let wrong = || Failure::usage("give three faces, numbers from 1 to 6, as in: 1 3 6");
        self.faces.as_slice().try_into().map_err(|_| wrong())
    }
}

#[derive(Args, Debug)]
struct ResultArgs {
    #[command(flatten)]
    faces: Faces,
    /// Why the terminal was not used, 1 to 200 characters.
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    acting: Acting,
}

#[derive(Args, Debug)]
struct Amend {
    #[command(flatten)]
    faces: Faces,
    #[command(flatten)]
    acting: Acting,
}

#[derive(Args, Debug)]
struct Void {
    /// Why, by its code; without one the reason is recorded as not stated, and `round reason` can state it later. While no round runs,
    /// a tumble that failed before a spin was counted is voided, and only by `a_not_activated` or `a_tumbler_fault`.
    #[arg(long, value_name = "CODE", value_parser = void_reason)]
    reason: Option<&'static str>,
    #[command(flatten)]
    acting: Acting,
}

#[derive(Args, Debug)]
struct Reason {
    /// Why, by its code.
    #[arg(value_name = "CODE", value_parser = void_reason)]
    reason: &'static str,
    #[command(flatten)]
    acting: Acting,
}

#[derive(Args, Debug)]
struct Incident {
    /// What happened, by its code; "other" for what the law doesn't list.
    #[arg(value_name = "CAUSE", value_parser = incident_cause)]
    cause: &'static str,
    /// What you add, 1 to 200 characters; needed for "other".
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    #[command(flatten)]
    acting: Acting,
}

/// A reason of r7.1 by its code; the error lists them with their text.
fn void_reason(code: &str) -> Result<&'static str, String> {
    match VoidReason::from_code(code) {
        Some(reason) => Ok(reason.code()),
        None => Err(format!("a round can be void for these reasons:\n{}", void_reasons())),
    }
}

fn void_help(example: &str) -> String {
    format!("Reasons:\n{}\n\nExample:\n  {example}", void_reasons())
}

/// The reasons of each style, a line each.
fn void_reasons() -> String {
    let of = |style: Style, heading: &str| {
        let reasons = VoidReason::ALL.into_iter().filter(|reason| reason.style() == style);
        let lines: Vec<_> = reasons
            .map(|reason| format!("    {:16}  {}", reason.code(), reason.text()))
            .collect();
        format!("  {heading}:\n{}", lines.join("\n"))
    };
    let with_tumbler = of(
        Style::A,
        "with a tumbler (tai-sai style A, and sic-bo where the house voids)",
    );
    let with_cup = of(Style::B, "with a dice cup (tai-sai style B)");
    format!("{with_tumbler}\n{with_cup}")
}

/// An incident by its code; the error lists them with their text.
fn incident_cause(code: &str) -> Result<&'static str, String> {
    if let Some(cause) = IncidentCause::from_code(code) {
        return Ok(cause.code());
    }
    let known: Vec<_> = IncidentCause::all()
        .map(|cause| format!("  {:24}  {}", cause.code(), cause.text()))
        .collect();
    Err(format!(
        "incidents are recorded as one of these (`tablegate rules incidents GAME` says what each allows):\n{}",
        known.join("\n")
    ))
}

/// Runs it.
///
/// # Errors
/// The refusal, in words.
pub fn run(round: Round) -> Result<(), Failure> {
    match round.command {
        Command::Show(show) => {
            let view = look(&show.reach)?;
            if show.json {
                print_json(&status::round(&view))
            } else {
                print(&status::show_round(&view))
            }
        }
        Command::Result(ResultArgs { faces, reason, acting }) => {
            let faces = faces.three()?;
            act(&acting, Act::EnterResult { faces, reason })
        }
        Command::Amend(Amend { faces, acting }) => {
            let faces = faces.three()?;
            act(&acting, Act::Amend { faces })
        }
        Command::Void(Void { reason, acting }) => {
            let reason = reason.map(ToOwned::to_owned);
            act(&acting, Act::Void { reason })
        }
        Command::Reason(Reason { reason, acting }) => {
            let reason = reason.to_owned();
            act(&acting, Act::StateVoidReason { reason })
        }
        Command::Settle(acting) => act(&acting, Act::Settle {}),
        Command::Reopen(acting) => act(&acting, Act::Reopen {}),
        Command::Resume(acting) => act(&acting, Act::Resume {}),
        Command::WithdrawVoid(acting) => act(&acting, Act::WithdrawVoid {}),
        Command::Incident(Incident { cause, note, acting }) => {
            let cause = cause.to_owned();
            act(&acting, Act::RecordIncident { cause, note })
        }
        Command::Offer(Offer { seat, acting }) => act(&acting, Act::Offer { seat }),
        Command::TwoUp(command) => two_up::run(command),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::VOID_REASONS;

    #[test]
    fn the_control_socket_knows_the_reasons_of_the_rules_and_no_others() {
        let of_rules: Vec<_> = VoidReason::ALL.into_iter().map(VoidReason::code).collect();
        assert_eq!(of_rules, VOID_REASONS);
        let error = void_reason("bad_mood").unwrap_err();
        for code in of_rules {
            assert!(error.contains(code), "{error}");
        }
    }
}
