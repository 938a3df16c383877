//! `tablegate devices`: how well each device's line works, for a person at the table and for scripts. Only draws what the
//! daemon reports, and opens no port.

use super::daemon::{Reach, look};
use super::ending::{Failure, print, print_json};
use super::line_advice;
use crate::counted::{counted, often};
use crate::device::{Counts, LinkReport, LinkState};
use clap::Args;
use std::fmt::Write;
use std::time::Duration;

/// How well each device's line works.
#[derive(Args, Debug)]
pub struct Devices {
    #[command(flatten)]
    reach: Reach,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Fill the terminal with it, as it changes: what is added while you look stands out.
    #[arg(short, long, conflicts_with = "json")]
    watch: bool,
}

/// Runs it.
///
/// # Errors
/// When no daemon can be asked.
pub fn run(args: &Devices) -> Result<(), Failure> {
    if args.watch {
        return super::live::devices::run(&args.reach);
    }
    let view = look(&args.reach)?;
    if args.json {
        print_json(&view.links)
    } else {
        print(&render(&view.links))
    }
}

/// The reports as text, one block a device.
pub(super) fn render(reports: &[LinkReport]) -> String {
    let mut text = String::new();
    if reports.is_empty() {
        text.push_str("No devices are configured.\n");
    }
    for report in reports {
        if !text.is_empty() {
            text.push('\n');
        }
        block(&mut text, report);
    }
    for advice in line_advice::exchanged(reports) {
        push(&mut text, format_args!("\n{advice}\n"));
    }
    text
}

fn block(text: &mut String, report: &LinkReport) {
    let since = Duration::from_micros(report.at_us.saturating_sub(report.since_us));
    push(
        text,
        format_args!(
            "{}  {} for {}\n",
            report.kind.word(),
            report.state.word(),
            spoken(since)
        ),
    );
    if !report.text.is_empty() {
        push(text, format_args!("  {}\n", report.text));
    }
    if let Some(poor) = line_advice::poor(report) {
        push(text, format_args!("  {poor}\n"));
    }
    match &report.resolved {
        Some(resolved) if *resolved != report.port => {
            push(text, format_args!("  port        {} -> {resolved}\n", report.port));
        }
        Some(_) | None => push(text, format_args!("  port        {}\n", report.port)),
    }
    match &report.identity {
        Some(who) => {
            push(
                text,
                format_args!(
                    "  identity    serial {}, firmware {}, boot {:08x}",
                    or_dash(&who.serial_number),
                    or_dash(&who.firmware),
                    who.boot_id
                ),
            );
            if who.lamp_count > 0 {
                push(text, format_args!(", {}", counted(who.lamp_count, "lamp")));
            }
            text.push('\n');
        }
        None => text.push_str("  identity    none has answered yet\n"),
    }
    counts(text, &report.counts, report.at_us);
    push(text, format_args!("  line        {}\n", heard(report, report.at_us)));
    match report.round_trip {
        Some(trip) => push(
            text,
            format_args!(
                "  round trip  {} (two minutes)\n",
                half_and_most(trip.p50_us, trip.p99_us, trip.max_us)
            ),
        ),
        None => text.push_str("  round trip  none measured\n"),
    }
    if let Some(ever) = report.round_trip_ever {
        push(
            text,
            format_args!(
                "              {} (all {})\n",
                half_and_most(ever.p50_us, ever.p99_us, ever.max_us),
                ever.count
            ),
        );
    }
    push(text, format_args!("  clock       {}\n", drift(report)));
    match &report.last_fault {
        Some(fault) => {
            let ago = spoken(Duration::from_micros(report.at_us.saturating_sub(fault.at_us)));
            push(text, format_args!("  last fault  {ago} ago: {}\n", fault.what));
        }
        None => text.push_str("  last fault  none\n"),
    }
}

/// When something valid came last, and the longest time that nothing did.
pub(super) fn heard(report: &LinkReport, now_us: u64) -> String {
    let Some(heard) = report.heard_us else {
        return "nothing valid has come yet".to_owned();
    };
    let ago = spoken(Duration::from_micros(now_us.saturating_sub(heard)));
    let longest = report.longest_silence.map(|longest| {
        let lasted = Duration::from_micros(longest.lasted_us);
        let ended = spoken(Duration::from_micros(now_us.saturating_sub(longest.ended_us)));
        format!(
            "; longest silence {}.{} s, ended {ended} ago",
            lasted.as_secs(),
            lasted.subsec_millis() / 100
        )
    });
    format!("last heard {ago} ago{}", longest.unwrap_or_default())
}

/// How far the device's clock runs from ours.
fn drift(report: &LinkReport) -> String {
    let Some(drift) = report.drift else {
        return match (report.state, report.clocks_related) {
            (LinkState::Up, false) => "can't be related to ours: the age of keys is unknown".to_owned(),
            (LinkState::Up | LinkState::Down | LinkState::Greeting | LinkState::Silent, _) => {
                "not measured yet (a minute)".to_owned()
            }
        };
    };
    let runs = match drift.ppm {
        0 => "runs with ours".to_owned(),
        fast @ 1.. => format!("runs {fast} ppm fast"),
        slow => format!("runs {} ppm slow", slow.unsigned_abs()),
    };
    format!("{runs} (over {})", spoken(Duration::from_secs(drift.over_s)))
}

/// Milliseconds, as "1.2".
pub(super) fn tenths(micros: u32) -> String {
    format!("{}.{}", micros / 1000, micros % 1000 / 100)
}

/// "half 1.2, 99% 15.9, longest 17.0 ms".
fn half_and_most(half_us: u32, most_us: u32, longest_us: u32) -> String {
    format!(
        "half {}, 99% {}, longest {}",
        tenths(half_us),
        tenths(most_us),
        milliseconds(longest_us)
    )
}

