//! A report as programs read it, JSON or CSV; the page for people is made from the same.

use super::calendar::{Period, Shown};
use super::figures::{Counted, Figures, Spread};
use super::tally::DeviceFigures;
use super::{Reported, Zone};
use crate::cli::events::quoted;
use crate::counted::{counted, often};
use crate::journal::Beginning;
use crate::table::durations::Phase;
use serde::Serialize;
use std::fmt::{Display, Write};

/// A report.
#[derive(Serialize, Debug)]
pub(super) struct Told {
    pub(super) site: String,
    pub(super) table: String,
    pub(super) game: String,
    pub(super) journal_id: String,
    /// The time zone of the shifts and of all times.
    pub(super) zone: String,
    /// When shifts begin; empty: the report isn't by shift.
    pub(super) shifts_begin: Vec<String>,
    /// As asked; absent: without a bound.
    pub(super) from: Option<Shown>,
    pub(super) to: Option<Shown>,
    /// When the oldest and the newest event that is there were recorded.
    pub(super) known_from: Option<Shown>,
    pub(super) known_to: Option<Shown>,
    pub(super) oldest_event: u64,
    pub(super) newest_event: u64,
    /// What a reader has to know of these figures.
    pub(super) notes: Vec<String>,
    pub(super) all: Section,
    pub(super) shifts: Vec<Shift>,
    pub(super) devices: Vec<Device>,
}

/// One shift.
#[derive(Serialize, Debug)]
pub(super) struct Shift {
    pub(super) from: Shown,
    pub(super) to: Shown,
    #[serde(flatten)]
    pub(super) figures: Section,
}

