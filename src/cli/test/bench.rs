//! The connection that a table is tested through, and the person who tests it.

use super::keyboard::Keyboard;
use super::{Course, name};
use crate::cli::daemon::{Acting, done, unexpected, unreachable};
use crate::cli::ending::{Failure, for_terminal, print};
use crate::control::client::Client;
use crate::control::{Act, Answer, LightWord, Request, TestedDevice};
use crate::gateway::{TestView, View};
use crate::table::view::DeviceTestView;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

/// How often the daemon is looked at while something at the table is waited for: a person notices nothing shorter.
const LOOK_EVERY: Duration = Duration::from_millis(40);

/// The same while a lamp is read back, which takes some ten milliseconds.
const READ_BACK_EVERY: Duration = Duration::from_millis(10);

/// A board answers every picture, and more than 100 messages in 2 s are a noisy link: a lamp is lit at least this long.
const FASTEST: Duration = Duration::from_millis(25);

/// What the daemon has said yes to shows in its view within this time, or it is stuck.
const SHOWN_WITHIN: Duration = Duration::from_secs(15);

/// Who answers questions.
pub(super) enum Hands {
    /// A person at a terminal.
    Keyboard(Keyboard),
    /// Nobody.
    None,
}

/// What came while something was waited for.
pub(super) enum Came {
    /// What was waited for.
    It(Box<DeviceTestView>),
    /// A line was typed.
    Line(String),
    /// The terminal is gone, or nobody is there.
    Nobody,
    /// Nothing, within the time.
    Nothing,
    /// The test has ended: its device went away.
    Ended,
}

/// A table under test.
pub(super) struct Bench {
    client: Client,
    by: Option<String>,
    hands: Hands,
    /// Results go to standard output as JSON: what is said to a person goes elsewhere.
    json: bool,
    /// A line of progress stands on the terminal, to be overwritten.
    in_progress: bool,
    /// Pictures that were commanded in this test.
    pictures: u32,
    /// The newest event before this test.
    before: u64,
    pub(super) pace: Duration,
    pub(super) wait: Duration,
    pub(super) each: bool,
}

impl Bench {
    pub(super) async fn connect(socket: &Path, hands: Hands, acting: &Acting) -> Result<Bench, Failure> {
        Ok(Bench {
            client: Client::connect(socket).await.map_err(unreachable)?,
            by: acting.by.clone(),
            hands,
            json: acting.json,
            in_progress: false,
            pictures: 0,
            before: 0,
            pace: FASTEST,
            wait: Duration::ZERO,
            each: false,
        })
    }

    /// A person is there to be asked.
    pub(super) fn has_hands(&self) -> bool {
        match self.hands {
            Hands::Keyboard(_) => true,
            Hands::None => false,
        }
    }

    // ---- The daemon ----

    pub(super) async fn act(&mut self, act: Act) -> Result<String, Failure> {
        done(self.ask_for(act).await?)
    }

    async fn ask_for(&mut self, act: Act) -> Result<Answer, Failure> {
        self.client.act(act, self.by.as_deref()).await.map_err(unreachable)
    }

    pub(super) async fn look(&mut self) -> Result<View, Failure> {
        let answer = self.client.ask(&Request::Look {}).await.map_err(unreachable)?;
        answer.view().map_err(|other| unexpected(&other))
    }

    /// Looks until the view shows what was done.
    async fn shown(&mut self, seen: impl Fn(&View) -> bool) -> Result<View, Failure> {
        let until = Instant::now() + SHOWN_WITHIN;
        loop {
            let view = self.look().await?;
            if seen(&view) {
                return Ok(view);
            }
            if Instant::now() >= until {
                return Err(Failure::failed("the daemon does not show what it has done; try again"));
            }
            tokio::time::sleep(READ_BACK_EVERY).await;
        }
    }

    pub(super) async fn enter(&mut self) -> Result<(), Failure> {
        let text = self.act(Act::EnterTest {}).await?;
        self.shown(|view| view.table.state.mode == "test").await?;
        self.say(&text)
    }

    /// Leaves test mode; what the table is then.
    pub(super) async fn leave(&mut self) -> Result<View, Failure> {
        // A test that was stopped has left it.
        let view = self.look().await?;
        if view.table.state.mode != "test" {
            return Ok(view);
        }
        self.act(Act::LeaveTest {}).await?;
        self.shown(|view| view.table.state.mode != "test").await
    }

    /// Begins a device's test; else says why not.
    pub(super) async fn begin(&mut self, device: TestedDevice) -> Result<Result<(), String>, Failure> {
        self.before = self.look().await?.table.journal.seqno;
        self.pictures = 0;
        let answer = self.ask_for(Act::BeginTest { device }).await?;
        if let Answer::Refused { text, .. } = answer {
            return Ok(Err(text));
        }
        done(answer)?;
        let before = self.before;
        self.shown(|view| view.table.situation.device_test.is_some() || ended(view, device, before).is_some())
            .await?;
        Ok(Ok(()))
    }

    /// Ends it, unless its device's going away has ended it; what was recorded. One that was stopped is broken off, which leaves test mode.
    pub(super) async fn end(&mut self, device: TestedDevice, course: Course) -> Result<TestView, Failure> {
        self.clear()?;
        let before = self.before;
        let view = self.look().await?;
        if ended(&view, device, before).is_none() {
            // A device that goes away at this moment has ended it.
            let end = match course {
                Course::Through => Act::EndTest {},
                Course::Stopped => Act::LeaveTest {},
            };
            self.ask_for(end).await?;
        }
        let view = self.shown(|view| ended(view, device, before).is_some()).await?;
        ended(&view, device, before)
            .cloned()
            .ok_or_else(|| Failure::failed("the daemon has recorded no result"))
    }

