//! How events change a two-up table. PURE; live running and recovery go through here alike.
//!
//! What the law decided is in the events; nothing is decided anew. An event that doesn't fit the phase is a broken invariant of our
//! own: it asserts in tests and changes nothing in the field.

use crate::rules::two_up::Side;
use crate::table::event::{
    self, BetsClosed, Body, Closings, DeviceOnline, DiceReplaced, DieOffTable, LampRestored, PlayersWagersDecided,
    ResultCardRequired, RoundVoided, SpinCorrected, SpinInvalidated, SpinResulted, SpinnerChanged,
    SpinnerChangedReason, SpinnerSelected, SpinnerWagerDecided, SpinnerWagerPlaced,
};
use crate::table::game::Play;
use crate::table::input::{Contact, DeviceKind, Outcome};
use crate::table::mode::{Below, Mode};
use crate::table::state::{ContactCount, Envelope, LastVoid, State, contact_in, device_of, rung_at};
use crate::table::two_up::law::is_lit;
use crate::table::two_up::phase::{
    Behind, Course, Ended, Game, Keeper, Lock, Phase, Results, Spinner, TakeOver, Tally, Undo,
};
use crate::time::Uptime;

/// Lost dice (coins) from which a set is depleted: what a keeper's right begins with.
const DEPLETED: u8 = 2;

/// Changes the course as `step` does; `None`: the event doesn't fit.
fn step(state: &mut State, step: impl FnOnce(&mut Course) -> Option<()>) {
    let Mode::Open(Play::TwoUp(course)) = &mut state.mode else {
        debug_assert!(false, "an event of two-up outside it");
        return;
    };
    let fits = step(course).is_some();
    debug_assert!(fits, "an event doesn't fit {:?}", course.phase);
}

fn side_in(side: event::Side) -> Option<Side> {
    match side {
        event::Side::Unspecified => None,
        event::Side::Heads => Some(Side::Heads),
        event::Side::Tails => Some(Side::Tails),
    }
}

fn small(count: u32) -> u8 {
    u8::try_from(count).unwrap_or(u8::MAX)
}

/// The terminal when bets open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Terminal {
    Online,
    Away,
}

fn terminal(state: &State) -> Terminal {
    if state.is_online(DeviceKind::Terminal) {
        Terminal::Online
    } else {
        Terminal::Away
    }
}

impl Course {
    fn bets_open(&mut self, at: Uptime, bell: Option<&Closings>, terminal: Terminal) {
        self.opened_at = at;
        self.bell_unheard = terminal == Terminal::Away;
        if let Some(bell) = bell {
            self.bell = bell.into();
        }
    }
}

/// The round of a fact that isn't simply the running one's.
pub(crate) fn round_of(state: &State, course: &Course, body: &Body) -> Option<u64> {
    match (body, &course.phase) {
        (Body::SpinnerSelected(_), _) | (Body::SpinnerWagerPlaced(_), Phase::Decide { .. }) => {
            Some(state.last_round + 1)
        }
        (Body::BetsClosed(closed), Phase::Select { run_out } | Phase::Decide { run_out, .. }) if closed.run_out => {
            *run_out
        }
        (Body::SpinCorrected(_) | Body::InvalidSpinOverruled(_), _) => match &course.undo {
            Undo::Invalid { game, .. } | Undo::Result { game, .. } => Some(game.round),
            Undo::Nothing | Undo::Early { .. } => None,
        },
        (_, _) => None,
    }
}

pub(crate) fn spinner_selected(state: &mut State, envelope: Envelope<'_>, selected: &SpinnerSelected) {
    state.last_round = state.last_round.max(envelope.round_id);
    let terminal = terminal(state);
    step(state, |course| {
        match &course.phase {
            Phase::Select { .. } => {}
            Phase::Decide { ended, .. } if *ended == Ended::OfDealer => {}
            Phase::Closed { game, .. } if matches!(game.spinner, Spinner::RunOut(_)) => {}
            Phase::Betting(_) | Phase::Closed { .. } | Phase::Choice(_) | Phase::Decide { .. } => return None,
        }
        course.bets_open(envelope.at, selected.bell.as_ref(), terminal);
        course.undo = Undo::Nothing;
        course.shown.next_game(&course.game);
        course.phase = Phase::Betting(Game {
            round: envelope.round_id,
            spinner: if selected.dealer {
                Spinner::Dealer
            } else {
                Spinner::Player
            },
            ..Game::default()
        });
        Some(())
    });
}

