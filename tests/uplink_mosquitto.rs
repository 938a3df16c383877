//! Delivery through a real mosquitto. `TABLEGATE_MOSQUITTO` names the program; `tests/all` installs it and runs these.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    missing_docs
)]

mod uplink_support;

use prost::Message;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tablegate::floor::{Begin, Consumer, Finding, Hashes};
use tablegate::table::event::{Event, Replay, Request, Response, Snapshot, Status, TableState, request, response};
use tablegate::time::Uptime;
use tablegate::uplink::exchange::{Publication, Retention};
use tablegate::uplink::{Notice, UplinkState};
use uplink_support::memory::{Memory, PREFIX, Plan};
use uplink_support::mosquitto::Mosquitto;
use uplink_support::subscriber::{Subscriber, request};
use uplink_support::{report_is, within};

fn seqno(payload: &[u8]) -> u64 {
    Event::decode(payload).unwrap().seqno
}

/// Limits that drop no backlog, as the documentation tells operators.
const SETTINGS: &str = "max_queued_messages 1000000\nmax_inflight_messages 20";

#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn mosquitto_killed_ten_times_while_events_flow_loses_nothing() {
    let mut broker = Mosquitto::start(SETTINGS);
    let rig = Plan::new(Memory::new("j"), &broker.url()).start();
    let memory = rig.memory.clone();
    let appending = tokio::spawn(async move {
        // Real time: events come at a rate, whatever becomes of the broker.
        let mut pace = tokio::time::interval(Duration::from_millis(2));
        for _ in 0..4000 {
            pace.tick().await;
            memory.append();
        }
    });
    let events = format!("{PREFIX}/events");
    let mut consumer = Consumer::new(Begin::AtFirst);
    let mut hashes = Hashes::default();
    let mut stored = 0;
    let mut kills = 0;
    while stored < 4000 {
        // A subscriber with a clean session: what it misses while it is away it asks for.
        let topics = [
            events.as_str(),
            &format!("{PREFIX}/state"),
            &format!("{PREFIX}/responses/t"),
        ];
        let mut subscriber = Subscriber::new(&broker.url(), "floor", &topics).await;
        consumer.disconnected();
        let until = Instant::now() + Duration::from_millis(700);
        let began = Instant::now();
        while stored < 4000 && (kills >= 10 || Instant::now() < until) {
            let now = Uptime::from_millis(u64::try_from(began.elapsed().as_millis()).unwrap());
            if let Some(ask) = consumer.ask(now) {
                let payload = Request {
                    request_id: ask.request_id,
                    request: Some(request::Request::Replay(Replay {
                        journal_id: ask.journal_id,
                        from_seqno: ask.from_seqno,
                        to_seqno: ask.to_seqno,
                    })),
                };
                subscriber.send(request(
                    PREFIX,
                    &format!("{PREFIX}/responses/t"),
                    b"",
                    payload.encode_to_vec(),
                ));
            }
            let Ok(Some(message)) = tokio::time::timeout(Duration::from_millis(200), subscriber.message()).await else {
                continue;
            };
            let findings = if message.topic == events {
                consumer.take(now, &message.payload, &hashes)
            } else if message.topic.ends_with("/state") {
                let head = TableState::decode(&message.payload[..]).unwrap().head;
                head.map(|head| consumer.take_head(now, &head, &hashes))
                    .unwrap_or_default()
            } else {
                consumer.take_answer(now, &Response::decode(&message.payload[..]).unwrap(), &hashes)
            };
            for finding in findings {
                assert!(!finding.is_alarm(), "{finding:?}");
                if let Finding::Store(stores) = finding {
                    stored += 1;
                    assert_eq!(stores.seqno, stored);
                    assert_eq!(stores.bytes, rig.memory.record(stored).bytes);
                    hashes.keep(&stores);
                }
            }
        }
        if kills < 10 {
            kills += 1;
            broker.kill();
            broker.restart();
        }
    }
    appending.await.unwrap();
    assert_eq!(kills, 10);
    let mut report = rig.uplink.report.clone();
    report_is(&mut report, "all acknowledged", |report| report.cursor == 4000).await;
}

#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn a_session_that_stands_sees_every_event_in_order_without_asking() {
    let broker = Mosquitto::start(SETTINGS);
    let mut subscriber = Subscriber::new(&broker.url(), "floor", &[&format!("{PREFIX}/events")]).await;
    let rig = Plan::new(Memory::with_events("j", 500), &broker.url()).start();
    for expected in 1..=500 {
        assert_eq!(seqno(&subscriber.message().await.unwrap().payload), expected);
    }
    for expected in 501..=600 {
        rig.memory.append();
        assert_eq!(seqno(&subscriber.message().await.unwrap().payload), expected);
    }
    let mut report = rig.uplink.report.clone();
    let report = report_is(&mut report, "all acknowledged", |report| report.cursor == 600).await;
    assert_eq!(
        (report.published, report.acknowledged, report.unheard, report.failures),
        (600, 600, 0, 0)
    );
}

