//! A file that keeps room: given up when the disk is full, so that a round can end; taken in again when there is room.

use std::fs::File;
use std::path::{Path, PathBuf};

/// Bytes kept. A round is some 10 KiB and its pages in the WAL some 200 KiB: enough to end one many times over.
pub const BALLAST_BYTES: u64 = 8 * 1024 * 1024;

/// The ballast is taken in again when this much is free besides: it must not be what fills the disk.
const SPARE_BYTES: u64 = BALLAST_BYTES;

/// Room where the journal lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Room {
    /// Bytes that we may still write; 0 when the system doesn't say.
    pub free_bytes: u64,
    /// Percent of the disk in use, 0 to 100.
    pub used_percent: u8,
    /// Whether the last reserve is there.
    pub ballast: Ballast,
}

impl Room {
    /// The last reserve is used up, and there is room for another one.
    #[must_use]
    pub fn takes_ballast(&self) -> bool {
        self.ballast == Ballast::GivenUp && self.free_bytes >= BALLAST_BYTES + SPARE_BYTES
    }
}

/// The last reserve.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ballast {
    /// It lies there.
    Whole,
    /// It is used up, or could never be laid.
    GivenUp,
}

fn file(directory: &Path) -> PathBuf {
    directory.join("ballast")
}

/// Is it there?
pub(super) fn look(directory: &Path) -> Ballast {
    match std::fs::metadata(file(directory)) {
        Ok(metadata) if metadata.len() >= BALLAST_BYTES => Ballast::Whole,
        Ok(_) | Err(_) => Ballast::GivenUp,
    }
}

/// Lays it if it isn't there and there is room.
pub(super) fn lay(directory: &Path) -> Ballast {
    if look(directory) == Ballast::Whole {
        return Ballast::Whole;
    }
    if !room(directory).takes_ballast() {
        return Ballast::GivenUp;
    }
    let laid = File::create(file(directory))
        .map_err(|error| error.to_string())
        .and_then(|created| {
            let length = i64::try_from(BALLAST_BYTES).unwrap_or(i64::MAX);
            nix::fcntl::posix_fallocate(created, 0, length).map_err(|errno| errno.to_string())
        });
    match laid {
        Ok(()) => Ballast::Whole,
        Err(error) => {
            tracing::warn!(error, "no ballast could be laid beside the journal");
            give_up(directory);
            Ballast::GivenUp
        }
    }
}

/// Gives its room to the journal. False when there was none.
pub(super) fn give_up(directory: &Path) -> bool {
    std::fs::remove_file(file(directory)).is_ok()
}

/// Asks the disk.
pub(super) fn room(directory: &Path) -> Room {
    let (free_bytes, used_percent) = match nix::sys::statvfs::statvfs(directory) {
        Ok(found) => {
            let usable = found
                .blocks()
                .saturating_sub(found.blocks_free())
                .saturating_add(found.blocks_available());
            let used = usable
                .saturating_sub(found.blocks_available())
                .saturating_mul(100)
                .checked_div(usable);
            let free = found.blocks_available().saturating_mul(found.fragment_size());
            (free, used.and_then(|percent| u8::try_from(percent).ok()).unwrap_or(100))
        }
        Err(_) => (0, 100),
    };
    Room {
        free_bytes,
        used_percent,
        ballast: look(directory),
    }
}
