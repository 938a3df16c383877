//! The database file: the only place that names `rusqlite`. [`Store`] owns the one writing connection, [`View`] a read-only one.
//! Nothing here knows what an event says; it keeps rows, syncs them, and tells damage from a disk that fails.

use super::error::{Doing, StoreError};
use super::files::{beside, sync_directory, unfinished, uri};
use super::row::{Expired, Identity, Mark, MovedAside, Tidied, Transaction};
use super::{Record, Seqno};
use crate::failpoint::{Point, pass};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// "TGJ1": tells our files from any other SQLite database.
const APPLICATION_ID: i64 = 0x5447_4a31;

/// The layout of the tables. A higher number in a file means that a newer program made it: refused, never moved aside.
pub(super) const SCHEMA: i64 = 1;

/// Bytes of a database page. One commit of an ordinary event rewrites one page; the file systems we run on write 4 KiB anyway.
pub(super) const PAGE_BYTES: i64 = 4096;

/// The writer's page cache in KiB. It only ever needs the right edge of one tree; the daemon has to fit in 16 MiB.
const WRITER_CACHE_KIB: i64 = 256;

/// A reader's page cache in KiB: it goes through the file once.
const READER_CACHE_KIB: i64 = 64;

/// How long the writer waits for a reader's short lock (recovery, a restart of the WAL) before it gives up.
const WRITER_WAITS: Duration = Duration::from_millis(250);

/// How long a reader waits while the daemon opens or closes the file.
const READER_WAITS: Duration = Duration::from_secs(2);

/// The WAL is grown to this size with real zeros when the file is opened: commits then overwrite blocks that exist, and the sync
/// has no change of the file's size to record. About 500 pages, several rounds' worth.
const WAL_GROWN_TO: u64 = 2 * 1024 * 1024;

/// From this many pages in the WAL on, `tidy` waits for readers so that the WAL starts again at its beginning.
const WAL_LARGE_PAGES: i64 = 1024;

/// `SQLITE_IOERR_SHMSIZE`: the file beside the database through which processes share the WAL's index could not get its 32 KiB.
const NO_ROOM_FOR_INDEX: i32 = 10 | (19 << 8);

const TABLES: &str = "
    CREATE TABLE identity (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        schema INTEGER NOT NULL, journal_id TEXT NOT NULL, site TEXT NOT NULL, table_id TEXT NOT NULL,
        machine TEXT NOT NULL, created_us INTEGER NOT NULL, sha256 BLOB NOT NULL
    ) STRICT;
    CREATE TABLE events (seqno INTEGER PRIMARY KEY, sha256 BLOB NOT NULL, bytes BLOB NOT NULL) STRICT;
    CREATE TABLE checkpoints (seqno INTEGER PRIMARY KEY) STRICT;
    CREATE TABLE cursor (one INTEGER PRIMARY KEY CHECK (one = 1), seqno INTEGER NOT NULL, sha256 BLOB NOT NULL) STRICT;
    CREATE TABLE expired (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        through INTEGER NOT NULL, sha256 BLOB NOT NULL, at_us INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE moved_aside (file TEXT PRIMARY KEY, journal_id TEXT NOT NULL, cursor INTEGER NOT NULL, through INTEGER NOT NULL) STRICT;
";

/// Sorts what SQLite said.
fn judged(doing: &'static str, error: rusqlite::Error) -> StoreError {
    let blame = blame(&error);
    // Its words alone: beneath them it would repeat them with a number.
    let source = error.to_string().into();
    match blame {
        Blame::Contents => StoreError::Damaged { doing, source },
        Blame::Room => StoreError::Full { doing, source },
        Blame::Surroundings => StoreError::Io { doing, source },
    }
}

enum Blame {
    Contents,
    Room,
    Surroundings,
}

/// Tells bad contents from a bad disk. What we can't tell is the surroundings: those never cost a journal.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "both enums may grow with SQLite, and what is new must not cost a journal"
)]
fn blame(error: &rusqlite::Error) -> Blame {
    use rusqlite::Error as E;
    match error {
        E::SqliteFailure(failure, _) => match failure.code {
            ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::TypeMismatch
            | ErrorCode::ConstraintViolation
            | ErrorCode::TooBig
            | ErrorCode::SchemaChanged
            // SQLITE_ERROR: our statements are fixed, so a table or column is missing.
            | ErrorCode::Unknown => Blame::Contents,
            ErrorCode::DiskFull => Blame::Room,
            ErrorCode::SystemIoFailure if failure.extended_code == NO_ROOM_FOR_INDEX => Blame::Room,
            _ => Blame::Surroundings,
        },
        E::SqlInputError { .. }
        | E::FromSqlConversionFailure(..)
        | E::IntegralValueOutOfRange(..)
        | E::InvalidColumnType(..)
        | E::InvalidColumnIndex(..)
        | E::InvalidColumnName(..)
        | E::Utf8Error(..)
        | E::QueryReturnedNoRows
        | E::QueryReturnedMoreThanOneRow => Blame::Contents,
        _ => Blame::Surroundings,
    }
}

