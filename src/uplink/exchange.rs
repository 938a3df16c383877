//! The words between a connection and whoever uses it: what goes out, what came, how it ended; and what is
//! wanted of whoever connects.

use super::address::BrokerAddress;
use super::reading::Reads;
use prost::bytes::Bytes;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::task::JoinHandle;

/// One connection. Dropped, it is cut without a DISCONNECT, and the broker publishes the last will.
pub trait Connected: Send {
    /// What happened next; one waits at a time. After the end it says that the connection is lost, again and again.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Signal>;

    /// Hands a publish over. It is sent in the order of the hand-overs, and [`Signal::Sent`] says so.
    ///
    /// # Errors
    ///
    /// When the client takes nothing more.
    fn publish(&self, publication: Publication) -> Result<(), Stuck>;

    /// Hands subscriptions over, as one packet.
    ///
    /// # Errors
    ///
    /// When the client takes nothing more.
    fn subscribe(&self, subscriptions: &[Subscription]) -> Result<(), Stuck>;

    /// Hands a DISCONNECT over; [`Signal::Disconnected`] follows when it is sent. The last will is not published then.
    ///
    /// # Errors
    ///
    /// When the client takes nothing more.
    fn disconnect(&self) -> Result<(), Stuck>;
}

/// What an uplink needs of the world: connections, chance, a reader of journals, and to be run.
pub trait Brokers: Send + Sync {
    /// Begins to connect. Must be called within a runtime; [`Signal::Connected`] or [`Signal::Lost`] follows within bounded time.
    ///
    /// # Errors
    ///
    /// When it can't even be begun.
    fn connect(&self, options: &ConnectOptions) -> Result<Box<dyn Connected>, ConnectError>;

    /// Any number from 0 up to but not including 1: many tables must not come back in the same moment.
    fn chance(&self) -> f64;

    /// Who reads journals.
    fn reads(&self) -> Reads;

    /// Runs the uplink's task.
    fn run(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) -> JoinHandle<()>;
}

/// How to connect.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// Where.
    pub address: BrokerAddress,
    /// As whom.
    pub client_id: String,
    /// User name and password; the password may be empty.
    pub login: Option<(String, String)>,
    /// PEM texts; needed for TLS.
    pub tls: Option<TlsTexts>,
    /// What the broker publishes, retained, when this connection ends without a DISCONNECT.
    pub will: Option<(String, Vec<u8>)>,
}

/// What PEM files say.
#[derive(Clone, Debug)]
pub struct TlsTexts {
    /// Certificates that may have signed the broker's.
    pub ca: PemFile,
    /// Own certificate chain and key.
    pub identity: Option<(PemFile, PemFile)>,
}

/// A PEM file that was read.
#[derive(Clone, Debug)]
pub struct PemFile {
    /// Where it lies, for whoever has to look at it.
    pub path: PathBuf,
    /// What it says.
    pub text: Vec<u8>,
}

/// A connection that can't even be begun.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// TLS without certificates to trust.
    #[error("{address} needs a ca")]
    NoCa {
        /// The broker.
        address: BrokerAddress,
    },
    /// A PEM file without what it must hold.
    #[error("{} can't be used: {reason}", path.display())]
    Pem {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The key is another certificate's.
    #[error("the key in {} does not belong to the table's certificate ({certificate}): put the pair in place together", key.display())]
    NoPair {
        /// Subject, end and file.
        certificate: String,
        /// The file.
        key: PathBuf,
    },
    /// A file of certificates or keys can't be read.
    #[error("{} can't be read: {source}", path.display())]
    Certificate {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// TLS can't be set up.
    #[error("TLS can't be set up")]
    Tls(#[source] rustls::Error),
    /// A file can't be read.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl ConnectError {
    /// Error and cause in one line.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self {
            ConnectError::Tls(cause) => format!("{self}: {cause}"),
            ConnectError::NoCa { .. }
            | ConnectError::Pem { .. }
            | ConnectError::NoPair { .. }
            | ConnectError::Certificate { .. }
            | ConnectError::File { .. } => self.to_string(),
        }
    }
}

