//! `supervise` on a real terminal, by arrow keys and Enter alone: what is possible is what the table says, each act says in advance what
//! it will do, and the journal has what was said.

#![cfg(feature = "sim")]
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test may panic, and looks for few events among many"
)]

mod daemon_support;
#[path = "daemon_support/screen.rs"]
mod screen;
#[path = "daemon_support/two_up.rs"]
mod two_up_scene;

use daemon_support::{COVERED_TUMBLER, DICE_CUP, Scene, run, tablegate};
use screen::{BACKSPACE, DOWN, ENTER, ESCAPE, LEFT, RIGHT, Screen, TAB, UP};
use tablegate::sim::{Answer, TwoUp};
use tablegate::table::event::{Body, Event, RoundVoidedReason};

const NOWHERE: &str = "mqtt://127.0.0.1:9";

/// Moves down, or up, to the line with these words and takes it.
async fn choose(screen: &mut Screen, words: &str) {
    choose_by(screen, words, DOWN).await;
}

async fn choose_by(screen: &mut Screen, words: &str, arrow: &str) {
    for _ in 0..60 {
        let text = screen.text();
        let chosen = text
            .lines()
            .find(|line| line.starts_with("> "))
            .unwrap_or_default()
            .to_owned();
        if chosen.contains(words) {
            screen.press(ENTER);
            return;
        }
        screen.press(arrow);
        let moved = |text: &str| !text.lines().any(|line| line == chosen);
        screen
            .until(&format!("a line other than {chosen:?} on the way to {words:?}"), moved)
            .await;
    }
    panic!("{words:?} is not in the list:\n{}", screen.text());
}

fn last<T>(events: Vec<Event>, of: impl Fn(Body) -> Option<T>) -> Option<T> {
    events.into_iter().rev().filter_map(|event| event.body).find_map(of)
}

#[tokio::test]
async fn a_round_of_tai_sai_is_amended_and_the_next_voided_by_arrows_and_enter() {
    let mut scene = Scene::new(NOWHERE);
    scene.start().await;
    scene.links_up().await;
    let mut screen = Screen::run(&scene.path("t.sock"), &["supervise"]);
    let menu = screen.shows("What can be done now").await;
    assert!(
        menu.contains("Open the table") && !menu.contains("Void the round"),
        "{menu}"
    );
    choose(&mut screen, "Open the table").await;
    screen.shows("vouched for").await;
    let preview = screen.shows("Yes, do it").await;
    assert!(preview.contains("Afterwards:"), "{preview}");
    screen.press(RIGHT);
    screen.press(ENTER);
    screen.shows("Done.").await;
    screen.press(ENTER);
    screen.until("an open table", |text| text.contains("OPEN")).await;

    // A wrong entry, amended: faces by arrows.
    let dealer = scene.dealer.clone();
    dealer.tumble([1, 3, 6]).await.unwrap();
    dealer.wait_for_bets().await.unwrap();
    dealer.no_more_bets().await.unwrap();
    dealer.uncover().await;
    assert_eq!(dealer.enter(&[1, 3, 6]).await.unwrap(), Answer::Accepted);
    screen.shows("Amend the result").await;
    choose(&mut screen, "Amend the result").await;
    screen.shows("What do the three dice show?").await;
    screen.press(UP);
    screen.shows("[2]").await;
    screen.press(RIGHT);
    screen.press(UP);
    screen.press(UP);
    screen.press(ENTER);
    screen.press(DOWN);
    screen.shows("2    3   [6]").await;
    screen.press(ENTER);
    let preview = screen.shows("Yes, do it").await;
    is_as_written("what_an_amendment_will_do", &preview);
    // Going back does nothing; neither does leaving the question.
    screen.press(ESCAPE);
    screen.shows("What do the three dice show?").await;
    screen.press(BACKSPACE);
    screen.shows("What can be done now").await;
    assert!(
        last(scene.events(), |body| matches!(body, Body::ResultAmended(_))
            .then_some(()))
        .is_none()
    );
    choose(&mut screen, "Amend the result").await;
    screen.press(&format!("{UP}{RIGHT}{UP}{UP}{ENTER}{DOWN}{ENTER}"));
    screen.shows("Yes, do it").await;
    screen.press(RIGHT);
    screen.shows("> [ Yes, do it ]").await;
    screen.press(ENTER);
    screen.shows("Done.").await;
    let amended = last(scene.events(), |body| match body {
        Body::ResultAmended(amended) => Some(amended.faces),
        _ => None,
    });
    assert_eq!(amended, Some(vec![2, 3, 6]));

    // Void: nothing takes it back, so "no" is what Enter would say.
    screen.press(ENTER);
    screen.shows("What can be done now").await;
    choose(&mut screen, "Void the round").await;
    screen.shows("Which?").await;
    choose(&mut screen, "flat").await;
    let preview = screen.shows("NOTHING TAKES IT BACK").await;
    is_as_written("what_a_void_will_do", &preview);
    screen.press(ENTER);
    screen.shows("Which?").await;
    choose(&mut screen, "flat").await;
    screen.shows("NOTHING TAKES IT BACK").await;
    screen.press(RIGHT);
    screen.shows("> [ Yes, do it ]").await;
    screen.press(ENTER);
    screen.shows("Done.").await;
    let voided = last(scene.events(), |body| match body {
        Body::RoundVoided(voided) => Some(voided.reason()),
        _ => None,
    });
    assert_eq!(voided, Some(RoundVoidedReason::ANotFlat));
    // The preview and the record are one: what was said is what is there.
    let told = scene.command(&["events", "tail", "-n", "12"]).await.ok();
    let record = told
        .lines()
        .find(|line| line.contains("VOID") || line.contains("void"))
        .unwrap();
    let said = preview.lines().find(|line| line.starts_with("Records: ")).unwrap();
    let said = said.trim_start_matches("Records: ").split(" (").next().unwrap();
    assert!(record.contains(said), "{said:?} was said, and recorded {record:?}");

    // What is not possible says why, with its rule.
    screen.press(ENTER);
    screen.shows("What can be done now").await;
    screen.press(TAB);
    screen.shows("What can't be done now, and why").await;
    choose_in_view(&mut screen, "Settle the round").await;
    let why = screen.shows("Not now: ").await;
    assert!(!why.contains("Yes, do it"), "{why}");
    screen.press(LEFT);
    screen.shows("What can be done now").await;

    // A text is one of several; a small screen is enough.
    screen.resize(15, 40);
    screen.shows("What can be done now").await;
    choose(&mut screen, "Hold the next round").await;
    screen.shows("Why?").await;
    choose(&mut screen, "dispute").await;
    screen.shows("It can be taken back").await;
    screen.press(ENTER);
    screen.shows("Done.").await;
    screen.press(ENTER);
    screen.shows("locks: 1").await;
    screen.resize(14, 40);
    screen.shows("40 columns and 15").await;
    screen.resize(24, 80);
    screen.shows("What can be done now").await;
    screen.press(ESCAPE);
    assert_eq!(screen.ends().await, 0);
    screen.is_given_back().await;
}

