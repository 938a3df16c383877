//! `tablegate sim device` as a person or a script uses it.

#![cfg(feature = "sim")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_secs(20);

struct Puppet {
    child: Child,
    lines: mpsc::Receiver<serde_json::Value>,
}

impl Puppet {
    fn start(kind: &str, link: &Path, more: &[&str]) -> Puppet {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tablegate"))
            .args(["sim", "device", kind, "--json", "--link"])
            .arg(link)
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = mpsc::channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in out.lines() {
                let value = serde_json::from_str(&line.unwrap()).expect("one JSON object a line");
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        Puppet { child, lines }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn see(&self, what: &str, seen: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
        let end = Instant::now() + SOON;
        let mut passed = Vec::new();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(value) if seen(&value) => return value,
                Ok(value) => passed.push(value),
                Err(_) => panic!("no {what}; saw {passed:#?}"),
            }
        }
    }
}

impl Drop for Puppet {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn lines_drive_a_device_and_every_change_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("lamps");
    let mut puppet = Puppet::start("lamps", &link, &["--fault", "lit 4", "--fault", "lost 10"]);
    let first = puppet.see("a stuck lamp", |view| view["lit"] == serde_json::json!([4]));
    assert_eq!(first["line"]["faults"]["lost"], 10);
    assert_eq!(first["line"]["hearing"], "no_session");
    assert!(link.is_symlink());
    puppet.say("unplug");
    puppet.see("no plug", |view| view["line"]["plugged"] == false);
    assert!(!link.is_symlink());
    puppet.say("replug");
    puppet.see("a plug", |view| view["line"]["plugged"] == true);
    puppet.say("dark four");
    puppet.see("an error", |view| {
        view["error"]
            .as_str()
            .is_some_and(|text| text.contains("\"four\" should be a number"))
    });
    puppet.say("dance");
    puppet.see("an error", |view| {
        view["error"].as_str().is_some_and(|text| text.contains("help"))
    });
    puppet.say("mend 4");
    puppet.see("dark lamps", |view| view["lit"] == serde_json::json!([]));
    puppet.say("quit");
    assert!(puppet.child.wait().unwrap().success());
    assert!(!link.is_symlink(), "nothing is left behind");
}

#[test]
fn a_tumbler_spins_without_a_host() {
    let folder = tempfile::tempdir().unwrap();
    let mut puppet = Puppet::start("tumbler", &folder.path().join("tumbler"), &["--spin", "10"]);
    puppet.say("dice 1 3 6");
    puppet.say("spin 3");
    puppet.say("cover off");
    puppet.see("three spins", |view| {
        view["spins"] == 3 && view["covered"] == false && view["faces"] == serde_json::json!([1, 3, 6])
    });
}

#[test]
fn what_is_wrong_is_said_with_the_exit_status() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_tablegate"))
            .args(["sim", "device"])
            .args(args)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let link = folder.path().join("port");
    let (code, text) = run(&["terminal", "--link", link.to_str().unwrap(), "--fault", "lost 200"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("\"200\" should be 0 to 100"), "{text}");
    let (code, text) = run(&["terminal", "--link", "/nowhere/at/all"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("/nowhere/at/all"), "{text}");
    assert_eq!(run(&["toaster", "--link", "x"]).0, Some(2));
}

#[test]
fn a_simulated_port_takes_the_place_of_nothing_but_an_earlier_one() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("file"), "mine").unwrap();
    std::fs::create_dir(at("folder")).unwrap();
    std::os::unix::fs::symlink("/dev/null", at("port")).unwrap();
    std::os::unix::fs::symlink("nowhere", at("dangling")).unwrap();
    std::fs::write(at("beside.new"), "mine").unwrap();
    for name in ["file", "folder", "port", "dangling", "beside"] {
        for kind in ["tumbler", "terminal", "lamps"] {
            let output = Command::new(env!("CARGO_BIN_EXE_tablegate"))
                .args(["sim", "device", kind, "--link"])
                .arg(at(name))
                .stdin(Stdio::null())
                .output()
                .unwrap();
            let text = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{name}: {text}");
            assert!(text.contains("is no simulated device's link"), "{name}: {text}");
        }
    }
    assert_eq!(std::fs::read_to_string(at("file")).unwrap(), "mine");
    assert_eq!(std::fs::read_to_string(at("beside.new")).unwrap(), "mine");
    assert!(at("folder").is_dir() && at("port").is_symlink() && at("dangling").is_symlink());

    // What a device that was killed left behind is another matter.
    std::os::unix::fs::symlink("/dev/pts/99999", at("stale")).unwrap();
    let mut puppet = Puppet::start("lamps", &at("stale"), &[]);
    puppet.see("a start", |_| true);
    puppet.say("quit");
    assert!(puppet.child.wait().unwrap().success());
}

#[test]
fn a_second_table_on_the_same_links_is_refused_and_told_who_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let links = folder.path().to_str().unwrap();
    let table = |game: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tablegate"));
        command
            .args(["sim", "table", "--rounds", "0", "--links", links, "--game", game])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    };
    let mut first = table("tai-sai").spawn().unwrap();
    let mut printed = BufReader::new(first.stdout.take().unwrap()).lines();
    assert_eq!(printed.next().unwrap().unwrap(), "[devices.tumbler]");
    let before = std::fs::read_link(folder.path().join("terminal")).unwrap();
    let second = table("two-up-dice").output().unwrap();
    let text = String::from_utf8(second.stderr).unwrap();
    assert_eq!(second.status.code(), Some(1), "{text}");
    assert!(text.contains(&format!("process {}", first.id())), "{text}");
    assert_eq!(std::fs::read_link(folder.path().join("terminal")).unwrap(), before);
    first.kill().unwrap();
    first.wait().unwrap();
    // What was killed holds nothing any more, and another game may follow.
    let mut third = table("two-up-dice").spawn().unwrap();
    let printed: Vec<String> = BufReader::new(third.stdout.take().unwrap())
        .lines()
        .take(3)
        .map(Result::unwrap)
        .collect();
    assert_eq!(
        (printed[0].as_str(), printed[2].as_str()),
        ("[devices.terminal]", "[devices.lights]")
    );
    third.kill().unwrap();
    third.wait().unwrap();
}

#[test]
fn a_two_up_terminal_has_its_own_keys_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let more = ["--game", "two-up-dice", "--fault", "press new-spinner heads"];
    let puppet = Puppet::start("terminal", &folder.path().join("terminal"), &more);
    // Without a host no key is taken; that it was one is counted.
    puppet.see("two keys", |view| view["ignored"] == 2);
    let mut puppet = puppet;
    puppet.say("press new-spiner");
    puppet.see("an error", |view| {
        view["error"]
            .as_str()
            .is_some_and(|text| text.contains("new-spinner, spinner-stops"))
    });
}
