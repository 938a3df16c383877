//! Reads a capture, packet by packet. The file may come from anywhere: what is damaged is told with the number of its packet, as Wireshark
//! counts them, and nothing of it is trusted.

use crate::cli::capture::pcapng::{Direction, USER0};
use crate::time::Timestamp;
use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{Block, OptionCode, PcapBlockOwned, PcapError, PcapNGOption, PcapNGReader};
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

/// A block at most: a packet of a serial line is far smaller, and Wireshark's own blocks stay below it.
const MAX_BLOCK: usize = 1 << 20;

/// Interfaces at most: a table has four devices, and files may be merged.
const MAX_LINES: usize = 64;

/// How a pcapng file begins, whatever its byte order.
const SECTION: [u8; 4] = [0x0A, 0x0D, 0x0D, 0x0A];

/// Bytes up to the end of the number that tells the byte order: block type, length, that number.
const BEGINNING: u64 = 12;

/// The older form of captures, in either byte order, with microseconds or nanoseconds.
const CLASSIC: [[u8; 4]; 4] = [
    [0xD4, 0xC3, 0xB2, 0xA1],
    [0xA1, 0xB2, 0xC3, 0xD4],
    [0x4D, 0x3C, 0xB2, 0xA1],
    [0xA1, 0xB2, 0x3C, 0x4D],
];

/// Why a capture can't be read further; whoever tells it names the file.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// It can't be opened, or a disk fails.
    #[error("it can't be read")]
    Io(#[source] std::io::Error),
    /// Another kind of file.
    #[error("it is no pcapng file, as tablegate capture and Wireshark write it")]
    NotPcapng,
    /// The form before pcapng, which has no lines.
    #[error("it is a pcap file of the older form, which knows no lines: only pcapng files are read")]
    Classic,
    /// It ends before anything.
    #[error("it ends within its section header: it was cut")]
    CutHeader,
    /// It begins with nothing that can be read.
    #[error("its section header is damaged")]
    DamagedHeader,
    /// Packets of something else.
    #[error(
        "packet {packet} of interface {interface} ({name}) is none of a table's line: its link type is {link_type}, and ours is {USER0} (USER0)"
    )]
    OtherLinkType {
        /// Its number, from 1.
        packet: u64,
        /// Its interface, from 0, as Wireshark counts them.
        interface: u32,
        /// What the file calls that.
        name: String,
        /// What it is.
        link_type: i32,
    },
    /// A packet of a kind that has neither time nor direction.
    #[error("packet {packet} says neither when it came nor which way it went (a simple packet block)")]
    Untimed {
        /// Its number, from 1.
        packet: u64,
    },
    /// It names a line that was not described.
    #[error("packet {packet} is damaged: it belongs to interface {interface}, which the file doesn't describe")]
    NoInterface {
        /// Its number, from 1.
        packet: u64,
        /// The interface.
        interface: u32,
    },
    /// The bytes are no block.
    #[error("it is damaged at packet {packet}: the bytes there are no pcapng block")]
    Damaged {
        /// The packet that should stand there, from 1.
        packet: u64,
    },
    /// It ends in the middle of something.
    #[error("it ends within packet {packet}: it was cut, or the capture was not ended")]
    Cut {
        /// The packet that should stand there, from 1.
        packet: u64,
    },
    /// Too many lines.
    #[error("it describes more than {MAX_LINES} interfaces before packet {packet}")]
    TooManyLines {
        /// The packet that would come next, from 1.
        packet: u64,
    },
}

/// A line of the capture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// Its name: the device's word.
    pub name: String,
    /// What is said of it.
    pub comment: String,
    link_type: i32,
    /// Units of its times in a second.
    units: u64,
}

/// A packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// Its number, from 1, as Wireshark counts.
    pub number: u64,
    /// Its line.
    pub line: usize,
    /// When it was captured.
    pub at: Timestamp,
    /// Which way it went.
    pub direction: Direction,
    /// The bytes that were kept.
    pub bytes: Vec<u8>,
    /// How many there were.
    pub length: u32,
    /// What is said of it.
    pub comment: String,
}

/// A capture that is read.
pub struct Recording {
    reader: PcapNGReader<Box<dyn Read + Send>>,
    lines: Vec<Line>,
    comment: String,
    packets: u64,
    /// Sections that began.
    sections: u64,
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a recording after packet {}", self.packets)
    }
}

