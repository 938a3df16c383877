//! Every family of numbers that is offered, and where each comes from. `docs/operations.md` says the same, and a test compares them.

use super::exposition::{Exposition, Histogram, Label};
use crate::device::{LinkReport, LinkState};
use crate::gateway::{APPEND_BUCKETS_US, Counts, PHASE_BUCKETS_MS, RoundTally, View};
use crate::table::alert::Name;
use crate::table::durations::Phase;
use crate::table::event::{ClockQuality, RoundVoidedReason, SpinInvalidatedReason};
use crate::table::rejection::CODES;
use crate::uplink::{UplinkReport, UplinkState};
use std::path::Path;

/// What Prometheus makes of a family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FamilyKind {
    /// Only ever grows; begins at zero with the daemon, and with a journal that was begun anew.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts by size.
    Histogram,
}

/// A family of samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: FamilyKind,
    /// For a person.
    pub help: &'static str,
}

macro_rules! families {
    ($($constant:ident = $kind:ident $name:literal, $help:literal;)*) => {
        $(const $constant: Family = Family { name: $name, kind: FamilyKind::$kind, help: $help };)*

        /// Every family, in the order of the page.
        pub const FAMILIES: &[Family] = &[$($constant),*];
    };
}

families! {
    BUILD = Gauge "tablegate_build_info", "The program and what it runs; always 1";
    STARTED = Gauge "tablegate_start_time_seconds", "When the daemon started, seconds since 1970";
    MODE = Gauge "tablegate_mode", "1 for the mode that the table is in";
    FAULT = Gauge "tablegate_fault", "1 while the table can't play at all: self-test failed, or nothing can be recorded";
    CLOCK = Gauge "tablegate_clock_synchronised", "1 while the wall clock follows a time server";
    CLOCK_STEPS = Counter "tablegate_clock_steps_total", "Steps of the wall clock of more than a second";
    INPUTS = Counter "tablegate_inputs_total", "Inputs of devices, people, time and the floor's connection";
    INPUTS_RECORDED = Counter "tablegate_inputs_recorded_total", "Inputs that led to events, all durable";
    INPUTS_UNRECORDED = Counter "tablegate_inputs_unrecorded_total", "Inputs that meant nothing to record";
    INPUTS_LOST = Counter "tablegate_inputs_lost_total", "Inputs that did not happen because nothing could be recorded";
    INPUTS_IN_PROGRESS = Gauge "tablegate_inputs_in_progress", "Inputs that are being recorded just now, at most 1";
    ACTS = Counter "tablegate_acts_total", "Acts of people over the control sockets";
    ENTRIES = Counter "tablegate_entries_total", "Results that were entered";
    ENTRIES_REFUSED = Counter "tablegate_entries_refused_total", "Entries that were refused, by the code that the readout shows";
    AMENDMENTS = Counter "tablegate_amendments_total", "Results that were amended or corrected";
    INVALID_SPINS = Counter "tablegate_invalid_spins_total", "Two-up: invalid spins by reason, overruled ones too";
    PHASES = Histogram "tablegate_phase_duration_seconds", "How long the phases of play took, where this run saw their beginning and end";
    EVENTS = Counter "tablegate_events_journalled_total", "Events that became durable";
    SETTLED = Counter "tablegate_events_settled_total", "Events done with, each once: acknowledged by a broker, or passed over";
    UNREADABLE = Counter "tablegate_events_unreadable_total", "Events of a journal moved aside that can't be read";
    BACKLOG_AT_START = Gauge "tablegate_events_backlog_at_start", "Events that waited for the floor when delivery began";
    BACKLOG = Gauge "tablegate_events_backlog", "Events that wait for the floor";
    PUBLISHED = Counter "tablegate_events_published_total", "Events given to a broker, repeats included";
    ACKNOWLEDGED = Counter "tablegate_events_acknowledged_total", "Publishes of events that a broker acknowledged, repeats included";
    REJECTED = Counter "tablegate_events_rejected_total", "Publishes of events that a broker answered with a refusal of that one";
    UNANSWERED = Counter "tablegate_events_unanswered_total", "Publishes of events in flight when their connection ended; they are sent again";
    IN_FLIGHT = Gauge "tablegate_events_in_flight", "Events given to the broker and not yet answered";
    SET_ASIDE = Counter "tablegate_events_set_aside_total", "Times that an event was set aside because no broker takes it";
    UNHEARD = Counter "tablegate_events_unheard_total", "Events acknowledged while nobody subscribed";
    SEQNO = Gauge "tablegate_journal_seqno", "Number of the newest event of the journal";
    CURSOR = Gauge "tablegate_journal_cursor", "Up to this number of the journal a broker has acknowledged everything";
    EXPIRED = Gauge "tablegate_journal_expired_through", "Up to this number events were deleted in this run because of their age";
    APPENDS = Histogram "tablegate_append_duration_seconds", "Time from an append to the end of its sync";
    APPENDS_FAILED = Counter "tablegate_append_failures_total", "Appends that failed";
    JOURNAL_BYTES = Gauge "tablegate_journal_bytes", "Size of the journal's file";
    WAL_BYTES = Gauge "tablegate_journal_wal_bytes", "Size of the journal's write-ahead log";
    FREE_BYTES = Gauge "tablegate_journal_free_bytes", "Room for the journal on its disk";
    ROUNDS_BEGUN = Counter "tablegate_rounds_begun_total", "Rounds begun, and the one that ran at the start";
    ROUNDS_ENDED = Counter "tablegate_rounds_ended_total", "Rounds by their end";
    ROUNDS_TAKEN_BACK = Counter "tablegate_rounds_taken_back_total", "Rounds that ended and went on after all";
    VOIDS = Counter "tablegate_voids_total", "Void rounds by the reason that was known when they became void";
    VOIDS_WITHDRAWN = Counter "tablegate_voids_withdrawn_total", "Voids that were withdrawn";
    ROUND_RUNNING = Gauge "tablegate_round_running", "1 while a round runs";
    ALERT = Gauge "tablegate_alert", "1 while the alert stands";
    ALERT_UNACKNOWLEDGED = Gauge "tablegate_alert_unacknowledged", "1 while nobody has acknowledged the alert, standing or over";
    LOCK = Gauge "tablegate_lock", "1 for each lock that stands";
    LOCKS = Gauge "tablegate_locks", "Locks that stand";
    LINK_UP = Gauge "tablegate_link_up", "1 while the device can be used";
    LINK_OPENED = Counter "tablegate_link_opened_total", "Times that the port was opened";
    LINK_SESSIONS = Counter "tablegate_link_sessions_total", "Times that the link came up";
    LINK_BYTES = Counter "tablegate_link_bytes_total", "Bytes read and written";
    LINK_FRAMES = Counter "tablegate_link_frames_total", "Valid frames read, and frames written, repeats included";
    LINK_REPEATS = Counter "tablegate_link_repeats_total", "DATA that was sent again, by the device or by us";
    LINK_RESETS = Counter "tablegate_link_resets_total", "RESETs of the device: it had lost its session";
    LINK_BAD = Counter "tablegate_link_bad_total", "What came in and could not be used as it was, by what was wrong with it";
    LINK_UNSENT = Counter "tablegate_link_unsent_total", "Frames of ours that a line which takes nothing has cost";
    LINK_ROUND_TRIP = Gauge "tablegate_link_round_trip_seconds", "Time from a PING to its PONG, of the newest; none before the first";
    UPLINK_ONLINE = Gauge "tablegate_uplink_online", "1 while events flow to a broker";
    UPLINK_CONNECTS = Counter "tablegate_uplink_connects_total", "Connections to a broker that were tried";
    UPLINK_FAILURES = Counter "tablegate_uplink_failures_total", "Connections to a broker that could not be made, or were lost";
    UPLINK_REQUESTS = Counter "tablegate_uplink_requests_total", "Requests of the floor";
    RESIDENT = Gauge "process_resident_memory_bytes", "Memory of the daemon that is in use";
    DESCRIPTORS = Gauge "process_open_fds", "Open file descriptors of the daemon";
}

