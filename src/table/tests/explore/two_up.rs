//! Two-up with dice, and with coins, explored.

use super::dice::{condition, supervisor, technician, unlock};
use super::law::Law;
use super::search::{Crew, Game};
use super::two_up_law::{Spun, Stage, TwoUpLaw, Who};
use super::world::{Act, CONNECTIONS, Shown, World};
use crate::rules::two_up::Side;
use crate::rules::{triple_penny, two_up_dice};
use crate::table::event::{Mode, OpeningCheck, SpinInvalidatedReason};
use crate::table::incident::IncidentCause;
use crate::table::input::{
    Condition, Contact, Cover, DeviceKind, DiceOff, Input, Key, LightSeen, OperatorAct, Outcome, Replacement, Role,
    TwoUpKey,
};
use crate::table::{Approval, GameConfig, MisKeyed, TableConfig, TriplePennyConfig, TwoUpDiceConfig};
use std::time::Duration;

const KINDS: &[DeviceKind] = &[DeviceKind::ResultLights, DeviceKind::Terminal];

const fn key(key: TwoUpKey) -> Key {
    Key::TwoUp(key)
}

const HEADS: &[Key] = &[key(TwoUpKey::Heads)];
const TAILS: &[Key] = &[key(TwoUpKey::Tails)];
const ODDS: &[Key] = &[key(TwoUpKey::Odds)];
const TRIPLE_HEADS: &[Key] = &[key(TwoUpKey::TripleHeads)];
const TRIPLE_TAILS: &[Key] = &[key(TwoUpKey::TripleTails)];
const NO_SPIN: &[Key] = &[Key::NoSpin];
const PLAYER: &[Key] = &[key(TwoUpKey::NewSpinner), key(TwoUpKey::Heads)];
const PLAYER_ON_ODDS: &[Key] = &[key(TwoUpKey::NewSpinner), key(TwoUpKey::Odds)];
const DEALER: &[Key] = &[key(TwoUpKey::NewSpinner)];
const STOPS: &[Key] = &[key(TwoUpKey::SpinnerStops)];
const RELIEVE: &[Key] = &[key(TwoUpKey::Relieve)];
const OFF: &[Key] = &[key(TwoUpKey::OffTable)];
const BOTH_OFF: &[Key] = &[key(TwoUpKey::OffTable), key(TwoUpKey::OffTable)];
const NEW_SET: &[Key] = &[key(TwoUpKey::NewSet)];
const OVERRULE_HEADS: &[Key] = &[key(TwoUpKey::Overrule), key(TwoUpKey::Heads)];
const OVERRULE: &[Key] = &[key(TwoUpKey::Overrule)];
const TWO_RESULTS: &[Key] = &[key(TwoUpKey::Heads), key(TwoUpKey::Tails)];
const UNKNOWN: &[Key] = &[Key::Other(99), key(TwoUpKey::Heads)];

/// The game with dice.
pub struct Dice;

/// The game with coins, its results shown by lights.
pub struct Coins;

fn results(spun: Spun) -> Vec<&'static [Key]> {
    match spun {
        Spun::Dice => vec![HEADS, TAILS, ODDS],
        Spun::Coins => vec![HEADS, TAILS, TRIPLE_HEADS],
    }
}

