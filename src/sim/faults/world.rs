//! The world of one seed: it starts the gateway and starts it again, lets people play, brings the plan's faults and ends them, and waits
//! until everything has settled.

use super::broker::{self, Broker, Denial, Refusal, Ways};
use super::devices::{self, Devices};
use super::eyes::{Eyes, hold};
use super::life::Life;
use super::line::{Harbour, Takes};
use super::people::{Door, People};
use super::plan::{Fault, Game, LAMPS, LIGHTS, Plan, What};
use super::storage::{Disk, Left, Manners};
use super::trace::{Ending, Outcome, Seen, Trace};
use crate::device::{LinkState, PortConfig, Ports};
use crate::gateway::{
    ApprovalFile, ClockSource, Found, GatewayConfig, Handle, Outside, Rooms, Running, Said, Synchronisation, start_in,
};
use crate::journal::{Begin, JournalConfig, OpenError, Owner, RETENTION_MIN};
use crate::sim::Faults;
use crate::table::event::TableState;
use crate::table::input::DeviceKind;
use crate::table::{Approval, TableConfig};
use crate::time::{Clock, Timestamp, Uptime};
use crate::uplink::{BrokerAddress, Brokers, Transport, UplinkConfig, UplinkState};
use crate::wire::message::Cover;
use crate::wire::session::TumblerBuild;
use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};

/// The wall clock when the simulation begins.
const BEGAN_US: i64 = 1_700_000_000_000_000;
/// A run that is to be killed at a step dies after this long at the latest.
const DIES_WITHIN: Duration = Duration::from_secs(4);
/// Nothing has moved for this long: everything has settled. Longer than any wait of the table's, and than the 10 s within which it corrects
/// its retained status once only, however many last wills overwrite it.
const SETTLED: Duration = Duration::from_secs(11);
/// It must have settled within this, after the last fault: the longest pauses of ports and uplink, and a lamp's deadline.
const SETTLES_WITHIN: Duration = Duration::from_secs(150);
/// How often it is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The gateway stops within this.
const STOPS_WITHIN: Duration = Duration::from_secs(60);

/// Puts something between the world and the gateway.
pub type Around = Arc<dyn Fn(Arc<dyn Outside>) -> Arc<dyn Outside> + Send + Sync>;

/// Everything in the world that faults can reach.
struct World {
    eyes: Eyes,
    disk: Arc<Disk>,
    broker: Arc<Broker>,
    devices: Arc<Devices>,
    door: Door,
    /// The wall clock against the monotonic one, microseconds.
    set: Arc<AtomicI64>,
    /// How many faults stand on each device's link.
    broken: Mutex<BTreeMap<DeviceKind, u32>>,
    /// The run of the gateway that goes on now.
    life: Mutex<Arc<Life>>,
    /// Asks for a clean stop.
    stop: Notify,
    /// How long the gateway is away after its next end.
    away: Mutex<Duration>,
    game: Game,
    seed: u64,
    around: Around,
}

