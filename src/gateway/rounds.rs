//! The running round and those that ended last, as the events tell them: for people who look, and for the results display.
//! Decides nothing, and is made anew from the journal at a start.

use super::two_up_round::TwoUpRound;
use super::view::word;
use crate::table::event::{Body, Event, RoundVoidedReason};
use serde::{Deserialize, Serialize};

/// Ended rounds that are kept: more than a display shows.
pub const ROUNDS_KEPT: usize = 100;

/// A round.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RoundView {
    /// Its number.
    pub round_id: u64,
    /// Spins counted for it.
    pub spins: u32,
    /// Keys as they were pressed for the result; empty before it.
    pub pressed: Vec<u32>,
    /// The result, sorted; empty before it.
    pub faces: Vec<u32>,
    /// The dealer's call; `None` before the result.
    pub call: Option<String>,
    /// Ids of the winning areas.
    pub areas: Vec<String>,
    /// The result was amended; with two-up: a result was corrected.
    pub amended: bool,
    /// What belongs to a game of two-up; `None` elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub two_up: Option<TwoUpRound>,
    /// How it ended; `None` while it runs.
    pub end: Option<RoundEnd>,
}

/// How a round ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundEnd {
    /// Wagers were settled.
    Settled,
    /// All bets went back, for this reason ("a_not_flat", "not_stated").
    Void(String),
    /// The table closed before "no more bets"; with two-up: nobody wagered, or the table closed.
    Abandoned,
    /// Two-up: the spinner's wager won.
    SpinnerWon,
    /// Two-up: the spinner's wager lost.
    SpinnerLost,
    /// Two-up: the game of a dealer or boxer who spun because everyone declined.
    Decided,
    /// Two-up with coins: the spinner stopped before any valid spin, and the wager went back.
    Returned,
}

/// What an event means for the course of its round.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Turn {
    /// It begins.
    Begins,
    /// It ends so.
    Ends(RoundEnd),
    /// It had ended, and goes on after all.
    GoesOn,
    /// Of a void: the reason, given afterwards ("a_not_flat").
    ReasonStated(String),
    /// Nothing.
    None,
}

/// What `body` means for the course of its round. `runs`: that round runs now.
#[must_use]
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "looks for beginnings and ends; every other event is none of its business"
)]
pub fn turn(body: &Body, runs: bool) -> Turn {
    match body {
        Body::RoundStarted(_) | Body::SpinnerSelected(_) => Turn::Begins,
        Body::SpinnerWagerPlaced(_) if !runs => Turn::Begins,
        Body::SpinnerWagerDecided(decided) if decided.won => Turn::Ends(RoundEnd::SpinnerWon),
        Body::SpinnerWagerDecided(_) => Turn::Ends(RoundEnd::SpinnerLost),
        Body::PlayersWagersDecided(decided) if decided.ends_game => Turn::Ends(RoundEnd::Decided),
        Body::SpinnerChanged(changed) if !changed.dealer && runs => Turn::Ends(match changed.wager_returned {
            true => RoundEnd::Returned,
            false => RoundEnd::Abandoned,
        }),
        Body::SpinCorrected(_) | Body::InvalidSpinOverruled(_) => Turn::GoesOn,
        Body::RoundSettled(_) => Turn::Ends(RoundEnd::Settled),
        Body::RoundAbandoned(_) => Turn::Ends(RoundEnd::Abandoned),
        Body::RoundVoided(voided) => Turn::Ends(RoundEnd::Void(word(voided.reason().as_str_name(), VOID_PREFIX))),
        Body::VoidReasonStated(stated) => Turn::ReasonStated(word(stated.reason().as_str_name(), VOID_PREFIX)),
        Body::RoundReopened(_) | Body::VoidWithdrawn(_) => Turn::GoesOn,
        _ => Turn::None,
    }
}