impl<T> Doing<T> for rusqlite::Result<T> {
    fn doing(self, doing: &'static str) -> Result<T, StoreError> {
        self.map_err(|error| judged(doing, error))
    }
}

/// The writing connection. One exists per directory; the directory's lock sees to that.
pub(super) struct Store {
    connection: Connection,
    path: PathBuf,
    /// The files that were opened, by name, device and inode number.
    opened: Vec<(PathBuf, u64, u64)>,
}

impl Store {
    /// Makes a new, empty journal at `path`, complete or not at all: it is built under another name and renamed.
    pub(super) fn create(path: &Path, identity: &Identity) -> Result<(), StoreError> {
        let unfinished = unfinished(path);
        for file in [
            unfinished.clone(),
            beside(&unfinished, "-wal"),
            beside(&unfinished, "-shm"),
            beside(path, "-shm"),
        ] {
            match std::fs::remove_file(&file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(StoreError::file("clear an unfinished journal", error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(uri(&unfinished, ""), flags).doing("make the journal")?;
        connection
            .execute_batch(&format!(
                "PRAGMA page_size = {PAGE_BYTES}; PRAGMA auto_vacuum = NONE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
                 BEGIN; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA}; {TABLES}"
            ))
            .doing("make the journal")?;
        connection
            .execute(
                "INSERT INTO identity VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    SCHEMA,
                    identity.journal_id,
                    identity.site,
                    identity.table,
                    identity.machine,
                    identity.created_us,
                    identity.sha256()
                ],
            )
            .doing("make the journal")?;
        connection
            .execute("INSERT INTO cursor VALUES (1, 0, zeroblob(32))", [])
            .doing("make the journal")?;
        connection.execute_batch("COMMIT").doing("make the journal")?;
        connection
            .close()
            .map_err(|(_, error)| judged("make the journal", error))?;
        pass(Point::JournalBuilt);
        std::fs::rename(&unfinished, path).doing("put the new journal in its place")?;
        pass(Point::JournalPlaced);
        sync_directory(path).doing("sync the journal's directory")
    }

    /// Opens an existing journal for writing.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(uri(path, ""), flags).doing("open the journal")?;
        connection.busy_timeout(WRITER_WAITS).doing("open the journal")?;
        connection
            .execute_batch(&format!(
                "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = -1; PRAGMA mmap_size = 0;
                 PRAGMA cache_size = -{WRITER_CACHE_KIB}; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = OFF;"
            ))
            .doing("set the journal up")?;
        let synchronous: i64 = connection
            .query_row("PRAGMA synchronous", [], |row| row.get(0))
            .doing("set the journal up")?;
        let mode: String = connection
            .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
            .doing("set the journal up")?;
        if synchronous != 2 || mode != "wal" {
            let refused = format!("SQLite gave journal mode {mode} and synchronous {synchronous} for WAL and 2 (FULL)");
            return Err(StoreError::Io {
                doing: "set the journal up",
                source: refused.into(),
            });
        }
        let mut store = Store {
            connection,
            path: path.to_owned(),
            opened: Vec::new(),
        };
        match store.touch().and_then(|()| store.rehearse()) {
            // Without room the journal can still be read, and there may be room, or ballast, when it is written.
            Err(error @ StoreError::Full { .. }) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "the disk is full");
            }
            other => other?,
        }
        store.grow_wal();
        for file in [path.to_owned(), beside(path, "-wal")] {
            if let Ok(found) = std::fs::metadata(&file) {
                store.opened.push((file, found.dev(), found.ino()));
            }
        }
        Ok(store)
    }

    /// The names still lead to what is open. SQLite doesn't look: it would go on writing to a file that somebody deleted or
    /// replaced, and everything since would be gone with the daemon.
    fn is_in_its_place(&self) -> Result<(), StoreError> {
        for (file, device, inode) in &self.opened {
            let lost = match std::fs::metadata(file) {
                Ok(found) if found.dev() == *device && found.ino() == *inode => continue,
                Ok(_) => format!("another file stands in the place of {}", file.display()),
                Err(error) => format!("{}: {error}", file.display()),
            };
            return Err(StoreError::Io {
                doing: "append",
                source: format!("{lost}: put it back, or start the daemon again").into(),
            });
        }
        Ok(())
    }

    /// A file has lost its place, and the daemon has to be started again. Where it is only the WAL, what it holds is moved into the
    /// database now, through what is still open: the next start finds everything.
    fn bring_home(&self) {
        let database = self.opened.iter().find(|(file, ..)| *file == self.path);
        let stands = |(file, device, inode): &(PathBuf, u64, u64)| {
            std::fs::metadata(file).is_ok_and(|found| found.dev() == *device && found.ino() == *inode)
        };
        if database.is_some_and(stands)
            && let Err(error) = self.checkpoint("PASSIVE")
        {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "what the lost WAL holds could not be moved into the journal"
            );
        }
    }

    /// An insert that is rolled back: where the next pages come from must not turn out to be damaged in the middle of a round.
    fn rehearse(&self) -> Result<(), StoreError> {
        let bytes = 2 * PAGE_BYTES;
        self.connection
            .execute_batch(&format!(
                "BEGIN IMMEDIATE; INSERT INTO events VALUES ({}, zeroblob(32), zeroblob({bytes})); ROLLBACK",
                i64::MAX
            ))
            .inspect_err(|_| {
                // Fails when SQLite has rolled back already.
                let _ = self.connection.execute_batch("ROLLBACK");
            })
            .doing("rehearse an append")
    }

    /// Writes one decision; returns after the sync. An error means that nothing of it is in the file.
    pub(super) fn append(&mut self, transaction: &Transaction<'_>) -> Result<(), StoreError> {
        let doing = "append";
        pass(Point::AppendBegins);
        if let Err(lost) = self.is_in_its_place() {
            self.bring_home();
            return Err(lost);
        }
        let unit = self.connection.transaction().doing(doing)?;
        if let Some(after) = transaction.after {
            unit.execute("DELETE FROM events WHERE seqno > ?1", [key(after)])
                .doing(doing)?;
            unit.execute("DELETE FROM checkpoints WHERE seqno > ?1", [key(after)])
                .doing(doing)?;
        }
        {
            let mut insert = unit
                .prepare_cached("INSERT INTO events VALUES (?1, ?2, ?3)")
                .doing(doing)?;
            for record in transaction.records {
                insert
                    .execute(params![key(record.seqno), record.sha256, record.bytes])
                    .doing(doing)?;
            }
        }
        for seqno in transaction.checkpoints {
            unit.execute("INSERT INTO checkpoints VALUES (?1)", [key(*seqno)])
                .doing(doing)?;
        }
        if let Some(expired) = &transaction.expire {
            let through = key(expired.through.seqno);
            unit.execute("DELETE FROM events WHERE seqno <= ?1", [through])
                .doing(doing)?;
            unit.execute("DELETE FROM checkpoints WHERE seqno <= ?1", [through])
                .doing(doing)?;
            unit.execute(
                "INSERT OR REPLACE INTO expired VALUES (1, ?1, ?2, ?3)",
                params![through, expired.through.sha256, expired.at_us],
            )
            .doing(doing)?;
            pass(Point::ExpiryWritten);
        }
        if !transaction.checkpoints.is_empty() {
            pass(Point::CheckpointWritten);
        }
        pass(Point::AppendWritten);
        unit.commit().doing(doing)?;
        if transaction.expire.is_some() {
            pass(Point::ExpirySynced);
        }
        if !transaction.checkpoints.is_empty() {
            pass(Point::CheckpointSynced);
        }
        pass(Point::AppendSynced);
        Ok(())
    }

    /// Removes what an append left that had been given up.
    pub(super) fn remove_after(&mut self, seqno: Seqno) -> Result<(), StoreError> {
        self.append(&Transaction {
            records: &[],
            checkpoints: &[],
            expire: None,
            after: Some(seqno),
        })
    }

    /// Writes the cursor, its own transaction.
    pub(super) fn write_cursor(&self, cursor: Mark) -> Result<(), StoreError> {
        pass(Point::CursorBegins);
        self.connection
            .prepare_cached("UPDATE cursor SET seqno = ?1, sha256 = ?2")
            .and_then(|mut update| update.execute(params![key(cursor.seqno), cursor.sha256]))
            .doing("write the cursor")?;
        pass(Point::CursorWritten);
        Ok(())
    }

    /// SHA-256 as stored with an event.
    pub(super) fn mark(&self, seqno: Seqno) -> Result<Option<Mark>, StoreError> {
        mark(&self.connection, seqno)
    }

    /// The newest checkpoint below a number.
    pub(super) fn checkpoint_below(&self, seqno: Seqno) -> Result<Option<Seqno>, StoreError> {
        checkpoint_below(&self.connection, seqno)
    }

    /// Remembers a journal that was moved aside, or how far it has been delivered.
    pub(super) fn write_moved_aside(&self, moved: &MovedAside) -> Result<(), StoreError> {
        let file = moved.path.file_name().unwrap_or_default().to_string_lossy();
        self.connection
            .execute(
                "INSERT OR REPLACE INTO moved_aside VALUES (?1, ?2, ?3, ?4)",
                params![file, moved.journal_id, key(moved.cursor), key(moved.through)],
            )
            .map(drop)
            .doing("write how far an older journal was delivered")
    }

    /// Moves pages from the WAL to the database so that the WAL starts again at its beginning. Takes as long as the pages since the
    /// last time need; waits for readers only when the WAL has grown large.
    pub(super) fn tidy(&self) -> Result<Tidied, StoreError> {
        pass(Point::TidyBegins);
        let mut tidied = self.checkpoint("PASSIVE")?;
        pass(Point::TidyMoved);
        if tidied.pages > WAL_LARGE_PAGES {
            tidied = self.checkpoint("RESTART")?;
        }
        if tidied.pages > 0 && tidied.pages == tidied.moved {
            // The first commit after this writes the WAL's header and syncs it once more: done here, so that no decision waits for it.
            self.touch()?;
        }
        Ok(tidied)
    }

    fn checkpoint(&self, how: &str) -> Result<Tidied, StoreError> {
        self.connection
            .query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |row| {
                Ok(Tidied {
                    pages: row.get(1)?,
                    moved: row.get(2)?,
                })
            })
            .doing("tidy the WAL")
    }

    /// A commit that changes nothing.
    fn touch(&self) -> Result<(), StoreError> {
        self.connection
            .execute("UPDATE cursor SET seqno = seqno", [])
            .map(drop)
            .doing("write the cursor")
    }

    /// Grows the WAL with zeros behind its last page. Zeros end the WAL for SQLite, so they mean nothing to it. A failure costs only speed.
    fn grow_wal(&self) {
        let grow = || -> std::io::Result<()> {
            use std::io::{Seek, SeekFrom, Write};
            let mut file = std::fs::OpenOptions::new()
                .write(true)
                .open(beside(&self.path, "-wal"))?;
            let mut length = file.seek(SeekFrom::End(0))?;
            let zeros = [0u8; 16 * 1024];
            while length < WAL_GROWN_TO {
                file.write_all(&zeros)?;
                length += zeros.len() as u64;
            }
            file.sync_all()
        };
        if let Err(error) = grow() {
            tracing::warn!(%error, "the WAL could not be grown; appends are slower until it has grown by itself");
        }
    }

    /// Everything into the database, WAL removed when no reader is left.
    pub(super) fn close(self) -> Result<(), StoreError> {
        self.checkpoint("TRUNCATE")?;
        pass(Point::CloseMoved);
        self.connection
            .close()
            .map_err(|(_, error)| judged("close the journal", error))
    }

    /// Caps the database's size, for tests of a full disk.
    #[cfg(test)]
    pub(super) fn limit_pages(&self, pages: i64) {
        self.connection
            .query_row(&format!("PRAGMA max_page_count = {pages}"), [], |row| {
                row.get::<_, i64>(0)
            })
            .unwrap();
    }

    /// Pages that the database has now, for tests of a full disk.
    #[cfg(test)]
    pub(super) fn pages(&self) -> i64 {
        self.connection
            .query_row("PRAGMA page_count", [], |row| row.get(0))
            .unwrap()
    }
}

