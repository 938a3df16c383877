//! The table against the law's own machine: the same acts in the same order, drawn at random. What the one takes the other takes;
//! phases, counts, lights, spinners and lost dice are the same after every act.
//!
//! The table sees no players' wagers. Where coins lie in the bonus area only people know, so the law's machine is played twice: with
//! players who always wager on both sides, and without any.

use crate::scene::{Scene, coins, dice};
use proptest::prelude::*;
use std::collections::BTreeSet;
use tablegate::rules::triple_penny::{self, machine as coins_law};
use tablegate::rules::two_up::Side;
use tablegate::rules::two_up_dice::{self, machine as dice_law};
use tablegate::table::input::{DiceOff, OperatorAct, Outcome, Replacement};

const STAKE: u64 = 500;

#[derive(Clone, Copy, Debug)]
enum Act {
    Spinner(Side),
    SpinnerAlone,
    DealerSpins,
    Continues(Side),
    Bell,
    Spin(Outcome),
    Invalid,
    Overrule(Outcome),
    Stops,
    Relieve,
    OffTable(DiceOff),
    NewSet(Replacement),
    Restart,
}

fn side() -> impl Strategy<Value = Side> {
    prop_oneof![Just(Side::Heads), Just(Side::Tails)]
}

fn act(outcomes: &'static [Outcome]) -> impl Strategy<Value = Act> {
    let outcome = proptest::sample::select(outcomes);
    prop_oneof![
        3 => side().prop_map(Act::Spinner),
        1 => Just(Act::SpinnerAlone),
        2 => Just(Act::DealerSpins),
        3 => side().prop_map(Act::Continues),
        12 => Just(Act::Bell),
        12 => outcome.clone().prop_map(Act::Spin),
        5 => Just(Act::Invalid),
        2 => outcome.prop_map(Act::Overrule),
        2 => Just(Act::Stops),
        2 => Just(Act::Relieve),
        1 => prop_oneof![Just(DiceOff::One), Just(DiceOff::Two)].prop_map(Act::OffTable),
        2 => prop_oneof![Just(Replacement::Due), Just(Replacement::Found)].prop_map(Act::NewSet),
        1 => Just(Act::Restart),
    ]
}

fn count(dice: DiceOff) -> u8 {
    match dice {
        DiceOff::One => 1,
        DiceOff::Two => 2,
        DiceOff::Three => 3,
    }
}

/// Does the act at the table, as a supervisor by command.
fn at_the_table(scene: &mut Scene, act: Act) -> Result<(), String> {
    scene.wait(1000);
    let act = match act {
        Act::Spinner(side) => OperatorAct::Spinner { side: Some(side) },
        Act::SpinnerAlone => OperatorAct::Spinner { side: None },
        Act::DealerSpins => OperatorAct::DealerSpins,
        Act::Continues(side) => OperatorAct::Continues { side },
        Act::Bell => OperatorAct::NoMoreBets,
        Act::Spin(outcome) => OperatorAct::Spin { outcome },
        Act::Invalid => OperatorAct::Invalid { reason: None },
        Act::Overrule(outcome) => OperatorAct::Overrule { outcome },
        Act::Stops => OperatorAct::SpinnerStops,
        Act::Relieve => OperatorAct::Relieve,
        Act::OffTable(dice) => OperatorAct::OffTable { dice },
        Act::NewSet(from) => OperatorAct::NewSet { from },
        Act::Restart => {
            scene.restart();
            return Ok(());
        }
    };
    scene.act(act).map(|_| ())
}

fn dice_spun(outcome: Outcome) -> two_up_dice::Spun {
    two_up_dice::Spun::from_name(outcome.name()).unwrap()
}

