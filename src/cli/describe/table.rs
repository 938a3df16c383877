//! What happened to the table between its rounds, in words: opening checks, locks, incidents.

use super::words::{also, keys, word};
use crate::table::event::{IncidentRecorded, OpeningCheckRecorded, TableOpened, TableUnlocked};

pub(super) fn opening_check(check: &OpeningCheckRecorded) -> String {
    let name = word(check.check().as_str_name(), "OPENING_CHECK_");
    let verdict = if check.passed { "passed" } else { "NOT PASSED" };
    let how = if check.vouched { ", vouched for" } else { "" };
    let entry = match check.shown.as_slice() {
        [] => String::new(),
        shown => format!(", entry {}", keys(shown)),
    };
    format!("opening check {name}{entry} {verdict}{how}{}", also(&check.text))
}

pub(super) fn table_opened(opened: &TableOpened) -> String {
    let locks = opened
        .locks()
        .map(|reason| word(reason.as_str_name(), "TABLE_LOCKED_REASON_"));
    let locks: Vec<String> = locks.collect();
    match locks.as_slice() {
        [] => "TABLE OPEN".to_owned(),
        locks => format!(
            "TABLE OPEN, no round starts before these locks end: {}",
            locks.join(", ")
        ),
    }
}

pub(super) fn table_unlocked(unlocked: &TableUnlocked) -> String {
    let reason = word(unlocked.reason().as_str_name(), "TABLE_LOCKED_REASON_");
    match unlocked.procedure.as_str() {
        "" => format!("lock over by itself: {reason}"),
        procedure => format!("table unlocked ({reason}): {procedure}"),
    }
}

pub(super) fn incident(incident: &IncidentRecorded) -> String {
    let place = match incident.of_round {
        0 => String::new(),
        round => format!(" in round {round}"),
    };
    let allows = match incident.allows.as_str() {
        "" => String::new(),
        allows => format!("; the law: {allows}"),
    };
    let note = match incident.note.as_str() {
        "" => String::new(),
        note => format!("; note: {note}"),
    };
    format!(
        "incident{place}: {}{}{allows}{note}",
        incident.cause,
        also(&incident.text)
    )
}
