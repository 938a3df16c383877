//! The frame codec of TLP/1: frozen bytes, and every kind of noise around good frames.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use proptest::prelude::*;
use prost::Message;
use tablegate::wire::frame::{self, Decoder, Frame, Kind, MAX_ENCODED, MAX_PAYLOAD, Noise, Received, Side};
use tablegate::wire::message::{self, DicePermit, HostHello, Mended, Reading, from_device};

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<Vec<_>>()
        .join(" ")
}

fn encoded(kind: Kind, sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut line = Vec::new();
    frame::encode(kind, sequence, payload, &mut line).unwrap();
    line
}

fn decode_all(decoder: &mut Decoder, mut bytes: &[u8]) -> Vec<Received> {
    std::iter::from_fn(|| decoder.next(&mut bytes)).collect()
}

fn frames(received: Vec<Received>) -> Vec<Frame> {
    received
        .into_iter()
        .filter_map(|one| match one {
            Received::Frame(frame) => Some(frame),
            Received::OtherVersion(_) | Received::Echo(_) | Received::UnknownKind(_) | Received::Noise(_) => None,
        })
        .collect()
}

/// If this fails, change the code, not the test: devices in the field send and expect these bytes.
#[test]
fn frozen_frames_of_version_1() {
    let hello = HostHello {
        session: 0xDEAD_BEEF,
        hold_ms: 10_000,
        table: "TS-07".to_owned(),
    }
    .encode_to_vec();
    /// Name, who receives it, kind, sequence number, payload, bytes on the line.
    type Frozen<'a> = (&'a str, Side, Kind, u8, &'a [u8], &'a str);
    let frozen: [Frozen<'_>; 6] = [
        (
            "HELLO",
            Side::Device,
            Kind::Hello,
            0,
            &hello,
            "00 02 10 14 0d ef be ad de 10 90 4e 1a 05 54 53 2d 30 37 77 cd ee f8 00",
        ),
        ("ACK 5", Side::Host, Kind::Ack, 5, &[], "00 07 13 05 d6 3a b2 cf 00"),
        ("PING 0", Side::Device, Kind::Ping, 0, &[], "00 02 14 05 8f e7 2e 80 00"),
        (
            "PONG 0",
            Side::Host,
            Kind::Pong,
            0,
            &1000_u32.to_le_bytes(),
            "00 02 15 03 e8 03 01 05 1c 31 aa f8 00",
        ),
        ("RESET", Side::Host, Kind::Reset, 0, &[], "00 02 16 05 61 d7 6b a7 00"),
        (
            "DATA 0",
            Side::Host,
            Kind::Data,
            0,
            &[0, 0, 0],
            "00 02 12 01 01 01 05 be c8 72 ba 00",
        ),
    ];
    for (name, receiver, kind, sequence, payload, bytes) in frozen {
        let line = encoded(kind, sequence, payload);
        assert_eq!(hex(&line), bytes, "{name}");
        let expected = Frame {
            kind,
            sequence,
            payload: payload.to_vec(),
        };
        let got = decode_all(&mut Decoder::new(receiver), &line);
        assert_eq!(got, [Received::Frame(expected)], "{name}");
    }
}

