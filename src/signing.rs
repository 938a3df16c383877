//! Signed checkpoints: what a signature is over, keys as OpenSSL writes them, and whether a checkpoint's signature is right.
//! PURE: keys come in as texts, checkpoints as events.
//!
//! A signature is Ed25519 (RFC 8032) over the text that [`message`] makes: five lines, which name the journal, the event that
//! the checkpoint reaches with its SHA-256, and the SHA-256 of the state as it stands encoded in the event. Through the chain it
//! commits to everything up to that event. [`Signer`] makes signatures, [`Keys`] judge them.

use crate::table::event::CheckpointRecorded;
use ed25519_dalek::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePublicKey};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use prost::Message;
use sha2::{Digest, Sha256};
use std::fmt;
use std::fmt::Write;

/// The first line of what is signed: no other use of the key, and no other version of the message, has the same.
pub const DOMAIN: &str = "tablegate checkpoint 1";

/// Hexadecimal digits of a key's fingerprint. It tells keys of one house apart; what proves anything is the signature.
pub const KEY_ID_DIGITS: usize = 16;

/// The text that is signed, in UTF-8, each line ended by a line feed.
///
/// ```
/// let text = tablegate::signing::message("0d3b9f6e-5f1c-4b38-8f7e-2f6f3c1a9b10", 4711, &[0xaa; 32], &[0xbb; 32]);
/// let lines: Vec<&str> = text.lines().collect();
/// assert_eq!(lines[0], "tablegate checkpoint 1");
/// assert_eq!(lines[1], "journal 0d3b9f6e-5f1c-4b38-8f7e-2f6f3c1a9b10");
/// assert_eq!(lines[2], "through 4711");
/// assert_eq!(lines[3], format!("event {}", "aa".repeat(32)));
/// assert_eq!(lines[4], format!("state {}", "bb".repeat(32)));
/// ```
#[must_use]
pub fn message(journal_id: &str, through_seqno: u64, event_sha256: &[u8], state_sha256: &[u8; 32]) -> String {
    format!(
        "{DOMAIN}\njournal {journal_id}\nthrough {through_seqno}\nevent {}\nstate {}\n",
        hex(event_sha256),
        hex(state_sha256)
    )
}

/// Why a text is no key that can be used here.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum KeyError {
    /// It needs a passphrase.
    #[error(
        "is encrypted, and at a start nobody types a passphrase: keep it unencrypted, in a file that only its owner reads"
    )]
    Encrypted,
    /// A public key where the private one is needed.
    #[error("is a public key; the private one is needed")]
    Public,
    /// A private key where the public one is needed.
    #[error("is a private key; the public one is needed: `openssl pkey -pubout` makes it")]
    Private,
    /// Something else.
    #[error("is no Ed25519 key in PEM ({reason}); `openssl genpkey -algorithm ed25519` makes one")]
    Other {
        /// Why not, for a person.
        reason: String,
    },
}

/// Why a text is no such key, in words for a person: the decoder's own name its insides.
fn why_not(text: &str, label: &str) -> String {
    if !text.contains("-----BEGIN ") {
        "the file is no PEM: it has no line -----BEGIN ...-----".to_owned()
    } else if !text.contains(&format!("-----BEGIN {label}-----")) {
        format!("the file has no -----BEGIN {label}-----")
    } else if !text.contains(&format!("-----END {label}-----")) {
        format!("the file has no -----END {label}-----: it is cut off")
    } else {
        "what is between its two lines is of another kind, or damaged".to_owned()
    }
}

/// A private key, and the fingerprint of its public one.
pub struct Signer {
    key: SigningKey,
    key_id: String,
}

