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
    let strangers = families_of_strangers(journals);
    for family in &strangers {
        if family
            .iter()
            .any(|id| is(journals, id, |track| track.known.is_announced))
        {
            announce(journals, family);
        }
    }
    // One of them, or one that is announced, may still name the link.
    if journals
        .values()
        .any(|track| track.known.is_announced && track.is_unread())
    {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for family in &strangers {
        let is_open = |id: &String| is(journals, id, |track| track.known.is_announced || track.is_unread());
        if family.iter().any(is_open) {
            continue;
        }
        let eldest = family.iter().filter(|id| named_by(journals, id).is_none());
        findings.extend(eldest.map(|id| Finding::Unannounced { journal_id: id.clone() }));
        announce(journals, family);
    }
    findings
}

/// Journals that aren't announced, each with those that it is linked to.
fn families_of_strangers(journals: &Journals) -> Vec<BTreeSet<String>> {
    let mut families: Vec<BTreeSet<String>> = Vec::new();
    for (id, track) in journals {
        if !track.known.is_announced && !families.iter().any(|family| family.contains(id)) {
            families.push(family(journals, id));
        }
    }
    families
}

fn announce(journals: &mut Journals, family: &BTreeSet<String>) {
    for id in family {
        if let Some(track) = journals.get_mut(id) {
            track.known.is_announced = true;
        }
    }
}

/// Journals that are named and not known, while some journal belongs to nobody: one of them may be the link. What came before the first
/// journal that a consumer knows is not wanted for itself.
pub(super) fn missing_links(journals: &Journals) -> Vec<String> {
    if journals.values().all(|track| track.known.is_announced) {
        return Vec::new();
    }
    let named = journals.values().filter_map(|track| match &track.known.beginning {
        Beginning::After { journal_id, .. } => Some(journal_id),
        Beginning::First | Beginning::Unread | Beginning::Unknown => None,
    });
    named.filter(|id| !journals.contains_key(*id)).cloned().collect()
}

fn is(journals: &Journals, id: &str, holds: impl Fn(&Track) -> bool) -> bool {
    journals.get(id).is_some_and(holds)
}

/// The journal, among those that are known, that this one names as the one before it.
fn named_by<'a>(journals: &'a Journals, id: &str) -> Option<&'a str> {
    match &journals.get(id)?.known.beginning {
        Beginning::After { journal_id, .. } => journals.get_key_value(journal_id).map(|(before, _)| before.as_str()),
        Beginning::First | Beginning::Unread | Beginning::Unknown => None,
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
