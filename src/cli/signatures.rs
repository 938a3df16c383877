//! Public keys from files, and what the signatures of a journal's checkpoints prove with them.

use super::ending::Failure;
use crate::counted::counted;
use crate::journal::{Record, Seqno};
use crate::signing::{Keys, Verdict};
use crate::table::event::Event;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A checkpoint names the event right before it; a step of the clock may come between. One that names an older event was copied.
const NEAR: usize = 2;

/// The table makes a checkpoint every 10,000 events, and again after as many when one could not be made.
const LONGEST_UNSIGNED: u64 = 20_000;

/// Wrong signatures that are listed: of a forged journal all are.
const MAX_LISTED: usize = 20;

/// Reads public keys, PEM.
///
/// # Errors
/// Exit status 2: a file that can't be read or is no public Ed25519 key.
pub fn keys_in(files: &[PathBuf]) -> Result<(Keys, Vec<KeyFile>), Failure> {
    let mut keys = Keys::new();
    let mut read = Vec::new();
    for file in files {
        let text = text(file)?;
        let key_id = keys
            .add_pem(&text)
            .map_err(|error| Failure::usage(format!("{} {error}", file.display())))?;
        read.push(KeyFile {
            key_id,
            file: file.clone(),
            checkpoints: 0,
        });
    }
    Ok((keys, read))
}

fn text(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|error| Failure::usage(format!("{}: {error}", file.display())))
}

/// A key that was given, and what it has signed.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct KeyFile {
    /// Its fingerprint.
    pub key_id: String,
    /// Where it was read.
    pub file: PathBuf,
    /// Checkpoints with a good signature by it.
    pub checkpoints: u64,
}

/// What the signatures of a journal say.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Signatures {
    /// The keys that were given.
    pub keys: Vec<KeyFile>,
    /// Everything up to this event is proven by a signature; 0: nothing is.
    pub proven_through: Seqno,
    /// Checkpoints without a signature.
    pub unsigned: u64,
    /// Checkpoints signed by keys that were not given, by fingerprint.
    pub unknown_keys: BTreeMap<String, u64>,
    /// Checkpoints whose signature is wrong.
    pub wrong: u64,
    /// The first of them, by their number.
    pub wrong_seqnos: Vec<Seqno>,
    /// Why this is not what a table that signs leaves; `None`: it is.
    pub what_is_wrong: Option<String>,
}

/// Looks at each event of a journal.
pub struct Tally {
    verifier: Keys,
    found: Signatures,
    /// Numbers and hashes of the newest events.
    near: VecDeque<(Seqno, [u8; 32])>,
    newest: Seqno,
    /// The first checkpoint after the newest good one that no given key has signed.
    unproven: Option<(Seqno, Verdict)>,
}

impl Tally {
    /// With the keys of [`keys_in`]; without any it only counts.
    #[must_use]
    pub fn new((verifier, keys): (Keys, Vec<KeyFile>)) -> Tally {
        Tally {
            verifier,
            found: Signatures {
                keys,
                proven_through: 0,
                unsigned: 0,
                unknown_keys: BTreeMap::new(),
                wrong: 0,
                wrong_seqnos: Vec::new(),
                what_is_wrong: None,
            },
            near: VecDeque::new(),
            newest: 0,
            unproven: None,
        }
    }

    /// The next event of the chain.
    pub fn take(&mut self, record: &Record, event: &Event) {
        if let Some(judged) = self.verifier.judge(&record.bytes) {
            let is_of_this_chain = self.names_its_chain(judged.through_seqno, &judged.sha256, event);
            match judged.verdict {
                Verdict::Good { .. } if !is_of_this_chain => self.wrong(record.seqno),
                Verdict::Good { key_id } => {
                    for key in self.found.keys.iter_mut().filter(|key| key.key_id == key_id) {
                        key.checkpoints += 1;
                    }
                    self.found.proven_through = judged.through_seqno;
                    self.unproven = None;
                }
                Verdict::Wrong { .. } => self.wrong(record.seqno),
                Verdict::Unsigned => {
                    self.found.unsigned += 1;
                    self.unproven.get_or_insert((record.seqno, Verdict::Unsigned));
                }
                Verdict::UnknownKey { key_id } => {
                    *self.found.unknown_keys.entry(key_id.clone()).or_default() += 1;
                    self.unproven
                        .get_or_insert((record.seqno, Verdict::UnknownKey { key_id }));
                }
            }
        }
        if self.near.len() == NEAR {
            self.near.pop_front();
        }
        self.near.push_back((record.seqno, record.sha256));
        self.newest = record.seqno;
    }

