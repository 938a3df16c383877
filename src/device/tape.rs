//! The last bytes of a line, both ways, kept in memory so that what happened can be looked at afterwards and by whoever watches: a
//! ring of a fixed size. Writing to it allocates nothing and waits for nobody; a reader that is too slow is told how much it missed.
//!
//! It never holds dice that nobody may know: of what may not be shown only length and time are kept ([`Piece::bytes`] is empty then).

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::time::Uptime;
use crate::wire::frame::{MAX_ENCODED, MAX_ON_LINE, Noise, Received};
use crate::wire::session::{Disclosure, Heard};

/// Bytes of one line's ring, heads of its entries included. An idle line says about 60 bytes a second, so this is more than an hour
/// of one, and a quarter of an hour of lively play; three devices have less than a megabyte together.
pub const TAPE_BYTES: usize = 256 * 1024;

/// Bytes of a note at most: a sentence.
const MAX_NOTE: usize = 240;

/// When, what, length on the line, bytes kept.
const HEAD: usize = 8 + 1 + 1 + 4 + 2;

/// What an entry is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// We sent it.
    Sent,
    /// A valid frame of the device.
    Frame,
    /// A good frame of another version of the protocol.
    OtherVersion,
    /// A frame of our own, come back.
    Echo,
    /// A good frame of a kind that isn't known.
    UnknownKind,
    /// A frame whose check failed.
    BadCheck,
    /// Bytes that no device's encoding makes.
    Noise,
    /// Too few bytes for a frame.
    TooShort,
    /// Too many bytes for a frame.
    TooLong,
    /// Nothing on the line: a sentence about it, such as why the port was closed.
    Note,
}

/// Every [`What`], at the place of its number.
const WHATS: [What; 10] = [
    What::Sent,
    What::Frame,
    What::OtherVersion,
    What::Echo,
    What::UnknownKind,
    What::BadCheck,
    What::Noise,
    What::TooShort,
    What::TooLong,
    What::Note,
];

/// Why an entry's bytes are or aren't there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// All of them.
    #[default]
    Whole,
    /// The first; the rest is noise without end.
    Cut,
    /// None: a dice reading that nobody may know yet.
    Reading,
    /// None: what can't be read may be a dice reading.
    Unclear,
}

const KEPTS: [Kept; 4] = [Kept::Whole, Kept::Cut, Kept::Reading, Kept::Unclear];

/// One entry.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// When it was read or written, in microseconds since the run began.
    pub at_us: u64,
    /// What it is.
    pub what: What,
    /// Bytes on the line.
    pub length: u32,
    /// What was kept of them.
    #[serde(default)]
    pub kept: Kept,
    /// As they came, zero bytes around them included; of a note its text.
    #[serde(with = "hexadecimal")]
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for Piece {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} of {} bytes at {} us", self.what, self.length, self.at_us)
    }
}

/// A ring of entries.
#[derive(Debug)]
pub struct Tape {
    ring: Mutex<Ring>,
}

/// Where a reader is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cursor {
    /// The number of the entry that it reads next.
    number: u64,
    /// Where that begins.
    at: u64,
}

#[derive(Debug)]
struct Ring {
    room: Box<[u8]>,
    /// Bytes written ever, and bytes forgotten of them; the difference is in `room`, each at its number modulo the room's length.
    end: u64,
    begin: u64,
    /// Entries written ever, and forgotten of them.
    written: u64,
    forgotten: u64,
    /// What we sent of a frame that isn't complete.
    going: Vec<u8>,
}

impl Default for Tape {
    fn default() -> Tape {
        Tape::of(TAPE_BYTES)
    }
}

