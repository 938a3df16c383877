//! What the traces don't show, and every state that can be reached.

use super::*;
use crate::rules::machine::testing::{all, explore, performs, refused};
use crate::rules::two_up::{ONE_DOLLAR, Resolved, Side, WagerName};
use crate::rules::two_up_dice::{InvalidReason, Spun};
use crate::rules::wager::{MAX_STAKE, Outcome};

performs!();

fn machine() -> Machine {
    Machine::new(Settings {
        smallest_chip: ONE_DOLLAR,
        first_three: FirstThree::ComesBack,
    })
}

const ACCEPT: Operation = Operation::AcceptSpin { seat: 4 };
const CALL: Operation = Operation::NoMoreBets;
const STOPS: Operation = Operation::SpinnerStops;
const CONTINUES: Operation = Operation::SpinnerContinues;
const RELIEVE: Operation = Operation::Relieve { by: Role::Dealer };

fn wager(side: Side) -> Operation {
    Operation::SpinnerWager { side, stake: 1_000 }
}

fn player(name: &str, side: Side) -> Operation {
    Operation::PlayerWager {
        name: name.to_owned(),
        side,
        stake: 500,
    }
}

fn invalid(reason: InvalidReason, lost: u8) -> Operation {
    Operation::Invalid {
        reason,
        by: Role::Dealer,
        lost,
    }
}

