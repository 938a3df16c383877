//! The gateway's side of a link: greets, delivers the wish, takes reports, watches that the device is alive. PURE.

mod events;
mod greeting;
mod health;
mod heard;
mod oddities;
mod receive;

pub use events::{Age, Counters, DownReason, HostEvent, Oddity, Status, Wish};
pub use health::Silence;
pub use heard::{Disclosure, Heard};

use super::clock::{DeviceClock, RoundTrips};
use super::delivery::{Due, Receiving, Sending};
use super::{Out, retry_unit};
use crate::time::Uptime;
use crate::wire::frame::{self, Decoder, Kind, Side};
use crate::wire::message::{
    DeviceHello, DeviceKind, DicePermit, Mended, StatusRequest, ToDevice, from_device, to_device,
};
use greeting::{Greeting, SessionNumbers};
use oddities::Oddities;
use prost::Message;
use std::collections::VecDeque;
use std::time::Duration;

/// Events that wait to be polled before the host stops acknowledging. Small: a device repeats what it can't get rid of.
pub const MAX_WAITING: usize = 8;
/// Commands that wait behind an unacknowledged one. They come one at a time, by a person's hand.
const MAX_COMMANDS: usize = 4;
/// Nothing valid for this long: the link is down.
const SILENCE: Duration = Duration::from_secs(3);
/// No status this long after WELCOME: new session.
const STATUS_WAIT: Duration = Duration::from_secs(2);
/// PING, from WELCOME on.
const PING_EVERY: Duration = Duration::from_secs(1);
/// A wrong device is greeted again after this.
const WRONG_PAUSE: Duration = Duration::from_secs(10);
/// A noisy link is closed for this long.
const NOISY_PAUSE: Duration = Duration::from_secs(10);
/// An asked-for status that hasn't come for this long was lost; a later message may ask again.
const ANSWER_WAIT: Duration = Duration::from_secs(3);

/// How a tumbler is built, which decides when its readings may be known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TumblerBuild {
    /// Dice lie under a cover: a reading is lawful while the cover is off.
    #[default]
    Covered,
    /// Dice lie open: a reading is lawful once bets are closed (`dice_allowed` of the wish).
    Open,
}

/// What a host knows before it greets.
#[derive(Clone, PartialEq, Debug)]
pub struct HostConfig {
    /// What must answer; `None` takes anything (to see what is there).
    pub kind: Option<DeviceKind>,
    /// Lamps that it must drive to show the layout; 0 for a device without.
    pub lamp_count: u32,
    /// The table's name for HELLO: printable ASCII, at most 32 bytes.
    pub table: String,
    /// When the device shall blank without us, in milliseconds (2000 to 60000).
    pub hold_ms: u32,
    /// The line's speed, from which retries are timed.
    pub baud: u32,
    /// How the tumbler is built; of no matter for other devices.
    pub tumbler: TumblerBuild,
}

/// The state of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkState {
    /// The port isn't open.
    Closed,
    /// HELLO goes out; no WELCOME yet.
    Greeting,
    /// WELCOME came; its status not yet.
    Welcomed,
    /// In use.
    Up,
    /// Something answers that isn't what the port is configured for.
    WrongDevice,
    /// It sent too much and isn't listened to for 10 s.
    Noisy,
}

/// Why a command can't be taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CommandRefused {
    /// The link isn't up. Nothing is kept: a command can't be repeated.
    #[error("the device isn't connected")]
    NotUp,
    /// Too many wait already.
    #[error("{MAX_COMMANDS} commands wait already")]
    Busy,
}

/// The gateway's side of one link.
#[derive(Debug)]
pub struct Host {
    config: HostConfig,
    numbers: SessionNumbers,
    decoder: Decoder,
    out: Out,
    phase: Phase,
    wish: Option<Wish>,
    events: VecDeque<HostEvent>,
    /// The wrong device that was last told of, so that it is told once.
    wrong: Option<DeviceHello>,
    oddities: Oddities,
    trips: RoundTrips,
    silence: Silence,
    counters: Counters,
    mended: Mended,
}

#[derive(Debug)]
enum Phase {
    Closed,
    Greeting(Greeting),
    Session(Box<Session>),
    Wrong { until: Uptime },
    Noisy { until: Uptime },
}

