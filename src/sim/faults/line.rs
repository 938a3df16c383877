//! Serial lines in memory: ports for the gateway at one end, a simulated device's plug at the other. What is wrong with the bytes is
//! the device's side's business; what is wrong with the plug is seen here: a port that is gone, back, or takes nothing.

use super::eyes::hold;
use super::life::{Life, Pulse};
use crate::device::{Answer, Holders, Leads, Moved, OpenError, OpenPort, Ports, Task};
use crate::sim::Chance;
use crate::sim::plug::{Socket, Wire};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

/// Bytes that wait at either end, as in a kernel: what is more is lost.
const ROOM: usize = 4096;

/// Whether a line takes what the host writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Takes {
    /// It does.
    Everything,
    /// Nothing: a converter that hangs.
    Nothing,
}

/// What both ends share.
#[derive(Debug)]
struct Shared {
    /// Which plugging-in this is; even: nothing is plugged in.
    plugged: u64,
    takes: Takes,
    to_host: VecDeque<u8>,
    to_device: VecDeque<u8>,
    host: Option<Waker>,
    device: Option<Waker>,
}

/// A line.
#[derive(Clone, Debug)]
pub(super) struct Line(Arc<Mutex<Shared>>);

impl Line {
    /// A line with nothing at its ends.
    pub(super) fn new() -> Self {
        Line(Arc::new(Mutex::new(Shared {
            plugged: 0,
            takes: Takes::Everything,
            to_host: VecDeque::new(),
            to_device: VecDeque::new(),
            host: None,
            device: None,
        })))
    }

    /// Where a device is plugged in.
    pub(super) fn socket(&self) -> Socket {
        let line = self.clone();
        Socket::Memory(Box::new(move || Box::new(DeviceEnd::new(line.clone()))))
    }

    /// Whether it takes what the host writes from now on.
    pub(super) fn takes(&self, takes: Takes) {
        let mut shared = hold(&self.0);
        shared.takes = takes;
        wake(&mut shared.host);
    }
}

fn wake(waiting: &mut Option<Waker>) {
    if let Some(waker) = waiting.take() {
        waker.wake();
    }
}

fn is_in(plugged: u64) -> bool {
    plugged % 2 == 1
}

/// The device's end.
#[derive(Debug)]
struct DeviceEnd(Line);

impl DeviceEnd {
    fn new(line: Line) -> Self {
        let mut shared = hold(&line.0);
        shared.plugged += 1;
        shared.to_host.clear();
        shared.to_device.clear();
        drop(shared);
        DeviceEnd(line)
    }
}

impl Drop for DeviceEnd {
    fn drop(&mut self) {
        let mut shared = hold(&self.0.0);
        shared.plugged += 1;
        wake(&mut shared.host);
    }
}

impl Wire for DeviceEnd {
    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<usize> {
        let mut shared = hold(&self.0.0);
        let read = take(&mut shared.to_device, into);
        if read > 0 {
            return Poll::Ready(read);
        }
        shared.device = Some(cx.waker().clone());
        Poll::Pending
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut shared = hold(&self.0.0);
        let room = ROOM.saturating_sub(shared.to_host.len());
        shared.to_host.extend(bytes.iter().take(room));
        wake(&mut shared.host);
    }
}

fn take(from: &mut VecDeque<u8>, into: &mut [u8]) -> usize {
    let mut read = 0;
    for (slot, byte) in into.iter_mut().zip(from.iter()) {
        *slot = *byte;
        read += 1;
    }
    from.drain(..read);
    read
}

/// The gateway's ports, for one run of it.
pub(super) struct Harbour {
    lines: BTreeMap<PathBuf, Line>,
    life: Arc<Life>,
    chance: Mutex<Chance>,
}

impl Harbour {
    pub(super) fn new(lines: BTreeMap<PathBuf, Line>, life: Arc<Life>, seed: u64) -> Self {
        Harbour {
            lines,
            life,
            chance: Mutex::new(Chance::new(seed)),
        }
    }
}

impl Ports for Harbour {
    fn find(&self, path: &Path, _baud: u32) -> Result<(), OpenError> {
        match self.lines.get(path) {
            Some(line) if is_in(hold(&line.0).plugged) => Ok(()),
            Some(_) | None => Err(OpenError::Missing { path: path.to_owned() }),
        }
    }

    fn open(&self, path: PathBuf, baud: u32) -> Answer<Result<Box<dyn OpenPort>, OpenError>> {
        let opened = self.find(&path, baud).and_then(|()| {
            let line = self.lines.get(&path).cloned();
            line.ok_or(OpenError::Missing { path: path.clone() })
        });
        let life = Arc::clone(&self.life);
        Box::pin(async move {
            if life.step() == Pulse::Dead {
                return std::future::pending().await;
            }
            Some(opened.map(|line| {
                let mut shared = hold(&line.0);
                shared.to_host.clear();
                let plugged = shared.plugged;
                drop(shared);
                Box::new(HostEnd {
                    line,
                    plugged,
                    path,
                    life,
                }) as Box<dyn OpenPort>
            }))
        })
    }

    fn others(&self, _resolved: PathBuf) -> Answer<Holders> {
        Box::pin(async { Some(Holders::default()) })
    }

    fn seed(&self) -> u64 {
        hold(&self.chance).draw()
    }

    fn run(&self, task: Task) {
        self.life.run(task);
    }
}

/// The gateway's end of a line.
struct HostEnd {
    line: Line,
    plugged: u64,
    path: PathBuf,
    life: Arc<Life>,
}

impl OpenPort for HostEnd {
    fn resolved(&self) -> &Path {
        &self.path
    }

    fn leads(&self, _path: &Path) -> Leads {
        let plugged = hold(&self.line.0).plugged;
        if plugged == self.plugged {
            Leads::Here
        } else if is_in(plugged) {
            Leads::Elsewhere
        } else {
            Leads::Nowhere
        }
    }

    fn poll_move(&mut self, cx: &mut Context<'_>, out: &[u8], into: &mut [u8]) -> Poll<io::Result<Moved>> {
        if self.life.pulse() == Pulse::Dead {
            return Poll::Pending;
        }
        let mut shared = hold(&self.line.0);
        if shared.plugged != self.plugged {
            return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
        }
        if !out.is_empty() && shared.takes == Takes::Everything {
            if self.life.step() == Pulse::Dead {
                return Poll::Pending;
            }
            let room = ROOM.saturating_sub(shared.to_device.len());
            if room > 0 {
                let written = out.len().min(room);
                shared.to_device.extend(out.iter().take(written));
                wake(&mut shared.device);
                return Poll::Ready(Ok(Moved::Written(written)));
            }
        }
        let read = take(&mut shared.to_host, into);
        if read > 0 {
            return Poll::Ready(Ok(Moved::Read(read)));
        }
        shared.host = Some(cx.waker().clone());
        Poll::Pending
    }
}
