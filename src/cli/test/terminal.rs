//! Every key and contact is asked for in turn, and the readout is looked at.

use super::Course;
use super::bench::{Bench, Came};
use crate::cli::describe;
use crate::cli::ending::Failure;
use crate::control::LightWord;
use crate::table::view::DeviceTestView;

/// What became of a part.
enum Next {
    Part,
    Ended,
    Stop,
}

/// Asks for one after the other; nothing where nobody is there to press.
pub(super) async fn run(bench: &mut Bench) -> Result<Course, Failure> {
    let Some(test) = bench.test().await?.filter(|_| bench.has_hands()) else {
        return Ok(Course::Through);
    };
    bench.say("Do what is asked. n and Enter: it does not answer. q and Enter ends the test.")?;
    let names: Vec<_> = test.parts.iter().map(|part| part.part.clone()).collect();
    let mut heard = Heard::default();
    for (at, part) in names.iter().enumerate() {
        let next = match part.as_str() {
            "readout_full" | "readout_blank" => readout(bench, part).await?,
            _ => {
                let left = names.get(at + 1..).unwrap_or_default();
                let left: Vec<_> = left.iter().map(|part| describe::part(part)).collect();
                bench.say(&format!("{} Then: {}.", wish(part), left.join(", ")))?;
                answer(bench, part, &mut heard).await?
            }
        };
        match next {
            Next::Part => {}
            Next::Ended => return Ok(Course::Through),
            Next::Stop => return Ok(Course::Stopped),
        }
    }
    Ok(Course::Through)
}

fn wish(part: &str) -> String {
    match part {
        "bell" => "Ring the bell.".to_owned(),
        "supervisor_key" => "Turn the supervisor's key on, and off again.".to_owned(),
        "no_spin_button" => "Push the no spin button.".to_owned(),
        "cabinet_door" => "Open the cabinet's door, and close it again.".to_owned(),
        key => format!("Press {}.", describe::part(key)),
    }
}

/// What was told of already.
#[derive(Default)]
struct Heard {
    presses: u32,
    bounces: u32,
}

/// Waits until the part has answered, and echoes what comes meanwhile.
async fn answer(bench: &mut Bench, part: &str, heard: &mut Heard) -> Result<Next, Failure> {
    let wait = bench.wait;
    if bench.ask(part).await?.is_none() {
        return Ok(Next::Ended);
    }
    let answered = |test: &DeviceTestView| {
        let tried = test.parts.iter().find(|tried| tried.part == part);
        tried.is_some_and(|tried| tried.answered > 0)
    };
    loop {
        let news =
            |test: &DeviceTestView| answered(test) || test.pressed != heard.presses || bounces(test) != heard.bounces;
        match bench.until(wait, news).await? {
            Came::It(test) => {
                echo(bench, &test, part, heard)?;
                if answered(&test) {
                    return Ok(Next::Part);
                }
            }
            Came::Line(line) => match line.as_str() {
                "n" | "no" | "next" => {
                    bench.say(&format!("  {}: no answer", describe::part(part)))?;
                    return Ok(Next::Part);
                }
                "q" => return Ok(Next::Stop),
                _ => {}
            },
            Came::Nobody => return Ok(Next::Stop),
            Came::Nothing => {
                bench.say(&format!(
                    "  {}: no answer within {} s",
                    describe::part(part),
                    wait.as_secs()
                ))?;
                return Ok(Next::Part);
            }
            Came::Ended => return Ok(Next::Ended),
        }
    }
}

fn bounces(test: &DeviceTestView) -> u32 {
    test.parts.iter().map(|tried| tried.bounced).sum()
}

/// Each press since the last look.
fn echo(bench: &mut Bench, test: &DeviceTestView, asked: &str, heard: &mut Heard) -> Result<(), Failure> {
    let new = usize::try_from(test.pressed.saturating_sub(heard.presses)).unwrap_or(0);
    let from = test.presses.len().saturating_sub(new);
    for press in test.presses.iter().skip(from) {
        let press_name = describe::part(press);
        match press == asked {
            true => bench.say(&format!("  {press_name} answers"))?,
            false => bench.say(&format!("  {press_name} came, not {}", describe::part(asked)))?,
        }
    }
    for tried in test.parts.iter().filter(|tried| tried.bounced > 0) {
        if bounces(test) != heard.bounces {
            bench.say(&format!("  {} bounces", describe::part(&tried.part)))?;
        }
    }
    heard.presses = test.pressed;
    heard.bounces = bounces(test);
    Ok(())
}

/// The readout shows something, and the person says whether it does.
async fn readout(bench: &mut Bench, part: &str) -> Result<Next, Failure> {
    if bench.ask(part).await?.is_none() {
        return Ok(Next::Ended);
    }
    let question = match part {
        "readout_full" => "The readout shows 888: is every segment lit? [y/n/q]",
        _ => "Now it is dark: is every segment dark? [y/n/q]",
    };
    loop {
        let seen = match bench.question(question).await?.as_deref() {
            Some("y" | "yes") => LightWord::Works,
            Some("n" | "no") => LightWord::Failed,
            Some("q") | None => return Ok(Next::Stop),
            Some(_) => continue,
        };
        return Ok(match bench.seen(part, seen).await? {
            Some(()) => Next::Part,
            None => Next::Ended,
        });
    }
}
