//! What brokers do wrong, and what comes of it: no silent loss, no endless retry of one event, an alert that names the reason.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    missing_docs
)]

mod uplink_support;

use prost::Message;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tablegate::table::event::{Body, Event, EventSetAside, EventSetAsideReason};
use tablegate::table::input::Condition;
use tablegate::uplink::{Notice, UplinkState};
use uplink_support::fake::{Fake, Packet, Peer, maximum_packet_property};
use uplink_support::memory::{Memory, Plan, Rig};
use uplink_support::{report_is, within};

async fn event(peer: &mut Peer) -> (u64, u16) {
    let publish = peer.published_on("/events").await.expect("the connection stands");
    (Event::decode(&publish.payload[..]).unwrap().seqno, publish.pkid)
}

async fn notice(rig: &mut Rig) -> Notice {
    within("a notice", rig.notices.recv()).await.unwrap()
}

/// The next notice about this condition: its text and whether it stands.
async fn condition(rig: &mut Rig, wanted: Condition) -> (String, bool) {
    loop {
        if let Notice::Condition {
            condition,
            text,
            standing,
        } = notice(rig).await
            && condition == wanted
        {
            return (text, standing);
        }
    }
}

#[tokio::test]
async fn what_the_broker_refuses_is_not_skipped_and_the_alert_names_the_reason() {
    for (reason, name) in [
        (0x80, "unspecified error"),
        (0x83, "implementation specific error"),
        (0x87, "not authorized"),
        (0x90, "topic name invalid"),
        (0x97, "quota exceeded"),
    ] {
        let broker = Fake::new().await;
        let mut rig = Plan::new(Memory::with_events("j", 3), &broker.url).start();
        for _ in 0..2 {
            let mut peer = broker.greet(20).await;
            let (first, pkid) = event(&mut peer).await;
            assert_eq!(first, 1, "{name}: nothing is skipped");
            peer.puback(pkid, reason).await;
            while peer.published().await.is_some() {}
        }
        let (text, standing) = condition(&mut rig, Condition::BrokerRefuses).await;
        assert!(standing && text.contains(name), "{text}");
        assert_eq!(rig.memory.ledger.cursor(), 0);
        let mut peer = broker.greet(20).await;
        for expected in 1..=3 {
            let (number, pkid) = event(&mut peer).await;
            assert_eq!(number, expected);
            peer.puback(pkid, 0).await;
        }
        assert!(
            !condition(&mut rig, Condition::BrokerRefuses).await.1,
            "{name}: over when the broker takes events"
        );
    }
}

#[tokio::test]
async fn an_event_whose_payload_the_broker_will_never_take_is_set_aside() {
    let broker = Fake::new().await;
    let mut rig = Plan::new(Memory::with_events("j", 3), &broker.url).start();
    let mut peer = broker.greet(20).await;
    for expected in 1..=3 {
        let (number, pkid) = event(&mut peer).await;
        assert_eq!(number, expected);
        peer.puback(pkid, if number == 2 { 0x99 } else { 0 }).await;
    }
    assert_eq!(
        notice(&mut rig).await,
        Notice::SetAside {
            seqno: 2,
            reason: EventSetAsideReason::PayloadFormat
        }
    );
    assert!(condition(&mut rig, Condition::EventSetAside).await.1);
    let mut report = rig.uplink.report.clone();
    let report = report_is(&mut report, "the cursor passes", |report| report.cursor == 3).await;
    assert_eq!((report.set_aside, report.acknowledged, report.failures), (1, 2, 0));
}

#[tokio::test]
async fn the_record_of_a_set_aside_event_is_not_recorded_again() {
    let broker = Fake::new().await;
    let memory = Memory::new("j");
    memory.append_body(Body::EventSetAside(EventSetAside::default()));
    memory.append();
    let mut rig = Plan::new(memory, &broker.url).start();
    let mut peer = broker.greet(20).await;
    for _ in 0..2 {
        let (_, pkid) = event(&mut peer).await;
        peer.puback(pkid, 0x99).await;
    }
    assert!(matches!(
        notice(&mut rig).await,
        Notice::SetAside { seqno: 2, .. } | Notice::Condition { .. }
    ));
    let mut report = rig.uplink.report.clone();
    report_is(&mut report, "both are set aside", |report| report.set_aside == 2).await;
    rig.notices.close();
    while let Some(notice) = rig.notices.recv().await {
        assert!(!matches!(notice, Notice::SetAside { seqno: 1, .. }));
    }
}

