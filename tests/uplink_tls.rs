//! TLS 1.3 with client certificates and the ACL, as docs/floor-integration.md has them, through a real mosquitto.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    missing_docs
)]

mod uplink_support;

use std::path::{Path, PathBuf};
use std::process::Command;
use tablegate::table::input::Condition;
use tablegate::uplink::{ClientIdentity, Notice, TlsFiles, UplinkState};
use uplink_support::memory::{Memory, Plan};
use uplink_support::mosquitto::Mosquitto;
use uplink_support::{report_is, within};

const PAGE: &str = include_str!("../docs/floor-integration.md");

fn block(with: &str) -> &'static str {
    let blocks = PAGE
        .split("```text\n")
        .skip(1)
        .map(|rest| rest.split("\n```").next().unwrap());
    blocks
        .into_iter()
        .find(|block| block.contains(with))
        .expect("the page has such a block")
}

fn openssl(directory: &Path, arguments: &str) {
    let ended = Command::new("openssl")
        .args(arguments.split_whitespace())
        .current_dir(directory)
        .output();
    let ended = ended.unwrap_or_else(|error| panic!("needs openssl ({error}): run tests/all"));
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

/// A certificate for this common name, signed by the authority `ca`.
fn certificate(directory: &Path, name: &str, ca: &str) {
    std::fs::write(directory.join("ext"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n").unwrap();
    openssl(
        directory,
        &format!(
            "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout {name}.key -out {name}.csr -subj /CN={name}"
        ),
    );
    openssl(
        directory,
        &format!(
            "x509 -req -in {name}.csr -CA {ca}.pem -CAkey {ca}.key -CAcreateserial -days 2 -extfile ext -out {name}.pem"
        ),
    );
}

fn authority(directory: &Path, name: &str) {
    openssl(
        directory,
        &format!(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout {name}.key -out {name}.pem -days 2 -subj /CN={name}"
        ),
    );
}

/// The broker of the page, with these certificates.
fn broker(directory: &Path) -> Mosquitto {
    std::fs::write(directory.join("acl"), block("pattern write")).unwrap();
    let replaced = |line: &str| {
        let at = |file: &str| directory.join(file).display().to_string();
        match line.split_whitespace().next() {
            Some("listener" | "persistence") => String::new(),
            Some("cafile") => format!("cafile {}", at("ca.pem")),
            Some("certfile") => format!("certfile {}", at("broker.pem")),
            Some("keyfile") => format!("keyfile {}", at("broker.key")),
            Some("acl_file") => format!("acl_file {}", at("acl")),
            _ => line.to_owned(),
        }
    };
    let settings: Vec<String> = block("require_certificate").lines().map(replaced).collect();
    Mosquitto::start_with(&settings.join("\n"))
}

fn plan(directory: &Path, broker: &Mosquitto, name: &str, ca: &str) -> (Plan, TlsFiles) {
    let file = |name: String| -> PathBuf { directory.join(name) };
    let plan = Plan::new(
        Memory::with_events("j", 5),
        &format!("mqtts://localhost:{}", broker.port),
    );
    let files = TlsFiles {
        ca: file(format!("{ca}.pem")),
        identity: Some(ClientIdentity {
            certificate: file(format!("{name}.pem")),
            key: file(format!("{name}.key")),
        }),
    };
    (plan, files)
}

#[tokio::test]
#[ignore = "needs mosquitto and openssl: tests/all runs it"]
async fn a_table_with_its_certificate_delivers_and_one_with_anothers_is_refused_by_name() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    for name in ["ca", "stranger"] {
        authority(home, name);
    }
    for name in ["broker", "TS-07", "TS-08"] {
        certificate(home, name, "ca");
    }
    let broker = broker(home);

    let (own, files) = plan(home, &broker, "TS-07", "ca");
    let rig = own.start_with(Some(files));
    let mut report = rig.uplink.report.clone();
    let report = report_is(&mut report, "delivered", |report| report.cursor == 5).await;
    assert_eq!((report.failures, report.state), (0, UplinkState::Online));
    rig.uplink.stop().await;

    let (others, files) = plan(home, &broker, "TS-08", "ca");
    let mut rig = others.start_with(Some(files));
    loop {
        let notice = within("a notice", rig.notices.recv()).await.unwrap();
        if let Notice::Condition {
            condition: Condition::BrokerRefuses,
            text,
            ..
        } = notice
        {
            assert!(text.contains("not authorized"), "{text}");
            break;
        }
    }
    assert_eq!(rig.memory.ledger.cursor(), 0);

    let (strangers, files) = plan(home, &broker, "TS-07", "stranger");
    let rig = strangers.start_with(Some(files));
    let mut report = rig.uplink.report.clone();
    let report = report_is(&mut report, "a failure", |report| report.failures > 0).await;
    assert!(report.last_error.contains("TLS"), "{}", report.last_error);
    assert_eq!(rig.memory.ledger.cursor(), 0);
}

#[tokio::test]
#[ignore = "needs mosquitto and openssl: tests/all runs it"]
async fn certificates_are_read_again_at_each_connect() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    authority(home, "ca");
    for name in ["broker", "TS-07"] {
        certificate(home, name, "ca");
    }
    let broker = broker(home);
    let (plan, files) = plan(home, &broker, "TS-07", "ca");
    // The key isn't there yet: somebody is about to put it in place.
    std::fs::rename(home.join("TS-07.key"), home.join("later")).unwrap();
    let rig = plan.start_with(Some(files));
    let mut report = rig.uplink.report.clone();
    let failed = report_is(&mut report, "a failure", |report| report.failures > 0).await;
    assert!(failed.last_error.contains("TS-07.key"), "{}", failed.last_error);
    std::fs::rename(home.join("later"), home.join("TS-07.key")).unwrap();
    report_is(&mut report, "delivered", |report| report.cursor == 5).await;
}
