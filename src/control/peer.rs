//! Who is at the other end, and in whose name they act.

use crate::table::input::{Person, Role};
use nix::unistd::{Uid, User};

/// A name at most. It goes into every event of the person.
const MAX_NAME: usize = 64;

/// The name in which a person with this uid acts: their own or, for root, that of `by`. For commands that act without a daemon, by the
/// same rule.
///
/// # Errors
/// Root without a name, somebody else with one, or no name.
pub fn name_of(uid: u32, by: Option<&str>) -> Result<String, NameError> {
    Peer::new(uid, Role::Technician, 0).acting(by).map(|person| person.name)
}

/// Who connected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Peer {
    uid: u32,
    /// `None`: this PC knows no name for the uid.
    name: Option<String>,
    pub(super) role: Role,
    connection: u64,
}

/// Why somebody may not act so.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NameError {
    /// Root named nobody.
    #[error("root acts in somebody's name: add --by NAME, and the event will say both")]
    RootNeedsBy,
    /// Somebody else named another.
    #[error("only root acts in somebody else's name: leave --by out, you act as {0}")]
    OnlyRootHasBy(String),
    /// It is no name.
    #[error("a name has 1 to {MAX_NAME} printable characters")]
    BadName,
    /// The system has no name for the one who asks.
    #[error("this PC knows no person for uid {0}: acts carry a name, so log in as somebody it knows")]
    Nameless(u32),
}

impl Peer {
    pub(super) fn new(uid: u32, role: Role, connection: u64) -> Self {
        let name = match User::from_uid(Uid::from_raw(uid)) {
            Ok(Some(user)) => Some(user.name),
            Ok(None) | Err(_) => None,
        };
        Peer {
            uid,
            name,
            role,
            connection,
        }
    }

    /// The person who acts, in their own name or, for root, in that of `by`.
    ///
    /// # Errors
    ///
    /// When nobody would know afterwards who it was, or root's right is taken by another.
    pub(super) fn acting(&self, by: Option<&str>) -> Result<Person, NameError> {
        let itself = self.itself();
        let (name, login) = match by {
            Some(_) if self.uid != 0 => return Err(NameError::OnlyRootHasBy(itself.name)),
            None if self.uid == 0 => return Err(NameError::RootNeedsBy),
            Some(by) => (by.to_owned(), Some(itself.name)),
            None if self.name.is_none() => return Err(NameError::Nameless(self.uid)),
            None => (itself.name, None),
        };
        let length = name.chars().count();
        if !(1..=MAX_NAME).contains(&length) || name.chars().any(char::is_control) || name.trim().is_empty() {
            return Err(NameError::BadName);
        }
        Ok(Person { name, login, ..itself })
    }

    /// Who connected, whether they may act or not.
    pub(super) fn itself(&self) -> Person {
        Person {
            name: self.name.clone().unwrap_or_else(|| format!("uid {}", self.uid)),
            login: None,
            role: self.role,
            connection: self.connection,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_acts_only_in_a_name_and_nobody_else_in_another() {
        let root = Peer::new(0, Role::Supervisor, 1);
        assert_eq!(root.acting(None), Err(NameError::RootNeedsBy));
        let person = root.acting(Some("ana")).unwrap();
        assert_eq!((person.name.as_str(), person.login.as_deref()), ("ana", Some("root")));
        assert_eq!(root.acting(Some(" ")), Err(NameError::BadName));
        assert_eq!(root.acting(Some("a\nb")), Err(NameError::BadName));
        // No system has this user.
        let somebody = Peer::new(4_000_000_000, Role::Technician, 2);
        assert_eq!(
            somebody.acting(Some("ana")),
            Err(NameError::OnlyRootHasBy("uid 4000000000".into()))
        );
        assert_eq!(somebody.acting(None), Err(NameError::Nameless(4_000_000_000)));
        assert_eq!(somebody.itself().name, "uid 4000000000");
    }
}
