//! What is wrong with a line that is no request, in a sentence for whoever wrote it. The words and fields that are known are
//! asked of the types themselves, so that they are told as they are.

use super::act::Act;
use super::request::Request;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, VariantAccess, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::Value;
use std::fmt;

/// How a request looks.
const LOOKS: &str =
    "a request is one line of JSON: {\"look\":{}}, {\"watch\":{}} or {\"act\":{\"act\":{\"close\":{}}}}";

/// Longest piece of the line that a sentence repeats, in characters.
const REPEATED: usize = 40;

/// Says what is wrong with `line`, which was not understood.
#[must_use]
pub(super) fn complaint(line: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(line) else {
        return format!("that is not JSON; {LOOKS}");
    };
    let Some((name, inside)) = only_member(&value) else {
        return format!("that is no request; {LOOKS}");
    };
    if name == "verify_software" {
        return "digests are asked for with a seed: {\"verify_software\":{\"seed\":\"00ff\"}}; beside it there may be \"by\", a name in quotes"
            .to_owned();
    }
    if name == "watch_lines" {
        return "lines are watched with {\"watch_lines\":{\"since\":\"now\"}}, or \"kept\" for what is in memory too; beside it there may be \"devices\", a list of \"tumbler\", \"terminal\", \"lamps\", \"lights\""
            .to_owned();
    }
    if name != "act" {
        return match known::<Request>().contains(&name) {
            true => format!("\"{name}\" stands alone: {{\"{name}\":{{}}}}"),
            false => format!("there is no request {}; {LOOKS}", shown(name)),
        };
    }
    let Some(act) = inside.get("act") else {
        return format!("an act stands in \"act\": {LOOKS}");
    };
    let Some((name, fields)) = only_member(act) else {
        return format!(
            "one act is asked for at once, as in {{\"act\":{{\"act\":{{\"close\":{{}}}}}}}}; acts are {}",
            acts()
        );
    };
    if !known::<Act>().contains(&name) {
        return format!("there is no act {}; acts are {}", shown(name), acts());
    }
    let beside = inside
        .as_object()
        .is_some_and(|inside| inside.keys().all(|key| key == "act" || key == "by"));
    if !beside || !matches!(inside.get("by"), None | Some(Value::Null | Value::String(_))) {
        return "beside \"act\" there may be \"by\", a name in quotes, and nothing else".to_owned();
    }
    wrong_fields(name, fields)
}

/// An act that is known, with fields that aren't its own or of another kind.
fn wrong_fields(act: &str, fields: &Value) -> String {
    let takes = fields_of(act);
    let takes_words = match takes.as_slice() {
        [] => "no fields: {}".to_owned(),
        names => names.join(", "),
    };
    let Some(given) = fields.as_object() else {
        return format!("what the act \"{act}\" takes stands in {{}}: {takes_words}");
    };
    if let Some(unknown) = given.keys().find(|key| !takes.contains(&key.as_str())) {
        return format!(
            "the act \"{act}\" has no field {}; it takes {takes_words}",
            shown(unknown)
        );
    }
    let missing: Vec<_> = takes
        .iter()
        .copied()
        .filter(|name| !given.contains_key(*name))
        .collect();
    if missing.is_empty() {
        return format!(
            "a field of the act \"{act}\" has a value of another kind than it should: it takes {takes_words}"
        );
    }
    format!("the act \"{act}\" lacks {}; it takes {takes_words}", missing.join(", "))
}

/// The name and value of an object's only member.
fn only_member(value: &Value) -> Option<(&str, &Value)> {
    let members = value.as_object()?;
    let mut all = members.iter();
    let (name, inside) = all.next()?;
    all.next().is_none().then_some((name.as_str(), inside))
}

/// A piece of the line, in quotes, without what would garble a terminal.
fn shown(name: &str) -> String {
    format!("{:?}", name.chars().take(REPEATED).collect::<String>())
}

fn acts() -> String {
    known::<Act>().join(", ")
}

/// The word of every act.
#[cfg(test)]
pub(in crate::control) fn act_words() -> Vec<&'static str> {
    known::<Act>()
}

