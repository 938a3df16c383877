//! Every round ends in settlement, void or abandonment, or in a hold that a person can end: after people have done what can be done, one more
//! round is played to its end.

use super::story::Story;
use crate::sim::faults::trace::{AfterRollback, Invariant, Judge, Seen, Sight};
use crate::table::event::event::Body;

#[derive(Default)]
pub(super) struct RoundsEnd {
    story: Story,
    settled: u64,
    /// How many rounds were settled when people began to play the last one.
    settled_before: Option<u64>,
}

impl Judge for RoundsEnd {
    fn invariant(&self) -> Invariant {
        Invariant::RoundsEnd
    }

    fn after_rollback(&self) -> AfterRollback {
        AfterRollback::GoesOn
    }

    fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        match sight.seen {
            Seen::Began { game, layout, .. } => self.story.begin(game, layout),
            Seen::Appended { .. } => {
                let mut judged = Ok(());
                for event in sight.events {
                    judged = judged.and(self.before_next(event.round_id, event.body.as_ref()));
                    self.story.fold(event);
                    self.settled += u64::from(settles(event.body.as_ref()));
                }
                return judged;
            }
            Seen::WentBack { .. } => self.story.round = None,
            Seen::LastRound => self.settled_before = Some(self.settled),
            Seen::End => return self.at_end(),
            _ => {}
        }
        Ok(())
    }
}

/// A round (a game of two-up) is played to its end.
fn settles(body: Option<&Body>) -> bool {
    match body {
        Some(Body::RoundSettled(_) | Body::SpinnerWagerDecided(_)) => true,
        Some(Body::PlayersWagersDecided(decided)) => decided.ends_game,
        _ => false,
    }
}

impl RoundsEnd {
    /// The round before has ended when the next one starts.
    fn before_next(&self, id: u64, body: Option<&Body>) -> Result<(), String> {
        let starts = matches!(body, Some(Body::RoundStarted(_)))
            || (self.story.is_two_up && matches!(body, Some(Body::SpinnerSelected(_) | Body::SpinnerWagerPlaced(_))));
        match &self.story.round {
            Some(before) if starts && before.end.is_none() && before.id != id => {
                Err(format!("round {id} starts, and round {} has not ended", before.id))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn at_end(&self) -> Result<(), String> {
        let Some(before) = self.settled_before else {
            return Ok(());
        };
        let how = match &self.story.round {
            Some(round) => format!("{:?}, held {}, ended {:?}", round.stage, round.held, round.end),
            None => "none".to_owned(),
        };
        if self.settled == before {
            return Err(format!(
                "the table is stuck: no round could be played to its end; mode {:?}, round {how}",
                self.story.mode
            ));
        }
        match self.story.running() {
            // The next one may have begun: bets open by themselves without a tumbler, and a winner of two-up goes on.
            Some(round) if round.held => Err(format!("round {} does not end: {how}", round.id)),
            Some(_) | None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, dice};
    use super::*;

    #[test]
    fn play_goes_on() {
        let mut bench = Bench::dice(RoundsEnd::default());
        bench.append(dice::to_betting(1));
        bench.append(vec![dice::voided_by_gateway(1)]);
        bench.see(&Seen::LastRound);
        bench.append(dice::to_landed(2));
        bench.append(vec![dice::entered(2, [1, 3, 1]), dice::settled(2)]);
        bench.see(&Seen::End);
        bench.expect_nothing();
    }

    #[test]
    fn a_table_that_is_stuck_is_found() {
        let mut bench = Bench::dice(RoundsEnd::default());
        bench.append(dice::to_landed(1));
        bench.see(&Seen::LastRound);
        bench.see(&Seen::End);
        bench.expect("the table is stuck");
    }

    #[test]
    fn a_round_that_is_forgotten_is_found() {
        let mut bench = Bench::dice(RoundsEnd::default());
        bench.append(dice::to_landed(1));
        bench.append(vec![dice::started(2)]);
        bench.expect("round 1 has not ended");
    }
}
