//! The daemon as its service manager meets it: readiness, watchdog, a self-test that fails, and a clean stop.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test may panic"
)]

mod daemon_support;
mod uplink_support;

use daemon_support::{PATIENCE, Scene};
use nix::sys::signal::Signal;
use prost::Message;
use std::time::{Duration, Instant};
use tablegate::journal::Reader;
use tablegate::table::event::{Body, Event, Mode, Status, TableState};
use tokio::net::UnixDatagram;
use uplink_support::fake::Fake;
use uplink_support::subscriber::Subscriber;

/// What the daemon tells the service manager.
struct Manager {
    socket: UnixDatagram,
}

impl Manager {
    /// What it was told so far doesn't count.
    fn forget(&self) {
        let mut datagram = [0; 4096];
        while self.socket.try_recv(&mut datagram).is_ok() {}
    }

    async fn hears(&self, words: &str) {
        let mut datagram = [0; 4096];
        let heard = async {
            loop {
                let length = self.socket.recv(&mut datagram).await.unwrap();
                if String::from_utf8_lossy(&datagram[..length])
                    .lines()
                    .any(|line| line.starts_with(words))
                {
                    return;
                }
            }
        };
        tokio::time::timeout(PATIENCE, heard)
            .await
            .unwrap_or_else(|_| panic!("{words} was not heard"));
    }
}

#[tokio::test]
async fn the_service_manager_hears_that_it_is_up_alive_and_stopping() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    let path = scene.path("notify");
    let manager = Manager {
        socket: UnixDatagram::bind(&path).unwrap(),
    };
    scene
        .start_with(&[("NOTIFY_SOCKET", path.to_str().unwrap()), ("WATCHDOG_USEC", "1000000")])
        .await;
    manager.hears("READY=1").await;
    // An idle table pings too, and goes on pinging.
    for _ in 0..4 {
        manager.hears("WATCHDOG=1").await;
    }
    let heard = async {
        manager.hears("STOPPING=1").await;
    };
    let (status, ()) = tokio::join!(scene.terminate(), heard);
    assert!(status.success());
}

/// A self-test that failed, or a journal that takes nothing, is no reason to be killed: nothing would be better after it.
#[tokio::test]
async fn what_keeps_the_table_from_playing_keeps_nobody_from_pinging() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    let path = scene.path("notify");
    let manager = Manager {
        socket: UnixDatagram::bind(&path).unwrap(),
    };
    let environment = [("NOTIFY_SOCKET", path.to_str().unwrap()), ("WATCHDOG_USEC", "1000000")];
    std::fs::write(scene.path("journal"), "not a folder").unwrap();
    scene.start_with(&environment).await;
    manager.hears("STATUS=the self-test failed").await;
    for _ in 0..3 {
        manager.hears("WATCHDOG=1").await;
    }
    std::fs::remove_file(scene.path("journal")).unwrap();
    scene.until("a closed table", |view| view["mode"] == "closed").await;
    scene.links_up().await;
    let lock = rusqlite::Connection::open(scene.journal()).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    scene
        .act(&["lock", "--reason", "x"])
        .await
        .refused(1, "nothing can be recorded");
    manager.forget();
    for _ in 0..3 {
        manager.hears("WATCHDOG=1").await;
    }
    // Asked to stop while nothing can be recorded: it stops all the same.
    let began = Instant::now();
    assert!(scene.terminate().await.success());
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    drop(lock);
    scene.start().await;
    assert!(scene.terminate().await.success());
}

