//! One daemon per journal directory: an exclusive lock on the directory, which nobody can delete from under its holder, and on a file in it,
//! which names the holder.

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Why the directory's lock was not ours to take.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process has it.
    #[error("the journal in {} is in use by {holder}: a second daemon for one table is refused", directory.display())]
    Held {
        /// The directory.
        directory: PathBuf,
        /// "process 4711 (tablegate)", or "another process".
        holder: String,
    },
    /// The lock's file can't be made or locked.
    #[error("cannot lock the journal in {}", directory.display())]
    Io {
        /// The directory.
        directory: PathBuf,
        /// The system's words.
        #[source]
        source: std::io::Error,
    },
}

/// Held until dropped, or until the process ends in whatever way.
pub(super) struct Lock {
    _file: Flock<File>,
    /// `None` where the file system locks no directories; then the file alone must do.
    _directory: Option<Flock<File>>,
}

impl Lock {
    pub(super) fn take(directory: &Path) -> Result<Self, LockError> {
        let failed = |source| LockError::Io {
            directory: directory.to_owned(),
            source,
        };
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(directory.join("journal.lock"))
            .map_err(failed)?;
        let held = |file| LockError::Held {
            directory: directory.to_owned(),
            holder: holder(file),
        };
        let mut file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(file) => file,
            Err((file, Errno::EWOULDBLOCK)) => return Err(held(file)),
            Err((_, errno)) => return Err(failed(errno.into())),
        };
        // Somebody may have deleted the file that the holder has locked, and ours is a new one.
        let itself = File::open(directory).map_err(failed)?;
        let itself = match Flock::lock(itself, FlockArg::LockExclusiveNonblock) {
            Ok(itself) => Some(itself),
            Err((_, Errno::EWOULDBLOCK)) => {
                return Err(held(File::open(directory.join("journal.lock")).map_err(failed)?));
            }
            Err(_) => None,
        };
        file.set_len(0).map_err(failed)?;
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        writeln!(file, "{}", std::process::id()).map_err(failed)?;
        Ok(Lock {
            _file: file,
            _directory: itself,
        })
    }
}

/// Names who wrote the lock file.
fn holder(mut file: File) -> String {
    let mut text = String::new();
    let pid: Option<u32> = file
        .read_to_string(&mut text)
        .ok()
        .and_then(|_| text.trim().parse().ok());
    let Some(pid) = pid else {
        return "another process".to_owned();
    };
    match std::fs::read_to_string(format!("/proc/{pid}/comm")) {
        Ok(name) => format!("process {pid} ({})", name.trim()),
        Err(_) => format!("process {pid}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deleted_lock_file_lets_nobody_in() {
        let directory = tempfile::tempdir().unwrap();
        let lock = Lock::take(directory.path()).unwrap();
        assert!(
            matches!(Lock::take(directory.path()), Err(LockError::Held { holder, .. }) if holder.contains("process"))
        );
        std::fs::remove_file(directory.path().join("journal.lock")).unwrap();
        assert!(matches!(Lock::take(directory.path()), Err(LockError::Held { .. })));
        // Now there is a lock file again, and it is nobody's.
        assert!(
            matches!(Lock::take(directory.path()), Err(LockError::Held { holder, .. }) if holder == "another process")
        );
        drop(lock);
        Lock::take(directory.path()).unwrap();
    }
}
