//! How commands end and print: exit statuses in one place, and output that survives a closed pipe.

use super::live::hanging;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Why a command did not do what it was asked. Its text goes to standard error after "error: ".
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// What kind of failure it is, for scripts.
    pub status: Status,
    /// What is wrong and what would be right, for a person. May have several lines.
    pub text: String,
}

/// What scripts can rely on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// 1: it was tried and did not succeed.
    Failed,
    /// 2: it was asked for in a way that can't be understood.
    Usage,
    /// 3: the configuration is refused.
    Configuration,
    /// 4: the journal was written by a newer version.
    NewerJournal,
}

impl Status {
    /// The exit status.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Status::Failed => 1,
            Status::Usage => 2,
            Status::Configuration => 3,
            Status::NewerJournal => 4,
        }
    }
}

impl Failure {
    /// Exit status 1.
    pub fn failed(text: impl Into<String>) -> Failure {
        Failure {
            status: Status::Failed,
            text: text.into(),
        }
    }

    /// Exit status 2.
    pub fn usage(text: impl Into<String>) -> Failure {
        Failure {
            status: Status::Usage,
            text: text.into(),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::failed(error.to_string())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::failed(format!("{error:#}"))
    }
}

/// The exit status of a command, after its failure was told on standard error.
pub fn end(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // Nobody is left to be told when standard error is closed.
            let _ = writeln!(io::stderr(), "error: {}", failure.text);
            ExitCode::from(failure.status.code())
        }
    }
}

/// The exit status of a command line that asks for nothing to be done (help, version), or that can't be understood. Help that
/// can't be written was not given.
pub fn end_at_once(said: &clap::Error) -> ExitCode {
    let written = said.print().and_then(|()| io::stdout().flush());
    match written {
        Err(error) if !said.use_stderr() && error.kind() != io::ErrorKind::BrokenPipe => end(Err(error.into())),
        Ok(()) | Err(_) => ExitCode::from(u8::try_from(said.exit_code()).unwrap_or(1)),
    }
}

/// Writes `text` as it is to standard output. Whoever closes the pipe (`| head`) has seen enough: that is no failure.
///
/// # Errors
/// Any other error of standard output, as on a full disk.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Writes a value as indented JSON with a line break at its end.
///
/// # Errors
/// As [`print()`].
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(value).map_err(|e| Failure::failed(e.to_string()))?;
    text.push('\n');
    print(&text)
}

/// Standard output is a terminal and nobody asked for no colour.
#[must_use]
pub fn in_colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A text for a person as the terminal has room for it: lines break at spaces. Anywhere but on a terminal it stays as it is.
#[must_use]
pub fn for_terminal(text: &str) -> String {
    let size = terminal_size::terminal_size_of(io::stdout()).filter(|_| io::stdout().is_terminal());
    let Some((terminal_size::Width(width @ 1..), _)) = size else {
        return text.to_owned();
    };
    let lines = text.lines().flat_map(|line| hanging(line, usize::from(width)));
    let mut broken = lines.collect::<Vec<_>>().join("\n");
    if text.ends_with('\n') {
        broken.push('\n');
    }
    broken
}

/// Asks `question` at the terminal; true for yes.
///
/// # Errors
/// `without` as wrong usage, when there is no terminal to ask on.
pub fn confirmed(question: &str, without: &str) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::usage(without));
    }
    print(question)?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