/// Lives through the plan; the answer is what was seen.
pub(super) async fn live(plan: &Plan, trace: Trace, around: Around) -> Outcome {
    let eyes = Eyes::new(trace);
    let (game, style, layout) = plan.game.words();
    eyes.see(&Seen::Began { game, style, layout });
    let Ok(devices) = Devices::start(&eyes, plan.game.fitting(plan.seed), plan.seed) else {
        return eyes.outcome();
    };
    if let (Game::SicBoOpen, Some(tumbler)) = (plan.game, &devices.tumbler) {
        // It has none.
        tumbler.cover(Cover::Off).await;
    }
    let broker = Arc::new(Broker::new(eyes.clone(), plan.seed ^ 0xb0));
    tokio::spawn(Arc::clone(&broker).run());
    let world = Arc::new(World {
        disk: Arc::new(Disk::new(eyes.clone(), plan.seed ^ 0xd15c)),
        broker,
        devices: Arc::new(devices),
        door: Door::default(),
        set: Arc::default(),
        broken: Mutex::default(),
        life: Mutex::default(),
        stop: Notify::new(),
        away: Mutex::new(Duration::ZERO),
        game: plan.game,
        seed: plan.seed,
        around,
        eyes,
    });
    tokio::spawn(Arc::clone(&world).tell_states());
    let gateway = tokio::spawn(Arc::clone(&world).run_gateways());
    let faults: Vec<_> = (plan.faults.iter().copied().enumerate())
        .map(|(number, fault)| tokio::spawn(Arc::clone(&world).bring(number, fault)))
        .collect();
    let mut people = People::new(
        world.eyes.clone(),
        Arc::clone(&world.door),
        Arc::clone(&world.devices),
        plan.game,
        plan.seed ^ 0x9e0,
    );
    people.play(plan.rounds).await;
    for fault in faults {
        // A fault's task ends by itself, when the fault is over.
        let _ = fault.await;
    }
    world.settle().await;
    world.eyes.see(&Seen::Quiet);
    people.play_the_last().await;
    world.settle().await;
    world.eyes.see(&Seen::Quiet);
    world.eyes.see(&Seen::End);
    gateway.abort();
    hold(&world.life).die();
    world.eyes.outcome()
}

impl World {
    /// Starts the gateway again and again, however it ends.
    async fn run_gateways(self: Arc<Self>) {
        let mut run = 0;
        loop {
            run += 1;
            let life = Arc::new(Life::default());
            *hold(&self.life) = Arc::clone(&life);
            self.eyes.see(&Seen::GatewayStarted { run });
            let how = self.run_one(run, &life).await;
            *hold(&self.door) = None;
            life.bury().await;
            self.disk.rests();
            self.eyes.see(&Seen::GatewayEnded { how });
            let away = std::mem::take(&mut *hold(&self.away));
            sleep(away.max(Duration::from_millis(20))).await;
        }
    }

    /// One run, to its end.
    async fn run_one(&self, run: u32, life: &Arc<Life>) -> Ending {
        let outside = Arc::new(Surroundings {
            run,
            life: Arc::clone(life),
            disk: Arc::clone(&self.disk),
            ports: Arc::new(Harbour::new(
                self.devices.lines.clone(),
                Arc::clone(life),
                self.seed ^ u64::from(run),
            )),
            brokers: Arc::new(Ways::new(Arc::clone(&self.broker), Arc::clone(life))),
            began: Instant::now(),
            eyes: self.eyes.clone(),
            set: Arc::clone(&self.set),
        });
        let started = tokio::select! {
            biased;
            () = life.died() => return Ending::Crashed,
            started = start_in((self.around)(outside), self.config(), self.rooms()) => started,
        };
        let Ok(mut running) = started else {
            return Ending::Died;
        };
        *hold(&self.door) = Some(running.handle());
        tokio::select! {
            biased;
            () = life.died() => Ending::Crashed,
            () = self.stop.notified() => self.stop_one(&mut running, life).await,
            _ended = running.ended() => Ending::Died,
        }
    }

    async fn stop_one(&self, running: &mut Running, life: &Arc<Life>) -> Ending {
        running.handle().stop();
        tokio::select! {
            biased;
            () = life.died() => Ending::Crashed,
            ended = running.ended() => match ended {
                Ok(()) => Ending::Stopped,
                Err(_defect) => Ending::Died,
            },
            // The service manager kills what doesn't stop.
            () = sleep(STOPS_WITHIN) => Ending::Crashed,
        }
    }

    fn config(&self) -> GatewayConfig {
        GatewayConfig {
            site: "harbour".to_owned(),
            table: "SIM-01".to_owned(),
            game: TableConfig {
                game: self.game.config(),
                approval: Approval::default(),
            },
            clock: ClockSource::Timesyncd,
            config_sha256: [0; 32],
            config_text: String::new(),
            signer: None,
            approval: ApprovalFile {
                path: PathBuf::from("/simulated/approved"),
                said: Said::Nothing,
            },
        }
    }

