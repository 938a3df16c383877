//! `tablegate floor replay` against a gateway: what was asked for is printed, and what is not there is said.

#![cfg(feature = "demo")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test may panic"
)]

mod daemon_support;

use daemon_support::{Ended, Scene, run};

async fn replay(broker: &str, range: &[&str]) -> Ended {
    let at = [
        "floor", "replay", "--broker", broker, "--site", "harbour", "--table", "TS-07",
    ];
    run(&[&at[..], range].concat()).await
}

#[tokio::test]
async fn what_a_replay_does_not_have_is_said_and_is_a_failure() {
    let broker = format!("mqtt://{}", tablegate::sim::broker::start().unwrap());
    let mut scene = Scene::new(&broker);
    scene.start().await;
    scene.links_up().await;
    let newest = u64::try_from(scene.events().len()).unwrap();
    assert!(newest >= 4, "{newest}");
    scene
        .until("everything is at the floor", |view| {
            view["uplink"]["backlog"] == 0 && view["uplink"]["state"] == "online"
        })
        .await;

    let some = replay(&broker, &["--from", "2", "--to", "3"]).await.ok();
    assert_eq!(some.lines().count(), 2, "{some}");
    assert!(some.starts_with("#2 "), "{some}");

    // The end of the range is not there yet: what is there is printed all the same.
    let beyond = replay(&broker, &["--from", "2", "--to", "9000"]).await;
    let newest = u64::try_from(scene.events().len()).unwrap();
    assert_eq!(beyond.out.lines().count() as u64, newest - 1, "{}", beyond.out);
    let words = format!(
        "events {} to 9000 aren't recorded yet: the newest is {newest}",
        newest + 1
    );
    beyond.refused(1, &words);

    let nothing = replay(&broker, &["--from", "8000", "--to", "9000"]).await;
    assert_eq!(nothing.out, "");
    nothing.refused(1, "event 8000 isn't recorded yet");
    assert!(scene.terminate().await.success());
}
