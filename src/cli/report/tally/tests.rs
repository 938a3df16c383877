//! Figures computed by hand.

use super::super::calendar::{Shifts, Zone};
use super::super::figures::Counted;
use super::*;
use crate::table::durations::Phase;
use crate::table::event::{
    BetsClosed, BetsOpened, ClockStepped, DeviceOffline, DeviceOfflineReason, DeviceOnline, EntryRejected,
    GatewayStarted, ResultAmended, ResultEntered, RoundAbandoned, RoundHeld, RoundHeldCause, RoundReopened,
    RoundSettled, RoundStarted, RoundVoided, RoundVoidedReason, SpinInvalidated, SpinInvalidatedReason, SpinResulted,
    SpinnerSelected, SpinnerWagerDecided, StaleKeysIgnored, TableClosed, TableOpened, TestModeEntered, TestModeLeft,
    VoidReasonStated, VoidWithdrawn,
};

/// 2026-02-14T00:00:00Z.
pub(in crate::cli::report) const MIDNIGHT_S: i64 = 1_771_027_200;

/// A table's events: a run of the daemon, its uptime, and what the wall clock is ahead of it.
pub(in crate::cli::report) struct Script {
    tally: Tally,
    run: u32,
    /// Seconds since midnight at which this run began.
    began_s: i64,
    uptime_s: i64,
}

impl Script {
    pub(in crate::cli::report) fn by(shifts: &str) -> Script {
        let shifts = match shifts {
            "" => Shifts::default(),
            shifts => Shifts::parse(shifts).unwrap(),
        };
        Script {
            tally: Tally::new(Calendar::new(Zone::utc(), shifts, None, None)),
            run: 0,
            began_s: 0,
            uptime_s: 0,
        }
    }

    /// A start of the daemon at this second of the day.
    pub(in crate::cli::report) fn start(&mut self, at_s: i64) {
        self.run += 1;
        self.began_s = at_s;
        self.uptime_s = 0;
        self.outside(at_s, Body::GatewayStarted(GatewayStarted::default()));
    }

    /// The wall clock is set: from now on it shows so many seconds more.
    pub(in crate::cli::report) fn set_clock(&mut self, by_s: i64) {
        self.began_s += by_s;
        let at = self.began_s + self.uptime_s;
        self.outside(at, Body::ClockStepped(ClockStepped::default()));
    }

    pub(in crate::cli::report) fn outside(&mut self, at_s: i64, body: Body) {
        self.round(at_s, 0, body);
    }

    /// At a second of the day, as the wall clock shows it.
    pub(in crate::cli::report) fn round(&mut self, at_s: i64, round_id: u64, body: Body) {
        self.from(at_s, round_id, None, body);
    }

    pub(in crate::cli::report) fn from(
        &mut self,
        at_s: i64,
        round_id: u64,
        device: Option<(DeviceKind, &str)>,
        body: Body,
    ) {
        self.uptime_s = at_s - self.began_s;
        assert!(self.uptime_s >= 0, "{at_s}");
        self.tally.note(&Event {
            recorded_at: Some(Timestamp::from_unix_micros((MIDNIGHT_S + at_s) * 1_000_000).into()),
            run_id: self.run.to_string(),
            uptime_us: u64::try_from(self.uptime_s).unwrap() * 1_000_000,
            round_id,
            device: device.map(|(kind, serial)| DeviceRef {
                kind: kind.into(),
                serial_number: serial.to_owned(),
            }),
            body: Some(body),
            ..Event::default()
        });
    }

    /// A round that takes a minute: bets for 20 s, an entry 30 s after its beginning.
    pub(in crate::cli::report) fn play(&mut self, at_s: i64, round_id: u64) {
        self.begin(at_s, round_id);
        self.round(at_s + 60, round_id, settled());
    }

