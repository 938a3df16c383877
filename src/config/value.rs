//! Values of known keys, taken as they are written or not at all: `"on"` is no flag, `17` no text, `1883.9` no whole number.

use super::keys::{Key, Kind};
use std::fmt;
use toml::de::{DeInteger, DeValue};

/// A value of its key's type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// Of a text, path or word.
    Text(String),
    /// Of a flag.
    Flag(bool),
    /// Of a whole number.
    Whole(i64),
    /// Of a list.
    Texts(Vec<String>),
}

impl fmt::Display for Value {
    /// As TOML.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(text) => f.write_str(&quoted(text)),
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::Whole(number) => write!(f, "{number}"),
            Value::Texts(texts) => {
                let texts: Vec<_> = texts.iter().map(|text| quoted(text)).collect();
                write!(f, "[{}]", texts.join(", "))
            }
        }
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// How much of a wrong value a message repeats, in characters.
const REPEATED: usize = 60;

/// Text from outside for a message: in quotes, control characters escaped, not too long.
pub fn shown(text: &str) -> String {
    let mut short: String = text.chars().take(REPEATED).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    format!("{short:?}")
}

/// The value that `raw` in a file is for `key`.
///
/// # Errors
/// What is wrong with it: "is the text \"on\"".
pub fn from_toml(key: &Key, raw: &DeValue<'_>) -> Result<Value, String> {
    let value = match (key.kind, raw) {
        // As below, for a number or the like in the place of a secret's file.
        (Kind::Path, other) if !other.is_str() && SECRET_FILES.contains(&key.path) => {
            return Err("is no text; it is not repeated here, in case it is the secret itself".to_owned());
        }
        (Kind::Text | Kind::Path | Kind::OneOf(_), DeValue::String(text)) => Value::Text(text.to_string()),
        (Kind::Flag, DeValue::Boolean(flag)) => Value::Flag(*flag),
        (Kind::Whole { .. }, DeValue::Integer(number)) => Value::Whole(whole(number)?),
        (Kind::Texts, DeValue::Array(items)) => {
            let texts = items.iter().map(|item| match item.get_ref().as_str() {
                Some(text) => Ok(text.to_owned()),
                None => Err(format!("has an item that is {}, no text", describe(item.get_ref()))),
            });
            Value::Texts(texts.collect::<Result<_, _>>()?)
        }
        (_, other) => return Err(format!("is {}", describe(other))),
    };
    check(key, &value)?;
    Ok(value)
}

/// The value that an environment variable has for `key`: typed by the key, never guessed.
///
/// # Errors
/// What is wrong with it.
pub fn from_environment(key: &Key, raw: &str) -> Result<Value, String> {
    let value = match key.kind {
        Kind::Text | Kind::Path | Kind::OneOf(_) => Value::Text(raw.to_owned()),
        Kind::Flag => match raw {
            "true" => Value::Flag(true),
            "false" => Value::Flag(false),
            other => return Err(format!("is {}, neither true nor false", shown(other))),
        },
        Kind::Whole { .. } => {
            let plain = !raw.is_empty() && raw.bytes().all(|byte| byte.is_ascii_digit());
            match raw.parse() {
                Ok(number) if plain => Value::Whole(number),
                Ok(_) | Err(_) => return Err(format!("is {}, no whole number in digits", shown(raw))),
            }
        }
        Kind::Texts if raw.trim().is_empty() => Value::Texts(Vec::new()),
        Kind::Texts => Value::Texts(raw.split(',').map(|item| item.trim().to_owned()).collect()),
    };
    check(key, &value)?;
    Ok(value)
}

/// What a default in the table of keys stands for.
#[must_use]
pub fn from_default(key: &Key, text: &str) -> Option<Value> {
    let parsed = DeValue::parse(text).ok()?;
    from_toml(key, parsed.get_ref()).ok()
}

fn whole(number: &DeInteger<'_>) -> Result<i64, String> {
    i64::from_str_radix(number.as_str(), number.radix())
        .map_err(|_| format!("is {}, too large a number", number.as_str()))
}

/// What was written instead, for a message.
pub(super) fn describe(raw: &DeValue<'_>) -> String {
    match raw {
        DeValue::String(text) => format!("the text {}", shown(text)),
        DeValue::Integer(number) => format!("the number {}", number.as_str()),
        DeValue::Float(number) => format!("the number {} with a fraction", number.as_str()),
        DeValue::Boolean(flag) => format!("the flag {flag}"),
        DeValue::Datetime(_) => "a date or time".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a section".to_owned(),
    }
}

/// Keys that name the file of a secret, where somebody may write the secret itself.
const SECRET_FILES: &[&str] = &["mqtt.key", "mqtt.password_file"];

/// Keys whose file is delivered with the configuration: one that doesn't begin at the root stands beside it. Everything else is
/// found from the root, because the daemon's own folder is no place to look for anything.
const BESIDE_THE_FILE: &[&str] = &["tai_sai.lamp_map", "sic_bo.lamp_map", "sic_bo.paytable"];

/// The longest text that is taken: far above any name, far below what would hurt.
const TEXT_MAX: usize = 4_096;

/// The most items of a list.
const ITEMS_MAX: usize = 32;

fn check(key: &Key, value: &Value) -> Result<(), String> {
    match (key.kind, value) {
        (Kind::OneOf(words), Value::Text(text)) if !words.contains(&text.as_str()) => {
            Err(format!("is {}", shown(text)))
        }
        (Kind::Path, Value::Text(text)) => {
            check_text(text)?;
            if text.starts_with('/') || BESIDE_THE_FILE.contains(&key.path) {
                Ok(())
            } else if SECRET_FILES.contains(&key.path) {
                Err("doesn't begin at the root; it is not repeated here, in case it is the secret itself".to_owned())
            } else {
                Err(format!("is {}, which doesn't begin at the root", shown(text)))
            }
        }
        (_, Value::Text(text)) => check_text(text),
        (Kind::Whole { min, max, .. }, Value::Whole(number)) => {
            if *number < min {
                Err(format!("is {number}, below {min}"))
            } else if *number > max {
                Err(format!("is {number}, above {max}"))
            } else {
                Ok(())
            }
        }
        (_, Value::Texts(texts)) => {
            if texts.len() > ITEMS_MAX {
                return Err(format!("has {} items, more than {ITEMS_MAX}", texts.len()));
            }
            texts
                .iter()
                .try_for_each(|text| check_text(text).map_err(|wrong| format!("has an item that {wrong}")))
        }
        (_, Value::Flag(_) | Value::Whole(_)) => Ok(()),
    }
}

fn check_text(text: &str) -> Result<(), String> {
    if text.contains("-----BEGIN") {
        Err("holds a key or certificate itself, where the name of its file belongs".to_owned())
    } else if text.trim().is_empty() {
        Err("is empty".to_owned())
    } else if text.len() > TEXT_MAX {
        Err(format!("is longer than {TEXT_MAX} bytes"))
    } else if text.chars().any(char::is_control) {
        Err("has a control character".to_owned())
    } else {
        Ok(())
    }
}
