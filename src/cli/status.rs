//! `tablegate status`: the table, its round, its devices, the floor and the journal, in words that help at three in the morning.

use super::daemon::{Reach, look};
use super::describe::moment;
use super::ending::{Failure, in_colour, print, print_json};
use super::line_advice;
use super::picture::{self, Board};
use crate::device::{LinkReport, LinkState};
use crate::gateway::{ClockSource, JournalView, SoftwareView, Standing, TableView, View};
use crate::rules::tai_sai::Layout;
use crate::table::event::ClockQuality;
use crate::table::view::{AlertLine, LockLine, Situation, TwoUpView};
use crate::time::Timestamp;
use crate::uplink::UplinkState;
use clap::Args;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Table, round, devices, link quality, backlog, alerts and locks.
#[derive(Args, Debug)]
pub struct StatusArgs {
    #[command(flatten)]
    reach: Reach,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
///
/// # Errors
/// When no daemon can be asked.
pub fn run(args: &StatusArgs) -> Result<(), Failure> {
    let view = look(&args.reach)?;
    if args.json {
        print_json(&view)
    } else {
        let paint = if in_colour() { Paint::Colours } else { Paint::Plain };
        print(&describe(&view, paint))
    }
}

/// Everything in words, without colours.
#[must_use]
pub fn told(view: &View) -> String {
    describe(view, Paint::Plain)
}

/// Whether alarming lines are red.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Paint {
    Plain,
    Colours,
}

impl Paint {
    fn alarm(self, text: &str) -> String {
        match self {
            Paint::Plain => text.to_owned(),
            Paint::Colours => format!("\u{1b}[1;31m{text}\u{1b}[0m"),
        }
    }
}

/// The round, for `round show --json`.
#[derive(Serialize, Debug)]
pub struct RoundSaid<'a> {
    round_id: u64,
    mode: &'a str,
    phase: &'a str,
    held: Option<&'a str>,
    call: Option<&'a str>,
    lit: &'a [String],
    settled_provisionally: bool,
    #[serde(flatten)]
    situation: &'a Situation,
}

/// The round as the view has it.
#[must_use]
pub fn round(view: &View) -> RoundSaid<'_> {
    let state = &view.table.state;
    RoundSaid {
        round_id: state.round_id,
        mode: &state.mode,
        phase: &state.phase,
        held: state.held.as_deref(),
        call: state.call.as_deref(),
        lit: &state.lit,
        settled_provisionally: state.settled_provisionally,
        situation: &view.table.situation,
    }
}

/// The round, the locks that stand and what can be done, for a person.
#[must_use]
pub fn show_round(view: &View) -> String {
    let locks = describe_locks(view, Paint::Plain);
    describe_round(view) + &locks + &describe_situation(view)
}

fn describe_round(view: &View) -> String {
    let state = &view.table.state;
    let mut text = String::new();
    if state.round_id == 0 {
        line(&mut text, format_args!("no round: {}", play(view)));
    } else {
        line(&mut text, format_args!("round {}: {}", state.round_id, play(view)));
    }
    match (&view.table.situation.two_up, &state.call) {
        (Some(game), _) => describe_two_up(&mut text, game),
        (None, Some(call)) => line(&mut text, format_args!("call: {call}")),
        (None, None) => {}
    }
    describe_lit(&mut text, view);
    if state.phase == "closed" && view.table.situation.cover == "off" {
        line(
            &mut text,
            format_args!("cover: off; it counts as taken off when it has been off for 300 ms"),
        );
    }
    if let Some(cause) = &state.held {
        line(&mut text, format_args!("held: {}", held(cause, &view.table.situation)));
    }
    if state.settled_provisionally {
        line(
            &mut text,
            format_args!("settled by the cover lying on; \"round reopen\" takes that back until the next spin"),
        );
    }
    text
}

