//! What the daemon does to a serial line, and two devices that change places.

use crate::daemon_support::{PATIENCE, Scene, tablegate};
use crate::kernel::{Kernel, Word};
use std::collections::BTreeSet;
use std::time::Duration;
use tablegate::sim::Answer;
use tablegate::table::event::{Body, DeviceOfflineReason, Event};
use tokio::time::Instant;

/// What was done to the line under this name, in order, since the trace was begun.
fn done_to(kernel: &Kernel, scene: &Scene, device: &str) -> Vec<String> {
    let line = std::fs::read_link(scene.path(device)).unwrap();
    let trace = kernel.trace().into_iter();
    trace
        .filter(|(at, ..)| *at == line.to_str().unwrap())
        .map(|(.., what)| what)
        .collect()
}

/// The first opening that counts: opened for a look without blocking, then for good; nobody else may open it, and its lines stay up when it is
/// closed before they are raised, once each. `modem`: what the line says to that.
fn opening(modem: &str) -> Vec<String> {
    [
        "open nonblock noctty",
        "settings",
        "open nonblock noctty",
        "exclusive",
        "flock exclusive",
        "settings",
        "settings",
        &format!("raise DTR {modem}"),
        &format!("raise RTS {modem}"),
        "discard all",
        "close",
    ]
    .map(str::to_owned)
    .to_vec()
}

#[tokio::test]
async fn a_line_is_opened_so_that_no_board_is_reset() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    let kernel = Kernel::new(scene.directory.path());
    // A pty has neither DTR nor RTS and says so; it is used all the same.
    scene.start_with(&kernel.with(&[])).await;
    scene.links_up().await;
    for device in ["tumbler", "terminal", "lamps"] {
        assert_eq!(done_to(&kernel, &scene, device), opening("refused"), "{device}");
    }
    // A line that has both; its device is pulled and put back.
    kernel.set(Word::ModemAnswers, 1);
    let dealer = scene.dealer.clone();
    dealer.terminal.unplug().await;
    scene
        .until("a terminal that is gone", |view| {
            view["devices"].to_string().contains("\"online\":false")
        })
        .await;
    kernel.forget_trace();
    dealer.terminal.replug().await;
    scene.links_up().await;
    assert_eq!(done_to(&kernel, &scene, "terminal"), opening("done"));
    assert!(scene.terminate().await.success());
    // Until the end nothing else: what waits to be written is dropped, nothing is waited for, no line is lowered.
    let whole = done_to(&kernel, &scene, "terminal");
    let rest = &whole[opening("done").len()..];
    assert_eq!(rest, ["discard output", "close"]);
    assert!(
        kernel
            .trace()
            .iter()
            .all(|(.., what)| !what.contains("HUPCL") && !what.contains("lower"))
    );
}

#[tokio::test]
async fn listing_ports_opens_none_and_greeting_one_opens_that_alone() {
    let scene = Scene::new("mqtt://127.0.0.1:9");
    let kernel = Kernel::new(scene.directory.path());
    let opened = async |words: &[&str]| {
        kernel.forget_trace();
        let names = words.iter().map(|word| match *word {
            "terminal" | "lamps" => scene.path(word).to_str().unwrap().to_owned(),
            other => other.to_owned(),
        });
        let mut command = tablegate();
        command.arg("ports").args(names).envs(kernel.with(&[]));
        let output = command.output().await.unwrap();
        let opened: BTreeSet<String> = kernel.trace().into_iter().map(|(line, ..)| line).collect();
        (output, opened)
    };
    for words in [&[][..], &["--json"], &["terminal", "lamps"]] {
        let (output, opened) = opened(words).await;
        assert!(output.status.success(), "{words:?}: {output:?}");
        assert_eq!(opened, BTreeSet::new(), "{words:?}");
    }
    let (output, opened) = opened(&["identify", "--yes", "terminal"]).await;
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("ET-1"), "{output:?}");
    let line = std::fs::read_link(scene.path("terminal")).unwrap();
    assert_eq!(opened, BTreeSet::from([line.to_str().unwrap().to_owned()]));
}

