//! Certificates through a real mosquitto with the shipped files: what is wrong with whose is told in words, what expires is told in
//! time, and what is renewed is used without a restart.
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
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use tablegate::table::event::{Body, Status};
use tablegate::table::input::Condition;
use tablegate::uplink::{Notice, TlsFiles, UplinkState};
use tokio::process::Command;
use uplink_support::floor_broker::{certificates, files, floor_of, start, texts};
use uplink_support::memory::{Memory, PREFIX, Plan, Rig};
use uplink_support::mosquitto::Mosquitto;
use uplink_support::subscriber::Subscriber;
use uplink_support::{report_is, within};

const EXPIRED: [(&str, &str); 2] = [("FROM", "20250101000000Z"), ("TO", "20250201000000Z")];
const NOT_YET: [(&str, &str); 2] = [("FROM", "20480101000000Z"), ("TO", "20490101000000Z")];

fn secure(broker: &Mosquitto) -> String {
    format!("mqtts://localhost:{}", broker.port)
}

fn table(broker: &Mosquitto, files: TlsFiles) -> Rig {
    Plan::new(Memory::with_events("j", 5), &secure(broker)).start_with(Some(files))
}

/// The next notice of a condition whose text has these words.
async fn told(rig: &mut Rig, wanted: Condition, words: &[&str]) -> (String, bool) {
    let mut heard = Vec::new();
    let found = async {
        loop {
            let Some(notice) = rig.notices.recv().await else {
                panic!("the uplink ended")
            };
            if let Notice::Condition {
                condition,
                text,
                standing,
            } = notice
                && condition == wanted
            {
                heard.push(text.clone());
                if words.iter().all(|word| text.contains(word)) {
                    return (text, standing);
                }
            }
        }
    };
    match tokio::time::timeout(uplink_support::PATIENCE, found).await {
        Ok(found) => found,
        Err(_) => panic!("{wanted:?} with {words:?} was not told; {heard:?} was"),
    }
}

async fn refused(broker: &Mosquitto, files: TlsFiles, words: &[&str]) {
    let mut rig = table(broker, files);
    let (text, standing) = told(&mut rig, Condition::CertificateRefused, words).await;
    assert!(standing && text.starts_with("mqtts://localhost:"), "{text}");
    for insides in ["AlertReceived", "InvalidCertificate", "Error", "os error", "{"] {
        assert!(!text.contains(insides), "{text}");
    }
    let report = rig.uplink.report.borrow().clone();
    assert!(report.failures > 0 && report.state != UplinkState::Online, "{report:?}");
    assert_eq!(rig.memory.ledger.cursor(), 0, "nothing was delivered");
    rig.uplink.stop().await;
}

#[tokio::test]
#[ignore = "needs mosquitto and openssl: tests/all runs it"]
async fn what_is_wrong_with_the_brokers_certificate_is_named() {
    let home = floor_of(&["TS-07"]);
    let home = home.path();
    for (name, host, dates) in [
        ("elsewhere", "broker.elsewhere", &[][..]),
        ("expired", "localhost", &EXPIRED[..]),
        ("future", "localhost", &NOT_YET[..]),
    ] {
        certificates(home, &["broker", host], dates);
        for end in ["key", "pem"] {
            std::fs::rename(home.join(format!("{host}.{end}")), home.join(format!("{name}.{end}"))).unwrap();
        }
    }
    certificates(home, &["broker", "localhost"], &[]);
    let stranger = floor_of(&[]);
    let own = || files(home, "TS-07");
    let strangers = TlsFiles {
        ca: stranger.path().join("ca.pem"),
        ..own()
    };

    let broker = start(home, "localhost", &[]);
    let ca = strangers.ca.display().to_string();
    let issuer = "was signed by CN=tablegate floor authority, which is no authority in";
    refused(
        &broker,
        strangers,
        &["the broker's certificate (CN=localhost, valid to 20", issuer, &ca],
    )
    .await;

    let broker = start(home, "elsewhere", &[]);
    refused(
        &broker,
        own(),
        &[
            "(CN=broker.elsewhere, ",
            "is not for localhost, the host in mqtt.brokers, but for broker.elsewhere",
        ],
    )
    .await;

    let broker = start(home, "expired", &[]);
    let end = "valid to 2025-02-01 00:00 UTC";
    refused(
        &broker,
        own(),
        &["the broker's certificate (CN=localhost", end, "has expired", "clock"],
    )
    .await;

    let broker = start(home, "future", &[]);
    refused(
        &broker,
        own(),
        &["the broker's certificate (", "not valid before 2048-01-01", "clock"],
    )
    .await;

    // Mosquitto can't be kept from TLS 1.3; a broker of yesterday can't do more than 1.2.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let old = Command::new("openssl")
        .args([
            "s_server",
            "-quiet",
            "-tls1_2",
            "-cert",
            "localhost.pem",
            "-key",
            "localhost.key",
            "-accept",
        ])
        .arg(format!("127.0.0.1:{port}"))
        .current_dir(home)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut rig = Plan::new(Memory::with_events("j", 5), &format!("mqtts://localhost:{port}")).start_with(Some(own()));
    told(
        &mut rig,
        Condition::CertificateRefused,
        &["speaks no TLS 1.3, and nothing older is used"],
    )
    .await;
    drop(old);
}

