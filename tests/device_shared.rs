//! A port that somebody else opens beside the daemon, and who takes away what the device says.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test may panic"
)]

mod device_support;

use std::process::{Command, Stdio};

use device_support::{Bench, Do, Far, Peer, device};
use tablegate::table::event::DeviceOfflineReason;
use tablegate::table::input::{DeviceKind, Input};
use tablegate::wire::message as wire;

#[tokio::test]
async fn who_opened_a_port_beside_the_daemon_is_told_by_name() {
    let far = Far::new();
    // Opened before, and handed on: only root may open a port that is in use.
    let near = far.opened_beside();
    let mut bench = Bench::with_room(DeviceKind::Terminal, 64, Some(&far));
    let peer = Peer::start(device(wire::DeviceKind::Terminal), far, bench.clock.clone());
    bench.comes().await;
    let mut thief = Command::new("cat")
        .stdin(Stdio::from(near))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // It gets everything.
    peer.order(Do::Mute);
    let mut reasons = Vec::new();
    let text = loop {
        if let Input::DeviceDown { reason, text, .. } = bench.comes_or_goes().await {
            reasons.push(reason);
            if reason == DeviceOfflineReason::PortHeld {
                break text;
            }
        }
    };
    assert!(text.contains(&format!("is held by cat (pid {})", thief.id())), "{text}");
    assert!(text.contains(&bench.name.path.display().to_string()), "{text}");
    assert_eq!(reasons, [DeviceOfflineReason::Silent, DeviceOfflineReason::PortHeld]);
    let report = bench
        .report("its name", |report| report.text.contains("is held by cat"))
        .await;
    assert_eq!(report.counts.opened, 1);
    // It is left alone until the other has gone.
    thief.kill().unwrap();
    thief.wait().unwrap();
    bench.report("an open port", |report| report.counts.opened == 2).await;
}

#[tokio::test]
async fn a_device_that_is_silent_by_itself_accuses_nobody() {
    let (mut bench, peer) = Bench::up(DeviceKind::Tumbler).await;
    peer.order(Do::Mute);
    let silent = bench
        .report("silence", |report| report.text.contains("nobody answers the greeting"))
        .await;
    // It goes on greeting over the port that it has: it has looked, and found nobody.
    let greeted = bench
        .report("more greetings", |report| {
            report.counts.frames_out >= silent.counts.frames_out + 2
        })
        .await;
    assert_eq!(greeted.counts.opened, 1, "{greeted:?}");
}
