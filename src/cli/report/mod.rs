//! `tablegate report`: rounds in an hour, how long the phases of play take, refused entries, voids and amendments in a hundred rounds, by
//! shift and by device. Reads the journal only, in pages: beside the daemon, without it, and on a copy.

mod calendar;
mod figures;
mod tally;
mod text;
mod told;

use super::ending::{Failure, print, print_json};
use super::journal::{Source, open, unreadable};
use super::progress::Progress;
use super::reading::{Gaps, every_event};
use crate::journal::{Beginning, Infos, Reader, Seqno};
use crate::time::Timestamp;
use calendar::{Calendar, Period, Shifts, USUAL_SHIFTS, Zone};
use clap::{Args, ValueEnum};
use tally::{Tallied, Tally};
use told::Told;

/// What was played.
#[derive(Args, Debug)]
pub struct Report {
    /// From this moment on: 2026-02-14, 2026-02-14T06:00 (by the clock of the report's zone), or 2026-02-14T06:00:00Z.
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Up to this moment, which isn't in it any longer.
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// Also by shift: 06:00 to 14:00, to 22:00, to 06:00.
    #[arg(long)]
    by_shift: bool,
    /// Also by shift, with these beginnings.
    #[arg(long, value_name = "HH:MM,...")]
    shifts: Option<String>,
    /// The time zone of shifts and times: UTC, Pacific/Auckland; without it, this PC's.
    #[arg(long, value_name = "ZONE")]
    zone: Option<String>,
    /// In which form.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Print JSON, as --format json.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    source: Source,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// One object.
    Json,
    /// A row for each figure of each shift, with a header.
    Csv,
}

/// What is reported, and from where.
struct Reported {
    infos: Infos,
    beginning: Beginning,
    zone: Zone,
    shifts: Shifts,
    asked: (Option<Timestamp>, Option<Timestamp>),
    /// When the oldest and the newest event that is there were recorded.
    known: Option<Period>,
    tallied: Tallied,
    gaps: Gaps,
}

/// Runs it.
///
/// # Errors
/// The journal can't be read, or the question makes no sense.
pub fn run(report: &Report) -> Result<(), Failure> {
    let zone = Zone::find(report.zone.as_deref()).map_err(Failure::usage)?;
    let shifts = match (&report.shifts, report.by_shift) {
        (Some(written), _) => Shifts::parse(written).map_err(|error| Failure::usage(format!("--shifts: {error}")))?,
        (None, true) => Shifts::parse(USUAL_SHIFTS).map_err(Failure::usage)?,
        (None, false) => Shifts::default(),
    };
    let from = moment(&zone, "--from", report.from.as_deref())?;
    let to = moment(&zone, "--to", report.to.as_deref())?;
    if let (Some(from), Some(to)) = (from, to)
        && to <= from
    {
        return Err(Failure::usage("--to is not after --from"));
    }
    let mut reader = open(&report.source.file()?)?;
    let reported = read(&mut reader, zone, shifts, (from, to))?;
    let told = Told::new(&reported);
    match (report.format, report.json) {
        (Format::Json, _) | (_, true) => print_json(&told)?,
        (Format::Text, false) => print(&text::page(&told))?,
        (Format::Csv, false) => print(&told.csv())?,
    }
    reported.gaps.none()
}

fn moment(zone: &Zone, option: &str, written: Option<&str>) -> Result<Option<Timestamp>, Failure> {
    written
        .map(|written| zone.moment(written))
        .transpose()
        .map_err(|error| Failure::usage(format!("{option}: {error}")))
}

/// Reads everything: no time tells where in the journal another one is, since clocks can be set.
fn read(
    reader: &mut Reader,
    zone: Zone,
    shifts: Shifts,
    asked: (Option<Timestamp>, Option<Timestamp>),
) -> Result<Reported, Failure> {
    let infos = reader.infos().map_err(unreadable)?;
    let beginning = reader.beginning().map_err(unreadable)?;
    let newest: Seqno = infos.head.seqno;
    let events = newest.saturating_sub(infos.oldest.saturating_sub(1));
    let calendar = Calendar::new(zone.clone(), shifts.clone(), asked.0, asked.1);
    let mut tally = Tally::new(calendar);
    let mut progress = Progress::start();
    let mut known: Option<Period> = None;
    let mut gaps = Gaps::default();
    gaps.add_beginning(&beginning, 1);
    gaps.add_ending(reader.ending().map_err(unreadable)?, Seqno::MAX);
    gaps.add_all(every_event(reader, (1, newest), |record, event| {
        tally.note(event);
        if let Some(at) = event.recorded_at.as_ref().map(Timestamp::from) {
            let from = known.map_or(at, |known| known.from);
            known = Some(Period { from, to: at });
        }
        progress.events(record.seqno.saturating_sub(infos.oldest.saturating_sub(1)), events);
        Ok(())
    })?);
    drop(progress);
    Ok(Reported {
        infos,
        beginning,
        zone,
        shifts,
        asked,
        known,
        tallied: tally.end(),
        gaps,
    })
}

