//! The loop that owns the table, and what starts and stops whom. Imports every room below it; nobody below imports it.
//!
//! Decide, append, apply, act: the table decides, the journal makes it durable, the table applies it, and only then do
//! lamps, readout and broker learn of it.

mod approval;
mod calm;
mod capture;
pub mod clock;
mod counts;
#[cfg(test)]
mod expiry_tests;
mod inputs;
#[cfg(test)]
mod loop_tests;
mod notify;
mod outlets;
mod outside;
mod recorder;
mod restore;
pub mod rounds;
mod self_test;
mod start;
mod store;
mod table_loop;
#[cfg(test)]
pub(crate) mod testing;
mod two_up_round;
mod upkeep;
mod verify;
pub mod view;
mod volatile;

pub use approval::{ApprovalFile, Approved, Said, Software, SoftwareView, Standing};
pub use capture::{Captured, Entry, Missed, Since, Watcher};
pub use clock::{ClockSource, Synchronisation, SystemClock};
pub use counts::{APPEND_BUCKETS_US, Counts, PHASE_BUCKETS_MS, PhaseCounts, SPIN_REASONS};
pub use outside::{Machine, Outside};
pub use recorder::MAX_EVENT_BYTES;
pub use rounds::{RoundEnd, RoundTally, RoundView, Rounds, Turn, VOID_REASONS, turn};
pub use start::{Defect, Running, start, start_in};
pub use store::{Answer, Events, Found, Fresh, Pending, Room, Shelf, Store, Verified};
pub use two_up_round::TwoUpRound;
pub use verify::{MAX_SEED, VerifyRefusal};
pub use view::{CheckView, DeviceView, FindingView, JournalView, LockView, StateView, TableView, TestView};

pub use crate::device::Kind as LineOf;
use crate::device::{LinkReport, PortConfig};
use crate::journal::JournalConfig;
use crate::signing::Signer;
use crate::table::event::{SoftwareVerified, TableState};
use crate::table::input::{Arrival, Asker, Input, OperatorAct, Person};
use crate::table::rejection::Rejection;
use crate::table::{Table, TableConfig};
use crate::time::{Clock, Uptime};
use crate::uplink::{UplinkConfig, UplinkReport};
use inputs::{Asked, Peek};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot, watch};

/// What the loop is started with. Checked by whoever makes it.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// `[table] site`.
    pub site: String,
    /// `[table] id`.
    pub table: String,
    /// The game and its settings.
    pub game: TableConfig,
    /// Where "synchronised" comes from.
    pub clock: ClockSource,
    /// SHA-256 of the effective configuration in canonical form.
    pub config_sha256: [u8; 32],
    /// That form, for digests with a seed.
    pub config_text: String,
    /// The file of approved digests.
    pub approval: ApprovalFile,
    /// Signs checkpoints; `None`: they stay unsigned.
    pub signer: Option<Arc<Signer>>,
}

/// What the rooms around the loop are started with.
#[derive(Clone, Debug)]
pub struct Rooms {
    /// One for each device.
    pub ports: Vec<PortConfig>,
    /// The journal.
    pub journal: JournalConfig,
    /// The floor.
    pub uplink: UplinkConfig,
}

/// What the table can be asked and told from outside. Cheap to clone; whoever holds one can't hold the table up.
#[derive(Clone)]
pub struct Handle {
    clock: Arc<dyn Clock>,
    people: mpsc::Sender<Asked>,
    peeks: mpsc::Sender<Peek>,
    table: watch::Receiver<Arc<TableView>>,
    state: watch::Receiver<TableState>,
    reports: watch::Receiver<Reports>,
    counts: watch::Receiver<Counts>,
    stop: Arc<watch::Sender<bool>>,
    verifier: verify::Desk,
}

/// Everything that can be looked at, put together when somebody looks.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct View {
    /// The table, after its newest event.
    #[serde(flatten)]
    pub table: TableView,
    /// How well each device's line works.
    pub links: Vec<LinkReport>,
    /// The connection to the floor; `None` before it was started.
    pub uplink: Option<UplinkReport>,
}

/// Where the other rooms say how they are; read only when somebody looks.
#[derive(Clone, Default)]
struct Reports {
    links: Vec<watch::Receiver<LinkReport>>,
    lines: Vec<capture::Line>,
    uplink: Option<watch::Receiver<UplinkReport>>,
}

