//! What is wrong with a line: a layer over the bytes between a device and its pty, seeded.

use super::Chance;
use crate::time::Uptime;
use std::collections::VecDeque;
use std::time::Duration;

/// What is wrong with a line. All numbers are percent of what passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub struct Faults {
    /// Frames that vanish.
    pub lost: u8,
    /// Frames that come twice.
    pub repeated: u8,
    /// Frames with one bit flipped.
    pub flipped: u8,
    /// Frames with noise before them.
    pub noise: u8,
    /// Everything that the device says comes this much later.
    pub late: Duration,
    /// What becomes of all bytes.
    pub garble: Garble,
}

/// What becomes of all bytes of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Garble {
    /// Nothing.
    #[default]
    None,
    /// The baud rates differ: both sides hear garbage.
    WrongBaud,
    /// The line is looped: the host hears itself, too.
    Echo,
    /// Cut: nobody hears anything.
    Silent,
}

/// The line of one device.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) faults: Faults,
    chance: Chance,
    under_way: VecDeque<(Uptime, Vec<u8>)>,
}

impl Line {
    pub(super) fn new(seed: u64) -> Self {
        Line {
            faults: Faults::default(),
            chance: Chance::new(seed),
            under_way: VecDeque::new(),
        }
    }

    /// Whole frames from the device.
    pub(super) fn say(&mut self, now: Uptime, bytes: &[u8]) {
        for frame in frames(bytes) {
            if self.chance.hits(self.faults.noise) {
                let noise: Vec<u8> = (0..self.chance.below(40)).map(|_| self.chance.byte()).collect();
                self.put(now, noise);
            }
            for copy in self.spoil(frame) {
                self.put(now, copy);
            }
        }
    }

    /// Noise that comes from nowhere.
    pub(super) fn noise(&mut self, now: Uptime, length: usize) {
        let noise = (0..length).map(|_| self.chance.byte()).collect();
        self.put(now, noise);
    }

    /// Bytes from the host, in any pieces: what the device hears of them.
    pub(super) fn hear(&mut self, now: Uptime, bytes: &[u8]) -> Vec<u8> {
        match self.faults.garble {
            Garble::None => self.spoil(bytes).concat(),
            Garble::Echo => {
                self.under_way.push_back((now, bytes.to_vec()));
                bytes.to_vec()
            }
            Garble::WrongBaud => self.garbage(bytes.len()),
            Garble::Silent => Vec::new(),
        }
    }

    /// What reaches the host by now.
    pub(super) fn arrived(&mut self, now: Uptime) -> Vec<u8> {
        let mut all = Vec::new();
        while let Some((_, bytes)) = self.under_way.pop_front_if(|(at, _)| *at <= now) {
            all.extend(bytes);
        }
        all
    }

    pub(super) fn deadline(&self) -> Option<Uptime> {
        self.under_way.front().map(|(at, _)| *at)
    }

    fn put(&mut self, now: Uptime, bytes: Vec<u8>) {
        let bytes = match self.faults.garble {
            Garble::None | Garble::Echo => bytes,
            Garble::WrongBaud => self.garbage(bytes.len()),
            Garble::Silent => return,
        };
        // A line keeps order, also when its delay is changed.
        let at = (now + self.faults.late).max(self.under_way.back().map_or(now, |(at, _)| *at));
        self.under_way.push_back((at, bytes));
    }

    fn spoil(&mut self, frame: &[u8]) -> Vec<Vec<u8>> {
        if self.chance.hits(self.faults.lost) {
            return Vec::new();
        }
        let mut copy = frame.to_vec();
        if self.chance.hits(self.faults.flipped) {
            let at = self.chance.below(copy.len());
            let bit = self.chance.below(8);
            if let Some(byte) = copy.get_mut(at) {
                *byte ^= 1 << bit;
            }
        }
        if self.chance.hits(self.faults.repeated) {
            return vec![copy.clone(), copy];
        }
        vec![copy]
    }

    fn garbage(&mut self, length: usize) -> Vec<u8> {
        // A faster listener sees few long bits as many bytes; zeros are framing errors and mostly vanish.
        (0..length).map(|_| self.chance.byte() | 0x11).collect()
    }
}

/// Splits what a device's machine wrote into its frames.
fn frames(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let end = rest.iter().skip(1).position(|byte| *byte == 0)? + 2;
        let (frame, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(frame)
    })
}
