//! What the traces don't show, and every state that can be reached.

use super::*;
use crate::rules::machine::testing::{all, explore, performs, refused};
use crate::rules::triple_penny::InvalidReason;
use crate::rules::two_up::{ONE_DOLLAR, Resolved, Side, WagerName};
use crate::rules::wager::{MAX_STAKE, Outcome};

performs!();

fn settings() -> Settings {
    Settings {
        smallest_chip: ONE_DOLLAR,
        run_out: RunOutWagers::Closed,
        display: Display::Lights,
    }
}

fn machine() -> Machine {
    Machine::new(settings())
}

const ACCEPT: Operation = Operation::AcceptSpin { seat: 4 };
const CALL: Operation = Operation::NoMoreBets { kip: Kip::Mixed };
const STOPS: Operation = Operation::SpinnerStops;
const CONTINUES: Operation = Operation::SpinnerContinues;
const BARRED: Operation = Operation::Invalid {
    reason: InvalidReason::TooLow,
    by: Role::Boxer,
    called: Called::AtRest,
};
const BOXER: Operation = Operation::BoxerDirected { by: Role::FloorManager };
const BONUS: Operation = Operation::SpinnerBonus {
    side: Side::Heads,
    stake: 100,
};

fn wager(side: Side) -> Operation {
    Operation::SpinnerWager { side, stake: 1_000 }
}

fn player(name: &str, side: Side) -> Operation {
    Operation::PlayerWager {
        name: name.to_owned(),
        side,
        stake: 500,
        placing: Placing::Chips,
    }
}

fn direct(ground: Ground) -> Operation {
    Operation::DirectBoxer {
        ground,
        by: Role::FloorManager,
    }
}

/// A call and a spin for each of these.
fn spun(machine: &mut Machine, results: &[Spun]) -> Done {
    let mut last = Done::default();
    for result in results {
        last = all(machine, &[CALL, Operation::Spin(*result)]);
    }
    last
}

#[test]
fn the_boxer_who_takes_over_is_not_the_person_who_lost_the_coins() {
    let mut m = machine();
    all(&mut m, &[ACCEPT, wager(Side::Heads)]);
    spun(&mut m, &[Spun::Heads]);
    all(&mut m, &[Operation::CoinsLost { coins: 2 }, STOPS]);
    assert_eq!(refused(&mut m, &CALL), Cause::NewSetRequired);
    all(&mut m, &[Operation::NewSet, CALL]);
    // Coins that he lost himself he may go on without.
    all(
        &mut m,
        &[Operation::CoinsLost { coins: 2 }, Operation::Spin(Spun::Heads)],
    );
    all(&mut m, &[CALL]);
    assert_eq!(refused(&mut m, &Operation::NewSet), Cause::CoinsInPlay);
}

#[test]
fn coins_are_counted_within_the_set() {
    let mut m = machine();
    assert_eq!(refused(&mut m, &Operation::CoinsLost { coins: 6 }), Cause::NoSuchCoins);
    assert_eq!(refused(&mut m, &Operation::CoinsLost { coins: 0 }), Cause::NoSuchCoins);
    assert_eq!(refused(&mut m, &Operation::CoinsFound { coins: 1 }), Cause::NoSuchCoins);
    all(&mut m, &[Operation::CoinsLost { coins: 5 }]);
    assert_eq!(
        (m.coins_missing(), refused(&mut m, &ACCEPT)),
        (5, Cause::NewSetRequired)
    );
    all(&mut m, &[Operation::CoinsFound { coins: 4 }, ACCEPT]);
}

#[test]
fn a_wager_placed_before_the_run_out_is_decided_by_it_and_a_triple_moves_it() {
    let mut m = machine();
    all(&mut m, &[ACCEPT, wager(Side::Heads), player("a", Side::Heads)]);
    spun(&mut m, &[Spun::TripleHeads]);
    spun(&mut m, &[Spun::Heads]);
    all(&mut m, &[player("b", Side::Heads)]);
    let won = spun(&mut m, &[Spun::TripleHeads]);
    assert_eq!(won.game_end, Some(GameEnd::SpinnerWon));
    all(&mut m, &[player("c", Side::Heads)]);
    assert_eq!(all(&mut m, &[STOPS]).effects, [Effect::BoxerRunsOut]);
    let done = spun(&mut m, &[Spun::TripleHeads]);
    assert_eq!(done.effects, [Effect::MoveToBonus("c".to_owned())]);
    assert_eq!(m.spins(), Some(Spins::RunOut));
    let done = spun(&mut m, &[Spun::Tails]);
    assert_eq!(done.effects, [Effect::RunOutEnds, Effect::SelectSpinner]);
    assert_eq!((m.phase(), m.player_wagers().count()), (Phase::Select, 0));
}

#[test]
fn policy_can_let_players_wager_during_a_run_out() {
    for (run_out, accepted) in [(RunOutWagers::Closed, false), (RunOutWagers::Open, true)] {
        let mut m = Machine::new(Settings { run_out, ..settings() });
        all(&mut m, &[ACCEPT, wager(Side::Heads), player("t", Side::Tails)]);
        spun(&mut m, &[Spun::TripleTails]);
        assert_eq!(m.spins(), Some(Spins::RunOut));
        assert_eq!(m.perform(&player("x", Side::Tails)).is_ok(), accepted, "{run_out:?}");
    }
}

