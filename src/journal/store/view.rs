//! The read-only connection to a journal's file.

use super::blame::judged;
use super::layout::{APPLICATION_ID, SCHEMA};
use super::rows::{checkpoint_below, key, mark, number, to_mark};
use crate::journal::error::{Doing, StoreError};
use crate::journal::files::uri;
use crate::journal::row::{Expired, Identity, Mark, MovedAside};
use crate::journal::{Record, Seqno};
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use std::path::Path;
use std::time::Duration;

/// A reader's page cache in KiB: it goes through the file once.
const READER_CACHE_KIB: i64 = 64;

/// How long a reader waits while the daemon opens or closes the file.
const READER_WAITS: Duration = Duration::from_secs(2);

/// How a read-only connection treats the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::journal) enum Sharing {
    /// A WAL lies beside it: a daemon is running, or was killed.
    Shared,
    /// No WAL: nobody writes, no lock is taken, and nothing is made beside it.
    Settled,
}

/// A read-only connection. Every call is a read transaction of its own, over when it returns.
pub(in crate::journal) struct View {
    connection: Connection,
}

impl View {
    /// Opens the file and checks that it is a journal whose layout we know.
    pub(in crate::journal) fn open(path: &Path, sharing: Sharing) -> Result<Self, StoreError> {
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
    pub(in crate::journal) fn identity(&self) -> Result<Identity, StoreError> {
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
    pub(in crate::journal) fn head(&self) -> Result<Mark, StoreError> {
        self.edge(
            "SELECT seqno, sha256 FROM events ORDER BY seqno DESC LIMIT 1",
            "find the newest event",
        )
    }

    /// The oldest event's number and hash; [`Mark::NONE`] in an empty journal.
    pub(in crate::journal) fn oldest(&self) -> Result<Mark, StoreError> {
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
    pub(in crate::journal) fn mark(&self, seqno: Seqno) -> Result<Option<Mark>, StoreError> {
        mark(&self.connection, seqno)
    }

    /// The cursor as it was written last.
    pub(in crate::journal) fn cursor(&self) -> Result<Mark, StoreError> {
        self.connection
            .query_row("SELECT seqno, sha256 FROM cursor", [], to_mark)
            .doing("read the cursor")
    }

    /// What retention deleted last.
    pub(in crate::journal) fn expired(&self) -> Result<Option<Expired>, StoreError> {
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
    pub(in crate::journal) fn checkpoint_below(&self, seqno: Seqno) -> Result<Option<Seqno>, StoreError> {
        checkpoint_below(&self.connection, seqno)
    }

    /// Every event that is listed as a checkpoint, in order: one in a thousand events or so.
    pub(in crate::journal) fn checkpoints(&self) -> Result<Vec<Seqno>, StoreError> {
        let doing = "read which events are checkpoints";
        let mut select = self
            .connection
            .prepare("SELECT seqno FROM checkpoints ORDER BY seqno")
            .doing(doing)?;
        let rows = select.query_map([], |row| number(row, 0)).doing(doing)?;
        rows.collect::<rusqlite::Result<Vec<Seqno>>>().doing(doing)
    }

    /// At most `max` rows from `from` to `to`, both included, in order.
    pub(in crate::journal) fn page(&self, from: Seqno, to: Seqno, max: usize) -> Result<Vec<Record>, StoreError> {
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
    pub(in crate::journal) fn moved_aside(&self, directory: &Path) -> Result<Vec<MovedAside>, StoreError> {
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
    pub(in crate::journal) fn structure(&self) -> Result<Option<String>, StoreError> {
        let verdict: String = self
            .connection
            .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
            .doing("check the file's structure")?;
        Ok((verdict != "ok").then_some(verdict))
    }
}
