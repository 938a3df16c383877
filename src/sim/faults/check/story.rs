//! What the events say of the table, told as the law tells it: a judge's own fold, for those that need more than one event to judge.

use std::collections::{BTreeMap, BTreeSet};

use super::areas;
use crate::table::event::event::Body;
use crate::table::event::phase_checkpoint::Phase;
use crate::table::event::{
    CheckpointMode, Event, PhaseCheckpoint, ReadyAfter, RoundCheckpoint, RoundHeldCause, RoundVoided, SpinOutcome,
    TableCheckpoint, TwoUpGame, TwoUpPhase, TwoUpSpinner,
};

/// What the table may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Mode {
    #[default]
    Closed,
    Opening,
    Open,
    /// Test, entered from a closed table.
    Test,
    /// Test, entered from an open table.
    TestFromOpen,
}

/// How far a round is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Stage {
    Tumbling,
    Betting,
    Closed,
    Landed,
    Entered,
}

/// How a round ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    Settled,
    Provisional,
    Voided { automatic: bool },
    Abandoned,
}

/// A round.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Round {
    pub(super) id: u64,
    pub(super) stage: Stage,
    pub(super) held: bool,
    /// What was entered, sorted.
    pub(super) faces: Option<[u32; 3]>,
    /// What was entered, as the readout shows it.
    pub(super) numbers: String,
    pub(super) end: Option<End>,
}

/// What the result lights must show.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Lights {
    pub(super) heads: u32,
    pub(super) tails: u32,
    pub(super) odds_run: u32,
}

/// What the events say.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Story {
    pub(super) is_two_up: bool,
    pub(super) is_coins: bool,
    pub(super) is_alternative: bool,
    pub(super) mode: Mode,
    /// The running round, or the one that ended last.
    pub(super) round: Option<Round>,
    pub(super) lights: Lights,
    /// Each lock that stands: kind by reason.
    pub(super) locks: BTreeSet<(i32, i32)>,
    /// The text of each alert that stands.
    pub(super) alerts: BTreeMap<String, String>,
    pub(super) journal: String,
    pub(super) seqno: u64,
}

impl Story {
    /// The simulation begins with this game.
    pub(super) fn begin(&mut self, game: &str, layout: &str) {
        self.is_coins = game == "triple-penny-two-up";
        self.is_two_up = self.is_coins || game == "two-up-dice";
        self.is_alternative = layout == "appendix-2";
    }

    /// The round that runs.
    pub(super) fn running(&self) -> Option<&Round> {
        self.round
            .as_ref()
            .filter(|round| round.end.is_none() && self.mode == Mode::Open)
    }

    /// The bits of lamps or lights that must be lit; `None`: the events don't say (a walk, a test entry, a device's test).
    pub(super) fn lit(&self) -> Option<BTreeSet<usize>> {
        match self.mode {
            Mode::Opening | Mode::Test | Mode::TestFromOpen => None,
            Mode::Closed => Some(BTreeSet::new()),
            Mode::Open if self.is_two_up => Some(self.lights.lit()),
            Mode::Open => Some(
                self.running()
                    .filter(|round| round.stage == Stage::Entered)
                    .and_then(|round| round.faces)
                    .map(|faces| areas::lit(faces, self.is_alternative))
                    .unwrap_or_default(),
            ),
        }
    }

    /// The next event.
    pub(super) fn fold(&mut self, event: &Event) {
        self.journal.clone_from(&event.journal_id);
        self.seqno = event.seqno;
        let Some(body) = &event.body else { return };
        self.fold_mode(body);
        match body {
            Body::TableLocked(locked) => {
                self.locks.insert((locked.reason, locked.kind));
            }
            Body::TableUnlocked(unlocked) => {
                self.locks.remove(&(unlocked.reason, unlocked.kind));
            }
            Body::AlertRaised(raised) => {
                self.alerts.insert(raised.alert.clone(), raised.text.clone());
            }
            Body::AlertCleared(cleared) => {
                self.alerts.remove(&cleared.alert);
            }
            Body::CheckpointRecorded(recorded) if event.seqno <= 2 => {
                if let Some(state) = &recorded.state {
                    self.adopt(state);
                }
            }
            _ if self.is_two_up => self.fold_two_up(event.round_id, body),
            _ => self.fold_dice(event.round_id, body),
        }
    }

