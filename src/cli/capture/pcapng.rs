//! Writes pcapng, as far as a capture of serial lines needs it: a section, an interface a line, packets, statistics. Wireshark and tshark
//! open it; link type USER0, because no registered one is ours.
//!
//! Layout after draft-ietf-opsawg-pcapng, in the byte order of x86. Nothing is read here: `replay` does that with a library.

use std::io::{self, Write};

/// `LINKTYPE_USER0`: kept free for private use.
pub const USER0: u16 = 147;

/// Nobody knows how long the section becomes while it is written.
const LENGTH_UNKNOWN: u64 = u64::MAX;

/// Times are in units of 10^-6 s.
const MICROSECONDS: u8 = 6;

/// Which way a packet went, as in the flags of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From the device.
    Inbound,
    /// To the device.
    Outbound,
    /// Neither: a sentence about the line.
    None,
}

/// What was wrong with a packet, as in its flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Damage {
    /// Nothing, or nothing that the format has a name for.
    None,
    /// The check failed.
    Check,
    /// Too long for a frame.
    TooLong,
    /// Too short for a frame.
    TooShort,
    /// Bytes that the encoding doesn't make.
    Symbol,
}

impl Direction {
    const fn flags(self) -> u32 {
        match self {
            Direction::None => 0,
            Direction::Inbound => 1,
            Direction::Outbound => 2,
        }
    }
}

impl Damage {
    const fn flags(self) -> u32 {
        match self {
            Damage::None => 0,
            Damage::Check => 1 << 24,
            Damage::TooLong => 1 << 25,
            Damage::TooShort => 1 << 26,
            Damage::Symbol => 1 << 31,
        }
    }
}

/// What the whole file says of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// For a person.
    pub comment: String,
    /// The program that wrote it.
    pub program: String,
}

/// A line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// Short.
    pub name: String,
    /// What stands behind it.
    pub description: String,
    /// For a person.
    pub comment: String,
}

/// A piece of what went over a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// Its line, in the order in which they were written.
    pub interface: u32,
    /// Microseconds since 1970.
    pub unix_us: u64,
    /// The bytes, as far as they are kept.
    pub bytes: &'a [u8],
    /// How many there were.
    pub length: u32,
    /// Which way.
    pub direction: Direction,
    /// What was wrong.
    pub damage: Damage,
    /// Packets of this line that were lost since the last one.
    pub lost: u64,
    /// For a person; empty: nothing.
    pub comment: &'a str,
}

/// What was counted of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Packets, lost ones included.
    pub received: u64,
    /// Lost ones.
    pub lost: u64,
}

/// A file that is written.
pub struct Writer<W> {
    to: W,
    block: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Begins with the section.
    ///
    /// # Errors
    /// As `to` has them.
    pub fn new(to: W, section: &Section) -> io::Result<Writer<W>> {
        let mut writer = Writer { to, block: Vec::new() };
        let block = &mut writer.block;
        block.extend_from_slice(&0x1A2B_3C4D_u32.to_le_bytes());
        block.extend_from_slice(&1_u16.to_le_bytes());
        block.extend_from_slice(&0_u16.to_le_bytes());
        block.extend_from_slice(&LENGTH_UNKNOWN.to_le_bytes());
        option(block, 1, section.comment.as_bytes());
        option(block, 4, section.program.as_bytes());
        writer.end(0x0A0D_0D0A)?;
        Ok(writer)
    }

    /// The next line.
    ///
    /// # Errors
    /// As the file has them.
    pub fn interface(&mut self, interface: &Interface) -> io::Result<()> {
        let block = &mut self.block;
        block.extend_from_slice(&USER0.to_le_bytes());
        block.extend_from_slice(&[0; 2]);
        // Frames are never cut but for endless noise, which says so itself: no limit.
        block.extend_from_slice(&0_u32.to_le_bytes());
        option(block, 1, interface.comment.as_bytes());
        option(block, 2, interface.name.as_bytes());
        option(block, 3, interface.description.as_bytes());
        option(block, 9, &[MICROSECONDS]);
        self.end(1)
    }

