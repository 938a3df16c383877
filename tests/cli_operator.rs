//! What supervisors do by commands, and what they are told when it can't be done; through the real binary and a real terminal.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test may panic"
)]

mod daemon_support;

use daemon_support::on_terminal::OnTerminal;
use daemon_support::{NOWHERE, PATIENCE, Scene, bodies, run, tablegate};
use tablegate::sim::{Answer, StuckAt};
use tablegate::table::event::{ActorKind, Body, OpeningCheck, ResultSource, RoundVoidedReason, TableLockedReason};
use tablegate::wire::message::{Contact, Level};
use tokio::time::Instant;

#[tokio::test]
async fn the_opening_checks_are_asked_through_and_recorded_as_what_they_were() {
    let mut scene = Scene::closed().await;
    let mut open = OnTerminal::run(&scene, &["open"]);
    open.sees("devices has passed").await;
    open.sees("50 areas lit one by one and read back").await;
    open.sees("press 1 3 6 and ENTER on the terminal").await;
    open.sees("[y/n/q]").await;
    open.types("y");
    open.sees("no entry of 1 3 6 has come yet").await;
    // Whoever stands at the terminal, a simulated dealer too, sees that this is no play yet.
    let terminal = &scene.dealer.terminal;
    terminal
        .wait("OPN", |view| view.readout == "OPN", PATIENCE)
        .await
        .unwrap();
    let before = scene.dealer.terminal.view().entry;
    assert_ne!(before, 0);
    assert_eq!(scene.dealer.enter(&[1, 3, 6]).await.unwrap(), Answer::Accepted);
    assert!(
        !scene.dealer.see_lamps().await.unwrap().is_empty(),
        "a test entry lights its areas"
    );
    open.types("y");
    for _ in 0..2 {
        open.sees("test entry").await;
        open.sees("[y/n/q]").await;
        open.types("y");
        open.sees("has come yet").await;
        open.types("l");
        open.sees("are lit").await;
        open.sees("[y/n/q]").await;
        open.types("y");
    }
    open.sees("Is the cover on?").await;
    open.types("y");
    open.sees("the tumbler was activated").await;
    open.sees("seal").await;
    open.types("y");
    open.sees("The table is open").await;
    assert_eq!(open.ends().await, 0);
    scene.dealer.play([2, 4, 6]).await.unwrap();
    let events = scene.events();
    let checks: Vec<_> = bodies(&events)
        .filter_map(|body| match body {
            Body::OpeningCheckRecorded(check) if check.shown.is_empty() => {
                Some((check.check(), check.passed, check.vouched))
            }
            _ => None,
        })
        .collect();
    let seen = |check| (check, true, false);
    assert_eq!(checks.first(), Some(&seen(OpeningCheck::Devices)));
    assert!(checks.contains(&seen(OpeningCheck::LampWalk)) && checks.contains(&seen(OpeningCheck::Tumbler)));
    assert!(checks.contains(&(OpeningCheck::TestEntries, true, true)), "{checks:?}");
    let texts = bodies(&events).filter_map(|body| match body {
        Body::OpeningCheckRecorded(check) if check.check() == OpeningCheck::TestEntries && check.shown.is_empty() => {
            Some(check.text.as_str())
        }
        _ => None,
    });
    assert_eq!(
        texts.collect::<Vec<_>>(),
        ["3 test entries confirmed, 2 of them lit without the terminal"]
    );
    let results = bodies(&events)
        .filter(|body| matches!(body, Body::ResultEntered(_)))
        .count();
    assert_eq!(results, 1, "test entries are no results");
    assert!(scene.terminate().await.success());
}

