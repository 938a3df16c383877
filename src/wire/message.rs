//! Device messages: the `tablegate.device.v1` types, generated from `proto/tablegate/device/v1`, and how a payload becomes one. PURE.
//!
//! A payload comes from a peer that we didn't write. What leaves this file is bounded and harmless: strings are printable ASCII of at
//! most [`MAX_TEXT`] bytes, an unknown enum number is 0 (and counted), and a dice reading that nobody may know yet is gone, so that
//! no caller can log, capture, show or publish it.

#[allow(missing_docs, reason = "generated: the proto files document every message and field")]
#[allow(clippy::all, reason = "generated")]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/tablegate.device.v1.rs"));
}

pub use generated::*;

use prost::Message;

/// Most bytes of a string, here and on the line.
pub const MAX_TEXT: usize = 32;

/// When a tumbler may tell what its dice show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DicePermit {
    /// A covered tumbler: while its own cover is off.
    Uncovered,
    /// An open tumbler: bets are closed.
    BetsClosed,
    /// An open tumbler: bets aren't closed.
    Never,
}

/// What was odd about messages and could be mended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub struct Mended {
    /// Enum numbers that are unknown here; each counts as 0.
    pub unknown_enums: u64,
    /// Strings with bytes that aren't printable ASCII, or too long.
    pub replaced_strings: u64,
}

/// A message from a device.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// The device's clock in milliseconds when the thing happened; wraps.
    pub uptime_ms: u32,
    /// What happened.
    pub body: from_device::Body,
    /// Whether a dice reading was taken out of it.
    pub reading: Reading,
}

/// What became of a message's dice reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reading {
    /// It had none, or it may be known.
    Lawful,
    /// It came while nobody may know it, and was dropped.
    Dropped,
}

/// Reads a HELLO. `None`: it is none.
#[must_use]
pub fn read_host_hello(payload: &[u8], mended: &mut Mended) -> Option<HostHello> {
    let mut hello = HostHello::decode(printable(payload, &[&[3]], mended).as_slice()).ok()?;
    cut(&mut hello.table, mended);
    Some(hello)
}

/// Reads a WELCOME. `None`: it is none.
#[must_use]
pub fn read_device_hello(payload: &[u8], mended: &mut Mended) -> Option<DeviceHello> {
    let mut hello = DeviceHello::decode(printable(payload, &[&[3], &[4]], mended).as_slice()).ok()?;
    cut(&mut hello.serial_number, mended);
    cut(&mut hello.firmware, mended);
    known::<DeviceKind>(&mut hello.kind, mended);
    Some(hello)
}

/// Reads a device's DATA. `None`: no message, or no body known here.
#[must_use]
pub fn read_report(payload: &[u8], permit: DicePermit, mended: &mut Mended) -> Option<Report> {
    let message = FromDevice::decode(printable(payload, &[&[7, 2]], mended).as_slice()).ok()?;
    let mut body = message.body?;
    let mut reading = Reading::Lawful;
    match &mut body {
        from_device::Body::Tumbler(status) => {
            known::<Motion>(&mut status.motion, mended);
            known::<Cover>(&mut status.cover, mended);
            known::<Seal>(&mut status.seal, mended);
            known::<Kept>(&mut status.counters, mended);
            if let Some(dice) = &mut status.dice {
                known::<Flatness>(&mut dice.flatness, mended);
            }
            let may_be_known = match permit {
                DicePermit::Uncovered => status.cover == i32::from(Cover::Off),
                DicePermit::BetsClosed => status.cover != i32::from(Cover::On),
                DicePermit::Never => false,
            };
            if !may_be_known && status.dice.take().is_some() {
                reading = Reading::Dropped;
            }
        }
        from_device::Body::Key(pressed) => known::<Key>(&mut pressed.key, mended),
        from_device::Body::Entry(pressed) => {
            pressed.shown.iter_mut().for_each(|key| known::<Key>(key, mended));
        }
        from_device::Body::Contact(contact) => known_contact(contact, mended),
        from_device::Body::Lamps(status) => known::<Sensing>(&mut status.sensing, mended),
        from_device::Body::Fault(fault) => {
            cut(&mut fault.text, mended);
            known::<FaultState>(&mut fault.state, mended);
        }
        from_device::Body::Terminal(status) => {
            status.shown.iter_mut().for_each(|key| known::<Key>(key, mended));
            for contact in &mut status.contacts {
                known_contact(contact, mended);
            }
        }
        from_device::Body::Digest(_) => {}
    }
    Some(Report {
        uptime_ms: message.uptime_ms,
        body,
        reading,
    })
}

/// What a device's DATA says of dice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiceFound {
    /// Nothing.
    None,
    /// Something that may be known.
    Lawful,
    /// Something that nobody may know yet.
    Unlawful,
    /// It is no message, so nobody can tell.
    Unreadable,
}

/// The fields that lead to a dice reading: of `FromDevice`, then of `TumblerStatus`.
const TUMBLER_FIELD: u64 = 2;
const DICE_FIELD: u64 = 6;

