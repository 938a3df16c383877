//! What the table is told of a link: what its device says, that it came, and why it went.

use std::time::Duration;

use crate::counted::counted;
use crate::table::event::DeviceOfflineReason;
use crate::table::input::{Arrival, Condition, Input};
use crate::time::Uptime;
use crate::wire::message::{from_device, to_device};
use crate::wire::session::{DownReason, HostEvent, LinkState as HostState, Oddity};

use super::super::back_off::NOISY;
use super::super::port::OpenError;
use super::super::quality::{POOR, SoFar, Turn};
use super::super::report::{Found, Identity, Kind, LinkState};
use super::super::translate;
use super::{Delivery, Ending, Link, SILENCE, Stopped, Told};

impl Link {
    /// What an event of the session means for the table, and for us.
    pub(super) fn take(&mut self, event: HostEvent) -> Option<Arrival> {
        let now = self.clock.uptime();
        let (at, input) = match event {
            HostEvent::Up { hello, status, arrived } => {
                self.memory.greeted(hello.boot_id);
                self.back_off.succeeded();
                self.told = Told::Up;
                self.trouble.clear();
                let identity = translate::identity(self.config.kind, &hello);
                self.tape
                    .note(now, &format!("the link is up: serial {}", identity.serial_number));
                self.reporter.up(Identity::from(&identity));
                let status = self.memory.status(status, &|ms| self.host.relate(arrived, ms));
                // The session forgets a terminal's readout at a greeting; what the table wants already is better than nothing.
                self.take_wish(now);
                (arrived, Input::DeviceUp { identity, status })
            }
            HostEvent::Message {
                body: from_device::Body::Digest(reply),
                ..
            } => {
                self.asking.answered(&reply.seed, reply.sha256);
                return None;
            }
            HostEvent::Message {
                body,
                happened,
                age,
                arrived,
            } => {
                let relate = |ms| self.host.relate(arrived, ms);
                let input = self.memory.message(self.config.kind, body, happened, age, &relate)?;
                (arrived, input)
            }
            HostEvent::Acknowledged(to_device::Body::Lamps(picture)) => {
                let lit = translate::trimmed(picture.lit);
                (now, Input::LampsAcknowledged { lit })
            }
            HostEvent::Acknowledged(
                to_device::Body::Status(_)
                | to_device::Body::Readout(_)
                | to_device::Body::Inhibit(_)
                | to_device::Body::Spin(_)
                | to_device::Body::Digest(_),
            ) => return None,
            HostEvent::ReadUnderCover => (now, Input::ReadUnderCover),
            HostEvent::WrongDevice { hello, text } => {
                self.reporter.found(Found::of(&hello));
                (now, self.is_down(DeviceOfflineReason::WrongDevice, self.about(&text))?)
            }
            HostEvent::Down(reason) => {
                let offline = offline(reason);
                self.fell_silent |= offline == DeviceOfflineReason::Silent;
                (now, self.is_down(offline, self.about(&reason))?)
            }
            HostEvent::OddityBegan(oddity) => (now, self.odd(self.about(&self.describe(&oddity)), Stands::Yes)),
            HostEvent::OddityEnded(oddity) => {
                if !self.host.oddities().is_empty() || self.quality.poor().is_some() {
                    return None;
                }
                (now, self.odd(self.about(&oddity), Stands::No))
            }
        };
        Some(Arrival { at, input })
    }

    /// A device is down for this reason; `None` when the table knows that already.
    fn is_down(&mut self, reason: DeviceOfflineReason, text: String) -> Option<Input> {
        self.trouble.clone_from(&text);
        self.asking.lost();
        let told = Told::Down(reason);
        if self.told == told {
            return None;
        }
        if self.told == Told::Up {
            self.losses += 1;
        }
        self.told = told;
        self.tape
            .note(self.clock.uptime(), &format!("the link is down: {text}"));
        Some(Input::DeviceDown {
            kind: self.config.kind,
            reason,
            text,
        })
    }

    fn odd(&self, text: String, stands: Stands) -> Input {
        Input::Condition {
            condition: Condition::LinkOdd(self.config.kind),
            text: format!("{} at {text}", Kind::from(self.config.kind).word()),
            standing: stands == Stands::Yes,
        }
    }

    pub(super) fn about(&self, what: &dyn std::fmt::Display) -> String {
        format!("{}: {what}", self.config.path.display())
    }

    pub(super) fn describe(&self, oddity: &Oddity) -> String {
        match oddity {
            Oddity::NoValidFrame => format!(
                "no valid frame in {}: {}",
                counted(self.host.counters().seen.bytes_since_frame, "byte"),
                self.garbage_means()
            ),
            Oddity::Echo | Oddity::OtherVersion(_) | Oddity::ClocksUnrelated => oddity.to_string(),
        }
    }

    /// What bytes without a frame can mean, and where the baud rate stands.
    fn garbage_means(&self) -> String {
        format!(
            "wrong baud rate ([devices.{}] baud, {} here), another kind of device, or noise?",
            Kind::from(self.config.kind).word(),
            self.config.baud
        )
    }