/// How a read-only connection treats the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sharing {
    /// A WAL lies beside it: a daemon is running, or was killed.
    Shared,
    /// No WAL: nobody writes, no lock is taken, and nothing is made beside it.
    Settled,
}

/// A read-only connection. Every call is a read transaction of its own, over when it returns.
pub(super) struct View {
    connection: Connection,
}

impl View {
    /// Opens the file and checks that it is a journal whose layout we know.
    pub(super) fn open(path: &Path, sharing: Sharing) -> Result<Self, StoreError> {
        let doing = "open the journal";
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let query = match sharing {
            Sharing::Shared => "",
            Sharing::Settled => "?immutable=1",
        };
        let connection = Connection::open_with_flags(uri(path, query), flags).doing(doing)?;
        connection.busy_timeout(READER_WAITS).doing(doing)?;
        connection
            .execute_batch(&format!(
                "PRAGMA mmap_size = 0; PRAGMA cache_size = -{READER_CACHE_KIB}; PRAGMA query_only = ON"
            ))
            .doing(doing)?;
        let ours: i64 = connection
            .query_row("PRAGMA application_id", [], |row| row.get(0))
            .doing(doing)?;
        let found: i64 = connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .doing(doing)?;
        let copy: rusqlite::Result<i64> = connection.query_row("SELECT schema FROM identity", [], |row| row.get(0));
        if ours == APPLICATION_ID && found > SCHEMA && copy.as_ref().map_or(true, |copy| *copy > SCHEMA) {
            return Err(StoreError::Newer { found, known: SCHEMA });
        }
        let copy = copy.doing(doing)?;
        if ours != APPLICATION_ID || found != SCHEMA || copy != SCHEMA {
            return Err(StoreError::Damaged {
                doing,
                source: format!("its header says {ours:#x}, layout {found}, and its contents layout {copy}").into(),
            });
        }
        Ok(View { connection })
    }

