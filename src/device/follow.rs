//! Reads a line that was captured: what its frames say, and what the table would have been told. It takes part in nothing: the session
//! that it follows was held by somebody else, and may have begun before the capture did.

use std::time::Duration;

use crate::table::event::DeviceOfflineReason;
use crate::table::input::{DeviceIdentity, DeviceKind, DeviceStatus, Input};
use crate::time::Uptime;
use crate::wire::frame::{Frame, Kind};
use crate::wire::message::{self as wire, DeviceHello, DicePermit, HostHello, Mended, Report, from_device, to_device};
use crate::wire::session::{Age, Status, TumblerBuild};

use super::translate::{self, Memory};

/// Nothing valid for this long: the gateway takes the link for down.
const SILENCE: Duration = Duration::from_secs(3);

/// A key older than this when it arrives is stale.
const STALE: Duration = Duration::from_secs(2);

/// What a frame says.
#[derive(Clone, PartialEq, Debug)]
pub enum Said {
    /// A greeting.
    Hello(Option<HostHello>),
    /// Its answer.
    Welcome(Option<DeviceHello>),
    /// A message of the device; `None`: no message that is known.
    Report(Option<Report>),
    /// A message to the device; `None`: no message that is known.
    Command(Option<to_device::Body>),
    /// A message that was said before: the acknowledgement was lost.
    Again,
    /// A message whose number is out of turn: nobody takes it.
    OutOfTurn,
    /// A sign of life: ACK, PING, PONG.
    Sign,
    /// "I have no session."
    Reset,
}

/// A line that is followed.
#[derive(Debug)]
pub struct Follower {
    kind: DeviceKind,
    build: TumblerBuild,
    memory: Memory,
    identity: DeviceIdentity,
    standing: Standing,
    /// The number of the device's next DATA; unknown before the first.
    expected: Option<u8>,
    /// The gateway's last DATA and its number.
    sent: Option<(u8, to_device::Body)>,
    /// The entry that the last readout allowed.
    entry: Option<u32>,
    /// When a PONG came, and the device's clock in it.
    pong: Option<(Uptime, u32)>,
    heard: Uptime,
}

/// How the session stands, as far as the capture tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Standing {
    /// The capture began in the middle of it.
    Unknown,
    /// WELCOME came, and no status yet.
    Welcomed,
    /// The table knows the device.
    Up,
    /// It ended.
    Down,
}

impl Follower {
    /// Follows the line of a device of this kind. `serial_number`: as far as it is known without a greeting.
    #[must_use]
    pub fn new(kind: DeviceKind, build: TumblerBuild, serial_number: String) -> Follower {
        Follower {
            kind,
            build,
            memory: Memory::default(),
            identity: DeviceIdentity {
                kind,
                serial_number,
                firmware: String::new(),
                boot_id: 0,
                lamp_count: u32::MAX,
                firmware_digest: Vec::new(),
            },
            standing: Standing::Unknown,
            expected: None,
            sent: None,
            entry: None,
            pong: None,
            heard: Uptime::ZERO,
        }
    }

    /// The device that stands here.
    #[must_use]
    pub fn kind(&self) -> DeviceKind {
        self.kind
    }

