//! What the wagers of two-up dice are worth: the law's machine, played through every order of results. PURE.

use super::machine::{FirstThree, Machine, Operation, Phase, Settings};
use super::{ODDS_TO_LOSE, PLAYER_ODDS, PLAYER_ODDS_RULE, SPINNER_ODDS, SPINNER_ODDS_RULE, Spun, outcomes};
use crate::rules::odds::chain::{Next, solve};
use crate::rules::odds::{Ending, Ratio, Unsolved, Worth, worth_of};
use crate::rules::two_up::{ONE_DOLLAR, Side, WagerName};
use crate::rules::wager::Outcome;

/// A stake that every odds pay in whole cents.
const STAKE: u64 = 100;

const SIDE: Side = Side::Heads;
const PLAYER: &str = "player";

/// Every wager: the spinner's, and a player's by how many odds stand when it is placed (TD-13).
///
/// # Errors
///
/// [`Unsolved`]: never with the rules as they stand.
pub fn worths() -> Result<Vec<Worth>, Unsolved> {
    let mut worths = vec![spinner()?];
    for odds in 0..ODDS_TO_LOSE {
        worths.push(player(odds)?);
    }
    Ok(worths)
}

fn spinner() -> Result<Worth, Unsolved> {
    let solved = solve(with_spinner(), |state| spins(state, &WagerName::Spinner))?;
    worth_of("spinner".to_owned(), vec![SPINNER_ODDS], SPINNER_ODDS_RULE, solved)
}

fn player(odds_standing: u8) -> Result<Worth, Unsolved> {
    let mut machine = with_spinner();
    for _ in 0..odds_standing {
        perform(&mut machine, &Operation::NoMoreBets);
        perform(&mut machine, &Operation::Spin(Spun::Odds));
    }
    perform(
        &mut machine,
        &Operation::PlayerWager {
            name: PLAYER.to_owned(),
            side: SIDE,
            stake: STAKE,
        },
    );
    let name = WagerName::Player(PLAYER.to_owned());
    let solved = solve(machine, |state| spins(state, &name))?;
    let wager = format!("player.placed_after_{odds_standing}_odds");
    worth_of(wager, vec![PLAYER_ODDS], PLAYER_ODDS_RULE, solved)
}

/// A game with a spinner's wager, bets open.
fn with_spinner() -> Machine {
    let mut machine = Machine::new(Settings {
        smallest_chip: ONE_DOLLAR,
        first_three: FirstThree::ComesBack,
    });
    perform(&mut machine, &Operation::AcceptSpin { seat: 1 });
    perform(
        &mut machine,
        &Operation::SpinnerWager {
            side: SIDE,
            stake: STAKE,
        },
    );
    machine
}

fn perform(machine: &mut Machine, operation: &Operation) {
    let answer = machine.perform(operation);
    debug_assert!(answer.is_ok(), "{operation:?}: {answer:?}");
}

/// One valid spin: where each of the four outcomes leads. Invalid spins decide nothing, so they aren't played.
fn spins(from: &Machine, watched: &WagerName) -> Vec<(Ratio, Next<Machine, Ending>)> {
    outcomes()
        .into_iter()
        .map(|dice| {
            let spun = Spun::of(dice);
            let mut machine = from.clone();
            perform(&mut machine, &Operation::NoMoreBets);
            let resolved = machine
                .perform(&Operation::Spin(spun))
                .map(|done| done.resolved)
                .unwrap_or_default();
            let next = match resolved.into_iter().find(|resolved| resolved.name == *watched) {
                None => Next::Goes(machine),
                Some(resolved) => Next::Ends(Ending::of(
                    how(resolved.outcome, spun),
                    resolved.wager.stake,
                    resolved.outcome,
                )),
            };
            debug_assert!(
                matches!(next, Next::Ends(_)) || from.phase() == Phase::Betting,
                "no wager outlives a game"
            );
            (Ratio::new(1, 4).unwrap_or(Ratio::ZERO), next)
        })
        .collect()
}

fn how(outcome: Outcome, spun: Spun) -> String {
    match (outcome, spun) {
        (Outcome::Won { .. }, _) => "won",
        (Outcome::Returned, _) => "returned",
        (Outcome::Lost, Spun::Odds) => "lost_odds_out",
        (Outcome::Lost, Spun::Heads | Spun::Tails) => "lost_opposite",
    }
    .to_owned()
}
