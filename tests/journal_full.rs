//! A full disk, a real one: a small file system in memory. Mounting one takes rights that not everybody has, so plain
//! `cargo test` lists these as ignored; `tests/all` runs them, and without the right to mount they fail and say what to do.
//! The store's own test covers the database's side everywhere.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test may panic"
)]

mod daemon_support;
mod journal_support;
mod uplink_support;

use daemon_support::{PATIENCE, SUPERVISOR, Scene};
use journal_support::*;
use std::path::{Path, PathBuf};
use std::process::Command;
use tablegate::control::client::Client;
use tablegate::control::{Act, Answer};
use tablegate::journal::{AppendError, BALLAST_BYTES, Ballast, verify};
use tablegate::table::event::Body;
use tokio::time::Instant;
use uplink_support::mosquitto::Mosquitto;

/// A file system of its own, until dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// In memory.
    fn mount(place: &Path, megabytes: u64) -> Self {
        std::fs::create_dir_all(place).unwrap();
        let size = format!("size={megabytes}m");
        mount(&["-t", "tmpfs", "-o", &size, "tmpfs"], place);
        SmallDisk(place.to_owned())
    }

    /// In a file, read-only at its first error, as disks of servers are.
    fn mount_image(image: &Path, place: &Path) -> Self {
        std::fs::create_dir_all(place).unwrap();
        let image = image.to_str().unwrap();
        mount(&["-t", "ext4", "-o", "loop,errors=remount-ro", image], place);
        SmallDisk(place.to_owned())
    }

    fn path(&self) -> &Path {
        &self.0
    }

    /// The block device that it lies on.
    fn device(&self) -> String {
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        let of_this = |line: &&str| line.split(' ').nth(1) == self.0.to_str();
        let line = mounts.lines().rfind(of_this).expect("it is mounted");
        line.split(' ').next().unwrap().trim_start_matches("/dev/").to_owned()
    }

    /// Nothing more may be written.
    fn remount(&self, how: &str) {
        mount(&["-o", &format!("remount,{how}")], &self.0);
    }

    /// Fills it up to the last block.
    fn fill(&self) {
        use std::io::Write;
        let filler = std::fs::File::options()
            .append(true)
            .create(true)
            .open(self.0.join("filler"))
            .unwrap();
        while (&filler).write_all(&[1; 4096]).is_ok() {}
    }

    fn make_room(&self) {
        std::fs::remove_file(self.0.join("filler")).unwrap();
    }
}

fn mount(arguments: &[&str], place: &Path) {
    let output = Command::new("mount")
        .args(arguments)
        .arg(place)
        .output()
        .expect("`mount` is installed");
    assert!(
        output.status.success(),
        "a small file system can't be mounted here: {}run this as root, or in a namespace of its own:\n  \
         unshare --user --map-root-user --mount cargo test --test journal_full -- --include-ignored",
        String::from_utf8_lossy(&output.stderr)
    );
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount").arg("-l").arg(&self.0).status().ok();
    }
}

#[test]
#[ignore = "mounts a small file system, which takes root: tests/all runs it"]
fn a_full_disk_costs_the_ballast_first_and_nothing_is_lost() {
    let place = tempfile::tempdir().unwrap();
    let disk = SmallDisk::mount(place.path(), 48);
    run(async {
        let opened = open(disk.path());
        let journal = &opened.journal;
        assert_eq!(journal.room().ballast, Ballast::Whole);
        let mut scribe = Scribe::after(&opened);
        fill(journal, &mut scribe, 100).await;

        let filler = disk.path().join("filler");
        let fill_up = |spare: u64| {
            let file = std::fs::File::options()
                .append(true)
                .create(true)
                .open(&filler)
                .unwrap();
            let mut left = journal.room().free_bytes.saturating_sub(spare);
            while left > 0 {
                let piece = left.min(64 * 1024);
                use std::io::Write;
                if (&file).write_all(&vec![1; usize::try_from(piece).unwrap()]).is_err() {
                    return;
                }
                left -= piece;
            }
        };
        fill_up(0);
        // The WAL was grown beforehand: these overwrite. Then it needs room, and the ballast gives it.
        let mut appended = 0;
        while journal.room().ballast == Ballast::Whole {
            fill(journal, &mut scribe, 10).await;
            appended += 10;
            assert!(appended < 20_000, "the ballast is never needed");
        }
        fill(journal, &mut scribe, 50).await;
        assert!(journal.room().free_bytes <= BALLAST_BYTES);

        fill_up(0);
        let (seqno, sha256) = loop {
            let before = (scribe.seqno, scribe.sha256.clone());
            match journal.append(scribe.some(10)).await {
                Ok(()) => {}
                Err(AppendError::Full { .. }) => break before,
                Err(error) => panic!("{error}: {error:?}"),
            }
        };
        assert_eq!(
            read_all(journal.path()).len() as u64,
            seqno,
            "nothing lost, nothing half written"
        );
        assert_eq!(verify(journal.path(), |_| {}).unwrap().bad, None);

        std::fs::remove_file(&filler).unwrap();
        (scribe.seqno, scribe.sha256) = (seqno, sha256);
        fill(journal, &mut scribe, 10).await;
        journal.tidy();
        until("the ballast is laid again", || journal.room().ballast == Ballast::Whole);
        assert_eq!(verify(journal.path(), |_| {}).unwrap().proven, seqno + 10);
    });
}

