//! What has happened at this table: round life cycle, modes, locks. PURE: imports `rules` and `time`.
//!
//! `decide` looks and returns facts; the gateway journals them; `apply` folds them into the state; `indicators` says what the
//! devices should show. What was only seen (a device's last status, the keys of the running entry) and is not a fact is kept in
//! [`Seen`], which a decision returns anew and [`Table::note`] keeps.

pub mod alert;
mod approval;
pub(crate) mod attempt;
mod checkpoint;
mod citation;
mod device_test;
mod devices;
mod dice;
mod draft;
mod due;
pub(crate) mod durations;
mod entry;
pub mod event;
mod game;
pub mod incident;
pub mod indicators;
pub mod input;
mod lamps;
mod locks;
mod mode;
mod opening;
mod operator;
mod readout;
mod refused_act;
pub mod rejection;
mod restart;
mod seen;
mod state;

mod terminal;
mod two_up;
pub mod view;

pub use approval::{Approval, ApprovedDevice};
pub use dice::game::HousePolicy;
pub use seen::Seen;

use crate::rules::{self, chip_and_throw};
use crate::time::Uptime;
use draft::Draft;
use event::{Event, Fact};
use game::{Family, Kit};
use indicators::{DeviceCommand, Indicators};
use input::Input;
use mode::Mode;
use rejection::Rejection;
use state::State;
use std::time::Duration;

/// What the configuration says of the table.
#[derive(Clone, PartialEq, Debug)]
pub struct TableConfig {
    /// The game.
    pub game: GameConfig,
    /// What is approved, as found at the start.
    pub approval: Approval,
}

/// A game and its settings.
#[derive(Clone, PartialEq, Debug)]
pub enum GameConfig {
    /// Tai-sai.
    TaiSai(TaiSaiConfig),
    /// Two-up with dice.
    TwoUpDice(TwoUpDiceConfig),
    /// Triple penny two-up.
    TriplePenny(TriplePennyConfig),
    /// Sic-bo (Queensland).
    SicBo(SicBoConfig),
}

/// `[tai_sai]`.
#[derive(Clone, PartialEq, Debug)]
pub struct TaiSaiConfig {
    /// A or B.
    pub style: rules::tai_sai::Style,
    /// Which areas.
    pub layout: rules::tai_sai::Layout,
    /// For each area, in the order of `tai_sai::areas`, its lamps' bits.
    pub lamp_map: Vec<Vec<u16>>,
    /// The tumbler at rest before bets open.
    pub rest: Duration,
    /// Earliest settlement press after an accepted entry.
    pub settle_after: Duration,
    /// The cover lying on this long after the entry settles provisionally.
    pub cover_settles_after: Duration,
    /// A NO_SPIN after the uncover holds the round; else it voids.
    pub hold_no_spin_after_uncover: bool,
    /// A results display's fault holds the next round (TS-8).
    pub display_fault_locks: bool,
    /// How long after its acknowledgement a picture may take to show: 500 ms plus 3 T of the lamps' line.
    pub lamp_wait: Duration,
}

/// `[two_up_dice]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TwoUpDiceConfig {
    /// Who may go on as spinner after a turn that began with three invalid spins (TD-8).
    pub first_three: rules::two_up_dice::machine::FirstThree,
    /// Whether a result that was keyed wrongly may be corrected (TD-20).
    pub mis_keyed: MisKeyed,
    /// How long after its acknowledgement a picture may take to show: 500 ms plus 3 T of the lights' line.
    pub lamp_wait: Duration,
}

/// `[triple_penny]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TriplePennyConfig {
    /// How results are shown (s479).
    pub display: rules::triple_penny::Display,
    /// Whether a result that was keyed wrongly may be corrected: no rule of the part, a house's policy.
    pub mis_keyed: MisKeyed,
    /// How long after its acknowledgement a picture may take to show; only for a display by lights.
    pub lamp_wait: Duration,
}

/// Whether a valid result that was keyed wrongly may be corrected (TD-20). No instrument has a rule for it: it is the house's policy,
/// and events say so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MisKeyed {
    /// Under a supervisor's authority, until the next wager, call or act of the spinner.
    Correct,
    /// Never.
    Stands,
}

