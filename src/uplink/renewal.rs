//! Watches the certificate files: when they expire, and when somebody has put renewed ones in their place.

use super::certificate::{self, Expiring, Kept};
use super::exchange::{ConnectError, PemFile, TlsTexts};
use super::{TlsFiles, tls};
use crate::time::Clock;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::watch;

/// The files are looked at this often: their dates and lengths, and what this PC's clock says of the certificates. What has changed is
/// read when it has stayed the same for one more look, so that a certificate isn't taken before its key is there.
pub const LOOK_EVERY: Duration = Duration::from_secs(5);

/// A PEM file is never larger: whatever grows at its path must not grow in memory.
const MAX_FILE: u64 = 1024 * 1024;

/// What the files hold now.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Looked {
    /// Of their texts; `None` while they can't be used.
    pub(super) digest: Option<[u8; 32]>,
    /// Why they can't be used.
    pub(super) unusable: Option<String>,
    /// What must be renewed.
    pub(super) expiring: Option<Expiring>,
}

impl Looked {
    /// Days that pass are no news.
    fn differs_from(&self, now: &Looked) -> bool {
        let which = |looked: &Looked| looked.expiring.as_ref().map(|expiring| expiring.which.clone());
        self.digest != now.digest || self.unusable != now.unusable || which(self) != which(now)
    }
}

/// Reads the files. Blocking.
pub(super) fn read(files: &TlsFiles) -> Result<TlsTexts, ConnectError> {
    Ok(TlsTexts {
        ca: read_pem(&files.ca)?,
        identity: match &files.identity {
            Some(identity) => Some((read_pem(&identity.certificate)?, read_pem(&identity.key)?)),
            None => None,
        },
    })
}

pub(super) fn read_pem(path: &Path) -> Result<PemFile, ConnectError> {
    let unreadable = |source: std::io::Error| ConnectError::Certificate {
        path: path.to_owned(),
        source,
    };
    if std::fs::metadata(path).map_err(unreadable)?.len() > MAX_FILE {
        return Err(unreadable(std::io::Error::other(
            "this is no PEM file: it is larger than 1 MiB",
        )));
    }
    Ok(PemFile {
        path: path.to_owned(),
        text: std::fs::read(path).map_err(unreadable)?,
    })
}

/// Of all texts, to tell renewed ones from those in use.
pub(super) fn digest(texts: &TlsTexts) -> [u8; 32] {
    let identity = texts.identity.iter().flat_map(|(chain, key)| [chain, key]);
    let mut hash = Sha256::new();
    for file in [&texts.ca].into_iter().chain(identity) {
        hash.update(file.text.len().to_be_bytes());
        hash.update(&file.text);
    }
    hash.finalize().into()
}

/// Length and date of each file; `None` for one that isn't there.
type Stamps = Vec<Option<(u64, SystemTime)>>;

fn stamps(files: &TlsFiles) -> Stamps {
    let identity = files.identity.iter();
    let identity = identity.flat_map(|identity| [&identity.certificate, &identity.key]);
    let stamp = |path: &std::path::PathBuf| {
        let found = std::fs::metadata(path).ok()?;
        Some((found.len(), found.modified().ok()?))
    };
    [&files.ca].into_iter().chain(identity).map(stamp).collect()
}

/// What was read last.
#[derive(Default)]
struct Read {
    digest: Option<[u8; 32]>,
    unusable: Option<String>,
    kept: Vec<Kept>,
}

fn look_into(files: &TlsFiles) -> Read {
    let texts = match read(files) {
        Ok(texts) => texts,
        Err(error) => {
            return Read {
                unusable: Some(error.in_words()),
                ..Read::default()
            };
        }
    };
    let kept = tls::kept(&texts);
    match tls::secure(&texts) {
        Ok(_) => Read {
            digest: Some(digest(&texts)),
            unusable: None,
            kept,
        },
        Err(error) => Read {
            digest: None,
            unusable: Some(error.in_words()),
            kept,
        },
    }
}

/// Looks again and again, until nobody listens any longer; `None` until it has looked. Must be called within a runtime.
pub(super) fn watch(files: TlsFiles, clock: Arc<dyn Clock>) -> watch::Receiver<Option<Looked>> {
    let (say, looked) = watch::channel(None);
    tokio::spawn(look(files, clock, say));
    looked
}

async fn look(files: TlsFiles, clock: Arc<dyn Clock>, say: watch::Sender<Option<Looked>>) {
    let files = Arc::new(files);
    let mut stamped: Option<Stamps> = None;
    let mut known: Option<Read> = None;
    loop {
        let first = stamped.is_none();
        let now = blocking(&files, stamps).await;
        if now != stamped {
            stamped = now;
            // At the start there is nothing to wait for; later what changes may be half of a renewal.
            known = if first { blocking(&files, look_into).await } else { None };
        } else if known.is_none() {
            known = blocking(&files, look_into).await;
        }
        if let Some(read) = &known {
            let looked = Looked {
                digest: read.digest,
                unusable: read.unusable.clone(),
                expiring: certificate::expiring(&read.kept, clock.wall()),
            };
            say.send_if_modified(|before| {
                let is_news = before.as_ref().is_none_or(|before| before.differs_from(&looked));
                if is_news {
                    *before = Some(looked);
                }
                is_news
            });
        }
        tokio::select! {
            () = say.closed() => return,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

/// Files may lie on a disk that hangs: the runtime doesn't.
async fn blocking<T: Send + 'static>(files: &Arc<TlsFiles>, work: fn(&TlsFiles) -> T) -> Option<T> {
    let files = files.clone();
    tokio::task::spawn_blocking(move || work(&files)).await.ok()
}