#[cfg(test)]
mod tests {
    use super::tally::tests::{MIDNIGHT_S, Script, closed, opened, refused, voided};
    use super::*;
    use crate::journal::Identity;
    use crate::table::event::{Body, DeviceKind, DeviceOnline, GatewayStarted, Head, ResultEntered, RoundVoidedReason};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_unix_micros((MIDNIGHT_S + second) * 1_000_000)
    }

    /// Two shifts of a table, with all that goes wrong in them.
    fn reported() -> Reported {
        let hour = 3600;
        let mut script = Script::by(USUAL_SHIFTS);
        script.start(7 * hour);
        let started = GatewayStarted {
            game: "tai-sai".to_owned(),
            ..GatewayStarted::default()
        };
        script.outside(7 * hour, Body::GatewayStarted(started));
        let terminal = Some((DeviceKind::Terminal, "ET-1_0042"));
        script.from(7 * hour + 1, 0, terminal, Body::DeviceOnline(DeviceOnline::default()));
        script.outside(8 * hour, opened());
        for round in 1..=40 {
            script.play(8 * hour + i64::try_from(round).unwrap() * 500, round);
        }
        let again = 14 * hour + 60;
        script.begin(again, 41);
        script.from(again + 31, 41, terminal, refused(1, 1));
        script.from(again + 41, 41, terminal, refused(1, 7));
        script.from(again + 43, 41, terminal, Body::ResultEntered(ResultEntered::default()));
        script.round(again + 50, 41, voided(RoundVoidedReason::ANotFlat));
        script.outside(15 * hour, refused(31, 1));
        script.set_clock(600);
        script.outside(16 * hour, closed());
        let identity = Identity {
            journal_id: "6d0f3a52-8e0f-4a53-9b5b-0f7e6d0f3a52".to_owned(),
            site: "harbour".to_owned(),
            table: "TS-07".to_owned(),
            machine: String::new(),
            created_us: 0,
        };
        Reported {
            infos: Infos {
                identity,
                oldest: 1201,
                head: Head {
                    seqno: 1400,
                    ..Head::default()
                },
                cursor: 0,
                checkpoint: None,
                expired_through: Some(1200),
                moved_aside: Vec::new(),
                file_bytes: 0,
                wal_bytes: 0,
            },
            beginning: Beginning::Expired { through: 1200 },
            zone: Zone::utc(),
            shifts: Shifts::parse(USUAL_SHIFTS).unwrap(),
            asked: (None, None),
            known: Some(Period {
                from: at(7 * hour),
                to: at(16 * hour),
            }),
            tallied: script.end(),
            gaps: Gaps::default(),
        }
    }

    #[test]
    fn the_page_has_everything_and_fits_80_columns() {
        let page = text::page(&Told::new(&reported()));
        for line in page.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        insta::assert_snapshot!(page);
    }

    #[test]
    fn every_number_of_the_json_is_in_the_csv() {
        let told = Told::new(&reported());
        let csv = told.csv();
        let rows: Vec<Vec<&str>> = csv.lines().map(|row| row.split(',').collect()).collect();
        assert!(rows.iter().all(|row| row.len() == 6), "{csv}");
        let json = serde_json::to_value(&told).unwrap();
        let value = |time: &str, from: &str, figure: &str, of: &str| -> String {
            let mut found = rows
                .iter()
                .filter(|row| row[0] == time && row[1].starts_with(from) && row[3] == figure && row[4] == of);
            let row = found
                .next()
                .unwrap_or_else(|| panic!("{time} {figure} {of} is missing:\n{csv}"));
            assert!(found.next().is_none(), "{time} {figure} {of} twice");
            row[5].to_owned()
        };
        let section = |time: &str, from: &str, section: &serde_json::Value| {
            for (figure, number) in section.as_object().unwrap() {
                match number {
                    serde_json::Value::Number(number)
                        if !["voids", "amendments", "holds", "invalid_spins", "entries_refused"]
                            .contains(&figure.as_str()) =>
                    {
                        let told: f64 = value(time, from, figure, "").parse().unwrap();
                        assert_eq!(Some(told), number.as_f64(), "{figure}");
                    }
                    serde_json::Value::Object(parts) if figure == "phases" => {
                        for (phase, lengths) in parts {
                            assert_eq!(value(time, from, "phase_p90_ms", phase), lengths["p90_ms"].to_string());
                        }
                    }
                    serde_json::Value::Object(parts) => {
                        let figure = figure.split("_by_").next().unwrap();
                        let figure = if figure == "rounds" { "rounds_by_end" } else { figure };
                        for (of, count) in parts {
                            assert_eq!(value(time, from, figure, of), count.to_string());
                        }
                    }
                    serde_json::Value::Null
                    | serde_json::Value::Bool(_)
                    | serde_json::Value::Number(_)
                    | serde_json::Value::String(_)
                    | serde_json::Value::Array(_) => {}
                }
            }
        };
        section("all", "", &json["all"]);
        for shift in json["shifts"].as_array().unwrap() {
            let from = shift["from"].as_str().unwrap().to_owned();
            section("shift", &from, shift);
        }
        assert_eq!(value("device", "", "entries_refused", "terminal ET-1_0042"), "8");
    }
}