#[tokio::test]
#[ignore = "needs mosquitto and openssl: tests/all runs it"]
async fn what_is_wrong_with_the_tables_certificate_is_named_with_its_file() {
    let home = floor_of(&["TS-07", "TS-08", "revoked"]);
    let home = home.path();
    certificates(home, &["client", "expired"], &EXPIRED);
    certificates(home, &["client", "future"], &NOT_YET);
    certificates(home, &["revoke", "revoked"], &[]);
    let stranger = floor_of(&["TS-07"]);
    let broker = start(home, "localhost", &[]);
    let at = |name: &str| home.join(name).display().to_string();

    let mut pair = files(home, "TS-07");
    pair.identity.as_mut().unwrap().key = home.join("TS-08.key");
    let words = [
        "the key in",
        &at("TS-08.key"),
        "does not belong",
        "(CN=TS-07, valid to 20",
        &at("TS-07.pem"),
    ];
    refused(&broker, pair, &words).await;

    let mut absent = files(home, "TS-07");
    absent.identity.as_mut().unwrap().certificate = home.join("nowhere.pem");
    let mut rig = table(&broker, absent);
    told(&mut rig, Condition::CertificateRefused, &["nowhere.pem can't be read"]).await;

    let mut empty = files(home, "TS-07");
    empty.ca = home.join("index.txt.attr");
    refused(&broker, empty, &["index.txt.attr can't be used: no certificate in it"]).await;

    let whose = |name: &str| format!("the broker refuses the table's certificate (CN={name}, valid to");
    let expired = "it has expired; it expired on 2025-02-01";
    refused(
        &broker,
        files(home, "expired"),
        &[&whose("expired"), &at("expired.pem"), expired],
    )
    .await;
    refused(
        &broker,
        files(home, "future"),
        &[&whose("future"), "it is not valid before 2048-01-01"],
    )
    .await;
    refused(
        &broker,
        files(home, "revoked"),
        &[&whose("revoked"), "it has been revoked"],
    )
    .await;
    let mut other = files(home, "TS-07");
    other.identity = files(stranger.path(), "TS-07").identity;
    refused(
        &broker,
        other,
        &[&whose("TS-07"), "does not know the authority that signed it"],
    )
    .await;
    let mut none = files(home, "TS-07");
    none.identity = None;
    refused(
        &broker,
        none,
        &["asks for a certificate of the table", "mqtt.certificate"],
    )
    .await;

    // The broker's list has run out: it says of everybody that he has.
    certificates(home, &["list"], &EXPIRED);
    let late = start(home, "localhost", &[]);
    let words = [
        &*whose("TS-07"),
        "it has expired; by this PC's clock it has not: the broker's revocation list",
    ];
    refused(&late, files(home, "TS-07"), &words).await;
    drop(late);
    certificates(home, &["list"], &[]);
    let renewed = start(home, "localhost", &[]);
    refused(
        &renewed,
        files(home, "revoked"),
        &[&whose("revoked"), "it has been revoked"],
    )
    .await;
    drop(renewed);

    // And with its own, everything is delivered.
    let rig = table(&broker, files(home, "TS-07"));
    let mut report = rig.uplink.report.clone();
    let report = report_is(&mut report, "delivered", |report| report.cursor == 5).await;
    assert_eq!((report.failures, report.state), (0, UplinkState::Online));
    rig.uplink.stop().await;
}

