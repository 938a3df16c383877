//! The task of one port: opens it, drives the session over it, gives the table what comes in, and opens it again.
//!
//! It waits for the port, for a wish, a command or a question, for room in the table's queue, and for the session's next deadline:
//! there is no clock tick of its own, so an idle link costs its PINGs and nothing else. A port that failed is closed **before**
//! anything is waited for.

mod telling;

use std::fmt::Write;
use std::future::poll_fn;
use std::io;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, sleep_until};

use crate::table::event::DeviceOfflineReason;
use crate::table::indicators::DeviceCommand;
use crate::table::input::Arrival;
use crate::time::{Clock, Uptime};
use crate::wire::message::{DigestRequest, to_device};
use crate::wire::session::{DEFAULT_HOLD_MS, Host, HostConfig, LinkState as HostState, Oddity};

use super::back_off::{BackOff, NOISY};
use super::digest::{self, Asking, DigestAsk};
use super::flood::Flood;
use super::holder::Holders;
use super::outside::{OpenPort, Ports};
use super::port::{Leads, Moved, OpenError};
use super::quality::Quality;
use super::report::{Kind, LinkReport, LinkState, Poor};
use super::reporter::{Reporter, Standing};
use super::tape::Tape;
use super::translate::{self, Memory};
use super::{PortConfig, Wish};

/// Read at once: some frames of the largest size. More waits in the kernel.
const READ_AT_ONCE: usize = 1024;

/// A port that takes nothing of what waits for it within this time is closed and opened anew. The kernel holds some kilobytes
/// besides, so a device that only pauses never gets here.
const WRITE_LIMIT: Duration = Duration::from_secs(2);

/// No answer to greetings for this long: silent.
const SILENCE: Duration = Duration::from_secs(3);

/// How often the port's name is looked at while it is open: one system call.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The task's ends of what connects it with the gateway.
#[derive(Debug)]
pub(super) struct Ends {
    pub(super) inputs: mpsc::Sender<Arrival>,
    pub(super) wishes: watch::Receiver<Wish>,
    pub(super) commands: mpsc::Receiver<DeviceCommand>,
    pub(super) digests: mpsc::Receiver<DigestAsk>,
    pub(super) ask_status: Arc<Notify>,
}

/// One port's task.
pub(super) struct Link {
    config: PortConfig,
    clock: Arc<dyn Clock>,
    ports: Arc<dyn Ports>,
    ends: Ends,
    host: Host,
    memory: Memory,
    /// What the device was asked and has not answered.
    asking: Asking,
    reporter: Reporter,
    /// For whoever wants to see what goes over the line.
    tape: Arc<Tape>,
    back_off: BackOff,
    /// What the table was told last.
    told: Told,
    /// Why the link isn't up, for a person; empty when nothing is known against it.
    trouble: String,
    /// The last time that something else than an unanswered greeting was going on.
    answered: Uptime,
    /// A greeting was going on when it was looked at last.
    greets: bool,
    /// The device fell silent, and nobody has looked yet whether somebody else takes what it says.
    fell_silent: bool,
    /// How often the link was up and went away.
    losses: u64,
    /// Whether the line spoils what it carries.
    quality: Quality,
    /// What the report was last made of.
    shown: Shown,
    /// What of the line's quality it says.
    shown_poor: Option<Poor>,
}

/// What the table was told last of the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Told {
    Nothing,
    Up,
    Down(DeviceOfflineReason),
}

/// What the report is made of; compared, so that it is made anew only when something changed.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Shown {
    state: LinkState,
    trouble: String,
    oddities: Vec<Oddity>,
}

/// The gateway has dropped its ends: the task is over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopped;

/// Why an open port was closed.
#[derive(Debug)]
enum Ending {
    /// The device is gone.
    Gone(io::Error),
    /// The name leads to another device.
    Elsewhere,
    /// The name is gone, and nobody answers.
    Nowhere,
    /// It takes no bytes.
    Stuck,
    /// Somebody else has it open, and takes bytes away.
    Shared(Box<Holders>),
    /// Too much comes.
    Noisy(&'static str),
}

/// What woke the task.
enum Wake {
    Port(io::Result<Moved>),
    Wish,
    Command(DeviceCommand),
    Ask,
    Digest(DigestAsk),
    Room,
    Time,
}

/// Whether the table's queue took everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Delivery {
    Nothing,
    Something,
    NoRoom,
}