    fn fold_mode(&mut self, body: &Body) {
        self.mode = match (body, self.mode) {
            (Body::OpeningStarted(_), _) => Mode::Opening,
            (Body::OpeningAbandoned(_) | Body::TableClosed(_), _) => Mode::Closed,
            (Body::TableOpened(_), _) => {
                self.round = None;
                self.lights = Lights::default();
                Mode::Open
            }
            (Body::TestModeEntered(_), Mode::Open) => Mode::TestFromOpen,
            (Body::TestModeEntered(_), _) => Mode::Test,
            (Body::TestModeLeft(_), Mode::TestFromOpen) => Mode::Open,
            (Body::TestModeLeft(_), _) => Mode::Closed,
            (_, mode) => mode,
        };
    }

    fn fold_dice(&mut self, id: u64, body: &Body) {
        if matches!(body, Body::RoundStarted(_)) {
            self.round = Some(Round {
                id,
                stage: Stage::Tumbling,
                held: false,
                faces: None,
                numbers: String::new(),
                end: None,
            });
            return;
        }
        let Some(round) = self.round.as_mut().filter(|round| round.id == id) else {
            return;
        };
        match body {
            Body::BetsOpened(_) => round.stage = Stage::Betting,
            Body::BetsClosed(_) => round.stage = Stage::Closed,
            Body::DiceUncovered(_) => round.stage = Stage::Landed,
            Body::ResultEntered(entered) => {
                round.stage = Stage::Entered;
                round.enter(&entered.faces, &entered.pressed);
            }
            Body::ResultAmended(amended) => round.enter(&amended.faces, &amended.pressed),
            Body::RoundHeld(_) => round.held = true,
            Body::RoundResumed(_) => round.held = false,
            Body::RoundVoided(RoundVoided { automatic, .. }) => round.end = Some(End::Voided { automatic: *automatic }),
            Body::VoidWithdrawn(_) => {
                round.end = None;
                round.held = false;
            }
            Body::RoundAbandoned(_) => round.end = Some(End::Abandoned),
            Body::RoundSettled(settled) if settled.provisional => round.end = Some(End::Provisional),
            Body::RoundSettled(_) => round.end = Some(End::Settled),
            Body::RoundReopened(_) => round.end = None,
            _ => {}
        }
    }

    fn fold_two_up(&mut self, id: u64, body: &Body) {
        let is_new = self
            .round
            .as_ref()
            .is_none_or(|round| round.id != id || round.end.is_some());
        match body {
            Body::SpinnerSelected(_) | Body::SpinnerWagerPlaced(_) if is_new => {
                self.next_game();
                self.round = Some(Round {
                    id,
                    stage: Stage::Betting,
                    held: false,
                    faces: None,
                    numbers: String::new(),
                    end: None,
                });
            }
            Body::SpinResulted(resulted) => {
                self.lights = self.spun(resulted.outcome(), resulted.heads, resulted.tails, resulted.odds_run);
                self.stage(id, Stage::Betting);
            }
            Body::SpinCorrected(corrected) => {
                self.lights = self.spun(
                    corrected.outcome(),
                    corrected.heads,
                    corrected.tails,
                    corrected.odds_run,
                );
                self.end(id, None);
            }
            Body::SpinInvalidated(_) => self.stage(id, Stage::Betting),
            Body::InvalidSpinOverruled(_) => self.end(id, None),
            Body::BetsClosed(_) => self.stage(id, Stage::Closed),
            Body::SpinnerWagerDecided(_) => self.end(id, Some(End::Settled)),
            Body::PlayersWagersDecided(decided) if decided.ends_game => self.end(id, Some(End::Settled)),
            Body::SpinnerChanged(changed)
                if !changed.dealer && self.round.as_ref().is_some_and(|round| round.end.is_none()) =>
            {
                self.end(id, Some(End::Abandoned));
            }
            Body::RoundVoided(voided) => self.end(
                id,
                Some(End::Voided {
                    automatic: voided.automatic,
                }),
            ),
            Body::RoundAbandoned(_) => self.end(id, Some(End::Abandoned)),
            _ => {}
        }
    }

    fn stage(&mut self, id: u64, stage: Stage) {
        if let Some(round) = self.round.as_mut().filter(|round| round.id == id) {
            round.stage = stage;
        }
    }

    fn end(&mut self, id: u64, end: Option<End>) {
        if let Some(round) = self.round.as_mut().filter(|round| round.id == id) {
            round.end = end;
        }
    }

    /// With dice a light for each heads, tails and odds of the game; with coins as many of the side as the last spin shows.
    fn spun(&self, outcome: SpinOutcome, heads: u32, tails: u32, odds_run: u32) -> Lights {
        let coins = |heads, tails| Lights {
            heads,
            tails,
            odds_run: 0,
        };
        match outcome {
            _ if !self.is_coins => Lights { heads, tails, odds_run },
            SpinOutcome::Heads => coins(2, 0),
            SpinOutcome::Tails => coins(0, 2),
            SpinOutcome::TripleHeads => coins(3, 0),
            SpinOutcome::TripleTails => coins(0, 3),
            SpinOutcome::Odds | SpinOutcome::Unspecified => Lights::default(),
        }
    }

