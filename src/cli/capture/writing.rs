//! A capture's file: what the daemon tells, in the words of the format, and what was counted of it.

use super::pcapng::{Damage, Direction, Interface, Packet, Section, Statistics, Writer};
use crate::counted::counted;
use crate::device::{Kept, Kind, LinkReport, What};
use crate::gateway::{Captured, Entry, View};
use crate::table::event::ClockQuality;
use serde::Serialize;
use std::io::{self, Write};

/// A packet's comment begins so when it stands for bytes that are not shown.
pub const WITHHELD: &str = "withheld: ";

/// A packet's comment begins so when nothing went over the line: a sentence about it.
pub const NOTE: &str = "note: ";

/// What was captured.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Tally {
    /// By line, in the order of the file.
    pub lines: Vec<LineTally>,
}

/// What was captured of a line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LineTally {
    /// Whose.
    pub device: Kind,
    /// Pieces that went over the line, withheld ones included.
    pub frames: u64,
    /// Bytes of those on the line.
    pub bytes: u64,
    /// Of those, how many were no valid frame.
    pub damaged: u64,
    /// Of those, how many are in the file with time and length only.
    pub withheld: u64,
    /// How many were lost, because this command was too slow.
    pub lost: u64,
}

impl Tally {
    fn sum(&self, what: impl Fn(&LineTally) -> u64) -> u64 {
        self.lines.iter().map(what).sum()
    }

    /// Of all lines.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.sum(|line| line.frames)
    }

    /// For a person.
    #[must_use]
    pub fn sentence(&self) -> String {
        let mut text = format!(
            "{}, {}",
            counted(self.frames(), "frame"),
            counted(self.sum(|line| line.bytes), "byte")
        );
        for (count, what) in [
            (self.sum(|line| line.damaged), "damaged"),
            (self.sum(|line| line.withheld), "withheld (they hold dice, or may)"),
            (
                self.sum(|line| line.lost),
                "LOST: this command could not write as fast as they came",
            ),
        ] {
            if count > 0 {
                text.push_str(&format!(", {count} {what}"));
            }
        }
        text
    }
}

/// A file that is written.
pub struct Writing<W> {
    to: Writer<W>,
    tally: Tally,
    /// Lost packets by line that the next packet tells of.
    untold: Vec<u64>,
    /// The run's beginning by the wall clock, as the first answer had it: one clock for the whole file.
    began_unix_us: Option<i64>,
    /// The time of the newest packet.
    newest: u64,
}

impl<W: Write> Writing<W> {
    /// Begins with what the table is, and its lines.
    pub(super) fn begin(to: W, view: &View, links: &[LinkReport]) -> io::Result<Writing<W>> {
        let mut to = Writer::new(to, &section(view))?;
        for link in links {
            to.interface(&interface(link))?;
        }
        let lines = links.iter().map(|link| LineTally {
            device: link.kind,
            frames: 0,
            bytes: 0,
            damaged: 0,
            withheld: 0,
            lost: 0,
        });
        Ok(Writing {
            to,
            tally: Tally { lines: lines.collect() },
            untold: vec![0; links.len()],
            began_unix_us: None,
            newest: 0,
        })
    }

    pub(super) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The daemon has answered.
    pub(super) fn has_begun(&self) -> bool {
        self.began_unix_us.is_some()
    }

    fn line(&mut self, device: Kind) -> Option<(usize, &mut LineTally)> {
        let mut lines = self.tally.lines.iter_mut().enumerate();
        lines.find(|(_, line)| line.device == device)
    }

    /// What the daemon forgot before it could be told.
    pub(super) fn missed(&mut self, captured: &Captured) -> io::Result<()> {
        self.began_unix_us.get_or_insert(captured.began_unix_us);
        for missed in &captured.missed {
            let Some((at, line)) = self.line(missed.device) else {
                continue;
            };
            line.lost += missed.entries;
            if let Some(untold) = self.untold.get_mut(at) {
                *untold += missed.entries;
            }
            let text = format!(
                "{NOTE}{} are lost here: the capture could not be written as fast as they came",
                counted(missed.entries, "frame")
            );
            let unix_us = self.newest;
            self.packet(at, unix_us, (&[], 0), (Direction::None, Damage::None), &text)?;
        }
        Ok(())
    }

    /// Something went over a line.
    pub(super) fn entry(&mut self, began_unix_us: i64, entry: &Entry) -> io::Result<()> {
        let began = *self.began_unix_us.get_or_insert(began_unix_us);
        let found = &entry.found;
        let unix_us = began.saturating_add_unsigned(found.at_us);
        let unix_us = u64::try_from(unix_us).unwrap_or(0);
        let (damage, said) = of(found.what);
        let Some((at, line)) = self.line(entry.device) else {
            return Ok(());
        };
        if found.what != What::Note {
            line.frames += 1;
            line.bytes += u64::from(found.length);
            line.damaged += u64::from(!matches!(found.what, What::Sent | What::Frame));
            line.withheld += u64::from(matches!(found.kept, Kept::Reading | Kept::Unclear));
        }
        let direction = match found.what {
            What::Sent => Direction::Outbound,
            What::Note => Direction::None,
            What::Frame
            | What::OtherVersion
            | What::Echo
            | What::UnknownKind
            | What::BadCheck
            | What::Noise
            | What::TooShort
            | What::TooLong => Direction::Inbound,
        };
        let (bytes, text) = match (found.what, found.kept) {
            (What::Note, _) => (&[][..], format!("{NOTE}{}", String::from_utf8_lossy(&found.bytes))),
            (_, Kept::Whole | Kept::Cut) => (found.bytes.as_slice(), said.to_owned()),
            (_, Kept::Reading) => (
                &[][..],
                format!(
                    "{WITHHELD}a dice reading that nobody may know yet, {}",
                    counted(found.length, "byte")
                ),
            ),
            (_, Kept::Unclear) => (
                &[][..],
                format!(
                    "{WITHHELD}{said}, and it may hold a tumbler's dice; {}",
                    counted(found.length, "byte")
                ),
            ),
        };
        self.packet(at, unix_us, (bytes, found.length), (direction, damage), &text)
    }

