//! What a two-up table waits for, and what can be done about it, for people. PURE.

use crate::rules::two_up::Side;
use crate::table::event::Area;
use crate::table::input::{DeviceKind, Outcome};
use crate::table::locks;
use crate::table::readout::Standing;
use crate::table::rejection;
use crate::table::two_up::law::{LIGHTS, Law, is_lit};
use crate::table::two_up::phase::{Behind, Course, Ended, Game, Lock, Phase, Spinner, Undo};
use crate::table::two_up::set::{is_depleted, may_be_spun};
use crate::table::two_up::{Look, lights};
use crate::table::view::{Act, CLOSE, InPlay, Shown, TwoUpView};

impl Course {
    /// As `TableState` shows it: `lit` are the lights that must be on, `call` the last valid result.
    pub(crate) fn shown(&self) -> Shown {
        let lit = LIGHTS.iter().filter(|light| is_lit(light, &self.shown.lights));
        Shown {
            phase: self.phase.name(),
            lit: lit
                .map(|light| Area {
                    id: (*light).to_string(),
                    ..Area::default()
                })
                .collect(),
            call: self.shown.outcome.map(call).unwrap_or_default().into(),
            ..Shown::default()
        }
    }
}

/// As the dealer announces it.
fn call(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Heads => "heads",
        Outcome::Tails => "tails",
        Outcome::Odds => "odds",
        Outcome::TripleHeads => "triple heads",
        Outcome::TripleTails => "triple tails",
    }
}

/// What stands on the readout: between games why the next one doesn't begin, or that cards must be shown.
pub(crate) fn standing(look: &Look<'_>) -> Standing {
    let Some(course) = look.state.course() else {
        return Standing::Nothing;
    };
    match course.phase {
        Phase::Betting(_) | Phase::Closed { .. } | Phase::Choice(_) => Standing::Nothing,
        Phase::Select { .. } | Phase::Decide { .. } => {
            let lights = look.game.board.len() > 0;
            if !look.state.locks.is_empty() {
                locks::standing(&look.state.locks)
            } else if lights && !look.state.is_online(DeviceKind::ResultLights) {
                Standing::Code(rejection::LIGHTS_AWAY)
            } else {
                Standing::Nothing
            }
        }
    }
}

/// What the table waits for.
pub(crate) fn in_play(look: &Look<'_>) -> InPlay {
    let Some(course) = look.state.course() else {
        return InPlay::default();
    };
    InPlay {
        held_text: None,
        bets_closed: match course.phase {
            Phase::Closed { .. } => true,
            Phase::Select { .. } | Phase::Betting(_) | Phase::Choice(_) | Phase::Decide { .. } => false,
        },
        lamps: lights::word(look, course),
        possible: possible(look, course),
        exactly: None,
        deadlines: vec![("the lights are judged", lights::next(look))],
        two_up: Some(two_up(course)),
    }
}

fn two_up(course: &Course) -> TwoUpView {
    let turn = course.phase.turn();
    let spinner = turn.map(|game| match game.spinner {
        Spinner::Player => "player",
        Spinner::Dealer | Spinner::RunOut(Behind::Dealer) => "dealer",
        Spinner::TakenOver(_) => "dealer_for_player",
        Spinner::RunOut(Behind::Offered) => "run_out",
    });
    TwoUpView {
        spinner: spinner.map(str::to_string),
        wager: turn.and_then(|game| game.wager).map(Side::name).map(str::to_string),
        outcome: course.shown.outcome.map(Outcome::name).map(str::to_string),
        heads: u32::from(course.shown.heads),
        tails: u32::from(course.shown.tails),
        odds_run: u32::from(course.shown.odds),
        invalid_run: turn.map_or(0, |game| u32::from(game.tally.run)),
        missing: u32::from(course.missing),
        cards: course.shown.cards.clone(),
    }
}

const SPINNER: Act = (
    "round spinner",
    "Select a spinner: a player with the side of the wager, or the dealer when everyone declined.",
);
const BELL: Act = ("round no-more-bets", "Call \"no more bets\" and ring the bell.");
const RUN_OUT: Act = (
    "round no-more-bets",
    "Ring the bell to spin out the wagers in the bonus area, if any lie there.",
);
const WAGER: Act = ("round continues", "The spinner wagers on heads or tails.");
const SPIN: Act = ("round spin", "Enter the result of the spin.");
const INVALID: Act = ("round invalid", "Declare the spin invalid.");
const STOPS: Act = ("round spinner-stops", "The spinner stops.");
const RELIEVE: Act = ("round relieve", "The dealer takes over from the spinner.");
const NEW_SET: Act = ("round new-set", "Complete the set: the lost one found, or a new set.");
/// No new set comes on the table while the spin with the old one is not decided.
const FOUND: Act = (
    "round new-set --found",
    "Complete the set: what was lost is found, and good.",
);
const OVERRULE: Act = (
    "round overrule",
    "Overrule the invalid spin: it stands with its result.",
);
const CORRECT: Act = ("round correct", "Correct the result: the wrong key was pressed.");