    /// Lights one lamp, or none, and waits until it is judged; `None`: the test has ended.
    pub(super) async fn light(&mut self, bit: Option<u16>) -> Result<Option<DeviceTestView>, Failure> {
        let answer = self.ask_for(Act::TestLamp { bit }).await?;
        if self.unless_ended(answer).await?.is_none() {
            return Ok(None);
        }
        self.pictures = self.pictures.saturating_add(1);
        let pictures = self.pictures;
        let view = self
            .shown(|view| match &view.table.situation.device_test {
                Some(test) => test.pictures == pictures && test.judged,
                None => true,
            })
            .await?;
        Ok(view.table.situation.device_test)
    }

    /// What the person sees of a lamp or a readout; `None`: the test has ended.
    pub(super) async fn seen(&mut self, part: &str, seen: LightWord) -> Result<Option<()>, Failure> {
        let part = part.to_owned();
        let answer = self.ask_for(Act::SayTest { part, seen }).await?;
        self.unless_ended(answer).await
    }

    /// Asks for a part, and for nothing else; `None`: the test has ended.
    pub(super) async fn ask(&mut self, part: &str) -> Result<Option<()>, Failure> {
        let part = part.to_owned();
        let answer = self.ask_for(Act::AskTest { part }).await?;
        self.unless_ended(answer).await
    }

    async fn unless_ended(&mut self, answer: Answer) -> Result<Option<()>, Failure> {
        if let Answer::Refused { .. } = answer
            && self.test().await?.is_none()
        {
            return Ok(None);
        }
        done(answer).map(|_| Some(()))
    }

    /// The test as it stands; `None`: it has ended.
    pub(super) async fn test(&mut self) -> Result<Option<DeviceTestView>, Failure> {
        Ok(self.look().await?.table.situation.device_test)
    }

    /// Waits until the test shows something, a line is typed, or the time is over.
    pub(super) async fn until(
        &mut self,
        within: Duration,
        mut seen: impl FnMut(&DeviceTestView) -> bool,
    ) -> Result<Came, Failure> {
        let until = Instant::now() + within;
        loop {
            let Some(test) = self.test().await? else {
                return Ok(Came::Ended);
            };
            if seen(&test) {
                return Ok(Came::It(Box::new(test)));
            }
            if Instant::now() >= until {
                return Ok(Came::Nothing);
            }
            match self.typed_within(LOOK_EVERY).await {
                Typed::Line(line) => return Ok(Came::Line(line)),
                Typed::Nobody if self.has_hands() => return Ok(Came::Nobody),
                Typed::Nobody | Typed::Nothing => {}
            }
        }
    }

    // ---- The person ----

    /// A line that is typed within this time.
    async fn typed_within(&mut self, within: Duration) -> Typed {
        match &mut self.hands {
            Hands::None => {
                tokio::time::sleep(within).await;
                Typed::Nobody
            }
            Hands::Keyboard(keyboard) => match tokio::time::timeout(within, keyboard.line()).await {
                Ok(Some(line)) => Typed::Line(line),
                Ok(None) => Typed::Nobody,
                Err(_) => Typed::Nothing,
            },
        }
    }

    /// Holds a lamp lit for its time; what is typed meanwhile.
    pub(super) async fn hold(&mut self) -> Typed {
        let pace = match self.has_hands() {
            true => self.pace,
            false => FASTEST,
        };
        self.typed_within(pace).await
    }

    /// Asks, and waits for the answer as long as it takes; `None`: the terminal is gone.
    pub(super) async fn question(&mut self, question: &str) -> Result<Option<String>, Failure> {
        self.clear()?;
        self.out(&format!("{} ", for_terminal(question)))?;
        Ok(match &mut self.hands {
            Hands::Keyboard(keyboard) => keyboard.line().await,
            Hands::None => None,
        })
    }

    /// A line for the person.
    pub(super) fn say(&mut self, text: &str) -> Result<(), Failure> {
        self.clear()?;
        self.out(&format!("{}\n", for_terminal(text)))
    }

    /// A line that the next one overwrites; only on a terminal.
    pub(super) fn progress(&mut self, text: &str) -> Result<(), Failure> {
        let on_terminal = match self.json {
            true => io::stderr().is_terminal(),
            false => io::stdout().is_terminal(),
        };
        if !on_terminal {
            return Ok(());
        }
        self.in_progress = true;
        self.out(&format!("\r\x1b[K{text}"))
    }

    fn clear(&mut self) -> Result<(), Failure> {
        match std::mem::take(&mut self.in_progress) {
            true => self.out("\r\x1b[K"),
            false => Ok(()),
        }
    }

    fn out(&self, text: &str) -> Result<(), Failure> {
        if self.json {
            // Whoever reads the result needs none of it.
            let _closed = io::stderr().write_all(text.as_bytes());
            return Ok(());
        }
        print(text)
    }
}

/// What a person typed.
pub(super) enum Typed {
    Line(String),
    Nothing,
    Nobody,
}

/// The record of this device's test, once it is there.
fn ended(view: &View, device: TestedDevice, before: u64) -> Option<&TestView> {
    let tests = view.table.tests.iter();
    tests
        .filter(|test| test.seqno > before)
        .find(|test| test.of == name(device))
}
