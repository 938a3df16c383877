//! What happens in a seed: the game, how long it is played, and which faults come when. All of it is drawn from the seed, and all of it is
//! data: a plan with a fault left out is a plan too, which is how a failing one shrinks.

use super::devices::Fitting;
use crate::rules::sic_bo::machine::Tumbler as SicBoTumbler;
use crate::rules::tai_sai::{Layout, Style};
use crate::rules::triple_penny::Display;
use crate::rules::two_up_dice::machine::FirstThree;
use crate::sim::{Chance, Faults, Garble, LampsSetup, Reader, TerminalSetup, TumblerSetup};
use crate::table::input::DeviceKind;
use crate::table::{GameConfig, HousePolicy, MisKeyed, SicBoConfig, TaiSaiConfig, TriplePennyConfig, TwoUpDiceConfig};
use std::fmt;
use std::time::Duration;

/// Everything that a seed brings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Also of everything that isn't in the plan: dice, delays, what people do.
    pub seed: u64,
    /// What is played.
    pub game: Game,
    /// Rounds to be played, as far as they can be.
    pub rounds: u32,
    /// What goes wrong, in any order. Any of them can be left out.
    pub faults: Vec<Fault>,
}

/// A game as a table is configured for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Game {
    /// Tai-sai with a covered tumbler.
    TaiSaiA,
    /// Tai-sai with a dice cup.
    TaiSaiB,
    /// Sic-bo with a covered tumbler.
    SicBoCovered,
    /// Sic-bo with an open tumbler.
    SicBoOpen,
    /// Two-up with dice.
    TwoUpDice,
    /// Two-up with three coins, results on lights.
    TriplePenny,
}

/// Something that goes wrong for a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// From here, since the simulation began.
    pub begins: Duration,
    /// For so long. Of a restart of the gateway: how long it is away.
    pub lasts: Duration,
    /// What.
    pub what: What,
}

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// A device's line loses, repeats, flips or delays what passes.
    Line(DeviceKind, Faults),
    /// A device is unplugged.
    Unplugged(DeviceKind),
    /// A device's converter takes nothing of what the gateway writes.
    Stuck(DeviceKind),
    /// A device loses its power for a moment.
    PowerLost(DeviceKind),
    /// The gateway is killed so many steps later.
    Crash {
        /// Steps towards the world.
        steps: u16,
    },
    /// The gateway is stopped cleanly, and started again.
    Restart,
    /// Every write to the disk fails.
    DiskFails,
    /// Every write takes this much longer.
    DiskSlow(Duration),
    /// Writes are not answered.
    DiskHangs,
    /// There is less room than the configuration wants.
    DiskLow,
    /// No broker can be reached.
    BrokerAway,
    /// The broker doesn't let the table in.
    BrokerRefuses,
    /// The broker restarts and knows nothing any more.
    BrokerForgets,
    /// The broker does nothing.
    BrokerStalls,
    /// The connection is cut once.
    BrokerCuts,
    /// Connections are cut after so many percent of publishes.
    BrokerFlaps(u8),
    /// Acknowledgements come late and in any order.
    AcknowledgementsReordered,
    /// So many percent of acknowledgements come twice.
    AcknowledgementsRepeated(u8),
    /// So many percent of acknowledgements never come.
    AcknowledgementsLost(u8),
    /// So many percent of events are over the broker's quota.
    EventsOverQuota(u8),
    /// So many percent of events are not to the broker's taste, ever.
    EventsUnfit(u8),
    /// Last wills leave this much later.
    WillsLate(Duration),
    /// Somebody sets the PC's clock, by so many seconds.
    ClockSet(i32),
    /// A lamp breaks.
    LampDark(u32),
}

/// Most faults of a seed.
const MOST_FAULTS: usize = 5;
/// Most rounds of a seed: short seeds find more in an hour than long ones.
const MOST_ROUNDS: usize = 3;
/// A round takes about this long.
const ROUND: Duration = Duration::from_secs(14);
/// A fault lasts at most this long; most are much shorter.
const LONGEST_MS: usize = 20_000;

impl Plan {
    /// What happens in this seed.
    #[must_use]
    pub fn drawn(seed: u64) -> Self {
        let mut chance = Chance::new(seed ^ 0x0705_1a11_fa17_5eed);
        let game = match chance.below(10) {
            0 | 1 => Game::TaiSaiB,
            2 => Game::SicBoCovered,
            3 => Game::SicBoOpen,
            4 => Game::TwoUpDice,
            5 => Game::TriplePenny,
            _ => Game::TaiSaiA,
        };
        let rounds = u32::try_from(1 + chance.below(MOST_ROUNDS)).unwrap_or(1);
        let span = ROUND.saturating_mul(rounds);
        let faults = (0..chance.below(MOST_FAULTS + 1))
            .map(|_| Fault::drawn(&mut chance, game, span))
            .collect();
        Plan {
            seed,
            game,
            rounds,
            faults,
        }
    }

