//! The database's file, its name and the names beside it. Knows bytes and paths; never opens what SQLite may have open in this process,
//! but for [`header`], whose caller says that it may.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What in the first bytes of the file is not as we make it; SQLite would take some of it for a wish (not to write, not to use a WAL, to
/// keep pointers between pages) instead of for damage. <https://sqlite.org/fileformat2.html#the_database_header>
pub(super) fn header(file: &mut impl std::io::Read) -> std::io::Result<Option<&'static str>> {
    let mut header = [0; 100];
    match file.read_exact(&mut header) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(Some("it is no database")),
        other => other?,
    }
    let is = |at: usize, expected: &[u8]| header.get(at..at + expected.len()) == Some(expected);
    let page = u16::try_from(super::store::PAGE_BYTES)
        .unwrap_or_default()
        .to_be_bytes();
    Ok(if !is(0, b"SQLite format 3\0") {
        Some("it is no database")
    } else if !is(16, &page) || !is(18, &[2, 2, 0, 64, 32, 32]) || !is(52, &[0; 4]) || !is(64, &[0; 4]) {
        Some("its header is not as it was written")
    } else {
        None
    })
}

/// The name under which a new journal is built.
pub(super) fn unfinished(path: &Path) -> PathBuf {
    beside(path, ".new")
}

/// The file `path` with `suffix` behind its name: SQLite keeps `-wal` and `-shm` so.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Makes a rename in the directory of `path` durable.
pub(super) fn sync_directory(path: &Path) -> std::io::Result<()> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    };
    std::fs::File::open(directory)?.sync_all()
}

/// A `file:` URI: SQLite would take `?` and `#` in a plain name for more than a name.
pub(super) fn uri(path: &Path, query: &str) -> String {
    use std::fmt::Write;
    // An absolute path gets the empty authority: a path that begins with "//" would name a host otherwise.
    let mut uri = String::from(if path.is_absolute() { "file://" } else { "file:" });
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-~".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(uri, "%{byte:02x}");
        }
    }
    uri + query
}
