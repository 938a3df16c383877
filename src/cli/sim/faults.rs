//! `tablegate sim faults`: seeds of the deterministic simulation, many or one.

use crate::cli::ending::{Failure, print};
use crate::sim::faults::trace::{Outcome, Trace};
use crate::sim::faults::{self, Plan, check, shrink};
use clap::Args;
use serde_json::json;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Progress is said this often.
const PROGRESS_EVERY: Duration = Duration::from_secs(2);
/// Failing seeds that are printed; after as many the run ends.
const MOST_FAILURES: usize = 10;
/// The first seeds of a run are lived through twice, and their traces compared.
const TWICE: u64 = 100;
/// Of so many failing seeds it is found out which faults and rounds they need; the others have mostly the same cause.
const MOST_SMALLER: usize = 3;

/// The gateway's own code on a virtual clock, with simulated devices, storage and broker, and faults drawn from seeds; independent
/// checkers judge what can be seen of it.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tablegate sim faults --seeds 100000 --jobs 2
  tablegate sim faults --seed 4711
  tablegate sim faults --seed 4711 --only 0,2 --rounds 1

Exit status 1 when a checker found something. Then each failing seed is printed with the invariant that was broken, and when and how.
Of the first ones it is also printed which faults and rounds are needed for it, and the command that replays just these.

How to read it: replay the seed. First comes its plan: the game, the rounds, each fault with its time. Then one line for each thing that
somebody outside the gateway could see, with virtual time in seconds: what became durable in the journal, what devices show and what
happens at them, what the broker gets and acknowledges, what people ask and are told, faults that begin and are over. BROKEN marks where a
checker found something; look there, and then back for the line after which it could not come out right any more. \"quiet\" means that no
fault stands and everything had time to settle: what should be, must be then.")]
pub struct Faults {
    /// Live through so many seeds.
    #[arg(long, value_name = "N", default_value_t = 1000, conflicts_with = "seed")]
    seeds: u64,
    /// Begin with this seed.
    #[arg(long, value_name = "SEED", default_value_t = 0, conflicts_with = "seed")]
    from: u64,
    /// Threads; each lives through other seeds.
    #[arg(long, value_name = "J", default_value_t = 1, conflicts_with = "seed")]
    jobs: u16,
    /// Live through this seed alone and print its trace.
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Leave these faults of the plan out (with --seed).
    #[arg(long, value_name = "NUMBERS", requires = "seed", value_delimiter = ',')]
    without: Vec<usize>,
    /// Only these faults of the plan, or "none" of them (with --seed).
    #[arg(long, value_name = "NUMBERS", requires = "seed", conflicts_with = "without", value_parser = only)]
    only: Option<Only>,
    /// So many rounds instead of the plan's (with --seed).
    #[arg(long, value_name = "N", requires = "seed")]
    rounds: Option<u32>,
    /// JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// The numbers of faults.
#[derive(Clone, Debug)]
struct Only(Vec<usize>);

fn only(text: &str) -> Result<Only, String> {
    if text == "none" {
        return Ok(Only(Vec::new()));
    }
    let numbers: Result<Vec<usize>, _> = text.split(',').map(str::parse).collect();
    numbers
        .map(Only)
        .map_err(|_| "numbers with commas between them, or \"none\"".to_owned())
}

/// A seed takes a fraction of a second, in a debug build and on a busy machine a few seconds.
const ENDLESS: Duration = Duration::from_secs(180);

/// What a run of many seeds adds up to.
#[derive(Default)]
struct Sum {
    seeds: AtomicU64,
    rounds: AtomicU64,
    virtual_ms: AtomicU64,
    failed: Mutex<Vec<(u64, String)>>,
    enough: AtomicBool,
}

/// Runs it.
///
/// # Errors
/// When a checker found something, or a seed gave two traces.
pub fn run(args: &Faults) -> Result<(), Failure> {
    match args.seed {
        Some(seed) => one(args, seed),
        None => many(args),
    }
}

fn judged() -> Trace {
    Trace::new(check::all())
}

fn one(args: &Faults, seed: u64) -> Result<(), Failure> {
    let drawn = Plan::drawn(seed);
    let kept: Vec<usize> = match &args.only {
        Some(Only(faults)) => faults.clone(),
        None => (0..drawn.faults.len())
            .filter(|fault| !args.without.contains(fault))
            .collect(),
    };
    let named = args.only.iter().flat_map(|Only(faults)| faults).chain(&args.without);
    if let Some(unknown) = named.copied().find(|fault| *fault >= drawn.faults.len()) {
        return Err(Failure::usage(format!(
            "seed {seed} has no fault {unknown}: its {} faults are counted from 0",
            drawn.faults.len()
        )));
    }
    let plan = drawn.only(&kept, args.rounds.unwrap_or(drawn.rounds));
    let json = args.json;
    if !json {
        print(&plan.to_string())?;
    }
    let trace = judged().printed(Box::new(move |line| {
        let line = if json {
            json!({ "seen": line }).to_string()
        } else {
            line.to_owned()
        };
        // Whoever reads has gone: the rest is of no use.
        let _ = writeln!(std::io::stdout(), "{line}");
    }));
    let outcome = faults::run(&plan, trace)?;
    if json {
        print(&format!(
            "{}\n",
            json!({ "seed": seed, "hash": outcome.hash, "found": told(&outcome) })
        ))?;
    }
    found(seed, &outcome)
}

fn told(outcome: &Outcome) -> Vec<String> {
    outcome.findings.iter().map(ToString::to_string).collect()
}

fn found(seed: u64, outcome: &Outcome) -> Result<(), Failure> {
    if outcome.findings.is_empty() {
        return Ok(());
    }
    let findings = told(outcome).join("\n  ");
    Err(Failure::failed(format!("seed {seed}:\n  {findings}")))
}

fn many(args: &Faults) -> Result<(), Failure> {
    let sum = Sum::default();
    let next = AtomicU64::new(args.from);
    let end = args.from.saturating_add(args.seeds);
    let began = Instant::now();
    let under_way: Vec<Mutex<Option<(u64, Instant)>>> = (0..args.jobs.max(1)).map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for slot in &under_way {
            let (next, sum) = (&next, &sum);
            scope.spawn(move || {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end || sum.enough.load(Ordering::Relaxed) {
                        return;
                    }
                    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some((seed, Instant::now()));
                    let again = seed - args.from < TWICE;
                    live_through(seed, again, sum);
                    *slot.lock().unwrap_or_else(PoisonError::into_inner) = None;
                }
            });
        }
        progress(&sum, args, began, &under_way);
    });
    report(args, &sum, began.elapsed())
}

