//! A pty under a chosen path: the plug that a gateway's port is put into.

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{PtyMaster, grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::unix::AsyncFd;

/// Nobody has the near side open: look again after this. The kernel has no other way to say that somebody came.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Where the kernel shows the near sides of ptys.
const NEAR_SIDES: &str = "/dev/pts";

/// The device's end. The near side isn't kept open here: then an exclusive opening by a gateway that was killed would outlive it.
#[derive(Debug)]
pub(super) struct Pty {
    /// `None` only while it is registered anew.
    master: Option<AsyncFd<PtyMaster>>,
    link: PathBuf,
}

impl Pty {
    /// Makes a pty, raw, and lets `link` lead to its near side.
    ///
    /// # Errors
    /// When there is no pty to have, when the link can't be made, and when something else than an earlier device's link stands
    /// in its place: that is somebody's file, and stays.
    pub(super) fn plug_in(link: &Path) -> io::Result<Pty> {
        let master = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        make_raw(&master)?;
        // Put in place in one step: nobody ever finds half a link.
        let mut name = link.as_os_str().to_owned();
        name.push(".new");
        let new = PathBuf::from(name);
        for taken in [link, &new] {
            only_a_link_to_a_pty(taken)?;
        }
        let _ = fs::remove_file(&new);
        symlink(ptsname_r(&master)?, &new)?;
        fs::rename(&new, link)?;
        Ok(Pty {
            master: Some(register(master)?),
            link: link.to_owned(),
        })
    }

    /// Waits for bytes. Never fails for want of a reader: it waits for one.
    pub(super) async fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(master) = &self.master else {
                return Err(io::Error::from(Errno::EBADF));
            };
            let mut ready = master.readable().await?;
            let hung_up = ready.ready().is_read_closed();
            match ready.try_io(|master| nix::unistd::read(master.get_ref(), into).map_err(io::Error::from)) {
                // It was hung up and is open again already: as below.
                Err(_would_block) if hung_up => self.wait_for_somebody().await?,
                Err(_would_block) => {}
                Ok(Ok(0)) => self.wait_for_somebody().await?,
                Ok(Err(error)) if error.raw_os_error() == Some(Errno::EIO as i32) => self.wait_for_somebody().await?,
                Ok(read) => return read,
            }
        }
    }

    /// The near side was closed, and its settings are gone with it. Once somebody has it open again, the master is registered
    /// anew: the runtime never forgets that it was hung up, and would take it for readable ever after.
    async fn wait_for_somebody(&mut self) -> io::Result<()> {
        loop {
            if let Some(master) = &self.master {
                let _ = make_raw(master.get_ref());
                if is_open(master.get_ref()) {
                    break;
                }
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        if let Some(master) = self.master.take() {
            self.master = Some(register(master.into_inner())?);
        }
        Ok(())
    }

    /// Writes what the line takes; the rest is lost, as on a line without flow control.
    pub(super) fn write(&self, bytes: &[u8]) {
        let Some(master) = &self.master else { return };
        let mut rest = bytes;
        while let Ok(written @ 1..) = nix::unistd::write(master.get_ref(), rest) {
            rest = rest.get(written..).unwrap_or_default();
            if rest.is_empty() {
                return;
            }
        }
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // Somebody else may have put theirs there.
        let Some(master) = &self.master else { return };
        let ours = ptsname_r(master.get_ref())
            .is_ok_and(|name| fs::read_link(&self.link).is_ok_and(|leads_to| leads_to == Path::new(&name)));
        if ours {
            let _ = fs::remove_file(&self.link);
        }
    }
}

/// Nothing is there, or what a device that was killed left behind.
fn only_a_link_to_a_pty(path: &Path) -> io::Result<()> {
    match fs::read_link(path) {
        Ok(leads_to) if leads_to.starts_with(NEAR_SIDES) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // A file, a folder, a link to a real port.
        Ok(_) | Err(_) if fs::symlink_metadata(path).is_ok() => Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!("{} is there already, and is no simulated device's link", path.display()),
        )),
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Somebody has the near side open.
fn is_open(master: &PtyMaster) -> bool {
    let mut asked = [PollFd::new(master.as_fd(), PollFlags::POLLIN)];
    let answered = poll(&mut asked, PollTimeout::ZERO);
    let [asked] = asked;
    answered.is_ok()
        && !asked
            .revents()
            .is_some_and(|events| events.contains(PollFlags::POLLHUP))
}

fn register(master: PtyMaster) -> io::Result<AsyncFd<PtyMaster>> {
    #[expect(
        deprecated,
        reason = "its replacement is unsafe, for types that lose their descriptor; PtyMaster owns one and keeps it"
    )]
    AsyncFd::new(master)
}

fn make_raw(master: &PtyMaster) -> nix::Result<()> {
    let mut settings = tcgetattr(master)?;
    cfmakeraw(&mut settings);
    tcsetattr(master, SetArg::TCSANOW, &settings)
}
