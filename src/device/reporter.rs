//! Keeps the link's report and its log lines: changes at once, counters about once a second and only when something happened
//! anyway, so that an idle link costs nothing.

use std::time::Duration;

use tokio::sync::watch;

use crate::counted::counted;
use crate::time::Uptime;
use crate::wire::session::Host;
use crate::wire::session::host::{Counters, Silence};

use super::report::{
    Counts, Drift, Found, Identity, LastFault, LinkReport, LinkState, LongestSilence, Poor, RoundTrip, RoundTripEver,
};

/// Counters in the report are never older than this and the time to the next PING.
const REFRESH: Duration = Duration::from_secs(1);

/// Readers are woken for counters alone this often.
const ANNOUNCE: Duration = Duration::from_secs(10);

/// Log lines of one link within [`LOG_WINDOW`]; what exceeds them is counted and told with the next line.
const LOG_LINES: u32 = 10;
const LOG_WINDOW: Duration = Duration::from_secs(60);

/// The report of one link.
#[derive(Debug)]
pub(super) struct Reporter {
    report: watch::Sender<LinkReport>,
    counts: Counts,
    refreshed: Uptime,
    announced: Uptime,
    log: LogBudget,
}

/// What a person should know now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Standing {
    pub(super) state: LinkState,
    pub(super) text: String,
}

impl Reporter {
    pub(super) fn new(report: LinkReport) -> (Reporter, watch::Receiver<LinkReport>) {
        let (report, seen) = watch::channel(report);
        let reporter = Reporter {
            report,
            counts: Counts::default(),
            refreshed: Uptime::ZERO,
            announced: Uptime::ZERO,
            log: LogBudget::default(),
        };
        (reporter, seen)
    }

    /// Counts an opening of the port, and what its name led to.
    pub(super) fn opened(&mut self, resolved: String) {
        self.counts.opened += 1;
        self.report.send_modify(|report| {
            report.resolved = Some(resolved);
            report.found = None;
        });
    }

    /// Counts a session that came up.
    pub(super) fn up(&mut self, identity: Identity) {
        self.counts.sessions += 1;
        self.report.send_modify(|report| {
            report.identity = Some(identity);
            report.found = None;
        });
    }

    /// Something else than what the port is configured for answers.
    pub(super) fn found(&mut self, found: Found) {
        self.report.send_modify(|report| report.found = Some(found));
    }

    /// How badly the line carries; `None`: well enough.
    pub(super) fn poor(&mut self, poor: Option<Poor>) {
        self.report.send_if_modified(|report| {
            let turned = report.poor.is_some() != poor.is_some();
            report.poor = poor;
            turned
        });
    }

    /// Counts bytes that came in.
    pub(super) fn read(&mut self, bytes: usize) {
        self.counts.bytes_in += u64::try_from(bytes).unwrap_or(u64::MAX);
    }

    /// Counts bytes that went out.
    pub(super) fn written(&mut self, bytes: usize) {
        self.counts.bytes_out += u64::try_from(bytes).unwrap_or(u64::MAX);
    }

    /// The link stands so from now on. A change is announced and logged.
    pub(super) fn stands(&mut self, now: Uptime, standing: Standing, host: &Host) {
        self.refresh(now, host);
        let Reporter { report, log, .. } = self;
        report.send_if_modified(|report| {
            let moved = report.state != standing.state;
            if !moved && report.text == standing.text {
                return false;
            }
            // A port that is opened, or a wrong device that is greeted, again and again is away since it went.
            if (report.state == LinkState::Up) != (standing.state == LinkState::Up) {
                report.since_us = now.as_micros();
            }
            if moved && matches!(standing.state, LinkState::Down | LinkState::Silent) {
                let what = format!("{}: {}", standing.state.word(), standing.text);
                report.last_fault = Some(LastFault {
                    what: what.trim_end_matches([':', ' ']).to_owned(),
                    at_us: now.as_micros(),
                });
            }
            // A wrong device that is greeted in vain is no news.
            let is_news = report.text != standing.text || standing.text.is_empty() || standing.state == LinkState::Up;
            report.state = standing.state;
            report.text = standing.text;
            if is_news {
                log.line(now, report);
            }
            true
        });
    }

    /// Takes the counters over, when they are old enough; cheap, to be called whenever the task is awake.
    pub(super) fn tick(&mut self, now: Uptime, host: &Host) {
        if now.since(self.refreshed) >= REFRESH {
            self.refresh(now, host);
        }
    }

    fn refresh(&mut self, now: Uptime, host: &Host) {
        self.refreshed = now;
        let announce = now.since(self.announced) >= ANNOUNCE;
        if announce {
            self.announced = now;
        }
        let before = self.counts;
        count(&mut self.counts, &host.counters());
        let counts = self.counts;
        let fault = noticed(&before, &counts).map(|what| LastFault {
            what,
            at_us: now.as_micros(),
        });
        let measured = Measured::of(now, host);
        self.report.send_if_modified(|report| {
            report.at_us = now.as_micros();
            report.counts = counts;
            report.last_fault = fault.or(report.last_fault.take());
            measured.put_in(report);
            announce
        });
    }
}

