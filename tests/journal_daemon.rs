//! What happens to a running table when its journal's disk fails, its files are taken away, or an old copy is put back: the real daemon,
//! real limits, a real broker.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::wildcard_enum_match_arm,
    reason = "a test may panic"
)]

mod daemon_support;
mod uplink_support;

use daemon_support::{PATIENCE, Scene, events};
use std::path::Path;
use std::process::Command;
use tablegate::journal::verify;
use tablegate::sim::TerminalView;
use tablegate::table::event::{Body, Event, JournalStartedReason};
use tokio::time::Instant;
use uplink_support::mosquitto::Mosquitto;

fn shows_e90(view: &TerminalView) -> bool {
    view.readout == "E90"
}

/// The size that files of a running process may have; beyond it the system refuses to write.
fn limit_files(pid: u32, bytes: &str) {
    let status = Command::new("prlimit")
        .args(["--pid", &pid.to_string(), &format!("--fsize={bytes}:unlimited")])
        .status()
        .expect("`prlimit` is installed (util-linux)");
    assert!(status.success());
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    let status = Command::new("cp")
        .arg("-a")
        .arg(from.join("."))
        .arg(to)
        .status()
        .unwrap();
    assert!(status.success());
}

/// A write that the system refuses, in the middle of a round.
#[tokio::test]
async fn a_disk_that_refuses_to_write_stops_the_table_and_is_over_by_itself() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    scene.start().await;
    scene.open().await;
    let dealer = scene.dealer.clone();
    dealer.to_the_dice([2, 3, 3]).await.unwrap();
    let before = scene.events().len();
    limit_files(scene.pid(), "4096");
    dealer.enter(&[2, 3, 3]).await.ok();
    let view = scene.until("the fault", |view| view["mode"] == "journal_failed").await;
    let fault = view["fault"].as_str().unwrap();
    assert!(fault.contains("disk I/O error"), "{fault}");
    dealer.terminal.wait("E90", shows_e90, PATIENCE).await.unwrap();
    assert!(dealer.lamps.view().lit.is_empty(), "what is not recorded is not shown");
    assert_eq!(scene.events().len(), before);
    assert_eq!(verify(&scene.journal(), |_| {}).unwrap().bad, None);

    limit_files(scene.pid(), "unlimited");
    scene
        .until("recording again", |view| {
            view["mode"] == "open" && view["fault"].is_null()
        })
        .await;
    assert!(matches!(scene.events()[before].body, Some(Body::JournalFailed(_))));
    scene
        .act(&["unlock", "--procedure", "the disk was looked at"])
        .await
        .ok();
    scene.act(&["round", "resume"]).await;
    let entered = Instant::now();
    dealer.enter(&[2, 3, 3]).await.unwrap();
    assert!(!dealer.see_lamps().await.unwrap().is_empty());
    dealer.settle(entered).await.unwrap();
    assert!(scene.terminate().await.success());
    assert_eq!(verify(&scene.journal(), |_| {}).unwrap().bad, None);
}

/// The WAL's name is taken from under a running daemon: it stands still, and the next start finds everything.
#[tokio::test]
async fn a_wal_that_is_deleted_while_the_daemon_runs_costs_nothing() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    scene.start().await;
    scene.open().await;
    let dealer = scene.dealer.clone();
    dealer.play([1, 1, 5]).await.unwrap();
    dealer.to_the_dice([4, 4, 1]).await.unwrap();
    dealer.enter(&[1, 4, 4]).await.unwrap();
    dealer.see_lamps().await.unwrap();
    let before = scene.events();
    std::fs::remove_file(scene.path("journal/journal.sqlite3-wal")).unwrap();
    scene
        .act(&["lock", "--reason", "x"])
        .await
        .refused(1, "put it back, or start the daemon again");
    scene.until("the fault", |view| view["mode"] == "journal_failed").await;
    dealer.terminal.wait("E90", shows_e90, PATIENCE).await.unwrap();
    scene.kill().await;
    scene.start().await;
    scene.links_up().await;
    let after = scene.events();
    assert_eq!(after[..before.len()], before[..], "nothing is lost");
    assert_eq!(
        after[0].journal_id,
        after[before.len()].journal_id,
        "nothing was moved aside"
    );
    dealer.settle(Instant::now()).await.unwrap();
    assert!(scene.terminate().await.success());
    assert_eq!(verify(&scene.journal(), |_| {}).unwrap().bad, None);
}

