//! What the traces don't show: chips, the call before the spin, the house's policy, every order of acts.

use super::*;
use crate::rules::machine::testing::{all, explore, performs, refused};
use crate::rules::sic_bo::paytable::tests::like_new_zealand;

performs!();

fn machine(tumbler: Tumbler, void: VoidPolicy) -> Machine {
    Machine::new(Settings {
        tumbler,
        paytable: Some(Paytable::new(like_new_zealand()).unwrap()),
        void,
    })
}

fn place(seat: u8, area: &str, stake: u64) -> Operation {
    Operation::PlaceWager {
        seat,
        area: area.to_owned(),
        stake,
    }
}

fn announce(faces: [u8; 3]) -> Operation {
    Operation::Announce {
        faces,
        dice: Dice::Flat,
    }
}

#[test]
fn a_covered_tumbler_may_also_be_activated_after_the_call() {
    let mut m = machine(Tumbler::Covered, VoidPolicy::None);
    let done = all(
        &mut m,
        &[
            Operation::NoMoreBets,
            Operation::Activate,
            Operation::StartUncover,
            announce([2, 1, 1]),
        ],
    );
    assert_eq!(done.effects, [Effect::Call([1, 1, 2])]);
}

#[test]
fn chips_win_what_the_table_of_odds_says() {
    let mut m = machine(Tumbler::Open, VoidPolicy::None);
    all(
        &mut m,
        &[
            place(1, "triple_5", 100),
            place(1, "face_5", 250),
            place(2, "small", 5_000),
            place(1, "face_5", 50),
            place(3, "big", 700),
            Operation::WithdrawWager {
                seat: 3,
                area: "big".to_owned(),
            },
            Operation::NoMoreBets,
            Operation::Activate,
        ],
    );
    assert_eq!(refused(&mut m, &place(1, "big", 100)), Cause::BetsClosed);
    let resolved = all(&mut m, &[announce([5, 5, 5])]).resolved;
    let told: Vec<_> = resolved
        .iter()
        .map(|r| (r.wager.seat, r.wager.area, r.outcome))
        .collect();
    let won = |odds: u32, stake| Outcome::Decided(chips::Odds::to_one(odds).won(stake));
    assert_eq!(
        told,
        [
            (1, "triple_5", won(180, 100)),
            (1, "face_5", won(12, 300)),
            (2, "small", Outcome::Decided(chips::Outcome::Lost)),
        ]
    );
    assert!(m.wagers().is_empty());
}

#[test]
fn without_a_table_of_odds_winners_are_told_and_no_sum() {
    let mut m = Machine::new(Settings {
        tumbler: Tumbler::Open,
        paytable: None,
        void: VoidPolicy::None,
    });
    all(
        &mut m,
        &[
            place(1, "total_9", 100),
            place(1, "total_8", 100),
            Operation::NoMoreBets,
            Operation::Activate,
        ],
    );
    let outcomes: Vec<_> = all(&mut m, &[announce([1, 3, 5])])
        .resolved
        .iter()
        .map(|r| r.outcome)
        .collect();
    assert_eq!(outcomes, [Outcome::WonUnpriced, Outcome::Decided(chips::Outcome::Lost)]);
}

#[test]
fn a_void_is_the_houses_own() {
    let mut m = machine(Tumbler::Open, VoidPolicy::None);
    all(
        &mut m,
        &[place(1, "big", 100), Operation::NoMoreBets, Operation::Activate],
    );
    assert_eq!(refused(&mut m, &Operation::Void), Cause::NoVoidInTheRules);
    let mut m = machine(Tumbler::Open, VoidPolicy::OfTheHouse);
    assert_eq!(refused(&mut m, &Operation::Void), Cause::OutOfOrder);
    all(
        &mut m,
        &[place(1, "big", 100), Operation::NoMoreBets, Operation::Activate],
    );
    let done = all(&mut m, &[Operation::Void]);
    assert_eq!((done.game_end, m.wagers().len()), (Some(GameEnd::VoidByPolicy), 1));
    assert_eq!((m.phase(), m.tumbled()), (Phase::Betting, Tumbled::No));
}

#[test]
fn whatever_is_done_no_result_comes_before_call_and_spin() {
    let every = [
        Operation::Activate,
        Operation::NoMoreBets,
        Operation::StartUncover,
        announce([1, 2, 3]),
        Operation::Announce {
            faces: [1, 2, 3],
            dice: Dice::NotFlat,
        },
        announce([0, 1, 2]),
    ];
    for tumbler in [Tumbler::Covered, Tumbler::Open] {
        let reached = explore(machine(tumbler, VoidPolicy::None), &every, |before, _, _, done| {
            if done.game_end.is_some() {
                assert_ne!(before.phase(), Phase::Betting);
                assert_eq!(before.tumbled(), Tumbled::Yes);
            }
        });
        reached.each_leads_to(|m| m.phase() == Phase::Betting);
    }
}
