//! Damage: a journal is gone on with, or moved aside and said so; never quietly empty, never quietly shorter.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    reason = "a test may panic"
)]

mod journal_support;

use journal_support::original::*;
use journal_support::*;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use std::path::{Path, PathBuf};
use std::process::Command;
use tablegate::journal::{OpenError, Options, ReadError, Reader, file_in};
use tablegate::table::event::JournalStartedReason;

fn flip(file: &Path, at: u64) {
    use std::os::unix::fs::FileExt;
    let file = std::fs::File::options().read(true).write(true).open(file).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 0x41], at).unwrap();
}

fn flipped(original: &Original, from: &Path, name: &str, at: u64) -> bool {
    let directory = scratch();
    copy(from, directory.path());
    flip(&directory.path().join(name), at);
    keeps_its_promise(directory.path(), original, &format!("{name} byte {at}"))
}

#[test]
fn a_flipped_byte_anywhere_in_a_closed_journal_is_found_or_harmless() {
    let original = original();
    let length = std::fs::metadata(file_in(original.closed.path())).unwrap().len();
    let seed = std::env::var("TABLEGATE_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(rand::random);
    println!("TABLEGATE_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let moved = (0..200)
        .map(|_| random.random_range(0..length))
        .chain((0..100).filter(|at| !(60..64).contains(at)))
        .filter(|at| flipped(&original, original.closed.path(), "journal.sqlite3", *at))
        .count();
    println!("moved aside: {moved}");
    assert!(moved > 50, "only {moved} of 300 were noticed");
}

#[test]
fn a_flipped_byte_in_the_wal_of_a_killed_daemon_is_found_or_harmless() {
    let original = original();
    let used = (EVENTS as u64 / 2 / 10 + 12) * 4120;
    let seed = std::env::var("TABLEGATE_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(rand::random);
    println!("TABLEGATE_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let moved = (0..32)
        .chain((0..150).map(|_| random.random_range(32..used)))
        .filter(|at| flipped(&original, original.running.path(), "journal.sqlite3-wal", *at))
        .count();
    println!("moved aside: {moved}");
    assert!(moved > 50, "only {moved} of 182 were noticed");
}

/// A power cut may take the note's newest contents with it, and the end of a WAL that was not synced yet: what is left is whole.
#[test]
fn a_wal_that_ends_anywhere_gives_a_shorter_journal_without_gaps() {
    let original = original();
    let mut heads = std::collections::BTreeSet::new();
    for pages in 1..12 {
        let directory = scratch();
        copy(original.running.path(), directory.path());
        std::fs::remove_file(directory.path().join("journal.head")).unwrap();
        let wal = std::fs::File::options()
            .write(true)
            .open(directory.path().join("journal.sqlite3-wal"))
            .unwrap();
        wal.set_len(32 + pages * 4120 + 1111).unwrap();
        let opened = open(directory.path());
        assert!(opened.fresh.is_none());
        let head = opened.head.seqno;
        assert_eq!(read_all(opened.journal.path()), original.records[..head as usize]);
        heads.insert(head);
    }
    assert!(heads.len() > 3, "{heads:?}");
}

#[test]
fn what_is_no_journal_at_all_is_moved_aside() {
    let original = original();
    let length = std::fs::metadata(file_in(original.closed.path())).unwrap().len();
    let nuls = vec![0; usize::try_from(length).unwrap()];
    for (what, contents) in [
        ("empty", &b""[..]),
        ("NUL", &nuls),
        ("text", b"not a database, but long enough to be looked at"),
    ] {
        let directory = scratch();
        copy(original.closed.path(), directory.path());
        std::fs::write(file_in(directory.path()), contents).unwrap();
        let opened = open(directory.path());
        let fresh = opened.fresh.unwrap();
        assert_eq!(fresh.reason, JournalStartedReason::MovedAside, "{what}");
        assert!(fresh.carried.is_none(), "{what}");
        let predecessor = fresh.predecessor.unwrap();
        assert_eq!(
            (predecessor.last_seqno, predecessor.journal_id),
            (EVENTS as u64, original.journal_id.clone()),
            "{what}"
        );
        assert_eq!(
            std::fs::read(directory.path().join(predecessor.moved_to)).unwrap(),
            contents,
            "{what}"
        );
        assert!(opened.undelivered.is_empty(), "{what}");
    }
}

#[test]
fn a_truncated_journal_and_a_missing_one_are_said() {
    let original = original();
    let directory = scratch();
    copy(original.closed.path(), directory.path());
    let file = std::fs::File::options()
        .write(true)
        .open(file_in(directory.path()))
        .unwrap();
    file.set_len(file.metadata().unwrap().len() / 2).unwrap();
    assert!(keeps_its_promise(directory.path(), &original, "truncated"));

    let directory = scratch();
    copy(original.closed.path(), directory.path());
    std::fs::remove_file(file_in(directory.path())).unwrap();
    let fresh = open(directory.path()).fresh.unwrap();
    assert_eq!(fresh.reason, JournalStartedReason::MovedAside);
    assert_eq!(fresh.predecessor.unwrap().last_seqno, EVENTS as u64);
}

/// The WAL of the old journal must never be read into the new one.
#[test]
fn a_crash_in_the_middle_of_moving_aside_is_finished() {
    let original = original();
    let directory = scratch();
    copy(original.running.path(), directory.path());
    let moved = directory.path().join("journal-20260214T101530Z-01-damaged.sqlite3");
    std::fs::rename(file_in(directory.path()), &moved).unwrap();
    let opened = open(directory.path());
    let fresh = opened.fresh.unwrap();
    let predecessor = fresh.predecessor.unwrap();
    assert_eq!(
        (predecessor.last_seqno, predecessor.last_acknowledged),
        (EVENTS as u64, 30)
    );
    assert_eq!(opened.head.seqno, 0);
    let undelivered: Vec<(PathBuf, u64, u64)> = opened
        .undelivered
        .iter()
        .map(|moved| (moved.path.clone(), moved.cursor, moved.through))
        .collect();
    assert_eq!(undelivered, [(moved, 30, EVENTS as u64)]);
    assert_eq!(fresh.carried.unwrap().tail.count(), EVENTS / 2 - 1);
}

#[test]
fn an_unreadable_place_is_an_error_and_nothing_is_moved() {
    let directory = scratch();
    std::fs::create_dir(file_in(directory.path())).unwrap();
    let Err(error) = open_with(directory.path(), Options::new(NOW)) else {
        panic!("opened a directory")
    };
    assert!(matches!(error, OpenError::Store { .. }), "{error}");
    assert!(file_in(directory.path()).is_dir());
}

#[test]
fn a_newer_layout_is_an_error_of_its_own_and_nothing_is_moved() {
    let original = original();
    let path = file_in(original.closed.path());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute_batch("PRAGMA user_version = 2; UPDATE identity SET schema = 2")
        .unwrap();
    connection.close().unwrap();
    let Err(error) = open_with(original.closed.path(), Options::new(NOW)) else {
        panic!("opened a newer journal")
    };
    assert!(matches!(error, OpenError::Newer { found: 2, known: 1, .. }), "{error}");
    assert!(matches!(Reader::open(&path), Err(ReadError::Newer { found: 2, .. })));
    let output = Command::new(env!("CARGO_BIN_EXE_tablegate"))
        .args(["journal", "info"])
        .arg(&path)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4));
}

/// A damaged number of the layout must not look like a newer program's journal.
#[test]
fn a_damaged_layout_number_is_damage() {
    let original = original();
    for at in 60..64 {
        assert!(
            flipped(&original, original.closed.path(), "journal.sqlite3", at),
            "byte {at}"
        );
    }
}
