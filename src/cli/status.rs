//! `tablegate status`: the table, its round, its devices, the floor and the journal, in words that help at three in the morning.

pub(super) mod words;

use super::daemon::{Acting, Reach, look};
use super::describe::moment;
use super::ending::{Failure, in_colour, print, print_json};
use super::line_advice;
use super::live;
use super::picture;
use crate::counted::{counted, often};
use crate::device::{LinkReport, LinkState};
use crate::gateway::{JournalView, View};
use crate::table::view::{AlertLine, Situation};
use crate::time::Timestamp;
use crate::uplink::UplinkState;
use clap::Args;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;
use words::{InOrder, are_lamps_away, describe_lock, held, play, shining};

/// Table, round, devices, link quality, backlog, alerts and locks.
#[derive(Args, Debug)]
pub struct StatusArgs {
    #[command(flatten)]
    reach: Reach,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Fill the terminal with it, as it changes.
    #[arg(short, long, conflicts_with = "json")]
    watch: bool,
    /// With --watch: in whose name root acknowledges alerts; everybody else does in their own.
    #[arg(long, value_name = "NAME", requires = "watch")]
    by: Option<String>,
}

/// Runs it.
///
/// # Errors
/// When no daemon can be asked.
pub fn run(args: &StatusArgs) -> Result<(), Failure> {
    if args.watch {
        return live::status::run(&Acting {
            reach: args.reach.clone(),
            by: args.by.clone(),
            json: false,
        });
    }
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
        (Some(game), _) => {
            for said in words::describe_two_up(game) {
                line(&mut text, format_args!("{said}"));
            }
        }
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
    line(
        &mut text,
        format_args!(
            "{} at {}: {}, {}, tablegate {}",
            table.table,
            table.site,
            table.state.mode.replace('_', " "),
            words::game(view),
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
    for failed in words::failed_lamps(view) {
        line(&mut text, format_args!("{}", paint.alarm(&failed)));
    }
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
    match words::approval(&table.software) {
        (said, InOrder::Yes) => line(&mut text, format_args!("{said}")),
        (said, InOrder::No) => line(&mut text, format_args!("{}", paint.alarm(&said))),
    }
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
    let clock = match words::clock(table) {
        (said, InOrder::Yes) => said,
        (said, InOrder::No) => paint.alarm(&said),
    };
    line(&mut text, format_args!("clock: {clock}"));
    text
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

/// An alert in one line; one that is over is shown until somebody has said that he knows.
fn describe_alert(alert: &AlertLine, paint: Paint) -> String {
    let times = match alert.times {
        0 | 1 => String::new(),
        times => format!(" (raised {})", often(times.into())),
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
    picture::text(&picture::of_table(&table.game, &table.layout), &lit, paint)
}

/// The locks that stand, a line each.
fn describe_locks(view: &View, paint: Paint) -> String {
    let mut text = String::new();
    for lock in &view.table.situation.locks {
        line(&mut text, format_args!("{}", paint.alarm(&describe_lock(lock, view))));
    }
    text
}

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
                ", {} in {:.1} ms (99 of 100 in {:.1} ms)",
                if link.state == LinkState::Up {
                    "answers"
                } else {
                    "answered"
                },
                ms(trip.p50_us),
                ms(trip.p99_us)
            )
        })
        .unwrap_or_default();
    let errors = match link.counts.crc_errors + link.counts.noise {
        0 => String::new(),
        errors => format!(", {}", counted(errors, "damaged frame")),
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
    let state = match words::floor(view, uplink) {
        (said, InOrder::Yes) => said,
        (said, InOrder::No) => paint.alarm(&said),
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
                "       {} of the floor refused, {} answered",
                counted(refused, "request"),
                uplink.requests
            ),
        );
    }
    if !uplink.last_error.is_empty() && uplink.state != UplinkState::Online {
        line(text, format_args!("       {}: {}", uplink.broker, uplink.last_error));
    }
}

fn ms(micros: u32) -> f64 {
    f64::from(micros) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::testing;
    use crate::table::view::{LockLine, TwoUpView};

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