impl RoundEnd {
    /// Its name for programs, without the reason of a void: `spinner_won`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            RoundEnd::Settled => "settled",
            RoundEnd::Void(_) => "void",
            RoundEnd::Abandoned => "abandoned",
            RoundEnd::SpinnerWon => "spinner_won",
            RoundEnd::SpinnerLost => "spinner_lost",
            RoundEnd::Decided => "decided",
            RoundEnd::Returned => "returned",
        }
    }

    /// It had a result, or was void: an abandoned one was none that anybody played.
    #[must_use]
    pub fn was_played(&self) -> bool {
        match self {
            RoundEnd::Settled
            | RoundEnd::Void(_)
            | RoundEnd::SpinnerWon
            | RoundEnd::SpinnerLost
            | RoundEnd::Decided => true,
            RoundEnd::Abandoned | RoundEnd::Returned => false,
        }
    }
}

/// What is kept of rounds.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Rounds {
    /// The one that runs.
    pub running: Option<RoundView>,
    /// Those that ended, newest first.
    pub ended: Vec<RoundView>,
    /// How many began and ended in this run, for statistics.
    #[serde(skip)]
    pub tally: RoundTally,
}

/// Rounds in numbers. Those begun are those ended, less those taken back, and the running one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RoundTally {
    /// Begun, or running when the run began.
    pub begun: u64,
    /// Ended and went on after all: reopened, corrected, a void withdrawn.
    pub taken_back: u64,
    /// [`RoundEnd::Settled`].
    pub settled: u64,
    /// [`RoundEnd::Void`].
    pub void: u64,
    /// [`RoundEnd::Abandoned`].
    pub abandoned: u64,
    /// [`RoundEnd::SpinnerWon`].
    pub spinner_won: u64,
    /// [`RoundEnd::SpinnerLost`].
    pub spinner_lost: u64,
    /// [`RoundEnd::Decided`].
    pub decided: u64,
    /// [`RoundEnd::Returned`].
    pub returned: u64,
    /// The void ones by the number of their reason, as it was when they became void: a reason that is stated later changes nothing here.
    pub voids: [u64; VOID_REASONS],
    /// Voids that were withdrawn, among those taken back.
    pub voids_withdrawn: u64,
}

/// Reasons of a void, by their number in the events.
pub const VOID_REASONS: usize = RoundVoidedReason::BNotRandom as usize + 1;

impl RoundTally {
    fn end(&mut self, end: &RoundEnd) {
        let count = match end {
            RoundEnd::Settled => &mut self.settled,
            RoundEnd::Void(_) => &mut self.void,
            RoundEnd::Abandoned => &mut self.abandoned,
            RoundEnd::SpinnerWon => &mut self.spinner_won,
            RoundEnd::SpinnerLost => &mut self.spinner_lost,
            RoundEnd::Decided => &mut self.decided,
            RoundEnd::Returned => &mut self.returned,
        };
        *count += 1;
    }
}

impl Rounds {
    /// Takes in one event.
    pub(super) fn note(&mut self, event: &Event) {
        let Some(body) = &event.body else { return };
        if let Body::RoundVoided(voided) = body {
            let reason = usize::try_from(voided.reason).unwrap_or_default();
            if let Some(count) = self.tally.voids.get_mut(reason) {
                *count += 1;
            }
        }
        match turn(body, self.is_running(event.round_id)) {
            Turn::Begins if matches!(body, Body::RoundStarted(_)) => {
                self.begins();
                self.running = Some(RoundView {
                    round_id: event.round_id,
                    ..RoundView::default()
                });
            }
            Turn::Begins => self.begin_two_up(event.round_id),
            Turn::Ends(end) => self.end(event.round_id, end),
            Turn::GoesOn => self.take_back(event.round_id),
            Turn::ReasonStated(reason) => {
                if let Some(round) = self.ended.iter_mut().find(|round| round.round_id == event.round_id) {
                    round.end = Some(RoundEnd::Void(reason));
                }
            }
            Turn::None => {}
        }
        let running = self.running.as_mut();
        if let Some(round) = running.filter(|round| round.round_id == event.round_id) {
            round.note(body);
        }
    }

    fn is_running(&self, round_id: u64) -> bool {
        self.running.as_ref().is_some_and(|round| round.round_id == round_id)
    }

    /// A run begins: its numbers begin with the round that runs already.
    pub(super) fn count_anew(&mut self) {
        self.tally = RoundTally {
            begun: u64::from(self.running.is_some()),
            ..RoundTally::default()
        };
    }

