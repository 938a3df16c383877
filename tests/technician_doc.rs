//! docs/technician.md shows what the product prints: each situation of the page is played here, by the program itself, with
//! simulated devices behind ptys and real brokers, and each block of the page is compared with what was printed.
//!
//! After a change of wording: `TABLEGATE_REWRITE_PAGE=1 cargo test --test technician_doc -- --include-ignored` writes the blocks anew;
//! read the difference before it is committed.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test may panic"
)]

mod daemon_support;
#[path = "daemon_support/screen.rs"]
mod screen;
mod technician_support;
mod uplink_support;

use daemon_support::on_terminal::OnTerminal;
use daemon_support::{PATIENCE, SUPERVISOR, Scene, read_all, run, tablegate};
use screen::Screen;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use tablegate::sim::{
    Faults, Garble, Lamps, LampsSetup, Setup, StuckAt, Terminal, TerminalSetup, Tumbler, TumblerSetup,
};
use tablegate::wire::message::DeviceKind;
use technician_support::{Masks, PAGE, Take, names, shown};
use tokio::process::{Child, Command};
use tokio::time::Instant;
use uplink_support::floor_broker::{certificates, floor_of, start as broker_with_certificates};
use uplink_support::mosquitto::Mosquitto;

/// No broker is there.
const NOWHERE: &str = "mqtt://127.0.0.1:9";

/// What a command printed, on both streams, whatever its status.
async fn said(args: &[&str]) -> String {
    let ended = run(args).await;
    format!("{}{}", ended.out, ended.err)
}

/// Runs a command of the table's again and again until what it prints has all of these words.
async fn until_it_says(scene: &Scene, args: &[&str], words: &[&str]) -> String {
    let until = Instant::now() + PATIENCE * 2;
    loop {
        let printed = scene.command(args).await.out;
        if words.iter().all(|word| printed.contains(word)) {
            return printed;
        }
        assert!(
            Instant::now() < until,
            "{words:?} are not in what {args:?} prints:\n{printed}\n{}",
            scene.log()
        );
    }
}

/// Replaces a line of the table's configuration.
fn edit(scene: &Scene, line: &str, other: &str) {
    let before = std::fs::read_to_string(scene.config()).unwrap();
    let after = before.replace(line, other);
    assert_ne!(before, after, "{line}");
    std::fs::write(scene.config(), after).unwrap();
}

/// The same as a person approves who isn't asked.
async fn approve(scene: &Scene) -> String {
    let config = scene.config();
    let mut args = vec!["approve", "--config", config.to_str().unwrap(), "--yes"];
    if nix::unistd::Uid::current().is_root() {
        args.extend(["--by", SUPERVISOR]);
    }
    run(&args).await.ok()
}

async fn again(scene: &mut Scene) {
    assert!(scene.terminate().await.success());
    scene.start().await;
    scene.links_up().await;
}

#[test]
fn every_block_of_the_page_is_played() {
    let names = names();
    let each_once: BTreeSet<&String> = names.iter().collect();
    assert_eq!(each_once.len(), names.len(), "{PAGE}: names are unique");
    let source = include_str!("technician_doc.rs");
    for name in names {
        assert!(
            source.contains(&format!("\"{name}\"")),
            "{PAGE} shows {name}, and nothing plays it"
        );
    }
}

/// The page says of every code that there is; what it says stands in the product.
#[tokio::test]
async fn what_needs_no_table() {
    let listed = std::fs::read_to_string(
        "src/cli/snapshots/tablegate__cli__ports__tests__a_list_says_everything_that_a_technician_asks.snap",
    )
    .unwrap();
    // A PC with adapters isn't at hand everywhere: a test beside the command prints this.
    let listed = listed.splitn(3, "---\n").nth(2).unwrap();
    shown("ports", "tablegate ports", listed, &Take::All, &Masks::default());
    let codes = said(&["rules", "why"]).await;
    shown(
        "rules-why",
        "tablegate rules why",
        &codes,
        &Take::All,
        &Masks::default(),
    );
}

