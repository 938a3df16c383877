//! Which journals belong together: each names the one before it, and a table has one line of them.
//!
//! The journal that a consumer knew first is announced. So is one that names an announced journal, or is named by one: the order in
//! which they come doesn't matter. Journals that belong together among themselves, and to no announced one, are an alarm once the
//! first events of all were read: until then one may still name another.

use super::track::Track;
use super::{Beginning, Finding};
use std::collections::{BTreeMap, BTreeSet};

type Journals = BTreeMap<String, Track>;

/// Announces what is linked, and returns the alarms.
pub(super) fn judge(journals: &mut Journals) -> Vec<Finding> {
    let mut findings = Vec::new();
    let strangers: Vec<String> = journals
        .iter()
        .filter(|(_, track)| !track.known.is_announced)
        .map(|(id, _)| id.clone())
        .collect();
    let mut seen = BTreeSet::new();
    for id in strangers {
        if seen.contains(&id) {
            continue;
        }
        let family = family(journals, &id);
        seen.extend(family.iter().cloned());
        let is_announced = family
            .iter()
            .any(|id| is(journals, id, |track| track.known.is_announced));
        // One of them, or one that is announced, may still name the link.
        let is_open = family.iter().any(|id| is(journals, id, Track::is_unread))
            || journals
                .values()
                .any(|track| track.known.is_announced && track.is_unread());
        if !is_announced && is_open {
            continue;
        }
        if !is_announced {
            let eldest = family.iter().filter(|id| named_by(journals, id).is_none());
            findings.extend(eldest.map(|id| Finding::Unannounced { journal_id: id.clone() }));
        }
        for id in &family {
            if let Some(track) = journals.get_mut(id) {
                track.known.is_announced = true;
            }
        }
    }
    findings
}

fn is(journals: &Journals, id: &str, holds: impl Fn(&Track) -> bool) -> bool {
    journals.get(id).is_some_and(holds)
}

/// The journal, among those that are known, that this one names as the one before it.
fn named_by<'a>(journals: &'a Journals, id: &str) -> Option<&'a str> {
    match &journals.get(id)?.known.beginning {
        Beginning::After(before) if before != id => journals.get_key_value(before).map(|(before, _)| before.as_str()),
        Beginning::After(_) | Beginning::First | Beginning::Unread | Beginning::Unknown => None,
    }
}

/// All that are linked to this one, in either direction.
fn family(journals: &Journals, id: &str) -> BTreeSet<String> {
    let mut family = BTreeSet::from([id.to_owned()]);
    loop {
        let more: Vec<String> = journals
            .keys()
            .filter(|other| !family.contains(*other))
            .filter(|other| {
                let names_one = named_by(journals, other).is_some_and(|before| family.contains(before));
                names_one
                    || family
                        .iter()
                        .any(|member| named_by(journals, member) == Some(other.as_str()))
            })
            .cloned()
            .collect();
        if more.is_empty() {
            return family;
        }
        family.extend(more);
    }
}
