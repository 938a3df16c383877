//! Whose name stands in the journal: every act through the control sockets of the real binary, done or refused, allowed or not.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test may panic"
)]

mod daemon_support;

use daemon_support::{PATIENCE, SUPERVISOR, Scene};
use nix::unistd::{Uid, User};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tablegate::table::event::{ActRefused, ActRefusedReason, ActorKind, Body, Event};
use tablegate::wire::message::Cover;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

const NOWHERE: &str = "mqtt://127.0.0.1:9";

/// A connection that asks for acts.
struct Client {
    stream: BufReader<UnixStream>,
}

impl Client {
    async fn connect(path: PathBuf) -> Client {
        let stream = UnixStream::connect(path).await.unwrap();
        Client {
            stream: BufReader::new(stream),
        }
    }

    /// Asks for an act, and says how it was answered: "done", "refused", "wrong_use".
    async fn act(&mut self, act: &Value) -> (String, Value) {
        let mut request = json!({"act": {"act": act}});
        if Uid::current().is_root() {
            request["act"]["by"] = SUPERVISOR.into();
        }
        let line = format!("{request}\n");
        self.stream.get_mut().write_all(line.as_bytes()).await.unwrap();
        let mut answer = String::new();
        tokio::time::timeout(PATIENCE, self.stream.read_line(&mut answer))
            .await
            .expect("an answer")
            .unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let (how, what) = answer.as_object().unwrap().iter().next().unwrap();
        (how.clone(), what.clone())
    }
}

/// Whose name the events of these tests carry, and the login beside it.
fn expected_name() -> (String, String) {
    if Uid::current().is_root() {
        return (SUPERVISOR.to_owned(), "root".to_owned());
    }
    let user = User::from_uid(Uid::current())
        .unwrap()
        .expect("the test runs as somebody");
    (user.name, String::new())
}

fn kind(event: &Event) -> String {
    let body = format!("{:?}", event.body.as_ref().unwrap());
    body.split('(').next().unwrap().to_owned()
}

#[track_caller]
fn is_by(event: &Event, kind: ActorKind) {
    let actor = event.actor.as_ref().expect("somebody did it");
    let (name, login) = expected_name();
    assert_eq!(
        (actor.kind(), &actor.name, &actor.login),
        (kind, &name, &login),
        "{event:?}"
    );
}

/// Waits until the events after `from` hold one of this kind that a person did, and returns those.
async fn events_with(scene: &Scene, from: usize, wanted: &str) -> Vec<Event> {
    let until = tokio::time::Instant::now() + PATIENCE;
    loop {
        let fresh = scene.events().split_off(from);
        if fresh
            .iter()
            .any(|event| kind(event) == wanted && !is_the_gateways(event))
        {
            return fresh;
        }
        let seen: Vec<String> = fresh.iter().map(kind).collect();
        assert!(tokio::time::Instant::now() < until, "no {wanted} in {seen:?}");
        tokio::task::yield_now().await;
    }
}

/// The gateway by itself: what it has seen meanwhile stands between what people do.
fn is_the_gateways(event: &Event) -> bool {
    event
        .actor
        .as_ref()
        .is_none_or(|actor| actor.kind() == ActorKind::Gateway)
}

/// Those of refused acts alone.
async fn refused_acts(scene: &Scene, from: usize) -> Vec<Event> {
    let mut fresh = events_with(scene, from, "ActRefused").await;
    fresh.retain(|event| kind(event) == "ActRefused");
    fresh
}

/// An act, how it is answered, and the event that tells of it.
type Row<'a> = (Value, &'a str, &'a str);

