//! `tablegate journal` and `tablegate events`, the binary itself: beside the daemon, after it, on a copy, as another user.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    reason = "a test may panic"
)]

mod journal_support;

use journal_support::*;
use prost::Message;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tablegate::journal::{Opened, Record, file_in};
use tablegate::table::event::{self, Body, Event};

fn tablegate(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tablegate"));
    command.args(arguments);
    command
}

fn output(arguments: &[&str]) -> Output {
    tablegate(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Thirty events, among them two rounds.
async fn begin(directory: &Path) -> (Opened, Scribe) {
    let opened = open(directory);
    let mut scribe = Scribe::after(&opened);
    fill(&opened.journal, &mut scribe, 30).await;
    (opened, scribe)
}

fn written(directory: &Path) -> Vec<Record> {
    read_all(&file_in(directory))
}

#[test]
fn a_whole_journal_is_proven_and_a_damaged_copy_is_not() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let (opened, scribe) = begin(directory.path()).await;
        let place = directory.path().to_str().unwrap();
        let beside = text(&output(&["journal", "verify", place]));
        assert!(beside.contains("WHOLE: 30 events"), "{beside}");
        opened.journal.close();

        let json: serde_json::Value =
            serde_json::from_str(&text(&output(&["journal", "verify", place, "--json"]))).unwrap();
        assert_eq!((&json["whole"], &json["events_proven"]), (&true.into(), &30.into()));
        assert_eq!(json["head_sha256"], hex(&scribe.sha256));

        let copy = tempfile::tempdir().unwrap().keep().join("copy.sqlite3");
        let mut bytes = std::fs::read(file_in(directory.path())).unwrap();
        let of_17 = &written(directory.path())[16].bytes;
        let at = bytes.windows(of_17.len()).position(|window| window == of_17).unwrap();
        bytes[at + 60] ^= 1;
        std::fs::write(&copy, bytes).unwrap();
        let output = output(&["journal", "verify", copy.to_str().unwrap(), "--json"]);
        assert_eq!(output.status.code(), Some(1));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (&json["whole"], &json["first_bad_seqno"], &json["events_proven"]),
            (&false.into(), &17.into(), &16.into())
        );
        assert!(String::from_utf8_lossy(&output.stderr).contains("event 17"));
        std::fs::remove_dir_all(copy.parent().unwrap()).unwrap();
    });
}

#[test]
fn infos_are_told() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let (opened, _) = begin(directory.path()).await;
        let place = directory.path().to_str().unwrap();
        let json: serde_json::Value =
            serde_json::from_str(&text(&output(&["journal", "info", place, "--json"]))).unwrap();
        assert_eq!(json["journal_id"], opened.journal_id);
        assert_eq!(
            (&json["oldest"], &json["newest"], &json["unacknowledged"]),
            (&1.into(), &30.into(), &30.into())
        );
        assert!(text(&output(&["journal", "info", place])).contains("TS-07 at harbour"));
        let missing = output(&["journal", "info", "/nowhere/journal.sqlite3"]);
        assert_eq!(missing.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&missing.stderr).contains("there is no journal at /nowhere"));
    });
}

#[test]
fn what_is_exported_raw_is_what_was_written() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let (opened, _) = begin(directory.path()).await;
        let records = written(directory.path());
        let place = directory.path().to_str().unwrap();
        let raw = output(&["events", "export", "--journal", place, "--format", "raw"]).stdout;
        let mut rest = &raw[..];
        for record in &records {
            let event = Event::decode_length_delimited(&mut rest).unwrap();
            assert_eq!(event.encode_to_vec(), record.bytes);
        }
        assert!(rest.is_empty());

        let json = text(&output(&["events", "export", "--journal", place]));
        let lines: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 30);
        for (line, record) in lines.iter().zip(&records) {
            assert_eq!(
                (&line["seqno"], &line["sha256"]),
                (&record.seqno.into(), &hex(&record.sha256).into())
            );
        }
        assert_eq!(lines[4]["kind"], "layout_lit");
        assert_eq!(lines[4]["body"]["areas"][1]["id"], "total_9");

        let file = directory.path().join("out.csv");
        let export = [
            "events",
            "export",
            "--journal",
            place,
            "--format",
            "csv",
            "--output",
            file.to_str().unwrap(),
        ];
        assert!(output(&export).status.success());
        let csv = std::fs::read_to_string(&file).unwrap();
        assert_eq!(csv.lines().count(), 31);
        assert!(csv.starts_with("seqno,recorded_at,"), "{csv}");
        assert!(
            !output(&export).status.success(),
            "an existing file is never overwritten"
        );
        opened.journal.close();
    });
}

