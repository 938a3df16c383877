//! What may be secret in a configuration, however wrong it is: for whoever passes on what is said of one. It is taken from the text and the
//! environment as they are, not from values: in one that is refused, a secret stands where nobody expects it.

use super::FILE_MAX;
use super::keys::VARIABLES;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// A name with one of these in it, whatever it is misspelled to, may be that of a secret, or of a secret's file.
const SOUNDS_SECRET: [&str; 8] = ["user", "login", "pass", "pwd", "secret", "token", "credential", "key"];

/// The values of every key that by its name may be a secret or name the file of one, and the logins in addresses: of the file at `path`, as
/// far as it can be read, and of the variables.
#[must_use]
pub fn possible_secrets(path: &Path, environment: &[(OsString, OsString)]) -> BTreeSet<String> {
    let mut found = of_text(&text_of(path).unwrap_or_default());
    for (name, value) in environment {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        let Some(path) = name.strip_prefix(VARIABLES) else {
            continue;
        };
        if sounds_secret(path.rsplit("__").next().unwrap_or(path)) {
            found.insert(value.to_string());
        }
        logins(&value, &mut found);
    }
    found.retain(|value| !value.trim().is_empty());
    found
}

/// The file's text; bytes that are no UTF-8 don't hide the rest of it.
fn text_of(path: &Path) -> io::Result<String> {
    // A pipe would block.
    if !std::fs::metadata(path)?.is_file() {
        return Ok(String::new());
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(FILE_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn of_text(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let (table, errors) = DeTable::parse_recoverable(text);
    of_table(table.get_ref(), &mut found);
    if !errors.is_empty() {
        // What no parser makes sense of, a person does: line by line.
        text.lines().for_each(|line| of_line(line, &mut found));
    }
    found
}

fn sounds_secret(name: &str) -> bool {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    let plain = plain.to_lowercase();
    SOUNDS_SECRET.iter().any(|word| plain.contains(word))
}

fn of_table(table: &DeTable<'_>, found: &mut BTreeSet<String>) {
    for (name, value) in table {
        if sounds_secret(name.get_ref()) {
            everything(value.get_ref(), found);
        }
        of_value(value.get_ref(), found);
    }
}

/// What is secret in the value of a key that isn't.
fn of_value(value: &DeValue<'_>, found: &mut BTreeSet<String>) {
    match value {
        DeValue::String(text) => logins(text, found),
        DeValue::Array(items) => items.iter().for_each(|item| of_value(item.get_ref(), found)),
        DeValue::Table(inner) => of_table(inner, found),
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {}
    }
}

/// All that stands in a value.
fn everything(value: &DeValue<'_>, found: &mut BTreeSet<String>) {
    match value {
        DeValue::String(text) => {
            found.insert(text.to_string());
        }
        DeValue::Integer(number) => {
            found.insert(number.as_str().to_owned());
        }
        DeValue::Float(number) => {
            found.insert(number.as_str().to_owned());
        }
        DeValue::Datetime(time) => {
            found.insert(time.to_string());
        }
        DeValue::Array(items) => items.iter().for_each(|item| everything(item.get_ref(), found)),
        DeValue::Table(inner) => inner.values().for_each(|value| everything(value.get_ref(), found)),
        DeValue::Boolean(_) => {}
    }
}

/// A line that is no TOML: `username = ana # mine` and the like.
fn of_line(line: &str, found: &mut BTreeSet<String>) {
    logins(line, found);
    let Some((name, value)) = line.split_once(['=', ':']) else {
        return;
    };
    if !sounds_secret(name.rsplit('.').next().unwrap_or(name)) {
        return;
    }
    let quotes = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',');
    let without_remark = value.split('#').next().unwrap_or(value);
    for value in [value, without_remark] {
        found.insert(value.trim_matches(quotes).to_owned());
    }
}

/// User name and password in `mqtts://user:password@broker`.
fn logins(text: &str, found: &mut BTreeSet<String>) {
    for after in text.split("://").skip(1) {
        let Some((login, _)) = after.rsplit_once('@') else {
            continue;
        };
        found.extend(
            login
                .split_once(':')
                .map_or([login, ""], |(user, word)| [user, word])
                .map(str::to_owned),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_secret_is_found_however_wrong_the_text_is() {
        for (text, expected) in [
            ("[mqtt]\nusername = \"ana\"\nprefix = \"x\"", &["ana"][..]),
            ("mqtt.usrname = 1\nmqtt.user-name = 'ana'", &["ana"]),
            ("mqtt = { password = \"p w\", ca = \"/ca\" }", &["p w"]),
            ("[other.password]\nvalue = [\"a\", 17]", &["17", "a"]),
            (
                "brokers = [\"mqtts://ana:p:w@host\", \"mqtts://host\"]",
                &["ana", "p:w"],
            ),
            (
                "[mqtt\nusername = ana # mine\nx = \"mqtts://b:c@d\"",
                &["ana", "ana # mine", "b", "c"],
            ),
            ("[table]\nid = \"TS-07\"", &[]),
        ] {
            let mut found = of_text(text);
            found.retain(|value| !value.is_empty());
            assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
