//! A device's side of a link, whole: greeting, delivery, and going quiet when the host is gone. PURE.
//!
//! What a device does with a message (lamps, readout, dice) is its owner's business; see [`DeviceEvent`]. The owner calls
//! [`Device::report`] for each change and [`Device::answer_status`] when the status was asked for.

mod queue;

use super::delivery::{Due, Order, Receiving, Sending};
use super::{DEFAULT_HOLD_MS, MAX_HOLD_MS, MIN_HOLD_MS, Out, RESET_PAUSE, retry_unit};
use crate::time::Uptime;
use crate::wire::frame::{self, Decoder, Frame, Kind, Received, Side};
use crate::wire::message::{self, DeviceHello, DeviceKind, FromDevice, HostHello, Mended, from_device, to_device};
use prost::Message;
use queue::{Queue, Waiting};
use std::collections::VecDeque;
use std::time::Duration;

/// Events that wait to be polled before the device stops acknowledging.
const MAX_WAITING: usize = 16;

/// What a device knows of itself.
#[derive(Clone, PartialEq, Debug)]
pub struct DeviceConfig {
    /// What it is.
    pub kind: DeviceKind,
    /// Printable ASCII, at most 32 bytes.
    pub serial_number: String,
    /// Printable ASCII, at most 32 bytes.
    pub firmware: String,
    /// Another one at each start.
    pub boot_id: u32,
    /// Lamps that it drives; 0 for a device without.
    pub lamp_count: u32,
    /// SHA-256 of its firmware image, or empty.
    pub firmware_digest: Vec<u8>,
    /// The line's speed, from which retries are timed.
    pub baud: u32,
    /// Its clock when it starts, in milliseconds; it counts from there and wraps.
    pub uptime_ms: u32,
}

/// What a device's owner must know.
#[derive(Clone, PartialEq, Debug)]
pub enum DeviceEvent {
    /// A new session began. Lamps, readout and inhibit stay as they are.
    Greeted {
        /// The table's name.
        table: String,
        /// How long to keep showing without a host.
        hold: Duration,
    },
    /// A message of the host, in order, once. On `Status` call [`Device::answer_status`].
    Accepted(to_device::Body),
    /// The host acknowledged a report.
    Acknowledged(from_device::Body),
    /// The session is over: ignore keys, show `---`; lamps and inhibit stay.
    SessionEnded,
    /// Nothing heard for the hold time: blank the lamps, show `---`, lift the inhibit.
    HostGone,
}

/// What a device has counted since it started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub struct DeviceCounters {
    /// Frames and noise that came in.
    pub seen: frame::Seen,
    /// Messages that were mended.
    pub mended: Mended,
    /// Frames written, repeats included.
    pub frames_out: u64,
    /// DATA sent again.
    pub repeats_out: u64,
    /// DATA that came again.
    pub repeats_in: u64,
    /// DATA acknowledged and dropped: no message, or no body known here.
    pub no_message: u64,
    /// HELLOs that were none, or of session 0.
    pub bad_hellos: u64,
    /// HELLOs whose `hold_ms` was outside its range.
    pub clamped_holds: u64,
    /// Reports dropped because there was no session.
    pub unsent: u64,
}

/// A device's side of one link.
#[derive(Debug)]
pub struct Device {
    config: DeviceConfig,
    booted: Uptime,
    decoder: Decoder,
    out: Out,
    session: Option<Session>,
    hold: Duration,
    /// The last valid frame other than HELLO, session or not.
    heard: Uptime,
    presence: Presence,
    reset_sent: Option<Uptime>,
    events: VecDeque<DeviceEvent>,
    counters: DeviceCounters,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Presence {
    /// Heard within the hold time.
    Host,
    /// Not; the owner was told.
    Gone,
}

#[derive(Debug)]
struct Session {
    number: u32,
    /// The WELCOME as it stands on the line: the answer to every HELLO of this session.
    welcome: Vec<u8>,
    began: Uptime,
    wished: Wished,
    status: StatusState,
    sending: Sending<from_device::Body>,
    receiving: Receiving,
    queue: Queue,
}

/// Whether the host has said in this session what to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wished {
    NotYet,
    Yes,
}

/// A device sends nothing before the status was asked for, and the status first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum StatusState {
    NotAsked,
    Asked,
    Given,
}

impl Device {
    /// A device that starts at `now`: it sends one RESET.
    #[must_use]
    pub fn new(config: DeviceConfig, now: Uptime) -> Self {
        let mut device = Device {
            config,
            booted: now,
            decoder: Decoder::new(Side::Device),
            out: Out::default(),
            session: None,
            hold: Duration::from_millis(u64::from(DEFAULT_HOLD_MS)),
            heard: now,
            presence: Presence::Host,
            reset_sent: None,
            events: VecDeque::new(),
            counters: DeviceCounters::default(),
        };
        device.reset(now);
        device
    }

    // Inputs.

