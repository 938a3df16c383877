//! One serial port: open it for us alone, move bytes, notice that it is gone. The only file that names `tokio_serial`.
//!
//! It knows no frames and waits for nothing: reading and writing are polls, and how long to wait is the link's business.
//! `tokio_serial`'s `readable` and `try_read` never clear the readiness and would spin, and its flush is a blocking
//! `tcdrain`: neither is used. Dropping a [`Port`] closes it; that must come **before** any wait for the device, because the
//! kernel gives a replugged device another number while the old one is held open.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::termios::{ControlFlags, SetArg, Termios, tcgetattr, tcsetattr};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_serial::{ClearBuffer, DataBits, FlowControl, Parity, SerialPort, SerialStream, StopBits};

use super::holder::{self, Access, Holders};
use super::outside::OpenPort;

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
        holders: Box<Holders>,
    },
    /// We may not open it.
    #[error("permission denied on {}: {access}", path.display())]
    Denied {
        /// As configured.
        path: PathBuf,
        /// Who we are, and whose port it is.
        access: Box<Access>,
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

/// Where a port's name leads, compared with what is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leads {
    /// To what is open.
    Here,
    /// To another device.
    Elsewhere,
    /// The name is gone.
    Nowhere,
}

impl Port {
    /// Whether there is anything of this name, at the price of one system call.
    ///
    /// # Errors
    /// [`OpenError::Missing`], or what keeps us from looking.
    pub fn find(path: &Path, baud: u32) -> Result<(), OpenError> {
        match std::fs::metadata(path) {
            Ok(_) => Ok(()),
            Err(e) => Err(refused(path, baud, e)),
        }
    }

