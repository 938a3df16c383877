//! The fuzz targets as tests: each file of their corpora, and inputs made from those, through the very functions that cargo-fuzz
//! calls. `TABLEGATE_WRITE_CORPUS=1` writes the corpora anew, from what the product itself makes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::cast_possible_truncation,
    missing_docs
)]

#[path = "../fuzz/bodies.rs"]
mod bodies;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use prost::Message;
use std::path::{Path, PathBuf};
use tablegate::control;
use tablegate::table::event::{Replay, Request, Snapshot, request};
use tablegate::wire::frame::{self, Kind};
use tablegate::wire::message::{
    ContactState, DeviceFault, DeviceHello, EntryPressed, FromDevice, KeyPressed, LampStatus, TerminalStatus,
    TumblerStatus, from_device,
};

struct Target {
    name: &'static str,
    body: fn(&[u8]),
    /// Inputs that are made in a run of the tests: some seconds for all targets together.
    inputs: u32,
}

const TARGETS: [Target; 7] = [
    Target {
        name: "frames",
        body: bodies::frames,
        inputs: 1000,
    },
    Target {
        name: "device_messages",
        body: bodies::device_messages,
        inputs: 1000,
    },
    Target {
        name: "floor_requests",
        body: bodies::floor_requests,
        inputs: 1000,
    },
    Target {
        name: "configuration",
        body: bodies::configuration,
        inputs: 200,
    },
    Target {
        name: "control_messages",
        body: bodies::control_messages,
        inputs: 1000,
    },
    Target {
        name: "journal_files",
        body: bodies::journal_files,
        inputs: 100,
    },
    Target {
        name: "floor_events",
        body: bodies::floor_events,
        inputs: 1000,
    },
];

fn corpus_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name)
}

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(corpus_of(name))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// Bytes of any kind, and files of the corpus with some bytes changed, cut out or repeated.
fn inputs(corpus: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let edit = (any::<prop::sample::Index>(), any::<u8>(), 0..5u8);
    let edited = (prop::sample::select(corpus), prop::collection::vec(edit, 0..6)).prop_map(|(mut bytes, edits)| {
        for (place, byte, how) in edits {
            if bytes.is_empty() {
                bytes.push(byte);
                continue;
            }
            let at = place.index(bytes.len());
            let end = (at + usize::from(byte % 16)).min(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes[at] ^= 1 << (byte % 8),
                2 => _ = bytes.drain(at..end),
                3 => bytes.insert(at, byte),
                _ => bytes.extend_from_within(at..end),
            }
        }
        bytes
    });
    prop_oneof![3 => edited, 1 => prop::collection::vec(any::<u8>(), 0..300)]
}

/// How many times as many inputs are made: `TABLEGATE_FUZZ_TIMES`.
fn times() -> u32 {
    let given = std::env::var("TABLEGATE_FUZZ_TIMES").ok();
    given.and_then(|times| times.parse().ok()).unwrap_or(1)
}

