//! The devices' ends of three ptys, driven by the measuring thread itself: no other thread stands between a read and its time.

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{OpenptyResult, openpty};
use nix::sys::termios::{self, SetArg};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tablegate::time::Uptime;
use tablegate::wire::message::*;
use tablegate::wire::session::{Device, DeviceConfig, DeviceEvent};

/// One device's end of a pty, and the protocol's device side on it.
pub struct End {
    line: File,
    _far: OwnedFd,
    device: Device,
    /// Reports that the gateway hasn't acknowledged yet.
    unacknowledged: u32,
}

/// A tumbler, a terminal and lamps at the ends of three ptys.
pub struct Ends {
    began: Instant,
    pub tumbler: End,
    pub terminal: End,
    pub lamps: End,
    pub spins: u32,
    /// The count of the newest status that the gateway has acknowledged.
    spins_acknowledged: u32,
    pub cover: Cover,
    pub bells: u32,
    pub entry: u32,
    pub lit: Vec<u8>,
    /// Every picture that the lamps were told, with the time when the read that completed it returned.
    pub pictures: Vec<(Vec<u8>, Instant)>,
    uptime_base: u32,
}

/// A raw pty: the near side to use, the far side's path to hand out.
pub fn raw_pty() -> (File, OwnedFd, PathBuf) {
    let OpenptyResult { master, slave } = openpty(None, None).unwrap();
    let mut attributes = termios::tcgetattr(&slave).unwrap();
    termios::cfmakeraw(&mut attributes);
    termios::tcsetattr(&slave, SetArg::TCSANOW, &attributes).unwrap();
    let path = nix::unistd::ttyname(&slave).unwrap();
    (File::from(master), slave, path)
}

impl End {
    fn new(kind: DeviceKind, lamp_count: u32, link: &Path, uptime_ms: u32) -> End {
        let (line, far, path) = raw_pty();
        let flags = OFlag::from_bits_retain(fcntl(&line, FcntlArg::F_GETFL).unwrap());
        fcntl(&line, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK)).unwrap();
        let _old = std::fs::remove_file(link);
        symlink(path, link).unwrap();
        let config = DeviceConfig {
            kind,
            serial_number: format!("BENCH-{}", kind as i32),
            firmware: "bench".to_owned(),
            boot_id: 7,
            lamp_count,
            firmware_digest: Vec::new(),
            baud: 115_200,
            uptime_ms,
        };
        End {
            line,
            _far: far,
            device: Device::new(config, Uptime::ZERO),
            unacknowledged: 0,
        }
    }

    /// Writes what is due and returns when the last byte was written.
    fn flush(&mut self) -> Instant {
        let mut out = Vec::new();
        while self.device.poll_transmit(&mut out) {}
        if !out.is_empty() {
            // A pty takes a frame whole; a full one means that nobody reads, and the protocol repeats.
            let _full = self.line.write_all(&out);
        }
        Instant::now()
    }
}

impl Ends {
    pub fn new(folder: &Path, lamp_count: u32) -> Ends {
        let uptime_base = 1_000;
        Ends {
            began: Instant::now(),
            tumbler: End::new(DeviceKind::Tumbler, 0, &folder.join("tumbler"), uptime_base),
            terminal: End::new(DeviceKind::Terminal, 0, &folder.join("terminal"), uptime_base),
            lamps: End::new(DeviceKind::LayoutLamps, lamp_count, &folder.join("lamps"), uptime_base),
            spins: 1_000,
            spins_acknowledged: 0,
            cover: Cover::On,
            bells: 0,
            entry: 0,
            lit: Vec::new(),
            pictures: Vec::new(),
            uptime_base,
        }
    }

    fn now(&self) -> Uptime {
        Uptime::from_micros(self.began.elapsed().as_micros() as u64)
    }

    fn clock_ms(&self) -> u32 {
        self.uptime_base + self.began.elapsed().as_millis() as u32
    }

    fn tumbler_status(&self) -> from_device::Body {
        from_device::Body::Tumbler(TumblerStatus {
            motion: Motion::AtRest.into(),
            activations: self.spins / 3,
            spins: self.spins,
            cover: self.cover.into(),
            seal: Seal::Intact.into(),
            dice: None,
            fault_code: 0,
            counters: Kept::Kept.into(),
        })
    }

    fn lamp_status(&self) -> from_device::Body {
        from_device::Body::Lamps(LampStatus {
            lit: self.lit.clone(),
            failed: Vec::new(),
            sensing: Sensing::Measured.into(),
        })
    }

    fn contacts(&self, bell: Level, rung_ms: u32) -> Vec<ContactState> {
        let contact = |contact: Contact, level: Level, closings, last_closed_ms| ContactState {
            contact: contact.into(),
            level: level.into(),
            closings,
            last_closed_ms,
        };
        vec![
            contact(Contact::Bell, bell, self.bells, rung_ms),
            contact(Contact::SupervisorKey, Level::Open, 0, 0),
        ]
    }