impl Link {
    pub(super) fn new(
        config: PortConfig,
        ends: Ends,
        clock: Arc<dyn Clock>,
        ports: Arc<dyn Ports>,
        tape: Arc<Tape>,
    ) -> (Link, watch::Receiver<LinkReport>) {
        let host = host(&config, ports.seed());
        let (reporter, report) = Reporter::new(LinkReport::new(
            Kind::from(config.kind),
            config.path.display().to_string(),
        ));
        let link = Link {
            answered: clock.uptime(),
            greets: false,
            config,
            clock,
            ports,
            ends,
            host,
            memory: Memory::default(),
            asking: Asking::default(),
            reporter,
            tape,
            back_off: BackOff::default(),
            told: Told::Nothing,
            trouble: String::new(),
            fell_silent: false,
            losses: 0,
            quality: Quality::default(),
            shown: Shown {
                state: LinkState::Down,
                trouble: String::new(),
                oddities: Vec::new(),
            },
            shown_poor: None,
        };
        (link, report)
    }

    /// Runs until the gateway drops its ends.
    ///
    /// A broken assertion in here or in the session ends the session, never the task: a terminal that stays dead until somebody
    /// restarts the daemon would be worse, and the other devices know nothing of it.
    pub(super) async fn run(mut self) {
        while let Err(_panic) = AssertUnwindSafe(self.open_again_and_again()).catch_unwind().await {
            tracing::error!(port = %self.config.path.display(), "a defect in this program ended the session");
            self.host = host(&self.config, self.ports.seed());
            self.take_wish(self.clock.uptime());
            if self.recover().await.is_err() {
                return;
            }
        }
    }

    async fn recover(&mut self) -> Result<(), Stopped> {
        let text = self.about(&"a defect in this program ended the session");
        self.tell_down(DeviceOfflineReason::Silent, text).await?;
        self.rest(NOISY).await
    }

    async fn open_again_and_again(&mut self) -> Stopped {
        loop {
            let pause = match self.open().await {
                Err(stopped) => Err(stopped),
                Ok(Ok(port)) => match self.drive(port).await {
                    Ok(ending) => self.ended(ending).await,
                    Err(stopped) => Err(stopped),
                },
                Ok(Err(refusal)) => self.refused(refusal).await,
            };
            let rested = match pause {
                Ok(pause) => self.rest(pause).await,
                Err(stopped) => Err(stopped),
            };
            if let Err(stopped) = rested {
                return stopped;
            }
        }
    }

    async fn open(&self) -> Result<Result<Box<dyn OpenPort>, OpenError>, Stopped> {
        let (path, baud) = (self.config.path.clone(), self.config.baud);
        if let Err(refusal) = self.ports.find(&path, baud) {
            return Ok(Err(refusal));
        }
        self.ports.open(path, baud).await.ok_or(Stopped)
    }

