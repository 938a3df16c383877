//! `tablegate config` and `tablegate rules` as a person or a script meets them: what is printed where, and the exit status.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn tablegate(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tablegate"))
        .args(arguments)
        .env_clear()
        .envs(environment.iter().copied())
        .output()
        .unwrap()
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn bench() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/bench.toml")
}

#[test]
fn check_accepts_with_0_and_refuses_with_3() {
    let bench = bench();
    let file = bench.to_str().unwrap();
    let good = tablegate(&["config", "check", file], &[]);
    assert_eq!(
        (status(&good), err(&good).as_str()),
        (0, ""),
        "warnings go with what is accepted"
    );
    assert!(
        out(&good).contains("is accepted: table bench-1 of workshop"),
        "{}",
        out(&good)
    );

    let bad = tablegate(
        &["config", "check", file],
        &[("TABLEGATE__TAI_SAI__REST_MS", "1"), ("TABLEGATE__TABLE__ID", "a b")],
    );
    assert_eq!((status(&bad), out(&bad).as_str()), (3, ""));
    let told = err(&bad);
    assert!(
        told.contains("environment TABLEGATE__TAI_SAI__REST_MS: tai_sai.rest_ms is 1, below 500"),
        "{told}"
    );
    assert!(
        told.contains("environment TABLEGATE__TABLE__ID: table.id is \"a b\""),
        "{told}"
    );

    let missing = tablegate(&["config", "check", "/nowhere/x.toml"], &[]);
    assert_eq!(status(&missing), 3);
    assert!(
        err(&missing).contains("/nowhere/x.toml: can't be read"),
        "{}",
        err(&missing)
    );

    assert_eq!(status(&tablegate(&["config", "check"], &[])), 2);
}

/// A file like the bench's, with its journal and sockets in `root`.
fn in_folder(root: &Path) -> Vec<(String, String)> {
    let at = |name: &str| root.join(name).to_str().unwrap().to_owned();
    vec![
        ("TABLEGATE__JOURNAL__DIRECTORY".to_owned(), at("journal/of/it")),
        ("TABLEGATE__CONTROL__SOCKET".to_owned(), at("run/t.sock")),
        (
            "TABLEGATE__CONTROL__SUPERVISOR_SOCKET".to_owned(),
            at("run/t.supervisor.sock"),
        ),
    ]
}

#[test]
fn check_looks_at_the_places_of_journal_and_sockets() {
    let bench = bench();
    let root = tempfile::tempdir().unwrap();
    let variables = in_folder(root.path());
    let environment: Vec<(&str, &str)> = variables.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let check = || tablegate(&["config", "check", bench.to_str().unwrap()], &environment);

    // The journal's folder is made by the daemon, the sockets' isn't.
    let told = check();
    assert_eq!(status(&told), 0, "{}", err(&told));
    let text = out(&told);
    assert!(!text.contains("journal.directory"), "{text}");
    let variable = "warning: environment TABLEGATE__CONTROL__SUPERVISOR_SOCKET: control.supervisor_socket is ";
    assert!(text.contains(variable) && text.contains("isn't there now"), "{text}");

    std::fs::create_dir(root.path().join("run")).unwrap();
    let told = check();
    assert_eq!(
        (status(&told), out(&told).contains("warning")),
        (0, false),
        "{}",
        out(&told)
    );

    // What can't work for anybody is refused.
    std::fs::write(root.path().join("journal"), "no folder").unwrap();
    std::fs::write(root.path().join("run/t.sock"), "no socket").unwrap();
    let told = check();
    assert_eq!((status(&told), out(&told).as_str()), (3, ""));
    let text = err(&told);
    assert!(
        text.contains("TABLEGATE__JOURNAL__DIRECTORY: journal.directory is "),
        "{text}"
    );
    assert!(text.contains("/journal is no folder"), "{text}");
    assert!(
        text.contains("control.socket is ") && text.contains("no socket is there"),
        "{text}"
    );
    let json = tablegate(&["config", "check", "--json", bench.to_str().unwrap()], &environment);
    assert_eq!(status(&json), 3);
    let json: serde_json::Value = serde_json::from_str(&out(&json)).unwrap();
    assert_eq!(
        (&json["accepted"], json["problems"].as_array().unwrap().len()),
        (&false.into(), 2)
    );
}