#[test]
fn who_has_no_wager_is_not_replaced_and_who_retires_before_one_ends_the_game() {
    let mut m = machine();
    all(&mut m, &[ACCEPT]);
    assert_eq!(
        refused(&mut m, &direct(Ground::UnableOrUnwilling)),
        Cause::NobodyToReplace
    );
    let done = all(&mut m, &[STOPS]);
    assert_eq!((done.resolved, done.game_end), (vec![], Some(GameEnd::SpinnerRetired)));
}

#[test]
fn while_the_spinner_has_to_choose_only_equipment_moves() {
    let mut m = machine();
    all(&mut m, &[ACCEPT, wager(Side::Heads), player("p", Side::Heads)]);
    all(&mut m, &[CALL, BARRED, CALL, BARRED, CALL, BARRED]);
    let withdraw = Operation::WithdrawWager { name: "p".to_owned() };
    for operation in [
        player("q", Side::Heads),
        withdraw,
        BONUS,
        CALL,
        STOPS,
        Operation::WithdrawSpinnerWager,
        direct(Ground::ThreeConsecutiveInvalid),
    ] {
        assert_eq!(refused(&mut m, &operation), Cause::ChoicePending, "{operation:?}");
    }
    assert_eq!(refused(&mut m, &CONTINUES), Cause::GameNotDecided);
    all(
        &mut m,
        &[
            Operation::ShowBy(Display::Cards),
            Operation::CoinsLost { coins: 2 },
            Operation::NewSet,
            Operation::Choose(Choice::Boxer),
        ],
    );
    assert_eq!(m.spins(), Some(Spins::BoxerFor(4)));
    assert_eq!(refused(&mut m, &Operation::WithdrawSpinnerWager), Cause::WagerLocked);
}

#[test]
fn the_largest_stakes_are_paid_in_full() {
    let mut m = machine();
    let stake = MAX_STAKE;
    all(
        &mut m,
        &[
            ACCEPT,
            Operation::SpinnerWager {
                side: Side::Tails,
                stake,
            },
        ],
    );
    let done = spun(&mut m, &[Spun::Tails, Spun::TripleTails, Spun::Tails]);
    let [Resolved { outcome, .. }] = done.resolved.as_slice() else {
        panic!("{done:?}");
    };
    let Outcome::Won { profit, .. } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(*profit, stake / 2 * 13);
}

/// What can be done, but for the means of display: it never matters.
fn every_operation() -> Vec<Operation> {
    let mut every = vec![
        ACCEPT,
        BOXER,
        wager(Side::Heads),
        BONUS,
        Operation::WithdrawSpinnerWager,
        player("h", Side::Heads),
        player("t", Side::Tails),
        Operation::WithdrawWager { name: "h".to_owned() },
        CALL,
        BARRED,
        Operation::Choose(Choice::Retire),
        Operation::Choose(Choice::Boxer),
        STOPS,
        CONTINUES,
        Operation::CoinsLost { coins: 2 },
        Operation::CoinsFound { coins: 2 },
        Operation::NewSet,
    ];
    every.extend(Ground::ALL.map(direct));
    every.extend(Spun::ALL.map(Operation::Spin));
    every
}

fn check(_before: &Machine, operation: &Operation, after: &Machine, done: &Done) {
    assert!(after.hits() <= 3);
    let in_bonus_area: Vec<Side> = after
        .player_wagers()
        .filter(|(_, _, area)| *area == Area::Bonus)
        .map(|(_, wager, _)| wager.side)
        .collect();
    assert!(
        in_bonus_area.windows(2).all(|pair| pair[0] == pair[1]),
        "both sides lie in the bonus area"
    );
    assert!(
        after.phase() != Phase::Select || in_bonus_area.is_empty(),
        "a new spinner while wagers lie in the bonus area"
    );
    assert!(
        after.spins() != Some(Spins::RunOut) || !in_bonus_area.is_empty(),
        "nothing to run out"
    );
    assert!(
        after.bonus_wager().is_none() || after.spinner_wager().is_some(),
        "a bonus wager alone"
    );
    let resolved = |name: &WagerName| done.resolved.iter().any(|r| r.name == *name);
    let ended = done.game_end.is_some_and(|end| end != GameEnd::BoxerDecision);
    if ended {
        assert!(after.spinner_wager().is_none() && after.bonus_wager().is_none());
    }
    if matches!(operation, Operation::Spin(_)) {
        assert_eq!(
            resolved(&WagerName::Spinner),
            ended,
            "a player's game ends with the spinner's wager"
        );
        assert_eq!(after.shown().map(Operation::Spin).as_ref(), Some(operation));
    }
}

#[test]
fn every_state_leads_on_and_none_pays_twice() {
    let reached = explore(machine(), &every_operation(), check);
    // A full set of coins comes to the next spinner.
    reached.each_leads_to(|m| m.phase() == Phase::Select && m.coins_missing() == 0);
}