#[tokio::test]
async fn an_opening_ends_with_its_terminal_and_the_table_stays_closed() {
    let scene = Scene::closed().await;
    // Quit by an answer.
    let mut open = OnTerminal::run(&scene, &["open"]);
    open.sees("[y/n/q]").await;
    open.types("q");
    open.sees("the table stays closed").await;
    assert_eq!(open.ends().await, 1);
    // Ctrl-C.
    let mut open = OnTerminal::run(&scene, &["open"]);
    open.sees("[y/n/q]").await;
    scene.until("the opening", |view| view["mode"] == "opening").await;
    open.child.kill().await.unwrap();
    scene.until("a closed table", |view| view["mode"] == "closed").await;
    // A check that has not passed.
    let mut open = OnTerminal::run(&scene, &["open"]);
    open.sees("test entry 1 of 3").await;
    open.types("n");
    // Left for later, and tried again when the others are through.
    open.sees("Mended?").await;
    open.types("s");
    for faces in [[2, 2, 5], [4, 4, 4]] {
        open.sees("test entry").await;
        open.sees("[y/n/q]").await;
        assert_eq!(scene.dealer.enter(&faces).await.unwrap(), Answer::Accepted);
        open.types("y");
    }
    open.sees("test entry 3 of 3: press 1 3 6").await;
    open.types("l");
    open.sees("are lit").await;
    open.sees("[y/n/q]").await;
    open.types("n");
    open.sees("What is wrong?").await;
    open.types("total_10");
    open.sees("Mended?").await;
    open.types("f");
    open.sees("Is the cover on?").await;
    open.types("y");
    open.sees("seal").await;
    open.types("y");
    open.sees("these checks have not passed").await;
    open.sees("test entries").await;
    assert_eq!(open.ends().await, 1);
    assert_eq!(scene.status().await["state"]["mode"], "closed");
    let entries: Vec<_> = bodies(&scene.events())
        .filter_map(|body| match body {
            Body::OpeningCheckRecorded(check) if !check.shown.is_empty() => {
                Some((check.shown.clone(), check.passed, check.text.clone()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        entries,
        [
            (vec![2, 2, 5], true, "as it must be".to_owned()),
            (vec![4, 4, 4], true, "as it must be".to_owned()),
            (vec![1, 3, 6], false, "wrong: total_10".to_owned()),
        ]
    );
    let without_terminal = scene.act(&["open"]).await;
    without_terminal.refused(2, "--yes");
}

/// A lock, a device that is away, an area that is measured dark: each is said when it matters, and not at the end.
#[tokio::test]
async fn an_opening_says_at_once_what_stands_in_its_way() {
    let mut scene = Scene::closed().await;
    scene.act(&["lock", "--reason", "layout torn"]).await.ok();
    let begun = |scene: &Scene| {
        let events = scene.events();
        bodies(&events)
            .filter(|body| matches!(body, Body::OpeningStarted(_)))
            .count()
    };
    for (answer, ends) in [("n", "nothing was begun"), ("q", "nothing was begun")] {
        let mut open = OnTerminal::run(&scene, &["open"]);
        open.sees("layout torn").await;
        open.sees("Open all the same?").await;
        open.types(answer);
        open.sees(ends).await;
        assert_eq!(open.ends().await, 1);
    }
    assert_eq!(begun(&scene), 0);
    let mut open = OnTerminal::run(&scene, &["open"]);
    open.sees("Open all the same?").await;
    open.types("y");
    open.sees("test entry 1 of 3: press 1 3 6").await;
    open.sees("[y/n/q]").await;
    // Away, while the entry is looked at.
    let dealer = scene.dealer.clone();
    assert_eq!(dealer.enter(&[1, 3, 6]).await.unwrap(), Answer::Accepted);
    dealer.lamps.unplug().await;
    scene
        .until("lamps away", |view| {
            let devices = view["devices"].as_array();
            devices.is_some_and(|all| all.iter().any(|device| device["online"] == false))
        })
        .await;
    open.types("y");
    open.sees("these devices don't answer:").await;
    open.sees("lamps at ").await;
    open.sees("press Enter (q: stop)").await;
    dealer.lamps.replug().await;
    scene.links_up().await;
    open.types("");
    // The next: an area that is measured dark.
    open.sees("test entry 2 of 3").await;
    open.sees("[y/n/q]").await;
    dealer.lamps.stick(0, StuckAt::Dark).await;
    open.types("l");
    open.sees("are lit").await;
    open.sees("[y/n/q]").await;
    open.types("y");
    open.sees("MEASURED OTHERWISE: small, bit 0 (output 1), stays dark")
        .await;
    open.types("n");
    open.sees("What is wrong?").await;
    open.types("small");
    open.sees("Mended?").await;
    dealer.lamps.stick(0, StuckAt::Healthy).await;
    open.types("a");
    open.sees("test entry 2 of 3").await;
    open.sees("[y/n/q]").await;
    open.types("y");
    open.sees("test entry 3 of 3").await;
    open.sees("[y/n/q]").await;
    open.types("l");
    open.sees("are lit").await;
    open.types("y");
    open.sees("Is the cover on?").await;
    open.types("y");
    open.sees("seal").await;
    open.types("y");
    open.sees("no round starts before this has ended: the supervisor's lock")
        .await;
    assert_eq!(open.ends().await, 0);
    // Without questions it is said as well, and the event names the lock.
    scene.act(&["close"]).await.ok();
    let told = scene.act(&["open", "--yes"]).await.ok();
    assert!(
        told.contains("no round starts before this has ended: the supervisor's lock"),
        "{told}"
    );
    let events = scene.events();
    let opened: Vec<Vec<TableLockedReason>> = bodies(&events)
        .filter_map(|body| match body {
            Body::TableOpened(opened) => Some(opened.locks().collect()),
            _ => None,
        })
        .collect();
    assert_eq!(
        opened,
        [[TableLockedReason::Supervisor], [TableLockedReason::Supervisor]]
    );
    assert!(scene.terminate().await.success());
}

#[tokio::test]
async fn a_table_with_a_device_away_stays_closed_and_says_which_check_failed() {
    let mut scene = Scene::new(NOWHERE);
    scene.dealer.lamps.unplug().await;
    scene.start().await;
    scene
        .until("two links", |view| {
            let devices = view["devices"].as_array().cloned().unwrap_or_default();
            devices.iter().filter(|device| device["online"] == true).count() == 2
        })
        .await;
    scene.act(&["open", "--yes"]).await.refused(1, "lamps");
    assert_eq!(scene.status().await["state"]["mode"], "closed");
    let status = scene.command(&["status"]).await.ok();
    assert!(
        status.contains("does not exist") || status.contains("not plugged in"),
        "{status}"
    );
    scene.dealer.lamps.replug().await;
    scene.links_up().await;
    scene.act(&["open", "--yes"]).await.ok();
}

#[tokio::test]
async fn a_supervisor_amends_voids_locks_and_is_told_why_not() {
    let mut scene = Scene::new(NOWHERE);
    scene.start().await;
    scene.act(&["round", "settle"]).await.refused(1, "refused: ");
    scene.open().await;
    scene.act(&["open", "--yes"]).await.refused(1, "open");
    scene.act(&["round", "void"]).await.refused(1, "refused: ");

    // A round whose result is wrong, and amended.
    let dealer = scene.dealer.clone();
    dealer.tumble([1, 3, 6]).await.unwrap();
    dealer.wait_for_bets().await.unwrap();
    let betting = scene.command(&["round", "show"]).await.ok();
    assert!(betting.contains("bets are open"), "{betting}");
    dealer.no_more_bets().await.unwrap();
    scene.act(&["close"]).await.refused(1, "refused: ");
    dealer.uncover().await;
    assert_eq!(
        dealer.enter(&[1, 1, 6]).await.unwrap(),
        Answer::Refused("E04".into()),
        "the reader saw others"
    );
    scene.act(&["round", "resume"]).await;
    scene.until("a result", |view| view["phase"] == "entered").await;
    scene.act(&["round", "amend", "1", "3", "7"]).await.refused(2, "7");
    scene.act(&["round", "amend", "1", "3"]).await.refused(2, "FACE");
    let amended = scene.act(&["round", "amend", "1", "3", "6"]).await.ok();
    assert!(!amended.is_empty());
    let shown = scene.command(&["round", "show", "--json"]).await.ok();
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["call"], "1, 3, 6, Total 10");
    scene.until("lamps", |_| !dealer.lamps.view().lit.is_empty()).await;
    let until = Instant::now() + PATIENCE;
    while scene.act(&["round", "settle"]).await.code != 0 {
        assert!(Instant::now() < until, "the lamps are confirmed some time");
    }
    scene
        .act(&["round", "amend", "1", "3", "6"])
        .await
        .refused(1, "refused: ");

    // The terminal can't: result by command, then void is too late, an incident isn't.
    dealer.tumble([2, 2, 5]).await.unwrap();
    dealer.wait_for_bets().await.unwrap();
    scene
        .act(&["round", "result", "2", "2", "5", "--reason", "terminal dead"])
        .await
        .ok();
    scene
        .act(&["round", "void", "--reason", "bad_mood"])
        .await
        .refused(2, "a_not_flat");
    scene.act(&["round", "void", "--reason", "a_not_flat"]).await.ok();
    scene
        .act(&["round", "incident", "chips fell on the layout"])
        .await
        .refused(2, "chip_moved_by_another");
    let recorded = scene.act(&["round", "incident", "chip_place_unknown"]).await.ok();
    assert!(recorded.contains("settled where it lies (NZ Div 9 r4.9)"), "{recorded}");
    let other = ["round", "incident", "other"];
    scene.act(&other).await.refused(1, "--note");
    scene
        .act(&[&other[..], &["--note", "wrong chips paid"]].concat())
        .await
        .ok();

    // Locks.
    scene.act(&["lock", "--reason", ""]).await.refused(2, "1 to 200");
    scene.act(&["lock", "--reason", "layout torn"]).await.ok();
    let status = scene.command(&["status"]).await.ok();
    assert!(
        status.contains("layout torn") || status.contains("a supervisor"),
        "{status}"
    );
    scene.act(&["unlock", "--procedure", "layout mended"]).await.ok();
    let answer = scene.act(&["unlock", "--procedure", "again", "--json"]).await;
    let refused: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    assert!(refused["refused"]["text"].is_string(), "{refused}");
    assert_eq!(answer.code, 1);
    scene.act(&["accept-device", "NO-SUCH"]).await.refused(1, "refused: ");
    scene.act(&["close"]).await.ok();
    assert!(scene.terminate().await.success());

    let events = scene.events();
    let voids: Vec<_> = bodies(&events)
        .filter_map(|body| match body {
            Body::RoundVoided(voided) => Some(voided.reason()),
            _ => None,
        })
        .collect();
    assert_eq!(voids, [RoundVoidedReason::ANotFlat]);
    let by_command: Vec<_> = bodies(&events)
        .filter_map(|body| match body {
            Body::ResultEntered(result) if result.source() == ResultSource::Command => Some(result.reason.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(by_command, ["terminal dead"]);
    assert!(bodies(&events).any(|body| matches!(body, Body::ResultAmended(_))));
    assert!(bodies(&events).any(|body| matches!(body, Body::IncidentRecorded(_))));
}

#[tokio::test]
async fn an_alert_is_acknowledged_by_its_name() {
    let scene = Scene::opened().await;
    scene
        .act(&["acknowledge", "nothing"])
        .await
        .refused(1, "No alert nothing stands");
    scene.dealer.terminal.turn(Contact::CabinetDoor, Level::Open).await;
    scene
        .until("the alert", |view| {
            let alerts = view["situation"]["alerts"].as_array();
            alerts.is_some_and(|alerts| alerts.iter().any(|alert| alert["alert"] == "door_open"))
        })
        .await;
    scene.act(&["acknowledge", "door_open"]).await.ok();
    let status = scene.command(&["status"]).await.ok();
    let line = status.lines().find(|line| line.starts_with("alert door_open since "));
    assert!(line.is_some_and(|line| line.contains(", acknowledged: ")), "{status}");
    scene.act(&["acknowledge", "door_open"]).await.refused(1, "already");
    let acknowledged = scene.events().into_iter().find_map(|event| match event.body {
        Some(Body::AlertAcknowledged(alert)) => Some((alert.alert, event.actor.unwrap_or_default().kind())),
        _ => None,
    });
    assert_eq!(acknowledged, Some(("door_open".to_owned(), ActorKind::Supervisor)));
}

#[tokio::test]
async fn who_acts_is_named_and_nobody_acts_in_another_name() {
    let mut scene = Scene::new(NOWHERE);
    scene.start().await;
    if !nix::unistd::Uid::current().is_root() {
        scene
            .command(&["lock", "--reason", "x", "--by", "somebody"])
            .await
            .refused(2, "only root");
        return;
    }
    scene.command(&["lock", "--reason", "x"]).await.refused(2, "--by NAME");
    // Somebody else than root: the sockets' directory and modes let them in for this test.
    let open_to_all = |path: &std::path::Path, mode| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open_to_all(scene.directory.path(), 0o755);
    let socket = scene.path("t.supervisor.sock");
    let nobody = |by: Option<&str>| {
        let mut command = tablegate();
        command
            .args(["lock", "--reason", "layout torn", "--socket"])
            .arg(&socket)
            .uid(65534)
            .gid(65534);
        if let Some(by) = by {
            command.args(["--by", by]);
        }
        async move { command.output().await.unwrap() }
    };
    let denied = nobody(None).await;
    assert_eq!(
        denied.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&denied.stderr)
    );
    assert!(String::from_utf8_lossy(&denied.stderr).contains("group"));
    open_to_all(&socket, 0o666);
    assert_eq!(nobody(Some("ana")).await.status.code(), Some(2));
    assert_eq!(nobody(None).await.status.code(), Some(0));
    let events = scene.events();
    let locked = events
        .iter()
        .find(|event| matches!(event.body, Some(Body::TableLocked(_))))
        .unwrap();
    let actor = locked.actor.clone().unwrap();
    assert_eq!((actor.name.as_str(), actor.login.as_str()), ("nobody", ""));
}

#[tokio::test]
async fn a_daemon_that_is_not_there_is_said_with_what_to_do() {
    let scene = Scene::new(NOWHERE);
    scene.command(&["status"]).await.refused(1, "systemctl start");
    let config = scene.config();
    run(&["status", "--config", config.to_str().unwrap()])
        .await
        .refused(1, "no daemon runs here");
    run(&["status", "--config", "/no/such/file.toml"])
        .await
        .refused(3, "/no/such/file.toml");
    run(&["status", "--instance", "no-such-table"])
        .await
        .refused(1, "no-such-table.sock");
    run(&["status", "--instance", "a", "--socket", "b"])
        .await
        .refused(2, "cannot be used with");
}

#[tokio::test]
async fn output_for_scripts_has_no_colour_and_help_has_an_example() {
    let mut scene = Scene::new(NOWHERE);
    scene.start().await;
    let status = scene.command(&["status"]).await.ok();
    assert!(!status.contains('\u{1b}'), "{status:?}");
    assert!(status.contains("not enforced"), "{status}");
    for command in [
        vec!["run"],
        vec!["status"],
        vec!["open"],
        vec!["close"],
        vec!["lock"],
        vec!["unlock"],
        vec!["accept-device"],
        vec!["devices"],
        vec!["round", "show"],
        vec!["round", "result"],
        vec!["round", "amend"],
        vec!["round", "void"],
        vec!["round", "reason"],
        vec!["round", "settle"],
        vec!["round", "reopen"],
        vec!["round", "resume"],
        vec!["round", "withdraw-void"],
        vec!["round", "incident"],
    ] {
        let mut args = command.clone();
        args.push("--help");
        let help = run(&args).await.ok();
        assert!(help.contains("Example"), "{command:?}: {help}");
    }
}
