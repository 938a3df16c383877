//! A simulated dice tumbler: spins, cover, seal, reader.

use super::Chance;
use super::engine::{self, Link, Model};
use super::handle::{Handle, LineView, Setup};
use super::plug::Place;
use crate::time::Uptime;
use crate::wire::message::{
    Cover, DeviceKind, DiceReading, Flatness, Kept, Motion, Seal, TumblerStatus, from_device, to_device,
};
use std::io;
use std::time::Duration;

/// How a simulated tumbler is built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TumblerSetup {
    /// Whether it can read its dice.
    pub reader: Reader,
    /// How long one spin takes.
    pub spin: Duration,
    /// Its counters when it is started (they wrap at 2^32).
    pub counters: u32,
    /// The seal of its dice compartment.
    pub seal: Seal,
    /// For the dice.
    pub seed: u64,
}

impl Default for TumblerSetup {
    fn default() -> Self {
        TumblerSetup {
            reader: Reader::Honest,
            spin: Duration::from_millis(300),
            counters: 0,
            seal: Seal::Intact,
            seed: 1,
        }
    }
}

/// What a tumbler tells of its dice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reader {
    /// It has none.
    None,
    /// Only while the cover is off.
    Honest,
    /// An open tumbler's: only while `dice_allowed`.
    Open,
    /// Also under the cover, which it must not.
    Cheating,
}

/// What happens to counters at a reboot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterMemory {
    /// They survive.
    Kept,
    /// They begin at 0 again.
    Lost,
}

/// What came of a wish to spin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spun {
    /// The dice tumble.
    Started,
    /// The tumbler is inhibited.
    Inhibited,
}

/// A simulated tumbler.
pub type Tumbler = Handle<Act, TumblerView>;

/// What can be seen of a tumbler.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct TumblerView {
    /// The dice tumble.
    pub spinning: bool,
    /// Started spins since manufacture.
    pub activations: u32,
    /// Finished spins since manufacture.
    pub spins: u32,
    /// The cover lies on.
    pub covered: bool,
    /// It refuses to spin.
    pub inhibited: bool,
    /// The host lets a reader report.
    pub dice_allowed: bool,
    /// `Inhibit` received since the last boot.
    pub inhibits: u64,
    /// Spins refused since the last boot.
    pub refused: u64,
    /// What the dice show; whoever looks at a simulation may know.
    pub faces: [u8; 3],
    /// Its link.
    pub line: LineView,
}

/// A script's word to a tumbler.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub enum Act {
    Spin(u32),
    Cover(Cover),
    Dice([u8; 3]),
    Flatness(Flatness),
    Seal(Seal),
    Fault(u32),
    Reader(Reader),
    Memory(CounterMemory),
}

impl Tumbler {
    /// Starts a tumbler at rest, its cover on; its port is there when this returns.
    ///
    /// # Errors
    /// When the pty or its symlink can't be made.
    pub fn start(setup: Setup, tumbler: TumblerSetup) -> io::Result<Tumbler> {
        engine::start(setup, TumblerModel::new(tumbler))
    }

    /// Starts it in a place.
    pub(super) fn start_at(place: Place<TumblerView>, setup: Setup, tumbler: TumblerSetup) -> io::Result<Tumbler> {
        engine::start_at(place, setup, TumblerModel::new(tumbler))
    }

    /// Spins so often, one after the other. While it is inhibited nothing happens.
    pub async fn spin(&self, times: u32) -> Spun {
        let before = self.view().refused;
        self.own(Act::Spin(times)).await;
        if self.view().refused == before {
            Spun::Started
        } else {
            Spun::Inhibited
        }
    }

    /// Takes the cover off or puts it on.
    pub async fn cover(&self, cover: Cover) {
        self.own(Act::Cover(cover)).await;
    }

    /// What the dice will show after the spins that come (and show now, if they lie still).
    pub async fn load_dice(&self, faces: [u8; 3]) {
        self.own(Act::Dice(faces)).await;
    }

    /// How the dice lie, as its reader sees it.
    pub async fn flatness(&self, flatness: Flatness) {
        self.own(Act::Flatness(flatness)).await;
    }

    /// Breaks or mends the seal.
    pub async fn seal(&self, seal: Seal) {
        self.own(Act::Seal(seal)).await;
    }

    /// A fault of the motor (its number), or 0 for none.
    pub async fn motor_fault(&self, code: u32) {
        self.own(Act::Fault(code)).await;
    }

    /// Another reader.
    pub async fn reader(&self, reader: Reader) {
        self.own(Act::Reader(reader)).await;
    }

    /// What becomes of the counters at the next reboot.
    pub async fn remember_counters(&self, memory: CounterMemory) {
        self.own(Act::Memory(memory)).await;
    }
}

pub(super) struct TumblerModel {
    setup: TumblerSetup,
    chance: Chance,
    loaded: Option<[u8; 3]>,
    faces: [u8; 3],
    flatness: Flatness,
    activations: u32,
    spins: u32,
    to_spin: u32,
    spin_ends: Option<Uptime>,
    cover: Cover,
    inhibited: bool,
    dice_allowed: bool,
    fault_code: u32,
    memory: CounterMemory,
    kept: Kept,
    inhibits: u64,
    refused: u64,
}

