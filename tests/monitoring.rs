//! The alert rules and the dashboard name only numbers, labels and alerts that the daemon offers, and every rule is explained in the guide.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use tablegate::metrics::{FAMILIES, FamilyKind};
use tablegate::table::alert::Name;

#[derive(Deserialize)]
struct Rules {
    groups: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
struct Rule {
    alert: String,
    expr: String,
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
}

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn rules() -> Vec<Rule> {
    let rules: Rules = serde_saphyr::from_str(&read("deploy/prometheus/tablegate.rules.yml")).unwrap();
    rules.groups.into_iter().flat_map(|group| group.rules).collect()
}

/// Every query of the dashboard, with the panel that it is of.
fn queries() -> Vec<(String, String)> {
    let dashboard: serde_json::Value = serde_json::from_str(&read("deploy/grafana/tablegate.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| {
        let title = panel["title"].as_str().unwrap();
        let targets = panel["targets"].as_array().into_iter().flatten();
        targets.map(move |target| (title.to_owned(), target["expr"].as_str().unwrap().to_owned()))
    });
    targets.collect()
}

/// Words of a query that are names: not in quotes.
fn names(query: &str) -> Vec<String> {
    let outside: String = query.split('"').step_by(2).collect::<Vec<_>>().join(" ");
    let words = outside.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The values that a query compares the label with: `alert=~"a|b"` is a and b.
fn values(query: &str, label: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in query.split(['{', ',']).skip(1) {
        let Some(rest) = part.strip_prefix(label) else { continue };
        let Some(quoted) = rest.strip_prefix("=~\"").or_else(|| rest.strip_prefix("=\"")) else {
            continue;
        };
        found.extend(quoted.split('"').next().unwrap().split('|').map(str::to_owned));
    }
    found
}

/// Labels that Prometheus adds, or that a query makes.
const ADDED: [&str; 3] = ["instance", "job", "le"];

/// The labels that a query selects by or joins, as `metric{label=...}` has them, each with its metric.
fn selected(query: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (at, _) in query.match_indices('{') {
        let name: String = query[..at]
            .chars()
            .rev()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect();
        let name: String = name.chars().rev().collect();
        let inside = query[at + 1..].split('}').next().unwrap();
        let labels = inside.split("\",").filter_map(|part| part.split(['=', '!']).next());
        found.extend(labels.map(|label| (name.clone(), label.trim().to_owned())));
    }
    found
}

/// The label cell of a metric's row in the guide, which another test compares with what the daemon offers.
fn told_labels(metric: &str) -> String {
    let guide = read("docs/operations.md");
    let family = metric
        .trim_end_matches("_bucket")
        .trim_end_matches("_sum")
        .trim_end_matches("_count");
    let row = guide.lines().find(|line| line.starts_with(&format!("| `{family}` |")));
    row.map_or(String::new(), |row| row.split('|').nth(3).unwrap().to_owned())
}

/// What Prometheus stores of each family.
fn series() -> BTreeSet<String> {
    let all = FAMILIES.iter().flat_map(|family| {
        let ends: &[&str] = match family.kind {
            FamilyKind::Histogram => &["_bucket", "_sum", "_count"],
            FamilyKind::Counter | FamilyKind::Gauge => &[""],
        };
        ends.iter().map(|end| format!("{}{end}", family.name))
    });
    all.collect()
}

/// A query names nothing that isn't there.
fn check(place: &str, query: &str) {
    let known = series();
    let own: Vec<String> = names(query)
        .into_iter()
        .filter(|name| name.starts_with("tablegate_") || name.starts_with("process_"))
        .collect();
    for name in &own {
        assert!(known.contains(name), "{place}: there is no {name}: {query}");
    }
    assert!(!own.is_empty() || query.starts_with("up{"), "{place}: {query}");
    for (metric, label) in selected(query) {
        let told = told_labels(&metric);
        let known = told.split([';', ',', ' ', ':']).any(|word| word == label);
        assert!(
            known || ADDED.contains(&label.as_str()),
            "{place}: {metric} has no label {label}"
        );
    }
    let alerts: BTreeSet<&str> = Name::ALL.iter().map(|name| name.as_str()).collect();
    for alert in values(query, "alert") {
        assert!(alerts.contains(alert.as_str()), "{place}: there is no alert {alert}");
    }
}

#[test]
fn rules_name_what_there_is_and_the_guide_explains_each() {
    let guide = read("docs/operations.md");
    let section = guide
        .split("\n## Alert rules\n")
        .nth(1)
        .unwrap()
        .split("\n## ")
        .next()
        .unwrap();
    let explained: Vec<&str> = section.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let rules = rules();
    let named: Vec<&str> = rules.iter().map(|rule| rule.alert.as_str()).collect();
    assert_eq!(named, explained, "each rule has its heading, in this order");
    for rule in &rules {
        check(&rule.alert, &rule.expr);
        assert!(
            ["critical", "warning", "info"].contains(&rule.labels["severity"].as_str()),
            "{}",
            rule.alert
        );
        let runbook = format!("docs/operations.md#{}", rule.alert.to_ascii_lowercase());
        assert_eq!(rule.annotations["runbook"], runbook);
        assert!(
            rule.annotations["summary"].contains("{{ $labels.instance }}"),
            "{}",
            rule.alert
        );
    }
}

/// An alert that the daemon raises reaches whoever looks at Prometheus alone.
#[test]
fn every_alert_of_the_daemon_has_a_rule() {
    let seen: BTreeSet<String> = rules().iter().flat_map(|rule| values(&rule.expr, "alert")).collect();
    // These two have rules of their own numbers, which fire by themselves.
    let by_number = ["broker_unreachable", "clock_unsynchronised"];
    for name in Name::ALL.iter().map(|name| name.as_str()) {
        assert!(
            seen.contains(name) || by_number.contains(&name),
            "no rule knows the alert {name}"
        );
    }
}

#[test]
fn the_dashboard_names_what_there_is() {
    let queries = queries();
    assert!(queries.len() > 20, "{}", queries.len());
    for (panel, query) in &queries {
        check(panel, query);
        assert!(query.contains("$instance"), "{panel} shows every table: {query}");
    }
    let panels: BTreeSet<&str> = queries.iter().map(|(panel, _)| panel.as_str()).collect();
    for panel in [
        "Rounds an hour open",
        "Refused entries by code",
        "Voids in a hundred rounds",
        "Links up",
    ] {
        assert!(panels.contains(panel), "{panel}");
    }
}

/// The rules' own tests, by Prometheus' tool. `TABLEGATE_PROMTOOL` names the program; `tests/all` installs it.
#[test]
#[ignore = "needs promtool: tests/all runs it"]
fn prometheus_takes_the_rules_and_they_fire_when_they_should() {
    let promtool = std::env::var("TABLEGATE_PROMTOOL").unwrap_or_else(|_| "promtool".to_owned());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/prometheus");
    for arguments in [
        ["check", "rules", "tablegate.rules.yml"],
        ["test", "rules", "tablegate.rules.test.yml"],
    ] {
        let output = Command::new(&promtool)
            .args(arguments)
            .current_dir(&folder)
            .output()
            .unwrap_or_else(|error| panic!("needs promtool ({promtool}: {error}): run tests/all"));
        let said = [output.stdout, output.stderr].concat();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&said)
        );
    }
}

#[test]
fn a_name_that_does_not_exist_is_seen() {
    let wrong = |query: &str| std::panic::catch_unwind(|| check("x", query)).is_err();
    assert!(wrong("tablegate_evnts_backlog > 1"));
    assert!(wrong("tablegate_append_duration_seconds > 1"));
    assert!(wrong("tablegate_alert{alert=~\"lamp_failed|lamp_faild\"} == 1"));
    assert!(wrong("tablegate_link_up{devise=\"tumbler\"} == 0"));
    assert!(!wrong("tablegate_link_up{device=\"tumbler\",instance=\"x\"} == 0"));
    assert!(!wrong("tablegate_alert{alert=~\"lamp_failed|disk_low\"} == 1"));
}
