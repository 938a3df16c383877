//! What has happened at this table: round life cycle, modes, locks. PURE: imports `rules` and `time`.
//!
//! `decide` looks and returns facts; the gateway journals them; `apply` folds them into the state; `indicators` says what the
//! devices should show. What was only seen (a device's last status, the keys of the running entry) and is not a fact is kept in
//! [`Seen`], which a decision returns anew and [`Table::note`] keeps.

pub mod event;
pub mod indicators;
pub mod input;
pub mod rejection;

use crate::rules::tai_sai;
use crate::time::Uptime;
use event::{Event, Fact};
use indicators::{DeviceCommand, Indicators};
use input::Input;
use rejection::Rejection;
use std::collections::BTreeSet;
use std::time::Duration;

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
    pub style: tai_sai::Style,
    /// Which areas.
    pub layout: tai_sai::Layout,
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

/// What was seen and is not a fact. Gone at a restart.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Seen {}

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
    seen: Seen,
}

impl Table {
    /// A closed table without history.
    #[must_use]
    pub fn new(config: TableConfig) -> Self {
        Table {
            config,
            seen: Seen::default(),
        }
    }

    /// What `input`, which arrived at `now`, means. Changes nothing.
    #[must_use]
    pub fn decide(&self, _now: Uptime, _input: &Input) -> Decision {
        todo!()
    }

    /// Folds a recorded event into the state: live, and after a restart.
    pub fn apply(&mut self, _event: &Event) {
        todo!()
    }

    /// Keeps what a decision has seen, after its facts were applied.
    pub fn note(&mut self, seen: Seen) {
        self.seen = seen;
    }

    /// When `decide` wants [`Input::Deadline`] next.
    #[must_use]
    pub fn deadline(&self) -> Option<Uptime> {
        todo!()
    }

    /// What the devices should show now.
    #[must_use]
    pub fn indicators(&self) -> Indicators {
        todo!()
    }

    /// The state for the retained topic and `status`; the head is the gateway's to fill in.
    #[must_use]
    pub fn state(&self) -> event::TableState {
        todo!()
    }

    /// The state for a `CheckpointRecorded`.
    #[must_use]
    pub fn checkpoint(&self) -> event::TableCheckpoint {
        todo!()
    }

    /// No round is running: the journal may be tidied.
    #[must_use]
    pub fn is_between_rounds(&self) -> bool {
        todo!()
    }
}
