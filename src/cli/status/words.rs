//! What a view says of its table, in the trade's words: `status`, its live view and `round show` say the same.

use crate::cli::describe::{moment, output};
use crate::gateway::{ClockSource, SoftwareView, Standing, TableView, View};
use crate::table::event::ClockQuality;
use crate::table::view::{FailedLampLine, LockLine, Situation, TwoUpView};
use crate::time::Timestamp;
use crate::uplink::{UplinkReport, UplinkState};

/// The game with its style or tumbler and its layout: "tai-sai style A, layout appendix-1".
pub(in crate::cli) fn game(view: &View) -> String {
    let table = &view.table;
    let style = match (table.game.as_str(), &table.style) {
        (_, None) => String::new(),
        ("sic-bo", Some(tumbler)) => format!(", tumbler {tumbler}"),
        (_, Some(style)) => format!(" style {style}"),
    };
    let layout = match table.layout.as_str() {
        "" => String::new(),
        layout => format!(", layout {layout}"),
    };
    format!("{}{style}{layout}", table.game)
}

/// Whether what runs is what was approved.
pub(in crate::cli) fn approval(software: &SoftwareView) -> (String, InOrder) {
    let path = software.approval_path.display();
    let (by, at) = (&software.approved_by, &software.approved_at);
    match software.approval {
        Standing::NotEnforced => (
            "approved digests are not enforced: there is no file of them, and nothing is held back".to_owned(),
            InOrder::Yes,
        ),
        Standing::AsApproved => (
            format!("program, configuration and rules are as approved by {by}, {at}"),
            InOrder::Yes,
        ),
        Standing::Differs => (
            format!(
                "NOT as approved by {by}, {at}: {}. Restore what was approved, or have it approved (tablegate approve), and restart ({path})",
                software.differs.join(", "),
            ),
            InOrder::No,
        ),
        Standing::Unusable => (
            format!(
                "{path} can't be used, and approves nothing: {}. Have it written anew (tablegate approve), and restart",
                software.problems.join("; ")
            ),
            InOrder::No,
        ),
    }
}

/// Which lamps a technician has to replace, a sentence each.
pub(in crate::cli) fn failed_lamps(view: &View) -> Vec<String> {
    let what = match view.table.situation.two_up {
        Some(_) => "result light",
        None => "area",
    };
    let failed = view.table.situation.failed_lamps.iter();
    failed
        .map(|failed| format!("FAILED: {what} {}", failed_lamp(failed)))
        .collect()
}

/// "small, bit 0 (output 1), stays dark".
pub(in crate::cli) fn failed_lamp(failed: &FailedLampLine) -> String {
    let numbers: Vec<String> = failed.lamps.iter().map(|bit| output(usize::from(*bit))).collect();
    let shows = if failed.wrongly_lit {
        "is lit and must not be"
    } else {
        "stays dark"
    };
    format!("{}, {}, {shows}", failed.area, numbers.join(", "))
}

/// Whether somebody keeps this PC's clock right, and whom to ask why not.
pub(in crate::cli) fn clock(table: &TableView) -> (String, InOrder) {
    let (said, in_order) = match (table.clock, table.clock_source) {
        (ClockQuality::Synchronised, ClockSource::Timesyncd | ClockSource::Chrony | ClockSource::None) => {
            ("follows a time server", InOrder::Yes)
        }
        (ClockQuality::Unsynchronised | ClockQuality::Stepped | ClockQuality::Unspecified, ClockSource::None) => (
            "nobody is asked whether it is right ([clock] source = \"none\"): no old event is deleted",
            InOrder::Yes,
        ),
        (ClockQuality::Unsynchronised | ClockQuality::Stepped | ClockQuality::Unspecified, ClockSource::Timesyncd) => (
            "FOLLOWS NO TIME SERVER, and no old event is deleted: `timedatectl timesync-status` says why",
            InOrder::No,
        ),
        (ClockQuality::Unsynchronised | ClockQuality::Stepped | ClockQuality::Unspecified, ClockSource::Chrony) => (
            "FOLLOWS NO TIME SERVER, and no old event is deleted: `chronyc tracking` says why",
            InOrder::No,
        ),
    };
    (said.to_owned(), in_order)
}

/// Where the connection to the floor stands, and whether that is in order.
pub(in crate::cli) fn floor(view: &View, uplink: &UplinkReport) -> (String, InOrder) {
    let broker = &uplink.broker;
    match uplink.state {
        UplinkState::Online => (format!("online at {broker}"), InOrder::Yes),
        UplinkState::Connecting | UplinkState::Greeting if uplink.failures == 0 => {
            (format!("connecting to {broker}"), InOrder::Yes)
        }
        // While it is away each try is another state: a person wants to know since when, not how the newest try goes.
        UplinkState::Waiting | UplinkState::Connecting | UplinkState::Greeting => (
            format!(
                "NO BROKER since {}; the table plays on, and events wait in the journal",
                since(view, uplink.away_since_us.unwrap_or(uplink.since_us))
            ),
            InOrder::No,
        ),
        UplinkState::Stopped => ("stopped".to_owned(), InOrder::Yes),
        UplinkState::RolledBack => (
            "the floor knows more than this journal: a new one is begun".to_owned(),
            InOrder::No,
        ),
    }
}

