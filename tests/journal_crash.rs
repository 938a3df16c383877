//! SIGKILL at any moment: what was acknowledged is there, in order, without gaps.

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
use rand::{RngExt, SeedableRng, rngs::StdRng};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use tablegate::journal::verify;

/// Set in the child: where it appends.
const DIRECTORY: &str = "TABLEGATE_TEST_JOURNAL_DIRECTORY";

const KILLS: usize = 25;

/// Not a test of its own: the process that is killed. It says each number once it is durable.
#[test]
fn child_that_appends_until_it_is_killed() {
    let Ok(directory) = std::env::var(DIRECTORY) else {
        return;
    };
    run(async {
        let opened = open(Path::new(&directory));
        let mut scribe = Scribe::after(&opened);
        println!("\nopened {}", opened.head.seqno);
        for turn in 1_u64.. {
            opened
                .journal
                .append(scribe.some(1 + usize::try_from(turn % 5).unwrap()))
                .await
                .unwrap();
            println!("acknowledged {}", scribe.seqno);
            opened.journal.acknowledge(scribe.seqno - 1);
            if turn % 7 == 0 {
                opened.journal.tidy();
            }
            if turn % 50 == 0 {
                opened.journal.append(vec![scribe.checkpoint()]).await.unwrap();
                println!("acknowledged {}", scribe.seqno);
            }
        }
    });
}

#[test]
fn nothing_acknowledged_is_lost_by_a_kill() {
    let directory = tempfile::tempdir().unwrap();
    let seed = std::env::var("TABLEGATE_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(rand::random);
    println!("TABLEGATE_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let mut before = 0;
    for kill in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_that_appends_until_it_is_killed", "--nocapture"])
            .env(DIRECTORY, directory.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut acknowledged = before;
        let mut left = random.random_range(1..120);
        while left > 0 {
            let line = lines.next().expect("the child ended by itself").unwrap();
            if let Some(number) = line.strip_prefix("acknowledged ") {
                acknowledged = number.parse().unwrap();
                left -= 1;
            }
        }
        child.kill().unwrap();
        for line in lines.map_while(Result::ok) {
            // The last line may be cut short by the kill; a shorter number is a smaller one.
            if let Some(number) = line
                .strip_prefix("acknowledged ")
                .and_then(|number| number.parse().ok())
            {
                acknowledged = acknowledged.max(number);
            }
        }
        child.wait().unwrap();
        let opened = open(directory.path());
        assert!(
            kill == 0 || opened.fresh.is_none(),
            "kill {kill}: {}",
            opened.fresh.unwrap().text
        );
        assert!(
            opened.head.seqno >= acknowledged,
            "kill {kill}: {acknowledged} acknowledged, {} there",
            opened.head.seqno
        );
        assert!(opened.cursor <= opened.head.seqno);
        let report = verify(opened.journal.path(), |_| {}).unwrap();
        assert_eq!((report.bad, report.proven), (None, opened.head.seqno), "kill {kill}");
        before = opened.head.seqno;
        opened.journal.close();
    }
    assert!(before > KILLS as u64);
}
