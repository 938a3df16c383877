//! Events in, figures out: what a report says, without files and without words.
//!
//! A round counts, with everything that belongs to it, in the shift in which it began. Everything else counts when it was recorded. Time is
//! measured by the daemon's uptime, within one run of it; the wall clock only says to which shift a time belongs. So a clock that is set
//! moves figures between shifts, and changes none of them.

use super::calendar::{Calendar, Period, Place};
use super::figures::{Figures, count};
use crate::cli::describe::{code, device_kind};
use crate::gateway::{RoundEnd, Turn, turn};
use crate::table::durations::Stopwatch;
use crate::table::event::{
    Body, CheckpointMode, ClockQuality, DeviceKind, DeviceRef, Event, ResultSource, TableCheckpoint,
};
use crate::time::Timestamp;
use std::collections::BTreeMap;

/// So many rounds are kept open for what may still be said of them. Only the newest can be taken back, and only the newest void can be
/// given a reason, which is kept beyond this number.
const ROUNDS_KEPT: usize = 64;

/// Whether the table was open, as far as the events tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Mode {
    /// What would tell lies before the first event that is there.
    #[default]
    Unknown,
    Closed,
    Open,
    /// In test mode, entered from Open.
    TestWhileOpen,
}

/// A round, until nothing can be said of it any longer.
#[derive(Clone, Debug, Default)]
struct Pending {
    /// `None`: it began outside of the report's time.
    period: Option<Period>,
    end: Option<RoundEnd>,
    /// Kept apart from the rest, because a spin that was invalid may be overruled.
    invalid_spins: Vec<String>,
    figures: Figures,
}

/// Statistics of one device: they follow the device, whatever table it stood at.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DeviceFigures {
    /// As it said last.
    pub firmware: String,
    /// Times that it came up.
    pub came_up: u64,
    /// Times that it went away, by the reason that was told first: while it is away another may be found.
    pub went_away: BTreeMap<String, u64>,
    /// How long it was away within runs of the daemon, microseconds.
    pub away_us: u64,
    /// Faults that it reported.
    pub faults: u64,
    /// Results that were entered with it.
    pub entries: u64,
    /// Entries with it that were refused.
    pub refused: u64,
    /// Keys of it that came too late to count.
    pub stale_keys: u64,
    /// Lamps of it that were found dark, or lit wrongly.
    pub lamps_failed: u64,
}

/// A device: its kind and serial number.
type Who = (&'static str, String);

/// The event before.
#[derive(Clone, Debug, Default)]
struct Last {
    run_id: String,
    uptime_us: u64,
    wall: Timestamp,
}

/// Takes in events, in order.
#[derive(Debug)]
pub struct Tally {
    calendar: Calendar,
    figures: BTreeMap<Period, Figures>,
    rounds: BTreeMap<u64, Pending>,
    /// Rounds up to this number are in `figures`.
    done_through: u64,
    newest_void: u64,
    watch: Stopwatch,
    mode: Mode,
    last: Option<Last>,
    devices: BTreeMap<Who, DeviceFigures>,
    /// Devices that are away, and since when, microseconds of uptime; `None`: since another run, or from before the report's time.
    away: BTreeMap<Who, Option<u64>>,
    game: String,
}

/// What came out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tallied {
    /// Figures of each period in which anything happened, in order of time.
    pub periods: Vec<(Period, Figures)>,
    /// By kind and serial number.
    pub devices: BTreeMap<Who, DeviceFigures>,
    /// The game of the newest start; empty: not known.
    pub game: String,
}

impl Tallied {
    /// The sum of all periods.
    #[must_use]
    pub fn all(&self) -> Figures {
        let mut all = Figures::default();
        self.periods.iter().for_each(|(_, figures)| all.add(figures));
        all
    }
}

