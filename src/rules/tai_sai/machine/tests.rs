//! What the round traces don't show: chips, the dice going round, every void reason in every phase.

use super::*;
use crate::rules::machine::testing::{all, performs, refused};
use crate::rules::tai_sai::outcomes;

performs!();

fn machine(style: Style) -> Machine {
    Machine::new(Settings {
        style,
        layout: Layout::Appendix2,
        display_faults: DisplayFaults::HoldNextGame,
    })
}

const OPEN: Operation = Operation::OpenTable {
    by: Role::CasinoSupervisor,
    tests: OpeningTests::Passed,
};
const TUMBLE: Operation = Operation::Tumble {
    spins: 3,
    tumbler: Tumbler::Worked,
};
const NO_MORE_BETS: Operation = Operation::NoMoreBets { bell: Bell::Rung };
const UNCOVER: Operation = Operation::Uncover { dice: Dice::Flat };
const GOOD_THROW: Operation = Operation::Throw(Throw {
    crossed_line: true,
    in_area: true,
    clear_path: true,
    flat: true,
});

fn place(seat: u8, area: &str, stake: u64) -> Operation {
    Operation::PlaceWager {
        seat,
        area: area.to_owned(),
        stake,
    }
}

fn offer(seat: u8, areas: &[&str]) -> Operation {
    Operation::Offer {
        seat,
        areas: areas.iter().map(|a| (*a).to_owned()).collect(),
        answer: Answer::Accepts,
    }
}

fn enter(faces: [u8; 3]) -> Vec<Operation> {
    let mut operations: Vec<_> = faces.iter().map(|face| Operation::Key(*face)).collect();
    operations.push(Operation::Enter);
    operations
}

fn settle(machine: &mut Machine, faces: [u8; 3]) -> (Vec<Resolved>, Done) {
    all(machine, &enter(faces));
    let lost = all(machine, &[Operation::LampsLit, Operation::CollectLosing]).resolved;
    (lost, all(machine, &[Operation::PayWinning]))
}

#[test]
fn chips_win_what_their_area_pays_in_cents() {
    let mut m = machine(Style::A);
    all(&mut m, &[OPEN, TUMBLE, Operation::PlaceBets]);
    all(
        &mut m,
        &[
            place(1, "triple_5", 100),
            place(1, "face_5", 250),
            place(2, "face_5", 1),
            place(1, "double_5", 333),
            place(2, "big", 5_000),
            place(2, "odd", 5_000),
            place(3, "triple_5", MAX_STAKE),
        ],
    );
    all(&mut m, &[NO_MORE_BETS, UNCOVER]);
    let (lost, paid) = settle(&mut m, [5, 5, 5]);
    let lost: Vec<_> = lost.iter().map(|r| (r.wager.seat, r.wager.area, r.outcome)).collect();
    assert_eq!(lost, [(2, "big", Outcome::Lost), (2, "odd", Outcome::Lost)]);
    let won: Vec<_> = paid
        .resolved
        .iter()
        .map(|r| match r.outcome {
            Outcome::Won { odds, profit } => (r.wager.seat, r.wager.area, odds.pays, profit),
            Outcome::Lost | Outcome::Returned => panic!("{r:?}"),
        })
        .collect();
    assert_eq!(
        won,
        [
            (1, "triple_5", 180, 18_000),
            (1, "face_5", 12, 3_000),
            (2, "face_5", 12, 12),
            (1, "double_5", 11, 3_663),
            (3, "triple_5", 180, MAX_STAKE * 180),
        ]
    );
    assert!(m.wagers().is_empty(), "paid chips are the players' again");
}

#[test]
fn chips_move_only_while_bets_are_open() {
    let mut m = machine(Style::A);
    let take = Operation::WithdrawWager {
        seat: 1,
        area: "small".to_owned(),
    };
    assert_eq!(refused(&mut m, &place(1, "small", 5)), Cause::BetsNotOpen);
    all(&mut m, &[OPEN, TUMBLE]);
    assert_eq!(refused(&mut m, &place(1, "small", 5)), Cause::BetsNotOpen);
    all(
        &mut m,
        &[Operation::PlaceBets, place(1, "small", 5), place(1, "small", 7)],
    );
    assert_eq!(m.wagers().iter().map(|w| w.stake).collect::<Vec<_>>(), [12]);
    all(&mut m, std::slice::from_ref(&take));
    assert_eq!(refused(&mut m, &take), Cause::NoSuchWager);
    assert_eq!(refused(&mut m, &place(1, "total_3", 5)), Cause::NoSuchArea);
    assert_eq!(refused(&mut m, &place(1, "small", 0)), Cause::StakeOutOfRange);
    assert_eq!(
        refused(&mut m, &place(1, "small", MAX_STAKE + 1)),
        Cause::StakeOutOfRange
    );
    all(&mut m, &[place(1, "small", MAX_STAKE)]);
    assert_eq!(refused(&mut m, &place(1, "small", 1)), Cause::StakeOutOfRange);
    all(&mut m, &[NO_MORE_BETS]);
    assert_eq!(refused(&mut m, &take), Cause::BetsNotOpen);
    all(&mut m, &[UNCOVER]);
    assert_eq!(refused(&mut m, &take), Cause::BetsNotOpen);
}

