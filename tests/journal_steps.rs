//! SIGKILL at each step of the journal's work: append, checkpoint, cursor, retention, tidying, closing, moving aside, beginning anew.
//! A child goes through all of them in order, and is told by its environment at which it ends.

#![cfg(feature = "failpoints")]
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
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use tablegate::failpoint::Point;
use tablegate::journal::{Begin, Link, Opened, Options, verify};
use tablegate::table::event::JournalStartedReason;
use tablegate::time::Timestamp;

/// Set in the child: where it works.
const DIRECTORY: &str = "TABLEGATE_TEST_JOURNAL_STEPS";

/// A turn is so many days long for the events' clock: ten of them outlast the retention time.
const DAYS_OF_A_TURN: i64 = 10;

/// So many acknowledgements write the cursor at once.
const EVENTS_OF_A_TURN: usize = 256;

/// In this turn the floor says that it knows more.
const ROLLED_BACK_IN: i64 = 13;

/// In this turn the daemon is stopped and started.
const STOPPED_IN: i64 = 5;

/// Nobody lives longer.
const LAST_TURN: i64 = 15;

/// Opens as a gateway does: a new journal begins with where it comes from.
async fn begin(directory: &Path, begin: Begin, at: Timestamp) -> (Opened, Scribe) {
    let options = Options {
        begin,
        ..Options::new(at)
    };
    let mut opened = open_with(directory, options).unwrap();
    let mut scribe = Scribe::after(&opened);
    scribe.at = at;
    if let Some(fresh) = opened.fresh.take() {
        let started = scribe.journal_started(fresh);
        opened.journal.append(vec![started]).await.unwrap();
    }
    println!("\ndurable {} {}", opened.journal_id, scribe.seqno);
    (opened, scribe)
}

/// Not a test of its own: the process that ends at a step. It says each thing once it may be relied on.
#[test]
fn child_that_goes_through_every_step() {
    let Ok(directory) = std::env::var(DIRECTORY) else {
        return;
    };
    let directory = Path::new(&directory);
    run(async {
        let (mut opened, mut scribe) = begin(directory, Begin::Continue, NOW).await;
        for turn in 1..=LAST_TURN {
            let at = Timestamp::from_unix_micros(NOW.as_unix_micros() + turn * DAYS_OF_A_TURN * DAY_US);
            scribe.at = at;
            let mut left = EVENTS_OF_A_TURN;
            while left > 0 {
                let records = scribe.some(left.min(60));
                left -= records.len();
                opened.journal.append(records).await.unwrap();
                println!("durable {} {}", opened.journal_id, scribe.seqno);
            }
            opened.journal.append(vec![scribe.checkpoint()]).await.unwrap();
            println!("durable {} {}", opened.journal_id, scribe.seqno);
            opened.journal.acknowledge(scribe.seqno);
            // Asked of the journal's thread, which writes the cursor before it.
            println!("connection {}", opened.journal.next_connection(0).await);
            if let Some((through, sha256)) = opened.journal.expirable(at).await {
                let records = vec![scribe.expired(through, sha256)];
                opened.journal.append_and_expire(records, through).await.unwrap();
                println!("durable {} {}", opened.journal_id, scribe.seqno);
                println!("expired {through}");
            }
            opened.journal.tidy();
            if turn == STOPPED_IN || turn == ROLLED_BACK_IN {
                let how = match turn {
                    ROLLED_BACK_IN => Begin::RolledBack {
                        text: "the floor has more".to_owned(),
                    },
                    _ => Begin::Continue,
                };
                opened.journal.close();
                (opened, scribe) = begin(directory, how, at).await;
            }
        }
        opened.journal.close();
    });
}

/// What a child said before it ended.
#[derive(Default, Debug)]
struct Said {
    journal_id: String,
    durable: u64,
    connection: u64,
    expired: u64,
}

fn said(output: &str) -> Said {
    let mut said = Said::default();
    for line in output.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["durable", journal_id, seqno] => {
                if said.journal_id != journal_id {
                    said = Said {
                        journal_id: journal_id.to_owned(),
                        connection: said.connection,
                        ..Said::default()
                    };
                }
                said.durable = seqno.parse().unwrap();
            }
            ["connection", number] => said.connection = number.parse().unwrap(),
            ["expired", through] => said.expired = through.parse().unwrap(),
            _ => {}
        }
    }
    said
}