#[tokio::test]
async fn nobody_listening_is_an_alert_and_counts_as_delivered() {
    let broker = Fake::new().await;
    let mut rig = Plan::new(Memory::with_events("j", 3), &broker.url).start();
    let mut peer = broker.greet(20).await;
    for reason in [0x10, 0x10, 0] {
        let (number, pkid) = event(&mut peer).await;
        peer.puback(pkid, reason).await;
        if number == 1 {
            let (text, standing) = condition(&mut rig, Condition::NobodyListening).await;
            assert!(standing && text.contains("/events"), "{text}");
        }
    }
    assert!(!condition(&mut rig, Condition::NobodyListening).await.1);
    let mut report = rig.uplink.report.clone();
    let report = report_is(&mut report, "all acknowledged", |report| report.cursor == 3).await;
    assert_eq!((report.unheard, report.acknowledged), (2, 3));
}

#[tokio::test]
async fn an_event_above_the_maximum_packet_size_is_set_aside_and_those_behind_it_flow() {
    let broker = Fake::new().await;
    let memory = Memory::with_events("j", 1);
    memory.append_of_size(17 * 1024);
    memory.append();
    let mut rig = Plan::new(memory, &broker.url).start();
    let mut peer = broker.accept().await;
    peer.take(&maximum_packet_property(16 * 1024)).await;
    peer.answer_subscriptions(&[]).await;
    for expected in [1, 3] {
        let (number, pkid) = event(&mut peer).await;
        assert_eq!(number, expected);
        peer.puback(pkid, 0).await;
    }
    assert_eq!(
        notice(&mut rig).await,
        Notice::SetAside {
            seqno: 2,
            reason: EventSetAsideReason::TooLarge
        }
    );
    let mut report = rig.uplink.report.clone();
    let report = report_is(&mut report, "all delivered", |report| report.cursor == 3).await;
    assert_eq!(report.failures, 0);
}

#[tokio::test]
async fn an_event_that_the_broker_finds_too_large_late_is_found_one_by_one() {
    // A limit that CONNACK doesn't tell: the answer is PUBACK "packet too large", which the client does not know.
    let broker = Fake::new().await;
    let memory = Memory::with_events("j", 3);
    memory.append_of_size(6000);
    memory.append();
    let mut rig = Plan::new(memory, &broker.url).start();
    tokio::spawn(async move {
        loop {
            let mut peer = broker.greet(20).await;
            while let Some(publish) = peer.published_on("/events").await {
                let is_too_large = publish.payload.len() > 4096;
                peer.puback(publish.pkid, if is_too_large { 0x95 } else { 0 }).await;
            }
        }
    });
    loop {
        if let Notice::SetAside { seqno, reason } = notice(&mut rig).await {
            assert_eq!((seqno, reason), (4, EventSetAsideReason::TooLarge));
            break;
        }
    }
    let mut report = rig.uplink.report.clone();
    report_is(&mut report, "all delivered", |report| report.cursor == 5).await;
}

#[tokio::test]
async fn a_broker_whose_packets_are_too_small_is_refused_with_an_alert() {
    let broker = Fake::new().await;
    let mut rig = Plan::new(Memory::with_events("j", 1), &broker.url).start();
    let mut peer = broker.accept().await;
    peer.take(&maximum_packet_property(16 * 1024 - 1)).await;
    assert_eq!(
        peer.next().await,
        Packet::Closed,
        "nothing is published, nothing subscribed"
    );
    let (text, standing) = condition(&mut rig, Condition::BrokerRefuses).await;
    assert!(standing && text.contains("16383"), "{text}");
}

/// The port in the configuration is another service's: the report says so in words.
#[tokio::test]
async fn what_is_no_broker_is_said_to_be_none() {
    let broker = Fake::new().await;
    let rig = Plan::new(Memory::with_events("j", 1), &broker.url).start();
    let mut peer = broker.accept().await;
    assert!(matches!(peer.next().await, Packet::Connect(_)));
    // "HTTP/1.1 400 Bad Request", as a frame: its first byte, its length, its rest.
    peer.send(b'H', &[b'T'; 0x54]).await;
    let mut report = rig.uplink.report.clone();
    report_is(&mut report, "no broker", |report| {
        report.last_error.contains("speaks no MQTT 5")
    })
    .await;
}