/// Why a person's act was not done.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// The rules or the order of play make it impossible now.
    #[error("{}", .0.text)]
    Rejected(Rejection),
    /// What happens can't be recorded, so nothing may happen.
    #[error(
        "nothing can be recorded ({text}), so nothing was done; when recording works again, a supervisor unlocks the table"
    )]
    JournalFailed {
        /// The last error.
        text: String,
    },
    /// The self-test failed: the table does nothing until it has passed.
    #[error(
        "the self-test failed ({text}): the table can't be used until the cause is gone; it is tried again every ten seconds"
    )]
    SelfTestFailed {
        /// What failed.
        text: String,
    },
    /// The daemon is stopping.
    #[error("the daemon is stopping: nothing was done")]
    Stopping,
}

impl Handle {
    /// What the loop knows, newest value first; changes wake the receiver.
    #[must_use]
    pub fn table(&self) -> watch::Receiver<Arc<TableView>> {
        self.table.clone()
    }

    /// The state that the floor is told, as the newest event left it.
    #[must_use]
    pub fn state(&self) -> TableState {
        self.state.borrow().clone()
    }

    /// Everything there is to see now.
    #[must_use]
    pub fn look(&self) -> View {
        let reports = self.reports.borrow();
        let mut table = TableView::clone(&self.table.borrow());
        table.uptime_ms = self.clock.uptime().as_micros() / 1000;
        View {
            table,
            links: reports.links.iter().map(|link| link.borrow().clone()).collect(),
            uplink: reports.uplink.as_ref().map(|uplink| uplink.borrow().clone()),
        }
    }

    /// What the loop has done. Looked at after [`Handle::look`], it is never behind what the uplink says there.
    #[must_use]
    pub fn counts(&self) -> Counts {
        *self.counts.borrow()
    }

    /// Does `act` in the name of `person`; the sentence says what was done.
    ///
    /// # Errors
    /// A [`Refusal`] says why nothing was done.
    pub async fn act(&self, person: Person, act: OperatorAct) -> Result<String, Refusal> {
        let (reply, answer) = oneshot::channel();
        self.ask(Input::Operator { person, act }, Some(reply)).await?;
        answer.await.unwrap_or(Err(Refusal::Stopping))
    }

    /// A copy of the table as it is now, and the time at which it was taken: what would happen can be tried on it, and play goes on.
    ///
    /// # Errors
    /// The table does nothing now.
    pub async fn peek(&self) -> Result<(Uptime, Table), Refusal> {
        let (reply, answer) = oneshot::channel();
        self.peeks.send(Peek(reply)).await.map_err(|_| Refusal::Stopping)?;
        let table = answer.await.unwrap_or(Err(Refusal::Stopping))?;
        Ok((self.clock.uptime(), table))
    }

    /// A person asked for an act that they may not ask for so: the journal keeps it.
    pub async fn forbidden(&self, person: Person, act: OperatorAct, text: String) {
        // A stopping table records no more refusals.
        let _stopping = self.ask(Input::ActForbidden { person, act, text }, None).await;
    }

    /// The connection `connection` has ended: what belonged to it (Test, an opening) ends too.
    pub async fn operator_gone(&self, connection: u64) {
        // A stopping table forgets both anyway.
        let _stopping = self.ask(Input::OperatorGone { connection }, None).await;
    }

    /// Makes digests with `seed` of everything that runs, and has them recorded; takes up to a minute, since devices are asked.
    ///
    /// # Errors
    /// A [`VerifyRefusal`] says why there are none.
    pub async fn verify(&self, person: Person, seed: Vec<u8>) -> Result<SoftwareVerified, VerifyRefusal> {
        self.verifier.ask(Asker::Person(person), seed).await
    }

    /// Begins a clean stop.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    async fn ask(&self, input: Input, reply: Option<oneshot::Sender<Result<String, Refusal>>>) -> Result<(), Refusal> {
        let arrival = Arrival {
            at: self.clock.uptime(),
            input,
        };
        let asked = Asked { arrival, reply };
        self.people.send(asked).await.map_err(|_| Refusal::Stopping)
    }
}