#[test]
fn chips_of_a_void_game_stay_and_are_free_when_bets_reopen() {
    let mut m = machine(Style::A);
    all(
        &mut m,
        &[OPEN, TUMBLE, Operation::PlaceBets, place(4, "any_triple", 500)],
    );
    let void = all(&mut m, &[UNCOVER]);
    assert_eq!(void.game_end, Some(GameEnd::Void(VoidReason::AExposedEarly)));
    assert!(void.resolved.is_empty());
    assert_eq!(m.wagers().len(), 1);
    let take = Operation::WithdrawWager {
        seat: 4,
        area: "any_triple".to_owned(),
    };
    assert_eq!(refused(&mut m, &take), Cause::BetsNotOpen);
    all(&mut m, &[TUMBLE, Operation::PlaceBets, take]);
    assert!(m.wagers().is_empty());
}

#[test]
fn the_dice_go_round_clockwise_unless_the_thrower_wins_over_evens() {
    let start = [Operation::RetrieveDice, Operation::PlaceBets, NO_MORE_BETS];
    // What the thrower at seat 3 has wagered, what falls, whether seat 3 keeps the dice.
    let cases: &[(&[&str], [u8; 3], bool)] = &[
        (&["total_9"], [2, 3, 4], true),
        (&["total_9", "small"], [2, 3, 5], false),
        (&["face_5"], [1, 2, 5], false),
        (&["face_5"], [1, 5, 5], true),
        (&["face_5"], [5, 5, 5], true),
        (&["any_triple", "small"], [1, 1, 2], false),
    ];
    for (areas, faces, keeps) in cases {
        let mut m = machine(Style::B);
        all(&mut m, &[OPEN]);
        assert_eq!(m.next_offer(), NextOffer::DealersLeft);
        all(&mut m, &start);
        all(&mut m, &[offer(3, areas), GOOD_THROW]);
        settle(&mut m, *faces);
        let expected = if *keeps {
            NextOffer::Keeps(3)
        } else {
            NextOffer::ClockwiseOf(3)
        };
        assert_eq!(m.next_offer(), expected, "{areas:?} {faces:?}");
    }
}

#[test]
fn the_dice_can_be_given_up_after_a_throw_and_taken_away_before_it() {
    let by = |by| Operation::PassDice { by };
    let mut m = machine(Style::B);
    all(
        &mut m,
        &[OPEN, Operation::RetrieveDice, Operation::PlaceBets, NO_MORE_BETS],
    );
    assert_eq!(refused(&mut m, &by(Role::Player)), Cause::OutOfOrder);
    all(&mut m, &[offer(3, &["face_1"])]);
    assert_eq!(refused(&mut m, &by(Role::Player)), Cause::OutOfOrder);
    assert_eq!(refused(&mut m, &by(Role::Dealer)), Cause::NotAuthorised);
    all(&mut m, &[by(Role::GameSupervisor)]);
    assert_eq!((m.phase(), m.next_offer()), (Phase::Closed, NextOffer::ClockwiseOf(3)));
    all(&mut m, &[offer(5, &["face_1"]), GOOD_THROW, by(Role::Player)]);
    let (_, paid) = settle(&mut m, [1, 1, 1]);
    assert_eq!(paid.effects, [Effect::OfferNextClockwise]);
    assert_eq!(m.next_offer(), NextOffer::ClockwiseOf(5));
}

#[test]
fn a_throw_fails_by_the_first_cause_of_the_rule() {
    for bits in 0_u8..16 {
        let throw = Throw {
            crossed_line: bits & 1 == 0,
            in_area: bits & 2 == 0,
            clear_path: bits & 4 == 0,
            flat: bits & 8 == 0,
        };
        let expected = match bits.trailing_zeros() {
            0 => Some(VoidReason::BShortOfLine),
            1 => Some(VoidReason::BLeftArea),
            2 => Some(VoidReason::BHitObject),
            3 => Some(VoidReason::BNotFlat),
            _ => None,
        };
        assert_eq!(throw.void(), expected, "{throw:?}");
    }
}