/// The same by the law; operations that must all be taken, or none.
fn by_the_dice_law(machine: &mut dice_law::Machine, act: Act) -> Result<(), String> {
    use dice_law::{Operation, Phase, Role, Spins};
    let phase = machine.phase();
    let no_wager = machine.spinner_wager().is_none();
    let wager = |side| Operation::SpinnerWager { side, stake: STAKE };
    let of_dealer = phase == Phase::Decide && machine.spins() == Some(Spins::Dealer);
    let operations = match act {
        Act::Spinner(side) => match phase {
            // A free wager is placed anew by the same command.
            Phase::Betting if machine.spins() == Some(Spins::Player(1)) => vec![wager(side)],
            Phase::Decide if of_dealer => {
                vec![Operation::SpinnerStops, Operation::AcceptSpin { seat: 1 }, wager(side)]
            }
            _ => vec![Operation::AcceptSpin { seat: 1 }, wager(side)],
        },
        Act::SpinnerAlone if of_dealer => vec![Operation::SpinnerStops, Operation::AcceptSpin { seat: 1 }],
        Act::SpinnerAlone => vec![Operation::AcceptSpin { seat: 1 }],
        Act::DealerSpins if of_dealer => vec![Operation::SpinnerContinues],
        Act::DealerSpins => vec![Operation::AllDecline],
        Act::Continues(side) if phase == Phase::Betting && no_wager => vec![wager(side)],
        Act::Continues(side) => vec![Operation::SpinnerContinues, wager(side)],
        Act::Bell => vec![Operation::NoMoreBets],
        Act::Spin(outcome) => vec![Operation::Spin(dice_spun(outcome))],
        Act::Invalid => {
            let reason = two_up_dice::InvalidReason::DealerDiscretion;
            let by = Role::Dealer;
            vec![Operation::Invalid { reason, by, lost: 0 }]
        }
        Act::Overrule(outcome) => {
            let by = Role::KeyEmployee;
            vec![Operation::Overrule {
                spun: dice_spun(outcome),
                by,
            }]
        }
        Act::Stops => vec![Operation::SpinnerStops],
        Act::Relieve => vec![Operation::Relieve { by: Role::Dealer }],
        Act::OffTable(dice) => {
            let reason = two_up_dice::InvalidReason::OffTable;
            let by = Role::Dealer;
            vec![Operation::Invalid {
                reason,
                by,
                lost: count(dice),
            }]
        }
        Act::NewSet(Replacement::Due) if machine.dice_missing() == 1 => vec![Operation::DiceFound { dice: 1 }],
        Act::NewSet(Replacement::Due) => vec![Operation::NewSet],
        Act::NewSet(Replacement::Found) => vec![Operation::DiceFound {
            dice: machine.dice_missing(),
        }],
        Act::Restart => vec![],
    };
    let mut next = machine.clone();
    for operation in &operations {
        next.perform(operation)
            .map_err(|refusal| format!("{operation:?}: {refusal}"))?;
    }
    *machine = next;
    Ok(())
}

fn dice_words(machine: &dice_law::Machine) -> (&'static str, Option<&'static str>, u8, Vec<String>) {
    let phase = match machine.phase() {
        dice_law::Phase::Select => "select",
        dice_law::Phase::Betting => "betting",
        dice_law::Phase::Closed => "closed",
        dice_law::Phase::Decide => "decide",
    };
    let spinner = machine.spins().map(|spins| match spins {
        dice_law::Spins::Dealer => "dealer",
        dice_law::Spins::Player(_) => "player",
        dice_law::Spins::DealerFor(_) => "dealer_for_player",
    });
    let lit = machine.lights().into_iter().map(two_up_dice::Light::name).collect();
    (phase, spinner, machine.dice_missing(), lit)
}

/// Where the coins' machine is, in the table's words. While wagers lie in the bonus area after a game, the table waits for people to
/// say so: it is where it was before the boxer's next spin.
fn coins_words(machine: &coins_law::Machine) -> (&'static str, Option<&'static str>, u8, Option<&'static str>) {
    use coins_law::{Phase, Spins};
    let open = machine.bonus_area().next().is_some();
    let (phase, spinner) = match (machine.phase(), machine.spins()) {
        (Phase::Betting, Some(Spins::RunOut)) => ("select", None),
        (Phase::Betting, Some(Spins::Boxer)) if open => ("decide", Some("dealer")),
        (phase, spins) => {
            let phase = match phase {
                Phase::Select => "select",
                Phase::Betting => "betting",
                Phase::Closed => "closed",
                Phase::Choice => "choice",
                Phase::Decide => "decide",
            };
            let spinner = spins.map(|spins| match spins {
                Spins::Boxer => "dealer",
                Spins::Player(_) => "player",
                Spins::BoxerFor(_) => "dealer_for_player",
                Spins::RunOut => "run_out",
            });
            (phase, spinner)
        }
    };
    (
        phase,
        spinner,
        machine.coins_missing(),
        machine.shown().map(triple_penny::Spun::name),
    )
}

fn wager_on_both_sides(machine: &mut coins_law::Machine, at: usize) {
    for side in Side::ALL {
        let wager = coins_law::Operation::PlayerWager {
            name: format!("{}_{at}", side.name()),
            side,
            stake: STAKE,
            placing: coins_law::Placing::Chips,
        };
        // Refused where nobody may wager.
        let _ = machine.perform(&wager);
    }
}

