//! The devices of a table as they are, and what can happen to them: they know no rules. One world serves every game; a game's
//! alphabet says which acts it has.

use super::form::{Form, Formed};
use crate::table::event::DeviceOfflineReason;
use crate::table::indicators::{Indicators, Readout};
use crate::table::input::{
    Contact, ContactReport, Cover, DeviceIdentity, DeviceKind, DeviceStatus, DiceReading, Input, Key, LampReport,
    Motion, OperatorAct, Person, Role, Seal, TerminalReport, TumblerReport,
};
use crate::time::Uptime;
use std::time::Duration;

/// One thing that happens.
#[derive(Clone, PartialEq, Debug)]
pub enum Act {
    /// Time passes up to the next deadline.
    NextDeadline,
    /// Time passes, milliseconds.
    Wait(u64),
    /// The dice begin to spin.
    SpinBegins,
    /// They begin to spin although the tumbler was told to refuse.
    SpinDespite,
    /// They have spun so often and lie still.
    SpinEnds(u32),
    /// The tumbler's cover is taken off or put on.
    Cover(Cover),
    /// The same, known only so many milliseconds later.
    CoverLate(Cover, u64),
    /// The tumbler's fault comes or goes.
    TumblerFault,
    /// The seal breaks or is whole again.
    Seal,
    /// A dice reader sees this from now on.
    Reader(Option<DiceReading>),
    /// A key.
    Key(Key),
    /// These keys one after the other, then ENTER.
    KeysIn(&'static [Key]),
    /// ENTER.
    Enter,
    /// ENTER with a key that the gateway hasn't heard of.
    EnterMore(Key),
    /// A key that arrives too late to count.
    StaleKey(Key),
    /// A key of the entry before.
    OldKey(Key),
    /// The bell rings.
    Bell,
    /// It rang so many milliseconds ago.
    BellLate(u64),
    /// A contact closes and opens.
    Press(Contact),
    /// A contact changes and stays so.
    Turn(Contact),
    /// The lamps take the picture and show it.
    LampsFollow,
    /// They take it; what they show isn't told yet.
    LampsAcknowledge,
    /// They tell what they show.
    LampsShow(Shown),
    /// They begin to repeat commands instead of measuring, or measure again.
    LampsMeasure,
    /// A link breaks.
    Down(DeviceKind),
    /// A link is back.
    Up(DeviceKind),
    /// The device was restarted and its link is back: a tumbler without its counters.
    UpAnew(DeviceKind),
    /// Another tumbler stands in its place, with counters of its own.
    UpOther,
    /// The terminal is asked how it is, in mid session.
    TerminalTells,
    /// Devices' clocks can't be related any more, or can again.
    Clocks,
    /// Power cut of the PC.
    Restart,
    /// The daemon stops in an orderly way, and starts again.
    StopAndStart,
    /// Anything else that comes in.
    Comes(Input),
    /// A person's command.
    Person(Role, OperatorAct),
}

/// What lamps show against the picture that they were told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    /// That picture.
    Right,
    /// Its first lamp stays dark.
    OneMissing,
    /// This lamp as well.
    OneMore(u16),
    /// Every lamp.
    All,
}

