//! What is wrong with a configuration, for a person and for scripts.

use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The configuration is refused.
    Error,
    /// It works, and somebody may regret it.
    Warning,
}

/// Where a value was written.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Origin {
    /// In a file.
    File {
        /// The file.
        path: PathBuf,
        /// From 1; `None` for what a file as a whole lacks or is.
        line: Option<usize>,
    },
    /// In the environment.
    Environment {
        /// The variable.
        name: String,
    },
    /// Nowhere: it is what the key is when nobody writes it.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File { path, line: Some(line) } => write!(f, "{}:{line}", path.display()),
            Origin::File { path, line: None } => write!(f, "{}", path.display()),
            Origin::Environment { name } => write!(f, "environment {name}"),
            Origin::Default => f.write_str("default"),
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// Where it stands, or should stand.
    pub origin: Origin,
    /// The key or section; `None` when the file as a whole is meant.
    pub key: Option<String>,
    /// What is wrong.
    pub wrong: String,
    /// What would be right.
    pub right: String,
}

impl Problem {
    /// Something for which the configuration is refused.
    pub fn error(origin: Origin, key: &str, wrong: impl Into<String>, right: impl Into<String>) -> Problem {
        Problem {
            severity: Severity::Error,
            origin,
            key: Some(key.to_owned()),
            wrong: wrong.into(),
            right: right.into(),
        }
    }

    /// Something that works and may be regretted.
    pub fn warning(origin: Origin, key: &str, wrong: impl Into<String>, right: impl Into<String>) -> Problem {
        Problem {
            severity: Severity::Warning,
            ..Problem::error(origin, key, wrong, right)
        }
    }
}

impl fmt::Display for Problem {
    /// `TS-07.toml:12: tai_sai.rest_ms is 100, below 500; right: a whole number from 500 to 30000 (ms)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.origin)?;
        if let Some(key) = &self.key {
            write!(f, "{key} ")?;
        }
        write!(f, "{}; right: {}", self.wrong, self.right)
    }
}

impl std::error::Error for Problem {}