/// What shows the result. Lamps that don't answer may be dark, so nothing is said of them but what they should show.
fn describe_lit(text: &mut String, view: &View) {
    let lit = &view.table.state.lit;
    if lit.is_empty() {
        return;
    }
    if are_lamps_away(view) {
        let lamps = match view.table.situation.two_up {
            Some(_) => "result lights",
            None => "lamps",
        };
        let should = lit.join(", ");
        return line(
            text,
            format_args!("should be lit, but the {lamps} don't answer: {should}"),
        );
    }
    let shining = shining(view);
    if !shining.is_empty() {
        line(text, format_args!("lit: {}", shining.join(", ")));
    }
}

/// Whether they measure is known of every lamp device that answers.
fn are_lamps_away(view: &View) -> bool {
    view.table.situation.lamps_read_back.is_none()
}

/// What is lit, without the lights in whose place a card is shown.
fn shining(view: &View) -> Vec<&str> {
    let cards = view.table.situation.two_up.as_ref().map(|game| game.cards.as_slice());
    let cards = cards.unwrap_or_default();
    let lit = view.table.state.lit.iter().filter(|light| !cards.contains(light));
    lit.map(String::as_str).collect()
}

/// Who spins, and what was spun.
fn describe_two_up(text: &mut String, game: &TwoUpView) {
    let wager = match &game.wager {
        Some(side) => format!(", wager on {side}"),
        None => String::new(),
    };
    let spinner = match game.spinner.as_deref() {
        Some("player") => "a player spins",
        Some("dealer") => "the dealer spins, because everyone declined",
        Some("dealer_for_player") => "the dealer spins until the player's wager is decided",
        Some("run_out") => "the boxer spins out what lies in the bonus area",
        Some(other) => other,
        None => "nobody has the spin",
    };
    line(text, format_args!("spinner: {spinner}{wager}"));
    if let Some(outcome) = &game.outcome {
        let odds = match game.odds_run {
            0 => String::new(),
            run => format!(", odds {run} in a row"),
        };
        line(
            text,
            format_args!(
                "last result: {}; heads {}, tails {}{odds}",
                outcome.replace('_', " "),
                game.heads,
                game.tails
            ),
        );
    }
    if game.invalid_run > 0 {
        line(text, format_args!("invalid spins in a row: {}", game.invalid_run));
    }
    if game.missing > 0 {
        line(text, format_args!("lost of the set: {}", game.missing));
    }
    if !game.cards.is_empty() {
        line(text, format_args!("cards stand in for: {}", game.cards.join(", ")));
    }
}

/// What can be done now, and what happens by itself.
fn describe_situation(view: &View) -> String {
    let situation = &view.table.situation;
    let mut text = String::new();
    for possible in &situation.possible {
        if possible.command.is_empty() {
            line(&mut text, format_args!("now: {}", possible.text));
        } else {
            line(
                &mut text,
                format_args!("now: {} (tablegate {})", possible.text, possible.command),
            );
        }
    }
    for deadline in &situation.deadlines {
        line(&mut text, format_args!("waiting: {}", deadline.what));
    }
    text
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing into a String can't fail.
    let _ = writeln!(text, "{arguments}");
}