/// If this fails, change the code, not the test: numbers of messages and fields are part of the protocol.
#[test]
fn frozen_messages_of_version_1() {
    use message::*;
    let report = |uptime_ms, body| {
        FromDevice {
            uptime_ms,
            body: Some(body),
        }
        .encode_to_vec()
    };
    let command = |body| ToDevice { body: Some(body) }.encode_to_vec();
    let contact = ContactState {
        contact: Contact::Bell.into(),
        level: Level::Open.into(),
        closings: 3,
        last_closed_ms: 5,
    };
    let frozen: [(&str, Vec<u8>, &str); 16] = [
        (
            "DeviceHello",
            DeviceHello {
                session: 1,
                kind: DeviceKind::Tumbler.into(),
                serial_number: "A".into(),
                firmware: "B".into(),
                boot_id: 2,
                uptime_ms: 3,
                lamp_count: 4,
                firmware_digest: vec![5],
            }
            .encode_to_vec(),
            "0d 01 00 00 00 10 01 1a 01 41 22 01 42 2d 02 00 00 00 35 03 00 00 00 38 04 42 01 05",
        ),
        (
            "TumblerStatus",
            report(
                9,
                from_device::Body::Tumbler(TumblerStatus {
                    motion: Motion::AtRest.into(),
                    activations: 2,
                    spins: 3,
                    cover: Cover::Off.into(),
                    seal: Seal::Intact.into(),
                    dice: Some(DiceReading {
                        flatness: Flatness::Flat.into(),
                        faces: vec![1, 3, 6],
                    }),
                    fault_code: 7,
                    counters: Kept::Kept.into(),
                }),
            ),
            "0d 09 00 00 00 12 17 08 01 10 02 18 03 20 02 28 01 32 07 08 01 12 03 01 03 06 38 07 40 01",
        ),
        (
            "KeyPressed",
            report(
                9,
                from_device::Body::Key(KeyPressed {
                    key: Key::NoSpin.into(),
                    entry: 2,
                }),
            ),
            "0d 09 00 00 00 1a 04 08 15 10 02",
        ),
        (
            "EntryPressed",
            report(
                9,
                from_device::Body::Entry(EntryPressed {
                    shown: vec![1, 3, 6],
                    entry: 2,
                }),
            ),
            "0d 09 00 00 00 22 07 0a 03 01 03 06 10 02",
        ),
        (
            "ContactState",
            report(9, from_device::Body::Contact(contact)),
            "0d 09 00 00 00 2a 0b 08 01 10 01 18 03 25 05 00 00 00",
        ),
        (
            "LampStatus",
            report(
                9,
                from_device::Body::Lamps(LampStatus {
                    lit: vec![1],
                    failed: vec![2],
                    sensing: Sensing::Measured.into(),
                }),
            ),
            "0d 09 00 00 00 32 08 0a 01 01 12 01 02 18 01",
        ),
        (
            "DeviceFault",
            report(
                9,
                from_device::Body::Fault(DeviceFault {
                    code: 7,
                    text: "hot".into(),
                    state: FaultState::Raised.into(),
                }),
            ),
            "0d 09 00 00 00 3a 09 08 07 12 03 68 6f 74 18 01",
        ),
        (
            "TerminalStatus",
            report(
                9,
                from_device::Body::Terminal(TerminalStatus {
                    shown: vec![1],
                    entry: 2,
                    contacts: vec![contact],
                }),
            ),
            "0d 09 00 00 00 42 12 0a 01 01 10 02 1a 0b 08 01 10 01 18 03 25 05 00 00 00",
        ),
        (
            "DigestReply",
            report(
                9,
                from_device::Body::Digest(DigestReply {
                    seed: vec![1],
                    sha256: vec![2],
                }),
            ),
            "0d 09 00 00 00 4a 06 0a 01 01 12 01 02",
        ),
        (
            "StatusRequest",
            command(to_device::Body::Status(StatusRequest {})),
            "0a 00",
        ),
        (
            "Readout",
            command(to_device::Body::Readout(Readout {
                text: "E03".into(),
                blink: true,
                entry: 7,
                for_ms: 3000,
            })),
            "12 0c 0a 03 45 30 33 10 01 18 07 20 b8 17",
        ),
        (
            "SetLamps",
            command(to_device::Body::Lamps(SetLamps {
                lit: vec![1, 2],
                blink: true,
            })),
            "1a 06 0a 02 01 02 10 01",
        ),
        (
            "Inhibit",
            command(to_device::Body::Inhibit(Inhibit {
                on: true,
                dice_allowed: true,
            })),
            "22 04 08 01 10 01",
        ),
        ("Spin", command(to_device::Body::Spin(Spin { times: 3 })), "2a 02 08 03"),
        (
            "DigestRequest",
            command(to_device::Body::Digest(DigestRequest { seed: vec![1] })),
            "32 03 0a 01 01",
        ),
        (
            "HostHello",
            HostHello {
                session: 1,
                hold_ms: 2,
                table: "T".into(),
            }
            .encode_to_vec(),
            "0d 01 00 00 00 10 02 1a 01 54",
        ),
    ];
    for (name, bytes, expected) in frozen {
        assert_eq!(hex(&bytes), expected, "{name}");
    }
}

