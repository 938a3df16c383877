//! Everything that can come in and matter to the table. PURE.
//!
//! Tasks that own an outside thing translate to these words and stamp the time of arrival; the table never sees bytes.

use crate::table::event::{self, DeviceOfflineReason};
use crate::time::Uptime;

mod operator;
mod trial;
mod two_up;

pub use operator::{OperatorAct, Person, Role};
pub use trial::{Part, Pattern, Shown, TestStep};
pub use two_up::{DiceOff, LightSeen, Outcome, Replacement, Side, TwoUpKey};

/// What a device is. Exactly one of each kind at a table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DeviceKind {
    /// Spins the dice under its cover.
    Tumbler,
    /// Keys, contacts (bell, supervisor key, no-spin button, cabinet door) and readout.
    Terminal,
    /// The lamps of the layout's areas.
    LayoutLamps,
    /// The eleven result lights of two-up.
    ResultLights,
}

impl DeviceKind {
    /// As events write it.
    #[must_use]
    pub fn to_event(self) -> event::DeviceKind {
        match self {
            DeviceKind::Tumbler => event::DeviceKind::Tumbler,
            DeviceKind::Terminal => event::DeviceKind::Terminal,
            DeviceKind::LayoutLamps => event::DeviceKind::LayoutLamps,
            DeviceKind::ResultLights => event::DeviceKind::ResultLights,
        }
    }

    /// From an event; `None` for a kind that this version doesn't know.
    #[must_use]
    pub fn from_event(kind: event::DeviceKind) -> Option<DeviceKind> {
        match kind {
            event::DeviceKind::Unspecified => None,
            event::DeviceKind::Tumbler => Some(DeviceKind::Tumbler),
            event::DeviceKind::Terminal => Some(DeviceKind::Terminal),
            event::DeviceKind::LayoutLamps => Some(DeviceKind::LayoutLamps),
            event::DeviceKind::ResultLights => Some(DeviceKind::ResultLights),
        }
    }
}

/// Who a device said it is when it was greeted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceIdentity {
    /// What it is.
    pub kind: DeviceKind,
    /// Printable ASCII, at most 32 bytes.
    pub serial_number: String,
    /// Printable ASCII, at most 32 bytes.
    pub firmware: String,
    /// Changes at each of its starts.
    pub boot_id: u32,
    /// How many lamps it drives; 0 for a device without.
    pub lamp_count: u32,
    /// What it says of its firmware image; may be empty.
    pub firmware_digest: Vec<u8>,
}

/// A tumbler's motion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Motion {
    /// It does not say.
    Unknown,
    /// Dice lie still.
    AtRest,
    /// Dice are being spun.
    Spinning,
    /// It can't work properly.
    Fault,
}

/// A tumbler's cover.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cover {
    /// Not fitted, or it does not say.
    Unknown,
    /// The dice can't be seen.
    On,
    /// The dice can be seen.
    Off,
}

/// The seal of the dice compartment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seal {
    /// No sensor.
    Unknown,
    /// Whole.
    Intact,
    /// Broken.
    Broken,
}

/// What a dice reader says of how the dice lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flatness {
    /// No reader, or it can't tell: the dealer's judgement.
    Unknown,
    /// Every die lies flat.
    Flat,
    /// Some die does not lie flat.
    NotFlat,
}

/// A reading of uncovered dice. Readings under the cover never get here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiceReading {
    /// How they lie.
    pub flatness: Flatness,
    /// Sorted; `None` when they could not be read.
    pub faces: Option<[u8; 3]>,
}

/// A tumbler's whole status.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TumblerReport {
    /// What it does.
    pub motion: Motion,
    /// Activations since manufacture, wrapping.
    pub activations: u32,
    /// Spins since manufacture, wrapping; a spin counts when it ends.
    pub spins: u32,
    /// Its cover.
    pub cover: Cover,
    /// Its seal.
    pub seal: Seal,
    /// Dice seen, only while the cover is off (open tumbler: while allowed).
    pub dice: Option<DiceReading>,
    /// Its own fault number; 0: none.
    pub fault_code: u32,
    /// Its counters are known to have gone on since it was greeted last: it says KEPT, or says nothing and this run has greeted the
    /// same boot before. When false at a run's first greeting, the boot decides.
    pub counters_kept: bool,
}