/// Whether the bytes of a device's DATA hold a dice reading that nobody may know yet, for whoever wants to show them. It is looked for in the
/// bytes, because a decoder drops what a later field overrules.
#[must_use]
pub fn dice_reading(payload: &[u8], permit: DicePermit) -> DiceFound {
    let Some((tumblers, readings)) = count_readings(payload) else {
        return DiceFound::Unreadable;
    };
    if readings == 0 {
        return DiceFound::None;
    }
    let report = read_report(payload, permit, &mut Mended::default());
    let is_kept = report.is_some_and(|report| {
        report.reading == Reading::Lawful
            && matches!(&report.body, from_device::Body::Tumbler(status) if status.dice.is_some())
    });
    if is_kept && tumblers == 1 && readings == 1 {
        DiceFound::Lawful
    } else {
        DiceFound::Unlawful
    }
}

/// How many tumbler's statuses a payload has, and how many dice readings stand in them; `None`: it is no message.
fn count_readings(payload: &[u8]) -> Option<(usize, usize)> {
    let (mut tumblers, mut readings) = (0, 0);
    let mut rest = payload;
    while let Some(field) = Field::next(&mut rest)? {
        if field.number == TUMBLER_FIELD {
            tumblers += 1;
            let mut status = field.inner?;
            while let Some(field) = Field::next(&mut status)? {
                readings += usize::from(field.number == DICE_FIELD);
            }
        }
    }
    Some((tumblers, readings))
}

/// A field of a message, as it stands in the bytes.
struct Field<'a> {
    number: u64,
    /// What it holds, when that has a length of its own.
    inner: Option<&'a [u8]>,
}

impl<'a> Field<'a> {
    /// `None`: this is no message. `Some(None)`: it has no more fields.
    fn next(rest: &mut &'a [u8]) -> Option<Option<Field<'a>>> {
        if rest.is_empty() {
            return Some(None);
        }
        let tag = prost::encoding::decode_varint(rest).ok()?;
        let length = match tag & 7 {
            0 => prost::encoding::decode_varint(rest).map(|_| 0).ok()?,
            1 => 8,
            5 => 4,
            2 => usize::try_from(prost::encoding::decode_varint(rest).ok()?).ok()?,
            _ => return None,
        };
        let (value, after) = rest.split_at_checked(length)?;
        *rest = after;
        Some(Some(Field {
            number: tag >> 3,
            inner: (tag & 7 == 2).then_some(value),
        }))
    }
}

/// Reads the host's DATA. `None`: no message, or no body known here.
#[must_use]
pub fn read_command(payload: &[u8], mended: &mut Mended) -> Option<to_device::Body> {
    let mut body = ToDevice::decode(printable(payload, &[&[2, 1]], mended).as_slice())
        .ok()?
        .body?;
    if let to_device::Body::Readout(readout) = &mut body {
        cut(&mut readout.text, mended);
    }
    Some(body)
}

fn known_contact(contact: &mut ContactState, mended: &mut Mended) {
    known::<Contact>(&mut contact.contact, mended);
    known::<Level>(&mut contact.level, mended);
}

/// An enum number that is unknown here counts as 0.
fn known<E: TryFrom<i32>>(number: &mut i32, mended: &mut Mended) {
    if E::try_from(*number).is_err() {
        *number = 0;
        mended.unknown_enums += 1;
    }
}

fn cut(text: &mut String, mended: &mut Mended) {
    if text.len() > MAX_TEXT {
        // Printable ASCII by now, so every byte ends a character.
        text.truncate(MAX_TEXT);
        mended.replaced_strings += 1;
    }
}

/// The payload with every byte of its strings (each named by the fields that lead to it) that isn't printable ASCII replaced by `?`.
///
/// This is done on the bytes, because a protobuf decoder throws a whole message away for a string that isn't UTF-8.
fn printable(payload: &[u8], strings: &[&[u32]], mended: &mut Mended) -> Vec<u8> {
    let mut bytes = payload.to_vec();
    for path in strings {
        // Ends early where the payload is no message; the decoder will say so.
        let _ = replace(&mut bytes, path, mended);
    }
    bytes
}

fn replace(message: &mut [u8], path: &[u32], mended: &mut Mended) -> Option<()> {
    let (field, deeper) = path.split_first()?;
    let mut rest = message;
    while !rest.is_empty() {
        let tag = varint(&mut rest)?;
        match tag & 7 {
            0 => drop(varint(&mut rest)?),
            1 => drop(split(&mut rest, 8)?),
            5 => drop(split(&mut rest, 4)?),
            2 => {
                let length = usize::try_from(varint(&mut rest)?).ok()?;
                let inner = split(&mut rest, length)?;
                if tag >> 3 != u64::from(*field) {
                    continue;
                }
                if !deeper.is_empty() {
                    replace(inner, deeper, mended)?;
                } else if !inner.iter().all(|byte| is_printable(*byte)) {
                    inner.iter_mut().filter(|b| !is_printable(**b)).for_each(|b| *b = b'?');
                    mended.replaced_strings += 1;
                }
            }
            _ => return None,
        }
    }
    Some(())
}

fn is_printable(byte: u8) -> bool {
    (b' '..=b'~').contains(&byte)
}

fn split<'a>(rest: &mut &'a mut [u8], length: usize) -> Option<&'a mut [u8]> {
    let (head, tail) = std::mem::take(rest).split_at_mut_checked(length)?;
    *rest = tail;
    Some(head)
}

fn varint(rest: &mut &mut [u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *split(rest, 1)?.first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
