//! Where the daemon will keep its journal and make its sockets: whether there is such a place, and whether this user may write
//! there; and the file of the key that signs. For `config check`; the daemon itself finds out by using them.

use super::problem::{Origin, Problem};
use super::{Config, Effective, signing_key};
use nix::unistd::{AccessFlags, Uid, User, access};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// What there is at a directory's path.
#[derive(PartialEq, Eq, Debug)]
enum Found {
    /// It is there, and this user may make files in it.
    Usable,
    /// It is not there; the nearest folder above it that is, and this user may make folders in it.
    CanBeMade,
    /// It, or the nearest folder above it that is there, may not be written by this user.
    Closed(PathBuf),
    /// On the way there is something that is no folder.
    NoFolder(PathBuf),
}

fn look(directory: &Path) -> Found {
    for (above, place) in directory.ancestors().enumerate() {
        match std::fs::metadata(place) {
            Ok(found) if !found.is_dir() => return Found::NoFolder(place.to_owned()),
            Ok(_) if access(place, AccessFlags::W_OK | AccessFlags::X_OK).is_err() => {
                return Found::Closed(place.to_owned());
            }
            Ok(_) if above == 0 => return Found::Usable,
            Ok(_) => return Found::CanBeMade,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Found::Closed(place.to_owned()),
            // Not there, or below something that is no folder: what is above it tells.
            Err(_) => {}
        }
    }
    Found::Closed(directory.to_owned())
}

/// What keeps, or may keep, the daemon from its journal and its sockets. What another user than this one may do can't be
/// told: that is a warning.
#[must_use]
pub fn doubts(config: &Config, effective: &Effective) -> Vec<Problem> {
    let mut problems = Vec::new();
    let origin = |key: &str| {
        let entry = effective.entries.iter().find(|entry| entry.key == key);
        entry.map_or(Origin::Default, |entry| entry.from.clone())
    };
    let user = || match User::from_uid(Uid::effective()) {
        Ok(Some(user)) => user.name,
        Ok(None) | Err(_) => Uid::effective().to_string(),
    };
    let closed = |key: &str, what: String, place: &Path| {
        let wrong = format!(
            "{what}, and {} may not be written by the user {}",
            place.display(),
            user()
        );
        let right = "a folder that the daemon's user may write to; as that user this check would say nothing";
        Problem::warning(origin(key), key, wrong, right)
    };
    let key = "journal.directory";
    let directory = &config.journal.directory;
    let is = format!("is {}", directory.display());
    match look(directory) {
        Found::Usable | Found::CanBeMade => {}
        Found::Closed(place) => problems.push(closed(key, is, &place)),
        Found::NoFolder(place) => problems.push(Problem::error(
            origin(key),
            key,
            format!("{is}, and {} is no folder", place.display()),
            "a folder of its own on a local disk, which the daemon makes when it isn't there",
        )),
    }
    problems.extend(config.signing_key.as_ref().and_then(signing_key::doubt));
    for (key, socket) in [
        ("control.socket", &config.control.socket),
        ("control.supervisor_socket", &config.control.supervisor_socket),
    ] {
        let is = format!("is {}", socket.display());
        let folder = socket.parent().unwrap_or(Path::new("/"));
        match look(folder) {
            Found::Usable => {
                let in_the_way = std::fs::symlink_metadata(socket).is_ok_and(|found| !found.file_type().is_socket());
                if in_the_way {
                    let right = "a path at which nothing is, or an old socket";
                    let wrong = format!("{is}, and something that is no socket is there");
                    problems.push(Problem::error(origin(key), key, wrong, right));
                }
            }
            Found::CanBeMade => problems.push(Problem::warning(
                origin(key),
                key,
                format!("{is}, and the folder {} isn't there now", folder.display()),
                "a folder that is there when the daemon starts: it makes none for its sockets (the shipped unit makes /run/tablegate)",
            )),
            Found::Closed(place) => problems.push(closed(key, is, &place)),
            Found::NoFolder(place) => problems.push(Problem::error(
                origin(key),
                key,
                format!("{is}, and {} is no folder", place.display()),
                "a path in a folder that the daemon's user may write to",
            )),
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_folder_is_usable_can_be_made_or_is_none() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        std::fs::write(at("file"), "").unwrap();
        assert_eq!(look(root.path()), Found::Usable);
        assert_eq!(look(&at("a/b/c")), Found::CanBeMade);
        assert_eq!(look(&at("file")), Found::NoFolder(at("file")));
        assert_eq!(look(&at("file/b/c")), Found::NoFolder(at("file")));
        std::fs::create_dir(at("closed")).unwrap();
        std::fs::set_permissions(at("closed"), std::fs::Permissions::from_mode(0o555)).unwrap();
        let expected = if Uid::effective().is_root() {
            Found::CanBeMade
        } else {
            Found::Closed(at("closed"))
        };
        assert_eq!(look(&at("closed/a")), expected, "root may write everywhere");
    }
}