    pub(in crate::cli::report) fn begin(&mut self, at_s: i64, round_id: u64) {
        self.round(at_s, round_id, Body::RoundStarted(RoundStarted::default()));
        self.round(at_s + 5, round_id, Body::BetsOpened(BetsOpened::default()));
        let closed = BetsClosed {
            bets_open_ms: 20_000,
            ..BetsClosed::default()
        };
        self.round(at_s + 25, round_id, Body::BetsClosed(closed));
        let entered = ResultEntered {
            uncover_to_entry_ms: 3000,
            ..ResultEntered::default()
        };
        self.round(at_s + 30, round_id, Body::ResultEntered(entered));
    }

    pub(in crate::cli::report) fn end(self) -> Tallied {
        self.tally.end()
    }
}

pub(in crate::cli::report) fn opened() -> Body {
    Body::TableOpened(TableOpened::default())
}

pub(in crate::cli::report) fn closed() -> Body {
    Body::TableClosed(TableClosed {})
}

pub(in crate::cli::report) fn settled() -> Body {
    Body::RoundSettled(RoundSettled {
        lamps_to_settled_ms: 9000,
        ..RoundSettled::default()
    })
}

pub(in crate::cli::report) fn voided(reason: RoundVoidedReason) -> Body {
    let mut voided = RoundVoided::default();
    voided.set_reason(reason);
    Body::RoundVoided(voided)
}

pub(in crate::cli::report) fn refused(code: u32, count: u32) -> Body {
    Body::EntryRejected(EntryRejected {
        code,
        count,
        ..EntryRejected::default()
    })
}