#[test]
fn every_example_is_accepted_where_it_lies() {
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy");
    let mut seen = 0;
    for entry in std::fs::read_dir(deploy).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".toml") || name.ends_with(".lamps.toml") || name.ends_with(".paytable.toml") {
            continue;
        }
        seen += 1;
        // From another folder: what a file names beside itself is found by its own place.
        let told = Command::new(env!("CARGO_BIN_EXE_tablegate"))
            .args(["config", "check", file.to_str().unwrap()])
            .env_clear()
            .current_dir("/")
            .output()
            .unwrap();
        assert_eq!(status(&told), 0, "{name}: {}", err(&told));
    }
    assert!(seen >= 4, "{seen}");
}

#[test]
fn check_tells_scripts_in_json() {
    let bench = bench();
    let file = bench.to_str().unwrap();
    let good: serde_json::Value =
        serde_json::from_str(&out(&tablegate(&["config", "check", file, "--json"], &[]))).unwrap();
    assert_eq!(good["accepted"], true);
    assert_eq!(good["instance"], "bench");
    assert_eq!(good["config_sha256"].as_str().unwrap().len(), 64);

    let bad = tablegate(
        &["config", "check", file, "--json"],
        &[("TABLEGATE__CLOCK__SOURCE", "ntp")],
    );
    assert_eq!(status(&bad), 3);
    let bad: serde_json::Value = serde_json::from_str(&out(&bad)).unwrap();
    assert_eq!(bad["accepted"], false);
    assert_eq!(
        bad["problems"][0],
        serde_json::json!({
            "severity": "error",
            "origin": {"kind": "environment", "name": "TABLEGATE__CLOCK__SOURCE"},
            "key": "clock.source",
            "wrong": "is \"ntp\"",
            "right": "\"timesyncd\" or \"chrony\" or \"none\"",
        })
    );
}

#[test]
fn show_says_where_each_value_came_from() {
    let bench = bench();
    let file = bench.to_str().unwrap();
    let environment = [("TABLEGATE__JOURNAL__DIRECTORY", "/tmp/journal")];
    let shown = tablegate(&["config", "show", file], &environment);
    assert_eq!(status(&shown), 0, "{}", err(&shown));
    let line = |key: &str| {
        let text = out(&shown);
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("{key} = ")))
            .map(str::to_owned);
        line.unwrap_or_else(|| panic!("no {key} in\n{text}"))
    };
    assert!(
        line("table.site").ends_with(&format!("# {file}:4")),
        "{}",
        line("table.site")
    );
    assert!(line("mqtt.client_id").contains("\"workshop-bench-1\""));
    assert!(line("mqtt.client_id").ends_with("# default"));
    assert!(line("journal.directory").ends_with("# environment TABLEGATE__JOURNAL__DIRECTORY"));

    let json = tablegate(&["config", "show", file, "--json"], &environment);
    let json: serde_json::Value = serde_json::from_str(&out(&json)).unwrap();
    let entries = json["effective"]["entries"].as_array().unwrap();
    let rest = entries.iter().find(|entry| entry["key"] == "tai_sai.rest_ms").unwrap();
    assert_eq!(
        *rest,
        serde_json::json!({"key": "tai_sai.rest_ms", "value": "500",
        "from": {"kind": "file", "path": file, "line": 11}})
    );
}

#[test]
fn a_password_in_a_file_is_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("password");
    std::fs::write(&secret, "hunter2\n").unwrap();
    let environment = [
        ("TABLEGATE__MQTT__USERNAME", "bench"),
        ("TABLEGATE__MQTT__PASSWORD_FILE", secret.to_str().unwrap()),
    ];
    let shown = tablegate(&["config", "show", bench().to_str().unwrap()], &environment);
    assert_eq!(status(&shown), 0, "{}", err(&shown));
    assert!(out(&shown).contains("mqtt.password_file"));
    assert!(!out(&shown).contains("hunter2"));
}

