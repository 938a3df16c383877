//! Retained picture, own status, requests, clean stop: what a floor sees beside the events.
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
use tablegate::table::event::{
    ErrorCode, Event, Head, Mode, Replay, Request, Response, Snapshot, Status, TableState, VerifySoftware, request,
    response,
};
use tablegate::table::input::Condition;
use tablegate::uplink::{Ancestry, Notice, UplinkState};
use uplink_support::fake::{Fake, Packet, Peer, Published};
use uplink_support::memory::{Memory, PREFIX, Plan, Rig};
use uplink_support::{report_is, within};

fn status_of(published: &Published) -> Status {
    Status::decode(&published.payload[..]).unwrap()
}

fn status(connection: u64, online: bool) -> Vec<u8> {
    Status {
        connection,
        online,
        ..Status::default()
    }
    .encode_to_vec()
}

fn state_with_head(head: Head) -> Vec<u8> {
    TableState {
        head: Some(head),
        ..TableState::default()
    }
    .encode_to_vec()
}

/// A connection whose subscriptions were answered with these kept messages: topic endings and payloads.
async fn greet_with(broker: &Fake, kept: &[(&str, Vec<u8>)]) -> Peer {
    let mut peer = broker.accept().await;
    peer.take(&[]).await;
    let kept: Vec<(String, Vec<u8>)> = kept
        .iter()
        .map(|(end, payload)| (format!("{PREFIX}{end}"), payload.clone()))
        .collect();
    let kept: Vec<(&str, Vec<u8>)> = kept
        .iter()
        .map(|(topic, payload)| (topic.as_str(), payload.clone()))
        .collect();
    peer.answer_subscriptions(&kept).await;
    peer
}

#[tokio::test]
async fn the_subscriptions_are_as_they_must_be() {
    let broker = Fake::new().await;
    let _rig = Plan::new(Memory::new("j"), &broker.url).start();
    let mut peer = broker.accept().await;
    peer.take(&[]).await;
    let Packet::Subscribe { pkid, filters } = peer.next().await else {
        panic!()
    };
    assert_eq!(
        filters,
        [(format!("{PREFIX}/status"), 0), (format!("{PREFIX}/state"), 0)]
    );
    peer.suback(pkid, &[0, 0]).await;
    let Packet::Subscribe { filters, .. } = peer.next().await else {
        panic!()
    };
    // QoS 1, no local, retain as published, retain handling "never".
    assert_eq!(
        filters,
        [(format!("{PREFIX}/requests"), 1 | 0b100 | 0b1000 | 0b10_0000)]
    );
}

#[tokio::test]
async fn a_retained_state_ahead_of_the_journal_stops_everything() {
    let memory = Memory::with_events("j", 10);
    let (head, other) = (memory.head(), vec![9; 32]);
    let at = |seqno: u64, sha256: Vec<u8>| Head {
        journal_id: "j".to_owned(),
        seqno,
        sha256,
    };
    let stranger = Head {
        journal_id: "stranger".to_owned(),
        ..head.clone()
    };
    for found in [at(11, other.clone()), at(10, other.clone()), at(4, other), stranger] {
        let broker = Fake::new().await;
        let mut rig = Plan::new(Memory::with_events("j", 10), &broker.url).start();
        let mut peer = greet_with(&broker, &[("/state", state_with_head(found.clone()))]).await;
        assert_eq!(peer.published().await, None, "nothing is published");
        assert_eq!(
            within("a notice", rig.notices.recv()).await,
            Some(Notice::RolledBack { found })
        );
        assert_eq!(rig.uplink.report.borrow().state, UplinkState::RolledBack);
        within("the stop", rig.uplink.stop()).await;
    }
}