fn overrule(spun: Spun) -> Operation {
    Operation::Overrule {
        spun,
        by: Role::KeyEmployee,
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

fn three_invalid(machine: &mut Machine) -> Done {
    let barred = invalid(InvalidReason::Stacked, 0);
    all(machine, &[CALL, barred.clone(), CALL, barred.clone(), CALL, barred])
}

#[test]
fn who_bars_a_spin_before_the_call_until_the_spinner_must_stop_offers_the_dice_on() {
    let mut m = machine();
    let barred = invalid(InvalidReason::DealerDiscretion, 0);
    all(&mut m, &[ACCEPT, barred.clone(), barred.clone()]);
    assert_eq!(all(&mut m, &[barred]).effects, [Effect::SelectSpinner]);
    assert_eq!(m.phase(), Phase::Select);
    all(&mut m, &[ACCEPT, wager(Side::Heads), CALL]);
}

#[test]
fn relief_without_a_wager_leaves_nothing_to_the_dealer() {
    let mut m = machine();
    all(
        &mut m,
        &[ACCEPT, wager(Side::Heads), CALL, invalid(InvalidReason::Uneven, 0)],
    );
    spun(&mut m, &[Spun::Heads, Spun::Heads, Spun::Heads]);
    // The invalid spin was in the last game; the tenure is the same.
    all(&mut m, &[CONTINUES, RELIEVE]);
    assert_eq!(m.phase(), Phase::Select);
    assert_eq!(m.next_offer(), NextOffer::ClockwiseOf(4));
}

#[test]
fn who_spins_is_told() {
    let mut m = machine();
    assert_eq!((m.spins(), m.next_offer()), (None, NextOffer::DealersLeft));
    all(&mut m, &[ACCEPT]);
    assert_eq!(m.spins(), Some(Spins::Player(4)));
    all(&mut m, &[wager(Side::Tails), STOPS]);
    assert_eq!(m.spins(), Some(Spins::DealerFor(4)));
    spun(&mut m, &[Spun::Heads]);
    all(&mut m, &[Operation::AllDecline]);
    assert_eq!(
        (m.spins(), m.next_offer()),
        (Some(Spins::Dealer), NextOffer::ClockwiseOf(4))
    );
}

#[test]
fn who_comes_back_after_a_loss_gets_a_new_set_first() {
    let mut m = machine();
    all(&mut m, &[ACCEPT, wager(Side::Heads)]);
    three_invalid(&mut m);
    all(&mut m, &[CALL, invalid(InvalidReason::OffTable, 2)]);
    spun(&mut m, &[Spun::Tails]);
    assert_eq!(refused(&mut m, &CONTINUES), Cause::NewSetRequired);
    all(&mut m, &[Operation::NewSet, CONTINUES]);
}

#[test]
fn a_dealer_who_spun_for_everyone_goes_on_with_the_old_set() {
    let mut m = machine();
    all(
        &mut m,
        &[Operation::AllDecline, CALL, invalid(InvalidReason::OffTable, 2)],
    );
    spun(&mut m, &[Spun::Tails]);
    all(&mut m, &[CONTINUES]);
    spun(&mut m, &[Spun::Tails]);
    all(&mut m, &[STOPS]);
    assert_eq!(refused(&mut m, &Operation::AllDecline), Cause::NewSetRequired);
    assert_eq!(refused(&mut m, &ACCEPT), Cause::NewSetRequired);
}

#[test]
fn policy_can_let_the_spinner_come_back_after_a_win_only() {
    for (first_three, result, phase) in [
        (FirstThree::ComesBack, Spun::Tails, Phase::Decide),
        (FirstThree::ComesBackAfterAWin, Spun::Tails, Phase::Select),
        (FirstThree::ComesBackAfterAWin, Spun::Heads, Phase::Decide),
    ] {
        let mut m = Machine::new(Settings {
            first_three,
            ..machine().settings
        });
        all(&mut m, &[ACCEPT, wager(Side::Heads)]);
        three_invalid(&mut m);
        spun(
            &mut m,
            if result == Spun::Heads {
                &[Spun::Heads; 3]
            } else {
                &[Spun::Tails]
            },
        );
        assert_eq!(m.phase(), phase, "{first_three:?}, {result:?}");
    }
}

#[test]
fn only_dice_that_were_spun_off_the_table_are_lost() {
    let mut m = machine();
    all(&mut m, &[ACCEPT, wager(Side::Heads), CALL]);
    assert_eq!(refused(&mut m, &invalid(InvalidReason::Stacked, 1)), Cause::LostDice);
    assert_eq!(refused(&mut m, &invalid(InvalidReason::OffTable, 3)), Cause::LostDice);
    all(&mut m, &[invalid(InvalidReason::OffTable, 1)]);
    assert_eq!(m.dice_missing(), 1);
    assert_eq!(refused(&mut m, &Operation::DiceFound { dice: 2 }), Cause::SetComplete);
    assert_eq!(refused(&mut m, &Operation::DiceFound { dice: 0 }), Cause::SetComplete);
    all(&mut m, &[Operation::DiceFound { dice: 1 }, CALL]);
}

#[test]
fn a_relief_in_between_comes_before_an_overruling() {
    let mut m = machine();
    all(
        &mut m,
        &[
            ACCEPT,
            wager(Side::Heads),
            CALL,
            invalid(InvalidReason::Stacked, 0),
            RELIEVE,
        ],
    );
    assert_eq!(refused(&mut m, &overrule(Spun::Heads)), Cause::NothingToOverrule);
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
    let done = spun(&mut m, &[Spun::Tails; 3]);
    let [Resolved { outcome, .. }] = done.resolved.as_slice() else {
        panic!("{done:?}");
    };
    let Outcome::Won { profit, .. } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(*profit, stake / 2 * 15);
}

/// What can be done, but for lights: they never matter.
fn every_operation() -> Vec<Operation> {
    let mut every = vec![
        ACCEPT,
        Operation::AllDecline,
        wager(Side::Heads),
        wager(Side::Tails),
        player("p", Side::Heads),
        Operation::WithdrawWager { name: "p".to_owned() },
        CALL,
        invalid(InvalidReason::BothHands, 0),
        invalid(InvalidReason::DealerDiscretion, 0),
        invalid(InvalidReason::OffTable, 2),
        STOPS,
        CONTINUES,
        RELIEVE,
        Operation::DiceFound { dice: 1 },
        Operation::NewSet,
    ];
    for result in Spun::ALL {
        every.push(Operation::Spin(result));
        every.push(overrule(result));
    }
    every
}

fn check(before: &Machine, operation: &Operation, after: &Machine, done: &Done) {
    let counts = after.counts();
    assert!(counts.heads <= 3 && counts.tails <= 3 && counts.odds <= 5, "{counts:?}");
    assert_eq!(
        after.lights().len(),
        usize::from(counts.heads + counts.tails + counts.odds),
        "as many lights as counted"
    );
    if let State::Closed(game) = &after.state {
        assert_eq!(
            game.wager.is_none(),
            game.spinner == Spinner::Dealer,
            "closed without a wager"
        );
    }
    let decided = done.resolved.iter().any(|r| r.name == WagerName::Spinner);
    let ended = matches!(done.game_end, Some(GameEnd::SpinnerWon | GameEnd::SpinnerLost(_)));
    assert_eq!(decided, ended, "a player's game ends with the spinner's wager");
    if done.game_end.is_some() {
        assert_eq!(after.player_wagers().count(), 0, "a wager outlives the game");
        assert!(matches!(operation, Operation::Spin(_) | Operation::Overrule { .. }));
    }
    let begins = done.effects.contains(&Effect::GameStarts);
    assert!(
        !begins || counts == Counts::default(),
        "lights are on when a game begins: {before:?}"
    );
}

#[test]
fn every_state_leads_on_and_none_shows_what_was_not_spun() {
    let reached = explore(machine(), &every_operation(), check);
    // A full set of dice comes to the next spinner.
    reached.each_leads_to(|m| m.phase() == Phase::Select && m.dice_missing() == 0);
}
