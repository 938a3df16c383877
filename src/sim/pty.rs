//! A pty under a chosen path: the plug that a gateway's port is put into.

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::pty::{PtyMaster, grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::unix::AsyncFd;

/// Nobody has the near side open: look again after this. The kernel has no other way to say that somebody came.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The device's end. The near side isn't kept open here: then an exclusive opening by a gateway that was killed would outlive it.
#[derive(Debug)]
pub(super) struct Pty {
    master: AsyncFd<PtyMaster>,
    link: PathBuf,
}

impl Pty {
    /// Makes a pty, raw, and lets `link` lead to its near side.
    pub(super) fn plug_in(link: &Path) -> io::Result<Pty> {
        let master = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        make_raw(&master)?;
        // Put in place in one step: nobody ever finds half a link.
        let mut name = link.as_os_str().to_owned();
        name.push(".new");
        let new = PathBuf::from(name);
        let _ = fs::remove_file(&new);
        symlink(ptsname_r(&master)?, &new)?;
        fs::rename(&new, link)?;
        #[expect(
            deprecated,
            reason = "its replacement is unsafe, for types that lose their descriptor; PtyMaster owns one and keeps it"
        )]
        let master = AsyncFd::new(master)?;
        Ok(Pty {
            master,
            link: link.to_owned(),
        })
    }

    /// Waits for bytes. Never fails for want of a reader: it waits for one.
    pub(super) async fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.master.readable().await?;
            match ready.try_io(|master| nix::unistd::read(master.get_ref(), into).map_err(io::Error::from)) {
                Err(_would_block) => {}
                Ok(Ok(0)) => self.wait_for_somebody().await,
                Ok(Err(error)) if error.raw_os_error() == Some(Errno::EIO as i32) => self.wait_for_somebody().await,
                Ok(read) => return read,
            }
        }
    }

    /// The near side was closed: its settings are gone with it.
    async fn wait_for_somebody(&self) {
        let _ = make_raw(self.master.get_ref());
        tokio::time::sleep(LOOK_AGAIN).await;
    }

    /// Writes what the line takes; the rest is lost, as on a line without flow control.
    pub(super) fn write(&self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Ok(written @ 1..) = nix::unistd::write(self.master.get_ref(), rest) {
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
        let ours = ptsname_r(self.master.get_ref())
            .is_ok_and(|name| fs::read_link(&self.link).is_ok_and(|leads_to| leads_to == Path::new(&name)));
        if ours {
            let _ = fs::remove_file(&self.link);
        }
    }
}

fn make_raw(master: &PtyMaster) -> nix::Result<()> {
    let mut settings = tcgetattr(master)?;
    cfmakeraw(&mut settings);
    tcsetattr(master, SetArg::TCSANOW, &settings)
}
