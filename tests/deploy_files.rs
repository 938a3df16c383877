//! What is delivered beside the program names only what there is.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use tablegate::config;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// The values of a unit's key, of the instance TS-07.
fn values(unit: &str, key: &str) -> Vec<String> {
    let lines = unit
        .lines()
        .filter_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    lines.map(|value| value.replace("%i", "TS-07")).collect()
}

#[test]
fn the_unit_names_only_what_exists() {
    let unit = read("systemd/tablegate@.service");
    let made: BTreeSet<String> = read("systemd/tablegate.sysusers.conf")
        .lines()
        .filter(|line| line.starts_with("u ") || line.starts_with("g "))
        .map(|line| line.split(' ').nth(1).unwrap().to_owned())
        .collect();
    // Whom it runs as, and to whom its sockets are given.
    let mut needed = [values(&unit, "User"), values(&unit, "Group")].concat();
    let mut given = BTreeSet::new();
    for command in values(&unit, "ExecStartPost") {
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!((words.len(), words[0]), (3, "-+/usr/bin/chgrp"), "{command}");
        needed.push(words[1].to_owned());
        given.insert(PathBuf::from(words[2]));
    }
    assert!(
        needed.len() >= 4 && needed.iter().all(|name| made.contains(name)),
        "{needed:?} of {made:?}"
    );
    assert_eq!(
        values(&unit, "SupplementaryGroups"),
        ["dialout"],
        "of the system itself"
    );
    assert_eq!(
        given,
        [config::socket("TS-07"), config::supervisor_socket("TS-07")]
            .into_iter()
            .collect()
    );
    // The folders are those of the example.
    let example = config::load(&root().join("deploy/TS-07.toml"), &[]).unwrap();
    assert_eq!(values(&unit, "StateDirectory"), ["tablegate/TS-07"]);
    assert_eq!(example.journal.directory, Path::new("/var/lib/tablegate/TS-07"));
    assert_eq!(values(&unit, "RuntimeDirectory"), ["tablegate"]);
    assert_eq!(example.control.socket.parent(), Some(Path::new("/run/tablegate")));
    // No page, program or file that nobody delivers.
    let pages: Vec<String> = values(&unit, "Documentation")
        .iter()
        .flat_map(|value| value.split(' ').map(str::to_owned).collect::<Vec<_>>())
        .collect();
    assert!(!pages.is_empty());
    for page in pages {
        let name = page
            .strip_prefix("man:")
            .and_then(|page| page.strip_suffix("(1)"))
            .unwrap();
        let words: Vec<&str> = name.split('-').skip(1).collect();
        let printed = Command::new(env!("CARGO_BIN_EXE_tablegate"))
            .arg("man")
            .args(words)
            .output()
            .unwrap();
        assert!(printed.status.success(), "{page}");
    }
    let start = values(&unit, "ExecStart");
    assert_eq!(start, ["/usr/bin/tablegate run --config /etc/tablegate/TS-07.toml"]);
    // The check before it keeps nobody from starting: what it refuses, the daemon refuses with a status that ends the restarts.
    assert_eq!(
        values(&unit, "ExecStartPre"),
        [
            "-+/usr/bin/systemd-tmpfiles --create --prefix=/var/lib/tablegate tablegate.conf",
            "-/usr/bin/tablegate config check /etc/tablegate/TS-07.toml"
        ]
    );
    let words: Vec<&str> = start[0].split(' ').skip(1).collect();
    let run = Command::new(env!("CARGO_BIN_EXE_tablegate"))
        .args(&words[..2])
        .arg("/nowhere/TS-07.toml")
        .output()
        .unwrap();
    assert_eq!(
        run.status.code(),
        Some(3),
        "the command line is understood, and the file is missed"
    );
}

