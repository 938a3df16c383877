//! Delivery against a broker that a test scripts: whatever it does, nothing is lost, nothing counts as acknowledged that was not.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    missing_docs
)]

mod uplink_support;

use prost::Message;
use std::time::{Duration, Instant};
use tablegate::table::event::{Event, Status, TableState};
use tablegate::uplink::UplinkState;
use uplink_support::fake::{Fake, Peer};
use uplink_support::memory::{Memory, PREFIX, Plan};
use uplink_support::report_is;

/// After a connection that was lost the pause is a quarter of a second, more or less; the rest is for a slow PC. The next pauses would be longer.
const ONE_PAUSE: Duration = Duration::from_secs(5);

fn seqno(payload: &[u8]) -> u64 {
    Event::decode(payload).unwrap().seqno
}

/// The next event, not acknowledged.
async fn event(peer: &mut Peer) -> (u64, u16) {
    let publish = peer.published_on("/events").await.expect("the connection stands");
    (seqno(&publish.payload), publish.pkid)
}

#[tokio::test]
async fn birth_then_state_then_the_backlog_byte_by_byte() {
    let broker = Fake::new().await;
    let rig = Plan::new(Memory::with_events("j", 3), &broker.url).start();
    let mut peer = broker.greet(20).await;
    let connect = peer.connect.clone().unwrap();
    assert!(connect.clean_start);
    assert_eq!(connect.client_id, "TS-07");
    let (topic, will) = connect.will.unwrap();
    assert_eq!(topic, format!("{PREFIX}/status"));
    let will = Status::decode(&will[..]).unwrap();
    assert_eq!((will.connection, will.online), (1, false));

    let birth = peer.published().await.unwrap();
    assert_eq!(
        (birth.topic.as_str(), birth.retained),
        (&*format!("{PREFIX}/status"), true)
    );
    let status = Status::decode(&birth.payload[..]).unwrap();
    assert_eq!(
        (status.connection, status.online, status.head),
        (1, true, Some(rig.memory.head()))
    );
    let state = peer.published().await.unwrap();
    assert_eq!(
        (state.topic.as_str(), state.retained),
        (&*format!("{PREFIX}/state"), true)
    );
    assert_eq!(
        TableState::decode(&state.payload[..]).unwrap().head,
        Some(rig.memory.head())
    );
    for number in 1..=3 {
        let published = peer.published().await.unwrap();
        assert_eq!(
            (published.topic.as_str(), published.retained),
            (&*format!("{PREFIX}/events"), false)
        );
        assert_eq!(published.payload, rig.memory.record(number).bytes);
    }
}

#[tokio::test]
async fn a_session_lost_with_acknowledgements_out_of_order_loses_nothing() {
    let broker = Fake::new().await;
    let rig = Plan::new(Memory::with_events("j", 30), &broker.url).start();
    let mut peer = broker.greet(20).await;
    let mut flight = Vec::new();
    while flight.len() < 14 {
        flight.push(event(&mut peer).await);
    }
    // 1 stays unacknowledged, 2 to 14 are acknowledged, newest first; then the broker dies.
    for (_, pkid) in flight[1..].iter().rev() {
        peer.puback(*pkid, 0).await;
    }
    drop(peer);
    let lost = Instant::now();
    let mut peer = broker.greet(20).await;
    assert_eq!(rig.memory.ledger.cursor(), 0);
    for expected in 1..=30 {
        let (number, pkid) = event(&mut peer).await;
        assert_eq!(number, expected);
        peer.puback(pkid, 0).await;
    }
    let mut report = rig.uplink.report.clone();
    report_is(&mut report, "all acknowledged", |report| {
        report.cursor == 30 && report.backlog == 0
    })
    .await;
    assert_eq!(rig.memory.ledger.cursor(), 30);
    assert!(lost.elapsed() < ONE_PAUSE, "{:?}", lost.elapsed());
}

#[tokio::test]
async fn acknowledgements_of_an_old_connection_acknowledge_nothing() {
    let broker = Fake::new().await;
    let rig = Plan::new(Memory::with_events("j", 5), &broker.url).start();
    let mut peer = broker.greet(20).await;
    let mut old = Vec::new();
    for _ in 0..5 {
        old.push(event(&mut peer).await.1);
    }
    drop(peer);
    // The new connection hears them before it has published anything under these packet ids.
    let mut peer = broker.accept().await;
    peer.take(&[]).await;
    for pkid in &old {
        peer.puback(*pkid, 0).await;
    }
    let mut report = rig.uplink.report.clone();
    report_is(&mut report, "the connection is given up", |report| report.failures >= 2).await;
    assert_eq!(rig.memory.ledger.cursor(), 0);
    drop(peer);
    let mut peer = broker.greet(20).await;
    assert_eq!(event(&mut peer).await.0, 1);
}

#[tokio::test]
async fn at_most_the_receive_maximum_less_two_is_in_flight_and_packet_ids_never_meet() {
    for receive_maximum in [1, 2, 3, 5, 20] {
        let broker = Fake::new().await;
        let rig = Plan::new(Memory::with_events("j", 60), &broker.url).start();
        let mut peer = broker.greet(receive_maximum).await;
        let width = usize::from(receive_maximum).saturating_sub(2).clamp(1, 16);
        let mut flight: Vec<(u16, Option<u64>)> = Vec::new();
        let mut seen = 0;
        while seen < 60 {
            while flight.len() < width && seen < 60 {
                let publish = peer.published().await.unwrap();
                assert!(
                    flight.iter().all(|(pkid, _)| *pkid != publish.pkid),
                    "packet id {} is in use",
                    publish.pkid
                );
                let number = publish.topic.ends_with("/events").then(|| seqno(&publish.payload));
                seen = number.unwrap_or(seen);
                flight.push((publish.pkid, number));
            }
            // Newest first: the worst order for packet ids.
            while let Some((pkid, _)) = flight.pop() {
                peer.puback(pkid, 0).await;
            }
        }
        let mut report = rig.uplink.report.clone();
        report_is(&mut report, "all acknowledged", |report| report.cursor == 60).await;
        assert_eq!(
            report.borrow().state,
            UplinkState::Online,
            "receive maximum {receive_maximum}"
        );
    }
}