#[test]
fn the_line_is_described_by_what_is_counted() {
    let crc = crc::Crc::<u32>::new(&crc::CRC_32_ISCSI);
    let version_2 = |head: u8| {
        let mut body = vec![head, 0];
        body.extend(crc.checksum(&[head, 0]).to_le_bytes());
        let mut line = vec![0];
        line.extend(cobs::encode_vec(&body));
        line.push(0);
        line
    };
    let mut wrong_crc = encoded(Kind::Ping, 0, &[]);
    wrong_crc[4] ^= 0x40;
    let cases: [(&str, Vec<u8>, Received); 8] = [
        ("speaks TLP/2", version_2(0x26), Received::OtherVersion(2)),
        ("speaks TLP/0", version_2(0x06), Received::OtherVersion(0)),
        ("a reserved kind", version_2(0x1f), Received::UnknownKind(15)),
        ("our HELLO", encoded(Kind::Hello, 0, &[]), Received::Echo(Kind::Hello)),
        ("our PING", encoded(Kind::Ping, 0, &[]), Received::Echo(Kind::Ping)),
        ("a flipped bit", wrong_crc, Received::Noise(Noise::Checksum)),
        ("too short", vec![0, 3, 0x16, 5, 0], Received::Noise(Noise::TooShort)),
        (
            "too long",
            [vec![1; MAX_ENCODED + 1], vec![0]].concat(),
            Received::Noise(Noise::TooLong),
        ),
    ];
    let mut decoder = Decoder::new(Side::Host);
    for (name, line, expected) in cases {
        assert_eq!(decode_all(&mut decoder, &line), [expected], "{name}");
    }
    let seen = decoder.seen();
    assert_eq!((seen.other_versions, seen.unknown_kinds, seen.echoes), (2, 1, 2));
    assert_eq!((seen.crc_errors, seen.noise, seen.frames), (1, 2, 0));
    assert!(seen.bytes_since_frame > 200);
    decode_all(&mut decoder, &encoded(Kind::Reset, 0, &[]));
    assert_eq!(decoder.seen().bytes_since_frame, 0);
}

#[test]
fn the_longest_frame_passes_and_a_longer_one_is_refused() {
    for payload in [vec![0; MAX_PAYLOAD], vec![7; MAX_PAYLOAD]] {
        let line = encoded(Kind::Data, 9, &payload);
        assert!(line.len() <= frame::MAX_ON_LINE);
        assert_eq!(frames(decode_all(&mut Decoder::new(Side::Host), &line)).len(), 1);
    }
    let mut line = Vec::new();
    assert!(frame::encode(Kind::Data, 0, &[0; MAX_PAYLOAD + 1], &mut line).is_err());
    assert!(line.is_empty());
}

#[test]
fn a_frame_does_not_show_its_payload() {
    let payload = b"\x0d\x09secret".to_vec();
    let frame = Frame {
        kind: Kind::Data,
        sequence: 3,
        payload,
    };
    assert_eq!(format!("{frame:?}"), "Data 3 (8 bytes)");
}

