//! `tablegate report`, the binary itself: on a played table beside its daemon, after it and on a copy, against a count of our own; on a
//! damaged journal; and how it is mistyped.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::wildcard_enum_match_arm,
    clippy::cast_precision_loss,
    reason = "a test may panic"
)]

mod daemon_support;
mod journal_support;

use daemon_support::{Scene, run};
use serde_json::Value;
use std::collections::BTreeMap;
use tablegate::journal::file_in;
use tablegate::sim::Answer;
use tablegate::table::event::{Body, Event};

async fn report(arguments: &[&str]) -> Value {
    let all = [&["report", "--json", "--zone", "UTC"], arguments].concat();
    serde_json::from_str(&run(&all).await.ok()).unwrap()
}

/// Our own count of what was played.
#[derive(Default, PartialEq, Debug)]
struct Count {
    settled: u64,
    void: u64,
    amended: u64,
    entries: u64,
    refused: BTreeMap<String, u64>,
    bets_open_ms: Vec<u64>,
    open_us: u64,
}

impl Count {
    fn of(events: &[Event]) -> Count {
        let mut count = Count::default();
        let mut opened = None;
        for event in events {
            match event.body.as_ref().unwrap() {
                Body::TableOpened(_) => opened = Some(event.uptime_us),
                Body::TableClosed(_) => count.open_us += event.uptime_us - opened.take().unwrap(),
                Body::RoundSettled(_) => count.settled += 1,
                Body::RoundVoided(_) => count.void += 1,
                Body::ResultAmended(_) => count.amended += 1,
                Body::ResultEntered(_) => count.entries += 1,
                Body::EntryRejected(rejected) => {
                    *count.refused.entry(format!("E{:02}", rejected.code)).or_default() += u64::from(rejected.count);
                }
                Body::BetsClosed(closed) => count.bets_open_ms.push(closed.bets_open_ms.into()),
                _ => {}
            }
        }
        if let Some(since) = opened {
            count.open_us += events.last().unwrap().uptime_us - since;
        }
        count.bets_open_ms.sort_unstable();
        count
    }

    /// The report says the same.
    fn is_told(&self, told: &Value) {
        let rounds = self.settled + self.void;
        assert_eq!(told["rounds"], rounds);
        assert_eq!(told["rounds_by_end"]["settled"], self.settled);
        assert_eq!(told["voids"], self.void);
        assert_eq!(told["amendments"], self.amended);
        assert_eq!(told["entries"], self.entries);
        assert_eq!(
            told["entries_refused_by_code"],
            serde_json::to_value(&self.refused).unwrap()
        );
        let betting = &told["phases"]["betting"];
        assert_eq!(betting["measured"], self.bets_open_ms.len());
        assert_eq!(betting["most_ms"], *self.bets_open_ms.last().unwrap());
        assert_eq!(betting["p50_ms"], self.bets_open_ms[(self.bets_open_ms.len() - 1) / 2]);
        let open = told["open_seconds"].as_f64().unwrap();
        assert!(
            (open - self.open_us as f64 / 1e6).abs() < 0.01,
            "{open} of {}",
            self.open_us
        );
        let an_hour = told["rounds_per_open_hour"].as_f64().unwrap();
        assert!(
            (an_hour - rounds as f64 * 3.6e9 / self.open_us as f64).abs() < 0.01,
            "{an_hour}"
        );
    }
}

