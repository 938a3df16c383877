//! What passes over a port that works: who comes, what is said, what is shown; in every cut of the bytes.

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

use std::time::Duration;

use device_support::{Bench, Do, Far, Peer, bell, device, key, soon, tumbler};
use prost::Message;
use tablegate::device::{DigestAnswer, DigestAsk, LinkState, Wish};
use tablegate::table::indicators::{DeviceCommand, LampPicture, Readout, TumblerWish};
use tablegate::table::input::{
    Contact, Cover, DeviceKind, DeviceStatus, DiceReading, Flatness, Input, Key, TumblerReport,
};
use tablegate::time::Clock;
use tablegate::wire::frame::{self, Kind};
use tablegate::wire::message::{self as wire, from_device, to_device};
use tablegate::wire::session::DeviceEvent;
use tokio::sync::oneshot;

fn readout(text: &str, entry: u32, serial: u64) -> Wish {
    Wish::Terminal(Readout {
        text: text.into(),
        blink: false,
        entry,
        for_ms: 0,
        serial,
    })
}

fn lamps(lit: &[u8]) -> Wish {
    Wish::Lamps(LampPicture {
        lit: lit.to_vec(),
        blink: false,
    })
}

#[tokio::test]
async fn a_device_that_answers_comes_up_with_identity_and_status() {
    let far = Far::new();
    let mut bench = Bench::with_room(DeviceKind::Tumbler, 8, Some(&far));
    let resolved = far.name.display().to_string();
    let _peer = Peer::start(device(wire::DeviceKind::Tumbler), far, bench.clock.clone());
    let Input::DeviceUp { identity, status } = bench.input().await else {
        panic!("not up");
    };
    assert_eq!(identity.kind, DeviceKind::Tumbler);
    assert_eq!(
        (identity.serial_number.as_str(), identity.firmware.as_str()),
        ("0042", "1.3")
    );
    assert_eq!(
        (identity.boot_id, identity.firmware_digest.as_slice()),
        (7, &[1, 2, 3][..])
    );
    let DeviceStatus::Tumbler(TumblerReport {
        spins,
        cover,
        dice,
        counters_kept,
        ..
    }) = status
    else {
        panic!("{status:?}");
    };
    assert_eq!((spins, cover, dice, counters_kept), (12, Cover::On, None, false));
    let report = bench.report("a link that is up", |r| r.state == LinkState::Up).await;
    assert_eq!(report.resolved, Some(resolved));
    assert_eq!(report.identity.unwrap().serial_number, "0042");
    assert_eq!((report.counts.opened, report.counts.sessions), (1, 1));
    assert!(report.counts.frames_in >= 2, "{:?}", report.counts);
}

#[tokio::test]
async fn every_cut_of_every_frame_is_read() {
    let (mut bench, mut peer) = Bench::up(DeviceKind::Terminal).await;
    // The device falls silent, and its frames come from here, cut in two at every place.
    peer.order(Do::Mute);
    let mut sequence = 1_u8;
    let mut cut = 0;
    loop {
        let message = wire::FromDevice {
            uptime_ms: 0,
            body: Some(key(i32::from(sequence % 6) + 1, 9)),
        };
        let mut line = Vec::new();
        frame::encode(Kind::Data, sequence, &message.encode_to_vec(), &mut line).unwrap();
        if cut > line.len() {
            break;
        }
        let (first, second) = line.split_at(cut);
        peer.order(Do::Pieces(vec![first.to_vec(), second.to_vec()]));
        let input = bench.input().await;
        let Input::Key { key, .. } = input else {
            panic!("cut at {cut}: {input:?}");
        };
        assert_eq!(key, Key::Number(sequence % 6 + 1), "cut at {cut}");
        sequence += 1;
        cut += 1;
    }
    assert!(cut > 15);
    drop(peer.events_so_far());
}

