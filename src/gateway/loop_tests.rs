//! The loop against a journal that fails when told to, under paused time.

use super::clock::Synchronisation;
use super::counts::Counts;
use super::inputs::{Asked, Inputs};
use super::notify::Watchdog;
use super::outlets::{Device, Outlets};
use super::recorder::Recorder;
use super::store::{Answer, Pending, Room, Store};
use super::table_loop::{Ended, TableLoop};
use super::testing;
use super::upkeep::{LOOK_EVERY, Upkeep};
use super::view::TableView;
use super::{Handle, Refusal, Reports};
use crate::device::Wish;
use crate::journal::{Record, Seqno};
use crate::rules::tai_sai::{Layout, Style, areas};
use crate::table::event::{Body, Event, EventSetAsideReason, Head, TableState};
use crate::table::indicators::DeviceCommand;
use crate::table::input::{
    Arrival, DeviceIdentity, DeviceKind, DeviceStatus, Input, Key, LampReport, OperatorAct, Person, Role,
    TerminalReport,
};
use crate::table::{Approval, GameConfig, Table, TableConfig, TaiSaiConfig};
use crate::time::{Clock, Timestamp};
use crate::uplink::Notice;
use prost::Message;
use sha2::{Digest, Sha256};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

mod conditions;
mod overdue;
mod standstill;
mod wall_clock;
mod watchdog;

/// As the unit of the service says.
const WATCHDOG: Duration = Duration::from_secs(20);

/// What the journal does with an append.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Disk {
    Works,
    Full,
    /// Each append takes this long.
    Slow(Duration),
}

/// A journal in memory, and what was shown when each append became durable.
#[derive(Default)]
struct Kept {
    records: Vec<Record>,
    expired: Vec<Seqno>,
    tidied: u32,
    /// Where the chain would break, were it written.
    broken: bool,
}

#[derive(Clone)]
struct FakeStore {
    kept: Arc<Mutex<Kept>>,
    disk: Arc<Mutex<Disk>>,
    room: Arc<Mutex<Room>>,
}

impl Store for FakeStore {
    fn append(&self, records: Vec<Record>) -> Pending {
        let store = self.clone();
        Box::pin(async move {
            let disk = *store.disk.lock().unwrap();
            match disk {
                Disk::Works => {}
                Disk::Full => return Err("the disk is full".into()),
                Disk::Slow(took) => tokio::time::sleep(took).await,
            }
            let mut kept = store.kept.lock().unwrap();
            for record in records {
                let event = Event::decode(&*record.bytes).unwrap();
                let head = kept.records.last().map_or([0; 32], |last| last.sha256);
                let follows = record.seqno == kept.records.len() as u64 + 1 && event.previous_sha256 == head;
                kept.broken |= !follows || record.sha256 != <[u8; 32]>::from(Sha256::digest(&record.bytes));
                kept.records.push(record);
            }
            Ok(())
        })
    }

    fn append_and_expire(&self, records: Vec<Record>, through: Seqno) -> Pending {
        self.kept.lock().unwrap().expired.push(through);
        self.append(records)
    }

    fn expirable(&self, _now: Timestamp) -> Answer<Option<(Seqno, [u8; 32])>> {
        Box::pin(async { Some((2, [7; 32])) })
    }

    fn tidy(&self) {
        self.kept.lock().unwrap().tidied += 1;
    }

    fn room(&self) -> Option<Room> {
        Some(*self.room.lock().unwrap())
    }
}

/// A device that only remembers what it was told.
#[derive(Clone, Default)]
struct FakeDevice(Arc<Mutex<Told>>);

#[derive(Clone, Default)]
struct Told {
    wish: Wish,
    commands: Vec<DeviceCommand>,
    asked: u32,
}

impl Device for FakeDevice {
    fn wish(&self, wish: Wish) {
        self.0.lock().unwrap().wish = wish;
    }

