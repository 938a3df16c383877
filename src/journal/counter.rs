//! The connection counter: a small file beside the journal, so that it outlives a journal that is moved aside.

use crate::failpoint::{Point, pass};
use crate::time::Timestamp;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Digits of the largest number: the file never changes its length, so that a full disk can't refuse it.
const DIGITS: usize = 20;

/// `Status.connection`, durable, never lower than before.
pub(super) struct Counter {
    file: std::io::Result<File>,
    last: u64,
    /// What the file says may be lower.
    is_unwritten: bool,
}

/// The next number for a gateway that can't write its journal: what the counter's file says plus one. It is kept if the disk takes it, and the
/// file's length never changes, so a full disk takes it. Only for who holds, or could not take, the journal's lock.
pub fn count_connection(directory: &Path, now: Timestamp) -> u64 {
    Counter::open(directory, now).next(0)
}

impl Counter {
    /// Reads it; when that can't be done, the wall clock in milliseconds stands in: higher than any count.
    pub(super) fn open(directory: &Path, now: Timestamp) -> Self {
        let path = directory.join("connection.count");
        let stand_in = u64::try_from(now.as_unix_micros() / 1000).unwrap_or(0);
        let found = path.exists();
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path);
        let last = match &file {
            Ok(file) if found => {
                let mut text = String::new();
                let mut reader: &File = file;
                let number = reader
                    .read_to_string(&mut text)
                    .ok()
                    .and_then(|_| text.trim().parse().ok());
                number.unwrap_or(stand_in)
            }
            Ok(_) => 0,
            Err(_) => stand_in,
        };
        Counter {
            file,
            last,
            is_unwritten: false,
        }
    }

    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// The next number, written and synced, or written later: a number is needed while the disk fails, too.
    pub(super) fn next(&mut self, at_least: u64) -> u64 {
        self.last = self.last.saturating_add(1).max(at_least);
        if let Err(error) = self.write() {
            tracing::warn!(%error, connection = self.last, "the connection counter could not be written");
        }
        pass(Point::ConnectionCounted);
        self.last
    }

    /// The newest number isn't on the disk: the next run would use it again.
    pub(super) fn is_unwritten(&self) -> bool {
        self.is_unwritten
    }

    /// Writes what could not be written before.
    ///
    /// # Errors
    /// The disk still fails.
    pub(super) fn write_again(&mut self) -> std::io::Result<()> {
        if self.is_unwritten { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> std::io::Result<()> {
        let text = format!("{:0DIGITS$}\n", self.last);
        let written = match &self.file {
            Ok(file) => file.write_all_at(text.as_bytes(), 0).and_then(|()| file.sync_all()),
            Err(error) => Err(std::io::Error::from(error.kind())),
        };
        self.is_unwritten = written.is_err() && self.file.is_ok();
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_unix_micros(1_760_000_000_000_000);

    #[test]
    fn it_never_goes_back() {
        let directory = tempfile::tempdir().unwrap();
        let mut counter = Counter::open(directory.path(), NOW);
        assert_eq!(counter.last(), 0);
        assert_eq!(
            (counter.next(0), counter.next(0), counter.next(10), counter.next(4)),
            (1, 2, 10, 11)
        );
        let mut again = Counter::open(directory.path(), NOW);
        assert_eq!((again.last(), again.next(0)), (11, 12));
    }

    #[test]
    fn what_could_not_be_written_is_written_when_it_can_be() {
        let directory = tempfile::tempdir().unwrap();
        let mut counter = Counter::open(directory.path(), NOW);
        counter.next(0);
        // A file that takes nothing, as on a disk that fails.
        let path = directory.path().join("connection.count");
        let sound = std::mem::replace(&mut counter.file, File::open(&path));
        assert_eq!(
            (counter.next(0), counter.next(9)),
            (2, 9),
            "a connection has its number all the same"
        );
        assert!(counter.is_unwritten() && counter.write_again().is_err());
        counter.file = sound;
        counter.write_again().unwrap();
        assert!(!counter.is_unwritten());
        assert_eq!(Counter::open(directory.path(), NOW).next(0), 10);
    }

    #[test]
    fn who_has_no_journal_counts_on_from_the_same_file() {
        let directory = tempfile::tempdir().unwrap();
        Counter::open(directory.path(), NOW).next(41);
        assert_eq!(count_connection(directory.path(), NOW), 42);
        assert_eq!(Counter::open(directory.path(), NOW).next(0), 43);
        let gone = directory.path().join("gone");
        assert_eq!(count_connection(&gone, NOW), 1_760_000_000_001, "it can't be read");
    }

    #[test]
    fn an_unreadable_one_gives_way_to_the_clock() {
        for damage in ["", "x\n", "-3"] {
            let directory = tempfile::tempdir().unwrap();
            Counter::open(directory.path(), NOW).next(7);
            std::fs::write(directory.path().join("connection.count"), damage).unwrap();
            let mut counter = Counter::open(directory.path(), NOW);
            assert_eq!(counter.next(0), 1_760_000_000_001, "{damage:?}");
        }
    }
}
