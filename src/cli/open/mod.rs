//! `tablegate open`: the opening checks of the game (NZ Div 9 r5.1; elsewhere the house's), one after another, each recorded, then the
//! table opens.
//!
//! The daemon knows what was checked and decides whether that is enough; this command asks the questions. When it ends early, by
//! Ctrl-C or a lost connection, the daemon abandons the opening.

mod asking;
mod entries;

use super::daemon::{Acting, block_on, done, unexpected, unreachable};
use super::ending::{Failure, print, print_json};
use super::status::words::{describe_lock, failed_lamp};
use crate::control::client::Client;
use crate::control::{Act, Check, MAX_TEXT, Request};
use crate::device::{Kind, LinkReport, LinkState};
use crate::gateway::{CheckView, DeviceView, View};
use asking::Said;
use clap::Args;
use entries::{Extent, TestEntry};
use std::collections::VecDeque;
use std::io::IsTerminal;
use std::time::Duration;
use tokio::time::Instant;

/// The opening checks, then the table opens.
#[derive(Args, Debug)]
pub struct Open {
    /// Ask nothing: each check is recorded as seen by a link, or as vouched for by you.
    #[arg(long)]
    yes: bool,
    /// Test entries for every area of the layout of a dice table, as at commissioning: 17, or 56 for tai-sai's alternative layout.
    #[arg(long, visible_alias = "full", conflicts_with = "yes")]
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

/// A lamp that shows something else for longer than this after its test entry does not follow: a picture is taken within some 100 ms.
const SHOWN_WITHIN: Duration = Duration::from_secs(2);

/// The checks of `open --yes` end by themselves: a lamp walk, an activation.
const VOUCHED_WITHIN: Duration = Duration::from_secs(180);

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
            let extent = match open.commissioning {
                true => Extent::Commissioning,
                false => Extent::Day,
            };
            opening.guided(extent).await?
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

/// What became of a test entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Confirmed {
    /// Made on the terminal; its areas were seen lit.
    AtTheTerminal,
    /// Its areas were lit by command and seen lit.
    LitFromHere,
    /// Other areas were lit, or none.
    Not(Then),
}

