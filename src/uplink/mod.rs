//! Journal to MQTT. The uplink is a reader of the journal with a cursor; it has no queue and never holds up the table.
//! Imports `journal`, `table`, `time`.
//!
//! Reading order: [`delivery`] (what is in flight, PURE), [`requests`] (what the floor may ask, PURE), `broker` (the one
//! file that names the MQTT client), then the tasks.

pub mod address;
pub mod alarms;
pub mod broker;
mod certificate;
mod credentials;
pub mod delivery;
pub mod desk;
mod doubts;
pub mod exchange;
mod farewell;
mod flow;
mod greeting;
mod heard;
mod keeper;
pub mod pace;
mod reading;
mod renewal;
pub mod report;
pub mod requests;
pub mod retained;
mod session;
pub mod source;
mod tls;
pub mod topic;
mod unread;
mod waiting;

pub use address::{BrokerAddress, Transport};
pub use broker::MqttBrokers;
pub use doubts::{CertificateDoubt, CertificateFile, doubts};
pub use exchange::{Brokers, Connected};
pub use reading::Reads;
pub use report::{UplinkReport, UplinkState};
pub use source::{EventSource, Extent, Page, SourceError, SourceOpener};

use crate::journal::{Journal, MovedAside, Newest, Seqno};
use crate::table::event::{ErrorCode, EventSetAsideReason, Head, SoftwareVerified, TableState};
use crate::table::input::Condition;
use crate::time::Clock;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// `[mqtt]`, as the program may rely on it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UplinkConfig {
    /// `[table] site`.
    pub site: String,
    /// `[table] id`.
    pub table: String,
    /// What every topic begins with; expanded, without a slash at its end.
    pub prefix: String,
    /// Where answers may go beside `{prefix}/responses/`.
    pub response_prefixes: Vec<String>,
    /// At least one; tried in turn.
    pub brokers: Vec<BrokerAddress>,
    /// MQTT client id.
    pub client_id: String,
    /// For `mqtts://` brokers; `None` only without any.
    pub tls: Option<TlsFiles>,
    /// User name and password; `None` where certificates or nothing will do.
    pub login: Option<Login>,
}

/// PEM files, read again at each connect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TlsFiles {
    /// Certificates that may have signed the broker's.
    pub ca: PathBuf,
    /// The table's own certificate and key.
    pub identity: Option<ClientIdentity>,
}

/// What a table shows to a broker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClientIdentity {
    /// Certificate chain, PEM.
    pub certificate: PathBuf,
    /// Private key, PEM.
    pub key: PathBuf,
}

/// A user name, and where its password is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Login {
    /// The name.
    pub username: String,
    /// Read again at each connect; one line, the end of the line is not part of it.
    pub password_file: Option<PathBuf>,
}

/// What the journal keeps for the uplink. The journal's handle is one.
pub trait Ledger: Send + Sync {
    /// Everything up to `cursor` is acknowledged. Never blocks; the latest wins.
    fn acknowledge(&self, cursor: Seqno);

    /// The number of the next connection: above every one before, and at least `at_least`.
    fn next_connection(&self, at_least: u64) -> Pin<Box<dyn Future<Output = u64> + Send + '_>>;

    /// The same for a journal that was moved aside.
    fn acknowledge_moved_aside(&self, journal_id: &str, cursor: Seqno);
}

impl Ledger for Journal {
    fn acknowledge(&self, cursor: Seqno) {
        Journal::acknowledge(self, cursor);
    }

    fn next_connection(&self, at_least: u64) -> Pin<Box<dyn Future<Output = u64> + Send + '_>> {
        Box::pin(Journal::next_connection(self, at_least))
    }

    fn acknowledge_moved_aside(&self, journal_id: &str, cursor: Seqno) {
        Journal::acknowledge_moved_aside(self, journal_id, cursor);
    }
}

/// Which journals came before this one, to tell a table that went back in time from one that went on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ancestry {
    /// These, and no others.
    Known(Vec<String>),
    /// Some predecessor could not be read: any journal may be it.
    Unreadable,
}

/// The journal, as the uplink needs it.
pub struct EventFeed {
    /// Where the cursor and the connection counter are kept.
    pub ledger: Arc<dyn Ledger>,
    /// Opens the journal for reading.
    pub source: SourceOpener,
    /// The journals that were moved aside with unacknowledged, readable events; oldest first. They are delivered first.
    pub undelivered: Vec<Undelivered>,
    /// UUID of the journal.
    pub journal_id: String,
    /// The journals before it.
    pub ancestry: Ancestry,
    /// Where delivery goes on: everything up to this is acknowledged.
    pub cursor: Seqno,
    /// The newest event that is durable.
    pub head: watch::Receiver<Head>,
    /// What the newest append wrote: an uplink that has everything before it need not read.
    pub newest: Newest,
}