fn counts(text: &mut String, counts: &Counts, at_us: u64) {
    push(
        text,
        format_args!("  frames      {} in, {} out\n", counts.frames_in, counts.frames_out),
    );
    push(
        text,
        format_args!(
            "  errors      CRC {}, repeats {} in, {} out",
            counts.crc_errors, counts.repeats_in, counts.repeats_out
        ),
    );
    for (name, count) in [
        ("noise", counts.noise),
        ("other version", counts.other_version),
        ("echoes", counts.echoes),
        ("resets", counts.resets),
        ("unknown messages", counts.unknown),
        ("mended fields", counts.mended),
        ("lost for want of room", counts.out_dropped),
        ("waited for room", counts.no_room),
        ("late states", counts.late),
        ("stale keys", counts.stale),
        ("readings under the cover", counts.under_cover),
    ] {
        if count > 0 {
            push(text, format_args!(", {name} {count}"));
        }
    }
    text.push('\n');
    push(
        text,
        format_args!(
            "  counted     for {}; opened {}, up {}\n",
            spoken(Duration::from_micros(at_us)),
            often(counts.opened),
            often(counts.sessions)
        ),
    );
}

fn or_dash(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}

/// "1.2 ms".
pub(super) fn milliseconds(micros: u32) -> String {
    format!("{}.{} ms", micros / 1000, micros % 1000 / 100)
}

fn spoken(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0, s) => format!("{s} s"),
        (0, 0, m, s) => format!("{m} min {s} s"),
        (0, h, m, _) => format!("{h} h {m} min"),
        (d, h, _, _) => format!("{d} d {h} h"),
    }
}

fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a String can't fail.
    let _ = text.write_fmt(arguments);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Drift, Identity, Kind, LastFault, LongestSilence, RoundTrip, RoundTripEver};

    fn report() -> LinkReport {
        let mut report = LinkReport::new(Kind::Terminal, "/dev/serial/by-id/usb-ET-2_0042-if00".into());
        report.resolved = Some("/dev/ttyUSB1".into());
        report.state = LinkState::Up;
        report.since_us = 5_000_000;
        report.at_us = 7_385_000_000;
        report.identity = Some(Identity {
            serial_number: "0042".into(),
            firmware: "1.3".into(),
            boot_id: 0x7f3a,
            lamp_count: 0,
            firmware_sha256: String::new(),
        });
        report.counts.frames_in = 1203;
        report.counts.frames_out = 1188;
        report.counts.repeats_out = 1;
        report.counts.opened = 1;
        report.counts.sessions = 1;
        report.round_trip = Some(RoundTrip {
            p50_us: 1234,
            p99_us: 15_999,
            max_us: 17_000,
        });
        report.round_trip_ever = Some(RoundTripEver {
            count: 7384,
            p50_us: 1280,
            p99_us: 16_384,
            max_us: 45_000,
        });
        report.drift = Some(Drift { ppm: -12, over_s: 7380 });
        report.heard_us = Some(7_384_600_000);
        report.longest_silence = Some(LongestSilence {
            lasted_us: 1_040_000,
            ended_us: 7_000_000_000,
        });
        report.clocks_related = true;
        report
    }

    #[test]
    fn a_link_that_is_up() {
        insta::assert_snapshot!(render(&[report()]), @"
        terminal  up for 2 h 3 min
          port        /dev/serial/by-id/usb-ET-2_0042-if00 -> /dev/ttyUSB1
          identity    serial 0042, firmware 1.3, boot 00007f3a
          frames      1203 in, 1188 out
          errors      CRC 0, repeats 0 in, 1 out
          counted     for 2 h 3 min; opened once, up once
          line        last heard 0 s ago; longest silence 1.0 s, ended 6 min 25 s ago
          round trip  half 1.2, 99% 15.9, longest 17.0 ms (two minutes)
                      half 1.2, 99% 16.3, longest 45.0 ms (all 7384)
          clock       runs 12 ppm slow (over 2 h 3 min)
          last fault  none
        ");
    }

    #[test]
    fn a_link_that_is_down_says_why() {
        let mut down = LinkReport::new(Kind::Lamps, "/dev/ttyUSB0".into());
        down.text = "/dev/ttyUSB0 is held by minicom (pid 612)".into();
        down.counts.crc_errors = 3;
        down.counts.noise = 17;
        down.at_us = 90_000_000;
        down.last_fault = Some(LastFault {
            what: "3 CRC errors, 17 pieces of noise".into(),
            at_us: 78_000_000,
        });
        let text = render(&[report(), down]);
        let (_, last) = text.split_once("\n\n").unwrap();
        insta::assert_snapshot!(last, @"
        lamps  down for 1 min 30 s
          /dev/ttyUSB0 is held by minicom (pid 612)
          port        /dev/ttyUSB0
          identity    none has answered yet
          frames      0 in, 0 out
          errors      CRC 3, repeats 0 in, 0 out, noise 17
          counted     for 1 min 30 s; opened 0 times, up 0 times
          line        nothing valid has come yet
          round trip  none measured
          clock       not measured yet (a minute)
          last fault  12 s ago: 3 CRC errors, 17 pieces of noise
        ");
    }

    #[test]
    fn json_reads_back_to_the_same() {
        let reports = vec![report()];
        let json = serde_json::to_string_pretty(&reports).unwrap();
        assert_eq!(serde_json::from_str::<Vec<LinkReport>>(&json).unwrap(), reports);
        assert!(json.contains("\"state\": \"up\""), "{json}");
    }
}
