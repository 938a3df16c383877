//! The page for subscribers: its Python program is run as it stands there, and its numbers are the code's.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    missing_docs
)]

mod uplink_support;

use prost::Message;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tablegate::gateway::MAX_SEED;
use tablegate::signing::Signer;
use tablegate::table::event::{Body, CheckpointRecorded, Event, TableCheckpoint};
use tablegate::uplink::{broker, delivery, desk, pace, requests, topic};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use uplink_support::memory::{Memory, PREFIX, Plan};
use uplink_support::mosquitto::Mosquitto;
use uplink_support::{report_is, within};

const PAGE: &str = include_str!("../docs/floor-integration.md");

/// The first block of this language, and the first that holds `with`.
fn block(language: &str, with: &str) -> &'static str {
    let opening = format!("```{language}\n");
    let blocks = PAGE
        .split(opening.as_str())
        .skip(1)
        .map(|rest| rest.split("\n```").next().unwrap());
    blocks
        .into_iter()
        .find(|block| block.contains(with))
        .expect("the page has such a block")
}

#[test]
fn the_limits_on_the_page_are_the_codes() {
    let rows = [
        ("request", format!("at most {} bytes", requests::MAX_REQUEST)),
        (
            "correlation data",
            format!("at most {} bytes", requests::MAX_CORRELATION),
        ),
        ("events of one replay", desk::MAX_REPLAY.to_string()),
        ("replays that run / wait", format!("1 / {}", desk::MAX_WAITING_REPLAYS)),
        ("short answers that wait", desk::MAX_WAITING_ANSWERS.to_string()),
        (
            "topics, correlation data and ids of those",
            format!("{} bytes", desk::MAX_WAITING_ANSWER_BYTES),
        ),
        ("seed", format!("1 to {MAX_SEED} bytes")),
        ("answers in flight", delivery::MAX_RESPONSES.to_string()),
        (
            "packet to the gateway",
            format!("at most {} bytes; a broker drops larger ones", broker::MAX_PACKET),
        ),
    ];
    for (what, value) in rows {
        let row = format!("| {what} | {value} |");
        assert!(PAGE.contains(&row), "the page lacks the row {row}");
    }
    for sentence in [
        format!("no wildcards; at most {} bytes", topic::MAX_RESPONSE_TOPIC),
        format!("At most {} publishes are in flight", delivery::MAX_WIDTH),
        format!("doubling up to {} s", pace::LONGEST_PAUSE.as_secs()),
        format!("up to {} min", pace::LONGEST_REFUSED_PAUSE.as_secs() / 60),
        format!("is given up within {} s", (broker::KEEP_ALIVE * 2).as_secs()),
        format!("to {} printable characters", requests::MAX_REQUEST_ID),
    ] {
        assert!(PAGE.contains(&sentence), "the page does not say: {sentence}");
    }
}

fn python() -> PathBuf {
    std::env::var_os("TABLEGATE_PYTHON").map_or_else(|| "python3".into(), PathBuf::from)
}

async fn run(program: &Path, arguments: &[&str], directory: &Path) {
    let ended = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .output()
        .await;
    let ended = ended.unwrap_or_else(|error| {
        panic!("needs Python with paho-mqtt, protobuf and grpcio-tools ({error}): run tests/all")
    });
    assert!(
        ended.status.success(),
        "{}\nrun tests/all",
        String::from_utf8_lossy(&ended.stderr)
    );
}

