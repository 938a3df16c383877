//! A journal in the hands of an inspector, through the binary: what each command says of a journal whose beginning isn't there, whoever took
//! it away, and of files that are no journal, or not all of one.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod journal_support;

use journal_support::*;
use std::path::Path;
use std::process::{Command, Output};
use tablegate::journal::{Opened, Reader, file_in};
use tablegate::table::event::{Body, RoundStarted};
use tablegate::time::Timestamp;

fn tablegate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tablegate"))
        .args(arguments)
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

fn sql(directory: &Path, text: &str) {
    let connection = rusqlite::Connection::open(file_in(directory)).unwrap();
    connection.execute_batch(text).unwrap();
    connection.close().unwrap();
}

/// Four days of ten events, a round and a checkpoint in each.
async fn four_days(directory: &Path) -> (Opened, Scribe) {
    let opened = open(directory);
    let mut scribe = Scribe::after(&opened);
    for day in 0..4 {
        scribe.at = Timestamp::from_unix_micros(NOW.as_unix_micros() + day * DAY_US);
        let mut records = scribe.some(8);
        records.push(scribe.record_in(101 + day.unsigned_abs(), Body::RoundStarted(RoundStarted::default())));
        records.push(scribe.checkpoint());
        opened.journal.append(records).await.unwrap();
    }
    opened.journal.acknowledge(40);
    let mut reader = Reader::open(opened.journal.path()).unwrap();
    until("the cursor is written", || reader.cursor().unwrap() == 40);
    (opened, scribe)
}

/// As its daemon deletes.
async fn expire(opened: &Opened, scribe: &mut Scribe) {
    scribe.at = Timestamp::from_unix_micros(NOW.as_unix_micros() + 200 * DAY_US);
    let (through, sha256) = opened.journal.expirable(scribe.at).await.unwrap();
    assert_eq!(through, 10, "a day's worth");
    let said = scribe.expired(through, sha256);
    opened.journal.append_and_expire(vec![said], through).await.unwrap();
}

/// What a journal can prove of the events before its oldest.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Proves {
    Everything,
    /// Retention deleted them, up to this one.
    Deleted(u64),
    /// Nobody knows who took them, up to this one.
    Nothing(u64),
}

const ROW: &str = "INSERT OR REPLACE INTO expired SELECT 1, seqno, sha256, 0 FROM events WHERE seqno";

#[test]
fn nobody_says_that_retention_deleted_what_somebody_took_away() {
    let to_fit = format!("{ROW} = 10; DELETE FROM events WHERE seqno <= 10");
    let beyond = format!("{ROW} = 14; DELETE FROM events WHERE seqno <= 14");
    let cases: [(&str, bool, &str, Proves); 7] = [
        ("whole", false, "SELECT 1", Proves::Everything),
        ("deleted in its time", true, "SELECT 1", Proves::Deleted(10)),
        (
            "its beginning taken away",
            false,
            "DELETE FROM events WHERE seqno <= 10",
            Proves::Nothing(10),
        ),
        ("the row of deletion made to fit", false, &to_fit, Proves::Nothing(10)),
        (
            "more taken away than was deleted",
            true,
            "DELETE FROM events WHERE seqno <= 14",
            Proves::Nothing(14),
        ),
        ("more, and the row made to fit", true, &beyond, Proves::Nothing(14)),
        (
            "the record of the deletion taken away",
            true,
            "DELETE FROM events WHERE seqno = 41",
            Proves::Nothing(10),
        ),
    ];
    for (what, is_expired, change, proves) in cases {
        let directory = scratch();
        run(async {
            let (opened, mut scribe) = four_days(directory.path()).await;
            if is_expired {
                expire(&opened, &mut scribe).await;
            }
            opened.journal.close();
        });
        sql(directory.path(), change);
        if what.starts_with("the record of") {
            // Its note says that there was one more; who takes the event away takes that too.
            std::fs::remove_file(directory.path().join("journal.head")).unwrap();
        }
        is_told(what, directory.path(), proves);
    }
}

