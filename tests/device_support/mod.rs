//! A port with somebody at its far side: a pty, a symlink as a port's stable name, and a device that does as it is told.

#![allow(
    dead_code,
    deprecated,
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::print_stdout,
    reason = "a test may panic, each test file uses its own part of this, and a File is a safe thing to register"
)]

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{PtyMaster, grantpt, posix_openpt, ptsname_r, unlockpt};
use tablegate::device::{DeviceHandle, LinkReport, PortConfig, TumblerBuild, start};
use tablegate::table::input::{Arrival, DeviceKind, Input};
use tablegate::time::{Clock, Timestamp, Uptime};
use tablegate::wire::message::{self as wire, from_device, to_device};
use tablegate::wire::session::{Device, DeviceConfig, DeviceEvent};
use tempfile::TempDir;
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc;

/// Nothing that is waited for takes longer on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(30);

pub const BAUD: u32 = 115_200;

/// Waits, but not for ever.
pub async fn soon<T>(what: &str, waiting: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, waiting).await {
        Ok(value) => value,
        Err(_) => panic!("waited in vain for {what}"),
    }
}

/// Looks again and again, for what nobody announces.
pub async fn until(what: &str, mut so: impl FnMut() -> bool) {
    soon(what, async {
        while !so() {
            // Look again: at most for PATIENCE.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// Time since it was made, as the runtime counts it.
pub struct TestClock(tokio::time::Instant);

impl TestClock {
    pub fn new() -> Arc<TestClock> {
        Arc::new(TestClock(tokio::time::Instant::now()))
    }
}

impl Clock for TestClock {
    fn uptime(&self) -> Uptime {
        // Not from zero: devices report what happened before.
        Uptime::from_millis(3_600_000) + self.0.elapsed()
    }

    fn wall(&self) -> Timestamp {
        Timestamp::default()
    }
}

/// The far side of a pty. The near side is kept open too, as simulators do, so that the far side never sees an end of file.
pub struct Far {
    fd: AsyncFd<File>,
    pub near: File,
    pub name: PathBuf,
}

/// Ptys that stand idle, so that the ones under test get numbers of their own: a daemon that another test left behind may have
/// names that lead to the low ones, and would greet whatever gets them.
static LOW_NUMBERS: LazyLock<Vec<PtyMaster>> =
    LazyLock::new(|| (0..48).map_while(|_| posix_openpt(PTY_FLAGS).ok()).collect());

const PTY_FLAGS: OFlag = OFlag::O_RDWR.union(OFlag::O_NOCTTY).union(OFlag::O_CLOEXEC);

impl Far {
    pub fn new() -> Far {
        LazyLock::force(&LOW_NUMBERS);
        let far = posix_openpt(PTY_FLAGS).unwrap();
        grantpt(&far).unwrap();
        unlockpt(&far).unwrap();
        let name = PathBuf::from(ptsname_r(&far).unwrap());
        let far = File::from(far.as_fd().try_clone_to_owned().unwrap());
        fcntl(&far, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
        let near = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags((OFlag::O_NOCTTY | OFlag::O_NONBLOCK).bits())
            .open(&name)
            .unwrap();
        Far {
            fd: AsyncFd::new(far).unwrap(),
            near,
            name,
        }
    }

    /// The port, opened by somebody beside whoever else has it.
    pub fn opened_beside(&self) -> File {
        std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(OFlag::O_NOCTTY.bits())
            .open(&self.name)
            .unwrap()
    }

    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut guard = self.fd.readable().await?;
            if let Ok(read) = guard.try_io(|file| file.get_ref().read(buffer)) {
                return read;
            }
        }
    }

    pub async fn write(&self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let mut guard = self.fd.writable().await.unwrap();
            if let Ok(written) = guard.try_io(|file| file.get_ref().write(bytes)) {
                bytes = &bytes[written.unwrap()..];
            }
        }
    }

    /// Writes as much as there is room for.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut far = self.fd.get_ref();
        far.write(bytes)
    }

    /// The gateway has read everything that was written.
    pub async fn is_read(&self) {
        loop {
            let mut waiting = [PollFd::new(self.near.as_fd(), PollFlags::POLLIN)];
            poll(&mut waiting, PollTimeout::ZERO).unwrap();
            if !waiting[0].revents().unwrap().contains(PollFlags::POLLIN) {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Keeps full what the kernel holds for a device that doesn't read, as long as it is polled. Filling once is not enough: the
    /// kernel moves bytes on a little later, and then there is room again.
    pub async fn keep_full(&self) -> ! {
        let mut near = &self.near;
        loop {
            while near.write(&[0x55; 256]).is_ok() {}
            while near.write(&[0x55]).is_ok() {}
            // Real time: the kernel moves bytes on when it likes.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// A stable name that leads to a port.
pub struct Name {
    folder: TempDir,
    pub path: PathBuf,
}

impl Name {
    pub fn new() -> Name {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("usb-Maker_0042-if00");
        Name { folder, path }
    }

    pub fn lead_to(&self, target: &Path) {
        let fresh = self.folder.path().join("fresh");
        symlink(target, &fresh).unwrap();
        std::fs::rename(&fresh, &self.path).unwrap();
    }

    pub fn vanish(&self) {
        std::fs::remove_file(&self.path).unwrap();
    }
}

/// What a device is told to do.
pub enum Do {
    /// Report this, as of so long ago.
    Report(from_device::Body, Duration),
    /// Write these bytes as they are.
    Raw(Vec<u8>),
    /// Write these pieces, each when the one before it has been read.
    Pieces(Vec<Vec<u8>>),
    /// What it answers to a status request from now on.
    Status(from_device::Body),
    /// Read everything and answer nothing.
    Mute,
    /// Start anew with this boot.
    Restart(u32),
}

/// A device on the far side of a pty, driven by a task of its own.
pub struct Peer {
    orders: mpsc::UnboundedSender<Do>,
    events: mpsc::UnboundedReceiver<DeviceEvent>,
    task: tokio::task::JoinHandle<()>,
}

pub fn device(kind: wire::DeviceKind) -> DeviceConfig {
    DeviceConfig {
        kind,
        serial_number: "0042".into(),
        firmware: "1.3".into(),
        boot_id: 7,
        lamp_count: 106,
        firmware_digest: vec![1, 2, 3],
        baud: BAUD,
        uptime_ms: u32::MAX - 4000,
    }
}

pub fn status(kind: wire::DeviceKind) -> from_device::Body {
    match kind {
        wire::DeviceKind::Tumbler => from_device::Body::Tumbler(tumbler(wire::Cover::On, &[])),
        wire::DeviceKind::Terminal => from_device::Body::Terminal(wire::TerminalStatus {
            shown: vec![],
            entry: 0,
            contacts: vec![bell(0, 0)],
        }),
        wire::DeviceKind::LayoutLamps | wire::DeviceKind::ResultLights => {
            from_device::Body::Lamps(wire::LampStatus::default())
        }
        wire::DeviceKind::Unspecified => unreachable!("no such device"),
    }
}

pub fn tumbler(cover: wire::Cover, faces: &[u32]) -> wire::TumblerStatus {
    let mut status = wire::TumblerStatus {
        activations: 11,
        spins: 12,
        ..wire::TumblerStatus::default()
    };
    status.set_motion(wire::Motion::AtRest);
    status.set_cover(cover);
    if !faces.is_empty() {
        let mut dice = wire::DiceReading {
            faces: faces.to_vec(),
            ..wire::DiceReading::default()
        };
        dice.set_flatness(wire::Flatness::Flat);
        status.dice = Some(dice);
    }
    status
}

pub fn bell(closings: u32, last_closed_ms: u32) -> wire::ContactState {
    let mut state = wire::ContactState {
        closings,
        last_closed_ms,
        ..wire::ContactState::default()
    };
    state.set_contact(wire::Contact::Bell);
    state.set_level(wire::Level::Open);
    state
}

pub fn key(number: i32, entry: u32) -> from_device::Body {
    from_device::Body::Key(wire::KeyPressed { key: number, entry })
}

impl Peer {
    /// Starts a device behind `far`.
    pub fn start(config: DeviceConfig, far: Far, clock: Arc<TestClock>) -> Peer {
        let (orders, given) = mpsc::unbounded_channel();
        let (happened, events) = mpsc::unbounded_channel();
        let task = tokio::spawn(behave(config, far, clock, given, happened));
        Peer { orders, events, task }
    }

    pub fn order(&self, order: Do) {
        assert!(self.orders.send(order).is_ok(), "the device has ended");
    }

    pub fn report(&self, body: from_device::Body) {
        self.order(Do::Report(body, Duration::ZERO));
    }

    pub async fn event(&mut self) -> DeviceEvent {
        soon("an event at the device", self.events.recv()).await.unwrap()
    }

    /// The next message that isn't a status request.
    pub async fn accepted(&mut self) -> to_device::Body {
        loop {
            if let DeviceEvent::Accepted(body) = self.event().await
                && !matches!(body, to_device::Body::Status(_))
            {
                return body;
            }
        }
    }

    /// Waits until its newest report is acknowledged.
    pub async fn acknowledged(&mut self) -> from_device::Body {
        loop {
            if let DeviceEvent::Acknowledged(body) = self.event().await {
                return body;
            }
        }
    }

    /// Everything that happened at the device so far.
    pub fn events_so_far(&mut self) -> Vec<DeviceEvent> {
        std::iter::from_fn(|| self.events.try_recv().ok()).collect()
    }

    /// Pulls the plug.
    pub async fn unplug(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

async fn behave(
    mut config: DeviceConfig,
    far: Far,
    clock: Arc<TestClock>,
    mut orders: mpsc::UnboundedReceiver<Do>,
    events: mpsc::UnboundedSender<DeviceEvent>,
) {
    let mut status = status(config.kind);
    let mut device = Device::new(config.clone(), clock.uptime());
    let mut mute = false;
    let mut buffer = [0; 512];
    loop {
        while let Some(event) = device.poll_event() {
            if event == DeviceEvent::Accepted(to_device::Body::Status(wire::StatusRequest {})) {
                device.answer_status(clock.uptime(), status.clone(), vec![]);
            }
            let _ = events.send(event);
        }
        let mut out = Vec::new();
        device.poll_transmit(&mut out);
        if !mute {
            far.write(&out).await;
        }
        let wait = device
            .deadline()
            .map_or(Duration::from_secs(3600), |at| at.since(clock.uptime()));
        tokio::select! {
            read = far.read(&mut buffer) => {
                let read = read.unwrap();
                if !mute {
                    device.handle_bytes(clock.uptime(), &buffer[..read]);
                }
            }
            order = orders.recv() => match order {
                None => return,
                Some(Do::Report(body, ago)) => {
                    let now = clock.uptime();
                    device.report(now, now - ago, body);
                }
                Some(Do::Raw(bytes)) => far.write(&bytes).await,
                Some(Do::Pieces(pieces)) => {
                    for piece in pieces {
                        far.write(&piece).await;
                        far.is_read().await;
                    }
                }
                Some(Do::Status(body)) => status = body,
                Some(Do::Mute) => mute = true,
                Some(Do::Restart(boot_id)) => {
                    config.boot_id = boot_id;
                    config.uptime_ms = 0;
                    device = Device::new(config.clone(), clock.uptime());
                }
            },
            // Real time: the device's own deadline.
            () = tokio::time::sleep(wait) => {}
        }
        device.handle_deadline(clock.uptime());
    }
}

/// A port's task under test, with the table's end of it.
pub struct Bench {
    pub clock: Arc<TestClock>,
    pub name: Name,
    pub handle: DeviceHandle,
    pub inputs: mpsc::Receiver<Arrival>,
}

pub fn kind(kind: DeviceKind) -> wire::DeviceKind {
    match kind {
        DeviceKind::Tumbler => wire::DeviceKind::Tumbler,
        DeviceKind::Terminal => wire::DeviceKind::Terminal,
        DeviceKind::LayoutLamps => wire::DeviceKind::LayoutLamps,
        DeviceKind::ResultLights => wire::DeviceKind::ResultLights,
    }
}

pub fn config(kind: DeviceKind, path: &Path) -> PortConfig {
    PortConfig {
        kind,
        path: path.to_owned(),
        baud: BAUD,
        table: "TS-07".into(),
        lamps_needed: if kind == DeviceKind::LayoutLamps { 50 } else { 0 },
        tumbler: TumblerBuild::Covered,
    }
}

impl Bench {
    /// A task whose port is missing.
    pub fn missing(kind: DeviceKind) -> Bench {
        Bench::with_room(kind, 64, None)
    }

    /// A task whose port is there, with `room` in the table's queue.
    pub fn with_room(kind: DeviceKind, room: usize, far: Option<&Far>) -> Bench {
        let name = Name::new();
        if let Some(far) = far {
            name.lead_to(&far.name);
        }
        let clock = TestClock::new();
        let (sender, inputs) = mpsc::channel(room);
        let handle = start(config(kind, &name.path), sender, clock.clone());
        Bench {
            clock,
            name,
            handle,
            inputs,
        }
    }

    /// A task and a device that have met.
    pub async fn up(which: DeviceKind) -> (Bench, Peer) {
        let far = Far::new();
        let mut bench = Bench::with_room(which, 64, Some(&far));
        let peer = Peer::start(device(kind(which)), far, bench.clock.clone());
        let input = bench.input().await;
        assert!(matches!(input, Input::DeviceUp { .. }), "{input:?}");
        (bench, peer)
    }

    pub async fn input(&mut self) -> Input {
        soon("an input", self.inputs.recv()).await.unwrap().input
    }

    /// The next input that says something of the device's coming and going.
    pub async fn comes_or_goes(&mut self) -> Input {
        loop {
            let input = self.input().await;
            if matches!(input, Input::DeviceUp { .. } | Input::DeviceDown { .. }) {
                return input;
            }
        }
    }

    /// The next coming.
    pub async fn comes(&mut self) -> Input {
        loop {
            let input = self.comes_or_goes().await;
            if matches!(input, Input::DeviceUp { .. }) {
                return input;
            }
        }
    }

    /// Waits until the report is so.
    pub async fn report(&mut self, what: &str, so: impl FnMut(&LinkReport) -> bool) -> LinkReport {
        soon(what, self.handle.report.wait_for(so)).await.unwrap().clone()
    }
}