    /// Drives the session over an open port, which is closed when this returns.
    async fn drive(&mut self, mut port: Box<dyn OpenPort>) -> Result<Ending, Stopped> {
        let mut buffer = [0; READ_AT_ONCE];
        let mut out = Vec::new();
        let mut now = self.clock.uptime();
        let (mut took, mut looked) = (now, now);
        let mut flood = Flood::new(now, self.config.baud);
        self.answered = now;
        let resolved = port.resolved().display().to_string();
        self.tape.note(now, &format!("the port was opened: {resolved}"));
        self.reporter.opened(resolved);
        self.host.handle_opened(now);
        loop {
            let delivery = self.deliver()?;
            if delivery == Delivery::Something {
                // The table decides before the acknowledgement is written: people wait for the one, nobody for the other.
                tokio::task::yield_now().await;
            }
            if out.is_empty() {
                took = now;
                self.host.poll_transmit(&mut out);
            }
            self.notice_silence(now).await?;
            self.notice_quality(now).await?;
            self.show(now);
            if std::mem::take(&mut self.fell_silent)
                && let Some(others) = self.others_at(port.resolved()).await?
            {
                return Ok(Ending::Shared(Box::new(others)));
            }
            let mut deadline = self.host.deadline().unwrap_or(now + SILENCE);
            if !out.is_empty() {
                deadline = deadline.min(took + WRITE_LIMIT);
            }
            let wake = self.wake(port.as_mut(), &out, &mut buffer, delivery, deadline).await?;
            now = self.clock.uptime();
            match wake {
                Wake::Port(Ok(Moved::Read(read))) => {
                    self.reporter.read(read);
                    if flood.rises(now, read) {
                        return Ok(Ending::Noisy("more bytes than a device sends"));
                    }
                    let (bytes, tape) = (buffer.get(..read).unwrap_or_default(), &self.tape);
                    self.host
                        .handle_bytes_heard(now, bytes, &mut |heard| tape.heard(now, &heard));
                }
                Wake::Port(Ok(Moved::Written(written))) => {
                    self.reporter.written(written);
                    self.tape.sent(now, out.get(..written).unwrap_or_default());
                    out.drain(..written);
                    took = now;
                }
                Wake::Port(Err(e)) => return Ok(Ending::Gone(e)),
                Wake::Wish => self.take_wish(now),
                Wake::Command(command) => self.command(now, &command),
                Wake::Ask => self.host.request_status(now),
                Wake::Digest(ask) => self.ask_digest(now, ask),
                Wake::Room => {}
                Wake::Time => self.host.handle_deadline(now),
            }
            if self.host.state() == HostState::Noisy {
                return Ok(Ending::Noisy("more than 100 messages in 2 s"));
            }
            if !out.is_empty() && now.since(took) >= WRITE_LIMIT {
                return Ok(Ending::Stuck);
            }
            if now.since(looked) >= LOOK_EVERY {
                looked = now;
                if let Some(ending) = self.look(port.as_ref()) {
                    return Ok(ending);
                }
            }
        }
    }

    /// Who else has an open port: a program of root's can open it beside us at any time.
    async fn others_at(&self, resolved: &Path) -> Result<Option<Holders>, Stopped> {
        let mut others = None;
        for look in 0..2 {
            if look > 0 {
                tokio::time::sleep(SURE_AFTER).await;
            }
            let found = self.ports.others(resolved.to_owned()).await.ok_or(Stopped)?;
            if !found.any() {
                return Ok(None);
            }
            others = Some(found);
        }
        Ok(others)
    }

    /// Whether the port's name still leads to what is open.
    fn look(&self, port: &dyn OpenPort) -> Option<Ending> {
        match port.leads(&self.config.path) {
            Leads::Here => None,
            Leads::Elsewhere => Some(Ending::Elsewhere),
            // udev may make a name anew; a device that works is kept meanwhile.
            Leads::Nowhere if self.host.state() == HostState::Up => None,
            Leads::Nowhere => Some(Ending::Nowhere),
        }
    }

    /// Waits for whatever comes first. The wish comes before the port: a device that talks without end must not hide it.
    async fn wake(
        &mut self,
        port: &mut dyn OpenPort,
        out: &[u8],
        buffer: &mut [u8],
        delivery: Delivery,
        deadline: Uptime,
    ) -> Result<Wake, Stopped> {
        let at = instant(self.clock.as_ref(), deadline);
        let Ends {
            inputs,
            wishes,
            commands,
            digests,
            ask_status,
        } = &mut self.ends;
        tokio::select! {
            biased;
            changed = wishes.changed() => changed.map(|()| Wake::Wish).map_err(|_| Stopped),
            moved = poll_fn(|cx| port.poll_move(cx, out, buffer)) => Ok(Wake::Port(moved)),
            room = inputs.reserve(), if delivery == Delivery::NoRoom => room.map(|_| Wake::Room).map_err(|_| Stopped),
            command = commands.recv() => command.map(Wake::Command).ok_or(Stopped),
            () = ask_status.notified() => Ok(Wake::Ask),
            Some(ask) = digests.recv() => Ok(Wake::Digest(ask)),
            () = sleep_until(at) => Ok(Wake::Time),
        }
    }

    /// Gives the table what the session has, as long as there is room.
    fn deliver(&mut self) -> Result<Delivery, Stopped> {
        let mut delivery = Delivery::Nothing;
        let inputs = self.ends.inputs.clone();
        loop {
            let permit = match inputs.try_reserve() {
                Ok(permit) => permit,
                Err(TrySendError::Full(())) => return Ok(Delivery::NoRoom),
                Err(TrySendError::Closed(())) => return Err(Stopped),
            };
            let Some(event) = self.host.poll_event() else {
                return Ok(delivery);
            };
            if let Some(arrival) = self.take(event) {
                permit.send(arrival);
                delivery = Delivery::Something;
            }
        }
    }

