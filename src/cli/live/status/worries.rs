//! What is not in order at a table, in the order in which a person should look at it.

use crate::cli::line_advice;
use crate::cli::live::feed::wall;
use crate::cli::status::words::{self, InOrder};
use crate::counted::often;
use crate::device::LinkState;
use crate::gateway::View;
use crate::table::view::AlertLine;
use crate::time::Timestamp;

/// The alert that says the same as the floor's line.
const BROKER_ALERT: &str = "broker_unreachable";

/// One thing that is not in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Worry {
    /// Which it is, while others come and go.
    pub(super) key: String,
    /// What is wrong, and what ends it.
    pub(super) text: String,
    /// It goes on; else it is over and was not acknowledged.
    pub(super) stands: bool,
    /// An alert's name.
    pub(super) alert: Option<String>,
    /// An alert that nobody has acknowledged.
    pub(super) waits: bool,
}

impl Worry {
    fn standing(key: impl Into<String>, text: String) -> Worry {
        Worry {
            key: key.into(),
            text,
            stands: true,
            alert: None,
            waits: false,
        }
    }
}

/// Everything that is not in order.
pub(super) fn worries(view: &View) -> Vec<Worry> {
    let table = &view.table;
    let situation = &table.situation;
    let mut all = Vec::new();
    if let Some(fault) = &table.fault {
        all.push(Worry::standing("fault", format!("THE TABLE STANDS STILL: {fault}")));
    }
    if let Some(cause) = &table.state.held {
        let held = words::held(cause, situation);
        all.push(Worry::standing("held", format!("HELD: {held}")));
    }
    for (at, lock) in situation.locks.iter().enumerate() {
        let said = words::describe_lock(lock, view);
        let said = said.strip_prefix("locked, ").unwrap_or(&said);
        all.push(Worry::standing(
            format!("lock {at} {}", lock.reason),
            format!("LOCKED, {said}"),
        ));
    }
    for (at, failed) in words::failed_lamps(view).into_iter().enumerate() {
        all.push(Worry::standing(format!("lamp {at}"), failed));
    }
    // What stands before what is over.
    let alerts = |over: bool| situation.alerts.iter().filter(move |alert| alert.over == over);
    all.extend(alerts(false).map(|alert| told(alert, wall())));
    if let (said, InOrder::No) = words::approval(&table.software) {
        all.push(Worry::standing("approval", said));
    }
    for link in view
        .links
        .iter()
        .filter(|link| link.state != LinkState::Up || !link.text.is_empty())
    {
        let since = line_advice::spoken(link.at_us.saturating_sub(link.since_us));
        let said = format!("{} {} for {since}: {}", link.kind.word(), link.state.word(), link.text);
        let said = said.trim_end_matches([':', ' ']).to_owned();
        all.push(Worry::standing(format!("link {}", link.kind.word()), said));
    }
    for link in &view.links {
        if let Some(poor) = line_advice::poor(link) {
            let word = link.kind.word();
            all.push(Worry::standing(format!("poor {word}"), format!("{word}: {poor}")));
        }
    }
    for (at, advice) in line_advice::exchanged(&view.links).into_iter().enumerate() {
        all.push(Worry::standing(format!("exchanged {at}"), advice));
    }
    if let (said, InOrder::No) = words::clock(table) {
        all.push(Worry::standing("clock", format!("clock: {said}")));
    }
    let told_by_alert = situation
        .alerts
        .iter()
        .any(|alert| alert.alert == BROKER_ALERT && !alert.over);
    if let Some(uplink) = view.uplink.as_ref().filter(|_| !told_by_alert)
        && let (said, InOrder::No) = words::floor(view, uplink)
    {
        let error = match uplink.last_error.as_str() {
            "" => String::new(),
            error => format!(". {error}"),
        };
        all.push(Worry::standing("floor", format!("floor: {said}{error}")));
    }
    all.extend(alerts(true).map(|alert| told(alert, wall())));
    all
}

/// An alert with its age.
fn told(alert: &AlertLine, now: Timestamp) -> Worry {
    let since = alert.since_unix_ms.saturating_mul(1000);
    let age = now.as_unix_micros().saturating_sub(since);
    let age = line_advice::spoken(u64::try_from(age).unwrap_or(0));
    let how = match (alert.over, alert.acknowledged) {
        (true, _) => format!("over for {age}, not acknowledged"),
        (false, true) => format!("for {age}, acknowledged"),
        (false, false) => format!("for {age}, NOT ACKNOWLEDGED"),
    };
    let times = match alert.times {
        0 | 1 => String::new(),
        times => format!(", raised {}", often(times.into())),
    };
    Worry {
        key: format!("alert {}", alert.alert),
        text: format!("alert {} {how}{times}: {}", alert.alert, alert.text),
        stands: !alert.over,
        alert: Some(alert.alert.clone()),
        waits: !alert.acknowledged,
    }
}
