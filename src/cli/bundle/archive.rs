//! The archive: parts in memory, listed before anything is written, then sealed as one `.tar.gz`.

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// A part of the bundle.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Part {
    /// Its file's name.
    pub name: String,
    /// Its size.
    pub bytes: usize,
    /// What it is, for the person who sends it.
    pub what: String,
    /// What stands in it.
    #[serde(skip)]
    pub content: Vec<u8>,
}

/// What a bundle should have and doesn't.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Missing {
    /// What it would be.
    pub what: String,
    /// Why it isn't there.
    pub why: String,
}

/// The parts of a bundle.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Contents {
    /// What is there.
    pub parts: Vec<Part>,
    /// What isn't.
    pub missing: Vec<Missing>,
}

impl Contents {
    /// A part is there.
    pub fn add(&mut self, name: &str, what: &str, content: impl Into<Vec<u8>>) {
        let content = content.into();
        self.parts.push(Part {
            name: name.to_owned(),
            bytes: content.len(),
            what: what.to_owned(),
            content,
        });
    }

    /// A part isn't.
    pub fn lacks(&mut self, what: &str, why: impl Into<String>) {
        self.missing.push(Missing {
            what: what.to_owned(),
            why: why.into(),
        });
    }

    /// Names, sizes, and what each is; what is missing, and why.
    pub fn list(&self) -> String {
        let widest = self.parts.iter().map(|part| part.name.len()).max().unwrap_or(0);
        let mut text = String::new();
        for part in &self.parts {
            let line = format!("  {:<widest$}  {:>8} bytes  {}\n", part.name, part.bytes, part.what);
            text.push_str(&line);
        }
        for missing in &self.missing {
            text.push_str(&format!("  missing: {} ({})\n", missing.what, missing.why));
        }
        text
    }

    /// Writes everything into `file`, in a folder of this name.
    ///
    /// # Errors
    /// As the file has them.
    pub fn seal<W: Write>(&self, file: W, folder: &str, unix_s: u64) -> io::Result<W> {
        let mut archive = tar::Builder::new(GzEncoder::new(file, Compression::default()));
        for part in &self.parts {
            let mut header = tar::Header::new_gnu();
            header.set_size(u64::try_from(part.bytes).unwrap_or(u64::MAX));
            header.set_mode(0o600);
            header.set_mtime(unix_s);
            let path = Path::new(folder).join(&part.name);
            archive.append_data(&mut header, path, part.content.as_slice())?;
        }
        archive.into_inner()?.finish()
    }
}
