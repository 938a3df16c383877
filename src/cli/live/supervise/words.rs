//! The acts of the menu in words: what each is called, what it does, and what is chosen for it.

use crate::cli::live::look::Look;
use crate::control::{Act, DiceGone, LightWord, OutcomeName, SetFrom, SideName};
use crate::gateway::View;
use crate::rules::tai_sai::VoidReason;
use crate::rules::{triple_penny, two_up_dice};
use crate::table::incident::IncidentCause;

/// An act in words.
pub(super) struct Words {
    /// Its line in the menu.
    pub(super) title: &'static str,
    /// What it does, in one or two sentences.
    pub(super) does: &'static str,
    /// What happens to the players' bets.
    pub(super) bets: &'static str,
}

/// Bets aren't touched.
const BETS_STAND: &str = "stay as they are";

/// What an act is called and does.
pub(super) fn words(act: &Act) -> Words {
    let (title, does, bets) = match act {
        Act::Resume {} => (
            "Let it go on",
            "Records that you looked and let the held round, or the frozen table, go on where it stood.",
            BETS_STAND,
        ),
        Act::Settle {} => (
            "Settle the round",
            "Records that losing wagers were collected and winning ones paid. The round ends with it.",
            "losing ones are collected, winning ones paid",
        ),
        Act::Reopen {} => (
            "Take the settlement back",
            "Records that the settlement, which the cover alone implied, did not take place. The result stands and can be amended.",
            "are not settled; they are settled anew",
        ),
        Act::WithdrawVoid {} => (
            "Withdraw the void",
            "Records that the void which the gateway declared was an error. The round goes on.",
            "count again as they lie",
        ),
        Act::Void { .. } => (
            "Void the round",
            "Records the round as void, with the reason you choose. Nobody wins or loses, and the lamps go dark.",
            "all go back to the players",
        ),
        Act::StateVoidReason { .. } => (
            "State why the round was void",
            "Records the reason of a void that was recorded without one. Nothing else changes.",
            BETS_STAND,
        ),
        Act::EnterResult { .. } => (
            "Enter the result",
            "For a terminal that can't: records the dice with your reason and lights what wins. Bets close by it, if they are open.",
            "are settled by these dice",
        ),
        Act::Amend { .. } => (
            "Amend the result",
            "Records that other dice lay than were entered. The lamps change to what wins by them. Only before settlement.",
            "are settled by these dice",
        ),
        Act::Spinner { .. } => (
            "A player spins",
            "Records that a player accepted the spin, and the side of the wager.",
            BETS_STAND,
        ),
        Act::DealerSpins {} => (
            "The dealer spins",
            "Records that everyone declined and the dealer (boxer) spins.",
            BETS_STAND,
        ),
        Act::Continues { .. } => (
            "The spinner goes on",
            "Records the side on which the spinner wagers next, or the wager that was missing.",
            BETS_STAND,
        ),
        Act::NoMoreBets {} => (
            "Call \"no more bets\"",
            "Records the call and closes the bets, for a bell that can't be heard.",
            "none are taken any more",
        ),
        Act::Spin { .. } => (
            "Enter the spin's result",
            "Records a valid spin with its result and lights it.",
            "are decided by this result, as the law says",
        ),
        Act::CorrectOutcome { .. } => (
            "Correct the last result",
            "Records that another key was pressed than what was spun. The lights change to it. The house's policy.",
            "are decided by this result, as the law says",
        ),
        Act::Invalid { .. } => (
            "Declare the spin invalid",
            "Records \"no spin\" with the reason you choose. Nothing of the spin counts.",
            "nothing is decided by this spin",
        ),
        Act::Overrule { .. } => (
            "Overrule the \"no spin\"",
            "Records that the \"no spin\" directly before was an error: the spin stands, with the result you choose.",
            "are decided by this result, as the law says",
        ),
        Act::SpinnerStops {} => (
            "The spinner stops",
            "Records that whoever spins stops or retires.",
            "the spinner's is settled, or goes back, as the law says",
        ),
        Act::Relieve {} => (
            "The dealer takes over",
            "Records that the dealer (boxer) spins in the spinner's place.",
            BETS_STAND,
        ),
        Act::OffTable { .. } => (
            "Off the table",
            "Records how many left the table and were not found at once. The spin is invalid.",
            "nothing is decided by this spin",
        ),
        Act::NewSet { .. } => (
            "Complete the set",
            "Records that a new set is placed, or that what was lost is found and good.",
            BETS_STAND,
        ),
        Act::ReportLight { .. } => (
            "A result light",
            "Records that a person saw a light fail, or work again. A card stands in for one that failed; play goes on.",
            BETS_STAND,
        ),
        Act::Offer { .. } => (
            "Offer the dice to a seat",
            "Records the seat to which the dice are offered.",
            BETS_STAND,
        ),
        Act::Lock { .. } => (
            "Hold the next round",
            "Records a lock with your reason. This round may finish; the next does not start until it is unlocked.",
            BETS_STAND,
        ),
        Act::Unlock { .. } => (
            "End the locks",
            "Records what was rectified, or is done instead, and ends the locks that a supervisor may end.",
            BETS_STAND,
        ),
        Act::AcceptDevice { .. } => (
            "Accept a device",
            "Records that a device whose serial number is not approved may be used.",
            BETS_STAND,
        ),
        Act::AcknowledgeAlert { .. } => (
            "Acknowledge an alert",
            "Records that you have seen it. One that is over ends by that; the others stand until their cause is gone.",
            BETS_STAND,
        ),
        Act::RecordIncident { .. } => (
            "Record an incident",
            "Records what happened, by its code and with your note, beside what the law allows for it. Play is not changed.",
            BETS_STAND,
        ),
        Act::OpenVouched {} => (
            "Open the table",
            "Opens without questions: each check is recorded as seen by a link, or else as vouched for by you. No lamp is walked (tablegate open does that).",
            BETS_STAND,
        ),
        Act::AbandonOpening {} => (
            "End the opening checks",
            "Records that the checks ended without opening. The table stays closed.",
            BETS_STAND,
        ),
        Act::LeaveTest {} => (
            "Leave test mode",
            "Records the end of the test. The devices show the table again.",
            BETS_STAND,
        ),
        Act::Close {} => (
            "Close the table",
            "Records the closing. A round before \"no more bets\" is abandoned.",
            "go back, if a round is abandoned by it",
        ),
        Act::BeginOpening {}
        | Act::WalkLamps {}
        | Act::LightTestEntry { .. }
        | Act::SpinTumbler {}
        | Act::RecordCheck { .. }
        | Act::CompleteOpening {}
        | Act::EnterTest {}
        | Act::RecordEntry { .. }
        | Act::BeginTest { .. }
        | Act::TestLamp { .. }
        | Act::AskTest { .. }
        | Act::SayTest { .. }
        | Act::EndTest {}
        | Act::LightTestOutcome { .. } => (
            "A step of a guided command",
            "Use tablegate open, or tablegate test.",
            BETS_STAND,
        ),
    };
    Words { title, does, bets }
}

