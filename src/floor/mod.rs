//! The consumer's rule, as a library for the floor's side of the events topic. PURE: `now` comes in, what is to be stored,
//! asked and alarmed goes out.
//!
//! Per journal a consumer keeps n, up to which it has stored everything, and the SHA-256 of event n. The next event whose
//! `previous_sha256` equals it is stored. An event up to n is a repeat when its bytes are the stored ones, else a fork: both
//! are kept, and an alarm is raised. An event beyond the next one is held, in bounds, and the gap is asked for. What the
//! gateway no longer has is a permanent gap. The wall clock orders nothing.
//!
//! ```
//! use tablegate::floor::{Begin, Consumer, Finding};
//! use tablegate::time::Uptime;
//!
//! let mut consumer = Consumer::new(Begin::AtFirst);
//! for finding in consumer.take(Uptime::ZERO, b"not an event", &tablegate::floor::Hashes::default()) {
//!     assert_eq!(finding, Finding::Malformed);
//! }
//! ```

mod consumer;
mod envelope;
mod track;

pub use consumer::{Ask, Begin, Consumer};

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// A number in a journal: 1, 2, 3 ... without gaps.
pub type Seqno = u64;

/// Events held per journal while a gap is asked for: what one replay brings. Beyond it the youngest are dropped; they are
/// asked for again when it is their turn.
pub const MAX_HELD: usize = 1000;
/// Journals kept track of. A table has a new one only when a disk failed.
pub const MAX_JOURNALS: usize = 64;
/// A gap that only a retained head shows may still be on its way: it is asked for when no event has come for so long.
pub const QUIET: Duration = Duration::from_secs(5);
/// An ask without an answer is repeated after so long.
pub const ASK_AGAIN_AFTER: Duration = Duration::from_secs(10);
/// So many whole replays that don't bring the event asked for: it is gone for good.
pub const TRIES: u32 = 3;

/// What a consumer has stored of a journal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Known {
    /// UUID of the journal.
    pub journal_id: String,
    /// Everything up to this is stored (or gone for good).
    pub seqno: Seqno,
    /// SHA-256 of that event's bytes; `None` at the start and behind a permanent gap.
    pub sha256: Option<[u8; 32]>,
}

/// What a consumer's store is asked.
pub trait Stored {
    /// SHA-256 of a stored event's bytes; `None` when it isn't there any longer.
    fn sha256(&self, journal_id: &str, seqno: Seqno) -> Option<[u8; 32]>;
}

/// What came of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    /// The next event: to be stored.
    Store(Stores),
    /// An event that is stored or held already, byte by byte. Nothing to do.
    Repeat,
    /// An event up to n that the store no longer has: it can't be told from a fork.
    Unverifiable {
        /// Its journal.
        journal_id: String,
        /// Its number.
        seqno: Seqno,
    },
    /// Alarm: another event of the same identity. Keep both.
    Fork {
        /// Its journal.
        journal_id: String,
        /// Its number.
        seqno: Seqno,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// Alarm: a retained head names another SHA-256 than the stored event has.
    HeadDiffers {
        /// Its journal.
        journal_id: String,
        /// Its number.
        seqno: Seqno,
    },
    /// Alarm: the next event doesn't name the one before it. It is stored all the same.
    ChainBroken(Stores),
    /// Alarm: a journal that doesn't name a journal known here as its predecessor.
    Unannounced {
        /// The journal.
        journal_id: String,
    },
    /// Held until the events before it have come.
    Held {
        /// Its journal.
        journal_id: String,
        /// Its number.
        seqno: Seqno,
    },
    /// There is no room to hold it; it will be asked for.
    Dropped {
        /// Its journal.
        journal_id: String,
        /// Its number.
        seqno: Seqno,
    },
    /// These events are gone for good: to be recorded. What follows goes on behind them.
    Gap {
        /// The journal.
        journal_id: String,
        /// The first that is missing.
        from: Seqno,
        /// The last that is missing.
        to: Seqno,
    },
    /// No event of this product.
    Malformed,
}

/// An event to be stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stores {
    /// Its journal.
    pub journal_id: String,
    /// Its number.
    pub seqno: Seqno,
    /// SHA-256 of its bytes.
    pub sha256: [u8; 32],
    /// Its exact bytes.
    pub bytes: Vec<u8>,
}

impl Finding {
    /// Somebody must look.
    #[must_use]
    pub fn is_alarm(&self) -> bool {
        match self {
            Finding::Fork { .. }
            | Finding::HeadDiffers { .. }
            | Finding::ChainBroken(_)
            | Finding::Unannounced { .. }
            | Finding::Gap { .. } => true,
            Finding::Store(_)
            | Finding::Repeat
            | Finding::Unverifiable { .. }
            | Finding::Held { .. }
            | Finding::Dropped { .. }
            | Finding::Malformed => false,
        }
    }
}

/// Hashes of recent events, for a consumer that stores nothing else.
#[derive(Clone, Debug, Default)]
pub struct Hashes {
    by_identity: BTreeMap<(String, Seqno), [u8; 32]>,
    order: VecDeque<(String, Seqno)>,
}

/// Hashes kept by [`Hashes`].
pub const MAX_HASHES: usize = 10_000;

impl Hashes {
    /// Keeps the hash of a stored event, and forgets the oldest beyond [`MAX_HASHES`].
    pub fn keep(&mut self, stores: &Stores) {
        let identity = (stores.journal_id.clone(), stores.seqno);
        if self.by_identity.insert(identity.clone(), stores.sha256).is_none() {
            self.order.push_back(identity);
        }
        if self.order.len() > MAX_HASHES
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_identity.remove(&oldest);
        }
    }
}

impl Stored for Hashes {
    fn sha256(&self, journal_id: &str, seqno: Seqno) -> Option<[u8; 32]> {
        self.by_identity.get(&(journal_id.to_owned(), seqno)).copied()
    }
}
