//! `status --watch` on a real terminal: what its screen shows of each game, alerts acknowledged, events looked at, a daemon that goes
//! and comes, terminals that are too small, without colours, and given back.

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

use daemon_support::{COVERED_TUMBLER, DICE_CUP, SUPERVISOR, Scene, run, tablegate};
use nix::sys::signal::Signal;
use screen::{BACKSPACE, DOWN, ENTER, ESCAPE, Screen};
use tablegate::sim::{Answer, Faults, TwoUp};
use tablegate::table::event::Body;

const NOWHERE: &str = "mqtt://127.0.0.1:9";

/// Columns of the picture; what stands to the right of it has numbers that differ from run to run.
const PICTURE: usize = 57;

/// The screen without what differs from run to run: clocks, round trips, sizes; and without what is not in order, which depends on
/// the PC too (a disk that fills) and is looked at for itself.
fn masked(text: &str) -> String {
    let above = text.lines().take_while(|line| !line.starts_with("> "));
    let lines = above.chain(text.lines().last()).enumerate().map(|(at, line)| {
        let line: Vec<char> = line.chars().collect();
        let from = match at {
            0 | 1 => line.len().saturating_sub(13),
            _ => PICTURE.min(line.len()),
        };
        let (left, right) = line.split_at(from);
        let (left, right): (String, String) = (left.iter().collect(), right.iter().collect());
        let varies = [" ms", "MB", "event ", "backlog"];
        let right = if right.starts_with("floor ") {
            "floor #".to_owned()
        } else {
            right
        };
        let masked = if at < 2 || varies.iter().any(|word| right.contains(word)) {
            left + &hidden(&right)
        } else {
            left + &right
        };
        masked.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Digits hidden; as many columns whatever the numbers.
fn hidden(text: &str) -> String {
    let mut shown = String::new();
    for letter in text.chars() {
        match letter {
            '0'..='9' if shown.ends_with('#') => {}
            '0'..='9' => shown.push('#'),
            other => shown.push(other),
        }
    }
    // Numbers of other lengths move what stands beside them.
    shown.trim_start().to_owned().replace("  ", " ")
}

#[tokio::test]
async fn a_table_of_tai_sai_is_seen_as_it_plays() {
    let mut scene = Scene::new(NOWHERE);
    scene.start().await;
    scene.links_up().await;
    let mut screen = Screen::run(&scene.path("t.sock"), &["status", "--watch"]);
    screen.shows("the table is closed").await;
    scene.open().await;
    screen.shows("ready for the next tumble").await;
    let dealer = scene.dealer.clone();
    dealer.tumble([1, 3, 6]).await.unwrap();
    dealer.wait_for_bets().await.unwrap();
    screen.shows("round 1: bets are open").await;
    dealer.no_more_bets().await.unwrap();
    dealer.uncover().await;
    assert_eq!(dealer.enter(&[1, 3, 6]).await.unwrap(), Answer::Accepted);
    let seen = |text: &str| {
        let lit = text.contains("[SMALL 4-10]") && text.contains("lamps: as they should be");
        lit && text.contains("> alert broker_unreachable for")
    };
    let entered = screen.until("the result, and an alert", seen).await;
    insta::assert_snapshot!("tai_sai_appendix_1", masked(&entered));
    // Nothing has a colour, and still it is seen what is lit.
    assert_eq!(screen.coloured(), 0, "NO_COLOR is set");
    // The clock runs while nothing happens, and little goes over the line for it.
    let before = screen.bytes();
    let moment = |text: &str| text.lines().nth(1).unwrap_or_default().to_owned();
    for _ in 0..3 {
        let clock = moment(&screen.text());
        screen.until("the clock", |text| moment(text) != clock).await;
    }
    let after = screen.bytes();
    assert!(after - before < 2000, "{} bytes for some seconds", after - before);

    // The broker is nowhere: an alert, acknowledged with one key in the supervisor's name.
    screen.press("a");
    screen.shows("Acknowledge broker_unreachable?").await;
    // Any other key says no; it does nothing else either.
    screen.press(ESCAPE);
    screen
        .until("no question", |text| !text.contains("Acknowledge broker"))
        .await;
    assert!(acknowledged(&scene).is_none());
    screen.press("a");
    screen.shows("Acknowledge broker_unreachable?").await;
    screen.press("a");
    screen.shows("broker_unreachable: Acknowledged.").await;
    screen.shows(", acknowledged").await;
    assert_eq!(acknowledged(&scene), Some(("broker_unreachable".to_owned(), name())));
    screen.press("a");
    screen.shows("It is acknowledged already.").await;

    // Everything that is said of the table, whole.
    screen.press(ENTER);
    let whole = screen.shows("back to the table").await;
    assert!(
        words(&whole).contains("face_6") && whole.contains("up/down: scroll"),
        "{whole}"
    );
    screen.press(ESCAPE);
    screen.shows("a: acknowledge").await;

    look_at_events(&mut screen).await;
    too_small_and_large_again(&screen).await;

    // The daemon goes: nothing old is shown as if it were now. It comes: the view goes on.
    scene.kill().await;
    let gone = screen.shows("NOT ANSWERING").await;
    assert!(gone.contains("The daemon has not answered since 20"), "{gone}");
    assert!(!gone.contains("[SMALL 4-10]"), "nobody knows what is lit: {gone}");
    assert!(
        words(&gone).contains("mode open, round 1, the result is entered"),
        "{gone}"
    );
    scene.start().await;
    let again = screen.shows("[SMALL 4-10]").await;
    assert!(again.contains("since before the daemon's start"), "{again}");
    assert!(
        again.contains("The daemon was started anew, and answers again"),
        "{again}"
    );

    // However it ends, the terminal is as it was.
    screen.tell(Signal::SIGTERM);
    assert_eq!(screen.ends().await, 0);
    screen.is_given_back().await;
}

/// Who acknowledged which alert.
fn acknowledged(scene: &Scene) -> Option<(String, String)> {
    scene.events().into_iter().find_map(|event| match event.body {
        Some(Body::AlertAcknowledged(alert)) => Some((alert.alert, event.actor.unwrap().name)),
        _ => None,
    })
}

/// The screen's words in one line, wherever its lines end.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

async fn look_at_events(screen: &mut Screen) {
    screen.press("e");
    let list = screen.shows("newest first").await;
    assert!(list.contains("alert broker_unreachable"), "{list}");
    screen.press(DOWN);
    let chosen = screen
        .until("the second event", |text| {
            text.lines().nth(2).is_some_and(|line| line.starts_with("> #"))
        })
        .await;
    let line = chosen.lines().nth(2).unwrap();
    let seqno = line[3..].split(' ').next().unwrap().to_owned();
    screen.press(ENTER);
    let whole = screen.shows("\"kind\":").await;
    assert!(whole.contains(&format!("#{seqno} ")), "{seqno}: {whole}");
    screen.press(BACKSPACE);
    screen.shows("newest first").await;
    screen.press(ESCAPE);
    screen.shows("[SMALL 4-10]").await;
}

async fn too_small_and_large_again(screen: &Screen) {
    screen.resize(20, 60);
    let small = screen.shows("80 columns and 24 rows").await;
    assert!(
        words(&small).contains("has 60 and 20: make it larger") && !small.contains("SMALL"),
        "{small}"
    );
    screen.resize(40, 120);
    screen.shows("[SMALL 4-10]").await;
    screen.resize(24, 80);
    screen.shows("[SMALL 4-10]").await;
}

/// The name that acts carry: root acts in the supervisor's, everybody else in their own.
fn name() -> String {
    let user = nix::unistd::Uid::current();
    match user.is_root() {
        true => SUPERVISOR.to_owned(),
        false => nix::unistd::User::from_uid(user).unwrap().unwrap().name,
    }
}

#[tokio::test]
async fn the_alternative_layout_fits_and_colours_are_not_the_only_carrier() {
    let mut scene = Scene::new(NOWHERE);
    let config = std::fs::read_to_string(scene.config()).unwrap();
    std::fs::write(scene.config(), config.replace("appendix-1", "appendix-2")).unwrap();
    scene.start().await;
    scene.open().await;
    let mut command = tablegate();
    command
        .args(["status", "--watch", "--socket"])
        .arg(scene.path("t.sock"))
        .env_remove("NO_COLOR");
    let mut screen = Screen::start(command);
    scene.dealer.play([2, 2, 5]).await.unwrap();
    let seen = |text: &str| text.contains("2 2 5 = 9") && text.contains("ready for the next tumble");
    screen.until("the settled round", seen).await;
    scene.dealer.tumble([1, 3, 6]).await.unwrap();
    scene.dealer.wait_for_bets().await.unwrap();
    scene.dealer.no_more_bets().await.unwrap();
    scene.dealer.uncover().await;
    assert_eq!(scene.dealer.enter(&[1, 3, 6]).await.unwrap(), Answer::Accepted);
    let seen =
        |text: &str| text.contains("[EVEN]") && text.contains("lamps: as they should be") && text.contains("NOT ACK");
    let entered = screen.until("the result", seen).await;
    insta::assert_snapshot!("tai_sai_appendix_2", masked(&entered));
    assert!(screen.coloured() > 0);
    // Root names nobody here: alerts are acknowledged in a name.
    if nix::unistd::Uid::current().is_root() {
        screen.press("a");
        screen.shows("Acknowledge broker_unreachable?").await;
        screen.press("a");
        screen.shows("add --by NAME").await;
    }
    // A stuck daemon is told from a quiet table.
    scene.tell(Signal::SIGSTOP);
    let stuck = screen.shows("NOT ANSWERING").await;
    assert!(stuck.contains("it is stuck"), "{stuck}");
    scene.tell(Signal::SIGCONT);
    screen.shows("[EVEN]").await;
    screen.press("q");
    assert_eq!(screen.ends().await, 0);
    screen.is_given_back().await;
}

#[tokio::test]
async fn the_lights_of_two_up_are_drawn() {
    let scene = two_up_scene::Scene::open(TwoUp::Dice).await;
    let mut screen = Screen::run(&scene.path("t.sock"), &["status", "--watch"]);
    screen.shows("the spin is offered").await;
    for act in [
        &["round", "spinner", "heads"][..],
        &["round", "no-more-bets"],
        &["round", "spin", "tails"],
    ] {
        scene.act(act).await.ok();
    }
    let seen = |text: &str| {
        let lit = text.contains("tails [1]") && text.contains("last result: tails; heads 0, tails 1");
        lit && text.contains("lamps: as they should be") && text.contains("NOT ACKNOWLEDGED")
    };
    let lit = screen.until("a lit light", seen).await;
    insta::assert_snapshot!("two_up_dice", masked(&lit));
    screen.press(ESCAPE);
    assert_eq!(screen.ends().await, 0);
    screen.is_given_back().await;
}

#[tokio::test]
async fn a_table_with_a_dice_cup_is_seen_as_it_plays() {
    let mut scene = Scene::of(NOWHERE, "tai-sai", DICE_CUP);
    scene.start().await;
    scene.open().await;
    let mut screen = Screen::run(&scene.path("t.sock"), &["status", "--watch"]);
    screen.shows("tai-sai style B").await;
    screen.shows("bets are open").await;
    scene.dealer.no_more_bets().await.unwrap();
    let closed = screen.shows("no more bets; the throw and its entry are awaited").await;
    assert!(
        !closed.contains("tumbler"),
        "no device that this table doesn't have: {closed}"
    );
    assert_eq!(scene.dealer.enter(&[4, 4, 5]).await.unwrap(), Answer::Accepted);
    let seen = |text: &str| text.contains("[BIG 11-17]") && text.contains("lamps: as they should be");
    let entered = screen.until("the result", seen).await;
    assert!(entered.contains("[44]") && entered.contains("[13]"), "{entered}");
    screen.press("q");
    assert_eq!(screen.ends().await, 0);
}

#[tokio::test]
async fn a_table_of_sic_bo_is_seen_as_it_plays() {
    let mut scene = Scene::of(NOWHERE, "sic-bo", COVERED_TUMBLER);
    scene.start().await;
    scene.open().await;
    let mut screen = Screen::run(&scene.path("t.sock"), &["status", "--watch"]);
    screen.shows("sic-bo, tumbler covered").await;
    screen.shows("ready for the next tumble").await;
    let dealer = scene.dealer.clone();
    dealer.tumble([2, 2, 5]).await.unwrap();
    dealer.wait_for_bets().await.unwrap();
    screen.shows("round 1: bets are open").await;
    dealer.no_more_bets().await.unwrap();
    dealer.uncover().await;
    screen.shows("the dice are uncovered; the entry is awaited").await;
    assert_eq!(dealer.enter(&[2, 2, 5]).await.unwrap(), Answer::Accepted);
    let entered = screen.shows("[22]").await;
    assert!(
        entered.contains("[SMALL 4-10]") && !entered.contains("180:1"),
        "no odds of the house: {entered}"
    );
    screen.press("q");
    assert_eq!(screen.ends().await, 0);
}

#[tokio::test]
async fn the_lights_of_coins_are_drawn() {
    let scene = two_up_scene::Scene::open(TwoUp::TriplePenny).await;
    let mut screen = Screen::run(&scene.path("t.sock"), &["status", "--watch"]);
    screen.shows("triple-penny-two-up").await;
    screen.shows("the spin is offered").await;
    for act in [
        &["round", "spinner", "heads"][..],
        &["round", "no-more-bets"],
        &["round", "spin", "triple-heads"],
    ] {
        scene.act(act).await.ok();
    }
    let over = screen.shows("last result: triple heads").await;
    assert!(over.contains("heads [1]"), "{over}");
    screen.press("q");
    assert_eq!(screen.ends().await, 0);
}

#[tokio::test]
async fn without_a_terminal_or_a_daemon_it_says_so() {
    let mut scene = Scene::new(NOWHERE);
    scene.start().await;
    let on_a_pipe = scene.command(&["status", "--watch"]).await;
    on_a_pipe.refused(2, "fills a terminal");
    let mut command = tablegate();
    command
        .args(["status", "--watch", "--socket"])
        .arg(scene.path("t.sock"));
    let mut dumb = Screen::start_with(command, "dumb");
    dumb.shows("TERM=dumb").await;
    assert_eq!(dumb.ends().await, 2);
    let nobody = run(&["status", "--watch", "--socket", "/nonexistent/t.sock"]).await;
    nobody.refused(1, "no daemon runs here");
    run(&["status", "--watch", "--json"]).await.refused(2, "--json");
}

/// A number has grown since somebody looks; title and keys explain the sign without a number.
fn is_added_to(text: &str) -> bool {
    text.replace("(+)", "").contains("(+")
}

#[tokio::test]
async fn a_loose_cable_shows_while_it_is_moved() {
    let mut scene = Scene::new(NOWHERE);
    scene.start().await;
    scene.links_up().await;
    let mut screen = Screen::run_looking(&scene.path("t.sock"), &["devices", "--watch"]);
    let sound = screen
        .until("round trips of all three", |text| {
            text.matches("  trip half").count() == 3
        })
        .await;
    assert!(
        sound.contains("terminal UP for") && sound.contains("ET-1 firmware"),
        "{sound}"
    );
    assert!(
        sound.matches("CRC 0 noise 0").count() == 3 && !is_added_to(&sound),
        "{sound}"
    );
    assert!(
        sound.matches("last heard").count() == 3 && sound.contains("longest silence"),
        "{sound}"
    );
    // Bits flip: the number grows, and says by how much since somebody looks.
    let terminal = &scene.dealer.terminal;
    terminal
        .set_faults(Faults {
            flipped: 60,
            ..Faults::default()
        })
        .await;
    let grows = |text: &str| text.contains("!CRC") && is_added_to(text) && text.contains("CRC errors");
    let bad = screen.until("CRC errors", grows).await;
    let fault = bad.lines().find(|line| line.contains("last fault")).unwrap();
    assert!(fault.contains(" ago: "), "{fault}");
    let tumbler = bad
        .lines()
        .skip_while(|line| !line.starts_with("tumbler"))
        .nth(1)
        .unwrap();
    assert!(tumbler.contains("CRC 0 noise 0"), "the others are sound: {tumbler}");
    // Counting anew: what is over adds nothing.
    terminal.set_faults(Faults::default()).await;
    screen
        .until("a link that is up", |text| text.contains("terminal UP"))
        .await;
    screen.press("0");
    screen.until("nothing added", |text| !is_added_to(text)).await;
    // The plug comes out, and goes in again.
    terminal.unplug().await;
    let down = screen.shows("terminal DOWN").await;
    assert!(down.contains(" ago: down"), "{down}");
    terminal.replug().await;
    screen
        .until("up again", |text| {
            text.contains("terminal UP") && text.contains("!opened ")
        })
        .await;
    screen.press("q");
    assert_eq!(screen.ends().await, 0);
    screen.is_given_back().await;
    // The same for scripts, and in words.
    let json: serde_json::Value = serde_json::from_str(&scene.command(&["devices", "--json"]).await.ok()).unwrap();
    let terminal = json
        .as_array()
        .unwrap()
        .iter()
        .find(|link| link["kind"] == "terminal")
        .unwrap();
    assert!(terminal["counts"]["crc_errors"].as_u64().unwrap() > 0, "{terminal}");
    assert!(
        terminal["round_trip_ever"]["max_us"].as_u64() >= terminal["round_trip"]["p50_us"].as_u64(),
        "{terminal}"
    );
    assert!(
        terminal["longest_silence"]["lasted_us"].as_u64().unwrap() > 0,
        "{terminal}"
    );
    assert!(
        terminal["last_fault"]["what"].as_str().unwrap().starts_with("down"),
        "{terminal}"
    );
    let text = scene.command(&["devices"]).await.ok();
    assert!(
        text.contains("longest silence") && text.contains("  last fault  "),
        "{text}"
    );
    scene
        .command(&["devices", "--watch"])
        .await
        .refused(2, "fills a terminal");
}
