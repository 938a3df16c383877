//! Approved software through the real binary: what is approved by `tablegate approve`, what a difference does at the next start, and how
//! people end it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    missing_docs
)]

mod daemon_support;
mod uplink_support;

use daemon_support::{Ended, SUPERVISOR, Scene, run};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use tablegate::table::event::{ActorKind, Body, GatewayStarted, SoftwarePart};
use uplink_support::mosquitto::Mosquitto;

const NOBODY: &str = "mqtt://127.0.0.1:9";

fn file(scene: &Scene) -> PathBuf {
    scene.path("table.approved")
}

async fn approve(scene: &Scene, more: &[&str]) -> Ended {
    let config = scene.config();
    let mut args = vec!["approve", "--config", config.to_str().unwrap()];
    args.extend(more);
    run(&args).await
}

/// Approves without questions, as whoever runs this test may.
async fn approve_yes(scene: &Scene) -> Ended {
    if nix::unistd::Uid::current().is_root() {
        approve(scene, &["--yes", "--by", SUPERVISOR]).await
    } else {
        approve(scene, &["--yes"]).await
    }
}

/// Changes the file of approved digests as an editor would.
fn edit(scene: &Scene, change: impl FnOnce(String) -> String) {
    let before = std::fs::read_to_string(file(scene)).unwrap();
    let after = change(before.clone());
    assert_ne!(before, after);
    std::fs::write(file(scene), after).unwrap();
}

fn locks(view: &Value) -> Vec<String> {
    let lock = |lock: &Value| {
        format!(
            "{} {}",
            lock["kind"].as_str().unwrap(),
            lock["reason"].as_str().unwrap()
        )
    };
    view["situation"]["locks"]
        .as_array()
        .unwrap()
        .iter()
        .map(lock)
        .collect()
}

fn alert(view: &Value, name: &str) -> String {
    let alerts = view["situation"]["alerts"].as_array().unwrap();
    let found = alerts.iter().find(|alert| alert["alert"] == name);
    found.map_or_else(String::new, |alert| alert["text"].as_str().unwrap().to_owned())
}

/// Stops the daemon and starts it again; what is seen once its devices are there.
async fn again(scene: &mut Scene, environment: &[(&str, &str)]) -> Value {
    assert!(scene.terminate().await.success());
    scene.start_with(environment).await;
    scene.links_up().await;
    scene.until("the table", |_| true).await
}

async fn unplug_lamps(scene: &Scene) {
    scene.dealer.lamps.unplug().await;
    scene
        .until("the lamps are gone", |view| {
            let links = view["links"].as_array().unwrap();
            links.iter().any(|link| link["state"] != "up")
        })
        .await;
}

fn newest_start(scene: &Scene) -> GatewayStarted {
    let started = scene.events().into_iter().rev().find_map(|event| match event.body {
        Some(Body::GatewayStarted(started)) => Some(started),
        _ => None,
    });
    started.unwrap()
}

