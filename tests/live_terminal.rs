//! The terminal of a full-screen view: given back however the view ends and while it is stopped, and readable in whatever it is.

#![cfg(feature = "sim")]
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod daemon_support;
#[path = "daemon_support/screen.rs"]
mod screen;

use daemon_support::{SUPERVISOR, Scene, tablegate};
use nix::sys::signal::Signal;
use screen::Screen;
use std::path::Path;
use tokio::process::Command;

const NOWHERE: &str = "mqtt://127.0.0.1:9";

/// Each view, and words that are on its screen.
const VIEWS: [(&[&str], &str); 3] = [
    (&["status", "--watch"], "a: acknowledge"),
    (&["devices", "--watch"], "0: count (+) anew"),
    (&["supervise"], "What can be done now"),
];

/// Keys as terminals send them.
const CTRL_C: &str = "\x03";
const CTRL_Z: &str = "\x1a";
const CTRL_BACKSLASH: &str = "\x1c";

fn command(socket: &Path, args: &[&str]) -> Command {
    let mut command = tablegate();
    command.args(args).arg("--socket").arg(socket);
    if args[0] == "supervise" && nix::unistd::Uid::current().is_root() {
        command.args(["--by", SUPERVISOR]);
    }
    command
}

#[tokio::test]
async fn however_a_view_ends_the_terminal_is_as_it_was() {
    let mut scene = Scene::new(NOWHERE);
    scene.start().await;
    let socket = scene.path("t.sock");
    for (args, words) in VIEWS {
        for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGHUP] {
            let mut screen = Screen::start(command(&socket, args));
            screen.shows(words).await;
            screen.tell(signal);
            assert_eq!(screen.ends().await, 0, "{args:?} {signal}");
            screen.is_given_back().await;
        }
        for key in [CTRL_C, CTRL_BACKSLASH] {
            let mut screen = Screen::start(command(&socket, args));
            screen.shows(words).await;
            screen.press(key);
            assert_eq!(screen.ends().await, 0, "{args:?} {key:?}");
            screen.is_given_back().await;
        }
    }
}

#[tokio::test]
async fn a_view_is_stopped_and_goes_on() {
    let mut scene = Scene::new(NOWHERE);
    scene.start().await;
    let socket = scene.path("t.sock");
    for (args, words) in VIEWS {
        // A job of a shell: a group of its own, whose parent is in the same session.
        let mut job = command(&socket, args);
        job.process_group(0);
        let mut screen = Screen::start(job);
        screen.shows(words).await;
        screen.press(CTRL_Z);
        screen.is_stopped(true).await;
        screen.is_given_back().await;
        screen.tell(Signal::SIGCONT);
        screen.is_stopped(false).await;
        screen.shows(words).await;
        // From outside too, and once is enough for once.
        screen.tell(Signal::SIGTSTP);
        screen.is_stopped(true).await;
        screen.is_given_back().await;
        screen.tell(Signal::SIGCONT);
        screen.shows(words).await;
        screen.press("q");
        assert_eq!(screen.ends().await, 0, "{args:?}");
        screen.is_given_back().await;
    }
    // Where nobody could let it go on (ssh HOST tablegate ...), it doesn't stop.
    let mut alone = Command::new("/usr/bin/setsid");
    alone
        .arg(env!("CARGO_BIN_EXE_tablegate"))
        .args(["status", "--watch", "--socket"]);
    alone.arg(&socket).kill_on_drop(true).process_group(0);
    let mut screen = Screen::start(alone);
    screen.shows("a: acknowledge").await;
    screen.press(CTRL_Z);
    screen.press("e");
    screen.shows("newest first").await;
    screen.press("q");
    screen.is_given_back().await;
}

#[tokio::test]
async fn a_console_without_utf_8_shows_every_view() {
    let mut scene = Scene::new(NOWHERE);
    scene.start().await;
    scene.open().await;
    scene.act(&["lock", "--reason", "\u{c4}rger am Tisch"]).await.ok();
    let socket = scene.path("t.sock");
    for (args, words) in VIEWS {
        for (term, locale) in [("linux", "C"), ("vt220", "POSIX"), ("xterm", "C.UTF-8")] {
            let mut screen = Screen::start_in(command(&socket, args), term, locale);
            let shown = screen.shows(words).await;
            let letter = if locale == "C.UTF-8" {
                "\u{c4}rger am Tisch"
            } else {
                "?rger am Tisch"
            };
            assert!(shown.is_ascii() || locale == "C.UTF-8", "{term}, {locale}:\n{shown}");
            assert!(
                shown.contains(letter) || args[0] != "status",
                "{term}, {locale}:\n{shown}"
            );
            screen.press("q");
            assert_eq!(screen.ends().await, 0);
            screen.is_given_back().await;
        }
    }
}
