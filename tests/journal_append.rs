//! Appending: what is refused, what fails, what is acknowledged, what may be deleted.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    reason = "a test may panic"
)]

mod journal_support;

use journal_support::*;
use std::sync::Arc;
use std::time::Duration;
use tablegate::journal::{AppendError, Ballast, Fault, Faults, Options, Reader, file_in, verify};
use tablegate::table::event::ClockQuality;
use tablegate::time::Timestamp;

#[test]
fn what_breaks_the_chain_is_refused_and_uses_up_no_number() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let opened = open(directory.path());
        let mut scribe = Scribe::after(&opened);
        opened.journal.append(scribe.some(3)).await.unwrap();
        let good = scribe.some(2);

        let mut skipped = good.clone();
        skipped.remove(0);
        let mut wrong_hash = good.clone();
        wrong_hash[1].sha256[0] ^= 1;
        let mut other_bytes = good.clone();
        other_bytes[0].bytes.push(0);
        for (what, records) in [
            ("gap", skipped),
            ("hash", wrong_hash),
            ("bytes", other_bytes),
            ("nothing", Vec::new()),
        ] {
            let error = opened.journal.append(records).await.unwrap_err();
            assert!(matches!(error, AppendError::Refused { .. }), "{what}: {error}");
        }
        opened.journal.append(good).await.unwrap();
        assert_eq!(read_all(opened.journal.path()).len(), 5);
    });
}

#[test]
fn a_failed_append_writes_nothing_and_the_same_number_goes_through_later() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let faults = Arc::new(Faults::default());
        let options = Options {
            faults: Some(Arc::clone(&faults)),
            ..Options::new(NOW)
        };
        let opened = open_with(directory.path(), options).unwrap();
        let mut scribe = Scribe::after(&opened);
        opened.journal.append(scribe.some(2)).await.unwrap();
        let next = scribe.some(3);
        faults.set(Some(Fault::Full));
        assert!(matches!(
            opened.journal.append(next.clone()).await,
            Err(AppendError::Full { .. })
        ));
        faults.set(Some(Fault::Io));
        assert!(matches!(
            opened.journal.append(next.clone()).await,
            Err(AppendError::Store { .. })
        ));
        assert_eq!(read_all(opened.journal.path()).len(), 2);
        faults.set(None);
        opened.journal.append(next).await.unwrap();
        assert_eq!(read_all(opened.journal.path()).len(), 5);
    });
}

/// SQLite goes on writing to a file that has no name any more: all of it would be gone with the daemon.
#[test]
fn what_is_written_to_a_file_that_was_deleted_or_replaced_is_not_recorded() {
    type Change = fn(&std::path::Path);
    let changes: [(&str, Change); 4] = [
        ("deleted", |file| std::fs::remove_file(file).unwrap()),
        ("replaced", |file| {
            std::fs::copy(file, file.with_extension("copy")).unwrap();
            std::fs::rename(file.with_extension("copy"), file).unwrap();
        }),
        ("its WAL deleted", |file| {
            std::fs::remove_file(format!("{}-wal", file.display())).unwrap();
        }),
        ("with its directory", |file| {
            std::fs::remove_dir_all(file.parent().unwrap()).unwrap();
        }),
    ];
    for (what, change) in changes {
        run(async {
            let directory = tempfile::tempdir().unwrap();
            let opened = open(&directory.path().join("j"));
            let mut scribe = Scribe::after(&opened);
            opened.journal.append(scribe.some(2)).await.unwrap();
            change(opened.journal.path());
            let error = opened.journal.append(scribe.some(1)).await.unwrap_err();
            assert!(matches!(error, AppendError::Store { .. }), "{what}: {error}");
            let told = format!(
                "{error}: {}",
                std::error::Error::source(&error)
                    .map(ToString::to_string)
                    .unwrap_or_default()
            );
            assert!(told.contains("append"), "{what}: {told}");
        });
    }
}

/// A file that was moved away for a moment is the same one when it is back.
#[test]
fn a_journal_that_is_put_back_is_written_again() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let opened = open(directory.path());
        let mut scribe = Scribe::after(&opened);
        opened.journal.append(scribe.some(2)).await.unwrap();
        let away = directory.path().join("away");
        std::fs::rename(opened.journal.path(), &away).unwrap();
        let next = scribe.some(3);
        assert!(opened.journal.append(next.clone()).await.is_err());
        std::fs::rename(&away, opened.journal.path()).unwrap();
        opened.journal.append(next).await.unwrap();
        assert_eq!(read_all(opened.journal.path()).len(), 5);
    });
}