/// A journal that was moved aside and is not delivered to its end.
pub struct Undelivered {
    /// Opens it.
    pub source: SourceOpener,
    /// Its UUID.
    pub journal_id: String,
    /// Everything up to this is acknowledged.
    pub cursor: Seqno,
    /// The last event of it that can be read.
    pub through: Seqno,
}

impl From<MovedAside> for Undelivered {
    fn from(moved: MovedAside) -> Self {
        Undelivered {
            source: source::journal_moved_aside(moved.path),
            journal_id: moved.journal_id,
            cursor: moved.cursor,
            through: moved.through,
        }
    }
}

/// What the gateway gives the uplink.
pub struct Feed {
    /// The journal; `None` when it could not be opened (the self-test failed): then only `Status` with its fault is published.
    pub events: Option<EventFeed>,
    /// The retained state, its head filled in.
    pub state: watch::Receiver<TableState>,
    /// Why the table cannot play, for `Status.fault`; empty: it can.
    pub fault: watch::Receiver<String>,
    /// What the gateway should know. The uplink waits for room without holding up anything else; 16 is plenty.
    pub notices: mpsc::Sender<Notice>,
    /// For intervals and for the fallback of the connection counter.
    pub clock: Arc<dyn Clock>,
    /// `Status.version`.
    pub version: String,
    /// Connections are numbered from here on at least: those that this run made before, with another journal or with none, were lower. Without
    /// a journal, which counts them, they are numbered just so.
    pub at_least: u64,
    /// Who makes digests when the floor asks.
    pub verifier: Arc<dyn Verifier>,
}

/// Digests on their way.
pub type Verifying = Pin<Box<dyn Future<Output = Result<SoftwareVerified, NotVerified>> + Send>>;

/// Makes digests with a seed of what runs, and has them recorded before they are told.
pub trait Verifier: Send + Sync {
    /// Takes up to a minute, since devices are asked. Dropping it loses the answer and nothing else.
    fn verify(&self, seed: Vec<u8>) -> Verifying;
}

/// Why there are no digests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotVerified {
    /// For the floor's program.
    pub code: ErrorCode,
    /// For a person.
    pub text: String,
}

/// What the gateway should know.
#[derive(Clone, PartialEq, Debug)]
pub enum Notice {
    /// A condition began or ended.
    Condition {
        /// Which.
        condition: Condition,
        /// For a person.
        text: String,
        /// It stands; else it is over.
        standing: bool,
    },
    /// An event of this journal will not be published: to be recorded as `EventSetAside`.
    SetAside {
        /// Its number.
        seqno: Seqno,
        /// Why.
        reason: EventSetAsideReason,
    },
    /// The broker's retained state is ahead of the journal, or of a journal that none here succeeds: the disk went back in
    /// time. Nothing has been published on this connection and nothing will be: the gateway stops this uplink, begins a new
    /// journal whose predecessor is `found` (or what this journal holds of it, when it is the same journal) and starts anew.
    RolledBack {
        /// The retained head.
        found: Head,
    },
}

/// The running uplink.
pub struct UplinkHandle {
    /// What it says of itself.
    pub report: watch::Receiver<UplinkReport>,
    stop: watch::Sender<Stopping>,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stopping {
    No,
    Asked,
}

impl UplinkHandle {
    /// A clean stop: events that are durable are delivered for at most 10 s, then `Status` offline is published and
    /// acknowledged, and the connection is closed. Without a connection it returns at once.
    pub async fn stop(self) {
        self.stop.send_replace(Stopping::Asked);
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the uplink ended by a defect");
        }
    }
}

/// Starts delivering to real brokers. Must be called within the daemon's runtime.
///
/// # Errors
///
/// When the reading thread can't be started.
pub fn start(config: UplinkConfig, feed: Feed) -> Result<UplinkHandle, std::io::Error> {
    start_at(Arc::new(broker::MqttBrokers), config, feed)
}

/// The same, with these brokers.
///
/// # Errors
///
/// When the reading thread can't be started.
pub fn start_at(brokers: Arc<dyn Brokers>, config: UplinkConfig, feed: Feed) -> Result<UplinkHandle, std::io::Error> {
    let (say, report) = watch::channel(UplinkReport::default());
    let (stop, stopping) = watch::channel(Stopping::No);
    let keeper = keeper::Keeper::new(Arc::clone(&brokers), config, feed, say, stopping)?;
    let task = brokers.run(Box::pin(keeper.run()));
    Ok(UplinkHandle { report, stop, task })
}