    /// Bytes came in, in pieces of any size.
    pub fn handle_bytes(&mut self, now: Uptime, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(received) = self.decoder.next(&mut rest) {
            match received {
                Received::Frame(frame) => self.take(now, &frame),
                Received::OtherVersion(_) | Received::Echo(_) | Received::UnknownKind(_) | Received::Noise(_) => {}
            }
        }
        self.handle_deadline(now);
    }

    /// Time has passed. Harmless when nothing is due.
    pub fn handle_deadline(&mut self, now: Uptime) {
        if self.presence == Presence::Host && now >= self.heard + self.hold {
            self.lose_host();
        }
        let Some(session) = &mut self.session else {
            return;
        };
        if session.wished == Wished::NotYet && now >= session.began + self.hold {
            return self.lose_host();
        }
        match session.sending.due(now) {
            Due::Nothing => {}
            Due::Again(bytes) => {
                self.counters.repeats_out += 1;
                self.out.raw(bytes);
            }
            Due::GaveUp => self.drop_session(now),
        }
        self.pump(now);
    }

    /// Something happened at `happened` (the device's own time, not after `now`). Without a session it is dropped: a key of then never
    /// arrives later, and states are asked for at the next greeting.
    pub fn report(&mut self, now: Uptime, happened: Uptime, body: from_device::Body) {
        let uptime_ms = self.uptime_ms(happened);
        let Some(session) = &mut self.session else {
            self.counters.unsent += 1;
            return;
        };
        if session.queue.push(Waiting { uptime_ms, body }).is_err() {
            // More keys than a person presses while a line is slow: whoever listens has lost the thread.
            return self.drop_session(now);
        }
        self.pump(now);
    }

    /// The whole status, after `Accepted(Status)`, and each fault that stands.
    pub fn answer_status(&mut self, now: Uptime, status: from_device::Body, faults: Vec<message::DeviceFault>) {
        let uptime_ms = self.uptime_ms(now);
        let Some(session) = &mut self.session else {
            return;
        };
        let status = Waiting {
            uptime_ms,
            body: status,
        };
        if session.status == StatusState::Given {
            // A status is no key: there is always room for it.
            let _ = session.queue.push(status);
        } else {
            session.queue.push_first(status);
            session.status = StatusState::Given;
        }
        for fault in faults {
            let body = from_device::Body::Fault(fault);
            let _ = session.queue.push(Waiting { uptime_ms, body });
        }
        self.pump(now);
    }

    // Outputs.

    /// Appends everything that must be written to `out`; false when there was nothing.
    pub fn poll_transmit(&mut self, out: &mut Vec<u8>) -> bool {
        self.out.poll(out)
    }

    /// The next event, oldest first.
    pub fn poll_event(&mut self) -> Option<DeviceEvent> {
        self.events.pop_front()
    }

    /// When [`Self::handle_deadline`] must be called next.
    #[must_use]
    pub fn deadline(&self) -> Option<Uptime> {
        let hold = (self.presence == Presence::Host).then(|| self.heard + self.hold);
        let session = self.session.as_ref().and_then(|session| {
            let unwished = (session.wished == Wished::NotYet).then(|| session.began + self.hold);
            earlier(unwished, session.sending.deadline())
        });
        earlier(hold, session)
    }

    // Getters.

    /// Whether a session runs; without one, keys are ignored.
    #[must_use]
    pub fn has_session(&self) -> bool {
        self.session.is_some()
    }

