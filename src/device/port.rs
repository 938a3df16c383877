//! One serial port: open it for us alone, move bytes, notice that it is gone. The only file that names `tokio_serial`.
//!
//! It knows no frames and waits for nothing: reading and writing are polls, and how long to wait is the link's business.
//! `tokio_serial`'s `readable` and `try_read` never clear the readiness and would spin, and its flush is a blocking
//! `tcdrain`: neither is used. Dropping a [`Port`] closes it; that must come **before** any wait for the device, because the
//! kernel gives a replugged device another number while the old one is held open.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::termios::{ControlFlags, SetArg, tcgetattr, tcsetattr};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_serial::{ClearBuffer, DataBits, FlowControl, Parity, SerialPort, SerialStream, StopBits};

use super::holder::{self, Access, Holders};

/// An open port.
#[derive(Debug)]
pub struct Port {
    stream: SerialStream,
    /// The device's number: what the name led to when it was opened.
    number: u64,
    resolved: PathBuf,
}

/// Why a port can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is nothing of this name.
    #[error("{} does not exist: not plugged in, or another name", path.display())]
    Missing {
        /// As configured.
        path: PathBuf,
    },
    /// The name leads to a file, a directory or a device that is no terminal.
    #[error("{} is not a serial port", path.display())]
    NotAPort {
        /// As configured.
        path: PathBuf,
    },
    /// Somebody else has it open.
    #[error("{} is held by {holders}", path.display())]
    Held {
        /// As configured.
        path: PathBuf,
        /// Who.
        holders: Holders,
    },
    /// We may not open it.
    #[error("permission denied on {}: {access}", path.display())]
    Denied {
        /// As configured.
        path: PathBuf,
        /// Who we are, and whose port it is.
        access: Access,
    },
    /// The name is there and the device behind it is not, or it refuses the settings.
    #[error("{} can't be set up at {baud} baud", path.display())]
    Unusable {
        /// As configured.
        path: PathBuf,
        /// As configured.
        baud: u32,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// What a turn of an open port brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moved {
    /// So many bytes were read, at least one.
    Read(usize),
    /// So many bytes were written, at least one.
    Written(usize),
}

impl Port {
    /// Opens `path` (a symlink is followed anew each time) with 8 data bits, no parity, 1 stop bit, no flow control, for us alone,
    /// and discards what is buffered. DTR and RTS are asserted once, here, and never touched again: many boards reset on a toggle.
    ///
    /// # Errors
    /// [`OpenError`], each with what a technician needs.
    pub fn open(path: &Path, baud: u32) -> Result<Port, OpenError> {
        let metadata = std::fs::metadata(path).map_err(|e| refused(path, baud, e))?;
        if !metadata.file_type().is_char_device() {
            return Err(OpenError::NotAPort { path: path.to_owned() });
        }
        let resolved = std::fs::canonicalize(path).map_err(|e| refused(path, baud, e))?;
        // A terminal program takes no lock, and two readers of one line steal each other's bytes.
        let others = holder::of(&resolved).without_makers();
        if others.any() {
            return Err(OpenError::Held {
                path: path.to_owned(),
                holders: others,
            });
        }
        let probe = probe(&resolved).map_err(|e| refused(path, baud, e))?;
        keep_lines_on_close(&probe).map_err(|errno| match errno {
            Errno::ENOTTY => OpenError::NotAPort { path: path.to_owned() },
            other => refused(path, baud, other.into()),
        })?;
        let stream = open_exclusively(&resolved, baud).map_err(|error| match error.kind {
            // What tokio_serial makes of EBUSY and of a lock that is taken.
            tokio_serial::ErrorKind::NoDevice => OpenError::Held {
                path: path.to_owned(),
                holders: holder::of(&resolved),
            },
            tokio_serial::ErrorKind::InvalidInput
            | tokio_serial::ErrorKind::Unknown
            | tokio_serial::ErrorKind::Io(_) => refused(path, baud, error.into()),
        })?;
        Ok(Port {
            stream,
            number: metadata.rdev(),
            resolved,
        })
    }

    /// The device behind the name, as it was when it was opened.
    #[must_use]
    pub fn resolved(&self) -> &Path {
        &self.resolved
    }

    /// The name leads to another device than the one that is open.
    #[must_use]
    pub fn is_elsewhere(&self, path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|found| leads_elsewhere(&found, self.number))
    }

    /// Writes the beginning of `out`, or reads, whichever is possible; writing first, because what is written is short and a
    /// device that talks without end must not keep us from answering.
    ///
    /// # Errors
    /// The device is gone: an end of file counts as that, or a dead port would be read for ever.
    pub fn poll_move(&mut self, cx: &mut Context<'_>, out: &[u8], into: &mut [u8]) -> Poll<io::Result<Moved>> {
        if !out.is_empty() {
            match Pin::new(&mut self.stream).poll_write(cx, out) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(gone(io::ErrorKind::WriteZero))),
                Poll::Ready(Ok(written)) => return Poll::Ready(Ok(Moved::Written(written))),
                Poll::Ready(Err(e)) => return Poll::Ready(Err(e)),
                Poll::Pending => {}
            }
        }
        let mut buffer = ReadBuf::new(into);
        match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
            Poll::Ready(Ok(())) => Poll::Ready(match buffer.filled().len() {
                0 => Err(gone(io::ErrorKind::UnexpectedEof)),
                read => Ok(Moved::Read(read)),
            }),
            Poll::Ready(Err(e)) => Poll::Ready(Err(e)),
            Poll::Pending => Poll::Pending,
        }
    }
}

fn gone(kind: io::ErrorKind) -> io::Error {
    io::Error::new(kind, "the device is gone")
}

fn leads_elsewhere(found: &Metadata, number: u64) -> bool {
    found.file_type().is_char_device() && found.rdev() != number
}

/// Opens the device without settings, to learn the system's own error; `tokio_serial` keeps only a kind of it.
fn probe(resolved: &Path) -> io::Result<File> {
    let flags = OFlag::O_NOCTTY | OFlag::O_NONBLOCK;
    std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(flags.bits())
        .open(resolved)
}

/// Closing must not drop DTR: the next opening would toggle it, and a board that resets on that loses its session twice.
fn keep_lines_on_close(file: &File) -> nix::Result<()> {
    let mut settings = tcgetattr(file)?;
    settings.control_flags.remove(ControlFlags::HUPCL);
    tcsetattr(file, SetArg::TCSANOW, &settings)
}

fn open_exclusively(resolved: &Path, baud: u32) -> tokio_serial::Result<SerialStream> {
    let builder = tokio_serial::new(resolved.to_string_lossy(), baud)
        .data_bits(DataBits::Eight)
        .parity(Parity::None)
        .stop_bits(StopBits::One)
        .flow_control(FlowControl::None)
        .exclusive(true)
        .dtr_on_open(true);
    let mut stream = SerialStream::open(&builder)?;
    // A pty and some adapters have no RTS; that they say so changes nothing.
    let _ = stream.write_request_to_send(true);
    stream.clear(ClearBuffer::All)?;
    Ok(stream)
}

fn refused(path: &Path, baud: u32, source: io::Error) -> OpenError {
    let path = path.to_owned();
    match source.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ENOENT | Errno::ENOTDIR) => OpenError::Missing { path },
        Some(Errno::EBUSY) => {
            let holders = holder::of(&path);
            OpenError::Held { path, holders }
        }
        Some(Errno::EACCES | Errno::EPERM) => {
            let access = Access::to(&path);
            OpenError::Denied { path, access }
        }
        Some(_) | None => OpenError::Unusable { path, baud, source },
    }
}