#[tokio::test]
async fn ports_and_configuration() {
    let scene = Scene::new(NOWHERE);
    let masks = Masks::of(scene.directory.path());
    let port = scene.path("terminal");
    let printed = said(&["ports", "identify", "--yes", port.to_str().unwrap()]).await;
    let stable = "/dev/serial/by-id/usb-KeysCo_ET-1_0007-if00";
    shown(
        "identify",
        &format!("tablegate ports identify --yes {stable}"),
        &printed,
        &Take::First(4),
        &masks,
    );

    let config = scene.config();
    let config = config.to_str().unwrap();
    let file = "/etc/tablegate/TS-07.toml";
    let printed = said(&["config", "check", config]).await;
    shown(
        "config-check",
        &format!("tablegate config check {file}"),
        &printed,
        &Take::All,
        &masks,
    );
    let printed = said(&["config", "show", config]).await;
    let lines = Take::Lines(&["table.", "devices.tumbler", "min_free_mb"]);
    shown(
        "config-show",
        &format!("tablegate config show {file}"),
        &printed,
        &lines,
        &masks,
    );

    let printed = said(&["status", "--config", config]).await;
    shown(
        "no-daemon",
        &format!("tablegate status --config {file}"),
        &printed,
        &Take::All,
        &masks,
    );

    edit(&scene, "game = \"tai-sai\"", "game = \"taisai\"");
    edit(&scene, "directory", "directry");
    edit(&scene, "min_free_mb = 16", "min_free_mb = \"64\"");
    let printed = said(&["config", "check", config]).await;
    shown(
        "config-check-refused",
        &format!("tablegate config check {file}"),
        &printed,
        &Take::All,
        &masks,
    );
    let refused = run(&["run", "--config", config]).await;
    assert_eq!(refused.code, 3);
    shown(
        "run-refused",
        &format!("tablegate run --config {file}"),
        &refused.err,
        &Take::All,
        &masks,
    );
}

/// A `chronyc` that says that the clock is right.
fn right_clock(scene: &Scene) -> String {
    let folder = scene.path("bin");
    std::fs::create_dir(&folder).unwrap();
    let program = folder.join("chronyc");
    std::fs::write(&program, "#!/bin/sh\necho 0A000001,10.0.0.1,3,Normal\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:/usr/bin:/bin", folder.display())
}

