//! The supplier's archive: what is in it, and that no secret and nobody's name is. Every place of the configuration where a secret may
//! stand gets one of its own, people act and write, and the unpacked archive is searched for every one of them.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test may panic"
)]

mod daemon_support;

use daemon_support::{Ended, Scene, tablegate};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Nobody listens there.
const NO_BROKER: &str = "mqtt://127.0.0.1:1";

/// The people, and what they write; each stands nowhere else.
const ANA: &str = "ana.kahurangi";
const BEN: &str = "Ben Wiremu";
const LOCK_TEXT: &str = "Mrs Tuhoe spilled her drink on the layout";
const PROCEDURE: &str = "dried by Hemi Parata";
const NOTE: &str = "Mr Ngata moved it while Rangi looked away";
const REASON: &str = "told by Aroha Pere";

/// The secrets, by the place where they stand.
const USERNAME: &str = "brokeruser-7c1f";
const PASSWORD: &str = "password-e9a2 with spaces";
const IN_URL: &str = "urlpassword-55d0";
const IN_ENVIRONMENT: &str = "environment-31aa";

fn shell(folder: &Path, program: &str, args: &[&str]) {
    let done = Command::new(program).args(args).current_dir(folder).output().unwrap();
    assert!(
        done.status.success(),
        "{program}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// Makes the bundle.
async fn bundle(scene: &Scene, name: &str, more: &[&str]) -> Ended {
    let config = scene.config();
    let output = scene.path(name);
    let mut args = vec![
        "support-bundle",
        "--config",
        config.to_str().unwrap(),
        "--output",
        output.to_str().unwrap(),
    ];
    args.extend(more);
    let output = tablegate()
        .args(&args)
        .env("TABLEGATE__MQTT__USERNAME", USERNAME)
        .env("TABLEGATE_NOT_OURS", IN_ENVIRONMENT)
        .output()
        .await
        .unwrap();
    Ended {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Unpacks it as anybody would: names and contents.
fn unpacked(scene: &Scene, name: &str) -> Vec<(String, Vec<u8>)> {
    let file = scene.path(name);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let folder = scene.path(&format!("{name}.d"));
    std::fs::create_dir(&folder).unwrap();
    shell(&folder, "tar", &["-xzf", file.to_str().unwrap()]);
    let inner = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let mut found: Vec<_> = std::fs::read_dir(inner)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode & 0o077, 0, "{:?}", entry.path());
            (
                entry.file_name().into_string().unwrap(),
                std::fs::read(entry.path()).unwrap(),
            )
        })
        .collect();
    found.sort();
    found
}

fn text<'a>(parts: &'a [(String, Vec<u8>)], name: &str) -> &'a str {
    let (_, content) = parts
        .iter()
        .find(|(known, _)| known == name)
        .unwrap_or_else(|| panic!("no {name}"));
    std::str::from_utf8(content).unwrap()
}

/// Neither as it is, nor as the formats write it.
fn assert_absent(parts: &[(String, Vec<u8>)], what: &str) {
    for (name, content) in parts {
        let is_there = content.windows(what.len()).any(|bytes| bytes == what.as_bytes());
        assert!(!is_there, "{what:?} is in {name}: {}", String::from_utf8_lossy(content));
    }
}

