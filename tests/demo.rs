//! `tablegate demo` as a newcomer meets it: the binary, its output, Ctrl-C.

#![cfg(feature = "demo")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{OpenptyResult, Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn demo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tablegate"));
    command.arg("demo").args(arguments).stdin(Stdio::null());
    command
}

#[test]
fn six_rounds_show_every_mistake_and_the_chain_holds() {
    let output = demo(&["--rounds", "6", "--speed", "20"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}\n{text}");
    for shown in [
        "mosquitto_sub",
        "TABLE OPEN",
        "RESULT 1, 2, 6, Total 9",
        "[SMALL 4-10]",
        "refused, E",
        "RESULT AMENDED",
        "ROUND HELD",
        "LAMP of",
        "NO SPIN",
        "6 rounds: 5 settled, 1 void; 1 entry refused, 1 amended, 1 held, 1 lamp fault.",
        "chain verified on both sides: yes.",
    ] {
        assert!(text.contains(shown), "{shown:?} isn't in:\n{text}");
    }
    assert!(!text.contains('\x1b'), "no colours where nobody sees them");
}

#[test]
fn the_other_layout_is_played_and_quiet_prints_the_summary_alone() {
    let output = demo(&["--rounds", "1", "--speed", "20", "--quiet", "--layout", "appendix-2"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{}\n{text}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.starts_with("1 round: 1 settled"), "{text}");
}

#[test]
fn the_other_dice_games_are_played_by_their_own_rules() {
    let games: [(&[&str], &[&str]); 3] = [
        (
            &["--style", "B"],
            &[
                "round of tai-sai style B begun",
                "E31: Not now: the order is bets, bell, throw",
                "NO SPIN, round void",
                "4 rounds: 3 settled, 1 void; 1 entry refused",
                "LAMP of ",
                "table unlocked (lamp)",
            ],
        ),
        (
            &["--game", "sic-bo"],
            &[
                "round of sic-bo, tumbler covered begun",
                ", total ",
                "ROUND HELD: no spin",
                "4 rounds: 4 settled, 0 void; 1 entry refused",
                "LAMP of ",
            ],
        ),
        (
            &["--game", "sic-bo", "--tumbler", "open"],
            &[
                "round of sic-bo, tumbler open begun",
                "dice at rest in sight",
                "ROUND HELD: no spin",
                "4 rounds: 4 settled, 0 void; 1 entry refused",
                "LAMP of ",
            ],
        ),
    ];
    for (game, parts) in games {
        let output = demo(&["--rounds", "4", "--speed", "20"]).args(game).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{game:?}: {errors}\n{text}");
        for part in parts.iter().chain(&["chain verified on both sides: yes."]) {
            assert!(text.contains(part), "{part:?} isn't in:\n{text}");
        }
    }
}

#[test]
fn ctrl_c_or_a_lost_terminal_ends_it_with_a_summary_and_leaves_nothing_behind() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        ends_cleanly_by(signal);
    }
}

fn ends_cleanly_by(signal: Signal) {
    let mut child = demo(&["--speed", "20"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let folder = lines.by_ref().map(Result::unwrap).find_map(|line| {
        let socket = line.split_once("--socket ")?.1.to_owned();
        Some(std::path::PathBuf::from(socket).parent().unwrap().to_owned())
    });
    let folder = folder.expect("the demo says how to look at its table");
    assert!(
        lines
            .by_ref()
            .map(Result::unwrap)
            .any(|line| line.contains("place your bets (gateway)")),
        "the demo plays"
    );
    kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success(), "{signal}");
    assert!(
        rest.last().unwrap().contains("chain verified on both sides: yes."),
        "{signal}: {rest:?}"
    );
    assert!(!folder.exists(), "{signal}: {} is still there", folder.display());
}

#[test]
fn on_a_terminal_the_layout_is_pinned_and_the_terminal_given_back() {
    let size = Winsize {
        ws_row: 24,
        ws_col: 80,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let OpenptyResult { master, slave } = openpty(Some(&size), None).unwrap();
    let mut child = demo(&["--rounds", "1", "--speed", "20"])
        .env_remove("NO_COLOR")
        .env("TERM", "xterm")
        .stdout(slave.try_clone().unwrap())
        .stderr(slave)
        .spawn()
        .unwrap();
    let mut seen = Vec::new();
    let mut buffer = [0u8; 4096];
    let mut screen = File::from(master);
    // A pty whose other side is closed ends with an error, not with 0.
    while let Ok(count @ 1..) = screen.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..count]);
    }
    assert!(child.wait().unwrap().success());
    let text = String::from_utf8_lossy(&seen);
    let at = |needle: &str| {
        text.find(needle)
            .unwrap_or_else(|| panic!("{needle:?} isn't in:\n{text}"))
    };
    let pinned = at("\x1b[11;24r");
    let lit = at("\x1b[1;30;43m SMALL 4-10 \x1b[0m");
    let given_back = text.rfind("\x1b[r").expect("the scrolling region is taken back");
    assert!(pinned < lit && lit < given_back);
    assert!(text[given_back..].contains("chain verified on both sides: yes."));
}