    /// Whose journal it is; damaged when the row isn't what was written.
    pub(super) fn identity(&self) -> Result<Identity, StoreError> {
        let doing = "read whose journal it is";
        let (identity, sha256) = self
            .connection
            .query_row(
                "SELECT journal_id, site, table_id, machine, created_us, sha256 FROM identity",
                [],
                |row| {
                    let identity = Identity {
                        journal_id: row.get(0)?,
                        site: row.get(1)?,
                        table: row.get(2)?,
                        machine: row.get(3)?,
                        created_us: row.get(4)?,
                    };
                    Ok((identity, row.get::<_, [u8; 32]>(5)?))
                },
            )
            .doing(doing)?;
        if identity.sha256() == sha256 {
            Ok(identity)
        } else {
            Err(judged(doing, rusqlite::Error::QueryReturnedNoRows))
        }
    }

    /// The newest event's number and hash; [`Mark::NONE`] in an empty journal.
    pub(super) fn head(&self) -> Result<Mark, StoreError> {
        self.edge(
            "SELECT seqno, sha256 FROM events ORDER BY seqno DESC LIMIT 1",
            "find the newest event",
        )
    }

    /// The oldest event's number and hash; [`Mark::NONE`] in an empty journal.
    pub(super) fn oldest(&self) -> Result<Mark, StoreError> {
        self.edge(
            "SELECT seqno, sha256 FROM events ORDER BY seqno LIMIT 1",
            "find the oldest event",
        )
    }

