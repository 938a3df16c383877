//! Pretend devices: what a tumbler, a terminal and a lamp board do physically and what they say of it. They know no rules.
//!
//! Times are microseconds of the scene, which never restart; the scene turns them into the run's time when it hands a report on.

use tablegate::table::indicators::{LampPicture, Readout, TumblerWish};
use tablegate::table::input::{
    Contact, Cover, DeviceIdentity, DeviceKind, DiceReading, Flatness, Key, LampReport, Motion, Seal, TumblerReport,
};

/// How long a device without its host keeps what it shows.
pub const HOLD_US: u64 = 10_000_000;

/// A device's link to the gateway.
#[derive(Clone, Debug)]
pub struct Link {
    pub up: bool,
    /// Counts sessions: what was in flight when one ended never arrives.
    pub session: u32,
    pub down_since: u64,
    /// How long what it says takes to arrive.
    pub latency_us: u64,
    pub boot_id: u32,
    pub serial_number: &'static str,
}

impl Link {
    fn new(boot_id: u32, serial_number: &'static str) -> Self {
        Link {
            up: false,
            session: 0,
            down_since: 0,
            latency_us: 0,
            boot_id,
            serial_number,
        }
    }
}

/// A covered tumbler.
#[derive(Clone, Debug)]
pub struct Tumbler {
    pub link: Link,
    pub motion: Motion,
    pub activations: u32,
    pub spins: u32,
    pub cover: Cover,
    pub seal: Seal,
    /// What a reader would say of the uncovered dice; `None` without a reader.
    pub reading: Option<(Flatness, Option<[u8; 3]>)>,
    pub fault_code: u32,
    pub kept: bool,
    pub wish: TumblerWish,
}

impl Tumbler {
    pub fn new() -> Self {
        Tumbler {
            link: Link::new(0x7001, "T-0042"),
            motion: Motion::AtRest,
            activations: 1000,
            spins: 3000,
            cover: Cover::On,
            seal: Seal::Intact,
            reading: None,
            fault_code: 0,
            kept: true,
            wish: TumblerWish::default(),
        }
    }

    pub fn report(&self) -> TumblerReport {
        TumblerReport {
            motion: self.motion,
            activations: self.activations,
            spins: self.spins,
            cover: self.cover,
            seal: self.seal,
            dice: match (self.cover, self.reading) {
                (Cover::Off, Some((flatness, faces))) => Some(DiceReading { flatness, faces }),
                _ => None,
            },
            fault_code: self.fault_code,
            counters_kept: self.kept,
        }
    }
}

/// One contact of the terminal.
#[derive(Clone, Debug)]
pub struct Wire {
    pub contact: Contact,
    pub closed: bool,
    pub closings: u32,
    pub last_closed: u64,
}

/// The entry terminal.
#[derive(Clone, Debug)]
pub struct Terminal {
    pub link: Link,
    pub entry: u32,
    pub shown: Vec<Key>,
    /// Keys are ignored until then, or until the next readout.
    pub ignores_until: u64,
    pub wires: Vec<Wire>,
    pub readout: Readout,
    pub readout_at: u64,
    /// Readouts don't reach it (they are on their way).
    pub deaf: bool,
    pub waiting: Option<Readout>,
    pub clocks_related: bool,
}

impl Terminal {
    pub fn new() -> Self {
        let wire = |contact, closed| Wire {
            contact,
            closed,
            closings: u32::from(closed),
            last_closed: 0,
        };
        Terminal {
            link: Link::new(0x7E01, "E-0007"),
            entry: 0,
            shown: Vec::new(),
            ignores_until: 0,
            wires: vec![
                wire(Contact::Bell, false),
                wire(Contact::SupervisorKey, false),
                wire(Contact::NoSpinButton, false),
                wire(Contact::CabinetDoor, true),
            ],
            readout: Readout::default(),
            readout_at: 0,
            deaf: false,
            waiting: None,
            clocks_related: true,
        }
    }

