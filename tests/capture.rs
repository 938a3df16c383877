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

use daemon_support::{PATIENCE, Scene, run, tablegate};
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

/// Bytes of a file that is being written: it has its name when it is whole.
fn unfinished(file: &Path) -> u64 {
    let begins = format!(".{}.", file.file_name().unwrap().to_str().unwrap());
    let entries = std::fs::read_dir(file.parent().unwrap()).unwrap().flatten();
    let mut found = entries.filter(|entry| entry.file_name().to_str().unwrap().starts_with(&begins));
    // It may have got its name meanwhile.
    found
        .next()
        .and_then(|entry| entry.metadata().ok())
        .map_or(0, |found| found.len())
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
    while unfinished(file) == 0 {
        assert!(Instant::now() < until, "nothing was written");
        tokio::task::yield_now().await;
    }
    assert!(!file.exists(), "it is not there in part");
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

/// The lamps' frames are damaged while their link is up, as with a loose cable: one is in memory with its bytes. A link that breaks of it,
/// whose damaged frames are withheld, is let come up again.
async fn damage_lamps_in_session(scene: &Scene) {
    let crc_errors = |view: &serde_json::Value| {
        let links = view["links"].as_array().unwrap();
        let lamps = links.iter().find(|link| link["kind"] == "lamps").unwrap();
        (lamps["state"] == "up", lamps["counts"]["crc_errors"].as_u64().unwrap())
    };
    let file = scene.path("damaged-yet.pcapng");
    let until = Instant::now() + PATIENCE;
    loop {
        let up = scene.until("lamps in session", |view| crc_errors(view).0).await;
        let (_, before) = crc_errors(&up);
        let flipped = Faults {
            flipped: 50,
            ..Faults::default()
        };
        scene.dealer.lamps.set_faults(flipped).await;
        scene.until("a damaged frame", |view| crc_errors(view).1 > before).await;
        scene.dealer.lamps.set_faults(Faults::default()).await;
        let args = [
            "capture",
            "lamps",
            "--recent",
            "--force",
            "--output",
            file.to_str().unwrap(),
        ];
        scene.command(&args).await.ok();
        let found = read(&file);
        let is_there = |packet: &Packet| packet.flags & 1 << 24 != 0 && !packet.bytes.is_empty();
        if found.packets.iter().any(is_there) {
            return;
        }
        assert!(Instant::now() < until, "no frame was damaged while the link was up");
    }
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
    // A replay of it opens its table when every device has said something; the tumble shall come after that.
    let heard = |view: &serde_json::Value, what: &str| -> Vec<u64> {
        let links = view["links"].as_array().unwrap();
        links.iter().filter_map(|link| link[what].as_u64()).collect()
    };
    let begun = scene
        .until("the devices", |view| heard(view, "heard_us").len() == 3)
        .await;
    let begun = heard(&begun, "at_us").into_iter().max().unwrap();
    scene
        .until("every device's sign of life", |view| {
            heard(view, "heard_us").iter().all(|at| *at > begun)
        })
        .await;
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
    let file = scene.path("again.pcapng");
    std::fs::copy(scene.path("live.pcapng"), &file).unwrap();
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
    full_disk(&scene, &file).await;
    let absent = scene.command(&["capture", "lights", "--output", path, "--force"]).await;
    absent.refused(2, "its devices are tumbler, terminal, lamps");

    // A loose cable, looked at afterwards.
    let loose = Faults {
        flipped: 60,
        noise: 40,
        ..Faults::default()
    };
    damage_lamps_in_session(&scene).await;
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
    let bad: Vec<&Packet> = of(2).filter(|packet| packet.flags & 1 << 24 != 0).collect();
    // Those that came while the link was down may have been a tumbler's.
    let is_told = |packet: &&Packet| packet.bytes.is_empty() == packet.comment.starts_with("withheld: ");
    assert!(!bad.is_empty() && bad.iter().all(is_told), "{bad:?}");
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
            .all(|packet| packet.bytes.is_empty() && packet.length > 0),
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

    replayed(&scene, &scene.path("recent.pcapng"), &recent).await;
    // A capture that began in the middle of the sessions.
    let config = scene.config();
    let live = scene.path("live.pcapng");
    let told = run(&["replay", live.to_str().unwrap(), "--config", config.to_str().unwrap()])
        .await
        .ok();
    assert!(told.contains("table: round 1: RESULT 1, 3, 6"), "{told}");

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

/// Where no more can be written the file that was there stays, and nothing of the new one.
async fn full_disk(scene: &Scene, file: &Path) {
    let before = std::fs::read(file).unwrap();
    let output = tokio::process::Command::new("bash")
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""])
        .args([
            env!("CARGO_BIN_EXE_tablegate"),
            "capture",
            "--recent",
            "--force",
            "--socket",
        ])
        .arg(scene.path("t.sock"))
        .arg("--output")
        .arg(file)
        .output()
        .await
        .unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains(&format!("{} can't be written: ", file.display())),
        "{told}"
    );
    assert_eq!(std::fs::read(file).unwrap(), before);
    assert_eq!(unfinished(file), 0, "what is not whole is gone");
}

