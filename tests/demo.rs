//! `tablegate demo` as a newcomer meets it: the binary, its output, Ctrl-C.

#![cfg(feature = "demo")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use nix::pty::{OpenptyResult, Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

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
fn ctrl_c_ends_it_with_a_summary_and_leaves_nothing_behind() {
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
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success());
    assert!(
        rest.last().unwrap().contains("chain verified on both sides: yes."),
        "{rest:?}"
    );
    assert!(!folder.exists(), "{} is still there", folder.display());
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
fn wrong_options_are_refused() {
    for (arguments, named) in [
        (["--speed", "0"], "0.1 to 20"),
        (["--speed", "fast"], "0.1 to 20"),
        (["--rounds", "x"], "--rounds"),
    ] {
        let output = demo(&arguments).output().unwrap();
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
