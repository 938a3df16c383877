//! A file that a command writes for a person: it appears under its name when it is whole and on the disk, and not before. Until then it is
//! written under another name in the same folder, which goes when anything fails.

use super::ending::Failure;
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What becomes of a file that is there already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Existing {
    /// It stays, and nothing is written.
    Kept,
    /// The new one takes its place, once it is whole. Only an ordinary file gives way.
    Replaced,
}

/// Who may read the new one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Readers {
    /// Its owner alone.
    Owner,
    /// Everybody, whatever the umask of who writes it.
    Everybody,
    /// As the umask has it.
    Usual,
}

impl Readers {
    const fn mode(self) -> u32 {
        match self {
            Readers::Owner => 0o600,
            Readers::Everybody => 0o644,
            Readers::Usual => 0o666,
        }
    }
}

/// Other names that are tried: one that is taken was left behind by a process of the same number that was killed.
const NAMES: u32 = 16;

/// A file that isn't whole yet. Dropped, it is gone.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    /// `None`: it is in its place.
    unfinished: Option<PathBuf>,
    file: File,
    existing: Existing,
}

impl NewFile {
    /// Begins one that will be at `path`.
    ///
    /// # Errors
    /// Something is there that stays, or nothing can be written there.
    pub fn begin(path: &Path, existing: Existing, readers: Readers) -> Result<NewFile, Failure> {
        may_be_there(path, existing)?;
        let (unfinished, file) = beside(path, readers.mode()).map_err(|error| unwritten(path, &error))?;
        let new = NewFile {
            path: path.to_owned(),
            unfinished: Some(unfinished),
            file,
            existing,
        };
        if readers == Readers::Everybody {
            let everybody = Permissions::from_mode(readers.mode());
            new.file
                .set_permissions(everybody)
                .map_err(|error| new.unwritten(&error))?;
        }
        Ok(new)
    }

    /// Writes all of it, and puts it in its place.
    ///
    /// # Errors
    /// As [`NewFile::begin`] and [`NewFile::keep`].
    pub fn written(path: &Path, existing: Existing, readers: Readers, bytes: &[u8]) -> Result<(), Failure> {
        let mut new = NewFile::begin(path, existing, readers)?;
        new.file.write_all(bytes).map_err(|error| new.unwritten(&error))?;
        new.keep().map(|_| ())
    }

    /// It is whole: onto the disk, and in its place. How long it is.
    ///
    /// # Errors
    /// It can't be written to its end, or something else took its place meanwhile. Nothing of it is left then.
    pub fn keep(mut self) -> Result<u64, Failure> {
        let synced = self.file.sync_all().and_then(|()| self.file.metadata());
        let length = synced.map_err(|error| self.unwritten(&error))?.len();
        may_be_there(&self.path, self.existing)?;
        if let Some(unfinished) = &self.unfinished {
            put(unfinished, &self.path, self.existing).map_err(|error| {
                if error.kind() == io::ErrorKind::AlreadyExists {
                    is_there(&self.path)
                } else {
                    self.unwritten(&error)
                }
            })?;
        }
        self.unfinished = None;
        // The name is on the disk when its folder is; a file system that can't sync a folder has done what it can.
        let _synced = File::open(folder_of(&self.path)).and_then(|folder| folder.sync_all());
        Ok(length)
    }

    /// Why it could not be written, for a person.
    #[must_use]
    pub fn unwritten(&self, error: &io::Error) -> Failure {
        unwritten(&self.path, error)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(unfinished) = &self.unfinished {
            // Nobody is left to be told; its name says what it is.
            let _gone = std::fs::remove_file(unfinished);
        }
    }
}

/// Why a file could not be written, for a person.
#[must_use]
pub fn unwritten(path: &Path, error: &io::Error) -> Failure {
    let folder = folder_of(path);
    let (path, folder) = (path.display(), folder.display());
    let text = if error.kind() == io::ErrorKind::NotFound {
        format!("{path} can't be written: there is no folder {folder}")
    } else if error.kind() == io::ErrorKind::NotADirectory {
        format!("{path} can't be written: {folder} is no folder")
    } else {
        format!("{path} can't be written: {error}; nothing was left in {folder}, and whatever was there is as it was")
    };
    Failure::failed(text)
}

fn may_be_there(path: &Path, existing: Existing) -> Result<(), Failure> {
    match (std::fs::symlink_metadata(path), existing) {
        (Ok(found), Existing::Replaced) if found.is_file() => Ok(()),
        (Ok(found), Existing::Replaced | Existing::Kept) if !found.is_file() => Err(Failure::failed(format!(
            "{} is no ordinary file, and stays as it is: name another file",
            path.display()
        ))),
        (Ok(_), _) => Err(is_there(path)),
        (Err(error), _) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        (Err(error), _) => Err(unwritten(path, &error)),
    }
}

