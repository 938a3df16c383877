//! The configuration is taken as it is written or not at all, and everything that is wrong is said at once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tablegate::config::keys::{
    Absent, KEYS, Key, Kind, Play, Presence, RETENTION_DAYS_MIN, SECTIONS, Section, Tables, section,
};
use tablegate::config::{Config, Examined, FileReader, Origin, Problem, examine, examine_text, template};
use tablegate::device::TumblerBuild;
use tablegate::rules::sic_bo::machine::Tumbler;
use tablegate::rules::tai_sai::{Layout, Style, areas};
use tablegate::rules::triple_penny::Display as ShownBy;
use tablegate::rules::two_up_dice::machine::FirstThree;
use tablegate::table::MisKeyed;
use tablegate::table::input::DeviceKind;
use tablegate::table::{GameConfig, HousePolicy, SicBoConfig};

/// Files by name; others aren't there.
struct Files(BTreeMap<PathBuf, String>);

impl FileReader for Files {
    fn read(&self, path: &Path) -> io::Result<String> {
        self.0
            .get(path)
            .cloned()
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "it isn't there"))
    }

    fn exists(&self, path: &Path) -> bool {
        self.0.contains_key(path)
    }
}

const FILE: &str = "/etc/tablegate/TS-07.toml";

/// Everything that a file names is there; the lamp map is the default one written out.
fn files() -> Files {
    let map: String = areas(Layout::Appendix1)
        .iter()
        .enumerate()
        .map(|(n, area)| format!("{area} = [{n}]\n"))
        .collect();
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy");
    let odds = std::fs::read_to_string(deploy.join("SB-02.paytable.toml")).unwrap();
    let mut files = BTreeMap::from([
        (PathBuf::from("/etc/tablegate/SB-02.lamps.toml"), map.clone()),
        (PathBuf::from("/etc/tablegate/TS-07.lamps.toml"), map),
        (PathBuf::from("/etc/tablegate/SB-02.paytable.toml"), odds),
    ]);
    for name in [
        "/etc/tablegate/ca.pem",
        "/etc/tablegate/TS-07.pem",
        "/run/credentials/tablegate@TS-07.service/mqtt.key",
        "/run/credentials/tablegate@TS-07.service/mqtt.password",
    ] {
        files.insert(PathBuf::from(name), String::new());
    }
    Files(files)
}

fn examined(text: &str, environment: &[(&str, &str)]) -> Examined {
    let environment: Vec<(OsString, OsString)> = environment
        .iter()
        .map(|(name, value)| (OsString::from(name), OsString::from(value)))
        .collect();
    examine_text(text, Path::new(FILE), &environment, &files())
}

fn accepted(text: &str, environment: &[(&str, &str)]) -> Config {
    let examined = examined(text, environment);
    assert_eq!(examined.problems, [], "{text}");
    examined.config.unwrap()
}

/// The problems, a line each.
fn told(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("{problem}\n")).collect()
}

/// A value of the key that is good, as TOML.
fn good(key: &Key) -> String {
    match key.absent {
        Absent::Refused(text) | Absent::Default(text) | Absent::None(text) | Absent::Usual(text) => text.to_owned(),
        Absent::Follows(text) => format!("\"{}\"", text.replace("{instance}", "TS-07")),
    }
}

/// A file with every key of a table that plays this, where `changed` may give another value, or none.
fn file_of(play: Play, changed: &dyn Fn(&Key) -> Option<String>) -> String {
    let mut text = String::new();
    for section in play.sections() {
        writeln!(text, "[{}]", section.path).unwrap();
        let of_section = KEYS.iter().filter(|key| key.section() == section.path);
        for key in of_section.filter(|key| key.is_of(play)) {
            let own = own_value(play, key);
            if let Some(value) = changed(key).map(|value| {
                if value == good(key) {
                    own.unwrap_or(value)
                } else {
                    value
                }
            }) {
                writeln!(text, "{} = {value}", key.name()).unwrap();
            }
        }
    }
    text
}

/// What makes a file one of this play, where an example would make it another's.
fn own_value(play: Play, key: &Key) -> Option<String> {
    play.word(key.path).map(|word| format!("\"{word}\""))
}

/// The same of a tai-sai table, style A.
fn file_with(changed: &dyn Fn(&Key) -> Option<String>) -> String {
    file_of(Play::TaiSaiA, changed)
}

fn full() -> String {
    file_with(&|key| Some(good(key)))
}

/// A table that has this key.
fn home(key: &Key) -> Play {
    *Play::ALL
        .iter()
        .find(|play| key.is_of(**play))
        .expect("each key is of some table")
}

/// The line of a key in a text made by `file_with`.
fn line_of(text: &str, key: &Key) -> usize {
    let mut section = "";
    for (n, line) in text.lines().enumerate() {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name;
        } else if section == key.section() && line.starts_with(&format!("{} = ", key.name())) {
            return n + 1;
        }
    }
    panic!("{} isn't in the text", key.path);
}

#[test]
fn a_file_with_every_key_is_accepted() {
    let config = accepted(&full(), &[]);
    assert_eq!(config.instance, "TS-07");
    assert_eq!(config.uplink.prefix, "tablegate/v1/harbour/TS-07");
    assert_eq!(config.control.socket, Path::new("/run/tablegate/TS-07.sock"));
    assert_eq!(config.display.unwrap().results, 20);
    assert_eq!(config.uplink.login.unwrap().username, "TS-07");
}