/// The asker gave up; the disk did it all the same. Nobody was told, so it must not be there.
#[test]
fn an_append_that_was_given_up_leaves_nothing_behind() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let faults = Arc::new(Faults::default());
        let options = Options {
            faults: Some(Arc::clone(&faults)),
            ..Options::new(NOW)
        };
        let opened = open_with(directory.path(), options).unwrap();
        let mut scribe = Scribe::after(&opened);
        opened.journal.append(scribe.some(2)).await.unwrap();
        let (seqno, sha256) = (scribe.seqno, scribe.sha256.clone());
        faults.set(Some(Fault::Slow(Duration::from_millis(200))));
        let late = opened.journal.append(scribe.some(3));
        assert!(tokio::time::timeout(Duration::from_millis(20), late).await.is_err());
        faults.set(None);

        (scribe.seqno, scribe.sha256) = (seqno, sha256);
        scribe.at = Timestamp::from_unix_micros(NOW.as_unix_micros() + 1);
        let other = scribe.some(1);
        opened.journal.append(other.clone()).await.unwrap();
        let all = read_all(opened.journal.path());
        assert_eq!(all.len(), 3);
        assert_eq!(all[2], other[0]);
        let report = verify(opened.journal.path(), |_| {}).unwrap();
        assert_eq!(report.bad, None);
    });
}

#[test]
fn an_append_after_the_close_says_so() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let opened = open(directory.path());
        let mut scribe = Scribe::after(&opened);
        let left = opened.journal.clone();
        opened.journal.close();
        assert!(matches!(left.append(scribe.some(1)).await, Err(AppendError::Closed)));
        assert_eq!(left.next_connection(17).await, 17);
    });
}

#[test]
fn the_cursor_is_written_every_256_at_the_close_and_never_ahead() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let opened = open(directory.path());
        let mut scribe = Scribe::after(&opened);
        fill(&opened.journal, &mut scribe, 400).await;
        let mut reader = Reader::open(opened.journal.path()).unwrap();
        opened.journal.acknowledge(10);
        assert_eq!(reader.cursor().unwrap(), 0, "a few wait for the second");
        opened.journal.acknowledge(300);
        until("256 acknowledgements write the cursor", || {
            reader.cursor().unwrap() == 300
        });
        opened.journal.acknowledge(200);
        opened.journal.acknowledge(310);
        until("a few are written within a second or two", || {
            reader.cursor().unwrap() == 310
        });
        opened.journal.acknowledge(100_000);
        opened.journal.close();
        drop(reader);
        assert_eq!(open(directory.path()).cursor, 400);
    });
}

#[test]
fn connections_are_counted_across_starts_and_new_journals() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let opened = open(directory.path());
        assert_eq!(
            (
                opened.journal.next_connection(0).await,
                opened.journal.next_connection(7).await
            ),
            (1, 7)
        );
        opened.journal.close();
        std::fs::write(file_in(directory.path()), b"damaged").unwrap();
        let opened = open(directory.path());
        assert!(opened.fresh.is_some());
        assert_eq!(
            (opened.last_connection, opened.journal.next_connection(0).await),
            (7, 8)
        );
    });
}

#[test]
fn there_is_room_and_ballast() {
    let directory = tempfile::tempdir().unwrap();
    let opened = open(directory.path());
    let room = opened.journal.room();
    assert!(room.free_bytes > 0 && room.used_percent <= 100, "{room:?}");
    let ballast = std::fs::metadata(directory.path().join("ballast"));
    assert_eq!(room.ballast == Ballast::Whole, ballast.is_ok());
}

/// A reader that goes through the journal for as long as play goes on, and tidying in between: the WAL keeps its size.
#[test]
fn a_reader_that_never_rests_leaves_the_wal_bounded() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let opened = open(directory.path());
        let mut scribe = Scribe::after(&opened);
        fill(&opened.journal, &mut scribe, 200).await;
        let path = opened.journal.path().to_owned();
        let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let readers = std::thread::spawn(move || {
            let mut read = 0;
            while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
                read += read_all(&path).len();
            }
            read
        });
        let wal = directory.path().join("journal.sqlite3-wal");
        for _ in 0..300 {
            fill(&opened.journal, &mut scribe, 20).await;
            opened.journal.tidy();
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(readers.join().unwrap() > 0);
        // 6,000 appends of two or three pages would be 60 MB.
        let length = std::fs::metadata(&wal).unwrap().len();
        assert!(length <= 6 * 1024 * 1024, "the WAL has grown to {length} bytes");
    });
}

/// Events of day 0 to 9, ten a day, a checkpoint at the end of each day.
async fn ten_days(opened: &tablegate::journal::Opened, scribe: &mut Scribe) {
    for day in 0..10 {
        scribe.at = Timestamp::from_unix_micros(NOW.as_unix_micros() + day * DAY_US);
        let mut records = scribe.some(9);
        records.push(scribe.checkpoint());
        opened.journal.append(records).await.unwrap();
    }
}

