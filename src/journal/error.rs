//! What the store could not do, told apart: contents that are not what was written, no room, and everything that says nothing about the
//! contents. Only the first of them may cost a journal its place.

use std::error::Error;

/// The database's or the system's own words for what went wrong.
pub type Cause = Box<dyn Error + Send + Sync>;

/// What a test asked for.
#[derive(Debug, thiserror::Error)]
#[error("injected by a test")]
struct Injected;

/// What the database could not do, and why.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file's contents are not what was written.
    #[error("cannot {doing}: the file is damaged or not a journal")]
    Damaged {
        /// What was tried.
        doing: &'static str,
        /// The database's words.
        #[source]
        source: Cause,
    },
    /// No room on the disk.
    #[error("cannot {doing}: the disk is full")]
    Full {
        /// What was tried.
        doing: &'static str,
        /// The database's words.
        #[source]
        source: Cause,
    },
    /// The file made by a program that is newer than this one.
    #[error("the journal has layout {found}, this program knows layouts up to {known}")]
    Newer {
        /// Layout of the file.
        found: i64,
        /// Newest layout that this program knows.
        known: i64,
    },
    /// Anything else: rights, a disk that fails, a lock. Says nothing about the contents.
    #[error("cannot {doing}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The database's words.
        #[source]
        source: Cause,
    },
}

impl StoreError {
    /// An error of a file that lies beside the database.
    pub(super) fn file(doing: &'static str, error: std::io::Error) -> Self {
        let full = matches!(error.raw_os_error(), Some(code) if code == nix::libc::ENOSPC || code == nix::libc::EDQUOT);
        let source = error.into();
        if full {
            StoreError::Full { doing, source }
        } else {
            StoreError::Io { doing, source }
        }
    }

    /// What a test asked for: as if the disk were full.
    pub(super) fn injected_full() -> Self {
        StoreError::Full {
            doing: "append",
            source: Injected.into(),
        }
    }

    /// What a test asked for: as if the disk had failed.
    pub(super) fn injected_io() -> Self {
        StoreError::Io {
            doing: "append",
            source: Injected.into(),
        }
    }
}

/// Names what was being done when it failed.
pub(super) trait Doing<T> {
    fn doing(self, doing: &'static str) -> Result<T, StoreError>;
}

impl<T> Doing<T> for std::io::Result<T> {
    fn doing(self, doing: &'static str) -> Result<T, StoreError> {
        self.map_err(|error| StoreError::file(doing, error))
    }
}