#[tokio::test]
async fn a_refused_connection_is_an_alert_with_the_name() {
    let broker = Fake::new().await;
    let mut rig = Plan::new(Memory::with_events("j", 1), &broker.url).start();
    let mut peer = broker.accept().await;
    assert!(matches!(peer.next().await, Packet::Connect(_)));
    peer.connack(0x87, &[]).await;
    let (text, standing) = condition(&mut rig, Condition::BrokerRefuses).await;
    assert!(
        standing && text.contains("connection refused: not authorized"),
        "{text}"
    );
    let mut peer = broker.greet(20).await;
    let (_, pkid) = event(&mut peer).await;
    peer.puback(pkid, 0).await;
    assert!(!condition(&mut rig, Condition::BrokerRefuses).await.1);
}

#[tokio::test]
async fn a_refused_subscription_is_an_alert_and_events_flow() {
    let broker = Fake::new().await;
    let mut rig = Plan::new(Memory::with_events("j", 1), &broker.url).start();
    let mut peer = broker.accept().await;
    peer.take(&[]).await;
    for code in [0, 0x87] {
        match peer.next().await {
            Packet::Subscribe { pkid, filters } => peer.suback(pkid, &vec![code; filters.len()]).await,
            other => panic!("{other:?}"),
        }
    }
    let (text, standing) = condition(&mut rig, Condition::BrokerRefuses).await;
    assert!(standing && text.contains("not authorized"), "{text}");
    assert_eq!(event(&mut peer).await.0, 1);
}

#[tokio::test]
async fn a_refused_state_is_an_alert_and_events_flow() {
    let broker = Fake::new().await;
    let mut rig = Plan::new(Memory::with_events("j", 2), &broker.url).start();
    let mut peer = broker.greet(20).await;
    let mut seen = 0;
    while seen < 2 {
        let publish = peer.published().await.unwrap();
        let refused = publish.topic.ends_with("/state");
        seen += u64::from(publish.topic.ends_with("/events"));
        peer.puback(publish.pkid, if refused { 0x87 } else { 0 }).await;
    }
    let (text, standing) = condition(&mut rig, Condition::BrokerRefuses).await;
    assert!(
        standing && text.contains("/state") && text.contains("not authorized"),
        "{text}"
    );
    let mut report = rig.uplink.report.clone();
    let report = report_is(&mut report, "events are delivered", |report| report.cursor == 2).await;
    assert_eq!(report.failures, 0, "the connection stands");
}

#[tokio::test]
async fn another_client_of_the_same_name_is_an_alert_and_met_with_growing_pauses() {
    let broker = Fake::new().await;
    let mut rig = Plan::new(Memory::with_events("j", 1), &broker.url).start();
    let mut at = Vec::new();
    for _ in 0..4 {
        let mut peer = broker.greet(20).await;
        at.push(Instant::now());
        let _ = event(&mut peer).await;
        peer.disconnect(0x8e).await;
        assert_eq!(peer.published_on("nothing").await, None);
    }
    let (text, standing) = condition(&mut rig, Condition::TakenOver).await;
    assert!(standing && text.contains("TS-07"), "{text}");
    let pauses: Vec<Duration> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(pauses[2] > pauses[0] * 2, "{pauses:?}");
}

#[tokio::test]
async fn brokers_are_tried_in_turn() {
    let dead = Fake::new().await;
    let dead_url = dead.url.clone();
    drop(dead);
    let good = Fake::new().await;
    let mut plan = Plan::new(Memory::with_events("j", 1), &dead_url);
    plan.brokers.push(good.url.clone());
    let rig = plan.start();
    let mut peer = good.greet(20).await;
    assert_eq!(event(&mut peer).await.0, 1);
    assert_eq!(rig.uplink.report.borrow().broker, good.url);
}

#[tokio::test]
async fn an_acknowledgement_without_a_publish_ends_the_connection_and_nothing_else() {
    let broker = Fake::new().await;
    let rig = Plan::new(Memory::with_events("j", 2), &broker.url).start();
    let mut peer = broker.greet(20).await;
    let (_, pkid) = event(&mut peer).await;
    peer.puback(pkid.wrapping_add(40), 0).await;
    while peer.published().await.is_some() {}
    let mut peer = broker.greet(20).await;
    assert_eq!(event(&mut peer).await.0, 1);
    assert_eq!(rig.memory.ledger.cursor(), 0);
}

