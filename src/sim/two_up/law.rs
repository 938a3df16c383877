//! What the people at a two-up table know: whose turn it is and what lies on the table, by the law's machine of the game. It
//! stands beside the gateway and never hears of it; the dealer compares.

use crate::rules::two_up::{ONE_DOLLAR, Side};
use crate::rules::{triple_penny, two_up_dice};
use crate::wire::message::Key;
use std::collections::BTreeSet;
use std::fmt::Display;

/// The spinner's wager, in cents: what it is doesn't matter here, that there is one does.
const STAKE: u64 = 500;

/// Where the one spinner sits.
const SEAT: u8 = 1;

/// Which game of two-up is played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TwoUp {
    /// With two dice: Queensland 2004, schedule 13.
    Dice,
    /// With three coins: Queensland 1998, part 21.
    TriplePenny,
}

/// What was spun.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs, reason = "each is the key of the same name")]
pub enum Outcome {
    Heads,
    Tails,
    /// With dice only.
    Odds,
    /// With coins only.
    TripleHeads,
    /// With coins only.
    TripleTails,
}

impl Outcome {
    /// The key that enters it.
    #[must_use]
    pub fn key(self) -> Key {
        match self {
            Outcome::Heads => Key::Heads,
            Outcome::Tails => Key::Tails,
            Outcome::Odds => Key::Odds,
            Outcome::TripleHeads => Key::TripleHeads,
            Outcome::TripleTails => Key::TripleTails,
        }
    }

    /// "triple heads".
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Outcome::Heads => "heads",
            Outcome::Tails => "tails",
            Outcome::Odds => "odds",
            Outcome::TripleHeads => "triple heads",
            Outcome::TripleTails => "triple tails",
        }
    }

    /// Every outcome of a game, as often as it is likely among the ways in which the dice or coins can lie.
    #[must_use]
    pub fn ways(game: TwoUp) -> Vec<Outcome> {
        match game {
            TwoUp::Dice => two_up_dice::outcomes()
                .map(|dice| Outcome::of_dice(two_up_dice::Spun::of(dice)))
                .to_vec(),
            TwoUp::TriplePenny => triple_penny::outcomes()
                .into_iter()
                .map(|coins| Outcome::of_coins(triple_penny::Spun::of(coins)))
                .collect(),
        }
    }

    fn of_dice(spun: two_up_dice::Spun) -> Outcome {
        match spun {
            two_up_dice::Spun::Heads => Outcome::Heads,
            two_up_dice::Spun::Tails => Outcome::Tails,
            two_up_dice::Spun::Odds => Outcome::Odds,
        }
    }

    fn of_coins(spun: triple_penny::Spun) -> Outcome {
        match spun {
            triple_penny::Spun::Heads => Outcome::Heads,
            triple_penny::Spun::Tails => Outcome::Tails,
            triple_penny::Spun::TripleHeads => Outcome::TripleHeads,
            triple_penny::Spun::TripleTails => Outcome::TripleTails,
        }
    }

    fn dice(self) -> Option<two_up_dice::Spun> {
        let found = |spun: &two_up_dice::Spun| Outcome::of_dice(*spun) == self;
        two_up_dice::Spun::ALL.into_iter().find(found)
    }

    fn coins(self) -> Option<triple_penny::Spun> {
        let found = |spun: &triple_penny::Spun| Outcome::of_coins(*spun) == self;
        triple_penny::Spun::ALL.into_iter().find(found)
    }
}

/// Something that people at the table do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// A player takes dice or coins and wagers on this side.
    Accept(Side),
    /// All decline.
    Decline,
    /// "No more bets."
    Call,
    /// A valid spin.
    Spun(Outcome),
    /// "No spin."
    Invalid,
    /// The "no spin" was an error; this is what was spun.
    Overrule(Outcome),
    /// So many dice or coins are gone; the spin is invalid.
    Gone(u8),
    /// One that was gone is found, and is good.
    Found,
    /// A new set.
    NewSet,
    /// The spinner goes on with a new game and wagers on this side; whoever spins for everyone has none.
    Continue(Side),
    /// The spinner gives up.
    Stop,
    /// The spinner has to stop.
    Relieve,
}

/// Whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// Dice or coins are offered.
    Select,
    /// Bets are open.
    Betting,
    /// They are spun.
    Closed,
    /// The spinner has to choose, after three invalid spins.
    Choice,
    /// A player may go on.
    PlayerDecides,
    /// The dealer or boxer, who spun for everyone, may go on.
    HouseDecides,
}

/// Whether an act ended the game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Game {
    /// It goes on, or there was none.
    GoesOn,
    /// It is decided.
    Ended,
}