fn try_out(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let corpus = corpus(name);
    assert!(!corpus.is_empty());
    for bytes in &corpus {
        (target.body)(bytes);
    }
    (target.body)(&[]);
    let config = Config {
        cases: target.inputs.saturating_mul(times()),
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new(config);
    let tried = runner.run(&inputs(corpus), |bytes| {
        (target.body)(&bytes);
        Ok(())
    });
    if let Err(error) = tried {
        panic!("{name}: {error}");
    }
}

#[test]
fn frames() {
    try_out("frames");
}

#[test]
fn device_messages() {
    try_out("device_messages");
}

#[test]
fn floor_requests() {
    try_out("floor_requests");
}

#[test]
fn configuration() {
    try_out("configuration");
}

#[test]
fn control_messages() {
    try_out("control_messages");
}

#[test]
fn journal_files() {
    try_out("journal_files");
}

#[test]
fn floor_events() {
    try_out("floor_events");
}

#[test]
fn each_target_has_its_program_and_its_corpus() {
    let manifest = std::fs::read_to_string(corpus_of("").join("../Cargo.toml")).unwrap();
    for target in &TARGETS {
        assert!(
            manifest.contains(&format!("name = \"{}\"", target.name)),
            "{}",
            target.name
        );
        let program = corpus_of("").join(format!("../fuzz_targets/{}.rs", target.name));
        assert!(
            std::fs::read_to_string(program)
                .unwrap()
                .contains(&format!("bodies::{}(", target.name))
        );
    }
    if std::env::var_os("TABLEGATE_WRITE_CORPUS").is_some() {
        for target in &TARGETS {
            write_corpus(target.name, &seeds(target.name));
        }
    }
}

fn write_corpus(name: &str, seeds: &[Vec<u8>]) {
    std::fs::create_dir_all(corpus_of(name)).unwrap();
    for (number, seed) in seeds.iter().enumerate() {
        std::fs::write(corpus_of(name).join(format!("seed-{number}")), seed).unwrap();
    }
}

fn device_payloads() -> Vec<Vec<u8>> {
    let bodies = [
        (0, from_device::Body::Tumbler(TumblerStatus::default())),
        (1, from_device::Body::Terminal(TerminalStatus::default())),
        (2, from_device::Body::Lamps(LampStatus::default())),
        (1, from_device::Body::Key(KeyPressed { key: 3, entry: 1 })),
        (
            1,
            from_device::Body::Entry(EntryPressed {
                shown: vec![1, 2, 3],
                entry: 7,
            }),
        ),
        (1, from_device::Body::Contact(ContactState::default())),
        (
            0,
            from_device::Body::Fault(DeviceFault {
                code: 7,
                text: "worn".to_owned(),
                ..DeviceFault::default()
            }),
        ),
    ];
    let payload = |(kind, body): (u8, from_device::Body)| {
        let message = FromDevice {
            uptime_ms: 1234,
            body: Some(body),
        };
        [vec![kind], message.encode_to_vec()].concat()
    };
    bodies.map(payload).into()
}

fn seeds(name: &str) -> Vec<Vec<u8>> {
    match name {
        "frames" => {
            let mut seeds = Vec::new();
            for (kind, payload) in [
                (Kind::Welcome, DeviceHello::default().encode_to_vec()),
                (Kind::Ping, Vec::new()),
                (Kind::Data, device_payloads()[3][1..].to_vec()),
            ] {
                let mut line = Vec::new();
                frame::encode(kind, 0, &payload, &mut line).unwrap();
                seeds.push([vec![1, 0, line.len() as u8], line, vec![10]].concat());
            }
            seeds.push(seeds.concat());
            seeds
        }
        "device_messages" => device_payloads(),
        "floor_requests" => {
            let asked = [
                request::Request::Snapshot(Snapshot {}),
                request::Request::Replay(Replay {
                    journal_id: "0d3b9f6e-5f1c-4b38-8f7e-2f6f3c1a9b10".to_owned(),
                    from_seqno: 3,
                    to_seqno: 0,
                }),
            ];
            asked
                .map(|asked| {
                    let request = Request {
                        request_id: "r-1".to_owned(),
                        request: Some(asked),
                    };
                    let bytes = request.encode_to_vec();
                    [vec![2, 0, bytes.len() as u8], bytes, vec![1, 0, 200]].concat()
                })
                .into()
        }
        "configuration" => {
            let shipped = |text: &str, named: &str| [brief(text), named.to_owned()].join("\0").into_bytes();
            vec![
                shipped(include_str!("../deploy/TS-07.toml"), "small = [0]"),
                shipped(
                    include_str!("../deploy/SB-02.toml"),
                    include_str!("../deploy/SB-02.paytable.toml"),
                ),
                shipped(include_str!("../deploy/TU-01.toml"), ""),
            ]
        }
        "control_messages" => {
            let acts = [
                control::Request::Look {},
                control::Request::Act {
                    act: control::Act::BeginOpening {},
                    by: Some("ana".to_owned()),
                },
            ];
            let mut seeds: Vec<Vec<u8>> = acts.iter().map(|act| serde_json::to_vec(act).unwrap()).collect();
            for written in [
                r#"{"act":{"act":{"unlock":{"procedure":"two people looked"}}}}"#,
                r#"{"act":{"act":{"void":{"reason":"dropped"}},"by":"ana"}}"#,
                r#"{"act":{"act":{"result":{"faces":[1,2,3]}}}}"#,
            ] {
                seeds.push(written.as_bytes().to_vec());
            }
            seeds
        }
        // Damage: see the body.
        "journal_files" => vec![
            vec![0],
            vec![0, 0, 16, 0, 0, 1],
            vec![0, 128, 0, 0, 63, 255, 200, 0, 0, 3, 7],
            vec![1, 200, 0, 0, 0, 0],
        ],
        "floor_events" => vec![
            vec![1, 0, 1, 2, 1, 0, 2, 2, 1, 0, 3, 2],
            vec![1, 0, 1, 2, 1, 0, 5, 2, 6, 1, 5, 3, 7, 6, 20, 5, 1, 7],
            vec![1, 0, 1, 2, 1, 1, 1, 0, 2, 0, 3, 4, 1, 3, 0, 6, 9, 6, 20],
        ],
        other => panic!("no target {other}"),
    }
}

/// Without comments and empty lines: what matters to a fuzzer.
fn brief(text: &str) -> String {
    let matters = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    text.lines().filter(matters).collect::<Vec<_>>().join("\n")
}