/// Values that are wrong for a kind, those that a lenient reader would convert first.
fn wrong_values(kind: Kind) -> Vec<&'static str> {
    let mut wrong = vec![
        "[[1]]",
        "{ a = 1 }",
        "1979-05-27",
        "1883.9",
        "inf",
        "[]",
        "[17]",
        "[true]",
    ];
    match kind {
        Kind::Text | Kind::Path | Kind::OneOf(_) => {
            wrong.extend(["17", "0", "true", "false", "[\"a\"]", "\"\"", "\" \"", "\"a\\u0007\""]);
        }
        Kind::Flag => wrong.extend(["\"on\"", "\"true\"", "\"yes\"", "\"1\"", "1", "0", "\"\""]),
        Kind::Whole { .. } => wrong.extend([
            "\"1\"",
            "true",
            "100000.0",
            "9.6e3",
            "-1",
            "9223372036854775807",
            "92233720368547758070",
        ]),
        Kind::Texts => wrong.extend(["\"a\"", "true", "17", "[\"a\", 1]", "[\"\"]", "[\"a\", [\"b\"]]"]),
    }
    if kind == Kind::Path {
        wrong.extend(["\"relative/path\"", "\"-----BEGIN PRIVATE KEY-----\""]);
    }
    wrong
}

#[test]
fn each_key_with_a_wrong_value_is_refused_by_its_name_and_line() {
    let mut tried = 0;
    for key in KEYS {
        for value in wrong_values(key.kind) {
            // An empty list is a list: right by its type, and for the prefixes altogether.
            if value == "[]" && key.kind == Kind::Texts {
                continue;
            }
            let text = file_of(home(key), &|other| {
                Some(if other.path == key.path {
                    value.to_owned()
                } else {
                    good(other)
                })
            });
            let examined = examined(&text, &[]);
            let origin = Origin::File {
                path: PathBuf::from(FILE),
                line: Some(line_of(&text, key)),
            };
            let named = |p: &&Problem| p.key.as_deref() == Some(key.path) && p.origin == origin;
            let problem = examined.errors().find(named);
            assert!(
                problem.is_some(),
                "{} = {value} was not told:\n{}",
                key.path,
                told(&examined.problems)
            );
            assert!(!problem.unwrap().right.is_empty());
            assert!(examined.config.is_none());
            assert_eq!(
                examined.problems.len(),
                1,
                "{} = {value}: one mistake, one problem:\n{}",
                key.path,
                told(&examined.problems)
            );
            tried += 1;
        }
    }
    assert!(tried > 400, "{tried}");
}

#[test]
fn numbers_are_taken_to_their_ends_and_not_beyond() {
    for key in KEYS {
        let Kind::Whole { min, max, .. } = key.kind else {
            continue;
        };
        for (number, good_number) in [(min, true), (max, true), (min - 1, false), (max + 1, false)] {
            let text = file_of(home(key), &|other| {
                Some(if other.path == key.path {
                    number.to_string()
                } else {
                    good(other)
                })
            });
            let examined = examined(&text, &[]);
            assert_eq!(
                examined.config.is_some(),
                good_number,
                "{} = {number}: {}",
                key.path,
                told(&examined.problems)
            );
        }
    }
    const { assert!(RETENTION_DAYS_MIN >= 90) };
}

#[test]
fn each_key_that_has_to_be_there_is_missed_by_its_name() {
    for key in KEYS {
        let text = file_of(home(key), &|other| (other.path != key.path).then(|| good(other)));
        let examined = examined(&text, &[]);
        let pair = ["mqtt.ca", "mqtt.certificate", "mqtt.key", "mqtt.username"].contains(&key.path);
        if matches!(key.absent, Absent::Refused(_)) || pair {
            assert_eq!(examined.problems.len(), 1, "{}: {}", key.path, told(&examined.problems));
            assert_eq!(examined.problems[0].key.as_deref(), Some(key.path));
            assert!(examined.problems[0].wrong.contains("is missing"));
        } else {
            assert_eq!(examined.problems, [], "{}", key.path);
        }
    }
    let examined = examined("", &[]);
    insta::assert_snapshot!(told(&examined.problems));
}

/// A good value as the environment writes it.
fn in_environment(toml: &str) -> String {
    toml.trim_matches(['[', ']'])
        .split(", ")
        .map(|item| item.trim_matches('"'))
        .collect::<Vec<_>>()
        .join(",")
}

#[test]
fn the_environment_overrules_the_file_and_is_as_strict() {
    for key in KEYS {
        let variable = key.variable();
        let play = home(key);
        let full = file_of(play, &|key| Some(good(key)));
        let text = file_of(play, &|other| (other.path != key.path).then(|| good(other)));
        let good_value = own_value(play, key).unwrap_or_else(|| good(key));
        let value = in_environment(&good_value);
        let examined_good = examined(&text, &[(&variable, &value)]);
        assert_eq!(examined_good.problems, [], "{variable}={value}");
        let entry = examined_good
            .effective
            .entries
            .iter()
            .find(|e| e.key == key.path)
            .unwrap();
        assert_eq!(entry.value, good_value, "{variable}");
        assert_eq!(entry.from, Origin::Environment { name: variable.clone() });
        // The same values have the same digest, wherever they stand.
        let (here, there) = (examined_good.config.unwrap(), accepted(&full, &[]));
        assert_eq!(here.gateway.config_sha256, there.gateway.config_sha256, "{variable}");

        let wrong: &[&str] = match key.kind {
            Kind::Flag => &["on", "True", "TRUE", "1", "0", "yes", "", " true"],
            Kind::Whole { .. } => &[
                "",
                "1e4",
                "+5000",
                "5000.0",
                " 5000",
                "0x1388",
                "5_000",
                "-1",
                "99999999999999999999",
            ],
            Kind::Text => &["", "  ", "a\tb"],
            Kind::Path => &["", "relative"],
            Kind::OneOf(_) => &["", "b", "tai-sai "],
            Kind::Texts => &["a,,b", "-----BEGIN"],
        };
        for value in wrong {
            let examined = examined(&full, &[(&variable, value)]);
            let origin = Origin::Environment { name: variable.clone() };
            assert!(
                examined
                    .errors()
                    .any(|p| p.origin == origin && p.key.as_deref() == Some(key.path)),
                "{variable}={value:?}: {}",
                told(&examined.problems)
            );
            assert!(examined.config.is_none());
        }
    }
}

