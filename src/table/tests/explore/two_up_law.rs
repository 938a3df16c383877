//! The law of two-up, read from its events: the spins of a game, what each decides, and what stands on the lights.
//!
//! It counts for itself; it knows nothing of who may go on, of sets of dice, or of reasons: whom the law lets spin is tried elsewhere.

use super::form::{Form, Formed};
use super::law::{End, Ground, Law, Lights, is_supervisor, must};
use super::world::{World, bytes_of};
use crate::rules::two_up::Side;
use crate::table::event::{self, Body, Event, Mode, SpinOutcome, TableState};
use crate::table::input::{Contact, Input, Key, OperatorAct, Outcome, TwoUpKey};
use std::collections::BTreeSet;

/// What is spun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spun {
    Dice,
    Coins,
}

/// Where a game stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    Select,
    Betting,
    Closed,
    Choice,
    Decide,
}

/// Who spins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Who {
    /// A player, or the dealer in a player's place: the wager decides.
    Player,
    /// The dealer, because everyone declined.
    Dealer,
    /// The boxer, for what lies in the bonus area; then the coins are offered.
    RunOut,
    /// The same after a game of a boxer for whom everyone declined, who may then go on.
    RunOutOfDealer,
}

impl Who {
    /// Where a run-out leads.
    fn behind(self) -> Option<Stage> {
        match self {
            Who::Player | Who::Dealer => None,
            Who::RunOut => Some(Stage::Select),
            Who::RunOutOfDealer => Some(Stage::Decide),
        }
    }
}

/// What was spun of a game so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Tally {
    heads: u32,
    tails: u32,
    odds: u32,
}

/// The game as it stood at the call of its last spin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Before {
    tally: Tally,
    shown: Option<Outcome>,
    who: Who,
    round: u64,
}

/// The last spin, while something can still be done about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Last {
    Nothing,
    Invalid(Before),
    Valid(Before),
}

#[derive(Clone, PartialEq, Debug)]
pub struct TwoUpLaw {
    spun: Spun,
    pub ground: Ground,
    pub stage: Stage,
    pub who: Who,
    pub wager: Option<Side>,
    /// There was a call in this game.
    called: bool,
    /// The dealer spins in the player's place.
    taken: bool,
    tally: Tally,
    shown: Option<Outcome>,
    last: Last,
    /// Lights that a person says fail, and those in whose place a card is shown.
    failed: BTreeSet<String>,
    cards: BTreeSet<String>,
    /// What the last result decides and no event has said yet: players' wagers, the spinner's.
    players: Option<Outcome>,
    spinner: Option<bool>,
    /// The result that a person gives with this decision.
    given: Option<Outcome>,
}

impl TwoUpLaw {
    pub fn new(spun: Spun) -> Self {
        TwoUpLaw {
            spun,
            ground: Ground::new(),
            stage: Stage::Select,
            who: Who::Player,
            wager: None,
            called: false,
            taken: false,
            tally: Tally::default(),
            shown: None,
            last: Last::Nothing,
            failed: BTreeSet::new(),
            cards: BTreeSet::new(),
            players: None,
            spinner: None,
            given: None,
        }
    }

    fn dice(&self) -> bool {
        self.spun == Spun::Dice
    }

    /// Bits 0 to 2 heads, 3 to 5 tails, 6 to 10 odds. Dice: one light for each in this game, odds in a row. Coins: as many of the
    /// side as show it.
    fn picture(&self) -> Vec<u8> {
        let Tally { heads, tails, odds } = self.tally;
        let rows = match (self.spun, self.shown) {
            (Spun::Dice, _) => [(0, heads), (3, tails), (6, odds)],
            (Spun::Coins, Some(Outcome::Heads)) => [(0, 2), (3, 0), (6, 0)],
            (Spun::Coins, Some(Outcome::TripleHeads)) => [(0, 3), (3, 0), (6, 0)],
            (Spun::Coins, Some(Outcome::Tails)) => [(0, 0), (3, 2), (6, 0)],
            (Spun::Coins, Some(Outcome::TripleTails)) => [(0, 0), (3, 3), (6, 0)],
            (Spun::Coins, Some(Outcome::Odds) | None) => [(0, 0), (3, 0), (6, 0)],
        };
        let lit = rows.iter().flat_map(|(first, lit)| (0..*lit).map(move |n| first + n));
        bytes_of(&lit.map(|bit| u16::try_from(bit).unwrap()).collect::<Vec<u16>>())
    }