#[derive(Clone, PartialEq, Debug)]
pub struct World {
    pub tumbler: Tumbler,
    pub terminal: Terminal,
    pub lamps: Lamps,
    /// The devices that the game has.
    pub kinds: &'static [DeviceKind],
    /// What devices say of the time when something happened can be told in the run's time.
    pub clocks_related: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Tumbler {
    pub up: bool,
    pub serial_number: &'static str,
    pub boot_id: u32,
    pub kept: bool,
    pub activations: u32,
    pub spins: u32,
    pub motion: Motion,
    pub cover: Cover,
    pub seal: Seal,
    pub reading: Option<DiceReading>,
    pub inhibited: bool,
    /// A reader may tell what it sees.
    pub allowed: bool,
    /// The dice could be seen since they were last spun.
    pub exposed: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Terminal {
    pub up: bool,
    pub boot_id: u32,
    pub entry: u32,
    pub keys: Vec<Key>,
    /// Bell, supervisor's key, "no spin", door.
    pub wires: [Wire; 4],
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Wire {
    pub closed: bool,
    pub closings: u32,
    pub last_closed: Option<Uptime>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Lamps {
    pub up: bool,
    pub kind: DeviceKind,
    pub boot_id: u32,
    pub count: u16,
    /// The picture that is wanted of them.
    pub wanted: Vec<u8>,
    /// The picture that they acknowledged.
    pub told: Vec<u8>,
    pub shown: Vec<u8>,
    pub measured: bool,
}

const CONTACTS: [Contact; 4] = [
    Contact::Bell,
    Contact::SupervisorKey,
    Contact::NoSpinButton,
    Contact::CabinetDoor,
];

fn place(contact: Contact) -> usize {
    CONTACTS.iter().position(|known| *known == contact).unwrap()
}

/// The supervisor's connection and the technician's.
pub const CONNECTIONS: [u64; 2] = [1, 2];

pub fn person(role: Role) -> Person {
    let (name, connection) = match role {
        Role::Supervisor => ("maria", CONNECTIONS[0]),
        Role::Technician => ("tom", CONNECTIONS[1]),
    };
    Person {
        name: name.into(),
        login: None,
        role,
        connection,
    }
}

impl World {
    pub fn new(kinds: &'static [DeviceKind], cover: Cover, lamps: u16) -> Self {
        let lamp_kind = if kinds.contains(&DeviceKind::ResultLights) {
            DeviceKind::ResultLights
        } else {
            DeviceKind::LayoutLamps
        };
        let mut wires = [Wire::default(); 4];
        wires[place(Contact::CabinetDoor)] = Wire {
            closed: true,
            closings: 1,
            last_closed: None,
        };
        World {
            tumbler: Tumbler {
                up: false,
                serial_number: "T-0042",
                boot_id: 7,
                kept: true,
                activations: 1000,
                spins: 3000,
                motion: Motion::AtRest,
                cover,
                seal: Seal::Intact,
                reading: None,
                inhibited: false,
                allowed: false,
                exposed: false,
            },
            terminal: Terminal {
                up: false,
                boot_id: 7,
                entry: 0,
                keys: Vec::new(),
                wires,
            },
            lamps: Lamps {
                up: false,
                kind: lamp_kind,
                boot_id: 7,
                count: lamps,
                wanted: Vec::new(),
                told: Vec::new(),
                shown: Vec::new(),
                measured: true,
            },
            kinds,
            clocks_related: true,
        }
    }

    pub fn is_up(&self, kind: DeviceKind) -> bool {
        match kind {
            DeviceKind::Tumbler => self.tumbler.up,
            DeviceKind::Terminal => self.terminal.up,
            DeviceKind::LayoutLamps | DeviceKind::ResultLights => self.lamps.up,
        }
    }

    fn set_up(&mut self, kind: DeviceKind, up: bool) {
        match kind {
            DeviceKind::Tumbler => self.tumbler.up = up,
            DeviceKind::Terminal => self.terminal.up = up,
            DeviceKind::LayoutLamps | DeviceKind::ResultLights => self.lamps.up = up,
        }
    }

    pub fn boot_id(&self, kind: DeviceKind) -> u32 {
        match kind {
            DeviceKind::Tumbler => self.tumbler.boot_id,
            DeviceKind::Terminal => self.terminal.boot_id,
            DeviceKind::LayoutLamps | DeviceKind::ResultLights => self.lamps.boot_id,
        }
    }

    fn has(&self, kind: DeviceKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// The act can happen, and isn't the same as doing nothing.
    pub fn allows(&self, act: &Act) -> bool {
        let tumbler = &self.tumbler;
        if is_of(act, DeviceKind::Tumbler) && !self.has(DeviceKind::Tumbler) {
            return false;
        }
        match act {
            Act::SpinBegins => tumbler.motion == Motion::AtRest && !tumbler.inhibited,
            Act::SpinDespite => tumbler.motion == Motion::AtRest && tumbler.inhibited,
            Act::SpinEnds(_) => tumbler.motion == Motion::Spinning,
            Act::Cover(cover) | Act::CoverLate(cover, _) => tumbler.cover != *cover && tumbler.cover != Cover::Unknown,
            Act::TumblerFault => tumbler.motion != Motion::Spinning,
            Act::Reader(reading) => tumbler.reading != *reading,
            Act::Seal | Act::NextDeadline | Act::Wait(_) | Act::Restart | Act::StopAndStart => true,
            Act::Key(_) | Act::KeysIn(_) | Act::Enter | Act::EnterMore(_) | Act::StaleKey(_) | Act::OldKey(_) => {
                self.terminal.up && self.terminal.entry != 0
            }
            Act::Bell | Act::Press(_) | Act::Turn(_) => true,
            Act::BellLate(_) => self.terminal.up,
            Act::LampsFollow => {
                self.lamps.up && (self.lamps.wanted != self.lamps.told || self.lamps.shown != self.lamps.told)
            }
            Act::LampsAcknowledge => self.lamps.up && self.lamps.wanted != self.lamps.told,
            Act::LampsShow(shown) => self.lamps.up && self.lamps.measured && self.showing(*shown) != self.lamps.shown,
            Act::LampsMeasure => self.lamps.up,
            Act::Down(kind) => self.has(*kind) && self.is_up(*kind),
            Act::Up(kind) | Act::UpAnew(kind) => self.has(*kind) && !self.is_up(*kind),
            Act::UpOther => self.has(DeviceKind::Tumbler) && !tumbler.up && tumbler.serial_number == "T-0042",
            Act::TerminalTells => self.terminal.up,
            Act::Clocks | Act::Comes(_) | Act::Person(_, _) => true,
        }
    }

    /// The tumbler tells when the dice can be seen.
    pub fn tells_the_uncover(&self) -> bool {
        self.tumbler.up && self.tumbler.cover != Cover::Unknown
    }

    /// Nothing about the devices is out of the ordinary that a supervisor would have to look at.
    pub fn is_plain(&self) -> bool {
        let tumbler = &self.tumbler;
        let supervised = self.terminal.wire(Contact::SupervisorKey).closed;
        let shut = self.terminal.wire(Contact::CabinetDoor).closed;
        tumbler.motion == Motion::AtRest
            && tumbler.seal == Seal::Intact
            && tumbler.reading.is_none()
            && !supervised
            && shut
    }

    /// Everything that is told of a device, as it follows a greeting.
    pub fn greets(&mut self, kind: DeviceKind) -> Input {
        self.set_up(kind, true);
        let (serial_number, lamp_count, status) = match kind {
            DeviceKind::Tumbler => {
                let report = self.tumbler_report();
                self.tumbler.kept = true;
                (self.tumbler.serial_number, 0, DeviceStatus::Tumbler(report))
            }
            DeviceKind::Terminal => ("E-0007", 0, DeviceStatus::Terminal(self.terminal_report())),
            DeviceKind::LayoutLamps | DeviceKind::ResultLights => {
                let count = u32::from(self.lamps.count);
                ("L-0003", count, DeviceStatus::Lamps(self.lamp_report()))
            }
        };
        Input::DeviceUp {
            identity: DeviceIdentity {
                kind,
                serial_number: serial_number.into(),
                firmware: "1.4".into(),
                boot_id: self.boot_id(kind),
                lamp_count,
                firmware_digest: Vec::new(),
            },
            status,
        }
    }

    pub fn breaks(&mut self, kind: DeviceKind) -> Input {
        self.set_up(kind, false);
        Input::DeviceDown {
            kind,
            reason: DeviceOfflineReason::Silent,
            text: String::new(),
        }
    }

    /// The device starts again: what it kept only while it had power is gone.
    pub fn starts_again(&mut self, kind: DeviceKind) {
        match kind {
            DeviceKind::Tumbler => {
                self.tumbler.boot_id += 1;
                self.tumbler.kept = false;
                self.tumbler.activations = 0;
                self.tumbler.spins = 0;
                self.tumbler.motion = Motion::AtRest;
            }
            DeviceKind::Terminal => {
                self.terminal.boot_id += 1;
                self.terminal.entry = 0;
                self.terminal.keys.clear();
                for wire in &mut self.terminal.wires {
                    wire.closings = u32::from(wire.closed);
                    wire.last_closed = None;
                }
            }
            DeviceKind::LayoutLamps | DeviceKind::ResultLights => {
                self.lamps.boot_id += 1;
                self.lamps.told.clear();
                self.lamps.shown.clear();
            }
        }
    }

    /// Another tumbler is put in place of the first.
    pub fn is_replaced(&mut self) {
        self.tumbler.serial_number = "T-0043";
        self.tumbler.activations = 70;
        self.tumbler.spins = 210;
        self.tumbler.motion = Motion::AtRest;
    }

    /// The gateway is gone: links are down, and moments of its run are told in the next one's time as its beginning.
    pub fn loses_gateway(&mut self) {
        for kind in self.kinds {
            self.set_up(*kind, false);
        }
        for wire in &mut self.terminal.wires {
            wire.last_closed = wire.last_closed.map(|_| Uptime::ZERO);
        }
    }

    pub fn tumbler_report(&self) -> TumblerReport {
        let tumbler = &self.tumbler;
        TumblerReport {
            motion: tumbler.motion,
            activations: tumbler.activations,
            spins: tumbler.spins,
            cover: tumbler.cover,
            seal: tumbler.seal,
            dice: match tumbler.cover {
                Cover::Off => tumbler.reading.clone(),
                Cover::Unknown if tumbler.allowed => tumbler.reading.clone(),
                Cover::On | Cover::Unknown => None,
            },
            fault_code: u32::from(tumbler.motion == Motion::Fault) * 5,
            counters_kept: tumbler.kept,
        }
    }

    pub fn terminal_report(&self) -> TerminalReport {
        TerminalReport {
            shown: self.terminal.keys.clone(),
            entry: self.terminal.entry,
            contacts: CONTACTS.iter().map(|contact| self.contact_report(*contact)).collect(),
        }
    }

    pub fn contact_report(&self, contact: Contact) -> ContactReport {
        let wire = self.terminal.wire(contact);
        ContactReport {
            contact,
            closed: wire.closed,
            closings: wire.closings,
            last_closed: wire.last_closed.filter(|_| self.clocks_related),
        }
    }

    pub fn lamp_report(&self) -> LampReport {
        LampReport {
            lit: self.lamps.shown.clone(),
            failed: Vec::new(),
            measured: self.lamps.measured,
        }
    }

    /// What the lamps show when they show it so.
    pub fn showing(&self, shown: Shown) -> Vec<u8> {
        let mut bits = bits_of(&self.lamps.told);
        match shown {
            Shown::Right => {}
            Shown::OneMissing => {
                bits.drain(..bits.len().min(1));
            }
            Shown::OneMore(bit) => {
                if !bits.contains(&bit) {
                    bits.push(bit);
                }
            }
            Shown::All => bits = (0..self.lamps.count).collect(),
        }
        bytes_of(&bits)
    }

    /// What the gateway wishes reaches the devices whose links are up.
    pub fn hears(&mut self, indicators: &Indicators) {
        if self.terminal.up {
            self.terminal.takes(&indicators.readout);
        }
        self.tumbler.inhibited = self.tumbler.up && indicators.tumbler.inhibit;
        self.tumbler.allowed = self.tumbler.up && indicators.tumbler.dice_allowed;
        if self.lamps.wanted != indicators.lamps.lit {
            self.lamps.wanted.clone_from(&indicators.lamps.lit);
        }
    }
}

impl Terminal {
    pub fn wire(&self, contact: Contact) -> &Wire {
        &self.wires[place(contact)]
    }

    fn takes(&mut self, readout: &Readout) {
        if readout.entry != self.entry {
            self.keys.clear();
            self.entry = readout.entry;
        }
    }

    /// A key goes down.
    pub fn key(&mut self, key: Key) {
        if key == Key::NoSpin || self.keys == [Key::NoSpin] {
            self.keys.clear();
        }
        self.keys.push(key);
        if self.keys.len() > 3 {
            self.keys.remove(0);
        }
    }

    /// A contact closes at `at`.
    pub fn closes(&mut self, contact: Contact, at: Uptime) {
        let wire = &mut self.wires[place(contact)];
        wire.closed = true;
        wire.closings += 1;
        wire.last_closed = Some(at);
    }

    pub fn opens(&mut self, contact: Contact) {
        self.wires[place(contact)].closed = false;
    }
}

impl Formed for World {
    fn form(&self, f: &mut Form<'_>) {
        let World {
            tumbler,
            terminal,
            lamps,
            kinds: _,
            clocks_related,
        } = self;
        clocks_related.form(f);
        let Tumbler {
            up,
            serial_number,
            boot_id: _,
            kept,
            activations: _,
            spins: _,
            motion,
            cover,
            seal,
            reading,
            inhibited,
            allowed,
            exposed,
        } = tumbler;
        up.form(f);
        f.text(serial_number);
        kept.form(f);
        f.byte(*motion as u8);
        f.byte(*cover as u8);
        f.byte(*seal as u8);
        reading.form(f);
        inhibited.form(f);
        allowed.form(f);
        exposed.form(f);
        let Terminal {
            up,
            boot_id: _,
            entry,
            keys,
            wires,
        } = terminal;
        up.form(f);
        f.byte(u8::from(*entry != 0));
        keys.form(f);
        for Wire {
            closed,
            closings: _,
            last_closed,
        } in wires
        {
            closed.form(f);
            f.ages(*last_closed, 2_000);
        }
        let Lamps {
            up,
            kind: _,
            boot_id: _,
            count: _,
            wanted,
            told,
            shown,
            measured,
        } = lamps;
        up.form(f);
        f.slice(wanted);
        f.slice(told);
        f.slice(shown);
        measured.form(f);
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

/// Milliseconds.
pub fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Acts of a device that is dead don't happen.
pub fn is_of(act: &Act, kind: DeviceKind) -> bool {
    match kind {
        DeviceKind::Tumbler => matches!(
            act,
            Act::SpinBegins
                | Act::SpinDespite
                | Act::SpinEnds(_)
                | Act::Cover(_)
                | Act::CoverLate(..)
                | Act::TumblerFault
                | Act::Seal
        ),
        DeviceKind::Terminal => matches!(
            act,
            Act::Key(_) | Act::KeysIn(_) | Act::Enter | Act::Bell | Act::BellLate(_) | Act::Press(_) | Act::Turn(_)
        ),
        DeviceKind::LayoutLamps | DeviceKind::ResultLights => {
            matches!(act, Act::LampsFollow | Act::LampsAcknowledge | Act::LampsShow(_))
        }
    }
}
