//! No broker for long: the table plays on, memory stays flat, the log stays short. And the demo's embedded broker, whole.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    missing_docs
)]

mod uplink_support;

use prost::Message;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tablegate::table::event::Event;
use tablegate::table::input::Condition;
use tablegate::uplink::Notice;
use tracing::Subscriber as TracingSubscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};
use uplink_support::fake::Fake;
use uplink_support::memory::{Memory, PREFIX, Plan};
use uplink_support::report_is;
#[cfg(feature = "demo")]
use uplink_support::subscriber::Subscriber;

/// Counts what would be logged at the daemon's level.
#[derive(Clone, Default)]
struct Lines(Arc<AtomicU64>);

impl<S: TracingSubscriber> Layer<S> for Lines {
    fn on_event(&self, event: &tracing::Event<'_>, _context: Context<'_, S>) {
        if *event.metadata().level() <= tracing::Level::INFO {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Resident memory of this process, in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Time is simulated: hours pass as fast as connections are refused.
#[tokio::test(start_paused = true)]
async fn a_broker_that_is_never_up_costs_neither_memory_nor_log() {
    let lines = Lines::default();
    let logged = tracing::subscriber::set_default(tracing_subscriber::registry().with(lines.clone()));
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut rig = Plan::new(Memory::with_events("j", 10), &format!("mqtt://{nobody}")).start();
    let mut report = rig.uplink.report.clone();
    let began = tokio::time::Instant::now();
    let wait = |count: u64| {
        let mut report = report.clone();
        async move {
            while report.borrow().failures < count {
                report.changed().await.unwrap();
            }
        }
    };
    wait(40).await;
    let after_warm_up = resident();
    let minutes = began.elapsed().as_secs() / 60;
    assert!(minutes >= 10, "40 attempts took {minutes} min");
    assert!(
        lines.0.load(Ordering::SeqCst) <= 4,
        "{} lines in {minutes} min",
        lines.0.load(Ordering::SeqCst)
    );
    for _ in 0..1000 {
        rig.memory.append();
    }
    wait(1040).await;
    let grown = resident().saturating_sub(after_warm_up);
    // 1000 events of this test lie in memory too.
    assert!(grown < 2048, "{grown} KiB more after 1000 attempts");
    drop(logged);
    loop {
        if let Notice::Condition {
            condition, standing, ..
        } = rig.notices.recv().await.unwrap()
        {
            assert_eq!((condition, standing), (Condition::BrokerUnreachable, true));
            break;
        }
    }
    let backlog = report_is(&mut report, "the backlog is shown", |report| report.backlog == 1010).await;
    assert_eq!(backlog.published, 0);
}

#[tokio::test]
async fn a_flapping_broker_is_met_with_growing_pauses_and_a_short_log() {
    let lines = Lines::default();
    let _logged = tracing::subscriber::set_default(tracing_subscriber::registry().with(lines.clone()));
    let broker = Fake::new().await;
    let rig = Plan::new(Memory::with_events("j", 10), &broker.url).start();
    let mut at = Vec::new();
    for _ in 0..5 {
        let mut peer = broker.accept().await;
        at.push(std::time::Instant::now());
        peer.take(&[]).await;
    }
    let pauses: Vec<Duration> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(
        pauses[3] > Duration::from_millis(1400) && pauses[3] > pauses[1] * 2,
        "{pauses:?}"
    );
    assert!(lines.0.load(Ordering::SeqCst) <= 4);
    assert_eq!(rig.memory.ledger.cursor(), 0);
}

#[cfg(feature = "demo")]
#[tokio::test]
async fn the_embedded_broker_takes_everything_in_order() {
    let address = tablegate::sim::broker::start().unwrap();
    let url = format!("mqtt://{address}");
    let mut subscriber = Subscriber::new(&url, "floor", &[&format!("{PREFIX}/events")]).await;
    let rig = Plan::new(Memory::with_events("j", 300), &url).start();
    for expected in 1..=300 {
        let message = subscriber.message().await.unwrap();
        assert_eq!(Event::decode(&message.payload[..]).unwrap().seqno, expected);
    }
    let mut report = rig.uplink.report.clone();
    let report = report_is(&mut report, "all acknowledged", |report| report.cursor == 300).await;
    assert_eq!(report.failures, 0);
    rig.uplink.stop().await;
    assert_eq!(rig.memory.ledger.cursor(), 300);
}