    fn edge(&self, sql: &str, doing: &'static str) -> Result<Mark, StoreError> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut select| select.query_row([], to_mark).optional())
            .map(|mark| mark.unwrap_or(Mark::NONE))
            .doing(doing)
    }

    /// SHA-256 as stored with an event.
    pub(super) fn mark(&self, seqno: Seqno) -> Result<Option<Mark>, StoreError> {
        mark(&self.connection, seqno)
    }

    /// The cursor as it was written last.
    pub(super) fn cursor(&self) -> Result<Mark, StoreError> {
        self.connection
            .query_row("SELECT seqno, sha256 FROM cursor", [], to_mark)
            .doing("read the cursor")
    }

    /// What retention deleted last.
    pub(super) fn expired(&self) -> Result<Option<Expired>, StoreError> {
        self.connection
            .query_row("SELECT through, sha256, at_us FROM expired", [], |row| {
                Ok(Expired {
                    through: to_mark(row)?,
                    at_us: row.get(2)?,
                })
            })
            .optional()
            .doing("read what was deleted last")
    }

    /// The newest checkpoint below a number.
    pub(super) fn checkpoint_below(&self, seqno: Seqno) -> Result<Option<Seqno>, StoreError> {
        checkpoint_below(&self.connection, seqno)
    }