/// A capture in words, and what a fresh table makes of it.
async fn replayed(scene: &Scene, file: &Path, recent: &Pcapng) {
    let path = file.to_str().unwrap();
    let config = scene.config();
    let told = run(&["replay", path, "--config", config.to_str().unwrap()]).await.ok();
    for words in [
        "table TS-07 at harbour",
        "tumbler -> WELCOME: answers: tumbler, serial DT-1",
        "terminal -> DATA",
        "ENTER on 1 3 6",
        "table: round 1: RESULT 1, 3, 6, Total 10",
        "DAMAGED: the check fails",
        "withheld: a dice reading",
        "the note: the port was opened",
        "it decided nothing, and nothing was written",
    ] {
        let words = words.trim_start_matches("the ");
        assert!(told.contains(words), "{words:?} is not in {told}");
    }
    // Signs of life are shown only where the table decided something at that moment.
    let lines: Vec<&str> = told.lines().collect();
    for pair in lines.windows(2).filter(|pair| pair[0].contains(" PING: ")) {
        assert!(pair[1].contains("table: "), "{pair:?}");
    }
    assert!(told.contains("signs of life, not shown"), "{told}");
    // Without a configuration there are words alone.
    let words = run(&["replay", path, "--all", "--json"]).await.ok();
    let packets: Vec<serde_json::Value> = words.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(packets.len(), recent.packets.len());
    assert!(packets.iter().all(|packet| packet["events"] == serde_json::json!([])));
    assert!(
        packets
            .iter()
            .any(|packet| packet["kind"] == "ping" && packet["from"] == "gateway")
    );
    // What the table of then decided of the round, the one of now decides too, at the same times.
    let json = run(&["replay", path, "--json", "--config", config.to_str().unwrap()])
        .await
        .ok();
    let decided: Vec<serde_json::Value> = json
        .lines()
        .flat_map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["events"]
                .as_array()
                .unwrap()
                .clone()
        })
        .collect();
    let kinds_then: Vec<String> = scene
        .events()
        .iter()
        .filter(|event| event.round_id == 1)
        .map(|event| tablegate::cli::describe::kind(event.body.as_ref().unwrap()).to_owned())
        .collect();
    let kinds_now: Vec<String> = decided
        .iter()
        .filter(|event| event["round_id"] == 1)
        .map(|event| event["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds_now, kinds_then);

    // Damage is told with the packet's number, wherever it is.
    let whole = std::fs::read(file).unwrap();
    let damaged = scene.path("damaged.pcapng");
    let header = u32_at(&whole, 4) as usize;
    // Where a block begins, somewhere in the middle.
    let mut middle = 0;
    while middle < whole.len() / 2 {
        middle += u32_at(&whole, middle + 4) as usize;
    }
    // The link type of the second interface, and its name.
    let second = header + u32_at(&whole, header + 4) as usize;
    let mut ethernet = whole.clone();
    ethernet[second + 8] = 1;
    let mut renamed = whole.clone();
    let at = renamed.windows(8).position(|bytes| bytes == b"terminal").unwrap();
    renamed[at..at + 8].copy_from_slice(b"keyboard");
    // The number that tells the byte order.
    let mut no_order = whole.clone();
    no_order[8..12].fill(0x55);
    let mut classic = vec![0xD4, 0xC3, 0xB2, 0xA1];
    classic.extend([0; 40]);
    for (bytes, words) in [
        (whole[..middle + 6].to_vec(), "it ends within packet"),
        (whole[..header + 40].to_vec(), "it ends within packet 1"),
        (whole[..100].to_vec(), "it ends within its section header"),
        (whole[..9].to_vec(), "it ends within its section header"),
        (no_order, "its section header is damaged"),
        ([&whole[..middle], &[0xFF; 400]].concat(), "it is damaged at packet"),
        (
            ethernet,
            "of interface 1 (terminal) is none of a table's line: its link type is 1",
        ),
        (renamed, "interface 1 (keyboard) is no device of a table"),
        (classic, "it is a pcap file of the older form"),
        (
            b"no capture at all, but a text that is long enough to be read".to_vec(),
            "it is no pcapng file",
        ),
        (Vec::new(), "it is no pcapng file"),
    ] {
        std::fs::write(&damaged, bytes).unwrap();
        let ended = run(&["replay", damaged.to_str().unwrap()]).await;
        let named = format!("{}: ", damaged.display());
        assert!(ended.err.contains(&named), "the file is named: {}", ended.err);
        ended.refused(1, words);
    }
    for (place, words) in [
        (scene.path("nothing.pcapng"), "it can't be read: No such file"),
        (scene.directory.path().to_owned(), "it can't be read: Is a directory"),
    ] {
        let ended = run(&["replay", place.to_str().unwrap()]).await;
        assert!(ended.err.contains(&format!("{}: ", place.display())), "{}", ended.err);
        ended.refused(1, words);
    }
    // Two captures in one file: the second section describes its own lines.
    let twice = scene.path("twice.pcapng");
    let few = std::fs::read(scene.path("again.pcapng")).unwrap();
    std::fs::write(&twice, [whole.as_slice(), &few].concat()).unwrap();
    let told = run(&["replay", twice.to_str().unwrap(), "--all"]).await.ok();
    let last: Vec<&str> = told.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(last.len(), recent.packets.len() + 3);
    let of_the_second = last[recent.packets.len()..].iter();
    assert!(
        of_the_second.clone().all(|line| line.contains(" terminal ")),
        "{last:?}"
    );
}

/// The dissector, as it is installed.
const DISSECTOR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/wireshark/tablegate.lua");

/// The messages as the protocol has them.
const PROTO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/proto/tablegate/device/v1/link.proto");

/// The entries of a Lua table of this name: number and name.
fn lua_table(script: &str, name: &str) -> Vec<(u32, String)> {
    let begin = format!("\n  {name} = {{");
    let at = script
        .find(&begin)
        .unwrap_or_else(|| panic!("{name} is not in the dissector"));
    let body = &script[at + begin.len()..];
    let mut depth = 1;
    let end = body.find(|letter| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        depth == 0
    });
    let pieces = body[..end.unwrap()].split('[').skip(1);
    pieces
        .map(|piece| {
            let (number, rest) = piece.split_once(']').unwrap();
            (number.parse().unwrap(), rest.split('"').nth(1).unwrap().to_owned())
        })
        .collect()
}