fn is_there(path: &Path) -> Failure {
    Failure::failed(format!(
        "{} is there already, and nothing was written: name another file, or replace it with --force",
        path.display()
    ))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        Some(_) | None => Path::new("."),
    }
}

/// A new file with another name in the same folder.
fn beside(path: &Path, mode: u32) -> io::Result<(PathBuf, File)> {
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "that names no file"));
    };
    let name = name.to_string_lossy();
    let mut number = 0;
    loop {
        let unfinished = folder_of(path).join(format!(".{name}.{}.{number}.unfinished", std::process::id()));
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&unfinished);
        match made {
            Ok(file) => return Ok((unfinished, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < NAMES => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// In its place at once: whoever looks there sees what was before, or all of the new one.
fn put(unfinished: &Path, path: &Path, existing: Existing) -> io::Result<()> {
    match existing {
        Existing::Replaced => std::fs::rename(unfinished, path),
        Existing::Kept => match renameat2(AT_FDCWD, unfinished, AT_FDCWD, path, RenameFlags::RENAME_NOREPLACE) {
            // A file system that knows no such renaming, as on some memory sticks: nothing was there a moment ago.
            Err(nix::errno::Errno::EINVAL | nix::errno::Errno::ENOSYS) => std::fs::rename(unfinished, path),
            other => Ok(other?),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn write(path: &Path, existing: Existing) -> Result<(), Failure> {
        NewFile::written(path, existing, Readers::Owner, b"new")
    }

    #[test]
    fn a_file_is_its_owners_alone_and_is_replaced_only_when_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write(&path, Existing::Kept).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&path, "kept").unwrap();
        let refused = write(&path, Existing::Kept).unwrap_err();
        assert!(refused.text.contains("--force"), "{}", refused.text);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept");
        write(&path, Existing::Replaced).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        NewFile::written(&path, Existing::Replaced, Readers::Everybody, b"all").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn until_it_is_whole_what_was_there_stays_and_one_that_is_given_up_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for existing in [Existing::Kept, Existing::Replaced] {
            let mut new = NewFile::begin(&path, existing, Readers::Owner).unwrap();
            new.write_all(b"half").unwrap();
            assert!(!path.exists());
            drop(new);
            assert_eq!(names(folder.path()), Vec::<String>::new());
        }
        std::fs::write(&path, "old").unwrap();
        let mut new = NewFile::begin(&path, Existing::Replaced, Readers::Owner).unwrap();
        new.write_all(b"new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(new.keep().unwrap(), 3);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn what_comes_meanwhile_stays_and_what_is_no_ordinary_file_always_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let new = NewFile::begin(&path, Existing::Kept, Readers::Owner).unwrap();
        std::fs::write(&path, "theirs").unwrap();
        assert!(new.keep().unwrap_err().text.contains("is there already"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "theirs");
        std::fs::remove_file(&path).unwrap();

        let target = folder.path().join("target");
        std::fs::write(&target, "kept").unwrap();
        std::fs::create_dir(folder.path().join("folder")).unwrap();
        nix::unistd::mkfifo(&folder.path().join("pipe"), nix::sys::stat::Mode::S_IRUSR).unwrap();
        std::os::unix::fs::symlink(&target, folder.path().join("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("dangling")).unwrap();
        for what in ["folder", "pipe", "link", "dangling"] {
            let odd = folder.path().join(what);
            for existing in [Existing::Kept, Existing::Replaced] {
                let refused = write(&odd, existing).unwrap_err();
                assert!(refused.text.contains("is no ordinary file"), "{what}: {}", refused.text);
                let new = NewFile::begin(&path, existing, Readers::Owner).unwrap();
                std::fs::rename(&odd, &path).unwrap();
                assert!(new.keep().unwrap_err().text.contains("is no ordinary file"), "{what}");
                std::fs::rename(&path, &odd).unwrap();
            }
        }
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "kept");
        assert_eq!(names(folder.path()), ["dangling", "folder", "link", "pipe", "target"]);
    }

    #[test]
    fn a_place_where_nothing_can_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        for (path, said) in [
            (folder.path().join("no/such/a"), "there is no folder"),
            (file.join("a"), "is no folder"),
            (folder.path().join("n".repeat(300)), "File name too long"),
            (PathBuf::from("/proc/a"), "/proc/a can't be written"),
        ] {
            let refused = write(&path, Existing::Replaced).unwrap_err();
            assert!(refused.text.contains(said), "{}", refused.text);
        }
        assert_eq!(names(folder.path()), ["file"]);
    }
}
