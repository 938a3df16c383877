//! A two-up table in a temporary folder: simulated devices, a dealer, and the real binary as its daemon.

#![allow(dead_code, reason = "each test file uses its part of it")]

use crate::daemon_support::{Ended, PATIENCE, SUPERVISOR, events, run, tablegate};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tablegate::journal;
use tablegate::sim::{Lamps, LampsSetup, Pace, Setup, Terminal, TerminalSetup, TwoUp, TwoUpDealer};
use tablegate::table::event::Event;
use tablegate::wire::message::DeviceKind;
use tempfile::TempDir;
use tokio::process::Child;
use tokio::time::Instant;

const NOWHERE: &str = "mqtt://127.0.0.1:9";

/// A two-up table.
pub struct Scene {
    folder: TempDir,
    pub dealer: TwoUpDealer,
    daemon: Option<Child>,
}

impl Scene {
    /// Devices are plugged in, the daemon runs, and the table is open.
    pub async fn open(game: TwoUp) -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let terminal = Terminal::start(Setup::new(at("terminal"), "ET-1", 1), TerminalSetup::two_up()).unwrap();
        let lights = LampsSetup {
            kind: DeviceKind::ResultLights,
            count: 11,
            ..LampsSetup::default()
        };
        let lights = Lamps::start(Setup::new(at("lights"), "RL-1", 2), lights).unwrap();
        let pace = Pace {
            patience: PATIENCE,
            ..Pace::default()
        };
        let mut scene = Scene {
            dealer: TwoUpDealer::new(game, terminal, lights, pace),
            folder,
            daemon: None,
        };
        scene.configure();
        scene.start().await;
        scene.act(&["open", "--yes"]).await.ok();
        scene
    }

    /// A file of this table.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn configure(&self) {
        let game = match self.dealer.game() {
            TwoUp::Dice => "two-up-dice",
            TwoUp::TriplePenny => "triple-penny-two-up",
        };
        let root = self.folder.path().display();
        let text = format!(
            "[table]\nsite = \"harbour\"\nid = \"TU-01\"\ngame = \"{game}\"\n\
             [devices.terminal]\nport = \"{root}/terminal\"\n[devices.lights]\nport = \"{root}/lights\"\n\
             [mqtt]\nbrokers = [\"{NOWHERE}\"]\n[journal]\ndirectory = \"{root}/journal\"\nmin_free_mb = 16\n\
             [control]\nsocket = \"{root}/t.sock\"\nsupervisor_socket = \"{root}/t.supervisor.sock\"\n\
             [clock]\nsource = \"none\"\n"
        );
        std::fs::write(self.path("table.toml"), text).unwrap();
    }

    /// Starts the daemon and waits until both links are up.
    pub async fn start(&mut self) {
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.path("log"))
            .unwrap();
        let daemon = tablegate()
            .args(["run", "--config"])
            .arg(self.path("table.toml"))
            .stderr(log)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        self.daemon = Some(daemon);
        let until = Instant::now() + PATIENCE;
        loop {
            let status: serde_json::Value =
                serde_json::from_str(&self.command(&["status", "--json"]).await.out).unwrap_or_default();
            let devices = status["state"]["devices"].as_array().cloned().unwrap_or_default();
            let online = devices.iter().filter(|device| device["online"] == true).count();
            if online == 2 {
                return;
            }
            let log = std::fs::read_to_string(self.path("log")).unwrap_or_default();
            assert!(Instant::now() < until, "two links are not up: {status:#}\n{log}");
            // Look again: links come up when their devices were greeted.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Kills the daemon the hard way.
    pub async fn kill(&mut self) {
        self.daemon.take().unwrap().kill().await.unwrap();
    }

    /// Runs a command against this table's daemon.
    pub async fn command(&self, args: &[&str]) -> Ended {
        let socket = self.path("t.sock");
        let mut all = args.to_vec();
        all.extend(["--socket", socket.to_str().unwrap()]);
        run(&all).await
    }

    /// A supervisor's command.
    pub async fn act(&self, args: &[&str]) -> Ended {
        let mut all = args.to_vec();
        if nix::unistd::Uid::current().is_root() {
            all.extend(["--by", SUPERVISOR]);
        }
        self.command(&all).await
    }

    /// Every event of the journal, oldest first.
    pub fn events(&self) -> Vec<Event> {
        events(&journal::file_in(&self.path("journal")))
    }
}
