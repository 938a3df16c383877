//! A weekend's backlog drained while rounds are played, beside the bare client that publishes the same bytes with the same window.

use crate::daemon::Mosquitto;
use crate::fill::fill;
use crate::play::Play;
use crate::subscriber::{Subscriber, options};
use prost::Message;
use rumqttc::v5::AsyncClient;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::Packet;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};
use tablegate::journal::{Reader, Seqno, file_in};
use tablegate::table::event::Event;

/// Publishes of ours that are in flight at most: the window of delivery.
const WINDOW: u16 = 16;

/// Longer than the slowest drain.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the floor saw of our drain.
struct Drained {
    /// Events of the backlog a second.
    rate: f64,
    /// Live events that arrived, and the longest that one of them waited after it was recorded and the event before it had arrived.
    live: usize,
    longest_wait: Duration,
    rounds: usize,
}

pub fn measure(folder: &Path, events: u64) {
    let played = |folder: &Path| {
        let mut play = Play::begin(folder, 1);
        for round in 0..8 {
            play.quick_round(round);
        }
        play.close();
    };
    played(folder);
    let newest = fill(folder, events);
    let Some(broker) = Mosquitto::start(folder) else {
        println!("backlog: not measured, mosquitto isn't installed");
        return;
    };
    let bytes = payloads(folder, newest);
    let before = bare(&broker, &bytes);
    let ours = drain(folder, &broker, newest);
    let after = bare(&broker, &bytes);
    let bare = f64::midpoint(before, after);
    println!(
        "backlog: {newest} events, {:.0} a second while {} rounds were played; {} live events, each within {:.0} ms of its turn",
        ours.rate,
        ours.rounds,
        ours.live,
        ours.longest_wait.as_secs_f64() * 1000.0
    );
    println!("  reference (bare client, same bytes, window {WINDOW}): {before:.0} before, {after:.0} after");
    println!("  ratio: {:.2} (reach: 0.80 or more)", ours.rate / bare);
}

/// The bytes of the whole backlog, as they are published.
fn payloads(folder: &Path, newest: Seqno) -> Vec<Vec<u8>> {
    let mut reader = Reader::open(&file_in(&folder.join("journal"))).unwrap();
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < newest {
        let page = reader.page(bytes.len() as u64 + 1, newest, 1_000).unwrap();
        bytes.extend(page.into_iter().map(|record| record.bytes));
    }
    bytes
}

/// Events a second from the first to the last of the backlog, at the subscriber, while a dealer plays.
fn drain(folder: &Path, broker: &Mosquitto, newest: Seqno) -> Drained {
    let mut floor = Subscriber::start(broker.port, "tablegate/v1/bench/TS-01/events");
    let (wall, monotonic) = (SystemTime::now(), Instant::now());
    let mut play = Play::begin(folder, broker.port);
    let watching = std::thread::spawn(move || {
        let (mut first, mut last): (Option<Instant>, Option<Instant>) = (None, None);
        let (mut live, mut longest_wait) = (0, Duration::ZERO);
        let mut expected = 1;
        let mut rate = 0.0;
        loop {
            let (bytes, at) = floor.next(PATIENCE);
            let event = Event::decode(bytes.as_slice()).unwrap();
            if event.seqno < expected {
                continue;
            }
            assert_eq!(event.seqno, expected, "in order, without a gap");
            expected += 1;
            let begun = *first.get_or_insert(at);
            if event.seqno == newest {
                rate = newest as f64 / at.duration_since(begun).as_secs_f64();
            }
            if event.seqno > newest {
                let recorded = SystemTime::try_from(event.recorded_at.unwrap()).unwrap();
                let since = recorded.duration_since(wall).unwrap_or_default();
                let turn = last.map_or(monotonic + since, |last| last.max(monotonic + since));
                live += 1;
                longest_wait = longest_wait.max(at.saturating_duration_since(turn));
                // The opening and a few rounds beyond the drain: the last live events have had no backlog before them.
                if rate > 0.0
                    && matches!(event.body, Some(tablegate::table::event::Body::RoundSettled(_)))
                    && at.duration_since(begun) > DRAINED_AND_SOME
                {
                    return (rate, live, longest_wait);
                }
            }
            last = Some(at);
        }
    });
    let mut rounds = 0;
    while !watching.is_finished() {
        play.quick_round(rounds);
        rounds += 1;
    }
    let (rate, live, longest_wait) = watching.join().unwrap();
    Drained {
        rate,
        live,
        longest_wait,
        rounds,
    }
}

/// Rounds are watched for so long after the first event.
const DRAINED_AND_SOME: Duration = Duration::from_secs(5);

/// Events a second at a subscriber, by the bare client.
fn bare(broker: &Mosquitto, bytes: &[Vec<u8>]) -> f64 {
    let topic = format!("bench/backlog/{}", std::process::id());
    let mut floor = Subscriber::start(broker.port, &topic);
    let (port, count) = (broker.port, bytes.len());
    let bytes = bytes.to_vec();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut options = options("bench-bare", port);
            options.set_outgoing_inflight_upper_limit(WINDOW);
            let (client, mut connection) = AsyncClient::new(options, usize::from(WINDOW));
            let publishing = tokio::spawn(async move {
                for payload in bytes {
                    client.publish(&topic, QoS::AtLeastOnce, false, payload).await.unwrap();
                }
                // The connection lasts until everything was acknowledged.
                std::future::pending::<()>().await;
            });
            let mut acknowledged = 0;
            while acknowledged < count {
                if let rumqttc::v5::Event::Incoming(Packet::PubAck(_)) = connection.poll().await.unwrap() {
                    acknowledged += 1;
                }
            }
            publishing.abort();
        });
    });
    let (_, begun) = floor.next(PATIENCE);
    let mut last = begun;
    for _ in 1..count {
        (_, last) = floor.next(PATIENCE);
    }
    count as f64 / last.duration_since(begun).as_secs_f64()
}