#[test]
fn variables_that_are_not_known_are_refused_and_others_are_nobodys_business() {
    let examined_odd = examined(
        &full(),
        &[
            ("TABLEGATE__TABLE__SITTE", "x"),
            ("TABLEGATE__METRICS__LISTEN", "127.0.0.1:9480"),
            ("TABLEGATE__MQTT__PASSWORD", "hunter2"),
            ("TABLEGATE__table__site", "x"),
            ("TABLEGATE__TABLE_SITE", "x"),
            ("TABLEGATE__", "x"),
            ("TABLEGATE__DEVICES__LIGHTS__PORT", "/dev/ttyS1"),
        ],
    );
    insta::assert_snapshot!(told(&examined_odd.problems));
    accepted(
        &full(),
        &[
            ("TABLEGATE_VECTORS", "x"),
            ("PATH", "x"),
            ("tablegate__table__site", "x"),
            ("TABLEGATE", "x"),
        ],
    );
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let text = r#"
[table]
site = "har bour"
id = 7
game = "tai-sai"
colour = "red"

[tai_sai]
style = "C"
layout = "appendix-3"
rest = 3000
settle_after_ms = 100
display_fault_locks = "on"

[devices.tumbler]
port = "/dev/ttyUSB0"
baud = 1200

[devices.terminal]
port = "/dev/ttyUSB0"
protocol = "ascii"

[devices.lights]
port = "/dev/ttyS2"

[mqtt]
brokers = ["mqtt://floor.example", "floor.example:1883", "mqtts://me:hunter2@floor.example"]
password = "hunter2"
certificate = "/etc/tablegate/TS-07.pem"
prefix = "casino/#"

[journal]
directory = "var"
retention_days = 30

[display]
listen = "localhost:8480"

[control]
socket = "/run/a.sock"
supervisor_socket = "/run/a.sock"

[metrics]
listen = "127.0.0.1:0"

[sic_bo]
tumbler = "open"
"#;
    let told = told(&examined(text, &[("TABLEGATE__CLOCK__SOURCE", "ntp")]).problems);
    assert!(!told.contains("hunter2"), "a secret was repeated:\n{told}");
    insta::assert_snapshot!(told);
}

#[test]
fn a_secret_where_the_name_of_its_file_belongs_is_not_repeated() {
    let secrets = ["\"hunter2\"", "\"hunter2\\u0007\"", "271828", "[\"hunter2\"]"];
    for (path, secret) in ["mqtt.password_file", "mqtt.key"]
        .iter()
        .flat_map(|p| secrets.map(|s| (*p, s)))
    {
        let text = file_with(&|key| Some(if key.path == path { secret.to_owned() } else { good(key) }));
        let examined = examined(&text, &[]);
        assert!(examined.errors().any(|p| p.key.as_deref() == Some(path)));
        let told = told(&examined.problems);
        assert!(!told.contains("hunter2") && !told.contains("271828"), "{told}");
    }
}

#[test]
fn what_is_no_toml_is_told_with_its_line() {
    let text = "[table]\nsite = harbour\nid = \"TS-07\"\nid = \"TS-08\"\n";
    insta::assert_snapshot!(told(&examined(text, &[]).problems));
}

#[test]
fn names_that_only_look_like_sections_are_unknown() {
    for (text, key) in [
        ("\"table.site\" = \"x\"", "\"table.site\""),
        ("[\"tai_sai.rest_ms\"]\nx = 1", "\"tai_sai.rest_ms\""),
        ("[devices.\"tumbler.port\"]", "devices.\"tumbler.port\""),
        ("[[table]]\nsite = \"x\"", "table"),
        ("devices = 7", "devices"),
        ("[table.site]\nx = 1", "table.site"),
        ("[devices]\nport = \"/dev/x\"", "devices.port"),
    ] {
        let examined = examined(text, &[]);
        assert!(
            examined.errors().any(|p| p.key.as_deref() == Some(key)),
            "{text}: {}",
            told(&examined.problems)
        );
    }
}

#[test]
fn other_games_are_refused_by_name_and_their_sections_are_not_missed() {
    let text = "[table]\nsite = \"a\"\nid = \"b\"\ngame = \"roulette\"\n[sic_bo]\ntumbler = \"open\"\n[mqtt]\nbrokers = [\"mqtt://[::1]\"]\n[journal]\ndirectory = \"/j\"\n";
    insta::assert_snapshot!(told(&examined(text, &[]).problems));
}