fn counted(named: &[(&str, u64)]) -> Counted {
    named.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

/// Each period's beginning in hours of the day, its open seconds and its rounds.
fn by_shift(tallied: &Tallied) -> Vec<(i64, u64, u64)> {
    tallied
        .periods
        .iter()
        .map(|(period, figures)| {
            let hour = (period.from.as_unix_micros() / 1_000_000 - MIDNIGHT_S) / 3600;
            (hour, figures.open_us / 1_000_000, figures.played)
        })
        .collect()
}

#[test]
fn rounds_are_counted_in_hours_in_which_the_table_was_open() {
    let mut script = Script::by("");
    script.start(3600);
    // Closed for an hour, open for two, in test mode for half an hour of them.
    script.outside(7200, opened());
    for round in 1..=30 {
        script.play(7200 + i64::try_from(round).unwrap() * 100, round);
    }
    script.outside(10_800, Body::TestModeEntered(TestModeEntered {}));
    script.outside(12_600, Body::TestModeLeft(TestModeLeft::default()));
    script.outside(14_400, closed());
    script.outside(20_000, opened());
    script.outside(20_000, closed());
    let all = script.end().all();
    assert_eq!((all.open_us / 1_000_000, all.played), (5400, 30));
    assert_eq!(all.rounds_per_open_hour(), Some(20.0));
    assert_eq!(all.ends, counted(&[("settled", 30)]));
}

#[test]
fn a_shift_that_spans_midnight_has_its_part_of_the_open_time_and_the_rounds_that_began_in_it() {
    let mut script = Script::by("06:00,14:00,22:00");
    script.start(20 * 3600);
    script.outside(21 * 3600, opened());
    // One round begins ten seconds before the shift ends, and ends in the next one.
    script.play(22 * 3600 - 10, 1);
    script.play(23 * 3600, 2);
    script.play(25 * 3600, 3);
    script.play(31 * 3600, 4);
    script.outside(32 * 3600, closed());
    assert_eq!(
        by_shift(&script.end()),
        [(14, 3600, 1), (22, 8 * 3600, 2), (30, 7200, 1)]
    );
}

#[test]
fn a_clock_that_is_set_moves_figures_and_changes_none() {
    let mut script = Script::by("06:00,14:00,22:00");
    script.start(6 * 3600);
    script.outside(6 * 3600, opened());
    script.play(7 * 3600, 1);
    // At eight the clock is set to sixteen, and an hour later back again.
    script.outside(8 * 3600, refused(1, 1));
    script.set_clock(8 * 3600);
    script.play(16 * 3600 + 1800, 2);
    script.outside(17 * 3600, refused(1, 1));
    script.set_clock(-8 * 3600);
    script.play(9 * 3600 + 100, 3);
    script.outside(10 * 3600, closed());
    let tallied = script.end();
    assert_eq!(by_shift(&tallied), [(6, 3 * 3600, 2), (14, 3600, 1)]);
    let all = tallied.all();
    assert_eq!(
        (all.clock_steps, all.phases[&Phase::Round].clone()),
        (2, vec![60_000; 3])
    );
}

#[test]
fn a_restart_costs_the_time_in_which_nothing_ran_and_the_phases_that_it_cut() {
    let mut script = Script::by("");
    script.start(0);
    script.outside(0, opened());
    script.begin(1000, 1);
    // Killed; the last event is of 1030. It runs again from 5000 on, and the round ends.
    script.start(5000);
    let settled_late = Body::RoundSettled(RoundSettled::default());
    script.round(5060, 1, settled_late);
    script.outside(6000, closed());
    let all = script.end().all();
    assert_eq!((all.open_us / 1_000_000, all.played, all.starts), (1030 + 1000, 1, 2));
    assert_eq!(
        all.phases.keys().copied().collect::<Vec<_>>(),
        [Phase::Tumbling, Phase::Betting, Phase::UncoverToEntry]
    );
}

#[test]
fn voids_are_counted_by_the_reason_that_holds_in_the_end() {
    let mut script = Script::by("");
    script.start(0);
    script.outside(0, opened());
    for (round, reason) in [
        (1, RoundVoidedReason::ANotFlat),
        (2, RoundVoidedReason::NotStated),
        (3, RoundVoidedReason::NotStated),
        (4, RoundVoidedReason::AExposedEarly),
    ] {
        let at = i64::try_from(round).unwrap() * 100;
        script.begin(at, round);
        script.round(at + 40, round, voided(reason));
        if round == 3 {
            let mut stated = VoidReasonStated::default();
            stated.set_reason(RoundVoidedReason::ATumblerFault);
            script.round(at + 50, round, Body::VoidReasonStated(stated));
        }
    }
    // The fourth was withdrawn, and settled.
    script.round(450, 4, Body::VoidWithdrawn(VoidWithdrawn::default()));
    script.round(470, 4, settled());
    for round in 5..=8 {
        script.play(500 + i64::try_from(round).unwrap() * 100, round);
    }
    script.round(2000, 9, Body::RoundStarted(RoundStarted::default()));
    script.round(2010, 9, Body::RoundAbandoned(RoundAbandoned::default()));
    let all = script.end().all();
    assert_eq!(all.played, 8, "an abandoned round is none");
    assert_eq!(
        all.voids,
        counted(&[("a_not_flat", 1), ("a_tumbler_fault", 1), ("not_stated", 1)])
    );
    assert_eq!(all.voids_withdrawn, 1);
    assert_eq!(all.per_hundred_rounds(3), Some(37.5));
    assert_eq!(all.ends, counted(&[("abandoned", 1), ("settled", 5), ("void", 3)]));
}

#[test]
fn a_reason_is_taken_however_many_rounds_later_it_is_stated() {
    let mut script = Script::by("");
    script.start(0);
    script.begin(10, 1);
    script.round(60, 1, voided(RoundVoidedReason::NotStated));
    for round in 2..=200 {
        script.play(i64::try_from(round).unwrap() * 100, round);
    }
    let mut stated = VoidReasonStated::default();
    stated.set_reason(RoundVoidedReason::ANotFlat);
    script.round(30_000, 1, Body::VoidReasonStated(stated));
    let all = script.end().all();
    assert_eq!(all.voids, counted(&[("a_not_flat", 1)]));
    assert_eq!(all.played, 200);
}

#[test]
fn a_settlement_that_is_taken_back_is_counted_once() {
    let mut script = Script::by("");
    script.start(0);
    script.play(100, 1);
    // Style B: the next round has begun already, and gives way.
    script.round(160, 2, Body::RoundStarted(RoundStarted::default()));
    script.round(170, 1, Body::RoundReopened(RoundReopened {}));
    let amended = ResultAmended {
        source: ResultSource::Terminal.into(),
        ..ResultAmended::default()
    };
    script.round(180, 1, Body::ResultAmended(amended));
    script.round(200, 1, settled());
    let all = script.end().all();
    assert_eq!((all.played, all.taken_back), (1, 1));
    assert_eq!(all.amendments, counted(&[("terminal", 1)]));
    assert_eq!(all.ends, counted(&[("abandoned", 1), ("settled", 1)]));
    assert_eq!(all.phases[&Phase::Round], [60_000], "measured once");
    assert_eq!(all.phases[&Phase::LampsToSettled], [9000, 9000]);
}

#[test]
fn refused_entries_are_counted_as_often_as_they_were_made() {
    let mut script = Script::by("");
    script.start(0);
    script.begin(100, 1);
    script.round(131, 1, refused(2, 1));
    script.round(141, 1, refused(2, 4));
    script.round(142, 1, refused(31, 1));
    script.outside(150, refused(31, 0));
    script.round(160, 1, settled());
    let mut held = RoundHeld::default();
    held.set_cause(RoundHeldCause::DiceDiffer);
    script.round(159, 1, Body::RoundHeld(held));
    let all = script.end().all();
    assert_eq!(all.refused.into_iter().collect::<Vec<_>>(), [(2, 5), (31, 2)]);
    assert_eq!(all.entries, 1);
    assert_eq!(all.holds, counted(&[("dice_differ", 1)]));
}

#[test]
fn a_report_of_a_time_knows_what_happened_before_it() {
    let mut script = Script::by("");
    let at = |hour: i64| Some(Timestamp::from_unix_micros((MIDNIGHT_S + hour * 3600) * 1_000_000));
    script.tally = Tally::new(Calendar::new(Zone::utc(), Shifts::default(), at(10), at(12)));
    script.start(8 * 3600);
    script.outside(8 * 3600, opened());
    script.play(9 * 3600, 1);
    // It begins before the time, and ends in it.
    script.play(10 * 3600 - 10, 2);
    script.play(11 * 3600, 3);
    // It begins in it, and ends after it.
    script.play(12 * 3600 - 10, 4);
    script.play(13 * 3600, 5);
    script.outside(14 * 3600, closed());
    let all = script.end().all();
    assert_eq!((all.open_us / 1_000_000, all.played), (7200, 2));
    assert_eq!(all.phases[&Phase::Betting], [20_000, 20_000]);
}

#[test]
fn figures_of_a_device_follow_the_device() {
    let mut script = Script::by("");
    let terminal = |serial| Some((DeviceKind::Terminal, serial));
    let online = || Body::DeviceOnline(DeviceOnline::default());
    let offline = || {
        let mut offline = DeviceOffline::default();
        offline.set_reason(DeviceOfflineReason::Silent);
        Body::DeviceOffline(offline)
    };
    script.start(0);
    script.from(1, 0, terminal("ET-1"), online());
    script.from(100, 1, terminal("ET-1"), Body::ResultEntered(ResultEntered::default()));
    script.from(120, 1, terminal("ET-1"), refused(1, 3));
    script.from(200, 0, terminal("ET-1"), offline());
    script.from(230, 0, terminal("ET-1"), online());
    script.from(300, 0, terminal("ET-1"), offline());
    // Another one takes its place.
    script.from(310, 0, terminal("ET-2"), online());
    script.from(
        320,
        0,
        terminal("ET-2"),
        Body::StaleKeysIgnored(StaleKeysIgnored { count: 6 }),
    );
    let devices = script.end().devices;
    let first = &devices[&("terminal", "ET-1".to_owned())];
    assert_eq!(
        (first.came_up, first.entries, first.refused, first.stale_keys),
        (2, 1, 3, 0)
    );
    assert_eq!(first.went_away, counted(&[("silent", 2)]));
    assert_eq!(first.away_us, 30_000_000, "the second time has no end yet");
    let second = &devices[&("terminal", "ET-2".to_owned())];
    assert_eq!((second.came_up, second.entries, second.stale_keys), (1, 0, 6));
}

/// One absence, whatever is found out about it while it lasts, across a start, and across the report's beginning.
#[test]
fn another_reason_for_the_same_absence_is_no_other_departure() {
    let lamps = Some((DeviceKind::LayoutLamps, "LL-1"));
    let online = || Body::DeviceOnline(DeviceOnline::default());
    let offline = |reason: DeviceOfflineReason| {
        let mut offline = DeviceOffline::default();
        offline.set_reason(reason);
        Body::DeviceOffline(offline)
    };
    let play = |script: &mut Script| {
        script.start(0);
        script.from(1, 0, lamps, online());
        script.from(100, 0, lamps, offline(DeviceOfflineReason::Silent));
        script.from(101, 0, lamps, offline(DeviceOfflineReason::PortGone));
        script.from(130, 0, lamps, offline(DeviceOfflineReason::PortHeld));
        script.from(140, 0, lamps, offline(DeviceOfflineReason::Silent));
        script.from(150, 0, lamps, online());
        script.from(200, 0, lamps, offline(DeviceOfflineReason::PortGone));
        script.start(300);
        script.from(310, 0, lamps, offline(DeviceOfflineReason::PortHeld));
        script.from(350, 0, lamps, online());
        script.from(400, 0, lamps, offline(DeviceOfflineReason::Silent));
        script.from(403, 0, lamps, offline(DeviceOfflineReason::PortGone));
    };
    let at = |second: i64| Some(Timestamp::from_unix_micros((MIDNIGHT_S + second) * 1_000_000));
    for (from, came_up, reasons, away_s) in [
        (None, 3, &[("port_gone", 1), ("silent", 2)][..], 50),
        // It was away when the report begins.
        (at(110), 2, &[("port_gone", 1), ("silent", 1)], 0),
        (at(401), 0, &[], 0),
    ] {
        let mut script = Script::by("");
        script.tally = Tally::new(Calendar::new(Zone::utc(), Shifts::default(), from, None));
        play(&mut script);
        let devices = script.end().devices;
        let found = &devices[&("lamps", "LL-1".to_owned())];
        assert_eq!(found.went_away, counted(reasons), "{from:?}");
        assert_eq!(
            (found.came_up, found.away_us),
            (came_up, away_s * 1_000_000),
            "{from:?}"
        );
    }
}

#[test]
fn games_of_two_up_are_rounds_and_their_invalid_spins_are_counted() {
    let mut script = Script::by("");
    let selected = || Body::SpinnerSelected(SpinnerSelected::default());
    let spun = || {
        Body::SpinResulted(SpinResulted {
            call_to_result_ms: 4000,
            ..SpinResulted::default()
        })
    };
    let invalid = |reason: SpinInvalidatedReason| {
        let mut invalid = SpinInvalidated::default();
        invalid.set_reason(reason);
        Body::SpinInvalidated(invalid)
    };
    let decided = |won| {
        Body::SpinnerWagerDecided(SpinnerWagerDecided {
            won,
            ..SpinnerWagerDecided::default()
        })
    };
    script.start(0);
    script.outside(0, opened());
    script.round(10, 1, selected());
    script.round(20, 1, invalid(SpinInvalidatedReason::OffTable));
    script.round(30, 1, invalid(SpinInvalidatedReason::Stacked));
    let overruled = Body::InvalidSpinOverruled(crate::table::event::InvalidSpinOverruled {});
    script.round(31, 1, overruled);
    script.round(31, 1, spun());
    script.round(40, 1, spun());
    script.round(40, 1, decided(true));
    script.round(50, 2, selected());
    script.round(90, 2, spun());
    script.round(90, 2, decided(false));
    let all = script.end().all();
    assert_eq!(all.ends, counted(&[("spinner_lost", 1), ("spinner_won", 1)]));
    assert_eq!((all.played, all.entries), (2, 3));
    assert_eq!(all.invalid_spins, counted(&[("off_table", 1)]));
    assert_eq!(all.phases[&Phase::CallToResult], [4000; 3]);
    assert_eq!(all.phases[&Phase::Round], [30_000, 40_000]);
}
