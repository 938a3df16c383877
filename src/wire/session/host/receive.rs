//! What comes in on a host's link. PURE.

use super::events::{Age, DownReason, HostEvent, Status, Wish};
use super::{
    ANSWER_WAIT, Host, LinkState, MAX_WAITING, NOISY_PAUSE, Phase, Progress, Session, StatusAsked, WRONG_PAUSE,
    WishState,
};
use crate::time::Uptime;
use crate::wire::frame::{Frame, Kind, Received};
use crate::wire::message::{self, DeviceHello, DeviceKind, Reading, Report, from_device, to_device};
use crate::wire::session::clock::DeviceClock;
use crate::wire::session::delivery::{Order, Receiving, Sending};
use crate::wire::session::retry_unit;
use std::collections::VecDeque;
use std::time::Duration;

/// A key or an entry older than this when it arrives is stale; any other state is asked for anew.
const STALE: Duration = Duration::from_secs(2);
/// More new DATA than this within [`NOISE_WINDOW`] is no person and no machine that works: the link is noisy.
const NOISE_LIMIT: usize = 100;
const NOISE_WINDOW: Duration = Duration::from_secs(2);

impl Host {
    pub(super) fn take(&mut self, now: Uptime, received: Received) {
        match received {
            Received::Frame(frame) => self.take_frame(now, &frame),
            Received::OtherVersion(version) => self.oddities.saw_version(now, version),
            Received::Echo(_) => self.oddities.saw_echo(now),
            Received::UnknownKind(_) | Received::Noise(_) => {}
        }
    }

    fn take_frame(&mut self, now: Uptime, frame: &Frame) {
        self.silence.broken(now);
        if frame.kind == Kind::Reset {
            self.counters.resets += 1;
        }
        match &mut self.phase {
            Phase::Closed | Phase::Noisy { .. } => {}
            Phase::Greeting(greeting) => match frame.kind {
                Kind::Welcome => self.welcomed(now, &frame.payload),
                Kind::Reset => greeting.answer_reset(now, &mut self.out),
                Kind::Hello | Kind::Data | Kind::Ack | Kind::Ping | Kind::Pong => {}
            },
            Phase::Wrong { .. } => {
                if frame.kind == Kind::Reset {
                    // Perhaps the right one was plugged in.
                    self.greet(now);
                }
            }
            Phase::Session(session) => {
                session.heard = now;
                match frame.kind {
                    Kind::Data => self.take_data(now, frame),
                    Kind::Ack => self.take_ack(now, frame.sequence),
                    Kind::Pong => {
                        if let Ok(clock) = <[u8; 4]>::try_from(frame.payload.as_slice())
                            && let Some(trip) = session.clock.answer(now, frame.sequence, u32::from_le_bytes(clock))
                        {
                            self.trips.record(trip);
                        }
                    }
                    Kind::Reset => self.end_session(now, DownReason::Restarted),
                    Kind::Welcome => self.welcomed_again(now, &frame.payload),
                    Kind::Hello | Kind::Ping => {}
                }
            }
        }
    }

    /// A WELCOME while greeting.
    fn welcomed(&mut self, now: Uptime, payload: &[u8]) {
        let Phase::Greeting(greeting) = &self.phase else {
            return;
        };
        let Some(hello) = message::read_device_hello(payload, &mut self.mended) else {
            self.counters.no_message += 1;
            return;
        };
        if hello.session != greeting.session {
            return;
        }
        self.counters.welcomes += 1;
        if let Some(text) = self.wrong_device(&hello) {
            self.phase = Phase::Wrong {
                until: now + WRONG_PAUSE,
            };
            if self.wrong.as_ref().is_none_or(|known| !is_same_device(known, &hello)) {
                self.events.push_back(HostEvent::WrongDevice {
                    hello: hello.clone(),
                    text,
                });
            }
            self.wrong = Some(hello);
            return;
        }
        self.wrong = None;
        self.phase = Phase::Session(Box::new(Session {
            number: hello.session,
            hello,
            welcomed: now,
            progress: Progress::Welcomed,
            heard: now,
            ping_at: now,
            clock: DeviceClock::new(now),
            sending: Sending::new(retry_unit(self.config.baud)),
            receiving: Receiving::default(),
            status: StatusAsked::Wanted,
            wish: WishState::Unsent,
            commands: VecDeque::new(),
            recent: VecDeque::new(),
            dice_allowed: false,
        }));
        self.run_session(now);
    }

