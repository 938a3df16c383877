//! `tablegate test`: a technician at a real terminal, the real binary, simulated devices with the faults that technicians look for.

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
use daemon_support::{PATIENCE, Scene, bodies};
use serde_json::Value;
use tablegate::sim::{StuckAt, Wear};
use tablegate::table::event::{ActorKind, Body, Event, TestRecorded};
use tablegate::wire::message::{Contact, Cover, Level, Sensing};

fn records(events: &[Event]) -> Vec<(&Event, &TestRecorded)> {
    let tests = events.iter().filter_map(|event| match &event.body {
        Some(Body::TestRecorded(test)) => Some((event, test)),
        _ => None,
    });
    tests.collect()
}

/// Every fault that the last test has found: "DARK total_5 16".
fn found(scene: &Scene) -> Vec<String> {
    let events = scene.events();
    let (event, test) = *records(&events).last().expect("a test was recorded");
    let actor = event.actor.as_ref().expect("somebody did it");
    assert_eq!(actor.kind(), ActorKind::Technician, "the socket for testing is enough");
    let tell = |found: &tablegate::table::event::TestFinding| {
        let fault = found.fault().as_str_name().trim_start_matches("TEST_FAULT_").to_owned();
        let number = found.number.map(|number| format!(" {number}")).unwrap_or_default();
        format!("{fault} {}{number}", found.part)
    };
    test.findings.iter().map(tell).collect()
}

async fn is_as_before(scene: &Scene, mode: &str, readout: &str) {
    scene.until("the mode before", |view| view["mode"] == mode).await;
    let dealer = &scene.dealer;
    dealer
        .lamps
        .wait("dark", |view| view.commanded.is_empty(), PATIENCE)
        .await
        .unwrap();
    let shows = |view: &tablegate::sim::TerminalView| view.readout == readout;
    dealer.terminal.wait(readout, shows, PATIENCE).await.unwrap();
}

#[tokio::test]
async fn a_technician_walks_the_lamps_and_finds_the_dead_one_by_measurement_and_by_eye() {
    let mut scene = Scene::closed().await;
    // Without a hand: what is measured is tested, and everything follows.
    let passed = scene.act(&["test", "lamps", "--yes"]).await.ok();
    assert_eq!(
        passed,
        "Test mode: nothing counts until it is left.\n\
         lamps LL-1: passed (50 of 50 tried)\n\
         Test mode is left: the table is closed, as before.\n"
    );
    // One is dead, and another burns always.
    scene.dealer.lamps.stick(16, StuckAt::Dark).await;
    scene.dealer.lamps.stick(30, StuckAt::Lit).await;
    let told = scene.act(&["test", "lamps", "--yes", "--json"]).await;
    assert_eq!(told.code, 1, "{told:?}");
    let json: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!((&json["passed"], &json["mode"]), (&false.into(), &"closed".into()));
    assert_eq!(json["tests"][0]["findings"][0]["part"], "total_5");
    assert_eq!(found(&scene), ["DARK total_5 16", "LIT pair_1_3 30"]);
    // At a terminal: stopped at a lamp, one before it, and one that only the eye sees.
    let mut test = OnTerminal::run(&scene, &["test", "lamps", "--pace", "50"]);
    test.sees("Enter stops at a lamp").await;
    test.sees("burns though nothing lights it").await;
    test.sees("triple_3").await;
    test.types("");
    test.sees("Is it lit, alone?").await;
    test.types("b");
    test.sees("total_5, bit 16 (output 17): stays dark (measured)").await;
    test.sees("Was every lamp lit at its own place").await;
    test.types("n");
    test.sees("Which was dark?").await;
    test.types("big");
    test.sees("Noted.").await;
    test.sees("Was every lamp lit").await;
    test.types("y");
    test.sees("lamps LL-1: FAILED (50 of 50 tried)").await;
    test.sees("big, bit 1 (output 2): stays dark (seen)").await;
    test.sees("error: not everything has passed").await;
    assert_eq!(test.ends().await, 1);
    assert_eq!(found(&scene), ["SAID_DARK big 1", "DARK total_5 16", "LIT pair_1_3 30"]);
    // Lamps that nobody measures: nothing is said of them without an eye.
    scene.dealer.lamps.stick(16, StuckAt::Healthy).await;
    scene.dealer.lamps.stick(30, StuckAt::Healthy).await;
    scene.dealer.lamps.sense(Sensing::AsCommanded).await;
    let unseen = scene.act(&["test", "lamps", "--yes"]).await;
    assert!(
        unseen.out.contains("lamps LL-1: NOT ALL TESTED (0 of 50 tried)"),
        "{unseen:?}"
    );
    assert_eq!(unseen.code, 1);
    let mut test = OnTerminal::run(&scene, &["test", "lamps", "--pace", "50"]);
    test.sees("Was every lamp lit at its own place").await;
    test.types("y");
    test.sees("lamps LL-1: passed (50 of 50 tried)").await;
    assert_eq!(test.ends().await, 0);
    is_as_before(&scene, "closed", "CLO").await;
    scene
        .act(&["test", "lights", "--yes"])
        .await
        .refused(1, "not everything");
    // A terminal is needed to be asked, and root says who it is.
    scene.act(&["test", "lamps"]).await.refused(2, "--yes");
    assert!(scene.terminate().await.success());
}

