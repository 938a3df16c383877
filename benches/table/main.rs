//! What a table costs, each figure beside its reference in the same run.
//!
//! `cargo bench --bench table -- [entry-to-lamps] [entry-to-subscriber] [backlog] [memory] [idle] [start] [million] [flaps]
//! [--rounds N]`; all without a name. `million` starts with a million unacknowledged events, `backlog` drains fifty thousand.
//! `memory` and `start` play 10,000 rounds first, some 32 minutes; `--rounds 1000` is quicker.
//! Devices are real ptys, the journal is a real file on the disk of the temporary folder, the broker a local mosquitto.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark may panic and prints"
)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::wildcard_enum_match_arm,
    missing_docs,
    reason = "a benchmark"
)]

mod backlog;
mod daemon;
mod ends;
mod fill;
mod flaps;
mod million;
mod play;
mod reference;
mod subscriber;

use daemon::{Daemon, Mosquitto};
use ends::Ends;
use play::Play;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Rounds of the latency measurements.
const ROUNDS: usize = 500;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let rounds = words
        .iter()
        .position(|word| word == "--rounds")
        .and_then(|at| words.get(at + 1))
        .map(|n| n.parse().expect("--rounds N"));
    let wanted = |name: &str| {
        !words.iter().any(|word| MEASURES.contains(&word.as_str())) || words.iter().any(|word| word == name)
    };
    // Below target/, so that the journal is on the disk that holds the project, not in a memory file system.
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    println!("figures in the order p50 / p99 / most; ratio is ours to the reference's");
    if wanted("entry-to-lamps") {
        entry_to_lamps(&folder.join("lamps"), rounds.unwrap_or(ROUNDS));
    }
    if wanted("entry-to-subscriber") {
        entry_to_subscriber(&folder.join("floor"), rounds.unwrap_or(ROUNDS));
    }
    if wanted("backlog") {
        backlog::measure(fresh(&folder.join("backlog")), BACKLOG);
    }
    if wanted("memory") || wanted("start") {
        memory_and_start(&folder.join("memory"), rounds.unwrap_or(10_000), wanted("start"));
    }
    if wanted("million") {
        million::measure(fresh(&folder.join("million")), MILLION);
    }
    if wanted("idle") {
        idle(&folder.join("idle"));
    }
    if wanted("flaps") {
        flaps::measure(fresh(&folder.join("flaps")), rounds.unwrap_or(FLAPS));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Flaps of the broker, and unplugs of devices.
const FLAPS: usize = 1000;

/// A quick round is so many events.
const EVENTS_OF_A_ROUND: usize = 8;

/// The start is measured with ten events for each round whose memory was: 100,000 of 10,000.
const EVENTS_OF_A_START: usize = 10;

/// Events of the backlog: a weekend of a busy table.
const BACKLOG: u64 = 50_000;

/// Events of a table that has not seen a broker for a month.
const MILLION: u64 = 1_000_000;

const MEASURES: [&str; 8] = [
    "million",
    "entry-to-lamps",
    "entry-to-subscriber",
    "backlog",
    "memory",
    "idle",
    "start",
    "flaps",
];

fn fresh(folder: &Path) -> &Path {
    std::fs::create_dir_all(folder.join("journal")).unwrap();
    folder
}

/// Last byte of the entry written by the terminal to the first byte of the lamps' picture read by them.
fn entry_to_lamps(folder: &Path, rounds: usize) {
    let folder = fresh(folder);
    let mut play = Play::begin(folder, 1);
    let mut reference = reference::Lamps::start(folder);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        ours.push(play.until_the_lamps(round).entry_to_lamps);
        play.finish();
        theirs.push(reference.once());
    }
    report(
        "entry to lamps",
        &mut ours,
        "pty read, write 512 bytes, fdatasync, pty write",
        &mut theirs,
    );
}

/// Last byte of the entry written by the terminal to the arrival of its event at a subscriber.
fn entry_to_subscriber(folder: &Path, rounds: usize) {
    let folder = fresh(folder);
    let Some(broker) = Mosquitto::start(folder) else {
        println!("entry to subscriber: not measured, mosquitto isn't installed");
        return;
    };
    let mut play = Play::begin(folder, broker.port);
    let mut floor = subscriber::Subscriber::start(broker.port, "tablegate/v1/bench/TS-01/events");
    let mut reference = reference::Floor::start(folder, broker.port);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        floor.forget();
        let played = play.until_the_lamps(round);
        let arrived = floor.arrival_of_result(Duration::from_secs(10));
        ours.push(arrived.saturating_duration_since(played.entered));
        play.finish();
        theirs.push(reference.once());
    }
    report(
        "entry to subscriber",
        &mut ours,
        "the same and one QoS 1 publish by the bare client",
        &mut theirs,
    );
}

