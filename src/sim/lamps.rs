//! Simulated lamps: the layout's, or two-up's result lights.

use super::engine::{self, Link, Model};
use super::handle::{Handle, LineView, Setup};
use super::plug::Place;
use crate::time::Uptime;
use crate::wire::message::{DeviceKind, LampStatus, Sensing, from_device, to_device};
use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

/// How simulated lamps are built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LampsSetup {
    /// Layout lamps or result lights.
    pub kind: DeviceKind,
    /// How many.
    pub count: u32,
    /// How long they take to show a picture; the protocol gives them 300 ms.
    pub settle: Duration,
    /// Whether they measure what they show.
    pub sensing: Sensing,
}

impl Default for LampsSetup {
    fn default() -> Self {
        LampsSetup {
            kind: DeviceKind::LayoutLamps,
            // The layout of Appendix 2; that of Appendix 1 needs 50.
            count: 106,
            settle: Duration::from_millis(3),
            sensing: Sensing::Measured,
        }
    }
}

/// How a lamp is broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StuckAt {
    /// It follows.
    Healthy,
    /// It stays dark.
    Dark,
    /// It stays lit.
    Lit,
}

/// Simulated lamps.
pub type Lamps = Handle<Act, LampsView>;

/// What can be seen of lamps.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct LampsView {
    /// Bits of the lamps that are lit.
    pub lit: BTreeSet<u32>,
    /// They blink.
    pub blink: bool,
    /// What was last commanded.
    pub commanded: BTreeSet<u32>,
    /// Pictures received since the last boot.
    pub pictures: u64,
    /// Bits beyond the last lamp that were commanded.
    pub ignored_bits: u64,
    /// Their link.
    pub line: LineView,
}

/// A script's word to lamps.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub enum Act {
    Stick { lamp: u32, at: StuckAt },
    Admit { lamp: u32 },
    Sense(Sensing),
    Settle(Duration),
}

impl Lamps {
    /// Starts lamps; their port is there when this returns.
    ///
    /// # Errors
    /// When the pty or its symlink can't be made.
    pub fn start(setup: Setup, lamps: LampsSetup) -> io::Result<Lamps> {
        engine::start(setup, LampsModel::new(lamps))
    }

    /// Starts it in a place.
    pub(super) fn start_at(place: Place<LampsView>, setup: Setup, lamps: LampsSetup) -> io::Result<Lamps> {
        engine::start_at(place, setup, LampsModel::new(lamps))
    }

    /// Breaks or mends a lamp.
    pub async fn stick(&self, lamp: u32, at: StuckAt) {
        self.own(Act::Stick { lamp, at }).await;
    }

    /// The device knows that this lamp can't follow, and says so from now on.
    pub async fn admit_failed(&self, lamp: u32) {
        self.own(Act::Admit { lamp }).await;
    }

    /// Measures, or repeats what was commanded.
    pub async fn sense(&self, sensing: Sensing) {
        self.own(Act::Sense(sensing)).await;
    }

    /// How long pictures take to settle from now on.
    pub async fn settle_within(&self, settle: Duration) {
        self.own(Act::Settle(settle)).await;
    }
}

pub(super) struct LampsModel {
    setup: LampsSetup,
    commanded: BTreeSet<u32>,
    blink: bool,
    dark: BTreeSet<u32>,
    lit: BTreeSet<u32>,
    admitted: BTreeSet<u32>,
    settled_at: Option<Uptime>,
    pictures: u64,
    ignored_bits: u64,
}

impl LampsModel {
    fn new(setup: LampsSetup) -> Self {
        LampsModel {
            setup,
            commanded: BTreeSet::new(),
            blink: false,
            dark: BTreeSet::new(),
            lit: BTreeSet::new(),
            admitted: BTreeSet::new(),
            settled_at: None,
            pictures: 0,
            ignored_bits: 0,
        }
    }

    /// What the lamps really show.
    fn showing(&self) -> BTreeSet<u32> {
        let follow = self.commanded.difference(&self.dark);
        follow.chain(&self.lit).copied().collect()
    }

