//! The protocol's page for makers of devices says what the code does: its frames are read from it and checked.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use prost::Message;
use std::collections::BTreeMap;
use tablegate::wire::frame::{self, Kind};
use tablegate::wire::message::*;

const PAGE: &str = include_str!("../docs/link-protocol.md");
const PROTO: &str = include_str!("../proto/tablegate/device/v1/link.proto");

fn line(kind: Kind, sequence: u8, payload: &[u8]) -> String {
    let mut bytes = Vec::new();
    frame::encode(kind, sequence, payload, &mut bytes).unwrap();
    bytes
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<Vec<_>>()
        .join(" ")
}

fn from_device(number: u8, uptime_ms: u32, body: from_device::Body) -> String {
    let message = FromDevice {
        uptime_ms,
        body: Some(body),
    };
    line(Kind::Data, number, &message.encode_to_vec())
}

fn to_device(number: u8, body: to_device::Body) -> String {
    line(Kind::Data, number, &ToDevice { body: Some(body) }.encode_to_vec())
}

fn bell(level: Level, closings: u32, last_closed_ms: u32) -> ContactState {
    ContactState {
        contact: Contact::Bell.into(),
        level: level.into(),
        closings,
        last_closed_ms,
    }
}

/// What each row's first column says, as this code encodes it.
fn rows() -> BTreeMap<&'static str, String> {
    let hello = HostHello {
        session: 0xDEAD_BEEF,
        hold_ms: 10_000,
        table: "TS-07".to_owned(),
    };
    let welcome = DeviceHello {
        session: 0xDEAD_BEEF,
        kind: DeviceKind::Terminal.into(),
        serial_number: "T-1".to_owned(),
        firmware: "1.0".to_owned(),
        boot_id: 7,
        uptime_ms: 500,
        lamp_count: 0,
        firmware_digest: Vec::new(),
    };
    let terminal = TerminalStatus {
        shown: Vec::new(),
        entry: 0,
        contacts: vec![bell(Level::Open, 0, 0)],
    };
    let tumbler = TumblerStatus {
        motion: Motion::AtRest.into(),
        activations: 3,
        spins: 3,
        cover: Cover::Off.into(),
        seal: Seal::Intact.into(),
        dice: Some(DiceReading {
            flatness: Flatness::Flat.into(),
            faces: vec![1, 3, 6],
        }),
        fault_code: 0,
        counters: Kept::Kept.into(),
    };
    let lamps = LampStatus {
        lit: vec![1, 2],
        failed: Vec::new(),
        sensing: Sensing::Measured.into(),
    };
    let readout = Readout {
        entry: 1,
        ..Readout::default()
    };
    let picture = SetLamps {
        lit: vec![1, 2],
        blink: false,
    };
    let inhibit = Inhibit {
        on: true,
        dice_allowed: false,
    };
    BTreeMap::from([
        (
            "HELLO, session DEADBEEF, hold_ms 10000, table \"TS-07\"",
            line(Kind::Hello, 0, &hello.encode_to_vec()),
        ),
        ("ACK 5", line(Kind::Ack, 5, &[])),
        ("PING 0", line(Kind::Ping, 0, &[])),
        ("PONG 0, uptime 1000 ms", line(Kind::Pong, 0, &1000_u32.to_le_bytes())),
        ("RESET", line(Kind::Reset, 0, &[])),
        (
            "DATA 0, payload `00 00 00` (checks framing only)",
            line(Kind::Data, 0, &[0, 0, 0]),
        ),
        (
            "WELCOME, session DEADBEEF, TERMINAL, serial number \"T-1\", firmware \"1.0\", boot_id 7, uptime_ms 500",
            line(Kind::Welcome, 0, &welcome.encode_to_vec()),
        ),
        (
            "DATA 0, StatusRequest",
            to_device(0, to_device::Body::Status(StatusRequest {})),
        ),
        (
            "DATA 0, uptime_ms 600: TerminalStatus, entry 0, BELL OPEN, closings 0",
            from_device(0, 600, from_device::Body::Terminal(terminal)),
        ),
        (
            "DATA 1, Readout, text \"\", entry 1",
            to_device(1, to_device::Body::Readout(readout)),
        ),
        (
            "DATA 1, uptime_ms 2000: KeyPressed, key 3, entry 1",
            from_device(1, 2000, from_device::Body::Key(KeyPressed { key: 3, entry: 1 })),
        ),
        (
            "DATA 2, uptime_ms 4000: EntryPressed, shown 1 3 6, entry 1",
            from_device(
                2,
                4000,
                from_device::Body::Entry(EntryPressed {
                    shown: vec![1, 3, 6],
                    entry: 1,
                }),
            ),
        ),
        (
            "DATA 3, uptime_ms 5000: ContactState, BELL CLOSED, closings 1, last_closed_ms 5000",
            from_device(3, 5000, from_device::Body::Contact(bell(Level::Closed, 1, 5000))),
        ),
        (
            "DATA 1, uptime_ms 9000: TumblerStatus, AT_REST, activations 3, spins 3, cover OFF, seal INTACT, dice FLAT 1 3 6, counters KEPT",
            from_device(1, 9000, from_device::Body::Tumbler(tumbler)),
        ),
        (
            "DATA 2, SetLamps, bits 0 and 9",
            to_device(2, to_device::Body::Lamps(picture)),
        ),
        (
            "DATA 1, uptime_ms 700: LampStatus, bits 0 and 9 lit, MEASURED",
            from_device(1, 700, from_device::Body::Lamps(lamps)),
        ),
        ("DATA 1, Inhibit, on", to_device(1, to_device::Body::Inhibit(inhibit))),
    ])
}

