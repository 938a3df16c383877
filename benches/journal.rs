//! What an append costs, against the least that durability costs on the same disk in the same run: write 512 bytes to a file whose blocks
//! exist, `fdatasync`. The two take turns, so that the disk's moods hit both.
//!
//! `cargo bench --bench journal [-- DIRECTORY [COUNT]]`

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark may panic and prints"
)]

use prost::Message;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};
use tablegate::journal::{Journal, Options, Owner, Record, chain};
use tablegate::table::event::{Body, Event, LayoutLit};
use tablegate::time::Timestamp;

const REFERENCE_FILE: usize = 1024 * 1024;

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let under = arguments.first().map_or(".", String::as_str);
    let count: usize = arguments.get(1).map_or(500, |count| count.parse().unwrap());
    let directory = tempfile::tempdir_in(under).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let [reference, append, calm_reference, calm_append] = runtime.block_on(measure(directory.path(), count));
    println!("{count} times each, in {under}");
    report("reference", &reference, &reference);
    report("append", &append, &reference);
    report("reference, 10 ms apart", &calm_reference, &calm_reference);
    report("append, 10 ms apart", &calm_append, &calm_reference);
    for events in [0, 100_000] {
        open_with(&tempfile::tempdir_in(under).unwrap(), &runtime, events);
    }
}

async fn measure(directory: &Path, count: usize) -> [Vec<Duration>; 4] {
    let reference = File::create(directory.join("reference")).unwrap();
    reference.write_all_at(&vec![1; REFERENCE_FILE], 0).unwrap();
    reference.sync_all().unwrap();
    let (journal, mut last) = begin(directory);
    let mut times = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    for (at, pause) in [(0, Duration::ZERO), (2, Duration::from_millis(10))] {
        for turn in 0..count {
            let offset = (turn * 512 % REFERENCE_FILE) as u64;
            tokio::time::sleep(pause).await;
            let start = Instant::now();
            reference.write_all_at(&[2; 512], offset).unwrap();
            reference.sync_data().unwrap();
            times[at].push(start.elapsed());
            let record = next(&mut last);
            tokio::time::sleep(pause).await;
            let start = Instant::now();
            journal.append(vec![record]).await.unwrap();
            times[at + 1].push(start.elapsed());
            journal.acknowledge(last.0);
            if turn % 20 == 19 {
                journal.tidy();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
    times
}

fn begin(directory: &Path) -> (Journal, (u64, Vec<u8>, String)) {
    let owner = Owner {
        site: "harbour".to_owned(),
        table: "TS-07".to_owned(),
    };
    let opened = Journal::open(directory, &owner, "bench", Options::new(Timestamp::from_unix_micros(0))).unwrap();
    (
        opened.journal,
        (opened.head.seqno, opened.head.sha256, opened.journal_id),
    )
}

/// An event of some 300 bytes, as most are.
fn next((seqno, sha256, journal_id): &mut (u64, Vec<u8>, String)) -> Record {
    let event = Event {
        site: "harbour".to_owned(),
        table: "TS-07".to_owned(),
        journal_id: journal_id.clone(),
        seqno: *seqno + 1,
        previous_sha256: sha256.clone(),
        run_id: "0d3b9f6e-5f1c-4b38-8f7e-2f6f3c1a9b10".to_owned(),
        rules: vec!["NZ Div 9 r7.2".to_owned(); 8],
        body: Some(Body::LayoutLit(LayoutLit::default())),
        ..Event::default()
    };
    let bytes = event.encode_to_vec();
    let hash = chain::sha256(&bytes);
    *seqno += 1;
    *sha256 = hash.to_vec();
    Record {
        seqno: *seqno,
        sha256: hash,
        bytes,
    }
}

fn report(name: &str, times: &[Duration], reference: &[Duration]) {
    let at = |times: &[Duration], percent: usize| {
        let mut sorted = times.to_vec();
        sorted.sort();
        sorted[(sorted.len() - 1) * percent / 100]
    };
    let ratio = |percent| at(times, percent).as_secs_f64() / at(reference, percent).as_secs_f64();
    println!(
        "{name:23} p50 {:>9.1?} ({:.2})  p90 {:>9.1?} ({:.2})  p99 {:>9.1?} ({:.2})",
        at(times, 50),
        ratio(50),
        at(times, 90),
        ratio(90),
        at(times, 99),
        ratio(99)
    );
}

/// How long opening takes with so many events since the newest checkpoint's 10,000.
fn open_with(directory: &tempfile::TempDir, runtime: &tokio::runtime::Runtime, events: usize) {
    let (journal, mut last) = begin(directory.path());
    runtime.block_on(async {
        for turn in 0..events / 50 {
            let mut records: Vec<Record> = (0..50).map(|_| next(&mut last)).collect();
            if turn % 200 == 10 {
                records.push(checkpoint(&mut last));
            }
            journal.append(records).await.unwrap();
        }
    });
    journal.close();
    let owner = Owner {
        site: "harbour".to_owned(),
        table: "TS-07".to_owned(),
    };
    let start = Instant::now();
    let opened = Journal::open(
        directory.path(),
        &owner,
        "bench",
        Options::new(Timestamp::from_unix_micros(0)),
    )
    .unwrap();
    let opening = start.elapsed();
    let folded = opened.tail.map(Result::unwrap).count();
    println!(
        "open with {events:>7} events: {opening:.1?}, and {:.1?} with its tail of {folded} read",
        start.elapsed()
    );
}

fn checkpoint(last: &mut (u64, Vec<u8>, String)) -> Record {
    let body = Body::CheckpointRecorded(tablegate::table::event::CheckpointRecorded {
        through_seqno: last.0,
        sha256: last.1.clone(),
        ..Default::default()
    });
    let event = Event {
        site: "harbour".to_owned(),
        table: "TS-07".to_owned(),
        journal_id: last.2.clone(),
        seqno: last.0 + 1,
        previous_sha256: last.1.clone(),
        body: Some(body),
        ..Event::default()
    };
    let bytes = event.encode_to_vec();
    let hash = chain::sha256(&bytes);
    last.0 += 1;
    last.1 = hash.to_vec();
    Record {
        seqno: last.0,
        sha256: hash,
        bytes,
    }
}