fn is_told(what: &str, directory: &Path, proves: Proves) {
    const IN_TIME: &str = "were deleted when their time was over";
    const GONE: &str = "are gone, and no event says that they were deleted when their time was over";
    let (word, status, said, through) = match proves {
        Proves::Everything => ("first", 0, "", 0),
        Proves::Deleted(through) => ("expired", 0, IN_TIME, through),
        Proves::Nothing(through) => ("gone", 1, GONE, through),
    };
    let before = format!("events 1 to {through} {said}");
    let place = directory.to_str().unwrap();
    // The command, whether it is told there at all that events were deleted in their time, and its status then.
    let told_by: [(&[&str], bool, i32); 12] = [
        (&["journal", "verify", place], true, 0),
        (&["journal", "info", place], true, 0),
        (&["report", "--zone", "UTC", "--journal", place], false, 0),
        (&["report", "--format", "csv", "--journal", place], false, 0),
        (&["recall", "1000", "--journal", place], false, 0),
        (&["events", "list", "--journal", place], false, 0),
        (&["events", "list", "--from", "3", "--journal", place], true, 0),
        (&["events", "list", "--from", "30", "--journal", place], false, 0),
        (&["events", "list", "--round", "101", "--journal", place], true, 1),
        (&["events", "show", "3", "--journal", place], true, 1),
        (&["events", "export", "--journal", place], false, 0),
        (&["events", "tail", "-n", "1000", "--journal", place], false, 0),
    ];
    for (arguments, tells_always, expired_status) in told_by {
        let output = tablegate(arguments);
        let both = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        let told = format!("{what}: {arguments:?}: {both}");
        let is_info = arguments[1] == "info";
        let asks_for_it = !arguments.contains(&"30");
        let (expected, tells) = match proves {
            Proves::Everything => (0, false),
            Proves::Deleted(_) => (expired_status, tells_always),
            Proves::Nothing(_) => (i32::from(!is_info && asks_for_it) * status, asks_for_it),
        };
        assert_eq!(output.status.code(), Some(expected), "{told}");
        // One line or more: the page of a report is folded.
        let flat = both.split_whitespace().collect::<Vec<_>>().join(" ").replace("! ", "");
        assert_eq!(flat.contains(&before) && through > 0, tells, "{told}");
        if proves != Proves::Deleted(through) {
            assert!(!flat.replace(GONE, "").contains("time was over"), "{told}");
        }
    }
    let report = tablegate(&["report", "--zone", "UTC", "--json", "--journal", place]);
    let json: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
    let notes = json["notes"].to_string();
    assert_eq!(
        notes.contains("were deleted when their time was over: nothing before"),
        word == "expired",
        "{notes}"
    );
    for command in ["verify", "info"] {
        let output = tablegate(&["journal", command, "--json", place]);
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["beginning"], word, "{what}: {json:#}");
        if command == "verify" {
            assert_eq!(json["whole"], status == 0, "{what}: {json:#}");
        }
    }
}

/// Everything in a folder, with its length.
fn contents(folder: &Path) -> Vec<(String, u64)> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let mut found: Vec<(String, u64)> = entries
        .map(|entry| {
            (
                entry.file_name().into_string().unwrap(),
                entry.metadata().unwrap().len(),
            )
        })
        .collect();
    found.sort();
    found
}

