//! What the wagers of triple penny two-up are worth: the law's machine, played through every order of results. PURE.

use super::machine::{Kip, Machine, Operation, Phase, Placing, RunOutWagers, Settings};
use super::{
    Area, BONUS_ODDS, BONUS_ODDS_RULE, BONUS_STAKE, Display, PLAYER_ODDS_RULE, SPINNER_ODDS, SPINNER_ODDS_RULE, Spun,
    outcomes,
};
use crate::rules::odds::chain::{Next, solve};
use crate::rules::odds::{Ending, Ratio, Unsolved, Worth, worth_of};
use crate::rules::triple_penny::Agree;
use crate::rules::two_up::{ONE_DOLLAR, Side, WagerName};
use crate::rules::wager::{Odds, Outcome};

/// A stake that every odds pay in whole cents.
const STAKE: u64 = 100;

const SIDE: Side = Side::Heads;
const PLAYER: &str = "player";
const CALL: Operation = Operation::NoMoreBets { kip: Kip::Mixed };

/// Every wager, and a player's once it lies in the bonus area.
///
/// # Errors
///
/// [`Unsolved`]: never with the rules as they stand.
pub fn worths() -> Result<Vec<Worth>, Unsolved> {
    let own = |how: &str, _: Outcome| how.to_owned();
    let spinner = solve(at_the_beginning(), |state| spins(state, &WagerName::Spinner, own))?;
    let bonus = solve(at_the_beginning(), |state| spins(state, &WagerName::SpinnerBonus, own))?;
    let name = WagerName::Player(PLAYER.to_owned());
    let player = solve(at_the_beginning(), |state| spins(state, &name, by_odds))?;
    let mut moved = at_the_beginning();
    perform(&mut moved, &CALL);
    perform(&mut moved, &Operation::Spin(Spun::TripleHeads));
    let in_bonus_area = solve(moved, |state| spins(state, &name, by_odds))?;
    Ok(vec![
        worth_of("spinner".to_owned(), vec![SPINNER_ODDS], SPINNER_ODDS_RULE, spinner)?,
        worth_of("spinner_bonus".to_owned(), vec![BONUS_ODDS], BONUS_ODDS_RULE, bonus)?,
        worth_of(
            "player".to_owned(),
            player_odds(&[Area::Main, Area::Bonus]),
            PLAYER_ODDS_RULE,
            player,
        )?,
        worth_of(
            "player.once_in_bonus_area".to_owned(),
            player_odds(&[Area::Bonus]),
            PLAYER_ODDS_RULE,
            in_bonus_area,
        )?,
    ])
}

fn player_odds(areas: &[Area]) -> Vec<Odds> {
    areas
        .iter()
        .flat_map(|area| [area.odds(Agree::Two), area.odds(Agree::Three)])
        .flatten()
        .collect()
}

/// A game with every kind of wager, bets open.
fn at_the_beginning() -> Machine {
    let mut machine = Machine::new(Settings {
        smallest_chip: ONE_DOLLAR,
        run_out: RunOutWagers::Closed,
        display: Display::Lights,
    });
    for operation in [
        Operation::AcceptSpin { seat: 1 },
        Operation::SpinnerWager {
            side: SIDE,
            stake: STAKE,
        },
        Operation::SpinnerBonus {
            side: SIDE,
            stake: BONUS_STAKE,
        },
        Operation::PlayerWager {
            name: PLAYER.to_owned(),
            side: SIDE,
            stake: STAKE,
            placing: Placing::Chips,
        },
    ] {
        perform(&mut machine, &operation);
    }
    machine
}

fn perform(machine: &mut Machine, operation: &Operation) {
    let answer = machine.perform(operation);
    debug_assert!(answer.is_ok(), "{operation:?}: {answer:?}");
}

fn by_odds(how: &str, outcome: Outcome) -> String {
    match outcome {
        Outcome::Won { odds, .. } => format!("{how}_{}", odds.pays),
        Outcome::Lost | Outcome::Returned => how.to_owned(),
    }
}

/// One valid spin: where each of the eight outcomes leads. Invalid spins decide nothing, so they aren't played. A spinner who has
/// won retires: whether the next game or the run-out decides what is left, the chances are the same.
fn spins(
    from: &Machine,
    watched: &WagerName,
    name: impl Fn(&str, Outcome) -> String,
) -> Vec<(Ratio, Next<Machine, Ending>)> {
    outcomes()
        .into_iter()
        .map(|coins| {
            let mut machine = from.clone();
            if machine.phase() == Phase::Decide {
                perform(&mut machine, &Operation::SpinnerStops);
            }
            perform(&mut machine, &CALL);
            let resolved = machine
                .perform(&Operation::Spin(Spun::of(coins)))
                .map(|done| done.resolved)
                .unwrap_or_default();
            let next = match resolved.into_iter().find(|resolved| resolved.name == *watched) {
                None => Next::Goes(machine),
                Some(resolved) => {
                    let how = match resolved.outcome {
                        Outcome::Won { .. } => "won",
                        Outcome::Lost => "lost",
                        Outcome::Returned => "returned",
                    };
                    let how = name(how, resolved.outcome);
                    Next::Ends(Ending::of(how, resolved.wager.stake, resolved.outcome))
                }
            };
            (Ratio::new(1, 8).unwrap_or(Ratio::ZERO), next)
        })
        .collect()
}