/// The floor's side, so that somebody listens.
async fn floor(broker: &str) -> Child {
    let mut watch = tablegate()
        .args([
            "floor", "watch", "--broker", broker, "--site", "harbour", "--table", "TS-07",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = tokio::io::BufReader::new(watch.stdout.take().unwrap());
    let mut line = String::new();
    let first = tokio::io::AsyncBufReadExt::read_line(&mut lines, &mut line);
    tokio::time::timeout(PATIENCE, first)
        .await
        .expect("the floor sees the table")
        .unwrap();
    tokio::spawn(async move { read_all(lines).await });
    watch
}

#[tokio::test]
async fn first_start_opening_and_approval() {
    let broker = tablegate::sim::broker::start().unwrap();
    let broker = format!("mqtt://127.0.0.1:{}", broker.port());
    let mut scene = Scene::new(&broker);
    let masks = Masks::of(scene.directory.path());
    edit(&scene, "source = \"none\"", "source = \"chrony\"");
    let path = right_clock(&scene);
    scene.start_with(&[("PATH", &path)]).await;
    scene.links_up().await;
    let _floor = floor(&broker).await;
    let words = ["clock: follows", "backlog 0, 0 in flight", "floor: online", "no alerts"];
    let printed = until_it_says(&scene, &["status"], &words).await;
    shown("status-first", "tablegate status", &printed, &Take::All, &masks);
    let printed = scene.command(&["devices"]).await.ok();
    shown("devices", "tablegate devices", &printed, &Take::First(5), &masks);

    let printed = approve(&scene).await;
    shown(
        "approve",
        "tablegate approve --config /etc/tablegate/TS-07.toml",
        &printed,
        &Take::All,
        &masks,
    );
    let printed = scene.act(&["test", "all", "--yes"]).await;
    let tried = format!("{}{}", printed.out, printed.err);
    shown("test-all", "tablegate test all --yes", &tried, &Take::All, &masks);
    a_key_that_does_not_answer(&scene, &masks).await;
    asked_through_the_opening(&scene, &masks).await;
    scene.act(&["close"]).await.ok();
    let printed = scene.act(&["open", "--yes"]).await.ok();
    shown("open-yes", "tablegate open --yes", &printed, &Take::All, &masks);
    scene.dealer.play([1, 2, 6]).await.unwrap();
    scene.until("a settled round", |view| view["phase"] == "ready").await;
    let printed = scene.command(&["recall", "1"]).await.ok();
    let printed = technician_support::same_times(&printed);
    let lines = Take::Lines(&["Round 1", "  result", "  pays", "  lit ", "round settled"]);
    shown("recall", "tablegate recall 1", &printed, &lines, &masks);
    let mut menu = Screen::run(&scene.path("t.sock"), &["supervise"]);
    menu.shows("Close the table").await;
    menu.resize(15, 80);
    let small = |text: &str| {
        let line = |at: usize, words: &str| text.lines().nth(at).is_some_and(|line| line.starts_with(words));
        line(2, "What can be done now") && line(12, "Records the round as void") && line(14, " up/down")
    };
    let printed = menu.until("a small screen", small).await;
    shown("supervise", "tablegate supervise", &printed, &Take::All, &masks);
    menu.press("q");
    assert_eq!(menu.ends().await, 0);
    scene.act(&["close"]).await.ok();
    let config = scene.config();
    let printed = run(&["report", "--config", config.to_str().unwrap(), "--zone", "UTC"])
        .await
        .ok();
    let printed = technician_support::same_numbers(&printed);
    let command = "tablegate report --config /etc/tablegate/TS-07.toml --zone UTC";
    shown("report", command, &printed, &Take::First(18), &masks);
    captured(&scene, &masks).await;

    // Another device of the same kind, and another configuration than the approved one.
    scene.dealer.lamps.renumber("LL-2").await;
    scene.dealer.lamps.reboot().await;
    again(&mut scene).await;
    let accept = "a supervisor accepts it";
    let printed = until_it_says(&scene, &["status"], &[accept, "device_not_approved"]).await;
    let lines = Take::Lines(&["device_not_approved", accept]);
    shown("device-not-approved", "tablegate status", &printed, &lines, &masks);
    let printed = scene.act(&["accept-device", "LL-2"]).await.ok();
    shown(
        "accept-device",
        "tablegate accept-device LL-2",
        &printed,
        &Take::All,
        &masks,
    );

    edit(&scene, "rest_ms = 500", "rest_ms = 600");
    again(&mut scene).await;
    let printed = until_it_says(&scene, &["status"], &["NOT as approved", "digest_differs"]).await;
    let lines = Take::Lines(&["locked", "NOT as approved", "digest_differs"]);
    shown("not-approved", "tablegate status", &printed, &lines, &masks);

    let nothing = scene.path("nothing").display().to_string();
    assert!(scene.terminate().await.success());
    scene.start_with(&[("PATH", &nothing)]).await;
    let printed = until_it_says(&scene, &["status"], &["clock: FOLLOWS NO"]).await;
    shown("clock", "tablegate status", &printed, &Take::Lines(&["clock:"]), &masks);

    let config = scene.config();
    let config = config.to_str().unwrap();
    let second = run(&["run", "--config", config]).await;
    assert_eq!(second.code, 1, "{}", second.err);
    shown(
        "journal-locked",
        "tablegate run --config /etc/tablegate/TS-07.toml",
        &second.err,
        &Take::Lines(&["error:"]),
        &masks,
    );
    assert!(scene.terminate().await.success());
    let journal = rusqlite::Connection::open(scene.journal()).unwrap();
    journal
        .execute_batch("PRAGMA user_version = 999; UPDATE identity SET schema = 999")
        .unwrap();
    drop(journal);
    let newer = run(&["run", "--config", config]).await;
    assert_eq!(newer.code, 4, "{}", newer.err);
    shown(
        "journal-newer",
        "tablegate run --config /etc/tablegate/TS-07.toml",
        &newer.err,
        &Take::Lines(&["error:"]),
        &masks,
    );
}

/// The guided test of a terminal whose key 2 is dead; broken off after it.
async fn a_key_that_does_not_answer(scene: &Scene, masks: &Masks) {
    let mut test = OnTerminal::run_at(80, scene, &["test", "terminal"]);
    test.sees("Press key 1.").await;
    scene.dealer.terminal.press(1).await;
    test.sees("key 1 answers").await;
    test.sees("Press key 2.").await;
    test.types("n");
    test.sees("key 2: no answer").await;
    test.sees("Press key 3.").await;
    test.types("q");
    test.sees("error: not everything has passed").await;
    assert_eq!(test.ends().await, 1);
    let printed = test.shows();
    // Whole words on every line of a terminal.
    for line in printed.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    shown("test-terminal", "tablegate test terminal", &printed, &Take::All, masks);
}

/// The opening checks, with the three entries that are asked for by default.
async fn asked_through_the_opening(scene: &Scene, masks: &Masks) {
    let mut open = OnTerminal::run_at(80, scene, &["open"]);
    for faces in [[1, 3, 6], [2, 2, 5], [4, 4, 4]] {
        open.sees("[y/n/q]").await;
        assert_eq!(
            scene.dealer.enter(&faces).await.unwrap(),
            tablegate::sim::Answer::Accepted
        );
        open.types("y");
    }
    open.sees("Is the cover on?").await;
    open.types("y");
    open.sees("the tumbler was activated").await;
    open.sees("seal").await;
    open.types("y");
    open.sees("The table is open").await;
    assert_eq!(open.ends().await, 0);
    shown("open", "tablegate open", &open.shows(), &Take::All, masks);
}

/// What happened a moment ago, as a file and in words.
async fn captured(scene: &Scene, masks: &Masks) {
    let file = scene.path("what-happened.pcapng");
    let file = file.to_str().unwrap();
    let printed = scene.command(&["capture", "--recent", "--output", file]).await;
    let printed = format!("{}{}", printed.out, printed.err).replace(file, "what-happened.pcapng");
    let command = "tablegate capture --recent --output what-happened.pcapng";
    shown("capture", command, &printed, &Take::All, masks);
    let config = scene.config();
    let printed = said(&["replay", file, "--config", config.to_str().unwrap()]).await;
    let lines = Take::Lines(&["ENTER on 1 2 6", ": RESULT 1, 2, 6"]);
    let command = "tablegate replay what-happened.pcapng --config /etc/tablegate/TS-07.toml";
    shown("replay", command, &printed, &lines, masks);
    let file = scene.path("TS-07.tar.gz");
    let file = file.to_str().unwrap();
    let bundle = [
        "support-bundle",
        "--config",
        config.to_str().unwrap(),
        "--yes",
        "--output",
        file,
    ];
    let printed = run(&bundle).await.ok().replace(file, "TS-07.tar.gz");
    let printed = technician_support::same_sizes(&printed).replace("for table will", "for TS-07 will");
    // Whether there is a log is the PC's matter.
    let kept = ["will hold", ".txt", ".json", ".pcapng", "is written"];
    let command = "tablegate support-bundle --yes --output TS-07.tar.gz";
    shown("support-bundle", command, &printed, &Take::Lines(&kept), masks);
}

/// A program of this name that has a port open.
async fn hold(scene: &Scene, name: &str, port: &Path) -> Child {
    let program = scene.path(name);
    std::fs::copy("/bin/sleep", &program).unwrap();
    let port = std::fs::File::options().read(true).write(true).open(port).unwrap();
    let child = Command::new(&program)
        .arg("600")
        .stdin(Stdio::from(port))
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    // It has the port when it is the program.
    let comm = format!("/proc/{}/comm", child.id().unwrap());
    let until = Instant::now() + PATIENCE;
    while std::fs::read_to_string(&comm).unwrap_or_default().trim() != name {
        assert!(Instant::now() < until, "{name} doesn't run");
        tokio::task::yield_now().await;
    }
    child
}

fn exchange(scene: &Scene, one: &str, other: &str) {
    let (one, other, aside) = (scene.path(one), scene.path(other), scene.path("aside"));
    std::fs::rename(&one, &aside).unwrap();
    std::fs::rename(&other, &one).unwrap();
    std::fs::rename(&aside, &other).unwrap();
}

#[tokio::test]
async fn faults_of_devices_and_lines() {
    let mut scene = Scene::new(NOWHERE);
    let masks = Masks::of(scene.directory.path());
    scene.start().await;
    scene.open().await;
    dead_lamp(&scene, &masks).await;
    scene.act(&["close"]).await.ok();
    test_finds_a_dead_lamp(&scene, &masks).await;
    swapped(&scene).await;
    wrong_baud(&scene).await;
    port_held(&scene).await;
    wrong_kind(&scene, &masks).await;
    assert!(scene.terminate().await.success());
}

async fn dead_lamp(scene: &Scene, masks: &Masks) {
    let dealer = scene.dealer.clone();
    dealer.lamps.stick(0, StuckAt::Dark).await;
    dealer.to_the_dice([1, 2, 6]).await.unwrap();
    let entered = Instant::now();
    dealer.enter(&[1, 2, 6]).await.unwrap();
    scene
        .until("the lamp's lock", |view| view["locks"][0]["reason"] == "lamp")
        .await;
    let mut watch = Screen::run(&scene.path("t.sock"), &["status", "--watch"]);
    let seen = |text: &str| {
        text.contains("> LOCKED") && text.contains("[1]") && text.contains("NO BROKER") && text.contains("q: quit")
    };
    let printed = watch.until("the lit layout, and the lock", seen).await;
    let printed = printed.lines().take(21).chain(printed.lines().last());
    let printed = printed.collect::<Vec<_>>().join("\n");
    shown("watch", "tablegate status --watch", &printed, &Take::All, masks);
    watch.press("q");
    assert_eq!(watch.ends().await, 0);
    dealer.settle(entered).await.unwrap();
    dealer.tumbler.cover(tablegate::wire::message::Cover::On).await;
    let printed = until_it_says(scene, &["status"], &["FAILED: area", "alert lamp_failed", "ready"]).await;
    let lines = Take::Lines(&["TS-07 at", "FAILED", "locked", "alert lamp_failed"]);
    shown("dead-lamp", "tablegate status", &printed, &lines, masks);
    dealer.lamps.stick(0, StuckAt::Healthy).await;
    let printed = scene.act(&["unlock", "--procedure", "lamp 0 replaced"]).await.ok();
    let command = "tablegate unlock --procedure \"lamp 0 replaced\"";
    shown("dead-lamp-unlock", command, &printed, &Take::All, masks);
}

async fn test_finds_a_dead_lamp(scene: &Scene, masks: &Masks) {
    scene.dealer.lamps.stick(13, StuckAt::Dark).await;
    let printed = scene.act(&["test", "lamps", "--yes"]).await;
    assert_eq!(printed.code, 1, "{}{}", printed.out, printed.err);
    let tried = format!("{}{}", printed.out, printed.err);
    shown("test-lamps", "tablegate test lamps --yes", &tried, &Take::All, masks);
    scene.dealer.lamps.stick(13, StuckAt::Healthy).await;
}

async fn swapped(scene: &Scene) {
    let masks = Masks::of(scene.directory.path());
    exchange(scene, "tumbler", "terminal");
    let both = [
        "tumbler  down",
        "terminal  down",
        "are exchanged",
        "(serial number ET-1) answers",
    ];
    let printed = until_it_says(scene, &["devices"], &both).await;
    let lines = Take::Lines(&["tumbler", "terminal"]);
    shown("swapped", "tablegate devices", &printed, &lines, &masks);
    exchange(scene, "tumbler", "terminal");
    scene.links_up().await;
    // The tumbler's cable in the terminal's socket, and the terminal's nowhere.
    scene.dealer.terminal.unplug().await;
    scene.dealer.tumbler.unplug().await;
    let moved = Setup::new(scene.path("terminal"), "DT-1", 8);
    let tumbler = Tumbler::start(moved, TumblerSetup::default()).unwrap();
    let printed = until_it_says(scene, &["devices"], &["plug it in at", "terminal  down", "answers on"]).await;
    let lines = Take::Lines(&["tumbler", "terminal"]);
    shown("swapped-one", "tablegate devices", &printed, &lines, &masks);
    drop(tumbler);
    until_it_says(scene, &["devices"], &["terminal  down", "terminal does not exist"]).await;
    scene.dealer.terminal.replug().await;
    scene.dealer.tumbler.replug().await;
    scene.links_up().await;
}

async fn wrong_baud(scene: &Scene) {
    let masks = &Masks::of(scene.directory.path());
    let terminal = &scene.dealer.terminal;
    let garbage = Faults {
        garble: Garble::WrongBaud,
        ..Faults::default()
    };
    terminal.set_faults(garbage).await;
    terminal.noise(600).await;
    let words = ["terminal  silent", "bytes came and no valid frame"];
    let printed = until_it_says(scene, &["devices"], &words).await;
    let printed = printed
        .split("\n\n")
        .find(|block| block.starts_with("terminal"))
        .unwrap()
        .to_owned();
    let lines = Take::Lines(&["terminal  silent", "bytes came", "port        "]);
    shown("wrong-baud", "tablegate devices", &printed, &lines, masks);
    terminal.set_faults(Faults::default()).await;
    scene.links_up().await;
}

#[tokio::test]
async fn a_loose_cable() {
    let mut scene = Scene::new(NOWHERE);
    let masks = &Masks::of(scene.directory.path());
    scene.start().await;
    scene.links_up().await;
    let terminal = &scene.dealer.terminal;
    let loose = Faults {
        flipped: 15,
        noise: 60,
        ..Faults::default()
    };
    terminal.set_faults(loose).await;
    let until = Instant::now() + PATIENCE;
    let printed = loop {
        terminal.press(1).await;
        let printed = scene.command(&["devices"]).await.ok();
        let block = printed
            .split("\n\n")
            .find(|block| block.starts_with("terminal"))
            .unwrap();
        if block.contains("POOR LINE") && block.contains("up for") && !block.contains("CRC 0") {
            break block.to_owned();
        }
        assert!(Instant::now() < until, "{printed}");
    };
    let lines = Take::Lines(&["terminal  up", "POOR", "port        ", "errors      CRC"]);
    shown("loose-cable", "tablegate devices", &printed, &lines, masks);
    let printed = until_it_says(&scene, &["status"], &["alert link_odd"]).await;
    shown(
        "loose-cable-alert",
        "tablegate status",
        &printed,
        &Take::Lines(&["link_odd"]),
        masks,
    );
    assert!(scene.terminate().await.success());
}

async fn port_held(scene: &Scene) {
    scene.dealer.lamps.unplug().await;
    scene
        .until("the lamps are gone", |view| {
            view["links"].to_string().contains("does not exist")
        })
        .await;
    // Somebody has the port before the daemon finds it.
    let elsewhere = scene.path("elsewhere");
    let lamps = Lamps::start(Setup::new(&elsewhere, "LL-1", 9), LampsSetup::default()).unwrap();
    let mut holder = hold(scene, "minicom", &elsewhere).await;
    std::fs::rename(&elsewhere, scene.path("lamps")).unwrap();
    let printed = until_it_says(scene, &["devices"], &["is held by minicom"]).await;
    let printed = printed
        .split("\n\n")
        .find(|block| block.starts_with("lamps"))
        .unwrap()
        .to_owned();
    let lines = Take::Lines(&["lamps  down", "held by"]);
    let masks = Masks::of(scene.directory.path());
    shown("port-held", "tablegate devices", &printed, &lines, &masks);
    holder.kill().await.unwrap();
    scene.links_up().await;
    drop(lamps);
}

async fn wrong_kind(scene: &Scene, masks: &Masks) {
    let link = scene.path("lamps");
    if link.is_symlink() {
        std::fs::remove_file(&link).unwrap();
    }
    let lights = LampsSetup {
        kind: DeviceKind::ResultLights,
        count: 11,
        ..LampsSetup::default()
    };
    let _lights = Lamps::start(Setup::new(&link, "RL-1", 4), lights).unwrap();
    let printed = until_it_says(
        scene,
        &["devices"],
        &["lamps  down", "(serial number RL-1)", "which this table doesn't have"],
    )
    .await;
    let lines = Take::Lines(&["lamps  down", "RL-1"]);
    shown("wrong-kind", "tablegate devices", &printed, &lines, masks);
}

#[tokio::test]
async fn a_device_that_speaks_at_another_rate_is_asked_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("terminal");
    let terminal = Terminal::start(Setup::new(&link, "ET-1", 1), TerminalSetup::default()).unwrap();
    let garbage = Faults {
        garble: Garble::WrongBaud,
        ..Faults::default()
    };
    terminal.set_faults(garbage).await;
    let printed = said(&["ports", "identify", "--yes", link.to_str().unwrap()]).await;
    let masks = Masks::of(folder.path());
    let command = "tablegate ports identify --yes /dev/serial/by-id/usb-KeysCo_ET-1_0007-if00";
    shown("wrong-baud-identify", command, &printed, &Take::First(1), &masks);
}

#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn a_second_gateway() {
    let broker = Mosquitto::start("");
    let mut scene = Scene::new(&broker.url());
    let masks = Masks::of(scene.directory.path());
    scene.start().await;
    until_it_says(&scene, &["status"], &["floor: online"]).await;

    // A second PC with this one's disk.
    let mut clone = Scene::new(&broker.url());
    clone.start().await;
    let printed = until_it_says(&scene, &["status"], &["alert taken_over"]).await;
    let lines = Take::Lines(&["alert taken_over"]);
    shown("second-gateway", "tablegate status", &printed, &lines, &masks);
    assert!(clone.terminate().await.success());
    assert!(scene.terminate().await.success());
}