#[tokio::test]
async fn what_differs_from_what_was_approved_freezes_and_an_unknown_device_waits() {
    let mut scene = Scene::new(NOBODY);
    // Nothing is known of a table that doesn't run.
    approve_yes(&scene).await.refused(1, "no daemon runs here");
    scene.start().await;
    scene.links_up().await;
    let view = scene.until("the table", |_| true).await;
    assert_eq!(view["software"]["approval"], "not_enforced");
    assert!(!newest_start(&scene).approval_enforced);
    approve(&scene, &["--check"]).await.refused(1, "nothing is approved");
    approve(&scene, &["--by", SUPERVISOR]).await.refused(2, "--yes");
    assert!(!file(&scene).exists());

    // What can't be known isn't approved.
    unplug_lamps(&scene).await;
    approve_yes(&scene).await.refused(1, "not online: lamps");
    scene.dealer.lamps.replug().await;
    scene.links_up().await;
    assert!(!file(&scene).exists());

    let said = approve_yes(&scene).await.ok();
    assert!(
        said.contains("tumbler DT-1") && said.contains("Nothing is approved yet"),
        "{said}"
    );
    let mode = std::fs::metadata(file(&scene)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o644, "the daemon's user may read it");
    approve(&scene, &["--check"]).await.ok();
    // A running daemon read it when it started.
    let view = scene.until("the table", |_| true).await;
    assert_eq!(
        (view["software"]["approval"].as_str(), locks(&view)),
        (Some("not_enforced"), vec![])
    );

    let view = again(&mut scene, &[]).await;
    assert_eq!(locks(&view), [""; 0], "{view}");
    assert_eq!(view["software"]["approval"], "as_approved");
    let started = newest_start(&scene);
    assert!(started.approval_enforced && started.differs.is_empty());
    assert_eq!(started.approval_sha256.len(), 32);
    assert!(!started.approved_by.is_empty());

    // One key, by the environment.
    let changed = [("TABLEGATE__TAI_SAI__SETTLE_AFTER_MS", "600")];
    let view = again(&mut scene, &changed).await;
    assert_eq!(locks(&view), ["freeze digest"]);
    assert_eq!(
        alert(&view, "digest_differs"),
        "The configuration is not the approved one."
    );
    assert_eq!(view["software"]["differs"], serde_json::json!(["configuration"]));
    assert_eq!(newest_start(&scene).differs, [SoftwarePart::Configuration as i32]);
    let told = scene.command(&["status"]).await.ok();
    assert!(told.contains("NOT as approved") && told.contains("frozen"), "{told}");
    approve(&scene, &["--check"])
        .await
        .refused(1, "configuration: approved");
    scene
        .act(&["unlock", "--procedure", "the limit was tried out"])
        .await
        .ok();
    let view = scene.until("the lock ends", |view| locks(view).is_empty()).await;
    assert_eq!(view["software"]["approval"], "differs", "it still is what it is");
    let view = again(&mut scene, &changed).await;
    assert_eq!(locks(&view), ["freeze digest"], "judged anew at each start");

    // As if the program were another.
    let own = view["software"]["program_sha256"].as_str().unwrap().to_owned();
    edit(&scene, |text| text.replace(&own, &"ab".repeat(32)));
    let view = again(&mut scene, &[]).await;
    assert_eq!(alert(&view, "digest_differs"), "The program is not the approved one.");
    approve(&scene, &["--check"]).await.refused(1, "program: approved abab");
    let said = approve_yes(&scene).await.ok();
    assert!(said.contains("It differs from what"), "{said}");

    // Other lamps than those that were approved, and then other firmware in them.
    scene.dealer.lamps.renumber("LL-2").await;
    scene.dealer.lamps.reboot().await;
    let view = again(&mut scene, &[]).await;
    assert_eq!(locks(&view), ["hold_next device_not_approved"]);
    let text = alert(&view, "device_not_approved");
    assert!(text.contains("Device LL-2 (lamps) is not approved"), "{text}");
    approve(&scene, &["--check"])
        .await
        .refused(1, "not approved: lamps LL-2");
    scene.act(&["accept-device", "LL-2"]).await.ok();
    let view = again(&mut scene, &[]).await;
    assert_eq!(locks(&view), [""; 0], "accepted is accepted, also after a restart");
    scene.dealer.lamps.install("9.9").await;
    scene.dealer.lamps.reboot().await;
    let view = scene.until("the new firmware", |view| !locks(view).is_empty()).await;
    assert_eq!(locks(&view), ["hold_next device_not_approved"]);

    // What can't be read approves nothing.
    edit(&scene, |text| text[..text.len() / 2].to_owned());
    let view = again(&mut scene, &[]).await;
    assert_eq!(view["software"]["approval"], "unusable");
    assert_eq!(newest_start(&scene).differs, [SoftwarePart::Approval as i32]);
    let mut found = locks(&view);
    found.sort();
    assert_eq!(found, ["freeze digest", "hold_next device_not_approved"]);
    approve(&scene, &["--check"]).await.refused(1, "can't be used");
    let checked = run(&["config", "check", scene.config().to_str().unwrap()]).await.ok();
    assert!(
        checked.contains("warning") && checked.contains("table.approved"),
        "{checked}"
    );
    let said = approve_yes(&scene).await.ok();
    assert!(said.contains("can't be used, and is replaced"), "{said}");
    let view = again(&mut scene, &[]).await;
    assert_eq!(view["software"]["approval"], "as_approved");
    assert_eq!(
        locks(&view),
        ["hold_next device_not_approved"],
        "a person still has to look"
    );
    scene.act(&["unlock", "--procedure", "approved"]).await.ok();

    // The event lines say it, too.
    let told = scene
        .command(&["events", "list", "--kind", "gateway_started"])
        .await
        .ok();
    for words in [
        "approval not enforced",
        "as approved by",
        "NOT as approved: configuration",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(scene.terminate().await.success());
}

fn sha256(seed: &[u8], rest: &[u8]) -> String {
    let digest = Sha256::new().chain_update(seed).chain_update(rest).finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What was recorded of digests: who asked, and of which seed.
fn recorded(scene: &Scene) -> Vec<(ActorKind, Vec<u8>)> {
    let verified = scene.events().into_iter().filter_map(|event| {
        let kind = event.actor.as_ref().map(|actor| actor.kind());
        match event.body {
            Some(Body::SoftwareVerified(verified)) => Some((kind.unwrap(), verified.seed)),
            _ => None,
        }
    });
    verified.collect()
}

#[tokio::test]
async fn an_inspector_at_the_table_has_everything_digested_and_compares_it() {
    let mut scene = Scene::new(NOBODY);
    scene.start().await;
    scene.links_up().await;
    let program = env!("CARGO_BIN_EXE_tablegate");
    let config = scene.config();
    let image = scene.path("sim.bin");
    // The simulated devices' image is their version.
    std::fs::write(&image, "sim-1.0").unwrap();
    let tumbler = format!("tumbler={}", image.display());
    let args = [
        "verify-software",
        "--seed",
        "00ff",
        "--json",
        "--expect-program",
        program,
        "--expect-config",
        config.to_str().unwrap(),
        "--expect-firmware",
        &tumbler,
    ];
    let told = scene.act(&args).await.ok();
    let told: Value = serde_json::from_str(&told).unwrap();
    let seed = [0x00, 0xff];
    assert_eq!(told["program_sha256"], sha256(&seed, &std::fs::read(program).unwrap()));
    let shown = |form: &'static str| {
        let config = config.clone();
        async move { run(&["config", "show", config.to_str().unwrap(), form]).await.ok() }
    };
    assert_eq!(
        told["config_sha256"],
        sha256(&seed, shown("--canonical").await.as_bytes())
    );
    let rules = shown("--rules").await;
    assert!(rules.contains("tai-sai") && rules.contains("any_triple"), "{rules}");
    assert_eq!(told["rules_sha256"], sha256(&seed, rules.as_bytes()));
    let devices = told["devices"].as_array().unwrap();
    assert_eq!(devices.len(), 3, "{told}");
    for device in devices {
        assert_eq!(device["outcome"], "answered");
        assert_eq!(device["sha256"], sha256(&seed, b"sim-1.0"));
    }
    let expected = told["expected"].as_object().unwrap();
    assert_eq!(expected.len(), 4);
    assert!(expected.values().all(|finding| finding == "as_expected"), "{told}");
    assert_eq!(recorded(&scene), [(ActorKind::Technician, seed.to_vec())]);
    let line = scene
        .command(&["events", "list", "--kind", "software_verified"])
        .await
        .ok();
    assert!(line.contains("seed 00ff"), "{line}");

    // Once a minute, whoever asks.
    scene.act(&["verify-software"]).await.refused(1, "once a minute");
    scene
        .act(&["verify-software", "--seed", "0"])
        .await
        .refused(2, "hexadecimal");
    let long = "ab".repeat(65);
    scene
        .act(&["verify-software", "--seed", &long])
        .await
        .refused(2, "1 to 64 bytes");
    if nix::unistd::Uid::current().is_root() {
        scene.command(&["verify-software"]).await.refused(2, "--by");
    }

    // Something else than what was expected, and a device that is away.
    again(&mut scene, &[]).await;
    unplug_lamps(&scene).await;
    let other = image.to_str().unwrap();
    let ended = scene.act(&["verify-software", "--expect-program", other]).await;
    assert!(
        ended.out.contains("NOT as expected") && ended.out.contains("not online"),
        "{ended:?}"
    );
    ended.refused(1, "program is not what was expected; no digest of layout lamps LL-1");
    assert_eq!(recorded(&scene).len(), 2);
    assert!(scene.terminate().await.success());
}

#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn the_floor_has_everything_digested_by_a_request() {
    let broker = Mosquitto::start("max_queued_messages 1000000");
    let mut scene = Scene::new(&broker.url());
    scene.start().await;
    scene.links_up().await;
    scene
        .until("the floor", |view| view["uplink"]["state"] == "online")
        .await;
    let url = broker.url();
    let config = scene.config();
    let program = env!("CARGO_BIN_EXE_tablegate");
    let floor = [
        "floor", "verify", "--broker", &url, "--site", "harbour", "--table", "TS-07",
    ];
    let mut args = floor.to_vec();
    let expect = ["--expect-program", program, "--expect-config", config.to_str().unwrap()];
    args.extend(["--seed", "0102"].into_iter().chain(expect));
    let told = run(&args).await.ok();
    assert_eq!(told.matches("  as expected").count(), 3, "{told}");
    assert!(told.contains("tumbler DT-1"), "{told}");
    assert_eq!(
        recorded(&scene),
        [(ActorKind::Floor, vec![1, 2])],
        "recorded before it was answered"
    );
    run(&floor).await.refused(1, "once a minute");
    let mut args = floor.to_vec();
    let long = "ab".repeat(65);
    args.extend(["--seed", &long]);
    run(&args).await.refused(1, "1 to 64 bytes");
    assert!(scene.terminate().await.success());
}

#[tokio::test]
async fn a_round_of_another_layout_waits_until_that_is_restored() {
    let mut scene = Scene::new(NOBODY);
    scene.start().await;
    scene.open().await;
    scene.dealer.tumble([1, 3, 6]).await.unwrap();
    scene.dealer.wait_for_bets().await.unwrap();
    let betting = scene.until("betting", |view| view["phase"] == "betting").await;
    let other = [("TABLEGATE__TAI_SAI__LAYOUT", "appendix-2")];
    let view = again(&mut scene, &other).await;
    assert_eq!(locks(&view), ["freeze configuration"]);
    assert!(!alert(&view, "configuration_differs").is_empty());
    assert_eq!(view["round_id"], betting["round_id"]);
    scene.act(&["round", "resume"]).await.refused(1, "configuration");
    let view = again(&mut scene, &[]).await;
    assert_eq!(locks(&view), [""; 0]);
    assert_eq!(
        (&view["phase"], &view["round_id"]),
        (&betting["phase"], &betting["round_id"])
    );
    assert!(scene.terminate().await.success());
}
