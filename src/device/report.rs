//! What a person and the floor's statistics may know of a link: [`LinkReport`]. Holds no key, no dice, no lamp: only how well
//! the line works.

use serde::{Deserialize, Serialize};

use crate::table::input::{DeviceIdentity, DeviceKind};
use crate::wire::message::{self as wire, DeviceHello};

/// A link and its health. Plain data: `status`, `devices` and the control socket carry it as it is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LinkReport {
    /// What the port is configured for.
    pub kind: Kind,
    /// The port as configured.
    pub port: String,
    /// The device that the name led to when it was opened last; `None` before that.
    pub resolved: Option<String>,
    /// How the link stands.
    pub state: LinkState,
    /// One sentence for a technician: what is wrong and what to do; empty when nothing is.
    pub text: String,
    /// Since when it is up, or isn't, in microseconds since the daemon's start: greetings in vain don't begin it anew.
    pub since_us: u64,
    /// When this report was made, on the same clock.
    pub at_us: u64,
    /// Who answered last; kept while the link is away.
    pub identity: Option<Identity>,
    /// Who answers there instead of what the port is configured for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Found>,
    /// The line spoils what it carries, or loses its device again and again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poor: Option<Poor>,
    /// Counted since the daemon's start.
    pub counts: Counts,
    /// Of the newest PINGs; `None` before the first answer.
    pub round_trip: Option<RoundTrip>,
    /// Of all PINGs since the daemon's start; `None` before the first answer.
    #[serde(default)]
    pub round_trip_ever: Option<RoundTripEver>,
    /// The device's clock can be related to ours: the age of keys is known.
    pub clocks_related: bool,
    /// How far its clock runs from ours, in this session; `None` until it was watched for a minute.
    #[serde(default)]
    pub drift: Option<Drift>,
    /// When the newest valid frame came, in microseconds since the daemon's start; `None` before the first.
    #[serde(default)]
    pub heard_us: Option<u64>,
    /// The longest time between two valid frames while the port was open; `None` before the second.
    #[serde(default)]
    pub longest_silence: Option<LongestSilence>,
    /// What was wrong with the line last; `None`: nothing yet.
    #[serde(default)]
    pub last_fault: Option<LastFault>,
}

/// How far a device's clock runs from ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Drift {
    /// Parts per million; above zero it runs fast. 1 ppm is 3.6 ms an hour.
    pub ppm: i64,
    /// Over how many seconds that was measured.
    pub over_s: u64,
}

/// A time without a valid frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LongestSilence {
    /// How long, in microseconds.
    pub lasted_us: u64,
    /// When it ended, in microseconds since the daemon's start.
    pub ended_us: u64,
}

/// What was wrong with a line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LastFault {
    /// A few words: "2 CRC errors", "down: ...".
    pub what: String,
    /// When it was noticed, in microseconds since the daemon's start.
    pub at_us: u64,
}

/// Round trips since the daemon's start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RoundTripEver {
    /// How many.
    pub count: u64,
    /// Half were quicker, in microseconds, to a quarter.
    pub p50_us: u32,
    /// 99 of 100 were quicker, likewise.
    pub p99_us: u32,
    /// The longest, in microseconds.
    pub max_us: u32,
}

/// How a link stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkState {
    /// The port is not open, or closed for a time.
    Down,
    /// The port is open and the device is being greeted.
    Greeting,
    /// Greeted, its status is known.
    Up,
    /// The port is open and greetings have had no answer for 3 s.
    Silent,
}

impl LinkState {
    /// The word for a person.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            LinkState::Down => "down",
            LinkState::Greeting => "greeting",
            LinkState::Up => "up",
            LinkState::Silent => "silent",
        }
    }
}

/// What a device is; the words of the configuration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Spins the dice.
    Tumbler,
    /// Keys, contacts, readout.
    Terminal,
    /// The layout's lamps.
    Lamps,
    /// Two-up's result lights.
    Lights,
}

impl Kind {
    /// The word for a person, as in `[devices.*]`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Kind::Tumbler => "tumbler",
            Kind::Terminal => "terminal",
            Kind::Lamps => "lamps",
            Kind::Lights => "lights",
        }
    }
}

impl Found {
    /// Who says this of itself.
    pub(super) fn of(hello: &DeviceHello) -> Found {
        let kind = match hello.kind() {
            wire::DeviceKind::Unspecified => None,
            wire::DeviceKind::Tumbler => Some(Kind::Tumbler),
            wire::DeviceKind::Terminal => Some(Kind::Terminal),
            wire::DeviceKind::LayoutLamps => Some(Kind::Lamps),
            wire::DeviceKind::ResultLights => Some(Kind::Lights),
        };
        Found {
            kind,
            serial_number: hello.serial_number.clone(),
        }
    }
}

