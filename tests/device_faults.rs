//! What goes wrong with ports in the field, on real ptys: each fault is told, and each link comes back by itself.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::print_stdout,
    reason = "a test may panic"
)]

mod device_support;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use device_support::{Bench, Do, Far, Peer, device, key, soon, tumbler, until};
use tablegate::device::{LinkState, Wish};
use tablegate::table::event::DeviceOfflineReason;
use tablegate::table::indicators::{LampPicture, Readout, TumblerWish};
use tablegate::table::input::{Condition, DeviceKind, Input, Key};
use tablegate::wire::frame::{self, Kind};
use tablegate::wire::message::{self as wire, from_device};

/// The reason and text of a device that went; anything else is a failure.
fn gone(input: Input) -> (DeviceOfflineReason, String) {
    match input {
        Input::DeviceDown { reason, text, .. } => (reason, text),
        other => panic!("not down: {other:?}"),
    }
}

fn boot(input: Input) -> u32 {
    match input {
        Input::DeviceUp { identity, .. } => identity.boot_id,
        other => panic!("not up: {other:?}"),
    }
}

#[tokio::test]
async fn a_port_that_is_missing_at_the_start_is_taken_when_it_appears() {
    let mut bench = Bench::missing(DeviceKind::Terminal);
    let (reason, text) = gone(bench.input().await);
    assert_eq!(reason, DeviceOfflineReason::PortGone);
    assert!(text.contains("usb-Maker_0042-if00 does not exist"), "{text}");
    let report = bench.report("the cause", |r| r.text.contains("does not exist")).await;
    assert_eq!((report.state, report.counts.opened), (LinkState::Down, 0));
    let far = Far::new();
    bench.name.lead_to(&far.name);
    let _peer = Peer::start(device(wire::DeviceKind::Terminal), far, bench.clock.clone());
    assert_eq!(boot(bench.input().await), 7);
}

#[tokio::test]
async fn an_unplugged_device_is_told_and_taken_again_under_the_same_name() {
    let (mut bench, peer) = Bench::up(DeviceKind::Tumbler).await;
    peer.unplug().await;
    let (reason, text) = gone(bench.input().await);
    assert_eq!(reason, DeviceOfflineReason::PortGone);
    assert!(text.contains("unplugged?"), "{text}");
    bench.name.vanish();
    bench
        .report("the missing name", |r| r.text.contains("does not exist"))
        .await;
    // The kernel gives it another number, udev the same name.
    let far = Far::new();
    bench.name.lead_to(&far.name);
    let mut config = device(wire::DeviceKind::Tumbler);
    config.boot_id = 8;
    let peer = Peer::start(config, far, bench.clock.clone());
    assert_eq!(boot(bench.input().await), 8);
    peer.report(from_device::Body::Tumbler(tumbler(wire::Cover::Off, &[])));
    assert!(matches!(bench.input().await, Input::Tumbler { .. }));
    assert_eq!(bench.handle.report.borrow().counts.opened, 2);
}

#[tokio::test]
async fn a_device_unplugged_while_it_is_written_to_is_told() {
    let far = Far::new();
    let mut bench = Bench::with_room(DeviceKind::LayoutLamps, 8, Some(&far));
    bench.report("an open port", |r| r.counts.opened == 1).await;
    // The next greeting waits for a device that doesn't read; then it goes.
    let sent = bench.handle.report.borrow().counts.frames_out;
    tokio::select! {
        never = far.keep_full() => never,
        () = until("a greeting that waits", || {
            bench.handle.report.borrow().counts.frames_out > sent + 1
        }) => {}
    }
    drop(far);
    let (reason, _) = gone(bench.input().await);
    assert_eq!(reason, DeviceOfflineReason::PortGone);
}

#[tokio::test]
async fn a_device_that_never_reads_has_its_port_closed_and_opened_anew() {
    let far = Far::new();
    let mut bench = Bench::with_room(DeviceKind::LayoutLamps, 8, Some(&far));
    bench.report("an open port", |r| r.counts.opened == 1).await;
    let report = tokio::select! {
        never = far.keep_full() => never,
        report = bench.report("a port that is stuck", |r| r.text.contains("takes no bytes")) => report,
    };
    assert_eq!(report.state, LinkState::Down);
    let (reason, _) = gone(bench.input().await);
    assert_eq!(reason, DeviceOfflineReason::Silent);
    // What it didn't take is discarded at the next opening, and a device that reads again is greeted.
    bench
        .report("a port that is open again", |r| r.counts.opened == 2)
        .await;
    let mut config = device(wire::DeviceKind::LayoutLamps);
    config.boot_id = 12;
    let _peer = Peer::start(config, far, bench.clock.clone());
    assert_eq!(boot(bench.comes_or_goes().await), 12);
}