/// Damaged while nobody ran: moved aside with its date, a new journal, the table locked, everybody told; and what the old one still holds
/// is delivered.
#[tokio::test]
async fn a_damaged_journal_is_moved_aside_and_everybody_is_told() {
    let broker = Mosquitto::start("max_queued_messages 100000");
    // Nothing is delivered before the damage.
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    scene.start().await;
    scene.open().await;
    let dealer = scene.dealer.clone();
    dealer.play([1, 1, 5]).await.unwrap();
    assert!(scene.terminate().await.success());
    let before = scene.events();
    let connection = rusqlite::Connection::open(scene.journal()).unwrap();
    let gone = before.len() - 3;
    connection
        .execute_batch(&format!("DELETE FROM events WHERE seqno = {gone}"))
        .unwrap();
    connection.close().unwrap();

    scene.configure("TS-07", &broker.url());
    scene.start().await;
    let view = scene
        .until("the lock", |view| view["locks"].to_string().contains("journal"))
        .await;
    assert!(view["alerts"].to_string().contains("journal_moved_aside"), "{view:#}");
    let after = scene.events();
    let Some(Body::JournalStarted(started)) = &after[0].body else {
        panic!("{:?}", after[0])
    };
    assert_eq!(started.reason(), JournalStartedReason::MovedAside);
    let predecessor = started.predecessor.as_ref().unwrap();
    assert_eq!(
        (predecessor.journal_id.as_str(), predecessor.last_seqno),
        (before[0].journal_id.as_str(), before.len() as u64)
    );
    assert_ne!(after[0].journal_id, before[0].journal_id);
    let kept = scene.path("journal").join(&predecessor.moved_to);
    assert!(kept.is_file());
    let says_where = |event: &Event| match &event.body {
        Some(Body::AlertRaised(raised)) => raised.text.contains(&predecessor.moved_to),
        _ => false,
    };
    assert!(after.iter().any(says_where), "the alert says where it is kept");
    scene
        .until("everything delivered", |view| view["uplink"]["backlog"] == 0)
        .await;
    let told = scene.command(&["journal", "info"]).await.ok();
    assert!(told.contains("before it"), "{told}");
    assert!(scene.terminate().await.success());
    // A start later it is the same journal, and the lock stands.
    scene.start().await;
    let again = scene
        .until("the lock", |view| view["locks"].to_string().contains("journal"))
        .await;
    assert_eq!(again["journal"]["journal_id"], after[0].journal_id, "{again:#}");
    scene
        .act(&["unlock", "--procedure", "compared with the floor's copy"])
        .await
        .ok();
    assert!(scene.terminate().await.success());
    assert_eq!(verify(&scene.journal(), |_| {}).unwrap().bad, None);
}

/// The whole folder as it was, put back: harmless while the floor has no more than it; else the floor's word begins a new journal.
#[tokio::test]
async fn an_old_copy_put_back_is_noticed_by_what_the_floor_has() {
    let broker = Mosquitto::start("max_queued_messages 100000");
    let mut scene = Scene::new(&broker.url());
    scene.start().await;
    scene.open().await;
    let dealer = scene.dealer.clone();
    dealer.play([1, 1, 5]).await.unwrap();
    scene
        .until("everything delivered", |view| view["uplink"]["backlog"] == 0)
        .await;
    assert!(scene.terminate().await.success());
    let (journal, kept) = (scene.path("journal"), scene.path("kept"));
    copy(&journal, &kept);
    let put_back = || {
        std::fs::remove_dir_all(&journal).unwrap();
        copy(&kept, &journal);
    };
    let before = events(&scene.journal());

    // A run that the floor never heard of.
    scene.configure("TS-07", "mqtt://127.0.0.1:9");
    scene.start().await;
    scene.links_up().await;
    assert!(scene.terminate().await.success());
    put_back();
    scene.configure("TS-07", &broker.url());
    scene.start().await;
    scene.links_up().await;
    let view = scene
        .until("everything delivered", |view| view["uplink"]["backlog"] == 0)
        .await;
    assert_eq!(view["locks"].as_array().unwrap().len(), 0, "{view:#}");
    assert_eq!(scene.events()[0].journal_id, before[0].journal_id);
    dealer.play([2, 5, 6]).await.unwrap();
    scene
        .until("everything delivered", |view| view["uplink"]["backlog"] == 0)
        .await;
    assert!(scene.terminate().await.success());

    // Now the floor has more than the copy.
    put_back();
    scene.start().await;
    let view = scene
        .until("the alert", |view| {
            view["alerts"].to_string().contains("journal_rolled_back")
        })
        .await;
    assert!(view["locks"].to_string().contains("journal"), "{view:#}");
    let after = scene.events();
    let Some(Body::JournalStarted(started)) = &after[0].body else {
        panic!("{:?}", after[0])
    };
    assert_eq!(started.reason(), JournalStartedReason::RolledBack);
    assert_eq!(started.predecessor.as_ref().unwrap().journal_id, before[0].journal_id);
    let report = verify(&scene.journal(), |_| {}).unwrap();
    assert_eq!((report.bad, report.elders.len()), (None, 1));
    scene
        .act(&["unlock", "--procedure", "compared with the floor's copy"])
        .await
        .ok();
    scene
        .until("everything delivered", |view| view["uplink"]["backlog"] == 0)
        .await;
    assert!(scene.terminate().await.success());
}
