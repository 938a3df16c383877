//! The folder of a simulated table's links: one simulated table at a time, or two would pull each other's plugs.

use crate::cli::ending::Failure;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A folder that is taken until this is dropped, or the process ends in whatever way. Nothing is left behind in it.
#[derive(Debug)]
pub struct Links {
    /// From the root: a configuration takes no other names.
    pub folder: PathBuf,
    _taken: Flock<File>,
}

impl Links {
    /// Takes the folder.
    ///
    /// # Errors
    /// There is no such folder; another simulated table has it, which is named.
    pub fn take(folder: &Path) -> Result<Links, Failure> {
        let unusable = |error: std::io::Error| {
            Failure::failed(format!(
                "{}: {error}: --links must name a folder that exists",
                folder.display()
            ))
        };
        let from_root = folder.canonicalize().map_err(unusable)?;
        if !from_root.is_dir() {
            return Err(unusable(Errno::ENOTDIR.into()));
        }
        let opened = File::open(&from_root).map_err(unusable)?;
        match Flock::lock(opened, FlockArg::LockExclusiveNonblock) {
            Ok(taken) => Ok(Links {
                folder: from_root,
                _taken: taken,
            }),
            Err((opened, Errno::EWOULDBLOCK)) => Err(Failure::failed(format!(
                "{} is used by another simulated table, {}: end that one, or name another folder with --links",
                folder.display(),
                holder(&opened).map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}")),
            ))),
            Err((_, errno)) => Err(unusable(errno.into())),
        }
    }
}

/// Who has the lock, as the kernel lists it: `1: FLOCK  ADVISORY  WRITE 4711 fd:01:1234 0 EOF`. None: it doesn't say.
fn holder(file: &File) -> Option<i32> {
    let inode = file.metadata().ok()?.ino().to_string();
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [_, "FLOCK", _, "WRITE", pid, place, ..] if place.rsplit(':').next() == Some(&inode) => {
                pid.parse().ok().filter(|pid| *pid > 0)
            }
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_one_tables_and_free_again_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let first = Links::take(folder.path()).unwrap();
        let refused = Links::take(folder.path()).unwrap_err().text;
        assert!(
            refused.contains(&format!("process {}", std::process::id())),
            "{refused}"
        );
        drop(first);
        Links::take(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_no_folder_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        for place in [file, folder.path().join("nowhere")] {
            let refused = Links::take(&place).unwrap_err().text;
            assert!(refused.contains("--links must name a folder"), "{refused}");
        }
    }
}