#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn a_dead_broker() {
    let mut broker = Mosquitto::start("");
    let mut scene = Scene::new(&broker.url());
    let masks = Masks::of(scene.directory.path());
    scene.start().await;
    until_it_says(&scene, &["status"], &["floor: online"]).await;
    broker.kill();
    until_it_says(
        &scene,
        &["status"],
        &["NO BROKER since", "alert broker_unreachable since"],
    )
    .await;
    // What happened since then waits; the alert itself does.
    let printed = loop {
        let words = ["NO BROKER since", "alert broker_unreachable since", "onnection refused"];
        let printed = until_it_says(&scene, &["status"], &words).await;
        if !printed.contains("backlog 0,") {
            break printed;
        }
    };
    let (_, floor) = printed.split_once("\nfloor:").unwrap();
    let floor: Vec<&str> = floor.lines().take(2).collect();
    let alert = printed
        .lines()
        .find(|line| line.contains("broker_unreachable"))
        .unwrap();
    let printed = format!("{alert}\nskipped\nfloor:{}", floor.join("\n"));
    let lines = Take::Lines(&["broker_unreachable", "floor:", "refused"]);
    shown("dead-broker", "tablegate status", &printed, &lines, &masks);
    broker.restart();
    until_it_says(&scene, &["status"], &["floor: online", "backlog 0"]).await;
    assert!(scene.terminate().await.success());
}