    /// A WELCOME in a session: of this one, it is the answer to a repeated HELLO; else the device is in another.
    fn welcomed_again(&mut self, now: Uptime, payload: &[u8]) {
        let Phase::Session(session) = &self.phase else {
            return;
        };
        let Some(hello) = message::read_device_hello(payload, &mut self.mended) else {
            self.counters.no_message += 1;
            return;
        };
        // A device that started anew between two of our HELLOs welcomes the same session with another boot: it lost what was delivered.
        if hello.session != session.number || hello.boot_id != session.hello.boot_id {
            self.end_session(now, DownReason::Restarted);
        }
    }

    /// Why this device can't serve this port, as a sentence; `None` when it can.
    fn wrong_device(&self, hello: &DeviceHello) -> Option<String> {
        let found = name(hello.kind());
        match self.config.kind {
            None if hello.kind() == DeviceKind::Unspecified => Some(format!(
                "a device of an unknown kind answers (serial number {})",
                hello.serial_number
            )),
            Some(wanted) if hello.kind() != wanted => Some(format!(
                "{found} (serial number {}) answers on the port that is configured for {}",
                hello.serial_number,
                name(wanted)
            )),
            Some(_) | None if hello.lamp_count < self.config.lamp_count => Some(format!(
                "{found} (serial number {}) drive {} lamps, and the layout needs {}",
                hello.serial_number, hello.lamp_count, self.config.lamp_count
            )),
            Some(_) | None => None,
        }
    }

    fn take_ack(&mut self, now: Uptime, number: u8) {
        let Phase::Session(session) = &mut self.phase else {
            return;
        };
        if let Some(body) = session.sending.acknowledge(number) {
            if let to_device::Body::Inhibit(inhibit) = &body {
                session.dice_allowed = inhibit.dice_allowed;
            }
            if !matches!(body, to_device::Body::Status(_)) {
                self.events.push_back(HostEvent::Acknowledged(body));
            }
            self.pump(now);
        }
    }

    fn take_data(&mut self, now: Uptime, frame: &Frame) {
        let Phase::Session(session) = &mut self.phase else {
            return;
        };
        match session.receiving.order(frame.sequence) {
            Order::Foreign => self.counters.foreign_numbers += 1,
            Order::Repeat => {
                self.counters.repeats_in += 1;
                self.out.frame(Kind::Ack, frame.sequence, &[]);
            }
            Order::Next if self.events.len() >= MAX_WAITING => self.counters.no_room += 1,
            Order::Next => {
                if session.is_too_much(now) {
                    self.end_session(now, DownReason::Noisy);
                    self.phase = Phase::Noisy {
                        until: now + NOISY_PAUSE,
                    };
                    self.out.bytes.clear();
                    return;
                }
                session.receiving.accept();
                self.out.frame(Kind::Ack, frame.sequence, &[]);
                self.read(now, &frame.payload);
            }
        }
    }

    /// A new DATA frame's payload: from here on a reading under the cover doesn't exist.
    fn read(&mut self, now: Uptime, payload: &[u8]) {
        let Phase::Session(session) = &mut self.phase else {
            return;
        };
        let permit = session.dice_permit(self.config.tumbler, self.wish.as_ref());
        let Some(report) = message::read_report(payload, permit, &mut self.mended) else {
            self.counters.no_message += 1;
            return;
        };
        if !session.expects(&report.body) {
            self.counters.out_of_place += 1;
            return;
        }
        if report.reading == Reading::Dropped {
            self.counters.read_under_cover += 1;
            self.events.push_back(HostEvent::ReadUnderCover);
        }
        match session.progress {
            Progress::Welcomed => self.come_up(now, report.body),
            Progress::Up { .. } => self.deliver(now, report),
        }
    }