#[tokio::test]
#[ignore = "needs mosquitto and Python with paho-mqtt, protobuf, grpcio-tools: tests/all runs it"]
async fn the_python_subscriber_of_the_page_decodes_events() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path();
    std::os::unix::fs::symlink(Path::new(env!("CARGO_MANIFEST_DIR")).join("proto"), home.join("proto")).unwrap();
    std::fs::create_dir(home.join("floor")).unwrap();
    let compile = block("sh", "grpc_tools.protoc")
        .lines()
        .find(|line| line.contains("grpc_tools.protoc"))
        .unwrap();
    let arguments: Vec<&str> = compile.split_whitespace().skip(1).collect();
    run(&python(), &arguments, home).await;
    std::fs::write(home.join("floor/subscriber.py"), block("python", "paho")).unwrap();

    let broker = Mosquitto::start("");
    let mut subscriber = Command::new(python())
        .args(["floor/subscriber.py", "127.0.0.1", &broker.port.to_string(), PREFIX])
        .current_dir(home)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(subscriber.stdout.take().unwrap()).lines();
    let rig = Plan::new(Memory::new("a-journal"), &broker.url()).start();
    // Until the subscriber has subscribed, the broker says that nobody listens.
    let mut report = rig.uplink.report.clone();
    let mut appended = 0;
    within("somebody who subscribes", async {
        loop {
            rig.memory.append();
            appended += 1;
            let report = report_is(&mut report, "acknowledged", |report| report.cursor == appended).await;
            if report.unheard < report.acknowledged {
                break;
            }
            // Look again: Python starts, then it subscribes.
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    })
    .await;
    for _ in 0..10 {
        rig.memory.append();
        appended += 1;
    }
    let mut last = 0;
    while last < appended {
        let line = within("a line", lines.next_line())
            .await
            .unwrap()
            .expect("the subscriber runs");
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(
            (words[0], words[2], words[3]),
            ("a-journal", "0", "alert_raised"),
            "{line}"
        );
        assert!(line.contains("alert: \"test\""), "{line}");
        let seqno: u64 = words[1].parse().unwrap();
        assert!(last == 0 || seqno == last + 1, "{line} after {last}");
        last = seqno;
    }
}

/// A key that OpenSSL made, and its public half.
const PRIVATE: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIMD1g/p46gV3HXk+7d0MKIGjMrIlteUN+DaX8NAVUO8X\n-----END PRIVATE KEY-----\n";
const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA+Zw9p68ofwHb8rle867fnoccN6KZfqUIl9Dw3nXc5i8=\n-----END PUBLIC KEY-----\n";

#[tokio::test]
#[ignore = "needs openssl and Python with protobuf, grpcio-tools: tests/all runs it"]
async fn the_python_program_of_the_page_verifies_a_signature() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path();
    std::fs::write(home.join("checkpoint.proto"), block("proto", "Checkpoint")).unwrap();
    let compile = ["-m", "grpc_tools.protoc", "-I.", "--python_out=.", "checkpoint.proto"];
    run(&python(), &compile, home).await;
    std::fs::write(home.join("verify.py"), block("python", "checkpoint_pb2")).unwrap();
    std::fs::write(home.join("public.pem"), PUBLIC).unwrap();
    let signer = Signer::from_pem(PRIVATE).unwrap();
    let verified = async |change: fn(&mut Event, &mut CheckpointRecorded)| {
        let mut checkpoint = CheckpointRecorded {
            through_seqno: 4711,
            sha256: vec![7; 32],
            state: Some(TableCheckpoint {
                last_round_id: 17,
                ..TableCheckpoint::default()
            }),
            ..CheckpointRecorded::default()
        };
        let mut event = Event {
            journal_id: "0d3b9f6e-5f1c-4b38-8f7e-2f6f3c1a9b10".to_owned(),
            seqno: 4712,
            ..Event::default()
        };
        signer.sign(&event.journal_id, &mut checkpoint);
        change(&mut event, &mut checkpoint);
        event.body = Some(Body::CheckpointRecorded(checkpoint));
        std::fs::write(home.join("event"), event.encode_to_vec()).unwrap();
        let program = ["verify.py", "event", "public.pem"];
        let ended = Command::new(python())
            .args(program)
            .current_dir(home)
            .output()
            .await
            .unwrap();
        let out = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(
            out.starts_with(signer.key_id()),
            "{out}{}",
            String::from_utf8_lossy(&ended.stderr)
        );
        ended.status.success()
    };
    assert!(verified(|_, _| {}).await);
    assert!(!verified(|event, _| event.journal_id.push('0')).await);
    assert!(!verified(|_, checkpoint| checkpoint.through_seqno += 1).await);
    assert!(!verified(|_, checkpoint| checkpoint.sha256[0] ^= 1).await);
    assert!(!verified(|_, checkpoint| checkpoint.state.as_mut().unwrap().last_round_id += 1).await);
}
