//! TLP/1 frames: bytes on the line to frames and back. PURE; knows nothing of sessions and messages.
//!
//! On the line a frame is `0x00`, `COBS(body)`, `0x00`. The body is a version and a kind (a nibble each), a sequence number, the
//! payload and a CRC-32C. Whatever can't be used costs what stands between two zero bytes, never a good frame beside it, and the
//! decoder holds at most [`MAX_ENCODED`] bytes, however long the noise.
//!
//! The payload of a frame is not shown by `Debug`: it may be a dice reading that nobody may see.

use std::fmt;

/// Most bytes of payload in a frame. The largest message of the protocol is well below; a frame stays short enough to repeat.
pub const MAX_PAYLOAD: usize = 200;
/// Version and kind, sequence number, CRC.
const OVERHEAD: usize = 6;
/// Most bytes of a body, and with that most bytes that the decoder unpacks.
pub const MAX_BODY: usize = MAX_PAYLOAD + OVERHEAD;
/// Most bytes between two zero bytes: a body of [`MAX_BODY`] and COBS's one byte. More is noise.
pub const MAX_ENCODED: usize = MAX_BODY + 1;
/// Most bytes of a frame on the line, both zero bytes included. Retries are timed by it.
pub const MAX_ON_LINE: usize = MAX_ENCODED + 2;
/// The version that we speak: TLP/1.
pub const VERSION: u8 = 1;

/// CRC-32C (Castagnoli); the check value of `123456789` is `E3069283`.
const CRC: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISCSI);

/// Who is at an end of the line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The gateway.
    Host,
    /// Tumbler, terminal, lamps, lights.
    Device,
}

/// What a frame is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Host: begin this session. Payload `HostHello`.
    Hello,
    /// Device: the session has begun. Payload `DeviceHello`.
    Welcome,
    /// Both: a message that must be acknowledged. Payload `ToDevice` or `FromDevice`.
    Data,
    /// Both: the DATA frame of this number was received.
    Ack,
    /// Host: are you there, and what is your clock?
    Ping,
    /// Device: answer to PING. Payload: its clock in milliseconds, 4 bytes little-endian.
    Pong,
    /// Device: I have no session, greet me.
    Reset,
}

impl Kind {
    /// The low nibble of a body's first byte.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Kind::Hello => 0,
            Kind::Welcome => 1,
            Kind::Data => 2,
            Kind::Ack => 3,
            Kind::Ping => 4,
            Kind::Pong => 5,
            Kind::Reset => 6,
        }
    }

    /// The kind of a number; `None` for 7 to 15, which are reserved.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Kind> {
        match number {
            0 => Some(Kind::Hello),
            1 => Some(Kind::Welcome),
            2 => Some(Kind::Data),
            3 => Some(Kind::Ack),
            4 => Some(Kind::Ping),
            5 => Some(Kind::Pong),
            6 => Some(Kind::Reset),
            _ => None,
        }
    }

    /// Whether `side` sends frames of this kind.
    #[must_use]
    pub const fn is_sent_by(self, side: Side) -> bool {
        match self {
            Kind::Data | Kind::Ack => true,
            Kind::Hello | Kind::Ping => matches!(side, Side::Host),
            Kind::Welcome | Kind::Pong | Kind::Reset => matches!(side, Side::Device),
        }
    }
}

/// A valid frame: good CRC, version 1, known kind, sent by the other side.
#[derive(Clone, PartialEq, Eq)]
pub struct Frame {
    /// What it is for.
    pub kind: Kind,
    /// Of DATA: its number. Of ACK: the number of the DATA. Of PING and PONG: any, the same in both. Else 0.
    pub sequence: u8,
    /// At most [`MAX_PAYLOAD`] bytes.
    pub payload: Vec<u8>,
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {} ({} bytes)", self.kind, self.sequence, self.payload.len())
    }
}

/// A payload that doesn't fit into a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a payload of {length} bytes doesn't fit into a frame, which takes {MAX_PAYLOAD}")]
pub struct PayloadTooLong {
    /// Its length in bytes.
    pub length: usize,
}