    /// With dice lights go out when the next game begins; with coins the last valid spin stays shown.
    fn next_game(&mut self) {
        if !self.is_coins {
            self.lights = Lights::default();
        }
    }

    /// A new journal carries the state of the one before.
    fn adopt(&mut self, state: &TableCheckpoint) {
        self.mode = match (state.mode(), state.below_test()) {
            (CheckpointMode::Opening, _) => Mode::Opening,
            (CheckpointMode::Open, _) => Mode::Open,
            (CheckpointMode::Test, CheckpointMode::Open) => Mode::TestFromOpen,
            (CheckpointMode::Test, _) => Mode::Test,
            (CheckpointMode::Closed | CheckpointMode::Unspecified, _) => Mode::Closed,
        };
        self.locks = state.locks.iter().map(|lock| (lock.reason, lock.kind)).collect();
        // One that is over and was not acknowledged is still told of, and stands no more.
        let alerts = state.alerts.iter().filter(|alert| !alert.over);
        self.alerts = alerts.map(|alert| (alert.alert.clone(), alert.text.clone())).collect();
        self.lights = Lights::default();
        self.round = state.phase.as_ref().and_then(|phase| self.adopt_phase(phase));
    }

    fn adopt_phase(&mut self, phase: &PhaseCheckpoint) -> Option<Round> {
        let of = |round: Option<&RoundCheckpoint>, stage| {
            round.map(|round| Round {
                id: round.round_id,
                stage,
                held: round.held() != RoundHeldCause::Unspecified,
                faces: None,
                numbers: String::new(),
                end: None,
            })
        };
        match phase.phase.as_ref()? {
            Phase::Ready(ready) => {
                let after = ready.after();
                let before = ready.before.as_ref().and_then(|before| self.adopt_phase(before))?;
                let end = match after {
                    ReadyAfter::Settled => End::Provisional,
                    ReadyAfter::Voided => End::Voided { automatic: true },
                    ReadyAfter::Abandoned | ReadyAfter::Nothing | ReadyAfter::Unspecified => End::Abandoned,
                };
                Some(Round {
                    end: Some(end),
                    ..before
                })
            }
            Phase::Tumbling(tumbling) => of(tumbling.round.as_ref(), Stage::Tumbling),
            Phase::Betting(betting) => of(betting.round.as_ref(), Stage::Betting),
            Phase::Closed(closed) => of(closed.round.as_ref(), Stage::Closed),
            Phase::Landed(landed) => of(landed.round.as_ref(), Stage::Landed),
            Phase::Entered(entered) => {
                let mut round = of(entered.round.as_ref(), Stage::Entered)?;
                round.enter(&entered.faces, &entered.pressed);
                Some(round)
            }
            Phase::TwoUp(course) => {
                if let Some(shown) = &course.shown {
                    self.lights = self.spun(shown.outcome(), shown.heads, shown.tails, shown.odds_run);
                }
                // What is spun out is the bonus area of a game that has ended.
                let is_spun_out =
                    |game: &TwoUpGame| matches!(game.spinner(), TwoUpSpinner::RunOut | TwoUpSpinner::RunOutOfDealer);
                let ended = matches!(course.phase(), TwoUpPhase::Decide | TwoUpPhase::Select)
                    || course.game.as_ref().is_some_and(is_spun_out);
                course.game.as_ref().map(|game| Round {
                    id: game.round_id,
                    stage: if course.phase() == TwoUpPhase::Closed {
                        Stage::Closed
                    } else {
                        Stage::Betting
                    },
                    held: false,
                    faces: None,
                    numbers: String::new(),
                    end: ended.then_some(End::Settled),
                })
            }
        }
    }
}

impl Round {
    fn enter(&mut self, faces: &[u32], pressed: &[u32]) {
        self.faces = <[u32; 3]>::try_from(faces).ok();
        let shown = if pressed.is_empty() { faces } else { pressed };
        self.numbers = shown.iter().map(u32::to_string).collect();
    }
}

impl Lights {
    /// Bits 0 to 2 heads, 3 to 5 tails, 6 to 10 odds.
    fn lit(self) -> BTreeSet<usize> {
        let row = |first: usize, count: u32| (first..).take(usize::try_from(count).unwrap_or(0));
        row(0, self.heads)
            .chain(row(3, self.tails))
            .chain(row(6, self.odds_run))
            .collect()
    }
}
