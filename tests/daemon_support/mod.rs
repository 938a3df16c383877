//! A table in a temporary folder: three simulated devices, a dealer, and the real binary as its daemon.

#![allow(dead_code, reason = "each test file uses its part of it")]

pub mod on_terminal;

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tablegate::journal::{self, Reader};
use tablegate::sim::{Dealer, Lamps, LampsSetup, Order, Pace, Setup, Terminal, TerminalSetup, Tumbler, TumblerSetup};
use tablegate::table::event::{Body, Event};
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::time::Instant;

/// Nothing in these tests takes this long; what does has failed.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A floor that nobody answers at: the table plays without one.
pub const NOWHERE: &str = "mqtt://127.0.0.1:9";

/// The supervisor of these tests.
pub const SUPERVISOR: &str = "ana";

/// The sections of a tai-sai table with a dice cup.
pub const DICE_CUP: &str = "[tai_sai]\nstyle = \"B\"\nlayout = \"appendix-1\"\nsettle_after_ms = 500\n";

/// The sections of a sic-bo table with a covered tumbler.
pub const COVERED_TUMBLER: &str = "[sic_bo]\ntumbler = \"covered\"\nrest_ms = 500\nsettle_after_ms = 500\n[devices.tumbler]\nport = \"{root}/tumbler\"\n";

/// What a command printed, and how it ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ended {
    /// It succeeded; what it printed.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self.out
    }

    /// It ended with this status and said this on standard error.
    #[track_caller]
    pub fn refused(self, code: i32, words: &str) {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        assert!(self.err.contains(words), "{words:?} is not in {:?}", self.err);
        assert!(!self.err.contains("Err("), "no debug output: {}", self.err);
    }
}

/// A table.
pub struct Scene {
    pub directory: TempDir,
    pub dealer: Arc<Dealer>,
    daemon: Option<Child>,
}

impl Scene {
    /// Devices are plugged in; no daemon runs. `broker`: where the floor is.
    pub fn new(broker: &str) -> Scene {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let spin = Duration::from_millis(20);
        let tumbler = TumblerSetup {
            spin,
            ..TumblerSetup::default()
        };
        let dealer = Arc::new(Dealer {
            order: Order::SpinsFirst,
            tumbler: Tumbler::start(Setup::new(at("tumbler"), "DT-1", 1), tumbler).unwrap(),
            terminal: Terminal::start(Setup::new(at("terminal"), "ET-1", 2), TerminalSetup::default()).unwrap(),
            lamps: Lamps::start(Setup::new(at("lamps"), "LL-1", 3), LampsSetup::default()).unwrap(),
            pace: Pace {
                settle_after: Duration::from_millis(600),
                patience: PATIENCE,
                ..Pace::default()
            },
        });
        let scene = Scene {
            directory,
            dealer,
            daemon: None,
        };
        scene.configure("TS-07", broker);
        scene
    }

    /// Of another game, with its sections: `{root}` stands for the table's folder.
    pub fn of(broker: &str, game: &str, sections: &str) -> Scene {
        let scene = Scene::new(broker);
        let text = std::fs::read_to_string(scene.config()).unwrap();
        let root = scene.directory.path().display().to_string();
        let (before, rest) = text.split_once("[tai_sai]").unwrap();
        let (_, rest) = rest.split_once("[devices.terminal]").unwrap();
        let before = before.replace("\"tai-sai\"", &format!("\"{game}\""));
        let sections = sections.replace("{root}", &root);
        std::fs::write(scene.config(), format!("{before}{sections}[devices.terminal]{rest}")).unwrap();
        scene
    }

    /// A closed table without a floor: its daemon runs, and every link is up.
    pub async fn closed() -> Scene {
        let mut scene = Scene::new(NOWHERE);
        scene.start().await;
        scene.links_up().await;
        scene
    }

    /// The same, opened.
    pub async fn opened() -> Scene {
        let scene = Scene::closed().await;
        scene.open().await;
        scene
    }

