//! The write-ahead log: grown once, so that commits overwrite blocks that exist, and moved into the database between rounds.

use super::Store;
use crate::failpoint::{Point, pass};
use crate::journal::error::{Doing, StoreError};
use crate::journal::files::beside;
use crate::journal::row::Tidied;

/// The WAL is grown to this size with real zeros when the file is opened: commits then overwrite blocks that exist, and the sync
/// has no change of the file's size to record. About 500 pages, several rounds' worth.
const WAL_GROWN_TO: u64 = 2 * 1024 * 1024;

/// From this many pages in the WAL on, `tidy` waits for readers so that the WAL starts again at its beginning.
const WAL_LARGE_PAGES: i64 = 1024;

impl Store {
    /// Moves pages from the WAL to the database so that the WAL starts again at its beginning. Takes as long as the pages since the
    /// last time need; waits for readers only when the WAL has grown large.
    pub(in crate::journal) fn tidy(&self) -> Result<Tidied, StoreError> {
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

    pub(super) fn checkpoint(&self, how: &str) -> Result<Tidied, StoreError> {
        self.connection
            .query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |row| {
                Ok(Tidied {
                    pages: row.get(1)?,
                    moved: row.get(2)?,
                })
            })
            .doing("tidy the WAL")
    }

    /// Grows the WAL with zeros behind its last page. Zeros end the WAL for SQLite, so they mean nothing to it. A failure costs only speed.
    pub(super) fn grow_wal(&self) {
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
}