pub(crate) fn spinner_wager_placed(state: &mut State, envelope: Envelope<'_>, placed: &SpinnerWagerPlaced) {
    state.last_round = state.last_round.max(envelope.round_id);
    let terminal = terminal(state);
    step(state, |course| {
        let mut game = match &course.phase {
            Phase::Betting(game) => game.clone(),
            Phase::Decide { game, run_out, .. } => {
                course.shown.next_game(&course.game);
                Game {
                    round: envelope.round_id,
                    spinner: Spinner::Player,
                    // With coins the count begins anew with each game (TP-20).
                    tally: if course.game == super::COINS {
                        Tally::default()
                    } else {
                        game.tally
                    },
                    bonus: *run_out,
                    ..Game::default()
                }
            }
            Phase::Select { .. } | Phase::Closed { .. } | Phase::Choice(_) => return None,
        };
        game.wager = Some(side_in(placed.side())?);
        course.bets_open(envelope.at, placed.bell.as_ref(), terminal);
        course.undo = Undo::Nothing;
        course.phase = Phase::Betting(game);
        Some(())
    });
}

pub(crate) fn bets_closed(state: &mut State, envelope: Envelope<'_>, closed: &BetsClosed) {
    step(state, |course| {
        let mut game = match &course.phase {
            Phase::Betting(game) => game.clone(),
            Phase::Select { run_out: Some(round) } => Game::run_out(*round, Behind::Offered),
            Phase::Decide {
                ended: Ended::OfDealer,
                run_out: Some(round),
                ..
            } => Game::run_out(*round, Behind::Dealer),
            Phase::Select { .. } | Phase::Closed { .. } | Phase::Choice(_) | Phase::Decide { .. } => return None,
        };
        game.lock = Lock::Locked;
        course.undo = Undo::Nothing;
        course.phase = Phase::Closed {
            game,
            closed_at: rung_at(envelope, closed),
        };
        Some(())
    });
}

pub(crate) fn spin_resulted(state: &mut State, envelope: Envelope<'_>, resulted: &SpinResulted) {
    let terminal = terminal(state);
    step(state, |course| {
        let shown = Results {
            outcome: Outcome::from_event(resulted.outcome()),
            heads: small(resulted.heads),
            tails: small(resulted.tails),
            odds: small(resulted.odds_run),
            lights: resulted.lights.clone(),
            cards: Vec::new(),
            since: envelope.at,
        };
        course.bets_open(envelope.at, resulted.bell.as_ref(), terminal);
        spun(course, shown)
    });
}

/// A valid result counts from the call on.
fn spun(course: &mut Course, shown: Results) -> Option<()> {
    let Phase::Closed { game, closed_at } = &course.phase else {
        return None;
    };
    let mut after = game.clone();
    match after.spinner {
        Spinner::Player => after.tally.spun_valid(),
        Spinner::Dealer | Spinner::TakenOver(_) | Spinner::RunOut(_) => {}
    }
    after.bonus = match shown.outcome {
        Some(Outcome::TripleHeads | Outcome::TripleTails) => Some(after.round),
        Some(Outcome::Heads | Outcome::Tails | Outcome::Odds) | None => None,
    };
    course.undo = Undo::Result {
        game: Box::new(game.clone()),
        shown: Box::new(course.shown.clone()),
        closed_at: *closed_at,
    };
    // A card lies where it was put as long as its light must be on.
    let cards = course.shown.cards.iter().filter(|card| is_lit(card, &shown.lights));
    let cards = cards.cloned().collect();
    course.shown = Results { cards, ..shown };
    course.phase = Phase::Betting(after);
    Some(())
}

pub(crate) fn spin_invalidated(state: &mut State, envelope: Envelope<'_>, invalidated: &SpinInvalidated) {
    let terminal = terminal(state);
    step(state, |course| {
        let (game, undo) = match &course.phase {
            Phase::Closed { game, closed_at } => (
                game,
                Undo::Invalid {
                    game: Box::new(game.clone()),
                    closed_at: *closed_at,
                    off: 0,
                },
            ),
            Phase::Betting(game) if invalidated.before_call => (game, Undo::Early { off: 0 }),
            Phase::Select { .. } | Phase::Betting(_) | Phase::Choice(_) | Phase::Decide { .. } => return None,
        };
        let mut game = game.clone();
        course.phase = match game.spinner {
            Spinner::RunOut(behind) => behind.phase(game),
            Spinner::Player => {
                game.tally.spun_invalid();
                if invalidated.must_choose {
                    Phase::Choice(game)
                } else {
                    Phase::Betting(game)
                }
            }
            Spinner::Dealer | Spinner::TakenOver(_) => Phase::Betting(game),
        };
        course.undo = undo;
        course.bets_open(envelope.at, invalidated.bell.as_ref(), terminal);
        Some(())
    });
}

