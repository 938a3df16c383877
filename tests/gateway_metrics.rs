//! Metrics as Prometheus meets them: the format by its grammar, and sums that hold at every scrape, whatever breaks meanwhile.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test may panic"
)]

mod daemon_support;
mod uplink_support;

use daemon_support::Scene;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tablegate::metrics::{FAMILIES, FamilyKind};
use tablegate::table::event::Body;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use uplink_support::mosquitto::Mosquitto;
use uplink_support::subscriber::Subscriber;

/// Adds `[metrics]` to a table's configuration, on a free port.
fn with_metrics(scene: &Scene) -> SocketAddr {
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let text = std::fs::read_to_string(scene.config()).unwrap();
    std::fs::write(scene.config(), format!("{text}[metrics]\nlisten = \"{free}\"\n")).unwrap();
    free
}

/// One scrape: every sample by its name and labels.
#[derive(Clone, Debug)]
struct Scrape(BTreeMap<String, f64>);

impl Scrape {
    async fn of(address: SocketAddr) -> Option<Scrape> {
        let mut stream = TcpStream::connect(address).await.ok()?;
        let request = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nAccept: text/plain\r\n\r\n");
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
        assert!(head.contains("text/plain; version=0.0.4"), "{head}");
        Some(parsed(body))
    }

    /// The sample of this name without labels, or all of the family together.
    fn get(&self, family: &str) -> f64 {
        let name = format!("tablegate_{family}");
        let of_family = |sample: &str| sample == name || sample.starts_with(&format!("{name}{{"));
        let samples: Vec<f64> = self
            .0
            .iter()
            .filter(|(sample, _)| of_family(sample))
            .map(|(_, value)| *value)
            .collect();
        assert!(!samples.is_empty(), "{name} is missing");
        samples.iter().sum()
    }

    fn one(&self, sample: &str) -> f64 {
        *self
            .0
            .get(sample)
            .unwrap_or_else(|| panic!("{sample} is missing: {:?}", self.0))
    }

    /// What must hold at every scrape.
    fn adds_up(&self) {
        let sum = |names: &[&str]| names.iter().map(|name| self.get(name)).sum::<f64>();
        for (left, right) in [
            (
                sum(&["inputs_total"]),
                sum(&[
                    "inputs_recorded_total",
                    "inputs_unrecorded_total",
                    "inputs_lost_total",
                    "inputs_in_progress",
                ]),
            ),
            (
                sum(&["events_backlog_at_start", "events_journalled_total"]),
                sum(&["events_settled_total", "events_unreadable_total", "events_backlog"]),
            ),
            (
                sum(&["events_published_total"]),
                sum(&[
                    "events_acknowledged_total",
                    "events_rejected_total",
                    "events_unanswered_total",
                    "events_in_flight",
                ]),
            ),
            (
                sum(&["rounds_begun_total", "rounds_taken_back_total"]),
                sum(&["rounds_ended_total", "round_running"]),
            ),
            (
                self.one("tablegate_entries_total{outcome=\"refused\"}"),
                sum(&["entries_refused_total"]),
            ),
            (
                self.one("tablegate_rounds_ended_total{end=\"void\"}"),
                sum(&["voids_total"]),
            ),
        ] {
            assert!((left - right).abs() < 0.5, "{left} is not {right} in {:#?}", self.0);
        }
        assert!(self.get("inputs_in_progress") <= 1.0);
        assert!(self.get("journal_cursor") <= self.get("journal_seqno"));
        assert_eq!(self.get("mode"), 1.0, "one mode at a time");
    }
}