    /// One that runs already is begun anew, not another one.
    fn begins(&mut self) {
        self.tally.begun += u64::from(self.running.is_none());
    }

    fn begin_two_up(&mut self, round_id: u64) {
        self.begins();
        self.running = Some(RoundView {
            round_id,
            two_up: Some(TwoUpRound::default()),
            ..RoundView::default()
        });
    }

    fn end(&mut self, round_id: u64, end: RoundEnd) {
        self.tally.end(&end);
        // A start in the middle of a round may know only its end.
        if !self.is_running(round_id) {
            self.tally.begun += 1;
        }
        let mut round = self
            .running
            .take_if(|round| round.round_id == round_id)
            .unwrap_or(RoundView {
                round_id,
                ..RoundView::default()
            });
        round.end = Some(end);
        self.ended.insert(0, round);
        self.ended.truncate(ROUNDS_KEPT);
    }

    fn take_back(&mut self, round_id: u64) {
        if let Some(at) = self.ended.iter().position(|round| round.round_id == round_id) {
            let mut round = self.ended.remove(at);
            let was_void = matches!(round.end.take(), Some(RoundEnd::Void(_)));
            self.tally.voids_withdrawn += u64::from(was_void);
            self.tally.taken_back += 1;
            // The one that ran meanwhile gives way to it.
            self.tally.abandoned += u64::from(self.running.is_some());
            self.running = Some(round);
        }
    }
}

/// What the enum's names begin with.
const VOID_PREFIX: &str = "ROUND_VOIDED_REASON_";

