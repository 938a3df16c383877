//! What each fault of a plan does to the simulated world, when it begins and when it is over.

use super::World;
use crate::sim::Faults;
use crate::sim::faults::broker::{self, Denial, Refusal};
use crate::sim::faults::devices;
use crate::sim::faults::eyes::hold;
use crate::sim::faults::line::Takes;
use crate::sim::faults::plan::{Fault, What};
use crate::sim::faults::storage::{Left, Manners, Reads};
use crate::sim::faults::trace::{Happening, Seen};
use crate::table::input::DeviceKind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

/// A run that is to be killed at a step dies after this long at the latest.
const DIES_WITHIN: Duration = Duration::from_secs(4);

/// Whether a lamp stays dark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Dark {
    Yes,
    No,
}

impl World {
    /// Brings a fault at its time, and ends it.
    pub(super) async fn bring(self: Arc<Self>, number: usize, fault: Fault) {
        let begins = sleep_until(Instant::now() + fault.begins);
        begins.await;
        self.eyes.see(&Seen::FaultBegan {
            fault: number,
            text: &format!("{:?}", fault.what),
        });
        self.begin(fault).await;
        sleep(fault.lasts).await;
        self.end(fault).await;
        self.eyes.see(&Seen::FaultOver { fault: number });
    }

    async fn begin(&self, fault: Fault) {
        match fault.what {
            What::Line(device, faults) => {
                self.breaks(device);
                if let Some(device) = self.devices.any(device) {
                    device.spoil(faults).await;
                }
            }
            What::Unplugged(device) => {
                self.breaks(device);
                if let Some(device) = self.devices.any(device) {
                    device.unplug().await;
                }
            }
            What::Stuck(device) => {
                self.breaks(device);
                self.takes(device, Takes::Nothing);
            }
            What::PowerLost(device) => {
                self.breaks(device);
                if let Some(device) = self.devices.any(device) {
                    device.unplug().await;
                }
            }
            What::Crash { steps } => {
                *hold(&self.away) = fault.lasts;
                let life = Arc::clone(&hold(&self.life));
                life.die_after(u64::from(steps));
                tokio::spawn(async move {
                    sleep(DIES_WITHIN).await;
                    life.die();
                });
            }
            What::Restart => {
                *hold(&self.away) = fault.lasts;
                self.stop.notify_one();
            }
            What::DiskFails => self.disk.behaves(Manners::Fails),
            What::DiskSlow(longer) => self.disk.behaves(Manners::Slow(longer)),
            What::DiskHangs => self.disk.behaves(Manners::Hangs),
            What::DiskUnreadable => self.disk.reads(Reads::Fail),
            What::DiskSetBack => self.disk.put_by(),
            What::DaysAway(days) => {
                *hold(&self.days) = days;
                self.stop.notify_one();
            }
            What::FloorAsks(asking, times) => self.broker.floor_asks(asking, times),
            What::SecondGateway(who) => self.broker.second_comes(who),
            What::DiskLow => self.disk.left(Left::Little),
            What::BrokerForgets => self.broker.forget(),
            What::BrokerCuts => self.broker.cut(),
            What::BrokerAway => {
                self.broker.behave(|broker| broker.refuses = Some(Refusal::Unreachable));
                self.broker.cut();
            }
            What::BrokerRefuses => {
                self.broker
                    .behave(|broker| broker.refuses = Some(Refusal::NotAuthorized));
                self.broker.cut();
            }
            What::BrokerStalls => self.broker.behave(|broker| broker.stalls = true),
            What::BrokerFlaps(percent) => self.broker.behave(|broker| broker.cuts = percent),
            What::AcknowledgementsReordered => self.broker.behave(|broker| broker.reorders = true),
            What::AcknowledgementsRepeated(percent) => self.broker.behave(|broker| broker.repeats = percent),
            What::AcknowledgementsLost(percent) => self.broker.behave(|broker| broker.swallows = percent),
            What::EventsOverQuota(percent) => self
                .broker
                .behave(|broker| broker.denies = Some((percent, Denial::Quota))),
            What::EventsUnfit(percent) => self
                .broker
                .behave(|broker| broker.denies = Some((percent, Denial::Payload))),
            What::WillsLate(late) => self.broker.behave(|broker| broker.late_wills = late),
            What::ClockSet(seconds) => {
                self.set.fetch_add(i64::from(seconds) * 1_000_000, Ordering::Relaxed);
            }
            What::LampDark(bit) => self.stick(bit, Dark::Yes).await,
        }
    }

