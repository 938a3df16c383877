//! The tumbler is started once and watched until it rests; its cover is lifted and put on again.

use super::Course;
use super::bench::{Bench, Came};
use crate::cli::ending::Failure;
use crate::control::Act;
use crate::table::view::{DeviceTestView, TestedTumbler};
use std::time::Duration;

/// A tumbler that has not come to rest by then doesn't work.
const RESTS_WITHIN: Duration = Duration::from_secs(30);

/// Spins, then the cover, as far as somebody is there to lift it.
pub(super) async fn run(bench: &mut Bench) -> Result<Course, Failure> {
    let Some(tumbler) = bench.test().await?.and_then(|test| test.tumbler) else {
        return Ok(Course::Through);
    };
    let has_cover = tumbler.cover != "not_fitted";
    if bench.has_hands() {
        let question = match has_cover {
            true => "The tumbler is started once. Is the cover on? [y: start it, n: don't, q: stop]",
            false => "The tumbler is started once. Is it clear of hands? [y: start it, n: don't, q: stop]",
        };
        loop {
            match bench.question(question).await?.as_deref() {
                Some("y" | "yes") => {
                    if let Course::Stopped = spin(bench).await? {
                        return Ok(Course::Stopped);
                    }
                    break;
                }
                Some("n" | "no") => break,
                Some("q") | None => return Ok(Course::Stopped),
                Some(_) => {}
            }
        }
        if has_cover {
            return cover(bench).await;
        }
        return Ok(Course::Through);
    }
    spin(bench).await
}

async fn spin(bench: &mut Bench) -> Result<Course, Failure> {
    bench.progress("the tumbler spins")?;
    if let Err(failure) = bench.act(Act::SpinTumbler {}).await {
        bench.say(&failure.text)?;
        return Ok(Course::Through);
    }
    let rested = |tumbler: &TestedTumbler| match tumbler.motion.as_str() {
        "fault" => true,
        "spinning" => false,
        _ => tumbler.started && tumbler.spins > 0,
    };
    loop {
        let came = bench
            .until(RESTS_WITHIN, |test| test.tumbler.as_ref().is_some_and(rested))
            .await?;
        return match came {
            Came::It(test) if bench.has_hands() => {
                bench.say(match test.tumbler.is_some_and(|tumbler| tumbler.motion == "fault") {
                    true => "  it reports a fault",
                    false => "  it has spun, and rests",
                })?;
                Ok(Course::Through)
            }
            Came::It(_) => Ok(Course::Through),
            Came::Line(line) if line == "q" => Ok(Course::Stopped),
            Came::Line(_) => continue,
            Came::Nothing => {
                bench.say(&format!(
                    "  it has not spun and come to rest within {} s",
                    RESTS_WITHIN.as_secs()
                ))?;
                Ok(Course::Through)
            }
            Came::Nobody => Ok(Course::Stopped),
            Came::Ended => Ok(Course::Through),
        };
    }
}

async fn cover(bench: &mut Bench) -> Result<Course, Failure> {
    if bench.ask("cover").await?.is_none() {
        return Ok(Course::Through);
    }
    let wishes = [
        (
            "Lift the cover. (n: it is not noticed, q: stop)",
            "  lifted",
            &["lifted", "on_again"][..],
        ),
        (
            "Put it on again. (n: it is not noticed, q: stop)",
            "  on again",
            &["on_again"][..],
        ),
    ];
    for (wish, noticed, until) in wishes {
        bench.say(wish)?;
        let seen = |test: &DeviceTestView| {
            let tumbler = test.tumbler.as_ref();
            tumbler.is_some_and(|tumbler| until.contains(&tumbler.cover.as_str()))
        };
        let wait = bench.wait;
        loop {
            match bench.until(wait, seen).await? {
                Came::It(_) => {
                    bench.say(noticed)?;
                    break;
                }
                Came::Line(line) => match line.as_str() {
                    "n" | "no" => return put_on(bench),
                    "q" => return Ok(Course::Stopped),
                    _ => {}
                },
                Came::Nobody => return Ok(Course::Stopped),
                Came::Nothing => {
                    bench.say(&format!("  not noticed within {} s", wait.as_secs()))?;
                    return put_on(bench);
                }
                Came::Ended => return Ok(Course::Through),
            }
        }
    }
    Ok(Course::Through)
}

/// A contact that notices nothing doesn't notice either that the cover is off.
fn put_on(bench: &mut Bench) -> Result<Course, Failure> {
    bench.say("Put the cover on, whatever its contact says.")?;
    Ok(Course::Through)
}
