//! A tumbler that cheats: it tells its dice while they are under the cover. They are dropped where frames become messages, and
//! nothing that anyone can look at ever holds them: no input, no report, no log line at any level.

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

use std::io;
use std::sync::{Arc, Mutex};

use device_support::{Bench, Do, Far, Peer, device, tumbler};
use prost::Message;
use tablegate::device::Kept;
use tablegate::table::input::{DeviceKind, DeviceStatus, Input};
use tablegate::wire::frame::{self, Kind};
use tablegate::wire::message::{self as wire, from_device};
use tracing_subscriber::fmt::MakeWriter;

/// What the cheat tells: values that no test of anything else here has side by side.
const CHEAT: [u32; 3] = [5, 2, 4];

/// Every line that is logged, at every level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Log;

    fn make_writer(&'a self) -> Log {
        self.clone()
    }
}

/// Nowhere in `text` do the three values stand together, whatever stands between them.
fn assert_unknown(what: &str, text: &str) {
    let digits: Vec<&str> = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    for three in digits.windows(3) {
        let mut values: Vec<u32> = three.iter().filter_map(|word| word.parse().ok()).collect();
        values.sort_unstable();
        assert_ne!(values, [2, 4, 5], "{what} knows the dice: {text}");
    }
    for together in ["524", "245", "0502", "050204", "020405", "\\u{5}\\u{2}\\u{4}"] {
        assert!(
            !text.contains(together),
            "{what} may know the dice ({together}): {text}"
        );
    }
}

#[tokio::test]
async fn dice_under_the_cover_are_nowhere() {
    let log = Log::default();
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .without_time()
        .with_writer(log.clone())
        .init();
    let far = Far::new();
    let mut bench = Bench::with_room(DeviceKind::Tumbler, 64, Some(&far));
    let mut config = device(wire::DeviceKind::Tumbler);
    // Numbers that a search would stumble on are kept out of the way.
    (config.serial_number, config.firmware, config.boot_id) = ("CHEAT".into(), "x".into(), 77_777);
    let peer = Peer::start(config, far, bench.clock.clone());
    peer.order(Do::Status(from_device::Body::Tumbler(tumbler(wire::Cover::On, &CHEAT))));
    let mut seen = Vec::new();
    let mut under_cover = 0;
    let mut told = |input: &Input| {
        assert_unknown("an input", &format!("{input:?}"));
        if *input == Input::ReadUnderCover {
            under_cover += 1;
        }
        seen.push(input.clone());
    };
    // In the greeting's status, in a change, in a message that a cover unknown to itself sends, after a restart.
    loop {
        let input = bench.input().await;
        told(&input);
        if let Input::DeviceUp {
            status: DeviceStatus::Tumbler(report),
            ..
        } = &input
        {
            assert_eq!(report.dice, None);
            break;
        }
    }
    for cover in [wire::Cover::On, wire::Cover::Unspecified, wire::Cover::On] {
        peer.report(from_device::Body::Tumbler(tumbler(cover, &CHEAT)));
        loop {
            let input = bench.input().await;
            told(&input);
            if let Input::Tumbler { report, .. } = &input {
                assert_eq!(report.dice, None);
                break;
            }
        }
    }
    bench.handle.ask_status();
    loop {
        let input = bench.input().await;
        told(&input);
        if matches!(input, Input::Tumbler { .. }) {
            break;
        }
    }
    // A frame that is damaged so that only its check tells, a frame of another version, and one that comes before a greeting.
    peer.order(Do::Mute);
    let message = wire::FromDevice {
        uptime_ms: 1,
        body: Some(from_device::Body::Tumbler(tumbler(wire::Cover::On, &CHEAT))),
    };
    let mut line = Vec::new();
    frame::encode(Kind::Data, 99, &message.encode_to_vec(), &mut line).unwrap();
    let damaged: Vec<u8> = line
        .iter()
        .map(|byte| if *byte == 0x10 { 0x11 } else { *byte })
        .collect();
    peer.order(Do::Raw([line, damaged].concat()));
    // It is silent from here on: down, and its last words are in nobody's mouth.
    let input = bench.comes_or_goes().await;
    told(&input);
    assert!(under_cover >= 5, "{under_cover}: {seen:?}");
    let report = bench.handle.report.borrow().clone();
    assert!(report.counts.under_cover >= 5, "{:?}", report.counts);
    assert_unknown("the report's text", &report.text);
    assert_unknown("the report's identity", &format!("{:?}", report.identity));
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(logged.contains("link"), "nothing was logged, so nothing was searched");
    for line in logged.lines() {
        assert_unknown("the log", line);
    }
    // What is kept of the line for whoever captures it says that something came, and not what.
    let (missed, kept) = bench.handle.tape.read(&mut bench.handle.tape.oldest(), usize::MAX);
    assert_eq!(missed, 0);
    for found in &kept {
        let bytes = &found.bytes;
        let is_there = bytes
            .windows(3)
            .any(|three| three.iter().map(|byte| u32::from(*byte)).eq(CHEAT));
        assert!(!is_there, "the tape knows the dice: {found:?}");
    }
    let count = |why: Kept| kept.iter().filter(|found| found.kept == why).count();
    assert!(count(Kept::Reading) >= 5, "{kept:?}");
    assert!(count(Kept::Unclear) >= 1, "{kept:?}");
    // The same dice, uncovered, would have been seen: the search does find what is there.
    let uncovered = format!("{:?}", tumbler(wire::Cover::Off, &CHEAT));
    assert!(std::panic::catch_unwind(|| assert_unknown("dice", &uncovered)).is_err());
}
