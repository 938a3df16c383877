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

use daemon_support::{Ended, SUPERVISOR, Scene, run};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use tablegate::table::event::{Body, GatewayStarted, SoftwarePart};

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
    scene.dealer.lamps.unplug().await;
    scene
        .until("the lamps are gone", |view| {
            view["links"]
                .as_array()
                .unwrap()
                .iter()
                .any(|link| link["state"] != "up")
        })
        .await;
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
    assert!(text.contains("lamps with serial number LL-2"), "{text}");
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