/// What an inspector may have in hand that is no journal, or not all of one: each command says what, where, and what to do, and leaves all
/// as it was.
#[test]
fn what_is_no_journal_is_named_and_left_as_it_is() {
    let running = scratch();
    let opened = open(running.path());
    let mut scribe = Scribe::after(&opened);
    run(fill(&opened.journal, &mut scribe, 30));
    let copied = scratch();
    original::copy(running.path(), copied.path());
    let whole = std::fs::read(file_in(copied.path())).unwrap();
    let wal = std::fs::read(copied.path().join("journal.sqlite3-wal")).unwrap();
    opened.journal.close();
    let closed = std::fs::read(file_in(running.path())).unwrap();

    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("folder")).unwrap();
    std::fs::write(at("empty"), "").unwrap();
    std::fs::write(at("text"), "no database\n".repeat(500)).unwrap();
    std::fs::write(at("half"), &closed[..closed.len() / 2]).unwrap();
    std::fs::write(at("head"), &closed[..100]).unwrap();
    std::fs::write(at("only-wal"), &wal).unwrap();
    let other = rusqlite::Connection::open(at("other")).unwrap();
    other.execute_batch("CREATE TABLE t (x)").unwrap();
    other.close().unwrap();
    std::fs::write(at("newer"), &closed).unwrap();
    let newer = rusqlite::Connection::open(at("newer")).unwrap();
    newer
        .execute_batch("UPDATE identity SET schema = 99; PRAGMA user_version = 99")
        .unwrap();
    newer.close().unwrap();
    std::os::unix::fs::symlink("nowhere", at("dangling")).unwrap();
    // A copy without its WAL is the journal as it was at an earlier moment: nothing in it is wrong.
    std::fs::write(at("copy"), &whole).unwrap();

    let before = contents(folder.path());
    const NOT_ONE: &str = "damaged or not a journal";
    for (name, status, what, advice) in [
        ("folder", 1, "there is no journal at", "name a table's journal.sqlite3"),
        ("nothing", 1, "there is no journal at", "the folder that it is in"),
        (
            "dangling",
            1,
            "there is no journal at",
            "name a table's journal.sqlite3",
        ),
        ("empty", 1, NOT_ONE, "together with the file that ends in -wal"),
        ("text", 1, NOT_ONE, "a table's journal is the file journal.sqlite3"),
        ("half", 1, "", ""),
        ("head", 1, NOT_ONE, "together with the file that ends in -wal"),
        ("only-wal", 1, NOT_ONE, "a table's journal is the file journal.sqlite3"),
        ("other", 1, NOT_ONE, "a table's journal is the file journal.sqlite3"),
        (
            "newer",
            4,
            "has layout 99",
            "use the version of tablegate that wrote it",
        ),
        ("copy", 0, "", ""),
    ] {
        let place = at(name);
        let place = place.to_str().unwrap();
        for arguments in [
            &["journal", "verify", place][..],
            &["journal", "info", place],
            &["report", "--journal", place],
            &["recall", "--journal", place],
            &["events", "list", "--journal", place],
            &["events", "tail", "--journal", place],
            &["events", "show", "1", "--journal", place],
            &["events", "export", "--journal", place],
        ] {
            let output = tablegate(arguments);
            let err = String::from_utf8(output.stderr).unwrap();
            // Half a file may hold what little a command looks at; and before the first checkpoint of its WAL a file holds no events.
            let lenient = name == "half" && arguments[1] != "verify" || name == "copy" && arguments[1] == "show";
            if !lenient {
                assert_eq!(output.status.code(), Some(status), "{arguments:?}: {err}");
            }
            assert!(err.contains(what) && err.contains(advice), "{arguments:?}: {err}");
            let is_named = status == 0 || lenient || err.contains(place);
            assert!(is_named, "{arguments:?}: where? {err}");
            for inside in ["panicked", "Some(", "Err(", "src/", "Error code"] {
                assert!(!err.contains(inside), "{arguments:?} shows {inside}: {err}");
            }
        }
    }
    assert_eq!(contents(folder.path()), before, "nothing was made or changed");
}

