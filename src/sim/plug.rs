//! Where a simulated device's line ends: a pty for a gateway that runs elsewhere, or bytes in memory for one that runs on the same
//! clock; and who looks on.

use super::pty::Pty;
use crate::wire::message::from_device;
use std::future::poll_fn;
use std::io;
use std::path::Path;
use std::task::{Context, Poll};

/// The device's end of a line in memory. Dropping it unplugs the device.
pub(super) trait Wire: Send + std::fmt::Debug {
    /// Reads what the host has written, at least one byte.
    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<usize>;

    /// Writes to the host; without a host the bytes wait, as far as there is room.
    fn write(&mut self, bytes: &[u8]);
}

/// Plugs a device in once more.
pub(super) type Replug = Box<dyn FnMut() -> Box<dyn Wire> + Send>;

/// What a device is plugged into.
pub(super) enum Socket {
    /// A pty under the device's path.
    Pty,
    /// A line in memory.
    Memory(Replug),
}

/// A device that is plugged in.
pub(super) enum Plug {
    Pty(Pty),
    Memory(Box<dyn Wire>),
}

/// Sees what a device shows, each time that it shows something else.
pub(super) type Eye<V> = Box<dyn FnMut(&V) + Send>;

/// Hears what a device reports, when it reports it.
pub(super) type Ear = Box<dyn FnMut(&from_device::Body) + Send>;

/// Where a device stands.
pub(super) struct Place<V> {
    pub(super) socket: Socket,
    pub(super) eye: Option<Eye<V>>,
    pub(super) ear: Option<Ear>,
}

impl<V> Place<V> {
    /// Behind a pty, and nobody looks on.
    pub(super) fn behind_a_pty() -> Self {
        Place {
            socket: Socket::Pty,
            eye: None,
            ear: None,
        }
    }
}

impl Socket {
    /// Plugs the device in.
    ///
    /// # Errors
    /// When there is no pty to have.
    pub(super) fn plug_in(&mut self, link: &Path) -> io::Result<Plug> {
        match self {
            Socket::Pty => Pty::plug_in(link).map(Plug::Pty),
            Socket::Memory(replug) => Ok(Plug::Memory(replug())),
        }
    }
}

impl Plug {
    /// Waits for bytes.
    pub(super) async fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Plug::Pty(pty) => pty.read(into).await,
            Plug::Memory(wire) => Ok(poll_fn(|cx| wire.poll_read(cx, into)).await),
        }
    }

    /// Writes what the line takes.
    pub(super) fn write(&mut self, bytes: &[u8]) {
        match self {
            Plug::Pty(pty) => pty.write(bytes),
            Plug::Memory(wire) => wire.write(bytes),
        }
    }
}
