//! Bugs that people really write, planted at the seams between the gateway and its world: the test of the simulation itself. Each has to be
//! found within a bounded number of seeds, by a judge whose business it is.
//!
//! The gateway has no switch for them. A [`Bug`] wraps what the gateway is given of the world (its journal, its brokers, its ports), so that
//! gateway and wrapper together behave like a gateway with that bug.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "a bug changes one thing; whatever else there is or comes passes as it is"
)]

mod broker;
mod line;
mod storage;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::{future::Future, pin::Pin};

use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::plan::{Plan, What};
use super::trace::Invariant;
use crate::device::Ports;
use crate::gateway::{Answer, ClockSource, Found, Outside, Synchronisation};
use crate::journal::{Begin, JournalConfig, OpenError, Owner};
use crate::table::input::DeviceKind;
use crate::time::{Clock, Timestamp};
use crate::uplink::Brokers;

/// A bug that people really write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bug {
    /// An append is said to be done as soon as it has begun.
    DoneBeforeDurable,
    /// An append that failed is taken for done.
    FailureSwallowed,
    /// An append that took long is written once more.
    RetryWritesTwice,
    /// The cursor is written one ahead.
    CursorOneAhead,
    /// The counter of connections begins anew with each run.
    ConnectionsCountedAnew,
    /// A start doesn't fold the newest event.
    NewestEventForgotten,
    /// A start doesn't fold alerts.
    AlertsForgotten,
    /// A start doesn't fold what the tumbler's counters were.
    CountersForgotten,
    /// An acknowledgement of an old connection is taken for one of this.
    OldAcknowledgementsTaken,
    /// What is not acknowledged when a connection ends is forgotten.
    UnacknowledgedForgotten,
    /// After a reconnect the first two events are sent in the wrong order.
    SwappedAfterReconnect,
    /// After a reconnect events are encoded anew.
    EncodedAnew,
    /// The link gives a key to the table twice. (An ENTER given twice harms nobody: its entry is over.)
    KeyDeliveredTwice,
    /// Lamps aren't sent again when their board has restarted.
    LampsNotSentAgain,
    /// What the broker has kept of the state is not looked at.
    KeptStateIgnored,
    /// What the broker has kept of the status is not looked at.
    KeptStatusIgnored,
    /// Events that can't be read are passed over.
    UnreadablePassedOver,
    /// An answer carries the id of the request before.
    AnswersUnderOldId,
    /// Retention deletes whatever is there.
    DeletedTooSoon,
}

impl Bug {
    /// Every one.
    pub const ALL: [Bug; 19] = [
        Bug::DoneBeforeDurable,
        Bug::FailureSwallowed,
        Bug::RetryWritesTwice,
        Bug::CursorOneAhead,
        Bug::ConnectionsCountedAnew,
        Bug::NewestEventForgotten,
        Bug::AlertsForgotten,
        Bug::CountersForgotten,
        Bug::OldAcknowledgementsTaken,
        Bug::UnacknowledgedForgotten,
        Bug::SwappedAfterReconnect,
        Bug::EncodedAnew,
        Bug::KeyDeliveredTwice,
        Bug::LampsNotSentAgain,
        Bug::KeptStateIgnored,
        Bug::KeptStatusIgnored,
        Bug::UnreadablePassedOver,
        Bug::AnswersUnderOldId,
        Bug::DeletedTooSoon,
    ];

    /// Whether this plan has what it takes to show it; the others need not be lived through.
    #[must_use]
    pub fn can_show_in(self, plan: &Plan) -> bool {
        let has = |fits: fn(&What) -> bool| plan.faults.iter().any(|fault| fits(&fault.what));
        match self {
            Bug::LampsNotSentAgain => has(|what| *what == What::PowerLost(DeviceKind::LayoutLamps)),
            Bug::RetryWritesTwice => has(|what| matches!(what, What::DiskSlow(_))),
            Bug::FailureSwallowed => has(|what| matches!(what, What::DiskFails | What::DiskHangs)),
            Bug::NewestEventForgotten | Bug::AlertsForgotten | Bug::CountersForgotten => {
                has(|what| matches!(what, What::Crash { .. } | What::Restart))
            }
            Bug::KeptStateIgnored => has(|what| *what == What::DiskSetBack),
            Bug::KeptStatusIgnored => has(|what| matches!(what, What::SecondGateway(_))),
            Bug::UnreadablePassedOver => has(|what| *what == What::DiskUnreadable),
            Bug::AnswersUnderOldId => has(|what| matches!(what, What::FloorAsks(..))),
            Bug::DeletedTooSoon => has(|what| matches!(what, What::DaysAway(_))),
            Bug::DoneBeforeDurable
            | Bug::CursorOneAhead
            | Bug::ConnectionsCountedAnew
            | Bug::OldAcknowledgementsTaken
            | Bug::UnacknowledgedForgotten
            | Bug::SwappedAfterReconnect
            | Bug::EncodedAnew
            | Bug::KeyDeliveredTwice => true,
        }
    }