#[tokio::test]
#[ignore = "needs mosquitto and openssl: tests/all runs it"]
async fn what_expires_is_told_once_and_what_is_renewed_is_used_without_a_restart() {
    let home = floor_of(&["floor"]);
    let home = home.path();
    certificates(home, &["client", "TS-07"], &[("DAYS", "20")]);
    let broker = start(home, "localhost", &[]);
    let status = format!("{PREFIX}/status");
    let mut floor = Subscriber::with(&secure(&broker), "floor", Some(texts(home, "floor")), &[&status]).await;
    let mut rig = table(&broker, files(home, "TS-07"));
    let (text, standing) = told(&mut rig, Condition::CertificateExpires, &["CN=TS-07", "TS-07.pem"]).await;
    assert!(standing && text.contains("expires soon, on 20"), "{text}");
    let mut report = rig.uplink.report.clone();
    let before = report_is(&mut report, "delivered", |report| report.cursor == 5).await;

    // Half of a renewal that can't be used: nothing is lost, and it is told.
    let key = home.join("TS-07.key");
    std::fs::write(&key, "no key").unwrap();
    let words = ["TS-07.key can't be used", "goes on with those that it was made with"];
    told(&mut rig, Condition::CertificateRefused, &words).await;
    assert_eq!(report.borrow().connection, before.connection);

    certificates(home, &["client", "TS-07"], &[]);
    let after = report_is(&mut report, "another connection", |report| {
        report.connection > before.connection && report.state == UplinkState::Online
    })
    .await;
    assert_eq!(after.failures, 0, "{after:?}");
    for over in [Condition::CertificateExpires, Condition::CertificateRefused] {
        let (_, standing) = told(&mut rig, over, &[]).await;
        assert!(!standing, "{over:?}");
    }
    // The floor sees a birth after a birth: no last will, no offline.
    let mut connections = Vec::new();
    while connections.last() != Some(&after.connection) {
        let message = floor.message_on("/status").await.unwrap();
        let status = Status::decode(&*message.payload).unwrap();
        assert!(status.online, "{status:?}");
        connections.push(status.connection);
    }
    assert_eq!(connections, [before.connection, after.connection]);
    rig.uplink.stop().await;
}

#[tokio::test]
#[ignore = "needs mosquitto and openssl: tests/all runs it"]
async fn certificates_are_read_again_at_each_connect() {
    let home = floor_of(&["TS-07"]);
    let home = home.path();
    let broker = start(home, "localhost", &[]);
    // The key isn't there yet: somebody is about to put it in place.
    std::fs::rename(home.join("TS-07.key"), home.join("later")).unwrap();
    let mut rig = table(&broker, files(home, "TS-07"));
    told(&mut rig, Condition::CertificateRefused, &["TS-07.key can't be read"]).await;
    let mut report = rig.uplink.report.clone();
    std::fs::rename(home.join("later"), home.join("TS-07.key")).unwrap();
    report_is(&mut report, "delivered", |report| report.cursor == 5).await;
    let (_, standing) = told(&mut rig, Condition::CertificateRefused, &[]).await;
    assert!(!standing, "the alert is over");
}

fn use_tls(scene: &Scene, broker: &str, home: &Path, name: &str) {
    let text = std::fs::read_to_string(scene.config()).unwrap();
    let at = home.display();
    let tls = format!(
        "brokers = [\"{broker}\"]\nca = \"{at}/ca.pem\"\ncertificate = \"{at}/{name}.pem\"\nkey = \"{at}/{name}.key\""
    );
    let lines = text.lines().map(|line| match line.starts_with("brokers") {
        true => tls.as_str(),
        false => line,
    });
    std::fs::write(scene.config(), lines.collect::<Vec<_>>().join("\n")).unwrap();
}

#[tokio::test]
#[ignore = "needs mosquitto and openssl: tests/all runs it"]
async fn status_and_the_journal_of_a_daemon_name_the_certificate() {
    let home = floor_of(&["TS-07"]);
    let home = home.path();
    certificates(home, &["client", "expired"], &EXPIRED);
    let broker = start(home, "localhost", &[]);
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    use_tls(&scene, &secure(&broker), home, "expired");
    scene.start().await;
    let words = "the broker refuses the table's certificate (CN=expired, valid to 2025-02-01 00:00 UTC";
    let shown = within("status names it", async {
        loop {
            let shown = scene.command(&["status"]).await.ok();
            if shown.contains("certificate_refused") && shown.contains("it has expired") {
                return shown;
            }
        }
    })
    .await;
    // Lines are broken at the terminal's width.
    let one_line = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(one_line.contains(words), "{shown}");
    assert!(scene.terminate().await.success());
    let raised: Vec<_> = scene
        .events()
        .into_iter()
        .filter_map(|event| match event.body {
            Some(Body::AlertRaised(raised)) => Some((raised.alert, raised.text)),
            _ => None,
        })
        .collect();
    for (alert, words) in [
        (
            "certificate_expires",
            "the table's certificate expired on 2025-02-01 00:00 UTC (CN=expired, ",
        ),
        ("certificate_refused", words),
    ] {
        let texts: Vec<_> = raised.iter().filter(|(name, _)| name == alert).collect();
        assert!(
            texts.iter().any(|(_, text)| text.contains(words)),
            "{alert}: {raised:?}"
        );
        assert!(
            texts.len() <= 2,
            "raised once, or once more when the broker said why: {texts:?}"
        );
    }
}

