//! Where the daemon's log goes, and how much of it: a line that would come again and again is left out and counted.

use crate::counted::counted;
use std::collections::HashMap;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tracing::callsite::Identifier;
use tracing::level_filters::LevelFilter;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Filter, SubscriberExt};
use tracing_subscriber::{Layer, Registry};

/// Lines that one place in the program may log at once. A round logs fewer from any one place.
const BURST: u32 = 20;

/// After a burst, one line from that place this often: ten minutes without a broker are some forty lines in all.
const THEN_EVERY: Duration = Duration::from_secs(30);

/// Where the lines about left-out lines come from; they are bounded by those that let them pass.
const TARGET: &str = "tablegate::log";

/// Logs to the journal under systemd, else to standard error.
pub fn to_journald_or_stderr(level: LevelFilter) {
    let journald = std::env::var_os("JOURNAL_STREAM").and_then(|_| tracing_journald::layer().ok());
    let layer: Box<dyn Layer<Registry> + Send + Sync> = match journald {
        Some(journald) => Box::new(journald),
        None => Box::new(
            tracing_subscriber::fmt::layer()
                .with_writer(std::io::stderr)
                .with_target(false)
                .with_ansi(std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()),
        ),
    };
    let subscriber = Registry::default().with(layer.with_filter(Bounded::new(level)));
    // A second daemon in one process (in tests) logs where the first does.
    let _already_set = tracing::subscriber::set_global_default(subscriber);
}

/// Lets through what is loud enough and doesn't come too often.
struct Bounded {
    level: LevelFilter,
    places: Mutex<HashMap<Identifier, Place>>,
}

/// How much one place in the program has logged.
#[derive(Clone, Copy)]
struct Place {
    /// Lines that it may log at once.
    left: u32,
    refilled: Instant,
    left_out: u64,
}

impl Bounded {
    fn new(level: LevelFilter) -> Self {
        Bounded {
            level,
            places: Mutex::new(HashMap::new()),
        }
    }

    /// Whether `place` may log now; how many of its lines were left out before.
    fn admit(&self, place: Identifier, now: Instant) -> Option<u64> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        // Bounded by the number of log statements in the program.
        let place = places.entry(place).or_insert(Place {
            left: BURST,
            refilled: now,
            left_out: 0,
        });
        let refill = now.duration_since(place.refilled).as_secs() / THEN_EVERY.as_secs();
        if refill > 0 {
            place.left = place
                .left
                .saturating_add(u32::try_from(refill).unwrap_or(BURST))
                .min(BURST);
            place.refilled = now;
        }
        match place.left.checked_sub(1) {
            Some(left) => {
                place.left = left;
                Some(std::mem::take(&mut place.left_out))
            }
            None => {
                place.left_out += 1;
                None
            }
        }
    }
}

impl<S: Subscriber> Filter<S> for Bounded {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        *metadata.level() <= self.level && is_ours(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn event_enabled(&self, event: &Event<'_>, _: &Context<'_, S>) -> bool {
        let metadata = event.metadata();
        if metadata.target() == TARGET {
            return true;
        }
        match self.admit(metadata.callsite(), Instant::now()) {
            Some(0) => true,
            Some(left_out) => {
                tracing::warn!(target: TARGET, "{} like the next one left out", counted(left_out, "line"));
                true
            }
            None => false,
        }
    }
}

/// Libraries say what only their makers need; their warnings come from us, in words.
fn is_ours(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with("tablegate") || *metadata.level() <= tracing::Level::ERROR
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::sync::Arc;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_that_comes_again_and_again_is_left_out_and_others_are_not() {
        let lines = Lines::default();
        let writer = lines.clone();
        let layer = tracing_subscriber::fmt::layer().with_writer(move || writer.clone());
        let subscriber = Registry::default().with(layer.with_filter(Bounded::new(LevelFilter::INFO)));
        tracing::subscriber::with_default(subscriber, || {
            for _ in 0..10_000 {
                tracing::warn!("no broker");
            }
            tracing::warn!("the disk is full");
            tracing::debug!("not at this level");
        });
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        assert_eq!(
            text.lines().filter(|line| line.contains("no broker")).count(),
            BURST as usize
        );
        assert_eq!(text.lines().filter(|line| line.contains("the disk is full")).count(), 1);
        assert!(!text.contains("not at this level"));
    }

    #[test]
    fn what_was_left_out_is_counted_and_ten_minutes_are_a_few_lines() {
        let bounded = Bounded::new(LevelFilter::INFO);
        let place = tracing::callsite!(name: "x", kind: tracing::metadata::Kind::EVENT, fields:);
        let place = tracing::callsite::Callsite::metadata(place).callsite();
        let start = Instant::now();
        let mut admitted = 0;
        let mut left_out = 0;
        for second in 0..600 {
            if let Some(before) = bounded.admit(place.clone(), start + Duration::from_secs(second)) {
                admitted += 1;
                left_out += before;
            }
        }
        assert!((BURST..BURST + 21).contains(&admitted), "{admitted}");
        assert!(left_out > 500, "{left_out}");
    }
}