    /// Reads, answers and writes until `done`, or says what was waited for.
    pub fn pump(&mut self, what: &str, within: Duration, mut done: impl FnMut(&Ends) -> bool) {
        let began = Instant::now();
        loop {
            self.turn();
            if done(self) {
                return;
            }
            assert!(began.elapsed() < within, "waited {within:?} for: {what}");
            let mut ready = [&self.tumbler, &self.terminal, &self.lamps]
                .map(|end| PollFd::new(end.line.as_fd(), PollFlags::POLLIN));
            // 1 ms: conditions outside the lines (a journal, a broker) are looked at as well.
            poll(&mut ready, PollTimeout::from(1u8)).unwrap();
        }
    }

    /// One look at each line.
    pub fn turn(&mut self) {
        for which in 0..3 {
            let now = self.now();
            let mut events = Vec::new();
            let end = self.end(which);
            let mut buffer = [0u8; 1024];
            while let Ok(count @ 1..) = end.line.read(&mut buffer) {
                let read_at = Instant::now();
                end.device.handle_bytes(now, &buffer[..count]);
                events.extend(std::iter::from_fn(|| end.device.poll_event()).map(|event| (event, read_at)));
            }
            if end.device.deadline().is_some_and(|at| at <= now) {
                end.device.handle_deadline(now);
            }
            for (event, read_at) in events {
                self.obey(which, now, event, read_at);
            }
            self.end(which).flush();
        }
    }

    fn end(&mut self, which: usize) -> &mut End {
        match which {
            0 => &mut self.tumbler,
            1 => &mut self.terminal,
            _ => &mut self.lamps,
        }
    }

    fn obey(&mut self, which: usize, now: Uptime, event: DeviceEvent, read_at: Instant) {
        match event {
            DeviceEvent::Accepted(to_device::Body::Status(_)) => {
                let status = match which {
                    0 => self.tumbler_status(),
                    1 => self.terminal_status(),
                    _ => self.lamp_status(),
                };
                self.end(which).device.answer_status(now, status, Vec::new());
            }
            DeviceEvent::Accepted(to_device::Body::Readout(readout)) => self.entry = readout.entry,
            DeviceEvent::Accepted(to_device::Body::Lamps(picture)) => {
                self.pictures.push((picture.lit.clone(), read_at));
                self.lit = picture.lit;
                let status = self.lamp_status();
                self.lamps.device.report(now, now, status);
            }
            DeviceEvent::Acknowledged(
                from_device::Body::Key(_) | from_device::Body::Contact(_) | from_device::Body::Entry(_),
            ) => {
                let end = self.end(which);
                end.unacknowledged = end.unacknowledged.saturating_sub(1);
            }
            DeviceEvent::Acknowledged(from_device::Body::Tumbler(status)) => self.spins_acknowledged = status.spins,
            DeviceEvent::SessionEnded | DeviceEvent::HostGone => self.end(which).unacknowledged = 0,
            _ => {}
        }
    }

    fn report_terminal(&mut self, now: Uptime, body: from_device::Body) {
        self.terminal.unacknowledged += 1;
        self.terminal.device.report(now, now, body);
    }

    fn terminal_status(&self) -> from_device::Body {
        from_device::Body::Terminal(TerminalStatus {
            shown: Vec::new(),
            entry: self.entry,
            contacts: self.contacts(Level::Open, 0),
        })
    }

    pub fn spin(&mut self, spins: u32) {
        self.spins += spins;
        let (now, status) = (self.now(), self.tumbler_status());
        self.tumbler.device.report(now, now, status);
        self.tumbler.flush();
    }

    pub fn set_cover(&mut self, cover: Cover) {
        self.cover = cover;
        let (now, status) = (self.now(), self.tumbler_status());
        self.tumbler.device.report(now, now, status);
        self.tumbler.flush();
    }

    pub fn ring(&mut self) {
        self.bells += 1;
        let rung = self.clock_ms();
        let now = self.now();
        for level in [Level::Closed, Level::Open] {
            let bell = self.contacts(level, rung)[0];
            self.report_terminal(now, from_device::Body::Contact(bell));
            // Each closing and opening goes out by itself: a newer state of a contact would take the place of one that waits.
            self.pump(
                "the bell to be acknowledged",
                Duration::from_secs(3),
                Ends::terminal_is_idle,
            );
        }
    }

    pub fn press(&mut self, key: Key) {
        let now = self.now();
        let entry = self.entry;
        self.report_terminal(now, from_device::Body::Key(KeyPressed { key: key.into(), entry }));
        self.terminal.flush();
    }

    /// Presses ENTER; the time is when the last byte was written.
    pub fn enter(&mut self, shown: &[Key]) -> Instant {
        let now = self.now();
        let entry = self.entry;
        let shown = shown.iter().map(|key| i32::from(*key)).collect();
        self.report_terminal(now, from_device::Body::Entry(EntryPressed { shown, entry }));
        self.terminal.flush()
    }

    /// Everything that the terminal sent has been acknowledged: the next frame goes out at once.
    pub fn terminal_is_idle(&self) -> bool {
        self.terminal.unacknowledged == 0
    }

    /// Every spin of the tumbler has been acknowledged: what another device sends now arrives after it.
    pub fn spins_are_known(&self) -> bool {
        self.spins_acknowledged == self.spins
    }
}
