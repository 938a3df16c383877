//! No two results for a round, and no result where the law has none: every event of play follows one that it may follow.

use std::collections::BTreeMap;

use super::areas;
use super::story::Stage;
use crate::sim::faults::trace::{Invariant, Judge, Seen, Sight, bits};
use crate::table::event::event::Body;
use crate::table::event::{Side, SpinCorrected, SpinOutcome, SpinResulted, TableLockedKind};
use std::collections::BTreeSet;

/// Spins of a side that decide a spinner's wager.
const WINS: u32 = 3;
/// Odds in a row that decide everything.
const ODDS_LOSE: u32 = 5;

#[derive(Default)]
pub(super) struct OneResult {
    is_two_up: bool,
    is_tai_sai: bool,
    is_alternative: bool,
    /// Nothing tells when the dice of a cup landed.
    has_no_cover: bool,
    rounds: BTreeMap<u64, Round>,
    spins: Spins,
    freezes: BTreeSet<i32>,
}

struct Round {
    stage: Stage,
    is_held: bool,
    end: End,
    faces: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Runs,
    Settled,
    Voided,
    Abandoned,
}

/// A game of two-up.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Spins {
    round: u64,
    is_called: bool,
    is_run_out: bool,
    is_coins: bool,
    counts: Counts,
    /// As they were before the last result.
    before: Counts,
    side: Side,
    is_decided: bool,
    /// The last result was put right.
    is_corrected: bool,
}

/// Heads, tails and odds in a row of this game.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Counts {
    heads: u32,
    tails: u32,
    odds: u32,
}

impl Judge for OneResult {
    fn invariant(&self) -> Invariant {
        Invariant::OneResult
    }

    fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        if let Seen::Began { game, style, layout } = sight.seen {
            self.is_two_up = matches!(*game, "two-up-dice" | "triple-penny-two-up");
            self.spins.is_coins = *game == "triple-penny-two-up";
            self.is_tai_sai = *game == "tai-sai";
            self.is_alternative = *layout == "appendix-2";
            self.has_no_cover = self.is_tai_sai && *style == "B";
        }
        let Seen::Appended { .. } = sight.seen else {
            return Ok(());
        };
        let mut first = Ok(());
        for event in sight.events {
            let Some(body) = &event.body else { continue };
            let judged = if self.is_two_up {
                self.two_up(event.round_id, body)
            } else {
                self.dice(event.round_id, body)
            };
            first =
                first.and(judged.map_err(|text| format!("event {}, round {}: {text}", event.seqno, event.round_id)));
        }
        first
    }
}

