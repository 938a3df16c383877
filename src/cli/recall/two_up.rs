//! A game of two-up as the journal has it: spinner, wager, spins, invalid spins with their reasons, overruling, correction, decision.

use super::{at, measured};
use crate::cli::describe::{actor, areas, code, word};
use crate::table::event::{Body, Event, SpinCorrected, SpinResulted, SpinnerChanged};
use serde::Serialize;
use std::fmt::Write;

/// A game.
#[derive(Serialize, PartialEq, Eq, Debug, Default)]
pub(super) struct TwoUpGame {
    /// "player" or "dealer", as it began.
    spinner: String,
    /// The side of the spinner's wager; `None`: there was none.
    wager: Option<String>,
    /// Valid results in order, corrected ones as corrected.
    spins: Vec<Spin>,
    invalid: Vec<InvalidSpin>,
    corrected: Vec<Correction>,
    /// Who spun from then on, and why.
    changes: Vec<Change>,
    /// Lights in whose place a card was shown.
    cards: Vec<String>,
    /// Dice or coins that left the table.
    off_table: u32,
    /// What the spinner's wager paid, when it won: "15 to 2".
    pays: Option<String>,
}

#[derive(Serialize, PartialEq, Eq, Debug, Default)]
struct Spin {
    at: String,
    outcome: String,
    heads: u32,
    tails: u32,
    odds_run: u32,
    source: String,
    by: Option<String>,
    /// Milliseconds from the call; absent: not measured.
    call_to_result_ms: Option<u32>,
}

#[derive(Serialize, PartialEq, Eq, Debug)]
struct InvalidSpin {
    at: String,
    /// As the rules number it: "off_table", "not_stated".
    reason: String,
    overruled: bool,
    by: Option<String>,
}

#[derive(Serialize, PartialEq, Eq, Debug)]
struct Correction {
    at: String,
    from: String,
    to: String,
    by: Option<String>,
}

#[derive(Serialize, PartialEq, Eq, Debug)]
struct Change {
    at: String,
    /// "stopped", "lost", "invalid spins", "relieved".
    reason: String,
    /// The dealer (boxer) spins on; else dice or coins are offered on.
    dealer_spins: bool,
}

/// What an event means for how the round ended.
pub(super) enum Ending {
    /// It is as it was.
    Unchanged,
    /// So.
    Ended(&'static str),
    /// It goes on after all.
    GoesOn,
}

/// The event begins a game: a selection, or the wager of a winner who goes on.
pub(super) fn begins(body: &Body) -> bool {
    if let Body::SpinnerWagerPlaced(placed) = body {
        return !placed.game.is_empty();
    }
    matches!(body, Body::SpinnerSelected(_))
}

impl TwoUpGame {
    /// Takes in one event of the game.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the course tells every event, whatever its kind"
    )]
    pub(super) fn take(&mut self, event: &Event, body: &Body) -> Ending {
        match body {
            Body::SpinnerSelected(selected) => {
                let spinner = if selected.dealer { "dealer" } else { "player" };
                spinner.clone_into(&mut self.spinner);
            }
            Body::SpinnerWagerPlaced(placed) => {
                self.wager = Some(word(placed.side().as_str_name(), "SIDE_"));
                if self.spinner.is_empty() {
                    "player".clone_into(&mut self.spinner);
                }
            }
            Body::SpinResulted(spun) => self.spins.push(Spin::of(event, spun)),
            Body::SpinInvalidated(invalid) => self.invalid.push(InvalidSpin {
                at: at(event),
                reason: code(invalid.reason().as_str_name(), "SPIN_INVALIDATED_REASON_"),
                overruled: false,
                by: event.actor.as_ref().map(actor),
            }),
            Body::InvalidSpinOverruled(_) => {
                if let Some(invalid) = self.invalid.last_mut() {
                    invalid.overruled = true;
                }
                return Ending::GoesOn;
            }
            Body::SpinCorrected(corrected) => {
                self.correct(event, corrected);
                return Ending::GoesOn;
            }
            Body::ResultCardRequired(card) => self.cards.push(areas(card.light.as_slice())),
            Body::DieOffTable(off) => self.off_table = self.off_table.saturating_add(off.dice),
            Body::SpinnerWagerDecided(decided) if decided.won => {
                let pays = decided.odds.as_ref();
                self.pays = pays.map(|odds| format!("{} to {}", odds.pays, odds.per));
                return Ending::Ended("spinner won");
            }
            Body::SpinnerWagerDecided(_) => return Ending::Ended("spinner lost"),
            Body::PlayersWagersDecided(decided) if decided.ends_game => return Ending::Ended("decided"),
            Body::SpinnerChanged(changed) => return self.change(event, changed),
            _ => {}
        }
        Ending::Unchanged
    }

    fn correct(&mut self, event: &Event, corrected: &SpinCorrected) {
        let to = word(corrected.outcome().as_str_name(), "SPIN_OUTCOME_");
        if let Some(spin) = self.spins.last_mut() {
            spin.outcome.clone_from(&to);
            (spin.heads, spin.tails) = (corrected.heads, corrected.tails);
            spin.odds_run = corrected.odds_run;
        }
        self.corrected.push(Correction {
            at: at(event),
            from: word(corrected.from_outcome().as_str_name(), "SPIN_OUTCOME_"),
            to,
            by: event.actor.as_ref().map(actor),
        });
        self.pays = None;
    }

    fn change(&mut self, event: &Event, changed: &SpinnerChanged) -> Ending {
        self.changes.push(Change {
            at: at(event),
            reason: word(changed.reason().as_str_name(), "SPINNER_CHANGED_REASON_"),
            dealer_spins: changed.dealer,
        });
        if changed.wager_returned {
            Ending::Ended("wager returned")
        } else {
            Ending::Unchanged
        }
    }

    /// Lines for a person.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |what: &str, told: String| {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "  {what:8} {told}");
        };
        let wager = match &self.wager {
            Some(side) => format!(", on {side}"),
            None => ", without a wager".to_owned(),
        };
        line("spinner", format!("{}{wager}", self.spinner));
        if !self.spins.is_empty() {
            let spins: Vec<&str> = self.spins.iter().map(|spin| spin.outcome.as_str()).collect();
            line("spins", spins.join(", "));
        }
        for invalid in &self.invalid {
            let overruled = if invalid.overruled {
                ", overruled: it stands"
            } else {
                ""
            };
            line(
                "invalid",
                format!("{}{}{overruled}", invalid.reason, by(invalid.by.as_ref())),
            );
        }
        for Correction { from, to, by: who, .. } in &self.corrected {
            line("correct", format!("{to}, keyed as {from}{}", by(who.as_ref())));
        }
        if self.off_table > 0 {
            line("lost", format!("{} off the table", self.off_table));
        }
        if !self.cards.is_empty() {
            line("cards", self.cards.join(", "));
        }
        for change in &self.changes {
            let then = if change.dealer_spins {
                "the dealer spins on"
            } else {
                "offered on"
            };
            line("change", format!("{}: {then}", change.reason));
        }
        if let Some(pays) = &self.pays {
            line("pays", format!("{pays} on the spinner's wager"));
        }
        text
    }
}