#[test]
fn one_device_behind_two_names_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let device = folder.path().join("ttyS9");
    std::fs::write(&device, "").unwrap();
    for name in ["tumbler", "lamps"] {
        std::os::unix::fs::symlink(&device, folder.path().join(name)).unwrap();
    }
    let port = |name: &str| format!("{:?}", folder.path().join(name));
    let text = file_with(&|key| {
        Some(match key.path {
            "devices.tumbler.port" => port("tumbler"),
            "devices.terminal.port" => port("missing"),
            "devices.lamps.port" => port("lamps"),
            _ => good(key),
        })
    });
    let examined = examined(&text, &[]);
    assert_eq!(examined.problems.len(), 1, "{}", told(&examined.problems));
    let problem = &examined.problems[0];
    assert_eq!(problem.key.as_deref(), Some("devices.lamps.port"));
    assert!(problem.wrong.contains("devices.tumbler.port"), "{problem}");
}

#[test]
fn what_may_be_regretted_is_a_warning() {
    let text = file_with(&|key| {
        Some(match key.path {
            "devices.tumbler.port" => "\"/dev/ttyUSB0\"".to_owned(),
            "devices.lamps.port" => "\"/dev/serial/by-id/usb-1a86_USB_Serial-if00-port0\"".to_owned(),
            "display.listen" => "\"0.0.0.0:8480\"".to_owned(),
            "mqtt.ca" => "\"/nowhere/ca.pem\"".to_owned(),
            _ => good(key),
        })
    });
    let examined = examined(&text, &[]);
    assert!(examined.config.is_some());
    insta::assert_snapshot!(told(&examined.problems));
}

#[test]
fn brokers_in_the_clear_are_for_this_pc_or_for_who_says_so() {
    let with = |brokers: &str, plaintext: bool| {
        file_with(&|key| {
            let tls = ["mqtt.ca", "mqtt.certificate", "mqtt.key"].contains(&key.path);
            match key.path {
                "mqtt.brokers" => Some(format!("[{brokers}]")),
                "mqtt.allow_plaintext" => Some(plaintext.to_string()),
                _ if tls => None,
                _ => Some(good(key)),
            }
        })
    };
    for local in ["\"mqtt://localhost\"", "\"mqtt://127.0.0.1:1884\"", "\"mqtt://[::1]\""] {
        let config = accepted(&with(local, false), &[]);
        assert!(config.uplink.tls.is_none());
    }
    let remote = with("\"mqtt://floor.example\"", false);
    assert!(examined(&remote, &[]).config.is_none());
    accepted(&with("\"mqtt://floor.example\"", true), &[]);
    assert!(examined(&with("", false), &[]).config.is_none());
    let twice = "\"mqtt://localhost\", \"mqtt://localhost:1883\"";
    assert!(examined(&with(twice, false), &[]).config.is_none());
}

#[test]
fn each_games_template_is_accepted_and_says_the_defaults() {
    for play in Play::ALL {
        the_template_is_accepted_and_says_the_defaults(*play);
    }
    insta::assert_snapshot!(
        "the_template_is_accepted_and_says_the_defaults",
        template(Play::TaiSaiA)
    );
}

fn the_template_is_accepted_and_says_the_defaults(play: Play) {
    let template = template(play);
    let instance = play.instance();
    assert!(template.contains(&format!("id = \"{instance}\"")), "{template}");
    assert!(
        template.contains(&format!("/var/lib/tablegate/{instance}\"")),
        "{template}"
    );
    // The files that are at hand here are those of one table.
    let template = template.replace(instance, "TS-07");
    let written = examined(&template, &[]);
    assert_eq!(written.problems, []);
    // With every line in, examples but for those that say so, the same values hold.
    let all: String = template
        .lines()
        .map(|line| {
            let bare = line.strip_prefix("# ").unwrap_or(line);
            let is_value = bare
                .split_once(" = ")
                .is_some_and(|(name, _)| KEYS.iter().any(|key| key.name() == name));
            let is_section = bare.starts_with('[') && bare.ends_with(']') && !bare.contains(' ');
            let line = if is_value || is_section { bare } else { line };
            line.replace("site-table", "harbour-TS-07")
                .replace("{instance}", "TS-07")
                + "\n"
        })
        .collect();
    let all = examined(&all, &[]);
    assert_eq!(all.problems, []);
    let values = |examined: &Examined| -> Vec<(String, String)> {
        let entries = examined.effective.entries.iter();
        entries
            .filter(|e| !e.key.starts_with("display.") && !e.key.starts_with("metrics."))
            .map(|e| (e.key.clone(), e.value.clone()))
            .collect()
    };
    assert_eq!(values(&all), values(&written));
    for section in play.sections() {
        let of_section = KEYS.iter().filter(|key| key.section() == section.path);
        for key in of_section.filter(|key| key.is_of(play)) {
            assert!(
                template.contains(&format!("{} = ", key.name())),
                "{} isn't in the template of {}",
                key.path,
                play.words()
            );
        }
    }
}

#[test]
fn sections_of_another_game_are_refused_and_not_missed() {
    for play in Play::ALL {
        let whole = file_of(*play, &|key| Some(good(key)));
        accepted(&whole, &[]);
        for section in SECTIONS {
            let mut text = String::new();
            if section.presence(*play).is_none() {
                text = format!("{whole}\n[{}]\n", section.path);
                for key in KEYS.iter().filter(|key| key.section() == section.path) {
                    writeln!(text, "{} = {}", key.name(), good(key)).unwrap();
                }
            }
            if section.presence(*play) == Some(Presence::Needed) {
                // A section is there as soon as one below it is.
                let stays = |key: &Key| !key.section().starts_with(section.path);
                text = file_of(*play, &|key| stays(key).then(|| good(key)))
                    .replace(&format!("[{}]\n", section.path), "")
                    .replace(&format!("[{}.policy]\n", section.path), "");
            }
            if text.is_empty() {
                continue;
            }
            let examined = examined(&text, &[]);
            assert!(examined.config.is_none(), "{}: {}", play.words(), section.path);
            assert!(
                examined.errors().any(|p| p.key.as_deref() == Some(section.path)),
                "{}: {} is not named in\n{}",
                play.words(),
                section.path,
                told(&examined.problems)
            );
        }
    }
}

