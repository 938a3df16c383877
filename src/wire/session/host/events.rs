//! What a host link tells its driver, and what it counts. PURE.

use crate::time::Uptime;
use crate::wire::frame::{self, VERSION};
use crate::wire::message::{
    DeviceHello, DeviceKind, Inhibit, LampStatus, Mended, Readout, SetLamps, TerminalStatus, TumblerStatus,
    from_device, to_device,
};
use std::fmt;

/// What a device should show or obey: the whole of it, never a difference.
#[derive(Clone, PartialEq, Debug)]
pub enum Wish {
    /// A tumbler's inhibit.
    Tumbler(Inhibit),
    /// A terminal's readout, with the entry that may be typed.
    Terminal(Readout),
    /// The picture of layout lamps or result lights.
    Lamps(SetLamps),
}

impl Wish {
    pub(super) fn is_for(&self, kind: DeviceKind) -> bool {
        match self {
            Wish::Tumbler(_) => kind == DeviceKind::Tumbler,
            Wish::Terminal(_) => kind == DeviceKind::Terminal,
            Wish::Lamps(_) => matches!(kind, DeviceKind::LayoutLamps | DeviceKind::ResultLights),
        }
    }

    /// A readout carries a valid number, and after a greeting another one than was found there.
    pub(super) fn may_follow(&self, found: Option<u32>) -> bool {
        match self {
            Wish::Terminal(readout) => readout.entry != 0 && Some(readout.entry) != found,
            Wish::Tumbler(_) | Wish::Lamps(_) => true,
        }
    }
}

impl From<Wish> for to_device::Body {
    fn from(wish: Wish) -> Self {
        match wish {
            Wish::Tumbler(inhibit) => to_device::Body::Inhibit(inhibit),
            Wish::Terminal(readout) => to_device::Body::Readout(readout),
            Wish::Lamps(picture) => to_device::Body::Lamps(picture),
        }
    }
}

/// A device's whole status.
#[derive(Clone, PartialEq, Debug)]
pub enum Status {
    /// Of a tumbler.
    Tumbler(TumblerStatus),
    /// Of a terminal.
    Terminal(TerminalStatus),
    /// Of layout lamps or result lights.
    Lamps(LampStatus),
}

impl Status {
    /// The status that this body is; `None` for any other.
    #[must_use]
    pub fn of(body: from_device::Body) -> Option<Status> {
        match body {
            from_device::Body::Tumbler(status) => Some(Status::Tumbler(status)),
            from_device::Body::Terminal(status) => Some(Status::Terminal(status)),
            from_device::Body::Lamps(status) => Some(Status::Lamps(status)),
            from_device::Body::Key(_)
            | from_device::Body::Entry(_)
            | from_device::Body::Contact(_)
            | from_device::Body::Fault(_)
            | from_device::Body::Digest(_) => None,
        }
    }
}

impl From<Status> for from_device::Body {
    fn from(status: Status) -> Self {
        match status {
            Status::Tumbler(status) => from_device::Body::Tumbler(status),
            Status::Terminal(status) => from_device::Body::Terminal(status),
            Status::Lamps(status) => from_device::Body::Lamps(status),
        }
    }
}

/// Whether a key or an entry may still mean something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Age {
    /// Young enough, or nothing is known of its age, or age doesn't matter for it.
    Fresh,
    /// A `KeyPressed` or `EntryPressed` older than 2 s when it arrived.
    Stale,
}