    /// Writes the configuration of table `id`.
    pub fn configure(&self, id: &str, broker: &str) {
        let root = self.directory.path().display();
        let text = format!(
            r#"
[table]
site = "harbour"
id = "{id}"
game = "tai-sai"
[tai_sai]
style = "A"
layout = "appendix-1"
rest_ms = 500
settle_after_ms = 500
cover_settles_after_ms = 60000
[devices.tumbler]
port = "{root}/tumbler"
[devices.terminal]
port = "{root}/terminal"
[devices.lamps]
port = "{root}/lamps"
[mqtt]
brokers = ["{broker}"]
[journal]
directory = "{root}/journal"
min_free_mb = 16
[control]
socket = "{root}/t.sock"
supervisor_socket = "{root}/t.supervisor.sock"
[clock]
source = "none"
"#
        );
        std::fs::write(self.config(), text).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn config(&self) -> PathBuf {
        self.path("table.toml")
    }

    pub fn journal(&self) -> PathBuf {
        journal::file_in(&self.path("journal"))
    }

    /// Starts the daemon and waits until it answers.
    pub async fn start(&mut self) {
        self.start_with(&[]).await;
    }

    /// The same, with these variables in its environment.
    pub async fn start_with(&mut self, environment: &[(&str, &str)]) {
        self.spawn(environment);
        self.until("the daemon answers", |view| view["mode"].is_string()).await;
    }

    /// The same, without waiting for anything.
    pub fn spawn(&mut self, environment: &[(&str, &str)]) {
        assert!(self.daemon.is_none(), "one daemon at a time");
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.path("log"))
            .unwrap();
        let daemon = daemon_that_dies_with_us()
            .args(["run", "--log-level", "debug", "--config"])
            .arg(self.config())
            .envs(environment.iter().copied())
            .stderr(log)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        self.daemon = Some(daemon);
    }

    /// What `status --json` says; null when nobody answers.
    pub async fn status(&self) -> serde_json::Value {
        let ended = self.command(&["status", "--json"]).await;
        serde_json::from_str(&ended.out).unwrap_or_default()
    }

    /// Waits until `status` shows something.
    pub async fn until(&self, what: &str, seen: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let status = self.status().await;
            let view = flat(&status);
            if seen(&view) {
                return view;
            }
            assert!(
                Instant::now() < until,
                "{what} was not seen: {status:#}\n{}",
                self.log()
            );
            tokio::task::yield_now().await;
        }
    }

    /// Runs a command against this table's daemon, as the supervisor where it acts.
    pub async fn command(&self, args: &[&str]) -> Ended {
        let socket = self.path("t.sock");
        let mut all: Vec<&str> = args.to_vec();
        all.push("--socket");
        all.push(socket.to_str().unwrap());
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

    /// Waits for the links, then opens the table without questions.
    pub async fn open(&self) {
        self.links_up().await;
        self.act(&["open", "--yes"]).await.ok();
    }

    /// Every device was greeted and has told its status.
    pub async fn links_up(&self) {
        let config = std::fs::read_to_string(self.config()).unwrap();
        let needed = config.matches("[devices.").count();
        self.until("every link", |view| {
            let devices = view["devices"].as_array();
            devices
                .is_some_and(|devices| devices.len() == needed && devices.iter().all(|device| device["online"] == true))
        })
        .await;
    }

    /// The daemon's process.
    pub fn pid(&self) -> u32 {
        self.daemon.as_ref().and_then(Child::id).expect("a daemon runs")
    }

    /// Kills the daemon the hard way.
    pub async fn kill(&mut self) {
        let mut daemon = self.daemon.take().expect("a daemon runs");
        daemon.kill().await.unwrap();
    }

    /// Asks it to stop, and waits until it has.
    pub async fn terminate(&mut self) -> ExitStatus {
        self.signal(nix::sys::signal::Signal::SIGTERM).await
    }

    /// Sends it a signal, and goes on.
    pub fn tell(&self, signal: nix::sys::signal::Signal) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.pid()).unwrap());
        nix::sys::signal::kill(pid, signal).unwrap();
    }

    /// Its open file descriptors.
    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.pid())).unwrap().count()
    }

    /// Sends it a signal that asks it to stop, and waits until it has.
    pub async fn signal(&mut self, signal: nix::sys::signal::Signal) -> ExitStatus {
        let mut daemon = self.daemon.take().expect("a daemon runs");
        let pid = i32::try_from(daemon.id().unwrap()).unwrap();
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), signal).unwrap();
        tokio::time::timeout(PATIENCE, daemon.wait())
            .await
            .expect("it stops")
            .unwrap()
    }

    /// Waits until it ends by itself.
    pub async fn ended(&mut self) -> ExitStatus {
        let mut daemon = self.daemon.take().expect("a daemon runs");
        tokio::time::timeout(PATIENCE, daemon.wait())
            .await
            .expect("it ends")
            .unwrap()
    }

    /// Every event of the journal, oldest first.
    pub fn events(&self) -> Vec<Event> {
        events(&self.journal())
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap_or_default()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.log();
            let lines: Vec<_> = log.lines().collect();
            let from = lines.len().saturating_sub(40);
            eprintln!("the end of the daemon's log:\n{}", lines[from..].join("\n"));
            if let Ok(kept) = std::env::var("TABLEGATE_KEEP") {
                let copied = std::process::Command::new("cp")
                    .arg("-r")
                    .args([self.directory.path().as_os_str(), kept.as_ref()])
                    .status();
                eprintln!("the table's folder is in {kept}: {copied:?}");
            }
        }
    }
}

