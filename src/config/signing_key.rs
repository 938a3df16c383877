//! The file of `[journal] signing_key`: read once at start. Who checks a configuration may look as well, and is only warned when
//! the file is not there or not theirs to read: a credential of systemd's is there while the daemon runs, for its user alone.

use super::problem::{Origin, Problem};
use crate::signing::Signer;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The key.
pub(super) const KEY: &str = "journal.signing_key";

/// A private key in PEM has some 120 bytes.
const FILE_MAX: u64 = 16 * 1024;

/// Bits of a file's mode that let everybody on this PC read or change it. The group's bits are left out: systemd shows the mask of
/// an access list in them.
const FOR_OTHERS: u32 = 0o006;

const RIGHT: &str =
    "an Ed25519 private key in PEM (openssl genpkey -algorithm ed25519), readable by the daemon's user alone";

/// The file that the configuration names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// The file.
    pub path: PathBuf,
    /// Where it is named.
    pub origin: Origin,
}

/// The signer, and what somebody may regret.
///
/// # Errors
/// Why the key can't be used: the configuration is refused.
pub fn read(named: &Named) -> Result<(Signer, Option<Problem>), Problem> {
    let Named { path, origin } = named;
    let refuse = |why: String| Problem::error(origin.clone(), KEY, wrong(path, &why), RIGHT);
    let (text, mode) = text(path).map_err(|error| refuse(format!("can't be read: {error}")))?;
    let signer = Signer::from_pem(&text).map_err(|error| refuse(error.to_string()))?;
    Ok((signer, open_to_others(path, mode, origin)))
}

/// For `config check`: as the daemon would find it, as far as this user can tell.
pub(super) fn doubt(named: &Named) -> Option<Problem> {
    let Named { path, origin } = named;
    match text(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
            let wrong = wrong(path, &format!("can't be read now: {error}"));
            let right = "a file that the daemon can read at its start";
            Some(Problem::warning(origin.clone(), KEY, wrong, right))
        }
        Ok(_) | Err(_) => read(named).map_or_else(Some, |(_, warning)| warning),
    }
}

fn wrong(path: &Path, why: &str) -> String {
    format!("is {}, which {why}", path.display())
}

fn open_to_others(path: &Path, mode: u32, origin: &Origin) -> Option<Problem> {
    (mode & FOR_OTHERS != 0).then(|| {
        let why = format!("everybody on this PC may read or change (mode {:o})", mode & 0o777);
        let right = "a file of mode 0400 or 0600: who has the key can sign a journal that never was";
        Problem::warning(origin.clone(), KEY, wrong(path, &why), right)
    })
}

/// The text of a regular file, and its mode.
fn text(path: &Path) -> io::Result<(String, u32)> {
    // A pipe or device would block or never end.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let file = File::open(path)?;
    let mode = file.metadata()?.permissions().mode();
    let mut bytes = Vec::new();
    file.take(FILE_MAX).read_to_end(&mut bytes)?;
    // What is no text is no PEM; the key's reader says so.
    Ok((String::from_utf8_lossy(&bytes).into_owned(), mode))
}
