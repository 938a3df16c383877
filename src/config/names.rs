//! Names that are refused, and what somebody may have meant by one that isn't known.

use super::keys::{KEYS, REFUSED, SECTIONS};

/// Why this name, or one above it, is refused.
#[must_use]
pub fn refused(path: &str) -> Option<&'static str> {
    let above = |refused: &str| {
        path.strip_prefix(refused)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    REFUSED
        .iter()
        .find(|(refused, _)| above(refused))
        .map(|(_, reason)| *reason)
}

/// The known name nearest to an unknown one, also among those that are refused; `None` when none is near.
#[must_use]
pub fn nearest(path: &str) -> Option<&'static str> {
    let known = KEYS
        .iter()
        .map(|key| key.path)
        .chain(SECTIONS.iter().map(|section| section.path))
        .chain(REFUSED.iter().map(|(path, _)| *path));
    nearest_of(path, known)
}

/// How alike two names have to be to be suggested for one another, 0 to 1: below this the suggestion is a guess.
const ALIKE: f64 = 0.75;

/// The one of `known` that is nearest to `name`. A key that only stands in the wrong section is near.
pub fn nearest_of<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let last = |path: &str| path.rsplit_once('.').map_or(path, |(_, last)| last).to_owned();
    let likeness = |candidate: &str| {
        let whole = strsim::normalized_damerau_levenshtein(name, candidate);
        let moved = strsim::normalized_damerau_levenshtein(&last(name), &last(candidate));
        // Among keys of the same name the one whose section is alike wins.
        whole.max(moved * 0.9 + whole * 0.1)
    };
    known
        .map(|candidate| (likeness(candidate), candidate))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_miss_finds_its_key() {
        for (wrong, right) in [
            ("tai_sai.rest", Some("tai_sai.rest_ms")),
            ("tai_sai.layuot", Some("tai_sai.layout")),
            ("taisai", Some("tai_sai")),
            ("mqtt.broker", Some("mqtt.brokers")),
            ("tai_sai.retention_days", Some("journal.retention_days")),
            ("devices.lamp.port", Some("devices.lamps.port")),
            ("dispaly", Some("display")),
            ("mqtt.pasword", Some("mqtt.password")),
            ("metric", Some("metrics")),
            ("table.colour", None),
            ("x", None),
        ] {
            assert_eq!(nearest(wrong), right, "{wrong}");
        }
    }
}
