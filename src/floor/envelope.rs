//! What the rule needs of an event's bytes.

use super::{MAX_EVENT_BYTES, MAX_JOURNAL_ID_BYTES, Seqno, Stores};
use crate::table::event::{Body, Event, JournalStarted};
use prost::Message;
use sha2::{Digest, Sha256};

/// Identity, chain and bytes of an event.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Envelope {
    pub(super) journal_id: String,
    pub(super) seqno: Seqno,
    pub(super) previous: Option<[u8; 32]>,
    pub(super) sha256: [u8; 32],
    pub(super) bytes: Vec<u8>,
    /// When it is a `JournalStarted`.
    pub(super) started: Option<JournalStarted>,
}

impl Envelope {
    /// `None`: no event.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > MAX_EVENT_BYTES {
            return None;
        }
        let event = Event::decode(bytes).ok()?;
        if event.journal_id.is_empty() || event.journal_id.len() > MAX_JOURNAL_ID_BYTES || event.seqno == 0 {
            return None;
        }
        let started = match event.body {
            Some(Body::JournalStarted(started)) => Some(started),
            Some(_) | None => None,
        };
        Some(Envelope {
            journal_id: event.journal_id,
            seqno: event.seqno,
            previous: event.previous_sha256.try_into().ok(),
            sha256: Sha256::digest(bytes).into(),
            bytes: bytes.to_owned(),
            started,
        })
    }

    pub(super) fn into_stores(self) -> Stores {
        Stores {
            journal_id: self.journal_id,
            seqno: self.seqno,
            sha256: self.sha256,
            bytes: self.bytes,
        }
    }
}