impl Tally {
    /// Nothing yet.
    #[must_use]
    pub fn new(calendar: Calendar) -> Tally {
        Tally {
            calendar,
            figures: BTreeMap::new(),
            rounds: BTreeMap::new(),
            done_through: 0,
            newest_void: 0,
            watch: Stopwatch::default(),
            mode: Mode::default(),
            last: None,
            devices: BTreeMap::new(),
            away: BTreeMap::new(),
            game: String::new(),
        }
    }

    /// Takes in the next event.
    pub fn note(&mut self, event: &Event) {
        let wall = match (&event.recorded_at, &self.last) {
            (Some(at), _) => Timestamp::from(at),
            (None, Some(last)) => last.wall,
            (None, None) => Timestamp::default(),
        };
        self.pass_time(event, wall);
        let period = match self.calendar.place(wall) {
            Place::In(period) => Some(period),
            Place::Before(_) | Place::After => None,
        };
        let measured = self.watch.note(event);
        if let Some(period) = period {
            self.note_alone(event, period);
        }
        if let Some(body) = &event.body {
            self.note_mode(body);
            self.note_device(event, body, period.is_some());
        }
        if let Some(figures) = self.figures_of(event, period) {
            note_figures(figures, event);
            for (phase, ms) in measured.into_iter().flatten() {
                figures.phases.entry(phase).or_default().push(ms);
            }
        }
        self.note_round(event);
    }

    /// Everything is in: rounds that still run are counted as such.
    #[must_use]
    pub fn end(mut self) -> Tallied {
        while let Some((round_id, round)) = self.rounds.pop_first() {
            self.close_round(round_id, round);
        }
        Tallied {
            periods: self.figures.into_iter().collect(),
            devices: self.devices,
            game: self.game,
        }
    }

    /// The time since the event before, when the table was open in it. Between two runs of the daemon nobody could play.
    fn pass_time(&mut self, event: &Event, wall: Timestamp) {
        if let Some(last) = &mut self.last
            && last.run_id == event.run_id
        {
            let took = event.uptime_us.saturating_sub(last.uptime_us);
            let before = last.wall;
            last.uptime_us = event.uptime_us;
            last.wall = wall;
            if self.mode == Mode::Open {
                self.was_open(before, took);
            }
            return;
        }
        self.last = Some(Last {
            run_id: event.run_id.clone(),
            uptime_us: event.uptime_us,
            wall,
        });
    }

    /// So long from `at` on, by the clock as it went then: a step at the end of the time doesn't lengthen it.
    fn was_open(&mut self, mut at: Timestamp, mut left_us: u64) {
        while left_us > 0 {
            let (period, until) = match self.calendar.place(at) {
                Place::In(period) => (Some(period), period.to),
                Place::Before(begin) => (None, begin),
                Place::After => return,
            };
            let room = until.as_unix_micros().saturating_sub(at.as_unix_micros());
            let took = left_us.min(u64::try_from(room).unwrap_or(u64::MAX));
            if let Some(period) = period {
                self.figures.entry(period).or_default().open_us += took;
            }
            left_us -= took;
            at = Timestamp::from_unix_micros(
                at.as_unix_micros()
                    .saturating_add(i64::try_from(took).unwrap_or(i64::MAX)),
            );
        }
    }

    /// What belongs to no round, whenever it is recorded.
    fn note_alone(&mut self, event: &Event, period: Period) {
        let figures = self.figures.entry(period).or_default();
        figures.events += 1;
        figures.unsynchronised += u64::from(event.clock() == ClockQuality::Unsynchronised);
        match &event.body {
            Some(Body::GatewayStarted(_)) => figures.starts += 1,
            Some(Body::ClockStepped(_)) => figures.clock_steps += 1,
            Some(Body::ActRefused(refused)) => figures.acts_refused += u64::from(refused.count.max(1)),
            _ => {}
        }
    }