/// Appends a frame to `line`, as it stands on the line.
///
/// # Errors
///
/// When the payload is longer than [`MAX_PAYLOAD`]; then nothing is appended.
pub fn encode(kind: Kind, sequence: u8, payload: &[u8], line: &mut Vec<u8>) -> Result<(), PayloadTooLong> {
    if payload.len() > MAX_PAYLOAD {
        return Err(PayloadTooLong { length: payload.len() });
    }
    let mut body = Vec::with_capacity(MAX_BODY);
    body.push(VERSION << 4 | kind.number());
    body.push(sequence);
    body.extend_from_slice(payload);
    let crc = CRC.checksum(&body);
    body.extend_from_slice(&crc.to_le_bytes());
    line.push(0);
    line.extend_from_slice(&cobs::encode_vec(&body));
    line.push(0);
    Ok(())
}

/// What stood between two zero bytes, when it was not empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Received {
    /// A valid frame.
    Frame(Frame),
    /// A good CRC and another version: "speaks TLP/2".
    OtherVersion(u8),
    /// A frame of a kind that only this side sends: the line is looped.
    Echo(Kind),
    /// A good CRC, our version, and a reserved kind.
    UnknownKind(u8),
    /// Nothing that can be used.
    Noise(Noise),
}

/// Why bytes were no frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Noise {
    /// More than [`MAX_ENCODED`] bytes.
    TooLong,
    /// Not COBS.
    Stuffing,
    /// Shorter than a body without payload.
    TooShort,
    /// The CRC differs.
    Checksum,
}

/// What a decoder has seen since it was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub struct Seen {
    /// Valid frames.
    pub frames: u64,
    /// Whole frames, as far as that can be told, with a wrong CRC.
    pub crc_errors: u64,
    /// Other stretches that were no frame.
    pub noise: u64,
    /// Frames of a kind that only this side sends.
    pub echoes: u64,
    /// Good frames of another version.
    pub other_versions: u64,
    /// Good frames of a reserved kind.
    pub unknown_kinds: u64,
    /// Bytes since the last valid frame.
    pub bytes_since_frame: u64,
}

/// What stood between two zero bytes, as it came. Not shown by `Debug`, as a frame's payload is not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Stretch<'a> {
    /// Its bytes, at most [`MAX_ENCODED`]: what is longer is cut.
    pub bytes: &'a [u8],
    /// How many bytes it had.
    pub length: usize,
    /// How many zero bytes stood before it, besides the one that ended what came before.
    pub zeros_before: usize,
}

impl fmt::Debug for Stretch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a stretch of {} bytes", self.length)
    }
}

/// Takes bytes as they come, in pieces of any size, and gives frames.
#[derive(Clone, Debug)]
pub struct Decoder {
    side: Side,
    encoded: Vec<u8>,
    /// Whether `encoded` is still to be judged.
    held: Held,
    /// Bytes of the stretch, those that found no room in `encoded` included.
    length: usize,
    zeros_before: usize,
    overlong: Overlong,
    seen: Seen,
}

/// What a decoder's bytes are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Held {
    /// A stretch that grows until a zero byte comes.
    Growing,
    /// A stretch that was judged; it makes room for the next byte.
    Judged,
}

/// Whether the bytes since the last zero are already too many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Overlong {
    No,
    Yes,
}

impl Decoder {
    /// A decoder at `side`'s end of the line: it hears what the other side sends.
    #[must_use]
    pub fn new(side: Side) -> Self {
        Decoder {
            side,
            encoded: Vec::with_capacity(MAX_ENCODED),
            held: Held::Judged,
            length: 0,
            zeros_before: 0,
            overlong: Overlong::No,
            seen: Seen::default(),
        }
    }

    /// What has been seen so far.
    #[must_use]
    pub fn seen(&self) -> Seen {
        self.seen
    }

    /// Forgets a frame that has begun, as after a port was opened anew. The counts stay, but for `bytes_since_frame`.
    pub fn restart(&mut self) {
        self.forget();
        self.zeros_before = 0;
        self.seen.bytes_since_frame = 0;
    }

