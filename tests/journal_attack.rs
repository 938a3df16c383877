//! Attacks on a journal by somebody, or something, that reaches its files: pages lost, exchanged or put back, files that belong to another,
//! rows changed with their hashes. What opening looks at is moved aside and said; what it doesn't look at the proof names, by its first
//! bad event; nobody is ever served an event that was not written.

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
use tablegate::journal::{Journal, Link, OpenError, Options, Owner, Reader, chain, file_in, verify};
use tablegate::table::event::{self, JournalStartedReason};

const PAGE: usize = 4096;

/// A SQLite journal's own WAL: a header, and pages with a header each.
const WAL_HEADER: usize = 32;
const WAL_FRAME: usize = 24 + PAGE;

fn wal(directory: &Path) -> PathBuf {
    directory.join("journal.sqlite3-wal")
}

/// A copy with one file changed.
fn with(from: &Path, file: &str, change: impl FnOnce(&mut Vec<u8>)) -> tempfile::TempDir {
    let directory = scratch();
    copy(from, directory.path());
    let path = directory.path().join(file);
    let mut bytes = std::fs::read(&path).unwrap();
    change(&mut bytes);
    std::fs::write(path, bytes).unwrap();
    directory
}

/// A copy with its rows changed by somebody who knows SQL, cleanly closed.
fn edited(original: &Original, sql: &str) -> tempfile::TempDir {
    let directory = scratch();
    copy(original.closed.path(), directory.path());
    let connection = rusqlite::Connection::open(file_in(directory.path())).unwrap();
    connection
        .execute_batch(sql)
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    connection.close().unwrap();
    directory
}

fn without_note(directory: &Path) {
    std::fs::remove_file(directory.join("journal.head")).unwrap();
}

