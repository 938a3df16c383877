//! Where events are written, and whether anybody still listens.

use crate::cli::ending::Failure;
use crate::cli::new_file::{Existing, NewFile, Readers, unwritten};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Where output goes, and whether anybody still listens.
pub(super) enum Out {
    Standard(BufWriter<io::Stdout>),
    File(BufWriter<NewFile>, PathBuf),
}

/// Whether to go on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Listener {
    Here,
    Gone,
}

impl Out {
    pub(super) fn standard() -> Self {
        Out::Standard(BufWriter::new(io::stdout()))
    }

    pub(super) fn file(path: &Path, existing: Existing) -> Result<Self, Failure> {
        let file = NewFile::begin(path, existing, Readers::Usual)?;
        Ok(Out::File(BufWriter::new(file), path.to_owned()))
    }

    /// Whoever closes the pipe (`| head`) has seen enough: that is no failure.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<Listener, Failure> {
        match self {
            Out::Standard(to) => heard(to.write_all(bytes)),
            Out::File(to, path) => to
                .write_all(bytes)
                .map(|()| Listener::Here)
                .map_err(|error| unwritten(path, &error)),
        }
    }

    /// What was written so far is there.
    pub(super) fn flush(&mut self) -> Result<Listener, Failure> {
        match self {
            Out::Standard(to) => heard(to.flush()),
            Out::File(to, path) => to
                .flush()
                .map(|()| Listener::Here)
                .map_err(|error| unwritten(path, &error)),
        }
    }

    /// Everything was written.
    pub(super) fn end(mut self) -> Result<(), Failure> {
        self.flush()?;
        match self {
            Out::Standard(_) => Ok(()),
            Out::File(to, path) => {
                let file = to.into_inner().map_err(|error| unwritten(&path, error.error()))?;
                file.keep().map(|_| ())
            }
        }
    }
}

fn heard(result: io::Result<()>) -> Result<Listener, Failure> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Listener::Gone),
        other => Ok(other.map(|()| Listener::Here)?),
    }
}