    fn names_its_chain(&self, through: Seqno, sha256: &[u8], event: &Event) -> bool {
        if through.checked_add(1) == Some(event.seqno) {
            return event.previous_sha256 == sha256;
        }
        self.near
            .iter()
            .any(|(seqno, known)| *seqno == through && known[..] == *sha256)
    }

    fn wrong(&mut self, seqno: Seqno) {
        self.found.wrong += 1;
        if self.found.wrong_seqnos.len() < MAX_LISTED {
            self.found.wrong_seqnos.push(seqno);
        }
    }

    /// All events were taken.
    #[must_use]
    pub fn end(self) -> Signatures {
        let what_is_wrong = if self.verifier.is_empty() { None } else { self.doubt() };
        Signatures {
            what_is_wrong,
            ..self.found
        }
    }

    fn doubt(&self) -> Option<String> {
        let proven = self.found.proven_through;
        if let Some(first) = self.found.wrong_seqnos.first() {
            return Some(format!(
                "{} with a wrong signature, the first is event {first}",
                counted(self.found.wrong, "checkpoint")
            ));
        }
        match &self.unproven {
            _ if proven == 0 => Some("no checkpoint is signed by a given key: nothing is proven".to_owned()),
            Some((seqno, Verdict::UnknownKey { key_id })) => Some(format!(
                "the checkpoint at event {seqno} is signed by key {key_id}, which was not given: what follows event {proven} is not proven"
            )),
            Some((seqno, Verdict::Unsigned | Verdict::Good { .. } | Verdict::Wrong { .. })) => Some(format!(
                "the checkpoint at event {seqno} is unsigned, and signed ones come before it: what follows event {proven} is not proven"
            )),
            None if self.newest.saturating_sub(proven) > LONGEST_UNSIGNED => Some(format!(
                "{} behind the newest signed checkpoint, more than a table leaves without one: what follows event {proven} is not \
                 proven",
                counted(self.newest - proven, "event")
            )),
            None => None,
        }
    }
}

impl Signatures {
    /// For a person, lines with their line feeds.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        for key in &self.keys {
            let _ = writeln!(
                text,
                "signatures   {} by key {} ({})",
                counted(key.checkpoints, "checkpoint"),
                key.key_id,
                key.file.display()
            );
        }
        for (key_id, checkpoints) in &self.unknown_keys {
            let why = if self.keys.is_empty() {
                "not looked at: --key PUBLIC.pem proves them"
            } else {
                "a key that was not given"
            };
            let _ = writeln!(
                text,
                "signatures   {} by key {key_id}, {why}",
                counted(*checkpoints, "checkpoint")
            );
        }
        if self.unsigned > 0 {
            let _ = writeln!(text, "unsigned     {}", counted(self.unsigned, "checkpoint"));
        }
        if self.wrong > 0 {
            let listed: Vec<String> = self.wrong_seqnos.iter().map(ToString::to_string).collect();
            let _ = writeln!(
                text,
                "WRONG        {} with a wrong signature: event {}",
                counted(self.wrong, "checkpoint"),
                listed.join(", ")
            );
        }
        if !self.keys.is_empty() {
            let _ = match self.proven_through {
                0 => writeln!(text, "proven       nothing, by a signature"),
                through => writeln!(text, "proven       by a signature, everything through event {through}"),
            };
        }
        text
    }
}
