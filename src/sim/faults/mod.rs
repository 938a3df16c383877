//! The deterministic simulation: the gateway's own code on a virtual clock, with simulated devices, storage and broker, and all faults from
//! a seed. What an onlooker outside the gateway can see goes to a [`trace`], and independent checkers judge it.
//!
//! A seed's [`Plan`] says what happens; [`run`] lives through it. One thread, one virtual clock that jumps to whatever is due next, no
//! file, no socket and no chance but the seed's: each seed twice gives the same trace. This is the one room of `sim` that knows the gateway and
//! what it is made of, because it builds a world around it; the devices themselves still stand on the far side of the bytes.
//!
//! # When a seed fails
//!
//! `tablegate sim faults` prints the seed, the [`Invariant`] that was broken (each has its judge in [`check`]), and which of the plan's faults and
//! rounds are needed for it ([`shrink`]). `sim faults --seed S --only 1,3 --rounds 1` lives through just these and prints one line for each
//! thing that was seen; `BROKEN` stands where a judge found something. Look there first, then back for the line after which it could not
//! come out right any more: a publish before its append, a link that broke before a void, an append that failed. Then it is one of three:
//! the gateway is wrong (mend it, with a test of the whole kind, and the seed needs no keeping), the world does what no
//! disk, line or broker does, or the judge claims what neither law nor protocol promises.
//!
//! What the judges can find is tried with bugs on purpose: see [`planted`].

mod broker;
pub mod check;
mod devices;
mod eyes;
mod game;
mod life;
mod line;
mod people;
pub mod plan;
pub mod planted;
pub(crate) mod shrink;
mod storage;
pub mod trace;
mod two_up;
mod world;

pub use game::Game;
pub use plan::Plan;
pub use world::Around;

use std::cell::RefCell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Once};
use trace::{Finding, Invariant, Outcome, Trace};

thread_local! {
    /// What panicked on this thread while it simulates; `None` while it doesn't.
    static PANICS: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Panics that are kept of a seed: one says enough.
const MOST_PANICS: usize = 4;

/// Lives through a plan, and tells `trace` what is seen. A panic of the gateway's own code is a finding too.
///
/// # Errors
/// When no runtime can be made.
pub fn run(plan: &Plan, trace: Trace) -> io::Result<Outcome> {
    run_around(plan, trace, Arc::new(|outside| outside))
}

/// The same, with something between the world and the gateway.
///
/// # Errors
/// When no runtime can be made.
pub fn run_around(plan: &Plan, trace: Trace, around: Around) -> io::Result<Outcome> {
    keep_panics();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()?;
    PANICS.set(Some(Vec::new()));
    let lived = catch_unwind(AssertUnwindSafe(|| runtime.block_on(world::live(plan, trace, around))));
    drop(runtime);
    let panics = PANICS.take().unwrap_or_default();
    let mut outcome = lived.unwrap_or_else(|_panic| Trace::new(Vec::new()).outcome());
    outcome.findings.extend(panics.into_iter().map(|text| Finding {
        invariant: Invariant::Sound,
        at: outcome.lasted,
        text,
    }));
    Ok(outcome)
}

/// Panics on a thread that simulates are kept for its seed and not printed.
fn keep_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let kept = PANICS.with_borrow_mut(|panics| match panics {
                Some(panics) => {
                    if panics.len() < MOST_PANICS {
                        panics.push(info.to_string());
                    }
                    true
                }
                None => false,
            });
            if !kept {
                before(info);
            }
        }));
    });
}