/// What is asked for an act, one after another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// One of what the table would take.
    OneOf,
    /// What three dice show.
    Faces,
    /// A seat's number.
    Seat,
    /// A text that is recorded; some to choose from, and whether there may be none.
    Text {
        what: &'static str,
        known: &'static [&'static str],
        needed: Needed,
    },
}

/// Whether a text must be given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Needed {
    Always,
    /// An incident needs one only where the law doesn't list it.
    ForOther,
}

const LOCK_REASONS: [&str; 7] = [
    "a dispute at the table",
    "a device does not work properly",
    "the layout is damaged",
    "dice, coins or cup are to be looked at",
    "chips or cards are to be counted",
    "a change of staff",
    "by order of the house",
];
const PROCEDURES: [&str; 6] = [
    "rectified and looked at",
    "the device was replaced and tried",
    "a card stands in for it, by the house's procedure",
    "looked at with a second person; play goes on",
    "settled with the players concerned",
    "by order of the house",
];
const RESULT_REASONS: [&str; 5] = [
    "the terminal does not answer",
    "a key of the terminal does not work",
    "the dealer could not enter it",
    "the dice reader contradicts what lies there",
    "by order of the house",
];
const NOTES: [&str; 5] = [
    "the dealer reported it",
    "a player reported it",
    "seen by the supervisor",
    "seen on surveillance",
    "settled with the players concerned",
];

/// What is asked for an act. `several`: the table would take more than one of its choices.
pub(super) fn steps(act: &Act, several: Several) -> Vec<Step> {
    let text = |what, known, needed| Step::Text { what, known, needed };
    let own = if let Act::EnterResult { .. } = act {
        vec![
            Step::Faces,
            text(
                "Why is the terminal not used?",
                RESULT_REASONS.as_slice(),
                Needed::Always,
            ),
        ]
    } else if let Act::Amend { .. } = act {
        vec![Step::Faces]
    } else if let Act::Offer { .. } = act {
        vec![Step::Seat]
    } else if let Act::Lock { .. } = act {
        vec![text("Why?", LOCK_REASONS.as_slice(), Needed::Always)]
    } else if let Act::Unlock { .. } = act {
        vec![text("What was done?", PROCEDURES.as_slice(), Needed::Always)]
    } else if let Act::RecordIncident { .. } = act {
        vec![
            Step::OneOf,
            text("What do you add?", NOTES.as_slice(), Needed::ForOther),
        ]
    } else {
        Vec::new()
    };
    match (own.is_empty(), several) {
        (false, _) | (true, Several::One) => own,
        (true, Several::More) => vec![Step::OneOf],
    }
}

/// How many of an act's choices the table would take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Several {
    One,
    More,
}