    /// A packet.
    ///
    /// # Errors
    /// As the file has them.
    pub fn packet(&mut self, packet: &Packet<'_>) -> io::Result<()> {
        let block = &mut self.block;
        block.extend_from_slice(&packet.interface.to_le_bytes());
        block.extend_from_slice(&time(packet.unix_us));
        block.extend_from_slice(&length(packet.bytes).to_le_bytes());
        block.extend_from_slice(&packet.length.to_le_bytes());
        padded(block, packet.bytes);
        option(block, 1, packet.comment.as_bytes());
        let flags = packet.direction.flags() | packet.damage.flags();
        option(block, 2, &flags.to_le_bytes());
        if packet.lost > 0 {
            option(block, 4, &packet.lost.to_le_bytes());
        }
        self.end(6)
    }

    /// What was counted of a line, at the end.
    ///
    /// # Errors
    /// As the file has them.
    pub fn statistics(&mut self, interface: u32, unix_us: u64, counted: Statistics) -> io::Result<()> {
        let block = &mut self.block;
        block.extend_from_slice(&interface.to_le_bytes());
        block.extend_from_slice(&time(unix_us));
        option(block, 4, &counted.received.to_le_bytes());
        option(block, 5, &counted.lost.to_le_bytes());
        self.end(5)
    }

    /// Everything that was written reaches the file.
    ///
    /// # Errors
    /// As the file has them.
    pub fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    /// The file.
    pub fn into_inner(self) -> W {
        self.to
    }

    /// Writes the block that was put together. It had at least one option, so the end of options is due.
    fn end(&mut self, kind: u32) -> io::Result<()> {
        self.block.extend_from_slice(&[0; 4]);
        let total = length(&self.block).saturating_add(12).to_le_bytes();
        self.to.write_all(&kind.to_le_bytes())?;
        self.to.write_all(&total)?;
        self.to.write_all(&self.block)?;
        self.to.write_all(&total)?;
        self.block.clear();
        Ok(())
    }
}

/// Values of options are shorter than this; texts are cut.
const MAX_OPTION: usize = 60_000;

/// An option; none when it is empty.
fn option(block: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = value.get(..MAX_OPTION).unwrap_or(value);
    if value.is_empty() {
        return;
    }
    block.extend_from_slice(&code.to_le_bytes());
    block.extend_from_slice(&u16::try_from(value.len()).unwrap_or(u16::MAX).to_le_bytes());
    padded(block, value);
}

fn padded(block: &mut Vec<u8>, bytes: &[u8]) {
    block.extend_from_slice(bytes);
    let padding = bytes.len().next_multiple_of(4) - bytes.len();
    block.extend(std::iter::repeat_n(0, padding));
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

/// The upper half goes first.
fn time(unix_us: u64) -> [u8; 8] {
    let [a, b, c, d, e, f, g, h] = unix_us.to_le_bytes();
    [e, f, g, h, a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If this fails, change the code, not the test: other programs read these bytes.
    #[test]
    fn a_packet_has_these_bytes() {
        let section = Section {
            comment: "abc".into(),
            program: "t".into(),
        };
        let mut writer = Writer::new(Vec::new(), &section).unwrap();
        let begun = writer.to.len();
        let packet = Packet {
            interface: 1,
            unix_us: 0x0102_0304_0506_0708,
            bytes: &[0, 0xAA, 0],
            length: 3,
            direction: Direction::Inbound,
            damage: Damage::Check,
            lost: 0,
            comment: "",
        };
        writer.packet(&packet).unwrap();
        let written = writer.into_inner();
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(
            hex(&written[..begun]),
            "0a0d0d0a300000004d3c2b1a01000000ffffffffffffffff010003006162630004000100740000000000000030000000"
        );
        assert_eq!(
            hex(&written[begun..]),
            "06000000300000000100000004030201080706050300000003000000\
             00aa000002000400010000010000000030000000"
        );
    }
}