#[tokio::test]
async fn a_retained_state_that_the_journal_knows_stops_nothing() {
    let memory = Memory::with_events("j", 10);
    let (head, fourth) = (memory.head(), memory.record(4));
    let predecessor = Head {
        journal_id: "before".to_owned(),
        seqno: 999,
        sha256: vec![1; 32],
    };
    let fourth = Head {
        journal_id: "j".to_owned(),
        seqno: 4,
        sha256: fourth.sha256.to_vec(),
    };
    for found in [head, fourth, predecessor] {
        let broker = Fake::new().await;
        let mut plan = Plan::new(Memory::with_events("j", 10), &broker.url);
        plan.ancestry = Ancestry::Known(vec!["before".to_owned()]);
        let _rig = plan.start();
        let mut peer = greet_with(&broker, &[("/state", state_with_head(found.clone()))]).await;
        assert!(
            status_of(&peer.published_on("/status").await.unwrap()).online,
            "{found:?}"
        );
        assert!(peer.published_on("/events").await.is_some());
    }
}

#[tokio::test]
async fn a_retained_status_of_a_higher_connection_is_outbid_before_the_birth() {
    let broker = Fake::new().await;
    let _rig = Plan::new(Memory::new("j"), &broker.url).start();
    let mut peer = greet_with(&broker, &[("/status", status(41, true))]).await;
    assert_eq!(peer.published().await, None);
    let mut peer = greet_with(&broker, &[("/status", status(41, true))]).await;
    assert_eq!(status_of(&peer.published_on("/status").await.unwrap()).connection, 42);
}

#[tokio::test]
async fn a_late_last_will_is_corrected_at_most_once_in_ten_seconds() {
    let broker = Fake::new().await;
    let _rig = Plan::new(Memory::new("j"), &broker.url).start();
    // A first connection, so that there is an older one.
    let mut peer = broker.greet(20).await;
    let _ = peer.published().await;
    drop(peer);
    let mut peer = broker.greet(20).await;
    let birth = peer.published_on("/status").await.unwrap();
    assert_eq!(status_of(&birth).connection, 2);
    peer.puback(birth.pkid, 0).await;
    let topic = format!("{PREFIX}/status");
    // Its own echo is nothing to correct.
    peer.publish(&topic, &status(2, true), 0, &[]).await;
    let mut corrections = Vec::new();
    for _ in 0..2 {
        for _ in 0..3 {
            peer.publish(&topic, &status(1, false), 0, &[]).await;
        }
        let correction = within("a correction", peer.published_on("/status")).await.unwrap();
        assert!(status_of(&correction).online);
        peer.puback(correction.pkid, 0).await;
        corrections.push(Instant::now());
    }
    assert!(corrections[1] - corrections[0] > Duration::from_millis(9900));
}

#[tokio::test]
async fn a_status_that_is_not_lower_makes_the_gateway_outbid_it() {
    for (foreign, next) in [(status(2, false), 3), (status(7, true), 8)] {
        let broker = Fake::new().await;
        let mut rig = Plan::new(Memory::new("j"), &broker.url).start();
        let mut peer = broker.greet(20).await;
        let birth = peer.published_on("/status").await.unwrap();
        assert_eq!(status_of(&birth).connection, 1);
        peer.publish(&format!("{PREFIX}/status"), &foreign, 0, &[]).await;
        while peer.published().await.is_some() {}
        let mut peer = broker.greet(20).await;
        assert_eq!(status_of(&peer.published_on("/status").await.unwrap()).connection, next);
        loop {
            if let Notice::Condition {
                condition: Condition::TakenOver,
                standing,
                ..
            } = within("a notice", rig.notices.recv()).await.unwrap()
            {
                assert!(standing);
                break;
            }
        }
    }
}

