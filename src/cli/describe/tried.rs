//! Tests of devices in test mode: what was found, for a technician who has to find the lamp or the key.

use super::words::{output, word};
use crate::gateway::FindingView;
use crate::table::event::{TestKind, TestRecorded, TestStarted};

/// "test of the lamps begun: 50 parts".
pub(super) fn started(started: &TestStarted) -> String {
    format!("test of {} begun, {} parts", device(started.kind()), started.parts)
}

fn device(kind: TestKind) -> &'static str {
    match kind {
        TestKind::Unspecified => "a device",
        TestKind::Lamps => "the lamps",
        TestKind::Lights => "the result lights",
        TestKind::Terminal => "the terminal",
        TestKind::Tumbler => "the tumbler",
    }
}

/// "test of the lamps FAILED, 49 of 50 tried: total_5, bit 16 (output 17): stayed dark (measured)".
pub(super) fn recorded(recorded: &TestRecorded) -> String {
    let of = device(recorded.kind());
    let verdict = if recorded.passed {
        "passed"
    } else if !recorded.findings.is_empty() {
        "FAILED"
    } else if recorded.interrupted {
        "was broken off"
    } else {
        "is not complete"
    };
    let found: Vec<String> = recorded
        .findings
        .iter()
        .map(FindingView::of)
        .map(|found| finding(&found))
        .collect();
    let found = match found.as_slice() {
        [] => String::new(),
        found => format!(": {}", found.join("; ")),
    };
    let more = match recorded.more_findings {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "test of {of} {verdict}, {} of {} tried{found}{more}",
        recorded.tried, recorded.parts
    )
}

/// One finding: where, and what.
#[must_use]
pub fn finding(found: &FindingView) -> String {
    let lit = found.fault == "lit";
    let with = match (lit, found.other.as_str()) {
        (true, "") => " though nothing lights it".to_owned(),
        (true, other) => format!(" when {other} is lit"),
        (false, "") => String::new(),
        (false, other) => format!("; {} answered instead", part(other)),
    };
    let what = match found.fault.as_str() {
        "dark" => "stays dark (measured)",
        "lit" => "burns",
        "said_dark" => "stays dark (seen)",
        "not_followed" => "the device did not take the picture",
        "no_answer" => "never answered",
        "bounced" => return format!("{}: bounces, {} too many within 80 ms", place(found), found.times),
        "said_wrong" => "is not as it must be (seen)",
        "did_not_spin" => "the tumbler did not spin",
        "did_not_rest" => "the tumbler did not come to rest",
        "fault" => return format!("the tumbler reports fault {}", found.number.unwrap_or(0)),
        "seal_broken" => "its sensor says it is broken",
        other => other,
    };
    format!("{}: {what}{with}", place(found))
}

/// A lamp by its area, its bit, and the board's output counted from 1; any other part by its name.
fn place(found: &FindingView) -> String {
    let of_a_lamp = ["dark", "lit", "said_dark", "not_followed"].contains(&found.fault.as_str());
    let area = match found.part.as_str() {
        "" => "no area",
        area => area,
    };
    match found.number.filter(|_| of_a_lamp) {
        Some(bit) => format!("{area}, {}", output(usize::try_from(bit).unwrap_or(usize::MAX))),
        None => part(&found.part),
    }
}

/// A part as a person names it: "key 3", "no spin button".
#[must_use]
pub fn part(name: &str) -> String {
    match name {
        "enter" => "ENTER".to_owned(),
        "readout_full" => "readout (all lit)".to_owned(),
        "readout_blank" => "readout (all dark)".to_owned(),
        other => word(other, "").replace('_', " "),
    }
}