/// `[sic_bo]`.
#[derive(Clone, PartialEq, Debug)]
pub struct SicBoConfig {
    /// The tumbler that is fitted.
    pub tumbler: rules::sic_bo::machine::Tumbler,
    /// What the areas pay, from an approved table; without one no odds are shown: each pays 0 per 0.
    pub paytable: Option<rules::sic_bo::Paytable>,
    /// What the house does where the instruments are silent.
    pub policy: HousePolicy,
    /// For each area, in the order of `sic_bo::areas`, its lamps' bits.
    pub lamp_map: Vec<Vec<u16>>,
    /// The tumbler at rest before bets open; an open one before its dice have landed.
    pub rest: Duration,
    /// Earliest settlement press after an accepted entry.
    pub settle_after: Duration,
    /// The cover lying on this long after the entry settles provisionally.
    pub cover_settles_after: Duration,
    /// Where the house voids: a NO_SPIN after the uncover holds the round; else it voids.
    pub hold_no_spin_after_uncover: bool,
    /// How long after its acknowledgement a picture may take to show: 500 ms plus 3 T of the lamps' line.
    pub lamp_wait: Duration,
}

/// What an input means.
#[derive(Clone, PartialEq, Debug)]
pub struct Decision {
    /// 0 to 16 facts, one append.
    pub facts: Vec<Fact>,
    /// What has been seen now; for [`Table::note`], after the facts are applied.
    pub seen: Seen,
    /// To send after the append.
    pub commands: Vec<DeviceCommand>,
    /// For an operator: done, with a sentence, or refused.
    pub answer: Option<Result<String, Rejection>>,
}

/// The table.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    config: TableConfig,
    kit: Kit,
    state: State,
    seen: Seen,
}

impl GameConfig {
    /// What the law says of this game, in canonical form for a digest: the rules' version, the game, its areas and what they pay, as
    /// far as the game has them.
    #[must_use]
    pub fn rules_text(&self) -> String {
        let (game, areas, pays) = match self {
            GameConfig::TaiSai(config) => (
                "tai-sai",
                rules::tai_sai::areas_text(config.layout),
                rules::tai_sai::paytable_text(config.layout),
            ),
            GameConfig::SicBo(config) => (
                "sic-bo",
                rules::sic_bo::areas_text(),
                config
                    .paytable
                    .as_ref()
                    .map(rules::sic_bo::Paytable::text)
                    .unwrap_or_default(),
            ),
            GameConfig::TwoUpDice(_) => ("two-up-dice", String::new(), String::new()),
            GameConfig::TriplePenny(_) => ("triple-penny-two-up", String::new(), String::new()),
        };
        format!("tablegate rules {}\n{game}\n{areas}{pays}", rules::RULES_VERSION)
    }

    /// The game whose law of moved chips applies.
    pub(crate) fn of_incidents(&self) -> chip_and_throw::Game {
        match self {
            GameConfig::TaiSai(_) => chip_and_throw::Game::TaiSai,
            GameConfig::SicBo(_) => chip_and_throw::Game::SicBo,
            GameConfig::TwoUpDice(_) => chip_and_throw::Game::TwoUpDice,
            GameConfig::TriplePenny(_) => chip_and_throw::Game::TriplePenny,
        }
    }
}

impl Table {
    /// A closed table without history.
    #[must_use]
    pub fn new(config: TableConfig) -> Self {
        Table {
            kit: Kit::new(&config.game),
            config,
            state: State::default(),
            seen: Seen::default(),
        }
    }

    /// What `input`, which arrived at `now`, means. Changes nothing.
    #[must_use]
    pub fn decide(&self, now: Uptime, input: &Input) -> Decision {
        match &self.kit {
            Kit::Dice(dice) => self.decide_in(dice, now, input),
            Kit::TwoUp(two_up) => self.decide_in(two_up, now, input),
        }
    }

    fn decide_in<F: Family>(&self, game: &F, now: Uptime, input: &Input) -> Decision {
        let now = now.max(self.seen.latest);
        let mut draft = Draft::new(&self.config, game, now, &self.state, &self.seen);
        draft.seen.latest = now;
        draft.seen.unfinished = false;
        take(&mut draft, input);
        due::run(&mut draft);
        readout::refresh(&mut draft);
        draft.finish()
    }

    /// Folds a recorded event into the state: live, and after a restart.
    pub fn apply(&mut self, event: &Event) {
        self.state.apply(event);
    }

    /// Keeps what a decision has seen, after its facts were applied.
    pub fn note(&mut self, seen: Seen) {
        self.seen = seen;
    }

    /// Inputs were dropped because nothing could be recorded, and the terminal was last shown this entry number: no key of that time may
    /// mix with those that are heard from now on.
    pub fn drop_keys(&mut self, shown: u32) {
        entry::dropped(&mut self.seen.entry, shown);
    }

