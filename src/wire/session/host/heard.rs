//! What a line brought, for whoever keeps or shows it: never dice that nobody may know. PURE.
//!
//! Whether a piece may be shown is decided before the session takes it, from its bytes alone and from what the session has granted. What
//! can't be told for certain is not shown: a damaged frame of a tumbler may hold dice as well as a whole one, and a tumbler may be plugged
//! into any port.

use super::{Host, LinkState, Phase, TumblerBuild};
use crate::wire::frame::{Kind, Received, Stretch};
use crate::wire::message::{self, DeviceKind, DicePermit};

/// Something that came between two zero bytes.
#[derive(Clone, Copy, Debug)]
pub struct Heard<'a> {
    /// As it came.
    pub stretch: Stretch<'a>,
    /// What it was.
    pub received: &'a Received,
    /// Whether anybody may see its bytes.
    pub disclosure: Disclosure,
}

/// Whether the bytes of what came may be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Disclosure {
    /// To anybody who may look at the line.
    Open,
    /// To nobody: it holds a dice reading that nobody may know yet.
    Reading,
    /// To nobody: it can't be read, came from a tumbler or from nobody knows whom, and may hold a dice reading.
    Unclear,
}

impl Host {
    /// Whether anybody may see what came.
    pub(super) fn disclosure(&self, received: &Received) -> Disclosure {
        match received {
            Received::Frame(frame) if frame.kind == Kind::Data => {
                match message::dice_reading(&frame.payload, self.permit()) {
                    message::DiceFound::None | message::DiceFound::Lawful => Disclosure::Open,
                    message::DiceFound::Unlawful => Disclosure::Reading,
                    message::DiceFound::Unreadable => self.of_what_is_unclear(),
                }
            }
            // Their payloads are numbers and names of the protocol, and a looped line brings what we sent ourselves.
            Received::Frame(_) | Received::Echo(_) => Disclosure::Open,
            Received::OtherVersion(_) | Received::UnknownKind(_) | Received::Noise(_) => self.of_what_is_unclear(),
        }
    }

    /// Who sent it is known only while the device that belongs there is in session; until then, and after, it may be a tumbler that was
    /// plugged into this port.
    fn of_what_is_unclear(&self) -> Disclosure {
        let sender = match self.state() {
            LinkState::Up => self.config.kind,
            LinkState::Closed
            | LinkState::Greeting
            | LinkState::Welcomed
            | LinkState::WrongDevice
            | LinkState::Noisy => None,
        };
        match sender {
            Some(DeviceKind::Terminal | DeviceKind::LayoutLamps | DeviceKind::ResultLights) => Disclosure::Open,
            Some(DeviceKind::Tumbler | DeviceKind::Unspecified) | None => Disclosure::Unclear,
        }
    }

    /// When the device that is greeted may tell its dice; outside a session an open tumbler may not.
    fn permit(&self) -> DicePermit {
        match (&self.phase, self.config.tumbler) {
            (Phase::Session(session), build) => session.dice_permit(build, self.wish.as_ref()),
            (_, TumblerBuild::Covered) => DicePermit::Uncovered,
            (_, TumblerBuild::Open) => DicePermit::Never,
        }
    }
}
