//! `tablegate floor watch`, the binary itself at a real broker: signatures, and a table that says nothing.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    missing_docs
)]

mod uplink_support;

use prost::Message;
use sha2::{Digest, Sha256};
use std::process::Stdio;
use tablegate::signing::Signer;
use tablegate::table::event::{Body, CheckpointRecorded, Event, JournalStarted, Status, TableCheckpoint};
use tablegate::uplink::exchange::{Publication, Retention, Verdict};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};
use uplink_support::mosquitto::Mosquitto;
use uplink_support::subscriber::Subscriber;
use uplink_support::within;

/// A key that OpenSSL made, its public half, and another's.
const PRIVATE: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIMD1g/p46gV3HXk+7d0MKIGjMrIlteUN+DaX8NAVUO8X\n-----END PRIVATE KEY-----\n";
const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA+Zw9p68ofwHb8rle867fnoccN6KZfqUIl9Dw3nXc5i8=\n-----END PUBLIC KEY-----\n";

/// A watcher that runs, and what it says beside the events.
struct Watcher {
    child: Child,
    said: Lines<BufReader<ChildStderr>>,
}

impl Watcher {
    async fn start(broker: &Mosquitto, table: &str, more: &[&str]) -> Watcher {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tablegate"))
            .args([
                "floor",
                "watch",
                "--broker",
                &broker.url(),
                "--site",
                "harbour",
                "--table",
                table,
            ])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut watcher = Watcher { child, said };
        watcher.says("connected").await;
        watcher
    }

    /// Reads until it says this.
    async fn says(&mut self, words: &str) -> String {
        within(words, async {
            while let Some(line) = self.said.next_line().await.unwrap() {
                if line.contains(words) {
                    return line;
                }
            }
            panic!("it ended without saying: {words}")
        })
        .await
    }
}

/// The next event of a chain.
fn event(seqno: u64, previous: &[u8], body: Body) -> Vec<u8> {
    Event {
        journal_id: "0d3b9f6e-5f1c-4b38-8f7e-2f6f3c1a9b10".to_owned(),
        seqno,
        previous_sha256: if previous.is_empty() {
            vec![0; 32]
        } else {
            Sha256::digest(previous).to_vec()
        },
        body: Some(body),
        ..Event::default()
    }
    .encode_to_vec()
}

fn checkpoint(seqno: u64, previous: &[u8], signer: Option<&Signer>) -> Vec<u8> {
    let mut checkpoint = CheckpointRecorded {
        through_seqno: seqno - 1,
        sha256: Sha256::digest(previous).to_vec(),
        state: Some(TableCheckpoint::default()),
        ..CheckpointRecorded::default()
    };
    if let Some(signer) = signer {
        signer.sign("0d3b9f6e-5f1c-4b38-8f7e-2f6f3c1a9b10", &mut checkpoint);
    }
    event(seqno, previous, Body::CheckpointRecorded(checkpoint))
}

#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn a_watcher_with_a_key_finds_what_nobody_signed_and_one_of_no_table_says_so() {
    let broker = Mosquitto::start("");
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("public.pem");
    std::fs::write(&key, PUBLIC).unwrap();
    let key = ["--key", key.to_str().unwrap()];
    let mut silent = Watcher::start(&broker, "TS-99", &[]).await;
    let mut keyed = Watcher::start(&broker, "TS-07", &[&key[..], &["--count", "4"]].concat()).await;

    let signer = Signer::from_pem(PRIVATE).unwrap();
    let first = event(1, &[], Body::JournalStarted(JournalStarted::default()));
    let second = checkpoint(2, &first, Some(&signer));
    let third = checkpoint(3, &second, None);
    let mut forged = Event::decode(&checkpoint(4, &third, Some(&signer))[..]).unwrap();
    if let Some(Body::CheckpointRecorded(checkpoint)) = &mut forged.body {
        checkpoint.state.as_mut().unwrap().last_round_id = 99;
    }
    let mut table = Subscriber::new(&broker.url(), "table", &["elsewhere"]).await;
    for bytes in [first, second, third, forged.encode_to_vec()] {
        let published = table.publish(Publication {
            topic: "tablegate/v1/harbour/TS-07/events".to_owned(),
            retained: Retention::Passing,
            payload: bytes.into(),
            response_topic: None,
            correlation: None,
        });
        assert!(matches!(published.await, Verdict::Taken), "the broker takes it");
    }
    let unsigned = keyed.says("ALARM").await;
    assert!(
        unsigned.contains("the checkpoint at event 3 ") && unsigned.contains("isn't signed"),
        "{unsigned}"
    );
    let wrong = keyed.says("ALARM").await;
    assert!(wrong.contains("the signature of the checkpoint at event 4 "), "{wrong}");
    keyed.says("2 alarms").await;
    let ended = within("its end", keyed.child.wait()).await.unwrap();
    assert_eq!(ended.code(), Some(1));
    let mut events = String::new();
    keyed
        .child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut events)
        .await
        .unwrap();
    assert_eq!(events.lines().count(), 4, "{events}");

    let told = silent.says("nothing is retained").await;
    assert!(
        told.contains("tablegate/v1/harbour/TS-99") && told.contains("waiting"),
        "{told}"
    );
    assert!(silent.child.try_wait().unwrap().is_none(), "it goes on waiting");
    silent.child.kill().await.unwrap();
}

/// A table that is online and doesn't answer, as when the broker keeps this reader's requests or their answers to itself.
#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn a_watcher_that_asks_for_everything_and_gets_no_answer_says_what_may_be_wrong() {
    let broker = Mosquitto::start("");
    let mut table = Subscriber::new(&broker.url(), "table", &["elsewhere"]).await;
    let status = Status {
        connection: 1,
        online: true,
        ..Status::default()
    };
    let published = table.publish(Publication {
        topic: "tablegate/v1/harbour/TS-08/status".to_owned(),
        retained: Retention::Kept,
        payload: status.encode_to_vec().into(),
        response_topic: None,
        correlation: None,
    });
    assert!(matches!(published.await, Verdict::Unheard), "the broker keeps it");
    let mut all = Watcher::start(&broker, "TS-08", &["--all"]).await;
    let hint = all.says("no answer within 15 s").await;
    for words in [
        "is the table online",
        "floor watch",
        "--reader is the name of its certificate",
    ] {
        assert!(hint.contains(words), "{words:?} is not in {hint}");
    }
    assert!(all.child.try_wait().unwrap().is_none(), "it goes on waiting");
    all.child.kill().await.unwrap();
}
