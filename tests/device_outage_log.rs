//! Ten minutes of each kind of trouble with a port: the table is told once, and the log stays short.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod device_support;

use device_support::{Bench, Far};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tablegate::table::input::{DeviceKind, Input};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};

/// Counts what would be logged at the daemon's level.
#[derive(Clone, Default)]
struct Lines(Arc<AtomicU64>);

impl<S: tracing::Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        if *event.metadata().level() <= tracing::Level::INFO {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Lines of a link in ten minutes at most: ten a minute.
const MOST_LINES: u64 = 100;

/// Inputs in ten minutes at most: one when it goes, and two for each of the closures that noise brings, which are ten seconds apart.
const MOST_INPUTS: usize = 130;

/// What ten minutes cost: lines of log, and inputs of the table.
async fn ten_minutes(mut bench: Bench, mut meanwhile: impl FnMut()) -> (u64, Vec<Input>) {
    let lines = Lines::default();
    let _logged = tracing::subscriber::set_default(tracing_subscriber::registry().with(lines.clone()));
    let mut inputs = Vec::new();
    for _ in 0..6000 {
        meanwhile();
        // Real time: simulated, and as the link counts it.
        tokio::time::sleep(Duration::from_millis(100)).await;
        while let Ok(arrival) = bench.inputs.try_recv() {
            inputs.push(arrival.input);
        }
    }
    (lines.0.load(Ordering::SeqCst), inputs)
}

#[tokio::test(start_paused = true)]
async fn a_missing_device_is_a_line() {
    let (lines, inputs) = ten_minutes(Bench::missing(DeviceKind::Terminal), || ()).await;
    assert!((1..=3).contains(&lines), "{lines}");
    assert_eq!(inputs.len(), 1, "{inputs:?}");
}

#[tokio::test(start_paused = true)]
async fn a_port_held_by_somebody_else_is_a_line() {
    let far = Far::new();
    let held = far.opened_beside();
    let lock = nix::fcntl::Flock::lock(held, nix::fcntl::FlockArg::LockExclusiveNonblock).unwrap();
    let bench = Bench::with_room(DeviceKind::Terminal, 64, Some(&far));
    let (lines, inputs) = ten_minutes(bench, || ()).await;
    drop(lock);
    assert!((1..=3).contains(&lines), "{lines}");
    assert_eq!(inputs.len(), 1, "{inputs:?}");
}

#[tokio::test(start_paused = true)]
async fn a_silent_device_is_a_few_lines() {
    let far = Far::new();
    let bench = Bench::with_room(DeviceKind::Terminal, 64, Some(&far));
    let (lines, inputs) = ten_minutes(bench, || ()).await;
    assert!((1..=MOST_LINES).contains(&lines), "{lines}");
    assert!((1..=3).contains(&inputs.len()), "{inputs:?}");
}

#[tokio::test(start_paused = true)]
async fn noise_without_end_is_a_bounded_number_of_lines() {
    let far = Far::new();
    let bench = Bench::with_room(DeviceKind::Terminal, 64, Some(&far));
    let noise: Vec<u8> = (0..=255u8).cycle().take(2048).collect();
    let mut written = 0usize;
    let (lines, inputs) = ten_minutes(bench, || {
        // What finds no room is lost, as on a real line.
        written += far.try_write(&noise).unwrap_or(0);
    })
    .await;
    assert!(written > 20_000, "{written} bytes of noise were read");
    assert!((1..=MOST_LINES).contains(&lines), "{lines}");
    assert!((1..=MOST_INPUTS).contains(&inputs.len()), "{} inputs", inputs.len());
}

#[tokio::test]
async fn a_port_is_closed_before_its_name_is_waited_for() {
    let (mut bench, peer) = Bench::up(DeviceKind::Tumbler).await;
    let resolved = bench
        .handle
        .report
        .borrow()
        .resolved
        .clone()
        .map(PathBuf::from)
        .unwrap();
    let others = open_as(&resolved);
    peer.unplug().await;
    bench.name.vanish();
    bench
        .report("the missing name", |report| report.text.contains("does not exist"))
        .await;
    assert!(others >= 1, "the port was open");
    assert_eq!(
        open_as(&resolved),
        0,
        "the kernel would give the replugged device another number"
    );
}

/// Descriptors of this process that lead there.
fn open_as(path: &std::path::Path) -> usize {
    let all = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let leads = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path())
            .is_ok_and(|target| target.to_string_lossy().starts_with(&*path.to_string_lossy()))
    };
    all.filter(leads).count()
}
