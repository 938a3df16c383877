//! The consumer's rule, as a library for the floor's side of the events topic. PURE: `now` comes in, what is to be stored,
//! asked and alarmed goes out.
//!
//! Per journal a consumer keeps n, up to which it has stored everything, and the SHA-256 of event n. The next event whose
//! `previous_sha256` equals it is stored. An event up to n is a repeat when its bytes are the stored ones, else a fork: both
//! are kept, and an alarm is raised. An event beyond the next one is held, in bounds, and the gap is asked for. What the
//! gateway no longer has is a permanent gap. A retained head beyond n is a gap as well, once it has been quiet for [`QUIET`].
//! A journal names the one before it; one that belongs to no known journal is an alarm. The wall clock orders nothing.
//!
//! # How to use it
//!
//! Keep one [`Consumer`] a table. Give it each message, do what each [`Finding`] says, and publish what [`Consumer::ask`] wants:
//! after each message, and when [`Consumer::looks_at`] says so.
//!
//! **What must be kept over a restart**, in one transaction with the events that a message brought: the bytes of each event that is
//! to be stored (or at least their SHA-256, for [`Stored`]), and [`Consumer::known`]. What is held is not kept: it is asked for
//! again (write it down as well where the table may have let it go by then). Acknowledge a message to the broker after that, not
//! before; one that is held as soon as it is held, for a broker sends no more than its window without acknowledgements.
//!
//! ```
//! use std::collections::BTreeMap;
//! use tablegate::floor::{Ask, Begin, Consumer, Finding, Known, Seqno, Stored, Stores};
//! use tablegate::table::event::{Head, Response};
//! use tablegate::time::Uptime;
//!
//! /// Stands for a database: events, and how far each journal is known.
//! #[derive(Default)]
//! struct Database {
//!     events: BTreeMap<(String, Seqno), Stores>,
//!     known: Vec<Known>,
//! }
//!
//! impl Stored for Database {
//!     fn sha256(&self, journal_id: &str, seqno: Seqno) -> Option<[u8; 32]> {
//!         let stores = self.events.get(&(journal_id.to_owned(), seqno))?;
//!         Some(stores.sha256)
//!     }
//! }
//!
//! enum Message {
//!     Event(Vec<u8>),
//!     HeadOfStateOrStatus(Head),
//!     Answer(Response),
//! }
//!
//! fn on_message(consumer: &mut Consumer, database: &mut Database, now: Uptime, message: Message) -> Option<Ask> {
//!     let findings = match message {
//!         Message::Event(bytes) => consumer.take(now, &bytes, database),
//!         Message::HeadOfStateOrStatus(head) => consumer.take_head(now, &head, database),
//!         Message::Answer(answer) => consumer.take_answer(now, &answer, database),
//!     };
//!     for finding in findings {
//!         if finding.is_alarm() {
//!             eprintln!("somebody must look: {finding:?}");
//!         }
//!         if let Finding::Store(stores) | Finding::ChainBroken(stores) = finding {
//!             database.events.insert((stores.journal_id.clone(), stores.seqno), stores);
//!         }
//!     }
//!     database.known = consumer.known().cloned().collect();
//!     consumer.ask(now)
//! }
//!
//! let (mut consumer, mut database) = (Consumer::new(Begin::AtFirst), Database::default());
//! let now = Uptime::ZERO;
//! assert_eq!(on_message(&mut consumer, &mut database, now, Message::Event(b"no event".to_vec())), None);
//! let head = Head { journal_id: "0d3b9f6e-5f1c-4b38-8f7e-2f6f3c1a9b10".to_owned(), seqno: 3, sha256: vec![7; 32] };
//! assert_eq!(on_message(&mut consumer, &mut database, now, Message::HeadOfStateOrStatus(head)), None);
//! // The three events may be on their way: they are asked for when it stays quiet.
//! let ask = consumer.ask(consumer.looks_at().unwrap()).unwrap();
//! assert_eq!((ask.from_seqno, ask.to_seqno), (1, 0));
//! // After a restart it goes on from what was kept, and knows what it was promised.
//! let consumer = Consumer::resume(database.known, now);
//! assert!(consumer.is_missing_any());
//! ```
//!
//! # Bounds
//!
//! Whatever comes, a consumer keeps at most [`MAX_JOURNALS`] journals and holds at most [`MAX_HELD`] events of [`MAX_EVENT_BYTES`]
//! each: some 8 MiB.

mod consumer;
mod envelope;
mod lineage;
mod track;

pub use consumer::{Ask, Begin, Consumer};

use crate::signing::Keys;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// A number in a journal: 1, 2, 3 ... without gaps.
pub type Seqno = u64;

/// Events held while gaps are asked for: what one replay brings. Beyond it the youngest of the journal that holds most are dropped;
/// they are asked for again when it is their turn.
pub const MAX_HELD: usize = 1000;
/// Journals kept track of. A table has a new one only when a disk failed.
pub const MAX_JOURNALS: usize = 64;
/// An event's bytes at most, as the gateway publishes them. What is larger is none.
pub const MAX_EVENT_BYTES: usize = 8 * 1024;
/// A journal's id at most, in bytes: a UUID has 36.
pub const MAX_JOURNAL_ID_BYTES: usize = 64;
/// A gap that only a retained head shows may still be on its way: it is asked for when no event has come for so long.
pub const QUIET: Duration = Duration::from_secs(5);
/// An ask without an answer is repeated after so long.
pub const ASK_AGAIN_AFTER: Duration = Duration::from_secs(10);
/// So many whole replays that don't bring the event asked for: it is gone for good.
pub const TRIES: u32 = 3;