#[test]
fn values_reach_the_rooms_that_use_them() {
    let text = file_with(&|key| {
        Some(match key.path {
            "tai_sai.no_spin_after_uncover" => "\"void\"".to_owned(),
            "tai_sai.display_fault_locks" => "true".to_owned(),
            "devices.lamps.baud" => "9600".to_owned(),
            "journal.retention_days" => "91".to_owned(),
            _ => good(key),
        })
    });
    let config = accepted(&text, &[]);
    let GameConfig::TaiSai(game) = &config.gateway.game.game else {
        panic!("{:?}", config.gateway.game);
    };
    assert_eq!((game.style, game.layout), (Style::A, Layout::Appendix1));
    assert_eq!(game.rest, Duration::from_millis(3_000));
    assert_eq!(game.settle_after, Duration::from_millis(3_000));
    assert_eq!(game.cover_settles_after, Duration::from_millis(5_000));
    assert!(!game.hold_no_spin_after_uncover && game.display_fault_locks);
    assert_eq!(game.lamp_wait, Duration::from_millis(500 + 3 * 500));
    assert_eq!(game.lamp_map.len(), 50);
    let kinds: Vec<_> = config
        .ports
        .iter()
        .map(|port| (port.kind, port.baud, port.lamps_needed))
        .collect();
    assert_eq!(
        kinds,
        [
            (DeviceKind::Tumbler, 115_200, 0),
            (DeviceKind::Terminal, 115_200, 0),
            (DeviceKind::LayoutLamps, 9_600, 50)
        ]
    );
    assert_eq!(config.journal.retention, Duration::from_secs(91 * 86_400));
    assert_eq!(config.journal.min_free_bytes, 64_000_000);
    assert_eq!(config.uplink.client_id, "site-table");
}

/// A sic-bo table as these lines in `[sic_bo]` make it.
fn sic_bo(lines: &str) -> Config {
    let text = file_of(Play::SicBoOpen, &|key| {
        (!key.path.starts_with("sic_bo.")).then(|| good(key))
    });
    let text = text
        .replace("[sic_bo.policy]\n", "")
        .replace("[sic_bo]\n", &format!("[sic_bo]\n{lines}\n"));
    accepted(&text, &[])
}

fn sic_bo_of(config: &Config) -> &SicBoConfig {
    let GameConfig::SicBo(game) = &config.gateway.game.game else {
        panic!("{:?}", config.gateway.game.game);
    };
    game
}

#[test]
fn values_of_sic_bo_reach_the_table() {
    let config = sic_bo("tumbler = \"open\"");
    let game = sic_bo_of(&config);
    assert_eq!(
        (game.tumbler, &game.paytable, game.policy),
        (Tumbler::Open, &None, HousePolicy::default())
    );
    assert_eq!(game.lamp_map.len(), 50);
    assert_eq!(game.rest, Duration::from_millis(3_000));
    let build = |config: &Config| {
        config
            .ports
            .iter()
            .find(|p| p.kind == DeviceKind::Tumbler)
            .unwrap()
            .tumbler
    };
    assert_eq!(build(&config), TumblerBuild::Open);

    let paytable = "paytable = \"/etc/tablegate/SB-02.paytable.toml\"";
    let whole = sic_bo(&format!(
        "tumbler = \"covered\"\n{paytable}\npolicy = {{ void = true, amend = true }}"
    ));
    let game = sic_bo_of(&whole);
    assert!(game.tumbler == Tumbler::Covered && game.policy.void && game.policy.amend && !game.policy.lamps);
    let odds = game.paytable.as_ref().unwrap().text();
    assert!(odds.contains("\nface_6 1/1 2/1 12/1\n"), "{odds}");
    assert_eq!(build(&whole), TumblerBuild::Covered);

    let digest = |lines: &str| sic_bo(lines).gateway.config_sha256;
    assert_ne!(
        digest("tumbler = \"open\""),
        digest(&format!("tumbler = \"open\"\n{paytable}"))
    );
    assert_eq!(
        digest("tumbler = \"open\""),
        digest("tumbler = \"open\"\npolicy = { void = false, lamps = false, amend = false }")
    );
}

#[test]
fn a_dice_cup_has_no_tumbler() {
    let config = accepted(&file_of(Play::TaiSaiB, &|key| Some(good(key))), &[]);
    let kinds: Vec<_> = config.ports.iter().map(|port| port.kind).collect();
    assert_eq!(kinds, [DeviceKind::Terminal, DeviceKind::LayoutLamps]);
}

#[test]
fn keys_of_another_table_are_refused() {
    for play in Play::ALL {
        let has = |key: &&Key| section(key.section()).unwrap().presence(*play).is_some();
        for key in KEYS.iter().filter(has).filter(|key| !key.is_of(*play)) {
            let text = file_of(*play, &|key| Some(good(key)));
            let examined = examined(&text, &[(&key.variable(), &in_environment(&good(key)))]);
            assert_eq!(examined.problems.len(), 1, "{}: {}", key.path, told(&examined.problems));
            assert_eq!(examined.problems[0].key.as_deref(), Some(key.path));
            assert!(examined.config.is_none(), "{} at {}", key.path, play.words());
        }
    }
}

