//! Whether a line spoils what it carries: a loose plug, a damaged cable, interference. Single frames are spoiled on every line; what
//! goes on is a fault that a technician can find, before it costs a round. PURE: `now` comes in.

use std::collections::VecDeque;
use std::time::Duration;

use crate::time::Uptime;

use super::report::Poor;

/// What a person reads of such a line.
pub(super) const POOR: &str = "frames keep being damaged, or the device keeps going away: a loose plug, a damaged cable, its power, or interference?";

/// Damaged frames and repeats are counted over this long.
const MINUTE: Duration = Duration::from_secs(60);

/// So many of them within a minute are a fault. A line in order has a few a day; a handful come when a device is plugged in.
const MOST_SPOILED: u64 = 10;

/// Lost links are counted over this long.
const TEN_MINUTES: Duration = Duration::from_secs(600);

/// So many within ten minutes are a fault. Whoever replugs a device, or starts it anew, does so once or twice.
const MOST_LOST: u64 = 4;

/// What is remembered of times: as many moments as there can be within [`MINUTE`], since those of one second are one.
const MOST_MOMENTS: usize = 64;

/// Counted since the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct SoFar {
    /// Frames whose check failed, and what is no frame.
    pub(super) damaged: u64,
    /// Messages sent again.
    pub(super) repeats: u64,
    /// Times that the link was up and went away.
    pub(super) lost: u64,
}

/// How the line's standing has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    /// It spoils too much.
    Poor,
    /// It has spoiled nothing for a while.
    Fair,
}

/// What a line has spoiled lately.
#[derive(Debug, Default)]
pub(super) struct Quality {
    known: SoFar,
    spoiled: VecDeque<(Uptime, SoFar)>,
    lost: VecDeque<Uptime>,
    poor_since: Option<Uptime>,
}

impl Quality {
    /// Takes the counters as they are at `now`.
    pub(super) fn weigh(&mut self, now: Uptime, so_far: SoFar) -> Option<Turn> {
        if so_far == self.known && self.spoiled.is_empty() && self.lost.is_empty() {
            return None;
        }
        self.note(now, so_far);
        while self.spoiled.pop_front_if(|(at, _)| now.since(*at) >= MINUTE).is_some() {}
        while self.lost.pop_front_if(|at| now.since(*at) >= TEN_MINUTES).is_some() {}
        let lately = self.lately();
        let is_poor = lately.damaged + lately.repeats >= MOST_SPOILED || lately.lost >= MOST_LOST;
        match self.poor_since {
            None if is_poor => {
                self.poor_since = Some(now);
                Some(Turn::Poor)
            }
            // One that is still lost now and then isn't in order, though nothing came damaged for a minute.
            Some(_) if lately.damaged + lately.repeats == 0 && lately.lost < MOST_LOST => {
                self.poor_since = None;
                Some(Turn::Fair)
            }
            None | Some(_) => None,
        }
    }

    /// What came damaged by now tells nothing of the line: at another baud rate everything does.
    pub(super) fn overlook(&mut self, so_far: SoFar) {
        self.known = SoFar {
            lost: self.known.lost,
            ..so_far
        };
    }

    /// How poor the line is; `None`: it isn't.
    pub(super) fn poor(&self) -> Option<Poor> {
        let since = self.poor_since?;
        let lately = self.lately();
        Some(Poor {
            since_us: since.as_micros(),
            damaged: lately.damaged,
            repeats: lately.repeats,
            lost: lately.lost,
        })
    }