/// A table that signs makes a checkpoint every 10,000 events, and again after as many when one could not be made.
pub const LONGEST_UNSIGNED: u64 = 20_000;
/// A checkpoint names the event right before it; a step of the clock may come between. One that names an older event was copied.
const NEAR: usize = 2;

/// What a consumer has stored of a journal, and knows of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Known {
    /// UUID of the journal.
    pub journal_id: String,
    /// Everything up to this is stored (or gone for good).
    pub seqno: Seqno,
    /// SHA-256 of that event's bytes; `None` at the start and behind a permanent gap.
    pub sha256: Option<[u8; 32]>,
    /// The newest event that it is said to have: by a head, by the journal after it, or by an event that came. Those up to it are
    /// asked for.
    pub promised: Seqno,
    /// SHA-256 that was said with it; `None`: none was, or that event has come.
    pub promised_sha256: Option<[u8; 32]>,
    /// What its first event says of the journal before it.
    pub beginning: Beginning,
    /// It belongs to the journals of this table, or the alarm that it doesn't was raised.
    pub is_announced: bool,
    /// Everything up to this is proven by a signed checkpoint; 0: nothing is.
    pub proven_through: Seqno,
}

impl Known {
    /// A journal of which nothing is stored.
    #[must_use]
    pub fn nothing_of(journal_id: &str) -> Known {
        Known {
            journal_id: journal_id.to_owned(),
            seqno: 0,
            sha256: None,
            promised: 0,
            promised_sha256: None,
            beginning: Beginning::Unread,
            is_announced: false,
            proven_through: 0,
        }
    }
}

/// What is known of the journal before one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Beginning {
    /// Its first event is not stored yet.
    Unread,
    /// It names this one.
    After {
        /// The journal before it.
        journal_id: String,
        /// The last event that the table had of it.
        last_seqno: Seqno,
        /// SHA-256 of that event's bytes.
        last_sha256: Option<[u8; 32]>,
    },
    /// It names none.
    First,
    /// Its first event is gone, or was never wanted.
    Unknown,
}

/// Why a journal follows another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Succession {
    /// The one before it was damaged.
    MovedAside,
    /// The one before it was an older copy of itself: events that were published are not in it.
    RolledBack,
}

/// What judging an event needs beside it.
struct Context<'a> {
    keys: &'a Keys,
    stored: &'a dyn Stored,
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
    /// An event up to n that the store doesn't have: it fell into a permanent gap and came after all, or the store has let it go.
    /// It can't be told from a fork. Keep it where there is a gap.
    Unverifiable(Stores),
    /// Alarm: another event of the same identity. Keep both.
    Fork(Stores),
    /// Alarm: a retained head names another SHA-256 than the stored event has.
    HeadDiffers {
        /// Its journal.
        journal_id: String,
        /// Its number.
        seqno: Seqno,
    },
    /// Alarm: the next event doesn't name the one before it. It is stored all the same.
    ChainBroken(Stores),
    /// Alarm: a journal that doesn't belong to those known here: it names none of them, and none names it.
    Unannounced {
        /// The journal.
        journal_id: String,
    },
    /// Alarm: a journal beyond [`MAX_JOURNALS`]; nothing of it is kept.
    TooManyJournals {
        /// The journal.
        journal_id: String,
    },
    /// A journal began because of what happened to the one before it. An alarm when that was rolled back: what was stored of it
    /// beyond `last_seqno` is not known at the table any longer. Keep it.
    Succeeded {
        /// The new journal.
        journal_id: String,
        /// The one before it.
        predecessor: String,
        /// What happened to that.
        succession: Succession,
        /// The last event that the table has of it.
        last_seqno: Seqno,
        /// The last event of it that is stored here; `None`: it isn't known here.
        stored_through: Option<Seqno>,
    },
    /// Alarm: the table says that its journal doesn't reach up to this event, which came and was held. It is held no longer; keep it
    /// beside the journal.
    Beyond(Stores),
    /// Alarm: a head promised these events, and the table's journal doesn't have them.
    NotThere {
        /// The journal.
        journal_id: String,
        /// The first of them.
        from: Seqno,
        /// The last of them.
        to: Seqno,
    },
    /// Alarm: a checkpoint whose signature is wrong, or was made for another place.
    WrongSignature {
        /// The journal.
        journal_id: String,
        /// The checkpoint's number.
        seqno: Seqno,
    },
    /// Alarm: a checkpoint that no given key has signed.
    Unsigned {
        /// The journal.
        journal_id: String,
        /// The checkpoint's number.
        seqno: Seqno,
        /// Fingerprint of the key that it names; `None`: it isn't signed.
        key_id: Option<String>,
    },
    /// Alarm: more than [`LONGEST_UNSIGNED`] events without a checkpoint that a given key has signed.
    NoCheckpoint {
        /// The journal.
        journal_id: String,
        /// The event up to which there is none.
        seqno: Seqno,
        /// Everything up to this is proven by a signed checkpoint.
        proven_through: Seqno,
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
    /// Alarm: these events are gone for good: to be recorded. What follows goes on behind them.
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
            Finding::Fork(_)
            | Finding::HeadDiffers { .. }
            | Finding::ChainBroken(_)
            | Finding::Unannounced { .. }
            | Finding::TooManyJournals { .. }
            | Finding::Beyond(_)
            | Finding::NotThere { .. }
            | Finding::WrongSignature { .. }
            | Finding::Unsigned { .. }
            | Finding::NoCheckpoint { .. }
            | Finding::Gap { .. } => true,
            Finding::Succeeded { succession, .. } => *succession == Succession::RolledBack,
            Finding::Store(_)
            | Finding::Repeat
            | Finding::Unverifiable(_)
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