/// Words of the table's modes, as `status` says them.
const MODES: [&str; 6] = ["self_test", "closed", "opening", "open", "test", "journal_failed"];

/// The page. `counts` was looked at after `view`, so that nothing is delivered that is not journalled.
#[must_use]
pub fn page(view: &View, counts: &Counts) -> String {
    let mut page = Exposition::default();
    table(&mut page, view, counts);
    delivery(&mut page, view.uplink.as_ref(), counts);
    journal(&mut page, view, counts);
    rounds(
        &mut page,
        &view.table.rounds.tally,
        u64::from(view.table.rounds.running.is_some()),
    );
    alerts(&mut page, view);
    links(&mut page, &view.links);
    uplink(&mut page, view.uplink.as_ref());
    process(&mut page);
    page.finish()
}

fn table(page: &mut Exposition, view: &View, counts: &Counts) {
    let table = &view.table;
    let build: &[Label<'_>] = &[
        ("version", &table.version),
        ("site", &table.site),
        ("table", &table.table),
        ("game", &table.game),
    ];
    page.labelled(&BUILD, [(build, 1)]);
    page.single(
        &STARTED,
        seconds(u64::try_from(table.started_unix_ms).unwrap_or(0).saturating_mul(1000)),
    );
    each(
        page,
        &MODE,
        "mode",
        MODES.map(|mode| (mode, u64::from(mode == table.state.mode))),
    );
    page.single(&FAULT, u8::from(table.fault.is_some()));
    page.single(&CLOCK, u8::from(table.clock == ClockQuality::Synchronised));
    page.single(&CLOCK_STEPS, counts.clock_steps);
    page.single(&INPUTS, counts.inputs);
    page.single(&INPUTS_RECORDED, counts.recorded);
    page.single(&INPUTS_UNRECORDED, counts.unrecorded);
    page.single(&INPUTS_LOST, counts.lost);
    page.single(&INPUTS_IN_PROGRESS, counts.in_progress());
    each(
        page,
        &ACTS,
        "outcome",
        [("done", counts.acts_done), ("refused", counts.acts_refused)],
    );
    each(
        page,
        &ENTRIES,
        "outcome",
        [
            ("accepted", counts.entries_accepted),
            ("refused", counts.entries_refused),
        ],
    );
    play(page, counts);
}