#[tokio::test]
async fn a_port_that_somebody_else_holds_is_told_by_name_and_taken_when_it_is_free() {
    let far = Far::new();
    let near = far.opened_beside();
    let mut holder = Command::new("cat")
        .stdin(Stdio::from(near))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut bench = Bench::with_room(DeviceKind::Terminal, 8, Some(&far));
    let (reason, text) = gone(bench.input().await);
    assert_eq!(reason, DeviceOfflineReason::PortHeld);
    assert!(text.contains(&format!("held by cat (pid {})", holder.id())), "{text}");
    holder.kill().unwrap();
    holder.wait().unwrap();
    let _peer = Peer::start(device(wire::DeviceKind::Terminal), far, bench.clock.clone());
    assert_eq!(boot(bench.input().await), 7);
}

#[tokio::test]
async fn a_name_that_moves_is_followed_while_the_old_port_stays_open() {
    let (mut bench, _old) = Bench::up(DeviceKind::Terminal).await;
    let far = Far::new();
    bench.name.lead_to(&far.name);
    let mut config = device(wire::DeviceKind::Terminal);
    config.boot_id = 9;
    let _new = Peer::start(config, far, bench.clock.clone());
    let (reason, text) = gone(bench.input().await);
    assert_eq!(reason, DeviceOfflineReason::PortGone);
    assert!(text.contains("another device"), "{text}");
    assert_eq!(boot(bench.input().await), 9);
}

#[tokio::test]
async fn a_silent_port_whose_name_moves_is_left() {
    let silent = Far::new();
    let mut bench = Bench::with_room(DeviceKind::Terminal, 8, Some(&silent));
    let (reason, text) = gone(bench.input().await);
    assert_eq!(reason, DeviceOfflineReason::Silent);
    assert!(text.contains("nobody answers"), "{text}");
    bench.report("silence", |r| r.state == LinkState::Silent).await;
    let far = Far::new();
    bench.name.lead_to(&far.name);
    let _peer = Peer::start(device(wire::DeviceKind::Terminal), far, bench.clock.clone());
    assert_eq!(boot(bench.comes().await), 7);
    drop(silent);
}

#[tokio::test]
async fn a_device_of_another_kind_is_named_and_the_right_one_is_taken() {
    let far = Far::new();
    let mut bench = Bench::with_room(DeviceKind::Terminal, 8, Some(&far));
    let peer = Peer::start(device(wire::DeviceKind::Tumbler), far, bench.clock.clone());
    let (reason, text) = gone(bench.input().await);
    assert_eq!(reason, DeviceOfflineReason::WrongDevice);
    assert!(
        text.contains("a tumbler (serial number 0042)") && text.contains("a terminal"),
        "{text}"
    );
    let report = bench.report("the cause", |r| r.text == text).await;
    assert_eq!(report.state, LinkState::Down);
    peer.unplug().await;
    assert_eq!(gone(bench.input().await).0, DeviceOfflineReason::PortGone);
    let far = Far::new();
    bench.name.lead_to(&far.name);
    let _peer = Peer::start(device(wire::DeviceKind::Terminal), far, bench.clock.clone());
    assert_eq!(boot(bench.input().await), 7);
}

#[tokio::test]
async fn too_few_lamps_are_told() {
    let far = Far::new();
    let mut bench = Bench::with_room(DeviceKind::LayoutLamps, 8, Some(&far));
    let mut config = device(wire::DeviceKind::LayoutLamps);
    config.lamp_count = 17;
    let _peer = Peer::start(config, far, bench.clock.clone());
    let (reason, text) = gone(bench.input().await);
    assert_eq!(reason, DeviceOfflineReason::WrongDevice);
    assert!(text.contains("17 lamps") && text.contains("50"), "{text}");
}

#[tokio::test]
async fn bytes_without_frames_ask_for_the_baud_rate() {
    let far = Far::new();
    let mut bench = Bench::with_room(DeviceKind::Terminal, 8, Some(&far));
    bench.report("an open port", |r| r.counts.opened == 1).await;
    let noise: Vec<u8> = (0..2000_u32).map(|n| u8::try_from(n * 7919 % 251).unwrap()).collect();
    far.write(&noise).await;
    let report = bench
        .report("the question", |r| {
            r.text.contains("wrong baud rate ([devices.terminal] baud")
        })
        .await;
    assert!(report.text.contains("no valid frame in "), "{}", report.text);
    assert!(
        report.counts.noise + report.counts.crc_errors > 0,
        "{:?}",
        report.counts
    );
    loop {
        if let Input::Condition {
            condition,
            text,
            standing,
        } = bench.input().await
        {
            assert_eq!((condition, standing), (Condition::LinkOdd(DeviceKind::Terminal), true));
            assert!(text.contains("usb-Maker_0042-if00: no valid frame in"), "{text}");
            break;
        }
    }
}

