//! Where events are read: pages of the journal, on a thread of their own, so that a slow disk never holds up the table.
//!
//! The uplink keeps no queue: what it publishes it reads here, and what was not acknowledged it reads again.

use crate::journal::{Record, Seqno};
use crate::table::event::Head;

/// A journal that could not be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{text}")]
pub struct SourceError {
    /// For a person: which journal, and what was wrong.
    pub text: String,
}

/// A journal, as the uplink reads it. Blocking; lives on the reading thread.
pub trait EventSource: Send {
    /// UUID of the journal.
    ///
    /// # Errors
    ///
    /// When it can't be read.
    fn journal_id(&mut self) -> Result<String, SourceError>;

    /// The newest event; seqno 0 in an empty journal.
    ///
    /// # Errors
    ///
    /// When it can't be read.
    fn head(&mut self) -> Result<Head, SourceError>;

    /// The oldest event that is still there; `None` in an empty journal.
    ///
    /// # Errors
    ///
    /// When it can't be read.
    fn oldest(&mut self) -> Result<Option<Seqno>, SourceError>;

    /// Highest seqno up to which a broker acknowledged everything, as it is stored.
    ///
    /// # Errors
    ///
    /// When it can't be read.
    fn cursor(&mut self) -> Result<Seqno, SourceError>;

    /// Up to `max` events from `from` to `to` (both included), in order, without gaps.
    ///
    /// # Errors
    ///
    /// When they can't be read.
    fn page(&mut self, from: Seqno, to: Seqno, max: usize) -> Result<Vec<Record>, SourceError>;
}

/// Opens a journal for reading; asked again after an error.
pub type SourceOpener = Box<dyn FnMut() -> Result<Box<dyn EventSource>, SourceError> + Send>;
