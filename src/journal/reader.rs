//! Reads a journal without changing anything: beside a running daemon, of another user, of a copy. Every call is a read transaction of its
//! own that is over when it returns, so that a reader who takes hours never keeps the WAL from shrinking.

use super::chain::{self, BadRecord};
use super::error::StoreError;
use super::files::beside;
use super::row::{Identity, Mark, MovedAside};
use super::store::{Sharing, View};
use super::{Record, Seqno};
use crate::table::event::Head;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How often a call starts again because a daemon opened or closed the journal meanwhile.
const REOPENS: usize = 5;

/// Why a journal can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// No such file.
    #[error("there is no journal at {}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A newer program made it. Exit status 4.
    #[error("{} has layout {found}; this program knows layouts up to {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its layout.
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
    /// Its daemon was killed, and we may not write where SQLite has to sort the WAL out.
    #[error(
        "{} was not closed cleanly: start its daemon, read it as its user, or copy it together with the file that ends in -wal",
        path.display()
    )]
    NotClosed {
        /// The file.
        path: PathBuf,
        /// What could not be done.
        #[source]
        source: StoreError,
    },
    /// One event of it can't be used.
    #[error("event {seqno} of {} is damaged", path.display())]
    Event {
        /// The file.
        path: PathBuf,
        /// Which.
        seqno: Seqno,
        /// What is wrong with it.
        #[source]
        source: BadRecord,
    },
    /// Anything else.
    #[error("cannot read the journal {}", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// What could not be done.
        #[source]
        source: StoreError,
    },
}

impl ReadError {
    /// What was written is gone or is something else: another read finds nothing better. Else a later one may succeed.
    #[must_use]
    pub fn is_of_contents(&self) -> bool {
        match self {
            ReadError::Missing { .. } | ReadError::Event { .. } => true,
            ReadError::Newer { .. } | ReadError::NotClosed { .. } => false,
            ReadError::Store { source, .. } => matches!(source, StoreError::Damaged { .. }),
        }
    }
}

/// What a damaged journal still has in a range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Readable {
    /// What could be read, in order, with gaps where it could not.
    pub records: Vec<Record>,
    /// Where to go on; above `to` when the range is done.
    pub next: Seqno,
}

/// A journal's particulars.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Infos {
    /// Whose it is.
    pub identity: Identity,
    /// Its oldest event; 0: empty.
    pub oldest: Seqno,
    /// Its newest event.
    pub head: Head,
    /// Highest seqno up to which a broker acknowledged everything.
    pub cursor: Seqno,
    /// Its newest checkpoint.
    pub checkpoint: Option<Seqno>,
    /// Up to which event retention has deleted.
    pub expired_through: Option<Seqno>,
    /// Older journals in the same directory and how far they are delivered.
    pub moved_aside: Vec<MovedAside>,
    /// Bytes of the database file.
    pub file_bytes: u64,
    /// Bytes of the WAL beside it.
    pub wal_bytes: u64,
}

/// A read-only look at a journal's file.
pub struct Reader {
    path: PathBuf,
    identity: Identity,
    view: View,
    sharing: Sharing,
    stamp: Stamp,
}

/// What changes when a daemon opens, closes or replaces the file.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    length: u64,
    modified: (i64, i64),
    wal: u64,
}

impl Stamp {
    /// From `stat` alone: opening and closing the database file here would drop the locks that this process holds on it.
    fn of(path: &Path) -> Self {
        let wal = std::fs::metadata(beside(path, "-wal")).map_or(0, |metadata| metadata.len());
        match std::fs::metadata(path) {
            Ok(found) => Stamp {
                inode: found.ino(),
                length: found.len(),
                modified: (found.mtime(), found.mtime_nsec()),
                wal: wal.min(1),
            },
            Err(_) => Stamp {
                inode: 0,
                length: 0,
                modified: (0, 0),
                wal: wal.min(1),
            },
        }
    }

    fn sharing(self) -> Sharing {
        if self.wal == 0 {
            Sharing::Settled
        } else {
            Sharing::Shared
        }
    }
}

