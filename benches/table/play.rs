//! Rounds of tai-sai as a dealer plays them, as fast as the rules allow.

use crate::daemon::{self, Daemon};
use crate::ends::Ends;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tablegate::wire::message::{Cover, Key};

/// Longer than anything that is waited for in a healthy run.
const PATIENCE: Duration = Duration::from_secs(10);

/// A device that sends more than a hundred reports in 2 s is taken for a noisy line; a round takes six of the terminal's.
const QUICK_ROUND: Duration = Duration::from_millis(150);

/// The cover counts as off after 300 ms.
const UNCOVERED: Duration = Duration::from_millis(330);

/// A table being played.
pub struct Play {
    pub daemon: Daemon,
    ends: Ends,
    folder: PathBuf,
}

/// When things happened in a round.
pub struct Played {
    pub entered: Instant,
    pub entry_to_lamps: Duration,
}

impl Play {
    /// Starts the daemon and opens the table.
    pub fn begin(folder: &Path, broker_port: u16) -> Play {
        daemon::configure(folder, broker_port);
        let mut ends = crate::ends(folder);
        let daemon = Daemon::start(folder);
        let began = Instant::now();
        ends.pump("all devices greeted", PATIENCE, |ends| {
            ends.entry != 0 && !ends.pictures.is_empty()
        });
        loop {
            let mut opened = false;
            std::thread::scope(|scope| {
                let opening = scope.spawn(|| daemon.command(&["open", "--yes"]));
                ends.pump("the table to open", PATIENCE, |_| opening.is_finished());
                opened = opening.join().unwrap();
            });
            if opened {
                break;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "the table didn't open:\n{}",
                daemon::log_tail(folder)
            );
        }
        Play {
            daemon,
            ends,
            folder: folder.to_owned(),
        }
    }

    /// A round with every signal a real one has, up to its lit lamps; the entry's way to them is timed.
    pub fn until_the_lamps(&mut self, number: usize) -> Played {
        self.ends.spin(3);
        self.wait_for_the_spins();
        self.ends.ring();
        self.ends.set_cover(Cover::Off);
        let uncovered = Instant::now();
        self.ends.pump("the cover to count as off", PATIENCE, |_| {
            uncovered.elapsed() > UNCOVERED
        });
        self.enter(number)
    }

    /// The rest of that round. It begins when nothing is being measured any more: a command is a process of its own.
    pub fn finish(&mut self) {
        self.settle();
        self.ends.set_cover(Cover::On);
        self.rest(Duration::from_millis(60));
    }

    /// A round on a tumbler without a cover switch: the entry stands for the uncover.
    pub fn quick_round(&mut self, number: usize) {
        let began = Instant::now();
        if self.ends.cover != Cover::Unspecified {
            self.ends.set_cover(Cover::Unspecified);
        }
        self.ends.spin(3);
        self.wait_for_the_spins();
        let before = self.ends.entry;
        self.ends.ring();
        // Keys of the entry before the bell don't count.
        self.ends
            .pump("the new entry that closed bets bring", PATIENCE, |ends| {
                ends.entry != before
            });
        self.enter(number);
        self.settle();
        self.rest(QUICK_ROUND.saturating_sub(began.elapsed()));
    }

    /// Closes the table, which records a checkpoint, and stops the daemon.
    pub fn close(self) {
        let Play { daemon, mut ends, .. } = self;
        std::thread::scope(|scope| {
            let closing = scope.spawn(|| daemon.command(&["close"]));
            ends.pump("the table to close", PATIENCE, |_| closing.is_finished());
            assert!(closing.join().unwrap(), "the table closes between rounds");
        });
        daemon.stop();
    }

    fn enter(&mut self, number: usize) -> Played {
        let keys = crate::seed(number).map(|face| Key::try_from(i32::from(face)).unwrap());
        for key in keys {
            self.ends.press(key);
        }
        self.ends
            .pump("the keys to be acknowledged", PATIENCE, Ends::terminal_is_idle);
        self.ends.pictures.clear();
        let entered = self.ends.enter(&keys);
        let folder = self.folder.clone();
        let began = Instant::now();
        self.ends.pump("the lamps", PATIENCE, |ends| {
            assert!(
                began.elapsed() < PATIENCE / 2,
                "no lamps for an entry:\n{}",
                daemon::log_tail(&folder)
            );
            ends.pictures.iter().any(|(lit, _)| lit.iter().any(|byte| *byte != 0))
        });
        let (_, lit_at) = self
            .ends
            .pictures
            .iter()
            .find(|(lit, _)| lit.iter().any(|byte| *byte != 0))
            .unwrap();
        Played {
            entered,
            entry_to_lamps: lit_at.saturating_duration_since(entered),
        }
    }

    fn settle(&mut self) {
        let began = Instant::now();
        loop {
            let mut settled = false;
            let (daemon, ends) = (&self.daemon, &mut self.ends);
            std::thread::scope(|scope| {
                let settling = scope.spawn(|| daemon.command(&["round", "settle"]));
                ends.pump("the settlement", PATIENCE, |_| settling.is_finished());
                settled = settling.join().unwrap();
            });
            if settled {
                break;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "the round wasn't settled:\n{}",
                daemon::log_tail(&self.folder)
            );
        }
        self.ends.pump("the lamps to go out", PATIENCE, |ends| {
            ends.lit.iter().all(|byte| *byte == 0)
        });
    }

    /// Lets the table be, its devices answering.
    pub fn rest(&mut self, time: Duration) {
        let began = Instant::now();
        self.ends
            .pump("time to pass", time + PATIENCE, |_| began.elapsed() >= time);
    }

    /// A bell before the spins are known would come without a tumble.
    fn wait_for_the_spins(&mut self) {
        self.ends
            .pump("the spins to be acknowledged", PATIENCE, Ends::spins_are_known);
    }
}
