//! Devices come and go, and what they say of themselves when they are greeted.

use crate::devices::{self, HOLD_US, Link};
use crate::scene::Scene;
use tablegate::table::event::DeviceOfflineReason;
use tablegate::table::input::{ContactReport, DeviceKind, DeviceStatus, Input, TerminalReport};

impl Scene {
    pub fn link(&mut self, kind: DeviceKind) -> &mut Link {
        match kind {
            DeviceKind::Tumbler => &mut self.tumbler.link,
            DeviceKind::Terminal => &mut self.terminal.link,
            DeviceKind::LayoutLamps => &mut self.lamps.link,
            DeviceKind::ResultLights => panic!("no result lights at tai-sai"),
        }
    }

    pub fn greet_all(&mut self) {
        for kind in self.kinds() {
            self.wait(200);
            self.online(*kind);
        }
        self.wait(300);
    }

    /// A device's link comes up: greeted, with its whole status, and sent the whole wish.
    pub fn online(&mut self, kind: DeviceKind) {
        let now = self.now;
        let link = self.link(kind);
        link.up = true;
        link.session += 1;
        let away = now - link.down_since >= HOLD_US;
        let link = link.clone();
        let (lamp_count, status) = match kind {
            DeviceKind::Tumbler => {
                let report = self.tumbler.report();
                self.tumbler.kept = true;
                (0, DeviceStatus::Tumbler(report))
            }
            DeviceKind::Terminal => (0, DeviceStatus::Terminal(self.terminal_report())),
            DeviceKind::LayoutLamps => {
                if away {
                    self.lamps.lit.clear();
                }
                (106, DeviceStatus::Lamps(self.lamps.report()))
            }
            DeviceKind::ResultLights => panic!("no result lights at tai-sai"),
        };
        let identity = devices::identity(kind, &link, lamp_count);
        self.feed(Input::DeviceUp { identity, status });
        self.carry_to(kind);
    }

    /// The whole wish to a device that came up.
    fn carry_to(&mut self, kind: DeviceKind) {
        let up = [DeviceKind::Tumbler, DeviceKind::Terminal, DeviceKind::LayoutLamps].map(|k| self.link(k).up);
        for other in [DeviceKind::Tumbler, DeviceKind::Terminal, DeviceKind::LayoutLamps] {
            self.link(other).up &= other == kind;
        }
        self.carry(true);
        for (other, up) in [DeviceKind::Tumbler, DeviceKind::Terminal, DeviceKind::LayoutLamps]
            .into_iter()
            .zip(up)
        {
            self.link(other).up = up;
        }
    }

    /// A device's link goes down.
    pub fn offline(&mut self, kind: DeviceKind) {
        let now = self.now;
        let link = self.link(kind);
        link.up = false;
        link.session += 1;
        link.down_since = now;
        if kind != DeviceKind::LayoutLamps {
            self.unbroken = false;
        }
        self.feed(Input::DeviceDown {
            kind,
            reason: DeviceOfflineReason::Silent,
            text: "no answer for 3 s".into(),
        });
    }

    /// A link breaks and is back at once.
    pub fn blink(&mut self, kind: DeviceKind) {
        self.offline(kind);
        self.wait(500);
        self.online(kind);
    }

    pub fn terminal_report(&self) -> TerminalReport {
        TerminalReport {
            shown: self.terminal.shown.clone(),
            entry: self.terminal.entry,
            contacts: self
                .terminal
                .wires
                .iter()
                .map(|wire| self.contact_report(wire))
                .collect(),
        }
    }

    pub fn contact_report(&self, wire: &devices::Wire) -> ContactReport {
        let related = self.terminal.clocks_related && wire.closings > 0;
        ContactReport {
            contact: wire.contact,
            closed: wire.closed,
            closings: wire.closings,
            last_closed: related.then(|| self.in_run(wire.last_closed)),
        }
    }
}