async fn each_names_the_person(scene: &Scene, client: &mut Client, rows: &[Row<'_>]) {
    for (act, how, wanted) in rows {
        let from = scene.events().len();
        let (answered, what) = client.act(act).await;
        assert_eq!(&answered, how, "{act}: {what}");
        let fresh = events_with(scene, from, wanted).await;
        let told = fresh
            .iter()
            .filter(|event| kind(event) == *wanted && !is_the_gateways(event));
        for event in told {
            is_by(event, ActorKind::Supervisor);
            if let Some(Body::ActRefused(refused)) = &event.body {
                assert_eq!(refused.text, what["text"], "the journal says what the person was told");
                assert!(act.get(&refused.act).is_some(), "{act}: {refused:?}");
                assert_eq!(refused.reason(), ActRefusedReason::NotNow);
            }
        }
    }
}

#[tokio::test]
async fn every_act_of_a_supervisor_carries_the_name_done_or_refused() {
    let mut scene = Scene::new(NOWHERE);
    scene.start().await;
    scene.links_up().await;
    // What was opened or tested through a connection ends with it: one for all.
    let mut client = Client::connect(scene.path("t.supervisor.sock")).await;
    let closed = [
        (json!({"close": {}}), "refused", "ActRefused"),
        (json!({"amend": {"faces": [1, 3, 6]}}), "refused", "ActRefused"),
        (
            json!({"acknowledge_alert": {"alert": "lamp_failed"}}),
            "refused",
            "ActRefused",
        ),
        (json!({"no_more_bets": {}}), "refused", "ActRefused"),
        (json!({"enter_test": {}}), "done", "TestModeEntered"),
        (json!({"spin_tumbler": {}}), "done", "TumblerStarted"),
        (json!({"leave_test": {}}), "done", "TestModeLeft"),
        (json!({"begin_opening": {}}), "done", "OpeningStarted"),
        (
            json!({"record_check": {"check": "dice", "passed": true, "text": "three of one set"}}),
            "done",
            "OpeningCheckRecorded",
        ),
        (json!({"abandon_opening": {}}), "done", "OpeningAbandoned"),
        (
            json!({"lock": {"reason": "a drink was spilled"}}),
            "done",
            "TableLocked",
        ),
        (
            json!({"unlock": {"procedure": "wiped and tried"}}),
            "done",
            "TableUnlocked",
        ),
        (
            json!({"record_incident": {"cause": "other", "note": "a dispute"}}),
            "done",
            "IncidentRecorded",
        ),
    ];
    each_names_the_person(&scene, &mut client, &closed).await;
    scene.open().await;
    let dealer = scene.dealer.clone();
    dealer.tumble([1, 3, 6]).await.unwrap();
    dealer.wait_for_bets().await.unwrap();
    dealer.no_more_bets().await.unwrap();
    dealer.uncover().await;
    let play = [
        (
            json!({"enter_result": {"faces": [1, 3, 6], "reason": "the terminal's keys stick"}}),
            "done",
            "ResultEntered",
        ),
        (json!({"amend": {"faces": [1, 3, 5]}}), "done", "ResultAmended"),
        (json!({"void": {"reason": "a_not_flat"}}), "done", "RoundVoided"),
        (
            json!({"state_void_reason": {"reason": "a_not_flat"}}),
            "refused",
            "ActRefused",
        ),
    ];
    each_names_the_person(&scene, &mut client, &play).await;
    dealer.tumbler.cover(Cover::On).await;
    each_names_the_person(&scene, &mut client, &[(json!({"close": {}}), "done", "TableClosed")]).await;
    scene.act(&["close"]).await.refused(1, "closed already");
    let shown = scene.command(&["events", "list", "--kind", "act_refused"]).await.ok();
    let refused = format!(
        "act \"close\" refused: The table is closed already. (supervisor {}",
        expected_name().0
    );
    assert!(shown.contains(&refused), "{refused:?} is not in {shown}");
    // A person who asks for what is refused, again and again, fills nothing.
    let from = scene.events().len();
    for _ in 0..200 {
        client.act(&json!({"settle": {}})).await;
    }
    assert!(scene.terminate().await.success());
    let counts: Vec<u32> = scene.events()[from..]
        .iter()
        .filter_map(|event| match &event.body {
            Some(Body::ActRefused(refused)) if refused.act == "settle" => Some(refused.count),
            _ => None,
        })
        .collect();
    assert_eq!(counts, [1, 199]);
}

/// Runs the binary as another user.
async fn run_as(uid: u32, scene: &Scene, args: &[&str]) -> (i32, String) {
    let output = tokio::process::Command::new("/usr/bin/setpriv")
        .arg(format!("--reuid={uid}"))
        .args(["--clear-groups", "--"])
        .arg(scene.path("tablegate"))
        .args(args)
        .arg("--socket")
        .arg(scene.path("t.sock"))
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap_or(-1), text)
}

