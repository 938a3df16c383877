//! The operations guide says of every alert and of every metric what it means; it names none that isn't there.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::collections::BTreeSet;
use tablegate::metrics::{FAMILIES, FamilyKind};
use tablegate::table::alert::Name;

/// The cells of the table's rows under this heading, without the two of its head.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let guide = std::fs::read_to_string("docs/operations.md").unwrap();
    let section = guide.split(&format!("\n## {heading}\n")).nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
    rows.map(|row| {
        row.trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect()
    })
    .collect()
}

fn name(cell: &str) -> &str {
    cell.strip_prefix('`').and_then(|cell| cell.strip_suffix('`')).unwrap()
}

#[test]
fn every_alert_says_what_it_means_when_it_ends_and_what_to_do() {
    let rows = rows("Alerts");
    let told: Vec<&str> = rows.iter().map(|row| name(&row[0])).collect();
    let names: BTreeSet<&str> = Name::ALL.iter().map(|name| name.as_str()).collect();
    assert_eq!(told.iter().copied().collect::<BTreeSet<_>>(), names);
    assert_eq!(told.len(), names.len(), "each once");
    for row in &rows {
        assert_eq!(row.len(), 4, "{row:?}");
        assert!(row.iter().all(|cell| cell.len() > 5), "{row:?}");
    }
}

#[test]
fn every_metric_says_what_it_is() {
    let rows = rows("Metrics");
    let told: Vec<(&str, &str, &str)> = rows.iter().map(|row| (name(&row[0]), &*row[1], &*row[3])).collect();
    let families: Vec<(&str, &str, &str)> = FAMILIES
        .iter()
        .map(|family| {
            let kind = match family.kind {
                FamilyKind::Counter => "counter",
                FamilyKind::Gauge => "gauge",
                FamilyKind::Histogram => "histogram",
            };
            (family.name, kind, family.help)
        })
        .collect();
    assert_eq!(told, families);
}

#[test]
fn metrics_are_named_as_prometheus_asks() {
    for family in FAMILIES {
        let name = family.name;
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{name}");
        assert!(name.starts_with("tablegate_") || name.starts_with("process_"), "{name}");
        assert_eq!(name.ends_with("_total"), family.kind == FamilyKind::Counter, "{name}");
        assert!(!family.help.ends_with('.'), "{name}");
    }
}