/// Resident memory after 100 and after many rounds; then a start with that journal and one without.
fn memory_and_start(folder: &Path, rounds: usize, and_start: bool) {
    let folder = fresh(folder);
    let Some(broker) = Mosquitto::start(folder) else {
        println!("memory: not measured, mosquitto isn't installed");
        return;
    };
    let mut play = Play::begin(folder, broker.port);
    let began = Instant::now();
    let mut after_100 = 0;
    for round in 0..rounds {
        play.quick_round(round);
        if round == 99 {
            after_100 = play.daemon.resident_kib();
        }
    }
    let after = play.daemon.resident_kib();
    println!(
        "memory: {after} KiB resident after {rounds} rounds, {after_100} KiB after 100 (reach: no growth, below 16384); {:.1} ms a round",
        began.elapsed().as_secs_f64() * 1000.0 / rounds as f64
    );
    if and_start {
        for round in rounds..rounds * EVENTS_OF_A_START / EVENTS_OF_A_ROUND {
            play.quick_round(round);
        }
    }
    drop(play);
    if and_start {
        let events = start_times(folder, broker.port, 7);
        let empty = folder.join("empty");
        fresh(&empty);
        let none = start_times(&empty, broker.port, 7);
        let with_events = events.1.as_secs_f64() * 1000.0;
        let without = none.1.as_secs_f64() * 1000.0;
        println!(
            "start to online: {with_events:.0} ms with {} events, {without:.0} ms with an empty journal; difference {:.0} ms (reach: 100)",
            events.0,
            with_events - without
        );
    }
}

/// The journal's newest seqno, and the median time from start to an online status.
fn start_times(folder: &Path, port: u16, starts: usize) -> (u64, Duration) {
    let mut times = Vec::new();
    let mut head = 0;
    for _ in 0..starts {
        // An empty journal is empty at each start.
        if folder.ends_with("empty") {
            std::fs::remove_dir_all(folder.join("journal")).unwrap();
            std::fs::create_dir_all(folder.join("journal")).unwrap();
        }
        daemon::configure(folder, port);
        let mut floor = subscriber::Subscriber::start(port, "tablegate/v1/bench/TS-01/status");
        floor.forget();
        let began = Instant::now();
        let daemon = Daemon::start(folder);
        let (arrived, seqno) = floor.arrival_of_online(Duration::from_secs(20));
        times.push(arrived.saturating_duration_since(began));
        head = seqno;
        daemon.stop();
    }
    times.sort();
    (head, times[times.len() / 2])
}

/// Processor time of an open table on which nothing happens.
fn idle(folder: &Path) {
    let folder = fresh(folder);
    let broker = Mosquitto::start(folder);
    let mut play = Play::begin(folder, broker.as_ref().map_or(1, |broker| broker.port));
    play.rest(Duration::from_secs(5));
    let before = play.daemon.processor_time();
    play.rest(Duration::from_secs(60));
    let used = play.daemon.processor_time() - before;
    println!(
        "idle: {:.1} ms processor time in 60 s, open table, three devices (reach: 60)",
        used.as_secs_f64() * 1000.0
    );
}

fn report(name: &str, ours: &mut [Duration], reference: &str, theirs: &mut [Duration]) {
    let at = |times: &mut [Duration], share: f64| {
        times.sort();
        times[((times.len() - 1) as f64 * share).round() as usize].as_secs_f64() * 1e6
    };
    let (o50, o99, omax) = (at(ours, 0.5), at(ours, 0.99), at(ours, 1.0));
    let (t50, t99, tmax) = (at(theirs, 0.5), at(theirs, 0.99), at(theirs, 1.0));
    println!("{name}, {} rounds: {o50:.0} / {o99:.0} / {omax:.0} us", ours.len());
    println!("  reference ({reference}): {t50:.0} / {t99:.0} / {tmax:.0} us");
    println!("  ratio: p50 {:.2}, p99 {:.2} (reach: 1.50)", o50 / t50, o99 / t99);
}

/// Used by [`Play`] too.
fn seed(round: usize) -> [u8; 3] {
    let n = round % 216;
    [(n / 36) as u8 + 1, (n / 6 % 6) as u8 + 1, (n % 6) as u8 + 1]
}

/// Lamps of the standard layout.
const LAMPS: u32 = 50;

fn ends(folder: &Path) -> Ends {
    Ends::new(folder, LAMPS)
}