    fn command(&self, command: DeviceCommand) {
        self.0.lock().unwrap().commands.push(command);
    }

    fn ask_status(&self) {
        self.0.lock().unwrap().asked += 1;
    }
}

impl FakeDevice {
    fn told(&self) -> Told {
        self.0.lock().unwrap().clone()
    }
}

struct Scene {
    store: FakeStore,
    tumbler: FakeDevice,
    terminal: FakeDevice,
    lamps: FakeDevice,
    devices: mpsc::Sender<Arrival>,
    notices: mpsc::Sender<Notice>,
    handle: Handle,
    head: watch::Receiver<Head>,
    state: watch::Receiver<TableState>,
    clock: Arc<testing::PausedClock>,
    running: tokio::task::JoinHandle<Ended>,
}

pub(super) fn config() -> TableConfig {
    let bits = |count: usize| (0..count).map(|bit| vec![u16::try_from(bit).unwrap()]).collect();
    TableConfig {
        game: GameConfig::TaiSai(TaiSaiConfig {
            style: Style::A,
            layout: Layout::Appendix1,
            lamp_map: bits(areas(Layout::Appendix1).len()),
            rest: Duration::from_secs(3),
            settle_after: Duration::from_secs(3),
            cover_settles_after: Duration::from_secs(5),
            hold_no_spin_after_uncover: true,
            display_fault_locks: false,
            lamp_wait: Duration::from_millis(800),
        }),
        approval: Approval::NotEnforced,
    }
}

/// A loop over a closed table, started.
async fn scene(synchronisation: Synchronisation) -> Scene {
    scene_with(watch::channel(synchronisation).1, true).await
}

/// The same; `clock_is_watched`: a clock source is configured.
async fn scene_with(synchronisation: watch::Receiver<Synchronisation>, clock_is_watched: bool) -> Scene {
    let clock = testing::PausedClock::shared();
    let store = FakeStore {
        kept: Arc::default(),
        disk: Arc::new(Mutex::new(Disk::Works)),
        room: Arc::new(Mutex::new(Room {
            free_mb: 1000,
            used_percent: 10,
            low: false,
        })),
    };
    let (devices, from_devices) = mpsc::channel(64);
    let (people, from_people) = mpsc::channel(16);
    let (notices, from_uplink) = mpsc::channel(16);
    let (stop, stopped) = watch::channel(false);
    let (view, table_view) = watch::channel(Arc::new(testing::view()));
    let (state_slot, state) = watch::channel(TableState::default());
    let (counts_slot, counts) = watch::channel(Counts::default());
    let (head_slot, head) = watch::channel(Head::default());
    let (tumbler, terminal, lamps) = (FakeDevice::default(), FakeDevice::default(), FakeDevice::default());
    let outlets = Outlets {
        devices: vec![
            (DeviceKind::Tumbler, Box::new(tumbler.clone())),
            (DeviceKind::Terminal, Box::new(terminal.clone())),
            (DeviceKind::LayoutLamps, Box::new(lamps.clone())),
        ],
        view,
        state: state_slot,
        head: head_slot,
        counts: counts_slot,
    };
    let first = Head {
        journal_id: "j".into(),
        seqno: 0,
        sha256: vec![0; 32],
    };
    let recorder = Recorder::new(
        ("harbour", "TS-07"),
        "run",
        first,
        clock.clone(),
        synchronisation.clone(),
    );
    let (peeks, to_peek) = mpsc::channel(1);
    let mut inputs = Inputs::new(
        clock.clone(),
        from_devices,
        from_people,
        from_uplink,
        stopped,
        LOOK_EVERY,
    )
    .with_peeks(to_peek);
    inputs.keep(std::iter::once(Input::Started), std::iter::empty());
    let its_store = store.clone();
    let its_clock = clock.clone();
    let running = tokio::spawn(async move {
        let mut table_loop = TableLoop {
            signer: None,
            table: Table::new(config()),
            recorder,
            store: Arc::new(its_store),
            inputs: &mut inputs,
            outlets,
            upkeep: Upkeep::new(synchronisation, clock_is_watched, 0),
            watchdog: Watchdog::heard_by(WATCHDOG, watchdog::ping),
            clock: its_clock,
            now: crate::time::Uptime::ZERO,
            unseen: Vec::new(),
            not_before: None,
        };
        table_loop.run().await
    });
    let handle = Handle {
        verifier: super::verify::Desk::new().0,
        clock: clock.clone(),
        people,
        peeks,
        table: table_view,
        state: watch::channel(TableState::default()).1,
        reports: watch::channel(Reports::default()).1,
        counts,
        stop: Arc::new(stop),
    };
    Scene {
        store,
        tumbler,
        terminal,
        lamps,
        devices,
        notices,
        handle,
        head,
        state,
        clock,
        running,
    }
}