pub(crate) fn invalid_spin_overruled(state: &mut State) {
    step(state, |course| {
        let Undo::Invalid { game, closed_at, .. } = std::mem::take(&mut course.undo) else {
            return None;
        };
        course.phase = Phase::Closed { game: *game, closed_at };
        Some(())
    });
}

pub(crate) fn spin_corrected(state: &mut State, envelope: Envelope<'_>, corrected: &SpinCorrected) {
    step(state, |course| {
        let Undo::Result { game, shown, closed_at } = std::mem::take(&mut course.undo) else {
            return None;
        };
        course.phase = Phase::Closed { game: *game, closed_at };
        course.shown = *shown;
        let shown = Results {
            outcome: Outcome::from_event(corrected.outcome()),
            heads: small(corrected.heads),
            tails: small(corrected.tails),
            odds: small(corrected.odds_run),
            lights: corrected.lights.clone(),
            cards: Vec::new(),
            since: envelope.at,
        };
        spun(course, shown)
    });
}

pub(crate) fn players_wagers_decided(state: &mut State, decided: &PlayersWagersDecided) {
    step(state, |course| {
        let Phase::Betting(game) = &course.phase else {
            return None;
        };
        let game = game.clone();
        let run_out = game.bonus.filter(|_| decided.to_bonus_area);
        match game.spinner {
            Spinner::RunOut(Behind::Offered) if decided.run_out => course.phase = Phase::Select { run_out },
            Spinner::RunOut(Behind::Dealer) if decided.run_out => {
                course.phase = Phase::Decide {
                    game,
                    ended: Ended::OfDealer,
                    run_out,
                };
            }
            Spinner::Dealer if decided.ends_game => {
                course.phase = Phase::Decide {
                    game,
                    ended: Ended::OfDealer,
                    run_out,
                };
            }
            Spinner::Player | Spinner::Dealer | Spinner::TakenOver(_) | Spinner::RunOut(_) => {}
        }
        Some(())
    });
}

pub(crate) fn spinner_wager_decided(state: &mut State, decided: &SpinnerWagerDecided) {
    step(state, |course| {
        let Phase::Betting(game) = &course.phase else {
            return None;
        };
        let run_out = game.bonus;
        course.phase = if decided.may_continue {
            Phase::Decide {
                // Whoever finished the game for the spinner: it is the spinner who may go on.
                game: Game {
                    spinner: Spinner::Player,
                    ..game.clone()
                },
                ended: if decided.won { Ended::Won } else { Ended::Lost },
                run_out,
            }
        } else {
            Phase::Select { run_out }
        };
        Some(())
    });
}

fn take_over(reason: SpinnerChangedReason, first_three: bool) -> TakeOver {
    match reason {
        SpinnerChangedReason::Relieved => TakeOver::Relieved,
        SpinnerChangedReason::InvalidSpins if first_three => TakeOver::FirstThree,
        SpinnerChangedReason::InvalidSpins => TakeOver::InvalidSpins,
        SpinnerChangedReason::Stopped | SpinnerChangedReason::Lost | SpinnerChangedReason::Unspecified => {
            TakeOver::Stopped
        }
    }
}

pub(crate) fn spinner_changed(state: &mut State, changed: &SpinnerChanged) {
    let reason = changed.reason();
    step(state, |course| {
        // What follows by law from a spin isn't an act of the spinner: the spin can still be taken back.
        let follows = match (reason, &course.undo) {
            (SpinnerChangedReason::Lost, _)
            | (SpinnerChangedReason::InvalidSpins, Undo::Invalid { .. } | Undo::Early { .. }) => true,
            (
                SpinnerChangedReason::Unspecified
                | SpinnerChangedReason::Stopped
                | SpinnerChangedReason::Relieved
                | SpinnerChangedReason::InvalidSpins,
                _,
            ) => false,
        };
        if !follows {
            course.undo = Undo::Nothing;
        }
        let taken_over = |game: &Game| {
            let mut game = game.clone();
            game.spinner = Spinner::TakenOver(take_over(reason, changed.first_three));
            // The invalid spins have had their effect.
            game.tally.past_first = true;
            game.tally.run = 0;
            game
        };
        course.phase = match &course.phase {
            Phase::Betting(game) | Phase::Choice(game) if changed.dealer => Phase::Betting(taken_over(game)),
            Phase::Closed { game, closed_at } if changed.dealer => Phase::Closed {
                game: taken_over(game),
                closed_at: *closed_at,
            },
            Phase::Betting(game) | Phase::Closed { game, .. } | Phase::Choice(game) => {
                Phase::Select { run_out: game.bonus }
            }
            Phase::Decide { run_out, .. } | Phase::Select { run_out } => Phase::Select { run_out: *run_out },
        };
        Some(())
    });
}

