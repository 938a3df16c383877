//! Every key that the file may have: one table, from which the strict check, the template, the documents and the tests are made.

mod every;
mod sections;

pub use every::KEYS;
pub use sections::{EXAMPLE, GAMES, Play, Presence, REFUSED, SECTIONS, Section, Tables};

use sections::FEWER;

/// What a key's value is. Nothing is converted: a value of another type is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Text that isn't empty.
    Text,
    /// The name of a file, directory or socket, from the root.
    Path,
    /// `true` or `false`.
    Flag,
    /// A whole number, both ends included.
    Whole {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
        /// What is counted: "ms".
        unit: &'static str,
    },
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A list of texts. In the environment they are separated by commas.
    Texts,
}

/// What a key is when nobody writes it. Texts are TOML.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Absent {
    /// It has to be written when its section is there. The text is an example.
    Refused(&'static str),
    /// It is this.
    Default(&'static str),
    /// It follows from other values, as this text says.
    Follows(&'static str),
    /// There is none. The text is an example.
    None(&'static str),
    /// There is none, but most tables have one. The text is an example, and stands in the template.
    Usual(&'static str),
}

/// One key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    /// With its section: "devices.tumbler.baud".
    pub path: &'static str,
    /// What its value is.
    pub kind: Kind,
    /// What it is when nobody writes it.
    pub absent: Absent,
    /// What it does, for the template and the documents.
    pub doc: &'static str,
}

/// Never less than this: a regulator may ask that long after a game.
pub const RETENTION_DAYS_MIN: i64 = 90;

/// The slowest line on which the link protocol keeps its time limits.
pub const BAUD_MIN: i64 = 9_600;

/// The fastest that USB adapters reach.
pub const BAUD_MAX: i64 = 4_000_000;

/// The key with this path.
#[must_use]
pub fn key(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// The section with this path.
#[must_use]
pub fn section(path: &str) -> Option<&'static Section> {
    SECTIONS.iter().find(|section| section.path == path)
}

/// `path` is a section, or holds sections as "devices" does.
#[must_use]
pub fn is_section(path: &str) -> bool {
    let inside = |section: &Section| {
        section
            .path
            .strip_prefix(path)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    SECTIONS.iter().any(inside)
}

/// The keys of a section.
pub fn keys_of(section: &'static str) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.section() == section)
}

impl Key {
    /// A table that plays this has it, or may have.
    #[must_use]
    pub fn is_of(&self, play: Play) -> bool {
        match FEWER.iter().find(|(path, _)| *path == self.path) {
            Some((_, plays)) => plays.contains(&play),
            None => section(self.section()).is_some_and(|section| section.presence(play).is_some()),
        }
    }

    /// Some of these has it, or may have; also when it isn't known what is played.
    #[must_use]
    pub fn is_of_some(&self, plays: &[Play]) -> bool {
        plays.is_empty() || plays.iter().any(|play| self.is_of(*play))
    }

    /// The section that it stands in.
    #[must_use]
    pub fn section(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(section, _)| section)
    }

    /// Its name in its section.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.path.rsplit_once('.').map_or(self.path, |(_, name)| name)
    }

    /// The environment variable that overrules the file: `TABLEGATE__TABLE__SITE`.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("{VARIABLES}{}", self.path.to_uppercase().replace('.', "__"))
    }

    /// What would be right, in words: "500 to 30000 (ms)".
    #[must_use]
    pub fn right(&self) -> String {
        match self.kind {
            Kind::Text | Kind::Path | Kind::Texts => {
                let (Absent::Refused(example)
                | Absent::Default(example)
                | Absent::None(example)
                | Absent::Usual(example)) = self.absent
                else {
                    return match self.kind {
                        Kind::Path => "a path from the root, in quotes".to_owned(),
                        Kind::Text | Kind::Texts | Kind::Flag | Kind::Whole { .. } | Kind::OneOf(_) => {
                            "text in quotes".to_owned()
                        }
                    };
                };
                format!("for example {} = {example}", self.name())
            }
            Kind::Flag => "true or false, without quotes".to_owned(),
            Kind::Whole { min, max, unit } => format!("a whole number from {min} to {max} ({unit}), without quotes"),
            Kind::OneOf(words) => words
                .iter()
                .map(|word| format!("\"{word}\""))
                .collect::<Vec<_>>()
                .join(" or "),
        }
    }
}

/// Environment variables that overrule the file begin so; two underscores separate section and key.
pub const VARIABLES: &str = "TABLEGATE__";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_stands_in_a_known_section_and_once() {
        for (n, key) in KEYS.iter().enumerate() {
            assert!(section(key.section()).is_some(), "{}", key.path);
            assert!(KEYS[..n].iter().all(|other| other.path != key.path), "{}", key.path);
            assert!(key.doc.ends_with('.'), "{}", key.path);
        }
    }
}
