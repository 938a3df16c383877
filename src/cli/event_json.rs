//! Events as JSON, by the descriptors of the proto files: bytes in hex, enums by their short names, times as RFC 3339. A field that is
//! added to the proto appears here without a line of code.

use crate::journal::chain;
use crate::time::Timestamp;
use prost_reflect::{
    DescriptorPool, DynamicMessage, EnumDescriptor, FieldDescriptor, MessageDescriptor, ReflectMessage, Value,
};
use serde_json::{Map, Value as Json};
use std::sync::OnceLock;

static DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/floor_descriptors.bin"));

/// Bytes that are no message of the kind.
#[derive(Debug, thiserror::Error)]
#[error("not a tablegate.v1.{message}: {text}")]
pub struct NotAMessage {
    /// What was expected.
    message: &'static str,
    /// Why it isn't.
    text: String,
}

/// An event's envelope, its `kind` ("result_entered"), its `body`, and the `sha256` of its bytes.
///
/// # Errors
/// The bytes are no event.
pub fn event(bytes: &[u8]) -> Result<Json, NotAMessage> {
    let decoded = decode("Event", bytes)?;
    let mut fields = Map::new();
    for field in decoded.descriptor().fields() {
        if field.containing_oneof().is_some_and(|oneof| oneof.name() == "body") {
            if decoded.has_field(&field) {
                fields.insert("kind".to_owned(), field.name().into());
                fields.insert("body".to_owned(), value(&decoded.get_field(&field), &field));
            }
        } else if is_told(&decoded, &field) {
            fields.insert(field.name().to_owned(), value(&decoded.get_field(&field), &field));
        }
    }
    fields.insert("sha256".to_owned(), hex(&chain::sha256(bytes)).into());
    Ok(Json::Object(fields))
}

/// Any other message of `tablegate.v1`: "TableState", "Status", "Response".
///
/// # Errors
/// The bytes are none of it.
pub fn message(name: &'static str, bytes: &[u8]) -> Result<Json, NotAMessage> {
    decode(name, bytes).map(|message| object(&message))
}

/// The kinds of events that this program knows.
#[must_use]
pub fn kinds() -> Vec<String> {
    let Some(event) = descriptor("Event") else {
        return Vec::new();
    };
    let body = event.oneofs().find(|oneof| oneof.name() == "body");
    body.map(|body| body.fields().map(|field| field.name().to_owned()).collect())
        .unwrap_or_default()
}

/// Lower-case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|nibble| char::from_digit(nibble.into(), 16))
        .collect()
}

fn decode(name: &'static str, bytes: &[u8]) -> Result<DynamicMessage, NotAMessage> {
    let not = |text: String| NotAMessage { message: name, text };
    let descriptor = descriptor(name).ok_or_else(|| not("the program has no such message".to_owned()))?;
    DynamicMessage::decode(descriptor, bytes).map_err(|error| not(error.to_string()))
}

fn descriptor(name: &str) -> Option<MessageDescriptor> {
    static POOL: OnceLock<Option<DescriptorPool>> = OnceLock::new();
    let pool = POOL.get_or_init(|| DescriptorPool::decode(DESCRIPTORS).ok());
    pool.as_ref()?.get_message_by_name(&format!("tablegate.v1.{name}"))
}

fn object(message: &DynamicMessage) -> Json {
    let mut fields = Map::new();
    for field in message.descriptor().fields() {
        if is_told(message, &field) {
            fields.insert(field.name().to_owned(), value(&message.get_field(&field), &field));
        }
    }
    Json::Object(fields)
}

/// Messages and members of a oneof only when they are there; plain fields always, so that a script finds them.
fn is_told(message: &DynamicMessage, field: &FieldDescriptor) -> bool {
    !field.supports_presence() || message.has_field(field)
}