/// Says how far it is until it is done, and minds seeds that never are.
fn progress(sum: &Sum, args: &Faults, began: Instant, under_way: &[Mutex<Option<(u64, Instant)>>]) {
    let tells = std::io::stderr().is_terminal() || args.seeds > 10_000;
    let mut said = Instant::now();
    while sum.seeds.load(Ordering::Relaxed) < args.seeds && !sum.enough.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(20));
        if said.elapsed() < PROGRESS_EVERY {
            continue;
        }
        said = Instant::now();
        for slot in under_way {
            let held = *slot.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((seed, since)) = held
                && since.elapsed() > ENDLESS
            {
                stuck(seed);
            }
        }
        let done = sum.seeds.load(Ordering::Relaxed);
        let failed = sum.failed.lock().unwrap_or_else(PoisonError::into_inner).len();
        let rate = rate(done, began.elapsed());
        if tells {
            let _ = writeln!(
                std::io::stderr(),
                "{done} of {} seeds, {rate:.0} a second, {failed} failed",
                args.seeds
            );
        }
    }
}

/// Virtual time stands still in it: something in the gateway turns without waiting for anything. Its thread can't be ended, so the program is.
fn stuck(seed: u64) -> ! {
    let _ = writeln!(
        std::io::stderr(),
        "error: seed {seed} doesn't come to its end: something in it is busy without end, and no time passes. \
         Look where: tablegate sim faults --seed {seed}"
    );
    std::process::exit(1)
}