fn random() -> StdRng {
    let seed = std::env::var("TABLEGATE_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(rand::random);
    println!("TABLEGATE_SEED={seed}");
    StdRng::seed_from_u64(seed)
}

#[test]
fn a_database_that_ends_at_any_page_is_moved_aside() {
    let original = original();
    for (from, what) in [(&original.closed, "closed"), (&original.running, "running")] {
        let pages = std::fs::metadata(file_in(from.path())).unwrap().len() as usize / PAGE;
        assert!(pages > 8, "{pages} pages");
        let mut moved = 0;
        for page in 0..pages {
            for odd in [0, 1, PAGE / 2] {
                let directory = with(from.path(), "journal.sqlite3", |bytes| {
                    bytes.truncate(page * PAGE + odd)
                });
                moved += usize::from(keeps_its_promise(
                    directory.path(),
                    &original,
                    &format!("{what}, {page} pages and {odd} bytes"),
                ));
            }
        }
        println!("{what}: {moved} of {} moved aside", 3 * pages);
        // A running daemon's WAL may hold every page that the end of the file held.
        assert!(moved * 2 > 3 * pages, "{what}: only {moved}");
    }
}

#[test]
fn a_page_that_was_lost_exchanged_or_put_back_is_found_or_harmless() {
    let original = original();
    let file = std::fs::read(file_in(original.closed.path())).unwrap();
    let older = std::fs::read(file_in(original.running.path())).unwrap();
    let pages = file.len() / PAGE;
    let of = |bytes: &[u8], page: usize| bytes[page * PAGE..(page + 1) * PAGE].to_vec();
    let mut found = 0;
    let mut tried = 0;
    for page in 0..pages {
        let mut changes = vec![
            ("NUL", vec![0; PAGE]),
            ("ones", vec![0xff; PAGE]),
            ("its neighbour's", of(&file, (page + 1) % pages)),
            ("the first one's", of(&file, 1 % pages)),
        ];
        if (page + 1) * PAGE <= older.len() {
            changes.push(("as it was before", of(&older, page)));
        }
        for (what, contents) in changes {
            if contents == of(&file, page) {
                continue;
            }
            tried += 1;
            let directory = with(original.closed.path(), "journal.sqlite3", |bytes| {
                bytes[page * PAGE..(page + 1) * PAGE].copy_from_slice(&contents);
            });
            found += usize::from(keeps_its_promise(
                directory.path(),
                &original,
                &format!("page {page} {what}"),
            ));
        }
    }
    println!("{found} of {tried} moved aside");
    assert!(found * 3 > tried, "only {found} of {tried}");
}

#[test]
fn stretches_of_damage_anywhere_are_found_or_harmless() {
    let original = original();
    let mut random = random();
    for (from, file) in [
        (&original.closed, "journal.sqlite3"),
        (&original.running, "journal.sqlite3"),
        (&original.running, "journal.sqlite3-wal"),
    ] {
        for _ in 0..60 {
            let length = std::fs::metadata(from.path().join(file)).unwrap().len() as usize;
            let at = random.random_range(0..length);
            let long = random.random_range(1..=2 * PAGE).min(length - at);
            let what = random.random_range(0..3);
            let directory = with(from.path(), file, |bytes| {
                for byte in &mut bytes[at..at + long] {
                    *byte = match what {
                        0 => 0,
                        1 => !*byte,
                        _ => random.random(),
                    };
                }
            });
            // A number of the layout that makes it look newer is refused, not moved: that is kept apart.
            if file == "journal.sqlite3" && (60..64).any(|byte| (at..at + long).contains(&byte)) && at > 0 {
                continue;
            }
            keeps_its_promise(
                directory.path(),
                &original,
                &format!("{file}, {long} bytes from {at}, way {what}"),
            );
        }
    }
}

/// What a WAL holds that is lost between two runs was durable: the note beside the journal tells.
#[test]
fn a_wal_that_was_deleted_while_nobody_ran_is_said() {
    let original = original();
    let directory = scratch();
    copy(original.running.path(), directory.path());
    std::fs::remove_file(wal(directory.path())).unwrap();
    assert!(keeps_its_promise(directory.path(), &original, "WAL deleted"));

    // And a database that was deleted from under its WAL.
    let directory = scratch();
    copy(original.running.path(), directory.path());
    std::fs::remove_file(file_in(directory.path())).unwrap();
    let opened = open(directory.path());
    let fresh = opened.fresh.unwrap();
    assert_eq!(fresh.reason, JournalStartedReason::MovedAside);
    assert_eq!(fresh.predecessor.unwrap().last_seqno, EVENTS as u64);
    assert!(
        directory.path().join("journal.sqlite3-wal.stray").exists(),
        "what is left of it is kept"
    );
    assert_eq!(
        opened.head.seqno, 0,
        "nothing of the old WAL is read into the new journal"
    );
}

/// A journal of the same table with another identity, as it lies on the disk while its daemon runs.
fn another(events: usize) -> tempfile::TempDir {
    run(async {
        let directory = scratch();
        let opened = open(directory.path());
        let mut scribe = Scribe::after(&opened);
        fill(&opened.journal, &mut scribe, events).await;
        let running = scratch();
        copy(directory.path(), running.path());
        std::fs::remove_file(running.path().join("ballast")).ok();
        running
    })
}

/// SQLite takes any WAL whose checksums are right for the database's own.
#[test]
fn a_wal_of_another_database_is_found() {
    let original = original();
    for events in [5, 40, 120, 300] {
        let other = another(events);
        for (from, what) in [(&original.closed, "closed"), (&original.running, "running")] {
            let directory = scratch();
            copy(from.path(), directory.path());
            std::fs::copy(wal(other.path()), wal(directory.path())).unwrap();
            let what = format!("{what}, WAL of another with {events} events");
            let opened =
                open_with(directory.path(), Options::new(NOW)).unwrap_or_else(|error| panic!("{what}: {error}"));
            let fresh = opened.fresh.unwrap_or_else(|| panic!("{what}: accepted"));
            assert_eq!(fresh.reason, JournalStartedReason::MovedAside, "{what}");
            let predecessor = fresh.predecessor.unwrap();
            assert_eq!(
                (predecessor.journal_id.as_str(), predecessor.last_seqno),
                (original.journal_id.as_str(), EVENTS as u64),
                "{what}: {}",
                fresh.text
            );
            for moved in &opened.undelivered {
                let mut reader = Reader::open(&moved.path).unwrap();
                for record in reader.readable(1, moved.through, 1000).unwrap().records {
                    let event = tablegate::journal::decode(&record).unwrap();
                    assert_eq!(event.journal_id, moved.journal_id, "{what}");
                }
            }
        }
    }
}

/// The file that processes share the WAL's index through says nothing after a crash, whatever it says.
#[test]
fn a_stale_index_of_the_wal_means_nothing() {
    let original = original();
    let other = another(40);
    let mut random = random();
    let of_another = std::fs::read(other.path().join("journal.sqlite3-shm")).unwrap();
    let noise: Vec<u8> = (0..32 * 1024).map(|_| random.random()).collect();
    for (what, contents) in [
        ("of another", of_another),
        ("noise", noise),
        ("NUL", vec![0; 32 * 1024]),
        ("empty", Vec::new()),
        ("short", vec![7; 100]),
    ] {
        for from in [&original.running, &original.closed] {
            let directory = scratch();
            copy(from.path(), directory.path());
            std::fs::write(directory.path().join("journal.sqlite3-shm"), &contents).unwrap();
            assert!(
                !keeps_its_promise(directory.path(), &original, what),
                "{what}: moved aside"
            );
        }
    }
}

/// An older copy of the file beside a note that knows more, and one of a journal that was given up long ago.
#[test]
fn an_older_copy_put_back_is_said_when_the_note_knows_more() {
    let original = original();
    let directory = scratch();
    copy(original.closed.path(), directory.path());
    std::fs::copy(file_in(original.running.path()), file_in(directory.path())).unwrap();
    assert!(keeps_its_promise(directory.path(), &original, "older copy"));

    // A journal of the same table, in the place of the one that was written here.
    let other = another(30);
    let directory = scratch();
    copy(original.closed.path(), directory.path());
    std::fs::copy(file_in(other.path()), file_in(directory.path())).unwrap();
    std::fs::copy(wal(other.path()), wal(directory.path())).unwrap();
    for start in ["first", "again, nothing having been appended"] {
        let opened = open(directory.path());
        let fresh = opened.fresh.unwrap_or_else(|| panic!("{start}: accepted"));
        let predecessor = fresh.predecessor.unwrap();
        assert_eq!(predecessor.journal_id, original.journal_id, "{start}: {}", fresh.text);
        assert_eq!(predecessor.last_seqno, EVENTS as u64, "{start}");
        assert!(fresh.carried.is_none(), "{start}: its state is not known");
        assert_eq!(
            opened.undelivered.len(),
            1,
            "{start}: what the other one holds is delivered all the same"
        );
        opened.journal.close();
    }
}

/// The whole folder as it was an hour ago: nothing in it tells. The floor does, and what it says is heeded by the gateway.
#[test]
fn a_whole_folder_put_back_goes_on_where_it_was() {
    let original = original();
    let directory = scratch();
    copy(original.running.path(), directory.path());
    without_note(directory.path());
    std::fs::remove_file(wal(directory.path())).unwrap();
    let opened = open(directory.path());
    assert!(opened.fresh.is_none());
    assert!(opened.head.seqno < EVENTS as u64);
    assert_eq!(
        read_all(opened.journal.path()),
        original.records[..opened.head.seqno as usize]
    );
}

/// An older journal beside it and no file at all: the one that is gone comes before the new one, not the older one.
#[test]
fn a_journal_that_is_gone_is_named_though_an_older_one_is_there() {
    run(async {
        let directory = scratch();
        let opened = open(directory.path());
        let mut scribe = Scribe::after(&opened);
        fill(&opened.journal, &mut scribe, 20).await;
        opened.journal.close();
        std::fs::write(file_in(directory.path()), b"damaged").unwrap();
        let opened = open(directory.path());
        assert!(opened.fresh.is_some());
        let second = opened.journal_id.clone();
        let mut scribe = Scribe::after(&opened);
        fill(&opened.journal, &mut scribe, 30).await;
        opened.journal.close();
        std::fs::remove_file(file_in(directory.path())).unwrap();
        for start in ["first", "again, nothing having been appended"] {
            let opened = open(directory.path());
            let fresh = opened.fresh.unwrap();
            let predecessor = fresh.predecessor.unwrap();
            assert_eq!(
                (predecessor.journal_id.as_str(), predecessor.last_seqno),
                (second.as_str(), 30),
                "{start}: {}",
                fresh.text
            );
            assert!(fresh.text.contains("is gone"), "{start}: {}", fresh.text);
            opened.journal.close();
        }
    });
}

/// What opening looks at: from the newest checkpoint on, the edges, the cursor.
#[test]
fn rows_that_opening_looks_at_are_moved_aside_when_they_were_changed() {
    let original = original();
    let changed_sha = "X'00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'";
    let cases: &[(&str, String, &str)] = &[
        (
            "deleted behind the checkpoint",
            "DELETE FROM events WHERE seqno = 90".into(),
            "event 90",
        ),
        (
            "deleted at the end",
            "DELETE FROM events WHERE seqno > 110".into(),
            "event 120 had been written",
        ),
        (
            "deleted at the start",
            "DELETE FROM events WHERE seqno < 5".into(),
            "event 1 should be the oldest",
        ),
        ("all deleted", "DELETE FROM events".into(), ""),
        (
            "cursor ahead",
            format!("UPDATE cursor SET seqno = 500, sha256 = {changed_sha}"),
            "the cursor names event 500",
        ),
        (
            "cursor of another",
            format!("UPDATE cursor SET sha256 = {changed_sha}"),
            "the cursor names event 30",
        ),
        ("no cursor", "DELETE FROM cursor".into(), ""),
        (
            "numbered anew",
            "UPDATE events SET seqno = seqno + 1000 WHERE seqno > 100".into(),
            "event 101",
        ),
        (
            "exchanged",
            "UPDATE events SET seqno = 1000 WHERE seqno = 90; UPDATE events SET seqno = 90 WHERE seqno = 91;
             UPDATE events SET seqno = 91 WHERE seqno = 1000"
                .into(),
            "event 90",
        ),
        (
            "a checkpoint that is none",
            "INSERT INTO checkpoints VALUES (100)".into(),
            "listed as a checkpoint",
        ),
        (
            "a checkpoint of nothing",
            "DELETE FROM checkpoints; INSERT INTO checkpoints VALUES (0)".into(),
            "event 0 is listed",
        ),
        (
            "a checkpoint to come",
            "INSERT INTO checkpoints VALUES (1000)".into(),
            "",
        ),
        ("another's", "UPDATE identity SET site = 'airport'".into(), ""),
        ("a table dropped", "DROP TABLE expired".into(), ""),
        (
            "said to have expired",
            format!("INSERT INTO expired VALUES (1, 40, {changed_sha}, 0)"),
            "should be the oldest",
        ),
    ];
    for (what, sql, said) in cases {
        let directory = edited(&original, sql);
        let opened = open_with(directory.path(), Options::new(NOW)).unwrap_or_else(|error| panic!("{what}: {error}"));
        let fresh = opened.fresh.unwrap_or_else(|| panic!("{what}: accepted"));
        assert_eq!(fresh.reason, JournalStartedReason::MovedAside, "{what}");
        assert!(fresh.text.contains(said), "{what}: {}", fresh.text);
        let predecessor = fresh.predecessor.unwrap();
        assert_eq!(predecessor.journal_id, original.journal_id, "{what}");
        assert!(directory.path().join(&predecessor.moved_to).is_file(), "{what}");
    }
    // The hash made to fit: the one after it says.
    let directory = edited(&original, "SELECT 1");
    forge(directory.path(), 100);
    let fresh = open(directory.path()).fresh.expect("an event with another text");
    assert!(fresh.text.contains("event 101: it does not follow"), "{}", fresh.text);
    // The last one: only the note says, for nothing follows it.
    let directory = edited(&original, "SELECT 1");
    forge(directory.path(), EVENTS as u64);
    let fresh = open(directory.path()).fresh.expect("a newest event with another text");
    assert!(
        fresh.text.contains("is not the one that had been written"),
        "{}",
        fresh.text
    );
}

/// Writes another event in the place of one, with everything about it right but what follows it.
fn forge(directory: &Path, seqno: u64) {
    let connection = rusqlite::Connection::open(file_in(directory)).unwrap();
    let bytes: Vec<u8> = connection
        .query_row("SELECT bytes FROM events WHERE seqno = ?1", [seqno as i64], |row| {
            row.get(0)
        })
        .unwrap();
    let mut event = <event::Event as prost::Message>::decode(&*bytes).unwrap();
    event.uptime_us += 1;
    let bytes = prost::Message::encode_to_vec(&event);
    connection
        .execute(
            "UPDATE events SET bytes = ?1, sha256 = ?2 WHERE seqno = ?3",
            rusqlite::params![bytes, chain::sha256(&bytes), seqno as i64],
        )
        .unwrap();
    connection.close().unwrap();
}

/// What opening doesn't look at: before the newest checkpoint. The proof names the first bad event; the check in the background finds it too.
#[test]
fn rows_before_the_checkpoint_are_named_by_the_proof() {
    let original = original();
    type Change = fn(&Original) -> tempfile::TempDir;
    let cases: [(&str, Change, u64, &str); 6] = [
        (
            "deleted in the middle",
            |original| edited(original, "DELETE FROM events WHERE seqno BETWEEN 20 AND 22"),
            20,
            "event 20 is missing, the next is 23",
        ),
        (
            "another text, its hash made to fit",
            |original| {
                let directory = edited(original, "SELECT 1");
                forge(directory.path(), 40);
                directory
            },
            41,
            "does not follow from the event before it",
        ),
        (
            "another text, the old hash",
            |original| {
                edited(
                    original,
                    "UPDATE events SET bytes = (SELECT bytes FROM events WHERE seqno = 12) WHERE seqno = 13",
                )
            },
            13,
            "not those that were written",
        ),
        (
            "under another number",
            |original| {
                edited(
                    original,
                    "UPDATE events SET bytes = (SELECT bytes FROM events WHERE seqno = 12),
                     sha256 = (SELECT sha256 FROM events WHERE seqno = 12) WHERE seqno = 13",
                )
            },
            13,
            "says it is event 12",
        ),
        (
            "the start deleted, and the row of deletion made to fit",
            |original| {
                edited(
                    original,
                    "INSERT INTO expired SELECT 1, seqno, sha256, 0 FROM events WHERE seqno = 19; DELETE FROM events WHERE seqno < 20",
                )
            },
            20,
            "without a record of their deletion",
        ),
        (
            "larger than an event may be",
            |original| edited(original, "UPDATE events SET bytes = zeroblob(20000) WHERE seqno = 33"),
            33,
            "20000 bytes",
        ),
    ];
    for (what, change, seqno, said) in cases {
        let directory = change(&original);
        let bad = verify(&file_in(directory.path()), |_| {}).unwrap().bad.expect(what);
        assert_eq!(bad.seqno, Some(seqno), "{what}: {}", bad.text);
        assert!(bad.text.contains(said), "{what}: {}", bad.text);
        let opened = open(directory.path());
        assert!(opened.fresh.is_none(), "{what}: {}", opened.fresh.unwrap().text);
        let (tell, told) = std::sync::mpsc::channel();
        opened.journal.verify_rest(move |found| tell.send(found).unwrap());
        let found = told.recv_timeout(std::time::Duration::from_secs(10)).unwrap().unwrap();
        assert_eq!(found.bad, Some(bad), "{what}: in the background");
        let mut reader = Reader::open(opened.journal.path()).unwrap();
        for was in &original.records {
            if let Ok(page) = reader.page(was.seqno, was.seqno, 1) {
                // The forged one is whole by itself: only the one after it tells.
                let forged = was.seqno + 1 == seqno && what.contains("made to fit");
                assert!(
                    forged || page.iter().all(|found| found == was || found.seqno != was.seqno),
                    "{what}: {}",
                    was.seqno
                );
            }
        }
    }
}

/// The journal as a whole belongs to somebody: a clone at another table is refused, one on another PC is the same journal.
#[test]
fn a_clone_is_refused_at_another_table_and_goes_on_on_another_pc() {
    let original = original();
    let before = std::fs::read(file_in(original.closed.path())).unwrap();
    let other = Owner {
        table: "TS-08".to_owned(),
        ..owner()
    };
    let refused = Journal::open(original.closed.path(), &other, "machine", Options::new(NOW));
    assert!(matches!(refused, Err(OpenError::OtherOwner { .. })));
    assert_eq!(std::fs::read(file_in(original.closed.path())).unwrap(), before);

    // Made to say that it is TS-08's, with its hash: the events say otherwise.
    let directory = scratch();
    copy(original.closed.path(), directory.path());
    let clone = {
        let made = scratch();
        Journal::open(made.path(), &other, "machine", Options::new(NOW))
            .unwrap()
            .journal
            .close();
        made
    };
    let connection = rusqlite::Connection::open(file_in(directory.path())).unwrap();
    connection
        .execute_batch(&format!(
            "ATTACH '{}' AS clone; DELETE FROM main.identity; INSERT INTO main.identity SELECT * FROM clone.identity",
            file_in(clone.path()).display()
        ))
        .unwrap();
    connection.close().unwrap();
    without_note(directory.path());
    let opened = Journal::open(directory.path(), &other, "machine", Options::new(NOW)).unwrap();
    assert_eq!(opened.fresh.unwrap().reason, JournalStartedReason::MovedAside);
    assert!(
        opened.undelivered.is_empty(),
        "another table's events are not delivered as this one's"
    );

    let opened = Journal::open(original.closed.path(), &owner(), "another machine", Options::new(NOW)).unwrap();
    assert!(opened.fresh.is_none());
    assert_eq!(opened.head.seqno, EVENTS as u64);
    let infos = Reader::open(opened.journal.path()).unwrap().infos().unwrap();
    assert_eq!(infos.identity.machine, "machine", "where it was begun stays on record");
}

/// Whose journal, and what came before: followed through the files that were moved aside.
#[test]
fn the_proof_follows_predecessors_and_finds_one_that_was_exchanged() {
    run(async {
        let directory = scratch();
        // Three generations: the first is damaged, the second rolled back.
        for generation in 0..3 {
            let begin = match generation {
                2 => tablegate::journal::Begin::RolledBack {
                    text: "the floor has event 99".to_owned(),
                },
                _ => tablegate::journal::Begin::Continue,
            };
            let options = Options {
                begin,
                ..Options::new(NOW)
            };
            let opened = open_with(directory.path(), options).unwrap();
            let mut scribe = Scribe::after(&opened);
            let fresh = opened.fresh.unwrap();
            let started = scribe.journal_started(fresh);
            opened.journal.append(vec![started]).await.unwrap();
            fill(&opened.journal, &mut scribe, 9).await;
            opened.journal.close();
            if generation == 0 {
                let connection = rusqlite::Connection::open(file_in(directory.path())).unwrap();
                connection.execute_batch("DELETE FROM events WHERE seqno = 5").unwrap();
                connection.close().unwrap();
            }
        }
        let report = verify(&file_in(directory.path()), |_| {}).unwrap();
        assert_eq!(report.bad, None);
        let origin = report.origin.unwrap();
        assert_eq!(
            (origin.reason, origin.machine.as_str()),
            (JournalStartedReason::RolledBack, "machine")
        );
        let links: Vec<(&Link, u64)> = report
            .elders
            .iter()
            .map(|elder| (&elder.link, elder.last_seqno))
            .collect();
        assert_eq!(links, [(&Link::Holds, 10), (&Link::Holds, 10)]);
        let output = verified(directory.path(), 0);
        assert!(
            output.contains("in the place of one that went back in time"),
            "{output}"
        );
        assert_eq!(output.matches("which ends with that event").count(), 2, "{output}");

        // One of them is taken away: this one is whole, and that one is not proven. Exchanged for another: that is said, and it is not whole.
        let newest = report.elders[0].path.clone();
        let kept = std::fs::read(&newest).unwrap();
        std::fs::remove_file(&newest).unwrap();
        let report = verify(&file_in(directory.path()), |_| {}).unwrap();
        assert_eq!(
            (report.bad, &report.elders[0].link, report.elders.len()),
            (None, &Link::Gone, 1)
        );
        const UNPROVEN: &str = "WHOLE, but the journal before it is not proven";
        assert!(told_of(directory.path(), 1, true).contains(UNPROVEN));
        let delivered = |change: &str| {
            let connection = rusqlite::Connection::open(file_in(directory.path())).unwrap();
            connection.execute_batch(change).unwrap();
            connection.close().unwrap();
        };
        let name = newest.file_name().unwrap().to_str().unwrap().to_owned();
        let noted = format!("WHERE file = '{name}'");
        delivered(&format!("UPDATE moved_aside SET cursor = through {noted}"));
        let output = told_of(directory.path(), 0, true);
        assert!(
            output.contains("the floor has it to its end") && output.contains("WHOLE: "),
            "{output}"
        );
        delivered(&format!("UPDATE moved_aside SET cursor = 0 {noted}"));
        for garbage in [&b"garbage"[..], &kept[..kept.len() / 2]] {
            std::fs::write(&newest, garbage).unwrap();
            let output = told_of(directory.path(), 1, true);
            assert!(output.contains(UNPROVEN), "{output}");
        }
        let other = scratch();
        let opened = open(other.path());
        fill(&opened.journal, &mut Scribe::after(&opened), 20).await;
        let other_id = opened.journal_id.clone();
        opened.journal.close();
        std::fs::copy(file_in(other.path()), &newest).unwrap();
        let output = verified(directory.path(), 1);
        assert!(output.contains(&other_id), "{output}");
        std::fs::write(&newest, kept).unwrap();
        let connection = rusqlite::Connection::open(&newest).unwrap();
        let sql = "UPDATE events SET bytes = zeroblob(9), sha256 = zeroblob(32) WHERE seqno = 10";
        connection.execute_batch(sql).unwrap();
        connection.close().unwrap();
        let report = verify(&file_in(directory.path()), |_| {}).unwrap();
        assert!(matches!(&report.elders[0].link, Link::Lost(_)), "{:?}", report.elders);
        assert!(told_of(directory.path(), 1, true).contains(UNPROVEN));
    });
}

/// `journal verify`, in words and as JSON: both end with this status.
fn verified(directory: &Path, status: i32) -> String {
    told_of(directory, status, status == 0)
}

fn told_of(directory: &Path, status: i32, is_whole: bool) -> String {
    let mut told = String::new();
    for more in [&[][..], &["--json"]] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_tablegate"))
            .args(["journal", "verify"])
            .arg(directory)
            .args(more)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        if more.is_empty() {
            told = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        } else {
            let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(json["whole"], is_whole);
            assert_eq!(json["begun"]["reason"], "rolled_back");
            assert!(json["before_it"].is_array());
        }
    }
    told
}