#[tokio::test]
async fn however_a_test_ends_everything_is_as_before() {
    let mut scene = Scene::opened().await;
    // The session dies.
    let mut test = OnTerminal::run(&scene, &["test", "lamps", "--pace", "10000"]);
    test.sees("small, bit 0").await;
    scene.until("test mode", |view| view["mode"] == "test").await;
    scene
        .dealer
        .lamps
        .wait("lit", |view| !view.lit.is_empty(), PATIENCE)
        .await
        .unwrap();
    // Nobody else tests meanwhile, and no round begins.
    let other = scene.act(&["test", "lamps", "--yes"]).await;
    other.refused(1, "in test mode already");
    test.child.kill().await.unwrap();
    is_as_before(&scene, "open", "").await;
    let events = scene.events();
    let (_, broken_off) = *records(&events).last().unwrap();
    assert!(broken_off.interrupted && !broken_off.passed, "{broken_off:?}");
    // The device goes away.
    let mut test = OnTerminal::run(&scene, &["test", "lamps", "--pace", "10000"]);
    test.sees("small, bit 0").await;
    let judged = |view: &Value| {
        view["situation"]["device_test"]["judged"] == true && view["situation"]["device_test"]["pictures"] == 2
    };
    scene.until("the first lamp", judged).await;
    scene.dealer.lamps.unplug().await;
    scene
        .until("lamps away", |view| {
            view["devices"]
                .as_array()
                .is_some_and(|all| all.iter().any(|device| device["online"] == false))
        })
        .await;
    // Enter, and an answer should it ask before it finds the device gone.
    test.types("\nn");
    test.sees("lamps LL-1: BROKEN OFF, the device went away (1 of 50 tried)")
        .await;
    test.sees("Test mode is left: the table is open, as before.").await;
    assert_eq!(test.ends().await, 1);
    scene.dealer.lamps.replug().await;
    scene.links_up().await;
    is_as_before(&scene, "open", "").await;
    // The daemon does.
    let mut test = OnTerminal::run(&scene, &["test", "lamps", "--pace", "10000"]);
    test.sees("small, bit 0").await;
    scene.until("the first lamp", judged).await;
    scene.kill().await;
    scene.start().await;
    scene.links_up().await;
    // Enter, and Enter again should it ask before it finds the daemon gone.
    test.types("\n");
    test.sees("error: ").await;
    assert_eq!(test.ends().await, 1);
    is_as_before(&scene, "open", "").await;
    // Of each there is a record: the daemon that was killed has its own at its next start.
    let events = scene.events();
    let records = records(&events);
    assert_eq!(records.len(), 3);
    for (event, record) in records {
        assert!(record.interrupted && !record.passed && record.parts == 50, "{record:?}");
        assert_eq!(
            event.actor.as_ref().map(|actor| actor.kind()),
            Some(ActorKind::Technician)
        );
    }
    // The program's own late steps are no person's refused acts.
    let refused: Vec<&str> = bodies(&events)
        .filter_map(|body| match body {
            Body::ActRefused(refused) => Some(refused.act.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(refused, ["enter_test"], "of the one who tried to test meanwhile");
    // And play goes on.
    scene.dealer.play([2, 4, 6]).await.unwrap();
    scene.dealer.lamps.unplug().await;
    scene
        .until("lamps away", |view| {
            view["devices"]
                .as_array()
                .is_some_and(|all| all.iter().any(|device| device["online"] == false))
        })
        .await;
    let away = scene.act(&["test", "lamps", "--yes"]).await;
    assert!(
        away.out.contains("lamps: NOT TESTED: The layout's lamps do not answer"),
        "{away:?}"
    );
    assert!(scene.terminate().await.success());
}

/// A lamp that fails in play is failed until it is seen working: in the next round that lights it, or at once by a test.
#[tokio::test]
async fn a_lamp_that_a_test_finds_to_work_is_named_as_failed_no_longer() {
    let mut scene = Scene::opened().await;
    let dealer = scene.dealer.clone();
    dealer.lamps.stick(0, StuckAt::Dark).await;
    dealer.tumble([1, 1, 2]).await.unwrap();
    dealer.wait_for_bets().await.unwrap();
    dealer.no_more_bets().await.unwrap();
    dealer.uncover().await;
    dealer.enter(&[1, 1, 2]).await.unwrap();
    let failed = |view: &Value| {
        view["situation"]["failed_lamps"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
    };
    scene.until("the failure", failed).await;
    scene.act(&["close"]).await;
    let until = tokio::time::Instant::now() + PATIENCE;
    while scene.act(&["round", "settle"]).await.code != 0 {
        assert!(tokio::time::Instant::now() < until, "it is settled some time");
    }
    dealer.tumbler.cover(Cover::On).await;
    assert!(scene.command(&["status"]).await.ok().contains("FAILED: area small"));
    dealer.lamps.stick(0, StuckAt::Healthy).await;
    scene.act(&["test", "lamps", "--yes"]).await.ok();
    let status = scene.command(&["status"]).await.ok();
    assert!(!status.contains("FAILED: area"), "{status}");
    assert!(
        status.contains("none is known to fail now"),
        "the lock waits for a supervisor: {status}"
    );
    let events = scene.events();
    assert!(bodies(&events).any(|body| matches!(body, Body::LampRestored(_))));
    scene.act(&["unlock", "--procedure", "lamp replaced"]).await.ok();
    dealer.play([1, 1, 2]).await.unwrap();
    // A daemon that is stopped in a test records what was known by then.
    let mut test = OnTerminal::run(&scene, &["test", "lamps", "--pace", "10000"]);
    test.sees("small, bit 0").await;
    let lit = |view: &Value| {
        let test = &view["situation"]["device_test"];
        test["judged"] == true && test["pictures"] == 2
    };
    scene.until("the first lamp", lit).await;
    assert!(scene.terminate().await.success());
    let events = scene.events();
    let (_, stopped) = *records(&events).last().unwrap();
    assert!(stopped.interrupted && stopped.tried == 1, "{stopped:?}");
}

#[tokio::test]
async fn keys_that_never_answer_or_bounce_are_found() {
    let mut scene = Scene::closed().await;
    let terminal = &scene.dealer.terminal;
    terminal.wear(3, Wear::Dead).await;
    terminal.wear(5, Wear::Bounces).await;
    let mut test = OnTerminal::run(&scene, &["test", "terminal", "--wait", "60"]);
    for number in 1..=6 {
        test.sees(&format!("Press key {number}.")).await;
        scene
            .until("it is asked for", |view| {
                view["situation"]["device_test"]["asked"] == format!("key_{number}")
            })
            .await;
        if number == 2 {
            terminal.press(6).await;
            test.sees("key 6 came, not key 2").await;
        }
        terminal.press(number).await;
        match number {
            3 => test.types("n"),
            _ => test.sees(&format!("key {number} answers")).await,
        }
    }
    let others = [
        ("Press ENTER.", "enter"),
        ("Ring the bell.", "bell"),
        ("Turn the supervisor's key", "supervisor_key"),
        ("Push the no spin button.", "no_spin_button"),
        ("Open the cabinet's door", "cabinet_door"),
    ];
    for (wish, part) in others {
        test.sees(wish).await;
        scene
            .until(part, |view| view["situation"]["device_test"]["asked"] == part)
            .await;
        match part {
            "enter" => terminal.enter().await,
            "bell" => terminal.ring().await,
            "supervisor_key" => {
                terminal.turn(Contact::SupervisorKey, Level::Closed).await;
                terminal.turn(Contact::SupervisorKey, Level::Open).await;
            }
            "no_spin_button" => terminal.push_no_spin().await,
            _ => {
                terminal.turn(Contact::CabinetDoor, Level::Open).await;
                terminal.turn(Contact::CabinetDoor, Level::Closed).await;
            }
        }
    }
    test.sees("is every segment lit?").await;
    terminal
        .wait("888", |view| view.readout == "888", PATIENCE)
        .await
        .unwrap();
    test.types("y");
    test.sees("is every segment dark?").await;
    terminal
        .wait("dark", |view| view.readout == "   ", PATIENCE)
        .await
        .unwrap();
    test.types("y");
    // A bounce may be told when the next key is asked for already; the result names it.
    test.sees("terminal ET-1: FAILED (13 of 13 tried)").await;
    test.sees("key 5: bounces").await;
    assert_eq!(test.ends().await, 1);
    assert_eq!(found(&scene), ["NO_ANSWER key_3 3", "BOUNCED key_5 5"]);
    is_as_before(&scene, "closed", "CLO").await;
    // A key that is waited for no longer than it is said.
    let mut test = OnTerminal::run(&scene, &["test", "terminal", "--wait", "1"]);
    test.sees("key 1: no answer within 1 s").await;
    test.types("q");
    test.sees("terminal ET-1: FAILED").await;
    assert_eq!(test.ends().await, 1);
    assert_eq!(found(&scene)[0], "NO_ANSWER key_1 1");
    assert!(scene.terminate().await.success());
}

#[tokio::test]
async fn a_tumbler_is_started_and_its_cover_lifted_and_all_is_tried_in_turn() {
    let mut scene = Scene::closed().await;
    let tumbler = &scene.dealer.tumbler;
    let mut test = OnTerminal::run(&scene, &["test", "tumbler"]);
    test.sees("Is the cover on?").await;
    test.types("y");
    test.sees("it has spun, and rests").await;
    test.sees("Lift the cover.").await;
    tumbler.cover(Cover::Off).await;
    test.sees("Put it on again.").await;
    tumbler.cover(Cover::On).await;
    test.sees("tumbler DT-1: passed (3 of 3 tried)").await;
    test.sees("Test mode is left: the table is closed, as before.").await;
    assert_eq!(test.ends().await, 0);
    // The command is in the journal before the tumbler has it, by name, and only in test mode.
    let events = scene.events();
    let started = events
        .iter()
        .position(|event| matches!(event.body, Some(Body::TumblerStarted(_))))
        .unwrap();
    let entered = events
        .iter()
        .position(|event| matches!(event.body, Some(Body::TestModeEntered(_))))
        .unwrap();
    assert!(
        entered < started && tumbler.view().spins == 1,
        "{} {entered} {started}",
        tumbler.view().spins
    );
    // Without a hand: every device in turn, and what needs a hand is told.
    let all = scene.act(&["test", "all", "--yes"]).await;
    assert_eq!(
        (all.code, all.out.as_str(), all.err.as_str()),
        (
            1,
            "Test mode: nothing counts until it is left.\n\
             lamps LL-1: passed (50 of 50 tried)\n\
             terminal ET-1: NOT ALL TESTED (0 of 13 tried)\n  \
             not tested: key 1, key 2, key 3, key 4, key 5, key 6, ENTER, bell, supervisor key, no spin button, cabinet door, \
             readout (all lit), readout (all dark)\n\
             tumbler DT-1: NOT ALL TESTED (2 of 3 tried)\n  \
             not tested: cover\n\
             Test mode is left: the table is closed, as before.\n",
            "error: not everything has passed\n"
        )
    );
    // A tumbler that can't spin.
    tumbler.motor_fault(3).await;
    let faulty = scene.act(&["test", "tumbler", "--yes"]).await;
    assert!(
        faulty.out.contains("spin: the tumbler reports fault 3") || faulty.out.contains("the tumbler reports fault 3"),
        "{faulty:?}"
    );
    let shown = scene.command(&["events", "list", "--kind", "test_recorded"]).await;
    assert!(shown.out.contains("test of the tumbler FAILED"), "{shown:?}");
    assert!(scene.terminate().await.success());
}
