//! A disk that answers with EIO, or not at all.

use crate::daemon_support::{PATIENCE, Scene};
use crate::kernel::{Kernel, Word};
use crate::uplink_support::subscriber::Subscriber;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tablegate::journal::verify;
use tablegate::sim::TerminalView;
use tablegate::table::event::{Body, Event};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::Instant;

/// A stop gives up what can't be recorded.
const STOPS_WITHIN: Duration = Duration::from_secs(20);

fn shows_e90(view: &TerminalView) -> bool {
    view.readout == "E90"
}

/// Everything that a broker was given under the events' topic, as it came.
fn collect(mut floor: Subscriber) -> Arc<Mutex<Vec<Vec<u8>>>> {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let given = Arc::clone(&kept);
    tokio::spawn(async move {
        while let Some(message) = floor.message_on("/events").await {
            given.lock().unwrap().push(message.payload.to_vec());
        }
    });
    kept
}

/// Nothing stands on layout or floor that isn't in the journal, byte for byte.
fn assert_only_what_is_recorded(scene: &Scene, published: &Mutex<Vec<Vec<u8>>>) {
    use prost::Message;
    let recorded = scene.events();
    for bytes in published.lock().unwrap().iter() {
        let event = Event::decode(bytes.as_slice()).unwrap();
        assert_eq!(recorded[event.seqno as usize - 1].encode_to_vec(), *bytes);
    }
    assert_eq!(verify(&scene.journal(), |_| {}).unwrap().bad, None);
}

/// Stands before a broker: open, it lets everything through; shut, it hangs up on everybody.
async fn gate(broker: SocketAddr) -> (String, watch::Sender<bool>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("mqtt://{}", listener.local_addr().unwrap());
    let (is_open, opened) = watch::channel(true);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut opened = opened.clone();
            if !*opened.borrow_and_update() {
                continue;
            }
            tokio::spawn(async move {
                let mut server = TcpStream::connect(broker).await.unwrap();
                tokio::select! {
                    _ = tokio::io::copy_bidirectional(&mut client, &mut server) => {}
                    _ = opened.wait_for(|opened| !opened) => {}
                }
            });
        }
    });
    (url, is_open)
}

async fn goes_on(scene: &Scene) {
    scene
        .until("recording again", |view| {
            view["mode"] == "open" && view["fault"].is_null()
        })
        .await;
    scene
        .act(&["unlock", "--procedure", "the disk was looked at"])
        .await
        .ok();
    scene.act(&["round", "resume"]).await;
}

/// Each way of failing in the middle of a round: the table stops with its code, nothing is shown or published, and it is over by itself.
#[tokio::test]
async fn a_disk_that_answers_with_errors_stops_the_table_and_costs_nothing_that_was_recorded() {
    let broker = format!("mqtt://{}", tablegate::sim::broker::start().unwrap());
    let floor = Subscriber::new(&broker, "floor", &["tablegate/v1/harbour/TS-07/events"]).await;
    let published = collect(floor);
    let mut scene = Scene::new(&broker);
    let kernel = Kernel::new(scene.directory.path());
    scene.start_with(&kernel.with(&[])).await;
    scene.open().await;
    let dealer = scene.dealer.clone();
    for fault in [Word::SyncFails, Word::WriteFails, Word::SyncHangs] {
        dealer.to_the_dice([2, 3, 3]).await.unwrap();
        let before = scene.events();
        kernel.set(fault, 1);
        dealer.enter(&[2, 3, 3]).await.ok();
        let view = scene.until("the fault", |view| view["mode"] == "journal_failed").await;
        assert!(view["fault"].is_string(), "{fault:?}: {view:#}");
        dealer.terminal.wait("E90", shows_e90, PATIENCE).await.unwrap();
        assert!(
            dealer.lamps.view().lit.is_empty(),
            "{fault:?}: what is not recorded is not shown"
        );
        assert_eq!(scene.events(), before, "{fault:?}");
        assert_only_what_is_recorded(&scene, &published);
        scene
            .act(&["lock", "--reason", "x"])
            .await
            .refused(1, "nothing can be recorded");

        kernel.set(fault, 0);
        goes_on(&scene).await;
        let after = scene.events();
        assert_eq!(after[..before.len()], before[..], "{fault:?}");
        let failed = &after[before.len()];
        assert!(
            matches!(failed.body, Some(Body::JournalFailed(_))),
            "{fault:?}: {failed:?}"
        );
        let entered = Instant::now();
        dealer.enter(&[2, 3, 3]).await.unwrap();
        assert!(!dealer.see_lamps().await.unwrap().is_empty());
        dealer.settle(entered).await.unwrap();
    }
    assert!(kernel.get(Word::Failed) >= 2);

    // Killed while its disk syncs nothing: what was acknowledged stays.
    dealer.to_the_dice([1, 1, 5]).await.unwrap();
    let before = scene.events();
    kernel.set(Word::SyncFails, 1);
    dealer.enter(&[1, 1, 5]).await.ok();
    scene.until("the fault", |view| view["mode"] == "journal_failed").await;
    scene.kill().await;
    kernel.set(Word::SyncFails, 0);
    scene.start_with(&kernel.with(&[])).await;
    scene.links_up().await;
    assert_eq!(scene.events()[..before.len()], before[..]);
    scene
        .until("everything delivered", |view| view["uplink"]["backlog"] == 0)
        .await;
    assert_only_what_is_recorded(&scene, &published);

    // Stopped while nothing can be synced, neither the word of the end nor what is moved at a close: it ends all the same.
    let before = scene.events();
    let failed = kernel.get(Word::Failed);
    kernel.set(Word::SyncFails, 1);
    let began = Instant::now();
    assert!(scene.terminate().await.success());
    assert!(began.elapsed() < STOPS_WITHIN, "{:?}", began.elapsed());
    assert!(kernel.get(Word::Failed) > failed);
    kernel.set(Word::SyncFails, 0);
    scene.start_with(&kernel.with(&[])).await;
    scene.links_up().await;
    assert_eq!(scene.events()[..before.len()], before[..]);
    assert!(scene.terminate().await.success());
    assert_only_what_is_recorded(&scene, &published);
}