/// The law's machine of either game.
#[derive(Clone, Debug)]
enum Machine {
    Dice(two_up_dice::machine::Machine),
    Coins(triple_penny::machine::Machine),
}

/// What the people at the table know.
#[derive(Clone, Debug)]
pub struct Law {
    machine: Machine,
}

impl Law {
    /// A table that has just opened.
    #[must_use]
    pub fn new(game: TwoUp) -> Law {
        let machine = match game {
            TwoUp::Dice => Machine::Dice(two_up_dice::machine::Machine::new(two_up_dice::machine::Settings {
                smallest_chip: ONE_DOLLAR,
                first_three: two_up_dice::machine::FirstThree::ComesBack,
            })),
            TwoUp::TriplePenny => {
                Machine::Coins(triple_penny::machine::Machine::new(triple_penny::machine::Settings {
                    smallest_chip: ONE_DOLLAR,
                    run_out: triple_penny::machine::RunOutWagers::Closed,
                    display: triple_penny::Display::Lights,
                }))
            }
        };
        Law { machine }
    }

    /// Whose turn it is.
    #[must_use]
    pub fn turn(&self) -> Turn {
        match &self.machine {
            Machine::Dice(machine) => {
                use two_up_dice::machine::{Phase, Spins};
                match (machine.phase(), machine.spins()) {
                    (Phase::Select, _) => Turn::Select,
                    (Phase::Betting, _) => Turn::Betting,
                    (Phase::Closed, _) => Turn::Closed,
                    (Phase::Decide, Some(Spins::Player(_) | Spins::DealerFor(_))) => Turn::PlayerDecides,
                    (Phase::Decide, Some(Spins::Dealer) | None) => Turn::HouseDecides,
                }
            }
            Machine::Coins(machine) => {
                use triple_penny::machine::{Phase, Spins};
                match (machine.phase(), machine.spins()) {
                    (Phase::Select, _) => Turn::Select,
                    (Phase::Betting, _) => Turn::Betting,
                    (Phase::Closed, _) => Turn::Closed,
                    (Phase::Choice, _) => Turn::Choice,
                    (Phase::Decide, Some(Spins::Player(_) | Spins::BoxerFor(_))) => Turn::PlayerDecides,
                    (Phase::Decide, Some(Spins::Boxer | Spins::RunOut) | None) => Turn::HouseDecides,
                }
            }
        }
    }

    /// The boxer spins out what lies in the bonus area.
    #[must_use]
    pub fn is_run_out(&self) -> bool {
        match &self.machine {
            Machine::Dice(_) => false,
            Machine::Coins(machine) => machine.spins() == Some(triple_penny::machine::Spins::RunOut),
        }
    }

    /// Bits of the lights that must be lit, no other may.
    #[must_use]
    pub fn lights(&self) -> BTreeSet<u32> {
        match &self.machine {
            Machine::Dice(machine) => machine
                .lights()
                .into_iter()
                .map(|light| u32::from(light.bit()))
                .collect(),
            Machine::Coins(machine) => machine.shown().map(coin_lights).unwrap_or_default(),
        }
    }

    /// Does it.
    ///
    /// # Errors
    /// Why the law doesn't let it happen; nothing has changed then.
    pub fn perform(&mut self, act: Act) -> Result<Game, String> {
        let before = self.clone();
        let done = match &mut self.machine {
            Machine::Dice(machine) => perform_with_dice(machine, act),
            Machine::Coins(machine) => perform_with_coins(machine, act),
        };
        if done.is_err() {
            *self = before;
        }
        done
    }
}

/// As many lights of the side as coins show it; they stay until the next valid result.
fn coin_lights(spun: triple_penny::Spun) -> BTreeSet<u32> {
    match spun {
        triple_penny::Spun::Heads => [0, 1].into(),
        triple_penny::Spun::TripleHeads => [0, 1, 2].into(),
        triple_penny::Spun::Tails => [3, 4].into(),
        triple_penny::Spun::TripleTails => [3, 4, 5].into(),
    }
}

