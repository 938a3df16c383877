//! What leaves the loop: one latest-value slot per device, and one each for the state, the head, the fault and the view.
//! Nothing here waits: a reader that is slow sees fewer values, never older ones.

use super::counts::Counts;
use super::view::{StateView, TableView};
use crate::device::{DeviceHandle, Wish};
use crate::table::event::{Event, Head, TableState};
use crate::table::indicators::{DeviceCommand, Indicators, Readout};
use crate::table::input::DeviceKind;
use crate::table::view::Situation;
use crate::time::Uptime;
use std::sync::Arc;
use tokio::sync::watch;

/// A device, as the loop sees it.
pub(super) trait Device: Send {
    /// Overwrites what it should show or obey.
    fn wish(&self, wish: Wish);
    /// Sends what can't be repeated. A device whose queue is full has been away for long: the command is dropped.
    fn command(&self, command: DeviceCommand);
    /// Asks for its whole status.
    fn ask_status(&self);
}

impl Device for DeviceHandle {
    fn wish(&self, wish: Wish) {
        self.wish.send_if_modified(|shown| {
            let differs = *shown != wish;
            if differs {
                *shown = wish;
            }
            differs
        });
    }

    fn command(&self, command: DeviceCommand) {
        if let Err(error) = self.commands.try_send(command) {
            tracing::warn!(%error, "a command was dropped: the device takes none");
        }
    }

    fn ask_status(&self) {
        DeviceHandle::ask_status(self);
    }
}

/// Every slot that the loop overwrites.
pub(super) struct Outlets {
    pub(super) devices: Vec<(DeviceKind, Box<dyn Device>)>,
    pub(super) view: watch::Sender<Arc<TableView>>,
    /// The retained state; not touched while nothing can be recorded.
    pub(super) state: watch::Sender<TableState>,
    /// The newest durable event.
    pub(super) head: watch::Sender<Head>,
    /// What the loop has done.
    pub(super) counts: watch::Sender<Counts>,
}

/// Shown while nothing can be recorded.
pub(super) const JOURNAL_FAILED_READOUT: &str = "E90";

impl Outlets {
    /// Every device learns what it should show; one that shows it already isn't bothered.
    pub(super) fn show(&self, indicators: Indicators) {
        let Indicators {
            mut lamps,
            mut readout,
            tumbler,
        } = indicators;
        for (kind, device) in &self.devices {
            device.wish(match kind {
                DeviceKind::Tumbler => Wish::Tumbler(tumbler),
                DeviceKind::Terminal => Wish::Terminal(std::mem::take(&mut readout)),
                DeviceKind::LayoutLamps | DeviceKind::ResultLights => Wish::Lamps(std::mem::take(&mut lamps)),
            });
        }
    }

    /// Nothing can be recorded: nobody may spin, the terminal says so, the lamps stay as they are.
    /// `entry` is the number that keys may be typed for: another one than the terminal has, or it would not be sent.
    pub(super) fn show_journal_failed(&self, indicators: Indicators, entry: u32) {
        let mut tumbler = indicators.tumbler;
        tumbler.inhibit = true;
        for (kind, device) in &self.devices {
            match kind {
                DeviceKind::Tumbler => device.wish(Wish::Tumbler(tumbler)),
                DeviceKind::Terminal => device.wish(Wish::Terminal(Readout {
                    text: JOURNAL_FAILED_READOUT.to_owned(),
                    blink: true,
                    for_ms: u32::MAX,
                    entry,
                    ..indicators.readout.clone()
                })),
                DeviceKind::LayoutLamps | DeviceKind::ResultLights => {}
            }
        }
    }

    /// Sends what can't be repeated; only a tumbler knows such commands.
    pub(super) fn command(&self, commands: Vec<DeviceCommand>) {
        for command in commands {
            match command {
                DeviceCommand::Spin { .. } => {
                    for (_, tumbler) in self.devices.iter().filter(|(kind, _)| *kind == DeviceKind::Tumbler) {
                        tumbler.command(command.clone());
                    }
                }
            }
        }
    }

    /// Everything is asked anew, as after a restart.
    pub(super) fn ask_every_status(&self) {
        for (_, device) in &self.devices {
            device.ask_status();
        }
    }

    /// Uplink, display and control learn of the state after the newest event.
    /// `moved_at`: when what is new happened; `None` for what a run begins with.
    pub(super) fn publish(&self, mut state: TableState, situation: Situation, head: &Head, moved_at: Option<Uptime>) {
        state.head = Some(head.clone());
        self.change_view(|view| {
            let shown = StateView::of(&state);
            if !shown.is_same_moment(&view.state) {
                view.phase_since_ms = moved_at.map(|at| at.as_micros() / 1000);
            }
            view.state = shown;
            view.situation = situation;
            view.journal.seqno = head.seqno;
            view.journal.journal_id.clone_from(&head.journal_id);
            view.fault = None;
        });
        self.head.send_replace(head.clone());
        self.state.send_if_modified(|published| {
            let differs = *published != state;
            if differs {
                *published = state;
            }
            differs
        });
    }

    /// People who look see what the table waits for now.
    pub(super) fn show_situation(&self, situation: Situation) {
        self.view.send_if_modified(|view| {
            let differs = view.situation != situation;
            if differs {
                Arc::make_mut(view).situation = situation;
            }
            differs
        });
    }

    /// People who look see rounds and opening checks as the events tell them.
    pub(super) fn note(&self, events: &[Event]) {
        self.change_view(|view| events.iter().for_each(|event| view.note(event)));
    }

    /// People who look learn that nothing can be recorded; the floor is told nothing.
    pub(super) fn show_fault(&self, fault: &str) {
        self.change_view(|view| {
            "journal_failed".clone_into(&mut view.state.mode);
            view.fault = Some(fault.to_owned());
            // What would be possible is refused now.
            view.situation.possible.clear();
        });
    }

    /// Counts something. Whoever looks at the numbers wakes by himself.
    pub(super) fn count(&self, count: impl FnOnce(&mut Counts)) {
        self.counts.send_modify(count);
    }

    /// Changes what people see.
    pub(super) fn change_view(&self, change: impl FnOnce(&mut TableView)) {
        self.view.send_modify(|view| change(Arc::make_mut(view)));
    }
}
