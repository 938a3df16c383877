//! The database file: the only room that names `rusqlite`. [`Store`] owns the one writing connection, [`View`] a read-only one.
//! Nothing here knows what an event says; it keeps rows, syncs them, and tells damage from a disk that fails.
//!
//! [`layout`] is how a journal's file is made, [`rows`] what both connections read alike; [`place`] sees that the file is still the one
//! that was opened, [`wal`] keeps the write-ahead log in bounds, and [`blame`] sorts what SQLite says.

mod blame;
mod layout;
mod place;
mod rows;
mod view;
mod wal;

pub(super) use layout::PAGE_BYTES;
pub(super) use view::{Sharing, View};

use super::Seqno;
use super::error::{Doing, StoreError};
use super::files::{beside, uri};
use super::row::{Mark, MovedAside, Transaction};
use crate::failpoint::{Point, pass};
use blame::judged;
use rows::{checkpoint_below, key, mark};
use rusqlite::{Connection, OpenFlags, params};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The writer's page cache in KiB. It only ever needs the right edge of one tree; the daemon has to fit in 16 MiB.
const WRITER_CACHE_KIB: i64 = 256;

/// How long the writer waits for a reader's short lock (recovery, a restart of the WAL) before it gives up.
const WRITER_WAITS: Duration = Duration::from_millis(250);

/// The writing connection. One exists per directory; the directory's lock sees to that.
pub(super) struct Store {
    connection: Connection,
    path: PathBuf,
    /// The files that were opened, by name, device and inode number.
    opened: Vec<(PathBuf, u64, u64)>,
}

impl Store {
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

    /// A commit that changes nothing.
    fn touch(&self) -> Result<(), StoreError> {
        self.connection
            .execute("UPDATE cursor SET seqno = seqno", [])
            .map(drop)
            .doing("write the cursor")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Record;
    use crate::journal::row::Identity;
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
