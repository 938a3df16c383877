//! The simulated devices of a table, on lines in memory, and what a person in front of them sees and hears.

use super::eyes::Eyes;
use super::line::Line;
use super::trace::{Happening, Picture, Seen};
use crate::sim::plug::{Ear, Eye, Place};
use crate::sim::{
    Handle, Lamps, LampsSetup, LampsView, Setup, Terminal, TerminalSetup, TerminalView, Tumbler, TumblerSetup,
    TumblerView,
};
use crate::sim::{lamps, terminal};
use crate::table::input::DeviceKind;
use crate::wire::message::{Contact, Level, from_device};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

/// The devices of a table.
#[derive(Debug)]
pub(super) struct Devices {
    pub(super) tumbler: Option<Tumbler>,
    pub(super) terminal: Terminal,
    pub(super) lamps: Lamps,
    /// What lamps or lights there are.
    pub(super) lamps_are: DeviceKind,
    pub(super) lines: BTreeMap<PathBuf, Line>,
}

/// The path of a device's port, in the simulation.
pub(super) fn path(kind: DeviceKind) -> PathBuf {
    PathBuf::from(match kind {
        DeviceKind::Tumbler => "/simulated/tumbler",
        DeviceKind::Terminal => "/simulated/terminal",
        DeviceKind::LayoutLamps => "/simulated/lamps",
        DeviceKind::ResultLights => "/simulated/lights",
    })
}

/// What a table is fitted with.
pub(super) struct Fitting {
    pub(super) tumbler: Option<TumblerSetup>,
    pub(super) terminal: TerminalSetup,
    pub(super) lamps: LampsSetup,
    pub(super) lamps_are: DeviceKind,
}

impl Devices {
    /// Switches them on.
    ///
    /// # Errors
    /// None with lines in memory.
    pub(super) fn start(eyes: &Eyes, fitting: Fitting, seed: u64) -> io::Result<Self> {
        let mut lines = BTreeMap::new();
        let mut plug = |kind: DeviceKind| {
            let line = Line::new();
            lines.insert(path(kind), line.clone());
            line
        };
        let setup = |kind: DeviceKind, number: u64| Setup {
            power_on: u32::try_from(seed.wrapping_add(number) & 0x7fff_ffff).unwrap_or(1),
            ..Setup::new(path(kind), &format!("SIM-{number}"), seed.wrapping_add(number))
        };
        let tumbler = match fitting.tumbler {
            Some(tumbler) => {
                let place = Place {
                    socket: plug(DeviceKind::Tumbler).socket(),
                    eye: Some(watch_tumbler(eyes.clone())),
                    ear: None,
                };
                let setup = setup(DeviceKind::Tumbler, 1);
                Some(Tumbler::start_at(place, setup, tumbler)?)
            }
            None => None,
        };
        let place = Place {
            socket: plug(DeviceKind::Terminal).socket(),
            eye: Some(watch_terminal(eyes.clone())),
            ear: Some(hear_terminal(eyes.clone())),
        };
        let terminal = Terminal::start_at(place, setup(DeviceKind::Terminal, 2), fitting.terminal)?;
        let place = Place {
            socket: plug(fitting.lamps_are).socket(),
            eye: Some(watch_lamps(eyes.clone(), fitting.lamps_are)),
            ear: None,
        };
        let lamps = Lamps::start_at(place, setup(fitting.lamps_are, 3), fitting.lamps)?;
        Ok(Devices {
            tumbler,
            terminal,
            lamps,
            lamps_are: fitting.lamps_are,
            lines,
        })
    }

    /// The device, whatever it does, if the table has one.
    pub(super) fn any(&self, kind: DeviceKind) -> Option<&dyn AnyDevice> {
        match kind {
            DeviceKind::Tumbler => self.tumbler.as_ref().map(|tumbler| tumbler as &dyn AnyDevice),
            DeviceKind::Terminal => Some(&self.terminal),
            DeviceKind::LayoutLamps | DeviceKind::ResultLights => Some(&self.lamps),
        }
    }
}

type Doing<'a> = std::pin::Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// What can be done to any device.
pub(super) trait AnyDevice: Send + Sync {
    fn unplug(&self) -> Doing<'_>;
    fn replug(&self) -> Doing<'_>;
    fn reboot(&self) -> Doing<'_>;
    fn spoil(&self, faults: crate::sim::Faults) -> Doing<'_>;
}

