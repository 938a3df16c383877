//! What is written where: the file, then the environment over it. Checks every name and type, and reports each that is wrong.

use super::keys::{self, Absent, Key, Play, Presence, SECTIONS, VARIABLES};
use super::names;
use super::problem::{Origin, Problem};
use super::side_file::line_of;
use super::value::{Value, from_environment, from_toml, shown};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Values of one layer, each with the place where it is written.
pub type Layer = BTreeMap<&'static str, (Value, Origin)>;

/// All that is written, checked by itself.
#[derive(Debug, Default)]
pub struct Layers {
    /// From the file.
    pub file: Layer,
    /// From the environment.
    pub environment: Layer,
    /// Sections of which something is written, even if it is wrong.
    sections: BTreeSet<String>,
    /// Keys that are written, and wrong: they are not missing.
    wrong: BTreeSet<&'static str>,
}

/// Most problems that are reported of one file: beyond that it is no configuration.
const PROBLEMS_MAX: usize = 200;

/// Reads both layers. What is wrong goes to `problems`, and not into the layers.
pub fn read(text: &str, path: &Path, environment: &[(OsString, OsString)], problems: &mut Vec<Problem>) -> Layers {
    let mut layers = Layers::default();
    let (table, errors) = DeTable::parse_recoverable(text);
    let file = |line: Option<usize>| Origin::File {
        path: path.to_owned(),
        line,
    };
    // One slip makes the parser stumble over and over on its line: that is said once.
    let mut said = BTreeSet::new();
    for error in errors.iter().take(PROBLEMS_MAX) {
        let line = error.span().map(|span| line_of(text, span.start));
        if !said.insert((line, error.message())) {
            continue;
        }
        problems.push(Problem {
            key: None,
            ..Problem::error(
                file(line),
                "",
                format!("is no TOML here: {}", error.message()),
                "key = value, a line each, under its [section]",
            )
        });
    }
    // A file that is broken somewhere may be misread anywhere: what is missing or odd in it is reported once it can be read.
    if errors.is_empty() {
        layers.walk(
            table.get_ref(),
            "",
            &|offset| file(Some(line_of(text, offset))),
            problems,
        );
    }
    layers.read_environment(environment, problems);
    if errors.is_empty() {
        layers.report_missing(&file(None), problems);
    }
    problems.truncate(PROBLEMS_MAX);
    layers
}