impl Scene {
    fn disk(&self, disk: Disk) {
        *self.store.disk.lock().unwrap() = disk;
    }

    fn events(&self) -> Vec<Event> {
        let kept = self.store.kept.lock().unwrap();
        assert!(!kept.broken, "the chain has no gap and one continuation");
        kept.records
            .iter()
            .map(|record| Event::decode(&*record.bytes).unwrap())
            .collect()
    }

    fn count(&self, seen: impl Fn(&Body) -> bool) -> usize {
        self.events()
            .iter()
            .filter(|event| event.body.as_ref().is_some_and(&seen))
            .count()
    }

    async fn device(&self, input: Input) {
        let at = self.clock.uptime();
        self.devices.send(Arrival { at, input }).await.unwrap();
    }

    async fn lock(&self, reason: &str) -> Result<String, Refusal> {
        self.handle
            .act(supervisor(), OperatorAct::Lock { reason: reason.into() })
            .await
    }

    /// Lets the loop do what it has to do.
    async fn settle(&self) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    fn view(&self) -> TableView {
        self.handle.look().table
    }
}

fn supervisor() -> Person {
    Person {
        name: "ana".into(),
        login: None,
        role: Role::Supervisor,
        connection: 1,
    }
}

fn lamps_up() -> Input {
    Input::DeviceUp {
        identity: identity(DeviceKind::LayoutLamps),
        status: DeviceStatus::Lamps(LampReport {
            lit: Vec::new(),
            failed: Vec::new(),
            measured: true,
        }),
    }
}

fn terminal_up() -> Input {
    Input::DeviceUp {
        identity: identity(DeviceKind::Terminal),
        status: DeviceStatus::Terminal(TerminalReport {
            shown: Vec::new(),
            entry: 1,
            contacts: Vec::new(),
        }),
    }
}

fn identity(kind: DeviceKind) -> DeviceIdentity {
    DeviceIdentity {
        kind,
        serial_number: "S-1".into(),
        firmware: "1".into(),
        boot_id: 1,
        lamp_count: 50,
        firmware_digest: Vec::new(),
    }
}