#[tokio::test]
async fn a_stop_ends_in_bounded_time_whatever_the_broker_does_and_loses_nothing() {
    // Nobody there.
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    scene.start().await;
    scene.links_up().await;
    let began = Instant::now();
    assert!(scene.terminate().await.success());
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    let kept = scene.events().len();

    // One that takes what it is sent and never answers: the drain has its ten seconds.
    let stalled = Fake::new().await;
    scene.configure("TS-07", &stalled.url);
    let ((), mut peer) = tokio::join!(scene.start(), stalled.greet(20));
    peer.published_on("/events").await.expect("an event in flight");
    let began = Instant::now();
    assert!(scene.terminate().await.success());
    let took = began.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    let mut journal = Reader::open(&scene.journal()).unwrap();
    assert_eq!(journal.cursor().unwrap(), 0, "nobody has acknowledged anything");
    assert!(scene.events().len() > kept);
    drop(peer);

    // The same, and whoever asks twice wants it at once.
    let ((), mut peer) = tokio::join!(scene.start(), stalled.greet(20));
    peer.published_on("/events").await.expect("an event in flight");
    let began = Instant::now();
    let stops = scene.log().matches("asked to stop").count();
    scene.tell(Signal::SIGTERM);
    while scene.log().matches("asked to stop").count() == stops {
        // Look again: until it has begun to stop; the test's own limit is below.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(scene.terminate().await.success());
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    drop(peer);

    // A broker that works gets what all of these left.
    let broker = format!("mqtt://{}", tablegate::sim::broker::start().unwrap());
    let mut floor = Subscriber::new(&broker, "floor", &["tablegate/v1/harbour/TS-07/#"]).await;
    scene.configure("TS-07", &broker);
    scene.start().await;
    scene
        .until("the broker", |view| view["uplink"]["state"] == "online")
        .await;
    assert!(scene.terminate().await.success());
    let events = scene.events();
    let mut journal = Reader::open(&scene.journal()).unwrap();
    assert_eq!(
        journal.cursor().unwrap(),
        events.last().unwrap().seqno,
        "each in flight was acknowledged before the end"
    );
    for event in &events {
        let message = floor.message_on("/events").await.unwrap();
        assert_eq!(Event::decode(&*message.payload).unwrap(), *event);
    }
}

/// Scripts and the service manager rely on these.
#[tokio::test]
async fn each_way_of_not_starting_has_its_exit_status() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    scene.start().await;
    assert!(scene.terminate().await.success());
    let good = scene.config();
    let good = good.to_str().unwrap();
    let bad = scene.path("bad.toml");
    std::fs::write(&bad, "[table]\nsite = 7\n").unwrap();
    let bad = bad.to_str().unwrap();
    for (arguments, code, words) in [
        (&["run"][..], 2, "--config"),
        (&["run", "--config", good, "--fast"], 2, "--fast"),
        (&["run", "--config", good, "--log-level", "loud"], 2, "loud"),
        (&["run", "--config", "/nowhere/TS-07.toml"], 3, "/nowhere/TS-07.toml"),
        (&["run", "--config", bad], 3, "table.site"),
    ] {
        daemon_support::run(arguments).await.refused(code, words);
    }
    scene.configure("TS-08", "mqtt://127.0.0.1:9");
    daemon_support::run(&["run", "--config", good])
        .await
        .refused(3, "TS-07");
    scene.configure("TS-07", "mqtt://127.0.0.1:9");
    let before = std::fs::read(scene.journal()).unwrap();
    let journal = rusqlite::Connection::open(scene.journal()).unwrap();
    journal
        .execute_batch("PRAGMA user_version = 999; UPDATE identity SET schema = 999")
        .unwrap();
    drop(journal);
    daemon_support::run(&["run", "--config", good])
        .await
        .refused(4, "newer");
    assert!(
        std::fs::read(scene.journal()).unwrap().len() >= before.len(),
        "it lies where it lay"
    );
    // What can't get better by itself isn't tried again.
    let unit = std::fs::read_to_string("systemd/tablegate@.service").unwrap();
    assert!(unit.contains("\nRestartPreventExitStatus=2 3 4\n"), "{unit}");
}

