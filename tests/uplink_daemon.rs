//! The real binary towards the floor: a disk that went back in time, SIGKILL, a broker that dies in play.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    missing_docs
)]

mod daemon_support;
mod uplink_support;

use daemon_support::Scene;
use prost::Message;
use std::time::Duration;
use tablegate::cli::floor::follow::{Floor, Follower, Heard};
use tablegate::floor::{Begin, Consumer, Finding};
use tablegate::table::event::{Body, Event, Head, JournalStartedReason, Status, TableState};
use uplink_support::fake::{Fake, Peer};
use uplink_support::memory::PREFIX;
use uplink_support::mosquitto::Mosquitto;
use uplink_support::subscriber::Subscriber;
use uplink_support::within;

/// A connection that is told this retained state.
async fn greet_with_state(broker: &Fake, state: &TableState) -> Peer {
    let mut peer = broker.accept().await;
    peer.take(&[]).await;
    peer.answer_subscriptions(&[(&format!("{PREFIX}/state"), state.encode_to_vec())])
        .await;
    peer
}

#[tokio::test]
async fn a_disk_that_went_back_in_time_gets_one_new_journal_and_plays_on() {
    let broker = Fake::new().await;
    let mut scene = Scene::new(&broker.url);
    let found = TableState {
        head: Some(Head {
            journal_id: "8f0a0d1e-0000-4000-8000-000000000000".to_owned(),
            seqno: 4711,
            sha256: vec![1; 32],
        }),
        ..TableState::default()
    };
    let (_, mut peer) = tokio::join!(scene.start(), greet_with_state(&broker, &found));
    assert_eq!(
        peer.published().await,
        None,
        "nothing is published over a state that is ahead"
    );
    // The broker still has it: it must not be believed a second time.
    let mut peer = greet_with_state(&broker, &found).await;
    let birth = peer.published_on("/status").await.expect("the birth");
    assert!(Status::decode(&birth.payload[..]).unwrap().online);
    peer.puback(birth.pkid, 0).await;
    // The journal before this one is delivered first: none of it was acknowledged.
    let first = loop {
        let published = peer.published_on("/events").await.unwrap();
        peer.puback(published.pkid, 0).await;
        if let Some(Body::JournalStarted(started)) = Event::decode(&published.payload[..]).unwrap().body
            && started.reason() == JournalStartedReason::RolledBack
        {
            break started;
        }
    };
    assert!(first.predecessor.is_some());
    let locks = scene
        .until("the next round is held", |view| {
            !view["locks"].as_array().unwrap().is_empty()
        })
        .await;
    assert!(
        locks.to_string().contains("JOURNAL") || locks.to_string().contains("journal"),
        "{locks}"
    );
}

#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn a_daemon_that_is_killed_leaves_its_last_will_once_and_comes_back_with_a_higher_number() {
    let broker = Mosquitto::start("max_queued_messages 1000000");
    let mut scene = Scene::new(&broker.url());
    let mut look = Subscriber::new(&broker.url(), "look", &[&format!("{PREFIX}/status")]).await;
    let mut last = 0;
    for _ in 0..3 {
        scene.start().await;
        let birth = Status::decode(&look.message().await.unwrap().payload[..]).unwrap();
        assert!(birth.online && birth.connection > last, "{birth:?} after {last}");
        last = birth.connection;
        scene.kill().await;
        loop {
            let status = Status::decode(&look.message().await.unwrap().payload[..]).unwrap();
            assert_eq!(status.connection, last);
            if !status.online {
                break;
            }
        }
    }
    let more = tokio::time::timeout(Duration::from_millis(300), look.message()).await;
    assert!(more.is_err(), "one last will: {more:?}");
}

#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn mosquitto_killed_ten_times_in_play_and_every_event_arrives_in_order() {
    let mut broker = Mosquitto::start("max_queued_messages 1000000");
    let mut scene = Scene::new(&broker.url());
    let floor = Floor {
        broker: broker.url().parse().unwrap(),
        prefix: PREFIX.to_owned(),
        tls: None,
        login: None,
        reader: "floor".to_owned(),
    };
    let mut follower = Follower::start(floor, Some(Consumer::new(Begin::AtFirst)));
    let (tell, mut stored_through) = tokio::sync::watch::channel(0);
    let following = tokio::spawn(async move {
        let mut stored: Vec<Vec<u8>> = Vec::new();
        while !ends_with_stop(&stored) {
            match follower.next().await {
                Heard::Found(Finding::Store(stores)) => {
                    stored.push(stores.bytes);
                    tell.send_replace(stores.seqno);
                }
                Heard::Found(finding) => assert!(!finding.is_alarm(), "{finding:?}"),
                _ => {}
            }
        }
        stored
    });
    scene.start().await;
    scene.open().await;
    for kill in 0..10 {
        let dice = 1 + kill % 6;
        let (played, ()) = tokio::join!(scene.dealer.play([dice, 3, 6]), async {
            broker.kill();
            broker.restart();
        });
        played.unwrap();
    }
    scene.act(&["close"]).await.ok();
    // Once it has stopped nobody answers replays any longer.
    let newest = u64::try_from(scene.events().len()).unwrap();
    within(
        "the floor has all of it",
        stored_through.wait_for(|through| *through >= newest),
    )
    .await
    .unwrap();
    assert!(scene.terminate().await.success(), "{}", scene.log());
    let stored = within("the last event", following).await.unwrap();
    let journalled: Vec<Vec<u8>> = {
        let mut reader = tablegate::journal::Reader::open(&scene.journal()).unwrap();
        let newest = reader.head().unwrap().seqno;
        let mut records = Vec::new();
        while u64::try_from(records.len()).unwrap() < newest {
            let from = u64::try_from(records.len()).unwrap() + 1;
            records.extend(
                reader
                    .page(from, newest, 500)
                    .unwrap()
                    .into_iter()
                    .map(|record| record.bytes),
            );
        }
        records
    };
    assert_eq!(stored.len(), journalled.len());
    assert!(stored == journalled, "byte by byte");
}

fn ends_with_stop(stored: &[Vec<u8>]) -> bool {
    let last = stored.last().and_then(|bytes| Event::decode(&bytes[..]).ok());
    last.is_some_and(|event| matches!(event.body, Some(Body::GatewayStopped(_))))
}
