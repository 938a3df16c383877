//! A command on a terminal of its own: a pty, keys, and what the screen shows after everything that the command wrote.

#![allow(dead_code, reason = "each test file uses its part of it")]

use crate::daemon_support::{PATIENCE, SUPERVISOR, tablegate};
use nix::pty::{Winsize, openpty};
use nix::sys::termios::{LocalFlags, tcgetattr};
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::Instant;

/// Keys as terminals send them.
pub const UP: &str = "\x1b[A";
pub const DOWN: &str = "\x1b[B";
pub const RIGHT: &str = "\x1b[C";
pub const LEFT: &str = "\x1b[D";
pub const ENTER: &str = "\r";
pub const ESCAPE: &str = "\x1b";
pub const BACKSPACE: &str = "\x7f";
pub const TAB: &str = "\t";

/// A terminal with a command on it.
pub struct Screen {
    pub child: Child,
    keyboard: File,
    /// Kept, so that its settings can be looked at after the command.
    line: OwnedFd,
    shown: Arc<Mutex<vt100::Parser>>,
    written: Arc<Mutex<u64>>,
}

fn model(rows: u16, columns: u16) -> (NonZeroU16, NonZeroU16) {
    (NonZeroU16::new(rows).unwrap(), NonZeroU16::new(columns).unwrap())
}

impl Screen {
    /// Runs a command for the daemon at `socket`, as the supervisor, on a terminal of 24 rows and 80 columns.
    pub fn run(socket: &Path, args: &[&str]) -> Screen {
        let mut command = tablegate();
        command.args(args).arg("--socket").arg(socket);
        if nix::unistd::Uid::current().is_root() {
            command.args(["--by", SUPERVISOR]);
        }
        Screen::start(command)
    }

    /// The same, of a command that acts for nobody.
    pub fn run_looking(socket: &Path, args: &[&str]) -> Screen {
        let mut command = tablegate();
        command.args(args).arg("--socket").arg(socket);
        Screen::start(command)
    }

    /// Starts a command on a terminal.
    pub fn start(command: Command) -> Screen {
        Screen::start_with(command, "xterm-256color")
    }

    /// Starts a command on a terminal of this name.
    pub fn start_with(command: Command, term: &str) -> Screen {
        Screen::start_in(command, term, "C.UTF-8")
    }

    /// The same, in this locale.
    pub fn start_in(mut command: Command, term: &str, locale: &str) -> Screen {
        let window = Winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let pty = openpty(Some(&window), None).unwrap();
        let line = || Stdio::from(pty.slave.try_clone().unwrap());
        command
            .env("TERM", term)
            .env("LC_ALL", locale)
            .stdin(line())
            .stdout(line())
            .stderr(line());
        let child = command.spawn().unwrap();
        let (rows, columns) = model(24, 80);
        let shown = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 0)));
        let written = Arc::new(Mutex::new(0));
        let (seen, counted) = (shown.clone(), written.clone());
        let keyboard = File::from(pty.master.try_clone().unwrap());
        let master = pty.master;
        std::thread::spawn(move || {
            let mut master = File::from(master);
            let mut bytes = [0; 4096];
            // The end of the terminal is an error of the pty.
            while let Ok(read @ 1..) = master.read(&mut bytes) {
                seen.lock().unwrap().process(&bytes[..read]);
                *counted.lock().unwrap() += read as u64;
            }
        });
        Screen {
            child,
            keyboard,
            line: pty.slave,
            shown,
            written,
        }
    }

    /// What the screen shows, line by line, without the spaces at their ends.
    pub fn text(&self) -> String {
        let parser = self.shown.lock().unwrap();
        let (_, columns) = parser.screen().size();
        let lines = parser.screen().rows(0, columns.get());
        let lines: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
        lines.join("\n")
    }

    /// Bytes that the command has written.
    pub fn bytes(&self) -> u64 {
        *self.written.lock().unwrap()
    }

    /// Cells that have a colour.
    pub fn coloured(&self) -> usize {
        let parser = self.shown.lock().unwrap();
        let screen = parser.screen();
        let (rows, columns) = screen.size();
        let cells = (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (row, column)));
        let coloured = |(row, column): &(u16, u16)| {
            screen
                .cell(*row, *column)
                .is_some_and(|cell| cell.fgcolor() != vt100::Color::Default || cell.bgcolor() != vt100::Color::Default)
        };
        cells.filter(coloured).count()
    }

    /// Waits until the screen shows what is wanted.
    pub async fn until(&self, what: &str, seen: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let text = self.text();
            if seen(&text) {
                return text;
            }
            assert!(Instant::now() < until, "{what} is not on the screen:\n{text}");
            // Look again: at most for PATIENCE, and the screen tells nobody that it has changed.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until the screen shows these words.
    pub async fn shows(&self, words: &str) -> String {
        self.until(words, |text| text.contains(words)).await
    }

    /// Presses keys.
    pub fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// The window gets another size.
    pub fn resize(&self, rows: u16, columns: u16) {
        let resized = std::process::Command::new("stty")
            .args(["rows", &rows.to_string(), "columns", &columns.to_string()])
            .stdin(self.line.try_clone().unwrap())
            .status();
        assert!(resized.unwrap().success());
        let (rows, columns) = model(rows, columns);
        self.shown.lock().unwrap().set_size(rows, columns);
    }

    /// Sends the command a signal.
    pub fn tell(&self, signal: nix::sys::signal::Signal) {
        let pid = i32::try_from(self.child.id().unwrap()).unwrap();
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), signal).unwrap();
    }

    /// Waits until the command's process has, or hasn't, been stopped.
    pub async fn is_stopped(&self, wanted: bool) {
        let stat = format!("/proc/{}/stat", self.child.id().unwrap());
        let is_stopped = || {
            let stat = std::fs::read_to_string(&stat).unwrap();
            stat.rsplit_once(')').unwrap().1.trim_start().starts_with('T')
        };
        self.until(if wanted { "stopped" } else { "going on" }, |_| is_stopped() == wanted)
            .await;
    }

    /// Waits until the command ends; its exit status.
    pub async fn ends(&mut self) -> i32 {
        let status = tokio::time::timeout(PATIENCE, self.child.wait())
            .await
            .expect("it ends");
        status.unwrap().code().unwrap_or(-1)
    }

    /// The terminal is as it was before the command: its own screen, a cursor, lines and echo.
    pub async fn is_given_back(&self) {
        let given_back = |_: &str| {
            let parser = self.shown.lock().unwrap();
            !parser.screen().alternate_screen() && !parser.screen().hide_cursor()
        };
        self.until("the terminal's own screen", given_back).await;
        let flags = tcgetattr(&self.line).unwrap().local_flags;
        let usual = LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG;
        assert!(flags.contains(usual), "{flags:?}");
    }
}
