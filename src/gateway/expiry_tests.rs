//! Retention from end to end: the loop's housekeeping on a real journal, with clocks that a test moves by days.

use super::clock::Synchronisation;
use super::counts::Counts;
use super::inputs::Inputs;
use super::loop_tests::config;
use super::notify::Watchdog;
use super::outlets::Outlets;
use super::recorder::{Recorder, gateway_fact};
use super::store::JournalStore;
use super::table_loop::TableLoop;
use super::testing::{self, SteppingClock};
use super::upkeep::{LOOK_EVERY, Upkeep};
use crate::journal::{Journal, Options, Owner, Reader, Seqno, decode, verify};
use crate::table::Table;
use crate::table::event::{AlertCleared, Body, Event, Head, JournalStarted, TableState};
use crate::time::Clock;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

const DAY: Duration = Duration::from_secs(24 * 3600);
const DAY_US: i64 = 24 * 3600 * 1_000_000;

struct Scene {
    table_loop: TableLoop<'static>,
    clock: Arc<SteppingClock>,
    synchronised: watch::Sender<Synchronisation>,
    journal: Journal,
    path: PathBuf,
    _directory: tempfile::TempDir,
}

fn scene() -> Scene {
    let directory = tempfile::tempdir().unwrap();
    let clock = SteppingClock::shared();
    let owner = Owner {
        site: "harbour".into(),
        table: "TS-07".into(),
    };
    let opened = Journal::open(directory.path(), &owner, "machine", Options::new(clock.wall())).unwrap();
    let (journal, path, head) = (
        opened.journal.clone(),
        opened.journal.path().to_owned(),
        opened.head.clone(),
    );
    let (synchronised, synchronisation) = watch::channel(Synchronisation::Synchronised);
    let shared: Arc<dyn Clock> = clock.clone();
    let inputs = Inputs::new(
        shared.clone(),
        mpsc::channel(1).1,
        mpsc::channel(1).1,
        mpsc::channel(1).1,
        watch::channel(false).1,
        LOOK_EVERY,
    );
    let table_loop = TableLoop {
        signer: None,
        table: Table::new(config()),
        recorder: Recorder::new(
            ("harbour", "TS-07"),
            "run",
            head,
            shared.clone(),
            synchronisation.clone(),
        ),
        store: JournalStore::found(opened, 0).shelf,
        // A test's scene lives as long as the test.
        inputs: Box::leak(Box::new(inputs)),
        outlets: Outlets {
            devices: Vec::new(),
            view: watch::channel(Arc::new(testing::view())).0,
            state: watch::channel(TableState::default()).0,
            head: watch::channel(Head::default()).0,
            counts: watch::channel(Counts::default()).0,
        },
        upkeep: Upkeep::new(synchronisation, true, 0),
        watchdog: Watchdog::from_environment(),
        clock: shared,
        now: clock.uptime(),
        unseen: Vec::new(),
        not_before: None,
    };
    Scene {
        table_loop,
        clock,
        synchronised,
        journal,
        path,
        _directory: directory,
    }
}

impl Scene {
    async fn record(&mut self, bodies: Vec<Body>) {
        let facts = bodies.into_iter().map(gateway_fact).collect();
        self.table_loop.record(facts).await.unwrap();
    }

    /// Days with so many events each, and a checkpoint at the end of each.
    async fn days(&mut self, days: u32, events: usize) {
        for _ in 0..days {
            self.clock.advance(DAY);
            self.table_loop.now = self.clock.uptime();
            let cleared = AlertCleared {
                alert: "an alert".into(),
            };
            self.record(vec![Body::AlertCleared(cleared); events]).await;
            let checkpoint = self.table_loop.checkpoint();
            self.table_loop.record(vec![checkpoint]).await.unwrap();
        }
    }

    /// A broker has everything, and the journal knows.
    async fn acknowledged(&mut self) {
        let head = self.table_loop.recorder.head().seqno;
        self.journal.acknowledge(head);
        let mut reader = Reader::open(&self.path).unwrap();
        let until = Instant::now() + Duration::from_secs(10);
        while reader.cursor().unwrap() < head {
            assert!(Instant::now() < until, "the cursor is not written");
            // Asked of the journal's thread: it has time for the cursor.
            self.journal.next_connection(0).await;
        }
    }

