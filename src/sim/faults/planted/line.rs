//! Bugs between a port's task and its line: the frames that pass are changed as a link with that bug would deliver them.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use prost::Message;

use super::{Bug, is_of};
use crate::device::{Answer, Holders, Leads, Moved, OpenError, OpenPort, Ports, Task};
use crate::wire::frame::{Decoder, Frame, Kind, Received, Side, encode};
use crate::wire::message::{
    DicePermit, Mended, StatusRequest, ToDevice, from_device, read_command, read_report, to_device,
};

/// Read of a line at once.
const READ_AT_ONCE: usize = 1024;

/// Ports with a bug; the others of a world as they are.
pub(super) fn plant(bug: Bug, ports: Arc<dyn Ports>) -> Arc<dyn Ports> {
    match bug {
        Bug::KeyDeliveredTwice | Bug::LampsNotSentAgain => Arc::new(Bugged {
            bug,
            ports,
            sessions: Arc::default(),
        }),
        _ => ports,
    }
}

struct Bugged {
    bug: Bug,
    ports: Arc<dyn Ports>,
    /// How often the device of each port was welcomed in this run.
    sessions: Arc<Mutex<BTreeMap<PathBuf, u64>>>,
}

impl Ports for Bugged {
    fn find(&self, path: &Path, baud: u32) -> Result<(), OpenError> {
        self.ports.find(path, baud)
    }

    fn open(&self, path: PathBuf, baud: u32) -> Answer<Result<Box<dyn OpenPort>, OpenError>> {
        let device = match self.bug {
            Bug::KeyDeliveredTwice => "terminal",
            _ => "lamps",
        };
        let opening = self.ports.open(path.clone(), baud);
        if !is_of(&path, device) {
            return opening;
        }
        let (bug, sessions) = (self.bug, Arc::clone(&self.sessions));
        Box::pin(async move {
            let opened = opening.await?;
            Some(opened.map(|port| Box::new(Tapped::new(bug, port, path, sessions)) as Box<dyn OpenPort>))
        })
    }

    fn others(&self, resolved: PathBuf) -> Answer<Holders> {
        self.ports.others(resolved)
    }

    fn seed(&self) -> u64 {
        self.ports.seed()
    }

    fn run(&self, task: Task) {
        self.ports.run(task);
    }
}

/// A port whose frames are changed on their way.
struct Tapped {
    bug: Bug,
    port: Box<dyn OpenPort>,
    path: PathBuf,
    sessions: Arc<Mutex<BTreeMap<PathBuf, u64>>>,
    from_host: Decoder,
    from_device: Decoder,
    to_device: Vec<u8>,
    to_host: VecDeque<u8>,
    /// By how much a device's numbers are shifted, since some of its frames were given twice.
    shift: u8,
    /// The device's newest DATA: its number, its payload, and the number that the host knows it by.
    newest: Option<(u8, Vec<u8>, u8)>,
    /// The device's number of each that the host knows.
    numbers: BTreeMap<u8, u8>,
    /// The first wish of this session was swallowed: its number.
    swallowed: Option<u8>,
}

impl Tapped {
    fn new(bug: Bug, port: Box<dyn OpenPort>, path: PathBuf, sessions: Arc<Mutex<BTreeMap<PathBuf, u64>>>) -> Self {
        Tapped {
            bug,
            port,
            path,
            sessions,
            from_host: Decoder::new(Side::Device),
            from_device: Decoder::new(Side::Host),
            to_device: Vec::new(),
            to_host: VecDeque::new(),
            shift: 0,
            newest: None,
            numbers: BTreeMap::new(),
            swallowed: None,
        }
    }

    fn host_says(&mut self, mut bytes: &[u8]) {
        while let Some(received) = self.from_host.next(&mut bytes) {
            if let Received::Frame(mut frame) = received {
                self.change_for_device(&mut frame);
                // A payload that came in a frame fits into one.
                let _ = encode(frame.kind, frame.sequence, &frame.payload, &mut self.to_device);
            }
        }
    }

