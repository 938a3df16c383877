//! The deterministic simulation: seeds find nothing, the same seed gives the same trace, and bugs that are planted are found.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test may panic"
)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tablegate::sim::faults::planted::{Bug, Planted};
use tablegate::sim::faults::trace::{Finding, Outcome, Trace};
use tablegate::sim::faults::{Plan, check, run, run_around};

/// About a minute on two cores; `tablegate sim faults` lives through millions.
const SEEDS: u64 = 2_000;
/// Lived through twice.
const TWICE: u64 = 60;
/// A planted bug has to be found within so many seeds; most are within ten.
const SEEDS_FOR_A_BUG: usize = 300;

fn live(seed: u64) -> Outcome {
    run(&Plan::drawn(seed), Trace::new(check::all())).expect("a runtime")
}

/// Does it for each of these seeds, on as many threads as there are cores.
fn each(seeds: u64, work: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds {
                        return;
                    }
                    work(seed);
                }
            });
        }
    });
}

#[test]
fn no_seed_breaks_an_invariant() {
    each(SEEDS, |seed| {
        let found = live(seed).findings;
        let told: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(
            found.is_empty(),
            "tablegate sim faults --seed {seed}\n{}",
            told.join("\n")
        );
    });
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    each(TWICE, |seed| {
        let (first, second) = (live(seed), live(seed));
        assert_eq!(first, second, "seed {seed}");
        assert!(first.seen > 50, "seed {seed} shows only {} things", first.seen);
    });
}

#[test]
fn planted_bugs_are_found_by_who_has_to_find_them() {
    let bugs = u64::try_from(Bug::ALL.len()).unwrap();
    let missed = Mutex::new(Vec::new());
    each(bugs, |which| {
        let bug = Bug::ALL[usize::try_from(which).unwrap()];
        let plans = (0..).map(Plan::drawn).filter(|plan| bug.can_show_in(plan));
        let finds = plans.take(SEEDS_FOR_A_BUG).find(|plan| {
            let planted = Planted::new(bug);
            let around = Arc::new(move |outside| planted.around(outside));
            let outcome = run_around(plan, Trace::new(check::all()), around).expect("a runtime");
            let found = |finding: &Finding| bug.found_by().contains(&finding.invariant);
            outcome.findings.iter().any(found)
        });
        let finds = finds.map(|plan| plan.seed);
        println!("{bug:?}: seed {finds:?}");
        if finds.is_none() {
            missed.lock().unwrap().push(bug);
        }
    });
    let missed = missed.into_inner().unwrap();
    assert!(
        missed.is_empty(),
        "not found within {SEEDS_FOR_A_BUG} seeds: {missed:?}"
    );
}
