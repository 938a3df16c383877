//! SIGKILL at each step of a daemon's work, and at random moments of play: nothing is lost, invented or repeated.
//!
//! A dealer plays by what can be seen and goes on whatever happens. What was seen (lamps lit for a result, events at a
//! subscriber) must be in the journal, byte by byte; what is in the journal must have been done, once, and must arrive.
//! Several tables play at once, because a round is mostly waiting. `TABLEGATE_ROUNDS` says how many rounds they play between
//! them, `TABLEGATE_SEED` deals the dice and draws the moments of the kills again.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::cast_possible_truncation,
    clippy::print_stdout,
    missing_docs,
    reason = "a test may panic and print its seed"
)]

mod daemon_support;
mod uplink_support;

use daemon_support::{PATIENCE, Scene};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tablegate::control::client::Client;
use tablegate::control::{Act, Answer, Request};
#[cfg(feature = "failpoints")]
use tablegate::failpoint::Point;
use tablegate::floor::{Begin, Consumer, Finding, Hashes};
use tablegate::gateway::View;
use tablegate::journal::{Reader, verify};
use tablegate::rules::tai_sai::{self, Layout};
use tablegate::sim::Dealer;
use tablegate::table::event::Body;
use tablegate::time::Uptime;
use tablegate::wire::message::Cover;
use tokio::task::JoinHandle;
use tokio::time::Instant;
#[cfg(feature = "failpoints")]
use uplink_support::mosquitto::Mosquitto;
use uplink_support::subscriber::Subscriber;

/// Rounds in an ordinary run of the tests, at all tables together. Each sees a kill or two.
const ROUNDS: u32 = 200;

/// Tables that play at once. A round takes two seconds and hardly any processor time.
const TABLES: u32 = 8;

/// The longest time between a start and the next kill: more than a round, so that kills fall into each part of it, and most rounds
/// end all the same.
const KILL_WITHIN_MS: u64 = 3000;

/// How often a table is looked at while nothing can be done or nobody answers.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// What the dealer has done and seen.
#[derive(Default)]
struct Log {
    /// ENTER was pressed with these keys.
    entered: Vec<[u8; 3]>,
    /// Lamps of exactly these faces were lit after their entry.
    seen_lit: Vec<[u8; 3]>,
    rounds_settled: u32,
}

/// Looks, does what is next, and looks again; the daemon may be gone at any moment.
struct Player {
    look: PathBuf,
    act: PathBuf,
    log: Arc<Mutex<Log>>,
    dice: StdRng,
}

/// How long a device is given to show something before the table is looked at again.
const A_MOMENT: Duration = Duration::from_millis(700);

impl Player {
    async fn view(&self) -> Option<View> {
        let mut client = Client::connect(&self.look).await.ok()?;
        match client.ask(&Request::Look {}).await.ok()? {
            Answer::View(view) => Some(*view),
            _ => None,
        }
    }

    async fn supervise(&self, act: Act) {
        if let Ok(mut client) = Client::connect(&self.act).await {
            // Refused or lost: the next look says what is true.
            let _answer = client.act(act, by()).await;
        }
    }

    async fn play(mut self, dealer: Arc<Dealer>) {
        loop {
            let Some(view) = self.view().await else {
                // Look again: the daemon was killed, and comes back.
                tokio::time::sleep(LOOK_AGAIN).await;
                continue;
            };
            let state = &view.table.state;
            if state.locks.iter().any(|lock| lock.kind == "freeze") {
                self.supervise(Act::Unlock {
                    procedure: "looked at".into(),
                })
                .await;
                self.supervise(Act::Resume {}).await;
                continue;
            }
            if state.held.is_some() {
                self.supervise(Act::Resume {}).await;
                self.supervise(Act::Void { reason: None }).await;
                continue;
            }
            match (state.mode.as_str(), state.phase.as_str()) {
                ("closed", _) => self.supervise(Act::OpenVouched {}).await,
                ("open", "ready" | "tumbling") => self.tumble(&dealer).await,
                ("open", "betting") => {
                    let before = dealer.terminal.view().entry;
                    dealer.terminal.ring().await;
                    let _ = dealer
                        .terminal
                        .wait("a closed bell", |view| view.entry != before, A_MOMENT)
                        .await;
                }
                ("open", "closed") => {
                    dealer.tumbler.cover(Cover::Off).await;
                    self.leaves("closed").await;
                }
                ("open", "landed") => self.enter(&dealer).await,
                ("open", "entered") => self.settle(&dealer).await,
                // Look again: a start settles this, and the test has a deadline.
                _ => tokio::time::sleep(LOOK_AGAIN).await,
            }
        }
    }