/// What people would do who know that wagers lie in the bonus area is ring the bell, nothing else.
fn is_out_of_character(machine: &coins_law::Machine, act: Act) -> bool {
    use coins_law::{Phase, Spins};
    let open = machine.bonus_area().next().is_some();
    let runs_out = machine.spins() == Some(Spins::RunOut);
    let boxer_goes_on = machine.phase() == Phase::Betting && machine.spins() == Some(Spins::Boxer) && open;
    let waits = machine.phase() == Phase::Betting && (runs_out || boxer_goes_on);
    let spun_out = machine.phase() == Phase::Closed && (runs_out || (machine.spins() == Some(Spins::Boxer) && open));
    let says_there_is_none = matches!(act, Act::Spinner(_) | Act::SpinnerAlone | Act::DealerSpins);
    (waits && !matches!(act, Act::Bell | Act::NewSet(_) | Act::Restart | Act::Spin(_)))
        || (spun_out && says_there_is_none)
}

fn by_the_coins_law(machine: &mut coins_law::Machine, act: Act) -> Result<(), String> {
    use coins_law::{Called, Choice, Ground, Kip, Operation, Phase, Role, Spins};
    let phase = machine.phase();
    let no_wager = machine.spinner_wager().is_none();
    let wager = |side| Operation::SpinnerWager { side, stake: STAKE };
    let of_boxer = phase == Phase::Decide && machine.spins() == Some(Spins::Boxer);
    let invalid = || Operation::Invalid {
        reason: triple_penny::InvalidReason::OutsideRing,
        by: Role::Boxer,
        called: Called::InFlight,
    };
    let operations = match act {
        Act::Spinner(side) => match phase {
            Phase::Betting if machine.spins() == Some(Spins::Player(1)) && no_wager => vec![wager(side)],
            // The table says so before the first call; here it is taken back first.
            Phase::Betting if machine.spins() == Some(Spins::Player(1)) => {
                vec![Operation::WithdrawSpinnerWager, wager(side)]
            }
            _ if of_boxer => vec![Operation::SpinnerStops, Operation::AcceptSpin { seat: 1 }, wager(side)],
            _ => vec![Operation::AcceptSpin { seat: 1 }, wager(side)],
        },
        Act::SpinnerAlone if of_boxer => vec![Operation::SpinnerStops, Operation::AcceptSpin { seat: 1 }],
        Act::SpinnerAlone => vec![Operation::AcceptSpin { seat: 1 }],
        Act::DealerSpins if of_boxer => vec![Operation::SpinnerContinues],
        Act::DealerSpins => vec![Operation::BoxerDirected { by: Role::FloorManager }],
        Act::Continues(side) if phase == Phase::Betting && no_wager => vec![wager(side)],
        Act::Continues(side) => vec![Operation::SpinnerContinues, wager(side)],
        Act::Bell => vec![Operation::NoMoreBets { kip: Kip::Mixed }],
        Act::Spin(outcome) => vec![Operation::Spin(triple_penny::Spun::from_name(outcome.name()).unwrap())],
        Act::Invalid => vec![invalid()],
        Act::Overrule(_) => return Err("nobody overrules".into()),
        Act::Stops if phase == Phase::Choice => vec![Operation::Choose(Choice::Retire)],
        Act::Stops => vec![Operation::SpinnerStops],
        Act::Relieve if phase == Phase::Choice => vec![Operation::Choose(Choice::Boxer)],
        Act::Relieve => {
            // By the first ground that is there.
            let by = Role::FloorManager;
            let ground = Ground::ALL.into_iter().find(|ground| {
                let operation = Operation::DirectBoxer { ground: *ground, by };
                machine.clone().perform(&operation).is_ok()
            });
            match ground {
                Some(ground) => vec![Operation::DirectBoxer { ground, by }],
                None => return Err("no ground".into()),
            }
        }
        Act::OffTable(dice) => vec![invalid(), Operation::CoinsLost { coins: count(dice) }],
        Act::NewSet(Replacement::Due) if machine.coins_missing() == 1 => vec![Operation::CoinsFound { coins: 1 }],
        Act::NewSet(Replacement::Due) => vec![Operation::NewSet],
        Act::NewSet(Replacement::Found) => vec![Operation::CoinsFound {
            coins: machine.coins_missing(),
        }],
        Act::Restart => vec![],
    };
    let mut next = machine.clone();
    for operation in &operations {
        next.perform(operation)
            .map_err(|refusal| format!("{operation:?}: {refusal}"))?;
    }
    *machine = next;
    Ok(())
}