impl Signer {
    /// Reads a PKCS#8 private key in PEM, as `openssl genpkey -algorithm ed25519` writes it.
    ///
    /// # Errors
    /// It is something else.
    pub fn from_pem(text: &str) -> Result<Signer, KeyError> {
        if text.contains("BEGIN ENCRYPTED PRIVATE KEY") {
            return Err(KeyError::Encrypted);
        }
        if text.contains("BEGIN PUBLIC KEY") {
            return Err(KeyError::Public);
        }
        let key = SigningKey::from_pkcs8_pem(text.trim()).map_err(|_| KeyError::Other {
            reason: why_not(text, "PRIVATE KEY"),
        })?;
        let key_id = fingerprint(&key.verifying_key())?;
        Ok(Signer { key, key_id })
    }

    /// Fingerprint of the public key.
    #[must_use]
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// Fills in `key_id` and `signature` of a checkpoint of `journal_id` that is otherwise complete.
    pub fn sign(&self, journal_id: &str, checkpoint: &mut CheckpointRecorded) {
        let state = checkpoint
            .state
            .as_ref()
            .map(Message::encode_to_vec)
            .unwrap_or_default();
        let text = message(
            journal_id,
            checkpoint.through_seqno,
            &checkpoint.sha256,
            &Sha256::digest(state).into(),
        );
        checkpoint.signature = self.key.sign(text.as_bytes()).to_bytes().to_vec();
        checkpoint.key_id = self.key_id.clone();
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer")
            .field("key_id", &self.key_id)
            .finish_non_exhaustive()
    }
}

/// Public keys whose signatures are believed.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    keys: Vec<(String, VerifyingKey)>,
}

impl Keys {
    /// No key yet.
    #[must_use]
    pub fn new() -> Keys {
        Keys::default()
    }

    /// Adds a public key in PEM, as `openssl pkey -pubout` writes it, and returns its fingerprint.
    ///
    /// # Errors
    /// It is something else.
    pub fn add_pem(&mut self, text: &str) -> Result<String, KeyError> {
        if text.contains("PRIVATE KEY") {
            return Err(KeyError::Private);
        }
        let key = VerifyingKey::from_public_key_pem(text.trim()).map_err(|_| KeyError::Other {
            reason: why_not(text, "PUBLIC KEY"),
        })?;
        let key_id = fingerprint(&key)?;
        if !self.keys.iter().any(|(known, _)| *known == key_id) {
            self.keys.push((key_id.clone(), key));
        }
        Ok(key_id)
    }

    /// There is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Judges the bytes of an event; `None`: it is no checkpoint.
    ///
    /// That the event `through_seqno` of this chain has the SHA-256 that the checkpoint names is for the caller to see.
    #[must_use]
    pub fn judge(&self, event: &[u8]) -> Option<Judged> {
        let raw = match Envelope::decode(event) {
            Ok(envelope) => RawCheckpoint {
                journal_id: envelope.journal_id,
                body: envelope.checkpoint?,
            },
            // What can't be decoded is no event; others say so.
            Err(_) => return None,
        };
        Some(raw.judged(self, is_written_once(event)))
    }
}

/// A checkpoint with a verdict on its signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Judged {
    /// The event that it reaches.
    pub through_seqno: u64,
    /// SHA-256 of that event's bytes, as the checkpoint says.
    pub sha256: Vec<u8>,
    /// On its signature.
    pub verdict: Verdict,
}

/// Whether a checkpoint's signature is right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// By this key.
    Good {
        /// Its fingerprint.
        key_id: String,
    },
    /// It has none.
    Unsigned,
    /// It names a key that wasn't given.
    UnknownKey {
        /// The fingerprint that it names.
        key_id: String,
    },
    /// It is not that of the key it names over what it stands in.
    Wrong {
        /// The fingerprint that it names.
        key_id: String,
    },
}

/// What a signature needs of an event: the state stays as it was written, whatever fields later versions put into it.
#[derive(Clone, PartialEq, Message)]
struct Envelope {
    #[prost(string, tag = "3")]
    journal_id: String,
    #[prost(message, optional, tag = "23")]
    checkpoint: Option<Sealed>,
}

