//! `tablegate open`: the opening checks of the game (NZ Div 9 r5.1; elsewhere the house's), one after another, each recorded, then the
//! table opens.
//!
//! The daemon knows what was checked and decides whether that is enough; this command asks the questions. When it ends early, by
//! Ctrl-C or a lost connection, the daemon abandons the opening.

use super::daemon::{Acting, block_on, done, unexpected, unreachable};
use super::ending::{Failure, print, print_json};
use crate::control::client::Client;
use crate::control::{Act, Check, OutcomeName, Request};
use crate::device::LinkState;
use crate::gateway::{CheckView, View};
use crate::rules::tai_sai::{self, Layout};
use clap::Args;
use std::collections::BTreeSet;
use std::io::{BufRead, IsTerminal};
use std::time::Duration;
use tokio::time::Instant;

/// The opening checks, then the table opens.
#[derive(Args, Debug)]
pub struct Open {
    /// Ask nothing: each check is recorded as seen by a link, or as vouched for by you.
    #[arg(long)]
    yes: bool,
    /// Test entries for every area of the layout, as at commissioning.
    #[arg(long, conflicts_with = "yes")]
    commissioning: bool,
    #[command(flatten)]
    acting: Acting,
}

/// How often the daemon is looked at while something at the table is waited for.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A walk over every lamp of the larger layout takes under a minute.
const WALK_WITHIN: Duration = Duration::from_secs(120);

/// A tumbler that has not come to rest by then doesn't work.
const TUMBLER_WITHIN: Duration = Duration::from_secs(30);

/// The checks of `open --yes` end by themselves: a lamp walk, an activation.
const VOUCHED_WITHIN: Duration = Duration::from_secs(180);

/// The three test entries of a day: different totals, a double, a triple. Each in order, as the daemon tells what was entered.
const TEST_ENTRIES: [[u8; 3]; 3] = [[1, 3, 6], [2, 2, 5], [4, 4, 4]];

/// Runs it.
///
/// # Errors
/// What is refused, or which checks have not passed; the table stays closed.
pub fn run(open: &Open) -> Result<(), Failure> {
    if !open.yes && !std::io::stdin().is_terminal() {
        return Err(Failure::usage(
            "open asks questions, and there is no terminal to ask them on.\n\
             Run it on a terminal, or with --yes: each check is then recorded as seen by a link or as vouched for by you.",
        ));
    }
    let socket = open.acting.reach.act_socket()?;
    block_on(async {
        let client = Client::connect(&socket).await.map_err(unreachable)?;
        let mut opening = Opening {
            client,
            by: open.acting.by.clone(),
        };
        let text = if open.yes {
            opening.vouched().await?
        } else {
            opening.guided(open.commissioning).await?
        };
        if open.acting.json {
            print_json(&opening.look().await?.table.checks)
        } else {
            print(&format!("{text}\n"))
        }
    })
}

/// A connection on which the table is opened; the opening belongs to it.
struct Opening {
    client: Client,
    by: Option<String>,
}

/// What a person says to a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Said {
    Yes,
    No,
    /// Do it for me.
    Light,
}

/// What became of a test entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Confirmed {
    /// Made on the terminal; its areas were seen lit.
    AtTheTerminal,
    /// Its areas were lit by command and seen lit.
    LitFromHere,
    /// Other areas were lit, or none.
    Not,
}

impl Opening {
    async fn act(&mut self, act: Act) -> Result<String, Failure> {
        let answer = self.client.act(act, self.by.as_deref()).await.map_err(unreachable)?;
        done(answer)
    }

    async fn look(&mut self) -> Result<View, Failure> {
        let answer = self.client.ask(&Request::Look {}).await.map_err(unreachable)?;
        answer.view().map_err(|other| unexpected(&other))
    }

