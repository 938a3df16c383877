//! A stop with a long backlog, and a loop that hangs.

use crate::daemon_support::{PATIENCE, Scene};
use crate::fill;
use crate::kernel::{Kernel, Word};
use crate::uplink_support::fake::Fake;
use crate::uplink_support::mosquitto::Mosquitto;
use crate::uplink_support::subscriber::Subscriber;
use nix::sys::signal::Signal;
use prost::Message;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;
use tablegate::journal::Reader;
use tablegate::table::event::{Body, Event};
use tokio::net::UnixDatagram;
use tokio::time::Instant;

/// Events that nobody has acknowledged: half a day of a busy table.
const WAITING: u64 = 10_000;

/// What a clean stop takes at most: ten seconds for what waits, five for the word that it is over, and this PC's own slowness.
const STOPS_WITHIN: Duration = Duration::from_secs(20);

fn cursor(scene: &Scene) -> u64 {
    Reader::open(&scene.journal()).unwrap().cursor().unwrap()
}

#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn stopped_with_ten_thousand_events_waiting_each_is_acknowledged_or_kept() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    scene.start().await;
    scene.open().await;
    scene.dealer.play([1, 3, 6]).await.unwrap();
    scene.act(&["close"]).await.ok();
    assert!(scene.terminate().await.success());
    // On a thread: it has a runtime of its own.
    let filled = std::thread::scope(|threads| threads.spawn(|| fill::fill(scene.directory.path(), WAITING)).join());
    let filled = filled.unwrap();
    assert!(filled > WAITING);

    // Nobody there: it waits for nobody.
    scene.start().await;
    let began = Instant::now();
    assert!(scene.terminate().await.success());
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert_eq!(cursor(&scene), 0, "nobody has acknowledged anything");

    // Somebody slow, who has by far not taken them all when it is over.
    let slow = Fake::new().await;
    scene.configure("TS-07", &slow.url);
    let ((), mut peer) = tokio::join!(scene.start(), slow.greet(20));
    let taking = tokio::spawn(async move {
        let mut taken = Vec::new();
        while let Some(publish) = peer.published().await {
            if publish.topic.ends_with("/events") {
                let event = Event::decode(publish.payload.as_slice()).unwrap();
                taken.push(event.seqno);
                // Real time: it is the pace of a slow broker.
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            peer.puback(publish.pkid, 0).await;
        }
        taken
    });
    scene
        .until("some are taken", |view| view["uplink"]["cursor"].as_u64() > Some(100))
        .await;
    let began = Instant::now();
    assert!(scene.terminate().await.success());
    assert!(began.elapsed() < STOPS_WITHIN, "{:?}", began.elapsed());
    let taken = taking.await.unwrap();
    assert!(
        taken.iter().copied().eq(1..=taken.len() as u64),
        "in order, without repeats"
    );
    let acknowledged = cursor(&scene);
    let newest = scene.events().len() as u64;
    assert!(
        acknowledged > 100 && acknowledged < newest,
        "{acknowledged} of {newest}"
    );
    // What was in flight at the end may come once more.
    let left = taken.len() as u64 - acknowledged;
    assert!(left <= 20, "{left} more were sent than acknowledged");

    // Somebody who works gets all the rest: each once, in order, over two more stops.
    let broker = Mosquitto::start("max_queued_messages 100000");
    let mut floor = Subscriber::new(&broker.url(), "floor", &["tablegate/v1/harbour/TS-07/events"]).await;
    let receiving = tokio::spawn(async move {
        let mut received: Vec<Event> = Vec::new();
        let mut stops = 0;
        while stops < 2 {
            let message = floor.message().await.expect("the broker stays");
            let event = Event::decode(&*message.payload).unwrap();
            let is_new = event.seqno > newest;
            stops += u32::from(is_new && matches!(event.body, Some(Body::GatewayStopped(_))));
            received.push(event);
        }
        received
    });
    scene.configure("TS-07", &broker.url());
    for _ in 0..2 {
        scene.start().await;
        scene
            .until("the broker", |view| view["uplink"]["state"] == "online")
            .await;
        let began = Instant::now();
        assert!(scene.terminate().await.success());
        assert!(began.elapsed() < STOPS_WITHIN, "{:?}", began.elapsed());
    }
    let received = tokio::time::timeout(PATIENCE, receiving)
        .await
        .expect("all arrive")
        .unwrap();
    let events = scene.events();
    assert_eq!(received, events[acknowledged as usize..]);
    assert_eq!(cursor(&scene), events.len() as u64);
}

/// Events of a weekend without the floor: 12 MB.
const VERY_MANY: u64 = 30_000;

