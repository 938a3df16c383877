//! What went over a table's lines, in a file: through the binary, with simulated devices, read back by a reader of this test's own and,
//! where it is there, by tshark with our dissector.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test may panic"
)]

mod daemon_support;

use daemon_support::{PATIENCE, Scene, tablegate};
use prost::Message;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use tablegate::sim::{Faults, Reader};
use tablegate::wire::frame::{Decoder, Kind, Received, Side};
use tablegate::wire::message::{Cover, FromDevice, Seal, from_device};
use tokio::process::Child;
use tokio::time::Instant;

/// Nobody listens there: the floor is of no matter here.
const NO_BROKER: &str = "mqtt://127.0.0.1:1";

/// Dice that a cheating tumbler tells; side by side they stand nowhere else.
const CHEAT: [u8; 3] = [5, 2, 4];

/// A pcapng file, as far as this test needs it. Every length in it was checked.
#[derive(Debug, Default)]
struct Pcapng {
    comment: String,
    interfaces: Vec<Interface>,
    packets: Vec<Packet>,
    /// Received and lost, by interface.
    statistics: Vec<(u64, u64)>,
}

#[derive(Debug)]
struct Interface {
    link_type: u16,
    name: String,
    description: String,
    comment: String,
    resolution: Vec<u8>,
}

#[derive(Debug)]
struct Packet {
    interface: usize,
    unix_us: u64,
    bytes: Vec<u8>,
    length: usize,
    flags: u32,
    comment: String,
}