    /// The same with only these faults, by their numbers, and so many rounds.
    #[must_use]
    pub fn only(&self, faults: &[usize], rounds: u32) -> Self {
        let kept = faults.iter().filter_map(|fault| self.faults.get(*fault));
        Plan {
            rounds,
            faults: kept.copied().collect(),
            ..self.clone()
        }
    }
}

fn ms(chance: &mut Chance, below: usize) -> Duration {
    Duration::from_millis(u64::try_from(chance.below(below)).unwrap_or(0))
}

fn percent(chance: &mut Chance, most: usize) -> u8 {
    u8::try_from(1 + chance.below(most)).unwrap_or(1)
}

impl Fault {
    fn drawn(chance: &mut Chance, game: Game, span: Duration) -> Self {
        let begins = ms(chance, usize::try_from(span.as_millis()).unwrap_or(0));
        // Short ones are as likely as long ones, whatever the scale.
        let most = [200, 2_000, 6_000, LONGEST_MS];
        let most = most.get(chance.below(most.len())).copied().unwrap_or(LONGEST_MS);
        let lasts = Duration::from_millis(50) + ms(chance, most);
        Fault {
            begins,
            lasts,
            what: What::drawn(chance, game),
        }
    }
}

impl What {
    fn drawn(chance: &mut Chance, game: Game) -> Self {
        let devices = game.devices();
        let device = devices.get(chance.below(devices.len())).copied();
        let device = device.unwrap_or(DeviceKind::Terminal);
        match chance.below(29) {
            0..=3 => What::Line(device, spoiled(chance)),
            4 | 5 => What::Unplugged(device),
            6 => What::Stuck(device),
            7 => What::PowerLost(device),
            8..=12 => What::Crash {
                steps: u16::try_from(chance.below(60)).unwrap_or(0),
            },
            13 => What::Restart,
            14 => What::DiskFails,
            15 => What::DiskSlow(ms(chance, 3_000)),
            16 => What::DiskHangs,
            17 => What::DiskLow,
            18 => What::BrokerAway,
            19 => What::BrokerRefuses,
            20 => What::BrokerForgets,
            21 => What::BrokerStalls,
            22 => What::BrokerCuts,
            23 => What::BrokerFlaps(percent(chance, 30)),
            24 => What::AcknowledgementsReordered,
            25 => match chance.below(2) {
                0 => What::AcknowledgementsRepeated(percent(chance, 30)),
                _ => What::AcknowledgementsLost(percent(chance, 20)),
            },
            26 => match chance.below(2) {
                0 => What::EventsOverQuota(percent(chance, 60)),
                _ => What::EventsUnfit(percent(chance, 20)),
            },
            27 => match chance.below(2) {
                0 => What::WillsLate(ms(chance, 8_000)),
                _ => What::ClockSet(i32::try_from(chance.below(7_200)).unwrap_or(0) - 3_600),
            },
            _ => What::LampDark(u32::try_from(chance.below(game.lights())).unwrap_or(0)),
        }
    }
}

fn spoiled(chance: &mut Chance) -> Faults {
    let some = |chance: &mut Chance, most: usize| u8::try_from(chance.below(most)).unwrap_or(0);
    let mut faults = Faults::default();
    match chance.below(6) {
        0 => faults.lost = percent(chance, 60),
        1 => faults.repeated = percent(chance, 80),
        2 => faults.flipped = percent(chance, 40),
        3 => faults.late = ms(chance, 2_500),
        4 => {
            faults.lost = some(chance, 30);
            faults.repeated = some(chance, 30);
            faults.flipped = some(chance, 15);
            faults.noise = some(chance, 20);
            faults.late = ms(chance, 400);
        }
        _ => {
            faults.garble = match chance.below(3) {
                0 => Garble::WrongBaud,
                1 => Garble::Echo,
                _ => Garble::Silent,
            };
        }
    }
    faults
}