#[tokio::test]
async fn the_bundle_has_what_finds_a_fault_and_no_secret_and_nobodys_name() {
    let mut scene = Scene::new(NO_BROKER);
    let password = scene.path("mqtt.password");
    let signing = scene.path("signing.key");
    std::fs::write(&password, format!("{PASSWORD}\n")).unwrap();
    shell(
        scene.directory.path(),
        "openssl",
        &["genpkey", "-algorithm", "ed25519", "-out", "signing.key"],
    );
    std::fs::set_permissions(&signing, std::fs::Permissions::from_mode(0o600)).unwrap();
    let written = std::fs::read_to_string(scene.config()).unwrap();
    let written = written.replace(
        &format!("brokers = [\"{NO_BROKER}\"]"),
        &format!(
            "brokers = [\"{NO_BROKER}\"]\nusername = \"{USERNAME}\"\npassword_file = \"{}\"",
            password.display()
        ),
    );
    let written = written.replace(
        "[journal]",
        &format!("[journal]\nsigning_key = \"{}\"", signing.display()),
    );
    std::fs::write(scene.config(), &written).unwrap();
    scene.start().await;
    scene.open().await;
    scene.dealer.play([1, 3, 6]).await.unwrap();
    scene.dealer.to_the_dice([2, 2, 5]).await.unwrap();
    let is_root = nix::unistd::Uid::current().is_root();
    for (who, args) in [
        (ANA, &["round", "result", "2", "2", "5", "--reason", REASON][..]),
        (ANA, &["lock", "--reason", LOCK_TEXT]),
        (BEN, &["unlock", "--procedure", PROCEDURE]),
        (BEN, &["round", "incident", "other", "--note", NOTE]),
        (ANA, &["lock", "--reason", LOCK_TEXT]),
        // So short that it is looked for in its own place only.
        (ANA, &["round", "incident", "other", "--note", "Xq"]),
    ] {
        let mut all = args.to_vec();
        if is_root {
            all.extend(["--by", who]);
        }
        scene.command(&all).await.ok();
    }
    // Nothing is written before somebody says yes, and nothing is replaced.
    let unasked = bundle(&scene, "a.tar.gz", &[]).await;
    assert!(unasked.out.contains("events.jsonl"), "listed first: {}", unasked.out);
    unasked.refused(2, "--yes");
    assert!(!scene.path("a.tar.gz").exists());
    let said = bundle(&scene, "a.tar.gz", &["--yes"]).await.ok();
    let again = bundle(&scene, "a.tar.gz", &["--yes"]).await;
    again.refused(1, "is there already");
    let parts = unpacked(&scene, "a.tar.gz");
    let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
    for name in [
        "alerts.txt",
        "configuration.txt",
        "contents.txt",
        "devices.txt",
        "events.jsonl",
        "events.txt",
        "journal.txt",
        "lines.pcapng",
        "status.json",
        "status.txt",
        "versions.txt",
    ] {
        assert!(names.contains(&name) && said.contains(name), "{name}: {names:?}");
        assert!(
            text(&parts, "contents.txt").contains(name) || name == "contents.txt",
            "{name}"
        );
    }
    for (name, words) in [
        ("configuration.txt", "mqtt.username = (left out: a secret)"),
        ("configuration.txt", password.to_str().unwrap()),
        ("configuration.txt", "tai_sai.layout = \"appendix-1\""),
        ("status.txt", "TS-07"),
        ("devices.txt", "serial DT-1"),
        ("events.txt", "RESULT 1, 3, 6"),
        ("events.txt", "person-"),
        ("events.jsonl", "characters that a person wrote"),
        ("journal.txt", "harbour"),
        ("versions.txt", "daemon's configuration: "),
    ] {
        assert!(
            text(&parts, name).contains(words),
            "{words:?} is not in {name}: {}",
            text(&parts, name)
        );
    }
    let key = std::fs::read_to_string(&signing).unwrap();
    let key = key.lines().nth(1).unwrap();
    let mut secrets = vec![USERNAME, PASSWORD, IN_ENVIRONMENT, key];
    secrets.extend([LOCK_TEXT, PROCEDURE, NOTE, REASON, "Tuhoe", "Parata", "Ngata", "Aroha"]);
    if is_root {
        secrets.extend([ANA, BEN, "Wiremu"]);
    }
    for secret in &secrets {
        assert_absent(&parts, secret);
    }
    for name in ["events.txt", "events.jsonl", "status.txt"] {
        assert!(!text(&parts, name).contains("Xq"), "{}", text(&parts, name));
    }
    // The search does find what is there.
    let journal: String = scene.events().iter().map(|event| format!("{event:?}")).collect();
    for secret in [LOCK_TEXT, PROCEDURE, NOTE, REASON] {
        assert!(journal.contains(secret), "{secret} was recorded");
    }

    // Without the daemon, and with a configuration that is refused because secrets stand in it.
    scene.terminate().await;
    let wrong = written.replace(NO_BROKER, &format!("mqtts://user:{IN_URL}@broker.example:8883"));
    let wrong = wrong.replace(&password.display().to_string(), PASSWORD);
    let wrong = wrong.replace(&signing.display().to_string(), key);
    std::fs::write(scene.config(), wrong).unwrap();
    let said = bundle(&scene, "b.tar.gz", &["--yes", "--json"]).await.ok();
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    let missing = said["missing"].as_array().unwrap();
    assert!(
        missing.iter().any(|one| one["what"] == "status, devices, alerts"),
        "{said}"
    );
    let parts = unpacked(&scene, "b.tar.gz");
    assert!(
        text(&parts, "contents.txt").contains("missing: status"),
        "{}",
        text(&parts, "contents.txt")
    );
    for secret in secrets.iter().chain(&[IN_URL]) {
        assert_absent(&parts, secret);
    }
    std::fs::write(scene.config(), written).unwrap();
    bundle(&scene, "c.tar.gz", &["--yes"]).await.ok();
    let parts = unpacked(&scene, "c.tar.gz");
    assert!(
        text(&parts, "events.txt").contains("RESULT 1, 3, 6"),
        "the journal is read without the daemon"
    );
    for secret in &secrets {
        assert_absent(&parts, secret);
    }
}

