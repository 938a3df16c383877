//! Lines about what was refused: entries on the terminal, and people's acts.

use super::words::{also, keys};
use crate::counted::often;
use crate::table::event::{ActRefused, ActRefusedReason, EntryRejected};

pub(super) fn entry_rejected(rejected: &EntryRejected) -> String {
    let shown = match rejected.shown.as_slice() {
        [] => String::new(),
        pressed => format!(" {}", keys(pressed)),
    };
    format!(
        "entry{shown} refused, E{:02}{}{}",
        rejected.code,
        also(&rejected.text),
        times(rejected.count)
    )
}

/// `act "amend" refused: the round is settled`.
pub(super) fn act_refused(refused: &ActRefused) -> String {
    let act = match refused.act.as_str() {
        "" => "acts".to_owned(),
        act => format!("act \"{}\"", act.replace('_', " ")),
    };
    let how = match refused.reason() {
        ActRefusedReason::NotAllowed => "NOT ALLOWED",
        ActRefusedReason::Unspecified | ActRefusedReason::NotNow | ActRefusedReason::TooMany => "refused",
    };
    let code = match refused.code {
        0 => String::new(),
        code => format!(", E{code:02}"),
    };
    format!("{act} {how}{code}{}{}", times(refused.count), also(&refused.text))
}

/// Nothing for a single refusal.
fn times(count: u32) -> String {
    match count {
        0 | 1 => String::new(),
        count => format!(", {}", often(count.into())),
    }
}
