//! `tablegate test`: the devices of a table, tried one after another in test mode, each with its record.
//!
//! The daemon lights, asks and spins, and knows what devices tell; this command guides a person and says what they see. Test mode
//! belongs to its connection: however it ends, lamps, readout and table are the daemon's again.

mod bench;
mod keyboard;
mod lamps;
mod terminal;
mod tumbler;

use super::daemon::{Acting, block_on};
use super::describe;
use super::ending::{Failure, for_terminal, print, print_json};
use crate::control::TestedDevice;
use crate::gateway::{TestView, View};
use crate::table::input::DeviceKind;
use bench::{Bench, Hands};
use clap::{Args, ValueEnum};
use keyboard::Keyboard;
use serde::Serialize;
use std::io::IsTerminal;
use std::time::Duration;

/// Try a device in test mode.
#[derive(Args, Debug)]
pub struct Test {
    /// What is tried.
    #[arg(value_enum, value_name = "KIND")]
    what: What,
    /// Ask nothing: what devices tell by themselves is tried, the tumbler is started once, and the rest is told as not tested.
    #[arg(long)]
    yes: bool,
    /// Stop at every lamp until you have said whether it is lit.
    #[arg(long, conflicts_with = "yes")]
    each: bool,
    /// How long each lamp is lit, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 700, conflicts_with = "yes", value_parser = clap::value_parser!(u64).range(50..=10_000))]
    pace: u64,
    /// How long a key, a contact or the cover is waited for, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, conflicts_with = "yes", value_parser = clap::value_parser!(u64).range(1..=600))]
    wait: u64,
    #[command(flatten)]
    acting: Acting,
}

/// What can be tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum What {
    /// Every lamp of the layout, one alone after the other: read back, and seen.
    Lamps,
    /// The same for the result lights of two-up.
    Lights,
    /// Every key and contact, and the readout.
    Terminal,
    /// A spin, the cover, the seal.
    Tumbler,
    /// Every device of the table.
    All,
}

/// What came of a test.
enum Outcome {
    Recorded(TestView),
    /// The daemon did not begin it.
    Refused {
        of: TestedDevice,
        text: String,
    },
}

/// What is printed for scripts.
#[derive(Serialize)]
struct Told<'a> {
    passed: bool,
    /// "closed", "open": what the table is afterwards.
    mode: String,
    tests: Vec<&'a TestView>,
    refused: Vec<Refused<'a>>,
}

#[derive(Serialize)]
struct Refused<'a> {
    of: &'static str,
    text: &'a str,
}

/// Runs it.
///
/// # Errors
/// What is refused, or that something was found or not tried.
pub fn run(test: &Test) -> Result<(), Failure> {
    let hands = if test.yes {
        Hands::None
    } else if std::io::stdin().is_terminal() {
        Hands::Keyboard(Keyboard::open())
    } else {
        return Err(Failure::usage(
            "test asks what you see, and there is no terminal to ask on.\n\
             Run it on a terminal, or with --yes: what devices tell by themselves is tried, and the rest is told as not tested.",
        ));
    };
    let socket = test.acting.reach.look_socket()?;
    block_on(async {
        let mut bench = Bench::connect(&socket, hands, &test.acting).await?;
        bench.pace = Duration::from_millis(test.pace);
        bench.wait = Duration::from_secs(test.wait);
        bench.each = test.each;
        let devices = devices(test.what, &bench.look().await?);
        bench.enter().await?;
        let mut outcomes = Vec::new();
        for of in devices {
            let (outcome, course) = try_one(&mut bench, of).await?;
            if !test.acting.json {
                print(&for_terminal(&told(&outcome, course)))?;
            }
            outcomes.push(outcome);
            if course == Course::Stopped {
                break;
            }
        }
        let after = bench.leave().await?;
        let passed = outcomes
            .iter()
            .all(|outcome| matches!(outcome, Outcome::Recorded(test) if test.passed));
        if test.acting.json {
            print_json(&as_json(passed, &after, &outcomes))?;
        } else {
            print(&format!(
                "Test mode is left: the table is {}, as before.\n",
                after.table.state.mode
            ))?;
        }
        match passed {
            true => Ok(()),
            false => Err(Failure::failed("not everything has passed")),
        }
    })
}

/// Lamps first: whoever watches them has nothing in the hands yet.
fn devices(what: What, view: &View) -> Vec<TestedDevice> {
    match what {
        What::Lamps => vec![TestedDevice::Lamps],
        What::Lights => vec![TestedDevice::Lights],
        What::Terminal => vec![TestedDevice::Terminal],
        What::Tumbler => vec![TestedDevice::Tumbler],
        What::All => [
            (DeviceKind::LayoutLamps, TestedDevice::Lamps),
            (DeviceKind::ResultLights, TestedDevice::Lights),
            (DeviceKind::Terminal, TestedDevice::Terminal),
            (DeviceKind::Tumbler, TestedDevice::Tumbler),
        ]
        .into_iter()
        .filter(|(kind, _)| view.links.iter().any(|link| link.kind == (*kind).into()))
        .map(|(_, device)| device)
        .collect(),
    }
}