/// What a name is.
enum Known {
    Key(&'static Key),
    Section,
    Refused(&'static str),
    Nothing,
}

fn known(path: &str) -> Known {
    if let Some(reason) = names::refused(path) {
        Known::Refused(reason)
    } else if let Some(key) = keys::key(path) {
        Known::Key(key)
    } else if keys::is_section(path) {
        Known::Section
    } else {
        Known::Nothing
    }
}

/// A name that isn't known. `spelled` writes a known one as it would be written there.
fn unknown(origin: Origin, path: &str, spelled: &dyn Fn(&str) -> String) -> Problem {
    let right = match names::nearest(path) {
        Some(near) => match names::refused(near) {
            Some(reason) => format!("{near}? {reason}"),
            None => format!("{}?", spelled(near)),
        },
        None => format!("a key that `tablegate config template {}` lists", keys::GAMES.join("|")),
    };
    let what = if path.contains('.') { "key" } else { "name" };
    Problem::error(origin, path, format!("is no {what} that is known"), right)
}

fn as_variable(path: &str) -> String {
    keys::key(path).map_or_else(|| format!("{VARIABLES}{}__KEY", path.to_uppercase()), Key::variable)
}

impl Layers {
    fn walk(
        &mut self,
        table: &DeTable<'_>,
        under: &str,
        origin: &dyn Fn(usize) -> Origin,
        problems: &mut Vec<Problem>,
    ) {
        for (name, value) in table {
            // More would be cut off anyway; a file of nothing but wrong keys must not take minutes to refuse.
            if problems.len() >= PROBLEMS_MAX {
                return;
            }
            let origin_here = origin(name.span().start);
            let path = match under {
                // A dot inside a name would look like a section.
                _ if name.get_ref().contains('.') => {
                    let written = format!(
                        "{under}{}{}",
                        if under.is_empty() { "" } else { "." },
                        shown(name.get_ref())
                    );
                    problems.push(unknown(origin_here, &written, &str::to_owned));
                    continue;
                }
                "" => name.get_ref().to_string(),
                under => format!("{under}.{}", name.get_ref()),
            };
            match known(&path) {
                Known::Refused(reason) => {
                    problems.push(Problem::error(origin_here, &path, "is refused", reason));
                }
                Known::Nothing => problems.push(unknown(origin_here, &path, &str::to_owned)),
                Known::Section => {
                    self.sections.insert(path.clone());
                    if let DeValue::Table(inner) = value.get_ref() {
                        self.walk(inner, &path, origin, problems);
                    } else {
                        problems.push(Problem::error(
                            origin_here,
                            &path,
                            "is a section and has no value of its own",
                            format!("[{path}] on a line by itself, its keys below"),
                        ));
                    }
                }
                Known::Key(key) => self.take_written(key, value, origin_here, problems),
            }
        }
    }

    fn take_written(
        &mut self,
        key: &'static Key,
        value: &Spanned<DeValue<'_>>,
        origin: Origin,
        problems: &mut Vec<Problem>,
    ) {
        match from_toml(key, value.get_ref()) {
            Ok(value) => {
                self.file.insert(key.path, (value, origin));
            }
            Err(wrong) => {
                self.wrong.insert(key.path);
                problems.push(Problem::error(origin, key.path, wrong, right(key)));
            }
        }
    }

    fn read_environment(&mut self, environment: &[(OsString, OsString)], problems: &mut Vec<Problem>) {
        for (name, value) in environment {
            // A name that isn't UTF-8 is shown with its odd bytes replaced, and is no key.
            let name = name.to_string_lossy();
            let Some(rest) = name.strip_prefix(VARIABLES) else {
                continue;
            };
            let name = name.as_ref();
            let origin = Origin::Environment { name: name.to_owned() };
            let path = rest.replace("__", ".").to_lowercase();
            if let Some(reason) = names::refused(&path) {
                problems.push(Problem::error(origin, &path, "is refused", reason));
                continue;
            }
            let Some(key) = keys::key(&path).filter(|key| key.variable() == name) else {
                problems.push(unknown(origin, &path, &as_variable));
                continue;
            };
            self.sections.insert(key.section().to_owned());
            let value = value
                .to_str()
                .ok_or_else(|| "is not UTF-8".to_owned())
                .and_then(|value| from_environment(key, value));
            match value {
                Ok(value) => {
                    self.environment.insert(key.path, (value, origin));
                }
                Err(wrong) => {
                    self.wrong.insert(key.path);
                    problems.push(Problem::error(origin, key.path, wrong, right(key)));
                }
            }
        }
    }

    /// The section is there: written, or always.
    pub fn has_section(&self, path: &str) -> bool {
        self.sections.contains(path)
    }

    /// It is written, and was refused already: then it isn't missing.
    pub fn is_wrong(&self, key: &str) -> bool {
        self.wrong.contains(key)
    }

    /// What is written of `key`, the environment first.
    pub fn written(&self, key: &str) -> Option<&(Value, Origin)> {
        self.environment.get(key).or_else(|| self.file.get(key))
    }

    /// What the table can play by what is written; nothing when its game is wrong.
    pub fn plays(&self) -> Vec<Play> {
        if self.is_wrong("table.game") {
            return Vec::new();
        }
        Play::possible(&|key| match self.written(key) {
            Some((Value::Text(word), _)) => Some(word.as_str()),
            Some((Value::Flag(_) | Value::Whole(_) | Value::Texts(_), _)) | None => None,
        })
    }

    fn report_missing(&self, origin: &Origin, problems: &mut Vec<Problem>) {
        let plays = self.plays();
        for section in SECTIONS {
            let there = self.has_section(section.path);
            if there && section.is_out_of_place(&plays) {
                problems.push(out_of_place(self.place_of(section.path, origin), section.path, &plays));
            } else if !there && section.presence_among(&plays) == Some(Presence::Needed) {
                let needed: Vec<_> = keys::keys_of(section.path)
                    .filter(|key| key.is_of_some(&plays))
                    .filter_map(|key| match key.absent {
                        Absent::Refused(example) => Some(format!("{} = {example}", key.name())),
                        Absent::Default(_) | Absent::Follows(_) | Absent::None(_) | Absent::Usual(_) => None,
                    })
                    .collect();
                problems.push(Problem::error(
                    origin.clone(),
                    section.path,
                    "is missing, a section that has to be there",
                    format!("[{}] with {}", section.path, needed.join(", ")),
                ));
            } else if there {
                self.report_missing_keys(section.path, origin, problems);
                self.report_odd_keys(section.path, &plays, problems);
            }
        }
    }

    /// Keys of a section that the table has, and that are of other tables.
    fn report_odd_keys(&self, section: &'static str, plays: &[Play], problems: &mut Vec<Problem>) {
        for key in keys::keys_of(section).filter(|key| !key.is_of_some(plays)) {
            if let Some((_, origin)) = self.written(key.path) {
                problems.push(Problem::error(
                    origin.clone(),
                    key.path,
                    format!("is no key of a table that plays {}", words(plays)),
                    "without it",
                ));
            }
        }
    }

    /// Where something of this section is written; the file as a whole when all of it is wrong.
    fn place_of(&self, section: &'static str, file: &Origin) -> Origin {
        let places = keys::keys_of(section).filter_map(|key| self.written(key.path));
        places
            .map(|(_, origin)| origin.clone())
            .min()
            .unwrap_or_else(|| file.clone())
    }

    fn report_missing_keys(&self, section: &'static str, origin: &Origin, problems: &mut Vec<Problem>) {
        for key in keys::keys_of(section) {
            let there = self.written(key.path).is_some() || self.wrong.contains(key.path);
            if let (Absent::Refused(example), false) = (key.absent, there) {
                problems.push(Problem::error(
                    origin.clone(),
                    key.path,
                    format!("is missing in [{section}]"),
                    format!("for example {} = {example}", key.name()),
                ));
            }
        }
    }
}

/// A section that another game's table has.
fn out_of_place(origin: Origin, section: &str, plays: &[Play]) -> Problem {
    let devices: Vec<_> = SECTIONS
        .iter()
        .filter(|section| !section.is_out_of_place(plays))
        .filter_map(|section| section.path.strip_prefix("devices."))
        .collect();
    Problem::error(
        origin,
        section,
        format!("is no section of a table that plays {}", words(plays)),
        if section.starts_with("devices.") {
            format!("the devices of such a table alone: {}", devices.join(", "))
        } else {
            "without it, or [table] with the game that it is of".to_owned()
        },
    )
}

/// For a person: "tai-sai style A or tai-sai style B".
fn words(plays: &[Play]) -> String {
    let words: Vec<_> = plays.iter().map(|play| play.words()).collect();
    words.join(" or ")
}

/// What would be right for this key.
fn right(key: &Key) -> String {
    match key.path {
        "mqtt.brokers" | "mqtt.response_prefixes" => format!("a list of texts, {}", key.right()),
        _ => key.right(),
    }
}