fn describe(view: &View, paint: Paint) -> String {
    let table = &view.table;
    let mut text = String::new();
    let style = match (table.game.as_str(), &table.style) {
        (_, None) => String::new(),
        ("sic-bo", Some(tumbler)) => format!(", tumbler {tumbler}"),
        (_, Some(style)) => format!(" style {style}"),
    };
    let layout = match table.layout.as_str() {
        "" => String::new(),
        layout => format!(", layout {layout}"),
    };
    line(
        &mut text,
        format_args!(
            "{} at {}: {}, {}{style}{layout}, tablegate {}",
            table.table,
            table.site,
            table.state.mode.replace('_', " "),
            table.game,
            table.version
        ),
    );
    if let Some(fault) = &table.fault {
        let said = format!("The table stands still: {fault}");
        line(&mut text, format_args!("{}", paint.alarm(&said)));
    }
    text.push_str(&describe_round(view));
    for row in picture_of(view, paint) {
        line(&mut text, format_args!("  {row}"));
    }
    describe_failed_lamps(&mut text, view, paint);
    text.push_str(&describe_locks(view, paint));
    if table.situation.locks.is_empty() {
        line(&mut text, format_args!("no locks"));
    }
    for alert in &table.situation.alerts {
        line(&mut text, format_args!("{}", describe_alert(alert, paint)));
    }
    if table.situation.alerts.is_empty() {
        line(&mut text, format_args!("no alerts"));
    }
    text.push_str(&describe_situation(view));
    describe_approval(&mut text, &table.software, paint);
    text.push_str("\ndevices:\n");
    for link in &view.links {
        describe_link(&mut text, link, paint);
    }
    for advice in line_advice::exchanged(&view.links) {
        line(&mut text, format_args!("  {}", paint.alarm(&advice)));
    }
    text.push('\n');
    describe_floor(&mut text, view, paint);
    describe_journal(&mut text, &table.journal, paint);
    describe_clock(&mut text, table, paint);
    text
}

/// Which lamps a technician has to replace.
fn describe_failed_lamps(text: &mut String, view: &View, paint: Paint) {
    let what = match view.table.situation.two_up {
        Some(_) => "result light",
        None => "area",
    };
    for failed in &view.table.situation.failed_lamps {
        let numbers: Vec<String> = failed.lamps.iter().map(|bit| line_advice::lamp(*bit)).collect();
        let shows = if failed.wrongly_lit {
            "is lit and must not be"
        } else {
            "stays dark"
        };
        let said = format!("FAILED: {what} {}, {}, {shows}", failed.area, numbers.join(", "));
        line(text, format_args!("{}", paint.alarm(&said)));
    }
}

fn describe_journal(text: &mut String, journal: &JournalView, paint: Paint) {
    // While the self-test fails, nothing of it is known.
    let newest = if journal.seqno == 0 {
        "not open".to_owned()
    } else {
        format!("event {}", journal.seqno)
    };
    let free = match journal.free_mb {
        None => String::new(),
        Some(free) if free < journal.needed_mb => paint.alarm(&format!(
            ", ONLY {free} MB FREE, {} are needed for the next round ([journal] min_free_mb)",
            journal.needed_mb
        )),
        Some(free) => format!(", {free} MB free"),
    };
    line(
        text,
        format_args!("journal: {newest}, {}{free}", journal.path.display()),
    );
    match &journal.signed_by {
        Some(key_id) => line(text, format_args!("checkpoints: signed by key {key_id}")),
        None => line(
            text,
            format_args!("checkpoints: unsigned ([journal] signing_key names no key)"),
        ),
    }
}

/// Whether somebody keeps this PC's clock right, and whom to ask why not.
fn describe_clock(text: &mut String, table: &TableView, paint: Paint) {
    let said = match (table.clock, table.clock_source) {
        (ClockQuality::Synchronised, ClockSource::Timesyncd | ClockSource::Chrony | ClockSource::None) => {
            "follows a time server".to_owned()
        }
        (ClockQuality::Unsynchronised | ClockQuality::Stepped | ClockQuality::Unspecified, ClockSource::None) => {
            "nobody is asked whether it is right ([clock] source = \"none\"): no old event is deleted".to_owned()
        }
        (ClockQuality::Unsynchronised | ClockQuality::Stepped | ClockQuality::Unspecified, ClockSource::Timesyncd) => {
            paint.alarm("FOLLOWS NO TIME SERVER, and no old event is deleted: `timedatectl timesync-status` says why")
        }
        (ClockQuality::Unsynchronised | ClockQuality::Stepped | ClockQuality::Unspecified, ClockSource::Chrony) => {
            paint.alarm("FOLLOWS NO TIME SERVER, and no old event is deleted: `chronyc tracking` says why")
        }
    };
    line(text, format_args!("clock: {said}"));
}