    fn stands(&self, stages: &[Stage], what: &str) -> Result<(), String> {
        must(stages.contains(&self.stage), &format!("{what} in {:?}", self.stage))
    }

    /// A new game. With dice all lights go out (TD-5); with coins the last result stays (TP-13).
    fn begins(&mut self, event: &Event, who: Who) -> Result<(), String> {
        self.ground.begins(event)?;
        must(self.ground.locks.is_empty(), "a game began though a lock stands")?;
        self.stage = Stage::Betting;
        self.who = who;
        self.wager = None;
        self.called = false;
        self.taken = false;
        self.tally = Tally::default();
        self.last = Last::Nothing;
        if self.dice() {
            self.shown = None;
            self.cards.clear();
        }
        Ok(())
    }

    fn over(&mut self, end: End, stage: Stage) {
        self.ground.ends(end);
        self.stage = stage;
    }

    /// A valid spin: what it counts and decides.
    fn result(&mut self, spun: Outcome, before: Before, told: (u32, u32, u32), lights: &[u8]) -> Result<(), String> {
        must(
            self.given == Some(spun),
            &format!("{spun:?} was recorded, and {:?} was given", self.given),
        )?;
        let mut tally = before.tally;
        match spun {
            Outcome::Odds => {
                must(self.dice(), "odds with coins")?;
                tally.odds += 1;
            }
            Outcome::TripleHeads | Outcome::TripleTails => must(!self.dice(), "a triple with dice")?,
            Outcome::Heads | Outcome::Tails => {}
        }
        let counts = before.who.behind().is_none();
        match spun {
            Outcome::Heads | Outcome::TripleHeads => {
                tally.heads += u32::from(counts);
                tally.odds = 0;
            }
            Outcome::Tails | Outcome::TripleTails => {
                tally.tails += u32::from(counts);
                tally.odds = 0;
            }
            Outcome::Odds => {}
        }
        must(
            tally.heads <= 3 && tally.tails <= 3 && tally.odds <= 5,
            "a spin of a game that has ended",
        )?;
        must(
            told == (tally.heads, tally.tails, tally.odds),
            &format!("counted {told:?}, and not {tally:?}"),
        )?;
        self.tally = tally;
        self.shown = Some(spun);
        let lit = self.names();
        self.cards.retain(|card| lit.contains(card));
        must(lights == self.picture(), "other lights than the law's")?;
        let side = match spun {
            Outcome::Heads | Outcome::TripleHeads => Some(Side::Heads),
            Outcome::Tails | Outcome::TripleTails => Some(Side::Tails),
            Outcome::Odds => None,
        };
        self.players = match spun {
            Outcome::Odds => (tally.odds == 5).then_some(Outcome::Odds),
            Outcome::Heads | Outcome::Tails | Outcome::TripleHeads | Outcome::TripleTails => Some(spun),
        };
        let hits = |side: Side| match side {
            Side::Heads => tally.heads,
            Side::Tails => tally.tails,
        };
        self.spinner = match (before.who, self.wager, side) {
            (Who::Player, Some(wager), Some(side)) if wager == side => (hits(side) == 3).then_some(true),
            (Who::Player, Some(_), Some(_)) => Some(false),
            (Who::Player, Some(_), None) => (tally.odds == 5).then_some(false),
            (_, _, _) => None,
        };
        self.last = Last::Valid(before);
        self.who = before.who;
        self.ground.round = before.round;
        self.stage = Stage::Betting;
        Ok(())
    }

    fn before(&self) -> Before {
        Before {
            tally: self.tally,
            shown: self.shown,
            who: self.who,
            round: self.ground.round,
        }
    }

