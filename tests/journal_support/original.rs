//! A journal to be damaged, and what must hold whatever was done to it.

use super::*;
use std::process::Command;
use tablegate::journal::verify;
use tablegate::table::event::JournalStartedReason;

pub const EVENTS: usize = 120;

/// A journal with a checkpoint in the middle and a cursor, as it lies on the disk while its daemon runs, and after it was closed.
pub struct Original {
    pub running: tempfile::TempDir,
    pub closed: tempfile::TempDir,
    pub records: Vec<Record>,
    pub journal_id: String,
}

/// Copies with another process: opening the database's file here would drop the locks that this process has on it.
pub fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp")
        .arg("-r")
        .arg(from.join("."))
        .arg(to)
        .status()
        .unwrap();
    assert!(status.success());
}

pub fn original() -> Original {
    run(async {
        let directory = scratch();
        let opened = open(directory.path());
        let journal_id = opened.journal_id.clone();
        let mut scribe = Scribe::after(&opened);
        fill(&opened.journal, &mut scribe, EVENTS / 2).await;
        opened.journal.append(vec![scribe.checkpoint()]).await.unwrap();
        opened.journal.tidy();
        fill(&opened.journal, &mut scribe, EVENTS / 2 - 1).await;
        opened.journal.acknowledge(30);
        let mut reader = Reader::open(opened.journal.path()).unwrap();
        until("the cursor is written", || reader.cursor().unwrap() == 30);
        drop(reader);
        let records = read_all(opened.journal.path());
        let running = scratch();
        let noted = std::fs::read_to_string(directory.path().join("journal.head")).unwrap();
        assert!(noted.contains(&format!("{EVENTS:020}")), "{noted}");
        copy(directory.path(), running.path());
        opened.journal.close();
        std::fs::remove_file(directory.path().join("ballast")).ok();
        std::fs::remove_file(running.path().join("ballast")).ok();
        Original {
            running,
            closed: directory,
            records,
            journal_id,
        }
    })
}

/// The promise, whatever was done to the files. True when the journal was moved aside.
pub fn keeps_its_promise(directory: &Path, original: &Original, what: &str) -> bool {
    let opened = match open_with(directory, Options::new(NOW)) {
        Ok(opened) => opened,
        // It says so, and nothing was touched: not silent, and for a person to look at.
        Err(error) => panic!("{what}: {error}: {error:?}"),
    };
    let Some(fresh) = opened.fresh else {
        assert_eq!(opened.head.seqno, EVENTS as u64, "{what}: shorter than it was");
        // An older one means that events are delivered again.
        assert!(opened.cursor <= 30, "{what}: cursor {}", opened.cursor);
        let mut scribe = Scribe::after(&opened);
        run(opened.journal.append(scribe.some(40))).unwrap_or_else(|error| panic!("{what}: {error}: {error:?}"));
        let report = verify(opened.journal.path(), |_| {});
        match report {
            Ok(report) if report.bad.is_none() => {
                for (found, was) in read_all(opened.journal.path()).iter().zip(&original.records) {
                    assert_eq!(found, was, "{what}: verified, and differs");
                }
            }
            // Older than the checkpoint: the check in the background finds it.
            Ok(_) | Err(_) => {}
        }
        let mut reader = Reader::open(opened.journal.path()).unwrap();
        for was in &original.records {
            match reader.page(was.seqno, was.seqno, 1) {
                Ok(page) => assert_eq!(page, std::slice::from_ref(was), "{what}: another event is served"),
                Err(error) => assert!(is_found(opened.journal.path()), "{what}: {error}, and yet it is proven"),
            }
        }
        return false;
    };
    assert_eq!(fresh.reason, JournalStartedReason::MovedAside, "{what}: {}", fresh.text);
    let predecessor = fresh.predecessor.unwrap();
    assert_eq!(predecessor.last_seqno, EVENTS as u64, "{what}: {}", fresh.text);
    assert_eq!(predecessor.last_sha256, original.records[EVENTS - 1].sha256, "{what}");
    assert!(predecessor.journal_id == original.journal_id, "{what}");
    assert!(directory.join(&predecessor.moved_to).exists(), "{what}");
    if let Some(carried) = fresh.carried {
        let last = carried.tail.last().unwrap().unwrap();
        assert_eq!(last.seqno, EVENTS as u64, "{what}");
    }
    for moved in &opened.undelivered {
        let mut reader = Reader::open(&moved.path).unwrap();
        for record in reader.readable(moved.cursor + 1, moved.through, 1000).unwrap().records {
            let at = usize::try_from(record.seqno - 1).unwrap();
            assert_eq!(record, original.records[at], "{what}: delivers something else");
        }
    }
    opened.journal.close();
    let again = open(directory);
    assert!(
        again.fresh.is_some_and(|fresh| fresh.predecessor.is_some()),
        "{what}: said once only"
    );
    true
}

/// The proof says what is wrong.
fn is_found(path: &Path) -> bool {
    !matches!(verify(path, |_| {}), Ok(report) if report.bad.is_none())
}