/// Whether what runs is what was approved.
fn describe_approval(text: &mut String, software: &SoftwareView, paint: Paint) {
    let path = software.approval_path.display();
    let said = match software.approval {
        Standing::NotEnforced => {
            let said = "approved digests are not enforced: there is no file of them, and nothing is held back";
            return line(text, format_args!("{said}"));
        }
        Standing::AsApproved => {
            let (by, at) = (&software.approved_by, &software.approved_at);
            return line(
                text,
                format_args!("program, configuration and rules are as approved by {by}, {at}"),
            );
        }
        Standing::Differs => format!(
            "NOT as approved by {}, {}: {}. Restore what was approved, or have it approved (tablegate approve), and restart ({path})",
            software.approved_by,
            software.approved_at,
            software.differs.join(", "),
        ),
        Standing::Unusable => format!(
            "{path} can't be used, and approves nothing: {}. Have it written anew (tablegate approve), and restart",
            software.problems.join("; ")
        ),
    };
    line(text, format_args!("{}", paint.alarm(&said)));
}

/// An alert in one line; one that is over is shown until somebody has said that he knows.
fn describe_alert(alert: &AlertLine, paint: Paint) -> String {
    let times = match alert.times {
        0 | 1 => String::new(),
        times => format!(" (raised {times} times)"),
    };
    let since = Timestamp::from_unix_micros(alert.since_unix_ms.saturating_mul(1000));
    let since = moment(Some(&since.into()));
    let seen = match (alert.over, alert.acknowledged) {
        (true, _) => format!(", over since {since} and not acknowledged"),
        (false, true) => format!(" since {since}, acknowledged"),
        (false, false) => format!(" since {since}"),
    };
    let rest = match alert.text.ends_with(CUT) {
        true => " (the rest: tablegate events list --kind alert_raised)",
        false => "",
    };
    let said = format!("alert {}{times}{seen}: {}{rest}", alert.alert, alert.text);
    if alert.over { said } else { paint.alarm(&said) }
}

/// Ends a text of which the daemon's state keeps the beginning.
const CUT: &str = " ...";

/// What is lit, drawn as it lies on the table; nothing while nothing is, or nobody knows.
fn picture_of(view: &View, paint: Paint) -> Vec<String> {
    let table = &view.table;
    let lit: BTreeSet<String> = shining(view).into_iter().map(str::to_owned).collect();
    if lit.is_empty() || are_lamps_away(view) {
        return Vec::new();
    }
    let paint = match paint {
        Paint::Plain => picture::Paint::Plain,
        Paint::Colours => picture::Paint::Colour,
    };
    match (table.game.as_str(), table.layout.as_str()) {
        ("tai-sai", "appendix-2") => picture::lines(Layout::Appendix2, &lit, paint),
        ("tai-sai", _) => picture::lines(Layout::Appendix1, &lit, paint),
        ("sic-bo", _) => picture::lines(Board::SicBo, &lit, paint),
        _ => picture::result_lights(&lit, paint),
    }
}

/// How the dice come to be seen, as far as it matters for words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Dice {
    /// From under a cover.
    Covered,
    /// In a tumbler that everybody can see.
    Open,
    /// Thrown from a cup.
    Thrown,
}

impl Dice {
    fn of(view: &View) -> Dice {
        match (view.table.game.as_str(), view.table.style.as_deref()) {
            ("tai-sai", Some("B")) => Dice::Thrown,
            ("sic-bo", Some("open")) => Dice::Open,
            _ => Dice::Covered,
        }
    }
}

