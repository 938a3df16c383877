//! A command on a real terminal, typed at and read from.

use super::{PATIENCE, SUPERVISOR, Scene, tablegate};
use nix::pty::{Winsize, openpty};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::process::Child;
use tokio::time::Instant;

/// A command on a terminal.
pub struct OnTerminal {
    pub child: Child,
    keyboard: File,
    screen: Arc<Mutex<String>>,
    /// How much of the screen was read.
    read: usize,
}

impl OnTerminal {
    /// A terminal that doesn't say how large it is: nothing is broken into lines.
    pub fn run(scene: &Scene, args: &[&str]) -> OnTerminal {
        OnTerminal::on(None, scene, args)
    }

    /// A terminal of this many columns.
    pub fn run_at(columns: u16, scene: &Scene, args: &[&str]) -> OnTerminal {
        let window = Winsize {
            ws_row: 24,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        OnTerminal::on(Some(window), scene, args)
    }

    fn on(window: Option<Winsize>, scene: &Scene, args: &[&str]) -> OnTerminal {
        let pty = openpty(window.as_ref(), None).unwrap();
        let slave = || Stdio::from(pty.slave.try_clone().unwrap());
        let mut command = tablegate();
        command
            .args(args)
            .arg("--socket")
            .arg(scene.path("t.sock"))
            .stdin(slave())
            .stdout(slave())
            .stderr(slave());
        if nix::unistd::Uid::current().is_root() {
            command.args(["--by", SUPERVISOR]);
        }
        let child = command.spawn().unwrap();
        let keyboard = File::from(pty.master.try_clone().unwrap());
        let screen = Arc::new(Mutex::new(String::new()));
        let shown = screen.clone();
        let master: OwnedFd = pty.master;
        std::thread::spawn(move || {
            let mut master = File::from(master);
            let mut bytes = [0; 1024];
            // The end of the command is an error of the pty.
            while let Ok(read @ 1..) = master.read(&mut bytes) {
                shown.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        });
        OnTerminal {
            child,
            keyboard,
            screen,
            read: 0,
        }
    }

    /// Waits for words after those that were waited for before.
    pub async fn sees(&mut self, words: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen.lock().unwrap().clone();
            if let Some(at) = screen[self.read..].find(words) {
                self.read += at + words.len();
                return;
            }
            assert!(Instant::now() < until, "{words:?} is not on the screen: {screen}");
            // Look again: at most for PATIENCE, and the screen tells nobody that it has changed.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub fn types(&mut self, line: &str) {
        self.keyboard.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Everything that was shown, as it stands there: what was overwritten is gone.
    pub fn shows(&self) -> String {
        let screen = self.screen.lock().unwrap().replace("\r\n", "\n");
        let line = |line: &str| line.rsplit("\r\u{1b}[K").next().unwrap_or_default().to_owned();
        screen.split('\n').map(line).collect::<Vec<_>>().join("\n")
    }

    pub async fn ends(&mut self) -> i32 {
        let status = tokio::time::timeout(PATIENCE, self.child.wait())
            .await
            .expect("it ends");
        status.unwrap().code().unwrap_or(-1)
    }
}
