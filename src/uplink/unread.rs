//! Reads of a journal that fail: tried again and again, told when that stays so, never taken for events that are not there.

use super::keeper::{Keeper, LOG_AGAIN_AFTER};
use crate::journal::Seqno;
use crate::table::input::Condition;
use std::time::Duration;
use tokio::time::Instant;

/// A journal that could not be read is asked again after so long.
pub(super) const READ_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// A disk that is busy or was reset answers before so many reads in a row have failed, a second apart; one that doesn't is told.
const TELL_AFTER: u32 = 10;
/// After so many (ten minutes) a journal that was moved aside waits for the next start: what happens now must reach the floor.
const LEAVE_AFTER: u32 = 600;

/// Whether a journal is asked again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Patience {
    /// It is.
    Left,
    /// It has been asked so often that another one should not wait for it any longer.
    Spent,
}

/// What is known of reads that failed. Outlives a connection.
#[derive(Default)]
pub(super) struct Unread {
    /// So many in a row.
    failed: u32,
    /// When the log was last told.
    logged: Option<Instant>,
    /// Events of the journal under way that are damaged.
    damaged: u64,
    /// Journals that were left for the next start: the alert stands for them.
    left: u32,
}

impl Unread {
    /// One line for a journal that was moved aside, when it is done with.
    pub(super) fn say_damaged(&mut self, journal_id: &str) {
        let events = std::mem::take(&mut self.damaged);
        if events > 0 {
            tracing::warn!(
                journal_id,
                events,
                "damaged events of a journal that was moved aside can't be delivered"
            );
        }
    }
}

impl Keeper {
    /// A read failed, of events from `from` on of the journal under way.
    pub(super) fn read_failed(&mut self, from: Seqno, why: &str) -> Patience {
        self.report.last_error = why.to_owned();
        self.say_soon();
        let unread = &mut self.unread;
        unread.failed = unread.failed.saturating_add(1);
        let failed = unread.failed;
        if unread.logged.is_none_or(|at| at.elapsed() >= LOG_AGAIN_AFTER) {
            unread.logged = Some(Instant::now());
            tracing::warn!(from, error = why, "events can't be read for the floor: trying again");
        }
        if failed >= TELL_AFTER {
            let journal = self.leg().map_or("", |leg| leg.journal_id.as_str());
            let text = format!("event {from} of journal {journal} and those after it wait for the floor: {why}");
            self.alarms.raise(Condition::JournalUnreadable, text);
        }
        match failed < LEAVE_AFTER {
            true => Patience::Left,
            false => Patience::Spent,
        }
    }

    /// Events were read, and so many in their range are damaged.
    pub(super) fn read_succeeded(&mut self, damaged: u64) {
        self.unread.failed = 0;
        self.unread.damaged = self.unread.damaged.saturating_add(damaged);
        if self.unread.left == 0 {
            self.alarms.clear(Condition::JournalUnreadable);
        }
    }

    /// The journal under way is left as it is, with what it still has to deliver.
    pub(super) fn leave_for_next_start(&mut self) {
        self.unread.failed = 0;
        self.unread.left = self.unread.left.saturating_add(1);
    }
}