/// What the table does now, in the trade's words.
fn play(view: &View) -> &'static str {
    let state = &view.table.state;
    match (state.mode.as_str(), state.phase.as_str()) {
        ("open", "ready") if Dice::of(view) != Dice::Covered => {
            "bets open as soon as nothing holds the next round back"
        }
        ("open", "closed") if Dice::of(view) == Dice::Open => "no more bets; the dice are to be spun",
        ("open", "closed") if Dice::of(view) == Dice::Thrown => "no more bets; the throw and its entry are awaited",
        ("open", "landed") if Dice::of(view) == Dice::Open => "the dice lie at rest; the entry is awaited",
        ("self_test", _) => "the self-test has not passed",
        ("closed", _) => "the table is closed",
        ("opening", _) => "the opening checks run",
        ("test", _) => "Test: devices are tried, nothing becomes a result",
        ("journal_failed", _) => "nothing can be recorded, so nothing may happen",
        (_, "select") => "the spin is offered",
        (_, "choice") => "three invalid spins: the spinner has to choose",
        (_, "decide") => "the game is decided; who spun may stop or go on",
        (_, "closed") if view.table.situation.two_up.is_some() => "no more bets; the spin and its result are awaited",
        (_, "ready") => "ready for the next tumble",
        (_, "tumbling") => "the dice are tumbled",
        (_, "betting") => "bets are open",
        (_, "closed") => "no more bets; the dice are covered",
        (_, "landed") => "the dice are uncovered; the entry is awaited",
        (_, "entered") => "the result is entered; wagers are being settled",
        _ => "",
    }
}

/// What holds the round, and what a supervisor does.
fn held(cause: &str, situation: &Situation) -> String {
    let what = match cause {
        "exposed_early" => "the cover came off before \"no more bets\" was known",
        "not_flat" => "a die does not lie flat",
        "tumbler_fault" => "the tumbler reported a fault after the dice came to rest",
        "tumbler_short" => "fewer than three spins were counted: void it, or spin further with the cover on",
        "not_activated" => "the tumbler was not activated",
        "activity_while_away" => "the tumbler was used while it could not be watched",
        "counters_lost" => "the tumbler lost its counters, or is another one",
        "no_spin_after_uncover" => "NO SPIN was pressed after the dice were uncovered",
        "no_spin" => "NO SPIN was called, and the rules of this game at hand have no void",
        "dice_differ" => "the dice reader saw other faces than were entered",
        other => other,
    };
    let voids = match situation.possible.iter().any(|act| act.command == "round void") {
        true => " or voids it (tablegate round void --reason CODE)",
        false => "",
    };
    format!("{what}. A supervisor lets the round go on (tablegate round resume){voids}")
}

/// The locks that stand, a line each.
fn describe_locks(view: &View, paint: Paint) -> String {
    let mut text = String::new();
    for lock in &view.table.situation.locks {
        line(&mut text, format_args!("{}", paint.alarm(&describe_lock(lock))));
    }
    text
}

/// What a lock does, why it stands, and what ends it.
fn describe_lock(lock: &LockLine) -> String {
    let does = match lock.kind.as_str() {
        "freeze" => "frozen: no entry, bell or settlement is taken",
        _ => "this round may finish, the next does not start",
    };
    let (why, ends) = match lock.reason.as_str() {
        "lamp" => ("a lamp does not show what it should", UNLOCK),
        "lamp_board" => ("the lamp board does not show what it should", UNLOCK),
        "tumbler" => ("the tumbler does not work properly", UNLOCK),
        "display" => ("the results display does not work", UNLOCK),
        "device_not_approved" => ("a device is not approved", ACCEPT),
        "reads_under_cover" => ("the dice reader reads under the cover", ACCEPT),
        "seal" => ("the seal of the dice is broken", RESUME),
        "door" => ("the cabinet's door is open", RESUME),
        "out_of_turn" => ("the tumbler was started out of turn", RESUME),
        "digest" => ("what runs is not what was approved", APPROVED),
        "configuration" => (
            "the configuration is not the open round's",
            "restore it and restart, or void the round",
        ),
        "journal" => ("the journal could not be written, began anew, or is damaged", UNLOCK),
        "disk" => (
            "the journal's disk has too little room",
            "it ends by itself when there is room",
        ),
        "supervisor" => ("a supervisor said so", UNLOCK),
        other => (other, UNLOCK),
    };
    let details = match lock.text.as_str() {
        "" => String::new(),
        text => format!(" ({text})"),
    };
    format!("locked, {does}: {why}{details}; {ends}")
}