    /// Brings the report up to date.
    fn show(&mut self, now: Uptime) {
        let state = match self.host.state() {
            HostState::Up => LinkState::Up,
            HostState::Welcomed => LinkState::Greeting,
            HostState::Greeting if now.since(self.answered) >= SILENCE => LinkState::Silent,
            HostState::Greeting => LinkState::Greeting,
            HostState::Closed | HostState::WrongDevice | HostState::Noisy => LinkState::Down,
        };
        let oddities = self.host.oddities();
        let poor = self.quality.poor();
        if self.shown_poor != poor {
            self.shown_poor = poor;
            self.reporter.poor(poor);
        }
        if self.shown.state == state && self.shown.trouble == self.trouble && self.shown.oddities == oddities {
            self.reporter.tick(now, &self.host);
            return;
        }
        let mut text = self.trouble.clone();
        for said in oddities.iter().filter_map(|oddity| self.describe_beside(oddity)) {
            let between = if text.is_empty() { "" } else { "; " };
            // Writing to a String can't fail.
            let _ = write!(text, "{between}{said}");
        }
        self.shown = Shown {
            state,
            trouble: self.trouble.clone(),
            oddities: oddities.to_vec(),
        };
        self.reporter.stands(now, Standing { state, text }, &self.host);
    }

    /// Hands the newest wish to the session.
    fn take_wish(&mut self, now: Uptime) {
        let wish = translate::wish(self.config.kind, &self.ends.wishes.borrow_and_update());
        if let Some(wish) = wish {
            self.host.set_wish(now, wish);
        }
    }

    /// Asks the device for its digest. A question that it had before is lost.
    fn ask_digest(&mut self, now: Uptime, ask: DigestAsk) {
        let seed = ask.seed.clone();
        match self.host.command(now, to_device::Body::Digest(DigestRequest { seed })) {
            Ok(()) => self.asking.asked(ask),
            Err(_not_up) => digest::offline(ask),
        }
    }

    fn command(&mut self, now: Uptime, command: &DeviceCommand) {
        if let Err(error) = self.host.command(now, translate::command(command)) {
            tracing::warn!(device = Kind::from(self.config.kind).word(), %error, "a command was dropped");
        }
    }

    /// Waits with the port closed. A wish is kept for the next session; a command can't be.
    async fn rest(&mut self, pause: Duration) -> Result<(), Stopped> {
        self.show(self.clock.uptime());
        let until = Instant::now() + pause;
        loop {
            let Ends {
                inputs,
                wishes,
                commands,
                digests,
                ask_status,
            } = &mut self.ends;
            // The ends come first: what comes without end while the port is closed must not keep it closed.
            tokio::select! {
                biased;
                () = sleep_until(until) => return Ok(()),
                () = inputs.closed() => return Err(Stopped),
                // An asked-for status comes with the next greeting anyway.
                () = ask_status.notified() => {}
                Some(ask) = digests.recv() => digest::offline(ask),
                changed = wishes.changed() => {
                    changed.map_err(|_| Stopped)?;
                    self.take_wish(self.clock.uptime());
                }
                command = commands.recv() => {
                    let command = command.ok_or(Stopped)?;
                    self.command(self.clock.uptime(), &command);
                }
            }
        }
    }
}

fn host(config: &PortConfig, seed: u64) -> Host {
    let kind = translate::wire_kind(config.kind);
    let config = HostConfig {
        kind: Some(kind),
        lamp_count: config.lamps_needed,
        table: config.table.clone(),
        hold_ms: DEFAULT_HOLD_MS,
        baud: config.baud,
        tumbler: config.tumbler,
    };
    Host::new(config, seed)
}

/// A process that is being made holds for a moment whatever its maker holds: somebody who is there after this long means it.
const SURE_AFTER: Duration = Duration::from_millis(100);

fn instant(clock: &dyn Clock, deadline: Uptime) -> Instant {
    Instant::now() + deadline.since(clock.uptime())
}