    /// Tells the table that damaged frames keep coming, or the link keeps going away; and when it has been in order again for a while.
    pub(super) async fn notice_quality(&mut self, now: Uptime) -> Result<(), Stopped> {
        let counters = self.host.counters();
        let so_far = SoFar {
            damaged: counters.seen.crc_errors + counters.seen.noise,
            repeats: counters.repeats_in + counters.repeats_out,
            lost: self.losses,
        };
        if self.host.state() != HostState::Up {
            self.quality.overlook(so_far);
        }
        let Some(turn) = self.quality.weigh(now, so_far) else {
            return Ok(());
        };
        let is_odd = !self.host.oddities().is_empty();
        let input = match turn {
            Turn::Poor => self.odd(self.about(&POOR), Stands::Yes),
            Turn::Fair if is_odd => return Ok(()),
            Turn::Fair => self.odd(self.about(&POOR), Stands::No),
        };
        self.ends
            .inputs
            .send(Arrival { at: now, input })
            .await
            .map_err(|_| Stopped)
    }

    /// The same beside the reason why the link is down; `None`: that says it already.
    pub(super) fn describe_beside(&self, oddity: &Oddity) -> Option<String> {
        let is_said = *oddity == Oddity::NoValidFrame && self.trouble.ends_with(&self.garbage_means());
        (!is_said).then(|| self.describe(oddity))
    }

    /// Tells the table that the device is down, waiting for room; the port is closed or silent, so nothing else is kept waiting.
    pub(super) async fn tell_down(&mut self, reason: DeviceOfflineReason, text: String) -> Result<(), Stopped> {
        if let Some(input) = self.is_down(reason, text) {
            let at = self.clock.uptime();
            self.ends
                .inputs
                .send(Arrival { at, input })
                .await
                .map_err(|_| Stopped)?;
        }
        Ok(())
    }

    /// Greetings that nobody answers are told once.
    pub(super) async fn notice_silence(&mut self, now: Uptime) -> Result<(), Stopped> {
        let greets = self.host.state() == HostState::Greeting;
        let began = greets && !std::mem::replace(&mut self.greets, greets);
        self.greets = greets;
        // A wrong device is greeted again after a while in which nothing was asked: no silence before that is its.
        if !greets || began {
            self.answered = now;
        } else if now.since(self.answered) >= SILENCE && self.shown.state != LinkState::Silent {
            let text = match self.host.counters().seen.bytes_since_frame {
                0 => self.about(&format_args!(
                    "nobody answers the greeting at {} baud: no power, a loose cable, or another baud rate?",
                    self.config.baud
                )),
                bytes => self.about(&format_args!(
                    "nobody answers the greeting; {} came and no valid frame: {}",
                    counted(bytes, "byte"),
                    self.garbage_means()
                )),
            };
            self.fell_silent = true;
            self.tell_down(DeviceOfflineReason::Silent, text).await?;
        }
        Ok(())
    }

    /// The port was closed: tells why, and says how long to wait.
    pub(super) async fn ended(&mut self, ending: Ending) -> Result<Duration, Stopped> {
        self.host.handle_closed();
        // What came in before is told before.
        while self.deliver()? == Delivery::NoRoom {
            let _room = self.ends.inputs.reserve().await.map_err(|_| Stopped)?;
        }
        let (reason, text, pause) = match ending {
            Ending::Gone(error) => (
                DeviceOfflineReason::PortGone,
                self.about(&format_args!("unplugged? ({error})")),
                self.back_off.missing(),
            ),
            Ending::Elsewhere => (
                DeviceOfflineReason::PortGone,
                self.about(&"the name leads to another device now"),
                self.back_off.missing(),
            ),
            Ending::Nowhere => (
                DeviceOfflineReason::PortGone,
                self.about(&"the name is gone"),
                self.back_off.missing(),
            ),
            Ending::Stuck => (
                DeviceOfflineReason::Silent,
                self.about(&"the device takes no bytes"),
                self.back_off.refused(),
            ),
            Ending::Shared(others) => (
                DeviceOfflineReason::PortHeld,
                format!(
                    "{} is held by {others}, opened beside this daemon: it takes what the device says",
                    self.config.path.display()
                ),
                self.back_off.refused(),
            ),
            Ending::Noisy(why) => (
                DeviceOfflineReason::Noisy,
                self.about(&format_args!("{why}: closed for {} s", NOISY.as_secs())),
                NOISY,
            ),
        };
        self.tell_down(reason, text).await?;
        Ok(pause)
    }

    /// The port could not be opened: tells why, and says how long to wait.
    pub(super) async fn refused(&mut self, refusal: OpenError) -> Result<Duration, Stopped> {
        let (reason, pause) = match &refusal {
            OpenError::Missing { .. } => (DeviceOfflineReason::PortGone, self.back_off.missing()),
            OpenError::Held { .. } => (DeviceOfflineReason::PortHeld, self.back_off.refused()),
            OpenError::NotAPort { .. } | OpenError::Denied { .. } | OpenError::Unusable { .. } => {
                (DeviceOfflineReason::PortGone, self.back_off.refused())
            }
        };
        let text = match std::error::Error::source(&refusal) {
            Some(source) => format!("{refusal}: {source}"),
            None => refusal.to_string(),
        };
        self.tell_down(reason, text).await?;
        Ok(pause)
    }
}

/// Whether a condition begins or ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stands {
    Yes,
    No,
}

fn offline(reason: DownReason) -> DeviceOfflineReason {
    match reason {
        DownReason::Silent | DownReason::Unacknowledged | DownReason::NoStatus => DeviceOfflineReason::Silent,
        DownReason::Restarted => DeviceOfflineReason::Restarted,
        DownReason::Noisy | DownReason::Looped => DeviceOfflineReason::Noisy,
    }
}
