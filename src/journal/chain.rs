//! The chain as a machine without a file: each event names its number, its journal and the hash of the one before. PURE.

use super::{EVENT_MAX_BYTES, Record, Seqno};
use crate::table::event::Event;
use prost::Message;
use sha2::{Digest, Sha256};

/// SHA-256 of an event's bytes.
#[must_use]
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Journal and number alone, without the rest of the event.
#[derive(Clone, PartialEq, Message)]
struct Place {
    #[prost(string, tag = "3")]
    journal_id: String,
    #[prost(uint64, tag = "4")]
    seqno: u64,
}

/// What is wrong with a record by itself, without its neighbours: cheaper than decoding it.
///
/// # Errors
/// Its bytes are not those that were written, stand under another number, or in another journal.
pub fn check_alone(record: &Record, journal_id: &str) -> Result<(), BadRecord> {
    if sha256(&record.bytes) != record.sha256 {
        return Err(BadRecord::Bytes);
    }
    let place = Place::decode(&*record.bytes).map_err(|error| BadRecord::Undecodable(error.to_string()))?;
    if place.seqno != record.seqno {
        return Err(BadRecord::Number(place.seqno));
    }
    if place.journal_id != journal_id {
        return Err(BadRecord::Journal(place.journal_id));
    }
    Ok(())
}

/// What is wrong with one event.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadRecord {
    /// The number after the last one is not there.
    #[error("event {expected} is missing, the next is {found}")]
    Missing {
        /// The number that should have come.
        expected: Seqno,
        /// The number that came.
        found: Seqno,
    },
    /// Its bytes don't have the hash that was stored with them.
    #[error("its bytes are not those that were written")]
    Bytes,
    /// Its bytes are no event.
    #[error("it can't be decoded: {0}")]
    Undecodable(String),
    /// It is larger than an event may be.
    #[error("it has {0} bytes, more than an event may have")]
    TooLarge(usize),
    /// It says another number than the one it is stored under.
    #[error("it says it is event {0}")]
    Number(Seqno),
    /// It says another journal.
    #[error("it belongs to journal {0:?}")]
    Journal(String),
    /// It says another site or table.
    #[error("it belongs to site {site:?}, table {table:?}")]
    Owner {
        /// What it says.
        site: String,
        /// What it says.
        table: String,
    },
    /// It names another predecessor than the event before it.
    #[error("it does not follow from the event before it")]
    Previous,
    /// A checkpoint that names another hash than that of the event it reaches.
    #[error("its checkpoint through event {0} names another hash")]
    Checkpoint(Seqno),
    /// The list of checkpoints, from which a start begins, has a number that is none.
    #[error("event {0} is listed as a checkpoint and is none")]
    Listed(Seqno),
    /// A checkpoint that the list of checkpoints lacks.
    #[error("event {0} is a checkpoint and is not listed as one")]
    Unlisted(Seqno),
    /// Events before the oldest are gone, and no `EventsExpired` says so.
    #[error("the events before it are gone without a record of their deletion")]
    Unexplained,
}

/// Follows events in order.
#[derive(Clone, Debug)]
pub struct Chain {
    journal_id: String,
    site: String,
    table: String,
    next: Seqno,
    previous: Option<[u8; 32]>,
}

impl Chain {
    /// Expects event `next`; `previous` is the hash of the one before it (`None`: unknown, the first event's word is taken).
    #[must_use]
    pub fn new(journal_id: &str, site: &str, table: &str, next: Seqno, previous: Option<[u8; 32]>) -> Self {
        Chain {
            journal_id: journal_id.to_owned(),
            site: site.to_owned(),
            table: table.to_owned(),
            next,
            previous,
        }
    }

    /// The number that comes next.
    #[must_use]
    pub fn next(&self) -> Seqno {
        self.next
    }

    /// The hash of the event before the next, when it is known.
    #[must_use]
    pub fn previous(&self) -> Option<[u8; 32]> {
        self.previous
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// Why it isn't the next one; the chain stays where it was.
    pub fn take(&mut self, record: &Record) -> Result<Event, BadRecord> {
        if record.seqno != self.next {
            return Err(BadRecord::Missing {
                expected: self.next,
                found: record.seqno,
            });
        }
        if record.bytes.len() > EVENT_MAX_BYTES {
            return Err(BadRecord::TooLarge(record.bytes.len()));
        }
        if sha256(&record.bytes) != record.sha256 {
            return Err(BadRecord::Bytes);
        }
        let event = Event::decode(&*record.bytes).map_err(|error| BadRecord::Undecodable(error.to_string()))?;
        if event.seqno != record.seqno {
            return Err(BadRecord::Number(event.seqno));
        }
        if event.journal_id != self.journal_id {
            return Err(BadRecord::Journal(event.journal_id));
        }
        if event.site != self.site || event.table != self.table {
            return Err(BadRecord::Owner {
                site: event.site,
                table: event.table,
            });
        }
        if self.previous.is_some_and(|previous| event.previous_sha256 != previous) {
            return Err(BadRecord::Previous);
        }
        self.next = self.next.saturating_add(1);
        self.previous = Some(record.sha256);
        Ok(event)
    }
}