/// A moment of the daemon's run, by this PC's clock.
fn since(view: &View, uptime_us: u64) -> String {
    let began = view.table.started_unix_ms.saturating_mul(1000);
    let since = Timestamp::from_unix_micros(began.saturating_add_unsigned(uptime_us));
    moment(Some(&since.into()))
}

/// The same in a word.
pub(in crate::cli) fn floor_word(uplink: &UplinkReport) -> &'static str {
    match uplink.state {
        UplinkState::Online => "online",
        UplinkState::Connecting | UplinkState::Greeting if uplink.failures == 0 => "connecting",
        UplinkState::Waiting | UplinkState::Connecting | UplinkState::Greeting => "NO BROKER",
        UplinkState::Stopped => "stopped",
        UplinkState::RolledBack => "ROLLED BACK",
    }
}

/// Whether somebody should look after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::cli) enum InOrder {
    /// Nothing is to be done.
    Yes,
    /// A person should know.
    No,
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
pub(in crate::cli) fn play(view: &View) -> &'static str {
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
pub(in crate::cli) fn held(cause: &str, situation: &Situation) -> String {
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

/// What a lock does, why it stands, and what ends it.
pub(in crate::cli) fn describe_lock(lock: &LockLine, view: &View) -> String {
    let situation = &view.table.situation;
    let does = match lock.kind.as_str() {
        "freeze" => "frozen: no entry, bell or settlement is taken",
        _ => "this round may finish, the next does not start",
    };
    let voids = situation.possible.iter().any(|act| act.command == "round void");
    let voids = match voids && view.table.state.round_id != 0 {
        true => OR_VOIDS,
        false => "",
    };
    let (why, ends) = match lock.reason.as_str() {
        "lamp" if situation.failed_lamps.is_empty() => (
            "a lamp did not show what it should; none is known to fail now",
            "when that is right: tablegate unlock --procedure TEXT",
        ),
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
    let ends = match ends {
        RESUME | APPROVED => format!("{ends}{voids}"),
        ends => ends.to_owned(),
    };
    format!("locked, {does}: {why}{details}; {ends}")
}

const UNLOCK: &str = "rectify it, then: tablegate unlock --procedure TEXT";
const ACCEPT: &str = "a supervisor accepts it: tablegate accept-device SERIAL";
const APPROVED: &str = "restore what was approved, or a supervisor lets it go on (tablegate unlock --procedure TEXT)";
const RESUME: &str = "a supervisor lets it go on (tablegate round resume)";
/// Where the table would take a void.
const OR_VOIDS: &str = " or voids the round";

/// Whether they measure is known of every lamp device that answers.
pub(in crate::cli) fn are_lamps_away(view: &View) -> bool {
    view.table.situation.lamps_read_back.is_none()
}

/// What is lit, without what is known to stay dark, and without the lights in whose place a card is shown.
pub(in crate::cli) fn shining(view: &View) -> Vec<&str> {
    let cards = view.table.situation.two_up.as_ref().map(|game| game.cards.as_slice());
    let cards = cards.unwrap_or_default();
    let failed = &view.table.situation.failed_lamps;
    let stays_dark = |light: &String| failed.iter().any(|lamp| !lamp.wrongly_lit && lamp.area == *light);
    let lit = view.table.state.lit.iter();
    let lit = lit.filter(|light| !cards.contains(light) && !stays_dark(light));
    lit.map(String::as_str).collect()
}

/// Who spins, and what was spun.
pub(in crate::cli) fn describe_two_up(game: &TwoUpView) -> Vec<String> {
    let mut lines = Vec::new();
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
    lines.push(format!("spinner: {spinner}{wager}"));
    if let Some(outcome) = &game.outcome {
        let odds = match game.odds_run {
            0 => String::new(),
            run => format!(", odds {run} in a row"),
        };
        lines.push(format!(
            "last result: {}; heads {}, tails {}{odds}",
            outcome.replace('_', " "),
            game.heads,
            game.tails
        ));
    }
    if game.invalid_run > 0 {
        lines.push(format!("invalid spins in a row: {}", game.invalid_run));
    }
    if game.missing > 0 {
        lines.push(format!("lost of the set: {}", game.missing));
    }
    if !game.cards.is_empty() {
        lines.push(format!("cards stand in for: {}", game.cards.join(", ")));
    }
    lines
}