impl Recording {
    /// Opens a file.
    ///
    /// # Errors
    /// It can't be read, or is no pcapng.
    pub fn open(path: &Path) -> Result<Recording, CaptureError> {
        let mut file = File::open(path).map_err(CaptureError::Io)?;
        let mut begin = Vec::new();
        file.by_ref()
            .take(BEGINNING)
            .read_to_end(&mut begin)
            .map_err(CaptureError::Io)?;
        let (magic, rest) = begin.split_at(begin.len().min(SECTION.len()));
        if CLASSIC.iter().any(|classic| magic == classic) {
            return Err(CaptureError::Classic);
        }
        if magic != SECTION {
            return Err(CaptureError::NotPcapng);
        }
        // The library takes any number there for the other order.
        match rest.get(4..) {
            Some([0x4D, 0x3C, 0x2B, 0x1A] | [0x1A, 0x2B, 0x3C, 0x4D]) => {}
            Some([_, _, _, _]) => return Err(CaptureError::DamagedHeader),
            Some(_) | None => return Err(CaptureError::CutHeader),
        }
        file.rewind().map_err(CaptureError::Io)?;
        Recording::of(Box::new(file)).map_err(|error| match error {
            PcapError::Eof | PcapError::Incomplete(_) | PcapError::UnexpectedEof => CaptureError::CutHeader,
            PcapError::BufferTooSmall
            | PcapError::ReadError
            | PcapError::HeaderNotRecognized
            | PcapError::NomError(..)
            | PcapError::OwnedNomError(..) => CaptureError::DamagedHeader,
        })
    }

    fn of(file: Box<dyn Read + Send>) -> Result<Recording, PcapError<&'static [u8]>> {
        Ok(Recording {
            reader: PcapNGReader::new(MAX_BLOCK, file)?,
            lines: Vec::new(),
            comment: String::new(),
            packets: 0,
            sections: 0,
        })
    }

    /// Which section of the file is read, from 1: each describes its own lines.
    pub fn section(&self) -> u64 {
        self.sections
    }

    /// The lines of this section that were described so far.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// What the file says of itself, as far as it was read.
    pub fn comment(&self) -> &str {
        &self.comment
    }

    /// The next packet; `None` at the end.
    ///
    /// # Errors
    /// What is wrong with the file; nothing can be read after it.
    pub fn next(&mut self) -> Result<Option<Recorded>, CaptureError> {
        let packet = self.packets + 1;
        let mut is_filled = false;
        loop {
            let (used, found) = match self.reader.next() {
                Ok((used, PcapBlockOwned::NG(block))) => {
                    is_filled = false;
                    (used, taken(&block))
                }
                Ok((used, PcapBlockOwned::Legacy(_) | PcapBlockOwned::LegacyHeader(_))) => (used, Taken::Other),
                Err(PcapError::Eof) => return Ok(None),
                Err(PcapError::Incomplete(_)) if is_filled => return Err(self.cut()),
                Err(PcapError::Incomplete(_)) => {
                    is_filled = true;
                    if self.reader.refill().is_err() {
                        return Err(self.cut());
                    }
                    continue;
                }
                Err(PcapError::UnexpectedEof) => return Err(self.cut()),
                Err(
                    PcapError::BufferTooSmall
                    | PcapError::ReadError
                    | PcapError::HeaderNotRecognized
                    | PcapError::NomError(..)
                    | PcapError::OwnedNomError(..),
                ) => return Err(self.damaged()),
            };
            self.reader.consume(used);
            match found {
                Taken::Section(comment) => {
                    self.comment = comment;
                    self.lines.clear();
                    self.sections += 1;
                }
                Taken::Line(_) if self.lines.len() >= MAX_LINES => return Err(CaptureError::TooManyLines { packet }),
                Taken::Line(line) => self.lines.push(line),
                Taken::Packet(raw) => {
                    self.packets = packet;
                    return self.packet(raw).map(Some);
                }
                Taken::Untimed => return Err(CaptureError::Untimed { packet }),
                Taken::Other => {}
            }
        }
    }

    fn cut(&self) -> CaptureError {
        match self.sections {
            0 => CaptureError::CutHeader,
            _ => CaptureError::Cut {
                packet: self.packets + 1,
            },
        }
    }

    fn damaged(&self) -> CaptureError {
        match self.sections {
            0 => CaptureError::DamagedHeader,
            _ => CaptureError::Damaged {
                packet: self.packets + 1,
            },
        }
    }

    fn packet(&self, raw: Raw) -> Result<Recorded, CaptureError> {
        let number = self.packets;
        let interface = raw.interface;
        let line = usize::try_from(interface).unwrap_or(usize::MAX);
        let Some(known) = self.lines.get(line) else {
            return Err(CaptureError::NoInterface {
                packet: number,
                interface,
            });
        };
        if known.link_type != i32::from(USER0) {
            return Err(CaptureError::OtherLinkType {
                packet: number,
                interface,
                name: known.name.clone(),
                link_type: known.link_type,
            });
        }
        let micros = u128::from(raw.time) * 1_000_000 / u128::from(known.units.max(1));
        Ok(Recorded {
            number,
            line,
            at: Timestamp::from_unix_micros(i64::try_from(micros).unwrap_or(i64::MAX)),
            direction: match raw.flags & 3 {
                1 => Direction::Inbound,
                2 => Direction::Outbound,
                _ => Direction::None,
            },
            bytes: raw.bytes,
            length: raw.length,
            comment: raw.comment,
        })
    }
}