fn any_frame() -> impl Strategy<Value = Frame> {
    let kinds = prop::sample::select(vec![Kind::Welcome, Kind::Data, Kind::Ack, Kind::Pong, Kind::Reset]);
    let payload = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..=MAX_PAYLOAD),
        prop::collection::vec(0_u8..2, 0..=MAX_PAYLOAD),
    ];
    (kinds, any::<u8>(), payload).prop_map(|(kind, sequence, payload)| Frame {
        kind,
        sequence,
        payload,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_split_of_merged_frames_decodes(sent in prop::collection::vec(any_frame(), 1..6), cuts in prop::collection::vec(1_usize..40, 1..20)) {
        let mut line: Vec<u8> = sent.iter().flat_map(|frame| encoded(frame.kind, frame.sequence, &frame.payload)).collect();
        let mut decoder = Decoder::new(Side::Host);
        let mut got = Vec::new();
        for cut in cuts.iter().cycle() {
            if line.is_empty() {
                break;
            }
            let rest = line.split_off((*cut).min(line.len()));
            got.extend(frames(decode_all(&mut decoder, &line)));
            line = rest;
        }
        prop_assert_eq!(got, sent);
    }

    #[test]
    fn every_single_cut_of_a_frame_decodes(sent in any_frame()) {
        let line = encoded(sent.kind, sent.sequence, &sent.payload);
        for cut in 0..=line.len() {
            let mut decoder = Decoder::new(Side::Host);
            let mut got = frames(decode_all(&mut decoder, &line[..cut]));
            got.extend(frames(decode_all(&mut decoder, &line[cut..])));
            prop_assert_eq!(&got, std::slice::from_ref(&sent), "cut at {}", cut);
        }
    }

    #[test]
    fn a_good_frame_after_noise_of_any_length_decodes(noise in prop::collection::vec(any::<u8>(), 0..1000), sent in any_frame()) {
        let mut decoder = Decoder::new(Side::Host);
        let before = decode_all(&mut decoder, &noise);
        prop_assert_eq!(frames(before), []);
        let line = encoded(sent.kind, sent.sequence, &sent.payload);
        prop_assert_eq!(frames(decode_all(&mut decoder, &line)), [sent]);
    }

    #[test]
    fn a_flipped_bit_costs_one_frame(sent in prop::collection::vec(any_frame(), 3), at in any::<prop::sample::Index>(), bit in 0_u32..8) {
        let bad = encoded(sent[1].kind, sent[1].sequence, &sent[1].payload);
        let mut flipped = bad.clone();
        flipped[at.index(bad.len())] ^= 1_u8 << bit;
        let line = [encoded(sent[0].kind, sent[0].sequence, &sent[0].payload), flipped, encoded(sent[2].kind, sent[2].sequence, &sent[2].payload)].concat();
        let got = frames(decode_all(&mut Decoder::new(Side::Host), &line));
        // A flipped delimiter may leave the frame whole, as another delimiter stands beside it.
        let without: Vec<Frame> = vec![sent[0].clone(), sent[2].clone()];
        prop_assert!(got == without || got == sent, "{:?}", got);
    }

    #[test]
    fn no_payload_breaks_a_reader(payload in prop::collection::vec(any::<u8>(), 0..=MAX_PAYLOAD)) {
        let mut mended = Mended::default();
        let _ = message::read_host_hello(&payload, &mut mended);
        let _ = message::read_command(&payload, &mut mended);
        if let Some(hello) = message::read_device_hello(&payload, &mut mended) {
            prop_assert!(is_harmless(&hello.serial_number) && is_harmless(&hello.firmware));
        }
        let report = message::read_report(&payload, DicePermit::Never, &mut mended);
        if let Some(from_device::Body::Tumbler(status)) = report.map(|report| report.body) {
            prop_assert_eq!(status.dice, None);
        }
    }

    #[test]
    fn strings_are_replaced_and_the_message_kept(serial in prop::collection::vec(any::<u8>(), 0..60)) {
        let mut payload = vec![0x0d, 1, 0, 0, 0, 0x10, 2, 0x1a, u8::try_from(serial.len()).unwrap()];
        payload.extend(&serial);
        payload.extend([0x38, 106]);
        let mut mended = Mended::default();
        let hello = message::read_device_hello(&payload, &mut mended).expect("a message all the same");
        prop_assert!(is_harmless(&hello.serial_number));
        prop_assert_eq!((hello.session, hello.kind, hello.lamp_count), (1, 2, 106));
        prop_assert_eq!(mended.replaced_strings == 0, hello.serial_number.as_bytes() == serial.as_slice());
    }
}

fn is_harmless(text: &str) -> bool {
    text.len() <= 32 && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

#[test]
fn unknown_enum_numbers_count_as_0() {
    // TerminalStatus { shown [1, 99], entry 2, contacts [{ contact 9, level 7 }] }
    let payload = [0x42, 12, 0x0a, 2, 1, 99, 0x10, 2, 0x1a, 4, 0x08, 9, 0x10, 7];
    let mut mended = Mended::default();
    let report = message::read_report(&payload, DicePermit::Never, &mut mended).unwrap();
    let from_device::Body::Terminal(status) = report.body else {
        panic!("{report:?}");
    };
    assert_eq!(status.shown, [1, 0]);
    assert_eq!((status.contacts[0].contact, status.contacts[0].level), (0, 0));
    assert_eq!(mended.unknown_enums, 3);
}

#[test]
fn a_reading_is_known_only_when_it_may_be() {
    use DicePermit::{BetsClosed, Never, Uncovered};
    use Reading::{Dropped, Lawful};
    // Cover 0: no sensor, 1: on, 2: off.
    for (permit, cover, expected) in [
        (Uncovered, 0, Dropped),
        (Uncovered, 1, Dropped),
        (Uncovered, 2, Lawful),
        (Uncovered, 77, Dropped),
        (BetsClosed, 0, Lawful),
        (BetsClosed, 1, Dropped),
        (BetsClosed, 2, Lawful),
        (Never, 0, Dropped),
        (Never, 1, Dropped),
        (Never, 2, Dropped),
    ] {
        let payload = [0x12, 11, 0x20, cover, 0x32, 7, 0x08, 1, 0x12, 3, 1, 3, 6];
        let report = message::read_report(&payload, permit, &mut Mended::default()).unwrap();
        assert_eq!(report.reading, expected, "{permit:?}, cover {cover}");
        let from_device::Body::Tumbler(status) = report.body else {
            panic!("no tumbler status");
        };
        assert_eq!(status.dice.is_some(), expected == Lawful, "{permit:?}, cover {cover}");
        // Said twice, the later cover counts for the whole message.
        let split = [&payload[..], &[0x12, 2, 0x20, 1]].concat();
        let merged = message::read_report(&split, permit, &mut Mended::default()).unwrap();
        assert_eq!(merged.reading, Dropped);
    }
}
