//! What is overdue when an append took long: whatever arrived meanwhile is heard before time passes it, also when the daemon stops or has
//! something of its own to say.

use super::*;
use crate::table::input::{Contact, ContactReport};

/// The supervisor's key, as the terminal tells it.
async fn key(scene: &Scene, closed: bool, closings: u32) {
    let report = ContactReport {
        contact: Contact::SupervisorKey,
        closed,
        closings,
        last_closed: None,
    };
    scene.device(Input::Contact(report)).await;
    scene.settle().await;
}

fn told(scene: &Scene) -> usize {
    scene.count(|body| matches!(body, Body::AlertRaised(alert) if alert.alert == "supervisor_key_left_on"))
}

/// The disk gets slow while the key is on, a second before that is an alert; the next append ends after it.
async fn slow_disk_before_the_alert(scene: &Scene) {
    scene.device(terminal_up()).await;
    key(scene, true, 1).await;
    tokio::time::sleep(Duration::from_secs(59)).await;
    scene.disk(Disk::Slow(Duration::from_secs(3)));
}

/// The same, and the append has begun.
async fn slow_append_past_the_alert(scene: &Scene) {
    slow_disk_before_the_alert(scene).await;
    let handle = scene.handle.clone();
    let act = OperatorAct::Lock { reason: "torn".into() };
    tokio::spawn(async move { handle.act(supervisor(), act).await });
    tokio::time::sleep(Duration::from_millis(500)).await;
}

#[tokio::test(start_paused = true)]
async fn a_key_that_stays_on_is_an_alert() {
    let scene = scene(Synchronisation::Synchronised).await;
    slow_append_past_the_alert(&scene).await;
    tokio::time::sleep(Duration::from_secs(9)).await;
    assert_eq!(told(&scene), 1);
}

#[tokio::test(start_paused = true)]
async fn what_waited_is_heard_before_the_stop_looks_at_what_is_due() {
    let scene = scene(Synchronisation::Synchronised).await;
    slow_append_past_the_alert(&scene).await;
    key(&scene, false, 1).await;
    scene.handle.stop();
    let store = scene.store.clone();
    assert!(matches!(scene.running.await.unwrap(), Ended::Stopped));
    let alerts = store.kept.lock().unwrap().records.iter().any(|record| {
        let event = Event::decode(&*record.bytes).unwrap();
        matches!(event.body, Some(Body::AlertRaised(alert)) if alert.alert == "supervisor_key_left_on")
    });
    assert!(!alerts, "the key was off before the minute was over");
}

#[tokio::test(start_paused = true)]
async fn what_waited_is_heard_before_the_gateway_says_something_of_its_own() {
    let scene = scene(Synchronisation::Synchronised).await;
    slow_disk_before_the_alert(&scene).await;
    let set_aside = Notice::SetAside {
        seqno: 1,
        reason: EventSetAsideReason::TooLarge,
    };
    // It is recorded, which takes long, and then there is an alert for it.
    scene.notices.send(set_aside).await.unwrap();
    scene.settle().await;
    key(&scene, false, 1).await;
    tokio::time::sleep(Duration::from_secs(9)).await;
    assert_eq!(told(&scene), 0, "the key was off before the minute was over");
}
