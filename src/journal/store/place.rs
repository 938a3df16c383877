//! Whether the names of the files that were opened still lead to what is open.

use super::Store;
use crate::journal::error::StoreError;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

impl Store {
    /// The names still lead to what is open. SQLite doesn't look: it would go on writing to a file that somebody deleted or
    /// replaced, and everything since would be gone with the daemon.
    pub(super) fn is_in_its_place(&self) -> Result<(), StoreError> {
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
    pub(super) fn bring_home(&self) {
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
}
