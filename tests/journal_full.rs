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

mod journal_support;

use journal_support::*;
use std::path::Path;
use std::process::Command;
use tablegate::journal::{AppendError, BALLAST_BYTES, Ballast, verify};

struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(megabytes: u64) -> Self {
        let place = tempfile::tempdir().unwrap();
        let output = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "tmpfs"])
            .arg(place.path())
            .output()
            .expect("`mount` is installed");
        assert!(
            output.status.success(),
            "a small file system can't be mounted here: {}run this as root, or in a namespace of its own:\n  \
             unshare --user --map-root-user --mount cargo test --test journal_full -- --include-ignored",
            String::from_utf8_lossy(&output.stderr)
        );
        SmallDisk(place)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount").arg("-l").arg(self.path()).status().ok();
    }
}

#[test]
#[ignore = "mounts a small file system, which takes root: tests/all runs it"]
fn a_full_disk_costs_the_ballast_first_and_nothing_is_lost() {
    let disk = SmallDisk::mount(48);
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
    let disk = SmallDisk::mount(48);
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