/// How play goes: what was refused and put right, and how long it takes.
fn play(page: &mut Exposition, counts: &Counts) {
    // Codes without a number refuse no entry.
    let codes = CODES
        .iter()
        .map(|code| if code.number == 0 { "" } else { code.readout });
    let refused = codes.chain(["other"]).zip(counts.refused_by_code);
    each(
        page,
        &ENTRIES_REFUSED,
        "code",
        refused.filter(|(code, _)| !code.is_empty()),
    );
    let amended = [
        ("terminal", counts.amended_by_terminal),
        ("command", counts.amended_by_command),
    ];
    each(page, &AMENDMENTS, "source", amended);
    let reasons = by_reason(&counts.invalid_spins, |number| {
        let reason = SpinInvalidatedReason::try_from(number).ok()?;
        Some(short(reason.as_str_name(), "SPIN_INVALIDATED_REASON_"))
    });
    each(
        page,
        &INVALID_SPINS,
        "reason",
        reasons.iter().map(|(reason, count)| (reason.as_str(), *count)),
    );
    let labels: Vec<[Label<'_>; 1]> = Phase::ALL.iter().map(|phase| [("phase", phase.word())]).collect();
    let histograms = labels.iter().zip(&counts.phases).map(|(labels, phase)| Histogram {
        labels,
        ends: PHASE_BUCKETS_MS
            .iter()
            .zip(phase.lengths)
            .map(|(end, count)| (seconds(u64::from(*end) * 1000), count))
            .collect(),
        beyond: phase.lengths.last().copied().unwrap_or_default(),
        sum: seconds(phase.together_ms.saturating_mul(1000)),
    });
    page.histograms(&PHASES, histograms);
}

/// Counts by the number of an enum's value, each with its name. What has no reason counts as not stated, which is number 1.
fn by_reason(counts: &[u64], name: impl Fn(i32) -> Option<String>) -> Vec<(String, u64)> {
    let unspecified = counts.first().copied().unwrap_or_default();
    let named = counts.iter().enumerate().skip(1).filter_map(|(number, count)| {
        let also = if number == 1 { unspecified } else { 0 };
        Some((name(i32::try_from(number).ok()?)?, count + also))
    });
    named.collect()
}

/// `ROUND_VOIDED_REASON_A_NOT_FLAT` is "a_not_flat".
fn short(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_ascii_lowercase()
}

fn delivery(page: &mut Exposition, uplink: Option<&UplinkReport>, counts: &Counts) {
    let none = UplinkReport::default();
    let report = uplink.unwrap_or(&none);
    let backlog = match uplink {
        // The report is a moment old: what was journalled since waits too.
        Some(report) if report.head > 0 => report.backlog.saturating_add(counts.head.saturating_sub(report.head)),
        // Delivery has not looked at the journal yet, so what waited at the start isn't counted either.
        Some(_) | None => counts.journalled,
    };
    page.single(&EVENTS, counts.journalled);
    page.single(&SETTLED, report.settled);
    page.single(&UNREADABLE, report.unreadable);
    page.single(&BACKLOG_AT_START, report.backlog_at_start);
    page.single(&BACKLOG, backlog);
    page.single(&PUBLISHED, report.published);
    page.single(&ACKNOWLEDGED, report.acknowledged);
    page.single(&REJECTED, report.rejected);
    page.single(&UNANSWERED, report.unanswered);
    page.single(&IN_FLIGHT, report.in_flight);
    page.single(&SET_ASIDE, report.set_aside);
    page.single(&UNHEARD, report.unheard);
    page.single(&SEQNO, counts.head);
    page.single(&CURSOR, report.cursor);
    page.single(&EXPIRED, counts.expired_through);
}

fn journal(page: &mut Exposition, view: &View, counts: &Counts) {
    let ends: Vec<(f64, u64)> = APPEND_BUCKETS_US
        .iter()
        .zip(counts.appends)
        .map(|(end, count)| (seconds(*end), count))
        .collect();
    let beyond = counts.appends.last().copied().unwrap_or_default();
    let appends = Histogram {
        labels: &[],
        ends,
        beyond,
        sum: seconds(counts.append_us),
    };
    page.histograms(&APPENDS, [appends]);
    page.single(&APPENDS_FAILED, counts.appends_failed);
    let path = &view.table.journal.path;
    let mut wal = path.clone().into_os_string();
    wal.push("-wal");
    some(page, &JOURNAL_BYTES, size(path));
    some(page, &WAL_BYTES, size(Path::new(&wal)));
    some(
        page,
        &FREE_BYTES,
        view.table.journal.free_mb.map(|mb| mb.saturating_mul(1024 * 1024)),
    );
}

fn rounds(page: &mut Exposition, tally: &RoundTally, running: u64) {
    page.single(&ROUNDS_BEGUN, tally.begun);
    let ends = [
        ("settled", tally.settled),
        ("void", tally.void),
        ("abandoned", tally.abandoned),
        ("spinner_won", tally.spinner_won),
        ("spinner_lost", tally.spinner_lost),
        ("decided", tally.decided),
        ("returned", tally.returned),
    ];
    each(page, &ROUNDS_ENDED, "end", ends);
    page.single(&ROUNDS_TAKEN_BACK, tally.taken_back);
    let reasons = by_reason(&tally.voids, |number| {
        let reason = RoundVoidedReason::try_from(number).ok()?;
        Some(short(reason.as_str_name(), "ROUND_VOIDED_REASON_"))
    });
    each(
        page,
        &VOIDS,
        "reason",
        reasons.iter().map(|(reason, count)| (reason.as_str(), *count)),
    );
    page.single(&VOIDS_WITHDRAWN, tally.voids_withdrawn);
    page.single(&ROUND_RUNNING, running);
}

fn alerts(page: &mut Exposition, view: &View) {
    let alerts = &view.table.situation.alerts;
    let of = |name: &Name| alerts.iter().find(|alert| alert.alert == name.as_str());
    let stands = |name: &Name| u64::from(of(name).is_some_and(|alert| !alert.over));
    let unseen = |name: &Name| u64::from(of(name).is_some_and(|alert| !alert.acknowledged));
    each(
        page,
        &ALERT,
        "alert",
        Name::ALL.iter().map(|name| (name.as_str(), stands(name))),
    );
    let unseen = Name::ALL.iter().map(|name| (name.as_str(), unseen(name)));
    each(page, &ALERT_UNACKNOWLEDGED, "alert", unseen);
    let locks = &view.table.state.locks;
    let labels: Vec<[Label<'_>; 2]> = locks
        .iter()
        .map(|lock| [("kind", lock.kind.as_str()), ("reason", lock.reason.as_str())])
        .collect();
    page.labelled(&LOCK, labels.iter().map(|labels| (&labels[..], 1)));
    page.single(&LOCKS, locks.len());
}

fn links(page: &mut Exposition, links: &[LinkReport]) {
    let by_device = |page: &mut Exposition, family: &Family, count: &dyn Fn(&LinkReport) -> u64| {
        each(
            page,
            family,
            "device",
            links.iter().map(|link| (link.kind.word(), count(link))),
        );
    };
    by_device(page, &LINK_UP, &|link| u64::from(link.state == LinkState::Up));
    by_device(page, &LINK_OPENED, &|link| link.counts.opened);
    by_device(page, &LINK_SESSIONS, &|link| link.counts.sessions);
    both_ways(page, &LINK_BYTES, links, |link| {
        (link.counts.bytes_in, link.counts.bytes_out)
    });
    both_ways(page, &LINK_FRAMES, links, |link| {
        (link.counts.frames_in, link.counts.frames_out)
    });
    both_ways(page, &LINK_REPEATS, links, |link| {
        (link.counts.repeats_in, link.counts.repeats_out)
    });
    by_device(page, &LINK_RESETS, &|link| link.counts.resets);
    let bad = two_labels(links, "what", |link| {
        let counts = &link.counts;
        vec![
            ("crc", counts.crc_errors),
            ("noise", counts.noise),
            ("version", counts.other_version),
            ("echo", counts.echoes),
            ("unknown", counts.unknown),
            ("mended", counts.mended),
            ("no_room", counts.no_room),
            ("late", counts.late),
            ("stale", counts.stale),
            ("under_cover", counts.under_cover),
        ]
    });
    page.labelled(&LINK_BAD, bad.iter().map(|(labels, count)| (&labels[..], *count)));
    by_device(page, &LINK_UNSENT, &|link| link.counts.out_dropped);
    let trips = two_labels(links, "percentile", |link| {
        let trip = link.round_trip;
        let percentiles = trip.map(|trip| vec![("50", u64::from(trip.p50_us)), ("99", u64::from(trip.p99_us))]);
        percentiles.unwrap_or_default()
    });
    page.labelled(
        &LINK_ROUND_TRIP,
        trips.iter().map(|(labels, micros)| (&labels[..], seconds(*micros))),
    );
}

fn uplink(page: &mut Exposition, uplink: Option<&UplinkReport>) {
    let none = UplinkReport::default();
    let report = uplink.unwrap_or(&none);
    page.single(&UPLINK_ONLINE, u8::from(report.state == UplinkState::Online));
    page.single(&UPLINK_CONNECTS, report.connects);
    page.single(&UPLINK_FAILURES, report.failures);
    let requests = [("answered", report.requests), ("refused", report.refused_requests)];
    each(page, &UPLINK_REQUESTS, "outcome", requests);
}

fn process(page: &mut Exposition) {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let resident = pages.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
    let page_size = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok().flatten();
    let page_size = page_size.and_then(|size| u64::try_from(size).ok()).unwrap_or(4096);
    some(page, &RESIDENT, resident.map(|pages| pages.saturating_mul(page_size)));
    let descriptors = std::fs::read_dir("/proc/self/fd").ok().map(Iterator::count);
    some(
        page,
        &DESCRIPTORS,
        descriptors.and_then(|count| u64::try_from(count).ok()),
    );
}

/// A sample for each value of one label.
fn each<'a>(
    page: &mut Exposition,
    family: &Family,
    label: &'static str,
    samples: impl IntoIterator<Item = (&'a str, u64)>,
) {
    let samples: Vec<([Label<'a>; 1], u64)> = samples
        .into_iter()
        .map(|(value, count)| ([(label, value)], count))
        .collect();
    page.labelled(family, samples.iter().map(|(labels, count)| (&labels[..], *count)));
}

/// What can't be found out now is left out, so that nobody takes it for zero.
fn some(page: &mut Exposition, family: &Family, value: Option<u64>) {
    let none: &[Label<'_>] = &[];
    page.labelled(family, value.map(|value| (none, value)));
}

/// One sample in each direction.
fn both_ways(page: &mut Exposition, family: &Family, links: &[LinkReport], count: impl Fn(&LinkReport) -> (u64, u64)) {
    let samples = two_labels(links, "direction", |link| {
        let (received, sent) = count(link);
        vec![("in", received), ("out", sent)]
    });
    page.labelled(family, samples.iter().map(|(labels, count)| (&labels[..], *count)));
}

/// Samples by device and one more label.
fn two_labels<'a>(
    links: &'a [LinkReport],
    label: &'static str,
    count: impl Fn(&LinkReport) -> Vec<(&'static str, u64)>,
) -> Vec<([Label<'a>; 2], u64)> {
    let of_link = |link: &'a LinkReport| {
        let device = link.kind.word();
        count(link)
            .into_iter()
            .map(move |(value, count)| ([("device", device), (label, value)], count))
    };
    links.iter().flat_map(of_link).collect()
}

fn size(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|metadata| metadata.len())
}

#[expect(
    clippy::cast_precision_loss,
    reason = "Prometheus knows only floats; a microsecond in a year is lost"
)]
fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}