#[tokio::test]
async fn good_frames_survive_the_bad_bytes_around_them() {
    let (mut bench, peer) = Bench::up(DeviceKind::Terminal).await;
    peer.order(Do::Mute);
    let mut line = b"\x13\x37noise\x00\x01\x02\x03".to_vec();
    for sequence in 1..=3 {
        let message = wire::FromDevice {
            uptime_ms: 0,
            body: Some(key(i32::from(sequence), 9)),
        };
        frame::encode(Kind::Data, sequence, &message.encode_to_vec(), &mut line).unwrap();
        line.extend_from_slice(&[0xff; 300]);
    }
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
async fn the_whole_wish_goes_out_when_the_link_is_up_and_only_differences_after_it() {
    let (bench, mut peer) = Bench::up(DeviceKind::LayoutLamps).await;
    bench.handle.wish.send_replace(lamps(&[1, 2]));
    assert!(matches!(peer.accepted().await, to_device::Body::Lamps(p) if p.lit == [1, 2]));
    // Equal: nothing goes out, so the next thing that is accepted is the one after it.
    bench.handle.wish.send_replace(lamps(&[1, 2]));
    bench.handle.wish.send_replace(lamps(&[1, 2]));
    tokio::task::yield_now().await;
    bench.handle.wish.send_replace(lamps(&[3]));
    assert!(matches!(peer.accepted().await, to_device::Body::Lamps(p) if p.lit == [3]));
    // After a restart the whole picture comes, unasked.
    peer.order(Do::Restart(8));
    assert!(matches!(peer.accepted().await, to_device::Body::Lamps(p) if p.lit == [3]));
}

#[tokio::test]
async fn a_wish_from_before_the_device_was_there_is_sent_when_it_comes() {
    let bench = Bench::missing(DeviceKind::Tumbler);
    bench.handle.wish.send_replace(Wish::Tumbler(TumblerWish {
        inhibit: true,
        dice_allowed: false,
    }));
    let far = Far::new();
    bench.name.lead_to(&far.name);
    let mut peer = Peer::start(device(wire::DeviceKind::Tumbler), far, bench.clock.clone());
    assert!(matches!(peer.accepted().await, to_device::Body::Inhibit(i) if i.on && !i.dice_allowed));
}

#[tokio::test]
async fn a_readout_is_sent_again_when_its_serial_changed() {
    let (bench, mut peer) = Bench::up(DeviceKind::Terminal).await;
    for (text, entry, serial) in [("", 5, 1), ("E01", 6, 2), ("E01", 6, 3)] {
        bench.handle.wish.send_replace(readout(text, entry, serial));
        let to_device::Body::Readout(shown) = peer.accepted().await else {
            panic!("no readout");
        };
        assert_eq!((shown.text.as_str(), shown.entry), (text, entry));
    }
}

#[tokio::test]
async fn a_readout_of_the_entry_that_the_terminal_holds_already_waits_for_a_new_number() {
    let far = Far::new();
    let mut bench = Bench::with_room(DeviceKind::Terminal, 8, Some(&far));
    let mut peer = Peer::start(device(wire::DeviceKind::Terminal), far, bench.clock.clone());
    peer.order(Do::Status(from_device::Body::Terminal(wire::TerminalStatus {
        shown: vec![1, 2],
        entry: 5,
        contacts: vec![],
    })));
    bench.handle.wish.send_replace(readout("", 5, 1));
    let Input::DeviceUp { status, .. } = bench.input().await else {
        panic!("not up");
    };
    let DeviceStatus::Terminal(terminal) = status else {
        panic!("{status:?}");
    };
    assert_eq!(
        (terminal.entry, terminal.shown),
        (5, vec![Key::Number(1), Key::Number(2)])
    );
    bench.handle.wish.send_replace(readout("", 6, 2));
    let to_device::Body::Readout(shown) = peer.accepted().await else {
        panic!("no readout");
    };
    assert_eq!(shown.entry, 6);
}

#[tokio::test]
async fn lamps_that_were_acknowledged_are_told() {
    let (mut bench, mut peer) = Bench::up(DeviceKind::LayoutLamps).await;
    bench.handle.wish.send_replace(lamps(&[0, 4]));
    let input = bench.input().await;
    assert_eq!(input, Input::LampsAcknowledged { lit: vec![0, 4] });
    let mut status = wire::LampStatus {
        lit: vec![0, 4, 0, 0],
        failed: vec![],
        ..wire::LampStatus::default()
    };
    status.set_sensing(wire::Sensing::Measured);
    peer.report(from_device::Body::Lamps(status));
    let Input::Lamps(report) = bench.input().await else {
        panic!("no lamps");
    };
    assert_eq!((report.lit.as_slice(), report.measured), (&[0, 4][..], true));
    peer.acknowledged().await;
}

#[tokio::test]
async fn keys_entries_and_contacts_carry_their_time_in_ours() {
    let (mut bench, peer) = Bench::up(DeviceKind::Terminal).await;
    // With the first PONG the clocks are related.
    bench.report("related clocks", |r| r.clocks_related).await;
    let before = bench.clock.uptime();
    peer.order(Do::Report(key(6, 9), Duration::from_millis(700)));
    let Input::Key {
        key: pressed,
        entry,
        pressed_at,
        stale,
    } = bench.input().await
    else {
        panic!("no key");
    };
    assert_eq!((pressed, entry, stale), (Key::Number(6), 9, false));
    let at = pressed_at.expect("a time");
    let apart = (before - Duration::from_millis(700))
        .since(at)
        .max(at.since(before - Duration::from_millis(700)));
    assert!(apart < Duration::from_millis(300), "{apart:?}");
    peer.order(Do::Report(
        from_device::Body::Entry(wire::EntryPressed {
            shown: vec![1, 3, 6],
            entry: 9,
        }),
        Duration::from_secs(5),
    ));
    let Input::Entry { shown, stale, .. } = bench.input().await else {
        panic!("no entry");
    };
    assert_eq!(
        (shown, stale),
        (vec![Key::Number(1), Key::Number(3), Key::Number(6)], true)
    );
    let report = bench.handle.report.borrow().clone();
    assert_eq!(report.state, LinkState::Up);
    peer.report(from_device::Body::Contact(bell(1, 0)));
    let Input::Contact(contact) = bench.input().await else {
        panic!("no contact");
    };
    assert_eq!((contact.contact, contact.closings), (Contact::Bell, 1));
    assert!(contact.last_closed.is_some());
}

#[tokio::test]
async fn uncovered_dice_are_told_sorted() {
    let (mut bench, peer) = Bench::up(DeviceKind::Tumbler).await;
    peer.report(from_device::Body::Tumbler(tumbler(wire::Cover::Off, &[6, 1, 3])));
    let Input::Tumbler { report, .. } = bench.input().await else {
        panic!("no tumbler");
    };
    let expected = DiceReading {
        flatness: Flatness::Flat,
        faces: Some([1, 3, 6]),
    };
    assert_eq!(report.dice, Some(expected));
}

#[tokio::test]
async fn commands_go_out_after_the_wish() {
    let (bench, mut peer) = Bench::up(DeviceKind::Tumbler).await;
    bench.handle.wish.send_replace(Wish::Tumbler(TumblerWish {
        inhibit: false,
        dice_allowed: false,
    }));
    bench
        .handle
        .commands
        .try_send(DeviceCommand::Spin { times: 1 })
        .unwrap();
    assert!(matches!(peer.accepted().await, to_device::Body::Inhibit(_)));
    assert!(matches!(peer.accepted().await, to_device::Body::Spin(spin) if spin.times == 1));
}

#[tokio::test]
async fn a_command_for_a_device_that_is_away_is_dropped() {
    let bench = Bench::missing(DeviceKind::Tumbler);
    bench
        .handle
        .commands
        .try_send(DeviceCommand::Spin { times: 1 })
        .unwrap();
    soon("the command to be taken", async {
        while bench.handle.commands.capacity() < bench.handle.commands.max_capacity() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    bench.handle.wish.send_replace(Wish::Tumbler(TumblerWish {
        inhibit: true,
        dice_allowed: false,
    }));
    let far = Far::new();
    bench.name.lead_to(&far.name);
    let mut peer = Peer::start(device(wire::DeviceKind::Tumbler), far, bench.clock.clone());
    assert!(matches!(peer.accepted().await, to_device::Body::Inhibit(_)));
    bench.handle.wish.send_replace(Wish::Tumbler(TumblerWish {
        inhibit: false,
        dice_allowed: false,
    }));
    let next = peer.accepted().await;
    assert!(matches!(next, to_device::Body::Inhibit(i) if !i.on), "{next:?}");
}

#[tokio::test]
async fn an_asked_for_status_comes_as_an_input_of_its_kind() {
    let (mut bench, _peer) = Bench::up(DeviceKind::Tumbler).await;
    bench.handle.ask_status();
    assert!(matches!(bench.input().await, Input::Tumbler { happened: None, .. }));
}

#[tokio::test]
async fn what_the_table_has_no_room_for_comes_later_whole_and_in_order() {
    let far = Far::new();
    let mut bench = Bench::with_room(DeviceKind::Terminal, 1, Some(&far));
    let mut peer = Peer::start(device(wire::DeviceKind::Terminal), far, bench.clock.clone());
    // Nobody takes DeviceUp away; the queue has room for one.
    while !matches!(peer.event().await, DeviceEvent::Accepted(to_device::Body::Status(_))) {}
    let pressed: Vec<u32> = (1..=6).chain(16..=25).collect();
    for number in &pressed {
        peer.report(key(i32::try_from(*number).unwrap(), 9));
    }
    bench
        .report("a wait for room", |r| r.counts.no_room > 0 || r.state == LinkState::Up)
        .await;
    assert!(matches!(bench.input().await, Input::DeviceUp { .. }));
    let mut got = Vec::new();
    while got.len() < 16 {
        match bench.input().await {
            Input::Key { key, .. } => got.push(key.number()),
            other => panic!("{other:?} after {got:?}"),
        }
    }
    assert_eq!(got, pressed);
}

#[tokio::test]
async fn a_gateway_that_lets_go_closes_the_port() {
    let (bench, peer) = Bench::up(DeviceKind::Tumbler).await;
    let Bench {
        handle,
        mut inputs,
        name,
        ..
    } = bench;
    drop(handle);
    soon("the end of the task", async { while inputs.recv().await.is_some() {} }).await;
    // The next one can open it.
    let (sender, mut inputs) = tokio::sync::mpsc::channel(8);
    let again = tablegate::device::start(
        device_support::config(DeviceKind::Tumbler, &name.path),
        sender,
        device_support::TestClock::new(),
    );
    let first = soon("an input", inputs.recv()).await.unwrap().input;
    assert!(matches!(first, Input::DeviceUp { .. }), "{first:?}");
    drop((again, peer));
}

/// Asks the device for its digest.
async fn ask_digest(bench: &Bench, seed: &[u8]) -> oneshot::Receiver<DigestAnswer> {
    let (reply, answer) = oneshot::channel();
    let seed = seed.to_vec();
    let ask = DigestAsk { seed, reply };
    soon("room for a question", bench.handle.digests.send(ask))
        .await
        .unwrap();
    answer
}

#[tokio::test]
async fn a_digest_is_answered_by_the_device_and_lost_with_its_session() {
    let (bench, mut peer) = Bench::up(DeviceKind::Tumbler).await;
    let answer = ask_digest(&bench, b"seed").await;
    let request = loop {
        if let to_device::Body::Digest(request) = peer.accepted().await {
            break request;
        }
    };
    assert_eq!(request.seed, b"seed");
    let reply = |seed: &[u8], sha256: &[u8]| {
        from_device::Body::Digest(wire::DigestReply {
            seed: seed.to_vec(),
            sha256: sha256.to_vec(),
        })
    };
    // To a question that nobody has.
    peer.report(reply(b"other", &[1; 32]));
    peer.report(reply(b"seed", &[2; 32]));
    assert_eq!(soon("the answer", answer).await, Ok(DigestAnswer::Digest(vec![2; 32])));

    let lost = ask_digest(&bench, b"again").await;
    while !matches!(peer.accepted().await, to_device::Body::Digest(_)) {}
    peer.unplug().await;
    assert!(soon("the end of the question", lost).await.is_err());
    let offline = ask_digest(&bench, b"more").await;
    assert_eq!(soon("the answer", offline).await, Ok(DigestAnswer::Offline));
}
