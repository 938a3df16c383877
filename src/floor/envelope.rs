//! What the rule needs of an event's bytes.

use super::Seqno;
use crate::table::event::{Body, Event, JournalStarted, Predecessor};
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
    /// Of a `JournalStarted`: its predecessor, if it names one.
    pub(super) predecessor: Option<Predecessor>,
}

impl Envelope {
    /// `None`: no event.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let event = Event::decode(bytes).ok()?;
        if event.journal_id.is_empty() || event.seqno == 0 {
            return None;
        }
        let predecessor = match event.body {
            Some(Body::JournalStarted(JournalStarted { predecessor, .. })) => predecessor,
            Some(_) | None => None,
        };
        Some(Envelope {
            journal_id: event.journal_id,
            seqno: event.seqno,
            previous: event.previous_sha256.try_into().ok(),
            sha256: Sha256::digest(bytes).into(),
            bytes: bytes.to_owned(),
            predecessor,
        })
    }
}