/// Reads a page by the grammar of the text format 0.0.4, and refuses what isn't in it.
fn parsed(page: &str) -> Scrape {
    assert!(page.ends_with('\n'), "the last line ends too");
    let mut samples = BTreeMap::new();
    let mut family: Option<(String, String)> = None;
    let mut families = Vec::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, text) = help.split_once(' ').unwrap();
            assert!(!text.is_empty(), "{line}");
            let kind = lines.next().unwrap();
            let (named, kind) = kind.strip_prefix("# TYPE ").unwrap().split_once(' ').unwrap();
            assert_eq!(named, name, "HELP and TYPE are of one family");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{kind}");
            family = Some((name.to_owned(), kind.to_owned()));
            families.push(name.to_owned());
            continue;
        }
        let (name, kind) = family.as_ref().unwrap();
        let (sample, value) = line.rsplit_once(' ').unwrap();
        let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line}"));
        assert!(value.is_finite() && value >= 0.0, "{line}");
        let base = sample.split('{').next().unwrap();
        match kind.as_str() {
            "histogram" => assert!(
                ["_bucket", "_sum", "_count"]
                    .iter()
                    .any(|end| base == format!("{name}{end}")),
                "{line}"
            ),
            _ => assert_eq!(base, name, "a sample stands below its family"),
        }
        if let Some(labels) = sample.strip_prefix(base).filter(|labels| !labels.is_empty()) {
            let labels = labels
                .strip_prefix('{')
                .and_then(|labels| labels.strip_suffix('}'))
                .unwrap();
            for label in labels.split("\",") {
                let (label, value) = label.split_once("=\"").unwrap_or_else(|| panic!("{line}"));
                assert!(label.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{line}");
                assert!(!value.trim_end_matches('"').contains('"'), "{line}");
            }
        }
        assert!(samples.insert(sample.to_owned(), value).is_none(), "twice: {sample}");
    }
    let expected: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
    assert_eq!(families, expected, "every family, each once");
    for histogram in FAMILIES.iter().filter(|family| family.kind == FamilyKind::Histogram) {
        let counts = format!("{}_count", histogram.name);
        let all: Vec<(&String, f64)> = samples
            .iter()
            .filter(|(sample, _)| sample.split('{').next() == Some(&counts))
            .map(|(sample, value)| (sample, *value))
            .collect();
        assert!(!all.is_empty(), "{counts} is missing");
        for (sample, count) in all {
            let labels = sample[counts.len()..].trim_matches(['{', '}']);
            let of = |le: &str| match labels {
                "" => format!("{}_bucket{{le=\"{le}\"}}", histogram.name),
                labels => format!("{}_bucket{{{labels},le=\"{le}\"}}", histogram.name),
            };
            assert_eq!(count, samples[&of("+Inf")], "{sample}");
            let beginning = of("x").split("le=").next().unwrap().to_owned();
            let buckets = samples.iter().filter(|(sample, _)| sample.starts_with(&beginning));
            assert_eq!(buckets.map(|(_, value)| *value).fold(0.0, f64::max), count, "{sample}");
        }
    }
    Scrape(samples)
}

/// The guide names every label that a sample has, and no other.
fn labels_are_those_of_the_guide(scrape: &Scrape) {
    let guide = std::fs::read_to_string("docs/operations.md").unwrap();
    for family in FAMILIES {
        let row = guide
            .lines()
            .find(|line| line.starts_with(&format!("| `{}` |", family.name)));
        let cell = row.unwrap().split('|').nth(3).unwrap();
        let told: BTreeSet<&str> = cell
            .split([';', ','])
            .filter_map(|part| part.split(':').next().map(str::trim))
            .filter(|word| !word.is_empty())
            .collect();
        let samples = scrape.0.keys().filter(|sample| {
            let base = sample.split('{').next().unwrap();
            let end = base.strip_prefix(family.name);
            end.is_some_and(|end| ["", "_bucket"].contains(&end))
        });
        for sample in samples {
            let labels = sample.split_once('{').map_or("", |(_, labels)| labels);
            for label in labels.split("\",").filter_map(|label| label.split('=').next()) {
                assert!(
                    label.is_empty() || told.contains(label),
                    "{sample}: the guide's row has {told:?}"
                );
            }
        }
    }
}