/// A key of the terminal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Key {
    /// One of the six numbered keys, 1 to 6.
    Number(u8),
    /// The "no spin" key.
    NoSpin,
    /// Another key of a two-up terminal.
    TwoUp(TwoUpKey),
    /// A key unknown here, by its wire number.
    Other(u32),
}

impl Key {
    /// The wire number (wire-protocol `Key`).
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Key::Number(n) => u32::from(n),
            Key::NoSpin => 21,
            Key::TwoUp(key) => key.number(),
            Key::Other(n) => n,
        }
    }

    /// From the wire number.
    #[must_use]
    pub fn from_number(number: u32) -> Key {
        match number {
            1 => Key::Number(1),
            2 => Key::Number(2),
            3 => Key::Number(3),
            4 => Key::Number(4),
            5 => Key::Number(5),
            6 => Key::Number(6),
            16 => Key::TwoUp(TwoUpKey::Heads),
            17 => Key::TwoUp(TwoUpKey::Tails),
            18 => Key::TwoUp(TwoUpKey::Odds),
            19 => Key::TwoUp(TwoUpKey::TripleHeads),
            20 => Key::TwoUp(TwoUpKey::TripleTails),
            21 => Key::NoSpin,
            22 => Key::TwoUp(TwoUpKey::NewSpinner),
            23 => Key::TwoUp(TwoUpKey::SpinnerStops),
            24 => Key::TwoUp(TwoUpKey::Relieve),
            25 => Key::TwoUp(TwoUpKey::OffTable),
            26 => Key::TwoUp(TwoUpKey::NewSet),
            27 => Key::TwoUp(TwoUpKey::Overrule),
            other => Key::Other(other),
        }
    }
}

/// Contacts wired to the terminal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Contact {
    /// Rung at "no more bets".
    Bell,
    /// Closed while the supervisor's key is on.
    SupervisorKey,
    /// The dealer's "no spin".
    NoSpinButton,
    /// Closed while the cabinet's door is.
    CabinetDoor,
}

/// One contact as the terminal reports it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContactReport {
    /// Which.
    pub contact: Contact,
    /// Closed now.
    pub closed: bool,
    /// Closings since the terminal started.
    pub closings: u32,
    /// When it last closed, in this run's time; `None` when it never did or the clocks can't be related.
    pub last_closed: Option<Uptime>,
}

/// A terminal's whole status.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TerminalReport {
    /// Keys of the entry it holds.
    pub shown: Vec<Key>,
    /// The entry it takes keys for.
    pub entry: u32,
    /// Every contact that is fitted.
    pub contacts: Vec<ContactReport>,
}

/// What the lamps show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LampReport {
    /// Bit n is byte n/8, bit n%8.
    pub lit: Vec<u8>,
    /// Lamps that the device knows can't follow.
    pub failed: Vec<u8>,
    /// `lit` was measured; else it repeats the command and proves nothing.
    pub measured: bool,
}

/// A device's whole status, as it follows a greeting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeviceStatus {
    /// Of a tumbler.
    Tumbler(TumblerReport),
    /// Of a terminal.
    Terminal(TerminalReport),
    /// Of layout lamps or result lights.
    Lamps(LampReport),
}