    /// Looks until the round has left `phase` or the daemon is gone, for a moment at most.
    async fn leaves(&self, phase: &str) {
        let until = Instant::now() + A_MOMENT;
        while Instant::now() < until && self.view().await.is_some_and(|view| view.table.state.phase == phase) {
            // Look again: at most for a moment.
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    async fn tumble(&mut self, dealer: &Dealer) {
        dealer.tumbler.cover(Cover::On).await;
        dealer
            .tumbler
            .load_dice([0; 3].map(|_: u8| self.dice.random_range(1..=6)))
            .await;
        let done = dealer.tumbler.view().spins.wrapping_add(3);
        dealer.tumbler.spin(3).await;
        let _ = dealer.tumbler.wait("rest", |view| view.spins == done, A_MOMENT).await;
        let _ = dealer.tumbler.wait("bets", |view| view.inhibited, A_MOMENT).await;
    }

    async fn enter(&mut self, dealer: &Dealer) {
        let free = dealer.terminal.wait("keys", |view| !view.locked, A_MOMENT).await;
        if free.is_err() {
            return;
        }
        let faces = dealer.tumbler.view().faces;
        let mut pressed = faces;
        pressed.sort_unstable();
        self.log.lock().unwrap().entered.push(pressed);
        for face in pressed {
            dealer.terminal.press(u32::from(face)).await;
        }
        dealer.terminal.enter().await;
        let areas = tai_sai::areas(Layout::Appendix1);
        let wins: Vec<_> = tai_sai::winners(pressed, Layout::Appendix1)
            .into_iter()
            .map(|area| area.id)
            .collect();
        let lit = |view: &tablegate::sim::LampsView| {
            let lit: Vec<_> = view.lit.iter().map(|bit| areas[*bit as usize]).collect();
            lit == wins
        };
        if dealer.lamps.wait("lamps", lit, A_MOMENT).await.is_ok() {
            self.log.lock().unwrap().seen_lit.push(pressed);
        }
    }

    async fn settle(&mut self, dealer: &Dealer) {
        let _ = dealer.terminal.wait("keys", |view| !view.locked, A_MOMENT).await;
        dealer.terminal.enter().await;
        if dealer
            .lamps
            .wait("dark lamps", |view| view.lit.is_empty(), A_MOMENT)
            .await
            .is_ok()
        {
            self.log.lock().unwrap().rounds_settled += 1;
        }
    }
}

fn by() -> Option<&'static str> {
    nix::unistd::Uid::current()
        .is_root()
        .then_some(daemon_support::SUPERVISOR)
}

/// Everything that arrived at the floor, judged by the consumer's rule.
#[derive(Default)]
struct Floor {
    stored: BTreeMap<u64, Vec<u8>>,
    alarms: Vec<Finding>,
    repeats: u32,
}

async fn subscribe(broker: String, floor: Arc<Mutex<Floor>>) {
    let mut subscriber = Subscriber::new(&broker, "floor", &["tablegate/v1/harbour/TS-07/events"]).await;
    let mut consumer = Consumer::new(Begin::AtFirst);
    let mut hashes = Hashes::default();
    while let Some(message) = subscriber.message().await {
        for finding in consumer.take(Uptime::ZERO, &message.payload, &hashes) {
            let mut floor = floor.lock().unwrap();
            if finding.is_alarm() {
                floor.alarms.push(finding.clone());
            }
            match finding {
                Finding::Store(event) => {
                    hashes.keep(&event);
                    floor.stored.insert(event.seqno, event.bytes);
                }
                Finding::Repeat => floor.repeats += 1,
                other => floor.alarms.push(other),
            }
        }
    }
}

/// The number that the environment gives by this name.
fn given<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

#[tokio::test]
async fn killed_at_random_moments_nothing_is_lost_invented_or_repeated() {
    let seed: u64 = given("TABLEGATE_SEED").unwrap_or_else(rand::random);
    let rounds: u32 = given("TABLEGATE_ROUNDS").unwrap_or(ROUNDS);
    println!("TABLEGATE_SEED={seed} TABLEGATE_ROUNDS={rounds}");
    let tables = (0..TABLES).map(|table| {
        let rounds = rounds / TABLES + u32::from(table < rounds % TABLES);
        a_table(table, seed.wrapping_add(u64::from(table)), rounds)
    });
    let killed: u32 = futures_util::future::join_all(tables).await.into_iter().sum();
    println!("{killed} kills in {rounds} rounds");
    assert!(
        killed >= rounds / 2,
        "rounds were left in peace: {killed} kills in {rounds}"
    );
}

/// A table that is played at for as long as it stands, and a floor that listens to it.
struct Played {
    number: u32,
    scene: Scene,
    log: Arc<Mutex<Log>>,
    floor: Arc<Mutex<Floor>>,
    playing: JoinHandle<()>,
    listening: JoinHandle<()>,
}

impl Played {
    async fn begin(number: u32, seed: u64, broker: &str) -> Played {
        let floor = Arc::new(Mutex::new(Floor::default()));
        let listening = tokio::spawn(subscribe(broker.to_owned(), floor.clone()));
        let mut scene = Scene::new(broker);
        let log = Arc::new(Mutex::new(Log::default()));
        scene.start().await;
        let player = Player {
            look: scene.path("t.sock"),
            act: scene.path("t.supervisor.sock"),
            log: log.clone(),
            dice: StdRng::seed_from_u64(seed),
        };
        let playing = tokio::spawn(player.play(scene.dealer.clone()));
        Played {
            number,
            scene,
            log,
            floor,
            playing,
            listening,
        }
    }