/// What becomes of an entry that was not shown as it must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Then {
    /// It is made again at once.
    Again,
    /// When the others are through.
    Later,
    /// The check has failed.
    Failed,
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

    /// A table can be opened while a lock stands, for play that begins when it ends: whoever opens it says that they know.
    async fn although_locked(&mut self) -> Result<(), Failure> {
        let view = self.look().await?;
        let locks = &view.table.situation.locks;
        if locks.is_empty() || view.table.state.mode != "closed" {
            return Ok(());
        }
        for lock in locks {
            say(&describe_lock(lock, &view))?;
        }
        loop {
            let question = "No round starts before that has ended. Open all the same? [y/n]";
            match self.typed(question)?.as_deref() {
                Some("y" | "yes") => return Ok(()),
                Some("n" | "no" | "q" | "quit") | None => {
                    return Err(Failure::failed("nothing was begun; the table stays closed"));
                }
                Some(_) => {}
            }
        }
    }

    /// Waits until every device that the game needs answers: without one no check can be made, and no table opened.
    async fn with_devices(&mut self) -> Result<(), Failure> {
        loop {
            let view = self.look().await?;
            let away = away(&view);
            if away.is_empty() {
                return Ok(());
            }
            say(&format!("these devices don't answer:\n{}", away.join("\n")))?;
            self.line("Check cable and power, then press Enter (q: stop)").await?;
        }
    }

    /// One check after another, as the table's game needs them.
    async fn guided(&mut self, extent: Extent) -> Result<String, Failure> {
        self.although_locked().await?;
        say(&self.act(Act::BeginOpening {}).await?)?;
        say("Answer y (yes), n (no) or q (stop; the table stays closed).")?;
        let begun = self.look().await?;
        for name in &begun.table.situation.checks {
            let check = known(name)?;
            if check != Check::Devices {
                self.with_devices().await?;
            }
            match check {
                Check::Devices => self.devices().await?,
                Check::LampWalk => self.lamp_walk().await?,
                Check::TestEntries => self.test_entries(&entries::of(&begun, extent)).await?,
                Check::Tumbler => self.tumbler(&begun).await?,
                Check::Seal => self.seal().await?,
                Check::Dice => self.dice(&begun).await?,
            }
        }
        let view = self.look().await?;
        if view.table.checks.iter().any(|check| !check.passed) {
            let failure = not_passed(&view);
            self.act(Act::AbandonOpening {}).await?;
            return Err(failure);
        }
        self.with_devices().await?;
        self.act(Act::CompleteOpening {}).await
    }

    async fn devices(&mut self) -> Result<(), Failure> {
        loop {
            let view = self.look().await?;
            if recorded(&view, Check::Devices).is_some_and(|check| check.passed) {
                return say("devices: seen by their links.");
            }
            let away: Vec<_> = view.links.iter().filter_map(not_up).collect();
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
        say("lamps: every lamp is lit in turn; watch them.")?;
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
        let said = self.ask("Did every lamp light up, one after another?").await?;
        let text = match said {
            Said::Yes => "every lamp was seen lit by a person",
            Said::No | Said::Light => "not every lamp was seen lit",
        };
        self.record(Check::LampWalk, said, text).await
    }

    /// One after another, each recorded; one that is left for later comes again when the others are through.
    async fn test_entries(&mut self, entries: &[TestEntry]) -> Result<(), Failure> {
        let mut lit_from_here = 0;
        let mut confirmed = 0;
        let mut left: VecDeque<&TestEntry> = entries.iter().collect();
        while let Some(entry) = left.pop_front() {
            let keys = entry.keys();
            say(&format!(
                "test entry {} of {}: press {keys} and ENTER on the terminal. {}",
                confirmed + 1,
                entries.len(),
                entry.seen()
            ))?;
            match self.test_entry(entry).await? {
                Confirmed::AtTheTerminal => confirmed += 1,
                Confirmed::LitFromHere => {
                    confirmed += 1;
                    lit_from_here += 1;
                }
                Confirmed::Not(Then::Later) => left.push_back(entry),
                Confirmed::Not(Then::Again) => left.push_front(entry),
                Confirmed::Not(Then::Failed) => {
                    let text = format!("entry {keys} was not shown as it must be");
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

    /// Asks for one test entry until it was made, or shown from here, and looked at: a "y" before that confirms nothing.
    async fn test_entry(&mut self, entry: &TestEntry) -> Result<Confirmed, Failure> {
        let keys = entry.keys();
        let mut how = Confirmed::AtTheTerminal;
        loop {
            let question = "Is exactly that shown? (l: show it without the terminal)";
            match self.ask_or_light(question).await? {
                Said::Yes if entry.is_made(&self.look().await?) => {
                    self.with_devices().await?;
                    let Some(text) = self.as_it_must_be().await? else {
                        return self.not_as_it_must_be(entry).await.map(Confirmed::Not);
                    };
                    self.act(Act::RecordEntry { passed: true, text }).await?;
                    return Ok(how);
                }
                Said::Yes => say(&format!(
                    "no entry of {keys} has come yet: press {keys} and ENTER on the terminal, then look"
                ))?,
                Said::Light => {
                    self.with_devices().await?;
                    say(&self.act(entry.light()).await?)?;
                    how = Confirmed::LitFromHere;
                }
                Said::No => return self.not_as_it_must_be(entry).await.map(Confirmed::Not),
            }
        }
    }

    /// What is recorded of an entry that a person sees shown as it must be; `None`: not when they are told what is measured.
    async fn as_it_must_be(&mut self) -> Result<Option<String>, Failure> {
        let follows = |view: &View| view.table.situation.test_differs.is_empty();
        if self.wait(SHOWN_WITHIN, follows).await?.is_some() {
            return Ok(Some("as it must be".to_owned()));
        }
        let view = self.look().await?;
        let differs: Vec<String> = view.table.situation.test_differs.iter().map(failed_lamp).collect();
        say(&format!("MEASURED OTHERWISE: {}", differs.join("; ")))?;
        match self.ask("Look again: is it shown as it must be all the same?").await? {
            Said::Yes => {
                let text = format!("as it must be, to the eye; measured otherwise: {}", differs.join("; "));
                Ok(Some(text.chars().take(MAX_TEXT).collect()))
            }
            Said::No | Said::Light => Ok(None),
        }
    }

    /// An entry that shows something else, or nothing: what it is, and what becomes of it.
    async fn not_as_it_must_be(&mut self, entry: &TestEntry) -> Result<Then, Failure> {
        if entry.is_made(&self.look().await?) {
            let wrong = self.line("What is wrong? (an area, or Enter alone)").await?;
            let text = match wrong.as_str() {
                "" => "not as it must be".to_owned(),
                wrong => format!("wrong: {wrong}").chars().take(MAX_TEXT).collect(),
            };
            self.act(Act::RecordEntry { passed: false, text }).await?;
        }
        loop {
            let question = "Mended? [a: again now, s: later, f: give up, the check has failed]";
            match self.line(question).await?.as_str() {
                "a" | "again" => return Ok(Then::Again),
                "s" | "later" => return Ok(Then::Later),
                "f" => return Ok(Then::Failed),
                _ => {}
            }
        }
    }

    async fn tumbler(&mut self, view: &View) -> Result<(), Failure> {
        let question = match view.table.style.as_deref() {
            Some("open") => "tumbler: it is started once. Is it clear of hands?",
            Some(_) | None => "tumbler: it is started once. Is the cover on?",
        };
        if self.ask(question).await? != Said::Yes {
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

    /// Only a person can tell: no device of such a table sees its dice or coins before play.
    async fn dice(&mut self, view: &View) -> Result<(), Failure> {
        let (question, seen) = match view.table.game.as_str() {
            "two-up-dice" => (
                "dice: are five dice there, each with three sides of heads and three of tails?",
                "the dice were looked at",
            ),
            "triple-penny-two-up" => (
                "coins: are five coins there, tails marked with a cross?",
                "the coins were looked at",
            ),
            _ => (
                "dice: are the dice and the cup there, and sound?",
                "dice and cup were looked at",
            ),
        };
        let said = self.ask(question).await?;
        self.record(Check::Dice, said, seen).await
    }

    async fn record(&mut self, check: Check, said: Said, text: &str) -> Result<(), Failure> {
        let text = text.to_owned();
        let passed = said == Said::Yes;
        say(&self.act(Act::RecordCheck { check, passed, text }).await?)
    }
}

fn say(text: &str) -> Result<(), Failure> {
    print(&format!("{text}\n"))
}

/// A link that isn't up, and why.
fn not_up(link: &LinkReport) -> Option<String> {
    let is_up = link.state == LinkState::Up;
    (!is_up).then(|| format!("  {} at {}: {}", link.kind.word(), link.port, link.text))
}

/// As the view names the device of a link.
fn word_of(link: &LinkReport) -> &'static str {
    match link.kind {
        Kind::Tumbler => "tumbler",
        Kind::Terminal => "terminal",
        Kind::Lamps => "layout_lamps",
        Kind::Lights => "result_lights",
    }
}

/// The devices that the game needs and that don't answer, each with what its link says.
fn away(view: &View) -> Vec<String> {
    let devices = view.table.state.devices.iter();
    let away = devices.filter(|device| device.needed && !device.online);
    let told = |device: &DeviceView| {
        let link = view.links.iter().find(|link| word_of(link) == device.kind);
        let link = link.and_then(not_up);
        link.unwrap_or_else(|| format!("  {}", device.kind.replace('_', " ")))
    };
    away.map(told).collect()
}

fn name(check: Check) -> &'static str {
    match check {
        Check::Devices => "devices",
        Check::LampWalk => "lamp_walk",
        Check::TestEntries => "test_entries",
        Check::Tumbler => "tumbler",
        Check::Seal => "seal",
        Check::Dice => "dice",
    }
}

/// The check of this name.
fn known(word: &str) -> Result<Check, Failure> {
    let every = [
        Check::Devices,
        Check::LampWalk,
        Check::TestEntries,
        Check::Tumbler,
        Check::Seal,
        Check::Dice,
    ];
    every.into_iter().find(|check| name(*check) == word).ok_or_else(|| {
        Failure::failed(format!(
            "the daemon asks for a check that this command doesn't know ({word}): are they of one version?"
        ))
    })
}

/// The opening of this table needs the check.
fn needs(view: &View, check: Check) -> bool {
    view.table.situation.checks.iter().any(|needed| needed == name(check))
}

fn recorded(view: &View, check: Check) -> Option<&CheckView> {
    view.table.checks.iter().find(|known| known.check == name(check))
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
