//! What opening a journal finds: a new one, its own, a broken one, another's.

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
use tablegate::journal::{Begin, Journal, OpenError, Options, Owner, Reader, file_in, verify};
use tablegate::table::event::JournalStartedReason;

#[test]
fn the_first_journal_is_empty_and_says_so() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let opened = open(directory.path());
        let fresh = opened.fresh.unwrap();
        assert_eq!(fresh.reason, JournalStartedReason::First);
        assert!(fresh.predecessor.is_none() && fresh.carried.is_none());
        assert_eq!((opened.head.seqno, opened.head.sha256), (0, vec![0; 32]));
        assert_eq!((opened.cursor, opened.last_connection), (0, 0));
        assert_eq!(opened.tail.count(), 0);
    });
}

#[test]
fn what_was_appended_is_there_after_a_clean_close_and_after_none() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let opened = open(directory.path());
        let id = opened.journal_id.clone();
        let mut scribe = Scribe::after(&opened);
        let mut written = Vec::new();
        for _ in 0..5 {
            let records = scribe.some(7);
            opened.journal.append(records.clone()).await.unwrap();
            written.extend(records);
        }
        let checkpoint = scribe.checkpoint();
        opened.journal.append(vec![checkpoint.clone()]).await.unwrap();
        written.push(checkpoint);
        let tail = scribe.some(3);
        opened.journal.append(tail.clone()).await.unwrap();
        written.extend(tail);
        assert_eq!(read_all(opened.journal.path()), written, "beside the open journal");
        opened.journal.close();

        assert_eq!(read_all(&file_in(directory.path())), written, "after it was closed");
        let again = open(directory.path());
        assert!(again.fresh.is_none());
        assert_eq!(again.journal_id, id);
        assert_eq!(again.head.seqno, 39);
        assert_eq!(again.checkpoint.unwrap().seqno, 36);
        let tail: Vec<u64> = again.tail.map(|event| event.unwrap().seqno).collect();
        assert_eq!(tail, [37, 38, 39]);
        again.journal.append(scribe.some(1)).await.unwrap();
        let report = verify(again.journal.path(), |_| {}).unwrap();
        assert_eq!((report.bad, report.proven, report.checkpoints), (None, 40, 1));
    });
}

#[test]
fn a_second_daemon_is_refused_and_told_who_has_it() {
    let directory = tempfile::tempdir().unwrap();
    let first = open(directory.path());
    let Err(error) = open_with(directory.path(), Options::new(NOW)) else {
        panic!("opened twice")
    };
    let text = error.to_string();
    assert!(matches!(error, OpenError::Locked(_)), "{text}");
    assert!(text.contains(&format!("process {}", std::process::id())), "{text}");
    first.journal.close();
    open(directory.path());
}

#[test]
fn another_owners_journal_is_refused_and_left_alone() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let opened = open(directory.path());
        let mut scribe = Scribe::after(&opened);
        opened.journal.append(scribe.some(3)).await.unwrap();
        opened.journal.close();
        let before = std::fs::read(file_in(directory.path())).unwrap();
        for (site, table) in [("harbour", "TS-08"), ("airport", "TS-07")] {
            let other = Owner {
                site: site.to_owned(),
                table: table.to_owned(),
            };
            let Err(error) = Journal::open(directory.path(), &other, "machine", Options::new(NOW)) else {
                panic!("opened for {site} {table}");
            };
            assert!(matches!(error, OpenError::OtherOwner { .. }), "{error}");
        }
        assert_eq!(std::fs::read(file_in(directory.path())).unwrap(), before);
        assert_eq!(
            Reader::open(&file_in(directory.path())).unwrap().head().unwrap().seqno,
            3
        );
    });
}

#[test]
fn a_rolled_back_journal_is_kept_and_its_state_carried_over() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let opened = open(directory.path());
        let old_id = opened.journal_id.clone();
        let mut scribe = Scribe::after(&opened);
        opened.journal.append(scribe.some(8)).await.unwrap();
        opened.journal.acknowledge(5);
        opened.journal.close();
        let options = Options {
            begin: Begin::RolledBack {
                text: "the floor has event 99".to_owned(),
            },
            ..Options::new(NOW)
        };
        let opened = open_with(directory.path(), options).unwrap();
        let fresh = opened.fresh.unwrap();
        assert_eq!(fresh.reason, JournalStartedReason::RolledBack);
        assert!(fresh.text.contains("the floor has event 99"), "{}", fresh.text);
        let predecessor = fresh.predecessor.unwrap();
        assert_eq!(
            (predecessor.journal_id.as_str(), predecessor.last_seqno),
            (old_id.as_str(), 8)
        );
        assert_eq!(
            (predecessor.last_acknowledged, &predecessor.last_sha256),
            (5, &scribe.sha256)
        );
        assert_eq!(fresh.carried.unwrap().tail.count(), 8);
        assert_ne!(opened.journal_id, old_id);
        assert_eq!(opened.undelivered.len(), 1);
        let undelivered = &opened.undelivered[0];
        assert_eq!((undelivered.cursor, undelivered.through), (5, 8));
        let mut reader = Reader::open(&undelivered.path).unwrap();
        let rest = reader.readable(6, 8, 10).unwrap();
        assert_eq!((rest.records.len(), rest.next), (3, 9));
        opened.journal.acknowledge_moved_aside(&old_id, 8);
        opened.journal.close();
        let again = open(directory.path());
        assert!(again.undelivered.is_empty());
        assert!(again.fresh.is_some(), "JournalStarted has still not been appended");
    });
}

/// What lies before the newest checkpoint is not looked at when opening: the thread finds it, and says so.
#[test]
fn the_rest_is_verified_in_the_background() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let opened = open(directory.path());
        let mut scribe = Scribe::after(&opened);
        fill(&opened.journal, &mut scribe, 500).await;
        opened.journal.append(vec![scribe.checkpoint()]).await.unwrap();
        fill(&opened.journal, &mut scribe, 20).await;
        let of_17 = read_all(opened.journal.path())[16].bytes.clone();
        let found = || {
            let (tell, told) = std::sync::mpsc::channel();
            (move |report| tell.send(report).unwrap(), told)
        };
        let (tell, told) = found();
        opened.journal.verify_rest(tell);
        let report = told.recv_timeout(std::time::Duration::from_secs(10)).unwrap().unwrap();
        assert_eq!((report.bad, report.proven, report.checkpoints), (None, 521, 1));
        opened.journal.close();

        let mut bytes = std::fs::read(file_in(directory.path())).unwrap();
        let at = bytes.windows(of_17.len()).position(|window| window == of_17).unwrap();
        bytes[at + 60] ^= 1;
        std::fs::write(file_in(directory.path()), bytes).unwrap();
        let opened = open(directory.path());
        assert!(opened.fresh.is_none());
        let (tell, told) = found();
        opened.journal.verify_rest(tell);
        let report = told.recv_timeout(std::time::Duration::from_secs(10)).unwrap().unwrap();
        assert_eq!(report.bad.unwrap().seqno, Some(17));
        opened.journal.append(scribe.some(1)).await.unwrap();
    });
}