const UNLOCK: &str = "rectify it, then: tablegate unlock --procedure TEXT";
const ACCEPT: &str = "a supervisor accepts it: tablegate accept-device SERIAL";
const APPROVED: &str =
    "restore what was approved, or a supervisor lets it go on (tablegate unlock --procedure TEXT) or voids the round";
const RESUME: &str = "a supervisor lets it go on (tablegate round resume) or voids the round";

fn describe_link(text: &mut String, link: &LinkReport, paint: Paint) {
    let serial = link
        .identity
        .as_ref()
        .map_or("not greeted yet", |identity| identity.serial_number.as_str());
    let since = line_advice::spoken(link.at_us.saturating_sub(link.since_us));
    let state = match link.state {
        LinkState::Up => format!("up for {since}"),
        LinkState::Greeting => paint.alarm(&format!("greeting for {since}")),
        LinkState::Silent => paint.alarm(&format!("silent for {since}")),
        LinkState::Down => paint.alarm(&format!("down for {since}")),
    };
    let round_trip = link
        .round_trip
        .map(|trip| {
            format!(
                ", answers in {:.1} ms (99 of 100 in {:.1} ms)",
                ms(trip.p50_us),
                ms(trip.p99_us)
            )
        })
        .unwrap_or_default();
    let errors = match link.counts.crc_errors + link.counts.noise {
        0 => String::new(),
        errors => format!(", {errors} damaged frames"),
    };
    line(
        text,
        format_args!("  {:9} {serial:16} {state}{round_trip}{errors}", link.kind.word()),
    );
    if !link.text.is_empty() {
        line(text, format_args!("            {}", link.text));
    }
    if let Some(poor) = line_advice::poor(link) {
        line(text, format_args!("            {}", paint.alarm(&poor)));
    }
}

fn describe_floor(text: &mut String, view: &View, paint: Paint) {
    let Some(uplink) = &view.uplink else {
        return line(text, format_args!("floor: not started"));
    };
    let broker = &uplink.broker;
    let state = match uplink.state {
        UplinkState::Online => format!("online at {broker}"),
        UplinkState::Connecting | UplinkState::Greeting if uplink.failures == 0 => format!("connecting to {broker}"),
        // While it is away each try is another state: a person wants to know since when, not how the newest try goes.
        UplinkState::Waiting | UplinkState::Connecting | UplinkState::Greeting => paint.alarm(&format!(
            "NO BROKER since {}; the table plays on, and events wait in the journal",
            since(view, uplink.away_since_us.unwrap_or(uplink.since_us))
        )),
        UplinkState::Stopped => "stopped".to_owned(),
        UplinkState::RolledBack => paint.alarm("the floor knows more than this journal: a new one is begun"),
    };
    line(
        text,
        format_args!(
            "floor: {state}, {} acknowledged, backlog {}, {} in flight, {} set aside",
            uplink.acknowledged, uplink.backlog, uplink.in_flight, uplink.set_aside
        ),
    );
    if uplink.refused_requests > 0 {
        let refused = uplink.refused_requests;
        line(
            text,
            format_args!(
                "       {refused} requests of the floor refused, {} answered",
                uplink.requests
            ),
        );
    }
    if !uplink.last_error.is_empty() && uplink.state != UplinkState::Online {
        line(text, format_args!("       {broker}: {}", uplink.last_error));
    }
}

/// A moment of the daemon's run, by this PC's clock.
fn since(view: &View, uptime_us: u64) -> String {
    let began = view.table.started_unix_ms.saturating_mul(1000);
    let since = Timestamp::from_unix_micros(began.saturating_add_unsigned(uptime_us));
    moment(Some(&since.into()))
}

