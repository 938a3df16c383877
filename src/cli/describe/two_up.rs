//! What happened at a two-up table, in words.

use super::words::{after, areas, by_command, code, keys, word};
use crate::counted::counted;
use crate::table::event::{
    DiceReplaced, DieOffTable, PlayersWagersDecided, ResultCardRequired, ResultDisplay, SpinCorrected, SpinInvalidated,
    SpinOutcome, SpinResulted, SpinnerChanged, SpinnerSelected, SpinnerWagerDecided, SpinnerWagerPlaced,
};

/// "triple heads".
fn outcome(outcome: SpinOutcome) -> String {
    word(outcome.as_str_name(), "SPIN_OUTCOME_")
}

/// What was spun in the game so far.
fn counts(heads: u32, tails: u32, odds_run: u32) -> String {
    let odds = match odds_run {
        0 => String::new(),
        run => format!(", odds {run} in a row"),
    };
    format!("heads {heads}, tails {tails}{odds}")
}

fn pressed(numbers: &[u32]) -> String {
    match numbers {
        [] => String::new(),
        numbers => format!(", keys {}", keys(numbers)),
    }
}

pub(super) fn spinner_selected(selected: &SpinnerSelected) -> String {
    let who = if selected.dealer {
        "everyone declined, the dealer spins"
    } else {
        "a player takes the spin"
    };
    let game = match selected.game.as_str() {
        "" => String::new(),
        game => format!("game of {game}: "),
    };
    format!("{game}{who}{}", by_command(selected.source()))
}

pub(super) fn spinner_wager_placed(placed: &SpinnerWagerPlaced) -> String {
    let side = word(placed.side().as_str_name(), "SIDE_");
    let goes_on = match placed.game.as_str() {
        "" => String::new(),
        game => format!("game of {game}: the spinner goes on, "),
    };
    format!("{goes_on}spinner's wager on {side}{}", by_command(placed.source()))
}

pub(super) fn spin_resulted(spun: &SpinResulted) -> String {
    let shown = match spun.shown_by() {
        ResultDisplay::Unspecified | ResultDisplay::Lights => "",
        ResultDisplay::Electronic => ", on the results display",
        ResultDisplay::Cards => ", by cards",
    };
    format!(
        "RESULT {}: {}{shown}{}{}{}",
        outcome(spun.outcome()),
        counts(spun.heads, spun.tails, spun.odds_run),
        pressed(&spun.pressed),
        by_command(spun.source()),
        after(spun.call_to_result_ms, "the call")
    )
}

pub(super) fn spin_invalidated(invalid: &SpinInvalidated) -> String {
    let in_a_row = match invalid.in_a_row {
        0 | 1 => String::new(),
        row => format!(", {row} in a row"),
    };
    let early = if invalid.before_call {
        ", thrown before \"no more bets\""
    } else {
        ""
    };
    let choice = if invalid.must_choose {
        ", the spinner has to choose"
    } else {
        ""
    };
    format!(
        "NO SPIN: {}{in_a_row}{early}{choice}{}",
        code(invalid.reason().as_str_name(), "SPIN_INVALIDATED_REASON_"),
        by_command(invalid.source())
    )
}

pub(super) fn spin_corrected(corrected: &SpinCorrected) -> String {
    format!(
        "RESULT CORRECTED from {} to {}, by the house's policy: {}{}{}",
        outcome(corrected.from_outcome()),
        outcome(corrected.outcome()),
        counts(corrected.heads, corrected.tails, corrected.odds_run),
        pressed(&corrected.pressed),
        by_command(corrected.source())
    )
}

pub(super) fn players_wagers_decided(decided: &PlayersWagersDecided) -> String {
    let by = match decided.outcome() {
        SpinOutcome::Odds => "all lose by odds".to_owned(),
        SpinOutcome::Unspecified
        | SpinOutcome::Heads
        | SpinOutcome::Tails
        | SpinOutcome::TripleHeads
        | SpinOutcome::TripleTails => outcome(decided.outcome()),
    };
    let bonus = if decided.to_bonus_area {
        ", those on its side go to the bonus area"
    } else {
        ""
    };
    let run_out = if decided.run_out {
        ", the bonus area is spun out"
    } else {
        ""
    };
    let ends = if decided.ends_game { ", the game ends" } else { "" };
    format!("players' wagers decided: {by}{bonus}{run_out}{ends}")
}

pub(super) fn spinner_wager_decided(decided: &SpinnerWagerDecided) -> String {
    let then = if decided.may_continue {
        ", the spinner may go on"
    } else {
        ""
    };
    let odds = match &decided.odds {
        Some(odds) if decided.won => format!(", pays {} to {}", odds.pays, odds.per),
        Some(_) | None => String::new(),
    };
    let how = if decided.won { "WINS" } else { "LOSES" };
    format!("SPINNER'S WAGER {how}{odds}{then}")
}

pub(super) fn spinner_changed(changed: &SpinnerChanged) -> String {
    let reason = match (
        word(changed.reason().as_str_name(), "SPINNER_CHANGED_REASON_").as_str(),
        changed.first_three,
    ) {
        ("invalid spins", true) => "after three invalid spins at the beginning".to_owned(),
        ("invalid spins", false) => "after too many invalid spins".to_owned(),
        (reason, _) => reason.to_owned(),
    };
    let then = if changed.dealer {
        "the dealer spins until the wager is decided"
    } else {
        "the spin is offered on"
    };
    let returned = if changed.wager_returned {
        ", the wager goes back"
    } else {
        ""
    };
    format!("spinner {reason}: {then}{returned}")
}

pub(super) fn result_card_required(required: &ResultCardRequired) -> String {
    let light = match &required.light {
        Some(light) => format!(" in place of light {}", areas(std::slice::from_ref(light))),
        None => String::new(),
    };
    format!("CARD for {}{light}", outcome(required.outcome()))
}

pub(super) fn die_off_table(off: &DieOffTable) -> String {
    format!("{} off the table, {} of the set lost", off.dice, off.missing)
}

pub(super) fn dice_replaced(replaced: &DiceReplaced) -> String {
    if replaced.found {
        format!("{} found, and good", counted(replaced.dice, "lost one"))
    } else {
        "new set placed, the old one leaves the table".to_owned()
    }
}
