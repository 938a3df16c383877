//! The walk over the lamps: it goes by itself, and a person who sees something stops it with Enter.

use super::Course;
use super::bench::{Bench, Typed};
use crate::cli::describe;
use crate::cli::ending::Failure;
use crate::control::LightWord;
use crate::gateway::FindingView;
use crate::table::view::{DeviceTestView, TestedLamp};

/// Where the walk goes on.
enum Next {
    Lamp(usize),
    /// The device went away.
    Ended,
    Stop,
}

/// Walks until the person is content, or once where nobody is asked.
pub(super) async fn run(bench: &mut Bench) -> Result<Course, Failure> {
    if bench.has_hands() {
        bench.say("Every lamp is lit alone, one after another. Watch them.")?;
        bench.say("Enter stops at a lamp: when it is dark, or another burns. q and Enter ends the test.")?;
    }
    loop {
        match walk(bench).await? {
            Walked::Through if bench.has_hands() => match ask(bench).await? {
                Asked::Content => return Ok(Course::Through),
                Asked::Again => {}
                Asked::Stop => return Ok(Course::Stopped),
            },
            Walked::Through | Walked::Ended => return Ok(Course::Through),
            Walked::Stopped => return Ok(Course::Stopped),
        }
    }
}

enum Walked {
    Through,
    /// The device went away.
    Ended,
    Stopped,
}

async fn walk(bench: &mut Bench) -> Result<Walked, Failure> {
    // First none at all: what burns then burns always.
    let Some(dark) = bench.light(None).await? else {
        return Ok(Walked::Ended);
    };
    if bench.has_hands() {
        // Where nobody is, the result alone is told.
        tell_wrong(bench, &dark, 0, None)?;
    }
    let mut wrong = dark.wrongly_lit.len();
    let mut at = 0;
    while let Some(lamp) = dark.lamps.get(at) {
        let place = place(lamp);
        bench.progress(&format!("{:>3} of {}  {place}", at + 1, dark.lamps.len()))?;
        let Some(seen) = bench.light(Some(lamp.bit)).await? else {
            return Ok(Walked::Ended);
        };
        if bench.has_hands() {
            tell_wrong(bench, &seen, wrong, Some(lamp))?;
            tell(bench, seen.lamps.get(at).unwrap_or(lamp))?;
        }
        wrong = seen.wrongly_lit.len();
        let typed = match bench.each {
            true => Typed::Line(String::new()),
            false => bench.hold().await,
        };
        at = match typed {
            Typed::Nothing => at + 1,
            Typed::Nobody if bench.has_hands() => return Ok(Walked::Stopped),
            Typed::Nobody => at + 1,
            Typed::Line(line) if line == "q" => return Ok(Walked::Stopped),
            Typed::Line(_) => match stop_at(bench, lamp, at).await? {
                Next::Lamp(at) => at,
                Next::Ended => return Ok(Walked::Ended),
                Next::Stop => return Ok(Walked::Stopped),
            },
        };
    }
    Ok(Walked::Through)
}

/// The walk stands at a lamp until the person has said what they see.
async fn stop_at(bench: &mut Bench, lamp: &TestedLamp, at: usize) -> Result<Next, Failure> {
    let question = format!(
        "{} is commanded. Is it lit, alone? [Enter: yes, n: no, b: the one before, q: stop]",
        place(lamp)
    );
    loop {
        let Some(answer) = bench.question(&question).await? else {
            return Ok(Next::Stop);
        };
        let seen = match answer.as_str() {
            "" | "y" | "yes" => LightWord::Works,
            "n" | "no" => LightWord::Failed,
            "b" => return Ok(Next::Lamp(at.saturating_sub(1))),
            "q" => return Ok(Next::Stop),
            _ => continue,
        };
        return Ok(match bench.seen(&format!("lamp_{}", lamp.bit), seen).await? {
            Some(()) => Next::Lamp(at + 1),
            None => Next::Ended,
        });
    }
}

enum Asked {
    Content,
    Again,
    Stop,
}

/// After a walk: what devices can't tell is a person's word.
async fn ask(bench: &mut Bench) -> Result<Asked, Failure> {
    let question =
        "Was every lamp lit at its own place that isn't named above? [y: yes, n: no, r: walk again, q: stop]";
    loop {
        match bench.question(question).await?.as_deref() {
            Some("y" | "yes") => break,
            Some("n" | "no") => {
                if let Asked::Stop = which(bench).await? {
                    return Ok(Asked::Stop);
                }
            }
            Some("r") => return Ok(Asked::Again),
            Some("q") | None => return Ok(Asked::Stop),
            Some(_) => {}
        }
    }
    // A device that has gone away has ended the test: nothing more is to be asked.
    let _ended = bench.seen("other_lamps", LightWord::Works).await?;
    Ok(Asked::Content)
}

/// Names a lamp that was dark.
async fn which(bench: &mut Bench) -> Result<Asked, Failure> {
    let Some(test) = bench.test().await? else {
        return Ok(Asked::Content);
    };
    let question = "Which was dark? Its area (total_5) or its bit (16); Enter alone: none";
    loop {
        let Some(answer) = bench.question(question).await? else {
            return Ok(Asked::Stop);
        };
        if answer.is_empty() {
            return Ok(Asked::Content);
        }
        let bits: Vec<u16> = test
            .lamps
            .iter()
            .filter(|lamp| lamp.area == answer || answer.parse() == Ok(lamp.bit))
            .map(|lamp| lamp.bit)
            .collect();
        if bits.is_empty() {
            bench.say(&format!("There is no lamp of \"{answer}\"."))?;
            continue;
        }
        for bit in bits {
            if bench.seen(&format!("lamp_{bit}"), LightWord::Failed).await?.is_none() {
                return Ok(Asked::Content);
            }
        }
        bench.say("Noted.")?;
        return Ok(Asked::Content);
    }
}

/// "total_5, bit 16 (output 17)".
fn place(lamp: &TestedLamp) -> String {
    format!("{}, {}", lamp.area, describe::output(usize::from(lamp.bit)))
}

fn tell(bench: &mut Bench, lamp: &TestedLamp) -> Result<(), Failure> {
    match lamp.found.as_str() {
        fault @ ("dark" | "not_followed") => bench.say(&describe::finding(&FindingView {
            fault: fault.to_owned(),
            part: lamp.area.clone(),
            number: Some(u32::from(lamp.bit)),
            ..FindingView::default()
        })),
        _ => Ok(()),
    }
}

/// Lamps that burn now and must not, beyond the first `known`.
fn tell_wrong(
    bench: &mut Bench,
    test: &DeviceTestView,
    known: usize,
    with: Option<&TestedLamp>,
) -> Result<(), Failure> {
    for bit in test.wrongly_lit.iter().skip(known) {
        let lamp = test.lamps.iter().find(|lamp| lamp.bit == *bit);
        bench.say(&describe::finding(&FindingView {
            fault: "lit".to_owned(),
            part: lamp.map(|lamp| lamp.area.clone()).unwrap_or_default(),
            number: Some(u32::from(*bit)),
            other: with.map(|lamp| lamp.area.clone()).unwrap_or_default(),
            times: 0,
        }))?;
    }
    Ok(())
}