/// Each of these costs the daemon nothing but the answer, and the log no more than its bound.
#[tokio::test]
async fn a_hostile_client_of_the_control_socket_costs_a_few_lines() {
    use tokio::io::AsyncWriteExt;
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    scene.start().await;
    let before = scene.log().lines().count();
    for index in 0..600u32 {
        let Ok(mut client) = tokio::net::UnixStream::connect(scene.path("t.sock")).await else {
            continue;
        };
        let words: &[u8] = match index % 4 {
            0 => b"not json\n",
            1 => b"{\"act\":{\"close\":{}}}\n",
            2 => &[0xff; 70 * 1024],
            _ => b"",
        };
        let _hung_up = client.write_all(words).await;
    }
    scene.until("the daemon answers", |view| view["mode"] == "closed").await;
    let log = scene.log();
    let lines = log.lines().skip(before).filter(|line| !line.contains("DEBUG")).count();
    assert!(lines <= 60, "{lines} lines:\n{log}");
    assert!(scene.terminate().await.success());
}

#[tokio::test]
async fn started_before_any_device_it_takes_each_as_it_appears() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    let dealer = scene.dealer.clone();
    tokio::join!(dealer.tumbler.unplug(), dealer.terminal.unplug(), dealer.lamps.unplug());
    scene.start().await;
    let online = |view: &serde_json::Value| {
        let devices = view["devices"].as_array().cloned().unwrap_or_default();
        devices.iter().filter(|device| device["online"] == true).count()
    };
    scene.until("no device", |view| online(view) == 0).await;
    dealer.lamps.replug().await;
    scene.until("one device", |view| online(view) == 1).await;
    dealer.tumbler.replug().await;
    scene.until("two devices", |view| online(view) == 2).await;
    dealer.terminal.replug().await;
    scene.links_up().await;
    scene.open().await;
    dealer.play([1, 2, 3]).await.unwrap();
    assert!(scene.terminate().await.success());
}

#[tokio::test]
async fn some_dozens_of_flaps_and_unplugs_leave_nothing_behind() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    let broker = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = broker.local_addr().unwrap();
    scene.configure("TS-07", &format!("mqtt://{address}"));
    broker.set_nonblocking(true).unwrap();
    let broker = tokio::net::TcpListener::from_std(broker).unwrap();
    // Hangs up on whoever connects.
    let hangs_up = tokio::spawn(async move {
        while let Ok((stream, _)) = broker.accept().await {
            drop(stream);
        }
    });
    scene.start().await;
    scene.links_up().await;
    let dealer = scene.dealer.clone();
    let flap = async |times: u64| {
        for _ in 0..times {
            let before = dealer.terminal.view().line.sessions;
            dealer.terminal.unplug().await;
            dealer.terminal.replug().await;
            let greeted = dealer
                .terminal
                .wait("a greeting", |view| view.line.sessions > before, PATIENCE);
            greeted.await.unwrap();
        }
    };
    flap(5).await;
    let descriptors = scene.descriptors();
    let lines = scene.log().lines().filter(|line| !line.contains("DEBUG")).count();
    flap(40).await;
    scene.links_up().await;
    let more = scene.descriptors() as i64 - descriptors as i64;
    assert!(more.abs() <= 3, "{more} descriptors more");
    let lines = scene.log().lines().filter(|line| !line.contains("DEBUG")).count() - lines;
    assert!(lines <= 40, "{lines} lines of log for 40 unplugs");
    hangs_up.abort();
    assert!(scene.terminate().await.success());
}