/// Moves down to the line with these words, and takes nothing.
async fn choose_in_view(screen: &mut Screen, words: &str) {
    for _ in 0..60 {
        let chosen = screen
            .text()
            .lines()
            .find(|line| line.starts_with("> "))
            .unwrap_or_default()
            .to_owned();
        if chosen.contains(words) {
            return;
        }
        screen.press(DOWN);
        screen
            .until(words, |text| !text.lines().any(|line| line == chosen))
            .await;
    }
    panic!("{words:?} is not in the list:\n{}", screen.text());
}

/// Compares a page, without the running clock above it. It names who acts: only root does so in a name that is always the same.
fn is_as_written(name: &str, text: &str) {
    if nix::unistd::Uid::current().is_root() {
        let page = text.lines().skip(2).collect::<Vec<_>>().join("\n");
        insta::assert_snapshot!(name, page);
    }
}

#[tokio::test]
async fn a_game_of_two_up_is_led_by_arrows_and_enter() {
    for game in [TwoUp::Dice, TwoUp::TriplePenny] {
        let scene = two_up_scene::Scene::open(game).await;
        let mut screen = Screen::run(&scene.path("t.sock"), &["supervise"]);
        let menu = screen.shows("What can be done now").await;
        assert!(
            menu.contains("A player spins") && !menu.contains("Amend the result"),
            "{menu}"
        );
        choose(&mut screen, "A player spins").await;
        choose(&mut screen, "wager on heads").await;
        yes(&mut screen).await;
        choose(&mut screen, "Call \"no more bets\"").await;
        yes(&mut screen).await;
        choose(&mut screen, "Enter the spin's result").await;
        let spins = screen.shows("Which?").await;
        // Only what this game can spin is offered.
        assert_eq!(spins.contains("odds"), game == TwoUp::Dice, "{spins}");
        assert_eq!(spins.contains("triple heads"), game == TwoUp::TriplePenny, "{spins}");
        choose(&mut screen, "tails").await;
        let preview = screen.shows("Yes, do it").await;
        assert!(preview.contains("tails_1"), "the lights are said: {preview}");
        yes(&mut screen).await;
        let spun = last(scene.events(), |body| match body {
            Body::SpinResulted(spun) => Some(spun.outcome().as_str_name()),
            _ => None,
        });
        assert_eq!(spun, Some("SPIN_OUTCOME_TAILS"));
        screen.press(ESCAPE);
        assert_eq!(screen.ends().await, 0);
    }
}