pub(crate) fn result_card_required(state: &mut State, required: &ResultCardRequired) {
    let Some(light) = &required.light else { return };
    step(state, |course| {
        if !course.shown.cards.contains(&light.id) {
            course.shown.cards.push(light.id.clone());
        }
        Some(())
    });
}

pub(crate) fn lamp_restored(state: &mut State, restored: &LampRestored) {
    let Some(light) = &restored.area else { return };
    state.failed_lamps.remove(&light.id);
    // A test in Test finds it as well.
    if let Mode::Open(Play::TwoUp(course)) | Mode::Test(Below::Open(Play::TwoUp(course))) = &mut state.mode {
        course.shown.cards.retain(|card| *card != light.id);
    }
}

pub(crate) fn die_off_table(state: &mut State, off: &DieOffTable) {
    step(state, |course| {
        let before = course.missing;
        course.missing = small(off.missing);
        match &mut course.undo {
            Undo::Early { off: so_far } | Undo::Invalid { off: so_far, .. } => {
                *so_far = so_far.saturating_add(small(off.dice));
            }
            Undo::Nothing | Undo::Result { .. } => {}
        }
        if before < DEPLETED && course.missing >= DEPLETED {
            // An invalid spin that let the dealer take over was still the player's.
            let spinner = match &course.undo {
                Undo::Invalid { game, .. } => Some(game.spinner),
                Undo::Nothing | Undo::Early { .. } | Undo::Result { .. } => {
                    course.phase.turn().map(|game| game.spinner)
                }
            };
            course.keeps_old_set = spinner.map(Spinner::keeper);
        }
        Some(())
    });
}

pub(crate) fn dice_replaced(state: &mut State, replaced: &DiceReplaced) {
    step(state, |course| {
        course.missing = if replaced.found {
            course.missing.saturating_sub(small(replaced.dice))
        } else {
            0
        };
        if course.missing < DEPLETED {
            course.keeps_old_set = None;
        }
        Some(())
    });
}

/// Bets go back.
pub(crate) fn round_abandoned(state: &mut State) {
    step(state, |course| {
        let game = course.phase.game()?;
        course.phase = Phase::Select { run_out: game.bonus };
        course.undo = Undo::Nothing;
        Some(())
    });
}

pub(crate) fn round_voided(state: &mut State, envelope: Envelope<'_>, voided: &RoundVoided) {
    state.last_void = Some(LastVoid {
        round: envelope.round_id,
        reason: voided.reason(),
    });
    round_abandoned(state);
}

/// The terminal was greeted: a bell that has rung since bets opened is counted apart; the next one is counted from here.
pub(crate) fn device_online(state: &mut State, envelope: Envelope<'_>, online: &DeviceOnline) {
    let is_terminal = device_of(envelope).is_some_and(|(kind, _)| kind == DeviceKind::Terminal);
    let waits = state.is_frozen();
    if let Mode::Open(Play::TwoUp(course)) = &mut state.mode
        && is_terminal
        && !waits
    {
        let unrung = ContactCount {
            closings: 0,
            boot_id: online.boot_id,
        };
        course.bell = contact_in(&online.closings, Contact::Bell).unwrap_or(unrung);
    }
}

impl Behind {
    /// Where a run-out goes that has no result yet.
    fn phase(self, game: Game) -> Phase {
        let run_out = Some(game.round);
        match self {
            Behind::Offered => Phase::Select { run_out },
            Behind::Dealer => Phase::Decide {
                game,
                ended: Ended::OfDealer,
                run_out,
            },
        }
    }
}

impl Spinner {
    /// Whose hands the coins are in.
    pub(crate) fn keeper(self) -> Keeper {
        match self {
            Spinner::Player => Keeper::Player,
            Spinner::Dealer | Spinner::TakenOver(_) | Spinner::RunOut(_) => Keeper::Dealer,
        }
    }
}

impl Game {
    fn run_out(round: u64, behind: Behind) -> Game {
        Game {
            round,
            spinner: Spinner::RunOut(behind),
            bonus: Some(round),
            ..Game::default()
        }
    }
}

impl Results {
    /// The next game begins. With dice all lights go out (TD-5); with coins the last valid result stays (TP-13).
    fn next_game(&mut self, game: &str) {
        if game == super::COINS {
            self.heads = 0;
            self.tails = 0;
        } else {
            *self = Results::default();
        }
    }
}