    fn note(&mut self, now: Uptime, so_far: SoFar) {
        let new = SoFar {
            damaged: so_far.damaged.saturating_sub(self.known.damaged),
            repeats: so_far.repeats.saturating_sub(self.known.repeats),
            lost: so_far.lost.saturating_sub(self.known.lost),
        };
        // A session's defect makes the counters begin anew.
        self.known = so_far;
        let most_lost = usize::try_from(MOST_LOST).unwrap_or(usize::MAX);
        if new.lost > 0 {
            if self.lost.len() == most_lost {
                self.lost.pop_front();
            }
            self.lost.push_back(now);
        }
        if new.damaged + new.repeats == 0 {
            return;
        }
        match self.spoiled.back_mut() {
            Some((at, spoiled)) if now.since(*at) < Duration::from_secs(1) => {
                spoiled.damaged += new.damaged;
                spoiled.repeats += new.repeats;
            }
            Some(_) | None => {
                if self.spoiled.len() == MOST_MOMENTS {
                    self.spoiled.pop_front();
                }
                self.spoiled.push_back((now, new));
            }
        }
    }

    fn lately(&self) -> SoFar {
        let mut lately = SoFar {
            lost: u64::try_from(self.lost.len()).unwrap_or(u64::MAX),
            ..SoFar::default()
        };
        for (_, spoiled) in &self.spoiled {
            lately.damaged += spoiled.damaged;
            lately.repeats += spoiled.repeats;
        }
        lately
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Uptime {
        Uptime::from_millis(seconds * 1000)
    }

    fn counted(damaged: u64, repeats: u64, lost: u64) -> SoFar {
        SoFar { damaged, repeats, lost }
    }

    #[test]
    fn a_few_damaged_frames_are_no_fault_and_many_are_until_a_minute_without() {
        let mut quality = Quality::default();
        assert_eq!(quality.weigh(at(1), counted(4, 4, 0)), None);
        assert_eq!(quality.weigh(at(30), counted(5, 4, 0)), None);
        assert_eq!(quality.weigh(at(31), counted(5, 5, 0)), Some(Turn::Poor));
        let poor = quality.poor().unwrap();
        assert_eq!((poor.since_us, poor.damaged, poor.repeats), (31_000_000, 5, 5));
        assert_eq!(quality.weigh(at(60), counted(6, 5, 0)), None);
        assert_eq!(quality.weigh(at(100), counted(6, 5, 0)), None, "one in the last minute");
        assert_eq!(quality.weigh(at(120), counted(6, 5, 0)), Some(Turn::Fair));
        assert_eq!(quality.poor(), None);
    }

    #[test]
    fn what_came_before_a_greeting_was_answered_is_overlooked() {
        let mut quality = Quality::default();
        quality.overlook(counted(1000, 0, 0));
        assert_eq!(quality.weigh(at(1), counted(1000, 0, 0)), None);
        assert_eq!(quality.weigh(at(2), counted(1010, 0, 0)), Some(Turn::Poor));
    }

    #[test]
    fn spoiled_frames_that_are_far_apart_are_no_fault() {
        let mut quality = Quality::default();
        for minute in 0..100 {
            assert_eq!(quality.weigh(at(minute * 60), counted(minute * 3, minute * 3, 0)), None);
        }
    }

    #[test]
    fn a_device_that_is_lost_again_and_again_is_on_a_poor_line() {
        let mut quality = Quality::default();
        for lost in 1..4 {
            assert_eq!(quality.weigh(at(lost * 60), counted(0, 0, lost)), None);
        }
        assert_eq!(quality.weigh(at(240), counted(0, 0, 4)), Some(Turn::Poor));
        assert_eq!(quality.poor().unwrap().lost, 4);
        assert_eq!(quality.weigh(at(659), counted(0, 0, 4)), None);
        assert_eq!(quality.weigh(at(660), counted(0, 0, 4)), Some(Turn::Fair));
    }

    #[test]
    fn what_is_remembered_has_an_end() {
        let mut quality = Quality::default();
        for tick in 0..100_000_u64 {
            quality.weigh(Uptime::from_millis(tick * 10), counted(tick, tick, tick));
        }
        assert!(quality.spoiled.len() <= MOST_MOMENTS && quality.lost.len() <= 4);
    }
}