#[test]
#[ignore = "mounts a small file system, which takes root: tests/all runs it"]
fn a_journal_opens_on_a_full_disk_by_its_ballast() {
    let place = tempfile::tempdir().unwrap();
    let disk = SmallDisk::mount(place.path(), 48);
    run(async {
        let opened = open(disk.path());
        let mut scribe = Scribe::after(&opened);
        fill(&opened.journal, &mut scribe, 30).await;
        opened.journal.close();
        let filler = std::fs::File::create(disk.path().join("filler")).unwrap();
        use std::io::Write;
        while (&filler).write_all(&[1; 4096]).is_ok() {}
        let opened = open(disk.path());
        assert!(opened.fresh.is_none());
        assert_eq!(
            (opened.head.seqno, opened.journal.room().ballast),
            (30, Ballast::GivenUp)
        );
        fill(&opened.journal, &mut scribe, 10).await;
        assert_eq!(opened.tail.count(), 30);
    });
}

/// Acts that are recorded, one after the other, until one is refused; why.
async fn record_until_refused(scene: &Scene, most: u32) -> String {
    let by = nix::unistd::Uid::current().is_root().then_some(SUPERVISOR);
    let mut client = Client::connect(&scene.path("t.supervisor.sock")).await.unwrap();
    for _ in 0..most {
        for act in [
            Act::Lock {
                reason: "something to record".repeat(10),
            },
            Act::Unlock {
                procedure: "recorded".repeat(20),
            },
        ] {
            match client.act(act, by).await.unwrap() {
                Answer::Done { .. } => {}
                refused @ (Answer::View(_)
                | Answer::Lines(_)
                | Answer::Offers(_)
                | Answer::Preview(_)
                | Answer::Verified { .. }
                | Answer::Refused { .. }
                | Answer::Failed { .. }
                | Answer::WrongUse { .. }) => {
                    return format!("{refused:?}");
                }
            }
        }
    }
    panic!("{most} acts were recorded, and the disk is full")
}

/// Every alert that stands.
fn alerts(view: &serde_json::Value) -> String {
    view["alerts"].to_string()
}

#[tokio::test]
#[ignore = "mounts a small file system, which takes root: tests/all runs it"]
async fn a_disk_that_fills_in_a_round_lets_it_end_and_holds_the_next_until_there_is_room() {
    let broker = Mosquitto::start("max_queued_messages 100000");
    let mut scene = Scene::new(&broker.url());
    let disk = SmallDisk::mount(&scene.path("journal"), 64);
    scene.start().await;
    scene.open().await;
    let dealer = scene.dealer.clone();
    dealer.tumble([1, 3, 6]).await.unwrap();
    dealer.wait_for_bets().await.unwrap();
    disk.fill();
    let view = scene.until("the alert", |view| alerts(view).contains("disk_low")).await;
    assert_eq!(view["locks"][0]["reason"], "disk", "{view:#}");
    assert_eq!(view["locks"][0]["kind"], "hold_next", "{view:#}");
    assert!(alerts(&view).contains("disk_filling"), "no clock: {view:#}");

    // The round ends, and the next one doesn't begin: the dealer reads why.
    dealer.no_more_bets().await.unwrap();
    dealer.uncover().await;
    let entered = Instant::now();
    dealer.enter(&[1, 3, 6]).await.unwrap();
    assert!(!dealer.see_lamps().await.unwrap().is_empty());
    dealer.settle(entered).await.unwrap();
    let terminal = &dealer.terminal;
    let shows_e90 = |view: &tablegate::sim::TerminalView| view.readout == "E90";
    terminal.wait("E90", shows_e90, PATIENCE).await.unwrap();
    dealer.tumble([2, 2, 4]).await.unwrap();
    let view = scene.until("dice at rest", |view| view["phase"] == "tumbling").await;
    assert_eq!(view["mode"], "open");
    assert!(!dealer.tumbler.view().inhibited, "bets don't open");

    // Play or no play, people record things. The last reserve goes, then nothing can be recorded any more.
    let head = scene.events().len();
    let mut recording = Box::pin(record_until_refused(&scene, 3000));
    let refused = loop {
        let has_reserve = disk.path().join("ballast").exists();
        if let Ok(refused) = tokio::time::timeout(std::time::Duration::from_secs(2), &mut recording).await {
            break refused;
        }
        if has_reserve && !disk.path().join("ballast").exists() {
            disk.fill();
        }
    };
    drop(recording);
    assert!(refused.contains("the disk is full"), "{refused}");
    let view = scene.until("the fault", |view| view["mode"] == "journal_failed").await;
    assert!(view["fault"].as_str().unwrap().contains("the disk is full"), "{view:#}");
    terminal.wait("E90", shows_e90, PATIENCE).await.unwrap();
    assert!(dealer.tumbler.view().inhibited, "nobody may spin");
    scene
        .act(&["lock", "--reason", "x"])
        .await
        .refused(1, "the disk is full");
    let report = verify(&scene.journal(), |_| {}).unwrap();
    assert_eq!(report.bad, None, "nothing half written");
    let stood = report.head.seqno;
    assert!(stood >= head as u64);

    // Room: it goes on by itself, a supervisor looks, and the round that was spun is played.
    disk.make_room();
    scene
        .until("recording again", |view| {
            view["fault"].is_null() && view["mode"] == "open"
        })
        .await;
    let failed = &scene.events()[usize::try_from(stood).unwrap()];
    assert!(matches!(failed.body, Some(Body::JournalFailed(_))), "{failed:?}");
    scene
        .act(&["unlock", "--procedure", "the disk was looked at"])
        .await
        .ok();
    scene
        .until("no lock", |view| view["locks"].as_array().is_some_and(Vec::is_empty))
        .await;
    scene
        .until("no disk alert", |view| !alerts(view).contains("disk_"))
        .await;
    scene.act(&["round", "resume"]).await;
    dealer.play([4, 5, 6]).await.unwrap();
    until("the ballast is laid again", || disk.path().join("ballast").exists());
    scene
        .until("everything delivered", |view| view["uplink"]["backlog"] == 0)
        .await;
    assert!(scene.terminate().await.success());
    assert_eq!(verify(&scene.journal(), |_| {}).unwrap().bad, None);
}

