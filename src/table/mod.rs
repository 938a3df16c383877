//! What has happened at this table: round life cycle, modes, locks. PURE: imports `rules` and `time`.
//!
//! `decide` looks and returns facts; the gateway journals them; `apply` folds them into the state; `indicators` says what the
//! devices should show. What was only seen (a device's last status, the keys of the running entry) and is not a fact is kept in
//! [`Seen`], which a decision returns anew and [`Table::note`] keeps.

pub mod alert;
mod checkpoint;
mod citation;
mod devices;
mod draft;
pub mod event;
pub mod indicators;
pub mod input;
mod locks;
mod mode;
mod operator;
mod readout;
pub mod rejection;
mod restart;
mod seen;
mod state;
mod tai_sai;
pub mod view;

pub use seen::Seen;

use crate::rules;
use crate::time::Uptime;
use draft::Draft;
use event::{Event, Fact};
use indicators::{DeviceCommand, Indicators};
use input::Input;
use mode::Mode;
use rejection::Rejection;
use state::State;
use std::collections::BTreeSet;
use std::time::Duration;
use tai_sai::due::{self, Look};
use tai_sai::layout::LayoutLamps;
use tai_sai::phase::Phase;

/// What the configuration says of the table.
#[derive(Clone, PartialEq, Debug)]
pub struct TableConfig {
    /// The game.
    pub game: GameConfig,
    /// Serial numbers that are approved; `None`: not enforced.
    pub approved_serials: Option<BTreeSet<String>>,
}

/// A game and its settings.
#[derive(Clone, PartialEq, Debug)]
pub enum GameConfig {
    /// Tai-sai.
    TaiSai(TaiSaiConfig),
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
    layout: LayoutLamps,
    state: State,
    seen: Seen,
}

impl TableConfig {
    /// `[tai_sai]`.
    fn tai_sai(&self) -> &TaiSaiConfig {
        match &self.game {
            GameConfig::TaiSai(tai_sai) => tai_sai,
        }
    }
}

impl Table {
    /// A closed table without history.
    #[must_use]
    pub fn new(config: TableConfig) -> Self {
        Table {
            layout: LayoutLamps::new(config.tai_sai()),
            config,
            state: State::default(),
            seen: Seen::default(),
        }
    }

    /// What `input`, which arrived at `now`, means. Changes nothing.
    #[must_use]
    pub fn decide(&self, now: Uptime, input: &Input) -> Decision {
        let now = now.max(self.seen.latest);
        let tai_sai = self.config.tai_sai();
        let mut draft = Draft::new(&self.config, tai_sai, &self.layout, now, &self.state, &self.seen);
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

    /// When `decide` wants [`Input::Deadline`] next.
    #[must_use]
    pub fn deadline(&self) -> Option<Uptime> {
        due::next(&self.look())
    }

    /// What the devices should show now.
    #[must_use]
    pub fn indicators(&self) -> Indicators {
        let lit = tai_sai::lamps::commanded(&self.look(), &self.layout).into_owned();
        let inhibit = match self.state.phase() {
            // From the moment bets open until the round ends.
            Some(Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_) | Phase::Entered(_)) => true,
            Some(Phase::Ready(_) | Phase::Tumbling(_)) | None => false,
        };
        Indicators {
            lamps: indicators::LampPicture { lit, blink: false },
            readout: self.seen.readout.wanted.clone(),
            tumbler: indicators::TumblerWish {
                inhibit,
                dice_allowed: false,
            },
        }
    }

    /// The state for the retained topic and `status`; the head is the gateway's to fill in.
    #[must_use]
    pub fn state(&self) -> event::TableState {
        view::table_state(&self.state)
    }

    /// What the table waits for, and what can be done about it, for a person.
    #[must_use]
    pub fn situation(&self) -> view::Situation {
        view::situation(&self.look())
    }

    /// The state for a `CheckpointRecorded`.
    #[must_use]
    pub fn checkpoint(&self) -> event::TableCheckpoint {
        checkpoint::record(&self.state)
    }

    /// No round is running: the journal may be tidied.
    #[must_use]
    pub fn is_between_rounds(&self) -> bool {
        match &self.state.mode {
            Mode::Open(phase) => phase.round().is_none(),
            Mode::Closed | Mode::Opening(_) | Mode::Test(_) => true,
        }
    }

    fn look(&self) -> Look<'_> {
        Look {
            config: self.config.tai_sai(),
            layout: &self.layout,
            state: &self.state,
            seen: &self.seen,
        }
    }
}

/// What an input means by itself; what time brings follows.
fn take(draft: &mut Draft<'_>, input: &Input) {
    match input {
        Input::Started => restart::started(draft),
        Input::DeviceUp { identity, status } => devices::up(draft, identity, status),
        Input::DeviceDown { kind, reason, text } => devices::down(draft, *kind, *reason, text),
        Input::Tumbler { report, happened } => tai_sai::tumbler::report(draft, report, *happened),
        Input::Terminal(report) => tai_sai::terminal::status(draft, report),
        Input::Key { stale: true, .. } | Input::Entry { stale: true, .. } => tai_sai::entry::stale(draft),
        Input::Key {
            key,
            entry,
            pressed_at,
            stale: false,
        } => {
            let at = pressed_at.map_or(draft.now, |at| at.min(draft.now));
            tai_sai::entry::key(draft, *key, *entry, at);
        }
        Input::Entry {
            shown,
            entry,
            pressed_at: _,
            stale: false,
        } => tai_sai::entry::enter(draft, shown, *entry),
        Input::Contact(report) => tai_sai::terminal::contact(draft, report),
        Input::Lamps(report) => tai_sai::lamps::report(draft, report),
        Input::LampsAcknowledged { lit } => tai_sai::lamps::acknowledged(draft, lit),
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
        Input::OperatorGone { connection } => operator::gone(draft, *connection),
        Input::Stopping => due::stopping(draft),
        Input::Deadline => {}
    }
}

#[cfg(test)]
mod tests;