fn alphabet(spun: Spun) -> Vec<Act> {
    let mut acts = vec![
        Act::NextDeadline,
        Act::Wait(350),
        Act::Wait(3_200),
        Act::Bell,
        Act::LampsFollow,
        Act::Up(DeviceKind::Terminal),
        Act::Up(DeviceKind::ResultLights),
        Act::Enter,
        Act::Key(key(TwoUpKey::Heads)),
        Act::EnterMore(key(TwoUpKey::Tails)),
        Act::StaleKey(key(TwoUpKey::Heads)),
        Act::OldKey(key(TwoUpKey::Heads)),
        Act::BellLate(400),
        Act::BellLate(1_500),
        Act::Press(Contact::NoSpinButton),
        Act::Turn(Contact::SupervisorKey),
        Act::Turn(Contact::CabinetDoor),
        Act::LampsAcknowledge,
        Act::LampsShow(Shown::Right),
        Act::LampsShow(Shown::OneMissing),
        Act::LampsShow(Shown::OneMore(10)),
        Act::LampsShow(Shown::All),
        Act::LampsMeasure,
        Act::TerminalTells,
        Act::Clocks,
        Act::Restart,
        Act::StopAndStart,
        condition(Condition::DiskLow, true),
        condition(Condition::DiskLow, false),
        condition(Condition::JournalFailed, true),
        condition(Condition::JournalFailed, false),
        unlock(),
    ];
    acts.extend(CONNECTIONS.map(|connection| Act::Comes(Input::OperatorGone { connection })));
    for kind in KINDS {
        acts.extend([Act::Down(*kind), Act::UpAnew(*kind)]);
    }
    let entries = [
        NO_SPIN,
        PLAYER,
        PLAYER_ON_ODDS,
        DEALER,
        STOPS,
        RELIEVE,
        OFF,
        BOTH_OFF,
        NEW_SET,
        OVERRULE_HEADS,
        OVERRULE,
        TWO_RESULTS,
        UNKNOWN,
        ODDS,
        TRIPLE_TAILS,
    ];
    let mut all: Vec<&'static [Key]> = results(spun);
    all.extend(entries.into_iter().filter(|entry| !results(spun).contains(entry)));
    acts.extend(all.into_iter().map(Act::KeysIn));
    acts.extend(commands());
    acts
}

fn commands() -> Vec<Act> {
    let light = |seen| OperatorAct::ReportLight {
        light: "heads_1".into(),
        seen,
    };
    let check = |check, passed| OperatorAct::RecordCheck {
        check,
        passed,
        text: "seen".into(),
    };
    let mut acts: Vec<Act> = vec![
        OperatorAct::Spinner { side: None },
        OperatorAct::Spinner {
            side: Some(Side::Tails),
        },
        OperatorAct::DealerSpins,
        OperatorAct::Continues { side: Side::Tails },
        OperatorAct::NoMoreBets,
        OperatorAct::Spin {
            outcome: Outcome::Tails,
        },
        OperatorAct::CorrectOutcome {
            outcome: Outcome::Tails,
        },
        OperatorAct::Invalid { reason: None },
        OperatorAct::Invalid {
            reason: Some(SpinInvalidatedReason::BothHands),
        },
        OperatorAct::Overrule {
            outcome: Outcome::Tails,
        },
        OperatorAct::SpinnerStops,
        OperatorAct::Relieve,
        OperatorAct::OffTable { dice: DiceOff::Two },
        OperatorAct::NewSet {
            from: Replacement::Found,
        },
        light(LightSeen::Failed),
        light(LightSeen::Works),
        OperatorAct::Void { reason: None },
        OperatorAct::Resume,
        OperatorAct::Close,
        OperatorAct::OpenVouched,
        OperatorAct::Lock { reason: "audit".into() },
        OperatorAct::RecordIncident {
            cause: IncidentCause::Other,
            note: Some("chip".into()),
        },
        OperatorAct::BeginOpening,
        OperatorAct::WalkLamps,
        check(OpeningCheck::LampWalk, true),
        check(OpeningCheck::Dice, false),
        OperatorAct::CompleteOpening,
        OperatorAct::AbandonOpening,
    ]
    .into_iter()
    .map(supervisor)
    .collect();
    acts.extend([OperatorAct::EnterTest, OperatorAct::LeaveTest].map(technician));
    acts
}

