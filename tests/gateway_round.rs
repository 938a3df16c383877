//! A whole round through the real binary: from the bytes of the devices to the journal.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    missing_docs,
    reason = "a test may panic"
)]

mod daemon_support;

use daemon_support::{SUPERVISOR, Scene, events};
use std::collections::BTreeSet;
use tablegate::journal::verify;
use tablegate::rules::tai_sai::{self, Layout};
use tablegate::table::event::{Actor, ActorKind, Body, Event};

fn bodies(events: &[Event]) -> impl Iterator<Item = &Body> {
    events.iter().filter_map(|event| event.body.as_ref())
}

#[tokio::test]
async fn rounds_are_played_journalled_and_the_daemon_stops_cleanly() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    scene.start().await;
    scene.open().await;
    for faces in [[1, 3, 6], [5, 5, 5], [2, 2, 4]] {
        let played = scene.dealer.play(faces).await.unwrap();
        let areas = tai_sai::areas(Layout::Appendix1);
        let wins: BTreeSet<_> = tai_sai::winners(faces, Layout::Appendix1)
            .into_iter()
            .map(|area| area.id)
            .collect();
        let lit: BTreeSet<_> = played.lit.iter().map(|bit| areas[*bit as usize]).collect();
        assert_eq!(lit, wins);
    }
    scene.act(&["close"]).await.ok();
    let status = scene.terminate().await;
    assert!(status.success(), "{}", scene.log());

    let events = scene.events();
    let entered: Vec<_> = bodies(&events)
        .filter_map(|body| match body {
            Body::ResultEntered(result) => Some(result.pressed.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(entered, [[1, 3, 6], [5, 5, 5], [2, 2, 4]]);
    let settled = bodies(&events)
        .filter(|body| matches!(body, Body::RoundSettled(_)))
        .count();
    assert_eq!(settled, 3);
    assert!(matches!(events[0].body, Some(Body::JournalStarted(_))));
    assert!(matches!(events[1].body, Some(Body::GatewayStarted(_))));
    let closed = events
        .iter()
        .position(|event| matches!(event.body, Some(Body::TableClosed(_))))
        .unwrap();
    let actor = events[closed].actor.clone().unwrap_or_default();
    if nix::unistd::Uid::current().is_root() {
        let expected = Actor {
            kind: ActorKind::Supervisor.into(),
            name: SUPERVISOR.into(),
            login: "root".into(),
            ..Actor::default()
        };
        assert_eq!(actor, expected);
    }
    assert!(
        matches!(events[closed + 1].body, Some(Body::CheckpointRecorded(_))),
        "closing makes a checkpoint"
    );
    assert!(matches!(events.last().unwrap().body, Some(Body::GatewayStopped(_))));
    let report = verify(&scene.journal(), |_| {}).unwrap();
    assert_eq!(report.bad, None);
    assert!(!scene.path("t.sock").exists(), "the sockets are gone");
}

#[tokio::test]
async fn a_second_daemon_is_refused_and_told_who_has_the_journal() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    scene.start().await;
    let config = scene.config();
    let second = daemon_support::run(&["run", "--config", config.to_str().unwrap()]).await;
    second.refused(1, "a second daemon for one table is refused");
    scene
        .until("the first still answers", |view| view["mode"] == "closed")
        .await;
    assert!(scene.terminate().await.success());
    // The first one's clean end is the last event: the second wrote nothing.
    assert!(matches!(
        scene.events().last().unwrap().body,
        Some(Body::GatewayStopped(_))
    ));
}

#[tokio::test]
async fn the_journal_of_another_table_is_refused() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    scene.start().await;
    assert!(scene.terminate().await.success());
    let before = events(&scene.journal());
    scene.configure("TS-08", "mqtt://127.0.0.1:9");
    let config = scene.config();
    let other = daemon_support::run(&["run", "--config", config.to_str().unwrap()]).await;
    other.refused(3, "TS-07");
    assert_eq!(events(&scene.journal()), before);
}

#[tokio::test]
async fn a_wrong_configuration_is_refused_with_every_problem() {
    let scene = Scene::new("mqtt://127.0.0.1:9");
    let config = scene.config();
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(
        &config,
        text.replace("style = \"A\"", "stile = \"A\"")
            .replace("rest_ms = 500", "rest_ms = 5"),
    )
    .unwrap();
    let refused = daemon_support::run(&["run", "--config", config.to_str().unwrap()]).await;
    assert!(
        refused.err.contains("stile") && refused.err.contains("rest_ms"),
        "{}",
        refused.err
    );
    refused.refused(3, "table.toml");
    assert!(!scene.path("journal").exists(), "nothing was opened");
}