/// A terminal that brings what it kept for two minutes, all at once, and one that loses its power between two keys: nothing of before counts,
/// and the dealer who types again is heard.
#[tokio::test]
async fn old_keys_and_those_of_before_a_reset_decide_nothing() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    scene.start().await;
    scene.open().await;
    let dealer = scene.dealer.clone();
    let terminal = &dealer.terminal;
    dealer.to_the_dice([1, 3, 6]).await.unwrap();
    let before = scene.events().len();
    let since = || scene.events().split_off(before);
    terminal.stale_keys(9, Duration::from_secs(120)).await;
    let until = Instant::now() + PATIENCE;
    let stale = |event: &Event| match &event.body {
        Some(Body::StaleKeysIgnored(ignored)) => Some(ignored.count),
        _ => None,
    };
    while since().iter().filter_map(stale).sum::<u32>() < 9 {
        assert!(Instant::now() < until, "{:?}", since());
        // Look again: the journal tells nobody that it has more.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(
        since().iter().filter_map(stale).collect::<Vec<_>>(),
        [9],
        "one event for the burst"
    );

    for key in [1, 3] {
        terminal.press(key).await;
    }
    let typed = terminal.wait("two keys", |view| view.keys.len() == 2, PATIENCE);
    typed.await.unwrap();
    let sessions = terminal.view().line.sessions;
    terminal.reboot().await;
    let greeted = terminal.wait("a greeting", |view| view.line.sessions > sessions, PATIENCE);
    greeted.await.unwrap();
    scene.links_up().await;
    let refused = Answer::Refused("E02".to_owned());
    assert_eq!(dealer.enter(&[6]).await.unwrap(), refused, "the two keys are gone");
    assert!(dealer.lamps.view().lit.is_empty());
    let is_result = |event: &Event| matches!(event.body, Some(Body::ResultEntered(_)));
    assert!(!since().iter().any(is_result), "{:?}", since());

    let entered = Instant::now();
    assert_eq!(dealer.enter(&[1, 3, 6]).await.unwrap(), Answer::Accepted);
    assert!(!dealer.see_lamps().await.unwrap().is_empty());
    dealer.settle(entered).await.unwrap();
    assert_eq!(since().iter().filter(|event| is_result(event)).count(), 1);
    assert!(scene.terminate().await.success());
}

/// A wrong device is greeted again this often.
const GREETED_AGAIN: Duration = Duration::from_secs(10);

/// Two cables end in each other's sockets while bets are open: each port names what it found for as long as it stands so, and the round
/// goes on once they are back.
#[tokio::test]
async fn two_devices_that_change_places_are_named_until_they_are_back() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    scene.start().await;
    scene.open().await;
    let dealer = scene.dealer.clone();
    dealer.tumble([2, 3, 3]).await.unwrap();
    dealer.wait_for_bets().await.unwrap();
    let before = scene.events().len();
    let change_places = || {
        let [tumbler, terminal, between] = ["tumbler", "terminal", "between"].map(|name| scene.path(name));
        std::fs::rename(&tumbler, &between).unwrap();
        std::fs::rename(&terminal, &tumbler).unwrap();
        std::fs::rename(&between, &terminal).unwrap();
    };
    change_places();
    let links = |view: &serde_json::Value| -> Vec<serde_json::Value> {
        let all = view["links"].as_array().cloned().unwrap_or_default();
        all.into_iter().filter(|link| link["kind"] != "lamps").collect()
    };
    let seen = scene
        .until("both named", |view| {
            let named = |link: &serde_json::Value| link["state"] == "down" && link["found"].is_object();
            links(view).iter().all(named)
        })
        .await;
    let gone = links(&seen);
    for (link, serial) in gone.iter().zip(["ET-1", "DT-1"]) {
        assert_eq!(link["found"]["serial_number"], serial, "{link:#}");
    }
    // Greeted once more, and longer: it is told all the time, and is away since it went.
    let until = Instant::now() + GREETED_AGAIN + Duration::from_secs(2);
    let opened: Vec<u64> = gone
        .iter()
        .map(|link| link["counts"]["frames_out"].as_u64().unwrap())
        .collect();
    let mut newest = gone.clone();
    while Instant::now() < until {
        let view = scene.until("an answer", |view| view["links"].is_array()).await;
        newest = links(&view);
        for (link, first) in newest.iter().zip(&gone) {
            assert_eq!(link["since_us"], first["since_us"], "{link:#}");
            assert_eq!(link["found"], first["found"], "{link:#}");
            assert_eq!(link["text"], first["text"], "{link:#}");
        }
    }
    for (link, opened) in newest.iter().zip(&opened) {
        assert!(
            link["counts"]["frames_out"].as_u64().unwrap() > *opened,
            "it was greeted again"
        );
        let age = link["at_us"].as_u64().unwrap() - link["since_us"].as_u64().unwrap();
        assert!(Duration::from_micros(age) >= GREETED_AGAIN, "{link:#}");
    }
    let text = scene.command(&["status"]).await.ok();
    assert!(text.contains("down for 1") || text.contains("greeting for 1"), "{text}");
    for words in ["a terminal (serial number ET-1)", "a tumbler (serial number DT-1)"] {
        assert!(text.contains(words), "{text}");
    }
    let wrong = scene.events().split_off(before);
    let wrong = wrong.iter().filter(|event| match &event.body {
        Some(Body::DeviceOffline(offline)) => offline.reason() == DeviceOfflineReason::WrongDevice,
        _ => false,
    });
    assert_eq!(wrong.count(), 2, "each is told once");
    let log = scene.log();
    for words in [
        "a terminal (serial number ET-1) answers",
        "a tumbler (serial number DT-1) answers",
    ] {
        let lines = log
            .lines()
            .filter(|line| line.contains("link: ") && line.contains(words));
        assert_eq!(lines.count(), 1, "{log}");
    }

    change_places();
    scene.links_up().await;
    dealer.no_more_bets().await.unwrap();
    dealer.uncover().await;
    let entered = Instant::now();
    dealer.enter(&[2, 3, 3]).await.unwrap();
    assert!(!dealer.see_lamps().await.unwrap().is_empty());
    dealer.settle(entered).await.unwrap();
    assert!(scene.terminate().await.success());
}