/// The words of an enum.
fn known<'de, T: Deserialize<'de>>() -> Vec<&'static str> {
    match T::deserialize(Words) {
        Err(Told(words)) => words.to_vec(),
        Ok(_) => Vec::new(),
    }
}

/// The fields of an act.
fn fields_of(act: &str) -> Vec<&'static str> {
    match Act::deserialize(Fields(act)) {
        Err(Told(fields)) => fields.to_vec(),
        Ok(_) => Vec::new(),
    }
}

/// What a type expects, carried out of its deserialisation as an error.
#[derive(Debug)]
struct Told(&'static [&'static str]);

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

impl std::error::Error for Told {}

impl Error for Told {
    fn custom<T: fmt::Display>(_: T) -> Told {
        Told(&[])
    }
}

/// Asks an enum for its words.
struct Words;

impl<'de> Deserializer<'de> for Words {
    type Error = Told;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Told> {
        Err(Told(&[]))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Told> {
        Err(Told(variants))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// Asks an enum for the fields of one of its words.
struct Fields<'a>(&'a str);

impl<'de> Deserializer<'de> for Fields<'_> {
    type Error = Told;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Told> {
        Err(Told(&[]))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Told> {
        visitor.visit_enum(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

impl<'de> EnumAccess<'de> for Fields<'_> {
    type Error = Told;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Told> {
        let word = seed.deserialize(StrDeserializer::<Told>::new(self.0))?;
        Ok((word, self))
    }
}

impl<'de> VariantAccess<'de> for Fields<'_> {
    type Error = Told;

    fn unit_variant(self) -> Result<(), Told> {
        Err(Told(&[]))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, Told> {
        Err(Told(&[]))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Told> {
        Err(Told(&[]))
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], _: V) -> Result<V::Value, Told> {
        Err(Told(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wrong_line_gets_a_sentence_that_says_what_would_be_right() {
        for (line, words) in [
            ("", "that is not JSON"),
            ("look", "that is not JSON"),
            ("17", "that is no request"),
            ("{\"look\":{},\"watch\":{}}", "that is no request"),
            ("{\"lok\":{}}", "there is no request \"lok\""),
            ("{\"look\":{\"now\":true}}", "\"look\" stands alone"),
            ("{\"act\":{}}", "an act stands in \"act\""),
            ("{\"act\":{\"act\":\"close\"}}", "one act is asked for at once"),
            (
                "{\"act\":{\"act\":{\"lokc\":{\"reason\":\"x\"}}}}",
                "there is no act \"lokc\"; acts are begin_opening, walk_lamps",
            ),
            (
                "{\"act\":{\"act\":{\"close\":{\"now\":true}}}}",
                "the act \"close\" has no field \"now\"; it takes no fields",
            ),
            (
                "{\"act\":{\"act\":{\"lock\":{}}}}",
                "the act \"lock\" lacks reason; it takes reason",
            ),
            (
                "{\"act\":{\"act\":{\"record_check\":{\"check\":\"seal\"}}}}",
                "lacks passed, text; it takes check, passed, text",
            ),
            (
                "{\"act\":{\"act\":{\"amend\":{\"faces\":[1,2]}}}}",
                "a value of another kind than it should: it takes faces",
            ),
            ("{\"act\":{\"act\":{\"amend\":[1,2,3]}}}", "stands in {}: faces"),
            (
                "{\"act\":{\"act\":{\"close\":{}},\"by\":7}}",
                "beside \"act\" there may be \"by\"",
            ),
            (
                "{\"act\":{\"act\":{\"close\":{}},\"now\":7}}",
                "beside \"act\" there may be \"by\"",
            ),
        ] {
            assert!(serde_json::from_str::<Request>(line).is_err(), "{line} is a request");
            let told = complaint(line);
            assert!(told.contains(words), "{line}: {told}");
            for insides in ["expected", "variant", "column", "serde", "struct", "invalid type"] {
                assert!(!told.contains(insides), "{line}: {told}");
            }
        }
    }
}