impl Game {
    /// The devices of its table.
    #[must_use]
    pub fn devices(self) -> &'static [DeviceKind] {
        match self {
            Game::TaiSaiA | Game::SicBoCovered | Game::SicBoOpen => {
                &[DeviceKind::Tumbler, DeviceKind::Terminal, DeviceKind::LayoutLamps]
            }
            Game::TaiSaiB => &[DeviceKind::Terminal, DeviceKind::LayoutLamps],
            Game::TwoUpDice | Game::TriplePenny => &[DeviceKind::Terminal, DeviceKind::ResultLights],
        }
    }

    /// Game, style and layout, as the journal names them.
    #[must_use]
    pub fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Game::TaiSaiA => ("tai-sai", "A", "appendix-1"),
            Game::TaiSaiB => ("tai-sai", "B", "appendix-1"),
            Game::SicBoCovered => ("sic-bo", "covered", ""),
            Game::SicBoOpen => ("sic-bo", "open", ""),
            Game::TwoUpDice => ("two-up-dice", "", ""),
            Game::TriplePenny => ("triple-penny-two-up", "", ""),
        }
    }

    /// Lamps, or lights.
    fn lights(self) -> usize {
        match self {
            Game::TaiSaiA | Game::TaiSaiB | Game::SicBoCovered | Game::SicBoOpen => usize::from(LAMPS),
            Game::TwoUpDice | Game::TriplePenny => 11,
        }
    }

    pub(super) fn fitting(self, seed: u64) -> Fitting {
        let tumbler = |reader| TumblerSetup {
            reader,
            seed,
            ..TumblerSetup::default()
        };
        Fitting {
            tumbler: match self {
                Game::TaiSaiA | Game::SicBoCovered => Some(tumbler(Reader::Honest)),
                Game::SicBoOpen => Some(tumbler(Reader::Open)),
                Game::TaiSaiB | Game::TwoUpDice | Game::TriplePenny => None,
            },
            terminal: match self {
                Game::TaiSaiA | Game::TaiSaiB | Game::SicBoCovered | Game::SicBoOpen => TerminalSetup::default(),
                Game::TwoUpDice | Game::TriplePenny => TerminalSetup::two_up(),
            },
            lamps: match self {
                Game::TaiSaiA | Game::TaiSaiB | Game::SicBoCovered | Game::SicBoOpen => LampsSetup {
                    count: u32::from(LAMPS),
                    ..LampsSetup::default()
                },
                Game::TwoUpDice | Game::TriplePenny => LampsSetup {
                    kind: crate::wire::message::DeviceKind::ResultLights,
                    count: LIGHTS,
                    ..LampsSetup::default()
                },
            },
            lamps_are: match self {
                Game::TaiSaiA | Game::TaiSaiB | Game::SicBoCovered | Game::SicBoOpen => DeviceKind::LayoutLamps,
                Game::TwoUpDice | Game::TriplePenny => DeviceKind::ResultLights,
            },
        }
    }

    pub(super) fn config(self) -> GameConfig {
        let lamp_map = || (0..LAMPS).map(|bit| vec![bit]).collect();
        let tai_sai = |style| {
            GameConfig::TaiSai(TaiSaiConfig {
                style,
                layout: Layout::Appendix1,
                lamp_map: lamp_map(),
                rest: REST,
                settle_after: SETTLE_AFTER,
                cover_settles_after: COVER_SETTLES_AFTER,
                hold_no_spin_after_uncover: true,
                display_fault_locks: false,
                lamp_wait: LAMP_WAIT,
            })
        };
        let sic_bo = |tumbler| {
            GameConfig::SicBo(SicBoConfig {
                tumbler,
                paytable: None,
                policy: HousePolicy::default(),
                lamp_map: lamp_map(),
                rest: REST,
                settle_after: SETTLE_AFTER,
                cover_settles_after: COVER_SETTLES_AFTER,
                hold_no_spin_after_uncover: true,
                lamp_wait: LAMP_WAIT,
            })
        };
        match self {
            Game::TaiSaiA => tai_sai(Style::A),
            Game::TaiSaiB => tai_sai(Style::B),
            Game::SicBoCovered => sic_bo(SicBoTumbler::Covered),
            Game::SicBoOpen => sic_bo(SicBoTumbler::Open),
            Game::TwoUpDice => GameConfig::TwoUpDice(TwoUpDiceConfig {
                first_three: FirstThree::ComesBack,
                mis_keyed: MisKeyed::Correct,
                lamp_wait: LAMP_WAIT,
            }),
            Game::TriplePenny => GameConfig::TriplePenny(TriplePennyConfig {
                display: Display::Lights,
                mis_keyed: MisKeyed::Correct,
                lamp_wait: LAMP_WAIT,
            }),
        }
    }
}

/// Areas of the layout, each with a lamp of its own.
pub(super) const LAMPS: u16 = 50;
/// Lights of two-up.
pub(super) const LIGHTS: u32 = 11;
/// As the configuration has them by default.
const REST: Duration = Duration::from_secs(3);
const SETTLE_AFTER: Duration = Duration::from_secs(3);
const COVER_SETTLES_AFTER: Duration = Duration::from_secs(5);
const LAMP_WAIT: Duration = Duration::from_millis(800);

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.begins.as_secs_f64();
        write!(
            out,
            "from {from:.3} s for {:.3} s: {:?}",
            self.lasts.as_secs_f64(),
            self.what
        )
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (game, style, _) = self.game.words();
        writeln!(out, "seed {}: {game} {style}, {} rounds", self.seed, self.rounds)?;
        for (number, fault) in self.faults.iter().enumerate() {
            writeln!(out, "  fault {number} {fault}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_its_seeds_and_a_fault_can_be_left_out() {
        let plans: Vec<Plan> = (0..200).map(Plan::drawn).collect();
        for plan in &plans {
            assert_eq!(*plan, Plan::drawn(plan.seed));
            assert!(plan.faults.len() <= MOST_FAULTS);
            for fault in 0..plan.faults.len() {
                assert_eq!(plan.only(&[fault], 1).faults, [plan.faults[fault]]);
            }
        }
        assert!(plans.iter().any(|plan| plan.faults.is_empty()));
        assert!(plans.iter().any(|plan| plan.faults.len() == MOST_FAULTS));
    }
}