/// Stated in the documentation.
const BACKLOG_DRAINS_WITHIN: Duration = Duration::from_secs(60);

#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn a_backlog_of_50000_drains_in_the_stated_time_while_new_ones_come() {
    let broker = Mosquitto::start(SETTINGS);
    let memory = Memory::with_events("j", 50_000);
    let mut subscriber = Subscriber::new(&broker.url(), "floor", &[&format!("{PREFIX}/events")]).await;
    let began = Instant::now();
    let rig = Plan::new(memory.clone(), &broker.url()).start();
    let mut expected = 1;
    while expected <= 50_500 {
        assert_eq!(seqno(&subscriber.message().await.unwrap().payload), expected);
        if expected % 100 == 0 && expected <= 50_000 {
            memory.append();
        }
        expected += 1;
    }
    let took = began.elapsed();
    eprintln!("50,500 events in {took:?}");
    assert!(took < BACKLOG_DRAINS_WITHIN, "{took:?}");
    drop(rig);
}

#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn the_retained_picture_is_whole_again_after_the_broker_forgot_it() {
    let mut broker = Mosquitto::start(SETTINGS);
    let rig = Plan::new(Memory::with_events("j", 3), &broker.url()).start();
    for _ in 0..2 {
        let mut report = rig.uplink.report.clone();
        report_is(&mut report, "online", |report| {
            report.state == UplinkState::Online && report.cursor == 3
        })
        .await;
        let topics = [&*format!("{PREFIX}/status"), &format!("{PREFIX}/state")];
        let mut seen = BTreeSet::new();
        let mut subscriber = Subscriber::new(&broker.url(), "look", &topics).await;
        while seen.len() < 2 {
            let message = subscriber.message().await.unwrap();
            if message.topic.ends_with("/status") {
                assert!(Status::decode(&message.payload[..]).unwrap().online);
            }
            seen.insert(message.topic);
        }
        drop(subscriber);
        broker.kill();
        report_is(&mut report, "lost", |report| report.state != UplinkState::Online).await;
        broker.restart();
    }
}

#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn a_restart_with_the_same_journal_is_no_roll_back_and_one_with_an_older_one_is() {
    let broker = Mosquitto::start(SETTINGS);
    let memory = Memory::with_events("j", 10);
    let rig = Plan::new(memory.clone(), &broker.url()).start();
    let mut report = rig.uplink.report.clone();
    report_is(&mut report, "all acknowledged", |report| report.cursor == 10).await;
    rig.uplink.stop().await;

    let mut plan = Plan::new(memory.clone(), &broker.url());
    plan.cursor = 10;
    let rig = plan.start();
    let mut report = rig.uplink.report.clone();
    report_is(&mut report, "online", |report| report.state == UplinkState::Online).await;
    rig.uplink.stop().await;

    let mut rig = Plan::new(Memory::with_events("j", 9), &broker.url()).start();
    match within("a notice", rig.notices.recv()).await {
        Some(Notice::RolledBack { found }) => assert_eq!(found, memory.head()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn a_clean_stop_leaves_one_retained_offline_after_the_last_event() {
    let broker = Mosquitto::start(SETTINGS);
    let topics = [&*format!("{PREFIX}/events"), &format!("{PREFIX}/status")];
    let mut subscriber = Subscriber::new(&broker.url(), "floor", &topics).await;
    let rig = Plan::new(Memory::with_events("j", 200), &broker.url()).start();
    assert!(subscriber.message_on("/status").await.is_some());
    rig.uplink.stop().await;
    let (mut last, mut offline) = (0, 0);
    while offline == 0 {
        let message = subscriber.message().await.unwrap();
        if message.topic.ends_with("/events") {
            last = seqno(&message.payload);
        } else if !Status::decode(&message.payload[..]).unwrap().online {
            offline += 1;
        }
    }
    assert_eq!(last, 200);
    let mut late = Subscriber::new(&broker.url(), "late", &topics).await;
    let kept = late.message().await.unwrap();
    assert!(kept.retained && !Status::decode(&kept.payload[..]).unwrap().online);
    let more = tokio::time::timeout(Duration::from_millis(500), subscriber.message()).await;
    assert!(more.is_err(), "nothing after the farewell, no last will: {more:?}");
}

#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn a_second_gateway_of_the_same_name_is_told_and_settles() {
    let broker = Mosquitto::start(SETTINGS);
    let mut one = Plan::new(Memory::new("j"), &broker.url()).start();
    let mut report = one.uplink.report.clone();
    report_is(&mut report, "online", |report| report.state == UplinkState::Online).await;
    let _two = Plan::new(Memory::new("j"), &broker.url()).start();
    loop {
        let notice = within("a notice", one.notices.recv()).await.unwrap();
        if let Notice::Condition {
            condition, standing, ..
        } = notice
            && condition == tablegate::table::input::Condition::TakenOver
        {
            assert!(standing);
            break;
        }
    }
    // The fight slows down: within 10 s there are but a few connections.
    let mut report = one.uplink.report.clone();
    let before = report.borrow().connection;
    // Real time: connections in a time are what this is about. A fight that goes on ends the wait at once.
    let fight = report.wait_for(|report| report.connection - before >= 20);
    let fight = tokio::time::timeout(Duration::from_secs(10), fight).await;
    assert!(fight.is_err(), "from {before}: {:?}", one.uplink.report.borrow());
}

#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn an_acl_that_throws_events_away_is_named_and_costs_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let acl = directory.path().join("acl");
    std::fs::write(&acl, format!("topic write {PREFIX}/status\ntopic read {PREFIX}/#\n")).unwrap();
    let broker = Mosquitto::start(&format!("{SETTINGS}\nacl_file {}", acl.display()));
    let mut rig = Plan::new(Memory::with_events("j", 3), &broker.url()).start();
    loop {
        let notice = within("a notice", rig.notices.recv()).await.unwrap();
        if let Notice::Condition {
            condition,
            text,
            standing,
        } = notice
            && condition == tablegate::table::input::Condition::BrokerRefuses
            && text.contains("not authorized")
        {
            assert!(standing);
            break;
        }
    }
    assert_eq!(rig.memory.ledger.cursor(), 0);
}