/// Rights and disks that fail say nothing about the contents: an error, and nothing is moved.
#[test]
fn what_says_nothing_about_the_contents_moves_nothing() {
    let original = original();
    // A folder in the WAL's place: SQLite can't open it.
    let directory = scratch();
    copy(original.closed.path(), directory.path());
    std::fs::create_dir(wal(directory.path())).unwrap();
    let before = std::fs::read(file_in(directory.path())).unwrap();
    let Err(error) = open_with(directory.path(), Options::new(NOW)) else {
        panic!("opened without a WAL")
    };
    assert!(matches!(error, OpenError::Store { .. }), "{error}: {error:?}");
    assert_eq!(std::fs::read(file_in(directory.path())).unwrap(), before);
    std::fs::remove_dir(wal(directory.path())).unwrap();
    assert!(!keeps_its_promise(directory.path(), &original, "the cause went away"));

    // A loop of links in the journal's place.
    let directory = scratch();
    std::os::unix::fs::symlink("journal.sqlite3", file_in(directory.path())).unwrap();
    let Err(error) = open_with(directory.path(), Options::new(NOW)) else {
        panic!("opened a loop")
    };
    assert!(matches!(error, OpenError::Store { .. }), "{error}");
}

#[test]
fn the_wal_of_a_copy_has_the_size_that_these_tests_count_with() {
    let original = original();
    let length = std::fs::metadata(wal(original.running.path())).unwrap().len() as usize;
    assert!(length > WAL_HEADER + 8 * WAL_FRAME, "{length}");
}