#[tokio::test]
async fn the_own_last_will_ends_the_connection_and_is_nobody_elses() {
    let broker = Fake::new().await;
    let mut rig = Plan::new(Memory::new("j"), &broker.url).start();
    let mut peer = broker.greet(20).await;
    let birth = peer.published_on("/status").await.unwrap();
    assert_eq!(status_of(&birth).connection, 1);
    // As a broker does that shuts down: it sends the wills of connections that still stand.
    peer.publish(&format!("{PREFIX}/status"), &status(1, false), 0, &[])
        .await;
    while peer.published().await.is_some() {}
    let mut peer = broker.greet(20).await;
    assert_eq!(status_of(&peer.published_on("/status").await.unwrap()).connection, 2);
    while let Ok(notice) = rig.notices.try_recv() {
        let told = matches!(
            notice,
            Notice::Condition {
                condition: Condition::TakenOver,
                ..
            }
        );
        assert!(!told, "the table was taken for taken over");
    }
}

#[tokio::test]
async fn the_state_is_published_on_change_at_most_every_200_ms_and_the_latest_wins() {
    let broker = Fake::new().await;
    let rig = Plan::new(Memory::new("j"), &broker.url).start();
    let mut peer = broker.greet(20).await;
    let first = peer.published_on("/state").await.unwrap();
    peer.puback(first.pkid, 0).await;
    let began = Instant::now();
    for round in 1..=50 {
        rig.state.send_modify(|state| {
            state.round_id = round;
            state.mode = Mode::Open.into();
        });
        tokio::task::yield_now().await;
    }
    let next = peer.published_on("/state").await.unwrap();
    let waited = began.elapsed();
    assert_eq!(TableState::decode(&next.payload[..]).unwrap().round_id, 50);
    assert!(next.retained && waited > Duration::from_millis(100), "{waited:?}");
}

#[tokio::test]
async fn a_changed_fault_is_in_the_status_at_once() {
    let broker = Fake::new().await;
    let rig = Plan::new(Memory::new("j"), &broker.url).start();
    let mut peer = broker.greet(20).await;
    let birth = peer.published_on("/status").await.unwrap();
    assert_eq!(status_of(&birth).fault, "");
    peer.puback(birth.pkid, 0).await;
    rig.fault.send_replace("the journal can't be written".to_owned());
    let status = status_of(&peer.published_on("/status").await.unwrap());
    assert_eq!(
        (status.fault.as_str(), status.online),
        ("the journal can't be written", true)
    );
}