#[tokio::test]
async fn a_looped_line_is_told() {
    let far = Far::new();
    let mut bench = Bench::with_room(DeviceKind::Terminal, 8, Some(&far));
    let mut buffer = [0; 512];
    let told = async {
        loop {
            let report = bench.handle.report.borrow_and_update().clone();
            if report.text.contains("looped") {
                return report;
            }
            tokio::select! {
                read = far.read(&mut buffer) => far.write(&buffer[..read.unwrap()]).await,
                changed = bench.handle.report.changed() => changed.unwrap(),
            }
        }
    };
    let report = soon("the loop to be noticed", told).await;
    assert!(report.counts.echoes > 0, "{:?}", report.counts);
}

#[tokio::test]
async fn another_version_is_told_as_such() {
    let far = Far::new();
    let mut bench = Bench::with_room(DeviceKind::Terminal, 8, Some(&far));
    bench.report("an open port", |r| r.counts.opened == 1).await;
    // RESET of TLP/2: version and kind, number, CRC-32C.
    let body = [0x26, 0x00];
    let crc = crc::Crc::<u32>::new(&crc::CRC_32_ISCSI).checksum(&body);
    let mut line = vec![0];
    line.extend(cobs::encode_vec(&[&body[..], &crc.to_le_bytes()].concat()));
    line.push(0);
    far.write(&line).await;
    let report = bench.report("the version", |r| r.text.contains("TLP/2")).await;
    assert_eq!(report.counts.other_version, 1);
}

#[tokio::test]
async fn a_device_that_restarts_is_greeted_again_and_no_key_from_before_arrives() {
    let (mut bench, mut peer) = Bench::up(DeviceKind::Terminal).await;
    peer.report(key(1, 9));
    assert!(matches!(
        bench.input().await,
        Input::Key {
            key: Key::Number(1),
            ..
        }
    ));
    peer.acknowledged().await;
    peer.order(Do::Restart(8));
    assert_eq!(gone(bench.input().await).0, DeviceOfflineReason::Restarted);
    // Pressed while nobody greets it: lost, as it must be.
    peer.report(key(2, 9));
    assert_eq!(boot(bench.input().await), 8);
    bench.handle.ask_status();
    let next = bench.input().await;
    assert!(matches!(next, Input::Terminal(_)), "{next:?}");
}

#[tokio::test]
async fn a_burst_of_old_keys_is_marked_stale() {
    let (mut bench, peer) = Bench::up(DeviceKind::Terminal).await;
    bench.report("related clocks", |r| r.clocks_related).await;
    for number in 1..=3 {
        peer.order(Do::Report(key(number, 9), Duration::from_secs(120)));
    }
    for _ in 0..3 {
        let input = bench.input().await;
        assert!(matches!(input, Input::Key { stale: true, .. }), "{input:?}");
    }
    peer.report(key(4, 9));
    let input = bench.input().await;
    assert!(matches!(input, Input::Key { stale: false, .. }), "{input:?}");
}

#[tokio::test]
async fn repeats_and_late_answers_are_dropped_by_their_number() {
    let (mut bench, peer) = Bench::up(DeviceKind::Terminal).await;
    peer.order(Do::Mute);
    let data = |sequence: u8, number: i32| {
        use prost::Message;
        let message = wire::FromDevice {
            uptime_ms: 0,
            body: Some(key(number, 9)),
        };
        let mut line = Vec::new();
        frame::encode(Kind::Data, sequence, &message.encode_to_vec(), &mut line).unwrap();
        line
    };
    let mut ack = Vec::new();
    frame::encode(Kind::Ack, 200, &[], &mut ack).unwrap();
    let line = [
        data(1, 1),
        data(1, 1),
        ack,
        data(9, 5),
        data(2, 2),
        data(1, 1),
        data(3, 3),
    ]
    .concat();
    peer.order(Do::Raw(line));
    for expected in 1..=3 {
        let input = bench.input().await;
        assert!(
            matches!(input, Input::Key { key: Key::Number(number), .. } if number == expected),
            "{expected}: {input:?}"
        );
    }
}

#[tokio::test]
async fn a_device_that_talks_too_much_is_closed_for_ten_seconds() {
    let (mut bench, peer) = Bench::up(DeviceKind::Terminal).await;
    let mut told = None;
    let mut number = 0;
    while told.is_none() {
        peer.report(key(number % 6 + 1, 9));
        number += 1;
        assert!(number < 1000, "never too much");
        match bench.input().await {
            Input::Key { .. } => {}
            other => told = Some(gone(other)),
        }
    }
    let closed = Instant::now();
    let (reason, text) = told.unwrap();
    assert_eq!(reason, DeviceOfflineReason::Noisy);
    assert!(text.contains("100 messages"), "{text}");
    let report = bench.report("a closed port", |r| r.state == LinkState::Down).await;
    assert!(report.text.contains("10 s"), "{}", report.text);
    assert_eq!(boot(bench.comes().await), 7);
    assert!(
        closed.elapsed() >= Duration::from_millis(9_900),
        "{:?}",
        closed.elapsed()
    );
}