    /// Whether the table knows the device.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.standing == Standing::Up
    }

    /// The entry that may be typed, by the last readout that was captured.
    #[must_use]
    pub fn entry(&self) -> Option<u32> {
        self.entry
    }

    /// When the gateway takes the device for silent unless something valid comes.
    #[must_use]
    pub fn silent_at(&self) -> Option<Uptime> {
        self.is_up().then_some(self.heard + SILENCE)
    }

    /// Nothing valid came in time.
    pub fn fell_silent(&mut self) -> Input {
        self.down(DeviceOfflineReason::Silent, "nothing heard for 3 s")
    }

    fn down(&mut self, reason: DeviceOfflineReason, text: &str) -> Input {
        self.standing = Standing::Down;
        Input::DeviceDown {
            kind: self.kind,
            reason,
            text: text.to_owned(),
        }
    }

    /// A device that says something in the middle of a session was there before: it is taken to have been in order and at rest. Not a tumbler,
    /// whose counters only its status tells.
    fn was_there(&mut self, now: Uptime) -> Vec<Input> {
        if self.standing != Standing::Unknown {
            return Vec::new();
        }
        self.heard = now;
        let body = match self.kind {
            DeviceKind::Tumbler => return Vec::new(),
            DeviceKind::Terminal => from_device::Body::Terminal(wire::TerminalStatus {
                // The table goes on with the number after the one that it finds.
                entry: self.entry.unwrap_or(1).wrapping_sub(1),
                ..wire::TerminalStatus::default()
            }),
            DeviceKind::LayoutLamps | DeviceKind::ResultLights => from_device::Body::Lamps(wire::LampStatus {
                sensing: wire::Sensing::Measured.into(),
                ..wire::LampStatus::default()
            }),
        };
        self.come_up(body).into_iter().collect()
    }

    /// The same of a tumbler, by what it says first: before that its cover lay on, and it had not begun to spin.
    fn rested(status: &wire::TumblerStatus) -> from_device::Body {
        let begun = u32::from(status.motion() == wire::Motion::Spinning);
        from_device::Body::Tumbler(wire::TumblerStatus {
            motion: wire::Motion::AtRest.into(),
            cover: wire::Cover::On.into(),
            activations: status.activations.wrapping_sub(begun),
            dice: None,
            ..*status
        })
    }

    /// A whole status makes the device known; `None` for any other body.
    fn come_up(&mut self, body: from_device::Body) -> Option<Input> {
        let status = Status::of(body)?;
        self.standing = Standing::Up;
        let status: DeviceStatus = self.memory.status(status, &|ms| self.relate(ms));
        Some(Input::DeviceUp {
            identity: self.identity.clone(),
            status,
        })
    }

    /// The device's clock in the capture's, by the newest PONG.
    fn relate(&self, ms: u32) -> Option<Uptime> {
        let (at, clock) = self.pong?;
        let before = clock.wrapping_sub(ms);
        let after = ms.wrapping_sub(clock);
        let millis = |ms: u32| Duration::from_millis(u64::from(ms));
        if before <= after {
            Some(at - millis(before))
        } else {
            Some(at + millis(after))
        }
    }

    /// The gateway said this.
    pub fn sent(&mut self, frame: &Frame) -> Said {
        match frame.kind {
            Kind::Hello => Said::Hello(wire::read_host_hello(&frame.payload, &mut Mended::default())),
            Kind::Data => {
                let body = wire::read_command(&frame.payload, &mut Mended::default());
                let again = body.is_some() && body.as_ref() == self.sent.as_ref().map(|(_, body)| body);
                let is_repeat = again && self.sent.as_ref().is_some_and(|(number, _)| *number == frame.sequence);
                if is_repeat {
                    return Said::Again;
                }
                if let Some(to_device::Body::Readout(readout)) = &body {
                    self.entry = Some(readout.entry);
                }
                self.sent = body.clone().map(|body| (frame.sequence, body));
                Said::Command(body)
            }
            Kind::Ack | Kind::Ping | Kind::Welcome | Kind::Pong | Kind::Reset => Said::Sign,
        }
    }

    /// The device said this; and what the table is told.
    pub fn heard(&mut self, now: Uptime, frame: &Frame) -> (Said, Vec<Input>) {
        self.heard = now;
        match frame.kind {
            Kind::Welcome => self.welcomed(&frame.payload),
            Kind::Data => self.reported(now, frame),
            Kind::Ack => {
                let mut told = self.was_there(now);
                told.extend(self.acknowledged(frame.sequence));
                (Said::Sign, told)
            }
            Kind::Pong => {
                if let Ok(clock) = <[u8; 4]>::try_from(frame.payload.as_slice()) {
                    self.pong = Some((now, u32::from_le_bytes(clock)));
                }
                (Said::Sign, self.was_there(now))
            }
            Kind::Reset => {
                let told = self.is_up().then(|| {
                    self.down(
                        DeviceOfflineReason::Restarted,
                        "the device restarted or dropped the session",
                    )
                });
                (Said::Reset, told.into_iter().collect())
            }
            Kind::Hello | Kind::Ping => (Said::Sign, Vec::new()),
        }
    }

    fn welcomed(&mut self, payload: &[u8]) -> (Said, Vec<Input>) {
        let hello = wire::read_device_hello(payload, &mut Mended::default());
        let mut told = Vec::new();
        if let Some(hello) = &hello {
            if self.is_up() {
                told.push(self.down(DeviceOfflineReason::Restarted, "the device was greeted anew"));
            }
            self.memory.greeted(hello.boot_id);
            self.identity = translate::identity(self.kind, hello);
            self.standing = Standing::Welcomed;
            self.expected = Some(0);
        }
        (Said::Welcome(hello), told)
    }

    fn reported(&mut self, now: Uptime, frame: &Frame) -> (Said, Vec<Input>) {
        let expected = self.expected.unwrap_or(frame.sequence);
        if frame.sequence == expected.wrapping_sub(1) {
            return (Said::Again, Vec::new());
        }
        if frame.sequence != expected {
            return (Said::OutOfTurn, Vec::new());
        }
        self.expected = Some(expected.wrapping_add(1));
        let permit = match self.build {
            TumblerBuild::Covered => DicePermit::Uncovered,
            TumblerBuild::Open => DicePermit::BetsClosed,
        };
        let report = wire::read_report(&frame.payload, permit, &mut Mended::default());
        let told = report.as_ref().map(|report| self.told(now, report)).unwrap_or_default();
        (Said::Report(report), told)
    }

    fn told(&mut self, now: Uptime, report: &Report) -> Vec<Input> {
        let mut told = Vec::new();
        match (self.standing, &report.body) {
            (Standing::Up, _) => {}
            (Standing::Unknown, from_device::Body::Tumbler(status)) => {
                told.extend(self.come_up(Follower::rested(status)))
            }
            (Standing::Unknown, _) => told.extend(self.was_there(now)),
            // A session begins with a whole status.
            (Standing::Welcomed | Standing::Down, body) => return self.come_up(body.clone()).into_iter().collect(),
        }
        let happened = self.relate(report.uptime_ms).map(|at| at.min(now));
        let age = match happened {
            Some(at) if now.since(at) > STALE => Age::Stale,
            Some(_) | None => Age::Fresh,
        };
        let body = report.body.clone();
        let relate = |ms| self.relate(ms);
        told.extend(self.memory.message(self.kind, body, happened, age, &relate));
        told
    }

    fn acknowledged(&mut self, number: u8) -> Vec<Input> {
        match &self.sent {
            Some((sent, to_device::Body::Lamps(picture))) if *sent == number && self.is_up() => {
                let lit = translate::trimmed(picture.lit.clone());
                vec![Input::LampsAcknowledged { lit }]
            }
            Some(_) | None => Vec::new(),
        }
    }
}
