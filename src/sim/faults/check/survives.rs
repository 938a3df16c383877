//! The state is what the events say, and a restart doesn't change it.

use std::collections::BTreeSet;

use super::story::{End, Mode, Stage, Story};
use crate::sim::faults::trace::{Invariant, Judge, Seen, Sight};
use crate::table::event::event::Body;
use crate::table::event::{self, RoundHeldCause, TableState};

#[derive(Default)]
pub(super) struct StateSurvives {
    story: Story,
    /// The last state of the run before, until the next run has stated its first.
    before: Option<TableState>,
    last: Option<TableState>,
    /// Only what a start records by itself has been recorded since.
    is_only_start: bool,
}

impl Judge for StateSurvives {
    fn invariant(&self) -> Invariant {
        Invariant::StateSurvives
    }

    fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        match sight.seen {
            Seen::Began { game, layout, .. } => self.story.begin(game, layout),
            Seen::Appended { .. } => {
                for event in sight.events {
                    self.story.fold(event);
                    self.is_only_start &= event.body.as_ref().is_none_or(belongs_to_start);
                }
            }
            Seen::GatewayStarted { .. } => {
                // What was durable and was never stated is not in the last state: nothing to compare with.
                let is_newest = |state: &TableState| {
                    state
                        .head
                        .as_ref()
                        .is_some_and(|head| head.seqno == self.story.seqno && head.journal_id == self.story.journal)
                };
                self.before = self.last.take().filter(is_newest);
                self.is_only_start = true;
            }
            // A run that has written nothing yet has no state to give away.
            Seen::Stated { state } if state.head.is_none() => {}
            Seen::Stated { state } => {
                let before = self.before.take().filter(|_| self.is_only_start);
                self.last = Some((*state).clone());
                if let Some(before) = before {
                    survived(&before, state)?;
                }
                return self.agrees(state);
            }
            _ => {}
        }
        Ok(())
    }
}

/// A start records these by itself, and none of them changes play.
fn belongs_to_start(body: &Body) -> bool {
    matches!(
        body,
        Body::GatewayStarted(_)
            | Body::JournalStarted(_)
            | Body::CheckpointRecorded(_)
            | Body::EventsExpired(_)
            | Body::ClockStepped(_)
            | Body::AlertRaised(_)
            | Body::AlertCleared(_)
            | Body::JournalFailed(_)
            | Body::GatewayStopped(_)
    )
}

fn survived(before: &TableState, after: &TableState) -> Result<(), String> {
    // Opening is to be repeated, and Test ends: what was below is what goes on.
    if matches!(before.mode(), event::Mode::Opening | event::Mode::Test) {
        return Ok(());
    }
    let told = |state: &TableState| {
        (
            state.mode(),
            state.phase.clone(),
            state.round_id,
            state.held(),
            state.call.clone(),
            state.lit.clone(),
            state.settled_provisionally,
            state
                .locks
                .iter()
                .map(|lock| (lock.reason, lock.kind))
                .collect::<BTreeSet<_>>(),
        )
    };
    if told(before) == told(after) {
        return Ok(());
    }
    Err(format!("a restart makes {:?} of {:?}", told(after), told(before)))
}