impl Tape {
    fn of(bytes: usize) -> Tape {
        Tape {
            ring: Mutex::new(Ring {
                room: vec![0; bytes].into_boxed_slice(),
                end: 0,
                begin: 0,
                written: 0,
                forgotten: 0,
                going: Vec::with_capacity(MAX_ON_LINE),
            }),
        }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        // Nothing that is done under the lock can leave a half-written ring behind but a defect, and then its readers see old bytes.
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something came from the device.
    pub(super) fn heard(&self, now: Uptime, heard: &Heard<'_>) {
        let what = match heard.received {
            Received::Frame(_) => What::Frame,
            Received::OtherVersion(_) => What::OtherVersion,
            Received::Echo(_) => What::Echo,
            Received::UnknownKind(_) => What::UnknownKind,
            Received::Noise(Noise::Checksum) => What::BadCheck,
            Received::Noise(Noise::Stuffing) => What::Noise,
            Received::Noise(Noise::TooShort) => What::TooShort,
            Received::Noise(Noise::TooLong) => What::TooLong,
        };
        let stretch = heard.stretch;
        let before = if stretch.zeros_before > 0 { 1 } else { 0 };
        let length = stretch.length.saturating_add(before + 1);
        let zero: &[u8] = &[0];
        let mut ring = self.ring();
        match heard.disclosure {
            Disclosure::Reading => ring.write(now, what, Kept::Reading, length, &[]),
            Disclosure::Unclear => ring.write(now, what, Kept::Unclear, length, &[]),
            Disclosure::Open if stretch.length > MAX_ENCODED => {
                ring.write(
                    now,
                    what,
                    Kept::Cut,
                    length,
                    &[zero.get(..before).unwrap_or_default(), stretch.bytes],
                );
            }
            Disclosure::Open => {
                let parts = [zero.get(..before).unwrap_or_default(), stretch.bytes, zero];
                ring.write(now, what, Kept::Whole, length, &parts);
            }
        }
    }

    /// These bytes were written to the line, in pieces of any size.
    pub(super) fn sent(&self, now: Uptime, bytes: &[u8]) {
        let mut ring = self.ring();
        for byte in bytes {
            if ring.going.len() < MAX_ON_LINE {
                ring.going.push(*byte);
            }
            // A frame of ours begins and ends with a zero.
            if *byte == 0 && ring.going.len() > 1 {
                let frame = std::mem::take(&mut ring.going);
                ring.write(now, What::Sent, Kept::Whole, frame.len(), &[&frame]);
                ring.going = frame;
                ring.going.clear();
            }
        }
    }

    /// A sentence about the line.
    pub(super) fn note(&self, now: Uptime, text: &str) {
        let mut end = text.len().min(MAX_NOTE);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = text.get(..end).unwrap_or_default();
        let mut ring = self.ring();
        // What was not sent to its end never will be: the port is opened or closed.
        ring.going.clear();
        ring.write(now, What::Note, Kept::Whole, 0, &[text.as_bytes()]);
    }

    /// The oldest entry.
    #[must_use]
    pub fn oldest(&self) -> Cursor {
        let ring = self.ring();
        Cursor {
            number: ring.forgotten,
            at: ring.begin,
        }
    }

    /// What comes next.
    #[must_use]
    pub fn newest(&self) -> Cursor {
        let ring = self.ring();
        Cursor {
            number: ring.written,
            at: ring.end,
        }
    }

    /// The next entries, at most `most`, and how many were forgotten before they could be read.
    pub fn read(&self, cursor: &mut Cursor, most: usize) -> (u64, Vec<Piece>) {
        let ring = self.ring();
        let missed = ring.forgotten.saturating_sub(cursor.number);
        if missed > 0 {
            *cursor = Cursor {
                number: ring.forgotten,
                at: ring.begin,
            };
        }
        let mut found = Vec::new();
        while found.len() < most && cursor.number < ring.written {
            let (entry, length) = ring.entry(cursor.at);
            found.push(entry);
            cursor.number += 1;
            cursor.at += length;
        }
        (missed, found)
    }
}

impl Ring {
    fn write(&mut self, now: Uptime, what: What, kept: Kept, length: usize, parts: &[&[u8]]) {
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        let needed = HEAD + bytes;
        debug_assert!(needed <= self.room.len(), "an entry is smaller than the ring");
        while self.held() + needed > self.room.len() {
            let (_, length) = self.head(self.begin);
            self.begin += widened(HEAD + length);
            self.forgotten += 1;
        }
        let mut head = [0; HEAD];
        let fields: [&[u8]; 4] = [
            &now.as_micros().to_le_bytes(),
            &[number(&WHATS, &what), number(&KEPTS, &kept)],
            &u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes(),
            &u16::try_from(bytes).unwrap_or(u16::MAX).to_le_bytes(),
        ];
        for (byte, value) in head.iter_mut().zip(fields.into_iter().flatten()) {
            *byte = *value;
        }
        self.put(&head);
        for part in parts {
            self.put(part);
        }
        self.written += 1;
    }