    /// Looks until `seen`, at most for `within`.
    async fn wait(&mut self, within: Duration, seen: impl Fn(&View) -> bool) -> Result<Option<View>, Failure> {
        let until = Instant::now() + within;
        loop {
            let view = self.look().await?;
            if seen(&view) {
                return Ok(Some(view));
            }
            if Instant::now() >= until {
                return Ok(None);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Without questions. Lamps that are read back are walked first: that needs no hand, and is seen by the link.
    async fn vouched(&mut self) -> Result<String, Failure> {
        if self.look().await?.table.situation.lamps_read_back == Some(true) {
            self.act(Act::BeginOpening {}).await?;
            self.act(Act::WalkLamps {}).await?;
            self.wait(WALK_WITHIN, |view| recorded(view, Check::LampWalk).is_some())
                .await?;
        }
        let text = self.act(Act::OpenVouched {}).await?;
        let ended = self
            .wait(VOUCHED_WITHIN, |view| view.table.state.mode != "opening")
            .await?;
        match ended {
            Some(view) if view.table.state.mode == "open" => Ok(text),
            Some(view) => Err(not_passed(&view)),
            None => {
                let view = self.look().await?;
                let _told = self.act(Act::AbandonOpening {}).await;
                Err(not_passed(&view))
            }
        }
    }

    /// One check after another.
    async fn guided(&mut self, commissioning: bool) -> Result<String, Failure> {
        say(&self.act(Act::BeginOpening {}).await?)?;
        say("Answer y (yes), n (no) or q (stop; the table stays closed).")?;
        for check in self.look().await?.table.situation.checks {
            match check.as_str() {
                "devices" => self.devices().await?,
                "lamp_walk" => self.lamp_walk().await?,
                "test_entries" if self.is_two_up().await? => self.test_outcomes().await?,
                "test_entries" => self.test_entries(commissioning).await?,
                "tumbler" => self.tumbler().await?,
                "seal" => self.seal().await?,
                "dice" => self.dice().await?,
                other => {
                    return Err(Failure::failed(format!(
                        "the daemon asks for a check that this command doesn't know ({other}): are they of one version?"
                    )));
                }
            }
        }
        let view = self.look().await?;
        if view.table.checks.iter().any(|check| !check.passed) {
            let failure = not_passed(&view);
            self.act(Act::AbandonOpening {}).await?;
            return Err(failure);
        }
        self.act(Act::CompleteOpening {}).await
    }

    async fn devices(&mut self) -> Result<(), Failure> {
        loop {
            let view = self.look().await?;
            if recorded(&view, Check::Devices).is_some_and(|check| check.passed) {
                return say("devices: seen by their links.");
            }
            let away: Vec<_> = view
                .links
                .iter()
                .filter(|link| link.state != LinkState::Up)
                .map(|link| format!("  {} at {}: {}", link.kind.word(), link.port, link.text))
                .collect();
            if away.is_empty() {
                return self.record(Check::Devices, Said::Yes, "every link is up").await;
            }
            say(&format!("devices: these don't answer:\n{}", away.join("\n")))?;
            match self.ask("Check cable and power. Look again?").await? {
                Said::Yes => {}
                Said::No | Said::Light => {
                    return self.record(Check::Devices, Said::No, "a device does not answer").await;
                }
            }
        }
    }

    async fn lamp_walk(&mut self) -> Result<(), Failure> {
        say("lamps: every lamp is lit in turn; watch the layout.")?;
        self.act(Act::WalkLamps {}).await?;
        let walked = self
            .wait(WALK_WITHIN, |view| recorded(view, Check::LampWalk).is_some())
            .await?;
        let seen = walked.as_ref().and_then(|view| recorded(view, Check::LampWalk));
        if let Some(check) = seen {
            say(&format!("lamps: {}", check.text))?;
        }
        if seen.is_some_and(|check| check.passed) {
            return Ok(());
        }
        let said = self.ask("Did every area light up, one after another?").await?;
        let text = match said {
            Said::Yes => "every area was seen lit by a person",
            Said::No | Said::Light => "not every area was seen lit",
        };
        self.record(Check::LampWalk, said, text).await
    }

    async fn test_entries(&mut self, commissioning: bool) -> Result<(), Failure> {
        let view = self.look().await?;
        let layout = match view.table.layout.as_str() {
            "appendix-2" => Layout::Appendix2,
            _ => Layout::Appendix1,
        };
        let entries = if commissioning {
            covering(layout)
        } else {
            TEST_ENTRIES.to_vec()
        };
        let mut lit_from_here = 0;
        for faces in &entries {
            let areas: Vec<_> = tai_sai::winners(*faces, layout)
                .into_iter()
                .map(|area| area.id)
                .collect();
            let [one, two, three] = faces;
            say(&format!(
                "test entry: press {one} {two} {three} and ENTER on the terminal. These areas light up, and no others:\n  {}",
                areas.join(", ")
            ))?;
            match self.test_entry(*faces).await? {
                Confirmed::AtTheTerminal => {}
                Confirmed::LitFromHere => lit_from_here += 1,
                Confirmed::Not => {
                    let text = format!("entry {one} {two} {three} did not light its areas");
                    return self.record(Check::TestEntries, Said::No, &text).await;
                }
            }
        }
        let how = match lit_from_here {
            0 => String::new(),
            lit => format!(", {lit} of them lit without the terminal"),
        };
        let text = format!("{} test entries confirmed{how}", entries.len());
        self.record(Check::TestEntries, Said::Yes, &text).await
    }

    /// Asks for one test entry until it was made, or lit from here, and looked at: a "y" before that confirms nothing.
    async fn test_entry(&mut self, faces: [u8; 3]) -> Result<Confirmed, Failure> {
        let [one, two, three] = faces;
        let mut how = Confirmed::AtTheTerminal;
        loop {
            let question = "Are exactly these lit? (l: light them without the terminal)";
            match self.ask_or_light(question).await? {
                Said::Yes if self.look().await?.table.situation.test_entry == Some(faces) => return Ok(how),
                Said::Yes => say(&format!(
                    "no entry of {one} {two} {three} has come yet: press {one} {two} {three} and ENTER on the terminal, then look"
                ))?,
                Said::Light => {
                    say(&self.act(Act::LightTestEntry { faces }).await?)?;
                    how = Confirmed::LitFromHere;
                }
                Said::No => return Ok(Confirmed::Not),
            }
        }
    }

    async fn is_two_up(&mut self) -> Result<bool, Failure> {
        let game = self.look().await?.table.game;
        Ok(["two-up-dice", "triple-penny-two-up"].contains(&game.as_str()))
    }

    /// Every result key of a two-up terminal, and what it lights.
    async fn test_outcomes(&mut self) -> Result<(), Failure> {
        let view = self.look().await?;
        let with_coins = view.table.game == "triple-penny-two-up";
        let outcomes: &[OutcomeName] = if with_coins {
            &[
                OutcomeName::Heads,
                OutcomeName::Tails,
                OutcomeName::TripleHeads,
                OutcomeName::TripleTails,
            ]
        } else {
            &[OutcomeName::Heads, OutcomeName::Tails, OutcomeName::Odds]
        };
        let has_lights = view.table.situation.checks.iter().any(|check| check == "lamp_walk");
        for outcome in outcomes {
            let key = key_of(*outcome);
            let seen = match (has_lights, with_coins) {
                (true, true) => "as many lights of its side as coins show it, and no others",
                (true, false) => "its first light, and no other",
                (false, _) => "its letter on the readout",
            };
            say(&format!(
                "test entry: press {key} and ENTER on the terminal; look for {seen}"
            ))?;
            if self.test_outcome(*outcome).await? == Confirmed::Not {
                let text = format!("entry {key} was not shown as it should be");
                return self.record(Check::TestEntries, Said::No, &text).await;
            }
        }
        let text = format!("{} test entries confirmed", outcomes.len());
        self.record(Check::TestEntries, Said::Yes, &text).await
    }

    /// As [`Opening::test_entry`], of a result key.
    async fn test_outcome(&mut self, outcome: OutcomeName) -> Result<Confirmed, Failure> {
        let key = key_of(outcome);
        let wanted = key.to_ascii_lowercase();
        let mut how = Confirmed::AtTheTerminal;
        loop {
            let question = "Is exactly that shown? (l: show it without the terminal)";
            match self.ask_or_light(question).await? {
                Said::Yes if self.look().await?.table.situation.test_outcome.as_ref() == Some(&wanted) => {
                    return Ok(how);
                }
                Said::Yes => say(&format!(
                    "no entry of {key} has come yet: press {key} and ENTER, then look"
                ))?,
                Said::Light => {
                    say(&self.act(Act::LightTestOutcome { outcome }).await?)?;
                    how = Confirmed::LitFromHere;
                }
                Said::No => return Ok(Confirmed::Not),
            }
        }
    }

    /// The set, which no device counts.
    async fn dice(&mut self) -> Result<(), Failure> {
        let question = match self.look().await?.table.game.as_str() {
            "two-up-dice" => "dice: are there five, each with three sides H and three sides T?",
            "triple-penny-two-up" => "coins: are there five, tails marked with a cross?",
            _ => "dice: are there three, whole and of this table?",
        };
        let said = self.ask(question).await?;
        self.record(Check::Dice, said, "the set was looked at").await
    }

    async fn tumbler(&mut self) -> Result<(), Failure> {
        if self.ask("tumbler: it is started once. Is the cover on?").await? != Said::Yes {
            return self.record(Check::Tumbler, Said::No, "the tumbler was not tried").await;
        }
        self.act(Act::SpinTumbler {}).await?;
        let rested = self
            .wait(TUMBLER_WITHIN, |view| recorded(view, Check::Tumbler).is_some())
            .await?;
        match rested.as_ref().and_then(|view| recorded(view, Check::Tumbler)) {
            Some(check) => say(&format!("tumbler: {}", check.text)),
            None => {
                let said = self.ask("Did the tumbler spin the dice and come to rest?").await?;
                let text = match said {
                    Said::Yes => "the tumbler was seen spinning and coming to rest",
                    Said::No | Said::Light => "the tumbler was not seen spinning and coming to rest",
                };
                self.record(Check::Tumbler, said, text).await
            }
        }
    }

    async fn seal(&mut self) -> Result<(), Failure> {
        let said = self.ask("seal: is the seal of the dice compartment whole?").await?;
        self.record(Check::Seal, said, "the seal was looked at").await
    }

    async fn record(&mut self, check: Check, said: Said, text: &str) -> Result<(), Failure> {
        let text = text.to_owned();
        let passed = said == Said::Yes;
        say(&self.act(Act::RecordCheck { check, passed, text }).await?)
    }

    /// Asks until the answer is yes or no; `q` abandons the opening.
    async fn ask(&mut self, question: &str) -> Result<Said, Failure> {
        loop {
            match self.ask_or_light(question).await? {
                said @ (Said::Yes | Said::No) => return Ok(said),
                Said::Light => {}
            }
        }
    }

    /// Asks until the answer is yes, no, or that the areas be lit from here; `q` abandons the opening.
    async fn ask_or_light(&mut self, question: &str) -> Result<Said, Failure> {
        loop {
            print(&format!("{question} [y/n/q] "))?;
            let mut line = String::new();
            if std::io::stdin().lock().read_line(&mut line)? == 0 {
                return self.abandon().await;
            }
            match line.trim() {
                "y" | "yes" => return Ok(Said::Yes),
                "n" | "no" => return Ok(Said::No),
                "l" => return Ok(Said::Light),
                "q" | "quit" => return self.abandon().await,
                _ => {}
            }
        }
    }

    async fn abandon(&mut self) -> Result<Said, Failure> {
        self.act(Act::AbandonOpening {}).await?;
        Err(Failure::failed("the opening was abandoned; the table stays closed"))
    }
}

/// As the key is labelled.
fn key_of(outcome: OutcomeName) -> &'static str {
    match outcome {
        OutcomeName::Heads => "HEADS",
        OutcomeName::Tails => "TAILS",
        OutcomeName::Odds => "ODDS",
        OutcomeName::TripleHeads => "TRIPLE_HEADS",
        OutcomeName::TripleTails => "TRIPLE_TAILS",
    }
}

fn say(text: &str) -> Result<(), Failure> {
    print(&format!("{text}\n"))
}

fn recorded(view: &View, check: Check) -> Option<&CheckView> {
    let name = match check {
        Check::Devices => "devices",
        Check::LampWalk => "lamp_walk",
        Check::TestEntries => "test_entries",
        Check::Tumbler => "tumbler",
        Check::Seal => "seal",
        Check::Dice => "dice",
    };
    view.table.checks.iter().find(|known| known.check == name)
}

/// Which checks have not passed.
fn not_passed(view: &View) -> Failure {
    let failed: Vec<_> = view
        .table
        .checks
        .iter()
        .filter(|check| !check.passed)
        .map(|check| format!("  {}: {}", check.check.replace('_', " "), check.text))
        .collect();
    let which = if failed.is_empty() {
        "  not every check was recorded".to_owned()
    } else {
        failed.join("\n")
    };
    Failure::failed(format!(
        "the table stays closed; these checks have not passed:\n{which}\nPut it right and open again."
    ))
}

/// Entries that light every area of the layout at least once: 17, or 56 for the alternative layout. The area that the fewest
/// outcomes light is lit next, by the outcome that lights the most dark areas with it.
fn covering(layout: Layout) -> Vec<[u8; 3]> {
    let outcomes: Vec<_> = tai_sai::outcomes().filter(|faces| faces.is_sorted()).collect();
    let lit_by = |faces: [u8; 3]| -> BTreeSet<&'static str> {
        tai_sai::winners(faces, layout)
            .into_iter()
            .map(|area| area.id)
            .collect()
    };
    let rarity = |area: &&str| outcomes.iter().filter(|faces| lit_by(**faces).contains(*area)).count();
    let mut dark: BTreeSet<_> = tai_sai::areas(layout).iter().copied().collect();
    let mut entries = Vec::new();
    while let Some(rarest) = dark.iter().copied().min_by_key(rarity) {
        let best = outcomes
            .iter()
            .filter(|faces| lit_by(**faces).contains(rarest))
            .max_by_key(|faces| lit_by(**faces).intersection(&dark).count());
        let Some(faces) = best else { break };
        dark = dark.difference(&lit_by(*faces)).copied().collect();
        entries.push(*faces);
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entries_of_a_commissioning_light_every_area() {
        for (layout, fewest) in [(Layout::Appendix1, 17), (Layout::Appendix2, 56)] {
            let entries = covering(layout);
            let lit: BTreeSet<_> = entries
                .iter()
                .flat_map(|faces| tai_sai::winners(*faces, layout))
                .map(|area| area.id)
                .collect();
            assert_eq!(lit.len(), tai_sai::areas(layout).len(), "{layout:?}");
            assert_eq!(entries.len(), fewest, "{layout:?}");
        }
    }
}
