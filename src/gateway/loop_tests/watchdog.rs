//! The watchdog is pinged by the loop: it goes without pings when the loop hangs, and with them whatever else is wrong.

use super::*;
use std::cell::Cell;

thread_local! {
    /// Each test has a thread, and its loop runs on it.
    static PINGS: Cell<u32> = const { Cell::new(0) };
}

/// What the loop's watchdog does in these tests.
pub(super) fn ping() {
    PINGS.set(PINGS.get() + 1);
}

/// Pings while so much time passes.
async fn pings_in(time: Duration) -> u32 {
    let before = PINGS.get();
    tokio::time::sleep(time).await;
    PINGS.get() - before
}

const MINUTES: Duration = Duration::from_secs(600);

#[tokio::test(start_paused = true)]
async fn an_idle_table_pings_in_time() {
    let _scene = scene(Synchronisation::Synchronised).await;
    let pings = pings_in(MINUTES).await;
    assert!(
        (120..=125).contains(&pings),
        "{pings}: every five seconds, a quarter of what is allowed"
    );
}

#[tokio::test(start_paused = true)]
async fn a_table_that_cannot_record_pings_on() {
    let scene = scene(Synchronisation::Synchronised).await;
    scene.settle().await;
    scene.disk(Disk::Full);
    scene.lock("torn").await.unwrap_err();
    let pings = pings_in(MINUTES).await;
    assert!(pings >= 100, "{pings}");
    scene.disk(Disk::Works);
}

#[tokio::test(start_paused = true)]
async fn a_busy_table_pings_and_not_for_each_input() {
    let scene = scene(Synchronisation::Synchronised).await;
    let before = PINGS.get();
    for _ in 0..600 {
        scene.device(lamps_up()).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let pings = PINGS.get() - before;
    assert!((100..=200).contains(&pings), "{pings}");
}

#[tokio::test(start_paused = true)]
async fn a_loop_that_hangs_is_silent_however_well_the_rest_works() {
    let scene = scene(Synchronisation::Synchronised).await;
    // A table shows itself with its first event.
    scene.device(lamps_up()).await;
    scene.settle().await;
    // The journal would answer within five seconds; this one is a defect.
    scene.disk(Disk::Slow(Duration::from_secs(3600)));
    let hangs = tokio::spawn({
        let handle = scene.handle.clone();
        async move {
            handle
                .act(supervisor(), OperatorAct::Lock { reason: "torn".into() })
                .await
        }
    });
    scene.settle().await;
    assert_eq!(
        pings_in(MINUTES).await,
        0,
        "the service manager starts it again after 20 s"
    );
    assert!(!hangs.is_finished());
    assert!(!scene.view().table.is_empty(), "whoever looks is answered all the same");
    scene.disk(Disk::Works);
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert!(pings_in(MINUTES).await >= 100, "a loop that goes on pings on");
}