#[derive(Clone, PartialEq, Message)]
struct Sealed {
    #[prost(uint64, tag = "1")]
    through_seqno: u64,
    #[prost(bytes = "vec", tag = "2")]
    sha256: Vec<u8>,
    #[prost(bytes = "vec", tag = "3")]
    state: Vec<u8>,
    #[prost(string, tag = "4")]
    key_id: String,
    #[prost(bytes = "vec", tag = "5")]
    signature: Vec<u8>,
}

struct RawCheckpoint {
    journal_id: String,
    body: Sealed,
}

/// Field of `Event` that holds a `CheckpointRecorded`.
const CHECKPOINT_FIELD: u32 = 23;

/// The first field of `Event` that is a body.
const FIRST_BODY_FIELD: u32 = 20;

impl RawCheckpoint {
    fn judged(self, keys: &Keys, written_once: bool) -> Judged {
        let RawCheckpoint { journal_id, body } = self;
        let verdict = match (body.signature.is_empty(), body.key_id.is_empty()) {
            (true, true) => Verdict::Unsigned,
            (true, false) | (false, true) => Verdict::Wrong {
                key_id: body.key_id.clone(),
            },
            (false, false) => match keys.keys.iter().find(|(key_id, _)| *key_id == body.key_id) {
                None => Verdict::UnknownKey {
                    key_id: body.key_id.clone(),
                },
                Some((key_id, key)) if written_once && is_id(&journal_id) && holds(key, &journal_id, &body) => {
                    Verdict::Good { key_id: key_id.clone() }
                }
                Some((key_id, _)) => Verdict::Wrong { key_id: key_id.clone() },
            },
        };
        Judged {
            through_seqno: body.through_seqno,
            sha256: body.sha256,
            verdict,
        }
    }
}

fn holds(key: &VerifyingKey, journal_id: &str, body: &Sealed) -> bool {
    let Ok(signature) = Signature::from_slice(&body.signature) else {
        return false;
    };
    let text = message(
        journal_id,
        body.through_seqno,
        &body.sha256,
        &Sha256::digest(&body.state).into(),
    );
    key.verify_strict(text.as_bytes(), &signature).is_ok()
}

/// A UUID: no line feed can move what stands in one line of the message into another.
fn is_id(journal_id: &str) -> bool {
    !journal_id.is_empty() && journal_id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Decoders merge a message that stands twice, so that what is read could differ from what is signed.
fn is_written_once(event: &[u8]) -> bool {
    let Some(fields) = fields(event) else { return false };
    let mut bodies = fields.iter().filter(|(number, _)| *number >= FIRST_BODY_FIELD);
    let (Some((CHECKPOINT_FIELD, body)), None) = (bodies.next(), bodies.next()) else {
        return false;
    };
    let Some(mut numbers) =
        self::fields(body).map(|fields| fields.into_iter().map(|(number, _)| number).collect::<Vec<_>>())
    else {
        return false;
    };
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.len() == count
}

/// The fields of an encoded message in order, with the bytes of those that have a length; `None`: it is none.
fn fields(mut bytes: &[u8]) -> Option<Vec<(u32, &[u8])>> {
    use prost::encoding::{WireType, decode_key, decode_varint};
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let (number, kind) = decode_key(&mut bytes).ok()?;
        let length = match kind {
            WireType::Varint => {
                decode_varint(&mut bytes).ok()?;
                0
            }
            WireType::ThirtyTwoBit => 4,
            WireType::SixtyFourBit => 8,
            WireType::LengthDelimited => usize::try_from(decode_varint(&mut bytes).ok()?).ok()?,
            WireType::StartGroup | WireType::EndGroup => return None,
        };
        let (value, rest) = bytes.split_at_checked(length)?;
        fields.push((number, value));
        bytes = rest;
    }
    Some(fields)
}

