//! What ports cost the processor: idle ones, and ones that are dead in every way. A thread of their own runs them, so that the
//! kernel's count for that thread is theirs.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::print_stdout,
    reason = "a test may panic"
)]

mod device_support;

use std::path::PathBuf;
use std::sync::mpsc as std_mpsc;
use std::time::Duration;

use device_support::{Far, Name, Peer, TestClock, config, device, kind, until};
use tablegate::device::{LinkReport, start};
use tablegate::table::input::DeviceKind;
use tokio::sync::{mpsc, oneshot, watch};

/// How long each case runs. Real time: the processor's share of it is what is measured.
const RUN: Duration = Duration::from_secs(8);

/// Processor time of this thread so far.
fn used() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

/// Three ports' tasks on a thread of their own, whose use of the processor is told at the end.
struct Ports {
    reports: Vec<watch::Receiver<LinkReport>>,
    measure: oneshot::Sender<()>,
    used: std_mpsc::Receiver<Duration>,
}

fn ports(paths: Vec<(DeviceKind, PathBuf)>) -> Ports {
    let (measure, measuring) = oneshot::channel();
    let (tell, used_in_all) = std_mpsc::channel();
    let (tell_reports, reports) = std_mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let clock = TestClock::new();
            let (sender, mut inputs) = mpsc::channel(64);
            let handles: Vec<_> = paths
                .iter()
                .map(|(kind, path)| start(config(*kind, path), sender.clone(), clock.clone()))
                .collect();
            tell_reports
                .send(handles.iter().map(|handle| handle.report.clone()).collect())
                .unwrap();
            let taking = async { while inputs.recv().await.is_some() {} };
            let measuring = async {
                measuring.await.unwrap();
                let before = used();
                // Real time: see RUN.
                tokio::time::sleep(RUN).await;
                tell.send(used() - before).unwrap();
            };
            tokio::select! {
                () = taking => {}
                () = measuring => {}
            }
        });
    });
    Ports {
        reports: reports.recv().unwrap(),
        measure,
        used: used_in_all,
    }
}

impl Ports {
    async fn measure(self) -> Duration {
        self.measure.send(()).unwrap();
        let used = self.used;
        let used = tokio::task::spawn_blocking(move || used.recv().unwrap()).await.unwrap();
        println!("{} ms a minute", used.as_secs_f64() * 1000.0 * 60.0 / RUN.as_secs_f64());
        used
    }
}

/// A share of a minute, for this run's length.
fn a_minute(millis: u64) -> Duration {
    Duration::from_millis(millis) * u32::try_from(RUN.as_secs()).unwrap() / 60
}

const KINDS: [DeviceKind; 3] = [DeviceKind::Tumbler, DeviceKind::Terminal, DeviceKind::LayoutLamps];

/// The limit for the whole daemon is 60 ms a minute, optimised; a debug build is allowed more here.
const ALLOWED_MS: u64 = if cfg!(debug_assertions) { 150 } else { 40 };

#[tokio::test]
async fn three_idle_devices_cost_next_to_nothing() {
    let clock = TestClock::new();
    let mut paths = Vec::new();
    let mut peers = Vec::new();
    for which in KINDS {
        let far = Far::new();
        paths.push((which, far.name.clone()));
        peers.push(Peer::start(device(kind(which)), far, clock.clone()));
    }
    let ports = ports(paths);
    for report in &ports.reports {
        until("a link that is up", || report.borrow().counts.sessions == 1).await;
    }
    let used = ports.measure().await;
    assert!(used < a_minute(ALLOWED_MS), "{used:?} in {RUN:?}");
    drop(peers);
}

#[tokio::test]
async fn missing_devices_cost_next_to_nothing() {
    let name = Name::new();
    let ports = ports(KINDS.iter().map(|kind| (*kind, name.path.clone())).collect());
    let used = ports.measure().await;
    assert!(used < a_minute(ALLOWED_MS), "{used:?} in {RUN:?}");
}

#[tokio::test]
async fn devices_that_went_cost_next_to_nothing() {
    let fars: Vec<Far> = KINDS.iter().map(|_| Far::new()).collect();
    let ports = ports(
        KINDS
            .iter()
            .copied()
            .zip(fars.iter().map(|far| far.name.clone()))
            .collect(),
    );
    for report in &ports.reports {
        until("an open port", || report.borrow().counts.opened == 1).await;
    }
    drop(fars);
    for report in &ports.reports {
        until("a port that is gone", || {
            report.borrow().text.contains("does not exist")
        })
        .await;
    }
    let used = ports.measure().await;
    assert!(used < a_minute(ALLOWED_MS), "{used:?} in {RUN:?}");
}

#[tokio::test]
async fn devices_that_stay_silent_cost_next_to_nothing() {
    let fars: Vec<Far> = KINDS.iter().map(|_| Far::new()).collect();
    let ports = ports(
        KINDS
            .iter()
            .copied()
            .zip(fars.iter().map(|far| far.name.clone()))
            .collect(),
    );
    let used = ports.measure().await;
    assert!(used < a_minute(ALLOWED_MS), "{used:?} in {RUN:?}");
}