#[test]
fn retention_deletes_a_days_worth_a_day_and_says_so() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let opened = open(directory.path());
        let mut scribe = Scribe::after(&opened);
        ten_days(&opened, &mut scribe).await;
        let at = |days: i64| Timestamp::from_unix_micros(NOW.as_unix_micros() + days * DAY_US);

        assert_eq!(opened.journal.expirable(at(200)).await, None, "nothing is acknowledged");
        opened.journal.acknowledge(100);
        let mut reader = Reader::open(opened.journal.path()).unwrap();
        until("the cursor is written", || reader.cursor().unwrap() == 100);
        assert_eq!(opened.journal.expirable(at(90)).await, None, "too young");
        let (through, sha256) = opened.journal.expirable(at(200)).await.unwrap();
        assert_eq!(through, 10, "a day's worth");

        scribe.at = at(200);
        let wrong = opened
            .journal
            .append_and_expire(vec![scribe.expired(through, [9; 32])], through)
            .await;
        assert!(matches!(wrong, Err(AppendError::Refused { .. })));
        (scribe.seqno, scribe.sha256) = (100, reader.head().unwrap().sha256);
        opened
            .journal
            .append_and_expire(vec![scribe.expired(through, sha256)], through)
            .await
            .unwrap();
        assert_eq!((reader.oldest().unwrap(), reader.head().unwrap().seqno), (11, 101));
        assert_eq!(opened.journal.expirable(at(200)).await, None, "once a day");
        assert_eq!(opened.journal.expirable(at(201)).await.unwrap().0, 20);
        let report = verify(opened.journal.path(), |_| {}).unwrap();
        assert_eq!((report.bad, report.oldest, report.proven), (None, 11, 91));
        opened.journal.close();
        drop(reader);
        let again = open(directory.path());
        assert!(again.fresh.is_none());
        assert_eq!((again.head.seqno, again.cursor), (101, 100));
        assert_eq!(again.checkpoint.unwrap().seqno, 100);
    });
}

#[test]
fn the_last_two_checkpoints_and_what_is_not_acknowledged_stay() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let opened = open(directory.path());
        let mut scribe = Scribe::after(&opened);
        scribe.at = NOW;
        for _ in 0..3 {
            let mut records = scribe.some(9);
            records.push(scribe.checkpoint());
            opened.journal.append(records).await.unwrap();
        }
        let later = Timestamp::from_unix_micros(NOW.as_unix_micros() + 300 * DAY_US);
        opened.journal.acknowledge(15);
        let mut reader = Reader::open(opened.journal.path()).unwrap();
        until("the cursor is written", || reader.cursor().unwrap() == 15);
        assert_eq!(opened.journal.expirable(later).await.unwrap().0, 15);
        opened.journal.acknowledge(30);
        until("the cursor is written", || reader.cursor().unwrap() == 30);
        let (through, _) = opened.journal.expirable(later).await.unwrap();
        assert_eq!(through, 19, "the last but one checkpoint is 20");
        let sha256 = reader.sha256(25).unwrap().unwrap();
        let refused = opened
            .journal
            .append_and_expire(vec![scribe.expired(25, sha256)], 25)
            .await;
        assert!(matches!(refused, Err(AppendError::Refused { .. })));
    });
}

/// Dates of a clock that nobody set say nothing: an event is as old as the synchronised ones after it say.
#[test]
fn wrong_dates_neither_hasten_nor_stop_retention() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let opened = open(directory.path());
        let mut scribe = Scribe::after(&opened);
        let stretches = [
            (ClockQuality::Synchronised, 0),
            (ClockQuality::Unsynchronised, -20_000),
            (ClockQuality::Unsynchronised, 20_000),
            (ClockQuality::Synchronised, 0),
            (ClockQuality::Unsynchronised, -20_000),
            (ClockQuality::Synchronised, 50),
        ];
        for (clock, days) in stretches {
            scribe.clock = clock;
            scribe.at = Timestamp::from_unix_micros(NOW.as_unix_micros() + days * DAY_US);
            opened.journal.append(scribe.some(10)).await.unwrap();
        }
        opened.journal.append(vec![scribe.checkpoint()]).await.unwrap();
        opened.journal.append(vec![scribe.checkpoint()]).await.unwrap();
        opened.journal.acknowledge(62);
        let mut reader = Reader::open(opened.journal.path()).unwrap();
        until("the cursor is written", || reader.cursor().unwrap() == 62);
        let at = |days: i64| Timestamp::from_unix_micros(NOW.as_unix_micros() + days * DAY_US);
        // Of 41 to 50 nobody knows how old they are until 51 is old enough.
        assert_eq!(opened.journal.expirable(at(100)).await.unwrap().0, 40);
    });
}