#[tokio::test]
async fn dice_from_a_cup_and_sic_bo_are_led_by_arrows_and_enter() {
    for (game, sections) in [("tai-sai", DICE_CUP), ("sic-bo", COVERED_TUMBLER)] {
        let mut scene = Scene::of(NOWHERE, game, sections);
        scene.start().await;
        scene.links_up().await;
        let mut screen = Screen::run(&scene.path("t.sock"), &["supervise"]);
        screen.shows("Open the table").await;
        choose(&mut screen, "Open the table").await;
        yes(&mut screen).await;
        screen.until("an open table", |text| text.contains("OPEN")).await;
        let dealer = scene.dealer.clone();
        if game == "sic-bo" {
            dealer.tumble([1, 3, 6]).await.unwrap();
            dealer.wait_for_bets().await.unwrap();
        }
        // The terminal can't: the result is a supervisor's.
        screen.shows("Enter the result").await;
        choose(&mut screen, "Enter the result").await;
        screen.shows("What do the three dice show?").await;
        screen.press("444");
        screen.press(ENTER);
        screen.shows("Why is the terminal not used?").await;
        choose(&mut screen, "does not answer").await;
        let preview = screen.shows("Yes, do it").await;
        assert!(
            preview.contains("triple_4") && preview.contains("Afterwards: the result is entered"),
            "{preview}"
        );
        yes(&mut screen).await;
        let entered = last(scene.events(), |body| match body {
            Body::ResultEntered(entered) => Some(entered.faces),
            _ => None,
        });
        assert_eq!(entered, Some(vec![4, 4, 4]), "{game}");
        // A daemon that is started anew: what was being chosen is not done, and it is said.
        choose(&mut screen, "Hold the next round").await;
        screen.shows("Why?").await;
        scene.kill().await;
        scene.start().await;
        screen.shows("The daemon was away.").await;
        let said = screen.shows("is not done: begin again").await;
        assert!(said.contains("started anew"), "{said}");
        screen.press(ENTER);
        screen.shows("What can be done now").await;
        screen.press(ESCAPE);
        assert_eq!(screen.ends().await, 0);
        screen.is_given_back().await;
    }
}

async fn yes(screen: &mut Screen) {
    screen.shows("Yes, do it").await;
    screen.press(RIGHT);
    screen.shows("> [ Yes, do it ]").await;
    screen.press(ENTER);
    screen.shows("Done.").await;
    screen.press(ENTER);
    screen.shows("What can be done now").await;
}

#[tokio::test]
async fn whoever_may_not_act_is_told_before_anything_is_drawn() {
    let mut scene = Scene::new(NOWHERE);
    scene.start().await;
    let socket = scene.path("t.sock");
    let mut on_a_pipe = vec!["supervise", "--socket", socket.to_str().unwrap()];
    let is_root = nix::unistd::Uid::current().is_root();
    if is_root {
        on_a_pipe.extend(["--by", "ana"]);
    }
    run(&on_a_pipe).await.refused(2, "fills a terminal");
    if !is_root {
        return;
    }
    let mut command = tablegate();
    command.args(["supervise", "--socket"]).arg(&socket);
    let mut nameless = Screen::start(command);
    nameless.shows("add --by NAME").await;
    assert_eq!(nameless.ends().await, 2);
    // Somebody else, without the group.
    use std::os::unix::fs::PermissionsExt;
    let open_to_all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(scene.directory.path(), open_to_all).unwrap();
    let binary = scene.path("tablegate");
    std::fs::copy(env!("CARGO_BIN_EXE_tablegate"), &binary).unwrap();
    let mut command = tokio::process::Command::new("/usr/bin/setpriv");
    command
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(&binary)
        .args(["supervise", "--socket"])
        .arg(scene.path("t.supervisor.sock"))
        .kill_on_drop(true);
    let mut stranger = Screen::start(command);
    let said = stranger.shows("group").await;
    assert!(said.contains("root"), "the group that is missing is named: {said}");
    assert_eq!(stranger.ends().await, 1);
}
