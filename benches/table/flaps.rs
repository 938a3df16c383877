//! What outages cost: a broker that comes and goes, devices that are unplugged and plugged in again. Memory, descriptors, lines of
//! log and events, before and after.

use crate::daemon::{Daemon, Mosquitto, configure};
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::time::{Duration, Instant};
use tablegate::journal::{Reader, file_in};
use tablegate::sim::{Lamps, LampsSetup, Setup, Terminal, TerminalSetup, Tumbler, TumblerSetup};

/// Before anything is compared: what a daemon takes once.
const WARM_UP: usize = 20;

/// How long the broker is there, and away, in each flap.
const UP: Duration = Duration::from_millis(50);

/// How long a broker lives that is killed afterwards, once the daemon is connected to it: more than four first pauses of a quarter of a
/// second, so that it was a good connection, after which the pauses begin anew.
const CONNECTED: Duration = Duration::from_millis(1_400);

/// No device takes longer to come back.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the daemon has taken so far.
#[derive(Clone, Copy, Debug)]
struct Taken {
    kib: u64,
    descriptors: usize,
    lines: usize,
    log_bytes: u64,
    events: u64,
}

impl Taken {
    fn of(daemon: &Daemon, folder: &Path) -> Taken {
        let log = fs::read_to_string(folder.join("daemon.log")).unwrap();
        Taken {
            kib: daemon.resident_kib(),
            descriptors: daemon.descriptors(),
            lines: log.lines().count(),
            log_bytes: log.len() as u64,
            events: Reader::open(&file_in(&folder.join("journal")))
                .unwrap()
                .head()
                .unwrap()
                .seqno,
        }
    }

    fn compare(self, what: &str, before: Taken, took: Duration) {
        let Taken {
            kib,
            descriptors,
            lines,
            log_bytes,
            events,
        } = self;
        println!("{what}: {:.0} s", took.as_secs_f64());
        println!(
            "  memory {} -> {kib} KiB, descriptors {} -> {descriptors}, log {} lines ({} bytes) more, {} events more",
            before.kib,
            before.descriptors,
            lines - before.lines,
            log_bytes - before.log_bytes,
            events - before.events
        );
    }
}

struct Devices {
    tumbler: Tumbler,
    terminal: Terminal,
    lamps: Lamps,
}

impl Devices {
    fn start(folder: &Path) -> Devices {
        let at = |name: &str| folder.join(name);
        Devices {
            tumbler: Tumbler::start(Setup::new(at("tumbler"), "DT-1", 1), TumblerSetup::default()).unwrap(),
            terminal: Terminal::start(Setup::new(at("terminal"), "ET-1", 2), TerminalSetup::default()).unwrap(),
            lamps: Lamps::start(Setup::new(at("lamps"), "LL-1", 3), LampsSetup::default()).unwrap(),
        }
    }

    fn sessions(&self) -> [u64; 3] {
        let lines = [
            self.tumbler.view().line,
            self.terminal.view().line,
            self.lamps.view().line,
        ];
        lines.map(|line| line.sessions)
    }

    /// Each has been greeted more often than `before`.
    async fn up(&self, before: [u64; 3]) {
        let [tumbler, terminal, lamps] = before;
        self.tumbler
            .wait("tumbler", |view| view.line.sessions > tumbler, PATIENCE)
            .await
            .unwrap();
        self.terminal
            .wait("terminal", |view| view.line.sessions > terminal, PATIENCE)
            .await
            .unwrap();
        self.lamps
            .wait("lamps", |view| view.line.sessions > lamps, PATIENCE)
            .await
            .unwrap();
    }

    /// Three unplugs.
    async fn flap(&self) {
        let before = self.sessions();
        tokio::join!(self.tumbler.unplug(), self.terminal.unplug(), self.lamps.unplug());
        tokio::join!(self.tumbler.replug(), self.terminal.replug(), self.lamps.replug());
        self.up(before).await;
    }
}

pub fn measure(folder: &Path, flaps: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let devices = Devices::start(folder);
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .unwrap()
            .local_addr()
            .unwrap();
        configure(folder, free.port());
        let daemon = Daemon::start(folder);
        devices.up([0; 3]).await;
        for _ in 0..WARM_UP {
            devices.flap().await;
        }
        flap(free).await;

        let before = Taken::of(&daemon, folder);
        let began = Instant::now();
        for _ in 0..flaps.div_ceil(3) {
            devices.flap().await;
        }
        let unplugs = flaps.div_ceil(3) * 3;
        Taken::of(&daemon, folder).compare(&format!("{unplugs} unplugs of devices"), before, began.elapsed());

        let before = Taken::of(&daemon, folder);
        let began = Instant::now();
        let mut taken = 0;
        for _ in 0..flaps {
            taken += flap(free).await;
        }
        Taken::of(&daemon, folder).compare(&format!("{flaps} flaps of the broker"), before, began.elapsed());
        println!("  {taken} connections were tried: the pauses between them grow to half a minute");

        // Started anew, because the pauses have grown; with a warm-up of its own: threads and buffers of a connection are taken once.
        daemon.stop();
        let daemon = Daemon::start(folder);
        for _ in 0..WARM_UP {
            kill(folder, free.port()).await;
        }
        let before = Taken::of(&daemon, folder);
        let began = Instant::now();
        let mut killed = 0;
        while killed < flaps && kill(folder, free.port()).await {
            killed += 1;
        }
        let what = format!("{killed} kills of a mosquitto that the daemon is connected to");
        Taken::of(&daemon, folder).compare(&what, before, began.elapsed());
        daemon.stop();
    });
}

/// The broker comes, hangs up on whoever connects, and goes. How many connected.
async fn flap(address: SocketAddr) -> usize {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind(address).unwrap();
    let broker = socket.listen(16).unwrap();
    let mut taken = 0;
    let until = tokio::time::Instant::now() + UP;
    while let Ok(Ok((stream, _))) = tokio::time::timeout_at(until, broker.accept()).await {
        taken += 1;
        drop(stream);
    }
    drop(broker);
    tokio::time::sleep(UP).await;
    taken
}

/// A mosquitto comes, the daemon connects to it, and it is killed. False where there is no mosquitto.
async fn kill(folder: &Path, port: u16) -> bool {
    let Some(broker) = Mosquitto::start_at(folder, port) else {
        return false;
    };
    let until = Instant::now() + PATIENCE;
    while !broker.log().contains("New client connected") {
        assert!(Instant::now() < until, "the daemon didn't come back to its broker");
        tokio::time::sleep(UP / 5).await;
    }
    tokio::time::sleep(CONNECTED).await;
    true
}