/// One choice of an act, in words; empty: there is nothing to choose.
pub(super) fn choice(act: &Act, view: &View, look: Look) -> String {
    let said = match act {
        Act::Void { reason: None } | Act::Invalid { reason: None } => "no reason stated".to_owned(),
        Act::Void { reason: Some(code) } | Act::StateVoidReason { reason: code } => {
            VoidReason::from_code(code).map_or_else(|| code.clone(), |reason| reason.text().to_owned())
        }
        Act::Invalid { reason: Some(code) } => invalid(code),
        Act::Spinner { side: None } => "the wager follows".to_owned(),
        Act::Spinner { side: Some(side) } | Act::Continues { side } => format!("wager on {}", side_word(*side)),
        Act::Spin { outcome } | Act::CorrectOutcome { outcome } | Act::Overrule { outcome } => {
            outcome_word(*outcome).to_owned()
        }
        Act::OffTable { dice } => match dice {
            DiceGone::One => "one left the table".to_owned(),
            DiceGone::Two => "two left the table".to_owned(),
            DiceGone::Three => "three left the table".to_owned(),
        },
        Act::NewSet { from } => match from {
            SetFrom::Due => "what is due: the lost one found, or a new set".to_owned(),
            SetFrom::Found => "all that were lost are found, and good".to_owned(),
        },
        Act::ReportLight { light, seen } => match seen {
            LightWord::Failed => format!("{light} has failed"),
            LightWord::Works => format!("{light} works again"),
        },
        Act::AcceptDevice { serial_number } => format!("serial number {serial_number}"),
        Act::AcknowledgeAlert { alert } => {
            let standing = view.table.situation.alerts.iter().find(|line| line.alert == *alert);
            match standing {
                Some(line) => format!("{alert}: {}", line.text),
                None => alert.clone(),
            }
        }
        Act::RecordIncident { cause, .. } => {
            IncidentCause::from_code(cause).map_or_else(|| cause.clone(), |cause| cause.text().to_owned())
        }
        Act::EnterResult { faces, .. } | Act::Amend { faces } => {
            let [one, two, three] = faces;
            format!("{one} {two} {three}")
        }
        Act::Offer { seat } => format!("seat {seat}"),
        Act::Lock { reason } => reason.clone(),
        Act::Unlock { procedure } => procedure.clone(),
        Act::Resume {}
        | Act::Settle {}
        | Act::Reopen {}
        | Act::WithdrawVoid {}
        | Act::DealerSpins {}
        | Act::NoMoreBets {}
        | Act::SpinnerStops {}
        | Act::Relieve {}
        | Act::OpenVouched {}
        | Act::AbandonOpening {}
        | Act::LeaveTest {}
        | Act::Close {}
        | Act::BeginOpening {}
        | Act::WalkLamps {}
        | Act::LightTestEntry { .. }
        | Act::SpinTumbler {}
        | Act::RecordCheck { .. }
        | Act::CompleteOpening {}
        | Act::EnterTest {}
        | Act::RecordEntry { .. }
        | Act::BeginTest { .. }
        | Act::TestLamp { .. }
        | Act::AskTest { .. }
        | Act::SayTest { .. }
        | Act::EndTest {}
        | Act::LightTestOutcome { .. } => String::new(),
    };
    look.text(&said)
}

fn invalid(code: &str) -> String {
    let dice = two_up_dice::InvalidReason::from_code(code).map(two_up_dice::InvalidReason::text);
    let coins = triple_penny::InvalidReason::from_code(code).map(triple_penny::InvalidReason::text);
    dice.or(coins).unwrap_or(code).to_owned()
}

fn side_word(side: SideName) -> &'static str {
    match side {
        SideName::Heads => "heads",
        SideName::Tails => "tails",
    }
}

fn outcome_word(outcome: OutcomeName) -> &'static str {
    match outcome {
        OutcomeName::Heads => "heads",
        OutcomeName::Tails => "tails",
        OutcomeName::Odds => "odds",
        OutcomeName::TripleHeads => "triple heads",
        OutcomeName::TripleTails => "triple tails",
    }
}

/// The act with these faces, this seat or this text in it; what it has no place for is left out.
pub(super) fn with_faces(mut act: Act, faces: [u8; 3]) -> Act {
    if let Act::EnterResult { faces: shown, .. } | Act::Amend { faces: shown } = &mut act {
        *shown = faces;
    }
    act
}

/// See [`with_faces`].
pub(super) fn with_seat(mut act: Act, seat: u32) -> Act {
    if let Act::Offer { seat: offered } = &mut act {
        *offered = seat;
    }
    act
}

/// See [`with_faces`]; `None`: no text.
pub(super) fn with_text(mut act: Act, text: Option<String>) -> Act {
    if let Act::RecordIncident { note, .. } = &mut act {
        *note = text;
    } else if let Act::EnterResult { reason: said, .. } | Act::Lock { reason: said } | Act::Unlock { procedure: said } =
        &mut act
        && let Some(text) = text
    {
        *said = text;
    }
    act
}

/// A text may be left out for this act.
pub(super) fn may_be_without(act: &Act, needed: Needed) -> bool {
    match (needed, act) {
        (Needed::ForOther, Act::RecordIncident { cause, .. }) => cause != "other",
        (Needed::Always | Needed::ForOther, _) => false,
    }
}