fn perform_with_dice(machine: &mut two_up_dice::machine::Machine, act: Act) -> Result<Game, String> {
    use two_up_dice::InvalidReason;
    use two_up_dice::machine::{Done, Operation, Role};
    let mut perform = |operation: Operation| machine.perform(&operation).map_err(refused);
    let invalid = |reason, lost| Operation::Invalid {
        reason,
        by: Role::Dealer,
        lost,
    };
    let wager = |side| Operation::SpinnerWager { side, stake: STAKE };
    let spun = |outcome: Outcome| outcome.dice().ok_or_else(|| not_spun(outcome));
    let done: Done = match act {
        Act::Accept(side) => perform(Operation::AcceptSpin { seat: SEAT }).and_then(|_| perform(wager(side)))?,
        Act::Decline => perform(Operation::AllDecline)?,
        Act::Call => perform(Operation::NoMoreBets)?,
        Act::Spun(outcome) => perform(Operation::Spin(spun(outcome)?))?,
        Act::Invalid => perform(invalid(InvalidReason::DealerDiscretion, 0))?,
        Act::Overrule(outcome) => perform(Operation::Overrule {
            spun: spun(outcome)?,
            by: Role::KeyEmployee,
        })?,
        Act::Gone(lost) => perform(invalid(InvalidReason::OffTable, lost))?,
        Act::Found => perform(Operation::DiceFound { dice: 1 })?,
        Act::NewSet => perform(Operation::NewSet)?,
        Act::Continue(side) => {
            let goes_on = perform(Operation::SpinnerContinues)?;
            // A dealer who spins for everyone has no wager.
            perform(wager(side)).unwrap_or(goes_on)
        }
        Act::Stop => perform(Operation::SpinnerStops)?,
        Act::Relieve => perform(Operation::Relieve { by: Role::Dealer })?,
    };
    Ok(ended(done.game_end))
}

fn perform_with_coins(machine: &mut triple_penny::machine::Machine, act: Act) -> Result<Game, String> {
    use triple_penny::InvalidReason;
    use triple_penny::machine::{Called, Choice, Done, Ground, Kip, Operation, Phase, Role};
    let choosing = machine.phase() == Phase::Choice;
    if act == Act::Call {
        place_players_wagers(machine);
    }
    let mut perform = |operation: Operation| machine.perform(&operation).map_err(refused);
    let invalid = |reason| Operation::Invalid {
        reason,
        by: Role::Boxer,
        called: Called::AtRest,
    };
    let wager = |side| Operation::SpinnerWager { side, stake: STAKE };
    let spun = |outcome: Outcome| outcome.coins().ok_or_else(|| not_spun(outcome));
    let done: Done = match act {
        Act::Accept(side) => perform(Operation::AcceptSpin { seat: SEAT }).and_then(|_| perform(wager(side)))?,
        Act::Decline => perform(Operation::BoxerDirected { by: Role::FloorManager })?,
        Act::Call => perform(Operation::NoMoreBets { kip: Kip::Mixed })?,
        Act::Spun(outcome) => perform(Operation::Spin(spun(outcome)?))?,
        Act::Invalid => perform(invalid(InvalidReason::TooLow))?,
        Act::Overrule(_) => return Err("with coins nobody overrules a \"no spin\"".to_owned()),
        Act::Gone(coins) => perform(invalid(InvalidReason::OutsideRing))
            .and_then(|done| perform(Operation::CoinsLost { coins }).map(|_| done))?,
        Act::Found => perform(Operation::CoinsFound { coins: 1 })?,
        Act::NewSet => perform(Operation::NewSet)?,
        Act::Continue(side) => {
            let goes_on = perform(Operation::SpinnerContinues)?;
            perform(wager(side)).unwrap_or(goes_on)
        }
        Act::Stop if choosing => perform(Operation::Choose(Choice::Retire))?,
        Act::Stop => perform(Operation::SpinnerStops)?,
        Act::Relieve if choosing => perform(Operation::Choose(Choice::Boxer))?,
        Act::Relieve => perform(Operation::DirectBoxer {
            ground: Ground::UnableOrUnwilling,
            by: Role::FloorManager,
        })?,
    };
    Ok(ended(done.game_end))
}

/// Before each call players wager on both sides, as far as the law lets them: a triple then leaves something in the bonus area. While
/// the boxer spins for everyone nobody does, so that his games are of one spin.
fn place_players_wagers(machine: &mut triple_penny::machine::Machine) {
    use triple_penny::machine::{Operation, Placing, Spins};
    if machine.spins() == Some(Spins::Boxer) {
        return;
    }
    for side in Side::ALL {
        let wager = Operation::PlayerWager {
            name: side.name().to_owned(),
            side,
            stake: STAKE,
            placing: Placing::Chips,
        };
        // Those of the spin before may lie there still; in a run-out there are no new ones.
        let _lies_there = machine.perform(&wager);
    }
}

fn ended<End>(end: Option<End>) -> Game {
    match end {
        Some(_) => Game::Ended,
        None => Game::GoesOn,
    }
}

fn refused(refusal: impl Display) -> String {
    refusal.to_string()
}

fn not_spun(outcome: Outcome) -> String {
    format!("{} is nothing that this game can show", outcome.words())
}