    fn rooms(&self) -> Rooms {
        let ports = self.game.devices().iter().map(|kind| PortConfig {
            kind: *kind,
            path: devices::path(*kind),
            baud: 115_200,
            table: "SIM-01".to_owned(),
            lamps_needed: match kind {
                DeviceKind::LayoutLamps => u32::from(LAMPS),
                DeviceKind::ResultLights => LIGHTS,
                DeviceKind::Tumbler | DeviceKind::Terminal => 0,
            },
            tumbler: match self.game {
                Game::SicBoOpen => TumblerBuild::Open,
                Game::TaiSaiA | Game::TaiSaiB | Game::SicBoCovered | Game::TwoUpDice | Game::TriplePenny => {
                    TumblerBuild::Covered
                }
            },
        });
        Rooms {
            ports: ports.collect(),
            journal: JournalConfig {
                directory: PathBuf::from("/simulated"),
                retention: RETENTION_MIN,
                min_free_bytes: 0,
            },
            uplink: UplinkConfig {
                site: "harbour".to_owned(),
                table: "SIM-01".to_owned(),
                prefix: "tablegate/harbour/SIM-01".to_owned(),
                response_prefixes: Vec::new(),
                brokers: vec![BrokerAddress {
                    transport: Transport::Plain,
                    host: "simulated".to_owned(),
                    port: 1883,
                }],
                client_id: "SIM-01".to_owned(),
                tls: None,
                login: None,
            },
        }
    }

    /// Says what the loop gives away as the table's state, as often as it changes.
    async fn tell_states(self: Arc<Self>) {
        let mut told = TableState::default();
        loop {
            self.disk.written.notified().await;
            let Some(handle) = hold(&self.door).clone() else {
                continue;
            };
            let state = handle.state();
            // Before the first event of a run there is nothing to give away.
            if state.head.is_some() && state != told {
                self.eyes.see(&Seen::Stated { state: &state });
                told = state;
            }
        }
    }

    /// Waits until nothing moves any more, or for as long as that may take.
    async fn settle(&self) {
        let until = Instant::now() + SETTLES_WITHIN;
        let mut settled_since: Option<(u64, Instant)> = None;
        while Instant::now() < until {
            sleep(LOOK_EVERY).await;
            let newest = self.disk.newest();
            let now = Instant::now();
            let rests = !self.broker.owes() && hold(&self.door).clone().is_some_and(|handle| rests(&handle, newest));
            settled_since = match settled_since {
                _ if !rests => None,
                Some((seqno, since)) if seqno == newest => Some((seqno, since)),
                Some(_) | None => Some((newest, now)),
            };
            if settled_since.is_some_and(|(_, since)| now.duration_since(since) >= SETTLED) {
                return;
            }
        }
    }

    /// Brings a fault at its time, and ends it.
    async fn bring(self: Arc<Self>, number: usize, fault: Fault) {
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
                    what: super::trace::Happening::Restarted,
                });
                if let Some(device) = self.devices.any(device) {
                    device.reboot().await;
                    device.replug().await;
                }
                self.mended(device);
            }
            What::DiskFails | What::DiskSlow(_) | What::DiskHangs => self.disk.behaves(Manners::Sound),
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
            What::Crash { .. } | What::Restart | What::BrokerForgets | What::BrokerCuts | What::ClockSet(_) => {}
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
            Dark::Yes => (crate::sim::StuckAt::Dark, super::trace::Happening::LampBroke { bit }),
            Dark::No => (
                crate::sim::StuckAt::Healthy,
                super::trace::Happening::LampMended { bit },
            ),
        };
        self.eyes.see(&Seen::Happened { device, what });
        self.devices.lamps.stick(bit, at).await;
    }
}

/// Whether a lamp stays dark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Dark {
    Yes,
    No,
}