/// Files of the floor, and who has expired.
const EXPIRED: [(&str, &str); 2] = [("FROM", "20250101000000Z"), ("TO", "20250201000000Z")];

fn use_certificates(scene: &Scene, broker: &Mosquitto, home: &Path, name: &str) {
    let text = std::fs::read_to_string(scene.config()).unwrap();
    let at = home.display();
    let port = broker.port;
    let tls = format!(
        "brokers = [\"mqtts://localhost:{port}\"]\nca = \"{at}/ca.pem\"\ncertificate = \"{at}/{name}.pem\"\nkey = \"{at}/{name}.key\""
    );
    let lines = text.lines().map(|line| match line.starts_with("brokers") {
        true => tls.as_str(),
        false => line,
    });
    std::fs::write(scene.config(), lines.collect::<Vec<_>>().join("\n")).unwrap();
}

async fn with_certificates(block: &str, brokers: &str, own: &str, alert: &str, words: &[&str]) {
    let home = floor_of(&["TS-07"]);
    let home = home.path();
    certificates(home, &["client", "expired"], &EXPIRED);
    certificates(home, &["broker", "localhost", "127.0.0.1"], &[]);
    let mut scene = Scene::new(NOWHERE);
    if brokers == "expired" {
        certificates(home, &["broker", "localhost", "127.0.0.1"], &EXPIRED);
    }
    let broker = broker_with_certificates(home, "localhost", &[]);
    use_certificates(&scene, &broker, home, own);
    scene.start().await;
    let printed = until_it_says(&scene, &["status"], words).await;
    let mut masks = Masks::of(scene.directory.path());
    masks.also(
        &home.join("expired.pem").display().to_string(),
        "/etc/tablegate/TS-07.pem",
    );
    masks.also(&home.display().to_string(), "/etc/tablegate");
    masks.also("CN=expired", "CN=TS-07");
    let lines = Take::Lines(&[alert, "floor:", "certificate"]);
    shown(block, "tablegate status", &printed, &lines, &masks);
    assert!(scene.terminate().await.success());
}