#[test]
fn without_rounds_the_table_stands_open_until_ctrl_c_and_its_folder_is_its_own() {
    let mut child = demo(&["--rounds", "0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let socket = lines
        .by_ref()
        .find_map(|line| Some(line.split_once("--socket ")?.1.to_owned()))
        .unwrap();
    let folder = std::path::Path::new(&socket).parent().unwrap().to_owned();
    let pid = child.id().to_string();
    let name = folder.file_name().unwrap().to_string_lossy().into_owned();
    assert!(
        name.len() >= "tablegate-demo-".len() + 8 && !name.ends_with(&pid),
        "{name}"
    );
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&folder).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o700, "nobody else looks in");
    assert!(lines.by_ref().any(|line| line.contains("TABLE OPEN")));
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    let rest: Vec<String> = lines.collect();
    assert!(child.wait().unwrap().success());
    assert!(rest.iter().any(|line| line.starts_with("0 rounds:")), "{rest:?}");
    assert!(!folder.exists());
}

#[test]
fn a_resized_terminal_is_drawn_anew() {
    let size = |rows, columns| Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let OpenptyResult { master, slave } = openpty(Some(&size(24, 120)), None).unwrap();
    let mut child = demo(&["--rounds", "0"])
        .env("TERM", "xterm")
        .stdout(slave.try_clone().unwrap())
        .stderr(slave.try_clone().unwrap())
        .spawn()
        .unwrap();
    let mut screen = File::from(master);
    let mut seen = String::new();
    let mut until = |needle: &str| {
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut buffer = [0u8; 4096];
        while !seen.contains(needle) {
            let mut asked = [PollFd::new(screen.as_fd(), PollFlags::POLLIN)];
            let ready = poll(&mut asked, PollTimeout::from(1000u16)).unwrap();
            assert!(Instant::now() < deadline, "{needle:?} is not in {seen}");
            if ready > 0 {
                let count = screen.read(&mut buffer).unwrap();
                seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
        }
        seen = seen.split_off(seen.find(needle).unwrap() + needle.len());
    };
    until("TABLE OPEN");
    let resized = std::process::Command::new("stty")
        .args(["rows", "40", "columns", "90"])
        .stdin(slave)
        .status()
        .unwrap();
    assert!(resized.success());
    let pid = Pid::from_raw(child.id().try_into().unwrap());
    // The pty is nobody's controlling terminal here, so that its signal has to be sent by hand.
    kill(pid, Signal::SIGWINCH).unwrap();
    until("\x1b[r\x1b[2J");
    until("\x1b[11;40r");
    until("TABLE OPEN");
    kill(pid, Signal::SIGINT).unwrap();
    until("chain verified on both sides: yes.");
    assert!(child.wait().unwrap().success());
}

#[test]
fn two_up_is_played_with_its_own_mistakes_and_the_chain_holds() {
    for (game, rounds, shown) in [
        (
            "two-up-dice",
            "5",
            &["NO SPIN OVERRULED", "    odds", "round 1: RESULT ", "place of light"][..],
        ),
        (
            "triple-penny-two-up",
            "5",
            &["NO SPIN: ", "round 1: RESULT ", "place of light"],
        ),
    ] {
        let output = demo(&["--game", game, "--rounds", rounds, "--speed", "20"])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{game}: {errors}\n{text}");
        let counted = format!("{rounds} games: ");
        for shown in shown.iter().copied().chain([
            "TABLE OPEN",
            "refused, E35",
            "CARD for",
            "RESULT CORRECTED",
            "SPINNER'S WAGER",
            "1 card",
            counted.as_str(),
            "chain verified on both sides: yes.",
        ]) {
            assert!(text.contains(shown), "{game}: {shown:?} isn't in:\n{text}");
        }
        assert!(!text.contains('\x1b'), "no colours where nobody sees them");
    }
}

#[test]
fn wrong_options_are_refused() {
    for (arguments, named) in [
        (&["--speed", "0"][..], "0.1 to 20"),
        (&["--speed", "fast"], "0.1 to 20"),
        (&["--rounds", "x"], "--rounds"),
        (&["--game", "whist"], "two-up-dice"),
        (
            &["--game", "two-up-dice", "--layout", "appendix-2"],
            "--layout is of tai-sai",
        ),
    ] {
        let output = demo(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(named), "{arguments:?}: {errors}");
    }
}

#[test]
fn a_temporary_folder_that_can_hold_no_socket_is_said_to_be_the_trouble() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("l".repeat(120)).into_os_string();
    let mut odd = folder.path().as_os_str().to_owned().into_vec();
    odd.extend(b"/\xff");
    for place in [long, OsString::from_vec(odd)] {
        std::fs::create_dir(&place).unwrap();
        let output = demo(&["--rounds", "1"]).env("TMPDIR", &place).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("TMPDIR"), "{text}");
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0, "nothing is left behind");
    }
}