/// What is added to the protocol is added to the dissector.
#[test]
fn the_dissector_knows_every_message_of_the_protocol() {
    let script = std::fs::read_to_string(DISSECTOR).unwrap();
    let proto = std::fs::read_to_string(PROTO).unwrap();
    let mut current = None;
    let mut compared = 0;
    for line in proto.lines().map(str::trim) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["message" | "enum", name, ..] => current = Some(((*name).to_owned(), lua_table(&script, name))),
            ["reserved" | "oneof" | "syntax" | "package" | "//", ..] | [] => {}
            [.., name, "=", number, _] | [name, "=", number] | [_, name, "=", number]
                if number.ends_with(';') || line.contains(';') =>
            {
                let (message, known) = current.as_ref().unwrap();
                let mut upper = String::new();
                for (at, letter) in message.chars().enumerate() {
                    if at > 0 && letter.is_uppercase() {
                        upper.push('_');
                    }
                    upper.push(letter.to_ascii_uppercase());
                }
                let number: u32 = number.trim_end_matches(';').parse().unwrap();
                let name = name.strip_prefix(&format!("{upper}_")).unwrap_or(name);
                assert!(
                    known.contains(&(number, name.to_owned())),
                    "{message}: {name} = {number}: {known:?}"
                );
                compared += 1;
            }
            _ => {}
        }
    }
    assert!(compared > 80, "{compared}");
}