impl Spin {
    fn of(event: &Event, spun: &SpinResulted) -> Spin {
        Spin {
            at: at(event),
            outcome: word(spun.outcome().as_str_name(), "SPIN_OUTCOME_"),
            heads: spun.heads,
            tails: spun.tails,
            odds_run: spun.odds_run,
            source: super::source(spun.source()),
            by: event.actor.as_ref().map(actor),
            call_to_result_ms: measured(spun.call_to_result_ms),
        }
    }
}

fn by(who: Option<&String>) -> String {
    who.map(|who| format!(" ({who})")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::event::{
        Area, InvalidSpinOverruled, Side, SpinInvalidated, SpinInvalidatedReason, SpinOutcome, SpinnerSelected,
        SpinnerWagerDecided, SpinnerWagerPlaced,
    };

    fn spun(outcome: SpinOutcome) -> Body {
        Body::SpinResulted(SpinResulted {
            outcome: outcome.into(),
            ..SpinResulted::default()
        })
    }

    #[test]
    fn a_game_is_told_with_what_went_wrong_in_it() {
        let mut game = TwoUpGame::default();
        let invalid = SpinInvalidated {
            reason: SpinInvalidatedReason::OffTable.into(),
            ..SpinInvalidated::default()
        };
        let corrected = SpinCorrected {
            from_outcome: SpinOutcome::Tails.into(),
            outcome: SpinOutcome::Heads.into(),
            ..SpinCorrected::default()
        };
        let won = SpinnerWagerDecided {
            won: true,
            odds: Some(Area {
                id: String::new(),
                pays: 15,
                per: 2,
            }),
            may_continue: true,
        };
        let mut ended = "running";
        for body in [
            Body::SpinnerSelected(SpinnerSelected::default()),
            Body::SpinnerWagerPlaced(SpinnerWagerPlaced {
                side: Side::Heads.into(),
                ..SpinnerWagerPlaced::default()
            }),
            Body::SpinInvalidated(invalid),
            Body::InvalidSpinOverruled(InvalidSpinOverruled {}),
            spun(SpinOutcome::Odds),
            spun(SpinOutcome::Tails),
            Body::SpinnerWagerDecided(SpinnerWagerDecided::default()),
            Body::SpinCorrected(corrected),
            spun(SpinOutcome::Heads),
            Body::SpinnerWagerDecided(won),
        ] {
            match game.take(&Event::default(), &body) {
                Ending::Unchanged => {}
                Ending::Ended(how) => ended = how,
                Ending::GoesOn => ended = "running",
            }
        }
        assert_eq!(ended, "spinner won");
        let told: Vec<&str> = game.text().leak().lines().collect();
        assert_eq!(
            told,
            [
                "  spinner  player, on heads",
                "  spins    odds, heads, heads",
                "  invalid  off_table, overruled: it stands",
                "  correct  heads, keyed as tails",
                "  pays     15 to 2 on the spinner's wager",
            ]
        );
    }
}