impl StateSurvives {
    fn agrees(&self, state: &TableState) -> Result<(), String> {
        let head = state.head.clone().unwrap_or_default();
        if (head.journal_id.as_str(), head.seqno) != (self.story.journal.as_str(), self.story.seqno) {
            return Ok(());
        }
        let story = &self.story;
        let differs = |what: &str, told: String, say: String| {
            Err(format!(
                "after event {} the state says {what} {told}, and the events {say}",
                head.seqno
            ))
        };
        let mode = match story.mode {
            Mode::Closed => event::Mode::Closed,
            Mode::Opening => event::Mode::Opening,
            Mode::Open => event::Mode::Open,
            Mode::Test | Mode::TestFromOpen => event::Mode::Test,
        };
        if state.mode() != mode {
            return differs("mode", format!("{:?}", state.mode()), format!("{mode:?}"));
        }
        let locks: BTreeSet<(i32, i32)> = state.locks.iter().map(|lock| (lock.reason, lock.kind)).collect();
        if locks != story.locks {
            return differs("locks", format!("{locks:?}"), format!("{:?}", story.locks));
        }
        if !state.alerts.iter().eq(story.alerts.keys()) {
            return differs(
                "alerts",
                format!("{:?}", state.alerts),
                format!("{:?}", story.alerts.keys()),
            );
        }
        if story.is_two_up {
            return Ok(());
        }
        let running = story.running();
        let phase = match (story.mode, running.map(|round| round.stage)) {
            (Mode::Open, None) => "ready",
            (Mode::Open, Some(Stage::Tumbling)) => "tumbling",
            (Mode::Open, Some(Stage::Betting)) => "betting",
            (Mode::Open, Some(Stage::Closed)) => "closed",
            (Mode::Open, Some(Stage::Landed)) => "landed",
            (Mode::Open, Some(Stage::Entered)) => "entered",
            (Mode::Closed | Mode::Opening | Mode::Test | Mode::TestFromOpen, _) => "",
        };
        if state.phase != phase {
            return differs("phase", state.phase.clone(), phase.to_owned());
        }
        let round = running.map_or(0, |round| round.id);
        if state.round_id != round {
            return differs("round", state.round_id.to_string(), round.to_string());
        }
        let is_held = running.is_some_and(|round| round.held);
        if (state.held() != RoundHeldCause::Unspecified) != is_held {
            return differs("held", format!("{:?}", state.held()), is_held.to_string());
        }
        let is_provisional = story
            .round
            .as_ref()
            .is_some_and(|round| round.end == Some(End::Provisional));
        if state.settled_provisionally && !is_provisional {
            return differs("settled provisionally", "true".to_owned(), "false".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, dice};
    use super::*;
    use crate::sim::faults::trace::Ending;
    use crate::table::event::Head;

    fn state(bench: &Bench, seqno: u64, phase: &str, round_id: u64) -> TableState {
        TableState {
            head: Some(Head {
                journal_id: bench.journal().to_owned(),
                seqno,
                ..Head::default()
            }),
            mode: event::Mode::Open as i32,
            phase: phase.to_owned(),
            round_id,
            ..TableState::default()
        }
    }

    fn bench() -> Bench {
        let mut bench = Bench::dice(StateSurvives::default());
        bench.append(dice::to_landed(1));
        bench
    }

    #[test]
    fn a_state_as_the_events_say_survives() {
        let mut bench = bench();
        let landed = state(&bench, 8, "landed", 1);
        bench.see(&Seen::Stated { state: &landed });
        bench.see(&Seen::GatewayEnded { how: Ending::Crashed });
        bench.start();
        let landed = state(&bench, 9, "landed", 1);
        bench.see(&Seen::Stated { state: &landed });
        bench.expect_nothing();
    }

    #[test]
    fn a_state_that_differs_from_the_events_is_found() {
        let mut bench = bench();
        for (wrong, words) in [
            (state(&bench, 8, "closed", 1), "phase closed, and the events landed"),
            (state(&bench, 8, "landed", 2), "round 2, and the events 1"),
            (
                TableState {
                    alerts: vec!["lamp_failed".to_owned()],
                    ..state(&bench, 8, "landed", 1)
                },
                "alerts",
            ),
            (
                TableState {
                    held: RoundHeldCause::NotFlat as i32,
                    ..state(&bench, 8, "landed", 1)
                },
                "held",
            ),
        ] {
            bench.see(&Seen::Stated { state: &wrong });
            bench.expect(words);
        }
    }

    #[test]
    fn a_state_that_a_restart_changes_is_found() {
        let mut bench = bench();
        let landed = TableState {
            call: "1, 2, 3, Total 6".to_owned(),
            ..state(&bench, 8, "landed", 1)
        };
        bench.see(&Seen::Stated { state: &landed });
        bench.see(&Seen::GatewayEnded { how: Ending::Crashed });
        bench.start();
        let changed = state(&bench, 9, "landed", 1);
        bench.see(&Seen::Stated { state: &changed });
        bench.expect("a restart makes");
    }
}