impl<A: Send + Sync, V: Clone + std::fmt::Debug + Send + Sync> AnyDevice for Handle<A, V> {
    fn unplug(&self) -> Doing<'_> {
        Box::pin(Handle::unplug(self))
    }

    fn replug(&self) -> Doing<'_> {
        Box::pin(Handle::replug(self))
    }

    fn reboot(&self) -> Doing<'_> {
        Box::pin(Handle::reboot(self))
    }

    fn spoil(&self, faults: crate::sim::Faults) -> Doing<'_> {
        Box::pin(self.set_faults(faults))
    }
}

fn watch_tumbler(eyes: Eyes) -> Eye<TumblerView> {
    let device = DeviceKind::Tumbler;
    let mut before: Option<TumblerView> = None;
    Box::new(move |view| {
        let happened = |what| eyes.see(&Seen::Happened { device, what });
        let inhibit = |view: &TumblerView| (view.inhibited, view.dice_allowed);
        if before.as_ref().map(inhibit) != Some(inhibit(view)) {
            let (on, dice_allowed) = inhibit(view);
            let picture = Picture::Inhibit { on, dice_allowed };
            eyes.see(&Seen::Shows { device, picture });
        }
        if let Some(before) = &before {
            if before.covered != view.covered {
                happened(if view.covered {
                    Happening::CoverOn
                } else {
                    Happening::CoverOff
                });
            }
            // Counters that went back were lost with the power: no spin ended.
            if view.spins > before.spins {
                happened(Happening::SpinEnded { faces: view.faces });
            }
            if view.activations > before.activations {
                happened(Happening::SpinBegan);
            }
        }
        before = Some(view.clone());
    })
}

fn watch_terminal(eyes: Eyes) -> Eye<TerminalView> {
    let device = DeviceKind::Terminal;
    let mut before: Option<(String, bool, u32)> = None;
    Box::new(move |view| {
        let keys: String = view
            .keys
            .iter()
            .map(|key| terminal::glyph(i32::try_from(*key).unwrap_or(0)))
            .collect();
        let now = (view.readout.clone(), view.readout != keys, view.entry);
        if before.as_ref() != Some(&now) {
            let (text, by_host, entry) = &now;
            let picture = Picture::Readout {
                text,
                by_host: *by_host,
                entry: *entry,
            };
            eyes.see(&Seen::Shows { device, picture });
            before = Some(now);
        }
    })
}

fn hear_terminal(eyes: Eyes) -> Ear {
    let device = DeviceKind::Terminal;
    Box::new(move |body| {
        let number = |key: i32| u32::try_from(key).unwrap_or(0);
        let what = match body {
            from_device::Body::Key(pressed) => Some(Happening::Key {
                key: number(pressed.key),
                entry: pressed.entry,
            }),
            from_device::Body::Entry(entered) => {
                let mut shown = [0; 3];
                for (slot, key) in shown.iter_mut().zip(&entered.shown) {
                    *slot = number(*key);
                }
                Some(Happening::Entry {
                    shown,
                    entry: entered.entry,
                })
            }
            from_device::Body::Contact(state) => {
                let closed = state.level() == Level::Closed;
                match (state.contact(), closed) {
                    (Contact::Bell, true) => Some(Happening::Bell),
                    (Contact::NoSpinButton, true) => Some(Happening::NoSpinButton),
                    (Contact::SupervisorKey, true) => Some(Happening::KeyOn),
                    (Contact::SupervisorKey, false) => Some(Happening::KeyOff),
                    (Contact::CabinetDoor, true) => Some(Happening::DoorClosed),
                    (Contact::CabinetDoor, false) => Some(Happening::DoorOpened),
                    (Contact::Bell | Contact::NoSpinButton | Contact::Unspecified, _) => None,
                }
            }
            from_device::Body::Tumbler(_)
            | from_device::Body::Terminal(_)
            | from_device::Body::Lamps(_)
            | from_device::Body::Fault(_)
            | from_device::Body::Digest(_) => None,
        };
        if let Some(what) = what {
            eyes.see(&Seen::Happened { device, what });
        }
    })
}

fn watch_lamps(eyes: Eyes, device: DeviceKind) -> Eye<LampsView> {
    let mut before: Option<(BTreeSet<u32>, bool)> = None;
    Box::new(move |view| {
        if before
            .as_ref()
            .is_some_and(|(lit, blink)| *lit == view.lit && *blink == view.blink)
        {
            return;
        }
        let lit = lamps::pack(&view.lit);
        let picture = Picture::Lamps {
            lit: &lit,
            blink: view.blink,
        };
        eyes.see(&Seen::Shows { device, picture });
        before = Some((view.lit.clone(), view.blink));
    })
}
