//! What the uplink says of itself, for `status` and the technician.

use crate::journal::Seqno;
use serde::{Deserialize, Serialize};

/// Where the connection stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UplinkState {
    /// Not started, or stopped.
    #[default]
    Stopped,
    /// A connection is being made.
    Connecting,
    /// Connected; the retained picture is looked at, and nothing is published yet.
    Greeting,
    /// Birth and state are published; events flow.
    Online,
    /// The last connection ended; the next one is waited for.
    Waiting,
    /// The floor knows more than the journal: nothing is published until there is a new journal.
    RolledBack,
}

/// What the uplink says of itself. Counters run since the daemon started.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct UplinkReport {
    /// Where the connection stands.
    pub state: UplinkState,
    /// The broker of the last attempt; empty before the first.
    pub broker: String,
    /// Since when `state` is what it is: microseconds since the daemon started.
    pub since_us: u64,
    /// Since when no broker has taken events, in microseconds since the daemon started; `None` while one does.
    #[serde(default)]
    pub away_since_us: Option<u64>,
    /// `Status.connection` of the last attempt; 0 before the first.
    pub connection: u64,
    /// How often a connection was lost or could not be made.
    pub failures: u64,
    /// Events given to a broker, repeats included.
    pub published: u64,
    /// Events that a broker acknowledged, repeats included.
    pub acknowledged: u64,
    /// Events given to the broker and not yet acknowledged.
    pub in_flight: u64,
    /// Highest seqno up to which a broker acknowledged everything.
    pub cursor: Seqno,
    /// Events after the cursor.
    pub backlog: u64,
    /// Events after the cursor when delivery began.
    #[serde(default)]
    pub backlog_at_start: u64,
    /// The newest event of the journal in use when `backlog` was counted.
    #[serde(default)]
    pub head: Seqno,
    /// Events that are done with, each once: acknowledged, or passed over. What waited at the start and what was journalled since are
    /// these, those that can't be read, and the backlog.
    #[serde(default)]
    pub settled: u64,
    /// Events of a journal that was moved aside that can't be read.
    #[serde(default)]
    pub unreadable: u64,
    /// Publishes that the broker answered with a refusal of that one event. What was published is what was acknowledged, these, what
    /// is in flight, and what was in flight when a connection ended.
    #[serde(default)]
    pub rejected: u64,
    /// Publishes that were in flight when their connection ended; they are sent again.
    #[serde(default)]
    pub unanswered: u64,
    /// Connections that were tried.
    #[serde(default)]
    pub connects: u64,
    /// Events that no broker will take.
    pub set_aside: u64,
    /// Events acknowledged while nobody subscribed.
    pub unheard: u64,
    /// Requests answered.
    pub requests: u64,
    /// Requests refused: malformed, busy, or with a response topic that is not allowed.
    pub refused_requests: u64,
    /// What went wrong last; empty: nothing yet.
    pub last_error: String,
}