impl From<ConnectError> for Loss {
    fn from(error: ConnectError) -> Loss {
        let text = error.in_words();
        match error {
            ConnectError::File { .. } => Loss::Broken(text),
            ConnectError::NoCa { .. }
            | ConnectError::Pem { .. }
            | ConnectError::NoPair { .. }
            | ConnectError::Certificate { .. }
            | ConnectError::Tls(_) => Loss::Certificate(text),
        }
    }
}

/// What the broker said when it took the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terms {
    /// Publishes that it takes before the first is acknowledged.
    pub receive_maximum: u16,
    /// Largest packet that it takes; `None`: any.
    pub max_packet: Option<u32>,
    /// It keeps retained messages.
    pub retains: bool,
    /// It takes QoS 1.
    pub takes_qos1: bool,
}

/// A reason, by the name that MQTT gives it.
pub type ReasonName = &'static str;

/// What a broker answers to a publish.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It has it.
    Taken,
    /// It has it, and nobody subscribes.
    Unheard,
    /// It will never take this payload.
    PayloadRefused,
    /// It does not take it now: its settings, its quota, its fault.
    Refused(ReasonName),
    /// Packet ids are mixed up.
    Confused,
}

/// A message of a subscription.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// Its topic.
    pub topic: String,
    /// It was kept by the broker, and sent because of the subscription.
    pub retained: bool,
    /// Its payload.
    pub payload: Bytes,
    /// Where an answer should go.
    pub response_topic: Option<String>,
    /// For the answer.
    pub correlation: Option<Bytes>,
}

/// Why a connection is over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Loss {
    /// It could not be made, or broke.
    Broken(String),
    /// The broker refuses this client.
    Refused(String),
    /// A certificate, of either side, is not taken.
    Certificate(String),
    /// The broker ended the connection right after the TLS handshake, without a word: most likely for the table's certificate.
    HungUp(String),
    /// Another client took the client id.
    TakenOver(String),
    /// A packet was too large for the broker, which it had not said before.
    TooLarge(String),
}

/// What happened on a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Signal {
    /// CONNACK.
    Connected(Terms),
    /// A subscription was answered; the refused ones by name.
    Subscribed(Vec<ReasonName>),
    /// The publish that was handed over earliest was sent under this packet id.
    Sent(u16),
    /// The broker answered for a packet id.
    Acknowledged(u16, Verdict),
    /// A message came.
    Message(Message),
    /// DISCONNECT was sent.
    Disconnected,
    /// Over. Nothing follows.
    Lost(Loss),
}

/// What goes out, always with QoS 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Publication {
    /// To this topic.
    pub topic: String,
    /// The broker keeps it.
    pub retained: Retention,
    /// Its payload.
    pub payload: Bytes,
    /// Where an answer should go.
    pub response_topic: Option<String>,
    /// Copied from the request.
    pub correlation: Option<Bytes>,
}

/// Whether a broker keeps a message for later subscribers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Retention {
    /// It does.
    Kept,
    /// It doesn't.
    Passing,
}

/// How to subscribe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Subscription {
    /// Topic filter.
    pub filter: String,
    /// What to do with messages that the broker has kept.
    pub retained: KeptMessages,
    /// 0 or 1.
    pub quality: Quality,
}

/// What a subscription wants of kept messages, and of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeptMessages {
    /// Send them, and whatever this client publishes too.
    Wanted,
    /// Never, and nothing that this client publishes.
    Never,
}

/// How surely messages of a subscription come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quality {
    /// A broker under load may drop them.
    AtMostOnce,
    /// Acknowledged.
    AtLeastOnce,
}

/// The client would not take it: its channel is full or its task has ended. The connection is of no use any longer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the MQTT client takes nothing more")]
pub struct Stuck;
