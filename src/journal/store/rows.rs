//! What the writing and the reading connection ask alike, and how SQLite's signed integers become our numbers.

use crate::journal::Seqno;
use crate::journal::error::{Doing, StoreError};
use crate::journal::row::Mark;
use rusqlite::{Connection, OptionalExtension};

pub(super) fn mark(connection: &Connection, seqno: Seqno) -> Result<Option<Mark>, StoreError> {
    connection
        .prepare_cached("SELECT seqno, sha256 FROM events WHERE seqno = ?1")
        .and_then(|mut select| select.query_row([key(seqno)], to_mark).optional())
        .doing("read an event's hash")
}

pub(super) fn checkpoint_below(connection: &Connection, seqno: Seqno) -> Result<Option<Seqno>, StoreError> {
    connection
        .query_row(
            "SELECT seqno FROM checkpoints WHERE seqno < ?1 ORDER BY seqno DESC LIMIT 1",
            [key(seqno)],
            |row| number(row, 0),
        )
        .optional()
        .doing("find a checkpoint")
}

pub(super) fn to_mark(row: &rusqlite::Row<'_>) -> rusqlite::Result<Mark> {
    Ok(Mark {
        seqno: number(row, 0)?,
        sha256: row.get(1)?,
    })
}

/// SQLite's integers are signed. A journal never comes near the end of them.
pub(super) fn key(seqno: Seqno) -> i64 {
    i64::try_from(seqno).unwrap_or(i64::MAX)
}

pub(super) fn number(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Seqno> {
    let value: i64 = row.get(column)?;
    Seqno::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
}