/// What a broker says to somebody who shows this certificate and then nothing more.
async fn greeted(broker: &Mosquitto, home: &Path, name: &str) -> String {
    let mut command = Command::new("openssl");
    command.args(["s_client", "-connect", &format!("127.0.0.1:{}", broker.port)]);
    for (option, file) in [
        ("-CAfile", "ca.pem"),
        ("-cert", &format!("{name}.pem")),
        ("-key", &format!("{name}.key")),
    ] {
        command.arg(option).arg(home.join(file));
    }
    // A broker that refuses says so at once; one that doesn't waits for more.
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let waits = child.stdin.take();
    let output = tokio::time::timeout(std::time::Duration::from_millis(500), child.wait_with_output()).await;
    drop(waits);
    output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.unwrap().stderr).into_owned(),
    )
}

/// A table's certificate is revoked while it plays: with the new list the broker lets nobody in by it, the table says why and plays on, and
/// a new certificate is used without a restart of the daemon.
#[tokio::test]
#[ignore = "needs mosquitto and openssl: tests/all runs it"]
async fn a_certificate_that_is_revoked_in_play_is_named_and_its_successor_taken() {
    let home = floor_of(&["TS-07", "TS-08"]);
    let home = home.path();
    let mut broker = start(home, "localhost", &[]);
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    use_tls(&scene, &secure(&broker), home, "TS-07");
    scene.start().await;
    scene.open().await;
    scene
        .until("delivered", |view| {
            view["uplink"]["state"] == "online" && view["uplink"]["backlog"] == 0
        })
        .await;

    // SIGHUP is enough for whoever comes; who is there stays.
    assert_eq!(greeted(&broker, home, "TS-07").await, "");
    certificates(home, &["revoke", "TS-07"], &[]);
    broker.reload();
    within("the list counts", async {
        while !greeted(&broker, home, "TS-07").await.contains("certificate revoked") {}
    })
    .await;
    assert_eq!(greeted(&broker, home, "TS-08").await, "", "nobody else is meant");
    assert_eq!(scene.status().await["uplink"]["state"], "online");

    // A restart ends that too.
    broker.terminate();
    broker.restart();
    let refused = |view: &serde_json::Value| {
        let said = view["uplink"]["last_error"].as_str().unwrap_or_default();
        view["alerts"].to_string().contains("certificate_refused") && said.ends_with("it has been revoked")
    };
    scene.until("the alert", refused).await;
    scene.dealer.play([1, 3, 6]).await.unwrap();
    let view = scene
        .until("a backlog", |view| view["uplink"]["backlog"].as_u64() > Some(5))
        .await;
    assert!(refused(&view), "{view:#}");

    certificates(home, &["client", "TS-07"], &[]);
    scene
        .until("delivered", |view| {
            view["uplink"]["state"] == "online" && view["uplink"]["backlog"] == 0
        })
        .await;
    scene
        .until("no alert", |view| {
            let standing = view["alerts"].as_array().cloned().unwrap_or_default();
            standing
                .iter()
                .all(|alert| alert["alert"] != "certificate_refused" || alert["over"] == true)
        })
        .await;
    assert!(scene.terminate().await.success());
}

#[test]
#[ignore = "needs openssl: tests/all runs it"]
fn a_name_that_is_revoked_leaves_no_older_certificate_that_counts() {
    let floor = floor_of(&["TS-07", "TS-08"]);
    let home = floor.path();
    let keep = |as_name: &str| std::fs::copy(home.join("TS-07.pem"), home.join(as_name)).unwrap();
    keep("first.pem");
    certificates(home, &["client", "TS-07"], &[]);
    keep("second.pem");
    certificates(home, &["revoke", "TS-07"], &[]);
    certificates(home, &["client", "TS-07"], &[]);
    for (file, counts) in [
        ("first.pem", false),
        ("second.pem", false),
        ("TS-07.pem", true),
        ("TS-08.pem", true),
    ] {
        let verified = std::process::Command::new("openssl")
            .args(["verify", "-crl_check", "-CAfile", "ca.pem", "-CRLfile", "crl.pem", file])
            .current_dir(home)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&verified.stderr).into_owned();
        assert_eq!(verified.status.success(), counts, "{file}: {said}");
        assert_eq!(said.contains("revoked"), !counts, "{file}: {said}");
    }
}
