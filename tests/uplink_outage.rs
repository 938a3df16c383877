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
use std::collections::VecDeque;
use std::net::TcpListener;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context as Waking, Poll};
use std::time::Duration;
use tablegate::table::event::{Event, TableState};
use tablegate::table::input::Condition;
use tablegate::uplink::Notice;
use tablegate::uplink::exchange::{
    ConnectError, ConnectOptions, Loss, Publication, Signal, Stuck, Subscription, Terms, Verdict,
};
use tablegate::uplink::{Brokers, Connected, Reads};
use tokio::task::JoinHandle;
use tokio::time::{Instant, Sleep};
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
    let began = Instant::now();
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

/// What a connection does with what is published on it.
#[derive(Clone)]
enum Behaviour {
    /// Acknowledges nothing, and is gone 20 ms after the greeting.
    Flaps {
        /// Most publishes that one connection was given.
        most: Arc<AtomicU64>,
    },
    /// Acknowledges everything but in its hour, and then what came in it; it never ends by itself.
    IsDeaf {
        from: Instant,
        until: Instant,
        /// How often the uplink looked.
        polls: Arc<AtomicU64>,
    },
}

/// Brokers without bytes: each connection is taken and greeted, and takes whatever is published.
struct Byteless(Behaviour);

/// One connection to them.
struct Line {
    behaviour: Behaviour,
    said: Mutex<VecDeque<Signal>>,
    /// Until it is gone, or hears again.
    change: Pin<Box<Sleep>>,
    unanswered: Mutex<VecDeque<u16>>,
    published: AtomicU64,
}

impl Brokers for Byteless {
    fn connect(&self, _options: &ConnectOptions) -> Result<Box<dyn Connected>, ConnectError> {
        let terms = Terms {
            receive_maximum: 100,
            max_packet: None,
            retains: true,
            takes_qos1: true,
        };
        let said = [
            Signal::Connected(terms),
            Signal::Subscribed(Vec::new()),
            Signal::Subscribed(Vec::new()),
        ];
        let changes_at = match &self.0 {
            // The greeting waits 300 ms for what the broker kept.
            Behaviour::Flaps { .. } => Instant::now() + Duration::from_millis(320),
            Behaviour::IsDeaf { until, .. } => *until,
        };
        Ok(Box::new(Line {
            behaviour: self.0.clone(),
            said: Mutex::new(VecDeque::from(said)),
            // Real time: a simulated one.
            change: Box::pin(tokio::time::sleep_until(changes_at)),
            unanswered: Mutex::default(),
            published: AtomicU64::new(0),
        }))
    }

    fn chance(&self) -> f64 {
        0.5
    }

    fn reads(&self) -> Reads {
        Reads::AtOnce
    }

    fn run(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) -> JoinHandle<()> {
        tokio::spawn(task)
    }
}

impl Connected for Line {
    fn poll_next(&mut self, cx: &mut Waking<'_>) -> Poll<Signal> {
        if let Behaviour::IsDeaf { polls, .. } = &self.behaviour {
            // Simulated time stands still while somebody is busy, so a loop without end has to be ended here.
            let polls = polls.fetch_add(1, Ordering::SeqCst);
            assert!(polls < MOST_POLLS, "the uplink looks again and again at nothing");
        }
        if let Some(signal) = self.said.lock().unwrap().pop_front() {
            return Poll::Ready(signal);
        }
        match &self.behaviour {
            Behaviour::Flaps { .. } => {
                let gone = Loss::Broken("the broker closed the connection".to_owned());
                self.change.as_mut().poll(cx).map(|()| Signal::Lost(gone))
            }
            Behaviour::IsDeaf { from, .. } => {
                let hears = Instant::now() < *from || self.change.as_mut().poll(cx).is_ready();
                let oldest = hears.then(|| self.unanswered.lock().unwrap().pop_front()).flatten();
                oldest.map_or(Poll::Pending, |pkid| {
                    Poll::Ready(Signal::Acknowledged(pkid, Verdict::Taken))
                })
            }
        }
    }

    fn publish(&self, _publication: Publication) -> Result<(), Stuck> {
        let published = self.published.fetch_add(1, Ordering::SeqCst) + 1;
        let pkid = u16::try_from(published).unwrap();
        self.said.lock().unwrap().push_back(Signal::Sent(pkid));
        match &self.behaviour {
            Behaviour::Flaps { most } => drop(most.fetch_max(published, Ordering::SeqCst)),
            Behaviour::IsDeaf { .. } => self.unanswered.lock().unwrap().push_back(pkid),
        }
        Ok(())
    }

    fn subscribe(&self, _subscriptions: &[Subscription]) -> Result<(), Stuck> {
        Ok(())
    }

    fn disconnect(&self) -> Result<(), Stuck> {
        Ok(())
    }
}

/// A connection of a minute needs a few hundred.
const MOST_POLLS: u64 = 10_000;