    async fn keep_house(&mut self) {
        let now = self.clock.uptime();
        self.table_loop.keep_house(now).await.unwrap();
    }

    fn oldest(&self) -> Seqno {
        Reader::open(&self.path).unwrap().oldest().unwrap()
    }

    fn newest(&self, back: u64) -> Event {
        let mut reader = Reader::open(&self.path).unwrap();
        let seqno = reader.head().unwrap().seqno - back;
        decode(&reader.page(seqno, seqno, 1).unwrap()[0]).unwrap()
    }

    fn proven(&self) {
        let report = verify(&self.path, |_| {}).unwrap();
        assert_eq!((report.bad, report.oldest), (None, self.oldest()));
    }
}

/// The journal's start, and a hundred and ten days with eleven events and a checkpoint each.
async fn a_hundred_and_ten_days() -> Scene {
    let mut scene = scene();
    scene
        .record(vec![Body::JournalStarted(JournalStarted::default())])
        .await;
    scene.days(110, 11).await;
    scene
}

#[tokio::test]
async fn a_days_worth_a_day_is_deleted_and_said_in_the_same_append() {
    let mut scene = a_hundred_and_ten_days().await;
    scene.keep_house().await;
    assert_eq!(scene.oldest(), 1, "nothing is acknowledged");
    scene.acknowledged().await;
    scene.keep_house().await;
    assert_eq!(scene.oldest(), 1, "it was looked at today");

    scene.clock.advance(DAY);
    scene.keep_house().await;
    assert_eq!(scene.oldest(), 2, "the first day is gone, and had one event");
    let Some(Body::EventsExpired(expired)) = scene.newest(0).body else {
        panic!("{:?}", scene.newest(0))
    };
    assert_eq!(expired.through_seqno, 1);
    assert!(
        matches!(scene.newest(1).body, Some(Body::CheckpointRecorded(_))),
        "a checkpoint before anything is deleted"
    );
    scene.proven();
    for _ in 0..3 {
        scene.clock.advance(DAY / 4);
        scene.keep_house().await;
        assert_eq!(scene.oldest(), 2, "once a day");
    }
    for day in 1..=3 {
        scene.clock.advance(DAY);
        scene.keep_house().await;
        assert_eq!(scene.oldest(), 2 + day * 12);
        scene.proven();
    }
    // Ninety days stay, however often it is looked.
    for _ in 0..60 {
        scene.clock.advance(DAY);
        scene.keep_house().await;
    }
    let mut reader = Reader::open(&scene.path).unwrap();
    let oldest = decode(&reader.page(1, Seqno::MAX, 1).unwrap()[0]).unwrap();
    let age = scene.clock.wall().as_unix_micros() / 1_000_000 - oldest.recorded_at.unwrap().seconds;
    assert!(age >= 90 * 24 * 3600, "{age} s");
    scene.proven();
}

#[tokio::test]
async fn a_clock_that_is_not_synchronised_or_was_set_deletes_nothing() {
    let mut scene = a_hundred_and_ten_days().await;
    scene.acknowledged().await;
    scene.synchronised.send_replace(Synchronisation::Unsynchronised);
    for _ in 0..3 {
        scene.clock.advance(DAY);
        scene.keep_house().await;
    }
    assert_eq!(scene.oldest(), 1, "unsynchronised");
    // Synchronised again, but set: by years ahead, then back by two weeks behind where it was.
    scene.synchronised.send_replace(Synchronisation::Synchronised);
    for step in [3650 * DAY_US, -3664 * DAY_US] {
        scene.clock.step(step);
        scene.keep_house().await;
        assert!(
            (0..4).any(|back| matches!(scene.newest(back).body, Some(Body::ClockStepped(_)))),
            "the jump is an event"
        );
        scene.clock.advance(DAY / 2);
        scene.keep_house().await;
        assert_eq!(scene.oldest(), 1, "set by {step} us");
    }
    // A clock that runs right for a day ages again, a day's worth a day; order and identity never followed it.
    scene.clock.advance(DAY);
    scene.keep_house().await;
    assert_eq!(scene.oldest(), 2);
    scene.proven();
}