    async fn end(&self, fault: Fault) {
        match fault.what {
            What::Line(device, _) => {
                if let Some(device) = self.devices.any(device) {
                    device.spoil(Faults::default()).await;
                }
                self.mended(device);
            }
            What::Unplugged(device) => {
                if let Some(device) = self.devices.any(device) {
                    device.replug().await;
                }
                self.mended(device);
            }
            What::Stuck(device) => {
                self.takes(device, Takes::Everything);
                self.mended(device);
            }
            What::PowerLost(device) => {
                self.eyes.see(&Seen::Happened {
                    device,
                    what: Happening::Restarted,
                });
                if let Some(device) = self.devices.any(device) {
                    device.reboot().await;
                    device.replug().await;
                }
                self.mended(device);
            }
            What::DiskFails | What::DiskSlow(_) | What::DiskHangs => self.disk.behaves(Manners::Sound),
            What::DiskUnreadable => self.disk.reads(Reads::Sound),
            What::DiskSetBack => {
                self.disk.is_to_be_set_back();
                hold(&self.life).die();
            }
            // It asks again, wherever play is by now.
            What::FloorAsks(asking, times) => self.broker.floor_asks(asking, times),
            What::SecondGateway(_) => self.broker.second_leaves(),
            What::DiskLow => self.disk.left(Left::Room),
            What::BrokerAway | What::BrokerRefuses => self.broker.behave(|broker| broker.refuses = None),
            What::BrokerStalls => self.broker.behave(|broker| broker.stalls = false),
            What::BrokerFlaps(_)
            | What::AcknowledgementsReordered
            | What::AcknowledgementsRepeated(_)
            | What::AcknowledgementsLost(_)
            | What::EventsOverQuota(_)
            | What::EventsUnfit(_)
            | What::WillsLate(_) => self.broker.behave(|broker| {
                let (refuses, stalls) = (broker.refuses, broker.stalls);
                *broker = broker::Manners {
                    refuses,
                    stalls,
                    ..broker::Manners::default()
                };
            }),
            What::LampDark(bit) => self.stick(bit, Dark::No).await,
            // Over in a moment.
            What::Crash { .. }
            | What::Restart
            | What::DaysAway(_)
            | What::BrokerForgets
            | What::BrokerCuts
            | What::ClockSet(_) => {}
        }
    }

    /// One more fault stands on this device's link.
    fn breaks(&self, device: DeviceKind) {
        *hold(&self.broken).entry(device).or_insert(0) += 1;
        self.eyes.see(&Seen::LinkBroken { device });
    }

    /// A fault of it is over; the link is as good as new with the last of them.
    fn mended(&self, device: DeviceKind) {
        let left = {
            let mut broken = hold(&self.broken);
            let left = broken.entry(device).or_insert(0);
            *left = left.saturating_sub(1);
            *left
        };
        if left == 0 {
            self.eyes.see(&Seen::LinkMended { device });
        }
    }

    fn takes(&self, device: DeviceKind, takes: Takes) {
        if let Some(line) = self.devices.lines.get(&devices::path(device)) {
            line.takes(takes);
        }
    }

    async fn stick(&self, bit: u32, dark: Dark) {
        let device = self.devices.lamps_are;
        let (at, what) = match dark {
            Dark::Yes => (crate::sim::StuckAt::Dark, Happening::LampBroke { bit }),
            Dark::No => (crate::sim::StuckAt::Healthy, Happening::LampMended { bit }),
        };
        self.eyes.see(&Seen::Happened { device, what });
        self.devices.lamps.stick(bit, at).await;
    }
}
