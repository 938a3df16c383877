//! The forms that an event is written in: a line, JSON, a row of CSV, and the exact bytes after their length.

use crate::cli::describe::{self, describe, line};
use crate::cli::ending::Failure;
use crate::cli::event_json;
use crate::journal::{Record, decode};
use crate::table::event::{ClockQuality, Event};

/// An event, whole: its line, then everything in it.
///
/// # Errors
/// What it is no event for.
pub(in crate::cli) fn shown(record: &Record) -> Result<String, Failure> {
    let json = serde_json::to_string_pretty(&as_json(record)?).map_err(|error| Failure::failed(error.to_string()))?;
    Ok(format!("{}\n{json}\n", line(&decoded(record)?)))
}

/// What a record says.
pub(in crate::cli) fn decoded(record: &Record) -> Result<Event, Failure> {
    decode(record).map_err(|error| Failure::failed(format!("event {}: {error}", record.seqno)))
}

pub(super) fn as_json(record: &Record) -> Result<serde_json::Value, Failure> {
    event_json::event(&record.bytes).map_err(|error| Failure::failed(format!("event {}: {error}", record.seqno)))
}

pub(super) fn printed(record: &Record, event: &Event, json: bool) -> Result<Vec<u8>, Failure> {
    let mut text = if json {
        as_json(record)?.to_string()
    } else {
        line(event)
    };
    text.push('\n');
    Ok(text.into_bytes())
}

pub(super) const CSV_HEADER: &str =
    "seqno,recorded_at,clock,run_id,uptime_us,round_id,kind,actor,device,rules,text,body,sha256\r\n";

/// A row as RFC 4180 has it. `body` is JSON.
pub(super) fn csv(record: &Record, event: &Event) -> Result<String, Failure> {
    let json = as_json(record)?;
    let text = |key: &str| {
        json.get(key)
            .and_then(|value| value.as_str())
            .unwrap_or_default()
            .to_owned()
    };
    let clock = match event.clock() {
        ClockQuality::Unspecified => "",
        ClockQuality::Synchronised => "synchronised",
        ClockQuality::Unsynchronised => "unsynchronised",
        ClockQuality::Stepped => "stepped",
    };
    let fields = [
        event.seqno.to_string(),
        text("recorded_at"),
        clock.to_owned(),
        event.run_id.clone(),
        event.uptime_us.to_string(),
        event.round_id.to_string(),
        text("kind"),
        event.actor.as_ref().map(describe::actor).unwrap_or_default(),
        event.device.as_ref().map(describe::device).unwrap_or_default(),
        event.rules.join("; "),
        describe(event),
        json.get("body").map(ToString::to_string).unwrap_or_default(),
        text("sha256"),
    ];
    Ok(fields.map(|field| quoted(&field)).join(",") + "\r\n")
}

/// A field of CSV, in quotes where it needs them.
pub(in crate::cli) fn quoted(field: &str) -> String {
    // A spreadsheet takes a text that begins so for a formula.
    let field = if field.starts_with(['=', '+', '-', '@']) {
        format!("'{field}")
    } else {
        field.to_owned()
    };
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field
    }
}

pub(super) fn varint(length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to a Vec cannot fail.
    prost::encoding::encode_varint(length as u64, &mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_as_csv_wants_it() {
        for (field, expected) in [
            ("a", "a"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=1+1", "'=1+1"),
        ] {
            assert_eq!(quoted(field), expected);
        }
    }
}
