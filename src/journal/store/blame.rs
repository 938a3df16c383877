//! What SQLite says, sorted: bad contents, no room, or a disk that fails. Only bad contents may ever cost a journal.

use crate::journal::error::{Doing, StoreError};
use rusqlite::ErrorCode;

/// `SQLITE_IOERR_SHMSIZE`: the file beside the database through which processes share the WAL's index could not get its 32 KiB.
const NO_ROOM_FOR_INDEX: i32 = 10 | (19 << 8);

/// Sorts what SQLite said.
pub(super) fn judged(doing: &'static str, error: rusqlite::Error) -> StoreError {
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