/// What a host measures of its line.
struct Measured {
    round_trip: Option<RoundTrip>,
    round_trip_ever: Option<RoundTripEver>,
    clocks_related: bool,
    drift: Option<Drift>,
    silence: Silence,
}

impl Measured {
    fn of(now: Uptime, host: &Host) -> Measured {
        let trips = host.round_trips();
        let newest = |percent| trips.percentile(percent).map(micros);
        let ever = |percent| trips.percentile_of_all(percent).map(micros);
        let recent = newest(50).zip(newest(99)).zip(newest(100));
        Measured {
            round_trip: recent.map(|((p50_us, p99_us), max_us)| RoundTrip { p50_us, p99_us, max_us }),
            round_trip_ever: ever(50)
                .zip(ever(99))
                .zip(trips.longest())
                .map(|((p50_us, p99_us), longest)| RoundTripEver {
                    count: trips.count(),
                    p50_us,
                    p99_us,
                    max_us: micros(longest),
                }),
            clocks_related: host.relate(now, 0).is_some(),
            drift: host.drift().map(|drift| Drift {
                ppm: drift.ppm,
                over_s: drift.over.as_secs(),
            }),
            silence: host.silence(),
        }
    }

    fn put_in(self, report: &mut LinkReport) {
        report.round_trip = self.round_trip;
        report.round_trip_ever = self.round_trip_ever;
        report.clocks_related = self.clocks_related;
        report.drift = self.drift;
        report.heard_us = self.silence.heard.map(Uptime::as_micros);
        report.longest_silence = Some(self.silence)
            .filter(|silence| !silence.longest.is_zero())
            .map(|silence| LongestSilence {
                lasted_us: u64::try_from(silence.longest.as_micros()).unwrap_or(u64::MAX),
                ended_us: silence.longest_ended.as_micros(),
            });
    }
}

/// What has gone wrong on the line between two looks, in a few words; the plainest sign of a bad cable first.
fn noticed(before: &Counts, now: &Counts) -> Option<String> {
    let signs = [
        ("CRC error", "", before.crc_errors, now.crc_errors),
        ("piece", " of noise", before.noise, now.noise),
        ("reset", " of the device", before.resets, now.resets),
        ("frame", " sent again, unanswered", before.repeats_out, now.repeats_out),
        (
            "frame",
            " that the device sent again",
            before.repeats_in,
            now.repeats_in,
        ),
        (
            "frame",
            " that the line did not take",
            before.out_dropped,
            now.out_dropped,
        ),
        ("frame", " of our own come back", before.echoes, now.echoes),
    ];
    let said: Vec<String> = signs
        .into_iter()
        .filter(|(_, _, before, now)| now > before)
        .map(|(noun, which, before, now)| format!("{}{which}", counted(now - before, noun)))
        .collect();
    (!said.is_empty()).then(|| said.join(", "))
}

fn micros(duration: Duration) -> u32 {
    u32::try_from(duration.as_micros()).unwrap_or(u32::MAX)
}

fn count(counts: &mut Counts, host: &Counters) {
    counts.frames_in = host.seen.frames;
    counts.frames_out = host.frames_out;
    counts.crc_errors = host.seen.crc_errors;
    counts.noise = host.seen.noise + host.seen.unknown_kinds;
    counts.other_version = host.seen.other_versions;
    counts.echoes = host.seen.echoes;
    counts.repeats_in = host.repeats_in;
    counts.repeats_out = host.repeats_out;
    counts.resets = host.resets;
    counts.unknown = host.no_message + host.out_of_place;
    counts.mended = host.mended.unknown_enums + host.mended.replaced_strings;
    counts.no_room = host.no_room;
    counts.out_dropped = host.frames_not_written;
    counts.late = host.late;
    counts.stale = host.stale;
    counts.under_cover = host.read_under_cover;
}

/// Keeps a link that flaps from filling the log.
#[derive(Debug, Default)]
struct LogBudget {
    window: Uptime,
    lines: u32,
    left_out: u32,
}

impl LogBudget {
    fn line(&mut self, now: Uptime, report: &LinkReport) {
        if now.since(self.window) >= LOG_WINDOW {
            self.window = now;
            self.lines = 0;
        }
        if self.lines >= LOG_LINES {
            self.left_out += 1;
            return;
        }
        self.lines += 1;
        let (device, port, state) = (report.kind.word(), report.port.as_str(), report.state.word());
        let left_out = Some(std::mem::take(&mut self.left_out)).filter(|lines| *lines > 0);
        match report.state {
            LinkState::Up | LinkState::Greeting if report.text.is_empty() => {
                tracing::info!(device, port, state, left_out, "link");
            }
            LinkState::Up | LinkState::Greeting | LinkState::Down | LinkState::Silent => {
                tracing::warn!(device, port, state, left_out, "link: {}", report.text);
            }
        }
    }
}