/// A machine of each phase that the style has.
fn every_phase(style: Style) -> Vec<Machine> {
    let mut m = machine(style);
    let mut phases = vec![m.clone()];
    let mut steps = vec![OPEN];
    match style {
        Style::A => steps.extend([TUMBLE, Operation::PlaceBets, NO_MORE_BETS, UNCOVER]),
        Style::B => steps.extend([
            Operation::RetrieveDice,
            Operation::PlaceBets,
            NO_MORE_BETS,
            offer(1, &["face_1"]),
            GOOD_THROW,
        ]),
    }
    for step in steps {
        all(&mut m, &[step]);
        phases.push(m.clone());
    }
    all(&mut m, &enter([1, 2, 2]));
    phases.push(m.clone());
    all(&mut m, &[Operation::LampFault, Operation::CollectLosing]);
    phases.push(m.clone());
    all(&mut m, &[Operation::PayWinning]);
    phases.push(m);
    phases
}

#[test]
fn every_void_reason_in_every_phase() {
    for style in [Style::A, Style::B] {
        for m in every_phase(style) {
            for reason in VoidReason::ALL {
                for by in [Role::Dealer, Role::GameSupervisor, Role::CasinoSupervisor, Role::Player] {
                    let mut m = m.clone();
                    let phase = m.phase();
                    let in_game = !matches!(phase, Phase::Shut | Phase::Ready | Phase::Collecting | Phase::Halted);
                    let possible = if reason == VoidReason::ANotActivated {
                        phase == Phase::Ready
                    } else {
                        in_game || reason == VoidReason::ATumblerFault && phase == Phase::Ready
                    };
                    let may = matches!(by, Role::Dealer | Role::GameSupervisor);
                    let answer = m.perform(&Operation::Void { reason, by });
                    let expected = possible && may && reason.style() == style;
                    assert_eq!(
                        answer.is_ok(),
                        expected,
                        "{style:?} {phase:?} {reason:?} {by:?}: {answer:?}"
                    );
                    if expected {
                        let after = if reason == VoidReason::ATumblerFault {
                            Phase::Halted
                        } else {
                            Phase::Ready
                        };
                        assert_eq!(m.phase(), after);
                        assert!(m.lamps().is_empty() && m.keys().is_empty());
                    }
                }
            }
        }
    }
}

#[test]
fn a_malfunction_between_games_does_not_undo_spins() {
    let mut m = machine(Style::A);
    let tumble = |spins| Operation::Tumble {
        spins,
        tumbler: Tumbler::Worked,
    };
    let clear = Operation::ClearMalfunction {
        how: Clearance::AlternativeProcedure,
    };
    all(&mut m, &[OPEN, tumble(2), Operation::DisplayFault, clear, tumble(1)]);
    assert_eq!(m.phase(), Phase::Primed);
}

#[test]
fn a_display_fault_that_is_only_noted_holds_nothing() {
    let mut m = Machine::new(Settings {
        style: Style::A,
        layout: Layout::Appendix1,
        display_faults: DisplayFaults::Noted,
    });
    all(&mut m, &[OPEN, Operation::DisplayFault, TUMBLE]);
    assert_eq!(m.phase(), Phase::Primed);
}

#[test]
fn an_amendment_asks_for_the_lamps_again_but_a_declared_fault_stands() {
    let amend = |faces| Operation::Amend {
        faces,
        by: Role::GameSupervisor,
    };
    let mut m = machine(Style::A);
    all(&mut m, &[OPEN, TUMBLE, Operation::PlaceBets, NO_MORE_BETS, UNCOVER]);
    all(&mut m, &enter([1, 2, 3]));
    all(&mut m, &[Operation::LampsLit, amend([1, 2, 4])]);
    assert_eq!(refused(&mut m, &Operation::CollectLosing), Cause::LampsNotConfirmed);
    all(
        &mut m,
        &[Operation::LampFault, amend([6, 2, 4]), Operation::CollectLosing],
    );
    let end = all(&mut m, &[Operation::PayWinning]).game_end;
    assert_eq!(end.map(|e| e.to_string()).as_deref(), Some("settled 2, 4, 6, Total 12"));
    assert_eq!(m.phase(), Phase::Halted);
}

#[test]
fn what_is_lit_is_what_wins_for_every_outcome() {
    for faces in outcomes() {
        let mut m = machine(Style::A);
        all(&mut m, &[OPEN, TUMBLE, Operation::PlaceBets, NO_MORE_BETS, UNCOVER]);
        all(&mut m, &enter(faces));
        let winning: Vec<_> = winners(faces, Layout::Appendix2).iter().map(|w| w.id).collect();
        assert_eq!(m.lamps(), winning);
    }
}