/// The figures of a time.
#[derive(Serialize, Debug)]
pub(super) struct Section {
    pub(super) open_seconds: f64,
    /// With a result, or void.
    pub(super) rounds: u64,
    pub(super) rounds_per_open_hour: Option<f64>,
    pub(super) rounds_by_end: Counted,
    pub(super) voids: u64,
    pub(super) voids_per_hundred_rounds: Option<f64>,
    pub(super) voids_by_reason: Counted,
    pub(super) voids_withdrawn: u64,
    pub(super) amendments: u64,
    pub(super) amendments_per_hundred_rounds: Option<f64>,
    pub(super) amendments_by_source: Counted,
    pub(super) taken_back: u64,
    pub(super) holds: u64,
    pub(super) holds_by_cause: Counted,
    pub(super) invalid_spins: u64,
    pub(super) invalid_spins_per_hundred_rounds: Option<f64>,
    pub(super) invalid_spins_by_reason: Counted,
    pub(super) entries: u64,
    pub(super) entries_refused: u64,
    pub(super) refused_per_hundred_entries: Option<f64>,
    /// "E01": 3.
    pub(super) entries_refused_by_code: Counted,
    pub(super) stale_keys: u64,
    pub(super) acts_refused: u64,
    pub(super) lamps_failed: u64,
    /// By their names, in the order of play.
    #[serde(serialize_with = "as_map")]
    pub(super) phases: Vec<(&'static str, Lengths)>,
    pub(super) starts: u64,
    pub(super) clock_steps: u64,
    pub(super) events_by_unsynchronised_clock: u64,
    pub(super) events: u64,
}

fn as_map<S: serde::Serializer>(phases: &[(&'static str, Lengths)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(phases.iter().map(|(phase, lengths)| (phase, lengths)))
}

/// How long a phase took.
#[derive(Serialize, Debug)]
pub(super) struct Lengths {
    #[serde(skip)]
    pub(super) title: &'static str,
    pub(super) measured: u64,
    pub(super) p50_ms: u32,
    pub(super) p90_ms: u32,
    pub(super) p99_ms: u32,
    pub(super) most_ms: u32,
}

/// Statistics of one device.
#[derive(Serialize, Debug)]
pub(super) struct Device {
    pub(super) kind: &'static str,
    pub(super) serial_number: String,
    pub(super) firmware: String,
    pub(super) came_up: u64,
    pub(super) went_away: u64,
    pub(super) went_away_by_reason: Counted,
    pub(super) away_seconds: f64,
    pub(super) faults: u64,
    pub(super) entries: u64,
    pub(super) entries_refused: u64,
    pub(super) stale_keys: u64,
    pub(super) lamps_failed: u64,
}

impl Told {
    pub(super) fn new(reported: &Reported) -> Told {
        let Reported { zone, tallied, .. } = reported;
        let all = tallied.all();
        let by_shift = !reported.shifts.words().is_empty();
        let periods = tallied.periods.iter().filter(|_| by_shift);
        Told {
            site: reported.infos.identity.site.clone(),
            table: reported.infos.identity.table.clone(),
            game: tallied.game.clone(),
            journal_id: reported.infos.identity.journal_id.clone(),
            zone: zone.name.clone(),
            shifts_begin: reported.shifts.words(),
            from: reported.asked.0.map(|at| zone.show(at)),
            to: reported.asked.1.map(|at| zone.show(at)),
            known_from: reported.known.map(|known| zone.show(known.from)),
            known_to: reported.known.map(|known| zone.show(known.to)),
            oldest_event: reported.infos.oldest,
            newest_event: reported.infos.head.seqno,
            notes: notes(reported, &all),
            all: Section::new(&all),
            shifts: periods
                .map(|(period, figures)| Shift::new(zone, *period, figures))
                .collect(),
            devices: tallied
                .devices
                .iter()
                .map(|((kind, serial), figures)| Device::new(kind, serial, figures))
                .collect(),
        }
    }

    /// A row for each figure: which time, what, of what, and how many.
    pub(super) fn csv(&self) -> String {
        let mut rows = Rows::default();
        let edge = |shown: &Option<Shown>| shown.as_ref().map(|shown| shown.exact.clone()).unwrap_or_default();
        rows.section("all", &edge(&self.from), &edge(&self.to), &self.all);
        for shift in &self.shifts {
            rows.section("shift", &shift.from.exact, &shift.to.exact, &shift.figures);
        }
        for device in &self.devices {
            rows.device(&edge(&self.from), &edge(&self.to), device);
        }
        rows.text
    }
}

/// What a reader has to know of these figures.
fn notes(reported: &Reported, all: &Figures) -> Vec<String> {
    let mut notes = Vec::new();
    if let (Beginning::Expired { .. }, Some(known)) = (&reported.beginning, reported.known) {
        notes.push(format!(
            "Events before {} were deleted when their time was over: nothing before it is in these figures.",
            reported.zone.show(known.from).minute
        ));
    }
    for moved in &reported.infos.moved_aside {
        notes.push(format!(
            "A journal before this one is kept as {}: report on it apart.",
            moved.path.display()
        ));
    }
    if let (Some(from), Some(known)) = (reported.asked.0, reported.known)
        && from < known.from
        && reported.beginning == Beginning::First
    {
        notes.push(format!(
            "The journal begins at {}, after --from.",
            reported.zone.show(known.from).minute
        ));
    }
    if all.clock_steps > 0 {
        notes.push(format!(
            "The clock was set {}: what lies beside that may count in another shift. No length of time is touched.",
            often(all.clock_steps)
        ));
    }
    if all.unsynchronised > 0 {
        notes.push(format!(
            "Recorded by a clock that followed no time server: {} of {}.",
            all.unsynchronised,
            counted(all.events, "event")
        ));
    }
    for gap in reported.gaps.sentences() {
        notes.push(format!("Not in these figures: {gap}."));
    }
    notes
}

impl Shift {
    fn new(zone: &Zone, period: Period, figures: &Figures) -> Shift {
        Shift {
            from: zone.show(period.from),
            to: zone.show(period.to),
            figures: Section::new(figures),
        }
    }
}

impl Section {
    fn new(figures: &Figures) -> Section {
        let sum = |counted: &Counted| counted.values().sum::<u64>();
        let (voids, amendments) = (sum(&figures.voids), sum(&figures.amendments));
        let invalid = sum(&figures.invalid_spins);
        let rate = |count| figures.per_hundred_rounds(count).map(hundredths);
        let refused = figures.refused.iter();
        let phases = Phase::ALL.iter().filter_map(|phase| {
            let spread = figures.spread(*phase)?;
            Some((phase.word(), Lengths::new(*phase, spread)))
        });
        Section {
            open_seconds: hundredths(figures.open_hours() * 3600.0),
            rounds: figures.played,
            rounds_per_open_hour: figures.rounds_per_open_hour().map(hundredths),
            rounds_by_end: figures.ends.clone(),
            voids,
            voids_per_hundred_rounds: rate(voids),
            voids_by_reason: figures.voids.clone(),
            voids_withdrawn: figures.voids_withdrawn,
            amendments,
            amendments_per_hundred_rounds: rate(amendments),
            amendments_by_source: figures.amendments.clone(),
            taken_back: figures.taken_back,
            holds: sum(&figures.holds),
            holds_by_cause: figures.holds.clone(),
            invalid_spins: invalid,
            invalid_spins_per_hundred_rounds: rate(invalid),
            invalid_spins_by_reason: figures.invalid_spins.clone(),
            entries: figures.entries,
            entries_refused: figures.all_refused(),
            refused_per_hundred_entries: figures.refused_per_hundred_entries().map(hundredths),
            entries_refused_by_code: refused.map(|(code, count)| (format!("E{code:02}"), *count)).collect(),
            stale_keys: figures.stale_keys,
            acts_refused: figures.acts_refused,
            lamps_failed: figures.lamps_failed,
            phases: phases.collect(),
            starts: figures.starts,
            clock_steps: figures.clock_steps,
            events_by_unsynchronised_clock: figures.unsynchronised,
            events: figures.events,
        }
    }
}

/// More digits would only pretend.
fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

impl Lengths {
    fn new(phase: Phase, spread: Spread) -> Lengths {
        Lengths {
            title: phase.title(),
            measured: spread.measured,
            p50_ms: spread.p50,
            p90_ms: spread.p90,
            p99_ms: spread.p99,
            most_ms: spread.most,
        }
    }
}

impl Device {
    #[expect(clippy::cast_precision_loss, reason = "for people: a microsecond in a century")]
    fn new(kind: &'static str, serial: &str, figures: &DeviceFigures) -> Device {
        Device {
            kind,
            serial_number: serial.to_owned(),
            firmware: figures.firmware.clone(),
            came_up: figures.came_up,
            went_away: figures.went_away.values().sum(),
            went_away_by_reason: figures.went_away.clone(),
            away_seconds: hundredths(figures.away_us as f64 / 1e6),
            faults: figures.faults,
            entries: figures.entries,
            entries_refused: figures.refused,
            stale_keys: figures.stale_keys,
            lamps_failed: figures.lamps_failed,
        }
    }
}

/// Rows of CSV (RFC 4180). Nothing in them needs quotes but what a device or the rules may have named.
struct Rows {
    text: String,
}

impl Default for Rows {
    fn default() -> Self {
        Rows {
            text: "time,from,to,figure,of,value\r\n".to_owned(),
        }
    }
}

impl Rows {
    fn section(&mut self, time: &str, from: &str, to: &str, section: &Section) {
        let mut row = |figure: &str, of: &str, value: &dyn Display| {
            // Writing to a String cannot fail.
            let _ = write!(self.text, "{time},{from},{to},{figure},{of},{value}\r\n");
        };
        row("open_seconds", "", &section.open_seconds);
        row("rounds", "", &section.rounds);
        row("voids_withdrawn", "", &section.voids_withdrawn);
        row("taken_back", "", &section.taken_back);
        row("entries", "", &section.entries);
        row("stale_keys", "", &section.stale_keys);
        row("acts_refused", "", &section.acts_refused);
        row("lamps_failed", "", &section.lamps_failed);
        row("starts", "", &section.starts);
        row("clock_steps", "", &section.clock_steps);
        row("events", "", &section.events);
        row(
            "events_by_unsynchronised_clock",
            "",
            &section.events_by_unsynchronised_clock,
        );
        for (figure, value) in [
            ("rounds_per_open_hour", section.rounds_per_open_hour),
            ("voids_per_hundred_rounds", section.voids_per_hundred_rounds),
            ("amendments_per_hundred_rounds", section.amendments_per_hundred_rounds),
            (
                "invalid_spins_per_hundred_rounds",
                section.invalid_spins_per_hundred_rounds,
            ),
            ("refused_per_hundred_entries", section.refused_per_hundred_entries),
        ] {
            if let Some(value) = value {
                row(figure, "", &value);
            }
        }
        for (figure, counted) in [
            ("rounds_by_end", &section.rounds_by_end),
            ("voids", &section.voids_by_reason),
            ("amendments", &section.amendments_by_source),
            ("holds", &section.holds_by_cause),
            ("invalid_spins", &section.invalid_spins_by_reason),
            ("entries_refused", &section.entries_refused_by_code),
        ] {
            for (of, count) in counted {
                row(figure, of, count);
            }
        }
        for (phase, lengths) in &section.phases {
            row("phase_measured", phase, &lengths.measured);
            row("phase_p50_ms", phase, &lengths.p50_ms);
            row("phase_p90_ms", phase, &lengths.p90_ms);
            row("phase_p99_ms", phase, &lengths.p99_ms);
            row("phase_most_ms", phase, &lengths.most_ms);
        }
    }

    fn device(&mut self, from: &str, to: &str, device: &Device) {
        let of = quoted(&format!("{} {}", device.kind, device.serial_number));
        let mut row = |figure: &str, value: &dyn Display| {
            let _ = write!(self.text, "device,{from},{to},{figure},{of},{value}\r\n");
        };
        row("came_up", &device.came_up);
        row("went_away", &device.went_away);
        row("away_seconds", &device.away_seconds);
        row("faults", &device.faults);
        row("entries", &device.entries);
        row("entries_refused", &device.entries_refused);
        row("stale_keys", &device.stale_keys);
        row("lamps_failed", &device.lamps_failed);
    }
}

/// The times that a report is of, in words.
pub(super) fn asked(told: &Told) -> String {
    let edge = |asked: &Option<Shown>, known: &Option<Shown>| {
        let shown = asked.as_ref().or(known.as_ref());
        shown.map_or("nothing".to_owned(), |shown| shown.minute.clone())
    };
    format!(
        "{} to {}",
        edge(&told.from, &told.known_from),
        edge(&told.to, &told.known_to)
    )
}