#[test]
fn values_of_two_up_reach_the_table() {
    let text = file_of(Play::TwoUpDice, &|key| {
        Some(match key.path {
            "two_up_dice.first_three" => "\"comes-back-after-a-win\"".to_owned(),
            "two_up_dice.mis_keyed" => "\"stands\"".to_owned(),
            "devices.lights.baud" => "9600".to_owned(),
            _ => good(key),
        })
    });
    let config = accepted(&text, &[]);
    let GameConfig::TwoUpDice(game) = &config.gateway.game.game else {
        panic!("another game");
    };
    assert_eq!(game.first_three, FirstThree::ComesBackAfterAWin);
    assert_eq!(game.mis_keyed, MisKeyed::Stands);
    assert_eq!(game.lamp_wait, Duration::from_millis(500 + 3 * 500));
    let ports: Vec<_> = config.ports.iter().map(|port| (port.kind, port.lamps_needed)).collect();
    assert_eq!(ports, [(DeviceKind::Terminal, 0), (DeviceKind::ResultLights, 11)]);

    // Both sections may be absent; what holds then stands in the template.
    for (play, display, devices) in [
        (Play::TwoUpDice, None, 2),
        (Play::TriplePennyLights, Some(ShownBy::Lights), 2),
        (Play::TriplePennyElectronic, Some(ShownBy::Electronic), 1),
        (Play::TriplePennyCards, Some(ShownBy::Cards), 1),
    ] {
        let config = accepted(&template(play).replace(play.instance(), "TS-07"), &[]);
        assert_eq!(config.ports.len(), devices, "{}", play.words());
        match (&config.gateway.game.game, display) {
            (GameConfig::TwoUpDice(game), None) => assert_eq!(game.first_three, FirstThree::ComesBack),
            (GameConfig::TriplePenny(game), Some(display)) => assert_eq!(game.display, display),
            other => panic!("{other:?}"),
        }
    }
    let without = "[table]\nsite = \"a\"\nid = \"b\"\ngame = \"triple-penny-two-up\"\n[devices.terminal]\nport = \"/dev/ttyS1\"\n\
                   [mqtt]\nbrokers = [\"mqtt://[::1]\"]\n[journal]\ndirectory = \"/j\"\n";
    let examined = examined(without, &[]);
    assert!(
        told(&examined.problems).contains("devices.lights is missing"),
        "{}",
        told(&examined.problems)
    );
    accepted(&format!("{without}[triple_penny]\ndisplay = \"cards\"\n"), &[]);
}

#[test]
fn the_canonical_text_knows_what_holds_and_nothing_else() {
    let examined_full = examined(&full(), &[]);
    insta::assert_snapshot!(examined_full.effective.canonical());
    let digest = |text: &str| accepted(text, &[]).gateway.config_sha256;
    let reordered = {
        let text = full();
        let (first, second) = text.split_at(text.find("[mqtt]").unwrap());
        format!("# another order\n{second}{first}")
    };
    assert_eq!(digest(&full()), digest(&reordered));
    let without_defaults = file_with(&|key| (!matches!(key.absent, Absent::Default(_))).then(|| good(key)));
    assert_eq!(digest(&full()), digest(&without_defaults));
    let changed = file_with(&|key| {
        Some(if key.path == "tai_sai.rest_ms" {
            "3001".to_owned()
        } else {
            good(key)
        })
    });
    assert_ne!(digest(&full()), digest(&changed));
    // Another map under the same name acts otherwise.
    let mut other = files();
    let map = other.0.get_mut(Path::new("/etc/tablegate/TS-07.lamps.toml")).unwrap();
    *map = map.replace("small = [0]", "small = [60]");
    let other = examine_text(&full(), Path::new(FILE), &[], &other).config.unwrap();
    assert_ne!(digest(&full()), other.gateway.config_sha256);
}

#[test]
fn example_files_are_accepted() {
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy");
    for (name, play) in [
        ("TS-07.toml", Play::TaiSaiA),
        ("TS-08.toml", Play::TaiSaiB),
        ("SB-01.toml", Play::SicBoCovered),
        ("TU-01.toml", Play::TwoUpDice),
        ("TP-01.toml", Play::TriplePennyElectronic),
    ] {
        let path = deploy.join(name);
        if std::env::var_os("TABLEGATE_WRITE_DOCS").is_some() {
            std::fs::write(&path, template(play)).unwrap();
        }
        assert_eq!(name, format!("{}.toml", play.instance()));
        let written = std::fs::read_to_string(&path).unwrap();
        assert_eq!(
            written,
            template(play),
            "deploy/{name} is a template: run this test with TABLEGATE_WRITE_DOCS=1"
        );
    }
    /// Files under `/etc/tablegate` are those of `deploy/`; secrets and certificates are there.
    struct Installed(PathBuf);
    impl FileReader for Installed {
        fn read(&self, path: &Path) -> io::Result<String> {
            std::fs::read_to_string(self.0.join(path.file_name().unwrap()))
        }
        fn exists(&self, _: &Path) -> bool {
            true
        }
    }
    let mut seen = Vec::new();
    for entry in std::fs::read_dir(&deploy).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_named_by_another = name.ends_with(".lamps.toml") || name.ends_with(".paytable.toml");
        if !name.ends_with(".toml") || is_named_by_another {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let examined = examine_text(&text, &path, &[], &Installed(deploy.clone()));
        assert_eq!(examined.problems, [], "{name}");
        let config = examined.config.unwrap();
        if name == "mirrored.toml" {
            assert_eq!(config.ports[2].lamps_needed, 112 + 106);
        }
        seen.push(name);
    }
    seen.sort();
    assert_eq!(
        seen,
        [
            "SB-01.toml",
            "SB-02.toml",
            "TP-01.toml",
            "TS-07.toml",
            "TS-08.toml",
            "TU-01.toml",
            "bench.toml",
            "mirrored.toml",
            "simulated-two-up.toml",
            "simulated.toml"
        ]
    );
}

