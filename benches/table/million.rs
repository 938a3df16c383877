//! A start with a million events that no broker has acknowledged, beside one with none: the same table, the same broker.

use crate::daemon::{self, Daemon, Mosquitto};
use crate::fill::{Last, append, fill};
use crate::play::Play;
use crate::subscriber::Subscriber;
use std::path::Path;
use std::time::{Duration, Instant};
use tablegate::journal::file_in;

/// Starts of each kind; the median counts.
const STARTS: usize = 7;

/// How long a daemon is looked at after it is online: it delivers, and proves the older part of its journal meanwhile.
const LOOK_FOR: Duration = Duration::from_secs(10);

/// As the gateway's: recovery reads at most so many events.
const CHECKPOINT_EVERY: u64 = 10_000;

/// What a start costs.
struct Cost {
    to_online: Duration,
    /// The most that was resident, KiB.
    peak_kib: u64,
    /// Processor time until [`LOOK_FOR`] after it was online.
    processor: Duration,
}

/// Both kinds of start.
pub fn measure(folder: &Path, events: u64) {
    let Some(broker) = Mosquitto::start(folder) else {
        println!("start with a million: not measured, mosquitto isn't installed");
        return;
    };
    let none = folder.join("none");
    let mut play = Play::begin(crate::fresh(&none), broker.port);
    for round in 0..8 {
        play.quick_round(round);
    }
    play.close();
    let many = folder.join("many");
    crate::fresh(&many);
    for file in std::fs::read_dir(none.join("journal")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), many.join("journal").join(file.file_name())).unwrap();
    }
    let reference = starts(&none, broker.port);
    // A broker of its own: what the first one retains is not this journal's, and would be taken for a disk that went back in time.
    drop(broker);
    let Some(broker) = Mosquitto::start(&many) else { return };
    let began = Instant::now();
    fill(&many, events - CHECKPOINT_EVERY);
    append(&many, CHECKPOINT_EVERY - 1, Last::Events);
    println!(
        "start with {events} unacknowledged events, {CHECKPOINT_EVERY} of them after the newest checkpoint; written in {:.0} s, {} MiB",
        began.elapsed().as_secs_f64(),
        std::fs::metadata(file_in(&many.join("journal"))).unwrap().len() / (1024 * 1024)
    );
    let ours = starts(&many, broker.port);
    let (ms, ms_of_none) = (
        ours.to_online.as_secs_f64() * 1000.0,
        reference.to_online.as_secs_f64() * 1000.0,
    );
    println!(
        "  start to online: {ms:.0} ms, with none {ms_of_none:.0} ms; difference {:.0} ms (reach: 200)",
        ms - ms_of_none
    );
    println!(
        "  most resident: {} KiB, with none {} KiB; difference {} KiB (reach: 8192)",
        ours.peak_kib,
        reference.peak_kib,
        ours.peak_kib.saturating_sub(reference.peak_kib)
    );
    println!(
        "  processor time until {} s after it, delivering and proving: {:.0} ms, with none {:.0} ms",
        LOOK_FOR.as_secs(),
        ours.processor.as_secs_f64() * 1000.0,
        reference.processor.as_secs_f64() * 1000.0
    );
}

fn starts(folder: &Path, port: u16) -> Cost {
    daemon::configure(folder, port);
    let mut costs: Vec<Cost> = (0..STARTS).map(|_| start(folder, port)).collect();
    costs.sort_by_key(|cost| cost.to_online);
    let peak_kib = costs.iter().map(|cost| cost.peak_kib).max().unwrap();
    let processor = costs.iter().map(|cost| cost.processor).max().unwrap();
    let to_online = costs[costs.len() / 2].to_online;
    Cost {
        to_online,
        peak_kib,
        processor,
    }
}

fn start(folder: &Path, port: u16) -> Cost {
    let mut floor = Subscriber::start(port, "tablegate/v1/bench/TS-01/status");
    floor.forget();
    let began = Instant::now();
    let daemon = Daemon::start(folder);
    let (arrived, _) = floor.arrival_of_online(Duration::from_secs(20));
    std::thread::sleep(LOOK_FOR);
    let cost = Cost {
        to_online: arrived.saturating_duration_since(began),
        peak_kib: daemon.most_resident_kib(),
        processor: daemon.processor_time(),
    };
    daemon.stop();
    cost
}
