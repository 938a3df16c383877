//! How long the phases of play took, as the events tell it: the report of a journal and the metrics measure in this one way. PURE.
//!
//! What began before the run of the daemon in which it ended was not measured, and is left out. So is what counted while a device was away.

use super::event::{Body, Event};

macro_rules! phases {
    ($($(#[$doc:meta])* $name:ident $word:literal, $title:literal;)*) => {
        /// A phase of play.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Phase {
            $($(#[$doc])* $name,)*
        }

        impl Phase {
            /// Every phase, in the order of play.
            pub const ALL: &'static [Phase] = &[$(Phase::$name),*];

            /// Its name for programs: `entry_to_lamps`.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Phase::$name => $word,)* }
            }

            /// Its name for people.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Phase::$name => $title,)* }
            }
        }
    };
}

phases! {
    /// From the first counted spin until bets open: spins and the rest after them.
    Tumbling "tumbling", "tumbling";
    /// Two-up: from the spinner's selection to the wager.
    Selecting "selecting", "selected to wager";
    /// Bets are open.
    Betting "betting", "bets open";
    /// From "no more bets" until the cover is off.
    BellToUncover "bell_to_uncover", "bell to uncover";
    /// From the uncover to the accepted entry.
    UncoverToEntry "uncover_to_entry", "uncover to entry";
    /// Dice cup: from "no more bets" to the accepted entry.
    BellToEntry "bell_to_entry", "bell to entry";
    /// Two-up: from "no more bets" to the result of the spin.
    CallToResult "call_to_result", "call to result";
    /// From the accepted entry, or the amendment, until the lamps are seen lit.
    EntryToLamps "entry_to_lamps", "entry to lamps";
    /// From there to settlement.
    LampsToSettled "lamps_to_settled", "lamps to settled";
    /// A whole round that ended with a result.
    Round "round", "whole round";
}

/// What one event tells: at most two phases end with it. Milliseconds.
pub type Measured = [Option<(Phase, u32)>; 2];

const NOTHING: Measured = [None, None];

/// Watches the events of one journal, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stopwatch {
    /// The round that began in this run, and when (microseconds of uptime).
    began: Option<(u64, u64)>,
    /// Bets have not opened since.
    tumbling: bool,
    /// The spinner has not wagered since.
    selecting: bool,
    /// The lamps have not been seen since the entry or the amendment: later confirmations measure something else.
    lamps_due: bool,
}

impl Stopwatch {
    /// Takes in one event and says which phases ended with it, and how long they took.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "looks for the ends of phases; every other event is none of its business"
    )]
    pub fn note(&mut self, event: &Event) -> Measured {
        let Some(body) = &event.body else { return NOTHING };
        match body {
            Body::GatewayStarted(_) => {
                *self = Stopwatch::default();
                NOTHING
            }
            Body::RoundStarted(started) => {
                self.begin(event);
                self.tumbling = !started.while_away;
                NOTHING
            }
            Body::SpinnerSelected(_) => {
                self.begin(event);
                self.selecting = true;
                NOTHING
            }
            Body::SpinnerWagerPlaced(placed) => {
                let took = self.since_begin(event).filter(|_| self.selecting);
                self.selecting = false;
                // The wager of a winner who goes on begins a round.
                if !placed.game.is_empty() {
                    self.begin(event);
                }
                [named(Phase::Selecting, took), None]
            }
            Body::BetsOpened(_) => {
                let took = self.since_begin(event).filter(|_| self.tumbling);
                self.tumbling = false;
                [named(Phase::Tumbling, took), None]
            }
            Body::BetsClosed(closed) => [recorded(Phase::Betting, closed.bets_open_ms), None],
            Body::DiceUncovered(uncovered) => [recorded(Phase::BellToUncover, uncovered.bell_to_uncover_ms), None],
            Body::ResultEntered(result) => {
                self.lamps_due = true;
                [
                    recorded(Phase::UncoverToEntry, result.uncover_to_entry_ms),
                    recorded(Phase::BellToEntry, result.bell_to_entry_ms),
                ]
            }
            Body::ResultAmended(_) => {
                self.lamps_due = true;
                NOTHING
            }
            Body::LayoutLit(lit) => {
                let took = recorded(Phase::EntryToLamps, lit.entry_to_lamps_ms).filter(|_| self.lamps_due);
                self.lamps_due = false;
                [took, None]
            }
            Body::RoundSettled(settled) => [
                recorded(Phase::LampsToSettled, settled.lamps_to_settled_ms),
                self.end(event),
            ],
            Body::SpinResulted(spun) => [recorded(Phase::CallToResult, spun.call_to_result_ms), None],
            Body::SpinnerWagerDecided(_) => [self.end(event), None],
            Body::PlayersWagersDecided(decided) if decided.ends_game => [self.end(event), None],
            _ => NOTHING,
        }
    }

    fn begin(&mut self, event: &Event) {
        *self = Stopwatch {
            began: Some((event.round_id, event.uptime_us)),
            ..Stopwatch::default()
        };
    }

    fn since_begin(&self, event: &Event) -> Option<u32> {
        let (round_id, at) = self.began?;
        let took = event.uptime_us.checked_sub(at).filter(|_| round_id == event.round_id)?;
        u32::try_from(took / 1000).ok()
    }

    /// A round that goes on after all, and ends again, is not measured twice.
    fn end(&mut self, event: &Event) -> Option<(Phase, u32)> {
        let took = named(Phase::Round, self.since_begin(event));
        self.began = None;
        took
    }
}