    /// Opens `path` (a symlink is followed anew each time) with 8 data bits, no parity, 1 stop bit, no flow control, for us alone,
    /// and discards what is buffered. DTR and RTS are asserted once, here, and never touched again: many boards reset on a toggle.
    ///
    /// Blocks for milliseconds, and for longer with a driver that waits for its device; it must be called within a runtime's context.
    ///
    /// # Errors
    /// [`OpenError`], each with what a technician needs.
    pub fn open(path: &Path, baud: u32) -> Result<Port, OpenError> {
        let metadata = std::fs::metadata(path).map_err(|e| refused(path, baud, e))?;
        if !metadata.file_type().is_char_device() {
            return Err(OpenError::NotAPort { path: path.to_owned() });
        }
        let resolved = std::fs::canonicalize(path).map_err(|e| refused(path, baud, e))?;
        let probe = probe(&resolved).map_err(|e| refused(path, baud, e))?;
        let settings = tcgetattr(&probe).map_err(|errno| {
            if errno == Errno::ENOTTY {
                OpenError::NotAPort { path: path.to_owned() }
            } else {
                refused(path, baud, errno.into())
            }
        })?;
        // A terminal program takes no lock, and two readers of one line steal each other's bytes.
        let others = holder::of(&resolved).without_makers();
        if others.any() {
            return Err(OpenError::Held {
                path: path.to_owned(),
                holders: Box::new(others),
            });
        }
        keep_lines_on_close(&probe, settings).map_err(|errno| refused(path, baud, errno.into()))?;
        let stream = open_exclusively(&resolved, baud).map_err(|error| match error.kind {
            // What tokio_serial makes of EBUSY and of a lock that is taken.
            tokio_serial::ErrorKind::NoDevice => OpenError::Held {
                path: path.to_owned(),
                holders: Box::new(holder::of(&resolved)),
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
}

impl OpenPort for Port {
    fn resolved(&self) -> &Path {
        &self.resolved
    }

    fn leads(&self, path: &Path) -> Leads {
        match std::fs::metadata(path) {
            Ok(found) if found.file_type().is_char_device() && found.rdev() == self.number => Leads::Here,
            Ok(_) => Leads::Elsewhere,
            Err(_) => Leads::Nowhere,
        }
    }

    fn poll_move(&mut self, cx: &mut Context<'_>, out: &[u8], into: &mut [u8]) -> Poll<io::Result<Moved>> {
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

impl Drop for Port {
    /// A driver waits up to 30 s at closing for bytes that the line doesn't take; nobody needs them.
    fn drop(&mut self) {
        let _ = self.stream.clear(ClearBuffer::Output);
    }
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
fn keep_lines_on_close(file: &File, mut settings: Termios) -> nix::Result<()> {
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
            let holders = Box::new(holder::of(&path));
            OpenError::Held { path, holders }
        }
        Some(Errno::EACCES | Errno::EPERM) => {
            let access = Box::new(Access::to(&path));
            OpenError::Denied { path, access }
        }
        Some(_) | None => OpenError::Unusable { path, baud, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::fcntl::{Flock, FlockArg};
    use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    const BAUD: u32 = 115_200;

    /// A pty of which only the far side is kept, and the near side's name.
    fn pty() -> (File, PathBuf) {
        let far = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC).unwrap();
        grantpt(&far).unwrap();
        unlockpt(&far).unwrap();
        let name = ptsname_r(&far).unwrap();
        let far = far.as_fd().try_clone_to_owned().unwrap();
        (File::from(far), PathBuf::from(name))
    }

    async fn moved(port: &mut Port, out: &[u8], into: &mut [u8]) -> io::Result<Moved> {
        std::future::poll_fn(|cx| port.poll_move(cx, out, into)).await
    }

    #[tokio::test]
    async fn bytes_go_both_ways_unchanged() {
        let (mut far, name) = pty();
        let mut port = Port::open(&name, BAUD).unwrap();
        let every: Vec<u8> = (0..=255).collect();
        far.write_all(&every).unwrap();
        let mut read = Vec::new();
        let mut buffer = [0; 64];
        while read.len() < every.len() {
            match moved(&mut port, &[], &mut buffer).await.unwrap() {
                Moved::Read(count) => read.extend_from_slice(&buffer[..count]),
                Moved::Written(_) => panic!("nothing was to be written"),
            }
        }
        assert_eq!(read, every);
        assert_eq!(
            moved(&mut port, &every, &mut buffer).await.unwrap(),
            Moved::Written(256)
        );
        let mut arrived = [0; 256];
        far.read_exact(&mut arrived).unwrap();
        assert_eq!(arrived.as_slice(), every);
    }

    #[tokio::test]
    async fn what_was_buffered_before_the_opening_is_discarded() {
        let (mut far, name) = pty();
        far.write_all(b"old keys\n").unwrap();
        let mut port = Port::open(&name, BAUD).unwrap();
        far.write_all(b"new").unwrap();
        let mut buffer = [0; 64];
        assert_eq!(moved(&mut port, &[], &mut buffer).await.unwrap(), Moved::Read(3));
        assert_eq!(&buffer[..3], b"new");
    }

    #[tokio::test]
    async fn a_device_that_goes_is_an_error_in_read_and_in_write() {
        let (far, name) = pty();
        let mut port = Port::open(&name, BAUD).unwrap();
        drop(far);
        assert!(moved(&mut port, &[], &mut [0; 8]).await.is_err());
        assert!(moved(&mut port, b"anyone?", &mut [0; 8]).await.is_err());
    }

    #[tokio::test]
    async fn a_name_is_followed_to_where_it_leads_now() {
        let (_far_a, a) = pty();
        let (_far_b, b) = pty();
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("tumbler");
        symlink(&a, &link).unwrap();
        let port = Port::open(&link, BAUD).unwrap();
        assert_eq!(port.resolved(), a);
        assert_eq!(port.leads(&link), Leads::Here);
        std::fs::remove_file(&link).unwrap();
        assert_eq!(port.leads(&link), Leads::Nowhere);
        symlink(&b, &link).unwrap();
        assert_eq!(port.leads(&link), Leads::Elsewhere);
    }

    #[tokio::test]
    async fn each_refusal_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        assert!(matches!(Port::open(&missing, BAUD), Err(OpenError::Missing { .. })));
        let dangling = folder.path().join("dangling");
        symlink(&missing, &dangling).unwrap();
        assert!(matches!(Port::open(&dangling, BAUD), Err(OpenError::Missing { .. })));
        let file = folder.path().join("file");
        std::fs::write(&file, b"").unwrap();
        assert!(matches!(Port::open(&file, BAUD), Err(OpenError::NotAPort { .. })));
        assert!(matches!(
            Port::open(folder.path(), BAUD),
            Err(OpenError::NotAPort { .. })
        ));
        assert!(matches!(
            Port::open(Path::new("/dev/null"), BAUD),
            Err(OpenError::NotAPort { .. })
        ));
    }

    #[tokio::test]
    async fn a_port_that_this_process_holds_is_refused() {
        let (_far, name) = pty();
        let _held = Port::open(&name, BAUD).unwrap();
        let error = Port::open(&name, BAUD).unwrap_err();
        assert!(matches!(error, OpenError::Held { .. }), "{error}");
        assert!(error.to_string().contains("this process itself"), "{error}");
    }

    #[tokio::test]
    async fn a_lock_of_somebody_else_is_respected() {
        let (_far, name) = pty();
        let other = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(OFlag::O_NOCTTY.bits())
            .open(&name)
            .unwrap();
        let _lock = Flock::lock(other, FlockArg::LockExclusiveNonblock).unwrap();
        assert!(matches!(Port::open(&name, BAUD), Err(OpenError::Held { .. })));
    }

    #[tokio::test]
    async fn the_message_names_the_process_that_has_the_port_open() {
        let (mut far, name) = pty();
        let near = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(OFlag::O_NOCTTY.bits())
            .open(&name)
            .unwrap();
        // A terminal program that takes no lock: it only reads.
        let mut holder = Command::new("cat")
            .stdin(Stdio::from(near))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // A child that another test has forked holds everything until it has become another program: look again.
        let named = format!("cat (pid {})", holder.id());
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let text = Port::open(&name, BAUD).unwrap_err().to_string();
            if text.contains(&named) {
                break;
            }
            assert!(Instant::now() < deadline, "{text}");
        }
        // End of file, in a terminal's way.
        far.write_all(&[4]).unwrap();
        holder.wait().unwrap();
        while let Err(e) = Port::open(&name, BAUD) {
            assert!(Instant::now() < deadline, "{e}");
        }
    }

    /// Run again by the test below, as another user.
    #[tokio::test]
    async fn open_as_nobody() {
        let Some(port) = std::env::var_os("TABLEGATE_TEST_PORT") else {
            return;
        };
        let error = Port::open(Path::new(&port), BAUD).unwrap_err();
        eprintln!("{error}");
    }

    const NOBODY: u32 = 65_534;

    /// What opening the port says to somebody who is not root: to us, or to nobody, as whom this test is run again.
    fn denied(name: &Path) -> String {
        if !nix::unistd::Uid::effective().is_root() {
            // Its owner has no rights in the modes that are tried; opening fails before anything needs a runtime.
            return Port::open(name, BAUD).unwrap_err().to_string();
        }
        let again = |program: &Path| {
            Command::new(program)
                .args(["--exact", "--nocapture", "device::port::tests::open_as_nobody"])
                .env("TABLEGATE_TEST_PORT", name)
                .current_dir("/")
                .uid(NOBODY)
                .gid(NOBODY)
                .output()
        };
        let program = std::env::current_exe().unwrap();
        let output = again(&program).unwrap_or_else(|_| {
            // The folder of the build is closed to others.
            let open = tempfile::tempdir().unwrap();
            std::fs::set_permissions(open.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
            let copy = open.path().join("test");
            std::fs::copy(&program, &copy).unwrap();
            std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755)).unwrap();
            again(&copy).unwrap()
        });
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    #[test]
    fn a_denied_port_says_who_we_are_and_whose_it_is() {
        let (_far, name) = pty();
        let (us, them) = match nix::unistd::Uid::effective() {
            root if root.is_root() => (nix::unistd::Uid::from_raw(NOBODY), root),
            user => (user, user),
        };
        let user = |uid| {
            nix::unistd::User::from_uid(uid)
                .unwrap()
                .map_or(format!("number {uid}"), |user| user.name)
        };
        for (mode, advice) in [(0o000, "not even its group"), (0o060, "add the user to group")] {
            std::fs::set_permissions(&name, std::fs::Permissions::from_mode(mode)).unwrap();
            let text = denied(&name);
            for part in [
                "permission denied",
                &format!("user {}", user(us)),
                &format!("belongs to {}:", user(them)),
                &format!("{mode:04o}"),
                advice,
            ] {
                assert!(text.contains(part), "{part:?} in {text}");
            }
        }
    }
}
