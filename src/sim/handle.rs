//! What scripts hold of a simulated device: how it is started, what can be seen of its link, and the acts that every kind knows.

use super::line::Faults;
use crate::wire::message::DeviceKind;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

/// What every simulated device is started with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setup {
    /// Where the port appears: a symlink to a pty, in a folder that exists.
    pub link: PathBuf,
    /// Printable ASCII, at most 32 bytes.
    pub serial_number: String,
    /// Printable ASCII, at most 32 bytes.
    pub firmware: String,
    /// Its pretended firmware image.
    pub image: Vec<u8>,
    /// What it says it is, when that isn't what it is.
    pub pretends: Option<DeviceKind>,
    /// Of the line; retries are timed by it.
    pub baud: u32,
    /// For faults and dice.
    pub seed: u64,
    /// From which its boot numbers are made: another one at each start.
    pub power_on: u32,
}

impl Setup {
    /// A healthy device under `link`.
    #[must_use]
    pub fn new(link: impl AsRef<Path>, serial_number: &str, seed: u64) -> Self {
        Setup {
            link: link.as_ref().to_owned(),
            serial_number: serial_number.to_owned(),
            firmware: "sim-1.0".to_owned(),
            image: b"sim-1.0".to_vec(),
            pretends: None,
            baud: 115_200,
            seed,
            power_on: rand::random(),
        }
    }
}

/// Whether a device hears its line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Hearing {
    /// No session: it ignores keys and shows `---`.
    NoSession,
    /// In session.
    Session,
}

/// What can be seen of any device's link.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct LineView {
    /// Plugged in.
    pub plugged: bool,
    /// In session or not.
    pub hearing: Hearing,
    /// Sessions since the device was started.
    pub sessions: u64,
    /// How often the host was found gone for the hold time.
    pub host_gone: u64,
    /// Changes at each boot.
    pub boot_id: u32,
    /// What is wrong with the line.
    pub faults: Faults,
    /// Frames since the last boot.
    pub traffic: Traffic,
}

/// What a device has heard and said since its last boot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub struct Traffic {
    /// Valid frames heard.
    pub frames_in: u64,
    /// Frames sent, repeats included.
    pub frames_out: u64,
    /// DATA sent again.
    pub repeats_out: u64,
}

/// A condition that didn't come.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Trouble {
    /// Waited long enough.
    #[error("waited {within:?} for {what}")]
    NotSeen {
        /// For what.
        what: String,
        /// How long.
        within: Duration,
        /// What was there instead.
        seen: String,
    },
    /// The device's task has ended.
    #[error("the simulated device has ended")]
    Ended,
}

/// Something about the device as such, whatever its kind.
#[derive(Clone, Debug)]
pub(super) enum Common {
    Unplug,
    Replug,
    Faults(Faults),
    Noise(usize),
    Reboot,
    Renumber(String),
    Install(String),
    Pretend(Option<DeviceKind>),
    RaiseFault { code: u32, text: String },
    ClearFault { code: u32 },
}

/// What a script asks of a device, of any or of its own kind.
#[derive(Debug)]
pub(super) enum Act<A> {
    Common(Common),
    Own(A),
}

/// A running simulated device. Dropping it unplugs and ends the device.
#[derive(Debug)]
pub struct Handle<A, V> {
    pub(super) acts: mpsc::Sender<(Act<A>, oneshot::Sender<()>)>,
    pub(super) view: watch::Receiver<V>,
    pub(super) task: JoinHandle<()>,
}

impl<A, V> Drop for Handle<A, V> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl<A, V: Clone + std::fmt::Debug> Handle<A, V> {
    /// What it shows now.
    #[must_use]
    pub fn view(&self) -> V {
        self.view.borrow().clone()
    }

    /// To see each change.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<V> {
        self.view.clone()
    }

    /// Waits until the device shows something, and returns what it shows then.
    ///
    /// # Errors
    /// When it isn't seen within the time; `what` is for the message.
    pub async fn wait(&self, what: &str, seen: impl FnMut(&V) -> bool, within: Duration) -> Result<V, Trouble> {
        let mut view = self.view.clone();
        let found = tokio::time::timeout(within, view.wait_for(seen)).await;
        match found {
            Ok(Ok(view)) => Ok(view.clone()),
            Ok(Err(_)) => Err(Trouble::Ended),
            Err(_) => Err(Trouble::NotSeen {
                what: what.to_owned(),
                within,
                seen: format!("{:?}", self.view()),
            }),
        }
    }

    /// Pulls the plug. The device keeps its power and its state.
    pub async fn unplug(&self) {
        self.common(Common::Unplug).await;
    }

    /// Puts it back, under the same path, as another pty.
    pub async fn replug(&self) {
        self.common(Common::Replug).await;
    }

    /// Makes the line bad, or good again with `Faults::default()`.
    pub async fn set_faults(&self, faults: Faults) {
        self.common(Common::Faults(faults)).await;
    }

    /// Noise on the line, once.
    pub async fn noise(&self, bytes: usize) {
        self.common(Common::Noise(bytes)).await;
    }

    /// Power off and on: another boot number, and what a device forgets is forgotten.
    pub async fn reboot(&self) {
        self.common(Common::Reboot).await;
    }

    /// Another serial number, from the next boot on.
    pub async fn renumber(&self, serial_number: &str) {
        self.common(Common::Renumber(serial_number.to_owned())).await;
    }

    /// Other firmware, from the next boot on; its image is its name.
    pub async fn install(&self, firmware: &str) {
        self.common(Common::Install(firmware.to_owned())).await;
    }

    /// Says that it is another kind of device (`None`: what it is), from the next boot on.
    pub async fn pretend(&self, kind: Option<DeviceKind>) {
        self.common(Common::Pretend(kind)).await;
    }

    /// Reports a fault of its own.
    pub async fn raise_fault(&self, code: u32, text: &str) {
        let text = text.to_owned();
        self.common(Common::RaiseFault { code, text }).await;
    }

    /// The fault is over.
    pub async fn clear_fault(&self, code: u32) {
        self.common(Common::ClearFault { code }).await;
    }

    async fn common(&self, act: Common) {
        self.send(Act::Common(act)).await;
    }

    /// Returns when the device has done it. Only a device whose task has ended doesn't.
    pub(super) async fn own(&self, act: A) {
        self.send(Act::Own(act)).await;
    }

    async fn send(&self, act: Act<A>) {
        let (done, wait) = oneshot::channel();
        if self.acts.send((act, done)).await.is_ok() {
            let _ = wait.await;
        }
    }
}