#[tokio::test]
async fn a_flood_of_noise_is_closed() {
    let far = Far::new();
    let mut bench = Bench::with_room(DeviceKind::Terminal, 8, Some(&far));
    bench.report("an open port", |r| r.counts.opened == 1).await;
    let noise = [0xa5; 4096];
    let flooding = async {
        loop {
            far.write(&noise).await;
        }
    };
    tokio::select! {
        () = flooding => unreachable!("a flood has no end"),
        report = bench.report("a closed port", |r| r.text.contains("more bytes than a device sends")) => {
            assert_eq!(report.state, LinkState::Down);
            assert!(report.counts.bytes_in < 1_000_000, "{:?}", report.counts);
        }
    }
}

#[tokio::test]
async fn one_device_that_goes_leaves_the_others_alone() {
    let (mut lamps, lit) = Bench::up(DeviceKind::LayoutLamps).await;
    let (mut tumbler_bench, spinning) = Bench::up(DeviceKind::Tumbler).await;
    lit.unplug().await;
    assert_eq!(gone(lamps.input().await).0, DeviceOfflineReason::PortGone);
    spinning.report(from_device::Body::Tumbler(tumbler(wire::Cover::Off, &[])));
    assert!(matches!(tumbler_bench.input().await, Input::Tumbler { .. }));
    assert_eq!(tumbler_bench.handle.report.borrow().state, LinkState::Up);
}

#[tokio::test]
async fn the_newest_wish_is_what_a_device_gets_that_was_away() {
    let (mut bench, peer) = Bench::up(DeviceKind::LayoutLamps).await;
    peer.unplug().await;
    gone(bench.input().await);
    for lit in 1..=50_u8 {
        bench.handle.wish.send_replace(Wish::Lamps(LampPicture {
            lit: vec![lit],
            blink: false,
        }));
        tokio::task::yield_now().await;
    }
    let far = Far::new();
    bench.name.lead_to(&far.name);
    let mut peer = Peer::start(device(wire::DeviceKind::LayoutLamps), far, bench.clock.clone());
    let first = peer.accepted().await;
    assert!(
        matches!(&first, wire::to_device::Body::Lamps(picture) if picture.lit == [50]),
        "{first:?}"
    );
}

#[tokio::test]
async fn wishes_of_another_kind_reach_no_device() {
    let (bench, mut peer) = Bench::up(DeviceKind::LayoutLamps).await;
    bench.handle.wish.send_replace(Wish::Tumbler(TumblerWish {
        inhibit: true,
        dice_allowed: true,
    }));
    tokio::task::yield_now().await;
    bench.handle.wish.send_replace(Wish::Lamps(LampPicture {
        lit: vec![9],
        blink: true,
    }));
    let first = peer.accepted().await;
    assert!(matches!(first, wire::to_device::Body::Lamps(_)), "{first:?}");
}

#[tokio::test]
async fn a_few_bytes_without_a_frame_are_told_with_the_silence() {
    let far = Far::new();
    let mut bench = Bench::with_room(DeviceKind::Terminal, 8, Some(&far));
    bench.report("an open port", |r| r.counts.opened == 1).await;
    far.write(b"\xff\xfe\x00\x80\x81").await;
    let (reason, text) = gone(bench.input().await);
    assert_eq!(reason, DeviceOfflineReason::Silent);
    assert!(
        text.contains("5 bytes came and no valid frame: wrong baud rate"),
        "{text}"
    );
}

#[tokio::test]
async fn a_defect_of_our_own_ends_the_session_and_not_the_task() {
    let (mut bench, _peer) = Bench::up(DeviceKind::Terminal).await;
    // A readout that fits into no frame breaks an assertion.
    bench.handle.wish.send_replace(Wish::Terminal(Readout {
        text: "8".repeat(300),
        entry: 5,
        ..Readout::default()
    }));
    let (reason, text) = gone(bench.input().await);
    assert_eq!(reason, DeviceOfflineReason::Silent);
    assert!(text.contains("a defect in this program"), "{text}");
    bench.report("a closed port", |r| r.state == LinkState::Down).await;
    bench.handle.wish.send_replace(Wish::Terminal(Readout::default()));
    assert_eq!(boot(bench.comes().await), 7);
}
