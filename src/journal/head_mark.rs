//! A note of the newest event, in a small file beside the journal. SQLite drops the end of a damaged WAL without a word, and a damaged
//! page can hide the newest rows; the note tells. It is written after each append without a sync, so it may be old after a power cut, but
//! it is never ahead of what was durable.

use super::Seqno;
use super::row::Mark;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// What the note says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Noted {
    pub(super) journal_id: String,
    pub(super) head: Mark,
}

fn file(directory: &Path) -> PathBuf {
    directory.join("journal.head")
}

/// Where the note of a journal is kept that was moved aside to `path`.
fn kept(path: &Path) -> PathBuf {
    path.with_extension("head")
}

/// Moves the note along with its journal, to `path`. Without one nothing happens.
pub(super) fn move_along(directory: &Path, path: &Path) -> std::io::Result<()> {
    match std::fs::rename(file(directory), kept(path)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Reads the note of the journal in use; one that is damaged counts as none.
pub(super) fn read(directory: &Path) -> Option<Noted> {
    read_file(&file(directory))
}

/// Reads the note of a journal that was moved aside to `path`.
pub(super) fn read_kept(path: &Path) -> Option<Noted> {
    read_file(&kept(path))
}

fn read_file(path: &Path) -> Option<Noted> {
    let text = std::fs::read_to_string(path).ok()?;
    let (said, check) = text.trim_end().rsplit_once(' ')?;
    if check != self::check(said) {
        return None;
    }
    let mut fields = said.split(' ');
    let journal_id = fields.next()?.to_owned();
    let seqno: Seqno = fields.next()?.parse().ok()?;
    let sha256 = from_hex(fields.next()?)?;
    Some(Noted {
        journal_id,
        head: Mark { seqno, sha256 },
    })
}

/// Writes it, always the same length, in place.
pub(super) struct Writer {
    file: Option<File>,
    journal_id: String,
    text: String,
}

impl Writer {
    /// A note that can't be written is missed, not needed: a warning, once.
    pub(super) fn open(directory: &Path, journal_id: &str) -> Self {
        let file = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(file(directory));
        let file = file
            .inspect_err(|error| tracing::warn!(%error, "the journal's head can't be noted beside it"))
            .ok();
        Writer {
            file,
            journal_id: journal_id.to_owned(),
            text: String::new(),
        }
    }

    pub(super) fn note(&mut self, head: Mark) {
        use std::fmt::Write;
        let Some(file) = &self.file else { return };
        self.text.clear();
        // Writing to a String cannot fail.
        let _ = write!(self.text, "{} {:020} ", self.journal_id, head.seqno);
        push_hex(&mut self.text, &head.sha256);
        let check = check(&self.text);
        let _ = writeln!(self.text, " {check}");
        if let Err(error) = file.write_all_at(self.text.as_bytes(), 0) {
            tracing::warn!(%error, "the journal's head could not be noted beside it");
            self.file = None;
        }
    }
}

fn check(said: &str) -> String {
    let hash: [u8; 32] = Sha256::digest(said.as_bytes()).into();
    let mut hex = String::with_capacity(64);
    push_hex(&mut hex, &hash);
    hex.truncate(16);
    hex
}

fn push_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        for nibble in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
        }
    }
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (byte, at) in bytes.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_read_and_damage_is_no_note() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(read(directory.path()), None);
        let id = uuid::Uuid::new_v4().to_string();
        let mut writer = Writer::open(directory.path(), &id);
        writer.note(Mark {
            seqno: 4_711_000,
            sha256: [0xA5; 32],
        });
        writer.note(Mark {
            seqno: 12,
            sha256: [7; 32],
        });
        let good = std::fs::read(file(directory.path())).unwrap();
        assert_eq!(
            read(directory.path()),
            Some(Noted {
                journal_id: id,
                head: Mark {
                    seqno: 12,
                    sha256: [7; 32]
                }
            })
        );
        for at in 0..good.len() - 1 {
            let mut bad = good.clone();
            bad[at] ^= 1;
            std::fs::write(file(directory.path()), bad).unwrap();
            assert_eq!(read(directory.path()), None, "byte {at}");
        }
    }
}
