//! What happened in a round of tai-sai or sic-bo, in words.

use super::words::{after, also, area, areas, away, by_itself, code, device, keys, numbers, seconds};
use crate::counted::often;
use crate::table::event::{
    BetsClosed, BetsOpened, DiceUncovered, HousePolicy, LampFailed, ResultAmended, ResultEntered, ResultSource,
    RoundSettled, RoundStarted, RoundVoided,
};

pub(super) fn round_started(started: &RoundStarted) -> String {
    let style = match (started.game.as_str(), started.style.as_str()) {
        (_, "") => String::new(),
        ("sic-bo", tumbler) => format!(", tumbler {tumbler}"),
        (_, style) => format!(" style {style}"),
    };
    let layout = match started.layout.as_str() {
        "" => String::new(),
        layout => format!(", layout {layout}"),
    };
    format!(
        "round of {}{style} begun{layout}{}{}",
        started.game,
        started.policy.as_ref().map(house_policy).unwrap_or_default(),
        away(started.while_away)
    )
}

/// What the house does where the rules at hand are silent.
fn house_policy(policy: &HousePolicy) -> String {
    let does: Vec<_> = [
        (policy.void, "voids"),
        (policy.lamps, "waits for lamps"),
        (policy.amend, "amends"),
    ]
    .into_iter()
    .filter_map(|(does, what)| does.then_some(what))
    .collect();
    if does.is_empty() {
        return String::new();
    }
    format!(", the house {}", does.join(", "))
}

/// What the rules at hand don't have, and the house does.
fn by_policy(by_policy: bool) -> &'static str {
    if by_policy { ", by the house's policy" } else { "" }
}

pub(super) fn bets_opened(opened: &BetsOpened) -> String {
    let offline: Vec<String> = opened.offline.iter().map(device).collect();
    match offline.is_empty() {
        true => "place your bets".to_owned(),
        false => format!("place your bets, without {}", offline.join(", ")),
    }
}

pub(super) fn bets_closed(closed: &BetsClosed) -> String {
    let how = if closed.implied { ", no bell was heard" } else { "" };
    let open = match closed.bets_open_ms {
        0 => String::new(),
        ms => format!(", bets were open {}", seconds(ms)),
    };
    format!("no more bets{how}{open}{}", away(closed.while_away))
}

pub(super) fn dice_uncovered(uncovered: &DiceUncovered) -> String {
    let how = if uncovered.implied {
        ", implied by the entry"
    } else {
        ""
    };
    let read = match uncovered.read_faces.as_slice() {
        [] => String::new(),
        faces => format!(", reader saw {}", numbers(faces, " ")),
    };
    let what = if uncovered.at_rest {
        "dice at rest in sight"
    } else {
        "cover off"
    };
    // The time after the bell is that of the switch; the event comes when the cover counts as off.
    let counts = match u32::try_from(uncovered.off_us_before / 1000) {
        Ok(0) | Err(_) => String::new(),
        // An entry that stands for the uncover makes it count, whatever the switch said.
        Ok(_) if uncovered.implied => String::new(),
        Ok(off_ms) => format!(" (off for {}, so it counts)", seconds(off_ms)),
    };
    format!(
        "{what}{}{counts}{how}{read}{}",
        after(uncovered.bell_to_uncover_ms, "the bell"),
        away(uncovered.while_away)
    )
}

pub(super) fn result_entered(result: &ResultEntered) -> String {
    let source = match result.source() {
        ResultSource::Terminal => format!(", keys {}", keys(&result.pressed)),
        ResultSource::Command => format!(", by command{}", also(&result.reason)),
        ResultSource::Unspecified => String::new(),
    };
    let confirmed = if result.confirmed {
        ", confirmed against the reader"
    } else {
        ""
    };
    let thrown = after(result.bell_to_entry_ms, "the bell");
    format!(
        "RESULT {}: {}{source}{confirmed}{thrown}",
        result.call,
        areas(&result.areas)
    )
}

pub(super) fn lamp_failed(failed: &LampFailed) -> String {
    let how = if failed.wrongly_lit {
        "is lit and must not be"
    } else {
        "is dark"
    };
    let times = if failed.count > 1 {
        format!(", {}", often(failed.count.into()))
    } else {
        String::new()
    };
    format!("LAMP of {} {how}{times}", area(failed.area.as_ref()))
}

pub(super) fn result_amended(amended: &ResultAmended) -> String {
    format!(
        "RESULT AMENDED from {} to {}: {}{}",
        numbers(&amended.from_faces, " "),
        amended.call,
        areas(&amended.areas),
        by_policy(amended.by_policy)
    )
}

pub(super) fn round_voided(voided: &RoundVoided) -> String {
    let reason = code(voided.reason().as_str_name(), "ROUND_VOIDED_REASON_");
    format!(
        "NO SPIN, round void: {reason}{}{}{}",
        by_itself(voided.automatic),
        by_policy(voided.by_policy),
        also(&voided.text)
    )
}

pub(super) fn round_settled(settled: &RoundSettled) -> String {
    let how = match (settled.provisional, settled.implied) {
        (true, _) => "settled provisionally, the cover lies on",
        (false, true) => "settled, the cover lies on",
        (false, false) => "settled",
    };
    format!("round {how}{}", after(settled.lamps_to_settled_ms, "the lamps"))
}