    /// Consumes bytes from the front of `bytes` until something is complete. `None`: all were consumed, more are needed.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Option<Received> {
        while let Some(zero) = bytes.iter().position(|byte| *byte == 0) {
            let (piece, rest) = bytes.split_at_checked(zero)?;
            self.take(piece);
            *bytes = rest.get(1..).unwrap_or_default();
            self.seen.bytes_since_frame = self.seen.bytes_since_frame.saturating_add(1);
            if let Some(received) = self.finish() {
                return Some(received);
            }
        }
        self.take(bytes);
        *bytes = &[];
        None
    }

    /// What the last answer of [`Decoder::next`] was made of, until bytes are consumed again; without an answer, what has come of a
    /// stretch so far.
    #[must_use]
    pub fn stretch(&self) -> Stretch<'_> {
        Stretch {
            bytes: &self.encoded,
            length: self.length,
            zeros_before: self.zeros_before,
        }
    }

    fn forget(&mut self) {
        self.encoded.clear();
        self.length = 0;
        self.overlong = Overlong::No;
        self.held = Held::Judged;
    }

    /// After a stretch that was judged: zeros that were told with it are no longer counted.
    fn make_room(&mut self) {
        if self.length > 0 {
            self.forget();
            self.zeros_before = 0;
        }
    }

    fn take(&mut self, piece: &[u8]) {
        if piece.is_empty() {
            return;
        }
        if self.held == Held::Judged {
            self.make_room();
            self.held = Held::Growing;
        }
        self.length = self.length.saturating_add(piece.len());
        let length = u64::try_from(piece.len()).unwrap_or(u64::MAX);
        self.seen.bytes_since_frame = self.seen.bytes_since_frame.saturating_add(length);
        if self.encoded.len() + piece.len() > MAX_ENCODED {
            self.overlong = Overlong::Yes;
            let room = MAX_ENCODED.saturating_sub(self.encoded.len());
            self.encoded.extend_from_slice(piece.get(..room).unwrap_or(piece));
        } else if self.overlong == Overlong::No {
            self.encoded.extend_from_slice(piece);
        }
    }

    /// A zero byte has come: what do the bytes before it make?
    fn finish(&mut self) -> Option<Received> {
        if self.held == Held::Judged {
            self.make_room();
            self.zeros_before = self.zeros_before.saturating_add(1);
            return None;
        }
        let received = match self.overlong {
            Overlong::Yes => Received::Noise(Noise::TooLong),
            Overlong::No => read(self.side, &self.encoded),
        };
        self.held = Held::Judged;
        match &received {
            Received::Frame(_) => {
                self.seen.frames += 1;
                self.seen.bytes_since_frame = 0;
            }
            Received::OtherVersion(_) => self.seen.other_versions += 1,
            Received::Echo(_) => self.seen.echoes += 1,
            Received::UnknownKind(_) => self.seen.unknown_kinds += 1,
            Received::Noise(Noise::Checksum) => self.seen.crc_errors += 1,
            Received::Noise(Noise::TooLong | Noise::Stuffing | Noise::TooShort) => self.seen.noise += 1,
        }
        Some(received)
    }
}

fn read(side: Side, encoded: &[u8]) -> Received {
    let mut unpacked = [0; MAX_ENCODED];
    let body = cobs::decode(encoded, &mut unpacked)
        .ok()
        .and_then(|report| unpacked.get(..report.frame_size()));
    let Some(body) = body else {
        return Received::Noise(Noise::Stuffing);
    };
    let Some((checked, crc)) = body.split_last_chunk::<4>() else {
        return Received::Noise(Noise::TooShort);
    };
    let [head, sequence, payload @ ..] = checked else {
        return Received::Noise(Noise::TooShort);
    };
    if CRC.checksum(checked) != u32::from_le_bytes(*crc) {
        return Received::Noise(Noise::Checksum);
    }
    if head >> 4 != VERSION {
        return Received::OtherVersion(head >> 4);
    }
    let other = match side {
        Side::Host => Side::Device,
        Side::Device => Side::Host,
    };
    match Kind::from_number(head & 0x0f) {
        None => Received::UnknownKind(head & 0x0f),
        Some(kind) if kind.is_sent_by(other) => Received::Frame(Frame {
            kind,
            sequence: *sequence,
            payload: payload.to_vec(),
        }),
        Some(kind) => Received::Echo(kind),
    }
}
