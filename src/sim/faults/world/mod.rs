//! The world of one seed: it starts the gateway and starts it again, lets people play, brings the plan's [`faults`] and ends them, and waits
//! until everything has settled.

mod faults;
mod outside;

use super::broker::{Broker, PREFIX, Ways};
use super::devices::{self, Devices};
use super::eyes::{Eyes, hold};
use super::game::{Game, LAMPS, LIGHTS};
use super::life::Life;
use super::line::Harbour;
use super::people::{Door, People};
use super::plan::{Plan, What};
use super::storage::Disk;
use super::trace::{Ending, Outcome, Seen, Trace};
use crate::device::{LinkState, PortConfig};
use crate::gateway::{ApprovalFile, ClockSource, GatewayConfig, Handle, Outside, Rooms, Running, Said, start_in};
use crate::journal::{JournalConfig, RETENTION_MIN};
use crate::table::event::TableState;
use crate::table::input::DeviceKind;
use crate::table::{Approval, TableConfig};
use crate::uplink::{BrokerAddress, Transport, UplinkConfig, UplinkState};
use crate::wire::message::Cover;
use crate::wire::session::TumblerBuild;
use outside::Surroundings;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

/// Nothing has moved for this long: everything has settled. Longer than any wait of the table's, and than the 10 s within which it corrects
/// its retained status once only, however many last wills overwrite it.
const SETTLED: Duration = Duration::from_secs(11);
/// It must have settled within this, after the last fault: the longest pauses of ports and uplink, and a lamp's deadline.
const SETTLES_WITHIN: Duration = Duration::from_secs(150);
/// How often it is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The gateway stops within this.
const STOPS_WITHIN: Duration = Duration::from_secs(60);

/// Microseconds of a day.
const A_DAY_US: i64 = 24 * 3600 * 1_000_000;

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
    /// Days that pass before the next run.
    days: Mutex<u16>,
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
        days: Mutex::default(),
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
    if plan.faults.iter().any(|fault| matches!(fault.what, What::DaysAway(_))) {
        people.close_often();
    }
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
            self.disk.set_back();
            let days = std::mem::take(&mut *hold(&self.days));
            self.set.fetch_add(i64::from(days) * A_DAY_US, Ordering::Relaxed);
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
                prefix: PREFIX.to_owned(),
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

#[cfg(test)]
mod tests {
    use super::super::plan::{Fault, Second};
    use super::super::{check, run};
    use super::*;

    /// Cuts whose last wills come late, one within 10 s of the other: only the first is put right at once.
    fn two_late_wills(late: u64) -> Plan {
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

    fn fault(begins_ms: u64, lasts_ms: u64, what: What) -> Fault {
        Fault {
            begins: Duration::from_millis(begins_ms),
            lasts: Duration::from_millis(lasts_ms),
            what,
        }
    }

    #[test]
    fn a_journal_that_went_back_is_found_out_however_late_it_can_be_read() {
        // A disk that can't be read when the table starts on it, and one that can't when a new journal is to begin.
        let set_back = fault(2_000, 3_000, What::DiskSetBack);
        let intruder = fault(4_000, 6_000, What::SecondGateway(Second::Tells));
        for (faults, seed) in [
            vec![set_back, fault(4_900, 3_000, What::DiskUnreadable)],
            vec![intruder, fault(4_300, 9_000, What::DiskUnreadable)],
        ]
        .iter()
        .flat_map(|faults| (0..12).map(move |seed| (faults, seed)))
        {
            let plan = Plan {
                rounds: 1,
                faults: faults.clone(),
                ..Plan::drawn(seed)
            };
            let outcome = run(&plan, Trace::new(check::all())).unwrap();
            assert_eq!(outcome.findings, vec![], "seed {seed}, {faults:?}");
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
