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
use prost::Message;
use tablegate::table::event::{Body, Status};
use tokio::net::UnixDatagram;
use uplink_support::subscriber::Subscriber;

/// What the daemon tells the service manager.
struct Manager {
    socket: UnixDatagram,
}

impl Manager {
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
    use nix::sys::signal::Signal;
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        scene.start().await;
        assert!(scene.signal(signal).await.success(), "{signal}");
        let last = scene.events().pop().unwrap();
        assert!(matches!(last.body, Some(Body::GatewayStopped(_))), "{signal}: {last:?}");
    }
}
