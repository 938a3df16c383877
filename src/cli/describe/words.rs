//! The words that every event's line is made of: people, devices, keys, times, and values of closed sets.

use crate::table::event::{Actor, ActorKind, Area, DeviceKind, DeviceRef, ResultSource};
use crate::time::Timestamp;

/// The ids of areas: `small, total_9, pair_1_3`.
#[must_use]
pub fn areas(areas: &[Area]) -> String {
    match areas {
        [] => "no area".to_owned(),
        areas => areas.iter().map(|area| area.id.as_str()).collect::<Vec<_>>().join(", "),
    }
}

pub(super) fn area(area: Option<&Area>) -> &str {
    area.map_or("an unnamed area", |area| &area.id)
}

/// "supervisor anna", "dealer", "supervisor by key", "supervisor anna by root".
#[must_use]
pub fn actor(actor: &Actor) -> String {
    let kind = match actor.kind() {
        ActorKind::Unspecified => "someone",
        ActorKind::Dealer => "dealer",
        ActorKind::Supervisor => "supervisor",
        ActorKind::Technician => "technician",
        ActorKind::Floor => "floor",
        ActorKind::Gateway => "gateway",
    };
    let mut text = kind.to_owned();
    if !actor.name.is_empty() {
        text = format!("{text} {}", actor.name);
    }
    if actor.by_key {
        text.push_str(" by key");
    }
    if !actor.login.is_empty() {
        text = format!("{text} by {}", actor.login);
    }
    text
}

/// A lamp by its bit in pictures and lamp maps, and by the output of its board, as those are labelled from 1: "bit 13 (output 14)".
#[must_use]
pub fn output(bit: usize) -> String {
    format!("bit {bit} (output {})", bit.saturating_add(1))
}

/// "terminal ET-1_0042".
#[must_use]
pub fn device(device: &DeviceRef) -> String {
    format!("{} {}", device_kind(device.kind()), device.serial_number)
        .trim_end()
        .to_owned()
}

/// "terminal".
#[must_use]
pub fn device_kind(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Unspecified => "device",
        DeviceKind::Tumbler => "tumbler",
        DeviceKind::Terminal => "terminal",
        DeviceKind::LayoutLamps => "lamps",
        DeviceKind::ResultLights => "lights",
    }
}

/// A proto enum's value in small words: `TABLE_LOCKED_REASON_LAMP_BOARD` is "lamp board".
#[must_use]
pub fn word(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix)
        .unwrap_or(name)
        .to_ascii_lowercase()
        .replace('_', " ")
}

/// A proto enum's value as a short name: `ROUND_VOIDED_REASON_A_NOT_FLAT` is "a_not_flat", as the rules number it.
#[must_use]
pub fn code(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_ascii_lowercase()
}

/// `2026-02-14 10:15:30.123Z`.
#[must_use]
pub fn moment(time: Option<&prost_types::Timestamp>) -> String {
    let Some(time) = time else {
        return "at an unknown time".to_owned();
    };
    let text = Timestamp::from(time).to_string().replace('T', " ");
    match text.split_once('.') {
        Some((seconds, fraction)) => format!("{seconds}.{}Z", fraction.get(..3).unwrap_or("000")),
        None => text,
    }
}

/// Keys as they are labelled: "1 3 6", "NEW_SPINNER HEADS"; by its number what this version doesn't know.
#[must_use]
pub fn keys(numbers: &[u32]) -> String {
    let label = |number: &u32| match number {
        16 => "HEADS".to_owned(),
        17 => "TAILS".to_owned(),
        18 => "ODDS".to_owned(),
        19 => "TRIPLE_HEADS".to_owned(),
        20 => "TRIPLE_TAILS".to_owned(),
        21 => "NO_SPIN".to_owned(),
        22 => "NEW_SPINNER".to_owned(),
        23 => "SPINNER_STOPS".to_owned(),
        24 => "RELIEVE".to_owned(),
        25 => "OFF_TABLE".to_owned(),
        26 => "NEW_SET".to_owned(),
        27 => "OVERRULE".to_owned(),
        number => number.to_string(),
    };
    numbers.iter().map(label).collect::<Vec<_>>().join(" ")
}

pub(super) fn numbers(values: &[u32], between: &str) -> String {
    values.iter().map(u32::to_string).collect::<Vec<_>>().join(between)
}

/// 0 is "not measured" in the events.
pub(super) fn after(ms: u32, what: &str) -> String {
    match ms {
        0 => String::new(),
        ms => format!(", {} after {what}", seconds(ms)),
    }
}

pub(super) fn seconds(ms: u32) -> String {
    match ms {
        0..=999 => format!("{ms} ms"),
        _ => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
    }
}

pub(super) fn also(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!(": {text}")
    }
}

/// Not from the terminal.
pub(super) fn by_command(source: ResultSource) -> &'static str {
    match source {
        ResultSource::Command => ", by command",
        ResultSource::Terminal | ResultSource::Unspecified => "",
    }
}

pub(super) fn away(while_away: bool) -> &'static str {
    if while_away { ", while the device was away" } else { "" }
}

pub(super) fn by_itself(automatic: bool) -> &'static str {
    if automatic { ", by the gateway" } else { "" }
}