impl Reader {
    /// Opens the journal's file at `path`.
    ///
    /// # Errors
    /// [`ReadError`]; a file whose identity is damaged can't be opened.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let stamp = Stamp::of(path);
        let view = look(path, stamp)?;
        let identity = view.identity().map_err(|error| failed(path, error))?;
        Ok(Reader {
            path: path.to_owned(),
            identity,
            view,
            sharing: stamp.sharing(),
            stamp,
        })
    }

    /// UUID of the journal.
    #[must_use]
    pub fn journal_id(&self) -> &str {
        &self.identity.journal_id
    }

    /// Whose journal it is.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether another file lies at the path now: the journal was moved aside, and a new one begun.
    #[must_use]
    pub fn is_replaced(&self) -> bool {
        Stamp::of(&self.path).inode != self.stamp.inode
    }

    /// The newest event; seqno 0 and 32 zero bytes in an empty journal.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn head(&mut self) -> Result<Head, ReadError> {
        let mark = self.read(View::head)?;
        Ok(self.to_head(mark))
    }

    /// The oldest event's number; 0 in an empty journal.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn oldest(&mut self) -> Result<Seqno, ReadError> {
        self.read(|view| view.oldest().map(|mark| mark.seqno))
    }

    /// Highest seqno up to which a broker acknowledged everything, as written last (a second behind at most).
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn cursor(&mut self) -> Result<Seqno, ReadError> {
        self.read(|view| view.cursor().map(|mark| mark.seqno))
    }

    /// SHA-256 that is stored with an event.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn sha256(&mut self, seqno: Seqno) -> Result<Option<[u8; 32]>, ReadError> {
        self.read(|view| view.mark(seqno).map(|mark| mark.map(|mark| mark.sha256)))
    }

    /// Particulars for a person.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn infos(&mut self) -> Result<Infos, ReadError> {
        let directory = match self.path.parent() {
            Some(parent) => parent.to_owned(),
            None => PathBuf::new(),
        };
        let head = self.head()?;
        Ok(Infos {
            identity: self.identity.clone(),
            oldest: self.oldest()?,
            head,
            cursor: self.cursor()?,
            checkpoint: self.read(|view| view.checkpoint_below(Seqno::MAX))?,
            expired_through: self.read(View::expired)?.map(|expired| expired.through.seqno),
            moved_aside: self.read(|view| view.moved_aside(&directory))?,
            file_bytes: std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len()),
            wal_bytes: std::fs::metadata(beside(&self.path, "-wal")).map_or(0, |metadata| metadata.len()),
        })
    }

    /// At most `max` events from `from` to `to`, both included, without gaps and with their bytes checked against their hashes. Begins with
    /// the oldest event when `from` lies before it; ends before the first event that is damaged.
    ///
    /// # Errors
    /// [`ReadError::Event`] when the first event of the page is damaged or missing though younger ones are there.
    pub fn page(&mut self, from: Seqno, to: Seqno, max: usize) -> Result<Vec<Record>, ReadError> {
        let mut records = self.read(|view| view.page(from, to, max))?;
        let Some(first) = records.first().map(|record| record.seqno) else {
            return self.nothing(from, to);
        };
        let mut expected = from;
        if first > from {
            expected = from.max(self.oldest()?);
        }
        let mut bad = None;
        let good = records
            .iter()
            .take_while(|record| {
                bad = whats_wrong(record, expected, &self.identity.journal_id);
                expected = expected.saturating_add(1);
                bad.is_none()
            })
            .count();
        match bad {
            Some(source) if good == 0 => Err(ReadError::Event {
                path: self.path.clone(),
                seqno: expected - 1,
                source,
            }),
            Some(_) | None => {
                records.truncate(good);
                Ok(records)
            }
        }
    }

    /// Nothing was found from `from` to `to`: that is right before the oldest event and behind the newest.
    fn nothing(&mut self, from: Seqno, to: Seqno) -> Result<Vec<Record>, ReadError> {
        let (oldest, newest) = self.read(|view| Ok((view.oldest()?.seqno, view.head()?.seqno)))?;
        if from > to || from > newest || to < oldest {
            return Ok(Vec::new());
        }
        let seqno = from.max(oldest);
        let next = self.read(|view| view.page(seqno, Seqno::MAX, 1))?;
        if next.first().is_some_and(|record| record.seqno == seqno) {
            // It was appended after the first look.
            return Ok(Vec::new());
        }
        Err(ReadError::Event {
            path: self.path.clone(),
            seqno,
            source: BadRecord::Missing {
                expected: seqno,
                found: next.first().map_or(newest, |record| record.seqno),
            },
        })
    }

    /// As [`Reader::page`], but steps over what is damaged: for journals that were moved aside. Ends before what a disk doesn't give: that
    /// says nothing of what is written there.
    ///
    /// # Errors
    /// [`ReadError`], when the first read failed and nothing is known of what is written there.
    pub fn readable(&mut self, from: Seqno, to: Seqno, max: usize) -> Result<Readable, ReadError> {
        let span = Seqno::try_from(max).unwrap_or(Seqno::MAX);
        let last = to.min(from.saturating_add(span.saturating_sub(1)));
        let next = last.saturating_add(1);
        if let Ok(records) = self.read(|view| view.page(from, last, max)) {
            let records = records
                .into_iter()
                .filter(|record| chain::check_alone(record, &self.identity.journal_id).is_ok())
                .collect();
            return Ok(Readable { records, next });
        }
        let mut records = Vec::new();
        for seqno in from..=last {
            match self.read(|view| view.page(seqno, seqno, 1)) {
                Ok(page) => {
                    let sound = |record: &Record| chain::check_alone(record, &self.identity.journal_id).is_ok();
                    records.extend(page.into_iter().filter(sound));
                }
                Err(error) if error.is_of_contents() => {}
                Err(error) if seqno == from => return Err(error),
                Err(_) => return Ok(Readable { records, next: seqno }),
            }
        }
        Ok(Readable { records, next })
    }

    /// One read transaction, again when a daemon opened or closed the file under a reader that took no locks.
    pub(super) fn read<T>(&mut self, read: impl Fn(&View) -> Result<T, StoreError>) -> Result<T, ReadError> {
        let mut result = read(&self.view);
        for _ in 0..REOPENS {
            let now = Stamp::of(&self.path);
            if self.sharing == Sharing::Shared || now == self.stamp || now.inode != self.stamp.inode {
                break;
            }
            self.view = look(&self.path, now)?;
            self.sharing = now.sharing();
            self.stamp = now;
            result = read(&self.view);
        }
        result.map_err(|error| failed(&self.path, error))
    }

    fn to_head(&self, mark: Mark) -> Head {
        Head {
            journal_id: self.identity.journal_id.clone(),
            seqno: mark.seqno,
            sha256: mark.sha256.to_vec(),
        }
    }
}

