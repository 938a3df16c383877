//! What a spin does: results, invalid spins, overruling. PURE.

use super::operation::{Cause, Decision, Done, Effect, GameEnd, Role};
use super::{Answered, DICE_LOST_FOR_A_NEW_SET, Declared, Game, Machine, Spinner, State, done, refuse};
use crate::rules::citation::qld_sch_13;
use crate::rules::two_up::{Resolved, Side, Wager, WagerName};
use crate::rules::two_up_dice::{
    Counts, DICE_SPUN, HITS_TO_WIN, InvalidReason, ODDS_TO_LOSE, PLAYER_ODDS, SPINNER_ODDS, Spun,
};
use crate::rules::wager::Outcome;

/// What the last spin decides for players, and for a dealer who spins (s5(8), s12): heads, tails, or the fifth odds in a row. The
/// table's run counts, also for a wager placed in the middle of it (TD-13).
#[must_use]
pub fn decision(spun: Spun, after: Counts) -> Option<Decision> {
    match spun.side() {
        Some(side) => Some(Decision::Side(side)),
        None => (after.odds >= ODDS_TO_LOSE).then_some(Decision::OddsOut),
    }
}

fn player_outcome(wager: Wager, by: Decision) -> Outcome {
    if by == Decision::Side(wager.side) {
        PLAYER_ODDS.won(wager.stake)
    } else {
        Outcome::Lost
    }
}

/// How a decision ends the game of a spinner whose wager is on `side`; `None` while undecided: a heads or tails of its own side that
/// isn't the third (s8).
#[must_use]
pub fn spinner_ends(side: Side, by: Decision, after: Counts) -> Option<GameEnd> {
    if by != Decision::Side(side) {
        return Some(GameEnd::SpinnerLost(by));
    }
    (after.of(side) >= HITS_TO_WIN).then_some(GameEnd::SpinnerWon)
}

impl Machine {
    pub(super) fn spin(&mut self, spun: Spun) -> Answered {
        match self.state {
            State::Closed(game) => Ok(self.valid(game, spun)),
            State::Select => refuse(Cause::NoSpinner, qld_sch_13!("s5")),
            State::Betting(_) => refuse(Cause::NoMoreBetsNotCalled, qld_sch_13!("s7(1)")),
            State::Decide { .. } => refuse(Cause::NoGame, qld_sch_13!("s10(1), s6(1)")),
        }
    }

    fn valid(&mut self, mut game: Game, spun: Spun) -> Done {
        self.counts = self.counts.and(spun);
        if let Spinner::Player(tenure) = &mut game.spinner {
            tenure.spun_valid();
        }
        self.state = State::Betting(game);
        let Some(by) = decision(spun, self.counts) else {
            return Done::default();
        };
        let mut resolved = Vec::new();
        let ended = match game.wager {
            None => Some(GameEnd::Dealer(by)),
            Some(placed) => spinner_ends(placed.wager.side, by, self.counts).inspect(|ended| {
                resolved.push(Resolved {
                    name: WagerName::Spinner,
                    wager: placed.wager,
                    outcome: match ended {
                        GameEnd::SpinnerWon => SPINNER_ODDS.won(placed.wager.stake),
                        GameEnd::SpinnerLost(_) | GameEnd::Dealer(_) => Outcome::Lost,
                    },
                });
            }),
        };
        resolved.extend(
            std::mem::take(&mut self.players)
                .into_iter()
                .map(|(name, placed)| Resolved {
                    name: WagerName::Player(name),
                    wager: placed.wager,
                    outcome: player_outcome(placed.wager, by),
                }),
        );
        let effects = ended.map_or_else(Vec::new, |ended| vec![self.end_game(game, ended)]);
        Done {
            resolved,
            effects,
            game_end: ended,
        }
    }

    fn end_game(&mut self, game: Game, ended: GameEnd) -> Effect {
        match game.spinner.after(ended, self.settings) {
            None => {
                self.state = State::Select;
                Effect::SelectSpinner
            }
            Some(spinner) => {
                self.state = State::Decide { spinner, ended };
                match spinner {
                    Spinner::Dealer => Effect::DealerMayStopOrContinue,
                    Spinner::Player(_) | Spinner::TakenOver { .. } => Effect::SpinnerMayContinue,
                }
            }
        }
    }

    /// Nothing on the layout or the lights changes. Before the call a throw can be barred by discretion only (TD-10).
    pub(super) fn invalid(&mut self, reason: InvalidReason, by: Role, lost: u8) -> Answered {
        let (game, declared) = match self.state {
            State::Closed(game) => (game, Declared::AfterCall(game)),
            State::Betting(game) if reason == InvalidReason::DealerDiscretion => (game, Declared::BeforeCall),
            State::Betting(_) => return refuse(Cause::NoMoreBetsNotCalled, qld_sch_13!("s7(1)")),
            State::Select => return refuse(Cause::NoSpinner, qld_sch_13!("s5")),
            State::Decide { .. } => return refuse(Cause::NoGame, qld_sch_13!("s10(1), s6(1)")),
        };
        if by != Role::Dealer {
            return refuse(Cause::NotAuthorised, qld_sch_13!("s20(1), s20(3)"));
        }
        let can_be_lost = match reason {
            InvalidReason::OffTable => DICE_SPUN.min(self.dice()),
            InvalidReason::BothHands
            | InvalidReason::NotSimultaneous
            | InvalidReason::MissedFarEnd
            | InvalidReason::InChipTray
            | InvalidReason::Stacked
            | InvalidReason::InCupOrOnRail
            | InvalidReason::Uneven
            | InvalidReason::DealerDiscretion => 0,
        };
        if lost > can_be_lost {
            return refuse(Cause::LostDice, qld_sch_13!("s20(1)(a)(viii), s22(1)"));
        }
        let mut done = self.barred(game);
        done.effects.extend(self.lose_dice(lost));
        self.declared = Some(declared);
        Ok(done)
    }

    fn barred(&mut self, mut game: Game) -> Done {
        let why = match &mut game.spinner {
            Spinner::Player(tenure) => tenure.spun_invalid(),
            Spinner::Dealer | Spinner::TakenOver { .. } => None,
        };
        self.state = State::Betting(game);
        why.map_or_else(Done::default, |why| self.take_over(game, why))
    }

    fn lose_dice(&mut self, lost: u8) -> Option<Effect> {
        let before = self.missing;
        self.missing = before.saturating_add(lost);
        (before < DICE_LOST_FOR_A_NEW_SET && self.missing >= DICE_LOST_FOR_A_NEW_SET).then_some(Effect::NewSetDue)
    }

    /// The spin stands with this result, a take-over by it is undone (s20(4)). It goes one way, and until the next wager, call or
    /// act of the spinner (TD-12). There is no rule that corrects a valid result (TD-20). Dice that it lost stay lost.
    pub(super) fn overrule(&mut self, spun: Spun, by: Role) -> Answered {
        let rule = qld_sch_13!("s20(4)");
        let Some(declared) = self.declared else {
            return refuse(Cause::NothingToOverrule, rule);
        };
        if by != Role::KeyEmployee {
            return refuse(Cause::NotAuthorised, rule);
        }
        let Declared::AfterCall(game) = declared else {
            return refuse(Cause::NoMoreBetsNotCalled, qld_sch_13!("s7(1)"));
        };
        let mut overruled = done(&[Effect::Overruled]);
        let stands = self.valid(game, spun);
        overruled.effects.extend(stands.effects);
        Ok(Done {
            effects: overruled.effects,
            ..stands
        })
    }
}