    fn settled(&self) -> u32 {
        self.log.lock().unwrap().rounds_settled
    }

    /// Play goes on for so many rounds.
    async fn goes_on(&self, rounds: u32) {
        let settled_then = self.settled();
        let until = Instant::now() + PATIENCE;
        while self.settled() < settled_then + rounds {
            assert!(
                Instant::now() < until,
                "table {}: no round ends any more: {}",
                self.number,
                self.scene.status().await
            );
            // Look again: at most for PATIENCE.
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Play goes on; then everything is judged.
    async fn end(mut self) {
        self.goes_on(2).await;
        self.playing.abort();
        assert!(self.scene.terminate().await.success());
        let log = std::mem::take(&mut *self.log.lock().unwrap());
        check(&self.scene, &log, &self.floor).await;
        self.listening.abort();
    }
}

/// A table that plays so many rounds while its daemon is killed again and again; how often it was.
async fn a_table(number: u32, seed: u64, rounds: u32) -> u32 {
    let mut chance = StdRng::seed_from_u64(seed);
    let broker = format!("mqtt://{}", tablegate::sim::broker::start().unwrap());
    let mut played = Played::begin(number, seed, &broker).await;
    let mut kills = 0;
    let (mut before, mut since) = (0, Instant::now());
    while played.settled() < rounds {
        // Real time: a random moment is what this is about.
        tokio::time::sleep(Duration::from_millis(chance.random_range(50..KILL_WITHIN_MS))).await;
        played.scene.kill().await;
        kills += 1;
        played.scene.start().await;
        if played.settled() > before {
            (before, since) = (played.settled(), Instant::now());
        }
        let stuck = since.elapsed() > 4 * PATIENCE;
        assert!(
            !stuck,
            "table {number}: {before} rounds, and no other ends: {}",
            played.scene.status().await
        );
    }
    played.end().await;
    kills
}

/// The steps of a daemon at work, each with how many passings of it may go by, and who makes it come.
#[cfg(feature = "failpoints")]
const STEPS: &[(Point, u64, Cause)] = &[
    (Point::AppendBegins, 30, Cause::Play),
    (Point::AppendWritten, 30, Cause::Play),
    (Point::AppendSynced, 30, Cause::Play),
    (Point::AppendAnswered, 30, Cause::Play),
    (Point::HeadNoted, 30, Cause::Play),
    (Point::Recorded, 30, Cause::Play),
    (Point::Shown, 60, Cause::Play),
    (Point::Told, 30, Cause::Play),
    (Point::Published, 30, Cause::Play),
    (Point::Acknowledged, 30, Cause::Play),
    (Point::CursorTold, 30, Cause::Play),
    (Point::CursorBegins, 3, Cause::Play),
    (Point::CursorWritten, 3, Cause::Play),
    (Point::ConnectionCounted, 1, Cause::Play),
    (Point::TidyBegins, 1, Cause::Play),
    (Point::TidyMoved, 1, Cause::Play),
    (Point::CheckpointWritten, 1, Cause::Close),
    (Point::CheckpointSynced, 1, Cause::Close),
    (Point::CloseMoved, 1, Cause::Stop),
];

/// What makes a step come.
#[cfg(feature = "failpoints")]
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    Play,
    /// The table is closed between two rounds.
    Close,
    /// The daemon is asked to stop.
    Stop,
}

/// Tables that share the steps between them.
#[cfg(feature = "failpoints")]
const TABLES_OF_STEPS: usize = 4;

#[cfg(feature = "failpoints")]
#[tokio::test]
#[ignore = "needs mosquitto: tests/all installs it and runs this"]
async fn killed_at_each_step_nothing_is_lost_invented_or_repeated() {
    let seed: u64 = given("TABLEGATE_SEED").unwrap_or_else(rand::random);
    println!("TABLEGATE_SEED={seed}");
    let tables = (0..TABLES_OF_STEPS).map(|table| {
        let steps = STEPS.iter().skip(table).step_by(TABLES_OF_STEPS);
        a_table_of_steps(table as u32, seed.wrapping_add(table as u64), steps.copied().collect())
    });
    futures_util::future::join_all(tables).await;
}

#[cfg(feature = "failpoints")]
async fn a_table_of_steps(number: u32, seed: u64, steps: Vec<(Point, u64, Cause)>) {
    use std::os::unix::process::ExitStatusExt;
    let mut chance = StdRng::seed_from_u64(seed);
    // Each table has the same topics.
    let broker = Mosquitto::start("max_queued_messages 100000");
    let mut played = Played::begin(number, seed, &broker.url()).await;
    for (point, passings, cause) in steps {
        let (_, name) = Point::ALL.into_iter().find(|(known, _)| *known == point).unwrap();
        let mine = format!("{name}:{}", chance.random_range(1..=passings));
        played.scene.kill().await;
        played.scene.spawn(&[("TABLEGATE_FAILPOINTS", &mine)]);
        let status = match cause {
            Cause::Play => played.scene.ended().await,
            Cause::Close => {
                let closing = tokio::spawn(keep_closing(played.scene.path("t.supervisor.sock")));
                let status = played.scene.ended().await;
                closing.abort();
                status
            }
            Cause::Stop => {
                played
                    .scene
                    .until("the daemon answers", |view| view["mode"].is_string())
                    .await;
                played.scene.terminate().await
            }
        };
        assert_eq!(status.signal(), Some(9), "table {number}, {mine}: {status:?}");
        played.scene.start().await;
    }
    played.end().await;
}

/// Closes the table whenever there is a moment for it; the player opens it again.
#[cfg(feature = "failpoints")]
async fn keep_closing(act: PathBuf) {
    loop {
        if let Ok(mut client) = Client::connect(&act).await {
            let _answer = client.act(Act::Close {}, by()).await;
        }
        // Look again: until the daemon is gone.
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

async fn check(scene: &Scene, log: &Log, floor: &Arc<Mutex<Floor>>) {
    let report = verify(&scene.journal(), |_| {}).unwrap();
    assert_eq!(report.bad, None);

    // Nothing is lost on the way, and what arrived is what is journalled.
    let mut reader = Reader::open(&scene.journal()).unwrap();
    let head = reader.head().unwrap().seqno;
    let until = Instant::now() + PATIENCE;
    while floor.lock().unwrap().stored.len() as u64 != head {
        let arrived = floor.lock().unwrap().stored.len();
        assert!(Instant::now() < until, "{arrived} events of {head} arrived");
        // Look again: at most for PATIENCE.
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    let floor = floor.lock().unwrap();
    assert_eq!(floor.alarms, []);
    for (seqno, bytes) in &floor.stored {
        let record = reader.page(*seqno, *seqno, 1).unwrap().remove(0);
        assert_eq!(&record.bytes, bytes, "event {seqno}");
    }

    // Nothing is invented: each result was entered, and each round has one result and one end.
    let events = scene.events();
    let mut results = Vec::new();
    let mut ends = BTreeMap::<u64, u32>::new();
    let mut of_round = BTreeMap::<u64, u32>::new();
    for event in &events {
        match event.body.as_ref().unwrap() {
            Body::RoundStarted(_) => {
                assert_eq!(of_round.insert(event.round_id, 0), None, "a round number is used once")
            }
            Body::ResultEntered(result) => {
                results.push(result.faces.clone());
                *of_round
                    .get_mut(&event.round_id)
                    .expect("a result belongs to a round that began") += 1;
            }
            Body::RoundSettled(_) | Body::RoundVoided(_) | Body::RoundAbandoned(_) => {
                *ends.entry(event.round_id).or_default() += 1;
            }
            _ => {}
        }
    }
    assert!(of_round.values().all(|results| *results <= 1), "{of_round:?}");
    assert!(ends.values().all(|ends| *ends == 1), "{ends:?}");
    let faces = |faces: &[u8; 3]| faces.map(u32::from).to_vec();
    assert!(
        is_subsequence(&results, &log.entered.iter().map(faces).collect::<Vec<_>>()),
        "results were entered"
    );

    // Nothing that was seen is lost.
    assert!(
        is_subsequence(&log.seen_lit.iter().map(faces).collect::<Vec<_>>(), &results),
        "lit results are journalled: {:?} in {results:?}",
        log.seen_lit
    );
    println!(
        "{} rounds, {} results, {} seen lit, {head} events, {} repeats at the floor",
        of_round.len(),
        results.len(),
        log.seen_lit.len(),
        floor.repeats
    );
}

/// Every element of `few` is in `many`, in order.
fn is_subsequence<T: PartialEq>(few: &[T], many: &[T]) -> bool {
    let mut many = many.iter();
    few.iter().all(|element| many.any(|other| other == element))
}