impl OneResult {
    fn dice(&mut self, id: u64, body: &Body) -> Result<(), String> {
        match body {
            Body::TableLocked(locked) if locked.kind() == TableLockedKind::Freeze => {
                self.freezes.insert(locked.reason);
            }
            Body::TableUnlocked(unlocked) if unlocked.kind() == TableLockedKind::Freeze => {
                self.freezes.remove(&unlocked.reason);
            }
            Body::RoundStarted(_) => {
                let round = Round {
                    stage: Stage::Tumbling,
                    is_held: false,
                    end: End::Runs,
                    faces: Vec::new(),
                };
                return match self.rounds.insert(id, round) {
                    Some(_) => Err("it is started twice".to_owned()),
                    None => Ok(()),
                };
            }
            _ => {}
        }
        let is_frozen = !self.freezes.is_empty();
        let (is_tai_sai, is_alternative, has_no_cover) = (self.is_tai_sai, self.is_alternative, self.has_no_cover);
        let Some(round) = self.rounds.get_mut(&id) else {
            return Ok(());
        };
        match body {
            Body::BetsOpened(_) => round.step(Stage::Tumbling, Stage::Betting),
            Body::BetsClosed(_) if is_frozen => Err("bets are closed at a frozen table".to_owned()),
            Body::BetsClosed(_) => round.step(Stage::Betting, Stage::Closed),
            Body::DiceUncovered(_) => round.step(Stage::Closed, Stage::Landed),
            Body::ResultEntered(entered) => {
                if round.is_held || is_frozen {
                    return Err("a result while the round is held or the table frozen".to_owned());
                }
                round.faces.clone_from(&entered.faces);
                let from = if has_no_cover { Stage::Closed } else { Stage::Landed };
                round.step(from, Stage::Entered)?;
                agrees(&entered.pressed, &entered.faces, entered.total)?;
                lights(&entered.faces, is_alternative, &entered.lit, entered.areas.len())
            }
            Body::ResultAmended(amended) => {
                let was = std::mem::replace(&mut round.faces, amended.faces.clone());
                round.step(Stage::Entered, Stage::Entered)?;
                if was != amended.from_faces {
                    return Err(format!(
                        "{:?} is amended, and {was:?} was the result",
                        amended.from_faces
                    ));
                }
                agrees(&amended.pressed, &amended.faces, amended.total)?;
                lights(&amended.faces, is_alternative, &amended.lit, amended.areas.len())
            }
            Body::RoundHeld(_) => {
                round.is_held = true;
                round.runs("is held")
            }
            Body::RoundResumed(_) => {
                round.is_held = false;
                round.runs("is resumed")
            }
            Body::RoundSettled(_) => {
                if round.is_held || is_frozen {
                    return Err("it is settled while it is held or the table frozen".to_owned());
                }
                round.step(Stage::Entered, Stage::Entered)?;
                round.end = End::Settled;
                Ok(())
            }
            Body::RoundReopened(_) if round.end == End::Settled => {
                round.end = End::Runs;
                Ok(())
            }
            Body::RoundReopened(_) => Err(format!("it is reopened after {:?}", round.end)),
            Body::RoundVoided(_) => {
                round.runs("is void")?;
                round.end = End::Voided;
                Ok(())
            }
            Body::VoidWithdrawn(_) if round.end == End::Voided => {
                round.end = End::Runs;
                round.is_held = false;
                Ok(())
            }
            Body::VoidWithdrawn(_) => Err(format!("its void is withdrawn after {:?}", round.end)),
            Body::RoundAbandoned(_) => {
                round.runs("is abandoned")?;
                round.end = End::Abandoned;
                if is_tai_sai && round.stage > Stage::Betting {
                    return Err("it is abandoned after the bell".to_owned());
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn two_up(&mut self, id: u64, body: &Body) -> Result<(), String> {
        let game = &mut self.spins;
        match body {
            Body::SpinnerSelected(_) | Body::SpinnerWagerPlaced(_) if game.round != id => {
                *game = Spins {
                    round: id,
                    is_coins: game.is_coins,
                    ..Spins::default()
                };
            }
            Body::RoundVoided(_) | Body::RoundAbandoned(_) => game.is_called = false,
            _ => {}
        }
        match body {
            Body::SpinnerWagerPlaced(placed) => {
                game.side = placed.side();
                if game.is_called {
                    return Err("the spinner wagers after the call".to_owned());
                }
                Ok(())
            }
            Body::BetsClosed(closed) => {
                game.is_run_out = closed.run_out;
                if std::mem::replace(&mut game.is_called, true) {
                    return Err("bets are closed twice before a spin".to_owned());
                }
                Ok(())
            }
            Body::SpinResulted(resulted) => game.result(resulted),
            Body::SpinCorrected(corrected) => game.correct(corrected),
            Body::SpinInvalidated(invalidated) => {
                if !std::mem::replace(&mut game.is_called, false) && !invalidated.before_call {
                    return Err("an invalid spin without a call".to_owned());
                }
                Ok(())
            }
            Body::InvalidSpinOverruled(_) => {
                game.is_called = true;
                Ok(())
            }
            Body::SpinnerWagerDecided(decided) => game.decide(decided.won),
            _ => Ok(()),
        }
    }
}

impl Round {
    fn runs(&self, what: &str) -> Result<(), String> {
        if self.end == End::Runs {
            return Ok(());
        }
        Err(format!("it {what} after {:?}", self.end))
    }

    fn step(&mut self, from: Stage, to: Stage) -> Result<(), String> {
        let was = std::mem::replace(&mut self.stage, to);
        self.runs(&format!("goes on to {to:?}"))?;
        if was == from {
            return Ok(());
        }
        Err(format!("it goes from {was:?} to {to:?}"))
    }
}

impl Counts {
    /// After one more valid spin.
    fn and(self, outcome: SpinOutcome) -> Counts {
        match outcome {
            SpinOutcome::Heads | SpinOutcome::TripleHeads => Counts {
                heads: self.heads + 1,
                odds: 0,
                ..self
            },
            SpinOutcome::Tails | SpinOutcome::TripleTails => Counts {
                tails: self.tails + 1,
                odds: 0,
                ..self
            },
            SpinOutcome::Odds => Counts {
                odds: self.odds + 1,
                ..self
            },
            SpinOutcome::Unspecified => self,
        }
    }
}

impl Spins {
    fn result(&mut self, resulted: &SpinResulted) -> Result<(), String> {
        if !std::mem::replace(&mut self.is_called, false) {
            return Err("a result without a call".to_owned());
        }
        let told = Counts {
            heads: resulted.heads,
            tails: resulted.tails,
            odds: resulted.odds_run,
        };
        self.is_corrected = false;
        self.before = self.counts;
        self.take(resulted.outcome(), told)
    }

    fn correct(&mut self, corrected: &SpinCorrected) -> Result<(), String> {
        let told = Counts {
            heads: corrected.heads,
            tails: corrected.tails,
            odds: corrected.odds_run,
        };
        self.is_corrected = true;
        self.is_decided = false;
        self.take(corrected.outcome(), told)
    }

    fn take(&mut self, outcome: SpinOutcome, told: Counts) -> Result<(), String> {
        self.counts = told;
        // A run-out is no game: what it counts is nobody's.
        if self.is_run_out {
            return Ok(());
        }
        let lawful = self.before.and(outcome);
        if told != lawful {
            return Err(format!(
                "{outcome:?} after {:?} makes {lawful:?}, not {told:?}",
                self.before
            ));
        }
        let most = told.heads.max(told.tails);
        if most > WINS || told.odds > ODDS_LOSE {
            return Err(format!("the game had ended before {told:?}"));
        }
        Ok(())
    }

    fn decide(&mut self, won: bool) -> Result<(), String> {
        if std::mem::replace(&mut self.is_decided, true) && !self.is_corrected {
            return Err("the spinner's wager is decided twice".to_owned());
        }
        let counts = self.counts;
        let (own, other) = match self.side {
            Side::Heads => (counts.heads, counts.tails),
            Side::Tails => (counts.tails, counts.heads),
            Side::Unspecified => return Err("a wager is decided that was not placed".to_owned()),
        };
        let (wins, loses) = (own == WINS, other > 0 || counts.odds == ODDS_LOSE);
        if (won && wins) || (!won && loses) {
            return Ok(());
        }
        Err(format!(
            "a wager on {:?} is {} by {counts:?}",
            self.side,
            if won { "won" } else { "lost" }
        ))
    }
}

/// The faces are those that were pressed, sorted, and their total is right.
fn agrees(pressed: &[u32], faces: &[u32], total: u32) -> Result<(), String> {
    let mut sorted = pressed.to_vec();
    sorted.sort_unstable();
    let is_same = pressed.is_empty() || sorted == faces;
    if is_same && faces.len() == 3 && faces.iter().sum::<u32>() == total {
        return Ok(());
    }
    Err(format!(
        "{pressed:?} was pressed, and the result is {faces:?}, total {total}"
    ))
}

/// The picture that is commanded, and the winning areas, are the law's.
fn lights(faces: &[u32], is_alternative: bool, lit: &[u8], winning: usize) -> Result<(), String> {
    let Ok(faces) = <[u32; 3]>::try_from(faces) else {
        return Ok(());
    };
    let lawful = areas::lit(faces, is_alternative);
    // An event without a picture is of a table without lamps.
    if lawful.len() == winning && (lit.is_empty() || lawful.iter().copied().eq(bits(lit))) {
        return Ok(());
    }
    Err(format!(
        "{faces:?} lights {lawful:?}, and {:?} is commanded for {winning} areas",
        bits(lit).collect::<Vec<_>>()
    ))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, Fact, dice, fact};
    use super::*;
    use crate::table::event::{
        Area, BetsClosed, ResultAmended, ResultEntered, RoundAbandoned, RoundHeld, SpinnerSelected,
        SpinnerWagerDecided, SpinnerWagerPlaced, TableLocked, VoidWithdrawn,
    };

    fn entered(round: u64, pressed: [u32; 3]) -> Fact {
        let Fact {
            body: Body::ResultEntered(entered),
            ..
        } = dice::entered(round, pressed)
        else {
            panic!("a result");
        };
        let winning = areas::lit(pressed, false).len();
        let entered = ResultEntered {
            areas: vec![Area::default(); winning],
            ..entered
        };
        fact(round, Body::ResultEntered(entered))
    }

    fn bench(facts: Vec<Fact>) -> Bench {
        let mut bench = Bench::dice(OneResult::default());
        bench.append(facts);
        bench.expect_nothing();
        bench
    }

    #[test]
    fn a_round_with_an_amendment_and_one_whose_void_is_withdrawn_are_lawful() {
        let mut bench = bench(dice::to_landed(1));
        let amended = ResultAmended {
            from_faces: vec![1, 1, 3],
            faces: vec![2, 3, 6],
            pressed: vec![6, 2, 3],
            total: 11,
            areas: vec![Area::default(); areas::lit([2, 3, 6], false).len()],
            ..ResultAmended::default()
        };
        bench.append(vec![
            entered(1, [1, 3, 1]),
            fact(1, Body::ResultAmended(amended)),
            dice::settled(1),
        ]);
        bench.append(dice::to_betting(2));
        bench.append(vec![
            dice::voided_by_gateway(2),
            fact(2, Body::VoidWithdrawn(VoidWithdrawn::default())),
            fact(2, Body::BetsClosed(BetsClosed::default())),
        ]);
        bench.expect_nothing();
    }

    #[test]
    fn a_second_result_is_found() {
        let mut bench = bench(dice::to_landed(1));
        bench.append(vec![entered(1, [1, 3, 1]), entered(1, [1, 3, 1])]);
        bench.expect("it goes from Entered to Entered");
        bench.append(vec![dice::settled(1), entered(1, [1, 3, 1])]);
        bench.expect("it goes on to Entered after Settled");
        bench.append(vec![dice::settled(1)]);
        bench.expect("after Settled");
    }

    #[test]
    fn what_the_law_has_no_place_for_is_found() {
        let lock = TableLocked {
            kind: TableLockedKind::Freeze as i32,
            ..TableLocked::default()
        };
        type Case = (Vec<Fact>, Fact, &'static str);
        let held = |mut facts: Vec<Fact>| {
            facts.push(fact(1, Body::RoundHeld(RoundHeld::default())));
            facts
        };
        let frozen = |mut facts: Vec<Fact>| {
            facts.push(fact(0, Body::TableLocked(lock.clone())));
            facts
        };
        let abandoned = || fact(1, Body::RoundAbandoned(RoundAbandoned::default()));
        let cases: Vec<Case> = vec![
            (dice::to_closed(1), entered(1, [1, 3, 1]), "from Closed to Entered"),
            (
                held(dice::to_landed(1)),
                entered(1, [1, 3, 1]),
                "while the round is held",
            ),
            (frozen(dice::to_landed(1)), entered(1, [1, 3, 1]), "the table frozen"),
            (
                frozen(dice::to_betting(1)),
                fact(1, Body::BetsClosed(BetsClosed::default())),
                "at a frozen table",
            ),
            (dice::to_closed(1), abandoned(), "after the bell"),
            (dice::to_betting(1), dice::settled(1), "from Betting to Entered"),
            (dice::to_landed(1), dice::entered(1, [1, 3, 1]), "for 0 areas"),
            (dice::to_landed(1), dice::started(1), "started twice"),
        ];
        for (facts, wrong, words) in cases {
            let mut bench = bench(facts);
            bench.append(vec![wrong]);
            bench.expect(words);
        }
    }

    fn two_up() -> Bench {
        let mut bench = Bench::of("two-up-dice", "", "", OneResult::default());
        let placed = SpinnerWagerPlaced {
            side: Side::Heads as i32,
            ..SpinnerWagerPlaced::default()
        };
        bench.append(vec![
            fact(1, Body::SpinnerSelected(SpinnerSelected::default())),
            fact(1, Body::SpinnerWagerPlaced(placed)),
        ]);
        bench
    }

    fn call() -> Fact {
        fact(1, Body::BetsClosed(BetsClosed::default()))
    }

    fn spun(outcome: SpinOutcome, heads: u32, tails: u32, odds_run: u32) -> Fact {
        let resulted = SpinResulted {
            outcome: outcome as i32,
            heads,
            tails,
            odds_run,
            ..SpinResulted::default()
        };
        fact(1, Body::SpinResulted(resulted))
    }

    fn decided(won: bool) -> Fact {
        let decided = SpinnerWagerDecided {
            won,
            ..SpinnerWagerDecided::default()
        };
        fact(1, Body::SpinnerWagerDecided(decided))
    }

    #[test]
    fn a_game_of_two_up_counts_as_the_law_does() {
        let mut bench = two_up();
        bench.append(vec![
            call(),
            spun(SpinOutcome::Heads, 1, 0, 0),
            call(),
            spun(SpinOutcome::Odds, 1, 0, 1),
        ]);
        bench.append(vec![call(), spun(SpinOutcome::Tails, 1, 1, 0), decided(false)]);
        bench.expect_nothing();
        bench.append(vec![decided(false)]);
        bench.expect("decided twice");
    }

    #[test]
    fn two_up_without_a_call_or_with_wrong_counts_is_found() {
        let mut bench = two_up();
        bench.append(vec![spun(SpinOutcome::Heads, 1, 0, 0)]);
        bench.expect("without a call");
        bench.append(vec![call(), spun(SpinOutcome::Heads, 3, 0, 0)]);
        bench.expect("makes Counts { heads: 1");
        bench.append(vec![call(), call()]);
        bench.expect("closed twice");
        let mut bench = two_up();
        bench.append(vec![call(), spun(SpinOutcome::Heads, 1, 0, 0), decided(true)]);
        bench.expect("is won by");
    }
}