    /// Whether a report would go out at once: in session, the status given, nothing unacknowledged, nothing waiting.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let idle = |session: &Session| {
            session.status == StatusState::Given && session.sending.is_idle() && session.queue.is_empty()
        };
        self.session.as_ref().is_some_and(idle)
    }

    /// The device's clock at `at`, in milliseconds; wraps.
    #[must_use]
    pub fn uptime_ms(&self, at: Uptime) -> u32 {
        // Wraps as the device's 32 bits do; a time before the start counts back from it.
        let wrapped = |span: Duration| u32::try_from(span.as_millis() % (1 << 32)).unwrap_or(0);
        self.config
            .uptime_ms
            .wrapping_add(wrapped(at.since(self.booted)))
            .wrapping_sub(wrapped(self.booted.since(at)))
    }

    /// What it knows of itself.
    #[must_use]
    pub fn config(&self) -> &DeviceConfig {
        &self.config
    }

    /// Everything counted since it started.
    #[must_use]
    pub fn counters(&self) -> DeviceCounters {
        DeviceCounters {
            seen: self.decoder.seen(),
            frames_out: self.out.frames,
            ..self.counters
        }
    }

    // A session's course.

    fn take(&mut self, now: Uptime, frame: &Frame) {
        if frame.kind == Kind::Hello {
            return self.greeted(now, &frame.payload);
        }
        self.heard = now;
        self.presence = Presence::Host;
        let Some(session) = &mut self.session else {
            return self.reset(now);
        };
        match frame.kind {
            Kind::Data => self.take_data(now, frame),
            Kind::Ack => {
                if let Some(body) = session.sending.acknowledge(frame.sequence) {
                    self.events.push_back(DeviceEvent::Acknowledged(body));
                    self.pump(now);
                }
            }
            Kind::Ping => {
                let clock = self.uptime_ms(now).to_le_bytes();
                self.out.frame(Kind::Pong, frame.sequence, &clock);
            }
            Kind::Hello | Kind::Welcome | Kind::Pong | Kind::Reset => {}
        }
    }

    fn greeted(&mut self, now: Uptime, payload: &[u8]) {
        let hello = message::read_host_hello(payload, &mut self.counters.mended).filter(|hello| hello.session != 0);
        let Some(hello) = hello else {
            self.counters.bad_hellos += 1;
            return;
        };
        if let Some(session) = &self.session
            && session.number == hello.session
        {
            return self.out.raw(&session.welcome);
        }
        self.hold = self.hold_of(&hello);
        let mut welcome = Vec::new();
        let payload = DeviceHello {
            session: hello.session,
            kind: self.config.kind.into(),
            serial_number: self.config.serial_number.clone(),
            firmware: self.config.firmware.clone(),
            boot_id: self.config.boot_id,
            uptime_ms: self.uptime_ms(now),
            lamp_count: self.config.lamp_count,
            firmware_digest: self.config.firmware_digest.clone(),
        };
        let encoded = frame::encode(Kind::Welcome, 0, &payload.encode_to_vec(), &mut welcome);
        assert!(
            encoded.is_ok(),
            "an identity that doesn't fit into a frame: {encoded:?}"
        );
        self.out.raw(&welcome);
        self.session = Some(Session {
            number: hello.session,
            welcome,
            began: now,
            wished: Wished::NotYet,
            status: StatusState::NotAsked,
            sending: Sending::new(retry_unit(self.config.baud)),
            receiving: Receiving::default(),
            queue: Queue::default(),
        });
        self.events.push_back(DeviceEvent::Greeted {
            table: hello.table,
            hold: self.hold,
        });
    }

    fn hold_of(&mut self, hello: &HostHello) -> Duration {
        let asked = match hello.hold_ms {
            0 => DEFAULT_HOLD_MS,
            other => other,
        };
        let clamped = asked.clamp(MIN_HOLD_MS, MAX_HOLD_MS);
        if clamped != asked {
            self.counters.clamped_holds += 1;
        }
        Duration::from_millis(u64::from(clamped))
    }

    fn take_data(&mut self, now: Uptime, frame: &Frame) {
        let Some(session) = &mut self.session else {
            return;
        };
        match session.receiving.order(frame.sequence) {
            Order::Foreign => {}
            Order::Repeat => {
                self.counters.repeats_in += 1;
                self.out.frame(Kind::Ack, frame.sequence, &[]);
            }
            Order::Next if self.events.len() >= MAX_WAITING => {}
            Order::Next => {
                session.receiving.accept();
                self.out.frame(Kind::Ack, frame.sequence, &[]);
                let Some(body) = message::read_command(&frame.payload, &mut self.counters.mended) else {
                    self.counters.no_message += 1;
                    return;
                };
                match &body {
                    to_device::Body::Status(_) => {
                        if session.status == StatusState::NotAsked {
                            session.status = StatusState::Asked;
                        }
                    }
                    to_device::Body::Digest(_) => {}
                    to_device::Body::Readout(_)
                    | to_device::Body::Lamps(_)
                    | to_device::Body::Inhibit(_)
                    | to_device::Body::Spin(_) => session.wished = Wished::Yes,
                }
                self.events.push_back(DeviceEvent::Accepted(body));
                self.pump(now);
            }
        }
    }

    /// Sends the oldest of what waits, if nothing is unacknowledged and the status came first.
    fn pump(&mut self, now: Uptime) {
        let Some(session) = &mut self.session else {
            return;
        };
        if !session.sending.is_idle() || session.status != StatusState::Given {
            return;
        }
        let Some(Waiting { uptime_ms, body }) = session.queue.pop() else {
            return;
        };
        let payload = FromDevice {
            uptime_ms,
            body: Some(body.clone()),
        };
        let mut bytes = Vec::new();
        let encoded = frame::encode(
            Kind::Data,
            session.sending.number(),
            &payload.encode_to_vec(),
            &mut bytes,
        );
        assert!(encoded.is_ok(), "a report that doesn't fit into a frame: {encoded:?}");
        self.out.raw(&bytes);
        session.sending.start(now, body, bytes);
    }

    /// Ends the session as after 3 s without an acknowledgement.
    pub fn drop_session(&mut self, now: Uptime) {
        if self.session.take().is_some() {
            self.events.push_back(DeviceEvent::SessionEnded);
            self.reset(now);
        }
    }

    fn lose_host(&mut self) {
        self.presence = Presence::Gone;
        if self.session.take().is_some() {
            self.events.push_back(DeviceEvent::SessionEnded);
        }
        self.events.push_back(DeviceEvent::HostGone);
    }

    fn reset(&mut self, now: Uptime) {
        if self.reset_sent.is_some_and(|last| now < last + RESET_PAUSE) {
            return;
        }
        self.reset_sent = Some(now);
        self.out.frame(Kind::Reset, 0, &[]);
    }
}

fn earlier(one: Option<Uptime>, other: Option<Uptime>) -> Option<Uptime> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