impl Packet {
    fn is_inbound(&self) -> bool {
        self.flags & 3 == 1
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// The options of a block, each at its code; they end with the end of options, and nothing follows.
fn options(mut bytes: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let mut found = Vec::new();
    loop {
        let (code, length) = (u16_at(bytes, 0), usize::from(u16_at(bytes, 2)));
        if code == 0 {
            assert_eq!((length, bytes.len()), (0, 4), "nothing follows the end of options");
            return found;
        }
        found.push((code, bytes[4..4 + length].to_vec()));
        bytes = &bytes[4 + length.next_multiple_of(4)..];
    }
}

fn text(options: &[(u16, Vec<u8>)], code: u16) -> String {
    let found = options.iter().find(|(known, _)| *known == code);
    found.map_or(String::new(), |(_, value)| String::from_utf8(value.clone()).unwrap())
}

fn number(options: &[(u16, Vec<u8>)], code: u16) -> u64 {
    let (_, value) = options.iter().find(|(known, _)| *known == code).unwrap();
    u64::from_le_bytes(value.as_slice().try_into().unwrap())
}

fn read(file: &Path) -> Pcapng {
    let mode = std::fs::metadata(file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600, "for its owner alone");
    let bytes = std::fs::read(file).unwrap();
    let mut rest = bytes.as_slice();
    let mut read = Pcapng::default();
    while !rest.is_empty() {
        let (kind, total) = (u32_at(rest, 0), u32_at(rest, 4) as usize);
        assert_eq!(total % 4, 0);
        assert_eq!(u32_at(rest, total - 4) as usize, total, "both lengths are the same");
        let body = &rest[8..total - 4];
        rest = &rest[total..];
        match kind {
            0x0A0D_0D0A => {
                assert_eq!((u32_at(body, 0), u16_at(body, 4), u16_at(body, 6)), (0x1A2B_3C4D, 1, 0));
                read.comment = text(&options(&body[16..]), 1);
            }
            1 => {
                let options = options(&body[8..]);
                read.interfaces.push(Interface {
                    link_type: u16_at(body, 0),
                    name: text(&options, 2),
                    description: text(&options, 3),
                    comment: text(&options, 1),
                    resolution: options.iter().find(|(code, _)| *code == 9).unwrap().1.clone(),
                });
            }
            6 => {
                let captured = u32_at(body, 12) as usize;
                let options = options(&body[20 + captured.next_multiple_of(4)..]);
                let (_, flags) = options.iter().find(|(code, _)| *code == 2).unwrap();
                read.packets.push(Packet {
                    interface: u32_at(body, 0) as usize,
                    unix_us: u64::from(u32_at(body, 4)) << 32 | u64::from(u32_at(body, 8)),
                    bytes: body[20..20 + captured].to_vec(),
                    length: u32_at(body, 16) as usize,
                    flags: u32_at(flags, 0),
                    comment: text(&options, 1),
                });
            }
            5 => {
                let options = options(&body[12..]);
                assert_eq!(u32_at(body, 0) as usize, read.statistics.len());
                read.statistics.push((number(&options, 4), number(&options, 5)));
            }
            other => panic!("a block of kind {other}"),
        }
    }
    read
}

/// Begins to capture, and waits until the daemon has answered.
async fn begin(scene: &Scene, args: &[&str], file: &Path) -> Child {
    let child = tablegate()
        .arg("capture")
        .args(args)
        .arg("--output")
        .arg(file)
        .arg("--socket")
        .arg(scene.path("t.sock"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let until = Instant::now() + PATIENCE;
    while std::fs::metadata(file).map_or(0, |found| found.len()) == 0 {
        assert!(Instant::now() < until, "nothing was written");
        tokio::task::yield_now().await;
    }
    child
}

/// Ends it with Ctrl-C; what it printed on standard error.
async fn end(child: Child) -> String {
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    let output = tokio::time::timeout(PATIENCE, child.wait_with_output())
        .await
        .unwrap()
        .unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}");
    told
}

/// Waits until a counter of a device's link is above 0.
async fn counted(scene: &Scene, device: &str, counter: &str) {
    let what = format!("{counter} of the {device}");
    scene
        .until(&what, |view| {
            let links = view["links"].as_array().unwrap();
            let link = links.iter().find(|link| link["kind"] == device).unwrap();
            link["counts"][counter].as_u64().unwrap() > 0
        })
        .await;
}

/// The messages that devices sent on a line, and that are in the file.
fn messages(read: &Pcapng, line: &str) -> Vec<from_device::Body> {
    let interface = read.interfaces.iter().position(|one| one.name == line).unwrap();
    let mut found = Vec::new();
    for packet in read
        .packets
        .iter()
        .filter(|one| one.interface == interface && one.is_inbound())
    {
        let mut decoder = Decoder::new(Side::Host);
        match decoder.next(&mut packet.bytes.as_slice()) {
            Some(Received::Frame(frame)) if frame.kind == Kind::Data => {
                found.extend(FromDevice::decode(frame.payload.as_slice()).unwrap().body);
            }
            Some(_) | None => {}
        }
    }
    found
}

/// What is on the screen, in the file, and what the file says of itself agree.
fn check(scene: &Scene, read: &Pcapng) {
    assert!(read.comment.contains("table TS-07 at harbour"), "{}", read.comment);
    let config = read.comment.split("configuration ").nth(1).unwrap();
    assert!(
        config.chars().take(64).all(|c| c.is_ascii_hexdigit()),
        "{}",
        read.comment
    );
    for (interface, serial) in read.interfaces.iter().zip(["DT-1", "ET-1", "LL-1"]) {
        assert_eq!(
            (interface.link_type, interface.resolution.as_slice()),
            (147, &[6_u8][..])
        );
        let port = scene.path(&interface.name).display().to_string();
        assert!(interface.description.starts_with(&port), "{interface:?}");
        assert!(interface.comment.contains(&format!("serial {serial}")), "{interface:?}");
    }
    for pair in read.packets.windows(2) {
        assert!(pair[0].unix_us <= pair[1].unix_us, "{pair:?}");
    }
    for (number, (received, lost)) in read.statistics.iter().enumerate() {
        let here = read.packets.iter().filter(|packet| packet.interface == number);
        let frames = here.filter(|packet| !packet.comment.starts_with("note: ")).count();
        assert_eq!((*received, *lost), (frames as u64, 0));
    }
    for packet in &read.packets {
        assert!(
            packet.bytes.len() == packet.length || packet.bytes.is_empty(),
            "{packet:?}"
        );
        let is_frame = !packet.bytes.is_empty();
        assert!(!is_frame || packet.bytes.ends_with(&[0]), "{packet:?}");
        let is_told = packet.comment.starts_with("withheld: ") || packet.comment.starts_with("note: ");
        assert_eq!(is_told, !is_frame, "{packet:?}");
    }
}

#[tokio::test]
async fn what_goes_over_the_lines_is_in_the_file_and_dice_under_the_cover_are_not() {
    let mut scene = Scene::new(NO_BROKER);
    scene.start().await;
    scene.open().await;
    let file = scene.path("live.pcapng");
    let child = begin(&scene, &[], &file).await;
    scene.dealer.play([1, 3, 6]).await.unwrap();
    let told = end(child).await;
    assert!(told.contains("until Ctrl-C") && told.contains("frames"), "{told}");
    let live = read(&file);
    check(&scene, &live);
    assert_eq!(live.interfaces.len(), 3);
    let typed = messages(&live, "terminal");
    let entered = typed
        .iter()
        .any(|body| matches!(body, from_device::Body::Entry(entry) if entry.shown == [1, 3, 6]));
    assert!(entered, "{typed:?}");
    assert!(live.packets.iter().any(|packet| packet.flags & 3 == 2), "both ways");

    // It is never replaced unless somebody says so.
    let path = file.to_str().unwrap();
    let before = std::fs::read(&file).unwrap();
    let again = scene.command(&["capture", "--output", path, "--frames", "1"]).await;
    again.refused(1, "--force");
    assert_eq!(std::fs::read(&file).unwrap(), before);
    let few = [
        "capture", "terminal", "--output", path, "--frames", "3", "--force", "--json",
    ];
    let said: serde_json::Value = serde_json::from_str(&scene.command(&few).await.ok()).unwrap();
    assert_eq!(
        (&said["lines"][0]["device"], &said["lines"][0]["frames"]),
        (&"terminal".into(), &3.into())
    );
    let few = read(&file);
    assert_eq!((few.interfaces.len(), few.packets.len()), (1, 3));
    let absent = scene.command(&["capture", "lights", "--output", path, "--force"]).await;
    absent.refused(2, "its devices are tumbler, terminal, lamps");

    // A loose cable, looked at afterwards.
    let loose = Faults {
        flipped: 60,
        noise: 40,
        ..Faults::default()
    };
    scene.dealer.lamps.set_faults(loose).await;
    counted(&scene, "lamps", "crc_errors").await;
    scene.dealer.lamps.set_faults(Faults::default()).await;
    // A tumbler that tells its dice under the cover, and damages what it says.
    scene.dealer.tumbler.reader(Reader::Cheating).await;
    scene.dealer.tumbler.cover(Cover::On).await;
    scene.dealer.tumbler.load_dice(CHEAT).await;
    scene.dealer.tumbler.seal(Seal::Broken).await;
    counted(&scene, "tumbler", "under_cover").await;
    scene.dealer.tumbler.set_faults(loose).await;
    scene.dealer.tumbler.seal(Seal::Intact).await;
    counted(&scene, "tumbler", "crc_errors").await;
    scene.dealer.tumbler.set_faults(Faults::default()).await;
    let recent = scene.path("recent.pcapng");
    let told = scene
        .command(&["capture", "--recent", "--output", recent.to_str().unwrap()])
        .await;
    assert!(
        told.err.contains("damaged") && told.err.contains("withheld"),
        "{}",
        told.err
    );
    told.ok();
    let recent = read(&recent);
    check(&scene, &recent);
    let of = |line: usize| recent.packets.iter().filter(move |packet| packet.interface == line);
    let bad: Vec<_> = of(2).filter(|packet| packet.flags & 1 << 24 != 0).collect();
    assert!(
        !bad.is_empty() && bad.iter().all(|packet| !packet.bytes.is_empty()),
        "{bad:?}"
    );
    let withheld: Vec<_> = of(0)
        .filter(|packet| packet.comment.starts_with("withheld: "))
        .collect();
    for reason in ["a dice reading", "damaged: the check"] {
        let is_there = withheld.iter().any(|packet| packet.comment.contains(reason));
        assert!(is_there, "{reason}: {withheld:?}");
    }
    assert!(
        withheld
            .iter()
            .all(|packet| packet.bytes.is_empty() && packet.length > 6),
        "{withheld:?}"
    );
    let told = messages(&recent, "tumbler");
    for body in &told {
        let from_device::Body::Tumbler(status) = body else {
            panic!("{body:?}");
        };
        assert!(status.dice.is_none() || status.cover() == Cover::Off, "{status:?}");
    }
    let lawful = |body: &from_device::Body| matches!(body, from_device::Body::Tumbler(status) if status.dice.is_some());
    assert!(told.iter().any(lawful), "what was uncovered is there: {told:?}");
    let whole = std::fs::read(scene.path("recent.pcapng")).unwrap();
    assert!(!whole.windows(3).any(|bytes| bytes == CHEAT), "the cheat's dice");
    // What was said before anybody captured is there: the greeting.
    assert!(
        recent
            .packets
            .iter()
            .any(|packet| packet.comment.contains("the link is up: serial DT-1"))
    );

    // A daemon that goes ends a capture, which says so.
    let file = scene.path("ended.pcapng");
    let child = begin(&scene, &[], &file).await;
    scene.kill().await;
    let output = tokio::time::timeout(PATIENCE, child.wait_with_output())
        .await
        .unwrap()
        .unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("the capture ends here"), "{told}");
    assert_eq!(read(&file).interfaces.len(), 3);
}