#[test]
fn a_template_is_a_file_that_check_accepts() {
    let template = tablegate(&["config", "template", "tai-sai"], &[]);
    assert_eq!(status(&template), 0);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("TS-07.toml");
    std::fs::write(&file, &template.stdout).unwrap();
    let check = tablegate(&["config", "check", file.to_str().unwrap()], &[]);
    assert_eq!(status(&check), 0, "{}", err(&check));
    for game in ["roulette", "whist"] {
        let other = tablegate(&["config", "template", game], &[]);
        assert_eq!(status(&other), 2);
        assert!(err(&other).contains("tai-sai"), "{}", err(&other));
    }
}

#[test]
fn an_outcome_is_told_with_call_areas_odds_and_rules() {
    let told = tablegate(&["rules", "outcome", "6", "1", "3"], &[]);
    assert_eq!(status(&told), 0);
    for part in [
        "1, 3, 6, Total 10",
        "pair_1_3",
        "6 to 1",
        "NZ Div 9 r4.1(g)",
        "NZ Div 9 r4.10",
    ] {
        assert!(out(&told).contains(part), "{part} isn't in\n{}", out(&told));
    }
    assert!(!out(&told).contains('\x1b'), "no colour where no terminal is");
    let json = tablegate(
        &["rules", "outcome", "3", "3", "4", "--layout", "appendix-2", "--json"],
        &[],
    );
    let json: serde_json::Value = serde_json::from_str(&out(&json)).unwrap();
    assert_eq!(json["call"], "double 3, 4, Total 10");
    let ids: Vec<_> = json["areas"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| a["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        [
            "small",
            "double_3",
            "total_10",
            "pair_3_4",
            "face_3",
            "face_4",
            "trio_3_3_4",
            "even"
        ]
    );
}

#[test]
fn what_is_no_outcome_is_wrong_usage_and_says_what_is_wrong() {
    for (faces, wrong) in [
        (&["1", "3", "7"][..], "'7'"),
        (&["1", "3", "0"], "'0'"),
        (&["1", "3"], "2 were provided"),
        (&["1", "3", "6", "6"], "4 were provided"),
        (&["1", "3", "x"], "'x'"),
        (&["1", "3", "6", "--layout", "appendix-3"], "appendix-3"),
    ] {
        let told = tablegate(&[&["rules", "outcome"], faces].concat(), &[]);
        assert_eq!(status(&told), 2, "{faces:?}");
        assert!(err(&told).contains(wrong), "{faces:?}: {}", err(&told));
    }
}

#[test]
fn a_code_of_the_readout_is_explained() {
    for asked in ["E07", "e07", "7", "07"] {
        let told = tablegate(&["rules", "why", asked], &[]);
        assert_eq!(status(&told), 0, "{asked}");
        assert!(out(&told).starts_with("E07  "), "{asked}: {}", out(&told));
    }
    let json = tablegate(&["rules", "why", "LOC", "--json"], &[]);
    let json: serde_json::Value = serde_json::from_str(&out(&json)).unwrap();
    assert_eq!(
        (json["readout"].as_str(), json["code"].as_u64()),
        (Some("LOC"), Some(0))
    );
    let all = tablegate(&["rules", "why"], &[]);
    assert!(out(&all).lines().count() > 10, "{}", out(&all));
    for nothing in ["E99", "0", "x", ""] {
        let told = tablegate(&["rules", "why", nothing], &[]);
        assert_eq!(status(&told), 2, "{nothing}");
        assert!(err(&told).contains("E07"), "{}", err(&told));
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tablegate"))
        .args(["config", "template", "tai-sai"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), err(&ended).as_str()), (Some(0), ""));
}

/// Runs the script that is shipped for a floor's certificates, in this folder.
fn certificates(home: &Path, arguments: &[&str], environment: &[(&str, &str)]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/mosquitto/certificates.sh");
    let made = Command::new("bash")
        .arg(script)
        .arg(home)
        .args(arguments)
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", err(&made));
}

