//! What stays up when the self-test has failed: the control socket, the terminal's readout, and a `Status` with the fault.
//! No other port is opened, nothing else leaves the machine.

use super::Refusal;
use super::capture::Line;
use super::inputs::Wake;
use super::notify::{self, Watchdog};
use super::outlets::JOURNAL_FAILED_READOUT;
use super::start::House;
use crate::device::{self, DeviceHandle, Wish};
use crate::table::event::{Mode, TableState};
use crate::table::indicators::Readout;
use crate::table::input::{DeviceKind, DeviceStatus, Input};
use std::time::Duration;

/// A failed self-test is tried again this often: a disk that is mounted late must not need a visit.
const TEST_AGAIN: Duration = Duration::from_secs(10);

/// How it goes on after a failed self-test.
pub(super) enum AfterFailure {
    /// The daemon was asked to stop.
    Stop,
    /// It is time to try again.
    TestAgain,
}

impl House {
    /// Everybody who may know learns what failed.
    pub(super) fn show_failure(&self, text: &str) {
        // Tried again every few seconds: the same failure is logged once.
        if *self.fault.borrow() != text {
            tracing::error!("the self-test failed: {text}");
        }
        notify::status(&format!("the self-test failed: {text}"));
        self.view.send_modify(|view| {
            let view = std::sync::Arc::make_mut(view);
            "self_test".clone_into(&mut view.state.mode);
            view.fault = Some(format!("the self-test failed: {text}"));
        });
        self.fault.send_replace(text.to_owned());
        let mut state = TableState::default();
        state.set_mode(Mode::SelfTest);
        self.state.send_replace(state);
    }

    /// Stays up until it is time to test again, or to stop.
    pub(super) async fn stay_up(&mut self, text: &str) -> AfterFailure {
        self.show_failure(text);
        let terminal = self.start_terminal();
        // Counted as always, or the next run, which counts again, would be lower than this one and not believed.
        let counted = self
            .outside
            .count_connection(&self.rooms.journal, self.run.clock.wall());
        self.next_connection = self.next_connection.max(counted);
        let uplink = self.start_uplink_with(None);
        let mut watchdog = Watchdog::from_environment();
        let again = self.run.clock.uptime() + TEST_AGAIN;
        let after = loop {
            match self.inputs.next(Some(again)).await {
                Wake::Input(asked) => {
                    if asked.arrival.input == Input::Deadline {
                        break AfterFailure::TestAgain;
                    }
                    let Input::DeviceUp {
                        status: DeviceStatus::Terminal(status),
                        ..
                    } = &asked.arrival.input
                    else {
                        asked.answer(Err(Refusal::SelfTestFailed { text: text.to_owned() }));
                        continue;
                    };
                    if let Some(terminal) = &terminal {
                        terminal.wish.send_replace(Wish::Terminal(out_of_order(status.entry)));
                    }
                }
                Wake::Peek(peek) => peek.answer(Err(Refusal::SelfTestFailed { text: text.to_owned() })),
                Wake::Notice(..) | Wake::Idle(_) => {}
                Wake::Stop => break AfterFailure::Stop,
            }
            watchdog.progress(self.run.clock.uptime());
        };
        drop(terminal);
        self.stop_uplink(uplink).await;
        after
    }

    fn start_terminal(&self) -> Option<DeviceHandle> {
        let port = self.rooms.ports.iter().find(|port| port.kind == DeviceKind::Terminal)?;
        let terminal = device::start_at(
            self.outside.ports(),
            port.clone(),
            self.to_table.clone(),
            self.run.clock.clone(),
        );
        let report = terminal.report.clone();
        let line = Line::of(port.kind, &terminal);
        self.reports.send_modify(|reports| {
            reports.links = vec![report];
            reports.lines = vec![line];
        });
        Some(terminal)
    }
}

/// The terminal says that nothing can be recorded, and takes no keys of an entry that it knows.
fn out_of_order(entry: u32) -> Readout {
    Readout {
        text: JOURNAL_FAILED_READOUT.to_owned(),
        blink: true,
        entry: entry.checked_add(1).unwrap_or(1),
        for_ms: u32::MAX,
        serial: 1,
    }
}