const OF_DICE: &[Outcome] = &[Outcome::Heads, Outcome::Tails, Outcome::Odds];
const OF_COINS: &[Outcome] = &[
    Outcome::Heads,
    Outcome::Tails,
    Outcome::TripleHeads,
    Outcome::TripleTails,
];

fn spinner_at(scene: &Scene) -> Option<String> {
    scene.table.situation().two_up.unwrap().spinner
}

fn missing_at(scene: &Scene) -> u8 {
    scene.table.situation().two_up.unwrap().missing as u8
}

/// Names of the lights of a picture of coins: as many as agree.
fn coin_lights(shown: Option<&str>) -> BTreeSet<String> {
    let names: &[&str] = match shown {
        None => &[],
        Some("heads") => &["heads_1", "heads_2"],
        Some("tails") => &["tails_1", "tails_2"],
        Some("triple_heads") => &["heads_1", "heads_2", "heads_3"],
        Some("triple_tails") => &["tails_1", "tails_2", "tails_3"],
        Some(other) => panic!("{other}"),
    };
    names.iter().map(|name| (*name).to_string()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn dice_do_at_the_table_what_the_law_says(acts in proptest::collection::vec(act(OF_DICE), 1..80)) {
        let mut scene = Scene::new(dice());
        scene.open();
        let mut machine = dice_law::Machine::new(dice_law::Settings {
            smallest_chip: tablegate::rules::two_up::ONE_DOLLAR,
            first_three: dice_law::FirstThree::ComesBack,
        });
        for (n, act) in acts.iter().copied().enumerate() {
            // Dice that aren't found after a "no spin" are told with it by the law, and afterwards at the table.
            if matches!(act, Act::OffTable(_)) && machine.phase() != dice_law::Phase::Closed {
                continue;
            }
            let table = at_the_table(&mut scene, act);
            let law = by_the_dice_law(&mut machine, act);
            prop_assert_eq!(table.is_ok(), law.is_ok(), "act {} {:?}: table {:?}, law {:?}", n, act, table, law);
            let (phase, spinner, missing, lit) = dice_words(&machine);
            prop_assert_eq!(scene.phase(), phase, "act {} {:?}", n, act);
            prop_assert_eq!(spinner_at(&scene), spinner.map(str::to_string), "act {} {:?}", n, act);
            prop_assert_eq!(missing_at(&scene), missing);
            prop_assert_eq!(scene.lit(), lit, "act {} {:?}", n, act);
        }
        scene.recover();
    }

    #[test]
    fn coins_do_at_the_table_what_the_law_says(
        acts in proptest::collection::vec(act(OF_COINS), 1..80),
        players: bool,
    ) {
        let mut scene = Scene::new(coins());
        scene.open();
        let mut machine = coins_law::Machine::new(coins_law::Settings {
            smallest_chip: tablegate::rules::two_up::ONE_DOLLAR,
            run_out: coins_law::RunOutWagers::Closed,
            display: triple_penny::Display::Lights,
        });
        for (n, act) in acts.iter().copied().enumerate() {
            if matches!(act, Act::OffTable(_)) && machine.phase() != coins_law::Phase::Closed {
                continue;
            }
            let nothing_runs = matches!(machine.phase(), coins_law::Phase::Select | coins_law::Phase::Decide);
            if matches!(act, Act::Bell) && nothing_runs {
                // Nobody rings for wagers that aren't there.
                continue;
            }
            if players && is_out_of_character(&machine, act) {
                continue;
            }
            if players && matches!(act, Act::Bell) {
                wager_on_both_sides(&mut machine, n);
            }
            let table = at_the_table(&mut scene, act);
            let law = by_the_coins_law(&mut machine, act);
            prop_assert_eq!(table.is_ok(), law.is_ok(), "act {} {:?}: table {:?}, law {:?}", n, act, table, law);
            let (phase, spinner, missing, shown) = coins_words(&machine);
            prop_assert_eq!(scene.phase(), phase, "act {} {:?}", n, act);
            prop_assert_eq!(spinner_at(&scene), spinner.map(str::to_string), "act {} {:?}", n, act);
            prop_assert_eq!(missing_at(&scene), missing);
            let lit: BTreeSet<String> = scene.lit().into_iter().collect();
            prop_assert_eq!(lit, coin_lights(shown), "act {} {:?}", n, act);
        }
        scene.recover();
    }
}
