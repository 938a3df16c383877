//! `tablegate ports` and `ports identify`, with simulated devices behind ptys and programs that hold a port.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]
#![cfg(feature = "sim")]

use nix::fcntl::OFlag;
use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A simulated device at the end of a pty; gone when dropped.
struct Puppet(Child);

impl Puppet {
    fn start(kind: &str, link: &Path) -> Puppet {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tablegate"))
            .args(["sim", "device", kind, "--json", "--serial", "SIM-7", "--link"])
            .arg(link)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut first)
            .unwrap();
        assert!(link.exists(), "{first}");
        Puppet(child)
    }
}

impl Drop for Puppet {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _status = self.0.wait();
    }
}

fn ports(words: &[&str], paths: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tablegate"))
        .arg("ports")
        .args(words)
        .args(paths)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The far side of a pty on which no device answers, and the near side's name.
fn pty() -> (std::fs::File, PathBuf) {
    let far = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC).unwrap();
    grantpt(&far).unwrap();
    unlockpt(&far).unwrap();
    let name = ptsname_r(&far).unwrap();
    let far = far.as_fd().try_clone_to_owned().unwrap();
    (std::fs::File::from(far), PathBuf::from(name))
}

#[test]
fn devices_answer_with_the_lines_of_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let kinds = ["tumbler", "terminal", "lamps", "lights"];
    let links: Vec<PathBuf> = kinds.iter().map(|kind| folder.path().join(kind)).collect();
    let _puppets: Vec<Puppet> = kinds
        .iter()
        .zip(&links)
        .map(|(kind, link)| Puppet::start(kind, link))
        .collect();
    let paths: Vec<&Path> = links.iter().map(PathBuf::as_path).collect();
    let output = ports(&["identify", "--yes"], &paths);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    for (kind, link) in kinds.iter().zip(&links) {
        let lines = format!("\n  [devices.{kind}]\n  port = \"{}\"\n", link.display());
        assert!(
            said.contains(&format!("{}: {kind}, serial number SIM-7", link.display())),
            "{said}"
        );
        assert!(said.contains(&lines), "{lines:?} isn't in:\n{said}");
    }
    // A configuration takes paths from the root: what is asked for from a folder is printed from there.
    let beside = Command::new(env!("CARGO_BIN_EXE_tablegate"))
        .args(["ports", "identify", "--yes", "lamps"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = text(&beside.stdout);
    let line = format!("port = \"{}\"", folder.path().join("lamps").display());
    assert!(
        said.contains(&line),
        "{line:?} isn't in:\n{said}{}",
        text(&beside.stderr)
    );
}

#[test]
fn whatever_is_on_a_port_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("terminal");
    let _puppet = Puppet::start("terminal", &link);
    // A line that only talks, a line that is looped, and a dead one.
    let (mut talking, talking_name) = pty();
    let (looped, looped_name) = pty();
    let (_dead, dead_name) = pty();
    let mut reading = looped.try_clone().unwrap();
    let mut writing = looped;
    std::thread::spawn(move || std::io::copy(&mut reading, &mut writing));
    let talks = std::thread::spawn(move || {
        // Answers every greeting with what is no frame.
        let mut greeting = [0; 256];
        while std::io::Read::read(&mut talking, &mut greeting).is_ok_and(|count| count > 0) {
            if talking.write_all(b"17 BLACK\r\n").is_err() {
                return;
            }
        }
    });
    let output = ports(
        &["identify", "--yes", "--json"],
        &[&link, &talking_name, &looped_name, &dead_name],
    );
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("no device answered on 3 of 4 ports"),
        "{}",
        text(&output.stderr)
    );
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said[0]["answered"]["by"]["kind"], "terminal", "{said}");
    assert!(said[1]["answered"]["noise"]["bytes"].as_u64().unwrap() >= 10, "{said}");
    assert_eq!(said[2]["answered"], "echo", "{said}");
    assert_eq!(said[3]["answered"], "nothing", "{said}");
    talks.join().unwrap();
}

#[test]
fn a_held_port_is_left_alone_and_its_holder_named() {
    let (far, name) = pty();
    let mut holder = Command::new("sh")
        .args(["-c", "exec 3<> \"$0\"; echo open; read line", name.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut open = String::new();
    BufReader::new(holder.stdout.as_mut().unwrap())
        .read_line(&mut open)
        .unwrap();
    let named = format!("sh (pid {})", holder.id());
    let listed = ports(&[], &[&name]);
    assert!(listed.status.success());
    assert!(text(&listed.stdout).contains(&named), "{}", text(&listed.stdout));
    let greeted = ports(&["identify", "--yes"], &[&name]);
    assert_eq!(greeted.status.code(), Some(1));
    assert!(
        text(&greeted.stdout).contains(&format!("is held by {named}")),
        "{}",
        text(&greeted.stdout)
    );
    // Whoever reads only why it failed is told too, and not that a device is silent that nobody asked.
    let why = text(&greeted.stderr);
    assert!(
        why.contains(&format!("is held by {named}")) && !why.contains("answered"),
        "{why}"
    );
    let (_dead, dead_name) = pty();
    let both = text(&ports(&["identify", "--yes", "--json"], &[&name, &dead_name]).stderr);
    assert!(
        both.contains(&format!("is held by {named}")) && both.contains("no device answered on 1 of 1 port\n"),
        "{both}"
    );
    drop(holder.stdin.take());
    holder.wait().unwrap();
    drop(far);
}

#[test]
fn nothing_is_sent_without_a_word_and_a_wrong_name_is_a_mistake() {
    let (_far, name) = pty();
    let file = tempfile::NamedTempFile::new().unwrap();
    for (words, path, status, part) in [
        (&["identify"][..], name.as_path(), 2, "give --yes"),
        (&["identify", "--yes"], file.path(), 1, "is no serial port of this PC"),
        (&[], Path::new("/dev/ttyUSB_none"), 1, "is no serial port of this PC"),
    ] {
        let output = ports(words, &[path]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {said}");
        assert!(said.contains(part), "{words:?}: {said}");
    }
    // This PC's own ports, whichever there are; and scripts can read them.
    let output = ports(&["--json"], &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(listed.is_array());
}