#[test]
fn events_are_listed_by_number_round_kind_and_time() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let (_opened, _) = begin(directory.path()).await;
        let place = directory.path().to_str().unwrap();
        let count = |filter: &[&str]| {
            let arguments = [&["events", "list", "--journal", place], filter].concat();
            text(&output(&arguments)).lines().count()
        };
        assert_eq!(count(&[]), 30);
        assert_eq!(count(&["--from", "5", "--to", "9"]), 5);
        assert_eq!(count(&["--round", "1"]), 10);
        assert_eq!(count(&["--kind", "journal_started"]), 1);
        assert_eq!(count(&["--from", "2026-02-14T10:15:30Z", "--limit", "4"]), 4);
        assert_eq!(count(&["--to", "2026-02-14T10:15:29Z"]), 0);
        let unknown = output(&["events", "list", "--journal", place, "--kind", "layout_lid"]);
        assert_eq!(unknown.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&unknown.stderr).contains("layout_lit"));
        let shown = text(&output(&["events", "show", "7", "--journal", place]));
        assert!(
            shown.starts_with("#7 2026-02-14 10:15:30.000Z layout lit: small"),
            "{shown}"
        );
        let beyond = output(&["events", "show", "31", "--journal", place]);
        assert_eq!(beyond.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&beyond.stderr).contains("it holds 1 to 30"));
        assert_eq!(
            text(&output(&["events", "tail", "-n", "3", "--journal", place]))
                .lines()
                .count(),
            3
        );
    });
}

#[test]
fn a_tail_follows_what_comes() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let (opened, mut scribe) = begin(directory.path()).await;
        let place = directory.path().to_str().unwrap();
        let mut child = tablegate(&["events", "tail", "-f", "-n", "1", "--journal", place])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.next().unwrap().unwrap().starts_with("#30 "));
        opened.journal.append(scribe.some(2)).await.unwrap();
        assert!(lines.next().unwrap().unwrap().starts_with("#31 "));
        assert!(lines.next().unwrap().unwrap().starts_with("#32 "));
        child.kill().unwrap();
        child.wait().unwrap();
    });
}

/// It begins on a closed journal, without a lock, and sees the daemon come, go and come again.
#[test]
fn a_tail_outlives_the_daemon() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let (opened, mut scribe) = begin(directory.path()).await;
        opened.journal.close();
        let place = directory.path().to_str().unwrap();
        let mut child = tablegate(&["events", "tail", "-f", "-n", "1", "--journal", place])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.next().unwrap().unwrap().starts_with("#30 "));
        for expected in ["#31 ", "#32 ", "#33 "] {
            let opened = open(directory.path());
            opened.journal.append(scribe.some(1)).await.unwrap();
            assert!(lines.next().unwrap().unwrap().starts_with(expected));
            opened.journal.close();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(written(directory.path()).len(), 33);
    });
}

#[test]
fn a_closed_pipe_is_no_failure() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let (opened, mut scribe) = begin(directory.path()).await;
        fill(&opened.journal, &mut scribe, 2000).await;
        let place = directory.path().to_str().unwrap();
        let mut child = tablegate(&["events", "list", "--journal", place])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
    });
}

/// Whoever may only read: nothing is made beside the journal, and it is read all the same.
#[test]
fn another_user_reads_a_closed_journal_and_a_running_one() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let (opened, _) = begin(directory.path()).await;
        let place = directory.path().to_str().unwrap();
        let as_other = || {
            let mut command = tablegate(&["journal", "verify", place]);
            if nix::unistd::geteuid().is_root() {
                command.uid(65_534).gid(65_534);
            }
            command.output().unwrap()
        };
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o555)).unwrap();
        let running = as_other();
        opened.journal.close();
        let files = |directory: &Path| -> Vec<String> {
            let mut names: Vec<String> = std::fs::read_dir(directory)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
                .collect();
            names.sort();
            names
        };
        let before = files(directory.path());
        let closed = as_other();
        assert_eq!(files(directory.path()), before);
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(text(&closed).contains("WHOLE: 30 events"));
        assert!(text(&running).contains("WHOLE: 30 events"));
    });
}