impl TumblerModel {
    fn new(setup: TumblerSetup) -> Self {
        let mut chance = Chance::new(setup.seed);
        TumblerModel {
            faces: [chance.face(), chance.face(), chance.face()],
            chance,
            loaded: None,
            flatness: Flatness::Flat,
            activations: setup.counters,
            spins: setup.counters,
            to_spin: 0,
            spin_ends: None,
            cover: Cover::On,
            inhibited: false,
            dice_allowed: false,
            fault_code: 0,
            memory: CounterMemory::Kept,
            kept: Kept::Kept,
            inhibits: 0,
            refused: 0,
            setup,
        }
    }

    fn spin(&mut self, now: Uptime, times: u32) {
        if self.inhibited || self.fault_code != 0 {
            self.refused += 1;
        } else if times > 0 {
            self.to_spin = self.to_spin.saturating_add(times);
            self.begin_spin(now);
        }
    }

    fn begin_spin(&mut self, now: Uptime) {
        if self.spin_ends.is_none() {
            self.activations = self.activations.wrapping_add(1);
            self.spin_ends = Some(now + self.setup.spin);
        }
    }

    fn end_spin(&mut self, now: Uptime) {
        self.spin_ends = None;
        self.spins = self.spins.wrapping_add(1);
        self.to_spin = self.to_spin.saturating_sub(1);
        self.faces = match self.loaded {
            Some(faces) => faces,
            None => [self.chance.face(), self.chance.face(), self.chance.face()],
        };
        if self.to_spin > 0 {
            self.begin_spin(now);
        }
    }

    fn tumbler_status(&self) -> TumblerStatus {
        let may_read = match self.setup.reader {
            Reader::None => false,
            Reader::Honest => self.cover == Cover::Off,
            Reader::Open => self.dice_allowed,
            Reader::Cheating => true,
        };
        let motion = match self.spin_ends {
            Some(_) => Motion::Spinning,
            None if self.fault_code != 0 => Motion::Fault,
            None => Motion::AtRest,
        };
        let faces = self.faces.map(u32::from).to_vec();
        TumblerStatus {
            motion: motion.into(),
            activations: self.activations,
            spins: self.spins,
            cover: self.cover.into(),
            seal: self.setup.seal.into(),
            dice: (may_read && motion == Motion::AtRest).then(|| DiceReading {
                flatness: self.flatness.into(),
                faces,
            }),
            fault_code: self.fault_code,
            counters: self.kept.into(),
        }
    }

    fn report_change(&self, link: &mut Link<'_>, before: &TumblerStatus) {
        let after = self.tumbler_status();
        if after != *before {
            link.report(from_device::Body::Tumbler(after));
        }
    }
}

impl Model for TumblerModel {
    type Act = Act;
    type View = TumblerView;

    fn kind(&self) -> (DeviceKind, u32) {
        (DeviceKind::Tumbler, 0)
    }

    fn boot(&mut self) {
        self.kept = Kept::Kept;
        if self.memory == CounterMemory::Lost {
            self.activations = 0;
            self.spins = 0;
            self.kept = Kept::Lost;
            self.memory = CounterMemory::Kept;
        }
        self.to_spin = 0;
        self.spin_ends = None;
        self.inhibited = false;
        self.dice_allowed = false;
        self.inhibits = 0;
        self.refused = 0;
    }

    fn accept(&mut self, link: &mut Link<'_>, body: to_device::Body) {
        let before = self.tumbler_status();
        match body {
            to_device::Body::Inhibit(inhibit) => {
                self.inhibited = inhibit.on;
                self.dice_allowed = inhibit.dice_allowed;
                self.inhibits += 1;
            }
            to_device::Body::Spin(spin) => self.spin(link.now, spin.times),
            to_device::Body::Status(_)
            | to_device::Body::Readout(_)
            | to_device::Body::Lamps(_)
            | to_device::Body::Digest(_) => {}
        }
        self.report_change(link, &before);
    }

    fn act(&mut self, link: &mut Link<'_>, act: Act) {
        let before = self.tumbler_status();
        match act {
            Act::Spin(times) => self.spin(link.now, times),
            Act::Cover(cover) => self.cover = cover,
            Act::Dice(faces) => {
                self.loaded = Some(faces);
                if self.spin_ends.is_none() {
                    self.faces = faces;
                }
            }
            Act::Flatness(flatness) => self.flatness = flatness,
            Act::Seal(seal) => self.setup.seal = seal,
            Act::Fault(code) => self.fault_code = code,
            Act::Reader(reader) => self.setup.reader = reader,
            Act::Memory(memory) => self.memory = memory,
        }
        self.report_change(link, &before);
    }

    fn session_ended(&mut self) {}

    fn host_gone(&mut self) {
        self.inhibited = false;
        self.dice_allowed = false;
    }

    fn status(&self, _link: &Link<'_>) -> from_device::Body {
        from_device::Body::Tumbler(self.tumbler_status())
    }

    fn run(&mut self, link: &mut Link<'_>) {
        while let Some(end) = self.spin_ends.filter(|end| link.now >= *end) {
            let before = self.tumbler_status();
            self.end_spin(end);
            self.report_change(link, &before);
        }
    }

    fn deadline(&self) -> Option<Uptime> {
        self.spin_ends
    }

    fn view(&self, line: LineView) -> TumblerView {
        TumblerView {
            spinning: self.spin_ends.is_some(),
            activations: self.activations,
            spins: self.spins,
            covered: self.cover != Cover::Off,
            inhibited: self.inhibited,
            dice_allowed: self.dice_allowed,
            inhibits: self.inhibits,
            refused: self.refused,
            faces: self.faces,
            line,
        }
    }
}