const NEW_SET_FIRST: Act = (
    "round new-set",
    "Place a new set first: too many of the old one are lost.",
);

/// What is said instead of offering a game while a lock or a missing terminal holds the next one back.
const LOCKED: Act = (
    "",
    "The next game is held back: none begins until the locks have ended.",
);
const AWAY: Act = (
    "",
    "The next game is held back until the terminal answers: check its cable and power.",
);

fn possible(look: &Look<'_>, course: &Course) -> Vec<Act> {
    if look.state.is_frozen() {
        return vec![("round resume", "Let the frozen table go on.")];
    }
    let depleted = is_depleted(&look.game.law, course);
    let mut acts = match &course.phase {
        Phase::Select { run_out } => {
            let mut acts = next_game(look, depleted, SPINNER);
            acts.push(CLOSE);
            acts.extend(run_out.and_then(|_| to_run_out(look, course)));
            acts
        }
        Phase::Betting(game) => in_betting(&look.game.law, course, game),
        Phase::Closed { game, .. } => {
            let off_table = match look.game.law {
                Law::Dice(_) => "Dice went off the table.",
                Law::Coins(_) => "Coins went off the table.",
            };
            let mut acts = vec![SPIN, INVALID, ("round off-table", off_table)];
            acts.extend(changes(&look.game.law, game));
            acts
        }
        Phase::Choice(_) => vec![
            ("round spinner-stops", "The spinner retires: the wager goes back."),
            ("round relieve", "The boxer spins until the wager is decided."),
        ],
        Phase::Decide { ended, run_out, .. } => match ended {
            Ended::Won | Ended::Lost => {
                let mut acts = next_game(look, depleted && *ended == Ended::Lost, WAGER);
                acts.extend([STOPS, CLOSE]);
                acts
            }
            Ended::OfDealer => {
                let mut acts = next_game(look, depleted, SPINNER);
                acts.extend([("round spinner-stops", "The dealer stops spinning."), CLOSE]);
                acts.extend(run_out.and_then(|_| to_run_out(look, course)));
                acts
            }
        },
    };
    match &course.undo {
        Undo::Invalid { .. } => acts.extend(match look.game.law {
            Law::Dice(_) => Some(OVERRULE),
            Law::Coins(_) => None,
        }),
        Undo::Result { .. } => acts.push(CORRECT),
        Undo::Nothing | Undo::Early { .. } => {}
    }
    if course.missing > 0 && !acts.contains(&NEW_SET_FIRST) {
        acts.push(match &course.phase {
            Phase::Closed { .. } if depleted => FOUND,
            Phase::Closed { .. }
            | Phase::Select { .. }
            | Phase::Betting(_)
            | Phase::Choice(_)
            | Phase::Decide { .. } => NEW_SET,
        });
    }
    acts
}

/// What begins the next game, or what has to be done before it.
fn next_game(look: &Look<'_>, needs_new_set: bool, begins: Act) -> Vec<Act> {
    let locked = !look.state.locks.is_empty();
    let away = !look.state.is_online(DeviceKind::Terminal);
    let before = [(needs_new_set, NEW_SET_FIRST), (locked, LOCKED), (away, AWAY)];
    let before: Vec<Act> = before
        .into_iter()
        .filter_map(|(stands, act)| stands.then_some(act))
        .collect();
    if before.is_empty() { vec![begins] } else { before }
}

/// The bell of a run-out; with coins too many of the set may be lost for it.
fn to_run_out(look: &Look<'_>, course: &Course) -> Option<Act> {
    may_be_spun(&look.game.law, course, Spinner::Dealer)
        .is_ok()
        .then_some(RUN_OUT)
}

fn in_betting(law: &Law, course: &Course, game: &Game) -> Vec<Act> {
    let mut acts = match (game.spinner, game.wager) {
        (Spinner::Player, None) => vec![WAGER],
        (spinner, _) if may_be_spun(law, course, spinner).is_err() => vec![NEW_SET_FIRST],
        (Spinner::Player | Spinner::Dealer | Spinner::TakenOver(_) | Spinner::RunOut(_), _) => vec![BELL],
    };
    if game.lock == Lock::Free {
        acts.push(CLOSE);
    }
    acts.extend(changes(law, game));
    acts
}

fn changes(law: &Law, game: &Game) -> Vec<Act> {
    match game.spinner {
        Spinner::Player => match law {
            Law::Dice(_) if game.tally.invalid == 0 => vec![STOPS],
            Law::Dice(_) | Law::Coins(_) => vec![STOPS, RELIEVE],
        },
        Spinner::Dealer | Spinner::TakenOver(_) | Spinner::RunOut(_) => Vec::new(),
    }
}
