//! One task per port: open, read, decode, translate to [`Input`], write what the device should
//! show, reopen. Imports `wire`, `table`, `time`; decides nothing about the game and knows no simulated device.

mod back_off;
mod digest;
mod flood;
mod follow;
mod holder;
mod identify;
mod link;
mod listing;
mod outside;
mod port;
mod quality;
mod report;
mod reporter;
mod tape;
mod translate;

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::{Notify, mpsc, watch};

use crate::table::indicators::{DeviceCommand, LampPicture, Readout, TumblerWish};
use crate::table::input::{Arrival, DeviceKind, Input};
use crate::time::{Clock, Uptime};
use crate::wire::message::from_device;
use crate::wire::session::Age;

pub use crate::wire::session::TumblerBuild;
pub use digest::{DigestAnswer, DigestAsk};
pub use follow::{Follower, Said};
pub use holder::Holders;
pub use identify::{ANSWERS_WITHIN, Answered, identify};
pub use listing::{ListedPort, Places, UsbIdentity, is_port, list, look};
pub use outside::{Answer, OpenPort, Ports, SerialPorts, Task};
pub use port::{Leads, Moved, OpenError};
pub use report::{
    Counts, Drift, Found, Identity, Kind, LastFault, LinkReport, LinkState, LongestSilence, Poor, RoundTrip,
    RoundTripEver,
};
pub use tape::{Cursor, Kept, Piece, TAPE_BYTES, Tape, What};

/// A port and what is expected behind it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortConfig {
    /// What must answer.
    pub kind: DeviceKind,
    /// The port; a symlink (`/dev/serial/by-id/...`) is followed anew at each opening.
    pub path: PathBuf,
    /// Bits a second; 9600 and up.
    pub baud: u32,
    /// The table's name, told to the device in the greeting.
    pub table: String,
    /// How many lamps the device must drive to show the layout; 0 for a device without.
    pub lamps_needed: u32,
    /// How a tumbler is built, which decides when its dice may be known; of no matter for other devices.
    pub tumbler: TumblerBuild,
}

/// What a device should show or obey: the whole of it, never a difference.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Wish {
    /// Nothing is known yet: nothing is sent.
    #[default]
    Nothing,
    /// For a tumbler.
    Tumbler(TumblerWish),
    /// For a terminal.
    Terminal(Readout),
    /// For lamps or lights.
    Lamps(LampPicture),
}

/// What a message means to the table when it comes from a device that was just greeted and whose clock isn't related to ours yet;
/// `None`: nothing. A port's task knows more; this is for whoever tries messages.
#[must_use]
pub fn meaning(kind: DeviceKind, body: from_device::Body, happened: Option<Uptime>) -> Option<Input> {
    translate::Memory::default().message(kind, body, happened, Age::Fresh, &|_| None)
}

/// The gateway's end of a port's task. Dropping it stops the task and closes the port.
#[derive(Debug)]
pub struct DeviceHandle {
    /// The newest wish; older ones that were not sent yet are forgotten.
    pub wish: watch::Sender<Wish>,
    /// Commands that can't be repeated, in order, after the wish. A command that waits when the link goes down is dropped.
    pub commands: mpsc::Sender<DeviceCommand>,
    /// Questions for the device's digest. It has one at a time; another takes its place.
    pub digests: mpsc::Sender<DigestAsk>,
    /// How the link stands. Changes of its state are announced at once, of its counters every 10 s; `borrow` is never older
    /// than about a second.
    pub report: watch::Receiver<LinkReport>,
    /// What went over the line last.
    pub tape: Arc<Tape>,
    ask_status: Arc<Notify>,
}

impl DeviceHandle {
    /// Asks the device for its whole status; it comes as an input of its kind, and nothing comes while the link is not up.
    pub fn ask_status(&self) {
        self.ask_status.notify_one();
    }
}

/// Commands that wait for a port's task; a person gives them one at a time.
const WAITING_COMMANDS: usize = 4;

/// Starts the port's task on the current tokio runtime, with the machine's serial ports. It sends what comes in to `inputs`, stamped
/// with `clock`; when there is no room, the device gets no acknowledgement and sends it again.
///
/// # Panics
/// Outside a tokio runtime.
#[must_use]
pub fn start(config: PortConfig, inputs: mpsc::Sender<Arrival>, clock: Arc<dyn Clock>) -> DeviceHandle {
    start_at(Arc::new(SerialPorts), config, inputs, clock)
}

/// The same, with these ports.
#[must_use]
pub fn start_at(
    ports: Arc<dyn Ports>,
    config: PortConfig,
    inputs: mpsc::Sender<Arrival>,
    clock: Arc<dyn Clock>,
) -> DeviceHandle {
    let (wish, wishes) = watch::channel(Wish::Nothing);
    let (commands, given) = mpsc::channel(WAITING_COMMANDS);
    let (digests, asked) = mpsc::channel(1);
    let ask_status = Arc::new(Notify::new());
    let ends = link::Ends {
        inputs,
        wishes,
        commands: given,
        digests: asked,
        ask_status: Arc::clone(&ask_status),
    };
    let tape = Arc::new(Tape::default());
    let (link, report) = link::Link::new(config, ends, clock, Arc::clone(&ports), Arc::clone(&tape));
    ports.run(Box::pin(link.run()));
    DeviceHandle {
        wish,
        commands,
        digests,
        report,
        tape,
        ask_status,
    }
}