/// One device's test, and whether the person wants no more.
async fn try_one(bench: &mut Bench, of: TestedDevice) -> Result<(Outcome, Course), Failure> {
    if let Err(text) = bench.begin(of).await? {
        return Ok((Outcome::Refused { of, text }, Course::Through));
    }
    let course = match of {
        TestedDevice::Lamps | TestedDevice::Lights => lamps::run(bench).await?,
        TestedDevice::Terminal => terminal::run(bench).await?,
        TestedDevice::Tumbler => tumbler::run(bench).await?,
    };
    let recorded = bench.end(of, course).await?;
    Ok((Outcome::Recorded(recorded), course))
}

/// How a person's part of a test ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Course {
    /// To its end, or to that of the device's link.
    Through,
    /// They want no more.
    Stopped,
}

fn name(of: TestedDevice) -> &'static str {
    match of {
        TestedDevice::Lamps => "lamps",
        TestedDevice::Lights => "lights",
        TestedDevice::Terminal => "terminal",
        TestedDevice::Tumbler => "tumbler",
    }
}

/// The result, and below it each finding.
fn told(outcome: &Outcome, course: Course) -> String {
    let test = match outcome {
        Outcome::Recorded(test) => test,
        Outcome::Refused { of, text } => return format!("{}: NOT TESTED: {text}\n", name(*of)),
    };
    let verdict = if test.passed {
        "passed"
    } else if !test.findings.is_empty() {
        "FAILED"
    } else if test.interrupted && course == Course::Stopped {
        "BROKEN OFF"
    } else if test.interrupted {
        "BROKEN OFF, the device went away"
    } else {
        "NOT ALL TESTED"
    };
    let mut text = format!(
        "{} {}: {verdict} ({} of {} tried)\n",
        test.of, test.device, test.tried, test.parts
    );
    for found in &test.findings {
        text.push_str(&format!("  {}\n", describe::finding(found)));
    }
    if test.more_findings > 0 {
        text.push_str(&format!("  and {} more\n", test.more_findings));
    }
    if !test.not_tested.is_empty() {
        let has_lamps = test.of == name(TestedDevice::Lamps) || test.of == name(TestedDevice::Lights);
        let parts = test.not_tested.iter().map(|name| match has_lamps {
            true => name.clone(),
            false => describe::part(name),
        });
        let parts: Vec<_> = parts.collect();
        let untried = usize::try_from(test.parts.saturating_sub(test.tried)).unwrap_or(0);
        let more = match untried.saturating_sub(parts.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        text.push_str(&format!("  not tested: {}{more}\n", parts.join(", ")));
    }
    text
}

fn as_json<'a>(passed: bool, after: &View, outcomes: &'a [Outcome]) -> Told<'a> {
    let mut tests = Vec::new();
    let mut refused = Vec::new();
    for outcome in outcomes {
        match outcome {
            Outcome::Recorded(test) => tests.push(test),
            Outcome::Refused { of, text } => refused.push(Refused { of: name(*of), text }),
        }
    }
    Told {
        passed,
        mode: after.table.state.mode.clone(),
        tests,
        refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::FindingView;

    #[test]
    fn a_result_names_each_finding_as_a_technician_needs_it() {
        let finding = |fault: &str, part: &str, number, other: &str, times| FindingView {
            fault: fault.into(),
            part: part.into(),
            number,
            other: other.into(),
            times,
        };
        let test = TestView {
            of: "lamps".into(),
            device: "LL-1".into(),
            tried: 48,
            parts: 50,
            findings: vec![
                finding("dark", "total_5", Some(16), "", 0),
                finding("lit", "", Some(60), "small", 0),
                finding("said_dark", "big", Some(1), "", 0),
                finding("no_answer", "key_3", Some(3), "key_2", 0),
                finding("bounced", "bell", None, "", 2),
            ],
            not_tested: vec!["total_6".into()],
            ..TestView::default()
        };
        assert_eq!(
            told(&Outcome::Recorded(test), Course::Through),
            "lamps LL-1: FAILED (48 of 50 tried)\n  \
             total_5, bit 16 (output 17): stays dark (measured)\n  \
             no area, bit 60 (output 61): burns when small is lit\n  \
             big, bit 1 (output 2): stays dark (seen)\n  \
             key 3: never answered; key 2 answered instead\n  \
             bell: bounces, 2 too many within 80 ms\n  \
             not tested: total_6 and 1 more\n"
        );
    }
}
