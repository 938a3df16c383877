//! Signed checkpoints: the daemon makes them with a key of OpenSSL's, OpenSSL verifies them by what the page says, and whoever
//! rewrites a journal without the key is found, whatever they do with the signatures.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::cast_possible_truncation,
    missing_docs
)]

mod daemon_support;
mod journal_support;

use daemon_support::Scene;
use journal_support::{Scribe, fill, open};
use prost::Message;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tablegate::floor::{Begin, Consumer, Finding, Hashes};
use tablegate::journal::{Opened, Record, chain, file_in};
use tablegate::signing::{Keys, Signer};
use tablegate::table::event::{Body, CheckpointRecorded, Event, TableCheckpoint};
use tablegate::time::Uptime;

/// A folder with keys, made by OpenSSL.
struct Safe {
    folder: tempfile::TempDir,
}

impl Safe {
    fn new(names: &[&str]) -> Safe {
        let safe = Safe {
            folder: tempfile::tempdir().unwrap(),
        };
        for name in names {
            let (private, public) = (safe.private(name), safe.public(name));
            openssl(&["genpkey", "-algorithm", "ed25519", "-out", private.to_str().unwrap()]);
            let made = [private.to_str().unwrap(), public.to_str().unwrap()];
            openssl(&["pkey", "-in", made[0], "-pubout", "-out", made[1]]);
        }
        safe
    }

    fn private(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.pem"))
    }

    fn public(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.public.pem"))
    }

    fn signer(&self, name: &str) -> Signer {
        Signer::from_pem(&std::fs::read_to_string(self.private(name)).unwrap()).unwrap()
    }

    fn keys(&self, names: &[&str]) -> Keys {
        let mut keys = Keys::new();
        for name in names {
            keys.add_pem(&std::fs::read_to_string(self.public(name)).unwrap())
                .unwrap();
        }
        keys
    }
}