    /// At most `max` rows from `from` to `to`, both included, in order.
    pub(super) fn page(&self, from: Seqno, to: Seqno, max: usize) -> Result<Vec<Record>, StoreError> {
        let doing = "read events";
        let mut select = self
            .connection
            .prepare_cached(
                "SELECT seqno, sha256, bytes FROM events WHERE seqno BETWEEN ?1 AND ?2 ORDER BY seqno LIMIT ?3",
            )
            .doing(doing)?;
        let max = i64::try_from(max).unwrap_or(i64::MAX);
        let rows = select
            .query_map(params![key(from), key(to), max], |row| {
                Ok(Record {
                    seqno: number(row, 0)?,
                    sha256: row.get(1)?,
                    bytes: row.get(2)?,
                })
            })
            .doing(doing)?;
        rows.collect::<rusqlite::Result<Vec<Record>>>().doing(doing)
    }

    /// Journals that were moved aside before this one, in `directory`.
    pub(super) fn moved_aside(&self, directory: &Path) -> Result<Vec<MovedAside>, StoreError> {
        let doing = "read which older journals are undelivered";
        let mut select = self
            .connection
            .prepare("SELECT file, journal_id, cursor, through FROM moved_aside ORDER BY file")
            .doing(doing)?;
        let rows = select
            .query_map([], |row| {
                Ok(MovedAside {
                    path: directory.join(row.get::<_, String>(0)?),
                    journal_id: row.get(1)?,
                    cursor: number(row, 2)?,
                    through: number(row, 3)?,
                })
            })
            .doing(doing)?;
        rows.collect::<rusqlite::Result<Vec<MovedAside>>>().doing(doing)
    }

    /// SQLite's own look at the file's structure: `None` when it found nothing.
    pub(super) fn structure(&self) -> Result<Option<String>, StoreError> {
        let verdict: String = self
            .connection
            .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
            .doing("check the file's structure")?;
        Ok((verdict != "ok").then_some(verdict))
    }
}

fn mark(connection: &Connection, seqno: Seqno) -> Result<Option<Mark>, StoreError> {
    connection
        .prepare_cached("SELECT seqno, sha256 FROM events WHERE seqno = ?1")
        .and_then(|mut select| select.query_row([key(seqno)], to_mark).optional())
        .doing("read an event's hash")
}