fn ms(micros: u32) -> f64 {
    f64::from(micros) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::testing;

    #[test]
    fn a_locked_table_says_what_it_does_why_and_what_ends_it() {
        let mut table = testing::view();
        table.state.mode = "open".into();
        table.state.phase = "ready".into();
        table.situation.locks.push(LockLine {
            reason: "supervisor".into(),
            kind: "hold_next".into(),
            text: "layout torn".into(),
        });
        table.situation.alerts.push(AlertLine {
            alert: "nobody_listening".into(),
            text: "nobody subscribes".into(),
            acknowledged: false,
            over: false,
            since_unix_ms: 0,
            times: 1,
        });
        table.situation.alerts.push(AlertLine {
            alert: "broker_unreachable".into(),
            text: "connection refused".into(),
            acknowledged: false,
            over: true,
            since_unix_ms: 1_700_000_000_000,
            times: 3,
        });
        let view = View {
            table,
            links: Vec::new(),
            uplink: None,
        };
        let text = describe(&view, Paint::Plain);
        for words in [
            "TS-07 at harbour: open, tai-sai style A",
            "ready for the next tumble",
            "this round may finish, the next does not start: a supervisor said so (layout torn)",
            "tablegate unlock --procedure TEXT",
            "alert nobody_listening since 1970-01-01 00:00:00.000Z: nobody subscribes",
            "alert broker_unreachable (raised 3 times), over since 2023-11-14 22:13:20.000Z and not acknowledged: connection refused",
            "not enforced",
            "floor: not started",
        ] {
            assert!(text.contains(words), "{words:?} is not in\n{text}");
        }
        assert!(describe(&view, Paint::Colours).contains("\u{1b}[1;31mlocked"));
        let round = show_round(&view);
        assert!(round.contains("a supervisor said so (layout torn)"), "{round}");
    }

    #[test]
    fn what_is_lit_is_drawn_as_it_lies_on_the_table() {
        let mut table = testing::view();
        table.state.mode = "open".into();
        table.state.phase = "entered".into();
        table.state.lit = vec!["big".into(), "double_2".into()];
        table.situation.lamps_read_back = Some(true);
        let mut view = View {
            table,
            links: Vec::new(),
            uplink: None,
        };
        let text = describe(&view, Paint::Plain);
        assert!(text.contains("[BIG 11-17] 1:1") && text.contains("[22]"), "{text}");
        view.table.game = "sic-bo".into();
        let text = describe(&view, Paint::Plain);
        assert!(text.contains("[BIG 11-17]\n") && text.contains("[22]"), "{text}");
        view.table.state.lit.clear();
        assert!(!describe(&view, Paint::Plain).contains("BIG"));
    }

    #[test]
    fn lamps_that_do_not_answer_are_not_said_to_be_lit() {
        let mut table = testing::view();
        table.state.mode = "open".into();
        table.state.phase = "entered".into();
        table.state.lit = vec!["big".into()];
        table.situation.lamps_read_back = None;
        let view = View {
            table,
            links: Vec::new(),
            uplink: None,
        };
        let text = describe(&view, Paint::Plain);
        assert!(
            text.contains("should be lit, but the lamps don't answer: big\n"),
            "{text}"
        );
        assert!(!text.contains("\nlit: ") && !text.contains("[BIG"), "{text}");
    }

    #[test]
    fn a_light_in_whose_place_a_card_is_shown_is_not_lit() {
        let mut table = testing::view();
        table.game = "two-up-dice".into();
        table.state.mode = "open".into();
        table.state.phase = "betting".into();
        table.state.lit = vec!["heads_1".into(), "tails_1".into()];
        table.situation.lamps_read_back = Some(true);
        table.situation.two_up = Some(TwoUpView {
            cards: vec!["heads_1".into()],
            ..TwoUpView::default()
        });
        let view = View {
            table,
            links: Vec::new(),
            uplink: None,
        };
        let text = describe(&view, Paint::Plain);
        for words in [
            "\nlit: tails_1\n",
            "cards stand in for: heads_1",
            "heads  1  2",
            "tails [1]",
        ] {
            assert!(text.contains(words), "{words:?} is not in\n{text}");
        }
    }
}
