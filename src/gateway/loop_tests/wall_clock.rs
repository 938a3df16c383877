//! Somebody sets the wall clock while the table plays: the step is an event, and nothing else follows it.

use super::*;
use crate::table::event::ClockQuality;

const TWO_WEEKS: i64 = 14 * 86_400 * 1_000_000;

fn steps(scene: &Scene) -> Vec<(i64, i64)> {
    let seconds = |time: &Option<prost_types::Timestamp>| time.as_ref().unwrap().seconds;
    scene
        .events()
        .iter()
        .filter_map(|event| match &event.body {
            Some(Body::ClockStepped(step)) => Some((seconds(&step.from), seconds(&step.to))),
            _ => None,
        })
        .collect()
}

/// The events are in order by what orders them: number and time since the start.
fn in_order(scene: &Scene) {
    let events = scene.events();
    for pair in events.windows(2) {
        assert_eq!(pair[0].seqno + 1, pair[1].seqno);
        assert!(pair[0].uptime_us <= pair[1].uptime_us);
        assert_eq!(pair[0].run_id, pair[1].run_id);
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_either_way_is_one_event_of_an_idle_table_and_the_first_of_a_busy_one() {
    for micros in [TWO_WEEKS, -TWO_WEEKS, 1_500_000, -1_500_000] {
        let scene = scene(Synchronisation::Synchronised).await;
        tokio::time::sleep(Duration::from_secs(20)).await;
        // Nobody does anything: the loop finds it within its look.
        scene.clock.step(micros);
        tokio::time::sleep(LOOK_EVERY + Duration::from_secs(1)).await;
        let found = steps(&scene);
        assert_eq!(found.len(), 1, "{micros}");
        let moved = found[0].1 - found[0].0;
        assert!((moved - micros / 1_000_000).abs() <= 1, "{micros}: {found:?}");
        // Somebody acts right after it: the step comes before the act.
        scene.clock.step(-micros);
        scene.lock("torn").await.unwrap();
        let events = scene.events();
        let [.., step, locked] = &*events else {
            panic!("{events:?}")
        };
        assert!(matches!(step.body, Some(Body::ClockStepped(_))), "{step:?}");
        assert_eq!(step.clock(), ClockQuality::Stepped);
        assert!(matches!(locked.body, Some(Body::TableLocked(_))), "{locked:?}");
        assert_eq!(locked.clock(), ClockQuality::Synchronised);
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(steps(&scene).len(), 2, "each step is told once");
        in_order(&scene);
    }
}

#[tokio::test(start_paused = true)]
async fn slewing_and_steps_below_a_second_are_no_event() {
    let scene = scene(Synchronisation::Synchronised).await;
    for _ in 0..1000 {
        scene.clock.step(-400_000);
        tokio::time::sleep(Duration::from_secs(10)).await;
    }
    assert_eq!(steps(&scene), []);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_for_ever_costs_an_event_each_look_and_no_wait_follows_it() {
    let scene = scene(Synchronisation::Synchronised).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    for jump in 0..20_000 {
        scene.clock.step(if jump % 2 == 0 { TWO_WEEKS } else { -TWO_WEEKS });
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // 2000 s are 400 looks.
    let found = steps(&scene).len();
    assert!(found <= 401, "{found}");
    in_order(&scene);
}

#[tokio::test(start_paused = true)]
async fn the_quality_of_the_clock_is_the_sources_word() {
    let (source, synchronisation) = watch::channel(Synchronisation::Unsynchronised);
    let scene = scene_with(synchronisation, true).await;
    scene.lock("a").await.unwrap();
    assert_eq!(scene.events().pop().unwrap().clock(), ClockQuality::Unsynchronised);
    source.send_replace(Synchronisation::Synchronised);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(scene.view().clock, ClockQuality::Synchronised);
    scene
        .handle
        .act(supervisor(), OperatorAct::Unlock { procedure: "b".into() })
        .await
        .unwrap();
    assert_eq!(scene.events().pop().unwrap().clock(), ClockQuality::Synchronised);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_deleted_by_a_clock_that_nobody_keeps_however_far_it_jumps() {
    for (synchronisation, watched) in [
        (Synchronisation::Unsynchronised, true),
        (Synchronisation::Unsynchronised, false),
    ] {
        let scene = scene_with(watch::channel(synchronisation).1, watched).await;
        for jump in [1, 1, 400, -400, -800] {
            scene.clock.step(jump * TWO_WEEKS);
            tokio::time::sleep(Duration::from_secs(30 * 3600)).await;
        }
        assert!(scene.store.kept.lock().unwrap().expired.is_empty());
        assert_eq!(steps(&scene).len(), 5);
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_without_a_source_is_no_alert_and_a_source_that_is_silent_is_one() {
    for (watched, alerts) in [(false, 0), (true, 1)] {
        let scene = scene_with(watch::channel(Synchronisation::Unsynchronised).1, watched).await;
        tokio::time::sleep(Duration::from_secs(590)).await;
        assert_eq!(scene.view().state.alerts.len(), 0);
        tokio::time::sleep(Duration::from_secs(30)).await;
        assert_eq!(scene.view().state.alerts.len(), alerts, "watched: {watched}");
        assert_eq!(scene.view().clock, ClockQuality::Unsynchronised);
    }
}