/// Scrapes as often as it can until it is told to stop; every scrape has to add up.
struct Scraper {
    stop: Arc<AtomicBool>,
    scrapes: Arc<AtomicU64>,
    task: tokio::task::JoinHandle<()>,
}

impl Scraper {
    fn start(address: SocketAddr) -> Scraper {
        let stop = Arc::new(AtomicBool::new(false));
        let scrapes = Arc::new(AtomicU64::new(0));
        let (stopped, counted) = (Arc::clone(&stop), Arc::clone(&scrapes));
        let task = tokio::spawn(async move {
            let mut before: Option<Scrape> = None;
            while !stopped.load(Ordering::Relaxed) {
                let scrape = Scrape::of(address).await.expect("the daemon answers");
                scrape.adds_up();
                if let Some(before) = &before {
                    never_back(before, &scrape);
                }
                before = Some(scrape);
                counted.fetch_add(1, Ordering::Relaxed);
                // Real time: a scraper that leaves the daemon some of this machine.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        Scraper { stop, scrapes, task }
    }

    async fn ended(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.task.await.unwrap();
        self.scrapes.load(Ordering::Relaxed)
    }
}

/// Counters only grow.
fn never_back(before: &Scrape, after: &Scrape) {
    for (sample, value) in &before.0 {
        let family = sample.split('{').next().unwrap();
        if family.ends_with("_total") {
            assert!(
                after.one(sample) >= *value,
                "{sample} went from {value} to {}",
                after.one(sample)
            );
        }
    }
}

async fn until(address: SocketAddr, what: &str, seen: impl Fn(&Scrape) -> bool) -> Scrape {
    let waited = async {
        loop {
            let scrape = Scrape::of(address).await;
            if let Some(scrape) = scrape.filter(|scrape| seen(scrape)) {
                return scrape;
            }
            // Look again: at most for PATIENCE.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(daemon_support::PATIENCE, waited)
        .await
        .unwrap_or_else(|_| panic!("{what} was not seen"))
}

#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn the_numbers_add_up_at_every_scrape_while_the_broker_dies_and_devices_go() {
    let mut broker = Mosquitto::start("");
    let _floor = Subscriber::new(&broker.url(), "floor", &["tablegate/v1/harbour/TS-07/#"]).await;
    let mut scene = Scene::new(&broker.url());
    let address = with_metrics(&scene);
    scene.start().await;
    until(address, "the first page", |_| true).await;
    let scraper = Scraper::start(address);
    scene.open().await;
    let dealer = scene.dealer.clone();
    dealer.play([1, 3, 6]).await.unwrap();
    dealer.to_the_dice([5, 5, 4]).await.unwrap();
    // A wrong entry, then the broker dies, then the right one.
    dealer.enter(&[6, 6]).await.unwrap();
    broker.kill();
    dealer.enter(&[4, 5, 5]).await.unwrap();
    dealer.tumbler.unplug().await;
    until(address, "no tumbler", |page| {
        page.one("tablegate_link_up{device=\"tumbler\"}") == 0.0
    })
    .await;
    scene.act(&["lock", "--reason", "x"]).await.ok();
    scene.act(&["lock", "--reason", "x"]).await.refused(1, "stands already");
    let down = until(address, "a backlog", |page| page.get("events_backlog") > 5.0).await;
    assert_eq!(down.get("uplink_online"), 0.0);
    assert_eq!(
        down.one("tablegate_lock{kind=\"hold_next\",reason=\"supervisor\"}"),
        1.0
    );
    dealer.tumbler.replug().await;
    broker.restart();
    until(address, "an empty backlog", |page| {
        page.get("events_backlog") == 0.0 && page.get("uplink_online") == 1.0
    })
    .await;
    let scrapes = scraper.ended().await;
    assert!(scrapes > 50, "{scrapes}");

    let last = until(address, "quiet", |page| {
        page.get("events_in_flight") == 0.0 && page.one("tablegate_link_up{device=\"tumbler\"}") == 1.0
    })
    .await;
    last.adds_up();
    labels_are_those_of_the_guide(&last);
    assert!(last.get("uplink_failures_total") >= 1.0);
    assert!(last.get("uplink_connects_total") >= 2.0);
    assert!(last.one("tablegate_link_sessions_total{device=\"tumbler\"}") >= 2.0);
    assert_eq!(last.one("tablegate_acts_total{outcome=\"refused\"}"), 1.0);
    assert_eq!(last.one("tablegate_alert{alert=\"journal_failed\"}"), 0.0);
    assert!(last.get("events_journalled_total") > 20.0);
    assert!(last.0["process_open_fds"] > 5.0 && last.0["process_resident_memory_bytes"] > 1e6);
    let events = scene.events();
    let count = |seen: fn(&Body) -> bool| {
        let events = events.iter().filter_map(|event| event.body.as_ref());
        events.filter(|body| seen(body)).count() as f64
    };
    assert_eq!(
        last.one("tablegate_entries_total{outcome=\"accepted\"}"),
        count(|body| matches!(body, Body::ResultEntered(_)))
    );
    assert_eq!(
        last.one("tablegate_entries_total{outcome=\"refused\"}"),
        count(|body| matches!(body, Body::EntryRejected(_)))
    );
    assert_eq!(
        last.one("tablegate_rounds_ended_total{end=\"settled\"}"),
        count(|body| matches!(body, Body::RoundSettled(_)))
    );
    assert!(last.get("journal_seqno") <= events.last().unwrap().seqno as f64);

    assert_eq!(
        last.one("tablegate_phase_duration_seconds_count{phase=\"betting\"}"),
        count(|body| matches!(body, Body::BetsClosed(closed) if closed.bets_open_ms > 0))
    );
    assert!(last.one("tablegate_phase_duration_seconds_sum{phase=\"betting\"}") > 0.0);
    assert_eq!(last.one("tablegate_phase_duration_seconds_count{phase=\"round\"}"), 1.0);
    assert_eq!(last.one("tablegate_entries_refused_total{code=\"E02\"}"), 1.0);

    // Counters begin anew with the daemon; the journal's own numbers go on.
    assert!(scene.terminate().await.success());
    scene.start().await;
    let again = until(address, "the page again", |_| true).await;
    again.adds_up();
    assert!(again.get("journal_seqno") > last.get("journal_seqno"));
    assert!(again.get("events_journalled_total") < last.get("events_journalled_total"));
    assert!(scene.terminate().await.success());
}

#[tokio::test]
async fn an_address_that_is_taken_costs_the_metrics_and_nothing_else() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    let address = with_metrics(&scene);
    let taken = std::net::TcpListener::bind(address).unwrap();
    scene.start().await;
    scene.open().await;
    scene.dealer.play([1, 2, 3]).await.unwrap();
    assert!(
        scene.log().contains("the metrics can't be offered on"),
        "{}",
        scene.log()
    );
    drop(taken);
    assert!(scene.terminate().await.success());
}

#[tokio::test]
async fn a_wrong_address_is_refused_with_its_key() {
    let scene = Scene::new("mqtt://127.0.0.1:9");
    let text = std::fs::read_to_string(scene.config()).unwrap();
    for (listen, words) in [
        ("localhost:9480", "metrics.listen is \"localhost:9480\""),
        ("127.0.0.1", "metrics.listen"),
        ("127.0.0.1:0", "metrics.listen has port 0"),
        ("127.0.0.1:99999", "metrics.listen"),
    ] {
        std::fs::write(scene.config(), format!("{text}[metrics]\nlisten = \"{listen}\"\n")).unwrap();
        let config = scene.config();
        let checked = daemon_support::run(&["config", "check", config.to_str().unwrap()]).await;
        checked.refused(3, words);
    }
}
