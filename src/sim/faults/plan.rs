//! What happens in a seed: the game, how long it is played, and which faults come when. All of it is drawn from the seed, and all of it is
//! data: a plan with a fault left out is a plan too, which is how a failing one shrinks.

use super::game::Game;
use crate::sim::{Chance, Faults, Garble};
use crate::table::input::DeviceKind;
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
    /// Nothing can be read from the disk.
    DiskUnreadable,
    /// The disk is set back to how it was when this began, between two runs.
    DiskSetBack,
    /// The table is away for so many days; then it stays up for as long as this lasts.
    DaysAway(u16),
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
    /// The floor asks, so often at once.
    FloorAsks(Asking, u8),
    /// Another gateway connects under this table's name, and comes back when it is thrown out.
    SecondGateway(Second),
    /// Last wills leave this much later.
    WillsLate(Duration),
    /// Somebody sets the PC's clock, by so many seconds.
    ClockSet(i32),
    /// A lamp breaks.
    LampDark(u32),
}

/// What the floor asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asking {
    /// Events of the journal that it was told of.
    Replay,
    /// Events of a journal that the table never had.
    ReplayOfAnother,
    /// The state.
    Snapshot,
    /// Digests of everything that runs.
    Verify,
    /// Nothing now: the broker kept the request from long ago.
    Kept,
    /// Events, and it names nowhere to answer to.
    Nowhere,
}

/// A second gateway of the same name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Second {
    /// It goes by the status that the broker keeps: the number of its connection is higher.
    Outbids,
    /// The same, and it says the state of a journal of its own.
    Tells,
    /// Its number is from long ago.
    IsOld,
}

/// Most faults of a seed.
const MOST_FAULTS: usize = 5;
/// Most of those faults that came to the simulation later: drawn for themselves, so that the others of a seed are those it always had.
const MOST_LATER_FAULTS: usize = 2;
/// Old events are first looked for 300 s after a start, every 5 s, and the table may be restarted once more before.
const STAYS_UP: Duration = Duration::from_secs(345);
/// Requests at once: more than wait for each other.
const MOST_AT_ONCE: usize = 7;
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
        let mut faults: Vec<Fault> = (0..chance.below(MOST_FAULTS + 1))
            .map(|_| Fault::drawn(&mut chance, game, span))
            .collect();
        let mut later = Chance::new(seed ^ 0x1a7e_fa17_5eed);
        let later_faults = (0..later.below(MOST_LATER_FAULTS + 1)).map(|_| Fault::drawn_later(&mut later, game, span));
        faults.extend(later_faults);
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
        let (begins, lasts) = when(chance, span);
        Fault {
            begins,
            lasts,
            what: What::drawn(chance, game),
        }
    }

    fn drawn_later(chance: &mut Chance, game: Game, span: Duration) -> Self {
        let (begins, lasts) = when(chance, span);
        let what = What::drawn_later(chance, game);
        let lasts = if matches!(what, What::DaysAway(_)) {
            lasts + STAYS_UP
        } else {
            lasts
        };
        Fault { begins, lasts, what }
    }
}

/// When a fault begins, and how long it lasts.
fn when(chance: &mut Chance, span: Duration) -> (Duration, Duration) {
    let begins = ms(chance, usize::try_from(span.as_millis()).unwrap_or(0));
    // Short ones are as likely as long ones, whatever the scale.
    let most = [200, 2_000, 6_000, LONGEST_MS];
    let most = most.get(chance.below(most.len())).copied().unwrap_or(LONGEST_MS);
    (begins, Duration::from_millis(50) + ms(chance, most))
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

impl What {
    /// Days are rare: those seeds are long. They are for games that people close between rounds.
    fn drawn_later(chance: &mut Chance, game: Game) -> Self {
        match chance.below(24) {
            0..=3 => What::DiskSetBack,
            4..=10 => What::DiskUnreadable,
            11..=17 => {
                let asking = match chance.below(8) {
                    0..=2 => Asking::Replay,
                    3 => Asking::ReplayOfAnother,
                    4 => Asking::Snapshot,
                    5 => Asking::Verify,
                    6 => Asking::Kept,
                    _ => Asking::Nowhere,
                };
                What::FloorAsks(asking, percent(chance, MOST_AT_ONCE))
            }
            18..=22 => What::SecondGateway(match chance.below(4) {
                0 | 1 => Second::Outbids,
                2 => Second::Tells,
                _ => Second::IsOld,
            }),
            _ => match game {
                Game::TaiSaiA | Game::SicBoCovered => What::DaysAway(u16::try_from(85 + chance.below(60)).unwrap_or(0)),
                Game::TaiSaiB | Game::SicBoOpen | Game::TwoUpDice | Game::TriplePenny => What::DiskSetBack,
            },
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
            assert!(plan.faults.len() <= MOST_FAULTS + MOST_LATER_FAULTS);
            for fault in 0..plan.faults.len() {
                assert_eq!(plan.only(&[fault], 1).faults, [plan.faults[fault]]);
            }
        }
        assert!(plans.iter().any(|plan| plan.faults.is_empty()));
        assert!(plans.iter().any(|plan| plan.faults.len() > MOST_FAULTS));
    }
}