#[test]
fn the_frames_on_the_page_are_those_of_the_code() {
    let shown: BTreeMap<&str, &str> = PAGE
        .lines()
        .filter_map(|row| row.strip_prefix("| ")?.strip_suffix("` |")?.rsplit_once(" | `"))
        .collect();
    let expected = rows();
    for (name, bytes) in &expected {
        assert_eq!(shown.get(name), Some(&bytes.as_str()), "{name}");
    }
    let frames = shown
        .values()
        .filter(|bytes| bytes.starts_with("00 ") && bytes.ends_with(" 00"));
    assert_eq!(frames.count(), expected.len(), "every frame on the page is checked");
}

#[test]
fn the_messages_on_the_page_are_those_of_the_protocol() {
    let block = PAGE
        .split("```text\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let on_page = squeeze(block);
    let mut message = "";
    let mut checked = 0;
    for declared in PROTO.lines().map(str::trim) {
        if let Some(name) = declared.strip_prefix("message ") {
            message = name.split_whitespace().next().unwrap();
            assert!(on_page.contains(&format!("{message} {{")), "the page lacks {message}");
        }
        let field = declared.split(';').next().unwrap();
        let is_field = field.contains(" = ") && !field.contains("package") && !declared.starts_with("//");
        let is_enum = field
            .split(" = ")
            .next()
            .unwrap()
            .chars()
            .all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit());
        if is_field && !is_enum && !field.contains("syntax") {
            assert!(
                on_page.contains(&format!("{field};")),
                "{message}: the page lacks \"{field}\""
            );
            checked += 1;
        }
    }
    assert!(checked > 60, "only {checked} fields were found");
}

#[test]
fn the_enum_numbers_on_the_page_are_those_of_the_protocol() {
    let block = PAGE
        .split("```text\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let on_page = squeeze(block);
    for (name, number) in [
        ("TUMBLER", i32::from(DeviceKind::Tumbler)),
        ("RESULT_LIGHTS", DeviceKind::ResultLights.into()),
        ("AT_REST", Motion::AtRest.into()),
        ("FAULT", Motion::Fault.into()),
        ("ON", Cover::On.into()),
        ("OFF", Cover::Off.into()),
        ("BROKEN", Seal::Broken.into()),
        ("LOST", Kept::Lost.into()),
        ("NOT_FLAT", Flatness::NotFlat.into()),
        ("HEADS", Key::Heads.into()),
        ("NO_SPIN", Key::NoSpin.into()),
        ("OVERRULE", Key::Overrule.into()),
        ("BELL", Contact::Bell.into()),
        ("CABINET_DOOR", Contact::CabinetDoor.into()),
        ("CLOSED", Level::Closed.into()),
        ("AS_COMMANDED", Sensing::AsCommanded.into()),
        ("CLEARED", FaultState::Cleared.into()),
    ] {
        assert!(on_page.contains(&format!("{number} {name}")), "{number} {name}");
    }
}

/// One space wherever there is white space.
fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