#[tokio::test]
async fn a_failed_self_test_leaves_the_readout_the_socket_and_a_fault_and_is_tried_again() {
    let broker = format!("mqtt://{}", tablegate::sim::broker::start().unwrap());
    let mut scene = Scene::new(&broker);
    // A file where the journal's folder should be.
    std::fs::write(scene.path("journal"), "not a folder").unwrap();
    let mut floor = Subscriber::new(&broker, "floor", &["tablegate/v1/harbour/TS-07/#"]).await;
    scene.start().await;
    let view = scene.until("the fault", |view| view["fault"].is_string()).await;
    assert_eq!(view["mode"], "self_test");
    assert!(view["fault"].as_str().unwrap().contains("journal"), "{}", view["fault"]);
    let terminal = &scene.dealer.terminal;
    terminal
        .wait("E90", |view| view.readout == "E90", PATIENCE)
        .await
        .unwrap();
    let status = floor.message_on("/status").await.unwrap();
    let status = Status::decode(&*status.payload).unwrap();
    assert!(status.fault.contains("journal"), "{status:?}");
    assert_eq!(scene.dealer.tumbler.view().inhibits, 0, "no other port was opened");
    assert_eq!(scene.dealer.lamps.view().pictures, 0, "no other port was opened");
    scene
        .act(&["lock", "--reason", "x"])
        .await
        .refused(1, "self-test failed");

    // The cause goes away, and so does the fault.
    std::fs::remove_file(scene.path("journal")).unwrap();
    scene
        .until("a closed table", |view| {
            view["mode"] == "closed" && view["fault"].is_null()
        })
        .await;
    scene.links_up().await;
    let first = scene.events().remove(0);
    assert!(matches!(first.body, Some(Body::JournalStarted(_))));
    // A table without a journal overwrites nothing of what the floor was told of it.
    let state = floor.message_on("/state").await.unwrap();
    let state = TableState::decode(&*state.payload).unwrap();
    assert_ne!(state.mode(), Mode::SelfTest, "the first state that it tells");
    assert!(scene.terminate().await.success());
}

#[tokio::test]
async fn a_stop_during_a_failed_self_test_is_clean() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    std::fs::write(scene.path("journal"), "not a folder").unwrap();
    scene.start().await;
    assert!(scene.terminate().await.success());
    assert!(!scene.path("t.sock").exists());
}

#[tokio::test]
async fn stopped_in_the_middle_of_a_round_the_table_goes_on_where_it_was() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    scene.start().await;
    scene.open().await;
    let dealer = scene.dealer.clone();
    dealer.tumble([2, 4, 6]).await.unwrap();
    dealer.wait_for_bets().await.unwrap();
    dealer.no_more_bets().await.unwrap();
    dealer.uncover().await;
    dealer.enter(&[2, 4, 6]).await.unwrap();
    let lit = dealer.see_lamps().await.unwrap();
    assert!(scene.terminate().await.success());
    let before = scene.events();
    // Out of the power: the lamps are dark when the daemon comes back.
    dealer.lamps.reboot().await;
    dealer
        .lamps
        .wait("dark lamps", |view| view.lit.is_empty(), PATIENCE)
        .await
        .unwrap();
    scene.start().await;
    dealer
        .lamps
        .wait("the same lamps", |view| view.lit == lit, PATIENCE)
        .await
        .unwrap();
    let view = scene.until("the entry", |view| view["phase"] == "entered").await;
    assert_eq!(view["call"], "2, 4, 6, Total 12");
    let after = scene.events();
    assert_eq!(after[..before.len()], before[..]);
    let Some(Body::GatewayStarted(started)) = &after[before.len()].body else {
        panic!("a run begins with GatewayStarted");
    };
    assert!(started.clean_stop);
    assert_eq!(started.build_sha256.len(), 32);
    assert_ne!(started.build_sha256, [0; 32]);
    assert_ne!(after[before.len()].run_id, before[0].run_id);
    let results = after
        .iter()
        .filter(|event| matches!(event.body, Some(Body::ResultEntered(_))))
        .count();
    assert_eq!(results, 1, "nothing is repeated");
}

#[tokio::test]
async fn every_way_of_asking_it_to_stop_is_clean() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        scene.start().await;
        assert!(scene.signal(signal).await.success(), "{signal}");
        let last = scene.events().pop().unwrap();
        assert!(matches!(last.body, Some(Body::GatewayStopped(_))), "{signal}: {last:?}");
    }
}