fn open_to_all(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn who_may_not_ask_is_told_so_and_recorded() {
    let mut scene = Scene::new(NOWHERE);
    scene.start().await;
    let from = scene.events().len();
    let mut look = Client::connect(scene.path("t.sock")).await;
    let (how, what) = look.act(&json!({"close": {}})).await;
    assert_eq!(how, "wrong_use");
    let fresh = refused_acts(&scene, from).await;
    is_by(&fresh[0], ActorKind::Technician);
    let refused = |event: &Event| match &event.body {
        Some(Body::ActRefused(refused)) => refused.clone(),
        other => panic!("{other:?}"),
    };
    let ActRefused { act, text, .. } = refused(&fresh[0]);
    assert_eq!((act.as_str(), Value::from(text)), ("close", what["text"].clone()));
    assert_eq!(refused(&fresh[0]).reason(), ActRefusedReason::NotAllowed);

    if !Uid::current().is_root() || !Path::new("/usr/bin/setpriv").exists() {
        eprintln!("only root can be other users: the rest is not tried");
        return;
    }
    std::fs::copy(env!("CARGO_BIN_EXE_tablegate"), scene.path("tablegate")).unwrap();
    for name in ["", "t.sock", "t.supervisor.sock", "tablegate"] {
        open_to_all(&scene.path(name), 0o777);
    }
    let nobody = User::from_uid(Uid::from_raw(65534)).unwrap();
    let nobody = nobody.map_or_else(|| "uid 65534".to_owned(), |user| user.name);
    for (uid, args, name, words) in [
        (
            65534,
            &["close", "--by", "maria"][..],
            nobody.as_str(),
            "(asked in the name of \"maria\")",
        ),
        (
            3_999_999_999,
            &["close"],
            "uid 3999999999",
            "this PC knows no person for uid 3999999999",
        ),
    ] {
        let from = scene.events().len();
        let (code, told) = run_as(uid, &scene, args).await;
        assert_eq!(code, 2, "{told}");
        let fresh = refused_acts(&scene, from).await;
        let refused = refused(&fresh[0]);
        assert_eq!(
            (refused.act.as_str(), refused.reason()),
            ("close", ActRefusedReason::NotAllowed)
        );
        assert!(refused.text.contains(words), "{refused:?}; {told}");
        let actor = fresh[0].actor.as_ref().unwrap();
        assert_eq!((actor.name.as_str(), actor.login.as_str()), (name, ""));
    }
}

#[tokio::test]
async fn the_socket_for_testing_takes_tests_and_nothing_else() {
    let mut scene = Scene::new(NOWHERE);
    scene.start().await;
    scene.links_up().await;
    let mut look = Client::connect(scene.path("t.sock")).await;
    let tests = [
        (json!({"enter_test": {}}), "done"),
        (json!({"begin_test": {"device": "lamps"}}), "done"),
        (json!({"test_lamp": {"bit": 3}}), "done"),
        (json!({"say_test": {"part": "lamp_3", "seen": "failed"}}), "done"),
        (json!({"end_test": {}}), "done"),
        (json!({"begin_test": {"device": "terminal"}}), "done"),
        (json!({"ask_test": {"part": "key_1"}}), "done"),
        (json!({"end_test": {}}), "done"),
        (json!({"spin_tumbler": {}}), "done"),
        (json!({"ask_test": {"part": "elbow"}}), "wrong_use"),
        (json!({"leave_test": {}}), "done"),
        // Only in test mode, and only there.
        (json!({"spin_tumbler": {}}), "refused"),
        (json!({"begin_test": {"device": "lamps"}}), "refused"),
    ];
    let mut tried = std::collections::BTreeSet::new();
    for (act, how) in &tests {
        let (answered, what) = look.act(act).await;
        assert_eq!(&answered, how, "{act}: {what}");
        tried.extend(act.as_object().unwrap().keys().cloned());
    }
    let text = "x";
    let others = [
        json!({"begin_opening": {}}),
        json!({"walk_lamps": {}}),
        json!({"light_test_entry": {"faces": [1, 3, 6]}}),
        json!({"record_check": {"check": "seal", "passed": true, "text": text}}),
        json!({"record_entry": {"passed": true, "text": text}}),
        json!({"complete_opening": {}}),
        json!({"abandon_opening": {}}),
        json!({"open_vouched": {}}),
        json!({"close": {}}),
        json!({"enter_result": {"faces": [1, 3, 6], "reason": text}}),
        json!({"amend": {"faces": [1, 3, 6]}}),
        json!({"void": {}}),
        json!({"state_void_reason": {"reason": "a_not_flat"}}),
        json!({"settle": {}}),
        json!({"reopen": {}}),
        json!({"resume": {}}),
        json!({"withdraw_void": {}}),
        json!({"record_incident": {"cause": "chip_place_unknown"}}),
        json!({"lock": {"reason": text}}),
        json!({"unlock": {"procedure": text}}),
        json!({"accept_device": {"serial_number": text}}),
        json!({"acknowledge_alert": {"alert": text}}),
        json!({"light_test_outcome": {"outcome": "heads"}}),
        json!({"offer": {"seat": 1}}),
        json!({"spinner": {}}),
        json!({"dealer_spins": {}}),
        json!({"continues": {"side": "heads"}}),
        json!({"no_more_bets": {}}),
        json!({"spin": {"outcome": "heads"}}),
        json!({"correct_outcome": {"outcome": "heads"}}),
        json!({"invalid": {}}),
        json!({"overrule": {"outcome": "heads"}}),
        json!({"spinner_stops": {}}),
        json!({"relieve": {}}),
        json!({"off_table": {"dice": "one"}}),
        json!({"new_set": {"from": "due"}}),
        json!({"report_light": {"light": "heads_2", "seen": "failed"}}),
    ];
    for act in &others {
        let (answered, what) = look.act(act).await;
        let told = what["text"].as_str().unwrap_or_default();
        assert!(
            answered == "wrong_use" && told.contains("supervisors act through the other one"),
            "{act}: {what}"
        );
        tried.extend(act.as_object().unwrap().keys().cloned());
    }
    // Every act there is was tried.
    let (_, what) = look.act(&json!({"no_such_act": {}})).await;
    let told = what["text"]
        .as_str()
        .unwrap()
        .split("acts are ")
        .nth(1)
        .unwrap()
        .to_owned();
    let every: std::collections::BTreeSet<String> = told.split(", ").map(ToOwned::to_owned).collect();
    assert_eq!(tried, every);
    assert!(scene.terminate().await.success());
}