    fn packet(
        &mut self,
        line: usize,
        unix_us: u64,
        (bytes, length): (&[u8], u32),
        (direction, damage): (Direction, Damage),
        comment: &str,
    ) -> io::Result<()> {
        self.newest = self.newest.max(unix_us);
        let lost = self.untold.get_mut(line).map(std::mem::take).unwrap_or(0);
        self.to.packet(&Packet {
            interface: u32::try_from(line).unwrap_or(u32::MAX),
            unix_us,
            bytes,
            length,
            direction,
            damage,
            lost,
            comment,
        })
    }

    /// What was written can be looked at.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    /// Ends with what was counted.
    pub(super) fn end(mut self) -> io::Result<(W, Tally)> {
        for (number, line) in (0_u32..).zip(&self.tally.lines) {
            let counted = Statistics {
                received: line.frames + line.lost,
                lost: line.lost,
            };
            self.to.statistics(number, self.newest, counted)?;
        }
        self.to.flush()?;
        Ok((self.to.into_inner(), self.tally))
    }
}

/// What the format and people call it.
fn of(what: What) -> (Damage, &'static str) {
    match what {
        What::Sent | What::Frame | What::Note => (Damage::None, ""),
        What::OtherVersion => (Damage::None, "a good frame of another version of the protocol"),
        What::Echo => (Damage::None, "a frame of the gateway, come back: the line is looped"),
        What::UnknownKind => (Damage::None, "a good frame of a kind that isn't known"),
        What::BadCheck => (Damage::Check, "damaged: the check (CRC-32C) fails"),
        What::Noise => (Damage::Symbol, "no frame: bytes that no device's encoding makes"),
        What::TooShort => (Damage::TooShort, "no frame: too short"),
        What::TooLong => (Damage::TooLong, "no frame: more bytes than a frame has"),
    }
}

fn section(view: &View) -> Section {
    let table = &view.table;
    let clock = match table.clock {
        ClockQuality::Synchronised => "follows a time server",
        ClockQuality::Unspecified | ClockQuality::Unsynchronised | ClockQuality::Stepped => "follows no time server",
    };
    Section {
        comment: format!(
            "Lines of table {} at {} ({}), captured by its gateway's daemon. tablegate {}, run {}, configuration {}, program {}. \
             The wall clock {clock}. Dice under the cover are withheld: where they were, or may have been, a packet has a length and no bytes.",
            table.table,
            table.site,
            table.game,
            table.version,
            table.run_id,
            table.software.config_sha256,
            table.software.program_sha256,
        ),
        program: format!("tablegate {}", env!("CARGO_PKG_VERSION")),
    }
}

fn interface(link: &LinkReport) -> Interface {
    let resolved = match &link.resolved {
        Some(resolved) if *resolved != link.port => format!(" -> {resolved}"),
        Some(_) | None => String::new(),
    };
    let comment = match &link.identity {
        Some(who) => format!(
            "serial {}, firmware {}, boot {:08x}",
            who.serial_number, who.firmware, who.boot_id
        ),
        None => "no device has answered here yet".to_owned(),
    };
    Interface {
        name: link.kind.word().to_owned(),
        description: format!("{}{resolved}", link.port),
        comment,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Piece;
    use crate::gateway::{Missed, testing};

    #[test]
    fn what_was_lost_is_said_where_it_is_missing_at_the_end_and_to_the_person() {
        let view = View {
            table: testing::view(),
            links: vec![LinkReport::new(Kind::Lamps, "/dev/ttyS7".to_owned())],
            uplink: None,
        };
        let entry = Entry {
            device: Kind::Lamps,
            found: Piece {
                at_us: 5,
                what: What::Sent,
                length: 3,
                kept: Kept::Whole,
                bytes: vec![0, 9, 0],
            },
        };
        let captured = Captured {
            began_unix_us: 1,
            entries: vec![entry],
            missed: vec![Missed {
                device: Kind::Lamps,
                entries: 41,
            }],
            more: false,
        };
        let mut writing = Writing::begin(Vec::new(), &view, &view.links).unwrap();
        writing.missed(&captured).unwrap();
        writing.entry(captured.began_unix_us, &captured.entries[0]).unwrap();
        let (bytes, tally) = writing.end().unwrap();
        assert_eq!((tally.frames(), tally.lines[0].lost), (1, 41));
        assert!(tally.sentence().contains("41 LOST"), "{}", tally.sentence());
        let holds = |wanted: &[u8]| bytes.windows(wanted.len()).any(|bytes| bytes == wanted);
        assert!(holds(b"41 frames are lost here"));
        // epb_dropcount of the packet, and isb_ifdrop of the statistics.
        assert!(holds(&[4, 0, 8, 0, 41, 0, 0, 0, 0, 0, 0, 0]));
        assert!(holds(&[5, 0, 8, 0, 41, 0, 0, 0, 0, 0, 0, 0]));
    }
}