/// A configuration that is refused is the one that somebody sends for advice: what is secret in it may stand anywhere.
#[tokio::test]
async fn a_refused_configuration_repeats_no_secret_wherever_it_stands() {
    const USER: &str = "MyBrokerUser77";
    const WORD: &str = "Sup3rSecretPW";
    const LONG: &str = "Sup3rLongSecretPW-0123456789-abcdefghijklmnopqrstuvwxyz-0123456789-ABCDEFGHIJ";
    let scene = Scene::new(NO_BROKER);
    let folder = scene.directory.path();
    std::fs::write(folder.join("word"), format!("{WORD}\n")).unwrap();
    std::fs::write(folder.join("long"), format!("{LONG}\n")).unwrap();
    let written = std::fs::read_to_string(scene.config()).unwrap();
    let brokers = format!("brokers = [\"{NO_BROKER}\"]");
    assert!(written.contains(&brokers), "{written}");
    let reasons = [
        ("an unknown key", "nonsense = 1\n"),
        ("no TOML", "nonsense = = 1\n"),
        ("a broken value", "allow_plaintext = \"@\"\n"),
    ];
    let places = [
        ("client_id = \"@\"\n", NO_BROKER.to_owned()),
        ("client_id = \"@ \\\"\"\n", NO_BROKER.to_owned()),
        ("@ = 1\n", NO_BROKER.to_owned()),
        ("ca = \"@\"\nprefix = \"@/#\"\n", NO_BROKER.to_owned()),
        ("", "mqtts://@.floor:8883".to_owned()),
        ("", "mqtt://@.floor:8883".to_owned()),
    ];
    let mut number = 0;
    for (secret, file) in [(USER, "word"), (WORD, "word"), (LONG, "long")] {
        for (why, reason) in &reasons {
            // One reason with every place, one place with the others.
            let most = if *why == "an unknown key" { places.len() } else { 1 };
            for (place, broker) in places.iter().take(most) {
                let section = format!(
                    "brokers = [\"{broker}\"]\nusername = \"{USER}\"\npassword_file = \"{}\"\n{reason}{place}",
                    folder.join(file).display()
                );
                let text = written.replace(&brokers, &section.replace('@', secret));
                std::fs::write(scene.config(), &text).unwrap();
                number += 1;
                let name = format!("{number}.tar.gz");
                let said = bundle(&scene, &name, &["--yes"]).await;
                assert_eq!(said.code, 0, "{}", said.err);
                let case = format!("{why}, {place:?} {broker}, {secret}");
                let mut parts = unpacked(&scene, &name);
                assert!(text_of(&parts).contains("# problem: "), "{case}: it is refused");
                parts.push((
                    "the screen".to_owned(),
                    format!("{}{}", said.out, said.err).into_bytes(),
                ));
                for one in [USER, WORD, "Sup3rLong"] {
                    assert_absent(&parts, one);
                }
            }
        }
    }
}

fn text_of(parts: &[(String, Vec<u8>)]) -> &str {
    text(parts, "configuration.txt")
}