/// State fields beside those of the view, for short conditions.
fn flat(status: &serde_json::Value) -> serde_json::Value {
    let mut flat = status.clone();
    if let (Some(all), Some(state)) = (flat.as_object_mut(), status["state"].as_object()) {
        all.extend(state.clone());
    }
    flat
}

/// As [`tablegate`]. A daemon that outlived a killed test would go on following its links, and take whichever pty gets the
/// number next; where util-linux can prevent that, it does.
fn daemon_that_dies_with_us() -> Command {
    let setpriv = Path::new("/usr/bin/setpriv");
    if !setpriv.exists() {
        return tablegate();
    }
    let mut command = clean(Command::new(setpriv));
    command.args(["--pdeathsig", "KILL", "--", env!("CARGO_BIN_EXE_tablegate")]);
    command
}

/// The binary, with nothing of this environment that could change what it does.
pub fn tablegate() -> Command {
    clean(Command::new(env!("CARGO_BIN_EXE_tablegate")))
}

fn clean(mut command: Command) -> Command {
    command
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .env_remove("NOTIFY_SOCKET")
        .env_remove("WATCHDOG_USEC")
        .env_remove("JOURNAL_STREAM")
        .env("NO_COLOR", "1");
    command
}

/// Runs the binary to its end.
pub async fn run(args: &[&str]) -> Ended {
    let output = tokio::time::timeout(Duration::from_secs(240), tablegate().args(args).output())
        .await
        .expect("a command ends")
        .unwrap();
    Ended {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// What happened, without who did it when.
pub fn bodies(events: &[Event]) -> impl Iterator<Item = &Body> {
    events.iter().filter_map(|event| event.body.as_ref())
}

/// Every event of a journal.
pub fn events(journal: &Path) -> Vec<Event> {
    let mut reader = Reader::open(journal).unwrap();
    let mut events = Vec::new();
    loop {
        let page = reader.page(events.len() as u64 + 1, u64::MAX, 256).unwrap();
        if page.is_empty() {
            return events;
        }
        events.extend(page.iter().map(|record| journal::decode(record).unwrap()));
    }
}

/// What a child prints, to its end.
pub async fn read_all(mut from: impl tokio::io::AsyncRead + Unpin) -> String {
    let mut text = String::new();
    from.read_to_string(&mut text).await.unwrap();
    text
}