#[tokio::test]
#[ignore = "needs mosquitto and openssl: tests/all runs it"]
async fn an_expired_certificate_of_the_table() {
    let words = [
        "certificate_expires",
        "certificate_refused",
        "it has expired",
        "NO BROKER",
    ];
    with_certificates("expired-own", "valid", "expired", "certificate_expires", &words).await;
}

#[tokio::test]
#[ignore = "needs mosquitto and openssl: tests/all runs it"]
async fn an_expired_certificate_of_the_broker() {
    let words = ["certificate_refused", "has expired", "NO BROKER"];
    with_certificates("expired-broker", "expired", "TS-07", "certificate_refused", &words).await;
}

/// A small file system in memory, until dropped.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    fn mount(place: &Path) -> SmallDisk {
        std::fs::create_dir_all(place).unwrap();
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64m", "tmpfs"])
            .arg(place)
            .status()
            .unwrap();
        assert!(
            mounted.success(),
            "a small file system can't be mounted here: run this as root"
        );
        SmallDisk(place.to_owned())
    }

    fn fill(&self) {
        use std::io::Write;
        let filler = std::fs::File::create(self.0.join("filler")).unwrap();
        while (&filler).write_all(&[1; 4096]).is_ok() {}
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        std::process::Command::new("umount")
            .arg("-l")
            .arg(&self.0)
            .status()
            .ok();
    }
}

#[tokio::test]
#[ignore = "mounts a small file system, which takes root: tests/all runs it"]
async fn a_full_disk() {
    let mut scene = Scene::new(NOWHERE);
    let masks = Masks::of(scene.directory.path());
    edit(&scene, "min_free_mb = 16", "min_free_mb = 32");
    let disk = SmallDisk::mount(&scene.path("journal"));
    scene.start().await;
    scene.open().await;
    disk.fill();
    let words = ["alert disk_low", "locked", "MB FREE"];
    let printed = until_it_says(&scene, &["status"], &words).await;
    let lines = Take::Lines(&["TS-07 at", "locked", "disk_low", "MB FREE"]);
    shown("full-disk", "tablegate status", &printed, &lines, &masks);
    std::fs::remove_file(disk.0.join("filler")).unwrap();
    scene
        .until("room", |view| view["locks"].as_array().is_some_and(Vec::is_empty))
        .await;
    assert!(scene.terminate().await.success());
}