    /// The first DATA of a session: the whole status.
    fn come_up(&mut self, now: Uptime, body: from_device::Body) {
        let Phase::Session(session) = &mut self.phase else {
            return;
        };
        let Some(status) = Status::of(body) else {
            self.counters.out_of_place += 1;
            return;
        };
        let entry = match &status {
            Status::Terminal(terminal) => Some(terminal.entry),
            Status::Tumbler(_) | Status::Lamps(_) => None,
        };
        if matches!(self.wish, Some(Wish::Terminal(_))) {
            // Set before anyone knew the entry number that the terminal has.
            self.wish = None;
        }
        session.progress = Progress::Up { entry };
        session.status = StatusAsked::No;
        self.events.push_back(HostEvent::Up {
            hello: session.hello.clone(),
            status,
            arrived: now,
        });
        debug_assert_eq!(self.state(), LinkState::Up);
        self.pump(now);
    }

    fn deliver(&mut self, now: Uptime, report: Report) {
        let Phase::Session(session) = &mut self.phase else {
            return;
        };
        let mut happened = session.clock.relate(now, report.uptime_ms);
        let lateness = match session.clock.age(now, report.uptime_ms) {
            Some(age) if age > STALE => Lateness::Late,
            Some(_) | None => Lateness::Timely,
        };
        let mut age = Age::Fresh;
        match &report.body {
            from_device::Body::Key(_) | from_device::Body::Entry(_) => {
                if lateness == Lateness::Late {
                    age = Age::Stale;
                    self.counters.stale += 1;
                }
            }
            from_device::Body::Fault(_) | from_device::Body::Digest(_) => {}
            from_device::Body::Tumbler(_) | from_device::Body::Terminal(_) | from_device::Body::Lamps(_) => {
                if session.is_answer(now, lateness) {
                    session.status = StatusAsked::No;
                    happened = None;
                } else if lateness == Lateness::Late {
                    self.counters.late += 1;
                    session.ask_again(now);
                    return self.pump(now);
                }
            }
            from_device::Body::Contact(_) => {
                if lateness == Lateness::Late {
                    self.counters.late += 1;
                    session.ask_again(now);
                    return self.pump(now);
                }
            }
        }
        self.events.push_back(HostEvent::Message {
            body: report.body,
            happened,
            age,
            arrived: now,
        });
    }
}

/// Whether a message is older than [`STALE`]; unknown ages are timely.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lateness {
    Timely,
    Late,
}

impl Session {
    /// Counts one more DATA frame, and says whether it is one too many.
    fn is_too_much(&mut self, now: Uptime) -> bool {
        while self
            .recent
            .front()
            .is_some_and(|oldest| now.since(*oldest) >= NOISE_WINDOW)
        {
            self.recent.pop_front();
        }
        self.recent.push_back(now);
        self.recent.len() > NOISE_LIMIT
    }

    /// Whether a whole status that comes now answers a request. Before the request was acknowledged only a late one does: the ACK was
    /// lost, and a change that was on its way is timely.
    fn is_answer(&self, now: Uptime, lateness: Lateness) -> bool {
        let is_unacknowledged = matches!(self.sending.under_way(), Some(to_device::Body::Status(_)));
        match self.status {
            StatusAsked::Sent { at } => now < at + ANSWER_WAIT && (!is_unacknowledged || lateness == Lateness::Late),
            StatusAsked::Wanted | StatusAsked::No => false,
        }
    }

    /// Something came late: ask for the status, unless an answer is already on its way.
    fn ask_again(&mut self, now: Uptime) {
        match self.status {
            StatusAsked::Wanted => {}
            StatusAsked::Sent { at } if now < at + ANSWER_WAIT => {}
            StatusAsked::Sent { .. } | StatusAsked::No => self.status = StatusAsked::Wanted,
        }
    }
}

fn is_same_device(one: &DeviceHello, other: &DeviceHello) -> bool {
    one.kind == other.kind && one.serial_number == other.serial_number && one.lamp_count == other.lamp_count
}

/// What a person calls it.
fn name(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Unspecified => "a device of an unknown kind",
        DeviceKind::Tumbler => "a tumbler",
        DeviceKind::Terminal => "a terminal",
        DeviceKind::LayoutLamps => "layout lamps",
        DeviceKind::ResultLights => "result lights",
    }
}