/// What a host link tells.
#[derive(Clone, PartialEq, Debug)]
pub enum HostEvent {
    /// The device was greeted and gave its whole status; its wish goes out. Faults that stand follow as messages.
    Up {
        /// Who it is, with strings made harmless.
        hello: DeviceHello,
        /// Its status; it counts as happening now.
        status: Status,
        /// When it arrived.
        arrived: Uptime,
    },
    /// Something happened at the device.
    Message {
        /// What. A whole status that was asked for comes here, too.
        body: from_device::Body,
        /// When, in the host's time; `None`: when it arrived.
        happened: Option<Uptime>,
        /// Whether it came too late to count.
        age: Age,
        /// When it arrived.
        arrived: Uptime,
    },
    /// The device received this (and may still be busy with it).
    Acknowledged(to_device::Body),
    /// A dice reading that nobody may know yet was dropped.
    ReadUnderCover,
    /// Something answers that isn't what the port is configured for; told once.
    WrongDevice {
        /// Who it says it is.
        hello: DeviceHello,
        /// One sentence for a person.
        text: String,
    },
    /// The link was up and is no more. It is greeted again.
    Down(DownReason),
    /// Something lasting is odd about the line.
    OddityBegan(Oddity),
    /// It is over.
    OddityEnded(Oddity),
}

/// Why a link went down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DownReason {
    /// Nothing valid for 3 s.
    Silent,
    /// A message went without acknowledgement for 3 s.
    Unacknowledged,
    /// The device has no session, or another: it started anew.
    Restarted,
    /// No status within 2 s of WELCOME (never told: the link wasn't up).
    NoStatus,
    /// More than 100 new messages in 2 s; not listened to for 10 s.
    Noisy,
    /// Our own frames came back in this session, and no longer do: an acknowledgement looks the same from both sides, so either side may
    /// have taken its own for the other's, and what was said since may be lost unseen.
    Looped,
}

impl fmt::Display for DownReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DownReason::Silent => "nothing heard for 3 s",
            DownReason::Unacknowledged => "a message was not acknowledged for 3 s",
            DownReason::Restarted => "the device restarted or dropped the session",
            DownReason::NoStatus => "no status within 2 s of the greeting",
            DownReason::Looped => "our own frames came back, and messages may be lost",
            DownReason::Noisy => "more than 100 messages in 2 s: not listened to for 10 s",
        })
    }
}

/// A lasting oddity of a line.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Oddity {
    /// Our own frames come back.
    Echo,
    /// The device speaks another version of the protocol.
    OtherVersion(u8),
    /// Many bytes, none of them a valid frame.
    NoValidFrame,
    /// No useful PONG for 10 s: nothing can be stale.
    ClocksUnrelated,
}

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Oddity::Echo => f.write_str("our own frames come back: is the line looped?"),
            Oddity::OtherVersion(version) => {
                write!(f, "the device speaks TLP/{version}; this gateway speaks TLP/{VERSION}")
            }
            Oddity::NoValidFrame => f.write_str("bytes come, but no valid frame: wrong baud rate, or noise?"),
            Oddity::ClocksUnrelated => {
                f.write_str("no answer to a PING within 200 ms for 10 s: the age of keys can't be told")
            }
        }
    }
}

/// What a host link has counted since it was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub struct Counters {
    /// Frames and noise that came in.
    pub seen: frame::Seen,
    /// Messages that were mended.
    pub mended: Mended,
    /// Frames written, repeats included.
    pub frames_out: u64,
    /// Frames that the line didn't take.
    pub frames_not_written: u64,
    /// DATA sent again.
    pub repeats_out: u64,
    /// DATA that came again.
    pub repeats_in: u64,
    /// DATA of a number that doesn't follow.
    pub foreign_numbers: u64,
    /// DATA not acknowledged because events weren't taken.
    pub no_room: u64,
    /// RESETs.
    pub resets: u64,
    /// Greetings that were answered.
    pub welcomes: u64,
    /// Sessions that ended other than with the port.
    pub sessions_lost: u64,
    /// DATA that was no message or had no body known here: acknowledged and dropped.
    pub no_message: u64,
    /// DATA with a body that a device of its kind doesn't send, or that came before its status: acknowledged and dropped.
    pub out_of_place: u64,
    /// States that came late, dropped and asked for anew.
    pub late: u64,
    /// Keys and entries that were stale.
    pub stale: u64,
    /// Dice readings dropped because nobody may know them yet.
    pub read_under_cover: u64,
}
