//! The other end, for commands: one connection, one request after another.

use super::MAX_MESSAGE;
use super::message::{Act, Answer, Request};
use futures_util::{SinkExt, StreamExt};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::UnixStream;
use tokio_util::codec::{Framed, LinesCodec, LinesCodecError};

/// The daemon answers within an append's longest time, or it is stuck.
const ANSWER_WITHIN: Duration = Duration::from_secs(15);

/// A view may be larger than a request; still bounded.
const MAX_ANSWER: usize = 16 * MAX_MESSAGE;

fn is_socket(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.file_type().is_socket())
}

/// Why the daemon can't be asked.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// There is no such file.
    #[error("no daemon runs here: there is no {}", path.display())]
    Absent {
        /// The socket's file.
        path: PathBuf,
    },
    /// The file is there and nobody listens.
    #[error("no daemon answers at {}: it has stopped and left its socket behind", path.display())]
    NobodyListens {
        /// The socket's file.
        path: PathBuf,
    },
    /// There is a file of that name, of another kind.
    #[error("{} is no socket", path.display())]
    NoSocket {
        /// What is no socket.
        path: PathBuf,
    },
    /// The file's mode keeps this user out.
    #[error("{} may not be opened by this user: its group says who may", path.display())]
    Denied {
        /// The socket's file.
        path: PathBuf,
    },
    /// Something else.
    #[error("the daemon at {} can't be reached", path.display())]
    Io {
        /// The socket's file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The connection ended before the answer.
    #[error("the daemon closed the connection without an answer: it has stopped, or this connection was too slow")]
    Closed,
    /// No answer came.
    #[error("the daemon did not answer within {} s", limit.as_secs())]
    Silent {
        /// How long it was waited for.
        limit: Duration,
    },
    /// The answer is none that this version knows.
    #[error("the daemon's answer isn't understood: command and daemon are of different versions?")]
    NotUnderstood {
        /// Where it went wrong.
        #[source]
        source: serde_json::Error,
    },
}

/// A connection to a daemon.
pub struct Client {
    lines: Framed<UnixStream, LinesCodec>,
    path: PathBuf,
}

impl Client {
    /// Connects to the socket at `path`.
    ///
    /// # Errors
    /// When nobody listens there, or this user may not.
    pub async fn connect(path: &Path) -> Result<Self, ClientError> {
        let at = || path.to_owned();
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the system has many errors, and a person can act on three"
        )]
        let stream = UnixStream::connect(path).await.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => ClientError::Absent { path: at() },
            // The system refuses what is no socket in the same words as a socket that nobody listens at.
            io::ErrorKind::ConnectionRefused if !is_socket(path) => ClientError::NoSocket { path: at() },
            io::ErrorKind::ConnectionRefused => ClientError::NobodyListens { path: at() },
            io::ErrorKind::PermissionDenied => ClientError::Denied { path: at() },
            _ => ClientError::Io { path: at(), source },
        })?;
        Ok(Client {
            lines: Framed::new(stream, LinesCodec::new_with_max_length(MAX_ANSWER)),
            path: at(),
        })
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// When the connection ends or no answer comes.
    pub async fn ask(&mut self, request: &Request) -> Result<Answer, ClientError> {
        let line = serde_json::to_string(request).map_err(|source| ClientError::NotUnderstood { source })?;
        // An answer may wait although our request can't be written: it says why we were turned away.
        let _turned_away = self.lines.send(line).await;
        self.next().await
    }

    /// As [`Client::ask`], of something that takes the daemon up to `limit`.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub async fn ask_for_long(&mut self, request: &Request, limit: Duration) -> Result<Answer, ClientError> {
        let line = serde_json::to_string(request).map_err(|source| ClientError::NotUnderstood { source })?;
        // As above: an answer may wait all the same.
        let _turned_away = self.lines.send(line).await;
        self.next_within(limit).await
    }

    /// Does `act`, in the name of `by` for root.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub async fn act(&mut self, act: Act, by: Option<&str>) -> Result<Answer, ClientError> {
        let by = by.map(ToOwned::to_owned);
        self.ask(&Request::Act { act, by }).await
    }

    /// The next answer; after `Watch`, the next view.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub async fn next(&mut self) -> Result<Answer, ClientError> {
        self.next_within(ANSWER_WITHIN).await
    }

    async fn next_within(&mut self, limit: Duration) -> Result<Answer, ClientError> {
        match tokio::time::timeout(limit, self.lines.next()).await {
            Ok(Some(Ok(line))) => serde_json::from_str(&line).map_err(|source| ClientError::NotUnderstood { source }),
            Ok(Some(Err(LinesCodecError::Io(source)))) if source.kind() != io::ErrorKind::ConnectionReset => {
                let path = self.path.clone();
                Err(ClientError::Io { path, source })
            }
            Ok(Some(Err(LinesCodecError::Io(_) | LinesCodecError::MaxLineLengthExceeded)) | None) => {
                Err(ClientError::Closed)
            }
            Err(_) => Err(ClientError::Silent { limit }),
        }
    }
}

/// The sockets for looking in `directory`, by instance name: the daemons that run, or ran, on this PC.
///
/// # Errors
/// When the directory can't be read; one that doesn't exist holds none.
pub fn instances(directory: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(instance) = name.strip_suffix(".sock") else {
            continue;
        };
        if !instance.ends_with(".supervisor") && is_a_daemons(&std::os::unix::net::UnixStream::connect(&path)) {
            found.push((instance.to_owned(), path));
        }
    }
    found.sort();
    Ok(found)
}

/// Somebody listens there, or may: a user who may not ask is told so, and not that nobody is there.
fn is_a_daemons<T>(connected: &io::Result<T>) -> bool {
    match connected {
        Ok(_) => true,
        Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_that_this_user_may_not_use_is_a_daemons_all_the_same() {
        for (refused, expected) in [
            (io::ErrorKind::PermissionDenied, true),
            (io::ErrorKind::ConnectionRefused, false),
            (io::ErrorKind::NotFound, false),
        ] {
            assert_eq!(is_a_daemons::<()>(&Err(refused.into())), expected, "{refused}");
        }
        assert!(is_a_daemons(&Ok(())));
    }
}