/// The list of checkpoints is no event: nothing but the proof notices what somebody wrote into it. A start would move such a journal aside.
#[test]
fn a_checkpoint_that_is_none_is_found_by_the_proof() {
    const NONE: &str = "is listed as a checkpoint and is none";
    let directory = scratch();
    run(async { four_days(directory.path()).await.0.journal.close() });
    let place = directory.path().to_str().unwrap();
    for (what, change, back, found) in [
        ("whole", "SELECT 1", "SELECT 1", String::new()),
        (
            "newer than the newest",
            "DELETE FROM checkpoints WHERE seqno = 40; INSERT INTO checkpoints VALUES (39)",
            "DELETE FROM checkpoints WHERE seqno = 39; INSERT INTO checkpoints VALUES (40)",
            format!("event 39 {NONE}"),
        ),
        (
            "older than the newest",
            "INSERT INTO checkpoints VALUES (12)",
            "DELETE FROM checkpoints WHERE seqno = 12",
            format!("event 12 {NONE}"),
        ),
        (
            "beyond the newest event",
            "INSERT INTO checkpoints VALUES (119)",
            "DELETE FROM checkpoints WHERE seqno = 119",
            format!("event 119 {NONE}"),
        ),
        (
            "before the first event",
            "INSERT INTO checkpoints VALUES (0)",
            "DELETE FROM checkpoints WHERE seqno = 0",
            format!("event 0 {NONE}"),
        ),
        (
            "one is lacking",
            "DELETE FROM checkpoints WHERE seqno = 20",
            "INSERT INTO checkpoints VALUES (20)",
            "event 20 is a checkpoint and is not listed as one".to_owned(),
        ),
    ] {
        sql(directory.path(), change);
        let output = tablegate(&["journal", "verify", place]);
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            output.status.code(),
            Some(i32::from(!found.is_empty())),
            "{what}: {err}"
        );
        assert!(err.contains(&found), "{what}: {err}");
        sql(directory.path(), back);
    }
}

/// The cursor and the note beside the journal know events that somebody cut off: every command says so that would have shown them.
#[test]
fn an_end_that_is_gone_is_told() {
    let directory = scratch();
    run(async { four_days(directory.path()).await.0.journal.close() });
    let place = directory.path().to_str().unwrap();
    let asked: [(&[&str], i32); 9] = [
        (&["journal", "verify", place], 1),
        (&["journal", "info", place], 1),
        (&["report", "--zone", "UTC", "--journal", place], 1),
        (&["recall", "2", "--journal", place], 1),
        (&["events", "list", "--journal", place], 1),
        (&["events", "list", "--to", "30", "--journal", place], 0),
        (&["events", "export", "--journal", place], 1),
        (&["events", "tail", "--journal", place], 1),
        (&["events", "show", "38", "--journal", place], 1),
    ];
    // Once the note and the cursor know them, once the cursor alone.
    for (what, change, said) in [
        ("whole", "SELECT 1", ""),
        (
            "the end cut off",
            "DELETE FROM checkpoints WHERE seqno > 35; DELETE FROM events WHERE seqno > 35",
            "events 36 to 40 had been written and are gone",
        ),
        (
            "without its note",
            "SELECT 1",
            "events 36 to 40 had been written and are gone",
        ),
        (
            "one event",
            "UPDATE cursor SET seqno = 36",
            "event 36 had been written and is gone",
        ),
    ] {
        sql(directory.path(), change);
        if what == "without its note" {
            std::fs::remove_file(directory.path().join("journal.head")).unwrap();
        }
        for (arguments, status) in asked {
            let status = if said.is_empty() { 0 } else { status };
            let output = tablegate(arguments);
            let err = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(status), "{what}: {arguments:?}: {err}");
            let is_asked = !arguments.contains(&"38") || what != "one event";
            if status == 1 && is_asked {
                assert!(err.contains(said), "{what}: {arguments:?}: {err}");
            }
            if arguments.contains(&"verify") && status == 1 {
                assert!(err.contains("is not whole: event 36: "), "{what}: {err}");
            }
        }
    }
}