#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn a_message_size_limit_that_connack_does_not_tell_sets_aside_what_is_above_it() {
    let broker = Mosquitto::start(&format!("{SETTINGS}\nmessage_size_limit 4096"));
    let mut subscriber = Subscriber::new(&broker.url(), "floor", &[&format!("{PREFIX}/events")]).await;
    let memory = Memory::with_events("j", 3);
    memory.append_of_size(6000);
    memory.append();
    let rig = Plan::new(memory, &broker.url()).start();
    let mut seen = BTreeSet::new();
    while !seen.contains(&5) || rig.uplink.report.borrow().cursor < 5 {
        if let Ok(message) = tokio::time::timeout(Duration::from_millis(100), subscriber.message()).await {
            seen.insert(seqno(&message.unwrap().payload));
        }
    }
    assert_eq!(seen, BTreeSet::from([1, 2, 3, 5]));
}

#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn a_replay_through_mosquitto_is_whole_and_an_oversize_request_costs_nothing() {
    let broker = Mosquitto::start(SETTINGS);
    let rig = Plan::new(Memory::with_events("j", 1200), &broker.url()).start();
    let mut report = rig.uplink.report.clone();
    report_is(&mut report, "all acknowledged", |report| report.cursor == 1200).await;
    let inbox = format!("{PREFIX}/responses/t");
    let mut subscriber = Subscriber::new(&broker.url(), "floor", &[&inbox]).await;
    subscriber
        .publish(request(PREFIX, &inbox, b"x", vec![0; 1024 * 1024]))
        .await;
    // Sent to be kept: ignored, also by a gateway that is connected when it is sent.
    let snapshot = Request {
        request_id: "s".to_owned(),
        request: Some(request::Request::Snapshot(Snapshot {})),
    };
    subscriber
        .publish(Publication {
            retained: Retention::Kept,
            ..request(PREFIX, &inbox, b"x", snapshot.encode_to_vec())
        })
        .await;
    let payload = Request {
        request_id: "r".to_owned(),
        request: Some(request::Request::Replay(Replay {
            journal_id: "j".to_owned(),
            from_seqno: 100,
            to_seqno: 0,
        })),
    };
    subscriber.send(request(PREFIX, &inbox, b"x", payload.encode_to_vec()));
    let mut expected = 100;
    loop {
        let message = subscriber.message_on("/responses/t").await.unwrap();
        assert_eq!(message.correlation.as_deref(), Some(&b"x"[..]));
        match Response::decode(&message.payload[..]).unwrap().response.unwrap() {
            response::Response::Event(bytes) => {
                assert_eq!(bytes, rig.memory.record(expected).bytes);
                expected += 1;
            }
            response::Response::ReplayDone(done) => {
                assert_eq!((done.oldest, done.newest, done.through_seqno), (1, 1200, 1099));
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(expected, 1100);
    assert_eq!(rig.uplink.report.borrow().failures, 0);
}