/// A stop during which nothing, or everything late, is acknowledged: whatever is due by its time while that is nobody's concern any more,
/// the uplink doesn't turn over it. Hours of the broker, from the stop on.
#[tokio::test(start_paused = true)]
async fn a_stop_waits_quietly_whatever_would_be_due() {
    for hears_after in [0, 1, 9_999, 10_001, 10_200, 14_000, 60_000] {
        let connected = Instant::now();
        let polls = Arc::new(AtomicU64::new(0));
        let stops_at = connected + Duration::from_secs(2);
        let deaf_from = stops_at - Duration::from_millis(500);
        let broker = Byteless(Behaviour::IsDeaf {
            from: deaf_from,
            until: stops_at + Duration::from_millis(hears_after),
            polls: polls.clone(),
        });
        let rig = Plan::new(Memory::with_events("j", 3), "mqtt://127.0.0.1:9").start_at(Arc::new(broker), None);
        let change = |state: &tokio::sync::watch::Sender<TableState>| state.send_modify(|state| state.round_id += 1);
        // Real time: a simulated one, as everywhere here.
        tokio::time::sleep_until(deaf_from).await;
        change(&rig.state);
        // Real time: a simulated one.
        tokio::time::sleep_until(stops_at).await;
        let changes = async {
            // A state is due, and the one before it is not acknowledged; so is a status, and there will be one more, the last.
            change(&rig.state);
            rig.fault.send_replace("the disk is full".to_owned());
            // Real time: a simulated one.
            tokio::time::sleep(Duration::from_secs(5)).await;
            rig.fault.send_replace(String::new());
        };
        tokio::join!(rig.uplink.stop(), changes);
        let took = stops_at.elapsed();
        let polls = polls.load(Ordering::SeqCst);
        assert!(polls < MOST_POLLS, "{hears_after}: it was busy all the time");
        // The daemon itself waits for 15 s at most.
        assert!(took <= Duration::from_secs(20), "{hears_after}: {took:?}");
    }
}

/// Reads of a disk that fail: of a journal that was moved aside, and of the one in use. However many, nothing is taken for delivered that was not
/// read; a disk that stays silent is an alert until it answers; and what happens now doesn't wait for an old journal for ever.
#[tokio::test(start_paused = true)]
async fn a_read_that_fails_is_tried_again_and_told_when_it_stays() {
    const FAR: Duration = Duration::from_secs(90_000);
    for (of_old, of_new, told, is_left) in [
        (1, 0, None, false),
        (0, 3, None, false),
        (30, 0, Some(false), false),
        (0, 30, Some(false), false),
        (0, 2_000, Some(false), false),
        (1_000_000, 0, Some(true), true),
    ] {
        let what = format!("{of_old} and {of_new} reads fail");
        let lines = Lines::default();
        let logged = tracing::subscriber::set_default(tracing_subscriber::registry().with(lines.clone()));
        let broker = Byteless(Behaviour::IsDeaf {
            from: Instant::now() + FAR,
            until: Instant::now() + FAR,
            polls: Arc::default(),
        });
        let old = Memory::with_events("old", 40);
        old.failing.store(of_old, Ordering::SeqCst);
        let new = Memory::with_events("new", 3);
        new.failing.store(of_new, Ordering::SeqCst);
        let mut plan = Plan::new(new, "mqtt://127.0.0.1:9");
        plan.undelivered = vec![old];
        let mut rig = plan.start_at(Arc::new(broker), None);
        let mut report = rig.uplink.report.clone();
        while report.borrow_and_update().cursor < 3 {
            report.changed().await.unwrap();
        }
        let of_old = rig.memory.ledger.moved_aside();
        let old_cursor = of_old.iter().map(|(_, cursor)| *cursor).max();
        assert_eq!(old_cursor, Some(if is_left { 0 } else { 40 }), "{what}");
        assert_eq!(report.borrow().unreadable, if is_left { 40 } else { 0 }, "{what}");
        rig.uplink.stop().await;
        let mut stands = None;
        while let Ok(notice) = rig.notices.try_recv() {
            if let Notice::Condition {
                condition, standing, ..
            } = notice
                && condition == Condition::JournalUnreadable
            {
                assert_ne!(stands, Some(standing), "{what}: told twice");
                stands = Some(standing);
            }
        }
        assert_eq!(stands, told, "{what}");
        drop(logged);
        let lines = lines.0.load(Ordering::SeqCst);
        assert!(lines <= 6, "{what}: {lines} lines");
    }
}

/// Time is simulated: a thousand flaps take eight hours.
#[tokio::test(start_paused = true)]
async fn a_thousand_flaps_cost_no_memory_few_lines_and_no_pending_list() {
    let lines = Lines::default();
    let _logged = tracing::subscriber::set_default(tracing_subscriber::registry().with(lines.clone()));
    let most = Arc::new(AtomicU64::new(0));
    let flapping = Byteless(Behaviour::Flaps { most: most.clone() });
    let mut rig = Plan::new(Memory::with_events("j", 1000), "mqtt://127.0.0.1:9").start_at(Arc::new(flapping), None);
    let mut report = rig.uplink.report.clone();
    let began = Instant::now();
    let mut after_warm_up = 0;
    let mut at = Vec::new();
    for flap in 1..=1000 {
        while report.borrow_and_update().failures < flap {
            report.changed().await.unwrap();
        }
        at.push(began.elapsed());
        if flap == 50 {
            after_warm_up = resident();
        }
    }
    let grown = resident().saturating_sub(after_warm_up);
    assert!(grown < 1024, "{grown} KiB more after 950 flaps");
    let pauses: Vec<Duration> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(
        pauses[0] < Duration::from_secs(1) && pauses[3] > pauses[1] * 2,
        "{pauses:?}"
    );
    assert!(
        pauses[10..].iter().all(|pause| *pause > Duration::from_secs(22)),
        "{pauses:?}"
    );
    // 16 in flight, and what the window keeps for state and status.
    let most = most.load(Ordering::SeqCst);
    assert!((16..=18).contains(&most), "{most} publishes on one connection");
    let logged = lines.0.load(Ordering::SeqCst);
    let ten_minutes = began.elapsed().as_secs() / 600;
    assert!(
        logged <= ten_minutes + 4,
        "{logged} lines in {ten_minutes} times ten minutes"
    );
    assert_eq!(rig.memory.ledger.cursor(), 0);
    let mut told = Vec::new();
    while let Ok(notice) = rig.notices.try_recv() {
        told.push(notice);
    }
    assert!(told.len() <= 2, "the table is told once: {told:?}");
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