    fn held(&self) -> usize {
        usize::try_from(self.end - self.begin).unwrap_or(usize::MAX)
    }

    fn place(&self, at: u64) -> usize {
        usize::try_from(at % widened(self.room.len())).unwrap_or(0)
    }

    /// Appends bytes, in two pieces where the room ends between them.
    fn put(&mut self, bytes: &[u8]) {
        let place = self.place(self.end);
        let (first, second) = bytes.split_at(bytes.len().min(self.room.len() - place));
        for (place, piece) in [(place, first), (0, second)] {
            if let Some(room) = self.room.get_mut(place..place + piece.len()) {
                room.copy_from_slice(piece);
            }
        }
        self.end += widened(bytes.len());
    }

    fn get(&self, at: u64, into: &mut [u8]) {
        let place = self.place(at);
        let middle = into.len().min(self.room.len() - place);
        let (first, second) = into.split_at_mut(middle);
        for (place, piece) in [(place, first), (0, second)] {
            if let Some(room) = self.room.get(place..place + piece.len()) {
                piece.copy_from_slice(room);
            }
        }
    }

    /// What stands at `at` without its bytes, and how many those are.
    fn head(&self, at: u64) -> (Piece, usize) {
        let mut head = [0; HEAD];
        self.get(at, &mut head);
        let [t0, t1, t2, t3, t4, t5, t6, t7, what, kept, l0, l1, l2, l3, b0, b1] = head;
        let found = Piece {
            at_us: u64::from_le_bytes([t0, t1, t2, t3, t4, t5, t6, t7]),
            what: WHATS.get(usize::from(what)).copied().unwrap_or(What::Noise),
            length: u32::from_le_bytes([l0, l1, l2, l3]),
            kept: KEPTS.get(usize::from(kept)).copied().unwrap_or(Kept::Unclear),
            bytes: Vec::new(),
        };
        (found, usize::from(u16::from_le_bytes([b0, b1])))
    }

