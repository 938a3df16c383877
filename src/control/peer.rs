//! Who is at the other end, and in whose name they act.

use crate::table::input::{Person, Role};
use nix::unistd::{Uid, User};

/// A name at most. It goes into every event of the person.
const MAX_NAME: usize = 64;

/// Who connected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Peer {
    uid: u32,
    name: String,
    pub(super) role: Role,
    connection: u64,
}

/// Why somebody may not act so.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum NameError {
    #[error("root acts in somebody's name: add --by NAME, and the event will say both")]
    RootNeedsBy,
    #[error("only root acts in somebody else's name: leave --by out, you act as {0}")]
    OnlyRootHasBy(String),
    #[error("a name has 1 to {MAX_NAME} printable characters")]
    BadName,
}

impl Peer {
    pub(super) fn new(uid: u32, role: Role, connection: u64) -> Self {
        let name = match User::from_uid(Uid::from_raw(uid)) {
            Ok(Some(user)) => user.name,
            Ok(None) | Err(_) => format!("uid {uid}"),
        };
        Peer {
            uid,
            name,
            role,
            connection,
        }
    }

    /// The person who acts, in their own name or, for root, in that of `by`.
    pub(super) fn acting(&self, by: Option<String>) -> Result<Person, NameError> {
        let (name, login) = match by {
            Some(_) if self.uid != 0 => return Err(NameError::OnlyRootHasBy(self.name.clone())),
            None if self.uid == 0 => return Err(NameError::RootNeedsBy),
            Some(by) => (by, Some(self.name.clone())),
            None => (self.name.clone(), None),
        };
        let length = name.chars().count();
        if !(1..=MAX_NAME).contains(&length) || name.chars().any(char::is_control) || name.trim().is_empty() {
            return Err(NameError::BadName);
        }
        Ok(Person {
            name,
            login,
            role: self.role,
            connection: self.connection,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_acts_only_in_a_name_and_nobody_else_in_another() {
        let root = Peer::new(0, Role::Supervisor, 1);
        assert_eq!(root.acting(None), Err(NameError::RootNeedsBy));
        let person = root.acting(Some("ana".into())).unwrap();
        assert_eq!((person.name.as_str(), person.login.as_deref()), ("ana", Some("root")));
        assert_eq!(root.acting(Some(" ".into())), Err(NameError::BadName));
        assert_eq!(root.acting(Some("a\nb".into())), Err(NameError::BadName));
        // No system has this user.
        let somebody = Peer::new(4_000_000_000, Role::Technician, 2);
        assert_eq!(
            somebody.acting(Some("ana".into())),
            Err(NameError::OnlyRootHasBy("uid 4000000000".into()))
        );
        let person = somebody.acting(None).unwrap();
        assert_eq!((person.name.as_str(), person.login), ("uid 4000000000", None));
    }
}