#[test]
fn rounds_are_recalled() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let opened = open(directory.path());
        let mut scribe = Scribe::after(&opened);
        let mut records = vec![scribe.next()];
        for round in 1..=4_u32 {
            let faces = vec![1, round, 6];
            let areas = vec![event::Area {
                id: format!("total_{}", 7 + round),
                pays: 6,
                per: 1,
            }];
            let call = format!("1, {round}, 6, Total {}", 7 + round);
            let bodies = [
                Body::RoundStarted(event::RoundStarted {
                    game: "tai-sai".to_owned(),
                    ..Default::default()
                }),
                Body::EntryRejected(event::EntryRejected {
                    shown: vec![1],
                    code: 2,
                    text: "fewer than three".to_owned(),
                    count: 1,
                }),
                Body::ResultEntered(event::ResultEntered {
                    pressed: faces.clone(),
                    faces: faces.clone(),
                    call: call.clone(),
                    areas: areas.clone(),
                    source: event::ResultSource::Terminal.into(),
                    uncover_to_entry_ms: 3100,
                    ..Default::default()
                }),
                Body::LayoutLit(event::LayoutLit {
                    areas,
                    entry_to_lamps_ms: 84,
                }),
                match round {
                    3 => Body::RoundVoided(event::RoundVoided {
                        reason: event::RoundVoidedReason::ATumblerFault.into(),
                        ..Default::default()
                    }),
                    _ => Body::RoundSettled(event::RoundSettled::default()),
                },
            ];
            for body in bodies {
                if round == 2 && matches!(body, Body::RoundSettled(_)) {
                    records.push(scribe.record_in(2, amended()));
                }
                records.push(scribe.record_in(u64::from(round), body));
            }
        }
        opened.journal.append(records).await.unwrap();
        let place = directory.path().to_str().unwrap();
        let json: serde_json::Value =
            serde_json::from_str(&text(&output(&["recall", "2", "--journal", place, "--json"]))).unwrap();
        let rounds = json.as_array().unwrap();
        assert_eq!(rounds.len(), 2);
        assert_eq!(
            (&rounds[0]["round_id"], &rounds[0]["outcome"]),
            (&3.into(), &"void".into())
        );
        assert_eq!(rounds[0]["void_reason"], "a_tumbler_fault");
        assert_eq!(rounds[1]["results"][0]["call"], "1, 4, 6, Total 11");
        assert_eq!(rounds[1]["times"]["entry_to_lamps_ms"], 84);
        assert_eq!(rounds[1]["refused"][0]["code"], "E02");
        let people = text(&output(&["recall", "--journal", place]));
        assert_eq!(people.matches("Round ").count(), 4, "{people}");
        assert!(people.contains("VOID (a_tumbler_fault)"), "{people}");
        assert!(people.contains("keys 1 4 6"), "{people}");
        // Only what the result that stands pays is said to be paid.
        let pays = |round: &str| {
            let of_round = people.split("Round ").find(|part| part.starts_with(round)).unwrap();
            let lines = of_round.lines().map(str::trim).filter(|line| line.starts_with("pays "));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(pays("2 "), ["pays     total_12"], "{people}");
        assert_eq!(pays("3 "), ["pays     nothing: all bets go back"], "{people}");
        assert_eq!(pays("4 "), ["pays     total_11"], "{people}");
        assert_eq!(rounds[0]["pays"], serde_json::json!([]));
        assert_eq!(rounds[1]["pays"], serde_json::json!(["total_11"]));
    });
}

/// The numbers of a round were mistaken: the dice show 1, 5, 6.
fn amended() -> Body {
    Body::ResultAmended(event::ResultAmended {
        from_faces: vec![1, 2, 6],
        pressed: vec![1, 5, 6],
        faces: vec![1, 5, 6],
        call: "1, 5, 6, Total 12".to_owned(),
        areas: vec![event::Area {
            id: "total_12".to_owned(),
            pays: 6,
            per: 1,
        }],
        ..Default::default()
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Somebody looks, and goes away for hours: a tail on a terminal that is stopped, an export into a pipe that nobody reads. Play goes on, and
/// the WAL keeps its size.
#[test]
fn readers_that_are_left_standing_leave_the_wal_bounded() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let opened = open(directory.path());
        let mut scribe = Scribe::after(&opened);
        fill(&opened.journal, &mut scribe, 2000).await;
        let place = directory.path().to_str().unwrap();
        let mut left_standing: Vec<_> = [
            &["events", "tail", "-f", "--journal", place][..],
            &["events", "export", "--format", "json", "--journal", place][..],
        ]
        .into_iter()
        .map(|arguments| {
            let mut child = tablegate(arguments).stdout(Stdio::piped()).spawn().unwrap();
            let mut first = [0; 1];
            // It reads the journal; from here on its output goes nowhere.
            child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
            child
        })
        .collect();
        for _ in 0..300 {
            fill(&opened.journal, &mut scribe, 20).await;
            opened.journal.tidy();
        }
        let wal = directory.path().join("journal.sqlite3-wal");
        // 600 appends of two or three pages would be 6 MB, and it was grown to 2 MB beforehand.
        let length = std::fs::metadata(&wal).unwrap().len();
        assert!(length <= 3 * 1024 * 1024, "the WAL has grown to {length} bytes");
        for child in &mut left_standing {
            assert!(child.try_wait().unwrap().is_none(), "it is still there");
            child.kill().unwrap();
            child.wait().unwrap();
        }
    });
}