#[test]
#[ignore = "needs openssl: tests/all runs it"]
fn check_warns_of_certificates_by_key_and_file_and_refuses_none() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    certificates(home, &["authority"], &[]);
    certificates(home, &["client", "good"], &[]);
    certificates(home, &["client", "soon"], &[("DAYS", "10")]);
    certificates(
        home,
        &["client", "expired"],
        &[("FROM", "20250101000000Z"), ("TO", "20250201000000Z")],
    );
    certificates(
        home,
        &["client", "future"],
        &[("FROM", "20480101000000Z"), ("TO", "20490101000000Z")],
    );
    std::fs::write(home.join("empty.pem"), "nothing\n").unwrap();
    // The authority, the certificate and the key; and what is said, each with its key and file.
    type Row = (
        &'static str,
        &'static str,
        &'static str,
        &'static [&'static [&'static str]],
    );
    let rows: [Row; 9] = [
        ("ca.pem", "good.pem", "good.key", &[]),
        (
            "ca.pem",
            "soon.pem",
            "soon.key",
            &[&[
                "mqtt.certificate has a certificate that expires soon, on 20",
                "CN=soon",
                "soon.pem",
            ]],
        ),
        (
            "ca.pem",
            "expired.pem",
            "expired.key",
            &[&[
                "mqtt.certificate has a certificate that expired on 2025-02-01",
                "CN=expired",
                "expired.pem",
            ]],
        ),
        (
            "ca.pem",
            "future.pem",
            "future.key",
            &[&[
                "mqtt.certificate has a certificate that is not valid before 2048-01-01",
                "CN=future",
            ]],
        ),
        (
            "ca.pem",
            "good.pem",
            "soon.key",
            &[&[
                "mqtt.key is of no use: the key in",
                "soon.key does not belong",
                "CN=good",
            ]],
        ),
        (
            "expired.pem",
            "expired.pem",
            "good.key",
            &[
                &["mqtt.ca has a certificate that expired on 2025-02-01", "expired.pem"],
                &["mqtt.certificate has a certificate that expired on 2025-02-01"],
                &["mqtt.key is of no use: the key in", "good.key does not belong"],
            ],
        ),
        (
            "empty.pem",
            "good.pem",
            "good.key",
            &[&["mqtt.ca is of no use:", "empty.pem", "no certificate in it"]],
        ),
        (
            "ca.pem",
            "good.pem",
            "empty.pem",
            &[&["mqtt.key is of no use:", "empty.pem"]],
        ),
        (
            "ca.pem",
            "nowhere.pem",
            "good.key",
            &[&["mqtt.certificate is", "nowhere.pem", "isn't there now"]],
        ),
    ];
    let template = out(&tablegate(&["config", "template", "tai-sai"], &[]));
    let file = home.join("TS-07.toml");
    std::fs::write(&file, &template).unwrap();
    for (ca, certificate, key, expected) in rows {
        let at = |name: &str| home.join(name).display().to_string();
        let (ca, certificate, key) = (at(ca), at(certificate), at(key));
        let environment = [
            ("TABLEGATE__MQTT__BROKERS", "mqtts://floor-a.example:8883"),
            ("TABLEGATE__MQTT__CA", ca.as_str()),
            ("TABLEGATE__MQTT__CERTIFICATE", certificate.as_str()),
            ("TABLEGATE__MQTT__KEY", key.as_str()),
        ];
        let checked = tablegate(&["config", "check", file.to_str().unwrap()], &environment);
        assert_eq!(status(&checked), 0, "a table plays without a floor: {}", err(&checked));
        let said = out(&checked);
        let warnings: Vec<&str> = said
            .lines()
            .filter(|line| {
                ["mqtt.ca ", "mqtt.certificate ", "mqtt.key "]
                    .iter()
                    .any(|key| line.contains(key))
            })
            .collect();
        assert_eq!(warnings.len(), expected.len(), "{said}");
        for (warning, words) in warnings.iter().zip(expected) {
            assert!(warning.starts_with("warning: "), "{warning}");
            for word in *words {
                assert!(warning.contains(word), "{word:?} is not in {warning}");
            }
        }
    }
}