fn live_through(seed: u64, again: bool, sum: &Sum) {
    let plan = Plan::drawn(seed);
    let failure = match faults::run(&plan, judged()) {
        Err(error) => Some(format!("no runtime: {error}")),
        Ok(outcome) => {
            let lasted = u64::try_from(outcome.lasted.as_millis()).unwrap_or(u64::MAX);
            sum.virtual_ms.fetch_add(lasted, Ordering::Relaxed);
            sum.rounds.fetch_add(outcome.rounds, Ordering::Relaxed);
            if !outcome.findings.is_empty() {
                Some(told(&outcome).join("; "))
            } else if again {
                differs(&plan, &outcome)
            } else {
                None
            }
        }
    };
    if let Some(failure) = failure {
        let mut failed = sum.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.push((seed, failure));
        if failed.len() >= MOST_FAILURES {
            sum.enough.store(true, Ordering::Relaxed);
        }
    }
    sum.seeds.fetch_add(1, Ordering::Relaxed);
}

/// The same seed again: another trace is a finding.
fn differs(plan: &Plan, first: &Outcome) -> Option<String> {
    let second = match faults::run(plan, judged()) {
        Ok(second) => second,
        Err(error) => return Some(format!("no runtime: {error}")),
    };
    (second.hash != first.hash).then(|| {
        format!(
            "not deterministic: {} things seen and trace {:016x}, then {} and {:016x}",
            first.seen, first.hash, second.seen, second.hash
        )
    })
}

fn report(args: &Faults, sum: &Sum, took: Duration) -> Result<(), Failure> {
    let seeds = sum.seeds.load(Ordering::Relaxed);
    let rounds = sum.rounds.load(Ordering::Relaxed);
    let hours = Duration::from_millis(sum.virtual_ms.load(Ordering::Relaxed)).as_secs_f64() / 3600.0;
    let mut failed = sum.failed.lock().unwrap_or_else(PoisonError::into_inner).clone();
    failed.sort();
    if args.json {
        let failures: Vec<_> = failed
            .iter()
            .map(|(seed, found)| json!({ "seed": seed, "found": found }))
            .collect();
        print(&format!(
            "{}\n",
            json!({
                "from": args.from, "seeds": seeds, "rounds": rounds, "simulated_hours": hours,
                "seconds": took.as_secs_f64(), "failed": failures,
            })
        ))?;
    } else {
        print(&format!(
            "{seeds} seeds from {}, {rounds} rounds, {hours:.1} simulated hours in {:.1} s: {:.0} seeds and {:.0} rounds a second\n",
            args.from,
            took.as_secs_f64(),
            rate(seeds, took),
            rate(rounds, took),
        ))?;
    }
    if failed.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = failed
        .iter()
        .enumerate()
        .map(|(nth, (seed, found))| {
            let again = if nth < MOST_SMALLER { needed(*seed) } else { None };
            let again = again.unwrap_or_else(|| format!("  again, with its trace: tablegate sim faults --seed {seed}"));
            format!("seed {seed}: {found}\n{again}")
        })
        .collect();
    Err(Failure::failed(lines.join("\n")))
}

/// Which faults and rounds a failing seed needs, and how it is replayed with these alone.
fn needed(seed: u64) -> Option<String> {
    let plan = Plan::drawn(seed);
    let live = |plan: &Plan| faults::run(plan, judged()).ok();
    let invariant = live(&plan)?.findings.first()?.invariant;
    let smaller = shrink::smaller(&plan, invariant, live);
    let mut lines: Vec<String> = smaller
        .plan
        .faults
        .iter()
        .map(|fault| format!("  needs {fault}"))
        .collect();
    lines.push(format!("  needs {} of {} rounds", smaller.rounds, plan.rounds));
    let numbers: Vec<String> = smaller.faults.iter().map(usize::to_string).collect();
    let only = if numbers.is_empty() {
        "none".to_owned()
    } else {
        numbers.join(",")
    };
    lines.push(format!(
        "  again, with its trace: tablegate sim faults --seed {seed} --only {only} --rounds {}",
        smaller.rounds
    ));
    Some(lines.join("\n"))
}

fn rate(count: u64, took: Duration) -> f64 {
    let count = u32::try_from(count).map_or(f64::from(u32::MAX), f64::from);
    count / took.as_secs_f64().max(0.001)
}
