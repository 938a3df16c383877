//! Tai-sai against vectors made by an independent program: all 216 outcomes, every wager's edge, and traces of whole games.
//!
//! `vector_support` says where the vectors are read from.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test may panic"
)]

mod vector_support;

use serde_json::{Value, json};
use std::path::Path;
use tablegate::rules::tai_sai::machine::{
    Answer, Bell, Clearance, Dice, DisplayFaults, Done, LayoutWagers, Machine, OpeningTests, Operation, Outcome, Phase,
    Role, Settings, Throw, Tumbler,
};
use tablegate::rules::tai_sai::{Layout, Style, VoidReason, areas, call, odds, total, wagers, winners};
use vector_support::{Said, SaidDone, csv, flag, number, play_all, play_trace, text, vector_files};

#[test]
fn trace_outcomes_have_their_call_total_and_winners() {
    for path in vector_files("tai_sai_outcomes", "csv") {
        let mut seen = 0;
        for (place, row) in csv(&path) {
            let die = |name: &str| {
                row[name]
                    .parse::<u8>()
                    .unwrap_or_else(|e| panic!("{place}: {name}: {e}"))
            };
            let faces = [die("d1"), die("d2"), die("d3")];
            assert_eq!(call(faces), row["call"], "{place}");
            assert_eq!(total(faces).to_string(), row["total"], "{place}");
            for (column, layout) in [("standard", Layout::Appendix1), ("alternative", Layout::Appendix2)] {
                let ours: Vec<String> = winners(faces, layout)
                    .iter()
                    .map(|w| {
                        assert_eq!(w.odds.per, 1);
                        format!("{}:{}", w.id, w.odds.pays)
                    })
                    .collect();
                assert_eq!(ours.join(" "), row[column], "{place}, {column}");
            }
            seen += 1;
        }
        eprintln!("{}: {seen} outcomes", path.display());
    }
}

#[test]
fn trace_edges_are_exact_over_all_outcomes() {
    let worths = odds::worths(Layout::Appendix2).unwrap();
    for path in vector_files("tai_sai_edges", "csv") {
        let rows = csv(&path);
        for (place, row) in &rows {
            let layouts = row["layouts"].as_str();
            let on_standard = areas(Layout::Appendix1).contains(&row["wager"].as_str());
            assert_eq!(on_standard, layouts == "both", "{place}: {layouts}");
            let worth = worths
                .iter()
                .find(|worth| worth.wager == row["wager"])
                .unwrap_or_else(|| panic!("{place}: no area {}", row["wager"]));
            let pays: Vec<_> = worth.pays.iter().map(|odds| odds.pays.to_string()).collect();
            assert_eq!(pays.join("/"), row["odds_to_1"], "{place}");
            let ways = worth.ways.unwrap();
            assert_eq!(
                (ways.winning.to_string(), ways.of),
                (row["winning_of_216"].clone(), 216),
                "{place}"
            );
            assert_eq!(worth.returned.unwrap().to_string(), row["return_per_unit"], "{place}");
            let edge = worth.house_edge().unwrap();
            assert_eq!(edge.to_string(), row["house_edge"], "{place}");
            assert_eq!(edge.decimal(6).unwrap(), row["house_edge_decimal"], "{place}");
        }
        eprintln!("{}: {} wagers", path.display(), rows.len());
    }
}

#[test]
fn areas_are_those_of_the_edges_in_the_same_order() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tai_sai_edges.csv");
    let theirs: Vec<_> = csv(&path).into_iter().map(|(_, row)| row["wager"].clone()).collect();
    assert_eq!(areas(Layout::Appendix2), theirs);
    assert_eq!(areas(Layout::Appendix1), &theirs[..50]);
    assert_eq!(wagers(Layout::Appendix1).len(), 50);
}

fn role(value: &Value) -> Option<Role> {
    match text(value, "by")? {
        "dealer" => Some(Role::Dealer),
        "game_supervisor" => Some(Role::GameSupervisor),
        "casino_supervisor" => Some(Role::CasinoSupervisor),
        "player" => Some(Role::Player),
        _ => None,
    }
}

