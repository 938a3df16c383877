//! Who may do what at the broker, and that its limits lose nothing: a real mosquitto with the shipped configuration, access list and
//! certificates.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    missing_docs
)]

mod uplink_support;

use prost::Message;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{ConnectProperties, Packet};
use rumqttc::v5::{AsyncClient, Event, EventLoop, MqttOptions};
use rumqttc::{TlsConfiguration, Transport};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use tablegate::cli::floor::follow::{Floor, Follower, Heard};
use tablegate::floor::{Begin, Consumer, Finding};
use tablegate::table::event;
use tablegate::uplink::exchange::{Publication, Retention, Signal, Verdict};
use uplink_support::floor_broker::{certificates, files, floor_of, start, texts};
use uplink_support::memory::{Memory, PREFIX, Plan};
use uplink_support::mosquitto::Mosquitto;
use uplink_support::subscriber::Subscriber;
use uplink_support::{report_is, within};

const EVERYTHING: &str = "tablegate/#";

fn secure(broker: &Mosquitto) -> String {
    format!("mqtts://localhost:{}", broker.port)
}

async fn client(broker: &Mosquitto, home: &Path, name: &str, filters: &[&str]) -> Subscriber {
    Subscriber::with(&secure(broker), name, Some(texts(home, name)), filters).await
}

fn publication(topic: &str) -> Publication {
    Publication {
        topic: topic.to_owned(),
        retained: Retention::Passing,
        payload: topic.to_owned().into(),
        response_topic: None,
        correlation: None,
    }
}

/// `SITE/TABLE/rest` of a topic as these tests write it: "TS-07/events", or "other:TS-07/events" for another site.
fn topic(short: &str) -> String {
    match short.split_once(':') {
        Some((site, rest)) => format!("tablegate/v1/{site}/{rest}"),
        None => format!("tablegate/v1/harbour/{short}"),
    }
}

#[tokio::test]
#[ignore = "needs mosquitto and openssl: tests/all runs it"]
async fn a_table_publishes_only_what_is_its_own_and_a_reader_only_asks() {
    let home = floor_of(&["TS-07", "TS-08", "floor", "nobody"]);
    let home = home.path();
    let broker = start(home, "localhost", &[]);
    for (who, may, may_not) in [
        (
            "TS-07",
            &["TS-07/events", "TS-07/state", "TS-07/status", "TS-07/responses/floor/1"][..],
            &[
                "TS-08/events",
                "TS-08/state",
                "TS-08/status",
                "TS-08/responses/floor/1",
                "TS-07/requests",
                "TS-08/requests",
                "TS-07/other",
                "TS-07",
                "elsewhere:TS-07/events",
            ][..],
        ),
        (
            "floor",
            &["TS-07/requests", "TS-08/requests"],
            &[
                "TS-07/events",
                "TS-07/state",
                "TS-07/status",
                "TS-07/responses/floor/1",
                // As a table of its own name, which the lines for tables would let it be.
                "floor/events",
                "floor/state",
                "floor/status",
                "floor/responses/floor/1",
            ],
        ),
        (
            "nobody",
            &[],
            &["TS-07/events", "TS-07/state", "TS-07/status", "TS-07/requests", "x"],
        ),
    ] {
        let mut client = client(&broker, home, who, &[]).await;
        for short in may {
            let verdict = client.publish(publication(&topic(short))).await;
            assert!(
                matches!(verdict, Verdict::Taken | Verdict::Unheard),
                "{who} on {short}: {verdict:?}"
            );
        }
        for short in may_not {
            let verdict = client.publish(publication(&topic(short))).await;
            assert_eq!(verdict, Verdict::Refused("not authorized"), "{who} on {short}");
        }
    }
}