/// What they may cost beside a start with none, KiB.
const MORE_RESIDENT: u64 = 4 * 1024;

/// The most that the daemon ever had in memory, KiB.
fn most_resident(scene: &Scene) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", scene.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// `cargo bench --bench table -- million` measures a million.
#[tokio::test]
async fn a_start_with_very_many_events_waiting_takes_neither_time_nor_memory() {
    let broker = format!("mqtt://{}", tablegate::sim::broker::start().unwrap());
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    scene.start().await;
    scene.open().await;
    scene.dealer.play([1, 3, 6]).await.unwrap();
    scene.act(&["close"]).await.ok();
    let few = most_resident(&scene);
    assert!(scene.terminate().await.success());
    let began = Instant::now();
    scene.start().await;
    let quick = began.elapsed();
    assert!(scene.terminate().await.success());
    std::thread::scope(|threads| threads.spawn(|| fill::fill(scene.directory.path(), VERY_MANY)).join()).unwrap();

    scene.configure("TS-07", &broker);
    let began = Instant::now();
    scene.start().await;
    let took = began.elapsed();
    assert!(took < quick + Duration::from_secs(3), "{took:?} instead of {quick:?}");
    scene
        .until("some are delivered", |view| {
            view["uplink"]["cursor"].as_u64() > Some(3000)
        })
        .await;
    let many = most_resident(&scene);
    assert!(many < few + MORE_RESIDENT, "{many} KiB instead of {few}");
    scene.kill().await;
}

/// What a service manager hears.
struct Manager(UnixDatagram);

impl Manager {
    async fn hears_a_ping(&self) {
        let mut words = [0; 4096];
        loop {
            let length = self.0.recv(&mut words).await.unwrap();
            if String::from_utf8_lossy(&words[..length]).contains("WATCHDOG=1") {
                return;
            }
        }
    }
}

/// What the service manager of this test allows between two pings.
const WATCHDOG: Duration = Duration::from_secs(1);

/// The loop doesn't go on: nothing else pings in its place. Ended as a service manager ends it, and started again, the table is where it was.
#[tokio::test]
async fn a_loop_that_hangs_stops_pinging_and_the_next_run_goes_on_where_it_was() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    let kernel = Kernel::new(scene.directory.path());
    let notify = scene.path("notify");
    let manager = Manager(UnixDatagram::bind(&notify).unwrap());
    let micros = WATCHDOG.as_micros().to_string();
    let environment = kernel.with(&[("NOTIFY_SOCKET", notify.to_str().unwrap()), ("WATCHDOG_USEC", &micros)]);
    scene.start_with(&environment).await;
    scene.open().await;
    let dealer = scene.dealer.clone();
    dealer.to_the_dice([2, 4, 6]).await.unwrap();
    dealer.enter(&[2, 4, 6]).await.unwrap();
    let lit = dealer.see_lamps().await.unwrap();
    let ping = async |what: &str| {
        let heard = tokio::time::timeout(PATIENCE, manager.hears_a_ping()).await;
        heard.unwrap_or_else(|_| panic!("{what}: no ping"));
    };
    ping("in play").await;

    kernel.set(Word::LoopHangs, 1);
    kernel.until(Word::Hangs, 1).await;
    let before = scene.events();
    let mut words = [0; 4096];
    while manager.0.try_recv(&mut words).is_ok() {}
    // Real time: so long a service manager waits for the next ping.
    let heard = tokio::time::timeout(WATCHDOG, manager.hears_a_ping()).await;
    assert!(heard.is_err(), "nobody may ping while the loop hangs");
    assert_eq!(
        scene.signal(Signal::SIGABRT).await.signal(),
        Some(Signal::SIGABRT as i32)
    );

    kernel.set(Word::LoopHangs, 0);
    scene.start_with(&environment).await;
    ping("started again").await;
    let view = scene.until("the entry", |view| view["phase"] == "entered").await;
    assert_eq!(view["call"], "2, 4, 6, Total 12");
    scene.links_up().await;
    let seen = dealer.lamps.wait("the same lamps", |view| view.lit == lit, PATIENCE);
    seen.await.unwrap();
    let after = scene.events();
    assert_eq!(after[..before.len()], before[..]);
    let Some(Body::GatewayStarted(started)) = &after[before.len()].body else {
        panic!("a run begins with GatewayStarted");
    };
    assert!(!started.clean_stop);
    dealer.settle(Instant::now()).await.unwrap();
    dealer.play([1, 1, 2]).await.unwrap();
    assert!(scene.terminate().await.success());
    let unit = include_str!("../../systemd/tablegate@.service");
    assert!(unit.contains("\nWatchdogSec=") && unit.contains("\nRestart="), "{unit}");
}