    /// The entry at `at`, and how far it reaches.
    fn entry(&self, at: u64) -> (Piece, u64) {
        let (mut found, bytes) = self.head(at);
        found.bytes = vec![0; bytes];
        self.get(at + widened(HEAD), &mut found.bytes);
        (found, widened(HEAD + bytes))
    }
}

fn widened(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// The place of a value of a closed set; each is in its list.
fn number<T: PartialEq>(all: &[T], value: &T) -> u8 {
    let place = all.iter().position(|one| one == value);
    place.and_then(|place| u8::try_from(place).ok()).unwrap_or(u8::MAX)
}

/// Bytes as text.
mod hexadecimal {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use std::fmt::Write;

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::with_capacity(bytes.len() * 2);
        for byte in bytes {
            // Writing to a String can't fail.
            let _ = write!(text, "{byte:02x}");
        }
        serializer.serialize_str(&text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let read = text.as_bytes().chunks(2).map(|pair| {
            let digits = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
            u8::from_str_radix(digits, 16).ok()
        });
        read.collect::<Option<Vec<u8>>>()
            .ok_or_else(|| D::Error::custom("not bytes in hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::frame::Stretch;

    fn sent(tape: &Tape, at: u64, bytes: &[u8]) {
        tape.sent(Uptime::from_micros(at), bytes);
    }

    #[test]
    fn what_is_sent_in_pieces_is_kept_frame_by_frame() {
        let tape = Tape::of(1024);
        let mut cursor = tape.oldest();
        sent(&tape, 1, &[0, 7, 8]);
        assert_eq!(tape.read(&mut cursor, 9).1, []);
        sent(&tape, 2, &[9, 0, 0, 5, 0, 0]);
        sent(&tape, 3, &[6, 0]);
        let (missed, found) = tape.read(&mut cursor, 9);
        let found: Vec<_> = found
            .iter()
            .map(|entry| (entry.at_us, entry.bytes.as_slice()))
            .collect();
        assert_eq!(missed, 0);
        assert_eq!(found, [(2, &[0, 7, 8, 9, 0][..]), (2, &[0, 5, 0]), (3, &[0, 6, 0])]);
    }

    #[test]
    fn a_ring_forgets_the_oldest_and_says_how_many_a_slow_reader_missed() {
        let tape = Tape::of(100);
        let mut cursor = tape.newest();
        // 21 bytes an entry: four find room.
        for number in 1..=10_u8 {
            sent(&tape, u64::from(number), &[0, number, number, number, 0]);
        }
        let (missed, found) = tape.read(&mut cursor, 2);
        assert_eq!((missed, found.len()), (6, 2));
        let (missed, rest) = tape.read(&mut cursor, 100);
        let bytes: Vec<_> = found.iter().chain(&rest).map(|entry| entry.bytes[1]).collect();
        assert_eq!((missed, bytes), (0, vec![7, 8, 9, 10]));
        assert_eq!(tape.read(&mut cursor, 100), (0, Vec::new()));
        assert_eq!(tape.read(&mut tape.oldest(), 100).1.len(), 4);
    }

    #[test]
    fn of_what_may_not_be_shown_only_length_and_time_are_kept() {
        let tape = Tape::of(1024);
        let received = Received::Noise(Noise::Checksum);
        for (disclosure, kept, bytes) in [
            (Disclosure::Open, Kept::Whole, &[0, 1, 6, 6, 0][..]),
            (Disclosure::Reading, Kept::Reading, &[]),
            (Disclosure::Unclear, Kept::Unclear, &[]),
        ] {
            let mut cursor = tape.newest();
            let heard = Heard {
                stretch: Stretch {
                    bytes: &[1, 6, 6],
                    length: 3,
                    zeros_before: 2,
                },
                received: &received,
                disclosure,
            };
            tape.heard(Uptime::from_micros(5), &heard);
            let (_, found) = tape.read(&mut cursor, 2);
            let expected = Piece {
                at_us: 5,
                what: What::BadCheck,
                length: 5,
                kept,
                bytes: bytes.to_vec(),
            };
            assert!(found == [expected], "{found:?}");
        }
        let room = tape.ring().room.clone();
        let dice = room.windows(3).filter(|bytes| *bytes == [1, 6, 6]).count();
        assert_eq!(dice, 1, "only what may be shown is in memory");
    }

    #[test]
    fn entries_cross_the_control_socket_as_text() {
        let entry = Piece {
            at_us: 1,
            what: What::Frame,
            length: 3,
            kept: Kept::Whole,
            bytes: vec![0, 255, 16],
        };
        let text = serde_json::to_string(&entry).unwrap();
        assert!(text.contains("\"00ff10\""), "{text}");
        assert!(serde_json::from_str::<Piece>(&text).unwrap() == entry);
        assert!(serde_json::from_str::<Piece>(&text.replace("00ff10", "00ff1")).is_err());
    }
}