    fn device_says(&mut self, mut bytes: &[u8]) {
        while let Some(received) = self.from_device.next(&mut bytes) {
            if let Received::Frame(frame) = received {
                self.give_to_host(frame);
            }
        }
    }

    fn change_for_device(&mut self, frame: &mut Frame) {
        if frame.kind == Kind::Ack {
            frame.sequence = self.numbers.get(&frame.sequence).copied().unwrap_or(frame.sequence);
        }
        if frame.kind != Kind::Data || self.bug != Bug::LampsNotSentAgain {
            return;
        }
        let is_lamps = matches!(
            read_command(&frame.payload, &mut Mended::default()),
            Some(to_device::Body::Lamps(_))
        );
        let welcomes = *self.sessions().entry(self.path.clone()).or_default();
        let is_first = self.swallowed.is_none_or(|swallowed| swallowed == frame.sequence);
        if is_lamps && welcomes > 1 && is_first {
            self.swallowed = Some(frame.sequence);
            let instead = ToDevice {
                body: Some(to_device::Body::Status(StatusRequest {})),
            };
            frame.payload = instead.encode_to_vec();
        }
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, BTreeMap<PathBuf, u64>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_to_host(&mut self, frame: Frame) {
        if frame.kind == Kind::Welcome {
            *self.sessions().entry(self.path.clone()).or_default() += 1;
            self.shift = 0;
            self.newest = None;
            self.numbers.clear();
            self.swallowed = None;
        }
        if frame.kind != Kind::Data || self.bug != Bug::KeyDeliveredTwice {
            return self.pass(&frame, frame.sequence);
        }
        if let Some((number, payload, known_by)) = &self.newest
            && (*number, payload) == (frame.sequence, &frame.payload)
        {
            let known_by = *known_by;
            return self.pass(&frame, known_by);
        }
        self.number(&frame);
        let report = read_report(&frame.payload, DicePermit::Never, &mut Mended::default());
        if let Some(from_device::Body::Key(_)) = report.map(|report| report.body) {
            self.shift = self.shift.wrapping_add(1);
            self.number(&frame);
        }
    }

    /// Passes a new frame on under the number that the host expects.
    fn number(&mut self, frame: &Frame) {
        let known_by = frame.sequence.wrapping_add(self.shift);
        self.numbers.insert(known_by, frame.sequence);
        self.newest = Some((frame.sequence, frame.payload.clone(), known_by));
        self.pass(frame, known_by);
    }

    fn pass(&mut self, frame: &Frame, sequence: u8) {
        let mut line = Vec::new();
        let _ = encode(frame.kind, sequence, &frame.payload, &mut line);
        self.to_host.extend(line);
    }
}

impl OpenPort for Tapped {
    fn resolved(&self) -> &Path {
        self.port.resolved()
    }

    fn leads(&self, path: &Path) -> Leads {
        self.port.leads(path)
    }

    fn poll_move(&mut self, cx: &mut Context<'_>, out: &[u8], into: &mut [u8]) -> Poll<io::Result<Moved>> {
        if !out.is_empty() {
            self.host_says(out);
            return Poll::Ready(Ok(Moved::Written(out.len())));
        }
        loop {
            if !self.to_host.is_empty() {
                let mut read = 0;
                for slot in into.iter_mut() {
                    let Some(byte) = self.to_host.pop_front() else { break };
                    *slot = byte;
                    read += 1;
                }
                return Poll::Ready(Ok(Moved::Read(read)));
            }
            let mut buffer = [0; READ_AT_ONCE];
            let moved = std::task::ready!(self.port.poll_move(cx, &self.to_device, &mut buffer))?;
            match moved {
                Moved::Written(written) => {
                    self.to_device.drain(..written.min(self.to_device.len()));
                }
                Moved::Read(read) => self.device_says(buffer.get(..read).unwrap_or_default()),
            }
        }
    }
}