    fn lamp_status(&self) -> from_device::Body {
        let lit = match self.setup.sensing {
            Sensing::AsCommanded => self.commanded.clone(),
            Sensing::Measured | Sensing::Unspecified => self.showing(),
        };
        from_device::Body::Lamps(LampStatus {
            lit: pack(&lit),
            failed: pack(&self.admitted),
            sensing: self.setup.sensing.into(),
        })
    }
}

impl Model for LampsModel {
    type Act = Act;
    type View = LampsView;

    fn kind(&self) -> (DeviceKind, u32) {
        (self.setup.kind, self.setup.count)
    }

    fn boot(&mut self) {
        self.commanded.clear();
        self.blink = false;
        self.settled_at = None;
        self.pictures = 0;
        self.ignored_bits = 0;
    }

    fn accept(&mut self, link: &mut Link<'_>, body: to_device::Body) {
        match body {
            to_device::Body::Lamps(picture) => {
                let (known, beyond): (BTreeSet<u32>, BTreeSet<u32>) =
                    unpack(&picture.lit).partition(|lamp| *lamp < self.setup.count);
                self.ignored_bits += u64::try_from(beyond.len()).unwrap_or(0);
                self.commanded = known;
                self.blink = picture.blink;
                self.pictures += 1;
                self.settled_at = Some(link.now + self.setup.settle);
            }
            to_device::Body::Status(_)
            | to_device::Body::Readout(_)
            | to_device::Body::Inhibit(_)
            | to_device::Body::Spin(_)
            | to_device::Body::Digest(_) => {}
        }
    }

    fn act(&mut self, link: &mut Link<'_>, act: Act) {
        let before = self.lamp_status();
        match act {
            Act::Stick { lamp, at } => {
                self.dark.remove(&lamp);
                self.lit.remove(&lamp);
                self.admitted.remove(&lamp);
                match at {
                    StuckAt::Healthy => {}
                    StuckAt::Dark => drop(self.dark.insert(lamp)),
                    StuckAt::Lit => drop(self.lit.insert(lamp)),
                }
            }
            Act::Admit { lamp } => drop(self.admitted.insert(lamp)),
            Act::Sense(sensing) => self.setup.sensing = sensing,
            Act::Settle(settle) => self.setup.settle = settle,
        }
        let after = self.lamp_status();
        if before != after && self.settled_at.is_none() {
            link.report(after);
        }
    }

    fn session_ended(&mut self) {}

    fn host_gone(&mut self) {
        self.commanded.clear();
        self.blink = false;
        self.settled_at = None;
    }

    fn status(&self, _link: &Link<'_>) -> from_device::Body {
        self.lamp_status()
    }

    fn run(&mut self, link: &mut Link<'_>) {
        if self.settled_at.is_some_and(|at| link.now >= at) {
            self.settled_at = None;
            link.report(self.lamp_status());
        }
    }

    fn deadline(&self) -> Option<Uptime> {
        self.settled_at
    }

    fn view(&self, line: LineView) -> LampsView {
        LampsView {
            lit: self.showing(),
            blink: self.blink,
            commanded: self.commanded.clone(),
            pictures: self.pictures,
            ignored_bits: self.ignored_bits,
            line,
        }
    }
}

/// Bit n is byte n/8, bit n%8.
pub(super) fn pack(lamps: &BTreeSet<u32>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for lamp in lamps {
        let at = usize::try_from(lamp / 8).unwrap_or(0);
        if bytes.len() <= at {
            bytes.resize(at + 1, 0_u8);
        }
        if let Some(byte) = bytes.get_mut(at) {
            *byte |= 1 << (lamp % 8);
        }
    }
    bytes
}

fn unpack(bytes: &[u8]) -> impl Iterator<Item = u32> {
    (0_u32..).zip(bytes).flat_map(|(at, byte)| {
        (0..8)
            .filter(move |bit| byte & (1 << bit) != 0)
            .map(move |bit| at * 8 + bit)
    })
}