fn value(value: &Value, field: &FieldDescriptor) -> Json {
    match value {
        Value::Bool(value) => (*value).into(),
        Value::I32(value) => (*value).into(),
        Value::I64(value) => (*value).into(),
        Value::U32(value) => (*value).into(),
        Value::U64(value) => (*value).into(),
        Value::F32(value) => f64::from(*value).into(),
        Value::F64(value) => (*value).into(),
        Value::String(text) => text.as_str().into(),
        Value::Bytes(bytes) => hex(bytes).into(),
        Value::EnumNumber(number) => {
            let kind = field.kind();
            kind.as_enum()
                .map_or_else(|| (*number).into(), |descriptor| short_name(descriptor, *number))
        }
        Value::Message(message) if message.descriptor().full_name() == "google.protobuf.Timestamp" => time(message),
        Value::Message(message) => object(message),
        Value::List(values) => values.iter().map(|one| self::value(one, field)).collect(),
        // The protocol has no maps.
        Value::Map(_) => Json::Null,
    }
}

/// `TABLE_LOCKED_REASON_LAMP_BOARD` is "lamp_board"; a number that a newer peer knows stays a number.
fn short_name(descriptor: &EnumDescriptor, number: i32) -> Json {
    let Some(found) = descriptor.get_value(number) else {
        return number.into();
    };
    let mut prefix = String::new();
    for c in descriptor.name().chars() {
        if c.is_ascii_uppercase() && !prefix.is_empty() {
            prefix.push('_');
        }
        prefix.push(c.to_ascii_uppercase());
    }
    prefix.push('_');
    found
        .name()
        .strip_prefix(&prefix)
        .unwrap_or(found.name())
        .to_ascii_lowercase()
        .into()
}

fn time(message: &DynamicMessage) -> Json {
    match message.transcode_to::<prost_types::Timestamp>() {
        Ok(time) => Timestamp::from(&time).to_string().into(),
        Err(_) => Json::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::event::{self, Body, Event};
    use prost::Message;

    #[test]
    fn an_event_is_told_whole() {
        let event = Event {
            site: "harbour".to_owned(),
            seqno: 42,
            previous_sha256: vec![0xAB, 0xCD],
            recorded_at: Some(Timestamp::from_unix_micros(1_771_064_130_123_456).into()),
            clock: event::ClockQuality::Unsynchronised.into(),
            rules: vec!["NZ Div 9 r7.2".to_owned()],
            body: Some(Body::TableLocked(event::TableLocked {
                reason: event::TableLockedReason::LampBoard.into(),
                kind: 99,
                text: String::new(),
                by_policy: false,
            })),
            ..Event::default()
        };
        let bytes = event.encode_to_vec();
        let mut json = super::event(&bytes).unwrap();
        assert_eq!(json["sha256"].take().as_str().unwrap().len(), 64);
        assert_eq!(
            json,
            serde_json::json!({
                "site": "harbour", "table": "", "journal_id": "", "seqno": 42, "previous_sha256": "abcd",
                "recorded_at": "2026-02-14T10:15:30.123456Z", "clock": "unsynchronised", "run_id": "", "uptime_us": 0,
                "round_id": 0, "rules": ["NZ Div 9 r7.2"], "sha256": null,
                "kind": "table_locked", "body": { "by_policy": false, "kind": 99, "reason": "lamp_board", "text": "" },
            })
        );
    }

    /// The names in JSON and those in words come from two places: they must agree, and every kind must be there.
    #[test]
    fn every_kind_has_the_name_that_describe_gives_it() {
        let descriptor = descriptor("Event").unwrap();
        let kinds = descriptor.oneofs().find(|oneof| oneof.name() == "body").unwrap();
        for field in kinds.fields() {
            let mut message = DynamicMessage::new(descriptor.clone());
            message.set_field(
                &field,
                Value::Message(DynamicMessage::new(field.kind().as_message().unwrap().clone())),
            );
            let event = Event::decode(&*message.encode_to_vec()).unwrap();
            assert_eq!(crate::cli::describe::kind(event.body.as_ref().unwrap()), field.name());
            assert!(!crate::cli::describe::describe(&event).is_empty());
        }
    }
}