/// At which tables a section of some games only is.
fn at(section: &Section) -> String {
    let plays = match section.tables {
        Tables::Every(_) => return String::new(),
        Tables::EveryBut(_, plays) | Tables::Of(plays) => plays,
    };
    let told = plays.iter().map(|(play, presence)| match presence {
        Presence::Needed => format!("{} (has to be there)", play.words()),
        Presence::Defaults | Presence::Optional => format!("{} (may be absent)", play.words()),
    });
    let told = told.collect::<Vec<_>>().join(", ");
    match section.tables {
        Tables::EveryBut(..) => format!(" At tables that play {told}, and at every other."),
        Tables::Every(_) | Tables::Of(_) => format!(" At tables that play {told}."),
    }
}

/// At which tables a key is that not every table of its section has.
fn only_at(key: &Key) -> String {
    let of_section = |play: &&Play| section(key.section()).unwrap().presence(**play).is_some();
    let (has, not): (Vec<&Play>, Vec<&Play>) = Play::ALL.iter().filter(of_section).partition(|play| key.is_of(**play));
    if not.is_empty() {
        return String::new();
    }
    let words: Vec<_> = has.iter().map(|play| play.words()).collect();
    format!(" Only at tables that play {}.", words.join(", "))
}

/// `docs/configuration.md` is this text. With `TABLEGATE_WRITE_DOCS=1` the test writes it.
#[test]
fn the_documents_say_every_key() {
    let mut text = "# Configuration\n\n\
        Made from the program's own table of keys; `tablegate config template tai-sai` prints a file to begin with.\n\n\
        A TOML file, `/etc/tablegate/INSTANCE.toml`, then environment variables over it: `tai_sai.rest_ms` is\n\
        `TABLEGATE__TAI_SAI__REST_MS`, lists are separated by commas. It is read at start only. Nothing is converted: text stands in\n\
        quotes, numbers and `true` and `false` don't. Names that aren't known are refused. `tablegate config check FILE` says everything\n\
        that is wrong, `tablegate config show FILE` what holds and where it came from.\n"
        .to_owned();
    for section in SECTIONS {
        writeln!(text, "\n## [{}]\n\n{}{}\n", section.path, section.doc, at(section)).unwrap();
        writeln!(
            text,
            "| key | value | when absent | what it does |\n| --- | --- | --- | --- |"
        )
        .unwrap();
        for key in KEYS.iter().filter(|key| key.section() == section.path) {
            let value = match key.kind {
                Kind::Text => "text".to_owned(),
                Kind::Path if key.doc.contains("beside this file") => "path".to_owned(),
                Kind::Path => "path from the root".to_owned(),
                Kind::Flag => "`true` or `false`".to_owned(),
                Kind::Whole { min, max, unit } => format!("{min} to {max} {unit}"),
                Kind::OneOf(words) => words
                    .iter()
                    .map(|w| format!("`\"{w}\"`"))
                    .collect::<Vec<_>>()
                    .join(", "),
                Kind::Texts => "list of texts".to_owned(),
            };
            let absent = match key.absent {
                Absent::Refused(_) => "refused".to_owned(),
                Absent::Default(text) => format!("`{text}`"),
                Absent::Follows(text) => format!("`\"{text}\"`"),
                Absent::None(_) | Absent::Usual(_) => "none".to_owned(),
            };
            writeln!(
                text,
                "| `{}` | {value} | {absent} | {}{} |",
                key.name(),
                key.doc,
                only_at(key)
            )
            .unwrap();
        }
    }
    text.push_str(
        "\n## The file of approved digests\n\n\
        `INSTANCE.approved` beside the configuration, TOML, written by `tablegate approve` and read at start only. Absent: nothing is enforced.\n\
        A file that is wrong anywhere, or can't be read, approves nothing: the table is frozen until a supervisor's word, and every device waits\n\
        to be accepted. Names that aren't known are refused, as in the configuration.\n\n\
        | key | value | what it is |\n| --- | --- | --- |\n\
        | `approved_by` | text | Who approved it. |\n\
        | `approved_at` | text | When. |\n\
        | `program_sha256` | 64 hexadecimal digits | SHA-256 of the program's file. |\n\
        | `config_sha256` | 64 hexadecimal digits | SHA-256 of the effective configuration in canonical form, environment and defaults included: `tablegate config check` prints it, `tablegate config show --canonical` what it is of. |\n\
        | `rules_version` | text | The version of the rules. |\n\
        | `[[device]]` | a section a device, at most 64 | The devices that may be played with; `device = []`: none. |\n\
        | `kind` | `\"tumbler\"`, `\"terminal\"`, `\"lamps\"`, `\"lights\"` | What the device is. |\n\
        | `serial_number` | text, at most 32 bytes | Its serial number. |\n\
        | `firmware` | text, at most 32 bytes | The version of its firmware, as it says. |\n\
        | `firmware_sha256` | 64 hexadecimal digits, or empty | What it says of its firmware's image; empty: it said nothing, and any image of that version will do. |\n",
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/configuration.md");
    if std::env::var_os("TABLEGATE_WRITE_DOCS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, text, "run this test with TABLEGATE_WRITE_DOCS=1");
}

#[test]
fn a_file_that_cannot_be_read_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join("odd.toml");
    std::fs::write(&odd, [0xff, 0xfe]).unwrap();
    let large = folder.path().join("large.toml");
    std::fs::write(&large, "#".repeat(1024 * 1024 + 1)).unwrap();
    for (path, text) in [
        (folder.path().join("none.toml"), "No such file"),
        (folder.path().to_owned(), "no file"),
        (odd, "not UTF-8"),
        (large, "larger than 1 MiB"),
        (PathBuf::from("/dev/zero"), "no file"),
    ] {
        let examined = examine(&path, &[]);
        assert!(examined.config.is_none());
        assert!(told(&examined.problems).contains(text), "{}", told(&examined.problems));
    }
}

#[test]
fn the_file_names_the_instance() {
    let odd = examine_text(&full(), Path::new("/etc/a b.toml"), &[], &files());
    assert_eq!(odd.problems, [], "both sockets are written");
    let text = file_with(&|key| (key.section() != "control").then(|| good(key)));
    let odd = examine_text(&text, Path::new("/etc/a b.toml"), &[], &files());
    assert_eq!(odd.problems.len(), 1);
    let plain = examine_text(&text, Path::new("/etc/TS-9.toml"), &[], &files())
        .config
        .unwrap();
    assert_eq!(
        plain.control.supervisor_socket,
        Path::new("/run/tablegate/TS-9.supervisor.sock")
    );
}

/// A file with one to four bytes of the whole replaced, removed or doubled.
fn damaged() -> impl Strategy<Value = String> {
    let whole = full();
    let length = whole.len();
    proptest::collection::vec((0..length, 0..3_u8, any::<char>()), 1..=4).prop_map(move |damages| {
        let mut chars: Vec<char> = whole.chars().collect();
        for (at, what, with) in damages {
            let at = at.min(chars.len() - 1);
            match what {
                0 => chars[at] = with,
                1 => {
                    chars.remove(at);
                }
                _ => chars.insert(at, with),
            }
        }
        chars.into_iter().collect()
    })
}

/// Words that TOML and this configuration are made of.
fn jumbled() -> impl Strategy<Value = String> {
    let mut words: Vec<String> = [
        "[", "]", "[[", "]]", "=", "\n", "\"", "'''", "{", "}", ",", ".", "#", "1", "-0", "nan", "true", " ",
    ]
    .iter()
    .map(|word| (*word).to_owned())
    .collect();
    words.extend(KEYS.iter().map(|key| format!("\n{} = {}", key.name(), good(key))));
    words.extend(SECTIONS.iter().map(|section| format!("\n[{}]\n", section.path)));
    proptest::collection::vec(proptest::sample::select(words), 0..60).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_brings_it_down(text in prop_oneof![".*", any::<String>(), damaged(), jumbled()]) {
        let examined = examined(&text, &[]);
        prop_assert_eq!(examined.config.is_some(), examined.errors().next().is_none());
        for problem in &examined.problems {
            prop_assert!(!problem.wrong.is_empty() && !problem.right.is_empty());
            prop_assert!(!problem.to_string().chars().any(char::is_control), "{}", problem);
        }
    }

    #[test]
    fn no_variable_brings_it_down(name in "[A-Z_a-z.]{0,40}", key in 0..KEYS.len(), value in any::<String>()) {
        let known = KEYS[key].variable();
        let odd = format!("TABLEGATE__{name}");
        let value = value.replace('\0', "");
        let examined = examined(&full(), &[(&known, &value), (&odd, &value)]);
        prop_assert_eq!(examined.config.is_some(), examined.errors().next().is_none());
    }

    #[test]
    fn no_lamp_map_brings_it_down(text in any::<String>()) {
        let mut files = files();
        files.0.insert(PathBuf::from("/etc/tablegate/TS-07.lamps.toml"), text);
        let examined = examine_text(&full(), Path::new(FILE), &[], &files);
        prop_assert_eq!(examined.config.is_some(), examined.errors().next().is_none());
    }
}

/// The parser stumbles on at the place of one slip, and would say it dozens of times.
#[test]
fn one_slip_is_said_once() {
    let nested = format!("a = {}", "[".repeat(100_000));
    for text in ["[table]\rsite = 1\rid = 2\rgame = 3\r", nested.as_str(), "[[[", "a = "] {
        let problems = examined(text, &[]).problems;
        assert!(!problems.is_empty());
        for (n, problem) in problems.iter().enumerate() {
            assert!(!problems[..n].contains(problem), "said again: {problem}");
        }
    }
}

/// A megabyte of wrong keys is refused in a moment, and what is said of it stays readable.
#[test]
fn a_file_of_nothing_but_wrong_keys_is_refused_at_once() {
    let text: String = (0..50_000).map(|n| format!("key{n} = {n}\n")).collect();
    let begun = std::time::Instant::now();
    let problems = examined(&text, &[]).problems;
    assert!((1..=200).contains(&problems.len()), "{}", problems.len());
    assert!(begun.elapsed() < Duration::from_secs(10), "took {:?}", begun.elapsed());
}
