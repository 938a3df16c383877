//! The results display, as a browser meets it: over HTTP.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::print_stdout,
    reason = "a test may panic"
)]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tablegate::display::{DisplayConfig, Moment, Picture, Round, Shown, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{oneshot, watch};

/// No answer takes longer than this on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn picture(moment: Moment, rounds: Vec<Round>) -> Arc<Picture> {
    Arc::new(Picture {
        table: "TS-07".into(),
        game: "Tai-sai".into(),
        moment,
        spun: None,
        rounds,
    })
}

async fn serving(first: Arc<Picture>) -> (watch::Sender<Arc<Picture>>, SocketAddr) {
    let (pictures, seen) = watch::channel(first);
    let (bound, address) = oneshot::channel();
    tokio::spawn(async move {
        let config = DisplayConfig {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            results: 20,
        };
        let tell = |address| {
            bound.send(address).expect("the test waits for it");
        };
        serve(&config, seen, tell).await
    });
    (pictures, address.await.unwrap())
}

async fn ask(address: SocketAddr, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn answer(address: SocketAddr, path: &str) -> String {
    let mut text = String::new();
    let mut stream = ask(address, path).await;
    tokio::time::timeout(PATIENCE, stream.read_to_string(&mut text))
        .await
        .expect("an answer")
        .unwrap();
    text
}

/// Reads until `needle` has come; what was read so far.
async fn until(stream: &mut TcpStream, seen: &mut String, needle: &str) {
    let reading = async {
        let mut buffer = [0; 4096];
        while !seen.contains(needle) {
            let read = stream.read(&mut buffer).await.unwrap();
            assert_ne!(read, 0, "ended without {needle}: {seen}");
            seen.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
        }
    };
    let done = tokio::time::timeout(PATIENCE, reading).await.is_ok();
    assert!(done, "no {needle} in {seen}");
}

#[tokio::test]
async fn the_page_shows_the_picture_without_scripts_or_other_hosts() {
    let rounds = vec![
        Round {
            round_id: 12,
            shown: Shown::Void,
        },
        Round {
            round_id: 11,
            shown: Shown::Result {
                faces: [2, 5, 6],
                amended: false,
            },
        },
    ];
    let (_pictures, address) = serving(picture(Moment::Result { faces: [1, 3, 6] }, rounds)).await;
    let page = answer(address, "/").await;
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    assert!(page.contains("cache-control: no-store"), "{page}");
    for expected in [
        "<div class=\"total\">10</div>",
        "NO SPIN",
        "<b>13</b>",
        "2 5 6",
        "TS-07",
        "Tai-sai",
        "http-equiv=\"refresh\"",
    ] {
        assert!(page.contains(expected), "{expected} in {page}");
    }
    assert!(!page.contains("://"), "another host: {page}");
}

#[tokio::test]
async fn a_watcher_gets_the_picture_at_once_and_every_change_and_the_end() {
    let (pictures, address) = serving(picture(Moment::BetsOpen, vec![])).await;
    let mut stream = ask(address, "/events").await;
    let mut seen = String::new();
    until(&mut stream, &mut seen, "Place your bets").await;
    assert!(seen.contains("text/event-stream"), "{seen}");
    pictures.send(picture(Moment::NoMoreBets, vec![])).unwrap();
    until(&mut stream, &mut seen, "No more bets").await;
    pictures
        .send(picture(Moment::Result { faces: [6, 6, 6] }, vec![]))
        .unwrap();
    until(&mut stream, &mut seen, "triple").await;
    assert!(!seen.contains("event: end"), "{seen}");
    drop(pictures);
    until(&mut stream, &mut seen, "event: end").await;
}

#[tokio::test]
async fn a_watcher_is_told_that_it_is_heard_while_nothing_changes() {
    let (_pictures, address) = serving(picture(Moment::BetsOpen, vec![])).await;
    let mut stream = ask(address, "/events").await;
    let mut seen = String::new();
    until(&mut stream, &mut seen, "event: beat").await;
    assert_eq!(seen.matches("event: picture").count(), 1, "{seen}");
}

#[tokio::test]
async fn a_watcher_that_does_not_read_holds_nobody_up() {
    let (pictures, address) = serving(picture(Moment::BetsOpen, vec![])).await;
    let _deaf = ask(address, "/events").await;
    for _ in 0..1000 {
        pictures.send(picture(Moment::NoMoreBets, vec![])).unwrap();
    }
    let page = answer(address, "/").await;
    assert!(page.contains("No more bets"), "{page}");
}

#[tokio::test]
async fn more_screens_than_places_wait_their_turn() {
    let (_pictures, address) = serving(picture(Moment::BetsOpen, vec![])).await;
    let mut watchers = Vec::new();
    for _ in 0..32 {
        let mut stream = ask(address, "/events").await;
        until(&mut stream, &mut String::new(), "Place your bets").await;
        watchers.push(stream);
    }
    let waiting = tokio::spawn(async move { answer(address, "/health").await });
    watchers.pop();
    let answer = tokio::time::timeout(PATIENCE, waiting).await.expect("a place").unwrap();
    assert!(answer.ends_with("ok\n"), "{answer}");
}

#[tokio::test]
async fn an_unknown_page_is_not_found() {
    let (_pictures, address) = serving(picture(Moment::Closed, vec![])).await;
    let answer = answer(address, "/etc/passwd").await;
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
}

#[tokio::test]
async fn an_address_that_is_taken_is_named() {
    let (_pictures, address) = serving(picture(Moment::Closed, vec![])).await;
    let config = DisplayConfig {
        listen: address,
        results: 20,
    };
    let (_second, seen) = watch::channel(picture(Moment::Closed, vec![]));
    let error = serve(&config, seen, |_| {}).await.unwrap_err();
    assert!(error.to_string().contains(&address.to_string()), "{error}");
}