#[tokio::test]
#[ignore = "needs mosquitto and openssl: tests/all runs it"]
async fn everybody_reads_only_what_is_theirs() {
    let home = floor_of(&["TS-07", "TS-08", "floor", "nobody"]);
    let home = home.path();
    let broker = start(home, "localhost", &[]);
    // Each subscribes to everything, and to what it must not read by its name; the broker gives out what it may.
    let named = [
        topic("TS-08/requests"),
        topic("TS-07/responses/#"),
        topic("TS-08/responses/#"),
    ];
    let mut filters = vec![EVERYTHING];
    filters.extend(named.iter().map(String::as_str));
    let mut readers = Vec::new();
    for who in ["TS-07", "TS-08", "floor", "nobody"] {
        readers.push((who, client(&broker, home, who, &filters).await));
    }
    let ends = [
        "requests",
        "events",
        "state",
        "status",
        "responses/floor/1",
        "responses/other/1",
    ];
    let mut published = BTreeSet::new();
    for table in ["TS-07", "TS-08"] {
        for end in ends {
            let who = if end == "requests" { "floor" } else { table };
            let publisher = &mut readers.iter_mut().find(|(name, _)| *name == who).unwrap().1;
            let short = format!("{table}/{end}");
            let mut message = publication(&topic(&short));
            message.retained = match end {
                "state" | "status" => Retention::Kept,
                _ => Retention::Passing,
            };
            publisher.send(message);
            published.insert(short);
        }
    }
    // Whoever has nothing to read gets nothing; the others are done when all that is theirs has come and nothing else did.
    let own = |table: &str| {
        ["requests", "state", "status"]
            .map(|end| format!("{table}/{end}"))
            .to_vec()
    };
    let floors = published
        .iter()
        .filter(|short| !short.ends_with("requests") && !short.ends_with("other/1"))
        .cloned();
    for (who, expected) in [
        ("TS-07", own("TS-07")),
        ("TS-08", own("TS-08")),
        ("floor", floors.collect()),
        ("nobody", Vec::new()),
    ] {
        let expected: BTreeSet<String> = expected.into_iter().collect();
        let reader = &mut readers.iter_mut().find(|(name, _)| *name == who).unwrap().1;
        let mut got = BTreeSet::new();
        let mut take = |signal: Signal| {
            if let Signal::Message(message) = signal {
                got.insert(message.topic.replace("tablegate/v1/harbour/", ""));
                assert!(
                    got.is_subset(&expected),
                    "{who} read {got:?}, and may only {expected:?}"
                );
            }
            got == expected
        };
        while !expected.is_empty() && !take(reader.signal().await) {}
        // Real time: that nothing more comes can only be waited for.
        let more = tokio::time::timeout(Duration::from_millis(150), reader.message()).await;
        if let Ok(Some(message)) = more {
            let short = message.topic.replace("tablegate/v1/harbour/", "");
            assert!(expected.contains(&short), "{who} read {short}");
        }
    }
}

#[tokio::test]
#[ignore = "needs mosquitto and openssl: tests/all runs it"]
async fn nobody_takes_a_session_over_by_using_its_client_id() {
    let home = floor_of(&["TS-07", "TS-08"]);
    let home = home.path();
    let broker = start(home, "localhost", &[]);
    let rig = Plan::new(Memory::with_events("j", 3), &secure(&broker)).start_with(Some(files(home, "TS-07")));
    let mut report = rig.uplink.report.clone();
    report_is(&mut report, "delivered", |report| report.cursor == 3).await;
    let rival = Subscriber::with(&secure(&broker), "TS-07", Some(texts(home, "TS-08")), &[EVERYTHING]).await;
    rig.memory.append();
    let report = report_is(&mut report, "delivered", |report| report.cursor == 4).await;
    assert_eq!(report.failures, 0);
    drop(rival);
    rig.uplink.stop().await;
}

