//! The daemon under measurement: the real binary with a real journal, and what the system says of its process.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A running daemon; it is told to stop when dropped.
pub struct Daemon {
    child: Child,
    folder: PathBuf,
}

/// A broker: a real mosquitto on a free port.
pub struct Mosquitto {
    child: Child,
    pub port: u16,
    log: PathBuf,
}

/// Writes a configuration whose devices and journal are in `folder`.
pub fn configure(folder: &Path, broker_port: u16) -> PathBuf {
    let at = |name: &str| folder.join(name).display().to_string();
    let text = format!(
        r#"[table]
site = "bench"
id = "TS-01"
game = "tai-sai"

[tai_sai]
style = "A"
layout = "appendix-1"
rest_ms = 500
settle_after_ms = 500

[devices.tumbler]
port = "{}"
[devices.terminal]
port = "{}"
[devices.lamps]
port = "{}"

[mqtt]
brokers = ["mqtt://127.0.0.1:{broker_port}"]

[journal]
directory = "{}"

[control]
socket = "{}"
supervisor_socket = "{}"
"#,
        at("tumbler"),
        at("terminal"),
        at("lamps"),
        at("journal"),
        at("table.sock"),
        at("supervisor.sock"),
    );
    let file = folder.join("bench.toml");
    fs::write(&file, text).unwrap();
    file
}

impl Daemon {
    pub fn start(folder: &Path) -> Daemon {
        let log = fs::File::create(folder.join("daemon.log")).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_tablegate"))
            .args(["run", "--config"])
            .arg(folder.join("bench.toml"))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        Daemon {
            child,
            folder: folder.to_owned(),
        }
    }

    /// Runs a command of the product against this daemon; true when it succeeded.
    pub fn command(&self, words: &[&str]) -> bool {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tablegate"));
        command
            .args(words)
            .arg("--socket")
            .arg(self.folder.join("supervisor.sock"));
        if nix::unistd::geteuid().is_root() {
            command.args(["--by", "bench"]);
        }
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap()
            .success()
    }

    /// Processor time that the process has used, all threads.
    pub fn processor_time(&self) -> Duration {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let nanos = tasks.map(|task| {
            let text = fs::read_to_string(task.unwrap().path().join("schedstat")).unwrap();
            text.split(' ').next().unwrap().parse::<u64>().unwrap()
        });
        Duration::from_nanos(nanos.sum())
    }

    /// Resident memory in KiB.
    pub fn resident_kib(&self) -> u64 {
        self.of_status("VmRSS:")
    }

    /// The most that was ever resident, in KiB.
    pub fn most_resident_kib(&self) -> u64 {
        self.of_status("VmHWM:")
    }

    fn of_status(&self, name: &str) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Open file descriptors.
    pub fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// Asks it to stop and waits until it has.
    pub fn stop(mut self) {
        self.terminate();
    }

    fn terminate(&mut self) {
        let pid = nix::unistd::Pid::from_raw(self.child.id() as i32);
        let _gone = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM);
        let _status = self.child.wait();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.terminate();
        }
    }
}

impl Mosquitto {
    /// `None` where mosquitto isn't installed.
    pub fn start(folder: &Path) -> Option<Mosquitto> {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        Mosquitto::start_at(folder, port)
    }

    /// The same, on this port.
    pub fn start_at(folder: &Path, port: u16) -> Option<Mosquitto> {
        let program = ["/usr/sbin/mosquitto", "/usr/bin/mosquitto", "/usr/local/sbin/mosquitto"]
            .into_iter()
            .find(|p| Path::new(p).exists())?;
        let file = folder.join("mosquitto.conf");
        fs::write(&file, format!("listener {port} 127.0.0.1\nallow_anonymous true\nlog_type notice\nmax_inflight_messages 100\nmax_queued_messages 100000\nset_tcp_nodelay true\n")).unwrap();
        let log = folder.join("mosquitto.log");
        let child = Command::new(program)
            .arg("-c")
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let began = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(began.elapsed() < Duration::from_secs(5), "mosquitto didn't start");
            std::thread::yield_now();
        }
        Some(Mosquitto { child, port, log })
    }

    /// What it has said since it was started.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}

/// The last lines of the daemon's log, for a failure's message.
pub fn log_tail(folder: &Path) -> String {
    let Ok(file) = fs::File::open(folder.join("daemon.log")) else {
        return String::new();
    };
    let lines: Vec<String> = BufReader::new(file).lines().map_while(Result::ok).collect();
    lines[lines.len().saturating_sub(10)..].join("\n")
}
