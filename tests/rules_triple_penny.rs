//! Triple penny two-up against traces of whole games made by an independent program. `vector_support` says where they are read
//! from.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test may panic"
)]

mod vector_support;

use serde_json::{Value, json};
use tablegate::rules::triple_penny::machine::{
    Called, Choice, GameEnd, Ground, Kip, Machine, Operation, Phase, Placing, Role, RunOutWagers, Settings, Spins,
};
use tablegate::rules::triple_penny::{Display, InvalidReason, Spun};
use tablegate::rules::two_up::{ONE_DOLLAR, Side};
use vector_support::{Said, SaidDone, flag, has_only, number, play_all, play_trace, text, two_up_resolved};

fn role(op: &Value) -> Option<Role> {
    match text(op, "by")? {
        "boxer" => Some(Role::Boxer),
        "dealer" => Some(Role::Dealer),
        "floor_manager" => Some(Role::FloorManager),
        "player" => Some(Role::Player),
        _ => None,
    }
}

/// Mixed where the vectors leave it out.
fn kip(op: &Value) -> Option<Kip> {
    if op.get("kip_heads").is_none() {
        return Some(Kip::Mixed);
    }
    match number(op, "kip_heads")? {
        0 | 3 => Some(Kip::NotMixed),
        1 | 2 => Some(Kip::Mixed),
        _ => None,
    }
}

/// The operation in the machine's words; `None` when it is none: then it counts as refused.
fn operation(op: &Value) -> Option<Operation> {
    let side = || Side::from_name(text(op, "side")?);
    let stake = || number(op, "stake");
    let name = || Some(text(op, "id")?.to_owned());
    let (fields, operation): (&[&str], _) = match text(op, "op")? {
        "accept_spin" => (
            &["seat"],
            Operation::AcceptSpin {
                seat: number(op, "seat")?,
            },
        ),
        "boxer_directed" => (&["by"], Operation::BoxerDirected { by: role(op)? }),
        "spinner_wager" => (
            &["side", "stake"],
            Operation::SpinnerWager {
                side: side()?,
                stake: stake()?,
            },
        ),
        "spinner_bonus" => (
            &["side", "stake"],
            Operation::SpinnerBonus {
                side: side()?,
                stake: stake()?,
            },
        ),
        "withdraw_spinner_wager" => (&[], Operation::WithdrawSpinnerWager),
        "player_wager" => (
            &["id", "side", "stake", "oral"],
            Operation::PlayerWager {
                name: name()?,
                side: side()?,
                stake: stake()?,
                placing: if flag(op, "oral", false)? {
                    Placing::Orally
                } else {
                    Placing::Chips
                },
            },
        ),
        "change_wager" => (
            &["id", "side", "stake"],
            Operation::ChangeWager {
                name: name()?,
                side: side()?,
                stake: stake()?,
            },
        ),
        "withdraw_wager" => (&["id"], Operation::WithdrawWager { name: name()? }),
        "move_to_bonus" => (
            &["id", "by"],
            Operation::MoveToBonus {
                name: name()?,
                by: role(op)?,
            },
        ),
        "no_more_bets" => (&["kip_heads"], Operation::NoMoreBets { kip: kip(op)? }),
        "spin" => (&["result"], Operation::Spin(Spun::from_name(text(op, "result")?)?)),
        "invalid" => (
            &["reason", "by", "at_rest"],
            Operation::Invalid {
                reason: InvalidReason::from_code(text(op, "reason")?)?,
                by: role(op)?,
                called: if flag(op, "at_rest", false)? {
                    Called::AtRest
                } else {
                    Called::InFlight
                },
            },
        ),
        "choose" => (
            &["choice"],
            Operation::Choose(match text(op, "choice")? {
                "retire" => Choice::Retire,
                "boxer" => Choice::Boxer,
                _ => return None,
            }),
        ),
        "direct_boxer" => (
            &["ground", "by"],
            Operation::DirectBoxer {
                ground: Ground::from_code(text(op, "ground")?)?,
                by: role(op)?,
            },
        ),
        "spinner_stops" => (&[], Operation::SpinnerStops),
        "spinner_continues" => (&[], Operation::SpinnerContinues),
        "coin_lost" => (
            &["n"],
            Operation::CoinsLost {
                coins: number(op, "n")?,
            },
        ),
        "coin_found" if flag(op, "from_set", true)? => (
            &["n", "from_set"],
            Operation::CoinsFound {
                coins: number(op, "n")?,
            },
        ),
        "coin_found" => (&["n", "from_set"], Operation::ForeignCoin),
        "new_set" => (&[], Operation::NewSet),
        "display" => (&["mode"], Operation::ShowBy(Display::from_name(text(op, "mode")?)?)),
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
        Phase::Choice => "choice",
        Phase::Decide => "decide",
    }
}

fn play(trace: &Value, place: &str) -> usize {
    let mut machine = Machine::new(Settings {
        smallest_chip: ONE_DOLLAR,
        run_out: RunOutWagers::Closed,
        display: Display::Lights,
    });
    play_trace(trace, place, |op| {
        let before = machine.clone();
        let done = operation(op).and_then(|op| machine.perform(&op).ok());
        Said {
            unchanged: machine == before,
            view: json!({
                "phase": phase_name(machine.phase()),
                "shown": machine.shown().map(Spun::name),
                "shown_by": machine.shown_by().name(),
                "hits": machine.hits(),
                "bonus_alive": machine.bonus_wager().is_some(),
                "bonus_area": machine.bonus_area().collect::<Vec<_>>(),
                "run_out": machine.spins() == Some(Spins::RunOut),
            }),
            done: done.map(|done| SaidDone {
                resolved: done.resolved.iter().map(two_up_resolved).collect(),
                game_end: done.game_end.map(GameEnd::name).map(str::to_owned),
            }),
        }
    })
}

#[test]
fn trace_games_are_accepted_shown_and_decided_as_the_law_says() {
    play_all("triple_penny_traces", play);
}
