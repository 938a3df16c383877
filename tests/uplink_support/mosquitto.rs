//! A real mosquitto on a free port. `TABLEGATE_MOSQUITTO` names the program; `tests/all` installs it and runs what needs it.

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A running mosquitto; killed when dropped.
pub struct Mosquitto {
    pub port: u16,
    directory: tempfile::TempDir,
    child: Option<Child>,
}

impl Mosquitto {
    /// Starts one without persistence: what it has not passed on when it is killed is gone.
    pub fn start(settings: &str) -> Self {
        Self::start_with(&format!("allow_anonymous true\n{settings}"))
    }

    /// Starts one with all settings but the listener's port.
    pub fn start_with(settings: &str) -> Self {
        Self::start_as_it_is(&format!("persistence false\nlistener {{port}} 127.0.0.1\n{settings}\n"))
    }

    /// Starts one with exactly these settings; `{port}` stands for a free one.
    pub fn start_as_it_is(settings: &str) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let directory = tempfile::tempdir().unwrap();
        let text = format!("user root\n{}", settings.replace("{port}", &port.to_string()));
        std::fs::write(directory.path().join("mosquitto.conf"), text).unwrap();
        let mut broker = Mosquitto {
            port,
            directory,
            child: None,
        };
        broker.restart();
        broker
    }

    pub fn url(&self) -> String {
        format!("mqtt://127.0.0.1:{}", self.port)
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// SIGSTOP: its kernel goes on taking bytes, and nobody reads them.
    pub fn hang(&self) {
        self.signal(nix::sys::signal::Signal::SIGSTOP);
    }

    /// SIGHUP: it reads its certificates and lists again, a moment later.
    pub fn reload(&self) {
        self.signal(nix::sys::signal::Signal::SIGHUP);
    }

    /// SIGTERM: what it keeps is written.
    pub fn terminate(&mut self) {
        self.signal(nix::sys::signal::Signal::SIGTERM);
        if let Some(mut child) = self.child.take() {
            child.wait().unwrap();
        }
    }

    fn signal(&self, signal: nix::sys::signal::Signal) {
        let child = self.child.as_ref().expect("it runs");
        let pid = i32::try_from(child.id()).unwrap();
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), signal).unwrap();
    }

    /// Starts it (again), on the same port, and waits until it accepts connections.
    pub fn restart(&mut self) {
        let program =
            std::env::var_os("TABLEGATE_MOSQUITTO").map_or_else(|| "/usr/sbin/mosquitto".into(), PathBuf::from);
        let child = Command::new(&program)
            .arg("-c")
            .arg(self.directory.path().join("mosquitto.conf"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        match child {
            Ok(child) => self.child = Some(child),
            Err(error) => panic!("needs mosquitto ({}: {error}): run tests/all", program.display()),
        }
        let until = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(Instant::now() < until, "mosquitto does not accept connections");
            std::thread::yield_now();
        }
    }
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        self.kill();
    }
}
