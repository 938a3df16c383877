//! Sic-bo's betting window against traces made by an independent program. `vector_support` says where they are read from.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test may panic"
)]

mod vector_support;

use serde_json::{Value, json};
use tablegate::rules::sic_bo::machine::{Dice, Machine, Operation, Phase, Settings, Tumbled, Tumbler, VoidPolicy};
use vector_support::{Said, SaidDone, flag, has_only, play_all, play_trace, text};

/// The operation in the machine's words; `None` when it is none: then it counts as refused. The vectors' wager is any wager.
fn operation(op: &Value) -> Option<Operation> {
    let (fields, operation): (&[&str], _) = match text(op, "op")? {
        "wager" => (
            &[],
            Operation::PlaceWager {
                seat: 1,
                area: "small".to_owned(),
                stake: 100,
            },
        ),
        "activate" => (&[], Operation::Activate),
        "no_more_bets" => (&[], Operation::NoMoreBets),
        "start_uncover" => (&[], Operation::StartUncover),
        "announce" => {
            let dice: Vec<u8> = serde_json::from_value(op.get("dice")?.clone()).ok()?;
            let lie = if flag(op, "flat", true)? {
                Dice::Flat
            } else {
                Dice::NotFlat
            };
            let faces = dice.try_into().ok()?;
            (&["dice", "flat"], Operation::Announce { faces, dice: lie })
        }
        _ => return None,
    };
    has_only(op, fields)?;
    Some(operation)
}

fn play(trace: &Value, place: &str) -> usize {
    let mode = text(&trace["config"], "mode").and_then(Tumbler::from_name);
    let mut machine = Machine::new(Settings {
        tumbler: mode.unwrap_or_else(|| panic!("{place}: config {}", trace["config"])),
        paytable: None,
        void: VoidPolicy::None,
    });
    play_trace(trace, place, |op| {
        let before = machine.clone();
        let done = operation(op).and_then(|op| machine.perform(&op).ok());
        let phase = machine.phase();
        Said {
            unchanged: machine == before,
            view: json!({
                "phase": match phase {
                    Phase::Betting => "betting",
                    Phase::Locked => "locked",
                    Phase::Showing => "showing",
                },
                "activated": machine.tumbled() == Tumbled::Yes,
                "nmb": phase != Phase::Betting,
            }),
            // The vectors have no stakes, so they decide no wagers.
            done: done.map(|done| SaidDone {
                resolved: Vec::new(),
                game_end: done.game_end.map(|end| end.to_string()),
            }),
        }
    })
}

#[test]
fn trace_windows_open_and_close_as_the_law_says() {
    play_all("sic_bo_window_traces", play);
}
