//! The two socket files: made whole, left behind by nobody, taken over from nobody who still listens.

use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tokio::net::UnixListener;

/// `[control]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ControlConfig {
    /// Look and test.
    pub socket: PathBuf,
    /// Act.
    pub supervisor_socket: PathBuf,
}

/// Owner and group may connect, nobody else.
const MODE: u32 = 0o660;

/// Why a socket could not be made.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Somebody listens there.
    #[error("[control] {key}: {} is in use: another daemon answers there; stop it, or name another path", path.display())]
    InUse {
        /// Which of the two.
        key: &'static str,
        /// The socket's file.
        path: PathBuf,
    },
    /// There is a file that is no socket.
    #[error("[control] {key}: {} is no socket: move it away, or name another path", path.display())]
    NoSocket {
        /// Which of the two.
        key: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("[control] {key}: {} can't be made: its directory must exist and be writable for this user", path.display())]
    Io {
        /// Which of the two.
        key: &'static str,
        /// The socket's file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// A listening socket; its file goes with it.
pub(super) struct Listening {
    pub(super) listener: UnixListener,
    path: PathBuf,
}

impl Drop for Listening {
    fn drop(&mut self) {
        // A file that is gone already is what we want.
        let _gone = std::fs::remove_file(&self.path);
    }
}

impl Listening {
    /// Listens at `path`, the value of `key` in `[control]`. The file appears there at once with its mode; one that nobody
    /// listens at any more is replaced.
    pub(super) fn at(key: &'static str, path: &Path) -> Result<Self, BindError> {
        let own = || path.to_owned();
        let io = |source| BindError::Io {
            key,
            path: own(),
            source,
        };
        match std::fs::symlink_metadata(path) {
            Ok(found) if !found.file_type().is_socket() => {
                return Err(BindError::NoSocket { key, path: own() });
            }
            // Connecting is the only way to know whether somebody still listens.
            Ok(_) if std::os::unix::net::UnixStream::connect(path).is_ok() => {
                return Err(BindError::InUse { key, path: own() });
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(io(error)),
        }
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(format!(".{}", std::process::id()));
        let unfinished = PathBuf::from(unfinished);
        let _left_by_a_crash = std::fs::remove_file(&unfinished);
        let listener = UnixListener::bind(&unfinished).map_err(io)?;
        std::fs::set_permissions(&unfinished, std::fs::Permissions::from_mode(MODE)).map_err(io)?;
        std::fs::rename(&unfinished, path).map_err(io)?;
        Ok(Listening {
            listener,
            path: path.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_left_behind_is_replaced_one_in_use_and_one_that_is_no_socket_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.sock");
        // Dropping std's listener leaves its file.
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let first = Listening::at("socket", &path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, MODE);
        let in_use = Listening::at("supervisor_socket", &path).err().unwrap();
        assert!(matches!(in_use, BindError::InUse { .. }));
        assert!(
            in_use.to_string().starts_with("[control] supervisor_socket: "),
            "{in_use}"
        );
        drop(first);
        assert!(!path.exists());
        std::fs::write(&path, "mine").unwrap();
        assert!(matches!(
            Listening::at("socket", &path),
            Err(BindError::NoSocket { .. })
        ));
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