/// At a start it is no reason to move anything aside; in play it delays what the floor is told, and loses nothing.
#[tokio::test]
async fn a_disk_that_can_not_be_read_is_said_and_is_over_by_itself() {
    let broker = tablegate::sim::broker::start().unwrap();
    let events = ["tablegate/v1/harbour/TS-07/events"];
    let floor = Subscriber::new(&format!("mqtt://{broker}"), "floor", &events).await;
    let published = collect(floor);
    let (url, is_open) = gate(broker).await;
    let mut scene = Scene::new(&url);
    let kernel = Kernel::new(scene.directory.path());
    scene.start_with(&kernel.with(&[])).await;
    scene.open().await;
    let dealer = scene.dealer.clone();
    dealer.play([1, 3, 6]).await.unwrap();
    scene.kill().await;
    let before = scene.events();

    kernel.set(Word::ReadFails, 1);
    scene.start_with(&kernel.with(&[])).await;
    let view = scene.until("the fault", |view| view["fault"].is_string()).await;
    assert_eq!(view["mode"], "self_test", "{view:#}");
    dealer.terminal.wait("E90", shows_e90, PATIENCE).await.unwrap();
    kernel.set(Word::ReadFails, 0);
    scene
        .until("the table as it was", |view| {
            view["mode"] == "open" && view["fault"].is_null()
        })
        .await;
    scene.links_up().await;
    assert_eq!(scene.events()[..before.len()], before[..], "nothing was moved aside");

    scene
        .until("everything delivered", |view| view["uplink"]["backlog"] == 0)
        .await;
    dealer.tumble([4, 4, 1]).await.unwrap();
    dealer.wait_for_bets().await.unwrap();
    // What was recorded while no broker was there has to be read for one that is.
    is_open.send_replace(false);
    scene
        .until("no broker", |view| view["uplink"]["state"] != "online")
        .await;
    dealer.no_more_bets().await.unwrap();
    let failed = kernel.get(Word::Failed);
    kernel.set(Word::ReadFails, 1);
    is_open.send_replace(true);
    kernel.until(Word::Failed, failed + 1).await;
    let view = scene
        .until("the reason", |view| {
            view["uplink"]["last_error"]
                .as_str()
                .is_some_and(|error| error.contains("I/O error"))
        })
        .await;
    assert_ne!(view["uplink"]["backlog"], 0, "{view:#}");
    kernel.set(Word::ReadFails, 0);
    scene
        .until("everything delivered", |view| view["uplink"]["backlog"] == 0)
        .await;
    let view = scene.until("an open table", |view| view["mode"] == "open").await;
    assert_eq!(view["locks"], serde_json::json!([]), "{view:#}");
    dealer.uncover().await;
    let entered = Instant::now();
    dealer.enter(&[1, 4, 4]).await.unwrap();
    assert!(!dealer.see_lamps().await.unwrap().is_empty());
    dealer.settle(entered).await.unwrap();
    scene
        .until("everything delivered", |view| view["uplink"]["backlog"] == 0)
        .await;
    assert!(scene.terminate().await.success());
    assert_only_what_is_recorded(&scene, &published);
}