/// A disk that can only be read when the daemon comes up, and one that fails while it runs.
#[tokio::test]
#[ignore = "mounts a small file system, which takes root: tests/all runs it"]
async fn a_read_only_disk_is_said_and_costs_nothing_that_was_recorded() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    let image = scene.path("image");
    std::fs::File::create(&image)
        .unwrap()
        .set_len(64 * 1024 * 1024)
        .unwrap();
    let make = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).arg(&image).output();
        output.unwrap_or_else(|error| panic!("{program}: {error}")).status
    };
    assert!(make("mkfs.ext4", &["-q", "-E", "nodiscard"]).success());
    let disk = SmallDisk::mount_image(&image, &scene.path("journal"));
    disk.remount("ro");
    scene.start().await;
    let view = scene.until("the fault", |view| view["fault"].is_string()).await;
    let fault = view["fault"].as_str().unwrap();
    assert!(fault.contains("Read-only file system"), "{fault}");
    let terminal = &scene.dealer.terminal;
    let shows_e90 = |view: &tablegate::sim::TerminalView| view.readout == "E90";
    terminal.wait("E90", shows_e90, PATIENCE).await.unwrap();
    disk.remount("rw");
    scene
        .until("a closed table", |view| {
            view["mode"] == "closed" && view["fault"].is_null()
        })
        .await;
    scene.open().await;
    let dealer = scene.dealer.clone();
    dealer.play([1, 2, 3]).await.unwrap();
    dealer.to_the_dice([4, 4, 1]).await.unwrap();
    dealer.enter(&[1, 4, 4]).await.unwrap();
    let lit = dealer.see_lamps().await.unwrap();

    // The system finds an error on the disk and stops all writing to it.
    std::fs::write(format!("/sys/fs/ext4/{}/trigger_fs_error", disk.device()), "1").unwrap();
    scene
        .act(&["lock", "--reason", "x"])
        .await
        .refused(1, "can't be written");
    let view = scene.until("the fault", |view| view["mode"] == "journal_failed").await;
    assert!(view["fault"].as_str().unwrap().contains("can't be written"), "{view:#}");
    terminal.wait("E90", shows_e90, PATIENCE).await.unwrap();
    assert_eq!(
        dealer
            .lamps
            .view()
            .lit
            .iter()
            .copied()
            .collect::<std::collections::BTreeSet<_>>(),
        lit,
        "lamps stay as they are"
    );
    let head = verify(&scene.journal(), |_| {}).unwrap().head;
    assert!(scene.terminate().await.success(), "a stop is clean all the same");
    drop(disk);
    // 1: errors were corrected.
    assert!(make("e2fsck", &["-p"]).code().is_some_and(|code| code <= 1));
    let disk = SmallDisk::mount_image(&image, &scene.path("journal"));
    scene.start().await;
    scene.links_up().await;
    let again = verify(&scene.journal(), |_| {}).unwrap();
    assert_eq!(again.bad, None);
    assert_eq!(
        (again.journal_id.as_str(), again.head.seqno > head.seqno),
        (head.journal_id.as_str(), true)
    );
    dealer.settle(Instant::now()).await.unwrap();
    dealer.play([6, 6, 6]).await.unwrap();
    assert!(scene.terminate().await.success());
    drop(disk);
}