#[tokio::test]
async fn a_played_table_is_counted_beside_its_daemon_after_it_and_on_a_copy() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    scene.start().await;
    scene.open().await;
    let dealer = scene.dealer.clone();
    for faces in [[1, 3, 6], [5, 5, 5]] {
        dealer.play(faces).await.unwrap();
    }
    // One entry is refused; one result is amended; one round is void.
    dealer.to_the_dice([2, 2, 4]).await.unwrap();
    assert_ne!(dealer.enter(&[6, 6]).await.unwrap(), Answer::Accepted);
    assert_eq!(dealer.enter(&[2, 2, 4]).await.unwrap(), Answer::Accepted);
    scene.act(&["round", "amend", "2", "2", "5"]).await.ok();
    scene.act(&["round", "settle"]).await.ok();
    dealer.to_the_dice([1, 1, 2]).await.unwrap();
    scene.act(&["round", "void", "--reason", "a_not_flat"]).await.ok();

    let journal = scene.journal();
    let journal = journal.to_str().unwrap();
    let running = report(&["--journal", journal]).await;
    let count = Count::of(&scene.events());
    assert_eq!((count.settled, count.void, count.amended), (3, 1, 1));
    assert_eq!(count.refused, BTreeMap::from([("E02".to_owned(), 1)]));
    count.is_told(&running["all"]);
    assert_eq!(running["all"]["voids_by_reason"]["a_not_flat"], 1);
    assert_eq!(running["all"]["voids_per_hundred_rounds"], 25.0);
    assert_eq!(running["all"]["amendments_by_source"]["command"], 1);
    assert_eq!(
        (&running["table"], &running["game"]),
        (&"TS-07".into(), &"tai-sai".into())
    );
    let terminal = &running["devices"]
        .as_array()
        .unwrap()
        .iter()
        .find(|device| device["kind"] == "terminal");
    let terminal = terminal.unwrap();
    assert_eq!(
        (&terminal["serial_number"], &terminal["entries"]),
        (&"ET-1".into(), &count.entries.into())
    );
    assert_eq!(terminal["entries_refused"], 1);
    // The daemon says where its journal is.
    let socket = scene.path("t.sock");
    let asked = report(&["--socket", socket.to_str().unwrap()]).await;
    assert_eq!(asked["all"]["rounds"], 4);

    scene.act(&["close"]).await.ok();
    assert!(scene.terminate().await.success());
    let count = Count::of(&scene.events());
    let stopped = report(&["--journal", journal]).await;
    count.is_told(&stopped["all"]);
    let copy = scene.path("copy.sqlite3");
    std::fs::copy(scene.journal(), &copy).unwrap();
    let copied = report(&["--journal", copy.to_str().unwrap()]).await;
    assert_eq!(copied, stopped);

    // Everything lies in one shift, or in two when the test ran over the end of one: they add up.
    let by_shift = report(&["--journal", journal, "--shifts", "00:00,08:00,16:00"]).await;
    let shifts = by_shift["shifts"].as_array().unwrap();
    let rounds: u64 = shifts.iter().map(|shift| shift["rounds"].as_u64().unwrap()).sum();
    assert!(!shifts.is_empty() && rounds == 4, "{by_shift:#}");
    assert_eq!(by_shift["all"], stopped["all"]);
    // Nothing of it was before 2020.
    let before = report(&["--journal", journal, "--to", "2020-01-01"]).await;
    assert_eq!(
        (&before["all"]["rounds"], &before["all"]["open_seconds"]),
        (&0.into(), &0.0.into())
    );

    let text = run(&["report", "--journal", journal, "--by-shift"]).await.ok();
    assert!(
        text.contains("  void                       1  25.0 in a hundred rounds"),
        "{text}"
    );
    assert!(text.contains("E02"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let unknown = run(&["events", "list", "--journal", journal, "--round", "4711"]).await;
    unknown.refused(
        1,
        "there is no round 4711 among these events: they are of rounds 1 to 4",
    );
    let none_of_it = run(&[
        "events",
        "list",
        "--journal",
        journal,
        "--round",
        "1",
        "--kind",
        "table_closed",
    ])
    .await;
    assert_eq!(none_of_it.ok(), "", "a round without such an event is no mistake");
    let csv = run(&["report", "--journal", journal, "--format", "csv"]).await.ok();
    assert!(csv.contains(",voids,a_not_flat,1\r\n"), "{csv}");
}

#[test]
fn a_damaged_event_costs_that_event_and_is_told() {
    use journal_support::{Scribe, fill, open, read_all, run as alone};
    let directory = tempfile::tempdir().unwrap();
    alone(async {
        let opened = open(directory.path());
        let mut scribe = Scribe::after(&opened);
        fill(&opened.journal, &mut scribe, 30).await;
        opened.journal.close();
    });
    let file = file_in(directory.path());
    let of_17 = read_all(&file)[16].bytes.clone();
    let mut bytes = std::fs::read(&file).unwrap();
    let at = bytes.windows(of_17.len()).position(|window| window == of_17).unwrap();
    bytes[at + 60] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    alone(async {
        let journal = file.to_str().unwrap();
        let ended = run(&["report", "--journal", journal, "--zone", "UTC", "--json"]).await;
        let told: Value = serde_json::from_str(&ended.out).unwrap();
        assert_eq!(told["all"]["events"], 29);
        assert!(told["notes"].to_string().contains("event 17"), "{told:#}");
        ended.refused(1, "event 17 is damaged");
        let ended = run(&["recall", "--journal", journal]).await;
        assert!(ended.out.contains("Round 2"), "{}", ended.out);
        ended.refused(1, "event 17 is damaged");
    });
}

#[tokio::test]
async fn a_question_that_makes_no_sense_is_refused() {
    for (arguments, words) in [
        (&["--from", "yesterday"][..], "--from: yesterday is no time"),
        (&["--to", "2026-02-30"], "--to: 2026-02-30 is no time"),
        (
            &["--from", "2026-02-02", "--to", "2026-02-01"],
            "--to is not after --from",
        ),
        (&["--shifts", "6,14"], "--shifts: 6 is no time of day"),
        (&["--shifts", "06:00,06:00"], "--shifts: 06:00 stands there twice"),
        (&["--zone", "Pacific/Nowhere"], "--zone Pacific/Nowhere"),
    ] {
        let all = [&["report", "--journal", "/nowhere"], arguments].concat();
        run(&all).await.refused(2, words);
    }
    run(&["report", "--journal", "/nowhere"])
        .await
        .refused(1, "there is no journal at /nowhere");
}