impl From<Kind> for DeviceKind {
    fn from(kind: Kind) -> DeviceKind {
        match kind {
            Kind::Tumbler => DeviceKind::Tumbler,
            Kind::Terminal => DeviceKind::Terminal,
            Kind::Lamps => DeviceKind::LayoutLamps,
            Kind::Lights => DeviceKind::ResultLights,
        }
    }
}

impl From<DeviceKind> for Kind {
    fn from(kind: DeviceKind) -> Kind {
        match kind {
            DeviceKind::Tumbler => Kind::Tumbler,
            DeviceKind::Terminal => Kind::Terminal,
            DeviceKind::LayoutLamps => Kind::Lamps,
            DeviceKind::ResultLights => Kind::Lights,
        }
    }
}

/// Who a device said it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// Its serial number.
    pub serial_number: String,
    /// Its firmware's version.
    pub firmware: String,
    /// Changes at each of its starts.
    pub boot_id: u32,
    /// How many lamps it drives.
    pub lamp_count: u32,
    /// What it says of its firmware's image, in hex; empty: nothing.
    #[serde(default)]
    pub firmware_sha256: String,
}

/// A device on a port that is configured for another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Found {
    /// What it is; `None`: of a kind that this program doesn't know.
    pub kind: Option<Kind>,
    /// Its serial number.
    pub serial_number: String,
}

/// A line that spoils what it carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Poor {
    /// When it was noticed, in microseconds since the daemon's start.
    pub since_us: u64,
    /// Frames that came damaged within the last minute.
    pub damaged: u64,
    /// Messages that had to be sent again within the last minute, by either side.
    pub repeats: u64,
    /// Times that the device was lost within the last ten minutes.
    pub lost: u64,
}

impl From<&DeviceIdentity> for Identity {
    fn from(identity: &DeviceIdentity) -> Identity {
        Identity {
            serial_number: identity.serial_number.clone(),
            firmware: identity.firmware.clone(),
            boot_id: identity.boot_id,
            lamp_count: identity.lamp_count,
            firmware_sha256: identity
                .firmware_digest
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
        }
    }
}

/// Counters of a link, since the daemon's start. Frames that can't be used are in exactly one of the counters for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Times the port was opened.
    pub opened: u64,
    /// Times the link came up.
    pub sessions: u64,
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Valid frames read.
    pub frames_in: u64,
    /// Frames written, repeats included.
    pub frames_out: u64,
    /// Frames whose check failed.
    pub crc_errors: u64,
    /// Pieces between two zeros that are no frame at all.
    pub noise: u64,
    /// Frames of another version of the protocol.
    pub other_version: u64,
    /// Our own frames, come back.
    pub echoes: u64,
    /// DATA that the device sent again.
    pub repeats_in: u64,
    /// DATA that we sent again.
    pub repeats_out: u64,
    /// RESETs of the device: it had lost its session.
    pub resets: u64,
    /// DATA without a meaning known here, acknowledged and dropped.
    pub unknown: u64,
    /// Strings and numbers in messages that had to be replaced.
    pub mended: u64,
    /// Frames of ours that a line which takes nothing has cost.
    pub out_dropped: u64,
    /// DATA that got no acknowledgement at first, because the table's queue had no room.
    pub no_room: u64,
    /// States that came late, and were asked for anew.
    pub late: u64,
    /// Keys and entries older than 2 s when they arrived.
    pub stale: u64,
    /// Dice readings dropped because the cover was on.
    pub under_cover: u64,
}

/// Times from a PING to its PONG.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RoundTrip {
    /// Half were quicker, in microseconds.
    pub p50_us: u32,
    /// 99 of 100 were quicker, in microseconds.
    pub p99_us: u32,
    /// The longest, in microseconds.
    #[serde(default)]
    pub max_us: u32,
}

impl LinkReport {
    /// Of a port that nobody has tried to open yet.
    #[must_use]
    pub fn new(kind: Kind, port: String) -> LinkReport {
        LinkReport {
            kind,
            port,
            resolved: None,
            state: LinkState::Down,
            text: String::new(),
            since_us: 0,
            at_us: 0,
            identity: None,
            found: None,
            poor: None,
            counts: Counts::default(),
            round_trip: None,
            round_trip_ever: None,
            clocks_related: false,
            drift: None,
            heard_us: None,
            longest_silence: None,
            last_fault: None,
        }
    }
}
