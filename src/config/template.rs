//! A commented file with every key, made from the table of keys: what it says is what the program does.

use super::keys::{Absent, EXAMPLE, Key, Play, Presence, keys_of};
use std::fmt::Write;

/// The widest comment, in columns.
const WIDTH: usize = 100;

/// The file of a table that plays this. It is accepted as it is; what is commented out is what holds without it.
#[must_use]
pub fn of(play: Play) -> String {
    let mut text = String::new();
    comment(
        &mut text,
        &format!(
            "tablegate: a table of {}. The file's name without .toml is the instance: tablegate@INSTANCE.",
            play.words()
        ),
    );
    comment(
        &mut text,
        "Lines that are commented out show what holds without them, or an example after \"for example\". \
         An environment variable overrules a line: journal.min_free_mb is TABLEGATE__JOURNAL__MIN_FREE_MB; lists are separated by commas. \
         Check with: tablegate config check FILE",
    );
    for section in play.sections() {
        text.push('\n');
        comment(&mut text, section.doc);
        let out = match section.presence(play) {
            Some(Presence::Needed) => "",
            Some(Presence::Defaults | Presence::Optional) if play.needs_word_in(section.path) => "",
            Some(Presence::Defaults | Presence::Optional) | None => "# ",
        };
        // Writing to a String can't fail.
        let _ = writeln!(text, "{out}[{}]", section.path);
        for key in keys_of(section.path).filter(|key| key.is_of(play)) {
            line(&mut text, key, play, out);
        }
    }
    text
}

fn line(text: &mut String, key: &Key, play: Play, out: &str) {
    let name = key.name();
    let doc = match key.kind {
        super::keys::Kind::Whole { min, max, unit } => format!("{} {min} to {max} {unit}.", key.doc),
        super::keys::Kind::Text
        | super::keys::Kind::Path
        | super::keys::Kind::Flag
        | super::keys::Kind::OneOf(_)
        | super::keys::Kind::Texts => key.doc.to_owned(),
    };
    comment(text, &doc);
    let written = match (play.word(key.path), key.absent) {
        (Some(word), _) => format!("{out}{name} = \"{word}\""),
        (None, Absent::Refused(example) | Absent::Usual(example)) => format!("{out}{name} = {example}"),
        (None, Absent::Default(default)) => format!("# {name} = {default}"),
        (None, Absent::Follows(rule)) => format!("# {name} = \"{rule}\""),
        (None, Absent::None(example)) => format!("# for example: {name} = {example}"),
    };
    let written = written.replace(EXAMPLE, play.instance());
    // Writing to a String can't fail.
    let _ = writeln!(text, "{written}");
}

fn comment(text: &mut String, words: &str) {
    let mut line = "#".to_owned();
    for word in words.split_whitespace() {
        if line.len() + word.len() + 1 > WIDTH {
            text.push_str(&line);
            text.push('\n');
            line = "#".to_owned();
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}
