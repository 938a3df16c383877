//! A wall clock that jumps.

use crate::daemon_support::{Scene, tablegate};
use crate::kernel::{Kernel, Word};
use std::os::unix::fs::PermissionsExt;
use tablegate::journal::verify;
use tablegate::table::event::{Body, ClockQuality, Event};
use tokio::time::Instant;

const HOUR: i64 = 3600 * 1_000_000;
const DAY: i64 = 24 * HOUR;

/// The jumps that the journal tells of, in seconds, rounded to the minute.
fn jumps(events: &[Event]) -> Vec<i64> {
    let of = |event: &Event| match &event.body {
        Some(Body::ClockStepped(step)) => {
            assert_eq!(event.clock(), ClockQuality::Stepped);
            let (from, to) = (step.from.as_ref().unwrap(), step.to.as_ref().unwrap());
            let seconds = to.seconds - from.seconds;
            Some((seconds as f64 / 60.0).round() as i64 * 60)
        }
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

/// The PC has no battery and comes up two weeks ago; a time server puts it right; somebody sets it a day ahead between rounds, and back
/// by more than that in the middle of one. All the time a time server is said to be followed, so that nothing but dates could keep old
/// events from being deleted.
#[tokio::test]
async fn a_wall_clock_that_jumps_is_told_and_changes_nothing() {
    let mut scene = Scene::new("mqtt://127.0.0.1:9");
    let text = std::fs::read_to_string(scene.config()).unwrap();
    std::fs::write(scene.config(), text.replace("source = \"none\"", "source = \"chrony\"")).unwrap();
    let search = programs_with_chronyc(&scene);
    let kernel = Kernel::new(scene.directory.path());
    let environment = kernel.with(&[("PATH", &search)]);
    scene.start_with(&environment).await;
    scene.open().await;
    let dealer = scene.dealer.clone();
    dealer.play([1, 3, 6]).await.unwrap();
    scene.kill().await;
    let mut events = scene.events();
    assert_eq!(jumps(&events), [0_i64; 0]);

    kernel.set(Word::WallMoved, -14 * DAY);
    scene.start_with(&environment).await;
    scene.links_up().await;
    dealer.play([2, 2, 5]).await.unwrap();
    assert_times_make_sense(&scene, &kernel).await;
    kernel.set(Word::WallMoved, 0);
    dealer.play([6, 6, 6]).await.unwrap();
    kernel.set(Word::WallMoved, DAY);
    dealer.to_the_dice([4, 5, 5]).await.unwrap();
    assert_times_make_sense(&scene, &kernel).await;
    kernel.set(Word::WallMoved, -HOUR);
    let entered = Instant::now();
    dealer.enter(&[4, 5, 5]).await.unwrap();
    assert!(!dealer.see_lamps().await.unwrap().is_empty());
    assert_times_make_sense(&scene, &kernel).await;
    dealer.settle(entered).await.unwrap();
    assert!(scene.terminate().await.success());

    let before = std::mem::replace(&mut events, scene.events());
    assert_eq!(events[..before.len()], before[..], "nothing was deleted or changed");
    assert_eq!(
        jumps(&events),
        [-14 * DAY, 14 * DAY, DAY, -DAY - HOUR].map(|by| by / 1_000_000)
    );
    let report = verify(&scene.journal(), |_| {}).unwrap();
    assert_eq!((report.bad, report.head.seqno), (None, events.len() as u64));
    let synchronised = events
        .iter()
        .filter(|event| event.clock() == ClockQuality::Synchronised);
    assert!(synchronised.count() > events.len() / 2, "a time server is followed");
    let mut rounds = Vec::new();
    for event in &events {
        assert_eq!(event.journal_id, events[0].journal_id);
        if let Some(Body::ResultEntered(result)) = &event.body {
            rounds.push((event.round_id, result.faces.clone()));
        }
    }
    let faces: Vec<_> = rounds.iter().map(|(_, faces)| faces.as_slice()).collect();
    assert_eq!(faces, [[1, 3, 6], [2, 2, 5], [6, 6, 6], [4, 5, 5]]);
    assert!(rounds.is_sorted_by(|one, next| one.0 < next.0), "{rounds:?}");
    // Started again with the clock an hour behind the last event but one: the same journal goes on.
    kernel.set(Word::WallMoved, -2 * HOUR);
    scene.start_with(&environment).await;
    scene.links_up().await;
    dealer.play([1, 1, 1]).await.unwrap();
    assert!(scene.terminate().await.success());
    assert_eq!(scene.events()[..events.len()], events[..]);
}

/// A program search path on which a time server is always followed.
fn programs_with_chronyc(scene: &Scene) -> String {
    let programs = scene.path("programs");
    std::fs::create_dir(&programs).unwrap();
    let chronyc = programs.join("chronyc");
    let says = "#!/bin/sh\necho A29FC87B,192.0.2.1,3,1.0,0,0,0,1,0,0,0,0,64,Normal\n";
    std::fs::write(&chronyc, says).unwrap();
    std::fs::set_permissions(&chronyc, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", programs.display(), std::env::var("PATH").unwrap())
}

/// A person's commands see the same clock as the daemon; what they say of links and of the floor is as old as it is.
async fn assert_times_make_sense(scene: &Scene, kernel: &Kernel) {
    let mut command = tablegate();
    command.args(["status", "--socket"]).arg(scene.path("t.sock"));
    let output = command.envs(kernel.with(&[])).output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let links: Vec<&str> = text.lines().filter(|line| line.contains(" up for ")).collect();
    assert_eq!(links.len(), 3, "{text}");
    for line in links {
        let (_, age) = line.split_once(" up for ").unwrap();
        assert!(!age.contains(" d ") && !age.contains(" h "), "{text}");
    }
}