/// The operation in the machine's words; `None` when it is none: then it counts as refused.
fn operation(op: &Value) -> Option<Operation> {
    Some(match text(op, "op")? {
        "open_table" => Operation::OpenTable {
            by: role(op)?,
            tests: if flag(op, "tests_ok", true)? {
                OpeningTests::Passed
            } else {
                OpeningTests::Failed
            },
        },
        "tumble" => Operation::Tumble {
            spins: number(op, "spins")?,
            tumbler: if flag(op, "fault", false)? {
                Tumbler::Failed
            } else {
                Tumbler::Worked
            },
        },
        "retrieve_dice" => Operation::RetrieveDice,
        "place_bets" => Operation::PlaceBets,
        "no_more_bets" => Operation::NoMoreBets {
            bell: if flag(op, "bell", true)? {
                Bell::Rung
            } else {
                Bell::NotRung
            },
        },
        "uncover" => Operation::Uncover {
            dice: if flag(op, "flat", true)? {
                Dice::Flat
            } else {
                Dice::NotFlat
            },
        },
        "offer" => Operation::Offer {
            seat: number(op, "seat")?,
            areas: op
                .get("wagers")?
                .as_array()?
                .iter()
                .map(|area| area.as_str().map(str::to_owned))
                .collect::<Option<_>>()?,
            answer: if flag(op, "accept", true)? {
                Answer::Accepts
            } else {
                Answer::Declines
            },
        },
        "dealer_throws" => Operation::DealerThrows {
            wagers: if flag(op, "wagers_on_layout", true)? {
                LayoutWagers::Some
            } else {
                LayoutWagers::None
            },
        },
        "throw" => Operation::Throw(Throw {
            crossed_line: flag(op, "crossed_line", true)?,
            in_area: flag(op, "in_area", true)?,
            clear_path: flag(op, "clear_path", true)?,
            flat: flag(op, "flat", true)?,
        }),
        "key" => Operation::Key(number(op, "n")?),
        "enter" => Operation::Enter,
        "amend" => {
            let dice: Vec<u8> = serde_json::from_value(op.get("dice")?.clone()).ok()?;
            Operation::Amend {
                faces: dice.try_into().ok()?,
                by: role(op)?,
            }
        }
        "lamps_lit" => Operation::LampsLit,
        "lamp_fault" => Operation::LampFault,
        "display_fault" => Operation::DisplayFault,
        "collect_losing" => Operation::CollectLosing,
        "pay_winning" => Operation::PayWinning,
        "void" => Operation::Void {
            reason: VoidReason::from_code(text(op, "reason")?)?,
            by: role(op)?,
        },
        "clear_malfunction" => Operation::ClearMalfunction {
            how: match text(op, "how")? {
                "rectified" => Clearance::Rectified,
                "alternative_procedure" => Clearance::AlternativeProcedure,
                _ => return None,
            },
        },
        _ => return None,
    })
}

fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Shut => "shut",
        Phase::Ready => "ready",
        Phase::Primed => "primed",
        Phase::Betting => "betting",
        Phase::Closed => "closed",
        Phase::Throwing => "throwing",
        Phase::Landed => "landed",
        Phase::Entered => "entered",
        Phase::Collecting => "collecting",
        Phase::Halted => "halted",
    }
}

/// Decided wagers as the vectors write them.
fn resolved(done: &Done) -> Vec<Value> {
    done.resolved
        .iter()
        .map(|r| match r.outcome {
            Outcome::Won { odds, profit } => json!({"wager": r.wager.area, "stake": r.wager.stake,
                "outcome": "win", "profit": profit, "odds": odds.pays.to_string()}),
            Outcome::Lost | Outcome::Returned => {
                json!({"wager": r.wager.area, "stake": r.wager.stake, "outcome": "lose", "profit": 0})
            }
        })
        .collect()
}

fn settings(trace: &Value, place: &str) -> Settings {
    let config = &trace["config"];
    Settings {
        style: match text(config, "style") {
            Some("A") => Style::A,
            Some("B") => Style::B,
            other => panic!("{place}: style {other:?}"),
        },
        layout: match text(config, "layout") {
            Some("standard") => Layout::Appendix1,
            Some("alternative") => Layout::Appendix2,
            other => panic!("{place}: layout {other:?}"),
        },
        display_faults: DisplayFaults::HoldNextGame,
    }
}

fn play(trace: &Value, place: &str) -> usize {
    let mut machine = Machine::new(settings(trace, place));
    play_trace(trace, place, |op| {
        let before = machine.clone();
        let done = operation(op).and_then(|op| machine.perform(&op).ok());
        Said {
            unchanged: machine == before,
            view: json!({
                "phase": phase_name(machine.phase()),
                "lamps": machine.lamps(),
                "led": machine.keys(),
                "malfunction": !machine.malfunctions().is_empty(),
            }),
            done: done.map(|done| SaidDone {
                resolved: resolved(&done),
                game_end: done.game_end.map(|end| end.to_string()),
            }),
        }
    })
}

#[test]
fn trace_rounds_are_accepted_lit_and_ended_as_the_law_says() {
    play_all("tai_sai_round_traces", play);
}