#[tokio::test(start_paused = true)]
async fn each_event_that_is_set_aside_is_told_of_though_its_alert_stands() {
    let scene = scene(Synchronisation::Synchronised).await;
    scene.settle().await;
    for seqno in 1..=3 {
        let reason = EventSetAsideReason::PayloadFormat;
        scene.notices.send(Notice::SetAside { seqno, reason }).await.unwrap();
        scene.settle().await;
        let newest = scene.events().last().unwrap().seqno;
        assert_eq!(scene.head.borrow().seqno, newest, "after the one of event {seqno}");
        assert_eq!(scene.state.borrow().head.as_ref().unwrap().seqno, newest);
    }
    assert_eq!(scene.count(|body| matches!(body, Body::EventSetAside(_))), 3);
    assert_eq!(scene.count(|body| matches!(body, Body::AlertRaised(_))), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_answered_and_published_is_durable_before() {
    let scene = scene(Synchronisation::Synchronised).await;
    scene.disk(Disk::Slow(Duration::from_millis(200)));
    let mut head = scene.head.clone();
    let published = tokio::spawn({
        let store = scene.store.clone();
        async move {
            while head.changed().await.is_ok() {
                let seqno = head.borrow().seqno;
                let durable = store.kept.lock().unwrap().records.len() as u64;
                assert!(seqno <= durable, "{seqno} was published, {durable} are durable");
            }
        }
    });
    let before = scene.events().len();
    scene.lock("torn").await.unwrap();
    assert!(scene.events().len() > before, "done means recorded");
    assert_eq!(scene.view().state.locks.len(), 1);
    scene.handle.stop();
    assert!(matches!(scene.running.await.unwrap(), Ended::Stopped));
    published.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_failed_append_did_not_happen_and_what_was_missed_is_said_first() {
    let scene = scene(Synchronisation::Synchronised).await;
    scene.device(terminal_up()).await;
    scene.device(lamps_up()).await;
    scene.settle().await;
    let before = scene.events().len();
    let published = scene.state.borrow().clone();
    scene.disk(Disk::Full);
    let refused = scene.lock("torn").await.unwrap_err();
    assert!(matches!(refused, Refusal::JournalFailed { .. }));
    assert!(refused.to_string().contains("the disk is full"), "{refused}");
    scene.settle().await;
    assert_eq!(scene.events().len(), before);
    let Wish::Terminal(readout) = scene.terminal.told().wish else {
        panic!("the terminal says so");
    };
    assert_eq!(readout.text, "E90");
    let Wish::Tumbler(tumbler) = scene.tumbler.told().wish else {
        panic!("the tumbler is told");
    };
    assert!(tumbler.inhibit);
    assert_eq!(scene.view().state.mode, "journal_failed");
    // A key takes it off the readout, and a terminal that was greeted again has another number: it comes back under a new one.
    let mut number = readout.entry;
    for (input, least) in [
        (
            Input::Key {
                key: Key::Number(3),
                entry: number,
                pressed_at: None,
                stale: false,
            },
            number + 1,
        ),
        (terminal_up(), 1),
    ] {
        scene.device(input).await;
        scene.settle().await;
        let Wish::Terminal(readout) = scene.terminal.told().wish else {
            panic!("the terminal says so again");
        };
        assert_eq!(readout.text, "E90");
        assert!(readout.entry != number && readout.entry >= least, "{readout:?}");
        number = readout.entry;
    }
    assert_eq!(*scene.state.borrow(), published, "nothing is published");
    // Two more inputs are dropped, one of them a device that goes away.
    assert!(scene.lock("again").await.is_err());
    scene
        .device(Input::DeviceDown {
            kind: DeviceKind::LayoutLamps,
            reason: crate::table::event::DeviceOfflineReason::PortGone,
            text: "unplugged".into(),
        })
        .await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(scene.events().len(), before);

    scene.disk(Disk::Works);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let events = scene.events();
    let Some(Body::JournalFailed(failed)) = &events[before].body else {
        panic!("the first event says what was missed: {:?}", events[before]);
    };
    assert_eq!(failed.dropped_inputs, 5);
    let away = failed.to.as_ref().unwrap().seconds - failed.from.as_ref().unwrap().seconds;
    assert!((10..15).contains(&away), "{away} s");
    let locks: Vec<_> = scene
        .view()
        .state
        .locks
        .into_iter()
        .map(|lock| (lock.kind, lock.reason))
        .collect();
    assert!(locks.contains(&("freeze".into(), "journal".into())), "{locks:?}");
    assert!(
        locks.iter().all(|(_, reason)| reason != "supervisor"),
        "the refused lock did not happen"
    );
    assert_eq!(
        scene.count(|body| matches!(body, Body::DeviceOffline(_))),
        1,
        "a state that lasts is looked at when recording works again"
    );
    assert_eq!(scene.terminal.told().asked, 1);
    assert_eq!(scene.tumbler.told().asked, 1);
    assert_eq!(scene.lamps.told().asked, 1);
    assert!(scene.view().fault.is_none());
    assert_eq!(scene.head.borrow().seqno, events.len() as u64);
}

#[tokio::test(start_paused = true)]
async fn a_slow_append_is_an_alert_that_ends_by_itself() {
    let scene = scene(Synchronisation::Synchronised).await;
    scene.disk(Disk::Slow(Duration::from_millis(700)));
    scene.lock("torn").await.unwrap();
    scene.disk(Disk::Works);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(scene.view().state.alerts.len(), 1, "{:?}", scene.view().state.alerts);
    tokio::time::sleep(Duration::from_secs(70)).await;
    assert!(scene.view().state.alerts.is_empty(), "{:?}", scene.view().state.alerts);
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_holds_the_next_round_until_there_is_room() {
    let scene = scene(Synchronisation::Synchronised).await;
    let full = Room {
        free_mb: 10,
        used_percent: 99,
        low: true,
    };
    let roomy = *scene.store.room.lock().unwrap();
    *scene.store.room.lock().unwrap() = full;
    tokio::time::sleep(Duration::from_secs(20)).await;
    let locks = scene.view().state.locks;
    assert!(
        locks
            .iter()
            .any(|lock| lock.reason == "disk" && lock.kind == "hold_next"),
        "{locks:?}"
    );
    assert_eq!(scene.view().journal.free_mb, Some(10));
    *scene.store.room.lock().unwrap() = roomy;
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert!(scene.view().state.locks.is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_could_not_be_recorded_of_a_full_disk_is_recorded_when_it_can_be() {
    let scene = scene(Synchronisation::Synchronised).await;
    scene.settle().await;
    let full = Room {
        free_mb: 0,
        used_percent: 100,
        low: true,
    };
    *scene.store.room.lock().unwrap() = full;
    scene.disk(Disk::Full);
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(scene.view().state.mode, "journal_failed");
    scene.disk(Disk::Works);
    tokio::time::sleep(Duration::from_secs(5)).await;
    let reasons: Vec<_> = scene.view().state.locks.into_iter().map(|lock| lock.reason).collect();
    assert!(
        reasons.contains(&"journal".into()) && reasons.contains(&"disk".into()),
        "{reasons:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn old_events_go_only_by_a_synchronised_clock_after_a_checkpoint_once_a_day() {
    for (synchronisation, times) in [(Synchronisation::Unsynchronised, 0), (Synchronisation::Synchronised, 2)] {
        let scene = scene(synchronisation).await;
        tokio::time::sleep(Duration::from_secs(25 * 3600)).await;
        assert_eq!(scene.store.kept.lock().unwrap().expired.len(), times);
        let events = scene.events();
        for (at, event) in events.iter().enumerate() {
            if let Some(Body::EventsExpired(expired)) = &event.body {
                assert_eq!(expired.through_seqno, 2);
                assert!(matches!(events[at - 1].body, Some(Body::CheckpointRecorded(_))));
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn every_ten_thousand_events_recovery_gets_a_new_place_to_begin() {
    let scene = scene(Synchronisation::Synchronised).await;
    for _ in 0..6000 {
        scene.lock("torn").await.ok();
        let procedure = "mended".into();
        scene
            .handle
            .act(supervisor(), OperatorAct::Unlock { procedure })
            .await
            .ok();
    }
    let events = scene.events();
    assert!(events.len() > 10_000, "{}", events.len());
    let at = events
        .iter()
        .position(|event| matches!(event.body, Some(Body::CheckpointRecorded(_))))
        .unwrap();
    let Some(Body::CheckpointRecorded(checkpoint)) = &events[at].body else {
        unreachable!("found above");
    };
    assert_eq!(checkpoint.through_seqno, at as u64);
    assert_eq!(
        checkpoint.sha256,
        Sha256::digest(events[at - 1].encode_to_vec()).to_vec()
    );
    assert!((10_000..10_020).contains(&at), "{at}");
    assert!(scene.store.kept.lock().unwrap().tidied > 0);
    assert_eq!(
        scene.count(|body| matches!(body, Body::CheckpointRecorded(_))),
        events.len() / 10_000
    );
}

#[tokio::test(start_paused = true)]
async fn the_last_event_of_a_clean_run_says_so() {
    let scene = scene(Synchronisation::Synchronised).await;
    scene.lock("torn").await.unwrap();
    scene.handle.stop();
    let store = scene.store.clone();
    assert!(matches!(scene.running.await.unwrap(), Ended::Stopped));
    let bytes = store.kept.lock().unwrap().records.last().unwrap().bytes.clone();
    let last = Event::decode(&*bytes).unwrap();
    assert!(matches!(last.body, Some(Body::GatewayStopped(_))));
    assert!(matches!(
        Handle::act(&scene.handle, supervisor(), OperatorAct::Close).await,
        Err(Refusal::Stopping)
    ));
}

#[tokio::test(start_paused = true)]
async fn a_stop_while_nothing_can_be_recorded_ends_at_once() {
    let scene = scene(Synchronisation::Synchronised).await;
    scene.disk(Disk::Full);
    assert!(scene.lock("torn").await.is_err());
    scene.handle.stop();
    assert!(matches!(scene.running.await.unwrap(), Ended::StoppedUnrecorded));
}

/// Nobody waits for an answer that never comes: an input without one is answered when it is dropped.
#[tokio::test(start_paused = true)]
async fn a_connection_that_is_gone_is_no_reason_to_wait() {
    let scene = scene(Synchronisation::Synchronised).await;
    let (reply, answer) = tokio::sync::oneshot::channel();
    drop(answer);
    let input = Input::Operator {
        person: supervisor(),
        act: OperatorAct::Lock { reason: "torn".into() },
    };
    let at = scene.clock.uptime();
    let arrival = Arrival { at, input };
    let asked = Asked {
        arrival,
        reply: Some(reply),
    };
    scene.handle.people.send(asked).await.unwrap();
    scene.settle().await;
    assert_eq!(scene.view().state.locks.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_copy_of_the_table_is_given_away_and_what_is_tried_on_it_does_not_happen() {
    let scene = scene(Synchronisation::Synchronised).await;
    scene.settle().await;
    let before = scene.events().len();
    let (now, table) = scene.handle.peek().await.unwrap();
    let reason = "torn".to_owned();
    let act = OperatorAct::Lock { reason };
    let trial = table.attempt(now, &supervisor(), &act).unwrap();
    let tried: Vec<Option<Body>> = trial.events.into_iter().map(|event| event.body).collect();
    assert!(
        matches!(tried.as_slice(), [Some(Body::TableLocked(_)), ..]),
        "{tried:?}"
    );
    assert_eq!(trial.after.state().locks.len(), 1);
    scene.settle().await;
    assert_eq!(scene.events().len(), before);
    assert!(scene.view().state.locks.is_empty());
    // Done in earnest, it is what was tried.
    scene.lock("torn").await.unwrap();
    let done: Vec<Option<Body>> = scene
        .events()
        .into_iter()
        .skip(before)
        .map(|event| event.body)
        .collect();
    assert_eq!(done, tried);
    // While nothing can be recorded nothing is possible, and it says so.
    scene.disk(Disk::Full);
    let _failed = scene.lock("torn again").await;
    let refused = scene.handle.peek().await.unwrap_err();
    assert!(matches!(refused, Refusal::JournalFailed { .. }), "{refused}");
}
