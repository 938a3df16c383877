//! Conditions that last, come and go, or were left standing: what the loop makes of them over time.

use super::*;
use crate::table::input::Condition;

/// Events that tell of an alert of this name.
fn told(scene: &Scene, name: &str) -> usize {
    let raised = |body: &Body| matches!(body, Body::AlertRaised(alert) if alert.alert == name);
    let cleared = |body: &Body| matches!(body, Body::AlertCleared(alert) if alert.alert == name);
    scene.count(|body| raised(body) || cleared(body))
}

fn stands(scene: &Scene, name: &str) -> bool {
    scene.view().state.alerts.iter().any(|alert| alert == name)
}

async fn link_odd(scene: &Scene, standing: bool) {
    scene
        .device(Input::Condition {
            condition: Condition::LinkOdd(DeviceKind::Terminal),
            text: "terminal: noise?".into(),
            standing,
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_condition_that_comes_and_goes_all_day_costs_a_bounded_number_of_events() {
    let scene = scene(Synchronisation::Synchronised).await;
    for second in 0..86_400 {
        link_odd(&scene, second % 2 == 0).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let told = told(&scene, "link_odd");
    assert!((2..=4).contains(&told), "a fast flutter stands: {told} events");
    tokio::time::sleep(Duration::from_secs(700)).await;
    assert!(!stands(&scene, "link_odd"), "it has been over for long");
    let shown = scene.view().situation.alerts;
    assert!(
        shown.iter().any(|alert| alert.alert == "link_odd" && alert.over),
        "{shown:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_disk_on_the_brink_holds_and_releases_the_table_a_bounded_number_of_times() {
    let scene = scene(Synchronisation::Synchronised).await;
    for minute in 0..24 * 60 {
        scene.store.room.lock().unwrap().low = minute % 2 == 0;
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    let events = scene.events().len();
    assert!(events < 100, "{events} events of a day on the brink");
}

#[tokio::test(start_paused = true)]
async fn a_needed_device_that_is_away_for_a_minute_is_an_alert_that_ends_with_its_coming() {
    let scene = scene(Synchronisation::Synchronised).await;
    tokio::time::sleep(Duration::from_secs(300)).await;
    assert_eq!(told(&scene, "device_offline"), 0, "a closed table misses nobody");
    scene.device(lamps_up()).await;
    scene.device(terminal_up()).await;
    scene.settle().await;
    scene.handle.act(supervisor(), OperatorAct::BeginOpening).await.unwrap();
    tokio::time::sleep(Duration::from_secs(50)).await;
    assert!(
        !stands(&scene, "device_offline"),
        "whoever is replugging it needs no alert"
    );
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert!(stands(&scene, "device_offline"));
    let text = scene.view().situation.alerts.remove(0).text;
    assert!(text.contains("tumbler") && !text.contains("lamps"), "{text}");
    scene
        .device(Input::DeviceDown {
            kind: DeviceKind::Terminal,
            reason: crate::table::event::DeviceOfflineReason::PortGone,
            text: "unplugged".into(),
        })
        .await;
    tokio::time::sleep(Duration::from_secs(130)).await;
    let text = scene.view().situation.alerts.remove(0).text;
    assert!(text.contains("tumbler") && text.contains("terminal"), "{text}");
    scene
        .handle
        .act(supervisor(), OperatorAct::AbandonOpening)
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(!stands(&scene, "device_offline"), "a closed table misses nobody");
}

/// Counts what would be logged at the daemon's level.
#[derive(Clone, Default)]
struct Lines(Arc<std::sync::atomic::AtomicU64>);

impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for Lines {
    fn on_event(&self, event: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        if *event.metadata().level() <= tracing::Level::INFO {
            self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn ten_minutes_of_a_full_disk_are_a_few_lines_whatever_comes_in() {
    use tracing_subscriber::layer::SubscriberExt;
    let lines = Lines::default();
    let _logged = tracing::subscriber::set_default(tracing_subscriber::registry().with(lines.clone()));
    let scene = scene(Synchronisation::Synchronised).await;
    scene.settle().await;
    scene.disk(Disk::Full);
    for second in 0..600 {
        link_odd(&scene, second % 2 == 0).await;
        scene.lock("torn").await.unwrap_err();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    scene.disk(Disk::Works);
    tokio::time::sleep(Duration::from_secs(10)).await;
    let lines = lines.0.load(std::sync::atomic::Ordering::SeqCst);
    assert!((2..=5).contains(&lines), "{lines} lines");
}

#[tokio::test(start_paused = true)]
async fn a_condition_that_could_not_be_recorded_is_told_when_recording_works_again() {
    let scene = scene(Synchronisation::Synchronised).await;
    scene.settle().await;
    scene.disk(Disk::Full);
    link_odd(&scene, true).await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    scene.disk(Disk::Works);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(stands(&scene, "link_odd"));
}