fn is_ordinary(law: &TwoUpLaw, act: &Act) -> bool {
    let open = law.ground.mode == Mode::Open;
    let next = |stages: &[Stage]| open && !law.waits() && stages.contains(&law.stage);
    match act {
        Act::NextDeadline | Act::Wait(350 | 3_200) | Act::Up(_) | Act::LampsFollow => true,
        Act::Bell => next(&[Stage::Betting]),
        Act::KeysIn(keys) if [HEADS, TAILS, ODDS, TRIPLE_HEADS].contains(keys) => next(&[Stage::Closed]),
        Act::KeysIn(NO_SPIN) => next(&[Stage::Closed]),
        Act::KeysIn(PLAYER) => next(&[Stage::Select]),
        Act::KeysIn(STOPS) => next(&[Stage::Decide, Stage::Choice]),
        Act::Person(Role::Supervisor, act) => match act {
            OperatorAct::OpenVouched => law.ground.mode == Mode::Closed,
            OperatorAct::Resume => law.waits(),
            OperatorAct::Unlock { .. } => !law.ground.locks.is_empty(),
            _ => false,
        },
        _ => false,
    }
}

/// From a start to the first call of a game; then a few results.
fn roots(spun: Spun) -> Vec<Vec<Act>> {
    let opening = vec![
        Act::Up(DeviceKind::ResultLights),
        Act::Up(DeviceKind::Terminal),
        Act::Wait(3_200),
    ];
    let open = [&opening[..], &[supervisor(OperatorAct::OpenVouched)]].concat();
    let with = |acts: &[Act]| [&open[..], acts].concat();
    let spin = |keys: &'static [Key]| {
        let lights = (keys != NO_SPIN).then_some(Act::LampsFollow);
        let acts = [Act::Wait(1_200), Act::Bell, Act::Wait(350), Act::KeysIn(keys)];
        acts.into_iter().chain(lights)
    };
    let game = with(&[Act::KeysIn(PLAYER)]);
    let after = |results: &[&'static [Key]]| {
        let spins = results.iter().flat_map(|keys| spin(keys));
        game.iter().cloned().chain(spins).collect::<Vec<Act>>()
    };
    let of_dealer = |keys| {
        let way = [&open[..], &[Act::KeysIn(DEALER)]].concat();
        way.into_iter().chain(spin(keys)).collect::<Vec<Act>>()
    };
    let called = [&game[..], &[Act::Wait(1_200), Act::Bell]].concat();
    let frozen = |way: &[Act]| [way, &[Act::Turn(Contact::CabinetDoor)]].concat();
    let mut roots = vec![
        opening.clone(),
        open.clone(),
        game.clone(),
        called.clone(),
        frozen(&game),
        frozen(&called),
        with(&[Act::KeysIn(DEALER)]),
        of_dealer(HEADS),
        with(&[supervisor(OperatorAct::Spinner { side: None })]),
        with(&[technician(OperatorAct::EnterTest)]),
        [&opening[..], &[supervisor(OperatorAct::BeginOpening)]].concat(),
        with(&[supervisor(OperatorAct::Lock { reason: "audit".into() })]),
        after(&[HEADS]),
        after(&[HEADS, HEADS]),
        after(&[HEADS, HEADS, HEADS]),
        after(&[TAILS]),
        after(&[NO_SPIN, NO_SPIN]),
        after(&[NO_SPIN, NO_SPIN, NO_SPIN]),
        [&after(&[HEADS])[..], &[Act::Restart]].concat(),
        [
            &after(&[HEADS, HEADS, HEADS])[..],
            &[Act::KeysIn(STOPS), Act::Restart, Act::Up(DeviceKind::Terminal)],
        ]
        .concat(),
    ];
    match spun {
        Spun::Dice => roots.extend([
            after(&[HEADS, ODDS, ODDS]),
            after(&[ODDS, ODDS, ODDS, ODDS]),
            [&called[..], &[Act::KeysIn(BOTH_OFF)]].concat(),
        ]),
        Spun::Coins => roots.extend([
            after(&[TRIPLE_HEADS]),
            after(&[TRIPLE_TAILS]),
            after(&[HEADS, HEADS, TRIPLE_HEADS]),
            [&after(&[TRIPLE_TAILS])[..], &[Act::Wait(1_200), Act::Bell]].concat(),
            of_dealer(TRIPLE_HEADS),
        ]),
    }
    roots
}