impl RoundView {
    fn note(&mut self, body: &Body) {
        if let Some(game) = &mut self.two_up {
            game.note(body);
            self.amended |= matches!(body, Body::SpinCorrected(_));
        }
        if let Body::TumblerSpun(spun) = body {
            self.spins = spun.spins;
        }
        if let Body::ResultEntered(result) = body {
            self.pressed.clone_from(&result.pressed);
            self.faces.clone_from(&result.faces);
            self.call = Some(result.call.clone());
            self.areas = result.areas.iter().map(|area| area.id.clone()).collect();
        }
        if let Body::ResultAmended(result) = body {
            self.pressed.clone_from(&result.pressed);
            self.faces.clone_from(&result.faces);
            self.call = Some(result.call.clone());
            self.areas = result.areas.iter().map(|area| area.id.clone()).collect();
            self.amended = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::event::{
        ResultAmended, ResultEntered, RoundReopened, RoundSettled, RoundStarted, RoundVoided, VoidReasonStated,
        VoidWithdrawn,
    };

    fn fold(events: &[(u64, Body)]) -> Rounds {
        let mut rounds = Rounds::default();
        for (round_id, body) in events {
            rounds.note(&Event {
                round_id: *round_id,
                body: Some(body.clone()),
                ..Event::default()
            });
        }
        rounds
    }

    fn started() -> Body {
        Body::RoundStarted(RoundStarted::default())
    }

    fn entered(faces: [u32; 3]) -> Body {
        Body::ResultEntered(ResultEntered {
            faces: faces.to_vec(),
            ..ResultEntered::default()
        })
    }

    fn settled() -> Body {
        Body::RoundSettled(RoundSettled::default())
    }

    #[test]
    fn rounds_end_and_are_kept_newest_first_with_the_amended_result() {
        let amended = Body::ResultAmended(ResultAmended {
            faces: vec![1, 3, 6],
            ..ResultAmended::default()
        });
        let rounds = fold(&[
            (1, started()),
            (1, entered([1, 1, 6])),
            (1, amended),
            (1, settled()),
            (2, started()),
            (2, entered([2, 2, 2])),
            (2, settled()),
            (3, started()),
        ]);
        let ended: Vec<_> = rounds
            .ended
            .iter()
            .map(|round| (round.round_id, round.faces.as_slice(), round.amended))
            .collect();
        assert_eq!(ended, [(2, &[2, 2, 2][..], false), (1, &[1, 3, 6], true)]);
        assert_eq!(rounds.running.map(|round| round.round_id), Some(3));
    }

    #[test]
    fn what_was_settled_or_void_can_be_taken_back() {
        let reopened = fold(&[
            (1, started()),
            (1, settled()),
            (1, Body::RoundReopened(RoundReopened {})),
        ]);
        assert_eq!(
            (reopened.running.map(|round| round.round_id), reopened.ended.len()),
            (Some(1), 0)
        );
        let mut voided = RoundVoided::default();
        voided.set_reason(RoundVoidedReason::NotStated);
        let voided = Body::RoundVoided(voided);
        let mut stated = VoidReasonStated::default();
        stated.set_reason(RoundVoidedReason::ANotFlat);
        let rounds = fold(&[(1, started()), (1, voided.clone()), (1, Body::VoidReasonStated(stated))]);
        assert_eq!(rounds.ended[0].end, Some(RoundEnd::Void("a_not_flat".into())));
        let withdrawn = fold(&[
            (1, started()),
            (1, voided),
            (1, Body::VoidWithdrawn(VoidWithdrawn::default())),
        ]);
        assert_eq!(withdrawn.running.map(|round| round.end), Some(None));
    }

    #[test]
    fn games_of_two_up_begin_and_end_in_their_own_ways() {
        use crate::table::event::{
            PlayersWagersDecided, SpinCorrected, SpinOutcome, SpinResulted, SpinnerChanged, SpinnerSelected,
            SpinnerWagerDecided, SpinnerWagerPlaced,
        };
        let selected = || Body::SpinnerSelected(SpinnerSelected::default());
        let placed = || Body::SpinnerWagerPlaced(SpinnerWagerPlaced::default());
        let spun = |outcome: SpinOutcome| {
            Body::SpinResulted(SpinResulted {
                outcome: outcome.into(),
                ..SpinResulted::default()
            })
        };
        let decided = |won| {
            Body::SpinnerWagerDecided(SpinnerWagerDecided {
                won,
                ..SpinnerWagerDecided::default()
            })
        };
        let corrected = Body::SpinCorrected(SpinCorrected {
            from_outcome: SpinOutcome::Tails.into(),
            outcome: SpinOutcome::Heads.into(),
            ..SpinCorrected::default()
        });
        let ends = Body::PlayersWagersDecided(PlayersWagersDecided {
            ends_game: true,
            ..PlayersWagersDecided::default()
        });
        let stopped = |wager_returned| {
            Body::SpinnerChanged(SpinnerChanged {
                wager_returned,
                ..SpinnerChanged::default()
            })
        };
        let rounds = fold(&[
            (1, selected()),
            (1, placed()),
            (1, spun(SpinOutcome::Tails)),
            (1, decided(false)),
            // What followed from a wrong key is taken back with it.
            (1, corrected),
            (1, spun(SpinOutcome::Odds)),
            (1, decided(true)),
            (2, placed()),
            (2, decided(false)),
            (2, stopped(false)),
            (3, selected()),
            (3, spun(SpinOutcome::Odds)),
            (3, ends),
            (4, selected()),
            (4, stopped(true)),
            (5, selected()),
            (5, stopped(false)),
        ]);
        let ended: Vec<_> = rounds
            .ended
            .iter()
            .rev()
            .map(|round| (round.round_id, round.end.clone().unwrap()))
            .collect();
        assert_eq!(
            ended,
            [
                (1, RoundEnd::SpinnerWon),
                (2, RoundEnd::SpinnerLost),
                (3, RoundEnd::Decided),
                (4, RoundEnd::Returned),
                (5, RoundEnd::Abandoned),
            ]
        );
        let first = rounds.ended.last().unwrap();
        assert!(first.amended);
        assert_eq!(first.two_up.as_ref().unwrap().spins, ["heads", "odds"]);
    }

    #[test]
    fn only_so_many_are_kept() {
        let events: Vec<_> = (1..=500).flat_map(|id| [(id, started()), (id, settled())]).collect();
        let rounds = fold(&events);
        assert_eq!(rounds.ended.len(), ROUNDS_KEPT);
        assert_eq!(rounds.ended[0].round_id, 500);
    }
}
