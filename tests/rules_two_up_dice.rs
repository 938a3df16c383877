//! Two-up dice against traces of whole games made by an independent program. `vector_support` says where they are read from.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test may panic"
)]

mod vector_support;

use serde_json::{Value, json};
use tablegate::rules::two_up::{ONE_DOLLAR, Side};
use tablegate::rules::two_up_dice::machine::{FirstThree, Machine, Operation, Phase, Role, Settings};
use tablegate::rules::two_up_dice::{InvalidReason, Light, Spun};
use vector_support::{Said, SaidDone, has_only, number, play_all, play_trace, text, two_up_resolved};

/// Who does it; the dealer where the vectors leave it out.
fn role(op: &Value) -> Option<Role> {
    match text(op, "by") {
        None if op.get("by").is_none() => Some(Role::Dealer),
        Some("dealer") => Some(Role::Dealer),
        Some("key_employee") => Some(Role::KeyEmployee),
        Some("player") => Some(Role::Player),
        _ => None,
    }
}

/// The operation in the machine's words; `None` when it is none: then it counts as refused.
fn operation(op: &Value) -> Option<Operation> {
    let side = || Side::from_name(text(op, "side")?);
    let name = || Some(text(op, "id")?.to_owned());
    let light = || Light::from_name(text(op, "light")?);
    let spun = || Spun::from_name(text(op, "result")?);
    let (fields, operation): (&[&str], _) = match text(op, "op")? {
        "accept_spin" => (
            &["seat"],
            Operation::AcceptSpin {
                seat: number(op, "seat")?,
            },
        ),
        "all_decline" => (&[], Operation::AllDecline),
        "spinner_wager" => (
            &["side", "stake"],
            Operation::SpinnerWager {
                side: side()?,
                stake: number(op, "stake")?,
            },
        ),
        "player_wager" => (
            &["id", "side", "stake"],
            Operation::PlayerWager {
                name: name()?,
                side: side()?,
                stake: number(op, "stake")?,
            },
        ),
        "change_wager" => (
            &["id", "side", "stake"],
            Operation::ChangeWager {
                name: name()?,
                side: side()?,
                stake: number(op, "stake")?,
            },
        ),
        "withdraw_wager" => (&["id"], Operation::WithdrawWager { name: name()? }),
        "no_more_bets" => (&[], Operation::NoMoreBets),
        "spin" => (&["result"], Operation::Spin(spun()?)),
        "invalid" => (
            &["reason", "by", "lost"],
            Operation::Invalid {
                reason: InvalidReason::from_code(text(op, "reason")?)?,
                by: role(op)?,
                lost: if op.get("lost").is_some() {
                    number(op, "lost")?
                } else {
                    0
                },
            },
        ),
        "overrule" => (
            &["result", "by"],
            Operation::Overrule {
                spun: spun()?,
                by: role(op)?,
            },
        ),
        "spinner_stops" => (&[], Operation::SpinnerStops),
        "spinner_continues" => (&[], Operation::SpinnerContinues),
        "relieve" => (&["by"], Operation::Relieve { by: role(op)? }),
        "dice_found" => (&["n"], Operation::DiceFound { dice: number(op, "n")? }),
        "new_set" => (&[], Operation::NewSet),
        "light_fail" => (&["light"], Operation::LightFails(light()?)),
        "light_restore" => (&["light"], Operation::LightRestored(light()?)),
        _ => return None,
    };
    has_only(op, fields)?;
    Some(operation)
}

fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Select => "select",
        Phase::Betting => "betting",
        Phase::Closed => "closed",
        Phase::Decide => "decide",
    }
}

fn play(trace: &Value, place: &str) -> usize {
    let mut machine = Machine::new(Settings {
        smallest_chip: ONE_DOLLAR,
        first_three: FirstThree::ComesBack,
    });
    play_trace(trace, place, |op| {
        let before = machine.clone();
        let done = operation(op).and_then(|op| machine.perform(&op).ok());
        let counts = machine.counts();
        let cards: Vec<_> = machine.cards().into_iter().map(Light::name).collect();
        Said {
            unchanged: machine == before,
            view: json!({
                "phase": phase_name(machine.phase()),
                "lights": {"heads": counts.heads, "tails": counts.tails, "odds": counts.odds},
                "cards": cards,
            }),
            done: done.map(|done| SaidDone {
                resolved: done.resolved.iter().map(two_up_resolved).collect(),
                game_end: done.game_end.map(|end| end.to_string()),
            }),
        }
    })
}

#[test]
fn trace_games_are_accepted_lit_and_decided_as_the_law_says() {
    play_all("two_up_dice_traces", play);
}