/// The first [`KEY_ID_DIGITS`] digits of the SHA-256 of the public key in DER (SubjectPublicKeyInfo).
fn fingerprint(key: &VerifyingKey) -> Result<String, KeyError> {
    let der = key.to_public_key_der().map_err(|error| KeyError::Other {
        reason: error.to_string(),
    })?;
    let mut digits = hex(&Sha256::digest(der.as_bytes()));
    digits.truncate(KEY_ID_DIGITS);
    Ok(digits)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::event::{Body, Event, GatewayStopped, TableCheckpoint};

    /// Written by `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout`.
    const PRIVATE: &str = "-----BEGIN PRIVATE KEY-----\n\
        MC4CAQAwBQYDK2VwBCIEIMD1g/p46gV3HXk+7d0MKIGjMrIlteUN+DaX8NAVUO8X\n\
        -----END PRIVATE KEY-----\n";
    const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\n\
        MCowBQYDK2VwAyEA+Zw9p68ofwHb8rle867fnoccN6KZfqUIl9Dw3nXc5i8=\n\
        -----END PUBLIC KEY-----\n";
    /// `openssl pkey -pubin -in PUBLIC.pem -outform DER | sha256sum | cut -c1-16`.
    const KEY_ID: &str = "63b2a92579c25bf6";
    const OTHER_PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\n\
        MCowBQYDK2VwAyEAP74AqUhmsAPI84occTQLtB6r4I3qkH5JJSdX1rexLJ8=\n\
        -----END PUBLIC KEY-----\n";
    const ELLIPTIC: &str = "-----BEGIN PRIVATE KEY-----\n\
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg0tNO+994k5n3HCg2\n\
        0Sw4MmFsro4zFz5l+c0G8FAqkQWhRANCAAQsOX1zeQLPllZvjfoDU2l2XXy9w/+x\n\
        X8+QXfdrDREHcHNuYj0EIDJ1DSwmyxzPnB4iXhuK3AcOxXj+qij9zDEz\n\
        -----END PRIVATE KEY-----\n";

    const JOURNAL: &str = "0d3b9f6e-5f1c-4b38-8f7e-2f6f3c1a9b10";

    fn checkpoint() -> CheckpointRecorded {
        CheckpointRecorded {
            through_seqno: 9,
            sha256: vec![7; 32],
            state: Some(TableCheckpoint {
                last_round_id: 17,
                ..TableCheckpoint::default()
            }),
            ..CheckpointRecorded::default()
        }
    }

    fn event(journal_id: &str, checkpoint: CheckpointRecorded) -> Vec<u8> {
        Event {
            journal_id: journal_id.to_owned(),
            seqno: 10,
            body: Some(Body::CheckpointRecorded(checkpoint)),
            ..Event::default()
        }
        .encode_to_vec()
    }

    fn signed() -> CheckpointRecorded {
        let mut checkpoint = checkpoint();
        Signer::from_pem(PRIVATE).unwrap().sign(JOURNAL, &mut checkpoint);
        checkpoint
    }

    fn keys(pem: &str) -> Keys {
        let mut keys = Keys::new();
        keys.add_pem(pem).unwrap();
        keys
    }

    fn verdict(event: &[u8]) -> Verdict {
        keys(PUBLIC).judge(event).unwrap().verdict
    }

    #[test]
    fn a_signed_checkpoint_is_good_and_names_its_key() {
        let key_id = KEY_ID.to_owned();
        assert_eq!(Signer::from_pem(PRIVATE).unwrap().key_id(), KEY_ID);
        assert_eq!(verdict(&event(JOURNAL, signed())), Verdict::Good { key_id });
        assert_eq!(verdict(&event(JOURNAL, checkpoint())), Verdict::Unsigned);
        let stranger = keys(OTHER_PUBLIC).judge(&event(JOURNAL, signed())).unwrap().verdict;
        assert_eq!(
            stranger,
            Verdict::UnknownKey {
                key_id: KEY_ID.to_owned()
            }
        );
    }

    #[test]
    fn whatever_is_changed_the_signature_is_wrong() {
        type Change = fn(&mut CheckpointRecorded);
        let changes: [(&str, Change); 6] = [
            ("the event it reaches", |c| c.through_seqno += 1),
            ("that event's hash", |c| c.sha256[3] ^= 1),
            ("the state", |c| c.state.as_mut().unwrap().last_round_id += 1),
            ("the signature", |c| c.signature[63] ^= 1),
            ("its length", |c| c.signature.truncate(10)),
            ("no signature beside a key's name", |c| c.signature.clear()),
        ];
        for (what, change) in changes {
            let mut checkpoint = signed();
            change(&mut checkpoint);
            assert!(
                matches!(verdict(&event(JOURNAL, checkpoint)), Verdict::Wrong { .. }),
                "{what}"
            );
        }
        let other = event("another-journal", signed());
        assert!(matches!(verdict(&other), Verdict::Wrong { .. }));
    }

    #[test]
    fn what_a_decoder_would_merge_is_not_what_was_signed() {
        // A second body with the same number: decoders merge the two states into one that nobody signed.
        let mut twice = event(JOURNAL, signed());
        let other = CheckpointRecorded {
            state: Some(TableCheckpoint {
                last_round_id: 99,
                ..TableCheckpoint::default()
            }),
            ..CheckpointRecorded::default()
        };
        let first = Event {
            body: Some(Body::CheckpointRecorded(other)),
            ..Event::default()
        };
        let mut before = first.encode_to_vec();
        before.append(&mut twice);
        assert_eq!(Event::decode(&before[..]).unwrap().seqno, 10, "a decoder takes it");
        assert!(matches!(verdict(&before), Verdict::Wrong { .. }));
    }

    #[test]
    fn fields_of_later_versions_are_signed_with_the_state() {
        // A state with a field that this version doesn't know.
        let mut state = checkpoint().state.unwrap().encode_to_vec();
        state.extend([0xf8, 0x7f, 0x01]);
        let signer = Signer::from_pem(PRIVATE).unwrap();
        let text = message(JOURNAL, 9, &[7; 32], &Sha256::digest(&state).into());
        let sealed = Sealed {
            through_seqno: 9,
            sha256: vec![7; 32],
            state,
            key_id: KEY_ID.to_owned(),
            signature: signer.key.sign(text.as_bytes()).to_bytes().to_vec(),
        };
        let newer = Envelope {
            journal_id: JOURNAL.to_owned(),
            checkpoint: Some(sealed),
        };
        assert!(matches!(verdict(&newer.encode_to_vec()), Verdict::Good { .. }));
    }

    #[test]
    fn what_is_no_checkpoint_is_not_judged() {
        let other = Event {
            body: Some(Body::GatewayStopped(GatewayStopped {})),
            ..Event::default()
        };
        assert_eq!(keys(PUBLIC).judge(&other.encode_to_vec()), None);
        assert_eq!(keys(PUBLIC).judge(b"\xff\xff"), None);
    }

    #[test]
    fn what_is_no_key_is_refused_by_what_it_is() {
        let private = |text: &str| Signer::from_pem(text).unwrap_err();
        let public = |text: &str| Keys::new().add_pem(text).unwrap_err();
        assert_eq!(private(PUBLIC), KeyError::Public);
        assert_eq!(public(PRIVATE), KeyError::Private);
        assert_eq!(private("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"), KeyError::Encrypted);
        for text in ["", "no key", ELLIPTIC, &PRIVATE[..60]] {
            assert!(matches!(private(text), KeyError::Other { .. }), "{text}");
        }
        assert!(matches!(public(""), KeyError::Other { .. }));
        let debug = format!("{:?}", Signer::from_pem(PRIVATE).unwrap());
        assert_eq!(
            debug,
            format!("Signer {{ key_id: {KEY_ID:?}, .. }}"),
            "a key is never shown"
        );
    }
}