/// Something that came in. `happened` and `pressed_at` are the device's time of the thing in this run's time,
/// `None` when the clocks can't be related: then it happened when it arrived.
#[derive(Clone, PartialEq, Debug)]
pub enum Input {
    /// The daemon is up: the journal is open, the state folded, `GatewayStarted` applied.
    Started,
    /// A device was greeted and gave its whole status.
    DeviceUp {
        /// Who it is.
        identity: DeviceIdentity,
        /// Its status.
        status: DeviceStatus,
    },
    /// A device can't be used.
    DeviceDown {
        /// Which.
        kind: DeviceKind,
        /// Why.
        reason: DeviceOfflineReason,
        /// For a person: port, holder, what was found instead.
        text: String,
    },
    /// A tumbler's status, on change or asked for.
    Tumbler {
        /// The status.
        report: TumblerReport,
        /// When it became so.
        happened: Option<Uptime>,
    },
    /// A terminal's status, asked for in mid session.
    Terminal(TerminalReport),
    /// A key was pressed.
    Key {
        /// Which.
        key: Key,
        /// The entry it belongs to.
        entry: u32,
        /// When.
        pressed_at: Option<Uptime>,
        /// Older than 2 s when it arrived.
        stale: bool,
    },
    /// ENTER was pressed.
    Entry {
        /// The keys it commits, oldest first.
        shown: Vec<Key>,
        /// The entry it belongs to.
        entry: u32,
        /// When.
        pressed_at: Option<Uptime>,
        /// Older than 2 s when it arrived.
        stale: bool,
    },
    /// A contact changed.
    Contact(ContactReport),
    /// Lamps changed, or settled after a command.
    Lamps(LampReport),
    /// The lamps' device acknowledged this picture; it may still be settling.
    LampsAcknowledged {
        /// The picture.
        lit: Vec<u8>,
    },
    /// A device reported a fault of its own, or that one is over.
    DeviceFault {
        /// Which device.
        kind: DeviceKind,
        /// Its number for the fault.
        code: u32,
        /// Its text.
        text: String,
        /// Raised; else cleared.
        raised: bool,
    },
    /// The frame layer dropped a dice reading made under the cover.
    ReadUnderCover,
    /// A condition outside the table began or ended (disk, broker, journal, clock): an alert, and for some a lock.
    Condition {
        /// Which.
        condition: Condition,
        /// For a person.
        text: String,
        /// It stands; else it is over.
        standing: bool,
    },
    /// A person acts through a command.
    Operator {
        /// Who.
        person: Person,
        /// What.
        act: OperatorAct,
    },
    /// The connection of the person who asked for Test, or who opens the table, is gone.
    OperatorGone {
        /// The connection's number.
        connection: u64,
    },
    /// A person asked for an act that they may not ask for so: by the wrong socket, or in somebody else's name.
    ActForbidden {
        /// Who.
        person: Person,
        /// What they asked for.
        act: OperatorAct,
        /// What they were told.
        text: String,
    },
    /// Digests were made because somebody asked: to be recorded before they are told.
    SoftwareVerified {
        /// Who asked.
        by: Asker,
        /// The digests.
        verified: event::SoftwareVerified,
    },
    /// Time passed: `Table::deadline` was reached.
    Deadline,
    /// The daemon stops cleanly: what is only counted yet (equal refusals, lamp flicker) is written now.
    Stopping,
}

/// Who asks what runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asker {
    /// The floor, by a request.
    Floor,
    /// A person, by a command.
    Person(Person),
}

/// Conditions outside the table that concern it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Condition {
    /// Less room than `min_free_mb`, or the ballast used up: holds the next round.
    DiskLow,
    /// Nothing old is deleted (no clock source), and the disk is 80 % full: an alert.
    DiskFilling,
    /// The journal could not be written for a time: freezes the table until a supervisor's word.
    JournalFailed,
    /// A journal was moved aside: holds the next round.
    JournalMovedAside,
    /// The background check of the journal failed: holds the next round.
    JournalDamaged,
    /// The disk went back in time: holds the next round.
    JournalRolledBack,
    /// An append took longer than 500 ms.
    JournalSlow,
    /// Events can't be read from the disk, and wait for the floor.
    JournalUnreadable,
    /// The broker refuses what the table publishes, by name.
    BrokerRefuses,
    /// No broker can be reached.
    BrokerUnreachable,
    /// The broker takes events, and nobody subscribes.
    NobodyListening,
    /// Another gateway with this table's identity is connected.
    TakenOver,
    /// An event was set aside: an alert until a person acknowledges it.
    EventSetAside,
    /// This device's link has had no clock relation for 10 s, or another lasting oddity (echo, wrong baud).
    LinkOdd(DeviceKind),
    /// Devices that the game needs have been away for long while the table was open, or being opened.
    DeviceOffline,
    /// The wall clock is not synchronised.
    ClockUnsynchronised,
    /// The table's own certificate, or one of those it trusts, expires soon or has expired.
    CertificateExpires,
    /// A certificate, the broker's or the table's own, is not taken: no connection.
    CertificateRefused,
}

/// An input with the time of its arrival, stamped by the task that owns its source.
#[derive(Clone, PartialEq, Debug)]
pub struct Arrival {
    /// When it arrived.
    pub at: Uptime,
    /// What.
    pub input: Input,
}