fn checkpoint_below(connection: &Connection, seqno: Seqno) -> Result<Option<Seqno>, StoreError> {
    connection
        .query_row(
            "SELECT seqno FROM checkpoints WHERE seqno < ?1 ORDER BY seqno DESC LIMIT 1",
            [key(seqno)],
            |row| number(row, 0),
        )
        .optional()
        .doing("find a checkpoint")
}

fn to_mark(row: &rusqlite::Row<'_>) -> rusqlite::Result<Mark> {
    Ok(Mark {
        seqno: number(row, 0)?,
        sha256: row.get(1)?,
    })
}

/// SQLite's integers are signed. A journal never comes near the end of them.
fn key(seqno: Seqno) -> i64 {
    i64::try_from(seqno).unwrap_or(i64::MAX)
}

fn number(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Seqno> {
    let value: i64 = row.get(column)?;
    Seqno::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    fn record(seqno: Seqno) -> Record {
        let bytes = vec![7; 3000];
        let sha256 = Sha256::digest(&bytes).into();
        Record { seqno, sha256, bytes }
    }

    fn append(store: &mut Store, records: &[Record]) -> Result<(), StoreError> {
        store.append(&Transaction {
            records,
            checkpoints: &[],
            expire: None,
            after: None,
        })
    }

    fn identity() -> Identity {
        Identity {
            journal_id: "id".to_owned(),
            site: "site".to_owned(),
            table: "table".to_owned(),
            machine: String::new(),
            created_us: 0,
        }
    }

    /// Anything less loses what was acknowledged by a power cut.
    #[test]
    fn every_commit_is_synced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal.sqlite3");
        Store::create(&path, &identity()).unwrap();
        for start in ["first", "again"] {
            let store = Store::open(&path).unwrap();
            let synchronous: i64 = store
                .connection
                .query_row("PRAGMA synchronous", [], |row| row.get(0))
                .unwrap();
            let mode: String = store
                .connection
                .query_row("PRAGMA journal_mode", [], |row| row.get(0))
                .unwrap();
            assert_eq!((synchronous, mode.as_str()), (2, "wal"), "{start}: FULL and WAL");
        }
        // Where SQLite can't have a WAL, for another program holds the file in its own mode, it isn't opened at all.
        let other = directory.path().join("other.sqlite3");
        let connection = Connection::open(&other).unwrap();
        connection
            .execute_batch("PRAGMA journal_mode = DELETE; CREATE TABLE one (one INTEGER)")
            .unwrap();
        connection.execute_batch("BEGIN; INSERT INTO one VALUES (1)").unwrap();
        let error = Store::open(&other).err().expect("locked by another mode");
        assert!(matches!(error, StoreError::Io { .. }), "{error:?}");
    }

    #[test]
    fn a_full_disk_leaves_nothing_half_written_and_is_over_when_there_is_room() {
        let directory = tempfile::tempdir().unwrap();
        // A name that a URI would stumble over.
        let path = directory.path().join("a?b#c%d e.sqlite3");
        Store::create(&path, &identity()).unwrap();
        let mut store = Store::open(&path).unwrap();
        append(&mut store, &[record(1)]).unwrap();
        store.limit_pages(store.pages() + 2);
        let many: Vec<Record> = (2..20).map(record).collect();
        let error = append(&mut store, &many).unwrap_err();
        assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
        assert_eq!(View::open(&path, Sharing::Shared).unwrap().head().unwrap().seqno, 1);
        append(&mut store, &many[..1]).unwrap();
        store.limit_pages(1000);
        append(&mut store, &many[1..]).unwrap();
        store.close().unwrap();
        let view = View::open(&path, Sharing::Settled).unwrap();
        assert_eq!(view.head().unwrap().seqno, 19);
        assert_eq!(view.structure().unwrap(), None);
        assert!(!beside(&path, "-wal").exists(), "a clean close leaves no WAL");
    }
}
