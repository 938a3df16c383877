//! The configuration: a file, environment variables over it, and defaults under it. Makes plain values for the rooms; opens no
//! port, connects to nothing.
//!
//! Two types: [`written`] is what the file may say, [`Config`] what the program may rely on, and one conversion between them
//! that reports every problem at once. Nothing is converted quietly: a value of the wrong type is refused, and so is a name that
//! isn't known. [`keys`] is the one table of all keys.

pub mod approved;
mod certificates;
mod convert;
mod effective;
pub mod keys;
mod lamp_map;
mod layers;
mod mqtt;
mod names;
mod paytable;
mod places;
mod ports;
mod problem;
mod secrets;
mod side_file;
pub mod signing_key;
mod template;
mod value;
mod written;

pub use certificates::doubts_of as doubts_of_certificates;
pub use convert::{socket, supervisor_socket};
pub use effective::{Effective, Entry};
pub use lamp_map::LAMPS_MAX;
pub use places::doubts as doubts_of_places;
pub use ports::{lamp_wait, link_t};
pub use problem::{Origin, Problem, Severity};
pub use secrets::possible_secrets;
pub use template::of as template;

use crate::control::ControlConfig;
use crate::device::PortConfig;
use crate::display::DisplayConfig;
use crate::gateway::GatewayConfig;
use crate::journal::JournalConfig;
use crate::metrics::MetricsConfig;
use crate::uplink::UplinkConfig;
use convert::Converter;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::Path;

/// What the program may rely on.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file's name without `.toml`.
    pub instance: String,
    /// For the loop.
    pub gateway: GatewayConfig,
    /// Exactly one of each kind that the game needs.
    pub ports: Vec<PortConfig>,
    /// For the floor.
    pub uplink: UplinkConfig,
    /// For the journal.
    pub journal: JournalConfig,
    /// The file of the key that signs checkpoints. [`signing_key::read`] reads it: a check by a person who may not must not fail.
    pub signing_key: Option<signing_key::Named>,
    /// For the results display; `None`: there is none.
    pub display: Option<DisplayConfig>,
    /// For Prometheus; `None`: no metrics are offered.
    pub metrics: Option<MetricsConfig>,
    /// For commands.
    pub control: ControlConfig,
}

/// All that there is to say about a configuration.
#[derive(Debug)]
pub struct Examined {
    /// The values; `None` when the configuration is refused.
    pub config: Option<Config>,
    /// Errors, then warnings, each in the order of the file.
    pub problems: Vec<Problem>,
    /// What holds, as far as it can be told.
    pub effective: Effective,
}

impl Examined {
    /// Those for which it is refused.
    pub fn errors(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(|p| p.severity == Severity::Error)
    }

    /// Those that somebody may regret.
    pub fn warnings(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(|p| p.severity == Severity::Warning)
    }
}

/// How files that the configuration names are looked at.
pub trait FileReader {
    /// The text of a regular file.
    ///
    /// # Errors
    /// What the system says; not UTF-8; too large.
    fn read(&self, path: &Path) -> io::Result<String>;

    /// It is there.
    fn exists(&self, path: &Path) -> bool;
}

/// The files of this PC.
#[derive(Clone, Copy, Debug)]
pub struct Disk;

/// Largest configuration or lamp map. A hundred times what any table needs, and no harm when read.
const FILE_MAX: u64 = 1024 * 1024;

impl FileReader for Disk {
    fn read(&self, path: &Path) -> io::Result<String> {
        // A pipe or device would block or never end.
        let found = std::fs::metadata(path).map_err(|error| {
            // Something of that name is there: it is not absent.
            if std::fs::symlink_metadata(path).is_ok() {
                io::Error::other(format!("it leads to nothing that can be opened ({error})"))
            } else {
                error
            }
        })?;
        if !found.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        let mut text = String::new();
        std::fs::File::open(path)?
            .take(FILE_MAX + 1)
            .read_to_string(&mut text)
            .map_err(|error| {
                if error.kind() == io::ErrorKind::InvalidData {
                    io::Error::other("it is not UTF-8 text")
                } else {
                    error
                }
            })?;
        if text.len() as u64 > FILE_MAX {
            return Err(io::Error::other("it is larger than 1 MiB"));
        }
        Ok(text)
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }
}

/// Environment variables by name.
pub type Variables = [(OsString, OsString)];

/// Reads the file at `path` with the variables over it.
///
/// # Errors
/// Every problem for which it is refused, and the warnings beside them.
pub fn load(path: &Path, environment: &Variables) -> Result<Config, Vec<Problem>> {
    let examined = examine(path, environment);
    examined.config.ok_or(examined.problems)
}

/// Reads the file at `path` with the variables over it, and says all that there is to say.
#[must_use]
pub fn examine(path: &Path, environment: &Variables) -> Examined {
    match Disk.read(path) {
        Ok(text) => examine_text(&text, path, environment, &Disk),
        Err(error) => Examined {
            config: None,
            problems: vec![Problem {
                key: None,
                ..Problem::error(
                    Origin::File {
                        path: path.to_owned(),
                        line: None,
                    },
                    "",
                    format!("can't be read: {error}"),
                    "a readable file; `tablegate config template tai-sai` prints one to begin with",
                )
            }],
            effective: Effective::default(),
        },
    }
}

/// As [`examine`], of a text that would stand at `path`.
#[must_use]
pub fn examine_text(text: &str, path: &Path, environment: &Variables, files: &dyn FileReader) -> Examined {
    let instance = instance(path);
    let mut problems = Vec::new();
    let layers = layers::read(text, path, environment, &mut problems);
    let written = match written::overlay(&layers) {
        Ok(written) => written,
        Err(error) => {
            // The table of keys and the written type differ: a defect of this program, told as such.
            let file = Origin::File {
                path: path.to_owned(),
                line: None,
            };
            problems.push(Problem::error(
                file,
                "",
                format!("can't be put together: {error}"),
                "a report to the supplier",
            ));
            written::Written::default()
        }
    };
    let mut effective = Effective::of(&layers, &written, &instance);
    let config = Converter {
        instance: &instance,
        file: path,
        layers: &layers,
        files,
        problems: &mut problems,
    }
    .convert(&written);
    // The daemon starts all the same, to tell the floor of it: the table is frozen then.
    let (approval, doubts) = approved::read(path, files);
    problems.extend(doubts.into_iter().map(|doubt| Problem {
        severity: Severity::Warning,
        ..doubt
    }));
    problems.sort_by(|a, b| (a.severity, &a.origin, &a.key).cmp(&(b.severity, &b.origin, &b.key)));
    let refused = problems.iter().any(|p| p.severity == Severity::Error);
    let config = config.filter(|_| !refused).map(|mut config| {
        effective.set_game(&config.gateway.game.game);
        config.gateway.config_sha256 = effective.sha256();
        config.gateway.config_text = effective.canonical();
        config.gateway.approval = approval;
        config
    });
    Examined {
        config,
        problems,
        effective,
    }
}

/// The instance that a configuration file is of: its name without `.toml`.
#[must_use]
pub fn instance(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