    fn note_mode(&mut self, body: &Body) {
        self.mode = match (body, self.mode) {
            (Body::TableOpened(_), _) => Mode::Open,
            (Body::TableClosed(_) | Body::OpeningStarted(_) | Body::OpeningAbandoned(_), _) => Mode::Closed,
            (Body::TestModeEntered(_), Mode::Open) => Mode::TestWhileOpen,
            (Body::TestModeEntered(_), Mode::Unknown) => Mode::Unknown,
            // A start leaves test mode.
            (Body::TestModeLeft(_) | Body::GatewayStarted(_), Mode::TestWhileOpen) => Mode::Open,
            (Body::CheckpointRecorded(checkpoint), Mode::Unknown) => {
                checkpoint.state.as_ref().map_or(Mode::Unknown, mode_of)
            }
            // Only an open table plays.
            (Body::RoundStarted(_) | Body::BetsOpened(_) | Body::SpinnerSelected(_), Mode::Unknown) => Mode::Open,
            (_, mode) => mode,
        };
        if let Body::GatewayStarted(started) = body {
            self.game.clone_from(&started.game);
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "counts what devices did; every other event is none of its business"
    )]
    fn note_device(&mut self, event: &Event, body: &Body, counts: bool) {
        if matches!(body, Body::GatewayStarted(_)) {
            self.away.values_mut().for_each(|since| *since = None);
        }
        let Some(device) = event.device.as_ref().filter(|device| is_known(device)) else {
            return;
        };
        let who = (device_kind(device.kind()), device.serial_number.clone());
        let was_away = match body {
            Body::DeviceOnline(_) => self.away.remove(&who),
            Body::DeviceOffline(_) => {
                let known = self.away.get(&who).copied();
                self.away
                    .entry(who.clone())
                    .or_insert(counts.then_some(event.uptime_us));
                known
            }
            _ => None,
        };
        if !counts {
            return;
        }
        let figures = self.devices.entry(who).or_default();
        match body {
            Body::DeviceOnline(online) => {
                figures.came_up += 1;
                figures.firmware.clone_from(&online.firmware);
                if let Some(Some(since)) = was_away {
                    figures.away_us += event.uptime_us.saturating_sub(since);
                }
            }
            // Another reason for the same absence is no other departure.
            Body::DeviceOffline(_) if was_away.is_some() => {}
            Body::DeviceOffline(offline) => count(
                &mut figures.went_away,
                &code(offline.reason().as_str_name(), "DEVICE_OFFLINE_REASON_"),
            ),
            Body::DeviceFaulted(_) => figures.faults += 1,
            Body::ResultEntered(_) | Body::SpinResulted(_) => figures.entries += 1,
            Body::EntryRejected(rejected) => figures.refused += u64::from(rejected.count.max(1)),
            Body::StaleKeysIgnored(stale) => figures.stale_keys += u64::from(stale.count),
            Body::LampFailed(_) => figures.lamps_failed += 1,
            _ => {}
        }
    }