#[tokio::test]
async fn malformed_packets_end_the_connection_and_nothing_else() {
    let broker = Fake::new().await;
    let rig = Plan::new(Memory::with_events("j", 1), &broker.url).start();
    for bytes in [
        &[0x00, 0x00][..],
        &[0xff; 16],
        &[0x40, 0x01, 0x00],
        &[0x30, 0xff, 0xff, 0xff, 0x7f],
    ] {
        let mut peer = broker.greet(20).await;
        tokio::io::AsyncWriteExt::write_all(&mut peer.stream, bytes)
            .await
            .unwrap();
        while peer.published().await.is_some() {}
    }
    let mut peer = broker.greet(20).await;
    let (number, pkid) = event(&mut peer).await;
    peer.puback(pkid, 0).await;
    assert_eq!(number, 1);
    let mut report = rig.uplink.report.clone();
    report_is(&mut report, "delivered", |report| report.cursor == 1).await;
}

/// The stated time: twice the keep-alive, and a little for the machine that runs the tests.
const NOTICED_WITHIN: Duration = Duration::from_secs(25);

#[tokio::test]
async fn a_peer_that_stops_reading_or_answering_is_noticed_within_the_stated_time() {
    // Reads nothing after the greeting; reads and answers nothing; greets and never answers CONNECT; forgets the state alone.
    let (deaf, mute, silent) = (Fake::new().await, Fake::new().await, Fake::new().await);
    let forgetful = Fake::new().await;
    let rigs = BTreeMap::from([
        ("deaf", Plan::new(Memory::with_events("j", 10), &deaf.url).start()),
        ("mute", Plan::new(Memory::with_events("j", 10), &mute.url).start()),
        ("silent", Plan::new(Memory::with_events("j", 10), &silent.url).start()),
        ("forgetful", Plan::new(Memory::new("j"), &forgetful.url).start()),
    ]);
    let _deaf = deaf.greet(20).await;
    let mut peer = mute.greet(20).await;
    let _mute = tokio::spawn(async move { while peer.published().await.is_some() {} });
    let _silent = silent.accept().await;
    let mut peer = forgetful.greet(20).await;
    let _forgetful = tokio::spawn(async move {
        while let Some(published) = peer.published().await {
            if !published.topic.ends_with("/state") {
                peer.puback(published.pkid, 0).await;
            }
        }
    });
    // An event a second: there is always something that it has just acknowledged.
    let memory = rigs["forgetful"].memory.clone();
    let _playing = tokio::spawn(async move {
        let mut second = tokio::time::interval(Duration::from_secs(1));
        loop {
            second.tick().await;
            memory.append();
        }
    });
    let began = Instant::now();
    for (name, rig) in &rigs {
        let mut report = rig.uplink.report.clone();
        let left = NOTICED_WITHIN.saturating_sub(began.elapsed());
        let noticed = tokio::time::timeout(left, report.wait_for(|report| report.failures > 0)).await;
        let report = noticed.unwrap_or_else(|_| panic!("{name}: not noticed within {NOTICED_WITHIN:?}"));
        assert!(
            !report.unwrap().last_error.is_empty(),
            "{name}: shown to the technician"
        );
    }
}

#[tokio::test]
async fn a_slow_but_timely_ping_answer_is_no_failure() {
    let broker = Fake::new().await;
    let rig = Plan::new(Memory::new("j"), &broker.url).start();
    let mut peer = broker.greet(20).await;
    for _ in 0..2 {
        let publish = peer.published().await.unwrap();
        peer.puback(publish.pkid, 0).await;
    }
    let mut report = rig.uplink.report.clone();
    report_is(&mut report, "online", |report| report.state == UplinkState::Online).await;
    // Two pings, each answered 4 s after it came.
    for _ in 0..2 {
        let mut ping = [0; 2];
        within(
            "a ping",
            tokio::io::AsyncReadExt::read_exact(&mut peer.stream, &mut ping),
        )
        .await
        .unwrap();
        assert_eq!(ping, [0xc0, 0]);
        // Real time: how late the answer is is what this is about, and the connection is watched for as long.
        let given_up = report.wait_for(|report| report.state != UplinkState::Online || report.failures > 0);
        let given_up = tokio::time::timeout(Duration::from_secs(4), given_up).await;
        assert!(given_up.is_err(), "{:?}", rig.uplink.report.borrow());
        peer.send(0xd0, &[]).await;
    }
    assert_eq!(rig.uplink.report.borrow().state, UplinkState::Online);
    assert_eq!(rig.uplink.report.borrow().failures, 0);
}