    pub fn wire(&mut self, contact: Contact) -> &mut Wire {
        self.wires
            .iter_mut()
            .find(|wire| wire.contact == contact)
            .expect("fitted")
    }

    /// A readout arrives.
    pub fn take(&mut self, readout: &Readout, now: u64) {
        if readout.entry != self.entry {
            self.shown.clear();
            self.entry = readout.entry;
        }
        self.ignores_until = 0;
        self.readout = readout.clone();
        self.readout_at = now;
    }

    /// A key goes down; true when the terminal takes it.
    pub fn key(&mut self, key: Key, now: u64) -> bool {
        if self.entry == 0 || now < self.ignores_until {
            return false;
        }
        let no_spin = key == Key::NoSpin || self.shown == [Key::NoSpin];
        if no_spin {
            self.shown.clear();
        }
        self.shown.push(key);
        if self.shown.len() > 3 {
            self.shown.remove(0);
        }
        if self.readout.for_ms > 0 {
            self.readout.text.clear();
        }
        true
    }

    /// What stands on its readout now: text, or nothing (then it shows keys).
    pub fn reads(&self, now: u64) -> &str {
        let for_us = u64::from(self.readout.for_ms) * 1000;
        let over = self.readout.for_ms != 0 && self.readout.for_ms != u32::MAX && now > self.readout_at + for_us;
        if over { "" } else { &self.readout.text }
    }
}

/// The lamp board.
#[derive(Clone, Debug)]
pub struct Lamps {
    pub link: Link,
    pub commanded: LampPicture,
    pub lit: Vec<u8>,
    pub failed: Vec<u8>,
    /// Bits that stay dark.
    pub dead: Vec<u16>,
    /// Bits that stay lit.
    pub stuck: Vec<u16>,
    pub measured: bool,
    pub manners: Manners,
}

/// How the lamp board treats commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manners {
    /// Acknowledges after 5 ms and reports after 150 ms.
    Follows,
    /// Acknowledges and reports within 2 ms.
    FollowsAtOnce,
    /// Acknowledges, and never reports.
    Mute,
}

impl Lamps {
    pub fn new() -> Self {
        Lamps {
            link: Link::new(0x7A01, "L-0003"),
            commanded: LampPicture::default(),
            lit: Vec::new(),
            failed: Vec::new(),
            dead: Vec::new(),
            stuck: Vec::new(),
            measured: true,
            manners: Manners::Follows,
        }
    }

    /// The picture as it really shows.
    pub fn show(&mut self) {
        let mut bits = bits_of(&self.commanded.lit);
        if self.measured {
            bits.retain(|bit| !self.dead.contains(bit));
            bits.extend(self.stuck.iter().copied());
        }
        self.lit = bytes_of(&bits);
    }

    pub fn report(&self) -> LampReport {
        LampReport {
            lit: self.lit.clone(),
            failed: self.failed.clone(),
            measured: self.measured,
        }
    }
}

pub fn identity(kind: DeviceKind, link: &Link, lamp_count: u32) -> DeviceIdentity {
    DeviceIdentity {
        kind,
        serial_number: link.serial_number.into(),
        firmware: "1.4".into(),
        boot_id: link.boot_id,
        lamp_count,
        firmware_digest: vec![0xAB; 32],
    }
}

/// The bits that are set.
pub fn bits_of(bytes: &[u8]) -> Vec<u16> {
    let set = |bit: &u16| bytes[usize::from(bit / 8)] >> (bit % 8) & 1 == 1;
    (0..u16::try_from(bytes.len() * 8).unwrap()).filter(set).collect()
}

/// The bytes with these bits set, without trailing zeros.
pub fn bytes_of(bits: &[u16]) -> Vec<u8> {
    let mut bytes = vec![0u8; bits.iter().max().map_or(0, |bit| usize::from(bit / 8) + 1)];
    for bit in bits {
        bytes[usize::from(bit / 8)] |= 1 << (bit % 8);
    }
    bytes
}