    /// The figures that an event belongs to: those of its round, which count when the round began; else those of its own time.
    fn figures_of(&mut self, event: &Event, period: Option<Period>) -> Option<&mut Figures> {
        let round_id = event.round_id;
        if round_id > self.done_through {
            let round = self.rounds.entry(round_id).or_insert_with(|| Pending {
                period,
                ..Pending::default()
            });
            return Some(&mut round.figures);
        }
        Some(self.figures.entry(period?).or_default())
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "follows rounds; every other event is none of its business"
    )]
    fn note_round(&mut self, event: &Event) {
        let round_id = event.round_id;
        let (Some(body), Some(round)) = (&event.body, self.rounds.get_mut(&round_id)) else {
            return;
        };
        match body {
            Body::SpinInvalidated(invalid) => round
                .invalid_spins
                .push(code(invalid.reason().as_str_name(), "SPIN_INVALIDATED_REASON_")),
            Body::InvalidSpinOverruled(_) => drop(round.invalid_spins.pop()),
            _ => {}
        }
        match turn(body, round.end.is_none()) {
            Turn::Begins | Turn::None => {}
            Turn::Ends(end) => {
                if matches!(end, RoundEnd::Void(_)) {
                    self.newest_void = round_id;
                }
                round.end = Some(end);
            }
            Turn::ReasonStated(reason) => {
                if matches!(round.end, Some(RoundEnd::Void(_))) {
                    round.end = Some(RoundEnd::Void(reason));
                }
            }
            Turn::GoesOn => {
                if let Some(end) = round.end.take() {
                    match end {
                        RoundEnd::Void(_) => round.figures.voids_withdrawn += 1,
                        RoundEnd::Settled
                        | RoundEnd::Abandoned
                        | RoundEnd::SpinnerWon
                        | RoundEnd::SpinnerLost
                        | RoundEnd::Decided
                        | RoundEnd::Returned => round.figures.taken_back += 1,
                    }
                    // The one that ran meanwhile gives way to it.
                    for later in self.rounds.range_mut(round_id + 1..).map(|(_, round)| round) {
                        later.end.get_or_insert(RoundEnd::Abandoned);
                    }
                }
            }
        }
        self.close_old_rounds();
    }

    fn close_old_rounds(&mut self) {
        while self.rounds.len() > ROUNDS_KEPT {
            let newest_void = self.newest_void;
            let Some(oldest) = self.rounds.keys().copied().find(|id| *id != newest_void) else {
                return;
            };
            if let Some(round) = self.rounds.remove(&oldest) {
                self.close_round(oldest, round);
            }
        }
    }

    fn close_round(&mut self, round_id: u64, round: Pending) {
        self.done_through = self.done_through.max(round_id);
        let Some(period) = round.period else { return };
        let figures = self.figures.entry(period).or_default();
        figures.add(&round.figures);
        round
            .invalid_spins
            .iter()
            .for_each(|reason| count(&mut figures.invalid_spins, reason));
        let Some(end) = round.end else {
            count(&mut figures.ends, RUNNING);
            return;
        };
        count(&mut figures.ends, end.word());
        figures.played += u64::from(end.was_played());
        if let RoundEnd::Void(reason) = end {
            count(&mut figures.voids, &reason);
        }
    }
}

/// How a round that has no end yet is counted.
pub const RUNNING: &str = "running";

/// What an event adds to the figures it belongs to, by itself.
fn note_figures(figures: &mut Figures, event: &Event) {
    match &event.body {
        Some(Body::ResultEntered(_) | Body::SpinResulted(_)) => figures.entries += 1,
        Some(Body::EntryRejected(rejected)) => {
            *figures.refused.entry(rejected.code).or_default() += u64::from(rejected.count.max(1));
        }
        Some(Body::StaleKeysIgnored(stale)) => figures.stale_keys += u64::from(stale.count),
        Some(Body::ResultAmended(amended)) => count(&mut figures.amendments, source(amended.source())),
        Some(Body::SpinCorrected(corrected)) => count(&mut figures.amendments, source(corrected.source())),
        Some(Body::RoundHeld(held)) => count(
            &mut figures.holds,
            &code(held.cause().as_str_name(), "ROUND_HELD_CAUSE_"),
        ),
        Some(Body::LampFailed(_)) => figures.lamps_failed += 1,
        _ => {}
    }
}

fn source(source: ResultSource) -> &'static str {
    match source {
        ResultSource::Terminal => "terminal",
        ResultSource::Command => "command",
        ResultSource::Unspecified => "unknown",
    }
}

fn mode_of(state: &TableCheckpoint) -> Mode {
    match (state.mode(), state.below_test()) {
        (CheckpointMode::Open, _) => Mode::Open,
        (CheckpointMode::Test, CheckpointMode::Open) => Mode::TestWhileOpen,
        (CheckpointMode::Unspecified, _) => Mode::Unknown,
        (CheckpointMode::Closed | CheckpointMode::Opening | CheckpointMode::Test, _) => Mode::Closed,
    }
}

fn is_known(device: &DeviceRef) -> bool {
    device.kind() != DeviceKind::Unspecified && !device.serial_number.is_empty()
}

#[cfg(test)]
pub(super) mod tests;