/// A table whose secrets aren't there starts all the same and says what it misses, so their paths are relative: a missing absolute one
/// stops the unit. Where the examples look is where the unit puts them.
#[test]
fn the_unit_gives_the_secrets_that_the_examples_ask_for_and_needs_none() {
    let unit = read("systemd/tablegate@.service");
    let mut given = BTreeSet::new();
    for credential in values(&unit, "LoadCredential") {
        let (id, file) = credential.split_once(':').unwrap();
        assert_eq!(file, format!("tablegate.TS-07.{id}"), "found in /etc/credstore");
        given.insert(format!("/run/credentials/tablegate@TS-07.service/{id}"));
    }
    let example = read("deploy/TS-07.toml");
    let asked: BTreeSet<String> = example
        .split('"')
        .filter(|text| text.starts_with("/run/credentials/"))
        .map(str::to_owned)
        .collect();
    assert_eq!(given, asked);
}

#[test]
fn the_package_has_the_programs_version() {
    let changelog = read("deploy/debian/changelog");
    let newest = format!("tablegate ({}-1) ", env!("CARGO_PKG_VERSION"));
    assert!(changelog.starts_with(&newest), "{newest:?} is the newest entry");
}

#[test]
fn files_that_are_named_are_there() {
    let mut named = 0;
    let places = ["systemd/tablegate@.service", "src/device/holder.rs", "README.md"];
    for place in places {
        for word in read(place).split(|c: char| c.is_whitespace() || "()`,;\"".contains(c)) {
            let word = word.trim_end_matches(['.', ':']);
            if word.starts_with("deploy/") || word.starts_with("systemd/") || word.starts_with("docs/") {
                assert!(root().join(word).exists(), "{place} names {word}");
                named += 1;
            }
        }
    }
    assert!(named > 3, "{named}");
}

#[test]
fn the_udev_rules_do_what_messages_and_unit_say_of_them() {
    let rules = read("deploy/60-tablegate.rules");
    for part in [
        "ENV{ID_MM_DEVICE_IGNORE}=\"1\"",
        "GROUP=\"dialout\"",
        "ATTR{latency_timer}=\"1\"",
    ] {
        assert!(rules.contains(part), "{part}");
    }
    for line in rules.lines().filter(|line| !line.starts_with('#')) {
        for item in line.split(", ") {
            let known = [
                "ACTION",
                "SUBSYSTEM",
                "SUBSYSTEMS",
                "DRIVER",
                "ENV{",
                "GROUP",
                "MODE",
                "ATTR{",
            ];
            assert!(
                known.iter().any(|key| item.starts_with(key)) && item.ends_with('"'),
                "{item}"
            );
        }
    }
}

/// As `systemd-analyze security` counts it: 0 is a unit that can do nothing, 10 one that may do everything.
const MOST_EXPOSURE: &str = "1.5";

#[test]
#[ignore = "needs systemd-analyze: tests/all installs it"]
fn the_unit_can_do_what_it_needs_and_little_else() {
    let unit = read("systemd/tablegate@.service");
    // It opens its ports, of every kind that a table has, and no other device.
    assert_eq!(values(&unit, "DevicePolicy"), ["closed"]);
    let allowed = values(&unit, "DeviceAllow");
    assert_eq!(allowed, ["char-ttyUSB rw", "char-ttyACM rw", "char-ttyS rw"]);
    assert!(
        values(&unit, "PrivateDevices").is_empty(),
        "it would hide the serial ports"
    );
    assert!(
        values(&unit, "BindsTo").is_empty() && values(&unit, "Requires").is_empty(),
        "it starts without its devices"
    );
    let threshold = MOST_EXPOSURE.replace('.', "");
    let output = Command::new("systemd-analyze")
        .args(["security", "--offline=true", "--no-pager"])
        .arg(format!("--threshold={threshold}"))
        .arg(root().join("systemd/tablegate@.service"))
        .output()
        .expect("systemd-analyze is installed");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "the exposure is above {MOST_EXPOSURE}:\n{text}"
    );
}