#[tokio::test]
#[ignore = "needs mosquitto and openssl: tests/all runs it"]
async fn two_readers_follow_and_ask_side_by_side_each_under_its_own_name() {
    let home = floor_of(&["TS-07", "floor", "watch"]);
    let home = home.path();
    let broker = start(home, "localhost", &[]);
    let rig = Plan::new(Memory::with_events("j", 40), &secure(&broker)).start_with(Some(files(home, "TS-07")));
    let mut report = rig.uplink.report.clone();
    report_is(&mut report, "delivered", |report| report.cursor == 40).await;
    // Nothing of it was heard: both have to ask.
    let follow = |reader: &str| {
        let floor = Floor {
            broker: secure(&broker).parse().unwrap(),
            prefix: PREFIX.to_owned(),
            tls: Some(texts(home, reader)),
            login: None,
            reader: reader.to_owned(),
        };
        Follower::start(floor, Some(Consumer::new(Begin::AtFirst)))
    };
    let mut readers = [follow("floor"), follow("watch")];
    for reader in &mut readers {
        let mut stored = 0;
        while stored < 40 {
            match within("an event", reader.next()).await {
                Heard::Found(Finding::Store(stores)) => {
                    stored += 1;
                    assert_eq!(stores.seqno, stored);
                }
                Heard::Lost(text) => panic!("{text}"),
                _ => {}
            }
        }
    }
    rig.uplink.stop().await;
}

const BACKLOG: u64 = 5_000;

/// A reader as a floor has it: a session that stands while it is away.
fn standing_reader(broker: &Mosquitto, home: &Path) -> (AsyncClient, EventLoop) {
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    let pem = |file: &str| std::fs::read(home.join(file)).unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(&pem("ca.pem")).unwrap())
        .unwrap();
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_client_auth_cert(
            vec![CertificateDer::from_pem_slice(&pem("floor.pem")).unwrap()],
            PrivateKeyDer::from_pem_slice(&pem("floor.key")).unwrap(),
        )
        .unwrap();
    let mut options = MqttOptions::new("floor", "localhost", broker.port);
    let mut properties = ConnectProperties::new();
    properties.session_expiry_interval = Some(3600);
    options
        .set_clean_start(false)
        .set_connect_properties(properties)
        .set_transport(Transport::tls_with_config(TlsConfiguration::Rustls(tls.into())));
    AsyncClient::new(options, 16)
}

async fn packet(reader: &mut EventLoop) -> Packet {
    loop {
        if let Event::Incoming(packet) = within("a packet", reader.poll()).await.unwrap() {
            return packet;
        }
    }
}

#[tokio::test]
#[ignore = "needs mosquitto and openssl: tests/all runs it"]
async fn the_shipped_limits_keep_a_backlog_for_a_reader_that_is_away() {
    let home = floor_of(&["TS-07", "floor"]);
    let home = home.path();
    let broker = start(home, "localhost", &[]);
    let (client, mut reader) = standing_reader(&broker, home);
    client.subscribe(topic("+/events"), QoS::AtLeastOnce).await.unwrap();
    while !matches!(packet(&mut reader).await, Packet::SubAck(_)) {}
    drop((client, reader));

    let rig = Plan::new(Memory::with_events("j", BACKLOG), &secure(&broker)).start_with(Some(files(home, "TS-07")));
    let mut report = rig.uplink.report.clone();
    let report = report_is(&mut report, "delivered", |report| report.cursor == BACKLOG).await;
    assert_eq!((report.failures, report.unheard), (0, 0), "{report:?}");
    rig.uplink.stop().await;

    let (_client, mut reader) = standing_reader(&broker, home);
    let mut next = 1;
    while next <= BACKLOG {
        match packet(&mut reader).await {
            Packet::ConnAck(connack) => assert!(connack.session_present),
            Packet::Publish(publish) => {
                let event = event::Event::decode(&*publish.payload).unwrap();
                assert_eq!(event.seqno, next, "in order, and none is missing");
                next += 1;
            }
            _ => {}
        }
    }
}

#[test]
fn the_shipped_script_makes_no_certificate_for_a_name_that_would_be_more_than_one_table() {
    let home = floor_of(&[]);
    for name in ["#", "+", "TS/07", "", "a b"] {
        let made = std::panic::catch_unwind(|| certificates(home.path(), &["client", name], &[]));
        assert!(made.is_err(), "{name:?}");
    }
}