/// Runs tshark over a capture: the lines that it prints.
fn tshark(file: &Path, args: &[&str]) -> Vec<String> {
    let program = std::env::var_os("TABLEGATE_TSHARK")
        .expect("TABLEGATE_TSHARK must name tshark; tests/all installs it and sets that");
    let output = std::process::Command::new(program)
        .args(["-X", &format!("lua_script:{DISSECTOR}"), "-r"])
        .arg(file)
        .args(args)
        .env("HOME", file.parent().unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && !said.contains("Lua"), "{said}");
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

/// One field of every packet that a filter takes.
fn values(file: &Path, filter: &str, field: &str) -> Vec<String> {
    tshark(file, &["-Y", filter, "-T", "fields", "-e", field])
}

#[tokio::test]
#[ignore = "needs tshark: tests/all runs it"]
async fn tshark_reads_a_capture_with_our_dissector() {
    let mut scene = Scene::new(NO_BROKER);
    scene.start().await;
    scene.open().await;
    scene.dealer.play([1, 3, 6]).await.unwrap();
    let loose = Faults {
        flipped: 60,
        noise: 40,
        ..Faults::default()
    };
    damage_lamps_in_session(&scene).await;
    scene.dealer.tumbler.set_faults(loose).await;
    counted(&scene, "tumbler", "crc_errors").await;
    let file = scene.path("recent.pcapng");
    scene
        .command(&["capture", "--recent", "--output", file.to_str().unwrap()])
        .await
        .ok();
    let ours = read(&file);
    let all = tshark(
        &file,
        &[
            "-T",
            "fields",
            "-e",
            "frame.interface_name",
            "-e",
            "frame.len",
            "-e",
            "frame.time_epoch",
        ],
    );
    assert_eq!(all.len(), ours.packets.len());
    for (line, packet) in all.iter().zip(&ours.packets) {
        let fields: Vec<&str> = line.split('\t').collect();
        assert_eq!(fields[0], ours.interfaces[packet.interface].name);
        assert_eq!(fields[1], packet.length.to_string());
        let (seconds, micros) = (packet.unix_us / 1_000_000, packet.unix_us % 1_000_000);
        assert_eq!(fields[2], format!("{seconds}.{micros:06}000"));
    }
    let entered = values(&file, "tlp.entry_pressed", "tlp.entry_pressed.shown");
    assert!(entered.contains(&"1,3,6".to_owned()), "{entered:?}");
    assert!(
        values(
            &file,
            "tlp.readout.text == \"136\" || tlp.readout.text == \"OPN\"",
            "tlp.seq"
        )
        .len()
            > 1
    );
    for (device, serial) in [("tumbler", "DT-1"), ("terminal", "ET-1"), ("lamps", "LL-1")] {
        let filter = format!("tlp.device_hello && frame.interface_name == \"{device}\"");
        assert!(
            values(&file, &filter, "tlp.device_hello.serial_number").contains(&serial.to_owned()),
            "{device}"
        );
    }
    let directions = values(&file, "tlp.kind == 4", "frame.packet_flags_direction");
    assert!(
        !directions.is_empty() && directions.iter().all(|way| way == "0x00000002"),
        "{directions:?}"
    );
    // The dissector finds damaged exactly what the gateway found damaged.
    let count = |wanted: &dyn Fn(&Packet) -> bool| ours.packets.iter().filter(|packet| wanted(packet)).count();
    let bad = values(&file, "tlp.check.bad == 1", "frame.interface_name");
    let is_bad = |packet: &Packet| packet.flags & 1 << 24 != 0 && !packet.bytes.is_empty();
    assert!(!bad.is_empty() && bad.iter().all(|name| name == "lamps"), "{bad:?}");
    assert_eq!(bad.len(), count(&is_bad));
    let noise = values(&file, "tlp.noise", "tlp.noise");
    let is_noise = |packet: &Packet| packet.flags >> 25 != 0 && !packet.bytes.is_empty();
    assert_eq!(noise.len(), count(&is_noise));
    let withheld = values(&file, "tlp.withheld", "tlp.withheld");
    let is_withheld = |packet: &Packet| packet.comment.starts_with("withheld: ");
    assert!(!withheld.is_empty(), "a tumbler's damaged frames are withheld");
    assert_eq!(withheld.len(), count(&is_withheld));
    assert!(values(&file, "_ws.malformed || _ws.lua.error", "frame.number").is_empty());
    // What a person sees.
    let list = tshark(&file, &[]).join("\n");
    for words in [
        "EntryPressed, shown 1 3 6",
        "[check fails]",
        "withheld: damaged",
        "note: the port was opened",
    ] {
        assert!(list.contains(words), "{words}: {list}");
    }
}