fn way_out(law: &TwoUpLaw, world: &World, crew: Crew) -> Vec<Act> {
    let mut acts = Vec::new();
    if crew.supervisor && law.ground.is_frozen() {
        acts.extend([unlock(), supervisor(OperatorAct::Resume)]);
    }
    let by_command = crew.supervisor && crew.dead == Some(DeviceKind::Terminal);
    let result = match law.wager {
        Some(Side::Tails) => (TAILS, Outcome::Tails),
        Some(Side::Heads) | None => (HEADS, Outcome::Heads),
    };
    match law.stage {
        Stage::Select | Stage::Decide => {}
        Stage::Betting => {
            let wants_wager = law.who == Who::Player && law.wager.is_none();
            if by_command {
                if wants_wager {
                    acts.push(supervisor(OperatorAct::Continues { side: Side::Tails }));
                }
                acts.push(supervisor(OperatorAct::NoMoreBets));
                acts.push(supervisor(OperatorAct::NewSet { from: Replacement::Due }));
            } else {
                if wants_wager {
                    acts.push(Act::KeysIn(HEADS));
                }
                acts.extend([Act::Bell, Act::Wait(3_200), Act::KeysIn(NEW_SET)]);
            }
        }
        Stage::Closed if by_command => acts.push(supervisor(OperatorAct::Spin { outcome: result.1 })),
        Stage::Closed => acts.extend([Act::KeysIn(result.0), Act::Wait(3_200)]),
        Stage::Choice if by_command => acts.push(supervisor(OperatorAct::SpinnerStops)),
        Stage::Choice => acts.push(Act::KeysIn(STOPS)),
    }
    acts.extend(
        world
            .kinds
            .iter()
            .filter(|kind| !world.is_up(**kind))
            .map(|kind| Act::Up(*kind)),
    );
    acts.push(Act::NextDeadline);
    acts
}

fn is_the_dealers(law: &TwoUpLaw, world: &World, dead: Option<DeviceKind>) -> bool {
    world.terminal.up && dead != Some(DeviceKind::Terminal) && !law.waits() && world.is_plain()
}

fn config(game: GameConfig) -> TableConfig {
    TableConfig {
        game,
        approval: Approval::NotEnforced,
    }
}

macro_rules! game {
    ($game:ty, $name:literal, $spun:expr, $config:expr) => {
        impl Game for $game {
            type Law = TwoUpLaw;

            fn name(&self) -> &'static str {
                $name
            }

            fn config(&self) -> TableConfig {
                config($config)
            }

            fn law(&self) -> TwoUpLaw {
                TwoUpLaw::new($spun)
            }

            fn world(&self) -> World {
                World::new(KINDS, Cover::Unknown, 11)
            }

            fn alphabet(&self) -> Vec<Act> {
                alphabet($spun)
            }

            fn is_ordinary(&self, law: &TwoUpLaw, _world: &World, act: &Act) -> bool {
                is_ordinary(law, act)
            }

            fn roots(&self) -> Vec<Vec<Act>> {
                roots($spun)
            }

            fn way_out(&self, law: &TwoUpLaw, world: &World, crew: Crew) -> Vec<Act> {
                way_out(law, world, crew)
            }

            fn is_the_dealers(&self, law: &TwoUpLaw, world: &World, dead: Option<DeviceKind>) -> bool {
                is_the_dealers(law, world, dead)
            }
        }
    };
}

game!(
    Dice,
    "two-up with dice",
    Spun::Dice,
    GameConfig::TwoUpDice(TwoUpDiceConfig {
        first_three: two_up_dice::machine::FirstThree::ComesBack,
        mis_keyed: MisKeyed::Correct,
        lamp_wait: Duration::from_secs(1),
    })
);

game!(
    Coins,
    "triple penny two-up",
    Spun::Coins,
    GameConfig::TriplePenny(TriplePennyConfig {
        display: triple_penny::Display::Lights,
        mis_keyed: MisKeyed::Correct,
        lamp_wait: Duration::from_secs(1),
    })
);