fn whats_wrong(record: &Record, expected: Seqno, journal_id: &str) -> Option<BadRecord> {
    if record.seqno != expected {
        Some(BadRecord::Missing {
            expected,
            found: record.seqno,
        })
    } else {
        chain::check_alone(record, journal_id).err()
    }
}

/// Opens a view in the way that suits what lies beside the file.
fn look(path: &Path, stamp: Stamp) -> Result<View, ReadError> {
    // A disk that doesn't answer is no file that is gone.
    if stamp.inode == 0 && matches!(path.try_exists(), Ok(false)) {
        return Err(ReadError::Missing { path: path.to_owned() });
    }
    View::open(path, stamp.sharing()).map_err(|error| match error {
        error @ StoreError::Io { .. } if stamp.sharing() == Sharing::Shared && !may_write_beside(path) => {
            ReadError::NotClosed {
                path: path.to_owned(),
                source: error,
            }
        }
        error @ (StoreError::Damaged { .. }
        | StoreError::Full { .. }
        | StoreError::Newer { .. }
        | StoreError::Io { .. }) => failed(path, error),
    })
}

fn may_write_beside(path: &Path) -> bool {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    };
    nix::unistd::access(directory, nix::unistd::AccessFlags::W_OK).is_ok()
}

pub(super) fn failed(path: &Path, error: StoreError) -> ReadError {
    match error {
        StoreError::Newer { found, known } => ReadError::Newer {
            path: path.to_owned(),
            found,
            known,
        },
        source @ (StoreError::Damaged { .. } | StoreError::Full { .. } | StoreError::Io { .. }) => ReadError::Store {
            path: path.to_owned(),
            source,
        },
    }
}