/// Everything is up, and everything that is durable up to `newest` was delivered.
fn rests(handle: &Handle, newest: u64) -> bool {
    let view = handle.look();
    let delivered = view.uplink.is_some_and(|uplink| {
        uplink.state == UplinkState::Online && uplink.backlog == 0 && uplink.in_flight == 0 && uplink.cursor == newest
    });
    let up = view.links.iter().all(|link| link.state == LinkState::Up);
    delivered && up && view.table.fault.is_none() && view.table.journal.seqno == newest
}

/// The world as one run of the gateway meets it.
struct Surroundings {
    run: u32,
    life: Arc<Life>,
    disk: Arc<Disk>,
    ports: Arc<Harbour>,
    brokers: Arc<Ways>,
    began: Instant,
    eyes: Eyes,
    set: Arc<AtomicI64>,
}

impl Outside for Surroundings {
    fn run_id(&self) -> String {
        format!("00000000-0000-4000-8000-{:012}", self.run)
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(VirtualClock {
            began: self.began,
            eyes: self.eyes.clone(),
            set: Arc::clone(&self.set),
        })
    }

    fn synchronisation(&self, _source: ClockSource) -> watch::Receiver<Synchronisation> {
        watch::channel(Synchronisation::Synchronised).1
    }

    fn machine(&self) -> String {
        "simulated".to_owned()
    }

    fn program_digest(&self, _seed: &[u8]) -> Box<dyn FnOnce() -> [u8; 32] + Send> {
        Box::new(|| [0; 32])
    }

    fn open(
        &self,
        _journal: &JournalConfig,
        _owner: &Owner,
        _machine: &str,
        _now: Timestamp,
        begin: Begin,
    ) -> Result<Found, OpenError> {
        Ok(self.disk.open(Arc::clone(&self.life), begin))
    }

    fn count_connection(&self, _journal: &JournalConfig, _now: Timestamp) -> u64 {
        self.disk.count_next(0).0
    }

    fn ports(&self) -> Arc<dyn Ports> {
        Arc::<Harbour>::clone(&self.ports)
    }

    fn brokers(&self) -> Arc<dyn Brokers> {
        Arc::<Ways>::clone(&self.brokers)
    }

    fn run(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) -> JoinHandle<()> {
        self.life.run(task)
    }
}

/// Virtual time, and a wall clock that somebody may set.
#[derive(Debug)]
struct VirtualClock {
    began: Instant,
    eyes: Eyes,
    set: Arc<AtomicI64>,
}

impl Clock for VirtualClock {
    fn uptime(&self) -> Uptime {
        Uptime::ZERO + self.began.elapsed()
    }

    fn wall(&self) -> Timestamp {
        let since = i64::try_from(self.eyes.now().as_micros()).unwrap_or(i64::MAX);
        let set = self.set.load(Ordering::Relaxed);
        Timestamp::from_unix_micros(BEGAN_US.saturating_add(since).saturating_add(set))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{check, run};
    use super::*;

    /// Cuts whose last wills come late, one within 10 s of the other: only the first is put right at once.
    fn two_late_wills(late: u64) -> Plan {
        let fault = |begins_ms, lasts_ms, what| Fault {
            begins: Duration::from_millis(begins_ms),
            lasts: Duration::from_millis(lasts_ms),
            what,
        };
        Plan {
            rounds: 0,
            faults: vec![
                fault(500, 3_000, What::WillsLate(Duration::from_secs(late))),
                fault(1_000, 0, What::BrokerCuts),
                fault(3_000, 0, What::BrokerCuts),
            ],
            ..Plan::drawn(0)
        }
    }

    #[test]
    fn it_is_quiet_only_when_late_wills_have_come_and_were_put_right() {
        for late in [4, 8] {
            let outcome = run(&two_late_wills(late), Trace::new(check::all())).unwrap();
            assert_eq!(outcome.findings, vec![], "late by {late} s");
        }
    }
}