    /// When `decide` wants [`Input::Deadline`] next.
    #[must_use]
    pub fn deadline(&self) -> Option<Uptime> {
        match &self.kit {
            Kit::Dice(dice) => due::next(&self.look(dice)),
            Kit::TwoUp(two_up) => due::next(&self.look(two_up)),
        }
    }

    /// What the devices should show now.
    #[must_use]
    pub fn indicators(&self) -> Indicators {
        match &self.kit {
            Kit::Dice(dice) => self.indicators_in(dice),
            Kit::TwoUp(two_up) => self.indicators_in(two_up),
        }
    }

    fn indicators_in<F: Family>(&self, game: &F) -> Indicators {
        let look = self.look(game);
        let lit = match self.state.mode {
            Mode::Open(_) => F::lit(&look).into_owned(),
            Mode::Opening(_) => opening::picture(&look),
            Mode::Test(_) => device_test::picture(&look),
            Mode::Closed => Vec::new(),
        };
        Indicators {
            lamps: indicators::LampPicture { lit, blink: false },
            readout: self.seen.readout.wanted.clone(),
            tumbler: F::tumbler_wish(&look),
        }
    }

    /// The state for the retained topic and `status`; the head is the gateway's to fill in.
    #[must_use]
    pub fn state(&self) -> event::TableState {
        view::table_state(&self.state, self.kit.needed())
    }

    /// What the table waits for, and what can be done about it, for a person.
    #[must_use]
    pub fn situation(&self) -> view::Situation {
        match &self.kit {
            Kit::Dice(dice) => view::situation(&self.look(dice)),
            Kit::TwoUp(two_up) => view::situation(&self.look(two_up)),
        }
    }

    /// The state for a `CheckpointRecorded`.
    #[must_use]
    pub fn checkpoint(&self) -> event::TableCheckpoint {
        checkpoint::record(&self.state)
    }

    /// No round is running, or it waits for bets: the journal may be tidied.
    #[must_use]
    pub fn is_between_rounds(&self) -> bool {
        match &self.state.mode {
            Mode::Open(play) => play.is_quiet(),
            Mode::Closed | Mode::Opening(_) | Mode::Test(_) => true,
        }
    }

    fn look<'a, F>(&'a self, game: &'a F) -> due::Look<'a, F> {
        due::Look {
            game,
            state: &self.state,
            seen: &self.seen,
        }
    }
}

/// What an input means by itself; what time brings follows.
fn take<F: Family>(draft: &mut Draft<'_, F>, input: &Input) {
    match input {
        Input::Started => restart::started(draft),
        Input::DeviceUp { identity, status } => devices::up(draft, identity, status),
        Input::DeviceDown { kind, reason, text } => {
            devices::down(draft, *kind, *reason, text);
            device_test::device_down(draft, *kind);
        }
        Input::Tumbler { report, happened } => {
            F::tumbler(draft, report, *happened);
            device_test::tumbler(draft, report);
        }
        Input::Terminal(report) => terminal::status(draft, report),
        Input::Key { stale: true, .. } | Input::Entry { stale: true, .. } => entry::stale(draft),
        Input::Key {
            key,
            entry,
            pressed_at,
            stale: false,
        } => {
            let at = pressed_at.map_or(draft.now, |at| at.min(draft.now));
            entry::key(draft, *key, *entry, at);
            device_test::key(draft, *key, at);
        }
        Input::Entry {
            shown,
            entry,
            pressed_at,
            stale: false,
        } => {
            entry::enter(draft, shown, *entry);
            device_test::enter(draft, pressed_at.map_or(draft.now, |at| at.min(draft.now)));
        }
        Input::Contact(report) => {
            let before = terminal::closings(draft, report.contact);
            terminal::contact(draft, report);
            device_test::contact(draft, report, before);
        }
        Input::Lamps(report) => lamps::report(draft, report),
        Input::LampsAcknowledged { lit } => lamps::acknowledged(draft, lit),
        Input::DeviceFault {
            kind,
            code,
            text,
            raised,
        } => devices::fault(draft, *kind, *code, text, *raised),
        Input::ReadUnderCover => locks::read_under_cover(draft),
        Input::Condition {
            condition,
            text,
            standing,
        } => locks::condition(draft, *condition, text, *standing),
        Input::Operator { person, act } => operator::act(draft, person, act),
        Input::ActForbidden { person, act, text } => refused_act::forbidden(draft, person, act, text),
        Input::OperatorGone { connection } => operator::gone(draft, *connection),
        Input::SoftwareVerified { by, verified } => operator::verified(draft, by, verified),
        Input::Stopping => due::stopping(draft),
        Input::Deadline => {}
    }
}

#[cfg(test)]
mod tests;
