//! What the terminal may show while nothing can be recorded, and after it.

use super::*;

/// The number of the entry that the terminal is told to take keys for.
fn number(scene: &Scene) -> u32 {
    match scene.terminal.told().wish {
        Wish::Terminal(readout) => readout.entry,
        other @ (Wish::Nothing | Wish::Tumbler(_) | Wish::Lamps(_)) => panic!("{other:?}"),
    }
}

/// Keys of before, of the standstill and of after it never mix: each has entry numbers of its own.
#[tokio::test(start_paused = true)]
async fn keys_of_a_standstill_are_of_no_entry() {
    for presses in [0, 1, 3, 100] {
        let scene = scene(Synchronisation::Synchronised).await;
        scene.device(terminal_up()).await;
        scene.settle().await;
        let before = number(&scene);
        press(&scene, before).await;
        scene.disk(Disk::Full);
        assert!(scene.lock("torn").await.is_err());
        let mut shown = number(&scene);
        for press_number in 0..presses {
            press(&scene, shown).await;
            let next = number(&scene);
            assert!(next > shown, "press {press_number} under {shown}, then {next}");
            shown = next;
        }
        // The append that works is under way while more keys come.
        scene.disk(Disk::Slow(Duration::from_secs(3)));
        // Real time: a simulated one.
        tokio::time::sleep(Duration::from_millis(1500)).await;
        for _ in 0..presses {
            press(&scene, shown).await;
            shown = number(&scene);
        }
        scene.disk(Disk::Works);
        // Real time: a simulated one.
        tokio::time::sleep(Duration::from_secs(5)).await;
        let after = number(&scene);
        assert!(after > shown, "{presses} presses: {after} follows {shown}");
        assert_eq!(scene.count(|body| matches!(body, Body::JournalFailed(_))), 1);
    }
}

async fn press(scene: &Scene, entry: u32) {
    let pressed_at = None;
    let (key, stale) = (Key::Number(1), false);
    scene
        .device(Input::Key {
            key,
            entry,
            pressed_at,
            stale,
        })
        .await;
    scene.settle().await;
}