    /// The acts of a round.
    fn play(&mut self, event: &Event, world: &World) -> Result<(), String> {
        let Some(body) = &event.body else { return Ok(()) };
        match body {
            Body::SpinnerSelected(selected) => {
                self.ground.takes("a spinner")?;
                if let (Stage::Closed, Some(behind)) = (self.stage, self.who.behind()) {
                    // Until its result: nothing lay in the bonus area after all.
                    self.over(End::Abandoned, behind);
                }
                self.stands(&[Stage::Select, Stage::Decide], "a spinner")?;
                let who = if selected.dealer { Who::Dealer } else { Who::Player };
                self.begins(event, who)
            }
            Body::SpinnerWagerPlaced(placed) => {
                self.ground.takes("a spinner's wager")?;
                if self.stage == Stage::Decide {
                    self.begins(event, Who::Player)?;
                }
                self.stands(&[Stage::Betting], "a spinner's wager")?;
                must(self.who == Who::Player, "a wager of a dealer who spins")?;
                // With dice until the first call (TD-9), with coins until the first valid spin (Qld 1998 s472(10)).
                let free = match self.spun {
                    Spun::Dice => !self.called,
                    Spun::Coins => self.tally.heads + self.tally.tails == 0,
                };
                must(free, "a wager changed when it was locked")?;
                self.last = Last::Nothing;
                self.wager = match placed.side() {
                    event::Side::Heads => Some(Side::Heads),
                    event::Side::Tails => Some(Side::Tails),
                    event::Side::Unspecified => return Err("a wager on nothing".into()),
                };
                Ok(())
            }
            Body::BetsClosed(closed) => {
                self.ground.takes("bets closed")?;
                if closed.run_out {
                    self.stands(&[Stage::Select, Stage::Decide], "a run-out")?;
                    must(!self.dice(), "a run-out with dice")?;
                    self.who = match self.stage {
                        Stage::Decide => Who::RunOutOfDealer,
                        _ => Who::RunOut,
                    };
                    self.ground.round = event.round_id;
                } else {
                    self.stands(&[Stage::Betting], "bets closed")?;
                    must(
                        self.who != Who::Player || self.wager.is_some(),
                        "a call without the spinner's wager",
                    )?;
                }
                self.called = true;
                self.last = Last::Nothing;
                self.stage = Stage::Closed;
                Ok(())
            }
            Body::SpinResulted(resulted) => {
                self.ground.takes("a result")?;
                self.stands(&[Stage::Closed], "a result")?;
                let spun = Outcome::from_event(resulted.outcome()).ok_or("no result")?;
                let told = (resulted.heads, resulted.tails, resulted.odds_run);
                self.result(spun, self.before(), told, &resulted.lights)
            }
            Body::SpinInvalidated(invalidated) => {
                self.ground.takes("an invalid spin")?;
                if invalidated.before_call {
                    self.stands(&[Stage::Betting], "a spin before its call")?;
                    self.last = Last::Nothing;
                } else {
                    self.stands(&[Stage::Closed], "an invalid spin")?;
                    self.last = Last::Invalid(self.before());
                }
                self.stage = match (self.who.behind(), invalidated.must_choose) {
                    (Some(behind), _) => {
                        self.ground.round = 0;
                        behind
                    }
                    (None, true) => Stage::Choice,
                    (None, false) => Stage::Betting,
                };
                Ok(())
            }
            Body::InvalidSpinOverruled(_) => {
                self.ground.takes("an overruling")?;
                let Last::Invalid(before) = self.last else {
                    return Err("nothing to overrule".into());
                };
                must(is_authorised(event, world), "overruled without a supervisor")?;
                self.tally = before.tally;
                self.shown = before.shown;
                self.who = before.who;
                self.ground.round = before.round;
                self.taken = false;
                self.stage = Stage::Closed;
                Ok(())
            }
            Body::SpinCorrected(corrected) => {
                self.ground.takes("a correction")?;
                let Last::Valid(before) = self.last else {
                    return Err("nothing to correct".into());
                };
                must(is_authorised(event, world), "corrected without a supervisor")?;
                let from = self.shown.map_or(SpinOutcome::Unspecified, Outcome::to_event);
                must(corrected.from_outcome() == from, "corrected from another result")?;
                must(event.round_id == before.round, "corrected in another round")?;
                let spun = Outcome::from_event(corrected.outcome()).ok_or("no result")?;
                let told = (corrected.heads, corrected.tails, corrected.odds_run);
                self.result(spun, before, told, &corrected.lights)
            }
            Body::PlayersWagersDecided(decided) => {
                let by = Outcome::from_event(decided.outcome());
                must(
                    self.players.take() == by && by.is_some(),
                    "players' wagers decided by no result",
                )?;
                let dealer = self.who == Who::Dealer;
                must(
                    decided.ends_game == dealer,
                    "a dealer's game that doesn't end with its decision",
                )?;
                if decided.ends_game {
                    self.over(End::Decided, Stage::Decide);
                } else if let Some(behind) = self.who.behind() {
                    must(decided.run_out, "a run-out that doesn't end with its decision")?;
                    self.over(End::Decided, behind);
                }
                Ok(())
            }
            Body::SpinnerWagerDecided(decided) => {
                must(
                    self.spinner.take() == Some(decided.won),
                    "the spinner's wager decided by no result",
                )?;
                self.over(
                    End::Decided,
                    if decided.may_continue {
                        Stage::Decide
                    } else {
                        Stage::Select
                    },
                );
                Ok(())
            }
            Body::SpinnerChanged(changed) => {
                must(!self.ground.waits(), "a spinner changed at a frozen table")?;
                if changed.dealer {
                    self.stands(&[Stage::Betting, Stage::Closed, Stage::Choice], "a take-over")?;
                    if self.stage == Stage::Choice {
                        self.stage = Stage::Betting;
                    }
                    self.taken = true;
                } else {
                    if self.ground.round != 0 {
                        // Nothing was decided: it goes back, or waits for the next spinner.
                        self.over(End::Abandoned, Stage::Select);
                    }
                    self.stage = Stage::Select;
                }
                let by_law = event
                    .actor
                    .as_ref()
                    .is_some_and(|actor| actor.kind() == event::ActorKind::Gateway);
                if !by_law {
                    self.last = Last::Nothing;
                }
                Ok(())
            }
            Body::RoundAbandoned(_) => {
                self.stands(&[Stage::Betting], "abandoned")?;
                must(!self.called, "abandoned after a call")?;
                self.over(End::Abandoned, Stage::Select);
                Ok(())
            }
            Body::DieOffTable(_) | Body::DiceReplaced(_) => self.ground.takes("dice lost or found"),
            Body::ResultCardRequired(card) => {
                let light = card.light.as_ref().map(|light| light.id.as_str()).unwrap_or_default();
                must(
                    self.names().iter().any(|lit| lit == light),
                    "a card for a light that must be dark",
                )?;
                self.cards.insert(light.to_string());
                Ok(())
            }
            Body::LampFailed(failed) => {
                let reported = failed.area.iter().filter(|_| failed.reported);
                self.failed.extend(reported.map(|light| light.id.clone()));
                Ok(())
            }
            Body::LampRestored(restored) => {
                if let Some(light) = &restored.area {
                    self.failed.remove(&light.id);
                    self.cards.remove(&light.id);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The lights that must be on, by name.
    fn names(&self) -> Vec<String> {
        let rows = [("heads", 0, 3), ("tails", 3, 3), ("odds", 6, 5)];
        let lit = super::world::bits_of(&self.picture());
        let name = |bit: &u16| {
            let (row, first, _) = rows
                .iter()
                .find(|(_, first, many)| (*first..first + many).contains(bit))
                .unwrap();
            format!("{row}_{}", bit - first + 1)
        };
        lit.iter().map(name).collect()
    }
}

/// A supervisor, by command or by a key that is turned.
fn is_authorised(event: &Event, world: &World) -> bool {
    let by_key = event.actor.as_ref().is_some_and(|actor| actor.by_key);
    is_supervisor(event) && (!by_key || world.terminal.wire(Contact::SupervisorKey).closed)
}

fn keyed(shown: &[Key]) -> Option<Outcome> {
    match shown.last()? {
        Key::TwoUp(TwoUpKey::Heads) => Some(Outcome::Heads),
        Key::TwoUp(TwoUpKey::Tails) => Some(Outcome::Tails),
        Key::TwoUp(TwoUpKey::Odds) => Some(Outcome::Odds),
        Key::TwoUp(TwoUpKey::TripleHeads) => Some(Outcome::TripleHeads),
        Key::TwoUp(TwoUpKey::TripleTails) => Some(Outcome::TripleTails),
        _ => None,
    }
}

impl Law for TwoUpLaw {
    fn decides(&mut self, input: &Input) {
        self.given = match input {
            Input::Entry {
                shown, stale: false, ..
            } => keyed(shown),
            Input::Operator {
                act:
                    OperatorAct::Spin { outcome }
                    | OperatorAct::CorrectOutcome { outcome }
                    | OperatorAct::Overrule { outcome },
                ..
            } => Some(*outcome),
            _ => None,
        };
    }

    fn read(&mut self, event: &Event, world: &World) -> Result<(), String> {
        let decided = matches!(
            event.body,
            Some(Body::PlayersWagersDecided(_) | Body::SpinnerWagerDecided(_))
        );
        must(
            decided || (self.players.is_none() && self.spinner.is_none()) || self.ground.is_aside(event),
            "a result decides wagers, and no event says so",
        )?;
        if self.ground.read(event)? {
            if let Some(Body::TableOpened(_) | Body::TableClosed(_)) = event.body {
                let mut anew = TwoUpLaw::new(self.spun);
                anew.ground = self.ground.clone();
                anew.failed.clone_from(&self.failed);
                *self = anew;
            }
            return Ok(());
        }
        self.play(event, world)
    }

    fn lights(&self) -> Lights {
        match self.ground.mode {
            Mode::Opening => Lights::Any,
            Mode::Open => Lights::Are(vec![self.picture()]),
            _ => Lights::Are(vec![Vec::new()]),
        }
    }

    fn compare(&self, state: &TableState) -> Result<(), String> {
        must(
            self.players.is_none() && self.spinner.is_none(),
            "a result decides wagers, and no event says so",
        )?;
        self.ground.compare(state)?;
        if self.ground.mode != Mode::Open {
            return must(
                state.phase.is_empty() && state.lit.is_empty(),
                "play is published outside play",
            );
        }
        let phase = match self.stage {
            Stage::Select => "select",
            Stage::Betting => "betting",
            Stage::Closed => "closed",
            Stage::Choice => "choice",
            Stage::Decide => "decide",
        };
        must(
            state.phase == phase,
            &format!("published phase {:?}, not {phase:?}", state.phase),
        )?;
        let lit: Vec<&str> = state.lit.iter().map(|area| area.id.as_str()).collect();
        let bare: Vec<_> = self
            .names()
            .into_iter()
            .filter(|light| self.failed.contains(light))
            .collect();
        must(
            bare.iter().all(|light| self.cards.contains(light)),
            &format!("no card for {bare:?}"),
        )?;
        must(
            lit == self.names(),
            &format!("published lights {lit:?}, not {:?}", self.names()),
        )
    }

    fn is_running(&self) -> bool {
        self.ground.round != 0
    }

    fn waits(&self) -> bool {
        self.ground.waits()
    }

    fn end(&self) -> Option<End> {
        self.ground.end
    }

    fn forget_end(&mut self) {
        self.ground.end = None;
    }
}

impl Formed for TwoUpLaw {
    fn form(&self, f: &mut Form<'_>) {
        let TwoUpLaw {
            spun: _,
            ground,
            stage,
            who,
            wager,
            called,
            taken,
            tally,
            shown,
            last,
            failed,
            cards,
            players,
            spinner,
            given: _,
        } = self;
        ground.form(f);
        f.byte(*stage as u8);
        f.byte(*who as u8);
        wager.form(f);
        called.form(f);
        taken.form(f);
        let counts = |f: &mut Form<'_>, tally: &Tally| [tally.heads, tally.tails, tally.odds].form(f);
        counts(f, tally);
        shown.form(f);
        match last {
            Last::Nothing => f.byte(0),
            Last::Invalid(before) | Last::Valid(before) => {
                f.byte(if matches!(last, Last::Valid(_)) { 1 } else { 2 });
                let Before {
                    tally,
                    shown,
                    who,
                    round,
                } = before;
                counts(f, tally);
                shown.form(f);
                f.byte(*who as u8);
                f.round(*round);
            }
        }
        failed.form(f);
        cards.form(f);
        players.form(f);
        spinner.form(f);
    }
}