/// What was taken out of a block.
enum Taken {
    Section(String),
    Line(Line),
    Packet(Raw),
    Untimed,
    Other,
}

struct Raw {
    interface: u32,
    time: u64,
    flags: u32,
    bytes: Vec<u8>,
    length: u32,
    comment: String,
}

/// `epb_flags`, which the library has no name for.
const FLAGS: OptionCode = OptionCode(2);

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "of the many blocks of the format four matter here"
)]
fn taken(block: &Block<'_>) -> Taken {
    match block {
        Block::SectionHeader(section) => Taken::Section(text(&section.options, OptionCode::Comment)),
        Block::InterfaceDescription(interface) => Taken::Line(Line {
            name: text(&interface.options, OptionCode::IfName),
            comment: text(&interface.options, OptionCode::Comment),
            link_type: interface.linktype.0,
            units: interface.ts_resolution().unwrap_or(1_000_000),
        }),
        Block::EnhancedPacket(packet) => {
            let flags = packet.options.iter().find(|option| option.code == FLAGS);
            let flags = flags.and_then(|option| option.as_u32_le().ok()).unwrap_or(0);
            Taken::Packet(Raw {
                interface: packet.if_id,
                time: u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low),
                flags,
                bytes: packet.packet_data().to_vec(),
                length: packet.origlen,
                comment: text(&packet.options, OptionCode::Comment),
            })
        }
        Block::SimplePacket(_) => Taken::Untimed,
        _ => Taken::Other,
    }
}

/// An option's text without what would garble a terminal.
fn text(options: &[PcapNGOption<'_>], code: OptionCode) -> String {
    let found = options.iter().find(|option| option.code == code);
    let bytes = found.and_then(|option| option.as_bytes().ok()).unwrap_or_default();
    let clean = |c: char| if c.is_control() { '?' } else { c };
    String::from_utf8_lossy(bytes).chars().map(clean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::capture::pcapng::{Damage, Interface, Packet, Section, Writer};
    use std::io::Cursor;

    const PACKETS: u64 = 3;

    fn capture() -> Vec<u8> {
        let section = Section {
            comment: "a table".into(),
            program: "t".into(),
        };
        let mut writer = Writer::new(Vec::new(), &section).unwrap();
        let line = Interface {
            name: "terminal".into(),
            description: "/dev/ttyS1".into(),
            comment: "serial ET-1".into(),
        };
        writer.interface(&line).unwrap();
        for number in 0..PACKETS {
            let packet = Packet {
                interface: 0,
                unix_us: 1_700_000_000_000_000 + number,
                bytes: &[0, 7, 0],
                length: 3,
                direction: Direction::Outbound,
                damage: Damage::None,
                lost: 0,
                comment: "",
            };
            writer.packet(&packet).unwrap();
        }
        writer.into_inner()
    }

    /// Reads to the end or to an error; how many packets there were.
    fn read(bytes: Vec<u8>) -> (u64, Option<CaptureError>) {
        let Ok(mut recording) = Recording::of(Box::new(Cursor::new(bytes))) else {
            return (0, None);
        };
        let mut packets = 0;
        loop {
            match recording.next() {
                Ok(Some(packet)) => {
                    packets += 1;
                    assert_eq!(packet.number, packets);
                }
                Ok(None) => return (packets, None),
                Err(error) => return (packets, Some(error)),
            }
        }
    }

    #[test]
    fn a_whole_file_is_read_whole_and_a_cut_one_up_to_the_cut() {
        let whole = capture();
        assert!(matches!(read(whole.clone()), (PACKETS, None)));
        for cut in 1..whole.len() {
            let (packets, error) = read(whole[..cut].to_vec());
            assert!(packets < PACKETS, "{cut}");
            let Some(error) = error else { continue };
            let expected = format!("it ends within packet {}", packets + 1);
            let told = error.to_string();
            let is_header = packets == 0 && told.starts_with("it ends within its section header");
            assert!(is_header || told.starts_with(&expected), "{cut}: {error}");
        }
    }

    #[test]
    fn no_byte_that_is_wrong_stops_the_reader_from_ending() {
        let whole = capture();
        let mut refused = 0;
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xFF;
            let (packets, error) = read(damaged);
            assert!(packets <= PACKETS);
            refused += u64::from(error.is_some() || packets == 0);
        }
        assert!(refused > 50, "{refused}");
    }
}