/// The steps that are the journal's own, and in which passings the child ends there.
fn passings(point: Point) -> &'static [u32] {
    match point {
        Point::AppendBegins | Point::AppendWritten | Point::AppendSynced | Point::AppendAnswered | Point::HeadNoted => {
            &[1, 2, 9, 70]
        }
        Point::CheckpointWritten | Point::CheckpointSynced | Point::TidyBegins | Point::TidyMoved => &[1, 8],
        Point::ExpiryWritten | Point::ExpirySynced | Point::CursorBegins | Point::CursorWritten => &[1, 2],
        Point::ConnectionCounted => &[1, 3],
        // The second journal is built after a roll-back.
        Point::JournalBuilt | Point::JournalPlaced => &[1, 2],
        Point::CloseMoved => &[1, 2],
        Point::DatabaseMovedAside => &[1, 2],
        Point::JournalMovedAside => &[1],
        Point::Recorded | Point::Shown | Point::Told | Point::Published | Point::Acknowledged | Point::CursorTold => {
            &[]
        }
    }
}

#[test]
fn killed_at_each_step_the_journal_goes_on() {
    for (point, name) in Point::ALL {
        for passing in passings(point) {
            let directory = scratch();
            let what = format!("{name}:{passing}");
            let output = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "child_that_goes_through_every_step", "--nocapture"])
                .env(DIRECTORY, directory.path())
                .env("TABLEGATE_FAILPOINTS", &what)
                .stdout(Stdio::piped())
                .stderr(Stdio::inherit())
                .output()
                .unwrap();
            assert_eq!(output.status.signal(), Some(9), "{what}: {:?}", output.status);
            let said = said(&String::from_utf8(output.stdout).unwrap());
            judge(directory.path(), &said, &what);
        }
    }
}

fn judge(directory: &Path, said: &Said, what: &str) {
    run(async {
        let at = Timestamp::from_unix_micros(NOW.as_unix_micros() + (LAST_TURN + 1) * DAYS_OF_A_TURN * DAY_US);
        let opened = open_with(directory, Options::new(at)).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(
            opened.last_connection >= said.connection,
            "{what}: {} {said:?}",
            opened.last_connection
        );
        assert!(opened.cursor <= opened.head.seqno, "{what}");
        match &opened.fresh {
            // Before the first event was written.
            Some(fresh) if said.durable == 0 => assert_eq!(fresh.reason, JournalStartedReason::First, "{what}"),
            // In the middle of beginning anew: what came before is whole, and named.
            Some(fresh) => {
                assert_eq!(fresh.reason, JournalStartedReason::RolledBack, "{what}: {}", fresh.text);
                let before = fresh.predecessor.as_ref().unwrap();
                assert_eq!(
                    (&before.journal_id, before.last_seqno),
                    (&said.journal_id, said.durable),
                    "{what}: {}",
                    fresh.text
                );
                assert!(fresh.carried.is_some(), "{what}: its state is known");
                let kept = directory.join(&before.moved_to);
                let report = verify(&kept, |_| {}).unwrap();
                assert_eq!(
                    (report.bad, report.head.seqno),
                    (None, said.durable),
                    "{what}: {kept:?}"
                );
            }
            None => {
                assert!(
                    opened.head.seqno >= said.durable || opened.journal_id != said.journal_id,
                    "{what}: {said:?}"
                );
            }
        }
        opened.journal.close();

        // It goes on, whatever had been begun: the next one finds the same, and the proof is whole, back to the first.
        let (opened, mut scribe) = begin(directory, Begin::Continue, at).await;
        opened.journal.append(scribe.some(3)).await.unwrap();
        let report = verify(opened.journal.path(), |_| {}).unwrap();
        assert_eq!(report.bad, None, "{what}");
        assert!(
            report.elders.iter().all(|elder| elder.link == Link::Holds),
            "{what}: {:?}",
            report.elders
        );
        assert!(
            report.oldest > said.expired || opened.journal_id != said.journal_id,
            "{what}: what was deleted is back"
        );
        if opened.journal_id != said.journal_id && said.durable > 0 {
            let elder = report
                .elders
                .first()
                .unwrap_or_else(|| panic!("{what}: no predecessor"));
            assert_eq!(elder.journal_id, said.journal_id, "{what}");
            assert!(elder.last_seqno >= said.durable, "{what}");
        }
        opened.journal.close();
    });
}