fn named(phase: Phase, took: Option<u32>) -> Option<(Phase, u32)> {
    took.and_then(|ms| recorded(phase, ms))
}

/// 0 is "not measured" in the events.
fn recorded(phase: Phase, ms: u32) -> Option<(Phase, u32)> {
    (ms > 0).then_some((phase, ms))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::event::{
        BetsClosed, BetsOpened, GatewayStarted, LayoutLit, PlayersWagersDecided, ResultAmended, ResultEntered,
        RoundReopened, RoundSettled, RoundStarted, SpinResulted, SpinnerSelected, SpinnerWagerDecided,
        SpinnerWagerPlaced,
    };

    /// Events as (uptime in ms, round, what), and the phases that they tell of.
    fn check(events: Vec<(u64, u64, Body)>, expected: &[(Phase, u32)]) {
        let mut watch = Stopwatch::default();
        let told: Vec<(Phase, u32)> = events
            .into_iter()
            .flat_map(|(at_ms, round_id, body)| {
                watch.note(&Event {
                    round_id,
                    uptime_us: at_ms * 1000,
                    body: Some(body),
                    ..Event::default()
                })
            })
            .flatten()
            .collect();
        assert_eq!(told, expected);
    }

    fn started() -> Body {
        Body::RoundStarted(RoundStarted::default())
    }

    fn opened() -> Body {
        Body::BetsOpened(BetsOpened::default())
    }

    fn lit(ms: u32) -> Body {
        Body::LayoutLit(LayoutLit {
            entry_to_lamps_ms: ms,
            ..LayoutLit::default()
        })
    }

    fn settled(ms: u32) -> Body {
        Body::RoundSettled(RoundSettled {
            lamps_to_settled_ms: ms,
            ..RoundSettled::default()
        })
    }

    #[test]
    fn a_round_of_dice_is_measured_from_its_first_spin_to_its_settlement() {
        let entered = Body::ResultEntered(ResultEntered {
            uncover_to_entry_ms: 4000,
            ..ResultEntered::default()
        });
        let closed = Body::BetsClosed(BetsClosed {
            bets_open_ms: 20_000,
            ..BetsClosed::default()
        });
        check(
            vec![
                (1000, 7, started()),
                (13_500, 7, opened()),
                (33_500, 7, closed),
                (40_000, 7, entered),
                (40_060, 7, lit(60)),
                // Lit again after the lamp was mended: nobody waited for it.
                (45_000, 7, lit(5000)),
                (50_000, 7, settled(9940)),
                (51_000, 7, Body::RoundReopened(RoundReopened {})),
                (52_000, 7, Body::ResultAmended(ResultAmended::default())),
                (52_070, 7, lit(70)),
                (60_000, 7, settled(7930)),
            ],
            &[
                (Phase::Tumbling, 12_500),
                (Phase::Betting, 20_000),
                (Phase::UncoverToEntry, 4000),
                (Phase::EntryToLamps, 60),
                (Phase::LampsToSettled, 9940),
                (Phase::Round, 49_000),
                (Phase::EntryToLamps, 70),
                (Phase::LampsToSettled, 7930),
            ],
        );
    }

    #[test]
    fn what_began_before_a_restart_or_while_away_was_not_measured() {
        let restart = || Body::GatewayStarted(GatewayStarted::default());
        check(
            vec![(1000, 7, started()), (100, 0, restart()), (9000, 7, opened())],
            &[],
        );
        check(
            vec![(1000, 7, started()), (100, 0, restart()), (9000, 7, settled(0))],
            &[],
        );
        let away = Body::RoundStarted(RoundStarted {
            while_away: true,
            ..RoundStarted::default()
        });
        check(vec![(1000, 7, away), (9000, 7, opened())], &[]);
    }

    #[test]
    fn a_game_of_two_up_is_measured_from_the_selection() {
        let placed = |game: &str| {
            Body::SpinnerWagerPlaced(SpinnerWagerPlaced {
                game: game.to_owned(),
                ..SpinnerWagerPlaced::default()
            })
        };
        let spun = Body::SpinResulted(SpinResulted {
            call_to_result_ms: 6000,
            ..SpinResulted::default()
        });
        let decided = || Body::SpinnerWagerDecided(SpinnerWagerDecided::default());
        let ends = Body::PlayersWagersDecided(PlayersWagersDecided {
            ends_game: true,
            ..PlayersWagersDecided::default()
        });
        let selected = || Body::SpinnerSelected(SpinnerSelected::default());
        check(
            vec![
                (1000, 1, selected()),
                (4000, 1, placed("")),
                (5000, 1, placed("")),
                (20_000, 1, spun),
                (20_000, 1, decided()),
                (30_000, 2, placed("two-up-dice")),
                (45_000, 2, decided()),
                (50_000, 3, selected()),
                (60_000, 3, ends),
            ],
            &[
                (Phase::Selecting, 3000),
                (Phase::CallToResult, 6000),
                (Phase::Round, 19_000),
                (Phase::Round, 15_000),
                (Phase::Round, 10_000),
            ],
        );
    }
}