#[tokio::test]
async fn a_clean_stop_delivers_says_offline_once_and_leaves() {
    let broker = Fake::new().await;
    let rig = Plan::new(Memory::with_events("j", 40), &broker.url).start();
    let mut peer = broker.greet(20).await;
    let (number, mut pkid) = {
        let first = peer.published_on("/events").await.unwrap();
        (Event::decode(&first.payload[..]).unwrap().seqno, first.pkid)
    };
    assert_eq!(number, 1);
    let stop = tokio::spawn(rig.uplink.stop());
    let (mut last, mut offline) = (number, 0);
    loop {
        peer.puback(pkid, 0).await;
        match peer.next().await {
            Packet::Publish(publish) => {
                if publish.topic.ends_with("/events") {
                    last = Event::decode(&publish.payload[..]).unwrap().seqno;
                    assert_eq!(offline, 0, "offline is the last word");
                } else if publish.topic.ends_with("/status") && !status_of(&publish).online {
                    assert_eq!((last, publish.retained), (40, true));
                    assert_eq!(status_of(&publish).connection, 1);
                    offline += 1;
                }
                pkid = publish.pkid;
            }
            Packet::Disconnect => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(offline, 1);
    within("the stop", stop).await.unwrap();
    assert_eq!(rig.memory.ledger.cursor(), 40);
}

#[tokio::test]
async fn a_clean_stop_without_a_broker_returns_at_once() {
    let broker = Fake::new().await;
    let url = broker.url.clone();
    drop(broker);
    let rig = Plan::new(Memory::with_events("j", 1), &url).start();
    let mut report = rig.uplink.report.clone();
    report_is(&mut report, "a failure", |report| report.failures > 0).await;
    let began = Instant::now();
    rig.uplink.stop().await;
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn a_clean_stop_with_a_broker_that_acknowledges_nothing_ends_in_the_last_will() {
    let broker = Fake::new().await;
    let rig = Plan::new(Memory::with_events("j", 40), &broker.url).start();
    let mut peer = broker.greet(20).await;
    let _ = peer.published_on("/events").await.unwrap();
    let stop = tokio::spawn(rig.uplink.stop());
    loop {
        match peer.next().await {
            Packet::Closed => break,
            Packet::Disconnect => panic!("a DISCONNECT would take the last will back"),
            _ => {}
        }
    }
    within("the stop", stop).await.unwrap();
}

#[tokio::test]
async fn journals_moved_aside_are_delivered_first() {
    let broker = Fake::new().await;
    let mut plan = Plan::new(Memory::with_events("new", 3), &broker.url);
    plan.undelivered = vec![Memory::with_events("older", 2), Memory::with_events("old", 40)];
    plan.ancestry = Ancestry::Known(vec!["older".to_owned(), "old".to_owned()]);
    let rig = plan.start();
    let mut peer = broker.greet(20).await;
    let mut seen = Vec::new();
    while seen.len() < 45 {
        let publish = peer.published_on("/events").await.unwrap();
        let event = Event::decode(&publish.payload[..]).unwrap();
        seen.push((event.journal_id, event.seqno));
        peer.puback(publish.pkid, 0).await;
    }
    let journal = |id: &str, count: u64| (1..=count).map(|seqno| (id.to_owned(), seqno)).collect::<Vec<_>>();
    assert_eq!(
        seen,
        [journal("older", 2), journal("old", 40), journal("new", 3)].concat()
    );
    let mut report = rig.uplink.report.clone();
    report_is(&mut report, "all delivered", |report| {
        report.cursor == 3 && report.backlog == 0
    })
    .await;
    let moved = rig.memory.ledger.moved_aside();
    assert!(
        moved.contains(&("older".to_owned(), 2)) && moved.contains(&("old".to_owned(), 40)),
        "{moved:?}"
    );
    assert_eq!(rig.memory.ledger.cursor(), 3);
}

// ---- requests ----

/// Properties of a request: response topic and correlation data.
fn properties(response_topic: &str, correlation: &[u8]) -> Vec<u8> {
    let text = |id: u8, bytes: &[u8]| {
        let length = u16::try_from(bytes.len()).unwrap().to_be_bytes();
        [&[id][..], &length, bytes].concat()
    };
    [text(0x08, response_topic.as_bytes()), text(0x09, correlation)].concat()
}

fn replay(journal_id: &str, from_seqno: u64, to_seqno: u64) -> Vec<u8> {
    Request {
        request_id: "r1".to_owned(),
        request: Some(request::Request::Replay(Replay {
            journal_id: journal_id.to_owned(),
            from_seqno,
            to_seqno,
        })),
    }
    .encode_to_vec()
}

async fn ask(peer: &mut Peer, payload: &[u8]) {
    let properties = properties(&format!("{PREFIX}/responses/me"), b"corr");
    peer.publish(&format!("{PREFIX}/requests"), payload, 0, &properties)
        .await;
}

async fn response(peer: &mut Peer) -> response::Response {
    let publish = peer.published_on("/responses/me").await.unwrap();
    peer.puback(publish.pkid, 0).await;
    assert_eq!(publish.correlation.as_deref(), Some(&b"corr"[..]));
    assert!(!publish.retained);
    Response::decode(&publish.payload[..]).unwrap().response.unwrap()
}

async fn ready(events: u64) -> (Rig, Peer) {
    let broker = Fake::new().await;
    let rig = Plan::new(Memory::with_events("j", events), &broker.url).start();
    let mut peer = broker.greet(20).await;
    let mut left = events;
    while left > 0 {
        let publish = peer.published().await.unwrap();
        left -= u64::from(publish.topic.ends_with("/events"));
        peer.puback(publish.pkid, 0).await;
    }
    (rig, peer)
}

#[tokio::test]
async fn a_replay_is_the_exact_bytes_and_then_done() {
    let (rig, mut peer) = ready(30).await;
    ask(&mut peer, &replay("j", 5, 27)).await;
    for seqno in 5..=27 {
        assert_eq!(
            response(&mut peer).await,
            response::Response::Event(rig.memory.record(seqno).bytes)
        );
    }
    match response(&mut peer).await {
        response::Response::ReplayDone(done) => {
            assert_eq!((done.oldest, done.newest, done.through_seqno), (1, 30, 27));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_replay_does_not_hold_up_live_events() {
    let (rig, mut peer) = ready(1000).await;
    ask(&mut peer, &replay("j", 1, 0)).await;
    let _ = response(&mut peer).await;
    rig.memory.append();
    let mut answers = 0;
    loop {
        let publish = peer.published().await.unwrap();
        peer.puback(publish.pkid, 0).await;
        if publish.topic.ends_with("/events") {
            break;
        }
        answers += 1;
    }
    assert!(answers < 100, "the live event came after {answers} of 1000 answers");
}

#[tokio::test]
async fn a_snapshot_is_the_state() {
    let (rig, mut peer) = ready(1).await;
    rig.state.send_modify(|state| state.round_id = 77);
    let snapshot = Request {
        request_id: "r1".to_owned(),
        request: Some(request::Request::Snapshot(Snapshot {})),
    };
    ask(&mut peer, &snapshot.encode_to_vec()).await;
    match response(&mut peer).await {
        response::Response::Snapshot(state) => assert_eq!(state.round_id, 77),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn three_hundred_snapshots_at_once_are_all_answered() {
    let (rig, mut peer) = ready(1).await;
    for asker in 0..300_u32 {
        let snapshot = Request {
            request_id: asker.to_string(),
            request: Some(request::Request::Snapshot(Snapshot {})),
        };
        let properties = properties(&format!("{PREFIX}/responses/me"), &asker.to_be_bytes());
        let topic = format!("{PREFIX}/requests");
        peer.publish(&topic, &snapshot.encode_to_vec(), 0, &properties).await;
    }
    for asker in 0..300_u32 {
        let publish = within("an answer", peer.published_on("/responses/me")).await.unwrap();
        peer.puback(publish.pkid, 0).await;
        assert_eq!(publish.correlation.as_deref(), Some(&asker.to_be_bytes()[..]));
        let answer = Response::decode(&publish.payload[..]).unwrap();
        assert_eq!(answer.request_id, asker.to_string());
        assert!(matches!(answer.response, Some(response::Response::Snapshot(_))));
    }
    let mut report = rig.uplink.report.clone();
    let report = report_is(&mut report, "all are counted", |report| report.requests == 300).await;
    assert_eq!((report.refused_requests, report.failures), (0, 0));
}

/// An encoded request for digests. What the other end answers depends on the length of the seed.
fn verify(seed: &[u8]) -> Vec<u8> {
    let seed = seed.to_vec();
    Request {
        request_id: "v".to_owned(),
        request: Some(request::Request::VerifySoftware(VerifySoftware { seed })),
    }
    .encode_to_vec()
}

#[tokio::test]
async fn digests_are_answered_with_digests_or_with_why_there_are_none() {
    let (rig, mut peer) = ready(1).await;
    ask(&mut peer, &verify(b"seed")).await;
    match response(&mut peer).await {
        response::Response::SoftwareVerified(verified) => assert_eq!(verified.program_sha256, b"seed"),
        other => panic!("{other:?}"),
    }
    ask(&mut peer, &verify(b"2!")).await;
    match response(&mut peer).await {
        response::Response::Error(error) => assert_eq!(error.code(), ErrorCode::Busy),
        other => panic!("{other:?}"),
    }
    let mut report = rig.uplink.report.clone();
    report_is(&mut report, "one was refused", |report| report.refused_requests == 1).await;
}

#[tokio::test]
async fn digests_that_take_long_hold_up_nothing_and_are_made_for_one_at_a_time() {
    let (rig, mut peer) = ready(1).await;
    // Nobody ever answers this one.
    ask(&mut peer, &verify(b"1")).await;
    ask(&mut peer, &verify(b"seed")).await;
    match response(&mut peer).await {
        response::Response::Error(error) => assert_eq!(error.code(), ErrorCode::Busy),
        other => panic!("{other:?}"),
    }
    ask(&mut peer, &replay(&rig.memory.journal_id, 1, 1)).await;
    assert!(matches!(response(&mut peer).await, response::Response::Event(_)));
    assert!(matches!(response(&mut peer).await, response::Response::ReplayDone(_)));
}

#[tokio::test]
async fn what_cannot_be_answered_gets_an_error_and_the_connection_stands() {
    let (rig, mut peer) = ready(1).await;
    let unknown = Request {
        request_id: "r1".to_owned(),
        request: None,
    };
    for (payload, expected) in [
        (replay("stranger", 1, 0), ErrorCode::UnknownJournal),
        (vec![0xff; 7], ErrorCode::Malformed),
        (vec![0; 100 * 1024], ErrorCode::TooLarge),
        (unknown.encode_to_vec(), ErrorCode::UnknownRequest),
    ] {
        ask(&mut peer, &payload).await;
        match response(&mut peer).await {
            response::Response::Error(error) => assert_eq!(error.code(), expected),
            other => panic!("{other:?}"),
        }
    }
    // Elsewhere, with wildcards, too long, without a topic, retained: no answer, and no harm.
    let long = format!("{PREFIX}/responses/{}", "x".repeat(200));
    for topic in [&*format!("{PREFIX}/status"), &format!("{PREFIX}/responses/#"), &long] {
        peer.publish(
            &format!("{PREFIX}/requests"),
            &replay("j", 1, 0),
            0,
            &properties(topic, b""),
        )
        .await;
    }
    peer.publish(&format!("{PREFIX}/requests"), &replay("j", 1, 0), 0, &[])
        .await;
    let properties = properties(&format!("{PREFIX}/responses/me"), b"retained");
    peer.publish(&format!("{PREFIX}/requests"), &replay("j", 1, 0), 1, &properties)
        .await;
    ask(&mut peer, &replay("j", 1, 1)).await;
    assert_eq!(
        response(&mut peer).await,
        response::Response::Event(rig.memory.record(1).bytes)
    );
    let mut report = rig.uplink.report.clone();
    report_is(&mut report, "all are counted", |report| report.refused_requests == 8).await;
    assert_eq!(report.borrow().failures, 0);
}

#[tokio::test]
async fn one_replay_runs_four_wait_and_more_are_busy() {
    let (_rig, mut peer) = ready(10).await;
    for _ in 0..7 {
        ask(&mut peer, &replay("j", 1, 0)).await;
    }
    let (mut done, mut busy) = (0, 0);
    while done + busy < 7 {
        match response(&mut peer).await {
            response::Response::ReplayDone(_) => done += 1,
            response::Response::Error(error) => {
                assert_eq!(error.code(), ErrorCode::Busy);
                busy += 1;
            }
            response::Response::Event(_) => {}
            response::Response::Snapshot(_) | response::Response::SoftwareVerified(_) => panic!(),
        }
    }
    assert_eq!((done, busy), (5, 2));
}

#[tokio::test]
async fn at_most_four_answers_are_in_flight() {
    let (_rig, mut peer) = ready(20).await;
    ask(&mut peer, &replay("j", 1, 0)).await;
    for _ in 0..4 {
        let publish = peer.published_on("/responses/me").await.unwrap();
        assert_ne!(publish.pkid, 0);
    }
    let fifth = tokio::time::timeout(Duration::from_millis(300), peer.published_on("/responses/me")).await;
    assert!(fifth.is_err(), "{fifth:?}");
}