    /// Who has to find it: any of these.
    #[must_use]
    pub fn found_by(self) -> &'static [Invariant] {
        match self {
            Bug::DoneBeforeDurable | Bug::FailureSwallowed => &[Invariant::ShownIsJournalled],
            Bug::RetryWritesTwice => &[Invariant::OneResult, Invariant::Contiguous, Invariant::NothingInvented],
            Bug::CursorOneAhead => &[Invariant::CursorBehind],
            Bug::ConnectionsCountedAnew => &[Invariant::StatusTrue],
            Bug::NewestEventForgotten | Bug::AlertsForgotten => &[Invariant::StateSurvives],
            Bug::CountersForgotten => &[Invariant::NothingInvented],
            Bug::OldAcknowledgementsTaken | Bug::UnacknowledgedForgotten => {
                &[Invariant::CursorBehind, Invariant::NoGap]
            }
            Bug::SwappedAfterReconnect => &[Invariant::NoGap],
            Bug::EncodedAnew => &[Invariant::SameBytes],
            Bug::KeyDeliveredTwice => &[Invariant::NothingInvented],
            Bug::LampsNotSentAgain => &[Invariant::LampsEqualState],
            Bug::KeptStateIgnored => &[Invariant::RollbackTold],
            Bug::KeptStatusIgnored => &[Invariant::StatusTrue],
            Bug::UnreadablePassedOver => &[Invariant::NoGap],
            Bug::AnswersUnderOldId => &[Invariant::Answered],
            Bug::DeletedTooSoon => &[Invariant::KeptLongEnough],
        }
    }
}

/// What outlives a run of the gateway: one for each simulation.
#[derive(Clone, Debug)]
pub struct Planted {
    bug: Bug,
    past: Arc<Mutex<broker::Past>>,
}

impl Planted {
    /// This bug.
    #[must_use]
    pub fn new(bug: Bug) -> Self {
        Planted {
            bug,
            past: Arc::default(),
        }
    }

    /// The world, as a gateway with this bug has it.
    #[must_use]
    pub fn around(&self, outside: Arc<dyn Outside>) -> Arc<dyn Outside> {
        Arc::new(Bugged {
            planted: self.clone(),
            outside,
        })
    }
}

/// The world with a bug between it and the gateway.
struct Bugged {
    planted: Planted,
    outside: Arc<dyn Outside>,
}

impl Outside for Bugged {
    fn run_id(&self) -> String {
        self.outside.run_id()
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.outside.clock()
    }

    fn synchronisation(&self, source: ClockSource) -> watch::Receiver<Synchronisation> {
        self.outside.synchronisation(source)
    }

    fn machine(&self) -> String {
        self.outside.machine()
    }

    fn program_digest(&self, seed: &[u8]) -> Answer<[u8; 32]> {
        self.outside.program_digest(seed)
    }

    fn open(
        &self,
        journal: &JournalConfig,
        owner: &Owner,
        machine: &str,
        now: Timestamp,
        begin: Begin,
    ) -> Result<Found, OpenError> {
        let found = self.outside.open(journal, owner, machine, now, begin)?;
        Ok(storage::plant(self.planted.bug, found, &self.outside))
    }

    fn count_connection(&self, journal: &JournalConfig, now: Timestamp) -> u64 {
        self.outside.count_connection(journal, now)
    }

    fn ports(&self) -> Arc<dyn Ports> {
        line::plant(self.planted.bug, self.outside.ports())
    }

    fn brokers(&self) -> Arc<dyn Brokers> {
        broker::plant(self.planted.bug, self.outside.brokers(), &self.planted.past)
    }

    fn run(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) -> JoinHandle<()> {
        self.outside.run(task)
    }
}

/// Where a path leads says which device it is.
fn is_of(path: &Path, device: &str) -> bool {
    path.to_string_lossy().contains(device)
}