/// A session from WELCOME to its end.
#[derive(Debug)]
struct Session {
    number: u32,
    hello: DeviceHello,
    welcomed: Uptime,
    progress: Progress,
    heard: Uptime,
    ping_at: Uptime,
    clock: DeviceClock,
    sending: Sending<to_device::Body>,
    receiving: Receiving,
    status: StatusAsked,
    wish: WishState,
    commands: VecDeque<to_device::Body>,
    /// When the newest DATA frames were accepted, for the measure of noise.
    recent: VecDeque<Uptime>,
    /// `dice_allowed` of the last acknowledged wish.
    dice_allowed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Progress {
    /// No status yet.
    Welcomed,
    /// The status came. `entry`: of a terminal, the number found; no readout of that number goes out.
    Up { entry: Option<u32> },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum StatusAsked {
    No,
    Wanted,
    Sent { at: Uptime },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WishState {
    Sent,
    Unsent,
}

impl Host {
    /// A host whose port isn't open yet. `seed` should be random: session numbers are drawn from it.
    #[must_use]
    pub fn new(config: HostConfig, seed: u64) -> Self {
        Host {
            config,
            numbers: SessionNumbers::new(seed),
            decoder: Decoder::new(Side::Host),
            out: Out::default(),
            phase: Phase::Closed,
            wish: None,
            events: VecDeque::new(),
            wrong: None,
            oddities: Oddities::default(),
            trips: RoundTrips::default(),
            silence: Silence::default(),
            counters: Counters::default(),
            mended: Mended::default(),
        }
    }

    // Inputs.

    /// The port is open and what was buffered is discarded: greet.
    pub fn handle_opened(&mut self, now: Uptime) {
        self.decoder.restart();
        self.out.bytes.clear();
        self.silence.opened(now);
        self.greet(now);
    }

    /// The port is gone. Ends the session without an event: whoever closed it knows why.
    pub fn handle_closed(&mut self) {
        self.phase = Phase::Closed;
        self.silence.closed();
        self.out.bytes.clear();
        self.wrong = None;
        self.oddities.forget();
    }

    /// Bytes came in, in pieces of any size.
    pub fn handle_bytes(&mut self, now: Uptime, bytes: &[u8]) {
        self.handle_bytes_heard(now, bytes, &mut |_| {});
    }

    /// The same; `hear` is given everything that came between two zero bytes, as it came, and whether it may be shown to anybody.
    pub fn handle_bytes_heard(&mut self, now: Uptime, bytes: &[u8], hear: &mut dyn FnMut(Heard<'_>)) {
        if matches!(self.phase, Phase::Closed | Phase::Noisy { .. }) {
            return;
        }
        let mut rest = bytes;
        while let Some(received) = self.decoder.next(&mut rest) {
            hear(Heard {
                stretch: self.decoder.stretch(),
                disclosure: self.disclosure(&received),
                received: &received,
            });
            self.take(now, received);
        }
        self.handle_deadline(now);
    }

    /// Time has passed. Harmless when nothing is due.
    pub fn handle_deadline(&mut self, now: Uptime) {
        match &mut self.phase {
            Phase::Closed => {}
            Phase::Greeting(greeting) => greeting.run(now, &mut self.out),
            Phase::Wrong { until } | Phase::Noisy { until } => {
                if now >= *until {
                    self.decoder.restart();
                    self.greet(now);
                }
            }
            Phase::Session(_) => self.run_session(now),
        }
        let unrelated_since = match &self.phase {
            Phase::Session(session) => Some(session.clock.unrelated_since()),
            Phase::Closed | Phase::Greeting(_) | Phase::Wrong { .. } | Phase::Noisy { .. } => None,
        };
        self.oddities
            .weigh(now, self.decoder.seen().bytes_since_frame, unrelated_since);
    }

    /// What the device should show from now on. Goes out as soon as nothing is unacknowledged; a newer wish replaces one that waits. A
    /// `Readout` goes out each time it is set, lamps and inhibit only when they differ from what was last sent. A `Readout` set before
    /// [`HostEvent::Up`] is forgotten then: it can't know the entry number that the terminal was found with.
    pub fn set_wish(&mut self, now: Uptime, wish: Wish) {
        debug_assert!(
            self.config.kind.is_none_or(|kind| wish.is_for(kind)),
            "a wish for another kind of device"
        );
        let changed = self.wish.as_ref() != Some(&wish) || matches!(wish, Wish::Terminal(_));
        self.wish = Some(wish);
        if let Phase::Session(session) = &mut self.phase
            && changed
        {
            session.wish = WishState::Unsent;
        }
        self.pump(now);
    }

    /// A command that can't be repeated (`Spin`, `DigestRequest`). It goes out after the wish that waits, and is lost with the session.
    ///
    /// # Errors
    ///
    /// When the link isn't up, or too many wait.
    pub fn command(&mut self, now: Uptime, command: to_device::Body) -> Result<(), CommandRefused> {
        let Phase::Session(session) = &mut self.phase else {
            return Err(CommandRefused::NotUp);
        };
        if session.progress == Progress::Welcomed {
            return Err(CommandRefused::NotUp);
        }
        if session.commands.len() >= MAX_COMMANDS {
            return Err(CommandRefused::Busy);
        }
        session.commands.push_back(command);
        self.pump(now);
        Ok(())
    }

    /// Ask for the whole status; it comes as messages that count as happening when they arrive. Without effect while the link isn't up: a
    /// greeting asks anyway.
    pub fn request_status(&mut self, now: Uptime) {
        if let Phase::Session(session) = &mut self.phase {
            session.status = StatusAsked::Wanted;
        }
        self.pump(now);
    }

    // Outputs.

    /// Appends everything that must be written to `out`; false when there was nothing.
    pub fn poll_transmit(&mut self, out: &mut Vec<u8>) -> bool {
        self.out.poll(out)
    }

    /// The next event, oldest first. Each one taken makes room for another.
    pub fn poll_event(&mut self) -> Option<HostEvent> {
        if let Some(event) = self.events.pop_front() {
            return Some(event);
        }
        self.oddities.poll()
    }

    /// When [`Self::handle_deadline`] must be called next.
    #[must_use]
    pub fn deadline(&self) -> Option<Uptime> {
        let phase = match &self.phase {
            Phase::Closed => None,
            Phase::Greeting(greeting) => Some(greeting.next),
            Phase::Wrong { until } | Phase::Noisy { until } => Some(*until),
            Phase::Session(session) => {
                let mut first = session.ping_at.min(session.heard + SILENCE);
                if session.progress == Progress::Welcomed {
                    first = first.min(session.welcomed + STATUS_WAIT);
                }
                Some(session.sending.deadline().map_or(first, |sending| sending.min(first)))
            }
        };
        // Oddities end with the next PING or HELLO after their time: they need no alarm of their own.
        phase
    }

    // Getters.

    /// The link's state.
    #[must_use]
    pub fn state(&self) -> LinkState {
        match &self.phase {
            Phase::Closed => LinkState::Closed,
            Phase::Greeting(_) => LinkState::Greeting,
            Phase::Session(session) => match session.progress {
                Progress::Welcomed => LinkState::Welcomed,
                Progress::Up { .. } => LinkState::Up,
            },
            Phase::Wrong { .. } => LinkState::WrongDevice,
            Phase::Noisy { .. } => LinkState::Noisy,
        }
    }

    /// Who answered, from WELCOME on.
    #[must_use]
    pub fn identity(&self) -> Option<&DeviceHello> {
        match &self.phase {
            Phase::Session(session) => Some(&session.hello),
            Phase::Wrong { .. } => self.wrong.as_ref(),
            Phase::Closed | Phase::Greeting(_) | Phase::Noisy { .. } => None,
        }
    }

    /// A device's time (milliseconds of its clock) in the host's; `None` when the clocks can't be related at `now`.
    #[must_use]
    pub fn relate(&self, now: Uptime, device_ms: u32) -> Option<Uptime> {
        match &self.phase {
            Phase::Session(session) => session.clock.relate(now, device_ms),
            Phase::Closed | Phase::Greeting(_) | Phase::Wrong { .. } | Phase::Noisy { .. } => None,
        }
    }

    /// Oddities that stand, for a person.
    #[must_use]
    pub fn oddities(&self) -> &[Oddity] {
        self.oddities.standing()
    }

    /// Round trips of PINGs.
    #[must_use]
    pub fn round_trips(&self) -> &RoundTrips {
        &self.trips
    }

    /// Everything counted since this host was made.
    #[must_use]
    pub fn counters(&self) -> Counters {
        Counters {
            seen: self.decoder.seen(),
            mended: self.mended,
            frames_out: self.out.frames,
            frames_not_written: self.out.dropped,
            ..self.counters
        }
    }

    /// T of this line (see [`retry_unit`]).
    #[must_use]
    pub fn retry_unit(&self) -> Duration {
        retry_unit(self.config.baud)
    }

    // A session's course.

    fn run_session(&mut self, now: Uptime) {
        let Phase::Session(session) = &mut self.phase else {
            return;
        };
        if now >= session.heard + SILENCE {
            return self.end_session(now, DownReason::Silent);
        }
        if session.progress == Progress::Welcomed && now >= session.welcomed + STATUS_WAIT {
            return self.end_session(now, DownReason::NoStatus);
        }
        if self.oddities.has_echoed_since(session.welcomed, now) {
            return self.end_session(now, DownReason::Looped);
        }
        match session.sending.due(now) {
            Due::Nothing => {}
            Due::Again(bytes) => {
                self.counters.repeats_out += 1;
                self.out.raw(bytes);
            }
            Due::GaveUp => return self.end_session(now, DownReason::Unacknowledged),
        }
        if now >= session.ping_at {
            session.ping_at = now + PING_EVERY;
            let number = session.clock.ask(now);
            self.out.frame(Kind::Ping, number, &[]);
        }
        self.pump(now);
    }

    /// The session is over: tell, if the link was up, and begin again.
    fn end_session(&mut self, now: Uptime, reason: DownReason) {
        if self.state() == LinkState::Up {
            self.events.push_back(HostEvent::Down(reason));
        }
        self.counters.sessions_lost += 1;
        self.greet(now);
    }

    fn greet(&mut self, now: Uptime) {
        let mut greeting = Greeting::new(now, self.numbers.draw(), &self.config);
        greeting.run(now, &mut self.out);
        self.phase = Phase::Greeting(greeting);
    }

    /// Sends what waits, if nothing is unacknowledged: status request, wish, commands.
    fn pump(&mut self, now: Uptime) {
        let Phase::Session(session) = &mut self.phase else {
            return;
        };
        if !session.sending.is_idle() {
            return;
        }
        let Some(body) = session.next_body(now, self.wish.as_ref()) else {
            return;
        };
        let message = ToDevice {
            body: Some(body.clone()),
        };
        let mut bytes = Vec::new();
        let encoded = frame::encode(
            Kind::Data,
            session.sending.number(),
            &message.encode_to_vec(),
            &mut bytes,
        );
        assert!(encoded.is_ok(), "a command that doesn't fit into a frame: {encoded:?}");
        self.out.raw(&bytes);
        session.sending.start(now, body, bytes);
    }
}

impl Session {
    /// What goes out next, marked as sent.
    fn next_body(&mut self, now: Uptime, wish: Option<&Wish>) -> Option<to_device::Body> {
        if self.status == StatusAsked::Wanted {
            self.status = StatusAsked::Sent { at: now };
            return Some(to_device::Body::Status(StatusRequest {}));
        }
        let Progress::Up { entry } = self.progress else {
            return None;
        };
        if self.wish == WishState::Unsent
            && let Some(wish) = wish
            && wish.may_follow(entry)
        {
            self.wish = WishState::Sent;
            return Some(wish.clone().into());
        }
        self.commands.pop_front()
    }

    /// When this session's tumbler may tell its dice.
    fn dice_permit(&self, build: TumblerBuild, wish: Option<&Wish>) -> DicePermit {
        let wished = matches!(wish, Some(Wish::Tumbler(inhibit)) if inhibit.dice_allowed);
        match build {
            TumblerBuild::Covered => DicePermit::Uncovered,
            TumblerBuild::Open if wished || self.dice_allowed => DicePermit::BetsClosed,
            TumblerBuild::Open => DicePermit::Never,
        }
    }

    /// Whether a device of this kind sends this body.
    fn expects(&self, body: &from_device::Body) -> bool {
        use from_device::Body;
        let kind = self.hello.kind();
        match body {
            Body::Tumbler(_) => kind == DeviceKind::Tumbler,
            Body::Key(_) | Body::Entry(_) | Body::Contact(_) | Body::Terminal(_) => kind == DeviceKind::Terminal,
            Body::Lamps(_) => matches!(kind, DeviceKind::LayoutLamps | DeviceKind::ResultLights),
            Body::Fault(_) | Body::Digest(_) => true,
        }
    }
}
