//! The layout of a journal's file, and how a new one is made.

use super::Store;
use super::blame::judged;
use crate::failpoint::{Point, pass};
use crate::journal::error::{Doing, StoreError};
use crate::journal::files::{beside, sync_directory, unfinished, uri};
use crate::journal::row::Identity;
use rusqlite::{Connection, OpenFlags, params};
use std::path::Path;

/// "TGJ1": tells our files from any other SQLite database.
pub(super) const APPLICATION_ID: i64 = 0x5447_4a31;

/// The layout of the tables. A higher number in a file means that a newer program made it: refused, never moved aside.
pub(super) const SCHEMA: i64 = 1;

/// Bytes of a database page. One commit of an ordinary event rewrites one page; the file systems we run on write 4 KiB anyway.
pub(in crate::journal) const PAGE_BYTES: i64 = 4096;

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

impl Store {
    /// Makes a new, empty journal at `path`, complete or not at all: it is built under another name and renamed.
    pub(in crate::journal) fn create(path: &Path, identity: &Identity) -> Result<(), StoreError> {
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
}