fn openssl(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("openssl").args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn verify(path: &Path, keys: &[PathBuf]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tablegate"));
    command.args(["journal", "verify", "--json"]).arg(path);
    for key in keys {
        command.arg("--key").arg(key);
    }
    command.output().unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A checkpoint of everything so far, signed or not.
fn checkpoint(scribe: &mut Scribe, signer: Option<&Signer>) -> Record {
    let mut checkpoint = CheckpointRecorded {
        through_seqno: scribe.seqno,
        sha256: scribe.sha256.clone(),
        state: Some(TableCheckpoint {
            last_round_id: scribe.seqno,
            ..TableCheckpoint::default()
        }),
        ..CheckpointRecorded::default()
    };
    if let Some(signer) = signer {
        signer.sign(&scribe.journal_id, &mut checkpoint);
    }
    scribe.record(Body::CheckpointRecorded(checkpoint))
}

/// Nine events and a checkpoint by each of the signers, in turn.
async fn begin(directory: &Path, signers: &[Option<&Signer>]) -> (Opened, Scribe) {
    let opened = open(directory);
    let mut scribe = Scribe::after(&opened);
    for signer in signers {
        fill(&opened.journal, &mut scribe, 9).await;
        let record = checkpoint(&mut scribe, *signer);
        opened.journal.append(vec![record]).await.unwrap();
    }
    (opened, scribe)
}

fn written(directory: &Path) -> Vec<Record> {
    journal_support::read_all(&file_in(directory))
}

#[test]
fn it_is_said_which_key_signed_what_and_what_is_thereby_proven() {
    let safe = Safe::new(&["old", "new", "other"]);
    let (old, new) = (safe.signer("old"), safe.signer("new"));
    journal_support::run(async {
        let directory = tempfile::tempdir().unwrap();
        let (opened, _) = begin(directory.path(), &[None, Some(&old), Some(&old), Some(&new)]).await;
        let both = verify(directory.path(), &[safe.public("old"), safe.public("new")]);
        assert!(both.status.success(), "{}", said(&both));
        let told = json(&both)["signatures"].clone();
        assert_eq!(told["proven_through"], 39);
        assert_eq!((&told["unsigned"], &told["wrong"]), (&1.into(), &0.into()));
        let counts =
            [&told["keys"][0], &told["keys"][1]].map(|key| (key["key_id"].clone(), key["checkpoints"].clone()));
        assert_eq!(
            counts,
            [(old.key_id().into(), 2.into()), (new.key_id().into(), 1.into())]
        );

        // The newest key alone proves everything before it as well; the old one leaves the newest events without a proof.
        let newest = verify(directory.path(), &[safe.public("new")]);
        assert!(newest.status.success(), "{}", said(&newest));
        let oldest = verify(directory.path(), &[safe.public("old")]);
        assert_eq!(oldest.status.code(), Some(1));
        assert!(said(&oldest).contains(&format!("key {}, which was not given", new.key_id())));
        assert_eq!(json(&oldest)["signatures"]["proven_through"], 29);
        let none = verify(directory.path(), &[safe.public("other")]);
        assert_eq!(none.status.code(), Some(1));
        assert!(said(&none).contains("nothing is proven"), "{}", said(&none));
        // Without a key they are counted.
        let counted = verify(directory.path(), &[]);
        assert!(counted.status.success());
        assert_eq!(json(&counted)["signatures"]["unknown_keys"][old.key_id()], 2);
        // What is given must be a public key.
        let private = verify(directory.path(), &[safe.private("old")]);
        assert_eq!(private.status.code(), Some(2));
        assert!(said(&private).contains("is a private key"), "{}", said(&private));
        opened.journal.close();
    });
}

/// How somebody who owns the disk, but not the key, writes the same journal with another event 5.
#[derive(Clone, Copy, Debug)]
enum Forgery {
    /// The checkpoints as they were.
    Copied,
    /// With the new hashes, and the old signatures.
    Adapted,
    /// Without signatures.
    Stripped,
    /// Signed by a key of their own.
    OwnKey,
    /// Signed by a key of their own, under the name of the right one.
    OwnKeyRenamed,
    /// No checkpoints.
    LeftOut,
    /// The first one, whose signature holds, again and again.
    Repeated,
}

/// The same journal with another event 15, and a chain that was made anew.
fn rewritten(records: &[Record], forgery: Forgery, own: &Signer) -> Vec<Record> {
    let first = Event::decode(&*records[0].bytes).unwrap();
    let good = records
        .iter()
        .find_map(|record| match Event::decode(&*record.bytes).unwrap().body {
            Some(Body::CheckpointRecorded(checkpoint)) => Some(checkpoint),
            _ => None,
        });
    let mut forged: Vec<Record> = Vec::new();
    for record in records {
        let mut event = Event::decode(&*record.bytes).unwrap();
        if event.seqno < 15 {
            forged.push(record.clone());
            continue;
        }
        let previous = forged.last().unwrap();
        (event.seqno, event.previous_sha256) = (previous.seqno + 1, previous.sha256.to_vec());
        match (&mut event.body, forgery) {
            (Some(Body::CheckpointRecorded(_)), Forgery::LeftOut) => continue,
            (Some(Body::CheckpointRecorded(_)), Forgery::Copied) => {}
            (Some(Body::CheckpointRecorded(checkpoint)), Forgery::Repeated) => *checkpoint = good.clone().unwrap(),
            (Some(Body::CheckpointRecorded(checkpoint)), _) => {
                (checkpoint.through_seqno, checkpoint.sha256) = (previous.seqno, previous.sha256.to_vec());
                match forgery {
                    Forgery::Stripped => (checkpoint.key_id, checkpoint.signature) = (String::new(), Vec::new()),
                    Forgery::OwnKey => own.sign(&first.journal_id, checkpoint),
                    Forgery::OwnKeyRenamed => {
                        let key_id = checkpoint.key_id.clone();
                        own.sign(&first.journal_id, checkpoint);
                        checkpoint.key_id = key_id;
                    }
                    _ => {}
                }
            }
            (Some(Body::LayoutLit(lit)), _) => lit.areas.clear(),
            _ => {}
        }
        let bytes = event.encode_to_vec();
        let sha256 = chain::sha256(&bytes);
        forged.push(Record {
            seqno: event.seqno,
            sha256,
            bytes,
        });
    }
    forged
}

#[test]
fn a_journal_that_was_rewritten_without_the_key_is_found_by_the_command_and_by_the_consumer() {
    let safe = Safe::new(&["house", "own"]);
    let (house, own) = (safe.signer("house"), safe.signer("own"));
    journal_support::run(async {
        let directory = tempfile::tempdir().unwrap();
        let (opened, _) = begin(directory.path(), &[Some(&house), Some(&house), Some(&house)]).await;
        opened.journal.close();
        let records = written(directory.path());
        assert_eq!(alarms_of(&records, safe.keys(&["house"])), 0);
        for forgery in [
            Forgery::Copied,
            Forgery::Adapted,
            Forgery::Stripped,
            Forgery::OwnKey,
            Forgery::OwnKeyRenamed,
            Forgery::LeftOut,
            Forgery::Repeated,
        ] {
            let records = rewritten(&records, forgery, &own);
            // Written by the journal itself, as a thief with this program would.
            let folder = tempfile::tempdir().unwrap();
            std::fs::copy(file_in(directory.path()), file_in(folder.path())).unwrap();
            overwrite(&file_in(folder.path()), &records);
            let unkeyed = verify(folder.path(), &[]);
            let keyed = verify(folder.path(), &[safe.public("house")]);
            let proven = json(&keyed)["signatures"]["proven_through"].clone();
            assert!(proven.as_u64().unwrap() < 15, "{forgery:?} proves {proven}");
            match forgery {
                // What the chain shows by itself.
                Forgery::Copied => assert_eq!(unkeyed.status.code(), Some(1)),
                // Nothing but the missing checkpoints could show it, and a table may be that young.
                Forgery::LeftOut => assert!(unkeyed.status.success() && keyed.status.success()),
                _ => {
                    assert!(unkeyed.status.success(), "{forgery:?}: {}", said(&unkeyed));
                    assert_eq!(keyed.status.code(), Some(1), "{forgery:?}");
                }
            }
            let alarms = alarms_of(&records, safe.keys(&["house"]));
            match forgery {
                Forgery::LeftOut => assert_eq!(alarms, 0),
                _ => assert_eq!(alarms, 2, "{forgery:?}"),
            }
        }
    });
}

/// Puts these records into a table's file, as somebody does who owns the disk.
fn overwrite(file: &Path, records: &[Record]) {
    let store = rusqlite::Connection::open(file).unwrap();
    store.execute("DELETE FROM events", []).unwrap();
    store.execute("DELETE FROM checkpoints", []).unwrap();
    for record in records {
        let seqno = i64::try_from(record.seqno).unwrap();
        let row = (seqno, record.sha256.to_vec(), &record.bytes);
        store.execute("INSERT INTO events VALUES (?1, ?2, ?3)", row).unwrap();
        let event = Event::decode(record.bytes.as_slice()).unwrap();
        if matches!(event.body, Some(Body::CheckpointRecorded(_))) {
            store.execute("INSERT INTO checkpoints VALUES (?1)", [seqno]).unwrap();
        }
    }
}

/// Alarms of a consumer that sees these events.
fn alarms_of(records: &[Record], keys: Keys) -> usize {
    let mut consumer = Consumer::new(Begin::AtFirst).with_keys(keys);
    let mut hashes = Hashes::default();
    let mut alarms = 0;
    for record in records {
        for finding in consumer.take(Uptime::ZERO, &record.bytes, &hashes) {
            if let Finding::Store(stores) | Finding::ChainBroken(stores) = &finding {
                hashes.keep(stores);
            }
            alarms += usize::from(finding.is_alarm());
        }
    }
    alarms
}

/// As the page for subscribers says, with nothing of this crate: field 23 of the event, field 3 of that.
#[derive(Clone, PartialEq, Message)]
struct EventAsWritten {
    #[prost(string, tag = "3")]
    journal_id: String,
    #[prost(message, optional, tag = "23")]
    checkpoint: Option<CheckpointAsWritten>,
}

#[derive(Clone, PartialEq, Message)]
struct CheckpointAsWritten {
    #[prost(uint64, tag = "1")]
    through_seqno: u64,
    #[prost(bytes = "vec", tag = "2")]
    sha256: Vec<u8>,
    #[prost(bytes = "vec", tag = "3")]
    state: Vec<u8>,
    #[prost(string, tag = "4")]
    key_id: String,
    #[prost(bytes = "vec", tag = "5")]
    signature: Vec<u8>,
}

#[tokio::test]
async fn a_daemon_signs_and_openssl_verifies() {
    let safe = Safe::new(&["table"]);
    let key = safe.private("table");
    let mut scene = Scene::new("mqtt://127.0.0.1:1");
    let variable = "TABLEGATE__JOURNAL__SIGNING_KEY";

    // A key that can't be used: refused, with its file, its key in the configuration, and the reason.
    for (file, why) in [
        (safe.folder.path().join("none.pem"), "can't be read: No such file"),
        (safe.public("table"), "is a public key"),
        (scene.config(), "is no Ed25519 key in PEM"),
        (PathBuf::from("/dev/null"), "it is no file"),
    ] {
        let ended = daemon_support::tablegate()
            .args(["run", "--config", scene.config().to_str().unwrap()])
            .env(variable, &file)
            .output()
            .await
            .unwrap();
        let text = said(&ended);
        assert_eq!(ended.status.code(), Some(3), "{text}");
        for words in ["journal.signing_key", file.to_str().unwrap(), why] {
            assert!(text.contains(words), "{words:?} is not in {text}");
        }
    }
    // A check by somebody who may not read it is no refusal; what is no key is one.
    for (file, code) in [
        (key.clone(), 0),
        (safe.folder.path().join("none.pem"), 0),
        (safe.public("table"), 3),
    ] {
        let checked = daemon_support::tablegate()
            .args(["config", "check", scene.config().to_str().unwrap()])
            .env(variable, &file)
            .output()
            .await
            .unwrap();
        assert_eq!(checked.status.code(), Some(code), "{file:?}: {}", said(&checked));
    }

    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    scene.start_with(&[(variable, key.to_str().unwrap())]).await;
    assert!(scene.log().contains("everybody on this PC may read"), "{}", scene.log());
    let der = openssl(&[
        "pkey",
        "-pubin",
        "-in",
        safe.public("table").to_str().unwrap(),
        "-outform",
        "DER",
    ]);
    let key_id = &hex(&chain::sha256(&der))[..16];
    assert_eq!(scene.status().await["journal"]["signed_by"], key_id);
    let status = scene.command(&["status"]).await.ok();
    assert!(
        status.contains(&format!("checkpoints: signed by key {key_id}")),
        "{status}"
    );
    scene.open().await;
    scene.act(&["close"]).await.ok();
    scene.terminate().await;

    let checked = verify(&scene.journal(), &[safe.public("table")]);
    assert!(checked.status.success(), "{}", said(&checked));
    let told = json(&checked)["signatures"].clone();
    assert_eq!(
        (&told["keys"][0]["checkpoints"], &told["unsigned"]),
        (&1.into(), &0.into())
    );

    let record = journal_support::read_all(&scene.journal())
        .into_iter()
        .find(|record| EventAsWritten::decode(&*record.bytes).unwrap().checkpoint.is_some())
        .unwrap();
    let event = EventAsWritten::decode(&*record.bytes).unwrap();
    let checkpoint = event.checkpoint.unwrap();
    assert_eq!(checkpoint.key_id, key_id);
    let message = format!(
        "tablegate checkpoint 1\njournal {}\nthrough {}\nevent {}\nstate {}\n",
        event.journal_id,
        checkpoint.through_seqno,
        hex(&checkpoint.sha256),
        hex(&chain::sha256(&checkpoint.state))
    );
    let at = |name: &str| safe.folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("message"), message).unwrap();
    std::fs::write(at("signature"), checkpoint.signature).unwrap();
    let public = at("table.public.pem");
    let (message, signature) = (at("message"), at("signature"));
    let told = openssl(&[
        "pkeyutl", "-verify", "-pubin", "-inkey", &public, "-rawin", "-in", &message, "-sigfile", &signature,
    ]);
    assert!(String::from_utf8_lossy(&told).contains("Signature Verified Successfully"));
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
