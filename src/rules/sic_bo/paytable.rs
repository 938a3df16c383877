//! What sic-bo's wagers pay: taken from an approved table, never assumed. PURE.

use super::{areas, wager};
use crate::rules::tai_sai::Wager;
use crate::rules::wager::Odds;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What every wager pays.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Paytable {
    /// One entry for each of [`areas`].
    pays: BTreeMap<&'static str, Pays>,
}

/// What one wager pays.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pays {
    /// The same whenever it wins.
    Always(Odds),
    /// An individual die face value: by how many dice show it, one to three.
    ByDice([Odds; 3]),
}

/// What is wrong with a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PaytableError {
    /// There is no such wager.
    UnknownWager(String),
    /// A wager has no odds.
    Missing(&'static str),
    /// A face value pays by the dice that show it, no other wager does.
    WrongKind(&'static str),
    /// Odds of nothing, or for nothing.
    NoOdds(&'static str),
}

impl std::fmt::Display for PaytableError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PaytableError::UnknownWager(id) => write!(f, "{} is no wager of sic-bo", id.escape_debug()),
            PaytableError::Missing(id) => write!(f, "{id} has no odds"),
            PaytableError::WrongKind(id) => {
                write!(
                    f,
                    "{id}: face values pay by how many dice show them, no other wager does"
                )
            }
            PaytableError::NoOdds(id) => write!(f, "{id} pays nothing"),
        }
    }
}

impl std::error::Error for PaytableError {}

impl Paytable {
    /// A table of these entries, one for each wager; of two for the same the later one counts.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with it.
    pub fn new<'a>(entries: impl IntoIterator<Item = (&'a str, Pays)>) -> Result<Paytable, PaytableError> {
        let mut pays = BTreeMap::new();
        for (id, entry) in entries {
            let (id, wager) = wager(id).ok_or_else(|| PaytableError::UnknownWager(id.to_owned()))?;
            let odds: &[Odds] = match (&entry, is_face(wager)) {
                (Pays::Always(odds), false) => std::slice::from_ref(odds),
                (Pays::ByDice(odds), true) => odds,
                (Pays::Always(_), true) | (Pays::ByDice(_), false) => return Err(PaytableError::WrongKind(id)),
            };
            if odds.iter().any(|odds| odds.pays == 0 || odds.per == 0) {
                return Err(PaytableError::NoOdds(id));
            }
            pays.insert(id, entry);
        }
        match areas().iter().find(|id| !pays.contains_key(*id)) {
            Some(missing) => Err(PaytableError::Missing(missing)),
            None => Ok(Paytable { pays }),
        }
    }

    /// What each area pays in canonical form, for a digest: one line an area, in the order of [`areas`]. A face value's line has
    /// its odds for one, two and three dice.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = "sic-bo paytable\n".to_owned();
        for id in areas() {
            let odds: &[Odds] = match self.pays.get(id) {
                Some(Pays::Always(odds)) => std::slice::from_ref(odds),
                Some(Pays::ByDice(odds)) => odds,
                None => &[],
            };
            text.push_str(id);
            for odds in odds {
                // Writing to a String can't fail.
                let _ = write!(text, " {}/{}", odds.pays, odds.per);
            }
            text.push('\n');
        }
        text
    }

    /// What this wager pays for these faces; `None` when it loses or isn't there.
    #[must_use]
    pub fn pays(&self, id: &str, faces: [u8; 3]) -> Option<Odds> {
        let (id, wager) = wager(id)?;
        wager.pays(faces)?;
        match (self.pays.get(id)?, wager) {
            (Pays::Always(odds), _) => Some(*odds),
            (Pays::ByDice([one, two, three]), Wager::Face(face)) => {
                match faces.iter().filter(|shown| **shown == face).count() {
                    1 => Some(*one),
                    2 => Some(*two),
                    _ => Some(*three),
                }
            }
            (Pays::ByDice(_), _) => None,
        }
    }
}

fn is_face(wager: Wager) -> bool {
    matches!(wager, Wager::Face(_))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::rules::tai_sai::outcomes;

    /// New Zealand's odds, as a table that somebody approved.
    pub(in crate::rules::sic_bo) fn like_new_zealand() -> Vec<(&'static str, Pays)> {
        crate::rules::sic_bo::wagers()
            .iter()
            .map(|(id, wager)| {
                let pays = if is_face(*wager) {
                    Pays::ByDice([1, 2, 12].map(Odds::to_one))
                } else {
                    Pays::Always(wager.best_odds())
                };
                (*id, pays)
            })
            .collect()
    }

    #[test]
    fn a_whole_table_pays_each_wager_by_itself() {
        let table = Paytable::new(like_new_zealand()).unwrap();
        for faces in outcomes() {
            for (id, wager) in crate::rules::sic_bo::wagers() {
                assert_eq!(table.pays(id, faces), wager.pays(faces), "{id}, {faces:?}");
            }
        }
        assert_eq!(table.pays("odd", [1, 2, 4]), None);
    }

    #[test]
    fn its_text_has_every_area_with_what_it_pays() {
        let text = Paytable::new(like_new_zealand()).unwrap().text();
        assert_eq!(text.lines().count(), 51);
        assert!(
            text.starts_with("sic-bo paytable\nsmall 1/1\nbig 1/1\ntriple_1 180/1\n"),
            "{text}"
        );
        assert!(text.ends_with("\nface_6 1/1 2/1 12/1\n"), "{text}");
    }

    #[test]
    fn what_is_wrong_with_a_table_is_told() {
        let but = |id: &'static str, pays: Option<Pays>| {
            let mut entries = like_new_zealand();
            entries.retain(|(other, _)| *other != id);
            entries.extend(pays.map(|pays| (id, pays)));
            Paytable::new(entries).unwrap_err()
        };
        let one = Odds::to_one(1);
        assert_eq!(but("big", None), PaytableError::Missing("big"));
        assert_eq!(
            but("odd", Some(Pays::Always(one))),
            PaytableError::UnknownWager("odd".to_owned())
        );
        assert_eq!(
            but("face_1", Some(Pays::Always(one))),
            PaytableError::WrongKind("face_1")
        );
        assert_eq!(
            but("big", Some(Pays::ByDice([one; 3]))),
            PaytableError::WrongKind("big")
        );
        assert_eq!(
            but("big", Some(Pays::Always(Odds { pays: 1, per: 0 }))),
            PaytableError::NoOdds("big")
        );
    }
}
